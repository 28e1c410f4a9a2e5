"""Compare the figures and documents of two runs, and judge gates on the changes.

The runs are finished runs, or they are made here from predictions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import compress
from pathlib import Path as File
from typing import Final

from stickler_cli import __version__
from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.saved import load_detail, load_run, page_of, with_rows
from stickler_cli.runs.whole_files import RUN_FILE
from stickler_cli.score.confidence.calibration import FIGURES
from stickler_cli.score.errors.error_rows import KeptErrors
from stickler_cli.score.evaluation import find_differences
from stickler_cli.score.gate_verdicts import check_kind, judge_fields, judge_value, metric_value
from stickler_cli.score.gates import (
    CONFIDENCE_METRICS,
    COUNTS,
    METRIC_PREFIX,
    RIGHT_SHARE,
    Gate,
    GateResult,
    check_paths,
    is_about_documents,
    parse_gate,
)
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import OF_MERGING, WITHOUT_FIGURES, Run, RunVerdict, run_conditions
from stickler_cli.score.sums import EXACT_F1, Counts
from stickler_cli.settings.deciding import CountingOptions
from stickler_cli.settings.of_commands import as_of_eval
from stickler_cli.studies.answering import Desk, StudyAnswer
from .cause_changes import causes_in_both, compare_causes
from .changed_values import flow_of, list_changed_values, read_errors
from .joined_runs import JoinedRuns, join_runs
from .measures import (
    CONFIDENCE,
    changes,
    choose_headline,
    confidence_changes,
    document_changes,
    figures_of_whole,
    mean_of_runs,
)
from .question import DiffSettings
from .record import (
    F1,
    WHOLLY_RIGHT,
    ComparedRecord,
    Contrast,
    Difference,
    DocumentChange,
    Figure,
    MetricChange,
    RunName,
    TrendSettings,
)
from .significance import change_intervals

LOWEST: Final = -1.0  # the smallest possible change of a rate or score

CHANGE_OF: Final = "change of "


def compare_runs(
    base: Mapping[str, Run],
    new: Mapping[str, Run],
    gates: Sequence[Gate] = (),
    settings: TrendSettings | None = None,
) -> Difference:
    """Return the difference between the runs of an old system and those of a new system.

    `base` maps names to the runs of the old system, and `new` maps names to the runs of the new
    system. Every run must keep rows of its documents. Runs are compared even if, for example, their
    options differ. Call `check_comparable` to refuse runs whose figures are not comparable.

    The tests of significance allow for chance in the choice of documents. If a system has several
    runs, the tests also allow for chance differences between these runs. Rates are defined as in
    the first run of `base`, but in the counting mode of `settings`.

    Raises:
        UsageError: a run keeps no rows, or a gate names a field or a count that does not exist.
        NotComparableError: no document is in both runs.
    """
    settings = settings or TrendSettings()
    first, other = next(iter(base.values())), next(iter(new.values()))
    described = _described_fields(first, other)
    fields = [field_info.field for field_info in described if field_info.field]
    rule = replace(first.rule, counting=settings.counting)
    pairs = join_runs([*base.values()], [*new.values()], described, rule)
    # The fields of the schemas, then fields that occur only in documents, such as keys of maps.
    paths = list(dict.fromkeys([*fields, *pairs.counted]))
    check_paths(gates, paths)
    whole_figures = figures_of_whole(rule.counting)
    field_figures = (Figure(path, rule.counting, F1) for path in paths)
    figure_changes = changes([*whole_figures, *field_figures], pairs, settings)
    item_figures = [Figure(path, "", EXACT_F1) for path in paths if pairs.has_items(path)]
    listed = document_changes(pairs, [*map(field_path, paths)], rule.counting)
    documents = count_documents(pairs, listed)
    whole_changes = [*figure_changes[: len(whole_figures)], *confidence_changes(pairs, settings)]
    field_changes = figure_changes[len(whole_figures) :]
    exact_changes = changes(item_figures, pairs, settings) if item_figures else []
    metrics = metric_changes([*base.values()], [*new.values()])
    difference = Difference(
        format="stickler-diff/1",
        version=__version__,
        base=_name_of(base),
        new=_name_of(new),
        contrasts=contrasts(first, other),
        settings=settings,
        documents=documents,
        headline=choose_headline(
            whole_changes, [*field_changes, *exact_changes], settings.counting
        ),
        lost=[*compress(pairs.ids, pairs.lost)],
        only_new=[*pairs.only_new],
        whole=whole_changes,
        fields=field_changes,
        exact_items=exact_changes,
        metrics=metrics,
        changed_documents=[document for document in listed if document.differs],
        unchanged_documents=[document for document in listed if not document.differs],
        gates=judge_changes(
            gates,
            pairs,
            documents,
            settings,
            [field_info.field for field_info in described],
            metrics,
        ),
        flow=None,
        causes=None,
        began=max(run.began for run in new.values()),
    )
    is_pair = len(base) == len(new) == 1
    return _add_values(difference, [first, other]) if is_pair else difference


def _add_values(difference: Difference, runs: Sequence[Run]) -> Difference:
    """Return the difference with the changed values and the causes of errors added.

    `runs` has two runs: the old one and the new one. If one of them does not keep all of its
    errors, the changed values are None. If, in addition, the runs compared different documents, the
    causes are None as well.
    """
    sides = read_errors(runs)
    values = None if sides is None else list_changed_values(sides)
    causes_of_runs = causes_in_both(runs, sides)
    return replace(
        difference,
        flow=flow_of(values),
        causes=None if causes_of_runs is None else compare_causes(causes_of_runs, values),
        causes_of_runs=causes_of_runs or (),
        runs=runs,
        values=values,
    )


def _described_fields(first: Run, other: Run) -> list[FieldInfo]:
    """Return the fields of the first run's schema, then fields that only the other schema has."""
    first_paths = {field_info.field for field_info in first.fields}
    only_other = (described for described in other.fields if described.field not in first_paths)
    return [*first.fields, *only_other]


def _name_of(side: Mapping[str, Run]) -> RunName:
    """Return the names of a system's runs as a record.

    Version and schema are taken from the first of these runs.
    """
    (name, *further_runs), run = side, next(iter(side.values()))
    return RunName(
        source=name,
        version=run.version,
        schema=run.schema.path,
        model_name=run.schema.model_name,
        further=further_runs,
    )


def count_documents(runs: JoinedRuns, changed: Sequence[DocumentChange]) -> ComparedRecord:
    """Count documents by how they changed, for example those that became better or were lost.

    `changed` are the documents that changed. A document is lost if a run of the new system did not
    compare it.
    """
    n_documents = len(runs.ids)
    right_before, right_after = runs.wholly_right_by_side()
    worse = sum(document.is_worse for document in changed)
    better = sum(document.is_better for document in changed)
    more_errors = sum(document.errors_after > document.errors_before for document in changed)
    fewer_errors = sum(document.errors_after < document.errors_before for document in changed)
    return {
        "compared": n_documents,
        "better": better,
        "worse": worse,
        "same": n_documents - better - worse,
        "fewer_errors": fewer_errors,
        "more_errors": more_errors,
        "same_errors": n_documents - fewer_errors - more_errors,
        "right_before": int(right_before.sum()),
        "right_after": int(right_after.sum()),
        "no_longer_right": int((right_before & ~right_after).sum()),
        "newly_right": int((~right_before & right_after).sum()),
        "lost": int(runs.lost.sum()),
        "only_new": len(runs.only_new),
    }


def metric_changes(base: Sequence[Run], new: Sequence[Run]) -> list[MetricChange]:
    """Return how the user's metrics changed. Metrics that a run does not have are left out."""
    figures_by_side = [[run.evaluation.metric_figures for run in runs] for runs in (base, new)]
    names = [
        name
        for name in figures_by_side[0][0]
        if all(name in run_figures for side in figures_by_side for run_figures in side)
    ]
    changes = []
    for name in names:
        before, after = (
            _mean_of_known([figures[name] for figures in side]) for side in figures_by_side
        )
        change = None if before is None or after is None else after - before
        changes.append(MetricChange(name=name, before=before, after=after, change=change))
    return changes


def _mean_of_known(figures: Sequence[float | None]) -> float | None:
    defined_figures = [figure for figure in figures if figure is not None]
    return sum(defined_figures) / len(defined_figures) if defined_figures else None


def judge_changes(  # noqa: PLR0913, PLR0917 - what a difference has
    gates: Sequence[Gate],
    runs: JoinedRuns,
    documents: ComparedRecord,
    settings: TrendSettings,
    fields: Sequence[Path] = (),
    metrics: Sequence[MetricChange] = (),
) -> list[GateResult]:
    """Evaluate gates on the changes between the runs.

    A gate has the same syntax as a gate for a single run, but here it limits the change of a
    figure. For example, `f1>=-0.01` allows F1 to fall by one point, and `total.f1.lower>=-0.02`
    limits the lower bound of the change's interval. Counts of documents are an exception: a gate
    limits the count and not a change. For example, `documents.worse<=3` allows three documents that
    became worse. `fields` are the fields that patterns in gates can match.
    """

    def find_change(gate: Gate, path: Path) -> tuple[float | None, str]:
        if is_about_documents(gate):
            return _find_figure_change(
                replace(gate, metric=WHOLLY_RIGHT), (), runs, settings.intervals
            )
        if gate.mode == METRIC_PREFIX:
            return metric_value(gate, {metric.name: metric.change for metric in metrics})
        if gate.metric in CONFIDENCE_METRICS:
            return _find_confidence_change(gate, path, runs, settings)
        return _find_figure_change(gate, path, runs, settings.intervals)

    verdicts = []
    for gate in gates:
        if is_about_documents(gate) and gate.metric != RIGHT_SHARE:
            check_kind(gate, (*documents, RIGHT_SHARE))
            count = documents[gate.metric]  # type: ignore[literal-required]  # as was checked
            verdicts.append(judge_value(gate, count, ""))
        else:
            verdicts.append(judge_fields(gate, fields, partial(find_change, gate), CHANGE_OF))
    return verdicts


def _find_figure_change(
    gate: Gate, path: Path, runs: JoinedRuns, settings: IntervalSettings
) -> tuple[float | None, str]:
    """Compute the change that a gate checks. Return (change, reason why it is None).

    The reason has a meaning only if the change is None.
    """
    mode = gate.mode or runs.rule.counting
    if gate.metric in COUNTS:
        before, after = (
            getattr(Counts(*sums), gate.metric)
            for sums in runs.counts(path, mode).sum(axis=2).tolist()
        )
        return mean_of_runs(after - before, runs.times), ""
    figure = Figure(path, mode, gate.metric)
    value = runs.change(figure)
    if gate.bound and value is not None:
        (interval,) = change_intervals([runs.sample(figure)], runs.ids, settings)
        value = getattr(interval, gate.bound)
    return value, "one of the runs counted no values for this figure"


def _find_confidence_change(
    gate: Gate, path: Path, runs: JoinedRuns, settings: TrendSettings
) -> tuple[float | None, str]:
    name = gate.metric.removeprefix(CONFIDENCE)
    if name not in FIGURES:
        return None, "stickler diff does not compute changes of this confidence figure"
    confidence_change = confidence_changes(runs, settings, [name], path)
    value = confidence_change[0].change if confidence_change else None
    if gate.bound and confidence_change:
        value = getattr(confidence_change[0].interval, gate.bound, None)
    return value, "at least one of the runs does not have this figure"


def contrasts(base: Run, new: Run) -> list[Contrast]:
    """Return the differences between two runs, for example in their options or schemas.

    Differences between the figures of the runs are not included. Differences that make the figures
    incomparable come first.
    """
    differences = [
        (name, before, after, name not in WITHOUT_FIGURES)
        for name, before, after in find_differences(run_conditions(base), run_conditions(new))
        if name not in OF_MERGING
    ]
    if base.partial is not new.partial:
        differences.append(("run", _WHOLE[base.partial], _WHOLE[new.partial], True))
    run_contrasts = (
        Contrast(what=name, base=_as_text(base_value), new=_as_text(new_value), decides=decides)
        for name, base_value, new_value, decides in differences
    )
    return sorted(
        [*_compare_schemas(base, new), *run_contrasts], key=lambda contrast: not contrast.decides
    )


def check_comparable(first: Run, other_runs: Iterable[Run], hint: str = "") -> None:
    """Raise NotComparableError unless the figures of all runs can be compared with the first run.

    `hint` is advice to the user, at the end of the message.
    """
    deciding_contrasts = (
        run_contrast
        for run in other_runs
        for run_contrast in contrasts(first, run)
        if run_contrast.decides
    )
    if distinct_contrasts := dict.fromkeys(deciding_contrasts):
        raise NotComparableError(
            Problem("", f"the runs are not comparable: they differ in {contrast}", hint=hint)
            for contrast in distinct_contrasts
        )


_WHOLE: Final = {True: "interrupted", False: "whole"}
_DECLARED: Final = {True: "declared", False: "not declared"}


def _as_text(value: object) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case None:
            return "none"
        case _:
            return str(value)


def _compare_schemas(base: Run, new: Run) -> Iterator[Contrast]:
    """Compare the schemas of two runs; yield a contrast for each difference."""
    before, after = base.schema, new.schema
    if (before.digest, before.inferred) == (after.digest, after.inferred):
        return
    old_fields, new_fields = (
        {field_info.field: asdict(field_info) for field_info in run.fields} for run in (base, new)
    )
    value_pairs: list[tuple[str, object, object]] = [
        ("schema", before.path, after.path),
        ("model name", before.model_name, after.model_name),
    ]
    for path in dict.fromkeys([*old_fields, *new_fields]):
        name = f"field {field_path(path)}" if path else "documents"
        value_pairs.append((name, _DECLARED[path in old_fields], _DECLARED[path in new_fields]))
        if path in old_fields and path in new_fields:
            value_pairs += (
                (f"{name}, {key}", old_fields[path][key], new_fields[path][key])
                for key in ("kind", "comparator", "threshold", "weight")
            )
    for title, base_value, new_value in value_pairs:
        if base_value != new_value:
            yield Contrast(title, _as_text(base_value), _as_text(new_value), decides=False)


def answer(settings: DiffSettings, desk: Desk) -> StudyAnswer:
    """Compare the runs of one or two systems.

    If predictions are given, they are evaluated first.
    """
    gates = [parse_gate(text, lowest=LOWEST) for text in settings.gate]
    sides = settings.sides
    detail = all(len(side) == 1 for side in sides)
    read = _build_evaluator(settings, desk) if settings.schema_and_gt else _read_finished
    base, new = ({name: read(name, detail) for name in side} for side in sides)
    first, *other_runs = (*base.values(), *new.values())
    verdicts = [desk.judge(run) for run in (first, *other_runs) if settings.schema_and_gt]
    if not settings.allow_different:
        check_comparable(first, other_runs, "to compare the runs anyway, use --allow-different")
    intervals = IntervalSettings(settings.ci, settings.seed)
    decided = TrendSettings(intervals, settings.margin, settings.counting or first.rule.counting)
    difference = compare_runs(base, new, gates, decided)
    if detail and desk.shows_values and not settings.schema_and_gt:
        difference = replace(difference, pages=[page_of(name) for name in (*base, *new)])
    if desk.command and not desk.shows_values:
        difference = replace(difference, page_command=f"{desk.command} -o diff.html")
    if RunVerdict.INCOMPLETE in verdicts:
        return StudyAnswer(difference, RunVerdict.INCOMPLETE)
    passed = all(result.passed for result in difference.gates)
    return StudyAnswer(difference, RunVerdict.PASSED if passed else RunVerdict.FAILED)


def _build_evaluator(settings: DiffSettings, desk: Desk) -> Callable[[str, bool], Run]:
    """Return a function that evaluates the predictions in a source and returns the run."""
    schema, gt = settings.schema_and_gt
    counting = settings.counting or CountingOptions.counting
    eval_settings = as_of_eval(
        settings, schema=schema, gt=gt, ci="none", gate=(), counting=counting
    )

    def evaluate(name: str, detail: bool) -> Run:
        requested = OutputsRequested(accounts=True, detail=detail, repeats=True)
        return desk.run(replace(eval_settings, pred=name), requested)

    return evaluate


def _read_finished(name: str, detail: bool) -> Run:
    if File(name).is_dir() and not (File(name) / RUN_FILE).exists():
        finding = f"there is no {RUN_FILE} in this directory"
        hint = "to compare predictions: stickler diff SCHEMA GT PRED_A PRED_B"
        raise UsageError(
            [Problem(source=name, found=finding, expected="a finished run", hint=hint)]
        )
    run = with_rows(name, load_run(name))
    counts = run.evaluation.errors
    n_errors = sum(
        by_class.total() for by_class in (*counts.fields.values(), *counts.units.values())
    )
    # With more errors than are kept, single values are unknown, and no page lists them.
    is_known = detail and n_errors <= KeptErrors().max_lines
    return replace(run, detail=load_detail(name, run)) if is_known else run
