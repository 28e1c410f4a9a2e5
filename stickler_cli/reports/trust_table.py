"""What reports say of the confidences of predictions: a sentence, and a row for each field."""

from collections.abc import Mapping
from typing import Any, Final

from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.score.results import Results
from .view import RunView

BUDGET: Final = "0.1"
PRECISION: Final = "0.99"
"""Of those that the record has, the ones that are shown."""

LEGEND: Final = (
    ("AUROC", "AUROC: the chance that a right value has a higher confidence than a wrong one"),
    ("ECE", "ECE: how far confidence and share right are apart, 0 to 1"),
    ("found", "found: the share of errors among the least confident 10% of values"),
    ("pass", "pass: the share of values from the lowest confidence on that is 99% right here"),
)


def confidence_sentences(view: RunView) -> list[str]:
    """Return what confidences come to in words; none where there are none."""
    if view.confidence is None:
        return []
    known, results = view.confidence, view.run.evaluation
    units, coverage = known["units"], known["coverage"]
    of_all = "" if coverage is None else f" ({_percent(coverage)} of the values of predictions)"
    said = [
        f"confidence: {units:,} values have one{of_all}, {_percent(known['right'] / units)} right"
    ]
    auroc = known["auroc"]
    if auroc is None:
        said.append("all of them are " + ("right" if known["right"] else "wrong"))
    else:
        said += [
            f"AUROC {view.rate(auroc)}{_between(view, known, 'auroc')}",
            f"ECE {view.rate(known['ece'])}{_between(view, known, 'ece')}",
        ]
    return ["; ".join(said), *_inherited(results)]


def _inherited(results: Results) -> list[str]:
    count = results.unwrapped["inherited"]
    return [f"{count:,} values have the confidence of what is around them"] if count else []


def _between(view: RunView, known: Mapping[str, Any], name: str) -> str:
    ends = known.get("intervals", {}).get(name)
    return f" ({view.rate(ends[0])} to {view.rate(ends[1])})" if ends else ""


def _percent(share: float) -> str:
    return f"{share:.1%}".replace(".0%", "%")


def confidence_table(view: RunView) -> Table:
    """Return a row for all values with a confidence, and one for each field."""
    columns = [
        Column("confidence", left=True),
        *(Column(title, rank) for title, rank in (("values", 5), ("right", 1), ("AUROC", 0))),
        *(Column(title, rank) for title, rank in (("ECE", 2), ("Brier", 6))),
        Column("found", 3),
        Column("from", 7),
        Column("pass", 4),
    ]
    known = view.confidence or {"fields": {}}
    entries = [("all", known)] if "units" in known else []
    entries += sorted(known["fields"].items())
    return Table(columns, [_row(view, name, entry) for name, entry in entries], LEGEND)


def _row(view: RunView, name: str, known: Mapping[str, Any]) -> list[Span]:
    line = known["selective"][PRECISION] or {"threshold": None, "coverage": None}
    return [
        Span.of(name),
        Span(f"{known['units']}"),
        Span(view.rate(known["right"] / known["units"])),
        Span(view.rate(known["auroc"]), "title"),
        Span(view.rate(known["ece"])),
        Span(view.rate(known["brier"])),
        Span(view.rate(known["error_capture"][BUDGET])),
        Span(view.rate(line["threshold"])),
        Span(view.rate(line["coverage"])),
    ]
