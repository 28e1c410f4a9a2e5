"""The work of a comparison, counted in steps before they are made: documents are not trusted.

A step is about a nanosecond of a common machine, but counted, so that a limit refuses the same
documents on any machine. Several documents together never take less than one of them alone: if
they were compared within a limit, each of them keeps to it.
"""

from typing import Final

from stickler_cli.core.json_values import Absence
from stickler_cli.core.problems import RoomLimitError, WorkLimitError

STEPS_OF_UNIT: Final = 1_000_000_000
"""Steps of a unit of work, in which limits are given: about a second."""

CALL_STEPS: Final = 50_000
"""Steps of a node that compares any number of pairs: some fifty small calls of numpy."""
PAIR_STEPS: Final = 200
"""Steps of each pair beside those of its comparator."""
VALUE_STEPS: Final = 100
"""Steps to find a value in its document."""
PREPARED_STEPS: Final = 2_000
"""Steps of a value that a comparator reads, and as many for each hundred letters."""
UNDECLARED_STEPS: Final = 20_000
"""Steps of a key that nothing declares: an error of its own."""
NAME_STEPS: Final = 300_000
"""Steps of a key that only the documents name: a field of its own, in counts and reports, and
perhaps others inside its values."""


MAX_RESERVED_BYTES: Final = 1 << 30
"""Bytes that pairs of lists inside list items may take at once: a fraction of the memory of a
process. Each inner list is compared with those of many items."""
MIN_STEPS_BY_FIELD: Final = 1_000_000
"""Steps of one call for several fields from which they are counted field by field."""


class TooMuchAtOnceError(BaseException):
    """A signal of the engine to its executor: this work belongs in a process that can be killed.

    No `except Exception` around code of others may take it for a fault of that code.
    """


class Work:
    """The steps of one call of the engine."""

    def __init__(
        self,
        limit: float | None = None,
        at_once: float | None = None,
        *,
        has_ignored_values: bool = False,
    ) -> None:
        """Begin to count. Limits are in units; None is no limit.

        `at_once` is the limit of steps between two looks at signals, `has_ignored_values` comes
        from the plan.
        """
        self.has_ignored_values = has_ignored_values
        self.limit = limit
        self.steps_left, self.max_steps_at_once = _steps(limit), _steps(at_once)
        self.bytes_left = MAX_RESERVED_BYTES
        self.steps_by_path: dict[tuple[str, ...], list[int]] = {}
        """The steps of each field, in a list of one that all its `FieldWork` share."""
        self.absence = Absence()

    def field_work(self, path: tuple[str, ...] = ()) -> "FieldWork":
        """Return the work of a field; its path has no list indexes."""
        return FieldWork(self, path, steps=self.steps_by_path.setdefault(path, [0]))


class FieldWork:
    """The work of one field, or of some fields of an object that are compared together."""

    __slots__ = ("_steps", "_work", "absence", "has_ignored_values", "names", "path")

    def __init__(
        self, work: Work, path: tuple[str, ...], *, steps: list[int], names: tuple[str, ...] = ()
    ) -> None:
        """Take the list of one with the steps of a field; `names` are fields below it."""
        self._work, self.path, self._steps = work, path, steps
        self.names = names
        """The names of fields that are compared together; empty for a single field."""
        self.absence = work.absence
        """The test of absent values, one for all fields."""
        self.has_ignored_values = work.has_ignored_values
        """Whether other values may count as absent, too, or are ignored."""

    def of_field(self, name: str) -> "FieldWork":
        """Return the work of a field of the objects of this field."""
        return self._work.field_work((*self.path, name))

    def of_fields(self, names: tuple[str, ...]) -> "FieldWork":
        """Return the work of some fields of the objects here; small amounts count as of here."""
        return FieldWork(self._work, self.path, steps=self._steps, names=names)

    def charge(self, steps: int) -> None:
        """Count steps that are about to be made.

        Raises:
            WorkLimitError: they are more than are left.
            TooMuchAtOnceError: they are more than may be made without a look at signals.
        """
        work = self._work
        self._steps[0] += steps
        work.steps_left -= steps
        if work.steps_left < 0:
            most_expensive = max(work.steps_by_path, key=lambda path: work.steps_by_path[path][0])
            raise WorkLimitError(work.limit or 0, most_expensive)
        if steps > work.max_steps_at_once:
            raise TooMuchAtOnceError

    def reserve(self, n_bytes: int) -> None:
        """Count bytes that are kept for the values here; a negative number releases bytes.

        Raises:
            RoomLimitError: they are more than documents may take.
        """
        self._work.bytes_left -= n_bytes
        if self._work.bytes_left < 0:
            raise RoomLimitError(MAX_RESERVED_BYTES, self.path)

    def check(self, steps: int) -> None:
        """Raise a `WorkLimitError` now if so many steps will be too many."""
        if steps > self._work.steps_left:
            self.charge(steps)


def _steps(units: float | None) -> float:
    """Return units of work in steps; infinite for None."""
    return float("inf") if units is None else units * STEPS_OF_UNIT
