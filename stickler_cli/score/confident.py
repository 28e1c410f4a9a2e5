"""The values of a run that have a confidence: kept by document, added up in any order."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.outcomes import Floats
from stickler_cli.core.json_values import json_line
from stickler_cli.core.values import dataclass
from .accounts import decoded
from .confidence import confidence_view, reliability
from .field_counts import APART
from .intervals import UNIT, Interval, IntervalSettings, weights

_CELLS_AT_ONCE: Final = 4_000_000  # units times replicates: 32 MB an array
_MOST_CELLS: Final = 400_000_000  # beyond it there are fewer replicates, but not below the least
_LEAST_REPLICATES: Final = 200
FEWEST: Final = 5
"""Documents below which their differences say too little for intervals."""
_MANY: Final = 5_000
"""Units beyond which replicates are made of rounded confidences, as few distinct ones are fast."""
_DIGITS: Final = 3


class Units(NamedTuple):
    """Values that have a confidence, each an entry of all arrays, (units,)."""

    documents: list[str]
    """The ids of those that have any, sorted."""
    document: Indexes
    """The position of its document."""
    confidence: Floats
    right: Mask

    def among(self, which: Indexes | Mask) -> "Units":
        """Return some of the units."""
        confidence, right = self.confidence[which], self.right[which]
        return Units(self.documents, self.document[which], confidence, right)


@dataclass(slots=True)
class Confidences:
    """The values with a confidence of some documents."""

    lines: list[tuple[str, bytes]] = field(default_factory=list)
    """Id of each document that has any, and what `FieldCounts.confidences` says of it, encoded."""

    def add(self, document: str, record: Mapping[str, Any]) -> None:
        """Add a document that has any."""
        self.lines.append((document, json_line(record)))

    def merge(self, other: "Confidences") -> None:
        """Add the documents of others."""
        self.lines += other.lines

    def by_field(self) -> dict[str, Units]:
        """Return the units of each field, by its path, and of whole documents for ""."""
        lines = sorted(self.lines)
        documents = [name for name, _ in lines]
        found: dict[str, list[tuple[int, float, bool]]] = {"": []}
        for at, (_, line) in enumerate(lines):
            for path, counted, right, confidences in entries(decoded(line)):
                known = [(at, confidence, right) for confidence in confidences]
                found.setdefault(path, []).extend(known)
                if counted and path:  # else documents are lists of values, and the field is all
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

    def __len__(self) -> int:
        return len(self.lines)


def entries(record: Mapping[str, Any]) -> Iterator[tuple[str, bool, bool, list[float]]]:
    """Yield path, whether whole documents include it, whether it is right, and confidences."""
    for counted, part in ((True, record), (False, record.get(APART, {}))):
        for right, side in ((True, "right"), (False, "wrong")):
            for path, confidences in part.get(side, {}).items():
                yield path, counted, right, confidences


def units_view(units: Units, leaves: int, settings: IntervalSettings | None) -> dict[str, Any]:
    """Return what confidences come to as the run format shows it.

    `leaves` are those of the predictions, with a confidence or without.
    """
    known = reliability(units.confidence, units.right)
    shown: dict[str, Any] = {
        "units": len(units.right),
        "right": int(units.right.sum()),
        "documents": len(np.unique(units.document)),
        "coverage": len(units.right) / leaves if leaves else None,
        **confidence_view(known),
        "bins": [it._asdict() for it in known.bins()],
    }
    if settings is None or shown["documents"] < FEWEST:
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
