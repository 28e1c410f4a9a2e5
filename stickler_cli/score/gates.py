"""Gates: what a run must reach, as one line of text each, and whether it did.

A gate is `[set:][path.]metric[.lower|.upper] op number`. Without a set it reads what the run
counts: all values, of the whole as of a field. In a path `*` is any one name
and `**` any number of them; such a gate holds if it holds for every field that matches.
What is printed is what is compared, at full precision, and an empty denominator never passes.

The last name is always the metric, so a field called `right` is reached by `right.f1`. A gate such
as `right>=5` is refused where the schema has a field of that name: it could mean either. After
`documents.` stand kinds of documents, unless a set comes first: `leaves:documents.right` is about a
field called `documents`.

The aim of who trains by documents is a gate on one of them, or a figure alone: in [0, 1], always.
Where a rate of a run is undefined, a document still has one: nothing on either side is right, and
where only one side has anything, it is wrong.
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
from .intervals import ratio
from .sums import BOUNDS, COUNTING_MODES, EXACT, RATES, fractions

OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
SCORE: Final = "score"  # the mean score: of documents without a path, of a field with one
LETTERS: Final = {"right": "tp", "wrong": "fd", "invented": "fa", "missed": "fn", "absent": "tn"}
"""Counts as tables call them, and as the confusion matrix does."""
COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn", *LETTERS)
LABELLED: Final = "labelled"  # the share of documents in which somebody has labelled a field
METRICS: Final = (*RATES, SCORE, *COUNTS, LABELLED, *EXACT)
CONFIDENCE: Final = "confidence"  # before the path of gates on how far these can be trusted
TRUST: Final = tuple(f"{CONFIDENCE}.{name}" for name in (*FIGURES, "coverage"))
"""Metrics of such gates."""
METRIC: Final = "metric:"  # before the name of a metric, in the place of a counting mode
RIGHT: Final = "right"  # the share of documents without an error
DOCUMENTS: Final = "documents"  # the path of gates on how many documents there were of a kind
SYNTAX: Final = "[set:][path.]metric op number, such as line_items.price.recall>=0.9"

_GATE: Final = re.compile(
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
        raise refused(option, f"{text!r} is not a gate", SYNTAX, _correct_operator(text))
    _check_set(text, match, option)
    path, bound = _without_bound(_path_of(text, match, option), match["mode"], metrics)
    metric = str(path[-1]) if path else ""
    if path[:1] == (CONFIDENCE,) and f"{CONFIDENCE}.{metric}" in TRUST:
        path, metric = path[1:], f"{CONFIDENCE}.{metric}"
    gate = Gate(
        text=text.strip(),
        mode=match["mode"] or "",
        path=path[:-1],
        metric=metric,
        operator=match["operator"],
        limit=_limit(text, match["limit"], option),
        bound=bound,
    )
    if asks_documents(gate):
        if metric == RIGHT:
            _check_share(gate, option, lowest)
        return gate
    if metric not in (metrics or (*METRICS, *TRUST)):
        if _SIGN.search(match["target"]) and '["' not in match["target"]:
            each = f"give each its own {option}"
            raise refused(
                option,
                f"{text!r} has more than one comparison",
                SYNTAX,
                _correct_operator(text, "<>") or each,
            )
        expected = f"one of {', '.join(metrics or METRICS)}"
        hint = _meant(gate, option, lowest, metrics)
        raise refused(option, f"{text!r} asks for {metric or 'nothing'}", expected, hint)
    if metric in (metrics or _SHARES):
        _check_share(gate, option, lowest)
    elif metric in COUNTS and lowest >= 0 and not gate.limit.is_integer():
        found = f"in {text!r}, the limit is {gate.limit:g}"
        hint = "precision, recall, f1 and accuracy are shares"
        raise refused(option, found, f"a whole number: {metric} is a count", hint)
    return gate


def _check_set(text: str, match: re.Match[str], option: str) -> None:
    """Raise UsageError if a name before a colon is a misspelt set."""
    set_name, colon, rest = match["target"].partition(":")
    if not colon or match["mode"]:
        return
    if meant := nearest(set_name, COUNTING_MODES):
        hint = _did_you_mean(f"{meant}:{rest}{match['operator']}{match['limit']}")
        found = f"{text!r} asks for the set {set_name}"
        raise refused(option, found, f"one of {', '.join(COUNTING_MODES)}", hint)


def _path_of(text: str, match: re.Match[str], option: str) -> Path:
    """Return the names before the operator of a gate; the last one is the metric."""
    try:
        path = parse_field_path(match["target"])
    except ValueError as error:
        raise refused(option, f"in {text!r}, {error}", SYNTAX) from None
    names = tuple(step for step in path if isinstance(step, str))
    if len(names) < len(path):
        hint = _did_you_mean(field_path(names) + match["operator"] + match["limit"])
        raise refused(option, f"{text!r} names one list element", "a field of all elements", hint)
    return path


def _without_bound(path: Path, mode: str | None, metrics: Collection[str]) -> tuple[Path, str]:
    """Return a path without the end of an interval that it asks for, and that end, maybe empty."""
    *names, bound = path or ("",)
    has_interval = names[-1:] and names[-1] in (metrics or (*RATES, SCORE, *FIGURES))
    is_share_of_documents = names == [DOCUMENTS, RIGHT] and not mode
    if bound in BOUNDS and (has_interval or is_share_of_documents):
        return tuple(names), str(bound)
    return path, ""


def _check_share(gate: Gate, option: str, lowest: float) -> None:
    """Raise UsageError if a limit is no share; the hint turns a percentage into one."""
    if lowest <= gate.limit <= 1:
        return
    hint = percentage_hint(abs(gate.limit)) if gate.limit >= 100 * lowest else ""
    if hint and option != FAIL_UNDER:
        hint = _did_you_mean(f"{name_of(gate)}{gate.operator}{gate.limit / 100:g}")
    found = f"in {gate.text!r}, the limit is {gate.limit:g}"
    raise refused(option, found, f"a number between {lowest:g} and 1", hint)


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
_F1: Final = re.compile(r"f[-_ ]?(1(\.0*)?|one)?([-_ ]?(score|measure))?", re.IGNORECASE)
_SIGN: Final = re.compile("[<>=]")

_SHARES: Final = frozenset({*RATES, SCORE, LABELLED, *EXACT, *TRUST}) - {f"{CONFIDENCE}.log_loss"}


def _did_you_mean(gate: str) -> str:
    return f"did you mean {gate}?"


def name_of(gate: Gate) -> str:
    """Return the name of the figure: all that stands before the operator."""
    return gate.text.rpartition(gate.operator)[0].strip()  # a key may have one in it


def _correct_operator(text: str, only: str = "") -> str:
    """Return a hint with a valid operator in the place of `=>`, `<>` and so on; empty if none fits.

    With `only`, no other of these operators is replaced.
    """
    gates = (
        text.replace(operator, valid_operator, 1)
        for operator, valid_operator in _OTHER_OPERATORS.items()
        if operator in text and only in operator
    )
    return next((_did_you_mean(gate) for gate in gates if _GATE.fullmatch(gate)), "")


_OTHER_OPERATORS: Final = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<=", "<>": "!=", "=": "=="}


OTHER_NAMES: Final = {"wholly_right": f"{DOCUMENTS}.{RIGHT}", RIGHT: f"{DOCUMENTS}.{RIGHT}"}
"""Names of figures in results, and how gates call them."""


def _meant(gate: Gate, option: str, lowest: float, metrics: Collection[str]) -> str:
    """Word a hint with the gate that was meant; empty where that is not known, or is no gate."""
    comparison = gate.operator + repr(gate.limit).removesuffix(".0")
    name = name_of(gate)
    for meant in _names_meant(gate, metrics):
        if _is_gate(meant + comparison, option, lowest, metrics):
            return _did_you_mean(meant + comparison)
    of_field = f"{name}.f1{comparison}"
    may_be_field = gate.metric and not metrics and {*gate.path[-1:]}.isdisjoint((*RATES, SCORE))
    if may_be_field and _is_gate(of_field, option, lowest, metrics):
        return f"if {name} is a field: {of_field}"
    return ""


def _names_meant(gate: Gate, metrics: Collection[str]) -> Iterator[str]:
    """Yield names that may have been meant by that of a figure that there is not."""
    name = name_of(gate)
    if not gate.metric:
        return
    if not metrics:
        first, dot, end = name.partition(".")
        if first in OTHER_NAMES and end in ("", *BOUNDS):
            yield OTHER_NAMES[first] + dot + end
        if f"{CONFIDENCE}.{gate.metric}" in TRUST:
            yield f"{CONFIDENCE}.{name}"
    prefix, _, _ = name.rpartition(gate.metric)
    if gate.path and gate.path[-1] in (*RATES, SCORE):
        if bound := nearest(gate.metric, BOUNDS):
            yield prefix + bound
        return
    known = FIGURES if gate.path[:1] == (CONFIDENCE,) else metrics or METRICS
    if "f1" in known and _F1.fullmatch(gate.metric):
        yield f"{prefix}f1"
    if not _NAME.fullmatch(gate.metric):
        return
    # More alike than names are: a field may be called "price", which is not far from "precision".
    alike = nearest(gate.metric, known, at_least=0.75, beginnings=False) or ""
    last = gate.metric.rpartition("_")[2]
    yield from (prefix + metric for metric in (alike, last) if metric in known)


def _is_gate(text: str, option: str, lowest: float, metrics: Collection[str]) -> bool:
    """Return whether a text is a gate as it stands."""
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
        if asks_documents(gate):
            continue
        if gate.metric in LETTERS and (*gate.path, gate.metric) in known:
            problems.append(_ambiguous(gate, option))
        elif gate.path and not any(_fits(gate.path, path) for path in known):
            path = field_path(gate.path)
            found = f"{gate.text!r} asks for the field {path}, which does not exist"
            hint = _near_field(gate, known)
            problems.append(Problem(option, found, "a field of the schema", hint))
    if problems:
        raise UsageError(problems)


def _ambiguous(gate: Gate, option: str) -> Problem:
    """Return the problem of a gate on a count that is called as a field is."""
    name, comparison = name_of(gate), gate.text[len(name_of(gate)) :]
    letters = f"{name.removesuffix(gate.metric)}{LETTERS[gate.metric]}{comparison}"
    found = f"{gate.text!r} could mean the field {name}, or how many values are {gate.metric}"
    hint = f"{letters} is the count; name a metric for the field, such as {name}.f1"
    return Problem(option, found, "one of the two", hint)


def _near_field(gate: Gate, known: Iterable[Path]) -> str:
    """Word a hint with the field whose last name is asked for, or with the nearest one."""
    paths = {field_path(path): path for path in known if path}
    ends = [name for name, path in paths.items() if path[-1] == gate.path[-1]]
    near = ends[0] if len(ends) == 1 else nearest(field_path(gate.path), paths)
    if near is None:
        return ""
    set_name = f"{gate.mode}:" if gate.mode else ""
    names = (*paths[near], *gate.metric.split("."), *([gate.bound] if gate.bound else []))
    if gate.metric in TRUST:
        names = (CONFIDENCE, *paths[near], *names[len(paths[near]) + 1 :])
    limit = repr(gate.limit).removesuffix(".0")
    return _did_you_mean(f"{set_name}{field_path(names)}{gate.operator}{limit}")


def is_pattern(gate: Gate) -> bool:
    """Return whether a gate may ask for several fields."""
    return "*" in gate.path or ANY_NAMES in gate.path


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
    return [path for path in fields if path and matches_pattern(gate.path, path)]


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
    """Return whether a gate asks how many documents there are of a kind.

    A field may be called `documents`: a set before it says so, or a metric that is no word.
    """
    of_field = gate.mode or (gate.metric in METRICS and gate.metric not in LETTERS)
    return gate.path == (DOCUMENTS,) and not of_field


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
    counts: FieldCounts, path: FieldNames, metric: str, size: int, mode: int = LEAVES
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
