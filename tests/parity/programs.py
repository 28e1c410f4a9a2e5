"""Programs in the style of stickler-eval: each takes the library as a module, and returns numbers.

They use only what stickler-eval documents, so the same program runs with either library.
"""

from typing import List, Optional  # noqa: UP035 - as such programs are written


def invoice_classes(library):
    class LineItem(library.StructuredModel):
        match_threshold = 0.8
        product: str = library.ComparableField(comparator=library.LevenshteinComparator())
        price: float = library.ComparableField(
            comparator=library.NumericComparator(tolerance=0.01), weight=2.0
        )

    class Address(library.StructuredModel):
        street: str = library.ComparableField(
            comparator=library.LevenshteinComparator(),
            threshold=0.5,
            clip_under_threshold=False,
        )
        city: Optional[str] = library.ComparableField(default=None)  # noqa: UP045

    class Invoice(library.StructuredModel):
        number: str = library.ComparableField(
            comparator=library.ExactComparator(), threshold=1.0, weight=3.0
        )
        total: float = library.ComparableField(
            comparator=library.NumericComparator(relative_tolerance=0.1), threshold=0.9
        )
        address: Address = library.ComparableField(threshold=0.5, clip_under_threshold=False)
        items: List[LineItem] = library.ComparableField(weight=2.0)  # noqa: UP006

    return Invoice


GT = {
    "number": "INV-7",
    "total": 100.0,
    "address": {"street": "12 Main Street", "city": "Springfield"},
    "items": [{"product": "gear", "price": 1.5}, {"product": "bolt", "price": 0.5}],
}
PRED = {
    "number": "INV-7",
    "total": 105.0,
    "address": {"street": "12 Main Street", "city": "Springfeld"},
    "items": [{"product": "bolt", "price": 0.5}, {"product": "gears", "price": 1.5}],
}


def scores(library):
    invoice = invoice_classes(library)
    result = invoice(**GT).compare_with(invoice(**PRED))
    return {"overall": result["overall_score"], **result["field_scores"]}


def counts(library):
    invoice = invoice_classes(library)
    result = invoice(**GT).compare_with(invoice(**PRED), include_confusion_matrix=True)
    matrix = result["confusion_matrix"]
    nodes = {"": matrix, **matrix["fields"]}
    return {
        f"{name}.{reading}.{key}": node[reading][key]
        for name, node in nodes.items()
        for reading in ("overall", "aggregate")
        for key in ("tp", "fd", "fa", "fn", "tn", "fp")
    }


def errors(library):
    invoice = invoice_classes(library)
    wrong = {**PRED, "number": "INV-8", "address": {"street": "12 Main Street"}}
    result = invoice(**GT).compare_with(invoice(**wrong), document_non_matches=True)
    return {
        error["field_path"]: library.NonMatchType(error["non_match_type"]).value
        for error in result["non_matches"]
    }


def units(library):
    invoice = invoice_classes(library)
    result = invoice(**GT).compare_with(invoice(**PRED), document_field_comparisons=True)
    return {
        entry["expected_key"]: [
            entry[key] for key in ("actual_key", "match", "score", "weighted_score", "reason")
        ]
        for entry in result["field_comparisons"]
    }


MORE = {**GT, "items": [*GT["items"], {"product": "axle", "price": 9.0}]}


def sides(library):
    """Return {"missed": pair, "invented": pair}: invoices whose last item is missed or invented."""
    invoice = invoice_classes(library)
    pairs = {"missed": (MORE, PRED), "invented": (GT, MORE)}
    return {name: (invoice(**gt), invoice(**pred)) for name, (gt, pred) in pairs.items()}


def list_errors(library):
    return {
        f"{name} {error['field_path']}": [error["reason"], str(error["non_match_type"])]
        for name, (gt, pred) in sides(library).items()
        for error in gt.compare_with(pred, document_non_matches=True)["non_matches"]
    }


def unpaired(library):
    return {
        name: [
            [entry["expected_key"], entry["actual_key"], entry["reason"]]
            for entry in gt.compare_with(pred, document_field_comparisons=True)["field_comparisons"]
            if not entry["match"]
        ]
        for name, (gt, pred) in sides(library).items()
    }


def added_up(library):
    comparisons = [
        gt.compare_with(pred, include_confusion_matrix=True) for gt, pred in sides(library).values()
    ]
    results = library.aggregate_from_comparisons(comparisons)
    return {
        f"{name}.{key}": metrics[key]
        for name, metrics in results.field_metrics.items()
        for key in ("tp", "fd", "fa", "fn", "tn", "fp", "cm_f1")
    }


def raw_similarities(library):
    gt, pred = sides(library)["missed"]
    return {name: gt.compare_field_raw(name, getattr(pred, name)) for name in ("number", "address")}


def from_configuration(library):
    product = library.StructuredModel.model_from_json(
        {
            "model_name": "Product",
            "match_threshold": 0.8,
            "fields": {
                "name": {
                    "type": "str",
                    "comparator": "LevenshteinComparator",
                    "threshold": 0.5,
                    "weight": 2.0,
                },
                "price": {"type": "float", "comparator": "NumericComparator", "default": 0.0},
                "maker": {
                    "type": "structured_model",
                    "threshold": 0.5,
                    "fields": {"name": {"type": "str", "comparator": "ExactComparator"}},
                },
            },
        }
    )
    gt = product(name="widget", price=2.0, maker={"name": "Acme"})
    pred = product(name="widgets", price=2.0, maker={"name": "Acme"})
    return {"overall": gt.compare_with(pred)["overall_score"], "compare": gt.compare(pred)}


def from_json_schema(library):
    order = library.StructuredModel.from_json_schema(
        {
            "type": "object",
            "x-aws-stickler-model-name": "Order",
            "properties": {
                "id": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
                "note": {"type": "string", "x-aws-stickler-weight": 0.5},
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
                    },
                },
            },
            "required": ["id"],
        }
    )
    gt = order(id="A-1", note="fine", lines=[{"sku": "xy", "count": 1}, {"sku": "zz", "count": 2}])
    pred = order(
        id="A-1", note="fine", lines=[{"sku": "zz", "count": 2}, {"sku": "xy", "count": 1}]
    )
    again = library.StructuredModel.from_json_schema(order.to_json_schema())
    return {
        "name": order.__name__,
        "overall": gt.compare_with(pred)["overall_score"],
        "again": again(**gt.model_dump()).compare(again(**pred.model_dump())),
    }


PROGRAMS = [
    *(scores, counts, errors, units, list_errors, unpaired, added_up, raw_similarities),
    *(from_configuration, from_json_schema),
]
