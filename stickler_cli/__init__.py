"""Field-by-field evaluation of extracted JSON documents, driven by an annotated JSON Schema.

Each name is imported from where it lives when it is first asked for, so that `import stickler_cli`
and `stickler --help` load no library that they do not use. Type checkers read `__init__.pyi`.
"""

from importlib import import_module
from typing import Any, Final

__all__ = [
    "BBoxIoUComparator",
    "BERTComparator",
    "BaseComparator",
    "BertComparator",
    "ComparableField",
    "ComparisonError",
    "DateComparator",
    "EvalResult",
    "Evaluation",
    "ExactComparator",
    "FuzzyComparator",
    "LLMComparator",
    "LevenshteinComparator",
    "NonMatchField",
    "NonMatchType",
    "NumericComparator",
    "NumericExactC",
    "Options",
    "SchemaError",
    "SemanticComparator",
    "SticklerError",
    "StructuredModel",
    "StructuredModelComparator",
    "StructuredModelEvaluator",
    "UnavailableError",
    "UsageError",
    "__version__",
    "evaluate",
    "evaluate_many",
]
__version__ = "0.1.0"

_ELSEWHERE: Final = {
    "ComparableField": "api.fields",
    "ComparisonError": "core.problems",
    "EvalResult": "api.zero",
    "Evaluation": "api.evaluation_views",
    "NonMatchField": "api.views",
    "NonMatchType": "api.views",
    "Options": "compare.plan",
    "SchemaError": "core.problems",
    "SticklerError": "core.problems",
    "StructuredModel": "api.structured",
    "StructuredModelEvaluator": "api.structured",
    "UnavailableError": "core.problems",
    "UsageError": "core.problems",
    "evaluate": "api.zero",
    "evaluate_many": "api.many",
}
"""The module of each name that is no comparator."""


def __getattr__(name: str) -> Any:
    """Import what is offered here on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'comparators')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
