"""An object: named fields, each with a node of its own, scored by their weighted mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.columns import mean_of_columns
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.one_of import ChoiceNode, OneOfNode
from stickler_cli.compare.plan import SCALARS, Node, Options
from stickler_cli.compare.result import (
    FA,
    FD,
    FN,
    TN,
    TP,
    Comparison,
    FieldTerms,
    ObjectComparison,
    Outcome,
    ThresholdSource,
)
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD, clipped
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.problems import ComparisonError

T = TypeVar("T")

_ORDINARY: Final = 1e300
"""Numbers beyond it may be infinite, or larger than a comparator reads."""

_NO_TYPES: Final[frozenset[type]] = frozenset()


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object and the node for its values."""

    name: str
    node: Node
    aggregate: bool | None = None
    """The property's own say on the object's aggregate; None where it says nothing."""


class _Column(NamedTuple):
    """What comparing one field takes, looked up once instead of for every object."""

    name: str
    node: Node
    weight: float
    clip: bool
    is_leaf: bool
    alike: frozenset[type]
    """The types of which two equal values are surely a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(Node):
    """An object with declared fields."""

    fields: tuple[Field, ...]
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two list items are the same one."""
    model_name: str = ""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """Who said `match_threshold`."""
    columns: tuple[_Column, ...] = field(init=False, compare=False, repr=False)
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    terms: tuple[FieldTerms, ...] = field(init=False, compare=False, repr=False)
    """What there is to say of each field before any value is seen."""
    by_value: bool = field(init=False, compare=False, repr=False)
    """Whether values decide what a field is worth, or which fields the aggregate includes."""
    _columnar: bool = field(init=False, compare=False, repr=False)
    _nested: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        counted = _counted({entry.name: entry.aggregate for entry in self.fields})
        terms = [
            FieldTerms(
                entry.name,
                entry.node.weight,
                entry.name in counted,
                entry.node.threshold,
                entry.node.clip,
            )
            for entry in self.fields
        ]
        object.__setattr__(self, "columns", tuple(map(_column, self.fields)))
        object.__setattr__(self, "names", frozenset(entry.name for entry in self.fields))
        object.__setattr__(self, "terms", tuple(terms))
        by_value = any(isinstance(entry.node, ChoiceNode) for entry in self.fields)
        object.__setattr__(self, "by_value", by_value)
        nodes = [entry.node for entry in self.fields]
        object.__setattr__(self, "_columnar", all(node.columnar for node in nodes))
        object.__setattr__(self, "_nested", any(node.nested for node in nodes))

    @property
    def item_threshold(self) -> float:
        """The similarity at which two list items of this model are a match."""
        return self.match_threshold

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Tell who said the threshold for list items of this model."""
        return self.match_source

    def declares(self, value: JsonValue) -> bool:
        """Say whether the value is an object."""
        return isinstance(value, dict)

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        return self._compare(gt, pred, options).similarity

    def _matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        fields = (
            (entry.name, entry.node, partial(entry.node.scores, options=options))
            for entry in self.fields
        )
        return mean_of_columns(fields, gts, preds)

    @property
    def columnar(self) -> bool:
        """Whether `matrix` costs little beside a call for each pair: if it does for all fields."""
        return self._columnar

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair what is in them."""
        return self._nested

    def bound(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> "float | Matrix":
        """Give what no score of a pair exceeds: 1.0 for each field that is not columnar."""
        if not self.declares_all(gts) or not self.declares_all(preds):
            return 1.0
        fields = (
            (entry.name, entry.node, partial(entry.node.bound, options=options))
            for entry in self.fields
        )
        return mean_of_columns(fields, gts, preds)

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> ObjectComparison:
        return self.compare_fields(_as_object(gt), _as_object(pred), options)

    def compare_fields(
        self, gt: JsonObject, pred: JsonObject, options: Options
    ) -> ObjectComparison:
        """Account for two objects field by field, even where one of them is empty."""
        outcomes, similarities, parts = bytearray(), [], {}
        total = worth = 0.0
        for name, node, stated, clip, is_leaf, alike in self.columns:
            one: Any = gt.get(name)
            other = pred.get(name)
            kind, weight = one.__class__, stated
            # Of most fields both sides say the same: a run spends its time in these lines.
            if (
                one == other
                and kind is other.__class__
                and kind in alike
                and (one if kind is str else -_ORDINARY < one < _ORDINARY)
            ):
                outcomes.append(TP)
                similarities.append(1.0)
                total += weight
                worth += weight
                continue
            if is_leaf and kind in SCALARS and other.__class__ in SCALARS:
                outcome, similarity = _at(name, _leaf, node, one, other, options)
                score = 0.0 if clip and outcome is FD else similarity
            else:
                part = _at(name, node.compare, one, other, options)
                parts[len(outcomes)] = part
                outcome, similarity, score = part.outcome, part.similarity, part.score
                weight = node.weigh(part.gt, part.pred)
            outcomes.append(outcome)
            similarities.append(similarity)
            if outcome is not TN:
                total += weight * score
                worth += weight
        similarity = total / worth if worth else 1.0
        closed = gt.keys() <= self.names and pred.keys() <= self.names
        return ObjectComparison(
            gt,
            pred,
            self.judge(similarity),
            similarity,
            clipped(similarity, self.threshold, clip=self.clip),
            self.threshold,
            self._terms(parts) if self.by_value else self.terms,
            bytes(outcomes),
            tuple(similarities),
            parts,
            () if closed else self._extras(gt, pred, options),
            () if closed else self._undeclared(gt),
        )

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for an object that the other side does not have, field by field."""
        if not isinstance(value, dict):
            return self.one_sided_leaf(value, outcome)
        outcomes, parts = bytearray(), {}
        for name, node, _, _, is_leaf, _ in self.columns:
            part = value.get(name)
            absent = is_absent(part)
            if not is_leaf:
                position = len(outcomes)
                parts[position] = (
                    node.nothing() if absent else node.one_sided(part, outcome, options)
                )
            outcomes.append(TN if absent else outcome)
        missed = outcome is Outcome.FN
        gt, pred = (value, None) if missed else (None, value)
        return ObjectComparison(
            gt,
            pred,
            outcome,
            0.0,
            0.0,
            self.threshold,
            self._terms(parts) if self.by_value else self.terms,
            bytes(outcomes),
            tuple(1.0 if said == TN else 0.0 for said in outcomes),
            parts,
            () if missed else self._extras({}, value, options),
            self._undeclared(value) if missed else (),
        )

    def nothing(self) -> Comparison:
        """Account for both sides being absent: one unit, without fields."""
        return ObjectComparison(None, None, Outcome.TN, 1.0, 1.0, self.threshold)

    def _terms(self, parts: Mapping[int, Comparison]) -> tuple[FieldTerms, ...]:
        """Say what each field is worth to these values, and whether the aggregate includes it."""
        counted = _counted(
            {
                entry.name: _say(entry, parts[position]) if position in parts else entry.aggregate
                for position, entry in enumerate(self.fields)
            }
        )
        return tuple(
            replace(
                terms,
                weight=(
                    entry.node.weigh(parts[position].gt, parts[position].pred)
                    if position in parts
                    else terms.weight
                ),
                counted=entry.name in counted,
            )
            for position, (entry, terms) in enumerate(zip(self.fields, self.terms, strict=True))
        )

    def _extras(self, gt: JsonObject, pred: JsonObject, options: Options) -> tuple[str, ...]:
        if options.extra_fields == "ignore":
            return ()
        return tuple(name for name in self._undeclared(pred) if is_absent(gt.get(name)))

    def _undeclared(self, value: JsonObject) -> tuple[str, ...]:
        return tuple(
            name for name, part in value.items() if name not in self.names and not is_absent(part)
        )


def _column(entry: Field) -> _Column:
    node = entry.node
    is_leaf = isinstance(node, LeafNode) and not node.is_judged  # who says more than a number
    alike = node.comparator.reflexive if isinstance(node, LeafNode) else _NO_TYPES
    return _Column(entry.name, node, node.weight, node.clip, is_leaf, alike)


def _leaf(node: Node, gt: JsonValue, pred: JsonValue, options: Options) -> tuple[Outcome, float]:
    """Account for two scalars, either of which may be absent."""
    gt_absent, pred_absent = gt is None or gt == "", pred is None or pred == ""
    if gt_absent or pred_absent:
        if gt_absent and pred_absent:
            return TN, 1.0
        return (FA if gt_absent else FN), 0.0
    similarity = node.similarity(gt, pred, options)
    return node.judge(similarity), similarity


def _counted(says: Mapping[str, bool | None]) -> frozenset[str]:
    """Name the fields that an aggregate includes, by what each says of itself.

    One `true` makes them opt in; without one, `false` opts out.
    """
    opt_in = any(say is True for say in says.values())
    return frozenset(
        name for name, say in says.items() if (say is True if opt_in else say is not False)
    )


def _say(entry: Field, comparison: Comparison) -> bool | None:
    """Give what a field says of the aggregate; of a union, what the arm in use says."""
    if isinstance(entry.node, OneOfNode):
        value = comparison.pred if comparison.gt is None else comparison.gt
        return entry.node.arm_of(value).aggregate
    return entry.aggregate


def _as_object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _at(name: str, call: Callable[..., T], *arguments: object) -> T:
    """Call with a comparator's failure told where it happened."""
    try:
        return call(*arguments)
    except ComparisonError as error:
        raise error.below(name) from error.__cause__
