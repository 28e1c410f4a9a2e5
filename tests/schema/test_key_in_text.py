"""A key set in the text of a schema: everything else stays as it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.locations import json_pointer
from stickler_cli.schema.annotated_text import with_keys


@pytest.mark.parametrize(
    ("text", "pointer", "expected"),
    [
        ('{"a": {"k": 1, "b": 2}}', "/a", '{"a": {"k": 0.5, "b": 2}}'),
        ('{"a": {"b": [{"k": 1}]}}', "/a", '{"a": {"b": [{"k": 1}], "k": 0.5}}'),
        ('{"a": { "b" : 1 }}', "/a", '{"a": { "b" : 1, "k" : 0.5 }}'),
        ('{"a":{"x:y":":"}}', "/a", '{"a":{"x:y":":","k":0.5}}'),
        ('{"a": {}}', "/a", '{"a": {"k": 0.5}}'),
        ('{\r\n\t"a": 1\r\n}\r\n', "", '{\r\n\t"a": 1,\r\n\t"k": 0.5\r\n}\r\n'),
        ('{"a/b": [1, {"é": 1}]}', "/a~1b/1", '{"a/b": [1, {"é": 1, "k": 0.5}]}'),
        ('{"k": {"deep": [1]}, "z": 1}', "", '{"k": 0.5, "z": 1}'),
    ],
)
def test_a_key_is_set_in_the_layout_that_is_there(text, pointer, expected):
    assert with_keys(text, {pointer: {"k": 0.5}}) == expected


JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(
    st.dictionaries(st.text(), JSON),
    st.text(min_size=1),
    st.sampled_from([None, 2]),
    st.booleans(),
)
def test_only_the_key_changes_whatever_the_document_is(document, key, indent, inside):
    name = "inside"
    document = {**document, name: {"x": 1, "y": [2]}}
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    pointer = json_pointer((name,)) if inside else ""
    (document[name] if inside else document)[key] = 0.5
    assert json.loads(with_keys(text, {pointer: {key: 0.5}})) == document
