"""Simulate how often intervals contain the true value, for errors whose true rate is known.

The simulation calls the function that makes intervals on sums, since a hundred thousand runs would
take days. Other methods fail if few documents have errors or some documents are huge: the textbook
interval; Wilson's for an effective number of documents (doi:10.1080/01621459.1927.10502953); one of
log-odds; and Korn and Graubard's (1998), Survey Methodology 24(2), which comes nearest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Report
from stickler_cli.score.intervals import IntervalSettings, Spread, rate_intervals

DOCUMENTS: Final = (5, 10, 30, 100, 300, 1000)
REPETITIONS: Final = 1000
MEAN_SIZE: Final = 10
ENOUGH: Final = 10
"""Expected number of documents with errors from which on intervals must keep their promise."""

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = tuple[int, int]
Draw: TypeAlias = Callable[[np.random.Generator, Shape], tuple[Counts, Counts]]
"""Draws the values and the right values of each document; shape (runs, documents)."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """A kind of errors in a kind of documents."""

    name: str
    draw: Draw


@cache
def compute_truth(kind: Errors) -> tuple[float, float]:
    """Compute the true F1 and the share of documents with errors, from very many documents."""
    sizes, right = kind.draw(np.random.default_rng(0), (1, 4_000_000))
    share = float(right.sum() / sizes.sum())
    # Each error is a false discovery, not counted by recall.
    return 2 * share / (1 + share), round(float((right < sizes).mean()), 3)


def _equal_sizes(_: np.random.Generator, shape: Shape) -> Counts:
    return np.full(shape, MEAN_SIZE)


def _geometric_sizes(random: np.random.Generator, shape: Shape) -> Counts:
    return random.geometric(1 / MEAN_SIZE, shape)


def _heavy_tailed_sizes(random: np.random.Generator, shape: Shape) -> Counts:
    return np.ceil(random.lognormal(1.5, 1.2, shape)).astype(np.int64)


Sizes: TypeAlias = Callable[[np.random.Generator, Shape], Counts]


def _draw_independent(share: float, sizes: Sizes = _equal_sizes) -> Draw:
    def draw(random: np.random.Generator, shape: Shape) -> tuple[Counts, Counts]:
        values = sizes(random, shape)
        return values, random.binomial(values, share)

    return draw


def _draw_correlated(share: float) -> Draw:
    """Draw documents whose values are nearly all right or nearly all wrong."""

    def draw(random: np.random.Generator, shape: Shape) -> tuple[Counts, Counts]:
        values = _equal_sizes(random, shape)
        return values, random.binomial(values, random.beta(share, 1 - share, shape))

    return draw


def _draw_wholly_bad(share: float, sizes: Sizes = _equal_sizes, times: int = 1) -> Draw:
    """Draw documents that are wholly right or wholly wrong; wrong ones are `times` as large."""

    def draw(random: np.random.Generator, shape: Shape) -> tuple[Counts, Counts]:
        good, values = random.random(shape) < share, sizes(random, shape)
        return np.where(good, values, times * values), good * values

    return draw


def _draw_bad_items(share: float) -> Draw:
    """Draw items whose five values are right or wrong together; items of a document correlate."""

    def draw(random: np.random.Generator, shape: Shape) -> tuple[Counts, Counts]:
        items = random.geometric(0.5, shape)
        good = random.binomial(items, random.beta(4 * share, 4 - 4 * share, shape))
        return 5 * items, 5 * good

    return draw


def _draw_worse_if_large(random: np.random.Generator, shape: Shape) -> tuple[Counts, Counts]:
    values = _heavy_tailed_sizes(random, shape)
    return values, random.binomial(values, np.maximum(0.3, 1 - 0.002 * values))


def _three_values(_: np.random.Generator, shape: Shape) -> Counts:
    return np.full(shape, 3)


KINDS: Final = (
    Errors("independent, 10% of values", _draw_independent(0.90)),
    Errors("independent, 2% of values", _draw_independent(0.98)),
    Errors("correlated, 2% of values", _draw_correlated(0.98)),
    Errors("10% of documents wholly bad", _draw_wholly_bad(0.90)),
    Errors("2% of documents wholly bad", _draw_wholly_bad(0.98)),
    Errors("2% wholly bad, unequal sizes", _draw_wholly_bad(0.98, _geometric_sizes)),
    Errors("2% wholly bad, some huge", _draw_wholly_bad(0.98, _heavy_tailed_sizes)),
    Errors("10% wholly bad, ten times larger", _draw_wholly_bad(0.90, times=10)),
    Errors("2% wholly bad, ten times larger", _draw_wholly_bad(0.98, times=10)),
    Errors("the larger the worse, some huge", _draw_worse_if_large),
    Errors("5% of items bad, five values each", _draw_bad_items(0.95)),
    Errors("one field with three values, 5% wrong", _draw_independent(0.95, _three_values)),
    Errors("independent, 0.1% of values", _draw_independent(0.999)),
    Errors("0.3% of documents wholly bad", _draw_wholly_bad(0.997)),
    Errors("independent, 99.9% of values", _draw_independent(0.001)),
    Errors("99.5% wholly bad, unequal sizes", _draw_wholly_bad(0.005, _geometric_sizes)),
    Errors("no errors", _draw_independent(1.0)),
)


@dataclass(frozen=True, slots=True)
class CoverageFigures:
    """Figures of the intervals of many simulated runs."""

    kind: str
    documents: int
    erring: float
    """Expected number of documents with errors."""
    covered: float
    """Share of intervals that contain the true value."""
    width: float
    """Mean width of intervals."""

    @property
    def promised(self) -> bool:
        """Whether intervals must keep their promise: with enough errors, or without any."""
        return self.erring >= ENOUGH or not self.erring


def measure_coverage(
    documents: int, repetitions: int, seed: int, kinds: Sequence[Errors] = KINDS
) -> list[CoverageFigures]:
    """Make the interval of F1 for many runs of each kind, and count those with the true F1."""
    random = np.random.default_rng(seed)
    cells = []
    for kind in kinds:
        f1, erring = compute_truth(kind)
        spreads = spreads_of_f1(*kind.draw(random, (repetitions, documents)))
        intervals = rate_intervals(spreads, IntervalSettings().level)
        bounds = np.array([interval for interval in intervals if interval is not None])
        covering_share = float(((bounds[:, 0] <= f1) & (f1 <= bounds[:, 1])).mean())
        width = float((bounds[:, 1] - bounds[:, 0]).mean())
        cells.append(
            CoverageFigures(
                kind=kind.name,
                documents=documents,
                erring=erring * documents,
                covered=covering_share,
                width=width,
            )
        )
    return cells


def spreads_of_f1(sizes: Counts, right: Counts) -> list[Spread]:
    """Sum up the terms of F1 in each run, from arrays of shape (runs, documents)."""
    good, bad = 2.0 * right, (sizes - right).astype(float)
    sums = np.array([terms.sum(axis=1) for terms in (good, bad, good**2, good * bad, bad**2)]).T
    if_right = 2 * (sizes**2).sum(axis=1) / sizes.sum(axis=1)
    return [*map(Spread._make, np.column_stack([sums, if_right]).tolist())]


def measure(seed: int, repetitions: int = REPETITIONS) -> Report:
    """Simulate runs of few and of many documents, with independent and correlated errors."""
    cells = {
        (cell.kind, cell.documents): cell
        for documents in DOCUMENTS
        for cell in measure_coverage(documents, repetitions, seed)
    }
    rows = [
        [kind.name, *(render_cell(cells[kind.name, number]) for number in DOCUMENTS)]
        for kind in KINDS
    ]
    return Report(
        title="Coverage of 95% intervals of F1",
        columns=("errors", *(f"{number:,} documents" for number in DOCUMENTS)),
        rows=rows,
        record=[
            {"errors": cell.kind, "documents": cell.documents, "erring": cell.erring}
            | {"covered": cell.covered, "width": cell.width}
            for cell in cells.values()
        ],
        notes=(
            (
                f"The share of {repetitions} simulated runs whose interval holds the true F1, and"
                " the mean width of intervals; in italics where fewer than"
                f" {ENOUGH} documents are expected to have errors. Documents have {MEAN_SIZE}"
                " values, those of unequal sizes on average."
            ),
        ),
    )


def render_cell(cell: CoverageFigures) -> str:
    """Write a cell of the table."""
    text = f"{cell.covered:.3f} ({cell.width:.3f})"
    return text if cell.promised else f"*{text}*"
