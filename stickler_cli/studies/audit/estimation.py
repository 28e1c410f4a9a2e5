"""Places to be looked at, drawn by strata, and what verdicts on them say of all places."""

from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.score.intervals import Share, beta_percentiles

Places = NDArray[np.intp]

STRATA: Final = 3
"""Those that places are drawn from."""
KNOWN: Final = STRATA
"""The stratum of places that were looked at without being drawn: they stand for no others."""


def strata_of(votes: NDArray[np.int64], runs: int) -> Places:
    """Return the stratum of each place: 2 where most runs give one other answer, 1 any, 0 none."""
    most = max(2, (runs + 1) // 2)
    return np.where(votes >= most, 2, np.minimum(votes, 1)).astype(np.intp)


def drawn(strata: Places, number: int, seed: int) -> Places:
    """Return places drawn at random: half of what is left to the top stratum each time."""
    # Raw bits are the same in every numpy.
    order = np.argsort(np.random.PCG64(seed).random_raw(len(strata)), kind="stable")
    found, left = order[:0], number
    for stratum in reversed(range(STRATA)):
        its = order[strata[order] == stratum]
        found = np.append(found, its[: left if not stratum else -(-left // 2)])
        left = number - len(found)
    # A lower stratum may have fewer places than were left for it.
    return np.append(found, order[~np.isin(order, found)][:left])


def weights_of(strata: Places, looked_at: Places) -> NDArray[np.float64] | None:
    """Return how many places each that was looked at stands for; None where a stratum has none."""
    sizes, seen = (np.bincount(it, minlength=KNOWN + 1) for it in (strata, strata[looked_at]))
    if ((sizes > 0) & (seen == 0)).any():
        return None
    weights: NDArray[np.float64] = (sizes / np.maximum(seen, 1))[strata[looked_at]]
    return weights


def wrong_share(
    strata: Places,
    looked_at: Places,
    wrong: NDArray[np.bool_],
    documents: Places,
    level: float | None,
) -> Share:
    """Return the share of places at which this ground truth is wrong, and its interval.

    Of each stratum that was not looked at as a whole, one place more is thought of, the heaviest:
    wrong for the upper end; right for the lower one, where all that were looked at are wrong.

    Args:
        strata: of all places.
        looked_at: places with a verdict.
        wrong: of these, whether the ground truth is wrong.
        documents: of all places, which document they are in: its verdicts count as one.
        level: of the interval; None for none.

    Source:
        Cochran (1977), Sampling Techniques, sections 5.3 and 9.2, for strata and clusters;
        docs/auditing.md has what this holds in simulations.
    """
    weights = weights_of(strata, looked_at)
    if weights is None or not len(looked_at):
        return Share(None, None)
    whole, share, off = len(strata), 0.0, np.zeros(len(looked_at))
    unseen_wrong = unseen_right = 0.0
    for stratum in np.unique(strata):
        its = strata[looked_at] == stratum
        number, weight, among = int(its.sum()), float(weights[its][0]), float(wrong[its].mean())
        share += among * number * weight / whole
        left = 1 - 1 / weight
        off[its] = (wrong[its] - among) * weight * sqrt(left * number / max(number - 1, 1))
        unseen_wrong = max(unseen_wrong, weight * sqrt(left))
        if among == 1:
            unseen_right = max(unseen_right, weight * sqrt(left))
    if level is None:
        return Share(share, None)
    of_documents = np.bincount(documents[looked_at], off)
    variance = float(of_documents @ of_documents) / whole**2
    more = np.array([-unseen_right, unseen_wrong]) / whole
    tails = ((1 - level) / 2, (1 + level) / 2)
    lower, upper = (
        _beta_end(min(max(share + it, 0.0), 1.0), variance + it**2, tail)
        for it, tail in zip(more.tolist(), tails, strict=True)
    )
    return Share(share, [min(lower, share), max(upper, share)])


def _beta_end(mean: float, variance: float, tail: float) -> float:
    """Return the percentile of the beta distribution of a mean and a variance."""
    as_many = mean * (1 - mean) / variance - 1 if variance else 0.0
    if as_many <= 0:
        return mean
    first, second = np.array([mean * as_many]), np.array([(1 - mean) * as_many])
    return float(beta_percentiles(first, second, tail)[0])
