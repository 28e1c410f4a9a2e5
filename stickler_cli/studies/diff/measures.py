"""What a figure of a run was, what it is, and whether it changed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stickler_cli.score.gates import SCORE
from stickler_cli.score.intervals import Interval
from stickler_cli.score.tally import COUNTING_MODES
from stickler_cli.settings.deciding import Counting
from .changes import F1, WHOLLY_RIGHT, Change, Decision, DiffSettings, Figure, Trend, excludes_zero
from .counted_runs import LOST, Counted
from .significance import (
    Sample,
    change_intervals,
    holm,
    is_enumerated,
    p_values,
    smallest_p,
)
from .spread import variance_of_runs


def figures_of_whole(counting: Counting) -> list[Figure]:
    """Return the figures of whole documents: F1 as it is read first, which is the headline."""
    modes = sorted(COUNTING_MODES, key=lambda mode: mode != counting)
    of_documents = (Figure((), "", metric) for metric in (SCORE, WHOLLY_RIGHT))
    return [*(Figure((), mode, F1) for mode in modes), *of_documents]


def changes(figures: Sequence[Figure], counted: Counted, settings: DiffSettings) -> list[Change]:
    """Return what became of some figures; those of fields are corrected for being many."""
    samples = [counted.sample(figure) for figure in figures]
    intervals = change_intervals(samples, counted.ids, settings.intervals)
    p = p_values(samples, settings.intervals.seed)
    fields = [place for place, figure in enumerate(figures) if figure.path]
    chosen = [samples[place] for place in fields], [p[place] for place in fields]
    of_fields = dict(zip(fields, corrected_p(*chosen, settings), strict=True))
    corrected = dict(enumerate(p)) | of_fields
    found = []
    for place, (figure, sample) in enumerate(zip(figures, samples, strict=True)):
        before, after = (None if value is None else float(value) for value in counted.exact(figure))
        change = counted.change(figure)
        trend, decision = trend_of(sample, intervals[place], corrected[place], settings)
        broken, fixed = _broken_and_fixed(counted, figure) if figure.path else (0, 0)
        found.append(
            Change(
                figure.path,
                figure.mode,
                figure.metric,
                before,
                after,
                change,
                interval=None if change is None else intervals[place],
                p=p[place] if sample.documents else None,
                corrected_p=corrected[place] if sample.documents else None,
                trend=trend,
                decided_by=decision,
                documents=sample.documents,
                differing=sample.differing,
                broken=broken,
                fixed=fixed,
                runs_before=[*sample.runs[0]],
                runs_after=[*sample.runs[1]],
            )
        )
    return found


def corrected_p(
    samples: Sequence[Sample], p: Sequence[float], settings: DiffSettings
) -> list[float]:
    """Return the p values of fields, corrected for being many.

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


def trend_of(
    sample: Sample, interval: Interval | None, corrected_p: float, settings: DiffSettings
) -> tuple[Trend, Decision]:
    """Return what became of a figure, and on what grounds."""
    alike = len({*sample.runs[0], *sample.runs[1]}) <= 1
    if alike and not sample.differing:
        return Trend.IDENTICAL, Decision.EQUAL
    tested = Decision.EXACT if is_enumerated(sample) else Decision.SAMPLED
    if variance_of_runs(sample.runs) is not None:
        tested = Decision.RUNS
    better, enough = sample.change > 0, smallest_p(sample.documents) <= settings.alpha
    return trend_by(corrected_p, interval, settings, tested, better=better, enough=enough)


def trend_by(  # noqa: PLR0913 - what a trend rests on
    p: float,
    interval: Interval | None,
    settings: DiffSettings,
    tested: Decision,
    *,
    better: bool,
    enough: bool,
) -> tuple[Trend, Decision]:
    """Return a trend, and on what grounds: a change needs test and interval to agree.

    Without anything to divide by in one of the runs there is no interval, and the test decides.
    `tested` is how p was made, `enough` whether there are documents enough for any test.
    """
    margin, by_interval = settings.margin, excludes_zero(interval)
    inside = interval is not None and -margin <= interval.lower and interval.upper <= margin
    by_test = p <= settings.alpha and not inside
    if by_test and (by_interval or interval is None):
        return (Trend.IMPROVED if better else Trend.REGRESSED), tested
    if not enough or interval is None:
        return Trend.UNCLEAR, Decision.DOCUMENTS
    if inside:
        return Trend.UNCHANGED, Decision.INTERVAL
    if by_test:
        return Trend.UNCLEAR, Decision.TEST_ALONE
    return Trend.UNCLEAR, Decision.INTERVAL_ALONE if by_interval else Decision.INTERVAL


def right_and_wrong(
    counted: Counted, figure: Figure
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return in which runs and documents a field has values and no error, and has errors."""
    counts = counted.of_runs(figure.path, figure.mode)
    wrong: NDArray[np.bool_] = np.asarray(counts[:, LOST].any(axis=1))
    return np.logical_and(counts.any(axis=1), ~wrong), wrong


def _broken_and_fixed(counted: Counted, figure: Figure) -> tuple[int, int]:
    """Return in how many documents a field broke, and was fixed; some say nothing of it.

    Of several runs, it is what it was in more than half of them.
    """
    right, wrong = right_and_wrong(counted, figure)
    first = counted.sides[0]

    def mostly(what: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return what[:first].mean(axis=0) > 0.5, what[first:].mean(axis=0) > 0.5

    (right_before, right_after), (wrong_before, wrong_after) = mostly(right), mostly(wrong)
    return int((right_before & wrong_after).sum()), int((wrong_before & right_after).sum())
