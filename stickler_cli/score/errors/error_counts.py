"""How many mistakes there were of each kind, in each field: integers that add in any order."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final, TypeAlias

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from .error_classes import ErrorClass
from .non_matches import PlainErrors, WrongUnit

ByClass: TypeAlias = Counter[ErrorClass]  # without those that do not occur

_ORDER: Final = {each: place for place, each in enumerate(ErrorClass)}


@dataclass(slots=True)
class ErrorCounts:
    """The errors of a set of documents, by field and class."""

    fields: dict[Path, ByClass] = field(default_factory=dict)
    """Wrong values, by the path of the field, without list indexes; only fields that have any."""
    units: dict[Path, ByClass] = field(default_factory=dict)
    """Likewise list items and objects that failed as a whole; their values count in `fields`."""

    def add(
        self,
        errors: Iterable[WrongUnit],
        plain: Iterable[PlainErrors],
        some: Mask | None = None,
    ) -> None:
        """Count errors; of those that are plain, all or those of some documents."""
        for error in errors:
            counts, names = self.fields if error.values is None else self.units, error.unit.names
            if names not in counts:
                counts[names] = Counter()
            counts[names][error.error_class] += 1
        for visit, error_class, pairs in plain:
            number = len(pairs)
            if some is not None:
                number = int(np.count_nonzero(some[visit.documents[pairs]]))
            if number:
                self.fields.setdefault(visit.field.path, Counter())[error_class] += number

    def merge(self, other: "ErrorCounts") -> None:
        """Add the errors of other documents; the order of merging makes no difference."""
        for mine, its in ((self.fields, other.fields), (self.units, other.units)):
            for path, counts in its.items():
                if path in mine:
                    mine[path].update(counts)
                else:
                    mine[path] = Counter(counts)

    def at(self, path: Path) -> ByClass:
        """Return the classes of all errors of a field, of values as of what failed as a whole."""
        return self.fields.get(path, Counter()) + self.units.get(path, Counter())

    def overall(self) -> ByClass:
        """Return the classes of all wrong values together, the most frequent first."""
        return overall(self.fields)

    def view(self) -> dict[str, object]:
        """Return the counts as the run format has them; equal counts give equal bytes."""
        return {**_view(self.fields), "units": _view(self.units)}


def overall(fields: Mapping[Path, ByClass]) -> ByClass:
    """Return the counts of all fields together, the most frequent class first."""
    total: ByClass = Counter()
    for counts in fields.values():
        for error_class, count in counts.items():
            total[error_class] += count
    return ordered(total)


def ordered(counts: ByClass) -> ByClass:
    """Return counts sorted, the greatest first; equal ones in the order of the classes.

    >>> list(ordered(Counter([ErrorClass.OTHER, ErrorClass.FORMAT, ErrorClass.OTHER])).values())
    [2, 1]
    """
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], _ORDER[entry[0]]))
    return Counter(dict(ranked))


def _view(fields: Mapping[Path, ByClass]) -> dict[str, object]:
    total = overall(fields)
    by_field = {field_path(path): _by_class(fields[path]) for path in sorted(fields)}
    return {"total": total.total(), "overall": _by_class(total), "fields": by_field}


def _by_class(counts: ByClass) -> dict[str, int]:
    return {each.value: counts[each] for each in sorted(counts, key=_ORDER.__getitem__)}
