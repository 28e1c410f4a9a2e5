"""What the annotations of a place come to: the winner of each key, and where it stands.

What stands on an array reaches the leaves of its elements, and wins there: it is `inherited`.
"""

from dataclasses import field
from typing import Any, Final

from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD, ThresholdSource
from stickler_cli.core.values import dataclass
from stickler_cli.schema.annotations import RULES, Annotations
from stickler_cli.schema.defaults import DEFAULT_WEIGHT
from stickler_cli.schema.dialects import Schema

Owned = tuple[tuple[Schema, Annotations], ...]
"""Each schema of a place with its own annotations, winners first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged(Annotations):
    """The annotations of one place, or what an array says about the leaves of its elements."""

    named_by: Schema | None = field(default=None, compare=False)
    """The schema that says the comparator, for messages."""
    configured_by: Schema | None = field(default=None, compare=False)
    """The schema that says its config, for messages."""
    own: Owned = field(default=(), compare=False)

    @property
    def config(self) -> dict[str, Any]:
        """The keywords for the comparator."""
        return self.comparator_config or {}

    @property
    def chooses(self) -> bool:
        """Whether any annotation says what compares the values."""
        return self.comparator is not None or self.comparator_config is not None

    @property
    def worth(self) -> float:
        """The weight of a field in its object."""
        return DEFAULT_WEIGHT if self.weight is None else self.weight

    @property
    def item_threshold(self) -> float:
        """The threshold of an object as a list item."""
        return DEFAULT_MATCH_THRESHOLD if self.match_threshold is None else self.match_threshold

    @property
    def item_source(self) -> ThresholdSource:
        """Who said `item_threshold`."""
        return "default" if self.match_threshold is None else "match-threshold"

    @property
    def object_threshold(self) -> float:
        """The threshold of an object as a field."""
        return self.item_threshold if self.threshold is None else self.threshold

    @property
    def object_source(self) -> ThresholdSource:
        """Who said `object_threshold`."""
        return self.item_source if self.threshold is None else "annotation"

    @property
    def key(self) -> str:
        """A text that is the same for equal inherited annotations: a config may hold lists."""
        config = sorted(self.config.items())
        return repr((self.comparator, config, self.clip_under_threshold, self.threshold))

    def below(self, threshold: float | None) -> "Merged":
        """Return what an array says about its elements, but not to elements of these."""
        return Merged(
            comparator=self.comparator,
            comparator_config=self.comparator_config,
            named_by=self.named_by,
            configured_by=self.configured_by,
            clip_under_threshold=self.clip_under_threshold,
            threshold=threshold,
        )


NOTHING_INHERITED: Final = Merged()
ON_VALUE: Final = ("comparator", "comparator_config")
_BY_THEMSELVES: Final = tuple(name for name in RULES if name not in ON_VALUE)
"""Annotations that win or lose whatever the others are."""


def merge_annotations(own: Owned, inherited: Merged) -> Merged:
    """Merge the annotations of the subschemas in force at a place, below what is inherited.

    A comparator set anew drops an inherited config.
    """
    name, named_by = inherited.comparator, inherited.named_by
    config, configured_by = inherited.comparator_config, inherited.configured_by
    winners: dict[str, Any] = {key: getattr(inherited, key) for key in _BY_THEMSELVES}
    for schema, said in own:
        if name is None and config is None and said.comparator_config is not None:
            config, configured_by = said.comparator_config, schema
        if name is None and said.comparator is not None:
            name, named_by = said.comparator, schema
        for key in _BY_THEMSELVES:
            if winners[key] is None:
                winners[key] = getattr(said, key)
    return Merged(
        **winners,
        comparator=name,
        comparator_config=config or None,
        named_by=named_by,
        configured_by=configured_by,
        own=own,
    )
