"""What all reports of a difference say: figures as text, and sentences in their order."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from stickler_cli.core.figures import NOTHING, Quoting, number_of, rate, some_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import Tone
from stickler_cli.core.values import dataclass
from stickler_cli.score.gates import SCORE
from stickler_cli.settings.deciding import CountingOptions
from stickler_cli.studies.diff.record import (
    F1,
    WHOLLY_RIGHT,
    Change,
    Decision,
    Difference,
    DocumentChange,
    Trend,
)
from .run_sentences import MODES

NAMED: Final = 5
"""Documents, or fields of one, that a report for people names; those that broke hard besides."""

MOST_HARD: Final = 20
"""Documents that broke hard that a report for people names."""

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
        counting = self.difference.decided.counting
        return [it for it in self.difference.whole if it.mode in ("", counting)]

    def name(self, change: Change) -> str:
        """Return the path of a field, or what a figure of the whole is."""
        if change.path:
            return self.quoted(field_path(change.path))
        if change.metric == F1:
            return "F1"
        if change.metric == WHOLLY_RIGHT:
            return "wholly right"
        return "mean score" if change.metric == SCORE else change.metric.replace(".", " ")

    def figures(self, change: Change) -> tuple[str, str, str, str, str]:
        """Return before, after, change, its interval, and p; of a field corrected for all."""
        shown, limits = NOTHING, self._limits
        if (interval := change.interval) is not None:
            shown = f"[{signed(interval.lower, limits)}, {signed(interval.upper, limits)}]"
        p = rate(change.corrected_p if change.path else change.p)
        by = signed(change.change, limits)
        return rate(change.before), rate(change.after), by, shown, p

    @property
    def interval_title(self) -> str:
        """The title of a column of intervals of changes."""
        return f"{self.difference.decided.intervals.level * 100:g}% CI of change"

    @property
    def title(self) -> str:
        """What was compared."""
        base, new = self.difference.base, self.difference.new
        source, other = (
            " + ".join(map(self.quoted, [side.source, *side.further])) for side in (base, new)
        )
        counting = self.difference.decided.counting
        read = "" if counting == CountingOptions.counting else f", counting {counting}"
        return f"{self.quoted(new.model_name)}: from {source} to {other}{read}"

    @property
    def of_runs(self) -> str:
        """What is told of runs: how they differ from each other, or that there is one of each."""
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
        """What the difference comes to, its tone first: its gates, and what became of figures."""
        gates, whole = self.difference.gates, self.difference.whole[0]
        failed = [self.quoted(result.reason) for result in gates if not result.passed]
        told = "no gate set"
        if gates:
            told = f"{number_of(len(gates), 'gate')} passed"
        if failed:
            reasons = some_of(failed, NAMED)
            told = f"{len(failed)} of {number_of(len(gates), 'gate')} failed: {reasons}"
        tone = MARKS[whole.trend][1]
        return "bad" if failed else tone, f"{told}; {self.trend_line}"

    @property
    def headline(self) -> str:
        """How many documents there were, and what became of them."""
        counts = self.difference.documents
        lost = f"; {counts['lost']} lost, counted as missed" if counts["lost"] else ""
        return (
            f"{number_of(counts['compared'], 'document')} compared: {counts['better']} better, "
            f"{counts['worse']} worse, {counts['same']} the same{lost}"
        )

    @property
    def trend_line(self) -> str:
        """What became of the whole, and of how many fields what."""
        fields = {trend: len(self.difference.with_trend(trend)) for trend in Trend}
        by_trend = ", ".join(f"{count} {trend.value}" for trend, count in fields.items())
        return f"F1 {self.told(self.difference.whole[0])}; fields: {by_trend}"

    def told(self, change: Change) -> str:
        """Return what became of a figure, and on what grounds."""
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
        """What the test found of fields, and where test, interval and margin do not say the same.

        A tone and a text each.
        """
        found = self.fields_with(Trend.REGRESSED, Trend.IMPROVED)
        alpha, margin = self.difference.decided.alpha, self.difference.decided.margin
        told = (*self.whole, *self.difference.fields)
        changes = [
            it for it in told if it.trend is Trend.UNCHANGED and (it.corrected_p or 0) <= alpha
        ]
        if changes:
            named = (f"{self.name(it)} (p {rate(it.corrected_p)})" for it in changes)
            what = f"more than chance, but by less than {margin:g}, which counts as none"
            found.append(("warn", f"{what}: {some_of(named, NAMED)}"))
        return found

    @property
    def contrasts(self) -> list[tuple[bool, str]]:
        """In what the runs differ besides figures, and whether that makes them incomparable."""
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
        """Return what became of a document."""
        told = f"score {rate(document.score_before)} to {rate(document.score_after)}"
        if document.status_after != document.status_before:
            told += f", {document.status_after or 'missing'} in the new run"
        told += (
            f", {number_of(document.errors_before, 'error')} to {round(document.errors_after, 2)}"
        )
        for what, paths in (("broken", document.broken), ("fixed", document.fixed)):
            if paths:
                told += f"; {what}: {some_of(map(self.quoted, paths), NAMED)}"
        return told

    @property
    def legend(self) -> list[str]:
        """What a reader may not know, a line each."""
        counting = self.difference.decided.counting
        alpha, margin = self.difference.decided.alpha, self.difference.decided.margin
        return [
            f"before, after: F1 of {MODES[counting]}, over the documents of the first run",
            "p: paired permutation test over documents, corrected for all fields (Holm)",
            f"unchanged: the interval is within {margin:g} of 0, whatever p is",
            f"improved, regressed: p is at most {alpha:.4g}, and the interval excludes 0",
            "not enough data: neither, or only one of the two, which is named",
            "broken, fixed: documents in which the field was right and is wrong, and the reverse",
        ]
