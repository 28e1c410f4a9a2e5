"""Gold: other right values, places that nobody labelled, lists that are open.

Source: docs/semantics.md, "What the ground truth says of itself".
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from .json_values import JsonObject, JsonValue
from .locations import Path, Step

ALTERNATIVES: Final = "_alternatives"
LABELLED: Final = "_labelled"
EXHAUSTIVE: Final = "_exhaustive"
SAID: Final[Mapping[str, tuple[type, str]]] = {
    ALTERNATIVES: (list, "a list of values"),
    LABELLED: (bool, "true or false"),
    EXHAUSTIVE: (bool, "true or false"),
}
"""Keys beside a value that say it, with the type of each."""


class Gold:
    """Gold of a place and of those in it: a sparse tree in the shape of the document."""

    __slots__ = (
        "alternatives",
        "dropped",
        "exhaustive",
        "hides",
        "labelled",
        "optional",
        "parts",
        "there",
    )

    def __init__(self, *, labelled: bool = True) -> None:
        self.alternatives: tuple[Alternative, ...] = ()
        """All values that are right here, in order, if there is more than one."""
        self.labelled = labelled
        """Whether this place is labelled."""
        self.exhaustive = True
        """Whether a list has all elements that there are."""
        self.parts: dict[Step, Gold] = {}
        self.dropped = 0
        """How many elements of a list are not labelled."""
        self.there = False
        """Whether something is here in an alternative, its own or inside, where nothing stands."""
        self.optional = False
        """Whether something is here in some alternatives, and nothing in others."""
        self.hides = not labelled
        """Whether anything here or inside, outside of lists, is not labelled."""

    @property
    def lacks(self) -> bool:
        """Whether something stands here in which all may be missing."""
        return self.optional and not self.there and not self.alternatives

    def counts(self, *, named: bool = True) -> bool:
        """Return whether a part where nothing stands decides about predictions there.

        One with a name does also where it is an open list, or has parts that are not labelled.
        """
        more = named and (self.hides or not self.exhaustive)
        return self.there or not self.labelled or more

    @staticmethod
    def around(step: Step, inside: "Gold | None") -> "Gold | None":
        """Return the gold of a place, given that of a part of it."""
        if inside is None:
            return None
        found = Gold()
        found.parts[step], found.hides = inside, inside.hides
        return found

    def part(self, path: Iterable[Step]) -> "Gold":
        """Return the gold of a place inside, made if there is none."""
        found = self
        for step in path:
            found = found.parts.setdefault(step, Gold())
        return found

    def is_labelled(self, path: Iterable[Step]) -> bool:
        """Return whether a place inside is labelled, and all around it."""
        found: Gold | None = self
        for step in path:
            found = found.parts.get(step) if found is not None and found.labelled else found
        return found is None or found.labelled


class Alternative(NamedTuple):
    """A value that is as right as others at its place."""

    value: JsonValue
    gold: Gold | None = None
    """Its gold, without alternatives."""
    metadata: Mapping[Path, JsonObject] = {}
    """Metadata beside it and beside values inside, by paths from here."""
    at: Path = ()
    """Where it is written, in the wrapper of its place; there where its value is."""


UNLABELLED: Final = Gold(labelled=False)


def part_of(gold: Gold | None, step: Step) -> Gold | None:
    """Return the gold of a part of a place; None for none."""
    return None if gold is None else gold.parts.get(step)


def labelled_part(value: JsonValue, gold: Gold | None) -> JsonValue:
    """Return a prediction without the places that the ground truth does not label."""
    if gold is not None and not gold.labelled:
        return None
    if gold is None or not gold.hides or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [labelled_part(part, gold.parts.get(at)) for at, part in enumerate(value)]
    return {name: labelled_part(part, gold.parts.get(name)) for name, part in value.items()}
