"""Keys are added to a JSON text, and the rest of the text stays the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.locations import json_pointer
from stickler_cli.documents.reading import with_keys

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def objects_in(value, path=()):
    if isinstance(value, dict):
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for step, child in members:
        if isinstance(child, dict | list):
            yield from objects_in(child, (*path, step))


def expected(value, added, path=()):
    match value:
        case dict():
            inner = {key: expected(child, added, (*path, key)) for key, child in value.items()}
            return inner | added.get(path, {})
        case list():
            return [expected(child, added, (*path, index)) for index, child in enumerate(value)]
        case _:
            return value


@given(
    st.dictionaries(st.text(), VALUES, max_size=4),
    st.data(),
    st.sampled_from([None, 2, "\t"]),
    st.sampled_from([None, (",", ":"), (", ", " : ")]),
    st.booleans(),
)
def test_what_is_added_is_there_and_the_rest_as_it_was(value, data, indent, separators, ascii_):
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_)
    chosen = data.draw(st.sets(st.sampled_from([*objects_in(value)])))
    keys = st.dictionaries(st.text(), st.integers(), min_size=1, max_size=2)
    added = {path: data.draw(keys) for path in chosen}

    annotated = with_keys(text, {json_pointer(path): keys for path, keys in added.items()})

    assert json.loads(annotated) == expected(value, added)
    assert list(json.loads(annotated))[: len(value)] == list(value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{}", '{"k": 1, "l": {"m": 2}}'),
        ('{"a":1}', '{"a":1,"k":1,"l":{"m": 2}}'),
        ('{ "a": {"k": 2} }', '{ "a": {"k": 2}, "k": 1, "l": {"m": 2} }'),
        (
            '{\n\t"a": [],\n\t"b": 2\n}\n',
            '{\n\t"a": [],\n\t"b": 2,\n\t"k": 1,\n\t"l": {"m": 2}\n}\n',
        ),
        ('{\r\n  "k": 5 }', '{\r\n  "k": 1,\r\n  "l": {"m": 2} }'),
        ('{"k": "a, }\\"", "b": 1}', '{"k": 1, "b": 1, "l": {"m": 2}}'),
    ],
)
def test_new_keys_are_written_as_those_before_them(text, found):
    assert with_keys(text, {"": {"k": 1, "l": {"m": 2}}}) == found


def test_a_value_that_is_an_object_or_a_list_makes_way_as_a_whole():
    text = '{"k": {"x": [1]}, "l": [{"y": 2}, {}, {}], "m": 3}'
    assert with_keys(text, {"": {"k": "é", "l": []}}) == '{"k": "é", "l": [], "m": 3}'
    assert with_keys(text, {"/l/2": {"z": 1}, "/k": {"x": 0}}) == (
        '{"k": {"x": 0}, "l": [{"y": 2}, {}, {"z": 1}], "m": 3}'
    )


def test_what_was_to_be_added_inside_a_value_that_makes_way_is_gone_with_it():
    text = '{"k": {"x": {"y": 1}}, "l": {}}'
    added = {"/k": {"x": 2, "z": 3}, "/k/x": {"y": 4}, "": {"k": 5}, "/l": {"m": 6}}

    assert with_keys(text, added) == '{"k": 5, "l": {"m": 6}}'


def test_a_colon_is_written_as_that_of_the_first_member():
    assert with_keys('{"a":1,"b" : 2}', {"": {"k": 1}}) == '{"a":1,"b" : 2,"k":1}'
