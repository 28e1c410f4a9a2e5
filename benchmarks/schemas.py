"""The nodes of the sets' schemas, annotated so that nothing is left to a default.

stickler-eval and this project have different ones, of clipping above all.
"""

from typing import Any

Schema = dict[str, Any]


def _leaf(kind: str, comparator: str, threshold: float, weight: float) -> Schema:
    return {
        "type": kind,
        "x-aws-stickler-comparator": comparator,
        "x-aws-stickler-threshold": threshold,
        "x-aws-stickler-weight": weight,
        "x-aws-stickler-clip-under-threshold": False,
    }


def text(threshold: float = 0.75, weight: float = 1.0) -> Schema:
    """Compare by edit distance."""
    return _leaf("string", "LevenshteinComparator", threshold, weight)


def exact(weight: float = 1.0) -> Schema:
    """Compare identifiers."""
    return _leaf("string", "ExactComparator", 1.0, weight)


def number(weight: float = 1.0) -> Schema:
    """Compare numbers."""
    return _leaf("number", "NumericComparator", 1.0, weight)


def date(weight: float = 1.0) -> Schema:
    """Compare dates."""
    return _leaf("string", "DateComparator", 1.0, weight)


def record(properties: dict[str, Schema], name: str) -> Schema:
    """Give an object; objects of which 0.7 is alike are the same one."""
    return {
        "type": "object",
        "x-aws-stickler-model-name": name,
        "x-aws-stickler-match-threshold": 0.7,
        "properties": properties,
    }


def as_field(node: Schema) -> Schema:
    """Give an object the annotations of a field."""
    return {
        **node,
        "x-aws-stickler-threshold": 0.7,
        "x-aws-stickler-weight": 1.0,
        "x-aws-stickler-clip-under-threshold": False,
    }


def records(properties: dict[str, Schema], name: str, weight: float = 1.0) -> Schema:
    """Give a list of objects."""
    return {
        "type": "array",
        "x-aws-stickler-weight": weight,
        "x-aws-stickler-clip-under-threshold": False,
        "items": record(properties, name),
    }


def texts(threshold: float = 0.75) -> Schema:
    """Give a list of texts."""
    return {**text(threshold), "type": "array", "items": {"type": "string"}}
