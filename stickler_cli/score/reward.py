"""One number for each document, as those need it who train by it: in [0, 1], always.

Where a rate of a run is undefined, a document still has one: nothing on either side is right, and
where only one side has anything, it is wrong.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from stickler_cli.compare.account import Floats
from stickler_cli.compare.result import FA, FD, FN, TP
from stickler_cli.core.values import dataclass
from .counts import RATES, fractions
from .field_counts import LEAVES, OVERALL, FieldCounts, Names
from .gates import OPERATORS, SCORE, Gate, asked, parse_gate, refused
from .sums import COUNTING_MODES

OVERALL_SCORE: Final = "overall_score"  # the name in results of the score of whole documents
_WRONG: Final = (FD, FA, FN)
_EXPECTED: Final = (
    f"{OVERALL_SCORE}, or [set:][path.]metric, where metric is one of "
    f"{', '.join((*RATES, SCORE))}, alone or with >= and what passes"
)


@dataclass(frozen=True, slots=True)
class Aim:
    """The figure of a document that is its score, and how much of it passes."""

    gate: Gate
    limited: bool
    """Whether it says what passes; else that is a document without an error."""

    @property
    def is_score(self) -> bool:
        """Whether it is the score of whole documents, which takes no counts."""
        return self.gate.metric == SCORE and not self.gate.path

    @property
    def rate(self) -> str:
        """The rate that it asks for, of a field as of all of them."""
        return self.gate.metric if self.gate.metric in RATES else "f1"

    def passes(self, score: float) -> bool:
        """Return whether a score is as high as it must be."""
        return OPERATORS[self.gate.operator](score, self.gate.limit)


def parse_aim(text: str) -> Aim:
    """Return the question in a text: the name of a figure, or a gate on one.

    Raises:
        UsageError: it is neither, or no figure of one document that is better when higher.

    >>> parse_aim("overall_score").is_score, parse_aim("lines.price.recall >= 0.9").gate.path
    (True, ('lines', 'price'))
    """
    name = text.strip()
    limited = any(sign in name for sign in OPERATORS)
    if name.startswith(OVERALL_SCORE):
        name = SCORE + name.removeprefix(OVERALL_SCORE)
    gate = parse_gate(name if limited else f"{name}>=0", "of")
    if gate.metric not in (*RATES, SCORE) or gate.bound or not gate.operator.startswith(">"):
        raise refused("of", f"it is {text!r}", _EXPECTED)
    return Aim(replace(gate, text=text), limited)


def rewards(aim: Aim, counts: FieldCounts, size: int) -> list[float]:
    """Return the score of each of some documents; of several fields that match the least."""
    gate = aim.gate
    mode = COUNTING_MODES.index(gate.mode) if gate.mode else LEAVES
    found = np.ones(size)
    for path in asked(gate, counts.paths):
        names = tuple(map(str, path))
        found = np.minimum(found, field_rewards(counts, names, gate.metric, size, mode))
    figures: list[float] = found.tolist()
    return figures


def field_rewards(
    counts: FieldCounts, path: Names, metric: str, size: int, mode: int = LEAVES
) -> Floats:
    """Return a rate or score of one field in each document; 1 where neither side has it."""
    found = np.ones(size)
    if path not in counts.paths:
        return found
    at = counts.paths.index(path)
    end = counts.starts[at + 1] if at + 1 < len(counts.paths) else len(counts.documents)
    rows = slice(int(counts.starts[at]), int(end))
    cells: Any = counts.sums[mode, rows].T
    if metric == SCORE:
        values = counts.known_scores[rows]
        values[np.isnan(values)] = 1.0
    else:
        above, below = fractions(cells, recall_with_fd=False)[metric]
        values = np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
    there = cells[TP] + cells[[*_WRONG]].sum(axis=0)
    found[counts.documents[rows]] = np.where(there > 0, values, 1.0)
    return found


def faultless(counts: FieldCounts) -> list[bool]:
    """Return which documents have no error at all, neither a value nor a whole."""
    rows = counts.sums[:, : counts.starts[1] if len(counts.starts) > 1 else None]
    found: list[bool] = (rows[[OVERALL, LEAVES]][:, :, [*_WRONG]].sum(axis=(0, 2)) == 0).tolist()
    return found
