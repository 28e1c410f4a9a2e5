"""Rates of counts, with the option that decides what recall is bound once.

A module of its own because reports and differences take their rates here, and know of no option.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stickler_cli.core.values import dataclass
from stickler_cli.score.counts import Counts, fractions

if TYPE_CHECKING:
    from stickler_cli.score.intervals import FieldIntervals
    from stickler_cli.score.results import Results


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of some counts, each in [0, 1]; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class RateRule:
    """How rates come of counts."""

    recall_with_fd: bool = False
    """Whether recall also counts false discoveries as not found."""

    def rates(self, counts: Counts) -> Rates:
        """Return rates for people to read: 0 of 0 is not 0.0 but nothing.

        >>> RateRule().rates(Counts(fn=2))
        Rates(precision=None, recall=0.0, f1=0.0)
        """
        parts = counts.fractions(recall_with_fd=self.recall_with_fd)
        return Rates(
            *(
                above / below if below else None
                for above, below in (parts[name] for name in ("precision", "recall", "f1"))
            )
        )

    def f1(self, counts: Counts) -> float:
        """Return F1, 0.0 where there is nothing to divide by."""
        return counts.f1(recall_with_fd=self.recall_with_fd)

    def fractions(self, counts: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
        """Return every rate of counts, or of arrays of them, as what is divided and by what."""
        return fractions(counts, recall_with_fd=self.recall_with_fd)

    def intervals(self, results: "Results", path: str = "") -> "FieldIntervals | None":
        """Return the confidence intervals of a field or of the whole; None where none were made."""
        if results.bootstrap is None:
            return None
        return results.bootstrap.of(path, recall_with_fd=self.recall_with_fd)
