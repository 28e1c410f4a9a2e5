"""Commands that list the fields of schemas, and comparators."""

from collections.abc import Iterable, Iterator, Sequence
from inspect import Parameter
from pathlib import PurePath
from textwrap import fill, indent
from typing import Final

from stickler_cli.comparators.comparator_registry import describe, plugin_names
from stickler_cli.compare.text_rules import texts_by_note
from stickler_cli.core.figures import WHOLE, join_some, number_of, setting, visible
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import SchemaError
from stickler_cli.core.sections import INDENT, Block, Column, Section, Span, Table, Text, notes
from stickler_cli.reports.layout import draw
from stickler_cli.schema.inference import Inferred
from stickler_cli.schema.inference.choices import ANNOTATED
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.settings.of_commands import CheckSettings, ShowSettings
from .command_schema import schema_of
from .console import ExitCode, show_problems, write_result
from .outputs import style_of

ANNOTATION: Final = "annotation"
DEFAULT: Final = "default"
_COLUMNS: Final = (
    Column("field", left=True),
    Column("comparator", 1, left=True),
    Column("threshold", 2, short="thr"),
    Column("weight", 3),
    Column("kind", 4, left=True),
)
_SAID_BY: Final = Column("set by", left=True)
_RULES: Final = Column("rules", 5, left=True)


def check(settings: CheckSettings) -> ExitCode:
    """Run `stickler check`: compile schemas and report all problems. It reads no documents."""
    code = ExitCode.OK
    for schema in settings.schema:
        try:
            loaded = schema_of(schema, settings)
            problems = loaded.refusals
        except SchemaError as error:
            problems = error.problems
        if problems:
            code = ExitCode.USAGE
            show_problems(problems)
        elif not settings.quiet:
            name = "" if loaded.name == PurePath(loaded.path).stem else f" ({loaded.name})"
            text = f"{schema}: no problems{name}"
            lines = (text, *_unions(loaded.fields))
            write_result("".join(f"{visible(line)}\n" for line in lines))
    return code


def _unions(fields: Iterable[Inferred]) -> Iterator[str]:
    """Yield a text for each field that is a union: its alternatives and their comparators."""
    arms: dict[Path, list[Inferred]] = {}
    for field in fields:
        arms.setdefault(field.path, []).append(field)
    for path, of_field in arms.items():
        readings = [
            f"as {arm.kind} by {arm.compared_by or 'the fields inside'}" for arm in of_field
        ]
        kinds = {arm.kind for arm in of_field}
        texts = "string" in kinds and kinds & {"number", "integer"}
        rule = "; a text that contains a number is compared as a number" if texts else ""
        if len(readings) > 1:
            yield f"  {field_path(path)}: compared {', '.join(readings)}{rule}"


def _default_of(keyword: Parameter) -> str:
    return "required" if keyword.default is keyword.empty else brief(keyword.default)


def list_comparators() -> ExitCode:
    """Run `stickler comparators`: list the comparators with their keywords and defaults."""
    blocks = []
    for entry in describe():
        lines = [" = ".join((entry.name, *entry.aliases)), indent(fill(entry.summary, 76), "  ")]
        lines += (f"  - {keyword.name} ({_default_of(keyword)})" for keyword in entry.keywords)
        blocks.append("\n".join(lines))
    plugins = plugin_names()
    if plugins:
        blocks.append("From installed packages: " + ", ".join(plugins))
    write_result("\n\n".join(blocks) + "\n")
    return ExitCode.OK


def show(settings: ShowSettings) -> ExitCode:
    """Run `stickler show`: print how each field of a schema is compared.

    Fields are printed as a tree, or in a pipe with their full paths.
    """
    loaded = schema_of(settings.schema, settings)
    style, fields = style_of(settings), loaded.fields
    name, path = loaded.name, loaded.path
    head = f"{path if name in path else f'{name} ({path})'}: {number_of(len(fields), 'field')}"
    blocks: list[Block] = [Text(head, "title")]
    if not fields:
        blocks.append(Text("the schema declares no fields, so each value is compared by its type"))
    table = [_field_table(fields, tree=not style.plain)] if fields else []
    about_texts = Section("", notes(_text_notes(loaded)))
    write_result(draw([Section("", blocks), Section("", table), about_texts], style))
    return ExitCode.OK


MAX_NAMED_FIELDS: Final = 100  # length of a note: ten lines of a terminal


def _text_notes(loaded: LoadedSchema) -> Iterator[str]:
    """Yield a sentence for each rule on how texts are compared.

    The sentence names the fields to which the rule applies.
    """
    texts = {field.path for field in loaded.fields if "string" in field.kind}
    for note, paths in texts_by_note(loaded.plan).items():
        names = [field_path(path) or WHOLE for path in paths if path in texts]
        if names:
            yield f"{note}; fields with this rule: {join_some(names, MAX_NAMED_FIELDS)}"


def _field_table(fields: Sequence[Inferred], *, tree: bool) -> Table:
    """Return a table with a row for each field. If `tree` is true, details are below each row."""
    rows, below = [], []
    rules = any(field.rules for field in fields)  # rules about the ground truth
    for field in fields:
        source, margin = source_of_comparison(field), INDENT * (len(field.path) - 1) if tree else ""
        name = margin + (field_path(field.path[-1:] if tree else field.path) or WHOLE)
        comparator = field.comparator.removesuffix("Comparator") if tree else field.compared_by
        figures = setting(field.threshold), setting(field.weight)
        last = (*(() if tree else (source,)), *(("; ".join(field.rules),) if rules else ()))
        rows.append([Span.of(cell) for cell in (name, comparator, *figures, field.kind, *last)])
        details = filter(None, (field.keywords, "" if source == ANNOTATION else source))
        below.append([Text(text, "dim", margin=f"{margin}{INDENT}") for text in details])
    columns = (*_COLUMNS, *(() if tree else (_SAID_BY,)), *((_RULES,) if rules else ()))
    if not tree:
        return Table(columns, rows)
    legend = [
        ("field", ("if there is no line below a field, all its settings come from annotations"))
    ]
    return Table(columns=columns, rows=rows, legend=legend, below=below)


def source_of_comparison(field: Inferred) -> str:
    """Return what decided the comparator and the threshold of a field, such as "annotation"."""
    decided = {"comparator": bool(field.comparator), "threshold": field.threshold is not None}
    undecided = [name for name in decided if decided[name] and name not in field.stated]
    is_inferred = field.source == "inferred"
    remainder = f"inferred: {field.reason}" if is_inferred else DEFAULT
    if not undecided and field.stated:
        has_reason = field.reason not in {"", ANNOTATED} and "comparator" in field.stated
        reason = field.reason.removeprefix(f"{ANNOTATED}; ")
        return f"{ANNOTATION}: {reason}" if has_reason else ANNOTATION
    if not undecided or not field.stated:
        return remainder
    stated, others = ", ".join(field.stated), ", ".join(undecided)
    origin = remainder if is_inferred else "by default"
    return f"{stated} from an {ANNOTATION}; {others} {origin}"
