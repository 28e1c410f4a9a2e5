"""From two runs to the difference between them."""

from collections.abc import Sequence

from stickler_cli.diff.change_gates import columns_of, judge_changes
from stickler_cli.diff.changes import F1, Difference, DiffSettings, Figure, RunName
from stickler_cli.diff.contrasts import contrasts
from stickler_cli.diff.documents import document_changes
from stickler_cli.diff.measures import WHOLE, changes
from stickler_cli.diff.paired_runs import counted, paired
from stickler_cli.score.conditions import FieldInfo
from stickler_cli.score.gates import Gate, check_paths
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES


def compare_runs(
    base: Run,
    new: Run,
    names: tuple[str, str] = ("BASE", "NEW"),
    gates: Sequence[Gate] = (),
    settings: DiffSettings | None = None,
) -> Difference:
    """Return what changed from one run to another; both have accounts of their documents.

    Rates are made as in the first run. Runs that differ in what decides their figures are compared
    all the same: look at `deciding` first.

    Raises:
        UsageError: a run has no accounts, or a gate asks for a field or a count that there is not.
        NotComparableError: no document is in both runs.
    """
    settings = settings or DiffSettings()
    pairs = paired(base, new)
    described = _described(base, new)
    table = counted(pairs.pairs, described, base.rule, columns_of(gates))
    # The fields of the schemas, then those that only documents have.
    paths = list(dict.fromkeys([*(info.path for info in described), *table.paths]))
    check_paths(gates, paths)
    figures = [*WHOLE, *(Figure(path, COUNTING_MODES[0], F1) for path in paths)]
    found = changes(figures, table, settings)
    changed = document_changes(pairs.pairs)
    worse = sum(document.is_worse for document in changed)
    better = sum(document.is_better for document in changed)
    documents = {
        "compared": len(pairs.pairs),
        "better": better,
        "worse": worse,
        "same": len(pairs.pairs) - better - worse,
        "lost": len(pairs.lost),
        "only_new": len(pairs.only_new),
    }
    before, after = (
        RunName(name, run.version, run.schema.path, run.schema.model_name)
        for name, run in zip(names, (base, new), strict=True)
    )
    return Difference(
        base=before,
        new=after,
        contrasts=contrasts(base, new),
        settings=settings,
        documents=documents,
        lost=pairs.lost,
        only_new=pairs.only_new,
        whole=found[: len(WHOLE)],
        fields=found[len(WHOLE) :],
        changed_documents=changed,
        gates=judge_changes(gates, table, documents, settings.intervals),
    )


def _described(base: Run, new: Run) -> list[FieldInfo]:
    """Return the fields of both schemas; those that only the second one has come last."""
    known = {info.path: info for info in base.fields}
    return [*base.fields, *(info for info in new.fields if info.path not in known)]
