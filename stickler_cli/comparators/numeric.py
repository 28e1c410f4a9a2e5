"""The comparator of numbers in any format, such as `1.200,50 €`. They must be equal or nearly so.

Decimal arithmetic on the digits in the documents decides whether two numbers match. An inexact
float such as 0.1 + 0.2 never decides. Floats are used only where their error cannot matter.
"""

import math
from collections.abc import Sequence
from decimal import (
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Decimal,
)
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.match_differences import DifferenceKind, MatchDifference
from .base import (
    BaseComparator,
    Keys,
    KeywordError,
    Lengths,
    Similarities,
    checked_choice,
    checked_flag,
    codes_of,
    is_number,
    linked_codes,
    text_of,
)
from .numbers_with_units import (
    MAX_ABBREVIATED,
    NO_UNIT,
    UNROUNDED,
    Measured,
    convert_to_one_unit,
    have_same_text_or_unit,
    lacks_unit,
    measured,
    parse_number,
    read_in_currency_of,
    readable,
    same_measure,
    single_sign,
    size_of_unit,
    written,
)

LONGEST_MEASURE: Final = 64  # letters; common numbers with units have half as many
STEPS_OF_ABBREVIATION: Final = 1_000  # nanoseconds for one pair of words
_EXACT: Final = 2**53
"""A float can hold every whole number below this limit exactly."""

_ROUNDING: Final = 1e-14
"""Upper bound of the relative rounding error in `_within`. Its five operations have an error of at
most 2**-53 each."""
_UNDERFLOW: Final = 1e-300
"""Upper bound of the absolute error in `_within`. Floats of very small numbers lose digits."""

FloatArray: TypeAlias = NDArray[np.float64]
Truths: TypeAlias = NDArray[np.bool_]

NumberValue: TypeAlias = float | Decimal | None
PreparedNumber: TypeAlias = NumberValue | Measured
"""A prepared number; None if there is no number. A number is stored as a float if the float prints
exactly its digits, as with 0.1. Otherwise, it is stored as a Decimal. Equal numbers are therefore
stored in the same way. If units count, a number with a unit is stored as a `Measured`."""

UNIT: Final = ("ignore", "same")
DECIMAL: Final = (".", ",", "auto", "money", "currency")
_OF_MONEY: Final = frozenset({"money", "currency"})


class NumericComparator(BaseComparator):
    """Compare numbers in any format, for equality or within a tolerance."""

    same_value = True
    columnar: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913, PLR0917 - each keyword is one that a schema may set
        self,
        threshold: float = 1.0,
        relative_tolerance: float = 0.0,
        absolute_tolerance: float = 0.0,
        tolerance: float | None = None,
        unit: str = UNIT[0],
        decimal: str = DECIMAL[0],
        same_type: bool = False,
    ) -> None:
        """Set how numbers are read, and how much two matching numbers may differ.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            relative_tolerance: maximum difference as a share of the ground truth, at least 0. A
                ground truth of 0 counts as 1. Numbers match if they are within one of the
                tolerances.
            absolute_tolerance: maximum difference in the unit of the numbers, at least 0.
            tolerance: another name for `absolute_tolerance`.
            unit: `ignore` compares only the numbers. `same` also compares signs such as `<` and
                `~`, and the currency or unit if both sides have one. With `same`, a number of at
                most 1 without a percent sign can be a share: 19% matches 0.19.
            decimal: the decimal sign, `.` or `,`. With `auto`, the digits decide which sign it is,
                and `120.00-` and `120.00 CR` are below zero. `money` is like `auto`, but `25.000`
                is 25000, except in a currency with three decimals. With `currency`, the currency of
                either number decides how `25.000` is read. If neither number has a currency,
                `25.000` matches neither 25 nor 25000.
            same_type: whether a number differs from its text, for example 3 from `"3"`.
        """
        super().__init__(threshold)
        self.relative_tolerance = _checked_tolerance("relative_tolerance", relative_tolerance)
        self.absolute_tolerance = _checked_tolerance("absolute_tolerance", absolute_tolerance)
        self.tolerance = None if tolerance is None else _checked_tolerance("tolerance", tolerance)
        if self.tolerance is not None and self.absolute_tolerance:
            raise KeywordError(
                "tolerance",
                "tolerance and absolute_tolerance are both given",
                "only one of the two",
            )
        self.unit = checked_choice("unit", unit, UNIT)
        self.decimal = checked_choice("decimal", decimal, DECIMAL)
        self.same_type = checked_flag("same_type", same_type)
        self._plain = unit == UNIT[0] and decimal == DECIMAL[0] and not same_type
        self.steps_of_letter = 300 if self._plain else 2500
        self._relative = written(self.relative_tolerance)
        self._absolute = written(self.tolerance or self.absolute_tolerance)

    def prepare(self, value: Any) -> PreparedNumber:
        """Read a number. Return None for NaN, infinities, booleans and values without a number."""
        if type(value) is float:
            return value if math.isfinite(value) else None
        if type(value) is int and -_EXACT < value < _EXACT:
            return float(value)
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float | Decimal):
            number = readable(written(value))
        elif self._plain:
            number = parse_number(text_of(value))
        else:
            return self._read_text(text_of(value))
        return _as_float(number)

    def read_number(self, value: Any) -> Decimal | None:
        """Return the number in a value; None if it has none.

        In a comparison, the currency of the other value can decide whether `25.000` is 25 or 25000.
        This method has no other value, so only the given value decides.
        """
        return _measured(self.prepare(value)).number

    def _read_text(self, text: str) -> PreparedNumber:
        """Return the number in a text, with its unit if units count.

        The decimal sign is the one that the settings choose.
        """
        reading = measured(text, money=self.decimal in _OF_MONEY)
        if self.decimal == "currency" and reading.with_decimals is not None:
            reading = reading._replace(is_ambiguous=True)
        if self.decimal == "auto" or self.decimal in _OF_MONEY:
            number = reading.number
        elif self.decimal == ",":
            number = parse_number(text.replace(".", "").replace(",", "."))
        else:
            number = parse_number(text)
        reading = reading._replace(number=number, text="" if number is not None else reading.text)
        has_currency = reading.currencies or reading.possible_currencies
        has_unit = has_currency or reading.units or reading.relation or reading.percent
        has_unit = has_unit or reading.text
        counts_unit = self.unit == "same" or (self.decimal == "currency" and reading.currencies)
        if reading.with_decimals is not None or (counts_unit and has_unit):
            return reading
        # With `same_type`, a number from a text must not look like a JSON number.
        return Measured(number, NO_UNIT, NO_UNIT) if self.same_type else _as_float(number)

    def similarity(self, gt: PreparedNumber, pred: PreparedNumber) -> float:
        """Return 1.0 if two numbers match, else 0.0.

        None stands for a value without a number. It never matches, not even another None.
        """
        if self.same_type and isinstance(gt, Measured) is not isinstance(pred, Measured):
            return 0.0
        if isinstance(gt, Measured) or isinstance(pred, Measured):
            return self._compare_measures(_measured(gt), _measured(pred))
        if gt is None or pred is None:
            return 0.0
        return self._compare_numbers(written(gt), written(pred))

    def _compare_measures(self, gt: Measured, pred: Measured) -> float:
        """Return 1.0 if two numbers with units match, else 0.0.

        Values with several numbers, or with neither a number nor a unit, match if their texts are
        equal. Values that have only a currency or a unit, such as `EUR`, match if the currency or
        the unit is equal.
        """
        if self.unit == "same" and not self._absolute:
            gt, pred = convert_to_one_unit(gt, pred)
        if self.unit == "same" and not same_measure(gt, pred):
            return 0.0
        gt, pred = read_in_currency_of(gt, pred), read_in_currency_of(pred, gt)
        if gt.is_ambiguous is not pred.is_ambiguous:
            return 0.0
        if gt.text or pred.text or gt.number is None or pred.number is None:
            return float(have_same_text_or_unit(gt, pred))
        if gt.percent == pred.percent:
            return self._compare_numbers(gt.number, pred.number)
        return self._compare_percentage(gt.number, pred.number, is_percentage=gt.percent)

    def _compare_percentage(self, gt: Decimal, pred: Decimal, *, is_percentage: bool) -> float:
        """Compare two numbers, one of them with a percent sign. Return 1.0 if they match, else 0.0.

        `is_percentage` is true if the ground truth has the percent sign. If the number without the
        sign is below 1, it is read as a share: 0.5 matches 50 %, but not 0.5 %. If it is above 1,
        it is read as a percentage: 50 matches 50 %. The number 1 matches both 1 % and 100 %. For a
        negative number, its absolute value decides how it is read.
        """
        without_sign = abs(pred if is_percentage else gt)
        if without_sign >= 1 and self._compare_numbers(gt, pred):
            return 1.0
        if without_sign > 1:
            return 0.0
        gt, pred = (gt, pred.scaleb(2)) if is_percentage else (gt.scaleb(2), pred)
        return self._compare_numbers(gt, pred)

    def _compare_numbers(self, gt: Decimal, pred: Decimal) -> float:
        difference = UNROUNDED.abs(UNROUNDED.subtract(gt, pred))
        if difference <= self._absolute:
            return 1.0
        size = gt.copy_abs() if gt else Decimal(1)
        return float(difference <= UNROUNDED.multiply(self._relative, size))

    @property
    def reports_differences_if_named(self) -> bool:
        """Whether differences are reported even if the schema names the comparator.

        True if units count. Otherwise, differences are reported only if the comparator was
        inferred.
        """
        return self.unit != UNIT[0]

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Return how two matching numbers differ, if the difference may matter.

        None if it does not matter, or if units are ignored.
        """
        are_equal = is_number(gt) and is_number(pred) and gt == pred  # 2 and 2.0
        if self.unit == UNIT[0] or are_equal:
            return None
        difference: DifferenceKind | None = None
        gt_measure, pred_measure = (_measured(self.prepare(value)) for value in (gt, pred))
        gt_measure, pred_measure = convert_to_one_unit(gt_measure, pred_measure)
        if gt_measure.percent == pred_measure.percent and _are_apart(gt_measure, pred_measure):
            difference = "another number"
        elif lacks_unit(gt_measure, pred_measure):
            difference = "no currency or unit"
        elif single_sign(gt) != single_sign(pred) and single_sign(gt) and single_sign(pred):
            difference = "thousands or decimals"
        return difference and MatchDifference(difference, text_of(gt), text_of(pred))

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return the approximate time to compare pairs of values, in nanoseconds.

        `gt` and `pred` have the lengths of the values. If units must be equal, comparing
        them takes additional time.
        """
        steps = super().steps(gt, pred)
        if self.unit == UNIT[0]:
            return steps
        # In texts of one line, reading takes longer than comparing words.
        is_long = np.minimum(gt, pred) > LONGEST_MEASURE
        words = [np.minimum(side[is_long] // 2, MAX_ABBREVIATED) for side in (gt, pred)]
        return steps + STEPS_OF_ABBREVIATION * int(words[0] @ words[1])

    def similarities(
        self, gts: Sequence[PreparedNumber], preds: Sequence[PreparedNumber]
    ) -> Similarities:
        """Return 1.0 or 0.0 for each pair.

        Pairs near the limit of tolerance are compared as decimals.
        """
        if Measured in {*map(type, gts), *map(type, preds)}:
            return BaseComparator.similarities(self, gts, preds)
        within, sure = self._within(np.array(gts, np.float64), np.array(preds, np.float64))
        if Decimal in {*map(type, gts), *map(type, preds)}:
            sure &= [not isinstance(gt, Decimal) for gt in gts]
            sure &= [not isinstance(pred, Decimal) for pred in preds]
        similarities: Similarities = within.astype(np.float64)
        for index in np.flatnonzero(~sure).tolist():
            similarities[index] = self.similarity(gts[index], preds[index])
        return similarities

    def keys(self, prepared: Sequence[PreparedNumber]) -> "Keys | None":
        """Return a code for each number.

        None if different numbers can match because of a tolerance.
        """
        if self._relative or self._absolute:
            return None
        if Measured in {*map(type, prepared)}:
            return linked_codes(map(_keys_of, prepared))
        return codes_of(np.array(prepared, np.float64).tolist())

    def _within(self, gt: FloatArray, pred: FloatArray) -> tuple[Truths, Truths]:
        """Return (mask of pairs within tolerance, mask of pairs with a certain result).

        The result for a pair is certain if the rounding error of floats cannot change it.
        """
        if not self._relative and not self._absolute:
            return gt == pred, np.ones(len(gt), np.bool_)
        with np.errstate(over="ignore", invalid="ignore"):
            difference = np.abs(gt - pred)
            gt_size = np.abs(gt)
            allowed = float(self._relative) * np.where(gt_size == 0, 1.0, gt_size)
            allowed = np.maximum(float(self._absolute), allowed)
            slack = _ROUNDING * (gt_size + np.abs(pred) + allowed) + _UNDERFLOW
            sure = np.abs(difference - allowed) > slack
            return difference <= allowed, sure | np.isnan(gt) | np.isnan(pred)


NumericExactC = NumericComparator
"""The name of the comparator in older schemas."""


def _as_float(number: Decimal | None) -> NumberValue:
    """Return the float that prints the same digits as `number`.

    If there is none, return `number`.
    """
    if number is None:
        return None
    near = float(number)
    return near if written(near) == number else number


def _measured(value: PreparedNumber) -> Measured:
    if isinstance(value, Measured):
        return value
    return Measured(None if value is None else written(value), NO_UNIT, NO_UNIT)


def _are_apart(gt: Measured, pred: Measured) -> bool:
    """Return whether two numbers differ even after rounding.

    Both numbers are rounded to the same number of decimals. This is the number of decimals of the
    less precise number, but at least two. For example, 1.2345 and 1.234 are rounded to three
    decimals.
    There are two rules for rounding a half: to even, and up. Return True only if the numbers
    differ under both rules. For example, return False for 0.125 and 0.12, because 0.125 rounded to
    even is 0.12.
    """
    if gt.number is None or pred.number is None or gt.number == pred.number:
        return False
    exponents = [side.normalize().as_tuple().exponent for side in (gt.number, pred.number)]
    # Keep at least two decimals, because a float such as 12.30 loses its final zero.
    fewer_decimals = Decimal(1).scaleb(min(-2, max(map(int, exponents))))
    return all(
        gt.number.quantize(fewer_decimals, rounding, UNROUNDED)
        != pred.number.quantize(fewer_decimals, rounding, UNROUNDED)
        for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)
    )


def _keys_of(value: PreparedNumber) -> list[object]:
    """Return the keys of a number. Two numbers that may match have at least one key in common."""
    reading = _measured(value)
    if reading.text:
        return [reading.text]
    if reading.number is None:
        return [(reading.currencies, None if reading.currencies else reading.units)]
    numbers = [reading.number]
    if reading.with_decimals is not None:
        numbers.append(reading.with_decimals)
    if size := size_of_unit(reading):
        numbers.append(UNROUNDED.multiply(reading.number, size.factor))
    if reading.percent:
        numbers += [number.scaleb(-2) for number in numbers]
    return [*numbers]


def _checked_tolerance(keyword: str, value: object) -> float:
    if is_number(value) and 0 <= value < math.inf:  # math.isfinite fails on a huge int
        return value
    raise KeywordError.of(keyword, value, "a finite number of at least 0")
