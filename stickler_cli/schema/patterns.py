r"""Regular expressions as JSON Schema writes them (ECMA-262), searched in bounded time.

An engine that takes time in proportion to the text, the one in pydantic_core, searches what it
can. It has no look-around and no references to groups: those are left to Python's `re`, where
the steps that it may take are known to be few.

The dialects differ in little: names of groups, properties of characters (`\p{L}`), what `$` means
before a line break, `[]`, and escapes that mean nothing. `\d`, `\w` and `\b` know only ASCII.
"""

import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.schema.backtracking import MOST_STEPS, most_steps

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

_CHARACTER: Final = r"""
    \\(?P<property>[pP])\{(?P<category>[^}]*)\}
    | \\u\{(?P<code>[0-9A-Fa-f]{1,6})\}
    | \\c(?P<control>[A-Za-z])
    | \\(?P<escape>.)
"""
_IN_CLASS: Final = re.compile(rf"{_CHARACTER} | (?P<other>.)", re.VERBOSE | re.DOTALL)
_OUTSIDE: Final = re.compile(
    rf"""
    (?:\\k<|\(\?P=)(?P<back>[^>)]*)[>)]
    | {_CHARACTER}
    | \(\?P?<(?P<group>[^=!>][^>]*)>
    | (?P<open>\((?!\?))
    | (?P<any>\[\^\])
    | (?P<none>\[\])
    | (?P<class>\[\^?)
    | (?P<end>\$)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_KNOWN_ESCAPES: Final = frozenset("abBdDfnrsStvuwWxAZz")
"""Letters that mean something after a backslash; others stand for themselves. `\\A`, `\\Z` and
`\\z` mean nothing to ECMA-262, but something to whoever writes them."""

_WHITESPACE: Final = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What `\\s` means there. Source: ECMA-262, section 22.2.2.9."""

_DIFFERENT: Final = {"any": r"[\s\S]", "none": "(?!)", "end": r"\Z"}

_LONG_NAMES: Final = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "Punctuation": "P",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Symbol": "S",
    "Uppercase_Letter": "Lu",
    "digit": "Nd",
    "punct": "P",
}
"""Other names of general categories, as far as they are in use."""


_LINEAR_ESCAPES: Final = {
    "d": ("[0-9]", "0-9"),
    "D": ("[^0-9]", "[^0-9]"),
    "w": ("[0-9A-Za-z_]", "0-9A-Za-z_"),
    "W": ("[^0-9A-Za-z_]", "[^0-9A-Za-z_]"),
    "s": (f"[{_WHITESPACE}]", _WHITESPACE),
    "S": (f"[^{_WHITESPACE}]", f"[^{_WHITESPACE}]"),
    "b": (r"(?-u:\b)", r"\x08"),
    "B": (r"(?-u:\B)", "B"),
    "Z": (r"\z", "Z"),
}
"""Escapes that are written otherwise for the linear engine, outside and inside of a class."""


@dataclass(frozen=True, slots=True)
class SchemaPattern:
    """A pattern of a schema, ready to be searched for; equal by its text, and picklable."""

    text: str
    """As the schema has it."""
    _regex: re.Pattern[str] = field(compare=False, repr=False)
    _linear: "SchemaValidator | None" = field(compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_pattern, (self.text,)

    def search(self, text: str) -> bool | None:
        """Say whether the pattern is in a text; None where to tell might take too long."""
        if self._linear is not None:
            return self._linear.isinstance_python(text)
        if most_steps(self._regex.pattern, len(text)) > MOST_STEPS:
            return None
        return bool(self._regex.search(text))


@lru_cache(maxsize=1024)
def compile_pattern(text: str) -> SchemaPattern:
    r"""Compile a pattern of a schema; it is meant for `search`.

    Raises:
        re.error: Python has nothing like it, such as the scripts of Unicode, or no text could be
            searched for it in bounded time.

    >>> compile_pattern(r"^(?<year>\d{4})-\k<year>$").search("2024-2024")
    True
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # `[[`, `--` mean what they mean today
            regex = re.compile("".join(_translated(text)), re.ASCII)
    except (OverflowError, RecursionError) as error:
        raise re.error(str(error)) from None
    linear = _linear_engine(text)
    if linear is None and most_steps(regex.pattern, 2) > MOST_STEPS:
        raise re.error("it looks around or back, and repeats what can be read in several ways")
    return SchemaPattern(text, regex, linear)


def _linear_engine(text: str) -> "SchemaValidator | None":
    """Build what searches in linear time; None if the pattern asks for more than it can."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # few schemas have patterns

    if "--" in text:  # the difference of two classes there
        return None
    linear = "".join(_translated(text, _linear_character))
    try:
        return SchemaValidator(core_schema.str_schema(pattern=linear, regex_engine="rust-regex"))
    except SchemaError:
        return None


def _translated(
    text: str, character: "Callable[[re.Match[str], bool], str] | None" = None
) -> Iterator[str]:
    character = character or _character
    names: dict[str, int] = {}
    groups, position, inside = 0, 0, False
    while position < len(text):
        token = (_IN_CLASS if inside else _OUTSIDE).match(text, position)
        assert token is not None  # noqa: S101 - the last alternative takes any character
        position = token.end()
        kind = token.lastgroup
        if kind in {"open", "group"}:
            groups += 1
            if kind == "group":
                names[token["group"]] = groups
            yield "("
        elif kind == "back":
            if token["back"] not in names:
                raise re.error(f"there is no group {token['back']} before {token[0]}")
            yield f"(?:\\{names[token['back']]})"
        else:
            yield character(token, inside)
            inside = kind == "class" or (inside and token[0] != "]")


def _linear_character(token: re.Match[str], inside: bool) -> str:
    """Translate what stands for characters for the linear engine."""
    kind, text = token.lastgroup, token[0]
    if kind == "end":
        return r"\z"
    if kind == "none":
        return r"[^\s\S]"
    if kind == "other" and inside and text in "[&~":
        return f"\\{text}"
    if kind == "escape":
        letter = token["escape"]
        if letter in _LINEAR_ESCAPES:
            return _LINEAR_ESCAPES[letter][inside]
        if not letter.isalnum():
            return f"\\x{{{ord(letter):x}}}"
    return _character(token, inside)


def _character(token: re.Match[str], inside: bool) -> str:
    """Translate what stands for characters, inside or outside of a class."""
    kind, text = token.lastgroup, token[0]
    if kind == "category":
        ranges = _category(token["category"], negated=token["property"] == "P")
        text = ranges if inside else f"[{ranges}]"
    elif kind == "code":
        text = f"\\U{int(token['code'], 16):08x}"
    elif kind == "control":
        text = f"\\x{ord(token['control']) % 32:02x}"
    elif kind == "escape":
        text = _escape(token["escape"], inside=inside)
    return _DIFFERENT.get(kind or "", text)


def _escape(letter: str, *, inside: bool) -> str:
    if letter == "s":
        return _WHITESPACE if inside else f"[{_WHITESPACE}]"
    if letter == "S" and not inside:
        return f"[^{_WHITESPACE}]"
    if letter.isascii() and letter.isalpha() and letter not in _KNOWN_ESCAPES:
        return letter
    return "\\" + letter.replace("z", "Z")


@cache
def _category(name: str, *, negated: bool) -> str:
    """List the characters of a general category of Unicode as ranges for a class."""
    short = name.partition("=")[2] if name.startswith(("gc=", "General_Category=")) else name
    short = _LONG_NAMES.get(short, short)
    if not re.fullmatch("C[cfnos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?", short):
        raise re.error(f"\\p{{{name}}} is no general category of Unicode")
    belongs: Callable[[int], bool] = lambda code: (  # noqa: E731 - it is handed to groupby
        unicodedata.category(chr(code)).startswith(short) is not negated
    )
    text = ""
    for member, run in groupby(range(sys.maxunicode + 1), belongs):
        if member:
            codes = list(run)
            text += f"\\U{codes[0]:08x}-\\U{codes[-1]:08x}"
    return text
