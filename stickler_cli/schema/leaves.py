"""Places whose values a comparator sees whole, and places whose values may be of any kind."""

from dataclasses import replace

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.registry import Comparators, UnknownComparatorError, construct
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD, ThresholdSource
from stickler_cli.schema.defaults import BY_TYPE, DEFAULT_WEIGHT, LeafDefault, open_default
from stickler_cli.schema.merging import NOTHING_INHERITED, Merged
from stickler_cli.schema.validity import COMPARATOR, Problems


class LeafCompiler:
    """Makes leaves and open nodes; notes comparators that cannot be made."""

    def __init__(self, problems: Problems, comparators: Comparators) -> None:
        self._problems = problems
        self._comparators = comparators

    def leaf(self, merged: Merged, default: LeafDefault) -> LeafNode:
        """Make the node of a leaf."""
        return LeafNode(
            threshold=default.threshold if merged.threshold is None else merged.threshold,
            threshold_source="default" if merged.threshold is None else "annotation",
            weight=worth(merged),
            clip=bool(merged.clip),
            other=open_default(),
            comparator=self.comparator(merged, default),
        )

    def comparator(self, merged: Merged, default: LeafDefault) -> BaseComparator:
        """Make the comparator that annotations ask for; the default where they cannot have it."""
        choice = merged.choice
        try:
            return self._comparators.construct(choice.name or default.comparator, choice.config)
        except KeywordError as error:
            holder = choice.configured_by or choice.named_by
            if holder is not None:  # pragma: no branch - defaults take the empty config
                self._problems.add_keyword(holder, error)
        except UnknownComparatorError as error:
            if choice.named_by is not None:  # pragma: no branch - defaults are known
                steps = (COMPARATOR,)
                self._problems.add(choice.named_by, steps, error.found, error.expected, error.hint)
        return construct(default.comparator, {})

    def open(self, merged: Merged, own: Merged) -> OpenNode:
        """Make the node for a place of any kind.

        Args:
            merged: its annotations, with what an array above says to its leaves.
            own: its annotations alone: these also speak to the objects and lists that may stand
                there, and to the elements of such a list.
        """
        if not _is_annotated(merged):
            return open_default(worth(merged))
        match_threshold = (
            DEFAULT_MATCH_THRESHOLD if own.match_threshold is None else own.match_threshold
        )
        plain = open_default(worth(merged))
        deepest = replace(plain, leaves=self._open_leaves(replace(merged, threshold=None)))
        elements = self._elements(merged, own.threshold, deepest, match_threshold)
        return replace(
            self._elements(merged, merged.threshold, elements, match_threshold),
            clip=bool(own.clip),
            pairing_floor=own.pairing_floor,
            object_threshold=match_threshold if own.threshold is None else own.threshold,
            threshold_source=source_of(own),
        )

    def _elements(
        self, merged: Merged, threshold: float | None, inner: OpenNode, match_threshold: float
    ) -> OpenNode:
        """Make an open node whose leaves pass at a threshold, and whose elements are `inner`."""
        leaves = self._open_leaves(replace(merged, threshold=threshold))
        return replace(
            inner,
            leaves=leaves,
            whole=dict.fromkeys(leaves["string"].comparator.takes, leaves["string"]),
            list_threshold=threshold,
            elements=inner,
            inside=open_default(),
            match_threshold=match_threshold,
            object_threshold=match_threshold,
            threshold_source=match_source_of(merged),
            match_source=match_source_of(merged),
        )

    def _open_leaves(self, merged: Merged) -> dict[str, LeafNode]:
        """Make a leaf for each JSON type; a config without a name goes to those that take it."""
        if merged.choice.name is not None:
            return {kind: self.leaf(merged, default) for kind, default in BY_TYPE.items()}
        leaves, refused = {}, []
        for kind, default in BY_TYPE.items():
            try:
                construct(default.comparator, merged.choice.config)
                leaves[kind] = self.leaf(merged, default)
            except KeywordError as error:
                refused.append(error)
                leaves[kind] = self.leaf(replace(merged, choice=NOTHING_INHERITED.choice), default)
        if len(refused) == len(BY_TYPE) and merged.choice.configured_by is not None:
            self._problems.add_keyword(merged.choice.configured_by, refused[0])
        return leaves


def _is_annotated(merged: Merged) -> bool:
    """Return whether anything but the weight is said about a place."""
    said = (merged.threshold, merged.pairing_floor, merged.match_threshold)
    return merged.choice.says_something or bool(merged.clip) or any(x is not None for x in said)


def source_of(merged: Merged) -> ThresholdSource:
    """Return who said the threshold of an object."""
    return match_source_of(merged) if merged.threshold is None else "annotation"


def match_source_of(merged: Merged) -> ThresholdSource:
    """Return who said the threshold of an object as a list item."""
    return "default" if merged.match_threshold is None else "match-threshold"


def worth(merged: Merged) -> float:
    """Return the weight of a field in its object."""
    return DEFAULT_WEIGHT if merged.weight is None else merged.weight
