"""Walk a schema field by field, and settle how each is compared.

The walk goes as the compiler goes, so that an annotation lands where it has its effect: beside a
reference rather than at its target, on an array of leaves rather than on its items. A field that
says how it is compared is left as it is.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Final, TypeAlias

from stickler_cli.comparators.base import KeywordError
from stickler_cli.comparators.registry import Comparators, UnknownComparatorError
from stickler_cli.comparators.structured import StructuredModelComparator
from stickler_cli.compare.outline import ANY_KEY
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.boxes import elements_of, ignore, may_be_box, positions_of
from stickler_cli.schema.choices import (
    KINDS,
    Choice,
    Inferred,
    annotated_choice,
    kind_choice,
    leaf_choice,
    named_choice,
    open_choice,
    says_how,
)
from stickler_cli.schema.combinators import Cell, distinct, find_union, flatten, properties
from stickler_cli.schema.compiler import DEEPEST, MOST_PLACES
from stickler_cli.schema.defaults import DEFAULT_WEIGHT, TEXT
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.kinds import CLOSED_BY, kinds_of
from stickler_cli.schema.merging import NOTHING_INHERITED, Inherited, Merged, merge_annotations
from stickler_cli.schema.name_rules import is_plural, rule_for
from stickler_cli.schema.references import SchemaFiles

REPEATED: Final = 12
"""Fields of a part that are listed again where it occurs again; more are one entry, that says
where they are listed."""


def _objects_in(value: JsonValue) -> Iterator[JsonObject]:
    parts: list[JsonValue] = []
    if isinstance(value, dict):
        yield value
        parts = list(value.values())
    for part in value if isinstance(value, list) else parts:
        yield from _objects_in(part)


@dataclass(frozen=True, slots=True)
class _At:
    """How the walk came to a place."""

    holder: Schema
    """Where annotations of the place go."""
    leaf_holder: Schema | None = None
    """Where they go instead if the place is a leaf: on the array around it."""
    name: str = ""
    """Of the field that the place belongs to."""
    path: Path = ()
    inherited: Inherited = NOTHING_INHERITED
    weight: float | None = None
    """What the array around it says."""
    listed: bool = False
    """Whether the place is an element of a list."""

    @property
    def key(self) -> tuple[object, ...]:
        """Tell apart two ways to one place that may lead to different choices."""
        holders = id(self.holder), id(self.leaf_holder)
        return (*holders, self.name, self.inherited.key, self.weight, self.listed)


_Fields: TypeAlias = list[Inferred]
_NOWHERE: Final[Schema] = {}
"""The holder of a place at which no annotation can stand."""


@dataclass(slots=True)
class _Known:
    """A place that the walk came to before."""

    path: Path
    fields: _Fields | None = field(default=None)
    """None while they are being listed."""


class Walker:
    """Walks a schema once, takes note of choices and lists the fields."""

    def __init__(
        self, schema: JsonObject, source: str, file: FilePath | None, comparators: Comparators
    ) -> None:
        self._files = SchemaFiles(schema, source, file)
        self._source = source
        self._comparators = comparators
        self._own = {id(part) for part in _objects_in(schema)}
        """What may be written to: not the schemas of other files."""
        self._notes: dict[int, tuple[Schema, Choice]] = {}
        self._known: dict[tuple[object, ...], _Known] = {}
        self._waiting: deque[Callable[[], _Fields]] = deque()
        self._depth = 0

    def fields(self) -> tuple[Inferred, ...]:
        """List every field, each once, though two arms of a union may have it."""
        root = self._files.root
        found = [*self._place((root,), _At(root.schema))]
        while self._waiting:
            found += self._waiting.popleft()()
        return tuple({repr(each): each for each in found if each.path}.values())

    def write(self) -> None:
        """Write the choices down; keys that are there stay, right or wrong."""
        for schema, choice in self._notes.values():
            schema.update({**choice.annotations(), **schema})

    def _place(self, cell: Cell, at: _At) -> _Fields:
        """List the fields of the place that a cell describes."""
        return self._flat(flatten(self._files, cell, ignore), at)

    def _flat(self, cell: Cell, at: _At) -> _Fields:
        """List the fields of a flattened cell; those listed before, again if they are few."""
        key = (tuple((id(part.schema), part.scope) for part in cell), at.key)
        known = self._known.get(key)
        if known is None:
            if len(self._known) == MOST_PLACES:
                found = f"the schema describes more than {MOST_PLACES} places"
                raise SchemaError([Problem(self._source, found, "fewer of them", pointer="")])
            known = self._known[key] = _Known(at.path)
            known.fields = self._walked(cell, at)
            return known.fields
        if known.fields is None or len(known.fields) > REPEATED:
            where = f"as {field_path(known.path)}" if known.path else "as the whole document"
            return [
                self._entry(at, merge_annotations(cell, NOTHING_INHERITED), Choice("", None, where))
            ]
        inside = len(known.path)
        return [replace(each, path=(*at.path, *each.path[inside:])) for each in known.fields]

    def _walked(self, cell: Cell, at: _At) -> _Fields:
        union = find_union(self._files, cell, ignore)
        if union is not None:
            arms = [(distinct((*union.rest, *arm.cell)), arm.source.schema) for arm in union.arms]
            return self._flat(arms[0][0], at) if len(arms) == 1 else self._arms(arms, at)
        kinds = kinds_of(self._files, cell)
        if len(kinds) > 1:
            typed = [(self._files.typed(cell[0], kind), *cell) for kind in kinds]
            return self._arms([(each, _NOWHERE) for each in typed], at)
        match kinds[0]:
            case "object":
                return self._object(cell, at)
            case "array":
                return self._array(cell, at)
            case kind if kind in KINDS:
                return [self._leaf(kind, cell, at)]
            case _:
                merged = merge_annotations(cell, at.inherited)
                return [self._entry(at, merged, open_choice(merged))]

    def _arms(self, arms: list[tuple[Cell, Schema]], at: _At) -> _Fields:
        """List the fields of flattened alternatives; what all agree on is said beside the union."""
        holder = at.leaf_holder or at.holder
        choices = [self._choice(cell, at) for cell, _ in arms]
        agreed = choices[0] if all(choice == choices[0] for choice in choices) else None
        if agreed is not None and not agreed.annotated and id(holder) in self._own:
            merged = merge_annotations(arms[0][0], at.inherited)
            return [self._entry(at, merged, self._note(holder, agreed))]
        found = []
        for cell, own in arms:
            found += self._flat(cell, replace(at, holder=own, leaf_holder=None))
        return found

    def _choice(self, cell: Cell, at: _At) -> Choice | None:
        """Choose for a flattened cell; None where it is no leaf of one kind."""
        kinds = kinds_of(self._files, cell)
        if len(kinds) != 1 or kinds[0] not in KINDS or find_union(self._files, cell, ignore):
            return None
        return leaf_choice(kinds[0], at.name, cell, merge_annotations(cell, at.inherited))

    def _note(self, holder: Schema, choice: Choice) -> Choice:
        """Take note of a choice; where two fields share a holder, the first has its way."""
        return self._notes.setdefault(id(holder), (holder, choice))[1]

    def _leaf(self, kind: str, cell: Cell, at: _At) -> Inferred:
        merged = merge_annotations(cell, at.inherited)
        choice = leaf_choice(kind, at.name, cell, merged)
        holder = at.leaf_holder or at.holder
        if not choice.annotated:
            known = id(holder) in self._own
            choice = self._note(holder, choice) if known else kind_choice(kind, cell)
        return self._entry(at, merged, choice)

    def _array(self, cell: Cell, at: _At) -> _Fields:
        merged = merge_annotations(cell, at.inherited)
        if "array" in self._taken_whole(merged):
            return [self._entry(at, merged, annotated_choice(merged, TEXT))]
        box = None if says_how(merged) else rule_for(at.name, "box")
        plural = is_plural(at.name)
        if box and id(at.holder) in self._own and may_be_box(self._files, cell, plural=plural):
            return [self._entry(at, merged, self._note(at.holder, named_choice(*box)))]
        positions, elements = positions_of(self._files, cell), elements_of(self._files, cell)
        own = merge_annotations(cell, replace(at.inherited, threshold=None))
        threshold = None if positions else own.threshold
        weight = merged.weight if at.weight is None else at.weight
        inside = replace(
            at,
            inherited=Inherited(merged.choice, merged.clip, threshold),
            weight=_worth(weight) if positions else weight,
            listed=not positions,
        )
        if not (positions or elements):
            return [self._entry(at, merged, open_choice(merged))]
        found: _Fields = []
        if at.listed and at.inherited.threshold is not None:
            reason = "lists are paired by their elements"
            found.append(self._entry(at, merged, Choice("", at.inherited.threshold, reason)))
        for position in [*positions, *([elements] if elements else [])]:
            whole = None if positions else at.holder
            part = replace(inside, holder=position[0].schema, leaf_holder=whole)
            found += self._place(position, part)
        return found

    def _object(self, cell: Cell, at: _At) -> _Fields:
        merged = merge_annotations(cell, NOTHING_INHERITED)
        if "object" in self._taken_whole(merged):
            return [self._entry(at, merged, annotated_choice(merged, TEXT))]
        threshold = merged.match_threshold
        threshold = DEFAULT_MATCH_THRESHOLD if threshold is None else threshold
        if merged.threshold is not None and not at.listed:
            threshold = merged.threshold
        declared = self._declared(cell, at)
        reason = "by its fields" if declared else "by its fields, each by its own kind"
        if at.listed:  # what an item is worth says nothing of the list
            reason += "; items in any order"
            at = replace(at, weight=_worth(at.weight))
        found = [self._entry(at, merged, Choice("", threshold, reason))]
        if self._depth == DEEPEST:
            self._waiting.append(partial(self._inside, declared))
            return found
        self._depth += 1
        found += self._inside(declared)
        self._depth -= 1
        return found

    def _inside(self, declared: list[tuple[Cell, _At]]) -> _Fields:
        found: _Fields = []
        for cell, at in declared:
            found += self._place(cell, at)
        return found

    def _declared(self, cell: Cell, at: _At) -> list[tuple[Cell, _At]]:
        """List what an object declares; the values of a map go by the name of the map."""
        named = [(name, name, part) for name, part in properties(self._files, cell).items()]
        patterns = properties(self._files, cell, "patternProperties").values()
        named += [(at.name, ANY_KEY, part) for part in (*patterns, self._rest(cell)) if part]
        return [
            (part, _At(part[0].schema, name=name, path=(*at.path, step)))
            for name, step, part in named
        ]

    def _rest(self, cell: Cell) -> Cell:
        """Give every schema that speaks about keys that are not declared."""
        for keyword in CLOSED_BY:
            held = [each for each in cell if isinstance(each.schema.get(keyword), dict)]
            if held:
                return tuple(self._files.inside(each, each.schema[keyword]) for each in held)
        return ()

    def _taken_whole(self, merged: Merged) -> frozenset[str]:
        """Give the JSON types that the comparator of some annotations takes as one value."""
        if merged.choice.name is None:
            return frozenset()
        try:
            found = self._comparators.construct(merged.choice.name, merged.choice.config)
        except (KeywordError, UnknownComparatorError):
            return frozenset()
        return frozenset() if isinstance(found, StructuredModelComparator) else found.takes

    def _entry(self, at: _At, merged: Merged, choice: Choice) -> Inferred:
        comparator, config = choice.comparator, choice.config
        if comparator in self._comparators.instances:
            instance = self._comparators.instances[comparator]
            comparator, config = instance.name, instance.config
        reason = choice.reason + ("; in any order" if at.listed and comparator else "")
        weight = _worth(merged.weight if at.weight is None else at.weight)
        return Inferred(at.path, comparator, config, choice.threshold, weight, reason)


def _worth(weight: float | None) -> float:
    return DEFAULT_WEIGHT if weight is None else weight
