"""Names that do not pair: the two that are most alike, and a pattern by which they would."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .shapes import name_by

MOST_NAMES: Final = 1000  # of each side that are looked at; a pattern shows in fewer

PATTERNS: Final = (
    r"([^/]+)$",  # other directories
    r"_(.+)$",  # gt_1, pred_1
    r"-(.+)$",
    r"^(.+)_",
    r"^(.+)-",
    r"^(.+)\.",  # 1.gt, 1.pred
    r"(\d+)\D*$",
    r"^\D*(\d+)",
)
"""What may be common to names that differ otherwise; the first that pairs most is proposed."""


def pattern_for(gts: Sequence[str], preds: Sequence[str]) -> tuple[str, int] | None:
    """Return a pattern for `--pair-by`, and how many of some names it pairs.

    None where each pairs fewer than half of the shorter side, or finds the same in two names.
    """
    gts, preds = gts[:MOST_NAMES], preds[:MOST_NAMES]
    best: tuple[str, int] | None = None
    for pattern in PATTERNS:
        mine, its = _keys(pattern, gts), _keys(pattern, preds)
        paired = len(mine & its)
        unique = len(mine) == len(gts) and len(its) == len(preds)
        if unique and 2 * paired >= min(len(gts), len(preds)) and paired > (best[1] if best else 0):
            best = pattern, paired
    return best


def _keys(pattern: str, names: Iterable[str]) -> set[str]:
    naming = re.compile(pattern)
    return {name_by(naming, name) for name in names}


def nearest_names(gts: Sequence[str], preds: Sequence[str]) -> tuple[str, str] | None:
    """Return the two names that are most alike, of ground truth and prediction; None without any.

    Of equally alike ones the first count.
    """
    from rapidfuzz import process  # most runs pair

    if not gts or not preds:
        return None
    best = 0.0, gts[0], preds[0]
    for gt in gts[:MOST_NAMES]:
        pred, likeness, _ = process.extractOne(gt, preds[:MOST_NAMES])
        if likeness > best[0]:
            best = likeness, gt, pred
    return best[1:]
