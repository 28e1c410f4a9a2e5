"""The values of a run that have a confidence: kept by document, added up in any order.

Where a run keeps no rows of documents, they are counted by rounded confidence: a fixed size.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.outcomes import Floats
from stickler_cli.core.json_values import json_line
from stickler_cli.core.rules import KEPT
from stickler_cli.core.values import dataclass
from .accounts import decoded
from .confidence import Reliability, confidence_view, reliability
from .intervals import Interval, IntervalSettings
from .resampling import UNIT, weights

_CELLS_AT_ONCE: Final = 4_000_000  # units times replicates: 32 MB an array
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

    lines: list[tuple[str, bytes]] = field(default_factory=list)
    """Id of each document that has any, and what `FieldCounts.confidences` says of it, encoded."""
    counted: dict[str, Counted] | None = None
    """Instead of the lines, the values by the path of their field; None where lines are kept."""
    _made: dict[object, Any] = field(init=False, repr=False, compare=False, metadata={KEPT: False})
    """What was made of these documents: it takes its time, and several ask for it."""

    def __post_init__(self) -> None:
        self._made = {}

    def add(self, document: str, record: Mapping[str, Any]) -> None:
        """Add a document that has any."""
        self._made.clear()
        if self.counted is None:
            self.lines.append((document, json_line(record)))
        else:
            self._count(record)

    def merge(self, other: "Confidences") -> None:
        """Add the documents of others; they are only counted where those of either side are."""
        self._made.clear()
        if other.counted is not None:
            self.drop_lines()
        if self.counted is None:
            self.lines += other.lines
            return
        for _, line in other.lines:
            self._count(decoded(line))
        for path, counted in (other.counted or {}).items():
            self.counted.setdefault(path, Counted()).merge(counted)

    def drop_lines(self) -> None:
        """Count the values by rounded confidence, and forget their documents."""
        if self.counted is None:
            self._made.clear()
            self.counted, lines, self.lines = {}, self.lines, []
            for _, line in lines:
                self._count(decoded(line))

    def _count(self, record: Mapping[str, Any]) -> None:
        found: dict[str, Counted] = {}
        into = self.counted if self.counted is not None else {}
        for path, right, confidences in entries(record):
            for place in {path, ""}:  # one where documents are lists
                mine = found.setdefault(place, Counted(documents=1))
                side = mine.right if right else mine.wrong
                side.update(round(it * _THOUSAND) for it in confidences)
        for place, counted in found.items():
            into.setdefault(place, Counted()).merge(counted)

    def by_field(self) -> dict[str, Units]:
        """Return the units of each field, by its path, and of whole documents for ""."""
        found: dict[str, Units] = self._once("units", self._units)
        return found

    def view(self, path: str, leaves: int, settings: IntervalSettings | None) -> dict[str, Any]:
        """Return what those of a field come to, or all for "", as the run format shows it.

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
        lines = sorted(self.lines)
        documents = [name for name, _ in lines]
        found: dict[str, list[tuple[int, float, bool]]] = {"": []}
        for at, (_, line) in enumerate(lines):
            for path, right, confidences in entries(decoded(line)):
                known = [(at, confidence, right) for confidence in confidences]
                found.setdefault(path, []).extend(known)
                if path:  # else documents are lists of values, and the field is all
                    found[""] += known
        return {
            path: Units(
                documents,
                np.array([it[0] for it in units], np.intp),
                np.array([it[1] for it in units], np.float64),
                np.array([it[2] for it in units], np.bool_),
            )
            for path, units in sorted(found.items())
        }

    def __bool__(self) -> bool:
        return bool(self.lines or self.counted)


def entries(record: Mapping[str, Any]) -> Iterator[tuple[str, bool, list[float]]]:
    """Yield path, whether it is right, and confidences."""
    for right, side in ((True, "right"), (False, "wrong")):
        for path, confidences in record.get(side, {}).items():
            yield path, right, confidences


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
        "bins": [it._asdict() for it in known.bins()],
    }
    if settings is None or units.times is not None or shown["documents"] < FEWEST:
        return shown
    if len(units.right) > _MANY:
        units = units._replace(confidence=np.round(units.confidence, _DIGITS))
    replicated, shares = _replicates(units, settings)
    found = {name: percentiles(values, settings.level) for name, values in replicated.items()}
    shown["intervals"] = {name: [*ends] for name, ends in found.items() if ends}
    for entry, values in zip(shown["bins"], shares, strict=True):
        if ends := percentiles(values, settings.level):
            entry["interval"] = [*ends]
    return shown


def _replicates(units: Units, settings: IntervalSettings) -> tuple[dict[str, Floats], Floats]:
    """Return the figures in each replicate, and the shares right of bins, (bins, replicates)."""
    size = len(units.right)
    members, document = np.unique(units.document, return_inverse=True)
    drawn = weights([units.documents[it] for it in members], settings)[:, 1:] / UNIT
    drawn = drawn[:, : max(_LEAST_REPLICATES, _MOST_CELLS // max(size, 1))]
    step = max(1, _CELLS_AT_ONCE // max(size, 1))
    figures: list[dict[str, Floats]] = []
    shares: list[Floats] = []
    for start in range(0, drawn.shape[1], step):
        part = drawn[:, start : start + step]
        replicates = reliability(units.confidence, units.right, document, part)
        figures.append(replicates.figures())
        shares.append(replicates.shares())
    names = figures[0]
    return (
        {name: np.concatenate([part[name] for part in figures]) for name in names},
        np.concatenate(shares, axis=1),
    )


def percentiles(values: Floats, level: float) -> Interval | None:
    """Return the interval between percentiles of replicates; None if some are undefined."""
    if np.isnan(values).any():
        return None
    tail = (1 - level) / 2
    return Interval(*np.quantile(values, [tail, 1 - tail]).tolist())
