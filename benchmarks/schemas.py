"""Make the schemas of the timed documents, with all annotations.

Nothing is left to defaults, because some defaults of stickler-eval and of this project differ,
above all those of clipping.
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
    """Return the schema of a text that is compared by edit distance."""
    return _leaf("string", "LevenshteinComparator", threshold, weight)


def exact(weight: float = 1.0) -> Schema:
    """Return the schema of an identifier, which is compared exactly."""
    return _leaf("string", "ExactComparator", 1.0, weight)


def number(weight: float = 1.0) -> Schema:
    """Return the schema of a number."""
    return _leaf("number", "NumericComparator", 1.0, weight)


def date(weight: float = 1.0) -> Schema:
    """Return the schema of a date."""
    return _leaf("string", "DateComparator", 1.0, weight)


def record(properties: dict[str, Schema], name: str) -> Schema:
    """Return the schema of an object with a match threshold of 0.7."""
    return {
        "type": "object",
        "x-aws-stickler-model-name": name,
        "x-aws-stickler-match-threshold": 0.7,
        "properties": properties,
    }


def as_field(node: Schema) -> Schema:
    """Return the schema of an object with the annotations of a field, such as its threshold."""
    return {
        **node,
        "x-aws-stickler-threshold": 0.7,
        "x-aws-stickler-weight": 1.0,
        "x-aws-stickler-clip-under-threshold": False,
    }


def records(properties: dict[str, Schema], name: str, weight: float = 1.0) -> Schema:
    """Return the schema of a list of objects."""
    return {
        "type": "array",
        "x-aws-stickler-weight": weight,
        "x-aws-stickler-clip-under-threshold": False,
        "items": record(properties, name),
    }


def texts(threshold: float = 0.75) -> Schema:
    """Return the schema of a list of texts."""
    return {**text(threshold), "type": "array", "items": {"type": "string"}}
