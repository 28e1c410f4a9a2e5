"""`EvalResult`: how good one prediction is, for whoever has no class for it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from stickler_cli.comparators.base import meets
from stickler_cli.compare.account import Account
from stickler_cli.compare.plan import USUAL, Plan
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.reports.layout import plain_text, table_lines
from stickler_cli.schema.inference import Inferred
from stickler_cli.score.batch import Batch
from stickler_cli.score.comparison_view import counts_view, non_match
from stickler_cli.score.counts import RATES, Counts
from stickler_cli.score.document_result import DocumentResult, Status
from .pair_comparison import PairComparison, pair_of

_NAMES: Final = (
    "overall_score",
    "confusion_matrix",
    "field_scores",
    "all_fields_matched",
    "non_matches",
    "matched",
    *RATES,
)


class Compared:
    """Documents that were compared together, and what is said of them, once it is asked for."""

    def __init__(self, account: Account) -> None:
        """Take the account of all documents."""
        self.account = account

    @cached_property
    def batch(self) -> Batch:
        """What the counts and the errors of all documents are made of."""
        scores = self.account.reported.tolist()
        results = [DocumentResult("", Status.EVALUATED, score) for score in scores]
        return Batch(results, self.account, np.arange(len(scores)))


class EvalResult:
    """How good a prediction is, field by field, and how that was found.

    Each of its parts is made when it is asked for.
    """

    def __init__(
        self, compared: Compared, document: int, plan: Plan, inferred: tuple[Inferred, ...]
    ) -> None:
        """Take documents that were compared, the position of this one, and how that was done."""
        self._compared, self._document = compared, document
        self.plan = plan
        """What was run; the same for all instances of a class."""
        self.inferred = inferred
        """How each field is compared, and why."""

    @property
    def overall_score(self) -> float:
        """The similarity of the two, in [0, 1]."""
        return float(self._compared.account.reported[self._document])

    @cached_property
    def confusion_matrix(self) -> dict[str, Any]:
        """The counts and rates: `overall`, `aggregate`, `leaves`, and `fields` with the same."""
        return {"fields": {}, **counts_view(self._compared.batch, self._document)}

    @cached_property
    def field_scores(self) -> dict[str, float]:
        """The score of each field of the model, in [0, 1]."""
        return self.comparison.field_scores

    @property
    def all_fields_matched(self) -> bool:
        """Whether nothing at all is wrong."""
        return not self._compared.batch.wrong_units(self._document)

    @cached_property
    def non_matches(self) -> list[dict[str, Any]]:
        """Every error: where it is, of which kind, and both values."""
        return [non_match(error) for error in self._compared.batch.errors(self._document)]

    @property
    def matched(self) -> bool:
        """Whether the overall score meets the match-threshold of the model."""
        return meets(self.comparison.reported, self.comparison.threshold)

    @property
    def precision(self) -> float:
        """TP / (TP + FP) of the overall counts."""
        return self.counts.precision

    @property
    def recall(self) -> float:
        """TP / (TP + FN) of the overall counts."""
        return self.counts.recall()

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self.counts.f1()

    @property
    def accuracy(self) -> float:
        """(TP + TN) / all, of the overall counts."""
        return self.counts.accuracy

    @cached_property
    def counts(self) -> Counts:
        """The overall counts, of which the four rates are made."""
        overall = self.confusion_matrix["overall"]
        return Counts(**{name: overall[name] for name in Counts._fields})

    @cached_property
    def comparison(self) -> PairComparison:
        """The full account, typed."""
        return pair_of(self._compared.account, self._document, self.plan, USUAL)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON values, by the names that they have here."""
        return {name: getattr(self, name) for name in _NAMES}

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
