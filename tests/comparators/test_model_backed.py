"""Comparators that need a model: without it, they fail instead of comparing in another way."""

import pytest

from stickler_cli.clients.embeddings import vector_of
from stickler_cli.clients.model import GarbledError
from stickler_cli.comparators import (
    BERTComparator,
    LLMComparator,
    SemanticComparator,
)
from stickler_cli.comparators.base import KeywordError
from stickler_cli.core.problems import ModelError

VECTORS = {
    "east": [2, 0],
    "north": [0, 3],
    "north-east": [1, 1],
    "west": [-1, 0],
    "nowhere": [0, 0],
    "far east": [1e300, 0],
}


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
    requested = []

    def embedding(text):
        requested.append(text)
        return VECTORS[text]

    comparator = SemanticComparator(embedding_function=embedding)
    comparator.similarities(["east", "north", "east"], ["north", "west", "west"])

    assert requested == ["east", "north", "west"]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"a": [], "b": [1]}, "not return a sequence of finite numbers"),
        ({"a": 1, "b": 1}, "not return a sequence of finite numbers"),
        ({"a": [[1]], "b": [[1]]}, "not return a sequence of finite numbers"),
        ({"a": [float("nan")], "b": [1]}, "not return a sequence of finite numbers"),
        ({"a": "text", "b": [1]}, "not return a sequence of finite numbers"),
        ({"a": [1, 2], "b": [1]}, "embeddings of different lengths, 2 and 1"),
        ({"b": [1]}, "KeyError: 'a'"),
    ],
)
def test_an_embedding_that_cannot_be_used_is_an_error(vectors, message):
    comparator = SemanticComparator(embedding_function=vectors.__getitem__)

    with pytest.raises(ModelError, match=message):
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
        (BERTComparator, "model_type", "", 'model_type is "", expected a string that is not empty'),
        (BERTComparator, "num_layers", 0, "num_layers is 0, expected a whole number of at least 1"),
        (BERTComparator, "num_layers", True, "num_layers is true, expected a whole number"),
        (BERTComparator, "rescale_with_baseline", 1, "rescale_with_baseline is 1, expected true"),
        (BERTComparator, "lang", None, "lang is null, expected a string"),
        (LLMComparator, "model", None, "model is null, expected a string"),
        (LLMComparator, "model", object(), "model is an instance of object, expected a"),
    ],
)
def test_a_keyword_that_cannot_be_used_is_refused(comparator, keyword, value, message):
    with pytest.raises(KeywordError, match=message) as caught:
        comparator(**{keyword: value})

    assert caught.value.keyword == keyword


@pytest.mark.parametrize(
    ("keyword", "value", "message"),
    [
        ("eval_guidelines", 5, "eval_guidelines is 5, expected a string that is not empty"),
        ("scale", "1-5", 'scale is "1-5", expected 0-1'),
        ("votes", 2, "votes is 2, expected an odd whole number of at least 1"),
        ("votes", -1, "votes is -1, expected an odd whole number of at least 1"),
        ("votes", True, "votes is true, expected an odd whole number of at least 1"),
    ],
)
def test_a_keyword_of_a_judge_that_cannot_be_used_is_refused(keyword, value, message):
    with pytest.raises(KeywordError) as caught:
        LLMComparator("a-model", **{keyword: value})

    assert (str(caught.value), caught.value.keyword) == (message, keyword)


def test_other_digits_make_texts_unlike_without_a_question():
    def embed(text):
        raise AssertionError(text)

    semantic = SemanticComparator(embedding_function=embed, same_digits=True)

    assert semantic.compare("5 mg", "50 mg") == 0.0
    assert BERTComparator(same_digits=True).compare("5 mg", "50 mg") == 0.0


def test_an_embedding_is_kept_with_numbers_that_the_cache_can_give_back():
    assert vector_of([3e300, -4e300]).tolist() == [0.75, -1.0]
    with pytest.raises(GarbledError, match="not return a sequence of finite numbers"):
        vector_of([float("nan"), 1.0])
