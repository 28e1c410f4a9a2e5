"""BERTScore of two texts: similarity of their words in context."""

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.errors import Problem, UnavailableError


class BERTComparator(BaseComparator):
    """Compare two texts by BERTScore F1; this version has no backend for it."""

    def __init__(self, threshold: float = 0.7) -> None:
        """Set the threshold in [0, 1] that `binary_compare` uses.

        Raises:
            KeywordError: the threshold is not a number in [0, 1].
        """
        super().__init__(threshold)

    def require(self) -> None:
        """Raise, always.

        Raises:
            UnavailableError: this version cannot compute a BERTScore.
        """
        raise _unavailable()

    def similarity(self, gt: object, pred: object) -> float:
        """Raise, as `require` does: anything in its stead would be a score of something else.

        Raises:
            UnavailableError: this version cannot compute a BERTScore.
        """
        raise _unavailable()


BertComparator = BERTComparator
"""The name that older schemas give it."""


def _unavailable() -> UnavailableError:
    problem = Problem(
        source="",
        found="BERTComparator has no BERTScore backend in this version",
        hint="FuzzyComparator needs no model; a comparator of your own can call one",
    )
    return UnavailableError([problem])
