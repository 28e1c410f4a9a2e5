"""The compiler: makes a plan of an annotated JSON Schema.

If the schema is invalid, it raises one SchemaError with all problems. A part of the schema that
describes several fields or elements is compiled only once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.comparator_registry import Comparators
from stickler_cli.comparators.numeric import NumericComparator
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
from stickler_cli.core.figures import join_some
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
    FEWER_PLACES,
    ArrayPlace,
    JsonTextPlace,
    ObjectPlace,
    OpenPlace,
    Place,
    PlaceFinder,
    PlaceFold,
    SinglePlace,
    TooManyPlacesError,
    UnionPlace,
    Visited,
    key_of,
)
from .references import LeadsNowhereError, SchemaFiles, accept_all
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
"""The model name of schemas that do not state one. Source: docs/schema.md."""

LARGE: Final = 50
"""Maximum number of nodes of a part that may occur in the plan several times. A larger part occurs
only once: where it is used again, the plan has a reference to it. A plan is therefore never much
larger than its schema."""

NO_DOCUMENT: Final = "the schema does not describe a document"
DOCUMENT_EXPECTED: Final = "a schema for JSON objects or arrays"
DOCUMENTS: Final[Mapping[DocumentKind, tuple[type[Node], ...]]] = {
    "object": (ObjectNode,),
    "array": (SequenceNode,),
}
"""The node types that can compare each kind of document. If a schema allows both objects and lists,
its documents are objects."""


class _LoopError(Exception):
    """Is raised if an alternative of a union is only a reference back to this union."""


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled field or element: its node, and facts about it that its parent needs."""

    node: Node
    aggregate: bool | None
    """The `aggregate` annotation of the field or element; None if there is none. A list without the
    annotation may take it from its elements (see `speaks_for_list`)."""
    speaks_for_list: bool = True
    """For an element of a list: whether the list takes the weight and the `aggregate` annotation of
    the element if it has none itself."""
    ignored: bool = False
    """Whether the values are left out of the comparison."""
    pairs_items: bool = True
    """Whether the field is used to find out which items of a list belong together."""


@dataclass(frozen=True, slots=True)
class _CompilerVisit:
    inherited: Merged = NOTHING_INHERITED
    unions: "tuple[Visited[_CompilerVisit, Built], ...]" = ()
    """The unions that contain this place as an alternative, outermost first."""
    key = ()


_FROM_NOWHERE: Final = _CompilerVisit()
_Visited: TypeAlias = Visited[_CompilerVisit, Built]


class Compiler(PlaceFold[_CompilerVisit, Built]):
    """Compiles each part of a schema once. A part that contains itself becomes a recursion node."""

    def __init__(self, files: SchemaFiles, problems: Problems, comparators: Comparators) -> None:
        # A bound method of the compiler would be a cycle, which stays in memory.
        self._report_dead_reference = partial(_add_dead_reference, problems)
        super().__init__(PlaceFinder(files, comparators, self._report_dead_reference))
        self._files = files
        self._problems = problems
        self._kinds = LeafNodes(files, problems, comparators)
        self._usage = AnnotationUsage(files, problems)
        self._reach = Reach(files)
        self._judging: list[tuple[Source, SchemaAcceptor]] = []
        self._table: list[Node | None] = []
        self._targets: dict[_Visited, Target] = {}
        """Maps a place to the target of the recursion nodes that refer to it. The target will have
        the node of the place when the place is compiled."""
        self._size = 0
        self._sizes: dict[_Visited, int] = {}
        """Maps each compiled place to the number of nodes for it and for everything inside it."""

    def plan(self) -> Plan:
        """Compile the whole schema to a plan, and collect its problems."""
        in_force = self._places.flat((self._files.root,))
        built = self._visit_flat(in_force, _FROM_NOWHERE)
        self._finish()
        kind, root = self._find_document_node(built.node, declared_types(in_force))
        if root is None:
            self._problems.add(self._files.root.schema, (), NO_DOCUMENT, DOCUMENT_EXPECTED)
        self._usage.report()
        judging = [] if self._problems else self._judging
        for source, acceptor in judging:
            try:
                acceptor.validator  # noqa: B018 - builds it, now that all documents are known
            except EngineError as error:
                finding = (
                    f"values cannot be checked against this alternative of the schema, because "
                    f"{error}"
                )
                self._problems.add(source.schema, (), finding, error.expected)
        name = self._places.merge(in_force).model_name or DEFAULT_MODEL_NAME
        if built.ignored:
            finding, expected = (
                "the schema ignores every field of the documents",
                ("at least one field that is not ignored"),
            )
            self._problems.add(self._files.root.schema, (), finding, expected)
        return plan_of(root or built.node, name, kind)

    def _find_document_node(
        self, node: Node, types: Sequence[str] | None
    ) -> tuple[DocumentKind, Node | None]:
        """Return the kind of documents that the schema describes, and the node that compares them.

        The node is None if the schema does not describe objects or lists.
        """
        for kind, nodes in DOCUMENTS.items():
            if types is None or kind in types:
                root = document_node(node, nodes)
                if root is not None:
                    return kind, root
        return "object", None

    def _build(self, visited: _Visited, place: Place) -> Built:
        """Compile a place, and record how many nodes it has, including the nodes inside it."""
        before = self._size
        if isinstance(place, UnionPlace):
            built = self._compile_union(visited, place)
        else:
            built = self._compile_single(place)
            built = replace(built, ignored=built.ignored or bool(place.merged.ignore))
            if place.merged.any_of:
                built = replace(built, node=replace(built.node, any_of=True))
            built = replace(built, pairs_items=place.merged.pairs_items is not False)
        self._size += 1
        self._sizes[visited] = self._size - before
        if visited in self._targets:
            self._targets[visited].node = built.node
        return built

    def _compile_single(self, place: SinglePlace) -> Built:
        """Compile one field or element that is not a union.

        Record which of its annotations have an effect. Annotations that have no effect on any field
        are reported later.
        """
        merged = place.merged
        if isinstance(place, ArrayPlace | ObjectPlace):
            if merged.comparator is not None:
                self._kinds.comparator(merged, TEXT)  # reports problems of the comparator
            return (
                self._compile_object(place)
                if isinstance(place, ObjectPlace)
                else self._compile_array(place)
            )
        if isinstance(place, OpenPlace):
            self._usage.note(merged, "", *SOMEWHERE)
            return Built(self._kinds.open(merged, place.own_annotations), merged.aggregate)
        if isinstance(place, JsonTextPlace):
            return self._compile_json_text(place)
        self._usage.note(merged, place.name, *ON_VALUE)
        return Built(self._kinds.leaf(merged, place.default), merged.aggregate)

    def _compile_json_text(self, place: JsonTextPlace) -> Built:
        self._usage.note(place.merged, "a text of JSON")
        content = self._compile_elements(place.content, NOTHING_INHERITED).node
        text = self._kinds.leaf(NOTHING_INHERITED, FORM)
        node = JsonTextNode(
            threshold=content.threshold,
            threshold_source=content.threshold_source,
            weight=place.merged.effective_weight,
            content=content,
            text=text,
        )
        return Built(node, place.merged.aggregate)

    def _compile_array(self, place: ArrayPlace) -> Built:
        """Compile a list or a tuple to a node.

        Record which of its annotations have an effect. Annotations that have no effect on any field
        are reported later.
        """
        merged = place.merged
        if place.positions:
            self._usage.note(merged, "an array", "pairing_floor", *ON_VALUE)
            return Built(self._make_tuple_node(place), merged.aggregate)
        items = self._compile_elements(place.elements, place.below)
        node = items.node
        by_position = merged.list_pairing == "position"
        # A key has an effect only if items are objects that are not paired by position.
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
        weight, aggregate = merged.effective_weight, merged.aggregate
        if items.speaks_for_list:
            weight = node.weight if merged.weight is None else weight
            aggregate = items.aggregate if aggregate is None else aggregate
        threshold, threshold_source = node.item_threshold, node.source_for(None)
        if merged.threshold is not None:
            threshold, threshold_source = merged.threshold, self._kinds.source(merged)
        list_node = ListNode(
            other=open_default(),
            threshold=threshold,
            threshold_stated=merged.threshold is not None,
            threshold_source=threshold_source,
            weight=weight,
            items=node,
            pairing_floor=merged.pairing_floor,
            key=merged.keys if key else (),
            **list_rules(merged),
        )
        return Built(list_node, aggregate, ignored=items.ignored)

    def _check_key(self, merged: Merged, items: Node) -> None:
        """Report names in the annotation `key` of a list that no field of its items has."""
        objects = list_object_nodes(items)
        declared = [field.name for node in objects for field in (*node.fields, *node.ignored)]
        key_names = merged.keys if merged.key else ()
        for name in key_names:
            if name not in declared:
                holder = next(
                    schema for schema, annotations in merged.by_schema if "key" in annotations
                )
                expected = f"one of {join_some(declared)}" if declared else "declared fields"
                finding = f"key is {brief(name)}, but the items have no field of this name"
                hint = did_you_mean(name, declared)
                self._problems.add(holder, (f"{PREFIX}key",), finding, expected, hint)

    def _make_tuple_node(self, place: ArrayPlace) -> Node:
        """Return the node of a tuple: a list whose positions have schemas of their own."""
        threshold, below = place.merged.threshold, place.below
        built = [
            self._compile_elements(element, below) for element in (*place.positions, place.elements)
        ]
        return TupleNode(
            other=open_default(),
            threshold=DEFAULT_TUPLE_THRESHOLD if threshold is None else threshold,
            threshold_source="default" if threshold is None else "annotation",
            weight=place.merged.effective_weight,
            positions=tuple(element.node for element in built[:-1]),
            other_positions=built[-1].node,
            ignored=frozenset(
                position for position, element in enumerate(built) if element.ignored
            ),
        )

    def _compile_elements(self, in_force: InForce, below: Merged) -> Built:
        """Compile the schemas of list elements. If there are none, elements may have any type."""
        if in_force:
            return self._visit_place(in_force, _CompilerVisit(below))
        return Built(self._kinds.open(self._places.merge((), below), self._places.merge(())), None)

    def _compile_object(self, place: ObjectPlace) -> Built:
        by_model = ON_VALUE if place.by_model else ()
        self._usage.note(place.merged, "an object", *ON_OBJECT, *by_model)
        node = self._enter_object(
            lambda: self._make_object_node(place), lambda: self._defer_object(place)
        )
        return Built(node, place.merged.aggregate, speaks_for_list=False)

    def _defer_object(self, place: ObjectPlace) -> Node:
        """Return a reference to the node of an object. The node itself is compiled later."""
        target = Target(self._table)
        self._waiting.append(lambda: setattr(target, "node", self._make_object_node(place)))
        threshold, name = place.merged.item_threshold, self._name_place(place.in_force)
        return RecursionNode(threshold=threshold, location=name, target=target)

    def _make_object_node(self, place: ObjectPlace) -> Node:
        """Return the node of an object, with a node for each of its fields."""
        merged = place.merged
        fields = [
            self._compile_field(name, in_force) for name, in_force in place.properties.items()
        ]
        return ObjectNode(
            threshold=merged.object_threshold,
            threshold_source=merged.object_source,
            weight=merged.effective_weight,
            clip=bool(merged.clip_under_threshold),
            other=open_default(),
            fields=tuple(field for field in fields if not field.ignored),
            ignored=tuple(field for field in fields if field.ignored),
            match_threshold=merged.item_threshold,
            match_source=merged.item_source,
            model_name=merged.model_name or "",
            families=(*self._compile_families(place),),
        )

    def _compile_field(self, name: str, in_force: InForce) -> Field:
        built = self._visit_place(in_force, _FROM_NOWHERE)
        return Field(
            name=name,
            node=built.node,
            aggregate=built.aggregate,
            ignored=built.ignored,
            pairs_items=built.pairs_items,
        )

    def _compile_families(self, place: ObjectPlace) -> Iterator[Field]:
        """Yield a field for each pattern of keys, and one for all other undeclared keys.

        If the values of undeclared keys that match no pattern are not compared, there is no field
        for these keys.
        """
        for text, in_force in place.patterns.items():
            family = self._compile_field("", in_force)
            try:
                yield replace(family, key_pattern=PicklablePattern(text))
            except EngineError as error:
                keyword = "patternProperties"
                sources = (
                    source for source in place.in_force if text in named_schemas(source, keyword)
                )
                schema = next(sources).schema
                self._problems.add(schema, (keyword, text), str(error), error.expected)
        if place.other_keys is not None:
            yield (
                self._compile_field("", place.other_keys)
                if place.other_keys
                else Field("", open_default())
            )

    def _revisit(self, visited: _Visited, in_force: InForce, visit: _CompilerVisit) -> Built:
        """Return the node of a place that was visited before.

        If the node is large or not complete yet, a reference to it is returned.
        """
        if visited in visit.unions:
            raise _LoopError
        if visited.outcome is not None and self._sizes[visited] <= LARGE:
            self._size += self._sizes[visited]
            return visited.outcome
        self._size += 1
        if visited not in self._targets:
            self._targets[visited] = Target(self._table)
        target = self._targets[visited]
        name = self._name_place(in_force, visit.inherited)
        if visited.outcome is None:
            merged = self._places.merge(in_force)  # without annotations of an outer array
            node = RecursionNode(
                threshold=merged.item_threshold,
                location=name,
                target=target,
                any_of=bool(merged.any_of),
            )
            return Built(
                node=node,
                aggregate=merged.aggregate,
                speaks_for_list=False,
                ignored=bool(merged.ignore),
            )
        built = target.node = visited.outcome.node
        node = RecursionNode(
            threshold=built.item_threshold,
            weight=built.weight,
            location=name,
            target=target,
            any_of=built.any_of,
        )
        return replace(visited.outcome, node=node)

    def _name_place(self, in_force: InForce, inherited: Merged = NOTHING_INHERITED) -> str:
        """Return a unique name for a place.

        The name starts with the URI of each schema that applies to the place. If the place inherits
        annotations, a text that identifies these annotations follows.
        """
        names = [f"{self._files.uri_of(source.schema)}{source.scope or ''}" for source in in_force]
        names += [] if inherited == NOTHING_INHERITED else [inherited.signature]
        return " ".join(names)

    def _compile_arm(self, branch: Branch, visit: _CompilerVisit) -> Built:
        """Compile one alternative of a union.

        An error is reported if the alternative only refers back to the union.
        """
        try:
            return self._visit_flat(branch.in_force, visit)
        except _LoopError:
            if branch.arm is None:  # pragma: no cover - a type is no reference
                raise
            schema = branch.arm.schema
            keyword = next(iter(self._files.references_of(schema)), "")
            self._report_dead_reference(
                schema, keyword, leads_back(schema.get(keyword, "the alternative"))
            )
            return Built(open_default(), None)

    def _compile_union(self, visited: _Visited, place: UnionPlace) -> Built:
        """Compile the alternatives of a union to one node.

        If the nodes of all alternatives are equal, one of them is returned instead.
        """
        inherited = visited.visit.inherited
        are_alike = (
            len({key_of(alternative.in_force, inherited) for alternative in place.branches}) == 1
        )
        branches = place.branches[:1] if are_alike else place.branches
        arm_visit = _CompilerVisit(inherited, (*visited.visit.unions, visited))
        arms = [self._compile_arm(alternative, arm_visit) for alternative in branches]
        first, ignored = arms[0], all(arm.ignored for arm in arms)
        if all((arm.node, arm.aggregate) == (first.node, first.aggregate) for arm in arms):
            return replace(first, ignored=ignored)
        nodes = [arm.node for arm in arms]
        comparators = [
            arm_node.comparator if isinstance(arm_node, LeafNode) else None for arm_node in nodes
        ]
        texts_too = {*map(type, comparators)} == {NumericComparator, LevenshteinComparator}
        judged_arms = []
        for branch, arm, comparator in zip(branches, arms, comparators, strict=True):
            accepts = self._make_acceptor(branch)
            if texts_too:
                accepts = NumberAcceptor(accepts, isinstance(comparator, NumericComparator))
            judged_arms.append(Arm(accepts, arm.node, arm.aggregate))
        threshold, weight = first.node.item_threshold, first.node.weight
        node = OneOfNode(
            threshold=threshold,
            weight=weight,
            arms=tuple(judged_arms),
            any_of=any(arm.node.any_of for arm in judged_arms),
        )
        return replace(first, node=node, ignored=ignored)

    def _make_acceptor(self, branch: Branch) -> Acceptor:
        if branch.arm is None:
            return TypeAcceptor(frozenset({branch.kind}))
        acceptor = acceptor_of(self._files, branch.arm, self._reach.documents)
        if isinstance(acceptor, SchemaAcceptor):
            self._judging.append((branch.arm, acceptor))
            for source, keyword, error in self._reach.problems(branch.arm):
                self._report_dead_reference(source.schema, keyword, error)
        return acceptor


def _add_dead_reference(
    problems: Problems, schema: Schema, keyword: str, error: LeadsNowhereError
) -> None:
    steps = (keyword,) if keyword else ()
    problems.add(schema, steps, error.found, error.expected, error.hint)


def compile_schema(  # noqa: PLR0913 - a schema and its options
    schema: JsonValue,
    source: str = "",
    file: Path | None = None,
    *,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
    inferred: Mapping[PlaceKey, JsonObject] | None = None,
    boxes: BoxFormat = "corners",
) -> Plan:
    """Compile a parsed schema to a plan.

    Args:
        schema: the schema as JSON.
        source: the schema's name in messages: the file as the user named it.
        file: the file that relative references start from; None rejects relative references.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: a dict from the names that the schema uses to instances of comparators.
        inferred: the annotations that `infer` has inferred, keyed by the location of the schema
            that they belong to.
        boxes: how boxes are written if the schema does not state it.

    Raises:
        SchemaError: the schema is invalid; the error has every problem with its JSON Pointer.
    """
    if not isinstance(schema, dict):
        finding = f"{NO_DOCUMENT}: the schema is {brief(schema)}"
        raise SchemaError(
            [Problem(source=source, found=finding, expected=DOCUMENT_EXPECTED, pointer="")]
        )
    named = named_dialect(schema)
    if named in TOO_OLD:
        finding = f"the schema is written in Draft {named}"
        raise SchemaError(
            [Problem(source=source, found=finding, expected=SUPPORTED, pointer="/$schema")]
        )
    schema = without_doubled_values(schema)
    files = SchemaFiles(schema=schema, source=source, file=file, inferred=inferred)
    names = Comparators(allow_plugins, comparators or {}, boxes)
    problems = Problems(files)
    plan = None
    try:
        plan = _compile_checked(files, problems, names)
        if plan is None:
            # Find the other problems too: omit the invalid keywords and compile again.
            remaining_files = SchemaFiles(
                without_invalid_places(schema, files.dialect), source, file
            )
            further_problems = Problems(remaining_files)
            _compile_checked(remaining_files, further_problems, names)
            problems.note(*further_problems)
    except RecursionError:
        problems.add(schema, (), "the schema is nested too deeply", "fewer levels")
    except TooManyPlacesError as error:
        problems.add(schema, (), str(error), "", FEWER_PLACES)
    if problems or plan is None:
        raise SchemaError(problems)
    plan = replace(plan, files=files.files_referred_to)
    other: Any = schema.get(OTHER_NAMES)  # only schemas made from a class have it
    return replace(plan, renames=other) if isinstance(other, dict) else plan


def _compile_checked(
    files: SchemaFiles, problems: Problems, comparators: Comparators
) -> Plan | None:
    """Return the plan of a schema, or None if it is invalid. Add all its problems to `problems`."""
    files.accept = lambda schema: check(files, schema, problems, comparators=comparators)
    try:
        valid = files.accept(files.root.schema)
        return Compiler(files, problems, comparators).plan() if valid else None
    finally:
        files.accept = accept_all  # the function above is a cycle, which stays in memory
