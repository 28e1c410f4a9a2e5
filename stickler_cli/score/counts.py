"""Five counts that add, and the only place with the formulas derived from them."""

from collections.abc import Sequence
from typing import Any, Final

from stickler_cli.core.values import dataclass

RATES: Final = ("precision", "recall", "f1", "accuracy")
"""The derived metrics by name; in results each is prefixed with `cm_`."""


BOUNDS: Final = ("lower", "upper")
"""The ends of the confidence interval of a rate or score."""


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

    def fractions(self, *, recall_with_fd: bool = False) -> dict[str, tuple[int, int]]:
        """Give every rate by name as what is divided, and by what."""
        counts = (self.tp, self.fd, self.fa, self.fn, self.tn)
        return fractions(counts, recall_with_fd=recall_with_fd)

    @property
    def precision(self) -> float:
        """TP / (TP + FP)."""
        return self.derived()["precision"]

    def recall(self, *, with_fd: bool = False) -> float:
        """TP / (TP + FN), or TP / (TP + FN + FD)."""
        return self.derived(recall_with_fd=with_fd)["recall"]

    def f1(self, *, recall_with_fd: bool = False) -> float:
        """2PR / (P + R).

        >>> Counts(tp=9, fd=1, fn=1).f1()
        0.9
        """
        return self.derived(recall_with_fd=recall_with_fd)["f1"]

    @property
    def accuracy(self) -> float:
        """(TP + TN) / (TP + TN + FP + FN)."""
        return self.derived()["accuracy"]

    def derived(self, *, recall_with_fd: bool = False) -> dict[str, float]:
        """Give every rate by name, each in [0, 1]."""
        parts = self.fractions(recall_with_fd=recall_with_fd)
        return {name: above / below if below else 0.0 for name, (above, below) in parts.items()}

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


def fractions(counts: Sequence[Any], *, recall_with_fd: bool) -> dict[str, tuple[Any, Any]]:
    """Give every rate as what is divided, and by what.

    Args:
        counts: in the order of `Outcome`, whole numbers or arrays of them.
        recall_with_fd: whether recall also counts false discoveries as not found.

    F1, 2PR / (P + R), is the one division that it comes to, 2TP / (2TP + FP + FN [+ FD]): so that
    nine of ten is 0.9 to the last digit, whatever a gate asks for.
    """
    tp, fd, fa, fn, tn = counts
    predicted = tp + fa + fd
    relevant = tp + fn + fd if recall_with_fd else tp + fn
    return {
        "precision": (tp, predicted),
        "recall": (tp, relevant),
        "f1": (2 * tp, predicted + relevant),
        "accuracy": (tp + tn, predicted + fn + tn),
    }
