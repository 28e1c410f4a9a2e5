"""The HTML page of a run: one self-contained file, in light and dark, readable without its script.

The templates escape markup, and the script inserts every value as text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import accumulate, chain
from typing import Any, Final
from urllib.parse import quote

from stickler_cli.core.figures import number_of, setting, visible
from stickler_cli.core.json_values import json_line
from stickler_cli.core.sorted_lines import SortedLines
from stickler_cli.reports import run_sentences
from stickler_cli.reports.cause_sentences import CauseText, causes, sum_errors
from stickler_cli.reports.html import payload
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.run_sections import policy_sentences
from stickler_cli.reports.run_sentences import confidences
from stickler_cli.reports.tables import (
    confidence_table,
    group_table,
    legend,
    metric_table,
    policy_table,
)
from stickler_cli.reports.view import RunView
from stickler_cli.score.detail import MAX_ROWS, Detail
from stickler_cli.score.errors.causes import overall
from stickler_cli.score.errors.error_rows import Error, KeptErrors
from stickler_cli.score.evaluation import Results
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.settings.deciding import RunOptions
from .charts import coverage_chart, reliability_chart
from .payload import MOST_FIELDS, ListedDocuments, field_views, row_by_field
from .report_page import fill_template

SCRIPTS: Final = (
    *("text", "diff", "engine", "data", "state", "list", "panel", "fields", "selection", "narrow"),
    *("kept_verdicts", "verdicts", "sources", "error_panel", "errors", "grid", "documents"),
    *("pictures", "main"),
)
"""The files of the page's script. A file uses only files that come before it."""

WORKER: Final = "; worker-src blob:"  # allows the script to start a worker from its own text

# Maximum number of documents that the page lists, those with the lowest scores.
MOST_DOCUMENTS: Final = 50_000
MOST_VIOLATIONS: Final = 20
"""Maximum number of kinds of schema violations that are listed for each side. They fit on a
screen."""

FIELDS_AT_FIRST: Final = 60
"""Number of rows of the table of fields that are visible before the script has run."""

MOST_FIELDS_ON_PAPER: Final = 30  # as in page.css

FEW: Final = 0.05  # share of documents that lost few values from which their bars are drawn
FIRST_CAUSES: Final = 5  # number of causes that are shown before "more"
MOST_MENDED: Final = 20  # number of causes for which the page shows F1 without them
# Maximum number of causes that the page lists; remaining causes have few errors each.
MOST_CAUSES: Final = 200

SIDES: Final = {"pred": "Predictions", "gt": "Ground truths"}

_MEANINGS: Final = {
    ("extra_fields", "fa"): "false alarms",
    ("extra_fields", "ignore"): "ignored",
    ("missing", "fn"): "all values missed",
    ("missing", "skip"): "left out",
    ("missing", "error"): "failed documents",
}


class ServedRun:
    """A run whose page requests errors and documents from a server."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def documents(self, run: Run) -> Iterator[bytes]:
        """Yield the documents of a run as rows for the page's script.

        There are no rows if the run does not keep them.
        """
        if run.evaluation.ledger.blocks is not None:
            fields = field_views(RunView(run, visible), {})
            listed = payload.documents_of(run.evaluation.ledger.blocks, fields)
            yield from (line for _, line in listed.lines)

    def rows(self, errors: Iterable[Error]) -> Iterator[tuple[Any, ...]]:
        """Yield errors as rows for the page's script."""
        view = RunView(self.run, visible)
        return payload.error_rows(
            (error.displayed for error in errors), row_by_field(view), chain(*causes(view))
        )

    def text(self, errors: int, documents: int, lost: int, worst: Iterable[str]) -> str:
        """Return the HTML page.

        `errors` and `documents` are the numbers of errors and of documents in the run. `lost` is
        the number of documents that lost values. `worst` are the rows of the `WORST_DOCUMENTS`
        documents with the lowest scores.
        """
        detail = Detail(errors=KeptErrors(total=errors), knows_values=False)
        lines = SortedLines((f"{rank:02}", line.encode()) for rank, line in enumerate(worst))
        listed = ListedDocuments(documents, lines, lost) if documents else None
        return _render_page(replace(self.run, detail=detail), listed, served=True)


def render(run: Run, style: TableStyle) -> str:
    """Return the HTML page of a run."""
    return _render_page(run)


def _render_page(
    run: Run, documents: ListedDocuments | None = None, *, served: bool = False
) -> str:
    view = RunView(run, visible)
    detail = run.detail or Detail(knows_errors=False, knows_values=False)
    blocks = view.run.evaluation.ledger.blocks
    fields = field_views(view, detail.histograms)
    if documents is None and blocks is not None:
        documents = payload.documents_of(blocks, fields)
    cause_texts = [*chain(*causes(view))]
    printed_causes = payload.printed_causes(detail, cause_texts)
    tone = "good" if run.gates else "open"
    if run.partial or run.verdict is not RunVerdict.PASSED:
        tone = "bad"
    context = _first_screen(view, cause_texts) | {
        "view": view,
        "served": served,
        "tone": tone,
        "identity": _identity(view),
        "listed": detail.knows_errors,
        "printed_causes": printed_causes,
        "n_printed": sum(len(cause.errors) for cause in printed_causes),
        "n_on_paper": sum(error.is_on_paper for cause in printed_causes for error in cause.errors),
        "n_rows": sum(text.errors for text in cause_texts),
        "most_fields_on_paper": MOST_FIELDS_ON_PAPER,
        "exact": detail.knows_errors and detail.errors.is_complete,
        "settings": _settings(view),
        "fields": fields,
        "dots": payload.dot_plot(view, fields),
        "heat_maps": payload.heat_maps(view),
        "legend": legend(view),
        "places": payload.place_picture(view, detail.item_places),
        "confusions": payload.confusion_matrices(fields, detail.value_pairs),
        "items_of_lists": run_sentences.items_of_lists(view),
        "any_items": any(row.whole for row in view.rows),
        "any_unlabelled": any(map(view.labelled, view.rows)),
        "fields_at_first": FIELDS_AT_FIRST,
        "fields_left_out": max(len(view.rows) - MOST_FIELDS, 0),
        "histograms_kept": detail.knows_values,
        "level": view.interval_title.removesuffix(" of F1"),
        "trust": _confidence_parts(view),
        "metric_table": metric_table,
        "policy_table": policy_table,
        "policy_sentences": policy_sentences,
        "group_table": group_table,
        "group_links": partial(_group_links, documents, served),
        "sides": SIDES,
        "most_violations": MOST_VIOLATIONS,
        "documents": documents,
        "kept": _describe_contents(view, detail, documents, served=served)
        | {"rows": _count_rows(detail, cause_texts)},
    }
    element_values = _payload_parts(view, detail, cause_texts, documents, served=served)
    policy = WORKER + "; connect-src 'self'" * served
    return fill_template("page.html.j2", context, SCRIPTS, element_values, policy)


def _group_links(
    documents: ListedDocuments | None,
    served: object,
    key: str,
    groups: Sequence[tuple[str, Results]],
) -> list[tuple[str, int | None]]:
    """Return (link to the documents, number of documents) for each group of documents.

    The number is None if the page lists only some documents of the run. The link is empty if no
    document of the group was compared.
    """
    listed = served or (documents and documents.count <= MOST_DOCUMENTS)
    return [
        (
            f"#documents&by={quote(key)}&group={quote(name)}",
            group_results.evaluated if listed else None,
        )
        if documents and group_results.evaluated
        else ("", None)
        for name, group_results in groups
    ]


def _payload_parts(
    view: RunView,
    detail: Detail,
    causes: Sequence[CauseText],
    documents: ListedDocuments | None,
    *,
    served: bool,
) -> dict[str, Iterable[bytes]]:
    """Return the JSON data for the page's script.

    A key is the id of the HTML element that will hold the data. Its value has the entries of this
    element, each as a JSON text.
    """
    errors = payload.error_rows(detail.errors.rows(), row_by_field(view), causes)
    element_values: dict[str, Iterable[bytes]] = {
        "non-matches": (json_line([*error])[:-1] for error in errors),
        "facts": [payload.facts(view, detail, causes, documents)],
        "documents": documents.first_lines(MOST_DOCUMENTS) if documents and not served else (),
        "comparisons": (
            b"[%b,%b]" % (json_line(name)[:-1], line) for _, name, line in detail.comparisons
        ),
    }
    if (sources := view.run.sources) is not None:
        boxes = {
            name: [[*box] for box in document_boxes]
            for name, document_boxes in detail.boxes.items()
        }
        pictures = (sources.pictures or {}).items()
        element_values["sources"] = [json_line([sources.template, sources.links, boxes])]
        element_values["pictures"] = (
            json_line([name, [[*picture] for picture in document_pictures]])
            for name, document_pictures in pictures
        )
    return element_values


def _first_screen(view: RunView, cause_texts: Sequence[CauseText]) -> dict[str, object]:
    """Return what the first screen of the page shows: right documents, lost values, and causes."""
    right, counts = view.run.evaluation.wholly_right, view.whole.counts
    few = [*accumulate(right.lost)]
    if few and few[-1] <= right.documents * FEW:
        few = []  # the bars would be too low to be visible
    return {
        "causes": cause_texts[:FIRST_CAUSES],
        "mended": _f1_without_causes(view, cause_texts[:MOST_MENDED]),
        "other_causes": cause_texts[FIRST_CAUSES:MOST_CAUSES],
        "causes_left_out": cause_texts[MOST_CAUSES:],
        "right": right,
        "right_interval": view.interval_title
        and right.interval(view.run.evaluation.interval_settings),
        "few": few[: few.index(right.documents) + 1] if right.documents in few else few,
        "lost": counts.fp + counts.fn,
        "all_values": counts.total - counts.tn,
    }


def _f1_without_causes(view: RunView, cause_texts: Iterable[CauseText]) -> list[float | None]:
    """Return F1 as it would be without the first cause, without the first two causes, and so on.

    The list is empty if the run does not count values.
    """
    counts, f1_values = view.whole.counts, []
    for cause_text in cause_texts if view.counts_values else ():
        outcome = cause_text.outcome
        mended = min(cause_text.values, getattr(counts, outcome))
        right = counts.tp + (0 if outcome == "fa" else mended)
        counts = counts._replace(**{outcome: getattr(counts, outcome) - mended, "tp": right})
        f1_values.append(view.run.rule.rates(counts).f1)
    return f1_values


def _confidence_parts(view: RunView) -> dict[str, object] | None:
    """Return sentences, charts and table on confidences; None if predictions have none."""
    if view.confidence is None or not view.confidence["units"]:
        return None
    units = view.run.evaluation.confidences.by_field()[""]
    return {
        "sentences": confidences(view),
        "reliability": reliability_chart(view.confidence),
        "coverage": coverage_chart(units.reliability().curve()),
        "table": confidence_table(view),
    }


def _settings(view: RunView) -> list[tuple[str, str]]:
    """Return the name and the value of each setting that the figures depend on."""
    run, settings = view.run, view.run.evaluation.interval_settings
    schema = {"schema": visible(run.schema.path), "schema digest": run.schema.digest}
    named_values = dict(schema if run.schema.path else ()) | _options(run)
    if run.schema.inferred:
        named_values["inferred annotations"] = run.schema.inferred
    bounds = settings.view() if settings else {}
    named_values |= {f"intervals: {name}": str(value) for name, value in bounds.items()}
    runs = (
        f"{origin.started}, {visible(origin.pred)} against {visible(origin.gt)}"
        for origin in run.provenance
    )
    return [*named_values.items(), *(("begun", run_text) for run_text in runs)]


def _options(run: Run, usual: RunOptions | None = None) -> dict[str, str]:
    """Return the options of a run, keyed by name. Values are in words.

    Options that have the same value in `usual` are left out.
    """

    def word_value(name: str, value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple | list):
            return ", ".join(map(visible, value)) or "none"
        text = setting(value) if isinstance(value, float) else str(value)
        return _MEANINGS.get((name, text), text)

    return {
        name.replace("_", " "): word_value(name, value)
        for name, value in asdict(run.options).items()
        if usual is None or value != getattr(usual, name)
    }


def _identity(view: RunView) -> list[tuple[str, str]]:
    """Return (name, text) for the inputs, the options and the start time of the run."""
    run, origins = view.run, view.run.provenance
    changed = [f"{name}: {text}" for name, text in _options(run, RunOptions()).items()]
    texts_by_name = {
        "label": dict.fromkeys(visible(label) for origin in origins for label in origin.labels),
        "ground truth": dict.fromkeys(visible(origin.gt) for origin in origins),
        "predictions": dict.fromkeys(visible(origin.pred) for origin in origins),
        "schema": [visible(run.schema.path)],
        "options": changed or ["defaults"],
        "begun": dict.fromkeys(origin.started for origin in origins),
        "made by": [f"stickler {run.version}"],
    }
    return [(name, ", ".join(texts)) for name, texts in texts_by_name.items() if texts]


def _count_rows(detail: Detail, cause_texts: Sequence[CauseText]) -> str:
    """Return a sentence on the number of rows in the list of errors.

    An item that is wrong as a whole is one row, together with the errors inside it. The sentence is
    empty if each error is a row of its own.
    """
    n_rows = sum(text.errors for text in cause_texts)
    if not detail.knows_errors or n_rows == detail.errors.total:
        return ""
    return (
        "An item that is wrong as a whole is shown in one row, together with the values inside it: "
        f"{number_of(n_rows, 'row')}."
    )


def _describe_errors(view: RunView, detail: Detail) -> str:
    """Return a sentence on the number of errors of the run.

    Errors may be in values or in whole items and objects. If these two numbers add up to the number
    of errors, the sentence states them, too.
    """
    errors = view.run.evaluation.errors
    n_values, n_wholes = errors.overall().total(), overall(errors.units).total()
    text = f"All {number_of(detail.errors.total, 'error')} of the run"
    if n_wholes and n_values + n_wholes == detail.errors.total:
        return f"{text} = {sum_errors(n_values, n_wholes)}."
    return f"{text}."


def _describe_contents(
    view: RunView, detail: Detail, documents: ListedDocuments | None, *, served: bool
) -> dict[str, str]:
    """Return a sentence for each part of the page. It says whether the part lists everything."""
    errors = _describe_errors(view, detail)
    if not detail.knows_errors:
        errors = (
            "A run file does not contain individual errors, and there is no "
            "non-matches.jsonl in its directory. To see errors here, evaluate again with "
            "--output report.html."
        )
    elif not detail.errors.is_complete:
        kept = detail.errors
        errors = (
            f"{sum(1 for _ in kept.lines()):,} of {kept.total:,} errors: all errors of the "
            f"{number_of(len(kept.documents), 'document')} with the lowest scores, and "
            "examples of every cause. To write all errors to a file, use --non-matches "
            "FILE."
        )
    listed = (
        "This run file has no rows for single documents; evaluate with --rows inline to list "
        "the documents here."
    )
    if documents is not None:
        listed = f"All {number_of(documents.count, 'document')} of the run."
        if documents.count > MOST_DOCUMENTS and not served:
            listed = (
                f"The {MOST_DOCUMENTS:,} documents with the lowest scores, out of "
                f"{documents.count:,}. To write a line for every document, use --documents "
                "FILE."
            )
    comparisons = "Every document with errors is shown here in full."
    if not detail.knows_values:
        comparisons = (
            "A run file does not contain values. To see documents in full, evaluate "
            "again with --output report.html, or show a single document with stickler "
            "compare."
        )
    elif detail.bound is not None:
        comparisons = (
            f"Shown in full: the {number_of(len(detail.comparisons), 'document')} with "
            f"the lowest scores, with up to {MAX_ROWS:,} lines each. To see another "
            "document, use stickler compare."
        )
    return {"errors": errors, "documents": listed, "comparisons": comparisons}
