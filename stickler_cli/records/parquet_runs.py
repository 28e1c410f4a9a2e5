"""Parquet files of documents that are runs: what the run comes to is in their metadata."""

import json
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import Problem, UsageError, import_pyarrow
from stickler_cli.core.remote import is_url, open_url
from stickler_cli.documents.reading import decoded
from stickler_cli.score.blocks import SCORE
from stickler_cli.score.leaves import CONFIDENCES
from stickler_cli.score.record import Run, run_record
from stickler_cli.score.sums import BESIDE, NAMES
from .account_format import document_of_rows

RUN_KEY: Final = "stickler-run"
"""The key of the metadata that has the run but for its rows, as JSON."""

SUFFIX: Final = ".parquet"

_READ: Final = ("document", "status", "field", "mode", *NAMES, SCORE, *BESIDE, "by", CONFIDENCES)
_AT_ONCE: Final = 10_000  # rows that are in memory


def run_text(run: Run) -> bytes:
    """Return what the metadata of a file of documents has of a run."""
    return json_line(run_record(run, per_document=False))


def record_in(file: str) -> dict[str, Any]:
    """Return the record of the run whose documents a file has.

    Raises:
        UsageError: it is no such file.
        UnavailableError: nothing is installed that reads it.
    """
    text = (_opened(file).metadata.metadata or {}).get(RUN_KEY.encode())
    if text is None:
        found = "the file has rows and does not say of which run"
        expected = "a file that stickler eval --documents wrote"
        raise UsageError([Problem(decoded(file), found, expected)])
    record: dict[str, Any] = json.loads(text)  # not orjson: there may be integers of any size
    return record


def is_in_rows(file: str) -> bool:
    """Return whether a file is one of documents, by its name."""
    return decoded(file).lower().endswith(SUFFIX)


def accounts_in(file: str) -> Iterator[dict[str, Any]]:
    """Yield the account of each document, in the order of the file."""
    opened = _opened(file)
    if missing := {*_READ}.difference(opened.schema_arrow.names):
        found, hint = f"it has no column {min(missing)}", "evaluate again"
        raise UsageError([Problem(decoded(file), found, f"the columns {', '.join(_READ)}", hint)])
    batches = opened.iter_batches(_AT_ONCE, columns=[*_READ])
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, its in groupby(rows, itemgetter("document")):
        yield document_of_rows(its)


def _opened(file: str) -> Any:
    pa, parquet = import_pyarrow(), import_pyarrow(module="pyarrow.parquet")
    try:
        return parquet.ParquetFile(open_url(file) if is_url(file) else file)
    except (pa.ArrowInvalid, OSError) as error:
        found = f"it cannot be read ({str(error).splitlines()[0]})"
        raise UsageError([Problem(decoded(file), found, "a Parquet file")]) from None
