"""Module paths and names of stickler-eval, for programs that were written for it.

Importing this module makes paths such as `stickler_cli.compat.structured_object_evaluator.models`
importable. A program then only has to import from `stickler_cli.compat` instead of `stickler`.
After `install`, it does not have to be changed at all. docs/migrating.md lists the names that do
not exist here.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path as File
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from pydantic import BaseModel

import stickler_cli
from stickler_cli.api.eval_result import ComparisonResult
from stickler_cli.api.evaluation_views import Evaluation
from stickler_cli.api.fields import values_of

# A module of this package has this name.
from stickler_cli.api.reference import doc_split as _doc_split
from stickler_cli.api.reference.evaluators import ProcessEvaluation, aggregate_from_comparisons
from stickler_cli.api.reference.inferred import (  # noqa: F401 - names of this module
    eval_for,
    evaluate,
)
from stickler_cli.api.structured import StructuredModel
from stickler_cli.comparators.anls import anls_score as _of_values

__path__: Final[list[str]] = []  # a package for Python, so that modules inside it are looked up
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

# Modules and their names; every name is in `stickler_cli` or in this module.
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


def anls_score(gt: Any, pred: Any, return_gt: bool = False, **options: Any) -> Any:
    """Return the same as `stickler_cli.anls_score`, also for model instances."""
    truth, predicted = (
        values_of(side) if isinstance(side, BaseModel) else side for side in (gt, pred)
    )
    score = _of_values(truth, predicted, return_gt, **options)
    if return_gt and isinstance(gt, BaseModel):
        return score[0], gt, *score[2:]
    return score


def compare_structured_models(gt: StructuredModel, pred: StructuredModel) -> ComparisonResult:
    """Return `gt.compare_with(pred)`."""
    return gt.compare_with(pred)


def compare_json(
    gt_json: dict[str, Any], pred_json: dict[str, Any], model_cls: type[StructuredModel]
) -> ComparisonResult:
    """Compare two JSON documents as instances of a class.

    Raises:
        ValidationError: a document is not valid for the class.
    """
    return model_cls.from_json(gt_json).compare_with(model_cls.from_json(pred_json))


def print_confusion_matrix(
    results: Mapping[str, Any] | ProcessEvaluation, *_options: object, **_more: object
) -> None:
    """Print the report of `stickler eval`; options of stickler-eval have no effect.

    Args:
        results: result of `compare_with(..., include_confusion_matrix=True)`, or of the bulk
            evaluator.
    """
    sys.stdout.write(_evaluation(results).report())


def _evaluation(results: Mapping[str, Any] | ProcessEvaluation) -> Evaluation:
    if isinstance(results, ProcessEvaluation):
        return results.evaluation
    try:
        matrix = results["confusion_matrix"]
        with_score = {**results, "overall_score": matrix["overall"]["similarity_score"]}
    except (KeyError, TypeError):
        expected = "compare_with(..., include_confusion_matrix=True) or of an evaluator"
        raise ValueError(f"these results do not come from {expected}") from None
    return aggregate_from_comparisons([with_score]).evaluation


class ReportConfig(SimpleNamespace):
    """The options of HTML reports in stickler-eval.

    They have no effect here, because the page always shows everything.
    """


class ReportResult(BaseModel):
    """The result of writing an HTML report: whether it was written, its path, and any errors."""

    output_path: str
    success: bool
    generation_time_seconds: float
    sections_included: list[str]
    errors: list[str] = []
    metadata: dict[str, Any] = {}

    def summary(self) -> str:
        """Return the result as a sentence."""
        return (
            f"written to {self.output_path}" if self.success else f"not written: {self.errors[0]}"
        )


class EvaluationHTMLReporter:
    """Writes results as an HTML page, like `stickler eval --format html`."""

    def generate_report(
        self,
        evaluation_results: Mapping[str, Any] | ProcessEvaluation,
        output_path: str,
        config: ReportConfig | None = None,
        document_files: object = None,
        title: str | None = None,
        *_options: object,
        **_more: object,
    ) -> ReportResult:
        """Write the HTML page, and create its directory if necessary.

        If this fails, nothing is raised; `errors` of the result has the reason.
        """
        begun = time.monotonic()
        errors, count = [], 0
        try:
            evaluation = _evaluation(evaluation_results)
            count = evaluation.evaluated
            page = evaluation.report("html", title=title or "documents")
            File(output_path).parent.mkdir(parents=True, exist_ok=True)
            File(output_path).write_text(page, encoding="utf-8")
        except (OSError, ValueError) as error:
            errors.append(str(error))
        return ReportResult(
            output_path=output_path,
            success=not errors,
            generation_time_seconds=time.monotonic() - begun,
            sections_included=[] if errors else ["all"],
            errors=errors,
            metadata={"document_count": count},
        )


class Alias(ModuleType):
    """A module with names of stickler-eval; each is looked up when it is first used."""

    def __init__(self, name: str, names: str) -> None:
        """Create a module `name` that has the given names, which are separated by blanks."""
        super().__init__(name, __doc__)
        self.__all__ = names.split()
        self.__file__ = __file__  # where messages look for missing names
        self.__path__: list[str] = []
        self.__spec__ = ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Any:
        """Return the object that a name of the module stands for."""
        if name not in self.__all__:
            raise AttributeError(_absence(self.__name__, name))
        return getattr(sys.modules[__name__], name)


def __getattr__(name: str) -> Any:
    """Return the object for a name that one of the modules of stickler-eval has."""
    if any(name in names.split() for names in MODULES.values()):
        homes = (_doc_split, stickler_cli)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    raise AttributeError(_absence(__name__, name))


_INSTEAD: Final = {
    "__version__": 'importlib.metadata.version("stickler-cli")',
    "algorithms": "scipy.optimize.linear_sum_assignment",
    "confidence": "add_confidence_metrics=True (see docs/confidence.md)",
    "print_non_matches": "print(evaluation.report()) or the command stickler errors",
    "print_evaluation_results": "print(evaluation.report()) or the command stickler errors",
    "print_confusion_matrix_html": 'evaluation.report("html")',
    "register_comparator": (
        "module:Class as the comparator in the schema, with the option --allow-plugins"
    ),
    "text_normalizers": "NormalizedComparator, or ExactComparator",
}
"""Replacements for names and modules of stickler-eval that do not exist here."""


def _absence(module: str, name: str) -> str:
    """Return a message that a module lacks a name.

    The message gives a replacement if there is one, and refers to docs/migrating.md.
    """
    instead = f"; use {_INSTEAD[name]}" if name in _INSTEAD else ""
    return f"{module} has no {name}{instead}; see docs/migrating.md"


class AbsentModules(MetaPathFinder):
    """Adds explanations to import errors about modules and names of stickler-eval.

    Missing names also lead to this class: if `from module import name` finds no attribute `name`,
    Python tries to import a submodule `name`, and for this calls `find_spec`. The function
    `hasattr` does not call `find_spec`; it returns False for a missing name.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None for modules of other packages, so that Python searches further.

        Raises:
            ModuleNotFoundError: the module would be inside `stickler_cli.compat` or an alias of it.
        """
        parent, _, name = fullname.rpartition(".")
        if parent == __name__ or isinstance(sys.modules.get(parent), Alias):
            # Without `name=`: Python replaces the message of an error that names the missing module
            raise ModuleNotFoundError(_absence(parent, name))
        return None


def install(name: str = "stickler") -> None:
    """Make this module importable as `stickler`, as if it were stickler-eval.

    Raises:
        ImportError: another module of this name has been imported.
    """
    if name in sys.modules and not isinstance(sys.modules[name], Alias):
        raise ImportError(
            f"{name} has already been imported; call install() before importing {name}"
        )
    _register(name, MODULES)


def _register(root: str, modules: Mapping[str, str]) -> None:
    for path, names in modules.items():
        module_name = f"{root}.{path}".rstrip(".")
        sys.modules[module_name] = module = Alias(module_name, names)
        parent, _, last = module_name.rpartition(".")
        if path and last not in modules.get(path.rpartition(".")[0], "").split():
            setattr(sys.modules[parent], last, module)  # a function of this name takes precedence


_register(__name__, {path: names for path, names in MODULES.items() if path})
sys.meta_path.append(AbsentModules())  # last, after the finders of real modules
