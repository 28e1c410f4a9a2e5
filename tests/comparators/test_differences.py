"""Kinds of differences between two values that match."""

from pathlib import Path

import pytest

from stickler_cli.comparators.bbox import BBoxIoUComparator
from stickler_cli.comparators.code import CodeComparator
from stickler_cli.comparators.date import DateComparator
from stickler_cli.comparators.exact import CaseInsensitiveComparator, ExactComparator
from stickler_cli.comparators.formulas import is_formula
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.comparators.texts import FuzzyComparator, LevenshteinComparator
from stickler_cli.core.match_differences import MatchDifference

NAMES = FuzzyComparator(method="token_sort_ratio", same_digits=True, same_words=True)
TEXTS = LevenshteinComparator(same_digits=True, same_words=True)
PROSE = FuzzyComparator(
    method="token_sort_ratio", same_digits=True, same_words=True, same_order=True
)
MONEY = NumericComparator(absolute_tolerance=0.01, unit="same", decimal="money")
# Sixty words that are unlike each other, each of them a content word.
WORDS = [f"{first}{second}{first}q" for first in "bcdfghklmnprst" for second in "aeiou"][:60]
LONG = " ".join(WORDS)


def without(text, word, other):
    """Return a text in which `word` is replaced by `other`."""
    assert f" {word} " in text
    return text.replace(f" {word} ", f" {other} ")


@pytest.mark.parametrize(
    ("comparator", "gt", "pred", "expected"),
    [
        (NAMES, "Ford Motors", "Fjord Motors", ("other letters", "ford", "fjord")),
        (NAMES, "Jon Hansen", "Jan Hansen", ("other letters", "jon", "jan")),
        (NAMES, "Delta Air Lines", "Delta Lines", ("a word more or less", "air", "")),
        (NAMES, "Delta Lines", "Delta Air Lines", ("a word more or less", "", "air")),
        (NAMES, "Smith, John", "John Smith", None),
        (NAMES, "Thomas James", "James Thomas", ("another order", "Thomas James", "James Thomas")),
        (NAMES, "5 Main Street", "Main Street 5", None),
        (NAMES, "Thomas  James", "thomas james", None),
        (NAMES, "Paid to Miller Motors", "Paid by Miller Motors", ("another word", "to", "by")),
        (NAMES, "Sale of the Miller Motors", "Sale of a Miller Motors", None),
        (NAMES, "José Díaz", "Jose Diaz", None),
        (NAMES, "Globex Inc.", "Globex Incorporated", None),
        (
            NAMES,
            "Salmonella typhi",
            "Salmonella typhimurium",
            ("other letters", "typhi", "typhimurium"),
        ),
        (NAMES, "two boxes", "zwei boxes", None),
        (NAMES, "the check-in desk", "a checkin desks", None),
        (NAMES, "United States Mint", "US Mint", None),
        (NAMES, LONG, without(LONG, WORDS[1], "zzyzx"), ("another word", WORDS[1], "zzyzx")),
        (NAMES, "Newcastle", "New Castle", ("words joined or split", "newcastle", "new castle")),
        (
            NAMES,
            "New Castle Motor Ltd.",
            "Newcastle Motors Limited",
            ("words joined or split", "new castle", "newcastle"),
        ),
        (NAMES, "e-mail desk", "email desk", None),
        (NAMES, "Delta Bank N.A.", "Delta Bank NA", None),
        (NAMES, "O'Neill Motors", "ONeill Motors", None),
        (TEXTS, "at 7% a year", "at 7 a year", ("a sign more or less", "%", "")),
        (TEXTS, "at 7 a year", "at $7 a year", ("a sign more or less", "", "$")),
        (
            PROSE,
            "dismissed by them only with cause after the trial",
            "dismissed by them with cause only after the trial",
            ("another order", "only with cause", "with cause only"),
        ),
        (PROSE, "apples, pears and figs", "figs, apples and pears", None),
        (PROSE, "buy new apples", "buy  new apples.", None),
        (PROSE, "buy new apples here", "buy the new apples here", None),
        (TEXTS, "CO", "Co", ("other capitals", "CO", "Co")),
        (TEXTS, "Paris", "PARIS", None),
        (LevenshteinComparator(normalize=False, same_words=True), "CO", "Co", None),
        (FuzzyComparator(), "Ford Motors", "Fjord Motors", None),
        (ExactComparator(), "CO", "Co", ("other capitals", "CO", "Co")),
        (ExactComparator(), "No", "NO", None),
        (
            ExactComparator(only_separators=True),
            "B-MW 1234",
            "BM-W 1234",
            ("other separators", "B-MW 1234", "BM-W 1234"),
        ),
        (ExactComparator(only_separators=True), "AB-CD 12 EF", "ABCD-12 EF", None),
        (ExactComparator(only_separators=True), "EC1A 1BB", "ec1a1bb", None),
        (ExactComparator(), "B-MW 1234", "BM-W 1234", None),
        (ExactComparator(), "CO2", "co2", None),
        (ExactComparator(case_sensitive=True), "CO", "Co", None),
        (CaseInsensitiveComparator(), "Os", "OS", None),
        (MONEY, "12.34", "12.35", ("another number", "12.34", "12.35")),
        (MONEY, 12.30, 12.31, ("another number", "12.3", "12.31")),
        (MONEY, 12.345, 12.35, None),
        (MONEY, 12, 12.0, None),
        (MONEY, "15%", "0.15", None),
        (MONEY, "0.0%", "0", None),
        (NumericComparator(unit="same"), "1 g", "1000 mg", None),
        (MONEY, "15%", "15", ("no currency or unit", "15%", "15")),
        (MONEY, "$5", "5", ("no currency or unit", "$5", "5")),
        (MONEY, "5 mg", 5, ("no currency or unit", "5 mg", "5")),
        (MONEY, "5", "$5", None),
        (MONEY, "$", "USD", None),
        (MONEY, "1,234", "1.234", ("thousands or decimals", "1,234", "1.234")),
        (MONEY, "1,234", "1234", None),
        (NumericComparator(tolerance=1), "12.34", "12.35", None),
        (
            DateComparator(),
            "2024-03-04",
            "03/04/2024",
            ("day or month first", "2024-03-04", "03/04/2024"),
        ),
        (DateComparator(), "2024-03-04", "4 March 2024", None),
        (DateComparator(), "03/04/2024", "3.4.2024", None),
        (DateComparator(dayfirst=False), "2024-03-04", "03/04/2024", None),
        (
            BBoxIoUComparator(),
            [0, 0, 10, 10],
            [0, 0, 10, 6],
            ("small overlap", "[0, 0, 10, 10]", "[0, 0, 10, 6]"),
        ),
        (BBoxIoUComparator(), [0, 0, 10, 10], [0, 0, 10, 8], None),
        (CodeComparator(), "a b", "a  b", None),
    ],
)
def test_a_match_differs_in(comparator, gt, pred, expected):
    difference = comparator.find_difference(gt, pred)

    assert difference == (expected and MatchDifference(*expected))


@pytest.mark.parametrize(
    ("comparator", "tells"),
    [
        (NAMES, True),
        (TEXTS, True),
        (MONEY, True),
        (FuzzyComparator(), False),
        (LevenshteinComparator(), False),
        (NumericComparator(), False),
        (ExactComparator(), False),
        (BBoxIoUComparator(), False),
    ],
)
def test_comparators_tell_differences_where_words_or_units_count(comparator, tells):
    assert comparator.reports_differences_if_named is tells


def test_a_comparator_with_a_similarity_of_its_own_tells_no_differences():
    class Initials(FuzzyComparator):
        def similarity(self, gt, pred):
            return float(gt[:1] == pred[:1])

    comparator = Initials(same_words=True)

    assert comparator.find_difference("Ford Motors", "Fjord Motors") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CO2", True),
        ("NaCl", True),
        ("C6H12O6", True),
        ("CO", False),  # any word of capitals may be one
        ("He", False),
        ("B12", False),
        ("PO4501", False),
        ("Paris", False),
    ],
)
def test_a_formula_has_several_atoms_with_a_count_or_a_symbol_of_two_letters(text, expected):
    assert is_formula(text) is expected


STRICT_LETTERS = FuzzyComparator(method="token_sort_ratio", same_words=True, same_letters=True)


@pytest.mark.parametrize(
    ("difference", "comparator", "gt", "pred"),
    [
        ("another word", STRICT_LETTERS, LONG, without(LONG, WORDS[1], "zzyzx")),
        ("other letters", STRICT_LETTERS, "Ford Motors", "Fjord Motors"),
        ("another order", CaseInsensitiveComparator(), "Thomas James", "James Thomas"),
        ("another number", NumericComparator(unit="same", decimal="money"), "12.34", "12.35"),
        ("no currency or unit", CaseInsensitiveComparator(), "$5", "5"),
        ("thousands or decimals", CaseInsensitiveComparator(), "1,234", "1.234"),
        ("day or month first", DateComparator(dayfirst=False), "2024-03-04", "04/03/2024"),
        ("other capitals", ExactComparator(case_sensitive=True), "CO", "Co"),
        ("other separators", CaseInsensitiveComparator(), "B-MW 1234", "BM-W 1234"),
    ],
)
def test_the_comparator_that_the_documentation_advises_makes_it_wrong(
    difference, comparator, gt, pred
):
    page = (Path(__file__).parents[2] / "docs" / "comparators.md").read_text(encoding="utf-8")

    assert f"| `{difference}` |" in page
    assert comparator.compare(gt, pred) == 0
