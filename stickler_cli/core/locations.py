"""Field paths (`line_items[2].price`) and JSON Pointers (`/line_items/2/price`).

People read and write field paths; programs follow JSON Pointers (RFC 6901). Both are made from a
tuple of steps: a string is a property name, an integer is a list index.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]

ANY_KEY: Final = "*"
"""Step of a field path that stands for any key of a map, as in `prices.*`. A map is an object whose
keys are not named in the schema."""

ANY_NAMES: Final = "**"
"""In a pattern, stands for any number of names; `*` stands for exactly one name."""

_NAME: Final = r"""[^.\[\]"\s]+"""
_SCHEMA: Final = r"""[^./\[\]"\s]+/"""
"""Pattern of the name of a schema, such as `invoice/` in `invoice/lines[2]`. If a run has several
schemas, field paths begin with such a name."""
_STEP: Final = (
    rf"""(?:^|(?!^)\.)(?P<name>{_NAME})|\[(?P<index>\d+)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]"""
)


@lru_cache(10_000)  # errors name the same fields again and again
def field_path(path: Path) -> str:
    """Return a path as text; names with dots, brackets, quotes or spaces are quoted.

    A path can begin with the name of a schema, such as `invoice/`. This name is not quoted. If the
    first name is a property name that contains a slash, such as `km/h`, it is quoted, so that it
    does not look like the name of a schema.

    >>> field_path(("line_items", 2, "price")), field_path(("a.b", "c"))
    ('line_items[2].price', '["a.b"].c')
    >>> field_path(("invoice/", "lines", 2)), field_path(("km/h",))
    ('invoice/lines[2]', '["km/h"]')
    """
    first = path[0] if path else ""
    if isinstance(first, int) or "/" not in first:
        return _steps_text(path).removeprefix(".")
    if re.fullmatch(_SCHEMA, first):
        return first + _steps_text(path[1:]).removeprefix(".")
    return _quoted(first) + _steps_text(path[1:])


def _steps_text(path: Path) -> str:
    return "".join(
        [f"[{step}]" if isinstance(step, int) else _attribute_step(step) for step in path]
    )


@lru_cache(10_000)  # join once: paths are as long as documents are deep, and made for each value
def _attribute_step(name: str) -> str:
    return f".{name}" if re.fullmatch(_NAME, name) else _quoted(name)


def _quoted(name: str) -> str:
    return f"[{json.dumps(name, ensure_ascii=False)}]"


def plain_path(text: str) -> str:
    """Return a field path without the quotes around names; two paths may then look the same.

    >>> plain_path('["unit price"].tags[2]')
    'unit price.tags[2]'
    """
    if '"' not in text:
        return text
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in parse_field_path(text)
    )
    return "".join(steps).removeprefix(".")


def parse_field_path(text: str) -> Path:
    """Parse a field path; the inverse of `field_path`.

    Raises:
        ValueError: the text is not a field path.

    >>> parse_field_path('line_items[2].price')
    ('line_items', 2, 'price')
    """
    schema = re.match(_SCHEMA, text)
    return (schema[0], *_steps(text[schema.end() :])) if schema else tuple(_steps(text))


def _steps(text: str) -> Iterator[Step]:
    position, step = 0, re.compile(_STEP)  # the cache makes repeated checks cheap
    while position < len(text):
        match = step.match(text, position)
        if match is None:
            raise ValueError(
                f"{text!r} is not a field path: the text from {text[position:]!r} on cannot be read"
            )
        position = match.end()
        if match["index"] is not None:
            yield int(match["index"])
        else:
            yield match["name"] or json.loads(match["quoted"])


@lru_cache(10_000)  # lists of errors name the same fields again and again
def field_names(text: str) -> tuple[str, ...]:
    """Return the names in a field path, without its list indexes.

    Raises:
        ValueError: the text is not a field path.
    """
    return tuple(step for step in parse_field_path(text) if isinstance(step, str))


def matches_pattern(pattern: Path, path: Path) -> bool:
    """Return whether a path matches a pattern: `*` is one name, and `**` is any number of names.

    >>> matches_pattern(("**", "price"), ("lines", "price"))
    True
    >>> matches_pattern(("*", "price"), ("price",))
    False
    """
    # Lengths of the beginnings of the pattern that match the path so far.
    lengths = _skip_any_names(pattern, {0})
    for step in path:
        stays = {length for length in lengths if pattern[length : length + 1] == (ANY_NAMES,)}
        steps = (ANY_KEY, step)
        goes_on = {length + 1 for length in lengths if pattern[length : length + 1] != ()}
        lengths = stays | {length for length in goes_on if pattern[length - 1] in steps}
        lengths = _skip_any_names(pattern, lengths)
    return len(pattern) in lengths


def _skip_any_names(pattern: Path, lengths: set[int]) -> set[int]:
    """Return the given lengths, and the lengths that result if a `**` after them is skipped.

    A length is the number of steps at the beginning of the pattern that match the path so far. If
    the next step of the pattern is `**`, this step may match no name, and can then be skipped. The
    length plus 1 is therefore returned, too.
    """
    reached = set(lengths)
    for length in lengths:
        end = length
        while pattern[end : end + 1] == (ANY_NAMES,):
            end += 1
            reached.add(end)
    return reached


def json_pointer(path: Path) -> str:
    """Return a path as a JSON Pointer; the empty path is the whole document.

    Source: RFC 6901, section 3.

    >>> json_pointer(("a/b", 0, "m~n"))
    '/a~1b/0/m~0n'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def pointer_steps(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON Pointer; list indexes are digits."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
