"""A difference as metrics, for GitLab's metrics report and for Prometheus."""

from collections.abc import Callable, Sequence
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Difference, Verdict
from stickler_cli.diff.figures import F1
from stickler_cli.reports.metric_lines import Gauge, metrics_text
from stickler_cli.reports.openmetrics import rounded
from stickler_cli.reports.style import TableStyle

_FIGURES: Final[dict[str, Callable[[Change], float | None]]] = {
    "before": lambda change: change.before,
    "after": lambda change: change.after,
    "change": lambda change: change.change,
    "p": lambda change: change.corrected_p,
}
_HELP: Final = {
    "before": "in the first run",
    "after": "in the second run",
    "change": "by how much it changed",
    "p": "p value of the change",
}


def render(difference: Difference, style: TableStyle) -> str:
    """Write what changed, of the whole and of each field; ends with `# EOF`."""
    of_f1 = [change for change in difference.whole if change.metric == F1]
    (score,) = (change for change in difference.whole if change.metric != F1)
    return metrics_text(
        [
            Gauge(
                "stickler_diff_documents",
                "Documents by what became of them.",
                [({"kind": kind}, count) for kind, count in difference.documents.items()],
            ),
            Gauge(
                "stickler_diff_fields",
                "Fields by verdict.",
                [
                    ({"verdict": verdict.value}, len(difference.with_verdict(verdict)))
                    for verdict in Verdict
                ],
            ),
            *_gauges("stickler_diff_score", "Mean score", [({}, score)]),
            *_gauges("stickler_diff_f1", "F1", [({"reading": it.reading}, it) for it in of_f1]),
            *_gauges(
                "stickler_diff_field_f1",
                "F1 of a field",
                [({"field": field_path(it.path)}, it) for it in difference.fields],
            ),
            Gauge(
                "stickler_diff_gate_passed",
                "Whether a gate passed, 1 or 0.",
                [({"gate": result.gate.text}, int(result.passed)) for result in difference.gates],
            ),
        ]
    )


def _gauges(name: str, what: str, changes: Sequence[tuple[dict[str, str], Change]]) -> list[Gauge]:
    return [
        Gauge(
            f"{name}_{figure}",
            f"{what}, {_HELP[figure]}.",
            [(labels, rounded(of(change))) for labels, change in changes],
        )
        for figure, of in _FIGURES.items()
    ]
