"""A difference for GitHub Actions: annotations in the log, and the summary of the step."""

from collections.abc import Iterator

from stickler_cli.diff.changes import Difference, Verdict
from stickler_cli.reports.difference import markdown
from stickler_cli.reports.difference.summary import (
    differences,
    document_text,
    fields_with,
    headline,
    verdict_line,
)
from stickler_cli.reports.fitting import SUMMARY_LIMIT, fitted, utf8_size
from stickler_cli.reports.style import TableStyle
from stickler_cli.reports.workflow_commands import Annotation, annotation_lines


def render(difference: Difference, style: TableStyle) -> str:
    """Write workflow commands: failed gates are errors, what got worse warnings."""
    return "".join(f"{line}\n" for line in annotation_lines(_annotations(difference)))


def summary(difference: Difference, style: TableStyle, room: int = SUMMARY_LIMIT) -> str:
    """Write the Markdown report for the summary of a step, in at most `room` bytes."""
    return fitted(markdown.page(difference, style), min(room, SUMMARY_LIMIT), utf8_size)


def _annotations(difference: Difference) -> Iterator[Annotation]:
    """Tell what makes the command fail, then what got worse, then the figures."""
    for result in difference.gates:
        if not result.passed:
            yield Annotation("error", "stickler diff: a gate failed", result.reason)
    for decides, text in differences(difference):
        title = "stickler diff: not comparable" if decides else "stickler diff: the runs differ"
        yield Annotation("warning" if decides else "notice", title, text)
    for text in fields_with(difference, Verdict.REGRESSED):
        yield Annotation("warning", "stickler diff: regressed", text)
    for document in difference.worse:
        if document.is_hard:
            text = f"{document.id}: {document_text(document)}"
            yield Annotation("warning", "stickler diff: broke hard", text)
    for text in fields_with(difference, Verdict.IMPROVED):
        yield Annotation("notice", "stickler diff: improved", text)
    name = difference.new.model_name
    message = f"{headline(difference)}; {verdict_line(difference)}"
    yield Annotation("notice", f"stickler diff: {name}", message)
