"""What a plan is made of: nodes that each know three things about values of their kind.

`similarity(gt, pred)` is a number, `matrix(gts, preds)` is that number for all pairs at once, and
`compare(gt, pred)` is the full account. They agree: `matrix` is `similarity` for every pair, and
`compare(...).similarity` is that too (of lists and tuples, which clip inside, their `score`).
`similarity` and `matrix` take present values only.

A value of another kind than the declared one is never an error: where both sides share another
kind they are compared as that kind (`other`), else they have nothing in common.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.result import (
    Comparison,
    LeafComparison,
    MismatchComparison,
    Outcome,
    ThresholdSource,
)
from stickler_cli.compare.thresholds import clipped, clipped_matrix, meets
from stickler_cli.core.json_values import JsonValue

PAIRING_FLOOR: Final = 0.2
"""At or below this similarity two list elements are not the same item at all. Source:
docs/semantics.md, Lists."""

SCALARS: Final = frozenset((str, int, float, bool, type(None)))
"""Types of values that are one leaf to any comparator."""

Shape = Literal["leaf", "object", "array"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a run may set; a plan leaves these open."""

    pairing_floor: float = PAIRING_FLOOR
    """In [-1, 1); for lists that set none of their own; -1 keeps every pair."""
    extra_fields: Literal["fa", "ignore"] = "fa"
    """What an undeclared key of a prediction is: a false alarm, or nothing."""
    asks_models: bool = False
    """Whether answers of models may be yet to come: then nothing is compared sooner or later for
    what another comparison gave, so that all questions come up at once."""
    pairing: bool = False
    """Whether values are compared to pair list elements: then no judge is asked about them."""

    def for_pairing(self) -> "Options":
        """Give the options under which list elements are paired."""
        return replace(self, pairing=True) if self.asks_models and not self.pairing else self


def shape_of(value: JsonValue) -> Shape:
    """Tell the three shapes of values apart."""
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "leaf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(ABC):
    """One place of a schema, ready to compare the values that stand there."""

    threshold: float
    """In [0, 1]; at or above it the values match, as one unit."""
    weight: float = 1.0
    """Above 0; what the field is worth in the score of its object."""
    clip: bool = False
    """Whether a similarity below the threshold scores 0.0."""
    other: "Node | None" = field(default=None, repr=False, compare=False)
    """The node for two values that share a kind other than the declared one."""

    threshold_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """Who said `threshold`; for explanations only."""

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Tell who said the threshold for this list element and another."""
        return self.threshold_source

    @property
    def item_threshold(self) -> float:
        """The similarity at which a pair of list elements of this kind is a match."""
        return self.threshold

    def threshold_for(self, element: JsonValue) -> float:
        """Give the similarity at which this list element and another are a match."""
        return self.item_threshold

    @property
    def item_clip(self) -> bool:
        """Whether a pair of list elements below its threshold adds nothing to the list."""
        return False

    @abstractmethod
    def declares(self, value: JsonValue) -> bool:
        """Say whether a value is of the kind that this node compares."""

    def declares_all(self, values: Sequence[JsonValue]) -> bool:
        """Say whether all values are of the kind that this node compares."""
        return all(map(self.declares, values))

    @abstractmethod
    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        """Compare two present values of the declared kind."""

    @abstractmethod
    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        """Account for two present values of the declared kind."""

    @abstractmethod
    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for a present value that the other side does not have (FN or FA)."""

    @abstractmethod
    def nothing(self) -> Comparison:
        """Account for both sides being absent."""

    def _matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        """Compare every value of one side with every one of the other, all of the declared kind."""
        rows = [[self._similarity(gt, pred, options) for pred in preds] for gt in gts]
        return np.array(rows, dtype=np.float64).reshape(len(gts), len(preds))

    def resolve(self, gt: JsonValue, pred: JsonValue) -> "Node":
        """Give the node that compares this pair; None stands for an absent side."""
        if gt is None or pred is None or self.declares(gt) or self.declares(pred):
            return self
        if self.other is None or shape_of(gt) != shape_of(pred):
            return self
        return self.other.resolve(gt, pred)

    def chosen(self, value: JsonValue) -> "Node":
        """Give the node that a value by itself leads to: this one, or one that it chooses."""
        return self

    def similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        """Compare two present values; in [0, 1]."""
        node = self.resolve(gt, pred)
        if node is not self:
            return node.similarity(gt, pred, options)
        if self.declares(gt) and self.declares(pred):
            return self._similarity(gt, pred, options)
        return 0.0

    def score(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        """Compare two present values and clip; in [0, 1]."""
        node = self.resolve(gt, pred)
        if node is not self:
            return node.score(gt, pred, options)
        return clipped(self.similarity(gt, pred, options), self.threshold, clip=self.clip)

    def matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        """Compare every present value of one side with every one of the other; shape (n, m)."""
        return self._all_pairs(gts, preds, options, clip=False)

    def scores(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        """Compare every present value with every other and clip; shape (n, m)."""
        return self._all_pairs(gts, preds, options, clip=True)

    def _all_pairs(
        self,
        gts: Sequence[JsonValue],
        preds: Sequence[JsonValue],
        options: Options,
        *,
        clip: bool,
    ) -> Matrix:
        """Fill the cells of values of the declared kind with one call, the others one by one."""
        if self.declares_all(gts) and self.declares_all(preds):
            similarity = self._matrix(gts, preds, options)
            return clipped_matrix(similarity, self.threshold, clip=clip and self.clip)
        rows = [row for row, gt in enumerate(gts) if self.declares(gt)]
        columns = [column for column, pred in enumerate(preds) if self.declares(pred)]
        declared = self._matrix(
            [gts[row] for row in rows], [preds[column] for column in columns], options
        )
        declared = clipped_matrix(declared, self.threshold, clip=clip and self.clip)
        result = np.zeros((len(gts), len(preds)))
        result[np.ix_(rows, columns)] = declared
        one = self.score if clip else self.similarity
        for row in sorted(set(range(len(gts))).difference(rows)):
            for column in sorted(set(range(len(preds))).difference(columns)):
                result[row, column] = one(gts[row], preds[column], options)
        return result

    @property
    def columnar(self) -> bool:
        """Whether `matrix` of a column costs little beside a call for each pair."""
        return False

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair what is in them."""
        return False

    def bound(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> "float | Matrix":
        """Give, at little cost, what no similarity of a pair exceeds: one number, or (n, m)."""
        return self.matrix(gts, preds, options) if self.columnar else 1.0

    def weigh(self, gt: JsonValue, pred: JsonValue) -> float:
        """Give what this pair is worth in its object; None stands for an absent side."""
        return self.weight

    def weights(self, gts: Sequence[JsonValue], preds: Sequence[JsonValue]) -> "float | Matrix":
        """Give what every pair is worth: one number, or (n, m) where the values decide."""
        return self.weight

    def compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        """Account for two values, either of which may be absent."""
        if is_absent(gt):
            if is_absent(pred):
                return self.nothing()
            return self.one_sided(pred, Outcome.FA, options)
        if is_absent(pred):
            return self.one_sided(gt, Outcome.FN, options)
        return self.compare_present(gt, pred, options)

    def compare_present(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        """Account for two present values."""
        node = self.resolve(gt, pred)
        if node is not self:
            return node.compare_present(gt, pred, options)
        if self.declares(gt) and self.declares(pred):
            return self._compare(gt, pred, options)
        return self._mismatch(gt, pred, options)

    def _mismatch(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        return MismatchComparison(
            gt,
            pred,
            Outcome.FD,
            0.0,
            0.0,
            self.threshold,
            self.one_sided(gt, Outcome.FN, options),
            self.one_sided(pred, Outcome.FA, options),
        )

    def judge(self, similarity: float) -> Outcome:
        """Classify a pair of present values."""
        return Outcome.TP if meets(similarity, self.threshold) else Outcome.FD

    def absent_leaf(self) -> LeafComparison:
        """Account for nothing on either side, without parts."""
        return LeafComparison(None, None, Outcome.TN, 1.0, 1.0, self.threshold)

    def one_sided_leaf(self, value: JsonValue, outcome: Outcome) -> LeafComparison:
        """Account for a value on one side that counts as one, whatever is in it."""
        gt, pred = (value, None) if outcome is Outcome.FN else (None, value)
        return LeafComparison(gt, pred, outcome, 0.0, 0.0, self.threshold)


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled schema: everything that the engine needs, and nothing else."""

    root: Node
    model_name: str
    """The schema's own name for its documents."""
    asks_models: bool = False
    """Whether a comparator of it asks a model."""
