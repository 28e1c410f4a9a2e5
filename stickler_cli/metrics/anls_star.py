"""ANLS* of whole documents, for comparison with published figures."""

from fractions import Fraction

from stickler_cli.comparators.anls import anls_score
from .metric import MeasuredDocument, Metric

UNIT = 1 << 60
"""Scores are summed in units of 2**-60, so that their order is no matter."""


class AnlsStar(Metric):
    """The mean ANLS* over documents; of one without a prediction it is 0."""

    def __init__(self) -> None:
        """Begin with no documents."""
        self.documents = 0
        self.units = "0"  # as text, since it may have more digits than a JSON number keeps

    def add(self, document: MeasuredDocument) -> None:
        """Add the score of a document."""
        score = 0.0 if document.pred is None else anls_score(document.gt, document.pred)
        self.documents += 1
        self.units = str(int(self.units) + round(Fraction(score) * UNIT))

    def merge(self, other: "AnlsStar") -> None:
        """Add the scores of other documents."""
        self.documents += other.documents
        self.units = str(int(self.units) + int(other.units))

    def result(self) -> float | None:
        """Return the mean, in [0, 1]."""
        return int(self.units) / (self.documents * UNIT) if self.documents else None
