"""The documents of two sides, of a run each or more: which there are, and what was counted."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from heapq import merge
from itertools import groupby
from math import lcm
from operator import itemgetter
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.score.accounts import SCORE, counts_by_mode, decoded
from stickler_cli.score.conditions import FieldInfo, pattern_of
from stickler_cli.score.counts import RateRule
from stickler_cli.score.moments import NAMES
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES, SCORE_UNIT, units_of
from .changes import Figure
from .significance import Sample

Record: TypeAlias = Mapping[str, Any]  # the account of a document, as JSON values
Column: TypeAlias = tuple[Path, str]  # a field, and one of the counting modes, or the score

Lines: TypeAlias = Iterable[tuple[str, bytes]]  # ids and accounts, in the order of ids

_UNKNOWN: Final = b'"score":null'
"""In the account of a document that was not compared, and in no other: quotes in texts are escaped,
and scores of fields are numbers."""

SAMPLE_UNIT: Final = 1 << 30
"""Scores in samples are whole numbers of 2**-30, so that their sums are exact and the same on every
machine; what is reported has all digits."""


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


@dataclass(slots=True)
class Counted:
    """What was counted in every document of all runs."""

    ids: Sequence[str]
    sides: tuple[int, int]
    """How many runs either side has; those of the first one come first."""
    rule: RateRule
    known: Mapping[Path, FieldInfo]
    """The fields of the schema; the keys of a map are one field."""
    more: Collection[Column]
    """What is asked for besides `overall` of every field and everything of whole documents."""
    columns: dict[Column, NDArray[np.int64]] = field(default_factory=dict)
    """Of a counting mode (runs, 5 outcomes, documents), of scores (runs, 2, documents): the score
    in `SAMPLE_UNIT`s, and as many units as it could be."""
    score_sums: dict[Column, list[list[int]]] = field(default_factory=dict)
    """Of scores, for each run: their sum in `SCORE_UNIT`s, and how many there are."""
    asked: dict[str, Sequence[Column]] = field(default_factory=dict)
    """The columns in which a field counts, by its path as text."""

    @property
    def paths(self) -> Sequence[Path]:
        """The fields in which anything was counted, keys of maps as `*`."""
        return sorted({pattern_of(path, self.known) for path, _ in self.columns if path})

    @property
    def times(self) -> int:
        """By how much sums of a side are multiplied, so that both are of as many runs."""
        return lcm(*self.sides)

    def sample(self, figure: Figure) -> Sample:
        """Return what a figure divides, and by what, in every document, summed over runs."""
        before, after = self._sides(self._parts(figure))
        values = [1.0 if value is None else value for value in self.in_runs(figure)]
        first = self.sides[0]
        return Sample(
            before.astype(np.float64), after.astype(np.float64), (values[:first], values[first:])
        )

    def in_runs(self, figure: Figure) -> list[float | None]:
        """Return a figure in each run; None where there is nothing to divide by."""
        sums = self._parts(figure).sum(axis=2).tolist()
        return [above / below if below else None for above, below in sums]

    def exact(self, figure: Figure) -> list[Fraction | None]:
        """Return a figure on both sides; None where there is nothing to divide by."""
        sides = slice(self.sides[0]), slice(self.sides[0], None)
        if figure.metric == SCORE:
            sums = self.score_sums.get((figure.path, SCORE), [[0, 0]] * sum(self.sides))
            parts = [[sum(part) for part in zip(*sums[side], strict=True)] for side in sides]
            of_sides = [(units, scored * SCORE_UNIT) for units, scored in parts]
        else:
            of_sides = [
                self.rule.fractions(counts.tolist())[figure.metric]
                for counts in self.counts(figure.path, figure.mode).sum(axis=2)
            ]
        return [Fraction(above, below) if below else None for above, below in of_sides]

    def change(self, figure: Figure) -> float | None:
        """Return the change of a figure, rounded once: from 0.90 to 0.89 it is -0.01."""
        before, after = self.exact(figure)
        return None if before is None or after is None else float(after - before)

    def counts(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field that was asked for, (2 sides, 5 outcomes, documents).

        Of a side with several runs their sums; `times` as large as in one run.
        """
        return self._sides(self.of_runs(path, mode))

    def of_runs(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field that was asked for, (runs, 5 outcomes, documents)."""
        return self._column((path, mode), len(NAMES))

    def _parts(self, figure: Figure) -> NDArray[np.int64]:
        """Return what a figure divides, and by what, in every run, (runs, 2, documents)."""
        if figure.metric == SCORE:
            return self._column((figure.path, SCORE), 2)
        every = self.of_runs(figure.path, figure.mode)
        return np.array([self.rule.fractions([*counts])[figure.metric] for counts in every])

    def _sides(self, of_runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over the runs of either side, multiplied as `times` says."""
        first, second = self.sides
        return np.array(
            [
                of_runs[:first].sum(axis=0) * (self.times // first),
                of_runs[first:].sum(axis=0) * (self.times // second),
            ]
        )

    def add(self, run: int, document: int, account: Record) -> None:
        """Add a document of a run, by its position and that of the run."""
        self._add_score(run, document, (), account[SCORE])
        for text, entry in account["fields"].items():
            if text not in self.asked:
                self.asked[text] = self._asked(text)
            by_mode = dict(zip(COUNTING_MODES, counts_by_mode(entry), strict=True))
            for path, mode in self.asked[text]:
                if mode != SCORE:
                    into = self.columns.setdefault((path, mode), self._column((path, mode), 5))
                    for row, name in enumerate(NAMES):
                        if name in by_mode[mode]:
                            into[run, row, document] += by_mode[mode][name]
                elif SCORE in entry:
                    self._add_score(run, document, path, entry[SCORE])

    def _asked(self, text: str) -> Sequence[Column]:
        path = tuple(map(str, parse_field_path(text)))
        pattern = pattern_of(path, self.known)
        found: set[Column] = {(pattern, COUNTING_MODES[0])}
        if not path:
            found |= {(path, mode) for mode in COUNTING_MODES}
        return sorted(found | {it for it in self.more if it[0] in (path, pattern) and it[0]})

    def _add_score(self, run: int, document: int, path: Path, score: float) -> None:
        column = self.columns.setdefault((path, SCORE), self._column((path, SCORE), 2))
        column[run, :, document] += round(score * SAMPLE_UNIT), SAMPLE_UNIT
        nothing = [[0, 0] for _ in range(sum(self.sides))]
        sums = self.score_sums.setdefault((path, SCORE), nothing)[run]
        sums[0] += units_of(score)
        sums[1] += 1

    def _column(self, column: Column, rows: int) -> NDArray[np.int64]:
        found = self.columns.get(column)
        return (
            np.zeros((sum(self.sides), rows, len(self.ids)), dtype=np.int64)
            if found is None
            else found
        )


def counted(
    pairs: Pairs,
    fields: Sequence[FieldInfo],
    rule: RateRule,
    more: Collection[Column] = (),
    sides: tuple[int, int] = (1, 1),
) -> Counted:
    """Return what was counted in every document; `Counted` says what the rest is."""
    known = {it.path: it for it in fields}
    table = Counted([pair.id for pair in pairs], sides, rule, known, {*more})
    for document, pair in enumerate(pairs):
        before, after = pair.accounts
        for run, account in enumerate((*before, *after)):
            table.add(run, document, account)
    return table
