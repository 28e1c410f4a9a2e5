"""The columns of files of documents, errors and values: those of the types of their lines."""

from collections.abc import Iterable, Iterator
from typing import get_args

from typing_extensions import get_type_hints, is_typeddict  # those of Python 3.11 know less

from stickler_cli.core.locations import Path, field_path
from .account_format import DocumentLineRecord, ErrorRecord, ValueLineRecord
from .row_files import LineColumn


def columns_of_errors() -> list[LineColumn]:
    """Return the columns of a file of errors."""
    return [*_columns(ErrorRecord)]


def columns_of_values() -> list[LineColumn]:
    """Return the columns of a file of values."""
    return [*_columns(ValueLineRecord)]


def columns_of_documents(fields: Iterable[Path]) -> list[LineColumn]:
    """Return the columns of a file of documents, with a score for each field of the root.

    Where the root has any keys there are, or is an array, the scores are one cell of JSON.
    """
    paths = [*fields]
    names = [path[0] for path in paths if len(path) == 1]
    known = [] if "*" in names or () in paths else [str(name) for name in names]
    found = []
    for column in _columns(DocumentLineRecord):
        if column.path == ("field_scores",) and known:
            found += [
                LineColumn(f"{column.name}.{field_path((name,))}", float, (*column.path, name))
                for name in known
            ]
        else:
            found.append(column)
    return found


def _columns(record: type, place: tuple[str, ...] = ()) -> Iterator[LineColumn]:
    for key, kind in get_type_hints(record).items():
        path = (*place, key.removesuffix("_"))
        if is_typeddict(kind):
            yield from _columns(kind, path)
        else:
            yield LineColumn(".".join(path), _cell_type(kind), path)


def _cell_type(kind: object) -> type:
    for plain in (bool, int, float):
        if kind is plain or plain in get_args(kind):
            return plain
    words = get_args(kind)
    named = isinstance(kind, type) and issubclass(kind, str)
    return str if named or (words and all(isinstance(word, str) for word in words)) else object
