"""The groups that documents are broken down into: by a field, by directory, by a metadata file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents import DocumentPair
from stickler_cli.documents.metadata import read_columns, text_of
from stickler_cli.score.results import NO_GROUP

BY: Final = "--by"
BY_FILE: Final = "--by-file"
MARK: Final = "@"
"""What a key begins with that is not a field of the ground truth."""
DIRECTORY: Final = f"{MARK}directory"

EXPECTED: Final = f"a field of the ground truth, {DIRECTORY}, or {MARK}COLUMN of the {BY_FILE} FILE"


@dataclass(frozen=True, slots=True)
class ByField:
    """By a field of the ground truth."""

    key: str
    path: Path


@dataclass(frozen=True, slots=True)
class ByDirectory:
    """By the directory that a document is in, below the one that was named."""

    key: str = DIRECTORY


@dataclass(frozen=True, slots=True)
class ByColumn:
    """By a column of a metadata file."""

    key: str
    names: Mapping[str, str]
    """The group of each document that has one, by its id."""


Grouping: TypeAlias = ByField | ByDirectory | ByColumn


def parse_groupings(keys: Sequence[str], file: str | None) -> tuple[Grouping, ...]:
    """Read what documents are to be grouped by.

    Args:
        keys: as the user wrote them.
        file: the metadata file, if any.

    Raises:
        UsageError: a key cannot be used, or the file cannot.
    """
    columns = [key.removeprefix(MARK) for key in keys if _is_column(key)]
    problems = [
        Problem(f"{BY} {key}", f"there is no {BY_FILE} that could have this column", EXPECTED)
        for key in keys
        if _is_column(key) and file is None
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
    by_column = read_columns(file, columns) if file is not None else {}
    return tuple(_grouping(key, by_column) for key in keys)


def _is_column(key: str) -> bool:
    return key.startswith(MARK) and key != DIRECTORY


def _grouping(key: str, by_column: Mapping[str, Mapping[str, str]]) -> Grouping:
    if key == DIRECTORY:
        return ByDirectory()
    if _is_column(key):
        return ByColumn(key, by_column[key.removeprefix(MARK)])
    try:
        path = parse_field_path(key)
    except ValueError as error:
        raise UsageError([Problem(f"{BY} {key}", str(error), EXPECTED)]) from None
    if not path:
        raise UsageError([Problem(BY, "it is empty", EXPECTED)])
    return ByField(key, path)


def groups_of(pair: DocumentPair, groupings: Iterable[Grouping]) -> dict[str, str]:
    """Return the group of a document by each key."""
    return {grouping.key: _group(pair, grouping) or NO_GROUP for grouping in groupings}


def _group(pair: DocumentPair, grouping: Grouping) -> str | None:
    match grouping:
        case ByDirectory():
            return str(PurePosixPath(pair.id).parent)
        case ByColumn(_, names):
            return names.get(pair.id)
        case ByField(_, path):
            return None if isinstance(pair.gt, Problem) else text_of(_value(pair.gt, path))


def _value(value: JsonValue, path: Path) -> JsonValue:
    """Return what stands at a place in a document; None where there is nothing."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
