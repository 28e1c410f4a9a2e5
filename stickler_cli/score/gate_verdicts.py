"""Whether a run, or a change, reached what a gate asks for."""

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from stickler_cli.core.figures import told_apart
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import did_you_mean
from .evaluation import Evaluation
from .folds import PathCounts
from .gates import (
    CONFIDENCE,
    COUNTS,
    DOCUMENTS,
    LABELLED,
    METRIC,
    OPERATORS,
    OTHER_NAMES,
    RIGHT,
    SCORE,
    TRUST,
    Gate,
    GateResult,
    asked,
    asks_documents,
    is_pattern,
    name_of,
    refuse_resampled,
    refused,
)
from .sums import BOUNDS, EXACT, VALUES, Counts, RateRule


def judge(gate: Gate, evaluation: Evaluation, rule: RateRule = VALUES) -> GateResult:
    """Return whether a run reached what a gate asks for.

    Raises:
        UsageError: the gate asks for a kind of document count that there is not, or for what
            takes rows, which the run has not.
    """
    if gate.mode == METRIC:
        problems = evaluation.metric_problems.items()
        whole = f"{gate.metric}."
        failed = next((said for name, said in problems if whole.startswith(f"{name}.")), "")
        if failed:
            return judged(gate, None, failed)
        return judged(gate, *metric_value(gate, evaluation.metric_figures))
    return judged_at(
        gate,
        evaluation.sums.ordered(),
        lambda path: _asked_value(replace(gate, path=path), evaluation, rule),
    )


def judged(gate: Gate, value: float | None, empty: str, what: str = "") -> GateResult:
    """Return whether a value is what a gate asks for; without one it fails: `empty` says why.

    `what` stands before the name of the value in the reason.
    """
    name = what + name_of(gate)
    field = "" if asks_documents(gate) else field_path(gate.path)
    if value is None:
        reason = f"{name} is undefined: {empty}"
        return GateResult(gate, None, gate.limit, passed=False, reason=reason, field=field)
    passed = OPERATORS[gate.operator](value, gate.limit)
    shown = gate.operator if passed else _OPPOSITE[gate.operator]
    limit = repr(gate.limit).removesuffix(".0")
    reason = f"{name} {told_apart(value, gate.limit)} {shown} {limit}"
    return GateResult(gate, value, gate.limit, passed, reason, field)


def judged_at(
    gate: Gate,
    fields: Iterable[Path],
    value: Callable[[Path], tuple[float | None, str]],
    what: str = "",
) -> GateResult:
    """Return whether the value of a field, or of each that a pattern matches, is as a gate asks.

    Values are given as `judged` takes them. Of several the worst one decides and is named; fields
    without a value are left out, unless none has any.
    """
    if not is_pattern(gate):
        return judged(gate, *value(gate.path), what)
    values = {path: value(path) for path in asked(gate, fields)}
    known = {path: value for path, (value, _) in values.items() if value is not None}
    if not known:
        empty = next((empty for _, empty in values.values()), "no field matches")
        return judged(gate, None, empty, what)
    distance = _WORSE[gate.operator]
    path = min(known, key=lambda path: distance(known[path] - gate.limit))
    result = judged(gate, known[path], "", what)
    failed = sum(not OPERATORS[gate.operator](value, gate.limit) for value in known.values())
    which = f"the worst of {failed} that fail" if failed > 1 else f"of {len(known)} that match"
    worst = field_path(path)
    return replace(result, reason=f"{result.reason} in {worst}, {which}", field=worst)


_WORSE: Final[dict[str, Callable[[float], float]]] = {
    ">=": operator.pos,
    ">": operator.pos,
    "<=": operator.neg,
    "<": operator.neg,
    "!=": abs,
    "==": lambda apart: -abs(apart),
}
"""What is least for the value that misses most of what an operator asks for, by its distance."""

_OPPOSITE: Final = {">=": "<", "<=": ">", "==": "!=", "!=": "==", ">": "<=", "<": ">="}


def check_kind(gate: Gate, kinds: Collection[str]) -> None:
    """Raise UsageError if there is no such kind of documents as a gate asks for."""
    if gate.metric not in kinds:
        expected = f"one of {', '.join(kinds)}"
        limit = repr(gate.limit).removesuffix(".0")
        hint = did_you_mean(
            RIGHT if gate.metric in OTHER_NAMES else gate.metric,
            kinds,
            shown=lambda near: f"{DOCUMENTS}.{near}{gate.operator}{limit}",
        )
        raise refused("--gate", f"{gate.text!r} asks for {gate.metric}", expected, hint)


def _asked_value(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    """Return what a gate asks for, or None and why there is nothing."""
    if asks_documents(gate) or gate.metric in TRUST:
        return (_trust if gate.metric in TRUST else _of_documents)(gate, evaluation)
    if gate.bound:
        return _bound(gate, evaluation, rule)
    if gate.metric == LABELLED:
        noted = evaluation.fold(PathCounts)
        return noted.share_labelled(evaluation.sums, gate.path), "no document was compared"
    tally = evaluation.sums.at(gate.path)
    if gate.metric == SCORE:
        return tally.mean_score, "no document has a score of it"
    if gate.metric in EXACT:
        exact = tally.exact._asdict()
        return exact[gate.metric.removeprefix("exact_")], "there are no items or objects of it"
    return _counted_value(gate, tally.counts(gate.mode or rule.counting), rule)


def _counted_value(gate: Gate, counts: Counts, rule: RateRule) -> tuple[float | None, str]:
    """Return the count or rate that a gate asks for, or None and why there is nothing."""
    if gate.metric in COUNTS:
        return getattr(counts, gate.metric), ""
    dividend, divisor = rule.fractions(counts)[gate.metric]
    return (dividend / divisor, "") if divisor else (None, "nothing was counted")


def _of_documents(gate: Gate, evaluation: Evaluation) -> tuple[float | None, str]:
    documents = evaluation.document_figures()
    check_kind(gate, documents)
    if gate.bound:
        interval = evaluation.wholly_right.interval(evaluation.interval_settings)
        return interval and getattr(interval, gate.bound), "the run has no confidence intervals"
    if gate.metric == RIGHT:
        return documents[RIGHT], "no document was compared"
    return documents[gate.metric], "no prediction was held against the schema (--validate pred)"


def metric_value(gate: Gate, figures: Mapping[str, float | None]) -> tuple[float | None, str]:
    """Return the figure of a metric that a gate asks for, or None and why there is none.

    Raises:
        UsageError: the metric has no such figure.
    """
    if gate.metric not in figures:
        expected = f"one of {', '.join(figures)}" if figures else "a metric of the run: --metric"
        raise refused("--gate", f"{gate.text!r} asks for {gate.metric}", expected)
    return figures[gate.metric], "it has nothing to divide by"


def _trust(gate: Gate, evaluation: Evaluation) -> tuple[float | None, str]:
    known = evaluation.confidence(field_path(gate.path))
    if known is None:
        return None, "no value of a prediction has a confidence"
    name = gate.metric.removeprefix(f"{CONFIDENCE}.")
    if not gate.bound:
        return known[name], "it takes both right and wrong values"
    if evaluation.confidences.counted is not None:
        refuse_resampled([gate])
    found = known.get("intervals", {}).get(name)
    if found is None:
        return None, "there are too few documents for an interval"
    return found[BOUNDS.index(gate.bound)], ""


def _bound(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    found = evaluation.intervals(rule, field_path(gate.path))
    if found is None:
        return None, "the run has no confidence intervals"
    rates = found.rates[gate.mode or rule.counting]
    interval = found.score if gate.metric == SCORE else rates[gate.metric]
    if interval is None:
        return None, "no document says anything about it"
    return getattr(interval, gate.bound), ""
