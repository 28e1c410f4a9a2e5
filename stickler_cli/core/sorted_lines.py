"""Sort any number of lines by key in limited memory.

Sorted portions are written and then merged.
"""

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import IO, Final, Self, TypeAlias
from weakref import finalize

Entry: TypeAlias = tuple[str, bytes]  # a key and its line
MOST_BYTES: Final = 1_000_000  # bytes of lines that are kept in memory
OWN_BYTES: Final = 200  # memory of a line besides its content: a tuple and a key
# Block in which a sorted run is read for merging; one block of each run is in memory.
BLOCKS: Final = 64


class SortedLines:
    """Lines that are added in any order and are read sorted by key, then by line."""

    def __init__(self, entries: Iterable[Entry] = (), *, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._here: list[Entry] = []
        self._bytes = 0  # size of the lines in memory
        self._count = 0
        self._file: IO[bytes] | None = None
        # File of the sorted runs, and the starts of the blocks of each run.
        self._parts: list[tuple[IO[bytes], list[int]]] = []
        self += entries

    def append(self, entry: Entry) -> None:
        """Add a line. If this exceeds the memory limit, write all lines in memory to a file."""
        self._here.append(entry)
        self._bytes += OWN_BYTES + len(entry[1])
        self._count += 1
        if self._bytes <= self._most:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with these lines
            finalize(self, self._file.close)
        self._here.sort()
        size = len(self._here) // BLOCKS + 1
        places = []
        self._file.seek(0, os.SEEK_END)
        for start in range(0, len(self._here), size):
            places.append(self._file.tell())
            pickle.dump(self._here[start : start + size], self._file)
        self._parts.append((self._file, places))
        self._here = []
        self._bytes = 0

    def __iadd__(self, entries: Iterable[Entry]) -> Self:
        for entry in entries:
            self.append(entry)
        return self

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        self._here.sort()
        # Not returned: the iterator must keep this object and its file alive.
        yield from merge(*(_read_run(*run) for run in self._parts), self._here)


def _read_run(file: IO[bytes], places: Iterable[int]) -> Iterator[Entry]:
    for place in places:
        file.seek(place)
        yield from pickle.load(file)  # noqa: S301 - nobody else has the file
