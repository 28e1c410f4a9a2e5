"""Runs of predictions with metadata have the same figures as without, for every source."""

import json
import random

import pytest

from stickler_cli.api.many import evaluate_many
from stickler_cli.cli import main
from tests.cli.conftest import SCHEMA, write


def wrapped(value, draw):
    if isinstance(value, dict):
        return {name: wrapped(child, draw) for name, child in value.items()}
    if isinstance(value, list):
        return [wrapped(child, draw) for child in value]
    return {"_value": value, "_confidence": draw.randrange(21) / 20}


@pytest.fixture
def pairs():
    draw, pairs_made = random.Random(7), []  # noqa: S311 - no secret
    for index in range(12):
        lines = [{"sku": draw.choice("abcde") * 5, "qty": n} for n in range(draw.randrange(4))]
        gt = {"id": f"A-{index}", "total": index, "lines": lines}
        pred = {**gt, "total": index + (draw.random() < 0.3), "lines": lines[:2], "more": "x"}
        pairs_made.append((f"d{index}", gt, pred, wrapped(pred, draw)))
    return pairs_made


@pytest.fixture
def data(tmp_path, monkeypatch, pairs):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "schema.json", SCHEMA)
    for name, gt, pred, rich in pairs:
        for directory, value in (("gt", gt), ("pred", pred), ("rich", rich)):
            write(tmp_path / directory / f"{name}.json", value)
    return tmp_path


@pytest.fixture
def run(data, capsys):
    def run(*arguments):
        assert main(arguments) == 0
        return capsys.readouterr().out

    return run


def record(text):
    record_read = json.loads(text)
    del record_read["provenance"]
    return {
        **{name: record_read.pop(name, None) for name in ("confidence", "unwrapped")},
        "rest": [entry.pop("confidences", None) for entry in record_read["per_document"]]
        and record_read,
    }


def test_wrappers_change_no_other_figure(run):
    plain = record(run("eval", "schema.json", "gt", "pred", "-f", "json"))
    rich = record(run("eval", "schema.json", "gt", "rich", "-f", "json"))
    assert plain["confidence"] is None
    assert rich["confidence"]["coverage"] == 1
    assert rich["unwrapped"] == {"_value": rich["confidence"]["units"], "inherited": 0}
    assert rich["rest"] == plain["rest"]


@pytest.mark.slow
def test_any_number_of_processes_and_any_reading_back_gives_the_same(run, data):
    complete = run("eval", "schema.json", "gt", "rich", "-f", "json", "--by", "@directory")
    assert (
        run("eval", "schema.json", "gt", "rich", "-f", "json", "-j", "2", "--by", "@directory")
        == complete
    )
    write(data / "whole.json", json.loads(complete))
    assert run("report", "whole.json", "-f", "json") == complete
    for index, name in enumerate(sorted((data / "gt").iterdir())):
        for side in ("gt", "rich"):
            target = data / f"{side}{index % 2}" / name.name
            target.parent.mkdir(exist_ok=True)
            (data / side / name.name).rename(target)
    for half in "01":
        arguments = ("schema.json", f"gt{half}", f"rich{half}", "-f", "json", "--by", "@directory")
        write(data / f"half{half}.json", json.loads(run("eval", *arguments)))
    assert record(run("merge", "half1.json", "half0.json", "-f", "json")) == record(complete)


def test_a_run_that_goes_on_knows_the_confidences_of_before(run):
    arguments = ("eval", "schema.json", "gt", "rich", "-f", "json", "--run-dir", "kept")
    assert run(*arguments) == run(*arguments)


def confidences_of(value):
    if isinstance(value, dict):
        if "_confidence" in value:
            return value["_confidence"]
        return {name: confidences_of(child) for name, child in value.items()}
    return [confidences_of(child) for child in value]


@pytest.mark.slow
def test_confidences_beside_predictions_are_those_in_them(run, data, pairs, capsys):
    for name, *_, rich in pairs:
        write(data / "beside" / f"{name}.json", confidences_of(rich))
    wrapped_record = record(run("eval", "schema.json", "gt", "rich", "-f", "json"))
    arguments = ("eval", "schema.json", "gt", "pred", "-f", "json", "--confidence", "beside")
    assert record(run(*arguments))["confidence"] == wrapped_record["confidence"]
    assert (
        record(run(*arguments, "-j", "2", "--wrapped", "none"))["confidence"]
        == wrapped_record["confidence"]
    )

    for side in ("gt", "pred", "beside"):
        lines = [
            json.dumps(json.loads((data / side / f"{name}.json").read_text())) for name, *_ in pairs
        ]
        (data / f"{side}.jsonl").write_text("\n".join(lines))
    arguments = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json")
    lines = record(run(*arguments, "--confidence", "beside.jsonl"))["confidence"]
    assert lines["auroc"] == wrapped_record["confidence"]["auroc"]

    (data / "beside" / "d3.json").write_text("no JSON")
    beside_record = record(
        run("eval", "schema.json", "gt", "pred", "-f", "json", "--confidence", "beside")
    )
    assert "d3.json" in beside_record["rest"]["problems"][0]["problem"]


def test_the_ground_truth_may_be_wrapped_too(pairs):
    plain = evaluate_many(SCHEMA, ((name, gt, pred) for name, gt, pred, _ in pairs)).to_dict()
    draw = random.Random(1)  # noqa: S311 - no secret
    record_of_both = evaluate_many(
        SCHEMA, ((name, wrapped(gt, draw), pred) for name, gt, pred, _ in pairs)
    ).to_dict()
    assert "confidence" not in record_of_both
    assert record_of_both["confusion_matrix"] == plain["confusion_matrix"]


def test_none_leaves_wrappers_where_they_are(run):
    record_read = record(
        run("eval", "schema.json", "gt", "rich", "-f", "json", "--wrapped", "none")
    )
    assert record_read["confidence"] is None
    assert record_read["rest"]["confusion_matrix"]["overall"]["tp"] == 0


def test_a_confidence_that_is_none_is_a_warning_of_its_document():
    pred = {"id": {"_value": "A", "_confidence": 7}}
    (problem,) = evaluate_many(SCHEMA, [("one", {"id": "A"}, pred)]).to_dict()["problems"]
    assert problem["problem"] == (
        "one: /id/_confidence: the confidence is 7, expected a number in [0, 1]"
    )


def test_a_wrapper_that_holds_no_document_is_an_invalid_prediction():
    record_read = evaluate_many(SCHEMA, [("one", {"id": "A"}, {"_value": 5})]).to_dict()
    assert record_read["documents"]["invalid"] == 1
    assert (
        "the value inside the wrapper object is 5, not a document, expected a JSON object"
        in str(record_read["problems"])
    )


def test_an_empty_form_is_refused(data, capsys):
    assert main(("eval", "schema.json", "gt", "rich", "--wrapped", ":x")) == 2
    assert "--wrapped: the value is ':x', expected auto, none, or" in capsys.readouterr().err
