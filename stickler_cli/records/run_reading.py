"""Convert a record in the run format to a `Run` or an `Evaluation`, without loss.

Rates and means in the record are ignored, because they follow from its counts and sums.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, Final, TypeVar, cast

import numpy as np

from stickler_cli.compare.result import SEMANTICS
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.option import NotTakenError, Settings, options_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import Rule, encoded
from stickler_cli.metrics import Measure
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.comparison_view import DOCUMENT_KEYS
from stickler_cli.score.confidence.confidences import Confidences, read_counted
from stickler_cli.score.document_result import LENIENT, ODDITIES, Status
from stickler_cli.score.evaluation import FORMAT, RUN_FORMAT, Conditions, Evaluation, Results
from stickler_cli.score.field_counts import FURTHER_COUNTS, N_UNIT_COUNTS
from stickler_cli.score.record import KNOWN_IDS, PER_DOCUMENT, Run
from stickler_cli.score.sums import (
    COUNTING_MODES,
    MOMENT_NAMES,
    OUTCOME_NAMES,
    FieldTallies,
    Tally,
    read_mode_counts,
)
from stickler_cli.settings.deciding import CountingOptions, DecidingOptions, RunOptions
from .account_format import AccountRecord
from .codec import decode
from .run_format import EvaluationRecord, NodeRecord, ResultsRecord, RunRecord

T = TypeVar("T")
S = TypeVar("S", bound=Settings)

EVALUATE_AGAIN: Final = "another version of stickler wrote this run: evaluate again"

_OTHERS: Final = "a number at least as large as the sum of the other counts"


def read_run(record: Mapping[str, object], source: str = "") -> Run:
    """Return the run in a parsed run file. Writing the run again gives the same record.

    Raises:
        UsageError: the record has another form or version; the error has the path and the value.
    """
    _check_format(
        record, source, (RUN_FORMAT,), ("a run file is written by stickler eval --format json")
    )
    run = decode(RunRecord, record, source)
    options = read_options(run["options"], RunOptions, source)
    deciding = read_options(run["options"], DecidingOptions, source)
    conditions = Conditions(deciding, tuple(run["fields"]), options.counting)
    evaluation = _evaluation(run, conditions, source)
    evaluation.rows = options.rows
    return Run(
        evaluation=evaluation,
        schema=run["schema"],
        options=options,
        fields=conditions.fields,
        gates=run["gates"],
        notes=run["notes"],
        partial="partial" in run,
        policy=run.get("policy"),
        marked=run.get("verdicts"),
        planned=run.get("planned"),
        provenance=run.get("provenance", ()),
        document={key: record[key] for key in DOCUMENT_KEYS if key in record} or None,
        repeats=run.get("repeats"),
        version=run["version"],
    )


def read_evaluation(record: Mapping[str, object], source: str = "") -> Evaluation:
    """Return the evaluation in the record of an evaluation or of a run. Nothing is lost.

    Raises:
        UsageError: the record has another form or version; the error has the value and the expected
            form.
    """
    _check_format(record, source, (FORMAT, RUN_FORMAT))
    evaluation = decode(EvaluationRecord, record, source)
    if "options" not in record:
        raise _missing("options", source)
    if record["options"] is None:
        return _evaluation(evaluation, None, source)
    options = read_options(record["options"], DecidingOptions, source)
    counting = read_options(record["options"], CountingOptions, source).counting
    conditions = Conditions(options, tuple(evaluation["fields"]), counting)
    return _evaluation(evaluation, conditions, source)


def _check_format(
    record: Mapping[str, object], source: str, formats: tuple[str, ...], hint: str = ""
) -> None:
    """Raise UsageError if a record has another format, or follows other scoring rules."""
    if "format" not in record:
        expected = f'a result of stickler with the "format" {" or ".join(formats)}'
        raise UsageError(
            [
                Problem(
                    source=source,
                    found='the key "format" is missing',
                    expected=expected,
                    pointer="",
                )
            ]
        )
    written = record["format"]
    if written not in formats:
        names = [name.partition("/")[0] for name in formats]
        if isinstance(written, str) and written.partition("/")[0] in names:
            hint = EVALUATE_AGAIN
        raise _refused(written, " or ".join(map(brief, formats)), source, ("format",), hint)
    if "semantics" not in record:
        raise UsageError(
            [
                Problem(
                    source=source,
                    found='the key "semantics" is missing',
                    expected="",
                    hint=EVALUATE_AGAIN,
                    pointer="",
                )
            ]
        )
    if record["semantics"] != SEMANTICS:
        expected, place = str(SEMANTICS), ("semantics",)
        raise _refused(record["semantics"], expected, source, place, EVALUATE_AGAIN)


def _missing(name: str, source: str, place: Path = ()) -> UsageError:
    finding = f"{name if ' ' in name else f'the key {brief(name)}'} is missing"
    return UsageError([Problem(source, finding, pointer=json_pointer(place))])


def _refused(value: object, expected: str, source: str, place: Path, hint: str = "") -> UsageError:
    finding = f"the value is {brief(value)}"
    return UsageError(
        [
            Problem(
                source=source,
                found=finding,
                expected=expected,
                hint=hint,
                pointer=json_pointer(place),
            )
        ]
    )


def read_options(record: object, kind: type[S], source: str) -> S:
    """Return the options in a record as an object of a settings class."""
    options = decode(dict[str, Any], record, source, ("options",))
    values = {}
    for name, option in options_of(kind).items():  # type: ignore[arg-type]  # as in core.option
        if name in options:
            try:
                values[name] = option.convert(options[name])
            except NotTakenError:
                expected = option.values.expected
                raise _refused(options[name], expected, source, ("options", name)) from None
        else:
            raise _missing(name, source, ("options",))
    return kind(**values)


def _evaluation(record: EvaluationRecord, conditions: Conditions | None, source: str) -> Evaluation:
    """Return the evaluation in a record."""
    evaluation = Evaluation(conditions=conditions)
    _fill(evaluation, record, source, ())
    for side, validity in evaluation.validity.items():
        if validity.invalid < 0:
            raise _refused(validity.checked, _OTHERS, source, ("validity", side, "checked"))
    evaluation.problems = record["problems"]
    evaluation.n_unnamed = Counter(record.get("problems_unnamed", {}))
    evaluation.ledger.hashes = record.get("known_ids", [])
    for key, groups in record.get("by", {}).items():
        evaluation.by[key] = {name: Results() for name in groups}
        for name, group in groups.items():
            _fill(evaluation.by[key][name], group, source, ("by", key, name))
    for metric in record.get("metrics", ()):
        evaluation.metrics[metric["name"]] = Measure(
            name=metric["name"],
            metric=None,
            recorded_state=metric["state"],
            recorded_figures=metric["figures"],
            problem=metric.get("problem", ""),
        )
    if "per_document" in record:
        blocks = evaluation.ledger.blocks = read_blocks(record["per_document"], source)
        evaluation.ledger.add_ids(blocks.ids())
        _restore_confidences(evaluation, blocks, source)
    if "intervals" in record:
        for results in evaluation.all_results():
            results.interval_settings = record["intervals"]
    return evaluation


def _fill(results: Results, record: ResultsRecord, source: str, place: Path) -> None:
    """Fill empty results with the values of a record. Intervals are not read."""
    documents = record["documents"]
    results.ledger.sums = read_sums(
        record["confusion_matrix"], source, (*place, "confusion_matrix")
    )
    for path, passed_over in record.get("never_labelled", {}).items():
        results.sums[tuple(map(str, path))] = Tally(
            [*[0] * N_UNIT_COUNTS, passed_over, *[0] * (len(FURTHER_COUNTS) - 1)]
        )
    tally = results.tally
    tally.n_scored = documents["evaluated"]
    tally.score_sum, tally.score_square_sum = int(record["score_sum"]), int(record["score_squares"])
    if "confidence_counts" in record:
        results.confidences.counts = read_counted(record["confidence_counts"])
    counts = cast("Mapping[str, int]", documents)
    results.statuses = Counter({status: counts[status] for status in Status})
    results.statuses[Status.EVALUATED] += counts["total"] - results.statuses.total()
    if results.statuses[Status.EVALUATED] < 0:
        raise _refused(counts["total"], _OTHERS, source, (*place, "documents", "total"))
    odd = {name: counts[name] for name in ODDITIES}
    for how_read, count in documents["lenient"].items():
        odd[LENIENT if how_read == "documents" else f"{LENIENT}_{how_read}"] = cast("int", count)
    results.warnings = Counter({name: count for name, count in odd.items() if count})
    results.unwrapped = Counter(record.get("unwrapped", {}))
    results.skipped_keys = Counter(record.get("skipped_keys", {}))
    for fold in results.folds.values():
        fold.restore(record)


def read_sums(record: object, source: str = "", place: Path = ()) -> FieldTallies:
    """Return the sums of a field and of all fields inside it. `record` is the field's record."""
    sums = FieldTallies()
    todo: list[tuple[FieldNames, object, Path]] = [((), record, place)]
    for path, value, where in todo:
        node = decode(NodeRecord, value, source, where)
        modes = (cast("Mapping[str, int]", node[mode]) for mode in COUNTING_MODES)
        cell = [mode[name] for mode in modes for name in OUTCOME_NAMES]
        tally = sums[path] = Tally(
            [*cell, *(cast("int", node.get(name, 0)) for name in FURTHER_COUNTS)]
        )
        if "threshold_applied_score" in node:
            for name in ("documents", "score_sums", "weight"):
                if name not in node:
                    raise _missing(name, source, where)
            tally.n_scored, tally.weight = node["documents"], float(node["weight"])
            units = node["score_sums"]
            tally.similarity_sum = int(units["raw_similarity_score"])
            tally.score_sum = int(units["threshold_applied_score"])
            tally.score_square_sum = int(units["threshold_applied_squares"])
        if "moments" in node:
            tally.moments = [*read_mode_counts(node["moments"], MOMENT_NAMES)]
        elif any(cell):
            raise _missing("moments", source, where)
        for name, child in node.get("fields", {}).items():
            todo.append(((*path, name), child, (*where, "fields", name)))
    return sums


def read_blocks(records: object, source: str) -> Blocks:
    """Return the documents in the record of a run."""
    blocks = Blocks()
    blocks.read_records(
        decode(AccountRecord, value, source, ("per_document", position))
        for position, value in enumerate(decode(list[Any], records, source, ("per_document",)))
    )
    return blocks


def _restore_confidences(evaluation: Evaluation, blocks: Blocks, source: str) -> None:
    """Add the confidences in `blocks` to the results of all documents and of each group.

    Raises:
        UsageError: a document is in a group that the record does not have.
    """
    for block in blocks:
        documents = block.documents
        if documents.confident_values is None:
            continue
        evaluation.confidences.add(documents.ids, documents.confident_values)
        for group in dict.fromkeys(
            group for groups in documents.groups for group in groups.items()
        ):
            key, name = group
            results = evaluation.by.get(key, {}).get(name)
            if results is None:
                raise _missing(f"the group {brief(name)}", source, ("by", key))
            is_in_group = np.array([groups.get(key) == name for groups in documents.groups])
            results.confidences.add(documents.ids, documents.confident_values, is_in_group)


EVALUATION: Final = "evaluation"
"""The key of the evaluation in a chunk record. Its value is written by `_evaluation_record`. All
other values are written by `encoded`."""

_Evaluation = Annotated[Evaluation, Rule("an object", {"type": "object"}, parsed=read_evaluation)]


def chunk_record(chunk: Any) -> dict[str, object]:
    """Return a `ChunkResult` as JSON values, for a journal."""
    record = cast("dict[str, object]", encoded(chunk))
    return record | {EVALUATION: _evaluation_record(chunk.evaluation)}


def read_chunk(kind: type[T], record: Mapping[str, object], source: str) -> T:
    """Return the `ChunkResult` in a record that `chunk_record` made. `kind` is `ChunkResult`.

    Raises:
        UsageError: the record has another form; the error has the path and the value.
    """
    for attribute in fields(cast("Any", kind)):
        if attribute.name not in record:
            raise _missing(attribute.name, source)
    finding: Any = decode(kind, record, source)
    evaluation = decode(cast("Any", _Evaluation), record[EVALUATION], source, (EVALUATION,))
    return cast("T", replace(finding, evaluation=evaluation))


def _evaluation_record(evaluation: Evaluation) -> dict[str, object]:
    """Return an evaluation as a record, without what is stored elsewhere or is slow to compute.

    The record has the number of values for each confidence, but not the confidences of single
    values, which are in the records of the documents. It has the settings of intervals, but not the
    intervals.
    """
    bare = replace(
        evaluation,
        ledger=replace(evaluation.ledger, blocks=None),
        interval_settings=None,
        confidences=_counted_only(evaluation),
        by={
            key: {
                name: replace(group, interval_settings=None, confidences=_counted_only(group))
                for name, group in groups.items()
            }
            for key, groups in evaluation.by.items()
        },
    )
    record, ledger = bare.to_dict(), evaluation.ledger
    record[KNOWN_IDS] = ledger.hashes
    if evaluation.interval_settings is not None:
        record["intervals"] = evaluation.interval_settings.view()
    if ledger.blocks is not None:
        record[PER_DOCUMENT] = [*ledger.blocks.records()]
    return record


def _counted_only(results: Results) -> Confidences:
    return results.confidences if results.confidences.counts else Confidences()
