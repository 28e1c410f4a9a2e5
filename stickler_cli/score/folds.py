"""Statistics of a run that are folds: each adds documents up, in any order, to a fixed size.

A new one is a class here, or in a module of its own, and an entry of `FOLDS` or `OF_RUNS`. Its
state is in run files; its figures are added where these are written, and passed over where they
are read.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, Self

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import FA, FD, FN
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.rules import KEPT, REQUIRED, Count, Rule, encoded
from .document_result import SIDES, SchemaVerdict, Side
from .errors.causes import Causes, ErrorCounts
from .field_counts import LEAVES
from .intervals import Interval, IntervalSettings, Spread, rate_intervals
from .sums import Sums

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
    """The verdicts about the documents of one side."""

    checked: Count = field(default=0, metadata={REQUIRED: True})
    """All documents that there were."""
    valid: Count = field(default=0, metadata={REQUIRED: True})
    """Documents that are valid under the schema."""
    unreadable: Count = field(default=0, metadata={REQUIRED: True})
    """Documents that could not be read, or are of another JSON type, and so not valid either."""
    violations: list[Violated] = field(default_factory=list, metadata={REQUIRED: True})
    """How often each keyword was violated at each field, the most frequent first."""
    _at: dict[tuple[str, str], Violated] = field(init=False, compare=False, metadata={KEPT: False})
    """The same by keyword and field, of which there are no more than the schema has."""

    def __post_init__(self) -> None:
        self._at = {(it.keyword, it.field): it for it in self.violations}

    @property
    def invalid(self) -> int:
        """How many documents could be read, and are not valid."""
        return self.checked - self.valid - self.unreadable

    @property
    def share(self) -> float | None:
        """The share of valid documents, in [0, 1]; None of no documents."""
        return self.valid / self.checked if self.checked else None

    def update(self, document: str, verdict: SchemaVerdict) -> None:
        """Add the verdict about a document."""
        self.checked += 1
        self.valid += verdict is not None and not verdict
        self.unreadable += verdict is None
        met: set[tuple[str, str]] = set()
        for violation in verdict or ():
            key = violation.keyword, violation.field
            example = Example(document, violation.pointer, violation.message)
            self._add(Violated(*key, 1, int(key not in met), example))
            met.add(key)

    def merge(self, other: "Validity") -> None:
        """Add the verdicts about other documents."""
        self.checked += other.checked
        self.valid += other.valid
        self.unreadable += other.unreadable
        for violated in other.violations:
            self._add(replace(violated))

    def _add(self, more: Violated) -> None:
        mine = self._at.setdefault((more.keyword, more.field), more)
        if mine is more:
            self.violations.append(more)
        else:
            mine.count += more.count
            mine.documents += more.documents
            mine.example = min(mine.example, more.example, key=astuple)

    def most_frequent(self) -> list[Violated]:
        """Return the violations, the most frequent first."""
        return sorted(self.violations, key=lambda it: (-it.count, it.field, it.keyword))

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
        """Add all documents of a batch: no rows are selected."""
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
        self.sides = record.get("validity", {})


def verdict_view(verdict: SchemaVerdict) -> dict[str, object]:
    """Return the verdict about one document as JSON values, with the first of its violations."""
    violations = verdict or ()
    return {
        "valid": verdict is not None and not violations,
        "count": len(violations),
        "violations": encoded(violations[:SHOWN]),
    }


MOST_LOST: Final = 10  # values that documents lost, up to which they are counted one by one


class Fold(Protocol):
    """A statistic of documents."""

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add the documents of a batch, or some of those that were compared."""

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return its state and figures by their keys in run files."""

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record, whose types were checked."""


def _is_lost(value: object) -> bool:
    counts = value if isinstance(value, list) else []
    return len(counts) == MOST_LOST + 1 and all(type(it) is int and it >= 0 for it in counts)


Lost = Annotated[
    list[int],
    Rule(
        f"{MOST_LOST + 1} whole numbers of at least 0",
        {"type": "array", "items": {"type": "integer", "minimum": 0}},
        fits=_is_lost,
    ),
]


@dataclass(slots=True)
class WhollyRight:
    """Documents without a wrong, invented or missed value, of those that were compared."""

    documents: Count = field(default=0, metadata={REQUIRED: True})
    """Documents that were compared."""
    lost: Lost = field(default_factory=lambda: [0] * (MOST_LOST + 1), metadata={REQUIRED: True})
    """How many of them lost none of their values, how many one, and so on up to ten."""

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add the documents of a batch that were compared, or some of these."""
        if batch.counts is None:
            return
        root = batch.counts.sums[LEAVES, : len(batch.scores)]  # its rows come first
        lost = (root if some is None else root[some])[:, [FD, FA, FN]].sum(axis=1)
        self.documents += len(lost)
        few = np.bincount(lost[lost <= MOST_LOST], minlength=MOST_LOST + 1)
        self.lost = (few + self.lost).tolist()

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""
        self.documents += other.documents
        self.lost = [mine + its for mine, its in zip(self.lost, other.lost, strict=True)]

    @property
    def right(self) -> int:
        """How many are right as a whole."""
        return self.lost[0]

    @property
    def share(self) -> float | None:
        """Their share; None of no documents."""
        return self.right / self.documents if self.documents else None

    def interval(self, settings: IntervalSettings | None) -> Interval | None:
        """Return the confidence interval of the share; None without settings or documents."""
        if settings is None:
            return None
        (found,) = rate_intervals([self.spread], settings.level)
        return found

    @property
    def spread(self) -> Spread:
        """What their interval is made of: each document is wholly right or wrong."""
        right, wrong = float(self.right), float(self.documents - self.right)
        return Spread(right, wrong, right, 0.0, wrong, 1.0)

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return number, share and interval, and how many lost at most so many values."""
        ends = self.interval(settings)
        more = {"right": self.right, "share": self.share, "lost_at_most": [*accumulate(self.lost)]}
        return {
            "wholly_right": {"documents": self.documents, "lost": self.lost}
            | more
            | ({} if ends is None else {"interval": [*ends]})
        }

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        wholly_right = record["wholly_right"]
        self.documents, self.lost = wholly_right.documents, wholly_right.lost


@dataclass(slots=True)
class PathCounts:
    """Keys that the schema does not declare, and what ground truths leave open, by path."""

    undeclared_keys: Counter[FieldNames] = field(default_factory=Counter)
    """Values of such keys in ground truths: they are not evaluated."""
    extra_keys: Counter[FieldNames] = field(default_factory=Counter)
    """Values of those that only predictions have: false alarms without a field."""
    not_labelled: Counter[FieldNames] = field(default_factory=Counter)
    """Documents in which a field, or some of it, is not labelled."""
    left_out: Counter[FieldNames] = field(default_factory=Counter)
    """Predicted elements without a pair, of lists that need not have all."""

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add all documents of a batch: no rows are selected."""
        if batch.counts is not None:
            self.undeclared_keys.update(path for _, path in batch.counts.undeclared)
            self.extra_keys.update(path for _, path in batch.counts.extras)
            self.not_labelled.update(path for _, path in {*batch.counts.unlabelled})
            for (_, path), number in batch.counts.left_out:
                self.left_out[path] += number

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""
        for name, counts in self._by_name().items():
            counts.update(getattr(other, name))

    def share_labelled(self, sums: Sums, path: Path = ()) -> float | None:
        """Return in which share of documents a field is labelled, as is all around it.

        Of the whole it is the mean of all fields; None where no document was compared.
        """
        missing, documents = self.not_labelled, sums.at(()).scored
        fields = [tuple(map(str, path))] if path else filter(None, {*sums, *missing})
        shares = [
            1 - min(sum(missing[it[:end]] for end in range(1, len(it) + 1)), documents) / documents
            for it in fields
            if documents
        ]
        return math.fsum(shares) / len(shares) if shares else None

    def shares_labelled(self, sums: Sums) -> dict[str, dict[str, float | None]]:
        """Return these of the whole and of fields that some documents do not label, if any."""
        named = [(), *sorted(self.not_labelled)]
        shares = {field_path(path): self.share_labelled(sums, path) for path in named}
        return {"labelled": shares} if self.not_labelled else {}

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return the counts by path, in order; what ground truths leave open, if there is any."""
        return {
            name: [{"field": field_path(path), "count": counts[path]} for path in sorted(counts)]
            for name, counts in self._by_name().items()
            if counts or name in ("undeclared_keys", "extra_keys")
        }

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        for name, counts in self._by_name().items():
            found = record.get(name, ())
            counts.update({tuple(map(str, it["field"])): it["count"] for it in found})

    def _by_name(self) -> dict[str, Counter[FieldNames]]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


FOLDS: Final = (ErrorCounts, WhollyRight)
"""The statistics of every run and of its groups, in the order of run files."""
OF_RUNS: Final = (Validities, Causes, PathCounts)
"""Those of runs alone."""
