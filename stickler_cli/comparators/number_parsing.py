"""The number that a text states, and with its sign, unit and marks: `1.200,50 €`, `<10`, `19%`.

A module of its own, without numpy, because whoever names what is wrong with a number reads it so.
"""

import re
import unicodedata
from decimal import Decimal
from typing import Final, NamedTuple

from stickler_cli.core.pattern import pattern
from .slips import abbreviates

MAGNITUDE: Final = 10_000
"""Numbers from 10**-MAGNITUDE to 10**MAGNITUDE are read; no measurement needs more, and the exact
sum of `1e999999999` and 1 would fill the memory."""

_SCIENTIFIC: Final = pattern(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]([+-]?[0-9]+)")
_PLAIN: Final = pattern(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_WORD: Final = pattern(r"[^\W\d_]+(?:[-.][^\W\d_]+)*(\.?)")
"""With the dots and hyphens that are part of it: `Rs. 500` is 500, not 0.500."""
_FIRST_TO_LAST: Final = pattern(r"[0-9](?:.*[0-9])?", re.DOTALL)
_IGNORED: Final = pattern(r"[^0-9.-]+")


def written(number: float | Decimal) -> Decimal:
    """Turn a number into the decimal that its shortest spelling states."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def parse_number(text: str) -> Decimal | None:
    """Read the number that a text states, as docs/comparators.md says; None where there is none.

    >>> parse_number("EUR 1,250.00"), parse_number("n/a")
    (Decimal('1250.00'), None)
    """
    text = text.strip()
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        # So many digits that Decimal itself would refuse the exponent.
        beyond = len(scientific[1].lstrip("+-0")) > len(str(MAGNITUDE))
        return None if beyond else readable(Decimal(text))
    bare = _IGNORED.sub("", _without_words(text))
    if not _PLAIN.fullmatch(bare):
        return None
    number = Decimal(bare)
    before, opening, rest = text.partition("(")
    _, closing, after = rest.rpartition(")")
    if opening and closing and not any(map(str.isalnum, before + after)):
        # An accountant's negative, as `$(5)` is and `thirty (30)` is not.
        number = number.copy_sign(Decimal(-1))
    return readable(number)


def _without_words(text: str) -> str:
    """Leave out words; a dot at the end of one between digits is the number's: `12USD.50`."""
    digits = _FIRST_TO_LAST.search(text)
    if digits is None:
        return ""

    def kept(word: re.Match[str]) -> str:
        between = digits.start() < word.start() and word.end() < digits.end()
        return word[1] if between else ""

    return _WORD.sub(kept, text)


def readable(number: Decimal) -> Decimal | None:
    """Return a number of a size that exact arithmetic can bear."""
    if not number:
        return Decimal(0)
    return number if number.is_finite() and abs(number.adjusted()) <= MAGNITUDE else None


_NUMBER: Final = pattern(r"\d+(?:[.,'\u2019 ]\d+)*(?:[eE][+-]?\d+(?!\w))?|[.,]\d+")
_POWER: Final = pattern(r"(?<!\d[eE])(?<=[^\W\d_])[23](?!\w)|10\^\d+")
"""Digits that are part of a unit: m2, 10^9/L."""
_UNIT: Final = pattern(r"\w*\$|[^\W\d_]+[23]?|[€£₹₩₽₺₪₫₴₦₱฿%\"]|10\^\d+")
_RELATION: Final = pattern(r"[<>≤≥]=?")
_DASHES: Final = str.maketrans("\u2212\u2013\u00a0\u2009\u202f", "--   ")
_CREDIT: Final = pattern(r"(?<=[\d.])\s*(?:-|CR\b\.?)|\bCR\b(?=\s*\d)")
"""An amount below zero, as accounts write it."""


def _aliases(text: str) -> dict[str, str]:
    return {name: line.split()[0] for line in text.split(",") for name in line.split()}


CURRENCIES: Final = _aliases(
    "usd $ us$ dollar, eur € euro, gbp £ sterling, inr ₹ rupee rupie, krw ₩ won, rub ₽ rouble"
    " ruble, try ₺, ils ₪ nis, vnd ₫, uah ₴, ngn ₦, php ₱, thb ฿ baht, pln zł zloty, czk kč,"
    " brl r$ real reai, cad c$ ca$ can$, aud a$ au$, nzd nz$, hkd hk$, sgd s$, twd nt$, mxn mx$,"
    " jpy yen, cny rmb yuan renminbi, chf sfr franken, sek, nok, dkk, huf, ron, bgn, isk, zar,"
    " aed, sar, egp, idr, myr, ars, clp, cop, pen, kes, mad, tnd, qar, kwd, pkr, bdt, lkr"
)
"""Codes of ISO 4217, with the signs and names that mean but one of them; `¥` and `kr` do not."""
_OPEN: Final = frozenset(("¥", "kr", "rs", "pound", "per", "pro", "of", "a", "the", "uhr"))
"""Say nothing: signs of several currencies, and what only links words."""
UNITS: Final = _aliases(
    "mcg ug μg microgram, mg milligram milligramm, g gr gram gramm gm, kg kilo kilogram"
    " kilogramm, l liter litre litro, ml milliliter millilitre cc, m meter metre metro, m2 sqm qm"
    " mq, m3 cbm, mm millimeter millimetre, cm centimeter centimetre, km kilometer kilometre, in"
    ' inch inche ", ft foot feet, lb lbs, oz ounce, h hr hour std stunde heure hora, min minute,'
    " s sec second sekunde, d day tag tage, wk week woche, mo month mth mnth monat monate moi"
    " mese, y yr year jahr jahre an ano, c celsius, f fahrenheit, pc pcs piece stk stück stuck ea"
    " each unit u st pz ud, iu ui ie"
)
"""Units under their shortest name, in the singular."""
_OF_SCIENCE: Final = pattern(
    r"(?:[mglvw]|(?:da|[unpµμmcdhkgt])?(?:mol|wh|va|ah|hz|pa|bar|ohm|ω|cal|bit|byte|ev|lm|lx|rad|sv"
    r"|gy|bq)|(?:da|[unpµμmcdhkgt])[mglvwajnbkf])[23]?|10\^\d+|meq"
)
"""Those of SI and such as are used with them, with their prefixes; letters alone that are few."""
SCALES: Final = {
    word: power
    for power, line in (
        (3, "thousand tausend tsd k"),
        (6, "million millionen mio mln mn millones milioni milhoes milhões miljoen m"),
        (9, "billion milliarde milliarden mrd milliard miliardo miliardi miljard bn"),
    )
    for word in line.split()
}
"""Words that multiply a number by a power of ten."""
_LETTER: Final = pattern(r"\d\s?[kKmM](?![\w/])")
"""Those of one letter, which do so beside a currency, behind its number."""
_PERCENT: Final = frozenset(("%", "percent", "pct", "prozent"))


class Measured(NamedTuple):
    """A prepared number with its unit."""

    number: Decimal | None
    """None where the text states none, as `EUR`."""
    currencies: frozenset[str]
    units: frozenset[str]
    """The words beside it."""
    relation: str = ""
    """`<` of `<10`."""
    percent: bool = False


def measured(text: str) -> Measured:
    """Read a text that states at most one number; its decimal sign is told by the digits.

    >>> measured("1.200,50 €").number, measured("120.00-").number, measured("<5 mg").units
    (Decimal('1200.50'), Decimal('-120.00'), frozenset({'mg'}))
    """
    text = unicodedata.normalize("NFKC", text.translate(_DASHES)).translate(_DASHES).strip()
    plain = _POWER.sub("", text)
    runs = [*_NUMBER.finditer(plain)]
    relation = "".join(_RELATION.findall(text))
    relation = {"≤": "<=", "≥": ">="}.get(relation, relation)
    beside = text.replace(runs[0][0], " ", 1) if len(runs) == 1 else text
    credit = len(runs) == 1 and _CREDIT.search(plain)
    words = [_singular(it.casefold()) for it in _UNIT.findall(_CREDIT.sub("", beside, 1))]
    words = [word for word in words if word not in _OPEN and (word != "cr" or not credit)]
    money = frozenset(CURRENCIES[word] for word in words if word in CURRENCIES)
    others = {UNITS.get(word, word) for word in words if word not in CURRENCIES}
    letter = bool(money) and _LETTER.search(text) is not None
    scales = [it for it in others if it in SCALES and (letter or len(it) > 1)]
    units = frozenset(others - {*_PERCENT, *scales})
    number = _number_at(plain, runs[0], negated=bool(credit)) if len(runs) == 1 else None
    if number is not None and scales:
        number = number.scaleb(SCALES[scales[0]])
    if len(runs) > 1 or (number is None and not words):
        units = frozenset((text.casefold(),))
    return Measured(number, money, units, relation, not _PERCENT.isdisjoint(words))


def _number_at(text: str, run: re.Match[str], *, negated: bool) -> Decimal | None:
    before, after = text[: run.start()], text[run.end() :]
    sign = "-" if re.search(r"(?<![^\W_])-\s?[^\w\s]?\s?$", before) else ""
    bracket = "(" in before and ")" in after and not any(map(str.isalnum, before + after))
    number = parse_number(sign + with_point(run[0]))
    return -abs(number) if number is not None and (negated or bracket) else number


def with_point(digits: str) -> str:
    """Return a number with a point as its decimal sign, and no thousands.

    Of two signs, the last is decimal; a single comma before three digits is none.

    >>> with_point("1.200,50"), with_point("1,200"), with_point("0,125"), with_point("1.200.500")
    ('1200.50', '1200', '0.125', '1200500')
    """
    digits = re.sub(r"[ '\u2019]", "", digits)
    signs = [letter for letter in digits if letter in ".,"]
    if not signs:
        return digits
    last, after = signs[-1], len(digits) - digits.rindex(signs[-1]) - 1
    thousands = {*signs} == {last} and (
        len(signs) > 1 or (last == "," and after == 3 and digits[0] != "0")
    )
    whole, _, rest = ("".join(digits), "", "") if thousands else digits.rpartition(last)
    whole = whole.replace(",", "").replace(".", "")
    return whole if thousands else f"{whole}.{rest}"


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word not in UNITS else word


def is_unit(word: str) -> bool:
    """Return whether a word beside a number is a unit that is known."""
    return word in UNITS.values() or _OF_SCIENCE.fullmatch(word) is not None


def same_measure(gt: Measured, pred: Measured) -> bool:
    """Return whether currency, unit and relation are the same where both sides state them."""
    if gt.relation != pred.relation:
        return False
    if gt.currencies and pred.currencies and gt.currencies != pred.currencies:
        return False
    known = [set(filter(is_unit, side.units)) for side in (gt, pred)]
    if all(known) and known[0] != known[1]:
        return False
    few, many = sorted((gt.units, pred.units), key=len)
    return all(any(_same_unit(one, other) for other in many) for one in few)


def _same_unit(one: str, other: str) -> bool:
    """Return whether two words are one unit, or one of three letters or more abbreviates it."""
    short, long = sorted((one, other), key=len)
    begins = len(short) >= 3 and not (is_unit(short) and is_unit(long))
    return short == long or (begins and abbreviates(short, long))
