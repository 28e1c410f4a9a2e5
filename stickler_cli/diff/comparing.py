"""From two runs to the difference between them: of figures, of documents, and their gates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.accounts import SCORE, counts_by_mode
from stickler_cli.score.confidence import FIGURES
from stickler_cli.score.counts import Counts
from stickler_cli.score.gate_verdicts import check_kind, judged, judged_worst, metric_value
from stickler_cli.score.gates import (
    COUNTS,
    METRIC,
    TRUST,
    Gate,
    GateResult,
    asked,
    asks_documents,
    check_paths,
    is_pattern,
)
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.moments import NAMES
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES
from .changed_values import changed_values
from .changes import (
    DIFFERENT,
    F1,
    HARD,
    Difference,
    DiffSettings,
    DocumentChange,
    Figure,
    MetricChange,
    RunName,
)
from .contrasts import contrasts
from .counted_runs import Counted, counted
from .measures import WHOLE, changes
from .paired_runs import Pair, PairedRuns, Pairs, Record, paired
from .significance import change_intervals
from .trust import CONFIDENCE, trust_changes

LOWEST: Final = -1.0  # the least change of a rate or score

CHANGE_OF: Final = "change of "


def compare_runs(
    base: Mapping[str, Run],
    new: Mapping[str, Run],
    gates: Sequence[Gate] = (),
    settings: DiffSettings | None = None,
) -> Difference:
    """Return what changed from one run to another, by name; all have accounts of their documents.

    Where a side has several runs, they are of one system, and chance is also which runs there were.
    Rates are made as in the first run. Runs that differ in what decides their figures are compared
    all the same: look at `deciding` first.

    Raises:
        UsageError: a run has no accounts, or a gate asks for a field or a count that there is not.
        NotComparableError: no document is in both runs.
    """
    settings = settings or DiffSettings()
    pairs = paired([*base.values()], [*new.values()])
    first, other = next(iter(base.values())), next(iter(new.values()))
    known = {info.path for info in first.fields}
    described = [*first.fields, *(info for info in other.fields if info.path not in known)]
    fields = [info.path for info in described if info.path]
    columns = {
        (path, SCORE if gate.metric == SCORE else gate.mode)
        for gate in gates
        for path in asked(gate, fields)
    }
    table = counted(pairs.pairs, described, first.rule, columns, pairs.sides)
    # The fields of the schemas, then those that only documents have.
    paths = list(dict.fromkeys([*fields, *table.paths]))
    check_paths(gates, paths)
    figures = [*WHOLE, *(Figure(path, COUNTING_MODES[0], F1) for path in paths)]
    found = changes(figures, table, settings)
    changed = document_changes(pairs.pairs, [field_path(path) for path in paths])
    documents = _documents(pairs, changed)
    metrics = metric_changes([*base.values()], [*new.values()])
    before, after = (
        RunName(names[0], run.version, run.schema.path, run.schema.model_name, names[1:])
        for names, run in (([*base], first), ([*new], other))
    )
    return Difference(
        base=before,
        new=after,
        contrasts=contrasts(first, other),
        settings=settings,
        documents=documents,
        lost=pairs.lost,
        only_new=pairs.only_new,
        whole=[*found[: len(WHOLE)], *trust_changes(pairs.pairs, settings)],
        fields=found[len(WHOLE) :],
        changed_documents=changed,
        gates=judge_changes(
            gates, table, documents, settings, [it.path for it in described], pairs.pairs, metrics
        ),
        metrics=metrics,
        values=changed_values(first, other) if len(base) == len(new) == 1 else None,
    )


def _documents(pairs: PairedRuns, changed: Sequence[DocumentChange]) -> dict[str, int]:
    """Return how many documents there are, and what became of them."""
    worse = sum(document.is_worse for document in changed)
    better = sum(document.is_better for document in changed)
    return {
        "compared": len(pairs.pairs),
        "better": better,
        "worse": worse,
        "same": len(pairs.pairs) - better - worse,
        "lost": len(pairs.lost),
        "only_new": len(pairs.only_new),
    }


def metric_changes(base: Sequence[Run], new: Sequence[Run]) -> list[MetricChange]:
    """Return what became of the figures of metrics that all runs have."""
    found = [[run.evaluation.metric_figures for run in runs] for runs in (base, new)]
    names = [name for name in found[0][0] if all(name in it for side in found for it in side)]
    changes = []
    for name in names:
        before, after = (_mean([figures[name] for figures in side]) for side in found)
        change = None if before is None or after is None else after - before
        changes.append(MetricChange(name, before, after, change))
    return changes


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None


def judge_changes(  # noqa: PLR0913, PLR0917 - what a difference has
    gates: Sequence[Gate],
    counted: Counted,
    documents: Mapping[str, int],
    settings: DiffSettings,
    fields: Sequence[Path] = (),
    pairs: Pairs = (),
    metrics: Sequence[MetricChange] = (),
) -> list[GateResult]:
    """Return whether what changed is what gates ask for; their columns are among those counted.

    A gate is written as for a run: `f1>=-0.01` allows a loss of one point, `total.f1.lower>=-0.02`
    also asks for enough documents. Documents are counted, not compared: `documents.worse<=3`. The
    fields are those that a pattern may ask for.
    """

    def moved(gate: Gate, path: Path) -> tuple[float | None, str]:
        if gate.mode == METRIC:
            return metric_value(gate, {each.name: each.change for each in metrics})
        if gate.metric in TRUST:
            return _moved_trust(gate, path, pairs, settings)
        return _moved(gate, path, counted, settings.intervals)

    found = []
    for gate in gates:
        if asks_documents(gate):
            check_kind(gate, documents)
            found.append(judged(gate, documents[gate.metric], ""))
        elif is_pattern(gate):
            values = {path: moved(gate, path) for path in asked(gate, fields)}
            found.append(judged_worst(gate, values, CHANGE_OF))
        else:
            found.append(judged(gate, *moved(gate, gate.path), CHANGE_OF))
    return found


def _moved(
    gate: Gate, path: Path, counted: Counted, settings: IntervalSettings
) -> tuple[float | None, str]:
    """Return how much changed what a gate asks of a field, or None and why there is nothing."""
    if gate.metric in COUNTS:
        before, after = (
            getattr(Counts(*sums), gate.metric)
            for sums in counted.counts(path, gate.mode).sum(axis=2).tolist()
        )
        return _of_one(after - before, counted.times), ""
    figure = Figure(path, gate.mode, gate.metric)
    value = counted.change(figure)
    if gate.bound and value is not None:
        (interval,) = change_intervals([counted.sample(figure)], counted.ids, settings)
        value = getattr(interval, gate.bound)
    return value, "nothing was counted in one of the runs"


def _moved_trust(
    gate: Gate, path: Path, pairs: Pairs, settings: DiffSettings
) -> tuple[float | None, str]:
    name = gate.metric.removeprefix(CONFIDENCE)
    if name not in FIGURES:
        return None, "a difference has no such figure of confidences"
    found = trust_changes(pairs, settings, [name], path)
    value = found[0].change if found else None
    if gate.bound and found:
        value = getattr(found[0].interval, gate.bound, None)
    return value, "one of the runs says nothing of it"


def document_changes(pairs: Pairs, fields: Sequence[str] = ()) -> list[DocumentChange]:
    """Return what changed in documents, greatest losses first, then most new errors, then by id.

    What broke or was fixed is named in the order of the fields, others last.
    """
    order = {path: at for at, path in enumerate(fields)}
    found = [_change(pair, order) for pair in pairs if len({*pair.lines[0], *pair.lines[1]}) > 1]
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda it: (it.change, it.errors_before - it.errors_after, it.id))


def _change(pair: Pair, order: Mapping[str, int]) -> DocumentChange | None:
    """Return what changed in a document; None if only its status or group did."""
    old, new = pair.accounts
    every = [(account["fields"], account[SCORE]) for account in (*old, *new)]
    if not pair.lost and all(each == every[0] for each in every):
        return None
    score_before, score_after = (sum(it[SCORE] for it in side) / len(side) for side in (old, new))
    (right_before, wrong_before), (right_after, wrong_after) = _mostly(old), _mostly(new)
    change = score_after - score_before

    def place(path: str) -> int:
        return order.get(path, len(order))

    return DocumentChange(
        id=pair.id,
        status_before=old[0]["status"],
        status_after=pair.status_after,
        lost=pair.lost,
        score_before=score_before,
        score_after=score_after,
        errors_before=_errors(old),
        errors_after=_errors(new),
        broken=sorted((path for path in right_before if path in wrong_after), key=place),
        fixed=sorted((path for path in wrong_before if path in right_after), key=place),
        change=change,
        hard=pair.lost or change <= -HARD + DIFFERENT,
    )


def _mostly(accounts: Sequence[Record]) -> tuple[list[str], list[str]]:
    """Return the fields that are right in more than half of the runs, and those that are wrong."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for account in accounts:
        for path, entry in account["fields"].items():
            counts = counts_by_mode(entry)[0]
            if path and any(counts.get(name) for name in NAMES):
                (wrong if _errors_in(counts) else right)[path] += 1
    mostly_right, mostly_wrong = (
        [path for path in it if 2 * it[path] > len(accounts)] for it in (right, wrong)
    )
    return mostly_right, mostly_wrong


def _errors(accounts: Sequence[Record]) -> float:
    """Return how many errors the document has; of several runs, on average."""
    found = (counts_by_mode(account["fields"].get("", {}))[0] for account in accounts)
    return _of_one(sum(map(_errors_in, found)), len(accounts))


def _errors_in(counts: Mapping[str, int]) -> int:
    return sum(counts.get(name, 0) for name in ("fd", "fa", "fn"))


def _of_one(total: int, times: int) -> float:
    """Return what a total comes to in one of so many runs: a whole number if it is one."""
    return total // times if total % times == 0 else total / times
