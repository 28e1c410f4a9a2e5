"""Rules for values by the name of their field: the table of docs/inference.md, and reading names.

A name is read as words. In English the last one is what a thing is (`vat_number` is a number,
`number_vat` would be a VAT), and what follows a preposition only says more (`total_before_tax` is
a total). So rules are looked up by how a name ends, and longer endings win.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from stickler_cli.core.values import dataclass
from stickler_cli.schema.annotations import DATE, EXACT, LeafDefault

STRING: Final = frozenset({"string"})
NUMBER: Final = frozenset({"number"})
LEAF: Final = STRING | NUMBER
BOX: Final = frozenset({"box"})
"""An array that may be a box: four numbers, or two pairs of them."""

IDENTIFIER: Final = "an identifier: one wrong character makes it another"
CHOICE: Final = "one of a few choices: `paid` and `unpaid` look alike and are not"

MONEY: Final = LeafDefault("NumericComparator", 1.0, {"absolute_tolerance": 0.01})
WORDS: Final = LeafDefault("FuzzyComparator", 0.8, {"method": "token_sort_ratio"})
ANY_TEXT: Final = LeafDefault("LevenshteinComparator", 0.7)
QUANTITY: Final = LeafDefault("NumericComparator", 1.0)
PLACE: Final = LeafDefault("LevenshteinComparator", 0.8)
PROSE: Final = replace(WORDS, threshold=0.7)
OVERLAP: Final = LeafDefault("BBoxIoUComparator", 0.5)


def _names_in(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(","))


@dataclass(frozen=True, slots=True)
class NameRule:
    """How values are compared whose field has one of some names."""

    meaning: str
    """Contents of such a field, and why it is compared so."""
    kinds: frozenset[str]
    """Kinds of values that the names hold for: `string`, `number`, `box`."""
    how: LeafDefault
    names: tuple[str, ...]
    """How the names end, in the singular, words apart: `tax id`."""


_TABLE: Final = {
    (IDENTIFIER, LEAF, EXACT): (
        "account, asin, barcode, bic, code, cusip, ean, ein, gtin, iban, id, identifier, imei,"
        "isbn, isin, issn, lei, nbr, no, nr, num, number, po, postcode, purchase order, ref,"
        "reference, serial, sku, ssn, swift, tax id, tin, upc, vin, zip, zipcode"
    ),
    (IDENTIFIER, STRING, EXACT): (
        "checksum, doi, guid, hash, key, license plate, passport, uuid, vat"
    ),
    ("an amount of money: rounding to a cent is no error", LEAF, MONEY): (
        "amount, amount due, amount paid, amount payable, balance, balance due, cost, expense, fee,"
        "price, refund, revenue, salary, sub total, subtotal, surcharge, tax, total, total due,"
        "total paid, total payable, wage"
    ),
    ("an amount of money: rounding to a cent is no error", NUMBER, MONEY): (
        "budget, charge, copay, credit, debit, deductible, deposit, due, earning, freight,"
        "gratuity, gross, gst, hst, income, net, paid, pay, payment, premium, profit, pst, rent,"
        "shipping, sum, tip, turnover, vat"
    ),
    ("a count or a rate: equal or not, however it is written", LEAF, QUANTITY): (
        "count, discount, no of, num of, number of, pct, percent, percentage, qty, quantity, rate,"
        "ratio"
    ),
    ("a date or a range of dates: the same day can be written in many ways", STRING, DATE): (
        "at, birth, birthdate, birthday, created, date, date from, date to, datetime, deadline,"
        "dob, due, due date, duedate, expiration, expires, expiry, issued, modified, on, period,"
        "period end, period start, timestamp, updated, valid from, valid through, valid to,"
        "valid until"
    ),
    ("a time of day: a minute more is another time", STRING, EXACT): "time",
    ("a way to reach someone or something: one wrong character leads elsewhere", LEAF, EXACT): (
        "cell, domain, domain name, e mail, e mail address, email, email address, fax, fax number,"
        "file name, filename, homepage, host name, hostname, href, ip, ip address, link, login,"
        "mac address, mobile, mobile number, phone, phone number, tel, telephone, telephone number,"
        "uri, url, user name, username, web address, web site, website"
    ),
    (CHOICE, STRING, EXACT): (
        "currency, direction, gender, kind, language, locale, method, priority, severity, sex,"
        "status, time zone, timezone, type, unit, uom"
    ),
    ("a name: words may change places, as in `Smith, John`", STRING, WORDS): (
        "affiliation, agent, approved by, author, authorized by, bank, beneficiary, brand, buyer,"
        "carrier, client, company, contact, created by, customer, doctor, employee, employer,"
        "firstname, fullname, holder, institution, insured, insurer, issued by, landlord, lastname,"
        "manager, manufacturer, merchant, name, organisation, organization, owner, patient, payee,"
        "payer, person, physician, prepared by, provider, publisher, recipient, retailer, school,"
        "seller, sender, signatory, signed by, sold by, supplier, surname, tenant, university,"
        "vendor"
    ),
    ("an address: parts may change places", STRING, WORDS): (
        "addr, address, address line, location, street"
    ),
    ("a place: a short name, in which a letter may be misread", STRING, PLACE): (
        "birthplace, city, country, county, district, municipality, nationality, place, province,"
        "region, state, town, village"
    ),
    ("a longer text: most of its words must be there, in any order", STRING, PROSE): (
        "abstract, bio, biography, body, citation, clause, comment, content, desc, description,"
        "detail, explanation, feedback, highlight, in words, instruction, message, narrative, note,"
        "overview, paragraph, quote, reason, remark, responsibility, review, summary, text"
    ),
    ("a box on a page: what counts is how far two overlap", BOX, OVERLAP): (
        "b box, bbox, bounding box, boundingbox, box"
    ),
}
RULES: Final = tuple(NameRule(*said, _names_in(listing)) for said, listing in _TABLE.items())
"""In the order of docs/inference.md. No name is in two rules for the same kind."""

MISLEADING: Final = _names_in(
    "add on, based on, depends on, grace period, hands on, notice period, retention period,"
    "sign on, trial period, waiting period, warranty period"
)
"""Endings that look like one of the above and say nothing."""

QUALIFIERS: Final = _names_in(
    "aud, cad, chf, cny, dkk, eur, gbp, inr, jpy, nok, normalized, original, pln, raw, sek,"
    "str, string, usd, value"
)
"""Words at the end of a name that give a unit or a form, not a meaning; as numbers do."""

PREPOSITIONS: Final = _names_in(
    "after, as, at, before, by, excl, excluding, for, from, in, incl, including, of, on, per,"
    "through, to, until, with, without"
)
"""Words inside a name after which only details of the part before them come."""

_WORD: Final = re.compile(r"[A-Z]{2,}s(?![^\W\d_])|[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def words_of(name: str) -> tuple[str, ...]:
    """Split a name into words, in lower case and in the singular; numbers are left out.

    >>> words_of("invoiceNumber"), words_of("VATNumbers"), words_of("ship-to_addresses2")
    (('invoice', 'number'), ('vat', 'number'), ('ship', 'to', 'address'))
    """
    words = (match[0] for match in _WORD.finditer(name))
    return tuple(singular(word.lower()) for word in words if not word.isdecimal())


def singular(word: str) -> str:
    """Return the singular of an English word, as well as endings tell.

    >>> [singular(word) for word in ("taxes", "companies", "ids", "codes", "status", "address")]
    ['tax', 'company', 'id', 'code', 'status', 'address']
    """
    if word == "skus":  # the one word of the rules with a plural in -us
        return "sku"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")) or (len(word) > 6 and word.endswith("uses")):
        return word[:-2]
    plural = len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word


def is_plural(name: str) -> bool:
    """Return whether the last word of a name is in the plural.

    >>> is_plural("bboxes"), is_plural("bbox")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(name) if not word.isdecimal()]
    return bool(words) and singular(words[-1]) != words[-1]


def rule_for(name: str, kind: str) -> tuple[NameRule, str] | None:
    """Return the rule for a name, and the ending that led to it; None where it says nothing."""
    readings = tuple(_readings(words_of(name)))
    for length in range(_LONGEST, 0, -1):
        for words in readings:
            ending = words[-length:]
            if len(ending) == length and (ending, kind) in _BY_ENDING:
                rule = _BY_ENDING[ending, kind]
                return None if rule is None else (rule, " ".join(ending))
    return None


def _readings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Return the parts of a name that may end in its main noun, the likeliest first."""
    while len(words) > 1 and words[-1] in QUALIFIERS:
        words = words[:-1]
    for index in range(1, len(words) - 1):
        if words[index] in PREPOSITIONS:
            yield words[: index + 1]
            yield words[:index]
            break
    yield words


_BY_ENDING: Final[dict[tuple[tuple[str, ...], str], NameRule | None]] = {
    **{
        (words_of(name), kind): rule
        for rule in RULES
        for name in rule.names
        for kind in sorted(rule.kinds)
    },
    **{(words_of(name), "string"): None for name in MISLEADING},
}
_LONGEST: Final = max(len(ending) for ending, _ in _BY_ENDING)
