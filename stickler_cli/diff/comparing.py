"""From two runs to the difference between them: of figures, of documents, and their gates."""

from collections.abc import Mapping, Sequence
from typing import Final

from stickler_cli.score.accounts import NAMES, SCORE, counts_by_mode
from stickler_cli.score.counts import Counts
from stickler_cli.score.gates import (
    COUNTS,
    Gate,
    GateResult,
    asks_documents,
    check_kind,
    check_paths,
    judged,
)
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES
from .changes import DIFFERENT, F1, HARD, Difference, DiffSettings, DocumentChange, Figure, RunName
from .contrasts import contrasts
from .measures import WHOLE, changes
from .paired_runs import Counted, Pair, counted, paired
from .significance import change_intervals

LOWEST: Final = -1.0  # the least change of a rate or score

CHANGE_OF: Final = "change of "


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
    known = {info.path for info in base.fields}
    described = [*base.fields, *(info for info in new.fields if info.path not in known)]
    columns = {(gate.path, SCORE if gate.metric == SCORE else gate.mode) for gate in gates}
    table = counted(pairs.pairs, described, base.rule, columns)
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


def judge_changes(
    gates: Sequence[Gate],
    counted: Counted,
    documents: Mapping[str, int],
    settings: IntervalSettings,
) -> list[GateResult]:
    """Return whether what changed is what gates ask for; their columns are among those counted.

    A gate is written as for a run: `f1>=-0.01` allows a loss of one point, `total.f1.lower>=-0.02`
    also asks for enough documents. Documents are counted, not compared: `documents.worse<=3`.
    """
    found = []
    for gate in gates:
        if asks_documents(gate):
            check_kind(gate, documents)
            found.append(judged(gate, documents[gate.metric], ""))
        elif gate.metric in COUNTS:
            before, after = (
                getattr(Counts(*sums), gate.metric)
                for sums in counted.counts(gate.path, gate.mode).sum(axis=2).tolist()
            )
            found.append(judged(gate, after - before, "", CHANGE_OF))
        else:
            figure = Figure(gate.path, gate.mode, gate.metric)
            value, empty = counted.change(figure), "nothing was counted in one of the runs"
            if gate.bound and value is not None:
                (interval,) = change_intervals([counted.sample(figure)], counted.ids, settings)
                value = getattr(interval, gate.bound)
            found.append(judged(gate, value, empty, CHANGE_OF))
    return found


def document_changes(pairs: Sequence[Pair]) -> list[DocumentChange]:
    """Return what changed in documents, greatest losses first, then most new errors, then by id."""
    found = [_change(pair) for pair in pairs if pair.line_before != pair.line_after]
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda it: (it.change, it.errors_before - it.errors_after, it.id))


def _change(pair: Pair) -> DocumentChange | None:
    """Return what changed in a document; None if only its status or group did."""
    old, new, lost = pair.before, pair.after, pair.line_after is None
    if not lost and old["fields"] == new["fields"] and old[SCORE] == new[SCORE]:
        return None
    before, after = (
        {path: counts_by_mode(entry)[0] for path, entry in account["fields"].items()}
        for account in (old, new)
    )
    right = {
        path: (_is_right(before.get(path, {})), _is_right(after.get(path, {})))
        for path in dict.fromkeys([*before, *after])
        if path
    }
    change = new[SCORE] - old[SCORE]
    return DocumentChange(
        id=pair.id,
        status_before=old["status"],
        status_after=pair.status_after,
        lost=lost,
        score_before=old[SCORE],
        score_after=new[SCORE],
        errors_before=_errors(before.get("", {})),
        errors_after=_errors(after.get("", {})),
        broken=[path for path in right if right[path] == (True, False)],
        fixed=[path for path in right if right[path] == (False, True)],
        change=change,
        hard=lost or change <= -HARD + DIFFERENT,
    )


def _errors(counts: Mapping[str, int]) -> int:
    return sum(counts.get(name, 0) for name in ("fd", "fa", "fn"))


def _is_right(counts: Mapping[str, int]) -> bool | None:
    """Return whether nothing is wrong; None where nothing was counted."""
    if not any(counts.get(name) for name in NAMES):
        return None
    return not _errors(counts)
