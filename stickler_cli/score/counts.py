"""Five counts that add, and the only place with the formulas derived from them."""

from collections.abc import Sequence
from operator import add
from typing import Any, Final, NamedTuple

from stickler_cli.core.values import dataclass
from stickler_cli.settings.deciding import Counting, CountingOptions

RATES: Final = ("precision", "recall", "f1", "accuracy")  # in results `cm_` stands before each
BOUNDS: Final = ("lower", "upper")  # of the confidence interval of a rate or score


class Counts(NamedTuple):
    """How many units fell into each class, in the order of `Outcome`.

    Every rate is 0.0 where its denominator is 0. Source: docs/semantics.md, Classification.
    """

    tp: int = 0
    fd: int = 0
    fa: int = 0
    fn: int = 0
    tn: int = 0

    def __add__(self, other: "Counts") -> "Counts":  # type: ignore[override] # no longer tuple
        return Counts(*map(add, self, other))

    @property
    def fp(self) -> int:
        """Everything in the prediction that is wrong: FA + FD."""
        return self.fa + self.fd

    @property
    def lost(self) -> int:
        """All that is wrong, invented or missed."""
        return self.fd + self.fa + self.fn

    @property
    def total(self) -> int:
        """All units, absent ones included."""
        return sum(self)

    def derived(self, *, recall_with_fd: bool = False) -> dict[str, float]:
        """Return every rate by name, each in [0, 1].

        >>> Counts(tp=9, fd=1, fn=1).derived()["f1"]
        0.9
        """
        parts = fractions(self, recall_with_fd=recall_with_fd)
        return {name: above / below if below else 0.0 for name, (above, below) in parts.items()}

    def view(self, *, recall_with_fd: bool = False) -> dict[str, object]:
        """Return the counts and rates as results show them."""
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
    """Return every rate of counts, or of arrays of them, as what is divided, and by what.

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


class Rates(NamedTuple):
    """The rates of some counts, each in [0, 1]; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class RateRule:
    """How counts are read: which of the three, and which recall; bound once."""

    recall_with_fd: bool = False
    """Whether recall also counts false discoveries as not found."""
    counting: Counting = CountingOptions.counting
    """The counts that people and pipelines read: all values, if nobody says otherwise."""

    def rates(self, counts: Counts) -> Rates:
        """Return rates for people to read: 0 of 0 is not 0.0 but nothing.

        >>> RateRule().rates(Counts(fn=2))
        Rates(precision=None, recall=0.0, f1=0.0)
        """
        parts = self.fractions(counts)
        divided = (parts[name] for name in Rates._fields)
        return Rates(*(above / below if below else None for above, below in divided))

    def f1(self, counts: Counts) -> float:
        """Return F1, 0.0 where there is nothing to divide by."""
        return counts.derived(recall_with_fd=self.recall_with_fd)["f1"]

    def fractions(self, counts: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
        """Return every rate of counts, or of arrays of them, as what is divided and by what."""
        return fractions(counts, recall_with_fd=self.recall_with_fd)


VALUES: Final = RateRule()
"""How counts are read if nobody says otherwise."""
