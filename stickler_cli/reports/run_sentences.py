"""Sentences that summarise a run: the same for every report that people read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from stickler_cli.core.figures import Quoting, number_of, rate, some_of
from stickler_cli.core.locations import Path, field_path
from stickler_cli.runs.unwrapping_note import describe_unwrapping
from stickler_cli.score.document_result import LENIENT, WAYS, Status
from stickler_cli.score.errors.causes import ByClass, overall
from stickler_cli.score.evaluation import NO_GROUP
from stickler_cli.score.folds import PathCounts
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import FEWEST_DOCUMENTS, Interval
from .cause_sentences import of_class
from .view import WORST, RunView, by_values_lost

DISAGREE: Final = 0.05
"""How far a rate must differ between counting modes for a report to speak of it."""

VIOLATIONS: Final = 3
"""How many things that the schema forbids a sentence names, the most frequent first."""

NAMED: Final = 10
"""How many documents, keys or fields a sentence names; all of them are in the JSON report."""

UNFIT: Final = 3  # how many verdicts a sentence names that fit no error; the JSON report has all


MODES: Final = {
    "overall": "units, where a value, an object and a list item are one each",
    "aggregate": "values, but only in objects and items that match as a whole",
    "leaves": "all values",
}
"""What each counting mode counts."""

_WHY_LOWEST: Final = {
    "overall": "objects or list items fail as a whole (one unit each) although most of the values "
    "in them are right",
    "aggregate": "the objects and items that match have errors inside, which overall does not see",
    "leaves": "whole objects or list items are missed, invented or unlike their pair, which "
    "overall and aggregate count as one unit each and leaves value by value",
}


def partial(view: RunView) -> str:
    """Return how many of all documents an interrupted run speaks of; empty of a whole run."""
    if not view.run.partial:
        return ""
    of_all = "" if view.run.planned is None else f" of {view.run.planned}"
    return f"partial: {view.run.evaluation.documents['total']}{of_all} documents"


def labels(view: RunView) -> list[str]:
    """Return the labels of the run as a line; nothing without any."""
    said = dict.fromkeys(label for each in view.run.provenance for label in each.labels)
    return [f"labels: {', '.join(map(view.quoted, said))}"] if said else []


def values(view: RunView) -> str:
    """Return how many values were found right, wrong, missed and invented."""
    right, wrong, invented, missed, _ = view.whole.counts
    total, noun = right + wrong + invented + missed, _choose_noun(view)
    outcomes = {"right": right, "wrong": wrong, "missed": missed, "invented": invented}
    told = ", ".join(f"{count:,} {name}" for name, count in outcomes.items())
    return f"{number_of(total, noun)}: {told}"


def _choose_noun(view: RunView) -> str:
    """Choose the noun for a count: units or values."""
    return "unit" if view.run.rule.counting == "overall" else "value"


def rates(view: RunView, *, score: bool = False) -> str:
    """Return the rates of the whole, F1 with its interval, and maybe the mean score."""
    of = view.whole.rates
    told = f"F1 {_f1(view)}  precision {view.rate(of.precision)}  recall {view.rate(of.recall)}"
    name = "score" if view.run.document else "mean score"
    mean = view.run.evaluation.overall_score
    return f"{told}  {name} {view.rate(mean)}" if score else told


def describe_both_f1(view: RunView) -> str:
    """Return F1 with either recall: without wrong values, as here, and with them."""
    f1, f1_with_wrong = view.rate(view.whole.rates.f1), view.rate(view.f1_with_wrong_as_missed)
    noun = _choose_noun(view)
    return f"F1 {f1}; {f1_with_wrong} if wrong {noun}s also count as missed (--recall-with-fd)"


def verdict(view: RunView) -> str:
    """Return whether the run is good enough; without gates the figure that would decide it."""
    run = view.run
    whole = [partial(view)]
    if run.unfit:
        whole.append(f"{number_of(run.unfit, 'document')} could not be evaluated")
    elif not run.evaluation.statuses[Status.EVALUATED] or run.nothing_paired:
        whole.append("nothing was compared")
    told = gate_sentence(run.gates, view.quoted) or f"no gate set; F1 {_f1(view)}"
    return "; ".join([*filter(None, whole), told])


def _f1(view: RunView) -> str:
    return view.rate(view.whole.rates.f1) + _bounds(view, view.bounds("f1"))


def _bounds(view: RunView, interval: Interval | None) -> str:
    """Return an interval as it stands behind its figure, or why there is none."""
    if interval is None:
        return ""
    documents = view.run.evaluation.evaluated
    if documents < FEWEST_DOCUMENTS:
        are = "is" if documents == 1 else "are"
        return f" ({number_of(documents, 'document')} {are} too few for an interval)"
    level = view.interval_title.replace(" CI of F1", " interval")
    return f" ({level} {view.rate(interval.lower)} to {view.rate(interval.upper)})"


def marked(view: RunView) -> list[str]:
    """Return the figures of the run by the verdicts on its errors; nothing without any."""
    found = view.run.marked
    if found is None:
        return []
    lines = []
    if found.changed:
        why = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in found.right.items())
        counts = "counts" if found.changed == 1 else "count"
        mended = getattr(found, view.run.rule.counting)
        now, then = view.rate(view.whole.rates.f1), view.rate(mended.f1)
        errors = number_of(found.changed, "marked error")
        rest = (mended.precision, mended.recall, found.overall_score)
        told = "precision {}, recall {}, mean score {}".format(*map(view.rate, rest))
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


def headline(view: RunView) -> str:
    """Return how many documents were compared, how many are not, and the counting mode."""
    evaluation, run = view.run.evaluation, view.run
    right = f", {evaluation.wholly_right.right:,} wholly right" if evaluation.evaluated else ""
    told = [f"{number_of(evaluation.evaluated, 'document')}{right}"]
    found = evaluation.statuses
    missed = found[Status.MISSING] if run.options.missing == "fn" else 0
    # A prediction that cannot be read may have no id, and so no ground truth.
    unread = evaluation.evaluated - found[Status.EVALUATED] - missed
    compared = {Status.EVALUATED: found[Status.EVALUATED]}
    compared |= {Status.MISSING: missed, Status.INVALID: unread}
    for status, count in found.items():
        empty, others = compared.get(status, 0), count - compared.get(status, 0)
        if empty and status in _COMPARED_WITH_NOTHING:
            which = f"{number_of(empty, 'document')} {'have' if empty > 1 else 'has'}"
            told.append(f"{which} {_COMPARED_WITH_NOTHING[status]}: all missed")
        if others:
            thing, which = _LEFT_OUT[status]
            told.append(f"{number_of(others, thing)}{which} left out")
    if not view.counts_values:
        told.append(f"counting {run.rule.counting}: {MODES[run.rule.counting]}")
    return "; ".join(told)


_COMPARED_WITH_NOTHING: Final = {
    Status.INVALID: "a prediction that cannot be read",
    Status.MISSING: "no prediction",
}
_LEFT_OUT: Final = {
    Status.INVALID: ("prediction", " that cannot be read"),
    Status.MISSING: ("ground truth", " without a prediction"),
    Status.FAILED: ("failed document", ""),
    Status.UNMATCHED: ("prediction", " without ground truth"),
}


def wholly_right(view: RunView) -> str:
    """Return the share of documents that lost no value, and how many lost few; empty of none."""
    evaluation = view.run.evaluation
    found = evaluation.wholly_right
    if found.share is None:
        return ""
    interval = found.interval(evaluation.interval_settings)
    share = view.rate(found.share) + _bounds(view, interval)
    few = ", ".join(f"{at}: {count:,}" for at, count in enumerate(accumulate(found.lost)))
    return f"wholly right {share}; documents that lost at most so many values: {few}"


def gate_sentence(
    gates: Sequence[GateResult], quoted: Quoting | None = None, most: int = NAMED
) -> str:
    """Return how many gates passed, or failed, maybe with the reasons; empty without any."""
    failed, of = [it.reason for it in gates if not it.passed], number_of(len(gates), "gate")
    if not failed:
        return f"{of} passed" if gates else ""
    told = f"{len(failed)} of {of} failed"
    return told if quoted is None else f"{told}: {some_of(map(quoted, failed), most)}"


def validities(view: RunView) -> list[str]:
    """Return the share of valid documents of each side that was checked."""
    sides = {"gt": "ground truths", "pred": "predictions"}
    lines = []
    for side, validity in sorted(view.run.evaluation.validity.items(), reverse=True):
        shown = f"{rate(validity.share)} ({validity.valid} of {validity.checked})"
        line = f"schema-valid {sides[side]}: {shown}"
        most = [
            f"{it.keyword}{f' at {view.quoted(it.field)}' if it.field else ''} {it.count}"
            for it in validity.most_frequent()
        ]
        lines.append(line + (f"; most frequent: {', '.join(most[:VIOLATIONS])}" if most else ""))
    return lines


def disagreement(view: RunView) -> str | None:
    """Return which counting modes disagree, and why; None if they agree."""
    rule = view.run.rule
    for metric in ("f1", "precision", "recall"):
        by_mode = {mode: rule.rates(view.run.evaluation.tally.counts(mode)) for mode in MODES}
        values = {
            mode: value
            for mode, rates in by_mode.items()
            if (value := getattr(rates, metric)) is not None
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
        texts.append(f"{number_of(values.total(), 'value')} lost: {_class_texts(values)}")
    if units:
        texts.append(f"wrong as a whole: {_class_texts(units)}")
    return "; ".join(texts) or None


def _class_texts(counts: ByClass) -> str:
    return ", ".join(of_class(error_class, count) for error_class, count in counts.items())


def worst_field_texts(view: RunView) -> list[str]:
    """Return a text for each of the fields to look at first, the worst one first."""
    texts = []
    for row in by_values_lost(view.rows)[:WORST]:
        counts = row.counts
        errors = {"wrong": counts.fd, "missed": counts.fn, "invented": counts.fa}
        told = ", ".join(f"{count} {name}" for name, count in errors.items() if count)
        name = view.quoted(field_path(row.path))
        texts.append(f"{name} F1 {view.rate(row.rates.f1)} ({told})")
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
    "relaxed": "with Python literals, comments, trailing commas or single quotes",
}


def notes(view: RunView) -> list[str]:
    """Return the notes of the run besides errors, a line each."""
    evaluation, quoted, warnings = view.run.evaluation, view.quoted, view.run.evaluation.warnings
    lines: list[str] = []

    def tell(texts: Iterable[str], before: str = "") -> None:
        if known := [*texts]:
            lines.append(before + some_of(known, NAMED))

    def named(path: Path) -> str:
        return quoted(field_path(path))

    noted = evaluation.fold(PathCounts)
    undeclared = {"not evaluated": noted.undeclared_keys, "counted as FA": noted.extra_keys}
    for what, found in undeclared.items():
        texts = (f"{named(path)} ({n:,})" for path, n in sorted(found.items()))
        tell(texts, f"{what}, since the schema does not declare them: ")
    documents = number_of(evaluation.evaluated, "document")
    missing = sorted(noted.not_labelled.items())
    tell(f"{named(path)} is not labelled in {n:,} of {documents}" for path, n in missing)
    texts = (f"{n:,} of {named(path)}" for path, n in sorted(noted.left_out.items()))
    tell(texts, "left out, as lists need not have all elements: ")
    never = sorted(evaluation.sums.never_present()) if evaluation.evaluated else []
    tell(map(named, never), "never present on either side: ")
    lines += (
        f"{number_of(warnings[name], 'document')} {text}"
        for name, text in _ODDITIES.items()
        if warnings.get(name)
    )
    if LENIENT in warnings:
        ways = ((way, warnings.get(f"{LENIENT}_{way}")) for way in WAYS)
        told = ", ".join(f"{count} {_WAYS[way]}" for way, count in ways if count)
        lines.append(f"{number_of(warnings[LENIENT], 'prediction')} read leniently: {told}")
    lines += (
        f"--by {quoted(key)}: no document has it"
        for key, groups in evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    )
    lines += (
        quoted(f"metric {name} has no figures: {problem}")
        for name, problem in evaluation.metric_problems.items()
    )
    lines += map(quoted, filter(None, [describe_unwrapping(evaluation)]))
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


def confidences(view: RunView) -> list[str]:
    """Return how far confidences can be trusted; nothing where there are none."""
    if view.confidence is None:
        return []
    known = view.confidence
    units, coverage, share = known["units"], known["coverage"], known["right"] / known["units"]
    of_all = "" if coverage is None else f" ({_percent(coverage)} of the values of predictions)"
    said = [f"confidence: {units:,} values have one{of_all}, {_percent(share)} right"]
    if known["auroc"] is None:
        said.append("all of them are " + ("right" if known["right"] else "wrong"))
    else:
        for name in ("auroc", "ece"):
            ends = known.get("intervals", {}).get(name)
            between = f" ({view.rate(ends[0])} to {view.rate(ends[1])})" if ends else ""
            said.append(f"{name.upper()} {view.rate(known[name])}{between}")
    lines = ["; ".join(said)]
    if count := view.run.evaluation.unwrapped["inherited"]:
        lines.append(f"{count:,} values have the confidence of what is around them")
    return lines


def _percent(share: float) -> str:
    return f"{share:.1%}".replace(".0%", "%")
