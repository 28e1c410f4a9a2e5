"""What some documents came to, as a record in a journal: from a `ChunkResult` to JSON and back.

JSON, since whoever can write to a directory must not be able to have code executed by those who
read from it. The types of the result say what there is, so nothing can be forgotten.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, Final, TypeVar, cast

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import Rule, encoded
from stickler_cli.score.confidence.confidences import Confidences
from stickler_cli.score.evaluation import Evaluation, Results
from stickler_cli.score.record import KNOWN_IDS, PER_DOCUMENT
from .codec import read
from .run_reading import read_evaluation

T = TypeVar("T")

EVALUATION: Final = "evaluation"
"""The part of a result that stands in a format of its own."""

_Evaluation = Annotated[Evaluation, Rule("an object", {"type": "object"}, parsed=read_evaluation)]


def chunk_record(chunk: Any) -> dict[str, object]:
    """Return a `ChunkResult` as JSON values."""
    record = cast("dict[str, object]", encoded(chunk))
    return record | {EVALUATION: _evaluation_record(chunk.evaluation)}


def read_chunk(kind: type[T], record: Mapping[str, object], source: str) -> T:
    """Return the `ChunkResult`, which is the kind, that `chunk_record` was given, exactly.

    Raises:
        UsageError: it is no such record; with its place and what it is.
    """
    for part in fields(cast("Any", kind)):
        if part.name not in record:
            raise UsageError([Problem(source, f"{part.name} is missing", pointer="")])
    found: Any = read(kind, record, source)
    evaluation = read(cast("Any", _Evaluation), record[EVALUATION], source, (EVALUATION,))
    return cast("T", replace(found, evaluation=evaluation))


def _evaluation_record(evaluation: Evaluation) -> dict[str, object]:
    """Return an evaluation less what its accounts say too: intervals take long to work out."""
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
    return results.confidences if results.confidences.counted else Confidences()
