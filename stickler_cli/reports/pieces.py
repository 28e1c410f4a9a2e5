"""Where two texts differ: runs of characters that both have, and runs that only one has."""

from collections.abc import Iterable
from typing import Final, Literal

from stickler_cli.core.values import dataclass

SHORTEST_RUN: Final = 2
"""Equal characters between two differences that are worth telling apart: a letter that two other
words share by chance makes a difference harder to read."""

LEAST_ALIKE: Final = 0.3
"""Edit similarity below which two texts are simply different."""

LONGEST: Final = 5_000
"""Characters of the longest texts whose characters are compared: the time grows with the product of
their lengths, and 5,000 against 5,000 take some milliseconds."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters."""

    text: str
    side: Literal["both", "gt", "pred"]
    """Who has it."""


def pieces(gt: str, pred: str) -> list[Piece]:
    """Return two texts cut into runs that both have and runs that one has.

    Those of both and of the ground truth make up the ground truth, those of both and of the
    prediction the prediction.

    >>> [(piece.text, piece.side) for piece in pieces("12.50 EUR", "12.80 EUR")]
    [('12.', 'both'), ('5', 'gt'), ('8', 'pred'), ('0 EUR', 'both')]
    """
    if max(len(gt), len(pred)) > LONGEST:
        return _joined([(False, gt, pred)])
    # A report without differences need not load it.
    from rapidfuzz.distance import Levenshtein

    if Levenshtein.normalized_similarity(gt, pred) < LEAST_ALIKE:
        return _joined([(False, gt, pred)])
    runs = [
        (
            code.tag == "equal",
            gt[code.src_start : code.src_end],
            pred[code.dest_start : code.dest_end],
        )
        for code in Levenshtein.opcodes(gt, pred)
    ]
    inner = range(1, len(runs) - 1)
    return _joined(
        (equal and not (at in inner and len(one) < SHORTEST_RUN), one, other)
        for at, (equal, one, other) in enumerate(runs)
    )


def _joined(runs: Iterable[tuple[bool, str, str]]) -> list[Piece]:
    """Return runs with differences that follow each other joined.

    Each run is whether it is equal, then both sides.
    """
    found: list[Piece] = []
    gt, pred = "", ""
    for equal, one, other in (*runs, (True, "", "")):
        if not equal:
            gt, pred = gt + one, pred + other
            continue
        found += [Piece(gt, "gt")] if gt else []
        found += [Piece(pred, "pred")] if pred else []
        found += [Piece(one, "both")] if one else []
        gt, pred = "", ""
    return found
