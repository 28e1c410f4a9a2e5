"""Similarities, scores and outcomes of pairs of values of one field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from .columns import NOTHING, Columns, Floats, Indexes, Mask, Outcomes
from .result import FA, FD, FN, TN
from .units import Placement, UnitBatch, UnitTable, notes_by_row

T = TypeVar("T")

NO_REASONS: Final[Mapping[int, str]] = {}


class PairFigures(NamedTuple):
    """Similarities, threshold-applied scores and outcomes, one entry per pair.

    If no score is clipped, `score` and `similarity` are the same array, so that sums and means are
    computed once.
    """

    similarity: Floats
    score: Floats
    outcome: Outcomes


def classify(
    similarity: Floats, score: Floats, threshold: float | Floats, gt: Indexes, pred: Indexes
) -> PairFigures:
    """Return the similarity, score and outcome of each pair; the similarity decides the outcome.

    Similarity and score become 0.0 if one side is absent, and 1.0 if both sides are absent. A
    similarity that is below the threshold by at most `EQUAL_WITHIN` counts as equal to it.
    """
    outcome = classify_present(similarity, threshold)
    (lacking,) = ((gt | pred) < 0).nonzero()  # pairs in which at least one side is absent
    if len(lacking):
        outcome_of_lacking = classify_absent(gt[lacking], pred[lacking])
        outcome[lacking] = outcome_of_lacking
        similarities = similarity.copy()
        similarities[lacking] = outcome_of_lacking == TN
        score = similarities if score is similarity else score.copy()
        score[lacking] = similarities[lacking]
        similarity = similarities
    return PairFigures(similarity, score, outcome)


_OUTCOME_OF_ABSENT: Final = np.array([-1, TN, FN, FA], np.int8)  # indexes 0, -1, -2, -3


def classify_absent(gt: Indexes, pred: Indexes) -> Outcomes:
    """Return the outcomes of pairs in which at least one side is absent."""
    outcome: Outcomes = _OUTCOME_OF_ABSENT[np.minimum(gt, 0) + 2 * np.minimum(pred, 0)]
    return outcome


def classify_present(similarity: Floats, threshold: float | Floats) -> Outcomes:
    """Return the outcomes of pairs that are present on both sides."""
    outcome: Outcomes = (similarity < threshold - EQUAL_WITHIN).view(np.int8)
    return outcome  # 0 is TP, 1 is FD


def clip_scores(score: Floats, outcome: Outcomes, *, clip: bool) -> Floats:
    """Return scores. If `clip` is true, the score of each pair below its threshold becomes 0.0."""
    return np.where(outcome == FD, 0.0, score) if clip else score


def has_both_sides(outcome: Outcomes) -> Mask:
    """Return, for each outcome, whether it belongs to a pair that is present on both sides."""
    has_both: Mask = outcome <= FD  # 0 is TP, 1 is FD
    return has_both


class PairScores:
    """Similarities, scores and outcomes of pairs of values of one field.

    All arrays have one entry per pair. This is not a dataclass, because dataclasses take longer to
    create: if documents are compared one by one, an object is created for each field of each
    document.
    """

    is_unfounded: "Mask | bool" = False
    """Mask of pairs of objects that have nothing to compare: all fields are absent on both sides,
    and the annotations of the ground truth allow every field to be absent. False if there is no
    such pair. Set only while items are being paired."""
    reasons: Mapping[int, str] = NO_REASONS
    """Maps the position of a pair to the reason that a judge gave for it."""
    groups: "Sequence[PairGroup]" = ()
    """The pairs grouped by the node that compared them; empty if one node compared all pairs."""
    batch: UnitBatch
    """The rows of the pairs in the unit table. This attribute exists only after the pairs are
    recorded. If there are `groups`, only the scores of the groups have it."""

    def __init__(  # noqa: PLR0913, PLR0917 - one column each
        self,
        node: Any,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        outcome: Outcomes,
        similarity: Floats,
        score: Floats | None = None,
    ) -> None:
        """Store arrays with one entry per pair. If `score` is None, the scores are `similarity`."""
        self.node, self.columns = node, columns
        self.gt, self.pred = gt, pred
        """The positions of the values in their columns; `NOTHING` (-1) for a value that is absent
        or counts as absent."""
        self.outcome = outcome
        self.similarity = similarity
        """The similarities in [0, 1]; 1.0 if both sides are absent, 0.0 if only one side is absent.
        """
        self.score = similarity if score is None else score
        """Threshold-applied scores: a value below its threshold has 0.0 if its node clips scores.
        If no score is clipped, this is the same array as `similarity`."""
        self.item_score = self.score
        """Scores that the pairs have as list items. In a list, an object is clipped by its
        match-threshold; in a field, it is clipped by its threshold."""
        self.weight: float | Floats = node.weight
        """The weight of each pair in the score of its object."""

    @property
    def is_empty(self) -> Mask:
        """A mask of the pairs without any value to compare.

        Both sides may be present in such a pair, see `is_unfounded`.
        """
        is_empty: Mask = (self.outcome == TN) | self.is_unfounded
        return is_empty

    def by_node(self) -> "Iterator[PairGroup]":
        """Yield all pairs in groups. The pairs of a group were compared by the same node."""
        if not self.groups:
            yield PairGroup(np.arange(len(self.outcome)), self)
        for positions, scores in self.groups:
            for inner in scores.by_node():
                yield PairGroup(positions[inner.positions], inner.scores)

    def figure_by_node(self, figure_of: "Callable[[PairScores], T]", dtype: type[np.generic]) -> T:
        """Compute a figure for each pair from the node that compared the pair.

        `figure_of` is called once for each node, with the scores of the pairs that this node
        compared. It returns one figure for all pairs of the node, or an array with one figure for
        each of these pairs.
        """
        if not self.groups:
            return figure_of(self)
        figures: Any = np.empty(len(self.outcome), dtype)
        for positions, scores in self.groups:
            figures[positions] = scores.figure_by_node(figure_of, dtype)
        joined_figures: T = figures
        return joined_figures


class PairGroup(NamedTuple):
    """Some of the pairs of a field, all compared by one node."""

    positions: Indexes
    scores: PairScores


def join_groups(  # noqa: PLR0913, PLR0917 - both sides of columns, and the groups
    node: Any,
    columns: Columns,
    gt: Indexes,
    pred: Indexes,
    groups: list[PairGroup],
    weight: float | None = None,
) -> PairScores:
    """Join groups of pairs: return the scores of all pairs.

    `weight` is the weight of each pair. If it is None, pairs have the weights of the groups' nodes,
    and a single group is returned unchanged.
    """
    if len(groups) == 1 and weight is None:
        return groups[0].scores
    outcome = np.empty(len(gt), np.int8)
    similarity, weights = np.empty((2, len(gt)))
    for positions, scores in groups:
        outcome[positions] = scores.outcome
        similarity[positions] = scores.similarity
        weights[positions] = scores.weight
    joined = PairScores(node, columns, gt=gt, pred=pred, outcome=outcome, similarity=similarity)
    if any(not (scores.score is scores.item_score is scores.similarity) for _, scores in groups):
        joined.score, joined.item_score = np.empty((2, len(gt)))
        for positions, scores in groups:
            joined.score[positions] = scores.score
            joined.item_score[positions] = scores.item_score
    if any(scores.is_unfounded is not False for _, scores in groups):
        joined.is_unfounded = is_unfounded = np.zeros(len(gt), np.bool_)
        for positions, scores in groups:
            is_unfounded[positions] = scores.is_unfounded
    joined.groups = groups
    joined.weight = weights if weight is None else weight
    return joined


def score_zero(
    node: Any, columns: Columns, gt: Indexes, pred: Indexes, outcome: Outcomes
) -> PairScores:
    """Return scores with similarity 0.0 and the given outcomes, for pairs that are not compared."""
    return PairScores(
        node, columns, gt=gt, pred=pred, outcome=outcome, similarity=np.zeros(len(gt))
    )


def classify_one_sided(gt: Indexes) -> Outcomes:
    """Return the outcomes of pairs with one absent side.

    The outcome is FA if the ground truth is absent, and FN if the prediction is absent.
    """
    return np.where(gt == NOTHING, FA, FN).astype(np.int8)


def fill_rows(
    table: UnitTable, batch: UnitBatch, scores: PairScores, placement: Placement
) -> PairScores:
    """Write the scores of pairs into the rows that `batch` has reserved for them.

    Return `scores`, whose attribute `batch` is now set to these rows.
    """
    batch.gt_slot, batch.pred_slot = scores.gt, scores.pred
    batch.outcome, batch.similarity = scores.outcome, scores.similarity
    container = placement.container
    is_list_item = placement.is_item and container is not None and not container.node.positional
    batch.score = scores.item_score if is_list_item else scores.score
    batch.threshold = batch.node.threshold
    if scores.reasons:
        table.reasons.update(notes_by_row(scores.reasons, batch))
    if placement.gold_slot is not None:
        slots = enumerate(placement.gold_slot.tolist(), batch.start)
        table.gold_slots.update((row, slot) for row, slot in slots if slot != NOTHING)
    scores.batch = batch
    return scores


def add_rows(table: UnitTable, kind: int, scores: PairScores, placement: Placement) -> PairScores:
    """Add rows of the given kind for pairs without children, and write their scores into the rows.

    Return `scores`, whose attribute `batch` is now set to these rows.
    """
    batch = table.add(kind, scores.node, scores.columns, placement)
    return fill_rows(table, batch, scores, placement)
