"""Simulate whether runs with the number of documents from `stickler plan` reach their aim.

Many pilots (small runs) are drawn, and the number of documents is planned from each of them. Then
runs with the median of these numbers are drawn, and what they reach is compared with what was
promised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.changes import make_sample
from benchmarks.coverage import KINDS, Errors, compute_truth, spreads_of_f1
from benchmarks.report import Report
from stickler_cli.score.intervals import rate_intervals
from stickler_cli.studies.diff.measures import trend_of
from stickler_cli.studies.diff.record import Trend, TrendSettings
from stickler_cli.studies.diff.significance import change_intervals, p_values
from stickler_cli.studies.plan.answer import Pilot, least, power_of, variance_ratio_interval

LEVEL: Final = 0.95
POWER: Final = 0.8
_EVEN: Final = 0.5
PILOTS: Final = 100
RUNS: Final = 400
_NAMES: Final = (
    "independent, 10% of values",
    "10% of documents wholly bad",
    "2% wholly bad, unequal sizes",
    "5% of items bad, five values each",
)
SIMULATED_KINDS: Final = [kind for kind in KINDS if kind.name in _NAMES]


@dataclass(frozen=True, slots=True)
class AimFigures:
    """An aim, such as a width of intervals, and how well runs of the planned size reach it."""

    aim: str
    kind: str
    pilot: int
    """Number of documents in each pilot."""
    planned: float
    """Median of the planned numbers of documents."""
    spread: tuple[float, float]
    """The 10th and the 90th percentile of the planned numbers."""
    promised: float
    reached: float


def simulate_widths(pilot: int, wanted: float, seed: int, pilots: int = PILOTS) -> list[AimFigures]:
    """Compare the half widths of intervals with `wanted`, in runs of the planned size.

    Return the figures for each kind of errors.
    """
    random, aims = np.random.default_rng(seed), []
    for kind in SIMULATED_KINDS:
        planned = [
            _plan_for_width(Pilot(spread, pilot, LEVEL), wanted)
            for spread in spreads_of_f1(*kind.draw(random, (pilots, pilot)))
        ]
        median = int(np.median(planned))
        bounds = _intervals(kind, random, median)
        reached = float(np.median(bounds[:, 1] - bounds[:, 0]) / 2)
        aims.append(_summarize("half width", kind, pilot, planned, (wanted, reached)))
    return aims


def simulate_gates(pilot: int, margin: float, power: float, seed: int) -> list[AimFigures]:
    """Return how often runs of the planned size pass a gate that is below the true rate.

    If `power` is 0.5, the figures say instead how far the median lower bound of the interval is
    below the true rate. The gate is `margin` below the rate of the pilot, so that the chance in the
    pilot's rate has no effect.
    """
    random, aims = np.random.default_rng(seed), []
    for kind in SIMULATED_KINDS:
        spreads = spreads_of_f1(*kind.draw(random, (PILOTS, pilot)))
        planned = [_plan_for_gate(Pilot(spread, pilot, LEVEL), margin, power) for spread in spreads]
        bounds = _intervals(kind, random, int(np.median(planned)))
        distances = compute_truth(kind)[0] - bounds[:, 0]
        if power == _EVEN:
            figures = margin, float(np.median(distances))
        else:
            figures = power, float((distances <= margin).mean())
        aims.append(
            _summarize("gate" if power == _EVEN else "gate, likely", kind, pilot, planned, figures)
        )
    return aims


def _intervals(kind: Errors, random: np.random.Generator, documents: int) -> NDArray[Any]:
    spreads = spreads_of_f1(*kind.draw(random, (RUNS, documents)))
    return np.array(rate_intervals(spreads, LEVEL))


def _summarize(
    aim: str,
    kind: "Errors | Shift",
    pilot: int,
    planned: Sequence[int],
    figures: tuple[float, float],
) -> AimFigures:
    low, median, high = np.percentile(planned, (10, 50, 90)).tolist()
    promised, reached = figures
    return AimFigures(
        aim=aim,
        kind=kind.name,
        pilot=pilot,
        planned=median,
        spread=(low, high),
        promised=promised,
        reached=reached,
    )


@dataclass(frozen=True, slots=True)
class Shift:
    """A difference between two systems that partly make errors in the same documents."""

    name: str
    wrong: float
    """Share of values that both systems get wrong before the change."""
    together: float
    """Share of documents that are equally hard for both systems, in [0, 1]."""
    change: float
    """Increase in the share of right values."""


SHIFTS: Final = (
    Shift("10% wrong, by themselves", wrong=0.1, together=0.0, change=0.02),
    Shift("10% wrong, hard documents shared", wrong=0.1, together=0.8, change=0.02),
    Shift("5% wrong, hard documents shared", wrong=0.05, together=0.5, change=0.015),
)
_MANY: Final = 200_000
_VALUES: Final = 10  # of each document, as in make_sample()


def _draw_right_values(
    shift: Shift, random: np.random.Generator, documents: int, *, unchanged: bool
) -> list[NDArray[Any]]:
    """Draw the number of right values of each document for two systems, (1, documents) each.

    If `unchanged` is True, both systems are equally good.
    """
    difficulties = random.beta(0.5, 0.5 / shift.wrong - 0.5, (3, documents))
    is_shared = random.random((2, documents)) < shift.together
    shares = [np.where(is_shared[side], difficulties[0], difficulties[1 + side]) for side in (0, 1)]
    if not unchanged:
        shares[1] = shares[1] * (1 - shift.change / shift.wrong)
    return [random.binomial(_VALUES, 1 - share)[np.newaxis] for share in shares]


def simulate_powers(pilot: int, seed: int, runs: int = RUNS // 2) -> list[AimFigures]:
    """Return how often runs of the planned size show that the second system is better."""
    random, settings, aims = np.random.default_rng(seed), TrendSettings(margin=1e-6), []
    for shift in SHIFTS:
        planned = []
        before = 1 - shift.wrong
        true = _f1(before + shift.change) - _f1(before)
        for _ in range(PILOTS):
            difference = make_sample(_draw_right_values(shift, random, pilot, unchanged=False))
            deviation = difference.deviation * sqrt(pilot)

            def shows(number: float, standardized: float = true / deviation) -> bool:
                return power_of(standardized * sqrt(number), number, LEVEL) >= POWER

            planned.append(_as_number(least(shows)))
        documents, n_seen = int(np.median(planned)), 0
        for repetition in range(runs):
            difference = make_sample(_draw_right_values(shift, random, documents, unchanged=False))
            names = [f"{repetition}/{number}" for number in range(documents)]
            (interval,) = change_intervals([difference], names, settings.intervals)
            (p,) = p_values([difference], names, settings.intervals)
            trend, _ = trend_of(difference, interval, p, settings)
            n_seen += trend is Trend.IMPROVED
        aims.append(_summarize("power", shift, pilot, planned, (POWER, n_seen / runs)))
    return aims


def _as_number(number: int | None) -> int:
    return -1 if number is None else number


@cache  # many of the drawn pilots are equal
def _plan_for_width(pilot: Pilot, wanted: float) -> int:
    return _as_number(pilot.for_width(wanted))


@cache
def _plan_for_gate(pilot: Pilot, margin: float, power: float) -> int:
    return _as_number(pilot.for_gate((pilot.share or 0.0) - margin, power, lower_end=True))


def _f1(right: float) -> float:
    return 2 * right / (1 + right)


def simulate_ranges(pilot: int, wanted: float, seed: int, pilots: int = RUNS) -> dict[str, float]:
    """Return how often the range of numbers from a small pilot contains the true number.

    The result is a dict from each kind of errors to this share.
    """
    random, shares = np.random.default_rng(seed), {}
    low, high = variance_ratio_interval(pilot, LEVEL)
    for kind in SIMULATED_KINDS:
        large = spreads_of_f1(*kind.draw(random, (1, _MANY)))[0]
        true_number = _plan_for_width(Pilot(large, _MANY, LEVEL), wanted)
        n_covering = 0
        for spread in spreads_of_f1(*kind.draw(random, (pilots, pilot))):
            smaller, larger = Pilot(spread, pilot, LEVEL).extremes
            minimum, maximum = _plan_for_width(smaller, wanted), _plan_for_width(larger, wanted)
            n_covering += minimum * low <= true_number <= maximum * high
        shares[kind.name] = n_covering / pilots
    return shares


def measure(seed: int, share: float = 1.0) -> Report:
    """Compare half widths, power and gates in runs of the planned size with what was promised."""
    pilots = max(10, int(PILOTS * share))
    cells = [
        *(cell for pilot in (50, 200) for cell in simulate_widths(pilot, 0.02, seed, pilots)),
        *simulate_gates(200, 0.03, POWER, seed + 1),
        *simulate_gates(200, 0.03, _EVEN, seed + 2),
        *simulate_powers(200, seed + 3, max(20, int(RUNS // 2 * share))),
    ]
    rows = [
        [
            f"{cell.aim}: {cell.kind}",
            str(cell.pilot),
            f"{cell.planned:.0f} ({cell.spread[0]:.0f} to {cell.spread[1]:.0f})",
            f"{cell.promised:g}",
            f"{cell.reached:.3f}",
        ]
        for cell in cells
    ]
    covering = ", ".join(
        f"{name} {share:.2f}" for name, share in simulate_ranges(6, 0.05, seed + 4).items()
    )
    return Report(
        title="Documents that stickler plan tells",
        columns=("what", "pilot", "told", "promised", "reached"),
        rows=rows,
        record=[
            [cell.aim, cell.kind, cell.pilot, cell.planned, cell.promised, cell.reached]
            for cell in cells
        ],
        notes=(
            (
                f"Told in the median of {pilots} pilots, and the 10th and 90th percentile; reached"
                f" in {RUNS} runs of the median size ({RUNS // 2} differences)."
            ),
            f"Ranges of pilots of 6 documents hold the true number in: {covering}.",
        ),
    )
