"""One JSON line for each document, or for each error: what a run can write as it goes."""

from collections.abc import Iterator
from typing import BinaryIO

from stickler_cli.json_values import json_line
from stickler_cli.metrics.evaluation import DocumentResult
from stickler_cli.metrics.non_matches import NonMatch, non_matches
from stickler_cli.metrics.tally import READINGS, tally


class DocumentLines:
    """Writes a line for each document of a run."""

    def __init__(self, stream: BinaryIO, *, recall_with_fd: bool) -> None:
        self._stream = stream
        self._recall_with_fd = recall_with_fd

    def see(self, result: DocumentResult) -> None:
        """Write the line of a document; docs/results.md describes it."""
        line: dict[str, object] = {"document": result.id, "status": result.status.value}
        comparison = result.comparison
        if comparison is not None:
            line["overall_score"] = comparison.similarity
            line["all_fields_matched"] = next(non_matches(comparison), None) is None
            line["field_scores"] = {
                entry.name: entry.comparison.score for entry in comparison.fields
            }
            counts = tally(comparison)
            for reading in READINGS:
                view = counts.counts(reading).view(recall_with_fd=self._recall_with_fd)
                line[reading] = view
        line["remarks"] = list(result.remarks)
        line["problems"] = [str(problem) for problem in result.problems]
        self._stream.write(json_line(line))


class NonMatchLines:
    """Writes a line for each error of a run."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def see(self, result: DocumentResult) -> None:
        """Write the lines of a document's errors; docs/results.md describes them."""
        for entry in _non_matches(result):
            self._stream.write(json_line({"document": result.id, **entry.view()}))


class FirstNonMatches:
    """Keeps the first errors of a run, to be shown."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.kept: list[tuple[str, NonMatch]] = []
        """Document id and error, at most `limit` of them."""

    def see(self, result: DocumentResult) -> None:
        """Keep a document's errors as long as there is room."""
        for entry in _non_matches(result):
            if len(self.kept) >= self._limit:
                return
            self.kept.append((result.id, entry))


class OnlyComparison:
    """Keeps the comparison of a run of one pair."""

    def __init__(self) -> None:
        self.result: DocumentResult | None = None

    def see(self, result: DocumentResult) -> None:
        """Keep the result."""
        self.result = result


def _non_matches(result: DocumentResult) -> Iterator[NonMatch]:
    if result.comparison is not None:
        yield from non_matches(result.comparison)
