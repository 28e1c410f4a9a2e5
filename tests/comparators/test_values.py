"""Comparators as values: equality, hashes, `repr`, and settings of users' comparators."""

from datetime import timedelta

import pytest

from stickler_cli.comparators import (
    BaseComparator,
    DateComparator,
    ExactComparator,
    LevenshteinComparator,
    SemanticComparator,
)


class Named(BaseComparator):
    def __init__(self, words: list[str] | None = None) -> None:
        super().__init__(0.5)
        self.words = words

    def compare(self, gt, pred):
        return float(gt == pred)


class Told(Named):
    def __init__(self) -> None:
        super().__init__()
        self.name = "ToldOtherwise"
        self.config = {"limit": 3}


@pytest.mark.parametrize(
    "make",
    [
        LevenshteinComparator,
        lambda: LevenshteinComparator(threshold=0.9),
        lambda: DateComparator(tolerance=timedelta(days=2)),
        lambda: Named(["a", "b"]),
        Told,
    ],
)
def test_equal_comparators_are_one_key(make):
    assert make() == make()
    assert len({make(), make()}) == 1


def test_comparators_that_differ_are_different_keys():
    different = {LevenshteinComparator(), LevenshteinComparator(threshold=0.9), ExactComparator()}
    assert len(different) == 3


def test_a_comparator_shows_its_threshold():
    assert repr(LevenshteinComparator()) == "LevenshteinComparator(threshold=0.7)"
    text = repr(ExactComparator(case_sensitive=True))
    assert text == "ExactComparator(threshold=1.0, case_sensitive=True)"
    assert repr(SemanticComparator(threshold=0.8)) == "SemanticComparator(threshold=0.8)"


def test_a_comparator_of_ones_own_may_set_its_name_and_config():
    assert (Told().name, Told().config) == ("ToldOtherwise", {"limit": 3})
    assert repr(Told()) == "ToldOtherwise(threshold=0.5, limit=3)"


def test_the_options_of_dates_may_be_given_by_position():
    comparator = DateComparator(1.0, 2, True)
    assert (comparator.tolerance, comparator.dayfirst) == (2, True)
    assert comparator == DateComparator(tolerance=2, dayfirst=True)
