"""The summary of the page: its figures, the verdict beside its title, the options of the run."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from stickler_cli.reports.figures import number_of, setting, visible
from stickler_cli.reports.html.field_tree import Figure, ModeView, figure
from stickler_cli.reports.view import RunView
from stickler_cli.score.run_verdict import Verdict

MOST_VIOLATIONS: Final = 20
"""Kinds of violations of the schema that are listed for a side: a screen."""

SIDES: Final = {"pred": "Predictions", "gt": "Ground truths"}

_TO_FIND: Final = "of what there was to find, how much was found"


def cards(view: RunView, whole: ModeView) -> list[tuple[str, Figure, str]]:
    """Return the figures that a reader looks at first, with their titles and explanations."""
    bounds = view.intervals
    score = figure(view, view.evaluation.overall_score, bounds.score if bounds else None)
    with_fd = "; wrong values count as not found" if view.recall_counts_wrong_values else ""
    return [
        ("F1", whole.f1, "harmonic mean of precision and recall"),
        ("Precision", whole.precision, "of what was predicted, how much is right"),
        ("Recall", whole.recall, _TO_FIND + with_fd),
        ("Mean score", score, "of the documents, by the weights in the schema"),
    ]


def settings(view: RunView) -> list[tuple[str, str]]:
    """Return under what the run was made."""
    run = view.run
    options = [
        (name.replace("_", " "), _option_text(name, value))
        for name, value in asdict(run.options).items()
    ]
    bootstrap = run.evaluation.bootstrap
    bounds = bootstrap.settings.view() if bootstrap else {}
    return [
        ("schema", visible(run.schema.path)),
        ("schema digest", run.schema.digest),
        *options,
        *((f"intervals: {name}", str(value)) for name, value in bounds.items()),
        ("made by", f"stickler {run.version}"),
    ]


def _option_text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return setting(value)
    return _MEANINGS.get((name, str(value)), str(value))


_MEANINGS: Final[Mapping[tuple[str, str], str]] = {
    ("extra_fields", "fa"): "false alarms",
    ("extra_fields", "ignore"): "ignored",
    ("missing", "fn"): "all values missed",
    ("missing", "skip"): "left out",
    ("missing", "error"): "failed documents",
}


def verdict(view: RunView) -> tuple[str, str] | None:
    """Return the verdict beside the title, good or bad; None where nobody asked for one."""
    run = view.run
    if run.partial or view.verdict is Verdict.INCOMPLETE:
        return "bad", "interrupted" if run.partial else "documents could not be evaluated"
    if not run.gates:
        return None
    if view.failed_gates:
        return "bad", f"{view.failed_gates} of {number_of(len(run.gates), 'gate')} failed"
    return "good", "all gates passed"
