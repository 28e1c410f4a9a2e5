"""Laws for the score of any two documents."""

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from stickler_cli.core.json_values import is_absent
from stickler_cli.schema.compiler import compile_schema
from .accounts import compare, outline, swapped, tally, units, values_of, view
from .strategies import LEAVES, Scope, X, cases, json_objects, shuffled

ANYTHING = Scope(wrong=True)

# Ties go to equal positions by 1e-9 a pair: the total may fall short by as much.
TIES = 1e-8

UNORDERED = tuple(kind for kind in LEAVES if kind != "box")
SYMMETRIC = Scope(kinds=(*LEAVES, "object", "list", "tuple", "map", "recursion"), undeclared=False)


def score(case, gt, pred):
    return compare(case.plan, gt, pred, case.options).similarity


@given(cases(ANYTHING), json_objects, json_objects)
def test_any_two_documents_are_compared_without_an_error(case, gt, pred):
    for sides in ((gt, pred), (case.gt, pred), (gt, case.pred), (case.gt, case.pred)):
        result = view(compare(case.plan, *sides, case.options))

        assert json.loads(json.dumps(result)) == result


@given(cases(ANYTHING))
def test_every_score_is_from_0_to_the_similarity_and_this_at_most_1(case):
    for unit in units(compare(case.plan, case.gt, case.pred, case.options)):
        assert 0 <= unit.similarity <= 1
        assert 0 <= unit.score <= min(unit.similarity + 1e-12, 1)


@given(cases(ANYTHING))
def test_a_comparison_leaves_its_documents_as_they_were(case):
    before = json.dumps([case.gt, case.pred])

    compare(case.plan, case.gt, case.pred, case.options)

    assert json.dumps([case.gt, case.pred]) == before


@given(cases(ANYTHING))
def test_a_comparison_made_twice_is_the_same(case):
    first = compare(case.plan, case.gt, case.pred, case.options)
    fresh = compile_schema(case.schema)

    for plan in (case.plan, fresh):
        again = compare(plan, case.gt, case.pred, case.options)
        assert values_of(again) == values_of(first)


@given(
    st.data(),
    cases(Scope(kinds=(*UNORDERED, "object", "list", "map", "union", "open", "recursion"))),
)
def test_the_order_of_lists_does_not_matter_to_the_similarity(data, case):
    """Where elements clip, assignments of equal total similarity may differ in score."""
    gt, pred = data.draw(shuffled(case.gt)), data.draw(shuffled(case.pred))

    assert abs(score(case, gt, pred) - score(case, case.gt, case.pred)) <= TIES


@given(cases(ANYTHING), st.sampled_from((0.1, 1, 5)))
def test_adding_a_correct_field_never_lowers_the_score(case, weight):
    properties = {**case.schema["properties"], "new": {"type": "string", X + "weight": weight}}
    richer = compile_schema({**case.schema, "properties": properties})
    added = compare(
        richer, {**case.gt, "new": "right"}, {**case.pred, "new": "right"}, case.options
    )

    assert added.similarity >= score(case, case.gt, case.pred) - 1e-12


@given(st.data(), cases(ANYTHING))
def test_losing_the_prediction_of_a_field_never_raises_the_score(data, case):
    assume(case.gt)
    name = data.draw(st.sampled_from(sorted(case.gt)))
    assume(not is_absent(case.gt[name]))
    poorer = {key: value for key, value in case.pred.items() if key != name}

    assert score(case, case.gt, poorer) <= score(case, case.gt, case.pred) + 1e-12


@given(cases(ANYTHING))
def test_a_field_absent_on_both_sides_has_no_say(case):
    properties = {**case.schema["properties"], "new": {"type": "string", X + "weight": 7}}
    richer = compile_schema({**case.schema, "properties": properties})
    added = compare(richer, case.gt, {**case.pred, "new": ""}, case.options)

    assert added.similarity == score(case, case.gt, case.pred)


@given(cases(SYMMETRIC))
def test_swapping_the_sides_keeps_the_score(case):
    forth, back = score(case, case.gt, case.pred), score(case, case.pred, case.gt)

    assert abs(forth - back) <= TIES


@given(cases(Scope(kinds=(*LEAVES, "object", "tuple", "map"), undeclared=False)))
def test_swapping_the_sides_swaps_missed_and_invented(case):
    """Lists with ties may pair otherwise: see test_pairing for those without."""
    forth = tally(compare(case.plan, case.gt, case.pred, case.options))
    back = tally(compare(case.plan, case.pred, case.gt, case.options))

    assert swapped(forth) == outline(back)
