"""`--validate`: documents are checked against the schema, in the command and the library."""

import json

import pytest

from stickler_cli import StructuredModel, evaluate_many
from stickler_cli.core.problems import UsageError
from stickler_cli.schema.compiler import compile_schema
from .conftest import BAD, GOOD, SCHEMA, write

EVAL = ("eval", "schema.json", "gt", "pred", "--validate")
STRICT = {**SCHEMA, "required": ["id", "total"], "additionalProperties": False}


@pytest.fixture
def four(data):
    """Four predictions: two are valid, one lacks a total and has an extra key, one is not JSON."""
    write(data / "schema.json", STRICT)
    for name in ("three", "four", "five"):
        write(data / "gt" / f"{name}.json", GOOD)
    write(data / "pred" / "three.json", {"id": "A-1", "lines": [{"qty": "1"}, {"qty": 2}], "z": 1})
    write(data / "pred" / "four.json", "oops")
    return data


def test_a_ground_truth_is_valid_where_it_is_not_labelled(stickler, four):
    write(four / "gt" / "one.json", {**GOOD, "total": {"_labelled": False}})

    result = stickler(*EVAL, "gt", "-f", "json")

    assert result.json["validity"]["gt"]["invalid"] == 0


def test_predictions_are_counted_by_what_the_schema_says_of_them(stickler, four):
    result = stickler(*EVAL, "pred", "-f", "json", "--documents", "documents.jsonl")

    assert result.code == 0
    assert set(result.json["validity"]) == {"pred"}
    pred = result.json["validity"]["pred"]
    assert {name: pred[name] for name in ("checked", "valid", "invalid", "unreadable")} == {
        "checked": 4,
        "valid": 2,
        "invalid": 1,
        "unreadable": 1,
    }
    assert pred["share"] == 0.5
    assert pred["keywords"] == {"additionalProperties": 1, "required": 1, "type": 1}
    assert [entry["field"] for entry in pred["violations"]] == ["", "lines[].qty", "total"]
    assert result.json["documents"]["invalid"] == 1
    assert result.json["documents"]["schema_invalid"] == {"pred": 1}
    lines = map(json.loads, (four / "documents.jsonl").read_text().splitlines())
    verdicts = {line["document"]: line.get("validity", {}).get("pred") for line in lines}
    assert verdicts["five"] is None
    assert verdicts["four"] == {"valid": False, "count": 0, "violations": []}
    assert verdicts["one"] == {"valid": True, "count": 0, "violations": []}
    assert verdicts["three"]["count"] == 3


def test_a_verdict_changes_no_figure(stickler, four):
    plain = stickler(*EVAL, "none", "-f", "json").json
    judged = stickler(*EVAL, "both", "-f", "json").json

    del judged["validity"], judged["documents"]["schema_invalid"]
    assert judged == plain


def test_people_read_the_share_and_what_is_violated_most(stickler, four):
    sentence = (
        "schema-valid predictions: 0.5000 (2 of 4); most frequent violations: "
        "additionalProperties (1), type at {} (1), required at {} (1)"
    )
    table = stickler(*EVAL, "both").out.splitlines()
    position = table.index(sentence.format("lines[].qty", "total"))
    assert table[position + 1] == "schema-valid ground truths: 1.0000 (5 of 5)"

    markdown = stickler(*EVAL, "pred", "-f", "markdown").out.splitlines()
    assert sentence.format("`lines[].qty`", "`total`") in markdown


def test_a_gate_may_ask_for_the_share_of_valid_predictions(stickler, four):
    gates = ("--gate", "documents.schema_valid_share>=0.6", "--gate", "documents.schema_invalid<2")

    result = stickler(*EVAL, "pred", "-f", "json", *gates)

    assert result.code == 1
    assert [gate["passed"] for gate in result.json["gates"]] == [False, True]
    assert "documents.schema_valid_share 0.5 < 0.6" in result.err


def test_a_gate_on_verdicts_that_nobody_asked_for_never_passes(stickler, four):
    result = stickler(*EVAL, "gt", "--gate", "documents.schema_valid_share>=0")

    assert result.code == 1
    assert (
        "documents.schema_valid_share is undefined: predictions were not validated (add --validate "
        "pred)" in result.out
    )


def test_pairs_in_memory_are_judged_too(data):
    write(data / "strict.json", STRICT)
    pairs = [(GOOD, BAD), (GOOD, {"total": "x"}), (GOOD, None), ([], 1)]
    of_dict, of_file = (
        evaluate_many(schema, pairs, validate="pred").to_dict()["validity"]
        for schema in (STRICT, "strict.json")
    )

    assert of_dict == of_file
    pred = of_dict["pred"]
    assert (pred["checked"], pred["valid"], pred["unreadable"]) == (3, 1, 1)
    assert pred["keywords"] == {"required": 1, "type": 1}


class Order(StructuredModel):
    id: str
    total: float = 0


def test_a_model_class_is_a_schema_to_judge_by():
    record = evaluate_many(Order, [({"id": "a"}, {"id": 1})], validate="both").to_dict()

    assert record["validity"]["gt"]["share"] == 1
    assert record["validity"]["pred"]["keywords"] == {"type": 1}


def test_a_compiled_schema_is_none_to_judge_by():
    with pytest.raises(UsageError, match="a schema that is already compiled"):
        evaluate_many(compile_schema(SCHEMA), [], validate="pred")


def test_a_choice_that_is_none_is_refused():
    with pytest.raises(
        UsageError, match="argument 'validate': the value is 'preds', expected one of none, pred"
    ):
        evaluate_many(SCHEMA, [], validate="preds")
