"""Places whose values a comparator sees whole, and places whose values may be of any kind."""

from dataclasses import replace

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.registry import Comparators, UnknownComparatorError, construct
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.schema.defaults import BY_TYPE, LeafDefault, default_comparator, open_default
from stickler_cli.schema.merging import Merged
from stickler_cli.schema.validity import Problems


class LeafCompiler:
    """Makes leaves and open nodes; notes configs that their comparators do not take."""

    def __init__(self, problems: Problems, comparators: Comparators) -> None:
        self._problems = problems
        self._comparators = comparators

    def leaf(self, merged: Merged, default: LeafDefault) -> LeafNode:
        """Make the node of a leaf."""
        return LeafNode(
            threshold=default.threshold if merged.threshold is None else merged.threshold,
            threshold_source="default" if merged.threshold is None else "annotation",
            weight=merged.worth,
            clip=bool(merged.clip_under_threshold),
            other=open_default(),
            comparator=self.comparator(merged, default),
        )

    def comparator(self, merged: Merged, default: LeafDefault) -> BaseComparator:
        """Make the comparator that annotations ask for; the default where they cannot have it."""
        holder = merged.configured_by or merged.named_by
        if holder is not None:
            name = merged.comparator or default.comparator
            try:
                return self._comparators.construct(name, merged.config)
            except KeywordError as error:
                self._problems.add_keyword(holder, error)
            except UnknownComparatorError:
                pass  # told of where it stands
        return default_comparator(default.comparator)

    def open(self, merged: Merged, own: Merged) -> OpenNode:
        """Make the node for a place of any kind.

        Its `own` annotations also speak to the objects and lists that may stand there, and to the
        elements of such a list.
        """
        if not _is_annotated(merged):
            return open_default(merged.worth)
        plain = open_default(merged.worth)
        deepest = replace(plain, leaves=self._open_leaves(replace(merged, threshold=None)))
        elements = self._open_elements(merged, own.threshold, deepest)
        return replace(
            self._open_elements(merged, merged.threshold, elements),
            clip=bool(own.clip_under_threshold),
            pairing_floor=own.pairing_floor,
            object_threshold=own.object_threshold,
            threshold_source=own.object_source,
        )

    def _open_elements(self, merged: Merged, threshold: float | None, inner: OpenNode) -> OpenNode:
        """Make an open node whose leaves pass at a threshold, and whose elements are `inner`."""
        leaves = self._open_leaves(replace(merged, threshold=threshold))
        return replace(
            inner,
            leaves=leaves,
            whole=dict.fromkeys(leaves["string"].comparator.takes, leaves["string"]),
            list_threshold=threshold,
            elements=inner,
            inside=open_default(),
            match_threshold=merged.item_threshold,
            object_threshold=merged.item_threshold,
            threshold_source=merged.item_source,
            match_source=merged.item_source,
        )

    def _open_leaves(self, merged: Merged) -> dict[str, LeafNode]:
        """Make a leaf for each JSON type; a config without a name goes to those that take it."""
        if merged.comparator is not None:
            return {kind: self.leaf(merged, default) for kind, default in BY_TYPE.items()}
        leaves, refused = {}, []
        for kind, default in BY_TYPE.items():
            try:
                construct(default.comparator, merged.config)
                leaves[kind] = self.leaf(merged, default)
            except KeywordError as error:
                refused.append(error)
                leaves[kind] = self.leaf(replace(merged, comparator_config=None), default)
        if len(refused) == len(BY_TYPE) and merged.configured_by is not None:
            self._problems.add_keyword(merged.configured_by, refused[0])
        return leaves


def _is_annotated(merged: Merged) -> bool:
    """Return whether anything but the weight is said about a place."""
    said = (merged.threshold, merged.pairing_floor, merged.match_threshold)
    return merged.chooses or bool(merged.clip_under_threshold) or any(x is not None for x in said)
