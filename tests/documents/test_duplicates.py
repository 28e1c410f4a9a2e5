import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import (
    BYTE_ORDER_MARK,
    DUPLICATE_KEYS,
    nothing_dropped,
    read_text,
)
from stickler_cli.documents.reading import doubled_keys, parse_json


def found_in(text: str) -> list[tuple[str, int]]:
    data = text.encode()
    value = parse_json(data, "a.json")
    assert not isinstance(value, Problem), value
    return [] if nothing_dropped(data, value) else doubled_keys(data)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "b": [{"é": 1, "é": 2}]}', [("é", 25)]),
        ('{"a":1,"a":2,"a":3}', [("a", 7), ("a", 13)]),
    ],
)
def test_each_further_occurrence_of_a_key_in_its_object_is_found_with_its_place(
    text: str, found: list[tuple[str, int]]
):
    assert found_in(text) == found


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": 1, "\u0061": "x"}',  # the same key, spelt in two ways
        r'{"a": "\u003a", "a": 2}',  # an escaped colon makes up for the key that is dropped
        r'{"a": "\u003A", "a": 2}',
        '{"a" \t\n:\r1, "a" : 2}',
        '{"a": 36893488147419103233, "a": 36893488147419103232}',
        '{"a": ' + "[" * 300 + "]" * 300 + ', "a": 1}',
        r'{"\"}": "{[,:", "\"}": "\\"}',
        '{"x": {"a": 1, "a": 2}, "x": 3}',  # one of them in a value that is itself dropped
    ],
)
def test_however_it_is_written_a_duplicate_is_found(text: str):
    assert found_in(text)


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "\u003a\":"}',
        '{"a": 36893488147419103233}',
        '{"a" : [], "b" : {}}',
        '{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}], "c": ["a", "a"]}',  # in different objects
    ],
)
def test_what_only_looks_odd_is_no_duplicate(text: str):
    assert found_in(text) == []


NAMES = st.sampled_from(["a", "b", ":", '"', 'a":', "\\", "\\u003a", "é", ""])
TREES = st.recursive(
    st.none() | st.integers() | NAMES | st.just(2**70),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=4).map(tuple)
    ),
    max_leaves=12,
)
"""Strategy for JSON values. An object is a tuple of (key, value), so that it can have a key twice.
"""


def spellings(text: str) -> st.SearchStrategy[str]:
    """Return a strategy for the ways to write a text in JSON."""
    character_spellings = [
        st.sampled_from([json.dumps(character)[1:-1], f"\\u{ord(character):04x}"])
        for character in text
    ]
    return st.tuples(*character_spellings).map(lambda pieces: f'"{"".join(pieces)}"')


@st.composite
def written(draw: st.DrawFn, tree: object) -> str:
    """Draw a JSON text for a value of `TREES`, with any white space and escapes."""
    blank = draw(st.sampled_from(["", " ", "\n\t"]))
    match tree:
        case tuple():
            members = [
                f"{draw(spellings(name))}{blank}:{draw(written(value))}" for name, value in tree
            ]
            return "{" + f"{blank},{blank}".join(members) + "}"
        case list():
            return "[" + f"{blank},".join(draw(written(child)) for child in tree) + "]"
        case str():
            return draw(spellings(tree))
        case _:
            return json.dumps(tree)


@given(TREES.flatmap(written))
def test_duplicates_are_those_that_a_reader_of_pairs_sees(text: str):
    seen: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        names = [name for name, _ in pairs]
        seen.extend(name for index, name in enumerate(names) if name in names[:index])

    json.loads(text, object_pairs_hook=note)

    assert sorted(name for name, _ in found_in(text)) == sorted(seen)


def test_a_document_with_duplicate_keys_is_read_and_warned_of():
    reading = read_text(b'{"a": 1,\n "\xc3\xa9": 0, "a": 2}', "a.json")

    assert reading.value == {"a": 2, "é": 0}
    assert reading.remarks == (DUPLICATE_KEYS,)
    assert [str(warning) for warning in reading.warnings] == [
        'a.json:2:10: the key "a" is repeated, expected each key only once; the last value counts'
    ]


def test_a_warning_names_one_key_and_counts_the_others():
    (warning,) = read_text(b'{"a": 1, "a": 2, "b": 1, "b": 1}', "a.jsonl", 7).warnings

    assert (warning.line, warning.column) == (7, 10)
    assert warning.found == 'the key "a" is repeated, and so is 1 other key'


def test_a_byte_order_mark_is_left_out_and_told():
    reading = read_text(b'\xef\xbb\xbf{"a": 1, "a": 2}', "a.json")

    assert reading.value == {"a": 2}
    assert reading.remarks == (BYTE_ORDER_MARK, DUPLICATE_KEYS)
    assert reading.warnings[0].column == 10


def test_a_text_that_cannot_be_read_has_no_duplicates():
    reading = read_text(b'{"a": 1, "a"}', "a.json")

    assert isinstance(reading.value, Problem)
    assert (reading.remarks, reading.warnings) == ((), ())


def test_a_plain_document_is_not_searched(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stickler_cli.documents.reading._TOKEN", None)
    sample = Path(__file__).parents[2] / "fixtures" / "invoice" / "gt"

    for file in sample.glob("*.json"):
        assert read_text(file.read_bytes(), file.name).warnings == ()
