"""How many documents are valid by their schema, and the violations of the others."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, field, replace
from typing import TYPE_CHECKING, Any, Final, Self

from stickler_cli.compare.columns import Mask
from stickler_cli.core.rules import Count, encoded
from stickler_cli.core.values import dataclass
from .document_result import SIDES, Side, Verdict

if TYPE_CHECKING:
    from .batch import Batch

SHOWN: Final = 10  # violations that are told of one document; all of them are counted


@dataclass(frozen=True, slots=True)
class Example:
    """One occurrence, of the first of these documents by id."""

    document: str
    """Id of the document."""
    pointer: str
    """JSON Pointer to the value; with `required`, to the object without it."""
    message: str
    """What the validator said, cut to 160 characters; its wording may change with the validator."""


@dataclass(slots=True)
class Violated:
    """One thing that the schema forbids, over all documents."""

    keyword: str
    """Of the schema."""
    field: str
    """The field, with [] for items of lists and * for keys of maps; with `required` the one that
    is missing; empty for the whole document."""
    count: Count
    """How often it occurred."""
    documents: Count
    """In how many documents."""
    example: Example


@dataclass(slots=True)
class Validity:
    """The verdicts about the documents of one side; they add in any order with the same result."""

    checked: int = 0
    """All documents that there were, those that cannot be read included."""
    valid: int = 0
    unreadable: int = 0
    """Documents that cannot be read, or are of another JSON type, and so not valid either."""
    violated: dict[tuple[str, str], Violated] = field(default_factory=dict)
    """By keyword and field, of which there are no more than the schema has."""

    @property
    def invalid(self) -> int:
        """How many documents could be read, and are not valid."""
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
        met: set[tuple[str, str]] = set()
        for violation in verdict or ():
            key = violation.keyword, violation.field
            example = Example(document, violation.pointer, violation.message)
            self._add(key, Violated(*key, 1, int(key not in met), example))
            met.add(key)

    def merge(self, other: "Validity") -> None:
        """Add the verdicts about other documents."""
        self.checked += other.checked
        self.valid += other.valid
        self.unreadable += other.unreadable
        for key, violated in other.violated.items():
            self._add(key, replace(violated))

    def _add(self, key: tuple[str, str], more: Violated) -> None:
        mine = self.violated.setdefault(key, more)
        if mine is not more:
            mine.count += more.count
            mine.documents += more.documents
            mine.example = min(mine.example, more.example, key=astuple)

    def most_frequent(self) -> list[Violated]:
        """Return the violations, the most frequent first."""
        return sorted(self.violated.values(), key=lambda it: (-it.count, it.field, it.keyword))

    def view(self) -> dict[str, object]:
        """Return the verdicts as the run format has them."""
        keywords: Counter[str] = Counter()
        for violated in self.most_frequent():
            keywords[violated.keyword] += violated.count
        return {
            "checked": self.checked,
            "valid": self.valid,
            "invalid": self.invalid,
            "unreadable": self.unreadable,
            "share": self.share,
            "keywords": dict(sorted(keywords.items(), key=lambda entry: (-entry[1], entry[0]))),
            "violations": encoded(self.most_frequent()),
        }


@dataclass(slots=True)
class Validities:
    """The verdicts about each side that was checked."""

    sides: dict[Side, Validity] = field(default_factory=dict)

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add the documents of a batch; nobody asks for some of them."""
        for result in batch.results:
            for side, verdict in result.verdicts.items():
                self.sides.setdefault(side, Validity()).update(result.id, verdict)

    def merge(self, other: Self) -> None:
        """Add the verdicts about other documents."""
        for side, validity in other.sides.items():
            self.sides.setdefault(side, Validity()).merge(validity)

    def view(self, settings: object) -> Mapping[str, Any]:
        """Return the verdicts as the run format has them."""
        sides = {side: self.sides[side].view() for side in SIDES if side in self.sides}
        return {"validity": sides} if sides else {}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        for side, known in record.get("validity", {}).items():
            violated = {(each.keyword, each.field): each for each in known["violations"]}
            counts = known["checked"], known["valid"], known["unreadable"]
            self.sides[side] = Validity(*counts, violated)


def verdict_view(verdict: Verdict) -> dict[str, object]:
    """Return the verdict about one document as JSON values, with the first of its violations."""
    violations = verdict or ()
    return {
        "valid": verdict is not None and not violations,
        "count": len(violations),
        "violations": encoded(violations[:SHOWN]),
    }
