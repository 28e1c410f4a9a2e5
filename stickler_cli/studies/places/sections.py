"""Where values are, as sections."""

from typing import Final

from stickler_cli.core.figures import number_of
from stickler_cli.core.sections import Figure, Figures, Report, Section, Text, notes
from .record import PlacesReport

_FIGURES: Final = (
    Figure("field", "field", str, shown=lambda it: it.field or "all"),
    Figure("both right", "both_right", int, 1, "right"),
    Figure("place wrong", "place_wrong", int, 2, "place!"),
    Figure("value wrong", "value_wrong", int, 3, "value!"),
    Figure("both wrong", "both_wrong", int, 4, "both!"),
    Figure("missed", "missed", int, 5),
    Figure("invented", "invented", int, 5),
    Figure("located", "located", rank=1),
    Figure("interval", "located_interval", list, 7),
    Figure("F1", "f1", rank=2),
    Figure("AP50", "average_precision", rank=6),
    Figure("AP", "average_precision_all", rank=6),
)
_LEGEND: Final = (
    ("place wrong", "place wrong: right values whose box is elsewhere"),
    ("missed", "missed, invented: boxes that the other side has not for that value"),
    ("located", "located: of right values with both boxes, those in the right place"),
    ("F1", "F1: of all boxes, those of right values in the right place"),
    ("AP50", "AP50, AP: average precision of boxes alone, as COCO; docs/places.md"),
)


def report_of(record: PlacesReport) -> Report:
    """Return where values are as a report."""
    head = f"{record.gt} and {record.pred}: {number_of(record.documents, 'document')}"
    table = Figures(_FIGURES, [record.whole, *record.fields], _LEGEND)
    sections = [
        Section(head, [Text(_sentence(record))]),
        Section("", [table]),
        Section("", notes(record.notes)),
    ]
    return Report(record, sections, table)


def _sentence(record: PlacesReport) -> str:
    whole = record.whole
    if whole.located is None:
        return "no right value has a box on both sides"
    pairs = whole.both_right + whole.place_wrong
    centred = "" if whole.centred is None else f", {whole.centred:.1%} by their centre"
    said = f"of {number_of(pairs, 'right value')} with a box on both sides {whole.located:.1%} are"
    return f"{said} in the right place (overlap {record.min_overlap:g}{centred})"
