"""The comparator of numbers, exact or within a tolerance, in any format: `1.200,50 €`.

Whether two numbers match is decided by decimal arithmetic on the digits in the documents, so that
an inexact float such as 0.1 + 0.2 never decides. Floats only settle the pairs for which their error
cannot matter.
"""

import math
import re
from collections.abc import Sequence
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
)
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.match_differences import DifferenceKind, MatchDifference
from stickler_cli.core.normal_forms import mark_exponents, normalize_text
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
from .quantities import (
    CURRENCIES,
    SCALES,
    SHARED_SIGNS,
    SIZES_OF_UNITS,
    UNITS,
    WITH_THREE_DECIMALS,
    UnitSize,
    is_unit,
    meaning_of_case,
    singular_unit,
)
from .relations import mark_relation_of_quantity
from .words import abbreviates

MAGNITUDE: Final = 10_000
"""Maximum exponent of ten, positive or negative, of a number that is read. No measurement needs
more, and the exact sum of `1e999999999` and 1 would fill the memory."""

_SCIENTIFIC: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]([+-]?[0-9]+)")
_PLAIN: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-.][^\W\d_]+)*(\.?)")
"""A word with dots and hyphens inside it, and with a final dot. `Rs. 500` is thus 500, not
0.500."""
_FIRST_TO_LAST: Final = re.compile(r"[0-9](?:.*[0-9])?", re.DOTALL)
_IGNORED: Final = re.compile(r"[^0-9.-]+")


def written(number: float | Decimal) -> Decimal:
    """Return a number as a decimal with the digits that Python prints: 0.1 for the float 0.1."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def parse_number(text: str) -> Decimal | None:
    """Return the number in a text by the rules of docs/comparators.md; None if there is no number.

    >>> parse_number("EUR 1,250.00"), parse_number("n/a")
    (Decimal('1250.00'), None)
    """
    text = text.strip()
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        # The exponent has so many digits that Decimal would fail.
        beyond = len(scientific[1].lstrip("+-0")) > len(str(MAGNITUDE))
        return None if beyond else readable(Decimal(text))
    bare = _IGNORED.sub("", _without_words(text))
    if not _PLAIN.fullmatch(bare):
        return None
    number = Decimal(bare)
    before, opening, behind_opening = text.partition("(")
    _, closing, after = behind_opening.rpartition(")")
    if opening and closing and not any(map(str.isalnum, before + after)):
        # Brackets mean a negative amount in accounts: `$(5)`, but not `thirty (30)`.
        number = number.copy_sign(Decimal(-1))
    return readable(number)


def _without_words(text: str) -> str:
    """Return a text without words; a dot between digits stays: `12USD.50` becomes `12.50`."""
    digits = _FIRST_TO_LAST.search(text)
    if digits is None:
        return ""

    def keep_dot(word: re.Match[str]) -> str:
        is_between = digits.start() < word.start() and word.end() < digits.end()
        return word[1] if is_between else ""

    return _WORD.sub(keep_dot, text)


def readable(number: Decimal) -> Decimal | None:
    """Return a number; None if it is too large, too small or infinite for exact arithmetic."""
    if not number:
        return Decimal(0)
    return number if number.is_finite() and abs(number.adjusted()) <= MAGNITUDE else None


_NUMBER: Final = re.compile(r"\d+(?:[.,'\u2019 ]\d+)*(?:[eE][+-]?\d+(?!\w))?|[.,]\d+")
_POWER: Final = re.compile(r"(?<!\d[eE])(?<=[^\W\d_])[23](?!\w)|10\^\d+")
"""Digits that belong to a unit: the 2 of m2, 10^9 in 10^9/L."""
_UNIT: Final = re.compile(r"\w{0,40}\$|[^\W\d_]+[23]?|[€£¥₹₩₽₺₪₫₴₦₱฿%\"]|10\^\d+|(?<=\s)'(?!\w)")
_PER_YEAR_OR_MONTH: Final = re.compile(r"(?<=%)\s?p\.?\s?([am])\b\.?", re.IGNORECASE)
_PERIODS: Final = {"a": " per year", "m": " per month"}
"""The words for `p.a.` and `p.m.` behind a rate of interest."""
_RELATION: Final = re.compile(r"[<>]=?|[~\u00b1]")
_DASHES: Final = str.maketrans("\u2212\u2013\u00a0\u2009\u202f\u2032\u2033", "--   '\"")
_CREDIT: Final = re.compile(r"(?<=[\d.])\s*(?:-|CR\b\.?)|\bCR\b(?=\s*\d)")
"""A sign that makes an amount in accounts negative: a minus or CR behind the amount, or CR before
it."""


_OPEN: Final = frozenset((*SHARED_SIGNS, "pound", "per", "pro", "of", "a", "the", "uhr"))
"""Words and signs beside a number that do not say which unit it has: a sign of several currencies,
or a word such as `per`."""
_LETTER: Final = re.compile(r"\d\s?([kKmM])(?![\w/])")
"""A thousand or million as one letter after a number: `5k`, `2M`. It counts only beside a currency;
in a field of money, `k` always counts."""
_PERCENT: Final = frozenset(("%", "percent", "pct", "prozent"))


class Measured(NamedTuple):
    """A prepared number with its unit, currency and relation."""

    number: Decimal | None
    """The number; None if the text has no number, such as `EUR`."""
    currencies: frozenset[str]
    units: frozenset[str]
    """The words beside the number that are not currencies, such as `mg`."""
    relation: str = ""
    """The sign before the number, such as `<` in `<10`, or in place of words, such as `~` in `about
    10`; empty if there is none."""
    percent: bool = False
    with_decimals: Decimal | None = None
    """The other possible number, if the text can be read in two ways. `25.000` is 25000 as
    `number`, but 25 here, for a currency with three decimals. None if there is only one way."""
    is_ambiguous: bool = False
    """Whether only a currency could say if `number` or `with_decimals` is meant."""
    cased_letters: frozenset[str] = frozenset()
    """Letters of units whose case has a meaning: `m` of `mW`, `M` of `MW`, `b` of `Mb`, `B` of
    `MB`."""
    text: str = ""
    """The whole text, if it has several numbers, or neither a number nor a unit; else empty."""
    possible_currencies: frozenset[str] = frozenset()
    """The currencies of a sign that stands for several: yen and yuan for `¥`."""


def measured(text: str, *, money: bool = False) -> Measured:
    """Read a text with at most one number, and its unit.

    The digits decide whether a dot or a comma separates decimals. With `money`, a dot or comma
    before exactly three digits separates thousands.

    >>> measured("1.200,50 €").number, measured("120.00-").number, measured("<5 mg").units
    (Decimal('1200.50'), Decimal('-120.00'), frozenset({'mg'}))
    """
    text = mark_exponents(text).translate(_DASHES)
    text = normalize_text("NFKC", text).translate(_DASHES).strip()
    text = mark_relation_of_quantity(text.replace("+/-", "\u00b1"))
    text = _PER_YEAR_OR_MONTH.sub(lambda match: _PERIODS[match[1].lower()], text)
    plain = _POWER.sub("", text)
    runs = [*_NUMBER.finditer(plain)]
    relation = "".join(_RELATION.findall(text))
    without_number = text.replace(runs[0][0], " ", 1) if len(runs) == 1 else text
    credit = len(runs) == 1 and _CREDIT.search(plain)
    written_units = _UNIT.findall(_CREDIT.sub("", without_number, 1))
    cased_letters = frozenset(filter(None, map(meaning_of_case, written_units)))
    words = [singular_unit(unit.casefold()) for unit in written_units]
    shared_signs = SHARED_SIGNS.keys() & words
    words = [word for word in words if word not in _OPEN and (word != "cr" or not credit)]
    currencies = frozenset(CURRENCIES[word] for word in words if word in CURRENCIES)
    unit_words = {UNITS.get(word, word) for word in words if word not in CURRENCIES}
    letter = _LETTER.search(text)
    has_letter_scale = letter is not None and (bool(currencies) or (money and letter[1] in "kK"))
    scales = [word for word in unit_words if word in SCALES and (has_letter_scale or len(word) > 1)]
    units = frozenset(unit_words - {*_PERCENT, *scales})
    number = with_decimals = None
    if len(runs) == 1:
        number = _number_at(plain, runs[0], negated=bool(credit))
        if money and not scales and _THOUSANDS_OR_DECIMALS.fullmatch(runs[0][0]):
            with_decimals = number
            if WITH_THREE_DECIMALS.isdisjoint(currencies):
                number = _number_at(plain, runs[0], negated=bool(credit), no_decimals=True)
    if number is not None and scales:
        number = number.scaleb(SCALES[scales[0]])
    is_text = number is None and (bool(runs) or not words)
    return Measured(
        number=number,
        currencies=currencies,
        units=units,
        relation=relation,
        percent=not _PERCENT.isdisjoint(words),
        with_decimals=None if currencies else with_decimals,
        cased_letters=cased_letters,
        possible_currencies=frozenset().union(*map(SHARED_SIGNS.__getitem__, shared_signs)),
        text=_SPACE_BESIDE_SIGN.sub("", text.casefold()) if is_text else "",
    )


_SPACE_BESIDE_SIGN: Final = re.compile(r"\s+(?!\d)|(?<!\d)\s+")
"""White space that does not separate two numbers: `5 - 10` is `5-10`, but `5 10` is not `510`."""
_THOUSANDS_OR_DECIMALS: Final = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


def _number_at(
    text: str, digit_run: re.Match[str], *, negated: bool, no_decimals: bool = False
) -> Decimal | None:
    """Return the number that a run of digits gives, with its sign; None if it gives none.

    The number is negative after a minus, even with a currency sign between them, and if the whole
    text is in brackets. `negated` makes the number negative because of a word such as credit. With
    `no_decimals`, every dot and comma separates thousands.
    """
    before, after = text[: digit_run.start()], text[digit_run.end() :]
    # A hyphen directly after a letter or digit is no minus: `A-5`.
    sign = "-" if re.search(r"(?<![^\W_])-\s?[^\w\s]?\s?$", before) else ""
    is_in_brackets = "(" in before and ")" in after and not any(map(str.isalnum, before + after))
    digits = re.sub(r"[.,]", "", digit_run[0]) if no_decimals else with_point(digit_run[0])
    number = parse_number(sign + digits)
    if number is not None and (negated or is_in_brackets):
        return -abs(number)
    return number


_SPACED: Final = re.compile(r"\d{1,3}(?:[ '\u2019]\d{3})+(?:[.,]\d+)?")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}")
"""Digits in groups of thousands, or of lakhs as in India: `12,34,567`."""


def with_point(digits: str) -> str:
    """Return a number with a point before its decimals, and without separators of thousands.

    Empty if signs or spaces separate other groups, as in the version `2.0.1` or the list `1,2,3`.

    If both comma and dot occur, the last of them is the decimal sign. A single comma before three
    digits separates thousands.

    >>> with_point("1.200,50"), with_point("1,200"), with_point("0,125"), with_point("1.200.500")
    ('1200.50', '1200', '0.125', '1200500')
    """
    without_spaces = re.sub(r"[ '\u2019]", "", digits)
    if without_spaces != digits and not _SPACED.fullmatch(digits):
        return ""
    digits = without_spaces
    signs = [letter for letter in digits if letter in ".,"]
    if not signs:
        return digits
    last = signs[-1]
    n_digits_after = len(digits) - digits.rindex(last) - 1
    separate_thousands = {*signs} == {last} and (
        len(signs) > 1 or (last == "," and n_digits_after == 3 and digits[0] != "0")
    )
    if separate_thousands:
        return digits.replace(last, "") if _GROUPED.fullmatch(digits) else ""
    integer, _, decimals = digits.rpartition(last)
    integer = integer.replace(",", "").replace(".", "")
    return f"{integer}.{decimals}"


MAX_ABBREVIATED: Final = 32
"""Maximum number of words beside a number for abbreviations to be recognized. If there are more
words, which no measurement has, they must be equal."""
LONGEST_MEASURE: Final = 64  # letters; common numbers with units have half as many
STEPS_OF_ABBREVIATION: Final = 1_000  # nanoseconds for one pair of words


def same_measure(gt: Measured, pred: Measured) -> bool:
    """Return whether two numbers agree in relation, currency and unit.

    A currency or unit that only one side states is no disagreement.
    """
    if gt.relation != pred.relation:
        return False
    if _have_other_currencies(gt, pred) or _is_only_one_share(gt, pred):
        return False
    if gt.cased_letters and pred.cased_letters and gt.cased_letters != pred.cased_letters:
        return False
    known_units = [set(filter(is_unit, side.units)) for side in (gt, pred)]
    if all(known_units) and known_units[0] != known_units[1]:
        return False
    fewer_words, more_words = sorted((gt.units, pred.units), key=len)
    if len(more_words) > MAX_ABBREVIATED:
        return fewer_words <= more_words
    return all(
        any(_same_unit(word, other_word) for other_word in more_words) for word in fewer_words
    )


def _have_same_text_or_unit(gt: Measured, pred: Measured) -> bool:
    """Return whether two texts of several numbers are equal, or two units without a number."""
    if gt.text or pred.text:
        return gt.text == pred.text
    states_unit = bool(gt.currencies) or (gt.units == pred.units and bool(gt.units))
    return gt.number is pred.number and gt.currencies == pred.currencies and states_unit


def convert_to_one_unit(gt: Measured, pred: Measured) -> tuple[Measured, Measured]:
    """Return two measures in one unit if one unit is a multiple of the other, else as they are.

    >>> first, second = convert_to_one_unit(measured("2 weeks"), measured("14 days"))
    >>> first.number == second.number
    True
    """
    gt_size, pred_size = _size_of_unit(gt), _size_of_unit(pred)
    if gt_size is None or pred_size is None or gt_size == pred_size:
        return gt, pred
    if gt_size.base != pred_size.base:
        return gt, pred
    return _in_base_unit(gt, gt_size), _in_base_unit(pred, pred_size)


def _size_of_unit(measure: Measured) -> UnitSize | None:
    """Return the size of the only unit of a number; None for several units and unknown ones."""
    if measure.number is None or len(measure.units) != 1 or measure.currencies or measure.percent:
        return None
    (unit,) = measure.units
    return SIZES_OF_UNITS.get(unit)


def _in_base_unit(measure: Measured, size: UnitSize) -> Measured:
    number = None if measure.number is None else _UNROUNDED.multiply(measure.number, size.factor)
    return measure._replace(number=number, units=frozenset((size.base,)), cased_letters=_NO_UNIT)


def _have_other_currencies(gt: Measured, pred: Measured) -> bool:
    """Return whether both sides have a currency, and the two cannot be the same."""
    if gt.currencies and pred.currencies:
        return gt.currencies != pred.currencies
    gt_currencies = gt.currencies or gt.possible_currencies
    pred_currencies = pred.currencies or pred.possible_currencies
    states_both = bool(gt_currencies and pred_currencies)
    return states_both and gt_currencies.isdisjoint(pred_currencies)


def _is_only_one_share(gt: Measured, pred: Measured) -> bool:
    """Return whether one side is a percentage, while the other side has a unit or a currency."""
    if gt.percent == pred.percent:
        return False
    other = pred if gt.percent else gt
    return bool(other.currencies) or any(map(is_unit, other.units))


def _same_unit(first: str, second: str) -> bool:
    """Return whether two words are equal, or the shorter one abbreviates the longer one.

    An abbreviation must have at least three letters.
    """
    short, long = sorted((first, second), key=len)
    may_abbreviate = len(short) >= 3 and not (is_unit(short) and is_unit(long))
    return short == long or (may_abbreviate and abbreviates(short, long))


_UNROUNDED: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""A decimal context without rounding: sums and products are exact. It takes no more memory than the
digits need."""

_EXACT: Final = 2**53
"""Every whole number below this limit is exactly a float."""

_ROUNDING: Final = 1e-14
"""Upper bound of the relative rounding error in `_within`, where five operations have an error of
at most 2**-53 each."""
_UNDERFLOW: Final = 1e-300
"""Upper bound of the absolute error in `_within` for numbers so small that floats lose digits."""

FloatArray: TypeAlias = NDArray[np.float64]
Truths: TypeAlias = NDArray[np.bool_]

NumberValue: TypeAlias = float | Decimal | None
PreparedNumber: TypeAlias = NumberValue | Measured
"""A prepared number; None if there is no number. It is a float if the float's shortest decimal form
is the number, else a Decimal, so that equal numbers have equal forms. It is a `Measured` if it has
a unit and units count."""

UNIT: Final = ("ignore", "same")
DECIMAL: Final = (".", ",", "auto", "money", "currency")
_OF_MONEY: Final = frozenset({"money", "currency"})
_NO_UNIT: Final = frozenset[str]()


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
            relative_tolerance: maximum difference as a share of the ground truth, at least 0; a
                ground truth of 0 counts as 1. One of the tolerances is enough for a match.
            absolute_tolerance: maximum difference in the unit of the numbers, at least 0.
            tolerance: another name for `absolute_tolerance`.
            unit: `same` compares currency and unit if both sides have one, and signs such as `<`
                and `~`. It also reads 19% as 0.19 if the other side is below 1 and has no percent
                sign. `ignore` does neither.
            decimal: the decimal sign, `.` or `,`. With `auto` the digits decide which it is, and
                `120.00-` and `120.00 CR` are below zero. `money` is like `auto`, but `25.000` is
                25000, except in a currency with three decimals. With `currency` the currency of
                either number decides; without a currency, `25.000` equals no other number.
            same_type: whether a number differs from its text: 3 from `"3"`.
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
        self.steps_of_letter = 300 if self._plain else 1000
        self._relative = written(self.relative_tolerance)
        self._absolute = written(self.tolerance or self.absolute_tolerance)

    def prepare(self, value: Any) -> PreparedNumber:
        """Read a number; None for NaN, infinities, booleans and values without a number."""
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
        """Return the number in a value, read without a value to compare; None if it has none."""
        return _measured(self.prepare(value)).number

    def _read_text(self, text: str) -> PreparedNumber:
        """Return the number in a text, read with the chosen decimal sign.

        The number has its unit if units count.
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
        if reading.with_decimals is not None or (self.unit == "same" and has_unit):
            return reading
        # With `same_type`, a number from a text must not look like a JSON number.
        return Measured(number, _NO_UNIT, _NO_UNIT) if self.same_type else _as_float(number)

    def similarity(self, gt: PreparedNumber, pred: PreparedNumber) -> float:
        """Return 1.0 if two numbers match, else 0.0; None matches nothing."""
        if self.same_type and isinstance(gt, Measured) is not isinstance(pred, Measured):
            return 0.0
        if isinstance(gt, Measured) or isinstance(pred, Measured):
            return self._compare_measures(_measured(gt), _measured(pred))
        if gt is None or pred is None:
            return 0.0
        return self._compare_numbers(written(gt), written(pred))

    def _compare_measures(self, gt: Measured, pred: Measured) -> float:
        """Return 1.0 if two numbers with units match, else 0.0.

        If neither side has a number, their units must be equal.
        """
        if self.unit == "same" and not self._absolute:
            gt, pred = convert_to_one_unit(gt, pred)
        if self.unit == "same" and not same_measure(gt, pred):
            return 0.0
        gt, pred = _in_currency_of(gt, pred), _in_currency_of(pred, gt)
        if gt.is_ambiguous is not pred.is_ambiguous:
            return 0.0
        if gt.text or pred.text or gt.number is None or pred.number is None:
            return float(_have_same_text_or_unit(gt, pred))
        if gt.percent == pred.percent:
            return self._compare_numbers(gt.number, pred.number)
        return self._compare_percentage(gt.number, pred.number, is_percentage=gt.percent)

    def _compare_percentage(self, gt: Decimal, pred: Decimal, *, is_percentage: bool) -> float:
        """Compare two numbers, of which only one has a percent sign.

        `is_percentage` is true if the ground truth has the percent sign. A number below 1 without
        the sign is a share: 0.5 is 50 %, never 0.5 %.
        """
        without_sign = abs(pred if is_percentage else gt)
        if without_sign >= 1 and self._compare_numbers(gt, pred):
            return 1.0
        if without_sign > 1:
            return 0.0
        gt, pred = (gt, pred.scaleb(2)) if is_percentage else (gt.scaleb(2), pred)
        return self._compare_numbers(gt, pred)

    def _compare_numbers(self, gt: Decimal, pred: Decimal) -> float:
        difference = _UNROUNDED.abs(_UNROUNDED.subtract(gt, pred))
        if difference <= self._absolute:
            return 1.0
        size = gt.copy_abs() if gt else Decimal(1)
        return float(difference <= _UNROUNDED.multiply(self._relative, size))

    @property
    def reports_differences_if_named(self) -> bool:
        """Whether differences are reported even if the schema names the comparator.

        True if units count.
        """
        return self.unit != UNIT[0]

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Return how two matching numbers differ.

        None if units are ignored or nothing is in doubt.
        """
        are_equal = is_number(gt) and is_number(pred) and gt == pred  # 2 and 2.0
        if self.unit == UNIT[0] or are_equal:
            return None
        difference: DifferenceKind | None = None
        gt_measure, pred_measure = (_measured(self.prepare(value)) for value in (gt, pred))
        gt_measure, pred_measure = convert_to_one_unit(gt_measure, pred_measure)
        if gt_measure.percent == pred_measure.percent and _are_apart(gt_measure, pred_measure):
            difference = "another number"
        elif _lacks_unit(gt_measure, pred_measure):
            difference = "no currency or unit"
        elif _single_sign(gt) != _single_sign(pred) and _single_sign(gt) and _single_sign(pred):
            difference = "thousands or decimals"
        return difference and MatchDifference(difference, text_of(gt), text_of(pred))

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return the approximate time in nanoseconds to compare pairs of numbers with units."""
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
        """Return 1.0 or 0.0 for each pair; pairs near the tolerance are compared as decimals."""
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
        """Return a code for each number; None if a tolerance lets different numbers match."""
        if self._relative or self._absolute:
            return None
        if Measured in {*map(type, prepared)}:
            return linked_codes(map(_keys_of, prepared))
        return codes_of(np.array(prepared, np.float64).tolist())

    def _within(self, gt: FloatArray, pred: FloatArray) -> tuple[Truths, Truths]:
        """Return two masks of pairs.

        The first has the pairs within tolerance. The second has the pairs for which floats are
        exact enough to decide this.
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
    """Return the float that prints as the number, or else the number itself."""
    if number is None:
        return None
    near = float(number)
    return near if written(near) == number else number


def _measured(value: PreparedNumber) -> Measured:
    if isinstance(value, Measured):
        return value
    return Measured(None if value is None else written(value), _NO_UNIT, _NO_UNIT)


def _in_currency_of(value: Measured, other: Measured) -> Measured:
    """Return an amount as it must be read in the currency of the other side.

    Unchanged if the amount has only one reading, or the other side has no currency.
    """
    if value.with_decimals is None or not other.currencies:
        return value
    has_decimals = not WITH_THREE_DECIMALS.isdisjoint(other.currencies)
    number = value.with_decimals if has_decimals else value.number
    return value._replace(number=number, is_ambiguous=False)


def _are_apart(gt: Measured, pred: Measured) -> bool:
    """Return whether two numbers still differ after rounding to the decimals of the shorter one."""
    if gt.number is None or pred.number is None or gt.number == pred.number:
        return False
    exponents = [side.normalize().as_tuple().exponent for side in (gt.number, pred.number)]
    # Keep at least two decimals, because a float such as 12.30 loses its final zero.
    fewer_decimals = Decimal(1).scaleb(min(-2, max(map(int, exponents))))
    return all(
        gt.number.quantize(fewer_decimals, rounding, _UNROUNDED)
        != pred.number.quantize(fewer_decimals, rounding, _UNROUNDED)
        for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)
    )


def _lacks_unit(gt: Measured, pred: Measured) -> bool:
    """Return whether the ground truth has a currency, a unit or `%` that the prediction lacks.

    A share in place of a percentage lacks nothing: 0.5 for `50%`.
    """
    if gt.number is None or pred.currencies or pred.units or pred.percent:
        return False
    is_bare_percentage = gt.percent and gt.number == pred.number and gt.number != 0
    return is_bare_percentage or bool(gt.currencies) or any(map(is_unit, gt.units))


def _single_sign(value: object) -> str:
    """Return the only dot or comma in a number such as `25.000`; empty for other values."""
    runs = _NUMBER.findall(value) if isinstance(value, str) else []
    is_open = len(runs) == 1 and _THOUSANDS_OR_DECIMALS.fullmatch(runs[0])
    return runs[0].strip("0123456789") if is_open else ""


def _keys_of(value: PreparedNumber) -> list[object]:
    """Return the keys of a number; two numbers that may match have a key in common."""
    reading = _measured(value)
    if reading.text:
        return [reading.text]
    if reading.number is None:
        return [(reading.currencies, None if reading.currencies else reading.units)]
    numbers = [reading.number]
    if reading.with_decimals is not None:
        numbers.append(reading.with_decimals)
    if size := _size_of_unit(reading):
        numbers.append(_UNROUNDED.multiply(reading.number, size.factor))
    if reading.percent:
        numbers += [number.scaleb(-2) for number in numbers]
    return [*numbers]


def _checked_tolerance(keyword: str, value: object) -> float:
    if is_number(value) and 0 <= value < math.inf:  # math.isfinite fails on a huge int
        return value
    raise KeywordError.of(keyword, value, "a finite number of at least 0")
