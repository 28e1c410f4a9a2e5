"""The documents of two runs side by side: which there are, and what was counted in each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.diff.changes import Figure
from stickler_cli.diff.significance import Sample
from stickler_cli.score.accounts import NAMES, SCORE, counts_by_mode, decoded
from stickler_cli.score.conditions import FieldInfo, pattern_of
from stickler_cli.score.rates import RateRule
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES, SCORE_UNIT, units_of

Record: TypeAlias = Mapping[str, Any]
"""The account of a document, as JSON values."""

Column: TypeAlias = tuple[Path, str]
"""A field, and one of the counting modes, or the score."""

SAMPLE_UNIT: Final = 1 << 30
"""Scores in samples are whole numbers of 2**-30, so that their sums are exact and the same on every
machine; what is reported has all digits."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A document of the first run, and what became of it in the second one."""

    id: str
    line_before: bytes
    """Its account, encoded: a tenth of what its values take in memory."""
    line_after: bytes | None
    """None where the second run did not compare it."""
    status_after: str
    """Empty where the second run knows nothing of it."""

    @property
    def before(self) -> Record:
        """The account in the first run."""
        return decoded(self.line_before)

    @property
    def after(self) -> Record | None:
        """The account in the second run; None where that did not compare it."""
        return None if self.line_after is None else decoded(self.line_after)


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """The documents that the first run compared, in the order of their ids."""

    pairs: Sequence[Pair]
    lost: Sequence[str]
    """Those that the second run did not compare."""
    only_new: Sequence[str]
    """Documents that only the second run compared."""


def paired(base: Run, new: Run) -> PairedRuns:
    """Return the documents of two runs side by side.

    Raises:
        UsageError: a run has no accounts, or two of the same document.
        NotComparableError: no document is in both.
    """
    (before, _), (after, statuses) = _compared(base, "BASE"), _compared(new, "NEW")
    if not before.keys() & after.keys():
        found = f"no document is in both runs ({len(before)} in BASE, {len(after)} in NEW)"
        raise NotComparableError([Problem("", found, "two runs of the same documents")])
    return PairedRuns(
        [
            Pair(name, line, after.get(name), statuses.get(name, ""))
            for name, line in before.items()
        ],
        [name for name in before if name not in after],
        [name for name in after if name not in before],
    )


def _compared(run: Run, which: str) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the accounts of the documents that a run compared, by id, and the status of all."""
    accounts = run.evaluation.accounts
    if accounts is None:
        found, hint = "the run has no accounts of its documents", "evaluate again with -o run.json"
        raise UsageError([Problem(which, found, "per_document", hint)])
    lines: dict[str, bytes] = {}
    statuses: dict[str, str] = {}
    for name, line in sorted(accounts.lines):
        record = decoded(line)
        statuses[name] = record["status"]
        if record[SCORE] is not None:
            if name in lines:
                told = f"the run has two documents with the id {name}"
                raise UsageError([Problem(which, told, "different ids")])
            lines[name] = line
    return lines, statuses


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted in every document of both runs."""

    columns: Mapping[Column, NDArray[np.int64]]
    """Of a counting mode (2 runs, 5 outcomes, documents), of scores (2 runs, 2, documents): the
    score in `SAMPLE_UNIT`s, and as many units as it could be."""
    score_sums: Mapping[Column, tuple[list[int], list[int]]]
    """Of scores, for each run: their sum in `SCORE_UNIT`s, and how many there are."""
    paths: Sequence[Path]
    """The fields in which anything was counted, keys of maps as `*`; in no order."""
    ids: Sequence[str]
    """Of the documents."""
    rule: RateRule
    """How rates come of counts."""

    def sample(self, figure: Figure) -> Sample:
        """Return what a figure divides, and by what, in every document."""
        if figure.metric == SCORE:
            before, after = self._column((figure.path, SCORE), 2).astype(np.float64)
        else:
            before, after = (
                np.array(self.rule.fractions(counts)[figure.metric], np.float64)
                for counts in self.counts(figure.path, figure.mode)
            )
        return Sample(before, after)

    def exact(self, figure: Figure) -> list[Fraction | None]:
        """Return a figure in both runs; None where there is nothing to divide by."""
        if figure.metric == SCORE:
            sums = self.score_sums.get((figure.path, SCORE), ([0, 0], [0, 0]))
            parts = [(units, scored * SCORE_UNIT) for units, scored in sums]
        else:
            parts = [
                self.rule.fractions(counts.tolist())[figure.metric]
                for counts in self.counts(figure.path, figure.mode).sum(axis=2)
            ]
        return [Fraction(above, below) if below else None for above, below in parts]

    def change(self, figure: Figure) -> float | None:
        """Return the change of a figure, rounded once: from 0.90 to 0.89 it is -0.01."""
        before, after = self.exact(figure)
        return None if before is None or after is None else float(after - before)

    def counts(self, path: Path, mode: str) -> NDArray[np.int64]:
        """Return the counts of a field that was asked for, (2 runs, 5 outcomes, documents)."""
        return self._column((path, mode), len(NAMES))

    def _column(self, column: Column, rows: int) -> NDArray[np.int64]:
        found = self.columns.get(column)
        return np.zeros((2, rows, len(self.ids)), dtype=np.int64) if found is None else found


def counted(
    pairs: Sequence[Pair],
    fields: Sequence[FieldInfo],
    rule: RateRule,
    more: Collection[Column] = (),
) -> Counted:
    """Return what was counted in every document.

    Args:
        pairs: the documents.
        fields: of the schema; the keys of a map are one field.
        rule: how rates come of counts.
        more: what is asked for besides `overall` of every field and everything of whole documents.
    """
    columns = _Columns({info.path: info for info in fields}, frozenset(more), len(pairs))
    for place, pair in enumerate(pairs):
        before, after = pair.before, pair.after
        columns.add((0, place), before)
        columns.add((1, place), before if after is None else after, missed=after is None)
    paths = sorted({target.pattern for target in columns.targets.values() if target.pattern})
    return Counted(columns.found, columns.score_sums, paths, [pair.id for pair in pairs], rule)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a field counts."""

    depth: int
    pattern: Path
    columns: Sequence[Column]


@dataclass(slots=True)
class _Columns:
    """Columns that are made as they are met."""

    known: Mapping[Path, FieldInfo]
    more: Collection[Column]
    documents: int
    found: dict[Column, NDArray[np.int64]] = field(default_factory=dict)
    score_sums: dict[Column, tuple[list[int], list[int]]] = field(default_factory=dict)
    targets: dict[str, _Target] = field(default_factory=dict)
    """By the path of the field, as text."""

    def add(self, place: tuple[int, int], record: Record, *, missed: bool = False) -> None:
        """Add a document.

        Args:
            place: the run, 0 or 1, and the document.
            record: its account.
            missed: whether to count it as if there were no prediction.
        """
        self._add_score(place, ((), SCORE), 0.0 if missed else record[SCORE])
        for text, entry in record["fields"].items():
            if text not in self.targets:
                self.targets[text] = self._target(text)
            target = self.targets[text]
            by_mode = dict(zip(COUNTING_MODES, counts_by_mode(entry), strict=True))
            for column in target.columns:
                if column[1] != SCORE:
                    counts = by_mode[column[1]]
                    if missed:
                        counts = missed_counts(counts, column[1], target.depth)
                    self._add_counts(place, column, counts)
                elif SCORE in entry:
                    self._add_score(place, column, 0.0 if missed else entry[SCORE])

    def _target(self, text: str) -> _Target:
        path = tuple(map(str, parse_field_path(text)))
        pattern = pattern_of(path, self.known)
        found: set[Column] = {(pattern, COUNTING_MODES[0])}
        if not path:
            found |= {(path, mode) for mode in COUNTING_MODES}
        found |= {column for column in self.more if column[0] in (path, pattern) and column[0]}
        return _Target(len(path), pattern, sorted(found))

    def _add_score(self, place: tuple[int, int], column: Column, score: float) -> None:
        run, document = place
        units = round(score * SAMPLE_UNIT), SAMPLE_UNIT
        self._column(column, 2)[run, :, document] += units
        sums = self.score_sums.setdefault(column, ([0, 0], [0, 0]))[run]
        sums[0] += units_of(score)
        sums[1] += 1

    def _add_counts(
        self, place: tuple[int, int], column: Column, counts: Mapping[str, int]
    ) -> None:
        run, document = place
        into = self._column(column, len(NAMES))
        for row, name in enumerate(NAMES):
            if name in counts:
                into[run, row, document] += counts[name]

    def _column(self, column: Column, rows: int) -> NDArray[np.int64]:
        if column not in self.found:
            self.found[column] = np.zeros((2, rows, self.documents), dtype=np.int64)
        return self.found[column]


def missed_counts(counts: Mapping[str, int], mode: str, depth: int) -> Mapping[str, int]:
    """Return what a field would count if its document had no prediction.

    Below the fields of the document itself, only `leaves` counts: a missed object is one unit.

    Args:
        counts: of the field, by the names of the outcomes.
        mode: the counting mode: `overall`, `aggregate` or `leaves`.
        depth: the length of its path; 0 for the whole document.

    >>> missed_counts({"tp": 2, "fd": 1, "fa": 1}, "overall", 1)
    {'fn': 3, 'tn': 0}
    """
    if depth > 1 and mode != "leaves":
        return {}
    tp, fd, _, fn, tn = (counts.get(name, 0) for name in NAMES)
    return {"fn": tp + fd + fn, "tn": tn}
