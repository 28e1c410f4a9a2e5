"""JSON objects and lists that are found inside other text."""

import pytest

from stickler_cli.core.json_texts import MAX_LETTERS, MAX_LEVELS, read_json_text


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"a": 1}', {"a": 1}),
        (' [1, "b"]\n', [1, "b"]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}```\n', {"a": 1}),
        ('{"a": 12345678901234567890123}', {"a": 12345678901234567890123}),
        ('{"a": "\\ud800"}', {"a": "\ud800"}),
        ("[" * MAX_LEVELS + "]" * MAX_LEVELS, None),
        ([1], [1]),
        (3, 3),
    ],
)
def test_an_object_or_list_in_a_text_is_read(text, content):
    if content is not None:
        assert read_json_text(text) == content
    else:
        assert read_json_text(text) != text


@pytest.mark.parametrize(
    "text",
    [
        "3",
        '"a"',
        "",
        "{not json}",
        '{"a": 1',
        '[1] and {"a": 1}',
        "[NaN]",
        "[1234567890123456789012, NaN]",
        "``` {}```",
        "[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1),
        "[" * 100_000,
        "[" + " " * MAX_LETTERS + "]",
    ],
)
def test_any_other_text_stays_as_it_is(text):
    assert read_json_text(text) is text
