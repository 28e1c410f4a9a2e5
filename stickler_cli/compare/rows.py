"""Bounds on the similarity of rows. Rows are inner lists that are compared cell by cell."""

from typing import Final

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from .columns import Columns, Floats, Indexes, Mask, distinct
from .leaf import LeafNode
from .one_of import follow_references
from .plan import Mode, Node, Options

MIN_PAIRS: Final = 1000
"""If there are fewer pairs of rows, comparing all cells is faster than computing bounds."""
TRIED_SHARE: Final = 1 / 3
"""Pairs of rows are compared position by position, and bounds rule out pairs that cannot be the
best. After this share of the positions, the comparison by position stops if bounds help too
little; see `MAX_REMAINING_SHARE`."""
MAX_REMAINING_SHARE: Final = 0.5
"""After `TRIED_SHARE` of the positions, bounds help too little if they have ruled out too few pairs
of rows: more than this share of all pairs remains. All remaining pairs are then compared
completely."""


class PairedRows:
    """Inner lists (rows) that are being paired, and the node that compares their cells."""

    def __init__(self, row_node: Node, rows: Columns, options: Options) -> None:
        """Store the rows of both sides, the options of the run, and the node of the cells.

        `row_node` is the node that compares two rows. The node that compares two cells is inside
        it.
        """
        self._cell = follow_references(row_node.inner_nodes()[0])
        self._rows, self._options = rows, options

    def may_be_best(self, gt: Indexes, pred: Indexes, seekers: Indexes, best: Floats) -> Mask:
        """Return a mask of the pairs of rows that need a full comparison.

        In each pair, one row looks for a partner: the seeker. `seekers` has the index of each
        pair's seeker in `best`. `best` has the gain that each seeker already reaches with another
        partner. A pair is compared position by position. As soon as the remaining positions cannot
        add enough to reach the gain in `best`, the pair is ruled out. The mask has the shape
        (n_pairs,).
        """
        is_candidate = np.ones(len(gt), np.bool_)
        has_bounds = isinstance(self._cell, LeafNode) and self._rows.gold is None
        if len(gt) < MIN_PAIRS or not has_bounds or self._rows.work.has_ignored_values:
            return is_candidate
        gt_rows, pred_rows, cells = self._rows.elements
        if gt_rows.have_gaps(gt) or pred_rows.have_gaps(pred):
            return is_candidate

        gt_lengths, pred_lengths = gt_rows.lengths[gt], pred_rows.lengths[pred]
        n_shared = np.minimum(gt_lengths, pred_lengths)
        longest = np.maximum(np.maximum(gt_lengths, pred_lengths), 1)
        upper, lower, best = n_shared / longest, np.zeros(len(gt)), best.copy()
        margin = 3 * EQUAL_WITHIN  # gains exceed similarities by nearness
        pairs = np.arange(len(gt))
        positions = self._by_variety(int(n_shared.max(initial=0)))
        for n_compared, position in enumerate(positions):
            is_past_trial = n_compared > TRIED_SHARE * len(positions)
            if is_past_trial and len(pairs) > MAX_REMAINING_SHARE * len(gt):
                break
            compared = pairs[position < n_shared[pairs]]
            gt_cells = gt_rows.starts[gt[compared]] + position
            pred_cells = pred_rows.starts[pred[compared]] + position
            similarity = self._cell.similarity(
                cells, gt_cells, pred_cells, self._options, Mode.PAIRING
            ).similarity
            lower[compared] += similarity / longest[compared]
            upper[compared] -= (1 - similarity) / longest[compared]
            np.maximum.at(best, seekers[pairs], lower[pairs])
            is_candidate[pairs] = upper[pairs] + margin >= best[seekers[pairs]]
            pairs = pairs[is_candidate[pairs]]
        return is_candidate

    def _by_variety(self, n_positions: int) -> list[int]:
        """Return the positions of cells in a row, sorted by their number of distinct values.

        The position with the most distinct values comes first. Only values of the ground
        truth are counted.
        """
        gt_rows, _, cells = self._rows.elements
        codes = cells.codes.gt
        varieties = []
        for position in range(n_positions):
            starts = gt_rows.starts[:-1][gt_rows.lengths[:-1] > position]
            varieties.append(-len(distinct(codes[starts + position])))
        return sorted(range(n_positions), key=varieties.__getitem__)
