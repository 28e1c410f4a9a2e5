"""`eval_for`, `EvalSpec`, rules for single fields, and `assert_matches`."""

import json

import pytest
from pydantic import BaseModel

from stickler_cli import (
    ComparableField,
    EvalSpec,
    ExactComparator,
    FuzzyComparator,
    SchemaError,
    Scorer,
    StructuredModel,
    UsageError,
    assert_matches,
    eval_for,
    evaluate,
)
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Options
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.settings.of_commands import EvalSettings


class Address(BaseModel):
    zip: str | None = None
    city: str = ""


class Order(BaseModel):
    billing: Address
    shipping: Address
    stops: list[Address] | None = None
    by_name: dict[str, Address] = {}


GT = {"billing": {"zip": "12345", "city": "Berlin"}, "shipping": {"zip": "1", "city": "Bonn"}}
PRED = {"billing": {"zip": "12346", "city": "Berlin"}, "shipping": {"zip": "1", "city": "Bonn"}}


def compared_by(spec):
    return {
        field_path(row.field): (row.comparator, row.threshold, row.weight)
        for row in field_listing(spec.plan)
    }


def test_a_spec_gives_what_evaluate_gives_for_any_number_of_pairs():
    spec = eval_for(Order)

    for gt, pred in ((GT, PRED), (Order(**GT), PRED), (GT, Order(**PRED)), (GT, GT)):
        assert spec.evaluate(gt, pred).to_dict() == evaluate(gt, pred, schema=Order).to_dict()
    assert eval_for(Order) is spec
    assert spec.explain() == spec.evaluate(GT, PRED).explain()


def test_a_rule_is_of_one_field_whatever_else_has_the_same_definition():
    before = compared_by(eval_for(Order))
    rules = {
        "billing.zip": {"comparator": FuzzyComparator(threshold=0.6), "weight": 3},
        "stops.zip": {"comparator": "LevenshteinComparator", "threshold": 0.9},
        "by_name.*.city": {"weight": 2.0},
        "stops": {"weight": 0.5},
    }

    after = compared_by(eval_for(Order, rules))

    assert after == before | {
        "billing.zip": ("FuzzyComparator", 0.6, 3.0),
        "stops.zip": ("LevenshteinComparator", 0.9, 1.0),
        "by_name.*.city": (*before["by_name.*.city"][:2], 2.0),
        "stops": (*before["stops"][:2], 0.5),
    }


def test_a_comparator_without_a_threshold_keeps_that_of_the_field():
    threshold = compared_by(eval_for(Order))["billing.zip"][1]
    rules = {"billing.zip": {"comparator": FuzzyComparator()}}

    assert compared_by(eval_for(Order, rules))["billing.zip"] == ("FuzzyComparator", threshold, 1)


def test_rules_say_in_the_explanation_who_said_them():
    lines = eval_for(Order, {"billing.zip": {"weight": 3.0}}).explain().splitlines()

    assert [line for line in lines if "as requested" in line] == [
        line for line in lines if line.startswith("billing.zip")
    ]
    assert "an identifier" in next(line for line in lines if line.startswith("shipping.zip"))


def test_what_is_no_field_and_no_rule_is_told_at_once():
    rules = {"biling.zip": {}, "shipping": {"weigth": 1}}

    with pytest.raises(UsageError) as caught:
        eval_for(Order, rules)

    first, second = map(str, caught.value.problems)
    assert "there is no field 'biling.zip'" in first
    assert "did you mean billing.zip?" in first
    assert "the field 'shipping' has no rule 'weigth'" in second
    assert "did you mean weight?" in second


def test_a_rule_out_of_range_is_told_as_in_a_schema():
    with pytest.raises(SchemaError, match="weight is -1"):
        eval_for(Order, {"billing": {"weight": -1}})


SCHEMA = {"type": "object", "properties": {"code": {"type": "string"}, "size": True}}


def test_a_schema_may_be_json_or_its_file(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    gt, pred = {"code": "abcd", "size": 1}, {"code": "abcx", "size": 1}
    rules = {"code": {"comparator": FuzzyComparator(), "threshold": 0.7}, "size": {"weight": 3}}

    # Without rules a code must be the same; with them 3 of 4 letters are enough.
    for schema in (SCHEMA, path, str(path)):
        assert evaluate(gt, pred, schema=schema).overall_score == 0.5
        ruled = evaluate(gt, pred, schema=schema, fields=rules)
        assert ruled.overall_score == (0.75 + 3) / 4
        assert ruled.all_fields_matched
    assert SCHEMA["properties"]["size"] is True


def test_two_dicts_alone_are_compared_as_the_values_of_the_ground_truth_show():
    result = evaluate({"total": 1.5, "lines": [{"sku": "a"}]}, {"total": 1.5, "lines": []})

    assert result.field_scores == {"total": 1.0, "lines": 0.0}
    assert evaluate([{"a": 1}], [{"a": 1}]).overall_score == 1.0
    rules = {"lines": {"weight": 3.0}}
    weighed = evaluate({"total": 1, "lines": [1]}, {"total": 1}, fields=rules)
    assert weighed.overall_score == 1 / 4


class Invoice(StructuredModel):
    number: str = ComparableField(ExactComparator(), weight=2.0)
    total: float = ComparableField()


INVOICE = {"number": "A1", "total": 1.0}
WRONG = {"number": "A2", "total": 1.0}


@pytest.mark.parametrize(
    ("gt", "schema"),
    [(Invoice(**INVOICE), None), (INVOICE, Invoice), (INVOICE, eval_for(Invoice)), (INVOICE, None)],
)
def test_an_assertion_holds_or_names_the_fields_that_are_wrong(gt, schema):
    assert_matches(gt, INVOICE, schema)
    with pytest.raises(AssertionError) as caught:
        assert_matches(gt, WRONG, schema)

    first, *other_lines = str(caught.value).splitlines()
    assert first == "1 error"
    text = "\n".join(other_lines)
    assert text == evaluate(gt, WRONG, schema=Invoice if schema else None).comparison.explain(
        "errors", 100
    )
    assert "  number" in text
    assert "  total" not in text


def test_an_assertion_may_ask_for_a_score():
    assert_matches(INVOICE, WRONG, Invoice, min_score=1 / 3)
    with pytest.raises(AssertionError, match=r"^overall score 0\.3333 is below 0\.5\n"):
        assert_matches(INVOICE, WRONG, Invoice, min_score=0.5)
    assert_matches(INVOICE, WRONG, Invoice, min_score=0.5, fields={"total": {"weight": 2.0}})


def test_an_assertion_that_cannot_be_meant_is_refused():
    with pytest.raises(ValueError, match="min_score is 95"):
        assert_matches(INVOICE, INVOICE, Invoice, min_score=95)
    with pytest.raises(ValueError, match="give the fields to eval_for"):
        assert_matches(INVOICE, INVOICE, eval_for(Invoice), fields={"total": {"weight": 2.0}})
    assert isinstance(eval_for(Invoice), EvalSpec)


LONG = {"a": "ab" * 30_000}, {"a": "cd" * 30_000}


def within(limit):
    """Return a scorer for documents with a text field `a`.

    `limit` is the limit on the work for a pair of documents.
    """
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    return Scorer(schema, options=Options(work_limit=limit))


def test_a_pair_of_too_much_work_is_refused_as_in_a_run():
    class Text(StructuredModel):
        a: str

    with pytest.raises(WorkLimitError, match="most of the work is in field a"):
        within(0.1).evaluate(*LONG)
    with pytest.raises(WorkLimitError):
        Text(**LONG[0]).compare_with(Text(**LONG[1]), options=Options(work_limit=0.1))
    assert Options().work_limit == EvalSettings.work_limit
    assert within(None).evaluate(*LONG).overall_score == 0


def test_the_pairs_of_a_batch_have_the_limit_each():
    scorer = within(0.0003)
    pairs = [({"a": f"{index}abcd" * 100}, {"a": f"{index}efgh" * 100}) for index in range(40)]
    scores = [scorer.evaluate(*pair).overall_score for pair in pairs]

    assert [evaluation.overall_score for evaluation in scorer.evaluate_batch(pairs)] == scores
    with pytest.raises(WorkLimitError):
        scorer.evaluate_batch([*pairs, LONG])
