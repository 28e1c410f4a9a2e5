"""Documents that are arrays: every command accepts them if the root of the schema is an array."""

import json

import pytest

from stickler_cli.cli.console import ExitCode
from .conftest import write

X = "x-aws-stickler-"
LINES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "sku": {"type": "string", X + "comparator": "ExactComparator", X + "threshold": 1},
            "qty": {"type": "integer", X + "comparator": "NumericComparator"},
            "note": {"type": "string"},
        },
    },
}
GT = [{"sku": "a", "qty": 1, "note": "x"}, {"sku": "b", "qty": 2, "note": "y"}, {"sku": "c"}]
PRED = [{"sku": "b", "qty": 2, "note": "y"}, {"sku": "a", "qty": 3, "note": "x", "more": 1}]
LISTS = ("schema.json", "gt", "pred")


@pytest.fixture(autouse=True)
def arrays(data):
    write(data / "schema.json", LINES)
    for side, first in (("gt", GT), ("pred", PRED)):
        write(data / side / "one.json", first)
        write(data / side / "two.json", [])


def test_a_place_begins_with_its_index(stickler):
    record = stickler("eval", "schema.json", "gt/one.json", "pred/one.json", "-f", "json").json

    assert record["field_scores"] == {}
    assert [entry["path"] for entry in record["errors"]] == [
        *("[0]", "[0].qty", "[1].more", "[2]", "[2].sku")
    ]
    explanation = stickler(
        "compare", *LISTS, "--document", "one", "--field", "[0].qty", "-f", "json"
    ).json
    assert explanation["places"][0]["path"] == "[0].qty"
    assert explanation["places"][0]["prediction_path"] == "[1].qty"


def test_what_is_no_array_fails_by_name(stickler, data):
    write(data / "pred" / "one.json", {"lines": PRED})
    write(data / "gt" / "two.json", {"sku": "a"})

    result = stickler("eval", *LISTS, "-f", "json")

    assert result.code == ExitCode.INCOMPLETE
    documents = result.json["documents"]
    assert (documents["invalid"], documents["failed"]) == (1, 1)
    wrong = {problem["document"]: problem["problem"] for problem in result.json["problems"]}
    assert wrong == {
        "one": "pred/one.json: the document is of type object, expected a JSON array; "
        'if the key "lines" contains the document, give this key to --pred-root or --gt-root',
        "two": "gt/two.json: the document is of type object, expected a JSON array",
    }
    explained = stickler("compare", "schema.json", "gt/one.json", "pred/one.json")
    assert explained.code == ExitCode.INCOMPLETE
    rooted = ("gt/one.json", "pred/one.json", "--pred-root", "lines")
    assert stickler("eval", "schema.json", *rooted, "-f", "json").json["documents"]["invalid"] == 0


def test_an_array_fails_by_name_where_objects_are_described(stickler, data):
    write(data / "schema.json", LINES["items"])

    result = stickler("eval", *LISTS)

    assert result.code == ExitCode.INCOMPLETE
    assert "gt/one.json: the document is of type array, expected a JSON object" in result.err


def test_a_run_of_arrays_can_be_read_again(stickler, data):
    assert stickler("eval", *LISTS, "--run-dir", "run", "-q").code == ExitCode.OK

    errors = stickler("errors", "run", "-f", "jsonl").out
    assert '"[0].qty"' in errors
    same = stickler("diff", "run", "run", "-f", "json").json
    assert [field["field"] for field in same["fields"]] == ["sku", "qty", "note"]
    write(data / "more.jsonl", '[{"sku": "a"}]\n')
    stickler("eval", "schema.json", "more.jsonl", "more.jsonl", "-o", "more.json")
    merged = stickler("merge", "run", "more.json", "-f", "json").json
    assert merged["documents"]["evaluated"] == 3
    for name in ("out.html", "out.md", "out.csv", "out.junit.xml"):
        assert stickler("report", "run", "-o", name).code == ExitCode.OK


def test_lines_hold_arrays_with_an_id_inside(stickler, data):
    write(data / "gt.jsonl", "".join(json.dumps([{"sku": name}]) + "\n" for name in "abc"))
    write(data / "pred.jsonl", "".join(json.dumps([{"sku": name}]) + "\n" for name in "cab"))

    by_place = stickler("eval", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json").json
    by_id = stickler(
        "eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "[0].sku", "-f", "json"
    ).json

    assert (by_place["overall_score"], by_id["overall_score"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "Here you are:\n```json\n{}\n```\n",
        "I found {} here.",
        '[{{"sku": "a"}}, {}',  # broken
    ],
)
def test_an_array_inside_of_text_is_taken_out(stickler, data, text):
    write(data / "pred" / "one.json", text.format(json.dumps(GT)))

    result = stickler("eval", *LISTS, "--lenient-json", "-f", "json").json

    is_object_in_text = "{}" in text and not text.startswith("[")
    assert result["documents"]["lenient"]["documents"] == is_object_in_text
    assert (result["overall_score"] == 1.0) == is_object_in_text


def test_values_in_wrappers_and_confidences_are_taken(stickler, data):
    wrapped = [{"sku": {"value": "a", "confidence": 0.9}, "qty": {"_value": 1, "_confidence": 1}}]
    write(data / "pred" / "one.json", wrapped)

    record = stickler("eval", *LISTS, "-f", "json").json

    assert record["unwrapped"] == {"_value": 1, "inherited": 0, "value": 1}
    assert record["confidence"]["units"] == 2
    write(data / "known" / "one.json", [{"sku": 0.5}, {"sku": 0.6, "qty": 0.7}])
    write(data / "pred" / "one.json", PRED)
    beside_record = stickler("eval", *LISTS, "--confidence", "known", "-f", "json").json
    assert beside_record["confidence"]["units"] == 3


def test_lists_of_plain_values_are_documents_too(stickler, data):
    write(data / "schema.json", {"type": "array", "items": {"type": "string"}})
    write(data / "gt" / "one.json", ["a", "b"])
    write(data / "pred" / "one.json", [{"value": "b", "confidence": 0.25}, "c"])

    record = stickler("eval", *LISTS, "-f", "json").json

    assert [field["field"] for field in record["fields"]] == [""]
    assert [
        error["path"]
        for error in stickler(
            "eval", "schema.json", "gt/one.json", "pred/one.json", "-f", "json"
        ).json["errors"]
    ] == ["[0]", "[1]"]
    assert record["confidence"]["units"] == 1  # counted once, though the field is the document


def test_a_schema_is_inferred_of_arrays(stickler, data):
    schema = stickler("init", "gt").json
    assert (schema["type"], schema["items"]["type"]) == ("array", "object")
    (data / "schema.json").unlink()

    record = stickler("eval", "gt", "pred", "-f", "json").json

    assert record["documents"]["evaluated"] == 2
    assert [field["field"] for field in record["fields"]] == ["", "sku", "qty", "note"]
    assert stickler("lint", "gt").code == ExitCode.OK


def test_the_schema_is_shown_checked_and_linted(stickler, data):
    assert "(document)" in stickler("show", "schema.json").out
    assert stickler("check", "schema.json").code == ExitCode.OK
    write(data / "gt" / "three.json", {"sku": "z"})
    write(data / "gt" / "four.json", [{"sku": 5, "extra": 1}])

    findings = stickler("lint", "schema.json", "gt", "-f", "json").json["findings"]

    places = {(finding["rule"], finding["field"]): finding["places"][0] for finding in findings}
    assert places["unusable-document", ""]["file"] == "gt/three.json"
    assert places["undeclared-key", "extra"]["pointer"] == "/0/extra"


def test_thresholds_are_tuned_on_items(stickler):
    fields = stickler("tune", *LISTS, "-f", "json").json["fields"]

    assert [(field["field"], field["pairs"]) for field in fields] == [
        *(("", 2), ("sku", 1), ("qty", 1), ("note", 1))
    ]


def test_documents_are_held_against_the_schema(stickler, data):
    write(data / "pred" / "two.json", [{"sku": 1}])

    record = stickler("eval", *LISTS, "--validate", "pred", "-f", "json").json

    assert record["validity"]["pred"]["invalid"] == 1
    (violated,) = record["validity"]["pred"]["violations"]
    assert (violated["field"], violated["keyword"]) == ("[].sku", "type")


def test_a_policy_routes_values_of_arrays(stickler, data):
    confidences = [{"sku": {"value": "a", "confidence": 0.9}}]
    for number in range(60):
        write(data / "gt" / f"{number}.json", [{"sku": "a"}])
        write(data / "pred" / f"{number}.json", confidences)

    accepted = stickler("accept", *LISTS, "--max-error", "0.2", "-o", "policy.json", "-q")
    assert accepted.code == ExitCode.OK, accepted.err
    lines = stickler("accept", "--apply", "policy.json", "pred/1.json").out

    assert json.loads(lines) == {"document": "pred/1", "pass": ["[0].sku"], "review": []}
