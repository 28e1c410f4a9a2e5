"""The configuration of a class: its plan says how fields are compared, itself of what types.

It is read back and compared with the plan, as a configuration can state less than a schema.
"""

import keyword
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from stickler_cli.comparators.registry import location_of
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.one_of import RecursionNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError
from .comparable import ComparableModel
from .configuration import TYPES

BY_JSON_TYPE: Final = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}


def configuration_of(
    model: type[ComparableModel], plan: Plan, read: Callable[[dict[str, Any]], Plan]
) -> dict[str, Any]:
    """Return the configuration of a model class and its plan; `read` returns that of another."""
    schema = None if model._part_of else model._source_schema  # noqa: SLF001 - made here
    writer = _Writer(model.__name__, schema or {})
    told = model if schema is None else schema
    config = {"model_name": plan.model_name, **writer.model(plan.root, told, ())}
    if not writer.problems:
        again = read(config).root
        if model._part_of and isinstance(plan.root, ObjectNode) and isinstance(again, ObjectNode):  # noqa: SLF001
            # The class of a part has a name even where the part has none.
            again = replace(again, model_name=plan.root.model_name)
        writer.compare(plan.root, again)
    if writer.problems:
        raise SchemaError(writer.problems)
    return config


class _Writer:
    """Writes a configuration, by parts of a schema or annotations; keeps what it cannot state."""

    def __init__(self, source: str, schema: Mapping[str, Any]) -> None:
        self._source = source
        self._schema = schema
        self._above: list[Node] = []
        self.problems: list[Problem] = []

    def model(self, node: Node, told: Any, path: Path) -> dict[str, Any]:
        """Return the configuration of an object, as far as it can be stated."""
        if not isinstance(node, ObjectNode):
            self._note(path, "its documents are of several kinds")
            return {}
        named = {"model_name": node.model_name} if node.model_name else {}
        self._above.append(node)
        fields = {
            entry.name: self._field(entry, told, (*path, "fields", entry.name))
            for entry in node.fields
        }
        self._above.pop()
        return {**named, "match_threshold": node.match_threshold, "fields": fields}

    def _field(self, entry: Field, around: Any, path: Path) -> dict[str, Any]:
        if not entry.name.isidentifier() or keyword.iskeyword(entry.name):
            self._note(path, f"{entry.name} is no Python name")
        info: FieldInfo | None = None
        if isinstance(around, type) and issubclass(around, BaseModel):
            info = around.model_fields.get(entry.name)
        told = info.annotation if info else self._inside(around, "properties", entry.name)
        config = self._node(entry.node, told, path)
        if info and info.is_required():
            config["required"] = True
        elif info and info.default not in (None, PydanticUndefined):
            config["default"] = to_jsonable_python(info.default, fallback=str)
        said = {key: getattr(info, key, None) for key in ("alias", "description", "examples")}
        config |= {key: value for key, value in said.items() if value is not None}
        if entry.aggregate is not None:
            config["aggregate"] = entry.aggregate
        return config

    def _node(self, node: Node, told: Any, path: Path) -> dict[str, Any]:
        """Return the configuration of one field."""
        node, told = _target(node), _without_none(told)
        config: dict[str, Any] = {"threshold": node.threshold, "weight": node.weight, **_clip(node)}
        match node:
            case _ if any(node is outer for outer in self._above):
                self._note(path, "it leads back to an object around it")
            case LeafNode():
                config = {"type": _text_of(told, node), **_comparator(node), **config}
            case ObjectNode():
                config = {"type": "structured_model", **config, **self.model(node, told, path)}
            case ListNode():
                config = self._list(node, told, path)
            case OpenNode():
                # What a field of any kind says, where it says the same of all of them.
                leaves = list(node.leaves.values())
                del config["threshold"]
                if node.list_threshold is not None:
                    config["threshold"] = node.list_threshold
                alike = all(leaf.comparator == leaves[0].comparator for leaf in leaves)
                config = {"type": "any", **(_comparator(leaves[0]) if alike else {}), **config}
            case MapNode(rest=Field(node=LeafNode() as value)):
                config["type"] = f"Dict[str, {_text_of(None, value)}]"
            case MapNode(rest=Field()):
                config["type"] = "dict"
            case _:
                self._note(path, "it is a union, a tuple or a map")
        return config

    def _list(self, node: ListNode, told: Any, path: Path) -> dict[str, Any]:
        items = _target(node.items)
        told = _without_none(next(iter(get_args(told)), None) or self._inside(told, "items"))
        config: dict[str, Any] = {"weight": node.weight}
        if node.threshold_stated:
            config["threshold"] = node.threshold
        if node.pairing_floor is not None:
            config["pairing_floor"] = node.pairing_floor
        match items:
            case LeafNode():
                if not node.threshold_stated:
                    config["item_threshold"] = items.threshold
                text = f"List[{_text_of(told, items)}]"
                return {"type": text, **config, **_comparator(items), **_clip(items)}
            case ObjectNode() if not any(items is outer for outer in self._above):
                inside = self.model(items, told, path)
                return {"type": "list_structured_model", **config, **inside}
            case OpenNode():
                return {"type": "list", **config}
            case _:
                self._note(path, "its elements are lists, unions, maps or an object around it")
                return {}

    def compare(self, node: Node, again: Node) -> None:
        """Note the fields that are compared in another way once the configuration is read."""
        first, second = _unfolded(node), _unfolded(again)
        if first == second or not (
            isinstance(first, ObjectNode) and isinstance(second, ObjectNode)
        ):
            return
        read = {entry.name: entry for entry in second.fields}
        for entry in first.fields:
            if entry != read[entry.name]:
                self._note(("fields", entry.name), "its comparison has more to it")
        if not self.problems:
            self._note((), "the comparison of its documents has more to it")

    def _inside(self, schema: object, *steps: str) -> object:
        """Return what a schema says in so many words of a part; None where it says nothing."""
        for step in steps:
            schema = schema.get(step) if isinstance(schema, Mapping) else None
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            return self._schema["$defs"].get(reference.removeprefix("#/$defs/"))
        return schema

    def _note(self, path: Path, found: str) -> None:
        expected, hint = "what a configuration can state", "use to_json_schema"
        self.problems.append(Problem(self._source, found, expected, hint, json_pointer(path)))


def _target(node: Node) -> Node:
    return _target(node.choose(None)) if isinstance(node, RecursionNode) else node


def _unfolded(node: Node) -> Node:
    """Return a node with what its references lead to in their place; it has no recursion."""
    match _target(node):
        case ObjectNode() as node:
            fields = tuple(replace(entry, node=_unfolded(entry.node)) for entry in node.fields)
            return replace(node, fields=fields)
        case ListNode() as node:
            return replace(node, items=_unfolded(node.items))
        case other:
            return other


def _comparator(node: LeafNode) -> dict[str, Any]:
    config = node.comparator.config
    named = {"comparator": location_of(node.comparator)}
    return {**named, "comparator_config": config} if config else named


def _clip(node: Node) -> dict[str, Any]:
    return {"clip_under_threshold": True} if node.clip else {}


def _without_none(annotation: Any) -> Any:
    """Return the only type of an Optional; anything else as it is."""
    if get_origin(annotation) in (Union, UnionType):
        others = [part for part in get_args(annotation) if part is not NoneType]
        return others[0] if len(others) == 1 else annotation
    return annotation


def _text_of(told: Any, node: LeafNode) -> str:
    """Name the type of a leaf as a configuration does; by its comparator, where nothing is told."""
    if isinstance(told, Mapping):
        kind = told.get("type")
        text = BY_JSON_TYPE.get(kind) if isinstance(kind, str) else None
    else:
        named = (text for text, kind in TYPES.items() if told == kind and kind is not Any)
        text = next(named, None)
    if text is None and "array" in node.comparator.takes:
        return "list"
    return text or ("float" if node.comparator.name == "NumericComparator" else "str")
