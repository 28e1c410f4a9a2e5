"""What is no slip: other digits, signs and words."""

import pytest

from stickler_cli.comparators.texts import FuzzyComparator, LevenshteinComparator, digits_of

STRICT = {"same_digits": True, "same_words": True}
SORTED = FuzzyComparator("token_sort_ratio", **STRICT)
TEXT = LevenshteinComparator(**STRICT)


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("INV-1001", "1001"),
        ("-5 C", "-5"),
        ("at (-5)", "-5"),
        ("\u22125", "-5"),
        ("< 10 and ≥3", "<10 ≥3"),
        ("1,200.50", "1200 50"),
        ("1.234.567 of 2'000", "1234567 2000"),
        ("1\u202f250", "1250"),
        ("１２３", "123"),  # noqa: RUF001
        ("٣ of ٤", "3 4"),
        ("10.0.0.1", "10 0 0 1"),
        ("none", ""),
    ],
)
def test_runs_of_digits_are_told_with_their_signs(text, digits):
    assert digits_of(text) == digits


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("Net 45", "Net 54"),
        ("at -4 C", "at 4 C"),
        ("not settled", "settled"),
        ("hypertension, mild", "hypotension, mild"),
        ("the lessor", "the lessee"),
        ("Stage IIIA", "Stage IIIB"),
        ("john.doe@mail.example", "johndoe@mail.example"),
        ("https://a.example/x/12", "https://a.example/x1/2"),
        ("Bank of North Carolina", "Bank of South Carolina"),
        (
            "The tenant has not paid the rent of this month",
            "The tenant has paid the rent of this month",
        ),
    ],
)
@pytest.mark.parametrize("comparator", [TEXT, SORTED])
def test_a_text_that_says_another_thing_is_unlike(comparator, gt, pred):
    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == 0.0


def test_the_same_digits_in_another_order_are_others():
    assert FuzzyComparator("token_sort_ratio").compare("3 of 12", "12 of 3") == 1.0
    assert SORTED.compare("3 of 12", "12 of 3") == 0.0


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("18 Elm Street", "18 Elm St."),
        ("St. Louis", "St Louis"),
        ("U.S. Bank", "US Bank"),
        ("Smith & Sons Ltd", "Smith and Sons Limited"),
        ("tablet", "tablets"),
        ("Jürgen Groß", "Jurgen Gross"),
        ("Jürgen Groß", "Juergen Gross"),
        ("Smørrebrød 3", "Smoerrebroed 3"),
        ("3.5 - 5.1", "3.5-5.1"),
        ("+1.50", "1.50"),
    ],
)
@pytest.mark.parametrize("comparator", [TEXT, SORTED])
def test_accents_punctuation_and_abbreviations_make_little_difference(comparator, gt, pred):
    assert comparator.compare(gt, pred) >= 0.95


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("C++", "C#"),
        ("No. 5 of the street", "5 of the street"),
        (
            "The contractor delivers the goods to the port",
            "The contractor delivers goods to a harbour",
        ),
        ("Enginer of the year", "Engineer of the year"),
        ("John Smith", "John A. Smith"),
    ],
)
def test_what_else_differs_is_left_to_the_edit_distance(gt, pred):
    assert TEXT.compare(gt, pred) == LevenshteinComparator().compare(gt, pred)


def test_columns_are_compared_as_pairs_are():
    texts = [TEXT.prepare(it) for it in ("Net 45", "Net 54", "net", "Elm Street", "Elm St")]
    gts, preds = zip(*[(a, b) for a in texts for b in texts], strict=True)

    pairs = [TEXT.similarity(*it) for it in zip(gts, preds, strict=True)]
    assert TEXT.similarities(gts, preds).tolist() == pairs
    assert TEXT.similarities_above(gts, preds, 0.9) is None  # what is unlike may be raised
    assert TEXT.keys(texts).tolist() == [0, 1, 2, 2, 2]
    assert SORTED.keys(texts).tolist() == [0, 1, 2, 2, 2]
    assert LevenshteinComparator().keys(texts) is FuzzyComparator().keys(texts) is None
    assert TEXT.equal_keys(["ab"])[1] == pytest.approx(0.05)
    keys, lack = SORTED.equal_keys(["a  b", "b a", "ab"])
    assert (keys.tolist(), lack) == ([0, 0, 1], pytest.approx(0.05))
    assert FuzzyComparator().equal_keys(["a b", "b a"])[1] == pytest.approx(1 / 6)
    assert FuzzyComparator("partial_ratio").equal_keys(["a"]) is None


def test_words_alone_leave_digits_to_the_edit_distance():
    comparator = LevenshteinComparator(same_words=True)

    assert comparator.compare("volume 12", "volume 13") == pytest.approx(8 / 9)
    assert FuzzyComparator(same_words=True).compare("paid", "unpaid") == 0.0
