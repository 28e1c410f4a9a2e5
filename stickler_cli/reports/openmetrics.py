"""OpenMetrics text for Prometheus, and for the metrics reports of GitLab.

No label contains `#`. GitLab splits a line as a shell does, so it would ignore everything after
this character. Source: OpenMetrics 1.0, section 3.2; GitLab, metrics/generic.rb.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from stickler_cli.core.figures import visible
from stickler_cli.core.locations import field_path
from stickler_cli.score.gates import SCORE, GateResult
from stickler_cli.score.record import Run
from stickler_cli.score.sums import Rates
from stickler_cli.studies.diff.record import WHOLLY_RIGHT, Change, Difference, Trend
from .layout import TableStyle
from .view import RunView

DIGITS: Final = 6
"""Number of decimals of a rate. It is fixed, because GitLab compares values as texts."""

END: Final = "# EOF\n"

_RATES: Final = {name: (name, f"{name.capitalize()} of") for name in ("precision", "recall", "f1")}
_CHANGES: Final = {
    "before": ("before", "in the first run"),
    "after": ("after", "in the second run"),
    "change": ("change", "change of the figure from the first run to the second"),
    "p": ("corrected_p", "p value of the change"),
}
"""Maps the suffix of a metric name to two texts: the attribute of a change, and a description of
the metric."""

_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "#": "\\\\x23"})

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Gauge:
    """A metric whose value can rise and fall."""

    name: str
    help: str
    samples: Sequence[tuple[Labels, float | None]]
    """Labels and value of each sample; a sample without a value is omitted."""


def render(subject: Run | Difference, style: TableStyle) -> str:
    """Return the figures of whole documents and of each field as OpenMetrics text."""
    return metrics_text(
        _run_gauges(subject) if isinstance(subject, Run) else _difference_gauges(subject)
    )


def _run_gauges(run: Run) -> list[Gauge]:
    view, score = RunView(run), [(dict[str, str](), run.evaluation.overall_score)]
    mode = {"mode": run.rule.counting}
    counts = view.whole.counts._asdict().items()
    units = [({**mode, "outcome": outcome}, count) for outcome, count in counts]
    total = [(mode, view.whole.rates)]
    fields = [({"field": field_path(row.path)}, row.rates) for row in view.rows]
    wholly_right = run.evaluation.wholly_right
    lost = [
        ({"values": str(n_lost)}, count)
        for n_lost, count in enumerate(accumulate(wholly_right.lost))
    ]
    items = [
        ({"field": field_path(row.path), "items": item_kind}, count)
        for row in view.rows
        for item_kind, count in (("whole", row.tally.n_exact_items), ("all", row.tally.n_items))
        if row.tally.n_items
    ]
    exact = [
        ({"field": field_path(row.path)}, row.tally.exact_rates)
        for row in view.rows
        if row.tally.n_items
    ]
    metrics = [
        ({"metric": name}, figure) for name, figure in view.run.evaluation.metric_figures.items()
    ]
    return [
        _document_gauge("stickler_documents", "status", run.evaluation.documents),
        Gauge("stickler_score", "Mean score of the evaluated documents.", score),
        Gauge(
            "stickler_documents_right",
            "Share of documents without wrong, missed or invented values.",
            [({}, wholly_right.share)],
        ),
        Gauge(
            "stickler_documents_lost",
            "Number of documents that lost at most as many values as the label 'values' says.",
            lost,
        ),
        *_gauges("stickler", _RATES, "{} the whole.", total),
        Gauge("stickler_units", "Number of values, objects and items (units), by outcome.", units),
        *_gauges("stickler_field", _RATES, "{} a field.", fields),
        Gauge(
            "stickler_field_items",
            ("Number of all list items, and of list items that are completely right."),
            items,
        ),
        *_gauges("stickler_field_exact", _RATES, "{} exact items of a field.", exact),
        Gauge("stickler_metric", "Figures of metrics.", metrics),
        _gate_gauge("stickler_gate_passed", run.gates),
    ]


def _difference_gauges(difference: Difference) -> list[Gauge]:
    f1 = [({"mode": change.mode}, change) for change in difference.whole[:1]]
    score = [(dict[str, str](), change) for change in difference.whole if change.metric == SCORE]
    wholly_right = [
        (dict[str, str](), change) for change in difference.whole if change.metric == WHOLLY_RIGHT
    ]
    fields = [({"field": field_path(change.field)}, change) for change in difference.fields]
    trends = [({"trend": trend.value}, len(difference.with_trend(trend))) for trend in Trend]
    return [
        _document_gauge("stickler_diff_documents", "kind", difference.documents),
        Gauge("stickler_diff_fields", "Fields by trend.", trends),
        *_gauges("stickler_diff_score", _CHANGES, "Mean score, {}.", score),
        *_gauges(
            "stickler_diff_documents_right", _CHANGES, "Share wholly right, {}.", wholly_right
        ),
        *_gauges("stickler_diff_f1", _CHANGES, "F1, {}.", f1),
        *_gauges("stickler_diff_field_f1", _CHANGES, "F1 of a field, {}.", fields),
        _gate_gauge("stickler_diff_gate_passed", difference.gates),
    ]


def _document_gauge(name: str, label: str, documents: Mapping[str, Any]) -> Gauge:
    samples = [({label: value}, count) for value, count in documents.items()]
    return Gauge(name, "Documents by status.", samples)


def _gate_gauge(name: str, gates: Iterable[GateResult]) -> Gauge:
    samples = [({"gate": result.gate.text}, int(result.passed)) for result in gates]
    return Gauge(name, "Whether a gate passed, 1 or 0.", samples)


def _gauges(
    prefix: str,
    attributes_by_suffix: Mapping[str, tuple[str, str]],
    text: str,
    labelled_rates: Sequence[tuple[Labels, Rates | Change]],
) -> list[Gauge]:
    return [
        Gauge(
            f"{prefix}_{name}",
            text.format(meaning),
            [
                (labels, getattr(rates_or_change, attribute))
                for labels, rates_or_change in labelled_rates
            ],
        )
        for name, (attribute, meaning) in attributes_by_suffix.items()
    ]


def metrics_text(gauges: Iterable[Gauge]) -> str:
    """Return gauges as OpenMetrics text; a gauge without values is omitted."""
    lines = []
    for gauge in gauges:
        head = f"# TYPE {gauge.name} gauge\n# HELP {gauge.name} {gauge.help}\n"
        for labels, value in gauge.samples:
            label_texts = (
                f'{key}="{visible(text).translate(_ESCAPES)}"' for key, text in labels.items()
            )
            labels_text = f"{{{','.join(label_texts)}}}" if labels else ""
            if value is not None:
                lines.append(f"{head}{gauge.name}{labels_text} {round(value, DIGITS)!r}\n")
                head = ""
    return "".join([*lines, END])
