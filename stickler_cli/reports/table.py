"""The report that people read, in a terminal or in a pipe."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.reports.figures import more_of, setting, truncate, value_text, visible
from stickler_cli.reports.layout import (
    BLANK,
    Column,
    Line,
    Span,
    Table,
    TableStyle,
    Tone,
    gate_lines,
    join,
    paragraph,
    render_lines,
    table_lines,
)
from stickler_cli.reports.rows import FieldRow
from stickler_cli.reports.run_sentences import (
    DISAGREE,
    LEGEND,
    WORST_LEGEND,
    WORST_MARK,
    disagreement,
    error_classes,
    headline,
    notes,
    problems,
    validities,
    worst_fields,
)
from stickler_cli.reports.view import GroupRow, RunView
from stickler_cli.score.counts import Counts
from stickler_cli.score.non_matches import NonMatch
from stickler_cli.score.record import Run

MOST_GROUPS_SHOWN: Final = 20
"""Groups that a terminal shows, the worst; a pipe gets all."""
INDENT: Final = "  "

_WHOLE_COLUMNS: Final = (
    Column("", left=True),
    Column("TP", 5),
    Column("FD", 4),
    Column("FA", 3),
    Column("FN", 2),
    Column("TN", 7),
    Column("precision", 1, short="prec"),
    Column("recall", 1),
    Column("F1"),
)
_INTERVAL_RANK: Final = 6

_FIELD_COLUMNS: Final = (
    Column("field", left=True),
    Column("comparator", 11, left=True),
    Column("threshold", 10, short="thr"),
    Column("weight", 12),
    Column("TP", 4),
    Column("FD", 2),
    Column("FA", 3),
    Column("FN", 1),
    Column("TN", 9),
    Column("precision", 7, short="prec"),
    Column("recall", 6),
    Column("F1"),
    Column("leaves", 5),
    Column("score", 8),
)


_NON_MATCH_COLUMNS: Final = ("document", "field", "outcome", "class", "gt", "pred", "reason")


def render_run(run: Run, style: TableStyle) -> str:
    """Return a run as tables and sentences; ends with a line break."""
    view, width = RunView(run), style.room
    sections = (
        _head(view, width),
        _whole(view, width),
        _groups(view, width),
        _fields(view, width, plain=style.plain),
        _non_matches(view, style),
        gate_lines(run.gates, width),
        [line for text in notes(view) for line in paragraph(f"note: {text}", width, "", INDENT)],
        _problems(view, width),
    )
    return render_lines(join(sections), style)


def _head(view: RunView, width: int | None) -> list[Line]:
    schema = view.run.schema
    lines = paragraph(f"{schema.model_name} ({schema.path})", width, "title")
    for text in (headline(view), *validities(view)):
        lines += paragraph(text, width)
    return lines


def _whole(view: RunView, width: int | None) -> list[Line]:
    columns, bounds = list(_WHOLE_COLUMNS), view.intervals
    if bounds is not None:
        columns.append(Column(view.interval_title, _INTERVAL_RANK))
    rows = [
        [
            Span(mode),
            *_counts(figures.counts),
            Span(view.rate(figures.rates.precision)),
            Span(view.rate(figures.rates.recall)),
            Span(view.rate(figures.rates.f1), "title"),
            *([Span(view.interval(bounds.rates[mode]["f1"]))] if bounds else ()),
        ]
        for mode, figures in view.whole.items()
    ]
    lines, _ = table_lines(Table(columns, rows), width)
    doubt = disagreement(view)
    lines += paragraph(doubt, width, "warn") if doubt else []
    errors = error_classes(view)
    return lines + ([BLANK, *paragraph(errors, width, "", INDENT)] if errors else [])


def _counts(counts: Counts) -> list[Span]:
    """Return counts so that errors stand out from zeros."""
    errors = (counts.fd, counts.fa, counts.fn)
    shown = [Span(str(count), "" if count else "dim") for count in errors]
    return [Span(str(counts.tp)), *shown, Span(str(counts.tn), "dim")]


def _groups(view: RunView, width: int | None) -> list[Line]:
    lines: list[Line] = []
    for key, groups in view.groups.items():
        shown = groups if width is None else groups[:MOST_GROUPS_SHOWN]
        lines += [BLANK] if lines else []
        lines += _group_table(view, key, shown, width)
        if len(shown) < len(groups):
            more = more_of(len(groups) - len(shown))
            lines += paragraph(more, width, "dim", INDENT)
    return lines


def _group_table(
    view: RunView, key: str, groups: Sequence[GroupRow], width: int | None
) -> list[Line]:
    with_interval = any(row.interval for row in groups)
    columns = [
        Column(visible(f"by {key}"), left=True),
        *(Column("documents", 1, short="docs"), Column("F1")),
        *([Column(view.interval_title, 4)] if with_interval else ()),
        *(Column("leaves", 2), Column("score", 3)),
    ]
    rows = [
        [
            Span.of(f"  {row.name}"),
            Span(str(row.documents)),
            Span(view.rate(row.f1), "title"),
            *([Span(view.interval(row.interval))] if with_interval else ()),
            Span(view.rate(row.leaves)),
            Span(view.rate(row.score)),
        ]
        for row in groups
    ]
    return table_lines(Table(columns, rows), width)[0]


def _fields(view: RunView, width: int | None, *, plain: bool) -> list[Line]:
    if not view.rows:
        return []
    table = Table(_FIELD_COLUMNS, [_field_cells(view, row, plain=plain) for row in view.rows])
    lines, dropped = table_lines(table, width)
    worst = worst_fields(view)
    above = [*paragraph(worst, width, "bad", INDENT), BLANK] if worst else []
    legend = [text for text in LEGEND if text.partition(":")[0] not in dropped]
    if worst:
        legend.append(WORST_LEGEND)
    if dropped:
        legend.append(f"no room for: {', '.join(dropped)}")
    below = [line for text in legend for line in paragraph(text, width, "dim", INDENT)]
    return [*above, *lines, BLANK, *below]


def _field_cells(view: RunView, row: FieldRow, *, plain: bool) -> list[Span]:
    rates, leaves = row.rates, row.leaves
    name = field_path(row.path) if plain else INDENT * row.depth + row.name
    mark = WORST_MARK if row.worst else " "
    tone: Tone = "bad" if row.worst else "" if row.tally.fields or leaves is not None else "dim"
    lower = leaves is not None and (rates.f1 is None or leaves < rates.f1 - DISAGREE)
    return [
        Span.of(f"{mark} {name}", tone),
        Span.of(row.compared_by, "dim"),
        Span(setting(row.threshold), "dim"),
        Span(setting(row.weight), "dim"),
        *_counts(row.counts),
        Span(view.rate(rates.precision)),
        Span(view.rate(rates.recall)),
        Span(view.rate(rates.f1), tone),
        Span(view.rate(leaves), "warn" if lower else ""),
        Span(view.rate(row.score)),
    ]


def _non_matches(view: RunView, style: TableStyle) -> list[Line]:
    chosen = view.run.first_non_matches[: style.show_non_matches]
    if not style.show_non_matches:
        return []
    if not chosen:
        return [(Span("no non-matches"),)]
    which = "all" if len(chosen) < style.show_non_matches else "the first"
    title = (Span(f"non-matches, {which} {len(chosen)}", "title"),)
    if not style.plain:
        return [title, *(line for entry in chosen for line in _non_match(*entry, style.room))]
    columns = [Column(name, left=True) for name in _NON_MATCH_COLUMNS]
    rows = [
        [
            Span.of(document),
            Span.of(field_path(entry.path)),
            Span(entry.outcome.name),
            Span(entry.error_class.replace("_", " ")),
            Span(value_text(entry.gt)),
            Span(value_text(entry.pred)),
            Span.of(entry.explanation),
        ]
        for document, entry in chosen
    ]
    return [title, *table_lines(Table(columns, rows))[0]]


def _non_match(document: str, entry: NonMatch, width: int | None) -> list[Line]:
    """Return an error with its values one above the other."""
    place = f"{document}  {field_path(entry.path)}  {entry.outcome.name}"
    kind = entry.error_class.replace("_", " ")
    lines = paragraph(f"{place}  {kind}: {entry.explanation}", width, "", INDENT)
    for side, value in (("gt", entry.gt), ("pred", entry.pred)):
        label, text = f"{INDENT}{side:<4}  ", value_text(value)
        shown = text if width is None else truncate(text, max(1, width - len(label)))
        lines.append((Span(label, "dim"), Span(shown)))
    return lines


def _problems(view: RunView, width: int | None) -> list[Line]:
    title, named, more = problems(view)
    if not named:
        return []
    lines = paragraph(f"documents with problems: {title}", width, "title")
    for status, text in named:
        lines += paragraph(f"{status:<9}  {text}", width, "warn", INDENT)
    if more:
        lines += paragraph(more_of(more), width)
    return lines
