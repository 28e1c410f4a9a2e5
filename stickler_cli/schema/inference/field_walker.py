"""Walk over a schema, choose annotations for all fields without annotations, and list the fields.

An annotation is written where it has an effect. Examples: beside a reference, not at the
reference's target; on an array of leaves, not on its items. If a field already has annotations that
state a comparison, it is not changed. See docs/inference.md.
"""

from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.comparators.comparator_registry import Comparators
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import ANY_KEY, Path, field_path, json_pointer
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
    describe_annotations,
    own_keys,
    states_comparison,
)
from stickler_cli.schema.combinators import OPEN, Branch, InForce
from stickler_cli.schema.dialects import PlaceKey, Schema, walk
from stickler_cli.schema.places import (
    ArrayPlace,
    JsonTextPlace,
    LeafPlace,
    ObjectPlace,
    OpenPlace,
    Place,
    PlaceFinder,
    PlaceFold,
    UnionPlace,
    Visited,
    WholePlace,
)
from stickler_cli.schema.references import SchemaFiles
from .arrays import ROW_THRESHOLD, choose_box, find_position_reason, is_column, is_series
from .choices import (
    ANNOTATED,
    Inferred,
    Who,
    agree_on_text,
    choose_by_annotations,
    choose_by_kind,
    choose_leaf,
    has_stated_comparison,
    keep_types,
)
from .list_shapes import ListShape
from .name_rules import ARGUMENTS, INPUTS, TOOLS, ends_in, names_a_call
from .observation import Observed, stated_currencies
from .observed_schemas import json_text_keywords

REPEATED: Final = 12
"""A part of the schema can be used at several places. If it has at most this many fields, they are
listed again at each place. A larger part is listed as one entry, `as above`."""

COMMENT: Final = "$comment"
"""The keyword whose text explains a field's annotations."""
SAME: Final = "as above"
"""The kind that is shown for a part of the schema whose fields are already listed at another
path."""
MAX_TEXT_VISITS: Final = 1_000  # number of visits that are remembered
LIST_OF: Final = "list of "
"""Prefix of the kind of list elements, as in `list of string`. If the document itself is a list,
its elements are listed as one field with an empty path and a kind that begins with this prefix."""
IN_ANY_ORDER: Final = "in any order"
"""Text at the end of the reason for a comparison. It states that the order of list elements does
not matter."""
OPEN_TEXT: Final = "a text that contains JSON: values of any type, each compared by its type"
WHOLE: Final = "array or object"
"""The kind of an array or object that a comparator compares as one value."""


class FieldVisit(NamedTuple):
    """A visit of one place during the walk over a schema (see `stickler_cli.schema.places`)."""

    holder: Schema
    """The part of the schema to which annotations of the place are added."""
    leaf_holder: Schema | None = None
    """The schema of the list that contains the place; None if no list contains it directly. If the
    place is a single value, its annotations are added to the list's schema."""
    name: str = ""
    """Name of the field that contains the place."""
    path: Path = ()
    inherited: Merged = NOTHING_INHERITED
    weight: float | None = None
    """Weight that the surrounding array gives to its elements. If it is None, the weight of the
    place itself is used."""
    listed: bool = False
    """Whether the place is an element of a list."""
    depth: int = 0
    """Number of arrays between the field and the place: 0 for the field itself, 1 for the elements
    of its list, 2 for the cells of a table."""
    list_rules: tuple[str, ...] = ()
    """How the surrounding arrays pair their elements, in words such as `ordered`."""
    is_in_text: bool = False
    """Whether the place is a JSON value that is written inside a text, or an element of this value.
    In `{"items": "[1, 2]"}`, such places are the list and its numbers. `path` is then the path of
    the text."""
    has_rows_in_any_order: bool = False
    """Whether the elements of the outermost array are paired in any order. These elements may be
    arrays themselves, such as the rows of a table."""

    @property
    def key(self) -> tuple[object, ...]:
        """The properties of a visit that decide the comparison of the place.

        If a place is visited twice with equal keys, the result of the first visit is reused.
        """
        holders = id(self.holder), id(self.leaf_holder)
        return (*holders, self.name, self.inherited.signature, self.weight, self.listed)


_Fields: TypeAlias = list[Inferred]
_NOWHERE: Final[Schema] = {}
"""The `holder` of a place if no object in the schema describes exactly this place. An example is
the alternative `string` in `{"type": ["string", "object"]}`. Such a place gets no annotations."""


class _TextsOfSchema(NamedTuple):
    """The observed texts of all fields that one schema describes."""

    schema: Schema
    name: str
    """Name of the first field that the schema describes."""
    places: list[Observed]


class FieldWalker(PlaceFold[FieldVisit, _Fields]):
    """Chooses a comparison for each field without annotations, and lists the fields."""

    def __init__(
        self,
        files: SchemaFiles,
        comparators: Comparators,
        seen: Observed | None,
        *,
        may_write: bool,
    ) -> None:
        """Take a schema that may be changed, and the observed values of its documents."""
        self._seen = seen
        self._root = files.root
        self._own: set[int] = set()
        """Identities (`id()`) of the schemas to which annotations may be added. The schemas `true`
        and `false` cannot have annotations. During the walk, an object stands for each of them, and
        this object is not included."""
        own_schemas = self._own  # `files` must not refer to the walker: a cycle stays in memory

        def note(schema: Schema) -> bool:
            own_schemas.update(id(subschema) for _, subschema in walk(schema))
            return True

        if may_write:
            note(files.root.schema)
            files.accept = note
        # The compiler reports references that lead nowhere.
        super().__init__(PlaceFinder(files, comparators, lambda *_: None))
        self._instances = comparators.instances
        self._boxes = comparators.boxes
        self._choices: dict[int, tuple[Schema, Inferred]] = {}
        self._further: dict[int, tuple[Schema, Inferred]] = {}
        """Maps the `id()` of a schema to a pair: the schema, and an `Inferred` object. The
        `other_annotations` of the `Inferred` object are to be added to the schema."""
        self._texts: dict[int, _TextsOfSchema] = {}
        """Maps the `id()` of a schema to the observed texts of all fields that use the schema. The
        texts may contain JSON."""
        self._text_visits: list[FieldVisit] = []
        self._entries: _Fields = []
        self._currencies: dict[Path, frozenset[str]] = {}
        """Maps the path of an object to the currencies of the amounts in it."""
        self._has_argument_key: dict[Path, bool] = {}
        """Maps the path of an object to whether one of its keys is for the arguments of a call."""
        self.written_arms: set[int] = set()
        """The `id()` of each union alternative that was added to the copy of the schema. These
        alternatives are not in the schema's file."""
        self.open_places: list[FieldVisit] = []
        """Visits of places whose content the schema does not limit: a value of any type, an object
        with any keys and values, or a list with any elements. A value of any type is not included
        if an annotation states how it is compared."""
        self.annotated = False
        """Whether an annotation of a visited place states how values are compared."""

    def write_contents(self) -> bool:
        """Add schemas for the contents of JSON texts. Return whether any were added."""
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

    def list_fields(self) -> tuple[Inferred, ...]:
        """Return all fields of the schema.

        If a field is the same in several alternatives of a union, or at several positions of a
        tuple, it is listed once.
        """
        self._entries = [*self._visit_place((self._root,), FieldVisit(self._root.schema))]
        self._finish()
        fields_by_content: dict[str, Inferred] = {}
        for field in self._entries:
            same_field = fields_by_content.setdefault(repr(replace(field, kind="")), field)
            kinds = " or ".join(dict.fromkeys((same_field.kind, field.kind)))
            fields_by_content[repr(replace(field, kind=""))] = replace(same_field, kind=kinds)
        return tuple(
            field
            for field in fields_by_content.values()
            if field.path or field.kind.startswith(LIST_OF)
        )

    def write_choices(self) -> dict[PlaceKey, Inferred]:
        """Add the chosen annotations to the schema, and return them.

        Keys that the schema already has are not changed.
        """
        choices = dict(self._choices)
        for identity, (schema, noted) in self._further.items():
            if identity in choices:
                _, choice = choices[identity]
                reason = f"{choice.reason}; {noted.reason}"
                choices[identity] = (
                    schema,
                    replace(choice, other_annotations=noted.other_annotations, reason=reason),
                )
            else:
                choices[identity] = schema, noted
        for schema, choice in choices.values():
            schema.update({**choice.annotations(), **schema})
        key_of = self._places.files.key_of
        return {key_of(schema): choice for schema, choice in choices.values()}

    def _revisit(
        self, visited: Visited[FieldVisit, _Fields], in_force: InForce, visit: FieldVisit
    ) -> _Fields:
        """List the fields of a part of the schema that was already visited at another path.

        If the part has many fields, only one entry is returned, which refers to the first path.
        """
        path, listed = visited.visit.path, visited.outcome
        if path != visit.path:
            self._note_contents_again(path, visit.path)
        if listed is not None and len(listed) <= REPEATED:
            return [
                replace(field, path=(*visit.path, *field.path[len(path) :])) for field in listed
            ]
        reason = f"as {field_path(path)}" if path else "as the whole document"
        return [
            self._make_entry(visit, self._places.merge(in_force), Inferred(reason=reason), SAME)
        ]

    def _visit_flat(self, in_force: InForce, visit: FieldVisit) -> _Fields:
        self.annotated |= any(states_comparison(source.schema) for source in in_force)
        return super()._visit_flat(in_force, visit)

    def _note_open(self, place: Place, visit: FieldVisit) -> None:
        """Add a visit to `open_places` if the schema does not limit the content of the place."""
        match place:
            case ObjectPlace():
                is_open = not place.properties and not place.patterns and place.other_keys == ()
            case ArrayPlace():
                is_open = not place.positions and not place.elements
            case _:
                is_open = isinstance(place, OpenPlace)
        if is_open and not (isinstance(place, OpenPlace) and has_stated_comparison(place.merged)):
            self.open_places.append(visit)

    def _build(self, visited: Visited[FieldVisit, _Fields], place: Place) -> _Fields:
        """Choose annotations for a place.

        Return the entries of the place and of everything inside it.
        """
        visit = visited.visit
        self._note_open(place, visit)
        match place:
            case UnionPlace():
                return self._list_alternatives(place.branches, visit)
            case ObjectPlace():
                return self._list_object_fields(place, visit)
            case ArrayPlace():
                return self._list_array_fields(place, visit)
            case JsonTextPlace():
                return self._list_json_fields(place, visit)
            case LeafPlace():
                return [
                    self._make_entry(
                        visit, place.merged, self._choose_leaf(place, visit), place.kind
                    )
                ]
            case WholePlace():
                choice, kind = choose_by_annotations(place.merged, place.default), WHOLE
            case OpenPlace():  # pragma: no branch - all kinds of places are listed
                choice, kind = choose_by_annotations(place.merged), OPEN
        return [self._make_entry(visit, place.merged, choice, kind)]

    def _list_alternatives(self, branches: tuple[Branch, ...], visit: FieldVisit) -> _Fields:
        """List the fields of a union's alternatives.

        If the same comparison is chosen for all alternatives, its annotations are added beside the
        union.
        """
        if len(branches) == 1:
            return self._visit_flat(branches[0].in_force, visit)
        holder = visit.leaf_holder or visit.holder
        places = [self._places.find_place(branch.in_force, visit.inherited) for branch in branches]
        leaves = [place for place in places if isinstance(place, LeafPlace)]
        silent = len(leaves) == len(places) and not any(
            has_stated_comparison(leaf.merged) for leaf in leaves
        )
        if silent and id(holder) in self._own:
            seen, currencies = self._seen_values(visit), self._find_currencies(visit.path[:-1])
            by_kind = [choose_leaf(visit.name, leaf, seen, currencies) for leaf in leaves]
            choices = agree_on_text(by_kind, [leaf.kind for leaf in leaves])
            if all(choice.annotations() == choices[0].annotations() for choice in choices):
                noted, kind = (
                    self._note_choice(holder, choices[0], visit),
                    " or ".join(leaf.kind for leaf in leaves),
                )
                return [self._make_entry(visit, leaves[0].merged, noted, kind)]
        fields = []
        for branch in branches:
            arm_schema = branch.arm.schema if branch.arm else _NOWHERE
            fields += self._visit_flat(
                branch.in_force, visit._replace(holder=arm_schema, leaf_holder=None)
            )
        texts = {
            NUMBER.comparator: "also for texts that are numbers",
            TEXT.comparator: "for texts that are not numbers",
        }
        if len(leaves) < 2 or {field.comparator for field in fields} != texts.keys():
            return fields
        return [
            replace(field, reason=f"{field.reason}; {texts[field.comparator]}") for field in fields
        ]

    def _note_choice(self, holder: Schema, choice: Inferred, visit: FieldVisit) -> Inferred:
        """Remember the comparison chosen for a schema.

        If two fields share a schema, the first comparison is kept.
        """
        noted = replace(choice, source="inferred", path=visit.path)
        return self._choices.setdefault(id(holder), (holder, noted))[1]

    def _list_json_fields(self, place: JsonTextPlace, visit: FieldVisit) -> _Fields:
        """Return the fields of the JSON values that texts contain."""
        if not place.content:
            self._note_content(visit)
            return [self._make_entry(visit, place.merged, Inferred(reason=OPEN_TEXT), OPEN)]
        inner = visit._replace(
            holder=place.content[0].schema, leaf_holder=None, list_rules=(), is_in_text=True
        )
        return self._visit_place(place.content, inner)

    def _note_content(self, visit: FieldVisit) -> None:
        """Remember the observed texts of a place.

        They are examined later, because they may be JSON.
        """
        schema = visit.holder
        texts = None if self._seen is None else self._seen.find_texts(visit.path)
        if texts is None or visit.is_in_text or id(schema) not in self._own:
            return
        own_uri = self._places.files.locate(self._root.schema).uri
        if self._places.files.locate(schema).uri != own_uri:
            return
        of_schema = _TextsOfSchema(schema, visit.name, [])
        self._texts.setdefault(id(schema), of_schema).places.append(texts)
        if len(self._text_visits) < MAX_TEXT_VISITS:
            self._text_visits.append(visit)

    def _note_contents_again(self, first: Path, again: Path) -> None:
        """Remember the observed texts of a place whose schema was already visited at another place.

        `first` is the path at which the schema was visited first, and `again` is the path of the
        second place. For each text field at or below `first` whose texts were remembered, the texts
        of the matching field at or below `again` are remembered, too.
        """
        for visit in [*self._text_visits]:
            if visit.path[: len(first)] == first:
                self._note_content(visit._replace(path=(*again, *visit.path[len(first) :])))

    def _choose_leaf(self, place: LeafPlace, visit: FieldVisit) -> Inferred:
        """Return the comparison of a leaf.

        If the schema does not state a comparison, the chosen one is remembered, so that annotations
        for it can be added later.
        """
        is_stated = has_stated_comparison(place.merged)
        if place.kind == "string" and not (is_stated or place.members):
            self._note_content(visit)
        seen, currencies = self._seen_values(visit), self._find_currencies(visit.path[:-1])
        is_called = self._is_inside_call(visit)
        choice = choose_leaf(visit.name, place, seen, currencies, is_called=is_called)
        if choice.source != "annotation" and self._is_argument(visit):
            choice = keep_types(choice)
        holder = visit.leaf_holder or visit.holder
        if is_stated:
            return choice
        if id(holder) in self._own:
            return self._note_choice(holder, choice, visit)
        # No annotation can be added to this schema, so the compiler will compare by kind.
        return choose_by_kind(place)

    def _is_argument(self, visit: FieldVisit) -> bool:
        """Return whether a leaf is an argument of a tool or function."""
        containers = visit.path if visit.depth else visit.path[:-1]
        return any(
            self._has_arguments(visit.path[:length]) for length in range(1, len(containers) + 1)
        )

    def _is_inside_call(self, visit: FieldVisit) -> bool:
        """Return whether a leaf is in an object that seems to describe a call of a tool.

        Such an object is named like a tool, for example `tool_use`, or has a field with arguments.
        """
        parent_path = visit.path[:-1]
        if parent_path and names_a_call(str(parent_path[-1])):
            return True
        if parent_path not in self._has_argument_key:
            parent = None if self._seen is None else self._seen.find_field(parent_path)
            keys = () if parent is None else parent.fields
            self._has_argument_key[parent_path] = any(ends_in(key, ARGUMENTS) for key in keys)
        return self._has_argument_key[parent_path]

    def _has_arguments(self, path: Path) -> bool:
        """Return whether a field contains the arguments of a call.

        A field whose name ends in one of `ARGUMENTS` always contains arguments. The names in
        `INPUTS` are less certain. A field with such a name contains arguments only if another field
        of the same object contains the name of a tool.
        """
        name = str(path[-1])
        if ends_in(name, ARGUMENTS):
            return True
        if self._seen is None or not ends_in(name, INPUTS):
            return False
        call = self._seen.find_field(path[:-1])
        return call is not None and any(
            ends_in(key, TOOLS) and seen.has_names_of_code(are_called=names_a_call(key))
            for key, seen in call.fields.items()
        )

    def _seen_values(self, visit: FieldVisit) -> Observed | None:
        return self._seen and self._seen.find_field(visit.path)

    def _find_currencies(self, path: Path) -> frozenset[str]:
        """Return the currencies that the object at a path states.

        If it states none, return those of the nearest object around it that does.
        """
        if self._seen is None:
            return frozenset()
        currencies = frozenset[str]()
        visited_paths = []
        for end in range(len(path), -1, -1):
            outer_path = path[:end]
            if outer_path in self._currencies:
                currencies = self._currencies[outer_path]
                break
            visited_paths.append(outer_path)
            seen_object = self._seen.find_field(outer_path)
            if seen_object is not None and (currencies := stated_currencies(seen_object)):
                break
        self._currencies |= dict.fromkeys(visited_paths, currencies)
        return currencies

    def _find_shape(self, visit: FieldVisit, depth: int) -> ListShape | None:
        """Return the statistics of a field's arrays that are inside `depth` other arrays."""
        return self._seen.find_shape(visit.path, depth) if self._seen and depth >= 0 else None

    def _note_further(
        self, holder: Schema, visit: FieldVisit, name: str, value: JsonValue, reason: str
    ) -> None:
        """Remember an annotation that will be added to the schema `holder`.

        It is one of `Inferred.other_annotations`, such as the annotation that states how the
        elements of a list are paired. `name` is the Python name of the annotation. `value` is its
        value. `reason` explains why it was chosen.
        """
        _, noted = self._further.get(id(holder), (holder, Inferred(path=visit.path)))
        annotations = {**noted.other_annotations, annotated(name): value}
        reasons = "; ".join(filter(None, (noted.reason, reason)))
        self._further[id(holder)] = (
            holder,
            replace(noted, other_annotations=annotations, reason=reasons),
        )

    def _infer_pairing_rule(self, place: ArrayPlace, visit: FieldVisit) -> str:
        """Infer whether the elements of an array must be paired by position or in order.

        By position means that the third element is only compared with the third element. In order
        means that elements may be skipped, but never swapped. If one of the two applies and the
        array may be annotated, the annotation is remembered, and the result is `BY_POSITION` or
        `ORDERED`. Otherwise the result is an empty text.
        """
        if id(visit.holder) not in self._own:
            return ""
        shape = self._find_shape(visit, visit.depth)
        outer = self._find_shape(visit, visit.depth - 1)
        reason = find_position_reason(visit.name, self._places, place, shape, outer)
        if not reason and visit.depth == 0 and self._is_column(place, visit):
            reason = (
                "a column next to other columns of equal length, so cells are paired by position"
            )
        if not reason and is_series(visit.name, self._places, place, outer):
            why = "numbers in a meaningful order"
            self._note_further(visit.holder, visit, "pairing", "ordered", why)
            return ORDERED
        if not reason:
            return ""
        self._note_further(visit.holder, visit, "pairing", "position", reason)
        rows = visit.leaf_holder
        if rows is not None and id(rows) in self._own and place.merged.threshold is None:
            why = "two rows match if at least half of their cells match"
            self._note_further(rows, visit, "threshold", ROW_THRESHOLD, why)
        return BY_POSITION

    def _is_column(self, place: ArrayPlace, visit: FieldVisit) -> bool:
        """Return whether an array is a column of a table whose columns are fields of an object."""
        if self._seen is None or len(visit.path) < 2:
            return False
        table = self._seen.find_field(visit.path[:-1])
        return is_column(str(visit.path[-2]), self._places, place, table)

    def _list_array_fields(self, place: ArrayPlace, visit: FieldVisit) -> _Fields:
        """Return the entry of a list, box or tuple, and the entries of fields in its elements."""
        merged, positions, elements = place.merged, place.positions, place.elements
        shape = self._find_shape(visit, visit.depth)
        inner_shape = self._find_shape(visit, visit.depth + 1)
        if id(visit.holder) in self._own and not has_stated_comparison(merged):
            box = choose_box(visit.name, self._places, place, shape, inner_shape)
            if box is not None and self._boxes != "corners" and not box.config:
                box = replace(box, config={"format": self._boxes}, reason=f"{box.reason}; --boxes")
            if box is not None:
                return [
                    self._make_entry(
                        visit, merged, self._note_choice(visit.holder, box, visit), "array"
                    )
                ]
        pairing_rule = self._infer_pairing_rule(place, visit)
        weight = merged.weight if visit.weight is None else visit.weight
        if positions and weight is None:
            weight = DEFAULT_WEIGHT
        element_visit = visit._replace(inherited=place.below, weight=weight, listed=not positions)
        rules = (*visit.list_rules, *describe_annotations(merged, ON_ARRAY))
        rules += (pairing_rule,) if pairing_rule else ()
        has_rows_in_any_order = visit.has_rows_in_any_order
        if visit.depth == 0:
            has_rows_in_any_order = {ORDERED, BY_POSITION}.isdisjoint(rules)
        element_visit = element_visit._replace(
            list_rules=rules,
            depth=visit.depth + 1,
            has_rows_in_any_order=has_rows_in_any_order,
        )
        if not (positions or elements):
            return [self._make_entry(visit, merged, choose_by_annotations(merged), "array")]
        fields: _Fields = []
        if visit.listed and visit.inherited.threshold is not None:
            reason = "these lists are paired by their elements"
            threshold = visit.inherited.threshold
            choice = Inferred(threshold=threshold, reason=reason, source="annotation")
            choice = replace(choice, stated=("threshold",))
            fields.append(self._make_entry(visit, merged, choice, "array"))
        leaf_holder = None if positions else visit.holder
        all_elements = (*positions, elements) if elements else positions
        for in_force in all_elements:
            inner = element_visit._replace(holder=in_force[0].schema, leaf_holder=leaf_holder)
            fields += self._visit_place(in_force, inner)
        return fields

    def _list_object_fields(self, place: ObjectPlace, visit: FieldVisit) -> _Fields:
        """Return the entry of an object, and the entries of its fields."""
        merged = place.merged
        threshold = merged.item_threshold if visit.listed else merged.object_threshold
        declared = [
            (in_force, FieldVisit(in_force[0].schema, name=name, path=(*visit.path, name)))
            for name, in_force in place.properties.items()
        ]
        # The values of a map get a comparison by the name of the map.
        declared += [
            (in_force, FieldVisit(in_force[0].schema, name=visit.name, path=(*visit.path, ANY_KEY)))
            for in_force in (*place.patterns.values(), place.other_keys)
            if in_force
        ]
        reason = "by its fields" if declared else "compared field by field"
        if visit.listed:  # the weight of an item is not that of the list
            reason += "" if _keeps_order(visit) else f"; items {IN_ANY_ORDER}"
            merged = replace(merged, weight=None)
        stated = merged.match_threshold is not None or (
            not visit.listed and merged.threshold is not None
        )
        threshold_source: Who = "annotation" if stated else "default"
        stated_settings = ("threshold",) if stated else ()
        choice = Inferred(
            threshold=threshold, reason=reason, source=threshold_source, stated=stated_settings
        )
        entries = [self._make_entry(visit, merged, choice, "object")]

        self._note_running_numbers(place, visit)

        def list_fields() -> _Fields:
            fields: _Fields = []
            for in_force, field_visit in declared:
                fields += self._visit_place(in_force, field_visit)
            return fields

        def put_off() -> _Fields:
            self._waiting.append(lambda: self._entries.extend(list_fields()))
            return []

        return entries + self._enter_object(list_fields, put_off)

    def _note_running_numbers(self, place: ObjectPlace, visit: FieldVisit) -> None:
        """Find fields that number the items of a list, such as a line number.

        Remember an annotation for each of these fields: the field is not used to pair items.
        """
        shape = self._find_shape(visit, visit.depth - 1) if visit.listed else None
        if shape is None:
            return
        for name in shape.running_numbers:
            holder = place.properties[name][0].schema if name in place.properties else _NOWHERE
            if id(holder) in self._own and annotated("pairs_items") not in holder:
                why = "this field numbers the items of each list, so it is not used to pair items"
                self._note_further(holder, visit, "pairs_items", value=False, reason=why)

    def _make_entry(
        self, visit: FieldVisit, merged: Merged, choice: Inferred, kind: str
    ) -> Inferred:
        """Return the entry of a field for the list of fields.

        It has the field's comparison, path, weight and reason.
        """
        if choice.comparator in self._instances:
            instance = self._instances[choice.comparator]
            choice = replace(choice, comparator=instance.name, config=instance.config)
        if choice.reason == ANNOTATED:
            choice = replace(choice, reason=self._find_comment(visit) or ANNOTATED)
        if visit.listed and choice.comparator and not _keeps_order(visit):
            choice = replace(choice, reason=f"{choice.reason}; {IN_ANY_ORDER}")
        elif visit.depth > 1 and choice.comparator and visit.has_rows_in_any_order:
            choice = replace(choice, reason=f"{choice.reason}; rows {IN_ANY_ORDER}")
        weight = merged.effective_weight if visit.weight is None else visit.weight
        kind = f"{LIST_OF}{kind}" if visit.listed else kind
        if weight != DEFAULT_WEIGHT or (visit.weight is None and merged.weight is not None):
            choice = replace(choice, stated=(*choice.stated, "weight"))
        stands = (
            self._find_pointers(visit.holder)
            if kind.endswith("object")
            else self._find_pointers(visit.leaf_holder, visit.holder)
        )
        rules = (*visit.list_rules, *describe_annotations(merged, ON_PLACE))
        return replace(
            choice, path=visit.path, weight=weight, kind=kind, stands=stands, rules=rules
        )

    def _find_comment(self, visit: FieldVisit) -> str:
        """Return the `$comment` beside a field's annotations; empty if there is none."""
        holders = (holder for holder in (visit.leaf_holder, visit.holder) if holder is not None)
        comments = (holder[COMMENT] for holder in holders if COMMENT in holder and own_keys(holder))
        return next((text for text in comments if isinstance(text, str)), "")

    def _find_pointers(self, *holders: Schema | None) -> tuple[str, ...]:
        """Return JSON Pointers to the given schemas, except those in other files."""
        own_uri = self._places.files.locate(self._root.schema).uri
        unnamed = self.written_arms | {id(None), id(_NOWHERE)}
        named_holders = (
            holder for holder in holders if holder is not None and id(holder) not in unnamed
        )
        places = map(self._places.files.locate, named_holders)
        return tuple(json_pointer(place.path) for place in places if place.uri == own_uri)


def _keeps_order(visit: FieldVisit) -> bool:
    """Return whether an array that contains the visited place pairs its elements in a fixed order.

    The array then pairs its elements in order or by position, and not in any order.
    """
    return not {ORDERED, BY_POSITION}.isdisjoint(visit.list_rules)
