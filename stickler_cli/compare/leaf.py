"""A leaf: one value, judged by one comparator; and leaves of one comparator, as a block."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final

import numpy as np

from stickler_cli.comparators.base import (
    EQUAL_WITHIN,
    LETTERS_OF_WORD,
    STEPS_OF_PAIR,
    STEPS_OF_WORDS,
    BaseComparator,
)
from stickler_cli.comparators.registry import is_built_in
from stickler_cli.core.json_values import JsonValue, Reading
from stickler_cli.core.values import dataclass
from .account import (
    NO_REASONS,
    Account,
    BlockAccount,
    Floats,
    Leaves,
    Outcomes,
    class_of_absent,
    clipped,
)
from .columns import ABSENT, ARRAY, LEAF, OBJECT, Columns, Indexes, Mask, present
from .plan import Node, Options, Purpose
from .prepared import PairError
from .result import FD
from .work import CALL, PAIR

_CONTAINERS: Final = {"array": ARRAY, "object": OBJECT}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafNode(Node):
    """A value that its comparator sees whole."""

    comparator: BaseComparator
    reading: Reading | None = None
    """What values stand for, on both sides; None for themselves."""
    unsaid: bool = field(default=False, repr=False, compare=False)
    """Whether these are texts of which nobody says how they are compared."""

    shows_nothing = True  # it has no code, and is shown as it stands

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs of two columns costs little beside a call for each."""
        return (self.comparator.pairing or self.comparator).columnar

    @property
    def is_dear(self) -> bool:
        """Whether pairs are compared as edit distances are, letter by letter."""
        comparator = self.comparator.pairing or self.comparator
        return not comparator.columnar and not comparator.asks_models

    def least_steps(self, columns: Columns, gt: Indexes, pred: Indexes) -> int:
        """Return the steps that all pairs of two lists of codes take at least, if it is dear."""
        lengths = columns.prepared(self.comparator.pairing or self.comparator).lengths
        times = [np.bincount(codes[codes >= 0], minlength=len(lengths)) for codes in (gt, pred)]
        letters = [int((of * lengths).sum()) for of in times]
        equal = times[0] * times[1]
        pairs = int(times[0].sum()) * int(times[1].sum()) - int(equal.sum())
        cells = letters[0] * letters[1] - int((equal * lengths**2).sum())
        return STEPS_OF_PAIR * pairs + STEPS_OF_WORDS * cells // LETTERS_OF_WORD

    def declares(self, columns: Columns) -> tuple[Mask, Mask]:
        """Return which slots hold values that the comparator takes."""
        taken = [ABSENT, LEAF, *(_CONTAINERS[shape] for shape in self.comparator.takes)]
        gt_kinds, pred_kinds = columns.kinds
        return np.isin(gt_kinds, taken), np.isin(pred_kinds, taken)

    def compare(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of values of one place; scalars need no look at their kinds."""
        if columns.scalar:
            columns.place.charge(CALL + PAIR * len(gt))
            return self.account(columns, gt, pred, options)
        return super(LeafNode, self).compare(columns, gt, pred, options)  # noqa: UP008 - has slots

    def _mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Account:
        """Account for pairs that the comparator does not take: each is one unit."""
        unjudged = options.to(Purpose.PAIRING)
        return super(LeafNode, self)._mismatches(columns, gt, pred, unjudged)  # noqa: UP008

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether a value is one that stands for nothing."""
        return self.reading is not None and self.reading(value) is None

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of values that the comparator takes."""
        read = columns.read_by(self.reading)
        codes = read.codes.gt[gt], read.codes.pred[pred]
        least = self.threshold - EQUAL_WITHIN
        similarity, outcome, reasons = _compared(self.comparator, read, *codes, options, least)
        gt, pred = present(gt, columns.codes.gt), present(pred, columns.codes.pred)
        score = clipped(similarity, outcome, clip=self.clip and not options.pairing)
        account = Account(self, columns, gt, pred, outcome, similarity, score)
        account.reasons = reasons
        return account


class LeafBlock(Leaves):
    """Leaves of an object that share a comparator: one column, compared by one call."""

    nodes: Sequence[LeafNode]

    def __init__(self, leaves: Sequence[tuple[int, str, LeafNode]]) -> None:
        """Take the position of each in the object, its name, and its node."""
        positions, names, nodes = zip(*leaves, strict=True)
        super().__init__([*positions], names, nodes)
        self._clips = any(node.clip for node in self.nodes)
        self._reading = self.nodes[0].reading
        self._least = np.array([[node.threshold - EQUAL_WITHIN] for node in self.nodes])
        self._clip = np.array([[node.clip] for node in self.nodes])

    def compare(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> BlockAccount:
        """Account for the leaves of pairs of objects, which are scalars on both sides."""
        fields, size, comparator = len(self.names), len(gt), self.nodes[0].comparator
        columns.place.charge(CALL + PAIR * size * fields)
        read = columns.read_by(self._reading)
        gt_codes = read.codes.gt.reshape(fields, -1).take(gt, 1).ravel()
        pred_codes = read.codes.pred.reshape(fields, -1).take(pred, 1).ravel()
        try:
            found = _compared(comparator, read, gt_codes, pred_codes, options, self._least)
        except PairError as error:
            failed = (gt_codes == error.codes[0]) & (pred_codes == error.codes[1])
            pair = int(failed.argmax())
            raise error.below(self.names[pair // size]) from error.__cause__
        similarity, outcome, reasons = found
        score = similarity
        if self._clips and not options.pairing:
            clips = self._clip & (outcome == FD).reshape(fields, -1)
            score = np.where(clips.ravel(), 0.0, similarity)
        account = BlockAccount(self.nodes[0], columns, gt, pred, outcome, similarity, score)
        account.block, account.reasons, account.worth = self, reasons, self.weight
        return account


def blocks_of(leaves: Iterable[tuple[int, str, LeafNode]]) -> tuple[LeafBlock, ...]:
    """Return the leaves of an object in blocks of comparators that agree on all values."""
    keys: list[object] = []
    blocks: list[list[tuple[int, str, LeafNode]]] = []
    for leaf in leaves:
        key = _in_common(leaf[2].comparator), leaf[2].reading
        if key not in keys:
            keys.append(key)
            blocks.append([])
        blocks[keys.index(key)].append(leaf)
    return tuple(map(LeafBlock, blocks))


def _in_common(comparator: BaseComparator) -> object:
    """Return the key that comparators share which agree on any two values."""
    if comparator.asks_models:  # field by field
        return object()
    if not is_built_in(comparator):
        return id(comparator)
    apart = ("threshold", "stated_threshold", "name")  # which no similarity depends on
    config = {name: value for name, value in vars(comparator).items() if name not in apart}
    return type(comparator), config


def _compared(  # noqa: PLR0913, PLR0917 - two sides of columns, and what compares them
    comparator: BaseComparator,
    columns: Columns,
    gt: Indexes,
    pred: Indexes,
    options: Options,
    least: float | Floats,
) -> tuple[Floats, Outcomes, Mapping[int, str]]:
    """Compare pairs of codes of scalars or of values that the comparator takes.

    Returned are similarities, classes by the least similarity of a match, and what a judge said.
    """
    if options.pairing and comparator.pairing is not None:
        comparator = comparator.pairing
    unlike, lacking = gt != pred, (gt | pred) < 0
    similarity = 1.0 - unlike  # where both are absent, too
    reasons = NO_REASONS
    (at,) = (unlike > lacking if comparator.same_value else ~lacking).nonzero()
    if len(at):
        prepared = columns.prepared(comparator)
        pairs = gt[at], pred[at]
        if options.purpose is Purpose.ROUGH and not comparator.columnar:
            similarity[at] = 1.0
        elif comparator.asks_models:
            # Not counted: judges are asked of so many pairs at most.
            similarity[at], said = prepared.asked(options.client, *pairs)
            if said is not None:
                reasons = dict(zip(at.tolist(), said, strict=True))
        else:
            size = len(gt) // (len(columns.place.names) or 1)
            similarity[at] = prepared.similarities(*pairs, at, size)
    if isinstance(least, np.ndarray):  # one for each leaf
        below = (similarity.reshape(len(least), -1) < least).ravel()
    else:
        below = similarity < least
    outcome = below.view(np.int8)  # TP is 0, and FD 1
    (at,) = lacking.nonzero()
    if len(at):
        outcome[at] = class_of_absent(gt[at], pred[at])
    return similarity, outcome, reasons
