"""Gates: limits for figures of a run, each written as one line of text.

A gate has the form `[set:][path.]metric[.lower|.upper] operator number`. An example is
`line_items.price.recall>=0.9`. The set is a counting mode; without one, a gate uses the counting
mode of the run. In a path, `*` stands for any one name and `**` for any number of names. A gate
with such a path passes if every matching field that has a figure passes it; if no field has one, it
fails. The figure is printed and compared at full precision. If the denominator of a figure is 0,
the gate never passes.

The last name is always the metric, so `right.f1` asks for a field called `right`. Some counts of
values, such as `right` and `missed`, are metrics, too. If the schema has a field called `right`,
the gate `right>=5` is therefore ambiguous, which is an error. The path `documents` means whole
documents: `documents.invalid<=0` limits the number of invalid documents. After a set, or before a
metric that only fields have, it means a field called `documents`, as in `leaves:documents.f1`.

An aim is written like a gate, but the limit may be left out: `f1`, or `f1>=0.9`. Without a set, it
counts `leaves`. Programs that learn from single documents use aims: the figure of a document is its
reward. This figure is always defined and in [0, 1]. If neither the ground truth nor the prediction
has a value, it is 1. If only one of them has values, it is 0; but `accuracy` also counts absent
values as right.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Any, Final

import numpy as np

from stickler_cli.compare.columns import Floats
from stickler_cli.compare.result import FA, FD, FN, TP
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import (
    ANY_NAMES,
    Path,
    field_path,
    matches_pattern,
    parse_field_path,
)
from stickler_cli.core.problems import Problem, UsageError, nearest, percentage_hint
from stickler_cli.core.rules import Flag, Number, NumberOrNone, Rule
from .confidence.calibration import FIGURES
from .field_counts import LEAVES, OVERALL, FieldCounts
from .intervals import divide
from .sums import BOUNDS, COUNTING_MODES, EXACT_METRICS, RATES, rate_fractions

OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
SCORE: Final = "score"  # mean score of the field, or of documents without a path
MATRIX_NAMES: Final = {
    "right": "tp",
    "wrong": "fd",
    "invented": "fa",
    "missed": "fn",
    "absent": "tn",
}
"""Maps names of counts in tables to the names of the same counts in the confusion matrix."""
COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn", *MATRIX_NAMES)
LABELLED: Final = "labelled"  # share of documents in which the field is labelled
METRICS: Final = (*RATES, SCORE, *COUNTS, LABELLED, *EXACT_METRICS)
CONFIDENCE_PREFIX: Final = "confidence"  # precedes the path in gates on figures of confidences
CONFIDENCE_METRICS: Final = tuple(f"{CONFIDENCE_PREFIX}.{name}" for name in (*FIGURES, "coverage"))
"""Names of the confidence figures that a gate can test."""
METRIC_PREFIX: Final = "metric:"  # precedes the name of a user's metric
RIGHT_SHARE: Final = "right"  # share of documents without an error
DOCUMENTS: Final = "documents"  # the path in gates on numbers and shares of documents
SYNTAX: Final = "[set:][path.]metric operator number, such as line_items.price.recall>=0.9"

_GATE: Final = re.compile(
    rf"\s*(?:(?P<mode>{'|'.join(COUNTING_MODES)}):)?(?P<target>.*?)\s*"
    rf"(?P<operator>{'|'.join(OPERATORS)})\s*(?P<limit>[^<>=!]*?)\s*"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A figure of a run and the limit that it must satisfy."""

    text: str
    """The gate as the user wrote it."""
    mode: str
    """The counting mode: `overall`, `aggregate` or `leaves`. If the gate states no mode, this is
    empty, and the counting mode of the run is used. For a gate on a user's metric, the value is
    `METRIC_PREFIX`."""
    path: Path
    """The path of the field; empty for whole documents."""
    metric: str
    operator: str
    limit: float
    bound: str = ""
    """`lower` or `upper` if the gate asks for a bound of the confidence interval. Empty if it asks
    for the figure itself."""


def parse_gate(
    text: str, option: str = "--gate", lowest: float = 0.0, metrics: Collection[str] = ()
) -> Gate:
    """Parse the text of a gate.

    Args:
        text: the gate.
        option: the command's option that contains the gate; used in messages.
        lowest: the smallest limit that is allowed for a rate or score.
        metrics: the metrics that a gate on a field may have. If empty, all metrics that a run can
            have are allowed.

    Raises:
        UsageError: the text is not a gate; the message suggests the most similar valid gate.

    >>> parse_gate("leaves:line_items.price.recall >= 0.9").path
    ('line_items', 'price')
    """
    if text.strip().startswith(METRIC_PREFIX):
        return _metric_gate(text, option)
    return _field_gate(text, option, lowest, metrics)


def _field_gate(text: str, option: str, lowest: float, metrics: Collection[str]) -> Gate:
    """Parse a gate on a field, on whole documents, or on a number of documents."""
    match = _GATE.fullmatch(text)
    if match is None or "=>" in text or "=<" in text:
        raise gate_error(option, f"{text!r} is not a gate", SYNTAX, _correct_operator(text))
    _check_set(text, match, option)
    path, bound = _split_bound(_parse_path(text, match, option), match["mode"], metrics)
    metric = str(path[-1]) if path else ""
    confidence_metric = f"{CONFIDENCE_PREFIX}.{metric}"
    if path[:1] == (CONFIDENCE_PREFIX,) and confidence_metric in CONFIDENCE_METRICS:
        path, metric = path[1:], confidence_metric
    gate = Gate(
        text=text.strip(),
        mode=match["mode"] or "",
        path=path[:-1],
        metric=metric,
        operator=match["operator"],
        limit=_parse_limit(text, match["limit"], option),
        bound=bound,
    )
    if not is_about_documents(gate):
        _check_metric(gate, match["target"], option, lowest, metrics)
    elif metric == RIGHT_SHARE:
        _check_share(gate, option, lowest)
    return gate


def _check_metric(
    gate: Gate, target: str, option: str, lowest: float, metrics: Collection[str]
) -> None:
    """Check the metric and the limit of a gate. `target` is the text before the operator.

    Raises:
        UsageError: the metric is unknown, or the limit is impossible.
    """
    text, metric = gate.text, gate.metric
    if metric not in (metrics or (*METRICS, *CONFIDENCE_METRICS)):
        if _SIGN.search(target) and '["' not in target:
            found = f"{text!r} has more than one comparison"
            hint = _correct_operator(text, "<>") or f"give each its own {option}"
            raise gate_error(option, found, SYNTAX, hint)
        expected = f"one of {', '.join(metrics or METRICS)}"
        hint = _suggest_gate(gate, option, lowest, metrics)
        found = f"{text!r} has no metric"
        if metric:
            found = f"{text!r} names the metric {metric}, which does not exist"
        if metric in BOUNDS and gate.path:
            is_rating = gate.path[0] == CONFIDENCE_PREFIX
            names = FIGURES if is_rating else metrics or (*RATES, SCORE, OTHER_NAMES[RIGHT_SHARE])
            found = f"in {text!r}, {gate.path[-1]} has no {metric} bound"
            expected = f"the {metric} bound of one of {', '.join(names)}"
        raise gate_error(option, found, expected, hint)
    if metric in (metrics or _SHARES):
        _check_share(gate, option, lowest)
    elif metric in COUNTS and lowest >= 0 and not gate.limit.is_integer():
        found = f"in {text!r}, the limit is {gate.limit:g}"
        hint = "precision, recall, f1 and accuracy are between 0 and 1; counts are whole numbers"
        raise gate_error(option, found, f"a whole number: {metric} is a count", hint)


def _check_set(text: str, match: re.Match[str], option: str) -> None:
    """Raise UsageError if a gate begins with a misspelt counting mode and a colon."""
    set_name, colon, target = match["target"].partition(":")
    if not colon or match["mode"]:
        return
    if correct_name := nearest(set_name, COUNTING_MODES):
        hint = _did_you_mean(f"{correct_name}:{target}{match['operator']}{match['limit']}")
        found = f"{text!r} has the unknown set {set_name}"
        raise gate_error(option, found, f"one of {', '.join(COUNTING_MODES)}", hint)


def _parse_path(text: str, match: re.Match[str], option: str) -> Path:
    """Parse the names before the operator of a gate. The last one is the metric.

    Raises:
        UsageError: the names are not a valid path, or the path has a list index.
    """
    try:
        path = parse_field_path(match["target"])
    except ValueError as error:
        raise gate_error(option, f"in {text!r}, {error}", SYNTAX) from None
    names = tuple(step for step in path if isinstance(step, str))
    if len(names) < len(path):
        hint = _did_you_mean(field_path(names) + match["operator"] + match["limit"])
        found = f"{text!r} names one list element"
        raise gate_error(option, found, "a field without a list index, such as items.price", hint)
    return path


def _split_bound(path: Path, mode: str | None, metrics: Collection[str]) -> tuple[Path, str]:
    """Split off a last name `lower` or `upper` that asks for a bound of a confidence interval.

    Return (path without the bound, bound). The bound is empty if the gate does not ask for one.
    """
    *names, last_name = path or ("",)
    has_interval = names[-1:] and names[-1] in (metrics or (*RATES, SCORE, *FIGURES))
    is_share_of_documents = names == [DOCUMENTS, RIGHT_SHARE] and not mode
    if last_name in BOUNDS and (has_interval or is_share_of_documents):
        return tuple(names), str(last_name)
    return path, ""


def _check_share(gate: Gate, option: str, lowest: float) -> None:
    """Check that the limit of a gate is between `lowest` and 1.

    If the limit looks like a percentage, such as 90, the error suggests the share 0.9.

    Raises:
        UsageError: the limit is outside these bounds.
    """
    if lowest <= gate.limit <= 1:
        return
    hint = percentage_hint(abs(gate.limit)) if gate.limit >= 100 * lowest else ""
    if hint and option != FAIL_UNDER:
        hint = _did_you_mean(f"{figure_name(gate)}{gate.operator}{gate.limit / 100:g}")
    found = f"in {gate.text!r}, the limit is {gate.limit:g}"
    raise gate_error(option, found, f"a number between {lowest:g} and 1", hint)


def _metric_gate(text: str, option: str) -> Gate:
    """Parse a gate on a user's metric."""
    match = _GATE.fullmatch(text.strip().removeprefix(METRIC_PREFIX))
    if match is None or not match["target"]:
        raise gate_error(option, f"{text!r} is not a gate", "a gate such as metric:NAME>=0.5")
    return Gate(
        text=text.strip(),
        mode=METRIC_PREFIX,
        path=(),
        metric=match["target"],
        operator=match["operator"],
        limit=_parse_limit(text, match["limit"], option),
    )


def check_metrics(gates: Collection[Gate], names: Collection[str]) -> None:
    """Check that the run has the user's metrics that gates ask for.

    `names` are the metrics of the run. A gate may ask for `NAME` or for `NAME.part`.

    Raises:
        UsageError: a metric is missing; every such gate is listed.
    """
    problems = []
    for gate in gates:
        owners = (name for name in names if f"{gate.metric}.".startswith(f"{name}."))
        if gate.mode == METRIC_PREFIX and not any(owners):
            found = f"the run does not have the metric that {gate.text!r} needs"
            problems.append(Problem("--gate", found, hint=f"add --metric {gate.metric}"))
    if problems:
        raise UsageError(problems)


FAIL_UNDER: Final = "--fail-under"
_F1: Final = re.compile(r"f[-_ ]?(1(\.0*)?|one)?([-_ ]?(score|measure))?", re.IGNORECASE)
_SIGN: Final = re.compile("[<>=]")

_SHARES: Final = frozenset({*RATES, SCORE, LABELLED, *EXACT_METRICS, *CONFIDENCE_METRICS}) - {
    f"{CONFIDENCE_PREFIX}.log_loss"
}


def _did_you_mean(gate: str) -> str:
    return f"did you mean {gate}?"


def figure_name(gate: Gate) -> str:
    """Return the name of the figure that a gate asks for, which is the text before the operator."""
    # Split at the last operator: a key of a map may contain one.
    return gate.text.rpartition(gate.operator)[0].strip()


def _correct_operator(text: str, only: str = "") -> str:
    """Return a hint that corrects a wrong operator such as `=>` or `<>`.

    The hint is empty if the corrected text is not a valid gate. If `only` is given, only operators
    that contain this text are corrected.
    """
    corrected_gates = (
        text.replace(wrong_operator, valid_operator, 1)
        for wrong_operator, valid_operator in _OTHER_OPERATORS.items()
        if wrong_operator in text and only in wrong_operator
    )
    return next((_did_you_mean(gate) for gate in corrected_gates if _GATE.fullmatch(gate)), "")


_OTHER_OPERATORS: Final = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<=", "<>": "!=", "=": "=="}
"""Maps operators that do not exist in gates to those that the user probably means."""


OTHER_NAMES: Final = dict.fromkeys(("wholly_right", RIGHT_SHARE), f"{DOCUMENTS}.{RIGHT_SHARE}")
"""Maps names of figures in results to the names that gates use for the same figures."""


def _suggest_gate(gate: Gate, option: str, lowest: float, metrics: Collection[str]) -> str:
    """Return a hint with the valid gate that is most similar to an invalid one.

    The hint is empty if no valid gate is similar.
    """
    comparison = gate.operator + repr(gate.limit).removesuffix(".0")
    name = figure_name(gate)
    for likely_name in _likely_names(gate, metrics):
        if _is_gate(likely_name + comparison, option, lowest, metrics):
            return _did_you_mean(likely_name + comparison)
    f1_gate = f"{name}.f1{comparison}"
    may_be_field = gate.metric and not metrics and {*gate.path[-1:]}.isdisjoint((*RATES, SCORE))
    if may_be_field and _is_gate(f1_gate, option, lowest, metrics):
        return f"if {name} is a field, write {f1_gate}"
    return ""


def _likely_names(gate: Gate, metrics: Collection[str]) -> Iterator[str]:
    """Yield figures that the user may mean by the unknown name in a gate, the likeliest first."""
    name = figure_name(gate)
    if not gate.metric:
        return
    if not metrics:
        first, dot, bound = name.partition(".")
        if first in OTHER_NAMES and bound in ("", *BOUNDS):
            yield OTHER_NAMES[first] + dot + bound
        if f"{CONFIDENCE_PREFIX}.{gate.metric}" in CONFIDENCE_METRICS:
            yield f"{CONFIDENCE_PREFIX}.{name}"
    prefix, _, _ = name.rpartition(gate.metric)
    if gate.path and gate.path[-1] in (*RATES, SCORE):
        if bound_name := nearest(gate.metric, BOUNDS):
            yield prefix + bound_name
        return
    valid_metrics = FIGURES if gate.path[:1] == (CONFIDENCE_PREFIX,) else metrics or METRICS
    if "f1" in valid_metrics and _F1.fullmatch(gate.metric):
        yield f"{prefix}f1"
    if not _NAME.fullmatch(gate.metric):
        return
    # Be stricter than for other names: "price" is similar to "precision", but a field.
    similar = nearest(gate.metric, valid_metrics, at_least=0.75, beginnings=False) or ""
    last_word = gate.metric.rpartition("_")[2]
    yield from (prefix + metric for metric in (similar, last_word) if metric in valid_metrics)


def _is_gate(text: str, option: str, lowest: float, metrics: Collection[str]) -> bool:
    """Return whether a text is a valid gate, that is, whether `parse_gate` accepts it."""
    try:
        parse_gate(text, option, lowest, metrics)
    except UsageError:
        return False
    return True


_NAME: Final = re.compile(r"[\w-]+")


_GATE_TEXT: Final = Rule(
    "a string", {"type": "string"}, parsed=parse_gate, written=attrgetter("text")
)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate that was checked for a run, or for the change between two runs."""

    gate: Annotated[Gate, _GATE_TEXT]
    """The gate as the user wrote it."""
    value: NumberOrNone
    """The figure; null if it is undefined. In this case the gate fails."""
    limit: Number
    """The limit of the gate."""
    passed: Flag
    """Whether the gate passed."""
    reason: str
    """The comparison in words, at full precision, such as `f1 0.8996 < 0.9`."""
    field: str = ""
    """The field of the figure, or the worst field if several match the gate. Empty for whole
    documents."""


def parse_gates(fail_under: float | None, texts: Iterable[str]) -> list[Gate]:
    """Parse the gates of a command. `--fail-under`, a minimum of F1, becomes the first gate."""
    gates = [parse_gate(text) for text in texts]
    if fail_under is None:
        return gates
    return [parse_gate(f"f1>={fail_under!r}", FAIL_UNDER), *gates]


def _parse_limit(text: str, number: str, option: str) -> float:
    """Parse the number of a gate.

    Raises:
        UsageError: it is not a finite number.
    """
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise gate_error(option, f"in {text!r}, the limit is {number!r}", "a number")
    return limit


def gate_error(option: str, found: str, expected: str, hint: str = "") -> UsageError:
    """Return the error for an invalid gate in a command's option."""
    return UsageError([Problem(option, found, expected, hint)])


def check_paths(
    gates: Collection[Gate], schema_paths: Collection[Path], option: str = "--gate"
) -> None:
    """Check that every gate asks for a field of the schema, and that no gate is ambiguous.

    `schema_paths` are the paths of the schema; `*` in them stands for any key of a map.

    Raises:
        UsageError: a gate fails the check; each such gate is listed, with the most similar field.
    """
    problems = []
    for gate in gates:
        if is_about_documents(gate):
            continue
        if gate.metric in MATRIX_NAMES and (*gate.path, gate.metric) in schema_paths:
            problems.append(_ambiguous_metric(gate, option))
        elif gate.path and not any(_can_match(gate.path, path) for path in schema_paths):
            found = f"{gate.text!r} names the field {field_path(gate.path)}, which does not exist"
            hint = _suggest_field(gate, schema_paths)
            problems.append(Problem(option, found, "a field of the schema", hint))
    if problems:
        raise UsageError(problems)


def _ambiguous_metric(gate: Gate, option: str) -> Problem:
    """Return a problem saying that a gate may mean a field or a count with the same name."""
    name = figure_name(gate)
    comparison = gate.text[len(name) :]
    count_gate = f"{name.removesuffix(gate.metric)}{MATRIX_NAMES[gate.metric]}{comparison}"
    found = f"{gate.text!r} could mean the field {name} or the number of {gate.metric} values"
    hint = f"for the number, write {count_gate}; for the field, name a metric, such as {name}.f1"
    return Problem(option, found, "only one meaning", hint)


def _suggest_field(gate: Gate, schema_paths: Iterable[Path]) -> str:
    """Return a hint with a field that the gate may mean. It is empty if no field is similar.

    If exactly one field has the same last name as the gate's field, the hint has that field.
    Otherwise, it has the field with the most similar path.
    """
    paths = {field_path(path): path for path in schema_paths if path}
    same_last_name = [name for name, path in paths.items() if path[-1] == gate.path[-1]]
    if len(same_last_name) == 1:
        suggestion: str | None = same_last_name[0]
    else:
        suggestion = nearest(field_path(gate.path), paths)
    if suggestion is None:
        return ""
    set_name = f"{gate.mode}:" if gate.mode else ""
    path = paths[suggestion]
    bound = [gate.bound] if gate.bound else []
    if gate.metric in CONFIDENCE_METRICS:
        prefix, figure = gate.metric.split(".")
        names = (prefix, *path, figure, *bound)
    else:
        names = (*path, gate.metric, *bound)
    limit = repr(gate.limit).removesuffix(".0")
    return _did_you_mean(f"{set_name}{field_path(names)}{gate.operator}{limit}")


def has_pattern(gate: Gate) -> bool:
    """Return whether a gate's path has `*` or `**` and may therefore match several fields."""
    return "*" in gate.path or ANY_NAMES in gate.path


def check_no_bounds(gates: Collection[Gate]) -> None:
    """Check that no gate asks for a bound of a confidence interval.

    Raises:
        UsageError: some gates do; each of them is listed.
    """
    problems = [
        Problem(
            "--gate",
            f"{gate.text!r} needs a confidence interval",
            "a run with confidence intervals",
            "leave out --ci none",
        )
        for gate in gates
        if gate.bound
    ]
    if problems:
        raise UsageError(problems)


def check_no_resampled_bounds(gates: Iterable[Gate]) -> None:
    """Check that no gate asks for the interval of a figure that rates predicted confidences.

    An example is `confidence.auroc.lower`. Such an interval can be computed only if the run keeps a
    row of results for each document (`--rows`). Call this function for a run that keeps no rows.

    Raises:
        UsageError: some gates do; each of them is listed.
    """
    problems = [
        Problem(
            "--gate",
            f"{gate.text!r} needs the rows of all documents, but the run has no rows",
            "a run with rows",
            "evaluate again with --rows inline",
        )
        for gate in gates
        if gate.bound and gate.metric in CONFIDENCE_METRICS
    ]
    if problems:
        raise UsageError(problems)


def fields_of_gate(gate: Gate, fields: Iterable[Path]) -> list[Path]:
    """Return the fields that a gate asks for.

    If the path of the gate is a pattern, return those of `fields` that match the pattern. Otherwise
    return only this path, even if it is not in `fields`.
    """
    if not has_pattern(gate):
        return [gate.path]
    return [path for path in fields if path and matches_pattern(gate.path, path)]


def _can_match(path: Path, schema_path: Path) -> bool:
    """Return whether the path of a gate can match a path of the schema.

    Both paths may be patterns. A schema path whose last name is `*`, which stands for any key of a
    map, also matches longer paths, because they lead into the values of the map.
    """
    if not path:
        return not schema_path
    if path[0] == ANY_NAMES:
        return _can_match(path[1:], schema_path) or (
            bool(schema_path) and _can_match(path, schema_path[1:])
        )
    if not schema_path:
        return False
    same_name = path[0] == "*" or schema_path[0] in ("*", path[0])
    return schema_path == ("*",) or (same_name and _can_match(path[1:], schema_path[1:]))


def is_about_documents(gate: Gate) -> bool:
    """Return whether a gate asks for a number or share of documents, such as `documents.missing`.

    In two cases, a gate with the path `documents` asks for a field of this name instead. Either the
    gate begins with a counting mode, as in `leaves:documents.f1`. Or the metric exists only for
    fields, as in `documents.score`.
    """
    is_about_field = gate.mode or (gate.metric in METRICS and gate.metric not in MATRIX_NAMES)
    return gate.path == (DOCUMENTS,) and not is_about_field


OVERALL_SCORE: Final = "overall_score"  # name of the documents' score in results
_ERRORS: Final = (FD, FA, FN)
_EXPECTED: Final = (
    f"{OVERALL_SCORE}, or [set:][path.]metric, such as f1 or items.price.recall, where metric is "
    f"one of {', '.join((*RATES, SCORE))}"
)
_LIMIT_HINT: Final = "to require a lowest value, write it after the metric, as in f1>=0.9"


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure that is used as the reward of each document, and the lowest reward that passes."""

    gate: Gate
    has_limit: bool
    """Whether the user gave a limit. If not, a document passes if it has no error."""

    @property
    def is_score(self) -> bool:
        """Whether the figure is the score of whole documents. No counts are needed for it."""
        return self.gate.metric == SCORE and not self.gate.path

    @property
    def rate(self) -> str:
        """Name of the rate that the aim asks for, such as `recall`.

        It is `f1` if the aim asks for a score.
        """
        return self.gate.metric if self.gate.metric in RATES else "f1"

    def passes(self, score: float) -> bool:
        """Return whether a document's reward, given as `score`, satisfies the limit of the aim."""
        return OPERATORS[self.gate.operator](score, self.gate.limit)


OF: Final = "argument 'of'"
"""How error messages name the argument that states an aim."""
ADDED_LIMIT: Final = ">=0"
"""A limit that is appended to the name of a figure. `parse_gate` can then read the name as a gate,
such as `f1>=0`."""


def omit_added_limit(error: UsageError) -> UsageError:
    """Return an error whose messages do not have `ADDED_LIMIT`, which the user did not write."""
    texts = ((problem, problem.found, problem.hint) for problem in error.problems)
    added = re.compile(rf"{ADDED_LIMIT}(?![.\d<>])")
    return UsageError(
        replace(problem, found=added.sub("", found), hint=added.sub("", hint))
        for problem, found, hint in texts
    )


def parse_aim(text: str) -> Aim:
    """Parse an aim: the name of a figure, or a gate on a figure.

    Raises:
        UsageError: the text is neither a name nor a gate; the figure does not exist for single
            documents; or the gate has an upper limit, such as `f1<0.5`.

    >>> parse_aim("overall_score").is_score, parse_aim("lines.price.recall >= 0.9").gate.path
    (True, ('lines', 'price'))
    """
    name = text.strip()
    has_limit = any(operator_sign in name for operator_sign in OPERATORS)
    if name.startswith(OVERALL_SCORE):
        name = SCORE + name.removeprefix(OVERALL_SCORE)
    try:
        gate = parse_gate(name if has_limit else f"{name}{ADDED_LIMIT}", OF)
    except UsageError as error:
        raise (error if has_limit else omit_added_limit(error)) from None
    if gate.metric not in (*RATES, SCORE) or gate.bound or not gate.operator.startswith(">"):
        raise gate_error(OF, f"the value is {text!r}", _EXPECTED, _LIMIT_HINT)
    return Aim(replace(gate, text=text), has_limit)


def document_rewards(aim: Aim, counts: FieldCounts, n_documents: int) -> list[float]:
    """Return the aim's figure for each document.

    If several fields match the path of the aim, return the lowest of the figures of these fields.
    """
    gate = aim.gate
    mode = COUNTING_MODES.index(gate.mode) if gate.mode else LEAVES
    lowest = np.ones(n_documents)
    for path in fields_of_gate(gate, counts.paths):
        names = tuple(map(str, path))
        rewards = field_rewards(counts, names, gate.metric, n_documents, mode)
        lowest = np.minimum(lowest, rewards)
    figures: list[float] = lowest.tolist()
    return figures


def field_rewards(
    counts: FieldCounts, path: FieldNames, metric: str, n_documents: int, mode: int = LEAVES
) -> Floats:
    """Return a rate or score of one field for each document.

    If neither side of a document has a value, the number is 1. The result is an array of shape
    (n_documents,).
    """
    rewards = np.ones(n_documents)
    if path not in counts.paths:
        return rewards
    field = counts.paths.index(path)
    is_last = field + 1 == len(counts.paths)
    end = len(counts.documents) if is_last else int(counts.starts[field + 1])
    rows = slice(int(counts.starts[field]), end)
    outcomes: Any = counts.units[mode, rows].T
    if metric == SCORE:
        figures = counts.row_scores[rows]
        figures[np.isnan(figures)] = 1.0
    else:
        numerator, denominator = rate_fractions(outcomes, recall_with_fd=False)[metric]
        figures = divide(numerator, denominator, empty=0)
    is_present = outcomes[TP] + outcomes[[*_ERRORS]].sum(axis=0) > 0
    rewards[counts.documents[rows]] = np.where(is_present, figures, 1.0)
    return rewards


def has_no_error(counts: FieldCounts) -> list[bool]:
    """For each document, return whether it has no wrong, invented or missed unit."""
    end = counts.starts[1] if len(counts.starts) > 1 else None  # rows of the root come first
    outcomes = counts.units[:, :end][[OVERALL, LEAVES]]
    n_errors = outcomes[:, :, [*_ERRORS]].sum(axis=(0, 2))
    is_right: list[bool] = (n_errors == 0).tolist()
    return is_right
