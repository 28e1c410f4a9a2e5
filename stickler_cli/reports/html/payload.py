"""What the page's script reads: errors, documents and comparisons, packed as text.

Compressed, base64: a fifth of its size, and nothing in it can be markup.
"""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.reports.html.field_tree import Places
from stickler_cli.score.accounts import NAMES, Accounts, decoded, readings_of
from stickler_cli.score.counts import Counts
from stickler_cli.score.detail import BINS, Detail, bin_of
from stickler_cli.score.tally import READINGS

MOST_DOCUMENTS: Final = 50_000
"""Documents that the page lists: those with the lowest scores."""

LEVEL: Final = 6
"""Of compression; 9 takes twice the time for 2% less."""

_PATHS_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document of the list."""

    id: str
    status: str
    score: float | None
    values: Counts
    """Of all its values: the counting mode `leaves`."""


def packed(lines: Iterable[bytes]) -> str:
    """Return JSON values packed into text, equal for equal values: compressed, base64."""
    text = b"[" + b",\n".join(lines) + b"]"
    return base64.b64encode(gzip.compress(text, LEVEL, mtime=0)).decode("ascii")


def non_match_lines(detail: Detail, paths: Sequence[Path]) -> list[bytes]:
    """Return the errors as the script reads them: first the index of the row of their field."""
    places = Places(paths)

    @lru_cache(_PATHS_REMEMBERED)
    def row_of(path: str) -> int:
        names = tuple(step for step in parse_field_path(path) if isinstance(step, str))
        return places.nearest(names)

    lines = []
    for line in detail.non_matches:
        path = _second(line)
        lines.append(b"[%d,%b" % (row_of(path), line[1:]))
    return lines


def _second(line: bytes) -> str:
    """Return the second entry of an error: the path of its field."""
    return str(json.loads(line)[1])


def document_rows(accounts: Accounts) -> list[DocumentRow]:
    """Return the documents, the lowest score first, then by id; those without a score last."""
    return sorted((_row(decoded(line)) for line in accounts.ordered()), key=_rank)


def _row(account: Mapping[str, Any]) -> DocumentRow:
    whole = account["fields"].get("", {})
    leaves = readings_of(whole)[READINGS.index("leaves")]
    values = Counts.of([leaves.get(name, 0) for name in NAMES])
    return DocumentRow(account["id"], account["status"], account["score"], values)


def _rank(row: DocumentRow) -> tuple[float, str]:
    return (2.0 if row.score is None else row.score, row.id)


def document_lines(rows: Iterable[DocumentRow]) -> list[bytes]:
    """Return the first documents as the script reads them.

    Each is id, status, score, and the values that are right, wrong, invented and missed.
    """
    lines = []
    for row in islice(rows, MOST_DOCUMENTS):
        values = row.values
        counts = values.tp, values.fd, values.fa, values.fn
        lines.append(json_line([row.id, row.status, row.score, *counts])[:-1])
    return lines


def score_counts(rows: Iterable[DocumentRow]) -> list[int]:
    """Return how many documents there are by score, (`BINS` + 1,)."""
    counts = [0] * (BINS + 1)
    for row in rows:
        if row.score is not None:
            counts[bin_of(row.score)] += 1
    return counts


def comparison_lines(detail: Detail) -> list[bytes]:
    """Return the documents that are there whole, as id and rows."""
    return [b"[%b,%b]" % (json_line(name)[:-1], line) for _, name, line in detail.comparisons]
