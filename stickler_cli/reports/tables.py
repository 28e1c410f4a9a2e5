"""The tables of a run, with the same figures for terminals, pipes and pages.

Tables for a page differ in three points. The mark `!` of a field and the name of the field are in
separate columns. Titles are not shortened. In a table of groups of documents, confidence intervals
are in the last column.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.core.figures import rate, setting, visible
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Column, FigureColumn, Figures, Span, Table, Tone
from stickler_cli.score.sums import EXACT_METRICS, Counts
from .run_sentences import MODES, describe_both_f1
from .view import FieldRow, RunView

if TYPE_CHECKING:
    from stickler_cli.score.evaluation import Results
    from stickler_cli.score.policy import PolicyOutcome
    from stickler_cli.score.repeated_runs import FieldRepeats, Repeats

_OUTCOMES: Final = ("right", "wrong", "missed", "invented", "absent")

_RATES: Final = ("precision", "recall", "F1")

_ABSENT: Final = ("absent", "TN")

WORST_MARK: Final = "!"
WORST_LEGEND: Final = "! look here first: these fields have the most wrong values"

_SHORT: Final = {
    "precision": "prec",
    "documents": "docs",
    "accuracy": "acc",
    "threshold": "thr",
    "invented": "inv",
    "absent": "abs",
}

TRUST_LEGEND: Final = (
    (
        "AUROC",
        ("AUROC: the probability that a right value has a higher confidence than a wrong value"),
    ),
    (
        "ECE",
        (
            "ECE: expected calibration error, how far confidences are from the share of right "
            "values (0 to 1)"
        ),
    ),
    (
        "caught",
        (
            "caught: the share of all errors that a review of the least confident 10% of values "
            "would catch"
        ),
    ),
    (
        "skip",
        (
            "skip: the largest share of values that could have skipped review in this run so that "
            "at least 99% of these values are right; cutoff: the lowest confidence among them"
        ),
    ),
)
BUDGET: Final = "0.1"  # the figure of the confidence record that is shown
PRECISION: Final = "0.99"  # the interval of the confidence record that is shown

REPEATS_LEGEND: Final = (
    (
        "all right: share of documents in which the field is right in all runs; any right: share "
        "of documents in which the field is right in at least one run"
    ),
    "flip: number of documents in which the field is right in only some of the runs",
)


def ranked_columns(titles: Iterable[str], *ranks: int) -> list[Column]:
    """Return a column for each title, with the rank at the same position in `ranks`.

    If a terminal is too narrow, the columns with the highest ranks are dropped first.
    """
    titles_and_ranks = zip(titles, ranks, strict=True)
    return [Column(title, rank, short=_SHORT.get(title, "")) for title, rank in titles_and_ranks]


def _figure_cells(view: RunView, counts: Counts, tone: Tone) -> list[Span]:
    """Return table cells for the counts and for the rates. The cell of a count of 0 is empty."""
    *precision_and_recall, f1 = view.run.rule.rates(counts)
    return [
        *_count_spans(counts, _OUTCOMES),
        *(Span(view.rate(value)) for value in precision_and_recall),
        Span(view.rate(f1), tone),
    ]


def _count_spans(counts: Counts, names: Iterable[str]) -> Iterator[Span]:
    """Yield a table cell for each of the named counts. The cell is empty if the count is 0."""
    for name in names:
        count: int = getattr(counts, name.lower())
        yield Span(f"{count:,}" if count else "", "dim" if name in _ABSENT else "")


def countings_table(view: RunView) -> Table:
    """Return a table of the figures of all documents, with a row for each counting mode."""
    bounds, tally = view.intervals, view.run.evaluation.tally
    columns = [
        Column("counting", left=True),
        *ranked_columns((*_OUTCOMES, *_RATES), 5, 4, 2, 3, 7, 1, 1, 0),
    ]
    rows = [[Span(mode), *_figure_cells(view, tally.counts(mode), "title")] for mode in MODES]
    if bounds is not None and view.interval_title:
        columns.append(Column(view.interval_title, 6))
        for mode, row in zip(MODES, rows, strict=True):
            row.append(Span(view.interval(bounds.rates[mode]["f1"])))
    mode_legend = [("", f"{mode}: {text}") for mode, text in MODES.items()]
    return Table(columns, rows, () if view.page else mode_legend)


def metric_table(figures: Mapping[str, float | None]) -> Table:
    """Return a table with a row for each metric that the user requested."""
    name, figure = FigureColumn("metric", itemgetter(0), str), itemgetter(1)
    value = FigureColumn(
        "", figure, shown=lambda name_and_figure: metric_text(figure(name_and_figure)), tone="title"
    )
    return Figures([name, value], [*figures.items()]).table()


def metric_text(figure: float | None) -> str:
    """Format a figure of any size, as a rate if it is in [0, 1]."""
    return rate(figure) if figure is None or 0 <= figure <= 1 else setting(figure)


def group_table(view: RunView, key: str, groups: Sequence[tuple[str, "Results"]]) -> Table:
    """Return a table with a row for each group of documents."""
    margin, rule = "" if view.page else INDENT, view.run.rule
    figures = [
        FigureColumn(visible(f"by {view.quoted(key)}"), lambda group: margin + group[0], str),
        FigureColumn(
            title="documents",
            value=lambda group: group[1].evaluated,
            kind=int,
            rank=1,
            short="docs",
        ),
        FigureColumn(
            title="wholly right", value=lambda group: group[1].wholly_right.right, kind=int, rank=2
        ),
        FigureColumn("F1", "", shown=lambda group: view.rate(view.f1_of(group[1])), tone="title"),
        FigureColumn(
            "mean score", "", rank=3, shown=lambda group: view.rate(group[1].overall_score)
        ),
    ]
    if view.interval_title:
        bounds = FigureColumn(
            view.interval_title,
            "",
            rank=4,
            shown=lambda group: view.interval(
                view.shown_bounds(group[1].intervals(rule), group[1].evaluated)
            ),
        )
        figures.insert(5 if view.page else 4, bounds)
    return Figures(figures, groups).table()


MATRIX: Final = ("TP", "FD", "FA", "FN", "TN", "FP", "precision", "recall", "F1", "accuracy")
"""Columns of a confusion matrix."""
MATRIX_NAME: Final = "matrix"  # name by which --columns selects all of these columns

FIELD_COLUMNS: Final = (
    *ranked_columns((*_OUTCOMES, *_RATES), 4, 2, 1, 3, 9, 7, 6, 0),
    *ranked_columns((*MATRIX[:6], "accuracy"), 4, 2, 3, 1, 9, 5, 8),
    Column("whole", 5, left=True),
    *ranked_columns(EXACT_METRICS, 8, 8, 5),
    Column("labelled", 8),
    Column("mean score", 8),
    Column("comparator", 11, left=True),
    *ranked_columns(("threshold", "weight"), 10, 12),
)
USUAL_COLUMNS: Final = ("right", "wrong", "missed", "invented", "F1", "whole", "labelled")
VERBOSE_COLUMNS: Final = tuple(
    column.title
    for column in FIELD_COLUMNS
    if column.title in _RATES or column.title not in (*MATRIX, *EXACT_METRICS[:2])
)
_ONLY_IF_USED: Final = ("whole", "exact_f1", "labelled")


def field_table(
    view: RunView,
    rows_: Sequence[FieldRow],
    titles: Sequence[str] = (),
    *,
    is_nested: bool = False,
    verbose: bool = False,
) -> Table:
    """Return a table with a row for each field.

    `titles` are the columns in their order. Without titles, the table has the default columns,
    except those whose cells are all empty. `verbose` adds further columns. Names are full paths
    unless `is_nested` is set.
    """
    has_mark_column = not is_nested or any(row.worst and not row.depth for row in rows_)
    name_cells: list[list[Span]] = []
    figures: list[dict[str, Span]] = []
    for row in rows_:
        name = INDENT * row.depth + row.name if is_nested else field_path(row.path)
        tone: Tone = "bad" if row.worst else "" if row.counts.total > row.counts.tn else "dim"
        mark = WORST_MARK if row.worst else ""
        marked_name = f"{mark:1} {name if has_mark_column else name.removeprefix(INDENT)}"
        name_cell = Span.of(marked_name if has_mark_column or mark else name, tone)
        name_cells.append([Span(mark), Span.of(name)] if view.page else [name_cell])
        figures.append(_field_cells(view, row, tone))
    default_titles = [
        title
        for title in (VERBOSE_COLUMNS if verbose else USUAL_COLUMNS)
        if title not in _ONLY_IF_USED or any(cells[title].text for cells in figures)
    ]
    by_title = {column.title: column for column in FIELD_COLUMNS}
    column_titles = titles or default_titles
    columns = [
        *([Column("", left=True)] if view.page else []),
        Column("field", left=True),
        *(by_title[title] for title in column_titles),
    ]
    rows = [
        [*name_cell, *(cells[title] for title in column_titles)]
        for name_cell, cells in zip(name_cells, figures, strict=True)
    ]
    return Table(columns, rows)


def _field_cells(view: RunView, row: FieldRow, tone: Tone) -> dict[str, Span]:
    """Return a dict from column titles to the figures of a field."""
    matrix_titles, exact_rates = MATRIX[:6], zip(EXACT_METRICS, row.tally.exact_rates, strict=True)
    usual_cells = zip((*_OUTCOMES, *_RATES), _figure_cells(view, row.counts, tone), strict=True)
    return {
        **dict(usual_cells),
        **dict(zip(matrix_titles, _count_spans(row.counts, matrix_titles), strict=True)),
        "accuracy": Span(view.rate(row.accuracy)),
        "whole": Span(row.whole),
        **{title: Span(view.rate(rate) if row.whole else "") for title, rate in exact_rates},
        "labelled": Span(view.labelled(row)),
        "mean score": Span(view.rate(row.score)),
        "comparator": Span.of(row.compared_by, "dim"),
        "threshold": Span(setting(row.threshold), "dim"),
        "weight": Span(setting(row.weight), "dim"),
    }


MATRIX_LEGEND: Final = "columns of the confusion matrix: TP right, FD wrong, FA invented, FN missed"


def legend(view: RunView) -> list[tuple[str, str]]:
    """Return pairs of a column title and its explanation, for all columns of the table."""
    rows = view.rows
    lines = []
    if any(None in row.rates for row in rows):
        lines.append(("F1", "-: undefined, because there is nothing to divide by"))
    if view.leaves_wrong_out:
        lines.append(("", describe_both_f1(view)))
    lines.append(("", MATRIX_LEGEND))
    lines.append(("absent", "TN: absent on both sides"))
    if any(row.whole for row in rows):
        lines.append(("whole", "whole: how many items or objects are completely right"))
        lines.append(
            (
                "exact_f1",
                (
                    "exact_f1: F1 of items or objects, where only completely right ones count as "
                    "right"
                ),
            )
        )
    if any(map(view.labelled, rows)):
        lines.append(
            (
                "labelled",
                (
                    "labelled: the share of documents that have a label for the field, if some "
                    "have none"
                ),
            )
        )
    has_list_fields = any(row.score is None and row.counts.total for row in rows)
    no_score_text = "; fields inside list items have no mean score" if has_list_fields else ""
    score_text = (
        "mean similarity of the values; if clip-under-threshold is set, a value below the "
        "threshold counts as 0"
    )
    lines.append(("mean score", f"mean score: {score_text}{no_score_text}"))
    return lines + ([("", WORST_LEGEND)] if any(row.worst for row in rows) else [])


def confidence_table(view: RunView) -> Table:
    """Return a table of how reliable confidences are.

    The first row is about all values, and the next rows are about the fields.
    """

    def rated(
        title: str, rank: int, value: Callable[[Any], float | None], tone: Tone = ""
    ) -> FigureColumn:
        return FigureColumn(
            title,
            "",
            rank=rank,
            shown=lambda name_and_figures: view.rate(value(name_and_figures[1])),
            tone=tone,
        )

    def passing(key: str) -> Callable[[Any], float | None]:
        return lambda name_and_figures: (name_and_figures["selective"][PRECISION] or {}).get(key)

    figures_of_all = view.confidence or {"fields": {}}
    rows = [("all", figures_of_all)] if "units" in figures_of_all else []
    rows += sorted(figures_of_all["fields"].items())
    figures = [
        FigureColumn("confidence", itemgetter(0), str),
        FigureColumn(
            title="values",
            value=lambda name_and_figures: name_and_figures[1]["units"],
            kind=int,
            rank=5,
        ),
        rated(
            "right",
            1,
            lambda name_and_figures: name_and_figures["right"] / name_and_figures["units"],
        ),
        rated("AUROC", 0, itemgetter("auroc"), "title"),
        rated("ECE", 2, itemgetter("ece")),
        rated("Brier", 6, itemgetter("brier")),
        rated("caught", 3, lambda name_and_figures: name_and_figures["error_capture"][BUDGET]),
        rated("cutoff", 7, passing("threshold")),
        rated("skip", 4, passing("coverage")),
    ]
    return Figures(figures, rows, () if view.page else TRUST_LEGEND).table()


def policy_table(outcome: "PolicyOutcome") -> Figures:
    """Return a table of the values that pass an acceptance policy, with a row for each field."""
    # Imported late: few runs have a policy.
    from stickler_cli.score.policy import PASSING, field_label

    figures = [
        FigureColumn("field", field_label, str),
        FigureColumn("threshold", "threshold", rank=3),
        FigureColumn(title="values", value="values", kind=int, rank=4),
        FigureColumn(
            "accepted",
            lambda field: field.accepted / field.values if field.values else None,
            tone="title",
        ),
        FigureColumn(title="documents", value="documents", kind=int, rank=5),
        FigureColumn(
            *("wrong", "error"),
            rank=1,
            tone=lambda field: "bad" if (field.error or 0) > outcome.max_error else "",
        ),
    ]
    return Figures(figures, outcome.fields, PASSING)


def repeats_table(repeats: "Repeats") -> Table:
    """Return a table of how far several runs agree, with a row for each field."""

    def extreme_f1(choose: Callable[..., float | None]) -> Callable[["FieldRepeats"], float | None]:
        return lambda field_repeats: choose(
            (f1 for f1 in field_repeats.f1 if f1 is not None), default=None
        )

    figures = [
        FigureColumn("field", "field", str),
        FigureColumn("lowest F1", extreme_f1(min)),
        FigureColumn("highest F1", extreme_f1(max)),
        FigureColumn(title="documents", value="documents", kind=int, rank=4),
        FigureColumn(
            "all right",
            lambda field_repeats: field_repeats.right_in_all / field_repeats.documents,
            rank=2,
        ),
        FigureColumn(
            "any right",
            lambda field_repeats: field_repeats.right_in_any / field_repeats.documents,
            rank=3,
        ),
        FigureColumn(
            "flip",
            "flipping",
            int,
            tone=lambda field_repeats: "warn" if field_repeats.flipping else "dim",
        ),
    ]
    rows = [field for field in repeats.fields if field.documents]
    return Figures(figures, rows, [("", text) for text in REPEATS_LEGEND]).table()
