"""Explained comparisons are what `schemas/stickler-comparison.json` says they are."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stickler_cli.compare.comparison import comparison_of
from stickler_cli.compare.engine import compare
from stickler_cli.compare.explaining import explain
from stickler_cli.compare.plan import Options
from stickler_cli.reports.json_report import COMPARISON_FORMAT, comparison_record
from stickler_cli.reports.pair import ComparedPair, by_place
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "stickler-comparison.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
CASES = ROOT / "tests" / "cases" / "documents.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def record_of(row):
    plan, given = compile_schema(row["schema"]), row.get("options", {})
    options = Options(given.get("pairing_floor", 0.2), given.get("extra_fields", "fa"))
    account = compare(plan, [row["gt"]], [row["pred"]], options)
    root = explain(account, options)
    classes = by_place(batch_of(comparison_of(account, 0)).wrong_units(0))
    return comparison_record(
        ComparedPair(
            "schema.json",
            plan.model_name,
            row["name"],
            options.pairing_floor,
            options.extra_fields,
            root,
            [root],
            classes,
        )
    )


def score_of(place):
    """Work out the score of a place from the figures of its parts alone."""
    if "sum" not in place:
        return place["score"]
    parts = place.get("parts", [])
    total = sum(part["adds"] for part in parts if "adds" in part)
    if place["kind"] == "object":
        divisor = sum(part["weight"] for part in parts if "adds" in part)
    elif place["kind"] == "tuple":
        divisor = len(parts)
    else:
        sides = [part["pairing"] for part in parts]
        divisor = max(
            sum(side[name] is not None for side in sides)
            for name in ("ground_truth_index", "prediction_index")
        )
    return total / divisor if divisor else 1.0


def test_the_schema_is_one_and_names_the_format():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["title"] == SCHEMA["properties"]["format"]["const"] == COMPARISON_FORMAT


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in ROWS])
def test_what_is_printed_fits_the_schema_and_adds_up_to_the_overall_score(row):
    record = json.loads(json.dumps(record_of(row)))

    assert [error.message for error in VALIDATOR.iter_errors(record)] == []
    (root,) = record["places"]
    assert score_of(root) == pytest.approx(row["expect"]["overall_score"], abs=1e-9)
    waiting = [root]
    while waiting:
        place = waiting.pop()
        waiting += place.get("parts", [])
        reached = place["similarity"] if place["kind"] == "object" else place["score"]
        assert score_of(place) == pytest.approx(reached, abs=1e-9)
