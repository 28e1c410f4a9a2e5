"""Comparators for equal values: numbers, texts, enum members, and model instances."""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate
from operator import eq
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.core.json_values import json_key, same_json
from stickler_cli.core.match_differences import MatchDifference
from stickler_cli.core.normal_forms import mark_exponents, normalize_text
from .base import (
    BaseComparator,
    Keys,
    KeywordError,
    Similarities,
    checked_flag,
    codes_of,
    linked_codes,
    text_of,
)
from .formulas import find_other_capitals
from .texts import digits_of

_REMOVED: Final = str.maketrans("", "", string.punctuation + string.whitespace)
"""Removes ASCII punctuation and white space. Other signs, such as a typographic dash or a no-break
space, are not removed, so they make texts different."""


class PreparedScalar(NamedTuple):
    """A prepared number or boolean.

    Two numbers, or two booleans, are compared by value. If only one side is a number or boolean,
    both sides are compared as texts.
    """

    value: tuple[bool, int | Decimal]
    """A tuple of two: whether the value is a boolean, and the value itself. Because of the first
    entry, 1 does not equal true, although 1 equals 1.0."""
    text: str
    """The value as text, normalised like a string."""


PreparedValue: TypeAlias = str | PreparedScalar


class ExactComparator(BaseComparator):
    """Compare numbers by value, all else as text without case, punctuation and spaces."""

    same_value = True
    steps_of_letter = 100
    columnar: ClassVar[bool] = True

    def __init__(
        self,
        threshold: float = 1.0,
        case_sensitive: bool = False,
        strip: bool = True,
        only_separators: bool = False,
        same_type: bool = False,
    ) -> None:
        """Choose which differences do not count.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            case_sensitive: whether `A` differs from `a`.
            strip: whether ASCII punctuation and spaces are removed.
            only_separators: whether only separators are removed. `INV-1` then equals `INV1`. `O+`
                and `O-` still differ, and so do `12/34` and `1/234`.
            same_type: whether a number or boolean differs from its text, for example 3 from `"3"`.
        """
        super().__init__(threshold)
        self.case_sensitive = checked_flag("case_sensitive", case_sensitive)
        self.strip = checked_flag("strip", strip)
        self.only_separators = checked_flag("only_separators", only_separators)
        self.same_type = checked_flag("same_type", same_type)
        if self.only_separators:
            self.steps_of_letter = 1500

    def prepare(self, value: Any) -> PreparedValue:
        """Return the normalised text of a value. For a number or boolean, also return its value."""
        if value.__class__ is str:
            return self._normalised(value)
        text = self._normalised(text_of(value))
        number = _value_of(value)
        return text if number is None else PreparedScalar(number, text)

    def _normalised(self, text: str) -> str:
        text = text if self.case_sensitive else text.lower()
        if self.only_separators:
            return _without_separators(text)
        return text.translate(_REMOVED) if self.strip and not text.isalnum() else text

    def similarity(self, gt: PreparedValue, pred: PreparedValue) -> float:
        """Return 1.0 if two prepared values are equal, else 0.0.

        If both values are numbers or booleans, they are compared by value. All other pairs are
        compared as texts. If `same_type` is set, a number or boolean never equals a text.

        If `only_separators` is set, equal letters and digits are not always enough: `12/34` differs
        from `1/234`, because separators group the digits in different ways.
        """
        if isinstance(gt, PreparedScalar) and isinstance(pred, PreparedScalar):
            return float(gt.value == pred.value)
        if self.same_type and type(gt) is not type(pred):
            return 0.0
        gt_text, pred_text = _text(gt), _text(pred)
        if not self.only_separators or _bare(gt_text) != _bare(pred_text):
            return float(gt_text == pred_text)
        gt_runs, pred_runs = gt_text.partition(_RUNS)[2], pred_text.partition(_RUNS)[2]
        if gt_runs.endswith(_MARKED) or pred_runs.endswith(_MARKED):
            return float(gt_runs.removesuffix(_MARKED) == pred_runs.removesuffix(_MARKED))
        has_single_run = " " not in gt_runs or " " not in pred_runs
        return float(gt_runs == pred_runs or has_single_run)

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Return how two matching texts differ, if the difference may matter, else None.

        There are two such differences: separators at other places, as in `B-MW` and `BM-W`, and
        other capitals in a chemical formula, as in `CO2` and `Co2`.
        """
        if self.only_separators and _are_regrouped(text_of(gt), text_of(pred)):
            return MatchDifference("other separators", text_of(gt), text_of(pred))
        return None if self.case_sensitive else find_other_capitals(gt, pred)

    def keys(self, prepared: Sequence[PreparedValue]) -> Keys:
        """Return a code for each value. Values that may be equal have the same code.

        For example, the text "10" equals the number 10. It also equals the number 1.0, because dots
        are removed from texts. If the text is among the values, all three have the same code. If it
        is not, 10 and 1.0 have different codes.
        """
        if self.only_separators:
            prepared = [
                value._replace(text=_bare(value.text))
                if isinstance(value, PreparedScalar)
                else _bare(value)
                for value in prepared
            ]
        texts = {value for value in prepared if isinstance(value, str) and not self.same_type}
        return linked_codes(
            [value] if isinstance(value, str) else [value.value, *({value.text} & texts)]
            for value in prepared
        )

    def similarities(
        self, gts: Sequence[PreparedValue], preds: Sequence[PreparedValue]
    ) -> Similarities:
        """Return 1.0 or 0.0 for each pair of prepared values."""
        types = {*map(type, gts), *map(type, preds)}
        equal = self.similarity if PreparedScalar in types or self.only_separators else eq
        return np.fromiter(map(equal, gts, preds), np.float64, len(gts))


def _value_of(value: object) -> tuple[bool, int | Decimal] | None:
    """Return a number or boolean as (is_boolean, value), or None for NaN and all other values."""
    match value:
        case bool():
            return True, value
        case int():
            return False, int(value)
        case float() if not math.isnan(value):
            return False, Decimal(float.__repr__(value))
        case Decimal() if not value.is_nan():
            return False, value
        case _:
            return None


def _text(prepared: PreparedValue) -> str:
    return prepared.text if isinstance(prepared, PreparedScalar) else prepared


_SEPARATOR: Final = re.compile(r"(?<=[^\W_])[-\u2010-\u2013./_,:'\u2019\s]+(?=[^\W_])|\s+")
MAX_DIGITS_OF_SHORT_NUMBER: Final = 5
"""A number with at most this many digits is short. In short numbers, the signs `/`, `.`, `,`, `:`
and `_` count: `1/2` is not `12`."""
_MARKED_NUMBER: Final = re.compile(
    r"(?<![0-9])(?!(?<=(?<![^\W_])[A-Za-z])[0-9]{2}\.[0-9])[0-9]+(?:[/.,:_][0-9]+)+(?![0-9])"
)
"""Pattern of digits with signs such as `/` or `.` between them, in which the signs count. It does
not match ICD codes such as `E11.9`, because `E119` is the same code."""
_MARKED: Final = "/"
"""Last character of a prepared text if the original text has a short number with a sign between its
digits, such as `1/2`."""
_RUNS: Final = "\0"
"""Separates the two sections of a prepared text: the text itself and its runs of digits."""
_NUL_OF_TEXT: Final = "\U0010ffff"
"""Replaces NUL characters in a text, because `_RUNS` is NUL. Unicode has no such character."""
_RUN: Final = re.compile(r"[0-9]+(?:[^\W\d_]+[0-9]+)*")
"""Pattern of a run of digits. Letters may stand between the digits, but not signs or spaces."""


def _without_separators(text: str) -> str:
    """Return a text without separators, followed by its runs of digits (see `_RUNS`).

    Separators are white space, a number sign at the beginning, and signs that stand between letters
    or digits.
    """
    text = normalize_text("NFKC", mark_exponents(text)).replace("\u2212", "-").strip()
    if not text.isascii():
        text = "".join(
            str(unicodedata.digit(letter)) if letter.isdecimal() else letter for letter in text
        )
    text = text.lstrip("#").rstrip(".").replace(_RUNS, _NUL_OF_TEXT)
    runs = " ".join(_RUN.findall(text))
    is_marked = any(map(_is_short_number, _MARKED_NUMBER.findall(text)))
    return f"{_SEPARATOR.sub('', text)}{_RUNS}{runs}{_MARKED if is_marked else ''}"


def _is_short_number(text: str) -> bool:
    return sum(map(str.isdecimal, text)) <= MAX_DIGITS_OF_SHORT_NUMBER


def _are_regrouped(gt: str, pred: str) -> bool:
    """Return whether separators split the letters of two texts at different places.

    This is true for `B-MW 1` and `BM-W 1`. It is false for `B-M-W` and `BM-W`, because the first
    text has all separators of the second text, and an additional one.
    """
    gt_breaks, pred_breaks = map(_breaks_of_letters, (gt, pred))
    return not (gt_breaks <= pred_breaks or pred_breaks <= gt_breaks)


def _breaks_of_letters(text: str) -> set[int]:
    """Return where separators stand between two letters.

    A position is the number of letters and digits before the separator.
    """
    groups = re.findall(r"[^\W_]+", text)
    ends = accumulate(map(len, groups))
    return {
        end
        for end, group, following in zip(ends, groups, groups[1:], strict=False)
        if group[-1].isalpha() and following[0].isalpha()
    }


def _bare(text: str) -> str:
    return text.partition(_RUNS)[0]


class CaseInsensitiveComparator(ExactComparator):
    """Compare values for equality, except for case and outer white space."""

    def __init__(self, threshold: float = 1.0, case_of_paths: bool = False) -> None:
        """Choose which differences do not count.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            case_of_paths: whether case counts in the part of a web address that follows the host,
                for example in the path.
        """
        super().__init__(threshold)
        self.case_of_paths = checked_flag("case_of_paths", case_of_paths)

    def _normalised(self, text: str) -> str:
        text = text.strip()
        host = _HOST.match(text) if self.case_of_paths else None
        return host[0].casefold() + text[host.end() :] if host else text.casefold()


_HOST: Final = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^\s/@?#]+\.[A-Za-z]{2,}(?::\d+)?(?=[/?#])"
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#]*"
)
"""Pattern of the scheme and host of a web address that has a path."""


class EnumComparator(BaseComparator):
    """Compare values as members of an enumeration: two different members never match."""

    same_value = True
    steps_of_letter = 200
    columnar: ClassVar[bool] = True

    def __init__(self, threshold: float = 1.0, members: Sequence[Any] | None = None) -> None:
        """Set the members. If there are none, texts are compared without case and white space."""
        super().__init__(threshold)
        if members is not None and not isinstance(members, list | tuple):
            raise KeywordError.of("members", members, "a list of values")
        self.members = members
        self._exact = ExactComparator()
        distinct = {json_key(member): member for member in members or ()}
        self._same = {key: position for position, key in enumerate(distinct)}
        self._by_exact_key: dict[object, set[int]] = {}
        for index, member in enumerate(distinct.values()):
            for key in _exact_keys(self._exact.prepare(member)):
                self._by_exact_key.setdefault(key, set()).add(index)
        texts = {
            _folded(member): position
            for position, member in enumerate(distinct.values())
            if isinstance(member, str)
        }
        counts = Counter(_folded(member) for member in distinct.values() if isinstance(member, str))
        self._folded = {text: position for text, position in texts.items() if counts[text] == 1}

    def prepare(self, value: Any) -> int | str:
        """Return the index of the member that is equal to a value.

        If no member is equal, return the text of the value without case and white space.
        """
        position = self._same.get(json_key(value))
        if position is None and isinstance(value, str):
            position = self._folded.get(_folded(value))
        if position is None:
            prepared = self._exact.prepare(value)
            keys = _keys_of_equal_members(prepared)
            positions = set[int]().union(*(self._by_exact_key.get(key, ()) for key in keys))
            position = positions.pop() if len(positions) == 1 else None
        return _folded(text_of(value)) if position is None else position

    def similarity(self, gt: int | str, pred: int | str) -> float:
        """Return 1.0 if two prepared values are equal, else 0.0."""
        return float(gt == pred)

    def keys(self, prepared: Sequence[int | str]) -> Keys:
        """Return one code for each prepared value. Equal values have the same code."""
        return codes_of(prepared)


def _exact_keys(member: PreparedValue) -> tuple[object, ...]:
    """Return the keys under which a member is stored: its text, and for a number also its value."""
    if isinstance(member, PreparedScalar):
        return ("value", member.value), ("text of a number", member.text)
    return (("text", member),)


def _keys_of_equal_members(value: PreparedValue) -> tuple[object, ...]:
    """Return the keys of all members that `ExactComparator` considers equal to a value."""
    if isinstance(value, PreparedScalar):
        return ("value", value.value), ("text", value.text)
    return ("text", value), ("text of a number", value)


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


class StructuredModelComparator(BaseComparator):
    """Compare two model instances with their method `compare`. Other values must be equal."""

    takes: ClassVar[frozenset[str]] = frozenset({"object"})

    def __init__(self, threshold: float = 0.7, strict_types: bool = False) -> None:
        """Set whether comparing two strings, instead of two models, is an error."""
        super().__init__(threshold)
        self.strict_types = checked_flag("strict_types", strict_types)

    def similarity(self, gt: Any, pred: Any) -> float:
        """Return the result of `gt.compare(pred)` for two models.

        For other values, return 1.0 if they are equal, else 0.0.

        Raises:
            TypeError: both values are strings, and `strict_types` is set.
        """
        if self.strict_types and isinstance(gt, str) and isinstance(pred, str):
            raise TypeError(
                "StructuredModelComparator with strict_types cannot compare two strings"
            )
        if _is_model(gt) and _is_model(pred):
            return float(gt.compare(pred))
        return float(same_json(gt, pred))


def _is_model(value: object) -> bool:
    return callable(getattr(value, "compare", None))


_IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters: soft hyphens, joiners, marks of direction. Source: Unicode 15,
DerivedCoreProperties, Default_Ignorable_Code_Point."""


class NormalizedComparator(ExactComparator):
    """Compare texts for equality in any script, without case, font forms and punctuation."""

    def __init__(
        self,
        threshold: float = 1.0,
        case_sensitive: bool = False,
        ignore_whitespace: bool = True,
        ignore_punctuation: bool = True,
        same_digits: bool = False,
    ) -> None:
        """Choose which characters count. Punctuation between digits always counts: 1.5 is not 15.

        If `same_digits` is set, texts must also have the same runs of digits, with the same signs
        before them.
        """
        super().__init__(threshold, case_sensitive)
        self.steps_of_letter = 3000
        self.same_digits = checked_flag("same_digits", same_digits)
        self.ignore_whitespace = checked_flag("ignore_whitespace", ignore_whitespace)
        self.ignore_punctuation = checked_flag("ignore_punctuation", ignore_punctuation)

    def _normalised(self, text: str) -> str:
        digits = f"\0{digits_of(text)}" if self.same_digits else ""
        return self._letters(text) + digits

    def _letters(self, text: str) -> str:
        text = normalize_text("NFKC", mark_exponents(text))
        if not self.case_sensitive:
            text = normalize_text("NFKC", text.casefold())
        if not text.isascii():
            text = _IGNORABLE.sub("", text)
        if self.ignore_whitespace:
            text = "".join(text.split())
        return _without_punctuation(text) if self.ignore_punctuation else text


def _without_punctuation(text: str) -> str:
    """Remove punctuation from a text, except for punctuation between two digits."""
    if text.isalnum():
        return text
    kept: list[str] = []
    waiting = ""  # punctuation after a digit, kept if a digit follows
    for letter in text:
        if unicodedata.category(letter).startswith("P"):
            waiting += letter if waiting or (kept and kept[-1].isdecimal()) else ""
            continue
        if waiting and letter.isdecimal():
            kept += waiting
        waiting = ""
        kept.append(letter)
    return "".join(kept)
