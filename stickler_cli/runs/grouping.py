"""The groups that documents are broken down into: by a field, by directory, by a metadata file."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import PurePosixPath
from typing import Final

from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.lines import value_at
from stickler_cli.documents.metadata import read_columns, text_of
from stickler_cli.documents.pairs import DocumentPair

BY: Final = "--by"
BY_FILE: Final = "--by-file"
MARK: Final = "@"  # begins a key that is not a field of the ground truth
DIRECTORY: Final = f"{MARK}directory"

EXPECTED: Final = f"a field of the ground truth, {DIRECTORY}, or {MARK}COLUMN of the {BY_FILE} FILE"


@dataclass(frozen=True, slots=True)
class Grouping:
    """What documents are grouped by: a field, `@directory` or a column of a metadata file."""

    key: str
    path: Path = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """By a column: the group of each document that has one, by its id."""


def parse_groupings(keys: Sequence[str], file: str | None) -> tuple[Grouping, ...]:
    """Read what documents are to be grouped by, and the metadata file, if any."""
    columns = [key for key in keys if key.startswith(MARK) and key != DIRECTORY]
    problems = [
        Problem(f"{BY} {key}", f"there is no {BY_FILE} that could have this column", EXPECTED)
        for key in columns
        if file is None
    ]
    if file is not None and not columns:
        found = f"no {BY} names a column of it"
        problems.append(Problem(f"{BY_FILE} {file}", found, f"such as {BY} {MARK}language"))
    problems += (
        Problem(f"{BY} {key}", "it is given twice")
        for key in dict.fromkeys(keys)
        if keys.count(key) > 1
    )
    if problems:
        raise UsageError(problems)
    names = [key.removeprefix(MARK) for key in columns]
    by_column = read_columns(file, names) if file is not None else {}
    return tuple(
        Grouping(key, names=by_column.get(key.removeprefix(MARK), {}))
        if key.startswith(MARK)
        else Grouping(key, _path(key))
        for key in keys
    )


def _path(key: str) -> Path:
    try:
        path = parse_field_path(key)
    except ValueError as error:
        raise UsageError([Problem(f"{BY} {key}", str(error), EXPECTED)]) from None
    if not path:
        raise UsageError([Problem(BY, "it is empty", EXPECTED)])
    return path


def group_of_id(document: str, grouping: Grouping) -> str | None:
    """Return the group of a document by what is known of its id."""
    if grouping.key == DIRECTORY:
        return str(PurePosixPath(document).parent)
    return grouping.names.get(document)


def group_of(pair: DocumentPair, grouping: Grouping) -> str | None:
    """Return the group of a document; None where nothing says which."""
    if grouping.key.startswith(MARK):
        return group_of_id(pair.id, grouping)
    with suppress(LookupError):
        return None if isinstance(pair.gt, Problem) else text_of(value_at(pair.gt, grouping.path))
    return None
