"""From an annotated JSON Schema to a plan, each place compiled once, or to one SchemaError."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.levenshtein import LevenshteinComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.compare.field_listing import asks_models
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import SequenceNode
from stickler_cli.compare.object import FieldsNode
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode, RecursionNode, Target
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.core.json_values import DocumentKind, JsonObject, JsonValue, brief
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.core.values import dataclass
from stickler_cli.schema.verdicts.acceptance import (
    NumberAcceptor,
    SchemaAcceptor,
    TypeAcceptor,
    acceptor_of,
)
from stickler_cli.schema.verdicts.judged_documents import Reach
from stickler_cli.schema.verdicts.judging import EngineError
from .annotations import NOTHING_INHERITED, Merged
from .combinators import Branch, InForce, declared_types, leads_back
from .defaults import open_default
from .dialects import SUPPORTED, TOO_OLD, PlaceKey, Schema, Source, named_dialect
from .files import LeadsNowhereError
from .kinds import Built, KindCompiler
from .places import Key, Places, TooManyPlacesError, UnionPlace, key_of
from .references import SchemaFiles
from .schema_problems import Problems, check, without_invalid_places
from .schema_warnings import without_doubled_values

DEFAULT_MODEL_NAME: Final = "DynamicModel"
"""What a schema without a model name is called. Source: docs/schema.md."""

DEEPEST: Final = 12
"""Levels of objects that are compiled inside one another; what is below waits for its turn, so
that a long chain of references needs no deep stack, neither here nor where a plan is pickled."""

LARGE: Final = 50
"""Nodes of a place that is in a plan once; where it is needed again a reference to it stands, so
that a plan is never much larger than its schema."""

NO_DOCUMENT: Final = "the schema describes no document"
DOCUMENT_EXPECTED: Final = "a schema of JSON objects or of arrays, which documents are"
DOCUMENTS: Final[Mapping[DocumentKind, tuple[type[Node], ...]]] = {
    "object": (FieldsNode,),
    "array": (SequenceNode,),
}
"""The nodes that compare documents; where a schema allows both kinds, they are objects."""


class _LoopError(Exception):
    """A place that is nothing but itself."""


class TableTarget(Target):
    """What references inside a plan lead to: an entry of a table of nodes.

    So a plan is pickled entry by entry, not along its longest chain of references.
    """

    __slots__ = ("_index", "_table")

    def __init__(self, table: list[Node | None], index: int | None = None) -> None:
        """Take a table and the index of an entry; without one, an empty entry is added."""
        self._table = table
        self._index = len(table) if index is None else index
        if index is None:
            table.append(None)

    @property
    def node(self) -> Node | None:
        """The node that a reference leads to; None while it is being built."""
        return self._table[self._index]

    @node.setter
    def node(self, node: Node | None) -> None:
        self._table[self._index] = node

    def __reduce__(self) -> tuple[Any, ...]:
        return TableTarget, (self._table, self._index)


@dataclass(slots=True)
class _Known:
    """A place that was met before."""

    built: Built | None = None
    """None while it is being built."""
    size: int = 0
    """Nodes in it, once it is built."""
    target: TableTarget | None = None
    """Where references to it lead, once there are any."""


class Compiler(KindCompiler):
    """Compiles each place of a schema once; places that contain themselves become recursions."""

    def __init__(self, files: SchemaFiles, problems: Problems, comparators: Comparators) -> None:
        super().__init__(Places(files, comparators, self._report), problems, comparators)
        self._files = files
        self._reach = Reach(files)
        self._judging: list[tuple[Source, SchemaAcceptor]] = []
        self._known: dict[Key, _Known] = {}
        self._waiting: deque[tuple[TableTarget, Callable[[], Node]]] = deque()
        self._table: list[Node | None] = []
        self._depth = 0
        self._size = 0

    def plan(self) -> Plan:
        """Compile the whole schema; problems are noted on the way."""
        in_force = self._places.flat((self._files.root,))
        built = self._flat(in_force, NOTHING_INHERITED)
        while self._waiting:
            target, make = self._waiting.popleft()
            target.node = make()
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
        return Plan(root or built.node, name, asks_models(root or built.node), kind)

    def _documents(
        self, node: Node, types: Sequence[str] | None
    ) -> tuple[DocumentKind, Node | None]:
        """Return what documents are, and the part of the root's node that compares them."""
        for kind, nodes in DOCUMENTS.items():
            if types is None or kind in types:
                root = document_node(node, nodes)
                if root is not None:
                    return kind, root
        return "object", None

    def _place(self, in_force: InForce, inherited: Merged = NOTHING_INHERITED) -> Built:
        return self._flat(self._places.flat(in_force), inherited)

    def _descend(self, in_force: InForce, threshold: float, make: Callable[[], Node]) -> Node:
        if self._depth == DEEPEST:
            target = TableTarget(self._table)
            self._waiting.append((target, make))
            return RecursionNode(threshold=threshold, place=self._name(in_force), target=target)
        self._depth += 1
        node = make()
        self._depth -= 1
        return node

    def _flat(
        self, in_force: InForce, inherited: Merged, here: frozenset[Key] = frozenset()
    ) -> Built:
        """Compile flattened subschemas; `here` are the places whose unions led here."""
        key = self._places.key(in_force, inherited)
        if key in here:
            raise _LoopError
        if key in self._known:
            return self._again(self._known[key], in_force, inherited)
        known = self._known[key] = _Known()
        before = self._size
        place = self._places.at(in_force, inherited)
        if isinstance(place, UnionPlace):
            alike = len({key_of(branch.in_force, inherited) for branch in place.branches}) == 1
            branches = place.branches[:1] if alike else place.branches
            arms = [self._arm(branch, inherited, here | {key}) for branch in branches]
            known.built = self._one_of(arms, branches)
        else:
            known.built = self.build(place)
        self._size += 1
        known.size = self._size - before
        if known.target is not None:
            known.target.node = known.built.node
        return known.built

    def _again(self, known: _Known, in_force: InForce, inherited: Merged) -> Built:
        """Return a place that was compiled before, or is being compiled further up."""
        if known.built is not None and known.size <= LARGE:
            self._size += known.size
            return known.built
        self._size += 1
        if known.target is None:
            known.target = TableTarget(self._table)
        name = self._name(in_force, inherited)
        if known.built is None:
            merged = self._places.merge(in_force)  # an array says no more of objects
            node = RecursionNode(threshold=merged.item_threshold, place=name, target=known.target)
            return Built(node, merged.aggregate, speaks_for_list=False)
        built = known.target.node = known.built.node
        threshold, weight = built.item_threshold, built.weight
        node = RecursionNode(threshold=threshold, weight=weight, place=name, target=known.target)
        return replace(known.built, node=node)

    def _name(self, in_force: InForce, inherited: Merged = NOTHING_INHERITED) -> str:
        """Name a place by the schemas that speak about it, and how they are to be read."""
        parts = [f"{self._files.uri_of(part.schema)}{part.scope or ''}" for part in in_force]
        return " ".join([*parts, *([] if inherited == NOTHING_INHERITED else [inherited.key])])

    def _arm(self, branch: Branch, inherited: Merged, here: frozenset[Key]) -> Built:
        """Compile an alternative of a union; note one that is the union itself."""
        try:
            return self._flat(branch.in_force, inherited, here)
        except _LoopError:
            if branch.arm is None:  # pragma: no cover - a type leads nowhere
                raise
            schema = branch.arm.schema
            keyword = next(iter(self._files.references_of(schema)), "")
            self._report(schema, keyword, leads_back(schema.get(keyword, "the alternative")))
            return Built(open_default(), None)

    def _one_of(self, arms: list[Built], branches: Sequence[Branch]) -> Built:
        """Return a union of its arms; arms that all compare alike are no union."""
        first = arms[0]
        if all((arm.node, arm.aggregate) == (first.node, first.aggregate) for arm in arms):
            return first
        comparators = [_leaf_comparator(arm.node) for arm in arms]
        texts_too = {*map(type, comparators)} == {NumericComparator, LevenshteinComparator}
        judged = []
        for branch, arm, comparator in zip(branches, arms, comparators, strict=True):
            accepts = self._acceptor(branch)
            if texts_too:
                accepts = NumberAcceptor(accepts, isinstance(comparator, NumericComparator))
            judged.append(Arm(accepts, arm.node, arm.aggregate))
        threshold, weight = first.node.item_threshold, first.node.weight
        node = OneOfNode(threshold=threshold, weight=weight, arms=tuple(judged))
        return replace(first, node=node)

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


def _leaf_comparator(node: Node) -> BaseComparator | None:
    return node.comparator if isinstance(node, LeafNode) else None


def document_node(
    node: Node, kinds: tuple[type[Node], ...], known: dict[int, Node | None] | None = None
) -> Node | None:
    """Return the part of a node that is of some kinds; `known` are the answers by identity."""
    known = {} if known is None else known
    if id(node) in known:
        return known[id(node)]
    part: Node | None = None
    match node:
        case RecursionNode():
            part = document_node(node.choose(None), kinds, known)
        case OpenNode():
            part = document_node(node.choose({}), kinds, known)
        case OneOfNode():
            parts = [(arm, document_node(arm.node, kinds, known)) for arm in node.arms]
            arms = [replace(arm, node=part) for arm, part in parts if part is not None]
            if arms:
                part = replace(node, arms=tuple(arms)) if arms[1:] else arms[0].node
        case _:
            part = node if isinstance(node, kinds) else None
    known[id(node)] = part
    return part


def compile_schema(  # noqa: PLR0913 - what a schema is, and how it is read
    schema: JsonValue,
    source: str = "",
    file: Path | None = None,
    *,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
    inferred: Mapping[PlaceKey, JsonObject] | None = None,
) -> Plan:
    """Compile a parsed schema.

    Args:
        schema: the schema as JSON.
        source: its name for messages; the file as the user named it.
        file: where relative references start; without it they are refused.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: instances that the schema refers to by these names.
        inferred: the annotations that `infer` found.

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
    names = Comparators(allow_plugins, comparators or {})
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
    return plan


def _compiled(files: SchemaFiles, problems: Problems, comparators: Comparators) -> Plan | None:
    """Note what is wrong, and return the plan; a schema that is not valid has no meaning."""
    files.accept = lambda found: check(files, found, problems, comparators=comparators)
    valid = files.accept(files.root.schema)
    return Compiler(files, problems, comparators).plan() if valid else None
