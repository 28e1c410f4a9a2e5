"""The values of a run that have a confidence: kept by document, added up in any order.

Where a run keeps no rows of documents, they are counted by rounded confidence: a fixed size.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask, group_positions
from stickler_cli.core.locations import field_path
from stickler_cli.core.rules import KEPT
from stickler_cli.score.field_counts import ConfidentValues, join_confident_values
from stickler_cli.score.intervals import (
    N_REPLICATES,
    IntervalSettings,
    percentile_interval,
    resample,
)
from .calibration import Reliability, confidence_view, reliability

_MAX_CELLS: Final = 400_000_000  # beyond it there are fewer replicates, but not below the least
_MIN_REPLICATES: Final = 200
MIN_DOCUMENTS: Final = 5
"""Documents below which their differences say too little for intervals."""
_MAX_EXACT_UNITS: Final = 5_000
"""Units beyond which replicates are made of rounded confidences, as few distinct ones are fast."""
_DIGITS: Final = 3
_THOUSAND: Final = 10**_DIGITS


class ConfidenceUnits(NamedTuple):
    """Values that have a confidence, each an entry of all arrays, (units,)."""

    documents: list[str]
    """The ids of those that have any, sorted."""
    document: Indexes
    """The position of its document."""
    confidence: Floats
    is_right: Mask
    multiplicity: Indexes | None = None
    """How many values each entry stands for, where nobody knows their documents; None for one."""
    n_documents: int = 0
    """In how many documents these are."""

    def select(self, which: Indexes | Mask) -> "ConfidenceUnits":
        """Return some of the units."""
        confidence, right = self.confidence[which], self.is_right[which]
        return ConfidenceUnits(self.documents, self.document[which], confidence, right)

    def reliability(self) -> Reliability:
        """Return the units by their confidence."""
        return reliability(self.confidence, self.is_right, times=self.multiplicity)


@dataclass(slots=True)
class RoundedConfidences:
    """The values of a field by confidence, whichever documents they are in."""

    right: Counter[int] = field(default_factory=Counter)
    """How many are right, by their confidence in thousandths."""
    wrong: Counter[int] = field(default_factory=Counter)
    documents: int = 0
    """How many documents have any."""

    def merge(self, other: "RoundedConfidences") -> None:
        """Add those of other documents."""
        self.right.update(other.right)
        self.wrong.update(other.wrong)
        self.documents += other.documents

    def units(self) -> ConfidenceUnits:
        """Return them with as many entries as there are distinct confidences."""
        cells = [
            (confidence, right, times)
            for right, side in ((True, self.right), (False, self.wrong))
            for confidence, times in sorted(side.items())
        ]
        confidence, right, times = np.array(cells).reshape(-1, 3).T
        nobody = np.zeros(0, np.intp)
        known = confidence / _THOUSAND, right.astype(np.bool_)
        return ConfidenceUnits([], nobody, *known, multiplicity=times, n_documents=self.documents)


@dataclass(slots=True)
class Confidences:
    """The values with a confidence of some documents."""

    chunks: list[tuple[Sequence[str], ConfidentValues]] = field(default_factory=list)
    """The ids of documents, and their values."""
    counts: dict[str, RoundedConfidences] | None = None
    """Instead of those, the values by the path of their field; None where they are kept."""
    _cache: dict[object, Any] = field(init=False, repr=False, compare=False, metadata={KEPT: False})
    """Results that were worked out already: they take time, and several ask for them."""

    def __post_init__(self) -> None:
        self._cache = {}

    def add(
        self, documents: Sequence[str], leaves: ConfidentValues | None, some: Mask | None = None
    ) -> None:
        """Add the values of documents, by their ids, or of some of them."""
        if leaves is not None and some is not None:
            leaves = leaves.select(some[leaves.document])
        if leaves is None or not len(leaves):
            return
        self._cache.clear()
        if self.counts is None:
            self.chunks.append((documents, leaves))
        else:
            self._count(leaves)

    def merge(self, other: "Confidences") -> None:
        """Add the documents of others; they are only counted where those of either side are."""
        self._cache.clear()
        if other.counts is not None:
            self.drop_rows()
        if self.counts is None:
            self.chunks += other.chunks
            return
        for _, leaves in other.chunks:
            self._count(leaves)
        for path, counted in (other.counts or {}).items():
            self.counts.setdefault(path, RoundedConfidences()).merge(counted)

    def drop_rows(self) -> None:
        """Count the values by rounded confidence, and forget their documents."""
        if self.counts is None:
            self._cache.clear()
            self.counts, parts, self.chunks = {}, self.chunks, []
            for _, leaves in parts:
                self._count(leaves)

    def _count(self, leaves: ConfidentValues) -> None:
        into = self.counts if self.counts is not None else {}
        for path, which in _by_field(leaves).items():
            some = leaves.select(which)
            mine = into.setdefault(path, RoundedConfidences())
            mine.documents += len(np.unique(some.document))
            thousandths = np.rint(some.confidence * _THOUSAND).astype(np.intp)
            mine.right.update(thousandths[some.is_right].tolist())
            mine.wrong.update(thousandths[~some.is_right].tolist())

    def by_field(self) -> dict[str, ConfidenceUnits]:
        """Return the units of each field, by its path, and of whole documents for ""."""
        found: dict[str, ConfidenceUnits] = self._cached("units", self._units)
        return found

    def view(self, path: str, leaves: int, settings: IntervalSettings | None) -> dict[str, Any]:
        """Return the figures of a field, or of all for "", as the run format shows them.

        `leaves` are those of the predictions, with a confidence or without.
        """
        units = self.by_field()[path]
        key = path, leaves, settings
        found: dict[str, Any] = self._cached(key, lambda: _view(units, leaves, settings))
        return found

    def _cached(self, key: object, make: Callable[[], Any]) -> Any:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _units(self) -> dict[str, ConfidenceUnits]:
        if self.counts is not None:
            fields = {"": RoundedConfidences(), **self.counts}
            return {path: counted.units() for path, counted in sorted(fields.items())}
        return split_units_by_field(self.chunks)

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the record of each document that has any, with its id."""
        for documents, leaves in self.chunks:
            for name, record in zip(documents, leaves.records(len(documents)), strict=True):
                if record:
                    yield name, record

    def __bool__(self) -> bool:
        return bool(self.chunks or self.counts)


def split_units_by_field(
    parts: Iterable[tuple[Sequence[str], ConfidentValues]],
) -> dict[str, ConfidenceUnits]:
    """Return the units of each field, by its path, and of whole documents for "".

    Each part is the ids of some documents, and their values.
    """
    known = [*parts]
    before = np.cumsum([0, *(len(documents) for documents, _ in known)])
    leaves = join_confident_values(
        zip((leaves for _, leaves in known), before.tolist()[:-1], strict=True)
    )
    nothing = np.zeros(0, np.intp)
    if leaves is None:
        return {"": ConfidenceUnits([], nothing, np.zeros(0), np.zeros(0, np.bool_))}
    names = [name for documents, _ in known for name in documents]
    having = np.unique(leaves.document).tolist()
    having.sort(key=names.__getitem__)
    ranks = np.zeros(len(names), np.intp)
    ranks[having] = np.arange(len(having))
    ranked = leaves.with_documents(ranks[leaves.document]).sort()
    documents = [names[at] for at in having]
    return {
        path: ConfidenceUnits(
            documents, ranked.document[at], ranked.confidence[at], ranked.is_right[at]
        )
        for path, at in sorted(_by_field(ranked).items())
    }


def _by_field(leaves: ConfidentValues) -> dict[str, Indexes]:
    """Return which values are of each field, by its path, and of whole documents for ""."""
    found = {field_path(leaves.paths[at]): which for at, which in group_positions(leaves.field)}
    return {**found, "": np.arange(len(leaves))}


def counted_view(by_field: Mapping[str, RoundedConfidences]) -> dict[str, object]:
    """Return values by field and rounded confidence as the run format has them."""
    return {
        path: {
            "documents": counted.documents,
            **{
                name: {str(it / _THOUSAND): side[it] for it in sorted(side)}
                for name, side in (("right", counted.right), ("wrong", counted.wrong))
                if side
            },
        }
        for path, counted in sorted(by_field.items())
    }


def read_counted(record: Mapping[str, Any]) -> dict[str, RoundedConfidences]:
    """Return the values that a record tells of."""

    def side(values: Mapping[str, int]) -> Counter[int]:
        return Counter({round(float(it) * _THOUSAND): times for it, times in values.items()})

    return {
        path: RoundedConfidences(
            side(it.get("right", {})), side(it.get("wrong", {})), it["documents"]
        )
        for path, it in record.items()
    }


def _view(units: ConfidenceUnits, leaves: int, settings: IntervalSettings | None) -> dict[str, Any]:
    known = units.reliability()
    total, wrong = int(known.total[0]), int(known.errors[0])
    shown: dict[str, Any] = {
        "units": total,
        "right": total - wrong,
        "documents": units.n_documents or len(np.unique(units.document)),
        "coverage": total / leaves if leaves else None,
        **confidence_view(known),
        "bins": [it.view() for it in known.bins()],
    }
    if settings is None or units.multiplicity is not None or shown["documents"] < MIN_DOCUMENTS:
        return shown
    if len(units.is_right) > _MAX_EXACT_UNITS:
        units = units._replace(confidence=np.round(units.confidence, _DIGITS))
    size = len(units.is_right)
    members, document = np.unique(units.document, return_inverse=True)

    def figures(drawn: Floats) -> Floats:
        of = reliability(units.confidence, units.is_right, document, drawn)
        return np.concatenate([np.stack([*of.figures().values()]), of.shares()])

    replicated = resample(
        [units.documents[it] for it in members],
        figures,
        settings,
        size=size,
        replicates=min(N_REPLICATES, max(_MIN_REPLICATES, _MAX_CELLS // size)),
    )
    ends = [percentile_interval(row[1:], settings.level) for row in replicated]
    names = [*known.figures()]
    shown["intervals"] = {name: [*it] for name, it in zip(names, ends, strict=False) if it}
    for entry, it in zip(shown["bins"], ends[len(names) :], strict=True):
        if it:
            entry["interval"] = [*it]
    return shown
