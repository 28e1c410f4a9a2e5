"""Documents of two sides, of a run each or more, and the counts of each figure in every run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.result import FieldInfo, Outcome
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import Path
from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.score.blocks import SCORE_KEY, Blocks, encode_rows
from stickler_cli.score.document_result import Status
from stickler_cli.score.field_counts import ITEM_COUNTS, N_UNIT_COUNTS, ConfidentValues
from stickler_cli.score.record import Run
from stickler_cli.score.sums import (
    COUNTING_MODES,
    EXACT_ITEM_RULE,
    EXACT_METRICS,
    LEAF_COUNTS,
    OUTCOME_NAMES,
    SCORE_SCALE,
    RateRule,
    schema_pattern,
    sum_scores,
)
from .record import WHOLLY_RIGHT, Figure
from .significance import Sample

IntArray: TypeAlias = NDArray[np.int64]

LOST: Final = [Outcome.FD, Outcome.FA, Outcome.FN]

SAMPLE_UNIT: Final = 1 << 30
"""Scores in samples are whole numbers of 2**-30, so that their sums are exact and the same on every
machine; what is reported has all digits."""

_NOWHERE: Final = -1


class RunRows(NamedTuple):
    """Fields in documents of one run, each an entry of all arrays, by field, then by document."""

    field: IntArray
    document: IntArray
    cell: IntArray
    """Which of the cells of all runs it has."""
    score: NDArray[np.float64]
    """NaN where there is none."""


class Known(NamedTuple):
    """The documents in one run."""

    status: Sequence[Status | None]
    """The status of each; None if the run does not know it."""
    compared: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRuns:
    """The documents that a run of the first side compared, in the order of their ids."""

    ids: Sequence[str]
    sides: tuple[int, int]
    """How many runs either side has; those of the first one come first."""
    lost: NDArray[np.bool_]
    """Which of them a run of the second side did not compare."""
    only_new: Sequence[str]
    """Documents that only the second side compared."""
    known: Sequence[Known]
    """By run."""
    paths: Sequence[FieldNames]
    """Of fields, keys of maps included."""
    cells: IntArray
    """The distinct ones of all runs, (n, CELL)."""
    rows: Sequence[RunRows]
    """By run, where anything was counted or scored. Where a run did not compare a document, all
    that the first side found there is missed."""
    leaves: Sequence[Sequence[ConfidentValues]]
    """By run, the values that have a confidence; documents are positions among `ids`."""

    rule: RateRule
    fields: Mapping[Path, Sequence[int]]
    """The positions of fields among `paths`, by their path; the keys of a map also together, by
    the path under which the schema describes them."""
    patterns: Sequence[Path]
    """The path under which the schema describes each of `paths`."""

    def of_field(self, run: int, field: int) -> RunRows:
        """Return the rows of a field in a run."""
        rows = self.rows[run]
        start, end = np.searchsorted(rows.field, (field, field + 1)).tolist()
        return _rows_at(rows, slice(start, end))

    def status_before(self, document: int) -> Status:
        """Return the status of a document in the first run that compared it."""
        first = self.known[: self.sides[0]]
        status = next(run.status[document] for run in first if run.compared[document])
        return status or Status.EVALUATED

    def status_after(self, document: int) -> str:
        """Return its status in the first run of the second side; empty if unknown there."""
        status = self.known[self.sides[0]].status[document]
        return "" if status is None else status.value

    @property
    def counted(self) -> Sequence[Path]:
        """The fields in which anything was counted, keys of maps as `*`."""
        told = {int(field) for rows in self.rows for field in np.unique(rows.field)}
        return sorted({self.patterns[at] for at in told} - {()})

    @property
    def times(self) -> int:
        """By how much sums of a side are multiplied, so that both are of as many runs."""
        return lcm(*self.sides)

    def sample(self, figure: Figure) -> Sample:
        """Return dividends and divisors of a figure in every document, summed over runs."""
        before, after = self._sides(self._parts(figure))
        values = [1.0 if value is None else value for value in self.in_runs(figure)]
        first = self.sides[0]
        return Sample(
            before.astype(np.float64),
            after.astype(np.float64),
            (values[:first], values[first:]),
            paired=figure.metric == WHOLLY_RIGHT and self.sides == (1, 1),
        )

    def in_runs(self, figure: Figure) -> list[float | None]:
        """Return a figure in each run; None where there is nothing to divide by."""
        sums = self._parts(figure).sum(axis=2).tolist()
        return [above / below if below else None for above, below in sums]

    def exact(self, figure: Figure) -> list[Fraction | None]:
        """Return a figure on both sides; None where there is nothing to divide by."""
        sides = slice(self.sides[0]), slice(self.sides[0], None)
        if figure.metric == SCORE_KEY:
            sums = [self._score_sums(figure.field, run) for run in range(sum(self.sides))]
            parts = [[sum(part) for part in zip(*sums[side], strict=True)] for side in sides]
            of_sides = [(units, scored * SCORE_SCALE) for units, scored in parts]
        else:
            of_sides = self._sides(self._parts(figure)).sum(axis=2).tolist()
        return [Fraction(above, below) if below else None for above, below in of_sides]

    def change(self, figure: Figure) -> float | None:
        """Return the change of a figure, rounded once: from 0.90 to 0.89 it is -0.01."""
        before, after = self.exact(figure)
        return None if before is None or after is None else float(after - before)

    def counts(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field, (2 sides, 5 outcomes, documents).

        Of a side with several runs their sums; `times` as large as in one run.
        """
        return self._sides(self.of_runs(path, mode))

    def of_runs(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field, (runs, 5 outcomes, documents)."""
        return self._sum_cells(path, self._counts_of(mode))

    def has_items(self, path: Path) -> bool:
        """Return whether a run has items, or objects, of a field."""
        return bool(self._sum_cells(path, self.cells[:, ITEM_COUNTS]).any())

    def exact_fractions(self, path: Path, name: str) -> list[tuple[IntArray, IntArray]]:
        """Return dividends and divisors of a rate of exact items: a pair for each run.

        Both have shape (documents,).
        """
        items = self._sum_cells(path, self.cells[:, ITEM_COUNTS])
        fractions = []
        for exact, all_items, missed, invented in items:
            wrong = all_items - exact - missed - invented
            # In the order of outcomes: TP, FD, FA, FN, TN. Absent items are not counted.
            counts = (exact, wrong, invented, missed, np.zeros_like(exact))
            fractions.append(EXACT_ITEM_RULE.rate_fractions(counts)[name])
        return fractions

    def _sum_cells(self, path: Path, cells: IntArray) -> IntArray:
        """Add some columns of the cells of a field, (runs, columns, documents)."""
        found = np.zeros((sum(self.sides), cells.shape[1], len(self.ids)), np.int64)
        for run, into in enumerate(found):
            for field in self.fields.get(path, ()):
                rows = self.of_field(run, field)
                into[:, rows.document] += cells[rows.cell].T
        return found

    def _counts_of(self, mode: str) -> IntArray:
        """Return the counts of all cells in a counting mode, (n, 5 outcomes)."""
        first = COUNTING_MODES.index(mode) * len(OUTCOME_NAMES)
        return self.cells[:, first : first + len(OUTCOME_NAMES)]

    def right_and_wrong(
        self, fields: Sequence[int], mode: str
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return in which runs and documents fields have values and no error, and have errors."""
        cells = self._counts_of(mode)
        states = np.array([cells.any(axis=1), cells[:, LOST].any(axis=1)])
        found = np.zeros((2, sum(self.sides), len(self.ids)), np.bool_)
        for run in range(sum(self.sides)):
            for field in fields:
                rows = self.of_field(run, field)
                found[:, run, rows.document] |= states[:, rows.cell]
        some, wrong = found
        return some & ~wrong, wrong

    def broken_and_fixed(
        self, fields: Sequence[int], mode: str
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return in which documents fields were right and are wrong, and the reverse.

        Of several runs, they are what they were in more than half of them.
        """
        first, states = self.sides[0], self.right_and_wrong(fields, mode)
        right_before, wrong_before = (it[:first].mean(axis=0) > 0.5 for it in states)
        right_after, wrong_after = (it[first:].mean(axis=0) > 0.5 for it in states)
        return right_before & wrong_after, wrong_before & right_after

    def _parts(self, figure: Figure) -> NDArray[np.int64]:
        """Return dividends and divisors of a figure in every run, (runs, 2, documents)."""
        if figure.metric == WHOLLY_RIGHT:
            lost = self.of_runs((), COUNTING_MODES[-1])[:, LOST].any(axis=1)
            return np.stack([~lost, np.ones_like(lost)], axis=1).astype(np.int64)
        if figure.metric in EXACT_METRICS:
            name = figure.metric.removeprefix("exact_")
            return np.array(self.exact_fractions(figure.field, name))
        if figure.metric != SCORE_KEY:
            every = self.of_runs(figure.field, figure.mode)
            return np.array(
                [self.rule.rate_fractions([*counts])[figure.metric] for counts in every]
            )
        found = np.zeros((sum(self.sides), 2, len(self.ids)), np.int64)
        for run, into in enumerate(found):
            for document, score in self._scores(figure.field, run):
                into[0, document] += np.rint(score * SAMPLE_UNIT).astype(np.int64)
                into[1, document] += SAMPLE_UNIT
        return found

    def _scores(
        self, path: Path, run: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return documents and their scores of a field, for each key that it stands for."""
        every = [self.of_field(run, field) for field in self.fields.get(path, ())]
        known = [(rows, ~np.isnan(rows.score)) for rows in every]
        return [(rows.document[some], rows.score[some]) for rows, some in known]

    def _score_sums(self, path: Path, run: int) -> tuple[int, int]:
        """Return the sum of scores of a field, in `SCORE_SCALE`s, and how many there are."""
        scores = np.concatenate([np.zeros(0), *(it for _, it in self._scores(path, run))])
        units = sum(sum_scores(scores, np.zeros(1, np.intp))) if len(scores) else 0
        return units, len(scores)

    def _sides(self, of_runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over the runs of either side, multiplied as `times` says."""
        parts = zip(np.split(of_runs, [self.sides[0]]), self.sides, strict=True)
        return np.array([of_side.sum(axis=0) * (self.times // runs) for of_side, runs in parts])


def join_runs(
    bases: Sequence[Run], news: Sequence[Run], fields: Iterable[FieldInfo], rule: RateRule
) -> JoinedRuns:
    """Return the documents of the runs of two sides, at least one each, side by side.

    The fields are those of the schemas.

    Raises:
        UsageError: a run keeps no rows of its documents, or compared two of one id.
        NotComparableError: no document is on both sides.
    """
    names = ["BASE"] * len(bases) + ["NEW"] * len(news)
    pairs = zip(names, (*bases, *news), strict=True)
    ledgers = [_ledger(run, which) for which, run in pairs]
    documents = [_statuses(ledger, which) for which, ledger in zip(names, ledgers, strict=True)]
    sides = documents[: len(bases)], documents[len(bases) :]
    first, second = (set[str]().union(*(compared for _, compared in side)) for side in sides)
    if not first & second:
        found = f"no document is in both runs ({len(first)} in BASE, {len(second)} in NEW)"
        raise NotComparableError([Problem("", found, "two runs of the same documents")])
    ids = sorted(first)
    at = {name: place for place, name in enumerate(ids)}
    known = [
        Known([*map(status.get, ids)], np.array([name in compared for name in ids]))
        for status, compared in documents
    ]
    paths: dict[FieldNames, int] = {}
    parts = [[*_parts(ledger, at, paths)] for ledger in ledgers]
    cells, rows = _rows(parts, [*paths], known, len(bases))
    absent = np.array([~each.compared for each in known])
    described = {it.field for it in fields}
    patterns = [schema_pattern(path, described) for path in paths]
    positions: dict[Path, list[int]] = {}
    for place, (path, pattern) in enumerate(zip(paths, patterns, strict=True)):
        for each in {path, pattern}:
            positions.setdefault(each, []).append(place)
    return JoinedRuns(
        ids,
        (len(bases), len(news)),
        np.logical_or.reduce(absent[len(bases) :]),
        sorted(second - first),
        known,
        [*paths],
        cells,
        rows,
        _confident_leaves(ledgers, at, known, len(bases)),
        rule,
        positions,
        patterns,
    )


def _ledger(run: Run, which: str) -> Blocks:
    if run.evaluation.ledger.blocks is None:
        found, hint = (
            "the run keeps no rows of its documents",
            "evaluate again with -o run.json --rows inline, or --documents rows.parquet",
        )
        raise UsageError([Problem(which, found, "per_document", hint)])
    return run.evaluation.ledger.blocks


def _statuses(ledger: Blocks, which: str) -> tuple[dict[str, Status], set[str]]:
    """Return the status of each document of a run, by id, and the ids of those that it compared."""
    statuses: dict[str, Status] = {}
    compared: set[str] = set()
    for it in ledger.documents():
        statuses[it.id] = it.status
        if it.score is not None:
            if it.id in compared:
                told = f"the run has two documents with the id {it.id}"
                raise UsageError([Problem(which, told, "different ids")])
            compared.add(it.id)
    return statuses, compared


def _parts(
    ledger: Blocks, at: Mapping[str, int], paths: dict[FieldNames, int]
) -> Iterator[tuple[RunRows, IntArray]]:
    """Yield the rows of each block that say anything of a document of the first side, its cells."""
    to = np.array([paths.setdefault(path, len(paths)) for path in ledger.field_numbers])
    for block in ledger:
        places = np.array([at.get(name, _NOWHERE) for name in block.documents.ids], np.int64)
        document = places[block.document_of_rows()]
        cell, score = block.cell_and_score[block.code_of_rows()].T.astype(np.intp)
        rows = RunRows(block.field_of_rows(to), document, cell, block.scores[score])
        some: NDArray[np.bool_] = np.any(block.cells, axis=1)
        told = (some[cell] | ~np.isnan(rows.score)) & (document >= 0)
        yield _rows_at(rows, told), block.cells.astype(np.int64)


def _rows(
    parts: Sequence[Sequence[tuple[RunRows, IntArray]]],
    paths: Sequence[FieldNames],
    known: Sequence[Known],
    bases: int,
) -> tuple[IntArray, list[RunRows]]:
    """Return the cells of all runs, and the rows of each."""
    table, to = encode_rows(np.concatenate([cells for run in parts for _, cells in run]))
    lost = [_missed(table, inside=inside) for inside in (False, True)]
    cells, places = encode_rows(np.concatenate([table, *lost]))
    starts, found = 0, []
    for run in parts:
        of_blocks = []
        for rows, cells_of_block in run:
            of_blocks.append(rows._replace(cell=places[to[starts + rows.cell]]))
            starts += len(cells_of_block)
        found.append(_in_one(of_blocks))
    missed = np.zeros((2, len(cells)), np.int64)  # by whether a field is inside another one
    missed[:, places[: len(table)]] = places[len(table) :].reshape(2, -1)
    within = np.array([len(path) > 1 for path in paths], np.intp)
    first = [*zip(found[:bases], known[:bases], strict=True)]
    return cells, [
        _ordered([rows, *_missing(of_rows, first, missed, within)], len(known[0].status))
        for rows, of_rows in zip(found, known, strict=True)
    ]


def _rows_at(rows: RunRows, which: "slice | NDArray[Any]") -> RunRows:
    return RunRows(rows.field[which], rows.document[which], rows.cell[which], rows.score[which])


def _missed(cells: IntArray, *, inside: bool) -> IntArray:
    """Return the cells that fields would have without a prediction.

    Of fields inside others only `leaves` counts: a missed object is one unit.
    """
    found = np.zeros_like(cells)
    by_mode = cells[:, :N_UNIT_COUNTS].reshape(len(cells), -1, len(OUTCOME_NAMES))
    into = found[:, :N_UNIT_COUNTS].reshape(by_mode.shape)
    into[..., 3] = by_mode[..., [0, 1, 3]].sum(axis=-1)
    into[..., 4] = by_mode[..., 4]
    if inside:
        into[:, : LEAF_COUNTS.start // len(OUTCOME_NAMES)] = 0
    found[:, :N_UNIT_COUNTS] = into.reshape(len(cells), N_UNIT_COUNTS)
    _, items, _, invented = cells[:, ITEM_COUNTS].T
    found[:, ITEM_COUNTS] = np.stack(
        [0 * items, items - invented, items - invented, 0 * items], axis=1
    )
    return found


def _missing(
    run: Known,
    first: Sequence[tuple[RunRows, Known]],
    missed: IntArray,
    within: NDArray[np.intp],
) -> Iterator[RunRows]:
    """Yield the rows of documents that a run did not compare, all missed."""
    stand_ins = _stand_ins(run, [known for _, known in first])
    for (base, _), which in zip(first, stand_ins, strict=True):
        rows = _rows_at(base, which[base.document])
        score = np.where(np.isnan(rows.score), np.nan, 0.0)
        yield rows._replace(cell=missed[within[rows.field], rows.cell], score=score)


def _in_one(parts: Sequence[RunRows]) -> RunRows:
    return RunRows(*map(np.concatenate, zip(*parts, strict=True)))


def _ordered(parts: Sequence[RunRows], documents: int) -> RunRows:
    whole = _in_one(parts)
    return _rows_at(whole, np.argsort(whole.field * documents + whole.document, kind="stable"))


def _confident_leaves(
    ledgers: Sequence[Blocks], at: Mapping[str, int], known: Sequence[Known], bases: int
) -> list[list[ConfidentValues]]:
    """Return the values with a confidence; of documents not compared those before."""
    found: list[list[ConfidentValues]] = []
    for ledger in ledgers:
        found.append([])
        for block in ledger:
            leaves = block.documents.confident_values
            if leaves is not None:
                names = block.documents.ids
                places = np.array([at.get(name, _NOWHERE) for name in names])[leaves.document]
                some = leaves.with_documents(places).select(places >= 0)
                found[-1].append(some)
    for run, mine in zip(known, found, strict=True):
        stand_ins = _stand_ins(run, known[:bases])
        for its, which in zip([[*each] for each in found[:bases]], stand_ins, strict=True):
            if which.any():
                mine += [leaves.select(which[leaves.document]) for leaves in its]
    return found


def _stand_ins(run: Known, first: Sequence[Known]) -> Iterator[NDArray[np.bool_]]:
    """Yield for each run of the first side the documents that it stands in for in a run."""
    left = ~run.compared
    for known in first:
        yield left & known.compared
        left = left & ~known.compared
