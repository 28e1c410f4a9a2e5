"""What a class says of itself in JSON: its configuration, written from its plan.

The plan says how each field is compared, the class what its values are called in Python. A
configuration can state less than a schema, so what was written is read back and compared with the
plan that it came from.
"""

import json
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from stickler_cli.api.base import ComparableModel
from stickler_cli.api.configuration import TYPES
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
from stickler_cli.core.values import dataclass
from stickler_cli.schema.annotations import PREFIX

STATED: Final = "what a configuration can state"
HINT: Final = "use to_json_schema"

BY_COMPARATOR: Final = {"NumericComparator": "float"}
"""The `type` of a leaf of which nothing else is known; of any other comparator it is `str`."""

BY_JSON_TYPE: Final = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}


@dataclass(frozen=True, slots=True)
class Told:
    """What a schema says, in so many words, about the JSON type of a place."""

    schema: Mapping[str, Any]
    root: Mapping[str, Any]

    @property
    def text(self) -> str | None:
        """The `type` of the values here; None where it takes more than reading a keyword."""
        kind = self.schema.get("type")
        return BY_JSON_TYPE.get(kind) if isinstance(kind, str) else None

    def inside(self, *steps: str) -> "Told | None":
        """Give what is said of a part; None where nothing is."""
        part: Any = self.schema
        for step in steps:
            part = part.get(step) if isinstance(part, Mapping) else None
        reference = part.get("$ref") if isinstance(part, Mapping) else None
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            part = self.root["$defs"].get(reference.removeprefix("#/$defs/"))
        return Told(part, self.root) if isinstance(part, Mapping) else None


def check_exported(schema: Mapping[str, Any], source: str) -> None:
    """Make sure that the comparators in an annotated schema are written out in JSON.

    Raises:
        SchemaError: the config of a comparator holds what JSON has no word for.
    """
    problems = [
        problem
        for path, config in _configs(schema, ())
        if (problem := _config_problem(config, path, source)) is not None
    ]
    if problems:
        raise SchemaError(problems)


def _configs(schema: object, path: Path) -> Iterator[tuple[Path, object]]:
    """List the configs of comparators in a schema and where they stand."""
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(schema, Mapping):
        parts = schema.items()
    elif isinstance(schema, list):
        parts = enumerate(schema)
    for step, part in parts:
        if step == f"{PREFIX}comparator-config":
            yield (*path, step), part
        else:
            yield from _configs(part, (*path, step))


def _config_problem(config: object, path: Path, source: str) -> Problem | None:
    try:
        json.dumps(config, allow_nan=False)
    except (TypeError, ValueError) as error:
        found = f"a comparator was given what JSON does not have ({error})"
        hint = "compare with the class itself"
        return Problem(source, found, "keywords that are JSON", hint, json_pointer(path))
    return None


def configuration_of(
    model: type[ComparableModel], plan: Plan, read: Callable[[dict[str, Any]], Plan]
) -> dict[str, Any]:
    """Give the configuration of a model class.

    Args:
        model: the class.
        plan: its plan.
        read: gives the plan of a configuration.

    Raises:
        SchemaError: with every field that no configuration can state.
    """
    writer = _Writer(model.__name__)
    schema = None if model._part_of else model._source_schema  # noqa: SLF001 - made here
    told = model if schema is None else Told(schema, schema)
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
    """Writes a configuration and keeps what it cannot state."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._above: list[Node] = []
        self.problems: list[Problem] = []

    def model(self, node: Node, told: Any, path: Path) -> dict[str, Any]:
        """Give the configuration of an object, as far as it can be stated."""
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
        if isinstance(around, Told):
            config = self._node(entry.node, around.inside("properties", entry.name), path)
        elif (info := _info_of(around, entry.name)) is not None:
            config = {**self._node(entry.node, info.annotation, path), **_words_of(info)}
        else:
            config = self._node(entry.node, None, path)
        if entry.aggregate is not None:
            config["aggregate"] = entry.aggregate
        return config

    def _node(self, node: Node, told: Any, path: Path) -> dict[str, Any]:
        """Give the configuration of one field."""
        node = node.choose(None) if isinstance(node, RecursionNode) else node
        told = _without_none(told)
        config: dict[str, Any] = {"threshold": node.threshold, "weight": node.weight}
        if node.clip:
            config["clip_under_threshold"] = True
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
                config = {"type": "any", **_shared(node, config)}
            case MapNode() if isinstance(node.rest, Field):
                config["type"] = _map_type(node.rest.node)
            case _:
                self._note(path, "it is a union, a tuple or a map")
        return config

    def _list(self, node: ListNode, told: Any, path: Path) -> dict[str, Any]:
        items = node.items.choose(None) if isinstance(node.items, RecursionNode) else node.items
        inner = _item_of(told)
        config: dict[str, Any] = {"weight": node.weight}
        if node.threshold_stated:
            config["threshold"] = node.threshold
        if node.pairing_floor is not None:
            config["pairing_floor"] = node.pairing_floor
        match items:
            case LeafNode():
                text = f"List[{_text_of(inner, items)}]"
                if not node.threshold_stated:
                    config["item_threshold"] = items.threshold
                config |= _comparator(items)
                if items.clip:
                    config["clip_under_threshold"] = True
                return {"type": text, **config}
            case ObjectNode() if not any(items is outer for outer in self._above):
                return {
                    "type": "list_structured_model",
                    **config,
                    **self.model(items, inner, path),
                }
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

    def _note(self, path: Path, found: str) -> None:
        self.problems.append(Problem(self._source, found, STATED, HINT, json_pointer(path)))


def _unfolded(node: Node) -> Node:
    """Give a node with what its references lead to in their place; it has no recursion."""
    match node:
        case RecursionNode():
            return _unfolded(node.choose(None))
        case ObjectNode():
            fields = tuple(replace(entry, node=_unfolded(entry.node)) for entry in node.fields)
            return replace(node, fields=fields)
        case ListNode():
            return replace(node, items=_unfolded(node.items))
        case _:
            return node


def _comparator(node: LeafNode) -> dict[str, Any]:
    config = node.comparator.config
    named = {"comparator": location_of(node.comparator)}
    return {**named, "comparator_config": config} if config else named


def _shared(node: OpenNode, config: dict[str, Any]) -> dict[str, Any]:
    """Give what a field of any kind says, where it says the same of all of them."""
    leaves = list(node.leaves.values())
    config = {key: value for key, value in config.items() if key != "threshold"}
    if node.list_threshold is not None:
        config["threshold"] = node.list_threshold
    alike = all(leaf.comparator == leaves[0].comparator for leaf in leaves)
    return {**_comparator(leaves[0]), **config} if alike else config


def _type_of_leaf(node: LeafNode) -> str:
    if "array" in node.comparator.takes:
        return "list"
    return BY_COMPARATOR.get(node.comparator.name, "str")


def _map_type(node: Node) -> str:
    return f"Dict[str, {_type_of_leaf(node)}]" if isinstance(node, LeafNode) else "dict"


def _info_of(model: object, name: str) -> FieldInfo | None:
    """Give what a class says of a field; nothing of one that it was not written for."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        return model.model_fields.get(name)
    return None


def _item_of(told: Any) -> Any:
    """Give what is told of the elements of a list."""
    if isinstance(told, Told):
        return told.inside("items")
    return _without_none(next(iter(get_args(told)), None))


def _words_of(info: FieldInfo) -> dict[str, Any]:
    """Give what a field says apart from its comparison."""
    words: dict[str, Any] = {}
    if info.is_required():
        words["required"] = True
    elif info.default not in (None, PydanticUndefined):
        words["default"] = to_jsonable_python(info.default, fallback=str)
    for key in ("alias", "description", "examples"):
        if getattr(info, key) is not None:
            words[key] = getattr(info, key)
    return words


def _without_none(annotation: Any) -> Any:
    """Give the only type of an Optional; anything else as it is."""
    if get_origin(annotation) in (Union, UnionType):
        others = [part for part in get_args(annotation) if part is not NoneType]
        return others[0] if len(others) == 1 else annotation
    return annotation


def _text_of(told: Any, node: LeafNode) -> str:
    """Name the type of a leaf as a configuration does; by its comparator, where nothing is told."""
    if isinstance(told, Told):
        return told.text or _type_of_leaf(node)
    named = (text for text, kind in TYPES.items() if told == kind and kind is not Any)
    return next(named, None) or _type_of_leaf(node)
