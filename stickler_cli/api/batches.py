"""Evaluate batches of documents in Arrow tables, and add up their results.

Engines that distribute work, such as Spark, pass Arrow tables to a function, one batch at a time.
For each batch this module returns rows and a *state*. A state is JSON with the results of the
batch; its size does not depend on the number of documents. The states of several batches can be
merged in any order. The merged state is equal to the state of one batch with all the documents.
"""

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import json_line
from stickler_cli.core.option import read_settings
from stickler_cli.core.problems import Problem, UsageError, import_pyarrow, require_pyarrow
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.reading import parse_json
from stickler_cli.records.account_format import table_of_documents, table_of_values
from stickler_cli.records.row_files import lines_as_rows
from stickler_cli.runs.evaluate import evaluate_in_memory
from stickler_cli.runs.job import Job, OutputsRequested, unwrapper_of
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.settings.of_commands import ManySettings
from .evaluation_views import Evaluation
from .many import compiled, described, document_pair, validation_by

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS: Final = ("id", "gt", "pred")
_REQUESTED: Final = OutputsRequested(
    document_lines=True,
    value_lines=True,
    intervals=IntervalSettings(),
    rows="none",
)


class BatchOutcome(NamedTuple):
    """The results of a batch of documents."""

    state: bytes
    """The results of the batch as JSON, for `merge_states` and `Evaluation.from_dict`. The size of
    the JSON does not grow with the number of documents."""
    documents: "pa.Table"
    """A row for each document, with columns as in docs/tables.md."""
    values: "pa.Table"
    """A row for each compared value, with columns as in docs/tables.md."""


def evaluate_batch(
    table: "pa.Table | pa.RecordBatch", schema: object, settings: ManySettings | None = None
) -> BatchOutcome:
    """Compare the pairs of documents in an Arrow table. Each row is one pair.

    Args:
        table: has the columns `id`, `gt` and `pred`. `id` is a text that no other row of any batch
            has. `gt` and `pred` are JSON text, or structs, lists and numbers of Arrow; a missing
            document is null.
        schema: a schema in any form that `evaluate_many` takes.
        settings: options of the comparison; None for the defaults.

    Raises:
        SchemaError: the schema cannot be used.
        UnavailableError: pyarrow is not installed.
        UsageError: a column is missing, or an option does not apply to batches.
    """
    require_pyarrow("a table of Arrow")
    settings = _of_batches(settings or ManySettings())
    if missing := [name for name in _COLUMNS if name not in table.schema.names]:
        expected = f"the columns {', '.join(_COLUMNS)}"
        raise UsageError([Problem("", f"the table has no column {missing[0]!r}", expected)])
    plan, contents, file = compiled(schema, settings)
    validation = validation_by(contents, file, settings)
    unwrapper = unwrapper_of(plan.root, settings)

    def job_of(options: Options) -> Job:
        job_options: Any = {"validation": validation, "unwrapper": unwrapper}
        return Job(
            plan=plan,
            options=options,
            missing=settings.missing,
            requested=_REQUESTED,
            **job_options,
        )

    documents, values = io.BytesIO(), io.BytesIO()
    with (
        lines_as_rows(documents, "arrow", table_of_documents) as document_rows,
        lines_as_rows(values, "arrow", table_of_values) as value_rows,
    ):
        lines = {"document_lines": document_rows, "value_lines": value_rows}
        pairs = _pairs_of_table(table, plan)
        evaluation = evaluate_in_memory(plan, pairs, settings, job_of=job_of, lines=lines)
    return BatchOutcome(json_line(evaluation.to_dict()), _table(documents), _table(values))


def merge_states(states: Iterable[bytes]) -> bytes:
    """Merge the states of batches into one. The order of the states does not matter.

    Raises:
        UsageError: a value is not a state, or the states have different schemas or options.
    """
    total = Evaluation(rows="none")
    for state in states:
        total.merge(Evaluation.from_dict(json.loads(state), "state"))
    return json_line(total.to_dict())


def _of_batches(settings: ManySettings) -> ManySettings:
    """Convert each setting to its proper type, so that equal settings give equal states.

    For example, 0 becomes 0.0 if the option is a decimal number.

    Raises:
        UsageError: an option does not apply to batches.
    """
    chosen_options = {option.name: getattr(settings, option.name) for option in fields(settings)}
    settings = read_settings(ManySettings, chosen_options)
    if settings.schema_by is not None:
        finding = "cannot be used in a batch, because all documents of a batch have one schema"
        raise UsageError([Problem("", f"schema_by {finding}", hint="use evaluate_many")])
    if settings.lenient_json:
        finding = "lenient_json cannot be used in a batch"
        hint = "parse the predictions before you pass them, or use evaluate_many"
        raise UsageError([Problem("", finding, hint=hint)])
    return settings


def _pairs_of_table(table: "pa.Table | pa.RecordBatch", plan: Plan) -> Iterator[DocumentPair]:
    columns = (table.column(name).to_pylist() for name in _COLUMNS)
    for name, *sides in zip(*columns, strict=True):
        if not isinstance(name, str):
            raise UsageError(
                [Problem("", f"the table has an id that is {described(name)}", "text")]
            )
        gt, pred = (
            parse_json(side.encode() if isinstance(side, str) else side, name)
            if isinstance(side, str | bytes)
            else side
            for side in sides
        )
        yield document_pair(name, gt, pred, (plan.kind,))


def _table(stream: io.BytesIO) -> "pa.Table":
    with import_pyarrow().ipc.open_file(stream.getvalue()) as file:
        table: pa.Table = file.read_all()
    return table
