"""A journal: a file that only grows, of records that are there whole or not at all.

The first line names the format; each further line is a checksum, over the one before it and the
record, a blank and a record of JSON. What a killed program or a disk left at the end is cut off.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from time import monotonic
from typing import Final

from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.runs.whole_files import AS_IT_IS

if sys.platform != "win32":  # which has no such module
    import fcntl

FIRST_LINE: Final = b"stickler-journal/2\n"
OLD_LINE: Final = b"stickler-journal/1\n"

CHECKSUM_BYTES: Final = 16

SYNC_SECONDS: Final = 1.0  # how long a crash of the machine, and nothing else, may lose a record


class Journal:
    """A journal that nobody else has open."""

    def __init__(self, path: str, option: str, *, restart: bool = False) -> None:
        """Open a journal, a new one if there is none; or begin it again.

        Raises:
            UsageError: it cannot be opened, is no journal, or another run has it.
        """
        self._path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | AS_IT_IS, 0o666)
        except OSError as error:
            found = f"{path} cannot be opened ({error.strerror})"
            raise UsageError([Problem(option, found)]) from None
        self._chain = b""
        self._synced = monotonic()
        self.cut = 0
        """Bytes at the end that were no records, once all records were read."""
        try:
            self._begin(option, restart=restart)
        except BaseException:
            self.close()
            raise

    def _begin(self, option: str, *, restart: bool) -> None:
        """Lock the file, and write the first line where there is none or only a piece of it."""
        if sys.platform != "win32":  # which has no such lock
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                hint = "wait for its end, or name another directory"
                raise UsageError([Problem(option, "another run is using it", "", hint)]) from None
        start = os.read(self._handle, len(FIRST_LINE))
        if start == OLD_LINE and not restart:
            found = "an earlier version wrote its journal, and what is counted has changed since"
            hint = "--restart begins again, another directory keeps both"
            raise UsageError([Problem(option, found, "the journal of this version", hint)])
        if start != OLD_LINE and not FIRST_LINE.startswith(start):
            hint = "name another directory"
            found = f"{self._path} was not written by this program"
            raise UsageError([Problem(option, found, "the journal of a run", hint)])
        if restart or start != FIRST_LINE:
            self.clear()

    def clear(self) -> None:
        """Leave out all records."""
        self._cut_at(0)
        self._chain = b""
        self._write(FIRST_LINE)

    def records(self) -> Iterator[bytes]:
        """Yield all whole records, then cut off the rest; only then can more be added."""
        self._chain = b""
        end = len(FIRST_LINE)
        with open(self._handle, "rb", closefd=False) as stream:
            stream.seek(end)
            for line in stream:
                checksum, _, record = line.partition(b" ")
                chain = self._next(record)
                if chain.hex().encode() != checksum or not record.endswith(b"\n"):
                    break
                self._chain = chain
                end += len(line)
                yield record
        self.cut = os.fstat(self._handle).st_size - end
        self._cut_at(end)

    def append(self, record: object) -> None:
        """Add a record of JSON values; an OSError names the file."""
        line = json_line(record)
        self._chain = self._next(line)
        self._write(self._chain.hex().encode() + b" " + line)
        if monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Bring all records to the disk; an OSError names the file."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None
        self._synced = monotonic()

    def close(self) -> None:
        """Let go of the file, and so let others have it."""
        with suppress(OSError):
            os.close(self._handle)

    def _next(self, record: bytes) -> bytes:
        return blake2b(self._chain + record, digest_size=CHECKSUM_BYTES).digest()

    def _cut_at(self, end: int) -> None:
        os.ftruncate(self._handle, end)
        os.lseek(self._handle, end, os.SEEK_SET)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None
