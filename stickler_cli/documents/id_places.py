"""Where ids stand in a source: of many on disk, so that memory does not grow with their number."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

FEW: Final = 50_000
"""Ids that are held in memory, some 10 MB."""

_MAKE: Final = "CREATE TABLE places (id BLOB PRIMARY KEY, place INTEGER) WITHOUT ROWID"
_CACHE: Final = -16_000  # kilobytes of it that are in memory


class Places:
    """The places of ids, each noted once."""

    def __init__(self) -> None:
        self._few: dict[str, int] = {}
        self._many: sqlite3.Connection | None = None

    def first(self, name: str, place: int) -> int:
        """Return where an id stood first: at this place, if it is new."""
        if self._many is None:
            if len(self._few) < FEW:
                return self._few.setdefault(name, place)
            self._many = _noted_on_disk(self._few.items())
            self._few = {}
        key = _key(name)
        said = "INSERT OR IGNORE INTO places VALUES (?, ?)"
        if self._many.execute(said, (key, place)).rowcount == 1:
            return place
        found = self._many.execute("SELECT place FROM places WHERE id = ?", (key,))
        return int(found.fetchone()[0])


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")  # which an id in JSON may hold


def _noted_on_disk(known: Iterable[tuple[str, int]]) -> "sqlite3.Connection":
    import sqlite3  # 10 ms that most runs never pay

    # Without a name it is a temporary file, which the system removes whatever happens.
    table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for said in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = {_CACHE}"):
        table.execute(f"PRAGMA {said}")
    table.execute(_MAKE)
    table.execute("BEGIN")
    noted = ((_key(name), place) for name, place in known)
    table.executemany("INSERT INTO places VALUES (?, ?)", noted)
    return table
