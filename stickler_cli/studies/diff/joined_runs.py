"""Join the runs of two sides by document, and count each figure in every run.

The first side has the runs of the old system (`base`), the second side those of the new system.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.result import FieldInfo, Outcome
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.figures import number_of
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
"""For significance tests, scores are rounded to multiples of 1/`SAMPLE_UNIT`. All machines then get
the same sums. Reported figures are not rounded in this way."""

_NOWHERE: Final = -1


class RunRows(NamedTuple):
    """The counts and scores of one run.

    The arrays have one entry for each field in each document.
    """

    field: IntArray
    document: IntArray
    cell: IntArray
    """Index of the row of counts in `JoinedRuns.cells`."""
    score: NDArray[np.float64]
    """Mean score of the field in the document; NaN if it has no score there."""


class RunDocuments(NamedTuple):
    """The status of each document in one run, and whether the run compared the document."""

    status: Sequence[Status | None]
    """Status of each document; None if the run does not have the document."""
    compared: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRuns:
    """The counts and scores of the old runs (first side) and the new runs (second side).

    They are joined by document. The documents are those that at least one run of the first side
    compared, sorted by id.
    """

    ids: Sequence[str]
    sides: tuple[int, int]
    """Number of runs on each side. Sequences that have an entry for each run begin with the first
    side."""
    lost: NDArray[np.bool_]
    """For each document: true if at least one run of the second side did not compare it."""
    only_new: Sequence[str]
    """Ids of the documents that only the second side compared."""
    known: Sequence[RunDocuments]
    """For each run, the status of every document, and whether the run compared it."""
    paths: Sequence[FieldNames]
    """Paths of all fields. Every key of a map is a field of its own."""
    cells: IntArray
    """Distinct rows of counts, (n, CELL). A row has all counts of one field in one document. Equal
    rows are stored only once."""
    rows: Sequence[RunRows]
    """Counts and scores of each run. If a run did not compare a document, all values of the
    document count as missed. The true values are then taken from a run of the first side."""
    leaves: Sequence[Sequence[ConfidentValues]]
    """Values with a confidence, for each run. Their documents are given as positions in `ids`."""

    rule: RateRule
    fields: Mapping[Path, Sequence[int]]
    """Maps each field to its positions in `paths`. A map has several: the positions of its keys."""
    patterns: Sequence[Path]
    """For each entry of `paths`, the path that the schema declares, with `*` for keys of maps."""

    def of_field(self, run: int, field: int) -> RunRows:
        """Return the rows of one field in one run."""
        rows = self.rows[run]
        start, end = np.searchsorted(rows.field, (field, field + 1)).tolist()
        return _rows_at(rows, slice(start, end))

    def status_before(self, document: int) -> Status:
        """Return the status of a document in the first old run that compared it."""
        first = self.known[: self.sides[0]]
        status = next(run.status[document] for run in first if run.compared[document])
        return status or Status.EVALUATED

    def status_after(self, document: int) -> str:
        """Return the status of a document in the first new run, or "" if the run lacks it."""
        status = self.known[self.sides[0]].status[document]
        return "" if status is None else status.value

    @property
    def counted(self) -> Sequence[Path]:
        """The paths of all fields that have counts. Keys of maps are written as `*`."""
        counted_fields = {int(field) for rows in self.rows for field in np.unique(rows.field)}
        return sorted({self.patterns[field_index] for field_index in counted_fields} - {()})

    @property
    def times(self) -> int:
        """The least common multiple of the numbers of runs on both sides.

        Sums of counts are scaled as if each side had this number of runs. Sides with different
        numbers of runs can then be compared.
        """
        return lcm(*self.sides)

    def sample(self, figure: Figure) -> Sample:
        """Return the dividends and divisors of a figure in each document, for both sides.

        Each is a sum over all runs of the side.
        """
        before, after = self._sum_sides(self._count_fractions(figure))
        values = [1.0 if value is None else value for value in self.in_runs(figure)]
        first = self.sides[0]
        return Sample(
            before.astype(np.float64),
            after.astype(np.float64),
            (values[:first], values[first:]),
            paired=figure.metric == WHOLLY_RIGHT and self.sides == (1, 1),
        )

    def in_runs(self, figure: Figure) -> list[float | None]:
        """Return the value of a figure in each run, or None where its divisor is 0."""
        sums = self._count_fractions(figure).sum(axis=2).tolist()
        return [above / below if below else None for above, below in sums]

    def exact(self, figure: Figure) -> list[Fraction | None]:
        """Return the figure of each side as an exact fraction, or None where its divisor is 0."""
        sides = slice(self.sides[0]), slice(self.sides[0], None)
        if figure.metric == SCORE_KEY:
            sums = [self._score_sums(figure.field, run) for run in range(sum(self.sides))]
            totals = [[sum(column) for column in zip(*sums[side], strict=True)] for side in sides]
            of_sides = [(units, scored * SCORE_SCALE) for units, scored in totals]
        else:
            of_sides = self._sum_sides(self._count_fractions(figure)).sum(axis=2).tolist()
        return [Fraction(above, below) if below else None for above, below in of_sides]

    def change(self, figure: Figure) -> float | None:
        """Return the change of a figure without rounding errors: from 0.90 to 0.89 it is -0.01.

        Return None if the divisor is 0 on a side.
        """
        before, after = self.exact(figure)
        return None if before is None or after is None else float(after - before)

    def counts(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field on each side, (2 sides, 5 outcomes, documents).

        The counts of all runs of a side are added up. Each sum is then scaled as if the side had
        `times` runs.
        """
        return self._sum_sides(self.of_runs(path, mode))

    def of_runs(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field in each run, (runs, 5 outcomes, documents)."""
        return self._sum_cells(path, self._counts_of(mode))

    def has_items(self, path: Path) -> bool:
        """Return whether any run counted items or objects of a field."""
        return bool(self._sum_cells(path, self.cells[:, ITEM_COUNTS]).any())

    def exact_fractions(self, path: Path, name: str) -> list[tuple[IntArray, IntArray]]:
        """Return a rate of exact items as (dividends, divisors) for each run.

        Both arrays have one entry for each document.
        """
        items = self._sum_cells(path, self.cells[:, ITEM_COUNTS])
        fractions = []
        for exact, all_items, missed, invented in items:
            wrong = all_items - exact - missed - invented
            # The order of outcomes is TP, FD, FA, FN, TN. Items that both sides lack are not
            # counted.
            counts = (exact, wrong, invented, missed, np.zeros_like(exact))
            fractions.append(EXACT_ITEM_RULE.rate_fractions(counts)[name])
        return fractions

    def _sum_cells(self, path: Path, cells: IntArray) -> IntArray:
        """Return the counts of a field in each run and document; shape (runs, columns, documents).

        `cells` are the wanted columns of `self.cells`. If the field is a map, the counts of all its
        keys are added up.
        """
        sums = np.zeros((sum(self.sides), cells.shape[1], len(self.ids)), np.int64)
        for run, run_sums in enumerate(sums):
            for field in self.fields.get(path, ()):
                rows = self.of_field(run, field)
                run_sums[:, rows.document] += cells[rows.cell].T
        return sums

    def _counts_of(self, mode: str) -> IntArray:
        """Return the counts of one counting mode in all rows of `cells`, (n, 5 outcomes)."""
        first = COUNTING_MODES.index(mode) * len(OUTCOME_NAMES)
        return self.cells[:, first : first + len(OUTCOME_NAMES)]

    def right_and_wrong(
        self, fields: Sequence[int], mode: str
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two masks (runs, documents): where `fields` are right, and where they are wrong.

        The fields are right if they have values and no errors. They are wrong if any of them has an
        error. If they have no values, they are neither.
        """
        cells = self._counts_of(mode)
        states = np.array([cells.any(axis=1), cells[:, LOST].any(axis=1)])
        masks = np.zeros((2, sum(self.sides), len(self.ids)), np.bool_)
        for run in range(sum(self.sides)):
            for field in fields:
                rows = self.of_field(run, field)
                masks[:, run, rows.document] |= states[:, rows.cell]
        has_values, has_errors = masks
        return has_values & ~has_errors, has_errors

    def broken_and_fixed(
        self, fields: Sequence[int], mode: str
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two masks of documents: where the fields broke, and where they were fixed.

        Fields broke if they are right in the first run and wrong in the second. They were fixed in
        the opposite case. If a side has several runs, right (or wrong) means: in more than half of
        them.
        """
        first, states = self.sides[0], self.right_and_wrong(fields, mode)
        right_before, wrong_before = (mask[:first].mean(axis=0) > 0.5 for mask in states)
        right_after, wrong_after = (mask[first:].mean(axis=0) > 0.5 for mask in states)
        return right_before & wrong_after, wrong_before & right_after

    def wholly_right(self) -> NDArray[np.bool_]:
        """Return a mask (runs, documents): true where the run has every value right."""
        lost_counts: IntArray = self.of_runs((), COUNTING_MODES[-1])[:, LOST].sum(axis=1)
        is_right: NDArray[np.bool_] = lost_counts == 0
        return is_right

    def wholly_right_by_side(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return a mask of documents for each side: true where most of its runs lost no value."""
        is_right, first = self.wholly_right(), self.sides[0]
        return is_right[:first].mean(axis=0) > 0.5, is_right[first:].mean(axis=0) > 0.5

    def _count_fractions(self, figure: Figure) -> NDArray[np.int64]:
        """Return the dividend and the divisor of a figure as an array (runs, 2, documents)."""
        if figure.metric == WHOLLY_RIGHT:
            is_right = self.wholly_right()
            return np.stack([is_right, np.ones_like(is_right)], axis=1).astype(np.int64)
        if figure.metric in EXACT_METRICS:
            name = figure.metric.removeprefix("exact_")
            return np.array(self.exact_fractions(figure.field, name))
        if figure.metric != SCORE_KEY:
            counts_of_runs = self.of_runs(figure.field, figure.mode)
            return np.array(
                [self.rule.rate_fractions([*counts])[figure.metric] for counts in counts_of_runs]
            )
        fractions = np.zeros((sum(self.sides), 2, len(self.ids)), np.int64)
        for run, run_fractions in enumerate(fractions):
            for document, score in self._scores(figure.field, run):
                run_fractions[0, document] += np.rint(score * SAMPLE_UNIT).astype(np.int64)
                run_fractions[1, document] += SAMPLE_UNIT
        return fractions

    def _scores(
        self, path: Path, run: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the scores of a field in a run, as pairs of arrays (documents, scores).

        Documents in which the field has no score are left out. A map has one pair for each of its
        keys; other fields have one pair.
        """
        rows_of_keys = [self.of_field(run, field) for field in self.fields.get(path, ())]
        rows_and_masks = [(rows, ~np.isnan(rows.score)) for rows in rows_of_keys]
        return [
            (rows.document[has_score], rows.score[has_score]) for rows, has_score in rows_and_masks
        ]

    def _score_sums(self, path: Path, run: int) -> tuple[int, int]:
        """Return (sum of a field's scores times `SCORE_SCALE`, number of scores)."""
        scores = np.concatenate(
            [np.zeros(0), *(key_scores for _, key_scores in self._scores(path, run))]
        )
        units = sum(sum_scores(scores, np.zeros(1, np.intp))) if len(scores) else 0
        return units, len(scores)

    def _sum_sides(self, of_runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up the counts of all runs of each side.

        Sides may have different numbers of runs. Each sum is therefore scaled as if the side had
        `times` runs.
        """
        sides = zip(np.split(of_runs, [self.sides[0]]), self.sides, strict=True)
        return np.array([of_side.sum(axis=0) * (self.times // runs) for of_side, runs in sides])


def join_runs(
    bases: Sequence[Run], news: Sequence[Run], fields: Iterable[FieldInfo], rule: RateRule
) -> JoinedRuns:
    """Join the runs of two sides by document. Each side has at least one run.

    `fields` are the fields of the schemas of both sides.

    Raises:
        UsageError: a run keeps no rows of its documents, or compared two documents of the same id.
        NotComparableError: no document was compared on both sides.
    """
    names = ["BASE"] * len(bases) + ["NEW"] * len(news)
    pairs = zip(names, (*bases, *news), strict=True)
    ledgers = [_ledger(run, side_name) for side_name, run in pairs]
    documents = [
        _read_statuses(ledger, side_name) for side_name, ledger in zip(names, ledgers, strict=True)
    ]
    sides = documents[: len(bases)], documents[len(bases) :]
    first, second = (set[str]().union(*(compared for _, compared in side)) for side in sides)
    if not first & second:
        finding = (
            f"the runs have no document in common ({number_of(len(first), 'document')} in BASE, "
            f"{number_of(len(second), 'document')} in NEW)"
        )
        raise NotComparableError([Problem("", finding, "two runs of the same documents")])
    ids = sorted(first)
    document_index = {name: index for index, name in enumerate(ids)}
    run_documents = [
        RunDocuments([*map(status.get, ids)], np.array([name in compared for name in ids]))
        for status, compared in documents
    ]
    paths: dict[FieldNames, int] = {}
    blocks_of_runs = [[*_read_rows(ledger, document_index, paths)] for ledger in ledgers]
    cells, rows = _join_rows(blocks_of_runs, [*paths], run_documents, len(bases))
    absent = np.array([~documents_of_run.compared for documents_of_run in run_documents])
    described = {field_info.field for field_info in fields}
    patterns = [schema_pattern(path, described) for path in paths]
    positions: dict[Path, list[int]] = {}
    for index, (path, pattern) in enumerate(zip(paths, patterns, strict=True)):
        for key in {path, pattern}:
            positions.setdefault(key, []).append(index)
    return JoinedRuns(
        ids=ids,
        sides=(len(bases), len(news)),
        lost=np.logical_or.reduce(absent[len(bases) :]),
        only_new=sorted(second - first),
        known=run_documents,
        paths=[*paths],
        cells=cells,
        rows=rows,
        leaves=_collect_confident_values(ledgers, document_index, run_documents, len(bases)),
        rule=rule,
        fields=positions,
        patterns=patterns,
    )


def _ledger(run: Run, side_name: str) -> Blocks:
    if run.evaluation.ledger.blocks is None:
        finding = "the run has no row for each document"
        hint = "evaluate again with -o run.json --rows inline, or with --documents rows.parquet"
        raise UsageError(
            [Problem(source=side_name, found=finding, expected="a run with rows", hint=hint)]
        )
    return run.evaluation.ledger.blocks


def _read_statuses(ledger: Blocks, side_name: str) -> tuple[dict[str, Status], set[str]]:
    """Return the status of each document of a run, and the ids of the compared documents.

    The statuses are in a dict, keyed by the ids of the documents.

    Raises:
        UsageError: the run compared two documents of the same id.
    """
    statuses: dict[str, Status] = {}
    compared: set[str] = set()
    for document in ledger.documents():
        statuses[document.id] = document.status
        if document.score is not None:
            if document.id in compared:
                finding = f"two documents of the run have the id {document.id!r}"
                raise UsageError([Problem(side_name, finding, "different ids")])
            compared.add(document.id)
    return statuses, compared


def _read_rows(
    ledger: Blocks, document_index: Mapping[str, int], paths: dict[FieldNames, int]
) -> Iterator[tuple[RunRows, IntArray]]:
    """Yield (rows, cells) for each block of a run's documents.

    Equal counts are stored once in `cells`, and `rows.cell` has their positions. Only documents in
    `document_index` are included. New fields are added to `paths`.
    """
    field_positions = np.array(
        [paths.setdefault(path, len(paths)) for path in ledger.field_numbers]
    )
    for block in ledger:
        document_indexes = np.array(
            [document_index.get(name, _NOWHERE) for name in block.documents.ids], np.int64
        )
        document = document_indexes[block.document_of_rows()]
        cell, score = block.cell_and_score[block.code_of_rows()].T.astype(np.intp)
        rows = RunRows(
            field=block.field_of_rows(field_positions),
            document=document,
            cell=cell,
            score=block.scores[score],
        )
        has_counts: NDArray[np.bool_] = np.any(block.cells, axis=1)
        has_content = (has_counts[cell] | ~np.isnan(rows.score)) & (document >= 0)
        yield _rows_at(rows, has_content), block.cells.astype(np.int64)


def _join_rows(
    blocks_of_runs: Sequence[Sequence[tuple[RunRows, IntArray]]],
    paths: Sequence[FieldNames],
    run_documents: Sequence[RunDocuments],
    n_bases: int,
) -> tuple[IntArray, list[RunRows]]:
    """Join the blocks of all runs, and return the distinct counts and the rows of each run.

    The first result, `cells`, is an array of counts without duplicates. In a row, `cell` is the
    index of the counts in `cells`. If a run did not compare a document, it gets rows in which all
    values of the document count as missed. `n_bases` is the number of runs on the first side.
    """
    all_cells = [cells for run in blocks_of_runs for _, cells in run]
    counted, counted_index = encode_rows(np.concatenate(all_cells))
    # The counts of a missed value are cells, too: first those of top-level, then of nested fields.
    missed = [_count_as_missed(counted, is_nested=is_nested) for is_nested in (False, True)]
    cells, cell_index = encode_rows(np.concatenate([counted, *missed]))

    n_earlier, rows_of_runs = 0, []
    for run in blocks_of_runs:
        rows_of_blocks = []
        for rows, cells_of_block in run:
            cell = cell_index[counted_index[n_earlier + rows.cell]]
            rows_of_blocks.append(rows._replace(cell=cell))
            n_earlier += len(cells_of_block)
        rows_of_runs.append(_concatenate_rows(rows_of_blocks))

    # Indexed by whether the field is nested, and by the cell of a document that was compared.
    missed_cell = np.zeros((2, len(cells)), np.int64)
    missed_cell[:, cell_index[: len(counted)]] = cell_index[len(counted) :].reshape(2, -1)
    is_nested_field = np.array([len(path) > 1 for path in paths], np.intp)
    first_side = [*zip(rows_of_runs[:n_bases], run_documents[:n_bases], strict=True)]
    n_documents = len(run_documents[0].status)
    joined_rows = []
    for rows, documents in zip(rows_of_runs, run_documents, strict=True):
        missed_rows = _make_missed_rows(documents, first_side, missed_cell, is_nested_field)
        joined_rows.append(_sort_rows([rows, *missed_rows], n_documents))
    return cells, joined_rows


def _rows_at(rows: RunRows, selection: "slice | NDArray[Any]") -> RunRows:
    return RunRows(
        field=rows.field[selection],
        document=rows.document[selection],
        cell=rows.cell[selection],
        score=rows.score[selection],
    )


def _count_as_missed(cells: IntArray, *, is_nested: bool) -> IntArray:
    """Return the counts that each row of `cells` would have if the prediction were empty.

    If `is_nested` is True, the counts are of fields inside other fields. Such fields then have
    counts only in the mode `leaves`, because the other modes count the missed parent as one unit.
    """
    missed_cells = np.zeros_like(cells)
    by_mode = cells[:, :N_UNIT_COUNTS].reshape(len(cells), -1, len(OUTCOME_NAMES))
    missed_by_mode = np.zeros_like(by_mode)
    # The order of outcomes is TP, FD, FA, FN, TN. Whatever is in the ground truth becomes FN.
    missed_by_mode[..., 3] = by_mode[..., [0, 1, 3]].sum(axis=-1)
    missed_by_mode[..., 4] = by_mode[..., 4]
    if is_nested:
        missed_by_mode[:, : LEAF_COUNTS.start // len(OUTCOME_NAMES)] = 0
    missed_cells[:, :N_UNIT_COUNTS] = missed_by_mode.reshape(len(cells), N_UNIT_COUNTS)
    _, items, _, invented = cells[:, ITEM_COUNTS].T
    missed_cells[:, ITEM_COUNTS] = np.stack(
        [0 * items, items - invented, items - invented, 0 * items], axis=1
    )
    return missed_cells


def _make_missed_rows(
    run: RunDocuments,
    first_side: Sequence[tuple[RunRows, RunDocuments]],
    missed_cell: IntArray,
    is_nested_field: NDArray[np.intp],
) -> Iterator[RunRows]:
    """Yield rows for the documents that a run did not compare. All their values count as missed.

    The true values are taken from the runs of the first side. The index of `missed_cell[i]` is the
    position of the counts of a compared document. The entry is the position of the counts that the
    document would have if all its true values were missed: `missed_cell[1]` for a nested field, and
    `missed_cell[0]` for any other field. The shape of `missed_cell` is (2, n_cells).
    """
    stand_ins = _find_stand_ins(run, [base_documents for _, base_documents in first_side])
    for (base_rows, _), stands_in in zip(first_side, stand_ins, strict=True):
        rows = _rows_at(base_rows, stands_in[base_rows.document])
        score = np.where(np.isnan(rows.score), np.nan, 0.0)
        yield rows._replace(cell=missed_cell[is_nested_field[rows.field], rows.cell], score=score)


def _concatenate_rows(row_sets: Sequence[RunRows]) -> RunRows:
    return RunRows(*map(np.concatenate, zip(*row_sets, strict=True)))


def _sort_rows(row_sets: Sequence[RunRows], n_documents: int) -> RunRows:
    rows = _concatenate_rows(row_sets)
    return _rows_at(rows, np.argsort(rows.field * n_documents + rows.document, kind="stable"))


def _collect_confident_values(
    ledgers: Sequence[Blocks],
    document_index: Mapping[str, int],
    run_documents: Sequence[RunDocuments],
    n_bases: int,
) -> list[list[ConfidentValues]]:
    """Return a list for each run with the values that have a confidence.

    If a run did not compare a document, the values of this document are copied from another run.
    This is the first one of the base runs that compared the document.
    """
    values_of_runs: list[list[ConfidentValues]] = []
    for ledger in ledgers:
        run_values = []
        for block in ledger:
            leaves = block.documents.confident_values
            if leaves is not None:
                ids = block.documents.ids
                document_of_block = np.array([document_index.get(name, _NOWHERE) for name in ids])
                documents = document_of_block[leaves.document]
                run_values.append(leaves.with_documents(documents).select(documents >= 0))
        values_of_runs.append(run_values)

    base_values = [[*values] for values in values_of_runs[:n_bases]]
    for run, run_values in zip(run_documents, values_of_runs, strict=True):
        stand_ins = _find_stand_ins(run, run_documents[:n_bases])
        for values, stands_in in zip(base_values, stand_ins, strict=True):
            if stands_in.any():
                run_values += [leaves.select(stands_in[leaves.document]) for leaves in values]
    return values_of_runs


def _find_stand_ins(
    run: RunDocuments, first: Sequence[RunDocuments]
) -> Iterator[NDArray[np.bool_]]:
    """Find the runs that replace `run` in documents that `run` did not compare.

    Such a document is taken from the first run in `first` that compared the document. `first` has
    the runs of the first side. For each of these runs, yield a mask of the documents that are taken
    from it.
    """
    is_left = ~run.compared
    for base_documents in first:
        yield is_left & base_documents.compared
        is_left = is_left & ~base_documents.compared
