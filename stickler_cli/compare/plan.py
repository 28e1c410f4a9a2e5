"""The nodes of a plan: one node for each field of a schema compares the values of that field.

A node has two tasks: it scores pairs of values (`Scoring`), or it scores and records them
(`Recording`). In both tasks, and for all nodes, the same code chooses alternatives of ground
truths, skips unlabelled values, and handles absent values and values of another kind.

A value of another kind than the declared one is never an error. If the ground truth and the
prediction share another kind, the node `other` compares them as that kind. If their kinds differ,
their similarity is 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.clients.model_policy import DEFAULT_POLICY, Policy
from stickler_cli.core.json_values import DocumentKind, JsonValue, is_absent
from stickler_cli.core.locations import Step
from stickler_cli.settings.deciding import ComparisonOptions, ExtraFields, LimitedOptions
from .columns import NOTHING, Columns, Floats, GoldColumn, Indexes, Mask
from .gold import EXCLUDED, choose_alternatives, drop_unlabelled_predictions, present_pairs
from .pair_scores import (
    PairGroup,
    PairScores,
    add_rows,
    classify_one_sided,
    fill_rows,
    join_groups,
    score_zero,
)
from .result import FD, NOT_EVALUATED, TN, ThresholdSource
from .units import MISMATCH, UNLABELLED, VALUE, Placement, UnitTable
from .work import CALL_STEPS, PAIR_STEPS

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

Renames: TypeAlias = Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]]
"""Tables of alternative keys. Maps the name of a table to the table. Each table is for one kind of
object: it maps an alternative key to (name of the field, names of the tables for the objects inside
that field). An alternative key can also be a JSON Pointer to a value inside the object."""

PAIRING_FLOOR: Final = ComparisonOptions.pairing_floor
"""Two items can be a pair only if their similarity is above this. Source: docs/semantics.md,
Lists."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a run that the schema does not decide."""

    pairing_floor: float = PAIRING_FLOOR
    """Pairing floor of lists for which the schema states none, in [-1, 1). With -1, every pair is
    kept."""
    extra_fields: ExtraFields = ComparisonOptions.extra_fields
    """Whether an undeclared key of a prediction is a false alarm, or is ignored."""
    client: "Client | None" = field(default=None, compare=False, repr=False)
    """The client that asks models; None uses the client of the plan."""
    work_limit: float | None = LimitedOptions.work_limit
    """Maximum work of comparing a pair of documents, in units of work; None for no limit."""
    work_at_once: float | None = field(default=None, compare=False, repr=False)
    """Maximum work between two checks for signals, in units of work; None for no limit."""
    partial_gt: bool = ComparisonOptions.partial_gt
    """Whether a declared key that a ground truth lacks counts as unlabelled, not as absent."""


DEFAULT_OPTIONS: Final = Options()


class Mode(IntEnum):
    """What similarities are computed for; this decides how exact they are."""

    DOCUMENTS = 0
    """To choose the best of several documents that are alternatives of one ground truth. Each
    alternative is compared with the prediction field by field, even if the alternative or the
    prediction is empty."""
    FINAL = 1
    """To compute the results. Also used to choose one of several right values, and to study single
    pairs."""
    PAIRING = 2
    """To pair list items. Judges are not asked. The texts that they would judge are compared by
    edit distance."""
    LISTS_MATCH = 3
    """To compute an upper bound. Lists inside items count as a full match."""
    LISTS_AND_TEXTS_MATCH = 4
    """To compute an upper bound with less work than in the mode `LISTS_MATCH`. Lists inside items
    count as a full match, and so do values whose comparator is expensive."""


class Scoring(NamedTuple):
    """The task of scoring pairs without recording them."""

    options: Options
    mode: Mode

    @property
    def is_whole(self) -> bool:
        """Whether the pairs are whole documents.

        Documents are compared field by field, even if one of the two documents is empty.
        """
        return self.mode is Mode.DOCUMENTS

    def by_value(self) -> "Scoring":
        """Return the task, changed so that documents are compared like other values.

        An empty document then counts as absent.
        """
        return self._replace(mode=Mode.FINAL) if self.is_whole else self

    def select(self, positions: Indexes) -> "Scoring":
        """Return the task itself, which does not depend on the pairs."""
        return self

    def with_weight(self, weight: float) -> "Scoring":
        """Return the task itself; weights matter only if pairs are recorded."""
        return self

    def with_gold(self, slots: Indexes) -> "Scoring":
        """Return the task itself; chosen alternatives matter only if pairs are recorded."""
        return self

    def compare_declared(
        self, node: "Node", columns: Columns, gt: Indexes, pred: Indexes
    ) -> PairScores:
        """Score pairs of values of the kind that the node declares."""
        return node.score_declared(columns, gt, pred, self.options, self.mode)

    def finish_units(self, kind: int, scores: PairScores) -> PairScores:
        """Return the scores unchanged; nothing is recorded."""
        return scores

    def finish_mismatches(self, scores: PairScores) -> PairScores:
        """Return the scores unchanged; nothing is recorded."""
        return scores


class Recording(NamedTuple):
    """The task of scoring pairs and recording them, with everything inside them, in a table."""

    options: Options
    table: UnitTable
    placement: Placement
    """Where the recorded units belong, and how they count in their parents."""

    @property
    def mode(self) -> Mode:
        """The mode in which alternatives are scored before one of them is recorded."""
        return Mode.DOCUMENTS if self.placement.is_whole else Mode.FINAL

    @property
    def is_whole(self) -> bool:
        """Whether the pairs are whole documents.

        Documents are compared field by field, even if one of the two documents is empty.
        """
        return self.placement.is_whole

    def with_placement(self, placement: Placement) -> "Recording":
        """Return the task with another placement of the units."""
        return self._replace(placement=placement)

    def by_value(self) -> "Recording":
        """Return the task, changed so that documents are compared like other values.

        An empty document then counts as absent.
        """
        return (
            self.with_placement(self.placement._replace(is_whole=False)) if self.is_whole else self
        )

    def select(self, positions: Indexes) -> "Recording":
        """Return the task for some of the pairs, given by their positions in ascending order."""
        if len(positions) == len(self.placement.document):  # all pairs are selected
            return self
        return self.with_placement(self.placement.select(positions))

    def with_weight(self, weight: float) -> "Recording":
        """Return the task with a weight for its pairs. A weight that is already set is kept."""
        if self.placement.weight is not None:
            return self
        return self.with_placement(self.placement._replace(weight=weight))

    def with_gold(self, slots: Indexes) -> "Recording":
        """Return the task, changed so that it records which ground-truth alternatives are chosen.

        `slots` is a result of `Node.choose_alternatives`. If the task has the result of an earlier
        choice, the task is returned unchanged.
        """
        if self.placement.gold_slot is not None:
            return self
        return self.with_placement(self.placement._replace(gold_slot=slots))

    def compare_declared(
        self, node: "Node", columns: Columns, gt: Indexes, pred: Indexes
    ) -> PairScores:
        """Score and record pairs of values of the kind that the node declares."""
        return node.record_declared(columns, gt, pred, self)

    def finish_units(self, kind: int, scores: PairScores) -> PairScores:
        """Record pairs without children as units of the given kind."""
        return add_rows(self.table, kind, scores, self.placement)

    def finish_mismatches(self, scores: PairScores) -> PairScores:
        """Record pairs of values of different kinds.

        Each pair is a unit with two children: the ground truth alone and the prediction alone.
        """
        batch = self.table.add(MISMATCH, scores.node, scores.columns, self.placement)
        fill_rows(self.table, batch, scores, self.placement)
        children = self.with_placement(
            Placement(
                container=batch,
                positions=np.arange(batch.size),
                document=batch.document,
                field=batch.field,
                weight=1.0,
            )
        )
        absent = np.full(batch.size, NOTHING)
        node, columns = scores.node, scores.columns
        node.record(columns, scores.gt, absent, children)
        node.record(columns, absent, scores.pred, children)
        return scores


Task = Scoring | Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(ABC):
    """The base of all nodes. A node compares the values of one field of a schema."""

    threshold: float
    """Similarity at which two values match, in [0, 1]."""
    weight: float = 1.0
    """Weight of the field in the score of its object, above 0."""
    clip: bool = False
    """Whether a similarity below the threshold scores 0.0."""
    threshold_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """The source of `threshold`, for explanations only."""
    other: "Node | None" = field(default=None, repr=False, compare=False)
    """The node for pairs of values that are both of the same kind, but not of the declared kind."""

    any_of: bool = False
    """Whether a list in a ground truth is a list of alternatives, all of which are right."""
    sees_absent_values: ClassVar[bool] = False
    """Whether the node itself handles values that count as absent. If not, they are replaced by
    `NOTHING` (-1) before the node compares values."""
    labels_inside: ClassVar[bool] = False
    """Whether values may be objects with unlabelled descendants."""
    lists_inside: ClassVar[bool] = False
    """Whether values may be open lists, which need not name all items."""
    takes_lists: ClassVar[bool] = False
    """Whether a list can be a single value of the field. If False, an any-of list of right values
    must not have a list as an element."""

    @property
    def positional(self) -> bool:
        """Whether values are tuples, in which each position has a node of its own."""
        return False

    @property
    def by_position(self) -> bool:
        """Whether values are lists whose items are paired by position."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether ground truths are open lists, which need not name all items."""
        return False

    @property
    def item_threshold(self) -> float:
        """The similarity at which a pair of list items of this kind matches."""
        return self.threshold

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the threshold of each list item.

        An item matches if its similarity is at least this. `gt` has the column positions of the
        items.
        """
        return self.item_threshold

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return where the threshold for a list item comes from, for example from an annotation."""
        return self.threshold_source

    @property
    def columnar(self) -> bool:
        """Whether comparing many pairs at once is much cheaper than one call for each pair."""
        return False

    def child_node(self, step: Step) -> "Node | None":
        """Return the node of a field or of a list item; None if there is none."""
        return None

    @property
    def nested(self) -> bool:
        """Whether comparing two values may require pairing the items of lists inside them."""
        return False

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return a mask for each side, which marks the values that are of the declared kind.

        Return None if all values on both sides are of the declared kind.
        """
        return None

    @abstractmethod
    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of values of the declared kind.

        An absent value has the position `NOTHING` (-1).
        """

    @abstractmethod
    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score and record pairs of values of the declared kind."""

    def inner_nodes(self) -> "Sequence[Node]":
        """Return the direct inner nodes: those of list items, union arms or tuple positions."""
        return ()

    def list_fields(self) -> "Iterator[tuple[str, Node]]":
        """Yield the name and the node of each field.

        The name `ANY_KEY` stands for all keys that the schema does not name.
        """
        return iter(())

    def list_inner_nodes(self) -> "Iterator[Node]":
        """Yield this node and the nodes of its items, arms and positions at any depth."""
        return walk_nodes(self, lambda node: reversed(node.inner_nodes()))

    def list_all_fields(self) -> "Iterator[tuple[str, Node]]":
        """Yield (name, node) of the fields of this node and of its items and arms.

        A name may occur several times.
        """
        return (entry for node in self.list_inner_nodes() for entry in node.list_fields())

    def nodes_by_name(self) -> "dict[str, Node]":
        """Return a dict from the name of each field to its node.

        If several fields have the same name, the first one is taken.
        """
        return dict(reversed([*self.list_all_fields()]))

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether a present value counts as absent for this node."""
        return False

    def ignores(self, name: str) -> bool:
        """Return whether the values of a key are never compared."""
        return False

    def ignores_inside(self, step: Step, value: JsonValue) -> bool:
        """Return whether everything in the value of a field or item is ignored."""
        node = self.child_node(step)
        return node is not None and node.ignores_all(value)

    def ignores_all(self, value: JsonValue) -> bool:
        """Return whether everything in a value is ignored; an absent value is not ignored."""
        node = self.node_for(value)
        if isinstance(value, list):
            return all(
                is_absent(item) or node.ignores_inside(index, item)
                for index, item in enumerate(value)
            )
        return isinstance(value, dict) and node.has_only_ignored(value)

    def has_only_ignored(self, value: dict[str, JsonValue]) -> bool:
        """Return whether all values of an object are absent or ignored."""
        return False

    def node_for(self, value: JsonValue) -> "Node":
        """Return the node that compares a value: this node, or one that depends on the value."""
        return self

    def similarity(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score n pairs of values of one field, without recording them in a table.

        Pair i is the ground truth at position `gt[i]` and the prediction at position `pred[i]` of
        the columns. The position `NOTHING` (-1) is an absent value. If the values have lists inside
        them, the items of these lists are paired, and the columns keep the pairs for later calls.

        Raises:
            ComparisonError: a comparator failed, or returned no finite number in [0, 1].
        """
        return self.compare_pairs(columns, gt, pred, Scoring(options, mode))

    def upper_bound(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Floats | None:
        """Return an upper bound of the similarity of each pair; None if bounds cost too much."""
        return None

    def record(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score n pairs as `similarity` does, and record them with everything inside them."""
        return self.compare_pairs(columns, gt, pred, recording)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Choose alternatives and compare pairs of values; record them if `task` is a `Recording`.

        Unlabelled values are skipped.
        """
        columns.work.charge(CALL_STEPS + PAIR_STEPS * len(gt))
        if columns.gold is None:
            return self.compare_labelled(columns, gt, pred, task)
        gt = self.choose_alternatives(columns, gt, pred, task.options, task.mode)
        return self._compare_chosen(columns, columns.gold, gt, pred, task.with_gold(gt))

    def choose_alternatives(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> Indexes:
        """Return the column position of the alternative chosen for each ground truth in `gt`.

        A ground truth without alternatives keeps its position.
        """
        gold = columns.gold
        if gold is None:
            return gt

        def score_candidates(pairs: Indexes, gt: Indexes, pred: Indexes) -> Floats:
            scores = self._compare_chosen(columns, gold, gt, pred, Scoring(options, mode))
            has_open_node = scores.figure_by_node(lambda group: group.node.is_open, np.bool_)
            is_open = gold.is_open[gt] | has_open_node
            return np.where(is_open & (scores.outcome == TN), EXCLUDED, scores.similarity)

        return choose_alternatives(self, columns, gt, pred, score_candidates)

    def _compare_chosen(
        self, columns: Columns, gold: GoldColumn, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Compare pairs, after an alternative has been chosen for each ground truth that has some.

        The comparisons are recorded if `task` is a `Recording`. Unlabelled values are skipped.
        """
        if task.is_whole:  # an unlabelled document has no fields to compare
            is_unlabelled = gold.is_unlabelled[gt]
            gt = np.where(is_unlabelled, NOTHING, gt)
            pred = np.where(is_unlabelled, NOTHING, pred)
            return self.compare_labelled(columns, gt, pred, task)
        gt, pred = drop_unlabelled_predictions(self, columns, gold, gt, pred)
        is_unlabelled = gold.is_unlabelled[gt]
        if not is_unlabelled.any():
            return self.compare_labelled(columns, gt, pred, task)
        (skipped,), (labelled,) = is_unlabelled.nonzero(), (~is_unlabelled).nonzero()
        scores = PairScores(
            self,
            columns,
            gt=gt[skipped],
            pred=pred[skipped],
            outcome=np.full(len(skipped), NOT_EVALUATED, np.int8),
            similarity=np.ones(len(skipped)),
        )
        scores = task.select(skipped).finish_units(UNLABELLED, scores)
        groups = [PairGroup(skipped, scores)]
        if len(labelled):
            scores = self.compare_labelled(
                columns, gt[labelled], pred[labelled], task.select(labelled)
            )
            groups.append(PairGroup(labelled, scores))
        return join_groups(self, columns, gt, pred, groups)

    def compare_labelled(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Compare pairs of labelled values by their kinds; record them if `task` is a `Recording`.

        If both values of a pair are of the same kind, but not of the declared one, they are
        compared as that kind.
        """
        if task.is_whole:
            return task.compare_declared(self, columns, gt, pred)
        gt, pred = present_pairs(self, columns, gt, pred)
        declared = self.declares(columns)
        if declared is None:
            return task.compare_declared(self, columns, gt, pred)
        gt_is_declared, pred_is_declared = declared[0][gt], declared[1][pred]
        is_declared = (gt_is_declared | (gt < 0)) & (pred_is_declared | (pred < 0))
        if np.count_nonzero(is_declared) == len(gt):
            return task.compare_declared(self, columns, gt, pred)

        has_both = (gt >= 0) & (pred >= 0)
        is_mismatch = has_both & ~is_declared
        task = task.with_weight(self.weight)
        methods = [
            (self._compare_declared, is_declared),
            (self._score_one_sided, ~is_declared & ~has_both),
        ]
        if self.other is not None:
            has_same_kind = columns.kinds[0][gt] == columns.kinds[1][pred]
            is_other_kind = has_both & has_same_kind & ~gt_is_declared & ~pred_is_declared
            methods.append((self.other.compare_pairs, is_other_kind))
            is_mismatch &= ~is_other_kind
        methods.append((self._score_mismatches, is_mismatch))
        groups = []
        for method, is_selected in methods:
            (positions,) = is_selected.nonzero()
            if len(positions):
                scores = method(columns, gt[positions], pred[positions], task.select(positions))
                groups.append(PairGroup(positions, scores))
        return join_groups(self, columns, gt, pred, groups, self.weight)

    def _compare_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Compare pairs of values of the declared kind; record them if `task` is a `Recording`."""
        return task.compare_declared(self, columns, gt, pred)

    def _score_one_sided(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Give the score 0 to values that have no partner and are not of the declared kind.

        An example is a predicted text where the schema declares an object, if the ground truth has
        no value there. Each value is one unit. The units are recorded if `task` is a `Recording`.
        """
        scores = score_zero(self, columns, gt, pred, classify_one_sided(gt))
        return task.finish_units(VALUE, scores)

    def _score_mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Give the score 0 to pairs of values of different kinds, which have nothing in common.

        The pairs are recorded if `task` is a `Recording`.
        """
        outcome = np.full(len(gt), FD, np.int8)
        return task.finish_mismatches(score_zero(self, columns, gt, pred, outcome))


def walk_nodes(root: Node, list_children: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield a node and all its descendants, each once; children come from last to first."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += list_children(node)


def make_client(policy: Policy = DEFAULT_POLICY, *, remembers_failures: bool = True) -> "Client":
    """Return a client that asks models.

    With `remembers_failures`, a question that failed is not asked again.
    """
    from stickler_cli.clients.client import Client  # late: few plans ask models

    return Client(policy, remembers_failures=remembers_failures)


@dataclass(frozen=True)
class Plan:
    """A compiled schema: all that the engine needs to compare documents."""

    root: Node
    model_name: str
    """The name that the schema gives to its documents, or a default name."""
    asks_models: bool = False
    """Whether one of the comparators asks a model."""
    kind: DocumentKind = "object"
    """The JSON type of the documents."""
    has_ignored_values: bool = False
    """Whether some values count as absent or are ignored."""
    renames: Renames | None = None
    """The alternative keys of fields in documents. None if no field has alternative keys."""
    reads_texts: bool = False
    """Whether a predicted JSON text is read as JSON where the ground truth has an object or
    list."""
    files: tuple[str, ...] = ()
    """The files that references of the schema lead to."""

    @cached_property
    def client(self) -> "Client":
        """The client that asks models if the options of a run have no client.

        All comparators share this client. It does not remember which questions failed, so that a
        second comparison asks them again.
        """
        return make_client(remembers_failures=False)
