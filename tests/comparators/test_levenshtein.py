import pytest

from stickler_cli.comparators import LevenshteinComparator
from stickler_cli.comparators.base import KeywordError


def test_an_object_is_refused():
    with pytest.raises(TypeError, match="not objects"):
        LevenshteinComparator().compare({"a": 1}, "a")
    with pytest.raises(TypeError, match="not objects"):
        LevenshteinComparator().compare("a", {})


def test_a_list_is_compared_as_python_prints_it():
    assert LevenshteinComparator().compare(["a"], "['a']") == 1.0


def test_half_of_a_surrogate_pair_is_a_character():
    assert LevenshteinComparator().compare("\ud800a", "\ud801a") == 0.5


def test_columns_are_compared_element_by_element():
    comparator = LevenshteinComparator()

    # kitten -> sitting: 3 edits of 7; kitten -> "": 6 of 6.
    similarities = comparator.similarities(["kitten", "kitten", ""], ["sitting", "", ""])

    assert similarities.tolist() == [1 - 3 / 7, 0.0, 1.0]


def test_a_flag_that_is_no_boolean_is_refused():
    with pytest.raises(KeywordError, match="normalize is 0, expected true or false"):
        LevenshteinComparator(normalize=0)
