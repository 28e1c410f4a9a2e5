"""OpenTelemetry: each line is an event `gen_ai.evaluation.result`, in the file format of OTLP logs.

The time of every event is the start time of the run. Sources: the semantic conventions of
OpenTelemetry for events (section Timestamps) and for events of generative AI; the file exporter of
OTLP 1.5.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from stickler_cli import __version__
from stickler_cli.core.locations import field_path
from stickler_cli.score.record import Run
from stickler_cli.studies.diff.record import Difference
from .layout import TableStyle
from .view import RunView

EVENT: Final = "gen_ai.evaluation.result"


def render(subject: Run | Difference, style: TableStyle) -> Iterator[str]:
    """Yield events as lines of JSON.

    For a run, there are events for gates, fields and documents. For a difference, there are events
    for gates and changes.
    """
    scope = {"name": "stickler", "version": __version__}
    time = _time(subject.began)
    for attributes in _events(subject):
        record = {**time, "eventName": EVENT, "attributes": attributes}
        logs = [{"scope": scope, "logRecords": [record]}]
        yield json.dumps({"resourceLogs": [{"scopeLogs": logs}]}) + "\n"


def _time(began: str) -> dict[str, str]:
    """Return the time attributes of events; empty if the start time of the run is unknown."""
    with suppress(ValueError):
        seconds = datetime.fromisoformat(began).replace(tzinfo=UTC).timestamp()
        return {"timeUnixNano": f"{int(seconds)}000000000"}
    return {}


def _events(subject: Run | Difference) -> Iterator[list[object]]:
    for result in subject.gates:
        label = "pass" if result.passed else "fail"
        yield _attributes(result.gate.text, result.value, label, result.reason)
    yield from _of_run(subject) if isinstance(subject, Run) else _of_changes(subject)


def _of_changes(difference: Difference) -> Iterator[list[object]]:
    for change in (*difference.whole, *difference.fields):
        field = {"stickler.field": field_path(change.field)}
        yield _attributes(f"change of {change.metric}", change.change, change.trend.value, **field)


def _of_run(run: Run) -> Iterator[list[object]]:
    view, f1 = RunView(run), f"{run.rule.counting}:f1"
    for row in (view.whole, *view.rows):
        yield _attributes(f1, row.rates.f1, **{"stickler.field": field_path(row.path)})
    blocks = run.evaluation.ledger.blocks
    for name, status, score, values in sorted(blocks.documents()) if blocks else ():
        document = {"stickler.document": name}
        if score is None:
            yield _attributes("leaves:f1", None, status, **document, **{"error.type": status})
        else:
            yield _attributes("leaves:f1", run.rule.f1(values), status, **document)


def _attributes(
    name: str, value: float | None, label: str = "", explanation: str = "", **other_texts: str
) -> list[object]:
    texts = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": explanation,
        **other_texts,
    }
    attributes: list[object] = [
        {"key": key, "value": {"stringValue": text}} for key, text in texts.items() if text
    ]
    if value is not None:
        number = {"doubleValue": value}
        attributes.append({"key": "gen_ai.evaluation.score.value", "value": number})
    return attributes
