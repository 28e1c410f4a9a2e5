"""A run directory: the files of a run, and a journal from which an interrupted run continues.

A journal is a file that only grows. Its first line names the format. Each further line is a
checksum, a blank and a JSON record. The checksum covers the record and the checksum before it. A
killed program or a full disk can damage the end of the file, so the first damaged record and
everything after it are cut off.

A run directory at a URL is kept in a local temporary directory, and uploaded as it grows. Remote
stores cannot append to a file, so the journal is uploaded in parts. A part is named after the
position of its first byte (`journal.000000001234`). The parts are joined at the end.
"""

import errno
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import TemporaryDirectory, mkdtemp
from time import monotonic
from typing import Final, TypeAlias

from stickler_cli.core.json_values import brief, json_line
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.remote import (
    is_url,
    list_url,
    open_url,
    remove_url,
    send_bytes,
    send_file,
    shown_url,
)
from stickler_cli.documents.reading import decoded
from stickler_cli.records.codec import decode
from stickler_cli.runs.whole_files import (
    AS_IT_IS,
    JOURNAL,
    PARTIAL,
    RESULTS,
    RUN_DIR,
    check_own_files,
    check_url_of_output,
    own_file,
)
from stickler_cli.settings.of_commands import EvalSettings

if sys.platform != "win32":  # Windows lacks this module
    import fcntl

FORMAT: Final = b"stickler-journal/"
FIRST_LINE: Final = FORMAT + b"1\n"

CHECKSUM_BYTES: Final = 16

BEGIN_AGAIN: Final = "to start over, use --restart; to keep both runs, give another directory"
"""Hint for the user if a run cannot continue in a directory."""

_NOT_ELSEWHERE: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags for opening a file. A link is not followed, and opening a named pipe does not wait."""

# How many seconds of records a crash of the machine may lose; no other failure loses any.
SYNC_SECONDS: Final = 1.0


def _not_a_file(path: str, option: str, kind: str) -> Problem:
    """Return the problem that the path of a journal leads to something else, such as a directory.

    `kind` says what is there.
    """
    finding = f"the run directory must contain a file {Path(path).name}, but {path} is {kind}"
    return Problem(option, finding, hint=f"delete {path}, or give another {RUN_DIR}")


class Journal:
    """A journal file that is locked for this process."""

    def __init__(self, path: str, option: str, *, restart: bool = False) -> None:
        """Open or create a journal. With `restart`, its records are deleted.

        Raises:
            UsageError: the file cannot be opened, is not a journal, or is in use by another run.
        """
        self._path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | AS_IT_IS | _NOT_ELSEWHERE, 0o666)
        except IsADirectoryError:
            raise UsageError([_not_a_file(path, option, "a directory")]) from None
        except OSError as error:
            finding = f"{path} cannot be opened ({error.strerror})"
            raise UsageError([Problem(option, finding)]) from None
        if not stat.S_ISREG(os.fstat(self._handle).st_mode):
            self.close()
            raise UsageError([_not_a_file(path, option, "not a regular file")])
        self._chain = b""
        self._synced = monotonic()
        self.cut = 0
        """Number of damaged bytes that were cut off after the last valid record. It is 0 until all
        records have been read."""
        try:
            self._begin(option, restart=restart)
        except BaseException:
            self.close()
            raise

    def _begin(self, option: str, *, restart: bool) -> None:
        """Lock the file, and write the first line if it is missing or incomplete."""
        if sys.platform != "win32":  # Windows has no such lock
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                hint = "wait until the other run has finished, or give another directory"
                raise UsageError(
                    [
                        Problem(
                            source=option,
                            found="another run is using this directory",
                            expected="",
                            hint=hint,
                        )
                    ]
                ) from None
        start = os.read(self._handle, len(FIRST_LINE))
        is_ours = FIRST_LINE.startswith(start)  # also if it is incomplete: a crash can cut it
        is_of_another_version = start.startswith(FORMAT) and not is_ours
        if is_of_another_version and not restart:
            finding = "the journal in this directory was written by another version of stickler"
            raise UsageError(
                [
                    Problem(
                        source=option,
                        found=finding,
                        expected="a journal of this version",
                        hint=BEGIN_AGAIN,
                    )
                ]
            )
        if not is_of_another_version and not is_ours:
            hint = "give another directory"
            finding = f"the file {self._path} was not written by stickler"
            raise UsageError(
                [Problem(source=option, found=finding, expected="the journal of a run", hint=hint)]
            )
        if restart or start != FIRST_LINE:
            self.clear()

    def clear(self) -> None:
        """Remove all records."""
        self._cut_at(0)
        self._chain = b""
        self._write(FIRST_LINE)

    def records(self) -> Iterator[bytes]:
        """Yield all valid records, then cut off what follows them.

        New records can be appended only after all records have been yielded.
        """
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
        """Append a record of JSON values to the journal.

        Raises:
            OSError: the record cannot be written; the error names the file.
        """
        line = json_line(record)
        self._chain = self._next(line)
        self._write(self._chain.hex().encode() + b" " + line)
        if monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Flush all records to the disk.

        Raises:
            OSError: the disk cannot be written to; the error names the file.
        """
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None
        self._synced = monotonic()

    def close(self) -> None:
        """Close the file and release its lock."""
        with suppress(OSError):
            os.close(self._handle)

    def _next(self, record: bytes) -> bytes:
        return blake2b(self._chain + record, digest_size=CHECKSUM_BYTES).digest()

    def _cut_at(self, end: int) -> None:
        os.ftruncate(self._handle, end)
        os.lseek(self._handle, end, os.SEEK_SET)

    def _write(self, data: bytes) -> None:
        remaining = memoryview(data)
        try:
            while remaining:
                remaining = remaining[os.write(self._handle, remaining) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from None


SEND_SECONDS: Final = 30.0  # how many seconds of a run a crash of the machine may lose
SENT: Final = (*RESULTS, *(f"{name}{PARTIAL}" for name in RESULTS))
_PART: Final = re.compile(rf"{JOURNAL}(\.\d+)?", re.ASCII)


# Name of the record in messages, and its values.
JournalRecord: TypeAlias = tuple[str, dict[str, object]]


class SentDirectory:
    """The local copy of a run directory at a URL, while a run uses it."""

    def __init__(self, url: str, source: str, tell: Callable[[str], None]) -> None:
        """Create an empty local copy.

        Raises:
            UsageError: this kind of URL cannot be written to.
        """
        check_url_of_output(url, source)
        self.folder = mkdtemp(prefix="stickler-run-")
        self._url, self._source, self._tell = url.rstrip("/"), source, tell
        self._journal = Path(self.folder) / JOURNAL
        self._remote_names: set[str] = set()  # names of the run's files at the URL
        self._sent = 0  # number of journal bytes that have been uploaded
        self._last = monotonic()

    @contextmanager
    def synchronise(self, *, restart: bool) -> Iterator[None]:
        """Download the journal, run the block of the `with`, then upload journal and results.

        Raises:
            UsageError: the remote directory cannot be listed or read, or holds files that are not
                of a run.
            OSError: results cannot be uploaded; the message says where they are kept.
        """
        try:
            self._begin(restart=restart)
        except OSError as error:
            rmtree(self.folder)
            finding = f"this directory cannot be used ({error.strerror or error})"
            raise UsageError(
                [Problem(self._source, finding, "a directory in a store, such as s3://bucket/run")]
            ) from None
        except BaseException:
            rmtree(self.folder)
            raise
        ended_well = False
        try:
            yield
            ended_well = True
        finally:
            self._finish(with_results=ended_well)

    def _begin(self, *, restart: bool) -> None:
        """Download the parts of the journal.

        With `restart`, delete the run's remote files instead.
        """
        listed = [name for name, _, _ in list_url(self._url)]
        _refuse_others(self._source, listed)
        part_names = sorted(name for name in listed if _PART.fullmatch(name))
        self._remote_names = {*part_names, *(name for name in listed if name in SENT)}
        if restart:
            self._remove(self._remote_names)
            part_names = []
        with self._journal.open("wb") as stream:
            for name in part_names:
                offset = int(name.partition(".")[2] or 0)
                if offset > stream.tell():  # a part is missing, so later ones are of no use
                    break
                # Later parts replace damaged bytes of earlier ones, or repeat a journal that was
                # joined.
                stream.truncate(offset)
                stream.seek(offset)
                with open_url(f"{self._url}/{name}") as part:
                    copyfileobj(part, stream)
        self._sent = self._journal.stat().st_size

    def append(self, journal: Journal, record: object) -> None:
        """Append a record to the journal. New records are uploaded from time to time."""
        # Damaged bytes at the end have been cut off.
        self._sent = min(self._sent, self._journal.stat().st_size)
        journal.append(record)
        if monotonic() - self._last < SEND_SECONDS:
            return
        try:
            self.send()
        except OSError as error:
            explanation = (
                f"the results cannot be uploaded ({error.strerror or error}); stickler "
                "will try again"
            )
            self._tell(f"{self._source}: {explanation}")
        self._last = monotonic()

    def send(self) -> None:
        """Upload the records that have not been uploaded yet."""
        with self._journal.open("rb") as stream:
            stream.seek(self._sent)
            data = stream.read()
        if data:
            name = f"{JOURNAL}.{self._sent:012d}" if self._sent else JOURNAL
            send_bytes(data, f"{self._url}/{name}")
            self._remote_names.add(name)
            self._sent += len(data)

    def _finish(self, *, with_results: bool) -> None:
        """Upload the remaining files, then delete the local copy.

        If an upload fails, the copy is kept.
        """
        try:
            self.send()
            if with_results:
                present = [name for name in SENT if (Path(self.folder) / name).exists()]
                for name in (*present, JOURNAL):
                    send_file(Path(self.folder) / name, f"{self._url}/{name}")
                self._remove(self._remote_names - {*present, JOURNAL})
        except OSError as error:
            advice = (
                f"the results are saved in {self.folder}; to continue the run, give this "
                "directory as --run-dir"
            )
            found = f"{error.strerror or error}; {advice}"
            if with_results:
                raise OSError(error.errno or errno.EIO, found, shown_url(self._url)) from None
            self._tell(f"{self._source}: {found}")
        else:
            rmtree(self.folder)

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            remove_url(f"{self._url}/{name}")


@dataclass(slots=True)
class RunDirectory:
    """A run directory that is locked for this run."""

    path: str
    source: str
    """Name of the directory in messages."""
    journal: Journal
    records: Iterator[JournalRecord]
    """Records of the journal, except the first one, which has the settings."""
    tell: Callable[[str], None]
    """Prints a line about the state of the journal."""
    started: str
    """Start time of the run, or of the earlier run that it continues."""
    sent: SentDirectory | None = None
    """Uploads the files; None for a local directory."""

    def place(self, name: str) -> str:
        """Return the path of a file in the directory."""
        return os.path.join(self.path, name)  # noqa: PTH118 - as the user wrote it

    def note(self, record: object) -> None:
        """Append a record to the journal."""
        if self.sent is None:
            self.journal.append(record)
        else:
            self.sent.append(self.journal, record)

    def finish(self) -> None:
        """Delete the partial files of an interrupted run."""
        for name in RESULTS:
            Path(self.place(name) + PARTIAL).unlink(missing_ok=True)


@contextmanager
def run_directory(
    path: str,
    settings: Mapping[str, object],
    started: str,
    *,
    restart: bool = False,
    tell: Callable[[str], None],
) -> Iterator[RunDirectory]:
    """Lock a run directory while the block of the `with` runs. Create it if necessary.

    Raises:
        UsageError: the directory cannot be used, holds other files than those of a run, was begun
            with other settings, or is in use by another run.
        OSError: the directory cannot be written to.
    """
    source = f"{RUN_DIR} {decoded(path)}"
    with ExitStack() as stack:
        sent = None
        if is_url(path):
            sent = SentDirectory(path, source, tell)
            stack.enter_context(sent.synchronise(restart=restart))
        folder = path if sent is None else sent.folder
        _make(folder, source)
        journal = Journal(str(Path(folder) / JOURNAL), source, restart=restart)
        stack.callback(journal.close)
        directory = RunDirectory(
            path=folder,
            source=source,
            journal=journal,
            records=iter(()),
            tell=tell,
            started=started,
            sent=sent,
        )
        _begin(directory, settings, os.path.join(decoded(path), JOURNAL))  # noqa: PTH118
        yield directory


def _begin(directory: RunDirectory, settings: Mapping[str, object], shown_path: str) -> None:
    """Check that a run has the settings with which its directory was begun.

    If the journal is still empty, the settings are written into it. `shown_path` names the
    directory in messages.
    """
    directory.records = _journal_records(directory.journal, shown_path)
    first = next(directory.records, None)
    for name in RESULTS:
        # Temporary file of a run that was killed.
        for file in Path(directory.path).glob(f".{name}.*"):
            file.unlink(missing_ok=True)
        if first is None:
            Path(directory.place(name)).unlink(missing_ok=True)
    if first is None:
        directory.note({"settings": settings, "started": directory.started})
        if directory.sent is not None:
            directory.sent.send()
    else:
        place, record = first
        earlier_settings = decode(dict[str, object], record.get("settings"), place, ("settings",))
        _compare(earlier_settings, settings, directory.source)
        directory.started = decode(str, record.get("started"), place, ("started",))


def begun_with(path: str) -> dict[str, object]:
    """Return the settings with which the run of a directory was begun.

    Raises:
        UsageError: there is no usable journal, or a run is using it.
    """
    with ExitStack() as stack:
        file, shown_path = Path(path) / JOURNAL, os.path.join(decoded(path), JOURNAL)  # noqa: PTH118
        if is_url(path):
            file = Path(stack.enter_context(TemporaryDirectory(prefix="stickler-"))) / JOURNAL
            with suppress(FileNotFoundError), open_url(f"{path.rstrip('/')}/{JOURNAL}") as stream:
                file.write_bytes(stream.read())
            is_missing = not file.exists()
        else:
            is_missing = own_file(path, JOURNAL) is None
        if is_missing:
            finding = "this directory contains no journal of a run"
            raise UsageError(
                [
                    Problem(
                        decoded(path),
                        finding,
                        ("a run directory, made with stickler eval --run-dir"),
                    )
                ]
            )
        journal = Journal(str(file), decoded(path))
        stack.callback(journal.close)
        first = next(_journal_records(journal, shown_path), None)
    if first is None:
        raise UsageError(
            [
                Problem(
                    shown_path, "the journal is empty", "the options that the run was started with"
                )
            ]
        )
    place, record = first
    return decode(dict[str, object], record.get("settings"), place, ("settings",))


def _make(path: str, source: str) -> None:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = os.listdir(folder)  # noqa: PTH208
    except FileExistsError:
        raise UsageError([Problem(source, "this is a file", "a directory")]) from None
    except OSError as error:
        finding = f"this directory cannot be used ({error.strerror})"
        raise UsageError([Problem(source, finding, "a directory")]) from None
    _refuse_others(source, names)
    check_own_files(path)


def _refuse_others(source: str, names: Iterable[str]) -> None:
    foreign_names = sorted(name for name in names if not name.startswith("."))
    if foreign_names and JOURNAL not in foreign_names:
        finding = (
            f"the directory contains files that are not from a run ({', '.join(foreign_names[:3])})"
        )
        expected = "a new or empty directory, or the directory of an earlier run"
        raise UsageError([Problem(source, finding, expected)])


def _journal_records(journal: Journal, path: str) -> Iterator[JournalRecord]:
    """Yield (name for messages, record) for each record of a journal.

    Raises:
        UsageError: a record is not a JSON object, although its checksum is right.
    """
    for number, record in enumerate(journal.records(), 1):
        try:
            # orjson would turn large integers into floats, and limits the depth.
            value = json.loads(record)
        except (ValueError, RecursionError) as error:
            finding = f"record {number} is not JSON ({error})"
            raise UsageError(
                [Problem(source=path, found=finding, expected="", hint=BEGIN_AGAIN)]
            ) from None
        source = f"{path} record {number}"
        yield source, decode(dict[str, object], value, source)


_OPTIONS: Final = {
    "first_non_matches": "--show-non-matches",
    "intervals": "--ci or --seed",
}
"""Maps a setting to its command-line option, if the two have different names."""


def _option_of(setting: str) -> str:
    """Return the command-line option of a setting, or its own name if it has no option."""
    is_option = setting in EvalSettings.__dataclass_fields__
    return _OPTIONS.get(setting) or (f"--{setting.replace('_', '-')}" if is_option else setting)


def _describe_change(setting: str, current: object, earlier: object) -> str:
    """Return a text that says what a setting is now, and what it was when the run was started."""
    if setting == "detail":  # which no option states: only pages need single errors and values
        with_page = "with" if earlier else "without"
        return f"the run was started {with_page} an HTML report (-o report.html)"
    if setting == "schema":  # its digest would tell nothing
        return "the schema has changed since the run was started"
    if setting in {"by", "schema by"}:  # their digests would tell nothing
        return _describe_groupings(setting, current, earlier)
    return f"{_option_of(setting)} is now {brief(current)}, but was {brief(earlier)}"


def _describe_groupings(setting: str, current: object, earlier: object) -> str:
    """Return a text on a change of `--by` or `--schema-by`, without the digests of the groups."""
    option = f"--{setting.replace(' ', '-')}"
    now, before = (_list_group_keys(value) or "not given" for value in (current, earlier))
    if now == before:
        return f"the groups of {option} {now} have changed since the run was started"
    return f"{option} is now {now}, but was {before}"


def _list_group_keys(groupings: object) -> str:
    """Return the keys of groupings as a text; empty if there are none.

    `groupings` is one grouping or a list of groupings. A grouping is a pair of a key and a digest.
    """
    pairs = [*groupings] if isinstance(groupings, list) else []
    is_pair = bool(pairs) and isinstance(pairs[0], str)
    return ", ".join(str(key) for key, _ in ([pairs] if is_pair else pairs))


def _compare(
    earlier_settings: Mapping[str, object], settings: Mapping[str, object], source: str
) -> None:
    current_settings = json.loads(json_line(settings))
    problems = [
        Problem(
            source=source,
            found=_describe_change(name, current_settings.get(name), earlier_settings.get(name)),
            expected="the same options as when the run was started",
            hint=BEGIN_AGAIN,
        )
        for name in dict.fromkeys((*earlier_settings, *current_settings))
        if earlier_settings.get(name) != current_settings.get(name)
    ]
    if problems:
        raise UsageError(problems)
