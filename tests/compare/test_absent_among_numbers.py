import pytest

from stickler_cli.compare.comparison import comparison_of
from stickler_cli.compare.engine import compare
from stickler_cli.schema.compiler import compile_schema


@pytest.mark.parametrize("leaf", [{"type": "number"}, {"type": "string", "format": "date"}])
def test_a_field_absent_on_both_sides_scores_1_beside_documents_that_have_it(leaf):
    plan = compile_schema({"type": "object", "properties": {"a": leaf, "b": {"type": "string"}}})
    values = ("2024-01-05", "5 Jan 24") if leaf["type"] == "string" else (1e301, 7)
    gts = [{"b": "x"}, {"a": values[0], "b": "x"}]
    preds = [{"b": "x"}, {"a": values[1], "b": "x"}]
    account = compare(plan, gts, preds)
    (absent, _), (present, _) = (comparison_of(account, at).fields for at in (0, 1))
    assert (absent.comparison.outcome.name, absent.comparison.score) == ("TN", 1.0)
    assert present.comparison.outcome.name in {"TP", "FD"}
