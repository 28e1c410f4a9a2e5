"""Causes of errors in sentences: kind, number, and values lost."""

import json
from collections.abc import Sequence
from typing import Final

from stickler_cli.core.figures import WHOLE, number_of, truncate, visible
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass
from stickler_cli.score.errors.causes import Cause, Causes, Kind
from stickler_cli.score.errors.error_classes import ErrorClass
from .view import RunView

NAMED: Final = 8  # causes that a report for people names; all of them are in the JSON report
WIDTH: Final = 30  # columns of a value in a sentence

_WHOLE: Final = {
    ErrorClass.MISSED_ITEM: "missed",
    ErrorClass.INVENTED_ITEM: "invented",
    ErrorClass.ITEM_WITH_ERRORS: "with errors",
    ErrorClass.WRONG_ITEM: "wrong",
}
_ONE_SIDED: Final = {
    ErrorClass.MISSED_VALUE: "missed",
    ErrorClass.INVENTED_VALUE: "invented",
    ErrorClass.MISSED_OBJECT: "missed",
    ErrorClass.INVENTED_OBJECT: "invented",
}
_SAME_SLIP: Final = {
    ErrorClass.SWAPPED: "the value of another field or item",
    ErrorClass.TRUNCATED: "cut short",
    ErrorClass.OVERRUN: "with more before or after it",
    ErrorClass.DAY_MONTH_SWAPPED: "day and month swapped",
    ErrorClass.PARTIAL_DATE: "a part of the date",
    ErrorClass.DECIMAL_SHIFT: "decimal point shifted",
    ErrorClass.DIGIT_SLIP: "a digit wrong or out of place",
}
"""Classes that say what happened, whatever the values are: their causes are told as one."""

_THINGS: Final = ("item", " value", " object", " kind", " slip", " shift", " date")
"""What classes named after a thing end in; the others are named after what happened to it."""


@dataclass(frozen=True, slots=True)
class CauseText:
    """A cause in words, or several that are alike, and how many values were lost by it."""

    values: int
    text: str
    causes: tuple[Cause, ...]

    @property
    def key(self) -> str:
        """Its identifier in links."""
        return self.causes[0].key

    @property
    def errors(self) -> int:
        """How many errors it explains."""
        return sum(cause.size.errors for cause in self.causes)


def of_class(error_class: ErrorClass, count: int) -> str:
    """Return a number of errors of a class in words.

    >>> of_class(ErrorClass.ITEM_WITH_ERRORS, 2), of_class(ErrorClass.FORMAT, 2)
    ('2 items with errors', '2 format')
    """
    words = error_class.replace("_", " ")
    one, dot, rest = words.partition(" with ")
    return (number_of(count, one) if one.endswith(_THINGS) else f"{count} {one}") + dot + rest


def causes(view: RunView) -> tuple[list[CauseText], list[CauseText]]:
    """Return the causes that lost most values, and all others.

    Pairs that stand alone are told together, and so are those of a class that says enough.
    """
    known = view.run.evaluation.fold(Causes).ranked()
    together: dict[tuple[str, ErrorClass], list[tuple[Cause, Kind]]] = {}
    texts = []
    for cause in known:
        kind = cause.kind
        if kind and kind.gt and (cause.size.errors == 1 or cause.error_class in _SAME_SLIP):
            key = view.quoted(field_path(kind.path)), cause.error_class
            together.setdefault(key, []).append((cause, kind))
        elif cause.size.values:
            texts.append(CauseText(cause.size.values, _cause_text(view, cause), (cause,)))
    for (name, error_class), found in together.items():
        number = sum(cause.size.errors for cause, _ in found)
        text = f"{name}: {of_class(error_class, number)}, all different"
        if error_class in _SAME_SLIP:
            text = f"{name}: {_SAME_SLIP[error_class]}, {number_of(number, 'time')}"
        text = text if number > 1 else f"{_pair(view, name, *found[0])} once"
        texts.append(CauseText(number, text, tuple(cause for cause, _ in found)))
    texts.sort(key=lambda text: -text.values)
    return texts[:NAMED], texts[NAMED:]


def _cause_text(view: RunView, cause: Cause) -> str:
    (errors, _, documents), kind = cause.size, cause.kind
    name = view.quoted(field_path(kind.path if kind else cause.pattern) or WHOLE)
    around = number_of(documents, "document")
    inside = f" in {around}"
    spread = "" if errors == documents else inside
    if kind is None:
        return f"{name}: {of_class(cause.error_class, errors)}, of many kinds"
    if kind.differing:
        *most, last = (view.quoted(field_path((each,))) for each in kind.differing)
        names = f"{', '.join(most)} and {last}" if most else last
        return f"{name}: {names} wrong in {number_of(errors, 'item')} of {around}"
    if kind.gt:
        return f"{_pair(view, name, cause, kind)} {errors} times{spread}"
    if cause.error_class in _ONE_SIDED:
        what = _ONE_SIDED[cause.error_class]
        times = "" if errors == documents else f" {errors} times"
        return f"{name} {what}{times}{inside}"
    if cause.error_class in _WHOLE:
        what = _WHOLE[cause.error_class]
        return f"{name}: {number_of(errors, 'item')} {what}{inside}"
    return f"{name}: {of_class(cause.error_class, errors)}{spread}"


def _pair(view: RunView, name: str, cause: Cause, kind: Kind) -> str:
    written = cause.error_class is ErrorClass.WRONG_KIND  # then 5 is to be told from "5"
    texts = (visible(text if written else _unquoted(text)) for text in (kind.gt, kind.pred))
    gt, pred = (view.quoted(truncate(text, WIDTH)) for text in texts)
    return f"{name} {gt} -> {pred}"


def _unquoted(text: str) -> str:
    """Return a value that is JSON as it is read: a text without quotes, unless it needs them."""
    value = json.loads(text)
    return value if isinstance(value, str) and value.strip() == value != "" else text


def more_causes(causes: Sequence[CauseText]) -> str:
    """Return how many causes a report does not name; empty for none."""
    values = sum(cause.values for cause in causes)
    told = f"{number_of(len(causes), 'other cause')} of {number_of(values, 'value')}"
    return f"and {told}; all of them are in the JSON report" if causes else ""
