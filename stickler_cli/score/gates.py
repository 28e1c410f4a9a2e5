"""Gates: what a run must reach, as one line of text each, and whether it did.

A gate is `[set:][path.]metric[.lower|.upper] op number`. Without a set it reads what the run
counts: all values, of the whole as of a field. In a path `*` is any one name
and `**` any number of them; such a gate holds if it holds for every field that matches.
What is printed is what is compared, at full precision, and an empty denominator never passes.

The aim of who trains by documents is a gate on one of them, or a figure alone: in [0, 1], always.
Where a rate of a run is undefined, a document still has one: nothing on either side is right, and
where only one side has anything, it is wrong.
"""

import math
import operator
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from operator import attrgetter
from typing import Annotated, Any, Final

import numpy as np

from stickler_cli.compare.account import Floats
from stickler_cli.compare.result import FA, FD, FN, TP
from stickler_cli.core.locations import Path, field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, nearest
from stickler_cli.core.rules import Flag, Number, NumberOrNone, Rule
from stickler_cli.core.values import dataclass, pattern
from .confidence.calibration import FIGURES
from .field_counts import LEAVES, OVERALL, FieldCounts, Names
from .intervals import ratio
from .sums import BOUNDS, COUNTING_MODES, RATES, fractions

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
LABELLED: Final = "labelled"  # the share of documents in which somebody has labelled a field
METRICS: Final = (*RATES, SCORE, *COUNTS, LABELLED)
CONFIDENCE: Final = "confidence"  # before the path of gates on how far these can be trusted
TRUST: Final = tuple(f"{CONFIDENCE}.{name}" for name in (*FIGURES, "coverage"))
"""Metrics of such gates."""
ANY_NAMES: Final = "**"  # in the path of a gate, as `*` is any one name
METRIC: Final = "metric:"  # before the name of a metric, in the place of a counting mode
RIGHT: Final = "right"  # the share of documents without an error
DOCUMENTS: Final = "documents"  # the path of gates on how many documents there were of a kind
SYNTAX: Final = "[set:][path.]metric op number, such as line_items.price.recall>=0.9"

_GATE: Final = pattern(
    rf"\s*(?:(?P<mode>{'|'.join(COUNTING_MODES)}):)?(?P<target>.*?)\s*"
    rf"(?P<operator>{'|'.join(OPERATORS)})\s*(?P<limit>[^<>=!]*?)\s*"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One thing that a run must reach."""

    text: str
    mode: str
    """The counting mode: `overall`, `aggregate` or `leaves`; empty for that of the run."""
    path: Path
    """The field; empty for the whole."""
    metric: str
    operator: str
    limit: float
    bound: str = ""
    """`lower` or `upper`, where it asks for an end of the confidence interval."""


def parse_gate(
    text: str, option: str = "--gate", lowest: float = 0.0, metrics: Collection[str] = ()
) -> Gate:
    """Return a gate read from text of an option; `lowest` is the least limit of a rate or score.

    `metrics` are those of a study, which are shares and take the place of those of a run.

    Raises:
        UsageError: it is not a gate, with what it could have been.

    >>> parse_gate("leaves:line_items.price.recall >= 0.9").path
    ('line_items', 'price')
    """
    if text.strip().startswith(METRIC):
        return _metric_gate(text, option)
    return _field_gate(text, option, lowest, metrics)


def _field_gate(text: str, option: str, lowest: float, metrics: Collection[str]) -> Gate:
    match = _GATE.fullmatch(text)
    if match is None or "=>" in text or "=<" in text:
        raise refused(option, f"{text!r} is not a gate", SYNTAX, _mended(text))
    set_name, colon, rest = match["target"].partition(":")
    if colon and not match["mode"] and (meant := nearest(set_name, COUNTING_MODES)):
        whole = f"{meant}:{rest}{match['operator']}{match['limit']}"
        found = f"{text!r} asks for the set {set_name}"
        raise refused(option, found, f"one of {', '.join(COUNTING_MODES)}", _did_you_mean(whole))
    try:
        path = parse_field_path(match["target"])
    except ValueError as error:
        raise refused(option, f"in {text!r}, {error}", SYNTAX) from None
    if any(isinstance(step, int) for step in path):
        found, names = (
            f"{text!r} names one list element",
            [it for it in path if isinstance(it, str)],
        )
        whole = field_path(tuple(names)) + match["operator"] + match["limit"]
        raise refused(option, found, "a field of all elements", _did_you_mean(whole))
    bound = ""
    bounded = metrics or (*RATES, SCORE, *FIGURES, RIGHT)
    if len(path) > 1 and path[-1] in BOUNDS and path[-2] in bounded:
        *rest, bound = map(str, path)
        path = tuple(rest)
    metric = str(path[-1]) if path else ""
    if path[:1] == (CONFIDENCE,) and f"{CONFIDENCE}.{metric}" in TRUST:
        path, metric = path[1:], f"{CONFIDENCE}.{metric}"
    limit = _limit(text, match["limit"], option)
    mode, sign = match["mode"] or "", match["operator"]
    gate = Gate(text.strip(), mode, path[:-1], metric, sign, limit, bound)
    of_documents = path[:1] == (DOCUMENTS,) and len(path) == 2
    if of_documents and metric != RIGHT:
        return gate
    if not of_documents and metric not in (metrics or (*METRICS, *TRUST)):
        expected = f"one of {', '.join(metrics or METRICS)}"
        found = f"{text!r} asks for {metric or 'nothing'}"
        raise refused(option, found, expected, _meant(gate, metrics or METRICS))
    if (of_documents or metric in (metrics or _SHARES)) and not lowest <= gate.limit <= 1:
        # 1.5 is neither a share nor, as anybody would say it, a percentage.
        is_percent = 10 <= abs(gate.limit) <= 100 and gate.limit >= 100 * lowest
        share = f"{gate.limit / 100:g}"
        whole = f"{name_of(gate)}{gate.operator}{share}"
        hint = _did_you_mean(share if option == FAIL_UNDER else whole)
        found = f"in {text!r}, the limit is {gate.limit:g}"
        raise refused(
            option, found, f"a number between {lowest:g} and 1", hint if is_percent else ""
        )
    return gate


def _metric_gate(text: str, option: str) -> Gate:
    match = _GATE.fullmatch(text.strip().removeprefix(METRIC))
    if match is None or not match["target"]:
        raise refused(option, f"{text!r} is not a gate", "metric:NAME op number")
    limit = _limit(text, match["limit"], option)
    return Gate(text.strip(), METRIC, (), match["target"], match["operator"], limit)


def check_metrics(gates: Collection[Gate], names: Collection[str]) -> None:
    """Raise UsageError with every gate on a metric that is none of these, nor a part of one."""
    problems = []
    for gate in gates:
        owners = (name for name in names if f"{gate.metric}.".startswith(f"{name}."))
        if gate.mode == METRIC and not any(owners):
            found = f"{gate.text!r} asks for a metric that the run has not"
            problems.append(Problem("--gate", found, hint=f"add --metric {gate.metric}"))
    if problems:
        raise UsageError(problems)


FAIL_UNDER: Final = "--fail-under"
_F1: Final = pattern(r"[fF][-_]?([\d.]+|one|score|measure)")  # or F of a weight that there is not

_SHARES: Final = frozenset({*RATES, SCORE, LABELLED, *TRUST}) - {f"{CONFIDENCE}.log_loss"}


def _did_you_mean(gate: str) -> str:
    return f"did you mean {gate}?"


def name_of(gate: Gate) -> str:
    """Return the name of the figure: all that stands before the operator."""
    return gate.text.rpartition(gate.operator)[0].strip()  # a key may have one in it


def _mended(text: str) -> str:
    """Return a hint where the operator is spelt in another way; empty for other texts."""
    pairs = ((wrong, right) for wrong, right in _OTHER_OPERATORS.items() if wrong in text)
    meant = (text.replace(wrong, right, 1) for wrong, right in pairs)
    return next((_did_you_mean(whole) for whole in meant if _GATE.fullmatch(whole)), "")


_OTHER_OPERATORS: Final = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<=", "<>": "!=", "=": "=="}


def _meant(gate: Gate, metrics: Collection[str]) -> str:
    """Return a hint with the metric that was meant, or with f1 where only a field is named."""
    if not gate.metric:
        return ""
    if f"{CONFIDENCE}.{gate.metric}" in TRUST:
        return _did_you_mean(f"{CONFIDENCE}.{gate.text}")
    prefix, _, _ = name_of(gate).rpartition(gate.metric)
    # More alike than names are: a field may be called "price", which is not far from "precision".
    names = FIGURES if gate.path[:1] == (CONFIDENCE,) else metrics
    if gate.path and gate.path[-1] in (*RATES, SCORE):  # an end of its interval
        end = nearest(gate.metric, BOUNDS)
        whole = f"{prefix}{end}{gate.operator}{gate.limit:g}"
        return _did_you_mean(whole) if end else ""
    near = get_close_matches(gate.metric, names, n=1, cutoff=0.75)
    last = gate.metric.rpartition("_")[2]
    if "f1" in names and _F1.fullmatch(gate.metric):
        near = ["f1"]
    near = near or ([last] if last in names else [])
    if not near and ("f1" not in names or gate.metric in METRICS):
        return ""
    prefix, metric = (prefix, near[0]) if near else (f"{name_of(gate)}.", "f1")
    limit = repr(gate.limit).removesuffix(".0")
    return _did_you_mean(f"{prefix}{metric}{gate.operator}{limit}")


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
    field: str = ""
    """The field whose value it is, the worst of several; empty of whole documents."""


def parse_gates(fail_under: float | None, texts: Iterable[str]) -> list[Gate]:
    """Return the gates of a command: a least F1, if any, then those written out."""
    first = [] if fail_under is None else [parse_gate(f"f1>={fail_under!r}", FAIL_UNDER)]
    return first + [parse_gate(text) for text in texts]


def _limit(text: str, number: str, option: str) -> float:
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise refused(option, f"in {text!r}, the limit is {number!r}", "a number")
    return limit


def refused(option: str, found: str, expected: str, hint: str = "") -> UsageError:
    """Return the error of a gate that an option has."""
    return UsageError([Problem(option, found, expected, hint)])


def check_paths(gates: Collection[Gate], known: Collection[Path], option: str = "--gate") -> None:
    """Make sure that every gate asks for a known field; in these `*` stands for any name.

    Raises:
        UsageError: with every gate on a path that does not exist, and with the nearest one.
    """
    problems = []
    for gate in gates:
        if not gate.path or asks_documents(gate) or any(_fits(gate.path, path) for path in known):
            continue
        path = field_path(gate.path)
        # Less alike than names: the user may know no more than a part of the path.
        near = get_close_matches(path, [*map(field_path, known)], n=1, cutoff=0.3)
        hint = _did_you_mean(gate.text.replace(path, near[0], 1)) if near else ""
        found = f"{gate.text!r} asks for the field {path}, which does not exist"
        problems.append(Problem(option, found, "a field of the schema", hint))
    if problems:
        raise UsageError(problems)


def is_pattern(gate: Gate) -> bool:
    """Return whether a gate may ask for several fields."""
    return "*" in gate.path or ANY_NAMES in gate.path


def matches(pattern: Path, path: Path) -> bool:
    """Return whether a path is one that the path of a gate asks for.

    >>> matches(("**", "price"), ("lines", "price")), matches(("*", "price"), ("price",))
    (True, False)
    """
    if not pattern or not path:
        return not path and all(step == ANY_NAMES for step in pattern)
    if pattern[0] == ANY_NAMES:
        return matches(pattern[1:], path) or matches(pattern, path[1:])
    return pattern[0] in ("*", path[0]) and matches(pattern[1:], path[1:])


def refuse_bounds(gates: Collection[Gate]) -> None:
    """Raise UsageError with every gate that asks for a confidence interval."""
    found = [f"{gate.text!r} asks for a confidence interval" for gate in gates if gate.bound]
    if found:
        raise UsageError([Problem("--gate", each, "a --ci that is not none") for each in found])


def refuse_resampled(gates: Iterable[Gate]) -> None:
    """Raise UsageError with every gate that asks for an interval that takes rows of documents."""
    found = [
        f"{gate.text!r} asks for an interval of confidences, which is resampled from rows"
        for gate in gates
        if gate.bound and gate.metric in TRUST
    ]
    if found:
        hint = "--rows inline keeps them"
        raise UsageError([Problem("--gate", each, "a run with rows", hint) for each in found])


def asked(gate: Gate, fields: Iterable[Path]) -> list[Path]:
    """Return which fields a gate asks for: its own, or those that its pattern matches."""
    if not is_pattern(gate):
        return [gate.path]
    return [path for path in fields if path and matches(gate.path, path)]


def _fits(path: Path, known: Path) -> bool:
    """Return whether the path of a gate may be that of a known field; below `*` anything may be."""
    if not path:
        return not known
    if path[0] == ANY_NAMES:
        return _fits(path[1:], known) or (bool(known) and _fits(path, known[1:]))
    if not known:
        return False
    named = path[0] == "*" or known[0] in ("*", path[0])
    return known == ("*",) or (named and _fits(path[1:], known[1:]))


def asks_documents(gate: Gate) -> bool:
    """Return whether a gate asks how many documents there are of a kind."""
    return gate.path == (DOCUMENTS,) and gate.metric not in METRICS


OVERALL_SCORE: Final = "overall_score"  # the name in results of the score of whole documents
_WRONG: Final = (FD, FA, FN)
_EXPECTED: Final = (
    f"{OVERALL_SCORE}, or [set:][path.]metric, where metric is one of "
    f"{', '.join((*RATES, SCORE))}, alone or with >= and what passes"
)


@dataclass(frozen=True, slots=True)
class Aim:
    """The figure of a document that is its score, and how much of it passes."""

    gate: Gate
    limited: bool
    """Whether it says what passes; else that is a document without an error."""

    @property
    def is_score(self) -> bool:
        """Whether it is the score of whole documents, which takes no counts."""
        return self.gate.metric == SCORE and not self.gate.path

    @property
    def rate(self) -> str:
        """The rate that it asks for, of a field as of all of them."""
        return self.gate.metric if self.gate.metric in RATES else "f1"

    def passes(self, score: float) -> bool:
        """Return whether a score is as high as it must be."""
        return OPERATORS[self.gate.operator](score, self.gate.limit)


def parse_aim(text: str) -> Aim:
    """Return the question in a text: the name of a figure, or a gate on one.

    Raises:
        UsageError: it is neither, or no figure of one document that is better when higher.

    >>> parse_aim("overall_score").is_score, parse_aim("lines.price.recall >= 0.9").gate.path
    (True, ('lines', 'price'))
    """
    name = text.strip()
    limited = any(sign in name for sign in OPERATORS)
    if name.startswith(OVERALL_SCORE):
        name = SCORE + name.removeprefix(OVERALL_SCORE)
    gate = parse_gate(name if limited else f"{name}>=0", "of")
    if gate.metric not in (*RATES, SCORE) or gate.bound or not gate.operator.startswith(">"):
        raise refused("of", f"it is {text!r}", _EXPECTED)
    return Aim(replace(gate, text=text), limited)


def rewards(aim: Aim, counts: FieldCounts, size: int) -> list[float]:
    """Return the score of each of some documents; of several fields that match the least."""
    gate = aim.gate
    mode = COUNTING_MODES.index(gate.mode) if gate.mode else LEAVES
    found = np.ones(size)
    for path in asked(gate, counts.paths):
        names = tuple(map(str, path))
        found = np.minimum(found, field_rewards(counts, names, gate.metric, size, mode))
    figures: list[float] = found.tolist()
    return figures


def field_rewards(
    counts: FieldCounts, path: Names, metric: str, size: int, mode: int = LEAVES
) -> Floats:
    """Return a rate or score of one field in each document; 1 where neither side has it."""
    found = np.ones(size)
    if path not in counts.paths:
        return found
    at = counts.paths.index(path)
    end = counts.starts[at + 1] if at + 1 < len(counts.paths) else len(counts.documents)
    rows = slice(int(counts.starts[at]), int(end))
    cells: Any = counts.sums[mode, rows].T
    if metric == SCORE:
        values = counts.known_scores[rows]
        values[np.isnan(values)] = 1.0
    else:
        above, below = fractions(cells, recall_with_fd=False)[metric]
        values = ratio(above, below, empty=0)
    there = cells[TP] + cells[[*_WRONG]].sum(axis=0)
    found[counts.documents[rows]] = np.where(there > 0, values, 1.0)
    return found


def faultless(counts: FieldCounts) -> list[bool]:
    """Return which documents have no error at all, neither a value nor a whole."""
    rows = counts.sums[:, : counts.starts[1] if len(counts.starts) > 1 else None]
    found: list[bool] = (rows[[OVERALL, LEAVES]][:, :, [*_WRONG]].sum(axis=(0, 2)) == 0).tolist()
    return found
