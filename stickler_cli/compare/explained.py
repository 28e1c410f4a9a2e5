"""How each score of a comparison came about: a tree of plain values, as deep as the documents.

Apart from the engine's own account, because a run of many documents does not pay for it.
"""

from typing import Literal, TypeAlias

from stickler_cli.compare.result import Outcome, ThresholdSource
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass

Kind: TypeAlias = Literal["leaf", "object", "list", "tuple"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element of the other side that one might have been paired with."""

    index: int
    """Its position on the other side."""
    similarity: float
    """In [0, 1]."""
    partner: int | None
    """The position of what it was paired with instead; None for nothing."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Why an element of a list has the pair that it has, or none."""

    gt_index: int | None
    """Position in the ground truth; None for an invented element."""
    pred_index: int | None
    """Position in the prediction; None for a missed element."""
    runner_up: Candidate | None
    """The next best element of the other side; of an element without a pair, the best."""

    @property
    def paired(self) -> bool:
        """Say whether there is a pair."""
        return self.gt_index is not None and self.pred_index is not None


@dataclass(frozen=True, slots=True)
class Sum:
    """What a score is a share of: `total / divisor`, or 1.0 where nothing was to be compared."""

    total: float
    """The sum of what the parts add."""
    divisor: float
    """Of an object, the weights of its present fields; of a list, the longer side's elements."""

    @property
    def value(self) -> float:
        """Give the score."""
        return self.total / self.divisor if self.divisor else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One place of two documents, and how it was judged."""

    gt_path: Path
    """With the ground truth's list indexes; where it would be, where it is absent."""
    pred_path: Path
    """With the prediction's list indexes."""
    kind: Kind
    comparator: str = ""
    """What compared the values; empty where their parts were compared."""
    reason: str = ""
    """What a judge said of the values."""
    gt: JsonValue = None
    """None where it is absent, or where its parts were compared with those of the other side."""
    pred: JsonValue = None
    """Likewise."""
    outcome: Outcome
    similarity: float
    """As computed, in [0, 1]; as its threshold judges it."""
    score: float
    """After clipping, in [0, 1]."""
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
        """Say whether nothing is wrong here, nor anywhere inside."""
        wrong = self.outcome in (Outcome.FD, Outcome.FA, Outcome.FN)
        return not wrong and all(part.right for part in self.parts)
