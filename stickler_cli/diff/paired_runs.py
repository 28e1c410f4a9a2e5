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
from stickler_cli.score.accounts import NAMES, SCORE, counts_by_mode, decoded
from stickler_cli.score.conditions import FieldInfo, pattern_of
from stickler_cli.score.counts import RateRule
from stickler_cli.score.record import Run
from stickler_cli.score.tally import COUNTING_MODES, SCORE_UNIT, units_of
from .changes import Figure
from .significance import Sample

Record: TypeAlias = Mapping[str, Any]  # the account of a document, as JSON values
Column: TypeAlias = tuple[Path, str]  # a field, and one of the counting modes, or the score

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
    def after(self) -> Record:
        """The account in the second run; where that did not compare it, all is missed."""
        return missed(self.before) if self.line_after is None else decoded(self.line_after)


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


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """The documents that the first run compared, in the order of their ids."""

    pairs: Sequence[Pair]
    lost: Sequence[str]
    """Those that the second run did not compare."""
    only_new: Sequence[str]


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


@dataclass(slots=True)
class Counted:
    """What was counted in every document of both runs."""

    ids: Sequence[str]
    rule: RateRule
    known: Mapping[Path, FieldInfo]
    """The fields of the schema; the keys of a map are one field."""
    more: Collection[Column]
    """What is asked for besides `overall` of every field and everything of whole documents."""
    columns: dict[Column, NDArray[np.int64]] = field(default_factory=dict)
    """Of a counting mode (2 runs, 5 outcomes, documents), of scores (2 runs, 2, documents): the
    score in `SAMPLE_UNIT`s, and as many units as it could be."""
    score_sums: dict[Column, tuple[list[int], list[int]]] = field(default_factory=dict)
    """Of scores, for each run: their sum in `SCORE_UNIT`s, and how many there are."""
    asked: dict[str, Sequence[Column]] = field(default_factory=dict)
    """The columns in which a field counts, by its path as text."""

    @property
    def paths(self) -> Sequence[Path]:
        """The fields in which anything was counted, keys of maps as `*`."""
        return sorted({pattern_of(path, self.known) for path, _ in self.columns if path})

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

    def add(self, run: int, document: int, account: Record) -> None:
        """Add a document of a run, 0 or 1, by its position."""
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
        sums = self.score_sums.setdefault((path, SCORE), ([0, 0], [0, 0]))[run]
        sums[0] += units_of(score)
        sums[1] += 1

    def _column(self, column: Column, rows: int) -> NDArray[np.int64]:
        found = self.columns.get(column)
        return np.zeros((2, rows, len(self.ids)), dtype=np.int64) if found is None else found


def counted(
    pairs: Sequence[Pair],
    fields: Sequence[FieldInfo],
    rule: RateRule,
    more: Collection[Column] = (),
) -> Counted:
    """Return what was counted in every document; `Counted` says what the rest is."""
    table = Counted([pair.id for pair in pairs], rule, {it.path: it for it in fields}, {*more})
    for document, pair in enumerate(pairs):
        table.add(0, document, pair.before)
        table.add(1, document, pair.after)
    return table
