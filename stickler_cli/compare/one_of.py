"""Nodes that let other nodes compare their pairs: unions, and recursive references."""

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
"""The `aggregate` annotation of a field or arm as a number; -1 stands for no annotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatingNode(Node, ABC):
    """The base of nodes that let other nodes score and record their pairs."""

    nested = True
    takes_lists = True
    sees_absent_values = True  # the other nodes compare them

    @abstractmethod
    def delegate(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Let other nodes compare the pairs of values.

        If `task` is a `Recording`, the pairs are also added to its unit table.
        """

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Let other nodes score the pairs of values."""
        return self.delegate(columns, gt, pred, Scoring(options, mode))

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Let other nodes score and record the pairs of values."""
        return self.delegate(columns, gt, pred, recording)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceNode(DelegatingNode, ABC):
    """The base of nodes that choose another node to compare each pair.

    The ground truth decides: in a union, for example, it chooses the node of an arm. If the ground
    truth is absent, the prediction decides.
    """

    @abstractmethod
    def choose(self, value: JsonValue) -> Node:
        """Return the node that a value chooses; for None, the node that compares absent values."""

    @abstractmethod
    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the nodes that values choose, and the node that each value chooses.

        The result is (nodes, node index of each ground truth, node index of each prediction).
        """

    labels_inside = True
    lists_inside = True
    weighs: ClassVar[bool] = False
    """Whether pairs have the weight of this node, instead of the weight of the chosen node."""

    def node_for(self, value: JsonValue) -> Node:
        """Return the node that finally compares a value, after all choices."""
        return self.choose(value).node_for(value)

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether a value counts as absent for the node that it chooses."""
        return self.choose(value).counts_as_absent(value)

    def delegate(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Compare each pair of values by the node chosen for it.

        If `task` is a `Recording`, the pairs are also added to its unit table.
        """
        # Documents are compared even if absent, but an absent document chooses no node.
        present_gt, present_pred = columns.drop_absent(gt, pred) if task.is_whole else (gt, pred)
        nodes, gt_choice, pred_choice = self.choices(columns)
        if columns.work.has_ignored_values:
            present_gt, _ = drop_counted_as_absent(self, columns, present_gt, present_pred)
        is_absent = present_gt == NOTHING
        chosen = np.where(is_absent, pred_choice[present_pred], gt_choice[present_gt])
        if columns.work.has_ignored_values:
            # A value that counts as absent for its own node stays absent for the chosen node.
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
        """Return the threshold of each list item.

        An item matches if its similarity is at least this. `gt` has the column positions of the
        items.
        """
        nodes, choice, _ = self.choices(columns)
        thresholds = np.empty(len(gt))
        for node_index, positions in group_positions(choice[gt]):
            thresholds[positions] = nodes[node_index].element_thresholds(columns, gt[positions])
        return thresholds


class Acceptor(ABC):
    """Tests whether a value is valid under the schema of an arm of a union.

    Acceptors can be pickled, and are equal if their schemas are.
    """

    @property
    def is_bounded(self) -> bool:
        """Whether the time of the test grows at most in proportion to the size of the value."""
        return True

    @abstractmethod
    def __call__(self, value: JsonValue) -> bool:
        """Return whether a value is valid under the schema of the arm."""


class Arm(NamedTuple):
    """One alternative of a union: a test of values, and the node that compares those that pass."""

    accepts: Acceptor
    node: Node
    aggregate: bool | None = None
    """The `aggregate` annotation of the arm; None if the schema states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOfNode(ChoiceNode):
    """The node of a union. It has two or more arms in schema order; an arm for null is left out."""

    arms: tuple[Arm, ...]

    def inner_nodes(self) -> Sequence[Node]:
        """Return the nodes of the arms, all for the same field."""
        return [arm.node for arm in self.arms]

    def choose(self, value: JsonValue) -> Node:
        """Return the node of the first arm that accepts the value.

        If no arm accepts it, return the node of the first arm.
        """
        return self.arms[self._find_arm(value)].node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the nodes of the arms, and the arm of each value.

        The result is (nodes, arm index of each ground truth, arm index of each prediction).
        """
        # The last entry is for `NOTHING` (-1), an absent value.
        gt, pred = columns.cached(
            id(self),
            lambda: tuple(
                np.array([*map(self._find_arm, values), 0], np.intp)
                for values in (columns.gt, columns.pred)
            ),
        )
        return self.inner_nodes(), gt, pred

    def _find_arm(self, value: JsonValue) -> int:
        """Return the index of the first arm that accepts the value; 0 if no arm does."""
        if value is None:
            return 0
        index = self._find_accepting_arm(value)
        if index is None:  # a missing field equals a null field
            index = self._find_accepting_arm(without_absent(value))
        return index or 0

    def _find_accepting_arm(self, value: JsonValue) -> int | None:
        return next((index for index, arm in enumerate(self.arms) if arm.accepts(value)), None)

    def find_annotation(self, scores: PairScores) -> bool | Outcomes | None:
        """Return the `aggregate` annotation of the arm that compares each pair.

        If all arms have the same annotation, return this annotation. Otherwise, return an array
        with one of `ANNOTATION_CODES` for each pair. The ground truth chooses the arm; if it is
        absent, the prediction does.
        """
        annotations = {arm.aggregate for arm in self.arms}
        if len(annotations) == 1:
            return annotations.pop()
        _, gt_choice, pred_choice = self.choices(scores.columns)
        chosen = np.where(scores.gt == NOTHING, pred_choice[scores.pred], gt_choice[scores.gt])
        return np.array([ANNOTATION_CODES[arm.aggregate] for arm in self.arms], np.int8)[chosen]


class Target:
    """Stands for the node that a recursive reference in a schema leads to.

    The node is an entry in a table, and this object holds the index of the entry. The entry is
    empty until the node is complete. Without the table, pickle would follow each chain of
    references to its end, and could exceed the recursion limit.
    """

    __slots__ = ("_index", "_table")

    def __init__(self, table: list[Node | None] | None = None, index: int | None = None) -> None:
        """Refer to the entry of a table at `index`; if `index` is None, add an empty entry."""
        self._table = [] if table is None else table
        self._index = len(self._table) if index is None else index
        if index is None:
            self._table.append(None)

    @property
    def node(self) -> Node | None:
        """The node that a reference leads to; None until the node is complete."""
        return self._table[self._index]

    @node.setter
    def node(self, node: Node | None) -> None:
        self._table[self._index] = node

    def __reduce__(self) -> tuple[Any, ...]:
        return Target, (self._table, self._index)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursionNode(ChoiceNode):
    """A node that stands for one of the nodes around it: its target.

    With such nodes, the plan of a schema that refers to itself is a finite tree. Two of them are
    equal if their targets have the same schema. The targets themselves are not examined, because
    they occur elsewhere in the plan.
    """

    location: str
    """The location of the target's schema: `file#/pointer`."""
    target: Target = field(compare=False, repr=False)

    def choose(self, value: JsonValue) -> Node:
        """Return the target, whatever the value is."""
        if self.target.node is None:
            raise AssertionError(f"the plan of {self.location} is not complete")
        return self.target.node

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return the target as the only node, and 0 as the index of every value's node."""
        gt, pred = (np.zeros(len(values) + 1, np.intp) for values in (columns.gt, columns.pred))
        return self.inner_nodes(), gt, pred

    def inner_nodes(self) -> Sequence[Node]:
        """Return the target as the only node; it compares the same field."""
        return (self.choose(None),)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Compare pairs of values with the target, which is the node that the reference leads to.

        If `task` is a `Recording`, the pairs are also added to its unit table.
        """
        return self.choose(None).compare_pairs(columns, gt, pred, task)


def follow_references(node: Node) -> Node:
    """Return the target of a recursive reference, or any other node as it is."""
    while isinstance(node, RecursionNode):
        node = node.choose(None)
    return node
