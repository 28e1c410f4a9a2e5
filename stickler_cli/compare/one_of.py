"""Nodes that leave a pair to another: unions, and references back to a node further up."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from stickler_cli.core.json_values import JsonValue, without_absent
from .columns import NOTHING, Columns, Floats, Indexes, Outcomes, groups
from .gold import drop_absent
from .pair_scores import PairGroup, PairScores, join_groups
from .plan import Mode, Node, Options, Recording, Scoring, Task
from .units import Placement, UnitTable

SAYS: Final = {None: -1, False: 0, True: 1}
"""What a field or an arm says of an aggregate, as a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatingNode(Node, ABC):
    """A node that leaves its pairs to other nodes, whether they are scored or recorded."""

    nested = True
    takes_lists = True
    sees_absent_values = True  # the other nodes see them

    @abstractmethod
    def delegate(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of values, each by another node."""

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of values, each by another node."""
        return self.delegate(columns, gt, pred, Scoring(options, mode))

    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Score and record pairs of values, each by another node."""
        return self.delegate(columns, gt, pred, Recording(options, table, place))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceNode(DelegatingNode, ABC):
    """A node that leaves each pair to one that its ground truth chooses, else its prediction."""

    @abstractmethod
    def choose(self, value: JsonValue) -> Node:
        """Return the node for a value; None gives the one that stands for absence."""

    @abstractmethod
    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the nodes, and the position of the chosen one for each slot of either side."""

    labels_inside = True
    lists_inside = True
    weighs: ClassVar[bool] = False
    """Whether this node says what pairs are worth, not the chosen nodes."""

    def chosen(self, value: JsonValue) -> Node:
        """Return the node that a value by itself leads to."""
        return self.choose(value).chosen(value)

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether a value counts as nothing for the node that it chooses."""
        return self.choose(value).is_nothing(value)

    def delegate(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of values, each by the node that it chooses."""
        # Documents are compared whole, but an absent one has no say on the node.
        present_gt, present_pred = columns.present(gt, pred) if task.is_whole else (gt, pred)
        nodes, gt_choice, pred_choice = self.choices(columns)
        if columns.place.hides:
            present_gt = drop_absent(self, columns, present_gt, present_pred)[0]
        is_absent = present_gt == NOTHING
        chosen = np.where(is_absent, pred_choice[present_pred], gt_choice[present_gt])
        if columns.place.hides:  # what is nothing to its own node is so to another one
            gt = np.where(is_absent & (chosen != gt_choice[gt]), NOTHING, gt)
        weight = self.weight if self.weighs else None
        if weight is not None:
            task = task.with_weight(weight)
        groups_by_node = []
        for number, positions in groups(chosen):
            scores = nodes[number].compare_pairs(
                columns, gt[positions], pred[positions], task.of(positions)
            )
            groups_by_node.append(PairGroup(positions, scores))
        return join_groups(self, columns, gt, pred, groups_by_node, weight)

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the similarity at which these list elements are matches."""
        nodes, choice, _ = self.choices(columns)
        thresholds = np.empty(len(gt))
        for position, at in groups(choice[gt]):
            thresholds[at] = nodes[position].element_thresholds(columns, gt[at])
        return thresholds


class Acceptor(ABC):
    """Says whether a value is valid under an arm's schema; picklable, equal by schema."""

    @property
    def is_bounded(self) -> bool:
        """Whether it takes time in proportion to the value."""
        return True

    @abstractmethod
    def __call__(self, value: JsonValue) -> bool:
        """Return whether the arm accepts the value."""


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

    def parts(self) -> Sequence[Node]:
        """Return the arms, whose fields are those of this place."""
        return [arm.node for arm in self.arms]

    def choose(self, value: JsonValue) -> Node:
        """Return the node of the first arm that accepts the value, else of the first arm."""
        return self.arms[self._arm(value)].node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the nodes of the arms, and the position of the arm of each slot."""
        gt, pred = columns.derived(
            id(self),
            lambda: tuple(
                np.array([*map(self._arm, side), 0], np.intp) for side in (columns.gt, columns.pred)
            ),
        )
        return self.parts(), gt, pred

    def _arm(self, value: JsonValue) -> int:
        """Find the first arm that accepts the value, else the first arm."""
        if value is None:
            return 0
        found = self._accepting(value)
        if found is None:  # a missing field and a null one are the same
            found = self._accepting(without_absent(value))
        return found or 0

    def _accepting(self, value: JsonValue) -> int | None:
        return next((at for at, arm in enumerate(self.arms) if arm.accepts(value)), None)

    def says(self, scores: PairScores) -> bool | Outcomes | None:
        """Return the annotation of the aggregate by pair: one value, or `SAYS` of each."""
        said = {arm.aggregate for arm in self.arms}
        if len(said) == 1:
            return said.pop()
        _, gt_choice, pred_choice = self.choices(scores.columns)
        chosen = np.where(scores.gt == NOTHING, pred_choice[scores.pred], gt_choice[scores.gt])
        return np.array([SAYS[arm.aggregate] for arm in self.arms], np.int8)[chosen]


class Target:
    """Where a recursion leads: an entry of a table of nodes, filled in once the node is complete.

    So a plan is pickled entry by entry, not along its longest chain of references.
    """

    __slots__ = ("_index", "_table")

    def __init__(self, table: list[Node | None] | None = None, index: int | None = None) -> None:
        """Take a table and the index of an entry; without an index, an empty entry is added."""
        self._table = [] if table is None else table
        self._index = len(self._table) if index is None else index
        if index is None:
            self._table.append(None)

    @property
    def node(self) -> Node | None:
        """The node that a reference leads to; None while it is being built."""
        return self._table[self._index]

    @node.setter
    def node(self, node: Node | None) -> None:
        self._table[self._index] = node

    def __reduce__(self) -> tuple[Any, ...]:
        return Target, (self._table, self._index)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursionNode(ChoiceNode):
    """A node that stands for one further up, so that a plan is a finite tree on paper.

    Two recursions are equal if they lead to the same place; the node is compared where it stands.
    """

    place: str
    """Where the target's schema is: `file#/pointer`."""
    target: Target = field(compare=False, repr=False)

    def choose(self, value: JsonValue) -> Node:
        """Return the target."""
        if self.target.node is None:
            raise AssertionError(f"the plan of {self.place} is not complete")
        return self.target.node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the target for all slots."""
        gt, pred = (np.zeros(len(side) + 1, np.intp) for side in (columns.gt, columns.pred))
        return self.parts(), gt, pred

    def parts(self) -> Sequence[Node]:
        """Return the target, whose fields are those of this place."""
        return (self.choose(None),)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of values as the target does it."""
        return self.choose(None).compare_pairs(columns, gt, pred, task)


def followed(node: Node) -> Node:
    """Return the node that a reference stands for; any other node as it is."""
    while isinstance(node, RecursionNode):
        node = node.choose(None)
    return node
