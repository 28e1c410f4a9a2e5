import pytest

from stickler_cli.comparators import StructuredModelComparator


class Model:
    def __init__(self, value):
        self.value = value

    def compare(self, other):
        return 0.5 if self.value != other.value else 1


def test_an_object_is_one_value():
    assert StructuredModelComparator.takes == {"object"}


def test_two_models_are_compared_by_their_own_judgement():
    assert StructuredModelComparator().compare(Model(1), Model(2)) == 0.5
    assert StructuredModelComparator().compare(Model(1), Model(1)) == 1.0


def test_a_model_is_not_equal_to_a_value():
    assert StructuredModelComparator().compare(Model(1), {"value": 1}) == 0.0


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("a", "a", 1.0),
        ("a", "b", 0.0),
        (1, 1.0, 1.0),
        (1, True, 0.0),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, 1.0),
        ({"a": 1}, {"a": True}, 0.0),
        ({"a": "", "b": [""]}, {"a": "", "b": [""]}, 1.0),
        ({"a": "", "b": 1}, {"a": 1, "b": ""}, 0.0),
        ({"a": "x"}, {"a": ""}, 0.0),
        ({"a": 1}, {"b": 1}, 0.0),
        ([1, 2], [1], 0.0),
        ([1], [True], 0.0),
        ([1], {"a": 1}, 0.0),
    ],
)
def test_other_values_are_equal_as_json_is(gt, pred, similarity):
    assert StructuredModelComparator().compare(gt, pred) == similarity


def test_two_strings_are_refused_under_strict_types():
    with pytest.raises(TypeError, match="strict_types"):
        StructuredModelComparator(strict_types=True).compare("a", "a")


def test_other_values_are_not_refused_under_strict_types():
    assert StructuredModelComparator(strict_types=True).compare({"a": 1}, "a") == 0.0
