"""How one value is best compared: what its annotations say, else its kind, else its name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import Path
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.combinators import Cell, first, listed_values
from stickler_cli.schema.defaults import NUMBER, TEXT, LeafDefault, leaf_default
from stickler_cli.schema.merging import Merged
from stickler_cli.schema.name_rules import NameRule, rule_for

ANNOTATED: Final = "as its annotations say"

SPEAKS_FOR_ITSELF: Final = frozenset({"duration"})
"""Formats whose values no rule for names can read."""

KINDS: Final = ("string", "number", "integer", "boolean")
"""The JSON types that are leaves."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How a value is compared, and why."""

    comparator: str
    """Empty where the fields in it, or the kinds of its values, say it."""
    threshold: float | None
    """What a unit must reach, in [0, 1]; None where that depends on the values."""
    reason: str = field(compare=False)
    """As a phrase."""
    config: Mapping[str, object] = field(default_factory=dict)
    """What the comparator is given; empty for its defaults."""
    annotated: bool = False
    """Whether the schema says it already."""

    def annotations(self) -> JsonObject:
        """Give the choice as annotations."""
        config = {f"{PREFIX}comparator-config": dict(self.config)} if self.config else {}
        return {
            f"{PREFIX}comparator": self.comparator,
            **config,  # type: ignore[dict-item] # keywords of rules are JSON
            f"{PREFIX}threshold": self.threshold,
        }


@dataclass(frozen=True, slots=True)
class Inferred:
    """How one field is compared, and why."""

    path: Path
    """Without list indexes, `*` for any key: `("line_items", "price")`."""
    comparator: str
    """Empty where the fields in it, or the kinds of its values, say it."""
    config: Mapping[str, object]
    """What the comparator is given; empty for its defaults."""
    threshold: float | None
    """What a unit of it must reach, in [0, 1]; None where that depends on the values."""
    weight: float
    """What the field is worth in its object; above 0."""
    reason: str
    """Why, as a phrase."""


def says_how(merged: Merged) -> bool:
    """Say whether annotations speak of how values are compared, not only of what they are worth."""
    return merged.choice.says_something or not (merged.threshold is None and merged.clip is None)


def annotated_choice(merged: Merged, default: LeafDefault) -> Choice:
    """Give what annotations say, with the default of the kind where they are silent."""
    return Choice(
        merged.choice.name or default.comparator,
        default.threshold if merged.threshold is None else merged.threshold,
        ANNOTATED,
        merged.choice.config,
        annotated=True,
    )


def open_choice(merged: Merged) -> Choice:
    """Give what is known of a place of any kind."""
    reason = ANNOTATED if says_how(merged) else "any values, each by its own kind"
    return Choice(merged.choice.name or "", merged.threshold, reason, merged.choice.config)


def leaf_choice(kind: str, name: str, cell: Cell, merged: Merged) -> Choice:
    """Choose for a leaf of one of `KINDS`."""
    default = default_of(kind, cell)
    if says_how(merged):
        return annotated_choice(merged, default)
    numeric = kind in {"number", "integer"}
    plain = not _listed(cell) and default in (NUMBER, TEXT)
    if plain and first(cell, "format") not in SPEAKS_FOR_ITSELF:
        found = rule_for(name, "number" if numeric else "string")
        if found is not None:
            return named_choice(*found)
    return kind_choice(kind, cell)


def kind_choice(kind: str, cell: Cell) -> Choice:
    """Choose for a leaf by its kind alone: what the compiler does."""
    default = default_of(kind, cell)
    if _listed(cell):
        reason = "one of the values that the schema lists"
    elif kind == "boolean":
        reason = "true or false"
    elif default in (NUMBER, TEXT):
        reason = "a number" if default is NUMBER else "a text"
        reason += ", of which the name says no more"
    else:
        reason = f"format {first(cell, 'format')}"
    return Choice(default.comparator, default.threshold, reason)


def named_choice(rule: NameRule, ending: str) -> Choice:
    """Choose as a rule for names says."""
    reason = f'named "{ending}", {rule.meaning}: {rule.why}'
    return Choice(rule.comparator, rule.threshold, reason, rule.config)


def default_of(kind: str, cell: Cell) -> LeafDefault:
    """Give the default for a leaf of a cell."""
    return leaf_default(kind, first(cell, "format"), listed=_listed(cell))


def _listed(cell: Cell) -> bool:
    return bool(listed_values(cell))
