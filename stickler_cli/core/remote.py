"""Remote files by URL (`s3://`, `gs://`, `az://`, `https://`), read and written through fsspec.

Only URLs from the command line, the configuration file or a Python caller are opened. URLs in a
schema or a document are never opened. fsspec takes the credentials from the environment.
"""

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, TypeVar, cast
from urllib.parse import quote, unquote, urlsplit

from .problems import Problem, UnavailableError, UsageError, import_extra

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

T = TypeVar("T")

WAITS: Final = (0.2, 1.0, 3.0)
"""Seconds to wait before the second, third and fourth attempt. Within each attempt, fsspec may
repeat a request by itself."""

_PART: Final = 1 << 20  # bytes of a file that are read together
AT_ONCE: Final = 4_000_000  # bytes that are requested together when a file is read in small pieces

DRIVERS: Final = {
    "file": "",
    "memory": "",
    "s3": "s3fs",
    "gs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "http": "aiohttp",
    "https": "aiohttp",
}
"""For each supported scheme of URLs, the package that fsspec needs; empty if it needs none."""

URL_TIMEOUT: Final = "STICKLER_URL_TIMEOUT"
"""Name of an environment variable that holds a number of seconds. A server may take this long to
answer, and this long again for each `AT_ONCE` bytes. Worker processes read the variable, too."""
PATIENCE: Final = 60.0
LISTING_FACTOR: Final = 10  # listing a large directory takes many requests
GRACE_SECONDS: Final = 1.0  # timeouts of libraries come first: their messages are more exact

# A scheme of one letter is a drive.
_URL: Final = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_HOST_AND_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:]*)(:[0-9]{0,5})?")
_URL_IN_TEXT: Final = re.compile(r"(https?)?://(\S*)", re.IGNORECASE)
# Such as `https:/me:secret@host`, `https:me:secret@host`, `https//me:secret@host`,
# `//me:secret@host`
_MISSPELT_URL_IN_TEXT: Final = re.compile(
    r"(?<![a-z0-9])((?:https?|s3a?|gs|gcs|az|abfss?|adl|ftps?|sftp|ssh|hdfs|webdavs?)"
    r"(?:[:;](?!//[^/\\])[/\\]*|[/\\]{2,})|(?<![\w:/\\])//)(\S*@)",
    re.IGNORECASE,
)
_QUERY_IN_TEXT: Final = re.compile(r"\?\S*")
_CHAIN: Final = "::"  # separator of nested file systems in URLs of fsspec
# Not a character, so it is in no URL: replaces `::` in the name of a file.
_CHAIN_IN_NAME: Final = "\ufdd0"
# For each driver, what the first name after :// stands for; for all other drivers, it is a host.
_FIRST_NAMES: Final = {"s3fs": "bucket", "gcsfs": "bucket", "adlfs": "container"}
_WITHOUT_HOST: Final = frozenset({"file", "memory"})  # schemes whose URLs need no host
_SEPARATORS: Final = re.compile("[:/@]")  # separators inside user information
_SCHEME_AT_END: Final = re.compile(r"[a-z0-9+.-]*\Z", re.IGNORECASE)
# Such as `http//`, `//`, `https:/`, `http;//`
_MISSPELT_BEGINNING: Final = re.compile(r"[^/\\@]{0,20}?(?:[/\\]{2,}|[:;\uff1a][/\\]+)")
_ENCODED_AT: Final = "%40"
_QUERY: Final = re.compile("[?]")
_QUERY_OF_WEB: Final = re.compile("[?#]")
_PARAMETERS: Final = re.compile(";[^/]*")  # Source: RFC 3986, section 3.3
_VALUES_OF_QUERY: Final = re.compile("=([^&;#]*)")
MIN_SECRET_LENGTH: Final = 3  # characters of the shortest password that is hidden in other texts
MIN_VALUE_LENGTH: Final = 8  # characters of the shortest value in a query that is hidden there
HIDDEN: Final = "[hidden]"
_FINAL_ERRORS: Final = (
    FileNotFoundError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    TimeoutError,
)
"""Errors after which an operation is not tried again, because it would fail in the same way."""
_FINAL_CODES: Final = frozenset({errno.EFBIG, errno.ELOOP})


def is_url(name: str) -> bool:
    """Return whether a name is a URL."""
    return "://" in name and _URL.match(name) is not None


def shown_url(url: str) -> str:
    """Return a URL without user, password, path parameters and query.

    A password may contain a slash that is not escaped. Therefore everything is removed up to the
    last `@` that can stand before the host.

    >>> shown_url("https://me:secret@example.org/a.json?signature=3f")
    'https://example.org/a.json'
    >>> shown_url("s3://KEY:abc/def@bucket/a.json")
    's3://bucket/a.json'
    >>> shown_url("https://example.org/a;token=3f/b.json;v=2")
    'https://example.org/a/b.json'
    """
    scheme, mark, address = url.partition("://")
    _, location, _ = _split_address(address, scheme)
    return f"{scheme}{mark}{location}"


def states_user(url: str) -> bool:
    """Return whether a URL contains a user name or password."""
    scheme, _, address = url.partition("://")
    return bool(_split_address(address, scheme)[0])


def hide_secrets(text: str, *urls: str) -> str:
    """Remove users and passwords from all URLs in a text, even from misspelt URLs.

    The secrets of `urls`, and those that `remember_secrets` found, are hidden in the whole text.

    >>> hide_secrets("wrote s3://KEY:abc/def@bucket/a.json twice")
    'wrote s3://bucket/a.json twice'
    >>> hide_secrets("https:/me:secret@host/a.json: there is no such file")
    'https:/host/a.json: there is no such file'
    """
    if "@" in text or _ENCODED_AT in text:
        text = _MISSPELT_URL_IN_TEXT.sub(r"\1", _URL_IN_TEXT.sub(_hide_user, text))
    secrets = _remembered_secrets.union(*map(_secrets_of, urls))
    for secret in sorted(secrets, key=len, reverse=True):  # a secret may contain another one
        text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
    return text


_remembered_secrets: Final[set[str]] = set()


def remember_secrets(words: Iterable[str], *, only: bool = False) -> None:
    """Find URLs among words and remember their secrets. `hide_secrets` then hides these secrets.

    If `only` is true, secrets that were remembered earlier are forgotten.
    """
    if only:
        _remembered_secrets.clear()
    for word in words:
        _remembered_secrets.update(_secrets_of(word))


def _secrets_of(word: str) -> set[str]:
    """Return the secret texts in a URL, such as a password. The URL may be misspelt."""
    beginning, mark, address = word.partition("://")
    if mark:
        scheme = _SCHEME_AT_END.search(beginning)
        userinfo, _, query = _split_address(address, scheme[0] if scheme else "")
    else:
        address, is_misspelt = _MISSPELT_BEGINNING.subn("", word, count=1)
        userinfo = address.rpartition("@")[0]
        userinfo = userinfo if ":" in userinfo else ""  # otherwise it is a path or an address
        query = "".join(address.partition("?")[1:]) if is_misspelt else ""
    user, _, password = userinfo.partition(":")
    segments = _SEPARATORS.split(password)  # libraries take the text before a slash for the host
    values = [value for value in _VALUES_OF_QUERY.findall(query) if len(value) >= MIN_VALUE_LENGTH]
    secrets = [query[1:], *values, userinfo, f"{user}:{segments[0]}", password or user, *segments]
    return {
        form
        for secret in secrets
        if len(secret) >= MIN_SECRET_LENGTH
        for form in (secret, unquote(secret), quote(secret, safe=""))
    }


def _hide_user(match: re.Match[str]) -> str:
    scheme, address = match[1] or "", match[2]
    user, location, query = _split_address(address, scheme)
    return match[0] if not user else f"{scheme}://{location}{query}"


def _split_address(address: str, scheme: str) -> tuple[str, str, str]:
    """Split a URL into (user and password, location, query). `address` is the text after `://`."""
    is_web = scheme.lower() in {"http", "https"}
    query_start = (_QUERY_OF_WEB if is_web else _QUERY).search(address)
    end = query_start.start() if query_start else len(address)
    location, query = address[:end], address[end:]
    host = location.partition("/")[0]
    # `host:8080/me@here` has a port; in `KEY:abc/def@bucket` everything up to the `@` is secret.
    is_host = _HOST_AND_PORT.fullmatch(host) if is_web else None
    has_user = "@" in host or _ENCODED_AT in host or (":" in host and not is_host)
    for at_sign in ("@", _ENCODED_AT) if has_user else ():
        if at_sign in location:
            user, _, location = location.rpartition(at_sign)
            return user, *_split_parameters(location, query, is_web=is_web)
        if at_sign in query:  # the `?` may be part of the password
            return address, HIDDEN, ""
    return "", *_split_parameters(location, query, is_web=is_web)


def _split_parameters(location: str, query: str, *, is_web: bool) -> tuple[str, str]:
    """Move parameters such as `;token=a` from the path of a web address to its query."""
    if not is_web or ";" not in location:
        return location, query
    return _PARAMETERS.sub("", location), "".join(_PARAMETERS.findall(location)) + query


def wait_at_most(seconds: float) -> None:
    """Set how many seconds a server may take to answer before it is given up."""
    os.environ[URL_TIMEOUT] = str(seconds)


def _patience() -> float:
    try:
        return float(os.environ.get(URL_TIMEOUT, PATIENCE))
    except ValueError:
        return PATIENCE


def _seconds_for(size: int) -> float:
    """Return how many seconds a server may take to answer and to send `size` bytes."""
    return _patience() * (1 + size / AT_ONCE)


class _SlowServerError(TimeoutError):
    """The error of a server that sends data, but too slowly."""

    def __init__(self, seconds: float) -> None:
        finding = f"the server was too slow: it has not sent everything after {seconds:.3g} seconds"
        super().__init__(errno.ETIMEDOUT, finding)


def _within_patience(url: str, do: Callable[[], T], size: int = 0, factor: int = 1) -> T:
    """Return the result of `do`, which makes requests for `size` bytes in total.

    Timeouts of libraries are not enough, because a server can send one byte now and then.

    Raises:
        TimeoutError: the requests take longer than `factor` times the usual limit for `size` bytes.
    """
    if not DRIVERS.get(url.partition("://")[0].lower()):
        return do()
    from .threads import NotInTimeError, run_within  # local files need no thread

    seconds = _seconds_for(size) * factor
    try:
        return run_within(seconds + GRACE_SECONDS, do)
    except NotInTimeError:
        raise _SlowServerError(seconds) from None


def open_url(url: str) -> BinaryIO:
    """Open a remote file for reading from any position.

    Raises:
        OSError: the file cannot be read.
        UnavailableError: the package for such URLs is missing.
    """
    return io.BufferedReader(_Elsewhere(url), AT_ONCE)


def open_named(name: str) -> IO[bytes]:
    """Open a file, pipe or URL that the user named.

    Raises:
        OSError: the file cannot be opened, or is a device, which may be endless.
        UnavailableError: the package for such URLs is missing.
    """
    if is_url(name):
        return open_url(name)
    stream = Path(name).open("rb")  # noqa: SIM115 - whoever asks closes it
    mode = os.fstat(stream.fileno()).st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and name != os.devnull and not stream.isatty()):
        stream.close()
        raise OSError(errno.EINVAL, "this path is a device, not a file")
    return stream


def read_file_or_url(name: str, limit: int) -> bytes:
    """Read a file or URL completely; `limit` is the maximum number of bytes.

    Raises:
        OSError: it cannot be read, or has more bytes than the limit.
    """
    with open_named(name) as stream:
        blocks = [*islice(iter(partial(stream.read, _PART), b""), limit // _PART + 1)]
    if len(blocks) * _PART > limit:
        raise _too_large(limit)
    return b"".join(blocks)


def _too_large(limit: int) -> OSError:
    return OSError(errno.EFBIG, f"the file has more than {limit:,} bytes")


def size_of_url(url: str) -> int:
    """Return the size of the file at a URL in bytes; 0 if the size is unknown.

    Raises:
        OSError: the file does not exist, or the server does not answer.
    """
    files, path = _files_of(url)
    return int(_tried(url, lambda: files.info(path)).get("size") or 0)


def is_there(url: str) -> bool:
    """Return whether a file exists at a URL; raise OSError if the server does not answer."""
    try:
        size_of_url(url)
    except FileNotFoundError:
        return False
    return True


def read_urls(urls: Sequence[str], limit: int, size: int = 0) -> list[bytes | OSError]:
    """Read remote files at the same time. Return for each URL the bytes or the error.

    An HTTP response that has more than `limit` bytes is aborted. `size` is the size of all files
    together; 0 if it is unknown.
    """
    outcomes: dict[str, bytes | OSError] = {}
    left = list(dict.fromkeys(urls))
    for wait in (*WAITS, None):
        outcomes |= _read_once(left, limit, size or limit)
        left = [
            url
            for url in left
            if isinstance(outcome := outcomes[url], OSError) and not _is_final(outcome)
        ]
        if not left or wait is None:
            break
        sleep(wait)
    return [outcomes[url] for url in urls]


def _read_once(urls: Sequence[str], limit: int, size: int) -> dict[str, bytes | OSError]:
    """Try once to read remote files. Return a dict from URL to the bytes or the error.

    Files of the same store are requested together.
    """
    outcomes: dict[str, bytes | OSError] = {}
    urls_by_files: dict[int, tuple[Any, list[str], list[str]]] = {}
    for url in urls:
        files, path = _files_of(url, limit)
        _, paths, names = urls_by_files.setdefault(id(files), (files, [], []))
        paths.append(path)
        names.append(url)
    for files, paths, names in urls_by_files.values():
        try:
            # `cat` would take brackets in the name of a file for a pattern.
            read_all = partial(files.cat_ranges, paths, None, None, on_error="return")
            read = _within_patience(names[0], read_all, size)
        except Exception as error:  # noqa: BLE001 - stores raise what their clients do
            read = [error] * len(paths)
        for url, data in zip(names, read, strict=True):
            outcomes[url] = _as_os_error(data, url) if isinstance(data, Exception) else data
    return outcomes


def list_url(url: str) -> Iterator[tuple[str, str, int]]:
    """Yield (relative path, URL, size in bytes) for each file below a URL.

    If the URL contains `*`, yield the files that match it. The size is 0 if it is unknown.

    Raises:
        OSError: the URL cannot be listed.
        UnavailableError: the package for such URLs is missing.
    """
    files, path = _files_of(url)
    files.invalidate_cache()  # other programs may have written files
    star = url.find("*")
    # Begin URLs as the user wrote them: with `memory://docs`, not `memory:///docs`.
    base = (url if star < 0 else url[: url.rindex("/", 0, star)]).rstrip("/")
    base += "" if is_url(base) else "//"  # rstrip removed both slashes of `memory://`
    listed, root = (files.find if star < 0 else files.glob), _files_of(base)[1]
    entries = _tried(url, lambda: listed(path, detail=True), factor=LISTING_FACTOR)
    files.invalidate_cache()  # otherwise all names stay in memory
    for name, entry in sorted(entries.items()):
        if entry.get("type") == "file":
            relative = name.removeprefix(root).lstrip("/")
            yield relative, f"{base}/{relative}", entry.get("size") or 0


def send_file(file: Path, url: str) -> None:
    """Upload a file to a URL.

    Object stores show the file to other programs only when it is complete.

    Raises:
        OSError: the file cannot be written.
        UnavailableError: the package for such URLs is missing.
    """
    files, path = _files_of(url)
    _tried(url, lambda: files.put_file(str(file), path), file.stat().st_size)


def send_bytes(data: bytes, url: str) -> None:
    """Upload bytes to a URL, as `send_file` does."""
    files, path = _files_of(url)
    _tried(url, lambda: files.pipe_file(path, data), len(data))


def remove_url(url: str) -> None:
    """Delete a remote file if it exists; raise OSError if it cannot be deleted."""
    files, path = _files_of(url)
    with suppress(FileNotFoundError):
        _tried(url, lambda: files.rm_file(path))


class _Elsewhere(io.RawIOBase):
    """A remote file. If reading fails, the file is opened again at the same position."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._files, self._path = _files_of(url)
        self._at = 0
        self._stream: IO[bytes] = _tried(url, self._open)

    def _open(self) -> IO[bytes]:
        return cast("IO[bytes]", self._files.open(self._path, "rb", block_size=AT_ONCE))

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read bytes into the buffer. Return how many were read; 0 means the end of the file."""
        room = memoryview(buffer).cast("B")
        data = _tried(self._url, lambda: self._read_at_position(len(room)), len(room))
        room[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read_at_position(self, size: int) -> bytes:
        try:
            self._stream.seek(self._at)
            data = bytearray(self._stream.read(size))
            # Some streams return single bytes of a slow server.
            while 0 < len(data) < size and (further := self._stream.read(size - len(data))):
                data += further
            return bytes(data)
        except Exception:
            self._stream = self._open()
            raise

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the file can be read from any position."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a position and return it."""
        self._at = self._stream.seek(*((self._at + offset,) if whence == 1 else (offset, whence)))
        return self._at

    def tell(self) -> int:
        """Return the position. The inherited method would call `seek`, which some streams lack."""
        return self._at

    def close(self) -> None:
        """Close the file."""
        if not self.closed and hasattr(self, "_stream"):
            self._stream.close()
        super().close()


def check_url(url: str) -> None:
    """Check that the address of a URL is valid and that the package for it is installed.

    Raises:
        UnavailableError: the package is missing.
        UsageError: the URL cannot be opened.
    """
    _files_of(url)


def _files_of(url: str, limit: int | None = None) -> tuple[Any, str]:
    """Return fsspec's file system for a URL, and the path in it.

    If `limit` is given, reading an HTTP response that has more bytes raises an error.
    """
    fsspec = import_extra("fsspec", "a URL", "remote", shown_url(url))
    protocol, mark, address = url.partition("://")
    protocol = protocol.lower()
    if protocol not in DRIVERS:
        expected = ", ".join(f"{scheme}://" for scheme in DRIVERS)
        finding = f"URLs with {protocol}:// cannot be read"
        raise UsageError([Problem(shown_url(url), finding, expected)])
    check_address(url)
    plain_url = f"{protocol}{mark}{address.replace(_CHAIN, _CHAIN_IN_NAME)}"
    try:
        fsspec.get_filesystem_class(protocol)  # import the driver before the module that limits it
        files, path = fsspec.url_to_fs(plain_url, **_limits_of(protocol, limit))
    except ImportError:
        driver = DRIVERS[protocol]
        finding = (
            f"to read {protocol}:// URLs, stickler needs the package {driver}, which is not "
            "installed"
        )
        raise UnavailableError(
            [
                Problem(
                    source=shown_url(url), found=finding, expected="", hint=f"pip install {driver}"
                )
            ]
        ) from None
    except Exception as error:  # drivers raise many exceptions about keys and addresses
        raise UsageError(
            [Problem(shown_url(url), f"the URL cannot be opened: {_as_os_error(error, url)}")]
        ) from error
    return files, path.replace(_CHAIN_IN_NAME, _CHAIN)


def check_address(url: str, option: str = "") -> None:
    """Raise UsageError if a URL names no valid host, bucket or container.

    `option` is the option that has the URL. The message names it.
    """
    protocol = url.partition("://")[0].lower()
    driver = DRIVERS.get(protocol, "")
    noun = _FIRST_NAMES.get(driver, "host")
    finding, expected = "", f"{protocol}://{noun.upper()}/PATH"
    try:
        address = urlsplit(url)
        has_host = address.hostname and "*" not in address.hostname
        if protocol not in _WITHOUT_HOST and not has_host:
            finding = f"the URL has no valid {noun}"
        elif driver == "aiohttp" and address.port == 0:
            finding, expected = "the port of the URL is 0", "a port from 1 to 65535"
    except ValueError:  # its message may contain a secret
        finding = "the URL has no valid host or port"
    if finding:
        hint = "in a user name or password, write / as %2F" if "@" in url else ""
        source = f"{option} {shown_url(url)}".lstrip()
        raise UsageError([Problem(source=source, found=finding, expected=expected, hint=hint)])


def _limits_of(protocol: str, limit: int | None) -> dict[str, Any]:
    """Return arguments for fsspec that limit waiting times and the size of responses."""
    seconds = _patience()
    match DRIVERS[protocol]:
        case "aiohttp":
            limits = {"timeout": _waits(seconds)}
            return {"client_kwargs": limits | ({"response_class": _answer(limit)} if limit else {})}
        case "s3fs":
            return {"config_kwargs": {"connect_timeout": seconds, "read_timeout": seconds}}
        case "gcsfs":
            return {"requests_timeout": _waits(seconds)}
        case "adlfs":
            return {"connection_timeout": seconds, "read_timeout": seconds}
    return {}


def _waits(seconds: float) -> Any:
    aiohttp = import_extra("aiohttp", "a URL", "remote")
    return aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)


@cache
def _answer(limit: int) -> Any:
    """Return a class of HTTP responses that raise an error if their body is too large or slow."""
    aiohttp = import_extra("aiohttp", "a URL", "remote")

    async def read_body(answer: Any) -> bytes:
        body, start = bytearray(), monotonic()
        async for block in answer.content.iter_any():
            body += block
            if len(body) > limit:
                raise _too_large(limit)
            seconds = _seconds_for(len(body))
            if monotonic() - start > seconds:
                raise _SlowServerError(seconds)
        return bytes(body)

    # fsspec tells connections apart by this name, so it includes the limit.
    return type(f"AnswerOf{limit}", (aiohttp.ClientResponse,), {"read": read_body})


def _tried(url: str, do: Callable[[], T], size: int = 0, factor: int = 1) -> T:
    """Call `do` and return its result. If the call fails with a temporary error, repeat it.

    `size` and `factor` are as in `_within_patience`.

    Raises:
        OSError: the last attempt failed, or the error is not temporary.
    """
    for wait in (*WAITS, None):
        try:
            return _within_patience(url, do, size, factor)
        except Exception as error:  # noqa: BLE001 - stores raise what their clients do
            os_error = _as_os_error(error, url)
            if wait is None or _is_final(os_error):
                raise os_error from None  # the original message may contain secrets
            sleep(wait)
    raise AssertionError


def _is_final(error: OSError) -> bool:
    return isinstance(error, _FINAL_ERRORS) or error.errno in _FINAL_CODES


def _as_os_error(error: Exception, url: str) -> OSError:
    """Convert an exception of a store to an OSError.

    The message has the HTTP status if there is one.
    """
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and cause not in causes:
        causes.append(cause)
    status, code = 0, ""
    for cause in causes:
        response = getattr(cause, "response", None)
        if isinstance(response, dict):  # exceptions of botocore
            code = str(response.get("Error", {}).get("Code", ""))
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        on_the_way = (it.status for it in getattr(cause, "history", ()))  # for endless redirects
        status = status or getattr(cause, "status", 0) or next(on_the_way, 0)
    if (late := _as_timeout(causes)) is not None:
        return late
    if code == "NoSuchBucket":
        return FileNotFoundError(errno.ENOENT, "the store has no such bucket")
    if (refusal := _as_refusal(status)) is not None:
        return refusal
    if isinstance(error, FileNotFoundError):
        cause = error.__cause__  # fsspec raises it for any HTTP failure
        if status or not isinstance(cause, Exception) or isinstance(cause, LookupError):
            # The message of most is just a path.
            return FileNotFoundError(errno.ENOENT, "there is no such file")
        error = cause
    kind = next((it for it in _FINAL_ERRORS if isinstance(error, it)), OSError)
    words = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    return kind(getattr(error, "errno", None) or errno.EIO, _scrubbed(words, url))


def _as_refusal(status: object) -> OSError | None:
    """Return the error of an HTTP status; None for a success and for a missing file."""
    if status in {401, 403}:
        return PermissionError(errno.EACCES, f"the server answered {status}")
    if type(status) is not int or not 300 <= status < 600 or status in {404, 410}:
        return None
    if status < 400:
        finding = f"the server answered {status}, and redirects without end"
        return OSError(errno.ELOOP, finding)
    return OSError(errno.EIO, f"the server answered {status}")


def _as_timeout(causes: Iterable[BaseException]) -> TimeoutError | None:
    """Return the first timeout among the causes of an error, with a message for users.

    None if there is no timeout among the causes.
    """
    for cause in causes:
        if isinstance(cause, _SlowServerError):
            return cause
        if isinstance(cause, TimeoutError):
            finding = f"the server sent no data for {_patience():g} seconds"
            return TimeoutError(errno.ETIMEDOUT, finding)
    return None


def _scrubbed(words: str, url: str) -> str:
    """Remove the secrets of a URL from what a library says about this URL."""
    return " ".join(_QUERY_IN_TEXT.sub("", hide_secrets(words, url)).split())
