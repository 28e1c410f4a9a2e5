"""The geometry of charts about confidences: reliability, and error against coverage."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from stickler_cli.core.figures import number_of, rate
from stickler_cli.core.values import dataclass

SIDE: Final = 240.0
"""Width and height of a chart, in units of the drawing; the page scales it."""

MOST_POINTS: Final = 120


@dataclass(frozen=True, slots=True)
class Point:
    """The values of a bin: their mean confidence and the share that is right, with its interval."""

    x: float
    y: float
    upper: float | None
    lower: float | None
    at: float
    """The middle of the bin, where its count is written."""
    count: str
    title: str


@dataclass(frozen=True, slots=True)
class ReliabilityChart:
    """How far confidence and share right are apart, bin by bin, and in words what it shows."""

    points: Sequence[Point]
    label: str


@dataclass(frozen=True, slots=True)
class CoverageChart:
    """Error against coverage, both from 0; the axis of errors ends at `most`."""

    path: str
    """Of the curve, as SVG has it."""
    most: str
    label: str
    chosen: tuple[float, float, float] | None = None
    """Where a policy draws the line: x, and y of the error and of its bound."""
    allowed: float | None = None
    """The y of the error that is allowed."""


def reliability_chart(known: Mapping[str, Any]) -> ReliabilityChart:
    """Return the chart of what the record of a run says of confidences."""
    points = [_point(entry) for entry in known["bins"] if entry["units"]]
    label = (
        f"Share right by confidence, of {number_of(known['units'], 'value')} in "
        f"{number_of(len(points), 'bin')}; expected calibration error {rate(known['ece'])}"
    )
    return ReliabilityChart(points, label)


def _point(entry: Mapping[str, Any]) -> Point:
    lower, upper = entry.get("interval") or (None, None)
    between = "" if lower is None else f" ({rate(lower)} to {rate(upper)})"
    where = f"confidence {entry['lower']:g} to {entry['upper']:g}"
    found = f"{number_of(entry['units'], 'value')}, {rate(entry['right'])}{between} right"
    return Point(
        x=SIDE * entry["confidence"],
        y=_down(entry["right"]),
        upper=None if upper is None else _down(upper),
        lower=None if lower is None else _down(lower),
        at=SIDE * (entry["lower"] + entry["upper"]) / 2,
        count=_short(entry["units"]),
        title=f"{where}: {found}",
    )


def _short(count: int) -> str:
    return str(count) if count < 10_000 else f"{count / 1000:.0f}k"


def coverage_chart(
    curve: Sequence[tuple[float, float]],
    chosen: tuple[float, float, float] | None = None,
    allowed: float | None = None,
) -> CoverageChart:
    """Return the chart of (coverage, error), with the point and the bound that a policy chose."""
    few = curve[:: max(1, len(curve) // MOST_POINTS)]
    if curve and few[-1] != curve[-1]:
        few = [*few, curve[-1]]
    most = max([error for _, error in few] + [allowed or 0, chosen[2] if chosen else 0, 0.01])
    steps = [f"{SIDE * coverage:.1f},{_down(error / most):.1f}" for coverage, error in few]
    whole = curve[-1][1] if curve else 0.0
    label = f"Share wrong among the most confident values; {rate(whole)} of all"
    place = None
    if chosen is not None:
        coverage, error, bound = chosen
        place = SIDE * coverage, _down(error / most), _down(bound / most)
        label += f"; {rate(coverage)} pass, {rate(error)} of them wrong, {rate(bound)} at most"
    level = None if allowed is None else _down(allowed / most)
    return CoverageChart(
        "M" + " L".join(steps) if steps else "", f"{most:.2g}", label, place, level
    )


def _down(share: float) -> float:
    return SIDE * (1 - min(share, 1.0))
