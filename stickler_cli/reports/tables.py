"""The tables of runs: the same figures in a terminal, in a pipe and on a page.

A page has marks and names in columns of their own, full titles and the intervals of groups last.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.core.figures import rate, setting, visible
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Column, Figure, Figures, Span, Table, Tone
from stickler_cli.score.policy import PASSING, PolicyOutcome, name_of
from stickler_cli.score.sums import EXACT, Counts
from .run_sentences import MODES, describe_both_f1
from .view import FieldRow, RunView

if TYPE_CHECKING:
    from stickler_cli.score.evaluation import Results
    from stickler_cli.score.record import FieldRepeats, Repeats

_OUTCOMES: Final = ("right", "wrong", "missed", "invented", "absent")

_RATES: Final = ("precision", "recall", "F1")

_ABSENT: Final = ("absent", "TN")

WORST_MARK: Final = "!"
WORST_LEGEND: Final = "! look here first: the fields that lost most values"

_SHORT: Final = {
    "precision": "prec",
    "documents": "docs",
    "accuracy": "acc",
    "threshold": "thr",
    "invented": "inv",
    "absent": "abs",
}

TRUST_LEGEND: Final = (
    ("AUROC", "AUROC: the chance that a right value has a higher confidence than a wrong one"),
    ("ECE", "ECE: how far confidence and share right are apart, 0 to 1"),
    ("found", "found: the share of errors among the least confident 10% of values"),
    ("pass", "pass: the share of values from the lowest confidence on that is 99% right here"),
)
BUDGET: Final = "0.1"  # of those that the record of confidences has, the one that is shown
PRECISION: Final = "0.99"  # likewise

REPEATS_LEGEND: Final = (
    "all right, any right: share of documents in which the field is right in all runs, in any",
    "flip: documents in which it is right in some runs only",
)


def ranked_columns(titles: Iterable[str], *ranks: int) -> list[Column]:
    """Return columns with their ranks, by which a narrow terminal leaves them out."""
    ranked = zip(titles, ranks, strict=True)
    return [Column(title, rank, short=_SHORT.get(title, "")) for title, rank in ranked]


def _figure_cells(view: RunView, counts: Counts, tone: Tone) -> list[Span]:
    """Return counts by name, in which zeros are left out, and rates."""
    *rates, f1 = view.run.rule.rates(counts)
    return [
        *_count_spans(counts, _OUTCOMES),
        *(Span(view.rate(value)) for value in rates),
        Span(view.rate(f1), tone),
    ]


def _count_spans(counts: Counts, names: Iterable[str]) -> Iterator[Span]:
    """Yield the counts of some names, empty for 0; those of absent values are faint."""
    for name in names:
        count: int = getattr(counts, name.lower())
        yield Span(f"{count:,}" if count else "", "dim" if name in _ABSENT else "")


def countings_table(view: RunView) -> Table:
    """Return a row for the whole in each counting mode."""
    bounds, tally = view.intervals, view.run.evaluation.tally
    columns = [
        Column("counting", left=True),
        *ranked_columns((*_OUTCOMES, *_RATES), 5, 4, 2, 3, 7, 1, 1, 0),
    ]
    rows = [[Span(mode), *_figure_cells(view, tally.counts(mode), "title")] for mode in MODES]
    if bounds is not None:
        columns.append(Column(view.interval_title, 6))
        for mode, row in zip(MODES, rows, strict=True):
            row.append(Span(view.interval(bounds.rates[mode]["f1"])))
    explained = [("", f"{mode}: {text}") for mode, text in MODES.items()]
    return Table(columns, rows, () if view.page else explained)


def metric_table(figures: Mapping[str, float | None]) -> Table:
    """Return a row for each figure of a metric that was asked for."""
    name, figure = Figure("metric", itemgetter(0), str), itemgetter(1)
    value = Figure("", figure, shown=lambda it: metric_text(figure(it)), tone="title")
    return Figures([name, value], [*figures.items()]).table()


def metric_text(figure: float | None) -> str:
    """Return a figure of any size: as a rate if it may be one."""
    return rate(figure) if figure is None or 0 <= figure <= 1 else setting(figure)


def group_table(view: RunView, key: str, groups: Sequence[tuple[str, "Results"]]) -> Table:
    """Return a row for each of some groups."""
    margin, rule = "" if view.page else INDENT, view.run.rule
    figures = [
        Figure(visible(f"by {view.quoted(key)}"), lambda it: margin + it[0], str),
        Figure("documents", lambda it: it[1].evaluated, int, 1, "docs"),
        Figure("wholly right", lambda it: it[1].wholly_right.right, int, 2),
        Figure("F1", "", shown=lambda it: view.rate(view.f1_of(it[1])), tone="title"),
        Figure("mean score", "", rank=3, shown=lambda it: view.rate(it[1].overall_score)),
    ]
    if view.interval_title:
        bounds = Figure(
            view.interval_title,
            "",
            rank=4,
            shown=lambda it: view.interval(view.bounds("f1", it[1].intervals(rule))),
        )
        figures.insert(5 if view.page else 4, bounds)
    return Figures(figures, groups).table()


MATRIX: Final = ("TP", "FD", "FA", "FN", "TN", "FP", "precision", "recall", "F1", "accuracy")
"""The columns of a confusion matrix."""
MATRIX_NAME: Final = "matrix"  # by which --columns asks for all of them

FIELD_COLUMNS: Final = (
    *ranked_columns((*_OUTCOMES, *_RATES), 4, 2, 1, 3, 9, 7, 6, 0),
    *ranked_columns((*MATRIX[:6], "accuracy"), 4, 2, 3, 1, 9, 5, 8),
    Column("whole", 5, left=True),
    *ranked_columns(EXACT, 8, 8, 5),
    Column("labelled", 8),
    Column("mean score", 8),
    Column("comparator", 11, left=True),
    *ranked_columns(("threshold", "weight"), 10, 12),
)
USUAL_COLUMNS: Final = ("right", "wrong", "missed", "invented", "F1", "whole", "labelled")
VERBOSE_COLUMNS: Final = tuple(
    column.title
    for column in FIELD_COLUMNS
    if column.title in _RATES or column.title not in (*MATRIX, *EXACT[:2])
)
_ONLY_IF_USED: Final = ("whole", "exact_f1", "labelled")


def field_table(
    view: RunView,
    shown: Sequence[FieldRow],
    titles: Sequence[str] = (),
    *,
    nested: bool = False,
    every: bool = False,
) -> Table:
    """Return a row for each field shown, named by its full path unless names are to be nested.

    Columns are those with the titles given, in their order, else the usual ones, or those of -v;
    but some only where a field has something there.
    """
    beside = not nested or any(row.worst and not row.depth for row in shown)
    named: list[list[Span]] = []
    figures: list[dict[str, Span]] = []
    for row in shown:
        name = INDENT * row.depth + row.name if nested else field_path(row.path)
        tone: Tone = "bad" if row.worst else "" if row.counts.total > row.counts.tn else "dim"
        mark = WORST_MARK if row.worst else ""
        marked = f"{mark:1} {name if beside else name.removeprefix(INDENT)}"
        first = Span.of(marked if beside or mark else name, tone)
        named.append([Span(mark), Span.of(name)] if view.page else [first])
        figures.append(_field_cells(view, row, tone))
    usual = [
        title
        for title in (VERBOSE_COLUMNS if every else USUAL_COLUMNS)
        if title not in _ONLY_IF_USED or any(cells[title].text for cells in figures)
    ]
    by_title = {column.title: column for column in FIELD_COLUMNS}
    chosen = titles or usual
    columns = [
        *([Column("", left=True)] if view.page else []),
        Column("field", left=True),
        *(by_title[title] for title in chosen),
    ]
    rows = [
        [*first, *(cells[title] for title in chosen)]
        for first, cells in zip(named, figures, strict=True)
    ]
    return Table(columns, rows)


def _field_cells(view: RunView, row: FieldRow, tone: Tone) -> dict[str, Span]:
    """Return the figures of a field by the titles of their columns."""
    letters, exact = MATRIX[:6], zip(EXACT, row.tally.exact, strict=True)
    usual = zip((*_OUTCOMES, *_RATES), _figure_cells(view, row.counts, tone), strict=True)
    return {
        **dict(usual),
        **dict(zip(letters, _count_spans(row.counts, letters), strict=True)),
        "accuracy": Span(view.rate(row.accuracy)),
        "whole": Span(row.whole),
        **{title: Span(view.rate(rate) if row.whole else "") for title, rate in exact},
        "labelled": Span(view.labelled(row)),
        "mean score": Span(view.rate(row.score)),
        "comparator": Span.of(row.compared_by, "dim"),
        "threshold": Span(setting(row.threshold), "dim"),
        "weight": Span(setting(row.weight), "dim"),
    }


MATRIX_LEGEND: Final = "confusion matrix: TP right, FD wrong, FA invented, FN missed, TN absent"


def legend(view: RunView) -> list[tuple[str, str]]:
    """Return the explanations of a table of all columns: a column, and a text."""
    rows = view.rows
    lines = []
    if any(None in row.rates for row in rows):
        lines.append(("F1", "- nothing to divide by"))
    if view.leaves_wrong_out:
        lines.append(("", describe_both_f1(view)))
    lines.append(("", MATRIX_LEGEND))
    if any(row.whole for row in rows):
        lines.append(("whole", "whole: how many items or objects are right as a whole"))
        lines.append(("exact_f1", "exact_f1: F1 of items or objects that are right as a whole"))
    if any(map(view.labelled, rows)):
        lines.append(("labelled", "labelled: in which share of documents it is, if not in all"))
    lists = any(row.score is None and row.counts.total for row in rows)
    none = "; the fields of list items have none" if lists else ""
    lines.append(("mean score", f"mean score: after clipping{none}"))
    return lines + ([("", WORST_LEGEND)] if any(row.worst for row in rows) else [])


def confidence_table(view: RunView) -> Table:
    """Return a row for all values with a confidence, and one for each field."""

    def rated(
        title: str, rank: int, value: Callable[[Any], float | None], tone: Tone = ""
    ) -> Figure:
        return Figure(title, "", rank=rank, shown=lambda it: view.rate(value(it[1])), tone=tone)

    def passing(key: str) -> Callable[[Any], float | None]:
        return lambda it: (it["selective"][PRECISION] or {}).get(key)

    known = view.confidence or {"fields": {}}
    rows = [("all", known)] if "units" in known else []
    rows += sorted(known["fields"].items())
    figures = [
        Figure("confidence", itemgetter(0), str),
        Figure("values", lambda it: it[1]["units"], int, 5),
        rated("right", 1, lambda it: it["right"] / it["units"]),
        rated("AUROC", 0, itemgetter("auroc"), "title"),
        rated("ECE", 2, itemgetter("ece")),
        rated("Brier", 6, itemgetter("brier")),
        rated("found", 3, lambda it: it["error_capture"][BUDGET]),
        rated("from", 7, passing("threshold")),
        rated("pass", 4, passing("coverage")),
    ]
    return Figures(figures, rows, () if view.page else TRUST_LEGEND).table()


def policy_table(outcome: PolicyOutcome) -> Figures:
    """Return a row for each field, with the values that pass unseen by a policy."""
    figures = [
        Figure("field", name_of, str),
        Figure("from", "threshold", rank=3),
        Figure("values", "values", int, 4),
        Figure("pass", lambda it: it.accepted / it.values if it.values else None, tone="title"),
        Figure("documents", "documents", int, 5),
        Figure(
            *("wrong", "error"),
            rank=1,
            tone=lambda it: "bad" if (it.error or 0) > outcome.max_error else "",
        ),
    ]
    return Figures(figures, outcome.fields, PASSING)


def repeats_table(repeats: "Repeats") -> Table:
    """Return a row for each field."""

    def end(choose: Callable[..., float | None]) -> Callable[["FieldRepeats"], float | None]:
        return lambda it: choose((f1 for f1 in it.f1 if f1 is not None), default=None)

    figures = [
        Figure("field", "field", str),
        Figure("lowest F1", end(min)),
        Figure("highest F1", end(max)),
        Figure("documents", "documents", int, 4),
        Figure("all right", lambda it: it.right_in_all / it.documents, rank=2),
        Figure("any right", lambda it: it.right_in_any / it.documents, rank=3),
        Figure("flip", "flipping", int, tone=lambda it: "warn" if it.flipping else "dim"),
    ]
    rows = [field for field in repeats.fields if field.documents]
    return Figures(figures, rows, [("", text) for text in REPEATS_LEGEND]).table()
