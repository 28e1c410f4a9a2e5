"""Values that count as absent, list items that are dropped, and fields that are ignored."""

import numpy as np
import pytest

from stickler_cli.compare import engine
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.open import SchemasNode
from stickler_cli.compare.plan import Mode, Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view

DASH = {"x-aws-stickler-absent-values": ["-"]}


def ignoring(**said):
    return {"type": "string", "x-aws-stickler-ignore": True, **said}


def counts_of(schema, gt, pred):
    account = engine.compare(compile_schema(schema), [gt], [pred])
    view = comparison_view(batch_of_unit(tree_of(account, 0)))
    counts = view["confusion_matrix"]["leaves"]
    return {name: counts[name] for name in ("tp", "fd", "fa", "fn", "tn") if counts[name]}, [
        error["field_path"] for error in view["non_matches"]
    ]


def errors_of(schema, gt, pred):
    account = engine.compare(compile_schema(schema), [gt], [pred])
    view = comparison_view(batch_of_unit(tree_of(account, 0)))
    return {
        non_match["field_path"]: (non_match["ground_truth_value"], non_match["prediction_value"])
        for non_match in view["non_matches"]
    }


NOTED = {"type": "object", "properties": {"a": {"type": "string"}, "n": ignoring()}}


@pytest.mark.parametrize(
    ("field", "gt", "pred", "expected"),
    [
        (NOTED, {"a": "x", "n": "1"}, {"a": "x", "n": "2"}, ({"tp": 1}, [])),
        (NOTED, None, {"n": "2"}, ({"tn": 1}, [])),
        (NOTED, {"n": "2"}, {}, ({"tn": 1}, [])),
        (NOTED, {"a": "x"}, {"n": "2"}, ({"fn": 1}, ["o", "o.a"])),
        (
            {"type": "object", "properties": {"p": NOTED}},
            None,
            {"p": {"n": "2"}},
            ({"tn": 1}, []),
        ),
        (
            {"type": "object", "properties": {"p": {"type": "array", "items": NOTED}}},
            {"p": [{"n": "1"}, {"a": "x"}]},
            {"p": [{"a": "x"}, {"n": "2"}, {"n": "3"}]},
            ({"tp": 1}, []),
        ),
        ({"type": "array", "items": ignoring()}, ["a"], ["b"], ({}, [])),
        (
            {"type": "array", "prefixItems": [{"type": "string", **DASH}]},
            ["-", "y"],
            ["-", "y"],
            ({"tp": 1}, []),
        ),
        (
            {
                "type": "object",
                "patternProperties": {"^x": ignoring()},
                "additionalProperties": {"type": "string"},
            },
            {"x1": "a", "b": "c"},
            {"x1": "b", "x2": "c", "b": "c"},
            ({"tp": 1}, []),
        ),
        (
            {"type": "object", "additionalProperties": ignoring()},
            {"x1": "a"},
            {"x2": "c"},
            ({"tn": 1}, []),
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string", **DASH}},
            {"a": "-", "b": "c"},
            {"b": "c", "c": "-", "d": "x"},
            ({"tp": 1, "fa": 1}, ["o", "o.d"]),
        ),
        (
            {"anyOf": [{"type": "string", **DASH}, {"type": "number"}]},
            "-",
            7,
            ({"fa": 1}, ["o"]),
        ),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "string"}, **DASH}},
            [["-"], ["a"]],
            [["a"], ["-", "-"]],
            ({"tp": 1}, []),
        ),
        (
            {"type": "array", "prefixItems": [ignoring(), {"type": "string"}], "items": ignoring()},
            ["a", "b", "c"],
            ["x", "b", "y"],
            ({"tp": 1}, []),
        ),
        (
            {"type": "object", "properties": {"n": ignoring()}, "additionalProperties": True},
            None,
            {"n": "x"},
            ({"tn": 1}, []),
        ),
        (
            {
                "type": "object",
                "properties": {"n": ignoring()},
                "additionalProperties": {"type": "string"},
            },
            {"n": "x", "m": "y"},
            {"n": "z", "m": "y"},
            ({"tp": 1}, []),
        ),
        (
            {
                "type": "object",
                "properties": {"n": ignoring()},
                "additionalProperties": {"type": "string"},
            },
            None,
            {"n": "z"},
            ({"tn": 1}, []),
        ),
        (DASH, "-", None, ({"tn": 1}, [])),
        ({"x-aws-stickler-distinct": True}, ["a", "a"], ["a"], ({"tp": 1}, [])),
        ({"anyOf": [ignoring(), ignoring(type="number")]}, "a", 3, ({}, [])),
        ({"anyOf": [{"type": "integer"}, {"type": "string", **DASH}]}, None, "-", ({"tn": 1}, [])),
        (
            {
                "type": "object",
                "properties": {
                    "p": {"anyOf": [{"type": "integer"}, {"type": "string", **DASH}]},
                    "q": {"type": "string"},
                },
            },
            {"q": "x"},
            {"q": "x", "p": "-"},
            ({"tp": 1, "tn": 1}, []),
        ),
    ],
)
def test_nobody_looks_at_what_is_ignored_or_stands_for_nothing(field, gt, pred, expected):
    schema = {"type": "object", "properties": {"o": field}}

    assert counts_of(schema, {"o": gt}, {"o": pred}) == expected


def test_documents_of_a_schema_are_never_nothing():
    assert SchemasNode(threshold=0.0, plans={}).counts_as_absent({}) is False


def test_documents_of_several_schemas_are_recorded_and_never_only_scored():
    none = np.zeros(0, np.intp)

    with pytest.raises(AssertionError, match="can be evaluated, but cannot be scored"):
        SchemasNode(threshold=0.0, plans={}).similarity(
            Columns([], []), none, none, Options(), Mode.DOCUMENTS
        )


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object", "additionalProperties": {"type": "string", **DASH}},
        {"type": "object", "properties": {name: {"type": "string", **DASH} for name in "kl"}},
    ],
)
def test_values_that_are_nothing_are_shown_as_they_stand_in_maps_and_objects(field):
    schema = {"type": "object", "properties": {"f": field}}
    errors = errors_of(schema, {"f": {"k": "-", "l": "a"}}, {"f": {"k": "x", "l": "-"}})

    assert errors["f.k"] == ("-", "x")
    assert errors["f.l"] == ("a", "-")


def test_values_that_are_nothing_are_shown_as_they_stand_in_tuples():
    field = {"type": "array", "prefixItems": [{"type": "string", **DASH}] * 3}
    schema = {"type": "object", "properties": {"f": field}}

    assert errors_of(schema, {"f": ["-", "a", "-"]}, {"f": ["x", "-", "-"]}) == {
        "f[0]": ("-", "x"),
        "f[1]": ("a", "-"),
    }
