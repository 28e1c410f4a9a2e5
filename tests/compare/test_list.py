import pytest

from stickler_cli.compare.list import ListNode
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import Outcome
from .nodes import (
    DEFAULTS,
    a_list,
    alike,
    an_object,
    anything,
    compared,
    compared_together,
    exact,
    figures,
    number,
    pairs_of,
    table,
    text,
)

TAGS = a_list(exact())
ITEMS = a_list(an_object(name=text(), code=exact()), threshold=0.7)


def item(name, code="x"):
    return {"name": name, "code": code}


def test_order_does_not_matter():
    comparison = compared(TAGS, ["a", "b", "c"], ["c", "a", "b"])

    assert (comparison.similarity, comparison.score) == (1.0, 1.0)
    assert pairs_of(comparison) == [(0, 1, "TP"), (1, 2, "TP"), (2, 0, "TP")]


@pytest.mark.parametrize(
    ("gt", "pred", "score"),
    [
        (["a", "b"], ["a"], 1 / 2),
        (["a"], ["a", "b", "c"], 1 / 3),
        (["a"], ["b"], 0.0),
        (["a", "a"], ["a"], 1 / 2),
    ],
)
def test_the_score_is_what_the_pairs_score_over_the_longer_side(gt, pred, score):
    assert alike(TAGS, gt, pred) == score
    assert compared(TAGS, gt, pred).score == score


def test_elements_without_a_pair_are_missed_and_invented():
    comparison = compared(TAGS, ["a", "b"], ["c", "a", "d"])

    assert pairs_of(comparison) == [
        (0, 1, "TP"),
        (1, None, "FN"),
        (None, 0, "FA"),
        (None, 2, "FA"),
    ]


def test_a_pair_below_the_threshold_and_above_the_floor_is_a_false_discovery():
    # "abcdef" and "abcxyz" share half.
    comparison = compared(a_list(text(threshold=0.6)), ["abcdef"], ["abcxyz"])

    assert pairs_of(comparison) == [(0, 0, "FD")]
    assert (comparison.similarity, comparison.score) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("own", "run", "is_pair"),
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
def test_a_list_of_its_own_floor_does_not_ask_the_run(own, run, is_pair):
    node = a_list(text(), pairing_floor=own)

    comparison = compared(node, ["abcdef"], ["abcxyz"], Options(pairing_floor=run))

    assert len(comparison.elements) == (1 if is_pair else 2)
    assert comparison.score == (0.5 if is_pair else 0)
    assert alike(node, ["abcdef"], ["abcxyz"], Options(pairing_floor=run)) == comparison.score


def test_absent_elements_are_dropped_and_indexes_stay_those_of_the_document():
    comparison = compared(TAGS, [None, "a", ""], [[], {}, "a", "b"])

    assert pairs_of(comparison) == [(1, 2, "TP"), (None, 3, "FA")]
    assert comparison.score == 0.5


def test_a_list_of_nothing_is_absent():
    nothing = compared(TAGS, [None], [])

    assert figures(nothing) == ("list", None, None, Outcome.TN, 1.0, 1.0, 0.5)
    assert nothing.elements == ()
    assert pairs_of(compared(TAGS, [None, "a"], [None])) == [(1, None, "FN")]


def test_a_list_that_one_side_lacks_scores_0_and_counts_each_element():
    missed = compared(TAGS, ["a", "b"], None)
    invented = compared(TAGS, None, ["a", "b"])

    assert (missed.similarity, missed.score, missed.outcome) == (0.0, 0.0, Outcome.FN)
    assert pairs_of(missed) == [(0, None, "FN"), (1, None, "FN")]
    assert (invented.gt, invented.outcome) == (None, Outcome.FA)
    assert pairs_of(invented) == [(None, 0, "FA"), (None, 1, "FA")]


def test_a_value_that_is_no_list_counts_as_a_list_of_one():
    assert pairs_of(compared(TAGS, "a", ["b", "a"])) == [(0, 1, "TP"), (None, 0, "FA")]
    assert compared(TAGS, ["a"], "a").score == 1.0
    assert pairs_of(compared(TAGS, None, 0)) == [(None, 0, "FA")]
    assert table(TAGS, ["a", ["a", "b"]], ["a"]) == [[1.0], [0.5]]


def test_a_clipped_pair_scores_nothing_and_the_raw_score_keeps_it():
    node = a_list(text(threshold=0.6, clip=True))
    gt, pred = ["abcdef", "ab"], ["abcxyz", "ab"]

    comparison = compared(node, gt, pred)

    # The mean of 0.5 and 1 is 0.75; clipped it is that of 0 and 1.
    assert (comparison.similarity, comparison.score) == (0.75, 0.5)
    assert alike(node, gt, pred) == 0.5
    assert table(node, [gt], [pred]) == [[0.5]]


def test_items_pass_on_their_match_threshold():
    # Half of the similarity is the code's 1; the name brings 0.75 or 0.25 of 1.
    comparison = compared(
        ITEMS, [item("abcd"), item("efgh", "y")], [item("abcx"), item("exxx", "y")], DEFAULTS
    )

    assert pairs_of(comparison) == [(0, 0, "TP"), (1, 1, "FD")]
    assert [element.threshold for element in comparison.elements] == [0.7, 0.7]
    assert [element.outcome.name for element in comparison.elements] == ["TP", "FD"]
    assert comparison.score == (0.875 + 0.625) / 2


def test_a_match_threshold_is_met_within_the_noise_of_floats():
    weights = {"a": 0.1, "b": 0.7, "c": 0.2}
    node = an_object(
        **{name: exact(weight=weight) for name, weight in weights.items()},
        match_threshold=0.8,
    )
    gt, pred = {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 4}

    # (0.1 + 0.7) / 1.0 is 0.7999999999999999 in floats.
    assert alike(node, gt, pred) < 0.8
    assert pairs_of(compared(a_list(node), [gt], [pred])) == [(0, 0, "TP")]


def test_items_do_not_clip_even_if_their_object_does():
    node = a_list(an_object(name=text(), code=exact(), rest={"clip": True}))
    gt, pred = [item("efgh")], [item("exxx")]

    assert compared(node, gt, pred).score == 0.625
    assert alike(node, gt, pred) == 0.625


def test_an_item_of_another_kind_is_no_pair():
    comparison = compared(ITEMS, [item("abcd")], ["abcd"])

    assert pairs_of(comparison) == [(0, None, "FN"), (None, 0, "FA")]


def test_an_item_of_another_kind_is_a_false_discovery_where_every_pair_is_kept():
    comparison = compared(ITEMS, [item("abcd")], ["abcd"], Options(pairing_floor=-1))

    assert pairs_of(comparison) == [(0, 0, "FD")]
    assert comparison.score == 0


def test_two_items_of_another_kind_pair_by_its_defaults():
    node = a_list(an_object(name=text(), rest={"other": anything()}))
    comparison = compared(node, ["abcd"], ["abcx"])

    assert pairs_of(comparison) == [(0, 0, "TP")]
    assert comparison.elements[0].threshold == 0.5


def test_lists_of_lists_pair_by_the_score_of_the_inner_list():
    node = a_list(a_list(exact(), threshold=0.6))
    gt, pred = [["a", "b"], ["c", "d"]], [["c", "d"], ["a", "x"]]

    comparison = compared(node, gt, pred)

    assert pairs_of(comparison) == [(0, 1, "FD"), (1, 0, "TP")]
    assert comparison.score == (0.5 + 1) / 2
    assert alike(node, gt, pred) == 0.75


def test_lists_of_lists_pass_on_the_clipped_score():
    inner = a_list(text(threshold=0.6, clip=True), threshold=0.6)
    comparison = compared(a_list(inner), [["ab", "abcdef"]], [["ab", "abcxyz"]])

    # The inner list has 0.75 raw and 0.5 clipped.
    assert pairs_of(comparison) == [(0, 0, "FD")]
    assert (comparison.similarity, comparison.score) == (0.5, 0.5)


def test_lists_inside_items_are_compared_in_one_column():
    node = an_object(tags=a_list(exact()))
    gts = [{"tags": ["a", "b"]}, {"tags": ["c"]}, {"tags": []}]
    preds = [{"tags": ["b", "a"]}, {"tags": "c"}, {"tags": ["a", "c", "d"]}]

    # A missing list against a list scores 0.
    assert table(node, gts, preds) == [
        [1.0, 0.0, 1 / 3],
        [0.0, 1.0, 1 / 3],
        [0.0, 0.0, 0.0],
    ]


class Listed(Acceptor):
    def __call__(self, value):
        return isinstance(value, list)


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
    assert [element.threshold for element in comparison.elements] == [0.9, 0.5]
    assert (comparison.similarity, comparison.score) == (0.875, 0.5)
    assert alike(node, gt, pred) == 0.5


def text_or_number(text_threshold, number_threshold, *others):
    arms = Arm(Text(), text(text_threshold)), Arm(Number(), number(number_threshold))
    return OneOfNode(threshold=text_threshold, arms=(*arms, *others))


def unsaid(items):
    """Return a list that leaves its threshold to its elements."""
    return a_list(items, threshold=0.6, threshold_stated=False)


def thresholds(comparison):
    return [element.threshold for element in comparison.elements]


def test_lists_of_a_union_pass_on_the_threshold_of_the_arm_of_their_first_element():
    node = a_list(unsaid(text_or_number(0.9, 0.3)))
    gt = [[1, "x"], ["x", 1], [2], [None, "", "x"], [[], 3, "x"]]

    assert thresholds(compared(node, gt, gt)) == [0.3, 0.9, 0.3, 0.9, 0.3]


def test_a_list_as_an_arm_asks_its_own_first_element():
    inner = Arm(Listed(), unsaid(text_or_number(0.8, 0.2)))
    node = a_list(unsaid(text_or_number(0.9, 0.3, inner)))
    gt = [[1], [["x"]], ["x"], [[2]], [[None, "x", 3]], [[4]]]

    assert thresholds(compared(node, gt, gt)) == [0.3, 0.8, 0.9, 0.2, 0.8, 0.2]


def test_a_list_below_the_threshold_of_its_first_element_is_a_false_discovery():
    node = a_list(unsaid(text_or_number(0.9, 0.3)))
    texts, numbers = [["a", "b"], [1, 2]], [["a", "c"], [1, 3]]

    # Either pair of lists agrees in one element of two.
    assert pairs_of(compared(node, texts, numbers)) == [(0, 0, "FD"), (1, 1, "TP")]


def test_a_list_that_says_its_threshold_does_not_ask_its_elements():
    node = a_list(a_list(text_or_number(0.9, 0.3), threshold=0.6))

    assert thresholds(compared(node, [["x"], [1]], [["x"], [1]])) == [0.6, 0.6]


def test_a_list_in_a_list_that_is_no_list_has_the_threshold_of_the_list():
    node = a_list(unsaid(text_or_number(0.9, 0.3)))

    assert thresholds(compared(node, [1, ["x"]], [1, ["x"]])) == [0.6, 0.9]


def test_values_that_are_no_lists_count_as_lists_of_one_beside_absent_ones():
    found = compared_together(TAGS, [None, "a", ["b"]], [[], ["a"], "b"])

    assert [each.outcome.name for each in found] == ["TN", "TP", "TP"]
    assert [pairs_of(each) for each in found] == [[], [(0, 0, "TP")], [(0, 0, "TP")]]


def test_units_of_long_lists_stand_in_the_order_of_the_document():
    gt = [f"g{at}" if at % 2 else f"both{at}" for at in range(60)]
    pred = [f"p{at}" if at % 2 else f"both{at}" for at in range(60)]

    comparison = compared(TAGS, gt, pred)

    missed = [(at, None, "FN") if at % 2 else (at, at, "TP") for at in range(60)]
    assert pairs_of(comparison) == [*missed, *((None, at, "FA") for at in range(1, 60, 2))]


def test_an_element_without_a_pair_has_the_threshold_of_a_value_of_its_own():
    node = a_list(an_object(a=exact(), threshold=0.4, match_threshold=0.9))

    comparison = compared(node, [{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 1}])

    assert pairs_of(comparison) == [(0, 1, "TP"), (1, None, "FN"), (None, 0, "FA")]
    assert thresholds(comparison) == [0.9, 0.4, 0.4]


def test_ties_go_to_equal_positions_in_every_list_of_a_column():
    gts = [["a"], ["c"], ["d", "d"]]
    preds = [["a", "a"], ["c", "c", "c"], ["d", "d", "d"]]

    found = compared_together(TAGS, gts, preds)

    assert [pairs_of(each)[: len(gt)] for each, gt in zip(found, gts, strict=True)] == [
        [(0, 0, "TP")],
        [(0, 0, "TP")],
        [(0, 0, "TP"), (1, 1, "TP")],
    ]


def test_a_key_of_little_weight_does_not_keep_items_from_their_best_partner():
    node = a_list(an_object(code=exact(weight=0.1), name=text(weight=0.9)))
    names = ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"]
    gt = [item(name, f"{at}") for at, name in enumerate(names)]
    pred = [item(names[at - 1], f"{at}") for at in range(6)]

    comparison = compared(node, gt, pred)

    # Equal codes are worth 0.1 and equal names 0.9.
    assert pairs_of(comparison) == [(at, (at + 1) % 6, "TP") for at in range(6)]


def coded(code, **texts):
    return {"kind": "same", "code": f"{code % 6}", **texts}


def test_items_of_the_same_code_are_no_pair_where_others_have_more_in_common():
    item = an_object(
        kind=exact(weight=3), code=exact(), first=text(), second=text(), match_threshold=0.8
    )
    gt = [coded(at, first=name, second=name * 2) for at, name in enumerate("abcdef")]
    pred = [coded(at + 1, first=name, second=name * 2) for at, name in enumerate("abcdef")]

    # All but the code is 5 of 6, and kind and code are 4 of 6.
    assert pairs_of(compared(a_list(item), gt, pred[::-1])) == [
        (at, 5 - at, "TP") for at in range(6)
    ]


def test_items_that_have_as_much_in_common_as_others_of_their_code_pair_by_position():
    item = an_object(code=exact(), name=text(), match_threshold=0.5)
    gt = [coded(at, name=name) for at, name in enumerate("abcdef")]
    pred = [coded(at + 1, name=name) for at, name in enumerate("abcdef")]

    assert pairs_of(compared(a_list(item), gt, pred)) == [(at, at, "TP") for at in range(6)]


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

    assert [element.threshold for element in comparison.elements] == [1.0, 0.6]
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
    tags = [element.comparison.fields[1].comparison for element in comparison.elements]
    assert [pairs_of(each) for each in tags] == [
        [(0, None, "FN"), (1, None, "FN")],
        [(0, 1, "TP"), (1, 0, "TP")],
        [],
        [(0, 0, "TP")],
        [(None, 0, "FA")],
    ]


def item_with(name, *tags):
    return {"name": name, "tags": [*tags]}
