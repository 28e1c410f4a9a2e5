"""Rules that tell how a wrong text, number or date differs from the right one.

For instance, it may have another format, lack a part, or confuse characters. The rules do not
depend on how values are compared. They are meant for short texts, and take time in proportion to
the length.
"""

import re
import string
import unicodedata
from collections import Counter
from decimal import Decimal
from typing import Final

from stickler_cli.comparators.numbers_with_units import measured, parse_number, readable, written
from stickler_cli.core.caching import lru_cache_of_short_texts
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.normal_forms import normalize_text

LONGEST_AMOUNT: Final = 40  # characters; amounts of money are shorter
MOST_BITS: Final = 128  # bits of the largest integer that counts as an amount: 39 digits

_DROPPED: Final = str.maketrans("", "", string.punctuation + string.whitespace)
_BREAK: Final = re.compile(r"(?<=[0-9])\W(?=[0-9])")
_CURRENCIES: Final = (
    "AED|ARS|AUD|BGN|BHD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|"
    "MYR|NOK|NZD|PEN|PHP|PLN|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|USD|ZAR"
)
"""ISO 4217 codes of the most traded currencies. Other combinations of three letters are not
included, since they could be part of an identifier.

Source: Bank for International Settlements, Triennial Survey 2022."""
_AMOUNT: Final = re.compile(
    rf"(?:(?:{_CURRENCIES})\s?)?[-+($€£¥₹\s]*[0-9][0-9.,'’\s]*(?:[eE][-+]?[0-9]+)?"  # noqa: RUF001 - the Swiss separate thousands so
    rf"[-)%$€£¥₹\s]*(?:{_CURRENCIES})?"
)
"""Matches an amount that is the whole text: digits with separators, possibly with a sign, a percent
sign or a currency, such as `$1,250.00`. Dates and identifiers do not match."""

_LONG_VOWEL: Final = "\u30fc"  # Japanese, looks like a dash; its narrow form is U+FF70

_DIGITS: Final = re.compile(r"[0-9]+")
_NO_DIGITS: Final = re.compile(r"[^0-9]+")
_LOOK_ALIKES: Final = str.maketrans(
    "oil|sbz" + "авекмнорстухіјѕ" + "αβεηικμνορτυχ",
    "0111582" + "a8ekmh0pctyx1j5" + "a8eh1kmn0ptyx",
    # Drop the accents that follow a decomposed letter.
    "".join(map(chr, range(0x0300, 0x0370))),
)
"""Maps a lower-case letter to a character that looks like it, such as `o` to `0`. Latin letters
become digits. Cyrillic and Greek letters become Latin letters or digits; some look alike only as
capitals. Sources: Unicode Technical Standard 39, confusables; for digits, the usual mistakes of
optical character recognition."""

LONGEST_DATE: Final = 40  # characters of a date with weekday, month name and time

_MONTH: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH_TOLD: Final = re.compile(rf"^\s*[0-9]{{4}}[^0-9]|{_MONTH}", re.IGNORECASE)
_DATE_PART: Final = re.compile(rf"[0-9]+|(?:{_MONTH})")
_DATE: Final = re.compile(
    rf"(?:(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]?\s+)?)"
    rf"(?:(?:[0-9]{{1,4}}(?:st|nd|rd|th)?|(?:{_MONTH})[a-z]*)(?:[-/.,\s]+|$)){{2,3}}",
    re.IGNORECASE,
)
"""Matches two or three numbers or months in any order. A weekday may stand before them."""

_DATE_LIKE: Final = re.compile(rf"[0-9][-/.\s][0-9]|{_MONTH}", re.IGNORECASE)
"""Matches two parts of a date, or a month. This quick test avoids most calls of the slow parser."""


def plain_text(value: JsonValue) -> str:
    """Return a number, text, boolean or null as text without quotes, such as `12.5` or `true`.

    An integer of more than `MOST_BITS` bits is written in hexadecimal.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return hex(value)  # Python refuses to write thousands of digits in decimal
    return str(value)


def amount(value: JsonValue) -> Decimal | None:
    """Convert a number, or a text that is an amount, to a Decimal.

    Return None for any other value, and for a number that is not finite. Also return None for an
    integer of more than `MOST_BITS` bits, which would take long to convert.

    >>> amount("$1,250.00"), amount("2024-01-05")
    (Decimal('1250.00'), None)
    >>> amount(-(2**127)) is None, amount(2**128) is None
    (False, True)
    """
    if isinstance(value, str):
        is_amount = len(value) <= LONGEST_AMOUNT and _AMOUNT.fullmatch(value)
        return parse_number(value) if is_amount else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if value.bit_length() > MOST_BITS else Decimal(value)
    return readable(written(value)) if isinstance(value, float) else None


@lru_cache_of_short_texts(256)  # several rules in a row need the same two texts
def letters_and_digits(text: str) -> str:
    """Return the letters and digits of a text in lower case, without blanks and punctuation.

    >>> letters_and_digits("ACME, Inc.") == letters_and_digits("Acme Inc")
    True
    """
    text = text.casefold()
    if text.isascii():
        return text.translate(_DROPPED)
    # Many scripts write letters as marks, which str.isalnum does not count.
    return "".join(
        letter for letter in text if letter.isalnum() or unicodedata.category(letter)[0] == "M"
    )


def same_text(gt: str, pred: str) -> bool:
    """Return whether two texts differ only in case, blanks and punctuation.

    There is one exception: 1.50 is not equal to 150. If one text has a single point between digits,
    the other must have some sign between digits, too.

    >>> same_text("INV-10.234", "inv 10/234"), same_text("Rs. 5.00", "Rs. 500")
    (True, False)
    """
    if letters_and_digits(gt) != letters_and_digits(pred) or not letters_and_digits(gt):
        return False
    gt_breaks, pred_breaks = _BREAK.findall(gt), _BREAK.findall(pred)
    return [gt_breaks, pred_breaks] not in ([["."], []], [[], ["."]])


def same_in_other_separators(gt: JsonValue, pred: JsonValue) -> bool:
    """Return whether two amounts become equal if commas and points are exchanged in one of them.

    >>> same_in_other_separators("442.237,90", 442237.9), same_in_other_separators("5.00", 500)
    (True, False)
    """
    return any(
        isinstance(text, str)
        and _COMMA_FIRST.search(text)
        and amount(text.translate(_OTHER_SEPARATORS)) == amount(other) is not None
        for text, other in ((gt, pred), (pred, gt))
    )


_COMMA_FIRST: Final = re.compile(
    r"(?<![0-9.,])(?:[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?|[0-9]+,[0-9]{1,2})(?![0-9.,])"
)
"""Matches a number with points between thousands, such as `1.250`, or with a comma before one or
two decimals, such as `2,50`."""

_OTHER_SEPARATORS: Final = str.maketrans(".,", ",.")


def is_decimal_shift(gt: Decimal, pred: Decimal) -> bool:
    """Return whether two numbers differ by a factor that is a power of ten. Signs are ignored.

    >>> is_decimal_shift(Decimal("554.91"), Decimal(55491))
    True
    >>> is_decimal_shift(Decimal(5), Decimal(-5))
    False
    """
    gt, pred = abs(gt).normalize(), abs(pred).normalize()
    return gt != pred and gt.as_tuple().digits == pred.as_tuple().digits


def has_other_percent_sign(gt: str, pred: str) -> bool:
    """Return whether one of two numbers has a percent sign and the other has none.

    `0.5%` and `0.5` differ by a factor of 100.
    """
    return measured(gt).percent is not measured(pred).percent


def has_other_relation(gt: str, pred: str) -> bool:
    """Return whether two numbers have different relation signs, such as `<5` and `5`."""
    return measured(gt).relation != measured(pred).relation


def look_alike(gt: str, pred: str) -> bool:
    """Return whether two different texts are easily confused because they look alike.

    Examples are O and 0, rn and m, letters with and without accents, and letters of other scripts.

    >>> look_alike("INV-1O0", "INV-100"), look_alike("Müller", "Muller")
    (True, True)
    """
    shape = _shape(gt)
    return (
        bool(shape) and shape == _shape(pred) and letters_and_digits(gt) != letters_and_digits(pred)
    )


def _shape(text: str) -> str:
    """Replace characters that look alike by the same character, such as `o` and `0` by `0`."""
    folded = normalize_text("NFKD", text).casefold().translate(_LOOK_ALIKES)
    folded = folded.replace(_LONG_VOWEL, "-")
    return letters_and_digits(folded.replace("rn", "m").replace("vv", "w"))


def begins_or_ends(fragment: str, text: str) -> bool:
    """Return whether `fragment` is shorter than `text` and stands at its beginning or end.

    Case and punctuation are ignored.

    >>> [begins_or_ends(fragment, "ACME Inc.") for fragment in ("Acme", "Inc", "me")]
    [True, True, False]
    """
    fragment, text = letters_and_digits(fragment), letters_and_digits(text)
    is_shorter = 0 < len(fragment) < len(text)
    return is_shorter and (text.startswith(fragment) or text.endswith(fragment))


OTHER_SIGN: Final = "the sign differs"

_OFF_BY: Final = frozenset({Decimal(1), Decimal("0.01")})
"""If two numbers differ by one of these amounts, reports say `off by 1` or `off by 0.01`. The first
is typical of counting errors, the second of rounding errors."""


def find_slip(gt: JsonValue, pred: JsonValue) -> str:
    """Say how two values differ in digits or sign; return an empty text for other differences.

    >>> find_slip(5.0, -5.0), find_slip("INV-1023", "INV-1032"), find_slip("pen", "pet")
    ('the sign differs', 'two digits are exchanged', '')
    """
    gt_amount, pred_amount = amount(gt), amount(pred)
    if gt_amount is not None and pred_amount is not None:
        return find_slip_of_numbers(gt_amount, pred_amount)
    return find_slip_of_texts(plain_text(gt), plain_text(pred))


def find_slip_of_texts(gt: str, pred: str) -> str:
    """Say how the digits of two texts differ; return an empty text if no rule applies.

    A rule applies only if the texts have the same letters. There are four rules: one digit differs,
    one digit is missing or too many, two digits are exchanged, or the same digits are at other
    places between the letters (`A12B` and `A1B2`).

    >>> find_slip_of_texts("INV-1023", "INV-1032"), find_slip_of_texts("INV-1023", "INK-1023")
    ('two digits are exchanged', '')
    """
    gt, pred = letters_and_digits(gt), letters_and_digits(pred)
    if min(len(gt), len(pred)) < 2 or _DIGITS.sub("", gt) != _DIGITS.sub("", pred):
        return ""
    gt_digits, pred_digits = _NO_DIGITS.sub("", gt), _NO_DIGITS.sub("", pred)
    if not gt_digits or not pred_digits:
        return ""
    if gt_digits == pred_digits:
        return "the same digits are in other positions"
    return _find_slip_of_digits(gt_digits, pred_digits)


def find_slip_of_numbers(gt: Decimal, pred: Decimal) -> str:
    """Say how two numbers differ; return an empty text if no rule applies.

    A rule applies if the numbers differ in one digit, in two exchanged digits, by a power of ten or
    in the sign. No rule applies to two different one-digit numbers, such as 5 and 7.

    >>> [find_slip_of_numbers(Decimal(120), Decimal(pred)) for pred in ("12", "-120", "102", "119")]
    ['the decimal point is shifted', 'the sign differs', 'two digits are exchanged', '']
    >>> [find_slip_of_numbers(Decimal(120), Decimal(pred)) for pred in ("121", "125", "345")]
    ['off by 1', 'one digit differs', '']
    """
    (gt_digits, gt_power), (pred_digits, pred_power) = _significant(gt), _significant(pred)
    if not gt_digits or not pred_digits:
        return ""
    if gt_digits.rstrip("0") == pred_digits.rstrip("0"):
        return OTHER_SIGN if abs(gt) == abs(pred) else "the decimal point is shifted"
    slip = ""
    # Compare the digits from the same decimal place on, and then without regard to places.
    power = min(gt_power, pred_power)
    if max(gt_power, pred_power) - power <= LONGEST_AMOUNT:
        gt_aligned = gt_digits + "0" * (gt_power - power)
        pred_aligned = pred_digits + "0" * (pred_power - power)
        if min(len(gt_aligned), len(pred_aligned)) > 1:
            slip = _find_slip_of_digits(gt_aligned, pred_aligned)
    if not slip and min(len(gt_digits), len(pred_digits)) > 1:
        slip = _find_slip_of_digits(gt_digits, pred_digits)
    if slip and abs(gt - pred) in _OFF_BY:
        return f"off by {abs(gt - pred).normalize():f}"
    return f"{slip}, and {OTHER_SIGN}" if slip and (gt < 0) is not (pred < 0) else slip


def _significant(number: Decimal) -> tuple[str, int]:
    """Return the digits of a number, and the power of ten of the last digit.

    For instance, 12.50 gives `("125", -1)`. Zeros at the beginning are dropped, and so are zeros at
    the end of the decimals.
    """
    _, digits, power = number.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    power = int(power)
    if power < 0:
        kept = text.rstrip("0")
        dropped = min(len(text) - len(kept), -power)
        text, power = text[: len(text) - dropped], power + dropped
    return text, power


def _find_slip_of_digits(gt: str, pred: str) -> str:
    """Say how two different texts of digits differ; return an empty text if no rule applies.

    A rule applies if one digit differs, is missing or is too many, or if two digits are exchanged.
    """
    if len(gt) == len(pred):
        differing = [index for index, digit in enumerate(gt) if digit != pred[index]]
        if len(differing) == 1:
            return "one digit differs"
        first, second = differing[:2]
        is_exchange = gt[first] == pred[second] and gt[second] == pred[first]
        return "two digits are exchanged" if is_exchange and len(differing) == 2 else ""
    shorter, longer = sorted((gt, pred), key=len)
    differences = (index for index, digit in enumerate(shorter) if digit != longer[index])
    index = next(differences, len(shorter))
    if shorter[index:] != longer[index + 1 :]:
        return ""
    return "one digit is missing" if shorter == pred else "there is one digit too many"


def same_date(gt: str, pred: str) -> bool:
    """Return whether two texts may mean the same date.

    A date such as 05/01 can be read in two ways. First, both texts are read with the day before the
    month; then, both texts are read with the month before the day. The result is True if the dates
    are equal in at least one of the two readings.

    >>> same_date("2024-01-05", "5 January 2024"), same_date("05/01/2024", "01/05/2024")
    (True, False)
    """
    if max(len(gt), len(pred)) > LONGEST_DATE or not (_DIGITS.search(gt) and _DIGITS.search(pred)):
        return False
    # Dates differ if each text has a number that the other lacks; most texts need no parser then.
    # Two digits are enough to compare, as years may be cut.
    gt_numbers, pred_numbers = (
        {int(number) % 100 for number in _DIGITS.findall(text)} for text in (gt, pred)
    )
    if not (gt_numbers <= pred_numbers or pred_numbers <= gt_numbers):
        return False
    if not (_DATE_LIKE.search(gt) and _DATE_LIKE.search(pred)):
        return False
    from stickler_cli.comparators.date_parsing import readings  # late: loads dateutil

    by_order = zip(readings(gt, dayfirst=None), readings(pred, dayfirst=None), strict=True)
    return any(gt_date is not None and gt_date == pred_date for gt_date, pred_date in by_order)


def day_and_month_swapped(gt: str, pred: str) -> bool:
    """Return whether two dates have the same year, but day and month are exchanged.

    If only one of the texts shows which number is the month, the result is False, because the other
    text may mean either date: `05/01/24` may be 5 January or 1 May.

    >>> day_and_month_swapped("2026-06-01", "06 January 2026")
    True
    >>> day_and_month_swapped("05/01/24", "5 Jan 2024")
    False
    """
    gt_parts, pred_parts = _date_parts(gt), _date_parts(pred)
    if len(gt_parts) != 3 or len(pred_parts) != 3 or _tells_month(gt) is not _tells_month(pred):
        return False
    (gt_year, *gt_day_month), (pred_year, *pred_day_month) = gt_parts, pred_parts
    is_swapped = gt_day_month == pred_day_month[::-1] and gt_day_month[0] != gt_day_month[1]
    return gt_year == pred_year and is_swapped


def part_of_date(gt: str, pred: str) -> bool:
    """Return whether one text is a complete date and the other is that date without year or day.

    >>> part_of_date("2024-01-05", "5 January"), part_of_date("2024-01-05", "2024-02")
    (True, False)
    >>> part_of_date("2024-01-30", "30 January")
    True
    """
    partial, complete = sorted((_date_parts(gt), _date_parts(pred)), key=len)
    if len(partial) != 2 or len(complete) != 3:
        return False
    return not Counter(partial) - Counter(complete)


def _date_parts(text: str) -> list[int]:
    """Return year (without century), month and day of a date; empty if the text is not a date.

    If it is unclear which number is the month, month and day stay in the order of the text.
    """
    if len(text) > LONGEST_DATE or not _DATE.fullmatch(text.strip()):
        return []
    month_and_day: list[int] = []
    year: int | None = None
    for word in _DATE_PART.findall(text.casefold()):
        if word.isalpha():
            month_and_day.insert(0, _MONTH.index(word[:3]) // 4 + 1)
        elif int(word) > 31 and year is None:
            year = int(word) % 100
        else:
            month_and_day.append(int(word))
    if len(month_and_day) == 3 and year is None:  # two-digit years come last
        year = month_and_day.pop()
    return month_and_day if year is None else [year, *month_and_day]


def _tells_month(date: str) -> bool:
    """Return whether a date shows which of its parts is the month.

    It does if the month is a name, or if the date begins with the year.
    """
    return bool(_MONTH_TOLD.search(date))
