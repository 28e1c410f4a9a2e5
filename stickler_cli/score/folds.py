"""Statistics over the documents of a run, in memory of limited size.

Each statistic is a class with the methods of `Fold`. Some are defined in this module, and others
have their own module. `FOLDS` and `RUN_FOLDS` list all of them. Documents can be added in any
order.

A run file has the counts of each statistic, and figures that are computed from these counts. When a
run file is read, only the counts are restored.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from hashlib import blake2b
from heapq import nsmallest
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, Self

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import FA, FD, FN
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.rules import KEPT, REQUIRED, Count, Rule, encoded
from .close_matches import CloseMatches
from .document_result import SIDES, SchemaVerdict, Side
from .errors.causes import Causes, ErrorCounts
from .field_counts import LEAVES
from .intervals import Interval, IntervalSettings, Spread, rate_intervals
from .sums import FieldTallies

if TYPE_CHECKING:
    from .batch import Batch

MAX_VIOLATIONS: Final = 10  # listed violations of one document; all of them are counted


@dataclass(frozen=True, slots=True)
class Example:
    """One occurrence of a violation, taken from the document with the lowest id."""

    document: str
    """Id of the document."""
    pointer: str
    """JSON Pointer to the invalid value. If the violated keyword is `required`, the pointer leads
    to the object in which a field is missing."""
    message: str
    """The validator's message, cut to 160 characters. Other versions of the validator may word it
    differently."""


@dataclass(slots=True)
class Violated:
    """The violations of one schema keyword at one field, over all documents."""

    keyword: str
    """The violated keyword of the schema."""
    field: str
    """Path of the field, with `[]` for list items and `*` for keys of maps. If the violated keyword
    is `required`, it is the path of the missing field. Empty if the whole document violates the
    keyword."""
    count: Count
    """Number of occurrences."""
    documents: Count
    """Number of documents in which the keyword is violated at this field at least once."""
    example: Example


@dataclass(slots=True)
class Validity:
    """How many documents of one side are valid under the schema, and how the others violate it."""

    checked: Count = field(default=0, metadata={REQUIRED: True})
    """Number of documents of the side, including those that could not be read."""
    valid: Count = field(default=0, metadata={REQUIRED: True})
    """Number of documents that are valid under the schema."""
    unreadable: Count = field(default=0, metadata={REQUIRED: True})
    """Number of documents that could not be read, or that have the wrong JSON type. They do not
    count as valid."""
    violations: list[Violated] = field(default_factory=list, metadata={REQUIRED: True})
    """One entry for each keyword that is violated at a field. In run files, the entry with the most
    violations comes first."""
    _by_key: dict[tuple[str, str], Violated] = field(
        init=False, compare=False, metadata={KEPT: False}
    )
    """Maps (keyword, field) to the violations of this keyword at this field. The size of the schema
    limits the number of entries."""

    def __post_init__(self) -> None:
        self._by_key = {
            (violation.keyword, violation.field): violation for violation in self.violations
        }

    @property
    def invalid(self) -> int:
        """Number of documents that could be read and are not valid."""
        return self.checked - self.valid - self.unreadable

    @property
    def share(self) -> float | None:
        """The share of valid documents, in [0, 1]; None if there are no documents."""
        return self.valid / self.checked if self.checked else None

    def update(self, document: str, verdict: SchemaVerdict) -> None:
        """Add the verdict on one document, given its id."""
        self.checked += 1
        self.valid += verdict is not None and not verdict
        self.unreadable += verdict is None
        keys_of_document: set[tuple[str, str]] = set()
        for violation in verdict or ():
            key = violation.keyword, violation.field
            violated = Violated(
                keyword=violation.keyword,
                field=violation.field,
                count=1,
                documents=int(key not in keys_of_document),
                example=Example(document, violation.pointer, violation.message),
            )
            self._add(violated)
            keys_of_document.add(key)

    def merge(self, other: "Validity") -> None:
        """Add the verdicts on other documents."""
        self.checked += other.checked
        self.valid += other.valid
        self.unreadable += other.unreadable
        for violated in other.violations:
            self._add(replace(violated))

    def _add(self, violated: Violated) -> None:
        """Add a violation to the counts of its keyword and field.

        The first object `violated` with this keyword and field is stored. The counts of later
        objects are added to the stored object, so the caller must not use `violated` again.
        """
        total = self._by_key.setdefault((violated.keyword, violated.field), violated)
        if total is violated:
            self.violations.append(violated)
        else:
            total.count += violated.count
            total.documents += violated.documents
            total.example = min(total.example, violated.example, key=astuple)

    def most_frequent(self) -> list[Violated]:
        """Return the violations, the most frequent first."""
        return sorted(
            self.violations,
            key=lambda violation: (-violation.count, violation.field, violation.keyword),
        )

    def view(self) -> dict[str, object]:
        """Return the verdicts as a run file has them."""
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
    """The results of validation against the schema, for each side that was validated."""

    sides: dict[Side, Validity] = field(default_factory=dict)

    def add(self, batch: "Batch", selected: Mask | None) -> None:
        """Add the verdicts of all documents of a batch.

        `selected` marks the documents of a group. It is ignored because verdicts are not counted
        for groups.
        """
        for result in batch.results:
            for side, verdict in result.verdicts.items():
                self.sides.setdefault(side, Validity()).update(result.id, verdict)

    def merge(self, other: Self) -> None:
        """Add the verdicts on other documents."""
        for side, validity in other.sides.items():
            self.sides.setdefault(side, Validity()).merge(validity)

    def view(self, settings: object) -> Mapping[str, Any]:
        """Return the verdicts as a run file has them."""
        sides = {side: self.sides[side].view() for side in SIDES if side in self.sides}
        return {"validity": sides} if sides else {}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the verdicts from the record of a run file."""
        self.sides = record.get("validity", {})


def verdict_view(verdict: SchemaVerdict) -> dict[str, object]:
    """Return the verdict on one document as JSON values, including its first violations.

    If the document could not be read, `verdict` is None. In the result, `valid` is then False,
    although `count` (the number of violations) is 0.
    """
    violations = verdict or ()
    return {
        "valid": verdict is not None and not violations,
        "count": len(violations),
        "violations": encoded(violations[:MAX_VIOLATIONS]),
    }


MAX_LOST: Final = 10  # documents with more lost values have no count of their own


class Fold(Protocol):
    """A statistic over documents."""

    def add(self, batch: "Batch", selected: Mask | None) -> None:
        """Add the documents of a batch.

        If `selected` is given, only some compared documents are added; it is a mask over all
        compared documents of the batch. If it is None, all documents are added, also those that
        were not compared.
        """

    def merge(self, other: Self) -> None:
        """Add the documents of another statistic of the same class."""

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return the state and the figures as a run file has them."""

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the state from the record of a run file.

        The types in the record were checked before.
        """


def _is_lost_counts(value: object) -> bool:
    """Return whether a JSON value is a list of `MAX_LOST + 1` whole numbers of at least 0."""
    counts = value if isinstance(value, list) else []
    are_counts = all(type(count) is int and count >= 0 for count in counts)
    return len(counts) == MAX_LOST + 1 and are_counts


LostCounts = Annotated[
    list[int],
    Rule(
        f"{MAX_LOST + 1} whole numbers of at least 0",
        {"type": "array", "items": {"type": "integer", "minimum": 0}},
        fits=_is_lost_counts,
    ),
]


@dataclass(slots=True)
class WhollyRight:
    """How many compared documents lost 0, 1, 2, ... values.

    A value is lost if it is wrong, invented or missed.
    """

    documents: Count = field(default=0, metadata={REQUIRED: True})
    """Number of compared documents."""
    lost: LostCounts = field(
        default_factory=lambda: [0] * (MAX_LOST + 1), metadata={REQUIRED: True}
    )
    """Number of documents that lost exactly 0, 1, ... 10 values, as 11 numbers."""

    def add(self, batch: "Batch", selected: Mask | None) -> None:
        """Add all compared documents of a batch, or only the selected ones."""
        if batch.counts is None:
            return
        # The root is the first field: its rows, one for each document, precede all others.
        counts_by_document = batch.counts.units[LEAVES, : len(batch.scores)]
        if selected is not None:
            counts_by_document = counts_by_document[selected]
        lost_by_document = counts_by_document[:, [FD, FA, FN]].sum(axis=1)
        self.documents += len(lost_by_document)
        few_lost = lost_by_document[lost_by_document <= MAX_LOST]
        documents_by_lost = np.bincount(few_lost, minlength=MAX_LOST + 1)
        self.lost = (documents_by_lost + self.lost).tolist()

    def merge(self, other: Self) -> None:
        """Add the documents of another statistic."""
        self.documents += other.documents
        self.lost = [*map(add, self.lost, other.lost)]

    @property
    def right(self) -> int:
        """Number of documents without a lost value."""
        return self.lost[0]

    @property
    def share(self) -> float | None:
        """Share of documents without a lost value, in [0, 1]; None if there are no documents."""
        return self.right / self.documents if self.documents else None

    def interval(self, settings: IntervalSettings | None) -> Interval | None:
        """Return the confidence interval of the share; None without settings or documents."""
        if settings is None:
            return None
        (interval,) = rate_intervals([self.spread], settings.level)
        return interval

    @property
    def spread(self) -> Spread:
        """The sums from which the confidence interval of the share is computed.

        Each document counts as one unit: right if no value is lost, else wrong.
        """
        right, wrong = float(self.right), float(self.documents - self.right)
        return Spread(
            right=right,
            wrong=wrong,
            right_squares=right,
            right_times_wrong=0.0,
            wrong_squares=wrong,
            all_right=1.0,
        )

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return counts, share and interval as a run file has them."""
        view: dict[str, Any] = {
            "documents": self.documents,
            "lost": self.lost,
            "right": self.right,
            "share": self.share,
            "lost_at_most": [*accumulate(self.lost)],
        }
        interval = self.interval(settings)
        if interval is not None:
            view["interval"] = [*interval]
        return {"wholly_right": view}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the counts from the record of a run file."""
        wholly_right = record["wholly_right"]
        self.documents, self.lost = wholly_right.documents, wholly_right.lost


MAX_KEYS: Final = 1_000
"""Maximum number of undeclared keys that are counted by name. A limit is needed because each
document may have new keys."""
MAX_KEY_CHARACTERS: Final = 500
"""Maximum number of characters of a path. An undeclared key with a longer path is not counted by
name."""


def _digest_of(path: FieldNames) -> bytes:
    return blake2b(field_path(path).encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass(slots=True)
class PathCounts:
    """Counts for each path: values with undeclared keys, and documents with missing labels.

    At most `MAX_KEYS` undeclared keys are counted by name. All other keys are counted together. A
    digest of each path decides which keys are counted by name, so the choice does not depend on the
    order of documents.
    """

    undeclared_keys: Counter[FieldNames] = field(default_factory=Counter)
    """For each undeclared key, the number of its values in ground truths. These values are not
    evaluated."""
    extra_keys: Counter[FieldNames] = field(default_factory=Counter)
    """For each undeclared key that only predictions have, the number of its values. Each value is a
    false alarm."""
    not_labelled: Counter[FieldNames] = field(default_factory=Counter)
    """For each field, the number of documents in which the field is not labelled, or in which only
    a part of the field is labelled."""
    left_out: Counter[FieldNames] = field(default_factory=Counter)
    """An open list is a list that ground truths label only in part. Maps the path of each open list
    to the number of predicted items that have no partner."""
    unnamed: Counter[str] = field(default_factory=Counter)
    """Number of values under keys that are not counted by name, because there are too many keys or
    their paths are too long. This counter has two entries: `undeclared_keys` and `extra_keys`."""

    def add(self, batch: "Batch", selected: Mask | None) -> None:
        """Add all documents of a batch.

        `selected` marks the documents of a group. It is ignored because these counts are not made
        for groups.
        """
        counts = batch.counts
        if counts is not None:
            self.undeclared_keys.update(path for _, path in counts.undeclared)
            self.extra_keys.update(path for _, path in counts.extras)
            # A field with several unlabelled values counts once in a document, hence the set.
            self.not_labelled.update(path for _, path in {*counts.unlabelled})
            for (_, path), n_items in counts.left_out:
                self.left_out[path] += n_items
            self._bound_names()

    def merge(self, other: Self) -> None:
        """Add the documents of another statistic."""
        for name, counts in self._by_name().items():
            counts.update(getattr(other, name))
        self.unnamed.update(other.unnamed)
        self._bound_names()

    def _bound_names(self) -> None:
        """Count at most `MAX_KEYS` undeclared keys by name, and all other keys together.

        Keys with long paths are not counted by name. Of all other keys, those with the `MAX_KEYS`
        lowest digests are counted by name. They are chosen again whenever documents are added. If
        a key is chosen now, it was also chosen every time before, because there were fewer keys
        then. Its count therefore includes all of its values.
        """
        for name in _UNDECLARED:
            counts: Counter[FieldNames] = getattr(self, name)
            if len(counts) <= MAX_KEYS and not any(map(_is_long, counts)):
                continue
            short = (path for path in counts if not _is_long(path))
            kept = {*nsmallest(MAX_KEYS, short, key=_digest_of)}
            for path in [path for path in counts if path not in kept]:
                self.unnamed[name] += counts.pop(path)

    def share_labelled(self, sums: FieldTallies, path: Path = ()) -> float | None:
        """Return the share of documents in which a field and all its parents are labelled.

        For an empty path, return the mean share of all fields. Return None if no document was
        compared.
        """
        n_documents = sums.tally(()).n_scored
        if not n_documents:
            return None
        # Collect all fields only for the mean: reports ask for each field's share in turn.
        measured_fields = [tuple(map(str, path))] if path else {*sums, *self.not_labelled} - {()}
        shares = []
        for field_names in measured_fields:
            parents = (field_names[:end] for end in range(1, len(field_names) + 1))
            n_unlabelled = sum(self.not_labelled[parent] for parent in parents)
            shares.append(1 - min(n_unlabelled, n_documents) / n_documents)
        return math.fsum(shares) / len(shares) if shares else None

    def shares_labelled(self, sums: FieldTallies) -> dict[str, dict[str, float | None]]:
        """Return the labelled shares of a run, in the form of a run file.

        A labelled share is the share of documents in which a field and all its parents are
        labelled. A field has an entry if the ground truth of some document says that this field is
        not labelled. The fields inside such a field have no entries of their own. The empty path
        has the mean share of all fields. If everything is labelled, the result is empty.
        """
        paths = [(), *sorted(self.not_labelled)]
        shares = {field_path(path): self.share_labelled(sums, path) for path in paths}
        return {"labelled": shares} if self.not_labelled else {}

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return the counts as a run file has them, sorted by path."""
        record: dict[str, Any] = {
            name: [{"field": field_path(path), "count": counts[path]} for path in sorted(counts)]
            for name, counts in self._by_name().items()
            if counts or name in _UNDECLARED
        }
        return record | {_UNDECLARED[name]: self.unnamed[name] for name in sorted(self.unnamed)}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the counts from the record of a run file."""
        for name, counts in self._by_name().items():
            for entry in record.get(name, ()):
                counts[tuple(map(str, entry["field"]))] += entry["count"]
        unnamed = {name: record[key] for name, key in _UNDECLARED.items() if key in record}
        self.unnamed.update(unnamed)

    def _by_name(self) -> dict[str, Counter[FieldNames]]:
        names = (entry.name for entry in fields(self) if entry.name != "unnamed")
        return {name: getattr(self, name) for name in names}


_UNDECLARED: Final = {
    "undeclared_keys": "undeclared_keys_unnamed",
    "extra_keys": "extra_keys_unnamed",
}
"""Maps each attribute that counts undeclared keys to the name of another count in run files. This
other count adds up the values of all keys that have no count of their own, because there are more
than `MAX_KEYS` keys, or because their paths are too long."""


def _is_long(path: FieldNames) -> bool:
    return sum(map(len, path)) > MAX_KEY_CHARACTERS


FOLDS: Final = (ErrorCounts, WhollyRight)
"""The statistics of a run and of each of its groups, in the order of their keys in run files."""
RUN_FOLDS: Final = (Validities, Causes, CloseMatches, PathCounts)
"""Statistics that only a whole run has, in the order of their keys in run files."""
