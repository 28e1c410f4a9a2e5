"""The HTML page of several runs: what changed, or runs side by side, with what each said."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, Final

from stickler_cli.core.figures import number_of, visible
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_path
from stickler_cli.reports.cause_sentences import of_class
from stickler_cli.reports.difference_sections import (
    MARKS,
    SHORT,
    DifferenceView,
    metric_changes_table,
)
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.view import RunView
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.studies.diff.record import Change, ChangedValue, Difference, RunsBeside, Trend
from .charts import change_axis
from .page import FIRST_CAUSES, SCRIPTS, WORKER
from .report_page import filled

ORDER: Final = (
    Trend.REGRESSED,
    Trend.IMPROVED,
    Trend.INCONCLUSIVE,
    Trend.UNCHANGED,
    Trend.IDENTICAL,
)
"""What comes first of fields: what got worse."""

MOST_DOCUMENTS: Final = 50  # documents that are named without the script, and on paper


def render(subject: "Difference | RunsBeside", style: TableStyle) -> str:
    """Return a difference, or runs side by side, as an HTML page; ends with a line break."""
    context = _difference(subject) if isinstance(subject, Difference) else _beside(subject)
    places = {name: at for at, name in enumerate(context["paths"])}
    values, documents = subject.values or (), context["documents"]
    causes, at_cause = _causes(values)
    rows = (
        (
            *(places.get(it.field, -1), it.document, it.path, it.field, _outcome(it)),
            *(it.error_class, it.gt, it.said[-1], None, None, None, "", it.said, "", ""),
            *(2 * [at_cause[_cause_of(it)]]),
        )
        for it in values
    )
    facts = {"total": len(values), "lost": 0, "totals": [], "causes": causes}
    facts |= {"runs": context["runs"], "pages": [*subject.pages]}
    facts["scored"] = context["view"] is not None
    by_outcome = {it[-1]: [each for each in causes if each[-1] == it[-1]] for it in causes}
    context |= {
        "values": subject.values,
        "causes_of": {outcome: found[:FIRST_CAUSES] for outcome, found in by_outcome.items()},
        "listed": documents[:MOST_DOCUMENTS],
        "metric_changes_table": metric_changes_table,
    }
    parts = {
        "non-matches": (json_line([*row])[:-1] for row in rows),
        "facts": [json_line(facts)],
        "documents": (json_line(row)[:-1] for row in documents),
        "comparisons": (),
    }
    return filled("difference_page.html.j2", context, SCRIPTS, parts, WORKER)


def _outcome(it: ChangedValue) -> str:
    return it.move.value if it.move else f"{sum(each is not True for each in it.said)} wrong"


def _cause_of(it: ChangedValue) -> tuple[str, str, str]:
    """Return the outcome of a value, and the field and class of what was lost or found with it."""
    return (_outcome(it), *(it.whole[1:] if it.whole else (it.field, it.error_class)))


def _causes(
    values: Iterable[ChangedValue],
) -> tuple[list[list[Any]], dict[tuple[str, str, str], int]]:
    """Return causes as the script reads them, by outcome and values, and the place of each."""
    found: dict[tuple[str, str, str], list[ChangedValue]] = {}
    for it in values:
        found.setdefault(_cause_of(it), []).append(it)
    rank = {outcome: at for at, (outcome, _, _) in enumerate(found)}
    for each, *_ in found.values():
        if all(said is not True for said in each.said) and not each.move:
            rank[_outcome(each)] = len(found)  # where all runs are wrong, they disagree least
    ordered = sorted(found, key=lambda it: (rank[it[0]], -len(found[it]), it))
    causes = []
    for at, key in enumerate(ordered):
        outcome, field, name = key
        things = {(it.document, it.whole[0] if it.whole else it.path) for it in found[key]}
        other = name == ErrorClass.OTHER
        what = f"{len(things):,} wrong" if other else of_class(ErrorClass(name), len(things))
        text = f"{visible(field)}: {what}"
        lost = len(found[key])
        causes.append([f"{at}", text, lost, lost, at + 1, [], outcome])
    return causes, {key: at for at, key in enumerate(ordered)}


def _difference(difference: Difference) -> dict[str, Any]:
    view = DifferenceView(difference, visible)
    tone, verdict = view.verdict
    fields = ranked(difference.fields)
    sides = (("before", difference.base), ("after", difference.new))
    rows = [
        _document_row(it.id, it.status_after, it.change, (it.errors_before, it.errors_after))
        for it in difference.changed_documents
    ]
    return {
        "view": view,
        "title": view.title,
        "verdict": verdict,
        "tone": tone if tone in {"good", "bad"} else "open",
        "identity": [
            (name, f"{', '.join(map(visible, [run.source, *run.further]))} ({run.version})")
            for name, run in sides
        ]
        + [("schema", visible(difference.new.schema))],
        "whole_axis": change_axis(it.interval for it in view.whole),
        "field_axis": change_axis(it.interval for it in fields),
        "fields": fields,
        "most_flow": max((max(it.broken, it.fixed) for it in fields), default=0) or 1,
        "paths": [view.name(it) for it in fields],
        "runs": [name for name, _ in sides],
        "documents": rows,
        "short": SHORT,
        "marks": MARKS,
    }


def _beside(subject: RunsBeside) -> dict[str, Any]:
    names = [PurePath(name).name for name in subject.runs]
    unlike = len(set(names)) == len(names)
    views = {
        visible(name if unlike else source): RunView(run, visible)
        for name, (source, run) in zip(names, subject.runs.items(), strict=True)
    }
    first = next(iter(views.values()))
    counts: dict[str, dict[int, int]] = {}
    for at, run in enumerate(subject.runs.values()):
        blocks = run.evaluation.ledger.blocks
        for it in blocks.documents() if blocks else ():
            counts.setdefault(it.id, {})[at] = it.values.fp + it.values.fn
    rows = [
        _document_row(name, "evaluated", None, [found.get(at) for at in range(len(views))])
        for name, found in sorted(counts.items())
    ]
    paths = [row.path for row in first.rows]
    known = [{row.path: row for row in view.rows} for view in views.values()]
    return {
        "view": None,
        "title": f"{visible(first.run.schema.model_name)}: {number_of(len(views), 'run')}",
        "systems": views,
        "fields": [[rows.get(path) for rows in known] for path in paths],
        "paths": [visible(field_path(path)) for path in paths],
        "runs": [*views],
        "documents": sorted(rows, key=lambda row: -row[4]),
    }


def _document_row(
    name: str, status: str, change: float | None, lost: Sequence[float | None]
) -> tuple[Any, ...]:
    """Return a document as the script reads it: how far runs are apart in the place of errors."""
    known = [count for count in lost if count is not None]
    apart = max(known) - min(known) if known else 0
    return name, status, change, 0, apart, 0, 0, {}, [], [*lost]


def ranked(changes: Iterable[Change]) -> list[Change]:
    """Return fields, regressed ones first, then by how much they changed."""
    return sorted(changes, key=lambda it: (ORDER.index(it.trend), -abs(it.change or 0.0)))
