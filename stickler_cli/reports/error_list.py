"""Single errors as a list: of a run that was asked for some, and below the table of one."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from stickler_cli.core.figures import cells, join_some, number_of, truncate, value_text, visible
from stickler_cli.core.json_values import BRIEF_LENGTH, JsonValue, brief
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Block, Column, Section, Span, Table, Text
from stickler_cli.score.errors.causes import split_cause_keys
from stickler_cli.score.errors.error_rows import Error, columns_of_record
from .cause_sentences import CauseText
from .compared_values import cut_around_difference, value_lines
from .layout import TableStyle

FIRST: Final = 3  # documents of a cause that are named
MAX_COMPARED: Final = 2_000  # characters of a value that are looked at for a difference
GAP: Final = "  "  # between two columns of a table
N_GAPS: Final = 3
LABEL_ROOM: Final = 20  # columns that the names of both sides take at most


class ErrorList(NamedTuple):
    """Errors of a run that were chosen, in the order that was asked for."""

    lines: Sequence[bytes]
    """Each as a line of a file of errors without its end: a tenth of what its values take."""
    documents: int
    """In how many documents they are."""
    total: int | None
    """How many errors the run has; None where they are of one cause, whose items count as one."""
    causes: Sequence[CauseText] = ()
    """By which they are told, worst first; none where they are one list."""

    def rows(self) -> Iterator[Error]:
        """Yield the errors."""
        for line in self.lines:  # not orjson, which makes floats of large integers
            yield Error(**columns_of_record(json.loads(line)))


def sections_of(errors: ErrorList, style: TableStyle, *, page: bool) -> list[Section]:
    """Return errors as sections, how many there are first."""
    n_shown, groups = len(errors.lines), _by_cause(errors) if errors.causes else {}
    documents_text = f", in {number_of(errors.documents, 'document')}" if n_shown else ""
    shown_of_all = "" if errors.total is None else f"{n_shown} of "
    n_errors = n_shown if errors.total is None else errors.total
    head = [Text(f"{shown_of_all}{number_of(n_errors, 'error')}{documents_text}", "title")]
    if errors.causes:
        n_hidden = n_shown - sum(map(len, groups.values()))
        hidden_text = (
            f"{n_hidden} more are hidden: they lie inside items or objects already counted as "
            "wrong; show them with --sort document"
        )
    else:
        n_hidden = sum(error.inside is not None for error in errors.rows())
        hidden_text = (
            f"{n_hidden} of them lie inside items or objects that are listed as errors too"
        )
    if n_hidden:
        head.append(Text(hidden_text, "dim", INDENT))
    sections = [Section("", head)]
    if not errors.causes and n_shown:
        sections.append(Section("", [*error_blocks(errors.rows(), style)]))
    texts = {text.number: text for text in errors.causes}
    for number, of_cause in groups.items():
        title = [Text(_NO_CAUSE, "title")] if number not in texts else _heading(texts[number])
        list_errors = error_blocks if style.verbose else _cause_blocks
        rows = list_errors(of_cause, style)
        sections.append(Section("", [*title, *rows]))
    return sections


def _by_cause(errors: ErrorList) -> dict[int, list[Error]]:
    """Return the errors of each cause; an item is one error, with all that is inside of it."""
    texts_by_key = {cause.key: text for text in errors.causes for cause in text.causes}
    groups: dict[int, list[Error]] = {text.number: [] for text in errors.causes}
    failed_wholes = set[tuple[str, str]]()
    for error in errors.rows():
        if error.values is not None:
            failed_wholes.add((error.document, error.path))
        if error.inside is None or (error.document, error.inside) not in failed_wholes:
            group_key, own_key = split_cause_keys(error.cause)
            text = texts_by_key.get(own_key) or texts_by_key.get(group_key)
            groups.setdefault(text.number if text else 0, []).append(error)
    return {number: cause_errors for number, cause_errors in groups.items() if cause_errors}


_NO_CAUSE: Final = "without a cause of their own"


def _heading(text: CauseText) -> list[Text]:
    documents = f" ({join_some(text.documents, FIRST)})" if text.documents else ""
    title = Text(f"{text.number}  {text.values:,}  {text.text}{documents}", "title", INDENT)
    return [title, *(Text(origin, indent=INDENT, margin=INDENT) for origin in text.origins)]


def _cause_blocks(errors: Sequence[Error], style: TableStyle) -> Iterator[Block]:
    """Yield a row for each error, or three lines where a terminal has no room for the values."""
    rows = [[error.document, error.path, *_sides(error)] for error in errors]
    if style.room is None:
        rows = [[*row[:2], *cut_around_difference(row[2], row[3], BRIEF_LENGTH)] for row in rows]
    columns = [Column(title, left=True) for title in ("document", "field", "gt", "pred")]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(columns))]
    if style.room is None or sum(widths) + N_GAPS * len(GAP) <= style.room:
        yield Table(columns, [[Span.of(cell) for cell in row] for row in rows])
        return
    for document, path, gt, pred in rows:
        yield (Span.of(truncate(f"{INDENT}{document}  {path}", style.room)),)
        yield from value_lines(gt, pred, style.room, INDENT * 2)


def _sides(error: Error) -> tuple[str, str]:
    """Return both values; of two items the fields that differ, of a swapped one its place."""
    if error.differing and isinstance(error.gt, dict) and isinstance(error.pred, dict):
        differing_texts = (
            ", ".join(f"{field_path((key,))} {_text_of(side.get(key))}" for key in error.differing)
            for side in (error.gt, error.pred)
        )
        gt, pred = differing_texts
        return gt, pred
    swapped = f" (of {error.swapped_with})" if error.swapped_with else ""
    return _text_of(error.gt), _text_of(error.pred) + swapped


def _text_of(value: JsonValue) -> str:
    """Return a value as JSON, with all that may stand before the first difference of two."""
    return visible(brief(value, MAX_COMPARED))


def error_blocks(errors: Iterable[Error], style: TableStyle) -> Iterator[Block]:
    """Yield errors as a terminal has room for them, three lines each; a row each in a pipe."""
    if style.plain:
        yield error_table(errors, "gt", "pred")
        return
    for error in errors:
        yield from _error(error, style.room)


def error_table(errors: Iterable[Error], *titles: str) -> Table:
    """Return a row for each of some errors; the titles are those of both values."""
    names = ("document", "field", "outcome", "class", *titles, "reason")
    rows = []
    for error in errors:
        row = [
            Span.of(error.document),
            Span.of(error.path),
            Span.of(error.outcome, quoted=False),
            Span.of(error.error_class.replace("_", " "), quoted=False),
            *(Span.of(value_text(value)) for value in (error.gt, error.pred)),
            Span.of(
                error.explanation, quoted=bool(error.differing or error.judge or error.swapped_with)
            ),
        ]
        rows.append(row)
    return Table([Column(name, left=True) for name in names], rows)


def _error(error: Error, width: int | None) -> Iterator[Block]:
    place = f"{error.document}  {error.path}  {error.outcome}"
    yield Text(
        f"{place}  {error.error_class.replace('_', ' ')}: {error.explanation}", indent=INDENT
    )
    gt, pred = _sides(error)
    yield from value_lines(gt, pred, width or max(len(gt), len(pred)) + LABEL_ROOM, INDENT)
