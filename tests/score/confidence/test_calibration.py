"""Figures of confidences, checked against their definitions and scikit-learn."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.api.many import evaluate_many
from stickler_cli.score.confidence import confidences as kept
from stickler_cli.score.confidence.calibration import confidence_view, reliability

CASES = (Path(__file__).parents[2] / "cases" / "confidence.jsonl").read_text("utf-8").splitlines()

UNITS = st.lists(
    st.tuples(st.booleans(), st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda n: n / 20))),
    min_size=1,
    max_size=40,
)


def figures(units):
    right, confidence = (np.array(column) for column in zip(*units, strict=True))
    return confidence_view(reliability(confidence.astype(float), right.astype(bool)))


@pytest.mark.parametrize("case", [*map(json.loads, CASES)], ids=lambda case: case["name"])
def test_the_figures_are_those_of_the_examples(case):
    computed = figures(case["units"])
    assert computed.keys() == case["expected"].keys()
    for name, expected in case["expected"].items():
        if isinstance(expected, dict):
            assert computed[name].keys() == expected.keys()
            for key, value in expected.items():
                assert computed[name][key] == pytest.approx(value, abs=1e-9), (name, key)
        else:
            assert computed[name] == pytest.approx(expected, abs=1e-9), name


def test_the_curve_is_the_share_wrong_of_those_at_least_as_confident():
    confidence = np.array([0.5, 0.9, 0.2, 0.9])
    right = np.array([False, True, True, False])
    assert reliability(confidence, right).curve() == [
        (2 / 4, 1 / 2),
        (3 / 4, 2 / 3),
        (1.0, 2 / 4),
    ]


@given(UNITS)
def test_the_figures_are_those_of_scikit_learn(units):
    reason = "SCIKIT-LEARN IS NOT INSTALLED: no figure is held against its own"
    metrics = pytest.importorskip("sklearn.metrics", reason=reason)
    computed = figures(units)
    right, confidence = (np.array(column, float) for column in zip(*units, strict=True))
    assert computed["brier"] == pytest.approx(
        metrics.brier_score_loss(right, confidence, pos_label=1)
    )
    clipped = np.clip(confidence, 1e-15, 1 - 1e-15)
    expected = metrics.log_loss(right, np.stack([1 - clipped, clipped], axis=1), labels=[0, 1])
    assert computed["log_loss"] == pytest.approx(expected)
    if right.any() and not right.all():
        assert computed["auroc"] == pytest.approx(metrics.roc_auc_score(right, confidence))
    else:
        assert computed["auroc"] is None
    if right.all():
        assert computed["auprc_error"] is None
    else:
        expected = metrics.average_precision_score(1 - right, -confidence)
        assert computed["auprc_error"] == pytest.approx(expected)


@given(UNITS, st.randoms(use_true_random=False))
def test_the_order_of_units_makes_no_difference(units, random):
    shuffled = random.sample(units, len(units))
    assert json.dumps(figures(shuffled)) == json.dumps(figures(units))


@given(UNITS)
def test_whole_weights_are_copies_of_documents(units):
    right, confidence = (np.array(column) for column in zip(*units, strict=True))
    document = np.arange(len(units)) // 2
    weights = np.arange(document[-1] + 1)[:, None] % 3 * [1.0, 0.0] + [0.0, 1.0]
    computed = reliability(confidence.astype(float), right, document, weights).figures()
    copies = [
        unit
        for unit_index, unit in enumerate(units)
        for _ in range(int(weights[unit_index // 2, 0]))
    ]
    for column, chosen in ((0, copies), (1, units)):
        if not chosen:
            assert all(np.isnan(values[column]) for values in computed.values())
            continue
        expected = reliability(
            *(np.array(column) for column in list(zip(*chosen, strict=True))[::-1])
        )
        for name, value in expected.figures().items():
            assert computed[name][column] == pytest.approx(value[0], nan_ok=True, abs=1e-9), name


# What the reference gets wrong.

ITEMS = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "x-aws-stickler-match-threshold": 0.9,
                "properties": {
                    "sku": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
                    "qty": {"type": "integer", "x-aws-stickler-comparator": "ExactComparator"},
                },
            },
        }
    },
}


def wrapped(value, confidence):
    return {"_value": value, "_confidence": confidence}


def item(sku, qty, confidence):
    return {"sku": wrapped(sku, confidence), "qty": wrapped(qty, confidence)}


def confidences(*pairs):
    return evaluate_many(ITEMS, pairs).to_dict()["confidence"]


def test_values_in_invented_and_unmatched_items_count():
    gt = {"items": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 2}]}
    pred = {"items": [item("a", 1, 0.9), item("b", 7, 0.6), item("c", 3, 0.2)]}
    units = confidences((gt, pred))
    assert (units["units"], units["right"]) == (6, 3)
    assert units["fields"]["items.qty"]["units"] == 3
    assert units["fields"]["items.qty"]["right"] == 1
    assert units["auroc"] == pytest.approx((2 * 3 + 1 * 2.5) / 9)
    assert (units["documents"], units["coverage"]) == (1, 1.0)


def test_the_share_with_a_confidence_and_the_documents_that_have_any_are_told():
    gt = {"items": [{"sku": "a", "qty": 1}]}
    units = confidences(
        (gt, {"items": [item("a", 1, 0.9)]}),
        (gt, {"items": [{"sku": wrapped("a", 0.4), "qty": 2}]}),
        (gt, gt),
        (gt, {"items": [item("a", 3, 0.4)], "more": 7}),
        ({"items": []}, {"more": 7}),
    )
    assert (units["units"], units["right"], units["documents"]) == (5, 4, 3)
    assert units["coverage"] == 0.5
    assert units["fields"]["items.qty"]["coverage"] == 0.5


def test_bins_hold_values_of_a_tenth_each():
    right = np.array([True, False, True, True])
    bins = reliability(np.array([0.05, 0.05, 0.72, 1.0]), right).bins()
    assert [(it.lower, it.upper) for it in bins[:2]] == [(0.0, 0.1), (0.1, 0.2)]
    assert [it.units for it in bins] == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert (bins[0].confidence, bins[0].right) == (0.05, 0.5)
    assert (bins[1].confidence, bins[1].right) == (None, None)
    assert (bins[9].confidence, bins[9].right, bins[9].upper) == (1.0, 1.0, 1.0)


def test_items_of_all_positions_are_one_field():
    gt = {"items": [{"sku": name, "qty": 1} for name in "abc"]}
    pred = {"items": [item(name, 1, 0.5) for name in "cba"]}
    assert confidences((gt, pred))["fields"].keys() == {"items.qty", "items.sku"}


def test_a_value_that_is_right_but_absent_is_no_unit():
    gt = {"items": [{"sku": "a", "qty": None}]}
    pred = {"items": [item("a", None, 0.9)]}
    units = confidences((gt, pred))
    assert Counter({path: field["units"] for path, field in units["fields"].items()}) == {
        "items.sku": 1
    }


def test_a_value_that_aggregate_leaves_out_is_a_unit():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
            "note": {
                "type": "string",
                "x-aws-stickler-comparator": "ExactComparator",
                "x-aws-stickler-aggregate": False,
            },
        },
    }
    pred = {"a": wrapped("x", 0.9), "note": wrapped("y", 0.4)}
    confidence = evaluate_many(schema, [({"a": "x", "note": "y"}, pred)]).to_dict()["confidence"]
    assert (confidence["units"], confidence["coverage"]) == (2, 1.0)
    assert confidence["fields"]["note"]["units"] == 1


def test_an_undeclared_key_is_a_wrong_value_with_its_confidence():
    units = confidences(({"items": []}, {"extra": wrapped("x", 0.7)}))
    assert (units["units"], units["right"]) == (1, 0)
    assert units["fields"]["extra"]["coverage"] is None


def test_figures_are_worked_out_once_until_there_are_more_documents(monkeypatch):
    computed = []
    monkeypatch.setattr(
        kept, "_units_view", lambda units, *rest: computed.append(units) or view(units, *rest)
    )
    gt, pred = {"items": [{"sku": "a", "qty": 1}]}, {"items": [item("a", 2, 0.5)]}
    evaluation = evaluate_many(ITEMS, [(gt, pred)])

    for _ in range(2):
        first = evaluation.to_dict()["confidence"]
        assert evaluation.confidence("items.qty") == first["fields"]["items.qty"]
    assert len(computed) == 3  # all, and two fields

    evaluation.merge(evaluate_many(ITEMS, [(gt, pred)]))
    assert evaluation.to_dict()["confidence"]["units"] == 2 * first["units"]


view = kept._units_view  # noqa: SLF001 - to be counted
