"""Values that match although they differ: their number by field, and the first examples."""

from itertools import permutations

import pytest

from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score import close_matches
from stickler_cli.score.close_matches import CloseExample, CloseMatches
from .batches import TEXT, X, a_list, an_object, batch, evaluate

NAME = {
    **TEXT,
    X + "comparator": "FuzzyComparator",
    X + "comparator-config": {"method": "token_sort_ratio", "same_words": True},
    X + "threshold": 0.8,
}
PLAN = compile_schema(
    an_object(
        buyer=NAME, items=a_list(NAME), roles={"type": "object", "additionalProperties": NAME}
    )
)
FORD, FJORD = "Ford Motors", "Fjord Motors"
DOCUMENTS = {
    "c": ({"buyer": FORD}, {"buyer": FJORD}),
    "a": ({"buyer": FORD, "items": ["Anna Smith", FORD]}, {"buyer": FORD, "items": [FJORD]}),
    "d": (
        {"buyer": FORD, "roles": {"ceo": FORD}},
        {"buyer": "Fordd Motors", "roles": {"ceo": FJORD}},
    ),
    "b": ({"buyer": "Delta Air Lines"}, {"buyer": "Delta Lines"}),
}


COMPARED = {name: batch(PLAN, {name: pair}) for name, pair in DOCUMENTS.items()}


def add_up(*names):
    """Add each document as a chunk of its own, in the given order."""
    total = CloseMatches()
    for name in names:
        chunk = CloseMatches()
        chunk.add(COMPARED[name], None)
        total.merge(chunk)
    return total


def test_values_are_counted_by_field_and_difference_with_two_examples():
    assert add_up(*DOCUMENTS).view() == {
        "close_matches": [
            {
                "field": "buyer",
                "difference": "a word more or less",
                "count": 1,
                "examples": [{"document": "b", "path": "buyer", "gt": "air", "pred": ""}],
            },
            {
                "field": "buyer",
                "difference": "other letters",
                "count": 2,
                "examples": [
                    {"document": "c", "path": "buyer", "gt": "ford", "pred": "fjord"},
                    {"document": "d", "path": "buyer", "gt": "ford", "pred": "fordd"},
                ],
            },
            {
                "field": "items",
                "difference": "other letters",
                "count": 1,
                "examples": [{"document": "a", "path": "items[1]", "gt": "ford", "pred": "fjord"}],
            },
            {
                "field": "roles.*",
                "difference": "other letters",
                "count": 1,
                "examples": [{"document": "d", "path": "roles.ceo", "gt": "ford", "pred": "fjord"}],
            },
        ]
    }


def add_together(documents):
    """Add all documents as one chunk."""
    total = CloseMatches()
    total.add(batch(PLAN, documents), None)
    return total


def test_order_and_chunks_make_no_difference():
    together = add_together(DOCUMENTS)

    for order in permutations(DOCUMENTS):
        assert add_up(*order) == together


def test_examples_are_those_of_the_first_documents_by_id():
    documents = {f"doc{number}": DOCUMENTS["c"] for number in (5, 3, 9, 1, 7)}
    (values,) = add_together(documents).by_field.values()

    assert values.count == 5
    assert [example.document for example in values.examples] == ["doc1", "doc3"]


def test_long_texts_are_cut():
    long_word = "ab" * 40
    documents = {"a": ({"buyer": f"Ford {long_word}"}, {"buyer": f"Ford {long_word}x"})}
    (values,) = add_together(documents).by_field.values()

    cut = long_word[:57] + "..."
    assert values.examples == [CloseExample("a", "buyer", cut, cut)]


def test_fields_beyond_the_first_are_not_counted_in_any_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(close_matches, "MAX_FIELD_DIFFERENCES", 2)
    results = [add_up(*order) for order in permutations(DOCUMENTS)]

    assert [*results[0].by_field] == [
        (("buyer",), "a word more or less"),
        (("buyer",), "other letters"),
    ]
    assert all(result == results[0] for result in results)


def test_a_run_file_keeps_them():
    evaluation = evaluate([batch(PLAN, DOCUMENTS)])
    read = read_evaluation({**evaluation.to_dict()})

    assert read.fold(CloseMatches) == evaluation.fold(CloseMatches)
    assert read == evaluation


def test_documents_whose_values_are_equal_or_wrong_have_none():
    documents = {
        "a": ({"buyer": FORD}, {"buyer": FORD}),
        "b": ({"buyer": FORD}, {"buyer": "Volvo"}),
    }
    assert add_together(documents).view() == {}
