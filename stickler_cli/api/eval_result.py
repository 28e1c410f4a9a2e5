"""`EvalResult`: how good one prediction is, for whoever has no class for it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from stickler_cli.compare.plan import Plan
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.core.values import dataclass
from stickler_cli.reports.layout import plain_text, table_lines
from stickler_cli.schema.inference import Inferred
from stickler_cli.score.counts import RATES, Counts
from .pair_comparison import PairComparison


@dataclass(frozen=True, slots=True)
class EvalResult:
    """How good a prediction is, field by field, and how that was found."""

    overall_score: float
    """The similarity of the two, in [0, 1]."""
    confusion_matrix: dict[str, Any]
    """The counts and rates: `overall`, `aggregate`, `leaves`, and `fields` with the same."""
    field_scores: dict[str, float]
    """The score of each field of the model, in [0, 1]."""
    all_fields_matched: bool
    """Whether nothing at all is wrong."""
    non_matches: list[dict[str, Any]]
    """Every error: where it is, of which kind, and both values."""
    matched: bool
    """Whether the overall score meets the match-threshold of the model."""
    precision: float
    """TP / (TP + FP) of the overall counts."""
    recall: float
    """TP / (TP + FN) of the overall counts."""
    f1: float
    """The harmonic mean of precision and recall."""
    accuracy: float
    """(TP + TN) / all, of the overall counts."""

    counts: Counts
    """The overall counts, of which the four rates are made."""
    comparison: PairComparison
    """The full account, typed."""
    plan: Plan
    """What was run; the same for all instances of a class."""
    inferred: tuple[Inferred, ...]
    """How each field is compared, and why."""

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON values, by the names that they have here."""
        typed = ("counts", "comparison", "plan", "inferred")
        names = [entry.name for entry in fields(self) if entry.name not in typed]
        return {name: getattr(self, name) for name in names}

    def explain(self) -> str:
        """Return how each field is compared and why, as a table."""
        return choices_table(self.inferred)

    def _repr_html_(self) -> str:
        """Return the comparison as notebooks show it."""
        return self.comparison._repr_html_()

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={getattr(self, name):.3f}" for name in ("overall_score", *RATES))
        return f"{type(self).__name__}({rates}, all_fields_matched={self.all_fields_matched})"


def choices_table(inferred: Sequence[Inferred]) -> str:
    """Return how fields are compared, and why, as a table."""
    headings = ("field", "comparator", "threshold", "weight", "why")
    columns = [Column(heading, left=True) for heading in headings]
    rows = []
    for each in inferred:
        cells = (
            field_path(each.path),
            each.compared_by,
            "" if each.threshold is None else f"{each.threshold:g}",
            f"{each.weight:g}",
            each.reason,
        )
        rows.append([Span.of(cell) for cell in cells])
    return plain_text(table_lines(Table(columns, rows))[0]).rstrip("\n")
