import pytest

from stickler_cli.compare.list import ListNode
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.plan import Options
from .nodes import (
    a_list,
    alike,
    an_object,
    compared,
    exact,
    number,
    pairs_of,
    table,
    text,
)


def item(name, code="x"):
    return {"name": name, "code": code}


@pytest.mark.parametrize(
    ("own_floor", "run", "is_pair"),
    [
        (None, 0.2, True),
        (None, 0.5, False),
        (None, -1, True),
        (0.5, 0.2, False),
        (0.4, 0.9, True),
        (0, 0.9, True),
        (-1, 0.9, True),
    ],
)
def test_a_list_of_its_own_floor_does_not_ask_the_run(own_floor, run, is_pair):
    node = a_list(text(), pairing_floor=own_floor)

    comparison = compared(node, ["abcdef"], ["abcxyz"], Options(pairing_floor=run))

    assert len(comparison.items) == (1 if is_pair else 2)
    assert comparison.score == (0.5 if is_pair else 0)
    assert alike(node, ["abcdef"], ["abcxyz"], Options(pairing_floor=run)) == comparison.score


def test_a_clipped_pair_scores_nothing_and_the_raw_score_keeps_it():
    node = a_list(text(threshold=0.6, clip=True))
    gt, pred = ["abcdef", "ab"], ["abcxyz", "ab"]

    comparison = compared(node, gt, pred)

    # The mean of 0.5 and 1 is 0.75; clipped it is that of 0 and 1.
    assert (comparison.similarity, comparison.score) == (0.75, 0.5)
    assert alike(node, gt, pred) == 0.75  # what pairs and judges the list in another one
    assert table(node, [gt], [pred]) == [[0.75]]


class Text(Acceptor):
    def __call__(self, value):
        return isinstance(value, str)


class Number(Acceptor):
    def __call__(self, value):
        return isinstance(value, int | float)


def test_each_pair_of_a_union_is_compared_as_the_kind_of_its_ground_truth():
    either = OneOfNode(
        threshold=0.5,
        arms=(Arm(Text(), text(threshold=0.9, clip=True)), Arm(Number(), number(threshold=0.5))),
    )
    node = ListNode(threshold=0.5, items=either)
    gt, pred = ["abcd", 5], [5.0, "abcx"]

    comparison = compared(node, gt, pred)

    # Texts clip below 0.9, so 0.75 scores 0; numbers are equal.
    assert pairs_of(comparison) == [(0, 1, "FD"), (1, 0, "TP")]
    assert [element.threshold for element in comparison.items] == [0.9, 0.5]
    assert (comparison.similarity, comparison.score) == (0.875, 0.5)
    assert alike(node, gt, pred) == 0.875


def text_or_number(text_threshold, number_threshold, *others):
    arms = Arm(Text(), text(text_threshold)), Arm(Number(), number(number_threshold))
    return OneOfNode(threshold=text_threshold, arms=(*arms, *others))


def unsaid(items):
    """Return a list node without a threshold of its own: its items have the threshold."""
    return a_list(items, threshold=0.6, threshold_stated=False)


def thresholds(comparison):
    return [element.threshold for element in comparison.items]


def test_lists_of_a_union_pass_on_the_threshold_of_the_arm_of_their_first_element():
    node = a_list(unsaid(text_or_number(0.9, 0.3)))
    gt = [[1, "x"], ["x", 1], [2], [None, "", "x"], [[], 3, "x"]]

    assert thresholds(compared(node, gt, gt)) == [0.3, 0.9, 0.3, 0.9, 0.3]


def test_a_key_of_little_weight_does_not_keep_items_from_their_best_partner():
    node = a_list(an_object(code=exact(weight=0.1), name=text(weight=0.9)))
    names = ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"]
    gt = [item(name, f"{index}") for index, name in enumerate(names)]
    pred = [item(names[index - 1], f"{index}") for index in range(6)]

    comparison = compared(node, gt, pred)

    # Equal codes are worth 0.1 and equal names 0.9.
    assert pairs_of(comparison) == [(index, (index + 1) % 6, "TP") for index in range(6)]


def coded(code, **texts):
    return {"kind": "same", "code": f"{code % 6}", **texts}


def test_items_of_the_same_code_are_no_pair_where_others_have_more_in_common():
    item = an_object(
        kind=exact(weight=3), code=exact(), first=text(), second=text(), match_threshold=0.8
    )
    gt = [coded(index, first=name, second=name * 2) for index, name in enumerate("abcdef")]
    pred = [coded(index + 1, first=name, second=name * 2) for index, name in enumerate("abcdef")]

    # All but the code is 5 of 6, and kind and code are 4 of 6.
    assert pairs_of(compared(a_list(item), gt, pred[::-1])) == [
        (index, 5 - index, "TP") for index in range(6)
    ]


def test_lists_of_a_union_pass_on_the_threshold_of_their_own_elements():
    class Begins(Acceptor):
        def __init__(self, kind):
            self.kind = kind

        def __call__(self, value):
            return isinstance(value[0], self.kind)

    def arm(kind, item):
        return Arm(Begins(kind), a_list(item, threshold_stated=False))

    union = OneOfNode(threshold=0.5, arms=(arm(bool, exact()), arm(str, text(0.6))))
    comparison = compared(a_list(union), [[True], ["abc"]], [[True], ["abd"]])

    assert [element.threshold for element in comparison.items] == [1.0, 0.6]
    assert pairs_of(comparison) == [(0, 0, "TP"), (1, 1, "TP")]


def test_lists_in_items_are_those_of_their_items_whichever_have_no_pair():
    node = a_list(an_object(name=exact(weight=3.0), tags=a_list(text())), threshold=0.7)
    gt = [item_with("a", "x", "y"), item_with("b", "z", "w"), item_with("c"), item_with("d", "q")]
    pred = [item_with("d", "q"), item_with("e", "x"), item_with("b", "w", "z")]
    comparison = compared(node, gt, pred)

    assert pairs_of(comparison) == [
        (0, None, "FN"),
        (1, 2, "TP"),
        (2, None, "FN"),
        (3, 0, "TP"),
        (None, 1, "FA"),
    ]
    tags = [element.fields[1] for element in comparison.items]
    assert [pairs_of(tag) for tag in tags] == [
        [(0, None, "FN"), (1, None, "FN")],
        [(0, 1, "TP"), (1, 0, "TP")],
        [],
        [(0, 0, "TP")],
        [(None, 0, "FA")],
    ]


def item_with(name, *tags):
    return {"name": name, "tags": [*tags]}
