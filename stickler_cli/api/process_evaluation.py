"""`ProcessEvaluation`: what many documents come to, by names that users of stickler-eval know."""

from typing import Any, Final

from pydantic import BaseModel, PrivateAttr

from stickler_cli.core.locations import field_path
from stickler_cli.reports.rows import named_rows
from stickler_cli.score import evaluation as score
from stickler_cli.score.counts import Counts
from stickler_cli.score.document_result import DocumentProblem, Status
from stickler_cli.score.tally import predicted
from .evaluation_views import Evaluation
from .views import confidence_metrics

NOT_COMPARED: Final = (Status.FAILED, Status.UNMATCHED)


class ProcessEvaluation(BaseModel):
    """What many documents come to."""

    document_count: int
    """Documents that were compared."""
    metrics: dict[str, Any]
    """The `overall` counts of whole documents, their rates, and `weighted_overall_score`, the mean
    score."""
    field_metrics: dict[str, dict[str, Any]]
    """The same of each field, by path, with its `mean_score` where it has one. Lists and objects
    are counted by their units, all else by its values, those in missed and invented items too."""
    errors: list[dict[str, Any]]
    """Documents that were not compared: `doc_id`, `error` and `error_type`."""
    total_time: float
    """Seconds since the evaluator was made or reset."""
    non_matches: list[dict[str, Any]] | None = None
    """Every error of a value, each with its `doc_id`; None where nobody asked for them."""
    confidence_metrics: dict[str, Any] | None = None
    """How far confidences can be trusted, as `compare_with` returns it; None without any."""
    _evaluation: Evaluation = PrivateAttr(default_factory=Evaluation)
    _title: str = PrivateAttr(default="")

    @property
    def evaluation(self) -> Evaluation:
        """All results: what `evaluate_many` returns."""
        return self._evaluation

    def to_md(self) -> str:
        """Return the results as Markdown, as `stickler eval --format markdown` writes them."""
        return self._evaluation.report("markdown", title=self._title)

    def _repr_html_(self) -> str:
        """Return the results as notebooks show them."""
        return self._evaluation._repr_html_()


def not_compared(evaluation: score.Evaluation) -> list[DocumentProblem]:
    """Return why documents were not compared, in order."""
    return [it for it in sorted(evaluation.problems) if it.status in NOT_COMPARED]


def process_evaluation(
    evaluation: Evaluation,
    *,
    title: str = "",
    seconds: float = 0.0,
    non_matches: list[dict[str, Any]] | None = None,
) -> ProcessEvaluation:
    """Return what a set of documents comes to, by the names of stickler-eval."""
    fields = {}
    for row in named_rows(evaluation.tally, evaluation.fields, evaluation.rule):
        mean = {} if row.score is None else {"mean_score": row.score}
        fields[field_path(row.path)] = {**_metrics(row.counts), **mean}
    overall = _metrics(evaluation.tally.counts("overall"))
    known = evaluation.confidences
    total = predicted(evaluation.tally, ())
    trust = confidence_metrics(known, total) if known else None
    found = ProcessEvaluation(
        document_count=evaluation.evaluated,
        metrics={**overall, "weighted_overall_score": evaluation.overall_score or 0.0},
        field_metrics=fields,
        errors=[
            {"doc_id": it.document, "error": it.problem, "error_type": it.status.value}
            for it in not_compared(evaluation)
        ],
        total_time=seconds,
        non_matches=non_matches,
        confidence_metrics=trust,
    )
    found._evaluation, found._title = evaluation, title  # noqa: SLF001 - it is made here
    return found


def _metrics(counts: Counts) -> dict[str, Any]:
    view: dict[str, Any] = counts.view()
    return {**view, **view.pop("derived")}
