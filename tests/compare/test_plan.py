import pytest

from stickler_cli.compare.plan import PAIRING_FLOOR, Options, shape_of

from .nodes import DEFAULTS, an_object, anything, number, text


def test_a_run_that_sets_nothing_has_the_documented_options():
    assert Options() == Options(pairing_floor=0.2, extra_fields="fa")
    assert PAIRING_FLOOR == 0.2


@pytest.mark.parametrize(
    ("value", "shape"), [({}, "object"), ([], "array"), ("a", "leaf"), (0, "leaf"), (True, "leaf")]
)
def test_values_have_three_shapes(value, shape):
    assert shape_of(value) == shape


def test_a_node_stands_for_itself_where_a_side_is_absent_or_declared():
    node = an_object(a=text(), rest={"other": anything()})

    assert node.resolve(None, "a") is node
    assert node.resolve("a", None) is node
    assert node.resolve({"a": 1}, "a") is node
    assert node.resolve("a", {"a": 1}) is node


def test_two_values_that_share_another_kind_are_left_to_its_defaults():
    other = anything()
    node = an_object(a=text(), rest={"other": other})

    assert node.resolve(5, 6) is other.choose(5)
    assert node.resolve([5], [6]) is other.choose([5])
    assert node.resolve(5, [6]) is node


def test_a_kind_without_defaults_keeps_what_it_cannot_compare():
    node = number()

    assert node.resolve([1], [1]) is node
    assert node.similarity([1], [1], DEFAULTS) == 0.0


def test_a_matrix_compares_values_of_the_declared_kind_in_one_call():
    node = an_object(a=text(), rest={"other": anything()})
    gts, preds = [{"a": "ab"}, "ab", ["ab"]], [{"a": "ab"}, "ab", 7]

    assert node.matrix(gts, preds, DEFAULTS).tolist() == [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
    ]


def test_a_matrix_without_declared_values_on_one_side_compares_the_others():
    node = an_object(a=text(), rest={"other": anything()})

    assert node.matrix(["ab"], [{"a": "ab"}, "ab"], DEFAULTS).tolist() == [[0.0, 1.0]]
    assert node.matrix([{"a": "ab"}], ["ab"], DEFAULTS).tolist() == [[0.0]]
