import numpy as np
import pytest

from stickler_cli.comparators import BBoxIoUComparator, FuzzyComparator, LevenshteinComparator
from stickler_cli.comparators.base import Answers, BaseComparator
from stickler_cli.comparators.comparator_registry import construct
from stickler_cli.compare.leaf import MAX_CACHED_LAYOUT, LeafNode
from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import Outcome
from stickler_cli.core.problems import ComparisonError, ModelError, UsageError
from .nodes import (
    a_list,
    alike,
    an_object,
    anything,
    compared,
    compared_together,
    exact,
    figures,
    pairs_of,
    table,
    text,
)


class Fixed(BaseComparator):
    """A comparator that returns the same similarity for all pairs."""

    def __init__(self, answer=1.0):
        super().__init__()
        self.answer = answer

    def compare(self, gt, pred):
        return self.answer


class Failing(BaseComparator):
    """A comparator that fails unless the values are equal."""

    def compare(self, gt, pred):
        if gt == pred:
            return 1.0
        raise LookupError("no such model")


def fixed(answer):
    return LeafNode(threshold=0.5, comparator=Fixed(answer))


def failing():
    return LeafNode(threshold=0.5, comparator=Failing())


@pytest.mark.parametrize("nothing", [None, "", [], {}, {"a": None}, [[]]])
def test_one_absent_side_scores_0_and_shows_as_none(nothing):
    leaf = text()

    assert figures(compared(leaf, "a", nothing)) == ("leaf", "a", None, Outcome.FN, 0.0, 0.0, 0.5)
    assert figures(compared(leaf, nothing, "a")) == ("leaf", None, "a", Outcome.FA, 0.0, 0.0, 0.5)


@pytest.mark.parametrize("wrong", [{"a": 1}, [1], [[1]]])
def test_an_object_or_list_against_a_leaf_is_one_false_discovery(wrong):
    expected = (Outcome.FD, 0.0, 0.0)
    for gt, pred in (("a", wrong), (wrong, "a")):
        comparison = compared(text(threshold=0.0, other=anything()), gt, pred)

        assert comparison.shape == "leaf"
        assert (comparison.outcome, comparison.similarity, comparison.score) == expected


def test_a_comparator_that_takes_lists_sees_them_whole():
    box = LeafNode(threshold=0.5, comparator=BBoxIoUComparator())

    # Two unit squares beside one another by half: 0.5 shared of 1.5.
    assert alike(box, [0, 0, 1, 1], [0.5, 0, 1.5, 1]) == pytest.approx(1 / 3)
    assert compared(box, [0, 0, 1, 1], [0, 0, 1, 1]).outcome is Outcome.TP


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -0.1, 1.1, -float("inf")])
def test_a_similarity_that_is_no_number_from_0_to_1_is_an_error(answer):
    message = (
        rf"Fixed failed when it compared \"a\" with \"b\": the similarity is {answer!r}, "
        r"expected a number in \[0, 1\]$"
    )
    with pytest.raises(ComparisonError, match=message):
        alike(fixed(answer), "a", "b")
    with pytest.raises(ComparisonError, match=message):
        table(fixed(answer), ["a"], ["b"])
    with pytest.raises(ComparisonError, match=message):
        compared(fixed(answer), "a", "b")


@pytest.mark.parametrize(
    ("answer", "similarity"), [(1 + 1e-9, 1.0), (1 + 1e-10, 1.0), (-1e-9, 0.0), (1, 1.0)]
)
def test_the_noise_of_floats_is_kept_out(answer, similarity):
    assert alike(fixed(answer), "a", "b") == similarity
    assert table(fixed(answer), ["a"], ["b"]) == [[similarity]]


def test_a_comparator_that_fails_is_an_error_with_its_cause():
    with pytest.raises(ComparisonError) as caught:
        alike(failing(), "a", "b")

    sentence = 'comparator Failing failed when it compared "a" with "b": LookupError: no such model'
    assert str(caught.value) == sentence
    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.path == ()


def test_a_failure_names_the_properties_that_lead_to_it():
    inner = an_object(price=failing())
    plan = an_object(order=an_object(lines=a_list(inner)))
    gt, pred = ({"order": {"lines": [{"price": price}]}} for price in (1, 2))

    for call in (alike, compared):
        with pytest.raises(
            ComparisonError, match=r"^in field order\.lines\.price, comparator Failing"
        ) as caught:
            call(plan, gt, pred)
        assert caught.value.path == ("order", "lines", "price")
        assert isinstance(caught.value.__cause__, LookupError)
    with pytest.raises(ComparisonError, match=r"^in field order\.lines\.price, comparator Failing"):
        table(plan, [gt], [pred])


def test_a_matrix_with_values_of_other_kinds_compares_the_rest():
    leaf = text(other=anything())
    matrix = table(leaf, ["ab", {"k": "v"}], ["ab", {"k": "v"}, ["ab"]])

    assert matrix == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


class OnePair(BaseComparator):
    """A comparator that fails on one pair of values.

    It has only `compare`, so values are compared pair by pair.
    """

    def compare(self, gt, pred):
        if (gt, pred) == ("c", "z"):
            raise LookupError("no such model")
        return 0.5


@pytest.mark.parametrize("position", range(5))
def test_the_pair_of_a_column_that_a_comparator_fails_on_is_named(position):
    gts, preds = ["a", "b", "d", "e"], ["v", "w", "x", "y"]
    gts.insert(position, "c")
    preds.insert(position, "z")

    with pytest.raises(ComparisonError, match=r'failed when it compared "c" with "z": LookupError'):
        compared_together(LeafNode(threshold=0.5, comparator=OnePair()), gts, preds)


def test_many_values_that_are_equal_as_the_comparator_reads_them_are_alike():
    gts = [*(f"{index}-a" for index in range(12)), "x", ""]
    preds = [*(f" {index} A!" if index % 3 else f"{index + 1}-A" for index in range(12)), "", "x"]

    comparisons = compared_together(exact(), gts, preds)

    expected = ["TP" if index % 3 else "FD" for index in range(12)]
    assert [comparison.outcome.name for comparison in comparisons] == [*expected, "FN", "FA"]
    assert [comparison.similarity for comparison in comparisons] == [
        *(float(bool(index % 3)) for index in range(12)),
        0,
        0,
    ]


class Slow(BaseComparator):
    """A comparator that ignores case, and compares one pair at a time."""

    def compare(self, gt, pred):
        return float(gt.lower() == pred.lower())


def test_items_without_a_common_key_pair_by_what_is_dear_to_compare():
    slow = LeafNode(threshold=0.5, comparator=Slow())
    node = a_list(an_object(code=exact(), name=slow, match_threshold=0.5))
    names = "abcdefg"
    gt = [{"code": f"1{name}", "name": name} for name in names]
    pred = [{"code": f"2{name}", "name": name.upper()} for name in reversed(names)]

    comparison = compared(node, gt, pred)

    assert pairs_of(comparison) == [(index, 6 - index, "TP") for index in range(7)]
    assert comparison.score == 0.5


class Asked(BaseComparator):
    """A model comparator that gives the answers it was made with."""

    asks_models = True
    same_value = True

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def similarity(self, gt, pred):
        raise AssertionError("a model is asked")

    def ask(self, client, gt, pred):
        if isinstance(self.answer, Exception):
            raise self.answer
        return Answers(np.array(self.answer[: len(gt)], float))


def compare_with_answer(answer):
    leaf = LeafNode(threshold=0.5, comparator=Asked(answer))
    return compared_together(leaf, ["a", "", "e", "b", "c"], ["x", "w", "e", "y", "z"])


def test_a_model_is_asked_about_unequal_values_that_both_sides_have():
    assert [comparison.similarity for comparison in compare_with_answer([0.25, 0.5, 1.0])] == [
        0.25,
        0.0,
        1.0,
        0.5,
        1.0,
    ]


class Judge(Asked):
    """A judge that calls every pair equal, and records the client and the pairs."""

    pairing = LevenshteinComparator()
    client: object = None

    def __init__(self):
        super().__init__([1.0] * 9)
        self.asked = []

    def ask(self, client, gt, pred):
        self.client = client
        self.asked += zip(gt, pred, strict=True)
        return super().ask(client, gt, pred)


def test_a_judge_is_asked_by_the_client_of_the_run_about_pairs_chosen_without_it():
    judge, client = Judge(), object()
    node = a_list(LeafNode(threshold=0.5, comparator=judge))

    comparison = compared(node, ["abcd", "wxyz"], ["wxy", "abc"], Options(client=client))

    assert pairs_of(comparison) == [(0, 1, "TP"), (1, 0, "TP")]
    assert judge.asked == [("abcd", "abc"), ("wxyz", "wxy")]
    assert judge.client is client


def test_a_model_that_does_not_answer_is_an_error_that_names_the_pair():
    message = r'when it compared "c" with "z": ModelError: refused'
    with pytest.raises(ComparisonError, match=message):
        compare_with_answer(ModelError("refused", 2))
    with pytest.raises(ComparisonError, match=r'when it compared "a" with "x": LookupError: gone'):
        compare_with_answer(LookupError("gone"))


UNREADABLE = [
    ("DateComparator", -5, -5.0, 1),
    ("DateComparator", "soon", "Soon", 0),
    ("DateComparator", True, True, 1),
    ("DateComparator", False, 0, 0),
    ("NumericComparator", "n/a", "n/a", 1),
    ("NumericComparator", "n/a", "N/A", 0),
    ("NumericComparator", False, False, 1),
    ("NumericComparator", False, 0, 0),
    ("NumericComparator", True, 1.0, 0),
    ("BBoxIoUComparator", [1, 1, 1, 1], [1.0, 1, 1, 1], 1),
    ("BBoxIoUComparator", [1, 1, 1, 1], [1, 1, 2, 1], 0),
    ("BBoxIoUComparator", [0, 0, 0, 0], [False, 0, 0, 0], 0),
    ("BBoxIoUComparator", [[1, 2], [3]], [[1, 2], [3]], 1),
    ("BBoxIoUComparator", "none", "none", 1),
    ("BBoxIoUComparator", [0, 0, 1, 1], [2, 2, 3, 3], 0),
]


@pytest.mark.parametrize(("name", "gt", "pred", "similarity"), UNREADABLE)
def test_a_value_that_cannot_be_read_matches_the_same_json_value(name, gt, pred, similarity):
    comparator = construct(name, {})
    node = LeafNode(threshold=0.5, comparator=comparator)

    assert comparator.compare(gt, pred) == 0.0
    assert alike(node, gt, pred) == similarity
    assert alike(node, pred, gt) == similarity
    other_values = ["2024-01-02", 7, 7.5]  # what else is there decides nothing
    together = compared_together(node, [gt, *other_values], [pred, *other_values])
    assert [comparison.similarity for comparison in together] == [similarity, 1, 1, 1]


def outcomes_of(node, gts, preds):
    """Return the outcome and the similarity of each pair of values."""
    comparisons = compared_together(node, gts, preds)
    return [(comparison.outcome.name, comparison.similarity) for comparison in comparisons]


def test_long_texts_are_compared_in_full_by_who_does_not_know_them_beforehand():
    words = LeafNode(threshold=0.5, comparator=FuzzyComparator("token_sort_ratio"))
    gt, pred = "one two " * 200, "two one " * 200

    assert outcomes_of(words, [gt, gt], [pred, "x" * 1600]) == [("TP", 1.0), ("FD", 0.0)]


def test_what_keeps_a_model_from_being_asked_at_all_ends_the_run():
    with pytest.raises(UsageError):
        compare_with_answer(UsageError("no key"))


def test_long_texts_have_the_similarity_that_they_have_alone():
    gt, like, unlike = "a" * 2000, "a" * 1990 + "b" * 10, "b" * 2000

    assert outcomes_of(text(), [gt], [like]) == [("TP", 0.995)]
    expected = [("TP", 0.995), ("FD", 0.0), ("TP", 0.5)]
    assert outcomes_of(text(), [gt, gt, "ab"], [like, unlike, "a"]) == expected


def test_many_values_that_are_all_alike_are_compared_by_themselves():
    texts = [f"{index} A" for index in range(12)]

    assert {*outcomes_of(exact(), texts, [value.lower() for value in texts])} == {("TP", 1.0)}


def test_pairs_of_few_objects_are_laid_out_once():
    (block,) = an_object(a=text(), b=text()).segments
    few = block.layout(3)

    large = block.layout(MAX_CACHED_LAYOUT + 1)

    assert len(large.pair) == 2 * (MAX_CACHED_LAYOUT + 1)
    assert block.layout(3) is few
