"""What every metric is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredDocument:
    """A document that was compared."""

    id: str
    """As the run names it."""
    gt: JsonValue
    """The ground truth, values without metadata."""
    pred: JsonValue
    """The prediction, likewise; None of a document without one, which counts as missed."""
    score: float
    """What it scored, in [0, 1]."""


class Metric(ABC):
    """The family of metrics: a figure over documents, or several.

    A subclass is made without arguments. What it keeps in its attributes must be JSON values, and
    its size should not grow with the documents: attributes go to other processes, to journals and
    to run files, and are set again on an instance that was made without `__init__`. Documents come
    in any order and in parts, so `merge` must give what adding all documents gives.
    """

    @abstractmethod
    def add(self, document: MeasuredDocument) -> None:
        """Take a document into account."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take into account all documents that another instance has."""

    @abstractmethod
    def result(self) -> float | Mapping[str, float | None] | None:
        """Return the figure, or figures by name; None where there is nothing to divide by."""
