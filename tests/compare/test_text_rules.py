"""Which text fields are compared by letters, by their numbers, or by their words."""

import pytest

from stickler_cli.compare.text_rules import NOTES, texts_by_note
from stickler_cli.schema.compiler import compile_schema

X = "x-aws-stickler-"
LETTERS, NUMBERS, WORDS, SLIPS, MISSING, CASE = NOTES


def annotated(comparator, threshold=0.8, **config):
    return {
        "type": "string",
        X + "comparator": f"{comparator}Comparator",
        X + "threshold": threshold,
        X + "comparator-config": config,
    }


def notes_of(schema):
    return texts_by_note(compile_schema({"type": "object", "properties": {"a": schema}}))


@pytest.mark.parametrize(
    ("schema", "notes"),
    [
        ({"type": "string"}, [LETTERS]),
        (annotated("Fuzzy"), [LETTERS]),
        (annotated("Levenshtein", 1), []),
        (annotated("Normalized", same_digits=True), [CASE]),
        (annotated("Exact", case_sensitive=True), []),
        (annotated("Levenshtein", same_digits=True), [LETTERS, NUMBERS]),
        (annotated("Fuzzy", same_words=True), [WORDS, SLIPS, MISSING]),
        (annotated("Fuzzy", same_words=True, same_letters=True), [MISSING]),
        (annotated("Fuzzy", 1, same_words=True), []),
        (annotated("Fuzzy", same_words=True, same_digits=True), [NUMBERS, WORDS, SLIPS, MISSING]),
        (annotated("Numeric", unit="same"), [NUMBERS]),
        (annotated("Numeric"), []),
        ({"type": "array", "items": {"type": "string"}}, [LETTERS]),
        ({"type": "object", "properties": {}}, []),
    ],
)
def test_texts_are_noted_by_what_decides(schema, notes):
    assert notes_of(schema) == {note: [("a",)] for note in notes}


def test_a_schema_that_is_used_twice_is_noted_at_both_fields():
    name = {"$ref": "#/$defs/party"}
    schema = {
        "type": "object",
        "properties": {"seller": name, "buyer": name},
        "$defs": {"party": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }

    assert texts_by_note(compile_schema(schema)) == {
        LETTERS: [("seller", "name"), ("buyer", "name")]
    }
