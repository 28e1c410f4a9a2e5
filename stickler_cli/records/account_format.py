"""Records of single documents, errors, values and verdicts: those of runs, and lines of files.

A Parquet file of documents is a run: what that comes to is in its metadata.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import (  # those of Python 3.11 know less
    TypedDict,  # that of Python 3.11 is none that pydantic takes
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
    """A person's verdict on one error, as a line of the file that the HTML report downloads.

    Described in docs/html-report.md. Document, path and outcome say which error it is.
    """

    format: Literal["stickler-verdict/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    semantics: Count
    """Version of the rules of scoring of the run."""
    schema: str
    """Digest of the schema of the run, as the record of the run has it."""
    document: str
    """The id of the document."""
    path: str
    """With the ground truth's list indexes; with the prediction's for a false alarm."""
    outcome: Literal["FD", "FA", "FN"]
    """Outcome that the error counts as."""
    gt: NotRequired[AnyJson]
    """The ground truth; null where it is absent. No key where the page had only its beginning."""
    pred: NotRequired[AnyJson]
    """The prediction, likewise."""
    verdict: Literal["prediction_right", "ground_truth_wrong", "both_acceptable", "neither"]
    """The right side: the prediction, the ground truth, both, or neither."""
    time: str
    """When it was said, in UTC, as ISO 8601."""


_MOST_UNITS: Final = 1 << 32  # more than one document has, few enough for exact sums


def _fits(entry: object) -> bool:
    """Return whether a value has the form of a field of a document in a file."""
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
    """Of the document."""
    status: Status
    score: FractionOrNone
    """Its overall score; null where it was not compared."""
    by: NotRequired[dict[str, str]]
    """The group that it is in, by each key that the run was broken down by."""
    fields: dict[
        str, Annotated[dict[str, Any], Rule("counts of a field in the run format", fits=_fits)]
    ]
    """Where something was counted or scored, by path, parents first; of the whole document the
    path is empty."""
    confidences: NotRequired[dict[Literal["right", "wrong"], dict[str, list[Fraction]]]]
    """Those of values that are right, and wrong, by the path of their field; only if the prediction
    has any."""


_DOCUMENT_ROW: Final = {
    **dict.fromkeys(("document", "status", "field", "mode"), str),
    **dict.fromkeys(OUTCOME_NAMES, int),
    SCORE_KEY: float,
    **dict.fromkeys(FURTHER_COUNTS, int),
    "all_fields_matched": bool,
    **dict.fromkeys(("validity", "remarks", "problems", "by", CONFIDENCES), object),
}
"""Columns of `--documents`: the counts of one field of a document in one counting mode."""

_VALUE_ROW: Final = {
    **dict.fromkeys(("document", "field", "path", "prediction_path", "outcome"), str),
    "similarity": float,
    **dict.fromkeys(("ground_truth_value", "prediction_value"), object),
    "confidence": float,
}
"""Columns of `--values`: one value that was compared."""

_ERROR_TYPES: Final = {"similarity": float, "values": int} | dict.fromkeys(
    ("gt", "pred", "differing"), object
)
"""Types of columns of errors that are no text."""


def table_of_errors() -> LineTable:
    """Return the columns and rows that a table of errors takes from its lines."""
    return LineTable({key: _ERROR_TYPES.get(name, str) for name, key in RECORD_KEYS.items()})


def table_of_values() -> LineTable:
    """Return the columns and rows that a table of values takes from its lines."""
    return LineTable(_VALUE_ROW)


def table_of_documents() -> LineTable:
    """Return the columns and rows that a table of documents takes from its lines."""
    return LineTable(_DOCUMENT_ROW, rows_of_document)


def rows_of_document(line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each field and counting mode of the line of a document.

    The first row is about the whole document, and has the entries that belong to no field.
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
    """Return the account of a document, of the rows that it has in a table."""
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
    """Return the JSON value of a cell; the cell itself if it is no JSON, which readers refuse."""
    if not isinstance(text, str):
        return brief(text)
    value = parse_json(text.encode("utf-8", "surrogatepass"), "")
    return text if isinstance(value, Problem) else value


RUN_KEY: Final = "stickler-run"
"""Metadata key of the run without its rows, as JSON."""

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
_AT_ONCE: Final = 10_000  # rows that are in memory


def run_text(run: Run) -> bytes:
    """Return the metadata of a run for a file of documents."""
    return json_line(run_record(run, per_document=False))


def record_in(file: str) -> dict[str, Any]:
    """Return the record of the run whose documents a file has.

    Raises:
        UsageError: it is no such file.
        UnavailableError: nothing is installed that reads it.
    """
    text = (_opened(file).metadata.metadata or {}).get(RUN_KEY.encode())
    if text is None:
        finding = "the file has rows and does not say of which run"
        expected = "a file that stickler eval --documents wrote"
        raise UsageError([Problem(decoded(file), finding, expected)])
    record = parse_json(text, decoded(file))
    if isinstance(record, Problem):
        raise UsageError([record])
    if not isinstance(record, dict):
        expected = "a file that stickler eval --documents wrote"
        raise UsageError([Problem(decoded(file), "its run is no object", expected)])
    return record


def is_in_rows(file: str) -> bool:
    """Return whether a file is one of documents, by its name."""
    return decoded(file).lower().endswith(SUFFIX)


def accounts_in(file: str) -> Iterator[dict[str, Any]]:
    """Yield the account of each document, in the order of the file."""
    opened = _opened(file)
    if missing := {*_READ}.difference(opened.schema_arrow.names):
        finding, hint = f"it has no column {min(missing)}", "evaluate again"
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
        finding = f"the column {wrong_names[0]} has no texts"
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
        finding = f"it cannot be read ({str(error).splitlines()[0]})"
        raise UsageError([Problem(decoded(file), finding, "a Parquet file")]) from None
