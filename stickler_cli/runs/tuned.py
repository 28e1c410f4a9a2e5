"""Documents that thresholds were tuned on, kept in the `$comment` of a schema.

A gate on the documents that thresholds were tuned on judges them by their own evidence.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

import orjson

from stickler_cli.core.json_values import (
    OBJECTS_OR_ARRAYS,
    JsonDocument,
    JsonObject,
    JsonValue,
    without_absent,
)
from stickler_cli.core.values import dataclass, pattern
from stickler_cli.documents.document import read_document
from stickler_cli.documents.pairs import open_documents
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.settings.deciding import FindingOptions
from stickler_cli.settings.of_commands import EvalSettings

COMMENT: Final = "$comment"
KEPT: Final = 64
"""Hashes that are kept, the lowest: of documents of which a twentieth comes again, some three."""

_HASH_BYTES: Final = 6
_TUNED: Final = pattern(
    r"\[stickler tune: (?P<what>[^\]]*) on (?P<count>\d+) documents, (?P<kept>[0-9a-f,]*)\]"
)


@dataclass(frozen=True, slots=True)
class Tuned:
    """Thresholds, and the documents that they were tuned on."""

    what: str
    """The fields, each with both thresholds: `items.name 0.8 -> 0.85`."""
    count: int
    """Documents."""
    kept: frozenset[str]
    """The lowest of their hashes."""

    @property
    def told(self) -> str:
        """The sentence for reports."""
        return f"thresholds of the schema were tuned on {self.count} documents: {self.what}"

    @property
    def written(self) -> str:
        """The text for the `$comment` of the schema."""
        kept = ",".join(sorted(self.kept))
        return f"[stickler tune: {self.what} on {self.count} documents, {kept}]"


def tunings(contents: JsonValue) -> tuple[Tuned, ...]:
    """Return the tunings in the comment of a schema."""
    comment = contents.get(COMMENT) if isinstance(contents, dict) else None
    return tuple(
        Tuned(found["what"], int(found["count"]), frozenset(found["kept"].split(",")))
        for found in _TUNED.finditer(comment if isinstance(comment, str) else "")
    )


def commented(contents: JsonObject, tuned: Tuned) -> str:
    """Return the `$comment` of a schema with one tuning more; those on the same documents join."""
    known = tunings(contents)
    same = [each.what for each in known if each.kept == tuned.kept]
    others = [each.written for each in known if each.kept != tuned.kept]
    tuned = Tuned(", ".join([*same, tuned.what]), tuned.count, tuned.kept)
    comment = contents.get(COMMENT)
    before = _TUNED.sub("", comment).strip() if isinstance(comment, str) else ""
    return " ".join(filter(None, [before, *others, tuned.written]))


def hashes(gt: str, settings: FindingOptions) -> Iterator[str]:
    """Yield a hash of the contents of each document of a source."""
    for _, reference in open_documents(gt, settings).refs():
        value = read_document(reference, kinds=OBJECTS_OR_ARRAYS).value
        if isinstance(value, dict | list):
            yield blake2b(canonical(value), digest_size=_HASH_BYTES).hexdigest()


def canonical(document: JsonDocument) -> bytes:
    """Return the contents of a document, sorted by key and without absent values."""
    said = without_absent(document)
    try:
        return orjson.dumps(said, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, or more than 254 levels
        return json.dumps(said, sort_keys=True).encode("utf-8", "backslashreplace")


def tuned_on(what: str, documents: Iterable[str]) -> Tuned:
    """Return a tuning on documents, given by their hashes."""
    distinct = sorted({*documents})
    return Tuned(what, len(distinct), frozenset(distinct[:KEPT]))


def notes_of(
    schemas: Iterable[JsonValue], settings: EvalSettings, *, gated: bool
) -> tuple[list[str], list[str]]:
    """Return notes on schemas that were tuned, and warnings where there are gates."""
    tuned = [each for contents in schemas for each in tunings(contents)]
    warnings = overlap(tuned, settings.gt, settings) if gated else []
    return [each.told for each in tuned], warnings


def overlap(tuned: Sequence[Tuned], gt: str, settings: FindingOptions) -> list[str]:
    """Return a warning for each tuning on documents of which some are in a source."""
    if not tuned or gt == STANDARD_INPUT:  # which cannot be read twice
        return []
    here = {*hashes(gt, settings)}
    return [
        f"{each.told}, of which about {len(each.kept & here) / len(each.kept):.0%} are among "
        "these: a gate on them judges the thresholds by their own evidence"
        for each in tuned
        if each.kept & here
    ]
