"""A comparison as rows of text, one a place: for pipes, files and Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.compare.explained import Explained
from stickler_cli.core.locations import field_path
from stickler_cli.reports.comparison import (
    ComparedPair,
    outcome_text,
    shown_score,
    sum_text,
    threshold_text,
    value_pieces,
)
from stickler_cli.reports.differences import Piece
from stickler_cli.reports.figures import setting, value_text
from stickler_cli.score.rate_text import rate

TITLES: Final = (
    "field",
    "outcome",
    "similarity",
    "threshold",
    "from",
    "weight",
    "adds",
    "gt",
    "pred",
    "difference",
    "why",
)

WHOLE: Final = "(document)"
"""Stands for the path of the document itself, which is empty."""

_MARKS: Final = {"both": ("", ""), "gt": ("[-", "-]"), "pred": ("{+", "+}")}


@dataclass(frozen=True, slots=True)
class Row:
    """One place; text from documents is as it is, for the report to make safe."""

    place: Explained
    cells: tuple[str, ...]
    """A text for each of `TITLES`."""


def rows(pair: ComparedPair) -> list[Row]:
    """List the places that are shown, parents first."""
    return [row for place in pair.chosen for row in _rows(pair, place, 0.0)]


def _rows(pair: ComparedPair, place: Explained, floor: float) -> Iterator[Row]:
    parts, hidden = pair.shown(place)
    threshold = threshold_text(place)
    texts = [pair.why(place, floor), sum_text(place), hidden]
    yield Row(
        place,
        (
            field_path(place.gt_path) or WHOLE,
            outcome_text(place),
            shown_score(place),
            threshold,
            place.threshold_source if threshold else "",
            "" if place.weight is None else setting(place.weight),
            "" if place.adds is None else rate(place.adds),
            "" if place.gt is None else value_text(place.gt),
            "" if place.pred is None else value_text(place.pred),
            marked(value_pieces(place.gt, place.pred)) if differs(place) else "",
            "; ".join(text for text in texts if text),
        ),
    )
    for part in parts:
        yield from _rows(pair, part, place.floor or 0.0)


def differs(place: Explained) -> bool:
    """Say whether two values were compared that are not the same."""
    return place.gt is not None and place.pred is not None and place.gt != place.pred


def marked(pieces: list[Piece]) -> str:
    """Write pieces in one line: `[-ground truth-]`, `{+prediction+}`, and what both have."""
    return "".join(piece.text.join(_MARKS[piece.side]) for piece in pieces)
