"""The groups that a run is broken down by, as rows: what most needs work stands first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stickler_cli.reports.figures import rates_of
from stickler_cli.score.intervals import Interval
from stickler_cli.score.record import Run
from stickler_cli.score.results import Results


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The documents of one group."""

    name: str
    documents: int
    """How many were evaluated."""
    f1: float | None
    """Of `overall`; None where there is nothing to divide by."""
    interval: Interval | None
    """Of that F1."""
    leaves: float | None
    """F1 of all values."""
    score: float | None
    """The mean score."""


def group_rows(run: Run) -> dict[str, list[GroupRow]]:
    """List the groups by each key, the lowest F1 first; those without one come last."""
    return {key: _rows(run, groups) for key, groups in run.evaluation.by.items()}


def _rows(run: Run, groups: Mapping[str, Results]) -> list[GroupRow]:
    rows = [
        _row(name, group, recall_with_fd=run.options.recall_with_fd)
        for name, group in groups.items()
    ]
    return sorted(rows, key=lambda row: (row.f1 is None, row.f1 or 0.0, row.name))


def _row(name: str, group: Results, *, recall_with_fd: bool) -> GroupRow:
    f1, leaves = (
        rates_of(group.tally.counts(reading), recall_with_fd=recall_with_fd).f1
        for reading in ("overall", "leaves")
    )
    interval = None
    if group.bootstrap is not None:
        interval = group.bootstrap.of("", recall_with_fd=recall_with_fd).rates["overall"]["f1"]
    return GroupRow(name, group.evaluated, f1, interval, leaves, group.overall_score)


def any_interval(rows: Sequence[GroupRow]) -> bool:
    """Say whether any of some groups has an interval."""
    return any(row.interval is not None for row in rows)
