"""The values of a run that have a confidence.

A run that keeps the figures of single documents also keeps each of these values. In other runs,
confidences are rounded, and only the number of values with each rounded confidence is kept. Memory
therefore does not grow with the number of documents. Documents may be added in any order.
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
    Interval,
    IntervalSettings,
    percentile_interval,
    resample,
)
from .calibration import Reliability, confidence_view, reliability

_MAX_CELLS: Final = 400_000_000  # values times replicates: many values get fewer replicates
_MIN_REPLICATES: Final = 200
MIN_DOCUMENTS: Final = 5
"""Minimum number of documents for computing intervals. Fewer documents do not show how much
documents vary."""
_MAX_EXACT_UNITS: Final = 5_000
"""Maximum number of units for which resampling uses exact confidences. If there are more units,
confidences are rounded, because resampling is faster with few distinct confidences."""
_DIGITS: Final = 3
_THOUSAND: Final = 10**_DIGITS


class ConfidenceUnits(NamedTuple):
    """Values that have a confidence. Each array has the shape (n,), with one entry for each value.

    If `multiplicity` is set, an entry stands for several equal values.
    """

    documents: list[str]
    """The ids of the documents that have a value with a confidence, sorted."""
    document: Indexes
    """The document of each value, as a position in `documents`."""
    confidence: Floats
    is_right: Mask
    multiplicity: Indexes | None = None
    """Number of values that each entry stands for; None if each entry is one value."""
    n_documents: int = 0
    """Number of documents that have a value with a confidence. Used only if their ids are unknown,
    else 0."""

    def select(self, selected: Indexes | Mask) -> "ConfidenceUnits":
        """Return the selected values."""
        return ConfidenceUnits(
            documents=self.documents,
            document=self.document[selected],
            confidence=self.confidence[selected],
            is_right=self.is_right[selected],
        )

    def reliability(self) -> Reliability:
        """Return the values grouped by confidence."""
        return reliability(self.confidence, self.is_right, multiplicity=self.multiplicity)


@dataclass(slots=True)
class RoundedConfidences:
    """How often each rounded confidence occurs in a field.

    Confidences are rounded to thousandths.
    """

    right: Counter[int] = field(default_factory=Counter)
    """Number of right values of each confidence."""
    wrong: Counter[int] = field(default_factory=Counter)
    """Number of wrong values of each confidence."""
    documents: int = 0
    """Number of documents that have a value with a confidence."""

    def merge(self, other: "RoundedConfidences") -> None:
        """Add the values of other documents."""
        self.right.update(other.right)
        self.wrong.update(other.wrong)
        self.documents += other.documents

    def units(self) -> ConfidenceUnits:
        """Return the values as units.

        All right values of equal confidence are one entry, and all wrong values of equal confidence
        are another.
        """
        entries = [
            (confidence, is_right, n_values)
            for is_right, counts in ((True, self.right), (False, self.wrong))
            for confidence, n_values in sorted(counts.items())
        ]
        confidence, is_right, n_values = np.array(entries).reshape(-1, 3).T
        return ConfidenceUnits(
            documents=[],
            document=np.zeros(0, np.intp),
            confidence=confidence / _THOUSAND,
            is_right=is_right.astype(np.bool_),
            multiplicity=n_values,
            n_documents=self.documents,
        )


@dataclass(slots=True)
class Confidences:
    """The values with a confidence in a set of documents."""

    chunks: list[tuple[Sequence[str], ConfidentValues]] = field(default_factory=list)
    """The kept values. Each chunk has the ids of some documents, and their values that have a
    confidence."""
    counts: dict[str, RoundedConfidences] | None = None
    """Maps the path of a field to counts of its values. None if single values are kept in
    `chunks`."""
    _cache: dict[object, Any] = field(init=False, repr=False, compare=False, metadata={KEPT: False})
    """Cached results of slow computations. A key says what was computed, and from which
    arguments."""

    def __post_init__(self) -> None:
        self._cache = {}

    def add(
        self,
        documents: Sequence[str],
        values: ConfidentValues | None,
        selected: Mask | None = None,
    ) -> None:
        """Add the values of all documents, or only of those that `selected` marks.

        `documents` has the ids of all documents, not only of the marked ones.
        """
        if values is not None and selected is not None:
            values = values.select(selected[values.document])
        if values is None or not len(values):
            return
        self._cache.clear()
        if self.counts is None:
            self.chunks.append((documents, values))
        else:
            self._count(values, self.counts)

    def merge(self, other: "Confidences") -> None:
        """Add the values of other documents.

        The result has only counts if either of the two objects has only counts.
        """
        self._cache.clear()
        if other.counts is not None:
            self.drop_rows()
        if self.counts is None:
            self.chunks += other.chunks
            return
        for _, values in other.chunks:
            self._count(values, self.counts)
        for path, counts in (other.counts or {}).items():
            self.counts.setdefault(path, RoundedConfidences()).merge(counts)

    def drop_rows(self) -> None:
        """Forget which documents the confidences came from, and their exact values.

        Only how often each rounded confidence occurs is kept.
        """
        if self.counts is None:
            self._cache.clear()
            self.counts = {}
            for _, values in self.chunks:
                self._count(values, self.counts)
            self.chunks = []

    @staticmethod
    def _count(values: ConfidentValues, counts: dict[str, RoundedConfidences]) -> None:
        """Add values to the counts of their fields."""
        for path, positions in _positions_by_field(values).items():
            field_values = values.select(positions)
            total = counts.setdefault(path, RoundedConfidences())
            total.documents += len(np.unique(field_values.document))
            thousandths = np.rint(field_values.confidence * _THOUSAND).astype(np.intp)
            total.right.update(thousandths[field_values.is_right].tolist())
            total.wrong.update(thousandths[~field_values.is_right].tolist())

    def by_field(self) -> dict[str, ConfidenceUnits]:
        """Return a dict that maps the path of each field to the field's values.

        The path "" has the values of all fields.
        """
        units: dict[str, ConfidenceUnits] = self._cached("units", self._units)
        return units

    def view(self, path: str, n_values: int, settings: IntervalSettings | None) -> dict[str, Any]:
        """Return the figures of a field as they are written to a run file.

        The path "" stands for all fields. `n_values` is the number of all predicted values of the
        field, including values without a confidence.
        """
        units = self.by_field()[path]
        key = path, n_values, settings
        view: dict[str, Any] = self._cached(key, lambda: _units_view(units, n_values, settings))
        return view

    def _cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the cached result for a key; make it on first use."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _units(self) -> dict[str, ConfidenceUnits]:
        if self.counts is not None:
            fields = {"": RoundedConfidences(), **self.counts}
            return {path: counts.units() for path, counts in sorted(fields.items())}
        return split_units_by_field(self.chunks)

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (document id, record) for each document that has values with a confidence.

        The record has the confidences of the document.
        """
        for documents, values in self.chunks:
            records = values.records(len(documents))
            for id_, record in zip(documents, records, strict=True):
                if record:
                    yield id_, record

    def __bool__(self) -> bool:
        return bool(self.chunks or self.counts)


def split_units_by_field(
    chunks: Iterable[tuple[Sequence[str], ConfidentValues]],
) -> dict[str, ConfidenceUnits]:
    """Return a dict that maps the path of each field to the field's values.

    The path "" has the values of all fields. A chunk holds the ids of some documents, and the
    values of these documents.
    """
    ids: list[str] = []
    values_before: list[tuple[ConfidentValues | None, int]] = []
    for documents, chunk_values in chunks:
        values_before.append((chunk_values, len(ids)))
        ids += documents
    values = join_confident_values(values_before)
    if values is None:
        empty = np.zeros(0, np.intp)
        return {"": ConfidenceUnits([], empty, np.zeros(0), np.zeros(0, np.bool_))}

    # Keep only documents with values, sorted by id: figures must not depend on their order.
    positions = sorted(np.unique(values.document).tolist(), key=ids.__getitem__)
    ranks = np.zeros(len(ids), np.intp)
    ranks[positions] = np.arange(len(positions))
    ranked = values.with_documents(ranks[values.document]).sort()
    units = ConfidenceUnits(
        documents=[ids[position] for position in positions],
        document=ranked.document,
        confidence=ranked.confidence,
        is_right=ranked.is_right,
    )
    by_field = sorted(_positions_by_field(ranked).items())
    return {path: units.select(field_positions) for path, field_positions in by_field}


def _positions_by_field(values: ConfidentValues) -> dict[str, Indexes]:
    """Return a dict from the path of each field to the positions of the field's values.

    The positions are indexes into `values`. The path "" has all positions.
    """
    by_field = {
        field_path(values.paths[number]): positions
        for number, positions in group_positions(values.field)
    }
    return {**by_field, "": np.arange(len(values))}


def counted_view(by_field: Mapping[str, RoundedConfidences]) -> dict[str, object]:
    """Return how often each rounded confidence occurs in each field, as written to a run file."""
    view: dict[str, object] = {}
    for path, counts in sorted(by_field.items()):
        entry = view[path] = dict[str, object](documents=counts.documents)
        for name, side in (("right", counts.right), ("wrong", counts.wrong)):
            if side:
                entry[name] = {
                    str(confidence / _THOUSAND): side[confidence] for confidence in sorted(side)
                }
    return view


def read_counted(record: Mapping[str, Any]) -> dict[str, RoundedConfidences]:
    """Return the counts by field that `counted_view` wrote."""

    def read_side(counts: Mapping[str, int]) -> Counter[int]:
        return Counter(
            {round(float(confidence) * _THOUSAND): n for confidence, n in counts.items()}
        )

    return {
        path: RoundedConfidences(
            right=read_side(entry.get("right", {})),
            wrong=read_side(entry.get("wrong", {})),
            documents=entry["documents"],
        )
        for path, entry in record.items()
    }


def _units_view(
    units: ConfidenceUnits, n_values: int, settings: IntervalSettings | None
) -> dict[str, Any]:
    """Return the figures of values as they are written to a run file.

    `n_values` is the number of all predicted values, including values without a confidence.

    Intervals are added if `settings` are given, `units` has single values (no `multiplicity`), and
    the values come from at least `MIN_DOCUMENTS` documents.
    """
    grouped = units.reliability()
    n_units, n_wrong = int(grouped.total[0]), int(grouped.errors[0])
    view: dict[str, Any] = {
        "units": n_units,
        "right": n_units - n_wrong,
        "documents": units.n_documents or len(np.unique(units.document)),
        "coverage": n_units / n_values if n_values else None,
        **confidence_view(grouped),
        "bins": [calibration_bin.view() for calibration_bin in grouped.bins()],
    }
    has_documents = units.multiplicity is None and view["documents"] >= MIN_DOCUMENTS
    if settings is None or not has_documents:
        return view
    names = [*grouped.figures()]
    intervals = _resample_figures(units, settings)
    view["intervals"] = {
        name: [*interval] for name, interval in zip(names, intervals, strict=False) if interval
    }
    for bin_view, interval in zip(view["bins"], intervals[len(names) :], strict=True):
        if interval:
            bin_view["interval"] = [*interval]
    return view


def _resample_figures(units: ConfidenceUnits, settings: IntervalSettings) -> list[Interval | None]:
    """Return intervals that are computed by resampling documents.

    First comes the interval of each figure, then, for each bin, the interval of the share of right
    values. None stands for an interval that cannot be computed.
    """
    if len(units.is_right) > _MAX_EXACT_UNITS:
        units = units._replace(confidence=np.round(units.confidence, _DIGITS))
    n_units = len(units.is_right)
    members, document = np.unique(units.document, return_inverse=True)

    def figures_of_replicates(weights: Floats) -> Floats:
        """Return figures and shares after weighting documents.

        `weights` is an array of shape (n_documents, n). Each of its columns has the weights of the
        documents in one replicate. The result has one column for each replicate, and one row for
        each figure and each share.
        """
        weighted = reliability(units.confidence, units.is_right, document, weights)
        return np.concatenate([np.stack([*weighted.figures().values()]), weighted.shares()])

    replicated = resample(
        [units.documents[member] for member in members],
        figures_of_replicates,
        settings,
        size=n_units,
        replicates=min(N_REPLICATES, max(_MIN_REPLICATES, _MAX_CELLS // n_units)),
    )
    return [percentile_interval(row[1:], settings.level) for row in replicated]
