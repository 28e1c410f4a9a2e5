import numpy as np
import pytest

from stickler_cli.comparators import BBoxIoUComparator
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.result import LeafComparison, Outcome
from stickler_cli.core.problems import ComparisonError

from .nodes import DEFAULTS, a_list, an_object, anything, exact, number, text


class Fixed(BaseComparator):
    """Gives one answer, whatever it is asked."""

    def __init__(self, answer=1.0):
        super().__init__()
        self.answer = answer

    def compare(self, gt, pred):
        return self.answer


class Failing(BaseComparator):
    """Fails on everything but equal values."""

    def compare(self, gt, pred):
        if gt == pred:
            return 1.0
        raise LookupError("no such model")


def fixed(answer):
    return LeafNode(threshold=0.5, comparator=Fixed(answer))


def failing():
    return LeafNode(threshold=0.5, comparator=Failing())


def test_two_values_are_a_match_at_the_threshold():
    assert text(threshold=0.75).compare("abcd", "abcx", DEFAULTS) == LeafComparison(
        "abcd", "abcx", Outcome.TP, 0.75, 0.75, 0.75
    )


def test_two_values_below_the_threshold_are_a_false_discovery():
    assert text(threshold=0.76).compare("abcd", "abcx", DEFAULTS) == LeafComparison(
        "abcd", "abcx", Outcome.FD, 0.75, 0.75, 0.76
    )


def test_clipping_changes_the_score_and_never_the_class():
    comparison = text(threshold=0.8, clip=True).compare("abcd", "abcx", DEFAULTS)

    assert (comparison.outcome, comparison.similarity, comparison.score) == (Outcome.FD, 0.75, 0)


def test_a_match_is_not_clipped():
    assert text(threshold=0.7, clip=True).compare("abcd", "abcx", DEFAULTS).score == 0.75


@pytest.mark.parametrize("nothing", [None, "", [], {}, {"a": None}, [[]]])
def test_one_absent_side_scores_0_and_shows_as_none(nothing):
    leaf = text()

    assert leaf.compare("a", nothing, DEFAULTS) == LeafComparison(
        "a", None, Outcome.FN, 0.0, 0.0, 0.5
    )
    assert leaf.compare(nothing, "a", DEFAULTS) == LeafComparison(
        None, "a", Outcome.FA, 0.0, 0.0, 0.5
    )


def test_two_absent_sides_score_1():
    assert text().compare("", None, DEFAULTS) == LeafComparison(
        None, None, Outcome.TN, 1.0, 1.0, 0.5
    )


def test_zero_and_false_are_compared():
    assert number().compare(0, 0, DEFAULTS).outcome is Outcome.TP
    assert exact().compare(False, True, DEFAULTS).outcome is Outcome.FD


def test_a_value_of_another_scalar_type_is_left_to_the_comparator():
    assert number().compare(1200.5, "1,200.50", DEFAULTS).similarity == 1.0


@pytest.mark.parametrize("wrong", [{"a": 1}, [1], [[1]]])
def test_an_object_or_list_against_a_leaf_is_one_false_discovery(wrong):
    expected = (Outcome.FD, 0.0, 0.0)
    for gt, pred in (("a", wrong), (wrong, "a")):
        comparison = text(threshold=0.0, other=anything()).compare(gt, pred, DEFAULTS)

        assert type(comparison) is LeafComparison
        assert (comparison.outcome, comparison.similarity, comparison.score) == expected


def test_a_comparator_that_takes_lists_sees_them_whole():
    box = LeafNode(threshold=0.5, comparator=BBoxIoUComparator())

    # Two unit squares beside one another by half: 0.5 shared of 1.5.
    assert box.similarity([0, 0, 1, 1], [0.5, 0, 1.5, 1], DEFAULTS) == pytest.approx(1 / 3)
    assert box.compare([0, 0, 1, 1], [0, 0, 1, 1], DEFAULTS).outcome is Outcome.TP


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -0.1, 1.1, -float("inf")])
def test_a_similarity_that_is_no_number_from_0_to_1_is_an_error(answer):
    message = rf"Fixed failed on \"a\" and \"b\": its similarity is {answer!r}"
    with pytest.raises(ComparisonError, match=message):
        fixed(answer).similarity("a", "b", DEFAULTS)
    with pytest.raises(ComparisonError, match=message):
        fixed(answer).matrix(["a"], ["b"], DEFAULTS)
    with pytest.raises(ComparisonError, match=message):
        fixed(answer).compare("a", "b", DEFAULTS)


def test_the_first_wrong_cell_of_a_matrix_is_named():
    class Odd(Fixed):
        def compare(self, gt, pred):
            return float("nan") if (gt, pred) == ("b", "y") else 0.5

    leaf = LeafNode(threshold=0.5, comparator=Odd())

    with pytest.raises(ComparisonError, match=r'on "b" and "y": its similarity is nan'):
        leaf.matrix(["a", "b"], ["x", "y"], DEFAULTS)


@pytest.mark.parametrize(("answer", "similarity"), [(1 + 1e-10, 1.0), (-1e-10, 0.0), (1, 1.0)])
def test_the_noise_of_floats_is_kept_out(answer, similarity):
    assert fixed(answer).similarity("a", "b", DEFAULTS) == similarity
    assert fixed(answer).matrix(["a"], ["b"], DEFAULTS).tolist() == [[similarity]]


def test_a_comparator_that_fails_is_an_error_with_its_cause():
    with pytest.raises(ComparisonError) as caught:
        failing().similarity("a", "b", DEFAULTS)

    assert str(caught.value) == 'Failing failed on "a" and "b": LookupError: no such model'
    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.path == ()


def test_a_comparator_that_fails_on_a_column_is_an_error_with_its_cause():
    with pytest.raises(ComparisonError) as caught:
        failing().matrix(["a"], ["b", "c"], DEFAULTS)

    assert str(caught.value) == 'Failing failed on ["a"] and ["b", "c"]: LookupError: no such model'
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_failure_names_the_properties_that_lead_to_it():
    inner = an_object(price=failing())
    plan = an_object(order=an_object(lines=a_list(inner)))
    gt, pred = ({"order": {"lines": [{"price": price}]}} for price in (1, 2))

    for call in (plan.similarity, plan.compare):
        with pytest.raises(ComparisonError, match=r"^at order\.lines\.price, Failing") as caught:
            call(gt, pred, DEFAULTS)
        assert caught.value.path == ("order", "lines", "price")
        assert isinstance(caught.value.__cause__, LookupError)
    with pytest.raises(ComparisonError, match=r"^at order\.lines\.price, Failing"):
        plan.matrix([gt], [pred], DEFAULTS)


def test_below_tells_a_failure_from_one_level_up():
    error = ComparisonError("it broke", ("b",)).below("a")

    assert (error.cause, error.path) == ("it broke", ("a", "b"))
    assert str(error) == "at a.b, it broke"


def test_a_column_without_values_has_no_cells():
    assert text().matrix([], ["a"], DEFAULTS).shape == (0, 1)
    assert text().scores(["a", "b"], [], DEFAULTS).shape == (2, 0)


def test_only_leaves_clip_as_elements():
    assert text(clip=True).item_clip
    assert not text().item_clip
    assert not a_list(text(clip=True)).item_clip


def test_a_matrix_with_values_of_other_kinds_compares_the_rest():
    leaf = text(other=anything())
    matrix = leaf.matrix(["ab", {"k": "v"}], ["ab", {"k": "v"}, ["ab"]], DEFAULTS)

    assert matrix.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_matrix_of_values_of_other_kinds_alone_is_not_asked_of_the_comparator():
    assert failing().matrix([["a"]], [{"k": 1}], DEFAULTS).tolist() == [[0.0]]


def test_scores_are_clipped_cell_by_cell():
    leaf = text(threshold=0.75, clip=True)

    scores = leaf.scores(["abcd"], ["abcx", "abxx"], DEFAULTS)

    assert np.array_equal(scores, [[0.75, 0.0]])
