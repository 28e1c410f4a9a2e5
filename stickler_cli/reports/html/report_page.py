"""The HTML page of a study, and the template and security functions for all pages."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path as File
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stickler_cli.core.figures import (
    count_unlisted,
    format_beside_limit,
    in_short,
    number_of,
    percent,
    setting,
    visible,
)
from stickler_cli.core.sections import Block, Curve, Curves, Figures, Report, Table, Text
from stickler_cli.reports import run_sentences
from stickler_cli.reports.cause_sentences import more_causes
from stickler_cli.reports.layout import TableStyle
from stickler_cli.runs.page_queries import QUERIES
from .charts import OUTCOMES, CoverageChart, coverage_chart
from .payload import pack_lines
from .study_pictures import study_pictures

HERE: Final = File(__file__).parent

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Content security policy of a page. The page loads nothing from outside. It runs only scripts
whose hashes are appended to this text. Data images are allowed for the icon: without an icon,
browsers would request one from the server. Source: https://www.w3.org/TR/CSP3/."""


def fill_template(
    template: str,
    context: Mapping[str, object],
    scripts: Sequence[str] = (),
    element_values: Mapping[str, Iterable[bytes]] | None = None,
    policy: str = "",
) -> str:
    """Return a page: a template filled with escaped values.

    Args:
        template: the file name of the template.
        context: a dict from the names that the template uses to their values.
        scripts: the names of script files. A script can use what the scripts before it define.
        element_values: JSON values that the scripts read. A key is the id of the HTML element that
            holds the value; the value is given as lines of bytes.
        policy: further rules of the content security policy.
    """
    script = _wrap_scripts(scripts) if scripts else ""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    payload = {name: pack_lines(lines) for name, lines in (element_values or {}).items()}
    values: dict[str, object] = {
        "css": Markup(asset("page.css")),  # noqa: S704 - ours
        "script": Markup(script),  # noqa: S704 - ours
        "policy": f"{POLICY}; script-src 'sha256-{digest}'{policy}" if script else POLICY,
        "payload": payload,
        "identifier": hashlib.sha256("".join(payload.values()).encode()).hexdigest()[:16],
        "served": False,
        "outcomes": OUTCOMES,
        "sentences": run_sentences,
    }
    text = _environment().get_template(template).render({**values, **context})
    return text.rstrip("\n") + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        in_short,
        more_causes,
        count_unlisted,
        number_of,
        percent,
        setting,
        format_beside_limit,
        visible,
    )
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def asset(name: str) -> str:
    """Return the text of a file in the directory of the templates."""
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _wrap_scripts(names: Sequence[str]) -> str:
    texts = [asset(f"{name}.js") for name in names]
    if "engine" in names:
        texts.insert(0, f"const QUERIES = {json.dumps(QUERIES)};\n")
    return '(() => {\n"use strict";\n' + "\n".join(texts) + "})();\n"


# Formats whose name differs from the command; loading all studies would take 8 ms.
_COMMANDS: Final = {"tuning": "tune", "policy": "accept"}


def render(report: Report, style: TableStyle) -> str:
    """Return the HTML page of a study."""
    first, *further_sections = report.sections
    blocks = [*map(_block_context, first.blocks)]
    lines = [*takewhile(lambda block: "text" in block, blocks)]
    sections = [("", blocks[len(lines) :])]
    sections += [
        (section.title, [*map(_block_context, section.blocks)]) for section in further_sections
    ]
    figures = (
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Figures)
    )
    choices = [choice for figure in figures for choice in figure.choices]
    name = getattr(report.record, "format", "").removeprefix("stickler-").partition("/")[0]
    choice_lines = "".join(choice.line for choice in choices).encode("utf-8", "surrogatepass")
    context: dict[str, object] = {
        "identifier": hashlib.sha256(choice_lines).hexdigest()[:16],
        "maker": f"stickler {_COMMANDS.get(name, name)}".rstrip(),
        "title": first.title or lines.pop(0)["text"],
        "head": lines,
        "sections": [(title, content) for title, content in sections if title or content],
        **study_pictures(report),
    }
    scripts: tuple[str, ...] = ("text", "kept_verdicts", "choices") if choices else ()
    if context["listing"]:
        scripts = ("text", "table_filter")
    return fill_template("report_page.html.j2", context, scripts)


def _block_context(block: Block | Figures | Curves) -> dict[str, object]:
    """Return the variables from which the template draws one block of a report, such as a table."""
    match block:
        case Figures():
            return {"table": block.table(), "choices": block.choices}
        case Curves():
            return {
                "title": block.title,
                "legend": block.legend,
                "axes": block.axes,
                "curves": [_draw_curve(curve, block) for curve in block.curves],
            }
        case Table():
            return {"table": block, "choices": ()}
        case Text():
            return {"text": block.text, "tone": block.tone, "level": len(block.margin) // 2}
    return {"text": "".join(span.text for span in block), "tone": "", "level": 0}


def _draw_curve(curve: Curve, drawn: Curves) -> tuple[str, str, str, CoverageChart]:
    chosen = None if curve.end is None else (curve.passing, *curve.end)
    points = [(passing, value) for passing, value in curve.points]
    label = "" if curve.last == "1" else f"{drawn.title}; {curve.description}"
    chart = coverage_chart(points, chosen, drawn.level, label, drawn.top)
    return curve.name, curve.description, curve.last, chart
