"""A run directory at a URL: it is kept in a temporary directory here, and sent as it grows.

Stores add nothing to a file. So the journal of a run goes there in parts, each named by the place
of its first byte, `journal.000000001234`; in the end they are put together.
"""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import mkdtemp
from time import monotonic
from typing import Final

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.remote import (
    list_url,
    open_url,
    remove_url,
    send_bytes,
    send_file,
    shown_url,
)
from stickler_cli.runs.whole_files import check_url_of_output
from .journal import Journal

SEND_SECONDS: Final = 30.0  # how much of a run a crash of the machine may lose


class SentDirectory:
    """The copy here of a run directory elsewhere, for the time of a run."""

    def __init__(
        self, url: str, source: str, names: Sequence[str], tell: Callable[[str], None]
    ) -> None:
        """Make an empty copy; the first name is that of the journal, others those of results.

        Raises:
            UsageError: nothing can be written to such URLs.
        """
        check_url_of_output(url, source)
        self.folder = mkdtemp(prefix="stickler-run-")
        self._url, self._source, self._tell = url.rstrip("/"), source, tell
        self._name, *self._results = names
        self._journal = Path(self.folder) / self._name
        self._there: set[str] = set()  # names of files that are of the run
        self._sent = 0  # bytes of the journal
        self._last = monotonic()

    @contextmanager
    def kept(self, refuse: Callable[[Iterable[str]], None], *, restart: bool) -> Iterator[None]:
        """Have the journal here while the block runs, then send its end, and the results.

        `refuse` is given the names that are there, and raises what is wrong with them.

        Raises:
            UsageError: it cannot be listed or read, or the names are refused.
            OSError: results cannot be sent; the message says where they are kept.
        """
        try:
            self._begin(refuse, restart=restart)
        except OSError as error:
            rmtree(self.folder)
            found = f"it cannot be used ({error.strerror or error})"
            raise UsageError([Problem(self._source, found, "a directory of a store")]) from None
        except BaseException:
            rmtree(self.folder)
            raise
        ended_well = False
        try:
            yield
            ended_well = True
        finally:
            self._finish(with_results=ended_well)

    def _begin(self, refuse: Callable[[Iterable[str]], None], *, restart: bool) -> None:
        """Bring the journal here; or remove the files of the run, to begin again."""
        listed = [name for name, _, _ in list_url(self._url)]
        refuse(listed)
        named = [(name, *name.partition(".")) for name in listed]
        parts = sorted(
            name
            for name, first, _, place in named
            if first == self._name and (not place or place.isdecimal())
        )
        self._there = {*parts, *(name for name in listed if name in self._results)}
        if restart:
            self._remove(self._there)
        with self._journal.open("wb") as stream:
            for name in () if restart else parts:
                place = int(name.partition(".")[2] or 0)
                if place > stream.tell():
                    break
                # A part holds again what was damaged before it, or was put together already.
                stream.truncate(place)
                stream.seek(place)
                with open_url(f"{self._url}/{name}") as part:
                    copyfileobj(part, stream)
        self._sent = self._journal.stat().st_size

    def append(self, journal: Journal, record: object) -> None:
        """Add a record to the journal, and send new records from time to time."""
        # What was damaged at its end has been cut off.
        self._sent = min(self._sent, self._journal.stat().st_size)
        journal.append(record)
        if monotonic() - self._last < SEND_SECONDS:
            return
        try:
            self.send()
        except OSError as error:
            said = f"it cannot be sent ({error.strerror or error}); that is tried again"
            self._tell(f"{self._source}: {said}")
        self._last = monotonic()

    def send(self) -> None:
        """Send new records of the journal."""
        with self._journal.open("rb") as stream:
            stream.seek(self._sent)
            data = stream.read()
        if data:
            name = f"{self._name}.{self._sent:012d}" if self._sent else self._name
            send_bytes(data, f"{self._url}/{name}")
            self._there.add(name)
            self._sent += len(data)

    def _finish(self, *, with_results: bool) -> None:
        """Send files that are not there yet; the folder stays if that fails."""
        try:
            self.send()
            if with_results:
                here = [name for name in self._results if (Path(self.folder) / name).exists()]
                for name in (*here, self._name):
                    send_file(Path(self.folder) / name, f"{self._url}/{name}")
                self._remove(self._there - {*here, self._name})
        except OSError as error:
            kept = f"all of it is in {self.folder}; --run-dir continues from there too"
            found = f"{error.strerror or error}; {kept}"
            if with_results:
                raise OSError(error.errno or errno.EIO, found, shown_url(self._url)) from None
            self._tell(f"{self._source}: {found}")
        else:
            rmtree(self.folder)

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            remove_url(f"{self._url}/{name}")
