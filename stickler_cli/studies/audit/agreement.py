"""Agreement of runs among themselves, votes against the ground truth, and runs that go together."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import JsonValue
from .witnesses import NOT_THERE

Groups = NDArray[np.uint8]
"""By place and run, the group that its answer is in: 0 agrees with the ground truth."""
Counts = NDArray[np.int64]

ALL_PAIRS: Final = 300  # distinct values of a field of which all pairs are compared
_DRAWN: Final = 20_000  # pairs of values, of more: the chance of a match is then off by 0.004
_TIMES: Final = 3  # as many shared answers as other pairs of runs have are far more than chance
_FEWEST: Final = 10  # shared answers, below which nothing is said


def votes_and_against(groups: Groups) -> tuple[Counts, Counts]:
    """Return how many runs give the same other answer, and how many agree with the ground truth."""
    sizes = _sizes(groups)
    return sizes[1:].max(axis=0), sizes[0]


def rarity(groups: Groups, fields: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often the runs that vote at each place differ in its field, on average."""
    said, first = groups < NOT_THERE, np.argmax(_sizes(groups)[1:], axis=0) + 1
    voting, rates = groups == first[:, np.newaxis], np.zeros(groups.shape)
    for run, known in enumerate(said.T):
        other = np.bincount(fields, known & (groups[:, run] > 0))
        rates[:, run] = (other / np.maximum(np.bincount(fields, known), 1))[fields]
    found: NDArray[np.float64] = (voting * rates).sum(axis=1) / np.maximum(voting.sum(axis=1), 1)
    return found


def _sizes(groups: Groups) -> Counts:
    """Return how many runs are in each group, (groups, places)."""
    most = int(groups[groups < NOT_THERE].max(initial=0))
    sizes: Counts = np.array([(groups == it).sum(axis=1) for it in range(max(most, 1) + 1)])
    return sizes


def agreement(groups: Groups) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return the parts of shares that each place adds, above and below their line.

    These are places on which all agree, pairs of runs that agree, and the answers that are
    observed to agree, as alpha counts them: all of places where two runs or more say something.
    """
    sizes = _sizes(groups)
    there = sizes.sum(axis=0)
    both = there > 1
    pairs, alike = there * (there - 1), (sizes * (sizes - 1)).sum(axis=0)
    observed = np.where(both, alike / np.maximum(there - 1, 1), 0.0)
    return {
        "agreement": (both & (sizes.max(axis=0) == there), both),
        "pairwise": (alike // 2, pairs // 2),
        "observed": (observed, np.where(both, there, 0)),
    }


def chance_of_difference(
    values: Sequence[JsonValue],
    counts: Sequence[int],
    same: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Sequence[bool]],
    seed: int,
) -> float:
    """Return the share of pairs of answers of a field that differ, whatever places they are of.

    `counts` is how often each of the distinct values occurs; None among them is an absent one.

    Source:
        Krippendorff (2004), Content Analysis, chapter 11: the disagreement that is expected.
    """
    times = np.array(counts, np.int64)
    whole = int(times.sum())
    if len(values) < 2:
        return 0.0
    if len(values) <= ALL_PAIRS:
        one, other = np.triu_indices(len(values), 1)
        weights = times[one] * times[other]
    else:
        random, ends = np.random.default_rng(seed), np.cumsum(times)
        drawn = np.searchsorted(ends, random.integers(0, whole, (2, _DRAWN)), side="right")
        one, other = drawn[:, drawn[0] != drawn[1]]
        weights = np.ones(len(one), np.int64)
    ones, others = ([values[it] for it in its.tolist()] for its in (one, other))
    alike = np.array(same(ones, others), np.bool_)
    repeated = float((times * (times - 1)).sum()) / (whole * (whole - 1))
    return (1 - repeated) * (1 - float(np.average(alike, weights=weights)))


def runs_that_share(groups: Groups) -> list[list[int]]:
    """Return for each run those with which it shares other answers far more often than others do.

    Looked at are places at which two runs alone give an answer: a ground truth that is wrong is
    contradicted by more. Of two runs nothing can be said.
    """
    found: list[list[int]] = [[] for _ in groups.T]
    shared = {}
    for one, other in combinations(range(len(found)), 2):
        its = groups[:, one]
        both = (its == groups[:, other]) & (its > 0) & (its < NOT_THERE)
        alone = (groups == its[:, np.newaxis]).sum(axis=1) == 2
        shared[one, other] = int((both & alone).sum())
    for (one, other), times in shared.items():
        others = [count for pair, count in shared.items() if pair != (one, other)]
        if others and times >= _FEWEST and times > _TIMES * (float(np.median(others)) + 1):
            found[one].append(other)
            found[other].append(one)
    return found
