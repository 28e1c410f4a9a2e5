"""The sections of the report of `stickler diff`, and the sentences that all its formats share."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from stickler_cli.core.figures import (
    DIGITS,
    NOTHING,
    Quoting,
    count_unlisted,
    digits_of,
    join_some,
    number_of,
    rate,
)
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import (
    INDENT,
    Block,
    Column,
    FigureColumn,
    Figures,
    Line,
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
from .changed_causes import CauseChangeText, cause_change_blocks, describe_cause_changes
from .layout import TableStyle
from .markdown import code
from .run_sections import gate_blocks
from .run_sentences import MODES, describe_schema, gate_sentence
from .tables import metric_text, ranked_columns

MARKER: Final = "<!-- stickler diff -->"
"""First line of a Markdown page. A CI script uses it to find the comment that it posted before."""

MAX_LISTED: Final = 5
"""Maximum number of documents that a report lists, and of fields that it lists for a document.

If more than `MAX_LISTED` documents got much worse (`DocumentChange.hard`), up to `MOST_HARD` of
them are listed."""

MOST_HARD: Final = 20  # number of documents that broke hard that a report lists

MARKS: Final[dict[Trend, tuple[str, Tone]]] = {
    Trend.IMPROVED: ("+", "good"),
    Trend.REGRESSED: ("-", "bad"),
    Trend.IDENTICAL: ("=", "dim"),
    Trend.UNCHANGED: ("=", "dim"),
    Trend.INCONCLUSIVE: ("?", ""),
}
"""Mark and tone of each trend. The marks can be told apart without colours."""

SHORT: Final = {
    Decision.EXACT: "exact test",
    Decision.SAMPLED: "sampled test",
    Decision.RUNS: "runs, documents",
    Decision.INTERVAL: "interval",
    Decision.WIDE_INTERVAL: "CI includes 0",
    Decision.DOCUMENTS: "few documents",
    Decision.ONE_SIDED: "in one run",
    Decision.EQUAL: "equal",
    Decision.TEST_ALONE: "CI includes 0",
    Decision.INTERVAL_ALONE: "p too high",
}
"""Short texts for a table that says how the trend of each figure was decided. A text names the
method that decided the trend, such as `exact test`. If no method could decide it, the text is the
reason, such as `few documents`."""

MIN_DIGITS: Final = 3  # minimum number of decimals of a change, however wide its interval is
MAX_DIGITS: Final = 8  # decimals of a change that would round to 0 or to the limit of a gate

_TESTS: Final = frozenset({Decision.EXACT, Decision.SAMPLED, Decision.RUNS})

_NAMES: Final = {F1: "F1", WHOLLY_RIGHT: "wholly right", SCORE: "mean score"}
"""Names of the figures of whole documents."""


def signed(value: float | None, limits: Collection[float] = (), digits: int = MIN_DIGITS) -> str:
    """Format a change with its sign, rounded to `digits` decimals; `-` for None.

    More decimals are shown if rounding would turn the change into 0 or into one of `limits`.

    >>> signed(0.25), signed(-0.00001), signed(-0.0101, {0.01}), signed(0.0), signed(None)
    ('+0.250', '-0.0001', '-0.0101', '0.000', '-')
    """
    if value is None:
        return NOTHING
    size = abs(value)
    if round(size, digits) != size and round(size, digits) in (0.0, *limits):
        digits = DIGITS
    sign = "" if not value else "+" if value > 0 else "-"
    return sign + rate(size, set(limits), digits)


LEAST_P: Final = 0.0001
"""The smallest p value that is shown as a number. Smaller ones are shown as `< 0.0001`."""


def _p_text(p: float | None) -> str:
    """Format a p value: `0.0312`, or `< 0.0001` for a smaller one."""
    return f"< {LEAST_P}" if p is not None and p < LEAST_P else rate(p)


@dataclass(frozen=True)
class DifferenceView:
    """A difference between runs, with the texts and figures that all reports show."""

    difference: Difference
    quoted: Quoting = str
    """Formats a name inside a sentence."""
    page: bool = False
    """Whether the report is a Markdown page, not text for a terminal."""

    @cached_property
    def _limits(self) -> set[float]:
        """The limits of gates.

        A change that differs from a limit must not be shown as equal to it.
        """
        return {abs(result.gate.limit) for result in self.difference.gates}

    @cached_property
    def digits(self) -> int:
        """Number of decimals to show: at least `MIN_DIGITS`.

        A narrow confidence interval of the change in F1 justifies more decimals.
        """
        interval = self.difference.whole[0].interval
        return MIN_DIGITS if interval is None else max(MIN_DIGITS, digits_of(interval))

    def rate(self, value: float | None) -> str:
        """Format a rate or score."""
        return rate(value, digits=self.digits)

    def signed(self, value: float | None) -> str:
        """Format a change with its sign."""
        return signed(value, self._limits, self.digits)

    def change_texts(
        self, before: float | None, after: float | None, change: float | None
    ) -> tuple[str, str, str]:
        """Return (before, after, change) as rounded texts, such as 0.820, 0.850 and +0.030.

        In the texts, before plus change should equal after. If rounding breaks this, all three
        texts get more decimals. If `DIGITS` decimals do not suffice, the change is computed from
        the two rounded figures. If this would make the change 0 or equal to the limit of a gate,
        all three texts get `MAX_DIGITS` decimals instead.
        """
        if before is None or after is None or change is None:
            return self.rate(before), self.rate(after), self.signed(change)
        for digits in (self.digits, DIGITS, MAX_DIGITS):
            before_text, after_text = rate(before, digits=digits), rate(after, digits=digits)
            change_text = signed(change, self._limits, digits)
            difference = Decimal(after_text) - Decimal(before_text)
            if difference == Decimal(change_text):
                break
            # No change is rounded to 0 or to the limit of a gate.
            if digits == DIGITS and float(abs(difference)) not in {0.0, *self._limits}:
                change_text = f"{difference:+}"
                break
        return before_text, after_text, change_text

    @property
    def whole(self) -> list[Change]:
        """The changes of the figures of whole documents, such as F1 and the mean score.

        F1 has a different change in each counting mode. Only the change in the chosen counting mode
        is included.
        """
        counting = self.difference.settings.counting
        return [change for change in self.difference.whole if change.mode in ("", counting)]

    def name(self, change: Change) -> str:
        """Return the path of a field, or the name of a figure of whole documents."""
        if change.field:
            return self.quoted(field_path(change.field))
        return _NAMES.get(change.metric) or change.metric.replace(".", " ")

    def figures(self, change: Change) -> tuple[str, str, str, str, str]:
        """Return (before, after, change, interval of the change, p value) as texts.

        The p value of a field is corrected for the number of fields.
        """
        bounds, interval = NOTHING, change.interval
        if interval is not None:
            bounds = f"[{self.signed(interval.lower)}, {self.signed(interval.upper)}]"
        p = _p_text(change.corrected_p if change.field else change.p)
        return *self.change_texts(change.before, change.after, change.change), bounds, p

    @property
    def interval_title(self) -> str:
        """Title of the column with intervals of changes."""
        return f"{self.difference.settings.intervals.level * 100:g}% CI of change"

    @property
    def title(self) -> str:
        """A title with the schema and the names of the runs on both sides."""
        new, counting = self.difference.new, self.difference.settings.counting
        sides = ([run.source, *run.further] for run in (self.difference.base, new))
        source, other = (" + ".join(map(self.quoted, names)) for names in sides)
        read = "" if counting == CountingOptions.counting else f", counting {counting}"
        schema = describe_schema(new.model_name)
        return f"{self.quoted(schema)}: change from BASE ({source}) to NEW ({other}){read}"

    @property
    def flow(self) -> list[str]:
        """Sentences with the number of wrong values before and after."""
        flow = self.difference.flow
        if flow is None:
            return []
        before, after = self.kinds_of_wrong_values
        stayed = (
            f"{flow['wrong_otherwise']:,} still wrong with another value + "
            f"{flow['wrong_same']:,} still wrong with the same value"
        )
        return [
            f"wrong before: {flow['wrong_before']:,} = {flow['fixed']:,} fixed + {stayed}",
            f"wrong after: {flow['wrong_after']:,} = {flow['broken']:,} broken + {stayed}",
            f"wrong values by kind, before: {before}; after: {after}",
        ]

    @property
    def kinds_of_wrong_values(self) -> list[str]:
        """For each run, a text that counts its wrong values by kind.

        An example is `3 different + 1 missed + 0 invented`. The list is empty if values are
        unknown.
        """
        flow = self.difference.flow
        if flow is None:
            return []
        counts_of_runs = (
            (flow["wrong_before"], flow["missed_before"], flow["invented_before"]),
            (flow["wrong_after"], flow["missed_after"], flow["invented_after"]),
        )
        return [
            f"{wrong - missed - invented:,} different + {missed:,} missed + {invented:,} invented"
            for wrong, missed, invented in counts_of_runs
        ]

    @property
    def wholly_right(self) -> str:
        """A sentence with the number of wholly right documents before and after."""
        counts = self.difference.documents
        return (
            f"documents wholly right{self.in_most_runs}: {counts['right_before']:,} before, "
            f"{counts['right_after']:,} after ({counts['no_longer_right']:,} no longer right, "
            f"{counts['newly_right']:,} newly right)"
        )

    @cached_property
    def causes(self) -> list[CauseChangeText]:
        """The causes of wrong values in both runs. Those that grew most come first."""
        return describe_cause_changes(self.difference, self.quoted)

    @property
    def has_several_runs(self) -> bool:
        """Whether a side has several runs."""
        first = self.difference.whole[0]
        return max(len(first.runs_before), len(first.runs_after)) > 1

    @property
    def in_most_runs(self) -> str:
        """The words " in most runs" if a side has several runs; empty otherwise."""
        return " in most runs" if self.has_several_runs else ""

    @property
    def of_runs(self) -> str:
        """A sentence on the range of F1 over the runs of each side.

        If each side has only one run, the sentence says that two runs are compared, not two
        systems.
        """
        first, sides = self.difference.whole[0], []
        for side, figures in (("BASE", first.runs_before), ("NEW", first.runs_after)):
            span = f"F1 {self.rate(min(figures))}"
            if len(figures) > 1:
                span += f" to {self.rate(max(figures))}"
            sides.append(f"{number_of(len(figures), 'run')} of {side}, {span}")
        if self.has_several_runs:
            return (
                f"{'; '.join(sides)}: p values and intervals take into account that "
                "repeated runs vary"
            )
        return (
            "each side has one run, so this compares two runs, not two systems; to compare "
            "systems, give several runs with --base and --new"
        )

    @property
    def verdict(self) -> tuple[Tone, str]:
        """(Tone, sentence) of the verdict.

        The sentence names failed gates and the trends of figures.
        """
        gates = self.difference.gates
        sentence = gate_sentence(gates, self.quoted, MAX_LISTED) or "no gate set"
        has_failed = not all(result.passed for result in gates)
        tone: Tone = "bad" if has_failed else self.trend_tone
        return tone, f"{sentence}; {self.trend_line}"

    @property
    def trend_tone(self) -> Tone:
        """Tone of the change that the report names first.

        It is `good` if the figure improved, `bad` if it regressed, `dim` if it did not change, and
        empty if the trend is inconclusive.
        """
        return MARKS[self.difference.headline.trend][1]

    @property
    def headline(self) -> str:
        """A sentence that says how many documents were compared, and how many got better or worse.

        It also says how many documents were lost, if any. A document is lost if the new run did not
        compare it.
        """
        counts = self.difference.documents
        by_score = f"{counts['better']} better, {counts['worse']} worse, {counts['same']} the same"
        by_values = (
            f"{counts['fewer_errors']} better, {counts['more_errors']} worse, "
            f"{counts['same_errors']} the same"
        )
        sentence = f"{by_score} by score; {by_values} by number of wrong values"
        if by_score == by_values:
            sentence = f"{by_score}, both by score and by number of wrong values"
        not_compared = f"{counts['lost']} not compared in the new run, so counted as missed"
        lost = f"; {not_compared}" if counts["lost"] else ""
        return f"{number_of(counts['compared'], 'document')} compared: {sentence}{lost}"

    @property
    def listed_documents(self) -> str:
        """Sentences that explain which documents a page lists.

        They also say how many documents are listed, how many of the listed documents have another
        score, and how many have another number of wrong values.
        """
        counts = self.difference.documents
        n_changed = counts["better"] + counts["worse"]
        n_with_other_errors = counts["fewer_errors"] + counts["more_errors"]
        n_listed = len(self.difference.listed_documents)
        return (
            "This list has the documents with wrong values in a run, or with different figures: "
            f"{number_of(n_listed, 'document')}. {n_changed:,} of them have another score, and "
            f"{n_with_other_errors:,} another number of wrong values."
        )

    @property
    def trend_line(self) -> str:
        """A line of text with the main change, the change of F1, and the number of changed fields.

        The main change is the one that the report names first, such as the most significant loss.
        If it is the change of F1, F1 is not repeated. Fields are counted for each trend.
        """
        headline, f1 = self.difference.headline, self.difference.whole[0]
        figures = [f"{self.name(headline)} {self.describe_change(headline)}"]
        if headline != f1:
            before, after, change, _, _ = self.figures(f1)
            reason = "" if f1.decided_by in _TESTS else f" ({f1.decided_by.value})"
            span = f"F1 {before} before, {after} after ({change})"
            figures.append(f"{span}: {f1.trend.value}{reason}")
        n_by_trend = {trend: len(self.difference.with_trend(trend)) for trend in Trend}
        counts = [f"{count} {trend.value}" for trend, count in n_by_trend.items() if count]
        return "; ".join([*figures, f"fields: {', '.join(counts) or 'none'}"])

    def describe_change(self, change: Change) -> str:
        """Describe the change of a figure, its trend and the evidence in words."""
        before, after, by, _, p = self.figures(change)
        by = "" if change.change is None else f" ({by})"
        span = f"{before} before, {after} after{by}"
        if change.before is None and change.after is None:
            span = "undefined in both runs"
            if change.trend is Trend.IDENTICAL:
                return span
        p_text = "" if p == NOTHING else f"p {p}; "
        return f"{span}: {change.trend.value} ({p_text}{change.decided_by.value})"

    def fields_with(self, *trends: Trend) -> list[tuple[Tone, str]]:
        """Return (tone, description) for each field with one of the given trends.

        The greatest change comes first.
        """
        return [
            (MARKS[trend][1], f"{self.name(change)} {self.describe_change(change)}")
            for trend in trends
            for change in self.difference.with_trend(trend)
        ]

    @property
    def findings(self) -> list[tuple[Tone, str]]:
        """(Tone, description) for each field that improved or regressed.

        There may be one more entry. It lists the figures whose change is significant but smaller
        than the margin. Such a change counts as no change.
        """
        settings = self.difference.settings
        findings = self.fields_with(Trend.REGRESSED, Trend.IMPROVED)
        small = [
            f"{self.name(change)} (p {_p_text(change.corrected_p)})"
            for change in (*self.whole, *self.difference.fields)
            if change.trend is Trend.UNCHANGED and (change.corrected_p or 0) <= settings.alpha
        ]
        if small:
            size_text = (
                "changed by more than chance, but by less than the margin "
                f"{settings.margin:g}, so this counts as no change"
            )
            findings.append(("warn", f"{size_text}: {join_some(small, MAX_LISTED)}"))
        return findings

    @property
    def contrasts(self) -> list[tuple[bool, str]]:
        """Differences between the runs besides their figures, such as other options or documents.

        An entry is (whether this difference prevents a comparison, its description).
        """
        quoted, difference = self.quoted, self.difference
        contrasts = [
            (
                contrast.decides,
                f"{contrast.what}: {quoted(contrast.base)} -> {quoted(contrast.new)}",
            )
            for contrast in difference.contrasts
        ]
        documents_by_descriptions = {
            (
                "was not compared in the new run, so it counts as missed",
                "were not compared in the new run, so they count as missed",
            ): difference.lost,
            (
                "is only in the new run, so it does not count",
                "are only in the new run, so they do not count",
            ): difference.only_new,
        }
        for (singular, plural), documents in documents_by_descriptions.items():
            if documents:
                count = number_of(len(documents), "document")
                description = f"{count} {singular if len(documents) == 1 else plural}"
                documents_text = join_some(map(quoted, documents), MAX_LISTED)
                contrasts.append((False, f"{description}: {documents_text}"))
        return contrasts

    @property
    def documents(self) -> dict[str, tuple[Sequence[DocumentChange], int]]:
        """The documents that got worse or better, under the keys `worse` and `better`.

        A value is (documents to be listed, number of documents that are left out).
        """
        worse, better = self.difference.worse, self.difference.better
        max_worse = max(MAX_LISTED, min(sum(document.hard for document in worse), MOST_HARD))
        return {
            "worse": (worse[:max_worse], len(worse[max_worse:])),
            "better": (better[:MAX_LISTED], len(better[MAX_LISTED:])),
        }

    def document_text(self, document: DocumentChange) -> str:
        """Describe the change of a document in words."""
        before, after, _ = self.change_texts(
            document.score_before, document.score_after, document.change
        )
        text = f"score {before} before, {after} after"
        if document.status_after != document.status_before:
            text += f"; {document.status_after or 'missing'} in the new run"
        wrong_before, wrong_after = (
            f"{round(count, 2):,}" for count in (document.errors_before, document.errors_after)
        )
        text += f"; wrong values: {wrong_before} before, {wrong_after} after"
        for move, paths in (("now wrong", document.broken), ("now right", document.fixed)):
            if paths:
                text += f"; {move}: {join_some(map(self.quoted, paths), MAX_LISTED)}"
        return text

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Explanations of columns in the table of fields, as (title of the column, explanation).

        A trend is explained only if a field has it.
        """
        settings = self.difference.settings
        trends = {change.trend for change in self.difference.fields}
        change_text = "F1 of NEW minus F1 of BASE, both measured on the documents of BASE"
        modes_text = MODES[settings.counting]
        p_text = "p value of a paired permutation test over documents"
        lines = [
            ("before", "before: F1 of BASE"),
            ("after", "after: F1 of NEW"),
            ("change", f"change: {change_text}; F1 counts {modes_text}"),
            ("p", f"p: {p_text}, corrected for the number of fields (Holm)"),
        ]
        if Trend.UNCHANGED in trends:
            text = f"the whole interval is within {settings.margin:g} of 0, whatever the p value is"
            lines.append(("trend", f"unchanged: {text}"))
        if not trends.isdisjoint({Trend.IMPROVED, Trend.REGRESSED}):
            text = f"the p value is at most {settings.alpha:.4g}, and the interval excludes 0"
            lines.append(("trend", f"improved, regressed: {text}"))
        if Trend.INCONCLUSIVE in trends:
            text = (
                "it is not clear whether F1 of the field has changed; the column 'reason' says why"
            )
            lines.append(("reason", f"inconclusive: {text}"))
        return [
            *lines,
            ("broken", "broken: documents in which the field was right and is now wrong"),
            ("fixed", "fixed: documents in which the field was wrong and is now right"),
        ]


def sections_of(difference: Difference, style: TableStyle, *, page: bool) -> list[Section]:
    """Return the report of a difference as sections.

    On a Markdown page, the sections have another order than on a terminal.
    """
    view = DifferenceView(difference, code, page=True) if page else DifferenceView(difference)
    gates = [*gate_blocks(difference.gates, page=page)]
    findings = [Text(text, tone, INDENT) for tone, text in view.findings]
    totals: list[Block] = [change_table(view, view.whole)]
    metrics = [metric_changes_table(difference.metrics)] if difference.metrics else []
    contents: list[Sequence[Block]]
    nested = not (style.plain or page)
    fields = [change_table(view, difference.fields, "field", nested=nested)]
    documents = [[*_changed_documents(view, direction)] for direction in view.documents]
    contrasts = [*_contrasts(view)]
    figures = fields if difference.fields else []
    exact = [exact_items_table(view)] if difference.exact_items else []
    causes = [*cause_change_blocks(view.causes, page=page)]
    if page:
        title = [Text(f"{MARKER}\n### {view.title}"), Text(view.verdict[1], "title")]
        sentences = [view.headline, view.wholly_right, *view.flow, view.of_runs]
        head = [*title, *contrasts, *map(Text, sentences)]
        contents = [head, gates, findings, causes, totals, metrics, *documents, figures, exact]
    else:
        trend = Text(view.trend_line, view.trend_tone, INDENT)
        flow = [Text(line, indent=INDENT) for line in (view.wholly_right, *view.flow)]
        summary = [Text(view.headline), trend, *flow, Text(view.of_runs, "dim", INDENT)]
        head = [Text(view.title, "title"), *contrasts, *summary]
        contents = [head, totals, metrics, findings, causes, figures, exact, *documents, gates]
    if difference.page_command:
        contents.append([_name_next_command(view)])
    return [Section("", blocks) for blocks in contents]


def _name_next_command(view: DifferenceView) -> Text | Line:
    """Return a line with the command to run next.

    A terminal shows the command on a single line, so that it can be copied.
    """
    command = view.difference.page_command
    if view.page:
        return Text(f"next: {code(command)}")
    return (Span.of(f"next: {command}", "title"),)


def _contrasts(view: DifferenceView) -> Iterator[Text]:
    words = {True: "not comparable: ", False: "the runs differ: "}
    if view.page:
        words = {True: "**not comparable**: ", False: ""}
    for decides, text in view.contrasts:
        yield Text(words[decides] + text, "bad" if decides else "warn", INDENT)


def _changed_documents(view: DifferenceView, direction: str) -> Iterator[Block]:
    documents, n_unlisted = view.documents[direction]
    if documents and view.page:
        yield Text(f"Documents that got {direction}:")
    elif documents:
        yield Text(f"documents that got {direction}", "title")
    mark, gap = (" (**much worse**)", " ") if view.page else (" (much worse)", "  ")
    for document in documents:
        document_name = view.quoted(document.id) + (mark if document.hard else "")
        _, _, change = view.change_texts(
            document.score_before, document.score_after, document.change
        )
        text = f"{change}{gap}{document_name}: {view.document_text(document)}"
        yield Text(text, "bad" if document.hard else "", INDENT * 2)
    if n_unlisted and view.page:
        command = view.difference.page_command
        yield Text(count_unlisted(n_unlisted, command and code(command)), indent=INDENT)
    elif n_unlisted:
        yield (Span.of(count_unlisted(n_unlisted, view.difference.page_command)),)


def metric_changes_table(changes: Sequence[MetricChange]) -> Table:
    """Return a table with a row for each of the user's metrics that both sides have."""

    def change(metric_change: MetricChange) -> str:
        return NOTHING if metric_change.change is None else f"{metric_change.change:+.4g}"

    figures = [
        FigureColumn("metric", "name", str),
        FigureColumn(
            "before", "before", shown=lambda metric_change: metric_text(metric_change.before)
        ),
        FigureColumn(
            "after",
            "after",
            shown=lambda metric_change: metric_text(metric_change.after),
            tone="title",
        ),
        FigureColumn("change", "change", shown=change),
    ]
    return Figures(figures, changes).table()


def exact_items_table(view: DifferenceView) -> Table:
    """Return a table of changes of exact F1, with a row for each field that has objects or items.

    Exact F1 counts an object or a list item as right only if everything inside it is right.
    """
    table = change_table(view, view.difference.exact_items)
    title = table.columns[view.page]._replace(title="F1 of exact items")
    columns = [*table.columns[: view.page], title, *table.columns[view.page + 1 :]]
    return table._replace(columns=columns)


def change_table(
    view: DifferenceView,
    changes: Iterable[Change],
    first: str = "",
    *,
    nested: bool = False,
) -> Table:
    """Return a table with a row for each change of a figure.

    `first` is the title of the first column. If it is given, the rows are fields, and the table
    also has the columns `broken` and `fixed`, which count documents. If `nested` is True, a field
    has only its last name, and is indented below its parent.

    A narrow terminal drops some columns. It drops `before` earlier than `broken` and `fixed`,
    because the figure before the change can be computed from `after` and `change`.
    """
    columns = [
        *([Column("", left=True)] if view.page else []),
        Column(first, left=True),
        *ranked_columns(("before", "after", "change"), 6 if first else 3, 2, 0),
        Column(view.interval_title, 8, short="CI"),
        *(ranked_columns(("p", "broken", "fixed"), 7, 4, 5) if first else [Column("p", 7)]),
        Column("trend", 1, left=True),
        Column("reason", 3, left=True),
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
    return Table(columns, cells, view.legend if first else ())
