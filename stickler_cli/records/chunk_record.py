"""What some documents came to, as a record in a journal: from a `ChunkResult` to JSON and back.

JSON, since whoever can write to a directory must not be able to have code executed by those who
read from it. The types of the result say what there is, so nothing can be forgotten.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, replace
from typing import Any, Final, TypeVar, cast

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import KEPT, encoded
from stickler_cli.records.codec import read
from stickler_cli.score.evaluation import Evaluation

T = TypeVar("T")

EVALUATION: Final = "evaluation"


class KeptEvaluation:
    """Marks the evaluation of a chunk: it stands in its own format, and is read by itself."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        return {"type": "is-instance", "cls": source}


def chunk_record(chunk: Any) -> dict[str, object]:
    """Return a `ChunkResult` as JSON values; `read_chunk` gives it back, exactly."""
    kept = {part.name: getattr(chunk, part.name) for part in fields(chunk) if _is_kept(part)}
    evaluation = _evaluation_record(kept.pop(EVALUATION))
    return {name: encoded(value) for name, value in kept.items()} | {EVALUATION: evaluation}


def read_chunk(kind: type[T], record: Mapping[str, object], source: str) -> T:
    """Read what `chunk_record` gave.

    Args:
        kind: `ChunkResult`.
        record: JSON values.
        source: what to call it in messages.

    Raises:
        UsageError: it is no such record; with its place and what it is.
    """
    for part in fields(cast("Any", kind)):
        if _is_kept(part) and part.name not in record:
            raise UsageError([Problem(source, f"{part.name} is missing", pointer="")])
    evaluation = record[EVALUATION]
    if isinstance(evaluation, dict):
        record = {**record, EVALUATION: _read_evaluation(evaluation, source)}
    return read(kind, record, source)


def _is_kept(part: Field[Any]) -> bool:
    return bool(part.metadata.get(KEPT, True))


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


def _read_evaluation(record: Mapping[str, object], source: str) -> Evaluation:
    # For those who continue a run; others need not wait until its types are made.
    from stickler_cli.records.run_reading import read_evaluation

    if "accounts" in record:
        lines = read(list[str], record["accounts"], source, (EVALUATION, "accounts"))
        record = {**record, "per_document": [json.loads(line) for line in lines]}
    return read_evaluation(record, source)
