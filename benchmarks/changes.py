"""Simulate changes of known size, and check the intervals and tests of `stickler diff`.

The simulation calls the functions that judge changes on counts, as coverage.py does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import lcm
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Report
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.studies.diff.measures import trend_of
from stickler_cli.studies.diff.record import Trend, TrendSettings
from stickler_cli.studies.diff.significance import Sample, change_intervals, p_values

DOCUMENTS: Final = (10, 30, 100, 300)
REPETITIONS: Final = 200
VALUES: Final = 10  # of each document

Floats: TypeAlias = NDArray[np.float64]
Shares: TypeAlias = tuple[Floats, Floats]
"""The expected share of right values in each document, as (first run, second run); each is an
array, (n_documents,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """A way in which two runs differ."""

    name: str
    shares: Callable[[np.random.Generator, int], Shares]
    true: float
    """The true change of F1."""


def _draw_bad_documents(
    before: float, after: float
) -> Callable[[np.random.Generator, int], Shares]:
    """Draw documents in which all values are wrong, with one probability for each run.

    A document is bad with probability `before` in the first run, and independently with probability
    `after` in the second run.
    """
    return lambda random, number: (
        (random.random(number) >= before).astype(float),
        (random.random(number) >= after).astype(float),
    )


def _draw_breaking_documents(share: float) -> Callable[[np.random.Generator, int], Shares]:
    """Draw documents that are right in the first run; in the second, a share is wholly wrong."""
    return lambda random, number: (
        np.ones(number),
        (random.random(number) >= share).astype(float),
    )


def _draw_wrong_values(before: float, after: float) -> Callable[[np.random.Generator, int], Shares]:
    return lambda _, number: (np.full(number, before), np.full(number, after))


def f1(right: float) -> float:
    """Compute F1 from the share of right values, if all other values are false discoveries."""
    return 2 * right / (1 + right)


SHIFTS: Final = (
    Shift("none; 2% of values wrong", _draw_wrong_values(0.98, 0.98), 0.0),
    Shift("none; 2% of documents wholly bad", _draw_bad_documents(0.02, 0.02), 0.0),
    Shift("none; no errors at all", _draw_wrong_values(1, 1), 0.0),
    Shift("2% of documents break", _draw_breaking_documents(0.02), f1(0.98) - 1),
    Shift("10% of documents break", _draw_breaking_documents(0.1), f1(0.9) - 1),
    Shift("10% to 15% of values wrong", _draw_wrong_values(0.9, 0.85), f1(0.85) - f1(0.9)),
)


@dataclass(frozen=True, slots=True)
class ChangeFigures:
    """How many simulated differences of one kind are judged, and how wide their intervals are."""

    shift: str
    documents: int
    covered: float
    """Share of intervals that contain the true change."""
    width: float
    """Mean width of intervals."""
    changed: float
    """Share of differences that are called improved or regressed."""
    unchanged: float
    """Share of differences that are called unchanged or identical."""


def simulate_changes(
    documents: int, repetitions: int, seed: int, shifts: Sequence[Shift] = SHIFTS
) -> list[ChangeFigures]:
    """Simulate many differences between two runs, and count how they are judged.

    Return the figures of each kind of shift, in the order of `shifts`.
    """
    random, settings = np.random.default_rng(seed), TrendSettings()
    n_covering, width, changed, unchanged = np.zeros((4, len(shifts)))
    for repetition in range(repetitions):
        names = [f"{repetition}/{document}" for document in range(documents)]
        samples = [
            make_sample(
                [random.binomial(VALUES, [share]) for share in shift.shares(random, documents)]
            )
            for shift in shifts
        ]
        intervals = change_intervals(samples, names, settings.intervals)
        p = p_values(samples, names, settings.intervals)
        for index, (change, interval) in enumerate(zip(samples, intervals, strict=True)):
            if interval is None:
                continue
            n_covering[index] += (
                interval.lower - 1e-9 <= shifts[index].true <= interval.upper + 1e-9
            )
            width[index] += interval.upper - interval.lower
            trend, _ = trend_of(change, interval, p[index], settings)
            changed[index] += trend in {Trend.IMPROVED, Trend.REGRESSED}
            unchanged[index] += trend in {Trend.UNCHANGED, Trend.IDENTICAL}
    figures = np.stack([n_covering, width, changed, unchanged], axis=1) / repetitions
    return [
        ChangeFigures(shift.name, documents, *map(float, row))
        for shift, row in zip(shifts, figures, strict=True)
    ]


def make_sample(sides: Sequence[NDArray[np.int64]]) -> Sample:
    """Return the sums from which the change of F1 is computed.

    `sides` has two arrays, for the first and the second system. Each array has the number of right
    values in every run and document, (n_runs, n_documents).
    """
    times = lcm(*(len(side) for side in sides))
    before, after = (
        (times // len(side) * np.stack([2 * side, side + VALUES], axis=1).sum(axis=0)).astype(float)
        for side in sides
    )
    of_runs, of_others = (
        [float(2 * right.sum() / (right + VALUES).sum()) for right in side] for side in sides
    )
    return Sample(before, after, (of_runs, of_others))


RUNS: Final = ((1, 1), (1, 3), (2, 2), (3, 3), (5, 5))
RUN_DOCUMENTS: Final = 100  # documents
_SMALL, _LARGE = 0.15, 0.4  # of the logit; F1 then has a standard deviation of 0.009 or 0.024


@dataclass(frozen=True, slots=True)
class Systems:
    """Two systems whose runs differ from each other."""

    name: str
    spread: tuple[float, float]
    """How much repeated runs of a system differ, as (first system, second system): the standard
    deviation of the logit of the error rate."""
    better: float = 0.0
    """By how much the logit of the error rate of the second system is lower."""


SYSTEMS: Final = (
    Systems("the same system, runs alike", (0, 0)),
    Systems("the same, F1 moves by 0.01", (_SMALL, _SMALL)),
    Systems("the same, F1 moves by 0.024", (_LARGE, _LARGE)),
    Systems("as good, the first one moves by 0.024", (_LARGE, 0)),
    Systems("better by 0.027, runs alike", (0, 0), 0.6),
    Systems("better by 0.027, F1 moves by 0.01", (_SMALL, _SMALL), 0.6),
)


def measure_significance(
    systems: Systems, runs: tuple[int, int], repetitions: int, seed: int
) -> float:
    """Return the share of differences between two systems that the test calls significant."""
    random, n_significant = np.random.default_rng(seed), 0
    for repetition in range(repetitions):
        documents = -2.3 + random.normal(
            0, 1, RUN_DOCUMENTS
        )  # some are harder: 10% of values wrong
        sides = []
        for side, number in enumerate(runs):
            shift = random.normal(0, systems.spread[side], (number, 1)) - side * systems.better
            wrong = 1 / (1 + np.exp(-(documents + shift)))
            sides.append(random.binomial(VALUES, 1 - wrong))
        names = [f"{repetition}/{document}" for document in range(RUN_DOCUMENTS)]
        (p,) = p_values([make_sample(sides)], names, IntervalSettings())
        n_significant += p <= TrendSettings(IntervalSettings()).alpha
    return n_significant / repetitions


def measure(seed: int, repetitions: int = REPETITIONS) -> list[Report]:
    """Simulate differences of runs of few and of many documents, and of several runs."""
    cells = {
        (cell.shift, cell.documents): cell
        for documents in DOCUMENTS
        for cell in simulate_changes(documents, repetitions, seed)
    }
    change_reports = [
        _table(
            cells,
            "Coverage of 95% intervals of the change of F1",
            lambda cell: f"{cell.covered:.2f} ({cell.width:.3f})",
            f"The share of {repetitions} simulated differences whose interval holds the true"
            " change, and the mean width of intervals.",
        ),
        _table(
            cells,
            "Changes called significant, and called unchanged",
            lambda cell: f"{cell.changed:.2f}, {cell.unchanged:.2f}",
            f"The share of {repetitions} simulated differences that are called improved or"
            " regressed, and the share called unchanged or identical.",
        ),
    ]
    shares = {
        (systems.name, runs): measure_significance(systems, runs, repetitions, seed)
        for systems in SYSTEMS
        for runs in RUNS
    }
    names = [" and ".join(map(str, runs)) for runs in RUNS]
    run_report = Report(
        title="Differences between systems called significant",
        columns=("systems", *(f"{name} runs" for name in names)),
        rows=[
            [systems.name, *(f"{shares[systems.name, runs]:.2f}" for runs in RUNS)]
            for systems in SYSTEMS
        ],
        record=[
            {"systems": name, "runs": runs, "significant": share}
            for (name, runs), share in shares.items()
        ],
        notes=(f"Of {repetitions} simulated differences over {RUN_DOCUMENTS} documents.",),
    )
    return [*change_reports, run_report]


def _table(
    cells: Mapping[tuple[str, int], ChangeFigures],
    title: str,
    render_cell: Callable[[ChangeFigures], str],
    note: str,
) -> Report:
    rows = [
        [shift.name, *(render_cell(cells[shift.name, number]) for number in DOCUMENTS)]
        for shift in SHIFTS
    ]
    columns = ("change", *(f"{number:,} documents" for number in DOCUMENTS))
    return Report(
        title=title,
        columns=columns,
        rows=rows,
        record=[asdict(cell) for cell in cells.values()],
        notes=(note,),
    )
