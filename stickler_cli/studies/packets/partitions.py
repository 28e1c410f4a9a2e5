"""How alike two partitions of the same pages are: V-measure, Rand indexes, order of pages."""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import comb, log

from stickler_cli.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two partitions of a set held against each other; all in [0, 1] but the last."""

    homogeneity: float
    """Whether each predicted part has pages of one true part only."""
    completeness: float
    """Whether the pages of each true part are in one predicted part."""
    v_measure: float
    """Their harmonic mean."""
    rand: float
    """The share of pairs of pages that both keep together, or both apart."""
    adjusted_rand: float
    """The same above what chance gives; at most 1, and 0 on average by chance."""


def likeness(pages: Iterable[tuple[Hashable, Hashable]]) -> Likeness:
    """Return how alike two partitions are, of the true and the predicted part of each page.

    Source:
        Rosenberg and Hirschberg (2007), V-Measure; Hubert and Arabie (1985),
        doi:10.1007/BF01908075, for the adjusted Rand index. Edge cases are those of scikit-learn.
    """
    cells = Counter(pages)
    true, pred = Counter[Hashable](), Counter[Hashable]()
    for (mine, theirs), count in cells.items():
        true[mine] += count
        pred[theirs] += count
    total = cells.total()
    shared = sum(
        count / total * log(total * count / (true[mine] * pred[theirs]))
        for (mine, theirs), count in cells.items()
    )
    homogeneity, completeness = (_share(shared, part, total) for part in (true, pred))
    both = homogeneity + completeness
    v_measure = 2 * homogeneity * completeness / both if both else 0.0
    return Likeness(homogeneity, completeness, v_measure, *_rand(cells, true, pred, total))


def _share(shared: float, parts: Counter[Hashable], total: int) -> float:
    """Return how much of the entropy of a partition is shared, in [0, 1]."""
    entropy = -sum(count / total * log(count / total) for count in parts.values())
    return min(1.0, max(0.0, shared / entropy)) if entropy else 1.0


def _rand(
    cells: Counter[tuple[Hashable, Hashable]],
    true: Counter[Hashable],
    pred: Counter[Hashable],
    total: int,
) -> tuple[float, float]:
    together, mine, theirs = (
        sum(comb(count, 2) for count in each.values()) for each in (cells, true, pred)
    )
    pairs = comb(total, 2)
    if not pairs:
        return 1.0, 1.0
    rand = (pairs + 2 * together - mine - theirs) / pairs
    if together == mine == theirs:
        return rand, 1.0
    expected = mine * theirs / pairs
    return rand, (together - expected) / ((mine + theirs) / 2 - expected)


def order_of(true: Sequence[int], pred: Sequence[int]) -> float | None:
    """Return how alike the order of the common pages is, in [-1, 1]; None of fewer than two.

    That is Kendall's tau, of which all forms agree where no two pages are level.

    >>> order_of([1, 2, 3], [3, 2, 1, 9]), order_of([1, 2], [2])
    (-1.0, None)
    """
    places = {page: at for at, page in enumerate(pred)}
    found = [places[page] for page in true if page in places]
    if len(found) < 2:
        return None
    before: list[int] = []
    swapped = 0
    for place in found:
        swapped += len(before) - bisect_right(before, place)
        insort(before, place)
    return 1 - 2 * swapped / comb(len(found), 2)
