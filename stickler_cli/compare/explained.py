"""How each score of a comparison came about: a tree of plain values, as deep as the documents.

Apart from the engine's own account, because a run of many documents does not pay for it.
"""

from typing import Annotated, Literal, TypeAlias

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.rules import Count, Fraction, Rule
from stickler_cli.core.values import dataclass
from .result import ERRORS, Outcome, ThresholdSource

Kind: TypeAlias = Literal["leaf", "object", "list", "tuple"]

Index = Annotated[int | None, Rule("a position", {"type": ["integer", "null"], "minimum": 0})]
Amount = Annotated[float, Rule("a number of at least 0", {"type": "number", "minimum": 0})]


@dataclass(frozen=True, slots=True)
class Candidate:
    """The next best element of the other side."""

    index: Count
    """Its position on the other side."""
    similarity: Fraction
    """How alike the two are."""
    paired_with: Index
    """What it was paired with instead; null if with nothing."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """What an element of a list was paired with."""

    ground_truth_index: Index
    """Its position there; null if it is invented."""
    prediction_index: Index
    """Its position there; null if it is missed."""
    runner_up: Candidate | None
    """The next best element of the other side; null where none is like it at all."""

    @property
    def paired(self) -> bool:
        """Whether there is a pair."""
        return None not in (self.ground_truth_index, self.prediction_index)


@dataclass(frozen=True, slots=True)
class Sum:
    """What a score is: total / divisor, or 1 where the divisor is 0."""

    total: Amount
    """The sum of what the parts add."""
    divisor: Amount
    """Of an object the weights of its present fields, of a list the elements of the longer side."""

    @property
    def value(self) -> float:
        """The score."""
        return self.total / self.divisor if self.divisor else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One place of two documents, and how it was judged."""

    gt_path: Path
    """With the ground truth's list indexes; where it would be, where it is absent."""
    pred_path: Path
    kind: Kind
    comparator: str = ""
    """What compared the values; empty where their parts were compared."""
    reason: str = ""
    """What a judge said of the values."""
    gt: JsonValue = None
    """None where it is absent, or where its parts were compared with those of the other side."""
    pred: JsonValue = None
    outcome: Outcome
    similarity: float
    """As computed, in [0, 1]; as its threshold judges it."""
    score: float
    """After clipping."""
    threshold: float
    threshold_source: ThresholdSource
    weight: float | None = None
    """What a field is worth in its object; None for what is no field."""
    adds: float | None = None
    """What it adds to the sum of the place that it is in; None where it does not take part."""
    sum: Sum | None = None
    """Of an object, list or tuple that both sides have."""
    parts: "tuple[Explained, ...]" = ()
    """The fields of an object, the elements of a list."""
    floor: float | None = None
    """Of a list, the similarity at or below which its elements are no pair, in [-1, 1)."""
    floor_source: Literal["annotation", "run"] = "run"
    pairing: Pairing | None = None
    """For an element of a list whose order does not matter."""
    extra: bool = False
    """Whether it is a key that the schema does not declare, and only the prediction has."""
    undeclared: tuple[str, ...] = ()
    """Of an object, keys of the ground truth that the schema does not declare."""

    @property
    def right(self) -> bool:
        """Whether nothing is wrong here, nor anywhere inside."""
        return self.outcome not in ERRORS and all(part.right for part in self.parts)
