"""An evaluation as a piece of HTML, as notebooks show it: one table, no script, nothing to load.

Colours are those of the notebook, light or dark. Every name from documents is escaped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.score.rate_text import rate
from stickler_cli.score.tally import Tally
from stickler_cli.score.terms import NamedField

MOST_ROWS: Final = 200
"""Fields that are shown: far more than a schema has, far fewer than a map may have keys."""

_HEADERS: Final = (
    ("TP", "right"),
    ("FD", "wrong value"),
    ("FA", "invented"),
    ("FN", "missed"),
    ("TN", "absent on both sides"),
    ("precision", "tp / (tp + fp)"),
    ("recall", "the share of the ground truth that was found"),
    ("F1", "harmonic mean of precision and recall"),
    ("leaves F1", "F1 of all values of the field"),
    ("score", "mean score after clipping"),
)

_TABLE: Final = "border-collapse:collapse;color:inherit;background:transparent"
_CELL: Final = "border-bottom:1px solid rgba(128,128,128,.35);padding:.15em .6em"
_LEFT: Final = f"{_CELL};text-align:left;font-weight:normal"
_RIGHT: Final = f"{_CELL};text-align:right"


@dataclass(frozen=True, slots=True)
class Summary:
    """What an evaluation comes to as a whole."""

    documents: Mapping[str, int]
    """How many there were: `total`, `evaluated`, then those of each other status."""
    score: float | None
    """Their mean score, in [0, 1]; None of no documents."""
    tally: Tally


def summary_html(summary: Summary, fields: Sequence[NamedField], *, recall_with_fd: bool) -> str:
    """Return a headline, and a table with a row for whole documents and one for each field."""
    rows = [_row("all fields", _figures(summary.tally, summary.score, with_fd=recall_with_fd))]
    for field in fields[:MOST_ROWS]:
        name = f"<bdi><code>{_harmless(field_path(field.path))}</code></bdi>"
        figures = _figures(field.tally, field.tally.mean_score, with_fd=recall_with_fd)
        rows.append(_row(name, figures, depth=len(field.path)))
    more = len(fields) - MOST_ROWS
    rest = f"<p>{more} more: to_frame() gives every field.</p>" if more > 0 else ""
    heads = "".join(
        f'<th scope="col" title="{title}" style="{_RIGHT}">{name}</th>' for name, title in _HEADERS
    )
    return (
        f"<div><p>{_headline(summary)}</p>"
        f'<table style="{_TABLE}"><thead><tr><th scope="col" style="{_LEFT}">field</th>{heads}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>{rest}</div>"
    )


def _headline(summary: Summary) -> str:
    """Return how many documents there were, what became of the others, and the mean score."""
    total = summary.documents["total"]
    others = [
        f"{count} {name}"
        for name, count in summary.documents.items()
        if count and name not in ("total", "evaluated")
    ]
    evaluated = f"{summary.documents['evaluated']} of {total} documents evaluated"
    return ", ".join([evaluated, *others, f"mean score {rate(summary.score)}"])


def _row(name: str, figures: Sequence[str], depth: int = 0) -> str:
    cells = "".join(f'<td style="{_RIGHT}">{figure}</td>' for figure in figures)
    indent = f";padding-left:{0.6 + max(depth - 1, 0) * 1.2:.1f}em"
    return f'<tr><th scope="row" style="{_LEFT}{indent}">{name}</th>{cells}</tr>'


def _figures(tally: Tally, score: float | None, *, with_fd: bool) -> list[str]:
    """Return the counts and rates of `overall`, as the table of fields in a terminal has them."""
    counts, leaves = tally.counts("overall"), tally.counts("leaves")
    predicted, relevant = counts.tp + counts.fp, counts.recall_denominator(with_fd=with_fd)
    numbers = (counts.tp, counts.fd, counts.fa, counts.fn, counts.tn)
    rates = (
        counts.precision if predicted else None,
        counts.recall(with_fd=with_fd) if relevant else None,
        counts.f1(recall_with_fd=with_fd) if predicted + relevant else None,
        leaves.f1(recall_with_fd=with_fd) if leaves.total - leaves.tn else None,
        score,
    )
    return [*map(str, numbers), *map(rate, rates)]


def _harmless(text: str) -> str:
    """Escape markup, and spell out what cannot be seen or written."""
    return escape(
        "".join(
            letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
            for letter in text
        )
    )
