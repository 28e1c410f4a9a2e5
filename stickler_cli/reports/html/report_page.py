"""The HTML page of a study: its sections; and templates and policy of all pages."""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path as File
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stickler_cli.core.figures import more_of, number_of, percent, setting, visible
from stickler_cli.core.sections import Block, Curve, Curves, Figures, Report, Table, Text
from stickler_cli.reports import run_sentences
from stickler_cli.reports.cause_sentences import more_causes
from stickler_cli.reports.layout import TableStyle
from .charts import OUTCOMES, CoverageChart, coverage_chart

HERE: Final = File(__file__).parent

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Lets nothing run but what is named beside it, and nothing be loaded; images are data, for the
icon that browsers would else ask the server for. Source: https://www.w3.org/TR/CSP3/."""


def filled(template: str, context: Mapping[str, object]) -> str:
    """Return a template with values put in, all of them escaped; ends with a line break."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own = (more_causes, more_of, number_of, percent, setting, visible)
    environment.filters |= {function.__name__: function for function in own}
    css = Markup(asset("page.css"))  # noqa: S704 - ours
    page = environment.get_template(template)
    text = page.render(context, css=css, outcomes=OUTCOMES, sentences=run_sentences)
    return text.rstrip("\n") + "\n"


def asset(name: str) -> str:
    """Return a file that lies beside the templates."""
    return (HERE / name).read_text(encoding="utf-8")


def policy_of(script: str) -> str:
    """Return the policy of a page that has a script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"


def wrapped(names: Iterable[str]) -> str:
    """Return scripts that lie beside the templates as one: each uses what stands before it."""
    parts = (asset(f"{name}.js") for name in names)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


@cache
def _choosing() -> str:
    return wrapped(("text", "kept_verdicts", "choices"))


def render(report: Report, style: TableStyle) -> str:
    """Return a report as an HTML page; ends with a line break."""
    head, *others = report.sections
    first = head.blocks[0]
    title = head.title or (first.text if isinstance(first, Text) else "")
    tables = [it for section in others for it in section.blocks if isinstance(it, Figures)]
    lines = "".join(choices.line for it in tables for choices in it.choices)
    script = _choosing() if lines else ""
    context: dict[str, object] = {
        "policy": policy_of(script) if script else POLICY,
        "script": Markup(script),  # noqa: S704 - ours
        "page": hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        "title": title,
        "head": [_shown_as(block) for block in (head.blocks if head.title else head.blocks[1:])],
        "sections": [
            (section.title, [_shown_as(block) for block in section.blocks])
            for section in others
            if section.title or section.blocks
        ],
    }
    return filled("report_page.html.j2", context)


def _shown_as(block: Block | Figures | Curves) -> dict[str, object]:
    """Return a block as the template has it."""
    match block:
        case Figures():
            return {"table": block.table(), "choices": block.choices}
        case Curves():
            return {
                "title": block.title,
                "legend": block.legend,
                "axes": block.axes,
                "curves": [_curve(it, block) for it in block.curves],
            }
        case Table():
            return {"table": block, "choices": ()}
        case Text():
            return {"text": block.text, "tone": block.tone, "level": len(block.margin) // 2}
    return {"text": "".join(span.text for span in block), "tone": "", "level": 0}


def _curve(it: Curve, drawn: Curves) -> tuple[str, str, str, CoverageChart]:
    chosen = None if it.end is None else (it.passing, *it.end)
    points = [(passing, value) for passing, value in it.points]
    label = "" if it.last == "1" else f"{drawn.title}; {it.said}"
    return it.name, it.said, it.last, coverage_chart(points, chosen, drawn.level, label)
