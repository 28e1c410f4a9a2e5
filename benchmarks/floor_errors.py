"""Classify wrong values for floor.py, by the rules of docs/error-classes.md.

Only the rules that the timed sets need are here. In these sets, texts are ASCII, values have the
declared kinds, no number occurs elsewhere as a text, no wrong date is another spelling of the right
date, and every date has a year of four digits, a month and a day.
"""

import calendar
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

Place = tuple[str | int, ...]

_LONGEST: Final = 1_000
_NEIGHBOURS: Final = 10
_LEVELS: Final = 3
_DROPPED: Final = str.maketrans("", "", string.punctuation + string.whitespace)
_LOOK_ALIKES: Final = str.maketrans("oil|sbz", "0111582")
_DIGITS: Final = re.compile(r"[0-9]+")
_NO_DIGITS: Final = re.compile(r"[^0-9]+")
_WORDS: Final = re.compile("[A-Za-z0-9]+")
_BREAKS: Final = re.compile("[-/, ]+")
_MONTHS: Final = {name: f"{number:02}" for number, name in enumerate(calendar.month_name)}


@dataclass(slots=True)
class Errors:
    """Counts the errors of one document by class."""

    gt: Any
    classes: Counter[str]
    """Number of errors of each class in all documents so far; the documents share this counter."""
    gt_values: set[Any] = field(default_factory=set)
    """All values of the document's ground truth, in lower case; empty until they are first needed.
    """

    def count_invented(self, pred: Any, place: Place) -> None:
        """Count a value that only the prediction has."""
        self.classes["swapped" if self.stands_elsewhere(pred, place) else "invented_value"] += 1

    def count_unpaired(self, elements: Sequence[Any], *, missed: bool) -> None:
        """Count all values in list elements that one side lacks, as missed or as invented."""
        unit = "value" if isinstance(elements[0], dict) else "item"
        name = f"missed_{unit}" if missed else f"invented_{unit}"
        self.classes[name] += sum(1 for element in elements for _ in list_leaves(element))

    def count_wrong(self, gt: Any, pred: Any, place: Place) -> None:
        """Count a pair of values whose similarity is below the threshold."""
        fallback = "wrong_item" if isinstance(place[-1], int) else "other"
        self.classes[self._classify(gt, pred, place) or fallback] += 1

    def _classify(self, gt: Any, pred: Any, place: Place) -> str | None:
        if isinstance(gt, str):
            if max(len(gt), len(pred)) > _LONGEST:
                return classify_cut(gt, pred)
            if not (gt.isdigit() and pred.isdigit()):
                return self._classify_texts(gt, pred, place)
        if self.stands_elsewhere(pred, place):
            return "swapped"
        return classify_number_slip(float(gt), float(pred))

    def _classify_texts(self, gt: str, pred: str, place: Place) -> str | None:
        bare_gt, bare_pred = strip_text(gt), strip_text(pred)
        if bare_gt == bare_pred:
            return "format"
        if fold_look_alikes(gt) == fold_look_alikes(pred):
            return "look_alike"
        if self.stands_elsewhere(pred, place):
            return "swapped"
        if are_day_and_month_swapped(gt, pred):
            return "day_month_swapped"
        return classify_cut(bare_gt, bare_pred) or classify_text_slip(bare_gt, bare_pred)

    def stands_elsewhere(self, pred: Any, place: Place) -> bool:
        """Return whether a predicted value is the true value of another place near its own.

        There must be exactly one such place on the nearest level that has one.
        """
        wanted = find_telling_text(pred)
        if wanted is None:
            return False
        if not self.gt_values:  # most wrong values are nowhere
            self.gt_values = {fold(value) for value in list_leaves(self.gt)}
        if fold(pred) not in self.gt_values:
            return False
        ancestors = [self.gt]
        for step in place[:-1]:
            ancestors.append(ancestors[-1][step])
        innermost = len(place) - 1
        for depth in range(innermost, max(innermost - _LEVELS, -1), -1):
            inner_steps = place[depth + 1 :]
            n_equal = 0
            for sibling in list_siblings(ancestors[depth], place[depth]):
                value = sibling
                for step in inner_steps:
                    value = step_into(value, step)
                n_equal += find_telling_text(value) == wanted
            if n_equal:
                return n_equal == 1  # with several such neighbours the origin is unclear
        return False


def list_leaves(value: Any) -> Iterator[Any]:
    """Yield all leaves of a value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from list_leaves(inner)
    else:
        yield value


def fold(value: Any) -> Any:
    """Return a text in lower case without blanks at its ends; return other values unchanged."""
    return value.strip().lower() if isinstance(value, str) else value


def find_telling_text(value: Any) -> str | None:
    """Return the text by which a value can be found elsewhere in a document.

    None if equal values are often in a document by chance, such as short words, small numbers and
    years, or if the value is an object or list.
    """
    if value is None or isinstance(value, dict | list):
        return None
    text: str = value.strip() if isinstance(value, str) else write_number(value)
    digits = _NO_DIGITS.sub("", text).lstrip("0")
    n_significant = len(digits.rstrip("0"))
    if n_significant >= 3 or (n_significant == 2 and len(digits) >= 4):
        is_year = text.isdigit() and len(text) == 4 and "1900" <= text < "2100"
        return None if is_year else text.lower()
    words = _WORDS.findall(text)
    names = [word for word in words if not word[0].islower()]
    is_name = len(names) > 1 and sum(map(len, names)) >= 8
    return text.lower() if is_name or sum(map(len, words)) >= 16 else None


def write_number(value: float) -> str:
    """Return a number as text, as a document would print it."""
    return str(int(value) if value == int(value) else value)


def list_siblings(parent: Any, step: str | int) -> Iterator[Any]:
    """Yield siblings of a child of `parent`: up to 100 other fields, or the nearest other items.

    `step` is the name or the index of the child.
    """
    if isinstance(step, str):
        for index, (name, value) in enumerate(parent.items()):
            if index == 100:
                return
            if name != step:
                yield value
    else:
        yield from parent[max(step - _NEIGHBOURS, 0) : step]
        yield from parent[step + 1 : step + 1 + _NEIGHBOURS]


def step_into(value: Any, step: str | int) -> Any:
    """Return the field or item of a value, given its name or index; None if there is none.

    A single value counts as a list with one item.
    """
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    return value if step == 0 else None


def strip_text(text: str) -> str:
    """Return a text in lower case, without blanks and punctuation."""
    return text.lower().translate(_DROPPED)


def fold_look_alikes(text: str) -> str:
    """Return a text in which all characters that look alike, such as O and 0, are the same."""
    return strip_text(text.lower().translate(_LOOK_ALIKES).replace("rn", "m").replace("vv", "w"))


def classify_cut(gt: str, pred: str) -> str | None:
    """Return the class of a text that is only the beginning or the end of the other text.

    `truncated`: the prediction is the shorter text. `overrun`: it is the longer one. None if
    neither text begins or ends with the other.
    """
    if len(pred) < len(gt) and (gt.startswith(pred) or gt.endswith(pred)):
        return "truncated"
    if len(gt) < len(pred) and (pred.startswith(gt) or pred.endswith(gt)):
        return "overrun"
    return None


def classify_text_slip(gt: str, pred: str) -> str | None:
    """Return `digit_slip` if one digit differs, or two digits are exchanged; else None."""
    if min(len(gt), len(pred)) < 2 or _DIGITS.sub("", gt) != _DIGITS.sub("", pred):
        return None
    gt, pred = _NO_DIGITS.sub("", gt), _NO_DIGITS.sub("", pred)
    return "digit_slip" if gt and pred and are_near(gt, pred) else None


def are_day_and_month_swapped(gt: str, pred: str) -> bool:
    """Return whether two dates are equal if day and month of one of them are exchanged."""
    if not (gt[-1].isdigit() and pred[-1].isdigit()):
        return False
    gt_parts, pred_parts = date_parts(gt), date_parts(pred)
    return (
        len(gt_parts) == 3
        and gt_parts != pred_parts
        and gt_parts == [pred_parts[0], *pred_parts[:0:-1]]
    )


def date_parts(date: str) -> list[str]:
    """Return year, month and day of a date; a text that is no date gives another number of parts.

    If both orders of month and day are possible, the two stay in the order of the text.
    """
    segments = _BREAKS.split(date)
    if len(segments[0]) != 4:
        segments = [
            segments[-1],
            *sorted(segments[:-1], key=lambda segment: segment not in _MONTHS),
        ]
    return [_MONTHS.get(segment, segment) for segment in segments]


def classify_number_slip(gt: float, pred: float) -> str | None:
    """Return the class of two numbers that differ by a slip, else None.

    `decimal_shift`: they differ by a power of ten. `digit_slip`: one digit differs, is missing or
    is extra, or two digits are exchanged.
    """
    (gt_digits, gt_power), (pred_digits, pred_power) = split_digits(gt), split_digits(pred)
    if not gt_digits or not pred_digits:
        return None
    if gt_digits.rstrip("0") == pred_digits.rstrip("0"):
        return "decimal_shift"
    power = min(gt_power, pred_power)
    gt_line = gt_digits + "0" * (gt_power - power)
    pred_line = pred_digits + "0" * (pred_power - power)
    for gt_text, pred_text in ((gt_line, pred_line), (gt_digits, pred_digits)):
        if min(len(gt_text), len(pred_text)) > 1 and are_near(gt_text, pred_text):
            return "digit_slip"
    return None


def split_digits(value: float) -> tuple[str, int]:
    """Return the digits of a number, and the power of ten of the last digit: 1.5 is ("15", -1)."""
    _, digits, power = Decimal(write_number(value)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    return text, int(power)


def are_near(gt: str, pred: str) -> bool:
    """Return whether two texts differ only in one digit, or by two exchanged digits.

    The digit can differ, be missing or be extra.
    """
    if len(gt) == len(pred):
        differing = [index for index, digit in enumerate(gt) if digit != pred[index]]
        if len(differing) == 2:
            first, second = differing
            return gt[first] == pred[second] and gt[second] == pred[first]
        return len(differing) < 2
    shorter, longer = sorted((gt, pred), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    position = next((i for i, digit in enumerate(shorter) if digit != longer[i]), len(shorter))
    return shorter[position:] == longer[position + 1 :]
