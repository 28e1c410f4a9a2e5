"""Clipping lowers scores, and changes nothing else."""

import pytest
from hypothesis import given

from stickler_cli.schema.compiler import compile_schema
from .accounts import compare, outline, tally, units
from .strategies import KINDS, Scope, X, cases

ANYTHING = Scope(wrong=True)


def without_clipping(schema):
    """Return a copy of a schema without clipping."""
    if isinstance(schema, dict):
        kept = {
            name: keyword for name, keyword in schema.items() if name != f"{X}clip-under-threshold"
        }
        return {name: without_clipping(keyword) for name, keyword in kept.items()}
    return [*map(without_clipping, schema)] if isinstance(schema, list) else schema


def judgements(comparison):
    """Return outcome, similarity and pairs of all units of a comparison, but no scores."""
    return [
        (
            *(getattr(unit, name) for name in ("shape", "outcome", "similarity", "threshold")),
            [(field.name, field.weight, field.in_aggregate) for field in unit.fields],
            [(item.gt_index, item.pred_index, item.outcome) for item in unit.items],
        )
        for unit in units(comparison)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_clipping_changes_no_count_and_no_pair(kind):
    @given(cases(ANYTHING, kind=kind))
    def holds(case):
        plain_plan = compile_schema(without_clipping(case.schema))
        clipped = compare(case.plan, case.gt, case.pred, case.options)
        plain = compare(plain_plan, case.gt, case.pred, case.options)

        assert judgements(clipped) == judgements(plain)
        assert outline(tally(clipped)) == outline(tally(plain))

    holds()


@given(cases(Scope(wrong=True, clip=False)))
def test_without_clipping_every_score_is_the_similarity(case):
    for unit in units(compare(case.plan, case.gt, case.pred, case.options)):
        assert unit.score == unit.similarity
