"""What became of each document, briefly: what it takes to resample, compare and join runs.

A module of its own because a run keeps these only where a file asks for them, and encoded: a line
of JSON for each document is a tenth of what its values would take in memory.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import orjson

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_path
from stickler_cli.score.counts import Counts
from stickler_cli.score.document_result import DocumentResult, Status, read_status
from stickler_cli.score.reading import Part
from stickler_cli.score.tally import READINGS, SCORE_UNIT, Sums, Tally

NAMES: Final = tuple(outcome.name.lower() for outcome in Outcome)
"""The names of the counts, in the order of `Outcome`."""

SCORE: Final = "score"
_MOST_UNITS: Final = 1 << 32
"""More units than one document can have, few enough that sums of them are exact."""

_PATHS_REMEMBERED: Final = 10_000
"""Paths of fields whose text is kept; far more than a schema has, and bounded for maps."""


@dataclass(frozen=True, slots=True)
class FieldAccount:
    """One field of one document."""

    overall: Counts
    aggregate: Counts
    leaves: Counts
    score: float | None
    """After clipping, in [0, 1]; None where the field has no score of its own."""


@dataclass(frozen=True, slots=True)
class Account:
    """One document of a run."""

    id: str
    status: Status
    score: float | None
    """Its overall score, in [0, 1]; None where it was not compared."""
    fields: Mapping[str, FieldAccount]
    """By path, without list indexes, parents first; the whole document is the empty path. Only
    fields in which something was counted or scored."""
    groups: Mapping[str, str]
    """Its group by each key that the run was broken down by."""


@dataclass(slots=True)
class Accounts:
    """The accounts of the documents of a run; they add in any order with the same result."""

    lines: list[tuple[str, bytes]] = field(default_factory=list)
    """Id and encoded account of each document."""

    def add(self, document: str, line: bytes) -> None:
        """Add one document, as `account_line` gives it."""
        self.lines.append((document, line))

    def merge(self, other: "Accounts") -> None:
        """Add the documents of others."""
        self.lines += other.lines

    def ordered(self) -> list[bytes]:
        """Give the lines in the order of their ids."""
        return [line for _, line in sorted(self.lines)]

    def view(self) -> list[dict[str, Any]]:
        """Give the accounts as the run format shows them."""
        return [decoded(line) for line in self.ordered()]

    def __iter__(self) -> Iterator[Account]:
        """Read the accounts one by one, in the order of their ids."""
        return map(parse_account, self.ordered())

    def __len__(self) -> int:
        return len(self.lines)


def account_line(result: DocumentResult, counts: Tally | None) -> bytes:
    """Write the account of one document, without a line break.

    Args:
        result: what became of it.
        counts: what was counted in it; None where it was not compared.

    >>> account_line(DocumentResult("a", Status.FAILED, None), None)
    b'{"id":"a","status":"failed","score":null,"fields":{}}'
    """
    fields: dict[str, dict[str, object]] = {}
    if counts is not None:
        _add_node(fields, counts, "")
    return _line(result, fields)


def whole_line(result: DocumentResult, sums: Sums) -> bytes:
    """Write the account of one document as a whole: of its fields there is nothing.

    Args:
        result: what became of it; it was compared.
        sums: what was counted at its root.
    """
    entry = _entry(sums)
    return _line(result, {"": entry} if entry else {})


def _line(result: DocumentResult, fields: Mapping[str, object]) -> bytes:
    score = None if result.comparison is None else result.comparison.similarity
    record: dict[str, object] = {"id": result.id, "status": result.status.value, "score": score}
    if result.groups:
        record["by"] = result.groups
    record["fields"] = fields
    return json_line(record)[:-1]


def _add_node(fields: dict[str, dict[str, object]], node: Tally, path: str) -> None:
    entry = _entry((node.overall, node.aggregate, node.leaves))
    if node.scored:
        entry = {SCORE: node.score_units / SCORE_UNIT, **entry}
    if entry:
        fields[path] = entry
    for name, child in node.fields.items():
        _add_node(fields, child, path_below(path, name))


def _entry(sums: Sums) -> dict[str, object]:
    """Give the counts that are not 0; once, where all readings are alike."""
    overall, aggregate, leaves = sums
    if overall == aggregate == leaves:
        return {name: n for name, n in zip(NAMES, overall, strict=True) if n}
    return {
        reading: {name: n for name, n in zip(NAMES, counts, strict=True) if n}
        for reading, counts in zip(READINGS, sums, strict=True)
        if any(counts)
    }


@lru_cache(_PATHS_REMEMBERED)
def path_below(path: str, name: str) -> str:
    """Give the path of a field from that of what it is in."""
    step = field_path((name,))
    return path + step if not path or step.startswith("[") else f"{path}.{step}"


def decoded(line: bytes) -> dict[str, Any]:
    """Give an account as JSON values."""
    try:
        record: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:  # an id or a name with half a surrogate pair in it
        record = json.loads(line)
    return record


def parse_account(line: bytes) -> Account:
    """Read what `account_line` wrote."""
    record = decoded(line)
    fields = {path: _field(entry) for path, entry in record["fields"].items()}
    groups = record.get("by", {})
    return Account(record["id"], Status(record["status"]), record["score"], fields, groups)


def readings_of(entry: Mapping[str, Any]) -> tuple[Mapping[str, int], ...]:
    """Give the counts of a field by name, reading by reading; they are written once if equal."""
    found = tuple(entry.get(reading, {}) for reading in READINGS)
    return found if any(found) else (entry, entry, entry)


def _field(entry: Mapping[str, Any]) -> FieldAccount:
    overall, aggregate, leaves = (
        Counts.of([counts.get(name, 0) for name in NAMES]) for counts in readings_of(entry)
    )
    return FieldAccount(overall, aggregate, leaves, entry.get(SCORE))


def read_accounts(record: Part) -> Accounts:
    """Read the `per_document` of a run; each account is then the line that it was.

    Raises:
        UsageError: it is no such list; with the first entry that does not fit.
    """
    accounts = Accounts()
    for part in record.parts():
        document = part.at("id").text()
        read_status(part.at("status"))
        score = part.at("score")
        if score.value is not None and not _is_share(score.value):
            raise score.refused("a number in [0, 1]")
        for path, entry in part.at("fields").entries():
            if not _fits(entry.value):
                raise entry.refused(f"counts of {path or 'the document'} in the run format")
        groups = part.find("by")
        for _, group in groups.entries() if groups else ():
            group.text()
        accounts.add(document, json_line(part.value)[:-1])
    return accounts


def _fits(entry: object) -> bool:
    """Say whether a value is what `account_line` writes of a field."""
    if not isinstance(entry, dict):
        return False
    for name, value in entry.items():
        if name in READINGS:
            if not isinstance(value, dict) or not all(map(_is_count, value, value.values())):
                return False
        elif name == SCORE:
            if not _is_share(value):
                return False
        elif not _is_count(name, value):
            return False
    return bool(entry)


def _is_count(name: object, value: object) -> bool:
    return name in NAMES and type(value) is int and 0 < value <= _MOST_UNITS


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and 0 <= value <= 1
