"""Judges of two values: one module per comparator, and the registry that finds them by name."""

from typing import TYPE_CHECKING, Any

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import comparator_class

if TYPE_CHECKING:
    from stickler_cli.comparators.bbox import BBoxIoUComparator
    from stickler_cli.comparators.bert import BERTComparator, BertComparator
    from stickler_cli.comparators.date import DateComparator
    from stickler_cli.comparators.exact import ExactComparator
    from stickler_cli.comparators.fuzzy import FuzzyComparator
    from stickler_cli.comparators.levenshtein import LevenshteinComparator
    from stickler_cli.comparators.llm import LLMComparator
    from stickler_cli.comparators.numeric import NumericComparator, NumericExactC
    from stickler_cli.comparators.semantic import SemanticComparator
    from stickler_cli.comparators.structured import StructuredModelComparator

__all__ = [
    "BBoxIoUComparator",
    "BERTComparator",
    "BaseComparator",
    "BertComparator",
    "DateComparator",
    "ExactComparator",
    "FuzzyComparator",
    "LLMComparator",
    "LevenshteinComparator",
    "NumericComparator",
    "NumericExactC",
    "SemanticComparator",
    "StructuredModelComparator",
]


def __getattr__(name: str) -> Any:
    """Import a comparator on first use, with the libraries that it needs."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = comparator_class(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
