"""The documents of two sides, of a run each or more: which there are, and what became of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Protocol, TypeAlias

from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.score.accounts import SCORE, counts_by_mode, decoded
from stickler_cli.score.moments import NAMES
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES

Record: TypeAlias = Mapping[str, Any]  # the account of a document, as JSON values

Lines: TypeAlias = Iterable[tuple[str, bytes]]  # ids and accounts, in the order of ids

_UNKNOWN: Final = b'"score":null'
"""In the account of a document that was not compared, and in no other: quotes in texts are escaped,
and scores of fields are numbers."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A document of the runs of the first side, and what became of it on the second one."""

    id: str
    lines: tuple[Sequence[bytes | None], Sequence[bytes | None]]
    """Its account in each run of either side, encoded: a tenth of what its values take in memory.
    None where a run did not compare it; one of the first side did."""
    told: bytes | None
    """Its account in the first run of the second side, be it compared there or not."""

    @property
    def status_after(self) -> str:
        """What it is in that run; empty where that knows nothing of it."""
        return "" if self.told is None else str(decoded(self.told)["status"])

    @property
    def accounts(self) -> tuple[list[Record], list[Record]]:
        """The accounts of either side; where a run did not compare it, all is missed."""
        known = decoded(next(line for line in self.lines[0] if line is not None))
        before, after = (
            [missed(known) if line is None else decoded(line) for line in side]
            for side in self.lines
        )
        return before, after

    @property
    def lost(self) -> bool:
        """Whether a run of the second side did not compare it."""
        return None in self.lines[1]


def missed(account: Record) -> Record:
    """Return the account that a document would have without a prediction.

    Below the fields of the document itself, only `leaves` counts: a missed object is one unit.
    """
    fields: dict[str, dict[str, object]] = {}
    for path, entry in account["fields"].items():
        inside = len(parse_field_path(path)) > 1
        fields[path] = {SCORE: 0.0} if SCORE in entry else {}
        for mode, counts in zip(COUNTING_MODES, counts_by_mode(entry), strict=True):
            tp, fd, _, fn, tn = (counts.get(name, 0) for name in NAMES)
            told = not inside or mode == "leaves"
            fields[path][mode] = {"fn": tp + fd + fn, "tn": tn} if told else {}
    return {**account, SCORE: 0.0, "fields": fields}


class Pairs(Protocol):
    """Documents side by side, which can be gone through again."""

    def __iter__(self) -> Iterator[Pair]:
        """Yield them in the order of their ids."""

    def __len__(self) -> int:
        """Return how many there are."""


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """The documents that the first side compared, in the order of their ids."""

    pairs: Pairs
    lost: Sequence[str]
    """Those that a run of the second side did not compare."""
    only_new: Sequence[str]
    sides: tuple[int, int]
    """How many runs either side has."""


def paired(bases: Sequence[Run], news: Sequence[Run]) -> PairedRuns:
    """Return the documents of the runs of two sides, at least one each, side by side.

    Raises:
        UsageError: a run has no accounts, or two of the same document.
        NotComparableError: no document is on both sides.
    """
    joined = _Joined([_lines(run, "BASE") for run in bases], [_lines(run, "NEW") for run in news])
    number, of_new, only_new, lost = 0, 0, list[str](), list[str]()
    for pair in joined.all():
        base, new = (any(line is not None for line in side) for side in pair.lines)
        number, of_new = number + base, of_new + new
        if base and pair.lost:
            lost.append(pair.id)
        elif new and not base:
            only_new.append(pair.id)
    if of_new == len(only_new):
        found = f"no document is in both runs ({number} in BASE, {of_new} in NEW)"
        raise NotComparableError([Problem("", found, "two runs of the same documents")])
    joined.number = number
    return PairedRuns(joined, lost, only_new, (len(bases), len(news)))


def _lines(run: Run, which: str) -> tuple[str, Lines]:
    """Return the accounts of a run in the order of their ids, and the name of its side."""
    accounts = run.evaluation.accounts
    if accounts is None:
        found, hint = (
            "the run has no accounts of its documents",
            "evaluate again with -o run.json --rows inline, or --documents rows.parquet",
        )
        raise UsageError([Problem(which, found, "per_document", hint)])
    return which, sorted(accounts.lines) if isinstance(accounts.lines, list) else accounts.lines


class _Joined:
    """Documents of several runs, joined by their ids each time that they are gone through.

    No more than a document of each is in memory, whatever the runs hold their accounts in.
    """

    def __init__(
        self, before: Sequence[tuple[str, Lines]], after: Sequence[tuple[str, Lines]]
    ) -> None:
        self._runs = [*before, *after]
        self._first = len(before)
        self.number = 0

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[Pair]:
        for pair in self.all():
            if any(line is not None for line in pair.lines[0]):
                yield pair

    def all(self) -> Iterator[Pair]:
        """Yield also those that the first side did not compare."""
        streams = [_of_run(at, *run) for at, run in enumerate(self._runs)]
        for name, group in groupby(merge(*streams), itemgetter(0)):
            found: list[bytes | None] = [None] * len(self._runs)
            told = None
            for _, at, line in group:
                if at == self._first:
                    told = line
                if _UNKNOWN not in line:
                    found[at] = line
            yield Pair(name, (found[: self._first], found[self._first :]), told)


def _of_run(at: int, which: str, lines: Lines) -> Iterator[tuple[str, int, bytes]]:
    """Yield the documents of a run; UsageError if it compared two of one id."""
    before = None
    for name, line in lines:
        if _UNKNOWN not in line:
            if name == before:
                told = f"the run has two documents with the id {name}"
                raise UsageError([Problem(which, told, "different ids")])
            before = name
        yield name, at, line
