"""How far a change could be off because other documents might have come: a paired bootstrap.

A document has the same weights in both runs, those of the intervals of a single run: they depend
on nothing but its id and the seed.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.diff.significance import Sample, quotients
from stickler_cli.score.intervals import Interval, IntervalSettings, percentiles, weights

CHUNK: Final = 256
"""Documents that are resampled at once: one matrix product for all figures."""


def change_intervals(
    samples: Sequence[Sample], documents: Sequence[str], settings: IntervalSettings
) -> list[Interval | None]:
    """Give the confidence interval of the change of every figure.

    Args:
        samples: of these documents.
        documents: ids, all different.
        settings: as for the intervals of a run.

    Returns:
        The percentiles of the changes over the replicates; None where too many replicates have
        nothing to divide by.
    """
    if not samples:
        return []
    parts = np.concatenate([part for sample in samples for part in (sample.before, sample.after)])
    sums = np.zeros((len(parts), settings.replicates))
    for start in range(0, len(documents), CHUNK):
        drawn = weights(documents[start : start + CHUNK], settings)
        sums += parts[:, start : start + CHUNK] @ drawn.astype(np.float64)
    four_each = sums.reshape(len(samples), 4, settings.replicates)
    return percentiles([_changes(four) for four in four_each], settings.level)


def _changes(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Give the change in every replicate, and whether there is one."""
    change = quotients(sums[2:]) - quotients(sums[:2])
    return change, (sums[1] > 0) & (sums[3] > 0)
