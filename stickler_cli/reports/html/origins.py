"""Which cause of a run each single error belongs to: what links the two on the page."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from stickler_cli.core.locations import Path, field_names
from stickler_cli.reports.cause_sentences import CauseText
from stickler_cli.score.conditions import ANY_KEY
from stickler_cli.score.detail import NonMatchRow
from stickler_cli.score.errors.causes import Kind, told_kind

NOWHERE: Final = -1
"""Of an error that only repeats what another one says: it is inside of that, or around it."""


class Origins:
    """The texts of causes by what the errors of a cause have in common."""

    def __init__(self, texts: Iterable[CauseText]) -> None:
        self._kinds: dict[tuple[str, Kind], int] = {}
        self._groups: dict[str, list[tuple[Path, int]]] = {}
        for at, text in enumerate(texts):
            for cause in text.causes:
                name = cause.error_class.value
                if cause.kind is not None:
                    self._kinds[name, cause.kind] = at
                else:
                    self._groups.setdefault(name, []).append((cause.pattern, at))

    def of(self, error: NonMatchRow) -> int:
        """Return the position of the text that an error belongs to, or `NOWHERE`."""
        names = field_names(error.path)
        gt, pred = (
            json.loads(text) if error.values is None and isinstance(text, str) else None
            for text in (error.gt, error.pred)
        )
        differing = tuple(error.differing or ())
        kind = told_kind(names, differing, (gt, pred), error.values, error.inside)
        if kind is None:
            return NOWHERE
        known = self._kinds.get((error.error_class, kind))
        if known is not None:
            return known
        groups = self._groups.get(error.error_class, ())
        return next((at for pattern, at in groups if _matches(pattern, names)), NOWHERE)


def _matches(pattern: Path, names: Sequence[str]) -> bool:
    return len(pattern) == len(names) and all(
        step in (ANY_KEY, name) for step, name in zip(pattern, names, strict=True)
    )
