"""A leaf: one value, judged by one comparator."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from stickler_cli.clients.rounds import Pending
from stickler_cli.comparators.base import EQUAL_WITHIN, BaseComparator, Matrix
from stickler_cli.compare.plan import SCALARS, Node, Options, shape_of
from stickler_cli.compare.result import Comparison, JudgedComparison, LeafComparison, Outcome
from stickler_cli.compare.thresholds import clipped
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.problems import ComparisonError

SMALL_COLUMNS: Final = 64
"""So many pairs are compared in less time than it takes to do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafNode(Node):
    """A value that its comparator sees whole."""

    comparator: BaseComparator

    @property
    def item_clip(self) -> bool:
        """Whether a pair of list elements below its threshold adds nothing to the list."""
        return self.clip

    def bound(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> "float | Matrix":
        """Give what no score of a pair exceeds; of small columns, what it is before clipping."""
        if self.columnar or len(gts) * len(preds) <= SMALL_COLUMNS:
            return self.matrix(gts, preds, options)
        return 1.0

    @property
    def columnar(self) -> bool:
        """Whether `matrix` of a column costs little beside a call for each pair."""
        return (self.comparator.pairing or self.comparator).columnar

    def declares(self, value: JsonValue) -> bool:
        """Say whether the comparator takes values of this shape."""
        shape = shape_of(value)
        return shape == "leaf" or shape in self.comparator.takes

    def declares_all(self, values: Sequence[JsonValue]) -> bool:
        """Say whether the comparator takes values of all these shapes."""
        return SCALARS.issuperset([value.__class__ for value in values]) or all(
            map(self.declares, values)
        )

    @property
    def is_judged(self) -> bool:
        """Whether the comparator sees only pairs that are chosen already, and says why."""
        return self.comparator.pairing is not None

    def _comparator(self, options: Options) -> BaseComparator:
        return self.comparator.pairing or self.comparator if options.pairing else self.comparator

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        comparator = self._comparator(options)
        try:
            similarity = float(
                comparator.similarity(comparator.prepare(gt), comparator.prepare(pred))
            )
        except Pending:
            return 0.0  # for now
        except Exception as error:
            raise self._failure(gt, pred, f"{type(error).__name__}: {error}") from error
        return self._in_range(similarity, gt, pred)

    def _matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        comparator = self._comparator(options)
        try:
            similarity = comparator.matrix(
                [comparator.prepare(gt) for gt in gts], [comparator.prepare(pred) for pred in preds]
            )
        except Pending:
            return np.zeros((len(gts), len(preds)))  # for now
        except Exception as error:
            raise self._failure(gts, preds, f"{type(error).__name__}: {error}") from error
        if similarity.size and similarity.min() >= 0.0 and similarity.max() <= 1.0:
            return similarity
        # A NaN would read as "no pair" and vanish: NaN > floor is False.
        wrong = ~((similarity >= -EQUAL_WITHIN) & (similarity <= 1 + EQUAL_WITHIN))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            self._in_range(float(similarity[row, column]), gts[row], preds[column])
        return np.clip(similarity, 0.0, 1.0)

    def _in_range(self, similarity: float, gt: JsonValue, pred: JsonValue) -> float:
        if not math.isfinite(similarity) or not -EQUAL_WITHIN <= similarity <= 1 + EQUAL_WITHIN:
            raise self._failure(gt, pred, f"its similarity is {similarity!r}")
        return min(max(similarity, 0.0), 1.0)

    def _failure(self, gt: object, pred: object, cause: str) -> ComparisonError:
        return ComparisonError(
            f"{self.comparator.name} failed on {brief(gt)} and {brief(pred)}: {cause}"
        )

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        similarity = self._similarity(gt, pred, options)
        score = clipped(similarity, self.threshold, clip=self.clip)
        known = gt, pred, self.judge(similarity), similarity, score, self.threshold
        if self.is_judged and not options.pairing:
            return JudgedComparison(*known, self._reason(gt, pred))
        return LeafComparison(*known)

    def _reason(self, gt: JsonValue, pred: JsonValue) -> str:
        """Give the judge's reason; there is one wherever there is a similarity."""
        comparator = self.comparator
        try:
            return comparator.reason(comparator.prepare(gt), comparator.prepare(pred))
        except Pending:
            return ""  # for now
        except Exception as error:
            raise self._failure(gt, pred, f"{type(error).__name__}: {error}") from error

    def _mismatch(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        return LeafComparison(gt, pred, Outcome.FD, 0.0, 0.0, self.threshold)

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for a value that the other side does not have; it counts as one."""
        return self.one_sided_leaf(value, outcome)

    def nothing(self) -> Comparison:
        """Account for both sides being absent."""
        return self.absent_leaf()
