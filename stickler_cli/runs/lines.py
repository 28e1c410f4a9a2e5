"""One JSON line for each document, or for each error: what a run can write as it goes."""

from collections.abc import Iterable

from stickler_cli.core.json_values import json_line
from stickler_cli.core.values import dataclass
from stickler_cli.score.batch import Batch
from stickler_cli.score.counts import Counts
from stickler_cli.score.non_matches import NonMatch
from stickler_cli.score.tally import COUNTING_MODES
from stickler_cli.score.validity import SIDES, verdict_view


@dataclass(frozen=True, slots=True)
class LineFiles:
    """Where the lines of a run go."""

    documents: str | None = None
    non_matches: str | None = None
    options: tuple[str, str] = ("--documents", "--non-matches")
    """Which options say so, for messages."""


def document_line(batch: Batch, document: int, *, recall_with_fd: bool) -> bytes:
    """Return the line of a document of a batch; docs/results.md describes it."""
    result = batch.results[document]
    line: dict[str, object] = {"document": result.id, "status": result.status.value}
    comparison, row = batch.comparison(document), batch.rows[document]
    if comparison is not None and batch.counts is not None:
        line["overall_score"] = result.score
        line["all_fields_matched"] = not batch.errors(document)
        line["field_scores"] = {entry.name: entry.comparison.score for entry in comparison.fields}
        counted = batch.counts.sums[:, row].tolist()
        for mode, counts in zip(COUNTING_MODES, counted, strict=True):
            line[mode] = Counts.of(counts).view(recall_with_fd=recall_with_fd)
    if result.verdicts:
        line["validity"] = {
            side: verdict_view(result.verdicts[side]) for side in SIDES if side in result.verdicts
        }
    line["remarks"] = list(result.warnings)
    line["problems"] = [str(problem) for problem in result.problems]
    return json_line(line)


def non_match_lines(document: str, errors: Iterable[NonMatch]) -> bytes:
    """Give a line for each error of a document; docs/results.md describes them."""
    return b"".join(json_line({"document": document, **error.view()}) for error in errors)
