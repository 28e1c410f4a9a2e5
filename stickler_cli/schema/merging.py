"""What the annotations of a place come to: the winner of each key, and where it stands.

Keys that stand on an array reach the leaves of its elements; they come down as `Inherited` and
win over what stands there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from stickler_cli.schema.annotations import Annotations
from stickler_cli.schema.dialects import Schema

T = TypeVar("T")
Owned = tuple[tuple[Schema, Annotations], ...]
"""Each schema of a place with its own annotations, winners first."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A comparator as annotations ask for it."""

    name: str | None = None
    """None leaves it to the default of the kind."""
    config: Mapping[str, object] = field(default_factory=dict)
    named_by: Schema | None = field(default=None, compare=False)
    """The schema that says the name, for messages."""
    configured_by: Schema | None = field(default=None, compare=False)
    """The schema that says the config, for messages."""

    @property
    def says_something(self) -> bool:
        """Return whether any annotation had a say."""
        return self.name is not None or bool(self.config)


@dataclass(frozen=True, slots=True)
class Inherited:
    """What an array says about the leaves of its elements."""

    choice: Chosen = field(default_factory=Chosen)
    clip: bool | None = None
    threshold: float | None = None
    """For the elements themselves; it does not go down to the elements of an element."""

    @property
    def key(self) -> str:
        """Return a text that is the same for equal values: a config may hold lists."""
        return repr(
            (self.choice.name, sorted(self.choice.config.items()), self.clip, self.threshold)
        )


NOTHING_INHERITED = Inherited()


@dataclass(frozen=True, slots=True)
class Merged:
    """The annotations of one place."""

    choice: Chosen
    threshold: float | None
    weight: float | None
    clip: bool | None
    aggregate: bool | None
    pairing_floor: float | None
    model_name: str | None
    match_threshold: float | None
    own: Owned = field(compare=False)

    def holder_of(self, name: str) -> Schema | None:
        """Return the schema that says an annotation, by the model's field name."""
        return next((schema for schema, own in self.own if getattr(own, name) is not None), None)


def merge_annotations(own: Owned, inherited: Inherited) -> Merged:
    """Merge the annotations of the subschemas in force at a place, below what is inherited."""

    def winner(values: "list[T | None]") -> "T | None":
        return next((value for value in values if value is not None), None)

    annotations = [annotation for _, annotation in own]
    return Merged(
        choice=_choice(own, inherited.choice),
        threshold=winner([inherited.threshold, *(each.threshold for each in annotations)]),
        weight=winner([each.weight for each in annotations]),
        clip=winner([inherited.clip, *(each.clip_under_threshold for each in annotations)]),
        aggregate=winner([each.aggregate for each in annotations]),
        pairing_floor=winner([each.pairing_floor for each in annotations]),
        model_name=winner([each.model_name for each in annotations]),
        match_threshold=winner([each.match_threshold for each in annotations]),
        own=own,
    )


def _choice(own: Owned, inherited: Chosen) -> Chosen:
    """Find the comparator and its config; a comparator set anew drops an inherited config."""
    name, config = inherited.name, inherited.config or None
    named_by, configured_by = inherited.named_by, inherited.configured_by
    for schema, annotations in own:
        if name is not None:
            break
        if config is None and annotations.comparator_config is not None:
            config, configured_by = annotations.comparator_config, schema
        if annotations.comparator is not None:
            name, named_by = annotations.comparator, schema
    return Chosen(name, config or {}, named_by, configured_by)
