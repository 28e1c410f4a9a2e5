"""Format numbers and values as text, with one rule for decimals, and make text safe to print."""

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from .json_values import JsonValue, brief

IntervalBounds: TypeAlias = tuple[float, float]
"""Lower and upper bound of an interval."""

Quoting: TypeAlias = Callable[[str], str]
"""A function that formats a name from a document or schema for use inside a sentence."""

DIGITS: Final = 4
"""Maximum number of decimals of a rate: enough to show one error in ten thousand."""

MOST_DECIMALS: Final = 17  # enough digits to tell any two floats below 1 apart

NOTHING: Final = "-"
"""Text in place of an undefined rate or a missing score."""

WHOLE: Final = "(document)"
"""Text in place of the path of the document itself, since that path is empty."""

INFERRED_FROM: Final = "inferred from "
"""Beginning of the name of an inferred schema. The rest is the name of the documents from which the
schema was inferred."""

IDEOGRAPHIC_SPACE: Final = "\u3000"
"""The usual blank in Chinese and Japanese names, which Python wrongly calls unprintable."""


def digits_of(interval: IntervalBounds | None) -> int:
    """Return how many decimals are shown of a rate that has this interval.

    There is one decimal more than is needed to tell the two bounds apart.

    >>> [digits_of((0.9, end)) for end in (0.99, 0.95, 0.903, 0.9)], digits_of(None)
    ([3, 3, 4, 4], 4)
    """
    width = 0.0 if interval is None else interval[1] - interval[0]
    return DIGITS if width <= 0 else max(2, min(DIGITS, math.ceil(-math.log10(width)) + 1))


def rate(value: float | None, limits: Collection[float] = (), digits: int = DIGITS) -> str:
    """Format a rate or score. It is not rounded to 0, 1 or a limit.

    For example, 0.99996 is shown as 0.9999 and not as 1.0000. A rate that fails a gate is not shown
    as the limit of the gate. None gives `NOTHING`.

    >>> rate(2 / 3), rate(0.99996), rate(0.00001), rate(0.89996, {0.9}), rate(None)
    ('0.6667', '0.9999', '0.0001', '0.8999', '-')
    """
    if value is None:
        return NOTHING
    rounded = round(value, digits)
    if rounded != value and rounded in (0.0, 1.0, *limits):
        rounded += math.copysign(10**-digits, value - rounded)
    return f"{rounded:.{digits}f}"


def percent(share: float) -> str:
    """Format a share as a percentage with one decimal. Only 0 is 0.0%, and only 1 is 100.0%.

    >>> percent(116 / 155), percent(0.9999), percent(1.0)
    ('74.8%', '99.9%', '100.0%')
    """
    return f"{100 * float(rate(share, digits=3)):.1f}%"


def interval_text(
    interval: IntervalBounds | None, limits: Collection[float] = (), digits: int = DIGITS
) -> str:
    """Format both bounds of an interval as `rate` does.

    >>> interval_text((0.8, 0.91234)), interval_text(None)
    ('[0.8000, 0.9123]', '-')
    """
    if interval is None:
        return NOTHING
    return f"[{', '.join(rate(end, limits, digits) for end in interval)}]"


def format_beside_limit(value: float, limit: float) -> str:
    """Format a figure with three decimals, or with more if it would otherwise look like its limit.

    >>> [format_beside_limit(value, 0.97) for value in (0.96651, 0.96996, 0.97)]
    ['0.967', '0.96996', '0.97']
    """
    digits = 3
    while digits < MOST_DECIMALS and _side(round(value, digits), limit) != _side(value, limit):
        digits += 1
    return repr(round(value, digits))


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def setting(value: float | None) -> str:
    """Format a threshold or weight as a person would write it, such as 0.7."""
    return NOTHING if value is None else f"{value:.6g}"


def number_of(count: float, noun: str) -> str:
    """Return a count with its noun, such as `1 document` and `2 documents`."""
    return f"{round(count, 2):,} {noun}{'' if count == 1 else 's'}"


def in_short(count: int) -> str:
    """Return a number in few characters, with k for thousands or M for millions.

    >>> in_short(9_999), in_short(12_345), in_short(999_499), in_short(999_500)
    ('9,999', '12.3k', '999k', '1M')
    """
    if count < 10_000:
        return f"{count:,}"
    name, size = ("k", 1_000) if count < 999_500 else ("M", 1_000_000)
    return f"{count / size:.3g}{name}"


MAX_NAMES: Final = 10  # in one list of a message


def join_some(names: Iterable[str], max_names: int = MAX_NAMES) -> str:
    """Join the first names by commas, and add how many names were omitted.

    >>> join_some("abc"), join_some("abc", 2)
    ('a, b, c', 'a, b and 1 more')
    """
    all_names = list(names)
    n_more = len(all_names) - max_names
    return ", ".join(all_names[:max_names]) + (f" and {n_more:,} more" if n_more > 0 else "")


MAX_KEYS: Final = 5  # in one message


def describe_keys(keyed: Mapping[str, object]) -> str:
    """Return a clause that lists the keys of a JSON object. Of many keys, it lists the first five.

    >>> describe_keys({"a": 1, "b": 2}), describe_keys({"a": 1}), describe_keys({})
    ('its keys are "a", "b"', 'its only key is "a"', 'it has no keys')
    """
    if not keyed:
        return "it has no keys"
    introduction = "its only key is" if len(keyed) == 1 else "its keys are"
    return f"{introduction} {join_some(map(brief, keyed), MAX_KEYS)}"


def count_unlisted(count: int, command: str = "") -> str:
    """Return a text such as `and 5 more; to list all: ...` for entries that a report omits.

    `command` is the command that lists all. If it is empty, the text refers to the JSON report.
    """
    everything = f"to list all: {command}" if command else "the JSON report lists all of them"
    return f"and {count:,} more; {everything}"


_COMMAND: Final = re.compile(r"##(?=\w*\[)|^\s*:(?=:)")
"""Pattern of the start of a command in the log of a CI job. CI systems execute such commands: `##[`
anywhere in a line, or `::` at its start. Source: actions/runner, ActionCommand.cs; Azure and
TeamCity use `##vso[` and `##teamcity[`."""


def visible(text: str) -> str:
    r"""Escape characters that are not printable (see `str.isprintable`), or that move the cursor.

    The ideographic space stays as it is. If a CI service would obey a command in the text, one
    character of the command is escaped, too.

    >>> visible("a\x1b[31mb\n\u202ec"), visible("::error::x")
    ('a\\x1b[31mb\\n\\u202ec', '\\x3a:error::x')
    """
    if not text.isprintable():
        text = "".join(
            letter
            if letter.isprintable() or letter == IDEOGRAPHIC_SPACE
            else letter.encode("unicode_escape").decode("ascii")
            for letter in text
        )
    return _COMMAND.sub(lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}", text)


_HIDDEN_IN_JSON: Final = re.compile(
    r"[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff]|##(?=\w*\[)"
)


def visible_json(text: str) -> str:
    r"""Escape invisible characters and commands of CI jobs in the strings of a JSON text.

    >>> visible_json('["##vso[task.complete]", "a\u202eb"]')
    '["\\u0023#vso[task.complete]", "a\\u202eb"]'
    """
    return _HIDDEN_IN_JSON.sub(_escape_in_json, text)


def _escape_in_json(match: re.Match[str]) -> str:
    """Replace the first character of a match by its JSON escape; keep the others."""
    code_units = match[0][0].encode("utf-16-be").hex()  # two code units for a large code point
    escapes = (f"\\u{code_units[start : start + 4]}" for start in range(0, len(code_units), 4))
    return "".join(escapes) + match[0][1:]


def value_text(value: JsonValue) -> str:
    """Return a value of a document as JSON on one line, truncated if it is long."""
    return visible(brief(value))


def cells(text: str) -> int:
    """Return the number of terminal columns that printable text takes.

    Wide and fullwidth characters take two columns, combining marks none. Source: Unicode Standard
    Annex 11.
    """
    if text.isascii():
        return len(text)
    return sum(
        1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
        if not unicodedata.combining(letter) and unicodedata.category(letter) not in ("Mn", "Me")
    )


def cut_middle(text: str, width: int) -> str:
    """Shorten text to `width` columns, at least 3, with an ellipsis in the middle.

    >>> cut_middle("invoice-2024-000017", 9), cut_middle("short", 9)
    ('invo…0017', 'short')
    """
    if cells(text) <= width:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while cells(head) + cells(tail) >= width:
        if cells(head) >= cells(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return f"{head}…{tail}"


def fit_widths(widths: Sequence[int], room: int) -> list[int]:
    """Narrow the widest columns until the sum of all widths is at most `room`; return the widths.

    >>> fit_widths([5, 40, 30], 45), fit_widths([5, 6], 45)
    ([5, 20, 20], [5, 6])
    """
    fitted = [*widths]
    while sum(fitted) > room:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def truncate(text: str, width: int) -> str:
    """Shorten text to `width` columns, at least 1, with an ellipsis at the end."""
    if cells(text) <= width:
        return text
    while text and cells(text) >= width:
        text = text[:-1]
    return f"{text}…"
