"""One document of a run before it is compared: read, checked, and what is wrong with it."""

from dataclasses import dataclass, field, replace
from typing import Final

from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.problems import Problem, SticklerError
from stickler_cli.documents.document_pair import DocumentPair, PairRef, read_pair
from stickler_cli.score.document_result import DocumentResult, Status
from stickler_cli.score.results import NO_GROUP
from .grouping import group_of
from .job import Job
from .unwrapping import unwrapped

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
