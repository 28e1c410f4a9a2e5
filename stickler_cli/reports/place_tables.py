"""Where values are, as a table."""

from stickler_cli.core.figures import NOTHING, number_of, rate
from stickler_cli.core.sections import Block, Column, Span, Table, Text, notes
from stickler_cli.locating.placed_fields import PlacedField, PlacesReport
from .layout import TableStyle, draw

_COLUMNS = (
    Column("field", left=True),
    Column("both right", 1, short="right"),
    Column("place wrong", 2, short="place!"),
    Column("value wrong", 3, short="value!"),
    Column("both wrong", 4, short="both!"),
    Column("missed", 5),
    Column("invented", 5),
    Column("located", 1),
    Column("interval", 7),
    Column("F1", 2),
    Column("AP50", 6),
    Column("AP", 6),
)
_LEGEND = (
    ("place wrong", "place wrong: right values whose box is elsewhere"),
    ("missed", "missed, invented: boxes that the other side has not for that value"),
    ("located", "located: of right values with both boxes, those in the right place"),
    ("F1", "F1: of all boxes, those of right values in the right place"),
    ("AP50", "AP50, AP: average precision of boxes alone, as COCO; docs/places.md"),
)


def render_places(report: PlacesReport, style: TableStyle) -> str:
    """Return where values are as a table; ends with a line break."""
    whole = report.whole
    head = f"{report.gt} and {report.pred}: {number_of(report.documents, 'document')}"
    sections: list[list[Block]] = [
        [Text(head, "title"), Text(_sentence(report))],
        [Table(_COLUMNS, [_row(each) for each in (whole, *report.fields)], _LEGEND)],
        notes(report.notes),
    ]
    return draw(sections, style)


def _sentence(report: PlacesReport) -> str:
    whole = report.whole
    if whole.located is None:
        return "no right value has a box on both sides"
    pairs = whole.both_right + whole.place_wrong
    centred = "" if whole.centred is None else f", {whole.centred:.1%} by their centre"
    said = f"of {number_of(pairs, 'right value')} with a box on both sides {whole.located:.1%} are"
    return f"{said} in the right place (overlap {report.min_overlap:g}{centred})"


def _row(each: PlacedField) -> list[Span]:
    counts = each.both_right, each.place_wrong, each.value_wrong, each.both_wrong
    ends = each.located_interval
    cells = (
        each.field or "all",
        *map(str, (*counts, each.missed, each.invented)),
        rate(each.located),
        NOTHING if ends is None else f"[{', '.join(map(rate, ends))}]",
        rate(each.f1),
        rate(each.average_precision),
        rate(each.average_precision_all),
    )
    return [Span.of(cell) for cell in cells]
