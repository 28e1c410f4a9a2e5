"""Objects: each field has a node of its own, and their weighted mean is the score of the object.

An object is called a *map* if the schema does not name all of its keys.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.core.json_values import JsonValue, child_gold_of, is_absent
from stickler_cli.core.locations import ANY_KEY, Step
from stickler_cli.core.problems import ComparisonError
from .columns import (
    ABSENT,
    NOTHING,
    OBJECT,
    Columns,
    Floats,
    Indexes,
    Items,
    Mask,
    align_items,
    group_positions,
)
from .gold import EXCLUDED, absent_slots
from .leaf import LeafBlock, LeafNode, group_leaves
from .object_fields import (
    Field,
    FieldScores,
    FieldSegment,
    KeyScores,
    average_fields,
    find_annotation,
    find_included,
    find_unfounded,
    include_by_annotation,
    list_families,
)
from .one_of import OneOfNode
from .pair_scores import (
    PairScores,
    classify,
    classify_present,
    clip_scores,
    fill_rows,
    has_both_sides,
)
from .plan import Mode, Node, Options, Recording, Scoring
from .result import DEFAULT_MATCH_THRESHOLD, NOT_EVALUATED, ThresholdSource
from .units import OBJECT as OBJECT_UNIT
from .units import Placement, UnitBatch, notes_by_row, select_values
from .work import DECLARED_STEPS, UNDECLARED_STEPS

MAX_COMPARED_KEYS: Final = 1 << 16
"""Maximum number of map keys that are scored at once. Each key takes some 500 bytes until its
scores are added up. A map key is a key that the schema does not name."""

_OBJECTS: Final = frozenset((dict, type(None)))

CompareSegment = Callable[["FieldSegment", Columns], PairScores]
CompareKeys = Callable[["MapKeys", Indexes, Node], PairScores]


class MapKeys(NamedTuple):
    """The map keys of pairs of objects. Every array has one entry per key.

    Keys are sorted by pair, and then in the order of the documents. Only keys of a family are
    included. A family is all map keys that one rule of the schema describes.
    """

    values: Columns
    names: list[str]
    """The names of all keys; the index of a name is the code of the key."""
    gt: Indexes
    pred: Indexes
    """The position of the predicted value in its column; `NOTHING` (-1) if the prediction lacks the
    key."""
    owner: Indexes
    """For each key, the index of the pair of objects that it belongs to."""
    codes: Indexes
    """For each key, the position of its name in `names`."""
    order: Indexes
    """The position of each key among the map keys of its pair of objects."""
    family: Indexes
    """For each key, the position of its family in the node's `families`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(Node):
    """The node of an object. If it has families of keys, the object is a map."""

    fields: tuple[Field, ...] = ()
    """The fields that the schema names, and that are compared."""
    families: tuple[Field, ...] = ()
    """Families of keys. There is one for each rule of the schema that describes keys without naming
    them. A key that `fields` does not name belongs to the first family that takes it."""
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """Similarity at which two objects match as list items, in [0, 1]."""
    model_name: str = ""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    ignored: tuple[Field, ...] = ()
    """The fields that are never compared."""
    field_by_name: Mapping[str, Field] = field(init=False, compare=False, repr=False)
    """Maps the name of each field to the field, including ignored fields."""
    declared_names: frozenset[str] = field(init=False, compare=False, repr=False)
    """The names of all fields, including ignored fields."""
    in_order: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The names of the compared fields, in the order of `fields`."""
    included: tuple[bool | Mask, ...] | None = field(init=False, compare=False, repr=False)
    """For each field, whether it counts in the `aggregate` of the object. None if that depends on
    the values."""
    not_pairing: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """Positions of the fields that are left out when list items are paired."""
    segments: tuple[FieldSegment, ...] = field(init=False, compare=False, repr=False)
    """All compared fields, grouped into segments. A segment is a block of leaves, or one field of
    another kind. Each segment is compared in one call."""
    labels_inside = True

    def __post_init__(self) -> None:
        """Compute what all comparisons need to know about the fields."""
        # Reverse the order, so that of several fields of one name the first is kept.
        declared = {entry.name: entry for entry in reversed((*self.fields, *self.ignored))}
        object.__setattr__(self, "field_by_name", declared)
        object.__setattr__(self, "declared_names", frozenset(declared))
        object.__setattr__(self, "in_order", tuple(entry.name for entry in self.fields))

        not_pairing = [
            position for position, entry in enumerate(self.fields) if not entry.pairs_items
        ]
        object.__setattr__(self, "not_pairing", tuple(not_pairing))

        has_unions = any(isinstance(entry.node, OneOfNode) for entry in self.fields)
        included = include_by_annotation([entry.aggregate for entry in self.fields])
        # For a union, it depends on the arm that compares a pair.
        object.__setattr__(self, "included", None if has_unions else tuple(included))

        leaves = [
            (position, entry.name, entry.node)
            for position, entry in enumerate(self.fields)
            if isinstance(entry.node, LeafNode)
        ]
        not_leaves = {*range(len(self.fields))}.difference(position for position, _, _ in leaves)
        segments: list[FieldSegment] = [*not_leaves, *group_leaves(leaves)]
        object.__setattr__(self, "segments", tuple(sorted(segments, key=_first_position)))

    @property
    def item_threshold(self) -> float:
        """The similarity at which two objects match as list items."""
        return self.match_threshold

    @property
    def columnar(self) -> bool:
        """Whether comparing many pairs at once is much cheaper than one call for each pair."""
        return not self.families and all(entry.node.columnar for entry in self.fields)

    @property
    def nested(self) -> bool:
        """Whether comparing two values may require pairing the items of lists inside them."""
        return bool(self.families) or any(entry.node.nested for entry in self.fields)

    def list_fields(self) -> Iterator[tuple[str, Node]]:
        """Yield the name and the node of each field.

        The name `ANY_KEY` stands for all keys that the schema does not name.
        """
        yield from ((entry.name, entry.node) for entry in self.fields)
        yield from ((ANY_KEY, family.node) for family in self.families if not family.ignored)

    def _find_family(self, name: str) -> int:
        """Return the index in `families` of a key's family; `NOTHING` (-1) if it has none."""
        if name in self.declared_names:
            return NOTHING
        return next(list_families(self.families, name), NOTHING)

    def _find_compared_family(self, name: str) -> int:
        """Return the index in `families` of a key's family.

        Return `NOTHING` (-1) if the key belongs to no family, or to an ignored one.
        """
        position = self._find_family(name)
        return NOTHING if position == NOTHING or self.families[position].ignored else position

    def field_of(self, name: str) -> Field | None:
        """Return the field with the name of a key, or else the family that the key belongs to.

        Return None for an undeclared key, which belongs to neither.
        """
        position = self._find_family(name)
        return self.field_by_name.get(name) if position == NOTHING else self.families[position]

    def ignores(self, name: str) -> bool:
        """Return whether the values of a key are never compared."""
        declared = self.field_of(name)
        return declared is not None and declared.ignored

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether a value is an object in which all values are absent or ignored."""
        return isinstance(value, dict) and self.has_only_ignored(value)

    def has_only_ignored(self, value: dict[str, JsonValue]) -> bool:
        """Return whether all values of an object are absent or ignored."""
        return all(
            is_absent(child) or self.ignores(name) or self.ignores_inside(name, child)
            for name, child in value.items()
        )

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return a mask for each side, which marks the values that are objects.

        An absent ground truth is also marked. Return None if all present values are objects.
        """
        if columns.types <= _OBJECTS:
            return None
        gt_kinds, pred_kinds = columns.kinds
        return (gt_kinds == OBJECT) | (gt_kinds == ABSENT), pred_kinds == OBJECT

    def child_node(self, step: Step) -> Node | None:
        """Return the node of a field; None for an undeclared or ignored field."""
        name = str(step)
        # A list index must not select a property with a numeric name.
        is_key = step == name or name not in self.declared_names
        declared = self.field_of(name) if is_key else None
        return None if declared is None or declared.ignored else declared.node

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return where `match_threshold` comes from, for example from an annotation.

        The result is the same for all list items, whatever `element` is.
        """
        return self.match_source

    @property
    def bound_mode(self) -> Mode | None:
        """The scoring mode for upper bounds of similarities; None if bounds would not save work.

        In this mode, lists or other values that are expensive to compare count as a full match.
        """
        if self.families:
            return None
        is_nested = [entry.node.nested for entry in self.fields]
        is_cheap = [entry.node.columnar for entry in self.fields]
        if any(is_nested):
            return None if all(is_nested) else Mode.LISTS_MATCH
        return Mode.LISTS_AND_TEXTS_MATCH if any(is_cheap) and not all(is_cheap) else None

    def upper_bound(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Floats | None:
        """Return an upper bound of the similarity of each pair; None if bounds cost too much."""
        mode = self.bound_mode
        if mode is None:
            return None
        scores = self.similarity(columns, gt, pred, options, mode)
        if columns.gold is None:
            return scores.similarity
        return np.where(scores.is_empty, EXCLUDED, scores.similarity)

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of objects by the weighted mean of their fields."""
        if self.families and len(gt) > 1:
            blocks = _split_by_keys(columns, gt, pred)
            if len(blocks) > 1:
                return self._join_scores(
                    columns,
                    [
                        self.score_declared(columns, gt[block], pred[block], options, mode)
                        for block in blocks
                    ],
                )
        task = Scoring(options, max(mode, Mode.FINAL))
        (compared,) = ((gt & pred) >= 0).nonzero()  # at least one side is present
        compared_gt, compared_pred = gt, pred
        if len(compared) < len(gt):
            compared_gt, compared_pred = gt[compared], pred[compared]

        def score_segment(segment: FieldSegment, columns: Columns) -> PairScores:
            node = segment if isinstance(segment, LeafBlock) else self.fields[segment].node
            return node.similarity(columns, compared_gt, compared_pred, options, task.mode)

        def score_keys(keys: MapKeys, selected: Indexes, node: Node) -> PairScores:
            return node.compare_pairs(keys.values, keys.gt[selected], keys.pred[selected], task)

        field_scores: list[FieldScores] = []
        key_scores: list[KeyScores] = []
        if len(compared):
            field_scores = self._compare_fields(columns, score_segment)
            key_scores = self._compare_keys(columns, compared_gt, compared_pred, task, score_keys)
        is_pairing = mode >= Mode.PAIRING
        similarity, _ = average_fields(
            len(self.fields),
            field_scores,
            key_scores,
            len(compared),
            self.not_pairing if is_pairing else (),
        )
        is_unfounded: Mask | bool = False
        if is_pairing:
            is_unfounded = find_unfounded(columns, gt, compared, field_scores, key_scores)
        if columns.gold is not None and mode is not Mode.DOCUMENTS:
            gt = np.where(absent_slots(self, columns)[0][gt], NOTHING, gt)
        similarity, _ = _spread_figures(similarity, similarity, compared, len(gt))
        similarity, _, outcome = classify(similarity, similarity, self.threshold, gt, pred)
        scores = PairScores(self, columns, gt=gt, pred=pred, outcome=outcome, similarity=similarity)
        scores.is_unfounded = is_unfounded
        return scores

    def _join_scores(self, columns: Columns, parts: Sequence[PairScores]) -> PairScores:
        """Join the scores of consecutive blocks of pairs."""
        scores = PairScores(
            self,
            columns,
            gt=np.concatenate([part.gt for part in parts]),
            pred=np.concatenate([part.pred for part in parts]),
            outcome=np.concatenate([part.outcome for part in parts]),
            similarity=np.concatenate([part.similarity for part in parts]),
        )
        scores.is_unfounded = np.concatenate(
            [np.broadcast_to(part.is_unfounded, len(part.gt)) for part in parts]
        )
        return scores

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score and record pairs of objects and their fields.

        Pairs of documents are compared field by field, even if one of the two documents is empty.
        """
        table, placement = recording.table, recording.placement
        gold_gt = gt  # an absent alternative has gold, too
        if columns.gold is not None and not placement.is_whole:
            gt = np.where(absent_slots(self, columns)[0][gt], NOTHING, gt)
        batch = table.add(OBJECT_UNIT, self, columns, placement)
        (compared,) = ((gt & pred) >= 0).nonzero()  # at least one side is present
        field_scores: list[FieldScores] = []
        key_scores: list[KeyScores] = []
        if len(compared):
            field_scores, key_scores = self._record_fields(
                columns, gold_gt, pred, recording, batch, compared
            )
        similarity, score = average_fields(
            len(self.fields), field_scores, key_scores, len(compared)
        )
        similarity, score = _spread_figures(similarity, score, compared, len(gt))
        similarity, score, outcome = classify(similarity, score, self.threshold, gt, pred)
        scores = PairScores(
            self,
            columns,
            gt=gt,
            pred=pred,
            outcome=outcome,
            similarity=similarity,
            score=score,
        )
        if self.clip and not placement.is_whole:
            _clip_objects(scores, self.match_threshold)
        fill_rows(table, batch, scores, placement)
        if placement.is_document:
            batch.outcome = np.full(batch.size, NOT_EVALUATED, np.int8)
        undeclared = self._find_undeclared_keys(columns, gt, "gt")
        if undeclared:
            table.undeclared_keys.update(notes_by_row(undeclared, batch))
        if recording.options.extra_fields == "fa":
            extra_keys = self._find_extra_keys(columns, gold_gt, pred)
            table.extra_keys.update(notes_by_row(extra_keys, batch))
        return scores

    def _record_fields(  # noqa: PLR0913, PLR0917 - pairs of objects, and their rows
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        recording: Recording,
        batch: UnitBatch,
        positions: Indexes,
    ) -> tuple[list[FieldScores], list[KeyScores]]:
        """Record the fields of some pairs of objects, and return the scores of these fields.

        `positions` selects the pairs: they are positions in `gt`, in `pred` and in `batch`. The
        result is a pair: the scores of the declared fields, and the scores of the map keys.
        """
        document, field = batch.document, batch.field
        if len(positions) < len(gt):
            gt, pred, document = gt[positions], pred[positions], document[positions]
            field = select_values(field, positions)
        children = Placement(container=batch, positions=positions, document=document, field=field)
        field_index = recording.table.fields
        columns.work.charge(DECLARED_STEPS * field_index.count_new(children.field, self.in_order))
        field_numbers: Indexes = field_index.declared_of_each(children.field, self.in_order)

        def record_segment(segment: FieldSegment, columns: Columns) -> PairScores:
            """Record one segment of the fields: a block of leaves, or a single field."""
            if isinstance(segment, LeafBlock):
                return segment.record(
                    columns, gt, pred, recording.with_placement(children), field_numbers
                )
            numbers = field_numbers[segment]
            placement = Placement(
                container=batch,
                positions=positions,
                document=document,
                field=int(numbers[0]) if len(numbers) == 1 else numbers,
                order=segment,
            )
            node = self.fields[segment].node
            return node.record(columns, gt, pred, recording.with_placement(placement))

        def record_keys(keys: MapKeys, selected: Indexes, node: Node) -> PairScores:
            """Record the selected map keys as fields that come after the declared fields."""
            owner = keys.owner[selected]
            parent_fields = select_values(children.field, owner)
            placement = Placement(
                container=batch,
                positions=positions[owner],
                document=children.document[owner],
                field=field_index.keys(parent_fields, keys.names, keys.codes[selected]),
                order=len(self.fields) + keys.order[selected],
                is_map_key=True,
            )
            return node.record(
                keys.values,
                keys.gt[selected],
                keys.pred[selected],
                recording.with_placement(placement),
            )

        field_scores = self._compare_fields(columns, record_segment)
        task = Scoring(recording.options, Mode.FINAL)
        key_scores = self._compare_keys(columns, gt, pred, task, record_keys)
        self._record_aggregates(field_scores, key_scores, len(gt))
        return field_scores, key_scores

    def _record_aggregates(
        self, field_scores: list[FieldScores], key_scores: list[KeyScores], size: int
    ) -> None:
        """Record which fields count in the `aggregate` of their object.

        `size` is the number of pairs of objects.
        """
        included: Sequence[bool | Mask]
        included_keys: Sequence[bool | Mask]
        if self.included is not None and not key_scores:
            if all(self.included):
                return  # rows are included from the start
            included, included_keys = self.included, ()
        else:
            included, included_keys = find_included(self.fields, field_scores, key_scores, size)
            if all(flag is True for flag in (*included, *included_keys)):
                return
        for segment, scores in field_scores:
            if isinstance(segment, int):
                _set_aggregate(scores, included[segment])
                continue
            flags = [included[position] for position in segment.positions]
            scores.batch.in_aggregate = np.concatenate(
                [np.broadcast_to(flag, size) for flag in flags]
            )
        for keys, flag in zip(key_scores, included_keys, strict=True):
            _set_aggregate(keys.scores, flag)

    def _compare_keys(
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        task: Scoring,
        compare: CompareKeys,
    ) -> list[KeyScores]:
        """Compare the map keys of pairs of objects, with one call for each family of keys.

        If a ground-truth value has alternatives, its best alternative is compared. The options and
        the mode of `task` are used to find it.
        """
        if not self.families:
            return []
        keys = self._find_keys(columns, gt, pred)
        values = keys.values

        def compare_selected(selected: Indexes, node: Node) -> PairScores:
            """Compare the selected keys. If a key fails, the error names it."""
            try:
                return compare(keys, selected, node)
            except ComparisonError as error:
                # Compare the keys one by one to find the key that failed.
                for key in selected.tolist() if len(selected) > 1 else ():
                    compare_selected(np.array([key]), node)
                name = keys.names[int(keys.codes[selected[0]])]
                raise error.below(name) from error.__cause__

        key_scores = []
        for family_index, of_family in group_positions(keys.family):
            family, selected = self.families[family_index], of_family
            if columns.work.has_ignored_values or values.gold is not None:
                no_gt, no_pred = absent_slots(family.node, values)
                has_neither = no_gt[keys.gt[of_family]] & no_pred[keys.pred[of_family]]
                selected = of_family[~has_neither]
            if values.gold is not None:
                key_pred = keys.pred[selected]
                chosen = family.node.choose_alternatives(
                    values, keys.gt[selected], key_pred, task.options, task.mode
                )
                is_missing = (key_pred < 0) & (pred[keys.owner[selected]] >= 0)
                counts_as_absent = values.gold.all_optional[chosen] & is_missing
                keys.gt[selected] = np.where(counts_as_absent, NOTHING, chosen)
            if not len(selected):
                continue
            scores = compare_selected(selected, family.node)
            annotation = find_annotation(family.node, family.aggregate, scores)
            key_scores.append(KeyScores(keys.owner[selected], annotation, scores))
        return key_scores

    def _find_keys(self, columns: Columns, gt: Indexes, pred: Indexes) -> MapKeys:
        """Find the map keys of pairs of objects. Only keys of compared families are included."""
        gt_entries, pred_entries, values, names = columns.entries
        family_of_code = columns.cached(
            (id(self), "family"),
            lambda: np.array([*map(self._find_compared_family, names)], np.intp),
        )

        def select_keys(entries: Items) -> Items:
            """Return the entries whose keys belong to a compared family."""
            codes = entries.indexes
            (selected,) = (family_of_code[codes] != NOTHING).nonzero()
            return entries.select(selected)

        gt_keys = select_keys(gt_entries.select(gt))
        pred_keys = select_keys(pred_entries.select(pred))
        keys = align_items(gt_keys, pred_keys, max(len(names), 1))
        # Sort by order in the ground truth, then in the prediction. Codes of names depend on the
        # chunk; this order does not, so that sums of floats are the same in every chunk.
        document_order = np.where(keys.gt < 0, len(values.gt) + keys.pred, keys.gt)
        keys = keys.select(np.lexsort((document_order, keys.owner)))
        first_key_of_owner = keys.owner.searchsorted(keys.owner)
        return MapKeys(
            values=values,
            names=names,
            gt=keys.gt,
            pred=keys.pred,
            owner=keys.owner,
            codes=keys.indexes,
            order=np.arange(len(keys.owner)) - first_key_of_owner,
            family=family_of_code[keys.indexes],
        )

    def _compare_fields(self, columns: Columns, compare: CompareSegment) -> list[FieldScores]:
        """Compare all fields; if several fail, raise the error of the first in schema order."""
        field_scores: list[FieldScores] = []
        failures: dict[int, ComparisonError] = {}
        for segment, segment_columns in self._list_segments(columns):
            if failures and _first_position(segment) >= min(failures):
                continue
            try:
                scores = compare(segment, segment_columns)
            except ComparisonError as error:
                is_named = isinstance(segment, LeafBlock)  # the error already names the leaf
                named = error if is_named else error.below(self.in_order[_first_position(segment)])
                named.__cause__ = error.__cause__
                failures[self.in_order.index(str(named.path[0]))] = named
                continue
            field_scores.append(FieldScores(segment, scores))
        if failures:
            raise failures[min(failures)]
        return field_scores

    def _list_segments(self, columns: Columns) -> Iterator[tuple[FieldSegment, Columns]]:
        """Yield each segment of the fields, together with its columns.

        A segment is a block of leaves, or a single field. If some values of a block are not plain
        scalars, each field of the block is yielded as a segment of its own.
        """
        for segment in self.segments:
            if isinstance(segment, LeafBlock):
                block_columns = columns.fields(segment.names)
                if block_columns.is_plain:
                    yield segment, block_columns
                    continue
            positions = [segment] if isinstance(segment, int) else segment.positions
            for position in positions:
                yield position, columns.fields((self.in_order[position],))

    def _find_undeclared_keys(
        self, columns: Columns, slots: Indexes, side: str
    ) -> dict[int, tuple[str, ...]]:
        """Return a dict from the index of an object in `slots` to the object's undeclared keys.

        `slots` are the column positions of the objects. Undeclared keys without a value are
        omitted, and so are objects without undeclared keys. `side` is "gt" or "pred".
        """
        declared = self.declared_names

        def find_by_slot() -> dict[int, tuple[str, ...]]:
            """Return a dict from the column position of an object to its undeclared keys."""
            values = getattr(columns, side)
            gt_objects, pred_objects = columns.object_slots
            object_slots = gt_objects if side == "gt" else pred_objects
            if declared.issuperset(chain.from_iterable(values[slot] for slot in object_slots)):
                return {}
            undeclared = {
                slot: tuple(
                    name
                    for name, child in values[slot].items()
                    if name not in declared and self.field_of(name) is None and not is_absent(child)
                )
                for slot in object_slots
                if not values[slot].keys() <= declared
            }
            columns.work.charge(UNDECLARED_STEPS * sum(map(len, undeclared.values())))
            return {slot: names for slot, names in undeclared.items() if names}

        names_by_slot = columns.cached((id(self), side), find_by_slot)
        if not names_by_slot:
            return {}
        return {
            position: names_by_slot[slot]
            for position, slot in enumerate(slots.tolist())
            if slot in names_by_slot
        }

    def _find_extra_keys(
        self, columns: Columns, gt: Indexes, pred: Indexes
    ) -> dict[int, tuple[str, ...]]:
        """Return the keys of each pair that only the prediction has, keyed by the pair's index.

        Omit keys that the schema declares, and keys whose ground truth is not labelled.
        """
        extra_keys: dict[int, tuple[str, ...]] = {}
        for position, names in self._find_undeclared_keys(columns, pred, "pred").items():
            slot = int(gt[position])
            truth = columns.gt[slot] if slot >= 0 else None
            true_values = truth if isinstance(truth, dict) else {}
            gold = columns.gold.by_slot[slot] if columns.gold is not None and slot >= 0 else None
            extra_names = []
            for name in names:
                child = child_gold_of(gold, name)
                gold_decides_itself = child is not None and child.decides_when_absent()
                if is_absent(true_values.get(name)) and not gold_decides_itself:
                    extra_names.append(name)
            extra_keys[position] = tuple(extra_names)
        return {position: names for position, names in extra_keys.items() if names}


def _first_position(segment: FieldSegment) -> int:
    """Return the position of a field, or of the first field in a block of leaves."""
    return segment if isinstance(segment, int) else segment.positions[0]


def _clip_objects(scores: PairScores, match_threshold: float) -> None:
    """Set the scores of objects to 0 if the objects do not match.

    Also set `item_score`, the score of each object as a list item. If the similarity of an object
    is below `match_threshold`, its `item_score` is 0.
    """
    score, outcome = scores.score, scores.outcome
    item_outcome = np.where(
        has_both_sides(outcome), classify_present(scores.similarity, match_threshold), outcome
    )
    scores.score = clip_scores(score, outcome, clip=True)
    scores.item_score = clip_scores(score, item_outcome, clip=True)


def _spread_figures(
    similarity: Floats, score: Floats, positions: Indexes, size: int
) -> tuple[Floats, Floats]:
    """Return (similarity, score) of all `size` pairs.

    The arguments `similarity` and `score` have the figures of the pairs at `positions`. All other
    pairs get 1.0.
    """
    if len(positions) == size:
        return similarity, score
    similarities = np.ones(size)
    similarities[positions] = similarity
    if score is similarity:
        return similarities, similarities
    scores = np.ones(size)
    scores[positions] = score
    return similarities, scores


def _set_aggregate(scores: PairScores, is_included: bool | Mask) -> None:
    """Record whether fields count in the `aggregate` of their objects."""
    for positions, group in scores.by_node():
        group.batch.in_aggregate = select_values(is_included, positions)


def _split_by_keys(columns: Columns, gt: Indexes, pred: Indexes) -> list[Indexes]:
    """Split pairs of objects into blocks. Each has few enough keys to be scored at once."""
    gt_layout, pred_layout, *_ = columns.entries
    n_keys = gt_layout.lengths[gt] + pred_layout.lengths[pred]
    block = n_keys.cumsum() // MAX_COMPARED_KEYS
    return np.split(np.arange(len(gt)), np.diff(block).nonzero()[0] + 1)
