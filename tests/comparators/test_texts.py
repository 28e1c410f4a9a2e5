import numpy as np
import pytest
from rapidfuzz import fuzz

from stickler_cli.comparators import FuzzyComparator, LevenshteinComparator
from stickler_cli.comparators.base import KeywordError, StepCounting
from stickler_cli.comparators.texts import digits_of


def test_an_object_is_refused():
    with pytest.raises(TypeError, match="not objects"):
        LevenshteinComparator().compare({"a": 1}, "a")
    with pytest.raises(TypeError, match="not objects"):
        LevenshteinComparator().compare("a", {})


def test_a_list_is_compared_as_python_prints_it():
    assert LevenshteinComparator().compare(["a"], "['a']") == 1.0


def test_half_of_a_surrogate_pair_is_a_character():
    assert LevenshteinComparator().compare("\ud800a", "\ud801a") == 0.5


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
        ("< 10 and ≥3", "<10 >=3"),
        ("1,200.50", "1200 50"),
        ("1.234.567 of 2'000", "1234567 2000"),
        ("1\u202f250", "1250"),
        ("１２３", "123"),  # noqa: RUF001
        ("٣ of ٤", "3 4"),
        ("10.0.0.1", "10 0 0 1"),
        ("10⁶ and 5 m²", "10 6 5 2"),
        ("none", ""),
        ("about 30 or ca. 30 or ~30", "~30 ~30 ~30"),
        ("at least $5, no more than 7", ">=5 <=7"),
        ("Los Angeles, CA 90210", "90210"),
        ("all about 3 of us", "~3"),
        ("over 5 Main Street", "5"),
    ],
)
def test_runs_of_digits_are_told_with_their_signs(text, digits):
    assert digits_of(text) == digits


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("Net 45", "Net 54"),
        ("at -4 C", "at 4 C"),
        ("a count of 10⁶ cells in each sample", "a count of 106 cells in each sample"),
        ("not settled", "settled"),
        ("hypertension, mild", "hypotension, mild"),
        ("the lessor", "the lessee"),
        ("Stage IIIA", "Stage IIIB"),
        ("john.doe@mail.example", "johndoe@mail.example"),
        ("https://a.example/x/12", "https://a.example/x1/2"),
        ("Bank of North Carolina", "Bank of South Carolina"),
        ("HER2 (+), ER (-) and PR (-)", "HER2 (-), ER (-) and PR (-)"),
        ("ER+/PR+ tumour of the breast", "ER+/PR- tumour of the breast"),
        ("Length with a tolerance of ±5 mm", "Length with a tolerance of +5 mm"),
        ("Salinity of sea water is 35 ‰", "Salinity of sea water is 35 %"),
        ("A fine of $500 per day", "A fine of €500 per day"),
        ("The sum of both is ≠ 0", "The sum of both is = 0"),
        ("Consent is given: ☑ signed", "Consent is given: ☐ signed"),
        ("[x] The patient smokes", "[ ] The patient smokes"),
        ("Reviewed by the manager ✓", "Reviewed by the manager ✗"),
        ("☑ smoker ☐ drinker of the ward", "☑ drinker ☐ smoker of the ward"),
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
            "The contractor delivers goods to a port soon",
        ),
        ("Enginer of the year", "Engineer of the year"),
        ("John Smith", "John A. Smith"),
    ],
)
def test_what_else_differs_is_left_to_the_edit_distance(gt, pred):
    assert TEXT.compare(gt, pred) == LevenshteinComparator().compare(gt, pred)


def test_columns_are_compared_as_pairs_are():
    texts = [TEXT.prepare(text) for text in ("Net 45", "Net 54", "net", "Elm Street", "Elm St")]
    gts, preds = zip(*[(a, b) for a in texts for b in texts], strict=True)

    pairs = [TEXT.similarity(*pair) for pair in zip(gts, preds, strict=True)]
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


@pytest.mark.parametrize("method", ["token_sort_ratio", "token_set_ratio"])
def test_to_the_word_methods_two_texts_without_a_word_are_alike(method):
    assert FuzzyComparator(method=method, normalize=False).compare(" ", "\t") == 1.0
    assert FuzzyComparator(method=method, normalize=False).compare(" ", " ") == 1.0


def test_words_are_put_in_order_as_rapidfuzz_does():
    texts = [
        "b a",
        "a b",
        " a\tb ",
        "a\xa0b",
        "b a\x85",
        "b\xa0a \u0142",
        "a \u0142 b",
        "b, a",
        "",
        "c",
    ]
    gts, preds = zip(*[(gt, pred) for gt in texts for pred in texts if gt or pred], strict=True)

    comparator = FuzzyComparator("token_sort_ratio", normalize=False)
    expected = [fuzz.token_sort_ratio(*pair) / 100 for pair in zip(gts, preds, strict=True)]
    assert comparator.similarities(gts, preds).tolist() == expected
    for gt, pred, alike in zip(gts, preds, expected, strict=True):  # one with many
        assert comparator.similarities([gt] * 9, [pred] * 9).tolist() == [alike] * 9


def test_to_the_letter_methods_a_space_is_a_letter():
    assert FuzzyComparator(normalize=False).compare(" ", "\t") == 0.0


def test_an_object_is_compared_as_python_prints_it():
    assert FuzzyComparator().compare({"a": 1}, "{'a': 1}") == 1.0


WORDS = 500 + 3 * 1 * 70
"""Number of steps for the edit distance of a text of 30 and one of 70 letters. 30 letters fit in
one machine word."""


@pytest.mark.parametrize("method", ["ratio", "token_sort_ratio", "token_set_ratio"])
def test_texts_are_four_times_the_work_of_an_edit_distance(method):
    lengths = np.array([30, 70]), np.array([70, 30])

    assert FuzzyComparator(method).steps(*lengths) == 4 * 2 * WORDS


def test_a_part_is_as_much_work_at_each_letter_of_the_longer_text():
    steps = FuzzyComparator("partial_ratio").steps

    assert steps(np.array([30]), np.array([70])) == 2 * (500 + 3 * 70 * 30)
    assert steps(np.array([30, 1]), np.array([70, 1])) == 2 * (500 + 3 * 70 * 30 + 500 + 3)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "token_sort",
            'method is "token_sort", expected one of ratio, .*; did you mean token_sort',
        ),
        ("nonsense", 'method is "nonsense", expected one of ratio, partial_ratio, [a-z_, ]*$'),
        (True, "method is true, expected one of ratio, partial_ratio, [a-z_, ]*$"),
        ([], r"method is \[\], expected one of"),
    ],
)
def test_an_unknown_method_is_refused(method, message):
    with pytest.raises(KeywordError, match=message) as caught:
        FuzzyComparator(method=method)

    assert caught.value.keyword == "method"


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        # 10,000 a pair, 250 a letter, and 400 for each pair of words that only one text has, of
        # which there is one here, looked at from both sides.
        ("north street", "south street", 10_000 + 250 * 24 + 2 * 400),
        ("some street", "some streets", 10_000 + 250 * 23 + 2 * 400),
        ("a street", "b 123456", None),  # unlike anyway
        ("street", "street", None),
    ],
)
def test_looking_at_words_is_counted_for_alike_texts_alone(gt, pred, expected):
    comparator, counted = LevenshteinComparator(same_words=True), []
    with StepCounting(counted.append):
        comparator.similarities([comparator.prepare(gt)], [comparator.prepare(pred)])

    assert sum(counted) == (expected or 0)
    assert comparator.compare(gt, pred) <= 1  # where nobody counts


READ_IN_ORDER = FuzzyComparator(
    "token_sort_ratio", same_digits=True, same_words=True, same_order=True
)


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("Buyer pays Seller", "Seller pays Buyer"),
        ("The lender pays the fee to the borrower", "The borrower pays the fee to the lender"),
        ("Shop closes at noon except on public holidays", "Shop closes at noon on public holidays"),
        ("Valid in the United Kingdom", "Valid only in the United Kingdom"),
        ("Senior C++ developer in Berlin", "Senior C# developer in Berlin"),
        ("Senior C developer in Berlin", "Senior C++ developer in Berlin"),
        ("prednisone 5 mg daily by mouth", "prednisolone 5 mg daily by mouth"),
        ("Head office in Vienna, Austria", "Head office in Vienna, Australia"),
        ("Signed by Maria Garcia in Madrid", "Signed by Mario Garcia in Madrid"),
        ("Transmitter power 5 mW in the mean", "Transmitter power 5 MW in the mean"),
        ("a contact of the company", "a contract of the company"),
        ("[x] Single [ ] Married", "[ ] Single [x] Married"),
        ("one tablet by mouth BID", "one tablet by mouth TID"),
    ],
)
def test_another_role_or_word_that_looks_alike_makes_another_text(gt, pred):
    assert READ_IN_ORDER.compare(gt, pred) == 0.0
    assert READ_IN_ORDER.compare(pred, gt) == 0.0


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("On Monday deliver widgets to Berlin", "Deliver widgets to Berlin on Monday"),
        ("red, blue and green", "green, blue and red"),
        ("First it opens. Then it closes.", "Then it closes. First it opens."),
        ("blue large box", "large blue box"),
        ("Cichocki, A.; Zdunek, R. Tensors", "A. Cichocki, R. Zdunek. Tensors"),
        ("Transmitter power 5 mw in the mean", "Transmitter power 5 MW in the mean"),
        ("Order PO#12 of C#", "order po#12 of c#"),
        ("except on Sundays", "Except on sundays"),
        ("excluding VAT of the sender", "excl. VAT of the sender"),
    ],
)
def test_a_phrase_that_moves_makes_no_other_text(gt, pred):
    assert READ_IN_ORDER.compare(gt, pred) >= 0.8


def test_order_alone_may_be_asked_for():
    for comparator in (LevenshteinComparator(same_order=True), FuzzyComparator(same_order=True)):
        assert (
            comparator.compare("the buyer pays it to the seller", "the seller pays it to the buyer")
            == 0
        )
        assert comparator.compare("the buyer pays 1", "the buyer pays 2") > 0.9
        assert comparator.similarities_above(["a"], ["b"], 0.5) is None


def test_very_long_texts_are_not_searched_for_exchanged_words():
    words = [
        f"word{chr(97 + index % 26)}{chr(97 + index // 26 % 26)}{chr(97 + index // 676)}"
        for index in range(2100)
    ]
    exchanged = [words[9], *words[1:9], words[0], *words[10:]]
    comparator = FuzzyComparator("token_sort_ratio", same_order=True)

    assert comparator.compare(" ".join(words[:100]), " ".join(exchanged[:100])) == 0.0
    assert comparator.compare(" ".join(words), " ".join(exchanged)) == 1.0
