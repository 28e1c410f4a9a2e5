"""Annotations as GitHub's workflow commands, within what a step may have of them.

Source: docs.github.com, Workflow commands for GitHub Actions; actions/runner, ActionCommand.cs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from stickler_cli.reports.figures import visible

Kind = Literal["error", "warning", "notice"]

PER_KIND: Final = 10
"""Annotations of one kind that GitHub shows of a step; it drops the others without a word."""

_ESCAPES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES: Final = _ESCAPES | str.maketrans({":": "%3A", ",": "%2C"})


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message that stands beside a run or commit."""

    kind: Kind
    title: str
    message: str


def annotation_lines(annotations: Iterable[Annotation]) -> list[str]:
    """Write annotations, a line each, in order; of too many of a kind the last counts the rest.

    >>> annotation_lines([Annotation("error", "gate: f1", "50% < 0.9")])
    ['::error title=gate%3A f1::50%25 < 0.9']
    """
    by_kind: dict[Kind, list[Annotation]] = {}
    for annotation in annotations:
        by_kind.setdefault(annotation.kind, []).append(annotation)
    return [_line(annotation) for several in by_kind.values() for annotation in _limited(several)]


def _limited(annotations: list[Annotation]) -> list[Annotation]:
    if len(annotations) <= PER_KIND:
        return annotations
    shown, more = annotations[: PER_KIND - 1], annotations[PER_KIND - 1 :]
    return [*shown, Annotation(more[0].kind, more[0].title, f"and {len(more)} more")]


def _line(annotation: Annotation) -> str:
    title = visible(annotation.title).translate(_PROPERTY_ESCAPES)
    return f"::{annotation.kind} title={title}::{visible(annotation.message).translate(_ESCAPES)}"
