"""The groups that documents are broken down into: by a field, by directory, by a metadata file."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import PurePosixPath
from typing import Final

from stickler_cli.core.json_values import JsonDocument
from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_tables import read_columns, text_of
from stickler_cli.documents.lines import value_at

BY: Final = "--by"
BY_FILE: Final = "--by-file"
SCHEMA_BY: Final = "--schema-by"
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


def parse_groupings(
    keys: Sequence[str], file: str | None, schema_by: str | None = None
) -> tuple[Grouping, ...]:
    """Read what documents are to be grouped by, and the metadata file, if any.

    What says of which schema they are is the last, if that is asked for.
    """
    asked = [(BY, key) for key in keys]
    asked += [] if schema_by is None else [(SCHEMA_BY, schema_by)]
    columns = [(option, key) for option, key in asked if key.startswith(MARK) and key != DIRECTORY]
    problems = [
        Problem(f"{option} {key}", f"there is no {BY_FILE} that could have this column", EXPECTED)
        for option, key in columns
        if file is None
    ]
    if file is not None and not columns:
        found = f"no {BY} and no {SCHEMA_BY} names a column of it"
        problems.append(Problem(f"{BY_FILE} {file}", found, f"such as {BY} {MARK}language"))
    problems += (
        Problem(f"{BY} {key}", "it is given twice")
        for key in dict.fromkeys(keys)
        if keys.count(key) > 1
    )
    if problems:
        raise UsageError(problems)
    names = [*dict.fromkeys(key.removeprefix(MARK) for _, key in columns)]
    by_column = read_columns(file, names) if file is not None else {}
    return tuple(
        Grouping(key, names=by_column.get(key.removeprefix(MARK), {}))
        if key.startswith(MARK)
        else Grouping(key, _path(option, key))
        for option, key in asked
    )


def _path(option: str, key: str) -> Path:
    try:
        path = parse_field_path(key)
    except ValueError as error:
        raise UsageError([Problem(f"{option} {key}", str(error), EXPECTED)]) from None
    if not path:
        raise UsageError([Problem(option, "it is empty", EXPECTED)])
    return path


def group_of_id(document: str, grouping: Grouping) -> str | None:
    """Return the group of a document by what is known of its id."""
    if grouping.key == DIRECTORY:
        return str(PurePosixPath(document).parent)
    return grouping.names.get(document)


def group_of(document: str, gt: JsonDocument | Problem | None, grouping: Grouping) -> str | None:
    """Return the group of a document by its id and ground truth; None where nothing says which."""
    if grouping.key.startswith(MARK):
        return group_of_id(document, grouping)
    with suppress(LookupError):
        return None if isinstance(gt, Problem) else text_of(value_at(gt, grouping.path))
    return None
