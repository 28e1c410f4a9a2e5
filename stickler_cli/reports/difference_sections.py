"""A difference of runs: figures and sentences of all reports, and sections that draw them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from stickler_cli.core.figures import NOTHING, Quoting, more_of, number_of, rate, some_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import (
    INDENT,
    Block,
    Column,
    Figure,
    Figures,
    Section,
    Span,
    Table,
    Text,
    Tone,
)
from stickler_cli.score.gates import SCORE
from stickler_cli.settings.deciding import CountingOptions
from stickler_cli.studies.diff.record import (
    F1,
    WHOLLY_RIGHT,
    Change,
    Decision,
    Difference,
    DocumentChange,
    MetricChange,
    Trend,
)
from .layout import TableStyle
from .markdown import code
from .run_sections import gate_blocks
from .run_sentences import MODES, gate_sentence
from .tables import metric_text, ranked_columns

MARKER: Final = "<!-- stickler diff -->"
"""The first line of a page, by which a script finds the comment that it posted before."""

NAMED: Final = 5
"""Documents, or fields of one, that a report for people names; those that broke hard besides."""

MOST_HARD: Final = 20  # documents that broke hard that a report for people names

MARKS: Final[dict[Trend, tuple[str, Tone]]] = {
    Trend.IMPROVED: ("+", "good"),
    Trend.REGRESSED: ("-", "bad"),
    Trend.IDENTICAL: ("=", "dim"),
    Trend.UNCHANGED: ("=", "dim"),
    Trend.UNCLEAR: ("?", ""),
}
"""Mark and tone of each figure: a drop is never green, nor a trend told by colour alone."""

SHORT: Final = {
    Decision.EXACT: "exact test",
    Decision.SAMPLED: "sampled test",
    Decision.RUNS: "runs, documents",
    Decision.INTERVAL: "interval",
    Decision.DOCUMENTS: "documents",
    Decision.EQUAL: "equal",
    Decision.TEST_ALONE: "not interval",
    Decision.INTERVAL_ALONE: "not test",
}


_NAMES: Final = {F1: "F1", WHOLLY_RIGHT: "wholly right", SCORE: "mean score"}
"""How figures of the whole are called."""


def signed(value: float | None, limits: Iterable[float] = ()) -> str:
    """Return a change with its sign, with the digits of a rate.

    >>> signed(0.25), signed(-0.00001), signed(0.0), signed(None)
    ('+0.2500', '-0.0001', '0.0000', '-')
    """
    sign = "" if not value else "+" if value > 0 else "-"
    return sign + rate(None if value is None else abs(value), set(limits))


@dataclass(frozen=True)
class DifferenceView:
    """A difference, and everything that reports show of it."""

    difference: Difference
    quoted: Quoting = str
    """How names are written inside a sentence."""
    page: bool = False
    """Whether it is for a page of Markdown."""

    @cached_property
    def _limits(self) -> set[float]:
        """The limits of gates, onto which no change may be rounded."""
        return {abs(result.gate.limit) for result in self.difference.gates}

    @property
    def whole(self) -> list[Change]:
        """The figures of whole documents, F1 in the counting mode that is read."""
        counting = self.difference.settings.counting
        return [it for it in self.difference.whole if it.mode in ("", counting)]

    def name(self, change: Change) -> str:
        """Return the path of a field, or the name of a figure of the whole."""
        if change.field:
            return self.quoted(field_path(change.field))
        return _NAMES.get(change.metric) or change.metric.replace(".", " ")

    def figures(self, change: Change) -> tuple[str, str, str, str, str]:
        """Return before, after, change, its interval, and p; of a field corrected for all."""
        shown, limits = NOTHING, self._limits
        if (interval := change.interval) is not None:
            shown = f"[{signed(interval.lower, limits)}, {signed(interval.upper, limits)}]"
        p = rate(change.corrected_p if change.field else change.p)
        by = signed(change.change, limits)
        return rate(change.before), rate(change.after), by, shown, p

    @property
    def interval_title(self) -> str:
        """The title of a column of intervals of changes."""
        return f"{self.difference.settings.intervals.level * 100:g}% CI of change"

    @property
    def title(self) -> str:
        """The schema, and the runs of both sides."""
        new, counting = self.difference.new, self.difference.settings.counting
        sides = ([it.source, *it.further] for it in (self.difference.base, new))
        source, other = (" + ".join(map(self.quoted, names)) for names in sides)
        read = "" if counting == CountingOptions.counting else f", counting {counting}"
        return f"{self.quoted(new.model_name)}: from {source} to {other}{read}"

    @property
    def of_runs(self) -> str:
        """How far the runs of a side differ, or that there is one of each."""
        first, sides = self.difference.whole[0], []
        for what, found in (("BASE", first.runs_before), ("NEW", first.runs_after)):
            told = f"F1 {rate(min(found))}"
            if len(found) > 1:
                told += f" to {rate(max(found))}"
            sides.append(f"{number_of(len(found), 'run')} of {what}, {told}")
        if max(len(first.runs_before), len(first.runs_after)) > 1:
            return f"{'; '.join(sides)}: p and intervals leave room for other runs of both"
        return "one run of each: runs are compared, not systems (--base and --new take several)"

    @property
    def verdict(self) -> tuple[Tone, str]:
        """A tone, and whether gates failed, with the trends of figures."""
        gates = self.difference.gates
        told = gate_sentence(gates, self.quoted, NAMED) or "no gate set"
        failed = not all(result.passed for result in gates)
        tone: Tone = "bad" if failed else MARKS[self.difference.whole[0].trend][1]
        return tone, f"{told}; {self.trend_line}"

    @property
    def headline(self) -> str:
        """Numbers of documents: compared, better, worse, the same and lost."""
        counts = self.difference.documents
        lost = f"; {counts['lost']} lost, counted as missed" if counts["lost"] else ""
        return (
            f"{number_of(counts['compared'], 'document')} compared: {counts['better']} better, "
            f"{counts['worse']} worse, {counts['same']} the same{lost}"
        )

    @property
    def trend_line(self) -> str:
        """Trend of the run's F1, and the number of fields by trend."""
        fields = {trend: len(self.difference.with_trend(trend)) for trend in Trend}
        by_trend = ", ".join(f"{count} {trend.value}" for trend, count in fields.items() if count)
        return f"F1 {self.told(self.difference.whole[0])}; fields: {by_trend or 'none'}"

    def told(self, change: Change) -> str:
        """Return the change of a figure in words, and its grounds."""
        before, after, by, _, p = self.figures(change)
        by = "" if change.change is None else f" ({by})"
        return f"{before} to {after}{by}: {change.trend.value} (p {p}; {change.decided_by.value})"

    def fields_with(self, *trends: Trend) -> list[tuple[Tone, str]]:
        """Return the tone and a text of each field of some trends, the greatest change first."""
        return [
            (MARKS[trend][1], f"{self.name(change)} {self.told(change)}")
            for trend in trends
            for change in self.difference.with_trend(trend)
        ]

    @property
    def findings(self) -> list[tuple[Tone, str]]:
        """Tone and text of each field that changed, and of changes too small to count."""
        settings = self.difference.settings
        found = self.fields_with(Trend.REGRESSED, Trend.IMPROVED)
        small = [
            f"{self.name(it)} (p {rate(it.corrected_p)})"
            for it in (*self.whole, *self.difference.fields)
            if it.trend is Trend.UNCHANGED and (it.corrected_p or 0) <= settings.alpha
        ]
        if small:
            what = f"more than chance, but by less than {settings.margin:g}, which counts as none"
            found.append(("warn", f"{what}: {some_of(small, NAMED)}"))
        return found

    @property
    def contrasts(self) -> list[tuple[bool, str]]:
        """Differences besides figures, and whether they make the runs incomparable."""
        quoted, difference = self.quoted, self.difference
        found = [
            (each.decides, f"{each.what}: {quoted(each.base)} -> {quoted(each.new)}")
            for each in difference.contrasts
        ]
        others = {
            "not compared in the new run, counted as missed": difference.lost,
            "only in the new run, left out": difference.only_new,
        }
        for what, documents in others.items():
            if documents:
                count = number_of(len(documents), "document")
                found.append((False, f"{count} {what}: {some_of(map(quoted, documents), NAMED)}"))
        return found

    @property
    def documents(self) -> dict[str, tuple[Sequence[DocumentChange], int]]:
        """The documents that got worse and better most, as reports name them, and how many more.

        Of those that broke hard more are named than of others.
        """
        worse, better = self.difference.worse, self.difference.better
        most = max(NAMED, min(sum(document.hard for document in worse), MOST_HARD))
        return {
            "worse": (worse[:most], len(worse[most:])),
            "better": (better[:NAMED], len(better[NAMED:])),
        }

    def document_text(self, document: DocumentChange) -> str:
        """Return the change of a document in words."""
        told = f"score {rate(document.score_before)} to {rate(document.score_after)}"
        if document.status_after != document.status_before:
            told += f", {document.status_after or 'missing'} in the new run"
        before, after = number_of(document.errors_before, "error"), round(document.errors_after, 2)
        told += f", {before} to {after}"
        for what, paths in (("broken", document.broken), ("fixed", document.fixed)):
            if paths:
                told += f"; {what}: {some_of(map(self.quoted, paths), NAMED)}"
        return told

    @property
    def legend(self) -> list[str]:
        """Explanations of the table of fields."""
        settings = self.difference.settings
        return [
            f"before, after: F1 of {MODES[settings.counting]}, over the documents of the first run",
            "p: paired permutation test over documents, corrected for all fields (Holm)",
            f"unchanged: the interval is within {settings.margin:g} of 0, whatever p is",
            f"improved, regressed: p is at most {settings.alpha:.4g}, and the interval excludes 0",
            "not enough data: neither, or only one of the two, which is named",
            "broken, fixed: documents in which the field was right and is wrong, and the reverse",
        ]


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
    documents = [[*_changed_documents(view, what)] for what in view.documents]
    contrasts = [*_contrasts(view)]
    figures = fields if difference.fields else []
    exact = [exact_items_table(view)] if difference.exact_items else []
    if page:
        title = [Text(f"{MARKER}\n### {view.title}"), Text(view.verdict[1], "title")]
        head = [*title, *contrasts, Text(view.headline), Text(view.of_runs)]
        parts = [head, gates, findings, whole, metrics, *documents, figures, exact]
    else:
        trend = Text(view.trend_line, MARKS[difference.whole[0].trend][1], INDENT)
        told = [Text(view.headline), trend, Text(view.of_runs, "dim", INDENT)]
        head = [Text(view.title, "title"), *contrasts, *told]
        parts = [head, whole, metrics, findings, figures, exact, *documents, gates]
    return [Section("", part) for part in parts]


def _contrasts(view: DifferenceView) -> Iterator[Text]:
    words = {True: "not comparable: ", False: "differs: "}
    if view.page:
        words = {True: "**not comparable**: ", False: ""}
    for decides, text in view.contrasts:
        yield Text(words[decides] + text, "bad" if decides else "warn", INDENT)


def _changed_documents(view: DifferenceView, what: str) -> Iterator[Text]:
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


def metric_changes_table(changes: Sequence[MetricChange]) -> Table:
    """Return a row for each figure of a metric of both runs."""

    def change(it: MetricChange) -> str:
        return NOTHING if it.change is None else f"{it.change:+.4g}"

    figures = [
        Figure("metric", "name", str),
        Figure("before", "before", shown=lambda it: metric_text(it.before)),
        Figure("after", "after", shown=lambda it: metric_text(it.after), tone="title"),
        Figure("change", "change", shown=change),
    ]
    return Figures(figures, changes).table()


def exact_items_table(view: DifferenceView) -> Table:
    """Return a row for the F1 of exact items of each list or object that has any."""
    table = change_table(view, view.difference.exact_items)
    title = replace(table.columns[view.page], title="F1 of exact items")
    columns = [*table.columns[: view.page], title, *table.columns[view.page + 1 :]]
    return replace(table, columns=columns)


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
        path, decided, (mark, tone) = change.field, change.decided_by, MARKS[change.trend]
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
