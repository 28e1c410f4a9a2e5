"""What became of each document, briefly: what it takes to resample, compare and join runs.

A module of its own because a run keeps these only where a file asks for them, and encoded: a line
of JSON for each document is a tenth of what its values would take in memory.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any, Final, Protocol, Self

import numpy as np
import orjson

from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass
from .batch import Batch
from .field_counts import SCORE as CLIPPED
from .field_counts import SCORED, FieldCounts
from .moments import NAMES
from .tally import COUNTING_MODES, SCORE_UNIT, units_of

SCORE: Final = "score"
CONFIDENCES: Final = "confidences"


class KeptLines(Protocol):
    """What keeps lines by id: a list, or what gives many of them back in the order of ids."""

    def __iadd__(self, entries: Iterable[tuple[str, bytes]], /) -> Self:
        """Add lines."""

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yield all lines; any order will do of a list."""

    def __len__(self) -> int:
        """Return how many there are."""


@dataclass(slots=True)
class Accounts:
    """The accounts of the documents of a run; they add in any order with the same result."""

    lines: KeptLines = field(default_factory=list[tuple[str, bytes]])
    """Id and encoded account of each document."""

    def add(self, batch: Batch) -> None:
        """Add the documents of a batch."""
        names = (result.id for result in batch.results)
        self.lines += zip(names, account_lines(batch), strict=True)

    def merge(self, other: "Accounts") -> None:
        """Add the documents of others."""
        self.lines += other.lines

    def ordered(self) -> Iterator[bytes]:
        """Yield the lines in the order of their ids."""
        in_order = sorted(self.lines) if isinstance(self.lines, list) else iter(self.lines)
        return (line for _, line in in_order)

    def view(self) -> list[dict[str, Any]]:
        """Return the accounts as the run format shows them."""
        return [decoded(line) for line in self.ordered()]

    def __len__(self) -> int:
        return len(self.lines)


def account_lines(batch: Batch) -> list[bytes]:
    """Return the account of each document of a batch, without a line break.

    >>> from stickler_cli.score.document_result import DocumentResult, Status
    >>> account_lines(Batch([DocumentResult("a", Status.FAILED, None)]))
    [b'{"id":"a","status":"failed","score":null,"fields":{}}']
    """
    return [json_line(record)[:-1] for record in account_records(batch)]


def account_records(batch: Batch) -> Iterator[dict[str, object]]:
    """Yield the account of each document of a batch as JSON values."""
    fields = _fields_of(batch.counts, len(batch.scores))
    confidences = batch.confidences
    for result, row in zip(batch.results, batch.rows, strict=True):
        record: dict[str, object] = {"id": result.id, "status": result.status.value}
        record["score"] = result.score
        if result.groups:
            record["by"] = result.groups
        record["fields"] = {} if row is None else fields[row]
        if row is not None and (known := confidences[row]):
            record[CONFIDENCES] = known
        yield record


def _fields_of(counts: FieldCounts | None, documents: int) -> list[dict[str, dict[str, object]]]:
    """Return what was counted and scored in each document, by the path of the field."""
    found: list[dict[str, dict[str, object]]] = [{} for _ in range(documents)]
    if counts is None:
        return found
    known: dict[bytes, dict[str, object]] = {}
    by_row = np.ascontiguousarray(counts.sums.transpose(1, 0, 2))
    scored = counts.scores[SCORED] > 0
    told = by_row.any(axis=(1, 2)) | scored
    documents_of = counts.documents.tolist()
    for path, rows in sorted(counts.fields(), key=itemgetter(0)):  # not as the chunk met them
        name = field_path(path)
        for row in (rows.start + np.flatnonzero(told[rows])).tolist():
            sums = by_row[row]
            entry = known.get(key := sums.tobytes())
            if entry is None:
                entry = known[key] = sparse(sums.tolist(), NAMES)
            if scored[row]:
                score = units_of(float(counts.scores[CLIPPED, row])) / SCORE_UNIT
                entry = {SCORE: score, **entry}
            found[documents_of[row]][name] = entry
    return found


def sparse(by_mode: Sequence[Sequence[int]], names: Sequence[str]) -> dict[str, object]:
    """Return what was counted by mode as files have it: what is not 0, once if modes are alike."""
    overall, aggregate, leaves = by_mode
    if overall == aggregate == leaves:
        return {name: n for name, n in zip(names, overall, strict=True) if n}
    return {
        mode: {name: n for name, n in zip(names, counts, strict=True) if n}
        for mode, counts in zip(COUNTING_MODES, by_mode, strict=True)
        if any(counts)
    }


def decoded(line: bytes) -> dict[str, Any]:
    """Return an account as JSON values."""
    try:
        record: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:  # an id or a name with half a surrogate pair in it
        record = json.loads(line)
    return record


def values_of(account: Mapping[str, Any]) -> Mapping[str, int]:
    """Return how many values of a document are of each outcome."""
    entry = account["fields"].get("", {})
    return counts_by_mode(entry)[COUNTING_MODES.index("leaves")]


def counts_by_mode(entry: Mapping[str, Any]) -> tuple[Mapping[str, int], ...]:
    """Return the counts of a field by name, mode by mode; they are written once if equal."""
    found = tuple(entry.get(mode, {}) for mode in COUNTING_MODES)
    return found if any(found) else (entry, entry, entry)
