"""Comparators, which return how similar two values are.

Each module has one comparator or a family of comparators. The module `comparator_registry` maps the
names of comparators to their classes.
"""

from typing import TYPE_CHECKING, Any

from .base import BaseComparator
from .comparator_registry import comparator_class

if TYPE_CHECKING:
    from .anls import ANLSStarComparator
    from .bbox import BBoxIoUComparator
    from .code import CodeComparator
    from .date import DateComparator
    from .exact import (
        CaseInsensitiveComparator,
        EnumComparator,
        ExactComparator,
        NormalizedComparator,
        StructuredModelComparator,
    )
    from .models import BERTComparator, BertComparator, LLMComparator, SemanticComparator
    from .numeric import NumericComparator, NumericExactC
    from .phone import PhoneComparator
    from .texts import FuzzyComparator, LevenshteinComparator
    from .time import TimeComparator

__all__ = [
    "ANLSStarComparator",
    "BBoxIoUComparator",
    "BERTComparator",
    "BaseComparator",
    "BertComparator",
    "CaseInsensitiveComparator",
    "CodeComparator",
    "DateComparator",
    "EnumComparator",
    "ExactComparator",
    "FuzzyComparator",
    "LLMComparator",
    "LevenshteinComparator",
    "NormalizedComparator",
    "NumericComparator",
    "NumericExactC",
    "PhoneComparator",
    "SemanticComparator",
    "StructuredModelComparator",
    "TimeComparator",
]


def __getattr__(name: str) -> Any:
    """Import a comparator, and the libraries that it needs, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    comparator = comparator_class(name)
    globals()[name] = comparator
    return comparator


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
