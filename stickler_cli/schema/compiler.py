"""From an annotated JSON Schema to a plan, each place compiled once, or to one SchemaError."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.comparators.texts import LevenshteinComparator
from stickler_cli.compare.arranged import list_object_nodes, may_be_object
from stickler_cli.compare.engine import OTHER_NAMES
from stickler_cli.compare.field_listing import plan_of
from stickler_cli.compare.json_text import JsonTextNode
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode, SequenceNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode, RecursionNode, Target
from stickler_cli.compare.open import document_node
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD, TupleNode
from stickler_cli.core.json_values import DocumentKind, JsonObject, JsonValue, brief
from stickler_cli.core.problems import Problem, SchemaError, did_you_mean
from stickler_cli.settings.deciding import BoxFormat
from .annotations import (
    FORM,
    NOTHING_INHERITED,
    ON_LIST,
    ON_OBJECT,
    ON_POSITIONS,
    ON_VALUE,
    PREFIX,
    TEXT,
    Merged,
)
from .combinators import Branch, InForce, declared_types, leads_back, named_schemas
from .dialects import SUPPORTED, TOO_OLD, PlaceKey, Schema, Source, named_dialect
from .judging import EngineError, PicklablePattern
from .kinds import LeafNodes, list_rules, open_default
from .places import (
    ArrayPlace,
    JsonTextPlace,
    Met,
    ObjectPlace,
    OpenPlace,
    Place,
    PlaceFinder,
    PlaceFold,
    SinglePlace,
    TooManyPlacesError,
    UnionPlace,
    key_of,
)
from .references import LeadsNowhereError, SchemaFiles
from .schema_problems import (
    OBJECTS,
    POSITIONS,
    SOMEWHERE,
    AnnotationUsage,
    Problems,
    check,
    without_doubled_values,
    without_invalid_places,
)
from .verdicts import (
    NumberAcceptor,
    Reach,
    SchemaAcceptor,
    TypeAcceptor,
    acceptor_of,
)

DEFAULT_MODEL_NAME: Final = "DynamicModel"
"""Name of a model whose schema gives none. Source: docs/schema.md."""

LARGE: Final = 50
"""Nodes of a place that is in a plan once; where it is needed again a reference to it stands, so
that a plan is never much larger than its schema."""

NO_DOCUMENT: Final = "the schema describes no document"
DOCUMENT_EXPECTED: Final = "a schema of JSON objects or of arrays, which documents are"
DOCUMENTS: Final[Mapping[DocumentKind, tuple[type[Node], ...]]] = {
    "object": (ObjectNode,),
    "array": (SequenceNode,),
}
"""The nodes that compare documents; where a schema allows both kinds, they are objects."""


class _LoopError(Exception):
    """A place that is nothing but itself."""


@dataclass(frozen=True, slots=True)
class Built:
    """The node of one place of the documents."""

    node: Node
    aggregate: bool | None
    """The place's own aggregate annotation."""
    speaks_for_list: bool = True
    """Whether, as the element of a list, its weight and aggregate are the list's."""
    ignored: bool = False
    """Whether nobody looks at its values."""
    pairs_items: bool = True
    """Whether it has a say in which list items are pairs."""


@dataclass(frozen=True, slots=True)
class _Way:
    inherited: Merged = NOTHING_INHERITED
    unions: "tuple[Met[_Way, Built], ...]" = ()
    """The places that are unions and have this one as an alternative."""
    key = ()


_FROM_NOWHERE: Final = _Way()
_Met: TypeAlias = Met[_Way, Built]


class Compiler(PlaceFold[_Way, Built]):
    """Compiles each place of a schema once; places that contain themselves become recursions."""

    def __init__(self, files: SchemaFiles, problems: Problems, comparators: Comparators) -> None:
        super().__init__(PlaceFinder(files, comparators, self._report))
        self._files = files
        self._problems = problems
        self._kinds = LeafNodes(files, problems, comparators)
        self._usage = AnnotationUsage(files, problems)
        self._reach = Reach(files)
        self._judging: list[tuple[Source, SchemaAcceptor]] = []
        self._table: list[Node | None] = []
        self._targets: dict[_Met, Target] = {}
        """Where references to a place lead, once there are any."""
        self._size = 0
        self._sizes: dict[_Met, int] = {}
        """Nodes in each place that is built."""

    def plan(self) -> Plan:
        """Compile the whole schema; problems are noted on the way."""
        in_force = self._places.flat((self._files.root,))
        built = self._flat(in_force, _FROM_NOWHERE)
        self._finish()
        kind, root = self._documents(built.node, declared_types(in_force))
        if root is None:
            self._problems.add(self._files.root.schema, (), NO_DOCUMENT, DOCUMENT_EXPECTED)
        self._usage.report()
        for source, acceptor in [] if self._problems else self._judging:
            try:
                acceptor.validator  # noqa: B018 - built once all documents are there
            except EngineError as error:
                found = f"no value can be judged by this alternative ({error})"
                self._problems.add(source.schema, (), found, "what docs/schema.md says of patterns")
        name = self._places.merge(in_force).model_name or DEFAULT_MODEL_NAME
        if built.ignored:
            found, expected = "whole documents are ignored", "a place in them that is not"
            self._problems.add(self._files.root.schema, (), found, expected)
        return plan_of(root or built.node, name, kind)

    def _documents(
        self, node: Node, types: Sequence[str] | None
    ) -> tuple[DocumentKind, Node | None]:
        """Return the kind of the documents, and the part of the root's node that compares them."""
        for kind, nodes in DOCUMENTS.items():
            if types is None or kind in types:
                root = document_node(node, nodes)
                if root is not None:
                    return kind, root
        return "object", None

    def _make(self, met: _Met, place: Place) -> Built:
        before = self._size
        if isinstance(place, UnionPlace):
            made = self._union(met, place)
        else:
            made = self._built(place)
            made = replace(made, ignored=made.ignored or bool(place.merged.ignore))
            if place.merged.any_of:
                made = replace(made, node=replace(made.node, any_of=True))
            made = replace(made, pairs_items=place.merged.pairs_items is not False)
        self._size += 1
        self._sizes[met] = self._size - before
        if met in self._targets:
            self._targets[met].node = made.node
        return made

    def _built(self, place: SinglePlace) -> Built:
        merged = place.merged
        if isinstance(place, ArrayPlace | ObjectPlace):
            if merged.comparator is not None:
                self._kinds.comparator(merged, TEXT)  # has its problems noted
            return self._object(place) if isinstance(place, ObjectPlace) else self._array(place)
        if isinstance(place, OpenPlace):
            self._usage.note(merged, "", *SOMEWHERE)
            return Built(self._kinds.open(merged, place.own), merged.aggregate)
        if isinstance(place, JsonTextPlace):
            return self._json_text(place)
        self._usage.note(merged, place.name, *ON_VALUE)
        return Built(self._kinds.leaf(merged, place.default), merged.aggregate)

    def _json_text(self, place: JsonTextPlace) -> Built:
        self._usage.note(place.merged, "a text of JSON")
        content = self._elements(place.content, NOTHING_INHERITED).node
        text = self._kinds.leaf(NOTHING_INHERITED, FORM)
        node = JsonTextNode(
            threshold=content.threshold,
            threshold_source=content.threshold_source,
            weight=place.merged.worth,
            content=content,
            text=text,
        )
        return Built(node, place.merged.aggregate)

    def _array(self, place: ArrayPlace) -> Built:
        merged = place.merged
        if place.positions:
            self._usage.note(merged, "an array", "pairing_floor", *ON_VALUE)
            return Built(self._tuple(place), merged.aggregate)
        items = self._elements(place.elements, place.below)
        node, stated, source = items.node, merged.threshold, self._kinds.source(merged)
        by_position = merged.list_pairing == "position"
        key = ("key",) if may_be_object(node) and not by_position else ()
        if by_position:
            on_value = ON_VALUE if items.speaks_for_list or place.by_model else ()
            self._usage.note(merged, POSITIONS, *ON_POSITIONS, *on_value)
        elif items.speaks_for_list or place.by_model:
            self._usage.note(merged, "an array", *key, *ON_LIST, *ON_VALUE)
        else:
            self._usage.note(merged, OBJECTS, *key, *ON_LIST)
        if key and merged.key:
            self._waiting.append(lambda: self._check_key(merged, node))
        weight, aggregate = merged.worth, merged.aggregate
        if items.speaks_for_list:
            weight = node.weight if merged.weight is None else weight
            aggregate = items.aggregate if aggregate is None else aggregate
        made = ListNode(
            other=open_default(),
            threshold=node.item_threshold if stated is None else stated,
            threshold_stated=stated is not None,
            threshold_source=node.source_for(None) if stated is None else source,
            weight=weight,
            items=node,
            pairing_floor=merged.pairing_floor,
            key=merged.keys if key else (),
            **list_rules(merged),
        )
        return Built(made, aggregate, ignored=items.ignored)

    def _check_key(self, merged: Merged, items: Node) -> None:
        """Note the fields of a key that no kind of item declares."""
        objects = list_object_nodes(items)
        declared = [field.name for one in objects for field in (*one.fields, *one.ignored)]
        for name in merged.keys if merged.key else ():
            if name not in declared:
                holder = next(schema for schema, own in merged.own if "key" in own)
                expected = f"fields of the items: {', '.join(declared) or 'they declare none'}"
                found, hint = f"key names {name}", did_you_mean(name, declared)
                self._problems.add(holder, (f"{PREFIX}key",), found, expected, hint)

    def _tuple(self, place: ArrayPlace) -> Node:
        threshold, below = place.merged.threshold, place.below
        built = [self._elements(part, below) for part in (*place.positions, place.elements)]
        return TupleNode(
            other=open_default(),
            threshold=DEFAULT_TUPLE_THRESHOLD if threshold is None else threshold,
            threshold_source="default" if threshold is None else "annotation",
            weight=place.merged.worth,
            positions=tuple(part.node for part in built[:-1]),
            other_positions=built[-1].node,
            ignored=frozenset(at for at, part in enumerate(built) if part.ignored),
        )

    def _elements(self, in_force: InForce, below: Merged) -> Built:
        """Compile the schemas that speak about elements; without any, elements are open."""
        if in_force:
            return self._place(in_force, _Way(below))
        return Built(self._kinds.open(self._places.merge((), below), self._places.merge(())), None)

    def _object(self, place: ObjectPlace) -> Built:
        by_model = ON_VALUE if place.by_model else ()
        self._usage.note(place.merged, "an object", *ON_OBJECT, *by_model)
        node = self._inside(lambda: self._declared(place), lambda: self._put_off(place))
        return Built(node, place.merged.aggregate, speaks_for_list=False)

    def _put_off(self, place: ObjectPlace) -> Node:
        """Return a reference to the node of an object that is made later."""
        target = Target(self._table)
        self._waiting.append(lambda: setattr(target, "node", self._declared(place)))
        threshold, name = place.merged.item_threshold, self._name(place.in_force)
        return RecursionNode(threshold=threshold, place=name, target=target)

    def _declared(self, place: ObjectPlace) -> Node:
        own = place.merged
        fields = [self._field(name, part) for name, part in place.properties.items()]
        return ObjectNode(
            threshold=own.object_threshold,
            threshold_source=own.object_source,
            weight=own.worth,
            clip=bool(own.clip_under_threshold),
            other=open_default(),
            fields=tuple(field for field in fields if not field.ignored),
            ignored=tuple(field for field in fields if field.ignored),
            match_threshold=own.item_threshold,
            match_source=own.item_source,
            model_name=own.model_name or "",
            families=(*self._families(place),),
        )

    def _field(self, name: str, in_force: InForce) -> Field:
        built = self._place(in_force, _FROM_NOWHERE)
        return Field(
            name=name,
            node=built.node,
            aggregate=built.aggregate,
            ignored=built.ignored,
            pairs_items=built.pairs_items,
        )

    def _families(self, place: ObjectPlace) -> Iterator[Field]:
        for text, in_force in place.patterns.items():
            family = self._field("", in_force)
            try:
                yield replace(family, key_pattern=PicklablePattern(text))
            except EngineError as error:
                keyword = "patternProperties"
                named = (each for each in place.in_force if text in named_schemas(each, keyword))
                found = f"the pattern cannot be used ({error})"
                expected = "a regular expression as ECMA-262 has them"
                self._problems.add(next(named).schema, (keyword, text), found, expected)
        if place.rest is not None:
            yield self._field("", place.rest) if place.rest else Field("", open_default())

    def _again(self, met: _Met, in_force: InForce, way: _Way) -> Built:
        """Return a place that was compiled before, or is being compiled further up."""
        if met in way.unions:
            raise _LoopError
        if met.made is not None and self._sizes[met] <= LARGE:
            self._size += self._sizes[met]
            return met.made
        self._size += 1
        if met not in self._targets:
            self._targets[met] = Target(self._table)
        target = self._targets[met]
        name = self._name(in_force, way.inherited)
        if met.made is None:
            merged = self._places.merge(in_force)  # an array says no more of objects
            node = RecursionNode(
                threshold=merged.item_threshold,
                place=name,
                target=target,
                any_of=bool(merged.any_of),
            )
            return Built(node, merged.aggregate, False, bool(merged.ignore))
        built = target.node = met.made.node
        node = RecursionNode(
            threshold=built.item_threshold,
            weight=built.weight,
            place=name,
            target=target,
            any_of=built.any_of,
        )
        return replace(met.made, node=node)

    def _name(self, in_force: InForce, inherited: Merged = NOTHING_INHERITED) -> str:
        """Name a place by the schemas that speak about it, and how they are to be read."""
        parts = [f"{self._files.uri_of(part.schema)}{part.scope or ''}" for part in in_force]
        parts += [] if inherited == NOTHING_INHERITED else [inherited.signature]
        return " ".join(parts)

    def _arm(self, branch: Branch, way: _Way) -> Built:
        """Compile an alternative of a union; note one that is the union itself."""
        try:
            return self._flat(branch.in_force, way)
        except _LoopError:
            if branch.arm is None:  # pragma: no cover - a type leads nowhere
                raise
            schema = branch.arm.schema
            keyword = next(iter(self._files.references_of(schema)), "")
            self._report(schema, keyword, leads_back(schema.get(keyword, "the alternative")))
            return Built(open_default(), None)

    def _union(self, met: _Met, place: UnionPlace) -> Built:
        """Compile the arms of a union; if all compare alike, it is none."""
        inherited = met.way.inherited
        alike = len({key_of(each.in_force, inherited) for each in place.branches}) == 1
        branches = place.branches[:1] if alike else place.branches
        inside = _Way(inherited, (*met.way.unions, met))
        arms = [self._arm(each, inside) for each in branches]
        first, ignored = arms[0], all(arm.ignored for arm in arms)
        if all((arm.node, arm.aggregate) == (first.node, first.aggregate) for arm in arms):
            return replace(first, ignored=ignored)
        nodes = [arm.node for arm in arms]
        comparators = [it.comparator if isinstance(it, LeafNode) else None for it in nodes]
        texts_too = {*map(type, comparators)} == {NumericComparator, LevenshteinComparator}
        judged = []
        for branch, arm, comparator in zip(branches, arms, comparators, strict=True):
            accepts = self._acceptor(branch)
            if texts_too:
                accepts = NumberAcceptor(accepts, isinstance(comparator, NumericComparator))
            judged.append(Arm(accepts, arm.node, arm.aggregate))
        threshold, weight = first.node.item_threshold, first.node.weight
        node = OneOfNode(
            threshold=threshold,
            weight=weight,
            arms=tuple(judged),
            any_of=any(arm.node.any_of for arm in judged),
        )
        return replace(first, node=node, ignored=ignored)

    def _acceptor(self, branch: Branch) -> Acceptor:
        if branch.arm is None:
            return TypeAcceptor(frozenset({branch.kind}))
        acceptor = acceptor_of(self._files, branch.arm, self._reach.documents)
        if isinstance(acceptor, SchemaAcceptor):
            self._judging.append((branch.arm, acceptor))
            for part, keyword, error in self._reach.problems(branch.arm):
                self._report(part.schema, keyword, error)
        return acceptor

    def _report(self, schema: Schema, keyword: str, error: LeadsNowhereError) -> None:
        steps = (keyword,) if keyword else ()
        self._problems.add(schema, steps, error.found, error.expected, error.hint)


def compile_schema(  # noqa: PLR0913 - what a schema is, and how it is read
    schema: JsonValue,
    source: str = "",
    file: Path | None = None,
    *,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
    inferred: Mapping[PlaceKey, JsonObject] | None = None,
    boxes: BoxFormat = "corners",
) -> Plan:
    """Compile a parsed schema.

    Args:
        schema: the schema as JSON.
        source: its name for messages; the file as the user named it.
        file: where relative references start; without it they are refused.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: instances that the schema refers to by these names.
        inferred: the annotations that `infer` found.
        boxes: how boxes are written where the schema does not say it.

    Raises:
        SchemaError: with everything that is wrong, each with its JSON Pointer.
    """
    if not isinstance(schema, dict):
        found = f"{NO_DOCUMENT}: it is {brief(schema)}"
        raise SchemaError([Problem(source, found, DOCUMENT_EXPECTED, pointer="")])
    named = named_dialect(schema)
    if named in TOO_OLD:
        found = f"the schema is written in Draft {named}"
        raise SchemaError([Problem(source, found, SUPPORTED, pointer="/$schema")])
    schema = without_doubled_values(schema)
    files = SchemaFiles(schema, source, file, inferred)
    names = Comparators(allow_plugins, comparators or {}, boxes)
    problems = Problems(files)
    plan = None
    try:
        plan = _compiled(files, problems, names)
        if plan is None:
            # What is wrong beyond the places that are no valid JSON Schema, by leaving these out.
            rest = SchemaFiles(without_invalid_places(schema, files.dialect), source, file)
            more = Problems(rest)
            _compiled(rest, more, names)
            problems.note(*more)
    except RecursionError:
        problems.add(schema, (), "the schema is nested too deeply", "fewer levels")
    except TooManyPlacesError as error:
        problems.add(schema, (), str(error), "fewer combinations of anyOf, oneOf and allOf")
    if problems or plan is None:
        raise SchemaError(problems)
    plan = replace(plan, files=files.files_referred_to)
    other: Any = schema.get(OTHER_NAMES)  # of a class, whose schema nobody else wrote
    return replace(plan, renames=other) if isinstance(other, dict) else plan


def _compiled(files: SchemaFiles, problems: Problems, comparators: Comparators) -> Plan | None:
    """Note all problems, and return the plan; a schema that is not valid has no meaning."""
    files.accept = lambda found: check(files, found, problems, comparators=comparators)
    valid = files.accept(files.root.schema)
    return Compiler(files, problems, comparators).plan() if valid else None
