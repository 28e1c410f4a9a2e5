"""Values by id, on disk where they are many, so that memory does not grow with their number."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

FEW: Final = 50_000
"""Ids that are held in memory, some 10 MB."""

LITTLE: Final = 16_000_000
"""Bytes of documents that are held with them."""

_MAKE: Final = "CREATE TABLE known (place INTEGER PRIMARY KEY, id BLOB UNIQUE, value BLOB)"
_PUT_FIRST: Final = "INSERT INTO known (id, value) VALUES (?, ?) ON CONFLICT DO NOTHING"
_PUT: Final = (
    "INSERT INTO known (id, value) VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET value = excluded.value"
)
_CACHE: Final = -16_000  # kilobytes of it that are in memory


class ById(Mapping[str, T]):
    """Values under ids, in the order in which ids were first met."""

    def __init__(self, known: Iterable[tuple[str, T]] = ()) -> None:
        """Take values that can be pickled; of two under one id the last counts."""
        self._few: dict[str, T] = {}
        self._bytes = 0
        self._many: sqlite3.Connection | None = None
        for name, value in known:
            self.put(name, value)

    def put(self, name: str, value: T) -> None:
        """Put a value under an id, in place of any other."""
        if (many := self._on_disk(value)) is None:
            self._few[name] = value
        else:
            many.execute(_PUT, _row(name, value))

    def first(self, name: str, value: T) -> T:
        """Return the first value under an id: this, if the id is new."""
        if (many := self._on_disk(value)) is None:
            return self._few.setdefault(name, value)
        new = many.execute(_PUT_FIRST, _row(name, value)).rowcount == 1
        return value if new else self[name]

    def __getitem__(self, name: str) -> T:
        """Return the value under an id; raise KeyError if there is none."""
        if self._many is None:
            return self._few[name]
        found = self._many.execute("SELECT value FROM known WHERE id = ?", (_key(name),)).fetchone()
        if found is None:
            raise KeyError(name)
        value: T = pickle.loads(found[0])  # noqa: S301 - of this process
        return value

    def __iter__(self) -> Iterator[str]:
        """Yield the ids."""
        if self._many is None:
            yield from self._few
            return
        for (key,) in self._many.execute("SELECT id FROM known ORDER BY place"):
            yield bytes(key).decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        """Return how many ids there are."""
        if self._many is None:
            return len(self._few)
        # Places are counted from 1, and none is skipped: nothing need be gone through.
        return int(self._many.execute("SELECT coalesce(max(place), 0) FROM known").fetchone()[0])

    def _on_disk(self, value: T) -> "sqlite3.Connection | None":
        """Return the database for new values; None while memory takes them."""
        if self._many is None:
            self._bytes += len(getattr(value, "data", None) or b"")
            if len(self._few) < FEW and self._bytes < LITTLE:
                return None
            self._many = _noted_on_disk(self._few.items())
            self._few = {}
        return self._many


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")  # which an id in JSON may hold


def _row(name: str, value: object) -> tuple[bytes, bytes]:
    return _key(name), pickle.dumps(value)


def _noted_on_disk(known: Iterable[tuple[str, object]]) -> "sqlite3.Connection":
    import sqlite3  # 10 ms that most runs never pay

    # Without a name it is a temporary file, which the system removes whatever happens.
    table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for said in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = {_CACHE}"):
        table.execute(f"PRAGMA {said}")
    table.execute(_MAKE)
    table.execute("BEGIN")
    noted = (_row(name, value) for name, value in known)
    table.executemany(_PUT_FIRST, noted)
    return table
