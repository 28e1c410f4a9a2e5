"""What all reports of a difference say, in words and in their order."""

from collections.abc import Iterable
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Decision, Difference, DocumentChange, Verdict
from stickler_cli.diff.figures import F1
from stickler_cli.reports.figures import Quoting, number_of, some_of
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


def limits(difference: Difference) -> set[float]:
    """Return the limits onto which no change must be rounded."""
    return {abs(result.gate.limit) for result in difference.gates}


def signed(value: float | None, limits: Iterable[float] = ()) -> str:
    """Return a change with its sign, with the digits of a rate.

    >>> signed(0.25), signed(-0.00001), signed(0.0), signed(None)
    ('+0.2500', '-0.0001', '0.0000', '-')
    """
    if value is None:
        return NOTHING
    sign = "+" if value > 0 else "-" if value < 0 else ""
    return sign + rate(abs(value), set(limits))


def interval_of(interval: Interval | None, limits: Iterable[float] = ()) -> str:
    """Return the interval of a change as text."""
    if interval is None:
        return NOTHING
    return f"[{signed(interval.lower, limits)}, {signed(interval.upper, limits)}]"


def interval_title(difference: Difference) -> str:
    """Return the title of a column of intervals of changes."""
    return f"{difference.settings.intervals.level * 100:g}% CI of change"


def name_of(change: Change) -> str:
    """Return the name of a figure.

    >>> from stickler_cli.diff.figures import WHOLE
    >>> [name_of(figure) for figure in WHOLE]
    ['overall F1', 'aggregate F1', 'leaves F1', 'mean score']
    """
    if change.path:
        return field_path(change.path)
    return f"{change.reading} F1" if change.metric == F1 else "mean score"


def title(difference: Difference, quoted: Quoting = str) -> str:
    """Return what was compared."""
    name = quoted(difference.new.model_name)
    return f"{name}: from {quoted(difference.base.source)} to {quoted(difference.new.source)}"


def headline(difference: Difference) -> str:
    """Return how many documents there were, and what became of them."""
    counts = difference.documents
    lost = f"; {counts['lost']} lost, counted as missed" if counts["lost"] else ""
    return (
        f"{number_of(counts['compared'], 'document')} compared: {counts['better']} better, "
        f"{counts['worse']} worse, {counts['same']} the same{lost}"
    )


def verdict_line(difference: Difference) -> str:
    """Return what became of the whole, and of how many fields what."""
    whole = difference.whole[0]
    by_verdict = ", ".join(
        f"{sum(field.verdict is verdict for field in difference.fields)} {verdict.value}"
        for verdict in Verdict
    )
    return f"F1 {told(difference, whole)}; fields: {by_verdict}"


def fields_with(difference: Difference, verdict: Verdict, quoted: Quoting = str) -> list[str]:
    """Return a text for each field of a trend, the greatest change first."""
    return [
        f"{quoted(name_of(change))} {told(difference, change)}"
        for change in difference.with_verdict(verdict)
    ]


def told(difference: Difference, change: Change) -> str:
    """Return what became of a figure, and on what grounds."""
    p = change.corrected_p if change.path else change.p
    figures = f"{rate(change.before)} to {rate(change.after)}"
    if change.change is not None:
        figures += f" ({signed(change.change, limits(difference))})"
    return f"{figures}: {change.verdict.value} (p {rate(p)}; {change.decided_by.value})"


def differences(difference: Difference, quoted: Quoting = str) -> list[tuple[bool, str]]:
    """Return in what the runs differ besides figures, and whether that makes them incomparable."""
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
            names = some_of(map(quoted, documents), NAMED)
            found.append((False, f"{count} {what}: {names}"))
    return found


def worse_documents(difference: Difference) -> tuple[list[DocumentChange], int]:
    """Return the documents that lost most, those that broke hard above all, and how many more."""
    worse = difference.worse
    hard = sum(document.is_hard for document in worse)
    shown = worse[: max(NAMED, min(hard, MOST_HARD))]
    return shown, len(worse) - len(shown)


def better_documents(difference: Difference) -> tuple[list[DocumentChange], int]:
    """Return the documents that gained most, and how many more."""
    better = difference.better
    return better[:NAMED], len(better[NAMED:])


def named_documents(difference: Difference) -> dict[str, tuple[list[DocumentChange], int]]:
    """Return the documents that got worse and better, as reports name them."""
    return {"worse": worse_documents(difference), "better": better_documents(difference)}


def document_text(document: DocumentChange, quoted: Quoting = str) -> str:
    """Return what became of a document."""
    told = f"score {rate(document.score_before)} to {rate(document.score_after)}"
    if document.status_after != document.status_before:
        told += f", {document.status_after or 'missing'} in the new run"
    told += f", {number_of(document.errors_before, 'error')} to {document.errors_after}"
    for what, paths in (("broken", document.broken), ("fixed", document.fixed)):
        if paths:
            told += f"; {what}: {some_of(map(quoted, paths), NAMED)}"
    return told


def legend(difference: Difference) -> list[str]:
    """Return what a reader may not know, a line each."""
    alpha, margin = difference.settings.alpha, difference.settings.margin
    return [
        "before, after: F1 of overall, over the documents of the first run",
        "p: paired permutation test over documents, corrected for all fields (Holm)",
        f"improved, regressed: p is at most {alpha:.4g}",
        f"unchanged: the interval is within {margin:g} of 0; not enough data: it is not",
        "broken, fixed: documents in which the field was right and is wrong, and the reverse",
    ]
