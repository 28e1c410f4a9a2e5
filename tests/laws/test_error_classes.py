"""Error classes: any two values have one, and it stays related if the sides are exchanged."""

from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.compare.result import Outcome
from stickler_cli.compare.tree import explain, tree_of
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.errors.causes import overall
from stickler_cli.score.errors.error_classes import ErrorClass, ValuePlaces, classify
from stickler_cli.score.evaluation import Evaluation
from .accounts import compare, non_matches
from .strategies import Scope, cases, json_values, scalars

ANYTHING = Scope(wrong=True)
OTHER_WAY = {ErrorClass.TRUNCATED: ErrorClass.OVERRUN, ErrorClass.OVERRUN: ErrorClass.TRUNCATED}

texts = st.text("aAoO0lI1 .,-/5S8Bé$%()", max_size=8) | st.dates().map(str)
values = scalars | texts | st.floats() | st.integers() | st.decimals(places=2).map(str)


def class_of(gt, pred):
    return classify(Outcome.FD, ("a",), gt, pred, ValuePlaces({"a": gt}))


@given(values, values)
def test_scalars_have_the_same_class_both_ways(gt, pred):
    error_class = class_of(gt, pred)

    assert class_of(pred, gt) is OTHER_WAY.get(error_class, error_class)


@given(json_values, json_values, json_values)
def test_any_values_in_any_document_have_a_class(gt, pred, document):
    for path in (("a",), ("a", 0), ("k1", 2, "a")):
        for outcome in (Outcome.FD, Outcome.FA, Outcome.FN):
            assert classify(outcome, path, gt, pred, ValuePlaces(document)) in ErrorClass


@given(cases(ANYTHING))
def test_every_error_is_counted_in_one_class(case):
    comparison = compare(case.plan, case.gt, case.pred, case.options)
    evaluation = Evaluation()
    evaluation.add(batch_of_unit(comparison))

    errors = non_matches(comparison)
    values = [error for error in errors if error.values is None]
    assert evaluation.errors.overall().total() == len(values)
    assert overall(evaluation.errors.units).total() == len(errors) - len(values)
    n_inside = sum(error.inside is not None for error in values)
    assert n_inside == sum(error.values or 0 for error in errors)
    assert read_evaluation(evaluation.to_dict()).errors == evaluation.errors


def places_of(place):
    yield place
    for child in place.parts:
        yield from places_of(child)


@given(cases(ANYTHING))
def test_what_is_explained_adds_up(case):
    comparison = compare(case.plan, case.gt, case.pred, case.options)
    root = tree_of(comparison.table, 0, case.options)
    explain(root)

    assert (root.similarity, root.score) == (comparison.similarity, comparison.score)
    for place in places_of(root):
        if place.sum is not None:
            added = sum(child.adds for child in place.parts if child.adds is not None)
            is_clipped = place.score == 0 and place.outcome is Outcome.FD
            assert abs(added - place.sum.total) < 1e-9
            assert is_clipped or abs(place.sum.value - place.score) < 1e-9
