"""Recognize currencies, units and words such as `million` beside numbers."""

import re
from decimal import Decimal
from typing import Final, NamedTuple

from stickler_cli.core.caching import lru_cache_of_short_texts


def _names_by_alias(text: str) -> dict[str, str]:
    """Map each name in a text to the first name of its group. Commas separate groups.

    >>> _names_by_alias("usd $ dollar, eur euro")
    {'usd': 'usd', '$': 'usd', 'dollar': 'usd', 'eur': 'eur', 'euro': 'eur'}
    """
    return {name: line.split()[0] for line in text.split(",") for name in line.split()}


CURRENCIES: Final = _names_by_alias(
    "usd $ us$ dollar, eur € euro, gbp £ sterling, inr ₹ rupee rupie, krw ₩ won, rub ₽ rouble"
    " ruble, try ₺, ils ₪ nis, vnd ₫, uah ₴, ngn ₦, php ₱, thb ฿ baht, pln zł zloty, czk kč,"
    " brl r$ real reai, cad c$ ca$ can$, aud a$ au$, nzd nz$, hkd hk$, sgd s$, twd nt$, mxn mx$,"
    " jpy yen, cny rmb yuan renminbi, chf sfr franken, sek, nok, dkk, huf, ron, bgn, isk, zar,"
    " aed, sar, egp, idr rp, myr, ars, clp, cop, pen, kes, mad, tnd, qar, kwd, pkr, bdt, lkr,"
    " bhd, iqd, jod, lyd, omr"
)
"""Maps the signs and names of currencies to their ISO 4217 codes. `¥` and `kr` are missing, because
they stand for several currencies."""
SHARED_SIGNS: Final = {
    "¥": frozenset(("jpy", "cny")),
    "kr": frozenset(("sek", "nok", "dkk", "isk")),
    "rs": frozenset(("inr", "pkr", "lkr")),
}
"""For each sign that several currencies share, all of these currencies."""
WITH_THREE_DECIMALS: Final = frozenset(("bhd", "iqd", "jod", "kwd", "lyd", "omr", "tnd"))
"""Currencies with 1000 subunits, such as fils, baisa, dirhams or millimes. Source: ISO 4217."""
UNITS: Final = _names_by_alias(
    "mcg ug μg microgram, mg milligram milligramm, g gr gram gramm gm, kg kilo kilogram"
    " kilogramm, l liter litre litro, ml milliliter millilitre cc, m meter metre metro, m2 sqm qm"
    " mq, m3 cbm, mm millimeter millimetre, cm centimeter centimetre, km kilometer kilometre, in"
    " inch inche \", ft foot feet ', lb lbs, oz ounce, h hr hour std stunde heure hora, min minute,"
    " s sec second sekunde, d day tag tage, wk week woche, mo month mth mnth monat monate moi"
    " mese, y yr year jahr jahre an ano, c celsius, f fahrenheit, pc pcs piece stk stück stuck ea"
    " each unit u st pz ud, iu ui ie, bp bps"
)
"""Maps each name of a unit to the short name that stands for the unit, for example `gram` to `g`.
Most plurals, such as `grams`, are missing, because `singular_unit` removes their `s`."""


class UnitSize(NamedTuple):
    """The size of a unit, as a multiple of the smallest unit of its kind."""

    base: str
    factor: Decimal


_FACTORS: Final = (
    ("mcg", "mcg 1 mg 1000 g 1000000 kg 1000000000"),
    ("ml", "ml 1 l 1000"),
    ("mm", "mm 1 cm 10 m 1000 km 1000000"),
    ("s", "s 1 min 60 h 3600 d 86400 wk 604800"),
    ("mo", "mo 1 y 12"),
)
"""One entry (smallest unit, sizes) for each kind of unit. `sizes` has the units of the kind, each
followed by its size in smallest units. Months are a kind of their own, because their number of days
varies."""
SIZES_OF_UNITS: Final = {
    unit: UnitSize(base, Decimal(factor))
    for base, line in _FACTORS
    for unit, factor in zip(line.split()[::2], line.split()[1::2], strict=True)
}
"""Maps the short name of each unit in `_FACTORS` to the size of the unit."""
_OF_SCIENCE: Final = re.compile(
    r"(?:[mglvw]|(?:da|[unpµμmcdhkgt])?(?:mol|wh|va|ah|hz|pa|bar|ohm|ω|cal|bit|byte|ev|lm|lx|rad|sv"
    r"|gy|bq)|(?:da|[unpµμmcdhkgt])[mglvwajnbkf])[23]?|10\^\d+|meq"
)
"""Pattern of SI units and related units, with prefixes. Most units that are a single letter are not
accepted."""
_CASED_UNITS: Final = r"(?:W|V|A|Hz|Pa|Wh|VA|J|N|eV|Bq|\u03a9|\u2126)"
"""Pattern of units that are used with milli and with mega. Their names then differ only in case, as
in `mW` and `MW`."""
_CASED_UNIT: Final = re.compile(rf"([mM]){_CASED_UNITS}")
_BYTES: Final = re.compile(r"[kKMGT]i?B")
_BITS: Final = re.compile(r"[KMGT]i?b")
"""Pattern of units of bits, such as `Mb`. `mb` and `kb` do not match, because they are written for
bits and for bytes."""
_NUMBER_WITH_CASED_UNIT: Final = re.compile(rf"(?<=\d)(\s?[mM]{_CASED_UNITS})(?![^\W\d_])")
SCALES: Final = {
    word: power
    for power, line in (
        (3, "thousand tausend tsd k"),
        (6, "million millionen mio mln mn millones milioni milhoes milhões miljoen m"),
        (9, "billion milliarde milliarden mrd milliard miliardo miliardi miljard bn bln"),
        (12, "trillion trillionen trn"),
    )
    for word in line.split()
}
"""Maps each word that multiplies a number to its power of ten: `million` to 6."""


def lower_but_units(text: str) -> str:
    """Return a text in lower case, but keep the case of units such as `MW` after a number.

    Such a unit means something else in lower case.

    >>> lower_but_units("At 5 MW or 5 mW")
    'at 5 MW or 5 mW'
    """
    segments = _NUMBER_WITH_CASED_UNIT.split(text)
    return "".join(
        segment if index % 2 else segment.lower() for index, segment in enumerate(segments)
    )


def meaning_of_case(unit: str) -> str:
    """Return the letter of a unit whose meaning depends on whether it is lower or upper case.

    For example, `m` in `mW` means milli, but `M` in `MW` means mega. The result is empty if the
    unit has no such letter.

    >>> [meaning_of_case(unit) for unit in ("mW", "MW", "Mb", "MB", "mb", "kg")]
    ['m', 'M', 'b', 'B', '', '']
    """
    if _CASED_UNIT.fullmatch(unit):
        return unit[0]
    return unit[-1] if _BYTES.fullmatch(unit) or _BITS.fullmatch(unit) else ""


def singular_unit(word: str) -> str:
    """Return a word without its last letter if that letter is an `s`, as in a plural.

    Words of up to three letters and names of units in `UNITS`, such as `celsius`, are not changed.

    >>> [singular_unit(word) for word in ("dollars", "celsius", "lbs")]
    ['dollar', 'celsius', 'lbs']
    """
    return word[:-1] if len(word) > 3 and word.endswith("s") and word not in UNITS else word


def is_unit(word: str) -> bool:
    """Return whether a word beside a number is a known unit."""
    return word in UNITS.values() or _OF_SCIENCE.fullmatch(word) is not None


@lru_cache_of_short_texts(maxsize=65536)
def meanings_as_unit(word: str) -> frozenset[str]:
    """Return the units, currencies and powers of ten that a word may stand for.

    The result is empty if there are none.
    """
    singular = singular_unit(word)
    meanings = []
    if singular in UNITS or is_unit(singular):
        meanings.append(f"unit {UNITS.get(singular, singular)}")
    if singular in CURRENCIES:
        meanings.append(f"currency {CURRENCIES[singular]}")
    if singular in SCALES or word in SCALES:
        meanings.append(f"power {SCALES.get(singular, SCALES.get(word))}")
    return frozenset(meanings)
