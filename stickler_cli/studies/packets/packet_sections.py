"""The sections of a packet, as files have them: class, and pages in their order."""

from collections.abc import Mapping, Sequence
from typing import Final

from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass

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
