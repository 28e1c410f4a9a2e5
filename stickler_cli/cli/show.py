"""`stickler show`: how each field is compared, and who said so."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.core.figures import WHOLE, number_of, setting
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Block, Column, Section, Span, Table, Text
from stickler_cli.reports.layout import draw
from stickler_cli.schema.inference import Inferred
from stickler_cli.settings.of_commands import ShowSettings
from .command_schema import schema_of
from .console import ExitCode, write_result
from .outputs import style_of

ANNOTATION: Final = "annotation"

_COLUMNS: Final = (
    Column("field", left=True),
    Column("comparator", 1, left=True),
    Column("threshold", 2, short="thr"),
    Column("weight", 3),
    Column("kind", 4, left=True),
)
_SAID_BY: Final = Column("said by", left=True)


def show(settings: ShowSettings) -> ExitCode:
    """Print the plan of a schema: as a tree, or with full paths in a pipe."""
    loaded = schema_of(settings.schema, settings)
    style, fields = style_of(settings), loaded.fields
    head = f"{loaded.plan.model_name} ({loaded.path}): {number_of(len(fields), 'field')}"
    blocks: list[Block] = [Text(head, "title")]
    if not fields:
        blocks.append(Text("without declared fields, values are compared by their kinds"))
    table = [(_lines if style.plain else _tree)(fields)] if fields else []
    write_result(draw([Section("", blocks), Section("", table)], style))
    return ExitCode.OK


def _lines(fields: Sequence[Inferred]) -> Table:
    """Return a row for each field, with all that there is to say."""
    rows = [
        _row(field_path(field.path) or WHOLE, field.compared_by, field, said_by(field))
        for field in fields
    ]
    return Table((*_COLUMNS, _SAID_BY), rows)


def _tree(fields: Sequence[Inferred]) -> Table:
    """Return the fields as a tree; below each what the narrow columns do not say."""
    rows, below = [], []
    for field in fields:
        margin = INDENT * (len(field.path) - 1)
        name = margin + (field_path(field.path[-1:]) or WHOLE)
        rows.append(_row(name, field.comparator.removesuffix("Comparator"), field))
        said = said_by(field)
        more = filter(None, (field.keywords, "" if said == ANNOTATION else said))
        below.append([Text(text, "dim", margin=f"{margin}{INDENT}") for text in more])
    legend = [("field", "where nothing else is below a field, annotations say it all")]
    return Table(_COLUMNS, rows, legend, below)


def _row(name: str, comparator: str, field: Inferred, *more: str) -> list[Span]:
    figures = setting(field.threshold), setting(field.weight)
    return [Span.of(cell) for cell in (name, comparator, *figures, field.kind, *more)]


def said_by(field: Inferred) -> str:
    """Return who said how a field is compared, part by part where several did."""
    parts = {"comparator": bool(field.comparator), "threshold": field.threshold is not None}
    others = [name for name, there in parts.items() if there and name not in field.said]
    rest = f"inferred: {field.reason}" if field.source == "inferred" else "default"
    if not others:
        return ANNOTATION if field.said else rest
    if not field.said:
        return rest
    return f"{ANNOTATION}: {', '.join(field.said)}; {rest}: {', '.join(others)}"
