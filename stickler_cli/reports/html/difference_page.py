"""The HTML page that shows how two runs differ, or several runs side by side."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from stickler_cli.core.figures import WHOLE, number_of, visible
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_names, field_path
from stickler_cli.reports.cause_sentences import CauseText, describe_causes
from stickler_cli.reports.changed_causes import (
    TREND_TONES,
    CauseChangeText,
    group_cause_changes,
    list_moved_causes,
)
from stickler_cli.reports.difference_sections import (
    MARKS,
    SHORT,
    DifferenceView,
    metric_changes_table,
)
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.view import RunView
from stickler_cli.score.errors.causes import Cause, Causes, CauseSize, ErrorTrait, split_cause_keys
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.record import Run
from stickler_cli.studies.diff.changed_values import merged_by_whole
from stickler_cli.studies.diff.record import (
    Change,
    ChangedValue,
    Difference,
    DocumentChange,
    Move,
    RunsBeside,
    Trend,
    WrongInside,
)
from .charts import change_axis
from .page import FIRST_CAUSES, SCRIPTS, WORKER
from .payload import share_printed_rows, side_text
from .report_page import fill_template

ORDER: Final = (
    Trend.REGRESSED,
    Trend.IMPROVED,
    Trend.INCONCLUSIVE,
    Trend.UNCHANGED,
    Trend.IDENTICAL,
)
"""Order of fields by trend: regressed fields come first."""

MOST_DOCUMENTS: Final = 50  # number of documents listed without JavaScript, and on paper


def render(subject: "Difference | RunsBeside", style: TableStyle) -> str:
    """Return the HTML page of a difference, or of several runs side by side."""
    context = _difference(subject) if isinstance(subject, Difference) else _context_of_runs(subject)
    field_positions = {name: position for position, name in enumerate(context["paths"])}
    documents = context["documents"]
    runs = [*subject.runs.values()] if isinstance(subject, RunsBeside) else [*subject.runs]
    listed = subject.values or ()
    if isinstance(subject, RunsBeside):
        listed = [value for value in listed if value.move is not Move.SAME]
    values = merged_by_whole(listed)
    changes = context["view"].causes if context["view"] else []
    if changes:
        causes, cause_positions = _causes_of_moves(listed, changes)
    else:
        causes, cause_positions = _causes(listed, runs)
    facts = {
        **_count_listed(values),
        "causes": causes,
        "runs": context["runs"],
        "pages": [*subject.pages],
        "scored": context["view"] is not None,
        **({"changes": [*map(_cause_change, changes)]} if changes else {}),
    }
    entry_by_key = _entry_by_cause(changes)
    rows = (
        (
            *_value_row(value, field_positions, cause_positions),
            *(_cause_position(keys, entry_by_key) for keys in value.causes_by_run if changes),
        )
        for value in values
    )
    by_outcome = {
        cause[-1]: [other_cause for other_cause in causes if other_cause[-1] == cause[-1]]
        for cause in causes
    }
    printed_causes = _print_causes(values, causes, cause_positions)
    context |= {
        "values": None if subject.values is None else values,
        "printed_causes": printed_causes,
        "causes_of": {
            outcome: outcome_causes[:FIRST_CAUSES] for outcome, outcome_causes in by_outcome.items()
        },
        "n_values": facts["values"],
        "n_printed": sum(len(cause.rows) for cause in printed_causes),
        "n_on_paper": sum(is_on_paper for cause in printed_causes for _, is_on_paper in cause.rows),
        "cause_groups": group_cause_changes(changes),
        "moved_causes": list_moved_causes(changes),
        "trend_tones": TREND_TONES,
        "listed": documents[:MOST_DOCUMENTS],
        "n_documents": len(documents),
        "metric_changes_table": metric_changes_table,
        "side_text": side_text,
    }
    element_values = {
        "non-matches": (json_line([*row])[:-1] for row in rows),
        "facts": [json_line(facts)],
        "documents": (json_line(row)[:-1] for row in documents),
        "comparisons": (),
    }
    return fill_template("difference_page.html.j2", context, SCRIPTS, element_values, WORKER)


def _count_listed(values: Sequence[ChangedValue]) -> dict[str, Any]:
    """Return the numbers of rows and of values in the page's list, as `page.js` needs them.

    `page.js` also reads the keys `lost`, which is 0 here, and `totals`, which is empty.
    """
    n_values = sum(value.n_values for value in values)
    return {"total": len(values), "lost": 0, "totals": [], "values": n_values}


class PrintedValues(NamedTuple):
    """The text about a cause, and its first changed values, as listed without JavaScript."""

    text: str
    rows: Sequence[tuple[ChangedValue, bool]]
    """For each listed row: the value, and whether the row is also listed when the page is
    printed."""
    n_rows: int
    """Number of all rows of the cause, listed or not."""


def _print_causes(
    values: Iterable[ChangedValue],
    causes: Sequence[Sequence[Any]],
    cause_positions: Mapping[tuple[str, str], int],
) -> list[PrintedValues]:
    """Return each cause with its first changed values, as listed without JavaScript.

    `causes` and `cause_positions` are the results of `_causes` or of `_causes_of_moves`. If there
    is no space for any value of a cause, the cause is left out.
    """
    rows_by_cause: list[list[ChangedValue]] = [[] for _ in causes]
    for value in values:
        rows_by_cause[cause_positions[_outcome(value), value.cause]].append(value)
    shares = share_printed_rows([*map(len, rows_by_cause)])
    return [
        PrintedValues(
            text=f"{cause[-1]}, {cause[1]}",
            rows=[(row, index < share.on_paper) for index, row in enumerate(rows[: share.listed])],
            n_rows=len(rows),
        )
        for cause, rows, share in zip(causes, rows_by_cause, shares, strict=True)
        if share.listed
    ]


_MOVES: Final = (Move.BROKEN, Move.FIXED, Move.OTHERWISE, Move.SAME)
"""The ways in which values can change, in the order of the page. Values that are wrong in both runs
come last."""


def _causes_of_moves(
    values: Sequence[ChangedValue], changes: Sequence[CauseChangeText]
) -> tuple[list[list[Any]], dict[tuple[str, str], int]]:
    """Return causes as rows for the page of a difference, and a dict of row positions.

    The causes are worded as in the summary. If the values of a cause changed in several ways, the
    cause has several rows: for example, one row for its fixed values and one for its broken values.
    Values without a cause share a row if they changed in the same way. The dict maps (how a value
    changed, joined keys of its cause) to the index of the row.
    """
    entry_by_key = _entry_by_cause(changes)
    n_values, n_rows = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for counts, counted_values in ((n_values, values), (n_rows, merged_by_whole(values))):
        for value in counted_values:
            counts[_outcome(value), _cause_position(value.cause, entry_by_key)] += 1
    # Causes of equal size keep the order of their first values.
    ranked = sorted(n_values, key=lambda group: (_MOVES.index(group[0]), -n_values[group]))
    rows: list[list[Any]] = []
    for number, (outcome, entry) in enumerate(ranked, 1):
        text, key = "errors without a cause of their own", ""
        if entry >= 0:
            text, key = changes[entry].moved[Move(outcome)].text, changes[entry].change.key
        group = outcome, entry
        row_key = f"{outcome.replace(' ', '-')}-{key}"
        rows.append([row_key, text, n_rows[group], n_values[group], number, [], outcome])
    row_of_group = {group: row for row, group in enumerate(ranked)}
    positions = {}
    for value in values:
        entry = _cause_position(value.cause, entry_by_key)
        positions[_outcome(value), value.cause] = row_of_group[_outcome(value), entry]
    return rows, positions


def _entry_by_cause(changes: Sequence[CauseChangeText]) -> dict[str, int]:
    """Map the key of each cause to the index of its change in `changes`."""
    return {
        cause.key: number
        for number, text in enumerate(changes)
        for causes_of_run in text.change.causes
        for cause in causes_of_run
    }


def _cause_change(text: CauseChangeText) -> list[str]:
    """Return a list: key of the cause, its text in the base run, and its text in the new run."""
    sides = (text.base, text.new)
    return [text.change.key, *(cause.text if cause else text.text for cause in sides)]


def _value_row(
    value: ChangedValue,
    field_positions: Mapping[str, int],
    cause_positions: Mapping[tuple[str, str], int],
) -> tuple[Any, ...]:
    """Return a changed value as a row for the page's script.

    The columns are those that `error_rows` gives to an error. Two of them have other contents here:
    the column of the outcome says how the value changed, and the column of the differing fields has
    the answer of each run.
    """
    cause = cause_positions[_outcome(value), value.cause]
    n_values = value.n_values if value.n_values > 1 else None
    answers = [
        {"wrong": answer.paths} if isinstance(answer, WrongInside) else answer
        for answer in value.said
    ]
    pred = None if isinstance(value.said[-1], WrongInside) else value.said[-1]
    return (
        *(
            field_positions.get(value.field, -1),
            value.document,
            value.path,
            value.field,
            _outcome(value),
        ),
        *(value.error_class, value.gt, pred, None, None, n_values, value.reasons, answers),
        *("", "", cause, cause),
    )


def _cause_position(cause_keys: str, position_by_key: Mapping[str, int]) -> int:
    """Look up the position of a cause in `position_by_key`.

    `cause_keys` is a text that joins the key of the cause's group and the key of the cause. If only
    the group is in `position_by_key`, return the position of the group. If neither is there, return
    -1. This happens, for example, if a value is right and therefore has no cause.
    """
    group_key, own_key = split_cause_keys(cause_keys)
    return position_by_key.get(own_key, position_by_key.get(group_key, -1))


def _outcome(value: ChangedValue) -> str:
    if value.move:
        return value.move.value
    return f"{sum(answer is not True for answer in value.said)} wrong"


def _causes(
    values: Iterable[ChangedValue], runs: Sequence[Run]
) -> tuple[list[list[Any]], dict[tuple[str, str], int]]:
    """Return causes as rows for the page's script, and a dict of row positions.

    The rows are grouped by outcome, which says how the values changed, and then by run. Within a
    run, the cause that lost most values comes first. The dict maps (outcome, joined keys of a
    cause) to the index of the cause's row.
    """
    values_by_outcome: dict[str, list[ChangedValue]] = {}
    for value in values:
        values_by_outcome.setdefault(_outcome(value), []).append(value)
    rows: list[list[Any]] = []
    positions: dict[tuple[str, str], int] = {}
    # Values that are wrong in all runs say least about the difference, so they come last.
    ranked = sorted(values_by_outcome.items(), key=lambda entry: _all_are_wrong(entry[1]))
    for outcome, of_outcome in ranked:
        for run, texts, keys in _causes_by_run(of_outcome, runs):
            n_rows = Counter(
                keys[value.cause] for value in merged_by_whole(of_outcome) if value.run == run
            )
            first = len(rows)
            for text in texts:
                side = "" if of_outcome[0].move else f"{run}-"
                key = f"{outcome.replace(' ', '-')}-{side}{text.key}"
                n_rows_of_cause = n_rows[text.number]
                # The columns are: key, text, rows, lost values, number, origins, outcome.
                rows.append(
                    [key, text.text, n_rows_of_cause, text.values, text.number, [], outcome]
                )
            # The causes of a run are numbered from 1, in the order of their rows.
            for cause, cause_number in keys.items():
                positions[outcome, cause] = first + cause_number - 1
    return rows, positions


def _all_are_wrong(values: Sequence[ChangedValue]) -> bool:
    return not any(answer is True for value in values for answer in value.said)


def _causes_by_run(
    values: Sequence[ChangedValue], runs: Sequence[Run]
) -> Iterator[tuple[int, list[CauseText], dict[str, int]]]:
    """Yield the causes of wrong values, run by run.

    An entry is (index of the run, texts about its causes, numbers of its causes). The numbers are a
    dict from the joined keys of a cause (see `cause_keys`) to the number that the cause has in the
    texts. `value.run` is the index of the run to which a wrong value belongs.
    """
    for index in sorted({value.run for value in values}):
        run_causes = runs[index].evaluation.fold(Causes)
        causes_by_key = {cause.key: cause for cause in run_causes}
        selected = Causes(last_items=run_causes.last_items)
        causes = dict[str, Cause]()
        for keys, of_cause in _by_cause(value for value in values if value.run == index).items():
            group_key, own_key = split_cause_keys(keys)
            cause = causes_by_key.get(own_key) or causes_by_key.get(group_key)
            if cause is None:  # an error that repeats another error has no cause of its own
                names = field_names(of_cause[0].field)
                error_class = ErrorClass(of_cause[0].error_class)
                cause = Cause(
                    pattern=names,
                    error_class=error_class,
                    trait=ErrorTrait(names),
                    size=CauseSize(0, 0, 0),
                )
            causes[keys] = cause
            places = {
                (value.document, value.whole.path if value.whole else value.path)
                for value in of_cause
            }
            documents = {value.document for value in of_cause}
            size = CauseSize(len(places), len(of_cause), len(documents))
            selected.add_errors(cause, size, documents)
        texts = describe_causes(RunView(runs[index], visible), selected)
        numbers = {cause.identity: text.number for text in texts for cause in text.causes}
        # Kinds of errors that are too many to be counted separately share one cause.
        numbers_by_keys = {
            keys: numbers.get(cause.identity) or numbers[cause.identity[0], None]
            for keys, cause in causes.items()
        }
        yield index, texts, numbers_by_keys


def _by_cause(values: Iterable[ChangedValue]) -> dict[str, list[ChangedValue]]:
    groups: dict[str, list[ChangedValue]] = {}
    for value in values:
        groups.setdefault(value.cause, []).append(value)
    return groups


def _difference(difference: Difference) -> dict[str, Any]:
    view = DifferenceView(difference, visible)
    tone, verdict = view.verdict
    fields = sort_by_trend(difference.fields)
    sides = (("before", difference.base), ("after", difference.new))
    rows = [
        _document_row(
            document.id,
            document.change,
            (document.errors_before, document.errors_after),
            {path: move for move, paths in _moves(document) for path in map(visible, paths)}
            | _move_of_whole(document),
        )
        for document in difference.listed_documents
    ]
    n_listed = Counter(move_of_field for row in rows for move_of_field in row[_GROUPS].items())
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
        "whole_axis": change_axis(change.interval for change in view.whole),
        "field_axis": change_axis(change.interval for change in fields),
        "fields": fields,
        "n_listed": n_listed,
        "whole_document": WHOLE,
        "most_flow": max((max(change.broken, change.fixed) for change in fields), default=0) or 1,
        "paths": [view.name(change) for change in fields],
        "runs": [name for name, _ in sides],
        "documents": rows,
        "short": SHORT,
        "marks": MARKS,
    }


def _context_of_runs(subject: RunsBeside) -> dict[str, Any]:
    names = [PurePath(name).name for name in subject.runs]
    unlike = len(set(names)) == len(names)
    views = {
        visible(name if unlike else source): RunView(run, visible)
        for name, (source, run) in zip(names, subject.runs.items(), strict=True)
    }
    first = next(iter(views.values()))
    counts: dict[str, dict[int, int]] = {}
    for run_index, run in enumerate(subject.runs.values()):
        blocks = run.evaluation.ledger.blocks
        for document in blocks.documents() if blocks else ():
            counts.setdefault(document.id, {})[run_index] = document.values.fp + document.values.fn
    rows = [
        _document_row(
            name,
            None,
            [errors_by_run.get(run_index) for run_index in range(len(views))],
        )
        for name, errors_by_run in sorted(counts.items())
    ]
    paths = [row.path for row in first.rows]
    rows_by_path = [{row.path: row for row in view.rows} for view in views.values()]
    return {
        "view": None,
        "title": f"{visible(first.run.schema.model_name)}: {number_of(len(views), 'run')}",
        "systems": views,
        "fields": [[rows.get(path) for rows in rows_by_path] for path in paths],
        "paths": [visible(field_path(path)) for path in paths],
        "runs": [*views],
        "documents": sorted(rows, key=lambda row: -row[4]),
    }


_GROUPS: Final = 7  # the column of a document that the list of documents can be narrowed by


def _moves(document: DocumentChange) -> tuple[tuple[str, list[str]], ...]:
    """Return two groups as (title, fields): fields that broke, and fields that were fixed."""
    return ("broken", document.broken), ("fixed", document.fixed)


def _move_of_whole(document: DocumentChange) -> dict[str, str]:
    """Return whether a whole document is `broken` or `fixed`, as a dict with the key `WHOLE`.

    The document is broken if only the base run has all of it right, and fixed if only the new run
    has all of it right. In all other cases, the dict is empty.
    """
    is_right_before, is_right_after = not document.errors_before, not document.errors_after
    if is_right_before == is_right_after:
        return {}
    return {WHOLE: "broken" if is_right_before else "fixed"}


def _document_row(
    name: str,
    change: float | None,
    lost: Sequence[float | None],
    groups: Mapping[str, str] | None = None,
) -> tuple[Any, ...]:
    """Return a document as a row for the page's script.

    `lost` has the number of errors of the document in each run. The page of a single run has a
    column for the count FD. Here, this column has the largest of the numbers in `lost` minus the
    smallest one. Every row has the same status, because the script filters only by the numbers.
    """
    known_counts = [count for count in lost if count is not None]
    spread = max(known_counts) - min(known_counts) if known_counts else 0
    return name, "evaluated", change, 0, spread, 0, 0, groups or {}, [], [*lost]


def sort_by_trend(changes: Iterable[Change]) -> list[Change]:
    """Sort changes of fields by trend, then by size. Regressed fields come first."""
    return sorted(
        changes, key=lambda change: (ORDER.index(change.trend), -abs(change.change or 0.0))
    )
