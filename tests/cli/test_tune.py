"""`stickler tune`: thresholds that are chosen from labelled values."""

import json
import random
import re

import pytest
from jsonschema import Draft202012Validator

from schemas.writing import schema_of
from .conftest import write

X = "x-aws-stickler-"
SCHEMA = """{
  "type": "object",
  "properties": {
    "name": { "type": "string",  "x-aws-stickler-threshold": 0.3 },
    "code": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
  }
}
"""


@pytest.fixture
def evidence(data):
    """400 documents in which predicted names are misread or are other names; verdicts say which."""
    drawn = random.Random(1)  # noqa: S311 - the same each time
    letters = "abcdefghijklmnopqrstuvwxyz"
    sides = {"gt": [], "pred": [], "verdicts": []}
    for index in range(400):
        name = "".join(drawn.choices(letters, k=20))
        read, same = list(name), drawn.random() < 0.75
        for place in drawn.sample(range(20), drawn.randint(0, 2) if same else 11):
            read[place] = "#"
        read = "".join(read)
        sides["gt"].append({"name": name, "code": str(index)})
        sides["pred"].append({"name": read, "code": str(index)})
        verdict = "same" if same else "different"
        sides["verdicts"].append({"path": "name", "gt": name, "pred": read, "verdict": verdict})
    for side, documents in sides.items():
        write(data / f"{side}.jsonl", "\n".join(map(json.dumps, documents)))
    write(data / "schema.json", SCHEMA)
    return data


def test_a_threshold_is_proposed_with_its_gain_and_a_histogram(stickler, evidence):
    result = stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl")
    assert result.code == 0
    assert "thresholds of schema.json, based on the similarities in 400 documents" in result.out
    assert "1 of 2 thresholds should change" in result.out
    assert "all similarities are 0 or 1" in result.out
    assert re.search(
        r"name: threshold 0\.3 -> 0\.68\n"
        r"  how well the threshold separates similar from different values \(share of variance "
        r"explained, at best 1\): 0\.0000 -> (0\.9\d+) \(change \+\1, 95% CI \[",
        result.out,
    )
    assert "\n1.00     " in result.out
    assert (evidence / "schema.json").read_text() == SCHEMA


@pytest.mark.slow
def test_what_is_written_is_what_its_schema_says(stickler, evidence):
    arguments = ["schema.json", "gt.jsonl", "pred.jsonl", "-f", "json"]
    validator = Draft202012Validator(schema_of("stickler-tuning"))
    validator.validate(stickler("tune", *arguments).json)
    validator.validate(stickler("tune", *arguments, "--verdicts", "verdicts.jsonl").json)


def test_with_verdicts_there_is_precision_and_recall_at_each_cut(stickler, evidence):
    arguments = ["schema.json", "gt.jsonl", "pred.jsonl", "--verdicts", "verdicts.jsonl"]
    result = stickler("tune", *arguments, "-f", "json")
    assert result.json["by_verdicts"] is True
    (field,) = result.json["fields"]
    assert field["field"] == "name"
    assert 0.45 < field["proposed"] <= 0.9
    assert field["gain"][0] > 0
    cuts = {cut["threshold"]: cut for cut in field["cuts"]}
    assert cuts[0.0]["recall"] == 1.0
    assert cuts[0.7]["precision"] == 1.0
    assert sum(cut["pairs"] for cut in field["cuts"]) == field["pairs"] == 400
    assert "precision  recall" in stickler("tune", *arguments).out


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ({"path": "name", "gt": 1, "pred": 2}, "the line has no key 'verdict'"),
        ({"path": "nome", "gt": 1, "pred": 2, "verdict": "same"}, 'path is "nome"'),
        ({"path": 3, "gt": 1, "pred": 2, "verdict": "same"}, "path is 3"),
        ({"path": "name", "gt": 1, "pred": 2, "verdict": "maybe"}, 'verdict is "maybe"'),
        ([], "the document is of type array"),
    ],
)
def test_a_verdict_that_is_wrong_is_told_with_its_line(stickler, evidence, line, found):
    good = {"path": "name", "gt": "a", "pred": "b", "verdict": True}
    write(evidence / "wrong.jsonl", f"{json.dumps(good)}\n{json.dumps(line)}")
    result = stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl", "--verdicts", "wrong.jsonl")
    assert result.code == 2
    assert f"wrong.jsonl:2:1: {found}" in result.err


def test_a_file_without_verdicts_is_told(stickler, evidence):
    write(evidence / "none.jsonl", "\n")
    result = stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl", "--verdicts", "none.jsonl")
    assert (result.code, "the file contains no verdicts" in result.err) == (2, True)


def test_few_documents_are_no_reason_to_change_anything(stickler):
    result = stickler("tune", "schema.json", "gt", "pred")
    assert "no threshold should change" in result.out
    assert "fewer than 40 pairs" in result.out


def test_the_evidence_of_a_field_that_stays_is_shown_where_somebody_asks(stickler, evidence):
    arguments = ["tune", "schema.json", "gt.jsonl", "pred.jsonl", "--field"]
    result = stickler(*arguments, "code")
    assert "\ncode: threshold 0.5 stays:\n  all similarities are 0 or 1" in result.out
    assert "\n1.00         400  ####" in result.out
    wrong = stickler(*arguments, "kode")
    assert wrong.code == 2
    assert "--field: no values were compared in field 'kode'" in wrong.err
    assert "did you mean code?" in wrong.err


def test_documents_without_both_sides_are_named_and_left_out(stickler, data):
    (data / "pred" / "two.json").unlink()
    assert (
        "note: documents skipped, because the ground truth or the prediction is missing: two"
        in stickler("tune", "schema.json", "gt", "pred").out
    )


def test_verdicts_may_be_of_items_and_of_elements_of_lists(stickler, data):
    lines = [
        {"path": "lines[0].sku", "gt": "mouse", "pred": "mouze", "verdict": "same"},
        {"path": "lines[3]", "gt": {"sku": "a"}, "pred": {"sku": "b"}, "verdict": "different"},
    ]
    write(data / "v.jsonl", "\n".join(map(json.dumps, lines)))
    result = stickler("tune", "schema.json", "gt", "pred", "--verdicts", "v.jsonl", "-f", "json")
    fields = {field["field"]: field for field in result.json["fields"]}
    assert {path: field["threshold"] for path, field in fields.items()} == {
        "lines": 0.7,
        "lines.sku": 0.5,
    }


def test_what_is_proposed_is_written_and_nothing_else_changes(stickler, evidence):
    arguments = ["schema.json", "gt.jsonl", "pred.jsonl"]
    proposed = stickler("tune", *arguments, "-f", "json").json["fields"][0]["proposed"]
    result = stickler("tune", *arguments, "--write")
    assert f"note: changed the threshold in schema.json: name 0.3 -> {proposed:g}" in result.out
    text = (evidence / "schema.json").read_text()
    comment = json.loads(text)["$comment"]
    without = text.replace(f',\n  "$comment": "{comment}"', "")
    assert without == SCHEMA.replace("0.3", f"{proposed:g}")
    assert comment.startswith(f"[stickler tune: name 0.3 -> {proposed:g} on 400 documents, ")


@pytest.mark.slow
def test_a_run_says_what_its_schema_was_tuned_on_and_a_gate_on_these_documents_warns(
    stickler, evidence
):
    arguments = ["schema.json", "gt.jsonl", "pred.jsonl"]
    stickler("tune", *arguments, "--write")
    run = stickler("eval", *arguments, "-f", "json")
    (note,) = run.json["notes"]
    assert note.startswith("the thresholds in the schema were tuned on 400 documents: name 0.3 -> ")
    assert run.err == ""
    gated = stickler("eval", *arguments, "--gate", "f1>=0.1", "-f", "json")
    assert "warning: the thresholds in the schema were tuned on 400 documents" in gated.err
    assert "about 100% of those documents are also evaluated here" in gated.json["notes"][1]
    lines = (evidence / "gt.jsonl").read_text().replace('"code": "', '"code": "x')
    write(evidence / "others.jsonl", lines)
    other_sources = ["schema.json", "others.jsonl", "pred.jsonl"]
    assert "warning" not in stickler("eval", *other_sources, "--gate", "f1>=0.1").err


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [
        {"name": {"$ref": "#/$defs/text"}, "code": {"type": "string"}},
        {"name": {"type": ["string", "null"], X + "threshold": 0.3}},
        {"name": {"anyOf": [{"type": "string"}, {"type": "null"}], X + "threshold": 0.3}},
        {"name": {"allOf": [{"$ref": "#/$defs/text"}]}},
    ],
)
def test_a_threshold_is_written_where_it_counts_for_this_field_only(stickler, evidence, schema):
    text = {"type": "string", X + "threshold": 0.3}
    object_schema = {"type": "object", "properties": schema, "$defs": {"text": text}}
    write(evidence / "schema.json", object_schema)
    result = stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl", "--write")
    assert "note: changed the threshold in schema.json: name 0.3 -> " in result.out
    written = json.loads((evidence / "schema.json").read_text())
    assert written["properties"]["name"][X + "threshold"] > 0.4
    assert written["$defs"]["text"] == text


def test_lists_and_their_items_are_written_where_their_thresholds_stand(stickler, evidence):
    item = {
        "type": "object",
        "properties": {"name": {"type": "string", X + "threshold": 0.3}},
        X + "match-threshold": 0.3,
    }
    properties = {
        "tags": {"type": "array", "items": {"type": "string", X + "threshold": 0.3}},
        "lines": {"type": "array", "items": item},
    }
    write(evidence / "schema.json", {"type": "object", "properties": properties})
    for side in ("gt", "pred"):
        lines = map(json.loads, (evidence / f"{side}.jsonl").read_text().splitlines())
        documents = [{"tags": [line["name"]], "lines": [{"name": line["name"]}]} for line in lines]
        write(evidence / f"{side}.jsonl", "\n".join(map(json.dumps, documents)))
    stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl", "--write")
    written = json.loads((evidence / "schema.json").read_text())["properties"]
    assert written["tags"]["items"][X + "threshold"] > 0.4
    assert set(written["tags"]) == {"type", "items"}
    assert written["lines"]["items"][X + "match-threshold"] > 0.4


def test_a_part_that_stands_for_several_fields_is_left_alone(stickler, evidence):
    shared_schema = {
        "type": "object",
        "properties": {"name": {"type": "string", X + "threshold": 0.3}},
    }
    properties = {"a": {"$ref": "#/$defs/part"}, "b": {"$ref": "#/$defs/part"}}
    schema = {"type": "object", "properties": properties, "$defs": {"part": shared_schema}}
    before = write(evidence / "schema.json", schema).read_text()
    for side in ("gt", "pred"):
        lines = map(json.loads, (evidence / f"{side}.jsonl").read_text().splitlines())
        documents = [{"a": {"name": line["name"]}, "b": {"name": "b"}} for line in lines]
        write(evidence / f"{side}.jsonl", "\n".join(map(json.dumps, documents)))
    result = stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl", "--write")
    assert (
        "the threshold of a.name was not written: the field shares its definition in schema.json "
        "with other fields" in " ".join(result.out.split())
    )
    assert (evidence / "schema.json").read_text() == before


def test_a_field_that_another_file_defines_is_left_alone(stickler, evidence):
    name = {"type": "string", X + "threshold": 0.3}
    write(evidence / "part.json", {"type": "object", "properties": {"name": name}})
    schema = {"type": "object", "properties": {"a": {"$ref": "part.json"}}}
    before = write(evidence / "schema.json", schema).read_text()
    for side in ("gt", "pred"):
        lines = map(json.loads, (evidence / f"{side}.jsonl").read_text().splitlines())
        documents = [{"a": {"name": line["name"]}} for line in lines]
        write(evidence / f"{side}.jsonl", "\n".join(map(json.dumps, documents)))
    result = stickler("tune", "schema.json", "gt.jsonl", "pred.jsonl", "--write")
    assert (
        "the threshold of a.name was not written: schema.json does not contain the definition "
        "of the field" in " ".join(result.out.split())
    )
    assert (evidence / "schema.json").read_text() == before


@pytest.mark.slow
def test_a_schema_whose_comparators_are_inferred_is_not_written(stickler, evidence):
    plain = {"type": "object", "properties": {"name": {"type": "string"}}}
    before = write(evidence / "schema.json", plain).read_text()
    arguments = ["schema.json", "gt.jsonl", "pred.jsonl"]
    field = stickler("tune", *arguments, "-f", "json").json["fields"][0]
    result = stickler("tune", *arguments, "--write")
    if field["proposed"] is not None:
        assert result.code == 2
        assert "--write: how to compare is inferred" in result.err
    assert (evidence / "schema.json").read_text() == before


def test_verdicts_on_errors_are_verdicts_on_values(stickler, evidence):
    """A right prediction is the same as its ground truth, a wrong ground truth is not."""
    lines = []
    for line in (evidence / "verdicts.jsonl").read_text().splitlines():
        said = json.loads(line)
        verdict = "prediction_right" if said["verdict"] == "same" else "ground_truth_wrong"
        lines.append({**said, "format": "stickler-verdict/1", "verdict": verdict})
    single = {"format": "stickler-verdict/1", "path": "name", "gt": None, "pred": "a"}
    lines += [single | {"verdict": "neither"}, single | {"gt": "a", "verdict": "neither"}]
    lines[-1].pop("pred")
    write(evidence / "said.jsonl", "\n".join(map(json.dumps, lines)))
    sides = ["schema.json", "gt.jsonl", "pred.jsonl", "-f", "json"]
    record = stickler("tune", *sides, "--verdicts", "said.jsonl").json
    plain = stickler("tune", *sides, "--verdicts", "verdicts.jsonl").json
    assert record["notes"] == ["2 verdicts skipped, because not about a pair of values"]
    assert record["fields"] == plain["fields"]


LONG = {"name": "ab" * 30_000}, {"name": "cd" * 30_000}


@pytest.mark.slow
def test_a_document_of_too_much_work_is_left_out_by_name(stickler, evidence):
    for side, document in zip(("gt", "pred"), LONG, strict=True):
        with (evidence / f"{side}.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(f"\n{json.dumps(document)}")

    run = ("tune", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json", "--work-limit")
    few, all_of_them = stickler(*run, "0.1"), stickler(*run, "20")

    (note,) = few.json["notes"]
    assert note.startswith(
        "document line 401 was skipped: comparing this document takes more work than --work-limit"
    )
    assert [run.json["fields"][0]["pairs"] for run in (few, all_of_them)] == [400, 401]


def test_a_verdict_of_too_much_work_is_told_with_its_field(stickler, evidence):
    line = {"path": "name", "gt": LONG[0]["name"], "pred": LONG[1]["name"], "verdict": "same"}
    with (evidence / "verdicts.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(f"\n{json.dumps(line)}")

    options = (
        "schema.json",
        "gt.jsonl",
        "pred.jsonl",
        "--verdicts",
        "verdicts.jsonl",
        "--work-limit",
        "0.1",
    )
    result = stickler("tune", *options)

    assert result.code != 0
    assert "most of the work is in field name" in result.err


def test_a_finished_run_is_no_ground_truth(stickler, data):
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "base.json")
    result = stickler("tune", "base.json")

    assert result.code == 2
    assert result.err == (
        "error: base.json: this is a finished run, but stickler tune needs documents, expected "
        "stickler tune [SCHEMA] GT PRED\n"
    )
