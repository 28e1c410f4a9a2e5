"""Files that are elsewhere, by their URL: `s3://`, `gs://`, `az://`, `https://`, through fsspec.

Only what the command line, the configuration file or a caller names comes here: never what stands
in a schema or a document. Addresses and keys are those that fsspec finds in the environment.
"""

import errno
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, TypeVar, cast

from .problems import Problem, UnavailableError, UsageError, import_extra

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

T = TypeVar("T")

WAITS: Final = (0.2, 1.0, 3.0)
"""Seconds before each further attempt; fsspec's own attempts come before that."""

AT_ONCE: Final = 4_000_000  # bytes that are asked for together where a file is read bit by bit

DRIVERS: Final = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "http": "aiohttp",
    "https": "aiohttp",
}
"""The packages that fsspec needs for some kinds of URLs; of others it says so itself."""

_URL: Final = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)  # one letter is a drive
_SECRET: Final = re.compile(r"(?<=://)[^/@]*@|\?.*", re.DOTALL)
_FINAL_ERRORS: Final = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
"""Errors that the next attempt would meet again."""


def is_url(name: str) -> bool:
    """Return whether a name is that of something elsewhere."""
    return "://" in name and _URL.match(name) is not None


def shown_url(url: str) -> str:
    """Return a URL without user, password and signature.

    >>> shown_url("https://me:secret@example.org/a.json?signature=3f")
    'https://example.org/a.json'
    """
    return _SECRET.sub("", url)


def open_url(url: str) -> BinaryIO:
    """Open a file elsewhere for reading, from any place in it.

    Raises:
        OSError: it cannot be read.
        UnavailableError: nothing is installed that reads such URLs.
    """
    return io.BufferedReader(_Elsewhere(url), AT_ONCE)


def size_of_url(url: str) -> int:
    """Return the bytes of a file elsewhere; 0 where nobody says.

    Raises:
        OSError: there is none, or it cannot be asked for.
    """
    files, path = _files_of(url)
    return int(_tried(lambda: files.info(path)).get("size") or 0)


def is_there(url: str) -> bool:
    """Return whether there is a file; raise OSError if that cannot be asked for."""
    try:
        size_of_url(url)
    except FileNotFoundError:
        return False
    return True


def read_urls(urls: Sequence[str]) -> list[bytes | OSError]:
    """Return the bytes of files elsewhere, all asked for together; an error in place of some."""
    found: dict[str, bytes | OSError] = {}
    left = list(dict.fromkeys(urls))
    for wait in (*WAITS, None):
        found |= _read_once(left)
        left = [
            url
            for url in left
            if isinstance(found[url], OSError) and not isinstance(found[url], _FINAL_ERRORS)
        ]
        if not left or wait is None:
            break
        sleep(wait)
    return [found[url] for url in urls]


def _read_once(urls: Sequence[str]) -> dict[str, bytes | OSError]:
    found: dict[str, bytes | OSError] = {}
    of: dict[int, tuple[Any, list[str], list[str]]] = {}
    for url in urls:
        files, path = _files_of(url)
        _, paths, names = of.setdefault(id(files), (files, [], []))
        paths.append(path)
        names.append(url)
    for files, paths, names in of.values():
        try:
            # Not `cat`, which takes what is in brackets in the name of a file for a pattern.
            read = files.cat_ranges(paths, None, None, on_error="return")
        except Exception as error:  # noqa: BLE001 - stores raise what their clients do
            read = [error] * len(paths)
        for url, data in zip(names, read, strict=True):
            found[url] = _as_os_error(data) if isinstance(data, Exception) else data
    return found


def list_url(url: str) -> Iterator[tuple[str, str, int]]:
    """Yield relative path, URL and bytes of each file below a URL, or that matches its `*`.

    Raises:
        OSError: it cannot be listed.
        UnavailableError: nothing is installed that reads such URLs.
    """
    files, path = _files_of(url)
    files.invalidate_cache()  # what others wrote meanwhile counts
    star = url.find("*")
    # Names begin as the user wrote it: with `memory://docs`, not `memory:///docs`.
    base = (url if star < 0 else url[: url.rindex("/", 0, star)]).rstrip("/")
    listed, root = (files.find if star < 0 else files.glob), _files_of(base)[1]
    found = _tried(lambda: listed(path, detail=True))
    files.invalidate_cache()  # else all names stay in memory
    for name, entry in sorted(found.items()):
        if entry.get("type") == "file":
            relative = name.removeprefix(root).lstrip("/")
            yield relative, f"{base}/{relative}", entry.get("size") or 0


def send_file(file: Path, url: str) -> None:
    """Put a copy of a file where a URL leads; it is there whole or not at all, as stores have it.

    Raises:
        OSError: it cannot be written.
        UnavailableError: nothing is installed that writes such URLs.
    """
    files, path = _files_of(url)
    _tried(lambda: files.put_file(str(file), path))


def send_bytes(data: bytes, url: str) -> None:
    """Put a file where a URL leads, as `send_file` does."""
    files, path = _files_of(url)
    _tried(lambda: files.pipe_file(path, data))


def remove_url(url: str) -> None:
    """Remove a file elsewhere, if it is there; raise OSError if that cannot be."""
    files, path = _files_of(url)
    with suppress(FileNotFoundError):
        _tried(lambda: files.rm_file(path))


class _Elsewhere(io.RawIOBase):
    """A file that is opened anew where reading it fails."""

    def __init__(self, url: str) -> None:
        self._files, self._path = _files_of(url)
        self._at = 0
        self._stream: IO[bytes] = _tried(self._open)

    def _open(self) -> IO[bytes]:
        return cast("IO[bytes]", self._files.open(self._path, "rb", block_size=AT_ONCE))

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read some bytes; 0 at the end."""
        room = memoryview(buffer).cast("B")
        data = _tried(lambda: self._read(len(room)))
        room[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, size: int) -> bytes:
        try:
            self._stream.seek(self._at)
            return self._stream.read(size)
        except Exception:
            self._stream = self._open()
            raise

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that it can be read from any place."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place."""
        self._at = self._stream.seek(*((self._at + offset,) if whence == 1 else (offset, whence)))
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def close(self) -> None:
        """End it."""
        if not self.closed and hasattr(self, "_stream"):
            self._stream.close()
        super().close()


def check_url(url: str) -> None:
    """Raise UnavailableError if nothing is installed that reads and writes such URLs."""
    _files_of(url)


def _files_of(url: str) -> tuple[Any, str]:
    """Return where a URL leads: a file system, and a path in it."""
    fsspec = import_extra("fsspec", "a URL", "remote", shown_url(url))
    # What `url_to_fs` does, but that `::` in the name of a file leads nowhere else.
    protocol = url.partition("://")[0]
    try:
        store = fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        driver = DRIVERS.get(protocol, "another package")
        found = f"{protocol}:// needs {driver}, which is not installed"
        hint = f"pip install {driver}" if protocol in DRIVERS else str(error)
        raise UnavailableError([Problem(shown_url(url), found, "", hint)]) from None
    except ValueError:
        expected = "one that fsspec knows, such as s3://"
        found = f"there is no way to read {protocol}://"
        raise UsageError([Problem(shown_url(url), found, expected)]) from None
    return store(**store._get_kwargs_from_urls(url)), store._strip_protocol(url)  # noqa: SLF001


def _tried(do: Callable[[], T]) -> T:
    """Return the result of a call, tried again where that may help.

    Raises:
        OSError: it failed for good.
    """
    for wait in (*WAITS, None):
        try:
            return do()
        except Exception as error:
            found = _as_os_error(error)
            if wait is None or isinstance(found, _FINAL_ERRORS):
                raise found from error
            sleep(wait)
    raise AssertionError


def _as_os_error(error: Exception) -> OSError:
    """Return an exception of a store as an error of files."""
    if isinstance(error, FileNotFoundError):  # most have only a path to say
        return FileNotFoundError(errno.ENOENT, "there is no such file")
    if isinstance(error, OSError):
        return error
    return OSError(f"{type(error).__name__}: {shown_url(str(error))}")
