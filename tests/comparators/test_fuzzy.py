import numpy as np
import pytest
from rapidfuzz import fuzz

from stickler_cli.comparators import FuzzyComparator
from stickler_cli.comparators.base import KeywordError


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
    for some in (slice(None), slice(0, 3)):
        assert comparator.similarities(gts[some], preds[some]).tolist() == expected[some]


def test_to_the_letter_methods_a_space_is_a_letter():
    assert FuzzyComparator(normalize=False).compare(" ", "\t") == 0.0


def test_an_object_is_compared_as_python_prints_it():
    assert FuzzyComparator().compare({"a": 1}, "{'a': 1}") == 1.0


WORDS = 500 + 3 * 1 * 70
"""Steps of an edit distance of 30 and 70 letters: all 30 are one word."""


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


def test_a_flag_that_is_no_boolean_is_refused():
    with pytest.raises(KeywordError, match='normalize is "yes", expected true or false'):
        FuzzyComparator(normalize="yes")
