"""The report of a difference of runs as sections, for terminals, pipes and pages of Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from stickler_cli.core.figures import NOTHING, more_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Block, Column, Section, Span, Table, Text, Tone
from stickler_cli.studies.diff.record import Change, Difference, MetricChange
from .difference_view import MARKS, SHORT, DifferenceView, signed
from .layout import TableStyle
from .markdown import code
from .run_sections import gate_blocks
from .tables import metric_text, ranked_columns

MARKER: Final = "<!-- stickler diff -->"
"""The first line of a page, by which a script finds the comment that it posted before."""


def sections_of(difference: Difference, style: TableStyle, *, page: bool) -> list[Section]:
    """Return a difference as sections, in the order of a terminal or of a page."""
    view = DifferenceView(difference, code, page=True) if page else DifferenceView(difference)
    gates = [*gate_blocks(difference.gates, page=page)]
    findings = [Text(text, tone, INDENT) for tone, text in view.findings]
    whole: list[Block] = [change_table(view, view.whole)]
    metrics = [metric_changes_table(difference.metrics)] if difference.metrics else []
    parts: list[Sequence[Block]]
    nested = not (style.plain or page)
    fields = [change_table(view, difference.fields, "field", nested=nested)]
    documents = [[*_documents(view, what)] for what in view.documents]
    contrasts = [*_contrasts(view)]
    figures = fields if difference.fields else []
    if page:
        title = [Text(f"{MARKER}\n### {view.title}"), Text(view.verdict[1], "title")]
        head = [*title, *contrasts, Text(view.headline), Text(view.of_runs)]
        parts = [head, gates, findings, whole, metrics, *documents, figures]
    else:
        trend = Text(view.trend_line, MARKS[difference.whole[0].trend][1], INDENT)
        told = [Text(view.headline), trend, Text(view.of_runs, "dim", INDENT)]
        head = [Text(view.title, "title"), *contrasts, *told]
        parts = [head, whole, metrics, findings, figures, *documents, gates]
    return [Section("", part) for part in parts]


def _contrasts(view: DifferenceView) -> Iterator[Text]:
    words = {True: "not comparable: ", False: "differs: "}
    if view.page:
        words = {True: "**not comparable**: ", False: ""}
    for decides, text in view.contrasts:
        yield Text(words[decides] + text, "bad" if decides else "warn", INDENT)


def _documents(view: DifferenceView, what: str) -> Iterator[Text]:
    documents, more = view.documents[what]
    if documents and view.page:
        yield Text(f"Documents that got {what}:")
    elif documents:
        yield Text(f"documents that got {what}", "title")
    mark, gap = ("**broke hard**: ", " ") if view.page else ("broke hard: ", "  ")
    for document in documents:
        told = (mark if document.hard else "") + view.document_text(document)
        text = f"{signed(document.change)}{gap}{view.quoted(document.id)}: {told}"
        yield Text(text, "bad" if document.hard else "", INDENT * 2)
    if more:
        yield Text(more_of(more), indent=INDENT if view.page else "")


def metric_changes_table(changes: Iterable[MetricChange]) -> Table:
    """Return a row for each figure of a metric of both runs."""
    return Table(
        [Column("metric", left=True), *map(Column, ("before", "after", "change"))],
        [
            [
                Span.of(each.name),
                Span(metric_text(each.before)),
                Span(metric_text(each.after), "title"),
                Span(NOTHING if each.change is None else f"{each.change:+.4g}"),
            ]
            for each in changes
        ],
    )


def change_table(
    view: DifferenceView,
    changes: Iterable[Change],
    first: str = "",
    *,
    nested: bool = False,
) -> Table:
    """Return a row for each figure; only fields, whose column has a title, are broken and fixed."""
    columns = [
        *([Column("", left=True)] if view.page else []),
        Column(first, left=True),
        *ranked_columns(("before", "after", "change"), 3, 2, 0),
        Column(view.interval_title, 7, short="CI"),
        *(ranked_columns(("p", "broken", "fixed"), 4, 5, 6) if first else [Column("p", 4)]),
        Column("trend", 1, left=True),
        Column("decided by", 8, left=True),
    ]
    cells = []
    for change in changes:
        path, decided, (mark, tone) = change.path, change.decided_by, MARKS[change.trend]
        name = INDENT * (len(path) - 1) + field_path(path[-1:]) if nested else view.name(change)
        counts = (change.broken, change.fixed) if first else ()
        tones: tuple[Tone, ...] = ("", "", tone, "", "")
        cells.append(
            [
                *(map(Span, (mark, name)) if view.page else [Span.of(f"{mark} {name}", tone)]),
                *map(Span, view.figures(change), tones),
                *(Span(str(count), "" if count else "dim") for count in counts),
                Span(change.trend.value, tone),
                Span(decided.value if view.page else SHORT[decided], "dim"),
            ]
        )
    return Table(columns, cells, [("", text) for text in view.legend] if first else ())
