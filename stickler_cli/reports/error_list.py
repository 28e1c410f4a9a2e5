"""Single errors as a list: of a run that was asked for some, and below the table of one."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from stickler_cli.core.figures import number_of, truncate, value_text
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text
from stickler_cli.core.values import dataclass
from stickler_cli.score.errors.non_matches import NON_MATCH_TYPES, NonMatch, explained
from .layout import TableStyle, draw

ErrorRecord: TypeAlias = Mapping[str, Any]  # a line of a file of errors, as JSON values

_OUTCOMES: Final = {name: outcome.name for outcome, name in NON_MATCH_TYPES.items()}


@dataclass(frozen=True, slots=True)
class ErrorList:
    """Errors of a run that were chosen, in the order that was asked for."""

    lines: Sequence[bytes]
    """Each as a line of a file of errors without its end: a tenth of what its values take."""
    inside: int
    """How many of them are inside of what failed as a whole, which is an error itself."""
    documents: int
    """In how many documents they are."""
    total: int
    """How many errors the run has."""

    def records(self) -> Iterator[ErrorRecord]:
        """Yield the errors as JSON values."""
        return map(json.loads, self.lines)  # not orjson, which makes floats of large integers


def render_errors(errors: ErrorList, style: TableStyle) -> str:
    """Return errors as text, how many there are first; ends with a line break."""
    shown = len(errors.lines)
    where = f", in {number_of(errors.documents, 'document')}" if shown else ""
    head = [Text(f"{shown} of {number_of(errors.total, 'error')}{where}", "title")]
    if errors.inside:
        told = f"{errors.inside} of them inside items or objects that failed as a whole"
        head.append(Text(f"{told}, which are errors themselves", "dim", INDENT))
    return draw([head, error_blocks(errors.records(), style) if shown else ()], style)


def records_of(errors: Iterable[tuple[str, NonMatch]]) -> Iterator[ErrorRecord]:
    """Yield errors, each with the id of its document, as JSON values."""
    return ({"document": document, **error.view()} for document, error in errors)


def error_blocks(errors: Iterable[ErrorRecord], style: TableStyle) -> Iterator[Block]:
    """Yield errors as a terminal has room for them, three lines each; a row each in a pipe."""
    if style.plain:
        yield error_table(errors, "gt", "pred")
        return
    for error in errors:
        yield from _error(error, style.room)


def error_table(errors: Iterable[ErrorRecord], *titles: str) -> Table:
    """Return a row for each of some errors; the titles are those of both values."""
    names = ("document", "field", "outcome", "class", *titles, "reason")
    rows = []
    for error in errors:
        told = error.get("details") or {}
        row = [
            Span.of(error["document"]),
            Span.of(error["field_path"]),
            Span.of(_outcome(error), quoted=False),
            Span.of(_class(error), quoted=False),
            *(Span.of(value_text(value)) for value in _values(error)),
            Span.of(explained(error), quoted=bool(told.get("differing_fields", told.get("judge")))),
        ]
        rows.append(row)
    return Table([Column(name, left=True) for name in names], rows)


def _error(error: ErrorRecord, width: int | None) -> Iterator[Block]:
    place = f"{error['document']}  {error['field_path']}  {_outcome(error)}"
    yield Text(f"{place}  {_class(error)}: {explained(error)}", indent=INDENT)
    for side, value in zip(("gt", "pred"), _values(error), strict=True):
        label, text = f"{INDENT}{side:<4}  ", value_text(value)
        shown = text if width is None else truncate(text, max(1, width - len(label)))
        yield Span(label, "dim"), Span(shown)


def _outcome(error: ErrorRecord) -> str:
    name = str(error.get("non_match_type", ""))
    return _OUTCOMES.get(name, name)


def _class(error: ErrorRecord) -> str:
    return str(error.get("class", "")).replace("_", " ")


def _values(error: ErrorRecord) -> tuple[Any, Any]:
    return error.get("ground_truth_value"), error.get("prediction_value")
