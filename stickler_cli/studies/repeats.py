"""Agreement of several runs of the same documents, and the values that flip."""

from collections.abc import Mapping, Sequence

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import MOST_ERRORS, FieldRepeats, Flip, Repeats, Run, WrongIn
from stickler_cli.studies.diff.joined_runs import JoinedRuns, join_runs
from stickler_cli.studies.diff.record import F1, Figure


def repeats_of(runs: Mapping[str, Run]) -> Repeats:
    """Return the agreement of several runs, by their predictions; all keep rows and errors.

    A document that a run did not compare counts as missed in it.

    Raises:
        UsageError: two documents of a run have the same id.
        NotComparableError: no document is in the first run and another.
    """
    first, *others = runs.values()
    pairs, mode = join_runs([first], others, first.fields, first.rule), first.rule.counting
    paths = dict.fromkeys([*(info.field for info in first.fields if info.field), *pairs.counted])
    errors = [run.first_non_matches for run in runs.values()]
    return Repeats(
        runs=[*runs],
        whole=_of_field(Figure((), mode, F1), pairs),
        fields=[_of_field(Figure(path, mode, F1), pairs) for path in paths],
        flips=_flips(
            errors,
            [name for name, lost in zip(pairs.ids, pairs.lost.tolist(), strict=True) if not lost],
        ),
        all_flips=all(len(each) < MOST_ERRORS for each in errors),
    )


def _of_field(figure: Figure, table: JoinedRuns) -> FieldRepeats:
    right, wrong = table.right_and_wrong(table.fields.get(figure.field, ()), figure.mode)
    # What is absent on both sides in every run says nothing.
    told = table.of_runs(figure.field, figure.mode)[:, :-1].any(axis=(0, 1))
    right, wrong = right[:, told], wrong[:, told]
    return FieldRepeats(
        field_path(figure.field),
        f1=table.in_runs(figure),
        documents=int((right | wrong).any(axis=0).sum()),
        right_in_all=int(np.logical_and(right.any(axis=0), ~wrong.any(axis=0)).sum()),
        right_in_any=int(right.any(axis=0).sum()),
    )


def _flips(errors: Sequence[Sequence[Error]], known: Sequence[str]) -> list[Flip]:
    """Return the values that are wrong in some runs only, of documents whose errors are all known.

    `errors` are the first of each run, in the order of documents.
    """
    compared = {*known}
    found: dict[tuple[str, str], tuple[JsonValue, list[WrongIn]]] = {}
    for run, kept in enumerate(errors):
        if len(kept) >= MOST_ERRORS:  # of the last document there may be more, of others none
            compared &= {error.document for error in kept} - {kept[-1].document}
        for error in kept:
            if error.values is None:
                entry = found.setdefault((error.document, error.path), (error.gt, []))
                entry[1].append(WrongIn(run, error.outcome, error.pred))
    return [
        Flip(document, path, gt, wrong)
        for (document, path), (gt, wrong) in sorted(found.items(), key=lambda each: each[0][0])
        if document in compared and len({each.run for each in wrong}) < len(errors)
    ]
