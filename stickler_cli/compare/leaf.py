"""A leaf: one value, judged by one comparator; and leaves of one comparator, as a block."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

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
from .columns import ABSENT, ARRAY, LEAF, OBJECT, Columns, Floats, Indexes, Mask, Outcomes, present
from .pair_scores import NO_REASONS, PairScores, add_rows, classify_absent, clip_scores, score_zero
from .plan import Mode, Node, Options, Task
from .prepared import PairError
from .result import FD
from .units import VALUE, Placement, UnitTable, notes_by_row
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

    sees_absent_values = True  # they have no code, and are shown as they stand

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

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of values; the kinds of scalars need no look."""
        if columns.scalar:
            columns.place.charge(CALL + PAIR * len(gt))
            return self.compare_declared(columns, gt, pred, task)
        # `slots` makes the class anew, and a bare super() refers to the first one.
        return super(LeafNode, self).compare_pairs(columns, gt, pred, task)

    def _score_mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Score pairs that the comparator does not take: each is one unit."""
        outcome = np.full(len(gt), FD, np.int8)
        return task.add(VALUE, score_zero(self, columns, gt, pred, outcome))

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether a value is one that stands for nothing."""
        return self.reading is not None and self.reading(value) is None

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of values that the comparator takes."""
        read = columns.read_by(self.reading)
        gt_codes, pred_codes = read.codes.gt[gt], read.codes.pred[pred]
        least = self.threshold - EQUAL_WITHIN
        similarity, outcome, reasons = _compare_codes(
            self.comparator, read, gt_codes, pred_codes, options, mode, least
        )
        gt, pred = present(gt, columns.codes.gt), present(pred, columns.codes.pred)
        scores = PairScores(self, columns, gt, pred, outcome, similarity)
        scores.reasons = reasons
        return scores

    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Score and record pairs of values that the comparator takes."""
        scores = self.score_declared(columns, gt, pred, options, Mode.FINAL)
        score = clip_scores(scores.similarity, scores.outcome, clip=self.clip)
        scores.score = scores.item_score = score
        return add_rows(table, VALUE, scores, place)


class BlockLayout(NamedTuple):
    """Where the pairs of a block stand: all pairs of one leaf, then of the next."""

    size: int
    """The number of pairs of each leaf."""
    leaf: Indexes
    """Which leaf of the block each pair is of."""
    pair: Indexes
    """Which pair of objects each pair is in."""
    order: Indexes
    """The position of its leaf in the object."""
    weight: Floats
    """What each pair is worth in its object."""
    threshold: Floats
    """What the similarity of each pair has to reach."""


MAX_KEPT_LAYOUT: Final = 1 << 12
"""Pairs of objects up to which a layout is kept for further chunks."""


class LeafBlock:
    """Leaves of an object that share a comparator: one column, compared by one call."""

    def __init__(self, leaves: Sequence[tuple[int, str, LeafNode]]) -> None:
        """Take the position of each leaf in its object, its name, and its node."""
        positions, self.names, self.nodes = zip(*leaves, strict=True)
        self.positions: list[int] = [*positions]
        first, end = positions[0], positions[-1] + 1
        self.span = slice(first, end) if end - first == len(positions) else np.array(positions)
        """The positions, as an index into the fields of the object."""
        self.weight = np.array([[float(node.weight)] for node in self.nodes])
        self._clips = any(node.clip for node in self.nodes)
        self._reading = self.nodes[0].reading
        self._least = np.array([[node.threshold - EQUAL_WITHIN] for node in self.nodes])
        self._clip = np.array([[node.clip] for node in self.nodes])
        self._layout = self._lay_out(1)

    def layout(self, size: int) -> BlockLayout:
        """Return the layout of a number of objects; kept, for most chunks have the same size."""
        layout = self._layout
        if layout.size != size:
            layout = self._lay_out(size)
            if size <= MAX_KEPT_LAYOUT:
                self._layout = layout
        return layout

    def _lay_out(self, size: int) -> BlockLayout:
        leaf, pair = np.indices((len(self.names), size)).reshape(2, -1)
        return BlockLayout(
            size=size,
            leaf=leaf,
            pair=pair,
            order=np.array(self.positions)[leaf],
            weight=self.weight[leaf, 0],
            threshold=np.array([float(node.threshold) for node in self.nodes])[leaf],
        )

    def similarity(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score the leaves of pairs of objects, which are scalars on both sides.

        `gt` and `pred` are the slots of the objects; there are as many scores for each leaf.
        """
        n_fields, size, comparator = len(self.names), len(gt), self.nodes[0].comparator
        columns.place.charge(CALL + PAIR * size * n_fields)
        read = columns.read_by(self._reading)
        gt_codes = read.codes.gt.reshape(n_fields, -1).take(gt, 1).ravel()
        pred_codes = read.codes.pred.reshape(n_fields, -1).take(pred, 1).ravel()
        try:
            similarity, outcome, reasons = _compare_codes(
                comparator, read, gt_codes, pred_codes, options, mode, self._least
            )
        except PairError as error:
            failed = (gt_codes == error.codes[0]) & (pred_codes == error.codes[1])
            pair = int(failed.argmax())
            raise error.below(self.names[pair // size]) from error.__cause__
        scores = PairScores(self.nodes[0], columns, gt, pred, outcome, similarity)
        scores.reasons, scores.weight = reasons, self.weight
        return scores

    def record(  # noqa: PLR0913, PLR0917 - as a node records
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        objects: Placement,
        numbers: Indexes,
    ) -> PairScores:
        """Score and record the leaves of pairs of objects.

        `objects` says where the fields of each pair stand, `numbers` are those of all fields of
        the objects.
        """
        scores = self.similarity(columns, gt, pred, options, Mode.FINAL)
        outcome, similarity = scores.outcome, scores.similarity
        n_fields, size = len(self.names), len(gt)
        if self._clips:
            is_clipped = self._clip & (outcome == FD).reshape(n_fields, -1)
            scores.score = np.where(is_clipped.ravel(), 0.0, similarity)

        layout = self.layout(size)
        place = objects._replace(
            positions=objects.positions[layout.pair],
            document=objects.document[layout.pair],
            field=numbers[self.span].repeat(size // numbers.shape[1], axis=1).ravel(),
            order=layout.order,
            weight=layout.weight,
        )
        batch = table.add(VALUE, self.nodes[0], columns, place)
        scores.batch, batch.nodes = batch, self.nodes
        codes = columns.codes
        gt_stride, pred_stride = len(codes.gt) // n_fields, len(codes.pred) // n_fields
        batch.gt_slot = present(gt[layout.pair] + gt_stride * layout.leaf, codes.gt)
        batch.pred_slot = present(pred[layout.pair] + pred_stride * layout.leaf, codes.pred)
        batch.outcome, batch.similarity, batch.score = outcome, similarity, scores.score
        batch.threshold = layout.threshold
        if scores.reasons:
            table.reasons.update(notes_by_row(scores.reasons, batch))
        return scores


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


def _compare_codes(  # noqa: PLR0913, PLR0917 - two sides of columns, and what compares them
    comparator: BaseComparator,
    columns: Columns,
    gt: Indexes,
    pred: Indexes,
    options: Options,
    mode: Mode,
    least: float | Floats,
) -> tuple[Floats, Outcomes, Mapping[int, str]]:
    """Compare pairs of codes of scalars or of values that the comparator takes.

    Returned are similarities, classes by the least similarity of a match, and what a judge said.
    """
    if mode >= Mode.PAIRING and comparator.pairing is not None:
        comparator = comparator.pairing
    unlike, lacking = gt != pred, (gt | pred) < 0
    similarity = 1.0 - unlike  # where both are absent, too
    reasons = NO_REASONS
    (at,) = (unlike > lacking if comparator.same_value else ~lacking).nonzero()
    if len(at):
        prepared = columns.prepared(comparator)
        pairs = gt[at], pred[at]
        if mode is Mode.LISTS_AND_TEXTS_MATCH and not comparator.columnar:
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
        outcome[at] = classify_absent(gt[at], pred[at])
    return similarity, outcome, reasons
