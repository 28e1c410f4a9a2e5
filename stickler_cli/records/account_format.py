"""Records of single documents, errors, values and verdicts: parts of runs, or lines of files.

A Parquet file of documents also contains the run. The record of the run, without its documents, is
in the metadata of the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import (  # Python 3.11 has older versions of these
    TypedDict,  # pydantic needs it on Python 3.11
)

from stickler_cli.core.json_values import JsonValue, brief, json_line
from stickler_cli.core.problems import Problem, UsageError, import_pyarrow
from stickler_cli.core.remote import is_url, open_url
from stickler_cli.core.rules import (
    AnyJson,
    Count,
    Fraction,
    FractionOrNone,
    Rule,
    is_share,
)
from stickler_cli.documents.reading import decoded, parse_json
from stickler_cli.score.blocks import SCORE_KEY
from stickler_cli.score.document_result import Status
from stickler_cli.score.errors.error_rows import RECORD_KEYS
from stickler_cli.score.field_counts import CONFIDENCES, FURTHER_COUNTS
from stickler_cli.score.record import Run, run_record
from stickler_cli.score.sums import COUNTING_MODES, OUTCOME_NAMES, read_mode_counts
from .row_files import LineTable

VERDICT_FORMAT: Final = "stickler-verdict/1"


class VerdictRecord(TypedDict):
    """A person's verdict on one error: a line of the file that users download from the HTML report.

    Described in docs/html-report.md. Document, path and outcome identify the error.
    """

    format: Literal["stickler-verdict/1"]
    """Name of this format. The number goes up when a key changes its meaning or is removed."""
    semantics: Count
    """Version of the scoring rules of the run."""
    schema: str
    """SHA-256 of the schema file of the run, which is `schema.digest` in the run record."""
    document: str
    """Id of the document."""
    path: str
    """Path of the value, with the list indexes of the ground truth. For a false alarm, which is
    only in the prediction, the indexes are those of the prediction."""
    outcome: Literal["FD", "FA", "FN"]
    """Outcome of the value: false discovery, false alarm or false negative."""
    gt: NotRequired[AnyJson]
    """The true value; null if it is absent. The key is missing if the page had only the beginning
    of the value."""
    pred: NotRequired[AnyJson]
    """The predicted value; null if it is absent. The key is missing if the page had only the
    beginning of the value."""
    verdict: Literal["prediction_right", "ground_truth_wrong", "both_acceptable", "neither"]
    """Which side is right: the prediction, the ground truth, both, or neither."""
    time: str
    """Time of the verdict in UTC, as ISO 8601."""


_MOST_UNITS: Final = 1 << 32  # more than a document can have, few enough for exact sums


def _fits(entry: object) -> bool:
    """Return whether a value in a file is valid as the counts of a field."""
    if not isinstance(entry, dict):
        return False
    for name, value in entry.items():
        if name in COUNTING_MODES:
            if not isinstance(value, dict) or not all(map(_is_count, value, value.values())):
                return False
        elif not (is_share(value) if name == SCORE_KEY else _is_count(name, value)):
            return False
    return bool(entry)


def _is_count(name: object, value: object) -> bool:
    return (
        name in (*OUTCOME_NAMES, *FURTHER_COUNTS)
        and type(value) is int
        and 0 < value <= _MOST_UNITS
    )


class AccountRecord(TypedDict):
    """The result of one document."""

    id: str
    """Id of the document."""
    status: Status
    score: FractionOrNone
    """Overall score of the document; null if it was not compared."""
    by: NotRequired[dict[str, str]]
    """For each key of a breakdown, the group to which the document belongs."""
    fields: dict[
        str, Annotated[dict[str, Any], Rule("counts of a field in the run format", fits=_fits)]
    ]
    """The counts and the score of each field, keyed by the path of the field. Parents come first.
    The path of the whole document is empty. Fields without counts are missing."""
    confidences: NotRequired[dict[Literal["right", "wrong"], dict[str, list[Fraction]]]]
    """Confidences of values, keyed first by `right` or `wrong`, then by the path of the field.
    Present only if the prediction has confidences."""


_DOCUMENT_ROW: Final = {
    **dict.fromkeys(("document", "status", "field", "mode"), str),
    **dict.fromkeys(OUTCOME_NAMES, int),
    SCORE_KEY: float,
    **dict.fromkeys(FURTHER_COUNTS, int),
    "all_fields_matched": bool,
    **dict.fromkeys(("validity", "remarks", "problems", "by", CONFIDENCES), object),
}
"""Columns of the table of `--documents`. Each row has the counts of one field in one document, in
one counting mode."""

_VALUE_ROW: Final = {
    **dict.fromkeys(("document", "field", "path", "prediction_path", "outcome"), str),
    "similarity": float,
    **dict.fromkeys(("ground_truth_value", "prediction_value"), object),
    "confidence": float,
    "difference": str,
}
"""Columns of the table of `--values`. Each row has one compared value."""

_ERROR_TYPES: Final = {"similarity": float, "values": int} | dict.fromkeys(
    ("gt", "pred", "differing"), object
)
"""Types of the columns in a table of errors. A column that is not listed has texts."""


def table_of_errors() -> LineTable:
    """Return the columns of a table of errors, with a function that makes rows of a JSON line."""
    return LineTable({key: _ERROR_TYPES.get(name, str) for name, key in RECORD_KEYS.items()})


def table_of_values() -> LineTable:
    """Return the columns of a table of values, with a function that makes rows of a JSON line."""
    return LineTable(_VALUE_ROW)


def table_of_documents() -> LineTable:
    """Return the columns of a table of documents, with a function that makes rows of a JSON line.

    A line has one document. See `rows_of_document`.
    """
    return LineTable(_DOCUMENT_ROW, rows_of_document)


def rows_of_document(line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one document: one for each field and counting mode.

    The first row is about the whole document. Only this row has the entries that belong to no
    field.
    """
    fields = {"": {}, **line.get("fields", {})}
    further_entries = {
        key: value for key, value in line.items() if key not in (*COUNTING_MODES, "fields")
    }
    if line.get("overall_score") is None:
        yield {**further_entries, "field": ""}
        return
    for path, entry in fields.items():
        score = entry.get(SCORE_KEY) if path else line["overall_score"]
        of_field = {
            "field": path,
            SCORE_KEY: score,
            **{name: entry.get(name, 0) for name in FURTHER_COUNTS},
        }
        for mode, counts in zip(COUNTING_MODES, read_mode_counts(entry), strict=True):
            yield {
                **further_entries,
                **of_field,
                "mode": mode,
                **dict(zip(OUTCOME_NAMES, counts, strict=True)),
            }
            further_entries = {"document": line["document"], "status": line["status"]}


def document_of_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the record of a document, given its rows in a table."""
    document_row, *field_rows = rows
    fields: dict[str, dict[str, Any]] = {}
    for row in (document_row, *field_rows):
        if row["mode"] is None:
            continue
        entry = fields.setdefault(row["field"], {})
        entry[row["mode"]] = {name: row[name] for name in OUTCOME_NAMES if row[name]}
        entry |= {name: row[name] for name in FURTHER_COUNTS if row[name]}
        if row["field"] and row[SCORE_KEY] is not None:
            entry[SCORE_KEY] = row[SCORE_KEY]
    texts = {key: document_row[key] for key in ("by", CONFIDENCES) if document_row[key] is not None}
    return {
        "id": document_row["document"],
        "status": document_row["status"],
        SCORE_KEY: document_row[SCORE_KEY],
        "fields": {path: entry for path, entry in fields.items() if any(entry.values())},
        **{key: _value_of_cell(text) for key, text in texts.items()},
    }


def _value_of_cell(text: object) -> JsonValue:
    """Parse the JSON text in a cell.

    If the text is not JSON, return it unchanged. It is then reported as invalid when the record of
    the document is decoded.
    """
    if not isinstance(text, str):
        return brief(text)
    value = parse_json(text.encode("utf-8", "surrogatepass"), "")
    return text if isinstance(value, Problem) else value


RUN_KEY: Final = "stickler-run"
"""Metadata key of a table of documents. Its value is the run as JSON, without the documents."""

SUFFIX: Final = ".parquet"

_READ: Final = (
    "document",
    "status",
    "field",
    "mode",
    *OUTCOME_NAMES,
    SCORE_KEY,
    *FURTHER_COUNTS,
    "by",
    CONFIDENCES,
)
_TEXTS: Final = ("document", "status", "field", "mode")
_AT_ONCE: Final = 10_000  # rows that are read together


def run_text(run: Run) -> bytes:
    """Return a run as JSON without its documents, for the metadata of a table."""
    return json_line(run_record(run, per_document=False))


def record_in(file: str) -> dict[str, Any]:
    """Return the record of the run that is in the metadata of a table of documents.

    Raises:
        UsageError: the file is not such a table.
        UnavailableError: the package that reads it is missing.
    """
    text = (_opened(file).metadata.metadata or {}).get(RUN_KEY.encode())
    if text is None:
        finding = "the table does not say which run its rows come from"
        expected = "a file written by stickler eval --documents"
        raise UsageError([Problem(decoded(file), finding, expected)])
    record = parse_json(text, decoded(file))
    if isinstance(record, Problem):
        raise UsageError([record])
    if not isinstance(record, dict):
        expected = "a file written by stickler eval --documents"
        raise UsageError(
            [
                Problem(
                    decoded(file), ("the run recorded in this file is not a JSON object"), expected
                )
            ]
        )
    return record


def is_in_rows(file: str) -> bool:
    """Return whether a file is a table of documents, judged by its suffix."""
    return decoded(file).lower().endswith(SUFFIX)


def accounts_in(file: str) -> Iterator[dict[str, Any]]:
    """Yield the record of each document in a table of documents, in the order of the file."""
    opened = _opened(file)
    if missing := {*_READ}.difference(opened.schema_arrow.names):
        finding, hint = f"the column {min(missing)} is missing", "evaluate again"
        raise UsageError(
            [
                Problem(
                    source=decoded(file),
                    found=finding,
                    expected=f"the columns {', '.join(_READ)}",
                    hint=hint,
                )
            ]
        )
    is_text = import_pyarrow().types.is_string
    wrong_names = [name for name in _TEXTS if not is_text(opened.schema_arrow.field(name).type)]
    if wrong_names:
        finding = f"the column {wrong_names[0]} does not contain texts"
        raise UsageError([Problem(decoded(file), finding, "texts")])
    batches = opened.iter_batches(_AT_ONCE, columns=[*_READ])
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, document_rows in groupby(rows, itemgetter("document")):
        yield document_of_rows(document_rows)


def _opened(file: str) -> Any:
    pa, parquet = import_pyarrow(), import_pyarrow(module="pyarrow.parquet")
    try:
        return parquet.ParquetFile(open_url(file) if is_url(file) else file)
    except (pa.ArrowInvalid, OSError) as error:
        finding = f"the file cannot be read ({str(error).splitlines()[0]})"
        raise UsageError([Problem(decoded(file), finding, "a Parquet file")]) from None
