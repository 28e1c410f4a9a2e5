"""Measure how often several runs of the same documents agree, and find values that flip.

A value flips if it is right in some runs and wrong in others.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import MAX_KEPT_ERRORS, Run
from stickler_cli.score.repeated_runs import FieldRepeats, Flip, Repeats, WrongIn
from stickler_cli.studies.diff.joined_runs import JoinedRuns, join_runs
from stickler_cli.studies.diff.record import F1, Figure


def repeats_of(runs: Mapping[str, Run]) -> Repeats:
    """Return how often several runs of the same documents agree.

    All runs must keep rows and errors. If a run did not compare a document, the document counts as
    missed in this run.

    Raises:
        UsageError: a run has two documents with the same id.
        NotComparableError: the first run shares no document with another run.
    """
    first, *further_runs = runs.values()
    pairs = join_runs([first], further_runs, first.fields, first.rule)
    mode = first.rule.counting
    declared_paths = [field.field for field in first.fields if field.field]
    paths = dict.fromkeys([*declared_paths, *pairs.counted])
    errors_by_run = [run.first_non_matches for run in runs.values()]
    is_lost = pairs.lost.tolist()
    compared_ids = [name for name, lost in zip(pairs.ids, is_lost, strict=True) if not lost]
    return Repeats(
        runs=[*runs],
        whole=_measure_field(Figure((), mode, F1), pairs),
        fields=[_measure_field(Figure(path, mode, F1), pairs) for path in paths],
        flips=_find_flips(errors_by_run, compared_ids),
        all_flips=all(len(errors) < MAX_KEPT_ERRORS for errors in errors_by_run),
    )


def _measure_field(figure: Figure, table: JoinedRuns) -> FieldRepeats:
    """Return how often runs agree in the field of `figure`. An empty path means whole documents."""
    right, wrong = table.right_and_wrong(table.fields.get(figure.field, ()), figure.mode)
    # A document in which no side of any run has the field says nothing about agreement.
    has_field = table.of_runs(figure.field, figure.mode)[:, :-1].any(axis=(0, 1))
    right, wrong = right[:, has_field], wrong[:, has_field]
    return FieldRepeats(
        field_path(figure.field),
        f1=table.in_runs(figure),
        documents=int((right | wrong).any(axis=0).sum()),
        right_in_all=int(np.logical_and(right.any(axis=0), ~wrong.any(axis=0)).sum()),
        right_in_any=int(right.any(axis=0).sum()),
    )


def _find_flips(
    errors_by_run: Sequence[Sequence[Error]], compared_ids: Sequence[str]
) -> list[Flip]:
    """Return the values that are wrong in some runs and right in others.

    `errors_by_run` has the errors that each run kept, in the order of documents. If a run did not
    keep all errors of a document, the document is skipped.
    """
    complete_ids = {*compared_ids}
    wrong_values: dict[tuple[str, str], tuple[JsonValue, list[WrongIn]]] = {}
    for run, errors in enumerate(errors_by_run):
        if len(errors) >= MAX_KEPT_ERRORS:  # errors of the last kept document may be incomplete
            complete_ids &= {error.document for error in errors} - {errors[-1].document}
        for error in errors:
            if error.values is None:
                key = error.document, error.path
                _, wrong_in_runs = wrong_values.setdefault(key, (error.gt, []))
                wrong_in_runs.append(WrongIn(run, error.outcome, error.pred))
    flips = []
    for (document, path), (gt, wrong) in sorted(
        wrong_values.items(), key=lambda entry: entry[0][0]
    ):
        n_wrong_runs = len({value.run for value in wrong})
        if document in complete_ids and n_wrong_runs < len(errors_by_run):
            flips.append(Flip(document=document, path=path, gt=gt, wrong=wrong))
    return flips
