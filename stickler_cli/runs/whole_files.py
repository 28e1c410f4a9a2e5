"""Write files completely or not at all. A temporary file is written, and renamed at the end."""

import errno
import io
import os
import select
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePath, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.real_paths import real_path
from stickler_cli.core.remote import check_url, hide_secrets, is_url, send_file, shown_url

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# Suffix of incomplete files whose format cannot say that documents are missing.
PARTIAL: Final = ".partial"
RUN_DIR: Final = "--run-dir"
RUN_FILE: Final = "run.json"
DOCUMENTS: Final = "documents.jsonl"
NON_MATCHES: Final = "non-matches.jsonl"
JOURNAL: Final = "journal"
# Result files of a finished run; the journal is not one.
RESULTS: Final = (RUN_FILE, DOCUMENTS, NON_MATCHES)
# Names in a run directory that no other output may have.
OWN_NAMES: Final = frozenset((JOURNAL, *RESULTS, *(f"{name}{PARTIAL}" for name in RESULTS)))
OWN_DATABASES: Final = "view-*.sqlite"

_SUFFIXES_OF_RUNS: Final = (".json", ".json.gz", ".json.zst", ".parquet", f".json{PARTIAL}")
_BEGINNING_BYTES: Final = 200  # bytes at the start of a run file within which it names its format

AS_IT_IS: Final = getattr(os, "O_BINARY", 0)  # keep Windows from translating line ends

_STREAMS: Final = {("/", "dev", name) for name in ("fd", "stdout", "stderr")}


def own_file(folder: str, name: str) -> Path | None:
    """Return the path of a file in a run directory, or None if there is no such file.

    Raises:
        UsageError: the file is a link, a pipe or anything else than a regular file.
    """
    path = Path(folder) / name
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(
            [Problem(str(path), f"the file cannot be read ({error.strerror})")]
        ) from None
    if stat.S_ISREG(mode):
        return path
    kind, hint = "not a regular file", "move it elsewhere, or give another run directory"
    if stat.S_ISDIR(mode):
        kind = "a directory"
    elif stat.S_ISLNK(mode):
        kind = "a link"
        hint = "copy the run directory together with the files that its links point to"
    raise UsageError(
        [
            Problem(
                source=str(path),
                found=f"this is {kind}",
                expected="a regular file of the run",
                hint=hint,
            )
        ]
    )


def holds_run(path: str) -> bool:
    """Return whether a local path is a run directory, or may be a run file."""
    file = _real_place(path)
    with suppress(OSError, ValueError):
        if not isinstance(file, Path):
            return False
        if not file.is_file():
            return (file / RUN_FILE).is_file()
        if file.name.lower().endswith(_SUFFIXES_OF_RUNS):
            with file.open("rb") as stream:
                beginning = stream.read(_BEGINNING_BYTES)
            is_packed = beginning.lstrip()[:1] not in (b"{", b"[")  # compressed, or Parquet
            return is_packed or b'"stickler-run/' in beginning
    return False


def check_own_files(folder: str) -> None:
    """Check that all files of a run directory are regular files.

    Raises:
        UsageError: a file is something else, such as a link or a pipe.
    """
    for name in (JOURNAL, *RESULTS, *(f"{name}{PARTIAL}" for name in RESULTS)):
        own_file(folder, name)


def _name_input(title: str) -> str:
    """Return a phrase that names an input in a message.

    If `title` is the flag of an option, such as `--gt`, the phrase is `the input of --gt`.
    Otherwise, it is the title itself, such as `the configuration file`.
    """
    return f"the input of {title}" if title.startswith("-") else title


def check_outputs(outputs: Iterable[tuple[str, str]], inputs: Iterable[tuple[str, str]]) -> None:
    """Check that no output would overwrite an input or another output.

    Each output is (option, path), and each input is (title, path). If an input is a directory, no
    output may be in this directory, or be a file to which a link in this directory leads.

    Raises:
        UsageError: an output would overwrite an input, another output, or a file that the run
            itself writes into its run directory.
    """
    input_files = [(name, _real_place(path), path) for name, path in inputs if path and path != "-"]
    problems, output_paths, outputs = [], set(), [*outputs]
    run_directories = [_real_place(path) for option, path in outputs if option == RUN_DIR]
    for option, path in outputs:
        output_path = _real_place(path)
        source = f"{option} {shown_url(path) if is_url(path) else path}"
        if output_path in output_paths:
            problems.append(
                Problem(source, "another output option names the same file", "a different file")
            )
        output_paths.add(output_path)
        if any(_is_own_name(output_path, directory) for directory in run_directories):
            finding = "this is a file of the run directory itself"
            hint = f"{RUN_DIR} already writes the run and its rows"
            problems.append(
                Problem(source=source, found=finding, expected="another file", hint=hint)
            )
        partial = (
            output_path.with_name(output_path.name + PARTIAL) if output_path.name else output_path
        )
        problems += (
            Problem(source, f"the output would overwrite {_name_input(name)}", "another file")
            for name, input_file, input_path in input_files
            if _overlap(output_path, input_file)
            or partial == input_file
            or _is_linked_to(output_path, input_path)
        )
    if problems:
        raise UsageError(problems)


def _overlap(path: PurePath, input_path: PurePath) -> bool:
    return (
        _is_same(path, input_path)
        or any(_is_same(parent, input_path) for parent in path.parents)
        or any(_is_same(path, parent) for parent in input_path.parents)
    )


def _is_same(first: PurePath, second: PurePath) -> bool:
    """Return whether two paths name the same file, even if the file system ignores case.

    Two paths that do not exist yet count as the same if they differ only in case.
    """
    if first == second:
        return True
    if str(first).casefold() != str(second).casefold():
        return False
    try:
        return Path(first).samefile(second)
    except OSError:
        return not Path(first).exists() and not Path(second).exists()


def _is_own_name(path: PurePath, directory: PurePath) -> bool:
    """Return whether a path belongs to a file that the run itself writes into a run directory.

    `directory` is the run directory. Only the first name in the path below it decides, such as
    `journal`. Case is ignored, because some file systems ignore case.
    """
    steps = path.parts[len(directory.parts) :]
    if not steps or not _is_same(path.parents[len(steps) - 1], directory):
        return False
    name = steps[0].casefold()
    return name in OWN_NAMES or fnmatchcase(name, OWN_DATABASES)


def _is_linked_to(place: PurePath, directory: str) -> bool:
    """Return whether a link in a directory leads to the file `place`."""
    if is_url(directory) or not isinstance(place, Path) or not place.is_file():
        return False
    return any(
        Path(folder, name).is_symlink() and real_path(Path(folder, name)) == place
        for folder, _, names in os.walk(directory)
        for name in names
    )


def _real_place(path: str) -> PurePath:
    if path.lower().startswith("file://"):  # a file URL names the same as a path
        return real_path(path.partition("://")[2])
    return PurePosixPath(path) if is_url(path) else real_path(path)


@contextmanager
def whole_file(
    path: str, option: str, *, partial: Callable[[], bool] = lambda: False
) -> Iterator[BinaryIO]:
    """Open a file for writing. The file gets its name only if the block succeeds.

    If `partial` returns True at the end, `.partial` is appended to the name. Devices and pipes are
    written to directly, links are followed, and a file at a URL is uploaded at the end. `option`
    names the file in messages.

    Raises:
        UsageError: no file can be created there.
        OSError: the file cannot be written; the error names the file.
    """
    if is_url(path):
        with _open_uploaded_file(path, option, partial) as sent:
            yield sent
        return
    target = Path(path)
    if target.is_dir():
        raise UsageError([Problem(f"{option} {path}", "this is a directory", "a file")])
    try:
        # Standard output may lead to an open file, which must not be replaced either.
        if _is_stream(target):
            handle, beside = os.open(target, os.O_WRONLY), None
        else:
            target = real_path(target)
            if target.is_symlink():
                target.stat()  # raises: links lead in a circle
            beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | AS_IT_IS, 0o666)
    except OSError as error:
        finding = f"the file cannot be created ({error.strerror})"
        is_misspelt_url = hide_secrets(path) != path  # parts of it may contain parts of a password
        is_missing = isinstance(error, FileNotFoundError) and not target.parent.exists()
        advise = is_missing and not is_misspelt_url
        hint = f"create the directory '{target.parent}' first" if advise else ""
        raise UsageError([Problem(f"{option} {path}", finding, hint=hint)]) from None
    with io.BufferedWriter(WholeWriter(handle, path)) as stream:
        if beside is None:
            yield stream
            return
        try:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            beside.replace(f"{target}{PARTIAL}" if partial() else target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _is_stream(target: Path) -> bool:
    """Return whether an output is a device, a pipe or a stream such as `/dev/stdout`.

    These outputs must be written to directly: no temporary file can be renamed to replace them.
    """
    is_named_stream = target.parts[:2] == ("/", "proc") or target.parts[:3] in _STREAMS
    return is_named_stream or (target.exists() and not target.is_file())


def name_of_partial(path: str) -> str:
    """Return the name that `whole_file` gives to an output if `partial` returns True.

    `.partial` is appended to the name, except for devices, pipes and streams. If `path` is a link,
    the name is that of the file to which the link leads.
    """
    if is_url(path):
        return f"{shown_url(path)}{PARTIAL}"
    target = Path(path)
    if _is_stream(target):
        return path
    return f"{real_path(target) if target.is_symlink() else path}{PARTIAL}"


def check_url_of_output(url: str, source: str) -> None:
    """Raise UsageError if this kind of URL cannot be written to."""
    if url.lower().startswith(("http://", "https://")):
        expected = "a file, or the URL of a store, such as s3://bucket/file"
        finding = "stickler cannot write to an http address"
        raise UsageError([Problem(source, finding, expected)])
    check_url(url)


@contextmanager
def _open_uploaded_file(url: str, option: str, partial: Callable[[], bool]) -> Iterator[BinaryIO]:
    """Open a local file that is uploaded to a URL if the block succeeds.

    If the upload fails, the local file is kept.
    """
    check_url_of_output(url, f"{option} {shown_url(url)}")
    with NamedTemporaryFile(prefix="stickler-", delete=False) as stream:
        temporary = Path(stream.name)
        try:
            yield cast("BinaryIO", stream)
        except BaseException:
            temporary.unlink()
            raise
    try:
        send_file(temporary, f"{url}{PARTIAL}" if partial() else url)
    except OSError as error:
        finding = f"{error.strerror or error}; the output is saved in {temporary}"
        raise OSError(error.errno or errno.EIO, finding, shown_url(url)) from None
    temporary.unlink()


class WholeWriter(io.FileIO):
    """An unbuffered file whose `write` always writes all bytes. An OSError names the file.

    In contrast, a single system call may write only some of the bytes, if the disk is almost full
    or a signal arrives.
    """

    def __init__(self, handle: int, path: str | None = None, *, closefd: bool = True) -> None:
        super().__init__(handle, "wb", closefd)
        self._path = path

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write all bytes, with as many system calls as necessary."""
        remaining = memoryview(data).cast("B")
        size = len(remaining)
        while remaining:
            try:
                n_written = super().write(remaining)
            except OSError as error:
                raise OSError(error.errno, error.strerror, self._path) from None
            if n_written is None:  # the file is non-blocking and full for now
                select.select([], [self], [])
            else:
                remaining = remaining[n_written:]
        return size
