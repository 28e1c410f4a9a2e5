"""Nodes that leave pairs to other nodes: unions, and references back to a node further up."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from stickler_cli.core.json_values import JsonValue, without_absent
from .columns import NOTHING, Columns, Floats, Indexes, Outcomes, group_positions
from .gold import drop_counted_as_absent
from .pair_scores import PairGroup, PairScores, join_groups
from .plan import Mode, Node, Options, Recording, Scoring, Task

ANNOTATION_CODES: Final = {None: -1, False: 0, True: 1}
"""The annotation of the aggregate of a field or an arm, as a number; -1 without one."""


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

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score and record pairs of values, each by another node."""
        return self.delegate(columns, gt, pred, recording)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceNode(DelegatingNode, ABC):
    """A node that leaves each pair to a node that the ground truth chooses, else the prediction."""

    @abstractmethod
    def choose(self, value: JsonValue) -> Node:
        """Return the node for a value; None gives the one that stands for absence."""

    @abstractmethod
    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the nodes, and the position of the chosen node for each slot of either side."""

    labels_inside = True
    lists_inside = True
    weighs: ClassVar[bool] = False
    """Whether the weight of pairs is that of this node, not of the chosen ones."""

    def node_for(self, value: JsonValue) -> Node:
        """Return the node that compares a value, through all choices."""
        return self.choose(value).node_for(value)

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether a value counts as nothing for the node that it chooses."""
        return self.choose(value).counts_as_absent(value)

    def delegate(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of values, each by the node that it chooses."""
        # Documents are compared whole, but an absent one does not choose the node.
        present_gt, present_pred = columns.drop_absent(gt, pred) if task.is_whole else (gt, pred)
        nodes, gt_choice, pred_choice = self.choices(columns)
        if columns.work.has_ignored_values:
            present_gt, _ = drop_counted_as_absent(self, columns, present_gt, present_pred)
        is_absent = present_gt == NOTHING
        chosen = np.where(is_absent, pred_choice[present_pred], gt_choice[present_gt])
        if columns.work.has_ignored_values:
            # A value that counts as absent for its own node is absent for another node, too.
            gt = np.where(is_absent & (chosen != gt_choice[gt]), NOTHING, gt)
        weight = self.weight if self.weighs else None
        if weight is not None:
            task = task.with_weight(weight)
        groups_by_node = []
        for number, positions in group_positions(chosen):
            scores = nodes[number].compare_pairs(
                columns, gt[positions], pred[positions], task.select(positions)
            )
            groups_by_node.append(PairGroup(positions, scores))
        return join_groups(self, columns, gt, pred, groups_by_node, weight)

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the similarity at which these list items are matches."""
        nodes, choice, _ = self.choices(columns)
        thresholds = np.empty(len(gt))
        for node_index, positions in group_positions(choice[gt]):
            thresholds[positions] = nodes[node_index].element_thresholds(columns, gt[positions])
        return thresholds


class Acceptor(ABC):
    """Checks whether a value is valid under an arm's schema; picklable, equal by schema."""

    @property
    def is_bounded(self) -> bool:
        """Whether its time is in proportion to the size of the value."""
        return True

    @abstractmethod
    def __call__(self, value: JsonValue) -> bool:
        """Return whether the arm accepts the value."""


class Arm(NamedTuple):
    """One alternative of a union."""

    accepts: Acceptor
    node: Node
    aggregate: bool | None = None
    """The arm's annotation of the aggregate of its object; None without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOfNode(ChoiceNode):
    """A union of two or more arms, in schema order; the null arm is not among them."""

    arms: tuple[Arm, ...]

    def inner_nodes(self) -> Sequence[Node]:
        """Return the nodes of the arms, which have the same field path."""
        return [arm.node for arm in self.arms]

    def choose(self, value: JsonValue) -> Node:
        """Return the node of the first arm that accepts the value, else of the first arm."""
        return self.arms[self._find_arm(value)].node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the nodes of the arms, and the position of the arm of each slot."""
        gt, pred = columns.cached(
            id(self),
            lambda: tuple(
                np.array([*map(self._find_arm, values), 0], np.intp)
                for values in (columns.gt, columns.pred)
            ),
        )
        return self.inner_nodes(), gt, pred

    def _find_arm(self, value: JsonValue) -> int:
        """Return the index of the first arm that accepts the value, else of the first arm."""
        if value is None:
            return 0
        index = self._find_accepting_arm(value)
        if index is None:  # a missing field and a null one are the same
            index = self._find_accepting_arm(without_absent(value))
        return index or 0

    def _find_accepting_arm(self, value: JsonValue) -> int | None:
        return next((index for index, arm in enumerate(self.arms) if arm.accepts(value)), None)

    def find_annotation(self, scores: PairScores) -> bool | Outcomes | None:
        """Return the `aggregate` annotation of the arm that compares each pair.

        It is one value if all arms agree. Otherwise it is an array of `ANNOTATION_CODES`, one for
        each pair; the ground truth chooses the arm, or the prediction if the former is absent.
        """
        annotations = {arm.aggregate for arm in self.arms}
        if len(annotations) == 1:
            return annotations.pop()
        _, gt_choice, pred_choice = self.choices(scores.columns)
        chosen = np.where(scores.gt == NOTHING, pred_choice[scores.pred], gt_choice[scores.gt])
        return np.array([ANNOTATION_CODES[arm.aggregate] for arm in self.arms], np.int8)[chosen]


class Target:
    """The target of a recursion: an entry of a table of nodes, filled in once the node is complete.

    With a table, a plan is pickled entry by entry, not along its longest chain of references.
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
    """The place of the target's schema: `file#/pointer`."""
    target: Target = field(compare=False, repr=False)

    def choose(self, value: JsonValue) -> Node:
        """Return the target."""
        if self.target.node is None:
            raise AssertionError(f"the plan of {self.place} is not complete")
        return self.target.node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the target for all slots."""
        gt, pred = (np.zeros(len(values) + 1, np.intp) for values in (columns.gt, columns.pred))
        return self.inner_nodes(), gt, pred

    def inner_nodes(self) -> Sequence[Node]:
        """Return the target, which has the same field path."""
        return (self.choose(None),)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of values by the target."""
        return self.choose(None).compare_pairs(columns, gt, pred, task)


def follow_references(node: Node) -> Node:
    """Return the node that a reference stands for; any other node unchanged."""
    while isinstance(node, RecursionNode):
        node = node.choose(None)
    return node
