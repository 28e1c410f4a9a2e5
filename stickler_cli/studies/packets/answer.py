"""Read all packets from two sources, compare their sections, and add up the counts."""

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
    FigureColumn,
    Figures,
    Report,
    Section,
    Text,
)
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.score.intervals import (
    MIN_DOCUMENTS,
    IntervalSettings,
    document_shares,
    intervals_of,
)
from stickler_cli.score.record import RunVerdict
from stickler_cli.studies.answering import (
    MAX_NAMED_DOCUMENTS,
    Desk,
    StudyAnswer,
    check_gate,
    rates_of,
)
from stickler_cli.studies.study import StudyRecord
from .packet import (
    EXACT,
    SUMS,
    PacketResult,
    PacketSections,
    SectionOutcome,
    SectionStatus,
    compare_packet,
    parse_sections,
)
from .question import SplitSettings

SPLIT_FORMAT: Final = "stickler-split/1"
SECTIONS_F1: Final = "sections.class.f1"

PacketStatus = Literal["compared", "missing", "failed", "only_pred"]

_SIGNED: Final = ("page_order", "adjusted_rand")
"""Names of the figures that can be negative, in [-1, 1]. They are scaled to [0, 1] before they are
summed."""


@dataclass(frozen=True, slots=True)
class SplitFigure:
    """One figure over all packets."""

    name: str
    """Name of the figure, described in docs/packets.md."""
    value: NumberOrNone
    """The figure; null if its divisor is 0."""
    interval: list[float] | None
    """Confidence interval of the figure. Null if no intervals are computed, or if there are fewer
    than two packets."""


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """Figures of the sections of one class. A section is one document in a packet.

    A section is right if its class and its pages are right.
    """

    document_class: str
    """Name of the class; empty for sections without a class."""
    gt: Count
    """Number of sections in the ground truth."""
    pred: Count
    """Number of sections in the predictions."""
    right: Count
    """Number of right sections: both sides have the same pages and the same class."""
    precision: FractionOrNone
    """Share of the predicted sections that are right."""
    recall: FractionOrNone
    """Share of the sections of the ground truth that are right."""
    f1: FractionOrNone
    """Harmonic mean of precision and recall."""
    panoptic_quality: FractionOrNone
    """Panoptic quality of the sections of this class."""


@dataclass(frozen=True, slots=True)
class PageConfusion:
    """The number of pages that have a certain true class and a certain predicted class."""

    gt: str | None
    """True class. Null if the pages are not in the ground truth. Empty if their section has no
    class."""
    pred: str | None
    """Predicted class. Null if the pages are not in the prediction. Empty if their section has no
    class."""
    pages: Count
    """Number of pages."""


@dataclass(frozen=True, slots=True)
class PacketAccount:
    """The result of one packet."""

    id: str
    """The id of the packet."""
    status: PacketStatus
    """`missing`: there is no prediction, and all sections count as missed. `failed`: one side
    cannot be read. `only_pred`: there is no ground truth. The packet is not counted if it is
    `failed` or `only_pred`."""
    problem: str
    """Problem of the packet; empty if there is none."""
    sections: list[SectionOutcome]
    """Results of the packet's sections. Sections of the ground truth come first, then invented
    sections."""


@dataclass(frozen=True, slots=True)
class SplitReport(StudyRecord):
    """How well packets were split into sections, as `stickler split --format json` writes it.

    Described in docs/packets.md.
    """

    format: Literal["stickler-split/1"]
    gt: str
    """The ground truth, as the user named it."""
    pred: str
    """The predictions, as the user named them."""
    counts: dict[str, int]
    """Numbers of packets with each status, of sections with each outcome, and of pages."""
    level: NumberOrNone
    """Confidence level of the intervals; null without intervals."""
    figures: list[SplitFigure]
    """All figures, in the order of docs/packets.md."""
    classes: list[ClassFigures]
    """Figures by class; classes with most sections come first."""
    confusion: list[PageConfusion]
    """Number of pages of each pair of true and predicted class. The most frequent pairs come
    first."""
    packets: list[PacketAccount]
    """Results of every packet, in the order of the ground truth."""
    notes: list[str]
    """Problems of the sources."""

    def figure(self, name: str) -> SplitFigure:
        """Return the figure of a given name."""
        return next(figure for figure in self.figures if figure.name == name)


def split_report(
    sources: tuple[str, str],
    compared: Iterable[tuple[PacketAccount, PacketResult | None]],
    intervals: IntervalSettings | None,
    notes: Iterable[str] = (),
) -> SplitReport:
    """Add up the results of all packets, and return them as a record.

    A packet whose result is None is listed, but not counted.
    """
    packets, results_by_id = [], []
    for account, packet_result in compared:
        packets.append(account)
        if packet_result is not None:
            results_by_id.append((account.id, packet_result))
    results_by_id.sort(key=itemgetter(0))  # sort, as sums of fractions depend on the order
    packet_results = [packet_result for _, packet_result in results_by_id]
    sums = {
        name: [packet_result.sums.get(name, 0.0) for packet_result in packet_results]
        for name in SUMS
    }
    confusion: Counter[tuple[str | None, str | None]] = Counter()
    by_class: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for packet_result in packet_results:
        confusion.update(packet_result.classes)
        for kind, counts in packet_result.by_class.items():
            by_class[kind].update(counts)
    classes = [_class_figures(kind, counts) for kind, counts in by_class.items()]
    classes.sort(key=lambda figures: (-figures.gt, -figures.pred, figures.document_class))
    gt_source, pred_source = sources
    return SplitReport(
        format=SPLIT_FORMAT,
        version=__version__,
        gt=gt_source,
        pred=pred_source,
        counts=_count_packets(packets, sums),
        level=None if intervals is None else intervals.level,
        figures=_make_figures(sums, intervals),
        classes=classes,
        confusion=[
            PageConfusion(gt, pred, pages)
            for (gt, pred), pages in sorted(
                confusion.items(), key=lambda entry: (-entry[1], *map(str, entry[0]))
            )
        ],
        packets=packets,
        notes=[*notes],
    )


def _count_packets(
    packets: Iterable[PacketAccount], sums: Mapping[str, list[float]]
) -> dict[str, int]:
    """Count packets by status and sections by outcome, and add up the pages.

    `sums` is a dict from the name of each count to its numbers, one for each packet.
    """
    outcomes = Counter(section.outcome for packet in packets for section in packet.sections)
    statuses = Counter(packet.status for packet in packets)
    return {
        **{f"packets.{status}": statuses[status] for status in get_args(PacketStatus)},
        **{f"sections.{outcome}": outcomes[outcome] for outcome in get_args(SectionStatus)},
        **{name: int(sum(sums[name])) for name in ("gt", "pred", "split", "merged", "pages")},
    }


def _compute_quotients(sums: Mapping[str, Floats]) -> dict[str, tuple[Floats, Floats]]:
    """Return a dict from figure to (dividends, divisors). The arrays have one entry per packet."""
    n_gt, n_pred, n_packets = sums["gt"], sums["pred"], sums["packets"]
    quotients = {
        f"sections.{level}.{name}": quotient
        for level in EXACT
        for name, quotient in rates_of(sums[f"exact.{level}"], n_gt, n_pred).items()
    }
    boundary_rates = rates_of(sums["cuts.both"], sums["cuts.gt"], sums["cuts.pred"])
    quotients |= {f"boundaries.{name}": quotient for name, quotient in boundary_rates.items()}
    return {
        **quotients,
        "panoptic_quality": (2 * sums["overlap"], n_gt + n_pred),
        "segmentation_quality": (sums["overlap"], sums["matches"]),
        "recognition_quality": (2 * sums["matches"], n_gt + n_pred),
        "page_accuracy": (sums["pages.right"], sums["pages"]),
        **{name: (sums[name], n_packets) for name in _MEANS},
        "page_order": (sums["order"], sums["orders"]),
    }


_MEANS: Final = ("homogeneity", "completeness", "v_measure", "rand", "adjusted_rand")
"""Figures that are computed for each packet and then averaged over packets."""


def _make_figures(
    columns: Mapping[str, Sequence[float]], settings: IntervalSettings | None
) -> list[SplitFigure]:
    """Return all figures with their confidence intervals.

    `columns` is a dict from the name of each count to its numbers, one for each packet.
    """
    sums = {name: np.array(columns[name]) for name in SUMS}
    shares = document_shares(_compute_quotients(sums), settings)
    return [
        SplitFigure(
            name=name,
            value=None if share.value is None else _unscale(name, share.value),
            interval=share.interval and [_unscale(name, bound) for bound in share.interval],
        )
        for name, share in shares.items()
    ]


def _unscale(name: str, share: float) -> float:
    """Return a figure in its own range. Figures in [-1, 1] were scaled to [0, 1] before."""
    return 2 * share - 1 if name in _SIGNED else share


def _class_figures(kind: str, sums: Mapping[str, float]) -> ClassFigures:
    """Return the figures of one class."""
    n_gt, n_pred, n_right = (int(sums[name]) for name in ("gt", "pred", "exact"))
    n_sections = n_gt + n_pred
    return ClassFigures(
        document_class=kind,
        gt=n_gt,
        pred=n_pred,
        right=n_right,
        precision=n_right / n_pred if n_pred else None,
        recall=n_right / n_gt if n_gt else None,
        f1=2 * n_right / n_sections,
        panoptic_quality=2 * sums["overlap"] / n_sections,
    )


MAX_CONFUSIONS: Final = 10
"""Maximum number of confused pairs of classes in the report."""
MAX_PACKETS: Final = 5
"""The report shows at most this many packets with errors, and this many errors of each packet."""

_ALL_FIGURES: Final = (
    FigureColumn(
        "figure", "name", str, shown=lambda figure: figure.name.replace("_", " "), quoted=False
    ),
    FigureColumn("value", "value"),
    FigureColumn(title="interval", value="interval", kind=list, rank=1),
)
_WITHOUT_INTERVAL: Final = _ALL_FIGURES[:-1]
_CLASSES: Final = (
    FigureColumn(
        "class",
        "document_class",
        str,
        shown=lambda figures: figures.document_class or "(no class)",
    ),
    *(
        FigureColumn(title=title, value=title.lower(), kind=int, rank=1)
        for title in ("GT", "PRED", "right")
    ),
    FigureColumn("precision", "precision", rank=3, short="prec"),
    FigureColumn("recall", "recall", rank=3),
    FigureColumn("f1", "f1"),
    FigureColumn("panoptic", "panoptic_quality", rank=2, short="pq"),
)
_COUNTED: Final = {
    "sections.pages": "sections, by pages",
    "sections.class": "sections, by pages and class",
    "sections.order": "sections, by pages, class and page order",
    "boundaries": "boundaries",
}
_WRONG: Final = {
    "order": "pages in another order",
    "class": "another class",
    "pages": "other pages",
    "missed": "missed",
    "invented": "invented",
}


def make_report(record: SplitReport) -> Report:
    """Return the report of `stickler split`."""
    counts = record.counts
    packets = number_of(counts["packets.compared"] + counts["packets.missing"], "packet")
    pages = number_of(counts["pages"], "page")
    head = f"{packets}, {pages}; ground truth: {record.gt}; predictions: {record.pred}"
    figures_without_rates = [figure for figure in record.figures if "." not in figure.name]
    n_compared = counts["packets.compared"]
    has_too_few = record.level is not None and n_compared < MIN_DOCUMENTS
    verb = "is" if n_compared == 1 else "are"
    remark = f"{number_of(n_compared, 'packet')} {verb} too few for an interval"
    columns = _WITHOUT_INTERVAL if has_too_few else _ALL_FIGURES
    return Report.of_study(
        record,
        head,
        [Text(_verdict_sentence(record))],
        [_rate_table(record, with_intervals=not has_too_few)],
        [Figures(columns, figures_without_rates)],
        [Text(remark, "dim")] if has_too_few else [],
        [Figures(_CLASSES, record.classes)] if record.classes else [],
        _confusion_section(record),
        _packet_section(record.packets),
        rows=Figures(_ALL_FIGURES, record.figures),
    )


def _verdict_sentence(report: SplitReport) -> str:
    """Return a sentence for the report: how many sections are right, split, merged and so on."""
    counts = report.counts
    right = counts["sections.exact"] + counts["sections.order"]
    summary = (
        f"{right} of {number_of(counts['gt'], 'true section')} were predicted with the right pages "
        "and class"
    )
    errors = [
        f"{number_of(counts[name], section)} {description}"
        for name, section, description in (
            ("split", "true section", "split"),
            ("merged", "predicted section", "merged from several"),
            ("sections.missed", "true section", "missed"),
            ("sections.invented", "predicted section", "invented"),
        )
        if counts[name]
    ]
    if not errors:
        return summary
    return f"{summary}; errors: {', '.join(errors)}"


def _rate_table(report: SplitReport, *, with_intervals: bool) -> Figures:
    """Return the table of precision, recall and F1 of sections and boundaries."""

    def read_figure(name: str, key: str = "value") -> Callable[[str], Any]:
        return lambda counted: getattr(report.figure(f"{counted}.{name}"), key)

    figures = [
        FigureColumn("counted", _COUNTED.__getitem__, str, quoted=False),
        FigureColumn("precision", read_figure("precision"), rank=1, short="prec"),
        FigureColumn("recall", read_figure("recall"), rank=1),
        FigureColumn("f1", read_figure("f1")),
    ]
    if with_intervals:
        figures.append(
            FigureColumn(
                title="f1 interval", value=read_figure("f1", "interval"), kind=list, rank=2
            )
        )
    return Figures(figures, [*_COUNTED])


def _confusion_section(report: SplitReport) -> Section:
    """Return the section of the report that lists how many pages have a wrong class."""
    confusions = [
        confusion
        for confusion in report.confusion
        if confusion.gt != confusion.pred or confusion.gt is None
    ]
    lines = []
    for confusion in confusions[:MAX_CONFUSIONS]:
        gt = _class_name(confusion.gt, "missing in the ground truth")
        pred = _class_name(confusion.pred, "not predicted")
        lines.append(Text(f"{gt} -> {pred}: {confusion.pages}", indent=INDENT, margin=INDENT))
    if len(confusions) > MAX_CONFUSIONS:
        n_more = len(confusions) - MAX_CONFUSIONS
        lines.append(Text(f"and {n_more} more kinds", "dim", margin=INDENT))
    return Section("pages of another class" if confusions else "", lines)


def _class_name(name: str | None, absent: str) -> str:
    """Return the name of a class for the report, or `absent` if the name is None."""
    return absent if name is None else name or "(no class)"


def _packet_section(packets: Iterable[PacketAccount]) -> Section:
    """Return the section of the report that lists the packets with most errors."""
    errors_by_packet = []
    for packet in packets:
        errors = [section for section in packet.sections if section.outcome != "exact"]
        if errors or packet.problem:
            errors_by_packet.append((packet, errors))
    errors_by_packet.sort(key=lambda entry: -len(entry[1]))
    title = "packets with most errors" if errors_by_packet else ""
    return Section(title, [*_list_worst_packets(errors_by_packet)])


def _list_worst_packets(
    errors_by_packet: Sequence[tuple[PacketAccount, Sequence[SectionOutcome]]],
) -> Iterator[Block]:
    """Yield a line for each of the worst packets, followed by lines for its first errors."""
    for packet, errors in errors_by_packet[:MAX_PACKETS]:
        summary = f"{len(errors)} of {number_of(len(packet.sections), 'section')} wrong"
        clauses = filter(None, (summary if packet.sections else "", packet.problem))
        yield Text(f"{packet.id}: {'; '.join(clauses)}", indent=INDENT, margin=INDENT)
        for section in errors[:MAX_PACKETS]:
            yield Text(_error_sentence(section), indent=INDENT, margin=INDENT * 2)
        if len(errors) > MAX_PACKETS:
            yield Text(f"and {len(errors) - MAX_PACKETS} more", "dim", margin=INDENT * 2)
    if len(errors_by_packet) > MAX_PACKETS:
        n_more = len(errors_by_packet) - MAX_PACKETS
        yield Text(f"and {n_more} more packets", "dim", margin=INDENT)


def _error_sentence(section: SectionOutcome) -> str:
    """Return a sentence that describes the error of a section and lists the wrong pages."""
    names = " -> ".join(dict.fromkeys(filter(None, (section.gt, section.pred))))
    pages = [
        f"{preposition} {_format_pages(numbers)}"
        for preposition, numbers in (("without", section.missing), ("also", section.extra))
        if numbers and section.outcome == "pages"
    ]
    return f"{names}: {_WRONG[section.outcome]}" + (f" ({', '.join(pages)})" if pages else "")


def _format_pages(pages: Sequence[int]) -> str:
    """Return page numbers as ranges.

    >>> _format_pages([1, 2, 3, 7])
    '1-3, 7'
    """
    starts = [pages[0], *(page for before, page in pairwise(pages) if page != before + 1)]
    ends = [*(before for before, page in pairwise(pages) if page != before + 1), pages[-1]]
    ranges = [
        str(start) if start == end else f"{start}-{end}"
        for start, end in zip(starts, ends, strict=True)
    ]
    return ", ".join(ranges[:MAX_PACKETS]) + (", ..." if len(ranges) > MAX_PACKETS else "")


_NO_SECTIONS: Final = PacketSections(())


def answer(settings: SplitSettings, desk: Desk) -> StudyAnswer:
    """Compare the sections of all packets of two sources."""
    pairs = open_pairs(settings.gt, settings.pred, settings)
    compared = (_compare_pair(pair) for pair in pairs)
    record = split_report(
        (settings.gt, settings.pred),
        compared,
        intervals_of(settings),
        map(str, pairs.problems),
    )
    report = make_report(record)
    failed = [packet for packet in record.packets if packet.status in {"failed", "only_pred"}]
    if failed or not record.packets:
        counted = f"{len(failed)} of {len(record.packets)} packets (scans of several documents)"
        message = f"error: {counted} could not be compared"
        reasons = [f"  {packet.id}: {packet.problem}" for packet in failed[:MAX_NAMED_DOCUMENTS]]
        return StudyAnswer(report, RunVerdict.INCOMPLETE, [message, *reasons])
    return check_gate(report, settings.fail_under, SECTIONS_F1, record.figure(SECTIONS_F1).value)


def _count_pages(count: int) -> str:
    """Return the subject and the verb of a sentence on pages, such as `1 page is`."""
    return f"{number_of(count, 'page')} {'is' if count == 1 else 'are'}"


def _compare_pair(pair: DocumentPair) -> tuple[PacketAccount, PacketResult | None]:
    """Compare the sections of one packet. The result is None if this is not possible."""
    if pair.gt is None:
        return _failed_account(
            pair, "only_pred", "this packet has a prediction, but no ground truth"
        ), None
    gt = _parse_document(pair.gt, "GT")
    pred = _NO_SECTIONS if pair.pred is None else _parse_document(pair.pred, "PRED")
    if isinstance(gt, PacketSections) and gt.claimed_again:
        repeated = f"{_count_pages(gt.claimed_again)} in two sections"
        gt = Problem("GT", repeated, "each page in only one section")
    if isinstance(gt, Problem):
        return _failed_account(pair, "failed", str(gt)), None
    if isinstance(pred, Problem):
        return _failed_account(pair, "failed", str(pred)), None
    packet_result = compare_packet(gt.sections, pred.sections)
    n_repeated = pred.claimed_again
    repeated = (
        f"{_count_pages(n_repeated)} in two predicted sections; such a page counts only for the "
        "first of its sections"
    )
    account = PacketAccount(
        id=pair.id,
        status="compared" if pair.pred is not None else "missing",
        problem=repeated if n_repeated else pair.hint,
        sections=packet_result.outcomes,
    )
    return account, packet_result


def _failed_account(pair: DocumentPair, status: PacketStatus, problem: str) -> PacketAccount:
    """Return the entry of the record for a packet that could not be compared."""
    return PacketAccount(id=pair.id, status=status, problem=problem, sections=[])


def _parse_document(document: JsonValue | Problem, source: str) -> PacketSections | Problem:
    """Read the sections of a packet from one side's document. Return a problem if this fails."""
    return document if isinstance(document, Problem) else parse_sections(document, source)
