"""The HTML page of a difference: fields, regressed ones first, and values before and after."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.core.values import dataclass
from stickler_cli.reports.difference_sections import MARKS, SHORT, DifferenceView, signed
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.tables import metric_text
from stickler_cli.studies.diff.record import Change, Difference, Move, Trend
from .charts import axis_of, change_axis
from .report_page import POLICY, filled

MOST_DOCUMENTS: Final = 200
"""Documents of each kind that the page of a difference names; the JSON report has all."""

MOST_VALUES: Final = 500  # values that changed that the page of a difference shows

ORDER: Final = (Trend.REGRESSED, Trend.IMPROVED, Trend.UNCLEAR, Trend.UNCHANGED, Trend.IDENTICAL)
"""What comes first of fields: what got worse."""

MOST_SLOPES: Final = 24  # fields that a drawing has room for: those that changed most

HEIGHT: Final = 260.0
"""Height of the drawing of slopes, in units of the drawing."""

APART: Final = 12.0  # the least distance of two names


def render(difference: Difference, style: TableStyle) -> str:
    """Return a difference as an HTML page; ends with a line break."""
    view, values = DifferenceView(difference, visible), difference.values
    tone, verdict = view.verdict
    tones = {trend: tone if tone in {"good", "bad"} else "" for trend, (_, tone) in MARKS.items()}
    context: dict[str, object] = {
        "view": view,
        "policy": POLICY,
        "verdict": verdict,
        "tone": tone if tone in {"good", "bad"} else "open",
        "identity": [
            (
                what,
                f"{', '.join(map(visible, [run.source, *run.further]))} (stickler {run.version})",
            )
            for what, run in (("before", difference.base), ("after", difference.new))
        ]
        + [("schema", visible(difference.new.schema))],
        "told": [text for _, text in view.findings],
        "whole_axis": change_axis(it.interval for it in view.whole),
        "field_axis": change_axis(it.interval for it in difference.fields),
        "fields": ranked(difference.fields),
        "chart": slope_chart(view, tones),
        "values": values,
        "moves": Counter(it.move.value for it in values or ()).items(),
        "most_values": MOST_VALUES,
        "tones": {Move.BROKEN.value: "bad", Move.FIXED.value: "good", Move.OTHERWISE.value: ""},
        "documents": {
            f"Documents that got {what}": (found[:MOST_DOCUMENTS], len(found[MOST_DOCUMENTS:]))
            for what, found in (("worse", difference.worse), ("better", difference.better))
        },
        "signed": signed,
        "metric_text": metric_text,
        "short": SHORT,
        "marks": MARKS,
    }
    return filled("difference_page.html.j2", context)


def ranked(changes: Sequence[Change]) -> list[Change]:
    """Return fields, regressed ones first, then by how much they changed."""
    return sorted(changes, key=lambda it: (ORDER.index(it.trend), -abs(it.change or 0.0)))


@dataclass(frozen=True, slots=True)
class Slope:
    """A field's F1 in both runs, and where its name stands; all from the top of the drawing."""

    name: str
    before: float
    after: float
    label: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class SlopeChart:
    """The fields that changed most, and the marks of the axis."""

    slopes: Sequence[Slope]
    ticks: Sequence[tuple[float, str]]
    height: float
    left_out: int
    label: str


def slope_chart(view: DifferenceView, tones: dict[Trend, str]) -> SlopeChart | None:
    """Return the drawing of the fields whose F1 is not the same; None where there is none."""
    known = [
        (it, it.before, it.after)
        for it in ranked(view.difference.fields)
        if it.before is not None and it.after is not None and it.change
    ]
    if not known:
        return None
    shown = known[:MOST_SLOPES]
    axis = axis_of(min(min(before, after) for _, before, after in shown))
    height = max(HEIGHT, APART * len(shown))

    def down(value: float) -> float:
        return height * (1 - axis.place(value) / 100)

    shown.sort(key=lambda entry: -entry[2])
    labels = _apart([down(after) for *_, after in shown], height)
    slopes = [
        Slope(view.name(it), down(before), down(after), label, tones[it.trend], _told(view, it))
        for (it, before, after), label in zip(shown, labels, strict=True)
    ]
    ticks = [(height * (1 - at / 100), text) for at, text in axis.ticks]
    label = f"F1 before and after of {len(shown)} fields"
    return SlopeChart(slopes, ticks, height, len(known) - len(shown), label)


def _told(view: DifferenceView, change: Change) -> str:
    return f"{view.name(change)}: {view.told(change)}"


def _apart(wanted: Sequence[float], height: float) -> list[float]:
    """Return places at least `APART` from each other, near those that are wanted, from the top."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + APART) if places else place)
    end = height
    for at in reversed(range(len(places))):
        places[at] = min(places[at], end)
        end = places[at] - APART
    return places
