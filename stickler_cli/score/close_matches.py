"""Count values that match although they differ from the ground truth.

There is a count for each field and each kind of difference. The order in which documents are added
does not matter: counts are sums, and the examples come from the documents with the lowest ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeAlias

import numpy as np

from stickler_cli.compare.close_values import find_close_values
from stickler_cli.compare.columns import Mask
from stickler_cli.compare.units import UnitBatch, UnitTable
from stickler_cli.core.json_values import cut_end
from stickler_cli.core.locations import field_path
from stickler_cli.core.match_differences import DifferenceKind, MatchDifference
from .errors.located_units import LocatedUnit, field_pattern, units_at

if TYPE_CHECKING:
    from .batch import Batch

MAX_EXAMPLES: Final = 2
"""Maximum number of examples for each field and difference."""
MAX_FIELD_DIFFERENCES: Final = 1_000
"""Maximum number of (field, difference) pairs that are counted. There must be a limit because
recursive documents may have any number of fields."""
MAX_EXAMPLE_LETTERS: Final = 60
"""Maximum length of a text in an example, in characters."""


class CloseExample(NamedTuple):
    """A value that matches although it differs from the ground truth."""

    document: str
    """Id of the document."""
    path: str
    """Path of the value in the ground truth."""
    gt: str
    """The part of the ground truth that differs, cut to 60 characters; empty if the difference is a
    word that only the prediction has."""
    pred: str
    """The part of the prediction that differs, cut to 60 characters; empty if the difference is a
    word that only the ground truth has."""


FieldDifference: TypeAlias = tuple[tuple[str, ...], DifferenceKind]
"""A field path, in which `*` stands for the keys of maps, and a kind of difference between
values."""


@dataclass(slots=True)
class CloseValues:
    """How many values of one field have one kind of difference, with examples.

    The examples come from the documents with the lowest ids.
    """

    count: int = 0
    examples: list[CloseExample] = field(default_factory=list)

    def add(self, count: int, examples: list[CloseExample]) -> None:
        """Add `count` to the number of values, and add examples of these values.

        Of all examples, only the `MAX_EXAMPLES` from the documents with the lowest ids are kept.
        """
        self.count += count
        self.examples = sorted({*self.examples, *examples})[:MAX_EXAMPLES]


@dataclass(slots=True)
class CloseMatches:
    """Counts of values that match although they differ from the ground truth.

    There is a count for each field and each kind of difference.
    """

    by_field: dict[FieldDifference, CloseValues] = field(default_factory=dict)

    def add(self, batch: "Batch", selected: Mask | None) -> None:
        """Add all documents of a batch.

        `selected` marks the documents of a group. It is ignored because these counts are not made
        for groups.
        """
        ids = batch.compared_ids
        for unit_batch, close in find_close_values(batch.table):
            self._add_units(batch.table, unit_batch, close, ids)
        self._bound_fields()

    def _add_units(
        self,
        table: UnitTable,
        batch: UnitBatch,
        close: Mapping[int, MatchDifference],
        ids: list[str],
    ) -> None:
        positions_by_key: dict[FieldDifference, list[int]] = {}
        for position, difference in close.items():
            key = field_pattern(table, batch, position), difference.difference
            positions_by_key.setdefault(key, []).append(position)
        for key, positions in positions_by_key.items():
            # Locate only values of the first documents, which can be examples: locating is slow.
            id_by_position = {position: ids[batch.document[position]] for position in positions}
            last_ids = nsmallest(MAX_EXAMPLES, id_by_position.values())
            first = [position for position in positions if id_by_position[position] <= last_ids[-1]]
            units = units_at(table, batch, np.array(first))
            examples = [
                _make_example(id_by_position[unit.position], unit, close[unit.position])
                for unit in units
            ]
            self.by_field.setdefault(key, CloseValues()).add(len(positions), examples)

    def merge(self, other: Self) -> None:
        """Add the counts and examples of another statistic, which was made from other documents."""
        for key, values in other.by_field.items():
            self.by_field.setdefault(key, CloseValues()).add(values.count, values.examples)
        self._bound_fields()

    def _bound_fields(self) -> None:
        """Keep only the first `MAX_FIELD_DIFFERENCES` pairs (field, difference), in sorted order.

        This is done whenever documents are added. Their order does not matter: a pair that is among
        the first pairs of all documents is also among the first pairs of any part of them.
        """
        if len(self.by_field) > MAX_FIELD_DIFFERENCES:
            kept = nsmallest(MAX_FIELD_DIFFERENCES, self.by_field)
            self.by_field = {key: self.by_field[key] for key in kept}

    def view(self, settings: object = None) -> Mapping[str, Any]:
        """Return the counts as they are written to a run file, sorted by field.

        Empty if no value was counted.
        """
        records = [
            {
                "field": field_path(path),
                "difference": difference,
                "count": close_values.count,
                "examples": [example._asdict() for example in close_values.examples],
            }
            for (path, difference), close_values in sorted(
                self.by_field.items(), key=lambda item: item[0]
            )
        ]
        return {"close_matches": records} if records else {}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the counts from the record of a run file."""
        for entry in record.get("close_matches", ()):
            key = tuple(map(str, entry["field"])), entry["difference"]
            examples = [CloseExample(**example) for example in entry["examples"]]
            self.by_field[key] = CloseValues(entry["count"], examples)


def _make_example(document: str, unit: LocatedUnit, difference: MatchDifference) -> CloseExample:
    gt, pred = (cut_end(text, MAX_EXAMPLE_LETTERS) for text in (difference.gt, difference.pred))
    return CloseExample(document, field_path(unit.path), gt, pred)
