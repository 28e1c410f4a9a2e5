"""Average precision of boxes, as COCO has it: 101 points, greedy matching on each page.

Source: Lin et al. (2014), arXiv:1405.0312, and its evaluation code, pycocotools.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from stickler_cli.runs.boxes import Rectangle, Spot

THRESHOLDS: Final = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
_RECALLS: Final = np.linspace(0, 1, 101)
_LIMIT: Final = 1 - 1e-10  # an overlap of 1 may be a little less


class Detections:
    """Boxes of one kind that were found, against those that there are."""

    def __init__(self) -> None:
        """Begin with none."""
        self.there = 0
        self.scores: list[float] = []
        self.documents: list[str] = []
        self.right: list[list[bool]] = []
        """Of each that was found, whether it matches, at each of the thresholds."""

    def add(self, document: str, true: Sequence[Spot], found: Sequence[tuple[float, Spot]]) -> None:
        """Add the boxes of a document, of those found with their confidences, in any order."""
        # Of one confidence, those further up first, so that the order of lists is no matter.
        true = sorted(true, key=_place)
        found = sorted(found, key=lambda entry: (-entry[0], _place(entry[1])))
        overlaps = [[there.overlap(box) for there in true] for _, box in found]
        by_threshold = [_matched(overlaps, threshold) for threshold in THRESHOLDS]
        self.there += len(true)
        self.scores += (score for score, _ in found)
        self.documents += [document] * len(found)
        self.right += ([*row] for row in zip(*by_threshold, strict=True))

    def precision(self, threshold: float) -> float | None:
        """Return the average precision at a threshold of overlap; None where no box is there."""
        if not self.there:
            return None
        rows = zip(self.scores, self.documents, self.right, strict=True)
        # Of one confidence, those of documents in the order of their ids, however they came.
        ordered = sorted(rows, key=lambda row: (-row[0], row[1]))
        at = THRESHOLDS.index(threshold)
        right = np.array([row[at] for _, _, row in ordered], float)
        hits = np.cumsum(right)
        recall = hits / self.there
        precision = hits / np.arange(1, len(right) + 1)
        envelope = np.maximum.accumulate(precision[::-1])[::-1]
        places = np.searchsorted(recall, _RECALLS, side="left")
        found = np.where(places < len(envelope), np.append(envelope, 0.0)[places], 0.0)
        return float(found.mean())


def _place(spot: Spot) -> tuple[str, float, float, Rectangle]:
    return spot.page or "", spot.box.top, spot.box.left, spot.box


def _matched(overlaps: Sequence[Sequence[float]], threshold: float) -> list[bool]:
    """Return whether each box has one of its own, those named first choosing first."""
    taken: set[int] = set()
    found = []
    for row in overlaps:
        best, chosen = min(threshold, _LIMIT), -1
        for at, similar in enumerate(row):
            if at not in taken and similar >= best:
                best, chosen = similar, at
        if chosen >= 0:
            taken.add(chosen)
        found.append(chosen >= 0)
    return found


def mean_precision(
    kinds: Mapping[str, Detections], thresholds: Iterable[float] = THRESHOLDS
) -> float | None:
    """Return the mean over kinds of boxes and thresholds; None where no box is there."""
    found = [
        precision
        for threshold in thresholds
        for each in kinds.values()
        if (precision := each.precision(threshold)) is not None
    ]
    return sum(found) / len(found) if found else None
