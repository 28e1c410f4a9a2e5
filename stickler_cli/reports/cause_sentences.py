"""Causes of errors in sentences: kind, number, and values lost."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stickler_cli.core.figures import WHOLE, number_of, truncate, visible
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.errors.causes import Cause, Causes, ErrorTrait
from stickler_cli.score.errors.error_classes import ErrorClass
from .view import RunView

NAMED: Final = 3  # causes that the first screen names; `stickler errors` lists all
FEW: Final = 4  # one in so many items holds another field before the first screen says so
WIDTH: Final = 30  # columns of a value in a sentence

_WHOLE: Final = {
    ErrorClass.MISSED_ITEM: "missed",
    ErrorClass.INVENTED_ITEM: "invented",
    ErrorClass.MOVED: "moved",
    ErrorClass.ITEM_WITH_ERRORS: "with errors",
    ErrorClass.WRONG_ITEM: "wrong",
}
_ONE_SIDED: Final = {
    ErrorClass.MISSED_VALUE: "missed",
    ErrorClass.INVENTED_VALUE: "invented",
    ErrorClass.MISSED_OBJECT: "missed",
    ErrorClass.INVENTED_OBJECT: "invented",
}
SAME_SLIP: Final = {
    ErrorClass.TRUNCATED: "cut short",
    ErrorClass.OVERRUN: "with more before or after it",
    ErrorClass.DAY_MONTH_SWAPPED: "day and month swapped",
    ErrorClass.PARTIAL_DATE: "a part of the date",
    ErrorClass.DECIMAL_SHIFT: "decimal point shifted",
    ErrorClass.DIGIT_SLIP: "a digit wrong or out of place",
}
"""The `SLIPS` in words."""

_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        all an and another any are as at both but by document documents each every first for
        from had has have in invented is it item items its kinds last many missed more most
        moved no none not object objects of on once one only or other others predicted right
        same slip some that the these they this three time times to two value values was were
        with without wrong
        """,
    )
)
"""Names of fields that a sentence would take for words of its own."""

_THINGS: Final = ("item", " value", " object", " kind", " slip", " shift", " date")
"""What classes named after a thing end in; the others are named after what happened to it."""


@dataclass(frozen=True, slots=True)
class CauseText:
    """A cause in words, or several that are alike, and how many values were lost by it."""

    number: int
    """By which people call it, from 1."""
    values: int
    text: str
    causes: tuple[Cause, ...]
    documents: Sequence[str] | None
    """All that it is in; None where they are not known."""
    origins: Sequence[str]
    """In how many of its items which fields hold others, in words."""

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
    ('2 items with errors', '2 written differently')
    """
    if error_class is ErrorClass.FORMAT:
        return f"{count:,} written differently"
    words = error_class.replace("_", " ")
    one, dot, rest = words.partition(" with ")
    return (number_of(count, one) if one.endswith(_THINGS) else f"{count:,} {one}") + dot + rest


def causes(view: RunView) -> tuple[list[CauseText], list[CauseText]]:
    """Return the causes that lost most values, and all others."""
    texts = describe_causes(view, view.run.evaluation.fold(Causes))
    return texts[:NAMED], texts[NAMED:]


def describe_causes(view: RunView, causes: Causes) -> list[CauseText]:
    """Return causes of errors of a run in words, those that lost most values first."""
    return [
        CauseText(
            number,
            sum(cause.size.values for cause in told_together),
            _told_text(view, causes, told_together),
            told_together,
            causes.documents_of(told_together),
            [*_origin_texts(view, causes, told_together)],
        )
        for number, told_together in enumerate(causes.numbered(), 1)
    ]


def _told_text(view: RunView, known: Causes, told: tuple[Cause, ...]) -> str:
    """Return a cause in words, or several that are told together."""
    first, number = told[0], sum(cause.size.errors for cause in told)
    if first.trait is None or not first.trait.gt:
        return _cause_text(view, known, first)
    name, slip = view.quoted(field_path(first.trait.path)), SAME_SLIP.get(first.error_class)
    if number == 1:
        return f"{_pair(view, first, first.trait)} once"
    if first.error_class is ErrorClass.SWAPPED:
        slip = _sources(view, known, told) or "wrong"
    if slip:
        lists = {info.field for info in view.run.fields if info.kind in ("list", "tuple")}
        path = first.trait.path
        in_list = any(path[:size] in lists for size in range(len(path) + 1))
        # Of a field that is in no list, a document has one value.
        often = (
            f", {number_of(number, 'time')}" if in_list else f" in {number_of(number, 'document')}"
        )
        return f"{name}: {slip}{often}"
    if len(told) == 1:
        return _cause_text(view, known, first)
    other = first.error_class is ErrorClass.OTHER
    what = f"{number:,} wrong" if other else of_class(first.error_class, number)
    return f"{name}: {what}, no two alike"


def _sources(view: RunView, known: Causes, told: tuple[Cause, ...]) -> str:
    """Return which field's values were swapped in; empty where it may be chance."""
    for (field, (other, *_)), _ in known.telling_origins_of(told):
        return f"the value of {'another item' if other == field else _quote_name(view, other)}"
    return ""


def _origin_texts(view: RunView, known: Causes, told: tuple[Cause, ...]) -> Iterator[str]:
    """Yield in how many items which fields hold others, most first."""
    for origin, errors in known.telling_origins_of(told):
        name, *of = (_quote_name(view, it[-1:]) for it in (origin.field, *origin.of))
        if len(of) > 1:
            yield f"{name} is {' times '.join(of)}, as predicted, in {errors:,}"
        elif told[0].trait and told[0].trait.differing:
            yield f"{name} holds {of[0]} in {errors:,}"


def _cause_text(view: RunView, known: Causes, cause: Cause) -> str:
    (errors, _, documents), kind = cause.size, cause.trait
    name = view.quoted(field_path(kind.path if kind else cause.pattern) or WHOLE)
    around = number_of(documents, "document")
    inside = f" in {around}"
    spread = "" if errors == documents else inside
    if kind is None:
        return f"{name}: {of_class(cause.error_class, errors)}, of many kinds"
    if kind.differing:
        *most, last = (_quote_name(view, (each,)) for each in kind.differing)
        names = f"{', '.join(most)} and {last}" if most else last
        found = known.telling_origins_of([cause])
        held = [(number, it.of[0]) for it, number in found if len(it.of) == 1]
        if held and held[0][0] * FEW >= errors:
            number, of = held[0]
            told = f" ({number:,} hold {_quote_name(view, of[-1:])})"
        else:
            told = f" of {around}"
        return f"{name}: {names} wrong in {number_of(errors, 'item')}{told}"
    if kind.gt:
        return f"{_pair(view, cause, kind)} {errors:,} times{spread}"
    if cause.error_class in _ONE_SIDED:
        what = _ONE_SIDED[cause.error_class]
        times = "" if errors == documents else f" {errors:,} times"
        return f"{_quote_name(view, kind.path)} {what}{times}{inside}"
    if cause.error_class in _WHOLE:
        what = _WHOLE[cause.error_class]
        return f"{name}: {number_of(errors, 'item')} {what}{inside}"
    return f"{name}: {of_class(cause.error_class, errors)}{spread}"


def _quote_name(view: RunView, path: Path) -> str:
    """Return a field as sentences name it; in quotes if its name could be a word of them."""
    name = field_path(path) or WHOLE
    quoted = view.quoted(name)
    could_be_word = name.lower() in _WORDS or name.isdecimal()
    return f'"{quoted}"' if quoted == name and could_be_word else quoted


def _pair(view: RunView, cause: Cause, kind: ErrorTrait) -> str:
    written = cause.error_class is ErrorClass.WRONG_KIND  # then 5 is to be told from "5"
    texts = (visible(text if written else _unquoted(text)) for text in (kind.gt, kind.pred))
    gt, pred = (view.quoted(truncate(text, WIDTH)) for text in texts)
    return f"{_quote_name(view, kind.path)} {gt} -> {pred}"


def _unquoted(text: str) -> str:
    """Return a value that is JSON as it is read: a text without quotes, unless it needs them."""
    value = json.loads(text)
    return value if isinstance(value, str) and value.strip() == value != "" else text


def more_causes(causes: Sequence[CauseText]) -> str:
    """Return how many causes a report does not name; empty for none."""
    values = sum(cause.values for cause in causes)
    told = f"{number_of(len(causes), 'other cause')}, {number_of(values, 'value')}"
    return f"and {told}" if causes else ""
