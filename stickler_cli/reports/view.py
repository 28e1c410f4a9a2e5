"""A run as every report reads it: its rates bound once, its fields and groups as rows."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from stickler_cli.core.figures import Quoting, interval_text, rate
from stickler_cli.core.values import dataclass
from stickler_cli.score.intervals import FieldIntervals, Interval
from stickler_cli.score.record import Run
from stickler_cli.score.results import Results
from .rows import FieldRow, Figures, field_rows, figures_of


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The documents of one group that were evaluated, with F1 of `overall` and of `leaves`."""

    name: str
    documents: int
    f1: float | None
    interval: Interval | None
    leaves: float | None
    score: float | None


@dataclass(frozen=True)
class RunView:
    """A run, and everything that reports show of it; each part is made when it is first read."""

    run: Run
    quoted: Quoting = str
    """How names are written inside a sentence."""

    @property
    def recall_counts_wrong_values(self) -> bool:
        """Whether a wrong value counts as not found."""
        return self.run.rule.recall_with_fd

    @cached_property
    def limits(self) -> frozenset[float]:
        """The limits of gates, onto which no other figure may be rounded."""
        return frozenset(result.gate.limit for result in self.run.gates)

    def rate(self, value: float | None) -> str:
        """Return a rate or score as text."""
        return rate(value, self.limits)

    def interval(self, interval: Interval | None) -> str:
        """Return a confidence interval as text."""
        return interval_text(interval, self.limits)

    @cached_property
    def whole(self) -> Mapping[str, Figures]:
        """The figures of all documents together, by counting mode."""
        return figures_of(self.run.evaluation.tally, self.run.rule)

    @cached_property
    def intervals(self) -> FieldIntervals | None:
        """The confidence intervals of the whole; None where the run has none."""
        return self.run.evaluation.intervals(self.run.rule)

    @cached_property
    def interval_title(self) -> str:
        """The title of a column of confidence intervals of F1; empty where there are none."""
        settings = self.run.evaluation.interval_settings
        return "" if settings is None else f"{100 * settings.level:g}% CI of F1"

    @cached_property
    def rows(self) -> list[FieldRow]:
        """The fields, in schema order, parents first."""
        return field_rows(self.run)

    @cached_property
    def groups(self) -> dict[str, list[GroupRow]]:
        """The groups by each key, the lowest F1 first; those without one come last."""
        return {
            key: sorted(
                (self._group_row(name, group) for name, group in groups.items()),
                key=lambda row: (row.f1 is None, row.f1 or 0.0, row.name),
            )
            for key, groups in self.run.evaluation.by.items()
        }

    def _group_row(self, name: str, group: Results) -> GroupRow:
        figures, bounds = figures_of(group.tally, self.run.rule), group.intervals(self.run.rule)
        return GroupRow(
            name,
            group.evaluated,
            figures["overall"].rates.f1,
            bounds.rates["overall"]["f1"] if bounds else None,
            figures["leaves"].rates.f1,
            group.overall_score,
        )

    @cached_property
    def confidence(self) -> dict[str, Any] | None:
        """How far the confidences of predictions can be trusted; None where there are none."""
        evaluation = self.run.evaluation
        return evaluation.confidences_view() if evaluation.confidences else None

    @cached_property
    def metrics(self) -> dict[str, float | None]:
        """The figures of the metrics that were asked for, by name."""
        return self.run.evaluation.metric_figures

    @cached_property
    def failed_gates(self) -> int:
        """How many gates the run does not pass."""
        return sum(not result.passed for result in self.run.gates)
