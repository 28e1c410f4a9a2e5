"""Leaves, which compare single values, and blocks of leaves that share a comparator."""

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
from stickler_cli.comparators.comparator_registry import is_built_in
from stickler_cli.core.json_values import JsonValue, ReadingRule
from .columns import (
    ABSENT,
    ARRAY,
    LEAF,
    OBJECT,
    Columns,
    Floats,
    Indexes,
    Mask,
    Outcomes,
    drop_uncoded,
)
from .pair_scores import NO_REASONS, PairScores, add_rows, classify_absent, clip_scores, score_zero
from .plan import Mode, Node, Options, Recording, Task
from .prepared import PairError
from .result import FD
from .units import VALUE, Placement, notes_by_row
from .work import CALL_STEPS, PAIR_STEPS

_CONTAINERS: Final = {"array": ARRAY, "object": OBJECT}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafNode(Node):
    """The node of values that a comparator compares as a whole."""

    comparator: BaseComparator
    reading: ReadingRule | None = None
    """Replaces the values of both sides by the names they stand for; None leaves values as they
    are."""
    is_unspecified_text: bool = field(default=False, repr=False, compare=False)
    """Whether values are texts for which the schema states no comparator."""

    sees_absent_values = True  # they have no code, and keep their slots

    @property
    def columnar(self) -> bool:
        """Whether comparing many pairs at once is much cheaper than one call for each pair."""
        return (self.comparator.pairing or self.comparator).columnar

    @property
    def is_expensive(self) -> bool:
        """Whether pairs are compared letter by letter, as edit distances do."""
        comparator = self.comparator.pairing or self.comparator
        return not comparator.columnar and not comparator.asks_models

    def min_steps(self, columns: Columns, gt: Indexes, pred: Indexes) -> int:
        """Return the minimum steps to compare each value in `gt` with each value in `pred`.

        `gt` and `pred` are codes of values. A comparison takes no steps if the two values are
        equal, or if one of them is absent (`NOTHING`, -1). Call this only for a leaf whose
        `is_expensive` is true.
        """
        lengths = columns.prepare_for(self.comparator.pairing or self.comparator).lengths
        gt_counts = np.bincount(gt[gt >= 0], minlength=len(lengths))
        pred_counts = np.bincount(pred[pred >= 0], minlength=len(lengths))
        n_equal_pairs = gt_counts * pred_counts
        n_pairs = int(gt_counts.sum()) * int(pred_counts.sum()) - int(n_equal_pairs.sum())
        # An edit distance takes a cell for each pair of letters.
        n_gt_letters = int((gt_counts * lengths).sum())
        n_pred_letters = int((pred_counts * lengths).sum())
        n_cells = n_gt_letters * n_pred_letters - int((n_equal_pairs * lengths**2).sum())
        return STEPS_OF_PAIR * n_pairs + STEPS_OF_WORDS * n_cells // LETTERS_OF_WORD

    def declares(self, columns: Columns) -> tuple[Mask, Mask]:
        """Return masks, one for each side, of values that are absent or that fit the comparator."""
        accepted_kinds = [ABSENT, LEAF, *(_CONTAINERS[shape] for shape in self.comparator.takes)]
        gt_kinds, pred_kinds = columns.kinds
        return np.isin(gt_kinds, accepted_kinds), np.isin(pred_kinds, accepted_kinds)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Compare pairs of values; if `task` is a `Recording`, add them to its unit table.

        If all values are scalars, and the ground truth has no annotations (gold), the kinds of the
        values are not checked.
        """
        if columns.is_plain:
            columns.work.charge(CALL_STEPS + PAIR_STEPS * len(gt))
            return task.compare_declared(self, columns, gt, pred)
        # `slots=True` makes the class anew; a bare super() refers to the old class.
        return super(LeafNode, self).compare_pairs(columns, gt, pred, task)

    def _score_mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Give the score 0 to pairs with a value that the comparator does not take, such as a list.

        If `task` records the pairs, each pair becomes one unit without children.
        """
        outcome = np.full(len(gt), FD, np.int8)
        return task.finish_units(VALUE, score_zero(self, columns, gt, pred, outcome))

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether the rule `reading` replaces a value by None."""
        return self.reading is not None and self.reading(value) is None

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of values that the comparator takes."""
        read = columns.apply_reading(self.reading)
        gt_codes, pred_codes = read.codes.gt[gt], read.codes.pred[pred]
        similarity, outcome, reasons = _compare_codes(
            self.comparator,
            read,
            gt_codes,
            pred_codes,
            options,
            mode,
            min_similarity=self.threshold - EQUAL_WITHIN,
        )
        gt, pred = drop_uncoded(gt, columns.codes.gt), drop_uncoded(pred, columns.codes.pred)
        scores = PairScores(self, columns, gt=gt, pred=pred, outcome=outcome, similarity=similarity)
        scores.reasons = reasons
        return scores

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score and record pairs of values that the comparator takes."""
        scores = self.score_declared(columns, gt, pred, recording.options, Mode.FINAL)
        score = clip_scores(scores.similarity, scores.outcome, clip=self.clip)
        scores.score = scores.item_score = score
        return add_rows(recording.table, VALUE, scores, recording.placement)


class BlockLayout(NamedTuple):
    """Arrays with one entry for each combination of a leaf in a block and a pair of objects.

    The entries of the first leaf come first, one for each pair of objects. The entries of the
    second leaf follow, and so on. Each array has the shape (n_leaves * size,).
    """

    size: int
    """The number of pairs of objects, which is the number of pairs of each leaf."""
    leaf: Indexes
    """For each entry, the index of its leaf in the block."""
    pair: Indexes
    """For each entry, the index of its pair of objects."""
    order: Indexes
    """For each entry, the position of its leaf among the fields of the object."""
    weight: Floats
    """For each entry, the weight of its leaf in the score of the object."""
    threshold: Floats
    """For each entry, the similarity at which it matches."""


class LeafSlots(NamedTuple):
    """Where the values of a block of leaves are in their columns.

    The positions of the values are computed from the positions of the objects that contain them. A
    column has all values of the first leaf, followed by all values of the second leaf, and so on.
    The values of each leaf are one value for every object, and an empty value at the end for an
    absent object (`NOTHING`).
    """

    columns: Columns
    gt: Indexes
    pred: Indexes
    """The position of the predicted object of each pair."""
    layout: BlockLayout

    def gt_slots(self) -> Indexes:
        """Return the position of each ground-truth value; `NOTHING` (-1) if it is absent."""
        return self._slots(self.gt, self.columns.codes.gt)

    def pred_slots(self) -> Indexes:
        """Return the position of each predicted value; `NOTHING` (-1) if it is absent."""
        return self._slots(self.pred, self.columns.codes.pred)

    def _slots(self, objects: Indexes, codes: Indexes) -> Indexes:
        n_leaves = len(self.layout.leaf) // self.layout.size
        slots_per_leaf = len(codes) // n_leaves
        slots = objects[self.layout.pair] + slots_per_leaf * self.layout.leaf
        return drop_uncoded(slots, codes)


MAX_CACHED_LAYOUT: Final = 1 << 12
"""Maximum number of pairs of objects in a layout that is kept for later chunks. A larger layout is
computed again for each chunk."""


class LeafBlock:
    """Leaves of an object that share a comparator, so that one call compares all of them."""

    def __init__(self, leaves: Sequence[tuple[int, str, LeafNode]]) -> None:
        """Make a block of leaves, each given as (position in its object, name, node)."""
        positions, self.names, self.nodes = zip(*leaves, strict=True)
        self.positions: list[int] = [*positions]
        first, end = positions[0], positions[-1] + 1
        self.span = slice(first, end) if end - first == len(positions) else np.array(positions)
        """Selects the leaves of this block from an array with an entry for each field of an object.
        """
        self.weight = np.array([[float(node.weight)] for node in self.nodes])
        self._clips = any(node.clip for node in self.nodes)
        self._reading = self.nodes[0].reading
        self._min_similarity = np.array([[node.threshold - EQUAL_WITHIN] for node in self.nodes])
        self._clip = np.array([[node.clip] for node in self.nodes])
        self._layout = self._lay_out(1)

    def layout(self, size: int) -> BlockLayout:
        """Return the layout for a number of pairs of objects.

        The last layout is kept, as the next chunk often has the same size.
        """
        layout = self._layout
        if layout.size != size:
            layout = self._lay_out(size)
            if size <= MAX_CACHED_LAYOUT:
                self._layout = layout
        return layout

    def _lay_out(self, size: int) -> BlockLayout:
        """Return the layout of the block for `size` pairs of objects."""
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
        """Score the leaves of pairs of objects. The values of all leaves must be scalars.

        `gt` and `pred` are the positions of the objects in their columns, as arrays of shape
        (size,). The result has all pairs of the first leaf, followed by all pairs of the second
        leaf, and so on. Its arrays have the shape (n_leaves * size,).
        """
        n_fields, size, comparator = len(self.names), len(gt), self.nodes[0].comparator
        columns.work.charge(CALL_STEPS + PAIR_STEPS * size * n_fields)
        read = columns.apply_reading(self._reading)
        # The codes of a column have one row for each leaf.
        gt_codes = read.codes.gt.reshape(n_fields, -1).take(gt, 1).ravel()
        pred_codes = read.codes.pred.reshape(n_fields, -1).take(pred, 1).ravel()
        try:
            similarity, outcome, reasons = _compare_codes(
                comparator,
                read,
                gt_codes,
                pred_codes,
                options,
                mode,
                min_similarity=self._min_similarity,
            )
        except PairError as error:
            # The first pair with the two failing values gives the name of the field.
            has_failed = (gt_codes == error.codes[0]) & (pred_codes == error.codes[1])
            pair = int(has_failed.argmax())
            raise error.below(self.names[pair // size]) from error.__cause__
        scores = PairScores(
            self.nodes[0], columns, gt=gt, pred=pred, outcome=outcome, similarity=similarity
        )
        scores.reasons, scores.weight = reasons, self.weight
        return scores

    def record(
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        recording: Recording,
        field_numbers: Indexes,
    ) -> PairScores:
        """Score and record the leaves of pairs of objects.

        `recording` has the objects that the leaves belong to. `field_numbers` has the number of
        each field of the objects. Its shape is (n_fields, 1) if the numbers are the same for all
        objects, else (n_fields, size).
        """
        scores = self.similarity(columns, gt, pred, recording.options, Mode.FINAL)
        outcome, similarity = scores.outcome, scores.similarity
        n_fields, size = len(self.names), len(gt)
        if self._clips:
            is_clipped = self._clip & (outcome == FD).reshape(n_fields, -1)
            scores.score = np.where(is_clipped.ravel(), 0.0, similarity)

        layout = self.layout(size)
        objects, table = recording.placement, recording.table
        field = field_numbers[self.span].ravel()
        if field_numbers.shape[1] < size:  # all objects have the same numbers
            field = field[layout.leaf]
        placement = Placement(
            container=objects.container,
            positions=objects.positions[layout.pair],
            document=objects.document[layout.pair],
            field=field,
            order=layout.order,
            weight=layout.weight,
        )
        batch = table.add(VALUE, self.nodes[0], columns, placement)
        scores.batch, batch.nodes = batch, self.nodes
        batch.block_slots = LeafSlots(columns=columns, gt=gt, pred=pred, layout=layout)
        batch.outcome, batch.similarity, batch.score = outcome, similarity, scores.score
        batch.threshold = layout.threshold
        if scores.reasons:
            table.reasons.update(notes_by_row(scores.reasons, batch))
        return scores


def group_leaves(leaves: Iterable[tuple[int, str, LeafNode]]) -> tuple[LeafBlock, ...]:
    """Group the leaves of an object by comparator, so that one call can compare a whole group."""
    keys: list[object] = []
    blocks: list[list[tuple[int, str, LeafNode]]] = []
    for leaf in leaves:
        key = _comparator_key(leaf[2].comparator), leaf[2].reading
        if key not in keys:
            keys.append(key)
            blocks.append([])
        blocks[keys.index(key)].append(leaf)
    return tuple(map(LeafBlock, blocks))


def _comparator_key(comparator: BaseComparator) -> object:
    """Return a key for a comparator. If two keys are equal, the comparators give equal results."""
    if comparator.asks_models:  # fields of judges are compared one by one
        return object()
    if not is_built_in(comparator):
        return id(comparator)
    irrelevant = ("threshold", "stated_threshold", "name")  # similarities do not depend on these
    config = {name: value for name, value in vars(comparator).items() if name not in irrelevant}
    return type(comparator), config


def _compare_codes(  # noqa: PLR0913, PLR0917 - two sides of columns, and the rule that compares them
    comparator: BaseComparator,
    columns: Columns,
    gt: Indexes,
    pred: Indexes,
    options: Options,
    mode: Mode,
    *,
    min_similarity: float | Floats,
) -> tuple[Floats, Outcomes, Mapping[int, str]]:
    """Compare pairs of values, given by their codes.

    Return (similarities, outcomes, reasons). If a model judges the values, `reasons` maps positions
    of pairs to the reasons of the model. Otherwise, `reasons` is empty.

    A pair matches if its similarity is at least `min_similarity`. This is one number for all pairs,
    or, for a block of leaves, an array of shape (n_leaves, 1) with one number for each leaf.
    """
    if mode >= Mode.PAIRING and comparator.pairing is not None:
        comparator = comparator.pairing
    is_unequal, lacks_side = gt != pred, (gt | pred) < 0
    similarity = 1.0 - is_unequal  # 1.0 also if both sides are absent
    reasons = NO_REASONS
    # Equal codes mean equal values: only a comparator that may tell them apart is called.
    is_compared = is_unequal > lacks_side if comparator.same_value else ~lacks_side
    (compared,) = is_compared.nonzero()
    if len(compared):
        prepared = columns.prepare_for(comparator)
        if mode is Mode.LISTS_AND_TEXTS_MATCH and not comparator.columnar:
            similarity[compared] = 1.0
        elif comparator.asks_models:
            # Charge no work: questions to models have a limit of their own.
            similarity[compared], answers = prepared.ask_model(
                options.client, gt[compared], pred[compared]
            )
            if answers is not None:
                reasons = dict(zip(compared.tolist(), answers, strict=True))
        else:
            pairs_per_field = len(gt) // (len(columns.work.names) or 1)
            similarity[compared] = prepared.similarities(
                gt[compared], pred[compared], compared, pairs_per_field
            )
    if isinstance(min_similarity, np.ndarray):
        is_below = (similarity.reshape(len(min_similarity), -1) < min_similarity).ravel()
    else:
        is_below = similarity < min_similarity
    outcome = is_below.view(np.int8)  # 0 is TP, 1 is FD
    (lacking,) = lacks_side.nonzero()
    if len(lacking):
        outcome[lacking] = classify_absent(gt[lacking], pred[lacking])
    return similarity, outcome, reasons
