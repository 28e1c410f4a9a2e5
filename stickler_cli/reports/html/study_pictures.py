"""Pictures for the pages of some studies, drawn from the records of the studies."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stickler_cli.core.figures import number_of, percent, rate, visible
from stickler_cli.core.sections import Report, Table
from stickler_cli.score.policy import field_label
from .charts import HeatCell, HeatMap

if TYPE_CHECKING:  # the page of a run does not need the studies
    from stickler_cli.score.policy import AcceptancePolicy
    from stickler_cli.studies.packets.answer import PageConfusion
    from stickler_cli.studies.places.answer import PlacesReport

PLACE_PARTS: Final = (
    *(("both_right", "right", "tp"), ("place_wrong", "place wrong", "fa")),
    *(("value_wrong", "value wrong", "fd"), ("both_wrong", "both wrong", "both")),
    *(("missed", "missed", "fn"), ("invented", "invented", "invented")),
)
"""The segments of a field's bar.

Each entry has three texts: the attribute of `PlacedField` that has the segment's count, the title
of the segment, and its style class."""


class BarSegment(NamedTuple):
    """One segment of a stacked bar."""

    style: str
    share: float
    title: str


class StackedBar(NamedTuple):
    """One row of stacked bars: a name, a bar of segments, and a text beside it."""

    name: str
    segments: Sequence[BarSegment]
    text: str


class StackedBars(NamedTuple):
    """A chart of stacked bars with one legend."""

    title: str
    bars: Sequence[StackedBar]
    legend: Sequence[tuple[str, str]]
    """(CSS class, name) for each kind of segment."""
    heading: str
    """Heading of the texts beside the bars."""


def study_pictures(report: Report) -> dict[str, object]:
    """Return the pictures of a study as a dict with the keys `bars`, `grid` and `listing`.

    The value of a key is None if the study has no such picture.
    """
    record: Any = report.record
    pictures: dict[str, object] = {"bars": None, "grid": None, "listing": None}
    match getattr(record, "format", "").partition("/")[0]:
        case "stickler-policy":
            pictures["bars"] = draw_policy(record)
        case "stickler-places":
            pictures["bars"] = draw_places(record)
        case "stickler-split":
            pictures["grid"] = draw_confusion(record.confusion)
        case "stickler-lint":
            pictures["listing"] = list_findings(report)
    return pictures


def draw_policy(policy: "AcceptancePolicy") -> StackedBars:
    """Return a bar for each field, with the shares of values that pass and that need review."""
    bars = []
    for field in policy.fields:
        segments = [
            BarSegment("tp", field.accepted, f"pass: {percent(field.accepted)}"),
            BarSegment("review", 1 - field.accepted, f"review: {percent(1 - field.accepted)}"),
        ]
        text = "all for review"
        if field.threshold is not None:
            text = f"{percent(field.accepted)} from {rate(field.threshold, digits=3)}"
        bars.append(StackedBar(visible(field_label(field)), segments, text))
    legend = (("tp", "pass"), ("review", "review"))
    return StackedBars(
        title="Share of values accepted without review, and share sent to review",
        bars=bars,
        legend=legend,
        heading="pass, from",
    )


def draw_places(record: "PlacesReport") -> StackedBars:
    """Return a bar for each field.

    Its segments are the number of right boxes and the numbers of wrong boxes of each kind.
    """
    bars = []
    for field in (record.whole, *record.fields):
        counts = [(style, name, getattr(field, key)) for key, name, style in PLACE_PARTS]
        total = sum(count for _, _, count in counts)
        segments = [
            BarSegment(style, count / total, f"{name}: {count:,}")
            for style, name, count in counts
            if count
        ]
        right = f"{field.both_right:,} of {number_of(total, 'box').replace('boxs', 'boxes')}"
        bars.append(StackedBar(visible(field.field) or "all", segments, right))
    legend = tuple((style, name) for _, name, style in PLACE_PARTS)
    return StackedBars(
        title="Boxes of each field: right, wrong, missed or invented",
        bars=bars,
        legend=legend,
        heading="right",
    )


def draw_confusion(confusions: "Sequence[PageConfusion]") -> HeatMap | None:
    """Return a heat map of the number of pages for each true and predicted class.

    Return None if all pages have the right class.
    """
    pages: Counter[tuple[str, str]] = Counter()
    for confusion in confusions:
        gt = "missing in the ground truth" if confusion.gt is None else confusion.gt or "(no class)"
        pred = "not predicted" if confusion.pred is None else confusion.pred or "(no class)"
        pages[gt, pred] += confusion.pages
    if all(gt == pred for gt, pred in pages):
        return None
    # Both sides have the same order, so that right pages are on the diagonal.
    counts: Counter[str] = Counter()
    for (gt, pred), count in pages.items():
        counts.update({gt: count, pred: count})
    classes = sorted(counts, key=lambda name: (-counts[name], name))
    gts = [name for name in classes if any(gt == name for gt, _ in pages)]
    preds = [name for name in classes if any(pred == name for _, pred in pages)]
    rows = []
    for gt in gts:
        cells = [
            HeatCell(0, "", pages[gt, pred]) if gt == pred else HeatCell(pages[gt, pred], "")
            for pred in preds
        ]
        rows.append((visible(gt), cells))
    corner = "truth\N{NO-BREAK SPACE}↓ found\N{NO-BREAK SPACE}→"
    title = "Number of pages, by true class and predicted class"
    return HeatMap(title=title, corner=corner, columns=[*map(visible, preds)], rows=rows)


def list_findings(report: Report) -> Table | None:
    """Return a table with a row for each finding; None if there are none."""
    table = report.rows.table() if report.rows else None
    return table if table and table.rows else None
