"""Tables of results as notebooks show them: in the colours of the notebook, light or dark."""

from collections.abc import Sequence
from typing import Final, NamedTuple

MOST_ROWS: Final = 200  # far more than a schema has fields, far fewer than a map may have keys

_TABLE: Final = "border-collapse:collapse;color:inherit;background:transparent"
_CELL: Final = "border-bottom:1px solid rgba(128,128,128,.35);padding:.15em .6em"


class Head(NamedTuple):
    """The head of a column."""

    name: str
    title: str = ""
    """What it means, for whoever points at it."""
    left: bool = False


class Row(NamedTuple):
    """A row of cells, all of them HTML."""

    name: str
    cells: Sequence[str]
    depth: int = 0
    """How far its name is indented, in levels."""


def html_table(
    told: Sequence[str], first: str, heads: Sequence[Head], rows: Sequence[Row], rest: str
) -> str:
    """Return lines and a table; `first` heads the names, `rest` says where other rows are."""
    sides = [_style(left=head.left) for head in heads]
    top = "".join(
        f'<th scope="col" title="{head.title}" style="{side}">{head.name}</th>'
        for head, side in zip(heads, sides, strict=True)
    )
    body = "".join(_row(row, sides) for row in rows[:MOST_ROWS])
    more = len(rows) - MOST_ROWS
    return (
        f'<div>{"".join(f"<p>{line}</p>" for line in told)}<table style="{_TABLE}"><thead><tr>'
        f'<th scope="col" style="{_style(left=True)}">{first}</th>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>{f'<p>{more} more: {rest}</p>' if more > 0 else ''}</div>"
    )


def _row(row: Row, sides: Sequence[str]) -> str:
    cells = zip(sides, row.cells, strict=True)
    shown = "".join(f'<td style="{side}">{cell}</td>' for side, cell in cells)
    indent = f";padding-left:{0.6 + max(row.depth - 1, 0) * 1.2:.1f}em"
    return f'<tr><th scope="row" style="{_style(left=True)}{indent}">{row.name}</th>{shown}</tr>'


def _style(*, left: bool) -> str:
    return f"{_CELL};text-align:left;font-weight:normal" if left else f"{_CELL};text-align:right"
