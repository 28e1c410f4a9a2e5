"""Every value that was compared is a row: as many as `leaves` counts, each with its place."""

import json

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.runs.chunk import evaluate_chunk, unwrapped
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
LINE = {"type": "object", "properties": {"sku": EXACT, "tags": {"type": "array", "items": EXACT}}}
PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "id": EXACT,
            "any": {},
            "maybe": {"anyOf": [{"type": "number"}, {"type": "array", "items": EXACT}]},
            "buyer": {"type": "object", "properties": {"name": EXACT, "city": EXACT}},
            "lines": {"type": "array", "items": LINE},
            "more": {"type": "object", "additionalProperties": EXACT},
        },
    }
)
GT = {
    "id": "a",
    "any": {"x": 1},
    "maybe": 3,
    "buyer": {"name": "Ann", "city": "Ulm"},
    "lines": [{"sku": "p", "tags": ["x", "y"]}, {"sku": "q"}, {"sku": "r", "tags": ["z"]}],
    "more": {"k": "v", "l": "w"},
}
PREDS = {
    "same": GT,
    "wrong": {**GT, "id": "b", "maybe": ["x"], "lines": GT["lines"][::-1], "odd": {"y": 2}},
    "other": {**GT, "buyer": None, "lines": [{"sku": "t", "tags": ["x"]}], "more": {"k": "u"}},
    "kinds": {"id": 5, "any": [1], "buyer": "Ann", "lines": {"sku": "p"}, "more": {"m": None}},
    "nothing": {},
}


def rows_of(pairs, **requested):
    job = Job(PLAN, Options(), requested=OutputsRequested(value_lines=True, **requested))
    chunk = evaluate_chunk(job, pairs)
    return [json.loads(line) for line in chunk.value_lines.splitlines()], chunk.evaluation


@pytest.mark.parametrize("name", PREDS)
@pytest.mark.parametrize("turned", [False, True])
def test_there_are_as_many_rows_as_leaves_count(name, turned):
    gt, pred = (PREDS[name], GT) if turned else (GT, PREDS[name])
    rows, evaluation = rows_of([DocumentPair(name, gt, pred)])

    counts = evaluation.tally.counts("leaves")
    for outcome in ("TP", "FD", "FA", "FN"):
        assert sum(row["outcome"] == outcome for row in rows) == getattr(counts, outcome.lower()), (
            outcome
        )


def test_rows_of_documents_together_are_those_of_each():
    pairs = [DocumentPair(name, GT, pred) for name, pred in PREDS.items()]
    together, _ = rows_of(pairs)

    assert together == [row for pair in pairs for row in rows_of([pair])[0]]


def test_a_row_has_both_values_and_both_places():
    rows, _ = rows_of([DocumentPair("wrong", GT, PREDS["wrong"])])
    by_path = {row["path"]: row for row in rows}

    assert by_path["id"] == {
        "document": "wrong",
        "field": "id",
        "path": "id",
        "prediction_path": None,
        "outcome": "FD",
        "similarity": 0.0,
        "ground_truth_value": "a",
        "prediction_value": "b",
        "confidence": None,
    }
    moved = by_path["lines[0].tags[1]"]
    assert (moved["field"], moved["prediction_path"]) == ("lines.tags", "lines[2].tags[1]")
    assert (moved["outcome"], moved["similarity"]) == ("TP", 1.0)
    extra = by_path["odd"]
    assert (extra["outcome"], extra["prediction_value"]) == ("FA", {"y": 2})
    assert extra["similarity"] is None


def test_a_row_has_the_confidence_of_its_prediction():
    pred = {
        "id": {"value": "a", "confidence": 0.9},
        "lines": [
            {"sku": {"value": "p", "confidence": 0.25}, "odd": {"value": 1, "confidence": 0.5}}
        ],
    }
    pair = unwrapped(Unwrapper(PLAN.root), DocumentPair("a", GT, pred))
    job = Job(PLAN, Options(), requested=OutputsRequested(value_lines=True, accounts=True))
    lines = evaluate_chunk(job, [pair]).value_lines.splitlines()
    found = {row["path"]: row["confidence"] for row in map(json.loads, lines)}

    assert {path: it for path, it in found.items() if it is not None} == {
        "id": 0.9,
        "lines[0].sku": 0.25,
        "lines[0].odd": 0.5,
    }
