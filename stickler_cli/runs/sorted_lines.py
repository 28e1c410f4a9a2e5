"""Lines in the order of their keys, however many: what is much waits in a temporary file.

So a run file that tells of each document, in the order of ids, takes no more memory for many
documents than for few. Full parts are sorted and put away; in the end all parts are merged.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from heapq import merge
from struct import Struct
from typing import Final, Self, TypeAlias
from weakref import finalize

Entry: TypeAlias = tuple[str, bytes]
"""A key and its line."""

MOST_BYTES: Final = 1_000_000
"""Bytes that lines may take in memory before they are put away."""

OWN_BYTES: Final = 200
"""What a line takes beside its content: a tuple, a key, an object."""

BLOCK: Final = 1 << 14
"""Bytes that are read at once of each part when parts are merged."""

_LENGTHS: Final = Struct("<II")


class SortedLines:
    """Lines that are added in any order and iterated over in that of their keys, then of lines."""

    def __init__(self, entries: Iterable[Entry] = (), *, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._here: list[Entry] = []
        self._bytes = 0
        """Of the lines that are here."""
        self._count = 0
        self._handle = -1
        """Of the file, where there is one; it has no name, and goes when it is closed."""
        self._parts: list[tuple[int, int]] = []
        """Where each part begins and ends in the file."""
        self += entries

    def append(self, entry: Entry) -> None:
        """Add a line.

        Raises:
            OSError: there is no room for temporary files.
        """
        self._here.append(entry)
        self._bytes += OWN_BYTES + len(entry[1])
        self._count += 1
        if self._bytes > self._most:
            self._put_away()

    def __iadd__(self, entries: Iterable[Entry]) -> Self:
        for entry in entries:
            self.append(entry)
        return self

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        self._here.sort()
        return merge(*(self._part(*place) for place in self._parts), self._here)

    def _put_away(self) -> None:
        if self._handle < 0:
            with tempfile.TemporaryFile() as file:
                self._handle = os.dup(file.fileno())
            finalize(self, os.close, self._handle)
        self._here.sort()
        part = bytearray()
        for key, line in self._here:
            name = key.encode("utf-8", "surrogatepass")
            part += _LENGTHS.pack(len(name), len(line)) + name + line
        begin = end = os.lseek(self._handle, 0, os.SEEK_END)
        with memoryview(part) as rest:
            while end - begin < len(part):
                end += os.write(self._handle, rest[end - begin :])
        self._parts.append((begin, end))
        self._here = []
        self._bytes = 0

    def _part(self, begin: int, end: int) -> Iterator[Entry]:
        """Read a part again, block by block."""
        block, at = b"", 0
        while at < len(block) or begin < end:
            name = at + _LENGTHS.size
            if name <= len(block):
                of_name, of_line = _LENGTHS.unpack_from(block, at)
                line = name + of_name
                following = line + of_line
                if following <= len(block):
                    yield block[name:line].decode("utf-8", "surrogatepass"), block[line:following]
                    at = following
                    continue
            more = self._block(begin, end)
            begin += len(more)
            block, at = block[at:] + more, 0

    def _block(self, begin: int, end: int) -> bytes:
        """Read a block from some place on, or as much of it as there is."""
        os.lseek(self._handle, begin, os.SEEK_SET)
        return os.read(self._handle, min(end - begin, BLOCK))
