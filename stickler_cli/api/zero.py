"""`evaluate`: compare instances of any pydantic model, as their types and names suggest."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stickler_cli.comparators.base import BaseComparator, meets
from stickler_cli.compare.plan import Plan
from stickler_cli.core.json_values import kind_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass
from stickler_cli.reports.layout import Column, Span, Table, plain_text, table_lines
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import Inferred, infer
from stickler_cli.score.batch import batch_of
from stickler_cli.score.comparison_view import comparison_view
from stickler_cli.score.counts import RATES, Counts
from .comparable import values_of
from .fields import annotated_schema
from .pair_comparison import PairComparison, compared
from .structured import StructuredModel


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
        headings = ("field", "comparator", "threshold", "weight", "why")
        columns = [Column(heading, left=True) for heading in headings]
        rows = []
        for inferred in self.inferred:
            cells = (
                field_path(inferred.path),
                inferred.compared_by,
                "" if inferred.threshold is None else f"{inferred.threshold:g}",
                f"{inferred.weight:g}",
                inferred.reason,
            )
            rows.append([Span.of(cell) for cell in cells])
        return plain_text(table_lines(Table(columns, rows))[0]).rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the comparison as notebooks show it."""
        return self.comparison._repr_html_()

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={getattr(self, name):.3f}" for name in ("overall_score", *RATES))
        return f"{type(self).__name__}({rates}, all_fields_matched={self.all_fields_matched})"


def evaluate(gt: BaseModel, pred: BaseModel | Mapping[str, Any] | list[Any]) -> EvalResult:
    """Compare a prediction with the ground truth.

    Args:
        gt: an instance of any pydantic model; its class says what the fields are.
        pred: an instance of the same class, or of another one, or a dict with the names of the
            fields as keys; a list where the model is a `RootModel` of one.

    Raises:
        TypeError: either side is something else.
        SchemaError: the model stands for no object, or carries annotations that are wrong.
        ComparisonError: a comparator failed on a pair of values.
    """
    plan, inferred = _plan_of(gt)
    values: Any = pred
    if isinstance(pred, BaseModel):
        values = values_of(pred)
    elif isinstance(pred, Mapping | list):
        plain = pred if isinstance(pred, list) else dict(pred)
        values = to_jsonable_python(plain, by_alias=False, fallback=str)
    if kind_of(values) != plan.kind:
        expected, empty = ("dict", "{}") if plan.kind == "object" else ("list", "[]")
        raise TypeError(
            f"pred is of type {type(pred).__name__}; give an instance of a pydantic model or a "
            f"{expected}, which is {empty} where there is no prediction"
        )
    comparison = compared(plan, values_of(gt), values)
    view: dict[str, Any] = comparison_view(batch_of(comparison))
    overall = view["confusion_matrix"]["overall"]
    counts = Counts(**{name: overall[name] for name in Counts._fields})
    rates: dict[str, Any] = counts.derived()
    return EvalResult(
        **view,
        **rates,
        matched=meets(comparison.reported, comparison.threshold),
        counts=counts,
        comparison=comparison,
        plan=plan,
        inferred=inferred,
    )


def model_schema(
    model: type[BaseModel], known: dict[str, BaseComparator] | None = None
) -> dict[str, Any]:
    """Return the annotated JSON Schema of any model, by the names of its fields.

    Comparators that are instances go into `known`, by the names that the schema has for them;
    without it they are written out.
    """
    if issubclass(model, StructuredModel) and model._source_schema is not None:  # noqa: SLF001
        return model.to_json_schema()
    return annotated_schema(model, known)


_plans: Final[WeakKeyDictionary[type[BaseModel], tuple[Plan, tuple[Inferred, ...]]]] = (
    WeakKeyDictionary()
)


def _plan_of(gt: object) -> tuple[Plan, tuple[Inferred, ...]]:
    """Return the plan of an instance's class and how it came about; made when first asked for."""
    if isinstance(gt, type) and issubclass(gt, BaseModel):
        raise TypeError(f"gt is the class {gt.__name__} itself; give an instance of it")
    if not isinstance(gt, BaseModel):
        raise TypeError(
            f"gt is of type {type(gt).__name__}; give an instance of a pydantic model, "
            "such as Model.model_validate(gt) makes of a dict"
        )
    model = type(gt)
    if model not in _plans:
        known: dict[str, BaseComparator] = {}
        name, schema = model.__name__, model_schema(model, known)
        # A class is code already: a comparator that it names by its place is no less trusted.
        found = infer(schema, name, allow_plugins=True, comparators=known)
        plan = compile_schema(
            found.schema,
            name,
            allow_plugins=True,
            comparators=known,
            inferred=found.annotations,
        )
        _plans[model] = plan, found.fields
    return _plans[model]
