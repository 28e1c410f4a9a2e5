"""Values with a confidence whose documents are forgotten say what those say whose are known."""

import pytest

from stickler_cli.score.confident import Confidences

RECORDS = {
    "a": {"right": {"x": [0.9, 0.5], "": [0.25]}, "wrong": {"y": [0.1]}},
    "b": {"wrong": {"x": [0.5]}, "apart": {"right": {"z": [0.75]}}},
    "c": {"right": {"x": [1.0]}},
}


def confidences(*names: str, drop: bool = False) -> Confidences:
    found = Confidences()
    if drop:
        found.drop_lines()
    for name in names:
        found.add(name, RECORDS[name])
    return found


@pytest.mark.parametrize("path", ["", "x", "y", "z"])
def test_counted_values_come_to_the_same_figures(path):
    kept, counted = confidences(*RECORDS), confidences(*RECORDS, drop=True)
    expected = kept.view(path, 20, None)

    assert counted.view(path, 20, None) == expected
    assert counted.by_field().keys() == kept.by_field().keys()


def test_values_may_be_counted_at_any_time_and_in_any_order():
    late = confidences("a", "b", "c")
    late.drop_lines()
    mixed = confidences("c", drop=True)
    mixed.merge(confidences("b"))
    turned = confidences("a")
    turned.merge(mixed)

    assert turned.counted == late.counted == confidences(*RECORDS, drop=True).counted
    assert not turned.lines


def test_no_values_are_none():
    nothing = confidences(drop=True)

    assert not nothing
    assert nothing.view("", 3, None)["auroc"] is None
