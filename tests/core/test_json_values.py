"""JSON values: in messages, written as lines and read back, and which of them are absent."""

import json
from typing import Any

import pytest

from stickler_cli.core.json_values import (
    Absence,
    ReadingRule,
    brief,
    canonical_json,
    describe_python_type,
    doubled_names,
    is_absent,
    json_line,
    says_nothing,
    without_absent,
)
from stickler_cli.core.problems import UsageError
from stickler_cli.core.rules import encoded
from stickler_cli.records.codec import decode


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("document", "canonical"),
    [
        ({"b": 1, "a": "x", "c": None}, b'{"a":"x","b":1}'),
        ({"b": 2**70, "a": "\udc80"}, b'{"a": "\\udc80", "b": 1180591620717411303424}'),
    ],
)
def test_equal_content_has_equal_bytes(document: Any, canonical: bytes):
    assert canonical_json(document) == canonical
    assert canonical_json(dict(reversed(document.items()))) == canonical


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ({"a": [1, None], "é": "\n"}, r'{"a": [1, null], "é": "\n"}'),
        ("x" * 78, '"' + "x" * 78 + '"'),
        ("x" * 79, '"' + "x" * 76 + "..."),
        (1 + 2j, '"(1+2j)"'),
    ],
)
def test_a_message_shows_a_value_as_json_in_at_most_80_characters(value: object, printed: str):
    assert brief(value) == printed


def test_a_message_names_the_type_of_a_value_but_a_class_itself():
    assert describe_python_type(1) == "of type int"
    assert describe_python_type(ReadingRule) == "the class ReadingRule, not an instance of it"


def test_of_what_python_does_not_print_a_message_shows_the_kind():
    assert brief(10**5000) == "(integer, too large to show)"
    assert brief({"a": 10**5000}) == "(object, too large to show)"
    assert brief(nested(100_000)) == "(array, too large to show)"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"b": 1, "a": "é"}, '{"b":1,"a":"é"}'),
        ((1, [2.5, None]), "[1,[2.5,null]]"),
        ({"a": 2**64, "b": "é"}, '{"a":18446744073709551616,"b":"é"}'),
        (nested(300), "[" * 301 + "]" * 301),
        ("\ud800é", '"\\ud800é"'),
    ],
)
def test_a_value_is_one_line_of_json_though_orjson_does_not_write_it(value: object, line: str):
    assert json_line(value) == line.encode() + b"\n"
    assert json.dumps(json.loads(json_line(value))) == json.dumps(value)


Counts = dict[tuple[str, ...], int]


def test_a_dictionary_whose_keys_are_no_texts_is_read_of_the_pairs_that_are_written_of_it():
    counts = {("a", "b"): 1, (): 2}

    assert encoded(counts) == [[("a", "b"), 1], [(), 2]]
    assert decode(Counts, json.loads(json_line(encoded(counts)))) == counts
    assert decode(dict[int, str], [[1, "a"]]) == {1: "a"}
    assert decode(Counts, []) == decode(Counts, {}) == {}


@pytest.mark.parametrize(
    ("pairs", "pointer", "value", "expected"),
    [
        (3, "", 3, "an object"),
        ([1], "", [1], "an object"),
        ([[["a"], 1, 2]], "", [[["a"], 1, 2]], "an object"),
        (["ab"], "", ["ab"], "an object"),
        ([[{}, 1]], "/0/0", {}, "an array"),
        ([[[["a"]], 1]], "/0/0/0", ["a"], "a string"),
        ([["a", 1]], "/0/0", "a", "an array"),
        ([[["a"], 1], [[1], 1]], "/1/0/0", 1, "a string"),
        ([[["a"], 1], [["b"], "2"]], "/1/1", "2", "a whole number of at least 0"),
    ],
)
def test_what_are_no_pairs_of_a_key_and_a_value_is_refused(
    pairs: object, pointer: str, value: object, expected: str
):
    with pytest.raises(UsageError) as refused:
        decode(dict[str, Counts], {"counts": pairs}, "run.json")

    finding = f"run.json#/counts{pointer}: the value is {json.dumps(value)}, expected {expected}"
    assert str(refused.value) == finding


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        [],
        {},
        [None],
        ["", [], {}],
        [[[None]]],
        {"a": None},
        {"a": "", "b": []},
        {"a": {"b": {"c": None}}},
        {"a": [{"b": ""}]},
        [{"a": None}],
    ],
)
def test_nothing_in_any_form_is_absent(value):
    assert is_absent(value)
    assert Absence()(value)


@pytest.mark.parametrize(
    "value",
    [0, 0.0, False, True, "  ", "\n", "a", [0], [None, False], {"a": 0}, {"a": None, "b": "x"}],
)
def test_zero_false_and_blanks_are_values(value):
    assert not is_absent(value)
    assert not Absence()(value)


def test_values_inside_each_other_are_looked_into_once(monkeypatch):
    absence, value = Absence(), ["x"]
    for _ in range(50):
        value = [value]
    looks = []
    monkeypatch.setattr(Absence, "__call__", lambda *given: looks.append(1) or look(*given))

    while isinstance(value, list):
        assert not absence(value)
        value = value[0]

    assert len(looks) <= 3 * 52


look = Absence.__call__


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"a": None, "b": [1, "", [None, 2]], "c": {"d": []}}, {"b": [1, [2]]}),
        ([{"a": None, "b": 0}, {}, "x"], [{"b": 0}, "x"]),
        ({}, {}),
        ("", ""),
        (False, False),
    ],
)
def test_absent_parts_are_taken_out_at_every_level(value, left):
    assert without_absent(value) == left


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("united   STATES", "USA"),
        ("usa", "USA"),
        ("UnitedStates", "UnitedStates"),
        (1, "one"),
        (1.0, 1.0),
        ("-", None),
        (" N/A\n", None),
        (False, None),
        (0, 0),
        (7, None),
        (7.0, None),
        ("7", "7"),
        (["-"], ["-"]),
    ],
)
def test_a_value_is_read_as_its_name_or_as_nothing(value, read):
    reading = ReadingRule({"USA": ["US", "United States"], "one": ["1"]}, ["-", "n/a", False, 7])

    assert repr(reading(value)) == repr(read)


def test_a_text_has_one_name_and_a_name_is_one_of_its_texts():
    aliases = {"USA": ["US", "usa"], "Soviet Union": ["USSR", " us "], "USSR": []}

    assert [*doubled_names(aliases)] == [
        (" us ", "USA", "Soviet Union"),
        ("USSR", "Soviet Union", "USSR"),
    ]


@pytest.mark.parametrize(
    ("text", "nothing"), [("N/A", True), (" not  Available ", True), ("-", True), ("NA", False)]
)
def test_some_texts_say_that_there_is_nothing(text, nothing):
    assert says_nothing(text) is nothing
