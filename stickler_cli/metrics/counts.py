"""Five counts that add, and the only place with the formulas derived from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

RATES: Final = ("precision", "recall", "f1", "accuracy")
"""The derived metrics by name; in results each is prefixed with `cm_`."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many units fell into each class.

    Every rate is 0.0 where its denominator is 0. Source: docs/semantics.md, Classification.
    """

    tp: int = 0
    fd: int = 0
    fa: int = 0
    fn: int = 0
    tn: int = 0

    @classmethod
    def of(cls, by_outcome: Sequence[int]) -> "Counts":
        """Take counts listed in the order of `Outcome`."""
        return cls(*by_outcome)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.tp + other.tp,
            self.fd + other.fd,
            self.fa + other.fa,
            self.fn + other.fn,
            self.tn + other.tn,
        )

    @property
    def fp(self) -> int:
        """Everything in the prediction that is wrong: FA + FD."""
        return self.fa + self.fd

    @property
    def total(self) -> int:
        """All units, absent ones included."""
        return self.tp + self.fd + self.fa + self.fn + self.tn

    @property
    def precision(self) -> float:
        """TP / (TP + FP)."""
        return _ratio(self.tp, self.tp + self.fp)

    def recall(self, *, with_fd: bool = False) -> float:
        """TP / (TP + FN), or TP / (TP + FN + FD)."""
        return _ratio(self.tp, self.recall_denominator(with_fd=with_fd))

    def recall_denominator(self, *, with_fd: bool = False) -> int:
        """The ground-truth units that recall is a share of."""
        return self.tp + self.fn + (self.fd if with_fd else 0)

    def f1(self, *, recall_with_fd: bool = False) -> float:
        """2PR / (P + R), as the one division that it comes to: 2TP / (2TP + FP + FN [+ FD]).

        So that nine of ten is 0.9 to the last digit, whatever a gate asks for.

        >>> Counts(tp=9, fd=1, fn=1).f1()
        0.9
        """
        relevant = self.recall_denominator(with_fd=recall_with_fd)
        return _ratio(2 * self.tp, self.tp + self.fp + relevant)

    @property
    def accuracy(self) -> float:
        """(TP + TN) / (TP + TN + FP + FN)."""
        return _ratio(self.tp + self.tn, self.total)

    def derived(self, *, recall_with_fd: bool = False) -> dict[str, float]:
        """Give every rate by name, each in [0, 1]."""
        return {
            "precision": self.precision,
            "recall": self.recall(with_fd=recall_with_fd),
            "f1": self.f1(recall_with_fd=recall_with_fd),
            "accuracy": self.accuracy,
        }

    def view(self, *, recall_with_fd: bool = False) -> dict[str, object]:
        """Give the counts and rates as results show them."""
        rates = self.derived(recall_with_fd=recall_with_fd)
        return {
            "tp": self.tp,
            "fd": self.fd,
            "fa": self.fa,
            "fn": self.fn,
            "fp": self.fp,
            "tn": self.tn,
            "derived": {f"cm_{name}": value for name, value in rates.items()},
        }


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0
