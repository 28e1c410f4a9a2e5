"""Fields in which two list elements are known to be unlike before they are compared."""

from collections.abc import Iterable, Iterator

import numpy as np

from stickler_cli.core.values import dataclass
from .columns import NOTHING, Columns, Indexes, Mask, spread
from .leaf import LeafBlock, LeafNode
from .object import FieldsNode, ObjectNode
from .one_of import OneOfNode, followed
from .plan import Node, Purpose, once_each


@dataclass(frozen=True, slots=True)
class SelectiveField:
    """A field whose comparator gives keys: unequal ones have nothing in common."""

    weight: float
    of_object: float
    """The weights of all fields of the object, this one included."""
    keys: Indexes
    """Of all ground truths, then of all predictions, and of `NOTHING`; below 0 for none."""
    tells: float = 1.0
    """How much of the weight two elements of unequal keys lack at least."""

    def join(
        self, near: tuple[Indexes, Indexes], far: tuple[Indexes, Indexes], most: Indexes
    ) -> tuple[Indexes, Indexes, Mask]:
        """Return the pairs that agree in the field, and which near elements this tells of.

        It tells nothing in lists of which too many elements are alike in it, so that these have
        more than `most` pairs. Each side is given by its elements and their lists.
        """
        near_keys, far_keys = self.keys[near[0]], self.keys[far[0]]
        keys = int(self.keys.max(initial=0)) + 1
        one = near[1] * keys + near_keys
        other = np.where(far_keys < 0, -1, far[1] * keys + far_keys)
        order = np.argsort(other, kind="stable")
        other = other[order]
        low = np.searchsorted(other, one, "left")
        count = np.searchsorted(other, one, "right") - low
        count[near_keys < 0] = 0
        tells = (np.bincount(near[1], count, len(most)) <= most)[near[1]] & (near_keys >= 0)
        count[~tells] = 0
        found, owner = spread(low, count)
        return owner, order[found], tells


def selective_fields(item: Node, elements: Columns) -> list[SelectiveField]:
    """Return the fields of list elements that may say which of them go together."""
    item = followed(item)
    if isinstance(item, LeafNode) and elements.scalar:
        return _of_values(item, elements)
    if not isinstance(item, ObjectNode) or not elements.types <= {dict}:
        return []
    of_object = sum(_most_worth(field.node) for field in item.fields)
    found = []
    for leaf, columns, gt, pred in _leaves(item, elements):
        comparator = leaf.comparator.pairing or leaf.comparator
        if columns.scalar and (keys := columns.prepared(comparator).keys) is not None:
            both = np.concatenate([gt, pred, [NOTHING]])
            found.append(SelectiveField(leaf.weight, of_object, keys[both]))
    return found


def _leaves(
    item: ObjectNode, elements: Columns
) -> Iterator[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Return the leaves of list elements, with the codes of both sides and where they stand."""
    for block in item.together:
        if isinstance(block, int):
            continue
        columns = elements.fields(block.names)
        for row, (name, leaf) in enumerate(zip(block.names, block.nodes, strict=True)):
            at, of = (row, columns) if columns.scalar else (0, elements.fields((name,)))
            n, m = len(elements.gt), len(elements.pred)
            gt, pred = of.codes.gt[at * (n + 1) :][:n], of.codes.pred[at * (m + 1) :][:m]
            yield leaf, of, gt, pred


def _of_values(leaf: LeafNode, elements: Columns) -> list[SelectiveField]:
    """Return the values themselves as a field, where equal ones are known to be most alike."""
    prepared, codes = elements.prepared(leaf.comparator.pairing or leaf.comparator), elements.codes
    found = (prepared.keys, 1.0) if prepared.keys is not None else prepared.equal
    if found is None:
        return []
    keys, tells = found
    return [SelectiveField(1.0, 1.0, keys[np.concatenate([codes.gt[:-1], codes.pred])], tells)]


def texts_of(item: Node, elements: Columns) -> list[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Return the leaves of list elements with their codes, if all are dear to compare."""
    item = followed(item)
    if isinstance(item, LeafNode):
        found = [(item, elements, elements.codes.gt[:-1], elements.codes.pred[:-1])]
    elif isinstance(item, ObjectNode) and all(isinstance(of.node, LeafNode) for of in item.fields):
        found = [*_leaves(item, elements)]
    else:
        found = []
    return found if all(leaf.is_dear and columns.scalar for leaf, columns, _, _ in found) else []


def width_of(item: Node) -> int:
    """Return how many leaves of two list elements are compared together at most; 1 for one."""
    item = followed(item)
    blocks = item.together if isinstance(item, FieldsNode) else ()
    return max([1, *(len(of.names) for of in blocks if isinstance(of, LeafBlock))])


def bound_of(item: Node) -> Purpose | None:
    """Return how to learn cheaply what two elements have in common at most; None for no way."""
    item = followed(item)
    if not isinstance(item, ObjectNode):
        return None
    nested = [entry.node.nested for entry in item.fields]
    cheap = [entry.node.columnar for entry in item.fields]
    if any(nested):
        return None if all(nested) else Purpose.BOUND
    return Purpose.ROUGH if any(cheap) and not all(cheap) else None


def _most_worth(node: Node) -> float:
    """Return what a field is worth at most; of a union, what any of its arms is."""

    def arms(node: Node) -> Iterable[Node]:
        return map(followed, node.parts()) if isinstance(node, OneOfNode) else ()

    nodes = once_each(followed(node), arms)
    return max((one.weight for one in nodes if not isinstance(one, OneOfNode)), default=0.0)
