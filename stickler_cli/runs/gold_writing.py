"""Write new files of ground truths, corrected by people's verdicts."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path as File
from typing import Any, NamedTuple

from stickler_cli.compare.engine import compare
from stickler_cli.compare.result import Outcome
from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import ALTERNATIVES, JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.real_paths import real_path
from stickler_cli.documents.document_pair import PairRef, read_pair
from stickler_cli.documents.wrapper_forms import OWN, Form
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.score.batch import Batch
from stickler_cli.score.errors.marks import (
    REMOVED,
    VERDICTS,
    drop_removed,
    find_truth_changes,
    match_marks,
    set_value,
)
from .chunk import read_item
from .job import Job


class GoldChange(NamedTuple):
    """A change of one value in a ground truth."""

    path: Path
    value: Any
    """The new value; `REMOVED` deletes the old value."""
    accepted: bool
    """Whether the new value is added as an alternative that is also right. Otherwise, it replaces
    the old value."""


def check_directory(directory: str, gt: str, verdicts: str | None) -> None:
    """Check that corrected ground truths can be written to a directory.

    It must be new or empty, and not inside `gt`.

    Raises:
        UsageError: the directory cannot be used, or there are no verdicts.
    """
    if verdicts is None:
        finding = "no verdicts are given, so nothing could be changed"
        raise UsageError([Problem("--write-gold", finding, "--verdicts FILE")])
    folder = File(directory)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        expected = "a new or empty directory, so that no ground truth is overwritten"
        raise UsageError([Problem("--write-gold", f"{directory} has files", expected)])
    if real_path(gt) in [real_path(folder), *real_path(folder).parents] and File(gt).is_dir():
        finding = f"{directory} is inside the directory of the ground truth"
        raise UsageError([Problem("--write-gold", finding, "a directory outside of it")])


def write_gold(
    refs: Iterable[PairRef],
    changes_in: Callable[[PairRef, JsonValue], Sequence[GoldChange]],
    unwrapper: Unwrapper | None,
    directory: str | os.PathLike[str],
) -> str:
    """Write each ground truth with its changes to a new file. Return a summary as text.

    A file is named after the id of its document. `changes_in` returns the changes of a document.
    Unreadable ground truths are left out. The original files stay as they are.

    Raises:
        UsageError: a document id would lead to a file outside the directory.
    """
    documents, changed, kinds = 0, 0, Counter[bool]()
    for ref in refs:
        truth = read_pair(ref).gt if ref.gt is not None else None
        if not isinstance(truth, dict | list):
            continue
        changes = changes_in(ref, truth)
        file = File(directory, f"{ref.id}.json")
        if real_path(directory) not in real_path(file).parents:
            raise UsageError(
                [
                    Problem(
                        ref.id,
                        "the document id cannot be used as a file name",
                        "an id that gives a file name inside the directory",
                    )
                ]
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_apply_changes(truth, changes, unwrapper), ensure_ascii=False, indent=2)
        file.write_bytes(f"{text}\n".encode("utf-8", "surrogatepass"))
        documents, changed = documents + 1, changed + bool(changes)
        kinds.update(change.accepted for change in changes)
    written = f"{number_of(documents, 'ground truth')} written to the directory {directory}"
    if not changed:
        return f"{written}; the verdicts changed no ground truth"
    return f"{written}; in {number_of(changed, 'ground truth')}, {_describe_changes(kinds)}"


def _describe_changes(numbers: Mapping[bool, int]) -> str:
    """Return a clause on how many values were corrected, and how many were accepted.

    `numbers` maps `GoldChange.accepted` to the number of such changes.
    """
    clauses = []
    if numbers[False]:
        verb = "was" if numbers[False] == 1 else "were"
        clauses.append(f"{number_of(numbers[False], 'value')} {verb} corrected")
    if numbers[True]:
        verb = "counts" if numbers[True] == 1 else "count"
        clauses.append(f"{number_of(numbers[True], 'predicted value')} now also {verb} as right")
    return " and ".join(clauses)


def marked_changes(job: Job, ref: PairRef, _truth: JsonValue) -> list[GoldChange]:
    """Return the changes that people's verdicts demand in the ground truth of a document.

    Each change adds a predicted value as another right value.

    Raises:
        ComparisonError: a comparator failed.
    """
    marks = job.marks.get(ref.id, {})
    document = read_item(job, ref) if marks else None
    if document is None or document.gt is None:
        return []
    sides_and_options: Any = [document.gt], [document.pred], job.options, (), [document.gold]
    table = compare(job.plan, *sides_and_options)
    result = replace(document.result, score=float(table.document_scores[0]))
    batch = Batch([result], table)
    units = (error.unit for error in batch.classified_errors(0))
    marked_units = [*match_marks(units, marks, ref.id)]
    accepted = [unit for marked, unit in marked_units if all(VERDICTS[marks[marked].verdict])]
    first = int(job.schemas is not None)  # without the first step, which is the key of the schema
    return [
        GoldChange(
            change.written_path[first:],
            None if change.outcome is Outcome.FN else change.value,
            accepted=True,
        )
        for change in find_truth_changes(accepted, table.truths[0])
    ]


def _apply_changes(
    truth: JsonValue, changes: Iterable[GoldChange], unwrapper: Unwrapper | None
) -> JsonValue:
    """Return a copy of a ground truth with all changes applied.

    A list index in the path of a change is a position in the original ground truth, even if an
    earlier change removes an item of the list.
    """
    form_of = partial((unwrapper or Unwrapper(None)).form_of, node=None, is_truth=True)

    def value_key(value: Any) -> str | None:
        form = form_of(value)
        return None if form is None else form.value

    def apply_change(value: Any, change: GoldChange) -> Any:
        return _change_value(value, form_of(value) if isinstance(value, dict) else None, change)

    changed: Any = truth
    for change in changes:
        changed = set_value(changed, change.path, change, apply_change, value_key)
    truth_without_gone: JsonValue = drop_removed(changed)
    return truth_without_gone


def _change_value(value: Any, form: Form | None, change: GoldChange) -> Any:
    """Return a value after a change.

    `form` says how the value is wrapped in an object; None if it is not wrapped.
    """
    if change.accepted:
        annotated = {OWN.value: value} if form is None else value
        return {**annotated, ALTERNATIVES: [*annotated.get(ALTERNATIVES, ()), change.value]}
    if form is None or change.value is REMOVED:
        return change.value
    # Drop alternatives and confidence, which belong to the replaced value.
    kept_keys = {
        key: kept_value
        for key, kept_value in value.items()
        if key not in (ALTERNATIVES, form.confidence)
    }
    return {**kept_keys, form.value: change.value}
