"""Confidences without their documents give the same figures as with them."""

import numpy as np
import pytest

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.confidence.confidences import (
    MIN_DOCUMENTS,
    Confidences,
    counted_view,
    read_counted,
)
from stickler_cli.score.intervals import IntervalSettings, percentile_interval, resample
from tests.score.batches import add_confidences, batch

RECORDS = {
    "a": {"right": {"x": [0.9, 0.5], "": [0.25]}, "wrong": {"y": [0.1]}},
    "b": {"wrong": {"x": [0.5]}, "right": {"z": [0.75]}},
    "c": {"right": {"x": [1.0]}},
    "d": {"right": {"x": [0.9, 0.9]}, "wrong": {"x": [0.9, 0.25], "y": [0.1]}},
}


def confidences(*names: str, drop: bool = False) -> Confidences:
    collected = Confidences()
    if drop:
        collected.drop_rows()
    for name in names:
        add_confidences(collected, name, RECORDS[name])
    return collected


@pytest.mark.parametrize("path", ["", "x", "y", "z"])
def test_counted_values_come_to_the_same_figures(path):
    kept, counted = confidences(*RECORDS), confidences(*RECORDS, drop=True)
    expected = kept.view(path, 20, None)

    assert counted.view(path, 20, None) == expected
    assert counted.by_field().keys() == kept.by_field().keys()


def test_values_may_be_counted_at_any_time_and_in_any_order():
    late = confidences(*RECORDS)
    late.drop_rows()
    mixed = confidences("c", drop=True)
    mixed.merge(confidences("b"))
    turned = confidences("a", "d")
    turned.merge(mixed)

    assert turned.counts == late.counts == confidences(*RECORDS, drop=True).counts
    assert not turned.chunks


def test_no_values_are_none():
    nothing = confidences(drop=True)

    assert not nothing
    assert nothing.view("", 3, None)["auroc"] is None


SETTINGS = IntervalSettings(level=0.9)


def test_intervals_are_percentiles_over_documents_that_were_drawn_anew():
    collected = Confidences()
    right, wrong = [0.95, 0.9, 0.4, 0.8, 0.93], [0.1, 0.6, 0.45, 0.91, 0.2]
    for index, name in enumerate("bcade"):
        add_confidences(
            collected, name, {"right": {"x": [right[index]]}, "wrong": {"x": [wrong[index]]}}
        )

    view = collected.view("x", 20, SETTINGS)

    drawn = resample("bcade", lambda weights: weights, SETTINGS)[:, 1:]
    squares = (1 - np.array(right)) ** 2 + np.array(wrong) ** 2
    brier = squares @ drawn / (2 * drawn.sum(axis=0))
    assert view["intervals"]["brier"] == pytest.approx([*np.quantile(brier, [0.05, 0.95])])
    assert (view["units"], view["right"], view["documents"]) == (10, 5, 5)
    assert view["coverage"] == 0.5
    # Of three documents with values from 0.9 on, one has a wrong one.
    of_last = drawn[[0, 1, 4]].sum(axis=0) / drawn[[0, 1, 4, 3]].sum(axis=0)
    assert view["bins"][9]["interval"] == pytest.approx([*np.quantile(of_last, [0.05, 0.95])])
    assert view["bins"][9]["right"] == 0.75
    assert "interval" not in view["bins"][7]
    assert "intervals" not in collected.view("x", 20, None)


def test_replicates_are_the_same_however_many_are_made_at_once(monkeypatch):
    collected = Confidences()
    for index, name in enumerate("bcade"):
        add_confidences(
            collected, name, {"right": {"x": [0.9, index / 10]}, "wrong": {"x": [0.5, 0.35]}}
        )
    total_view = collected.view("x", 20, SETTINGS)
    again = Confidences()
    again.merge(collected)
    monkeypatch.setattr("stickler_cli.score.intervals._MAX_CELLS", 20 * 7)
    assert again.view("x", 20, SETTINGS) == total_view


def test_of_many_values_intervals_are_those_of_confidences_in_thousandths(monkeypatch):
    exact, rounded = Confidences(), Confidences()
    for index, name in enumerate("bcade"):
        shares = [0.9004, 0.8996 - index / 10, 0.2503]
        add_confidences(exact, name, {"right": {"x": shares[:2]}, "wrong": {"x": shares[2:]}})
        shares = [round(share, 3) for share in shares]
        add_confidences(rounded, name, {"right": {"x": shares[:2]}, "wrong": {"x": shares[2:]}})
    views = [confidences_of_run.view("x", 20, SETTINGS) for confidences_of_run in (exact, rounded)]
    assert views[0]["intervals"] != views[1]["intervals"]
    exact.merge(Confidences())
    monkeypatch.setattr("stickler_cli.score.confidence.confidences._MAX_EXACT_UNITS", 14)
    rounded_view = exact.view("x", 20, SETTINGS)
    assert rounded_view["intervals"] == views[1]["intervals"]
    assert rounded_view["brier"] == views[0]["brier"]


def test_a_record_of_counted_values_needs_no_side_that_is_empty():
    counted = confidences(*RECORDS, drop=True).counts
    assert read_counted(counted_view(counted)) == counted
    assert counted_view(counted)["y"] == {"documents": 2, "wrong": {"0.1": 2}}


def test_few_documents_have_no_intervals_nor_have_forgotten_ones():
    def views_of(documents, *, drop=False):
        collected = Confidences()
        for name in range(documents):
            add_confidences(collected, f"{name}", {"right": {"x": [0.9]}, "wrong": {"x": [0.5]}})
        if drop:
            collected.drop_rows()
        return collected.view("x", 20, SETTINGS)

    assert "intervals" in views_of(MIN_DOCUMENTS)
    assert "intervals" not in views_of(MIN_DOCUMENTS - 1)
    assert "intervals" not in views_of(MIN_DOCUMENTS, drop=True)
    assert views_of(MIN_DOCUMENTS, drop=True)["documents"] == MIN_DOCUMENTS


def test_figures_that_some_replicates_lack_have_no_interval():
    assert percentile_interval(np.array([0.5, np.nan, 0.7]), 0.9) is None
    assert percentile_interval(np.arange(101.0), 0.9) == pytest.approx((5, 95))


def test_a_missed_object_with_an_undeclared_key_has_no_confidences():
    text = {"type": "string"}
    o = {"type": "object", "properties": {"b": text}}
    plan = compile_schema({"type": "object", "properties": {"a": text, "o": o}})
    pair = {"a": "x", "o": {"b": "y", "new": 1}}, {"a": "x"}
    batch_of_one = batch(plan, {"1": pair}, confidences=[{"a": 0.9}])

    assert batch_of_one.confident_values.records(1) == [{"right": {"a": [0.9]}}]
    assert batch_of_one.counts.undeclared == [(0, ("o", "new"))]


def test_an_undeclared_key_of_several_documents_has_the_confidence_of_each():
    plan = compile_schema({"type": "object", "properties": {"a": {"type": "string"}}})
    pairs = {"1": ({"a": "x"}, {"a": "x", "new": 1}), "2": ({"a": "x"}, {"new": 2})}
    compared = batch(plan, pairs, confidences=[{"new": 0.9}, {"new": 0.5}])

    assert compared.confident_values.records(2) == [
        {"wrong": {"new": [0.9]}},
        {"wrong": {"new": [0.5]}},
    ]
