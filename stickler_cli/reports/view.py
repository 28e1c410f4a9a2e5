"""A run as every report reads it: its rates bound once, its fields and groups as rows."""

from functools import cached_property
from typing import Any

from stickler_cli.core.figures import Quoting, digits_of, interval_text, rate
from stickler_cli.core.values import dataclass
from stickler_cli.score.counts import VALUES
from stickler_cli.score.intervals import FieldIntervals, Interval
from stickler_cli.score.record import Run
from stickler_cli.score.results import Results
from .rows import FieldRow, field_rows


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The documents of one group that were evaluated."""

    name: str
    documents: int
    right: int
    """Those of them that lost no value."""
    f1: float | None
    interval: Interval | None
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

    @cached_property
    def digits(self) -> int:
        """The decimals that rates are worth, by the interval of F1 of the whole."""
        return digits_of(self.bounds("f1"))

    def rate(self, value: float | None) -> str:
        """Return a rate or score as text."""
        return rate(value, self.limits, self.digits)

    def interval(self, interval: Interval | None) -> str:
        """Return a confidence interval as text."""
        return interval_text(interval, self.limits, self.digits)

    @cached_property
    def whole(self) -> FieldRow:
        """The figures of all documents together."""
        return FieldRow((), "", "", None, None, self.run.evaluation.tally, self.run.rule)

    def bounds(self, name: str, of: FieldIntervals | None = None) -> Interval | None:
        """Return the interval of a rate: of the whole, or of intervals that are given."""
        found = of or self.intervals
        return found.rates[self.run.rule.counting][name] if found else None

    @property
    def counts_values(self) -> bool:
        """Whether all values are counted, as if nobody says otherwise."""
        return self.run.rule.counting == VALUES.counting

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
        rule = self.run.rule
        bounds = group.intervals(rule)
        return GroupRow(
            name,
            group.evaluated,
            group.wholly_right.right,
            rule.rates(group.tally.counts(rule.counting)).f1,
            self.bounds("f1", bounds) if bounds else None,
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
