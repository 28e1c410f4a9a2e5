"""How many mistakes there were of each kind, in each field: integers that add in any order."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias

from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from .error_classes import ErrorClass

ByClass: TypeAlias = Counter[ErrorClass]  # without those that do not occur


@dataclass(slots=True)
class ErrorCounts:
    """The non-matches of a set of documents, by field and class."""

    fields: dict[Path, ByClass] = field(default_factory=dict)
    """By the path of the field, without list indexes; only fields that have errors."""

    def update(self, errors: Iterable[tuple[Path, ErrorClass]]) -> None:
        """Count the errors of a document: the field of each, and its class."""
        for path, error_class in errors:
            self.fields.setdefault(path, Counter())[error_class] += 1

    def merge(self, other: "ErrorCounts") -> None:
        """Add the errors of other documents; the order of merging makes no difference."""
        for path, counts in other.fields.items():
            self.fields.setdefault(path, Counter()).update(counts)

    def overall(self) -> ByClass:
        """Return the counts of all fields together, the most frequent class first."""
        total: ByClass = Counter()
        for counts in self.fields.values():
            total.update(counts)
        return ordered(total)

    def view(self) -> dict[str, object]:
        """Return the counts as the run format has them; equal counts give equal bytes."""
        overall = self.overall()
        return {
            "total": sum(overall.values()),
            "overall": _view(overall),
            "fields": {field_path(path): _view(self.fields[path]) for path in sorted(self.fields)},
        }


def ordered(counts: ByClass) -> ByClass:
    """Return counts sorted, the greatest first; equal ones in the order of the classes.

    >>> list(ordered(Counter([ErrorClass.OTHER, ErrorClass.FORMAT, ErrorClass.OTHER])).values())
    [2, 1]
    """
    order = list(ErrorClass)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], order.index(entry[0])))
    return Counter(dict(ranked))


def _view(counts: ByClass) -> dict[str, int]:
    return {each.value: counts[each] for each in ErrorClass if each in counts}
