"""`stickler eval --verdicts`: figures of a run in which marked errors count as right."""

import json

import pytest
from jsonschema import Draft202012Validator

from schemas.writing import schema_of
from .conftest import GOOD, write

VERDICT = {
    "format": "stickler-verdict/1",
    "semantics": 1,
    "schema": "0" * 64,
    "document": "two",
    "path": "total",
    "outcome": "FD",
    "gt": 10.5,
    "pred": 11,
    "verdict": "ground_truth_wrong",
    "time": "2026-01-01T00:00:00Z",
}
INVENTED = {
    "path": "lines[1]",
    "outcome": "FA",
    "gt": None,
    "pred": {"sku": "lamp", "qty": 9},
    "verdict": "both_acceptable",
}
COMMAND = ("eval", "schema.json", "gt", "pred", "--verdicts", "verdicts.jsonl")


def write_verdicts(data, *verdicts):
    """Write a file of verdicts; each argument has the keys that differ from a standard verdict."""
    lines = [json.dumps(VERDICT | verdict) for verdict in verdicts]
    write(data / "verdicts.jsonl", "\n".join(lines))


@pytest.mark.slow
def test_all_marked_errors_count_as_right_beside_figures_that_stay(stickler, data):
    write_verdicts(data, {}, INVENTED)
    plain = stickler("eval", "schema.json", "gt", "pred", "-f", "json").json
    record = stickler(*COMMAND, "-f", "json").json
    Draft202012Validator(schema_of("stickler-run")).validate(record)
    verdicts = record.pop("verdicts")
    assert {**record, "provenance": None} == {**plain, "provenance": None}
    assert verdicts["verdicts"] == 2
    assert verdicts["right"] == {"ground_truth_wrong": 1, "both_acceptable": 1}
    assert verdicts["unfit"] == []
    assert verdicts["overall_score"] == 1
    assert verdicts["overall"]["f1"] == 1
    assert verdicts["leaves"]["tp"] == 10


@pytest.mark.slow
def test_the_first_lines_tell_both_figures(stickler, data):
    write_verdicts(data, {}, INVENTED)
    for form in ("table", "markdown", "html"):
        output = stickler(*COMMAND, "-f", form).out
        assert "1.00 if the 2 errors marked by verdicts count as right" in output
        assert "1 ground truth wrong, 1 both acceptable" in output


def test_an_error_that_stands_changes_nothing(stickler, data):
    write_verdicts(data, {"verdict": "neither"})
    record = stickler(*COMMAND, "-f", "json").json
    assert record["verdicts"]["right"] == {}
    assert record["verdicts"]["neither"] == 1
    assert record["verdicts"]["overall_score"] == record["overall_score"]
    sentence = (
        "1 error stays an error: its verdict says that neither the ground truth nor the prediction "
        "is right"
    )
    assert sentence in stickler(*COMMAND).out


@pytest.mark.parametrize(
    "changed",
    [
        {"document": "three"},
        {"document": "one"},
        {"path": "id"},
        {"outcome": "FN"},
        {"pred": 12},
    ],
)
def test_a_verdict_that_fits_no_error_is_told(stickler, data, changed):
    write_verdicts(data, changed)
    record = stickler(*COMMAND, "-f", "json").json["verdicts"]
    verdict = VERDICT | changed
    assert record["unfit"] == ["{document}: {path} ({outcome})".format(**verdict)]
    assert record["right"] == {}
    sentence = "1 of 1 verdict had no effect, because the error that it judges is not in this run: "
    assert sentence in stickler(*COMMAND).out


def test_the_last_verdict_on_an_error_counts(stickler, data):
    write_verdicts(data, {}, {"verdict": "neither"})
    record = stickler(*COMMAND, "-f", "json").json["verdicts"]
    assert (record["verdicts"], record["right"], record["neither"]) == (1, {}, 1)


def test_a_verdict_on_a_long_value_needs_no_value(stickler, data):
    verdict = {key: value for key, value in VERDICT.items() if key not in ("gt", "pred")}
    write(data / "verdicts.jsonl", json.dumps(verdict))
    assert stickler(*COMMAND, "-f", "json").json["verdicts"]["unfit"] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"path": "total"}', "verdicts.jsonl:1:1: this line is not a verdict on an error"),
        (json.dumps(VERDICT | {"verdict": "right"}), '#/verdict: the value is "right"'),
        ("", "the file contains no verdicts"),
        ("{", "verdicts.jsonl:1"),
    ],
)
def test_what_is_no_verdict_is_refused(stickler, data, line, message):
    write(data / "verdicts.jsonl", line)
    result = stickler(*COMMAND)
    assert result.code == 2
    assert message in result.err


def test_a_run_of_several_processes_and_its_directory_tell_the_same(stickler, data):
    write_verdicts(data, {}, INVENTED)
    verdicts = stickler(*COMMAND, "-f", "json").json["verdicts"]
    stickler(*COMMAND, "--jobs", "2", "--run-dir", "run")
    assert json.loads((data / "run" / "run.json").read_text())["verdicts"] == verdicts
    assert "2 errors marked by verdicts count" in stickler("report", "run").out
    write_verdicts(data, {})
    refused = stickler(*COMMAND, "--run-dir", "run")
    assert refused.code == 2
    assert "verdicts" in refused.err


def test_verdicts_on_errors_of_another_version_of_the_semantics_are_refused(stickler, data):
    write_verdicts(data, {}, {**INVENTED, "semantics": 2})
    result = stickler(*COMMAND)

    assert result.code == 2
    assert (
        "this verdict was made with version 2 of the semantics (the rules of comparison), "
        "but this stickler uses version 1" in result.err
    )
    assert (
        "evaluate again with -o report.html, and mark the errors again on that page" in result.err
    )


def test_what_is_accepted_is_written_beside_the_ground_truth(stickler, data):
    write_verdicts(data, {"verdict": "both_acceptable"}, INVENTED)
    before = {file: file.read_bytes() for file in (data / "gt").rglob("*") if file.is_file()}

    run = stickler(*COMMAND, "--write-gold", "gold")

    assert (
        "written to the directory gold; in 1 ground truth, 2 predicted values now also count as "
        "right\n"
    ) in run.err
    assert before == {file: file.read_bytes() for file in before}
    gold = json.loads((data / "gold" / "two.json").read_text("utf-8"))
    assert gold["total"] == {"_value": 10.5, "_alternatives": [11]}
    assert gold["lines"][1] == {"_value": None, "_alternatives": [INVENTED["pred"]]}
    again = stickler("eval", "schema.json", "gold", "pred", "-f", "json").json
    assert again["confusion_matrix"]["leaves"]["tp"] == 10
    assert again["all_fields_matched" if "all_fields_matched" in again else "overall_score"]

    write_verdicts(data, {"verdict": "neither"})
    run = stickler("eval", "schema.json", "gold", "pred", *COMMAND[4:], "--write-gold", "more")
    assert (
        "2 ground truths written to the directory more; the verdicts changed no ground truth\n"
        in run.err
    )
    assert json.loads((data / "more" / "two.json").read_text("utf-8")) == gold


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--write-gold", "new"), "no verdicts are given, so nothing could be changed"),
        (
            ("--verdicts", "verdicts.jsonl", "--write-gold", "pred"),
            "pred: the output would overwrite PRED",
        ),
        (
            ("--verdicts", "verdicts.jsonl", "--write-gold", "gt/new"),
            "gt/new: the output would overwrite GT",
        ),
    ],
)
def test_a_ground_truth_is_written_over_no_other(stickler, data, options, problem):
    write_verdicts(data, {})
    run = stickler(*COMMAND[:4], *options)

    assert run.code == 2
    assert problem in run.err


def test_what_is_accepted_inside_an_alternative_is_written_there(stickler, data):
    other = {"_value": {"id": "2", "lines": []}, "_alternatives": [GOOD | {"total": 9}]}
    write(data / "gt" / "two.json", {"_value": {"id": "one"}, "_alternatives": [other]})
    write_verdicts(data, {"verdict": "both_acceptable", "gt": 9}, INVENTED)

    run = stickler(*COMMAND, "--write-gold", "gold")

    assert (
        "written to the directory gold; in 1 ground truth, 2 predicted values now also count as "
        "right\n"
    ) in run.err, run.err
    gold = json.loads((data / "gold" / "two.json").read_text("utf-8"))
    assert gold["_value"] == {"id": "one"}
    (written,) = gold["_alternatives"][0]["_alternatives"]
    assert written["total"] == {"_value": 9, "_alternatives": [11]}
    assert written["lines"][1] == {"_value": None, "_alternatives": [INVENTED["pred"]]}
