"""Simulate how often intervals contain the true value, for errors whose true rate is known.

The simulation calls the function that makes intervals from sums, because a hundred thousand real
runs would take days. These other methods were tried; each fails if few documents have errors, or if
some documents are huge: the textbook interval, Wilson's interval for an effective number of
documents (doi:10.1080/01621459.1927.10502953), an interval of log-odds, and the interval of Korn
and Graubard (1998), Survey Methodology 24(2), which comes nearest.
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
"""If at least so many documents are expected to have errors, intervals must contain the true value
as often as they promise."""

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = tuple[int, int]
Draw: TypeAlias = Callable[[np.random.Generator, Shape], tuple[Counts, Counts]]
"""A function that draws documents: it returns the number of values and the number of right values
of each document, each as an array, (n_runs, n_documents)."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """A kind of errors: its name, and a function that draws documents with such errors."""

    name: str
    draw: Draw


@cache
def compute_truth(kind: Errors) -> tuple[float, float]:
    """Compute (true F1, share of documents with errors) from a very large number of documents."""
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
    """Draw documents that are wholly right or wholly wrong.

    `share` is the probability that a document is right. A wrong document has `times` as many
    values.
    """

    def draw(random: np.random.Generator, shape: Shape) -> tuple[Counts, Counts]:
        good, values = random.random(shape) < share, sizes(random, shape)
        return np.where(good, values, times * values), good * values

    return draw


def _draw_bad_items(share: float) -> Draw:
    """Draw list items of five values; the values of an item are all right or all wrong.

    Items of the same document tend to be right or wrong together.
    """

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
    """How often intervals contain the true value, in many simulated runs with one kind of error."""

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
        """Whether intervals must contain the true value as often as they promise.

        They must if enough documents are expected to have errors, or if none is.
        """
        return self.erring >= ENOUGH or not self.erring


def measure_coverage(
    documents: int, repetitions: int, seed: int, kinds: Sequence[Errors] = KINDS
) -> list[CoverageFigures]:
    """Simulate runs for each kind of errors, and count the intervals that contain the true F1."""
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
    """Return, for each run, the sums from which the interval of F1 is computed.

    `sizes` has the number of values, and `right` the number of right values, (n_runs, n_documents).
    """
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
    """Return a cell of the table, such as `0.951 (0.043)`: covered share and mean width.

    The cell is in italics if the promise does not hold for so few documents with errors.
    """
    text = f"{cell.covered:.3f} ({cell.width:.3f})"
    return text if cell.promised else f"*{text}*"
