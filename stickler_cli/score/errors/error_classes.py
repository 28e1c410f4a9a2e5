"""Choose the class of each error: the class of the first rule that applies.

Reports list classes in the order of `ErrorClass`. docs/error-classes.md describes the rules and
their order.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cached_property, lru_cache, reduce
from itertools import combinations, islice
from typing import Any, Final

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonObject, JsonValue, kind_of
from stickler_cli.core.locations import Path, Step
from .confusions import (
    amount,
    begins_or_ends,
    day_and_month_swapped,
    find_slip_of_numbers,
    find_slip_of_texts,
    has_other_percent_sign,
    has_other_relation,
    is_decimal_shift,
    letters_and_digits,
    look_alike,
    part_of_date,
    plain_text,
    same_date,
    same_in_other_separators,
    same_text,
)

LONGEST: Final = 1_000  # characters; longer texts are only tested for truncation
TELLING_LETTERS: Final = 16  # letters and digits; fewer may be a status: "not applicable"
TELLING_NAME: Final = 8  # letters of two or more capitalised words, such as names
_LETTERS_OF_A_SIGN: Final = 4  # letters that one Chinese, Japanese or Korean sign stands for
_FIRST_SIGN: Final = "\u2e80"  # where East Asian scripts begin in Unicode
_YEARS: Final = range(1900, 2100)  # years, of which a data set has few
_YEAR_DIGITS: Final = 4
_TELLING_DIGITS: Final = re.compile(
    r"[1-9](?:[^0-9]*[0-9])+?[^0-9]*[1-9]|[1-9][^0-9]*[1-9](?:[^0-9]*[0-9]){2}"
)
"""Matches numbers that are so specific that another field rarely has the same number by chance.
They have at least three significant digits, as in `105`, or two significant digits followed by two
zeros, as in `12.00`."""
NEIGHBOURS: Final = 10  # items before and after that are searched: keeps time linear
_WORDS: Final = re.compile(r"[^\W_]+")
_SCALARS: Final = frozenset((str, int, float, bool))
SIBLINGS: Final = 100  # fields of an object, or keys of a map, that are searched
FACTORS: Final = 6  # numbers of an item that are multiplied pairwise: 15 pairs
HALF_A_CENT: Final = Decimal("0.005")  # maximum rounding error of an amount
LEVELS: Final = 3  # lists and objects around a value that are searched


class ErrorClass(StrEnum):
    """The kind of mistake of an error."""

    MISSED_ITEM = "missed_item"  # list item that the prediction lacks
    INVENTED_ITEM = "invented_item"  # list item that the ground truth lacks
    MOVED = "moved"  # item of an ordered list at another position
    MISSED_OBJECT = "missed_object"  # object that the prediction lacks
    INVENTED_OBJECT = "invented_object"  # object that the ground truth lacks
    MISSED_VALUE = "missed_value"  # field with a value in the ground truth only
    INVENTED_VALUE = "invented_value"  # field with a value in the prediction only
    SWAPPED = "swapped"  # value of another field or of another item
    ITEM_WITH_ERRORS = "item_with_errors"  # failed pair of items, half or more fields right
    WRONG_ITEM = "wrong_item"  # other pair of items below its threshold
    WRONG_OBJECT = "wrong_object"  # object below its threshold
    WRONG_KIND = "wrong_kind"  # another JSON type, or unreadable on both sides
    FORMAT = "format"  # same content in another format
    LOOK_ALIKE = "look_alike"  # differs only in characters that look alike
    TRUNCATED = "truncated"  # beginning or end of the ground truth
    OVERRUN = "overrun"  # ground truth with more text before or after it
    DAY_MONTH_SWAPPED = "day_month_swapped"  # day and month exchanged
    PARTIAL_DATE = "partial_date"  # a date without year or day on one side
    DECIMAL_SHIFT = "decimal_shift"  # same digits, another power of ten
    DIGIT_SLIP = "digit_slip"  # one digit, two exchanged digits, or a sign
    OTHER = "other"


def classify(  # noqa: PLR0911, PLR0913, PLR0917 - one for each rule, in their order
    outcome: Outcome,
    path: Path,
    gt: JsonValue,
    pred: JsonValue,
    places: "ValuePlaces",
    comparator: Any = None,
) -> ErrorClass:
    """Return the error class of a unit with the outcome FD, FA or FN.

    `path` is the path of the unit in the ground truth, or in the prediction if the unit is an
    invented list item. An absent value is None. `places` has the values of the whole ground truth.
    `comparator` is the comparator of the two values; some rules depend on how it reads them.
    """
    is_element = isinstance(path[-1], int)
    if outcome is Outcome.FN:
        missed = ErrorClass.MISSED_OBJECT if isinstance(gt, dict) else ErrorClass.MISSED_VALUE
        return ErrorClass.MISSED_ITEM if is_element else missed
    if outcome is Outcome.FA:
        if is_element:
            return ErrorClass.INVENTED_ITEM
        if places.find_other_place(pred, path) is not None:
            return ErrorClass.SWAPPED
        is_object = isinstance(pred, dict)
        return ErrorClass.INVENTED_OBJECT if is_object else ErrorClass.INVENTED_VALUE
    if not isinstance(gt, dict | list) and not isinstance(pred, dict | list):
        return _classify_scalars(path, gt, pred, places, comparator)
    if kind_of(gt) != kind_of(pred):
        return ErrorClass.WRONG_KIND
    if is_element:
        return ErrorClass.WRONG_ITEM
    if places.find_other_place(pred, path) is not None:
        return ErrorClass.SWAPPED
    return ErrorClass.WRONG_OBJECT if isinstance(gt, dict) else ErrorClass.OTHER


def _classify_scalars(
    path: Path,
    gt: JsonValue,
    pred: JsonValue,
    places: "ValuePlaces",
    comparator: Any,
) -> ErrorClass:
    """Return the error class of two values, neither of which is an object or a list.

    The first rule that applies gives the class:

    1. The values are equal, but the comparator cannot read them.
    2. The values have the same content in another format, or differ only in characters that look
       alike. Rule 2 is skipped if the comparator reads the values as different ones (rule 5).
    3. The values are of different kinds, such as a number and a word. Values with the same content
       (rule 2), such as 5 and "5", do not count as different kinds.
    4. The prediction is the value of another field.
    5. The comparator reads two similar values as different ones (see `_classify_as_read`).
    6. The two texts are similar: for example, one is the beginning of the other.

    If no rule applies, `_unexplained` gives the class. If a text has more than `LONGEST`
    characters, none of these rules is tried. The only test is then whether one text is the
    beginning or the end of the other.
    """
    gt_text, pred_text = plain_text(gt), plain_text(pred)
    if max(len(gt_text), len(pred_text)) > LONGEST:
        return _classify_long_texts(gt_text, pred_text) or _unexplained(path)
    # Cache only plain scalars, which are safe keys; call the function itself for other values.
    can_be_cached = {gt.__class__, pred.__class__} <= _SCALARS
    classify_pair: Any = _classify_pair if can_be_cached else _classify_pair.__wrapped__
    certain, unless_swapped = classify_pair(gt, pred, gt_text, pred_text)

    by_reading = _classify_as_read(comparator, gt, pred, gt_text, pred_text)
    if by_reading is not None and certain is not ErrorClass.WRONG_KIND:
        certain, unless_swapped = None, by_reading
    if certain is not None:
        return certain  # type: ignore[no-any-return] # of a cached function
    if places.find_other_place(pred, path) is not None:
        return ErrorClass.SWAPPED
    return unless_swapped or _unexplained(path)


def _classify_as_read(
    comparator: Any, gt: JsonValue, pred: JsonValue, gt_text: str, pred_text: str
) -> ErrorClass | None:
    """Return the class of two values that look alike, but that the comparator reads differently.

    For example, `05/01/2024` and `5 Jan 2024` are different dates for a comparator that expects the
    month first. Return None if none of the tests finds such a difference.
    """
    if hasattr(comparator, "read_number"):
        return _classify_numbers_as_read(comparator, gt, pred, gt_text, pred_text)
    # The texts state equal dates in one order of day and month, but not in the field's order.
    if getattr(comparator, "dayfirst", None) is not None and same_date(gt_text, pred_text):
        return ErrorClass.DAY_MONTH_SWAPPED
    # Punctuation has a meaning in code.
    if getattr(comparator, "language", None) is not None and same_text(gt_text, pred_text):
        return ErrorClass.OTHER
    return None


def _classify_numbers_as_read(
    comparator: Any, gt: JsonValue, pred: JsonValue, gt_text: str, pred_text: str
) -> ErrorClass | None:
    """Return the class of two numbers with another decimal point, percent sign or relation sign.

    A relation sign is the `<` in `<5`. The numbers are compared as `comparator` reads them. Return
    None if they differ in another way. Percent signs and relation signs are compared only if the
    comparator has the unit `same` and reads the two numbers as equal.
    """
    gt_number, pred_number = comparator.read_number(gt), comparator.read_number(pred)
    if gt_number is None or pred_number is None:
        return None
    if is_decimal_shift(gt_number, pred_number):
        return ErrorClass.DECIMAL_SHIFT
    if getattr(comparator, "unit", "") == "same" and gt_number == pred_number:
        if has_other_percent_sign(gt_text, pred_text):
            return ErrorClass.DECIMAL_SHIFT
        if has_other_relation(gt_text, pred_text):
            return ErrorClass.OTHER
    return None


@lru_cache(4096, typed=True)  # the same wrong values occur in many documents
def _classify_pair(  # noqa: PLR0911 - one for each rule, in their order
    gt: Any, pred: Any, gt_text: str, pred_text: str
) -> tuple[ErrorClass | None, ErrorClass | None]:
    """Return (certain class, possible class) from two texts alone; at least one class is None.

    The possible class applies only if the prediction is not the value of another field.
    """
    if gt_text == pred_text and type(gt) is type(pred):
        return ErrorClass.WRONG_KIND, None  # equal values that the comparator cannot read
    gt_amount, pred_amount = amount(gt), amount(pred)
    if gt_amount is not None and pred_amount is not None:
        if gt_amount == pred_amount or same_in_other_separators(gt, pred):
            return ErrorClass.FORMAT, None
        return None, _classify_numbers(gt_amount, pred_amount)
    if same_text(gt_text, pred_text) or same_date(gt_text, pred_text):
        return ErrorClass.FORMAT, None
    if look_alike(gt_text, pred_text):
        return ErrorClass.LOOK_ALIKE, None
    if _kind_of_number(gt) != _kind_of_number(pred):
        return ErrorClass.WRONG_KIND, None
    return None, _classify_texts(gt_text, pred_text)


def _classify_numbers(gt: Decimal, pred: Decimal) -> ErrorClass | None:
    if is_decimal_shift(gt, pred):
        return ErrorClass.DECIMAL_SHIFT
    return ErrorClass.DIGIT_SLIP if find_slip_of_numbers(gt, pred) else None


def _classify_texts(gt: str, pred: str) -> ErrorClass | None:
    if day_and_month_swapped(gt, pred):
        return ErrorClass.DAY_MONTH_SWAPPED
    if part_of_date(gt, pred):
        return ErrorClass.PARTIAL_DATE
    if letters_and_digits(gt) and letters_and_digits(gt) == letters_and_digits(pred):
        return ErrorClass.DECIMAL_SHIFT  # differs in a decimal point only
    if begins_or_ends(pred, gt):
        return ErrorClass.TRUNCATED
    if begins_or_ends(gt, pred):
        return ErrorClass.OVERRUN
    return ErrorClass.DIGIT_SLIP if find_slip_of_texts(gt, pred) else None


def _kind_of_number(value: JsonValue) -> str:
    kind = kind_of(value)
    return "number" if kind == "integer" else kind


def _classify_long_texts(gt: str, pred: str) -> ErrorClass | None:
    if gt.startswith(pred) or gt.endswith(pred):
        return ErrorClass.TRUNCATED
    if pred.startswith(gt) or pred.endswith(gt):
        return ErrorClass.OVERRUN
    return None


def _unexplained(path: Path) -> ErrorClass:
    """Return the class of an error that no other rule explains.

    It is `WRONG_ITEM` for a list item, else `OTHER`.
    """
    return ErrorClass.WRONG_ITEM if isinstance(path[-1], int) else ErrorClass.OTHER


class ValuePlaces:
    """The values of a ground truth. They show whether a wrong value belongs to another field.

    Look-ups in an object are cached, since one object may have several errors.
    """

    def __init__(self, document: JsonValue) -> None:
        self._document = document
        self._fields: dict[tuple[int, Path], dict[str, list[Step]]] = {}
        """Cached results of `_names_by_text`. The keys are (id of the argument `parent`, argument
        `inside`)."""

    def find_other_place(self, pred: JsonValue, path: Path) -> Path | None:
        """Return the path at which the ground truth has the value that was wrongly predicted.

        `pred` is the wrong prediction, and `path` is its path. Only values near this path are
        searched: first other fields of the same object, then the same field of neighbouring items
        or objects. The search ends at the first of these steps that finds an equal value. Return
        None if no step finds one, or if the step that ends the search finds several.
        """
        wanted = searchable_form(pred)
        if wanted is None or not self._may_occur(pred, wanted):
            return None
        parents = [self._document]
        for step in path[:-1]:
            parents.append(_step_into(parents[-1], step))
        innermost = len(path) - 1
        for depth in range(innermost, max(innermost - LEVELS, -1), -1):
            inner_path = path[depth + 1 :]
            neighbours = self._find_neighbours(wanted, parents[depth], path[depth], inner_path)
            if neighbours:
                return (*path[:depth], neighbours[0], *inner_path) if len(neighbours) == 1 else None
        return None

    def _may_occur(self, value: JsonValue, wanted: JsonValue) -> bool:
        """Return False if a quick test shows that the ground truth does not contain `value`.

        `wanted` is `searchable_form(value)`.
        """
        if not isinstance(wanted, str):
            return True
        texts, numbers = self._all_scalars
        if wanted in texts:
            return True
        if not isinstance(value, str):
            return value in numbers
        if wanted[0] not in "0123456789+-.":
            return False
        for read in (int, float):  # look up `wanted` as a number
            try:
                return read(wanted) in numbers
            except ValueError:
                continue
        return "0x" in wanted  # `plain_text` writes large integers in hexadecimal

    @cached_property
    def _all_scalars(self) -> tuple[frozenset[str], frozenset[Any]]:
        """All texts of the ground truth, stripped and in lower case, and all its other scalars."""
        texts: set[str] = set()
        others: set[Any] = set()
        todo: list[Any] = [self._document]
        while todo:
            value = todo.pop()
            kind = value.__class__
            if kind is dict:
                todo.extend(value.values())
            elif kind is list:
                todo.extend(value)
            elif kind is str:
                texts.add(value)
            else:
                others.add(value)
        return frozenset(map(str.casefold, map(str.strip, texts))), frozenset(others)

    def _find_neighbours(
        self, wanted: JsonValue, parent: JsonValue, step: Step, inside: Path
    ) -> list[Step]:
        """Return the keys or indexes in `parent`, except `step`, where the wanted value is.

        The value that is compared is at the path `inside` below the key or index. If `inside` is
        empty, the child at the key or index itself is compared. Only the first `SIBLINGS` keys of
        an object are searched, and in a list only the `NEIGHBOURS` items on each side of `step`.
        """
        if isinstance(wanted, str) and isinstance(parent, dict):
            names = self._names_by_text(parent, inside).get(wanted, ())
            return [name for name in names if name != step]
        children: Iterable[tuple[Step, JsonValue]] = ()
        if isinstance(parent, dict):
            children = islice(parent.items(), SIBLINGS)
        elif isinstance(parent, list) and isinstance(step, int):
            first = max(step - NEIGHBOURS, 0)
            children = enumerate(parent[first : step + 1 + NEIGHBOURS], first)
        return [
            name
            for name, value in children
            if name != step and searchable_form(reduce(_step_into, inside, value)) == wanted
        ]

    def _names_by_text(self, parent: JsonObject, inside: Path) -> dict[str, list[Step]]:
        """Map each text in an object to the names of the fields that have this text.

        Only the first `SIBLINGS` fields of `parent` are read. The text of a field is the value at
        the path `inside` below the field. If `inside` is empty, the text is the value of the field
        itself. Texts have the form that `searchable_form` returns.
        """
        key = id(parent), inside
        if key not in self._fields:
            texts: dict[str, list[Step]] = {}
            for name, value in islice(parent.items(), SIBLINGS):
                text = searchable_form(reduce(_step_into, inside, value))
                if isinstance(text, str):
                    texts.setdefault(text, []).append(name)
            self._fields[key] = texts
        return self._fields[key]


def origins(
    gt: JsonObject, pred: JsonObject, differing: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (wrong field, source fields) where a wrong value seems to come from other fields.

    `differing` has the names of the wrong fields. There are two kinds of pairs:

    - One source field: the wrong value in `pred` equals the value of this field in `gt`, and no
      other field of `gt` has this value.
    - Two source fields: the wrong field is the product of the two source fields, both in `gt` and
      in `pred`.
    """
    forms = {name: searchable_form(value) for name, value in islice(gt.items(), SIBLINGS)}
    for name in differing:
        wanted = searchable_form(pred.get(name))
        if wanted is None:
            continue
        holders = [other for other in forms if other != name and forms[other] == wanted]
        if len(holders) == 1:
            yield name, (holders[0],)
        numbers = [
            other
            for other in forms
            if other != name and _is_number(gt[other]) and _is_number(pred.get(other))
        ]
        for factors in combinations(sorted(numbers[:FACTORS]), 2):
            if _is_product(gt, name, factors) and _is_product(pred, name, factors):
                yield name, factors


def _is_number(value: JsonValue) -> bool:
    return value.__class__ is int or value.__class__ is float


def _is_product(item: JsonObject, name: str, factors: tuple[str, ...]) -> bool:
    """Return whether an amount in an item is the product of two other amounts, up to rounding."""
    first, second = (amount(item.get(factor)) for factor in factors)
    product = amount(item.get(name))
    if not first or not second or not product:
        return False
    return abs(first * second - product) <= min(HALF_A_CENT, abs(product) / 100)


def searchable_form(value: JsonValue) -> JsonValue:
    """Convert a value to the form in which it is searched for in other fields.

    A number becomes text, and text is put in lower case, so that `49.99` equals `"49.99"`. Return
    None for a value that is so common that another field may have it by chance.

    >>> searchable_form(49.99), searchable_form("Ada Byron ")
    ('49.99', 'ada byron')
    >>> searchable_form("unknown"), searchable_form(2024)
    (None, None)
    """
    # These lines take much of a run's time: a match statement would be slower.
    kind = value.__class__
    if kind is str:
        text = str(value).strip()
    elif value is None or kind is bool:
        return None
    elif isinstance(value, dict | list):
        return value if _has_telling_value(value) else None
    elif isinstance(value, float) and value.is_integer():
        text = plain_text(int(value))
    else:
        text = plain_text(value)
    return text.casefold() if is_telling(text) else None


def is_telling(text: str) -> bool:
    """Return whether a text is so specific that another field rarely has the same text by chance.

    >>> [is_telling(text) for text in ("3686.34", "Ada Byron", "1000", "not applicable")]
    [True, True, False, False]
    """
    if _TELLING_DIGITS.search(text):
        return not (len(text) == _YEAR_DIGITS and text.isdecimal() and int(text) in _YEARS)
    words = _WORDS.findall(text)
    n_signs = 0 if text.isascii() else sum(sign >= _FIRST_SIGN for sign in text)
    if sum(map(len, words)) + n_signs * (_LETTERS_OF_A_SIGN - 1) >= TELLING_LETTERS:
        return True
    names = [word for word in words if not word[0].islower()]
    return len(names) > 1 and sum(map(len, names)) >= TELLING_NAME


def _has_telling_value(value: JsonValue) -> bool:
    """Return whether one of the first values in an object or list is specific.

    `is_telling` decides which values are specific.
    """
    todo: list[JsonValue] = [value]
    for _ in range(SIBLINGS):
        if not todo:
            return False
        item = todo.pop()
        if isinstance(item, dict):
            todo.extend(islice(item.values(), SIBLINGS))
        elif isinstance(item, list):
            todo.extend(item[:SIBLINGS])
        elif searchable_form(item) is not None:
            return True
    return False


def _step_into(value: JsonValue, step: Step) -> JsonValue:
    """Return the child of a value at a key or index, or None if there is no such child.

    A scalar is treated as a list of one item: its child at index 0 is the scalar itself.
    """
    if isinstance(value, dict):
        return value.get(step) if isinstance(step, str) else None
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else None
    return value if step == 0 else None
