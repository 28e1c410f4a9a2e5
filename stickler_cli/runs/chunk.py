"""What every runner runs: documents in, one `ChunkResult` out; a bad document is a result.

A chunk is a few documents that follow each other. What it comes to is plain data: it can be sent
from a worker, kept in a file, and added to that of the chunk before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Final

import numpy as np

from stickler_cli.clients.model import NO_USAGE, Usage
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.problems import ComparisonError, Problem
from stickler_cli.core.values import dataclass
from stickler_cli.documents import DocumentPair, Fingerprint, PairRef, read_pair
from stickler_cli.records.chunk_record import KeptEvaluation
from stickler_cli.records.codec import KEPT
from stickler_cli.runs.grouping import Grouping, groups_of
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.lines import document_line, non_match_lines
from stickler_cli.runs.validation import Validation
from stickler_cli.score.accounts import Accounts
from stickler_cli.score.batch import Batch
from stickler_cli.score.comparison_view import document_view
from stickler_cli.score.detail import Detail
from stickler_cli.score.evaluation import DocumentResult, Evaluation, Status
from stickler_cli.score.intervals import Bootstrap, IntervalSettings
from stickler_cli.score.non_matches import NonMatch
from stickler_cli.settings import Missing

Item = DocumentPair | PairRef
"""A pair of documents, or where they are: those are read where they are compared."""

TOO_LITTLE_MEMORY: Final = "there is too little memory to compare the document"


@dataclass(frozen=True, slots=True)
class OutputsRequested:
    """What a run is asked for beside its evaluation; nothing else is made."""

    document_lines: bool = False
    """A JSON line for each document."""
    non_match_lines: bool = False
    """A JSON line for each error."""
    first_non_matches: int = 0
    """How many errors, the first of the run, are to be shown."""
    accounts: bool = False
    """An account of each document."""
    intervals: IntervalSettings | None = None
    """Confidence intervals; None for none."""
    intervals_of_fields: bool = False
    """Confidence intervals of every field too, not only of whole documents."""
    document: bool = False
    """What results say of the comparison, of a run of one pair."""
    detail: bool = False
    """What a page shows of single values and documents."""
    fingerprints: bool = False
    """What tells each document from others."""
    recall_with_fd: bool = False
    """Whether the recall in document lines counts false discoveries as missed."""

    def evaluation(self) -> Evaluation:
        """Give the evaluation of no documents, which keeps of those to come what is asked for."""
        whole_only = not self.intervals_of_fields
        return Evaluation(
            accounts=Accounts() if self.accounts else None,
            bootstrap=Bootstrap(self.intervals, whole_only) if self.intervals else None,
        )

    def no_detail(self) -> Detail | None:
        """Give the detail of no documents, if it is asked for."""
        return Detail() if self.detail else None


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides what becomes of a pair."""

    plan: Plan
    options: Options
    missing: Missing = "fn"
    """What a ground truth without a prediction is: false negatives, left out, or a failure."""
    requested: OutputsRequested = OutputsRequested()
    validation: Validation | None = None
    """Which sides are held against the schema, if any; they are compared whatever it says."""
    by: tuple[Grouping, ...] = ()
    """What documents are grouped by."""


@dataclass(slots=True)
class ChunkResult:
    """What some documents, one after the other, come to."""

    ids: list[str] = field(default_factory=list)
    """Of all its documents, in their order."""
    evaluation: Annotated[Evaluation, KeptEvaluation] = field(default_factory=Evaluation)
    document_lines: bytes = b""
    non_match_lines: bytes = b""
    first_non_matches: list[tuple[str, NonMatch]] = field(default_factory=list)
    """Document id and error, at most as many as were requested."""
    document: Mapping[str, object] | None = None
    """What `document_view` says of the last document, if it was requested."""
    detail: Detail | None = None
    """What a page shows of the documents, if it was requested."""
    usage: Usage = field(default=NO_USAGE, metadata={KEPT: False})
    """What asking models took, which is no result: a run that goes on has not asked again."""
    fingerprints: list[Fingerprint | None] = field(default_factory=list)
    """Of each document, if requested; None of one that nobody could read to its end."""


def evaluate_chunk(job: Job, items: Iterable[Item]) -> ChunkResult:
    """Read documents, and compare them together, in their order.

    Raises:
        MemoryError: there is too little memory for the results.
        UsageError: the cache cannot be used, or judges would be asked about too many pairs.
    """
    client = job.options.client
    before = client.usage if client else NO_USAGE
    with room_for_depth():
        documents = [_read(job, item) for item in items]
        chunk = _chunk_of(job.requested, _batches(job, documents))
    if job.requested.fingerprints:
        chunk.fingerprints = [document.fingerprint for document in documents]
    if client:
        chunk.usage = client.usage - before
    return chunk


def failed_chunk(job: Job, item: Item, found: str) -> ChunkResult:
    """Return the result of one document that could not be evaluated, and why."""
    chunk = _chunk_of(job.requested, [Batch([_failed(item.id, found)])])
    if job.requested.fingerprints:
        chunk.fingerprints = [None]
    return chunk


@dataclass(frozen=True, slots=True)
class _Document:
    """One document of a chunk before it is compared."""

    result: DocumentResult
    """What is known of it; its score is to come, if it can be compared."""
    gt: JsonObject | None = None
    """None where it cannot be compared."""
    pred: JsonObject = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    """What else a person should look at."""
    fingerprint: Fingerprint | None = None

    def came_to(self, **changes: Any) -> DocumentResult:
        """Return the result with what comparing changed, and with all there is to say."""
        if self.warnings:
            problems = changes.get("problems", self.result.problems)
            changes["problems"] = (*problems, *self.warnings)
        return replace(self.result, **changes) if changes else self.result


def _failed(name: str, found: str) -> DocumentResult:
    return DocumentResult(name, Status.FAILED, None, (Problem(name, found),))


def _read(job: Job, item: Item) -> _Document:
    try:
        if isinstance(item, PairRef):
            return _checked(job, read_pair(item, fingerprinted=job.requested.fingerprints))
        return _checked(job, item)
    except MemoryError:
        return _Document(_failed(item.id, TOO_LITTLE_MEMORY))


def _checked(job: Job, pair: DocumentPair) -> _Document:
    """Find out what there is to say of a pair before it is compared."""
    gt: JsonObject | None = None
    pred: JsonObject = {}
    if pair.gt is None or isinstance(pair.gt, Problem):
        status, problems = _without_ground_truth(pair)
    else:
        pred, status, problems = _prediction(pair)
        if status is not Status.MISSING or job.missing == "fn":
            gt = pair.gt
        elif job.missing == "error":
            status = Status.FAILED
    result = DocumentResult(
        pair.id,
        status,
        None,
        problems,
        pair.remarks,
        job.validation.verdicts(pair) if job.validation else {},
        groups_of(pair, job.by) if job.by else {},
    )
    return _Document(result, gt, pred, pair.warnings, pair.fingerprint)


def _batches(job: Job, documents: Sequence[_Document]) -> Iterator[Batch]:
    """Compare documents; where that fails, in halves, down to the one that is at fault."""
    some = [document for document in documents if document.gt is not None]
    if not some:
        yield Batch([document.came_to() for document in documents])
        return
    try:
        account = compare(
            job.plan,
            [document.gt or {} for document in some],
            [document.pred for document in some],
            job.options,
        )
    except (ComparisonError, RecursionError, MemoryError) as error:
        if len(some) > 1:
            middle = len(documents) // 2
            yield from _batches(job, documents[:middle])
            yield from _batches(job, documents[middle:])
        else:
            yield Batch([_at_fault(document, error) for document in documents])
        return
    scores = iter(account.similarity.tolist())
    yield Batch(
        [
            document.came_to() if document.gt is None else document.came_to(score=next(scores))
            for document in documents
        ],
        account,
        np.arange(len(some)),
    )


def _at_fault(
    document: _Document, error: ComparisonError | RecursionError | MemoryError
) -> DocumentResult:
    """Return the result of a document that cannot be compared; of others, what it was."""
    if document.gt is None:
        return document.came_to()
    name = document.result.id
    match error:
        case ComparisonError():
            found = error.problems
        case RecursionError():
            found = (Problem(name, "the document is nested too deeply to compare"),)
        case _:
            found = (Problem(name, TOO_LITTLE_MEMORY),)
    return document.came_to(status=Status.FAILED, problems=(*document.result.problems, *found))


def _chunk_of(requested: OutputsRequested, batches: Iterable[Batch]) -> ChunkResult:
    """Put together what documents that follow each other came to."""
    chunk = ChunkResult(evaluation=requested.evaluation(), detail=requested.no_detail())
    documents: list[bytes] = []
    errors: list[bytes] = []
    for batch in batches:
        for position, result in enumerate(batch.results):
            chunk.ids.append(result.id)
            found = batch.errors(position)
            room = requested.first_non_matches - len(chunk.first_non_matches)
            chunk.first_non_matches += ((result.id, error) for error in found[:room])
            if requested.non_match_lines:
                errors.append(non_match_lines(result.id, found))
            if requested.document_lines:
                line = document_line(batch, position, recall_with_fd=requested.recall_with_fd)
                documents.append(line)
            if requested.document and result.score is not None:
                chunk.document = document_view(batch, position)
        if chunk.detail is not None:
            chunk.detail.update(batch)
        chunk.evaluation.update(batch)
    chunk.document_lines, chunk.non_match_lines = b"".join(documents), b"".join(errors)
    return chunk


def _without_ground_truth(pair: DocumentPair) -> tuple[Status, tuple[Problem, ...]]:
    """Tell a ground truth that cannot be read from a prediction that has none."""
    if isinstance(pair.gt, Problem):
        return Status.FAILED, (pair.gt,)
    if isinstance(pair.pred, Problem):
        return Status.INVALID, (pair.pred,)
    problem = Problem(pair.id, "there is no ground truth for this prediction")
    return Status.UNMATCHED, (problem,)


def _prediction(pair: DocumentPair) -> tuple[JsonObject, Status, tuple[Problem, ...]]:
    """Give what stands for the prediction: nothing, where there is none that can be used."""
    if pair.pred is None:
        found = "there is no prediction for this ground truth"
        problem = Problem(pair.id, found, hint=pair.hint)
        return {}, Status.MISSING, (problem,)
    if isinstance(pair.pred, Problem):
        return {}, Status.INVALID, (pair.pred,)
    return pair.pred, Status.EVALUATED, ()
