"""Compared units, also right ones: their attributes and their order."""

import numpy as np
import pytest

from stickler_cli.comparators.base import Answers, BaseComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.plan import Plan
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.error_rows import error_of
from stickler_cli.score.errors.located_units import located_units
from stickler_cli.score.errors.wrong_units import compared_fields, is_judged_unit
from .batches import TEXT, X, an_object, annotated_batch, batch


def units(schema, gt, pred):
    table = batch(compile_schema(schema), {"": (gt, pred)}).table
    (judged,) = located_units(table, is_judged_unit, extra_keys="judged")
    return judged


def paths(schema, gt, pred):
    return [
        (unit.path, unit.outcome.name, unit.has_parts_listed) for unit in units(schema, gt, pred)
    ]


def test_an_item_that_matches_is_told_by_its_fields_and_another_as_a_whole():
    item = an_object(a=TEXT, b=TEXT)
    schema = an_object(rows={"type": "array", "items": item}, none={"type": "array", "items": TEXT})
    gt = {"rows": [{"a": "x", "b": "y"}, {"a": "1", "b": "2"}]}
    pred = {"rows": [{"a": "1", "b": "9"}, {"a": "x", "b": "y"}]}

    assert paths(schema, gt, pred) == [
        (("rows", 0, "a"), "TP", False),
        (("rows", 0, "b"), "TP", False),
        (("rows", 1), "FD", False),
        (("none",), "TN", False),
    ]


def test_a_list_in_a_list_is_judged_by_its_similarity_and_not_by_what_clipping_leaves():
    annotations = {"x-aws-stickler-threshold": 0.8, "x-aws-stickler-clip-under-threshold": True}
    inner = {"type": "array", "items": TEXT, **annotations}
    gt, pred = [["abcd", "x", "y"]], [["abcx", "x", "!"]]

    (unit,) = units(an_object(rows={"type": "array", "items": inner}), {"rows": gt}, {"rows": pred})

    # "abcd" and "abcx" share 0.75, which is below 0.8 and adds nothing: a score of 1 of 3 is left.
    assert (unit.path, unit.outcome.name) == (("rows", 0), "FD")
    assert (unit.similarity, unit.score) == (1.75 / 3, 1 / 3)


def test_only_items_that_both_sides_have_differ_in_fields():
    row = an_object(a=TEXT, b={"type": "array", "items": TEXT}, c=TEXT)
    schema = an_object(rows={"type": "array", "items": row}, tags={"type": "array", "items": TEXT})
    gt = {"rows": [{"a": "x", "b": ["y", "z"]}, {"a": "1", "b": ["2"]}], "tags": ["abcd"]}
    pred = {"rows": [{"a": "x", "b": ["y", "z", "!"], "c": "w", "d": 1}], "tags": ["axyz"]}

    compared_paths = [(unit.path, compared_fields(unit)) for unit in units(schema, gt, pred)]

    assert compared_paths == [
        (("rows", 0), (("b", "c", "d"), 1)),
        (("rows", 1), ((), 0)),
        (("tags", 0), ((), 0)),
    ]


def test_a_unit_has_the_figures_of_its_field():
    annotations = {"x-aws-stickler-threshold": 0.8, "x-aws-stickler-weight": 3}
    schema = an_object(a={**TEXT, **annotations, "x-aws-stickler-clip-under-threshold": True})

    (unit,) = units(schema, {"a": "abcd"}, {"a": "abcx"})

    assert (unit.similarity, unit.score, unit.threshold, unit.weight) == (0.75, 0.0, 0.8, 3.0)
    assert (unit.gt, unit.pred, unit.field_path) == ("abcd", "abcx", ("a",))


def test_an_undeclared_key_is_a_unit_with_a_name_of_its_own():
    schema = an_object(o=an_object(a=TEXT))

    *_, extra = units(schema, {"o": {"a": "x"}}, {"o": {"a": "x", "new": 1}})

    assert (extra.path, extra.field_path, extra.pred) == (("o", "new"), ("o", "new"), 1)
    assert (extra.gt_path, extra.pred_path) == (("o", "new"), ("o", "new"))
    assert not extra.has_parts_listed


class Judge(BaseComparator):
    """A judge that calls every pair wrong, and gives the two values as the reason."""

    asks_models = True

    def similarity(self, gt, pred):
        raise AssertionError("a judge is asked")

    def ask(self, client, gt, pred):
        reasons = [f"{gt_text} is not {other}" for gt_text, other in zip(gt, pred, strict=True)]
        return Answers(np.zeros(len(gt)), reasons)


def test_what_a_judge_says_is_told_of_the_pair_that_it_judged():
    leaf = LeafNode(threshold=0.5, comparator=Judge())
    plan = Plan(ObjectNode(threshold=0.7, fields=(Field("a", leaf), Field("b", leaf))), "Judged")
    document = {"a": "w", "b": "x"}, {"a": "w", "b": "z"}
    other = {"a": "u", "b": "y"}, {"a": "v", "b": ""}

    judged = batch(plan, {"1": document, "2": other})
    judgements = [
        [(error.path, error.judge) for error in judged.errors(document)] for document in (0, 1)
    ]

    assert judgements == [
        [("a", "w is not w"), ("b", "x is not z")],
        [("a", "u is not v"), ("b", "")],
    ]


def test_undeclared_keys_are_units_in_the_order_of_the_prediction_without_a_threshold():
    *_, first, second = units(an_object(a=TEXT), {"a": "x"}, {"new": 1, "a": "x", "also": 2})

    assert [unit.path for unit in (first, second)] == [("new",), ("also",)]
    assert (first.similarity, first.score, first.threshold, first.weight) == (0.0, 0.0, 0.0, 1.0)
    assert (compared_fields(first), first.reason) == (((), 0), "")


def test_what_is_simply_missed_or_invented_is_simple():
    arms = {"anyOf": [TEXT, {"type": "number"}]}
    schema = an_object(a=arms, o=an_object(b=arms), tags={"type": "array", "items": TEXT})
    pairs = {
        "1": ({"a": "x"}, {"o": {"b": "y"}, "tags": ["z"]}),
        "2": ({"o": {"b": 1}, "tags": ["z"]}, {"a": "x"}),
    }

    simple = [
        (errors.field_path, errors.error_class.value, document)
        for errors in batch(compile_schema(schema), pairs).simple_errors
        for document in errors.documents.tolist()
    ]

    # An invented value beside others may be that of another field, so that a of 2 is not simple.
    assert sorted(simple) == [
        (("a",), "missed_value", 0),
        (("o", "b"), "invented_value", 0),
        (("o", "b"), "missed_value", 1),
        (("tags",), "invented_item", 0),
        (("tags",), "missed_item", 1),
    ]


def test_errors_inside_of_no_other_are_those_of_all_that_are_inside_of_none():
    arms = {"anyOf": [TEXT, {"type": "number"}]}
    schema = an_object(a=arms, o=an_object(b=arms), tags={"type": "array", "items": TEXT})
    gt = {"a": "x", "o": {"b": "left"}, "tags": ["z", "same"]}
    pred = {"o": {"b": "right"}, "tags": ["same", "y"]}
    compared = batch(compile_schema(schema), {"1": (gt, pred), "2": (pred, gt)})

    for document, errors in enumerate(compared.outermost_errors):
        errors_found = [error_of("", error) for error in errors]
        expected = [error for error in compared.errors(document) if not error.inside]
        assert [(error.path, error.outcome, error.error_class) for error in errors_found] == [
            (error.path, error.outcome, error.error_class) for error in expected
        ]


def moved_of(items, gt, pred):
    schema = an_object(a={"type": "array", "items": items, "x-aws-stickler-ordered": True})
    compared = batch(compile_schema(schema), {"": ({"a": gt}, {"a": pred})})
    return [
        (error.unit.path[1:], error.error_class.value) for error in compared.classified_errors(0)
    ]


@pytest.mark.parametrize(
    ("gt", "pred", "classes"),
    [
        # "beta" is paired with none: it moved from the second place to the first.
        ("alpha beta", "beta alpha gamma", [(1, "moved"), (0, "moved"), (2, "invented_item")]),
        # It moves to one place only.
        (
            "alpha beta",
            "beta beta alpha alphas",
            [(0, "moved"), (0, "invented_item"), (2, "moved"), (3, "invented_item")],
        ),
        # Of two that could have moved one has.
        ("one two two", "two one", [(1, "moved"), (2, "missed_item"), (0, "moved")]),
    ],
)
def test_an_element_that_moved_is_missed_and_invented_as_a_move(gt, pred, classes):
    assert moved_of(TEXT, gt.split(), pred.split()) == [((place,), name) for place, name in classes]


def test_an_item_that_moved_is_told_as_a_whole_and_its_values_are_missed():
    item = an_object(a=TEXT, b=TEXT)
    gt = [{"a": "one", "b": "x"}, {"a": "two", "b": "y"}]

    assert moved_of(item, gt, gt[::-1]) == [
        ((1,), "moved"),
        ((1, "a"), "missed_value"),
        ((1, "b"), "missed_value"),
        ((0,), "moved"),
        ((0, "a"), "invented_value"),
        ((0, "b"), "invented_value"),
    ]


def labelled(schema, gt, pred):
    """Compare two documents, the ground truth with annotations; return the table of units."""
    return annotated_batch(compile_schema(schema), {"": (gt, pred)}).table


def test_fields_that_are_not_labelled_and_lists_without_items_tell_no_difference():
    row = an_object(a=TEXT, b=TEXT, c={"type": "array", "items": TEXT})
    schema = an_object(rows={"type": "array", "items": {**row, X + "match-threshold": 0.9}})
    item = {"a": "abcd", "b": {"_labelled": False}, "c": []}
    table = labelled(schema, {"rows": [item]}, {"rows": [{"a": "abxx", "b": "y", "c": []}]})

    (units,) = located_units(table, is_judged_unit, extra_keys="judged")
    (unit,) = [unit for unit in units if unit.path == ("rows", 0)]
    assert unit.outcome.name == "FD"
    assert compared_fields(unit) == ((), 1)


def test_a_unit_knows_the_alternatives_that_it_is_or_is_inside_of():
    schema = an_object(o=an_object(a=TEXT))
    inner = {"a": {"_value": "x", "_alternatives": ["y"]}}
    truth = {"o": {"_value": inner, "_alternatives": [{"a": "z"}]}}
    table = labelled(schema, truth, {"o": {"a": "y"}})

    (units,) = located_units(table, is_judged_unit, extra_keys="none")
    (unit,) = [unit for unit in units if unit.path == ("o", "a")]
    alternatives_taken = [
        (length, alternative.value) for length, alternative in unit.alternatives()
    ]
    assert alternatives_taken == [(2, "y"), (1, {"a": "x"})]
    assert table.sides_of(0)[1] == {"o": {"a": "y"}}


def test_an_undeclared_key_is_an_outermost_error():
    compared = batch(compile_schema(an_object(a=TEXT)), {"1": ({"a": "x"}, {"a": "x", "new": 1})})

    ((error,),) = compared.outermost_errors
    assert (error.unit.path, error.error_class.value) == (("new",), "invented_value")
