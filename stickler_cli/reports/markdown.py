"""GitHub-flavoured Markdown for a comment on a pull request, or the summary of a CI job."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.core.figures import more_of, rate
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.reports import cause_sentences, repeat_sentences, run_sentences, tables
from stickler_cli.score.gates import GateResult
from stickler_cli.score.record import Run, Verdict
from stickler_cli.studies.diff.changes import Difference
from .difference_table import change_table, metric_changes_table
from .difference_view import DifferenceView, signed
from .error_list import error_table
from .layout import TableStyle
from .markdown_text import COMMENT_LIMIT, code, table_text, truncate_lines
from .pair import ComparedPair, sum_text
from .pair_table import TITLES, place_table
from .rows import rows_shown
from .trust_table import confidence_sentences, confidence_table
from .view import RunView
from .worst_documents import document_table, wrong_documents

MARKER: Final = "<!-- stickler -->"
DIFFERENCE_MARKER: Final = "<!-- stickler diff -->"
"""The first line, by which a script finds the comment that it posted before."""


def render_run(run: Run, style: TableStyle) -> str:
    """Return a run as Markdown that a comment can hold; ends with a line break."""
    return truncate_lines(run_page(run, style), COMMENT_LIMIT)


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as Markdown that a comment can hold; ends with a line break."""
    return truncate_lines(difference_page(difference), COMMENT_LIMIT)


def render_pair(pair: ComparedPair, style: TableStyle) -> str:
    """Return a comparison as Markdown; ends with a line break."""
    title = f"### {code(pair.document)} ({code(pair.model_name)})"
    score = f"overall score {rate(pair.overall_score)}: {sum_text(pair.root)}"
    return _page([title], [score], table_text(place_table(pair), texts=len(TITLES)))


def run_page(run: Run, style: TableStyle) -> str:
    """Return a run as Markdown, however long."""
    view = RunView(run, code)
    counted = (run_sentences.headline, run_sentences.values, run_sentences.rates)
    doubt, classes = run_sentences.disagreement(view), run_sentences.error_classes(view)
    shown = rows_shown(view.rows, style.sort, style.fields, only_errors=style.only_errors)
    chosen = run.first_non_matches[: style.show_non_matches]
    return _page(
        [MARKER, f"### {_title(view)}"],
        [f"**{run_sentences.verdict(view)}**"],
        *([text] for text in run_sentences.marked(view)),
        _causes(view),
        *([text] for text in run_sentences.labels(view)),
        *([text] for text in (*(tell(view) for tell in counted), *run_sentences.validities(view))),
        [right] if (right := run_sentences.wholly_right(view)) else [],
        table_text(tables.countings_table(view)) if style.verbose else [],
        [doubt] if style.verbose and doubt else [],
        [classes] if classes else [],
        _gates(run.gates),
        [f"- {note}" for note in run_sentences.notes(view)],
        _problems(view),
        *(
            table_text(tables.group_table(view, key, groups, page=True))
            for key, groups in view.groups.items()
        ),
        [f"**{worst}**" for worst in [run_sentences.worst_fields(view)] if worst],
        _details(tables.field_table(view, shown, page=True)),
        *_repeats(view),
        confidence_sentences(view),
        table_text(confidence_table(view)) if view.confidence else [],
        table_text(tables.metric_table(view.metrics)) if view.metrics else [],
        _documents(view, style),
        table_text(error_table(chosen, "ground truth", "prediction")) if chosen else [],
    )


def _documents(view: RunView, style: TableStyle) -> list[str]:
    shown, _ = wrong_documents(view.run, style.show_documents)
    return table_text(document_table(view, shown, page=True)) if shown else []


def difference_page(difference: Difference) -> str:
    """Return a difference as Markdown, however long."""
    view = DifferenceView(difference, code)
    return _page(
        [DIFFERENCE_MARKER, f"### {view.title}"],
        [f"**{view.verdict[1]}**"],
        [
            f"- {'**not comparable**: ' if decides else ''}{text}"
            for decides, text in view.contrasts
        ],
        [view.headline],
        [view.of_runs],
        _gates(difference.gates),
        [f"- {text}" for _, text in view.findings],
        table_text(change_table(view, view.whole, page=True)),
        table_text(metric_changes_table(difference.metrics)) if difference.metrics else [],
        *(_changed_documents(view, what) for what in view.documents),
        _details(change_table(view, difference.fields, "field", page=True)),
    )


def _page(*sections: Sequence[str]) -> str:
    """Return sections with a blank line between; empty ones leave none."""
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _details(fields: Table) -> list[str]:
    if not fields.rows:
        return []
    title = f"<details><summary>{len(fields.rows)} fields</summary>"
    legend = [f"- {text}" for _, text in fields.legend]
    return [title, "", *table_text(fields), "", *legend, "", "</details>"]


def _repeats(view: RunView) -> list[list[str]]:
    found = view.run.repeats
    if found is None:
        return []
    flips = [f"- {text}" for text in repeat_sentences.flips(view, found)]
    table = _details(repeat_sentences.repeats_table(found))
    return [[f"**{repeat_sentences.headline(view, found)}**"], table, flips]


def _causes(view: RunView) -> list[str]:
    named, more = cause_sentences.causes(view)
    lines = [f"- {cause.values}: {cause.text}" for cause in named]
    lines += [f"- {cause_sentences.more_causes(more)}"] if more else []
    return ["**Causes**, by values lost:", "", *lines] if lines else []


def _gates(gates: Sequence[GateResult]) -> list[str]:
    words = {True: "PASS", False: "**FAIL**"}
    columns = [Column(title, left=True) for title in ("", "gate", "reached")]
    rows = [
        [Span(words[each.passed]), Span.of(each.gate.text), Span.of(each.reason)] for each in gates
    ]
    return table_text(Table(columns, rows)) if rows else []


def _title(view: RunView) -> str:
    gates = view.run.gates
    told = {
        Verdict.INCOMPLETE: ": incomplete",
        Verdict.FAILED: f": {view.failed_gates} of {len(gates)} gates failed",
        Verdict.PASSED: ": all gates passed" if gates else "",
    }
    return code(view.run.schema.model_name) + told[view.run.verdict]


def _problems(view: RunView) -> list[str]:
    title, named, more = run_sentences.problems(view)
    lines = [f"- {status}: {code(text)}" for status, text in named]
    lines += [f"- {more_of(more)}"] if more else []
    return [f"Documents with problems: {title}", "", *lines] if lines else []


def _changed_documents(view: DifferenceView, what: str) -> list[str]:
    documents, more = view.documents[what]
    lines = [f"Documents that got {what}:", ""] if documents else []
    for document in documents:
        told = ("**broke hard**: " if document.hard else "") + view.document_text(document)
        lines.append(f"- {signed(document.change)} {code(document.id)}: {told}")
    return [*lines, f"- {more_of(more)}"] if more else lines
