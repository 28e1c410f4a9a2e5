import pickle

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.result import ERRORS, ElementComparison, LeafComparison, Outcome
from stickler_cli.core.problems import ComparisonError
from stickler_cli.schema.compiler import compile_schema

LEAF = LeafComparison("a", "a", Outcome.TP, 1.0, 1.0, 0.5)

ORDER = {
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "buyer": {"type": "object", "properties": {"name": {"type": "string"}}},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {}}}},
        "size": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
    },
}


def test_a_result_survives_pickling():
    comparison = compare(
        compile_schema(ORDER),
        {
            "number": "A1",
            "buyer": {"name": "n"},
            "lines": [{"sku": 1}, {"sku": 2}],
            "size": [1, "m"],
        },
        {"number": "A1", "buyer": "n", "lines": [{"sku": 1}], "size": [1, "cm"], "new": 1},
    )

    assert pickle.loads(pickle.dumps(comparison)) == comparison  # noqa: S301 # made here


def test_an_error_survives_pickling():
    error = ComparisonError("it broke", ("a", "b"))

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 # made here

    assert (copy.cause, copy.path, str(copy)) == (error.cause, error.path, str(error))


def test_the_five_outcomes_are_positions_in_a_list_of_counts():
    assert [outcome.name for outcome in Outcome] == ["TP", "FD", "FA", "FN", "TN"]
    assert list(Outcome) == [0, 1, 2, 3, 4]


def test_three_outcomes_are_errors():
    assert {Outcome.FD, Outcome.FA, Outcome.FN} == ERRORS


@pytest.mark.parametrize("outcome", Outcome)
def test_only_a_match_opens_the_gate(outcome):
    assert ElementComparison(0, 0, outcome, 0.5, LEAF).passed is (outcome is Outcome.TP)
