"""A union: the arm that accepts the ground truth decides how a pair is compared."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import without_absent
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.result import Comparison, Outcome
from stickler_cli.core.json_values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceNode(Node, ABC):
    """A node that leaves each pair to the node that fits its values.

    What all such nodes share: the ground truth chooses, and the prediction where there is none.
    """

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair what is in them."""
        return True

    @abstractmethod
    def choose(self, value: JsonValue) -> Node:
        """Give the node for a value; None gives the one that stands for absence."""

    def declares(self, value: JsonValue) -> bool:
        """Take any value: the chosen node has its own say."""
        return True

    def chosen(self, value: JsonValue) -> Node:
        """Give the node that a value by itself leads to."""
        return self.choose(value).chosen(value)

    def resolve(self, gt: JsonValue, pred: JsonValue) -> Node:
        """Give the node that compares this pair; None stands for an absent side."""
        return self.choose(pred if gt is None else gt).resolve(gt, pred)

    def weigh(self, gt: JsonValue, pred: JsonValue) -> float:
        """Give what this pair is worth in its object."""
        return self.choose(pred if gt is None else gt).weigh(gt, pred)

    def weights(self, gts: Sequence[JsonValue], preds: Sequence[JsonValue]) -> "float | Matrix":
        """Give what every pair is worth, (n, m)."""
        worth = [[self.weigh(gt, pred) for pred in preds] for gt in gts]
        return np.array(worth, dtype=np.float64).reshape(len(gts), len(preds))

    def similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        """Compare two present values; in [0, 1]."""
        return self.choose(gt).similarity(gt, pred, options)

    def score(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        """Compare two present values and clip; in [0, 1]."""
        return self.choose(gt).score(gt, pred, options)

    def _all_pairs(
        self,
        gts: Sequence[JsonValue],
        preds: Sequence[JsonValue],
        options: Options,
        *,
        clip: bool,
    ) -> Matrix:
        """Fill the rows of each chosen node with one call."""
        rows_of: dict[int, tuple[Node, list[int]]] = {}
        for row, gt in enumerate(gts):
            node = self.choose(gt)
            rows_of.setdefault(id(node), (node, []))[1].append(row)
        result = np.zeros((len(gts), len(preds)))
        for node, rows in rows_of.values():
            chosen = [gts[row] for row in rows]
            fill = node.scores if clip else node.matrix
            result[rows] = fill(chosen, preds, options)
        return result

    def _similarity(
        self, gt: JsonValue, pred: JsonValue, options: Options
    ) -> float:  # pragma: no cover - `resolve` never gives a choice, but `Node` asks for it
        return self.similarity(gt, pred, options)

    def _compare(
        self, gt: JsonValue, pred: JsonValue, options: Options
    ) -> Comparison:  # pragma: no cover - likewise
        return self.choose(gt).compare(gt, pred, options)

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for a value that the other side does not have."""
        return self.choose(value).one_sided(value, outcome, options)

    def nothing(self) -> Comparison:
        """Account for both sides being absent."""
        return self.choose(None).nothing()


class Acceptor(ABC):
    """Says whether a value is valid under an arm's schema; picklable, equal by schema."""

    @abstractmethod
    def __call__(self, value: JsonValue) -> bool:
        """Say whether the arm accepts the value."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One alternative of a union."""

    accepts: Acceptor
    node: Node
    aggregate: bool | None = None
    """The arm's say on the aggregate of the object that it is a field of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOfNode(ChoiceNode):
    """A union of two or more arms, in schema order; the null arm is not among them."""

    arms: tuple[Arm, ...]

    def choose(self, value: JsonValue) -> Node:
        """Give the node of the first arm that accepts the value, else of the first arm."""
        return self.arm_of(value).node

    def arm_of(self, value: JsonValue) -> Arm:
        """Give the first arm that accepts the value, else the first arm.

        A missing field and a null field are the same thing, so a value that no arm accepts as it
        is may be accepted without its absent parts.
        """
        if value is None:
            return self.arms[0]
        return self._accepting(value) or self._accepting(without_absent(value)) or self.arms[0]

    def _accepting(self, value: JsonValue) -> Arm | None:
        return next((arm for arm in self.arms if arm.accepts(value)), None)
