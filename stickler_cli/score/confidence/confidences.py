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
from stickler_cli.score.field_counts import Leaves, joined
from stickler_cli.score.intervals import REPLICATES, IntervalSettings, percentiles, resample
from .calibration import Reliability, confidence_view, reliability

_MOST_CELLS: Final = 400_000_000  # beyond it there are fewer replicates, but not below the least
_LEAST_REPLICATES: Final = 200
FEWEST: Final = 5
"""Documents below which their differences say too little for intervals."""
_MANY: Final = 5_000
"""Units beyond which replicates are made of rounded confidences, as few distinct ones are fast."""
_DIGITS: Final = 3
_THOUSAND: Final = 10**_DIGITS


class Units(NamedTuple):
    """Values that have a confidence, each an entry of all arrays, (units,)."""

    documents: list[str]
    """The ids of those that have any, sorted."""
    document: Indexes
    """The position of its document."""
    confidence: Floats
    right: Mask
    times: Indexes | None = None
    """How many values each entry stands for, where nobody knows their documents; None for one."""
    held: int = 0
    """In how many documents these are."""

    def among(self, which: Indexes | Mask) -> "Units":
        """Return some of the units."""
        confidence, right = self.confidence[which], self.right[which]
        return Units(self.documents, self.document[which], confidence, right)

    def reliability(self) -> Reliability:
        """Return the units by their confidence."""
        return reliability(self.confidence, self.right, times=self.times)


@dataclass(slots=True)
class Counted:
    """The values of a field by confidence, whichever documents they are in."""

    right: Counter[int] = field(default_factory=Counter)
    """How many are right, by their confidence in thousandths."""
    wrong: Counter[int] = field(default_factory=Counter)
    documents: int = 0
    """How many documents have any."""

    def merge(self, other: "Counted") -> None:
        """Add those of other documents."""
        self.right.update(other.right)
        self.wrong.update(other.wrong)
        self.documents += other.documents

    def units(self) -> Units:
        """Return them with as many entries as there are distinct confidences."""
        cells = [
            (confidence, right, times)
            for right, side in ((True, self.right), (False, self.wrong))
            for confidence, times in sorted(side.items())
        ]
        confidence, right, times = np.array(cells).reshape(-1, 3).T
        nobody = np.zeros(0, np.intp)
        known = confidence / _THOUSAND, right.astype(np.bool_)
        return Units([], nobody, *known, times=times, held=self.documents)


@dataclass(slots=True)
class Confidences:
    """The values with a confidence of some documents."""

    parts: list[tuple[Sequence[str], Leaves]] = field(default_factory=list)
    """The ids of documents, and their values."""
    counted: dict[str, Counted] | None = None
    """Instead of those, the values by the path of their field; None where they are kept."""
    _made: dict[object, Any] = field(init=False, repr=False, compare=False, metadata={KEPT: False})
    """Results that were worked out already: they take time, and several ask for them."""

    def __post_init__(self) -> None:
        self._made = {}

    def add(
        self, documents: Sequence[str], leaves: Leaves | None, some: Mask | None = None
    ) -> None:
        """Add the values of documents, by their ids, or of some of them."""
        if leaves is not None and some is not None:
            leaves = leaves.among(some[leaves.document])
        if leaves is None or not len(leaves):
            return
        self._made.clear()
        if self.counted is None:
            self.parts.append((documents, leaves))
        else:
            self._count(leaves)

    def merge(self, other: "Confidences") -> None:
        """Add the documents of others; they are only counted where those of either side are."""
        self._made.clear()
        if other.counted is not None:
            self.drop_rows()
        if self.counted is None:
            self.parts += other.parts
            return
        for _, leaves in other.parts:
            self._count(leaves)
        for path, counted in (other.counted or {}).items():
            self.counted.setdefault(path, Counted()).merge(counted)

    def drop_rows(self) -> None:
        """Count the values by rounded confidence, and forget their documents."""
        if self.counted is None:
            self._made.clear()
            self.counted, parts, self.parts = {}, self.parts, []
            for _, leaves in parts:
                self._count(leaves)

    def _count(self, leaves: Leaves) -> None:
        into = self.counted if self.counted is not None else {}
        for path, which in _by_field(leaves).items():
            some = leaves.among(which)
            mine = into.setdefault(path, Counted())
            mine.documents += len(np.unique(some.document))
            thousandths = np.rint(some.confidence * _THOUSAND).astype(np.intp)
            mine.right.update(thousandths[some.right].tolist())
            mine.wrong.update(thousandths[~some.right].tolist())

    def by_field(self) -> dict[str, Units]:
        """Return the units of each field, by its path, and of whole documents for ""."""
        found: dict[str, Units] = self._once("units", self._units)
        return found

    def view(self, path: str, leaves: int, settings: IntervalSettings | None) -> dict[str, Any]:
        """Return the figures of a field, or of all for "", as the run format shows them.

        `leaves` are those of the predictions, with a confidence or without.
        """
        units = self.by_field()[path]
        key = path, leaves, settings
        found: dict[str, Any] = self._once(key, lambda: _view(units, leaves, settings))
        return found

    def _once(self, key: object, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _units(self) -> dict[str, Units]:
        if self.counted is not None:
            fields = {"": Counted(), **self.counted}
            return {path: counted.units() for path, counted in sorted(fields.items())}
        return units_of_fields(self.parts)

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the record of each document that has any, with its id."""
        for documents, leaves in self.parts:
            for name, record in zip(documents, leaves.records(len(documents)), strict=True):
                if record:
                    yield name, record

    def __bool__(self) -> bool:
        return bool(self.parts or self.counted)


def units_of_fields(parts: Iterable[tuple[Sequence[str], Leaves]]) -> dict[str, Units]:
    """Return the units of each field, by its path, and of whole documents for "".

    Each part is the ids of some documents, and their values.
    """
    known = [*parts]
    before = np.cumsum([0, *(len(documents) for documents, _ in known)])
    leaves = joined(zip((leaves for _, leaves in known), before.tolist()[:-1], strict=True))
    nothing = np.zeros(0, np.intp)
    if leaves is None:
        return {"": Units([], nothing, np.zeros(0), np.zeros(0, np.bool_))}
    names = [name for documents, _ in known for name in documents]
    having = np.unique(leaves.document).tolist()
    having.sort(key=names.__getitem__)
    ranks = np.zeros(len(names), np.intp)
    ranks[having] = np.arange(len(having))
    ranked = leaves.placed(ranks[leaves.document]).in_order()
    documents = [names[at] for at in having]
    return {
        path: Units(documents, ranked.document[at], ranked.confidence[at], ranked.right[at])
        for path, at in sorted(_by_field(ranked).items())
    }


def _by_field(leaves: Leaves) -> dict[str, Indexes]:
    """Return which values are of each field, by its path, and of whole documents for ""."""
    found = {field_path(leaves.paths[at]): which for at, which in group_positions(leaves.field)}
    return {**found, "": np.arange(len(leaves))}


def counted_view(by_field: Mapping[str, Counted]) -> dict[str, object]:
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


def read_counted(record: Mapping[str, Any]) -> dict[str, Counted]:
    """Return the values that a record tells of."""

    def side(values: Mapping[str, int]) -> Counter[int]:
        return Counter({round(float(it) * _THOUSAND): times for it, times in values.items()})

    return {
        path: Counted(side(it.get("right", {})), side(it.get("wrong", {})), it["documents"])
        for path, it in record.items()
    }


def _view(units: Units, leaves: int, settings: IntervalSettings | None) -> dict[str, Any]:
    known = units.reliability()
    total, wrong = int(known.total[0]), int(known.errors[0])
    shown: dict[str, Any] = {
        "units": total,
        "right": total - wrong,
        "documents": units.held or len(np.unique(units.document)),
        "coverage": total / leaves if leaves else None,
        **confidence_view(known),
        "bins": [it.view() for it in known.bins()],
    }
    if settings is None or units.times is not None or shown["documents"] < FEWEST:
        return shown
    if len(units.right) > _MANY:
        units = units._replace(confidence=np.round(units.confidence, _DIGITS))
    size = len(units.right)
    members, document = np.unique(units.document, return_inverse=True)

    def figures(drawn: Floats) -> Floats:
        of = reliability(units.confidence, units.right, document, drawn)
        return np.concatenate([np.stack([*of.figures().values()]), of.shares()])

    replicated = resample(
        [units.documents[it] for it in members],
        figures,
        settings,
        size=size,
        replicates=min(REPLICATES, max(_LEAST_REPLICATES, _MOST_CELLS // size)),
    )
    ends = [percentiles(row[1:], settings.level) for row in replicated]
    names = [*known.figures()]
    shown["intervals"] = {name: [*it] for name, it in zip(names, ends, strict=False) if it}
    for entry, it in zip(shown["bins"], ends[len(names) :], strict=True):
        if it:
            entry["interval"] = [*it]
    return shown
