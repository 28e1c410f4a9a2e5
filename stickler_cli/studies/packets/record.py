"""All packets together: figures with their intervals, and what there is to say of each packet."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal, get_args

import numpy as np

from stickler_cli import __version__
from stickler_cli.compare.account import Floats
from stickler_cli.core.rules import Count, FractionOrNone, NumberOrNone
from stickler_cli.core.values import dataclass
from stickler_cli.score.intervals import IntervalSettings, shares_of_documents
from stickler_cli.studies.study import StudyRecord
from .packet import EXACT, SUMS, Outcome, PacketResult, SectionOutcome

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
            for name, quotient in _rates(*its).items()
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


def _rates(both: Floats, gt: Floats, pred: Floats) -> dict[str, tuple[Floats, Floats]]:
    return {"precision": (both, pred), "recall": (both, gt), "f1": (2 * both, gt + pred)}


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
