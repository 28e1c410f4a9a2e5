"""Run files of the first version are read as they are; what made them is told."""

import json

import pytest

from stickler_cli.core.problems import UsageError, Violation
from stickler_cli.records.run_reading import of_today, read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.ledger import Ledger
from tests.score.batches import TEXT, an_object, batch


def evaluation():
    found = Evaluation(ledger=Ledger(blocks=Blocks()))
    plan = compile_schema(an_object(a=TEXT, b=TEXT))
    verdicts = {"pred": [Violation("required", "b", "", "'b' is a required property")]}
    documents = {"1": ({"a": "x", "b": "y"}, {"a": "x", "c": "z"})}
    found.update(batch(plan, documents, verdicts=verdicts))
    return found


def as_of_before(found):
    record = json.loads(json.dumps(found.to_dict()))
    record["format"] = "stickler-evaluation/1"
    for key in ("semantics", "wholly_right"):
        del record[key]
    for listed in (
        record["fields"],
        record["extra_keys"],
        record["validity"]["pred"]["violations"],
    ):
        for each in listed:
            each["path"] = each.pop("field")
    return record


def test_an_evaluation_of_before_has_its_figures_and_the_version_that_made_it():
    found, old = evaluation(), read_evaluation(as_of_before(evaluation()))

    assert old.semantics == 1
    assert old.tally.counts("leaves") == found.tally.counts("leaves")
    assert old.to_dict()["per_document"] == found.to_dict()["per_document"]
    assert old.wholly_right.share is None
    for key in ("fields", "extra_keys", "validity"):
        assert old.to_dict()[key] == found.to_dict()[key]


def test_it_is_not_merged_with_one_of_today():
    old = read_evaluation(as_of_before(evaluation()))
    with pytest.raises(UsageError, match="version 3 of the semantics made one, 1 another"):
        old.merge(evaluation())
    nothing = Evaluation()
    nothing.merge(old)
    nothing.merge(Evaluation())
    assert nothing.semantics == 1


def test_what_is_of_today_or_of_nobody_is_left_as_it_is():
    for record in (evaluation().to_dict(), {"format": "other"}, {}):
        assert of_today(record) == record


def test_confidences_that_the_whole_left_out_stand_with_the_others():
    known = {"right": {"a": [0.5]}, "apart": {"right": {"b": [0.25]}, "wrong": {"c": [1.0]}}}
    accounts = [{"id": "1", "confidences": known}, {"id": "2"}, {"confidences": {"right": {}}}, 7]
    found = of_today({"format": "stickler-run/1", "per_document": accounts})

    assert found["format"] == "stickler-run/2"
    assert found["per_document"] == [
        {"id": "1", "confidences": {"right": {"a": [0.5], "b": [0.25]}, "wrong": {"c": [1.0]}}},
        *accounts[1:],
    ]
    assert of_today({"format": "stickler-run/1"}).keys() == {"format", "semantics"}
