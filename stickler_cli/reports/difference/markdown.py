"""A difference as Markdown, for a comment on a pull request or the summary of a CI job."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.diff.changes import Change, Difference, Verdict
from stickler_cli.reports.difference.summary import (
    MARKS,
    better_documents,
    differences,
    document_text,
    fields_with,
    headline,
    interval_of,
    interval_title,
    legend,
    limits,
    name_of,
    signed,
    title,
    verdict_line,
    worse_documents,
)
from stickler_cli.reports.fitting import COMMENT_LIMIT, fitted
from stickler_cli.reports.markdown import code, gate_table, table
from stickler_cli.reports.style import TableStyle
from stickler_cli.score.rate_text import rate

MARKER: Final = "<!-- stickler diff -->"
"""The first line, by which a script finds the comment that it posted before."""


def render(difference: Difference, style: TableStyle) -> str:
    """Write a difference as Markdown that fits into a comment; ends with a line break."""
    return fitted(page(difference, style), COMMENT_LIMIT)


def page(difference: Difference, style: TableStyle) -> str:
    """Write a difference as GitHub-flavoured Markdown, however long; what is long comes last."""
    sections = (
        [MARKER, f"### {title(difference, code)}"],
        [
            f"- {'**not comparable**: ' if decides else ''}{text}"
            for decides, text in differences(difference, code)
        ],
        [headline(difference), "", f"**{verdict_line(difference)}**"],
        gate_table(difference.gates),
        _told(difference),
        _table(difference, difference.whole, ""),
        _documents(difference),
        _fields(difference),
    )
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _told(difference: Difference) -> list[str]:
    return [
        f"- {text}"
        for verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
        for text in fields_with(difference, verdict, code)
    ]


def _table(difference: Difference, changes: Sequence[Change], first: str) -> list[str]:
    near = limits(difference)
    titles = ["", first, "before", "after", "change", interval_title(difference), "p"]
    rows = [
        [
            MARKS[change.verdict],
            code(name_of(change)) if change.path else name_of(change),
            rate(change.before),
            rate(change.after),
            signed(change.change, near),
            interval_of(change.interval, near),
            rate(change.corrected_p if change.path else change.p),
            *([str(change.broken), str(change.fixed)] if change.path else ()),
            change.verdict.value,
            change.decided_by.value,
        ]
        for change in changes
    ]
    titles += [*(["broken", "fixed"] if first else ()), "verdict", "decided by"]
    return table(titles, rows, texts=2)


def _documents(difference: Difference) -> list[str]:
    lines: list[str] = []
    for what, (documents, more) in (
        ("worse", worse_documents(difference)),
        ("better", better_documents(difference)),
    ):
        if documents:
            lines += ["", f"Documents that got {what}:", ""]
        for document in documents:
            mark = "**broke hard**: " if document.is_hard else ""
            told = document_text(document, code)
            lines.append(f"- {signed(document.change)} {code(document.id)}: {mark}{told}")
        if more:
            lines.append(f"- and {more} more; all of them are in the JSON report")
    return lines[1:]


def _fields(difference: Difference) -> list[str]:
    if not difference.fields:
        return []
    return [
        f"<details><summary>{len(difference.fields)} fields</summary>",
        "",
        *_table(difference, difference.fields, "field"),
        "",
        *(f"- {text}" for text in legend(difference)),
        "",
        "</details>",
    ]
