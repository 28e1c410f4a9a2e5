"""What some documents came to, as a record in a file: from a `ChunkResult` to JSON and back.

JSON, since whoever can write to a directory must not be able to have code executed by those who
read from it.
"""

import json
from dataclasses import replace
from typing import cast

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue
from stickler_cli.documents import Fingerprint
from stickler_cli.runs.chunk import ChunkResult
from stickler_cli.score.detail import BINS, Detail, Histogram, Ranked
from stickler_cli.score.error_classes import ErrorClass
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.non_matches import NonMatch
from stickler_cli.score.parts import Part


def chunk_record(chunk: ChunkResult) -> dict[str, object]:
    """Return a result as JSON values; `read_chunk` gives it back, exactly."""
    return {
        "ids": chunk.ids,
        "fingerprints": [
            None if entry is None else [entry.gt, entry.pred, entry.hint]
            for entry in chunk.fingerprints
        ],
        "evaluation": _evaluation_record(chunk.evaluation),
        "document_lines": chunk.document_lines.decode(),
        "non_match_lines": chunk.non_match_lines.decode(),
        "first_non_matches": [
            [name, _non_match_record(error)] for name, error in chunk.first_non_matches
        ],
        "document": chunk.document,
        "detail": None if chunk.detail is None else _detail_record(chunk.detail),
    }


def read_chunk(record: Part) -> ChunkResult:
    """Read what `chunk_record` gave.

    Raises:
        UsageError: it is no such record; with its place and what it is.
    """
    document, detail = record.at("document"), record.at("detail")
    return ChunkResult(
        ids=[part.text() for part in record.at("ids").parts()],
        evaluation=_read_evaluation(record.at("evaluation")),
        document_lines=record.at("document_lines").text().encode(),
        non_match_lines=record.at("non_match_lines").text().encode(),
        first_non_matches=[_first(part) for part in record.at("first_non_matches").parts()],
        document=None
        if document.value is None
        else {name: part.value for name, part in document.entries()},
        detail=None if detail.value is None else _read_detail(detail),
        fingerprints=[_fingerprint(part) for part in record.at("fingerprints").parts()],
    )


def _several(part: Part, count: int) -> list[Part]:
    parts = list(part.parts())
    if len(parts) != count:
        raise part.refused(f"an array of {count}")
    return parts


def _evaluation_record(evaluation: Evaluation) -> dict[str, object]:
    """Return an evaluation less what its accounts say too: intervals take long to work out."""
    bare = replace(
        evaluation,
        accounts=None,
        bootstrap=None,
        by={
            key: {name: replace(group, bootstrap=None) for name, group in groups.items()}
            for key, groups in evaluation.by.items()
        },
    )
    accounts, bootstrap = evaluation.accounts, evaluation.bootstrap
    return {
        **bare.to_dict(),
        **({} if bootstrap is None else {"intervals": bootstrap.settings.view()}),
        # As text: they are JSON already, and there are many of them.
        **({} if accounts is None else {"accounts": [line.decode() for _, line in accounts.lines]}),
    }


def _read_evaluation(record: Part) -> Evaluation:
    values = {name: part.value for name, part in record.entries()}
    if (accounts := record.find("accounts")) is not None:
        values["per_document"] = [json.loads(part.text()) for part in accounts.parts()]
    return Evaluation.from_dict(values, record.source)


def _detail_record(detail: Detail) -> dict[str, object]:
    histograms = detail.histograms or {}
    return {
        "histograms": [[path, entry.matched, entry.unlike] for path, entry in histograms.items()],
        "non_matches": [line.decode() for line in detail.non_matches or ()],
        "complete": detail.complete,
        "comparisons": [_ranked_record(entry) for entry in detail.comparisons or ()],
        "bound": None if detail.bound is None else _ranked_record(detail.bound),
    }


def _read_detail(record: Part) -> Detail:
    detail = Detail()
    detail.histograms = {}
    for part in record.at("histograms").parts():
        path, matched, unlike = _several(part, 3)
        detail.histograms[tuple(_step(step) for step in path.parts())] = Histogram(
            *(
                [pairs.count() for pairs in _several(counts, BINS + 1)]
                for counts in (matched, unlike)
            )
        )
    for part in record.at("non_matches").parts():
        detail.add_non_match(part.text().encode())
    detail.complete = record.at("complete").flag()
    detail.comparisons = [_read_ranked(part) for part in record.at("comparisons").parts()]
    bound = record.at("bound")
    detail.bound = None if bound.value is None else _read_ranked(bound)
    return detail


def _ranked_record(entry: Ranked) -> list[object]:
    score, name, line = entry
    return [score, name, line.decode()]


def _read_ranked(part: Part) -> Ranked:
    score, name, line = _several(part, 3)
    return score.number(), name.text(), line.text().encode()


def _fingerprint(part: Part) -> Fingerprint | None:
    if part.value is None:
        return None
    return Fingerprint(*(entry.text() for entry in _several(part, 3)))


def _first(part: Part) -> tuple[str, NonMatch]:
    name, error = _several(part, 2)
    return name.text(), _read_non_match(error)


def _non_match_record(error: NonMatch) -> dict[str, object]:
    return {
        "path": error.path,
        "outcome": error.outcome.name,
        "gt": error.gt,
        "pred": error.pred,
        "similarity": error.similarity,
        "threshold": error.threshold,
        "error_class": error.error_class.value,
        "differing": error.differing,
    }


def _read_non_match(part: Part) -> NonMatch:
    outcome, error_class = part.at("outcome"), part.at("error_class")
    if outcome.value not in Outcome.__members__:
        raise outcome.refused(f"one of {', '.join(Outcome.__members__)}")
    if error_class.value not in set(ErrorClass):
        raise error_class.refused(f"one of {', '.join(ErrorClass)}")
    return NonMatch(
        path=tuple(_step(step) for step in part.at("path").parts()),
        outcome=Outcome[outcome.text()],
        gt=cast("JsonValue", part.at("gt").value),
        pred=cast("JsonValue", part.at("pred").value),
        similarity=_number(part.at("similarity")),
        threshold=_number(part.at("threshold")),
        error_class=ErrorClass(error_class.text()),
        differing=tuple(name.text() for name in part.at("differing").parts()),
    )


def _step(part: Part) -> str | int:
    return part.count() if isinstance(part.value, int) else part.text()


def _number(part: Part) -> float | None:
    return None if part.value is None else part.number()
