"""The answer of a study, the services that a study can use, and steps that several studies need.

These steps compare documents, check names and gates, and read verdict files. A verdict file has
people's verdicts on pairs of values: lines of JSON with `path`, `gt`, `pred` and `verdict`. People
can also give verdicts in the HTML report, and download them in this form.
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
from stickler_cli.core.figures import format_beside_limit, join_some, number_of
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
from stickler_cli.score.document_result import DocumentProblem
from stickler_cli.score.errors.marks import VERDICTS
from stickler_cli.score.intervals import IntervalSettings, Share, document_shares
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.settings.of_commands import EvalSettings

AT_ONCE: Final = 64  # documents, or pairs of values, in one batch of comparisons
MAX_NAMED_DOCUMENTS: Final = 5  # documents that a message lists; the record lists all


@dataclass(frozen=True, slots=True)
class Desk:
    """Services that the command line provides to studies."""

    shows_values: bool
    """Whether the user requests a report that shows single values."""
    schema: Callable[..., LoadedSchema]
    """Loads the schema that the settings name, or infers one from the ground truth."""
    run: Callable[[EvalSettings, OutputsRequested], Run]
    judge: Callable[[Run], RunVerdict]
    """Prints the problems of failed documents to standard error, and returns the verdict of the
    run."""
    write: Callable[[Iterable[bytes], Iterable[str]], None]
    """Writes lines of JSON to the file of --output, or to standard output. The second argument
    names the columns; they are needed if the user asked for a table."""
    tell: Callable[[str], None]
    """Writes a line to standard error; does nothing with --quiet."""
    command: str = ""
    """The command line of the study, without its output options. Reports show it, so that a user
    can repeat the study. Empty if an input is standard input."""


@dataclass(frozen=True, slots=True)
class StudyAnswer:
    """The report of a study, and a verdict: whether the answer is complete and passes its gates."""

    report: Any
    """A `Report`, or a record that has its own output formats. None if there is nothing to
    print."""
    verdict: RunVerdict = RunVerdict.PASSED
    why: Sequence[str] = ()
    """Reasons why the verdict is not "passed", as lines for standard error."""


def compare_sources(
    settings: Any, plan: Plan, options: Options, notes: list[str]
) -> Iterator[tuple[list[DocumentPair], UnitTable]]:
    """Compare the documents that both sides have. Yield batches of documents with their units.

    After the last batch, notes on the sources and on omitted documents are added to `notes`.

    Raises:
        ComparisonError: a comparator failed.
    """
    pairs = open_pairs(settings.gt, settings.pred, settings, (plan.kind,))
    one_sided_ids, omission_notes = list[str](), list[str]()
    unreadable: list[DocumentProblem] = []
    unwrapper = unwrapper_of(plan.root, settings)
    complete = complete_pairs(pairs, unwrapper, one_sided_ids, unreadable)
    yield from _compare_chunks(plan, complete, options, omission_notes)
    notes += map(str, pairs.problems)
    if one_sided_ids:
        notes.append(
            "documents skipped, because the ground truth or the prediction is missing: "
            f"{join_some(one_sided_ids, MAX_NAMED_DOCUMENTS)}"
        )
    for problem in unreadable[:MAX_NAMED_DOCUMENTS]:
        notes.append(f"document {problem.document} was skipped: {problem.problem}")
    if (n_more := len(unreadable) - MAX_NAMED_DOCUMENTS) > 0:
        verb = "was" if n_more == 1 else "were"
        notes.append(
            f"{number_of(n_more, 'more document')} {verb} skipped, because the "
            "ground truth or the prediction cannot be read"
        )
    notes += omission_notes


def _compare_chunks(
    plan: Plan, documents: Iterable[DocumentPair], options: Options, notes: list[str]
) -> Iterator[tuple[list[DocumentPair], UnitTable]]:
    """Compare documents in batches, and yield each batch with its units.

    A document that exceeds the work limit is left out, and a note on it is added to `notes`.
    """
    source = iter(documents)
    while chunk := list(islice(source, AT_ONCE)):
        gts: list[Any] = [pair.gt for pair in chunk]
        preds: list[Any] = [pair.pred for pair in chunk]
        confidences = [pair.confidences for pair in chunk]
        gold = [pair.gold for pair in chunk]
        try:
            table = compare(plan, gts, preds, options, confidences, gold)
        except WorkLimitError as error:
            if len(chunk) == 1:
                notes.append(f"document {chunk[0].id} was skipped: {error.problems[0]}")
            for pair in chunk if len(chunk) > 1 else ():
                yield from _compare_chunks(plan, [pair], options, notes)
        else:
            yield chunk, table


MAX_CHOICES: Final = 50  # in a message about a name that is none of the choices


def check_names(option: str, names: Iterable[str], valid: Collection[str], finding: str) -> None:
    """Check that all names given to an option are valid.

    `finding` is the text before an unknown name in the message, such as "unknown rule".

    Raises:
        UsageError: with a problem for each unknown name.
    """
    unknown = [name for name in names if name not in valid]
    expected = f"one of {join_some(valid, MAX_CHOICES) or 'none'}"
    if unknown:
        raise UsageError(
            Problem(
                source=option,
                found=f"{finding} {name!r}",
                expected=expected,
                hint=did_you_mean(name, valid),
            )
            for name in unknown
        )


def check_gate(
    report: Report, minimum: float | None, name: str, value: float | None
) -> StudyAnswer:
    """Check the only gate of a study, and return the report with the verdict.

    The gate fails if `value` is None or below `minimum`. If `minimum` is None, there is no gate,
    and the study passes. `name` is the name of the value in the message.
    """
    if minimum is None or (value is not None and value >= minimum):
        return StudyAnswer(report)
    comparison = (
        "undefined" if value is None else f"{format_beside_limit(value, minimum)} < {minimum!r}"
    )
    return StudyAnswer(report, RunVerdict.FAILED, [f"gate failed: {name} {comparison}"])


def rates_of(n_both: Floats, n_gt: Floats, n_pred: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Return precision, recall and F1, each as a pair of dividend and divisor.

    The keys of the dict are `precision`, `recall` and `f1`. `n_gt` is the number of values (or of
    other things, such as boxes) in the ground truth. `n_pred` is the number of values in the
    prediction. `n_both` is the number of values that the prediction has in common with the ground
    truth.
    """
    return {
        "precision": (n_both, n_pred),
        "recall": (n_both, n_gt),
        "f1": (2 * n_both, n_gt + n_pred),
    }


def shares_by_unit(
    quotients: Mapping[str, Iterable[NDArray[Any]]],
    units: NDArray[np.intp],
    n_units: int,
    settings: IntervalSettings | None,
) -> dict[str, Share]:
    """Return shares, such as precision, with their confidence intervals.

    Args:
        quotients: a dict from the name of each share to (dividends, divisors). Both arrays have one
            entry for each observation.
        units: for each observation, the index of its document (or other unit of resampling).
        n_units: the number of documents (or other units of resampling).
        settings: the settings of the intervals; None for no intervals.
    """
    sums: Any = {
        name: [np.bincount(units, column, n_units) for column in columns]
        for name, columns in quotients.items()
    }
    return document_shares(sums, settings)


T = TypeVar("T")

SAME: Final = {"same": True, "different": False}
"""Meaning of the words for verdicts in a verdict file: True says that both values are the same.

A verdict file may have the Booleans true and false instead of words."""

_EXPECTED: Final = "same or different"
_KEYS: Final = ("path", "gt", "pred", "verdict")


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A verdict of a person on two values."""

    names: tuple[str, ...]
    """The path of the field, without list indexes."""
    node: Node
    """The node that compares the field."""
    gt: JsonValue
    pred: JsonValue
    same: bool
    unit: str
    """Name of the unit of resampling. Verdicts with the same name are resampled together. The name
    is the document id if the line has one; otherwise, it is made from the two values."""


def read_lines(
    file: str, limit: int, read: Callable[[JsonObject], T | Problem | None]
) -> Iterator[T]:
    """Yield the result of `read` for each JSON object in a file of lines.

    Objects for which `read` returns None are skipped.

    Raises:
        UsageError: lists every line for which `read` returns a problem.
    """
    problems = []
    for line in lines_of(file, limit):
        value = read_document(line).value
        record = read(value) if isinstance(value, dict) else None
        if isinstance(record, Problem):
            value = replace(record, source=source_of(file), line=line.line)
        elif record is not None:
            yield record
        if isinstance(value, Problem):
            problems.append(value)
    if problems:
        raise UsageError(problems)


def read_verdicts(file: str, plan: Plan, limit: int) -> tuple[list[VerdictLine], int]:
    """Read a file of verdicts; return (verdicts, number of skipped verdicts).

    Verdicts with a missing ground truth or prediction are skipped, as there is nothing to compare.

    Raises:
        UsageError: lists every invalid line.
    """
    n_omitted = 0

    def parse_verdict(value: JsonObject) -> VerdictLine | Problem | None:
        nonlocal n_omitted
        if value.get("format") == VERDICT_FORMAT:
            if None in (value.get("gt"), value.get("pred")):
                n_omitted += 1
                return None
            verdict_name = value.get("verdict")
            if isinstance(verdict_name, str) and verdict_name in VERDICTS:
                # Two values are the same only if both are right. If the ground truth is wrong, the
                # values differ, and no comparator should match them.
                gt_is_right, pred_is_right = VERDICTS[verdict_name]
                value = {**value, "verdict": gt_is_right and pred_is_right}
        return _parse_line(value, plan)

    lines = [*read_lines(file, limit, parse_verdict)]
    if not lines:
        finding = (
            "none of the verdicts in this file is about a pair of values (one from the ground "
            "truth, one predicted)"
            if n_omitted
            else "the file contains no verdicts"
        )
        raise UsageError([Problem(source_of(file), finding, "one verdict on each line")])
    return lines, n_omitted


def _parse_line(value: JsonObject, plan: Plan) -> VerdictLine | Problem:
    """Return the verdict in a line, or the problem of the line."""
    missing = [key for key in _KEYS if key not in value]
    if missing:
        missing_keys = " and no ".join(f"key '{key}'" for key in missing)
        return Problem("", f"the line has no {missing_keys}", f"the keys {', '.join(_KEYS)}")
    path, verdict = value["path"], value["verdict"]
    try:
        steps = parse_field_path(path if isinstance(path, str) else "")
    except ValueError:
        steps = ()
    names = tuple(step for step in steps if isinstance(step, str))
    node = node_at(plan, names)
    if not names or node is None:
        return Problem("", f"path is {brief(path)}", "the path of a field in the schema")
    same = SAME.get(verdict) if isinstance(verdict, str) else verdict
    if not isinstance(same, bool):
        return Problem("", f"verdict is {brief(verdict)}", _EXPECTED)
    unit = value.get("document")
    if not isinstance(unit, str):
        unit = json.dumps([value["gt"], value["pred"]], sort_keys=True)
    return VerdictLine(
        names=names, node=node, gt=value["gt"], pred=value["pred"], same=same, unit=unit
    )


def judging_node(line: VerdictLine) -> Node:
    """Return the node that compares the two values of a verdict.

    If the field is a list, but the values are single items, this is the node of the items.
    """
    node = follow_references(line.node.node_for(line.gt))
    while isinstance(node, ListNode) and not isinstance(line.gt, list):
        node = follow_references(node.items.node_for(line.gt))
    return node
