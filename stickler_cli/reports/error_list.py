"""Lists of individual errors: the report of `stickler errors`, and lists inside other reports."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from stickler_cli.core.figures import cells, join_some, number_of, truncate, value_text, visible
from stickler_cli.core.json_values import BRIEF_LENGTH, JsonValue, brief
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Block, Column, Section, Span, Table, Text
from stickler_cli.score.errors.causes import split_cause_keys
from stickler_cli.score.errors.error_rows import Error, columns_of_record
from .cause_sentences import CauseText, sum_errors
from .compared_values import cut_around_difference, value_lines
from .layout import TableStyle

FIRST: Final = 3  # number of documents that the heading of a cause lists
MAX_COMPARED: Final = 2_000  # length of a value up to which a difference is searched
GAP: Final = "  "  # gap between two columns of a table
N_GAPS: Final = 3
LABEL_ROOM: Final = 20  # maximum width of the labels of both sides


class ErrorList(NamedTuple):
    """The errors of a run that the user selected, in the requested order."""

    lines: Sequence[bytes]
    """The errors as lines of JSON without line ends. Lines take a tenth of the memory of parsed
    errors."""
    documents: int
    """Number of documents with these errors."""
    total: int | None
    """Number of errors in the run; None if the user selected one cause. A cause counts an item that
    is wrong as a whole, together with the errors inside it, as one error. The number of errors of a
    cause can therefore not be compared with the number of errors in the run."""
    causes: Sequence[CauseText] = ()
    """The causes by which the errors are grouped. The cause of the greatest loss comes first. Empty
    if the errors are not grouped."""

    def rows(self) -> Iterator[Error]:
        """Yield the errors, parsed from their lines."""
        for line in self.lines:  # orjson would turn large integers into floats
            yield Error(**columns_of_record(json.loads(line)))


def sections_of(errors: ErrorList, style: TableStyle, *, page: bool) -> list[Section]:
    """Return a list of errors as sections. The first section counts the errors."""
    n_shown = len(errors.lines)
    groups: dict[int, list[Error]] = {}
    if errors.causes:
        groups, n_wholes = _by_cause(errors)
        n_rows = sum(map(len, groups.values()))
        n_inside = n_shown - n_rows
        inside_text = (
            f"{n_inside} of these errors lie inside items or objects that are wrong as a whole. "
            "Such an item or object is listed once, which leaves "
            f"{number_of(n_rows, 'row')}. To list every error, use --sort document"
        )
    else:
        n_wholes, n_inside = _count_wholes_and_inside(errors.rows())
        inside_text = (
            f"{n_inside} of these errors lie inside items or objects that are also listed as errors"
        )
    documents_text = f", in {number_of(errors.documents, 'document')}" if n_shown else ""
    shown_of_all = "" if errors.total is None else f"{n_shown} of "
    n_errors = n_shown if errors.total is None else errors.total
    head = [Text(f"{shown_of_all}{number_of(n_errors, 'error')}{documents_text}", "title")]
    if errors.total is not None and n_wholes:
        sum_text = sum_errors(n_shown - n_wholes, n_wholes)
        head.append(Text(f"= {sum_text}", "dim", INDENT))
    if n_inside:
        head.append(Text(inside_text, "dim", INDENT))
    sections = [Section("", head)]
    if not errors.causes and n_shown:
        sections.append(Section("", [*error_blocks(errors.rows(), style)]))
    texts = {text.number: text for text in errors.causes}
    sections += (
        _cause_section(cause_errors, texts.get(number), style)
        for number, cause_errors in groups.items()
    )
    return sections


def _cause_section(errors: Sequence[Error], cause: CauseText | None, style: TableStyle) -> Section:
    """Return the errors of a cause under its title. `cause` is None for errors without a cause."""
    title = [Text(_NO_CAUSE, "title")] if cause is None else _heading(cause)
    if not style.verbose:
        return Section("", [*title, *_cause_blocks(errors, style)])
    shown_errors = errors if cause is None else _drop_repeated_origins(errors, cause)
    return Section("", [*title, *error_blocks(shown_errors, style)])


def _count_wholes_and_inside(errors: Iterable[Error]) -> tuple[int, int]:
    """Return (number of items and objects that are wrong as a whole, number of errors inside)."""
    n_wholes = n_inside = 0
    for error in errors:
        n_wholes += error.values is not None
        n_inside += error.inside is not None
    return n_wholes, n_inside


def _by_cause(errors: ErrorList) -> tuple[dict[int, list[Error]], int]:
    """Return (errors of each cause, number of items and objects that are wrong as a whole).

    The keys of the dict are the numbers of the causes. The key 0 is for errors without a cause.
    Errors inside an item or object that is wrong as a whole are left out.
    """
    texts_by_key = {cause.key: text for text in errors.causes for cause in text.causes}
    groups: dict[int, list[Error]] = {text.number: [] for text in errors.causes}
    failed_wholes, n_wholes = set[tuple[str, str]](), 0
    for error in errors.rows():
        if error.values is not None:
            n_wholes += 1
            failed_wholes.add((error.document, error.path))
        if error.inside is None or (error.document, error.inside) not in failed_wholes:
            group_key, own_key = split_cause_keys(error.cause)
            text = texts_by_key.get(own_key) or texts_by_key.get(group_key)
            groups.setdefault(text.number if text else 0, []).append(error)
    groups = {number: cause_errors for number, cause_errors in groups.items() if cause_errors}
    return groups, n_wholes


def _drop_repeated_origins(errors: Sequence[Error], cause: CauseText) -> list[Error]:
    """Return the errors of a cause, without their origin if the title of the cause states it.

    The origin is dropped only if all errors have the same origin, and the title ends with it.
    """
    origins = {error.origin for error in errors}
    is_repeated = len(origins) == 1 and "" not in origins and cause.text.endswith(origins.pop())
    return [error._replace(origin="") for error in errors] if is_repeated else [*errors]


_NO_CAUSE: Final = "errors without a numbered cause"


def _heading(text: CauseText) -> list[Text]:
    documents = f" ({join_some(text.documents, FIRST)})" if text.documents else ""
    title = Text(f"{text.number}  {text.values:,}  {text.text}{documents}", "title", INDENT)
    return [title, *(Text(origin, indent=INDENT, margin=INDENT) for origin in text.origins)]


def _cause_blocks(errors: Sequence[Error], style: TableStyle) -> Iterator[Block]:
    """Yield a table with a row for each error.

    On a narrow terminal, yield three lines for each error.
    """
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
    """Return (true value, predicted value) of an error as texts.

    If both values are items, only the fields that differ are shown. If the predicted value is the
    true value of another field, the path of that field is added.
    """
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
    """Return a value as JSON text, cut to the maximum length of texts that are compared."""
    return visible(brief(value, MAX_COMPARED))


def error_blocks(errors: Iterable[Error], style: TableStyle) -> Iterator[Block]:
    """Yield errors.

    On a terminal, each error has three lines. In a pipe, the errors are a table.
    """
    if style.plain:
        yield error_table(errors, "gt", "pred")
        return
    for error in errors:
        yield from _error(error, style.room)


def error_table(errors: Iterable[Error], *titles: str) -> Table:
    """Return a table with a row for each error.

    `titles` are the titles of the columns with values.
    """
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
                error.explanation,
                quoted=bool(error.differing or error.judge or error.swapped_with or error.origin),
            ),
        ]
        rows.append(row)
    return Table([Column(name, left=True) for name in names], rows)


def _error(error: Error, width: int | None) -> Iterator[Block]:
    location = f"{error.document}  {error.path}  {error.outcome}"
    yield Text(
        f"{location}  {error.error_class.replace('_', ' ')}: {error.explanation}", indent=INDENT
    )
    gt, pred = _sides(error)
    yield from value_lines(gt, pred, width or max(len(gt), len(pred)) + LABEL_ROOM, INDENT)
