from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.result import Outcome
from .nodes import (
    alike,
    an_object,
    anything,
    compared,
    compared_together,
    exact,
    number,
    table,
    text,
)


class OfType(Acceptor):
    def __init__(self, *types):
        self.types = types

    def __call__(self, value):
        return isinstance(value, self.types)


def union(*arms):
    return OneOfNode(threshold=0.5, arms=tuple(Arm(OfType(*types), node) for types, node in arms))


TEXT_OR_NUMBER = union(((str,), text(threshold=0.8, weight=3)), ((int, float), number(weight=2)))


def test_the_arm_that_accepts_the_ground_truth_compares():
    comparison = compared(TEXT_OR_NUMBER, 5, "5.0")

    assert (comparison.outcome, comparison.threshold) == (Outcome.TP, 0.5)
    assert compared(TEXT_OR_NUMBER, "5", 5).threshold == 0.8


def test_absent_parts_do_not_keep_an_arm_from_accepting_a_value():
    class WithoutNulls(Acceptor):
        def __call__(self, value):
            return isinstance(value, dict) and None not in value.values()

    node = OneOfNode(
        threshold=0.5,
        arms=(Arm(OfType(str), text()), Arm(WithoutNulls(), an_object(a=exact()))),
    )

    assert alike(node, {"a": "x", "b": None}, {"a": "x"}) == 1.0


def test_an_object_weighs_each_pair_by_its_arm():
    node = an_object(value=TEXT_OR_NUMBER, name=exact(weight=1))
    gts = [{"value": "a", "name": "n"}, {"value": 1, "name": "n"}, {"name": "n"}]
    pred = {"value": 1, "name": "n"}

    # Text 3 of 4 is lost; the number is found; an invented number weighs 2 of 3.
    assert table(node, gts, [pred]) == [[0.25], [1.0], [1 / 3]]
    assert [alike(node, gt, pred) for gt in gts] == [0.25, 1.0, 1 / 3]
    assert compared(node, gts[2], pred).fields[0].weight == 2


def test_a_value_that_the_arm_does_not_compare_is_a_false_discovery():
    node = union(((str,), text(other=anything())), ((dict,), an_object(a=text())))

    assert compared(node, "x", {"a": "x"}).outcome is Outcome.FD
    assert compared(node, {"a": "x"}, "x").outcome is Outcome.FD
    assert alike(node, "x", {"a": "x"}) == 0.0


def test_a_value_is_judged_as_it_is_before_its_absent_parts_are_left_out():
    class Has(Acceptor):
        def __init__(self, name):
            self.name = name

        def __call__(self, value):
            return isinstance(value, dict) and self.name in value

    arms = Arm(Has("b"), an_object(a=text(0.9))), Arm(Has("a"), an_object(a=text(0.3)))
    node = OneOfNode(threshold=0.5, arms=arms)
    (first,) = compared(node, {"a": "x", "b": None}, {"a": "x"}).fields
    (second,) = compared(node, {"a": "x"}, {"a": "x", "b": None}).fields

    assert (first.threshold, second.threshold) == (0.9, 0.3)


def counted_fields(*says):
    """For objects with four kinds of values, return the fields that count in `aggregate`.

    The value is a text, a number, an invented number, or absent on both sides. `says` has the
    `aggregate` annotation of the text arm and of the number arm. Fields are written as initial
    letters.
    """
    nodes = ((str,), text()), ((int,), number())
    arms = (
        Arm(OfType(*types), arm_node, flag)
        for (types, arm_node), flag in zip(nodes, says, strict=True)
    )
    value = OneOfNode(threshold=0.5, arms=tuple(arms))
    gts = [{"value": "x", "name": "n"}, {"value": 1, "name": "n"}, {"name": "n"}, {"name": "n"}]
    preds = [gts[0], gts[1], gts[1], gts[3]]
    comparisons = compared_together(an_object(value=value, name=exact()), gts, preds)
    return [
        "".join(entry.name[0] for entry in comparison.fields if entry.in_aggregate)
        for comparison in comparisons
    ]


def test_the_arm_in_use_has_its_say_on_the_aggregate():
    assert counted_fields(None, None) == ["vn", "vn", "vn", "vn"]
    assert counted_fields(False, None) == ["n", "vn", "vn", "n"]
    assert counted_fields(None, True) == ["vn", "v", "v", "vn"]
    assert counted_fields(True, False) == ["v", "n", "n", "v"]
    assert counted_fields(False, False) == ["n", "n", "n", "n"]
