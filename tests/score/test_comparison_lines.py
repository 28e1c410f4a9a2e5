"""A comparison as lines of an HTML page, limited to the room that there is."""

import json

import pytest

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score import detail
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.detail import tree_line
from .batches import compare

PLAN = compile_schema({"type": "array", "items": {"type": "string"}})


def rows(count):
    """Return a list of right items with this number of lines."""
    values = [f"{index}" for index in range(count)]
    return json.loads(tree_line(compare(PLAN, values, values)))


@pytest.mark.parametrize(("count", "rest"), [(5, []), (7, [2])])
def test_as_many_lines_as_there_is_room_for_have_their_values(monkeypatch, count, rest):
    monkeypatch.setattr(detail, "MAX_ROWS", 5)
    lines = rows(count)

    assert (lines[4][1], lines[4][-2:]) == ("[4]", ['"4"', '"4"'])
    assert lines[5:] == rest


def test_a_comparison_by_itself_is_of_a_document_without_a_name():
    (result,) = batch_of_unit(compare(PLAN, ["a"], ["a"])).results

    assert (result.id, result.score) == ("", 1.0)
