"""Define the targets for speed and memory, and compare measurements with them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.report import Report, format_ratio
from benchmarks.sets import SETS

NOISE: Final = 1.05
"""Largest ratio of two times that counts as noise, if the same work is timed twice."""


@dataclass(frozen=True, slots=True)
class Target:
    """A figure, such as a ratio of times, and the bound that it should not exceed or fall below."""

    name: str
    bound: float
    unit: str = "x"
    at_least: bool = False
    """Whether the bound is a minimum; otherwise it is a maximum."""

    def is_met(self, value: float) -> bool:
        """Return whether a measured value meets the target."""
        return value >= self.bound if self.at_least else value <= self.bound

    def render_value(self, value: float) -> str:
        """Return a value as text with its unit."""
        return format_ratio(value) if self.unit == "x" else f"{value:,.3g} {self.unit}"


def reference_target(name: str) -> str:
    """Return the name of the figure that compares a set's time with that of stickler-eval."""
    return f"{name}: stickler-eval / ours"


def floor_target(name: str) -> str:
    """Return the name of the figure that compares a set's time with that of the floor."""
    return f"{name}: ours / floor"


def native_target(name: str) -> str:
    """Return the name of the figure that compares a set's time with that of the native floor."""
    return f"{name}: ours / native floor"


def memory_target(kind: str) -> str:
    """Return the name of the figure for the growth of memory with a kind of output."""
    return f"{kind}: memory, 100,000 documents / 1,000"


def one_document_target(name: str) -> str:
    """Return the name of the figure that compares the time of one document with stickler-eval's."""
    return f"compare_with, {name}: stickler-eval / ours"


GROWTH: Final = "identifier: 5,000 items / 500, time"
IDENTIFIER_MEMORY: Final = "identifier: 5,000 items, memory"
TEXT_MEMORY: Final = "free text: 5,000 items, memory"
TWO: Final = "10 s or more: one process / two"
AUTO: Final = "below 10 s: auto / one process, the worst set"
FIRST_RESULT: Final = "first comparison after a worker's start"
START_UP: Final = "flat evaluation / python -c pass"
VERSION: Final = "--version / python -c pass"
HELP: Final = "--help / python -c pass"
COMPARE_WITH: Final = "compare_with, one document"
EVALUATE: Final = "evaluate, one document"
INTERVALS: Final = "intervals, the worst share of a run"

TARGETS: Final = (
    Target(reference_target("invoices-10"), 150, at_least=True),
    Target(reference_target("invoices-50"), 2000, at_least=True),
    Target(reference_target("invoices-200"), 6000, at_least=True),
    *(Target(floor_target(name), 1.5 if name == "dates" else 0.8) for name in SETS),
    *(Target(native_target(name), 5) for name in SETS),
    Target(GROWTH, 15),
    Target(IDENTIFIER_MEMORY, 100, "MB"),
    Target(TEXT_MEMORY, 1000, "MB"),
    Target(TWO, 1.75, at_least=True),
    Target(AUTO, NOISE),
    Target(FIRST_RESULT, 30, "ms"),
    Target(START_UP, 30),  # standard dataclasses are made while modules load
    Target(VERSION, 2),
    Target(HELP, 8.5),
    *(Target(memory_target(kind), 1.3) for kind in ("table", "json", "html", "run directory")),
    Target(COMPARE_WITH, 1.5, "ms"),
    Target(EVALUATE, 1.5, "ms"),
    Target(one_document_target("flat, 8 texts"), 2, at_least=True),
    Target(one_document_target("short invoice"), 8, at_least=True),
    Target(one_document_target("50 items"), 500, at_least=True),
    Target(INTERVALS, 10, "%"),
)


def has_target(name: str) -> bool:
    """Return whether there is a target for the time of a set compared with stickler-eval."""
    return any(target.name == reference_target(name) for target in TARGETS)


def check_targets(reports: Iterable[Report], *, rough: bool = False) -> Report:
    """Compare measured figures with the targets, and return the report, in the order of targets.

    Args:
        reports: reports with measured figures.
        rough: whether only a part of the documents was measured.
    """
    figures: Mapping[str, float] = {
        name: value for report in reports for name, value in report.figures.items()
    }
    measured = [target for target in TARGETS if target.name in figures]
    rows, records = [], []
    for target in measured:
        value = figures[target.name]
        verdict = "met" if target.is_met(value) else "missed"
        bound = (
            f"{'at least' if target.at_least else 'at most'} {target.render_value(target.bound)}"
        )
        rows.append([target.name, bound, target.render_value(value), verdict])
        records.append(
            {"target": target.name, "value": value, "bound": target.bound, "is": verdict}
        )
    notes = ("On a tenth of the documents: start-up weighs more, and ratios say little.",)
    return Report(
        title="Targets",
        columns=("figure", "target", "measured", ""),
        rows=rows,
        record=records,
        notes=notes if rough else (),
    )
