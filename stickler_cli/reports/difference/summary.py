"""What all reports of a difference say, in words and in their order."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Decision, Difference, DocumentChange, Verdict
from stickler_cli.diff.figures import F1
from stickler_cli.reports.figures import number_of
from stickler_cli.score.intervals import Interval
from stickler_cli.score.rate_text import NOTHING, rate

NAMED: Final = 5
"""Documents, or fields of one, that a report for people names; those that broke hard besides."""

MOST_HARD: Final = 20
"""Documents that broke hard that a report for people names."""

MARKS: Final = {
    Verdict.IMPROVED: "+",
    Verdict.REGRESSED: "-",
    Verdict.UNCHANGED: "=",
    Verdict.UNCLEAR: "?",
}
"""Before each field; a verdict is never told by colour alone."""

SHORT: Final = {
    Decision.EXACT: "exact test",
    Decision.SAMPLED: "sampled test",
    Decision.INTERVAL: "interval",
    Decision.DOCUMENTS: "documents",
}

Quoting: TypeAlias = Callable[[str], str]


def limits(difference: Difference) -> set[float]:
    """Give the limits onto which no change must be rounded."""
    return {abs(result.gate.limit) for result in difference.gates}


def signed(value: float | None, limits: Iterable[float] = ()) -> str:
    """Show a change with its sign, with the digits of a rate.

    >>> signed(0.25), signed(-0.00001), signed(0.0), signed(None)
    ('+0.2500', '-0.0001', '0.0000', '-')
    """
    if value is None:
        return NOTHING
    sign = "+" if value > 0 else "-" if value < 0 else ""
    return sign + rate(abs(value), set(limits))


def interval_of(interval: Interval | None, limits: Iterable[float] = ()) -> str:
    """Show the interval of a change."""
    if interval is None:
        return NOTHING
    return f"[{signed(interval.lower, limits)}, {signed(interval.upper, limits)}]"


def interval_title(difference: Difference) -> str:
    """Name the interval of a change."""
    return f"{difference.settings.intervals.level * 100:g}% CI of change"


def name_of(change: Change) -> str:
    """Name a figure.

    >>> from stickler_cli.diff.figures import WHOLE
    >>> [name_of(figure) for figure in WHOLE]
    ['overall F1', 'aggregate F1', 'leaves F1', 'mean score']
    """
    if change.path:
        return field_path(change.path)
    return f"{change.reading} F1" if change.metric == F1 else "mean score"


def title(difference: Difference, quoted: Quoting = str) -> str:
    """Name what was compared."""
    name = quoted(difference.new.model_name)
    return f"{name}: from {quoted(difference.base.source)} to {quoted(difference.new.source)}"


def headline(difference: Difference) -> str:
    """Say how many documents there were, and what became of them."""
    counts = difference.documents
    lost = f"; {counts['lost']} lost, counted as missed" if counts["lost"] else ""
    return (
        f"{number_of(counts['compared'], 'document')} compared: {counts['better']} better, "
        f"{counts['worse']} worse, {counts['same']} the same{lost}"
    )


def verdict_line(difference: Difference) -> str:
    """Say what became of the whole, and of how many fields what."""
    whole = difference.whole[0]
    by_verdict = ", ".join(
        f"{sum(field.verdict is verdict for field in difference.fields)} {verdict.value}"
        for verdict in Verdict
    )
    return f"F1 {told(difference, whole)}; fields: {by_verdict}"


def fields_with(difference: Difference, verdict: Verdict, quoted: Quoting = str) -> list[str]:
    """Name the fields of a verdict, the greatest change first."""
    return [
        f"{quoted(name_of(change))} {told(difference, change)}"
        for change in difference.with_verdict(verdict)
    ]


def told(difference: Difference, change: Change) -> str:
    """Say what became of a figure, and on what grounds."""
    p = change.corrected_p if change.path else change.p
    figures = f"{rate(change.before)} to {rate(change.after)}"
    if change.change is not None:
        figures += f" ({signed(change.change, limits(difference))})"
    return f"{figures}: {change.verdict.value} (p {rate(p)}; {change.decided_by.value})"


def differences(difference: Difference, quoted: Quoting = str) -> list[tuple[bool, str]]:
    """Say in what the runs differ besides figures, and whether they cannot be compared for it."""
    found = [
        (contrast.decides, f"{contrast.what}: {quoted(contrast.base)} -> {quoted(contrast.new)}")
        for contrast in difference.contrasts
    ]
    for documents, what in (
        (difference.lost, "not compared in the new run, counted as missed"),
        (difference.only_new, "only in the new run, left out"),
    ):
        if documents:
            count = number_of(len(documents), "document")
            found.append((False, f"{count} {what}: {_some(documents, quoted)}"))
    return found


def worse_documents(difference: Difference) -> tuple[list[DocumentChange], int]:
    """Give the documents that lost most, those that broke hard above all, and how many more."""
    worse = difference.worse
    hard = sum(document.is_hard for document in worse)
    shown = worse[: max(NAMED, min(hard, MOST_HARD))]
    return shown, len(worse) - len(shown)


def better_documents(difference: Difference) -> tuple[list[DocumentChange], int]:
    """Give the documents that gained most, and how many more."""
    better = difference.better
    return better[:NAMED], len(better[NAMED:])


def document_text(document: DocumentChange, quoted: Quoting = str) -> str:
    """Say what became of a document."""
    told = f"score {rate(document.score_before)} to {rate(document.score_after)}"
    if document.status_after != document.status_before:
        told += f", {document.status_after or 'missing'} in the new run"
    told += f", {number_of(document.errors_before, 'error')} to {document.errors_after}"
    for what, paths in (("broken", document.broken), ("fixed", document.fixed)):
        if paths:
            told += f"; {what}: {_some(paths, quoted)}"
    return told


def _some(names: Sequence[str], quoted: Quoting) -> str:
    more = len(names) - NAMED
    shown = ", ".join(quoted(name) for name in names[:NAMED])
    return shown + (f" and {more} more" if more > 0 else "")


def legend(difference: Difference) -> list[str]:
    """Explain what a reader may not know."""
    alpha, margin = difference.settings.alpha, difference.settings.margin
    return [
        "before, after: F1 of overall, over the documents of the first run",
        "p: paired permutation test over documents, corrected for all fields (Holm)",
        f"improved, regressed: p is at most {alpha:.4g}",
        f"unchanged: the interval is within {margin:g} of 0; not enough data: it is not",
        "broken, fixed: documents in which the field was right and is wrong, and the reverse",
    ]
