"""OpenTelemetry: an event `gen_ai.evaluation.result` on each line, as a file of OTLP has logs.

Events have no time, as reports have no clock. Source: semantic conventions for generative AI,
events; OTLP 1.5, file exporter.
"""

import json
from collections.abc import Iterator
from typing import Final

from stickler_cli import __version__
from stickler_cli.core.locations import field_path
from stickler_cli.score.record import Run
from stickler_cli.studies.diff.record import Difference
from .layout import TableStyle
from .view import RunView

EVENT: Final = "gen_ai.evaluation.result"


def render(subject: Run | Difference, style: TableStyle) -> Iterator[str]:
    """Yield the events of gates, and of changes or of fields and documents."""
    for each in subject.gates:
        label = "pass" if each.passed else "fail"
        yield _event(each.gate.text, each.value, label, each.reason)
    yield from _of_run(subject) if isinstance(subject, Run) else _of_changes(subject)


def _of_changes(difference: Difference) -> Iterator[str]:
    for it in (*difference.whole, *difference.fields):
        field = {"stickler.field": field_path(it.field)}
        yield _event(f"change of {it.metric}", it.change, it.trend.value, **field)


def _of_run(run: Run) -> Iterator[str]:
    view, f1 = RunView(run), f"{run.rule.counting}:f1"
    for row in (view.whole, *view.rows):
        yield _event(f1, row.rates.f1, **{"stickler.field": field_path(row.path)})
    blocks = run.evaluation.ledger.blocks
    for name, status, score, values in sorted(blocks.documents()) if blocks else ():
        figure = None if score is None else run.rule.f1(values)
        yield _event("leaves:f1", figure, status.value, **{"stickler.document": name})


def _event(
    name: str, value: float | None, label: str = "", explanation: str = "", **more: str
) -> str:
    texts = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": explanation,
        **more,
    }
    attributes: list[object] = [
        {"key": key, "value": {"stringValue": text}} for key, text in texts.items() if text
    ]
    if value is not None:
        number = {"doubleValue": value}
        attributes.append({"key": "gen_ai.evaluation.score.value", "value": number})
    record = {"eventName": EVENT, "attributes": attributes}
    scope = {"scope": {"name": "stickler", "version": __version__}, "logRecords": [record]}
    return json.dumps({"resourceLogs": [{"scopeLogs": [scope]}]}) + "\n"
