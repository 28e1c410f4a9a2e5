"""Field-by-field evaluation of extracted JSON documents, driven by an annotated JSON Schema.

Each public name is imported when it is first used. `import stickler_cli` and `stickler --help`
therefore load only the libraries that they need. Type checkers read `__init__.pyi`. This module
does not import `typing`, because that import would take half the start time of short commands such
as `stickler --version`.
"""

from importlib import import_module

__version__ = "0.1.0"

_OFFERED = {
    "api.eval_result": "ComparisonResult EvalResult EvaluatorResult NonMatchField NonMatchType",
    "api.evaluation_views": "Evaluation",
    "api.fields": "ComparableField",
    "api.batches": "evaluate_batch merge_states",
    "api.many": "evaluate_many",
    "api.reference.evaluators": "BulkStructuredModelEvaluator ProcessEvaluation "
    "StructuredModelEvaluator aggregate_from_comparisons",
    "api.structured": "StructuredModel",
    "api.scorer": "EvalSpec Scored Scorer",
    "api.zero": "assert_matches eval_for evaluate",
    "comparators.anls": "anls_score anls_star_numbers",
    "comparators": "ANLSStarComparator BBoxIoUComparator BERTComparator BaseComparator "
    "BertComparator CaseInsensitiveComparator CodeComparator DateComparator "
    "EnumComparator ExactComparator FuzzyComparator LLMComparator "
    "LevenshteinComparator NormalizedComparator NumericComparator NumericExactC "
    "PhoneComparator SemanticComparator StructuredModelComparator TimeComparator",
    "compare.plan": "Options",
    "core.problems": "ComparisonError SchemaError SticklerError UnavailableError UsageError "
    "WorkerDiedError",
}
_HOMES = {name: module for module, names in _OFFERED.items() for name in names.split()}

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605 - a list


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    offered = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = offered
    return offered


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
