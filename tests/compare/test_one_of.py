from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.result import Outcome

from .nodes import DEFAULTS, a_list, an_object, anything, exact, number, pairs_of, text


class OfType(Acceptor):
    def __init__(self, *types):
        self.types = types

    def __call__(self, value):
        return isinstance(value, self.types)


def union(*arms):
    return OneOfNode(threshold=0.5, arms=tuple(Arm(OfType(*types), node) for types, node in arms))


TEXT_OR_NUMBER = union(((str,), text(threshold=0.8, weight=3)), ((int, float), number(weight=2)))


def test_the_arm_that_accepts_the_ground_truth_compares():
    comparison = TEXT_OR_NUMBER.compare(5, "5.0", DEFAULTS)

    assert (comparison.outcome, comparison.threshold) == (Outcome.TP, 0.5)
    assert TEXT_OR_NUMBER.compare("5", 5, DEFAULTS).threshold == 0.8


def test_the_prediction_chooses_where_there_is_no_ground_truth():
    assert TEXT_OR_NUMBER.compare(None, 5, DEFAULTS).threshold == 0.5
    assert TEXT_OR_NUMBER.compare("", "five", DEFAULTS).threshold == 0.8


def test_the_first_arm_compares_what_none_accepts():
    assert TEXT_OR_NUMBER.compare(True, True, DEFAULTS).threshold == 0.5  # a Python int
    assert (
        union(((str,), text(threshold=0.8)), ((int,), number()))
        .compare(1.5, 1.5, DEFAULTS)
        .threshold
        == 0.8
    )


def test_absent_parts_do_not_keep_an_arm_from_accepting_a_value():
    class WithoutNulls(Acceptor):
        def __call__(self, value):
            return isinstance(value, dict) and None not in value.values()

    node = OneOfNode(
        threshold=0.5,
        arms=(Arm(OfType(str), text()), Arm(WithoutNulls(), an_object(a=exact()))),
    )

    assert node.similarity({"a": "x", "b": None}, {"a": "x"}, DEFAULTS) == 1.0


def test_the_first_of_two_arms_that_accept_compares():
    node = union(((str,), exact()), ((str,), text()))

    assert node.similarity("abcd", "abcx", DEFAULTS) == 0.0


def test_two_absent_sides_are_the_first_arm_s_nothing():
    assert TEXT_OR_NUMBER.compare(None, "", DEFAULTS).threshold == 0.8
    assert TEXT_OR_NUMBER.nothing().outcome is Outcome.TN


def test_a_missed_object_is_told_field_by_field():
    node = union(((dict,), an_object(a=text())), ((str,), text()))

    assert [entry.name for entry in node.compare({"a": "x"}, None, DEFAULTS).fields] == ["a"]
    assert node.one_sided({"a": "x"}, Outcome.FN, DEFAULTS).outcome is Outcome.FN


def test_the_weight_is_that_of_the_chosen_arm():
    assert TEXT_OR_NUMBER.weigh("a", 5) == 3
    assert TEXT_OR_NUMBER.weigh(None, 5) == 2
    assert TEXT_OR_NUMBER.weights(["a", 1, None], [None, 5]).tolist() == [[3, 3], [2, 2], [3, 2]]
    assert TEXT_OR_NUMBER.weights([], ["a"]).shape == (0, 1)


def test_an_object_weighs_each_pair_by_its_arm():
    node = an_object(value=TEXT_OR_NUMBER, name=exact(weight=1))
    gts = [{"value": "a", "name": "n"}, {"value": 1, "name": "n"}, {"name": "n"}]
    pred = {"value": 1, "name": "n"}

    # Text 3 of 4 is lost; the number is found; an invented number weighs 2 of 3.
    assert node.matrix(gts, [pred], DEFAULTS).tolist() == [[0.25], [1.0], [1 / 3]]
    assert [node.similarity(gt, pred, DEFAULTS) for gt in gts] == [0.25, 1.0, 1 / 3]
    assert node.compare(gts[2], pred, DEFAULTS).fields[0].weight == 2


def test_a_matrix_compares_each_row_by_its_own_arm():
    matrix = TEXT_OR_NUMBER.matrix(["abcd", 5, "5"], ["abcx", "5.0", 5], DEFAULTS)

    # "5" against the number 5 is text against text: equal; "5.0" shares 1 character of 3.
    assert matrix.tolist() == [
        [0.75, 0.0, 0.0],
        [0.0, 1.0, 1.0],
        [0.0, 1 - 2 / 3, 1.0],
    ]


def test_scores_are_clipped_by_the_arm():
    node = union(((str,), text(threshold=0.8, clip=True)), ((int,), number()))

    assert node.score("abcd", "abcx", DEFAULTS) == 0.0
    assert node.similarity("abcd", "abcx", DEFAULTS) == 0.75
    assert node.scores(["abcd", 1], ["abcx", 1], DEFAULTS).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert node.matrix(["abcd"], ["abcx"], DEFAULTS).tolist() == [[0.75]]


def test_a_union_inside_a_union_is_asked_in_turn():
    node = union(((str, int), TEXT_OR_NUMBER), ((list,), a_list(exact())))

    assert node.compare(5, 5.0, DEFAULTS).threshold == 0.5
    assert pairs_of(node.compare(["a"], ["a"], DEFAULTS)) == [(0, 0, "TP")]
    assert node.weigh(5, None) == 2


def test_a_value_that_the_arm_does_not_compare_is_a_false_discovery():
    node = union(((str,), text(other=anything())), ((dict,), an_object(a=text())))

    assert node.compare("x", {"a": "x"}, DEFAULTS).outcome is Outcome.FD
    assert node.compare({"a": "x"}, "x", DEFAULTS).outcome is Outcome.FD
    assert node.similarity("x", {"a": "x"}, DEFAULTS) == 0.0


def test_a_union_takes_any_value():
    assert TEXT_OR_NUMBER.declares([{}])
