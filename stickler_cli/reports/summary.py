"""What a run comes to, in sentences: the same for every report that people read."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from stickler_cli.core.locations import Path, field_path
from stickler_cli.reports.figures import Rates, number_of, rates_of
from stickler_cli.reports.rows import FieldRow
from stickler_cli.score.counts import Counts
from stickler_cli.score.error_classes import ErrorClass
from stickler_cli.score.evaluation import DocumentProblem, Status
from stickler_cli.score.intervals import FieldIntervals, interval_text
from stickler_cli.score.rate_text import rate
from stickler_cli.score.record import Run
from stickler_cli.score.remarks import LENIENT, WAYS
from stickler_cli.score.results import NO_GROUP
from stickler_cli.score.tally import READINGS

Quoting: TypeAlias = Callable[[str], str]
"""How a report writes a name that it did not choose itself inside a sentence."""

DISAGREE: Final = 0.05
"""By how much a rate must differ between readings for a report to speak of it."""

VIOLATIONS: Final = 3
"""How many things that the schema forbids a sentence names, the most frequent first."""

NAMED: Final = 10
"""How many documents, keys or fields a sentence names; all of them are in the JSON report."""

LEGEND: Final = (
    "TP right, FD wrong value, FA invented, FN missed, TN absent in both, - nothing to divide by",
    "rows count as overall: an object or element is one; fields of items only where items match",
    "leaves: F1 of all values of a field, also in items and objects missed, invented or unlike",
    "score: the mean after clipping; the fields of list items have none",
)
"""What the columns of a table of fields mean."""

WORST_MARK: Final = "!"
WORST_LEGEND: Final = "! look here first: a low F1, where few values weigh less than many"

_WHY_LOWEST: Final = {
    "overall": "objects or list items fail as a whole (one unit each) although most of the values "
    "in them are right",
    "aggregate": "the objects and items that match have errors inside, which overall does not see",
    "leaves": "whole objects or list items are missed, invented or unlike their pair, which "
    "overall and aggregate count as one unit each and leaves value by value",
}


def gate_limits(run: Run) -> frozenset[float]:
    """Give the limits that no other figure may be rounded onto."""
    return frozenset(result.gate.limit for result in run.gates)


def readings(run: Run) -> dict[str, tuple[Counts, Rates]]:
    """Give the counts and rates of the whole, reading by reading."""
    found = {name: run.evaluation.tally.counts(name) for name in READINGS}
    with_fd = run.options.recall_with_fd
    return {
        name: (counts, rates_of(counts, recall_with_fd=with_fd)) for name, counts in found.items()
    }


def intervals(run: Run) -> FieldIntervals | None:
    """Give the confidence intervals of the whole; None where the run has none."""
    bootstrap = run.evaluation.bootstrap
    with_fd = run.options.recall_with_fd
    return None if bootstrap is None else bootstrap.of("", recall_with_fd=with_fd)


def interval_title(run: Run) -> str:
    """Name a column of confidence intervals of F1 by their level; empty where there are none."""
    bootstrap = run.evaluation.bootstrap
    return "" if bootstrap is None else f"{100 * bootstrap.settings.level:g}% CI of F1"


def headline(run: Run) -> str:
    """Say how many documents there were, what became of the others, and the mean score."""
    evaluation = run.evaluation
    total = evaluation.documents["total"]
    evaluated = f"{evaluation.evaluated} of {number_of(total, 'document')}"
    if evaluation.evaluated == total:
        evaluated = number_of(total, "document")
    as_empty = {Status.INVALID} | ({Status.MISSING} if run.options.missing == "fn" else set())
    others = [
        f"{count} {status.value} ({'compared with nothing' if status in as_empty else 'left out'})"
        for status, count in evaluation.statuses.items()
        if count and status is not Status.EVALUATED
    ]
    score = "score" if run.document else "mean score"
    shown = rate(evaluation.overall_score, gate_limits(run))
    bounds = intervals(run)
    if bounds is not None and bounds.score is not None:
        shown += f" {interval_text(bounds.score, gate_limits(run))}"
    return "; ".join([f"{evaluated} evaluated", *others, f"{score} {shown}"])


def verdicts(run: Run, quoted: Quoting = str) -> list[str]:
    """Say how many documents are what the schema says, a line for each side that was checked."""
    lines = []
    for side, validity in sorted(run.evaluation.validity.items(), reverse=True):
        shown = f"{rate(validity.share)} ({validity.valid} of {validity.checked})"
        line = f"schema-valid {_SIDES[side]}: {shown}"
        most = [
            f"{keyword}{f' at {quoted(path)}' if path else ''} {violated.count}"
            for keyword, path, violated in validity.most_frequent()
        ]
        lines.append(line + (f"; most frequent: {', '.join(most[:VIOLATIONS])}" if most else ""))
    return lines


_SIDES: Final = {"gt": "ground truths", "pred": "predictions"}


def disagreement(run: Run) -> str | None:
    """Say which readings of the whole disagree, and what that means; None if they agree."""
    by_reading = {name: rates for name, (_, rates) in readings(run).items()}
    for metric in ("f1", "precision", "recall"):
        values = {
            name: value
            for name, rates in by_reading.items()
            if (value := getattr(rates, metric)) is not None
        }
        if values and max(values.values()) - min(values.values()) > DISAGREE:
            lowest = min(values, key=lambda name: values[name])
            limits = gate_limits(run)
            shown = ", ".join(f"{rate(value, limits)} {name}" for name, value in values.items())
            title = "F1" if metric == "f1" else metric
            why = _WHY_LOWEST[lowest]
            return f"The readings disagree: {title} {shown}. {lowest} is lowest: {why}."
    return None


def error_classes(run: Run) -> str | None:
    """Say how many errors there are and of what kind, the most frequent first; None without any."""
    counts = run.evaluation.errors.overall()
    texts = (class_text(each, count) for each, count in counts.items())
    return f"{number_of(sum(counts.values()), 'error')}: {', '.join(texts)}" if counts else None


def class_text(error_class: ErrorClass, count: int) -> str:
    """Count the errors of a class.

    >>> class_text(ErrorClass.MISSED_ITEM, 2), class_text(ErrorClass.TRUNCATED, 2)
    ('2 missed items', '2 truncated')
    """
    words = error_class.replace("_", " ")
    return number_of(count, words) if error_class in _COUNTABLE else f"{count} {words}"


_COUNTABLE: Final = frozenset(
    each for each in ErrorClass if each.endswith(("_item", "_value", "_object", "_kind", "_slip"))
)
"""Classes named after a thing; the others are named after what happened to it."""


def worst_fields(run: Run, rows: Sequence[FieldRow], quoted: Quoting = str) -> str | None:
    """Name the fields to look at first, and what is wrong with them; None without errors."""
    texts = worst_field_texts(run, rows, quoted)
    return f"worst fields: {', '.join(texts)}" if texts else None


def worst_field_texts(run: Run, rows: Sequence[FieldRow], quoted: Quoting = str) -> list[str]:
    """Name each of the fields to look at first, the worst one first."""
    limits = gate_limits(run)
    with_fd = run.options.recall_with_fd
    found = []
    for row in rows:
        if row.worst:
            counts = row.tally.counts("overall")
            found.append((counts.f1(recall_with_fd=with_fd), field_path(row.path), counts))
    return [
        f"{quoted(path)} F1 {rate(f1, limits)} ({_errors(counts)})"
        for f1, path, counts in sorted(found, key=lambda entry: entry[0])
    ]


def _errors(counts: Counts) -> str:
    by_class = {"FD": counts.fd, "FA": counts.fa, "FN": counts.fn}
    return " ".join(f"{count} {name}" for name, count in by_class.items() if count)


def notes(run: Run, quoted: Quoting = str) -> list[str]:
    """Say what the run noticed besides errors, a line each."""
    lines = []
    undeclared = run.evaluation.undeclared()
    if undeclared:
        keys = _some(f"{quoted(field_path(path))} ({count})" for path, count in undeclared)
        lines.append(f"not evaluated, since the schema does not declare them: {keys}")
    extras = run.evaluation.extras()
    if extras:
        keys = _some(f"{quoted(field_path(path))} ({count})" for path, count in extras)
        lines.append(f"counted as FA, since the schema does not declare them: {keys}")
    never = _never_present(run)
    if never:
        lines.append(
            f"never present on either side: {_some(quoted(field_path(path)) for path in never)}"
        )
    lines += _oddities(run)
    lines += (
        f"--by {quoted(key)}: no document has it"
        for key, groups in run.evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    )
    return lines + [quoted(note) for note in sorted(run.notes)]


_ODDITIES: Final = {
    "duplicate_keys": "with a key that its object has twice; the last one counts",
    "byte_order_mark": "with a byte order mark, which is no part of JSON; it was left out",
}
"""What the remarks on documents mean, after how many there are."""

_WAYS: Final = {
    "fence": "in a code fence",
    "prose": "in prose",
    "string": "in a JSON string",
    "list": "in a list of one",
}
"""In what predictions were, after how many."""


def _oddities(run: Run) -> list[str]:
    remarks = run.evaluation.remarks
    lines = [
        f"{number_of(remarks[name], 'document')} {text}"
        for name, text in _ODDITIES.items()
        if remarks.get(name)
    ]
    if LENIENT in remarks:
        ways = ((way, remarks.get(f"{LENIENT}_{way}")) for way in WAYS)
        told = ", ".join(f"{count} {_WAYS[way]}" for way, count in ways if count)
        lines.append(f"{number_of(remarks[LENIENT], 'prediction')} inside other text: {told}")
    return lines


def _never_present(run: Run) -> list[Path]:
    return sorted(run.evaluation.never_present()) if run.evaluation.evaluated else []


def _some(names: Iterable[str]) -> str:
    everything = list(names)
    more = len(everything) - NAMED
    return ", ".join(everything[:NAMED]) + (f" and {more} more" if more > 0 else "")


def problems(run: Run) -> tuple[str, list[tuple[str, str]], int]:
    """Give the documents that were not simply evaluated.

    Returns:
        A title with their number by status; the first of them, each as its status and what is
        wrong; how many more there are.
    """
    everything = sorted(run.evaluation.problems)
    by_status = Counter(entry.status.value for entry in everything)
    title = ", ".join(f"{count} {status}" for status, count in by_status.items())
    named = [(entry.status.value, problem_text(entry)) for entry in everything[:NAMED]]
    return title, named, len(everything) - len(named)


def problem_text(entry: DocumentProblem) -> str:
    """Name the document once, though many problems begin with it."""
    return f"{entry.id}: {entry.problem.removeprefix(f'{entry.id}: ')}"
