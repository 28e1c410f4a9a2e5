"""Equality of two numbers, exact or within a tolerance, however they are written.

All arithmetic that decides is decimal, on the digits as they are in the documents, so that
0.1 + 0.2 never decides a match. Floats serve only to find the few pairs for which that matters.
"""

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .base import (
    BaseComparator,
    Keys,
    KeywordError,
    Similarities,
    checked_choice,
    codes_of,
    is_number,
    linked_codes,
    text_of,
)
from .number_parsing import Measured, measured, parse_number, readable, same_measure, written

_UNROUNDED: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Wide enough that sums and products are exact; it takes only the memory that their digits need."""

_EXACT: Final = 2**53
"""Below it every whole number is a float."""

_ROUNDING: Final = 1e-14
"""Bound, with room to spare, on the relative error of the arithmetic in `_within`: five
operations of at most 2**-53 each."""
_UNDERFLOW: Final = 1e-300
"""Bound on its absolute error, where floats lose digits."""

Floats: TypeAlias = NDArray[np.float64]
Truths: TypeAlias = NDArray[np.bool_]

Number: TypeAlias = float | Decimal | None
Prepared: TypeAlias = Number | Measured
"""A number: the float whose shortest spelling it is, a decimal where there is none such.

Two numbers are therefore equal where they are of one type and equal. None is no number.
Where units count, a number with one has it beside it.
"""

UNIT: Final = ("ignore", "same")
DECIMAL: Final = (".", ",", "auto")
_NO_UNIT: Final = frozenset[str]()


class NumericComparator(BaseComparator):
    """Compare numbers, however written, for equality or within a tolerance."""

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
    ) -> None:
        """Set how far apart two numbers may be; within either tolerance is near enough.

        Args:
            threshold: in [0, 1], for `binary_compare`.
            relative_tolerance: share of the ground truth's size; of 1 where that is 0. At least 0.
            absolute_tolerance: in the unit of the numbers; at least 0.
            tolerance: another name for `absolute_tolerance`.
            unit: `same` compares currency, unit and `<` too, where both sides state one, and reads
                19% as 0.19 where the other side has no sign and is at most 1; else `ignore`.
            decimal: the sign before decimals, `.` or `,`; `auto` tells it by the digits, and reads
                `120.00-` and `120.00 CR` as below zero.
        """
        super().__init__(threshold)
        self.relative_tolerance = _checked_tolerance("relative_tolerance", relative_tolerance)
        self.absolute_tolerance = _checked_tolerance("absolute_tolerance", absolute_tolerance)
        self.tolerance = None if tolerance is None else _checked_tolerance("tolerance", tolerance)
        if self.tolerance is not None and self.absolute_tolerance:
            raise KeywordError(
                "tolerance", "tolerance and absolute_tolerance are both given", "one of the two"
            )
        self.unit = checked_choice("unit", unit, UNIT)
        self.decimal = checked_choice("decimal", decimal, DECIMAL)
        self._plain = unit == UNIT[0] and decimal == DECIMAL[0]
        self._relative = written(self.relative_tolerance)
        self._absolute = written(self.tolerance or self.absolute_tolerance)

    def prepare(self, value: Any) -> Prepared:
        """Read a number; None where there is none, and for NaN, infinities and booleans."""
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
            return self._read(text_of(value))
        return _as_float(number)

    def _read(self, text: str) -> Prepared:
        """Read a number by its decimal sign, with its unit where units count."""
        found = measured(text)
        if self.decimal == "auto":
            number = found.number
        elif self.decimal == ",":
            number = parse_number(text.replace(".", "").replace(",", "."))
        else:
            number = parse_number(text)
        found = found._replace(number=number)
        says_more = found.currencies or found.units or found.relation or found.percent
        return found if self.unit == "same" and says_more else _as_float(number)

    def similarity(self, gt: Prepared, pred: Prepared) -> float:
        """Compare two numbers: 1.0 or 0.0, and 0.0 where either is not one."""
        if isinstance(gt, Measured) or isinstance(pred, Measured):
            return self._of_measures(_measured(gt), _measured(pred))
        if gt is None or pred is None:
            return 0.0
        return self._of_numbers(written(gt), written(pred))

    def _of_measures(self, gt: Measured, pred: Measured) -> float:
        """Compare two numbers with their units; two units where neither side has a number."""
        if not same_measure(gt, pred):
            return 0.0
        if gt.number is None or pred.number is None:
            same = gt.currencies == pred.currencies
            said = bool(gt.currencies) or (gt.units == pred.units and bool(gt.units))
            return float(gt.number is pred.number and same and said)
        sides = [gt.number, pred.number]
        if gt.percent != pred.percent and abs(sides[gt.percent]) <= 1:
            shares = list(sides)
            shares[pred.percent] = sides[pred.percent].scaleb(-2)
            if self._of_numbers(*shares):
                return 1.0
        return self._of_numbers(*sides)

    def _of_numbers(self, gt: Decimal, pred: Decimal) -> float:
        difference = _UNROUNDED.abs(_UNROUNDED.subtract(gt, pred))
        if difference <= self._absolute:
            return 1.0
        size = gt.copy_abs() if gt else Decimal(1)
        return float(difference <= _UNROUNDED.multiply(self._relative, size))

    def similarities(self, gts: Sequence[Prepared], preds: Sequence[Prepared]) -> Similarities:
        """Compare two columns: as floats where these are sure, as decimals near the tolerance."""
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

    def keys(self, prepared: Sequence[Prepared]) -> "Keys | None":
        """Return codes by value; None where a tolerance makes unequal numbers alike."""
        if self._relative or self._absolute:
            return None
        if Measured in {*map(type, prepared)}:
            return linked_codes(map(_keys_of, prepared))
        return codes_of(np.array(prepared, np.float64).tolist())

    def _within(self, gt: Floats, pred: Floats) -> tuple[Truths, Truths]:
        """Return which pairs are within tolerance, and of which that is sure; nan surely is not."""
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
"""The name that older schemas give it."""


def _as_float(number: Decimal | None) -> Number:
    """Return the float that is a number, or the number itself."""
    if number is None:
        return None
    near = float(number)
    return near if written(near) == number else number


def _measured(value: Prepared) -> Measured:
    if isinstance(value, Measured):
        return value
    return Measured(None if value is None else written(value), _NO_UNIT, _NO_UNIT)


def _keys_of(value: Prepared) -> list[object]:
    """Return the keys that values share with those that may be the same."""
    found = _measured(value)
    if found.number is None:
        return [(found.currencies, None if found.currencies else found.units)]
    return [found.number, found.number.scaleb(-2)] if found.percent else [found.number]


def _checked_tolerance(keyword: str, value: object) -> float:
    if is_number(value) and 0 <= value < math.inf:  # math.isfinite overflows on a huge int
        return value
    raise KeywordError.of(keyword, value, "a finite number of at least 0")
