"""An evaluation as a piece of HTML, as notebooks show it: one table, no script, nothing to load.

Colours are those of the notebook, light or dark. Every name from documents is escaped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from html import escape
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.reports.figures import rate
from stickler_cli.reports.rows import FieldRow, Figures, figures_of
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.rates import RateRule

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


def summary_html(evaluation: Evaluation, fields: Sequence[FieldRow], rule: RateRule) -> str:
    """Return a headline, and a table with a row for whole documents and one for each field."""
    whole = figures_of(evaluation.tally, rule)
    rows = [_row("all fields", _figures(whole, evaluation.overall_score))]
    for field in fields[:MOST_ROWS]:
        name = f"<bdi><code>{_harmless(field_path(field.path))}</code></bdi>"
        rows.append(_row(name, _figures(field.figures, field.score), depth=len(field.path)))
    more = len(fields) - MOST_ROWS
    rest = f"<p>{more} more: to_frame() gives every field.</p>" if more > 0 else ""
    heads = "".join(
        f'<th scope="col" title="{title}" style="{_RIGHT}">{name}</th>' for name, title in _HEADERS
    )
    return (
        f"<div><p>{_headline(evaluation)}</p>"
        f'<table style="{_TABLE}"><thead><tr><th scope="col" style="{_LEFT}">field</th>{heads}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>{rest}</div>"
    )


def _headline(evaluation: Evaluation) -> str:
    """Return how many documents there were, what became of the others, and the mean score."""
    documents = evaluation.documents
    others = [
        f"{count} {name}"
        for name, count in documents.items()
        if count and name not in ("total", "evaluated")
    ]
    evaluated = f"{documents['evaluated']} of {documents['total']} documents evaluated"
    return ", ".join([evaluated, *others, f"mean score {rate(evaluation.overall_score)}"])


def _row(name: str, figures: Sequence[str], depth: int = 0) -> str:
    cells = "".join(f'<td style="{_RIGHT}">{figure}</td>' for figure in figures)
    indent = f";padding-left:{0.6 + max(depth - 1, 0) * 1.2:.1f}em"
    return f'<tr><th scope="row" style="{_LEFT}{indent}">{name}</th>{cells}</tr>'


def _figures(figures: Mapping[str, Figures], score: float | None) -> list[str]:
    """Return the counts and rates of `overall`, as the table of fields in a terminal has them."""
    counts, rates = figures["overall"].counts, figures["overall"].rates
    shares = (*astuple(rates), figures["leaves"].rates.f1, score)
    return [*map(str, astuple(counts)), *map(rate, shares)]


def _harmless(text: str) -> str:
    """Escape markup, and spell out what cannot be seen or written."""
    return escape(
        "".join(
            letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
            for letter in text
        )
    )
