"""The HTML reports: one file, nothing to load, light and dark, readable without its script.

Markup is escaped by the templates; what the script shows, it shows as text. A content security
policy lets nothing but that one script run, and nothing be loaded from anywhere; the page of a
difference has none.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path as File
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stickler_cli.diff.changes import Difference, Trend
from stickler_cli.reports import run_sentences
from stickler_cli.reports.difference_view import SHORT, DifferenceView, signed
from stickler_cli.reports.figures import more_of, number_of, setting, visible
from stickler_cli.reports.html import overview, payload
from stickler_cli.reports.html.charts import OUTCOMES, Chart, score_chart
from stickler_cli.reports.html.field_tree import (
    MOST_FIELDS,
    class_counts,
    field_views,
    figure,
    mode_views,
)
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.view import RunView
from stickler_cli.score import comparison_lines as whole_documents
from stickler_cli.score.detail import Detail
from stickler_cli.score.record import Run

HERE: Final = File(__file__).parent
SCRIPTS: Final = (
    "text.js",
    "diff.js",
    "data.js",
    "list.js",
    "panel.js",
    "fields.js",
    "errors.js",
    "documents.js",
    "main.js",
)
"""The parts of the script, in order: each uses what stands above it."""

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Source: Content Security Policy Level 3, https://www.w3.org/TR/CSP3/. Images are let in as
data only, for the icon that browsers would else ask the server for."""

MOST_DOCUMENTS: Final = 200
"""Documents of each kind that the page of a difference names; the JSON report has all."""


def render_run(run: Run, style: TableStyle) -> str:
    """Return a run as an HTML page; ends with a line break."""
    return fill("page.html.j2", _context(RunView(run, visible)))


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as an HTML page; ends with a line break."""
    view = DifferenceView(difference, visible)
    context: dict[str, object] = {
        "view": view,
        "policy": POLICY,
        "told": [text for _, text in view.fields_with(Trend.REGRESSED, Trend.IMPROVED)],
        "gates": difference.gates,
        "documents": [
            (f"Documents that got {what}", found[:MOST_DOCUMENTS], len(found[MOST_DOCUMENTS:]))
            for what, found in (("worse", difference.worse), ("better", difference.better))
        ],
        "signed": signed,
        "short": SHORT,
    }
    return fill("difference_page.html.j2", context)


def fill(template: str, context: Mapping[str, object]) -> str:
    """Return a page from its template, with everything escaped; ends with a line break."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "setting": setting, "more_of": more_of}
    css = Markup(_asset("page.css"))  # noqa: S704 - ours
    return environment.get_template(template).render(context, css=css).rstrip("\n") + "\n"


@cache
def script() -> str:
    """Return the page's one script."""
    parts = (_asset(name) for name in SCRIPTS)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def policy(text: str) -> str:
    """Return the policy under which this script runs, and no other."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"{POLICY}; script-src 'sha256-{digest}'"


def _context(view: RunView) -> dict[str, object]:
    """Return everything that the template names."""
    detail = view.run.detail or Detail(knows_errors=False, knows_values=False)
    accounts = view.evaluation.accounts
    documents = None if accounts is None else payload.documents_of(accounts)
    title, named, more = run_sentences.problems(view)
    whole = mode_views(view, view.whole, view.intervals)
    code = script()
    return {
        "script": Markup(code),  # noqa: S704 - ours
        "policy": policy(code),
        "title": visible(view.run.schema.model_name),
        "headline": run_sentences.headline(view),
        "verdict": overview.verdict(view),
        "gates": view.run.gates,
        "cards": overview.cards(view, whole[0]),
        "modes": whole,
        "disagreement": run_sentences.disagreement(view),
        "worst": run_sentences.worst_fields(view),
        "notes": run_sentences.notes(view),
        "problems": {"title": title, "named": named, "more": more},
        "fields": field_views(view, detail.histograms),
        "fields_left_out": max(len(view.rows) - MOST_FIELDS, 0),
        "histograms_kept": detail.knows_values,
        "outcomes": OUTCOMES,
        "error_classes": class_counts(view.evaluation.errors.overall()),
        "legend": run_sentences.LEGEND,
        "settings": overview.settings(view),
        "level": view.interval_title.removesuffix(" of F1"),
        "by": view.groups,
        "sides": overview.SIDES,
        "validity": view.evaluation.validity,
        "most_violations": overview.MOST_VIOLATIONS,
        "documents": None if documents is None else documents.worst,
        "scores": _scores(documents),
        "figure": partial(figure, view),
        "payload": _payload(view, detail, documents),
        "kept": _kept(detail, documents),
    }


def _scores(documents: payload.Documents | None) -> Chart | None:
    return score_chart(documents.scores) if documents and any(documents.scores) else None


def _payload(view: RunView, detail: Detail, documents: payload.Documents | None) -> dict[str, str]:
    paths = [row.path for row in view.rows[:MOST_FIELDS]]
    return {
        "non-matches": payload.packed(payload.non_match_lines(detail, paths)),
        "documents": documents.packed if documents else payload.packed(()),
        "comparisons": payload.packed(payload.comparison_lines(detail)),
    }


def _kept(detail: Detail, documents: payload.Documents | None) -> dict[str, str]:
    """Return what the page holds and what it leaves out, a sentence for each part."""
    kept = detail.non_matches
    if not detail.knows_errors:
        errors = (
            "A run file does not hold single errors, and there was no non-matches.jsonl beside "
            "it: evaluate again with --output report.html to have them here."
        )
    elif detail.complete:
        errors = f"All {number_of(len(kept), 'error')} of the run."
    else:
        errors = (
            f"The first {len(kept)} errors, in the order of the documents; the page takes no more. "
            "--non-matches FILE writes all of them."
        )
    if documents is None:
        listed = "This run file has no accounts of its documents."
    elif documents.count > payload.MOST_DOCUMENTS:
        listed = (
            f"The {payload.MOST_DOCUMENTS} documents with the lowest scores of {documents.count}; "
            "--documents FILE writes a line for each."
        )
    else:
        listed = f"All {number_of(documents.count, 'document')} of the run."
    return {"errors": errors, "documents": listed, "comparisons": _kept_whole(detail)}


def _kept_whole(detail: Detail) -> str:
    if not detail.knows_values:
        return (
            "A run file does not hold values: evaluate again with --output report.html to see "
            "documents in full, or stickler compare for one of them."
        )
    if detail.bound is None:
        return "Every document with errors is here in full."
    return (
        f"The {len(detail.comparisons)} documents with the lowest scores are here in full, up to "
        f"{whole_documents.MOST_LINES} lines each; stickler compare shows any other."
    )
