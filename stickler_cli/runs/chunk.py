"""What every runner runs: documents in, one `ChunkResult` out; a bad document is a result.

A chunk is a few documents that follow each other. What it comes to is plain data: it can be sent
from a worker, kept in a file, and added to that of the chunk before it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Final, Literal, TypeAlias

from stickler_cli.clients.model import NO_USAGE, Usage
from stickler_cli.clients.policy import Policy
from stickler_cli.clients.rounds import answered
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.problems import ComparisonError, Problem
from stickler_cli.documents import DocumentPair, Fingerprint, PairRef, read_pair
from stickler_cli.runs.grouping import Grouping, groups_of
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.lines import document_line, non_match_lines
from stickler_cli.runs.validation import Validation
from stickler_cli.score.accounts import Accounts
from stickler_cli.score.comparison_view import document_view
from stickler_cli.score.detail import Detail
from stickler_cli.score.evaluation import DocumentResult, Evaluation, Status
from stickler_cli.score.intervals import Bootstrap, IntervalSettings
from stickler_cli.score.non_matches import NonMatch, non_matches

Missing = Literal["fn", "skip", "error"]

TOGETHER: Final = 64
"""Documents whose questions to models are asked together: enough to fill batches and connections,
few enough to be held, and to be worth showing progress after."""

Item = DocumentPair | PairRef
"""A pair of documents, or where they are: those are read where they are compared."""

TOO_LITTLE_MEMORY: Final = "there is too little memory to compare the document"


@dataclass(frozen=True, slots=True)
class Wants:
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
    wants: Wants = Wants()
    validation: Validation | None = None
    """Which sides are held against the schema, if any; they are compared whatever it says."""
    asking: Policy | None = None
    """How models are asked; None leaves it to the process."""
    by: tuple[Grouping, ...] = ()
    """What documents are grouped by."""


@dataclass(slots=True)
class ChunkResult:
    """What some documents, one after the other, come to."""

    ids: list[str] = field(default_factory=list)
    """Of all its documents, in their order."""
    evaluation: Evaluation = field(default_factory=Evaluation)
    document_lines: bytes = b""
    non_match_lines: bytes = b""
    first_non_matches: list[tuple[str, NonMatch]] = field(default_factory=list)
    """Document id and error, at most as many as the job wants."""
    document: Mapping[str, object] | None = None
    """What `document_view` says of the last document, if the job wants it."""
    detail: Detail | None = None
    """What a page shows of the documents, if the job wants it."""
    usage: Usage = NO_USAGE
    """What asking models took."""
    fingerprints: list[Fingerprint | None] = field(default_factory=list)
    """Of each document, if the job wants them; None of one that nobody could read to its end."""


def evaluate_chunk(job: Job, items: Iterable[Item]) -> ChunkResult:
    """Read and compare documents one by one, in their order; each is let go before the next.

    Where models are asked, `TOGETHER` documents are held at a time.

    Raises:
        MemoryError: there is too little memory for the results.
        UsageError: the cache cannot be used, or judges would be asked about too many pairs.
    """
    with room_for_depth():
        if job.plan.asks_models:
            return _answered_chunk(job, iter(items))
        return _chunk_of(job.wants, (_evaluated(job, item) for item in items))


def _answered_chunk(job: Job, items: Iterator[Item]) -> ChunkResult:
    from stickler_cli.clients.desk import desk, open_desk  # runs that ask nothing do not load it

    if job.asking is not None and job.asking != desk().policy:
        open_desk(job.asking)  # as in a worker
    before = desk().usage
    chunk = _chunk_of(job.wants, _together(job, items))
    chunk.usage = desk().usage - before
    return chunk


def _together(job: Job, items: Iterator[Item]) -> "Iterator[_Evaluated]":
    """Evaluate some documents at a time, so that what they ask is asked together."""
    while some := list(islice(items, TOGETHER)):
        yield from answered(partial(_all_of, job, some))


def _all_of(job: Job, items: Iterable[Item]) -> "list[_Evaluated]":
    return [_evaluated(job, item) for item in items]


def failed_chunk(job: Job, item: Item, found: str) -> ChunkResult:
    """Give the result of one document that could not be evaluated, and why."""
    return _chunk_of(job.wants, [(_failed(item, found), None)])


_Evaluated: TypeAlias = tuple[DocumentResult, Fingerprint | None]


def _evaluated(job: Job, item: Item) -> "_Evaluated":
    try:
        if isinstance(item, PairRef):
            item = read_pair(item, fingerprinted=job.wants.fingerprints)
        return evaluate_pair(job, item), item.fingerprint
    except MemoryError:
        return _failed(item, TOO_LITTLE_MEMORY), None


def _failed(item: Item, found: str) -> DocumentResult:
    return DocumentResult(item.id, Status.FAILED, None, (Problem(item.id, found),))


def _chunk_of(wants: Wants, results: Iterable[_Evaluated]) -> ChunkResult:
    """Put together what documents that follow each other came to."""
    chunk = ChunkResult(evaluation=wants.evaluation(), detail=wants.no_detail())
    documents: list[bytes] = []
    errors: list[bytes] = []
    for result, fingerprint in results:
        if wants.document_lines:
            documents.append(document_line(result, recall_with_fd=wants.recall_with_fd))
        _note_errors(wants, result, chunk, errors)
        if wants.document and result.comparison is not None:
            chunk.document = document_view(result.comparison)
        if chunk.detail is not None:
            chunk.detail.update(result)
        if wants.fingerprints:
            chunk.fingerprints.append(fingerprint)
        chunk.evaluation.update(result)
        chunk.ids.append(result.id)
    chunk.document_lines, chunk.non_match_lines = b"".join(documents), b"".join(errors)
    return chunk


def _note_errors(
    wants: Wants, result: DocumentResult, chunk: ChunkResult, lines: list[bytes]
) -> None:
    """Go through the errors of a document, as far as anybody wants them."""
    room = wants.first_non_matches - len(chunk.first_non_matches)
    if result.comparison is None or not (room or wants.non_match_lines):
        return
    found = non_matches(result.comparison)
    errors = list(found if wants.non_match_lines else islice(found, room))
    chunk.first_non_matches += ((result.id, error) for error in errors[:room])
    if wants.non_match_lines:
        lines.append(non_match_lines(result.id, errors))


def evaluate_pair(job: Job, pair: DocumentPair) -> DocumentResult:
    """Compare one pair; whatever is wrong with it is told in the result."""
    result = _compared(job, pair)
    if job.validation is not None:
        result = replace(result, verdicts=job.validation.verdicts(pair))
    if job.by:
        result = replace(result, groups=groups_of(pair, job.by))
    if not pair.remarks:
        return result
    return replace(result, problems=(*result.problems, *pair.warnings), remarks=pair.remarks)


def _compared(job: Job, pair: DocumentPair) -> DocumentResult:
    gt = pair.gt
    if gt is None or isinstance(gt, Problem):
        return _without_ground_truth(pair)
    pred, status, problems = _prediction(pair)
    if status is Status.MISSING and job.missing != "fn":
        left_out = Status.MISSING if job.missing == "skip" else Status.FAILED
        return DocumentResult(pair.id, left_out, None, problems)
    try:
        comparison = compare(job.plan, gt, pred, job.options)
    except ComparisonError as error:
        return DocumentResult(pair.id, Status.FAILED, None, (*problems, *error.problems))
    except RecursionError:
        problem = Problem(pair.id, "the document is nested too deeply to compare")
        return DocumentResult(pair.id, Status.FAILED, None, (*problems, problem))
    return DocumentResult(pair.id, status, comparison, problems)


def _without_ground_truth(pair: DocumentPair) -> DocumentResult:
    """Tell a ground truth that cannot be read from a prediction that has none."""
    if isinstance(pair.gt, Problem):
        return DocumentResult(pair.id, Status.FAILED, None, (pair.gt,))
    if isinstance(pair.pred, Problem):
        return DocumentResult(pair.id, Status.INVALID, None, (pair.pred,))
    problem = Problem(pair.id, "there is no ground truth for this prediction")
    return DocumentResult(pair.id, Status.UNMATCHED, None, (problem,))


def _prediction(pair: DocumentPair) -> tuple[JsonObject, Status, tuple[Problem, ...]]:
    """Give what stands for the prediction: nothing, where there is none that can be used."""
    if pair.pred is None:
        found = "there is no prediction for this ground truth"
        problem = Problem(pair.id, found, hint=pair.hint)
        return {}, Status.MISSING, (problem,)
    if isinstance(pair.pred, Problem):
        return {}, Status.INVALID, (pair.pred,)
    return pair.pred, Status.EVALUATED, ()
