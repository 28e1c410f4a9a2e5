"""The result of comparing one pair: `EvalResult`, `PairComparison`, dicts as in stickler-eval."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NotRequired, TypedDict

from pydantic import BaseModel, Field

from stickler_cli.comparators.base import meets
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import DEFAULT_OPTIONS, Options, Plan
from stickler_cli.compare.result import BOTH_SIDES, FN, Outcome
from stickler_cli.compare.tree import Setting, UnitTree, explain, tree_of
from stickler_cli.compare.units import UnitTable
from stickler_cli.core.figures import rate, visible
from stickler_cli.core.json_values import Gold, JsonDocument, JsonValue
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.core.sections import FigureColumn, Figures, Span
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle, html_table, plain_text, table_lines
from stickler_cli.reports.pair import (
    ComparedPair,
    ShownDetail,
    errors_by_location,
    notebook_table,
    sum_text,
)
from stickler_cli.runs.process import room_for_depth
from stickler_cli.score.batch import Batch, batch_of_unit
from stickler_cli.score.comparison_view import counts_view, non_match
from stickler_cli.score.confidence.calibration import confidence_view
from stickler_cli.score.confidence.confidences import Confidences, ConfidenceUnits
from stickler_cli.score.document_result import DocumentResult, Status
from stickler_cli.score.errors.error_rows import Error, describe_shortfall, error_of
from stickler_cli.score.errors.located_units import LocatedUnit, locate, located_units
from stickler_cli.score.errors.wrong_units import is_judged_unit
from stickler_cli.score.field_counts import LEAVES
from stickler_cli.score.sums import RATES, Counts

if TYPE_CHECKING:
    # Imported late: a comparison does not need it.
    from stickler_cli.schema.inference import Inferred

_NAMES: Final = (
    "overall_score",
    "confusion_matrix",
    "field_scores",
    "all_fields_matched",
    "non_matches",
    "matched",
    *RATES,
)


class PairComparison(UnitTree):
    """A comparison of a prediction with its ground truth, as a tree of fields and items."""

    def __init__(self, table: UnitTable, document: int, plan: Plan, options: Options) -> None:
        """Create the tree of one document; `document` is its index in the unit table."""
        root = tree_of(table, document)
        super().__init__(Setting(table, options), root.row)
        self.model_name = plan.model_name
        """The name that the schema has for its documents."""
        self.options = options
        """Options of the comparison."""

    def explain(self, detail: ShownDetail = "brief", width: int | None = None) -> str:
        """Return an explanation of the score, as `stickler compare` prints it in a terminal.

        Args:
            detail: how much to show. `brief` is the default of `stickler compare`, `errors` shows
                what `--only-errors` shows, and `all` what `--all` shows.
            width: maximum width of a line in columns of a terminal, above 0; None for no limit.

        Raises:
            ComparisonError: a comparator failed on two list elements that are not paired.
        """
        style = TableStyle(width, plain=False)
        return render("table", self._explained(detail), style).rstrip("\n")

    def _explained(self, detail: ShownDetail) -> ComparedPair:
        """Compute the explanation of the score, as data that `explain` renders."""
        with room_for_depth():
            explain(self)
        return ComparedPair(
            schema="",
            model_name=self.model_name,
            document="",
            pairing_floor=self.options.pairing_floor,
            extra_fields=self.options.extra_fields,
            root=self,
            chosen=[self],
            errors=errors_by_location(batch_of_unit(self).classified_errors(0)),
            detail=detail,
        )

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the score, and a table with the rows of `explain`."""
        pair = self._explained("brief")
        name, score = visible(self.model_name), rate(self.score)
        line = f"{name}, overall score {score}: {sum_text(pair.root)}"
        return html_table([Span(line)], notebook_table(pair), "explain() gives every place.")


class EvalResult:
    """The result of comparing one pair: scores, counts and errors, in total and for each field.

    Each attribute is computed when it is first read.
    """

    def __init__(
        self, batch: Batch, document: int, plan: Plan, inferred: "tuple[Inferred, ...]"
    ) -> None:
        """Create the result of the document at an index of a batch."""
        self._batch, self._document = batch, document
        self.plan = plan
        """The plan by which the documents were compared."""
        self.inferred = inferred
        """How each field is compared, and why."""

    @property
    def overall_score(self) -> float:
        """Similarity of prediction and ground truth, in [0, 1]."""
        return float(self._batch.scores[self._document])

    @cached_property
    def confusion_matrix(self) -> dict[str, Any]:
        """Counts and rates in the three counting modes `overall`, `aggregate` and `leaves`.

        The key `fields` maps the name of each field to a dict with the counts and rates of this
        field.
        """
        return {"fields": {}, **counts_view(self._batch, self._document)}

    @cached_property
    def field_scores(self) -> dict[str, float]:
        """Score of each field of the model, in [0, 1]."""
        return self.comparison.field_scores

    @property
    def all_fields_matched(self) -> bool:
        """Whether the prediction has no error at all."""
        return not self._batch.classified_errors(self._document)

    @cached_property
    def non_matches(self) -> list[dict[str, Any]]:
        """All errors; each has its path, its kind and both values."""
        return [non_match(error) for error in self._batch.errors(self._document)]

    @property
    def matched(self) -> bool:
        """Whether the overall score reaches the match-threshold of the model."""
        return meets(self.comparison.score, self.comparison.threshold)

    @property
    def precision(self) -> float:
        """Precision of all values: TP / (TP + FP)."""
        return self.counts.derived()["precision"]

    @property
    def recall(self) -> float:
        """Recall of all values: TP / (TP + FN)."""
        return self.counts.derived()["recall"]

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.counts.derived()["f1"]

    @property
    def accuracy(self) -> float:
        """Accuracy of all values: (TP + TN) / all."""
        return self.counts.derived()["accuracy"]

    @cached_property
    def counts(self) -> Counts:
        """Counts of all values. Precision, recall, F1 and accuracy are computed from them.

        This differs from `confusion_matrix["overall"]`, where an object or a list item counts as
        one.
        """
        leaves = self.confusion_matrix["leaves"]
        return Counts(**{name: leaves[name] for name in Counts._fields})

    @property
    def undeclared_keys(self) -> tuple[str, ...]:
        """Keys of the ground truth that the schema does not declare; they are not compared."""
        counts = self._batch.counts
        keys = counts.undeclared if counts else ()
        return tuple(field_path(path) for document, path in keys if document == self._document)

    @cached_property
    def comparison(self) -> PairComparison:
        """The complete comparison as a tree of typed objects."""
        return pair_of(self._batch, self._document, self.plan)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON values; the keys are the names of the attributes."""
        return {name: getattr(self, name) for name in _NAMES}

    def explain(self) -> str:
        """Return a table with a row for each field: how the field is compared, and why."""
        return choices_table(self.inferred)

    def _repr_html_(self) -> str:
        return self.comparison._repr_html_()

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={getattr(self, name):.3f}" for name in ("overall_score", *RATES))
        return f"{type(self).__name__}({rates}, all_fields_matched={self.all_fields_matched})"


def compared(
    plan: Plan,
    gts: Sequence[JsonDocument],
    preds: Sequence[JsonDocument],
    options: Options | None = None,
    confidences: Sequence[JsonValue] = (),
    gold: Sequence[Gold | None] = (),
) -> Batch:
    """Compare documents and return the results as a batch; see `compare.engine.compare`.

    The documents get empty ids.

    Raises:
        WorkLimitError: a pair exceeds the work limit of the options.
    """
    options = options or DEFAULT_OPTIONS
    try:
        table = compare(plan, gts, preds, options, confidences, gold)
    except WorkLimitError:
        for gt, pred, gold_of_truth in zip_longest(gts, preds, gold):
            compare(
                plan, [gt], [pred], options, gold=[gold_of_truth]
            )  # compare one by one, to see whether a single pair exceeds the limit
        unlimited = replace(options, work_limit=None)
        table = compare(plan, gts, preds, unlimited, confidences, gold)
    scores = table.document_scores.tolist()
    results = [DocumentResult("", Status.EVALUATED, score) for score in scores]
    return Batch(results, table)


def pair_of(
    batch: Batch, document: int, plan: Plan, options: Options | None = None
) -> PairComparison:
    """Return the comparison of one document in a batch that `compared` returned.

    `document` is the index of the document in the batch.
    """
    row = batch.compared_positions[document]
    assert row is not None  # noqa: S101 - it was compared
    return PairComparison(
        table=batch.table, document=row, plan=plan, options=options or DEFAULT_OPTIONS
    )


_CHOICES: Final = (
    FigureColumn("field", lambda it: field_path(it.path), str),
    FigureColumn("comparator", "compared_by", str),
    FigureColumn("threshold", lambda it: "" if it.threshold is None else f"{it.threshold:g}", str),
    FigureColumn("weight", lambda it: f"{it.weight:g}", str),
    FigureColumn("why", "reason", str),
)


def choices_table(inferred: "Sequence[Inferred]") -> str:
    """Return a table that says how fields are compared, and why."""
    return plain_text(table_lines(Figures(_CHOICES, inferred).table())[0]).rstrip("\n")


class NonMatchType(str, Enum):  # noqa: UP042 - str() gives `NonMatchType.FALSE_ALARM`, as in stickler-eval
    """Kinds of errors."""

    FALSE_DISCOVERY = "false_discovery"
    FALSE_ALARM = "false_alarm"
    FALSE_NEGATIVE = "false_negative"


class NonMatchField(BaseModel):
    """One error of a comparison. For an `entry` of `non_matches`, call `NonMatchField(**entry)`."""

    field_path: str
    non_match_type: NonMatchType
    ground_truth_value: Any = None
    prediction_value: Any = None
    similarity_score: float | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    document_id: str | None = None
    """Id of the document. You can set it when you collect the errors of many documents."""


class ComparisonResult(TypedDict):
    """The result of `compare_with`; docs/results.md describes the values."""

    field_scores: dict[str, float]
    overall_score: float
    all_fields_matched: bool
    confusion_matrix: NotRequired[dict[str, Any]]
    non_matches: NotRequired[list[dict[str, Any]]]
    field_comparisons: NotRequired[list[dict[str, Any]]]
    confidence_metrics: NotRequired[dict[str, Any]]
    auroc_confidence_metric: NotRequired[float]
    """AUROC of all values; 0.5 if it is undefined. The key is the older of two names that
    stickler-eval has for this figure."""


class EvaluatorResult(TypedDict):
    """The result of `StructuredModelEvaluator.evaluate`."""

    overall: dict[str, float]
    fields: dict[str, Any]
    confusion_matrix: dict[str, Any]
    non_matches: list[dict[str, Any]]


def non_matches(errors: Iterable[Error]) -> list[dict[str, Any]]:
    """Return the entries of `non_matches` for some errors.

    If an item or object failed as a whole, it has one entry, and the errors inside it have none.
    The entry for a list element has the additional key `reason`. It also has `similarity` if the
    element exists on both sides.
    """
    entries = []
    for error in errors:
        if error.inside is not None:
            continue
        entry = non_match(error if error.values is None else error._replace(values=None))
        entry["non_match_type"] = NonMatchType(entry["non_match_type"])
        if isinstance(parse_field_path(error.path)[-1], int):
            entry["reason"] = error.reason
            if error.similarity is not None:
                entry["similarity"] = error.similarity
        entries.append(entry)
    return entries


def comparison_result(
    batch: Batch,
    *,
    counts: bool,
    errors: bool,
    units: bool,
    confidences: bool = False,
    recall_with_fd: bool = False,
    derived: bool = True,
) -> ComparisonResult:
    """Return the result of a batch with one document as the dict that `compare_with` returns.

    Four flags add keys: `counts` adds `confusion_matrix`; `errors` adds `non_matches`; `units` adds
    `field_comparisons`; `confidences` adds `confidence_metrics` and `auroc_confidence_metric`.
    `recall_with_fd` and `derived` choose the rates in the confusion matrix.
    """
    is_compared = batch.compared_positions[0] is not None
    error_entries = non_matches(
        error_of("", error, with_cause=False)
        for error in (batch.outermost_errors[0] if errors and is_compared else ())
    )
    view: ComparisonResult = {
        "field_scores": batch.field_scores(0),
        "overall_score": float(batch.scores[0]),
        "all_fields_matched": not (error_entries if errors else batch.has_any_error),
    }
    if counts:
        matrix = counts_view(batch, recall_with_fd=recall_with_fd, derived=derived)
        score, matched = view["overall_score"], view["all_fields_matched"]
        matrix["overall"].update(similarity_score=score, all_fields_matched=matched)
        view["confusion_matrix"] = {"fields": {}, **matrix, "non_matches": error_entries}
    if errors:
        view["non_matches"] = error_entries
    if units:
        view["field_comparisons"] = _field_comparisons(batch)
    if confidences:
        stated_confidences = Confidences()
        stated_confidences.add([document.id for document in batch.results], batch.confident_values)
        total = int(batch.counts.units[LEAVES, 0, :FN].sum()) if batch.counts else 0
        view["confidence_metrics"] = trust = confidence_metrics(stated_confidences, total)
        auroc = trust["overall"]["auroc"]["value"]
        view["auroc_confidence_metric"] = 0.5 if auroc is None else auroc
    return view


_TRUST: Final = {"auroc": "auroc", "brier_score": "brier", "ece": "ece"}
"""Maps names of figures in stickler-eval to their names in this package. See docs/confidence.md."""


def confidence_metrics(confidences: Confidences, total: int) -> dict[str, Any]:
    """Return figures on how reliable confidences are, as a dict with the keys of stickler-eval.

    `overall` has the figures for all values together. `fields` has them for each field; its keys
    are field paths without list indexes. `coverage` says how many of the `total` predicted values
    have a confidence. An undefined figure is None.
    """
    by_field = confidences.by_field()
    units = int(by_field[""].reliability().total[0])
    return {
        "overall": _calibration(by_field[""]),
        "fields": {path: _calibration(units) for path, units in by_field.items() if path},
        "coverage": {
            "fields_with_confidence": units,
            "fields_total": total,
            "ratio": units / total if total else 0.0,
        },
    }


def _calibration(units: ConfidenceUnits) -> dict[str, Any]:
    view = confidence_view(units.reliability())
    return {name: {"value": view[figure]} for name, figure in _TRUST.items()}


def _field_comparisons(batch: Batch) -> list[dict[str, Any]]:
    """Return the entries of `field_comparisons`: one for each value or item that was compared."""
    (units,) = located_units(batch.table, is_judged_unit, extra_keys="judged")
    return [
        {
            "expected_key": _expected_key(unit),
            "expected_value": unit.gt,
            "actual_key": None if unit.pred_path is None else field_path(unit.pred_path),
            "actual_value": unit.pred,
            "match": unit.outcome in (Outcome.TP, Outcome.TN),
            "score": unit.similarity,
            "weighted_score": unit.score * unit.weight,
            "weight": unit.weight,
            "threshold": unit.threshold,
            "reason": _reason(unit),
        }
        for unit in units
        if not unit.has_parts_listed
    ]


def _expected_key(unit: LocatedUnit) -> str:
    """Return the path of a unit in the ground truth.

    If the unit is a list element that only the prediction has, return the path of the list,
    followed by `[]`. An example is `lines[]`.
    """
    if unit.gt_path is not None:
        return field_path(unit.gt_path)
    lists = unit.batch.container
    if lists is None:
        return "[]"
    (of_list,) = locate(unit.table, lists, unit.batch.positions[[unit.position]])
    return f"{field_path(of_list.gt_path or ())}[]"


def _reason(unit: LocatedUnit) -> str:
    match unit.outcome:
        case Outcome.FN:
            return "false negative (unmatched ground truth)"
        case Outcome.FA:
            return "false alarm (unmatched prediction)"
        case Outcome.FD:
            return describe_shortfall(unit.similarity, unit.threshold)
        case _ if unit.similarity == 1:
            return "exact match"
        case _:
            return f"above threshold ({unit.similarity:.3f} >= {unit.threshold:g})"


def evaluator_result(batch: Batch, *, recall_with_fd: bool) -> EvaluatorResult:
    """Return the result of one document as `StructuredModelEvaluator.evaluate` returns it.

    In the confusion matrix, the entry of a field has the same overall counts twice: under the key
    `overall`, and as keys of the entry itself.
    """
    document: Any = batch.tree(0)
    result = comparison_result(
        batch, counts=True, errors=True, units=False, recall_with_fd=recall_with_fd
    )
    matrix: Any = result["confusion_matrix"]
    fields = {name: {**node["overall"], **node} for name, node in matrix["fields"].items()}
    return {
        "overall": _rates(matrix, document.score),
        "fields": _field_rates(document, matrix, recall_with_fd=recall_with_fd),
        "confusion_matrix": {**matrix, "fields": fields},
        "non_matches": matrix["non_matches"],
    }


def _field_rates(
    unit: UnitTree, counts: Mapping[str, Any], *, recall_with_fd: bool
) -> dict[str, Any]:
    """Return the rates of each field, including the fields inside objects and list items."""
    rates: dict[str, Any] = {}
    for field in unit.fields:
        view = counts["fields"][field.name]
        field_rates: dict[str, Any] = _rates(view, field.score)
        if field.shape == "list":
            items = [
                evaluator_result(batch_of_unit(item), recall_with_fd=recall_with_fd)
                for item in field.items
                if item.outcome in BOTH_SIDES and item.shape == "object"
            ]
            field_rates = {"overall": field_rates, "items": items}
        elif field.shape == "object":
            fields = _field_rates(field, view, recall_with_fd=recall_with_fd)
            field_rates = {**field_rates, "overall": field_rates, "fields": fields}
        rates[field.name] = field_rates
    return rates


def _rates(counts: Mapping[str, Any], score: float) -> dict[str, float]:
    derived = counts["overall"]["derived"]
    return {**{name: derived[f"cm_{name}"] for name in RATES}, "anls_score": score}
