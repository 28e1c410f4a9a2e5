"""Errors by field and class: the same counts for documents together and alone, in one order."""

from collections import Counter

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.causes import ErrorCounts, overall
from stickler_cli.score.errors.error_classes import ErrorClass
from .batches import batch

TEXT = {"type": "string", "x-aws-stickler-threshold": 1.0}
PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "a": TEXT,
            "b": {"type": "number"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"c": TEXT}}},
        },
    }
)
DOCUMENTS = {
    "missed": ({"a": "some words", "b": 7}, {}),
    "invented": ({}, {"a": "some words"}),
    "row": ({"a": "x", "rows": [{"c": "abcdef"}, {"c": "uvw"}]}, {"a": "x", "rows": []}),
    "wrong": (
        {"a": "Smith & Sons", "b": 12.5, "rows": [{"c": "abcdef"}]},
        {"a": "Smith&Sons", "b": 125, "rows": [{"c": "zzzzz"}]},
    ),
    "right": ({"a": "x"}, {"a": "x"}),
}


def counted(*names: str) -> ErrorCounts:
    """Count the errors of the named documents, each added alone."""
    error_counts = ErrorCounts()
    for name in names:
        single = batch(PLAN, {name: DOCUMENTS[name]})
        error_counts.add(single, None)
    return error_counts


def test_the_most_frequent_class_stands_first_and_equal_ones_in_their_order():
    classes = [ErrorClass.OTHER, ErrorClass.FORMAT, ErrorClass.OTHER, ErrorClass.MISSED_VALUE]
    fields = {("a",): Counter(classes[:2]), ("b",): Counter(classes[2:])}

    assert [*overall(fields).items()] == [
        (ErrorClass.OTHER, 2),
        (ErrorClass.MISSED_VALUE, 1),
        (ErrorClass.FORMAT, 1),
    ]
    view = ErrorCounts(fields=fields).view()["error_classes"]
    assert [*view["overall"].items()] == [("missed_value", 1), ("format", 1), ("other", 2)]
    assert view["total"] == 4
    assert [*view["fields"]] == ["a", "b"]
    assert [*view["fields"]["a"]] == ["format", "other"]
    assert view["units"] == {"total": 0, "overall": {}, "fields": {}}


def test_undeclared_keys_are_counted_together_at_their_object():
    pred = {"a": "x", "z": 4, "rows": [{"c": "abc", "x": 1, "y": 2}]}
    errors = ErrorCounts()
    errors.add(batch(PLAN, {"": ({"a": "x", "rows": [{"c": "abc"}]}, pred)}), None)

    assert errors.fields == {
        ("*",): {ErrorClass.INVENTED_VALUE: 1},
        ("rows", "*"): {ErrorClass.INVENTED_VALUE: 2},
    }
