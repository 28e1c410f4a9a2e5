"""Whether documents are as many as `stickler plan` says: runs of that size, simulated.

From each of many pilots the number is told; then runs of the median number are drawn, and what they
reach is held against what was promised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.changes import sample
from benchmarks.coverage import KINDS, Errors, spreads_of_f1, truth
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
SOME: Final = [kind for kind in KINDS if kind.name in _NAMES]


@dataclass(frozen=True, slots=True)
class Reached:
    """What runs of the size told reached, and what was promised."""

    what: str
    kind: str
    pilot: int
    """Documents of each pilot."""
    told: float
    """How many documents were told, in the median."""
    spread: tuple[float, float]
    """The tenth and the ninetieth percentile of that."""
    promised: float
    reached: float


def widths(pilot: int, wanted: float, seed: int, pilots: int = PILOTS) -> list[Reached]:
    """Return the half widths of runs of the size told for one."""
    random, found = np.random.default_rng(seed), []
    for kind in SOME:
        told = [
            _known(Pilot(it, pilot, LEVEL).for_width(wanted))
            for it in spreads_of_f1(*kind.draw(random, (pilots, pilot)))
        ]
        median = int(np.median(told))
        ends = _intervals(kind, random, median)
        reached = float(np.median(ends[:, 1] - ends[:, 0]) / 2)
        found.append(_of("half width", kind, pilot, told, (wanted, reached)))
    return found


def gates(pilot: int, apart: float, power: float, seed: int) -> list[Reached]:
    """Return how often the lower end of runs of the size told reaches a limit below the rate.

    Of an even chance, how far below the rate the median one is. So that chance in the pilot does
    not move the limit, it is `apart` below the rate of the pilot.
    """
    random, found = np.random.default_rng(seed), []
    for kind in SOME:
        spreads = spreads_of_f1(*kind.draw(random, (PILOTS, pilot)))
        told = [_known(_for_gate(Pilot(it, pilot, LEVEL), apart, power)) for it in spreads]
        ends = _intervals(kind, random, int(np.median(told)))
        below = truth(kind)[0] - ends[:, 0]
        if power == _EVEN:
            both = apart, float(np.median(below))
        else:
            both = power, float((below <= apart).mean())
        found.append(_of("gate" if power == _EVEN else "gate, likely", kind, pilot, told, both))
    return found


def _intervals(kind: Errors, random: np.random.Generator, documents: int) -> NDArray[Any]:
    spreads = spreads_of_f1(*kind.draw(random, (RUNS, documents)))
    return np.array(rate_intervals(spreads, LEVEL))


def _of(
    what: str, kind: "Errors | Shift", pilot: int, told: Sequence[int], both: tuple[float, float]
) -> Reached:
    low, median, high = np.percentile(told, (10, 50, 90)).tolist()
    return Reached(what, kind.name, pilot, median, (low, high), *both)


@dataclass(frozen=True, slots=True)
class Shift:
    """Two systems whose errors in a document come together with some chance."""

    name: str
    wrong: float
    """The share of values that either gets wrong, before the change."""
    together: float
    """How much of the difficulty of a document both share: 0 to 1."""
    change: float
    """By how much more the second one gets right."""


SHIFTS: Final = (
    Shift("10% wrong, by themselves", 0.1, 0.0, 0.02),
    Shift("10% wrong, hard documents shared", 0.1, 0.8, 0.02),
    Shift("5% wrong, hard documents shared", 0.05, 0.5, 0.015),
)
_MANY: Final = 200_000
_VALUES: Final = 10  # of each document, as sample() has it


def _right(
    it: Shift, random: np.random.Generator, documents: int, *, same: bool
) -> list[NDArray[Any]]:
    """Return how many values both have right in each document, (1, documents) each."""
    hard = random.beta(0.5, 0.5 / it.wrong - 0.5, (3, documents))
    own = random.random((2, documents)) < it.together
    shares = [np.where(own[side], hard[0], hard[1 + side]) for side in (0, 1)]
    if not same:
        shares[1] = shares[1] * (1 - it.change / it.wrong)
    return [random.binomial(_VALUES, 1 - share)[np.newaxis] for share in shares]


def powers(pilot: int, seed: int, runs: int = RUNS // 2) -> list[Reached]:
    """Return how often a change is seen in differences of the size told."""
    random, settings, found = np.random.default_rng(seed), TrendSettings(margin=1e-6), []
    for it in SHIFTS:
        told = []
        before = 1 - it.wrong
        true = _f1(before + it.change) - _f1(before)
        for _ in range(PILOTS):
            one = sample(_right(it, random, pilot, same=False))
            varies = one.deviation * sqrt(pilot)

            def shows(number: float, shift: float = true / varies) -> bool:
                return power_of(shift * sqrt(number), number, LEVEL) >= POWER

            told.append(_known(least(shows)))
        documents, seen = int(np.median(told)), 0
        for repetition in range(runs):
            one = sample(_right(it, random, documents, same=False))
            names = [f"{repetition}/{number}" for number in range(documents)]
            (interval,) = change_intervals([one], names, settings.intervals)
            (p,) = p_values([one], names, settings.intervals)
            trend, _ = trend_of(one, interval, p, settings)
            seen += trend is Trend.IMPROVED
        found.append(_of("power", it, pilot, told, (POWER, seen / runs)))
    return found


def _known(number: int | None) -> int:
    return -1 if number is None else number


def _for_gate(pilot: Pilot, apart: float, power: float) -> int | None:
    return pilot.for_gate((pilot.share or 0.0) - apart, power, lower_end=True)


def _f1(right: float) -> float:
    return 2 * right / (1 + right)


def ranges(pilot: int, wanted: float, seed: int, pilots: int = RUNS) -> dict[str, float]:
    """Return how often the range told of a small pilot holds the true number, by kind."""
    random, found = np.random.default_rng(seed), {}
    low, high = variance_ratio_interval(pilot, LEVEL)
    for kind in SOME:
        large = spreads_of_f1(*kind.draw(random, (1, _MANY)))[0]
        true = _known(Pilot(large, _MANY, LEVEL).for_width(wanted))
        held = 0
        for it in spreads_of_f1(*kind.draw(random, (pilots, pilot))):
            kinder, harder = Pilot(it, pilot, LEVEL).extremes
            few, most = _known(kinder.for_width(wanted)), _known(harder.for_width(wanted))
            held += few * low <= true <= most * high
        found[kind.name] = held / pilots
    return found


def measure(seed: int, share: float = 1.0) -> Report:
    """Hold half widths, power and gates of runs of the size told against what was promised."""
    pilots = max(10, int(PILOTS * share))
    cells = [
        *(it for pilot in (50, 200) for it in widths(pilot, 0.02, seed, pilots)),
        *gates(200, 0.03, POWER, seed + 1),
        *gates(200, 0.03, _EVEN, seed + 2),
        *powers(200, seed + 3, max(20, int(RUNS // 2 * share))),
    ]
    rows = [
        [
            f"{it.what}: {it.kind}",
            str(it.pilot),
            f"{it.told:.0f} ({it.spread[0]:.0f} to {it.spread[1]:.0f})",
            f"{it.promised:g}",
            f"{it.reached:.3f}",
        ]
        for it in cells
    ]
    held = ", ".join(f"{name} {share:.2f}" for name, share in ranges(6, 0.05, seed + 4).items())
    return Report(
        "Documents that stickler plan tells",
        ("what", "pilot", "told", "promised", "reached"),
        rows,
        [[it.what, it.kind, it.pilot, it.told, it.promised, it.reached] for it in cells],
        notes=(
            (
                f"Told in the median of {pilots} pilots, and the 10th and 90th percentile; reached"
                f" in {RUNS} runs of the median size ({RUNS // 2} differences)."
            ),
            f"Ranges of pilots of 6 documents hold the true number in: {held}.",
        ),
    )
