"""Answers on disk, shared by runs and processes: one SQLite file, keyed by all that shapes them."""

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass

CACHE_DIR: Final = "STICKLER_CACHE_DIR"  # the environment variable that moves the cache
BUSY_SECONDS: Final = 30  # how long to wait for another process that is writing

_SCHEMA: Final = """
create table if not exists answers (
    key blob primary key,
    kind text not null,
    model text not null,
    answer blob not null,
    written integer not null
) without rowid
"""


@dataclass(frozen=True, slots=True)
class Holding:
    """The answers of one model in the cache, counted."""

    kind: str  # `embedding`, `score` or `verdict`
    model: str  # as schemas name it
    answers: int
    size: int  # bytes of the answers themselves


def cache_directory() -> Path:
    """Return the place of the cache: `STICKLER_CACHE_DIR`, or the user's own cache directory."""
    chosen = os.environ.get(CACHE_DIR)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "stickler"


class AnswerCache:
    """The file, opened when it is first needed; UsageError where it cannot be used."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "answers.sqlite3"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the answers that are there, by key."""
        statement = "select answer from answers where key = ?"
        with self._opened() as connection:
            rows = {key: connection.execute(statement, [key]).fetchone() for key in keys}
        return {key: row[0] for key, row in rows.items() if row}

    def write(self, kind: str, model: str, answers: Mapping[bytes, bytes]) -> None:
        """Keep answers; one that is there already stays."""
        now = int(time.time())
        rows = [(key, kind, model, answer, now) for key, answer in answers.items()]
        with self._opened() as connection, connection:
            connection.execute("begin immediate")
            connection.executemany("insert or ignore into answers values (?, ?, ?, ?, ?)", rows)

    def holdings(self) -> list[Holding]:
        """Return the contents, by kind and model; nothing is made where there is no file."""
        if not self.path.exists():
            return []
        statement = (
            "select kind, model, count(*), sum(length(answer)) from answers "
            "group by kind, model order by kind, model"
        )
        with self._opened() as connection:
            return [Holding(*row) for row in connection.execute(statement).fetchall()]

    def clear(self) -> int:
        """Forget all answers; return how many there were."""
        if not self.path.exists():
            return 0
        with self._opened() as connection:
            with connection:
                count: int = connection.execute("delete from answers").rowcount
            connection.execute("vacuum")
        return count

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Have the file to oneself, among the threads of this process."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                yield self._connection
            except (OSError, sqlite3.Error) as error:
                found = f"the cache of answers cannot be used ({error})"
                hint = f"set {CACHE_DIR} to another directory, or give --no-cache"
                raise UsageError([Problem(str(self.path), found, "", hint)]) from None

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):
            # Answers tell what is in documents: for nobody else to read. A file that is there is
            # not opened here: to close it would end the locks that this process has on it.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _write_ahead(connection)
            connection.execute("pragma synchronous = normal")
            connection.execute(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have readers not wait for writers. SQLite itself does not wait where it changes the mode."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
