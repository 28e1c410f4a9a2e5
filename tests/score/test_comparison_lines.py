"""A comparison as lines of an HTML page, limited to the room that there is."""

import json

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.detail import MAX_ROWS, tree_line
from .batches import compare

PLAN = compile_schema({"type": "array", "items": {"type": "string"}})


def rows(count):
    """Return a list of right items with this number of lines."""
    values = [f"{index}" for index in range(count)]
    return json.loads(tree_line(compare(PLAN, values, values)))


def test_as_many_lines_as_there_is_room_for_have_their_values():
    for count in (MAX_ROWS, MAX_ROWS + 2):
        *_, last = rows(count)[:MAX_ROWS]
        assert last[1] == f"[{MAX_ROWS - 1}]"
        assert last[-2:] == [f'"{MAX_ROWS - 1}"'] * 2
    assert rows(MAX_ROWS + 2)[MAX_ROWS:] == [2]


def test_a_comparison_by_itself_is_of_a_document_without_a_name():
    (result,) = batch_of_unit(compare(PLAN, ["a"], ["a"])).results

    assert (result.id, result.score) == ("", 1.0)
