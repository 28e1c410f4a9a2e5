"""What a run comes to, in sentences: the same for every report that people read."""

from collections import Counter
from typing import Final

from stickler_cli.core.figures import number_of, rate, some_of
from stickler_cli.core.locations import field_path
from stickler_cli.score.counts import FOUND_RIGHT
from stickler_cli.score.document_result import LENIENT, WAYS, Status
from stickler_cli.score.errors.error_counts import ByClass, overall
from stickler_cli.score.results import NO_GROUP
from .cause_sentences import of_class
from .rows import WORST, by_values_lost
from .view import RunView

DISAGREE: Final = 0.05
"""How far a rate must differ between counting modes for a report to speak of it."""

VIOLATIONS: Final = 3
"""How many things that the schema forbids a sentence names, the most frequent first."""

NAMED: Final = 10
"""How many documents, keys or fields a sentence names; all of them are in the JSON report."""

UNFIT: Final = 3
"""How many verdicts a sentence names that fit no error; the JSON report has all."""


_WHY_LOWEST: Final = {
    "overall": "objects or list items fail as a whole (one unit each) although most of the values "
    "in them are right",
    "aggregate": "the objects and items that match have errors inside, which overall does not see",
    "leaves": "whole objects or list items are missed, invented or unlike their pair, which "
    "overall and aggregate count as one unit each and leaves value by value",
}


def partial(view: RunView) -> str | None:
    """Return how many of all documents an interrupted run speaks of; None of a whole run."""
    if not view.run.partial:
        return None
    of_all = "" if view.run.planned is None else f" of {view.run.planned}"
    return f"partial: {view.run.evaluation.documents['total']}{of_all} documents"


def labels(view: RunView) -> list[str]:
    """Return what the user said about the run, as a line; nothing where nothing was said."""
    said = dict.fromkeys(label for each in view.run.provenance for label in each.labels)
    return [f"labels: {', '.join(map(view.quoted, said))}"] if said else []


def result(view: RunView) -> str:
    """Return in words how much was right and how much was found, and what the gates say."""
    counts, run = view.whole["leaves"].counts, view.run
    found = run.evaluation.intervals(FOUND_RIGHT)
    bounds = found.rates["leaves"] if found else {}
    sides = (
        ("predicted", "are right", counts.tp + counts.fp, "precision"),
        ("to be found", "were found right", counts.tp + counts.fd + counts.fn, "recall"),
    )
    texts = []
    for which, what, total, rate_name in sides:
        interval = bounds.get(rate_name)
        shown = "none" if not total else _share(counts.tp / total)
        if total and interval is not None:
            shown += f" ({_share(interval.lower)} to {_share(interval.upper)})"
        texts.append(f"of {number_of(total, 'value')} {which} {shown} {what}")
    in_all = f" in {number_of(run.evaluation.evaluated, 'document')}"
    said = f"{texts[0][0].upper()}{texts[0][1:]}, {texts[1]}{in_all}"
    if not run.gates:
        return said
    failed, gates = view.failed_gates, number_of(len(run.gates), "gate")
    return f"{said}; {f'{failed} of {gates} failed' if failed else f'{gates} passed'}"


def verdict(view: RunView) -> str:
    """Return whether the run is good enough; without gates the figure that would decide it."""
    run, gates = view.run, view.run.gates
    whole = [partial(view)] if run.partial else []
    if run.unfit:
        whole.append(f"{number_of(run.unfit, 'document')} could not be evaluated")
    elif not run.evaluation.evaluated or run.nothing_paired:
        whole.append("nothing was compared")
    failed = [view.quoted(result.reason) for result in gates if not result.passed]
    if failed:
        told = f"{len(failed)} of {number_of(len(gates), 'gate')} failed: {some_of(failed, NAMED)}"
    elif gates:
        told = f"{number_of(len(gates), 'gate')} passed"
    else:
        told = f"no gate set; F1 {_f1(view)}, {number_of(run.evaluation.evaluated, 'document')}"
    return "; ".join([*filter(None, whole), told])


def _f1(view: RunView) -> str:
    """Return F1 of the whole, with its interval where there is one."""
    told = view.rate(view.whole["overall"].rates.f1)
    bounds, settings = view.intervals, view.run.evaluation.interval_settings
    interval = bounds.rates["overall"]["f1"] if bounds else None
    if interval is None or settings is None:
        return told
    level = f"{100 * settings.level:g}% interval"
    return f"{told}, {level} {view.rate(interval.lower)} to {view.rate(interval.upper)}"


_VERDICTS: Final = {
    "ground_truth_wrong": "ground truth wrong",
    "prediction_right": "prediction right",
    "both_acceptable": "both acceptable",
}


def marked(view: RunView) -> list[str]:
    """Return what the run would come to by the verdicts on its errors; nothing without any."""
    found = view.run.marked
    if found is None:
        return []
    lines = []
    if found.changed:
        why = ", ".join(f"{count} {_VERDICTS[name]}" for name, count in found.right.items())
        counts = "counts" if found.changed == 1 else "count"
        now, then = view.rate(view.whole["overall"].rates.f1), view.rate(found.overall.f1)
        errors = number_of(found.changed, "marked error")
        rest = {
            "precision": found.overall.precision,
            "recall": found.overall.recall,
            "mean score": found.overall_score,
        }
        told = ", ".join(f"{name} {view.rate(figure)}" for name, figure in rest.items())
        lines.append(f"F1 {now}; {then} if the {errors} {counts} as right ({why}); then {told}")
    if found.neither:
        stand = "stands" if found.neither == 1 else "stand"
        lines.append(f"{number_of(found.neither, 'marked error')} {stand}: neither side is right")
    if found.unfit:
        names = some_of(map(view.quoted, found.unfit), UNFIT)
        told_of = f"{len(found.unfit)} of {number_of(found.verdicts, 'verdict')}"
        fit = "fits" if len(found.unfit) == 1 else "fit"
        lines.append(f"{told_of} {fit} no error of this run, which changes nothing: {names}")
    return lines


def _share(value: float) -> str:
    """Return a share in percent, never rounded onto all or nothing that it is not.

    >>> _share(0.99996), _share(0.5), _share(1.0)
    ('99.9%', '50.0%', '100%')
    """
    if value in (0, 1):
        return f"{value:.0%}"
    return f"{min(max(100 * value, 0.1), 99.9):.1f}%"


def headline(view: RunView) -> str:
    """Return how many documents there were, what became of the others, and the mean score."""
    evaluation, run = view.run.evaluation, view.run
    total = evaluation.documents["total"]
    of = "" if evaluation.evaluated == total else f"{evaluation.evaluated} of "
    as_empty = {Status.INVALID} | ({Status.MISSING} if run.options.missing == "fn" else set())
    others = [
        f"{count} {status.value} ({'compared with nothing' if status in as_empty else 'left out'})"
        for status, count in evaluation.statuses.items()
        if count and status is not Status.EVALUATED
    ]
    score = "score" if run.document else "mean score"
    shown = view.rate(evaluation.overall_score)
    if view.intervals is not None and view.intervals.score is not None:
        shown += f" {view.interval(view.intervals.score)}"
    return "; ".join([f"{of}{number_of(total, 'document')} evaluated", *others, f"{score} {shown}"])


def validities(view: RunView) -> list[str]:
    """Return how many documents of each side that was checked are what the schema says."""
    sides = {"gt": "ground truths", "pred": "predictions"}
    lines = []
    for side, validity in sorted(view.run.evaluation.validity.items(), reverse=True):
        shown = f"{rate(validity.share)} ({validity.valid} of {validity.checked})"
        line = f"schema-valid {sides[side]}: {shown}"
        most = [
            f"{it.keyword}{f' at {view.quoted(it.path)}' if it.path else ''} {it.count}"
            for it in validity.most_frequent()
        ]
        lines.append(line + (f"; most frequent: {', '.join(most[:VIOLATIONS])}" if most else ""))
    return lines


def disagreement(view: RunView) -> str | None:
    """Return which counting modes disagree, and what that means; None if they agree."""
    for metric in ("f1", "precision", "recall"):
        values = {
            mode: value
            for mode, figures in view.whole.items()
            if (value := getattr(figures.rates, metric)) is not None
        }
        if values and max(values.values()) - min(values.values()) > DISAGREE:
            lowest = min(values, key=lambda mode: values[mode])
            shown = ", ".join(f"{view.rate(value)} {mode}" for mode, value in values.items())
            title = "F1" if metric == "f1" else metric
            why = _WHY_LOWEST[lowest]
            return f"The counting modes disagree: {title} {shown}. {lowest} is lowest: {why}."
    return None


def error_classes(view: RunView) -> str | None:
    """Return how many errors there are of each kind, the most frequent first; None without any."""
    errors = view.run.evaluation.errors
    values, units = errors.overall(), overall(errors.units)
    texts = []
    if values:
        texts.append(f"{number_of(values.total(), 'value')} lost: {_by_class(values)}")
    if units:
        texts.append(f"wrong as a whole: {_by_class(units)}")
    return "; ".join(texts) or None


def _by_class(counts: ByClass) -> str:
    return ", ".join(of_class(error_class, count) for error_class, count in counts.items())


def worst_fields(view: RunView) -> str | None:
    """Return the fields to look at first, and what is wrong with them; None without errors."""
    texts = worst_field_texts(view)
    return f"worst fields: {', '.join(texts)}" if texts else None


def worst_field_texts(view: RunView) -> list[str]:
    """Return a text for each of the fields to look at first, the worst one first."""
    texts = []
    for row in by_values_lost(view.rows)[:WORST]:
        counts = row.figures["leaves"].counts
        errors = {"wrong": counts.fd, "invented": counts.fa, "missed": counts.fn}
        told = ", ".join(f"{count} {name}" for name, count in errors.items() if count)
        name = view.quoted(field_path(row.path))
        texts.append(f"{name} F1 {view.rate(row.leaves)} ({told})")
    return texts


_ODDITIES: Final = {
    "duplicate_keys": "with a key that its object has twice; the last one counts",
    "byte_order_mark": "with a byte order mark, which is no part of JSON; it was left out",
}
"""What the warnings about documents mean, after how many there are."""

_WAYS: Final = {
    "fence": "in a code fence",
    "prose": "in prose",
    "string": "in a JSON string",
    "list": "in a list of one",
}


def notes(view: RunView) -> list[str]:
    """Return what the run noticed besides errors, a line each."""
    evaluation, quoted, warnings = view.run.evaluation, view.quoted, view.run.evaluation.warnings
    lines = []
    undeclared = {"not evaluated": evaluation.undeclared(), "counted as FA": evaluation.extras()}
    for what, found in undeclared.items():
        if found:
            told = some_of((f"{quoted(field_path(path))} ({n})" for path, n in found), NAMED)
            lines.append(f"{what}, since the schema does not declare them: {told}")
    never = sorted(evaluation.never_present()) if evaluation.evaluated else []
    if never:
        names = some_of((quoted(field_path(path)) for path in never), NAMED)
        lines.append(f"never present on either side: {names}")
    lines += (
        f"{number_of(warnings[name], 'document')} {text}"
        for name, text in _ODDITIES.items()
        if warnings.get(name)
    )
    if LENIENT in warnings:
        ways = ((way, warnings.get(f"{LENIENT}_{way}")) for way in WAYS)
        told = ", ".join(f"{count} {_WAYS[way]}" for way, count in ways if count)
        lines.append(f"{number_of(warnings[LENIENT], 'prediction')} inside other text: {told}")
    lines += (
        f"--by {quoted(key)}: no document has it"
        for key, groups in evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    )
    lines += (
        quoted(f"metric {name} has no figures: {problem}")
        for name, problem in evaluation.metric_problems.items()
    )
    return lines + [quoted(note) for note in sorted(view.run.notes)]


def problems(view: RunView) -> tuple[str, list[tuple[str, str]], int]:
    """Return how many documents have problems, the first as status and text, how many more."""
    evaluation = view.run.evaluation
    everything = sorted(evaluation.problems)
    by_status = Counter(entry.status.value for entry in everything)
    by_status.update({status.value: count for status, count in evaluation.unnamed.items()})
    title = ", ".join(f"{count} {status}" for status, count in by_status.items())
    named = [(entry.status.value, str(entry)) for entry in everything[:NAMED]]
    return title, named, by_status.total() - len(named)
