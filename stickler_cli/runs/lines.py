"""One JSON line for each document, or for each error: what a run can write as it goes."""

from collections.abc import Iterable
from dataclasses import dataclass

from stickler_cli.core.json_values import json_line
from stickler_cli.score.evaluation import DocumentResult
from stickler_cli.score.non_matches import NonMatch, non_matches
from stickler_cli.score.tally import READINGS, tally
from stickler_cli.score.validity import SIDES, verdict_view


@dataclass(frozen=True, slots=True)
class LineFiles:
    """Where the lines of a run go."""

    documents: str | None = None
    non_matches: str | None = None
    options: tuple[str, str] = ("--documents", "--non-matches")
    """Which options say so, for messages."""


def document_line(result: DocumentResult, *, recall_with_fd: bool) -> bytes:
    """Give the line of a document; docs/results.md describes it."""
    line: dict[str, object] = {"document": result.id, "status": result.status.value}
    comparison = result.comparison
    if comparison is not None:
        line["overall_score"] = comparison.similarity
        line["all_fields_matched"] = next(non_matches(comparison), None) is None
        line["field_scores"] = {entry.name: entry.comparison.score for entry in comparison.fields}
        counts = tally(comparison)
        for reading in READINGS:
            line[reading] = counts.counts(reading).view(recall_with_fd=recall_with_fd)
    if result.verdicts:
        line["validity"] = {
            side: verdict_view(result.verdicts[side]) for side in SIDES if side in result.verdicts
        }
    line["remarks"] = list(result.remarks)
    line["problems"] = [str(problem) for problem in result.problems]
    return json_line(line)


def non_match_lines(document: str, errors: Iterable[NonMatch]) -> bytes:
    """Give a line for each error of a document; docs/results.md describes them."""
    return b"".join(json_line({"document": document, **error.view()}) for error in errors)
