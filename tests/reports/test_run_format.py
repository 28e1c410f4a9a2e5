"""Records of real runs are valid under `schemas/stickler-run.json`."""

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stickler_cli.score.evaluation import RUN_FORMAT
from stickler_cli.score.record import run_record
from stickler_cli.score.sums import COUNTING_MODES

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "stickler-run.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def problems(record):
    return [
        f"{list(error.absolute_path)}: {error.message}" for error in VALIDATOR.iter_errors(record)
    ]


def test_the_names_in_the_code_are_those_of_the_format():
    assert SCHEMA["properties"]["format"]["const"] == RUN_FORMAT == SCHEMA["title"]
    assert tuple(SCHEMA["$defs"]["NodeRecord"]["required"]) == COUNTING_MODES


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bank-statement", "invoice", "receipt", "resume"])
def test_runs_over_the_fixtures_fit(fixture_run, name):
    assert problems(run_record(fixture_run(name))) == []


def test_runs_with_gates_and_bad_documents_fit(orders, run_of):
    assert problems(run_record(orders)) == []
    assert problems(run_record(run_of(pairs=[], gates=["f1>0.5", "tp>=1"]))) == []


def test_a_run_over_one_pair_says_more_and_fits(run_of):
    record = run_record(run_of(single=True, missing="skip", extra_fields="ignore"))

    assert record["all_fields_matched"] is True
    assert problems(record) == []


@pytest.mark.parametrize(
    "change",
    [
        {"format": "stickler-run/2"},
        {"surprise": 1},
        {"overall_score": 1.5},
        {"documents": {}},
        {"field_scores": {}},
        {"never_present": [1]},
        {"notes": [1]},
    ],
)
def test_what_is_no_run_does_not_fit(orders, change):
    record = {**copy.deepcopy(run_record(orders)), **change}

    assert problems(record)
