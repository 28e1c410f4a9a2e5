"""Comparison of model instances by their own judgement."""

from typing import Any, ClassVar

from .base import BaseComparator
from .keywords import checked_flag


class StructuredModelComparator(BaseComparator):
    """Compare two model instances by their own `compare`, other values for equality."""

    takes: ClassVar[frozenset[str]] = frozenset({"object"})

    def __init__(self, threshold: float = 0.7, strict_types: bool = False) -> None:
        """Choose whether two strings, where models belong, are an error."""
        super().__init__(threshold)
        self.strict_types = checked_flag("strict_types", strict_types)

    def similarity(self, gt: Any, pred: Any) -> float:
        """Compare two values; a TypeError for two strings under `strict_types`."""
        if self.strict_types and isinstance(gt, str) and isinstance(pred, str):
            raise TypeError("StructuredModelComparator with strict_types compares no two strings")
        if _is_model(gt) and _is_model(pred):
            return float(gt.compare(pred))
        return float(_are_equal(gt, pred))


def _is_model(value: object) -> bool:
    return callable(getattr(value, "compare", None))


def _are_equal(gt: object, pred: object) -> bool:
    """Compare as JSON does: to Python's own `==`, true is 1."""
    match gt, pred:
        case dict(), dict():
            return gt.keys() == pred.keys() and all(_are_equal(gt[key], pred[key]) for key in gt)
        case list(), list():
            return len(gt) == len(pred) and all(map(_are_equal, gt, pred))
        case _:
            return isinstance(gt, bool) is isinstance(pred, bool) and gt == pred
