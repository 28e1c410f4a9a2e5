"""The work of a comparison, counted in steps before they are made: documents are not trusted.

A step is about a nanosecond of a common machine, but counted, so that what a limit refuses is the
same on any. What documents take together is never less than what one of them takes alone: who has
compared several within a limit knows that each keeps to it.
"""

from typing import Final

from stickler_cli.core.json_values import Absence
from stickler_cli.core.problems import RoomLimitError, WorkLimitError

STEPS_OF_UNIT: Final = 1_000_000_000
"""Steps of a unit of work, in which limits are given: about a second."""

CALL: Final = 50_000
"""Steps of a node that compares any number of pairs: some fifty small calls of numpy."""
PAIR: Final = 200
"""Steps of each pair beside what its comparator does."""
VALUE: Final = 100
"""Steps of a value to be found in its document."""
PREPARED: Final = 2_000
"""Steps of a value that a comparator reads, and as many for each hundred letters."""
UNDECLARED: Final = 20_000
"""Steps of a key that nothing declares: an error of its own."""
NAME: Final = 300_000
"""Steps of a key that only the documents name: a field of its own, in counts and reports, and
perhaps others inside its values."""


MOST_KEPT: Final = 1 << 30
"""Bytes that may be kept at once of lists in lists, of which each is met with many: a fraction of
what a process may have."""
NOTICED: Final = 1_000_000
"""Steps of one call for several fields from which they are counted field by field."""


class TooMuchAtOnceError(BaseException):
    """A signal of the engine to its executor: this work belongs in a process that can be killed.

    No `except Exception` around code of others may take it for a fault of that code.
    """


class Work:
    """The steps of one call of the engine."""

    def __init__(
        self, limit: float | None = None, at_once: float | None = None, *, hides: bool = False
    ) -> None:
        """Begin to count; limits are in units, None for none.

        `at_once` is what may be done between two looks at signals, `hides` is the plan's.
        """
        self.hides = hides
        self.limit = limit
        self.left, self.at_once = _steps(limit), _steps(at_once)
        self.room = MOST_KEPT
        self.places: dict[tuple[str, ...], list[int]] = {}
        self.absence = Absence()

    def place(self, path: tuple[str, ...] = ()) -> "Place":
        """Return a place where work is done; its path has no list indexes."""
        return Place(self, path, self.places.setdefault(path, [0]))


class Place:
    """Where work is done."""

    __slots__ = ("_steps", "_work", "absence", "hides", "names", "path")

    def __init__(
        self, work: Work, path: tuple[str, ...], steps: list[int], names: tuple[str, ...] = ()
    ) -> None:
        self._work, self.path, self._steps, self.names = work, path, steps, names
        self.absence = work.absence
        """What tells values that are nothing, one for all places."""
        self.hides = work.hides
        """Whether others may count as nothing, too."""

    def below(self, name: str) -> "Place":
        """Return the place of a field of the objects here."""
        return self._work.place((*self.path, name))

    def of_fields(self, names: tuple[str, ...]) -> "Place":
        """Return the place of some fields of the objects here; what is little counts as here."""
        return Place(self._work, self.path, self._steps, names)

    def charge(self, steps: int) -> None:
        """Count steps that are about to be made here.

        Raises:
            WorkLimitError: they are more than are left.
            TooMuchAtOnceError: they are more than may be made without a look at signals.
        """
        work = self._work
        self._steps[0] += steps
        work.left -= steps
        if work.left < 0:
            most = max(work.places, key=lambda path: work.places[path][0])
            raise WorkLimitError(work.limit or 0, most)
        if steps > work.at_once:
            raise TooMuchAtOnceError

    def keep(self, size: int) -> None:
        """Count bytes that are kept of the values here; below 0, bytes that no longer are.

        Raises:
            RoomLimitError: they are more than documents may take.
        """
        self._work.room -= size
        if self._work.room < 0:
            raise RoomLimitError(MOST_KEPT, self.path)

    def check(self, steps: int) -> None:
        """Raise a `WorkLimitError` now where so many steps here will be too many."""
        if steps > self._work.left:
            self.charge(steps)


def _steps(units: float | None) -> float:
    return float("inf") if units is None else units * STEPS_OF_UNIT
