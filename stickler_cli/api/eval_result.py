"""`EvalResult`: the result of one pair, and `PairComparison`, its tree that explains the score."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from stickler_cli.comparators.base import meets
from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.engine import compare
from stickler_cli.compare.explaining import explain
from stickler_cli.compare.plan import USUAL, Options, Plan
from stickler_cli.core.figures import rate, visible
from stickler_cli.core.gold import Gold
from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.core.values import dataclass
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle, plain_text, table_lines
from stickler_cli.reports.pair import ComparedPair, Detail, by_place, sum_text
from stickler_cli.reports.pair_sections import place_table
from stickler_cli.runs.process import room_for_depth
from stickler_cli.score.batch import Batch, batch_of
from stickler_cli.score.comparison_view import counts_view, non_match
from stickler_cli.score.counts import RATES, Counts
from stickler_cli.score.document_result import DocumentResult, Status
from .notebook_tables import html_table

if TYPE_CHECKING:
    from stickler_cli.schema.inference import Inferred  # which comparing does not load

_NAMES: Final = (
    "overall_score",
    "confusion_matrix",
    "field_scores",
    "all_fields_matched",
    "non_matches",
    "matched",
    *RATES,
)


@dataclass(frozen=True, slots=True, eq=False)
class PairComparison(Comparison):
    """A document compared with its ground truth, as a tree."""

    model_name: str
    """The name that the schema has for its documents."""
    options: Options
    """Those of the comparison."""

    __repr__ = Comparison.__repr__

    def explain(self, detail: Detail = "brief", width: int | None = None) -> str:
        """Return how the score came about, as `stickler compare` prints it in a terminal.

        Args:
            detail: `brief`; `errors` as with `--only-errors`; `all` as with `--all`.
            width: the columns that lines may take, above 0; None for as many as they take.

        Raises:
            ComparisonError: a comparator failed on a pair of list elements that was not chosen.
        """
        style = TableStyle(width, plain=False)
        return render("table", self._explained(detail), style).rstrip("\n")

    def _explained(self, detail: Detail) -> ComparedPair:
        with room_for_depth():
            root = explain(self.account, self.options)
        return ComparedPair(
            schema="",
            model_name=self.model_name,
            document="",
            pairing_floor=self.options.pairing_floor,
            extra_fields=self.options.extra_fields,
            root=root,
            chosen=[root],
            errors=by_place(batch_of(self).wrong_units(0)),
            detail=detail,
        )

    def _repr_html_(self) -> str:
        """Return the score, and a table with a row for each place that `explain` shows."""
        pair = self._explained("brief")
        name, score = visible(self.model_name), rate(self.similarity)
        line = f"{name}, overall score {score}: {sum_text(pair.root)}"
        return html_table([Span(line)], place_table(pair), "explain() gives every place.")


class EvalResult:
    """How good a prediction is, field by field, and how that was found.

    Each of its parts is made when it is asked for.
    """

    def __init__(
        self, batch: Batch, document: int, plan: Plan, inferred: "tuple[Inferred, ...]"
    ) -> None:
        """Take documents that were compared, the position of this one, and how that was done."""
        self._batch, self._document = batch, document
        self.plan = plan
        """How they were compared; the same for all instances of a class."""
        self.inferred = inferred
        """How each field is compared, and why."""

    @property
    def overall_score(self) -> float:
        """The similarity of the two, in [0, 1]."""
        return float(self._batch.scores[self._document])

    @cached_property
    def confusion_matrix(self) -> dict[str, Any]:
        """The counts and rates: `overall`, `aggregate`, `leaves`, and `fields` with the same."""
        return {"fields": {}, **counts_view(self._batch, self._document)}

    @cached_property
    def field_scores(self) -> dict[str, float]:
        """The score of each field of the model, in [0, 1]."""
        return self.comparison.field_scores

    @property
    def all_fields_matched(self) -> bool:
        """Whether nothing at all is wrong."""
        return not self._batch.wrong_units(self._document)

    @cached_property
    def non_matches(self) -> list[dict[str, Any]]:
        """Every error: where it is, of which kind, and both values."""
        return [non_match(error) for error in self._batch.errors(self._document)]

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
        return pair_of(self._batch, self._document, self.plan)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON values, by the names that they have here."""
        return {name: getattr(self, name) for name in _NAMES}

    def explain(self) -> str:
        """Return how each field is compared and why, as a table."""
        return choices_table(self.inferred)

    def _repr_html_(self) -> str:
        return self.comparison._repr_html_()

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={getattr(self, name):.3f}" for name in ("overall_score", *RATES))
        return f"{type(self).__name__}({rates}, all_fields_matched={self.all_fields_matched})"


def compared(  # noqa: PLR0913, PLR0917 - as the engine takes them
    plan: Plan,
    gts: Sequence[JsonDocument],
    preds: Sequence[JsonDocument],
    options: Options | None = None,
    confidences: Sequence[JsonValue] = (),
    gold: Sequence[Gold | None] = (),
) -> Batch:
    """Compare documents, which have no ids, as `compare.engine.compare` does.

    Raises:
        WorkLimitError: a pair takes more work than the options let one take.
    """
    options = options or USUAL
    try:
        account = compare(plan, gts, preds, options, confidences, gold)
    except WorkLimitError:
        for gt, pred, said in zip_longest(gts, preds, gold):
            compare(plan, [gt], [pred], options, gold=[said])  # whether one of them does alone
        unlimited = replace(options, work_limit=None)
        account = compare(plan, gts, preds, unlimited, confidences, gold)
    results = [DocumentResult("", Status.EVALUATED, it) for it in account.reported.tolist()]
    return Batch(results, account, np.arange(len(results)))


def pair_of(
    batch: Batch, document: int, plan: Plan, options: Options | None = None
) -> PairComparison:
    """Return the comparison of one of the documents of `compared`."""
    found: Any = batch.comparison(document)
    return PairComparison(found.account, found.pair, plan.model_name, options or USUAL)


def choices_table(inferred: "Sequence[Inferred]") -> str:
    """Return how fields are compared, and why, as a table."""
    titles = ("field", "comparator", "threshold", "weight", "why")
    rows = [
        (
            field_path(each.path),
            each.compared_by,
            "" if each.threshold is None else f"{each.threshold:g}",
            f"{each.weight:g}",
            each.reason,
        )
        for each in inferred
    ]
    table = Table(
        [Column(title, left=True) for title in titles],
        [[*map(Span.of, cells)] for cells in rows],
    )
    return plain_text(table_lines(table)[0]).rstrip("\n")
