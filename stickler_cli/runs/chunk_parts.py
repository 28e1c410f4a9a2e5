"""Results of a chunk that only some runs need: JSON lines, details for an HTML page, verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stickler_cli.compare.engine import compare
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import ComparisonError, WorkLimitError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.detail import Detail
from stickler_cli.score.document_result import SIDES
from stickler_cli.score.errors.error_rows import error_record, value_lines
from stickler_cli.score.errors.marks import (
    ACCEPTING_VERDICTS,
    MarkedCounts,
    correct_truth,
    match_marks,
)
from stickler_cli.score.field_counts import CONFIDENCES
from stickler_cli.score.folds import verdict_view
from stickler_cli.score.sums import COUNTING_MODES, Counts, scale_score
from .boxes import boxes_of_documents
from .job import Job


def add_parts(
    job: Job,
    batch: Batch,
    pairs: Sequence[DocumentPair | None],
    detail: Detail | None,
    marked: MarkedCounts | None,
) -> tuple[bytes, bytes, bytes]:
    """Return JSON lines on a batch of documents, and count the batch in `detail` and `marked`.

    `detail` holds what an HTML page shows, and `marked` counts people's verdicts. Either is None if
    it is not requested.

    Returns:
        Three texts: the lines of documents, the lines of errors, and the lines of values. Each text
        is empty if its lines are not requested.
    """
    requested, count = job.requested, len(batch.results)
    documents = _document_lines(job, batch) if requested.document_lines else ()
    errors = (
        (
            json_line(error_record(error))
            for position in range(count)
            for error in batch.errors(position)
        )
        if requested.non_match_lines
        else ()
    )
    if detail is not None:
        detail.update(batch)
        if requested.boxes is not None and batch.table.size:
            compared = [
                (result.id, pair.metadata if pair else ({}, {}))
                for result, pair in zip(batch.results, pairs, strict=True)
                if result.score is not None
            ]
            metadata_of_documents = [metadata for _, metadata in compared]
            boxes = boxes_of_documents(batch, metadata_of_documents, requested.boxes)
            detail.add_boxes(
                (name, document_boxes)
                for (name, _), document_boxes in zip(compared, boxes, strict=True)
            )
    if marked is not None:
        _count_marked(job, batch, marked)
    values = value_lines(batch.compared_ids, batch.table) if requested.value_lines else ()
    return b"".join(documents), b"".join(errors), b"".join(values)


def _count_marked(job: Job, batch: Batch, counted: MarkedCounts) -> None:
    """Count in `counted` how people's verdicts change the figures of a batch of documents.

    Documents with verdicts are compared again with a corrected ground truth.
    """
    for position, result in enumerate(batch.results):
        marks, row = job.marks.get(result.id), batch.compared_positions[position]
        if not marks or row is None:
            continue
        units = (error.unit for error in batch.classified_errors(position))
        errors = [*match_marks(units, marks, result.id)]
        truth, pred, gold = batch.table.sides_of(row)
        try:
            accepted_units = (
                unit for marked, unit in errors if marks[marked].verdict in ACCEPTING_VERDICTS
            )
            corrected_truth: Any = correct_truth(accepted_units, truth)
            prediction: Any = pred
            table = compare(job.plan, [corrected_truth], [prediction], job.options, gold=[gold])
        except (WorkLimitError, ComparisonError, RecursionError):
            continue  # verdicts that match no error are reported
        counted.matched_errors += (marked for marked, _ in errors)
        score = float(table.document_scores[0])
        corrected_counts = Batch([replace(result, score=score)], table).counts
        if batch.counts is not None and corrected_counts is not None:
            score_gain = scale_score(score) - scale_score(float(batch.scores[row]))
            counted.add(batch.counts.units[:, row], corrected_counts.units[:, 0], score_gain)


def _document_lines(job: Job, batch: Batch) -> list[bytes]:
    """Return a JSON line for each document of a batch. docs/tables.md describes these lines."""
    blocks = Blocks()
    blocks.add(batch)
    return [
        json_line(
            _document_line(batch, position, recall_with_fd=job.requested.recall_with_fd)
            | {key: record[key] for key in ("by", "fields", CONFIDENCES) if key in record}
        )
        for position, record in enumerate(blocks.records())
    ]


def _document_line(batch: Batch, document: int, *, recall_with_fd: bool) -> dict[str, object]:
    result = batch.results[document]
    line: dict[str, object] = {"document": result.id, "status": result.status.value}
    tree, row = batch.tree(document), batch.compared_positions[document]
    if tree is not None and batch.counts is not None:
        line["overall_score"] = result.score
        line["all_fields_matched"] = not batch.is_wrong[row]
        line["field_scores"] = tree.field_scores
        counted = batch.counts.units[:, row].tolist()
        for mode, counts in zip(COUNTING_MODES, counted, strict=True):
            line[mode] = Counts(*counts).view(recall_with_fd=recall_with_fd)
    if result.verdicts:
        line["validity"] = {
            side: verdict_view(result.verdicts[side]) for side in SIDES if side in result.verdicts
        }
    line["remarks"] = list(result.warnings)
    line["problems"] = [str(problem) for problem in result.problems]
    return line
