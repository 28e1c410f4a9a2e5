"""A run for GitHub Actions: annotations in the log, and the summary of the step."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.reports import markdown
from stickler_cli.reports.figures import number_of
from stickler_cli.reports.fitting import SUMMARY_LIMIT, fitted, utf8_size
from stickler_cli.reports.rows import field_rows
from stickler_cli.reports.style import TableStyle
from stickler_cli.reports.summary import (
    gate_limits,
    headline,
    problem_text,
    problems,
    readings,
    worst_field_texts,
)
from stickler_cli.reports.workflow_commands import Annotation, annotation_lines
from stickler_cli.score.rate_text import rate
from stickler_cli.score.record import Run
from stickler_cli.score.verdict import unfit_count, unfit_problems

NAMED: Final = 5
"""Documents that one annotation names."""


def render(run: Run, style: TableStyle) -> str:
    """Write workflow commands: failed gates are errors, the worst fields notices."""
    return "".join(f"{line}\n" for line in annotation_lines(_annotations(run)))


def summary(run: Run, style: TableStyle, room: int = SUMMARY_LIMIT) -> str:
    """Write the Markdown report for the summary of a step.

    Args:
        run: what to report.
        style: as for the Markdown report.
        room: bytes that are left in the summary.
    """
    return fitted(markdown.page(run, style), min(room, SUMMARY_LIMIT), utf8_size)


def _annotations(run: Run) -> Iterator[Annotation]:
    """Tell what makes the run fail, then what else is wrong, then the figures."""
    evaluation, strict = run.evaluation, run.options.strict
    unfit = unfit_count(evaluation, strict=strict)
    if unfit or not evaluation.evaluated:
        yield Annotation("error", "stickler: incomplete", _unfit_text(run, unfit))
    for result in run.gates:
        if not result.passed:
            yield Annotation("error", "stickler: a gate failed", result.reason)
    title, _, _ = problems(run)
    if title and not unfit:
        yield Annotation("warning", "stickler: documents with problems", title)
    name = run.schema.model_name
    yield Annotation("notice", f"stickler: {name}", f"{headline(run)}; F1 {_f1(run)}")
    for text in worst_field_texts(run, field_rows(run)):
        yield Annotation("notice", f"stickler: {name}, worst fields", text)


def _unfit_text(run: Run, count: int) -> str:
    if not count:
        return "no document was evaluated"
    entries = unfit_problems(run.evaluation, strict=run.options.strict)
    named = [problem_text(entry) for entry in entries[:NAMED]]
    more = [f"and {len(entries) - NAMED} more"] if len(entries) > NAMED else []
    told = "; ".join([*named, *more])
    return f"{number_of(count, 'document')} could not be evaluated: {told}"


def _f1(run: Run) -> str:
    limits = gate_limits(run)
    return ", ".join(
        f"{rate(rates.f1, limits)} {reading}" for reading, (_, rates) in readings(run).items()
    )
