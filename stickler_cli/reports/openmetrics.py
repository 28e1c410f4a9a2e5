"""A run as metrics, for GitLab's metrics report and for Prometheus."""

from collections.abc import Callable
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.reports.figures import Rates, rates_of
from stickler_cli.reports.metric_lines import Gauge, metrics_text
from stickler_cli.reports.rows import field_rows
from stickler_cli.reports.style import TableStyle
from stickler_cli.reports.summary import readings
from stickler_cli.score.counts import Counts
from stickler_cli.score.record import Run

DIGITS: Final = 6
"""Decimals of a rate. GitLab shows and compares a value as the text that it is."""

_RATES: Final[dict[str, Callable[[Rates], float | None]]] = {
    "precision": lambda rates: rates.precision,
    "recall": lambda rates: rates.recall,
    "f1": lambda rates: rates.f1,
}


def render(run: Run, style: TableStyle) -> str:
    """Write the figures of a run, of the whole and of each field; ends with `# EOF`."""
    evaluation = run.evaluation
    return metrics_text(
        [
            Gauge(
                "stickler_documents",
                "Documents by what became of them.",
                [({"status": status}, count) for status, count in evaluation.documents.items()],
            ),
            Gauge(
                "stickler_score",
                "Mean score of the documents evaluated.",
                [({}, rounded(evaluation.overall_score))],
            ),
            *_whole(run),
            *_fields(run),
            Gauge(
                "stickler_gate_passed",
                "Whether a gate passed, 1 or 0.",
                [({"gate": result.gate.text}, int(result.passed)) for result in run.gates],
            ),
        ]
    )


def _whole(run: Run) -> list[Gauge]:
    by_reading = readings(run)
    rates = [
        Gauge(
            f"stickler_{name}",
            f"{name.capitalize()} of the whole.",
            [
                ({"reading": reading}, rounded(of(found)))
                for reading, (_, found) in by_reading.items()
            ],
        )
        for name, of in _RATES.items()
    ]
    counts = Gauge(
        "stickler_units",
        "Units of the whole by outcome.",
        [
            ({"reading": reading, "outcome": outcome}, getattr(counts, outcome))
            for reading, (counts, _) in by_reading.items()
            for outcome in Counts.__slots__
        ],
    )
    return [*rates, counts]


def _fields(run: Run) -> list[Gauge]:
    with_fd = run.options.recall_with_fd
    rows = [
        (field_path(row.path), rates_of(row.tally.counts("overall"), recall_with_fd=with_fd))
        for row in field_rows(run)
    ]
    return [
        Gauge(
            f"stickler_field_{name}",
            f"{name.capitalize()} of a field.",
            [({"field": path}, rounded(of(rates))) for path, rates in rows],
        )
        for name, of in _RATES.items()
    ]


def rounded(value: float | None) -> float | None:
    """Give a figure the digits that it is shown with."""
    return None if value is None else round(value, DIGITS)
