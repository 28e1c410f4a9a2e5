"""One packet: its sections as files have them, those of both sides paired, and their counts."""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, log
from typing import Final, Literal

from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.rules import Fraction

_LISTS: Final = ("sections", "documents", "pages")
_CLASSES: Final = ("document_class", "class", "type", "label")
_PAGES: Final = ("page_indices", "pages")
_NAMES: Final = ("section_id", "id", "name")
_NUMBERS: Final = ("page", "page_index", "page_number")
_EXPECTED: Final = "sections with pages, or pages with sections: docs/packets.md"


@dataclass(frozen=True, slots=True)
class Section:
    """A document in a packet."""

    name: str
    kind: str
    """Its class; empty without any."""
    pages: Sequence[int]
    """Each once, in the order of reading."""


@dataclass(frozen=True, slots=True)
class Sections:
    """All that a side says of a packet."""

    sections: tuple[Section, ...]
    """No page is in two of them."""
    claimed_again: int = 0
    """How often a section had a page that an earlier one, or itself, had already."""


def parse_sections(value: JsonValue, source: str) -> Sections | Problem:
    """Return the sections of a packet; a problem where it has none to read.

    Source: the layouts of stickler-eval 1.0.0 and of the GenAI IDP Accelerator, and page tables.
    """
    try:
        return _disjoint(_read(value))
    except _UnreadableError as error:
        return Problem(source, error.found, error.expected, pointer=error.pointer or None)


class _UnreadableError(Exception):
    def __init__(self, steps: Path, found: str, expected: str = _EXPECTED) -> None:
        super().__init__(found)
        self.pointer, self.found, self.expected = json_pointer(steps), found, expected


def _read(value: JsonValue) -> list[Section]:
    if isinstance(value, dict):
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        if key is None:
            raise _UnreadableError((), f"the packet has the keys {brief([*value])}")
        steps: Path = (key,)
        listed = value[key]
    else:
        steps, listed = (), value
    if not isinstance(listed, list):
        raise _UnreadableError(steps, f"the packet is {brief(value)}")
    entries: list[tuple[Path, dict[str, JsonValue]]] = []
    for at, entry in enumerate(listed):
        if not isinstance(entry, dict):
            raise _UnreadableError((*steps, at), f"the section is {brief(entry)}", "an object")
        entries.append(((*steps, at), entry))
    if entries and all(_first(entry, _NUMBERS) is not None for _, entry in entries):
        return _of_page_table(entries)
    return [_section(steps, entry, at) for at, (steps, entry) in enumerate(entries)]


def _section(steps: Path, entry: Mapping[str, JsonValue], number: int) -> Section:
    name, kind = _text(_first(entry, _NAMES)) or f"#{number + 1}", _class(entry)
    inner = entry.get("split_document")
    holders: list[tuple[Path, Mapping[str, JsonValue]]] = [(steps, entry)]
    if isinstance(inner, dict):
        holders.append(((*steps, "split_document"), inner))
    for place, holder in holders:
        for key in _PAGES:
            pages = holder.get(key)
            if isinstance(pages, list):
                read = tuple(_page((*place, key, at), page) for at, page in enumerate(pages))
                return Section(name, kind, read)
    if "start_page" not in entry or "end_page" not in entry:
        raise _UnreadableError(steps, f"the section has the keys {brief([*entry])}")
    first, last = (_page((*steps, key), entry[key]) for key in ("start_page", "end_page"))
    if last < first:
        found = f"the section goes from page {first} to page {last}"
        raise _UnreadableError(steps, found, "at least one page")
    return Section(name, kind, range(first, last + 1))


MOST_PAGES: Final = 1_000_000
"""Pages of a packet: a section that is given by its ends says any number in a few bytes."""


def _of_page_table(
    entries: list[tuple[Path, dict[str, JsonValue]]],
) -> list[Section]:
    """Return the sections of pages that each name theirs."""
    pages: dict[str, list[int]] = {}
    kinds: dict[str, str] = {}
    for steps, entry in entries:
        name = _text(_first(entry, _NAMES[:1]))
        if not name:
            raise _UnreadableError(steps, "the page names no section", "a section_id")
        pages.setdefault(name, []).append(_page(steps, _first(entry, _NUMBERS)))
        kinds.setdefault(name, _class(entry))
    return [Section(name, kinds[name], tuple(numbers)) for name, numbers in pages.items()]


def _first(entry: Mapping[str, JsonValue], keys: tuple[str, ...]) -> JsonValue:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _class(entry: Mapping[str, JsonValue]) -> str:
    found = _first(entry, _CLASSES)
    return _text(found.get("type") if isinstance(found, dict) else found)


def _text(value: JsonValue) -> str:
    return "" if value is None else value if isinstance(value, str) else brief(value)


def _page(steps: Path, value: JsonValue) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _DIGITS:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _UnreadableError(steps, f"the page is {brief(value)}", "a whole number, not below 0")


_DIGITS: Final = 10


def _disjoint(sections: list[Section]) -> Sections:
    """Return sections where a page belongs to the first that has it."""
    taken: set[int] = set()
    found, again = [], 0
    if (number := sum(len(section.pages) for section in sections)) > MOST_PAGES:
        raise _UnreadableError((), f"the packet has {number} pages", f"at most {MOST_PAGES}")
    for section in sections:
        pages = []
        for page in section.pages:
            if page in taken:
                again += 1
            else:
                taken.add(page)
                pages.append(page)
        found.append(Section(section.name, section.kind, tuple(pages)))
    return Sections(tuple(found), again)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two partitions of a set held against each other; all in [0, 1] but the last."""

    homogeneity: float
    """Whether each predicted part has pages of one true part only."""
    completeness: float
    """Whether the pages of each true part are in one predicted part."""
    v_measure: float
    """Their harmonic mean."""
    rand: float
    """The share of pairs of pages that both keep together, or both apart."""
    adjusted_rand: float
    """The same above what chance gives; at most 1, and 0 on average by chance."""


def likeness(pages: Iterable[tuple[Hashable, Hashable]]) -> Likeness:
    """Return how alike two partitions are, of the true and the predicted part of each page.

    Source:
        Rosenberg and Hirschberg (2007), V-Measure; Hubert and Arabie (1985),
        doi:10.1007/BF01908075, for the adjusted Rand index. Edge cases are those of scikit-learn.
    """
    cells = Counter(pages)
    true, pred = Counter[Hashable](), Counter[Hashable]()
    for (mine, theirs), count in cells.items():
        true[mine] += count
        pred[theirs] += count
    total = cells.total()
    shared = sum(
        count / total * log(total * count / (true[mine] * pred[theirs]))
        for (mine, theirs), count in cells.items()
    )
    homogeneity, completeness = (_share(shared, part, total) for part in (true, pred))
    both = homogeneity + completeness
    v_measure = 2 * homogeneity * completeness / both if both else 0.0
    return Likeness(homogeneity, completeness, v_measure, *_rand(cells, true, pred, total))


def _share(shared: float, parts: Counter[Hashable], total: int) -> float:
    """Return how much of the entropy of a partition is shared, in [0, 1]."""
    entropy = -sum(count / total * log(count / total) for count in parts.values())
    return min(1.0, max(0.0, shared / entropy)) if entropy else 1.0


def _rand(
    cells: Counter[tuple[Hashable, Hashable]],
    true: Counter[Hashable],
    pred: Counter[Hashable],
    total: int,
) -> tuple[float, float]:
    together, mine, theirs = (
        sum(comb(count, 2) for count in each.values()) for each in (cells, true, pred)
    )
    pairs = comb(total, 2)
    if not pairs:
        return 1.0, 1.0
    rand = (pairs + 2 * together - mine - theirs) / pairs
    if together == mine == theirs:
        return rand, 1.0
    expected = mine * theirs / pairs
    return rand, (together - expected) / ((mine + theirs) / 2 - expected)


def order_of(true: Sequence[int], pred: Sequence[int]) -> float | None:
    """Return how alike the order of the common pages is, in [-1, 1]; None of fewer than two.

    That is Kendall's tau, of which all forms agree where no two pages are level.

    >>> order_of([1, 2, 3], [3, 2, 1, 9]), order_of([1, 2], [2])
    (-1.0, None)
    """
    places = {page: at for at, page in enumerate(pred)}
    found = [places[page] for page in true if page in places]
    if len(found) < 2:
        return None
    before: list[int] = []
    swapped = 0
    for place in found:
        swapped += len(before) - bisect_right(before, place)
        insort(before, place)
    return 1 - 2 * swapped / comb(len(found), 2)


Outcome = Literal["exact", "order", "class", "pages", "missed", "invented"]
"""What became of a section: all right; the same pages in another order, or of another class; some
of its pages; none; not in the ground truth."""

MATCH: Final = 0.5
"""Sections whose pages overlap by more match. Source: Kirillov et al. (2019), arXiv:1801.00868:
above one half no section can have two matches."""

SUMS: Final = (
    *("packets", "pages", "pages.right", "gt", "pred", "cuts.gt", "cuts.pred", "cuts.both"),
    *("split", "merged", "homogeneity", "completeness", "v_measure", "rand", "adjusted_rand"),
    *("exact.pages", "exact.class", "exact.order", "matches", "overlap", "orders", "order"),
)
"""Counts that are summed over packets."""

EXACT: Final = ("pages", "class", "order")
"""Levels of an exact match: pages; also class; also order of pages."""

_RIGHT: Final[Mapping[Outcome, int]] = {"pages": 0, "class": 1, "order": 2, "exact": 3}
"""How much of `EXACT` is right in a pair of each outcome."""


@dataclass(frozen=True, slots=True)
class SectionOutcome:
    """What became of one section."""

    outcome: Outcome
    """`exact`, or what is wrong: docs/packets.md."""
    gt: str
    """Its name in the ground truth; empty of an invented one."""
    pred: str
    """That of the predicted section that it is held against; empty of a missed one."""
    overlap: Fraction
    """Pages of both, divided by pages of either."""
    missing: list[int]
    """Pages that the prediction has not in this section."""
    extra: list[int]
    """Pages that the prediction has too many in it."""


@dataclass(frozen=True, slots=True)
class PacketResult:
    """The counts of one packet. They are summed over packets, by their names."""

    sums: Mapping[str, float]
    """Those that may be below 0, `order` and `adjusted_rand`, are put into [0, 1]."""
    classes: Counter[tuple[str | None, str | None]]
    """Pages by their true and their predicted class; None where a side lacks the page."""
    by_class: Mapping[str, Mapping[str, float]]
    """The counts of sections by class: `gt`, `pred`, `exact`, `overlap`."""
    outcomes: list[SectionOutcome]
    """Every section: those of the ground truth, then those invented."""


def compare_packet(gt: Sequence[Section], pred: Sequence[Section]) -> PacketResult:
    """Return the counts of a packet; in neither side has a page two sections.

    Work is in proportion to the pages, but for sorting.
    """
    of_gt, of_pred = _owners(gt), _owners(pred)
    shared = Counter((at, of_pred[page]) for page, at in of_gt.items() if page in of_pred)
    pages = sorted(of_gt.keys() | of_pred.keys())
    kinds_of_gt, kinds_of_pred = (
        {page: it.kind for it in side for page in it.pages} for side in (gt, pred)
    )
    classes = Counter((kinds_of_gt.get(page), kinds_of_pred.get(page)) for page in pages)
    sums: dict[str, float] = {
        "packets": bool(pages),
        "pages": len(pages),
        "pages.right": sum(count for (mine, theirs), count in classes.items() if mine == theirs),
        "gt": len(gt),
        "pred": len(pred),
        **_cuts(pages, of_gt, of_pred),
        **_entangled(shared),
    }
    if pages:
        # A page that a side lacks stands there by itself.
        parts = ((of_gt.get(page, -1 - page), of_pred.get(page, -1 - page)) for page in pages)
        alike = likeness((("", mine), ("", theirs)) for mine, theirs in parts)
        sums |= {name: getattr(alike, name) for name in alike.__slots__}
        sums["adjusted_rand"] = (alike.adjusted_rand + 1) / 2
    by_class: dict[str, dict[str, float]] = {}
    for name, side in (("gt", gt), ("pred", pred)):
        for section in side:
            by_class.setdefault(
                section.kind, dict.fromkeys(("gt", "pred", "exact", "overlap"), 0.0)
            )[name] += 1
    pairs = _pairs(gt, pred, shared)
    outcomes = [*_outcomes(gt, pred, pairs)]
    found = [(gt[at], pred[pairs[at][0]], outcomes[at]) for at in pairs]
    sums |= _count_pairs(found, by_class)
    return PacketResult(sums, classes, by_class, outcomes)


def _owners(sections: Sequence[Section]) -> dict[int, int]:
    """Return the place of the section that each page is in."""
    return {page: at for at, section in enumerate(sections) for page in section.pages}


def _pairs(
    gt: Sequence[Section], pred: Sequence[Section], shared: Mapping[tuple[int, int], int]
) -> dict[int, tuple[int, float]]:
    """Return for sections of the ground truth one of the prediction each, and their overlap.

    Those that overlap most are taken first, so all that match are; of those that overlap as much,
    those of the first pages, so that the order of sections is no matter. `shared` says how many
    pages two sections have in common.
    """
    first_of_gt, first_of_pred = (
        [min(section.pages, default=0) for section in side] for side in (gt, pred)
    )
    overlaps = {
        (mine, theirs): count / (len(gt[mine].pages) + len(pred[theirs].pages) - count)
        for (mine, theirs), count in shared.items()
    }
    found: dict[int, tuple[int, float]] = {}
    taken: set[int] = set()
    for mine, theirs in sorted(
        overlaps, key=lambda pair: (-overlaps[pair], first_of_gt[pair[0]], first_of_pred[pair[1]])
    ):
        if mine not in found and theirs not in taken:
            found[mine] = theirs, overlaps[mine, theirs]
            taken.add(theirs)
    return found


def _outcomes(
    gt: Sequence[Section], pred: Sequence[Section], pairs: Mapping[int, tuple[int, float]]
) -> Iterator[SectionOutcome]:
    for at, section in enumerate(gt):
        if at not in pairs:
            yield SectionOutcome("missed", section.name, "", 0.0, [*section.pages], [])
            continue
        number, overlap = pairs[at]
        other = pred[number]
        mine, theirs = set(section.pages), set(other.pages)
        outcome: Outcome = "exact"
        if mine != theirs:
            outcome = "pages"
        elif section.kind != other.kind:
            outcome = "class"
        elif section.pages != other.pages:
            outcome = "order"
        missing, extra = sorted(mine - theirs), sorted(theirs - mine)
        yield SectionOutcome(outcome, section.name, other.name, overlap, missing, extra)
    taken = {number for number, _ in pairs.values()}
    for number, section in enumerate(pred):
        if number not in taken:
            yield SectionOutcome("invented", "", section.name, 0.0, [], [*section.pages])


def _cuts(
    pages: Sequence[int], of_gt: Mapping[int, int], of_pred: Mapping[int, int]
) -> dict[str, int]:
    """Return between how many neighbouring pages a side, or both, begin another section."""
    found = dict.fromkeys(("cuts.gt", "cuts.pred", "cuts.both"), 0)
    for page, following in pairwise(pages):
        mine, theirs = (
            owners.get(page, -1) != owners.get(following, -1) for owners in (of_gt, of_pred)
        )
        found["cuts.gt"] += mine
        found["cuts.pred"] += theirs
        found["cuts.both"] += mine and theirs
    return found


def _entangled(shared: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Return how many true sections are in several predicted ones, and the other way round."""
    split, merged = (Counter(pair[side] for pair in shared) for side in (0, 1))
    return {
        name: sum(count > 1 for count in counts.values())
        for name, counts in (("split", split), ("merged", merged))
    }


def _count_pairs(
    pairs: Iterable[tuple[Section, Section, SectionOutcome]],
    by_class: Mapping[str, dict[str, float]],
) -> dict[str, float]:
    """Return the counts of pairs of sections, and add them to their classes."""
    exact: Counter[str] = Counter()
    overlaps, orders = [], []
    for mine, theirs, found in pairs:
        right = EXACT[: _RIGHT[found.outcome]]
        exact.update(right)
        by_class[mine.kind]["exact"] += "class" in right
        if found.overlap > MATCH:
            overlaps.append(found.overlap)
            by_class[mine.kind]["overlap"] += found.overlap if mine.kind == theirs.kind else 0
        order = order_of(mine.pages, theirs.pages)
        if order is not None:
            orders.append(order)
    return {
        **{f"exact.{name}": exact[name] for name in EXACT},
        "matches": len(overlaps),
        "overlap": sum(overlaps),
        "orders": len(orders),
        "order": sum((order + 1) / 2 for order in orders),
    }
