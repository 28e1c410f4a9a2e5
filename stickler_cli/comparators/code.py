"""The comparator of code, markup and formulas, in which every character counts."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from .base import BaseComparator, Keys, checked_choice, codes_of, text_of

LANGUAGES: Final = ("code", "sql", "markup", "markdown", "latex", "letters")

_SPACES: Final = re.compile(r"\s+")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[^'\"`]+|['\"`]")
_STRING_OR_COMMENT: Final = re.compile(
    r"\\.|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`"
    r"|(?P<comment>(?<!\S)(?:#(?=\s)|//)[^\n]*)"
)
"""Pattern of texts in quotes, and of comments up to the end of their line. It also matches a
backslash and the character after it, so that an escaped quote, `\\'`, does not begin a text in
quotes. Because backslashes are matched too, the time of a search is linear."""
_TAG_NAME: Final = re.compile(r"</?[A-Za-z][\w:.-]*")
_RULE_OF_TABLE: Final = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_COLUMN_RULE: Final = re.compile(r":?-+:?")
_SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
"""Replaces subscript digits by plain digits, because `H₂O` is also written `H2O`. Superscript
digits are kept, because they state electric charges."""
_OPENS_BLOCK: Final = ":"


class CodeComparator(BaseComparator):
    """Compare code, markup, formulas or sequences for equality, except for white space.

    White space between two words matters. In code, white space inside quotes matters, too, and so
    does the line break after a comment.
    """

    same_value = True
    steps_of_letter = 700
    columnar: ClassVar[bool] = True

    def __init__(self, threshold: float = 1.0, language: str = LANGUAGES[0]) -> None:
        """Choose which differences do not count, in addition to white space.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            language: `sql` ignores case outside quotes, and a final `;`. `markup` ignores the case
                of tag names. `markdown` ignores the width and alignment of columns. `latex` and
                `code` ignore nothing but white space. `letters`, for molecules and sequences,
                ignores all white space, even between letters.
        """
        super().__init__(threshold)
        self.language = checked_choice("language", language, LANGUAGES)

    def prepare(self, value: Any) -> str:
        """Convert a value to a text without the differences that do not count for the language."""
        text = text_of(value).strip().translate(_SUBSCRIPTS)
        match self.language:
            case "letters":
                return _SPACES.sub("", text)
            case "sql":
                text = text.removesuffix(";").rstrip()
                return "".join(map(_without_case, _QUOTED.findall(text)))
            case "markup":
                text = _TAG_NAME.sub(lambda tag: tag[0].lower(), text)
            case "markdown":
                return "\n".join(filter(None, map(_row_of_table, text.splitlines())))
            case "code" if any(line.rstrip().endswith(_OPENS_BLOCK) for line in text.splitlines()):
                return _by_blocks(text_of(value).translate(_SUBSCRIPTS))
            case "code":
                return _code_without_spaces(text)
        return without_spaces(text)

    def similarity(self, gt: str, pred: str) -> float:
        """Return 1.0 if two prepared texts are equal, else 0.0."""
        return float(gt == pred)

    def keys(self, prepared: Sequence[str]) -> Keys:
        """Return one code for each text. Equal texts have the same code."""
        return codes_of(prepared)


def without_spaces(text: str) -> str:
    """Remove white space from a text, except for one space between two words.

    >>> without_spaces("x = a  +  not b")
    'x=a+not b'
    """

    def keep(spaces: re.Match[str]) -> str:
        first, last = spaces.span()
        is_between = first > 0 and last < len(text)
        return " " if is_between and _is_word(text[first - 1]) and _is_word(text[last]) else ""

    return _SPACES.sub(keep, text)


def _code_without_spaces(text: str) -> str:
    """Remove white space from code, except inside quotes. Keep the line break after a comment.

    >>> _code_without_spaces("f( ' ' )  # blank")
    "f(' ')#blank"
    """
    pieces = []
    end = 0
    for match in _STRING_OR_COMMENT.finditer(text):
        pieces.append(without_spaces(text[end : match.start()]))
        comment = match["comment"]
        pieces.append(match[0] if comment is None else f"{without_spaces(comment)}\n")
        end = match.end()
    pieces.append(without_spaces(text[end:]))
    return "".join(pieces).rstrip("\n")


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _without_case(token: str) -> str:
    return token if token[0] in "'\"`" else without_spaces(token).lower()


def _row_of_table(line: str) -> str:
    if _RULE_OF_TABLE.fullmatch(line.strip()):
        line = _COLUMN_RULE.sub("-", line)
    return without_spaces(line.strip())


def _by_blocks(text: str) -> str:
    """Replace the indentation of each line by the number of code blocks around the line.

    Return the lines without other white space.
    """
    widths: list[int] = []
    lines = []
    for line in text.expandtabs().splitlines():
        if not line.strip():
            continue
        width = len(line) - len(line.lstrip())
        while widths and widths[-1] > width:
            widths.pop()
        if not widths or widths[-1] < width:
            widths.append(width)
        lines.append(f"{len(widths)} {_code_without_spaces(line.strip())}")
    return "\n".join(lines)
