"""OpenTelemetry: events for gates, fields and documents, in the format OTLP."""

import json
from dataclasses import replace

import pytest

from stickler_cli import Scorer
from stickler_cli.cli.app import main
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.record import Provenance

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}, "total": {"type": "number"}}}
GT = {"id": "A-17", "total": 9.5}


def records(text):
    for line in text.splitlines():
        (resource,) = json.loads(line)["resourceLogs"]
        (scope,) = resource["scopeLogs"]
        (record,) = scope["logRecords"]
        assert record["eventName"] == "gen_ai.evaluation.result"
        yield record


def events(text):
    for record in records(text):
        yield {
            attribute["key"].removeprefix("gen_ai.evaluation."): next(
                iter(attribute["value"].values())
            )
            for attribute in record["attributes"]
        }


def test_each_line_is_an_event():
    scorer = Scorer(SCHEMA)
    batch = scorer.score_batch([GT, GT], [{"id": "A-17"}, "no"])
    evaluation = scorer.evaluation(dict(zip("ab", batch, strict=True)))
    run = evaluation._run("")  # noqa: SLF001 - without a command

    assert [*events(render("otel", run, TableStyle()))] == [
        {"name": "leaves:f1", "score.value": 2 / 3},
        {"name": "leaves:f1", "score.value": 1.0, "stickler.field": "id"},
        {"name": "leaves:f1", "score.value": 0.0, "stickler.field": "total"},
        {
            "name": "leaves:f1",
            "score.label": "evaluated",
            "score.value": 2 / 3,
            "stickler.document": "a",
        },
        {
            "name": "leaves:f1",
            "score.label": "failed",
            "stickler.document": "b",
            "error.type": "failed",
        },
    ]


def test_the_time_of_events_is_when_the_last_run_of_them_began(tmp_path, capsys, monkeypatch):
    for name, document in (("schema", SCHEMA), ("gt", GT), ("pred", GT)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["eval", "schema.json", "gt.json", "pred.json", "-f", "otel"]
    times = []
    for name, began in (("a", "1764000000"), ("b", "1764000001")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", began)
        assert main([*command, "-o", f"{name}.json"]) == 0
        times.append({line["timeUnixNano"] for line in records(capsys.readouterr().out)})
    assert main(["diff", "a.json", "b.json", "-f", "otel"]) == 0
    times.append({line["timeUnixNano"] for line in records(capsys.readouterr().out)})

    assert times == [{"1764000000000000000"}, *[{"1764000001000000000"}] * 2]


@pytest.mark.parametrize("provenance", [(), [Provenance("yesterday", "gt", "pred")]])
def test_events_of_a_run_that_does_not_say_when_it_began_have_no_time(orders, provenance):
    run = replace(orders, provenance=provenance)

    for record in records(render("otel", run, TableStyle())):
        assert "timeUnixNano" not in record


def test_gates_have_a_verdict(orders):
    labelled = [
        event for event in events(render("otel", orders, TableStyle())) if "explanation" in event
    ]

    assert [(event["name"], event["score.label"]) for event in labelled] == [
        (gate.gate.text, "pass" if gate.passed else "fail") for gate in orders.gates
    ]
    assert labelled


def test_a_difference_has_an_event_for_each_change(tmp_path, capsys):
    scorer, files = Scorer(SCHEMA), []
    for name, pred in (("a", GT), ("b", {"id": "A-17"})):
        evaluation = scorer.evaluation({"one": scorer.score(GT, pred)})
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(evaluation.report("json"), encoding="utf-8")

    assert main(["diff", *map(str, files), "-f", "otel", "--gate", "total.f1>=0"]) == 1

    gate, *changes = events(capsys.readouterr().out)
    assert (gate["name"], gate["score.label"]) == ("total.f1>=0", "fail")
    assert {
        change["stickler.field"]: change["score.value"]
        for change in changes
        if "stickler.field" in change
    } == {
        "id": 0.0,
        "total": -1.0,
    }
