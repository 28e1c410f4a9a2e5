"""The results of the pairs of one place, column by column: the one account of a comparison.

Counts, non-matches and explanations are folds of accounts; nothing is paired or compared twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import EQUAL_WITHIN
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass
from .columns import NOTHING, Columns, Indexes, Mask, present
from .result import FA, FD, FN, TN, ThresholdSource

T = TypeVar("T")
Floats: TypeAlias = NDArray[np.float64]
Outcomes: TypeAlias = NDArray[np.int8]

_NONE: Final[Mapping[int, Any]] = {}
NO_REASONS: Final[Mapping[int, str]] = _NONE


class Figures(NamedTuple):
    """Similarities, threshold-applied scores and outcomes, one entry a pair.

    Scores that nothing clips are the array of the similarities itself, so that whatever is made of
    both is made once.
    """

    similarity: Floats
    score: Floats
    outcome: Outcomes


def classify(
    similarity: Floats, score: Floats, threshold: float | Floats, gt: Indexes, pred: Indexes
) -> Figures:
    """Classify pairs by their similarities.

    Similarity and score are 0.0 where one side is absent and 1.0 where both are. A similarity
    within `EQUAL_WITHIN` of the threshold meets it.
    """
    outcome = met(similarity, threshold)
    (one_sided,) = ((gt | pred) < 0).nonzero()
    if len(one_sided):
        outcome[one_sided] = absent = class_of_absent(gt[one_sided], pred[one_sided])
        similarities = similarity.copy()
        similarities[one_sided] = absent == TN
        score = similarities if score is similarity else score.copy()
        score[one_sided] = similarities[one_sided]
        similarity = similarities
    return Figures(similarity, score, outcome)


_OF_ABSENT: Final = np.array([-1, TN, FN, FA], np.int8)  # of -1, no ground truth, -2 and -3


def class_of_absent(gt: Indexes, pred: Indexes) -> Outcomes:
    """Return the class of each pair of which a side is absent."""
    outcome: Outcomes = _OF_ABSENT[np.minimum(gt, 0) + 2 * np.minimum(pred, 0)]
    return outcome


def met(similarity: Floats, threshold: float | Floats) -> Outcomes:
    """Return the class of each pair that both sides have."""
    outcome: Outcomes = (similarity < threshold - EQUAL_WITHIN).view(np.int8)
    return outcome  # TP is 0, and FD 1


def clipped(score: Floats, outcome: Outcomes, *, clip: bool) -> Floats:
    """Return scores, 0.0 where one is clipped because its similarity is below its threshold."""
    return np.where(outcome == FD, 0.0, score) if clip else score


def both_sides(outcome: Outcomes) -> Mask:
    """Return which outcomes are of pairs that both sides have."""
    both: Mask = outcome <= FD  # TP is 0, and FD 1
    return both


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules for the values of a place: the part of a node that accounts look at."""

    threshold: float
    """In [0, 1]; at or above it the values match, as one unit."""
    weight: float = 1.0
    """Above 0; what the field is worth in the score of its object."""
    clip: bool = False
    """Whether a similarity below the threshold scores 0.0."""
    threshold_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """Who said `threshold`; for explanations only."""

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
        """Return who said the threshold for this list element and another."""
        return self.threshold_source


class Account:
    """Pairs that were compared as one value each; also the base of all accounts.

    All arrays have an entry for each pair. Not a dataclass: one is made for each place of each
    document that is compared by itself, and they are made faster so.
    """

    graded: ClassVar[bool] = False
    """Whether pairs have a threshold of their own as elements of a list."""

    extras: Mapping[int, tuple[str, ...]] = _NONE
    """Of objects, by position: undeclared keys that only the prediction has, false alarms."""
    undeclared: Mapping[int, tuple[str, ...]] = _NONE
    """By position: undeclared keys of the ground truth that have a value; not evaluated."""
    dropped: Mapping[int, int] = _NONE
    """By position: how many elements, or keys of a map, nobody has labelled."""
    left_out: Mapping[int, int] = _NONE
    """Of lists that need not have all elements: how many of a prediction have no pair."""
    slots: Indexes | None = None
    """The slots of ground truths of which something is said, also of those that are absent."""

    def __init__(  # noqa: PLR0913, PLR0917 - what every account has
        self,
        node: Rules,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        outcome: Outcomes,
        similarity: Floats,
        score: Floats,
    ) -> None:
        self.node = node
        self.columns = columns
        self.gt = gt
        """The slot of each ground truth, and below of each prediction; `NOTHING` where absent."""
        self.pred = pred
        self.outcome = outcome
        """The class of each pair as one unit."""
        self.similarity = similarity
        """As computed, in [0, 1]; 1.0 where both sides are absent, 0.0 where one is."""
        self.score = score
        """Threshold-applied scores, in [0, 1]; `similarity` itself where nothing is clipped."""
        self.item_score = score
        """Threshold-applied scores as list items: objects clip by their match-threshold there."""
        self.reasons = NO_REASONS
        """What a judge said, by the position of the pair."""
        self.worth: float | Floats = node.weight
        """What each pair is worth in its object."""

    def __len__(self) -> int:
        return len(self.outcome)

    def innermost(self, pair: int) -> "tuple[Account, int]":
        """Return the account that compared a pair, and the position of the pair in it."""
        return self, pair

    def values_at(self, at: Sequence[int]) -> Iterator[list[JsonValue]]:
        """Yield the ground truths of some pairs, then the predictions; None where absent."""
        for slots, values in (self.gt, self.columns.gt), (self.pred, self.columns.pred):
            yield [None if it == NOTHING else values[it] for it in map(slots.item, at)]

    @property
    def is_empty(self) -> Mask:
        """Pairs that have no value left to compare, although both sides are present."""
        empty: Mask = self.outcome == TN
        return empty

    def thresholds(self, at: Sequence[int]) -> Iterable[float]:
        """Return the threshold of each of some pairs."""
        return repeat(float(self.node.threshold), len(at))

    def note(self, slots: Indexes) -> None:
        """Note the slots of ground truths."""
        self.slots = slots


class UnlabelledAccount(Account):
    """Pairs whose ground truth nobody has labelled: they are passed over, whatever is predicted."""


class OfPairs(NamedTuple):
    """The pairs of a block of leaves: as many of each leaf, one leaf after the other."""

    size: int
    """How many of each."""
    leaf: Indexes
    """Which leaf of the block each is of."""
    pair: Indexes
    """Which pair of objects it is in."""
    order: Indexes
    """The position of its leaf in the object."""
    weight: Floats
    """What each is worth in its object."""


MOST_LAID_OUT: Final = 1 << 12
"""Pairs of objects, so many of which are laid out once for all chunks."""


class Leaves:
    """Fields of objects that are compared together: the part of a block that accounts look at."""

    def __init__(
        self, positions: list[int], names: tuple[str, ...], nodes: Sequence[Rules]
    ) -> None:
        """Take the position of each in its object, in order, its name, and its node."""
        self.positions, self.names, self.nodes = positions, names, nodes
        first, end = positions[0], positions[-1] + 1
        self.span = slice(first, end) if end - first == len(positions) else np.array(positions)
        """The positions, to put something there."""
        self.weight = np.array([[float(node.weight)] for node in nodes])
        self._of_pairs = self._laid_out(1)

    def of_pairs(self, size: int) -> OfPairs:
        """Return the pairs of so many objects; kept, for most chunks of documents are alike."""
        known = self._of_pairs
        if known.size != size:
            known = self._laid_out(size)
            if size <= MOST_LAID_OUT:
                self._of_pairs = known
        return known

    def _laid_out(self, size: int) -> OfPairs:
        leaf, pair = np.indices((len(self.names), size)).reshape(2, -1)
        return OfPairs(size, leaf, pair, np.array(self.positions)[leaf], self.weight[leaf, 0])


class BlockAccount(Account):
    """Leaves of pairs of objects: all pairs of one field, then of the next.

    `gt` and `pred` are the slots of the objects.
    """

    block: Leaves

    def values_at(self, at: Sequence[int]) -> Iterator[list[JsonValue]]:
        """Yield the ground truths of some pairs, then the predictions; None where absent."""
        size, width = len(self.gt), len(self.block.positions)
        for slots, values in (self.gt, self.columns.gt), (self.pred, self.columns.pred):
            stride = (len(values) + 1) // width
            each = ((slots.item(it % size), it // size * stride) for it in at)
            found = (None if slot == NOTHING else values[slot + of] for slot, of in each)
            yield [None if it == "" else it for it in found]

    def thresholds(self, at: Sequence[int]) -> Iterable[float]:
        """Return the threshold of each of some pairs."""
        nodes, size = self.block.nodes, len(self.gt)
        return [float(nodes[it // size].threshold) for it in at]

    def field(self, row: int) -> Account:
        """Return the account of one of the fields."""
        size, codes, width = len(self.gt), self.columns.codes, len(self.block.positions)
        some = slice(row * size, (row + 1) * size)
        gt = present(self.gt + row * (len(codes.gt) // width), codes.gt)
        pred = present(self.pred + row * (len(codes.pred) // width), codes.pred)
        outcome, similarity, score = self.outcome[some], self.similarity[some], self.score[some]
        node = self.block.nodes[row]
        found = Account(node, self.columns, gt, pred, outcome, similarity, score)
        found.reasons = self.reasons  # a judge has a block of one field
        return found


FieldsPart: TypeAlias = BlockAccount | tuple[int, Account]
"""Fields of objects: a block of leaves, or another one and its position."""


@dataclass(slots=True, eq=False)
class EntryAccount:
    """The fields of maps that only the documents name, all under one node."""

    names: list[str]
    key: Indexes
    """Of each entry, which of the names it has."""
    owner: Indexes
    """Of each entry, the position of its object."""
    order: Indexes
    """Of each entry, its place among those of its object that only the documents name."""
    aggregate: bool | Outcomes | None
    """What the fields themselves say of the aggregate, None for nothing; or `SAYS` of each."""
    counted: bool | Mask
    account: Account
    """An entry for each entry."""


class ObjectAccount(Account):
    """Pairs of objects, or one object against nothing."""

    graded: ClassVar[bool] = True

    parts: Sequence[FieldsPart] = ()
    """The fields: blocks of leaves, and others by themselves, each with its position."""
    names: Sequence[str] = ()
    """Of all fields, in schema order; empty where nothing is present, and of elements that are
    being paired."""
    compared: Indexes | None = None
    """The positions of the objects that were compared by fields, in order; None for all."""
    is_unfounded: Mask | bool = False
    """While items are paired, whether everything in the ground truth may be left out and no field
    is left that could be compared."""
    included: Sequence[bool | Mask] = ()
    """Of each field, whether the object's `aggregate` and `leaves` include it."""
    entries: tuple[EntryAccount, ...] = ()

    @property
    def is_empty(self) -> Mask:
        """Pairs that have no value left to compare, although both sides are present."""
        empty: Mask = (self.outcome == TN) | self.is_unfounded
        return empty

    @cached_property
    def fields(self) -> dict[int, Account]:
        """The accounts of the fields by their positions."""
        accounts: dict[int, Account] = {}
        for part in self.parts:
            if isinstance(part, BlockAccount):
                accounts |= {at: part.field(row) for row, at in enumerate(part.block.positions)}
            else:
                accounts[part[0]] = part[1]
        return accounts


@dataclass(slots=True, eq=False)
class Units:
    """The units of lists: pairs of elements, and elements that have none.

    In the order of their lists; in each, ground-truth elements in their order, then the elements
    of the prediction that have no pair. A tuple's are in the order of its positions.
    """

    owner: Indexes
    """The position of the list of each unit."""
    gt_place: Indexes
    """Index in the ground truth as it is in the document; `NOTHING` for an invented element."""
    pred_place: Indexes
    """Index in the prediction as it is in the document; `NOTHING` for a missed element."""
    outcome: Outcomes
    """The class of the unit as an element: objects pass on their match-threshold."""
    threshold: Floats
    """The similarity at which the unit is a match."""
    account: Account
    moved: Mask | None = None
    """Of ordered lists, which units would be a match with another one in any order."""


class ListAccount(Account):
    """Pairs of lists, or one list against nothing; tuples too."""

    graded: ClassVar[bool] = True

    units: Units
    """Their elements; not there while they are being paired."""


class MismatchAccount(Account):
    """Pairs of values of different kinds where no leaf is declared: one false discovery each."""

    missed: Account
    """The ground truths against nothing."""
    invented: Account
    """The predictions against nothing."""


@dataclass(slots=True, eq=False)
class Part:
    """Some pairs of an account that have a node of their own."""

    at: Indexes
    """Their positions, in order."""
    account: Account
    step: str = ""
    """Of documents of one of several schemas: the key under which they stand."""


class SplitAccount(Account):
    """Pairs that were compared by different nodes: each is in one part."""

    parts: tuple[Part, ...] = ()

    def note(self, slots: Indexes) -> None:
        """Note the slots of ground truths, where they were compared."""
        for part in self.parts:
            part.account.note(slots[part.at])

    def parts_at(self, at: Indexes) -> Iterator[tuple[Part, Indexes, Indexes]]:
        """Return each part that some pairs are in: which of them, and their positions there."""
        for part in self.parts:
            inner = local_positions(part.at, len(self))[at]
            which = np.flatnonzero(inner >= 0)
            if len(which):
                yield part, which, inner[which]

    def innermost(self, pair: int) -> tuple[Account, int]:
        """Return the account that compared a pair, and the position of the pair in it."""
        places = ((part, int(part.at.searchsorted(pair))) for part in self.parts)
        part, at = next((part, at) for part, at in places if pair in part.at[at : at + 1])
        return part.account.innermost(at)


def may_be_clipped(account: Account) -> bool:
    """Return whether some scores may differ from the similarities."""
    return not (account.score is account.item_score is account.similarity)


def of_each(account: Account, of: Callable[[Account], T], kind: type[np.generic]) -> T:
    """Return a figure of each pair from the account that compared it: one value, or an array."""
    if not isinstance(account, SplitAccount):
        return of(account)
    whole: Any = np.empty(len(account), kind)
    for part in account.parts:
        whole[part.at] = of_each(part.account, of, kind)
    found: T = whole
    return found


def split(  # noqa: PLR0913, PLR0917 - what every account has, and the parts
    node: Rules,
    columns: Columns,
    gt: Indexes,
    pred: Indexes,
    parts: list[Part],
    worth: float | None = None,
) -> Account:
    """Put parts together that have all pairs between them; one that has all is the whole."""
    if len(parts) == 1 and worth is None:
        return parts[0].account
    outcome = np.empty(len(gt), np.int8)
    similarity, weight = np.empty((2, len(gt)))
    for part in parts:
        outcome[part.at] = part.account.outcome
        similarity[part.at] = part.account.similarity
        weight[part.at] = part.account.worth
    score = item_score = similarity
    if any(may_be_clipped(part.account) for part in parts):
        score, item_score = np.empty((2, len(gt)))
        for part in parts:
            score[part.at] = part.account.score
            item_score[part.at] = part.account.item_score
    found = SplitAccount(node, columns, gt, pred, outcome, similarity, score)
    found.parts, found.item_score = tuple(parts), item_score
    found.worth = weight if worth is None else worth
    return found


def local_positions(at: Indexes, size: int) -> Indexes:
    """Return for each of `size` positions where it is in `at`; `NOTHING` where it is not."""
    found = np.full(size, NOTHING)
    found[at] = np.arange(len(at))
    return found


def children(owner: Indexes, pairs: Indexes, size: int) -> tuple[Indexes, Indexes]:
    """Return which of the parts of `size` pairs, given by their owners, some pairs have.

    Beside these, the index in `pairs` of the owner of each.
    """
    of = local_positions(pairs, size)[owner]
    found = np.flatnonzero(of >= 0)
    return found, of[found]
