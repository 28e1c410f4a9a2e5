"""Runs that were written before: from the name of a run file or run directory to a `Run`."""

from pathlib import Path
from typing import Final

from stickler_cli.documents.reading import decoded, parse_json, read_bytes
from stickler_cli.errors import Problem, UsageError
from stickler_cli.json_values import kind_of
from stickler_cli.metrics.record import Run, read_run

RUN_FILE: Final = "run.json"
"""The run in a run directory."""

MAX_RUN_BYTES: Final = 2_000_000_000
"""Bytes of a run file, unpacked: about a million documents of forty fields."""

_EXPECTED: Final = "a run file, as stickler eval -o run.json writes it, or a run directory"


def load_run(name: str, limit: int = MAX_RUN_BYTES) -> Run:
    """Read a run.

    Args:
        name: a run file, gzipped or not, or a run directory, which holds it as `run.json`.
        limit: the most bytes of the file.

    Raises:
        UsageError: there is none, or it cannot be read; with the place in the file.
    """
    path = Path(name)
    if path.is_dir():
        path /= RUN_FILE
        if not path.exists():
            found = f"there is no {RUN_FILE} in this directory"
            raise UsageError([Problem(decoded(name), found, _EXPECTED)])
    elif not path.exists():
        raise UsageError([Problem(decoded(name), "there is no such file or directory", _EXPECTED)])
    data = read_bytes(str(path), limit)
    source = decoded(str(path))
    record = data if isinstance(data, Problem) else parse_json(data, source)
    if isinstance(record, Problem):
        raise UsageError([record])
    if not isinstance(record, dict):
        raise UsageError([Problem(source, f"this is of type {kind_of(record)}", _EXPECTED)])
    return read_run(record, source)
