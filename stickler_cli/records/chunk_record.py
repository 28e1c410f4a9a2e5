"""What some documents came to, as a record in a journal: from a `ChunkResult` to JSON and back.

JSON, since whoever can write to a directory must not be able to have code executed by those who
read from it. The types of the result say what there is, so nothing can be forgotten.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final, TypeVar, cast

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import KEPT, Rule
from stickler_cli.score.confidence.confidences import Confidences
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.record import KNOWN_IDS, PER_DOCUMENT
from stickler_cli.score.results import Results
from .codec import read

T = TypeVar("T")


def read_chunk(kind: type[T], record: Mapping[str, object], source: str) -> T:
    """Return the `ChunkResult`, which is the kind, that `encoded` was given, exactly.

    Raises:
        UsageError: it is no such record; with its place and what it is.
    """
    for part in fields(cast("Any", kind)):
        if part.metadata.get(KEPT, True) and part.name not in record:
            raise UsageError([Problem(source, f"{part.name} is missing", pointer="")])
    return read(kind, record, source)


def _evaluation_record(evaluation: Evaluation) -> dict[str, object]:
    """Return an evaluation less what its accounts say too: intervals take long to work out."""
    bare = replace(
        evaluation,
        ledger=None,
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
    record[KNOWN_IDS] = evaluation.known.hashes
    if evaluation.interval_settings is not None:
        record["intervals"] = evaluation.interval_settings.view()
    if ledger is not None:
        record[PER_DOCUMENT] = [*ledger.records()]
    return record


def _counted_only(results: Results) -> Confidences:
    return results.confidences if results.confidences.counted else Confidences()


def _read_evaluation(record: Mapping[str, object]) -> Evaluation:
    # For those who continue a run; others need not wait until its types are made.
    from .run_reading import read_evaluation

    return read_evaluation(record)


KEPT_EVALUATION: Final = Rule(
    "an object", {"type": "object"}, parsed=_read_evaluation, written=_evaluation_record
)
"""Says that the evaluation of a chunk stands in a format of its own."""
