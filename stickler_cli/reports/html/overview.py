"""The summary of the page: its figures, the verdict beside its title, the options of the run."""

from dataclasses import asdict
from typing import Final

from stickler_cli.reports.figures import number_of, setting, visible
from stickler_cli.reports.view import RunView
from stickler_cli.score.intervals import Interval
from stickler_cli.score.record import Verdict

MOST_VIOLATIONS: Final = 20
"""Kinds of violations of the schema that are listed for a side: a screen."""

SIDES: Final = {"pred": "Predictions", "gt": "Ground truths"}

_MEANINGS: Final = {
    ("extra_fields", "fa"): "false alarms",
    ("extra_fields", "ignore"): "ignored",
    ("missing", "fn"): "all values missed",
    ("missing", "skip"): "left out",
    ("missing", "error"): "failed documents",
}


def cards(view: RunView) -> list[tuple[str, float | None, Interval | None, str]]:
    """Return the figures that a reader looks at first: title, value, interval and explanation."""
    bounds, rates = view.intervals, view.whole["overall"].rates
    with_fd = "; wrong values count as not found" if view.recall_counts_wrong_values else ""
    explained = {
        "f1": ("F1", "harmonic mean of precision and recall"),
        "precision": ("Precision", "of what was predicted, how much is right"),
        "recall": ("Recall", f"of what there was to find, how much was found{with_fd}"),
    }
    score = view.evaluation.overall_score
    said = "of the documents, by the weights in the schema"
    return [
        *(
            (title, getattr(rates, name), bounds.rates["overall"][name] if bounds else None, text)
            for name, (title, text) in explained.items()
        ),
        ("Mean score", score, bounds.score if bounds else None, said),
    ]


def settings(view: RunView) -> list[tuple[str, str]]:
    """Return under what the run was made."""
    run, bootstrap = view.run, view.evaluation.bootstrap
    bounds = bootstrap.settings.view() if bootstrap else {}
    options = asdict(run.options)
    return [
        ("schema", visible(run.schema.path)),
        ("schema digest", run.schema.digest),
        *((name.replace("_", " "), _option_text(name, value)) for name, value in options.items()),
        *((f"intervals: {name}", str(value)) for name, value in bounds.items()),
        ("made by", f"stickler {run.version}"),
    ]


def _option_text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return setting(value)
    return _MEANINGS.get((name, str(value)), str(value))


def verdict(view: RunView) -> tuple[str, str] | None:
    """Return the verdict beside the title, good or bad; None where nobody asked for one."""
    run = view.run
    if run.partial or view.run.verdict is Verdict.INCOMPLETE:
        return "bad", "interrupted" if run.partial else "documents could not be evaluated"
    if view.failed_gates:
        return "bad", f"{view.failed_gates} of {number_of(len(run.gates), 'gate')} failed"
    return ("good", "all gates passed") if run.gates else None
