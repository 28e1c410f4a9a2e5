"""Nodes, of which a plan is made: one for each place of a schema, and their three methods.

Pairs of values are scored, or scored and recorded. What all nodes do alike (gold, absence, values
of another kind) is written once, for either task.

A value of another kind than the declared one is never an error: where both sides share another
kind they are compared as that kind (`other`), else they have nothing in common.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.clients.model import DEFAULT_POLICY, Policy
from stickler_cli.core.json_values import DocumentKind, JsonValue, is_absent
from stickler_cli.core.locations import Step
from stickler_cli.settings.deciding import ComparisonOptions, ExtraFields, LimitedOptions
from .columns import NOTHING, Columns, Floats, Indexes, Known, Mask
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
from .work import CALL, PAIR

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

Renames: TypeAlias = Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]]
"""Part -> key, or JSON Pointer to a value further in -> the name of its field, and the parts that
its values may be."""

PAIRING_FLOOR: Final = ComparisonOptions.pairing_floor
"""At or below it two list elements are not the same item. Source: docs/semantics.md, Lists."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options that a run may set; a plan leaves these open."""

    pairing_floor: float = PAIRING_FLOOR
    """In [-1, 1); for lists that set none of their own; -1 keeps every pair."""
    extra_fields: ExtraFields = ComparisonOptions.extra_fields
    """What an undeclared key of a prediction is: a false alarm, or nothing."""
    client: "Client | None" = field(default=None, compare=False, repr=False)
    """Who asks models; None is the plan's own."""
    work_limit: float | None = LimitedOptions.work_limit
    """The units of work that a pair of documents may take; None for any."""
    work_at_once: float | None = field(default=None, compare=False, repr=False)
    """Those that may be done without a look at signals."""
    partial_gt: bool = ComparisonOptions.partial_gt
    """Whether nobody labelled a declared key that a ground truth leaves out."""


USUAL: Final = Options()
"""Those of who asks for none."""


class Mode(IntEnum):
    """What similarities are for."""

    DOCUMENTS = 0
    """For the choice among alternatives of whole documents, which are compared by fields even
    where one is empty."""
    FINAL = 1
    """For the choice among alternatives, and for studies of single pairs."""
    PAIRING = 2
    """To pair list items: no judge is asked, and texts have their edit distance instead."""
    LISTS_MATCH = 3
    """For an upper bound: lists inside items count as a full match."""
    LISTS_AND_TEXTS_MATCH = 4
    """For an upper bound that costs less: so do values whose comparator is expensive."""


class Scoring(NamedTuple):
    """The task to score pairs and to leave nothing behind."""

    options: Options
    mode: Mode

    @property
    def is_whole(self) -> bool:
        """Whether the pairs are documents that are compared by fields even where one is empty."""
        return self.mode is Mode.DOCUMENTS

    def by_value(self) -> "Scoring":
        """Return the task for documents that are compared like any other values."""
        return self._replace(mode=Mode.FINAL) if self.is_whole else self

    def of(self, positions: Indexes) -> "Scoring":
        """Return the task for some of the pairs."""
        return self

    def with_weight(self, weight: float) -> "Scoring":
        """Return the task for pairs of a weight."""
        return self

    def with_gold(self, slots: Indexes) -> "Scoring":
        """Return the task for pairs whose alternatives were chosen."""
        return self

    def compare_declared(
        self, node: "Node", columns: Columns, gt: Indexes, pred: Indexes
    ) -> PairScores:
        """Score pairs of values of the kind that a node declares."""
        return node.score_declared(columns, gt, pred, self.options, self.mode)

    def add(self, kind: int, scores: PairScores) -> PairScores:
        """Return the scores of pairs that have no parts."""
        return scores

    def add_mismatches(self, scores: PairScores) -> PairScores:
        """Return the scores of pairs of values of different kinds."""
        return scores


class Recording(NamedTuple):
    """The task to score pairs and to record them and everything inside them in a table."""

    options: Options
    table: UnitTable
    place: Placement

    @property
    def mode(self) -> Mode:
        """The mode in which alternatives are scored before one is recorded."""
        return Mode.DOCUMENTS if self.place.is_whole else Mode.FINAL

    @property
    def is_whole(self) -> bool:
        """Whether the pairs are documents that are compared by fields even where one is empty."""
        return self.place.is_whole

    def by_value(self) -> "Recording":
        """Return the task for documents that are compared like any other values."""
        if not self.is_whole:
            return self
        return self._replace(place=self.place._replace(is_whole=False))

    def of(self, positions: Indexes) -> "Recording":
        """Return the task for some of the pairs, given by their positions in order."""
        if len(positions) == len(self.place.document):  # they are all
            return self
        return self._replace(place=self.place.among(positions))

    def with_weight(self, weight: float) -> "Recording":
        """Return the task for pairs of a weight, unless one is stated already."""
        if self.place.weight is not None:
            return self
        return self._replace(place=self.place._replace(weight=weight))

    def with_gold(self, slots: Indexes) -> "Recording":
        """Return the task for pairs whose alternatives were chosen; the first choice counts."""
        if self.place.gold_slot is not None:
            return self
        return self._replace(place=self.place._replace(gold_slot=slots))

    def compare_declared(
        self, node: "Node", columns: Columns, gt: Indexes, pred: Indexes
    ) -> PairScores:
        """Score and record pairs of values of the kind that a node declares."""
        return node.record_declared(columns, gt, pred, self.options, self.table, self.place)

    def add(self, kind: int, scores: PairScores) -> PairScores:
        """Record pairs that have no parts."""
        return add_rows(self.table, kind, scores, self.place)

    def add_mismatches(self, scores: PairScores) -> PairScores:
        """Record pairs of values of different kinds: both values as parts of one unit."""
        batch = self.table.add(MISMATCH, scores.node, scores.columns, self.place)
        fill_rows(self.table, batch, scores, self.place)
        side = Placement(
            container=batch,
            positions=np.arange(batch.size),
            document=batch.document,
            field=batch.field,
            weight=1.0,
        )
        absent = np.full(batch.size, NOTHING)
        node, columns = scores.node, scores.columns
        node.record(columns, scores.gt, absent, self.options, self.table, side)
        node.record(columns, absent, scores.pred, self.options, self.table, side)
        return scores


Task = Scoring | Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(ABC):
    """One place of a schema, ready to compare the values that stand there."""

    threshold: float
    """In [0, 1]; at or above it the values match, as one unit."""
    weight: float = 1.0
    """Above 0; what the field is worth in the score of its object."""
    clip: bool = False
    """Whether a similarity below the threshold scores 0.0."""
    threshold_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """Who stated `threshold`; for explanations only."""
    other: "Node | None" = field(default=None, repr=False, compare=False)
    """The node for two values that share a kind other than the declared one."""

    any_of: bool = False
    """Whether a list in a ground truth has the values that are right here, one by one."""
    sees_absent_values: ClassVar[bool] = False
    """Whether values that count as absent are left to the comparison of the node."""
    labels_inside: ClassVar[bool] = False
    """Whether values may be objects in which something is not labelled."""
    lists_inside: ClassVar[bool] = False
    """Whether values may be lists that need not be exhaustive."""
    takes_lists: ClassVar[bool] = False
    """Whether a list may be one value of the place."""

    @property
    def positional(self) -> bool:
        """Whether elements are compared by their positions."""
        return False

    @property
    def by_position(self) -> bool:
        """Whether this is a list whose elements are paired by their positions."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether values are lists whose ground truths need not list everything."""
        return False

    @property
    def item_threshold(self) -> float:
        """The similarity at which a pair of list elements of this kind is a match."""
        return self.threshold

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the similarity at which these list elements are matches."""
        return self.item_threshold

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return who stated the threshold for this list element and another."""
        return self.threshold_source

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs of two columns costs little beside a call for each."""
        return False

    def below(self, step: Step) -> "Node | None":
        """Return the node of a field or of an element; None where it has none."""
        return None

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair their elements."""
        return False

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return which slots of either side hold the declared kind; None if all values do."""
        return None

    @abstractmethod
    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of values of the declared kind, `NOTHING` where one is absent."""

    @abstractmethod
    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Score and record pairs of values of the declared kind."""

    def parts(self) -> "Sequence[Node]":
        """Return the nodes whose fields are those of this place: of elements, arms, positions."""
        return ()

    def named(self) -> "Iterator[tuple[str, Node]]":
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        return iter(())

    def same_place(self) -> "Iterator[Node]":
        """List this node and those whose fields are its own, each once."""
        return once_each(self, lambda node: reversed(node.parts()))

    def all_named(self) -> "Iterator[tuple[str, Node]]":
        """List the fields of this place, also of its elements and arms; a name may recur."""
        return (named for part in self.same_place() for named in part.named())

    def by_name(self) -> "dict[str, Node]":
        """Return the same by their names, the first of several."""
        return dict(reversed([*self.all_named()]))

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether a value that is there counts as nothing here."""
        return False

    def ignores(self, name: str) -> bool:
        """Return whether the values of a key are never compared."""
        return False

    def ignores_inside(self, step: Step, value: JsonValue) -> bool:
        """Return whether everything in the value of a field or item is ignored."""
        node = self.below(step)
        return node is not None and node.ignores_all(value)

    def ignores_all(self, value: JsonValue) -> bool:
        """Return whether everything in a value is ignored; an absent value is not ignored."""
        node = self.chosen(value)
        if isinstance(value, list):
            items = enumerate(value)
            return all(is_absent(item) or node.ignores_inside(at, item) for at, item in items)
        return isinstance(value, dict) and node.has_only_ignored(value)

    def has_only_ignored(self, value: dict[str, JsonValue]) -> bool:
        """Return whether all values in an object are absent or ignored."""
        return False

    def chosen(self, value: JsonValue) -> "Node":
        """Return the node that a value by itself leads to: this one, or one that it chooses."""
        return self

    def similarity(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score n pairs of values of one place, in their order.

        A pair is two slots of the columns, in `gt` and `pred`, both (n,); `NOTHING` is an absent
        side. Nothing is left behind but the pairings of lists inside the values, with the columns.

        Raises:
            ComparisonError: a comparator failed, or gave no finite number in [0, 1].
        """
        return self.compare_pairs(columns, gt, pred, Scoring(options, mode))

    def upper_bound(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Floats | None:
        """Return what the similarity of each pair does not exceed; None if that costs too much."""
        return None

    def record(  # noqa: PLR0913, PLR0917 - pairs, and where their units stand
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Score n pairs as `similarity` does, and record them and everything inside them."""
        return self.compare_pairs(columns, gt, pred, Recording(options, table, place))

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs: choose alternatives, and skip what is not labelled."""
        columns.place.charge(CALL + PAIR * len(gt))
        if columns.gold is None:
            return self.compare_labelled(columns, gt, pred, task)
        gt = self.choose_alternatives(columns, gt, pred, task.options, task.mode)
        return self._compare_chosen(columns, columns.gold, gt, pred, task.with_gold(gt))

    def choose_alternatives(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> Indexes:
        """Return the slots of the alternatives that count, given the slots of ground truths."""
        gold = columns.gold
        if gold is None:
            return gt

        def score_candidates(pairs: Indexes, gt: Indexes, pred: Indexes) -> Floats:
            scores = self._compare_chosen(columns, gold, gt, pred, Scoring(options, mode))
            is_open = gold.open[gt] | scores.of_each(lambda part: part.node.is_open, np.bool_)
            return np.where(is_open & (scores.outcome == TN), EXCLUDED, scores.similarity)

        return choose_alternatives(self, columns, gt, pred, score_candidates)

    def _compare_chosen(
        self, columns: Columns, gold: Known, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Do a task with pairs of single ground truths, and skip those that are not labelled."""
        if task.is_whole:  # a document is compared by fields; one that is skipped has none
            unlabelled = gold.unlabelled[gt]
            gt, pred = (np.where(unlabelled, NOTHING, slots) for slots in (gt, pred))
            return self.compare_labelled(columns, gt, pred, task)
        gt, pred = drop_unlabelled_predictions(self, columns, gold, gt, pred)
        unlabelled = gold.unlabelled[gt]
        if not unlabelled.any():
            return self.compare_labelled(columns, gt, pred, task)
        (skipped,), (rest,) = unlabelled.nonzero(), (~unlabelled).nonzero()
        outcome, ones = np.full(len(skipped), NOT_EVALUATED, np.int8), np.ones(len(skipped))
        scores = PairScores(self, columns, gt[skipped], pred[skipped], outcome, ones)
        groups = [PairGroup(skipped, task.of(skipped).add(UNLABELLED, scores))]
        if len(rest):
            scores = self.compare_labelled(columns, gt[rest], pred[rest], task.of(rest))
            groups.append(PairGroup(rest, scores))
        return join_groups(self, columns, gt, pred, groups)

    def compare_labelled(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Do a task with pairs of single, labelled ground truths: each by the kind of its values.

        Two values that share a kind other than the declared one are compared as that kind.
        """
        if task.is_whole:
            return self.compare_declared(columns, gt, pred, task)
        gt, pred = present_pairs(self, columns, gt, pred)
        declared = self.declares(columns)
        if declared is None:
            return self.compare_declared(columns, gt, pred, task)
        is_declared = (declared[0][gt] | (gt < 0)) & (declared[1][pred] | (pred < 0))
        if np.count_nonzero(is_declared) == len(gt):
            return self.compare_declared(columns, gt, pred, task)

        has_both = (gt >= 0) & (pred >= 0)
        is_mismatch = has_both & ~is_declared
        task = task.with_weight(self.weight)
        methods = [
            (self.compare_declared, is_declared),
            (self._score_one_sided, ~is_declared & ~has_both),
        ]
        if self.other is not None:
            is_alike = columns.kinds[0][gt] == columns.kinds[1][pred]
            is_other = has_both & is_alike & ~declared[0][gt] & ~declared[1][pred]
            methods.append((self.other.compare_pairs, is_other))
            is_mismatch &= ~is_other
        methods.append((self._score_mismatches, is_mismatch))
        groups = []
        for method, selected in methods:
            (positions,) = selected.nonzero()
            if len(positions):
                scores = method(columns, gt[positions], pred[positions], task.of(positions))
                groups.append(PairGroup(positions, scores))
        return join_groups(self, columns, gt, pred, groups, self.weight)

    def compare_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Do a task with pairs of values of the declared kind."""
        return task.compare_declared(self, columns, gt, pred)

    def _score_one_sided(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Score values of another kind than the declared one against nothing: each is one unit."""
        scores = score_zero(self, columns, gt, pred, classify_one_sided(gt))
        return task.add(VALUE, scores)

    def _score_mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Score pairs that have nothing in common, being of different kinds."""
        outcome = np.full(len(gt), FD, np.int8)
        return task.add_mismatches(score_zero(self, columns, gt, pred, outcome))


def once_each(root: Node, inside: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """List a node and all inside it, each once, the last of several inside first."""
    waiting, met = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) not in met:
            met.add(id(node))
            yield node
            waiting += inside(node)


def client_by(policy: Policy = DEFAULT_POLICY, *, remembers_failures: bool = True) -> "Client":
    """Return a client that asks models."""
    from stickler_cli.clients.client import Client  # few plans ask models

    return Client(policy, remembers_failures=remembers_failures)


@dataclass(frozen=True)
class Plan:
    """A compiled schema: everything that the engine needs, and nothing else."""

    root: Node
    model_name: str
    """The schema's own name for its documents."""
    asks_models: bool = False
    """Whether a comparator of it asks a model."""
    kind: DocumentKind = "object"
    """What its documents are."""
    hides: bool = False
    """Whether it has values that count as nothing, or are not looked at."""
    renames: Renames | None = None
    """The keys that stand for fields of other names."""
    reads_texts: bool = False
    """Whether a predicted text of JSON is read where the ground truth has an object or list."""
    files: tuple[str, ...] = ()
    """The files that references of the schema lead to."""

    @cached_property
    def client(self) -> "Client":
        """Who asks models where no run says so; one, as comparators may ask the same model."""
        return client_by(remembers_failures=False)  # who compares again, wants it tried again
