"""The work of a comparison, counted in steps.

A step takes about a nanosecond on a common machine. Steps are counted before they are done, because
a malicious document could cause endless work. Steps are counted instead of timed, so that a limit
rejects the same documents on any machine. Comparing several documents together never takes less
work than comparing one of them alone. Therefore, if the documents together stay within a limit,
each single document stays within the limit.
"""

from typing import Final

from stickler_cli.core.json_values import Absence
from stickler_cli.core.problems import RoomLimitError, WorkLimitError

STEPS_OF_UNIT: Final = 1_000_000_000
"""Number of steps in one unit of work, which takes about a second. Limits are stated in these
units."""

CALL_STEPS: Final = 50_000
"""Fixed cost of one call of a node, in steps. It does not depend on the number of pairs, and is
about the cost of fifty small calls of numpy."""
PAIR_STEPS: Final = 200
"""Steps of each pair of values, in addition to the work of its comparator."""
VALUE_STEPS: Final = 100
"""Work that is charged for each value, because it must be found in its document, in steps."""
PREPARED_STEPS: Final = 2_000
"""Number of steps that count for preparing a value for a comparator. The same number of steps is
added for each hundred letters of the value. For a long text, the comparator states the number of
steps for each letter instead."""
UNDECLARED_STEPS: Final = 20_000
"""Number of steps that count for each key of an object that the schema does not declare. In a
prediction, such a key is an error of its own."""
NAME_STEPS: Final = 300_000
"""Number of steps that count for each key that documents have but the schema does not name, such as
a key of a map. The key becomes a field of its own in counts and reports, and its value may contain
further fields."""
DECLARED_STEPS: Final = 100_000
"""Number of steps that count for each declared field inside the value of a map key. For example, if
the values of a map are objects with two declared fields, 100 keys take this number of steps 200
times. The steps are counted even if an object lacks the field, because the field appears in counts
and reports anyway."""


MAX_RESERVED_BYTES: Final = 1 << 29
"""Maximum number of bytes that may be reserved for pairing list items. The limit is needed mainly
for lists inside list items, because each inner list is compared with the inner lists of many
items."""
MIN_STEPS_BY_FIELD: Final = 1_000_000
"""One call can compare several fields. If the call takes more than this number of steps, the steps
of each field are counted separately."""


class TooMuchAtOnceError(BaseException):
    """Signals to an executor that this work belongs in a process that can be killed.

    It is no `Exception`. Otherwise, a handler around foreign code might take it for a fault of that
    code.
    """


class Work:
    """Counts the work of one call of the engine in steps, and holds the limits of this work."""

    def __init__(
        self,
        limit: float | None = None,
        at_once: float | None = None,
        *,
        has_ignored_values: bool = False,
    ) -> None:
        """Begin to count. Limits are in units of work; None is no limit.

        `at_once` is the limit of work between two checks for signals. `has_ignored_values` tells
        whether values may be ignored, or present values may count as absent.
        """
        self.has_ignored_values = has_ignored_values
        self.limit = limit
        self.steps_left, self.max_steps_at_once = _steps(limit), _steps(at_once)
        self.bytes_left = MAX_RESERVED_BYTES
        self.steps_by_path: dict[tuple[str, ...], list[int]] = {}
        """The steps of each field, in a list with one number. All `FieldWork` of the field share
        this list."""
        self.absence = Absence()

    def field_work(self, path: tuple[str, ...] = ()) -> "FieldWork":
        """Return the work of a field, given its path without list indexes."""
        return FieldWork(self, path, steps=self.steps_by_path.setdefault(path, [0]))


class FieldWork:
    """The work of one field, or of several fields of an object that are compared together."""

    __slots__ = ("_steps", "_work", "absence", "has_ignored_values", "names", "path")

    def __init__(
        self, work: Work, path: tuple[str, ...], *, steps: list[int], names: tuple[str, ...] = ()
    ) -> None:
        """Begin to count the steps of a field, in the list `steps`.

        The list has one number. All objects for the same field share the list. `names` are the
        names of fields that are compared together.
        """
        self._work, self.path, self._steps = work, path, steps
        self.names = names
        """The names of fields that are compared together; empty for a single field."""
        self.absence = work.absence
        """The function that tells whether a value is absent; all fields share it."""
        self.has_ignored_values = work.has_ignored_values
        """Whether values may be ignored, or present values may count as absent."""

    def of_field(self, name: str) -> "FieldWork":
        """Return the work of a field inside this field."""
        return self._work.field_work((*self.path, name))

    def of_fields(self, names: tuple[str, ...]) -> "FieldWork":
        """Return the work of several fields inside this field.

        Their steps are charged to this field.
        """
        return FieldWork(self._work, self.path, steps=self._steps, names=names)

    def charge(self, steps: int) -> None:
        """Count steps that are about to be done.

        Raises:
            WorkLimitError: more steps than are left.
            TooMuchAtOnceError: more steps than may be done without checking for signals.
        """
        work = self._work
        self._steps[0] += steps
        work.steps_left -= steps
        if work.steps_left < 0:
            most_expensive = max(work.steps_by_path, key=lambda path: work.steps_by_path[path][0])
            raise WorkLimitError(work.limit or 0, most_expensive)
        if steps > work.max_steps_at_once:
            raise TooMuchAtOnceError

    def reserve(self, n_bytes: int, *, of_nested_lists: bool = True) -> None:
        """Count bytes that values of this field will take. A negative number releases bytes.

        `of_nested_lists` says whether an error is about lists inside lists, or about one list.

        Raises:
            RoomLimitError: documents would take more bytes than they may.
        """
        self._work.bytes_left -= n_bytes
        if self._work.bytes_left < 0:
            raise RoomLimitError(MAX_RESERVED_BYTES, self.path, of_nested_lists=of_nested_lists)

    def check(self, steps: int) -> None:
        """Raise `WorkLimitError` now if a later charge of `steps` would exceed the limit."""
        if steps > self._work.steps_left:
            self.charge(steps)


def _steps(units: float | None) -> float:
    """Convert units of work to steps. None, which means no limit, becomes infinity."""
    return float("inf") if units is None else units * STEPS_OF_UNIT
