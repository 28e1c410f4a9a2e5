"""Lines of values in a document."""

import json

from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.locations import json_pointer
from stickler_cli.documents.reading import lines_in
from stickler_cli.studies.lint.document_rules import value_at, values_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_lines_of_values_at_any_depth():
    text = b'{\n "a": {"b,}": [\n1,\n {"c/d": "x\\"]"}]},\n\n "e": []}'
    wanted = {"", "/a", "/a/b,}", "/a/b,}/0", "/a/b,}/1/c~1d", "/e", "/none"}
    assert lines_in(text, wanted) == {
        "": 1,
        "/a": 2,
        "/a/b,}": 2,
        "/a/b,}/0": 3,
        "/a/b,}/1/c~1d": 4,
        "/e": 6,
    }


@given(st.dictionaries(st.text(), JSON, min_size=1))
def test_every_value_is_found_on_the_line_where_it_is_written(document):
    values = [*values_of(document)]
    pointers = [json_pointer(value.path) for value in values]
    text = json.dumps(document, indent=1, ensure_ascii=False).encode()
    found = lines_in(text, set(pointers))
    lines = text.split(b"\n")
    for value, pointer in zip(values, pointers, strict=True):
        written = json.dumps(value.value, ensure_ascii=False).encode()
        assert lines[found[pointer] - 1].rstrip(b",").endswith(written)
        assert value_at(document, pointer) == value.value
