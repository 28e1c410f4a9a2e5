"""What columns compute from their values: codes, list items, entries and confidences."""

import json

import numpy as np
import pytest

from stickler_cli.compare.columns import ABSENT, ARRAY, LEAF, NOTHING, OBJECT, Columns


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        (["ab", "bc", "ab", None, ""], ["bc", "cd", None]),
        ([1, 2, None], [2, 1]),
        ([1, 1.0], [1.0, 1]),
        ([True, 1, 1.0, "1", None, ""], [1, True, "1", 1.0]),
        ([0, False, 0.0], [False]),
    ],
)
def test_equal_values_of_one_type_have_one_code_on_both_sides(gt, pred):
    gt, pred = json.loads(json.dumps([gt, pred]))  # equal texts that are not the same
    codes = Columns(gt, pred).codes

    value_codes = [*zip(gt, codes.gt[:-1].tolist(), strict=True)]
    value_codes += zip(pred, codes.pred[:-1].tolist(), strict=True)
    for value, code in value_codes:
        if value is None or value == "":
            assert code == NOTHING
        else:
            assert (codes.values[code], type(codes.values[code])) == (value, type(value))
    names = {(type(value), value): code for value, code in value_codes if code != NOTHING}
    assert sorted(names.values()) == [*range(len(codes.values))]
    assert (codes.gt[-1], codes.pred[-1]) == (NOTHING, NOTHING)


def test_a_slot_holds_nothing_a_scalar_an_object_or_a_list():
    gt, pred = Columns(["", 0, {"a": [None]}, {"a": 1}], [[{}], [1], None, "x"]).kinds

    assert gt.tolist() == [ABSENT, LEAF, ABSENT, OBJECT, ABSENT]
    assert pred.tolist() == [ABSENT, ARRAY, ABSENT, LEAF, ABSENT]
    texts, _ = Columns(["", "x", None], []).kinds
    assert texts.tolist() == [ABSENT, LEAF, ABSENT, ABSENT]


def test_confidences_go_with_the_values_of_the_prediction():
    columns = Columns([{}, {}, {}], [{"a": 1, "b": None, "c": [2, None, 3]}, {"c": 4}, {"a": 5}])
    columns.confidences = [{"a": 0.1, "b": 0.2, "c": [0.3, 0.4, 0.5]}, None, {"a": 0.6}]

    _, entries, values, names = columns.entries
    assert [names[place] for place in entries.indexes] == ["a", "c", "c", "a"]
    assert values.confidences == [0.1, [0.3, 0.4, 0.5], None, 0.6]
    field = columns.fields(("c",))
    assert field.confidences == [[0.3, 0.4, 0.5], None, None]
    _, lists, elements = field.elements
    assert elements.pred == [2, 3, 4]
    assert elements.confidences == [0.3, 0.5, None]
    assert lists.lengths.tolist() == [2, 1, 0, 0]
    assert lists.select(np.array([1, 0]))[0].tolist() == [2, 0, 1]


def test_elements_beyond_the_confidences_of_their_list_have_none():
    columns = Columns([[]], [[2, 4, 6]])
    columns.confidences = [[0.2, 0.4]]

    assert columns.elements[2].confidences == [0.2, 0.4, None]


@pytest.mark.parametrize("n_absent", [0, 3, 100])
def test_fields_are_read_from_objects_however_few_of_the_values_are_objects(n_absent):
    others = [None] * n_absent
    gt = [*others, {"a": {"b": 1}, "c": "x"}, *others]
    pred = [{"a": "no object", "c": ""}, *others]
    columns = Columns(gt, pred)

    inner = columns.fields(("a",))
    assert (inner.gt, inner.pred) == ([*others, {"b": 1}, *others], ["no object", *others])
    innermost = inner.fields(("b",))
    assert (innermost.gt, innermost.pred) == ([*others, 1, *others], [None, *others])
    assert innermost.kinds[0].tolist() == [*[ABSENT] * n_absent, LEAF, *[ABSENT] * n_absent, ABSENT]
    several = columns.fields(("a", "c"))
    assert several.gt == [*inner.gt, None, *others, "x", *others]
    assert several.pred == [*inner.pred, None, "", *others]
