"""Where two values differ: runs of characters that both have, and runs that only one has."""

import json
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal, TypeAlias

from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.values import dataclass

SHORTEST_RUN: Final = 2
"""Equal characters between two differences: one that words share by chance is hard to read."""

LEAST_ALIKE: Final = 0.3
"""Edit similarity below which two texts are simply different."""

LONGEST: Final = 5_000
"""Characters of the longest texts that are compared by them, which takes some milliseconds."""

EQUAL_RUN: Final = 40
"""Characters that both sides have in a row from which on the middle of them is left out."""

LONGEST_RUN: Final = 400
"""Characters that one side has in a row, at most, of those that are shown."""

Side: TypeAlias = Literal["both", "gt", "pred"]

_MARKS: Final = {"both": ("", ""), "gt": ("[-", "-]"), "pred": ("{+", "+}")}


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters."""

    text: str
    side: Side


def pieces(gt: str, pred: str) -> list[Piece]:
    """Return two texts cut into runs that both have and runs that one has.

    >>> [(piece.text, piece.side) for piece in pieces("12.50 EUR", "12.80 EUR")]
    [('12.', 'both'), ('5', 'gt'), ('8', 'pred'), ('0 EUR', 'both')]
    """
    runs = [(False, gt, pred)]
    if max(len(gt), len(pred)) <= LONGEST:
        # A report without differences need not load it.
        from rapidfuzz.distance import Levenshtein

        if Levenshtein.normalized_similarity(gt, pred) >= LEAST_ALIKE:
            codes = Levenshtein.opcodes(gt, pred)
            inner = range(1, len(codes) - 1)
            runs = []
            for at, code in enumerate(codes):
                one = gt[code.src_start : code.src_end]
                other = pred[code.dest_start : code.dest_end]
                short = at in inner and len(one) < SHORTEST_RUN
                runs.append((code.tag == "equal" and not short, one, other))
    found: list[Piece] = []
    for equal, group in groupby(runs, key=itemgetter(0)):
        _, ours, theirs = zip(*group, strict=True)
        sides: dict[Side, Iterable[str]] = {"both": ours} if equal else {"gt": ours, "pred": theirs}
        found += [Piece("".join(texts), side) for side, texts in sides.items() if any(texts)]
    return found


def value_piece(value: JsonValue) -> Piece:
    """Return a value that there is nothing to compare with, as JSON, truncated where it is long."""
    return Piece(_truncated(_json(value)), "both")


def value_pieces(gt: JsonValue, pred: JsonValue) -> list[Piece]:
    """Return two values, as JSON, cut into what both have and what one has; long runs shortened."""
    half = EQUAL_RUN // 2
    found = []
    for piece in pieces(_json(gt), _json(pred)):
        text = piece.text
        if piece.side != "both":
            text = _truncated(text)
        elif len(text) > EQUAL_RUN:
            text = f"{text[:half]}…{text[-half:]}"
        found.append(Piece(text, piece.side))
    return found


def _truncated(text: str) -> str:
    return text[:LONGEST_RUN] + "…" if len(text) > LONGEST_RUN else text


def _json(value: JsonValue) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):  # too deep, or more digits than Python prints
        return brief(value)


def marked(pieces: Iterable[Piece]) -> str:
    """Return pieces in one line: `[-ground truth-]`, `{+prediction+}`, and what both have."""
    return "".join(piece.text.join(_MARKS[piece.side]) for piece in pieces)
