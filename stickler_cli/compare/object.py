"""An object: named fields, each with a node of its own, scored by their weighted mean."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.one_of import OneOfNode
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.result import Comparison, FieldComparison, ObjectComparison, Outcome
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD, clipped
from stickler_cli.errors import ComparisonError
from stickler_cli.json_values import JsonObject, JsonValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object and the node for its values."""

    name: str
    node: Node
    aggregate: bool | None = None
    """The property's own say on the object's aggregate; None where it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(Node):
    """An object with declared fields."""

    fields: tuple[Field, ...]
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two list items are the same one."""
    model_name: str = ""
    by_arm: bool = field(init=False, compare=False, repr=False)
    """Whether the values decide which fields the aggregate includes."""
    counted: frozenset[str] = field(init=False, compare=False, repr=False)
    """The names of the fields that the aggregate includes, where the values do not decide."""

    def __post_init__(self) -> None:
        by_arm = any(isinstance(entry.node, OneOfNode) for entry in self.fields)
        object.__setattr__(self, "by_arm", by_arm)
        says = {entry.name: entry.aggregate for entry in self.fields}
        object.__setattr__(self, "counted", _counted(says))

    @property
    def item_threshold(self) -> float:
        """The similarity at which two list items of this model are a match."""
        return self.match_threshold

    def declares(self, value: JsonValue) -> bool:
        """Say whether the value is an object."""
        return isinstance(value, dict)

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        gt, pred = _as_object(gt), _as_object(pred)
        mean = WeightedMean()
        for entry in self.fields:
            gt_value, pred_value = gt.get(entry.name), pred.get(entry.name)
            gt_absent, pred_absent = is_absent(gt_value), is_absent(pred_value)
            if gt_absent and pred_absent:
                continue
            weight = entry.node.weigh(
                None if gt_absent else gt_value, None if pred_absent else pred_value
            )
            score = 0.0
            if not gt_absent and not pred_absent:
                score = _at(
                    entry.name,
                    entry.node.score,
                    gt_value,
                    pred_value,
                    options,
                )
            mean.add(score, weight)
        return mean.value

    def _matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        total = np.zeros((len(gts), len(preds)))
        weight = np.zeros((len(gts), len(preds)))
        gt_objects, pred_objects = [_as_object(gt) for gt in gts], [_as_object(p) for p in preds]
        for entry in self.fields:
            gt_column = _column(gt_objects, entry.name)
            pred_column = _column(pred_objects, entry.name)
            rows = [row for row, value in enumerate(gt_column) if value is not None]
            columns = [column for column, value in enumerate(pred_column) if value is not None]
            if not rows and not columns:
                continue
            either = np.ones((len(gts), len(preds)), dtype=bool)
            if len(rows) < len(gts) and len(columns) < len(preds):
                either = np.isin(np.arange(len(gts)), rows)[:, None] | np.isin(
                    np.arange(len(preds)), columns
                )
            worth = entry.node.weights(gt_column, pred_column)
            weight += np.where(either, worth, 0.0)
            if rows and columns:
                cells = np.ix_(rows, columns)
                scores = _at(
                    entry.name,
                    entry.node.scores,
                    [gt_column[row] for row in rows],
                    [pred_column[column] for column in columns],
                    options,
                )
                total[cells] += (worth if isinstance(worth, float | int) else worth[cells]) * scores
        return np.divide(total, weight, out=np.ones_like(total), where=weight > 0)

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> ObjectComparison:
        return self.compare_fields(_as_object(gt), _as_object(pred), options)

    def compare_fields(
        self, gt: JsonObject, pred: JsonObject, options: Options
    ) -> ObjectComparison:
        """Account for two objects field by field, even where one of them is empty."""
        comparisons: list[Comparison] = []
        for entry in self.fields:
            gt_value, pred_value = gt.get(entry.name), pred.get(entry.name)
            comparisons.append(_at(entry.name, entry.node.compare, gt_value, pred_value, options))
        fields, mean = self._fields(comparisons), WeightedMean()
        for field_ in fields:
            if field_.comparison.outcome is not Outcome.TN:
                mean.add(field_.comparison.score, field_.weight)
        similarity = mean.value
        return ObjectComparison(
            gt,
            pred,
            self.judge(similarity),
            similarity,
            clipped(similarity, self.threshold, clip=self.clip),
            self.threshold,
            fields,
            self._extras(gt, pred, options),
            self._undeclared(gt),
        )

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for an object that the other side does not have, field by field."""
        if not isinstance(value, dict):
            return self.one_sided_leaf(value, outcome)
        comparisons = []
        for entry in self.fields:
            part, node = value.get(entry.name), entry.node
            absent = is_absent(part)
            comparisons.append(node.nothing() if absent else node.one_sided(part, outcome, options))
        missed = outcome is Outcome.FN
        gt, pred = (value, None) if missed else (None, value)
        return ObjectComparison(
            gt,
            pred,
            outcome,
            0.0,
            0.0,
            self.threshold,
            self._fields(comparisons),
            () if missed else self._extras({}, value, options),
            self._undeclared(value) if missed else (),
        )

    def nothing(self) -> Comparison:
        """Account for both sides being absent: one unit, without fields."""
        return ObjectComparison(None, None, Outcome.TN, 1.0, 1.0, self.threshold)

    def _fields(self, comparisons: Sequence[Comparison]) -> tuple[FieldComparison, ...]:
        """Put each field's comparison together with what the field is worth."""
        pairs = list(zip(self.fields, comparisons, strict=True))
        counted = self.counted
        if self.by_arm:
            counted = _counted({entry.name: _say(entry, result) for entry, result in pairs})
        return tuple(
            FieldComparison(
                entry.name,
                entry.node.weigh(result.gt, result.pred),
                entry.name in counted,
                result,
            )
            for entry, result in pairs
        )

    def _extras(self, gt: JsonObject, pred: JsonObject, options: Options) -> tuple[str, ...]:
        if options.extra_fields == "ignore":
            return ()
        return tuple(name for name in self._undeclared(pred) if is_absent(gt.get(name)))

    def _undeclared(self, value: JsonObject) -> tuple[str, ...]:
        declared = {entry.name for entry in self.fields}
        return tuple(
            name for name, part in value.items() if name not in declared and not is_absent(part)
        )


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


class WeightedMean:
    """A running sum(weight * score) / sum(weight); 1.0 of nothing."""

    def __init__(self) -> None:
        self._total = 0.0
        self._weight = 0.0

    def add(self, score: float, weight: float) -> None:
        """Take in one score in [0, 1] of a weight above 0."""
        self._total += weight * score
        self._weight += weight

    @property
    def value(self) -> float:
        """The mean so far, in [0, 1]."""
        return self._total / self._weight if self._weight else 1.0


def _as_object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _column(objects: Iterable[JsonObject], name: str) -> list[JsonValue]:
    """Take one field of all objects; None where it is absent."""
    values = (entry.get(name) for entry in objects)
    return [None if is_absent(value) else value for value in values]


def _at(name: str, call: Callable[..., T], *arguments: object) -> T:
    """Call with a comparator's failure told where it happened."""
    try:
        return call(*arguments)
    except ComparisonError as error:
        raise error.below(name) from error.__cause__
