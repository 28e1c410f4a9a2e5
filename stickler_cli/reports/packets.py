"""How packets were split, as a table."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from stickler_cli.core.figures import NOTHING, number_of, rate
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text, notes
from stickler_cli.packets.packet import SectionOutcome
from stickler_cli.packets.report import PacketAccount, SplitFigure, SplitReport
from .layout import TableStyle, draw

CONFUSIONS: Final = 10
"""Of pages that were given another class, the kinds that are shown."""
PACKETS: Final = 5
"""Packets with errors that are shown."""

_RATES: Final = (
    Column("counted", left=True),
    Column("precision", 1, short="prec"),
    Column("recall", 1),
    Column("f1"),
    Column("f1 interval", 2),
)
_FIGURES: Final = (Column("figure", left=True), Column("value"), Column("interval", 1))
_CLASSES: Final = (
    Column("class", left=True),
    *(Column(name, 1) for name in ("gt", "pred", "right")),
    Column("precision", 3, short="prec"),
    Column("recall", 3),
    Column("f1"),
    Column("panoptic", 2, short="pq"),
)
_LABELS: Final = {
    "sections.pages": "sections, by their pages",
    "sections.class": "and their class",
    "sections.order": "and the order of pages",
    "boundaries": "boundaries",
}
_WRONG: Final = {
    "order": "pages in another order",
    "class": "another class",
    "pages": "other pages",
    "missed": "missed",
    "invented": "invented",
}


def render_split(report: SplitReport, style: TableStyle) -> str:
    """Return what the packets come to; ends with a line break."""
    counts = report.counts
    packets = number_of(sum(counts[f"packets.{it}"] for it in ("compared", "missing")), "packet")
    head = f"{report.gt} and {report.pred}: {packets}, {number_of(counts['pages'], 'page')}"
    sections: list[list[Block]] = [
        [Text(head, "title"), Text(_verdict(report))],
        [Table(_RATES, [*_rate_rows(report)])],
        [Table(_FIGURES, [*_figure_rows(report)])],
        [Table(_CLASSES, [*_class_rows(report)])] if report.classes else [],
        [*_confusions(report)],
        [*_packets(report.packets)],
        notes(report.notes),
    ]
    return draw(sections, style)


def _verdict(report: SplitReport) -> str:
    counts = report.counts
    right = counts["sections.exact"] + counts["sections.order"]
    said = f"{right} of {number_of(counts['gt'], 'section')} have the right pages and class"
    others = [
        f"{counts[name]} {what}"
        for name, what in (
            ("split", "split"),
            ("merged", "merged from several"),
            ("sections.missed", "missed"),
            ("sections.invented", "invented"),
        )
        if counts[name]
    ]
    return "; ".join(filter(None, (said, ", ".join(others))))


def _rate_rows(report: SplitReport) -> Iterator[list[Span]]:
    for name, label in _LABELS.items():
        precision, recall, f1 = (
            report.figure(f"{name}.{part}") for part in ("precision", "recall", "f1")
        )
        cells = label, rate(precision.value), rate(recall.value), rate(f1.value), _ends(f1)
        yield [Span.of(cell) for cell in cells]


def _figure_rows(report: SplitReport) -> Iterator[list[Span]]:
    for figure in report.figures:
        if "." not in figure.name:
            cells = figure.name.replace("_", " "), rate(figure.value), _ends(figure)
            yield [Span.of(cell) for cell in cells]


def _ends(figure: SplitFigure) -> str:
    if figure.interval is None:
        return NOTHING
    return f"[{', '.join(rate(end) for end in figure.interval)}]"


def _class_rows(report: SplitReport) -> Iterator[list[Span]]:
    for each in report.classes:
        counts = str(each.gt), str(each.pred), str(each.right)
        rates = (each.precision, each.recall, each.f1, each.panoptic_quality)
        cells = each.document_class or "(no class)", *counts, *map(rate, rates)
        yield [Span.of(cell) for cell in cells]


def _confusions(report: SplitReport) -> Iterator[Block]:
    wrong = [each for each in report.confusion if each.gt != each.pred or each.gt is None]
    if wrong:
        yield Text("pages of another class", "title")
    for each in wrong[:CONFUSIONS]:
        names = (_class(each.gt, "not in the ground truth"), _class(each.pred, "not predicted"))
        yield Text(f"{' -> '.join(names)}: {each.pages}", indent=INDENT, margin=INDENT)
    if len(wrong) > CONFUSIONS:
        yield Text(f"and {len(wrong) - CONFUSIONS} more kinds", "dim", margin=INDENT)


def _class(name: str | None, absent: str) -> str:
    return absent if name is None else name or "(no class)"


def _packets(packets: Iterable[PacketAccount]) -> Iterator[Block]:
    """Yield the packets with most wrong sections, and what is wrong in them."""
    wrong = [(packet, _wrong(packet)) for packet in packets]
    worst = sorted(
        ((packet, errors) for packet, errors in wrong if errors or packet.problem),
        key=lambda entry: -len(entry[1]),
    )
    if worst:
        yield Text("packets with most errors", "title")
    for packet, errors in worst[:PACKETS]:
        said = f"{len(errors)} of {number_of(len(packet.sections), 'section')} wrong"
        told = "; ".join(filter(None, (said if packet.sections else "", packet.problem)))
        yield Text(f"{packet.id}: {told}", indent=INDENT, margin=INDENT)
        for section in errors[:PACKETS]:
            yield Text(_sentence(section), indent=INDENT, margin=INDENT * 2)
        if len(errors) > PACKETS:
            yield Text(f"and {len(errors) - PACKETS} more", "dim", margin=INDENT * 2)
    if len(worst) > PACKETS:
        yield Text(f"and {len(worst) - PACKETS} more packets", "dim", margin=INDENT)


def _wrong(packet: PacketAccount) -> list[SectionOutcome]:
    return [section for section in packet.sections if section.outcome != "exact"]


def _sentence(section: SectionOutcome) -> str:
    names = " -> ".join(dict.fromkeys(filter(None, (section.gt, section.pred))))
    pages = [
        f"{what} {_ranges(numbers)}"
        for what, numbers in (("without", section.missing), ("also", section.extra))
        if numbers and section.outcome == "pages"
    ]
    return f"{names}: {_WRONG[section.outcome]}" + (f" ({', '.join(pages)})" if pages else "")


def _ranges(pages: Sequence[int]) -> str:
    """Return page numbers as people write them.

    >>> _ranges([1, 2, 3, 7])
    '1-3, 7'
    """
    starts = [pages[0], *(page for before, page in pairwise(pages) if page != before + 1)]
    ends = [*(before for before, page in pairwise(pages) if page != before + 1), pages[-1]]
    found = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return ", ".join(found[:PACKETS]) + (", ..." if len(found) > PACKETS else "")
