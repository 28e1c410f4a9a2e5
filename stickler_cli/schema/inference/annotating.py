"""Annotations for all fields of a schema that have none, and the list of fields; docs/inference.md.

An annotation lands where it has its effect: beside a reference rather than at its target, on an
array of leaves rather than on its items. A field that says how it is compared is left as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple, TypeAlias

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import ANY_KEY, Path, field_path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.annotations import (
    BY_POSITION,
    DEFAULT_WEIGHT,
    NOTHING_INHERITED,
    NUMBER,
    ON_ARRAY,
    ON_PLACE,
    ORDERED,
    TEXT,
    Merged,
    annotated,
    own_keys,
    states_comparison,
    told,
)
from stickler_cli.schema.combinators import OPEN, Branch, InForce
from stickler_cli.schema.dialects import PlaceKey, Schema, Source, walk
from stickler_cli.schema.places import (
    ArrayPlace,
    JsonTextPlace,
    LeafPlace,
    Met,
    ObjectPlace,
    OpenPlace,
    Place,
    PlaceFinder,
    PlaceFold,
    TooManyPlacesError,
    UnionPlace,
    WholePlace,
)
from stickler_cli.schema.references import SchemaFiles
from stickler_cli.settings.deciding import BoxFormat, Infer
from .arrays import ROW_THRESHOLD, box_choice, is_column, is_series, position_reason
from .choices import (
    ANNOTATED,
    Inferred,
    Who,
    agreed,
    annotated_choice,
    kind_choice,
    leaf_choice,
    says_how,
)
from .list_shapes import ListShape
from .observation import Observed, json_text_keywords, schema_of_place, stated_currencies
from .unions import RewrittenUnion, write_alternatives, write_lists

REPEATED: Final = 12
"""Fields of a part that are listed again where it occurs again; more are one entry."""

COMMENT: Final = "$comment"
"""Says why, beside annotations."""
SAME: Final = "as above"
"""The kind of such an entry."""
MAX_TEXT_VISITS: Final = 1_000  # places of texts that a schema may describe again elsewhere
LIST_OF: Final = "list of "
"""Begins the kind of elements; documents that are lists are a field without a name."""
IN_ANY_ORDER: Final = "in any order"
"""Ends the reason of elements whose order does not matter."""
OPEN_TEXT: Final = "JSON in a text: any values, each by its own kind"
WHOLE: Final = "array or object"
"""The kind of a value that its comparator takes as one."""


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
    inherited: Merged = NOTHING_INHERITED
    weight: float | None = None
    """Weight from the array around it."""
    listed: bool = False
    """Whether the place is an element of a list."""
    depth: int = 0
    """Number of arrays around the place inside its field."""
    around: tuple[str, ...] = ()
    """Rules of the array around it for its elements, in words."""

    @property
    def key(self) -> tuple[object, ...]:
        """Distinguishes ways to one place that may lead to different choices."""
        holders = id(self.holder), id(self.leaf_holder)
        return (*holders, self.name, self.inherited.signature, self.weight, self.listed)


_Fields: TypeAlias = list[Inferred]
_NOWHERE: Final[Schema] = {}
"""The holder of a place at which no annotation can stand."""


@dataclass(frozen=True, slots=True)
class _TextsOfSchema:
    """The texts that one schema describes, wherever it does."""

    schema: Schema
    name: str
    """Of the first field that the schema describes."""
    places: list[Observed]


class Walker(PlaceFold[_At, _Fields]):
    """Notes a choice for each place without annotations, and lists the fields."""

    def __init__(
        self,
        files: SchemaFiles,
        comparators: Comparators,
        seen: Observed | None,
        *,
        may_write: bool,
    ) -> None:
        """Take a schema that may be changed, and the values seen in its documents."""
        self._seen = seen
        self._root = files.root
        self._own: set[int] = set()
        """By identity: schemas that may be written to; not the stand-ins for true and false."""

        def note(schema: Schema) -> bool:
            self._own.update(id(part) for _, part in walk(schema))
            return True

        if may_write:
            note(files.root.schema)
            files.accept = note
        # A reference that leads nowhere is for the compiler to tell of.
        super().__init__(PlaceFinder(files, comparators, lambda *_: None))
        self._instances = comparators.instances
        self._boxes = comparators.boxes
        self._choices: dict[int, tuple[Schema, Inferred]] = {}
        self._further: dict[int, tuple[Schema, Inferred]] = {}
        """Choices of annotations beside comparators and thresholds, likewise."""
        self._texts: dict[int, _TextsOfSchema] = {}
        """By identity: schemas that may describe texts of JSON, with the texts that have them."""
        self._text_visits: list[_At] = []
        self._found: _Fields = []
        self.written_arms: set[int] = set()
        """Alternatives, by identity, that the schema's own file does not have."""
        self.open_places: list[_At] = []
        """Places of any values whose comparison nothing states."""
        self.annotated = False
        """Whether an annotation of a visited place says how values are compared."""

    def write_contents(self) -> bool:
        """Write the schemas of texts of JSON down; return whether there were any."""
        is_written = False
        for of_schema in self._texts.values():
            texts = Observed()
            for place in of_schema.places:
                texts.absorb(place)
            if texts.is_json_text:
                keywords = json_text_keywords(texts, of_schema.name)
                of_schema.schema.update({**keywords, **of_schema.schema})
                is_written = True
        return is_written

    def fields(self) -> tuple[Inferred, ...]:
        """List every field, each once, though two arms of a union or two positions may have it."""
        self._found = [*self._place((self._root,), _At(self._root.schema))]
        self._finish()
        once: dict[str, Inferred] = {}
        for each in self._found:
            alike = once.setdefault(repr(replace(each, kind="")), each)
            kinds = " or ".join(dict.fromkeys((alike.kind, each.kind)))
            once[repr(replace(each, kind=""))] = replace(alike, kind=kinds)
        return tuple(each for each in once.values() if each.path or each.kind.startswith(LIST_OF))

    def written(self) -> dict[PlaceKey, Inferred]:
        """Write the choices down, and return them; keys that are there stay, right or wrong."""
        choices = dict(self._choices)
        for identity, (schema, further) in self._further.items():
            if identity in choices:
                _, choice = choices[identity]
                reason = f"{choice.reason}; {further.reason}"
                choices[identity] = (
                    schema,
                    replace(choice, further=further.further, reason=reason),
                )
            else:
                choices[identity] = schema, further
        for schema, choice in choices.values():
            schema.update({**choice.annotations(), **schema})
        key_of = self._places.files.key_of
        return {key_of(schema): choice for schema, choice in choices.values()}

    def _again(self, met: Met[_At, _Fields], in_force: InForce, way: _At) -> _Fields:
        """List the fields of a place again if they are few, else refer to it."""
        path, listed = met.way.path, met.made
        if path != way.path:
            self._note_contents_again(path, way.path)
        if listed is not None and len(listed) <= REPEATED:
            return [replace(each, path=(*way.path, *each.path[len(path) :])) for each in listed]
        where = f"as {field_path(path)}" if path else "as the whole document"
        return [self._entry(way, self._places.merge(in_force), Inferred(reason=where), SAME)]

    def _flat(self, in_force: InForce, way: _At) -> _Fields:
        self.annotated |= any(states_comparison(source.schema) for source in in_force)
        return super()._flat(in_force, way)

    def _note_open(self, place: Place, visit: _At) -> None:
        """Take note of a place of any values whose comparison nothing states."""
        match place:
            case ObjectPlace():
                is_open = not place.properties and not place.patterns and place.rest == ()
            case ArrayPlace():
                is_open = not place.positions and not place.elements
            case _:
                is_open = isinstance(place, OpenPlace)
        if is_open and not (isinstance(place, OpenPlace) and says_how(place.merged)):
            self.open_places.append(visit)

    def _make(self, met: Met[_At, _Fields], place: Place) -> _Fields:
        way = met.way
        self._note_open(place, way)
        match place:
            case UnionPlace():
                return self._arms(place.branches, way)
            case ObjectPlace():
                return self._object(place, way)
            case ArrayPlace():
                return self._array(place, way)
            case JsonTextPlace():
                return self._json_text(place, way)
            case LeafPlace():
                return [self._entry(way, place.merged, self._leaf(place, way), place.kind)]
            case WholePlace():
                choice, kind = annotated_choice(place.merged, place.default), WHOLE
            case OpenPlace():  # pragma: no branch - there are no others
                choice, kind = annotated_choice(place.merged), OPEN
        return [self._entry(way, place.merged, choice, kind)]

    def _arms(self, branches: tuple[Branch, ...], at: _At) -> _Fields:
        """List the fields of alternatives; a choice that all share stands beside the union."""
        if len(branches) == 1:
            return self._flat(branches[0].in_force, at)
        holder = at.leaf_holder or at.holder
        places = [self._places.at(branch.in_force, at.inherited) for branch in branches]
        leaves = [place for place in places if isinstance(place, LeafPlace)]
        silent = len(leaves) == len(places) and not any(says_how(leaf.merged) for leaf in leaves)
        if silent and id(holder) in self._own:
            seen, currencies = self._values(at), self._currencies(at)
            by_kind = [leaf_choice(at.name, leaf, seen, currencies) for leaf in leaves]
            choices = agreed(by_kind, [leaf.kind for leaf in leaves])
            if all(choice.annotations() == choices[0].annotations() for choice in choices):
                noted, kind = (
                    self._noted(holder, choices[0], at),
                    " or ".join(leaf.kind for leaf in leaves),
                )
                return [self._entry(at, leaves[0].merged, noted, kind)]
        found = []
        for branch in branches:
            own = branch.arm.schema if branch.arm else _NOWHERE
            found += self._flat(branch.in_force, replace(at, holder=own, leaf_holder=None))
        texts = {
            NUMBER.comparator: "also of texts that are numbers",
            TEXT.comparator: "of texts that are no numbers",
        }
        if len(leaves) < 2 or {each.comparator for each in found} != texts.keys():
            return found
        return [replace(it, reason=f"{it.reason}; {texts[it.comparator]}") for it in found]

    def _noted(self, holder: Schema, choice: Inferred, at: _At) -> Inferred:
        """Take note of a choice; where two fields share a holder, the first has its way."""
        noted = replace(choice, source="inferred", path=at.path)
        return self._choices.setdefault(id(holder), (holder, noted))[1]

    def _json_text(self, place: JsonTextPlace, at: _At) -> _Fields:
        """List the fields of the JSON in a text."""
        if not place.content:
            self._note_content(at)
            return [self._entry(at, place.merged, Inferred(reason=OPEN_TEXT), OPEN)]
        inner = replace(at, holder=place.content[0].schema, leaf_holder=None, around=())
        return self._place(place.content, inner)

    def _note_content(self, visit: _At) -> None:
        """Note the texts of a place, which may all be JSON."""
        schema = visit.holder
        texts = None if self._seen is None else self._seen.texts_at(visit.path)
        if texts is None or id(schema) not in self._own:
            return
        own = self._places.files.at(self._root.schema).uri
        if self._places.files.at(schema).uri != own:
            return
        of_schema = _TextsOfSchema(schema, visit.name, [])
        self._texts.setdefault(id(schema), of_schema).places.append(texts)
        if len(self._text_visits) < MAX_TEXT_VISITS:
            self._text_visits.append(visit)

    def _note_contents_again(self, first: Path, again: Path) -> None:
        """Note the texts of a part of the schema where it describes other values too."""
        for visit in [*self._text_visits]:
            if visit.path[: len(first)] == first:
                self._note_content(replace(visit, path=(*again, *visit.path[len(first) :])))

    def _leaf(self, place: LeafPlace, at: _At) -> Inferred:
        if place.kind == "string" and not (says_how(place.merged) or place.members):
            self._note_content(at)
        parent_name = str(at.path[-2]) if len(at.path) > 1 else ""
        seen, currencies = self._values(at), self._currencies(at)
        choice = leaf_choice(at.name, place, seen, currencies, parent_name=parent_name)
        holder = at.leaf_holder or at.holder
        if says_how(place.merged):
            return choice
        return self._noted(holder, choice, at) if id(holder) in self._own else kind_choice(place)

    def _values(self, at: _At) -> Observed | None:
        return self._seen and self._seen.at(at.path)

    def _currencies(self, visit: _At) -> frozenset[str]:
        """Return the currencies that the documents state beside a place, or nearest around it."""
        seen = self._seen
        for end in range(len(visit.path) - 1, -1, -1) if seen is not None else ():
            parent = seen and seen.at(visit.path[:end])
            if parent is not None and (currencies := stated_currencies(parent)):
                return currencies
        return frozenset()

    def _shape(self, visit: _At, depth: int) -> ListShape | None:
        """Return the form of the arrays seen inside `depth` arrays of the field of a place."""
        return self._seen.lists_at(visit.path, depth) if self._seen and depth >= 0 else None

    def _note_further(
        self, holder: Schema, visit: _At, name: str, value: JsonValue, why: str
    ) -> None:
        """Take note of an annotation that is inferred beside comparators and thresholds."""
        _, noted = self._further.get(id(holder), (holder, Inferred(path=visit.path)))
        further = {**noted.further, annotated(name): value}
        reason = "; ".join(filter(None, (noted.reason, why)))
        self._further[id(holder)] = holder, replace(noted, further=further, reason=reason)

    def _pairs_by_position(self, place: ArrayPlace, visit: _At) -> bool:
        """Infer whether the elements of an array are paired by position, and take note of it."""
        if id(visit.holder) not in self._own:
            return False
        shape, outer = self._shape(visit, visit.depth), self._shape(visit, visit.depth - 1)
        reason = position_reason(visit.name, self._places, place, shape, outer)
        if not reason and visit.depth == 0 and self._is_column(place, visit):
            reason = "a column beside others of equal length, so cells are paired by position"
        if not reason:
            return self._pairs_in_order(place, visit, outer)
        self._note_further(visit.holder, visit, "pairing", "position", reason)
        rows = visit.leaf_holder
        if rows is not None and id(rows) in self._own and place.merged.threshold is None:
            why = "half of the cells make a row the same one"
            self._note_further(rows, visit, "threshold", ROW_THRESHOLD, why)
        return True

    def _is_column(self, place: ArrayPlace, visit: _At) -> bool:
        """Return whether an array is a column of a table that an object holds column by column."""
        if self._seen is None or len(visit.path) < 2:
            return False
        table = self._seen.at(visit.path[:-1])
        return is_column(str(visit.path[-2]), self._places, place, table)

    def _pairs_in_order(self, place: ArrayPlace, visit: _At, outer: ListShape | None) -> bool:
        """Infer whether the numbers of an array keep their order, and take note of it."""
        if not is_series(visit.name, self._places, place, outer):
            return False
        reason = "numbers that have an order"
        self._note_further(visit.holder, visit, "pairing", "ordered", reason)
        return True

    def _array(self, place: ArrayPlace, at: _At) -> _Fields:
        merged, positions, elements = place.merged, place.positions, place.elements
        shape, inner_shape = self._shape(at, at.depth), self._shape(at, at.depth + 1)
        if id(at.holder) in self._own and not says_how(merged):
            box = box_choice(at.name, self._places, place, shape, inner_shape)
            if box is not None and self._boxes != "corners" and not box.config:
                box = replace(box, config={"format": self._boxes}, reason=f"{box.reason}; --boxes")
            if box is not None:
                return [self._entry(at, merged, self._noted(at.holder, box, at), "array")]
        is_paired_by_position = self._pairs_by_position(place, at)
        weight = merged.weight if at.weight is None else at.weight
        if positions and weight is None:
            weight = DEFAULT_WEIGHT
        inside = replace(at, inherited=place.below, weight=weight, listed=not positions)
        rules = (*at.around, *told(merged, ON_ARRAY))
        rules += (BY_POSITION,) if is_paired_by_position else ()
        inside = replace(inside, around=rules, depth=at.depth + 1)
        if not (positions or elements):
            return [self._entry(at, merged, annotated_choice(merged), "array")]
        found: _Fields = []
        if at.listed and at.inherited.threshold is not None:
            reason = "lists are paired by their elements"
            threshold = at.inherited.threshold
            choice = Inferred(threshold=threshold, reason=reason, source="annotation")
            choice = replace(choice, said=("threshold",))
            found.append(self._entry(at, merged, choice, "array"))
        whole = None if positions else at.holder
        for part in (*positions, elements) if elements else positions:
            inner = replace(inside, holder=part[0].schema, leaf_holder=whole)
            found += self._place(part, inner)
        return found

    def _object(self, place: ObjectPlace, at: _At) -> _Fields:
        own = place.merged
        threshold = own.item_threshold if at.listed else own.object_threshold
        # The values of a map go by the name of the map.
        families = [part for part in (*place.patterns.values(), place.rest) if part]
        named = [(name, name, part) for name, part in place.properties.items()]
        declared = [
            (part, _At(part[0].schema, name=name, path=(*at.path, step)))
            for name, step, part in (*named, *((at.name, ANY_KEY, part) for part in families))
        ]
        reason = "by its fields" if declared else "by its fields, each by its own kind"
        if at.listed:  # what an item is worth says nothing of the list
            reason += "" if _keeps_order(at) else f"; items {IN_ANY_ORDER}"
            own = replace(own, weight=None)
        stated = own.match_threshold is not None or (not at.listed and own.threshold is not None)
        who: Who = "annotation" if stated else "default"
        said = ("threshold",) if stated else ()
        choice = Inferred(threshold=threshold, reason=reason, source=who, said=said)
        found = [self._entry(at, own, choice, "object")]

        self._note_running_numbers(place, at)

        def fields() -> _Fields:
            return [field for each in declared for field in self._place(*each)]

        def put_off() -> _Fields:
            self._waiting.append(lambda: self._found.extend(fields()))
            return []

        return found + self._inside(fields, put_off)

    def _note_running_numbers(self, place: ObjectPlace, visit: _At) -> None:
        """Take note of the fields that count the items of a list, which tell none apart."""
        shape = self._shape(visit, visit.depth - 1) if visit.listed else None
        for name in shape.running_numbers if shape else ():
            holder = place.properties[name][0].schema if name in place.properties else _NOWHERE
            if id(holder) in self._own and annotated("pairs_items") not in holder:
                why = "counts the items of each list, and pairs none"
                self._note_further(holder, visit, "pairs_items", value=False, why=why)

    def _entry(self, at: _At, merged: Merged, choice: Inferred, kind: str) -> Inferred:
        if choice.comparator in self._instances:
            instance = self._instances[choice.comparator]
            choice = replace(choice, comparator=instance.name, config=instance.config)
        if choice.reason == ANNOTATED:
            choice = replace(choice, reason=self._comment(at) or ANNOTATED)
        if at.listed and choice.comparator and not _keeps_order(at):
            choice = replace(choice, reason=f"{choice.reason}; {IN_ANY_ORDER}")
        weight = merged.worth if at.weight is None else at.weight
        kind = f"{LIST_OF}{kind}" if at.listed else kind
        if weight != DEFAULT_WEIGHT or (at.weight is None and merged.weight is not None):
            choice = replace(choice, said=(*choice.said, "weight"))
        stands = (
            self._stands(at.holder)
            if kind.endswith("object")
            else self._stands(at.leaf_holder, at.holder)
        )
        rules = (*at.around, *told(merged, ON_PLACE))
        return replace(choice, path=at.path, weight=weight, kind=kind, stands=stands, rules=rules)

    def _comment(self, at: _At) -> str:
        """Return the `$comment` beside annotations, as `stickler init` writes it."""
        holders = (it for it in (at.leaf_holder, at.holder) if it is not None)
        said = (it[COMMENT] for it in holders if COMMENT in it and own_keys(it))
        return next((text for text in said if isinstance(text, str)), "")

    def _stands(self, *holders: Schema | None) -> tuple[str, ...]:
        """Return the pointers to those of some schemas that are in the schema's own file."""
        own = self._places.files.at(self._root.schema).uri
        unnamed = self.written_arms | {id(None), id(_NOWHERE)}
        there = (holder for holder in holders if holder is not None and id(holder) not in unnamed)
        places = map(self._places.files.at, there)
        return tuple(json_pointer(place.path) for place in places if place.uri == own)


def _keeps_order(visit: _At) -> bool:
    """Return whether the order of the elements of the lists around a place matters."""
    return not {ORDERED, BY_POSITION}.isdisjoint(visit.around)


class Inference(NamedTuple):
    """A schema with inferred annotations, and its fields."""

    schema: Any
    """A copy with a comparator, its config and a threshold for every leaf whose own annotations
    say nothing of these."""
    fields: tuple[Inferred, ...]
    """Every field in schema order, parents first. A part that is listed already, or is deep inside
    others, may be one entry, or come last."""
    choices: Mapping[PlaceKey, Inferred]
    """Inferred choices, by the place of the schema that they were written to."""
    is_inferred: bool = False
    """Whether comparisons of places without annotations are inferred."""
    describes_more: bool = False
    """Whether the schema describes other documents than the given one: open places as values
    showed them, or a value or a list of such values as a list."""
    rewritten: tuple[RewrittenUnion, ...] = ()
    """Places whose union the schema writes in another way than the given one."""

    @property
    def annotations(self) -> dict[PlaceKey, JsonObject]:
        """The inferred annotations."""
        return {key: choice.annotations() for key, choice in self.choices.items()}


def infer(  # noqa: PLR0913 - a keyword for each that `compile_schema` has, and one
    schema: JsonValue,
    source: str = "",
    file: FilePath | None = None,
    *,
    when: Infer = "always",
    seen: Observed | None = None,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
    boxes: BoxFormat = "corners",
) -> Inference:
    """Annotate the fields of a schema that do not say how they are compared.

    Args:
        schema: as `compile_schema` takes it, and the rest too; it is not changed.
        source: its name for messages.
        file: where relative references start.
        when: `auto` leaves a schema as it is if a place that it describes says how values are
            compared, and `never` any; then the fields say what it comes to.
        seen: documents of the schema, whose values say more than names.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: instances that the schema refers to by these names.
        boxes: how boxes are written where neither the schema nor the values say it.

    Raises:
        SchemaError: the schema is too deep or describes too much. Anything else that is wrong
            with it is left for `compile_schema` to tell.
    """
    if not isinstance(schema, dict):
        return Inference(schema, (), {})
    names = Comparators(allow_plugins, comparators or {}, boxes)
    if seen is not None:
        seen.settle()

    request = _Request(schema, source, file, names, seen, writes_alternatives=when != "never")
    try:
        marked = when == "auto" and any(states_comparison(part) for _, part in walk(schema))
        may_write = when != "never" and not marked
        walked = request.walk(may_write=may_write)
        if when == "auto" and walked.walker.annotated is may_write:
            # Annotations only in files that it refers to, or only where nothing leads to.
            may_write = not may_write
            walked = request.walk(may_write=may_write)
    except RecursionError:
        problem = Problem(source, "the schema is nested too deeply", "fewer levels", pointer="")
        raise SchemaError([problem]) from None
    except TooManyPlacesError as error:
        raise SchemaError([Problem(source, str(error), "fewer of them", pointer="")]) from None
    choices = walked.walker.written()
    return Inference(
        schema=walked.schema,
        fields=walked.fields,
        choices=choices,
        is_inferred=may_write,
        describes_more=walked.describes_more,
        rewritten=walked.rewritten,
    )


@dataclass(frozen=True, slots=True)
class _WalkedSchema:
    """A copy of a schema with its unions rewritten, and the walk over it."""

    schema: JsonObject
    walker: Walker
    fields: tuple[Inferred, ...]
    rewritten: tuple[RewrittenUnion, ...]
    describes_more: bool
    """Whether the copy describes other documents than the schema, as values or unions showed."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A schema to be annotated, and what is known of its documents."""

    schema: JsonObject
    source: str
    file: FilePath | None
    comparators: Comparators
    seen: Observed | None
    writes_alternatives: bool

    def walk(self, *, may_write: bool) -> _WalkedSchema:
        """Walk over a copy of the schema, again if its texts or open places got a schema."""
        copy: JsonObject = _copied(self.schema)
        lists: list[RewrittenUnion] = []
        if may_write:
            lists = write_lists(copy, lambda: self._places(copy))
        arms, alternatives = write_alternatives(copy) if self.writes_alternatives else ([], [])
        walker = self._walker(copy, arms, may_write=may_write)
        fields = walker.fields()
        is_filled = (
            may_write and self.seen is not None and _fill(copy, walker.open_places, self.seen)
        )
        if walker.write_contents() or is_filled:
            walker = self._walker(copy, arms, may_write=may_write)
            fields = walker.fields()
        return _WalkedSchema(
            schema=copy,
            walker=walker,
            fields=fields,
            rewritten=(*lists, *alternatives) if may_write else (),
            describes_more=is_filled or bool(lists),
        )

    def _places(self, schema: JsonObject) -> tuple[PlaceFinder, Source]:
        files = SchemaFiles(schema, self.source, self.file)
        return PlaceFinder(files, self.comparators, lambda *_: None), files.root

    def _walker(self, schema: JsonObject, arms: Sequence[Schema], *, may_write: bool) -> Walker:
        files = SchemaFiles(schema, self.source, self.file)
        walker = Walker(files, self.comparators, self.seen, may_write=may_write)
        walker.written_arms = {*map(id, arms)}
        return walker


def _fill(schema: Schema, places: Sequence[_At], seen: Observed) -> bool:
    """Describe places of any values by those that were seen there; return whether any was.

    A schema that says nothing of a place would have its texts compared by edit distance.
    """
    inside = {id(part) for _, part in walk(schema)}
    is_filled = False
    for at in places:
        place = seen.place_at(at.path, at.depth) if id(at.holder) in inside else None
        described = {} if place is None else schema_of_place(place, at.name)
        if described.keys() - at.holder.keys():
            at.holder.update({**described, **at.holder})
            is_filled = True
    return is_filled


def _copied(value: JsonValue) -> Any:
    """Copy a schema; one object at two places becomes two."""
    if isinstance(value, list):
        return [_copied(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _copied(part) for key, part in value.items()}
