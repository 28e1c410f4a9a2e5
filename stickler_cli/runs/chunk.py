"""Chunks of documents: read, taken out of wrappers, compared; a bad document is a result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from stickler_cli.compare.engine import compare
from stickler_cli.compare.wrappers import Declared, Form, Unwrapped, Unwrapper, beside
from stickler_cli.core.json_values import JsonDocument, JsonValue, brief, json_line, kind_of
from stickler_cli.core.problems import (
    ComparisonError,
    Problem,
    SticklerError,
    UsageError,
    WorkLimitError,
)
from stickler_cli.core.rules import KEPT
from stickler_cli.documents.document_pair import (
    DocumentPair,
    Fingerprint,
    PairRef,
    read_pair,
    ready_to_read,
)
from stickler_cli.metrics.metric import MeasuredDocument
from stickler_cli.score.batch import Batch
from stickler_cli.score.comparison_view import document_view
from stickler_cli.score.counts import Counts
from stickler_cli.score.detail import Detail
from stickler_cli.score.document_result import INHERITED, DocumentResult, Status
from stickler_cli.score.errors.error_rows import Error, error_record
from stickler_cli.score.errors.marks import MarkedCounts, errors_of_marks, mended
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.leaves import CONFIDENCES
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.results import NO_GROUP
from stickler_cli.score.tally import COUNTING_MODES, units_of
from stickler_cli.score.validity import SIDES, verdict_view
from stickler_cli.score.value_lines import value_lines
from stickler_cli.settings.deciding import WrapperOptions
from .boxes import boxes_of_documents
from .job import Job, group_of
from .process import room_for_depth


def unwrapper_of(root: Declared, settings: WrapperOptions) -> Unwrapper | None:
    """Return what takes the values of documents out of their wrappers; None where nothing does.

    Raises:
        UsageError: the option names no form.
    """
    if settings.wrapped == "none":
        return None
    value, _, confidence = settings.wrapped.partition(":")
    if not value:
        expected = "auto, none, or VALUE_KEY[:CONFIDENCE_KEY]"
        raise UsageError([Problem("--wrapped", f"it is {settings.wrapped!r}", expected)])
    return Unwrapper(root, None if settings.wrapped == "auto" else Form(value, confidence))


def unwrapped(unwrapper: Unwrapper | None, pair: DocumentPair) -> DocumentPair:
    """Return a pair with both sides out of their wrappers, and its confidences.

    Those that came beside the prediction go before those in its wrappers.
    """
    gt, pred = (
        (unwrapper or Unwrapped)(side) if isinstance(side, dict | list) else Unwrapped(None)
        for side in (pair.gt, pair.pred)
    )
    if isinstance(pair.beside, Problem):
        return replace(pair, warnings=(*pair.warnings, pair.beside))
    if pair.beside is not None:
        pred = beside(pred, pair.beside)
    wrappers = gt.wrappers + pred.wrappers
    if not wrappers and pair.beside is None:
        return pair
    warnings = (Problem(pair.id, found, "a number in [0, 1]") for found in pred.problems)
    return replace(
        pair,
        gt=_document(pair.id, pair.gt, gt) if gt.wrappers else pair.gt,
        pred=_document(pair.id, pair.pred, pred) if pred.wrappers else pair.pred,
        warnings=(*pair.warnings, *warnings),
        confidences=pred.confidences,
        unwrapped={**wrappers, INHERITED: pred.inherited},
        metadata=(gt.metadata, pred.metadata),
    )


def complete_pairs(
    pairs: Iterable[DocumentPair], unwrapper: Unwrapper | None, alone: list[str]
) -> Iterator[DocumentPair]:
    """Yield the pairs of two documents, without wrappers; add the ids of the others to `alone`."""
    for pair in pairs:
        bare = unwrapped(unwrapper, pair)
        if isinstance(bare.gt, dict | list) and isinstance(bare.pred, dict | list):
            yield bare
        else:
            alone.append(bare.id)


def _document(name: str, wrapped: object, bare: Unwrapped) -> JsonDocument | Problem:
    kind = kind_of(wrapped)
    if kind_of(bare.value) == kind:
        return bare.value  # type: ignore[return-value] # its kind says so
    return Problem(name, f"the wrapper of the document holds {brief(bare.value)}", f"a JSON {kind}")


Item = DocumentPair | PairRef
"""A pair of documents, or where they are: those are read where they are compared."""

TOO_LITTLE_MEMORY: Final = "there is too little memory to compare the document"


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """One document of a chunk before it is compared."""

    result: DocumentResult
    """All but its score, if it can be compared."""
    pair: DocumentPair | None = None
    """None of one that could not be read for lack of memory."""
    gt: JsonDocument | None = None
    """None where it cannot be compared."""
    pred: JsonDocument = field(default_factory=dict)
    confidences: JsonValue = None
    """Those of the prediction, if it has any."""

    def below(self, step: str) -> "ReadDocument":
        """Return both sides below the name of their schema."""
        known: JsonValue = None if self.confidences is None else {step: self.confidences}
        return replace(self, gt={step: self.gt}, pred={step: self.pred}, confidences=known)


def failed(item: Item, found: str) -> ReadDocument:
    """Return a document that cannot be compared, and why."""
    return ReadDocument(DocumentResult(item.id, Status.FAILED, None, (Problem(item.id, found),)))


def read(job: Job, item: Item) -> ReadDocument:
    """Read a document, choose its schema, and take its values out of wrappers."""
    try:
        if isinstance(item, PairRef):
            marks = job.unwrapper.marks if job.unwrapper else ()
            kinds_of = job.schemas.kinds_of if job.schemas else None
            fingerprinted = job.requested.fingerprints
            item = read_pair(item, fingerprinted=fingerprinted, marks=marks, kinds_of=kinds_of)
        if item.gt is not None and not isinstance(item.gt, Problem):
            chosen = job.of(item.id, item.gt)
            if isinstance(chosen, Problem):
                item = replace(item, gt=chosen)
            else:
                job = chosen
        if item.is_marked:
            item = unwrapped(job.unwrapper, item)
        return _checked(job, item)
    except MemoryError:
        return failed(item, TOO_LITTLE_MEMORY)


def _checked(job: Job, pair: DocumentPair) -> ReadDocument:
    """Return what there is to say of a pair before it is compared."""
    gt, pred = pair.gt, pair.pred
    problem = next((side for side in (gt, pred) if isinstance(side, Problem)), None)
    status = Status.EVALUATED if problem is None else Status.INVALID
    if isinstance(gt, Problem):
        gt, status = None, Status.FAILED
    elif gt is None and problem is None:
        status = Status.UNMATCHED
        problem = Problem(pair.id, "there is no ground truth for this prediction")
    elif pred is None:
        status = Status.FAILED if job.missing == "error" else Status.MISSING
        gt = gt if job.missing == "fn" else None
        found = "there is no prediction for this ground truth"
        problem = Problem(pair.id, found, hint=pair.hint)
    result = DocumentResult(
        pair.id,
        status,
        None,
        (problem, *pair.warnings) if problem else pair.warnings,
        pair.remarks,
        job.validation.verdicts(pair) if job.validation else {},
        {it.key: group_of(pair.id, pair.gt, it) or NO_GROUP for it in job.by},
        pair.unwrapped,
    )
    known, pred = pair.confidences, pred if isinstance(pred, dict | list) else {}
    document = ReadDocument(result, pair, gt, pred, known)
    return document.below(job.step) if job.step and gt is not None else document


def at_fault(document: ReadDocument, error: Exception) -> DocumentResult:
    """Return the result of a document that cannot be compared; of others, what it was."""
    result, pair = document.result, document.pair
    if document.gt is None or pair is None:
        return result
    if isinstance(error, SticklerError):
        found = error.problems
    else:
        too_deep = "the document is nested too deeply to compare"
        why = too_deep if isinstance(error, RecursionError) else TOO_LITTLE_MEMORY
        found = (Problem(result.id, why),)
    before = result.problems[: len(result.problems) - len(pair.warnings)]
    return replace(result, status=Status.FAILED, problems=(*before, *found, *pair.warnings))


@dataclass(slots=True)
class ChunkResult:
    """What some documents, one after the other, come to: it can be sent, kept, and added up."""

    ids: list[str] = field(default_factory=list)
    document_lines: bytes = b""
    non_match_lines: bytes = b""
    value_lines: bytes = b""
    first_non_matches: list[Error] = field(default_factory=list)
    """At most as many as were requested."""
    document: Mapping[str, object] | None = None
    """What `document_view` says of the last document, if it was requested."""
    detail: Detail | None = None
    """What a page shows of the documents, if it was requested."""
    fingerprints: list[Fingerprint | None] = field(default_factory=list)
    """Of each document, if requested; None of one that nobody could read to its end."""
    marked: MarkedCounts | None = None
    """What verdicts change, where there are some."""
    evaluation: Evaluation = field(default_factory=Evaluation, metadata={KEPT: False})
    """In a journal it has a format of its own."""

    def add(self, chunk: "ChunkResult", job: Job) -> None:
        """Add the result of the documents that follow: all of it but ids and lines."""
        self.evaluation.merge(chunk.evaluation)
        room = job.requested.first_non_matches - len(self.first_non_matches)
        self.first_non_matches += chunk.first_non_matches[:room]
        self.document = chunk.document
        if self.detail is not None and chunk.detail is not None:
            self.detail.merge(chunk.detail)
        if self.marked is not None and chunk.marked is not None:
            self.marked.merge(chunk.marked)


def empty_result(job: Job) -> ChunkResult:
    """Return the result of no documents, which keeps of those to come what is asked for."""
    requested = job.requested
    evaluation = Evaluation(
        ledger=Ledger() if requested.accounts and requested.rows != "none" else None,
        interval_settings=requested.intervals,
        rows=requested.rows,
        metrics={name: measure.empty() for name, measure in job.metrics.items()},
    )
    return ChunkResult(
        detail=Detail() if requested.detail else None,
        marked=MarkedCounts() if job.marks else None,
        evaluation=evaluation,
    )


def evaluate_chunk(job: Job, items: Iterable[Item]) -> ChunkResult:
    """Read documents, and compare them together, in their order.

    Raises:
        MemoryError: there is too little memory for the results.
        UsageError: the cache cannot be used.
        UnavailableError: a server of models refuses the key, or has no such model.
    """
    with room_for_depth():
        return _result_of(job, [read(job, item) for item in _ready(items)])


def _ready(items: Iterable[Item]) -> Iterable[Item]:
    """Return items with what is elsewhere read ahead."""
    given = list(items)
    refs = [item for item in given if isinstance(item, PairRef)]
    return ready_to_read(refs) if len(refs) == len(given) else given


def failed_chunk(job: Job, item: Item, found: str = TOO_LITTLE_MEMORY) -> ChunkResult:
    """Return the result of one document that could not be evaluated, and why."""
    return _result_of(job, [failed(item, found)])


def _batches(job: Job, documents: Sequence[ReadDocument]) -> Iterator[Batch]:
    """Compare documents; where that fails, in halves, down to the one that is at fault."""
    gts = [document.gt for document in documents if document.gt is not None]
    preds = [document.pred for document in documents if document.gt is not None]
    if not gts:
        yield Batch([document.result for document in documents])
        return
    confidences = [document.confidences for document in documents if document.gt is not None]
    try:
        account = compare(job.plan, gts, preds, job.options, confidences)
    except (WorkLimitError, ComparisonError, RecursionError, MemoryError) as error:
        if len(gts) == 1:
            yield Batch([at_fault(document, error) for document in documents])
            return
        # Of too much work none may be guilty, and halves may be too much as well: one by one.
        size = 1 if isinstance(error, WorkLimitError) else -(len(documents) // -2)
        for first in range(0, len(documents), size):
            yield from _batches(job, documents[first : first + size])
        return
    scores = iter(account.reported.tolist())
    results = [
        document.result if document.gt is None else replace(document.result, score=next(scores))
        for document in documents
    ]
    yield Batch(results, account, np.arange(len(gts)))


def _result_of(job: Job, read: Sequence[ReadDocument]) -> ChunkResult:
    """Compare documents that follow each other, and put together what they came to."""
    requested = job.requested
    chunk = empty_result(job)
    documents: list[bytes] = []
    errors: list[bytes] = []
    values: list[bytes] = []
    for batch in _batches(job, read):
        accounts = _accounts(batch) if requested.document_lines else []
        for position, result in enumerate(batch.results):
            chunk.ids.append(result.id)
            room = requested.first_non_matches - len(chunk.first_non_matches)
            if room > 0:
                chunk.first_non_matches += batch.errors(position)[:room]
            if requested.non_match_lines:
                errors += (json_line(error_record(error)) for error in batch.errors(position))
            if requested.document_lines:
                line = _document_line(batch, position, recall_with_fd=requested.recall_with_fd)
                documents.append(json_line(line | _account_of(accounts[position])))
            if requested.document and result.score is not None:
                chunk.document = document_view(batch, position)
        if requested.value_lines:
            values += value_lines(batch)
        if chunk.detail is not None:
            chunk.detail.update(batch)
            of_batch = read[len(chunk.ids) - len(batch.results) : len(chunk.ids)]
            _keep_boxes(job, batch, of_batch, chunk.detail)
        chunk.evaluation.update(batch)
        _count_marked(job, batch, chunk.marked)
        measured = read[len(chunk.ids) - len(batch.results) : len(chunk.ids)]
        _measure(chunk.evaluation, measured, batch)
    chunk.document_lines, chunk.non_match_lines = b"".join(documents), b"".join(errors)
    chunk.value_lines = b"".join(values)
    if requested.fingerprints:
        chunk.fingerprints = [each.pair.fingerprint if each.pair else None for each in read]
    return chunk


def _keep_boxes(job: Job, batch: Batch, documents: Sequence[ReadDocument], detail: Detail) -> None:
    """Keep where the values of documents stand, if a page is to show it."""
    form = job.requested.boxes
    if form is None or batch.account is None:
        return
    compared = [
        (result.id, document.pair.metadata if document.pair else ({}, {}))
        for result, document in zip(batch.results, documents, strict=True)
        if result.score is not None
    ]
    boxes = boxes_of_documents(batch, [metadata for _, metadata in compared], form)
    detail.place((name, found) for (name, _), found in zip(compared, boxes, strict=True))


def _count_marked(job: Job, batch: Batch, counted: MarkedCounts | None) -> None:
    """Compare the documents again that verdicts are about, with the ground truth that these say."""
    for position, result in enumerate(batch.results):
        marks, row = job.marks.get(result.id), batch.rows[position]
        if not marks or row is None or batch.account is None or counted is None:
            continue
        units = (error.unit for error in batch.wrong_units(position))
        errors = [*errors_of_marks(units, marks, result.id)]
        account, at = batch.account, int(batch.at[row])
        truth = account.columns.gt[int(account.gt[at])]
        pred: Any = account.columns.pred[int(account.pred[at])]
        try:
            better: Any = mended(truth, errors, marks)
            again = compare(job.plan, [better], [pred], job.options)
        except (WorkLimitError, ComparisonError, RecursionError):
            continue  # that its verdicts fit nothing is told
        counted.fitting += (marked for marked, _ in errors)
        score = float(again.reported[0])
        better_counts = Batch([replace(result, score=score)], again, np.arange(1)).counts
        if batch.counts is not None and better_counts is not None:
            more = units_of(score) - units_of(float(batch.scores[row]))
            counted.add(batch.counts.sums[:, row], better_counts.sums[:, 0], more)


def _measure(evaluation: Evaluation, documents: Sequence[ReadDocument], batch: Batch) -> None:
    """Give metrics the documents that were compared."""
    if not evaluation.metrics:
        return
    for document, result in zip(documents, batch.results, strict=True):
        if result.score is not None and document.pair is not None:
            gt, pred = (
                None if isinstance(side, Problem) else side
                for side in (document.pair.gt, document.pair.pred)
            )
            measured = MeasuredDocument(result.id, gt, pred, result.score)
            for measure in evaluation.metrics.values():
                measure.add(measured)


def _accounts(batch: Batch) -> list[dict[str, Any]]:
    """Return what the ledger says of each document of a batch."""
    ledger = Ledger()
    ledger.add(batch)
    return [*ledger.records()]


def _account_of(account: Mapping[str, object]) -> dict[str, object]:
    """Return what the line of a document has of its account: what it does not say already."""
    return {key: account[key] for key in ("by", "fields", CONFIDENCES) if key in account}


def _document_line(batch: Batch, document: int, *, recall_with_fd: bool) -> dict[str, object]:
    """Return the line of a document of a batch but for its account; see docs/tables.md."""
    result = batch.results[document]
    line: dict[str, object] = {"document": result.id, "status": result.status.value}
    comparison, row = batch.comparison(document), batch.rows[document]
    if comparison is not None and batch.counts is not None:
        line["overall_score"] = result.score
        line["all_fields_matched"] = not batch.wrong[row]
        line["field_scores"] = comparison.field_scores
        counted = batch.counts.sums[:, row].tolist()
        for mode, counts in zip(COUNTING_MODES, counted, strict=True):
            line[mode] = Counts(*counts).view(recall_with_fd=recall_with_fd)
    if result.verdicts:
        line["validity"] = {
            side: verdict_view(result.verdicts[side]) for side in SIDES if side in result.verdicts
        }
    line["remarks"] = list(result.warnings)
    line["problems"] = [str(problem) for problem in result.problems]
    return line
