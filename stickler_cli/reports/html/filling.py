"""What all pages share: how templates are filled in, and what a browser may do with the result."""

from collections.abc import Mapping
from pathlib import Path as File
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stickler_cli.core.figures import more_of, number_of, setting, visible
from stickler_cli.reports import run_sentences
from stickler_cli.reports.cause_sentences import more_causes
from .charts import OUTCOMES, bar_parts

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
    own = (bar_parts, more_causes, more_of, number_of, setting, visible)
    environment.filters |= {function.__name__: function for function in own}
    css = Markup(asset("page.css"))  # noqa: S704 - ours
    page = environment.get_template(template)
    text = page.render(context, css=css, outcomes=OUTCOMES, sentences=run_sentences)
    return text.rstrip("\n") + "\n"


def asset(name: str) -> str:
    """Return a file that lies beside the templates."""
    return (HERE / name).read_text(encoding="utf-8")
