"""Decide whether gates pass.

Figures of a run, or of a change between two runs, are compared with the limits of the gates.
"""

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from stickler_cli.core.figures import format_beside_limit, join_some, number_of
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import did_you_mean
from .evaluation import Evaluation
from .folds import PathCounts
from .gates import (
    CONFIDENCE_METRICS,
    CONFIDENCE_PREFIX,
    COUNTS,
    DOCUMENTS,
    LABELLED,
    METRIC_PREFIX,
    OPERATORS,
    OTHER_NAMES,
    RIGHT_SHARE,
    SCORE,
    Gate,
    GateResult,
    check_no_resampled_bounds,
    fields_of_gate,
    figure_name,
    gate_error,
    has_pattern,
    is_about_documents,
)
from .sums import BOUNDS, DEFAULT_RULE, EXACT_METRICS, Counts, RateRule


def judge_gate(gate: Gate, evaluation: Evaluation, rule: RateRule = DEFAULT_RULE) -> GateResult:
    """Decide whether a run passes a gate.

    Raises:
        UsageError: the gate asks for an unknown kind of documents, such as `documents.lost`. Or the
            gate asks for the confidence interval of a figure on predicted confidences, and the run
            has no rows of single documents. This interval is computed from such rows.
    """
    if gate.mode == METRIC_PREFIX:
        metric = f"{gate.metric}."
        for name, problem in evaluation.metric_problems.items():
            if metric.startswith(f"{name}."):
                return judge_value(gate, None, problem)
        return judge_value(gate, *metric_value(gate, evaluation.metric_figures))
    return judge_fields(
        gate,
        evaluation.sums.sort_parents_first(),
        lambda path: _find_value(replace(gate, path=path), evaluation, rule),
    )


def judge_value(gate: Gate, value: float | None, empty: str, prefix: str = "") -> GateResult:
    """Decide whether a value passes a gate. None means an undefined value, which never passes.

    `empty` says why the value is undefined; it is used only if `value` is None. The result contains
    a reason in words. `prefix`, such as "change of ", is written before the name of the figure. If
    both `prefix` and `value` are given, the reason also states what the gate requires, such as
    `>= -0.01`.
    """
    name = prefix + figure_name(gate)
    field = "" if is_about_documents(gate) else field_path(gate.path)
    if value is None:
        reason = f"{name} is undefined: {empty}"
        return GateResult(
            gate=gate, value=None, limit=gate.limit, passed=False, reason=reason, field=field
        )
    passed = OPERATORS[gate.operator](value, gate.limit)
    relation = gate.operator if passed else _OPPOSITE[gate.operator]
    limit = repr(gate.limit).removesuffix(".0")
    value_text = format_beside_limit(value, gate.limit)
    reason = f"{name} {value_text} {relation} {limit}"
    if prefix:  # a negative change beside a negative limit is hard to read
        reason = f"{name} is {value_text} (the gate requires {gate.operator} {limit})"
    return GateResult(
        gate=gate, value=value, limit=gate.limit, passed=passed, reason=reason, field=field
    )


def judge_fields(
    gate: Gate,
    fields: Iterable[Path],
    find_value: Callable[[Path], tuple[float | None, str]],
    prefix: str = "",
) -> GateResult:
    """Decide whether a gate passes. Its path names one field, or is a pattern for several fields.

    If the path of the gate is a pattern, the gate is checked for each matching path in `fields`.
    The gate then passes only if the field with the worst value passes.

    `find_value(path)` returns (value, reason) for one field. If the field has no value, the value
    is None, and the reason says why. Fields without a value are ignored. If no field has a value,
    the gate fails.

    The result contains a reason in words, in which `prefix` is written before the name of the
    figure.
    """
    if not has_pattern(gate):
        return judge_value(gate, *find_value(gate.path), prefix)
    values: dict[Path, float] = {}
    reasons: list[str] = []
    for path in fields_of_gate(gate, fields):
        value, reason = find_value(path)
        reasons.append(reason)
        if value is not None:
            values[path] = value
    if not values:
        return judge_value(gate, None, reasons[0] if reasons else "no field matches", prefix)
    badness_order = _WORST_FIRST[gate.operator]
    worst_path = min(values, key=lambda path: badness_order(values[path] - gate.limit))
    result = judge_value(gate, values[worst_path], "", prefix)
    n_failed = sum(not OPERATORS[gate.operator](value, gate.limit) for value in values.values())
    rank = (
        f"the worst of {n_failed} failed fields"
        if n_failed > 1
        else f"the worst of {number_of(len(values), 'matching field')}"
    )
    worst_field = field_path(worst_path)
    return replace(result, reason=f"{result.reason} in {worst_field}, {rank}", field=worst_field)


_WORST_FIRST: Final[dict[str, Callable[[float], float]]] = {
    ">=": operator.pos,
    ">": operator.pos,
    "<=": operator.neg,
    "<": operator.neg,
    "!=": abs,
    "==": lambda difference: -abs(difference),
}
"""Maps an operator to a function that ranks values. Its argument is the difference `value - limit`,
and the worst value has the lowest result. The worst value is the one that fails most clearly. If no
value fails, it is the one that passes most narrowly."""

_OPPOSITE: Final = {">=": "<", "<=": ">", "==": "!=", "!=": "==", ">": "<=", "<": ">="}


def check_kind(gate: Gate, kinds: Collection[str]) -> None:
    """Check that a gate on documents asks for one of the given kinds.

    Raises:
        UsageError: the gate asks for another kind.
    """
    if gate.metric not in kinds:
        expected = f"one of {', '.join(kinds)}"
        limit = repr(gate.limit).removesuffix(".0")
        hint = did_you_mean(
            RIGHT_SHARE if gate.metric in OTHER_NAMES else gate.metric,
            kinds,
            display=lambda near: f"{DOCUMENTS}.{near}{gate.operator}{limit}",
        )
        finding = f"{gate.text!r} names the metric {gate.metric}, which does not exist"
        raise gate_error("--gate", finding, expected, hint)


def _find_value(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    """Return (figure, reason) for a gate. If the figure is None, the reason says why."""
    if gate.metric in CONFIDENCE_METRICS:
        return _confidence_value(gate, evaluation)
    if is_about_documents(gate):
        return _document_value(gate, evaluation)
    return _field_value(gate, evaluation, rule)


def _field_value(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    """Return (figure, reason) for a gate on a field or on whole documents.

    If the figure is None, the reason says why. Otherwise, ignore the reason.
    """
    if gate.bound:
        return _bound_value(gate, evaluation, rule)
    if gate.metric == LABELLED:
        path_counts = evaluation.fold(PathCounts)
        share = path_counts.share_labelled(evaluation.sums, gate.path)
        return share, "no document was compared"
    tally = evaluation.sums.tally(gate.path)
    if gate.metric == SCORE:
        return tally.mean_score, "no document has a score for this field"
    if gate.metric in EXACT_METRICS:
        rates = tally.exact_rates._asdict()
        return rates[gate.metric.removeprefix("exact_")], "this field has no items or objects"
    return _counted_value(gate, tally.counts(gate.mode or rule.counting), rule)


def _counted_value(gate: Gate, counts: Counts, rule: RateRule) -> tuple[float | None, str]:
    """Return (count or rate, reason) for a gate. If the rate is None, the reason says why."""
    if gate.metric in COUNTS:
        return getattr(counts, gate.metric), ""
    numerator, denominator = rule.rate_fractions(counts)[gate.metric]
    return (numerator / denominator, "") if denominator else (None, "nothing was counted")


def _document_value(gate: Gate, evaluation: Evaluation) -> tuple[float | None, str]:
    """Return (figure, reason) for a gate on a number or share of documents.

    If the figure is None, the reason says why. Otherwise, ignore the reason.
    """
    figures = evaluation.document_figures()
    check_kind(gate, figures)
    if gate.bound:
        interval = evaluation.wholly_right.interval(evaluation.interval_settings)
        return interval and getattr(interval, gate.bound), "the run has no confidence intervals"
    if gate.metric == RIGHT_SHARE:
        return figures[RIGHT_SHARE], "no document was compared"
    return figures[gate.metric], "predictions were not validated (add --validate pred)"


def metric_value(gate: Gate, figures: Mapping[str, float | None]) -> tuple[float | None, str]:
    """Return (figure, reason) for a gate on a user's metric.

    If the figure is None, the reason says why. Otherwise, ignore the reason.

    Raises:
        UsageError: no metric of the run has this figure.
    """
    if gate.metric not in figures:
        expected = (
            f"one of {join_some(figures)}"
            if figures
            else "the name of a metric added with --metric"
        )
        raise gate_error(
            "--gate",
            f"{gate.text!r} names the metric {gate.metric}, which does not exist",
            expected,
        )
    return figures[gate.metric], "the divisor of this figure is 0"


def _confidence_value(gate: Gate, evaluation: Evaluation) -> tuple[float | None, str]:
    """Return (figure, reason) for a gate on how well predicted confidences reveal errors.

    If the figure is None, the reason says why.
    """
    figures = evaluation.confidence(field_path(gate.path))
    if figures is None:
        return None, "no predicted value has a confidence"
    name = gate.metric.removeprefix(f"{CONFIDENCE_PREFIX}.")
    if not gate.bound:
        return figures[name], "there must be both right and wrong values"
    if evaluation.confidences.counts is not None:  # there are no rows to resample
        check_no_resampled_bounds([gate])
    interval = figures.get("intervals", {}).get(name)
    if interval is None:
        return None, "there are too few documents for an interval"
    return interval[BOUNDS.index(gate.bound)], ""


def _bound_value(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    """Return (bound, reason) for a gate on one bound of a confidence interval.

    If the bound is None, the reason says why.
    """
    intervals = evaluation.intervals(rule, field_path(gate.path))
    if intervals is None:
        return None, "the run has no confidence intervals"
    rates = intervals.rates[gate.mode or rule.counting]
    interval = intervals.score if gate.metric == SCORE else rates[gate.metric]
    if interval is None:
        return None, "no document has a value for this figure"
    return getattr(interval, gate.bound), ""
