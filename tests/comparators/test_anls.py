"""ANLS*, compared with the package of its authors, and how it differs for numbers."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli import anls_score, anls_star_numbers
from stickler_cli.comparators import ANLSStarComparator
from stickler_cli.comparators.anls import AnlsStar, AnlsStarNumbers
from stickler_cli.comparators.base import KeywordError
from stickler_cli.metrics import MeasuredDocument

TEXTS = st.sampled_from(["", "alpha", "alphb", "Beta  b", "gamma ray", "x", "true"])
NUMBERS = st.sampled_from([0, 7, 12345, 12346, 1.5, 1.0, 1e20, True, False])
LEAVES = TEXTS | NUMBERS | st.none()
KEYS = st.sampled_from("abcd")


def values(leaves):
    """Draw values whose lists rarely have equal items, so that the best pairs are unique."""
    return st.recursive(
        leaves,
        lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=1),
        max_leaves=8,
    )


def choices(leaves):
    tuples = st.lists(values(leaves), min_size=1, max_size=2).map(tuple)
    return st.dictionaries(KEYS, tuples | values(leaves), max_size=3)


@pytest.mark.slow
@given(choices(LEAVES), values(LEAVES))
def test_scores_are_those_of_the_package(gt, pred):
    official = pytest.importorskip("anls_star")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score, closest, keys = official.anls_score(gt, pred, return_gt=True, return_key_scores=True)
    own_score = anls_score(gt, pred, return_gt=True, return_key_scores=True)
    assert own_score[0] == pytest.approx(score)
    assert own_score[1] == closest
    assert plain(own_score[2], "score") == approximately(plain(keys, "anls_score"))


def plain(keys, attribute):
    return {
        name: (getattr(key, attribute), plain(key.children, attribute))
        for name, key in keys.items()
    }


def approximately(keys):
    return {
        name: (pytest.approx(score), approximately(children))
        for name, (score, children) in keys.items()
    }


@pytest.mark.slow
@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
def test_lists_of_texts_score_as_in_the_package(gt, pred):
    official = pytest.importorskip("anls_star")
    expected = official.anls_score({"a": gt}, {"a": pred})
    assert anls_score({"a": gt}, {"a": pred}) == pytest.approx(expected)


def test_lists_of_objects_are_paired_as_they_are_most_alike():
    gt = {"a": ("hello", "world"), "c": [{"x": "1", "y": {"z": "q"}}, {"x": "2"}]}
    pred = {"a": "hello!", "c": [{"x": "2"}, {"x": "1", "y": {"z": "qq"}}], "d": "new"}
    score, closest, keys = anls_score(gt, pred, return_gt=True, return_key_scores=True)
    assert score == pytest.approx((5 / 6 + 1 + 1 + 0.5) / 5)
    assert closest == {"a": "hello", "c": [{"x": "2"}, {"x": "1", "y": {"z": "q"}}], "d": None}
    assert (keys["c"].children["x"].score, keys["d"].score) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("gt", "pred", "score"),
    [
        (12345, 12346, 0.8),
        (100, 101, 2 / 3),
        (1, 1.0, 0.0),
        ("100", 100, 1.0),
        (True, 1, 0.0),
        (True, "true", 1.0),
        (["a", "b"], "b", 1.0),
        (None, [], 1.0),
        ("", None, 0.0),
        ({"a": "x", "b": None}, {"a": "x"}, 1.0),
        ({"a": "x"}, {"a": "x", "b": None}, 0.5),
        ({"a": [100, 2]}, {"a": [101]}, 1 / 3),
        ([], [], 1.0),
        ({}, {"a": "x"}, 0.0),
        ({"k": [("a", ["b", "c"])], "d": "x"}, {"k": [], "d": "x"}, 1 / 3),
        ({"k": ["a", {"b": "y", "c": "z"}], "d": "x"}, {"k": ["a"], "d": "x"}, 0.5),
        ("text", {"a": "x", "b": "y"}, 0.0),
    ],
)
def test_scores_of_small_values(gt, pred, score):
    assert anls_score(gt, pred) == pytest.approx(score)


@pytest.mark.parametrize(
    ("gt", "pred", "score"),
    [
        (12345, 12346, 0.0),
        (1, 1.0, 1.0),
        (10**20, 1e20, 1.0),
        ("100", 101, 2 / 3),
        (True, 1, 0.0),
        ({"a": [1, 2]}, {"a": [2.0]}, 0.5),
        ((1, 2), 2.0, 1.0),
        (["a", "b"], "b", 1.0),
    ],
)
def test_numbers_are_compared_by_value_under_a_name_of_their_own(gt, pred, score):
    assert anls_star_numbers(gt, pred) == pytest.approx(score)


def test_both_scores_return_the_ground_truth_as_it_was_given():
    for score in (anls_score, anls_star_numbers):
        assert score({"a": (7, 12345)}, {"a": 12345}, return_gt=True) == (1.0, {"a": 12345})
        mean, keys = score({"a": 5, "b": 5}, {"a": 5}, return_key_scores=True)
        assert (mean, keys["a"].score, keys["b"].score) == (0.5, 1.0, 0.0)


def test_a_higher_threshold_takes_partial_credit_away():
    assert anls_score("abcd", "abce") == 0.75
    assert anls_score("abcd", "abce", threshold=0.8) == 0.0
    assert anls_star_numbers("abcd", "abce", threshold=0.8) == 0.0


@pytest.mark.parametrize("pred", [("a",), {"k": ("a",)}, [("a",)], {"other": [["b", ("a",)]]}])
@pytest.mark.parametrize("gt", ["a", None, [], ["a"], {"k": "a"}])
def test_a_tuple_anywhere_in_the_prediction_is_refused(gt, pred):
    with pytest.raises(
        TypeError, match="a prediction must be a single value; only ground truth may be a tuple"
    ):
        anls_score(gt, pred)


@pytest.mark.parametrize("gt", [(), {"k": ()}, [()], ["a", [()]]])
@pytest.mark.parametrize("pred", ["a", {}, [], ["b"]])
def test_an_empty_tuple_anywhere_in_the_ground_truth_is_refused(gt, pred):
    with pytest.raises(
        ValueError, match="the ground truth is an empty tuple, so it contains no correct value"
    ):
        anls_score(gt, pred)


def test_the_work_is_that_of_each_letter_of_one_value_with_each_of_the_other():
    assert ANLSStarComparator().steps(np.array([3, 2]), np.array([4, 1])) == 100 * (12 + 2)
    assert ANLSStarComparator().steps(np.array([], np.intp), np.array([], np.intp)) == 0


def test_the_comparator_takes_values_of_any_shape():
    compare = ANLSStarComparator().compare
    assert compare({"a": "x", "b": "y"}, {"b": "y"}) == 0.5
    assert compare(["a", "b"], "a") == 0.0
    assert compare(None, {}) == 0.0
    assert ANLSStarComparator(leaf_threshold=0.9).compare("abcd", "abce") == 0.0
    with pytest.raises(KeywordError, match="leaf_threshold is 2"):
        ANLSStarComparator(leaf_threshold=2)


def test_the_mean_over_documents_is_the_same_in_parts():
    pairs = [("alpha", "alpha"), ("alpha", "alphb"), ("alpha", None)]
    documents = [MeasuredDocument(str(index), *pair, 1.0) for index, pair in enumerate(pairs)]
    total, first, remaining = AnlsStar(), AnlsStar(), AnlsStar()
    assert total.result() is None

    for document in documents:
        total.add(document)
    first.add(documents[0])
    remaining.add(documents[1])
    remaining.add(documents[2])
    remaining.merge(first)

    assert total.result() == remaining.result() == pytest.approx((1 + 0.8 + 0) / 3)


WITH_NUMBERS = [
    ({"a": 12.5, "b": [1, 2]}, {"a": 12.75, "b": [1, 3]}),
    ({"a": 1000, "b": True}, {"a": "1000", "b": False}),
    ({"a": {"b": 5.0}}, {"a": {"b": 5}}),
]


@pytest.mark.parametrize(("gt", "pred"), WITH_NUMBERS)
def test_the_metric_takes_numbers_for_texts_as_published_figures_do(gt, pred):
    official = pytest.importorskip("anls_star")
    assert AnlsStar.score(gt, pred) == pytest.approx(official.anls_score(gt, pred))
    assert AnlsStarNumbers.score(gt, pred) == anls_star_numbers(gt, pred)


def test_numbers_as_texts_may_be_nearly_right():
    gt, pred = {"a": 12.5}, {"a": 12.6}
    assert (AnlsStar.score(gt, pred), AnlsStarNumbers.score(gt, pred)) == (0.75, 0.0)
