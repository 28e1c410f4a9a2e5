"""A difference as an HTML page: one file, no script, nothing to load, light and dark."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stickler_cli.diff.changes import Change, Difference, Verdict
from stickler_cli.reports.difference_sentences import (
    MARKS,
    differences,
    document_text,
    fields_with,
    headline,
    interval_of,
    interval_title,
    legend,
    limits,
    name_of,
    signed,
    title,
    verdict_line,
)
from stickler_cli.reports.figures import visible
from stickler_cli.reports.html.page import fill
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.rate_text import rate

MOST_DOCUMENTS: Final = 200
"""Documents of each kind that the page names; the JSON report has all."""

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Source: Content Security Policy Level 3, https://www.w3.org/TR/CSP3/. There is no script."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One figure, ready to be shown."""

    change: Change
    name: str
    mark: str
    before: str
    after: str
    by: str
    interval: str
    p: str
    left: float
    """Where the interval begins, in percent of a line from -1 to 1."""
    width: float

    @property
    def tone(self) -> str:
        """How its verdict is coloured: a drop is never green."""
        return _TONES.get(self.change.verdict, "")


_TONES: Final = {Verdict.IMPROVED: "good", Verdict.REGRESSED: "bad"}


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as an HTML page; ends with a line break."""
    context: dict[str, object] = {
        "policy": POLICY,
        "title": visible(title(difference)),
        "headline": headline(difference),
        "verdict": verdict_line(difference),
        "differences": differences(difference, visible),
        "told": [
            (_TONES[verdict], text)
            for verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
            for text in fields_with(difference, verdict, visible)
        ],
        "gates": difference.gates,
        "whole": _rows(difference, difference.whole),
        "fields": _rows(difference, difference.fields),
        "interval_title": interval_title(difference),
        "documents": [
            (f"Documents that got {what}", found[:MOST_DOCUMENTS], len(found[MOST_DOCUMENTS:]))
            for what, found in (("worse", difference.worse), ("better", difference.better))
        ],
        "document_text": document_text,
        "signed": signed,
        "legend": legend(difference),
    }
    return fill("difference_page.html.j2", context)


def _rows(difference: Difference, changes: Iterable[Change]) -> list[_Row]:
    near = limits(difference)
    return [
        _Row(
            change=change,
            name=visible(name_of(change)),
            mark=MARKS[change.verdict],
            before=rate(change.before),
            after=rate(change.after),
            by=signed(change.change, near),
            interval=interval_of(change.interval, near),
            p=rate(change.corrected_p if change.path else change.p),
            left=50 + 50 * change.interval.lower if change.interval else 50,
            width=50 * (change.interval.upper - change.interval.lower) if change.interval else 0,
        )
        for change in changes
    ]
