"""The evaluator classes of stickler-eval: one for single pairs, and one for many documents.

With the second class, the caller adds documents in a loop. Both classes compute their results with
`EvalResult` and `Evaluation`.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path as File
from typing import Any, Final

from pydantic import BaseModel, PrivateAttr

from stickler_cli.api.eval_result import (
    EvaluatorResult,
    NonMatchField,
    compared,
    comparison_result,
    confidence_metrics,
    evaluator_result,
    non_matches,
)
from stickler_cli.api.evaluation_views import Evaluation
from stickler_cli.api.many import described, document_pair
from stickler_cli.api.structured import StructuredModel, compared_models
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.core.json_values import OBJECTS, json_line
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import ComparisonError, Problem, UsageError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.reports.view import named_rows
from stickler_cli.runs.assembly import client_of, comparing
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested, unwrapper_of
from stickler_cli.score import evaluation as score
from stickler_cli.score.comparison_view import sums_of_view
from stickler_cli.score.document_result import DocumentProblem, Status
from stickler_cli.score.evaluation import Conditions
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.sums import Counts
from stickler_cli.settings.deciding import DecidingOptions
from stickler_cli.settings.of_commands import ManySettings

NOT_COMPARED: Final = (Status.FAILED, Status.UNMATCHED)
TOGETHER: Final = 256  # number of documents that are compared together, which is much faster


class StructuredModelEvaluator:
    """Evaluates predictions against ground truths, one pair at a time."""

    def __init__(
        self,
        model_class: type[StructuredModel] | None = None,
        *,
        document_non_matches: bool = True,
        recall_with_fd: bool = False,
    ) -> None:
        """Create an evaluator.

        Args:
            model_class: both documents must be instances of this class; None accepts any model.
            document_non_matches: whether results list the errors.
            recall_with_fd: whether false discoveries count as missed in recall.
        """
        self.model_class = model_class
        self.document_non_matches = document_non_matches
        self.recall_with_fd = recall_with_fd
        self.non_match_documents: list[NonMatchField] = []  # errors of the last evaluation

    def evaluate(
        self,
        ground_truth: StructuredModel,
        predictions: StructuredModel,
        recall_with_fd: bool = False,
    ) -> EvaluatorResult:
        """Compare a prediction with its ground truth.

        Returns:
            A dict with `overall`, `fields`, `confusion_matrix` and `non_matches`. `overall` has
            `precision`, `recall`, `f1` and `accuracy`, computed from the overall counts, and the
            similarity as `anls_score`. `fields` has the same for each field.

        Raises:
            TypeError: a side is not an instance of the class.
        """
        for side in (ground_truth, predictions):
            if self.model_class is not None and not isinstance(side, self.model_class):
                expected = self.model_class.__name__
                raise TypeError(f"{type(side).__name__} is compared, expected {expected}")
        batch = compared_models(ground_truth, predictions)
        result = evaluator_result(batch, recall_with_fd=recall_with_fd or self.recall_with_fd)
        if not self.document_non_matches:
            result["non_matches"] = result["confusion_matrix"]["non_matches"] = []
        self.non_match_documents = [NonMatchField(**error) for error in result["non_matches"]]
        return result


class ProcessEvaluation(BaseModel):
    """Results of many documents."""

    document_count: int
    """Number of compared documents."""
    metrics: dict[str, Any]
    """Counts of all documents together in the counting mode `overall`, and the rates computed from
    them. `weighted_overall_score` is the mean score of the documents."""
    field_metrics: dict[str, dict[str, Any]]
    """Keys are field paths; values are the counts and rates of the field. A field that has a score
    also has `mean_score`. `leaves` has the counts of all values in the field, including the values
    inside items and objects that are missed, invented or mismatched."""
    errors: list[dict[str, Any]]
    """Documents that could not be compared, with `doc_id`, `error` and `error_type`."""
    total_time: float
    """Seconds since the evaluator was created or reset."""
    non_matches: list[dict[str, Any]] | None = None
    """All wrong values, each with its `doc_id`; None if errors were not requested."""
    confidence_metrics: dict[str, Any] | None = None
    """Figures on how reliable confidences are, as `compare_with` returns them; None if no value has
    a confidence."""
    _evaluation: Evaluation = PrivateAttr(default_factory=Evaluation)
    _title: str = PrivateAttr(default="")

    @property
    def evaluation(self) -> Evaluation:
        """All results, as `evaluate_many` returns them."""
        return self._evaluation

    @property
    def matrix(self) -> None:
        """Always None, as in stickler-eval. The counts are in `metrics` and `field_metrics`."""
        return

    def to_md(self) -> str:
        """Return the results as the Markdown that `stickler eval --format markdown` writes."""
        return self._evaluation.report("markdown", title=self._title)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks."""
        return self._evaluation._repr_html_()


class BulkStructuredModelEvaluator:
    """Compares documents one by one and adds up the results.

    The results can be read at any time.
    """

    def __init__(
        self,
        target_schema: type[StructuredModel] | None = None,
        verbose: bool = False,
        document_non_matches: bool = True,
        elide_errors: bool = False,
        individual_results_jsonl: str | None = None,
    ) -> None:
        """Create an evaluator without documents.

        Args:
            target_schema: the class for ground truths that are dicts. For a ground truth that is an
                instance of a StructuredModel, its own class is used instead. If `target_schema` is
                None, all ground truths must be such instances.
            verbose: whether to print each document that cannot be compared, and how many documents
                were compared.
            document_non_matches: whether to keep all errors of values. The memory used then grows
                with the number of documents.
            elide_errors: whether documents that cannot be compared are omitted from all results.
            individual_results_jsonl: each comparison is appended to this file as a JSON line. This
                takes some milliseconds for each document.
        """
        self.target_schema = target_schema
        self.document_non_matches = document_non_matches
        self.elide_errors = elide_errors
        self.individual_results_jsonl = individual_results_jsonl
        self._tell: Callable[[str], object] = print if verbose else str
        self.reset()

    def reset(self) -> None:
        """Forget all documents and results."""
        self._evaluation = Evaluation()
        if self.target_schema is not None:
            infos = field_listing(self.target_schema.comparison_plan())
            self._evaluation.conditions = Conditions(DecidingOptions(), infos)
        self._job: Job | None = None
        self._pending: list[DocumentPair] = []
        self._non_matches: list[dict[str, Any]] = []
        self._begun = time.monotonic()

    def update(self, gt_model: object, pred_model: object, doc_id: str | None = None) -> None:
        """Add a pair of documents.

        Each document is a model instance or a dict of JSON values. If the ground truth is a dict,
        `target_schema` must be set. Other values, and comparisons that fail, are recorded as errors
        of the document.
        """
        name = self._name(doc_id)
        # Documents are compared later, and the caller may change dicts until then.
        gt, pred = (
            deepcopy(model) if isinstance(model, dict) else model
            for model in (gt_model, pred_model)
        )
        pair = document_pair(name, gt, pred, OBJECTS)
        kind = type(gt_model) if isinstance(gt_model, StructuredModel) else self.target_schema
        if isinstance(pred_model, StructuredModel):
            pair = replace(pair, confidences=pred_model._unwrapped.confidences)  # noqa: SLF001
        if isinstance(pair.pred, Problem):
            pair = replace(pair, gt=pair.pred, pred=None)
        elif kind is None:
            finding = f"the ground truth is {described(gt_model)}"
            expected = "an instance of a StructuredModel, because there is no target_schema"
            unknown = Problem(name, finding, expected)
            pair = replace(pair, gt=unknown, pred=None)
        job = self._job_of(kind or StructuredModel)
        if self.individual_results_jsonl:
            self._write(self.individual_results_jsonl, job, pair)
        self._pending.append(pair)
        if len(self._pending) == TOGETHER:
            self._compare()

    def _job_of(self, kind: type[StructuredModel]) -> Job:
        """Return the job that compares instances of a class.

        The job is reused until an instance of another class comes. Then all waiting documents of
        the previous class are compared, and a new job is made.
        """
        plan = kind.comparison_plan()
        if self._job is None or self._job.plan is not plan:
            self._compare()
            settings = ManySettings()
            options = comparing(plan, settings, client_of(plan))
            max_errors = sys.maxsize if self.document_non_matches else 0
            requested = OutputsRequested(first_non_matches=max_errors)
            unwrapper = unwrapper_of(plan.root, settings)
            self._job = Job(
                plan=plan,
                options=options,
                missing="error",
                requested=requested,
                unwrapper=unwrapper,
            )
        return self._job

    def _compare(self) -> None:
        """Compare the documents that are waiting to be compared, and add up their results."""
        if self._job is None or not self._pending:
            return
        pairs, self._pending = self._pending, []
        chunk = evaluate_chunk(self._job, pairs)
        evaluation = chunk.evaluation
        for problem in _not_compared(evaluation):
            self._tell(f"{problem.document} is not compared: {problem.problem}")
        if self.elide_errors:
            evaluation.problems = [
                entry for entry in evaluation.problems if entry.status not in NOT_COMPARED
            ]
            for status in NOT_COMPARED:
                evaluation.statuses[status] = 0
        self._evaluation.merge(Evaluation.of(evaluation))
        for error in chunk.first_non_matches:
            self._non_matches += [
                {**entry, "doc_id": error.document} for entry in non_matches([error])
            ]

    def _write(self, path: str, job: Job, pair: DocumentPair) -> None:
        """Append the comparison of a pair to a file, as a JSON line.

        Write nothing if the comparison fails. The failure is recorded when the pair is compared
        again with its batch.
        """
        if not isinstance(pair.gt, dict) or not isinstance(pair.pred, dict):
            return
        with suppress(ComparisonError):
            batch = compared(job.plan, [pair.gt], [pair.pred], job.options)
            errors = self.document_non_matches
            result = comparison_result(batch, counts=True, errors=errors, units=True)
            with File(path).open("ab") as lines:
                lines.write(json_line({"doc_id": pair.id, "comparison_result": result}))

    def update_batch(self, batch_data: Iterable[tuple[object, object, str | None]]) -> None:
        """Add documents, each as `(gt, pred, doc_id)`."""
        for gt, pred, doc_id in batch_data:
            self.update(gt, pred, doc_id)

    def update_from_comparison_result(
        self, comparison_result: Mapping[str, Any], doc_id: str | None = None
    ) -> None:
        """Add the result of `compare_with(..., include_confusion_matrix=True)` for one document.

        Raises:
            ValueError: `comparison_result` was not returned by this call of `compare_with`, or it
                comes from stickler-eval, whose results have no `leaves` counts.
        """
        name = self._name(doc_id)
        try:
            score = float(comparison_result["overall_score"])
            sums = sums_of_view(comparison_result["confusion_matrix"], score)
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"the comparison of {name} has no {error}; pass the result of "
                "compare_with(..., include_confusion_matrix=True)"
            ) from error
        document_evaluation = Evaluation(ledger=Ledger(sums))
        document_evaluation.statuses[Status.EVALUATED] = 1
        self.evaluation.merge(document_evaluation)
        if self.document_non_matches:
            errors = comparison_result.get("non_matches", ())
            self._non_matches += [{**error, "doc_id": name} for error in errors]

    def _name(self, doc_id: str | None) -> str:
        n_documents = self._evaluation.documents["total"] + len(self._pending)
        return f"doc_{n_documents}" if doc_id is None else doc_id

    @property
    def evaluation(self) -> Evaluation:
        """All results so far, as `evaluate_many` returns them."""
        self._compare()
        return self._evaluation

    @property
    def _processed_count(self) -> int:  # programs written for stickler-eval read it
        return self.evaluation.evaluated

    def get_current_metrics(self) -> ProcessEvaluation:
        """Return the results so far."""
        evaluation = self.evaluation
        fields = {}
        for row in named_rows(evaluation.sums, evaluation.fields, evaluation.rule):
            mean = {} if row.score is None else {"mean_score": row.score}
            units, leaves = row.tally.counts("overall"), row.tally.counts("leaves")
            metrics = {**_metrics(units), "leaves": _metrics(leaves), **mean}
            fields[field_path(row.path)] = metrics
        overall = _metrics(evaluation.tally.counts("overall"))
        confidences, total = evaluation.confidences, evaluation.tally.n_predicted_values
        process_evaluation = ProcessEvaluation(
            document_count=evaluation.documents["total"],
            metrics={**overall, "weighted_overall_score": evaluation.overall_score or 0.0},
            field_metrics=fields,
            errors=[
                {
                    "doc_id": problem.document,
                    "error": problem.problem,
                    "error_type": problem.status.value,
                }
                for problem in _not_compared(evaluation)
            ],
            total_time=time.monotonic() - self._begun,
            non_matches=[*self._non_matches] if self.document_non_matches else None,
            confidence_metrics=confidence_metrics(confidences, total) if confidences else None,
        )
        process_evaluation._evaluation, process_evaluation._title = evaluation, self._title  # noqa: SLF001 - it is made here
        return process_evaluation

    def compute(self) -> ProcessEvaluation:
        """Return the results of all documents."""
        results = self.get_current_metrics()
        self._tell(f"{results.document_count} documents, {len(results.errors)} errors")
        return results

    def close(self) -> None:
        """Do nothing, because no file stays open. The method exists for compatibility."""

    def pretty_print_metrics(self) -> None:
        """Print the results as `stickler eval` does in a terminal."""
        sys.stdout.write(self.evaluation.report(title=self._title))

    def save_metrics(self, filepath: str) -> None:
        """Write the results as JSON; missing directories are created."""
        results = self.get_current_metrics()
        record = results.model_dump(mode="json", exclude={"metrics"})
        File(filepath).parent.mkdir(parents=True, exist_ok=True)
        File(filepath).write_bytes(json_line({"overall_metrics": results.metrics, **record}))

    @property
    def _title(self) -> str:
        return "" if self.target_schema is None else self.target_schema.__name__

    def get_state(self) -> dict[str, Any]:
        """Return all results so far as JSON values, for `load_state` and `merge_state`."""
        return {
            "target_schema": self._title,
            "processed_count": self.evaluation.evaluated,
            "seconds": time.monotonic() - self._begun,
            "evaluation": self.evaluation.to_dict(),
            # Read after `evaluation`, which compares the waiting documents.
            "non_matches": [*self._non_matches],
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Replace all documents and results by those that a state contains.

        Raises:
            ValueError: the state is for documents of another class.
            UsageError: the value is not a state made by `get_state`, or it was made by another
                version of this package.
        """
        evaluation, non_matches = self._read_state(state)
        self.reset()
        self._begun -= float(state["seconds"])
        self._evaluation, self._non_matches = evaluation, non_matches

    def merge_state(self, other_state: Mapping[str, Any]) -> None:
        """Add the documents in the state of another evaluator.

        Raises:
            ValueError: the state is for documents of another class.
            UsageError: the value is not a state made by `get_state`, or it was made by another
                version of this package or for a schema with other fields.
        """
        evaluation, non_matches = self._read_state(other_state)
        self.evaluation.merge(evaluation)
        self._non_matches += non_matches

    def _read_state(self, state: Mapping[str, Any]) -> tuple[Evaluation, list[dict[str, Any]]]:
        keys = ("target_schema", "seconds", "evaluation", "non_matches")
        if missing := [key for key in keys if key not in state]:
            finding = f"the keys {', '.join(missing)} are missing"
            expected = "a state that get_state has returned"
            raise UsageError([Problem("argument 'state'", finding, expected)])
        if state["target_schema"] != self._title:
            finding = f"the saved state is for documents of {state['target_schema'] or 'any class'}"
            raise ValueError(f"{finding}, and this evaluator of {self._title or 'any class'}")
        return Evaluation.from_dict(state["evaluation"], "state"), list(state["non_matches"])


def aggregate_from_comparisons(
    comparison_results: Iterable[Mapping[str, Any]],
) -> ProcessEvaluation:
    """Add up results of `compare_with(..., include_confusion_matrix=True)`, one for each document.

    Raises:
        ValueError: an entry is something else, or comes from stickler-eval, whose results have no
            `leaves` counts.
    """
    evaluator = BulkStructuredModelEvaluator()
    for result in comparison_results:
        evaluator.update_from_comparison_result(result)
    return evaluator.compute()


def _not_compared(evaluation: score.Evaluation) -> list[DocumentProblem]:
    """Return the problems of documents that were not compared, in order."""
    return [problem for problem in sorted(evaluation.problems) if problem.status in NOT_COMPARED]


def _metrics(counts: Counts) -> dict[str, Any]:
    view: dict[str, Any] = counts.view()
    rates = view.pop("derived")
    return {**view, **rates}
