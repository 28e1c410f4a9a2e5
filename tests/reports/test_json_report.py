import inspect
import json
import math
import sys
import tracemalloc
from functools import partial

import orjson
import pytest

from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports import formats
from stickler_cli.reports.json_report import json_text
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.record import run_record

render = partial(formats.render, "json")


def nested(depth):
    value = {"end": 1}
    for _ in range(depth):
        value = {"in": value}
    return value


def single(run_of, pred):
    return run_of(pairs=[DocumentPair("a", {"id": "1"}, {"id": "1", **pred})], single=True)


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -1, 0.1, 1e300, "", "a\n\"'\\/é東", [], {}, [[]], [{}], {"a": [1, {"b": []}]}],
)
def test_text_is_as_orjson_would_write_it(value):
    record = {"v": value, "w": [value, (value, value)]}
    expected = orjson.dumps(record, option=orjson.OPT_INDENT_2).decode()

    assert json.loads(json_text(record)) == json.loads(expected)
    assert json_text(record) == expected or not expected.isascii()


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**400])
def test_integers_of_any_size_are_kept(run_of, number):
    record = json.loads(render(single(run_of, {"extra": number}), TableStyle()))

    assert record["non_matches"][0]["prediction_value"] == number


def test_a_document_nested_deeper_than_orjson_goes_is_written(run_of):
    text = render(single(run_of, {"extra": nested(280)}), TableStyle())

    assert json.loads(text)["non_matches"][0]["prediction_value"] == nested(280)


def test_nesting_deeper_than_the_stack_is_written():
    assert json_text(nested(1500)).count('"in": {') == 1500


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("other_number", [0, 2**70])
def test_what_json_has_no_number_for_is_null(run_of, number, other_number):
    text = render(single(run_of, {"extra": [number, other_number]}), TableStyle())

    assert json.loads(text)["non_matches"][0]["prediction_value"] == [None, other_number]


def test_a_lone_surrogate_is_escaped_and_kept(run_of):
    text = render(run_of(pairs=[], file="caf\udce9.json"), TableStyle())

    assert text.isascii()
    assert json.loads(text)["schema"]["path"] == "caf\udce9.json"


def test_the_text_ends_with_one_line_break_either_way(run_of):
    for extra in (1, 2**70):
        text = render(single(run_of, {"extra": extra}), TableStyle())

        assert text.endswith("\n}\n")


@pytest.mark.slow
def test_a_record_of_many_levels_grows_with_them_and_not_with_blanks():
    def nested(levels):
        value: object = 2**64
        for _ in range(levels):
            value = {"of": value}
        return json_text(value)

    assert '\n    "of": {\n' in nested(300)
    assert len(nested(3_000)) - len(nested(2_000)) == 1_000 * len('{"of": }')


def wide(n_fields):
    """Return a schema with one object that has `n_fields` fields."""
    texts = {f"field_{index}": {"type": "string"} for index in range(n_fields)}
    fields = {"type": "object", "properties": texts}
    return {"type": "object", "properties": {"all": fields}}


VALUES = [DocumentPair("1", {"all": {"field_1": "x"}}, {"all": {"field_1": "y"}})]


@pytest.mark.slow
def test_a_run_of_many_fields_comes_in_small_pieces_that_orjson_would_write_as_one(run_of):
    run = run_of(wide(500), VALUES, intervals=True)

    chunks = [*formats.render_pieces("json", run, TableStyle())]
    record = run_record(run)
    record["causes"] = json.loads("".join(chunks))["causes"]  # with their texts

    assert "".join(chunks).encode() == orjson.dumps(
        record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    assert len(chunks) > 10
    assert max(map(len, chunks)) < 80_000


@pytest.mark.slow
def test_memory_of_json_does_not_grow_with_the_text(run_of):
    run = run_of(wide(800), VALUES, intervals=True)
    tracemalloc.start()
    try:
        n_characters = sum(map(len, formats.render_pieces("json", run, TableStyle())))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < n_characters / 2


@pytest.mark.slow
def test_fields_nested_deeper_than_the_stack_are_written(run_of):
    schema = {
        "type": "object",
        "properties": {"in": {"$ref": "#"}, "end": {"type": "integer"}},
    }
    document = nested(300)
    run = run_of(schema, [DocumentPair("1", document, document)])

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        text = render(run, TableStyle())
    finally:
        sys.setrecursionlimit(limit)

    # Reading recursion of the json module goes no deeper: the brackets show that it is whole.
    assert text.count('"in": {') >= 300
    assert text.count("{") == text.count("}")
    assert text.endswith("\n}\n")
