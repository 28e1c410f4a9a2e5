"""What is said of changes whose true size is known: by intervals, by tests, of one run and several.

The functions that judge changes are called on counts, as in coverage.py.
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
Both: TypeAlias = tuple[Floats, Floats]
"""The share of values that documents are expected to have right in one run, and in the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """A way in which two runs differ."""

    name: str
    shares: Callable[[np.random.Generator, int], Both]
    true: float
    """The true change of F1."""


def _bad(before: float, after: float) -> Callable[[np.random.Generator, int], Both]:
    """Draw documents that are wholly bad with these chances, in each run by itself."""
    return lambda random, number: (
        (random.random(number) >= before).astype(float),
        (random.random(number) >= after).astype(float),
    )


def _break(share: float) -> Callable[[np.random.Generator, int], Both]:
    """Draw documents of which some are right in the first run and wholly wrong in the second."""
    return lambda random, number: (
        np.ones(number),
        (random.random(number) >= share).astype(float),
    )


def _values(before: float, after: float) -> Callable[[np.random.Generator, int], Both]:
    return lambda _, number: (np.full(number, before), np.full(number, after))


def f1(right: float) -> float:
    """Return F1 where so large a share is right, and the rest is false discoveries."""
    return 2 * right / (1 + right)


SHIFTS: Final = (
    Shift("none; 2% of values wrong", _values(0.98, 0.98), 0.0),
    Shift("none; 2% of documents wholly bad", _bad(0.02, 0.02), 0.0),
    Shift("none; no errors at all", _values(1, 1), 0.0),
    Shift("2% of documents break", _break(0.02), f1(0.98) - 1),
    Shift("10% of documents break", _break(0.1), f1(0.9) - 1),
    Shift("10% to 15% of values wrong", _values(0.9, 0.85), f1(0.85) - f1(0.9)),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of many differences of some documents."""

    shift: str
    documents: int
    covered: float
    """The share of intervals that hold the true change."""
    width: float
    """The mean width of intervals."""
    changed: float
    """The share of differences that are called improved or regressed."""
    unchanged: float
    """The share that are called unchanged, or identical."""


def judged(
    documents: int, repetitions: int, seed: int, shifts: Sequence[Shift] = SHIFTS
) -> list[Judged]:
    """Make many differences of each kind, and see what is said of them."""
    random, settings = np.random.default_rng(seed), TrendSettings()
    held, width, changed, same = np.zeros((4, len(shifts)))
    for repetition in range(repetitions):
        names = [f"{repetition}/{document}" for document in range(documents)]
        samples = [
            sample([random.binomial(VALUES, [share]) for share in shift.shares(random, documents)])
            for shift in shifts
        ]
        intervals = change_intervals(samples, names, settings.intervals)
        p = p_values(samples, names, settings.intervals)
        for at, (one, interval) in enumerate(zip(samples, intervals, strict=True)):
            if interval is None:
                continue
            held[at] += interval.lower - 1e-9 <= shifts[at].true <= interval.upper + 1e-9
            width[at] += interval.upper - interval.lower
            trend, _ = trend_of(one, interval, p[at], settings)
            changed[at] += trend in {Trend.IMPROVED, Trend.REGRESSED}
            same[at] += trend in {Trend.UNCHANGED, Trend.IDENTICAL}
    figures = np.stack([held, width, changed, same], axis=1) / repetitions
    return [
        Judged(shift.name, documents, *map(float, row))
        for shift, row in zip(shifts, figures, strict=True)
    ]


def sample(sides: Sequence[NDArray[np.int64]]) -> Sample:
    """Return what F1 is made of, of how many values are right: (runs, documents) of either side."""
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
OF_RUNS: Final = 100  # documents
_SMALL, _LARGE = 0.15, 0.4  # of the logit; F1 then has a standard deviation of 0.009 or 0.024


@dataclass(frozen=True, slots=True)
class Systems:
    """Two systems whose runs differ from each other."""

    name: str
    spread: tuple[float, float]
    """How much the errors of either one's runs vary: a standard deviation of their logit."""
    better: float = 0.0
    """By how much the second one is better, on the same scale."""


SYSTEMS: Final = (
    Systems("the same system, runs alike", (0, 0)),
    Systems("the same, F1 moves by 0.01", (_SMALL, _SMALL)),
    Systems("the same, F1 moves by 0.024", (_LARGE, _LARGE)),
    Systems("as good, the first one moves by 0.024", (_LARGE, 0)),
    Systems("better by 0.027, runs alike", (0, 0), 0.6),
    Systems("better by 0.027, F1 moves by 0.01", (_SMALL, _SMALL), 0.6),
)


def significant(systems: Systems, runs: tuple[int, int], repetitions: int, seed: int) -> float:
    """Return the share of differences between two systems that the test calls significant."""
    random, found = np.random.default_rng(seed), 0
    for repetition in range(repetitions):
        documents = -2.3 + random.normal(0, 1, OF_RUNS)  # some are harder: 10% of values wrong
        sides = []
        for side, number in enumerate(runs):
            shift = random.normal(0, systems.spread[side], (number, 1)) - side * systems.better
            wrong = 1 / (1 + np.exp(-(documents + shift)))
            sides.append(random.binomial(VALUES, 1 - wrong))
        names = [f"{repetition}/{document}" for document in range(OF_RUNS)]
        (p,) = p_values([sample(sides)], names, IntervalSettings())
        found += p <= TrendSettings(IntervalSettings()).alpha
    return found / repetitions


def measure(seed: int, repetitions: int = REPETITIONS) -> list[Report]:
    """Simulate differences of runs of few and of many documents, and of several runs."""
    cells = {
        (cell.shift, cell.documents): cell
        for documents in DOCUMENTS
        for cell in judged(documents, repetitions, seed)
    }
    of_changes = [
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
        (each.name, runs): significant(each, runs, repetitions, seed)
        for each in SYSTEMS
        for runs in RUNS
    }
    names = [" and ".join(map(str, runs)) for runs in RUNS]
    of_runs = Report(
        "Differences between systems called significant",
        ("systems", *(f"{name} runs" for name in names)),
        [[each.name, *(f"{shares[each.name, runs]:.2f}" for runs in RUNS)] for each in SYSTEMS],
        [
            {"systems": name, "runs": runs, "significant": share}
            for (name, runs), share in shares.items()
        ],
        notes=(f"Of {repetitions} simulated differences over {OF_RUNS} documents.",),
    )
    return [*of_changes, of_runs]


def _table(
    cells: Mapping[tuple[str, int], Judged], title: str, shown: Callable[[Judged], str], note: str
) -> Report:
    rows = [
        [shift.name, *(shown(cells[shift.name, number]) for number in DOCUMENTS)]
        for shift in SHIFTS
    ]
    columns = ("change", *(f"{number:,} documents" for number in DOCUMENTS))
    return Report(title, columns, rows, [asdict(cell) for cell in cells.values()], notes=(note,))
