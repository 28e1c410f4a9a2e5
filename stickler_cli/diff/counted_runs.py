"""What was counted in every document of all runs of two sides, as a table of numbers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from math import lcm
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.values import dataclass
from stickler_cli.score.accounts import SCORE, counts_by_mode
from stickler_cli.score.conditions import pattern_of
from stickler_cli.score.counts import RateRule
from stickler_cli.score.moments import NAMES
from stickler_cli.score.tally import COUNTING_MODES, SCORE_UNIT, units_of
from .changes import Figure
from .paired_runs import Pairs, Record
from .significance import Sample

Column: TypeAlias = tuple[Path, str]  # a field, and one of the counting modes, or the score

SAMPLE_UNIT: Final = 1 << 30
"""Scores in samples are whole numbers of 2**-30, so that their sums are exact and the same on every
machine; what is reported has all digits."""


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
