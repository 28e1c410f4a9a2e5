"""A comparison for people: a tree in a terminal, a row a place in pipes, files and Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from stickler_cli.compare.explained import Explained
from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import field_path
from stickler_cli.reports.figures import cells, rate, setting, value_text
from stickler_cli.reports.layout import (
    Column,
    Line,
    Span,
    Table,
    TableStyle,
    Tone,
    paragraph,
    render_lines,
    table_lines,
)
from stickler_cli.reports.pair import (
    ComparedPair,
    differs,
    marked,
    outcome_text,
    shown_score,
    sum_text,
    threshold_text,
    title_of,
    value_piece,
    value_pieces,
)
from stickler_cli.reports.pieces import Piece

INDENT: Final = "  "

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

_COLUMNS: Final = (
    Column("field", left=True),
    Column("", left=True),
    Column("similarity", 1, short="sim"),
    Column("threshold", 2, short="thr"),
    Column("from", 6, left=True),
    Column("weight", 3),
    Column("adds", 4),
)

_LEFT: Final = frozenset(("field", "outcome", "from", "gt", "pred", "difference", "why"))

LEAST: Final = 8
"""Columns that a value keeps on the narrowest of terminals; more than any character takes."""

LEGEND: Final = (
    "adds: weight x score, or what a pair of items adds; their sum / divisor is the score above",
    "from: who said the threshold: an annotation, the match-threshold of the items, or the default",
)


def render_pair(pair: ComparedPair, style: TableStyle) -> str:
    """Return a comparison as a tree, or as plain rows; ends with a line break."""
    lines = _head(pair, style.room)
    lines += _plain(pair) if style.plain else _tree(pair, style)
    return render_lines(lines, style)


def _head(pair: ComparedPair, width: int | None) -> list[Line]:
    """Return what was compared, and the score."""
    how = sum_text(pair.root)
    return [
        *paragraph(f"{pair.document} ({pair.model_name}, {pair.schema})", width, "title"),
        *paragraph(f"overall score {rate(pair.overall_score)}: {how}", width),
        (),
    ]


def _plain(pair: ComparedPair) -> list[Line]:
    columns = [Column(title, left=title in _LEFT) for title in TITLES]
    texts = [[Span.of(cell) for cell in row.cells] for row in plain_rows(pair)]
    return table_lines(Table(columns, texts))[0]


@dataclass(frozen=True, slots=True)
class Row:
    """One place; text from documents is as it is, for the report to make safe."""

    place: Explained
    cells: tuple[str, ...]
    """A text for each of `TITLES`."""


def plain_rows(pair: ComparedPair) -> list[Row]:
    """Return a row for each place that is shown, parents first."""
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


def _tree(pair: ComparedPair, style: TableStyle) -> list[Line]:
    """Return a row for each place, and below it what cannot stand in a column."""
    places: list[tuple[list[Span], list[Line]]] = []
    for place in pair.chosen:
        places += _places(pair, place, style, 0, 0.0)
    (header, *body), dropped = table_lines(Table(_COLUMNS, [row for row, _ in places]), style.width)
    lines: list[Line] = [header]
    for line, (_, below) in zip(body, places, strict=True):
        lines += [line, *below]
    legend = [text for text in LEGEND if text.partition(":")[0] not in dropped]
    legend += [*([f"no room for: {', '.join(dropped)}"] if dropped else [])]
    lines.append(())
    return lines + [line for text in legend for line in paragraph(text, style.width, "dim", INDENT)]


def _places(
    pair: ComparedPair, place: Explained, style: TableStyle, depth: int, floor: float
) -> Iterator[tuple[list[Span], list[Line]]]:
    """Yield the row of a place and those of its shown parts; their sum stands below the last."""
    parts, hidden = pair.shown(place)
    below = _values(pair, place, style, depth)
    why = pair.why(place, floor)
    below += _note(why, style, depth) if why else []
    inside = [
        each for part in parts for each in _places(pair, part, style, depth + 1, place.floor or 0.0)
    ]
    sums = [text for text in (hidden, sum_text(place) if parts else "") if text]
    closing = [line for text in sums for line in _note(text, style, depth)]
    if not inside:
        yield _row(pair, place, depth), below + closing
        return
    yield _row(pair, place, depth), below
    yield from inside[:-1]
    row, last = inside[-1]
    yield row, last + closing


def _row(pair: ComparedPair, place: Explained, depth: int) -> list[Span]:
    tone: Tone = "" if place.right else "bad" if place.kind == "leaf" else "warn"
    threshold = threshold_text(place)
    title = title_of(place, whole=not depth) or WHOLE
    return [
        Span.of(INDENT * depth + title, tone),
        Span(outcome_text(place), tone),
        Span(shown_score(place), tone),
        Span(threshold, "dim"),
        Span(place.threshold_source if threshold else "", "dim"),
        Span("" if place.weight is None else setting(place.weight), "dim"),
        Span("" if place.adds is None else rate(place.adds)),
    ]


def _note(text: str, style: TableStyle, depth: int) -> list[Line]:
    indent = INDENT * (depth + 1)
    width = None if style.width is None else max(style.width - len(indent), LEAST)
    return [(Span(indent), *line) for line in paragraph(text, width, "dim")]


def _values(pair: ComparedPair, place: Explained, style: TableStyle, depth: int) -> list[Line]:
    """Return both values one above the other, marked where they differ."""
    gt, pred = place.gt, place.pred
    indent = INDENT * (depth + 1)
    if differs(place):
        pieces = value_pieces(gt, pred)
        sides = [
            ("gt", [_span(piece, style) for piece in pieces if piece.side != "pred"]),
            ("pred", [_span(piece, style) for piece in pieces if piece.side != "gt"]),
        ]
    elif place.outcome is Outcome.TN or (place.right and pair.detail != "all"):
        return []
    else:
        piece = value_piece(pred if gt is None else gt)
        side = "pred" if gt is None else "gt" if pred is None else "both"
        sides = [(side, [_span(piece, style)])] if piece.text else []
    return [
        line for side, spans in sides for line in _flow(f"{indent}{side:<6}", spans, style.width)
    ]


def _span(piece: Piece, style: TableStyle) -> Span:
    """Return a piece that shows a difference by colour, or by marks where there is none."""
    if piece.side == "both":
        return Span.of(piece.text)
    tones: dict[str, Tone] = {"gt": "bad", "pred": "good"}
    text = piece.text if style.color else marked([piece])
    return Span.of(text, tones[piece.side])


def _flow(label: str, spans: Sequence[Span], width: int | None) -> list[Line]:
    """Return spans behind a label, going on in the next line where the terminal ends."""
    room = None if width is None else max(width - cells(label), LEAST)
    lines: list[list[Span]] = [[]]
    used = 0
    for span in spans:
        text = span.text
        while room is not None and used + cells(text) > room:
            kept = _with_room(text, room - used)
            lines[-1].append(Span(text[:kept], span.tone))
            lines.append([])
            text, used = text[kept:], 0
        lines[-1].append(Span(text, span.tone))
        used += cells(text)
    labels = [label, *[" " * len(label)] * (len(lines) - 1)]
    return [(Span(before, "dim"), *line) for before, line in zip(labels, lines, strict=True)]


def _with_room(text: str, room: int) -> int:
    """Return how many characters have room in some columns of a terminal."""
    return sum(used <= room for used in accumulate(map(cells, text)))
