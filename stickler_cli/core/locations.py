"""Field paths (`line_items[2].price`) and JSON Pointers (`/line_items/2/price`).

A field path is what people read and type; a JSON Pointer (RFC 6901) is what tools follow.
Both are built from a tuple of steps: a string is a property name, an int is a list index.
"""

import json
import re
from functools import lru_cache
from typing import Final, TypeAlias

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]

_NAME: Final = r"""[^.\[\]"\s]+"""
_PLAIN_NAME: Final = re.compile(_NAME)
_STEP: Final = re.compile(
    rf"""(?:^|(?!^)\.)(?P<name>{_NAME})|\[(?P<index>\d+)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]"""
)


def field_path(path: Path) -> str:
    """Print a path as people write it; names with dots, brackets, quotes or spaces are quoted.

    >>> field_path(("line_items", 2, "price")), field_path(("a.b", "c"))
    ('line_items[2].price', '["a.b"].c')
    """
    text = "".join([f"[{step}]" if isinstance(step, int) else _named(step) for step in path])
    return text.removeprefix(".")


@lru_cache(10_000)  # a path is as long as its document is deep, and made for each value
def _named(name: str) -> str:
    return (
        f".{name}" if _PLAIN_NAME.fullmatch(name) else f"[{json.dumps(name, ensure_ascii=False)}]"
    )


def parse_field_path(text: str) -> Path:
    """Read a field path; the inverse of `field_path`.

    Raises:
        ValueError: the text is not a field path.

    >>> parse_field_path('line_items[2].price')
    ('line_items', 2, 'price')
    """
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise ValueError(f"{text!r} is not a field path: stuck at {text[position:]!r}")
        position = match.end()
        if match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"] or json.loads(match["quoted"]))
    return tuple(steps)


@lru_cache(10_000)  # lists of errors name the same fields again and again
def field_names(text: str) -> tuple[str, ...]:
    """Return the names in a field path, without its list indexes.

    Raises:
        ValueError: the text is no path.
    """
    return tuple(step for step in parse_field_path(text) if isinstance(step, str))


def json_pointer(path: Path) -> str:
    """Print a path as a JSON Pointer; the empty path is the whole document.

    Source: RFC 6901, section 3.

    >>> json_pointer(("a/b", 0, "m~n"))
    '/a~1b/0/m~0n'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
