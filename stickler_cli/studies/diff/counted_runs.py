"""The figures of two sides, and what was counted of them in every document of all runs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.result import FieldInfo, Outcome
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from stickler_cli.score.conditions import pattern_of
from stickler_cli.score.counts import RateRule
from stickler_cli.score.ledger import SCORE
from stickler_cli.score.moments import NAMES
from stickler_cli.score.tally import COUNTING_MODES, SCORE_UNIT, sums_of_units
from .changes import WHOLLY_RIGHT, Figure
from .joined_runs import JoinedRuns
from .significance import Sample

LOST: Final = [Outcome.FD, Outcome.FA, Outcome.FN]

SAMPLE_UNIT: Final = 1 << 30
"""Scores in samples are whole numbers of 2**-30, so that their sums are exact and the same on every
machine; what is reported has all digits."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What was counted in every document of all runs."""

    runs: JoinedRuns
    rule: RateRule
    fields: Mapping[Path, Sequence[int]]
    """The positions of fields among the paths of the runs, by their path; the keys of a map also
    together, by the path under which the schema describes them."""
    patterns: Sequence[Path]
    """The path under which the schema describes each of the paths of the runs."""

    @property
    def ids(self) -> Sequence[str]:
        """The documents of the first side."""
        return self.runs.ids

    @property
    def sides(self) -> tuple[int, int]:
        """How many runs either side has."""
        return self.runs.sides

    @property
    def paths(self) -> Sequence[Path]:
        """The fields in which anything was counted, keys of maps as `*`."""
        told = {int(field) for rows in self.runs.rows for field in np.unique(rows.field)}
        return sorted({self.patterns[at] for at in told} - {()})

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
        if figure.metric == SCORE:
            sums = [self._score_sums(figure.path, run) for run in range(sum(self.sides))]
            parts = [[sum(part) for part in zip(*sums[side], strict=True)] for side in sides]
            of_sides = [(units, scored * SCORE_UNIT) for units, scored in parts]
        elif figure.metric == WHOLLY_RIGHT:
            of_sides = self._sides(self._parts(figure)).sum(axis=2).tolist()
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
        """Return the counts of a field, (2 sides, 5 outcomes, documents).

        Of a side with several runs their sums; `times` as large as in one run.
        """
        return self._sides(self.of_runs(path, mode))

    def of_runs(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field, (runs, 5 outcomes, documents)."""
        first = COUNTING_MODES.index(mode) * len(NAMES)
        cells = self.runs.cells[:, first : first + len(NAMES)]
        found = np.zeros((sum(self.sides), len(NAMES), len(self.ids)), np.int64)
        for run, into in enumerate(found):
            for field in self.fields.get(path, ()):
                rows = self.runs.of_field(run, field)
                into[:, rows.document] += cells[rows.cell].T
        return found

    def _parts(self, figure: Figure) -> NDArray[np.int64]:
        """Return what a figure divides, and by what, in every run, (runs, 2, documents)."""
        if figure.metric == WHOLLY_RIGHT:
            lost = self.of_runs((), COUNTING_MODES[-1])[:, LOST].any(axis=1)
            return np.stack([~lost, np.ones_like(lost)], axis=1).astype(np.int64)
        if figure.metric != SCORE:
            every = self.of_runs(figure.path, figure.mode)
            return np.array([self.rule.fractions([*counts])[figure.metric] for counts in every])
        found = np.zeros((sum(self.sides), 2, len(self.ids)), np.int64)
        for run, into in enumerate(found):
            for document, score in self._scores(figure.path, run):
                into[0, document] += np.rint(score * SAMPLE_UNIT).astype(np.int64)
                into[1, document] += SAMPLE_UNIT
        return found

    def _scores(
        self, path: Path, run: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return documents and their scores of a field, for each key that it stands for."""
        every = [self.runs.of_field(run, field) for field in self.fields.get(path, ())]
        known = [(rows, ~np.isnan(rows.score)) for rows in every]
        return [(rows.document[some], rows.score[some]) for rows, some in known]

    def _score_sums(self, path: Path, run: int) -> tuple[int, int]:
        """Return the sum of scores of a field, in `SCORE_UNIT`s, and how many there are."""
        scores = np.concatenate([np.zeros(0), *(it for _, it in self._scores(path, run))])
        units = sum(sums_of_units(scores, np.zeros(1, np.intp))) if len(scores) else 0
        return units, len(scores)

    def _sides(self, of_runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over the runs of either side, multiplied as `times` says."""
        first, second = self.sides
        return np.array(
            [
                of_runs[:first].sum(axis=0) * (self.times // first),
                of_runs[first:].sum(axis=0) * (self.times // second),
            ]
        )


def counted(runs: JoinedRuns, fields: Sequence[FieldInfo], rule: RateRule) -> Counted:
    """Return what was counted in every document; the fields are those of the schemas."""
    known = {it.path for it in fields}
    found: dict[Path, list[int]] = {}
    patterns = [pattern_of(path, known) for path in runs.paths]
    for at, path in enumerate(runs.paths):
        for each in {path, patterns[at]}:
            found.setdefault(each, []).append(at)
    return Counted(runs, rule, found, patterns)
