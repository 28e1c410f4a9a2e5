"""From an annotated JSON Schema to a plan, or to one SchemaError with every problem in it."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.outline import asks_models
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.compare.recursion import RecursionNode
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.acceptance import SchemaAcceptor, TypeAcceptor, acceptor_of
from stickler_cli.schema.combinators import (
    Cell,
    Union,
    declared_types,
    distinct,
    find_union,
    flatten,
)
from stickler_cli.schema.defaults import open_default
from stickler_cli.schema.dialects import SUPPORTED, TOO_OLD, Schema, named_dialect
from stickler_cli.schema.files import LeadsNowhereError
from stickler_cli.schema.judging import Documents, EngineError
from stickler_cli.schema.kinds import Built, KindCompiler, kinds_of
from stickler_cli.schema.leaves import LeafCompiler
from stickler_cli.schema.merging import NOTHING_INHERITED, Inherited, Merged, merge_annotations
from stickler_cli.schema.metaschema import without_invalid_places
from stickler_cli.schema.reach import Reach
from stickler_cli.schema.references import SchemaFiles, Source
from stickler_cli.schema.roots import document_node
from stickler_cli.schema.targets import TableTarget
from stickler_cli.schema.usage import Usage
from stickler_cli.schema.validity import Problems, check

DEFAULT_MODEL_NAME: Final = "DynamicModel"
"""What a schema without a model name is called. Source: docs/schema.md."""

DEEPEST: Final = 12
"""Levels of objects that are compiled inside one another; what is below waits for its turn, so
that a long chain of references needs no deep stack, neither here nor where a plan is pickled."""

LARGE: Final = 50
"""Nodes of a place that is in a plan once; where it is needed again a reference to it stands, so
that a plan is never much larger than its schema."""

MOST_PLACES: Final = 50_000
"""How many places a schema may describe; real ones have hundreds. Source: docs/schema.md."""

NO_OBJECT: Final = "the schema describes no object"
OBJECT_EXPECTED: Final = "an object schema: a document is a JSON object"


def compile_schema(
    schema: JsonValue,
    source: str = "",
    file: FilePath | None = None,
    *,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
) -> Plan:
    """Compile a parsed schema.

    Args:
        schema: the schema as JSON.
        source: its name for messages; the file as the user named it.
        file: where relative references start; without it they are refused.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: instances that the schema refers to by these names.

    Raises:
        SchemaError: with everything that is wrong, each with its JSON Pointer.
    """
    if not isinstance(schema, dict):
        found = f"{NO_OBJECT}: it is {brief(schema)}"
        raise SchemaError([Problem(source, found, OBJECT_EXPECTED, pointer="")])
    named = named_dialect(schema)
    if named in TOO_OLD:
        found = f"the schema is written in Draft {named}"
        raise SchemaError([Problem(source, found, SUPPORTED, pointer="/$schema")])
    files = SchemaFiles(schema, source, file)
    names = Comparators(allow_plugins, comparators or {})
    problems = Problems(files)
    plan = None
    try:
        if check(files, schema, problems, comparators=names):
            plan = Compiler(files, problems, names).plan()
        else:
            _note_the_rest(schema, source, file, names, problems)
    except RecursionError:
        problems.add(schema, (), "the schema is nested too deeply", "fewer levels")
    except TooManyPlacesError:
        found = f"the schema describes more than {MOST_PLACES} places"
        problems.add(schema, (), found, "fewer combinations of anyOf, oneOf and allOf")
    if problems or plan is None:
        raise SchemaError(problems)
    return plan


class _LoopError(Exception):
    """A place that is nothing but itself."""


def _note_the_rest(
    schema: Schema,
    source: str,
    file: FilePath | None,
    names: Comparators,
    problems: Problems,
) -> None:
    """Note what is wrong beyond the places that are no valid JSON Schema, by leaving these out."""
    dialect = SchemaFiles(schema, source, file).dialect_at(schema)
    rest = without_invalid_places(schema, dialect)
    files = SchemaFiles(rest, source, file)
    more = Problems(files)
    if check(files, rest, more, comparators=names):
        Compiler(files, more, names).plan()
    for problem in more:
        problems.note(problem)


class TooManyPlacesError(Exception):
    """A schema whose combinations are more than anyone can mean."""


Key = tuple[tuple[object, ...], str]
"""What makes two places one: the schemas that speak about them, and what they inherit."""


@dataclass(slots=True)
class _Known:
    """A place that was met before."""

    cell: Cell
    inherited: Inherited
    merged: Merged
    built: Built | None = None
    """None while it is being built."""
    size: int = 0
    """Nodes in it, once it is built."""
    target: TableTarget | None = None
    """Where references to it lead, once there are any."""


class Compiler:
    """Compiles each place of a schema once; places that contain themselves become recursions."""

    def __init__(self, files: SchemaFiles, problems: Problems, comparators: Comparators) -> None:
        self.files = files
        self.problems = problems
        self.usage = Usage(files, problems)
        self.leaves = LeafCompiler(problems, comparators)
        self._kinds = KindCompiler(self)
        self._known: dict[Key, _Known] = {}
        self._waiting: deque[tuple[TableTarget, Callable[[], Node]]] = deque()
        self._table: list[Node | None] = []
        self._depth = 0
        self._size = 0
        self._reach = Reach(files)
        self._documents = Documents(files.documents, self._reach.renamed)
        self._judging: list[tuple[Source, SchemaAcceptor]] = []
        files.accept = lambda found: check(files, found, problems, comparators=comparators)

    def plan(self) -> Plan:
        """Compile the whole schema; problems are noted on the way."""
        cell = flatten(self.files, (self.files.root,), self._report)
        built = self._flat(cell, NOTHING_INHERITED)
        while self._waiting:
            target, make = self._waiting.popleft()
            target.node = make()
        root = self._root(cell, built.node)
        self.usage.report()
        if not self.problems:
            self._try_engine()
        merged = merge_annotations(cell, NOTHING_INHERITED)
        return Plan(root, merged.model_name or DEFAULT_MODEL_NAME, asks_models(root))

    def place(self, cell: Cell, inherited: Inherited = NOTHING_INHERITED) -> Built:
        """Compile the place that a cell describes."""
        return self._flat(flatten(self.files, cell, self._report), inherited)

    def descend(self, cell: Cell, threshold: float, make: Callable[[], Node]) -> Node:
        """Make the node of an object now, or later if it is deep inside others."""
        if self._depth == DEEPEST:
            target = TableTarget.added(self._table)
            self._waiting.append((target, make))
            return RecursionNode(threshold=threshold, place=self._name(cell), target=target)
        self._depth += 1
        node = make()
        self._depth -= 1
        return node

    def _flat(self, cell: Cell, inherited: Inherited, here: frozenset[Key] = frozenset()) -> Built:
        """Compile a flattened cell; `here` are the cells whose unions led to it in place."""
        key = tuple((id(source.schema), source.scope) for source in cell), inherited.key
        if key in here:
            raise _LoopError
        if key in self._known:
            return self._again(self._known[key])
        if len(self._known) == MOST_PLACES:
            raise TooManyPlacesError
        merged = merge_annotations(cell, inherited)
        known = self._known[key] = _Known(cell, inherited, merged)
        before = self._size
        known.built = self._node(cell, merged, inherited, here | {key})
        self._size += 1
        known.size = self._size - before
        if known.target is not None:
            known.target.node = known.built.node
        return known.built

    def _again(self, known: "_Known") -> Built:
        """Give a place that was compiled before, or is being compiled further up."""
        if known.built is not None and known.size <= LARGE:
            self._size += known.size
            return known.built
        self._size += 1
        if known.target is None:
            known.target = TableTarget.added(self._table)
        if known.built is None:
            threshold = known.merged.match_threshold
            return Built(
                RecursionNode(
                    threshold=DEFAULT_MATCH_THRESHOLD if threshold is None else threshold,
                    place=self._name(known.cell, known.inherited),
                    target=known.target,
                ),
                known.merged.aggregate,
                speaks_for_list=False,
            )
        node = known.target.node = known.built.node
        reference = RecursionNode(
            threshold=node.item_threshold,
            weight=node.weight,
            place=self._name(known.cell, known.inherited),
            target=known.target,
        )
        return replace(known.built, node=reference)

    def _name(self, cell: Cell, inherited: Inherited = NOTHING_INHERITED) -> str:
        """Name a place by the schemas that speak about it, and how they are to be read."""
        parts = [f"{self.files.uri_of(part.schema)}{part.scope or ''}" for part in cell]
        return " ".join([*parts, *([] if inherited == NOTHING_INHERITED else [inherited.key])])

    def _node(
        self, cell: Cell, merged: Merged, inherited: Inherited, here: frozenset[Key]
    ) -> Built:
        union = find_union(self.files, cell, self._report)
        if union is not None:
            cells = [distinct((*union.rest, *arm.cell)) for arm in union.arms]
            arms = [
                self._arm(arm.source, cell, inherited, here)
                for arm, cell in zip(union.arms, cells, strict=True)
            ]
            return self._one_of(arms, partial(self._acceptors, union))
        kinds = kinds_of(self.files, cell)
        if len(kinds) == 1:
            return self._kinds.build(kinds[0], cell, merged, inherited)
        cells = [(self.files.typed(cell[0], kind), *cell) for kind in kinds]
        arms = [self._flat(arm, inherited, here) for arm in cells]
        return self._one_of(arms, lambda: [TypeAcceptor(frozenset({kind})) for kind in kinds])

    def _arm(self, source: Source, cell: Cell, inherited: Inherited, here: frozenset[Key]) -> Built:
        """Compile an arm of a union together with what is outside; note one that is the union."""
        try:
            return self._flat(cell, inherited, here)
        except _LoopError:
            steps = tuple(self.files.references_of(source.schema)[:1])
            found = (
                f"{source.schema[steps[0]] if steps else 'the alternative'} leads back to itself"
            )
            expected = "a reference to a schema that says something"
            self.problems.add(source.schema, steps, found, expected)
            return Built(open_default(), None)

    def _one_of(self, arms: list[Built], acceptors: Callable[[], Sequence[Acceptor]]) -> Built:
        """Give a union of its arms; arms that all compare alike are no union."""
        first = arms[0]
        if all((arm.node, arm.aggregate) == (first.node, first.aggregate) for arm in arms):
            return first
        node = OneOfNode(
            threshold=first.node.item_threshold,
            weight=first.node.weight,
            arms=tuple(
                Arm(accepts, arm.node, arm.aggregate)
                for accepts, arm in zip(acceptors(), arms, strict=True)
            ),
        )
        return Built(node, first.aggregate, first.speaks_for_list)

    def _acceptors(self, union: Union) -> list[Acceptor]:
        acceptors = [acceptor_of(self.files, arm.source, self._documents) for arm in union.arms]
        for arm, acceptor in zip(union.arms, acceptors, strict=True):
            if isinstance(acceptor, SchemaAcceptor):
                self._judging.append((arm.source, acceptor))
                for part, keyword, error in self._reach.problems(arm.source):
                    self._report(part.schema, keyword, error)
        return acceptors

    def _try_engine(self) -> None:
        """Note arms that the engine cannot judge by: once all of their documents are there."""
        for source, acceptor in self._judging:
            try:
                acceptor.validator()
            except EngineError as error:
                found = f"no value can be judged by this alternative ({error})"
                self.problems.add(source.schema, (), found, "what docs/schema.md says of patterns")

    def _root(self, cell: Cell, node: Node) -> Node:
        """Make sure that documents are objects, as far as the schema has a say."""
        types = declared_types(cell)
        objects = document_node(node) if types is None or "object" in types else None
        if objects is None:
            self.problems.add(self.files.root.schema, (), NO_OBJECT, OBJECT_EXPECTED)
        return objects or node

    def _report(self, schema: Schema, keyword: str, error: LeadsNowhereError) -> None:
        steps = (keyword,) if keyword else ()
        self.problems.add(schema, steps, error.found, error.expected, error.hint)
