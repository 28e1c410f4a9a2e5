"""Read numbers with their units from texts such as `1.200,50 €`, and compare the units."""

import re
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    Context,
    Decimal,
)
from typing import Final, NamedTuple

from stickler_cli.core.normal_forms import mark_exponents, normalize_text
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

UNROUNDED: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""A decimal context that never rounds, so that sums and products are exact. Numbers take no more
memory than their digits need."""
NO_UNIT: Final = frozenset[str]()

MAGNITUDE: Final = 10_000
"""Maximum exponent of ten, positive or negative. A number with a larger exponent is not read. No
measurement needs it, and the exact sum of `1e999999999` and 1 would fill the memory."""

_SCIENTIFIC: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]([+-]?[0-9]+)")
_PLAIN: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-.][^\W\d_]+)*(\.?)")
"""A word, which may have dots and hyphens inside it and a dot at its end. `Rs. 500` is therefore
500, not 0.500."""
_FIRST_TO_LAST: Final = re.compile(r"[0-9](?:.*[0-9])?", re.DOTALL)
_IGNORED: Final = re.compile(r"[^0-9.-]+")


def written(number: float | Decimal) -> Decimal:
    """Return a number as a decimal with the digits that Python prints.

    For example, the float 0.1 becomes `Decimal("0.1")`.
    """
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def parse_number(text: str) -> Decimal | None:
    """Return the number in a text, or None if it has none. The rules are in docs/comparators.md.

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
    """Remove words from a text, but keep a dot between digits: `12USD.50` becomes `12.50`."""
    digits = _FIRST_TO_LAST.search(text)
    if digits is None:
        return ""

    def keep_dot(word: re.Match[str]) -> str:
        is_between = digits.start() < word.start() and word.end() < digits.end()
        return word[1] if is_between else ""

    return _WORD.sub(keep_dot, text)


def readable(number: Decimal) -> Decimal | None:
    """Return a number unchanged, or None if exact arithmetic is not possible with it.

    Return None for an infinite number, and for an exponent above `MAGNITUDE`.
    """
    if not number:
        return Decimal(0)
    return number if number.is_finite() and abs(number.adjusted()) <= MAGNITUDE else None


_NUMBER: Final = re.compile(r"\d+(?:[.,'\u2019 ]\d+)*(?:[eE][+-]?\d+(?!\w))?|[.,]\d+")
_POWER: Final = re.compile(r"(?<!\d[eE])(?<=[^\W\d_])[23](?!\w)|10\^\d+")
"""Digits that belong to a unit: the 2 of m2, 10^9 in 10^9/L."""
_UNIT: Final = re.compile(r"\w{0,40}\$|[^\W\d_]+[23]?|[€£¥₹₩₽₺₪₫₴₦₱฿%\"]|10\^\d+|(?<=\s)'(?!\w)")
_PER_YEAR_OR_MONTH: Final = re.compile(r"(?<=%)\s?p\.?\s?([am])\b\.?", re.IGNORECASE)
_PERIODS: Final = {"a": " per year", "m": " per month"}
"""Maps the letter in `p.a.` or `p.m.` to words. They replace the abbreviation after a
percentage."""
_RELATION: Final = re.compile(r"[<>]=?|[~\u00b1]")
_DASHES: Final = str.maketrans("\u2212\u2013\u00a0\u2009\u202f\u2032\u2033", "--   '\"")
_CREDIT: Final = re.compile(r"(?<=[\d.])\s*(?:-|CR\b\.?)|\bCR\b(?=\s*\d)")
"""Signs that make an amount negative in accounts: a minus or CR after the amount, or CR before
it."""


_OPEN: Final = frozenset((*SHARED_SIGNS, "pound", "per", "pro", "of", "a", "the", "uhr"))
"""Words and signs beside a number that do not determine a unit, such as `per` or a sign that
several currencies share."""
_LETTER: Final = re.compile(r"\d\s?([kKmM])(?![\w/])")
"""A number followed by a letter for thousand or million, such as `5k` or `2M`. The letter is a
unit, unless a currency is beside the number. In a field of money, `k` always means thousand."""
_PERCENT: Final = frozenset(("%", "percent", "pct", "prozent"))


class Measured(NamedTuple):
    """A prepared number with its unit, currency and relation."""

    number: Decimal | None
    """The number; None if the text has no number, such as `EUR`."""
    currencies: frozenset[str]
    units: frozenset[str]
    """The words beside the number that are not currencies, such as `mg`."""
    relation: str = ""
    """The relation to the number as a sign: `<` for `<10`, `~` for `about 10`. Empty if there is
    none."""
    percent: bool = False
    with_decimals: Decimal | None = None
    """The second reading of a text that can be read in two ways: here, its dot or comma separates
    decimals. For `25.000`, `number` is 25000 and `with_decimals` is 25, because a currency may have
    three decimals. None if the text can be read in only one way."""
    is_ambiguous: bool = False
    """Whether only a currency could tell if `number` or `with_decimals` is meant."""
    cased_letters: frozenset[str] = frozenset()
    """Letters of units that mean something else in the other case: `m` of `mW`, `M` of `MW`, `b` of
    `Mb`, `B` of `MB`."""
    text: str = ""
    """The whole text if it has several numbers, or if it has neither a number nor a unit; else
    empty."""
    possible_currencies: frozenset[str] = frozenset()
    """All currencies that a shared sign can stand for, such as yen and yuan for `¥`."""


def measured(text: str, *, money: bool = False) -> Measured:
    """Read a text with at most one number, and its unit.

    The digits decide whether a dot or a comma separates decimals. If `money` is true, a dot or
    comma before exactly three digits separates thousands.

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
"""White space that can be removed, because it does not separate two numbers. `5 - 10` becomes
`5-10`, but `5 10` does not become `510`."""
_THOUSANDS_OR_DECIMALS: Final = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


def _number_at(
    text: str, digit_run: re.Match[str], *, negated: bool, no_decimals: bool = False
) -> Decimal | None:
    """Return the number that a run of digits in a text stands for, with its sign, or None.

    The number is negative in three cases:
    - A minus stands before it, even if a currency sign is between the two.
    - The whole text is in brackets.
    - `negated` is true. The text then has another sign of a negative number, such as `CR`.

    If `no_decimals` is true, every dot and comma separates thousands.
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
"""Digits in groups of thousands, or in groups as in India: `12,34,567`."""


def with_point(digits: str) -> str:
    """Return a number with a point before its decimals, and without separators of thousands.

    Return an empty text if the digits cannot be one number, as in the version `2.0.1` or the list
    `1,2,3`.

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
"""Maximum number of words beside a number that are compared with abbreviations. If one side has
more words, each word of the side with fewer words must occur unchanged on the other side. No
measurement has so many words."""


def same_measure(gt: Measured, pred: Measured) -> bool:
    """Return whether two numbers have the same relation, currency and unit.

    A currency or unit that only one side has makes no difference.
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


def have_same_text_or_unit(gt: Measured, pred: Measured) -> bool:
    """Return whether two values have the same text or unit.

    This is for pairs in which at least one value is not a single number.

    If one of the values has a text (see `Measured.text`), for example because it has several
    numbers, the texts must be equal. If neither has a text, neither may have a number. Then their
    currencies must be equal, for example `EUR` on both sides, or, if they have no currency, their
    units.
    """
    if gt.text or pred.text:
        return gt.text == pred.text
    states_unit = bool(gt.currencies) or (gt.units == pred.units and bool(gt.units))
    return gt.number is pred.number and gt.currencies == pred.currencies and states_unit


def convert_to_one_unit(gt: Measured, pred: Measured) -> tuple[Measured, Measured]:
    """Convert two measures to the same unit if one unit is a multiple of the other.

    Otherwise, return them unchanged.

    >>> first, second = convert_to_one_unit(measured("2 weeks"), measured("14 days"))
    >>> first.number == second.number
    True
    """
    gt_size, pred_size = size_of_unit(gt), size_of_unit(pred)
    if gt_size is None or pred_size is None or gt_size == pred_size:
        return gt, pred
    if gt_size.base != pred_size.base:
        return gt, pred
    return _in_base_unit(gt, gt_size), _in_base_unit(pred, pred_size)


def size_of_unit(measure: Measured) -> UnitSize | None:
    """Return the size of the unit of a number. None if it has several units or an unknown one."""
    if measure.number is None or len(measure.units) != 1 or measure.currencies or measure.percent:
        return None
    (unit,) = measure.units
    return SIZES_OF_UNITS.get(unit)


def _in_base_unit(measure: Measured, size: UnitSize) -> Measured:
    number = None if measure.number is None else UNROUNDED.multiply(measure.number, size.factor)
    return measure._replace(number=number, units=frozenset((size.base,)), cased_letters=NO_UNIT)


def _have_other_currencies(gt: Measured, pred: Measured) -> bool:
    """Return whether both sides have a currency, and these cannot be the same currency."""
    if gt.currencies and pred.currencies:
        return gt.currencies != pred.currencies
    gt_currencies = gt.currencies or gt.possible_currencies
    pred_currencies = pred.currencies or pred.possible_currencies
    states_both = bool(gt_currencies and pred_currencies)
    return states_both and gt_currencies.isdisjoint(pred_currencies)


def _is_only_one_share(gt: Measured, pred: Measured) -> bool:
    """Return whether one side is a percentage and the other side has a unit or a currency."""
    if gt.percent == pred.percent:
        return False
    other = pred if gt.percent else gt
    return bool(other.currencies) or any(map(is_unit, other.units))


def _same_unit(first: str, second: str) -> bool:
    """Return whether two words are equal, or the shorter word is an abbreviation of the longer one.

    An abbreviation must have at least three letters.
    """
    short, long = sorted((first, second), key=len)
    may_abbreviate = len(short) >= 3 and not (is_unit(short) and is_unit(long))
    return short == long or (may_abbreviate and abbreviates(short, long))


def read_in_currency_of(value: Measured, other: Measured) -> Measured:
    """Read an amount in the currency of the other side.

    An amount such as `25.000` is 25 in a currency with three decimals, and 25000 in any other
    currency. The amount is returned unchanged if it can be read in only one way, or if `other` has
    no currency.
    """
    if value.with_decimals is None or not other.currencies:
        return value
    has_decimals = not WITH_THREE_DECIMALS.isdisjoint(other.currencies)
    number = value.with_decimals if has_decimals else value.number
    return value._replace(number=number, is_ambiguous=False)


def lacks_unit(gt: Measured, pred: Measured) -> bool:
    """Return whether the ground truth has a currency, a unit or `%`, and the prediction has none.

    For the ground truth `50%`, the prediction `50` lacks the `%`. The prediction `0.5` lacks
    nothing, because it is the same percentage written as a share.
    """
    if gt.number is None or pred.currencies or pred.units or pred.percent:
        return False
    is_bare_percentage = gt.percent and gt.number == pred.number and gt.number != 0
    return is_bare_percentage or bool(gt.currencies) or any(map(is_unit, gt.units))


def single_sign(value: object) -> str:
    """Return the dot or comma of a number that can be read in two ways, else an empty text.

    The dot in `25.000` can separate thousands or decimals. If a text has several numbers, the
    result is empty.
    """
    runs = _NUMBER.findall(value) if isinstance(value, str) else []
    is_open = len(runs) == 1 and _THOUSANDS_OR_DECIMALS.fullmatch(runs[0])
    return runs[0].strip("0123456789") if is_open else ""
