"""Objects: fields, each with a node of its own, scored by their weighted mean.

Some fields may be named only by the documents.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Final, NamedTuple, Protocol

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent, part_of
from stickler_cli.core.locations import ANY_KEY, Step
from stickler_cli.core.problems import ComparisonError
from .columns import (
    ABSENT,
    NOTHING,
    OBJECT,
    Columns,
    Floats,
    Indexes,
    Mask,
    Outcomes,
    aligned,
    groups,
)
from .gold import EXCLUDED, absent_slots
from .leaf import LeafBlock, LeafNode, blocks_of
from .one_of import SAYS, OneOfNode
from .pair_scores import (
    PairScores,
    classify,
    classify_present,
    clip_scores,
    fill_rows,
    has_both_sides,
)
from .plan import Mode, Node, Options
from .result import DEFAULT_MATCH_THRESHOLD, NOT_EVALUATED, TN, ThresholdSource
from .units import OBJECT as OBJECT_UNIT
from .units import Placement, UnitBatch, UnitTable, notes_by_row, some_of
from .work import UNDECLARED

_OBJECTS: Final = frozenset((dict, type(None)))


class Searcher(Protocol):
    """Says whether a key belongs to a family."""

    def search(self, string: str, /) -> object:
        """Return something true if it does."""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object, or a family of those that only documents name, and its node."""

    name: str
    """Empty of a family."""
    node: Node
    aggregate: bool | None = None
    """The property's own say on the object's aggregate; None where it says nothing."""
    ignored: bool = False
    """Whether nobody looks at its values."""
    keys: Searcher | None = None
    """Of a family, which keys are of it; None for all."""
    pairs_items: bool = True
    """Whether it has a say in which list items are pairs."""


class FieldScores(NamedTuple):
    """The scores of a block of leaves, or of one other field."""

    part: LeafBlock | int
    """The block of leaves, or the position of the field in the object."""
    scores: PairScores
    """One entry a pair of objects; of a block, all pairs of one field, then of the next."""


class KeyScores(NamedTuple):
    """The scores of keys of maps that only the documents name, all under one node."""

    owner: Indexes
    """Which pair of objects each key is in."""
    aggregate: "bool | Outcomes | None"
    """What the keys themselves say of the aggregate, None for nothing; or `SAYS` of each."""
    scores: PairScores


ComparePart = Callable[["LeafBlock | int", Columns], PairScores]
CompareKeys = Callable[["MapKeys", Indexes, Node], PairScores]


class MapKeys(NamedTuple):
    """Keys of pairs of maps that belong to a family, by map and as documents have them."""

    values: Columns
    names: list[str]
    """The names of all keys, by code."""
    gt: Indexes
    pred: Indexes
    """The slots of the values of each key; `NOTHING` where one map has no such key."""
    owner: Indexes
    """Which pair of maps each key is in."""
    code: Indexes
    """The code of the name of each key."""
    order: Indexes
    """The position of each key among those of its map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(Node):
    """An object; with families of fields it is a map."""

    fields: tuple[Field, ...] = ()
    """Those that the schema names."""
    families: tuple[Field, ...] = ()
    """Of every other key that has a value on either side; the first that it belongs to counts."""
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two list items are the same one."""
    model_name: str = ""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    ignored: tuple[Field, ...] = ()
    """Those that nobody looks at."""
    own: Mapping[str, Field] = field(init=False, compare=False, repr=False)
    """The fields by their names, those too that nobody looks at."""
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    in_order: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The names of the fields that are compared."""
    included: tuple[bool, ...] | None = field(init=False, compare=False, repr=False)
    """Whether the aggregate includes each of them, where that depends on no value."""
    not_pairing: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """Positions of the fields that have no say in which list items are pairs."""
    together: tuple[LeafBlock | int, ...] = field(init=False, compare=False, repr=False)
    """All fields by what compares them: leaves in blocks, others by their positions."""
    labels_inside = True

    def __post_init__(self) -> None:
        own = {entry.name: entry for entry in reversed((*self.fields, *self.ignored))}
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "names", frozenset(own))
        object.__setattr__(self, "in_order", tuple(entry.name for entry in self.fields))
        not_pairing = [at for at, entry in enumerate(self.fields) if not entry.pairs_items]
        object.__setattr__(self, "not_pairing", (*not_pairing,))
        says = [entry.aggregate for entry in self.fields]
        unions = any(isinstance(entry.node, OneOfNode) for entry in self.fields)
        object.__setattr__(self, "included", None if unions else (*_included(says),))
        parts = [(at, entry.name, entry.node) for at, entry in enumerate(self.fields)]
        leaves = [(at, name, node) for at, name, node in parts if isinstance(node, LeafNode)]
        others = {at for at, _, _ in parts}.difference(at for at, _, _ in leaves)
        together: list[LeafBlock | int] = [*others, *blocks_of(leaves)]
        object.__setattr__(self, "together", (*sorted(together, key=_first),))

    @property
    def item_threshold(self) -> float:
        """The similarity at which two list items of this model are a match."""
        return self.match_threshold

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs costs little beside a call for each."""
        return not self.families and all(entry.node.columnar for entry in self.fields)

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair their elements."""
        return bool(self.families) or any(entry.node.nested for entry in self.fields)

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        yield from ((entry.name, entry.node) for entry in self.fields)
        yield from ((ANY_KEY, it.node) for it in self.families if not it.ignored)

    def _family(self, name: str) -> int:
        """Return the position of the family of a key; `NOTHING` where it has none."""
        each = (at for at, it in enumerate(self.families) if not it.keys or it.keys.search(name))
        return NOTHING if name in self.names else next(each, NOTHING)

    def _seen(self, name: str) -> int:
        """Return the same of a key that is looked at."""
        at = self._family(name)
        return NOTHING if at == NOTHING or self.families[at].ignored else at

    def field_of(self, name: str) -> Field | None:
        """Return the property that a key is, or its family."""
        at = self._family(name)
        return self.own.get(name) if at == NOTHING else self.families[at]

    def ignores(self, name: str) -> bool:
        """Return whether nobody looks at the values of a key."""
        found = self.field_of(name)
        return found is not None and found.ignored

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether a value is an object in which all values are absent or ignored."""
        return isinstance(value, dict) and self.has_only_ignored(value)

    def has_only_ignored(self, value: dict[str, JsonValue]) -> bool:
        """Return whether all values in an object are absent or ignored."""
        return all(
            is_absent(part) or self.ignores(name) or self.ignores_inside(name, part)
            for name, part in value.items()
        )

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return which slots hold objects; None if all values do."""
        if columns.types <= _OBJECTS:
            return None
        gt_kinds, pred_kinds = columns.kinds
        return (gt_kinds == OBJECT) | (gt_kinds == ABSENT), pred_kinds == OBJECT

    def below(self, step: Step) -> Node | None:
        """Return the node of a field; None where it has none. No position is a field's name."""
        name = str(step)
        found = self.field_of(name) if step == name or name not in self.names else None
        return None if found is None or found.ignored else found.node

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return who said the threshold for list items of this model."""
        return self.match_source

    @property
    def bound_mode(self) -> Mode | None:
        """The mode in which similarities are cheap upper bounds; None if there is none."""
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
        """Return what the similarity of each pair does not exceed; None if that costs too much."""
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
        field_mode = max(mode, Mode.FINAL)
        (compared,) = ((gt & pred) >= 0).nonzero()  # at least one side is present
        compared_gt, compared_pred = gt, pred
        if len(compared) < len(gt):
            compared_gt, compared_pred = gt[compared], pred[compared]

        def score_part(part: LeafBlock | int, columns: Columns) -> PairScores:
            node = part if isinstance(part, LeafBlock) else self.fields[part].node
            return node.similarity(columns, compared_gt, compared_pred, options, field_mode)

        def score_keys(keys: MapKeys, selected: Indexes, node: Node) -> PairScores:
            gt, pred = keys.gt[selected], keys.pred[selected]
            return node.similarity(keys.values, gt, pred, options, field_mode)

        fields: list[FieldScores] = []
        key_scores: list[KeyScores] = []
        if len(compared):
            fields = self._compare_fields(columns, score_part)
            key_scores = self._compare_keys(
                columns, compared_gt, compared_pred, options, field_mode, score_keys
            )
        is_pairing = mode >= Mode.PAIRING
        not_pairing = self.not_pairing if is_pairing else ()
        similarity, _ = _means(self, fields, key_scores, len(compared), not_pairing)
        is_unfounded = is_pairing and _find_unfounded(columns, gt, compared, fields, key_scores)
        if columns.gold is not None and mode is not Mode.DOCUMENTS:
            gt = np.where(absent_slots(self, columns)[0][gt], NOTHING, gt)
        if len(compared) < len(gt):
            similarity, _ = _spread(similarity, similarity, compared, len(gt))
        similarity, _, outcome = classify(similarity, similarity, self.threshold, gt, pred)
        scores = PairScores(self, columns, gt, pred, outcome, similarity)
        scores.is_unfounded = is_unfounded
        return scores

    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Record pairs of objects, then their fields; whole documents even where one is empty."""
        gold_gt = gt
        if columns.gold is not None and not place.is_whole:
            gt = np.where(absent_slots(self, columns)[0][gt], NOTHING, gt)
        batch = table.add(OBJECT_UNIT, self, columns, place)
        (compared,) = ((gt & pred) >= 0).nonzero()  # at least one side is present
        fields: list[FieldScores] = []
        key_scores: list[KeyScores] = []
        if len(compared):
            fields, key_scores = self._record_fields(
                columns, gold_gt, pred, options, table, batch, compared
            )
        similarity, score = _means(self, fields, key_scores, len(compared))
        if len(compared) < len(gt):
            similarity, score = _spread(similarity, score, compared, len(gt))
        similarity, score, outcome = classify(similarity, score, self.threshold, gt, pred)
        scores = PairScores(self, columns, gt, pred, outcome, similarity, score)
        if self.clip and not place.is_whole:
            _clip(scores, self.match_threshold)
        fill_rows(table, batch, scores, place)
        if place.is_document:
            batch.outcome = np.full(batch.size, NOT_EVALUATED, np.int8)
        undeclared = _undeclared(self, columns, gt, "gt")
        if undeclared:
            table.undeclared_keys.update(notes_by_row(undeclared, batch))
        if options.extra_fields == "fa" and (extras := _extras(self, columns, gold_gt, pred)):
            table.extra_keys.update(notes_by_row(extras, batch))
        return scores

    def _record_fields(  # noqa: PLR0913, PLR0917 - pairs of objects, and their rows
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        batch: UnitBatch,
        positions: Indexes,
    ) -> tuple[list[FieldScores], list[KeyScores]]:
        """Record the fields of the pairs of objects at `positions` of a batch."""
        document, field = batch.document, batch.field
        if len(positions) < len(gt):
            gt, pred, document = gt[positions], pred[positions], document[positions]
            field = some_of(field, positions)
        objects = Placement(container=batch, positions=positions, document=document, field=field)
        numbers: Indexes = table.fields.declared_of_each(objects.field, self.in_order)

        def record_part(part: LeafBlock | int, columns: Columns) -> PairScores:
            if isinstance(part, LeafBlock):
                return part.record(columns, gt, pred, options, table, objects, numbers)
            of_field = numbers[part]
            place = objects._replace(
                field=int(of_field[0]) if len(of_field) == 1 else of_field, order=part
            )
            return self.fields[part].node.record(columns, gt, pred, options, table, place)

        def record_keys(keys: MapKeys, selected: Indexes, node: Node) -> PairScores:
            owner = keys.owner[selected]
            parent_fields = some_of(objects.field, owner)
            place = Placement(
                container=batch,
                positions=positions[owner],
                document=objects.document[owner],
                field=table.fields.keys(parent_fields, keys.names, keys.code[selected]),
                order=len(self.fields) + keys.order[selected],
                is_map_key=True,
            )
            gt, pred = keys.gt[selected], keys.pred[selected]
            return node.record(keys.values, gt, pred, options, table, place)

        fields = self._compare_fields(columns, record_part)
        key_scores = self._compare_keys(columns, gt, pred, options, Mode.FINAL, record_keys)
        self._record_aggregates(fields, key_scores, len(gt))
        return fields, key_scores

    def _record_aggregates(
        self, fields: Sequence[FieldScores], key_scores: Sequence[KeyScores], size: int
    ) -> None:
        """Record which fields of `size` pairs of objects the aggregates include."""
        if self.included is not None and not key_scores:
            included: Sequence[bool | Mask] = self.included
            included_keys: Sequence[bool | Mask] = ()
        else:
            included, included_keys = find_included(self, fields, key_scores, size)
        if all(flag is True for flag in (*included, *included_keys)):
            return  # as all rows say already
        for entry in fields:
            if isinstance(entry.part, int):
                _set_aggregate(entry.scores, included[entry.part])
                continue
            flags = [included[position] for position in entry.part.positions]
            entry.scores.batch.in_aggregate = np.concatenate(
                [np.broadcast_to(flag, size) for flag in flags]
            )
        for keys, flag in zip(key_scores, included_keys, strict=True):
            _set_aggregate(keys.scores, flag)

    def _compare_keys(  # noqa: PLR0913, PLR0917 - pairs of maps, and how their keys are compared
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        mode: Mode,
        compare: CompareKeys,
    ) -> list[KeyScores]:
        """Score the keys that only the documents name, one call for each family."""
        if not self.families:
            return []
        keys, family = self._keys_of(columns, gt, pred)
        values = keys.values

        def compare_named(selected: Indexes, node: Node) -> PairScores:
            try:
                return compare(keys, selected, node)
            except ComparisonError as error:
                for key in selected.tolist() if len(selected) > 1 else ():  # whose fault it is
                    compare_named(np.array([key]), node)
                name = keys.names[int(keys.code[selected[0]])]
                raise error.below(name) from error.__cause__

        key_scores = []
        for number, of_family in groups(family):
            entry, selected = self.families[number], of_family
            if columns.place.hides or values.gold is not None:
                no_gt, no_pred = absent_slots(entry.node, values)
                has_neither = no_gt[keys.gt[of_family]] & no_pred[keys.pred[of_family]]
                selected = of_family[~has_neither]
            if values.gold is not None:
                key_pred = keys.pred[selected]
                chosen = entry.node.choose_alternatives(
                    values, keys.gt[selected], key_pred, options, mode
                )
                is_missing = (key_pred < 0) & (pred[keys.owner[selected]] >= 0)
                may_lack = values.gold.lacks[chosen]
                keys.gt[selected] = np.where(may_lack & is_missing, NOTHING, chosen)
            if not len(selected):
                continue
            scores = compare_named(selected, entry.node)
            says = find_annotation(entry.node, entry.aggregate, scores)
            key_scores.append(KeyScores(keys.owner[selected], says, scores))
        return key_scores

    def _keys_of(self, columns: Columns, gt: Indexes, pred: Indexes) -> tuple[MapKeys, Indexes]:
        """Return the keys of pairs of maps that belong to a family, and the family of each."""
        gt_entries, pred_entries, values, names = columns.entries
        family = columns.derived(
            (id(self), "family"),
            lambda: np.array([*map(self._seen, names)], np.intp),
        )
        sides: list[tuple[Indexes, Indexes, Indexes]] = []
        for entries, slots in ((gt_entries, gt), (pred_entries, pred)):
            chosen, owner, code = entries.of(slots)
            (selected,) = (family[code] != NOTHING).nonzero()
            sides.append((chosen[selected], owner[selected], code[selected]))
        gt_slots, pred_slots, owner, code = aligned(sides[0], sides[1], len(names) or 1)
        # As the ground truth has them, then the prediction: not by name, whose number is the
        # chunk's, so that sums of floats are the same in every chunk.
        place = np.where(gt_slots < 0, len(values.gt) + pred_slots, gt_slots)
        by_place = np.lexsort((place, owner))
        gt_slots, pred_slots = gt_slots[by_place], pred_slots[by_place]
        owner, code = owner[by_place], code[by_place]
        order = np.arange(len(owner)) - owner.searchsorted(owner)
        keys = MapKeys(
            values=values,
            names=names,
            gt=gt_slots,
            pred=pred_slots,
            owner=owner,
            code=code,
            order=order,
        )
        return keys, family[code]

    def _compare_fields(self, columns: Columns, compare: ComparePart) -> list[FieldScores]:
        """Score all fields; of several that fail, the first is reported."""
        fields: list[FieldScores] = []
        failures: dict[int, ComparisonError] = {}
        for part, part_columns in self._parts(columns):
            if failures and _first(part) >= min(failures):
                continue
            try:
                scores = compare(part, part_columns)
            except ComparisonError as error:
                # A block names the leaf itself.
                named = error if isinstance(part, LeafBlock) else error.below(self.in_order[part])
                named.__cause__ = error.__cause__
                failures[self.in_order.index(str(named.path[0]))] = named
                continue
            fields.append(FieldScores(part, scores))
        if failures:
            raise failures[min(failures)]
        return fields

    def _parts(self, columns: Columns) -> Iterator[tuple[LeafBlock | int, Columns]]:
        """Yield what compares fields, with their columns."""
        for part in self.together:
            block = part if isinstance(part, LeafBlock) else None
            if block is not None and (whole := columns.fields(block.names)).scalar:
                yield block, whole
                continue
            # Else some are of other kinds than the declared one.
            for at in [part] if isinstance(part, int) else part.positions:
                yield at, columns.fields((self.in_order[at],))


def _first(part: LeafBlock | int) -> int:
    return part if isinstance(part, int) else part.positions[0]


def _means(
    node: ObjectNode,
    fields: Sequence[FieldScores],
    key_scores: Sequence[KeyScores],
    size: int,
    not_pairing: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    """Return the weighted mean similarities of the fields that either side has, and mean scores.

    Both are 1.0 where neither side has a field. Fields at the positions `not_pairing` have no
    weight.
    """
    is_clipped = any(entry.scores.score is not entry.scores.similarity for entry in fields) or any(
        keys.scores.score is not keys.scores.similarity for keys in key_scores
    )
    sums = np.zeros((2 + is_clipped, len(node.fields) if fields else 1, size))
    for part, scores in fields:  # rows of weights, similarities, and scores
        positions = part if isinstance(part, int) else part.span
        sums[0, positions] = (scores.outcome < TN).reshape(-1, size) * scores.weight
        sums[1, positions] = scores.similarity.reshape(-1, size)
        if is_clipped:
            sums[2, positions] = scores.score.reshape(-1, size)
    if not_pairing:
        sums[0, list(not_pairing)] = 0.0
    sums[1:] *= sums[0]
    # One after the other: `sum` adds rows of one pair in another order than those of several.
    weight: Floats
    weight, *totals = np.add.accumulate(sums, axis=1)[:, -1]
    for owner, _, scores in key_scores:
        weights = np.broadcast_to(scores.weight, len(owner)) * (scores.outcome < TN)
        weight += np.bincount(owner, weights, size)
        totals[0] += np.bincount(owner, weights * scores.similarity, size)
        if is_clipped:
            totals[1] += np.bincount(owner, weights * scores.score, size)
    is_judged = weight > 0
    similarity, *means = (
        np.divide(total, weight, out=np.ones(size), where=is_judged) for total in totals
    )
    return similarity, means[0] if means else similarity


def _clip(scores: PairScores, match_threshold: float) -> None:
    """Clip the scores of objects by their threshold, and as list items by their match-threshold."""
    score, outcome = scores.score, scores.outcome
    item_outcome = np.where(
        has_both_sides(outcome), classify_present(scores.similarity, match_threshold), outcome
    )
    scores.score = clip_scores(score, outcome, clip=True)
    scores.item_score = clip_scores(score, item_outcome, clip=True)


def _find_unfounded(
    columns: Columns,
    gt: Indexes,
    compared: Indexes,
    fields: Sequence[FieldScores],
    key_scores: Sequence[KeyScores],
) -> Mask | bool:
    """Find pairs of objects without a present field, of which the ground truth may be absent.

    `compared` are the positions of the pairs that were compared by fields.
    """
    if columns.gold is None:
        return False
    size = len(compared)
    has_fields = np.zeros(size, np.bool_)
    for entry in fields:
        has_fields |= (entry.scores.outcome < TN).reshape(-1, size).any(axis=0)
    for keys in key_scores:
        has_fields[keys.owner[keys.scores.outcome < TN]] = True
    unfounded: Mask = columns.gold.lacks[gt]
    unfounded[compared] &= ~has_fields
    return unfounded


def _spread(
    similarity: Floats, score: Floats, positions: Indexes, size: int
) -> tuple[Floats, Floats]:
    """Return figures of some pairs as figures of all, 1.0 for pairs that were not compared."""
    similarities = np.ones(size)
    similarities[positions] = similarity
    if score is similarity:
        return similarities, similarities
    scores = np.ones(size)
    scores[positions] = score
    return similarities, scores


def find_included(
    node: ObjectNode, fields: Sequence[FieldScores], key_scores: Sequence[KeyScores], size: int
) -> tuple[Sequence[bool | Mask], Sequence[bool | Mask]]:
    """Return whether the aggregate of its object includes each field, and each group of keys.

    One `true` among the fields makes them opt in; without one, `false` opts out. A field that is a
    union says what the arm in use says, and a key of a map has a say where it is present.
    """
    says: list[bool | Outcomes | None] = [entry.aggregate for entry in node.fields]
    for entry in fields:
        if isinstance(entry.part, int):
            declared = node.fields[entry.part]
            says[entry.part] = find_annotation(declared.node, declared.aggregate, entry.scores)
    says += [keys.aggregate for keys in key_scores]
    n_fields = len(node.fields)
    included: list[bool | Mask]
    if all(keys.aggregate is not True for keys in key_scores) and not any(
        isinstance(say, np.ndarray) for say in says
    ):
        included = [*_included(says)]
    else:
        owners = [*repeat(np.arange(size), n_fields), *(keys.owner for keys in key_scores)]
        stated = [
            np.broadcast_to(say if isinstance(say, np.ndarray) else SAYS[say], len(owner))
            for say, owner in zip(says, owners, strict=True)
        ]
        opts_in = np.zeros(size, np.bool_)
        for say, owner in zip(stated, owners, strict=True):
            opts_in[owner[say == SAYS[True]]] = True
        included = [
            np.where(opts_in[owner], say == SAYS[True], say != SAYS[False])
            for say, owner in zip(stated, owners, strict=True)
        ]
    return included[:n_fields], included[n_fields:]


def _set_aggregate(scores: PairScores, included: bool | Mask) -> None:
    """Record whether the aggregates include some units."""
    for positions, group in scores.by_node():
        group.batch.in_aggregate = some_of(included, positions)


def _included(says: Sequence[object]) -> Iterator[bool]:
    """Return whether each is included, of which all say True, False or nothing."""
    opt_in = any(say is True for say in says)
    return (say is True if opt_in else say is not False for say in says)


def find_annotation(
    node: Node, aggregate: bool | None, scores: PairScores
) -> bool | Outcomes | None:
    """Return a field's annotation of the aggregate; of a union, that of the arm in use."""
    return node.says(scores) if isinstance(node, OneOfNode) else aggregate


def _undeclared(
    node: ObjectNode, columns: Columns, slots: Indexes, side: str
) -> dict[int, tuple[str, ...]]:
    """Return by position the keys of objects that have a value and no field."""
    declared = node.names

    def find() -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        values = getattr(columns, side)
        objects = (value for value in values if isinstance(value, dict))
        if declared.issuperset(chain.from_iterable(objects)):
            return found
        for slot, value in enumerate(values):
            if isinstance(value, dict) and not value.keys() <= declared:
                found[slot] = tuple(
                    name
                    for name, part in value.items()
                    if name not in declared and node.field_of(name) is None and not is_absent(part)
                )
        columns.place.charge(UNDECLARED * sum(map(len, found.values())))
        return {slot: names for slot, names in found.items() if names}

    known = columns.derived((id(node), side), find)  # once a column
    if not known:
        return {}
    return {position: known[slot] for position, slot in enumerate(slots.tolist()) if slot in known}


def _extras(
    node: ObjectNode, columns: Columns, gt: Indexes, pred: Indexes
) -> dict[int, tuple[str, ...]]:
    """Return by position the undeclared keys that only the prediction has."""
    extras: dict[int, tuple[str, ...]] = {}
    for position, names in _undeclared(node, columns, pred, "pred").items():
        slot = int(gt[position])
        value = columns.gt[slot] if slot >= 0 else None
        there = value if isinstance(value, dict) else {}
        known = columns.gold.of[slot] if columns.gold is not None and slot >= 0 else None
        extras[position] = tuple(
            name
            for name in names
            if is_absent(there.get(name))
            and ((said := part_of(known, name)) is None or not said.counts())
        )
    return {position: names for position, names in extras.items() if names}
