"""Annotations for the log of GitHub Actions (workflow commands), and the summary of a step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

from stickler_cli.core.figures import number_of, visible
from stickler_cli.core.sections import Report
from stickler_cli.reports import run_sentences
from stickler_cli.score.gates import GateResult
from stickler_cli.score.record import Run
from stickler_cli.studies.diff.record import Difference, Trend
from stickler_cli.studies.lint.findings import FindingRecord, LintRecord, found_text, sentence
from .difference_sections import DifferenceView
from .formats import markdown_page
from .layout import TableStyle
from .markdown import SUMMARY_LIMIT, truncate_lines, utf8_size
from .view import RunView

AnnotationLevel = Literal["error", "warning", "notice"]

MAX_LISTED_DOCUMENTS: Final = 5  # number of documents that one annotation lists

PER_KIND: Final = 10
"""Maximum number of annotations of one kind that GitHub shows for a step. GitHub silently drops
further ones."""

_ESCAPES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES: Final = _ESCAPES | str.maketrans({":": "%3A", ",": "%2C"})


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message that GitHub shows beside a run or commit."""

    kind: AnnotationLevel
    title: str
    message: str
    file: str = ""
    line: int | None = None


def render(subject: Run | Difference | Report, style: TableStyle) -> str:
    """Return workflow commands: errors for failures, warnings for regressions, or notices."""
    match subject:
        case Run():
            annotations = _run_annotations(RunView(subject))
        case Report():
            record = cast("LintRecord", subject.record)
            annotations = map(_finding_annotation, record.findings)
        case _:
            annotations = _difference_annotations(DifferenceView(subject))
    return "\n".join([*annotation_lines(annotations), ""])


def _finding_annotation(finding: FindingRecord) -> Annotation:
    first = finding.places[0]
    kind: AnnotationLevel = "notice" if finding.severity == "note" else finding.severity
    text = f"{sentence(finding)}: {found_text(first)}; {finding.advice}"
    return Annotation(
        kind=kind,
        title=f"stickler lint: {finding.rule}",
        message=text,
        file=first.file,
        line=first.line,
    )


def summary(subject: Run | Difference, style: TableStyle, used: int = 0) -> str:
    """Return the Markdown report for a step summary. The summary already has `used` bytes.

    The report is cut if it exceeds the remaining bytes.
    """
    return truncate_lines(markdown_page(subject, style), max(0, SUMMARY_LIMIT - used), utf8_size)


def _failures(program: str, gates: Iterable[GateResult]) -> list[Annotation]:
    failed = (result.reason for result in gates if not result.passed)
    return [Annotation("error", f"{program}: a gate failed", reason) for reason in failed]


def _run_annotations(view: RunView) -> Iterator[Annotation]:
    """Yield annotations of a run: failed gates, then other problems, then the figures."""
    if view.run.n_unfit or not view.run.evaluation.evaluated:
        problem_texts = [str(entry) for entry in view.run.unfit_problems]
        if len(problem_texts) > MAX_LISTED_DOCUMENTS:
            problem_texts[MAX_LISTED_DOCUMENTS:] = [
                f"and {len(problem_texts) - MAX_LISTED_DOCUMENTS} more"
            ]
        if view.run.n_unfit:
            count_text = number_of(view.run.n_unfit, "document")
            text = f"{count_text} could not be evaluated: {'; '.join(problem_texts)}"
        else:
            text = "no document was evaluated"
        yield Annotation("error", "stickler: incomplete", text)
    for metric_name, problem in view.run.evaluation.metric_problems.items():
        yield Annotation("error", "stickler: incomplete", f"metric {metric_name}: {problem}")
    yield from _failures("stickler", view.run.gates)
    title, _, _ = run_sentences.problems(view)
    if title and not view.run.n_unfit:
        yield Annotation("warning", "stickler: documents with problems", title)
    model_name = view.run.schema.model_name
    sentences = run_sentences.headline(view), run_sentences.values(view), run_sentences.rates(view)
    yield Annotation("notice", f"stickler: {model_name}", "; ".join(sentences))
    for text in run_sentences.worst_field_texts(view):
        yield Annotation("notice", f"stickler: {model_name}, worst fields", text)


def _difference_annotations(view: DifferenceView) -> Iterator[Annotation]:
    """Yield annotations of a difference: failed gates, then regressions, then the figures."""
    difference = view.difference
    yield from _failures("stickler diff", difference.gates)
    for decides, text in view.contrasts:
        title = (
            "stickler diff: not comparable" if decides else ("stickler diff: the two runs differ")
        )
        yield Annotation("warning" if decides else "notice", title, text)
    for _, text in view.fields_with(Trend.REGRESSED):
        yield Annotation("warning", "stickler diff: regressed", text)
    for document in difference.worse:
        if document.hard:
            text = f"{document.id}: {view.document_text(document)}"
            yield Annotation("warning", "stickler diff: much worse", text)
    for _, text in view.fields_with(Trend.IMPROVED):
        yield Annotation("notice", "stickler diff: improved", text)
    name = difference.new.model_name
    yield Annotation("notice", f"stickler diff: {name}", f"{view.headline}; {view.trend_line}")


def annotation_lines(annotations: Iterable[Annotation]) -> list[str]:
    """Return annotations as lines for the log of GitHub Actions.

    If there are too many annotations of a kind, the last line of this kind counts those that are
    left out.

    >>> annotation_lines([Annotation("error", "gate: f1", "50% < 0.9")])
    ['::error title=gate%3A f1::50%25 < 0.9']
    """
    by_kind: dict[AnnotationLevel, list[Annotation]] = {}
    for annotation in annotations:
        by_kind.setdefault(annotation.kind, []).append(annotation)
    for kind, annotations_of_kind in by_kind.items():
        if len(annotations_of_kind) > PER_KIND:
            n_more = len(annotations_of_kind) - PER_KIND + 1
            title = annotations_of_kind[PER_KIND - 1].title
            annotations_of_kind[PER_KIND - 1 :] = [Annotation(kind, title, f"and {n_more} more")]
    return [
        _command_of(annotation)
        for annotations_of_kind in by_kind.values()
        for annotation in annotations_of_kind
    ]


def _command_of(annotation: Annotation) -> str:
    properties = ",".join(_properties(annotation))
    return f"::{annotation.kind} {properties}::{visible(annotation.message).translate(_ESCAPES)}"


def _properties(annotation: Annotation) -> Iterator[str]:
    properties = {"file": annotation.file, "line": annotation.line, "title": annotation.title}
    for name, value in properties.items():
        if value or name == "title":
            yield f"{name}={visible(str(value)).translate(_PROPERTY_ESCAPES)}"
