"""Answers of studies: a report, and whether it is whole and good enough."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import Account
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.figures import some_of, told_apart
from stickler_cli.core.problems import Problem, UsageError, WorkLimitError, did_you_mean
from stickler_cli.core.sections import Report
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.runs.chunk import complete_pairs
from stickler_cli.runs.job import OutputsRequested, unwrapper_of
from stickler_cli.schema.loading import LoadedSchema
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
) -> Iterator[tuple[list[DocumentPair], Account]]:
    """Compare documents that have both sides, and yield some of them at a time with their account.

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
) -> Iterator[tuple[list[DocumentPair], Account]]:
    source = iter(documents)
    while chunk := list(islice(source, AT_ONCE)):
        gts: list[Any] = [it.gt for it in chunk]
        preds: list[Any] = [it.pred for it in chunk]
        known = [it.confidences for it in chunk], [it.gold for it in chunk]
        try:
            account = compare(plan, gts, preds, options, *known)
        except WorkLimitError as error:
            if len(chunk) == 1:
                left_out.append(f"{chunk[0].id} is left out: {error.problems[0]}")
            for one in chunk if len(chunk) > 1 else ():
                yield from _compared(plan, [one], options, left_out)
        else:
            yield chunk, account


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


def shares_by_unit(
    parts: Mapping[str, Iterable[NDArray[Any]]],
    units: NDArray[np.intp],
    size: int,
    settings: IntervalSettings | None,
) -> dict[str, Share]:
    """Return shares of what things in some units add above and below their line."""
    sums: Any = {name: [np.bincount(units, it, size) for it in its] for name, its in parts.items()}
    return shares_of_documents(sums, settings)
