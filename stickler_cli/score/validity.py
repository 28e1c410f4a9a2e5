"""How many documents are what their schema says, and what is wrong with the others.

A module of its own because a verdict is about the shape of a document by itself, and all other
counts are about two documents.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Literal

from stickler_cli.core.problems import Violation
from stickler_cli.core.values import dataclass

Side = Literal["gt", "pred"]

SIDES: Final[tuple[Side, ...]] = ("pred", "gt")

SHOWN: Final = 10
"""Violations that are told of one document; all of them are counted."""

Verdict = Sequence[Violation] | None
"""What a schema forbids in a document, nothing if it is valid; None of what is no JSON object."""

Example = tuple[str, str, str]
"""Where a violation occurred: document id, JSON Pointer, and what the validator said."""


@dataclass(slots=True)
class Violated:
    """One thing that schemas forbid, over all documents."""

    count: int
    """How often it occurred."""
    documents: int
    """In how many documents."""
    example: Example
    """The first of all, by document id."""


@dataclass(slots=True)
class Validity:
    """The verdicts about the documents of one side; they add in any order with the same result."""

    checked: int = 0
    """All documents that there were, those that are no JSON objects included."""
    valid: int = 0
    unreadable: int = 0
    """Documents that are no JSON objects, and so not valid either."""
    violated: dict[tuple[str, str], Violated] = field(default_factory=dict)
    """By keyword and field, of which there are no more than the schema has."""

    @property
    def invalid(self) -> int:
        """How many documents are JSON objects, and not valid."""
        return self.checked - self.valid - self.unreadable

    @property
    def share(self) -> float | None:
        """The share of valid documents, in [0, 1]; None of no documents."""
        return self.valid / self.checked if self.checked else None

    def update(self, document: str, verdict: Verdict) -> None:
        """Add the verdict about a document."""
        self.checked += 1
        self.valid += verdict is not None and not verdict
        self.unreadable += verdict is None
        own: dict[tuple[str, str], Violated] = {}
        for violation in verdict or ():
            example = (document, violation.pointer, violation.message)
            key = violation.keyword, violation.field
            _add(own, key, Violated(1, 0, example))
        for key, violated in own.items():
            violated.documents = 1
            _add(self.violated, key, violated)

    def merge(self, other: "Validity") -> None:
        """Add the verdicts about other documents."""
        self.checked += other.checked
        self.valid += other.valid
        self.unreadable += other.unreadable
        for key, violated in other.violated.items():
            _add(self.violated, key, violated)

    def most_frequent(self) -> list[tuple[str, str, Violated]]:
        """List keyword, field and what occurred there, the most frequent first."""
        entries = [(*key, violated) for key, violated in self.violated.items()]
        return sorted(entries, key=lambda entry: (-entry[2].count, entry[1], entry[0]))

    def view(self) -> dict[str, object]:
        """Give the verdicts as the run format shows them."""
        keywords: Counter[str] = Counter()
        for keyword, _, violated in self.most_frequent():
            keywords[keyword] += violated.count
        return {
            "checked": self.checked,
            "valid": self.valid,
            "invalid": self.invalid,
            "unreadable": self.unreadable,
            "share": self.share,
            "keywords": dict(sorted(keywords.items(), key=lambda entry: (-entry[1], entry[0]))),
            "violations": [
                {
                    "keyword": keyword,
                    "path": path,
                    "count": violated.count,
                    "documents": violated.documents,
                    "example": dict(zip(_EXAMPLE, violated.example, strict=True)),
                }
                for keyword, path, violated in self.most_frequent()
            ],
        }


_EXAMPLE: Final = ("document", "pointer", "message")


def _add(to: dict[tuple[str, str], Violated], key: tuple[str, str], more: Violated) -> None:
    known = to.get(key)
    if known is None:
        to[key] = Violated(more.count, more.documents, more.example)
    else:
        known.count += more.count
        known.documents += more.documents
        known.example = min(known.example, more.example)


def validity_view(sides: Mapping[Side, Validity]) -> dict[str, object]:
    """Give the verdicts about each side that was checked, predictions first."""
    views = {side: sides[side].view() for side in SIDES if side in sides}
    return {"validity": views} if views else {}


def invalid_view(sides: Mapping[Side, Validity]) -> dict[str, object]:
    """Give how many documents of each side that was checked are JSON objects, and not valid."""
    counts = {side: sides[side].invalid for side in SIDES if side in sides}
    return {"schema_invalid": counts} if counts else {}


def verdict_view(verdict: Verdict) -> dict[str, object]:
    """Give the verdict about one document, with the first of its violations."""
    violations = verdict or ()
    return {
        "valid": verdict is not None and not violations,
        "count": len(violations),
        "violations": [
            {
                "keyword": entry.keyword,
                "path": entry.field,
                "pointer": entry.pointer,
                "message": entry.message,
            }
            for entry in violations[:SHOWN]
        ],
    }
