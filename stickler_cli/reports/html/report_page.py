"""The HTML page of a study: its sections; and templates and policy of all pages."""

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
from .payload import packed
from .study_pictures import study_pictures

HERE: Final = File(__file__).parent

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Lets nothing run but what is named beside it, and nothing be loaded; images are data, for the
icon that browsers would else ask the server for. Source: https://www.w3.org/TR/CSP3/."""


def filled(
    template: str,
    context: Mapping[str, object],
    scripts: Sequence[str] = (),
    parts: Mapping[str, Iterable[bytes]] | None = None,
    policy: str = "",
) -> str:
    """Return a template with values put in, all of them escaped; ends with a line break.

    Each of its scripts uses what stands before it; `policy` says what else may run. Parts are the
    JSON values that they read, by the names of elements.
    """
    script = _wrapped(scripts) if scripts else ""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    payload = {name: packed(lines) for name, lines in (parts or {}).items()}
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
    own = (
        in_short,
        more_causes,
        count_unlisted,
        number_of,
        percent,
        setting,
        format_beside_limit,
        visible,
    )
    environment.filters |= {function.__name__: function for function in own}
    return environment


def asset(name: str) -> str:
    """Return a file that lies beside the templates."""
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _wrapped(names: Sequence[str]) -> str:
    parts = [asset(f"{name}.js") for name in names]
    if "engine" in names:
        parts.insert(0, f"const QUERIES = {json.dumps(QUERIES)};\n")
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


# Formats that are not named after their command; to load all studies takes a run's page 8 ms.
_COMMANDS: Final = {"tuning": "tune", "policy": "accept"}


def render(report: Report, style: TableStyle) -> str:
    """Return a report as an HTML page; ends with a line break."""
    first, *others = report.sections
    blocks = [*map(_shown_as, first.blocks)]
    lines = [*takewhile(lambda block: "text" in block, blocks)]
    sections = [("", blocks[len(lines) :])]
    sections += [(section.title, [*map(_shown_as, section.blocks)]) for section in others]
    figures = (it for part in report.sections for it in part.blocks if isinstance(it, Figures))
    choices = [each for it in figures for each in it.choices]
    name = getattr(report.record, "format", "").removeprefix("stickler-").partition("/")[0]
    told = "".join(it.line for it in choices).encode("utf-8", "surrogatepass")
    context: dict[str, object] = {
        "identifier": hashlib.sha256(told).hexdigest()[:16],
        "maker": f"stickler {_COMMANDS.get(name, name)}".rstrip(),
        "title": first.title or lines.pop(0)["text"],
        "head": lines,
        "sections": [(title, inside) for title, inside in sections if title or inside],
        **study_pictures(report),
    }
    scripts: tuple[str, ...] = ("text", "kept_verdicts", "choices") if choices else ()
    if context["listing"]:
        scripts = ("text", "table_filter")
    return filled("report_page.html.j2", context, scripts)


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
    label = "" if it.last == "1" else f"{drawn.title}; {it.description}"
    chart = coverage_chart(points, chosen, drawn.level, label, drawn.top)
    return it.name, it.description, it.last, chart
