"""The classes of wrong values, as the floor tells them: docs/error-classes.md for the timed sets.

Their texts are ASCII, their values of the declared kinds, no number stands elsewhere as a text, no
wrong date is another spelling, and every date has a year of four digits, a month and a day.
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
    """The errors of one document."""

    gt: Any
    classes: Counter[str]
    """Of all documents."""
    everywhere: set[Any] = field(default_factory=set)
    """All that the ground truth states, once it was looked through."""

    def invented(self, pred: Any, place: Place) -> None:
        """Count a value that only the prediction has."""
        self.classes["swapped" if self.stands_elsewhere(pred, place) else "invented_value"] += 1

    def alone(self, elements: Sequence[Any], *, missed: bool) -> None:
        """Count the values in list elements that one side lacks."""
        unit = "value" if isinstance(elements[0], dict) else "item"
        name = f"missed_{unit}" if missed else f"invented_{unit}"
        self.classes[name] += sum(1 for element in elements for _ in leaves(element))

    def wrong(self, gt: Any, pred: Any, place: Place) -> None:
        """Count a pair of values below its threshold."""
        rest = "wrong_item" if isinstance(place[-1], int) else "other"
        self.classes[self._class_of(gt, pred, place) or rest] += 1

    def _class_of(self, gt: Any, pred: Any, place: Place) -> str | None:
        if isinstance(gt, str):
            if max(len(gt), len(pred)) > _LONGEST:
                return part(gt, pred)
            if not (gt.isdigit() and pred.isdigit()):
                return self._of_texts(gt, pred, place)
        if self.stands_elsewhere(pred, place):
            return "swapped"
        return slip_of_number(float(gt), float(pred))

    def _of_texts(self, gt: str, pred: str, place: Place) -> str | None:
        bare_gt, bare_pred = bare(gt), bare(pred)
        if bare_gt == bare_pred:
            return "format"
        if shape(gt) == shape(pred):
            return "look_alike"
        if self.stands_elsewhere(pred, place):
            return "swapped"
        if day_and_month_swapped(gt, pred):
            return "day_month_swapped"
        return part(bare_gt, bare_pred) or slip_of_text(bare_gt, bare_pred)

    def stands_elsewhere(self, pred: Any, place: Place) -> bool:
        """Tell whether a value is the ground truth of a place near its own."""
        wanted = telling(pred)
        if wanted is None:
            return False
        if not self.everywhere:  # most wrong values are nowhere
            self.everywhere = {folded(value) for value in leaves(self.gt)}
        if folded(pred) not in self.everywhere:
            return False
        around = [self.gt]
        for step in place[:-1]:
            around.append(around[-1][step])
        innermost = len(place) - 1
        for depth in range(innermost, max(innermost - _LEVELS, -1), -1):
            inside = place[depth + 1 :]
            n_equal = 0
            for sibling in siblings(around[depth], place[depth]):
                value = sibling
                for step in inside:
                    value = step_into(value, step)
                n_equal += telling(value) == wanted
            if n_equal:
                return n_equal == 1  # of several neighbours nobody can say which it is
        return False


def leaves(value: Any) -> Iterator[Any]:
    """Give all values in a value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value


def folded(value: Any) -> Any:
    """Drop the case of a text, and blanks around it."""
    return value.strip().lower() if isinstance(value, str) else value


def telling(value: Any) -> str | None:
    """Give a value as it is looked for; None where it may be anywhere by chance, or is no leaf."""
    if value is None or isinstance(value, dict | list):
        return None
    text: str = value.strip() if isinstance(value, str) else written(value)
    digits = _NO_DIGITS.sub("", text).lstrip("0")
    n_significant = len(digits.rstrip("0"))
    if n_significant >= 3 or (n_significant == 2 and len(digits) >= 4):
        is_year = text.isdigit() and len(text) == 4 and "1900" <= text < "2100"
        return None if is_year else text.lower()
    words = _WORDS.findall(text)
    names = [word for word in words if not word[0].islower()]
    is_name = len(names) > 1 and sum(map(len, names)) >= 8
    return text.lower() if is_name or sum(map(len, words)) >= 16 else None


def written(value: float) -> str:
    """Write a number as a document would."""
    return str(int(value) if value == int(value) else value)


def siblings(around: Any, step: str | int) -> Iterator[Any]:
    """Give what stands beside a place."""
    if isinstance(step, str):
        for index, (name, value) in enumerate(around.items()):
            if index == 100:
                return
            if name != step:
                yield value
    else:
        yield from around[max(step - _NEIGHBOURS, 0) : step]
        yield from around[step + 1 : step + 1 + _NEIGHBOURS]


def step_into(value: Any, step: str | int) -> Any:
    """Follow one step; None where it leads nowhere. A value by itself is a list of one."""
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    return value if step == 0 else None


def bare(text: str) -> str:
    """Drop case, blanks and punctuation."""
    return text.lower().translate(_DROPPED)


def shape(text: str) -> str:
    """Make characters that look alike the same one."""
    return bare(text.lower().translate(_LOOK_ALIKES).replace("rn", "m").replace("vv", "w"))


def part(gt: str, pred: str) -> str | None:
    """Tell whether one text begins or ends the other."""
    if len(pred) < len(gt) and (gt.startswith(pred) or gt.endswith(pred)):
        return "truncated"
    if len(gt) < len(pred) and (pred.startswith(gt) or pred.endswith(gt)):
        return "overrun"
    return None


def slip_of_text(gt: str, pred: str) -> str | None:
    """Tell whether two texts differ by a digit or two that changed places."""
    if min(len(gt), len(pred)) < 2 or _DIGITS.sub("", gt) != _DIGITS.sub("", pred):
        return None
    gt, pred = _NO_DIGITS.sub("", gt), _NO_DIGITS.sub("", pred)
    return "digit_slip" if gt and pred and are_near(gt, pred) else None


def day_and_month_swapped(gt: str, pred: str) -> bool:
    """Tell whether two dates have day and month in each other's place."""
    if not (gt[-1].isdigit() and pred[-1].isdigit()):
        return False
    parts, others = date_parts(gt), date_parts(pred)
    return len(parts) == 3 and parts != others and parts == [others[0], *others[:0:-1]]


def date_parts(date: str) -> list[str]:
    """Give year, month and day; another number of parts of what is no date.

    Month and day are as they stand where nothing tells which is which.
    """
    parts = _BREAKS.split(date)
    if len(parts[0]) != 4:
        parts = [parts[-1], *sorted(parts[:-1], key=lambda part: part not in _MONTHS)]
    return [_MONTHS.get(part, part) for part in parts]


def slip_of_number(gt: float, pred: float) -> str | None:
    """Tell whether two numbers differ by a power of ten, a digit, or two that changed places."""
    (gt_digits, gt_power), (pred_digits, pred_power) = significant(gt), significant(pred)
    if not gt_digits or not pred_digits:
        return None
    if gt_digits.rstrip("0") == pred_digits.rstrip("0"):
        return "decimal_shift"
    power = min(gt_power, pred_power)
    gt_line = gt_digits + "0" * (gt_power - power)
    pred_line = pred_digits + "0" * (pred_power - power)
    for one, other in ((gt_line, pred_line), (gt_digits, pred_digits)):
        if min(len(one), len(other)) > 1 and are_near(one, other):
            return "digit_slip"
    return None


def significant(value: float) -> tuple[str, int]:
    """Give the digits of a number, and the power of ten of the last."""
    _, digits, power = Decimal(written(value)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    return text, int(power)


def are_near(gt: str, pred: str) -> bool:
    """Tell whether one digit differs, is missing or too many, or two have changed places."""
    if len(gt) == len(pred):
        apart = [index for index, digit in enumerate(gt) if digit != pred[index]]
        if len(apart) == 2:
            first, second = apart
            return gt[first] == pred[second] and gt[second] == pred[first]
        return len(apart) < 2
    shorter, longer = sorted((gt, pred), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    at = next((i for i, digit in enumerate(shorter) if digit != longer[i]), len(shorter))
    return shorter[at:] == longer[at + 1 :]
