"""Decisions of docs/semantics.md, section 13, and rules that can be understood in two ways.

Each test goes through a schema, since most decisions are about how schemas are compiled.
"""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Plan
from stickler_cli.compare.tree import tree_of
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view

THRESHOLD = "x-aws-stickler-threshold"
CLIP = "x-aws-stickler-clip-under-threshold"
WEIGHT = "x-aws-stickler-weight"
AGGREGATE = "x-aws-stickler-aggregate"
TEXT = {"type": "string"}


def view_of(plan: Plan, gt: dict, pred: dict) -> dict:
    """Compare two documents; return the results as JSON values."""
    return comparison_view(batch_of_unit(tree_of(compare(plan, [gt], [pred]), 0)))


def result(field: object, gt: object, pred: object, **others: object) -> dict:
    """Compare two values of a field `a`; return the results as JSON values."""
    schema = {"type": "object", "properties": {"a": field, **others}}
    return view_of(compile_schema(schema), {"a": gt}, {"a": pred})


def counts(view: dict, mode: str = "overall") -> dict[str, int]:
    """Return the counts of the whole document that are not 0."""
    names = ("tp", "fd", "fa", "fn", "tn")
    node = view["confusion_matrix"][mode]
    return {name: node[name] for name in names if node[name]}


def test_values_of_different_kinds_are_a_false_discovery_even_at_threshold_0():
    assert counts(result({**TEXT, THRESHOLD: 0}, "x", {"y": 1})) == {"fd": 1}
    view = result({"type": "object", "properties": {"y": TEXT}, THRESHOLD: 0}, {"y": "x"}, "x")
    assert counts(view) == {"fd": 1}
    reason = view["non_matches"][0]["details"]["reason"]
    assert reason == "a value of type object cannot match a value of type string"


def test_a_value_of_another_kind_is_one_leaf_whatever_is_in_it():
    field = {"type": "object", "properties": {"y": TEXT, "z": TEXT}}
    view = result(field, {"y": "p", "z": "q"}, ["a", "b", "c"])
    assert counts(view, "leaves") == {"fn": 2, "fa": 1}


@pytest.mark.parametrize("field", [{"properties": {}}, {"additionalProperties": False}])
def test_an_object_that_declares_no_field_scores_1_and_its_keys_are_extra(field):
    view = result({"type": "object", **field}, {"k": "x"}, {"k": "y", "new": 1})
    assert view["field_scores"] == {"a": 1.0}
    assert [entry["field_path"] for entry in view["non_matches"]] == ["a.new"]


def test_of_date_or_text_a_text_that_is_no_date_is_text():
    field = {"anyOf": [{**TEXT, "format": "date"}, TEXT]}
    assert counts(result(field, "n/a", "n/a")) == {"tp": 1}
    assert counts(result(field, "2024-01-05", "Jan 5, 2024")) == {"tp": 1}


def test_an_arm_accepts_a_value_without_its_absent_parts():
    arms = [
        {"type": "object", "required": ["k"], "properties": {"k": {"const": kind}, name: TEXT}}
        for kind, name in (("A", "n"), ("B", "m"))
    ]
    view = result({"anyOf": arms}, {"k": "B", "m": None}, {"k": "B", "m": "x"})
    assert list(view["confusion_matrix"]["fields"]["a"]["fields"]) == ["k", "m"]


def test_clipping_says_nothing_about_two_values_that_share_another_kind():
    item = {"type": "object", "properties": {"s": {**TEXT, THRESHOLD: 0.9, CLIP: True}}}
    view = result({"type": "array", "items": item}, [{"s": ["p", "q"]}], [{"s": ["p", "z"]}])
    assert view["overall_score"] == 0.5
    assert counts(view) == {"fd": 1}


@pytest.mark.parametrize("items", [{}, TEXT])
def test_the_threshold_of_an_array_does_not_reach_the_elements_of_its_elements(items):
    field = {"type": "array", THRESHOLD: 0.7, "items": {"type": "array", "items": items}}
    assert counts(result(field, [["abcd", "p", "q"]], [["abxx", "p", "q"]]), "aggregate") == {
        "tp": 3
    }


def test_the_threshold_of_an_open_array_does_not_reach_them_either():
    view = result({"type": "array", THRESHOLD: 0.7}, [["abcd", "p", "q"]], [["abxx", "p", "q"]])
    assert counts(view, "aggregate") == {"tp": 3}


@pytest.mark.parametrize("items", [{}, {"type": "array"}, {"anyOf": [{"type": "array"}, TEXT]}])
def test_an_open_inner_list_passes_at_the_threshold_of_what_is_in_it(items):
    field = {"type": "array", "items": items}
    assert counts(result(field, [[True, False]], [[True, True]])) == {"fd": 1}
    objects = [{"k": 1, "l": 2}, {"k": 3}]
    assert counts(result(field, [objects], [[{"k": 1, "l": 2}, {"k": 4}]])) == {"fd": 1}


def test_the_weight_of_an_open_field_is_not_that_of_the_values_inside():
    fields = result({WEIGHT: 3}, {"k": "x"}, {"k": "x"})["confusion_matrix"]["fields"]
    assert fields["a"]["weight"] == 3
    assert fields["a"]["fields"]["k"]["weight"] == 1


@pytest.mark.parametrize("position", [{}, {"type": "object"}])
def test_clipping_on_a_tuple_reaches_leaves_and_not_objects(position):
    field = {"type": "array", "prefixItems": [position], CLIP: True}
    assert result(field, [{"k": 1, "l": 2}], [{"k": 1, "l": 3}])["overall_score"] == 0.5


SELF = {"$ref": "#/$defs/self"}


@pytest.mark.parametrize(
    "self",
    [
        {"type": "array", "items": SELF},
        {"type": "array", "items": {"anyOf": [SELF, {"type": "boolean"}]}},
        {"type": "array", "prefixItems": [SELF]},
    ],
)
@pytest.mark.parametrize("pred", ["x", "y", 5, {"k": 1}, ["x", 5]])
def test_a_value_that_would_be_a_list_of_one_for_ever_is_one_leaf(self, pred):
    schema = {"type": "object", "properties": {"a": SELF}, "$defs": {"self": self}}
    plan = compile_schema(schema)
    same = view_of(plan, {"a": "x"}, {"a": "x"})
    assert same["overall_score"] == 1.0
    view = view_of(plan, {"a": "x"}, {"a": pred})
    assert 0 <= view["overall_score"] <= 1
    assert view["all_fields_matched"] == (pred == "x")
    assert counts(view_of(plan, {}, {"a": "x"}), "leaves") == {"fa": 1}


def test_a_list_whose_items_contain_themselves_passes_at_their_match_threshold():
    item = {
        "type": "object",
        "x-aws-stickler-match-threshold": 0.95,
        "properties": {"n": TEXT, "inner": {"type": "array", "items": {"$ref": "#/properties/a"}}},
    }
    schema = {"type": "object", "properties": {"a": item}}
    gt = {"a": {"n": "x", "inner": [{"n": "abcdefghij"}]}}
    pred = {"a": {"n": "x", "inner": [{"n": "abcdefghix"}]}}
    view = view_of(compile_schema(schema), gt, pred)
    inner = view["confusion_matrix"]["fields"]["a"]["fields"]["inner"]["overall"]
    assert (inner["tp"], inner["fd"]) == (0, 1)
