"""One document of a unit table as a tree of units, with explanations of their scores.

The table has the similarity of two list items only if the items were paired with each other.
`UnitTree.pairings` computes the similarities of all pairs again, with the nodes and columns of the
comparison.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.comparators.base import meets
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, Step
from stickler_cli.core.rules import Count, Fraction, Rule
from .columns import NOTHING
from .leaf import LeafNode
from .list import ListNode
from .plan import DEFAULT_OPTIONS, Mode, Options
from .result import BOTH_SIDES, ERRORS, NOT_EVALUATED, Outcome, ThresholdSource
from .tuple import TupleNode
from .units import LIST, MISMATCH, OBJECT, SCHEMAS, UnitBatch, UnitTable

UnitShape: TypeAlias = Literal["leaf", "object", "list", "mismatch"]
PlaceKind: TypeAlias = Literal["leaf", "object", "list", "tuple"]

Index = Annotated[int | None, Rule("a position", {"type": ["integer", "null"], "minimum": 0})]
Amount = Annotated[float, Rule("a number of at least 0", {"type": "number", "minimum": 0})]


@dataclass(frozen=True, slots=True)
class Candidate:
    """The item of the other side that is most similar to a list item, apart from its partner."""

    index: Count
    """The index of the candidate in the list of the other side."""
    similarity: Fraction
    """The similarity of the item and the candidate."""
    paired_with: Index
    """Index of the item that the candidate was paired with instead; null if it has no partner."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A list item and its partner."""

    ground_truth_index: Index
    """The index of the item in the ground truth; null for an invented item."""
    prediction_index: Index
    """The index of the item in the prediction; null for a missed item."""
    runner_up: Candidate | None
    """The next best item of the other side; null if no other item is similar at all."""

    @property
    def paired(self) -> bool:
        """Whether both sides have the item."""
        return None not in (self.ground_truth_index, self.prediction_index)


@dataclass(frozen=True, slots=True)
class Sum:
    """A score as a quotient: total / divisor, or 1 if the divisor is 0."""

    total: Amount
    """The sum over the children. A field of an object adds its weight times its score. A list item
    adds its score if both sides have the item, and 0 otherwise."""
    divisor: Amount
    """For an object, the sum of the weights of its present fields. For a list, the length of the
    longer side. If items are compared by position, the number of positions."""

    @property
    def value(self) -> float:
        """The score: `total` divided by `divisor`."""
        return self.total / self.divisor if self.divisor else 1.0


class Setting(NamedTuple):
    """What all units of a tree share: the table and the options."""

    table: UnitTable
    options: Options
    """The options of the comparison."""


_COMPARED: Final = (
    *("shape", "gt", "pred", "outcome", "similarity", "score", "threshold", "reason", "weight"),
    *("gt_path", "pred_path", "extra_keys", "undeclared_keys"),
)
"""Names of the attributes of `UnitTree` that are compared by `==`. Two units are equal if all these
attributes of the two units are equal, and if the children of the two units are equal."""


class UnitTree:
    """A unit of a table with its paths. Its children are made when they are first read."""

    is_extra_key: Final = False
    """Always False for a unit. It is True for an `ExtraKey`, which stands beside units in a
    tree."""

    __hash__ = None  # type: ignore[assignment] # units have mutable values

    def __init__(
        self,
        setting: Setting,
        row: int,
        gt_path: Path = (),
        pred_path: Path = (),
        parent: "UnitTree | None" = None,
    ) -> None:
        """Store the row of a unit in its table, its paths, and the unit that contains it."""
        self._setting, self._parent = setting, parent
        self.row = row
        self.gt_path = gt_path
        """Path of the value in the ground truth, with list indexes. If the value is absent, the
        path where it would be."""
        self.pred_path = pred_path

    def __eq__(self, other: object) -> bool:
        """Return whether two units have the same values, figures and children."""
        if not isinstance(other, UnitTree):
            return NotImplemented
        figures = all(getattr(self, name) == getattr(other, name) for name in _COMPARED)
        return figures and [*self.parts, *self.sides] == [*other.parts, *other.sides]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.outcome.name} similarity={self.similarity!r}>"

    # --- columns of the table ---------------------------------------------------------------------

    @property
    def table(self) -> UnitTable:
        """The table that the unit belongs to."""
        return self._setting.table

    @cached_property
    def batch(self) -> UnitBatch:
        """The batch that contains the unit's row."""
        return self.table.batch_of(self.row)

    @property
    def position(self) -> int:
        """The position of the unit's row in the batch."""
        return self.row - self.batch.start

    @cached_property
    def node(self) -> Any:
        """The node that compared the unit."""
        return self.batch.node_of(self.position)

    def _figure(self, name: str) -> float:
        """Return the unit's number in the column `name` of its batch, such as `score`."""
        column = getattr(self.batch, name)
        return float(column[self.position] if isinstance(column, np.ndarray) else column)

    @property
    def name(self) -> str:
        """The name of the unit's field; a list item has the name of its list."""
        path = self.table.fields.paths[self.table.field[self.row]]
        return path[-1] if path else ""

    @property
    def is_item(self) -> bool:
        """Whether the unit is a list item."""
        return self.batch.is_item

    @property
    def shape(self) -> UnitShape:
        """The shape of the unit: an object, a list, a mismatch of kinds, or one value."""
        shapes: dict[int, UnitShape] = {OBJECT: "object", LIST: "list", MISMATCH: "mismatch"}
        return shapes.get(self.batch.kind, "leaf")

    @property
    def kind(self) -> PlaceKind:
        """How the unit was compared: by fields, by items, or as one value."""
        if self.shape == "list":
            return "tuple" if isinstance(self.node, TupleNode) else "list"
        return "object" if self.shape == "object" else "leaf"

    @property
    def gt(self) -> JsonValue:
        """The ground-truth value; None if it is absent."""
        return self.batch.gt_values(np.array([self.position]))[0]

    @property
    def pred(self) -> JsonValue:
        """The predicted value; None if it is absent."""
        return self.batch.pred_values(np.array([self.position]))[0]

    @property
    def other_alternatives(self) -> tuple[JsonValue, ...]:
        """The ground-truth alternatives that were not chosen."""
        slot, gold = self.table.gold_slots.get(self.row), self.batch.columns.gold
        if slot is None or gold is None:
            return ()
        alternatives, counted = gold.alternatives_of(slot)
        return tuple(
            alternative.value for index, alternative in enumerate(alternatives) if index != counted
        )

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome of the unit.

        The outcome of a field is stored. The outcome of a whole document is computed here: TP if
        its similarity meets its threshold, else FD. An unlabelled document is TN.
        """
        outcome = int(self.batch.outcome[self.position])
        if outcome != NOT_EVALUATED:
            return Outcome(outcome)
        if self.gt is None:  # the document is unlabelled
            return Outcome.TN
        return Outcome.TP if meets(self.similarity, self.threshold) else Outcome.FD

    @property
    def similarity(self) -> float:
        """The raw similarity, in [0, 1]; 1.0 if both sides are absent, 0.0 if only one is."""
        return self._figure("similarity")

    @property
    def score(self) -> float:
        """The threshold-applied score, in [0, 1]."""
        return self._figure("score")

    @property
    def threshold(self) -> float:
        """The similarity at which the unit matches."""
        return self._figure("threshold")

    @property
    def weight(self) -> float | None:
        """The weight of a field in its object; None for documents and items."""
        return None if self.is_item or self._parent is None else self._figure("weight")

    @property
    def in_aggregate(self) -> bool:
        """Whether the field counts in the `aggregate` counts of its object."""
        return bool(self._figure("in_aggregate"))

    @property
    def reason(self) -> str:
        """The reason that a judge gave; empty if no judge was asked."""
        return self.table.reasons.get(self.row, "")

    @property
    def gt_index(self) -> int | None:
        """The index of an item in the ground truth; None for an invented item."""
        return self._index("gt_index")

    @property
    def pred_index(self) -> int | None:
        """The index of an item in the prediction; None for a missed item."""
        return self._index("pred_index")

    def _index(self, name: str) -> int | None:
        index = int(self._figure(name))
        return None if index == NOTHING else index

    @property
    def extra_keys(self) -> tuple[str, ...]:
        """Undeclared keys that only the prediction has; each is a false alarm."""
        return self.table.extra_keys.get(self.row, ())

    @property
    def undeclared_keys(self) -> tuple[str, ...]:
        """Undeclared keys of the ground truth that have a value; they are not evaluated."""
        return self.table.undeclared_keys.get(self.row, ())

    # --- children ---------------------------------------------------------------------------------

    @cached_property
    def _children(self) -> "tuple[UnitTree, ...]":
        """The units directly inside this unit, in order, including unlabelled ones."""
        return tuple(self._child(row) for row in self.table.children(self.row))

    def _child(self, row: int) -> "UnitTree":
        """Return the tree of a child, with its paths on both sides."""
        batch = self.table.batch_of(row)
        steps: list[Step]
        if batch.is_side:
            steps = []
        elif batch.is_item:
            position = row - batch.start
            sides = batch.gt_index, batch.pred_index
            indexes = [int(np.broadcast_to(index, batch.size)[position]) for index in sides]
            # If a side lacks the item, it has the index of the other side.
            present = [index for index in indexes if index != NOTHING]
            steps = [present[0], present[-1]]
        else:
            name = self.table.fields.paths[self.table.field[row]][-1]
            steps = [name, name]
        return UnitTree(
            self._setting,
            row,
            gt_path=(*self.gt_path, *steps[:1]),
            pred_path=(*self.pred_path, *steps[1:]),
            parent=self,
        )

    @property
    def fields(self) -> "tuple[UnitTree, ...]":
        """The labelled fields of an object in schema order, followed by map keys."""
        if self.shape != "object":
            return ()
        return tuple(child for child in self._children if not child.batch.is_unlabelled)

    @property
    def items(self) -> "tuple[UnitTree, ...]":
        """The items of a list in ground-truth order, followed by invented items."""
        return self._children if self.shape == "list" else ()

    @property
    def sides(self) -> "tuple[UnitTree, ...]":
        """The two units inside a mismatch: one for the true value, one for the predicted value.

        In each of them, the value of the other side is absent. Empty if the unit is no mismatch.
        """
        return self._children if self.shape == "mismatch" else ()

    @property
    def field_scores(self) -> dict[str, float]:
        """A dict from the name of each field to its score."""
        if self.batch.is_document and self.shape == "object":
            return self.table.field_scores(int(self.batch.document[self.position]))
        return {field.name: field.score for field in self.fields}

    @cached_property
    def parts(self) -> "tuple[TreePart, ...]":
        """The fields and extra keys of an object, or the items of a list."""
        values: Any = self.pred if self.extra_keys else None
        extra_keys = tuple(
            ExtraKey(
                name=name,
                gt_path=(*self.gt_path, name),
                pred_path=(*self.pred_path, name),
                pred=values[name],
            )
            for name in self.extra_keys
        )
        return (*self.fields, *extra_keys, *self.items)

    @property
    def is_right(self) -> bool:
        """Whether neither this unit nor anything inside it is wrong."""
        return self.outcome not in ERRORS and all(part.is_right for part in self.parts)

    # --- explanation of the score -----------------------------------------------------------------

    @property
    def own_gt(self) -> JsonValue:
        """The ground-truth value, if the unit was not compared by its fields or items.

        None if the unit was compared by its fields or items, or if the value is absent.
        """
        return None if self._is_compared_by_parts else self.gt

    @property
    def own_pred(self) -> JsonValue:
        """The predicted value, if the unit was not compared by its fields or items.

        None if the unit was compared by its fields or items, or if the value is absent.
        """
        return None if self._is_compared_by_parts else self.pred

    @property
    def _is_compared_by_parts(self) -> bool:
        return self.kind != "leaf" and self.outcome in BOTH_SIDES

    @property
    def comparator(self) -> str:
        """The name of the comparator; empty for an object, a list or a tuple."""
        return self.node.comparator.name if isinstance(self.node, LeafNode) else ""

    @property
    def threshold_source(self) -> ThresholdSource:
        """The source of the threshold."""
        parent = self._parent
        source: ThresholdSource = (
            self.node.source_for(self.gt)
            if self.is_item and parent is not None and parent.kind == "list"
            else self.node.threshold_source
        )
        return source

    @property
    def adds(self) -> float | None:
        """The number that the unit adds to the sum that gives the score of its parent.

        None if the unit does not count in the score of its parent.
        """
        parent = self._parent
        if parent is None or parent.outcome not in BOTH_SIDES:
            return None
        if self.is_item:
            return 0.0 if None in {self.gt_index, self.pred_index} else self.score
        if self.outcome is Outcome.TN or self.weight is None:
            return None
        return self.weight * self.score

    @property
    def sum(self) -> Sum | None:
        """The score as a quotient if both sides have an object, list or tuple; else None."""
        if not self._is_compared_by_parts or (self.kind != "object" and not self.items):
            return None
        if self.kind == "object":
            fields = [field for field in self.fields if field.adds is not None]
            total = weights = 0.0
            for field in fields:  # add in schema order, as the score was computed
                total += field.adds or 0.0
                weights += field.weight or 0.0
            return Sum(total, weights)
        total = 0.0
        for item in self.items:
            total += item.adds or 0.0
        n_gt = sum(item.gt_index is not None for item in self.items)
        n_pred = sum(item.pred_index is not None for item in self.items)
        return Sum(total, len(self.items) if self._is_by_position else max(n_gt, n_pred))

    @property
    def _is_by_position(self) -> bool:
        """Whether the items of a list are compared by position."""
        return self.kind == "tuple" or (isinstance(self.node, ListNode) and self.node.by_position)

    @property
    def floor(self) -> float | None:
        """The similarity that items of this list must exceed to be a pair, in [-1, 1).

        None if nothing was paired by similarity.
        """
        if self.kind != "list" or self._is_by_position or not self.items:
            return None
        floor: float = self.node.floor(self._setting.options)
        return floor

    @property
    def floor_source(self) -> Literal["annotation", "run"]:
        """The source of the floor: an annotation of the list, or the options of the run."""
        return "annotation" if getattr(self.node, "pairing_floor", None) is not None else "run"

    @property
    def pairing(self) -> Pairing | None:
        """The partner of a list item, and the item that is next best.

        None if the unit is no list item, or if its list was not paired by similarity.
        """
        parent = self._parent
        if not self.is_item or parent is None or not parent.has_pairings:
            return None
        return parent.pairings.get(self.row)

    @property
    def has_pairings(self) -> bool:
        """Whether the items were paired by similarity, which requires a list on both sides."""
        is_paired_list = self.kind == "list" and not self._is_by_position
        return is_paired_list and bool(self.items) and self.outcome in BOTH_SIDES

    @cached_property
    def pairings(self) -> "dict[int, Pairing]":
        """The partner and the runner-up of each list item, keyed by the row of the item.

        To find the runners-up, the similarities of all pairs of items are computed again. This may
        ask embedding models, but never a judge.

        Raises:
            ComparisonError: a comparator failed on a pair that was not chosen.
        """
        columns = self.node.mask_ignored_columns(self.batch.columns)
        gt_lists, pred_lists, values = columns.elements
        gt_slots, _, gt_places = gt_lists.select(self.batch.gt_slot[[self.position]])
        pred_slots, _, pred_places = pred_lists.select(self.batch.pred_slot[[self.position]])
        similarity = self.node.items.similarity(
            values,
            np.repeat(gt_slots, len(pred_slots)),
            np.tile(pred_slots, len(gt_slots)),
            self._setting.options,
            Mode.PAIRING,
        ).similarity.reshape(len(gt_slots), len(pred_slots))

        gt_indexes, pred_indexes = gt_places.tolist(), pred_places.tolist()
        partner_of_gt = {item.gt_index: item.pred_index for item in self.items}
        partner_of_pred = {item.pred_index: item.gt_index for item in self.items}
        pairings = {}
        for item in self.items:
            if item.gt_index is not None:
                row = similarity[gt_indexes.index(item.gt_index)].tolist()
                best = find_runner_up(row, pred_indexes, item.pred_index, partner_of_pred)
            else:
                column = similarity[:, pred_indexes.index(item.pred_index)].tolist()
                best = find_runner_up(column, gt_indexes, None, partner_of_gt)
            pairings[item.row] = Pairing(item.gt_index, item.pred_index, best)
        return pairings


def find_runner_up(
    similarities: Sequence[float],
    indexes: Sequence[int],
    partner: int | None,
    partner_of_candidate: Mapping[int | None, int | None],
) -> Candidate | None:
    """Return the candidate that is most similar to a list item, apart from the item's partner.

    Candidates are all items of the list on the other side. `indexes` has their indexes in this
    list, and `similarities` has their similarities to the item. If several candidates are equally
    similar, the first one is returned. If no similarity is above 0, None is returned.

    `partner` is the index of the item's partner, or None if the item has no partner.
    `partner_of_candidate` maps the index of a candidate to the index of the candidate's own
    partner. If the ground truth need not name all items, some predicted items may have been
    dropped. The dropped items are candidates, but are missing in `partner_of_candidate`.
    """
    best: Candidate | None = None
    for index, similarity in zip(indexes, similarities, strict=True):
        if index != partner and similarity > (best.similarity if best else 0.0):
            best = Candidate(index, similarity, partner_of_candidate.get(index))
    return best


@dataclass(frozen=True, slots=True)
class ExtraKey:
    """An undeclared key that only the prediction has. In a tree, it is a child of its object.

    It is a false alarm, and counts in no score.
    """

    name: str
    gt_path: Path
    pred_path: Path
    pred: JsonValue
    gt: None = None
    outcome: Outcome = Outcome.FA
    similarity: float = 0.0
    score: float = 0.0
    threshold: float = 0.0
    threshold_source: ThresholdSource = "default"
    weight: None = None
    adds: None = None
    sum: None = None
    floor: None = None
    floor_source: Literal["annotation", "run"] = "run"
    pairing: None = None
    kind: PlaceKind = "leaf"
    comparator: str = ""
    reason: str = ""
    other_alternatives: tuple[JsonValue, ...] = ()
    undeclared_keys: tuple[str, ...] = ()
    parts: "tuple[TreePart, ...]" = ()
    is_right: bool = False
    is_extra_key: bool = True

    @property
    def own_gt(self) -> None:
        """Always None, as there is no ground truth."""
        return

    @property
    def own_pred(self) -> JsonValue:
        """The predicted value."""
        return self.pred


TreePart: TypeAlias = "UnitTree | ExtraKey"


def explain(root: UnitTree) -> None:
    """Compute `UnitTree.pairings` of all lists inside a unit, so that reports can read it later.

    Raises:
        ComparisonError: a comparator failed on a pair that was not chosen.
    """
    waiting: list[TreePart] = [root]
    while waiting:
        unit = waiting.pop()
        if isinstance(unit, UnitTree):
            if unit.has_pairings:
                unit.pairings  # noqa: B018 - a cached property
            waiting += unit.parts


def tree_of(table: UnitTable, document: int = 0, options: Options | None = None) -> UnitTree:
    """Return the tree of a document; `options` are those of the comparison."""
    root = int(table.document_rows[document])
    if table.batch_of(root).kind == SCHEMAS:  # step to the document of its schema
        (root,) = table.children(root)
    return UnitTree(Setting(table, options or DEFAULT_OPTIONS), root)
