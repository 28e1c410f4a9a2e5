"""Markdown for a comment on a pull request, or the summary of a CI job."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.reports.figures import Rates, rates_of, setting, value_text, visible
from stickler_cli.reports.fitting import COMMENT_LIMIT, fitted
from stickler_cli.reports.groups import any_interval, group_rows
from stickler_cli.reports.rows import FieldRow, field_rows
from stickler_cli.reports.style import TableStyle
from stickler_cli.reports.summary import (
    LEGEND,
    WORST_LEGEND,
    WORST_MARK,
    disagreement,
    error_classes,
    gate_limits,
    headline,
    interval_title,
    intervals,
    notes,
    problems,
    readings,
    verdicts,
    worst_fields,
)
from stickler_cli.score.counts import Counts
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import interval_text
from stickler_cli.score.rate_text import rate
from stickler_cli.score.record import Run
from stickler_cli.score.verdict import Verdict, verdict_of

MARKER: Final = "<!-- stickler -->"
"""The first line, by which a script finds the comment that it posted before."""

COUNTS: Final = ("TP", "FD", "FA", "FN", "TN", "precision", "recall", "F1")

_MARKUP: Final = re.compile(r"[\\`|*_\[\]<>&~@#$!:]|(?<=www)\.")
"""What markup, tables, links, mentions or HTML begin with inside a line."""

_BREAKS_CODE: Final = re.compile(r"[\\`|]|<[/!?A-Za-z]|&[#A-Za-z]|^\s|\s$|^$")
"""What had better not stand between backticks: a pipe splits a table's row even there, and not
everything that shows Markdown leaves HTML in code alone."""


def render(run: Run, style: TableStyle) -> str:
    """Write a run as Markdown that fits into a comment; ends with a line break."""
    return fitted(page(run, style), COMMENT_LIMIT)


def page(run: Run, style: TableStyle) -> str:
    """Write a run as GitHub-flavoured Markdown, however long; what is long comes last."""
    rows = field_rows(run)
    sections = (
        [MARKER, f"### {_title(run)}", "", headline(run), *_verdicts(run)],
        _readings(run),
        gate_table(run.gates),
        [f"- {note}" for note in notes(run, code)],
        _problems(run),
        _groups(run),
        _fields(run, rows),
        _non_matches(style),
    )
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _verdicts(run: Run) -> list[str]:
    return [part for line in verdicts(run, code) for part in ("", line)]


def _title(run: Run) -> str:
    name = code(run.schema.model_name)
    failed = sum(not result.passed for result in run.gates)
    match verdict_of(run.evaluation, run.gates, strict=run.options.strict):
        case Verdict.INCOMPLETE:
            return f"{name}: incomplete"
        case Verdict.FAILED:
            return f"{name}: {failed} of {len(run.gates)} gates failed"
        case Verdict.PASSED:
            return f"{name}: all gates passed" if run.gates else name


def code(text: str) -> str:
    """Write text as code: no markup, link or HTML in it works, and nobody is mentioned.

    >>> code("line_items.price"), code("a|b")
    ('`line_items.price`', '<code>a&#124;b</code>')
    """
    safe = visible(text)
    if not _BREAKS_CODE.search(safe):
        return f"`{safe}`"
    return f"<code>{_MARKUP.sub(_as_number, safe)}</code>"


def _as_number(match: re.Match[str]) -> str:
    """Write a character so that it never counts as markup. Source: CommonMark, section 2.5."""
    return f"&#{ord(match[0])};"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> list[str]:
    """Write a table; the first columns are text, the others numbers."""
    rules = [":---"] * texts + ["---:"] * (len(titles) - texts)
    return [f"| {' | '.join(row)} |" for row in (titles, rules, *rows)]


def _figures(run: Run, counts: Counts, rates: Rates) -> list[str]:
    limits = gate_limits(run)
    whole = (counts.tp, counts.fd, counts.fa, counts.fn, counts.tn)
    shares = (rates.precision, rates.recall, rates.f1)
    return [*map(str, whole), *(rate(share, limits) for share in shares)]


def _readings(run: Run) -> list[str]:
    bounds, limits = intervals(run), gate_limits(run)
    rows = [
        [
            name,
            *_figures(run, counts, rates),
            *([interval_text(bounds.rates[name]["f1"], limits)] if bounds else ()),
        ]
        for name, (counts, rates) in readings(run).items()
    ]
    titles = ["", *COUNTS, *([interval_title(run)] if bounds else ())]
    doubt = disagreement(run)
    errors = error_classes(run)
    sentences = [text for text in (doubt, errors) if text]
    return table(titles, rows) + [line for text in sentences for line in ("", text)]


def _groups(run: Run) -> list[str]:
    limits = gate_limits(run)
    lines: list[str] = []
    for key, groups in group_rows(run).items():
        with_interval = any_interval(groups)
        titles = [f"by {code(key)}", "documents", "F1", "F1 leaves", "mean score"]
        rows = [
            [
                code(row.name),
                str(row.documents),
                *(rate(value, limits) for value in (row.f1, row.leaves, row.score)),
                *([interval_text(row.interval, limits)] if with_interval else ()),
            ]
            for row in groups
        ]
        titles += [interval_title(run)] if with_interval else ()
        lines += ["", *table(titles, rows)]
    return lines[1:]


def gate_table(gates: Iterable[GateResult]) -> list[str]:
    """Write a row for each gate; nothing without any."""
    words = {True: "PASS", False: "**FAIL**"}
    rows = [[words[result.passed], code(result.gate.text), code(result.reason)] for result in gates]
    return table(["", "gate", "reached"], rows, texts=3) if rows else []


def _fields(run: Run, rows: Sequence[FieldRow]) -> list[str]:
    if not rows:
        return []
    worst = worst_fields(run, rows, code)
    titles = ["", "field", "comparator", "threshold", "weight", *COUNTS, "F1 leaves", "mean score"]
    fields = table(titles, (_field(run, row) for row in rows), texts=3)
    legend = [*LEGEND, WORST_LEGEND] if worst else LEGEND
    return [
        *([f"**{worst}**", ""] if worst else []),
        f"<details><summary>{len(rows)} fields</summary>",
        "",
        *fields,
        "",
        *(f"- {text}" for text in legend),
        "",
        "</details>",
    ]


def _field(run: Run, row: FieldRow) -> list[str]:
    limits = gate_limits(run)
    with_fd = run.options.recall_with_fd
    counts = row.tally.counts("overall")
    leaves = rates_of(row.tally.counts("leaves"), recall_with_fd=with_fd).f1
    return [
        WORST_MARK if row.worst else "",
        code(field_path(row.path)),
        code(row.compared_by),
        setting(row.info.threshold if row.info else None),
        setting(row.weight),
        *_figures(run, counts, rates_of(counts, recall_with_fd=with_fd)),
        rate(leaves, limits),
        rate(row.tally.mean_score, limits),
    ]


def _non_matches(style: TableStyle) -> list[str]:
    rows = [
        [
            code(document),
            code(field_path(entry.path)),
            entry.outcome.name,
            entry.error_class.replace("_", " "),
            code(value_text(entry.gt)),
            code(value_text(entry.pred)),
            code(entry.explanation) if entry.differing or entry.verdict else entry.reason,
        ]
        for document, entry in style.chosen()
    ]
    titles = ("document", "field", "outcome", "class", "ground truth", "prediction", "reason")
    return table(titles, rows, texts=len(titles)) if rows else []


def _problems(run: Run) -> list[str]:
    title, named, more = problems(run)
    lines = [f"- {status}: {code(text)}" for status, text in named]
    if more:
        lines.append(f"- and {more} more; all of them are in the JSON report")
    return [f"Documents with problems: {title}", "", *lines] if lines else []
