"""From which confidence values may pass unseen: thresholds whose error is bounded by a test.

A document's loss is the share of its accepted values that are wrong. A threshold is taken if the
hypothesis that the expected loss is too great is rejected for it; testing many is paid for.
docs/accepting.md says what is promised, and shows by simulation that it is kept.
"""

from math import ceil, e, log, log1p
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.compare.account import Floats
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.core.values import dataclass

MOST_THRESHOLDS: Final = 1_000
STARTS: Final = 4
"""Where sequences of tests begin: a single one ends early if one confident value is wrong."""

_ROUNDING: Final = 1e-9  # sums of shares are a little off whole numbers


class Losses(NamedTuple):
    """Losses of accepting from each threshold on, the highest first; all are (thresholds,)."""

    threshold: Floats
    documents: Indexes
    """Those with at least one accepted value."""
    mean: Floats
    """The mean of their losses."""
    whole: Mask
    """Whether all of these are 0 or 1."""
    accepted: Indexes
    """How many values are."""

    def among(self, some: slice) -> "Losses":
        """Return some of the thresholds."""
        threshold, documents, mean, whole, accepted = self
        return Losses(threshold[some], documents[some], mean[some], whole[some], accepted[some])


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The values of a field that may pass unseen, and the evidence."""

    threshold: float
    """The lowest confidence from which they may."""
    accepted: int
    """How many of these documents' values do."""
    documents: int
    """Documents with such a value."""
    error: float
    """The mean over them of the share that is wrong."""
    bound: float
    """Upper bound of the expected share, at the level of the test that was passed."""


def losses(document: Indexes, confidence: Floats, right: Mask) -> Losses:
    """Return the losses at each threshold, of units, an entry each."""
    order = np.argsort(-confidence, kind="stable")
    confidence, wrong, document = confidence[order], ~right[order], document[order]
    # Units of a document in their order: how many were accepted, and wrong, up to each.
    by_document = np.argsort(document, kind="stable")
    firsts = np.flatnonzero(np.diff(document[by_document], prepend=-1))
    sizes = np.diff([*firsts, len(document)])
    accepted, mistaken = np.empty(len(document)), np.empty(len(document))
    accepted[by_document] = np.arange(len(document)) - np.repeat(firsts, sizes) + 1
    running = np.cumsum(wrong[by_document])
    mistaken[by_document] = running - np.repeat((running - wrong[by_document])[firsts], sizes)
    was, had = mistaken - wrong, accepted - 1
    change = mistaken / accepted - was / np.maximum(had, 1)
    split = ((mistaken > 0) & (mistaken < accepted)).astype(int) - ((was > 0) & (was < had))

    ends = np.flatnonzero(np.append(np.diff(confidence) < 0, [True] * bool(len(confidence))))
    if len(ends) > MOST_THRESHOLDS:
        ends = ends[np.linspace(0, len(ends) - 1, MOST_THRESHOLDS).round().astype(np.intp)]
    documents = np.cumsum(had == 0)[ends]
    mean = np.cumsum(change)[ends] / documents
    return Losses(confidence[ends], documents, mean, np.cumsum(split)[ends] == 0, ends + 1)


def needed(level: float, most: float) -> int:
    """Return the least number of documents without any loss that reject `expected loss > most`."""
    return ceil(log(level) / log1p(-most) - _ROUNDING)


def p_values(found: Losses, most: "float | Floats") -> Floats:
    """Return for each threshold the p-value of `expected loss > most`, which is in (0, 1).

    The tail of a binomial where losses are 0 or 1, else the Hoeffding-Bentkus bound.

    Source:
        Bates et al. (2021), Distribution-Free, Risk-Controlling Prediction Sets, section 3.1.
    """
    from scipy.special import bdtr  # the cumulative binomial

    n, wrong = found.documents, found.mean * found.documents
    binomial = bdtr(np.rint(wrong), n, most)
    bentkus = e * bdtr(np.ceil(wrong - _ROUNDING), n, most)
    mean = np.minimum(found.mean, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(mean > 0, mean * np.log(mean / most), 0)
    outer = (1 - mean) * np.log((1 - mean) / (1 - np.asarray(most)))
    hoeffding = np.exp(-n * (inner + outer))
    return np.where(found.whole, binomial, np.minimum(hoeffding, bentkus))


def rejected(p: Floats, starts: Indexes, level: float) -> Floats:
    """Return the level at which each hypothesis of a sequence is rejected; 0 where it is not.

    Each start has an equal part of the level. What a rejected hypothesis had goes to the next one
    that is not, after the last one to the first. So the chance of any wrong rejection is at most
    the level.

    Source:
        Bretz et al. (2009), A graphical approach to sequentially rejective multiple tests.
    """
    levels, passed = np.zeros(len(p)), np.zeros(len(p))
    levels[starts] = level / len(starts)
    open_to = np.arange(len(p) + 1)  # the next that is not rejected, found by halving paths

    def following(at: int) -> int:
        while open_to[at] != at:
            open_to[at] = open_to[open_to[at]]
            at = int(open_to[at])
        return at

    todo = [*starts.tolist()][::-1]
    while todo:
        at = todo.pop()
        if passed[at] or p[at] > levels[at]:
            continue
        passed[at], open_to[at] = levels[at], at + 1
        to = following(at)
        to = following(0) if to == len(p) else to
        if to < len(p):
            levels[to] += levels[at]
            todo.append(to)
    return passed


def accept(found: Losses, most: float, level: float) -> Acceptance | None:
    """Return the lowest threshold whose expected loss is at most `most`; None if none is.

    With probability at least 1 - `level` over the draw of the documents none is returned whose
    expected loss is greater. Where sequences start depends on confidences only.

    Source:
        Angelopoulos et al. (2021), Learn then Test, for testing thresholds in a fixed sequence.
    """
    total = int(found.documents[-1]) if len(found.documents) else 0
    starts = STARTS if total >= needed(level / STARTS, most) else 1
    first = int(np.searchsorted(found.documents, needed(level / starts, most)))
    left = len(found.documents) - first
    if not left:
        return None
    positions = np.unique(left * np.arange(starts) // starts)
    some = found.among(slice(first, None))
    levels = rejected(p_values(some, most), positions, level)
    if not levels.any():
        return None
    at = int(np.flatnonzero(levels)[-1])
    one = some.among(slice(at, at + 1))
    return Acceptance(
        float(one.threshold[0]),
        int(one.accepted[0]),
        int(one.documents[0]),
        float(max(one.mean[0], 0.0)),
        _bound(one, float(levels[at]), most),
    )


def _bound(one: Losses, level: float, most: float) -> float:
    """Return the greatest expected loss that the test of a threshold does not reject."""
    low, high = float(max(one.mean[0], 0.0)), most
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if p_values(one, middle)[0] <= level else (middle, high)
    return high
