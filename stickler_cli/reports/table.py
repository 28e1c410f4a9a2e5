"""The report that people read, in a terminal or in a pipe."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.reports.drawing import drawn, stacked
from stickler_cli.reports.figures import cut, rates_of, setting, value_text, visible
from stickler_cli.reports.groups import GroupRow, any_interval, group_rows
from stickler_cli.reports.layout import (
    BLANK,
    Column,
    Line,
    Span,
    Table,
    Tone,
    paragraph,
    table_lines,
)
from stickler_cli.reports.rows import FieldRow, field_rows
from stickler_cli.reports.style import TableStyle
from stickler_cli.reports.summary import (
    DISAGREE,
    LEGEND,
    WORST_LEGEND,
    WORST_MARK,
    disagreement,
    error_classes,
    gate_limits,
    headline,
    interval_title,
    intervals,
    notes,
    problems,
    readings,
    verdicts,
    worst_fields,
)
from stickler_cli.score.intervals import interval_text
from stickler_cli.score.rate_text import rate
from stickler_cli.score.record import Run

MOST_GROUPS_SHOWN: Final = 20
"""Groups that a terminal shows, the worst; a pipe gets all."""
INDENT: Final = "  "

_READING_COLUMNS: Final = (
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


def render(run: Run, style: TableStyle) -> str:
    """Draw a run as tables and sentences; ends with a line break."""
    return drawn(_report(run, style), style)


def _report(run: Run, style: TableStyle) -> list[Line]:
    width = None if style.plain else style.width
    sections = (
        _head(run, width),
        _readings(run, width),
        _groups(run, width),
        _fields(run, width, plain=style.plain),
        _non_matches(style, width),
        _gates(run, width),
        _notes(run, width),
        _problems(run, width),
    )
    return stacked(sections)


def _head(run: Run, width: int | None) -> list[Line]:
    verdict_lines = [line for text in verdicts(run) for line in paragraph(text, width)]
    title = f"{run.schema.model_name} ({run.schema.path})"
    return [*paragraph(title, width, "title"), *paragraph(headline(run), width), *verdict_lines]


def _readings(run: Run, width: int | None) -> list[Line]:
    limits = gate_limits(run)
    columns, bounds = list(_READING_COLUMNS), intervals(run)
    if bounds is not None:
        columns.append(Column(interval_title(run), _INTERVAL_RANK))
    rows = [
        [
            Span(name),
            *_counts(counts.tp, counts.fd, counts.fa, counts.fn, counts.tn),
            *(Span(rate(value, limits)) for value in (rates.precision, rates.recall)),
            Span(rate(rates.f1, limits), "title"),
            *([Span(interval_text(bounds.rates[name]["f1"], limits))] if bounds else ()),
        ]
        for name, (counts, rates) in readings(run).items()
    ]
    lines, _ = table_lines(Table(columns, rows), width)
    doubt = disagreement(run)
    lines += paragraph(doubt, width, "warn") if doubt else []
    errors = error_classes(run)
    return lines + ([BLANK, *paragraph(errors, width, "", INDENT)] if errors else [])


def _counts(tp: int, fd: int, fa: int, fn: int, tn: int) -> list[Span]:
    """Show counts so that errors stand out from zeros."""
    errors = [Span(str(count), "" if count else "dim") for count in (fd, fa, fn)]
    return [Span(str(tp)), *errors, Span(str(tn), "dim")]


def _groups(run: Run, width: int | None) -> list[Line]:
    lines: list[Line] = []
    for key, groups in group_rows(run).items():
        shown = groups if width is None else groups[:MOST_GROUPS_SHOWN]
        lines += [BLANK] if lines else []
        lines += _group_table(run, key, shown, width)
        if len(shown) < len(groups):
            more = f"and {len(groups) - len(shown)} more; all of them are in the JSON report"
            lines += paragraph(more, width, "dim", INDENT)
    return lines


def _group_table(run: Run, key: str, groups: Sequence[GroupRow], width: int | None) -> list[Line]:
    limits = gate_limits(run)
    columns = [
        Column(visible(f"by {key}"), left=True),
        *(Column("documents", 1, short="docs"), Column("F1")),
        *([Column(interval_title(run), 4)] if any_interval(groups) else ()),
        *(Column("leaves", 2), Column("score", 3)),
    ]
    rows = [
        [
            Span.of(f"  {row.name}"),
            Span(str(row.documents)),
            Span(rate(row.f1, limits), "title"),
            *([Span(interval_text(row.interval, limits))] if any_interval(groups) else ()),
            Span(rate(row.leaves, limits)),
            Span(rate(row.score, limits)),
        ]
        for row in groups
    ]
    return table_lines(Table(columns, rows), width)[0]


def _fields(run: Run, width: int | None, *, plain: bool) -> list[Line]:
    rows = field_rows(run)
    if not rows:
        return []
    table = Table(_FIELD_COLUMNS, [_field_cells(run, row, plain=plain) for row in rows])
    lines, dropped = table_lines(table, width)
    worst = worst_fields(run, rows)
    above = [*paragraph(worst, width, "bad", INDENT), BLANK] if worst else []
    legend = [text for text in LEGEND if text.partition(":")[0] not in dropped]
    if worst:
        legend.append(WORST_LEGEND)
    if dropped:
        legend.append(f"no room for: {', '.join(dropped)}")
    below = [line for text in legend for line in paragraph(text, width, "dim", INDENT)]
    return [*above, *lines, BLANK, *below]


def _field_cells(run: Run, row: FieldRow, *, plain: bool) -> list[Span]:
    limits = gate_limits(run)
    with_fd = run.options.recall_with_fd
    counts = row.tally.counts("overall")
    rates = rates_of(counts, recall_with_fd=with_fd)
    leaves = rates_of(row.tally.counts("leaves"), recall_with_fd=with_fd).f1
    name = field_path(row.path) if plain else INDENT * row.depth + row.name
    mark = WORST_MARK if row.worst else " "
    tone: Tone = "bad" if row.worst else "" if row.tally.fields or leaves is not None else "dim"
    lower = leaves is not None and (rates.f1 is None or leaves < rates.f1 - DISAGREE)
    info = row.info
    return [
        Span.of(f"{mark} {name}", tone),
        Span.of(row.compared_by, "dim"),
        Span(setting(info.threshold if info else None), "dim"),
        Span(setting(row.weight), "dim"),
        *_counts(counts.tp, counts.fd, counts.fa, counts.fn, counts.tn),
        Span(rate(rates.precision, limits)),
        Span(rate(rates.recall, limits)),
        Span(rate(rates.f1, limits), tone),
        Span(rate(leaves, limits), "warn" if lower else ""),
        Span(rate(row.tally.mean_score, limits)),
    ]


def _non_matches(style: TableStyle, width: int | None) -> list[Line]:
    chosen = style.chosen()
    if not style.show_non_matches:
        return []
    if not chosen:
        return [(Span("no non-matches"),)]
    which = "all" if len(chosen) < style.show_non_matches else "the first"
    title = (Span(f"non-matches, {which} {len(chosen)}", "title"),)
    if style.plain:
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
    lines: list[Line] = [title]
    for document, entry in chosen:
        place = f"{document}  {field_path(entry.path)}  {entry.outcome.name}"
        kind = entry.error_class.replace("_", " ")
        lines += paragraph(f"{place}  {kind}: {entry.explanation}", width, "", INDENT)
        for side, value in (("gt", entry.gt), ("pred", entry.pred)):
            text = value_text(value)
            room = len(INDENT) + 6
            shown = text if width is None else cut(text, max(1, width - room))
            lines.append((Span(f"{INDENT}{side:<4}  ", "dim"), Span(shown)))
    return lines


_NON_MATCH_COLUMNS: Final = (
    "document",
    "field",
    "outcome",
    "class",
    "gt",
    "pred",
    "reason",
)


def _gates(run: Run, width: int | None) -> list[Line]:
    lines: list[Line] = []
    for result in run.gates:
        word, tone = _VERDICTS[result.passed]
        first, *rest = paragraph(f"{word}  {result.reason}", width, "", " " * 6)
        (span,) = first
        lines += [(Span(word, tone), Span(span.text.removeprefix(word))), *rest]
    return lines


_VERDICTS: Final[dict[bool, tuple[str, Tone]]] = {True: ("PASS", "good"), False: ("FAIL", "bad")}


def _notes(run: Run, width: int | None) -> list[Line]:
    return [line for text in notes(run) for line in paragraph(f"note: {text}", width, "", INDENT)]


def _problems(run: Run, width: int | None) -> list[Line]:
    title, named, more = problems(run)
    lines: list[Line] = []
    for status, text in named:
        lines += paragraph(f"{status:<9}  {text}", width, "warn", INDENT)
    if more:
        lines += paragraph(f"and {more} more; all of them are in the JSON report", width)
    return (
        [*paragraph(f"documents with problems: {title}", width, "title"), *lines] if lines else []
    )
