"""Turn the non-standard JSON of programs and models into strict JSON.

Python literals (`True`, `None`, tuples, single quotes), trailing commas and comments are accepted.
Nothing else is repaired. The time is linear in the length of the text.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"""
    r"|(?P<comment>//[^\n]*|\#[^\n]*)"
    r"|(?P<bracket>[{}\[\]()])"
    r"|(?P<comma>,)"
    r"|(?P<space>\s+)"
    r"|(?P<word>[^\s\"'\#/,:{}\[\]()]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)

_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))"
)
# Source: Python language reference 3.13, section 2.4.1.1, and RFC 8259, section 7.
_ESCAPED: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "/": "/",
    "\\": "\\",
    "'": "'",
    '"': '"',
}
_NEEDS_READING: Final = re.compile(r"[\\\x00-\x1f\"]")

_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_PYTHON_NUMBER: Final = re.compile(
    r"([+-]?)(\d+(?:_\d+)*)?(?:(\.)(\d+(?:_\d+)*)?)?([eE][+-]?\d{1,4})?"
)
MAX_DEPTH: Final = 1024  # levels that the strict reader accepts

_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}


class Token(NamedTuple):
    """One token of a text."""

    kind: str
    """The name of the group of `_TOKEN` that matched the token."""
    start: int
    end: int


def read_tokens(text: str, start: int = 0) -> Iterator[Token]:
    """Yield the tokens of a text. An unclosed quote is a token of its own."""
    # After an unclosed string, any later quote of this kind on the line is unclosed too.
    unpaired_until = {'"': -1, "'": -1}
    has_end_of_comment = True
    position = start
    while position < len(text):
        first = text[position]
        if first in unpaired_until and position < unpaired_until[first]:
            token = Token("other", position, position + 1)
        elif has_end_of_comment and text.startswith("/*", position):
            end = text.find("*/", position + 2)
            has_end_of_comment = end >= 0
            token = (
                Token("comment", position, end + 2) if end >= 0 else _match_token(text, position)
            )
        else:
            token = _match_token(text, position)
            if token.kind == "other" and first in unpaired_until:
                end = text.find("\n", position)
                unpaired_until[first] = len(text) if end < 0 else end
        yield token
        position = token.end


def _match_token(text: str, position: int) -> Token:
    match = _TOKEN.match(text, position)
    assert match is not None and match.lastgroup is not None  # noqa: S101, PT018 - any character
    return Token(match.lastgroup, position, match.end())


def find_end_of_value(text: str, start: int) -> int | None:
    """Return the end of the object or array that starts at a position; None if it is not closed."""
    depth = 0
    for token in read_tokens(text, start):
        if token.kind == "bracket":
            bracket = text[token.start]
            depth += (bracket in "{[") - (bracket in "}]")
            if depth <= 0:
                return token.end
    return None


def to_strict_json(text: str) -> str | None:
    """Rewrite a text as strict JSON; None if its brackets or commas do not match.

    Nothing else is checked, so the result can be invalid JSON for other reasons.

    >>> to_strict_json("{'a': (1, 2,), 'ok': True,}  # done")
    '{"a": [1, 2], "ok": true}  '
    """
    writer = _StrictWriter()
    for token in read_tokens(text):
        source = text[token.start : token.end]
        if token.kind in ("space", "comment"):
            writer.pieces.append(" ")
        elif token.kind != "bracket":
            writer.add(_rewrite(token.kind, source))
        elif source in _CLOSING:
            writer.open(source)
            if len(writer.opened) > MAX_DEPTH:
                return None
        elif not writer.close(source):
            return None
    return None if writer.opened else "".join(writer.pieces)


class _StrictWriter:
    """Takes tokens of relaxed JSON and writes strict JSON."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.significant: list[int] = []
        """Indexes of the written tokens that are not white space."""
        self.opened: list[int] = []
        """Indexes of the open brackets."""
        self.has_comma: list[bool] = []
        """For each open bracket, whether it directly contains a comma."""

    def add(self, text: str) -> None:
        if text == "," and self.has_comma:
            self.has_comma[-1] = True
        self.significant.append(len(self.pieces))
        self.pieces.append(text)

    def open(self, bracket: str) -> None:
        self.opened.append(len(self.pieces))
        self.has_comma.append(False)
        self.add(bracket)

    def close(self, bracket: str) -> bool:
        """Write a closing bracket; return whether it was possible.

        It is not possible if the bracket does not match the last open one, or if only a comma
        stands between the two, as in `[,]`.
        """
        if not self.opened or _CLOSING[self.pieces[self.opened[-1]]] != bracket:
            return False
        opening, has_comma = self.opened.pop(), self.has_comma.pop()
        is_empty = self.significant[-1] == opening
        if self.pieces[self.significant[-1]] == ",":
            self.pieces[self.significant.pop()] = ""
            if self.significant[-1] == opening:
                return False
        if bracket == ")":
            # Parentheses around one value without a comma are not a tuple.
            is_tuple = has_comma or is_empty
            self.pieces[opening], bracket = ("[", "]") if is_tuple else (" ", " ")
        self.add(bracket)
        return True


def _rewrite(kind: str, source: str) -> str:
    if kind == "string":
        return _rewrite_string(source)
    return _rewrite_word(source) if kind == "word" else source


def _rewrite_string(source: str) -> str:
    inner = source[1:-1]
    if not _NEEDS_READING.search(inner):
        return f'"{inner}"'
    return json.dumps(_ESCAPE.sub(_read_escape, inner))


def _read_escape(match: re.Match[str]) -> str:
    four, eight, two, octal, character = match.groups()
    if character is not None:
        return _ESCAPED.get(character, match[0])
    code = int(octal, 8) if octal else int(four or eight or two, 16)
    return chr(code) if code <= 0x10FFFF else match[0]


def _rewrite_word(source: str) -> str:
    if source in _PYTHON_WORDS:
        return _PYTHON_WORDS[source]
    if not (source[0] in "+." or "_" in source or source.endswith(".") or ".e" in source.lower()):
        return source
    number = _PYTHON_NUMBER.fullmatch(source)
    if number is None or not (number[2] or number[4]):
        return source
    sign, integer, dot, decimals, exponent = number.groups(default="")
    written = f"{integer or '0'}{dot}{decimals or '0' if dot else ''}{exponent}"
    return f"{sign.replace('+', '')}{written.replace('_', '')}"
