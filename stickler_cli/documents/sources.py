"""Sources of documents: their kinds, the listing of directories, and hints at similar names."""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager, nullcontext, suppress
from enum import Enum
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.normal_forms import normalize_text
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.core.remote import hide_secrets, is_url, list_url, shown_url, size_of_url
from .document import FileReference, Reference
from .document_tables import is_arrow_table
from .lines import LINES_SUFFIX, TABLE_SUFFIX, is_stream
from .reading import STANDARD_INPUT, decoded, unreadable

_DOCUMENT_SUFFIX: Final = re.compile(r"\.json(\.gz|\.zst)?\Z", re.IGNORECASE)
_KINDS: Final = (
    "a directory, a .json file, a .jsonl, .ndjson, .csv or .tsv file (also with .gz or "
    ".zst), a .parquet or .arrow table, or - for standard input"
)

_OWN_FORMAT: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*"(stickler-[a-z-]+/\d+)"')
_BEGINNING: Final = 100  # bytes within which files of this program state their format

PATIENCE: Final = 2.0  # seconds of listing after which a line is printed
REMINDER: Final = 30.0  # seconds until the line is printed again

ONE_FILE: Final = "one file for each document"
"""The text of `Problem.expected` if two files have the same id."""


class SourceKind(Enum):
    """Kinds of sources, as messages name them."""

    FILE = "a JSON file"
    DIRECTORY = "a directory"
    LINES = "a JSON Lines, CSV or TSV file"
    TABLE = "a .parquet or .arrow table"


class Listing(NamedTuple):
    """The files found in a directory."""

    documents: dict[str, Reference]
    skipped: int
    """Number of files that were skipped because they do not have the suffix of a document. Hidden
    files are not counted."""
    hidden: int
    """Number of files and directories whose name begins with a dot."""
    problems: tuple[Problem, ...]
    """Problems of files and links that were omitted, although they may be documents."""


def kind_of_source(name: str) -> SourceKind | Problem:
    """Return the kind of a source, or a problem if the source cannot be used."""
    if name == STANDARD_INPUT:
        # None if standard input was closed when the interpreter started.
        return SourceKind.LINES if sys.stdin else Problem("-", "standard input is closed")
    return _kind_of_url(name) if is_url(name) else _kind_on_disk(name)


def _kind_on_disk(name: str) -> SourceKind | Problem:
    try:
        mode = Path(name).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Problem(decoded(name), "there is no such file or directory", hint=near_name(name))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        return unreadable(decoded(name), error)
    if stat.S_ISDIR(mode):
        return SourceKind.DIRECTORY
    if is_stream(name):
        return SourceKind.LINES
    return _kind_of_file(name, is_regular=stat.S_ISREG(mode))


def _kind_of_file(name: str, *, is_regular: bool) -> SourceKind | Problem:
    """Return the kind of a local file, or a problem if it cannot be a source of documents."""
    if not is_regular:
        hint = "give - as the file name to read JSON Lines from standard input"
        return Problem(
            source=decoded(name),
            found="this path is not a regular file",
            expected=_KINDS,
            hint=hint,
        )
    if own_format := _own_format(name):
        hint = "use stickler report to read a run" if own_format.startswith("stickler-run/") else ""
        return Problem(
            source=decoded(name),
            found=f"this file contains output of stickler ({own_format}), not documents",
            expected="documents",
            hint=hint,
        )
    kind = _asked_for(name)
    if kind in {SourceKind.LINES, SourceKind.TABLE} and not os.access(name, os.R_OK):
        return Problem(decoded(name), "cannot be read: permission denied")
    return kind or Problem(
        decoded(name),
        "the file name does not show what kind of documents this file contains",
        _KINDS,
    )


def _own_format(file: str) -> str:
    """Return the format of a result file that this program wrote; empty for other files."""
    with suppress(OSError), Path(file).open("rb") as stream:
        match = _OWN_FORMAT.match(stream.read(_BEGINNING))
        return match[1].decode() if match else ""
    return ""


def _kind_of_url(url: str) -> SourceKind | Problem:
    """Return the kind of a URL, which its suffix shows.

    A URL without a known suffix is a directory. If the suffix shows that the URL is a file, but the
    file cannot be reached, a problem is returned.
    """
    name = shown_url(url)
    kind = _asked_for(name)
    if kind is None or (kind is SourceKind.FILE and "*" in name):
        return SourceKind.DIRECTORY
    try:
        size_of_url(url)
    except OSError as error:
        return unreadable(name, error)
    return kind


def _asked_for(name: str) -> SourceKind | None:
    if _DOCUMENT_SUFFIX.search(name):
        return SourceKind.FILE
    if LINES_SUFFIX.search(name) or TABLE_SUFFIX.search(name):
        return SourceKind.LINES
    return SourceKind.TABLE if is_arrow_table(name) else None


def near_name(name: str) -> str:
    """Return a hint that names a similar file in the same directory.

    If the directory does not exist, or is a file, the hint says so. It is empty if there is no
    similar file, if the directory cannot be listed, or if the name contains a secret.
    """
    if hide_secrets(name) != name:  # a part of it may contain a part of a password
        return ""
    path = Path(name)
    try:
        siblings = os.listdir(path.parent)  # noqa: PTH208 - names, not paths, are compared
    except (FileNotFoundError, NotADirectoryError):
        directory = decoded(str(path.parent))
        if path.parent.exists():
            return f"{directory} is a file, not a directory"
        return f"the directory {directory} does not exist either"
    except OSError:
        return ""
    # A link that leads nowhere has the name itself.
    other_names = [sibling for sibling in siblings if sibling != path.name]
    return did_you_mean(
        path.name, other_names, display=lambda name: decoded(str(path.parent / name))
    )


def id_of_file(name: str) -> str | None:
    """Return the id of a document file: its name or relative path without suffix.

    None if the suffix is not that of a document.
    """
    stem, n_suffixes = _DOCUMENT_SUFFIX.subn("", name)
    return decoded(stem) if n_suffixes else None


_FoundFiles: TypeAlias = list[tuple[str, str, Reference]]  # id, name and reference of each file


def list_directory(root: str, limit: int, tell: Callable[[str], None] | None = None) -> Listing:
    """List the documents in a directory and its subdirectories.

    Hidden files and directories are counted, but not read. Links to files are followed. Links to
    directories are not followed, except if the root itself is one. Three things become problems:
    two files with the same id, a broken link, and a directory that has the suffix of a document but
    contains no document.

    Raises:
        UsageError: the directory, or one inside it, cannot be listed.
    """
    lister = _list_elsewhere if is_url(root) else _list_here
    files: _FoundFiles = []
    with nullcontext() if tell is None else _telling(tell, decoded(root), files):
        return lister(root, limit, files)


@contextmanager
def _telling(tell: Callable[[str], None], root: str, found: Sized) -> Iterator[None]:
    """Return a context in which the progress of a slow listing is printed at intervals.

    `found` are the files found so far. `tell` prints their number.
    """
    ended = Event()

    def remind() -> None:
        wait = PATIENCE
        while not ended.wait(wait):
            # A remote store returns nothing until its list is complete.
            count = f" ({len(found):,} so far)" if found else ""
            tell(
                f"still listing the files of {root}{count}; the comparison starts when the "
                "list is complete"
            )
            wait = REMINDER

    thread = Thread(target=remind, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()  # end it, as a process with two threads cannot be forked


def _list_here(root: str, limit: int, files: _FoundFiles) -> Listing:
    """List the documents below a local directory."""
    problems: list[Problem] = []
    named: list[tuple[str, str]] = []  # directories with the suffix of a document
    skipped = hidden = 0
    for relative, entry in _entries(root):
        document = id_of_file(relative)
        if entry.name.startswith("."):
            hidden += 1
        elif entry.is_dir(follow_symlinks=False):
            if document is not None:
                named.append((document, decoded(entry.path)))
        elif entry.is_symlink() and os.path.isdir(entry.path):  # noqa: PTH112 - it never raises
            place, hint = (
                decoded(entry.path),
                ("name the directory that the link points to, or copy that directory here"),
            )
            problems.append(
                Problem(
                    source=place,
                    found="this link to a directory was skipped",
                    expected="",
                    hint=hint,
                )
            )
        elif document is None:
            skipped += 1
        else:
            files.append((document, decoded(entry.path), _reference(entry, limit)))
    holding = {parent for _, file, _ in files for parent in Path(file).parents} if named else set()
    files += (
        (document, file, Problem(file, "this is a directory", "a file"))
        for document, file in named
        if Path(file) not in holding
    )
    return Listing(
        documents=_by_id(root, files, problems),
        skipped=skipped,
        hidden=hidden,
        problems=tuple(problems),
    )


def _list_elsewhere(root: str, limit: int, found: _FoundFiles) -> Listing:
    """List the documents below a URL.

    Remote stores have no links and no real directories: a directory is only a common beginning of
    the names of files.
    """
    problems: list[Problem] = []
    skipped = hidden = 0
    try:
        for relative, url, size in list_url(root):
            document = id_of_file(relative)
            if any(segment.startswith(".") for segment in relative.split("/")):
                hidden += 1
            elif document is None:
                skipped += 1
            else:
                found.append((document, decoded(url), FileReference(url, limit, size)))
    except OSError as error:
        raise UsageError([unreadable(decoded(root), error)]) from error
    if not found and not skipped and not hidden:
        hint = "check the address"
        raise UsageError(
            [
                Problem(
                    source=decoded(root),
                    found="there is nothing at this URL",
                    expected=".json files",
                    hint=hint,
                )
            ]
        )
    return Listing(
        documents=_by_id(root, found, problems),
        skipped=skipped,
        hidden=hidden,
        problems=tuple(problems),
    )


def _by_id(root: str, found: _FoundFiles, problems: list[Problem]) -> dict[str, Reference]:
    """Return a dict from id to reference for all files, sorted by id.

    If two files have the same id, the reference for this id is a problem. If there are no files, a
    problem is added to `problems`.
    """
    found.sort(key=itemgetter(0, 1))
    documents: dict[str, Reference] = {}
    for document, same in groupby(found, key=itemgetter(0)):
        (_, source, reference), *other_files = same
        if other_files:
            found_twice = (
                "this file gives the same document id as "
                f"{' and '.join((file for _, file, _ in other_files))}"
            )
            reference = Problem(source, found_twice, ONE_FILE)
        documents[document] = reference
    if not documents:
        hint = "for JSON Lines, give the file itself, not its directory"
        problems.append(
            Problem(
                source=decoded(root),
                found="this directory contains no .json files",
                expected="",
                hint=hint,
            )
        )
    return documents


def _entries(root: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (relative path, entry) for all files and directories below a directory.

    A hidden directory is yielded, but its content is not.
    """
    pending = [(root, "")]
    while pending:
        directory, prefix = pending.pop()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                        pending.append((entry.path, f"{prefix}{entry.name}/"))
                    yield prefix + entry.name, entry
        except OSError as error:
            raise UsageError([unreadable(decoded(directory), error)]) from error


def _reference(entry: os.DirEntry[str], limit: int) -> Reference:
    try:
        status = entry.stat()
    except FileNotFoundError:
        return Problem(decoded(entry.path), "this link points to a file that does not exist")
    except OSError as error:
        return unreadable(decoded(entry.path), error)
    if not stat.S_ISREG(status.st_mode):
        return Problem(decoded(entry.path), "this path is not a regular file")
    return FileReference(entry.path, limit, status.st_size)


def folded(name: str) -> str:
    """Return a name in lower case and in one Unicode form, so that similar names become equal."""
    return normalize_text("NFC", normalize_text("NFC", name).casefold())


def difference(name: str, other: str | None) -> str:
    """Return a hint that says how two similar names differ; empty if `other` is None."""
    if other is None:
        return ""
    same_form = normalize_text("NFC", name) == normalize_text("NFC", other)
    # Escape the name, as both Unicode forms look alike.
    other_text = ascii(other) if same_form else repr(other)
    aspect = f"Unicode form (here {name!a})" if same_form else "case"
    return (
        f"there is {other_text}, which differs only in {aspect}; two ids are paired only "
        "if every character is equal"
    )
