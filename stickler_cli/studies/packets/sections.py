"""How packets were split, as sections."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from stickler_cli.core.figures import number_of
from stickler_cli.core.sections import (
    INDENT,
    Block,
    Figure,
    Figures,
    Report,
    Section,
    Text,
    notes,
)
from .packet import SectionOutcome
from .record import PacketAccount, SplitReport

CONFUSIONS: Final = 10
"""Of pages that were given another class, the kinds that are shown."""
PACKETS: Final = 5
"""Packets with errors that are shown."""

_ALL_FIGURES: Final = (
    Figure("figure", "name", str, shown=lambda it: it.name.replace("_", " "), quoted=False),
    Figure("value", "value"),
    Figure("interval", "interval", list, 1),
)
_CLASSES: Final = (
    Figure("class", "document_class", str, shown=lambda it: it.document_class or "(no class)"),
    *(Figure(title, title.lower(), int, 1) for title in ("GT", "PRED", "right")),
    Figure("precision", "precision", rank=3, short="prec"),
    Figure("recall", "recall", rank=3),
    Figure("f1", "f1"),
    Figure("panoptic", "panoptic_quality", rank=2, short="pq"),
)
_COUNTED: Final = {
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


def report_of(record: SplitReport) -> Report:
    """Return how packets were split as a report."""
    counts = record.counts
    packets = number_of(sum(counts[f"packets.{it}"] for it in ("compared", "missing")), "packet")
    head = f"{record.gt} and {record.pred}: {packets}, {number_of(counts['pages'], 'page')}"
    others = [figure for figure in record.figures if "." not in figure.name]
    sections = [
        Section(head, [Text(_verdict(record))]),
        Section("", [_rates(record)]),
        Section("", [Figures(_ALL_FIGURES, others)]),
        Section("", [Figures(_CLASSES, record.classes)] if record.classes else []),
        _confusions(record),
        _packets(record.packets),
        Section("", notes(record.notes)),
    ]
    return Report(record, sections, Figures(_ALL_FIGURES, record.figures))


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


def _rates(report: SplitReport) -> Figures:
    def of(name: str, key: str = "value") -> Callable[[str], Any]:
        return lambda counted: getattr(report.figure(f"{counted}.{name}"), key)

    figures = [
        Figure("counted", _COUNTED.__getitem__, str, quoted=False),
        Figure("precision", of("precision"), rank=1, short="prec"),
        Figure("recall", of("recall"), rank=1),
        Figure("f1", of("f1")),
        Figure("f1 interval", of("f1", "interval"), list, 2),
    ]
    return Figures(figures, [*_COUNTED])


def _confusions(report: SplitReport) -> Section:
    wrong = [each for each in report.confusion if each.gt != each.pred or each.gt is None]
    found = []
    for each in wrong[:CONFUSIONS]:
        names = (_class(each.gt, "not in the ground truth"), _class(each.pred, "not predicted"))
        found.append(Text(f"{' -> '.join(names)}: {each.pages}", indent=INDENT, margin=INDENT))
    if len(wrong) > CONFUSIONS:
        found.append(Text(f"and {len(wrong) - CONFUSIONS} more kinds", "dim", margin=INDENT))
    return Section("pages of another class" if wrong else "", found)


def _class(name: str | None, absent: str) -> str:
    return absent if name is None else name or "(no class)"


def _packets(packets: Iterable[PacketAccount]) -> Section:
    """Return the packets with most wrong sections, and their errors."""
    wrong = [(it, [each for each in it.sections if each.outcome != "exact"]) for it in packets]
    worst = [(packet, errors) for packet, errors in wrong if errors or packet.problem]
    worst.sort(key=lambda entry: -len(entry[1]))
    return Section("packets with most errors" if worst else "", [*_worst(worst)])


def _worst(worst: Sequence[tuple[PacketAccount, Sequence[SectionOutcome]]]) -> Iterator[Block]:
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
