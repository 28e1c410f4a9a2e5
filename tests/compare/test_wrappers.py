"""Values with metadata, and the documents without."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.compare.wrappers import Form, Unwrapped, Unwrapper, beside
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
        {"mentionText": 5, "confidence": 0.9, "pageAnchor": {}, "id": "7"},
    ],
)
def test_the_usual_forms_are_known(wrapper):
    found = bare({"total": wrapper})
    assert (found.value, found.confidences) == ({"total": 5}, {"total": 0.9})
    assert found.wrappers.total() == 1
    assert (found.inherited, found.problems) == (0, ())


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
    found = bare(value)
    assert (found.value, found.confidences, found.wrappers.total()) == (value, None, 0)


def test_objects_and_lists_hand_their_confidence_down():
    found = bare(
        {
            "items": {
                "_value": [{"qty": 1}, {"qty": {"_value": 2, "_confidence": 0.3}}, {"qty": None}],
                "_confidence": 0.8,
            }
        }
    )
    assert found.value == {"items": [{"qty": 1}, {"qty": 2}, {"qty": None}]}
    assert found.confidences == {"items": [{"qty": 0.8}, {"qty": 0.3}, {"qty": 0.8}]}
    assert found.inherited == 1  # nothing has no confidence to count


def test_the_nearest_wrapper_says_the_confidence_even_0():
    nested = {"_value": {"_value": 5, "_confidence": 0}, "_confidence": 0.9}
    assert bare({"total": nested}).confidences == {"total": 0.0}
    silent = {"_value": {"_value": 5}, "_confidence": 0.9}
    assert bare({"total": silent}).confidences == {"total": 0.9}


@pytest.mark.parametrize("confidence", [1.2, -0.1, "0.9", True, [], float("nan")])
def test_what_is_no_confidence_is_told_and_is_none(confidence):
    found = bare({"total": {"_value": 5, "_confidence": confidence}})
    assert (found.value, found.confidences) == ({"total": 5}, None)
    assert found.problems[0].startswith("/total/_confidence: the confidence is ")


def test_a_form_of_ones_own():
    found = bare({"total": {"wert": 5, "sicher": 0.4, "x": 1}}, Form("wert", "sicher"))
    assert (found.value, found.confidences) == ({"total": 5}, {"total": 0.4})
    assert bare({"total": {"_value": 5}}, Form("wert", "")).value == {"total": {"_value": 5}}


def test_a_whole_document_may_be_wrapped():
    found = bare({"_value": {"total": 5}, "_confidence": 0.5})
    assert (found.value, found.confidences, found.inherited) == ({"total": 5}, {"total": 0.5}, 1)


def test_confidences_may_come_beside_a_document():
    document = {"total": 5, "items": [{"qty": 1}, {"qty": 2}], "x": None, "y": "z"}
    given = {"total": 0.9, "items": [0.8, {"qty": 0.7}, {"qty": 0.1}], "x": 0.5, "other": 1}
    found = beside(Unwrapped(document), given)
    assert found.value == document
    assert found.confidences == {
        "total": 0.9,
        "items": [{"qty": 0.8}, {"qty": 0.7}],
        "x": 0.5,
        "y": None,
    }
    assert (found.inherited, found.problems) == (1, ())


def test_what_is_no_confidence_beside_a_document_is_told():
    found = beside(Unwrapped({"total": 5}), {"total": "high"})
    assert found.confidences is None
    assert found.problems == ('/total: the confidence is "high"',)


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


def _wrap(value, random):
    if isinstance(value, dict):
        value = {name: _wrap(part, random) for name, part in value.items()}
    elif isinstance(value, list):
        value = [_wrap(part, random) for part in value]
    return {"_value": value, "_confidence": 0.5} if random.random() < 0.5 else value


@given(st.dictionaries(st.sampled_from(["total", "items", "x"]), VALUES), st.randoms())
def test_what_is_wrapped_anywhere_comes_out_as_it_was(document, random):
    assert bare(_wrap(document, random)).value == document
