"""Explaining a comparison that asked judges asks no further questions."""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.compare.tree import explain, tree_of
from stickler_cli.schema.compiler import compile_schema

JUDGED = {
    "type": "string",
    "x-aws-stickler-comparator": "LLMComparator",
    "x-aws-stickler-comparator-config": {"model": "openai:judge"},
}
EMBEDDED = {
    "type": "string",
    "x-aws-stickler-comparator": "SemanticComparator",
    "x-aws-stickler-comparator-config": {"model_id": "openai:small"},
}


def names_of(schema):
    item = {"type": "object", "properties": {"name": schema}}
    return {"type": "object", "properties": {"names": {"type": "array", "items": item}}}


def explained(client, schema, gt, pred):
    options = Options(client=client)
    sides = ([{"names": [{"name": name} for name in names]}] for names in (gt, pred))
    root = tree_of(compare(compile_schema(names_of(schema)), *sides, options), 0, options)
    explain(root)
    return root


@pytest.mark.slow
def test_judges_are_asked_nothing_more_and_their_reasons_are_told(server, asking):
    with asking() as client:
        root = explained(client, JUDGED, ["Main St", "High Rd"], ["HIGH RD", "MAIN ST"])

    assert len(server.requests) == 2
    first, second = root.parts[0].parts
    assert (first.pairing.prediction_index, second.pairing.prediction_index) == (1, 0)
    assert first.parts[0].reason == "case aside"
    assert root.similarity == 1.0


@pytest.mark.slow
def test_runners_up_are_found_by_the_model_that_pairs(server, asking):
    with asking() as client:
        root = explained(client, EMBEDDED, ["car"], ["banana", "automobile", "car"])

    pairing = root.parts[0].parts[0].pairing
    # The angle between car and automobile is that of 0.8.
    assert (pairing.prediction_index, pairing.runner_up.index) == (2, 1)
