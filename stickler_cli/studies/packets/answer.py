"""All packets of two sources, read, held against each other and summed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final, Literal, get_args

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.columns import Floats
from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import Problem
from stickler_cli.core.rules import Count, FractionOrNone, NumberOrNone
from stickler_cli.core.sections import (
    INDENT,
    Block,
    Figure,
    Figures,
    Report,
    Section,
    Text,
)
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.score.intervals import IntervalSettings, intervals_of, shares_of_documents
from stickler_cli.score.record import Verdict
from stickler_cli.studies.answering import NAMED, Answer, Desk, held_to, rates_of
from stickler_cli.studies.study import StudyRecord
from .packet import (
    EXACT,
    SUMS,
    Outcome,
    PacketResult,
    SectionOutcome,
    Sections,
    compare_packet,
    parse_sections,
)
from .question import SplitSettings

SPLIT_FORMAT: Final = "stickler-split/1"
SECTIONS_F1: Final = "sections.class.f1"

Status = Literal["compared", "missing", "failed", "only_pred"]

_SIGNED: Final = ("page_order", "adjusted_rand")
"""Figures in [-1, 1], which are summed as shares of that."""


@dataclass(frozen=True, slots=True)
class SplitFigure:
    """One figure of all packets."""

    name: str
    """What it is: docs/packets.md."""
    value: NumberOrNone
    """Null where there is nothing to divide by."""
    interval: list[float] | None
    """Where it may lie by chance; null without intervals, and of fewer than two packets."""


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The sections of one class; those with its class and the same pages are right."""

    document_class: str
    """Empty of sections without a class."""
    gt: Count
    """Sections of the ground truth."""
    pred: Count
    """Sections of the predictions."""
    right: Count
    """Those of both."""
    precision: FractionOrNone
    """Right ones among those predicted."""
    recall: FractionOrNone
    """Right ones among those to be found."""
    f1: FractionOrNone
    """Both in one figure."""
    panoptic_quality: FractionOrNone
    """Of sections of this class."""


@dataclass(frozen=True, slots=True)
class PageConfusion:
    """Pages of one class that were given a class."""

    gt: str | None
    """Null of pages that only predictions have; empty of pages without a class."""
    pred: str | None
    """Null of pages that the prediction lacks."""
    pages: Count
    """How many."""


@dataclass(frozen=True, slots=True)
class PacketAccount:
    """One packet."""

    id: str
    """As documents are named."""
    status: Status
    """`missing` without a prediction: all its sections count as missed. `failed` where a side
    cannot be read, and `only_pred` without ground truth: both count nowhere."""
    problem: str
    """What is wrong with it; empty if nothing is."""
    sections: list[SectionOutcome]
    """Its sections: those of the ground truth, then those invented."""


@dataclass(frozen=True, slots=True)
class SplitReport(StudyRecord):
    """How well packets were split into sections, as `stickler split --format json` writes it.

    Described in docs/packets.md.
    """

    format: Literal["stickler-split/1"]
    gt: str
    """The ground truth, as named."""
    pred: str
    """The predictions, as named."""
    counts: dict[str, int]
    """Packets and sections by what became of them, and pages."""
    level: NumberOrNone
    """That of the intervals."""
    figures: list[SplitFigure]
    """All figures, in the order of docs/packets.md."""
    classes: list[ClassFigures]
    """By class, most sections first."""
    confusion: list[PageConfusion]
    """Pages by their true and their predicted class, most first."""
    packets: list[PacketAccount]
    """Every packet, in the order of the ground truth."""
    notes: list[str]
    """What is odd about the sources."""

    def figure(self, name: str) -> SplitFigure:
        """Return a figure by its name."""
        return next(figure for figure in self.figures if figure.name == name)


def split_report(
    sources: tuple[str, str],
    compared: Iterable[tuple[PacketAccount, PacketResult | None]],
    intervals: IntervalSettings | None,
    notes: Iterable[str] = (),
) -> SplitReport:
    """Return what all packets come to; those without a result count nowhere."""
    packets, known = [], []
    for account, result in compared:
        packets.append(account)
        if result is not None:
            known.append((account.id, result))
    known.sort(key=itemgetter(0))  # sums of fractions depend on the order
    sums = {name: [result.sums.get(name, 0.0) for _, result in known] for name in SUMS}
    confusion: Counter[tuple[str | None, str | None]] = Counter()
    by_class: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, result in known:
        confusion.update(result.classes)
        for kind, counts in result.by_class.items():
            by_class[kind].update(counts)
    return SplitReport(
        SPLIT_FORMAT,
        __version__,
        *sources,
        _counts(packets, sums),
        None if intervals is None else intervals.level,
        _figures(sums, intervals),
        sorted(
            (_class_figures(kind, counts) for kind, counts in by_class.items()),
            key=lambda each: (-each.gt, -each.pred, each.document_class),
        ),
        [
            PageConfusion(gt, pred, pages)
            for (gt, pred), pages in sorted(
                confusion.items(), key=lambda entry: (-entry[1], *map(str, entry[0]))
            )
        ],
        packets,
        [*notes],
    )


def _counts(packets: Iterable[PacketAccount], sums: Mapping[str, list[float]]) -> dict[str, int]:
    outcomes = Counter(section.outcome for packet in packets for section in packet.sections)
    statuses = Counter(packet.status for packet in packets)
    return {
        **{f"packets.{status}": statuses[status] for status in get_args(Status)},
        **{f"sections.{outcome}": outcomes[outcome] for outcome in get_args(Outcome)},
        **{name: int(sum(sums[name])) for name in ("gt", "pred", "split", "merged", "pages")},
    }


def _quotients(sums: Mapping[str, Floats]) -> dict[str, tuple[Floats, Floats]]:
    """Return what each figure divides, and by what, of sums over packets."""
    gt, pred, packets = sums["gt"], sums["pred"], sums["packets"]
    parts = {f"sections.{how}": (sums[f"exact.{how}"], gt, pred) for how in EXACT}
    parts["boundaries"] = sums["cuts.both"], sums["cuts.gt"], sums["cuts.pred"]
    return {
        **{
            f"{counted}.{name}": quotient
            for counted, its in parts.items()
            for name, quotient in rates_of(*its).items()
        },
        "panoptic_quality": (2 * sums["overlap"], gt + pred),
        "segmentation_quality": (sums["overlap"], sums["matches"]),
        "recognition_quality": (2 * sums["matches"], gt + pred),
        "page_accuracy": (sums["pages.right"], sums["pages"]),
        **{name: (sums[name], packets) for name in _MEANS},
        "page_order": (sums["order"], sums["orders"]),
    }


_MEANS: Final = ("homogeneity", "completeness", "v_measure", "rand", "adjusted_rand")
"""Figures that are means over packets."""


def _figures(
    columns: Mapping[str, Sequence[float]], settings: IntervalSettings | None
) -> list[SplitFigure]:
    values = {name: np.array(columns[name]) for name in SUMS}
    shares = shares_of_documents(_quotients(values), settings)
    return [
        SplitFigure(
            name,
            None if share.value is None else _shown(name, share.value),
            share.interval and [_shown(name, end) for end in share.interval],
        )
        for name, share in shares.items()
    ]


def _shown(name: str, share: float) -> float:
    return 2 * share - 1 if name in _SIGNED else share


def _class_figures(kind: str, sums: Mapping[str, float]) -> ClassFigures:
    gt, pred, right = (int(sums[name]) for name in ("gt", "pred", "exact"))
    both = gt + pred
    return ClassFigures(
        kind,
        gt,
        pred,
        right,
        right / pred if pred else None,
        right / gt if gt else None,
        2 * right / both,
        2 * sums["overlap"] / both,
    )


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
    return Report.of(
        record,
        head,
        [Text(_verdict(record))],
        [_rate_table(record)],
        [Figures(_ALL_FIGURES, others)],
        [Figures(_CLASSES, record.classes)] if record.classes else [],
        _confusions(record),
        _packets(record.packets),
        rows=Figures(_ALL_FIGURES, record.figures),
    )


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


def _rate_table(report: SplitReport) -> Figures:
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


_NOTHING = Sections(())


def answer(settings: SplitSettings, desk: Desk) -> Answer:
    """Compare the sections of all packets."""
    pairs = open_pairs(settings.gt, settings.pred, settings)
    compared = (_compared_packet(pair) for pair in pairs)
    record = split_report(
        (settings.gt, settings.pred),
        compared,
        intervals_of(settings),
        map(str, pairs.problems),
    )
    report = report_of(record)
    unfit = [each for each in record.packets if each.status in {"failed", "only_pred"}]
    if unfit or not record.packets:
        said = f"error: {len(unfit)} of {len(record.packets)} packets could not be compared"
        named = [f"  {each.id}: {each.problem}" for each in unfit[:NAMED]]
        return Answer(report, Verdict.INCOMPLETE, [said, *named])
    return held_to(report, settings.fail_under, SECTIONS_F1, record.figure(SECTIONS_F1).value)


def _compared_packet(pair: DocumentPair) -> tuple[PacketAccount, PacketResult | None]:
    if pair.gt is None:
        return PacketAccount(pair.id, "only_pred", "there is no ground truth", []), None
    gt = _sections(pair.gt, "GT")
    pred = _NOTHING if pair.pred is None else _sections(pair.pred, "PRED")
    if isinstance(gt, Sections) and gt.claimed_again:
        found = f"pages in two sections: {gt.claimed_again}"
        gt = Problem("GT", found, "each page in one")
    if isinstance(gt, Problem) or isinstance(pred, Problem):
        problem = gt if isinstance(gt, Problem) else pred
        return PacketAccount(pair.id, "failed", str(problem), []), None
    result = compare_packet(gt.sections, pred.sections)
    status: Status = "compared" if pair.pred is not None else "missing"
    again = pred.claimed_again
    said = f"pages in two predicted sections: {again}; the first has them" if again else ""
    return PacketAccount(pair.id, status, said or pair.hint, result.outcomes), result


def _sections(document: JsonValue | Problem, source: str) -> Sections | Problem:
    return document if isinstance(document, Problem) else parse_sections(document, source)
