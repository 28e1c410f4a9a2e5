"""Comparators that need a model: none of them ever falls back to something simpler."""

import pytest

from stickler_cli.comparators import (
    BERTComparator,
    BertComparator,
    LLMComparator,
    SemanticComparator,
)
from stickler_cli.comparators.base import KeywordError
from stickler_cli.errors import UnavailableError

WITHOUT_BACKEND = [SemanticComparator(), BERTComparator(), LLMComparator("a-model")]

VECTORS = {
    "east": [2, 0],
    "north": [0, 3],
    "north-east": [1, 1],
    "west": [-1, 0],
    "nowhere": [0, 0],
    "far east": [1e300, 0],
}


@pytest.mark.parametrize("comparator", WITHOUT_BACKEND, ids=lambda comparator: comparator.name)
def test_without_a_backend_a_run_is_refused_before_it_starts(comparator):
    with pytest.raises(UnavailableError) as caught:
        comparator.require()

    (problem,) = caught.value.problems
    assert comparator.name in problem.found
    assert "FuzzyComparator" in problem.hint


@pytest.mark.parametrize("comparator", WITHOUT_BACKEND, ids=lambda comparator: comparator.name)
def test_without_a_backend_even_equal_values_get_no_score(comparator):
    with pytest.raises(UnavailableError):
        comparator.compare("same", "same")
    with pytest.raises(UnavailableError):
        comparator.matrix([comparator.prepare("same")], [comparator.prepare("same")])


def test_without_a_backend_there_are_no_details_of_a_judgement():
    with pytest.raises(UnavailableError):
        LLMComparator("a-model").get_comparison_details("a", "b")


def test_the_older_name_is_the_same_class():
    assert BertComparator is BERTComparator
    assert BertComparator().name == "BERTComparator"


def test_with_an_embedding_function_nothing_else_is_required():
    SemanticComparator(embedding_function=VECTORS.__getitem__).require()


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("east", "east", 1.0),
        ("east", "far east", 1.0),
        ("east", "north", 0.0),
        ("east", "north-east", 0.5**0.5),
        ("east", "west", 0.0),
        ("nowhere", "nowhere", 0.0),
    ],
)
def test_a_semantic_similarity_is_the_cosine_but_never_negative(gt, pred, similarity):
    comparator = SemanticComparator(embedding_function=VECTORS.__getitem__)

    assert comparator.compare(gt, pred) == pytest.approx(similarity, abs=1e-12)


def test_each_distinct_text_is_embedded_once_for_a_column():
    asked = []

    def embedding(text):
        asked.append(text)
        return VECTORS[text]

    comparator = SemanticComparator(embedding_function=embedding)
    comparator.matrix(["east", "north", "east"], ["north", "west", "west"])

    assert asked == ["east", "north", "west"]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"a": [], "b": [1]}, "no sequence of finite numbers"),
        ({"a": 1, "b": 1}, "no sequence of finite numbers"),
        ({"a": [[1]], "b": [[1]]}, "no sequence of finite numbers"),
        ({"a": [float("nan")], "b": [1]}, "no sequence of finite numbers"),
        ({"a": [1, 2], "b": [1]}, "embeddings of 2 and 1 numbers"),
    ],
)
def test_an_embedding_that_cannot_be_used_is_an_error(vectors, message):
    comparator = SemanticComparator(embedding_function=vectors.__getitem__)

    with pytest.raises(ValueError, match=message):
        comparator.compare("a", "b")


@pytest.mark.parametrize(
    ("comparator", "keyword", "value", "message"),
    [
        (SemanticComparator, "model_id", "", 'model_id is "", expected a string that is not empty'),
        (SemanticComparator, "model_id", 3, "model_id is 3, expected a string"),
        (SemanticComparator, "sim_function", "dot", 'sim_function is "dot", expected cosine_sim'),
        (SemanticComparator, "embedding_function", "f", 'function is "f", expected a Python func'),
        (SemanticComparator, "threshold", True, "threshold is true"),
        (BERTComparator, "threshold", 2, "threshold is 2"),
        (LLMComparator, "model", None, "model is null, expected a string"),
    ],
)
def test_a_keyword_that_cannot_be_used_is_refused(comparator, keyword, value, message):
    with pytest.raises(KeywordError, match=message) as caught:
        comparator(**{keyword: value})

    assert caught.value.keyword == keyword


def test_guidelines_that_are_no_text_are_refused():
    with pytest.raises(KeywordError, match="eval_guidelines is 5") as caught:
        LLMComparator("a-model", eval_guidelines=5)

    assert caught.value.keyword == "eval_guidelines"
