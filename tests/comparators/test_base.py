import pickle

import numpy as np
import pytest

from stickler_cli.clients.client import Client
from stickler_cli.comparators import (
    BaseComparator,
    BBoxIoUComparator,
    ExactComparator,
    FuzzyComparator,
    LevenshteinComparator,
)
from stickler_cli.comparators.base import KeywordError, text_of
from stickler_cli.core.problems import Problem, UnavailableError


class FirstLetter(BaseComparator):
    """Compares first letters; it has only `compare`, as most users would write it."""

    def __init__(self, threshold=0.5, bonus=0.0, *ignored, **others):
        super().__init__(threshold)
        self.bonus = bonus

    def compare(self, gt, pred):
        return 1.0 if gt[:1] == pred[:1] else self.bonus


class Halved(LevenshteinComparator):
    """Halves the result of an inherited `compare`."""

    def compare(self, gt, pred):
        return super().compare(gt, pred) / 2


class Initials(Halved):
    """Compares first letters by the inherited `compare`: it overrides only `prepare`."""

    def prepare(self, value):
        return value[:1]


class Reversed(LevenshteinComparator):
    """Overrides `similarity`, but not `similarities`."""

    def similarity(self, gt, pred):
        return 1 - super().similarity(gt, pred)


class Unaccented(LevenshteinComparator):
    """Overrides only `prepare`."""

    def prepare(self, value):
        return super().prepare(value).replace("é", "e")


class Whole(LevenshteinComparator):
    """Overrides `compare` and `similarity`, with different results."""

    def compare(self, gt, pred):
        return 0.25

    def similarity(self, gt, pred):
        return 0.75


def column(comparator, gts, preds):
    prepared = [[comparator.prepare(value) for value in side] for side in (gts, preds)]
    return comparator.similarities(*prepared).tolist()


class Trusted(Whole):
    """Overrides `similarities`, which then has precedence."""

    def similarities(self, gts, preds):
        return np.full(len(gts), 0.5)


def test_similarities_of_its_own_are_taken_at_their_word():
    assert column(Trusted(), ["a", "b"], ["b", "b"]) == [0.5, 0.5]


class Counting(BaseComparator):
    def __init__(self):
        super().__init__()
        self.asked = []

    def compare(self, gt, pred):
        self.asked.append((gt, pred))
        return 1.0 if gt is pred else 0.0


def test_a_column_asks_a_user_s_compare_once_for_each_distinct_pair_of_objects():
    comparator = Counting()
    number, true, unhashable = 1, True, {}

    similarities = comparator.similarities(
        [number, true, number, unhashable, number, unhashable],
        [number, number, number, number, true, number],
    )

    assert similarities.tolist() == [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert comparator.asked == [(1, 1), (True, 1), ({}, 1), (1, True)]


def test_columns_of_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        Counting().similarities([1, 2], [1])


class NewSimilarities(ExactComparator):
    def similarities(self, gts, preds):
        return super().similarities(gts, preds) / 2 + 0.5


class NewSimilarity(ExactComparator):
    def similarity(self, gt, pred):
        return 1 - super().similarity(gt, pred)


class NewCompare(ExactComparator):
    def compare(self, gt, pred):
        return 0.5


class KeysOfItsOwn(NewCompare):
    def keys(self, prepared):
        return np.zeros(len(prepared), np.intp)


class Tripled(LevenshteinComparator):
    """Overrides `similarities` only."""

    def similarities(self, gts, preds):
        return super().similarities(gts, preds) / 3


def test_what_is_known_of_texts_alike_is_dropped_with_the_comparison_of_which_it_is_true():
    inherited = LevenshteinComparator()
    keys, lack = inherited.equal_keys(["a", "abcd", "a"])
    assert (keys.tolist(), lack) == ([0, 1, 0], 1 / 4)
    assert inherited.similarities_above(["abcd"], ["abce"], 0.5).tolist() == [0.75]
    for cls in (Tripled, Reversed, Halved, Unaccented, FirstLetter):
        assert cls().equal_keys(["a", "abcd"]) is None
        assert cls().similarities_above(["abcd"], ["abce"], 0.5) is None


class NewPrepare(ExactComparator):
    def prepare(self, value):
        return super().prepare(str(value)[:1])


def test_keys_are_dropped_with_the_comparison_of_which_they_are_true():
    for cls in (NewSimilarities, NewSimilarity, NewCompare, NewPrepare, FirstLetter):
        assert cls().keys(["a", "b"]) is None
    assert KeysOfItsOwn().keys(["a", "b"]).tolist() == [0, 0]


def test_a_comparator_may_set_its_name():
    class Named(BaseComparator):
        def __init__(self, name="by me"):
            super().__init__()
            self.name = name

        def compare(self, gt, pred):
            return 1.0

    assert (Named().name, repr(Named("x"))) == ("by me", "x(threshold=0.7, name='x')")


def test_a_comparator_that_defines_compare_alone_works_in_columns():
    assert column(FirstLetter(bonus=0.25), ["ab", "ab", "b"], ["ax", "c", "c"]) == [1.0, 0.25, 0.25]


def test_a_new_compare_is_used_in_columns_of_an_inherited_comparator():
    assert Halved().compare(" ABC", "abd") == pytest.approx(1 / 3)
    assert column(Halved(), [" ABC"] * 2, ["abc", "abd"]) == [0.5, pytest.approx(1 / 3)]


def test_a_new_prepare_below_a_new_compare_comes_before_it():
    assert column(Initials(), ["abc"] * 2, ["axx", "b"]) == [0.5, 0.0]


def test_a_new_similarity_is_used_in_columns_of_an_inherited_comparator():
    assert Reversed().compare("ab", "ac") == 0.5
    assert column(Reversed(), ["ab"] * 2, ["ab", "xy"]) == [0.0, 1.0]


def test_a_new_prepare_keeps_the_inherited_judgement():
    assert Unaccented().compare("été", "ETE") == 1.0
    assert column(Unaccented(), ["été"] * 2, ["ete", "eta"]) == [1.0, pytest.approx(2 / 3)]


def test_a_comparator_that_defines_both_is_taken_at_its_word():
    assert Whole().compare("a", "b") == 0.25
    assert column(Whole(), ["a"], ["b"]) == [0.75]


def test_a_comparator_that_defines_neither_is_refused():
    with pytest.raises(TypeError, match=r"Empty must define compare\(gt, pred\) or similarity"):
        type("Empty", (BaseComparator,), {})


def test_texts_cost_each_letter_of_the_longer_with_each_word_of_64_letters_of_the_shorter():
    lengths = np.array([30, 72, 0]), np.array([72, 65, 9])

    assert FirstLetter().steps(*lengths) == 3 * 500 + 3 * (1 * 72 + 2 * 72 + 0)


def test_a_comparison_of_whole_columns_costs_the_letters_of_both():
    assert ExactComparator().steps(np.array([30, 72]), np.array([72, 65])) == 30 + 72 + 72 + 65


def test_calling_is_comparing():
    assert FirstLetter()("ab", "ac") == 1.0


def test_binary_compare_counts_a_match_at_the_threshold_and_a_hair_below():
    assert FirstLetter(0.8, bonus=0.8).binary_compare("a", "b") == (1, 0)
    assert FirstLetter(0.8, bonus=0.7999999999999999).binary_compare("a", "b") == (1, 0)
    assert FirstLetter(0.8, bonus=0.79).binary_compare("a", "b") == (0, 1)


def test_config_and_repr_show_what_differs_from_the_defaults():
    comparator = FirstLetter(bonus=0.25)

    assert comparator.name == "FirstLetter"
    assert comparator.config == {"bonus": 0.25}
    assert repr(comparator) == "FirstLetter(threshold=0.5, bonus=0.25)"
    assert repr(FirstLetter()) == "FirstLetter(threshold=0.5)"


def test_comparators_are_equal_by_class_and_config():
    assert FirstLetter() == FirstLetter(0.5)
    assert FirstLetter() != FirstLetter(0.6)
    assert FirstLetter() != ExactComparator(0.5)
    assert FirstLetter() != "FirstLetter()"


def test_a_comparator_can_be_sent_to_another_process():
    comparator = LevenshteinComparator(normalize=False)

    assert pickle.loads(pickle.dumps(comparator)) == comparator  # noqa: S301


def test_a_comparator_requires_nothing_unless_it_says_so():
    FirstLetter().require()
    FirstLetter().require_by(Client())


class AsksByItself(FirstLetter):
    """A comparator that asks a model which is not installed."""

    asks_models = True

    def require(self):
        raise UnavailableError([Problem("", "the model is asleep")])


def test_what_asks_a_model_of_its_own_requires_the_same_for_any_client():
    with pytest.raises(UnavailableError, match="the model is asleep"):
        AsksByItself().require_by(Client())


def test_what_asks_a_model_of_its_own_answers_by_its_comparison_and_gives_no_reasons():
    comparator = AsksByItself(bonus=0.25)
    answers = comparator.ask(Client(), ["ab", "ab"], ["ax", "c"])

    assert comparator.asked_model is None
    assert answers.similarities.tolist() == [1.0, 0.25]
    assert answers.reasons is None


@pytest.mark.parametrize("threshold", [0, 1, 0.5, 0.0, 1.0])
def test_a_threshold_from_0_to_1_is_kept(threshold):
    assert FirstLetter(threshold).threshold == threshold


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (True, "threshold is true, expected a number in [0, 1]"),
        ("0.5", 'threshold is "0.5", expected a number in [0, 1]'),
        (-0.1, "threshold is -0.1, expected a number in [0, 1]"),
        (85, "threshold is 85, expected a number in [0, 1]; did you mean 0.85?"),
        (15, "threshold is 15, expected a number in [0, 1]"),
        (1.5, "threshold is 1.5, expected a number in [0, 1]"),
        (101, "threshold is 101, expected a number in [0, 1]"),
        (float("nan"), "threshold is NaN, expected a number in [0, 1]"),
    ],
)
def test_any_other_threshold_is_refused(threshold, message):
    with pytest.raises(KeywordError) as caught:
        FirstLetter(threshold)

    assert str(caught.value) == message
    assert caught.value.keyword == "threshold"


def test_a_keyword_error_can_be_sent_to_another_process():
    error = pickle.loads(pickle.dumps(KeywordError("a", "a is 1", "2", "b?")))  # noqa: S301

    assert (error.keyword, str(error)) == ("a", "a is 1, expected 2; b?")


def test_text_of_an_integer_of_any_length_is_its_digits():
    assert text_of(10**5000) == "1" + "0" * 5000


class OfTheOldLibrary(BaseComparator):
    def __init__(self, threshold=None):
        super().__init__(threshold=threshold)

    def _compare(self, gt, pred):
        return 1.0 if gt[0] == pred[0] else 0.0


def test_a_comparator_that_defines_compare_for_present_values_only_is_taken_as_it_is():
    comparator = OfTheOldLibrary()
    assert comparator.threshold == 0.7
    assert (comparator.compare("ab", "ac"), comparator.compare("ab", "b")) == (1.0, 0.0)
    assert (comparator.compare(None, None), comparator.compare(None, "a")) == (1.0, 0.0)
    assert comparator.similarities(["ab"] * 2, ["ac", "b"]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("kind", [BBoxIoUComparator, FuzzyComparator, LevenshteinComparator])
def test_a_comparison_may_be_built_on_the_one_that_it_overrides(kind):
    class Half(kind):
        def compare(self, gt, pred):
            return super().compare(gt, pred) / 2

    box = [0, 0, 1, 1]
    assert Half().compare(box, box) == Half().similarities([box], [box]).item() == 0.5
