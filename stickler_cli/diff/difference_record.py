"""The format `stickler-diff/1`: a difference as JSON values.

Its JSON Schema is `schemas/stickler-diff.json`.
"""

from dataclasses import asdict
from typing import Final

from stickler_cli import __version__
from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Difference, DocumentChange
from stickler_cli.diff.significance import SWAPS

FORMAT: Final = "stickler-diff/1"


def diff_record(difference: Difference) -> dict[str, object]:
    """Return a difference in its format; equal differences give equal records."""
    settings = difference.settings
    return {
        "format": FORMAT,
        "version": __version__,
        "base": asdict(difference.base),
        "new": asdict(difference.new),
        "contrasts": [asdict(contrast) for contrast in difference.contrasts],
        "settings": {
            "alpha": settings.alpha,
            "margin": settings.margin,
            "swaps": SWAPS,
            "intervals": settings.intervals.view(),
        },
        "documents": dict(difference.documents),
        "lost": list(difference.lost),
        "only_new": list(difference.only_new),
        "whole": [_change(change) for change in difference.whole],
        "fields": [_change(change) for change in difference.fields],
        "changed_documents": [_document(document) for document in difference.changed],
        "gates": [result.view() for result in difference.gates],
    }


def _change(change: Change) -> dict[str, object]:
    return {
        **asdict(change),
        "path": field_path(change.path),
        "interval": change.interval.view() if change.interval else None,
        "trend": change.trend.value,
        "decided_by": change.decided_by.value,
    }


def _document(document: DocumentChange) -> dict[str, object]:
    return {**asdict(document), "change": document.change, "hard": document.is_hard}
