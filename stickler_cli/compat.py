"""The module paths and names of stickler-eval, for programs that were written for it.

Importing this makes `stickler_cli.compat.structured_object_evaluator.models...` and the like
importable, so that a search and replace of `stickler` is enough; `install` makes the same
importable as `stickler`. For what is not in the table below see docs/migrating.md.
"""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

import stickler_cli
from stickler_cli.api.reference import doc_split as _doc_split  # a module here has its name
from stickler_cli.api.reference import functions

_MODELS: Final = "StructuredModel ComparableField"
_NON_MATCHES: Final = "NonMatchField NonMatchType"
_ANLS: Final = "anls_score compare_json compare_structured_models"
_AUTO: Final = "evaluate eval_for EvalResult EvalSpec"
_BULK: Final = "BulkStructuredModelEvaluator aggregate_from_comparisons"
_REPORTS: Final = "EvaluationHTMLReporter ReportConfig ReportResult"

_COMPARATORS: Final = {
    "anls": "ANLSStarComparator",
    "base": "BaseComparator",
    "bbox": "BBoxIoUComparator",
    "bert": "BERTComparator",
    "date": "DateComparator",
    "exact": "ExactComparator",
    "fuzzy": "FuzzyComparator",
    "levenshtein": "LevenshteinComparator",
    "llm": "LLMComparator",
    "normalized": "NormalizedComparator",
    "numeric": "NumericComparator NumericExactC",
    "phone": "PhoneComparator",
    "semantic": "SemanticComparator",
    "structured": "StructuredModelComparator",
}
_ALL_COMPARATORS: Final = " ".join(_COMPARATORS.values())
_ROOT: Final = f"{_MODELS} {_NON_MATCHES} {_ANLS} aggregate_from_comparisons"
_OBJECTS: Final = "structured_object_evaluator"

# The modules, and what each has; every name is one of `stickler_cli` or of this module.
MODULES: Final[Mapping[str, str]] = {
    "": f"{_ROOT} {_ALL_COMPARATORS} {_AUTO} StructuredModelEvaluator",
    "auto": _AUTO,
    "auto.facade": _AUTO,
    "comparators": _ALL_COMPARATORS,
    **{f"comparators.{module}": names for module, names in _COMPARATORS.items()},
    "doc_split": "DocSplitClassificationMetrics evaluate_packet",
    "doc_split.doc_split_classification_metrics": "DocSplitClassificationMetrics",
    "doc_split.packet_evaluation_metrics": "evaluate_packet",
    "reporting": "",
    "reporting.html": _REPORTS,
    "reporting.html.html_reporter": "EvaluationHTMLReporter",
    "reporting.html.report_config": "ReportConfig ReportResult",
    _OBJECTS: f"{_ROOT} print_confusion_matrix",
    f"{_OBJECTS}.bulk_structured_model_evaluator": _BULK,
    f"{_OBJECTS}.evaluator": "StructuredModelEvaluator",
    f"{_OBJECTS}.models": _MODELS,
    f"{_OBJECTS}.models.comparable_field": "ComparableField",
    f"{_OBJECTS}.models.comparator_registry": "",
    f"{_OBJECTS}.models.non_match_field": _NON_MATCHES,
    f"{_OBJECTS}.models.structured_model": "StructuredModel",
    f"{_OBJECTS}.utils": _ANLS,
    f"{_OBJECTS}.utils.anls_score": _ANLS,
    f"{_OBJECTS}.utils.compare_json": "compare_json",
    f"{_OBJECTS}.utils.pretty_print": "print_confusion_matrix",
    "utils": "",
    "utils.process_evaluation": "ProcessEvaluation",
}


class Alias(ModuleType):
    """A module of stickler-eval: names that are looked up when they are asked for."""

    def __init__(self, name: str, names: str) -> None:
        """Offer some names, with blanks between them."""
        super().__init__(name, __doc__)
        self.__all__ = names.split()
        self.__file__ = __file__  # where messages say that a name is missing
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        """Return the object of a name."""
        if name not in self.__all__:
            raise _not_here(self.__name__, name)
        return getattr(sys.modules[__name__], name)


def __getattr__(name: str) -> Any:
    """Return an object of any of the modules by its name."""
    if any(name in names.split() for names in MODULES.values()):
        homes = (functions, _doc_split, stickler_cli)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    raise _not_here(__name__, name)


_INSTEAD: Final = {
    "print_non_matches": "print(evaluation.report()), or stickler errors",
    "print_evaluation_results": "print(evaluation.report()), or stickler errors",
    "print_confusion_matrix_html": 'evaluation.report("html")',
    "register_comparator": "--allow-plugins, and module:Class in the schema",
}
"""What does the work of names that are not here."""


def _not_here(module: str, name: str) -> Exception:
    """Return what tells that a name is not here; `from ... import` hides what no ImportError says.

    Others must be an AttributeError, as `hasattr` asks for any name.
    """
    if name in _INSTEAD:
        return ImportError(f"{module} has no {name}: use {_INSTEAD[name]} (docs/migrating.md)")
    return AttributeError(f"module {module} has no {name}; see docs/migrating.md")


def install(name: str = "stickler") -> None:
    """Let programs import this as `stickler`, as if it were stickler-eval.

    Raises:
        ImportError: another module of that name is imported already.
    """
    if name in sys.modules and not isinstance(sys.modules[name], Alias):
        raise ImportError(f"{name} is imported already; call install() before that")
    _register(name, MODULES)


def _register(root: str, modules: Mapping[str, str]) -> None:
    for path, names in modules.items():
        whole = f"{root}.{path}".rstrip(".")
        sys.modules[whole] = module = Alias(whole, names)
        parent, _, last = whole.rpartition(".")
        if path and last not in modules.get(path.rpartition(".")[0], "").split():
            setattr(sys.modules[parent], last, module)  # a function of that name goes first


_register(__name__, {path: names for path, names in MODULES.items() if path})
