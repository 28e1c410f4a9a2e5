"""Markdown for a comment on a pull request or a ticket, or the summary of a CI job.

GitHub-flavoured, with what is long at its end.
"""

from collections.abc import Iterable
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Difference, Trend
from stickler_cli.reports import run_sentences
from stickler_cli.reports.difference_view import ChangeRow, DifferenceView, signed
from stickler_cli.reports.figures import more_of, rate, setting, value_text
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown_text import COMMENT_LIMIT, code, table, truncate_lines
from stickler_cli.reports.pair import ComparedPair, sum_text
from stickler_cli.reports.pair_table import TITLES, plain_rows
from stickler_cli.reports.rows import FieldRow, Figures
from stickler_cli.reports.view import RunView
from stickler_cli.score.gates import GateResult
from stickler_cli.score.record import Run
from stickler_cli.score.run_verdict import Verdict

MARKER: Final = "<!-- stickler -->"
DIFFERENCE_MARKER: Final = "<!-- stickler diff -->"
"""The first line, by which a script finds the comment that it posted before."""

COUNTS: Final = ("TP", "FD", "FA", "FN", "TN", "precision", "recall", "F1")

_INCOMPARABLE: Final = "**not comparable**: "

_AS_CODE: Final = frozenset(("field", "gt", "pred", "difference"))
"""What comes from documents, and what is in brackets."""


def render_run(run: Run, style: TableStyle) -> str:
    """Return a run as Markdown that a comment can hold; ends with a line break."""
    return truncate_lines(run_page(run, style), COMMENT_LIMIT)


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as Markdown that a comment can hold; ends with a line break."""
    return truncate_lines(difference_page(difference), COMMENT_LIMIT)


def render_pair(pair: ComparedPair, style: TableStyle) -> str:
    """Return a comparison as Markdown; ends with a line break."""
    body = [
        [
            code(cell) if cell and (title in _AS_CODE or (written and title == "why")) else cell
            for title, cell in zip(TITLES, row.cells, strict=True)
        ]
        for row in plain_rows(pair)
        for written in [row.place.reason]  # by a model, of what is in documents
    ]
    title = f"### {code(pair.document)} ({code(pair.model_name)})"
    score = f"overall score {rate(pair.overall_score)}: {sum_text(pair.root)}"
    return _page([title], [score], table(TITLES, body, texts=len(TITLES)))


def run_page(run: Run, style: TableStyle) -> str:
    """Return a run as Markdown, however long."""
    view = RunView(run, code)
    valid = [part for line in run_sentences.validities(view) for part in ("", line)]
    return _page(
        [MARKER, f"### {_title(view)}", "", run_sentences.headline(view), *valid],
        _whole(view),
        _gates(run.gates),
        [f"- {note}" for note in run_sentences.notes(view)],
        _problems(view),
        _groups(view),
        _fields(view),
        _non_matches(view, style),
    )


def difference_page(difference: Difference) -> str:
    """Return a difference as Markdown, however long."""
    view = DifferenceView(difference, code)
    return _page(
        [DIFFERENCE_MARKER, f"### {view.title}"],
        [f"- {_INCOMPARABLE if decides else ''}{text}" for decides, text in view.contrasts],
        [view.headline, "", f"**{view.trend_line}**"],
        _gates(difference.gates),
        [f"- {text}" for _, text in view.fields_with(Trend.REGRESSED, Trend.IMPROVED)],
        _changes(view, view.whole, ""),
        _changed_documents(view),
        _changed_fields(view),
    )


def _page(*sections: Iterable[str]) -> str:
    """Return sections with a blank line between; empty ones leave none."""
    return "\n\n".join(filter(None, map("\n".join, sections))) + "\n"


def _details(title: str, lines: Iterable[str], legend: Iterable[str]) -> list[str]:
    """Return lines that show when they are opened, and what explains them."""
    explained = (f"- {text}" for text in legend)
    return [
        *(f"<details><summary>{title}</summary>", ""),
        *(*lines, "", *explained),
        *("", "</details>"),
    ]


def _gates(gates: Iterable[GateResult]) -> list[str]:
    words = {True: "PASS", False: "**FAIL**"}
    rows = [[words[result.passed], code(result.gate.text), code(result.reason)] for result in gates]
    return table(["", "gate", "reached"], rows, texts=3) if rows else []


def _title(view: RunView) -> str:
    name, gates = code(view.run.schema.model_name), view.run.gates
    match view.verdict:
        case Verdict.INCOMPLETE:
            return f"{name}: incomplete"
        case Verdict.FAILED:
            return f"{name}: {view.failed_gates} of {len(gates)} gates failed"
        case Verdict.PASSED:
            return f"{name}: all gates passed" if gates else name


def _figures(view: RunView, figures: Figures) -> list[str]:
    counts, rates = figures.counts, figures.rates
    whole = (counts.tp, counts.fd, counts.fa, counts.fn, counts.tn)
    return [*map(str, whole), *map(view.rate, (rates.precision, rates.recall, rates.f1))]


def _whole(view: RunView) -> list[str]:
    bounds = view.intervals
    rows = [
        [
            mode,
            *_figures(view, figures),
            *([view.interval(bounds.rates[mode]["f1"])] if bounds else ()),
        ]
        for mode, figures in view.whole.items()
    ]
    titles = ["", *COUNTS, *([view.interval_title] if bounds else ())]
    sentences = (run_sentences.disagreement(view), run_sentences.error_classes(view))
    return table(titles, rows) + [line for text in sentences if text for line in ("", text)]


def _groups(view: RunView) -> list[str]:
    lines: list[str] = []
    for key, groups in view.groups.items():
        with_interval = any(row.interval for row in groups)
        titles = [f"by {code(key)}", "documents", "F1", "F1 leaves", "mean score"]
        rows = [
            [
                code(row.name),
                str(row.documents),
                *map(view.rate, (row.f1, row.leaves, row.score)),
                *([view.interval(row.interval)] if with_interval else ()),
            ]
            for row in groups
        ]
        titles += [view.interval_title] if with_interval else ()
        lines += ["", *table(titles, rows)]
    return lines[1:]


def _fields(view: RunView) -> list[str]:
    if not view.rows:
        return []
    worst = run_sentences.worst_fields(view)
    titles = ["", "field", "comparator", "threshold", "weight", *COUNTS, "F1 leaves", "mean score"]
    fields = table(titles, (_field(view, row) for row in view.rows), texts=3)
    legend = [*run_sentences.LEGEND, *([run_sentences.WORST_LEGEND] if worst else [])]
    above = [f"**{worst}**", ""] if worst else []
    return above + _details(f"{len(view.rows)} fields", fields, legend)


def _field(view: RunView, row: FieldRow) -> list[str]:
    return [
        run_sentences.WORST_MARK if row.worst else "",
        code(field_path(row.path)),
        code(row.compared_by),
        setting(row.threshold),
        setting(row.weight),
        *_figures(view, row.figures["overall"]),
        view.rate(row.leaves),
        view.rate(row.score),
    ]


def _non_matches(view: RunView, style: TableStyle) -> list[str]:
    rows = [
        [
            code(document),
            code(field_path(entry.path)),
            entry.outcome.name,
            entry.error_class.replace("_", " "),
            code(value_text(entry.gt)),
            code(value_text(entry.pred)),
            code(entry.explanation) if entry.differing or entry.judge else entry.reason,
        ]
        for document, entry in view.run.first_non_matches[: style.show_non_matches]
    ]
    titles = ("document", "field", "outcome", "class", "ground truth", "prediction", "reason")
    return table(titles, rows, texts=len(titles)) if rows else []


def _problems(view: RunView) -> list[str]:
    title, named, more = run_sentences.problems(view)
    lines = [f"- {status}: {code(text)}" for status, text in named]
    if more:
        lines.append(f"- {more_of(more)}")
    return [f"Documents with problems: {title}", "", *lines] if lines else []


def _changes(view: DifferenceView, rows: Iterable[ChangeRow], first: str) -> list[str]:
    """Return a row for each figure; only fields, whose column has a title, are broken and fixed."""
    titles = ["", first, "before", "after", "change", view.interval_title, "p"]
    titles += [*(["broken", "fixed"] if first else ()), "trend", "decided by"]
    cells = []
    for row in rows:
        change = row.figure
        counts = (str(change.broken), str(change.fixed)) if first else ()
        figures = (row.before, row.after, row.change, row.interval, row.p)
        trend = (change.trend.value, change.decided_by.value)
        cells.append([row.mark, row.name, *figures, *counts, *trend])
    return table(titles, cells, texts=2)


def _changed_documents(view: DifferenceView) -> list[str]:
    lines: list[str] = []
    for what, (documents, more) in view.documents.items():
        if documents:
            lines += ["", f"Documents that got {what}:", ""]
        for document in documents:
            mark = "**broke hard**: " if document.is_hard else ""
            told = view.document_text(document)
            lines.append(f"- {signed(document.change)} {code(document.id)}: {mark}{told}")
        if more:
            lines.append(f"- {more_of(more)}")
    return lines[1:]


def _changed_fields(view: DifferenceView) -> list[str]:
    if not view.fields:
        return []
    rows = _changes(view, view.fields, "field")
    return _details(f"{len(view.fields)} fields", rows, view.legend)
