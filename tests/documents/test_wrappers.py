"""Wrappers, which are values with metadata, and the documents without them."""

import json

import pytest

from stickler_cli.core.json_values import least
from stickler_cli.documents.wrapper_forms import Form
from stickler_cli.documents.wrappers import FieldNameTree, Unwrapped, Unwrapper, add_confidences
from stickler_cli.schema.compiler import compile_schema

SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "number"},
        "measured": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "confidence": {"type": "number"}},
        },
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"qty": {"type": "integer"}}},
        },
        "rates": {"type": "object", "additionalProperties": {"type": "object"}},
    },
}
ROOT = compile_schema(SCHEMA).root


def bare(document, form=None):
    return Unwrapper(ROOT, form)(document)


@pytest.mark.parametrize(
    "wrapper",
    [
        {"_value": 5, "_confidence": 0.9},
        {"_value": 5, "_confidence": 0.9, "_bbox": [0, 0, 1, 1], "_page": 1, "other": "x"},
        {"value": 5, "confidence": 0.9},
        {"value": 5, "confidence": 0.9, "page": 2, "bounding_box": [1, 2, 3, 4]},
        {"type": "number", "valueNumber": 5, "content": 5, "confidence": 0.9, "spans": []},
        {"Value": 5, "Confidence": 0.9},
        {"mentionText": 5, "confidence": 0.9, "pageAnchor": {}, "normalizedValue": {"text": "5"}},
        {"Text": 5, "Confidence": 0.9, "Geometry": {}, "NormalizedValue": {"Value": "5"}},
        {"value": 5, "confidence": 0.9, "boundingRegions": [], "citations": [1], "source": "D(1)"},
        {"type": "currency", "content": 5, "confidence": 0.9},
        {
            "type": "number",
            "valueNumber": 5,
            "text": "5.0",
            "confidence": 0.9,
            "page": 1,
            "boundingBox": [1, 2],
            "elements": ["#/readResults/0"],
        },
    ],
)
def test_the_usual_forms_are_known(wrapper):
    unwrapped = bare({"total": wrapper})
    assert (unwrapped.value, unwrapped.confidences) == ({"total": 5}, {"total": 0.9})
    assert unwrapped.wrappers.total() == 1
    assert (unwrapped.inherited, unwrapped.problems) == (0, [])


@pytest.mark.parametrize(
    "value",
    [
        {"measured": {"value": 5, "confidence": 0.9}},  # declared there
        {"total": {"value": 5}},  # no confidence
        {"total": {"value": 5, "confidence": 0.9, "currency": "EUR"}},  # no metadata
        {"total": {"value": 5, "Value": 6, "confidence": 0.9, "Confidence": 1}},  # which?
        {"rates": {"value": 5, "confidence": 0.9}},  # any name is a field
    ],
)
def test_what_may_be_a_value_of_its_own_is_left_alone(value):
    unwrapped = bare(value)
    assert (unwrapped.value, unwrapped.confidences, unwrapped.wrappers.total()) == (value, None, 0)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"value": 5, "unit": "mg", "confidence": 0.9}, {"value": 5, "unit": "mg"}),
        (
            {"type": "PERSON", "Value": "Ada", "Confidence": 0.9, "page": 1},
            {"type": "PERSON", "Value": "Ada"},
        ),
        (
            {"mentionText": "12", "id": "7", "confidence": 0.9, "normalizedValue": {"text": "12"}},
            {"mentionText": "12", "id": "7"},
        ),
        (
            {"value_type": "number", "value": 5, "content": "5 kg", "confidence": 0.9, "spans": []},
            {"value_type": "number", "value": 5, "content": "5 kg"},
        ),
        # a key that is no metadata stays too
        (
            {"kind": "a", "value": 5, "properties": [1], "confidence": 0.9},
            {"kind": "a", "value": 5, "properties": [1]},
        ),
        # other words than the types of Azure are data
        (
            {"type": "PERSON", "content": "Ada", "confidence": 0.9},
            {"type": "PERSON", "content": "Ada"},
        ),
        (
            {"type": "string", "value": "Ada", "confidence": 0.9},
            {"type": "string", "value": "Ada"},
        ),
    ],
)
def test_an_object_with_other_data_stays_one_without_its_metadata(value, kept):
    unwrapped = bare({"total": value})
    assert unwrapped.value == {"total": kept}
    assert unwrapped.wrappers.total() == 0
    assert unwrapped.stated == {("total",): 0.9}
    assert unwrapped.skipped_keys == dict.fromkeys(value.keys() - kept.keys(), 1)
    assert set(unwrapped.confidences["total"]) == set(kept)


def test_a_key_that_the_schema_declares_is_no_metadata_of_an_object_that_stays():
    schema = {"properties": {"dose": {"properties": {"page": {"type": "integer"}}}}}
    root = compile_schema(schema).root
    dose = {"value": 5, "unit": "mg", "confidence": 0.5, "page": 3, "bbox": [1]}
    unwrapped = Unwrapper(root)({"dose": dose})
    assert unwrapped.value == {"dose": {"value": 5, "unit": "mg", "page": 3}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "array", "valueArray": [{"type": "string", "valueString": "a"}]}, ["a"]),
        (
            {"type": "object", "valueObject": {"a": {"type": "date", "valueDate": "2024-01-02"}}},
            {"a": "2024-01-02"},
        ),
        (
            {"type": "currency", "valueCurrency": {"amount": 12, "currencyCode": "USD"}},
            {"amount": 12, "currencyCode": "USD"},
        ),
        ({"type": "string", "confidence": 0.1}, None),
        ({"type": "string", "spans": [], "content": "a"}, "a"),
    ],
)
def test_azures_form_has_its_value_below_the_key_of_its_type(value, expected):
    unwrapped = bare({"total": value})
    assert unwrapped.value == {"total": expected}
    assert unwrapped.wrappers["azure"] >= 1


@pytest.mark.parametrize(
    "value",
    [
        {"type": "string", "valueString": "a", "unit": "kg"},  # other data
        {"type": "number", "valueNumber": 5, "valueString": "5"},  # two values
        {"type": "number", "valueNumber": 5, "text": "5", "confidence": 0.9},  # a text of its own
        {"type": "sensor", "valueNumber": 5},  # no type of Azure
        {"type": "number", "valueMax": 5},
        {"type": ["string"], "valueString": "a"},
        {"type": "string"},  # as in a JSON Schema
        {"type": "string", "length": 20},  # as a column is described
    ],
)
def test_an_object_with_a_type_and_other_data_is_left_alone(value):
    unwrapped = bare({"total": value})
    assert (unwrapped.value, unwrapped.is_changed) == ({"total": value}, False)


def test_in_a_document_of_azures_form_a_type_alone_is_an_absent_value():
    number = {"type": "number", "valueNumber": 5}
    unwrapped = bare({"total": {"type": "number"}, "more": [number], "note": {"type": "string"}})
    assert unwrapped.value == {"total": None, "more": [5], "note": None}
    assert unwrapped.skipped_keys == {"type": 3}


def test_a_place_that_declares_one_name_of_a_wrapper_is_none():
    amount = {"type": "object", "properties": {"value": {"type": "number"}}}
    schema = {"type": "object", "additionalProperties": amount, "properties": {"one": amount}}
    document = {"one": {"value": 5, "confidence": 0.9}, "any": {"value": 6, "confidence": 0.8}}
    unwrapped = Unwrapper(compile_schema(schema).root)(document)
    assert (unwrapped.value, unwrapped.wrappers.total()) == (document, 0)


def test_what_wrappers_say_beside_values_is_kept_by_place():
    sure = {"_value": 5, "_confidence": 1, "_page": 2}
    unwrapped = bare({"total": sure, "items": [{"qty": {"_value": 7, "unit": "kg"}}]})
    assert unwrapped.stated == {("total",): 1.0}
    assert unwrapped.metadata == {("total",): {"_page": 2}, ("items", 0, "qty"): {"unit": "kg"}}
    assert unwrapped.wrappers == {"_value": 2}
    assert unwrapped.problems == []
    twice = bare({"total": {"_value": {"_value": 5, "page": 2}, "_page": 3}})
    assert twice.metadata == {("total",): {"_page": 3, "page": 2}}


def test_of_what_is_compared_as_a_whole_the_least_confidence_counts():
    assert [least(confidence) for confidence in (None, 0.5, {}, [None], {"a": []})] == [
        None,
        0.5,
        *[None] * 3,
    ]
    assert least({"a": 0.5, "b": [0.3, None, {"c": 0.2}], "d": 0.9}) == 0.2


def test_text_that_may_hold_wrappers_is_known_by_its_bytes():
    marks = Unwrapper(ROOT, Form("Größe", "conf")).marks
    for written in (json.dumps({"Größe": 1}), json.dumps({"Größe": 1}, ensure_ascii=False)):
        assert any(mark in written.encode() for mark in marks)
    assert not any(mark in b'{"Gr": 1}' for mark in marks)
    for wrapper in ({"_value": 1}, {"value": 5, "confidence": 0.9}, {"Value": 5, "Confidence": 1}):
        assert any(mark in json.dumps(wrapper).encode() for mark in Unwrapper(ROOT).marks)


def test_objects_and_lists_hand_their_confidence_down():
    unwrapped = bare(
        {
            "items": {
                "_value": [{"qty": 1}, {"qty": {"_value": 2, "_confidence": 0.3}}, {"qty": None}],
                "_confidence": 0.8,
            }
        }
    )
    assert unwrapped.value == {"items": [{"qty": 1}, {"qty": 2}, {"qty": None}]}
    assert unwrapped.confidences == {"items": [{"qty": 0.8}, {"qty": 0.3}, {"qty": 0.8}]}
    assert unwrapped.inherited == 1  # nothing has no confidence to count


def test_the_nearest_wrapper_says_the_confidence_even_0():
    nested = {"_value": {"_value": 5, "_confidence": 0}, "_confidence": 0.9}
    assert bare({"total": nested}).confidences == {"total": 0.0}
    silent = {"_value": {"_value": 5}, "_confidence": 0.9}
    assert bare({"total": silent}).confidences == {"total": 0.9}


@pytest.mark.parametrize("confidence", [1.2, -0.1, "0.9", True, [], float("nan")])
def test_what_is_no_confidence_is_told_and_is_none(confidence):
    unwrapped = bare({"total": {"_value": 5, "_confidence": confidence}})
    assert (unwrapped.value, unwrapped.confidences) == ({"total": 5}, None)
    assert unwrapped.problems[0].startswith("/total/_confidence: the confidence is ")


def test_a_form_of_ones_own():
    unwrapped = bare({"total": {"wert": 5, "sicher": 0.4, "x": 1}}, Form("wert", "sicher"))
    assert (unwrapped.value, unwrapped.confidences) == ({"total": 5}, {"total": 0.4})
    assert bare({"total": {"_value": 5}}, Form("wert", "")).value == {"total": {"_value": 5}}


def test_confidences_may_come_beside_a_document():
    document = {"total": 5, "items": [{"qty": 1}, {"qty": 2}], "x": None, "y": "z"}
    confidences = {"total": 0.9, "items": [0.8, {"qty": 0.7}, {"qty": 0.1}], "x": 0.5, "other": 1}
    rated = add_confidences(Unwrapped(document), confidences)
    assert rated.value == document
    assert rated.confidences == {
        "total": 0.9,
        "items": [{"qty": 0.8}, {"qty": 0.7}],
        "x": 0.5,
        "y": None,
    }
    assert (rated.inherited, rated.problems) == (1, [])


def test_a_confidence_beside_a_list_is_that_of_its_values():
    document = bare({"total": 5, "items": [{"qty": 1}, {"qty": 2}]})
    rated = add_confidences(document, {"total": {"deep": 1}, "items": 0.5})
    assert rated.confidences == {"total": None, "items": [{"qty": 0.5}, {"qty": 0.5}]}
    assert add_confidences(document, {}).confidences is None
    wrapped = bare({"total": {"_value": 5}})
    assert add_confidences(wrapped, {"total": 0.5}).wrappers == {"_value": 1}


def test_names_of_fields_stand_for_the_fields():
    assert FieldNameTree.from_paths([("a", "b"), ("a", "c"), ("d",)]) == {
        "a": {"b": {}, "c": {}},
        "d": {},
    }
    names = FieldNameTree.from_paths([("total", "value")])
    document = {"total": {"value": 5, "confidence": 0.9}, "tax": {"value": 1, "confidence": 0.8}}
    assert Unwrapper(names)(document).value == {"total": document["total"], "tax": 1}


def test_what_is_no_confidence_beside_a_document_is_told():
    rated = add_confidences(Unwrapped({"total": 5}), {"total": "high"})
    assert rated.confidences is None
    assert rated.problems == ['/total: the confidence is "high"']


def test_fields_of_items_may_be_called_as_wrappers_are():
    item = {"type": "object", "properties": {"value": {}, "confidence": {}}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    document = {"items": [{"value": 5, "confidence": 0.9}]}

    unwrapped = Unwrapper(compile_schema(schema).root)(document)
    assert (unwrapped.value, unwrapped.wrappers.total()) == (document, 0)


def test_what_a_ground_truth_says_of_itself_is_of_its_type():
    bare = Unwrapper(None)(
        {"a": {"_value": 1, "_alternatives": 2, "_labelled": "no", "_exhaustive": False}},
        is_truth=True,
    )

    assert sorted(map(str, bare.misread)) == [
        "/a/_alternatives is 2, expected a list of values",
        '/a/_labelled is "no", expected true or false',
    ]
    gold = bare.gold.children["a"]
    assert (gold.labelled, gold.exhaustive, gold.alternatives) == (True, False, ())
