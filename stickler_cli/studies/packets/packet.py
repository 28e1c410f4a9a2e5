"""Read the sections of one packet, pair true with predicted sections, and count right ones."""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import comb, log
from typing import Final, Literal

from stickler_cli.core.figures import describe_keys
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.rules import Fraction

_LISTS: Final = ("sections", "documents", "pages")
_CLASSES: Final = ("document_class", "class", "type", "label")
_PAGES: Final = ("page_indices", "pages")
_NAMES: Final = ("section_id", "id", "name")
_NUMBERS: Final = ("page", "page_index", "page_number")


@dataclass(frozen=True, slots=True)
class PacketSection:
    """One document in a packet, called a section."""

    name: str
    kind: str
    """Class of the section; empty if there is none."""
    pages: Sequence[int]
    """Page numbers in reading order, without repetition."""


@dataclass(frozen=True, slots=True)
class PacketSections:
    """The sections of a packet, either in the ground truth or in the prediction."""

    sections: tuple[PacketSection, ...]
    """The sections; no page is in two of them."""
    claimed_again: int = 0
    """How often a page was listed again, in the same section or in another."""


def parse_sections(value: JsonValue, source: str) -> PacketSections | Problem:
    """Read the sections of a packet. Return a problem if they cannot be read.

    Source: layouts of stickler-eval 1.0.0 and of the GenAI IDP Accelerator, and tables of pages.
    """
    try:
        return _drop_repeated_pages(_read_sections(value))
    except _UnreadableError as error:
        return Problem(source, error.found, error.expected, pointer=error.pointer or None)


class _UnreadableError(Exception):
    """Raised if a packet cannot be read. It has a JSON Pointer to the value that is wrong."""

    def __init__(self, steps: Path, found: str, expected: str) -> None:
        super().__init__(found)
        self.pointer, self.found, self.expected = json_pointer(steps), found, expected


def _read_sections(value: JsonValue) -> list[PacketSection]:
    """Read the sections of a packet, which is a list of sections or a list of pages.

    Raises:
        _UnreadableError: the packet lists neither sections nor pages.
    """
    if isinstance(value, dict):
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        if key is None:
            description = f"the packet has no list of sections ({describe_keys(value)})"
            expected = 'a list under the key "sections", "documents" or "pages"'
            raise _UnreadableError((), description, f"{expected}; see docs/packets.md")
        steps: Path = (key,)
        listed = value[key]
    else:
        steps, listed = (), value
    if not isinstance(listed, list):
        expected = 'an object with a list of sections under the key "sections"'
        raise _UnreadableError(
            steps, f"the packet is {brief(value)}", f"{expected}; see docs/packets.md"
        )
    entries: list[tuple[Path, dict[str, JsonValue]]] = []
    for index, entry in enumerate(listed):
        entry_steps = (*steps, index)
        if not isinstance(entry, dict):
            raise _UnreadableError(entry_steps, f"the section is {brief(entry)}", "an object")
        entries.append((entry_steps, entry))
    if entries and all(_first_value(entry, _NUMBERS) is not None for _, entry in entries):
        return _read_page_table(entries)
    return [
        _read_section(entry_steps, entry, index)
        for index, (entry_steps, entry) in enumerate(entries)
    ]


def _read_section(steps: Path, entry: Mapping[str, JsonValue], index: int) -> PacketSection:
    """Read one section from an entry in a list of sections.

    The entry has a list of pages, or the numbers of the first and the last page.
    """
    name = _as_text(_first_value(entry, _NAMES)) or f"#{index + 1}"
    kind = _read_class(entry)
    inner = entry.get("split_document")
    holders: list[tuple[Path, Mapping[str, JsonValue]]] = [(steps, entry)]
    if isinstance(inner, dict):
        holders.append(((*steps, "split_document"), inner))
    for holder_steps, holder in holders:
        for key in _PAGES:
            pages = holder.get(key)
            if isinstance(pages, list):
                numbers = tuple(
                    _read_page((*holder_steps, key, index), page)
                    for index, page in enumerate(pages)
                )
                return PacketSection(name, kind, numbers)
    if "start_page" not in entry or "end_page" not in entry:
        description = f"the section has no list of pages ({describe_keys(entry)})"
        expected = 'a list under the key "page_indices", or the keys "start_page" and "end_page"'
        raise _UnreadableError(steps, description, f"{expected}; see docs/packets.md")
    first = _read_page((*steps, "start_page"), entry["start_page"])
    last = _read_page((*steps, "end_page"), entry["end_page"])
    if last < first:
        description = f"the section starts at page {first} but ends at page {last}"
        raise _UnreadableError(steps, description, "at least one page")
    return PacketSection(name, kind, range(first, last + 1))


MAX_PAGES: Final = 1_000_000
"""Maximum number of pages of a packet. Without this limit, a few bytes (such as `"end_page":
999999999`) could ask for a huge range of pages."""


def _read_page_table(
    entries: list[tuple[Path, dict[str, JsonValue]]],
) -> list[PacketSection]:
    """Read sections from a list of pages, in which each page names its section."""
    pages: dict[str, list[int]] = {}
    kinds: dict[str, str] = {}
    for steps, entry in entries:
        name = _as_text(_first_value(entry, _NAMES[:1]))
        if not name:
            raise _UnreadableError(steps, "the page does not name its section", "a section_id")
        pages.setdefault(name, []).append(_read_page(steps, _first_value(entry, _NUMBERS)))
        kinds.setdefault(name, _read_class(entry))
    return [PacketSection(name, kinds[name], tuple(numbers)) for name, numbers in pages.items()]


def _first_value(entry: Mapping[str, JsonValue], keys: tuple[str, ...]) -> JsonValue:
    """Return the value of the first key in `keys` that has one; None if all are null or missing."""
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _read_class(entry: Mapping[str, JsonValue]) -> str:
    """Return the class of a section or page; empty if there is none."""
    stated = _first_value(entry, _CLASSES)
    return _as_text(stated.get("type") if isinstance(stated, dict) else stated)


def _as_text(value: JsonValue) -> str:
    """Return a name as text; an empty text for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else brief(value)


def _read_page(steps: Path, value: JsonValue) -> int:
    """Return a page number.

    Raises:
        _UnreadableError: the value is not a whole number, or is negative.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _UnreadableError(steps, f"the page is {brief(value)}", "a whole number, not below 0")


_DIGITS: Final = 9


def _drop_repeated_pages(sections: list[PacketSection]) -> PacketSections:
    """Keep each page only in the first section that has it.

    Raises:
        _UnreadableError: the sections have more than `MAX_PAGES` pages.
    """
    n_pages = sum(len(section.pages) for section in sections)
    if n_pages > MAX_PAGES:
        raise _UnreadableError((), f"the packet has {n_pages} pages", f"at most {MAX_PAGES}")
    seen_pages: set[int] = set()
    disjoint_sections, n_repeated = [], 0
    for section in sections:
        pages = []
        for page in section.pages:
            if page in seen_pages:
                n_repeated += 1
            else:
                seen_pages.add(page)
                pages.append(page)
        disjoint_sections.append(PacketSection(section.name, section.kind, tuple(pages)))
    return PacketSections(tuple(disjoint_sections), n_repeated)


@dataclass(frozen=True, slots=True)
class PartitionScores:
    """Similarity of two divisions of a packet into sections: the true and the predicted division.

    All figures are in [0, 1] except `adjusted_rand`.
    """

    homogeneity: float
    """It is 1 if no predicted section has pages of several true sections."""
    completeness: float
    """It is 1 if no true section is spread over several predicted sections."""
    v_measure: float
    """The harmonic mean of homogeneity and completeness."""
    rand: float
    """The Rand index: the share of pairs of pages on which ground truth and prediction agree. They
    agree if both put the two pages into one section, or both put them into different sections."""
    adjusted_rand: float
    """The Rand index corrected for chance. It is at most 1, and random sections get 0 on
    average."""


def score_partitions(pages: Iterable[tuple[Hashable, Hashable]]) -> PartitionScores:
    """Compare two ways to divide pages into sections.

    `pages` has (true section, predicted section) of each page.

    Source:
        Rosenberg and Hirschberg (2007), V-Measure; Hubert and Arabie (1985),
        doi:10.1007/BF01908075, for the adjusted Rand index. Edge cases are those of scikit-learn.
    """
    cells = Counter(pages)
    gt_sizes, pred_sizes = Counter[Hashable](), Counter[Hashable]()
    for (gt, pred), count in cells.items():
        gt_sizes[gt] += count
        pred_sizes[pred] += count
    total = cells.total()
    mutual_information = sum(
        count / total * log(total * count / (gt_sizes[gt] * pred_sizes[pred]))
        for (gt, pred), count in cells.items()
    )
    homogeneity = _share_of_entropy(mutual_information, gt_sizes, total)
    completeness = _share_of_entropy(mutual_information, pred_sizes, total)
    divisor = homogeneity + completeness
    rand, adjusted_rand = _rand_indexes(cells, gt_sizes, pred_sizes, total)
    return PartitionScores(
        homogeneity=homogeneity,
        completeness=completeness,
        v_measure=2 * homogeneity * completeness / divisor if divisor else 0.0,
        rand=rand,
        adjusted_rand=adjusted_rand,
    )


def _share_of_entropy(mutual_information: float, sizes: Counter[Hashable], total: int) -> float:
    """Return mutual information divided by the entropy of a division of pages into sections.

    The result is in [0, 1]. It is 1.0 if all pages are in one section, because the entropy is then
    0. `sizes` has the number of pages of each section, and `total` is the number of all pages.
    """
    entropy = -sum(size / total * log(size / total) for size in sizes.values())
    return min(1.0, max(0.0, mutual_information / entropy)) if entropy else 1.0


def _rand_indexes(
    cells: Counter[tuple[Hashable, Hashable]],
    gt_sizes: Counter[Hashable],
    pred_sizes: Counter[Hashable],
    total: int,
) -> tuple[float, float]:
    """Return (Rand index, adjusted Rand index) for the true and the predicted sections."""
    n_pairs = comb(total, 2)
    if not n_pairs:
        return 1.0, 1.0
    # Pairs of pages in the same section: on both sides, on the true side, on the predicted side.
    together_in_both, together_in_gt, together_in_pred = (
        sum(comb(size, 2) for size in sizes.values()) for sizes in (cells, gt_sizes, pred_sizes)
    )
    rand = (n_pairs + 2 * together_in_both - together_in_gt - together_in_pred) / n_pairs
    if together_in_both == together_in_gt == together_in_pred:
        return rand, 1.0
    expected = together_in_gt * together_in_pred / n_pairs
    maximum = (together_in_gt + together_in_pred) / 2
    return rand, (together_in_both - expected) / (maximum - expected)


def kendall_tau(gt: Sequence[int], pred: Sequence[int]) -> float | None:
    """Return Kendall's tau in [-1, 1]: are the common pages in the same order in both sequences?

    Return None if the sequences share fewer than two pages.

    >>> kendall_tau([1, 2, 3], [3, 2, 1, 9]), kendall_tau([1, 2], [2])
    (-1.0, None)
    """
    position_of_page = {page: position for position, page in enumerate(pred)}
    positions = [position_of_page[page] for page in gt if page in position_of_page]
    if len(positions) < 2:
        return None
    earlier: list[int] = []
    n_swapped = 0
    for position in positions:
        n_swapped += len(earlier) - bisect_right(earlier, position)
        insort(earlier, position)
    return 1 - 2 * n_swapped / comb(len(positions), 2)


SectionStatus = Literal["exact", "order", "class", "pages", "missed", "invented"]
"""The result of a section. In this order: everything is right; only the order of pages is wrong;
only the class is wrong; some pages are wrong; the section is missed; the section is invented."""

MIN_OVERLAP: Final = 0.5
"""Two sections match if their overlap is greater than this. The overlap is the number of pages that
both have, divided by the number of pages that at least one has.

Above one half, a section can match only one other section. Source: Kirillov et al. (2019),
arXiv:1801.00868."""

SUMS: Final = (
    *("packets", "pages", "pages.right", "gt", "pred", "cuts.gt", "cuts.pred", "cuts.both"),
    *("split", "merged", "homogeneity", "completeness", "v_measure", "rand", "adjusted_rand"),
    *("exact.pages", "exact.class", "exact.order", "matches", "overlap", "orders", "order"),
)
"""Names of the counts of a packet. Each count is added up over all packets."""

EXACT: Final = ("pages", "class", "order")
"""Levels of an exact match. Each level asks for one thing more: the same pages, then also the same
class, then also the same order of pages."""

_RIGHT: Final[Mapping[SectionStatus, int]] = {"pages": 0, "class": 1, "order": 2, "exact": 3}
"""How many levels of `EXACT` a pair of sections reaches, for each status. For example, with the
status `order` only the order of pages is wrong. Pages and class are right, so the pair reaches two
levels."""


@dataclass(frozen=True, slots=True)
class SectionOutcome:
    """The result of one section."""

    outcome: SectionStatus
    """`exact`, or the kind of error. docs/packets.md describes the kinds."""
    gt: str
    """Name of the section in the ground truth; empty for an invented section."""
    pred: str
    """Name of the predicted section; empty for a missed section."""
    overlap: Fraction
    """Number of pages that both sections have, divided by the number of pages that at least one
    has."""
    missing: list[int]
    """Pages of the true section that the predicted section lacks."""
    extra: list[int]
    """Pages of the predicted section that the true section lacks."""


@dataclass(frozen=True, slots=True)
class PacketResult:
    """The result of one packet: the outcome of each section, and counts that are added up later."""

    sums: Mapping[str, float]
    """Counts of the packet. The keys are `SUMS`. `order` and `adjusted_rand` are scaled from [-1,
    1] to [0, 1]."""
    classes: Counter[tuple[str | None, str | None]]
    """Number of pages for each (true class, predicted class). The true class is None if the ground
    truth lacks the page. The predicted class is None if the prediction lacks the page."""
    by_class: Mapping[str, Mapping[str, float]]
    """Counts for each class, as `by_class[class][name]`. The names are: `gt` and `pred`, the
    numbers of true and of predicted sections; `exact`, the number of sections with exactly right
    pages and class; and `overlap`, the sum of the overlaps of matching sections."""
    outcomes: list[SectionOutcome]
    """Results of all sections. Sections of the ground truth come first, then invented sections."""


def compare_packet(gt: Sequence[PacketSection], pred: Sequence[PacketSection]) -> PacketResult:
    """Compare the true and the predicted sections of a packet.

    On each side, a page is in at most one section. The time grows linearly with the number of
    pages, except for sorting.
    """
    gt_of_page, pred_of_page = _section_of_page(gt), _section_of_page(pred)
    n_common_pages = Counter(
        (gt_index, pred_of_page[page])
        for page, gt_index in gt_of_page.items()
        if page in pred_of_page
    )
    pages = sorted(gt_of_page.keys() | pred_of_page.keys())
    gt_kinds, pred_kinds = (
        {page: section.kind for section in side for page in section.pages} for side in (gt, pred)
    )
    classes = Counter((gt_kinds.get(page), pred_kinds.get(page)) for page in pages)
    sums: dict[str, float] = {
        "packets": bool(pages),
        "pages": len(pages),
        "pages.right": sum(
            n for (gt_kind, pred_kind), n in classes.items() if gt_kind == pred_kind
        ),
        "gt": len(gt),
        "pred": len(pred),
        **_count_boundaries(pages, gt_of_page, pred_of_page),
        **_count_split_and_merged(n_common_pages),
    }
    if pages:
        # A page that a side lacks gets a section of its own there, with a unique negative number.
        scores = score_partitions(
            (gt_of_page.get(page, -1 - page), pred_of_page.get(page, -1 - page)) for page in pages
        )
        sums |= asdict(scores)
        sums["adjusted_rand"] = (scores.adjusted_rand + 1) / 2
    by_class: dict[str, dict[str, float]] = {}
    for name, side in (("gt", gt), ("pred", pred)):
        for section in side:
            by_class.setdefault(
                section.kind, dict.fromkeys(("gt", "pred", "exact", "overlap"), 0.0)
            )[name] += 1
    pairs = _pair_sections(gt, pred, n_common_pages)
    outcomes = [*_list_outcomes(gt, pred, pairs)]
    paired_sections = [
        (gt[gt_index], pred[pred_index], outcomes[gt_index])
        for gt_index, (pred_index, _) in pairs.items()
    ]
    sums |= _count_pairs(paired_sections, by_class)
    return PacketResult(sums=sums, classes=classes, by_class=by_class, outcomes=outcomes)


def _section_of_page(sections: Sequence[PacketSection]) -> dict[int, int]:
    """Return a dict from page number to the index of the section that has the page."""
    return {page: index for index, section in enumerate(sections) for page in section.pages}


def _pair_sections(
    gt: Sequence[PacketSection],
    pred: Sequence[PacketSection],
    n_common_pages: Mapping[tuple[int, int], int],
) -> dict[int, tuple[int, float]]:
    """Pair true and predicted sections. The pair with the greatest overlap is formed first.

    Return a dict from the index of a true section to (index of its predicted section, overlap of
    both). If overlaps are equal, the pair whose sections begin on the earlier pages is formed
    first. The order in which sections are listed therefore makes no difference. `n_common_pages`
    has the number of common pages for each (index of a true section, index of a predicted section).
    """
    first_gt_page, first_pred_page = (
        [min(section.pages, default=0) for section in side] for side in (gt, pred)
    )
    overlaps = {}
    for (gt_index, pred_index), n_common in n_common_pages.items():
        n_either = len(gt[gt_index].pages) + len(pred[pred_index].pages) - n_common
        overlaps[gt_index, pred_index] = n_common / n_either
    pairs: dict[int, tuple[int, float]] = {}
    paired_pred: set[int] = set()
    for gt_index, pred_index in sorted(
        overlaps,
        key=lambda pair: (-overlaps[pair], first_gt_page[pair[0]], first_pred_page[pair[1]]),
    ):
        if gt_index not in pairs and pred_index not in paired_pred:
            pairs[gt_index] = pred_index, overlaps[gt_index, pred_index]
            paired_pred.add(pred_index)
    return pairs


def _list_outcomes(
    gt: Sequence[PacketSection],
    pred: Sequence[PacketSection],
    pairs: Mapping[int, tuple[int, float]],
) -> Iterator[SectionOutcome]:
    """Yield the outcomes of all true sections, then those of all invented sections."""
    for gt_index, section in enumerate(gt):
        if gt_index not in pairs:
            yield SectionOutcome(
                outcome="missed",
                gt=section.name,
                pred="",
                overlap=0.0,
                missing=[*section.pages],
                extra=[],
            )
            continue
        pred_index, overlap = pairs[gt_index]
        predicted = pred[pred_index]
        gt_pages, pred_pages = set(section.pages), set(predicted.pages)
        yield SectionOutcome(
            outcome=_classify_pair(section, predicted),
            gt=section.name,
            pred=predicted.name,
            overlap=overlap,
            missing=sorted(gt_pages - pred_pages),
            extra=sorted(pred_pages - gt_pages),
        )
    paired_pred = {pred_index for pred_index, _ in pairs.values()}
    for pred_index, section in enumerate(pred):
        if pred_index not in paired_pred:
            yield SectionOutcome(
                outcome="invented",
                gt="",
                pred=section.name,
                overlap=0.0,
                missing=[],
                extra=[*section.pages],
            )


def _classify_pair(gt: PacketSection, pred: PacketSection) -> SectionStatus:
    """Compare a predicted section with its true section. Return the worst error, or `exact`."""
    if {*gt.pages} != {*pred.pages}:
        return "pages"
    if gt.kind != pred.kind:
        return "class"
    return "order" if gt.pages != pred.pages else "exact"


def _count_boundaries(
    pages: Sequence[int], gt_of_page: Mapping[int, int], pred_of_page: Mapping[int, int]
) -> dict[str, int]:
    """Count the boundaries between sections: on each side, and those that both sides have.

    `pages` are the numbers of all pages, sorted. The other arguments map the number of a page to
    the index of its section.
    """
    counts = dict.fromkeys(("cuts.gt", "cuts.pred", "cuts.both"), 0)
    for page, next_page in pairwise(pages):
        gt_differs = gt_of_page.get(page, -1) != gt_of_page.get(next_page, -1)
        pred_differs = pred_of_page.get(page, -1) != pred_of_page.get(next_page, -1)
        counts["cuts.gt"] += gt_differs
        counts["cuts.pred"] += pred_differs
        counts["cuts.both"] += gt_differs and pred_differs
    return counts


def _count_split_and_merged(overlapping: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Count split sections and merged sections. The keys are `split` and `merged`.

    A true section is split if several predicted sections have pages of it. A predicted section is
    merged if it has pages of several true sections. `overlapping` has (index of a true section,
    index of a predicted section) for all sections with common pages.
    """
    pairs = [*overlapping]
    n_pred_of_gt = Counter(gt_index for gt_index, _ in pairs)
    n_gt_of_pred = Counter(pred_index for _, pred_index in pairs)
    return {
        "split": sum(count > 1 for count in n_pred_of_gt.values()),
        "merged": sum(count > 1 for count in n_gt_of_pred.values()),
    }


def _count_pairs(
    pairs: Iterable[tuple[PacketSection, PacketSection, SectionOutcome]],
    by_class: Mapping[str, dict[str, float]],
) -> dict[str, float]:
    """Count exact and matching pairs of sections, and add up their overlaps and orders of pages.

    Return a dict from name to sum. The names are the last names in `SUMS`, from `exact.pages` on.
    The function also adds to `exact` and `overlap` of the true class in `by_class`.
    """
    exact: Counter[str] = Counter()
    overlaps, orders = [], []
    for gt, pred, result in pairs:
        right_levels = EXACT[: _RIGHT[result.outcome]]
        exact.update(right_levels)
        counts = by_class[gt.kind]
        counts["exact"] += "class" in right_levels
        if result.overlap > MIN_OVERLAP:
            overlaps.append(result.overlap)
            counts["overlap"] += result.overlap if gt.kind == pred.kind else 0
        order = kendall_tau(gt.pages, pred.pages)
        if order is not None:
            orders.append(order)
    return {
        **{f"exact.{name}": exact[name] for name in EXACT},
        "matches": len(overlaps),
        "overlap": sum(overlaps),
        "orders": len(orders),
        "order": sum((order + 1) / 2 for order in orders),
    }
