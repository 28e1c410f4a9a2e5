import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import MOST_FOR_A_HINT, read_text
from stickler_cli.documents.lenient import find_document

A = '{"a": 1}'


def extractions_of(text: str) -> tuple[object, tuple[str, ...]] | None:
    document = find_document(text.encode())
    return None if document is None else (document.value, document.forms)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{A}\n```",
        f"Here it is:\n\n```JSON\r\n{A}\r\n```\nAnything else?",
        f"```\n{A}```",
        f"```{A}```",
        f"~~~json\n{A}\n~~~",
        f"```json\n{A}",  # broken off after the document
        f"```json\nThe result: {A} as asked.\n```",
        f"Not {json.dumps({'a': 2})} but\n```json\n{A}\n```",  # a fence goes first
        f"```sh\nstickler eval\n```\n```json\n{A}\n```",
        f'```json\n{{"b": 2}}\n```\nor\n```json\n{A}\n```\n',  # the last value counts
        f'```json\n{A}\n```\nI had {{"a": 5}} before.',
        f'```json\n{{"a": "```", "b": 2}}\n```\nor\n```json\n{A}\n```',
    ],
)
def test_json_is_taken_out_of_a_code_fence(text: str):
    assert extractions_of(text) == ({"a": 1}, ("fence",))


def test_a_fence_may_end_inside_a_string_of_the_json():
    text = '```json\n{"a": "use ```sh```", "b": [{}]}\n```'

    assert extractions_of(text) == ({"a": "use ```sh```", "b": [{}]}, ("fence",))


@pytest.mark.parametrize(
    "text",
    [
        f"Sure! {A}",
        f"{A} I hope this helps.",
        f"Braces {{like this}} are not JSON: {A}",
        f"Quoted: {{'a': 2}}; or, at last, {A}",
        f"{{'a': 2}} {A}\n[1]",  # no object
        f'first {{"b": 2}}, then {A}',
        f'{{"broken" 1}} and {A}',
        f'{{"a": 2}}\n{A}\n',
        f'The form {{"a": ...}} is filled: {A}',
        f"<think>Perhaps {json.dumps({'b': 2})}, or {{</think> {A}",
        f"Perhaps {json.dumps({'b': 2})}</think> {A}",
        f"<reasoning>\n```json\n{json.dumps({'b': 2})}\n```\n</reasoning>\n{A}",
    ],
)
def test_the_last_object_is_taken_out_of_prose(text: str):
    assert extractions_of(text) == ({"a": 1}, ("prose",))


def test_a_list_of_one_document_is_unwrapped():
    assert extractions_of(f"[{A}]") == ({"a": 1}, ("list",))
    assert extractions_of(f"```\n[{A}]\n```") == ({"a": 1}, ("fence", "list"))


def test_a_tag_inside_of_the_document_is_text():
    value = {"a": "<think>x</think> y"}
    assert extractions_of(f"So: {json.dumps(value)}") == (value, ("prose",))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('So:\n{"a": NaN, "b": {"c": 1}}', "a.json:2:7: NaN is not JSON"),
        ('{"a": 1e400, "b": {"c": 1}}', "a.json:1:7: not valid JSON: number is infinity"),
        ('<think>{"b": 2}</think>\n```json\n{"a": NaN}\n```', "a.json:3:7: NaN is not JSON"),
        ('{result: {"a": 1}}', "a.json:1:2: not valid JSON"),
    ],
)
def test_what_is_broken_is_told_with_its_place(text: str, place: str):
    problem = read_text(text.encode(), "a.json", None, "taken").value
    assert str(problem).startswith(place)


def test_a_list_of_one_in_prose_is_unwrapped():
    assert extractions_of(f"So: [{A}].") == ({"a": 1}, ("prose", "list"))


def test_a_string_is_looked_into_once():
    assert extractions_of(json.dumps(A)) == ({"a": 1}, ("string",))
    assert extractions_of(json.dumps(f"[{A}]")) == ({"a": 1}, ("string", "list"))
    assert extractions_of(json.dumps(f"```json\n{A}\n```")) == ({"a": 1}, ("string", "fence"))
    assert extractions_of(json.dumps(json.dumps(A))) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "null",
        "[]",
        "[1]",
        f"[{A}, {A}]",
        f'{A}, or rather {{"a": 2, "b": tr',  # the last one is broken off
        f'{A}, or rather {{"a": 2 "b": 3}}',
        '{"a": {"b": 1}, "c": ',  # broken off: its part is not the document
        '{"a": {"b": 1}, oops}',
        '```json\n{"a": NaN}\n```',
        '{"a": NaN, "b": {"c": 1}}',  # what stands after a broken place is inside, too
        '{"a": 1e400, "b": {"c": 1}}',
        'So: {"a": NaN, "b": {"c": 1}} as asked',
        'So: {"b": 2} or {"a": NaN}',
        '```json\n{"b": 2}\n```\nor\n```json\n{"a": NaN, "b": {"c": 1}}\n```',
        '{result: {"a": 1}}',
        "[{'b': 2}, {\"a\": 1}]",
        f"{{ {A}",
        f"<think>Perhaps {A}",  # it never ends
        f"<think>Perhaps {A}</think> I cannot tell.",
        f"So: [{A}, {A}]",
        "``````",
        "{}{}",
        json.dumps("no JSON"),
    ],
)
def test_where_there_is_no_document_none_is_found(text: str):
    assert extractions_of(text) is None


def test_an_empty_object_counts_in_a_fence_only():
    assert extractions_of("```json\n{}\n```") == ({}, ("fence",))
    assert extractions_of("so: {}") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 1, 'b': True, 'c': None, 'd': False}", {"a": 1, "b": True, "c": None, "d": False}),
        ("{'it\\'s': \"so 'it' is\", 'b': 'a \"b\"'}", {"it's": "so 'it' is", "b": 'a "b"'}),
        (
            "{'a': '\\x41\\u00e4\\n\\\\', 'b': '\\ud83d\\ude00'}",
            {"a": "A\u00e4\n\\", "b": "\U0001f600"},
        ),
        (
            "{'box': (1, 2, 3), 'one': (1,), 'none': (), 'a': (1)}",
            {"box": [1, 2, 3], "one": [1], "none": [], "a": 1},
        ),
        ("{'n': [1_000, .5, 5., +5, 1e3]}", {"n": [1000, 0.5, 5.0, 5, 1000.0]}),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        (
            '{ // the sum\n"a": 1, /* {checked} */ "b": "// no comment", # end\n}',
            {"a": 1, "b": "// no comment"},
        ),
        ('{"a": "x, ] y", "b": "True",}', {"a": "x, ] y", "b": "True"}),
    ],
)
def test_python_literals_comments_and_trailing_commas_are_read(text: str, value: object):
    assert extractions_of(text) == (value, ("relaxed",))
    assert extractions_of(f"```\n{text}\n```") == (value, ("fence", "relaxed"))


def test_a_comment_may_stand_before_the_document():
    assert extractions_of(f"# made by hand\n{A}") == ({"a": 1}, ("relaxed",))
    assert extractions_of(f"```\n// made by hand\n{A}\n```") == ({"a": 1}, ("fence",))


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1",
        "{'a': 1)}",
        "{'a': [,]}",
        "{'a': [1,,]}",
        "{'a': 1 2}",
        "{'a': nan}",
        "{'a': b'x'}",
        "{'a': {1, 2}}",
        "{'a': f(1)}",
        "{'a': 'x\ny'}",
        "{1: 'a'}",
        "{a: 1}",
    ],
)
def test_what_is_neither_json_nor_a_python_literal_of_json_values_is_none(text: str):
    assert extractions_of(text) is None


def test_a_hint_names_the_option_that_reads_python_literals():
    problem = read_text(b"{'a': 1}", "a.json", None, "hinted").value
    assert isinstance(problem, Problem)
    assert problem.hint.startswith("--lenient-json reads JSON with Python literals")


@pytest.mark.parametrize(
    ("kinds", "value"),
    [
        (("object",), {"a": 1}),
        (("array",), [{"b": 2}, {"b": 3}]),
        (("object", "array"), [{"b": 2}, {"b": 3}]),
        (("array", "object"), [{"b": 2}, {"b": 3}]),
    ],
)
def test_the_last_value_of_the_kind_of_documents_counts(kinds: tuple, value: object):
    document = find_document(f'{A} or [{{"b": 2}}, {{"b": 3}}]'.encode(), kinds)
    assert document is not None
    assert document.value == value


def test_bytes_that_are_no_text_hold_no_document():
    assert find_document(b'\xff {"a": 1}') is None


def test_integers_stay_exact():
    assert extractions_of(f'So: {{"a": {2**70}}}.') == ({"a": 2**70}, ("prose",))


HOSTILE = [
    "{'a':",
    "\\'",
    "/* ",
    "{#",
    "```[",
    "{'a",
    '{"a":"\\',
    "({'a':(",
    '{"',
    '{"a":',
    '{"a":[',
    '{"a" ',
    "[",
    "```",
    "```{",
    '"{',
    "{ ",
    '\\"{"',
    "~~~{]",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fragment", "size"), [("{", 2_000_000), *((fragment, 200_000) for fragment in HOSTILE)]
)
def test_hostile_text_does_not_take_for_ever(fragment: str, size: int):
    # Whatever looked from each brace to the end of the text would never come back.
    assert find_document((fragment * (size // len(fragment))).encode()) is None


@given(
    st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), min_size=1),
    st.text(st.characters(codec="utf-8", exclude_characters='{["`~')),
    st.text(st.characters(codec="utf-8", exclude_characters="{[`~")),
)
def test_any_document_is_found_in_any_text(value: dict, before: str, after: str):
    text = json.dumps(value, ensure_ascii=False)
    document = find_document(f"x{before}{text}{after}x".encode())

    assert document is not None
    assert (document.value, document.forms) == (value, ("prose",))


@given(st.text())
def test_no_text_raises(text: str):
    find_document(text.encode("utf-8", "replace"))


def test_only_where_it_is_allowed_is_a_document_taken_out():
    data = f"```json\n{A}\n```".encode()
    document = read_text(data, "a.json", None, "taken")
    hinted = read_text(data, "a.json", None, "hinted").value
    refused = read_text(data, "a.json").value

    assert (document.value, document.remarks) == ({"a": 1}, ("lenient", "lenient_fence"))
    assert isinstance(hinted, Problem)
    assert hinted.hint == "--lenient-json can read JSON in a Markdown code fence"
    assert isinstance(refused, Problem)
    assert refused.hint == "remove everything outside the Markdown code fence"


def test_a_large_text_is_looked_into_only_on_request():
    data = f"{A} {' ' * MOST_FOR_A_HINT}x".encode()
    hinted = read_text(data, "a.json", None, "hinted").value

    assert isinstance(hinted, Problem)
    assert hinted.hint == ""
    assert read_text(data, "a.json", None, "taken").value == {"a": 1}


def test_a_strict_document_is_no_lenient_one():
    reading = read_text(A.encode(), "a.json", None, "taken")

    assert (reading.value, reading.remarks) == ({"a": 1}, ())


def test_what_holds_no_document_keeps_its_problem():
    data = b"\xef\xbb\xbfnothing"

    assert read_text(data, "a.json", None, "taken") == read_text(data, "a.json")


def test_a_duplicate_key_is_told_with_its_place_in_the_whole_text():
    reading = read_text(b'Sure:\n{"a": 1, "a": 2}', "a.json", None, "taken")

    assert reading.remarks == ("lenient", "lenient_prose", "duplicate_keys")
    assert [warning.place for warning in reading.warnings] == ["a.json:2:10"]
    document_in_text = read_text(json.dumps('{"a": 1, "a": 2}').encode(), "a.json", None, "taken")
    assert document_in_text.value == {"a": 2}
    assert len(document_in_text.warnings) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('Sure:\n```json\n{"a": NaN}\n```', "a.json:3:7: NaN is not JSON"),
        ('Sure: {"a": [1, NaN]}', "a.json:1:17: NaN is not JSON"),
        ("```\n[{}, {}]\n```", "a.json:2:1: the document is of type array"),
        ('Sure: {"a": 1,\n "b"}', "a.json:2:5: not valid JSON"),
        ("nothing", "a.json:1:1: not valid JSON"),
        ('{"a": NaN} I hope this helps', "a.json:1:7: NaN is not JSON"),
    ],
)
def test_json_that_is_wrong_inside_other_text_is_told_with_its_place(text: str, message: str):
    problem = read_text(text.encode(), "a.json", None, "taken").value

    assert isinstance(problem, Problem)
    assert str(problem).startswith(message)
    assert "JSON Lines file" not in problem.hint.replace("into a JSON Lines file", "")


def test_in_json_lines_the_line_is_that_of_the_file():
    problem = read_text(b'Sure: {"a": NaN}', "a.jsonl", 7, "taken").value

    assert isinstance(problem, Problem)
    assert problem.place == "a.jsonl:7:13"
