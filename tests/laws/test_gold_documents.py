"""Laws for ground truths with alternatives, and with values that are not labelled."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from stickler_cli.core.json_values import is_absent
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from .accounts import outline, tally, units, view
from .strategies import KINDS, LEAVES, UNLABELLED, Scope, X, annotated, cases, edited, json_values
from .test_clipping import judgements, without_clipping

ANYTHING = Scope(wrong=True, open_lists=True)


def compare(plan, gt, pred, options=None):
    """Compare two documents after unwrapping the ground truth; return the tree of units."""
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    account = engine.compare(plan, [bare.value], [pred], options, gold=[bare.gold])
    return tree_of(account, 0)


def place_of(case, gt, pred=None):
    """Compare documents with one field, `x`; return the unit of this field.

    None if the field is not labelled.
    """
    fields = compare(case.plan, gt, case.pred if pred is None else pred, case.options).fields
    return next((field for field in fields if field.name == "x"), None)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_clipping_changes_no_count_and_no_pair_beside_alternatives(kind):
    @given(st.data(), cases(ANYTHING, kind=kind))
    def holds(data, case):
        gt = data.draw(annotated(case.gt))
        plain_plan = compile_schema(without_clipping(case.schema))
        clipped = compare(case.plan, gt, case.pred, case.options)
        plain = compare(plain_plan, gt, case.pred, case.options)

        assert judgements(clipped) == judgements(plain)
        assert outline(tally(clipped)) == outline(tally(plain))

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_one_more_alternative_never_lowers_the_similarity_of_its_place(kind):
    @given(st.data(), cases(ANYTHING, kind=kind))
    def holds(data, case):
        value = data.draw(annotated(case.gt["x"]))
        first, second = (data.draw(edited(case.pred["x"]) | json_values) for _ in range(2))
        few, score_of_two = (
            place_of(case, {"x": {"_value": value, "_alternatives": alternatives}})
            for alternatives in ([first], [first, second])
        )
        # Where an open list has no items in any candidate, nothing in it is judged.
        assume(few is not None and not (few.outcome.name == "TN" and case.pred["x"]))

        assert few.similarity <= score_of_two.similarity + 1e-12
        # A score is clipped inside nested values, so that a more similar one may have less.
        if few.shape == score_of_two.shape and kind in LEAVES:
            assert few.score <= score_of_two.score + 1e-12

    holds()


def an_open_list(kind):
    """Return a strategy for (case, plan) in which field `x` is an open list of a kind.

    The ground truth of an open list does not name all items.
    """
    return cases(ANYTHING, kind=kind).map(as_open)


def as_open(case):
    field = {"type": "array", "items": case.schema["properties"]["x"], X + "exhaustive": False}
    return case, compile_schema({**case.schema, "properties": {"x": field}})


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_absent_alternative_never_changes_an_open_list_of_which_something_is_predicted(kind):
    @given(st.data(), an_open_list(kind), st.sampled_from((None, [], [None], "")))
    def holds(data, drawn, absent):
        case, plan = drawn
        gt, pred = [data.draw(annotated(case.gt["x"]))], [case.pred["x"]]
        assume(not is_absent(pred))
        plain, optional = (
            compare(plan, {"x": {"_value": gt, **extra}}, {"x": pred}, case.options)
            for extra in ({}, {"_alternatives": [absent]})
        )

        assert judgements(plain) == judgements(optional)
        assert view(plain) == view(optional)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_place_that_is_not_labelled_can_be_predicted_as_anything(kind):
    @given(st.data(), cases(ANYTHING, kind=kind), json_values)
    def holds(data, case, value):
        kind_of_place = data.draw(st.sampled_from(("field", "nested", "item")))
        if kind_of_place == "field":
            schema = case.schema
            gt, *preds = {"x": UNLABELLED}, {"x": case.pred["x"]}, {"x": value}
        else:
            item = {
                "type": "object",
                "properties": {**case.schema["properties"], "k": {"type": "string"}},
            }
            beside = st.sampled_from(
                ("key", UNLABELLED, {"_value": "no", "_alternatives": ["key"]})
            )
            gt = {"x": UNLABELLED, "k": data.draw(beside)}
            preds = [{"x": value_, "k": "key"} for value_ in (case.pred["x"], value)]
            if kind_of_place == "item":
                item = {"type": "array", "items": item}
                gt, *preds = [gt], *([pred] for pred in preds)
            schema = {**case.schema, "properties": {"o": item}}
            gt, *preds = {"o": gt}, *({"o": pred} for pred in preds)
        plan = compile_schema(schema)

        first, other = (view(compare(plan, gt, pred, case.options)) for pred in preds)
        assert first == other

    holds()


WORD = {"type": "string"}
FIELDS_BESIDE = {
    "k": WORD,
    "l": {"type": "array", "items": WORD},
    "t": {"type": "array", "prefixItems": [WORD, WORD]},
    "m": {"type": "object", "additionalProperties": WORD},
}
BESIDE = {"k": "key", "l": ["a", "b"], "t": ["c", "d"], "m": {"n": "e"}}


@pytest.mark.slow
@given(st.data(), cases(ANYTHING, kind="text"), json_values)
def test_beside_alternatives_too_a_place_that_is_not_labelled_changes_no_judgement(
    data, case, value
):
    properties = {**case.schema["properties"], **FIELDS_BESIDE}
    item = {"type": "object", "properties": properties}
    plan = compile_schema({**case.schema, "properties": {**properties, "o": item}})
    gt, inner_gt = (
        {**{name: data.draw(annotated(field)) for name, field in BESIDE.items()}, "x": UNLABELLED}
        for _ in range(2)
    )
    beside = {**{name: data.draw(edited(field)) for name, field in BESIDE.items()}, "k": "key"}
    preds = [{**beside, "x": predicted} for predicted in (case.pred["x"], value)]

    first, other = (
        compare(plan, {**gt, "o": inner_gt}, {**pred, "o": pred}, case.options) for pred in preds
    )
    assert judgements(first) == judgements(other)
    assert outline(tally(first)) == outline(tally(other))


def wrapped(value):
    """Return a value in which the value itself, and every value inside it, is wrapped."""
    if isinstance(value, dict):
        value = {name: wrapped(child) for name, child in value.items()}
    return {"_value": [*map(wrapped, value)] if isinstance(value, list) else value}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_to_wrap_every_value_changes_nothing(kind):
    @given(cases(ANYTHING, kind=kind), st.booleans())
    def holds(case, partial_gt):
        options = replace(case.options, partial_gt=partial_gt)
        plain, wrapped_one = (
            compare(case.plan, gt, case.pred, options) for gt in (case.gt, wrapped(case.gt))
        )

        assert judgements(plain) == judgements(wrapped_one)
        assert view(plain) == view(wrapped_one)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_every_figure_of_an_annotated_ground_truth_is_from_0_to_1(kind):
    @given(st.data(), cases(ANYTHING, kind=kind))
    def holds(data, case):
        for unit in units(compare(case.plan, data.draw(annotated(case.gt)), case.pred)):
            assert 0 <= unit.score <= unit.similarity + 1e-12 <= 1 + 2e-12

    holds()
