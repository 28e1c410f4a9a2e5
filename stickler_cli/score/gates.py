"""Gates: what a run must reach, as one line of text each, and whether it did.

A gate is `[set:][path.]metric[.lower|.upper] op number`. What is printed is what is compared, at
full precision, and an empty denominator never passes.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from operator import attrgetter
from typing import Annotated, Final

from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.core.rules import Flag, Number, NumberOrNone, Rule
from stickler_cli.core.values import dataclass
from .counts import BOUNDS, RATES, RateRule
from .evaluation import Evaluation
from .tally import COUNTING_MODES, Tally

OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
SCORE: Final = "score"  # the mean score: of documents without a path, of a field with one
COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")
METRICS: Final = (*RATES, SCORE, *COUNTS)
DOCUMENTS: Final = "documents"  # the path of gates on how many documents there were of a kind
SYNTAX: Final = "[set:][path.]metric op number, such as leaves:line_items.price.recall>=0.9"

_GATE: Final = re.compile(
    rf"\s*(?:(?P<mode>{'|'.join(COUNTING_MODES)}):)?(?P<target>.*?)\s*"
    rf"(?P<operator>{'|'.join(OPERATORS)})\s*(?P<limit>[^<>=!]*?)\s*"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One thing that a run must reach."""

    text: str
    mode: str
    """The counting mode: `overall`, `aggregate` or `leaves`."""
    path: Path
    """The field; empty for the whole."""
    metric: str
    operator: str
    limit: float
    bound: str = ""
    """`lower` or `upper`, where it asks for an end of the confidence interval."""


def parse_gate(text: str, option: str = "--gate", lowest: float = 0.0) -> Gate:
    """Return a gate read from text of an option; `lowest` is the least limit of a rate or score.

    Raises:
        UsageError: it is not a gate, with what it could have been.

    >>> parse_gate("leaves:line_items.price.recall >= 0.9").path
    ('line_items', 'price')
    """
    match = _GATE.fullmatch(text)
    if match is None:
        raise _refused(option, f"{text!r} is not a gate", SYNTAX)
    try:
        path = parse_field_path(match["target"])
    except ValueError as error:
        raise _refused(option, f"in {text!r}, {error}", SYNTAX) from None
    if any(isinstance(step, int) for step in path):
        found = f"{text!r} names one list element"
        raise _refused(option, found, "a field of all elements", "leave out [n]")
    bound = ""
    if len(path) > 1 and path[-1] in BOUNDS and path[-2] in (*RATES, SCORE):
        *rest, bound = map(str, path)
        path = tuple(rest)
    metric = str(path[-1]) if path else ""
    mode = match["mode"] or COUNTING_MODES[0]
    limit = _limit(text, match["limit"], option)
    gate = Gate(text.strip(), mode, path[:-1], metric, match["operator"], limit, bound)
    if path[:1] == (DOCUMENTS,) and len(path) == 2:
        return gate
    if metric not in METRICS:
        expected = f"one of {', '.join(METRICS)}"
        hint = did_you_mean(metric, METRICS)
        raise _refused(option, f"{text!r} asks for {metric or 'nothing'}", expected, hint)
    if metric in (*RATES, SCORE) and not lowest <= gate.limit <= 1:
        is_percent = 1 < abs(gate.limit) <= 100 and gate.limit >= 100 * lowest
        hint = f"did you mean {gate.limit / 100:g}?" if is_percent else ""
        found = f"in {text!r}, the limit is {gate.limit:g}"
        raise _refused(option, found, f"a number between {lowest:g} and 1", hint)
    return gate


_GATE_TEXT: Final = Rule(
    "a string", {"type": "string"}, parsed=parse_gate, written=attrgetter("text")
)


@dataclass(frozen=True, slots=True)
class GateResult:
    """One thing that a run, or a change, had to reach."""

    gate: Annotated[Gate, _GATE_TEXT]
    """As the user wrote it."""
    value: NumberOrNone
    """What was compared; null where there was nothing to compare, and then the gate fails."""
    limit: Number
    """What it was compared with."""
    passed: Flag
    """The verdict."""
    reason: str
    """The comparison at full precision: `f1 0.8996 < 0.9`."""


def parse_gates(fail_under: float | None, texts: Iterable[str]) -> list[Gate]:
    """Return the gates of a command: a least F1, if any, then those written out."""
    first = [] if fail_under is None else [parse_gate(f"f1>={fail_under!r}", "--fail-under")]
    return first + [parse_gate(text) for text in texts]


def _limit(text: str, number: str, option: str) -> float:
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise _refused(option, f"in {text!r}, the limit is {number!r}", "a number")
    return limit


def _refused(option: str, found: str, expected: str, hint: str = "") -> UsageError:
    return UsageError([Problem(option, found, expected, hint)])


def check_paths(gates: Collection[Gate], known: Collection[Path]) -> None:
    """Make sure that every gate asks for a known field; `*` stands for any name.

    Raises:
        UsageError: with every gate on a path that does not exist, and the nearest ones.
    """
    problems = []
    for gate in gates:
        if not gate.path or asks_documents(gate) or any(_fits(gate.path, path) for path in known):
            continue
        # Less alike than names: the user may know no more than a part of the path.
        near = get_close_matches(field_path(gate.path), [*map(field_path, known)], cutoff=0.3)
        hint = f"near paths: {', '.join(near)}" if near else ""
        found = f"{gate.text!r} asks for the field {field_path(gate.path)}, which does not exist"
        problems.append(Problem("--gate", found, "a field of the schema", hint))
    if problems:
        raise UsageError(problems)


def refuse_bounds(gates: Collection[Gate]) -> None:
    """Raise UsageError with every gate that asks for a confidence interval."""
    found = [f"{gate.text!r} asks for a confidence interval" for gate in gates if gate.bound]
    if found:
        raise UsageError([Problem("--gate", each, "a --ci that is not none") for each in found])


def _fits(path: Path, pattern: Path) -> bool:
    """Return whether a path is that of a known field; below `*` anything may be."""
    further = len(path) - len(pattern)
    if further < 0 or (further and pattern[-1:] != ("*",)):
        return False
    pairs = zip(path, pattern, strict=False)
    return all("*" in (step, name) or step == name for step, name in pairs)


def judge(gate: Gate, evaluation: Evaluation, *, recall_with_fd: bool = False) -> GateResult:
    """Return whether a run reached what a gate asks for.

    Raises:
        UsageError: the gate asks for a kind of document count that there is not.
    """
    value, empty = _value(gate, evaluation, RateRule(recall_with_fd))
    return judged(gate, value, empty)


def judged(gate: Gate, value: float | None, empty: str, what: str = "") -> GateResult:
    """Return whether a value is what a gate asks for; without one it fails: `empty` says why.

    `what` stands before the name of the value in the reason.
    """
    name = what + gate.text.partition(gate.operator)[0].strip()
    if value is None:
        reason = f"{name} is undefined: {empty}"
        return GateResult(gate, None, gate.limit, passed=False, reason=reason)
    passed = OPERATORS[gate.operator](value, gate.limit)
    shown = gate.operator if passed else _OPPOSITE[gate.operator]
    limit = repr(gate.limit).removesuffix(".0")
    return GateResult(gate, value, gate.limit, passed, f"{name} {value!r} {shown} {limit}")


_OPPOSITE: Final = {">=": "<", "<=": ">", "==": "!=", "!=": "==", ">": "<=", "<": ">="}


def asks_documents(gate: Gate) -> bool:
    """Return whether a gate asks how many documents there are of a kind."""
    return gate.path == (DOCUMENTS,) and gate.metric not in METRICS


def check_kind(gate: Gate, kinds: Collection[str]) -> None:
    """Raise UsageError if there is no such kind of documents as a gate asks for."""
    if gate.metric not in kinds:
        expected = f"one of {', '.join(kinds)}"
        raise _refused("--gate", f"{gate.text!r} asks for {gate.metric}", expected)


def _value(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    """Return what a gate asks for, or None and why there is nothing."""
    if asks_documents(gate):
        documents = evaluation.document_figures()
        check_kind(gate, documents)
        return documents[gate.metric], "no prediction was held against the schema (--validate pred)"
    if gate.bound:
        return _bound(gate, evaluation, rule)
    node = evaluation.tally
    for step in gate.path:  # a field that no document reached has counted nothing
        node = node.fields.get(str(step), Tally())
    if gate.metric == SCORE:
        score = node.mean_score if gate.path else evaluation.overall_score
        return score, "no document has a score of it"
    counts = node.counts(gate.mode)
    if gate.metric in COUNTS:
        return getattr(counts, gate.metric), ""
    above, below = rule.fractions(counts)[gate.metric]
    return (above / below, "") if below else (None, "nothing was counted")


def _bound(gate: Gate, evaluation: Evaluation, rule: RateRule) -> tuple[float | None, str]:
    found = evaluation.intervals(rule, field_path(gate.path))
    if found is None:
        return None, "the run has no confidence intervals"
    interval = found.score if gate.metric == SCORE else found.rates[gate.mode][gate.metric]
    if interval is None:
        return None, "no document says anything about it"
    return getattr(interval, gate.bound), ""
