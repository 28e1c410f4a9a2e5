"""From an annotated JSON Schema to a plan, or to one SchemaError with every problem in it."""

from dataclasses import replace
from pathlib import Path as FilePath
from typing import Final

from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.compare.recursion import RecursionNode, Target
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD
from stickler_cli.errors import Problem, SchemaError
from stickler_cli.json_values import JsonValue, kind_of
from stickler_cli.schema.acceptance import TypeAcceptor, acceptor_of
from stickler_cli.schema.combinators import Cell, declared_types, distinct, find_union, flatten
from stickler_cli.schema.kinds import Built, KindCompiler, kind_of_cell
from stickler_cli.schema.merging import NOTHING_INHERITED, Inherited, Merged, merge_annotations
from stickler_cli.schema.references import LeadsNowhereError, Schema, SchemaFiles
from stickler_cli.schema.usage import Usage
from stickler_cli.schema.validity import Problems, check_annotations, dialect_problems

DEFAULT_MODEL_NAME: Final = "DynamicModel"
"""What a schema without a model name is called. Source: docs/schema.md."""


def compile_schema(
    schema: JsonValue,
    source: str = "",
    file: FilePath | None = None,
    *,
    allow_plugins: bool = False,
) -> Plan:
    """Compile a parsed schema.

    Args:
        schema: the schema as JSON.
        source: its name for messages; the file as the user named it.
        file: where relative references start; without it they are refused.
        allow_plugins: whether a comparator may be named as `package.module:Class`.

    Raises:
        SchemaError: with everything that is wrong, each with its JSON Pointer.
    """
    if not isinstance(schema, dict):
        problem = Problem(source, f"the schema is {kind_of(schema)}", "an object", pointer="")
        raise SchemaError([problem])
    files = SchemaFiles(schema, source, file)
    problems = Problems(files)
    invalid = list(dialect_problems(files, schema))
    for problem in invalid:
        problems.note(problem)
    check_annotations(files, schema, problems, allow_plugins=allow_plugins)
    plan = None
    if not invalid:  # what is not JSON Schema has no meaning to compile
        try:
            plan = Compiler(files, problems, allow_plugins=allow_plugins).plan()
        except RecursionError:
            problems.add(schema, (), "the schema is nested too deeply", "fewer levels")
    if problems or plan is None:
        raise SchemaError(problems)
    return plan


class Compiler:
    """Compiles each place of a schema once; places that contain themselves become recursions."""

    def __init__(self, files: SchemaFiles, problems: Problems, *, allow_plugins: bool) -> None:
        self.files = files
        self.problems = problems
        self.usage = Usage(files, problems)
        self.allow_plugins = allow_plugins
        self._kinds = KindCompiler(self)
        self._built: dict[tuple[tuple[int, ...], str], Built] = {}
        self._building: dict[tuple[tuple[int, ...], str], Target] = {}

    def plan(self) -> Plan:
        """Compile the whole schema; problems are noted on the way."""
        cell = flatten(self.files, (self.files.root,), self._report)
        root = self._root(self._flat(cell, NOTHING_INHERITED).node)
        self.usage.report()
        merged = merge_annotations(cell, NOTHING_INHERITED)
        return Plan(root, merged.model_name or DEFAULT_MODEL_NAME)

    def place(self, cell: Cell, inherited: Inherited = NOTHING_INHERITED) -> Built:
        """Compile the place that a cell describes."""
        return self._flat(flatten(self.files, cell, self._report), inherited)

    def _flat(self, cell: Cell, inherited: Inherited) -> Built:
        key = tuple(id(source.schema) for source in cell), inherited.key
        if key in self._built:
            return self._built[key]
        merged = merge_annotations(cell, inherited)
        if key in self._building:
            name = f"{self.files.uri_of(cell[0].schema)} {inherited.key}"
            node: Node = RecursionNode(
                threshold=DEFAULT_MATCH_THRESHOLD, place=name, target=self._building[key]
            )
            return Built(node, merged.aggregate)
        target = self._building[key] = Target()
        built = self._node(cell, merged, inherited)
        target.node = built.node
        del self._building[key]
        self._built[key] = built
        return built

    def _node(self, cell: Cell, merged: Merged, inherited: Inherited) -> Built:
        union = find_union(self.files, cell)
        if union is not None:
            arms = [
                (
                    acceptor_of(self.files, arm),
                    (*union.rest, *flatten(self.files, (arm,), self._report)),
                )
                for arm in union.arms
            ]
            return self._one_of(
                [(accepts, self._flat(distinct(arm), inherited)) for accepts, arm in arms]
            )
        types = [name for name in declared_types(cell) or [] if name != "null"]
        if "number" in types:
            types = [name for name in types if name != "integer"]
        if len(types) > 1:
            return self._one_of(
                [
                    (
                        TypeAcceptor(frozenset({name})),
                        self._flat((self.files.typed(cell[0], name), *cell), inherited),
                    )
                    for name in types
                ]
            )
        kind = types[0] if types else kind_of_cell(cell)
        return self._kinds.build(kind, cell, merged, inherited)

    def _one_of(self, arms: list[tuple[Acceptor, Built]]) -> Built:
        """Give a union of its arms; arms that all compare alike are no union."""
        first = arms[0][1]
        if all(built.node == first.node for _, built in arms):
            return first
        node = OneOfNode(
            threshold=first.node.item_threshold,
            weight=first.node.weight,
            arms=tuple(Arm(accepts, built.node) for accepts, built in arms),
        )
        return Built(node, first.aggregate)

    def _root(self, node: Node) -> Node:
        """Make sure that documents are objects, as far as the schema has a say."""
        match node:
            case ObjectNode() | MapNode():
                return node
            case OpenNode():
                return node.choose({})
            case OneOfNode():
                arms = [arm for arm in node.arms if isinstance(arm.node, ObjectNode | MapNode)]
                if arms:
                    return replace(node, arms=tuple(arms)) if len(arms) > 1 else arms[0].node
        self.problems.add(
            self.files.root.schema,
            (),
            "the schema describes no object",
            "an object schema: a document is a JSON object",
        )
        return node

    def _report(self, schema: Schema, keyword: str, error: LeadsNowhereError) -> None:
        self.problems.add(schema, (keyword,), error.found, error.expected, error.hint)
