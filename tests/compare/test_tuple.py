from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD, TupleNode
from .nodes import (
    a_list,
    alike,
    an_object,
    anything,
    compared,
    exact,
    number,
    pairs_of,
    text,
)

PAIR = TupleNode(threshold=0.5, positions=(text(threshold=0.8), number()), other_positions=exact())


def test_a_tuple_passes_at_a_half_by_default():
    assert DEFAULT_TUPLE_THRESHOLD == 0.5


def test_a_clipped_position_lowers_the_score_and_not_the_raw_score():
    node = TupleNode(
        threshold=0.5, positions=(text(threshold=0.8, clip=True),), other_positions=exact()
    )
    comparison = compared(node, ["abcd", "x"], ["abcx", "x"])

    assert (comparison.similarity, comparison.score) == (0.875, 0.5)
    assert alike(node, ["abcd", "x"], ["abcx", "x"]) == 0.875


def test_objects_and_lists_pass_on_the_threshold_of_their_position():
    node = TupleNode(
        threshold=0.5,
        positions=(
            an_object(a=text(), threshold=0.5, match_threshold=0.9),
            a_list(exact(), threshold=0.6),
        ),
        other_positions=anything(),
    )
    comparison = compared(node, [{"a": "abcd"}, ["x", "y"]], [{"a": "abcx"}, ["y"]])

    assert pairs_of(comparison) == [(0, 0, "TP"), (1, 1, "FD")]


def test_items_with_a_tuple_pair_by_it_where_nothing_else_tells_them_apart():
    box = TupleNode(threshold=0.5, positions=(exact(), exact()), other_positions=exact())
    node = a_list(an_object(code=exact(), box=box, match_threshold=0.5))
    gt = [{"code": "a", "box": ["x", "y"]}, {"code": "b", "box": ["z", "w"]}, {"code": "e"}]
    pred = [{"code": "c", "box": ["z", "w"]}, {"code": "d", "box": ["x", "y"]}, {"box": ["v"]}]

    comparison = compared(node, gt, pred)

    assert pairs_of(comparison) == [
        (0, 1, "TP"),
        (1, 0, "TP"),
        (2, None, "FN"),
        (None, 2, "FA"),
    ]
    assert comparison.score == (0.5 + 0.5) / 3
