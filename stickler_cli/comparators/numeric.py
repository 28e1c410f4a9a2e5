"""Equality of two numbers, exact or within a tolerance, however they are written.

All arithmetic that decides is decimal, on the digits as they are in the documents, so that
0.1 + 0.2 never decides a match. Floats serve only to find the few pairs for which that matters.
"""

import math
import re
from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import (
    BaseComparator,
    KeywordError,
    Matrix,
    equality,
    is_number,
    text_of,
)
from stickler_cli.json_values import brief

MAGNITUDE: Final = 10_000
"""Numbers from 10**-MAGNITUDE to 10**MAGNITUDE are read; no measurement needs more, and the exact
sum of `1e999999999` and 1 would fill the memory."""

_UNROUNDED: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Wide enough that sums and products are exact; it takes only the memory that their digits need."""

_SCIENTIFIC: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]([+-]?[0-9]+)")
_PLAIN: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-.][^\W\d_]+)*\.?")
"""With the dots and hyphens that are part of it: `Rs. 500` is 500, not 0.500."""
_IGNORED: Final = re.compile(r"[^0-9.-]+")

_PLAIN_TYPES: Final = frozenset((int, float))
_EXACT: Final = 2**53
"""Below it every whole number is a float."""

_ROUNDING: Final = 1e-14
"""Bound, with room to spare, on the relative error of the arithmetic in `_as_floats`: five
operations of at most 2**-53 each."""
_UNDERFLOW: Final = 1e-300
"""Bound on its absolute error, where floats lose digits."""


Prepared: TypeAlias = int | float | Decimal | None
"""A number as it is written; None is no number."""


class NumericComparator(BaseComparator):
    """Compare numbers, however written, for equality or within a tolerance."""

    reflexive: ClassVar[frozenset[type]] = frozenset((int, float))
    columnar: ClassVar[bool] = True

    def __init__(
        self,
        threshold: float = 1.0,
        relative_tolerance: float = 0.0,
        absolute_tolerance: float = 0.0,
        tolerance: float | None = None,
    ) -> None:
        """Set how far apart two numbers may be; within either tolerance is near enough.

        Args:
            threshold: in [0, 1], for `binary_compare`.
            relative_tolerance: share of the ground truth's size; of 1 where that is 0. At least 0.
            absolute_tolerance: in the unit of the numbers; at least 0.
            tolerance: another name for `absolute_tolerance`.

        Raises:
            KeywordError: a keyword of the wrong type or range, or the same tolerance twice.
        """
        super().__init__(threshold)
        self.relative_tolerance = _checked_tolerance("relative_tolerance", relative_tolerance)
        self.absolute_tolerance = _checked_tolerance("absolute_tolerance", absolute_tolerance)
        self.tolerance = None if tolerance is None else _checked_tolerance("tolerance", tolerance)
        if self.tolerance is not None and self.absolute_tolerance:
            raise KeywordError(
                "tolerance", "tolerance and absolute_tolerance are both given", "one of the two"
            )
        self._relative = _written(self.relative_tolerance)
        self._absolute = _written(self.tolerance or self.absolute_tolerance)

    def prepare(self, value: Any) -> Prepared:
        """Read a number; None where there is none, and for NaN, infinities and booleans."""
        if (type(value) is float or type(value) is int) and -_EXACT < value < _EXACT:
            return value
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float | Decimal):
            return _readable(_written(value))
        return _parse_number(text_of(value))

    def similarity(self, gt: Prepared, pred: Prepared) -> float:
        """Compare two numbers: 1.0 or 0.0, and 0.0 where either is not one."""
        if gt is None or pred is None:
            return 0.0
        gt, pred = _written(gt), _written(pred)
        difference = _UNROUNDED.abs(_UNROUNDED.subtract(gt, pred))
        if difference <= self._absolute:
            return 1.0
        size = gt.copy_abs() if gt else Decimal(1)
        return float(difference <= _UNROUNDED.multiply(self._relative, size))

    def matrix(self, gts: Sequence[Prepared], preds: Sequence[Prepared]) -> Matrix:
        """Compare all with all: as floats where these are sure, as decimals near the tolerance."""
        if not self._relative and not self._absolute:
            return _equality(gts, preds)
        within, sure = self._as_floats(gts, preds)
        result = within.astype(np.float64)
        for row, column in np.argwhere(~sure):
            result[row, column] = self.similarity(gts[row], preds[column])
        return result

    def _as_floats(
        self, gts: Sequence[Prepared], preds: Sequence[Prepared]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Judge all pairs as floats: which are within tolerance, and of which that is sure.

        It is sure that a missing number is not; nothing is sure of numbers beyond the floats.
        """
        gt, pred = _floats(gts)[:, None], _floats(preds)
        is_zero = np.array([number == 0 for number in gts])[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            difference = np.abs(gt - pred)
            gt_size = np.abs(gt)
            size = np.where(is_zero, 1.0, gt_size)
            allowed = np.maximum(float(self._absolute), float(self._relative) * size)
            slack = _ROUNDING * (gt_size + np.abs(pred) + allowed) + _UNDERFLOW
            sure = np.abs(difference - allowed) > slack
            return difference <= allowed, sure | np.isnan(gt) | np.isnan(pred)


NumericExactC = NumericComparator
"""The name that older schemas give it."""


def _checked_tolerance(keyword: str, value: object) -> float:
    """Give back a finite number that is not negative; a `KeywordError` for anything else."""
    if is_number(value) and 0 <= value < math.inf:  # math.isfinite overflows on a huge int
        return value
    raise KeywordError(keyword, f"{keyword} is {brief(value)}", "a finite number of at least 0")


def _written(number: float | Decimal) -> Decimal:
    """Turn a number into the decimal that its shortest spelling states."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def _parse_number(text: str) -> Decimal | None:
    """Read the number that a text states, as docs/comparators.md says; None where there is none."""
    text = text.strip()
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        # So many digits that Decimal itself would refuse the exponent.
        beyond = len(scientific[1].lstrip("+-0")) > len(str(MAGNITUDE))
        return None if beyond else _readable(Decimal(text))
    bare = _IGNORED.sub("", _WORD.sub("", text))
    if not _PLAIN.fullmatch(bare):
        return None
    number = Decimal(bare)
    return _readable(number.copy_sign(Decimal(-1)) if _is_in_parentheses(text) else number)


def _is_in_parentheses(text: str) -> bool:
    """Tell an accountant's negative: nothing but signs outside one pair of parentheses.

    `(5)` and `$(5)` are; `thirty (30)` is not.
    """
    before, opening, rest = text.partition("(")
    _, closing, after = rest.rpartition(")")
    return bool(opening and closing) and not any(map(str.isalnum, before + after))


def _readable(number: Decimal) -> Decimal | None:
    """Give back a number of a size that exact arithmetic can bear."""
    if not number:
        return Decimal(0)
    return number if number.is_finite() and abs(number.adjusted()) <= MAGNITUDE else None


def _floats(numbers: Sequence[Prepared]) -> NDArray[np.float64]:
    """Give numbers as the nearest floats, nan for those that are none; (n,)."""
    return np.array([math.nan if number is None else float(number) for number in numbers])


def _equality(gts: Sequence[Prepared], preds: Sequence[Prepared]) -> Matrix:
    """Compare all with all for equality: 1.0 or 0.0; shape (n, m)."""
    if all(number.__class__ in _PLAIN_TYPES for side in (gts, preds) for number in side):
        same: Matrix = (_floats(gts)[:, None] == _floats(preds)).astype(np.float64)
        return same
    there = [[number is not None for number in side] for side in (gts, preds)]
    decimals = (
        [None if number is None else _written(number) for number in side] for side in (gts, preds)
    )
    return np.where(np.logical_and.outer(*there), equality(*decimals), 0.0)
