"""Fields of objects, and how the scores of fields make the score of an object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from .columns import Columns, Floats, Indexes, Mask, Outcomes
from .leaf import LeafBlock
from .one_of import ANNOTATION_CODES, OneOfNode
from .pair_scores import PairScores
from .plan import Node
from .result import TN

FieldSegment: TypeAlias = LeafBlock | int
"""Fields that one call compares: a block of leaves, or a single field, given by its position."""


class KeyPattern(Protocol):
    """A pattern of the keys that belong to a family, such as a compiled regular expression."""

    def search(self, string: str, /) -> object:
        """Return a true value if a key belongs to the family."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object, or a family of keys, with the node that compares it.

    A *family* is all keys that one rule of the schema describes, such as `additionalProperties`.
    The schema does not name these keys, but documents do.
    """

    name: str
    """The name of the field; empty for a family of keys."""
    node: Node
    aggregate: bool | None = None
    """The `aggregate` annotation of the field; None if the schema states none."""
    ignored: bool = False
    """Whether the values of the field are never compared."""
    key_pattern: KeyPattern | None = None
    """If this is a family, the pattern of its keys; None if every key belongs to the family."""
    pairs_items: bool = True
    """Whether the similarity of the field counts when list items are paired."""


class FieldScores(NamedTuple):
    """Scores of one segment of an object's fields.

    A segment is either a block of leaves that are compared together, or a single field.
    """

    segment: FieldSegment
    scores: PairScores
    """For a single field, one score for each pair of objects. For a block, the scores of all pairs
    for the first leaf of the block, then the scores of all pairs for the next leaf, and so on."""

    @property
    def positions(self) -> "int | slice | Indexes":
        """The positions of the segment's fields among all fields of the object.

        They can be used to index an array that has an entry for each field.
        """
        return self.segment if isinstance(self.segment, int) else self.segment.span


class KeyScores(NamedTuple):
    """The scores of map keys that are compared by one node."""

    owner: Indexes
    """For each key, the index of the pair of objects that it belongs to."""
    aggregate: "bool | Outcomes | None"
    """The `aggregate` annotation, if all keys have the same one; None if no key has one. If the
    annotations differ, an array with one of `ANNOTATION_CODES` for each key."""
    scores: PairScores


def average_fields(
    n_fields: int,
    field_scores: Sequence[FieldScores],
    key_scores: Sequence[KeyScores],
    size: int,
    not_pairing: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    """Return the weighted mean similarity and mean score of the fields of each pair of objects.

    Some fields do not count: those that are absent on both sides, and those at the positions
    `not_pairing`. Both means are 1.0 for a pair without fields. Shapes: (size,).
    """
    all_scores = [fields.scores for fields in field_scores]
    all_scores += [keys.scores for keys in key_scores]
    is_clipped = any(scores.score is not scores.similarity for scores in all_scores)
    # The rows are weights, similarities and, if any score is clipped, scores.
    figures = np.zeros((2 + is_clipped, n_fields if field_scores else 1, size))
    for fields in field_scores:
        positions, scores = fields.positions, fields.scores
        figures[0, positions] = (scores.outcome < TN).reshape(-1, size) * scores.weight
        figures[1, positions] = scores.similarity.reshape(-1, size)
        if is_clipped:
            figures[2, positions] = scores.score.reshape(-1, size)
    if not_pairing:
        figures[0, list(not_pairing)] = 0.0
    figures[1:] *= figures[0]
    # `sum` would add the rows of one pair in another order than those of several pairs.
    weight: Floats
    weight, *totals = np.add.accumulate(figures, axis=1)[:, -1]
    for owner, _, scores in key_scores:
        weights = np.broadcast_to(scores.weight, len(owner)) * (scores.outcome < TN)
        weight += np.bincount(owner, weights, size)
        totals[0] += np.bincount(owner, weights * scores.similarity, size)
        if is_clipped:
            totals[1] += np.bincount(owner, weights * scores.score, size)
    if np.count_nonzero(weight) == size:
        means = [np.divide(total, weight) for total in totals]
    else:
        has_fields = weight > 0
        means = [np.divide(total, weight, out=np.ones(size), where=has_fields) for total in totals]
    return means[0], means[-1]  # one array if nothing is clipped


def find_unfounded(
    columns: Columns,
    gt: Indexes,
    compared: Indexes,
    field_scores: Sequence[FieldScores],
    key_scores: Sequence[KeyScores],
) -> Mask | bool:
    """Return a mask of the pairs of objects that have nothing to compare.

    In such a pair, all fields are absent on both sides, and annotations allow everything in the
    ground truth to be absent. `compared` are the positions of the pairs whose fields were compared.
    Without annotations, return False in place of a mask.
    """
    if columns.gold is None:
        return False
    size = len(compared)
    has_fields = np.zeros(size, np.bool_)
    for fields in field_scores:
        has_fields |= (fields.scores.outcome < TN).reshape(-1, size).any(axis=0)
    for keys in key_scores:
        has_fields[keys.owner[keys.scores.outcome < TN]] = True
    is_unfounded: Mask = columns.gold.all_optional[gt]
    is_unfounded[compared] &= ~has_fields
    return is_unfounded


def find_included(
    fields: Sequence[Field],
    field_scores: Sequence[FieldScores],
    key_scores: Sequence[KeyScores],
    size: int,
) -> tuple[Sequence[bool | Mask], Sequence[bool | Mask]]:
    """Return whether each field, and each group of keys, counts in the aggregate of its object.

    If any field of an object is annotated `aggregate: true`, only the fields with this annotation
    count. Otherwise all fields count, except fields annotated `aggregate: false`. If a field is a
    union, the annotation is taken from the arm that compares the pair of values. A map key counts
    only in the objects that have the key.

    Return (answers for fields, answers for groups of keys). The answer for a field is True or False
    if it is the same for all pairs of objects, else a mask of the pairs. The answer for an element
    of `key_scores` is True or False if it is the same for all of its keys, else a mask of the keys.
    """
    annotations: list[bool | Outcomes | None] = [field.aggregate for field in fields]
    for segment, scores in field_scores:
        if isinstance(segment, int):
            declared = fields[segment]
            annotations[segment] = find_annotation(declared.node, declared.aggregate, scores)
    annotations += [keys.aggregate for keys in key_scores]
    n_fields = len(fields)
    included: list[bool | Mask]
    if all(keys.aggregate is not True for keys in key_scores) and not any(
        isinstance(annotation, np.ndarray) for annotation in annotations
    ):
        included = include_by_annotation(annotations)
    else:
        # The answer depends on the pair: its arms or its map keys decide.
        owners = [*repeat(np.arange(size), n_fields), *(keys.owner for keys in key_scores)]
        codes = [
            np.broadcast_to(
                annotation if isinstance(annotation, np.ndarray) else ANNOTATION_CODES[annotation],
                len(owner),
            )
            for annotation, owner in zip(annotations, owners, strict=True)
        ]
        has_true = np.zeros(size, np.bool_)  # whether any field of a pair is annotated `true`
        for code, owner in zip(codes, owners, strict=True):
            has_true[owner[code == ANNOTATION_CODES[True]]] = True
        included = []
        for code, owner in zip(codes, owners, strict=True):
            is_true, is_not_false = code == ANNOTATION_CODES[True], code != ANNOTATION_CODES[False]
            included.append(np.where(has_true[owner], is_true, is_not_false))
    return included[:n_fields], included[n_fields:]


def include_by_annotation(annotations: Sequence[object]) -> "list[bool | Mask]":
    """Return whether each field counts in the aggregate. Annotations are True, False or None."""
    if any(annotation is True for annotation in annotations):
        return [annotation is True for annotation in annotations]
    return [annotation is not False for annotation in annotations]


def find_annotation(
    node: Node, aggregate: bool | None, scores: PairScores
) -> bool | Outcomes | None:
    """Return the `aggregate` annotation of a field.

    If the field is a union, each pair of values has the annotation of the arm that compares the
    pair.
    """
    return node.find_annotation(scores) if isinstance(node, OneOfNode) else aggregate


def list_families(families: Sequence[Field], name: str) -> Iterator[int]:
    """Yield the positions of the families that a key belongs to."""
    for position, family in enumerate(families):
        if family.key_pattern is None or family.key_pattern.search(name):
            yield position
