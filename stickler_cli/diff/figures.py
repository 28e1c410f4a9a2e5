"""What a figure of a run was, what it is, and whether it changed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import Path
from stickler_cli.diff.changes import Change, Decision, DiffSettings, Verdict
from stickler_cli.diff.pairing import Counted
from stickler_cli.diff.resampling import change_intervals
from stickler_cli.diff.significance import (
    Sample,
    holm,
    is_enumerated,
    p_values,
    quotients,
    smallest_p,
)
from stickler_cli.score.intervals import Interval
from stickler_cli.score.tally import READINGS

F1 = "f1"
SCORE = "score"


_ERRORS = [Outcome.FD, Outcome.FA, Outcome.FN]


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that a run is measured by."""

    path: Path
    reading: str
    metric: str


WHOLE = (*(Figure((), reading, F1) for reading in READINGS), Figure((), "", SCORE))
"""What is told of whole documents; the first of them is the headline."""


def change_of(counted: Counted, figure: Figure) -> float | None:
    """Give the change of a figure, rounded once: from 0.90 to 0.89 it is -0.01."""
    before, after = counted.exact(figure.path, figure.reading, figure.metric)
    return None if before is None or after is None else float(after - before)


def changes(figures: Sequence[Figure], counted: Counted, settings: DiffSettings) -> list[Change]:
    """Tell what became of some figures; those of fields are corrected for being many."""
    samples = [counted.sample(it.path, it.reading, it.metric) for it in figures]
    intervals = change_intervals(samples, counted.ids, settings.intervals)
    p = p_values(samples, settings.intervals.seed)
    corrected = list(p)
    fields = [place for place, figure in enumerate(figures) if figure.path]
    for place, value in zip(
        fields,
        corrected_p([samples[place] for place in fields], [p[place] for place in fields], settings),
        strict=True,
    ):
        corrected[place] = value
    return [
        _change(figure, sample, _Evidence(interval, *ps), counted, settings)
        for figure, sample, interval, *ps in zip(
            figures, samples, intervals, p, corrected, strict=True
        )
    ]


def corrected_p(
    samples: Sequence[Sample], p: Sequence[float], settings: DiffSettings
) -> list[float]:
    """Correct the p values of fields.

    A field in which so few documents differ that it could not be significant by itself makes no
    false alarm, so it does not count as one of many; its own p is corrected as if it did.

    Source: Tarone (1990), doi:10.2307/2531456.
    """
    family = [
        place
        for place, sample in enumerate(samples)
        if smallest_p(sample.differing) <= settings.alpha
    ]
    corrected = [min(1.0, (len(family) + 1) * value) for value in p]
    for place, value in zip(family, holm([p[place] for place in family]), strict=True):
        corrected[place] = value
    return corrected


@dataclass(frozen=True, slots=True)
class _Evidence:
    interval: Interval | None
    p: float
    corrected_p: float


def _change(
    figure: Figure, sample: Sample, evidence: _Evidence, counted: Counted, settings: DiffSettings
) -> Change:
    before, after = (
        None if value is None else float(value)
        for value in counted.exact(figure.path, figure.reading, figure.metric)
    )
    verdict, decision = verdict_of(sample, evidence.interval, evidence.corrected_p, settings)
    broken, fixed = _broken_and_fixed(counted, figure) if figure.path else (0, 0)
    change = change_of(counted, figure)
    return Change(
        path=figure.path,
        reading=figure.reading,
        metric=figure.metric,
        before=before,
        after=after,
        change=change,
        interval=evidence.interval if change is not None else None,
        p=evidence.p if sample.documents else None,
        corrected_p=evidence.corrected_p if sample.documents else None,
        verdict=verdict,
        decided_by=decision,
        documents=sample.documents,
        differing=sample.differing,
        broken=broken,
        fixed=fixed,
    )


def verdict_of(
    sample: Sample, interval: Interval | None, corrected_p: float, settings: DiffSettings
) -> tuple[Verdict, Decision]:
    """Decide what became of a figure, and say on what grounds."""
    if corrected_p <= settings.alpha:
        decision = Decision.EXACT if is_enumerated(sample) else Decision.SAMPLED
        before, after = quotients(
            np.stack([sample.before.sum(axis=1), sample.after.sum(axis=1)], 1)
        )
        return (Verdict.REGRESSED if after < before else Verdict.IMPROVED), decision
    if smallest_p(sample.documents) > settings.alpha or interval is None:
        return Verdict.UNCLEAR, Decision.DOCUMENTS
    inside = -settings.margin <= interval.lower and interval.upper <= settings.margin
    return (Verdict.UNCHANGED if inside else Verdict.UNCLEAR), Decision.INTERVAL


def _broken_and_fixed(counted: Counted, figure: Figure) -> tuple[int, int]:
    """Count the documents in which a field broke, and was fixed; those that say nothing do not."""
    counts = counted.counts(figure.path, READINGS[0])
    wrong: NDArray[np.bool_] = np.asarray(counts[:, _ERRORS].any(axis=1))
    right = np.logical_and(counts.any(axis=1), ~wrong)
    return int((right[0] & wrong[1]).sum()), int((wrong[0] & right[1]).sum())
