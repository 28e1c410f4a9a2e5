"""Answers of studies: a report, and whether it is whole and good enough.

Several of them compare documents, or read verdicts of people on pairs of values: lines of JSON with
`path`, `gt`, `pred` and `verdict`. Verdicts on errors, as the HTML report has them downloaded, are
such lines too.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Floats
from stickler_cli.compare.engine import compare
from stickler_cli.compare.field_listing import node_at
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.one_of import follow_references
from stickler_cli.compare.plan import Node, Options, Plan
from stickler_cli.compare.units import UnitTable
from stickler_cli.core.figures import some_of, told_apart
from stickler_cli.core.json_values import JsonObject, JsonValue, brief
from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.problems import Problem, UsageError, WorkLimitError, did_you_mean
from stickler_cli.core.sections import Report
from stickler_cli.documents.document import read_document
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.lines import lines_of
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.documents.reading import source_of
from stickler_cli.records.account_format import VERDICT_FORMAT
from stickler_cli.runs.chunk import complete_pairs
from stickler_cli.runs.job import OutputsRequested, unwrapper_of
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.errors.marks import VERDICTS
from stickler_cli.score.intervals import IntervalSettings, Share, shares_of_documents
from stickler_cli.score.record import Run, Verdict
from stickler_cli.settings.of_commands import EvalSettings

AT_ONCE: Final = 64  # documents, or pairs of values, that are compared together
NAMED: Final = 5  # documents that a message names; the record names all


@dataclass(frozen=True, slots=True)
class Desk:
    """What the command line does for studies."""

    shows_values: bool
    """Whether a report is asked for that shows single values."""
    schema: Callable[[], LoadedSchema]
    """Returns the schema that was named, or the one that the ground truth implies."""
    run: Callable[[EvalSettings, OutputsRequested], Run]
    judge: Callable[[Run], Verdict]
    """Says on standard error what could not be evaluated; returns the verdict of the run."""
    write: Callable[[Iterable[bytes], Iterable[str]], None]
    """Writes lines of JSON to the only file of --output, or to standard output; keys are columns
    where rows are asked for."""
    tell: Callable[[str], None]
    """Says something on standard error, unless that is to be quiet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a study."""

    report: Any
    """A `Report`, a value that has formats of its own, or None."""
    verdict: Verdict = Verdict.PASSED
    why: Sequence[str] = ()
    """Lines that say why it is another one, for standard error."""


def compared(
    settings: Any, plan: Plan, options: Options, notes: list[str]
) -> Iterator[tuple[list[DocumentPair], UnitTable]]:
    """Compare documents that have both sides, and yield some of them at a time with their units.

    Notes on the sources, and on documents that are left out, are added at the end.

    Raises:
        ComparisonError: a comparator failed.
    """
    pairs = open_pairs(settings.gt, settings.pred, settings, (plan.kind,))
    alone, left_out = list[str](), list[str]()
    whole = complete_pairs(pairs, unwrapper_of(plan.root, settings), alone)
    yield from _compared(plan, whole, options, left_out)
    notes += map(str, pairs.problems)
    notes += [f"without both sides and left out: {some_of(alone, NAMED)}"] if alone else []
    notes += left_out


def _compared(
    plan: Plan, documents: Iterable[DocumentPair], options: Options, left_out: list[str]
) -> Iterator[tuple[list[DocumentPair], UnitTable]]:
    source = iter(documents)
    while chunk := list(islice(source, AT_ONCE)):
        gts: list[Any] = [it.gt for it in chunk]
        preds: list[Any] = [it.pred for it in chunk]
        known = [it.confidences for it in chunk], [it.gold for it in chunk]
        try:
            table = compare(plan, gts, preds, options, *known)
        except WorkLimitError as error:
            if len(chunk) == 1:
                left_out.append(f"{chunk[0].id} is left out: {error.problems[0]}")
            for one in chunk if len(chunk) > 1 else ():
                yield from _compared(plan, [one], options, left_out)
        else:
            yield chunk, table


def refuse_unknown(option: str, said: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise UsageError for each value of an option that is not known."""
    unknown = [name for name in said if name not in known]
    expected = f"one of {', '.join(known) or 'none'}"
    if unknown:
        raise UsageError(
            Problem(option, f"there {what} {name}", expected, did_you_mean(name, known))
            for name in unknown
        )


def held_to(report: Report, least: float | None, name: str, value: float | None) -> Answer:
    """Return the answer whose gate asks a figure for a least value, or for nothing."""
    if least is None or (value is not None and value >= least):
        return Answer(report)
    shown = "undefined" if value is None else f"{told_apart(value, least)} < {least!r}"
    return Answer(report, Verdict.FAILED, [f"gate failed: {name} {shown}"])


def rates_of(both: Floats, gt: Floats, pred: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Return what rates divide and by what: things that both sides have, and those of each side."""
    return {"precision": (both, pred), "recall": (both, gt), "f1": (2 * both, gt + pred)}


def shares_by_unit(
    parts: Mapping[str, Iterable[NDArray[Any]]],
    units: NDArray[np.intp],
    size: int,
    settings: IntervalSettings | None,
) -> dict[str, Share]:
    """Return shares of what things in some units add above and below their line."""
    sums: Any = {name: [np.bincount(units, it, size) for it in its] for name, its in parts.items()}
    return shares_of_documents(sums, settings)


T = TypeVar("T")

SAME: Final = {"same": True, "different": False}
"""Words of verdicts; true and false mean the same."""

_EXPECTED: Final = "same or different"
_KEYS: Final = ("path", "gt", "pred", "verdict")


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A verdict on two values."""

    names: tuple[str, ...]
    """The path of the field, without list indexes."""
    node: Node
    """The node that judges its values."""
    gt: JsonValue
    pred: JsonValue
    same: bool
    unit: str
    """Unit of resampling: the document, if the line names it, else the two values."""


def read_lines(
    file: str, limit: int, read: Callable[[JsonObject], T | Problem | None]
) -> Iterator[T]:
    """Yield what is read of the objects in a file of lines; None of one is left out.

    Raises:
        UsageError: with every line that is wrong.
    """
    problems = []
    for line in lines_of(file, limit):
        value = read_document(line).value
        found = read(value) if isinstance(value, dict) else None
        if isinstance(found, Problem):
            value = replace(found, source=source_of(file), line=line.line)
        elif found is not None:
            yield found
        if isinstance(value, Problem):
            problems.append(value)
    if problems:
        raise UsageError(problems)


def read_verdicts(file: str, plan: Plan, limit: int) -> tuple[list[VerdictLine], int]:
    """Read a file of verdicts, and tell how many on errors were left out for want of two values.

    Raises:
        UsageError: with every line that is wrong.
    """
    left_out = 0

    def verdict(value: JsonObject) -> VerdictLine | Problem | None:
        nonlocal left_out
        if value.get("format") == VERDICT_FORMAT:
            if None in (value.get("gt"), value.get("pred")):
                left_out += 1
                return None
            said = value.get("verdict")
            if isinstance(said, str) and said in VERDICTS:
                # A wrong ground truth is no other way to write the prediction: a comparator that
                # took the two for the same would be wrong elsewhere.
                value = {**value, "verdict": all(VERDICTS[said])}
        return _line(value, plan)

    found = [*read_lines(file, limit, verdict)]
    if not found:
        what = "no verdict is on two values" if left_out else "there are no verdicts"
        raise UsageError([Problem(source_of(file), what, "one on each line")])
    return found, left_out


def _line(value: JsonObject, plan: Plan) -> VerdictLine | Problem:
    """Return a verdict, or what was found instead and what was expected."""
    missing = [key for key in _KEYS if key not in value]
    if missing:
        return Problem(
            "", f"there is no {' and no '.join(missing)}", f"the keys {', '.join(_KEYS)}"
        )
    path, verdict = value["path"], value["verdict"]
    try:
        steps = parse_field_path(path if isinstance(path, str) else "")
    except ValueError:
        steps = ()
    names = tuple(step for step in steps if isinstance(step, str))
    node = node_at(plan, names)
    if not names or node is None:
        return Problem("", f"path is {brief(path)}", "the path of a field of the schema")
    same = SAME.get(verdict) if isinstance(verdict, str) else verdict
    if not isinstance(same, bool):
        return Problem("", f"verdict is {brief(verdict)}", _EXPECTED)
    unit = value.get("document")
    if not isinstance(unit, str):
        unit = json.dumps([value["gt"], value["pred"]], sort_keys=True)
    return VerdictLine(names, node, value["gt"], value["pred"], same, unit)


def judging_node(line: VerdictLine) -> Node:
    """Return the node that judges two values of a field, or of an element of a list."""
    node = follow_references(line.node.node_for(line.gt))
    while isinstance(node, ListNode) and not isinstance(line.gt, list):
        node = follow_references(node.items.node_for(line.gt))
    return node
