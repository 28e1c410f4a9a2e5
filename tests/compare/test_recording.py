"""Scoring pairs of values, and recording them in a table of units."""

import numpy as np
import pytest

from stickler_cli.compare.columns import NOTHING, Columns
from stickler_cli.compare.engine import compare
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.one_of import RecursionNode, Target
from stickler_cli.compare.pair_scores import PairGroup, PairScores, add_rows, join_groups
from stickler_cli.compare.plan import Plan
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.compare.units import VALUE, Placement, UnitTable
from .nodes import a_list, alike, an_object, text

FIRST, SECOND = np.array([0]), np.array([1])


def read_nothing(value):
    """Return None for every value, as if it were absent."""


def scores_of(similarity, slots, outcome=0):
    figures = np.array([similarity])
    return PairScores(text(), Columns(["a"], ["b"]), slots, slots, np.array([outcome]), figures)


@pytest.mark.parametrize(("pred", "score"), [(["a"], 1.0), (["b"], 0.0), ([], 0.0)])
def test_documents_may_be_lists(pred, score):
    table = compare(Plan(a_list(text()), "texts", kind="array"), [["a"]], [pred])

    assert table.document_scores.tolist() == [score]


def test_keys_whose_values_count_as_nothing_on_both_sides_are_no_units():
    root = an_object(extra_keys={"families": (Field("", text(reading=read_nothing)),)})

    table = compare(Plan(root, "map", has_ignored_values=True), [{"m": "x"}], [{"m": "y"}])

    assert table.size == 1
    assert table.document_scores.tolist() == [1.0]


def test_positions_of_tuples_that_count_as_nothing_are_left_out_of_the_mean():
    node = TupleNode(threshold=0.5, positions=(text(),), other_positions=text(reading=read_nothing))

    assert alike(node, ["ab", "x"], ["ac", "y"]) == 0.5


def test_an_object_is_only_ignored_by_the_node_of_an_object():
    assert text().ignores_all({"a": None}) is False
    assert an_object().ignores_all({"a": None}) is True


def test_groups_keep_which_pairs_have_nothing_to_compare():
    unfounded, plain = scores_of(1.0, FIRST), scores_of(0.5, FIRST)
    unfounded.is_unfounded = np.array([True])

    joined = join_groups(
        text(),
        unfounded.columns,
        np.array([0, 0]),
        np.array([0, 0]),
        [PairGroup(FIRST, unfounded), PairGroup(SECOND, plain)],
    )

    assert joined.is_empty.tolist() == [True, False]
    assert joined.similarity.tolist() == [1.0, 0.5]


def test_what_a_judge_said_and_the_chosen_alternative_are_noted_by_row():
    table, scores = UnitTable(2), scores_of(1.0, FIRST)
    place = Placement(container=None, positions=FIRST, document=FIRST, field=0)
    add_rows(table, VALUE, scores_of(0.5, FIRST), place._replace(gold_slot=np.array([NOTHING])))
    scores.reasons = {0: "they mean the same"}

    add_rows(table, VALUE, scores, place._replace(document=SECOND, gold_slot=np.array([3])))

    assert table.reasons == {1: "they mean the same"}
    assert table.gold_slots == {1: 3}


def test_a_reference_has_the_thresholds_of_its_target():
    target = Target()
    target.node = text(threshold=0.4)
    node = RecursionNode(threshold=0.9, location="#/$defs/t", target=target)

    assert node.element_thresholds(Columns(["a"], ["b"]), FIRST).tolist() == [0.4]
