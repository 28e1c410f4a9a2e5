from .nodes import an_object, anything, compared, figures, number, table, text


def test_two_values_that_share_another_kind_are_left_to_its_defaults():
    node = an_object(a=text(), extra_keys={"other": anything()})

    assert figures(compared(node, 5, 6)) == figures(compared(number(), 5, 6))
    assert compared(node, [5], [6]).shape == "list"
    assert compared(node, 5, [6]).shape == "mismatch"


def test_a_matrix_compares_values_of_the_declared_kind_in_one_call():
    node = an_object(a=text(), extra_keys={"other": anything()})
    gts, preds = [{"a": "ab"}, "ab", ["ab"]], [{"a": "ab"}, "ab", 7]

    assert table(node, gts, preds) == [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
    ]


def test_a_matrix_without_declared_values_on_one_side_compares_the_others():
    node = an_object(a=text(), extra_keys={"other": anything()})

    assert table(node, ["ab"], [{"a": "ab"}, "ab"]) == [[0.0, 1.0]]
    assert table(node, [{"a": "ab"}], ["ab"]) == [[0.0]]
