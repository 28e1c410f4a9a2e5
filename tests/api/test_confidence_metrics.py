"""Confidence metrics of a single comparison, in the form that stickler-eval uses."""

import pytest

from stickler_cli import BulkStructuredModelEvaluator, ComparableField, StructuredModel


class Line(StructuredModel):
    sku: str = ComparableField(threshold=1.0)


class Order(StructuredModel):
    number: str = ComparableField(threshold=1.0)
    total: float = ComparableField()
    lines: list[Line] = ComparableField()


def value(content, confidence):
    return {"_value": content, "_confidence": confidence}


GT = Order(number="A1", total=5.0, lines=[Line(sku="x"), Line(sku="y")])
PRED = {
    "number": value("A1", 0.9),
    "total": value(7.0, 0.4),
    "lines": [{"sku": value("x", 0.3)}, {"sku": "y"}],
}


def test_figures_are_those_of_the_definitions():
    result = GT.compare_with(Order.from_json(PRED), add_confidence_metrics=True)

    trust = result["confidence_metrics"]
    # Right are 0.9 and 0.3, wrong is 0.4: one of two pairs is in order.
    assert trust["overall"]["auroc"] == {"value": 0.5}
    assert trust["overall"]["brier_score"]["value"] == pytest.approx((0.01 + 0.16 + 0.49) / 3)
    assert trust["overall"]["ece"]["value"] == pytest.approx((0.1 + 0.4 + 0.7) / 3)
    assert {path: field["ece"]["value"] for path, field in trust["fields"].items()} == {
        "number": pytest.approx(0.1), "total": pytest.approx(0.4), "lines.sku": pytest.approx(0.7)
    }  # fmt: skip
    assert trust["coverage"] == {
        "fields_with_confidence": 3, "fields_total": 4, "ratio": 0.75
    }  # fmt: skip
    assert result["auroc_confidence_metric"] == 0.5


def test_one_document_alone_and_in_an_evaluator_has_the_same_figures():
    pred = Order.from_json(PRED)
    evaluator = BulkStructuredModelEvaluator(Order)
    evaluator.update(GT, pred)

    single = GT.compare_with(pred, add_confidence_metrics=True)["confidence_metrics"]
    assert evaluator.compute().confidence_metrics == single


@pytest.mark.parametrize("pred", [GT, Order.from_json({**PRED, "total": 5.0})])
def test_what_is_not_defined_is_none_and_the_old_name_has_one_half(pred):
    result = GT.compare_with(pred, add_confidence_metrics=True)

    assert result["confidence_metrics"]["overall"]["auroc"] == {"value": None}
    assert result["auroc_confidence_metric"] == 0.5


def test_confidences_are_no_part_of_other_results():
    result = GT.compare_with(Order.from_json(PRED))

    assert "confidence_metrics" not in result
    assert "auroc_confidence_metric" not in result


def test_what_is_added_to_an_instance_later_has_no_confidence():
    pred = Order.from_json(PRED)
    pred.lines.append(Line(sku="z"))

    result = GT.compare_with(pred, add_confidence_metrics=True)

    coverage = result["confidence_metrics"]["coverage"]
    assert (coverage["fields_with_confidence"], coverage["fields_total"]) == (3, 5)


def test_the_counts_of_a_comparison_have_their_old_name():
    pred = Order.from_json(PRED)
    options = {"include_confusion_matrix": True, "document_non_matches": True}

    assert GT.compare_recursive(pred) == GT.compare_with(pred, **options)["confusion_matrix"]
