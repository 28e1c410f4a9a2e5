"""Gauges as OpenMetrics text, in the part of it that GitLab reads too.

GitLab takes each line apart as a shell does, after it has dropped everything from the first `#`:
so no label may have one. Source: OpenMetrics 1.0, section 3.2; GitLab, metrics/generic.rb.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stickler_cli.reports.figures import visible

END: Final = "# EOF\n"

_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "#": "\\\\x23"})


@dataclass(frozen=True, slots=True)
class Gauge:
    """A metric that goes up and down."""

    name: str
    """Of letters and underscores."""
    help: str
    samples: Sequence[tuple[Mapping[str, str], float | None]]
    """Labels and value; a sample without a value is left out."""


def metrics_text(gauges: Iterable[Gauge]) -> str:
    """Write gauges; one without any value is left out."""
    lines = []
    for gauge in gauges:
        samples = [
            f"{gauge.name}{_labels(labels)} {value!r}\n"
            for labels, value in gauge.samples
            if value is not None
        ]
        if samples:
            lines += [f"# TYPE {gauge.name} gauge\n", f"# HELP {gauge.name} {gauge.help}\n"]
            lines += samples
    return "".join([*lines, END])


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{visible(value).translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"
