"""`stickler lint`: its output in each format, and its exit code."""

import json

import pytest
from jsonschema import Draft202012Validator

from schemas.writing import schema_of
from .conftest import GOOD, write


@pytest.fixture
def wrong(data):
    """A ground truth that has, over several lines, one document in which a number is a text."""
    text = json.dumps({**GOOD, "total": "much"}, indent=1)
    return write(data / "gt" / "two.json", text)


def test_findings_are_told_with_file_line_pointer_and_advice(stickler, wrong):
    result = stickler("lint", "schema.json", "gt")
    assert result.code == 1
    assert result.out == (
        "gt: 2 documents checked against schema.json\n"
        "2 errors, 1 warning\n"
        "\n"
        "error[unreadable-value] total: values that the comparator cannot read, so only "
        "exactly the same value counts as right\n"
        '  gt/two.json:3 /total: "much": NumericComparator cannot read this value\n'
        "  -> correct the values, or give the field a comparator that can read them\n"
        "\n"
        "error[wrong-kind] total: values whose type differs from the type in the schema\n"
        '  gt/two.json:3 /total: "much" is not of type "number"\n'
        "  -> correct the values, or the type in the schema\n"
        "\n"
        "warning[duplicate-value] id: several documents with the same value in an id field\n"
        '  gt/two.json:2 /id: "A-1", as in gt/one.json\n'
        "  -> give each document a unique id\n"
    )


def test_json_has_every_place_and_files_are_written_beside(stickler, data, wrong):
    result = stickler("lint", "schema.json", "gt", "-f", "json", "-o", "lint.txt", "--places", "0")
    assert result.json["format"] == "stickler-lint/1"
    assert result.json["documents"] == 2
    first = result.json["findings"][0]
    assert (first["rule"], first["severity"], first["field"]) == (
        "unreadable-value",
        "error",
        "total",
    )
    (place,) = first["places"]
    assert (place["file"], place["line"], place["pointer"]) == ("gt/two.json", 3, "/total")
    assert "and 1 more" in (data / "lint.txt").read_text()


def test_github_has_an_annotation_beside_the_line(stickler, wrong):
    lines = stickler("lint", "schema.json", "gt", "-f", "github").out.splitlines()
    assert lines[1].startswith(
        "::error file=gt/two.json,line=3,title=stickler lint%3A wrong-kind::total: values whose"
    )
    assert lines[2].startswith("::warning file=gt/two.json,line=2,title=")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fail-on", "never"], 0),
        (["--ignore", "wrong-kind", "--ignore", "unreadable-value"], 0),
        (["--ignore", "wrong-kind", "--ignore", "unreadable-value", "--fail-on", "warning"], 1),
        (["--ignore", "wrong-kid"], 2),
    ],
)
def test_the_exit_code_goes_by_what_is_found(stickler, wrong, arguments, code):
    assert stickler("lint", "schema.json", "gt", *arguments).code == code


def test_a_rule_that_there_is_not_is_told_with_the_one_that_was_meant(stickler):
    assert (
        "did you mean wrong-kind?"
        in stickler("lint", "schema.json", "gt", "--ignore", "wrong-kid").err
    )


def test_good_ground_truth_has_nothing_to_tell(stickler):
    result = stickler("lint", "schema.json", "gt/one.json")
    assert (result.code, result.out) == (
        0,
        "gt/one.json: 1 document checked against schema.json\nnothing found\n",
    )


def test_an_inferred_schema_is_named_as_a_schema(stickler, data):
    for name in "ab":
        write(data / "notes" / f"{name}.json", {"note": "The tenant pays the rent in advance"})
    assert (
        "\n  schema inferred from notes /properties/note: FuzzyComparator at a threshold of 0.9; "
        "this concerns 2 of 2 texts (those with letters)\n"
    ) in stickler("lint", "notes").out


@pytest.mark.slow
def test_what_is_written_is_what_its_schema_says(stickler, data):
    write(data / "gt" / "three.json", {"id": "A-1", "total": "n/a", "lines": [], "odd": 1})
    write(data / "gt" / "four.json", "{")
    record = stickler("lint", "schema.json", "gt", "-f", "json").json
    assert len(record["findings"]) > 2
    Draft202012Validator(schema_of("stickler-lint")).validate(record)
