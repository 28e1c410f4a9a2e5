"""A comparison as sections: a tree in a terminal, a row a place in pipes, files and Markdown."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from stickler_cli.compare.explaining import Explained
from stickler_cli.compare.result import Outcome
from stickler_cli.core.figures import WHOLE, cells, rate, value_text
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Column, Line, Section, Span, Table, Text, Tone
from .layout import LEAST_TEXT, TableStyle
from .markdown import code
from .pair import (
    ComparedPair,
    differs,
    figure_texts,
    marked,
    sum_text,
    title_of,
    value_piece,
    value_pieces,
)

TITLES: Final = (
    *("field", "outcome", "similarity", "threshold", "from", "weight", "adds"),
    *("gt", "pred", "difference", "why"),
)
_TONES: Final[dict[str, Tone]] = {"gt": "bad", "pred": "good", "both": ""}
_NUMBERS: Final = frozenset(("similarity", "threshold", "weight", "adds"))

_COLUMNS: Final = (
    Column("field", left=True),
    Column("", left=True),
    Column("similarity", 1, short="sim"),
    Column("threshold", 2, short="thr"),
    Column("from", 6, left=True),
    Column("weight", 3),
    Column("adds", 4),
)

LEGEND: Final = (
    "adds: weight x score, or what a pair of items adds; their sum / divisor is the score above",
    "from: who said the threshold: an annotation, the match-threshold of the items, or the default",
)


def sections_of(pair: ComparedPair, style: TableStyle, *, page: bool) -> list[Section]:
    """Return a comparison as sections: a tree in a terminal, else a row for each place."""
    score = Text(f"overall score {rate(pair.overall_score)}: {sum_text(pair.root)}")
    if page:
        title = Text(f"### {code(pair.document)} ({code(pair.model_name)})")
        table = place_table(pair)
        columns = [Column(column.title, left=True) for column in table.columns]
        return [Section("", [title, score, Table(columns, table.rows)])]
    head = Section("", [Text(pair.title, "title"), score])
    if style.plain:
        return [head, Section("", [place_table(pair)])]
    places = [each for place in pair.chosen for each in _tree(pair, place, style, 0, 0.0)]
    legend = [(text.partition(":")[0], text) for text in LEGEND]
    tree = Table(_COLUMNS, [row for row, _ in places], legend, [below for _, below in places])
    return [head, Section("", [tree])]


def place_table(pair: ComparedPair) -> Table:
    """Return a row for each place that is shown, parents first."""
    columns = [Column(title, left=title not in _NUMBERS) for title in TITLES]
    return Table(columns, [row for place in pair.chosen for row in _place_rows(pair, place, 0.0)])


def _place_rows(pair: ComparedPair, place: Explained, floor: float) -> Iterator[list[Span]]:
    gt, pred = place.gt, place.pred
    parts, hidden = pair.shown(place)
    quoted = (
        "" if gt is None else value_text(gt),
        "" if pred is None else value_text(pred),
        marked(value_pieces(gt, pred)) if differs(place) else "",
    )
    why = "; ".join(filter(None, (pair.why(place, floor), sum_text(place), hidden)))
    yield [
        Span.of(field_path(place.gt_path) or WHOLE),
        *map(Span, figure_texts(place)),
        *(Span.of(text, quoted=bool(text)) for text in quoted),
        # By a model, of what is in documents, or of their keys.
        Span.of(why, quoted=bool(place.reason or place.others or pair.swapped_with(place))),
    ]
    for part in parts:
        yield from _place_rows(pair, part, place.floor or 0.0)


def _tree(
    pair: ComparedPair, place: Explained, style: TableStyle, depth: int, floor: float
) -> Iterator[tuple[list[Span], list[Text | Line]]]:
    """Yield the row of a place and those of its shown parts; their sum stands below the last."""
    parts, hidden = pair.shown(place)
    margin = INDENT * (depth + 1)
    below: list[Text | Line] = [*_values(pair, place, style, margin)]
    why = pair.why(place, floor)
    below += [Text(why, "dim", margin=margin)] if why else []
    inside = [
        each for part in parts for each in _tree(pair, part, style, depth + 1, place.floor or 0.0)
    ]
    last = inside[-1][1] if inside else below
    sums = (hidden, sum_text(place) if parts else "")
    last += [Text(text, "dim", margin=margin) for text in sums if text]
    tone: Tone = "" if place.right else "bad" if place.kind == "leaf" else "warn"
    title = title_of(place, whole=not depth) or WHOLE
    tones: tuple[Tone, ...] = (tone, tone, "dim", "dim", "dim", "")
    yield [Span.of(INDENT * depth + title, tone), *map(Span, figure_texts(place), tones)], below
    yield from inside


def _values(pair: ComparedPair, place: Explained, style: TableStyle, margin: str) -> Iterator[Line]:
    gt, pred = place.gt, place.pred
    if differs(place):
        pieces = value_pieces(gt, pred)
        sides = {
            side: [piece for piece in pieces if piece.side in (side, "both")]
            for side in ("gt", "pred")
        }
    elif place.outcome is Outcome.TN or (place.right and pair.detail != "all"):
        return
    else:
        piece = value_piece(pred if gt is None else gt)
        side = "pred" if gt is None else "gt" if pred is None else "both"
        sides = {side: [piece]} if piece.text else {}
    for side, some in sides.items():
        # By colour, or by marks where there is none.
        shown = ((it.text if style.color else marked([it]), _TONES[it.side]) for it in some)
        spans = [Span.of(text, tone) for text, tone in shown]
        yield from _flow(f"{margin}{side:<6}", spans, style.width)


def _flow(label: str, spans: Sequence[Span], width: int | None) -> list[Line]:
    """Return spans behind a label, going on in the next line where the terminal ends."""
    room = None if width is None else max(width - cells(label), LEAST_TEXT)
    lines: list[list[Span]] = [[Span(label, "dim")]]
    used = 0
    for span in spans:
        text = span.text
        while room is not None and used + cells(text) > room:
            kept = sum(width <= room - used for width in accumulate(map(cells, text)))
            lines[-1].append(Span(text[:kept], span.tone))
            lines.append([Span(" " * len(label), "dim")])
            text, used = text[kept:], 0
        lines[-1].append(Span(text, span.tone))
        used += cells(text)
    return list(map(tuple, lines))
