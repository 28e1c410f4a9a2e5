"""Evaluate chunks of documents: read, unwrap and compare.

A document that cannot be evaluated gets a result with the status `failed`. It does not stop the
others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from stickler_cli.compare.engine import compare
from stickler_cli.core.json_values import Gold, JsonDocument, JsonValue, brief, kind_of
from stickler_cli.core.problems import (
    ComparisonError,
    Problem,
    SticklerError,
    Undelivered,
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
from stickler_cli.documents.key_edits import NO_EDITS
from stickler_cli.documents.wrappers import Unwrapped, Unwrapper, add_confidences
from stickler_cli.metrics import MeasuredDocument
from stickler_cli.score.batch import Batch
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.comparison_view import document_view
from stickler_cli.score.detail import Detail
from stickler_cli.score.document_result import (
    INHERITED,
    DocumentProblem,
    DocumentResult,
    Status,
)
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.errors.marks import MarkedCounts
from stickler_cli.score.evaluation import NO_GROUP, Evaluation
from stickler_cli.score.ledger import Ledger
from .job import Job, group_of
from .process import room_for_depth

WorkItem = DocumentPair | PairRef
"""A pair of documents in memory, or a reference to a pair that is read only when compared."""
TOO_LITTLE_MEMORY: Final = "there is too little memory to compare the document"


def unwrapped(unwrapper: Unwrapper | None, pair: DocumentPair) -> DocumentPair:
    """Take the values of a pair out of wrapper objects, and set the confidences of the pair.

    Confidences from a separate file take precedence over those in wrappers. Without an unwrapper,
    values stay as they are.
    """
    gt, pred = Unwrapped(None), Unwrapped(None)
    if unwrapper is not None and isinstance(pair.gt, dict | list):
        gt = unwrapper(pair.gt, is_truth=True)
    if isinstance(pair.pred, dict | list):
        pred = (unwrapper or Unwrapped)(pair.pred)
    if isinstance(pair.separate_confidences, Problem):
        return replace(pair, warnings=(*pair.warnings, pair.separate_confidences))
    if pair.separate_confidences is not None:
        edits = unwrapper.edits if unwrapper else NO_EDITS
        pred = add_confidences(pred, edits.edit_all(pair.separate_confidences, is_truth=False))
    if not (gt.is_changed or pred.is_changed) and pair.separate_confidences is None:
        return pair
    warnings = [Problem(pair.id, finding, "a number in [0, 1]") for finding in pred.problems]
    warnings += (replace(finding, source=pair.id) for finding in gt.misread)
    return replace(
        pair,
        gt=_document(pair.id, pair.gt, gt) if gt.is_changed else pair.gt,
        pred=_document(pair.id, pair.pred, pred) if pred.is_changed else pair.pred,
        warnings=(*pair.warnings, *warnings),
        confidences=pred.confidences,
        unwrapped={**gt.wrappers + pred.wrappers, INHERITED: pred.inherited},
        skipped_keys=gt.skipped_keys + pred.skipped_keys,
        metadata=(gt.metadata, pred.metadata),
        gold=gt.gold,
    )


def complete_pairs(
    pairs: Iterable[DocumentPair],
    unwrapper: Unwrapper | None,
    incomplete_ids: list[str],
    unreadable: list[DocumentProblem],
) -> Iterator[DocumentPair]:
    """Yield the unwrapped pairs in which both sides have a document.

    If a side cannot be read, its problem is added to `unreadable`. If a side has no document, the
    id of the pair is added to `incomplete_ids`.
    """
    for pair in pairs:
        bare = unwrapped(unwrapper, pair)
        problems = [
            DocumentProblem(bare.id, status, str(side))
            for side, status in ((bare.gt, Status.FAILED), (bare.pred, Status.INVALID))
            if isinstance(side, Problem)
        ]
        if isinstance(bare.gt, dict | list) and isinstance(bare.pred, dict | list):
            yield bare
        elif problems:
            unreadable += problems
        else:
            incomplete_ids.append(bare.id)


def _document(name: str, wrapped: object, bare: Unwrapped) -> JsonDocument | Problem:
    if bare.nested_lists:
        return replace(bare.nested_lists[0], source=name)
    kind = kind_of(wrapped)
    if kind_of(bare.value) == kind:
        return bare.value  # type: ignore[return-value] # its kind says so
    return Problem(
        name,
        f"the value inside the wrapper object is {brief(bare.value)}, not a document",
        f"a JSON {kind}",
    )


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document of a chunk that has been read, but not compared yet."""

    result: DocumentResult
    """Result of the document; it has no score until the document has been compared."""
    pair: DocumentPair | None = None
    """The pair of documents; None if there was too little memory to read the pair."""
    gt: JsonDocument | None = None
    """The ground truth; None if the document cannot be compared."""
    pred: JsonDocument = field(default_factory=dict)
    confidences: JsonValue = None
    """Confidences of the prediction; None if there are none."""
    gold: Gold | None = None
    """Annotations of the ground truth: alternatives, optional and ignored values."""

    def below(self, step: str) -> "ReadDocument":
        """Return a copy in which each side is put into an object, such as `{"invoice/": {...}}`.

        `step` is the only key of this object. It names the schema of the document.
        """
        confidences: JsonValue = None if self.confidences is None else {step: self.confidences}
        sides: Any = {"gt": {step: self.gt}, "pred": {step: self.pred}}
        gold = Gold.of_parent(step, self.gold)
        return replace(self, **sides, confidences=confidences, gold=gold)


def failed(item: WorkItem, finding: str) -> ReadDocument:
    """Return a document with the status `failed`. `finding` says why it cannot be compared."""
    return ReadDocument(
        DocumentResult(
            id=item.id, status=Status.FAILED, score=None, problems=(Problem(item.id, finding),)
        )
    )


def read_item(job: Job, item: WorkItem) -> ReadDocument:
    """Read a document, choose its schema and unwrap its values."""
    try:
        if isinstance(item, PairRef):
            marks = job.unwrapper.marks if job.unwrapper else ()
            kinds_of = job.schemas.kinds_of if job.schemas else None
            fingerprinted = job.requested.fingerprints
            item = read_pair(item, fingerprinted=fingerprinted, marks=marks, kinds_of=kinds_of)
        if item.gt is not None and not isinstance(item.gt, Problem):
            chosen = job.for_document(item.id, item.gt)
            if isinstance(chosen, Problem):
                item = replace(item, gt=chosen)
            else:
                job = chosen
        whole_gt = item.gt
        if item.is_marked:
            item = unwrapped(job.unwrapper, item)
        return _check_pair(job, item, whole_gt)
    except MemoryError:
        return failed(item, TOO_LITTLE_MEMORY)


def _check_pair(
    job: Job, pair: DocumentPair, whole_gt: JsonDocument | Problem | None
) -> ReadDocument:
    """Return a document with its status and problems, ready to be compared.

    `whole_gt` is the ground truth before ignored keys are removed. It is needed because an ignored
    key may state the group of the document.
    """
    gt, pred = pair.gt, pair.pred
    problem = next((side for side in (gt, pred) if isinstance(side, Problem)), None)
    status = Status.EVALUATED if problem is None else Status.INVALID
    if isinstance(gt, Problem) or isinstance(pred, Undelivered):
        gt, status = None, Status.FAILED
    elif gt is None and problem is None:
        status = Status.UNMATCHED
        problem = Problem(pair.id, "there is no ground truth for this prediction")
    elif pred is None:
        status = Status.FAILED if job.missing == "error" else Status.MISSING
        gt = gt if job.missing == "fn" else None
        finding = "there is no prediction for this ground truth"
        problem = Problem(pair.id, finding, hint=pair.hint)
    result = DocumentResult(
        id=pair.id,
        status=status,
        score=None,
        problems=(problem, *pair.warnings) if problem else pair.warnings,
        warnings=pair.remarks,
        verdicts=job.validation.verdicts(pair) if job.validation else {},
        groups={
            grouping.key: group_of(pair.id, pair.gt, grouping)
            or group_of(pair.id, whole_gt, grouping)
            or NO_GROUP
            for grouping in job.by
        },
        unwrapped=pair.unwrapped,
        skipped_keys=pair.skipped_keys,
    )
    confidences, pred = pair.confidences, pred if isinstance(pred, dict | list) else {}
    document = ReadDocument(
        result=result, pair=pair, gt=gt, pred=pred, confidences=confidences, gold=pair.gold
    )
    return document.below(job.step) if job.step and gt is not None else document


def at_fault(document: ReadDocument, error: Exception) -> DocumentResult:
    """Return the result of a document after the comparison of its batch raised an error.

    If the document was compared, the result has the status `failed` and describes the error. If the
    document did not need to be compared, for instance because it has no ground truth, its result is
    returned unchanged.
    """
    result, pair = document.result, document.pair
    if document.gt is None or pair is None:
        return result
    if isinstance(error, SticklerError):
        finding = error.problems
    else:
        too_deep = "the document is nested too deeply to compare"
        reason = too_deep if isinstance(error, RecursionError) else TOO_LITTLE_MEMORY
        finding = (Problem(result.id, reason),)
    before = result.problems[: len(result.problems) - len(pair.warnings)]
    return replace(result, status=Status.FAILED, problems=(*before, *finding, *pair.warnings))


@dataclass(slots=True)
class ChunkResult:
    """Results of consecutive documents.

    They can be sent to other processes, stored, and added up.
    """

    ids: list[str] = field(default_factory=list)
    document_lines: bytes = b""
    non_match_lines: bytes = b""
    value_lines: bytes = b""
    first_non_matches: list[Error] = field(default_factory=list)
    """The first errors of the documents, as many as were requested."""
    document: Mapping[str, object] | None = None
    """Record that explains the comparison of the last document, if requested."""
    detail: Detail | None = None
    """Details for an HTML page, if requested."""
    fingerprints: list[Fingerprint | None] = field(default_factory=list)
    """Fingerprint of each document, if requested; None for a document that could not be read to its
    end."""
    marked: MarkedCounts | None = None
    """How people's verdicts on errors change the counts; None if there are no verdicts."""
    evaluation: Evaluation = field(default_factory=Evaluation, metadata={KEPT: False})
    """Counts and scores of the documents."""

    def add(self, chunk: "ChunkResult", job: Job) -> None:
        """Add the counts, errors and details of the next chunk to this result.

        The ids and the lines of text of the next chunk are not added.
        """
        self.evaluation.merge(chunk.evaluation)
        room = job.requested.first_non_matches - len(self.first_non_matches)
        self.first_non_matches += chunk.first_non_matches[:room]
        self.document = chunk.document
        if self.detail is not None and chunk.detail is not None:
            self.detail.merge(chunk.detail)
        if self.marked is not None and chunk.marked is not None:
            self.marked.merge(chunk.marked)


def empty_result(job: Job) -> ChunkResult:
    """Return a result without any documents. Results of documents can be added to it."""
    requested = job.requested
    keeps = requested.accounts and requested.rows != "none"
    evaluation = Evaluation(
        ledger=Ledger(blocks=Blocks() if keeps else None),
        interval_settings=requested.intervals,
        rows=requested.rows,
        metrics={name: measure.empty() for name, measure in job.metrics.items()},
    )
    return ChunkResult(
        detail=Detail(listed_fields=job.listed_fields) if requested.detail else None,
        marked=MarkedCounts() if job.marks else None,
        evaluation=evaluation,
    )


def evaluate_chunk(job: Job, items: Iterable[WorkItem]) -> ChunkResult:
    """Read documents and compare them together. Return one result for all of them.

    Raises:
        MemoryError: there is too little memory for the results.
        UsageError: the cache of model answers cannot be used.
        UnavailableError: a model server refuses the key, or does not have the model.
    """
    given = list(items)
    refs = [item for item in given if isinstance(item, PairRef)]
    # Read remote documents ahead.
    ready = ready_to_read(refs) if len(refs) == len(given) else given
    with room_for_depth():
        return _result_of(job, [read_item(job, item) for item in ready])


def failed_chunk(job: Job, item: WorkItem, found: str = TOO_LITTLE_MEMORY) -> ChunkResult:
    """Return the result of one document that could not be evaluated. `found` is the reason."""
    return _result_of(job, [failed(item, found)])


def _compare_batches(job: Job, documents: Sequence[ReadDocument]) -> Iterator[Batch]:
    """Compare documents and yield the results in batches.

    If an error occurs, the documents are compared again in smaller batches. Only a document that
    causes an error on its own gets a failed result.
    """
    gts = [document.gt for document in documents if document.gt is not None]
    preds = [document.pred for document in documents if document.gt is not None]
    if not gts:
        yield Batch([document.result for document in documents])
        return
    confidences = [document.confidences for document in documents if document.gt is not None]
    gold = [document.gold for document in documents if document.gt is not None]
    try:
        table = compare(job.plan, gts, preds, job.options, confidences, gold)
    except (WorkLimitError, ComparisonError, RecursionError, MemoryError) as error:
        if len(gts) == 1:
            yield Batch([at_fault(document, error) for document in documents])
            return
        # If the work limit is exceeded, compare one by one: halves may exceed it too, and possibly
        # no single document does.
        size = 1 if isinstance(error, WorkLimitError) else -(len(documents) // -2)
        for first in range(0, len(documents), size):
            yield from _compare_batches(job, documents[first : first + size])
        return
    scores = iter(table.document_scores.tolist())
    results = [
        document.result if document.gt is None else replace(document.result, score=next(scores))
        for document in documents
    ]
    yield Batch(results, table)


def _result_of(job: Job, read: Sequence[ReadDocument]) -> ChunkResult:
    """Compare documents that have been read, and return one result for all of them."""
    requested, chunk = job.requested, empty_result(job)
    if job.has_parts:
        from .chunk_parts import add_parts  # imported late: most runs need figures only
    for batch in _compare_batches(job, read):
        documents = read[len(chunk.ids) : len(chunk.ids) + len(batch.results)]
        for position, result in enumerate(batch.results):
            chunk.ids.append(result.id)
            room = requested.first_non_matches - len(chunk.first_non_matches)
            if room > 0:
                chunk.first_non_matches += batch.errors(position)[:room]
            if requested.document and result.score is not None:
                chunk.document = document_view(batch, position)
        if job.has_parts:
            pairs = [document.pair for document in documents]
            lines = add_parts(job, batch, pairs, chunk.detail, chunk.marked)
            chunk.document_lines += lines[0]
            chunk.non_match_lines += lines[1]
            chunk.value_lines += lines[2]
        chunk.evaluation.add(batch)
        _add_to_metrics(chunk.evaluation, documents, batch)
    if requested.fingerprints:
        chunk.fingerprints = [
            read_document.pair.fingerprint if read_document.pair else None for read_document in read
        ]
    return chunk


def _add_to_metrics(
    evaluation: Evaluation, documents: Sequence[ReadDocument], batch: Batch
) -> None:
    """Pass the compared documents to the user's metrics."""
    if not evaluation.metrics:
        return
    for document, result in zip(documents, batch.results, strict=True):
        if result.score is not None and document.pair is not None:
            gt, pred = (
                None if isinstance(side, Problem) else side
                for side in (document.pair.gt, document.pair.pred)
            )
            measured = MeasuredDocument(id=result.id, gt=gt, pred=pred, score=result.score)
            for measure in evaluation.metrics.values():
                measure.add(measured)
