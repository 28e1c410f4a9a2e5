"""Instances that are made from values with metadata keep the metadata."""

import pytest
from pydantic import ValidationError

from stickler_cli import StructuredModel


class Item(StructuredModel):
    sku: str
    qty: int | None = None


class Order(StructuredModel):
    id: str
    total: float = 0
    tags: list[str]
    items: list[Item]


RICH = {
    "id": {"_value": "a", "_confidence": 0.9, "_bbox": [1, 2]},
    "total": {"value": 5, "confidence": 0.8, "page": 3},
    "tags": [{"_value": "x", "_confidence": 0.1}, "y"],
    "items": {"_value": [{"sku": {"_value": "s", "_confidence": 0.7}, "qty": 1}], "_confidence": 1},
}


def test_values_come_out_of_their_metadata():
    order = Order.from_json(RICH)
    assert order.model_dump() == {
        "id": "a",
        "total": 5,
        "tags": ["x", "y"],
        "items": [{"sku": "s", "qty": 1}],
    }
    assert order.get_all_confidences() == {
        "id": 0.9,
        "total": 0.8,
        "tags[0]": 0.1,
        "items": 1.0,
        "items[0].sku": 0.7,
    }
    assert order.get_field_confidence("items[0].sku") == 0.7
    assert order.get_field_confidence("items[0].qty") is None
    assert order.get_all_extras() == {"id": {"_bbox": [1, 2]}, "total": {"page": 3}}
    assert order.get_field_extras("total") == {"page": 3}
    assert order.get_field_extras("tags[0]") is None


def test_they_compare_as_values_without():
    plain = Order(id="a", total=5, tags=["x", "y"], items=[Item(sku="s", qty=1)])
    assert plain.compare(Order.from_json(RICH)) == 1
    assert plain.get_all_confidences() == {}
    assert plain.get_field_extras("id") is None


def test_metadata_may_be_left_where_it_is():
    with pytest.raises(ValidationError):
        Order.from_json(RICH, process_rich_values=False)
