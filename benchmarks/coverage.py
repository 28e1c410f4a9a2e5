"""How often intervals hold the true value, for kinds of errors whose true rate is known.

The functions that make intervals are called on counts: ten thousand runs would take days.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Report
from stickler_cli.score.intervals import Interval, IntervalSettings, Spread, rate_intervals, size_of

DOCUMENTS: Final = (5, 10, 30, 100, 300, 1000)
REPETITIONS: Final = 400
MEAN_SIZE: Final = 10

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, Counts], Floats]
"""From the sizes of documents to the share of values that each is expected to have right."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """A kind of errors in documents of some kind."""

    name: str
    share: Draw
    sizes: Callable[[np.random.Generator, int], Counts]

    def documents(self, random: np.random.Generator, number: int) -> tuple[Counts, Counts]:
        """Draw so many documents: how many values each has, and how many of those are right."""
        sizes = self.sizes(random, number)
        return sizes, random.binomial(sizes, self.share(random, sizes))

    @property
    def f1(self) -> float:
        """The true F1: of what many documents are expected to have right."""
        random = np.random.default_rng(0)
        sizes = self.sizes(random, 2_000_000)
        right = float(self.share(random, sizes) @ sizes / sizes.sum())
        return 2 * right / (1 + right)  # each error is a false discovery, not counted by recall


def _alike(_: np.random.Generator, number: int) -> Counts:
    return np.full(number, MEAN_SIZE)


def _unlike(random: np.random.Generator, number: int) -> Counts:
    return random.geometric(1 / MEAN_SIZE, number)


def _some_huge(random: np.random.Generator, number: int) -> Counts:
    return np.ceil(random.lognormal(1.5, 1.2, number)).astype(np.int64)


def _independent(share: float) -> Draw:
    return lambda _, sizes: np.full(len(sizes), share)


def _together(share: float) -> Draw:
    """Values of a document are nearly all right or nearly all wrong."""
    return lambda random, sizes: random.beta(share, 1 - share, len(sizes))


def _wholly(share: float) -> Draw:
    return lambda random, sizes: (random.random(len(sizes)) < share).astype(float)


def _worse_if_large(_: np.random.Generator, sizes: Counts) -> Floats:
    shares: Floats = np.maximum(0.3, 1 - 0.002 * sizes)
    return shares


KINDS: Final = (
    Errors("independent, 10% of values", _independent(0.90), _alike),
    Errors("independent, 2% of values", _independent(0.98), _alike),
    Errors("correlated, 2% of values", _together(0.98), _alike),
    Errors("10% of documents wholly bad", _wholly(0.90), _alike),
    Errors("2% of documents wholly bad", _wholly(0.98), _alike),
    Errors("2% wholly bad, unequal sizes", _wholly(0.98), _unlike),
    Errors("2% wholly bad, some huge", _wholly(0.98), _some_huge),
    Errors("the larger the worse, some huge", _worse_if_large, _some_huge),
)

EXTREME: Final = (
    Errors("independent, 0.1% of values", _independent(0.999), _alike),
    Errors("0.3% of documents wholly bad", _wholly(0.997), _alike),
    Errors("independent, 99.9% of values", _independent(0.001), _alike),
    Errors("99.5% of documents wholly bad", _wholly(0.005), _unlike),
)
"""Rates near 0 and 1, where the normal distribution of the textbook fails."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What came of the intervals of many runs of some documents."""

    kind: str
    documents: int
    covered: float
    """The share of intervals that hold the true value."""
    width: float
    """The mean width of intervals."""


def covered(
    documents: int, repetitions: int, seed: int, kinds: Sequence[Errors] = KINDS
) -> list[Covered]:
    """Make the interval of F1 of many runs of each kind, and see how many hold the true one."""
    random, settings = np.random.default_rng(seed), IntervalSettings()
    held, width = np.zeros(len(kinds)), np.zeros(len(kinds))
    true = [kind.f1 for kind in kinds]
    for _ in range(repetitions):
        runs = [kind.documents(random, documents) for kind in kinds]
        for at, interval in enumerate(_intervals(runs, settings)):
            held[at] += interval.lower <= true[at] <= interval.upper
            width[at] += interval.upper - interval.lower
    held, width = held / repetitions, width / repetitions
    return [
        Covered(kind.name, documents, float(held[at]), float(width[at]))
        for at, kind in enumerate(kinds)
    ]


def _intervals(runs: Sequence[tuple[Counts, Counts]], settings: IntervalSettings) -> list[Interval]:
    spreads = []
    for sizes, right in runs:
        good, bad = 2.0 * right, (sizes - right).astype(float)
        size = size_of(sizes.size, float((good + bad) @ (good + bad)))
        sums = float(good.sum()), float(bad.sum())
        spreads.append(Spread(*sums, float(good @ good), float(good @ bad), float(bad @ bad), size))
    return [interval for interval in rate_intervals(spreads, settings.level) if interval]


def measure(seed: int, repetitions: int = REPETITIONS) -> Report:
    """Simulate runs of few and of many documents, with errors that come alone and together."""
    cells = {
        (cell.kind, cell.documents): cell
        for documents in DOCUMENTS
        for kinds in (KINDS, EXTREME)
        for cell in covered(documents, repetitions, seed, kinds)
    }
    rows = [
        [kind.name, *(_shown(cells[kind.name, number]) for number in DOCUMENTS)]
        for kind in (*KINDS, *EXTREME)
    ]
    return Report(
        "Coverage of 95% intervals of F1",
        ("errors", *(f"{number:,} documents" for number in DOCUMENTS)),
        rows,
        [
            {"errors": cell.kind, "documents": cell.documents}
            | {"covered": cell.covered, "width": cell.width}
            for cell in cells.values()
        ],
        notes=(
            (
                f"The share of {repetitions} simulated runs whose interval holds the true F1, and"
                f" the mean width of intervals. Documents have {MEAN_SIZE} values, those of unequal"
                " sizes on average."
            ),
        ),
    )


def _shown(cell: Covered) -> str:
    return f"{cell.covered:.2f} ({cell.width:.3f})"
