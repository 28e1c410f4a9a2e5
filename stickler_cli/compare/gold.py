"""Gold: resolve absent values, choose among alternatives, and mark unlabelled values.

*Gold* is what annotations say about a ground truth: it has alternatives, it is not labelled, or it
is a list that need not name all items. Most functions here resolve the gold of one field at a time.
They use the field's node only to find out which values count as absent.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np

from stickler_cli.core.json_values import (
    UNLABELLED,
    Alternative,
    Gold,
    JsonDocument,
    JsonValue,
    child_gold_of,
    drop_unlabelled,
    is_absent,
)
from stickler_cli.core.locations import ANY_KEY, Step
from .columns import ABSENT, NOTHING, OBJECT, Columns, Floats, GoldColumn, Indexes, Mask

EQUAL_SCORES_WITHIN: Final = 1e-12
"""Scores of alternatives that differ by at most this are a tie. Source: docs/semantics.md."""

EXCLUDED: Final = -1.0
"""The similarity of two items that have nothing to compare. All other similarities are higher.

Items are paired only if their similarity is above the pairing floor, which is at least -1. Items
that have nothing to compare are therefore never paired."""

CandidateScores = Callable[[Indexes, Indexes, Indexes], Floats]
"""A function that scores candidates, which are alternatives of ground truths. Its arguments are the
indexes of the pairs, the column positions of the candidates, and the column positions of the
predictions. It returns similarities, or `EXCLUDED` where there is nothing to compare."""


class AbsenceRule(Protocol):
    """Decides which values count as absent for a node."""

    @property
    def sees_absent_values(self) -> bool:
        """Whether the node itself handles values that count as absent.

        If not, they are replaced by `NOTHING` (-1) before the node compares values.
        """

    @property
    def labels_inside(self) -> bool:
        """Whether values may be objects with unlabelled descendants."""

    @property
    def lists_inside(self) -> bool:
        """Whether values may be open lists, which need not name all items."""

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether a present value counts as absent."""


class LabelledNode(AbsenceRule, Protocol):
    """The methods of a node that are needed to resolve labels."""

    @property
    def positional(self) -> bool:
        """Whether values are lists whose items are compared by position."""

    def node_for(self, value: JsonValue) -> "LabelledNode":
        """Return the node that compares a value: this node, or one that depends on the value."""

    def child_node(self, step: Step) -> "LabelledNode | None":
        """Return the node of a field or of an item; None if there is none."""

    def list_fields(self) -> "Iterator[tuple[str, LabelledNode]]":
        """Yield the name and the node of each field.

        The name `ANY_KEY` stands for all keys that the schema does not name.
        """

    def ignores(self, name: str) -> bool:
        """Return whether the values of a key are never compared."""

    def ignores_inside(self, step: Step, value: JsonValue) -> bool:
        """Return whether everything in the value of a field or item is ignored."""


# --- labels: resolved before anything is compared -------------------------------------------------


def label_documents(
    root: LabelledNode,
    documents: Sequence[JsonDocument],
    gold: Sequence[Gold | None],
    *,
    is_partial: bool,
) -> tuple[list[JsonValue], list[Gold | None]]:
    """Apply annotations (`gold`) to ground truths; return the new ground truths and their gold.

    A document that is not labelled becomes None. If a ground truth lacks a declared key, the value
    of this key counts as not labelled if `is_partial` is true, and as absent if it is false.
    """
    gold_of_each = [*gold] or [None] * len(documents)
    truths: list[JsonValue] = []
    resolved_gold: list[Gold | None] = []
    for document, stated in zip(documents, gold_of_each, strict=True):
        truth: JsonValue = document
        if stated is not None or is_partial:
            truth, stated_inside = label_value(root, document, stated, is_partial)
        else:
            stated_inside = None
        truths.append(truth)
        resolved_gold.append(stated_inside)
    return truths, resolved_gold


def label_value(
    node: LabelledNode | None, value: JsonValue, gold: Gold | None, is_partial: bool
) -> tuple[JsonValue, Gold | None]:
    """Apply the annotations (`gold`) of a value; return the value to compare, and its new gold.

    If the value is not labelled, or if nothing inside it is labelled, the new gold is `UNLABELLED`,
    and the value will not be compared.

    If the value has alternatives, the new gold lists all values that count as right, which are
    called candidates. The first candidate is the value itself, which is also the value to compare.
    The other candidates are its alternatives. An alternative in which nothing is labelled is
    dropped.
    """
    if gold is not None and not gold.labelled:
        return None, UNLABELLED
    if gold is None or not gold.alternatives:
        return _label_inside(node, value, gold, is_partial)
    without_alternatives = Gold()
    without_alternatives.children, without_alternatives.exhaustive = gold.children, gold.exhaustive
    own_value, own_gold = _label_inside(node, value, without_alternatives, is_partial)
    if own_gold is not None and not own_gold.labelled:
        return None, UNLABELLED
    candidates = [Alternative(own_value, own_gold)]
    for alternative in gold.alternatives:
        candidates += _resolve_alternative(node, alternative, is_partial)
    if not gold.exhaustive:  # an open list has open alternatives
        candidates = [
            candidate._replace(gold=replace(candidate.gold or Gold(), exhaustive=False))
            for candidate in candidates
        ]
    return candidates[0].value, _join_candidates(node, candidates)


def _join_candidates(node: LabelledNode | None, candidates: list[Alternative]) -> Gold:
    """Return the annotations (gold) of a ground truth for which several values are right.

    `candidates` are all right values.
    """
    resolved = Gold()
    resolved.alternatives = tuple(candidates)
    gold_of_each = [candidate.gold for candidate in candidates]
    resolved.has_unlabelled = any(gold is not None and gold.has_unlabelled for gold in gold_of_each)
    are_optional = [gold is not None and gold.is_optional for gold in gold_of_each]

    def counts_as_absent(value: JsonValue) -> bool:
        return is_absent(value) or (node is not None and node.counts_as_absent(value))

    are_absent = [
        not is_optional and counts_as_absent(candidate.value)
        for candidate, is_optional in zip(candidates, are_optional, strict=True)
    ]
    resolved.present_in_alternative = are_absent[0] and not all(are_absent)
    resolved.is_optional = any(are_absent + are_optional) and not all(are_absent)
    return resolved


def _resolve_alternative(
    node: LabelledNode | None, alternative: Alternative, is_partial: bool
) -> list[Alternative]:
    """Return the candidates that an alternative stands for: itself, or its own alternatives.

    The result is empty if no value in the alternative is labelled.
    """
    value, gold = label_value(node, alternative.value, alternative.gold, is_partial)
    if alternative.gold is None or not alternative.gold.alternatives:
        is_labelled = gold is None or gold.labelled
        return [alternative._replace(value=value, gold=gold)] if is_labelled else []
    candidates = () if gold is None else gold.alternatives
    return [
        candidate._replace(
            metadata={**alternative.metadata, **candidate.metadata},
            location=(*alternative.location, *candidate.location),
        )
        for candidate in candidates
    ]


def _may_be_absent(value: JsonValue, gold: Gold | None) -> bool:
    """Return whether a prediction can lack a child without an error.

    It can do so if the child is absent, optional or not labelled. If the child has alternatives, it
    is enough if one of them is absent, optional or not labelled.
    """
    if gold is None:
        return is_absent(value)
    if gold.alternatives:
        return any(
            _may_be_absent(alternative.value, alternative.gold) for alternative in gold.alternatives
        )
    return gold.is_optional or not gold.labelled or is_absent(value)


def _label_inside(
    node: LabelledNode | None, value: JsonValue, gold: Gold | None, is_partial: bool
) -> tuple[JsonValue, Gold | None]:
    """Apply the annotations (`gold`) of everything inside a value; return value and gold.

    The returned gold is None if it would be empty. Unlabelled items of a list are dropped, unless
    the list is compared by position. All other unlabelled values are kept, but the comparison skips
    them.
    """
    if not isinstance(value, dict | list) or (gold is None and not is_partial):
        return value, gold
    node = node.node_for(value) if node is not None else None
    labelled = Gold()
    labelled.exhaustive = gold is None or gold.exhaustive
    children: dict[Step, JsonValue] = {}
    for step, child in _compared_children(node, value):
        child_node = node and node.child_node(step)
        children[step], child_gold = label_value(
            child_node, child, child_gold_of(gold, step), is_partial
        )
        if child_gold is not None:
            labelled.children[step] = child_gold
    unlabelled = [step for step, child_gold in labelled.children.items() if not child_gold.labelled]
    if isinstance(value, dict) and is_partial and node is not None:
        names = (name for name, _ in node.list_fields() if name != ANY_KEY)
        missing = [name for name in names if name not in value]
        labelled.children |= dict.fromkeys(missing, UNLABELLED)
    truth: Any = [*children.values()] if isinstance(value, list) else {**value, **children}
    has_unlabelled = any(not child_gold.labelled for child_gold in labelled.children.values())
    if len(unlabelled) == len(children) and has_unlabelled:  # nothing inside is labelled
        return truth, UNLABELLED

    by_place = isinstance(value, dict) or (node is not None and node.positional)
    labelled.n_unlabelled_items = len(unlabelled) if isinstance(value, list) else 0
    if unlabelled and not by_place:
        labelled.exhaustive = False
        for step in unlabelled:
            del labelled.children[step]
    labelled.has_unlabelled = by_place and any(
        child.has_unlabelled for child in labelled.children.values()
    )
    counts_as_absent = is_absent(truth) or (
        isinstance(truth, list) and node is not None and node.counts_as_absent(truth)
    )
    labelled.present_in_alternative = counts_as_absent and any(
        child.present_in_alternative for child in labelled.children.values()
    )
    has_optional_child = any(child.is_optional for child in labelled.children.values())
    labelled.is_optional = has_optional_child and all(
        _may_be_absent(child, labelled.children.get(step))
        or (node is not None and node.ignores_inside(step, child))
        for step, child in children.items()
    )
    has_content = labelled.children or labelled.n_unlabelled_items or not labelled.exhaustive
    return truth, labelled if has_content else None


def _compared_children(
    node: LabelledNode | None, value: dict[str, JsonValue] | list[JsonValue]
) -> Iterable[tuple[Step, JsonValue]]:
    """Return the fields or items of a value, without ignored fields."""
    if isinstance(value, list):
        return enumerate(value)
    if node is None:
        return value.items()
    return ((name, child) for name, child in value.items() if not node.ignores(name))


# --- absent values, and the choice of alternatives ------------------------------------------------


def absent_slots(rule: AbsenceRule, columns: Columns) -> tuple[Mask, Mask]:
    """Return, for each side, a mask of the values that are absent or count as absent."""

    def find_absent() -> tuple[Mask, Mask]:
        gt, pred = (kinds == ABSENT for kinds in columns.kinds)
        if columns.work.has_ignored_values:
            gt, pred = (
                is_absent_slot | np.array([*map(rule.counts_as_absent, values), True])
                for is_absent_slot, values in ((gt, columns.gt), (pred, columns.pred))
            )
        if columns.gold is not None:  # an alternative may be present
            gt = gt & ~columns.gold.may_be_present
        return gt, pred

    return columns.cached((id(rule), "absent"), find_absent)


def drop_counted_as_absent(
    rule: AbsenceRule, columns: Columns, gt: Indexes, pred: Indexes
) -> tuple[Indexes, Indexes]:
    """Replace the column positions of absent values by `NOTHING` (-1).

    This includes values that `rule` counts as absent.
    """
    no_gt, no_pred = absent_slots(rule, columns)
    return np.where(no_gt[gt], NOTHING, gt), np.where(no_pred[pred], NOTHING, pred)


def present_pairs(
    rule: AbsenceRule, columns: Columns, gt: Indexes, pred: Indexes
) -> tuple[Indexes, Indexes]:
    """Replace the column positions of absent values by `NOTHING` (-1).

    Values that `rule` counts as absent are replaced, too. If a prediction is absent, its ground
    truth is also replaced where `GoldColumn.absent_without_prediction` is true.

    If a value is predicted, an absent ground truth keeps its position where `gold_decides` is true.
    For example, an empty open list is needed to judge predicted items.
    """
    present_gt, present_pred = columns.drop_absent(gt, pred)
    if columns.work.has_ignored_values and not rule.sees_absent_values:
        present_gt, present_pred = drop_counted_as_absent(rule, columns, present_gt, present_pred)
    if columns.gold is not None:
        may_be_absent = columns.gold.absent_without_prediction(gt, pred >= 0) & (present_pred < 0)
        present_gt = np.where(may_be_absent, NOTHING, present_gt)
        if rule.labels_inside:
            is_kept = gold_decides(rule, columns, columns.gold, gt, present_pred)
            present_gt = np.where((present_pred >= 0) & is_kept, gt, present_gt)
    return present_gt, present_pred


def gold_decides(
    rule: AbsenceRule, columns: Columns, gold: GoldColumn, gt: Indexes, pred: Indexes
) -> Mask:
    """Return a mask of pairs in which the ground truth is needed even if it is absent.

    For example, a predicted item is not wrong if the ground truth is an empty open list. The mask
    is true for two kinds of pairs:

    - The ground truth is an open list.
    - The ground truth has unlabelled descendants, and the prediction is an object.
    """
    _, pred_kinds = columns.kinds
    decides: Mask = gold.has_unlabelled[gt] & (pred_kinds[pred] == OBJECT)
    if rule.lists_inside:
        decides |= gold.is_open[gt]
    return decides


def first_absent_alternatives(rule: AbsenceRule, columns: Columns) -> Indexes:
    """Return the column position of each ground truth's first alternative that may be absent.

    An alternative may be absent if it is absent itself, or if everything in it may be absent. If a
    ground truth has no alternatives, but everything in it may be absent, the result is its own
    position. It is `NOTHING` (-1) for all other ground truths.
    """
    gold = columns.gold
    if gold is None:
        return np.full(len(columns.gt) + 1, NOTHING)

    def find_first() -> Indexes:
        first = gold.first_selected_alternatives(absent_slots(rule, columns)[0] | gold.is_optional)
        (without_alternatives,) = (gold.is_optional & (first == NOTHING)).nonzero()
        first[without_alternatives] = without_alternatives
        return first

    return columns.cached((id(rule), "optional"), find_first)


def choose_alternatives(
    rule: AbsenceRule, columns: Columns, gt: Indexes, pred: Indexes, score: CandidateScores
) -> Indexes:
    """Choose the most similar candidate of each ground truth; return its column position.

    Ties go to the first candidate.

    If nothing is predicted, choose the first candidate for which an absent prediction is right. If
    there is none, choose the first candidate.

    A candidate is not chosen by similarity if no predicted value can be compared with it. This can
    happen if the candidate has an open list. If it happens for all candidates, choose as if nothing
    were predicted.
    """
    gold = columns.gold
    if gold is None or not gold.n_alternatives[gt].any():
        return gt
    n_candidates, first_slot = gold.n_alternatives[gt], gold.first_alternative[gt]
    chosen = gt.copy()
    (pairs,) = n_candidates.nonzero()
    absent_slot = first_absent_alternatives(rule, columns)[gt[pairs]]
    chosen[pairs] = np.where(absent_slot == NOTHING, first_slot[pairs], absent_slot)

    # Compare the candidates of pairs that have a prediction, one candidate of each pair at a time.
    _, pred_is_absent = absent_slots(rule, columns)
    pairs = pairs[~pred_is_absent[pred[pairs]]]
    greatest = np.full(len(gt), EXCLUDED)
    for number in range(int(n_candidates.max())):
        can_improve = greatest[pairs] < 1 - EQUAL_SCORES_WITHIN
        pairs = pairs[(number < n_candidates[pairs]) & can_improve]
        if not len(pairs):
            break
        slots = first_slot[pairs] + number
        similarity = score(pairs, slots, pred[pairs])
        is_better = similarity > greatest[pairs] + EQUAL_SCORES_WITHIN
        greatest[pairs[is_better]] = similarity[is_better]
        chosen[pairs[is_better]] = slots[is_better]
    return chosen


def drop_unlabelled_predictions(
    rule: AbsenceRule, columns: Columns, gold: GoldColumn, gt: Indexes, pred: Indexes
) -> tuple[Indexes, Indexes]:
    """Drop predictions in which all present values belong to unlabelled true values.

    For example, if only the key `a` of a ground truth is unlabelled, the prediction `{"a": 1}` is
    dropped, but the prediction `{"a": 1, "b": 2}` is not.

    Return the column positions of the ground truths and of the predictions. The position of a
    dropped prediction becomes `NOTHING` (-1). If everything in the ground truth of a dropped
    prediction is optional, the position of this ground truth becomes `NOTHING` as well.
    """
    has_unlabelled = gold.has_unlabelled[gt]
    if not has_unlabelled.any():
        return gt, pred
    gt, pred = gt.copy(), pred.copy()
    for pair in np.flatnonzero(has_unlabelled & (pred >= 0)).tolist():
        value = drop_unlabelled(columns.pred[pred[pair]], gold.by_slot[gt[pair]])
        if is_absent(value) or rule.counts_as_absent(value):
            pred[pair] = NOTHING
            gt[pair] = NOTHING if gold.all_optional[gt[pair]] else gt[pair]
    return gt, pred
