"""Rules that choose a comparison by the name of a field (the table in docs/inference.md).

A name is split into words. In English, the last word is the main noun: `vat_number` is a number,
while `number_vat` would be a VAT. Words after a preposition only add details: `total_before_tax` is
a total. Each rule therefore lists names, such as `vat number`, and applies to every field whose
name ends in the words of a listed name. If several listed names match, the one with the most words
decides which rule applies.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.normal_forms import normalize_text
from stickler_cli.schema.annotations import DATE, FORM, LeafDefault

STRING: Final = frozenset({"string"})
NUMBER: Final = frozenset({"number"})
LEAF: Final = STRING | NUMBER
BOX: Final = frozenset({"box"})
"""Kind of an array that may be a box: four numbers, or two pairs of numbers."""

IDENTIFIER: Final = "an identifier: one wrong character makes a different identifier"
CHOICE: Final = "one of a few choices: `paid` and `unpaid` look alike but differ"

READING: Final = {"unit": "same", "decimal": "auto"}
"""Arguments for reading numbers. Units must be equal. Whether a dot or a comma separates decimals
is decided for each text."""
STRICT: Final = {"same_digits": True, "same_words": True}
"""Arguments for comparing texts. With these arguments, two texts do not match if their digits
differ, or if a word is replaced by another word."""
SORTED: Final = {"method": "token_sort_ratio"}

CODE: Final = LeafDefault("ExactComparator", 1.0, {"only_separators": True})
PHONE: Final = LeafDefault("PhoneComparator", 1.0, {"digits_only": True})
TIME: Final = LeafDefault("TimeComparator", 1.0)
WEB: Final = LeafDefault("CaseInsensitiveComparator", 1.0, {"case_of_paths": True})
CASED: Final = LeafDefault("CodeComparator", 1.0)
"""Comparison of texts in which every character counts, except for white space. An upper-case letter
differs from the same letter in lower case."""
CENT: Final = {"absolute_tolerance": 0.01}
"""Tolerance for amounts that are rounded to a cent."""
MONEY: Final = LeafDefault("NumericComparator", 1.0, {**CENT, "unit": "same", "decimal": "money"})
MONEY_WITH_DECIMALS: Final = LeafDefault("NumericComparator", 1.0, {**CENT, **READING})
"""Comparison of amounts whose dot separates decimals: `25.000` is 25."""
MONEY_IN_CURRENCIES: Final = LeafDefault(
    "NumericComparator", 1.0, {**CENT, "unit": "same", "decimal": "currency"}
)
"""Comparison of amounts of money in several currencies. The currency written beside a number
decides whether the number has two or three decimals."""
FLOAT_NOISE: Final = {"relative_tolerance": 1e-6}
"""Tolerance for unit prices and rates. A tolerance of a cent would be too much for them."""
QUANTITY: Final = LeafDefault("NumericComparator", 1.0, READING)
QUANTITY_WITH_DOTS: Final = LeafDefault("NumericComparator", 1.0, {**READING, "decimal": "money"})
"""Comparison of numbers whose dots separate thousands: `9.100` is 9100."""
COORDINATE: Final = LeafDefault(
    "NumericComparator", 1.0, {"absolute_tolerance": 0.00005, **READING}
)
SIGN: Final = LeafDefault("NumericComparator", 1.0, {"unit": "same"})
"""Comparison of currency signs and unit names without a number: `$` is USD."""
NUMBER_READ: Final = LeafDefault("NumericComparator", 0.5, READING)
WORDS: Final = LeafDefault("FuzzyComparator", 0.85, {**SORTED, **STRICT})
ADDRESS: Final = LeafDefault("FuzzyComparator", 0.9, {**SORTED, **STRICT})
LONG_ADDRESS: Final = replace(ADDRESS, threshold=0.8)
ANY_TEXT: Final = LeafDefault("LevenshteinComparator", 0.9, STRICT)
LONG_TEXT: Final = LeafDefault("LevenshteinComparator", 0.8, {**STRICT, "same_order": True})
PROSE: Final = LeafDefault("FuzzyComparator", 0.8, {**SORTED, **STRICT, "same_order": True})
SHORT_PROSE: Final = replace(PROSE, threshold=0.9)
OVERLAP: Final = LeafDefault("BBoxIoUComparator", 0.5)

BY_LENGTH: Final = (
    (ANY_TEXT, LONG_TEXT),
    (SHORT_PROSE, PROSE),
    (ADDRESS, LONG_ADDRESS),
)
"""Pairs of variants of a comparison. The first variant is used if most texts of a field have at
most 40 characters, the second if most texts are longer."""


def _names_in(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(","))


@dataclass(frozen=True, slots=True)
class NameRule:
    """How values are compared if the name of their field ends in one of `names`."""

    meaning: str
    """What fields with such a name contain, and why they are compared in this way."""
    kinds: frozenset[str]
    """Kinds of values to which the rule applies, such as `string`, `number` or `box`."""
    default: LeafDefault
    names: Mapping[str, tuple[str, ...]] = field(hash=False)
    """Maps a language to the names of the rule. A name is written as words in the singular, such as
    `tax id`. The rule also applies to longer names that end in these words."""


_MONEY: Final = "an amount of money: rounding to a cent is not an error"
_TABLE: Final[dict[str, tuple[str, frozenset[str], LeafDefault]]] = {
    "identifier": (IDENTIFIER, LEAF, CODE),
    "identifier text": (IDENTIFIER, STRING, CODE),
    "amount": (_MONEY, LEAF, MONEY),
    "amount number": (_MONEY, NUMBER, MONEY),
    "count": (
        "a count or a rate: numbers must be equal, but may be written differently",
        LEAF,
        QUANTITY,
    ),
    "measurement": ("a measurement: both number and unit matter", STRING, QUANTITY),
    "coordinate": ("a position, to five metres", LEAF, COORDINATE),
    "release": ("a version number: every character matters", STRING, FORM),
    "date": (
        "a date or a range of dates: the same day can be written in many ways",
        STRING,
        DATE,
    ),
    "time": ("a time of day: one minute later is a different time", STRING, TIME),
    "phone": ("a telephone number: every digit matters, except the country code", LEAF, PHONE),
    "web": ("a web or e-mail address: every character matters", LEAF, WEB),
    "secret": (
        ("a secret, a file or a formula: every character matters, and so does upper or lower case"),
        STRING,
        CASED,
    ),
    "sign": ("a currency or a unit: `$` equals USD, but mg is not mcg", STRING, SIGN),
    "choice": (CHOICE, STRING, CODE),
    "name": ("a name: words may be in any order, as in `Smith, John`", STRING, WORDS),
    "address": ("a postal address: its parts may be in any order", STRING, LONG_ADDRESS),
    "place": ("a place: a short name, in which a letter may be misread", STRING, ANY_TEXT),
    "prose": (
        "a longer text: most of its words must be present, and phrases may be in any order",
        STRING,
        PROSE,
    ),
    "box": ("a box on a page: two boxes are compared by how far they overlap", BOX, OVERLAP),
}
"""Maps the key of each rule to a tuple: what the values of a field mean, the kinds of values to
which the rule applies, and how they are compared. The file names.json has the same keys. It lists
the names of each rule in each language."""
ENGLISH: Final = "en"
FIRST: Final = ("fr", "es", "it", "pt")
"""Languages in which the first noun of a name is the main noun, as in `numero factura`."""
COMPOUNDS: Final = ("de", "nl")
"""Languages that write a compound as one word, as in `rechnungsnummer`."""
LONGEST_NAME: Final = 200
"""Maximum number of characters of a name to which rules apply. Documents may have names of any
length, and the time to interpret a name grows with the square of the number of its words."""
LEAST: Final = 4
"""Minimum number of letters of a word that is searched at the end of a compound, such as `nummer`
in `rechnungsnummer`. A shorter word could be found by chance in an unrelated word. The word `nr` is
the one exception: it is searched, because unrelated words do not end in these two letters."""


@cache  # not on import, since annotated schemas need no rules
def rules() -> tuple[NameRule, ...]:
    """Return the rules in the order of docs/inference.md.

    For each kind of values, a name belongs to at most one rule.
    """
    listed = json.loads(Path(__file__).with_name("names.json").read_bytes())
    return tuple(
        NameRule(
            *meaning_kinds_and_default,
            {language: _names_in(names) for language, names in listed[key].items()},
        )
        for key, meaning_kinds_and_default in _TABLE.items()
    )


MISLEADING: Final = _names_in(
    "add on, based on, depends on, grace period, hands on, notice period, retention period,"
    "sign on, trial period, waiting period, warranty period"
)
"""Names of text fields to which no rule applies, although their last words are in a rule. For
example, the rule for dates has the name `period`, but `grace period` is not a range of dates."""

QUALIFIERS: Final = _names_in(
    "aud, cad, chf, cny, coco, dkk, eur, gbp, inr, jpy, nok, normalized, original, pln, raw, sek,"
    "str, string, usd, value, xywh"
)
"""Last words of names that only state a unit or a form, such as `eur` in `total_eur`. They are
ignored, and so are numbers at the end of a name."""

PREPOSITIONS: Final = _names_in(
    "after, as, at, before, by, da, de, degli, del, della, der, des, di, do, du, excl, excluding,"
    "for, from, in, incl, including, of, on, per, through, to, until, van, von, with, without"
)
"""Prepositions. Words that follow a preposition only add details: `total before tax` is a total."""

QUADRILATERALS: Final = _names_in("polygon, poly, quad")
"""If the name of an array ends in one of these words, the array has the corners of an area. The
array is compared as a box if it has four corners, but not if it has fewer or more."""
SIZED_BOXES: Final = frozenset({"xywh", "coco"})
"""If the name of a box contains one of these words, the box is written as a corner, a width and a
height."""
ORDERED_NUMBERS: Final = _names_in(
    "coord, coordinate, dim, dimension, extent, lat, lng, lon, point, range, interval, span,"
    "offset, rgb, colour, color, triple"
)
"""If the name of an array of two to four numbers ends in one of these words, each position in the
array has its own meaning. For example, the positions of `rgb` are red, green and blue."""
ORDERED_SINGULARS: Final = _names_in(
    "center, centre, centroid, location, latlng, latlon, lnglat, lonlat, origin, position,"
    "resolution, shape, size, vector, viewport, xy, xyz"
)
"""If the name of an array of two to four numbers ends in one of these words, the order of the
numbers matters. The word must be in the singular: this is true for `size`, but not for `sizes`."""
SEQUENCES: Final = _names_in(
    "action, agenda, answer, argv, call, choice, chronology, column, command, contour, direction,"
    "event, header, history, instruction, itinerary, linestring, measurement, message, option,"
    "outline, path, phase, podium, polygon, polyline, priority, procedure, queue, ranking, reading,"
    "route, sentence, sequence, stage, step, stop, timeline, trajectory, triple, turn, waypoint"
)
"""Last words of the names of lists whose order may matter."""
TABLES: Final = _names_in("chart, column, dataframe, dataset, table")
"""If the name of an object ends in one of these words, the object may be a table. It is a table if
all fields of the object are lists of equal length."""
NAMES_IN_CODE: Final = _names_in(
    "argument, attribute, column, command, field, function, key, member, module, name, package,"
    "parameter, property, table, tool, variable"
)
"""If the name of a field ends in one of these words, its values may be names in code, such as
`get_weather`."""
ARGUMENTS: Final = _names_in("arg, argument, kwarg")
"""Last words of the names of fields that contain the arguments of a call."""
INPUTS: Final = _names_in("input, param, parameter")
"""Last words of the names of fields that may contain the arguments of a call. For example, a field
`input` contains arguments if another field of the same object contains the names of tools."""
TOOLS: Final = _names_in("function, name, tool")
"""Last words of the names of fields that may contain the name of a tool."""
_CALLED: Final = frozenset(("column", "command", "function", "tool", "variable"))
"""Words for things that have names in code, such as `function`. In a field or object with such a
word in its name, even a single word such as `lookup` counts as a name in code."""

_WORD: Final = re.compile(r"[A-Z]{2,}s(?![^\W\d_])|[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def words_of(name: str) -> tuple[str, ...]:
    """Split a name into words, in lower case and in the singular. Numbers are left out.

    A name of more than `LONGEST_NAME` characters has no words.

    >>> words_of("invoiceNumber"), words_of("VATNumbers"), words_of("ship-to_addresses2")
    (('invoice', 'number'), ('vat', 'number'), ('ship', 'to', 'address'))
    """
    return _split_name(name) if len(name) <= LONGEST_NAME else ()


@lru_cache(maxsize=4096)
def _split_name(name: str) -> tuple[str, ...]:
    words = (match[0] for match in _WORD.finditer(name))
    return tuple(singular(word.lower()) for word in words if not word.isdecimal())


def singular(word: str) -> str:
    """Return the singular of an English word. Only the ending of the word is considered.

    >>> [singular(word) for word in ("taxes", "companies", "ids", "codes", "status", "address")]
    ['tax', 'company', 'id', 'code', 'status', 'address']
    """
    if word == "skus":  # the only plural in -us in the rules
        return "sku"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")) or (len(word) > 6 and word.endswith("uses")):
        return word[:-2]
    plural = len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word


SERIES: Final = frozenset(
    singular(word)
    for word in (
        *("annual", "daily", "hourly", "monthly", "quarterly", "series", "weekly", "yearly"),
        *("embedding", "logit", "signal", "spectrum", "trajectory", "vector", "waveform"),
    )
)
"""Words in the names of lists of numbers whose order matters, such as a time series or coordinates.
"""


def is_plural(name: str) -> bool:
    """Return whether the last word of a name is in the plural.

    >>> is_plural("bboxes"), is_plural("bbox")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(name) if not word.isdecimal()]
    return bool(words) and singular(words[-1]) != words[-1]


def rule_for(name: str, kind: str) -> tuple[NameRule, str] | None:
    """Return the rule for a name, and the words of the name that led to the rule.

    Return None if there is no rule for this name and kind of values.
    """
    if len(name) > LONGEST_NAME:
        return None
    words, tables = words_of(_without_accents(name)), _tables()
    readings = tuple(_readings(words))
    for table in (tables.by_ending, tables.elsewhere):
        for length in range(tables.longest, 0, -1):
            for reading in readings:
                ending = reading[-length:]
                if len(ending) == length and (ending, kind) in table:
                    rule = table[ending, kind]
                    return None if rule is None else (rule, " ".join(ending))
    for length in (2, 1):
        if words and (rule := tables.by_beginning.get((words[:length], kind))):
            return rule, " ".join(words[:length])
    if not words:
        return None
    # A compound ends in another word: `rechnungsnummer` in `nummer`.
    ends = (words[-1][-length:] for length in range(len(words[-1]) - 1, 1, -1))
    compounds = tables.of_compounds
    return next(((compounds[end, kind], end) for end in ends if (end, kind) in compounds), None)


def ends_in(name: str, endings: Iterable[str]) -> bool:
    """Return whether the main noun of a name is one of the given words.

    The main noun is usually the last word. Numbers, units and details after it are ignored.

    >>> ends_in("boundingPolygon2", QUADRILATERALS), ends_in("polygon_count", QUADRILATERALS)
    (True, False)
    """
    return any(reading and reading[-1] in endings for reading in _readings(words_of(name)))


def names_a_call(name: str) -> bool:
    """Return whether a name contains a word for things that have names in code, such as `tool`.

    >>> names_a_call("tool_name"), names_a_call("city")
    (True, False)
    """
    return not _CALLED.isdisjoint(words_of(name))


def _without_accents(name: str) -> str:
    if name.isascii():
        return name
    decomposed = normalize_text("NFKD", name.replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _readings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield forms of a name whose last word may be the main noun of the name.

    The likeliest form comes first. For `total before tax`, the forms are `total before`, `total`
    and `total before tax`. Qualifiers at the end, such as `eur`, are removed from all forms.
    """
    while len(words) > 1 and words[-1] in QUALIFIERS:
        words = words[:-1]
    for index in range(1, len(words) - 1):
        if words[index] in PREPOSITIONS:
            yield words[: index + 1]
            yield words[:index]
            break
    yield words


_Table: TypeAlias = dict[tuple[tuple[str, ...], str], NameRule]


class _Tables(NamedTuple):
    """Dicts in which a rule is looked up: each maps (words of a name, kind of value) to a rule."""

    by_ending: Mapping[tuple[tuple[str, ...], str], NameRule | None]
    longest: int
    """Number of words of the longest name in the tables."""
    elsewhere: _Table
    by_beginning: _Table
    of_compounds: Mapping[tuple[str, str], NameRule]


@cache
def _tables() -> _Tables:
    misleading = {(words_of(name), "string"): None for name in MISLEADING}
    by_ending = {**_by_words((ENGLISH,)), **misleading}
    of_compounds = {
        (words[0], kind): rule
        for (words, kind), rule in _by_words(COMPOUNDS).items()
        if len(words) == 1 and (len(words[0]) >= LEAST or words[0] == "nr")
    }
    longest = max(len(ending) for ending, _ in by_ending)
    elsewhere = _by_words((*COMPOUNDS, *FIRST))
    return _Tables(by_ending, longest, elsewhere, _by_words(FIRST), of_compounds)


def _by_words(languages: Iterable[str]) -> _Table:
    return {
        (words_of(name), kind): rule
        for rule in rules()
        for language in languages
        for name in rule.names.get(language, ())
        for kind in sorted(rule.kinds)
    }
