"""How each score of a comparison came about: which threshold, which arithmetic, which other pairs.

An account does not keep the similarities of pairs that were not chosen; here they are computed
again, by the same nodes of the same columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.rules import Count, Fraction, Rule
from stickler_cli.core.values import dataclass
from .account import Account
from .comparison import Comparison, ElementComparison, comparison_of
from .leaf import LeafNode
from .list import ListNode
from .plan import Options, Purpose
from .result import BOTH_SIDES, ERRORS, Outcome, ThresholdSource
from .tuple import TupleNode

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
    """An element of a list and its partner."""

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
    """A score before the place itself is clipped: total / divisor, or 1 where the divisor is 0."""

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
    kind: Kind = "leaf"
    comparator: str = ""
    """What compared the values; empty where their parts were compared."""
    reason: str = ""
    """What a judge said of the values."""
    gt: JsonValue = None
    """None where it is absent, or where its parts were compared with those of the other side."""
    pred: JsonValue = None
    others: tuple[JsonValue, ...] = ()
    """Values that are as right as this ground truth, which was taken as the likest."""
    outcome: Outcome
    similarity: float = 0.0
    """As computed, in [0, 1]; its threshold judges it."""
    score: float = 0.0
    """The threshold-applied score, in [0, 1]: the similarity after clipping here and inside."""
    threshold: float = 0.0
    threshold_source: ThresholdSource = "default"
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


def explain(account: Account, options: Options) -> Explained:
    """Explain the comparison of one document, under the same options.

    Models that pairs depend on are asked about all pairs of list elements once more; judges are
    asked nothing.

    Raises:
        ComparisonError: a comparator failed on a pair that was not chosen.
    """
    return _place(comparison_of(account, 0), (), (), options.to(Purpose.PAIRING))


def _place(
    comparison: Comparison, gt_path: Path, pred_path: Path, options: Options, **said: Any
) -> Explained:
    """Explain a place; `said` goes before what the comparison says of it."""
    node, inside = comparison.account.node, dict[str, Any]()
    if comparison.shape == "object":
        inside = _of_object(comparison, gt_path, pred_path, options)
    elif comparison.shape == "list":
        inside = _of_list(comparison, gt_path, pred_path, options)
    apart = inside and comparison.outcome in BOTH_SIDES  # then the parts have the values
    found = {
        "comparator": node.comparator.name if isinstance(node, LeafNode) else "",
        "reason": comparison.reason,
        "gt": None if apart else comparison.gt,
        "pred": None if apart else comparison.pred,
        "others": comparison.others,
        "outcome": comparison.outcome,
        "similarity": comparison.similarity,
        "score": comparison.score,
        "threshold": comparison.threshold,
        "threshold_source": node.threshold_source,
    }
    return Explained(gt_path=gt_path, pred_path=pred_path, **{**found, **inside, **said})


def _of_object(
    comparison: Comparison, gt_path: Path, pred_path: Path, options: Options
) -> dict[str, Any]:
    both, (parts, total, weights) = comparison.outcome in BOTH_SIDES, ([], 0.0, 0.0)
    for entry in comparison.fields:
        absent = entry.comparison.outcome is Outcome.TN  # then it takes no part in the mean
        adds = entry.weight * entry.comparison.score if both and not absent else None
        paths = (*gt_path, entry.name), (*pred_path, entry.name)
        parts.append(_place(entry.comparison, *paths, options, weight=entry.weight, adds=adds))
        if adds is not None:
            total, weights = total + adds, weights + entry.weight
    extras = comparison.pred if isinstance(comparison.pred, dict) else {}
    parts += (  # false alarms, which take no part in a score
        Explained(
            gt_path=(*gt_path, name),
            pred_path=(*pred_path, name),
            pred=extras.get(name),
            outcome=Outcome.FA,
            extra=True,
        )
        for name in comparison.extras
    )
    whole = Sum(total, weights) if both else None
    undeclared = comparison.undeclared
    return {"kind": "object", "parts": (*parts,), "sum": whole, "undeclared": undeclared}


def _of_list(
    comparison: Comparison, gt_path: Path, pred_path: Path, options: Options
) -> dict[str, Any]:
    node, elements = comparison.account.node, comparison.elements
    is_tuple, both = isinstance(node, TupleNode), comparison.outcome in BOTH_SIDES
    found: dict[str, Any] = {"kind": "tuple" if is_tuple else "list"}
    if not elements:
        return found
    pairings: Iterator[Pairing | None] = iter([None] * len(elements))
    by_position = is_tuple or (isinstance(node, ListNode) and node.by_position)
    if isinstance(node, ListNode) and not by_position:
        source = "run" if node.pairing_floor is None else "annotation"
        found |= {"floor": node.floor(options), "floor_source": source}
        pairings = pairings_of(node, comparison, options) if both else pairings
    parts, total = [], 0.0
    for element, pairing in zip(elements, pairings, strict=True):
        adds = _added(element, is_tuple=is_tuple) if both else None
        total += adds or 0.0
        one, of = element.comparison, element.comparison.account.node
        # A step that one side lacks is that of the other.
        steps = [it for it in (element.gt_index, element.pred_index) if it is not None]
        part = _place(
            one,
            (*gt_path, steps[0]),
            (*pred_path, steps[-1]),
            options,
            outcome=element.outcome,
            score=one.score if is_tuple else one.item_score,
            threshold=element.threshold,
            # A position of a tuple has a threshold of its own.
            threshold_source=of.threshold_source if is_tuple else of.source_for(one.gt),
            pairing=pairing,
            adds=adds,
        )
        parts.append(part)
    gts = sum(element.gt_index is not None for element in elements)
    preds = sum(element.pred_index is not None for element in elements)
    longest = len(parts) if by_position else max(gts, preds)
    return {**found, "parts": tuple(parts), "sum": Sum(total, longest) if both else None}


def _added(element: ElementComparison, *, is_tuple: bool) -> float:
    comparison = element.comparison
    if element.gt_index is None or element.pred_index is None:
        return 0.0
    return comparison.score if is_tuple else comparison.item_score


def pairings_of(node: ListNode, comparison: Comparison, options: Options) -> Iterator[Pairing]:
    """Return the partner of each element of a list, and those that it might have had."""
    account, elements = comparison.account, comparison.elements
    gt_lists, pred_lists, values = node.read(account.columns).elements
    at = slice(comparison.pair, comparison.pair + 1)
    rows, _, gt_places = gt_lists.of(account.gt[at])
    others, _, pred_places = pred_lists.of(account.pred[at])
    pairs = np.repeat(rows, len(others)), np.tile(others, len(rows))
    found = node.items.compare(values, *pairs, options).similarity.reshape(len(rows), len(others))
    gt_indexes, pred_indexes = gt_places.tolist(), pred_places.tolist()
    partner_of_gt = {each.gt_index: each.pred_index for each in elements}
    partner_of_pred = {each.pred_index: each.gt_index for each in elements}
    for element in elements:
        gt_index, pred_index = element.gt_index, element.pred_index
        if gt_index is not None:
            candidates = found[gt_indexes.index(gt_index)].tolist()
            best = _best(candidates, pred_indexes, pred_index, partner_of_pred)
        else:
            candidates = found[:, pred_indexes.index(pred_index)].tolist()
            best = _best(candidates, gt_indexes, None, partner_of_gt)
        yield Pairing(gt_index, pred_index, best)


def _best(
    similarities: Sequence[float],
    indexes: Sequence[int],
    taken: int | None,
    partners: Mapping[int | None, int | None],
) -> Candidate | None:
    # Ties go to the first; what has nothing in common is no candidate. What an open list leaves out
    # has no partner.
    best: Candidate | None = None
    for index, similarity in zip(indexes, similarities, strict=True):
        if index != taken and similarity > (best.similarity if best else 0.0):
            best = Candidate(index, similarity, partners.get(index))
    return best
