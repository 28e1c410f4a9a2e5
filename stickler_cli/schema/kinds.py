"""Make the nodes of fields with single values, and of fields whose values may have any type."""

from dataclasses import replace
from functools import cache
from typing import Any

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.comparator_registry import (
    Comparators,
    UnknownComparatorError,
    construct,
)
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD, ThresholdSource
from .annotations import BY_TYPE, DEFAULT_WEIGHT, TEXT, LeafDefault, Merged, default_comparator
from .references import SchemaFiles
from .schema_problems import Problems


@cache
def open_default(weight: float = DEFAULT_WEIGHT) -> OpenNode:
    """Return the node of a field without a schema and without annotations."""
    leaves = {
        kind: LeafNode(
            comparator=default_comparator(default), threshold=default.threshold, weight=weight
        )
        for kind, default in BY_TYPE.items()
    }
    inner_node = None if weight == DEFAULT_WEIGHT else open_default()
    return OpenNode(
        leaves=leaves,
        weight=weight,
        threshold=TEXT.threshold,
        item_node=inner_node,
        value_node=inner_node,
        object_threshold=DEFAULT_MATCH_THRESHOLD,
        match_threshold=DEFAULT_MATCH_THRESHOLD,
    )


def list_rules(merged: Merged) -> dict[str, Any]:
    """Return keyword arguments for the node of a list: how elements are paired and counted.

    Keys are names of parameters. Arguments that no annotation states are left out.
    """
    rules = {
        "exhaustive": merged.exhaustive,
        "pairing": merged.list_pairing,
        "distinct": merged.distinct,
    }
    return {name: value for name, value in rules.items() if value is not None}


class LeafNodes:
    """Makes nodes for fields with single values or with values of any type.

    A problem is reported if a comparator rejects its configuration.
    """

    def __init__(self, files: SchemaFiles, problems: Problems, comparators: Comparators) -> None:
        self._files = files
        self._problems = problems
        self._comparators = comparators

    def leaf(self, merged: Merged, default: LeafDefault) -> LeafNode:
        """Return the node of a field whose values are compared as a whole by one comparator."""
        return LeafNode(
            threshold=default.threshold if merged.threshold is None else merged.threshold,
            threshold_source=self.source(merged),
            weight=merged.effective_weight,
            clip=bool(merged.clip_under_threshold),
            other=open_default(),
            comparator=self.comparator(merged, default),
            reading=merged.reading,
            is_unspecified_text=default is TEXT and self._says_nothing(merged),
        )

    def _says_nothing(self, merged: Merged) -> bool:
        """Return whether the schema states no comparator, no threshold and no aliases for a field.

        Annotations that were inferred do not count as stated.
        """
        is_stated = merged.chooses or merged.threshold is not None
        return merged.aliases is None and (not is_stated or self.source(merged) == "inferred")

    def source(self, merged: Merged) -> ThresholdSource:
        """Return where a field's threshold comes from: an annotation, inference or the default.

        If the field's comparator was inferred, the threshold in the schema was inferred with it.
        """
        if merged.threshold is None:
            return "default"
        inferred = merged.named_by and self._files.is_inferred(merged.named_by)
        return "inferred" if inferred else "annotation"

    def comparator(self, merged: Merged, default: LeafDefault) -> BaseComparator:
        """Return the comparator that annotations name or configure, or else the default comparator.

        The default comparator is also returned if the named comparator is unknown or rejects its
        configuration.
        """
        holder = merged.configured_by or merged.named_by
        if holder is not None:
            name, config = merged.comparator or default.comparator, merged.config
            # The members of an enumeration are kept when an annotation names its comparator.
            if merged.comparator is None or (
                name == default.comparator and "members" in default.config
            ):
                config = {**default.config, **config}
            try:
                return self._comparators.construct(name, config)
            except UnknownComparatorError:
                pass  # `check` reports it
            except KeywordError as error:
                self._problems.add_keyword(holder, error)
        return default_comparator(default)

    def open(self, merged: Merged, own_annotations: Merged) -> OpenNode:
        """Return the node of a field whose values may have any type.

        `own_annotations` are used for values that are objects or lists, and `merged` for all
        others.
        """
        plain = open_default(merged.effective_weight)
        stated_values = (merged.threshold, merged.pairing_floor, merged.match_threshold)
        has_other_rules = merged.chooses or merged.clip_under_threshold or merged.reading
        stated_list_rules = list_rules(own_annotations)
        if not (
            has_other_rules
            or stated_list_rules
            or any(value is not None for value in stated_values)
        ):
            return plain
        leaves = self._open_leaves(replace(merged, threshold=None))
        deepest = replace(plain, leaves=leaves, item_node=None, value_node=open_default())
        elements = self._open_elements(merged, own_annotations.threshold, deepest)
        return replace(
            self._open_elements(merged, merged.threshold, elements),
            clip=bool(own_annotations.clip_under_threshold),
            pairing_floor=own_annotations.pairing_floor,
            list_rules=stated_list_rules,
            object_threshold=own_annotations.object_threshold,
            threshold_source=own_annotations.object_source,
        )

    def _open_elements(self, merged: Merged, threshold: float | None, inner: OpenNode) -> OpenNode:
        """Return a node for values of any type. The node `inner` compares the elements of lists.

        A single value matches if its similarity reaches `threshold`.
        """
        leaves = self._open_leaves(replace(merged, threshold=threshold))
        # A comparator that takes whole objects or lists compares these as it compares texts.
        text_leaf = leaves["string"]
        return replace(
            inner,
            leaves=leaves,
            leaves_by_shape=dict.fromkeys(text_leaf.comparator.takes, text_leaf),
            list_threshold=threshold,
            item_node=inner,
            value_node=open_default(),
            match_threshold=merged.item_threshold,
            object_threshold=merged.item_threshold,
            threshold_source=merged.item_source,
            match_source=merged.item_source,
        )

    def _open_leaves(self, merged: Merged) -> dict[str, LeafNode]:
        """Return a leaf node for each JSON type.

        If annotations configure a comparator without naming one, the configuration applies to all
        types whose default comparator accepts it.
        """
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
