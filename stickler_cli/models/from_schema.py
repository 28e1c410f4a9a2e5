"""Models made of an annotated JSON Schema: the plan decides, instances take any value.

A prediction of the wrong JSON type is scored, never raised, so the fields of such a model are not
validated. Objects become instances of nested models, so that their fields are attributes too.
"""

import keyword
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator, Field, create_model

from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import ChoiceNode
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.models.base import ComparableModel
from stickler_cli.schema.compiler import compile_schema

Model = TypeVar("Model", bound=ComparableModel)


def model_from_schema(
    schema: dict[str, Any], base: type[Model], base_uri: str | Path | None = None
) -> type[Model]:
    """Make a model class of an annotated JSON Schema.

    Args:
        schema: the schema.
        base: what the class is a subclass of.
        base_uri: the file that the schema is, or the directory that it is in: where relative
            references start.

    Raises:
        SchemaError: with everything that is wrong, each with its JSON Pointer.
    """
    plan = compile_schema(schema, file=_file_of(base_uri))
    return _Classes(schema, base).of(plan.root, plan.model_name)


def _file_of(base_uri: str | Path | None) -> Path | None:
    if base_uri is None:
        return None
    path = Path(str(base_uri).removeprefix("file://"))
    return path / "schema.json" if path.is_dir() else path


class _Classes(Generic[Model]):
    """The classes of one schema, one a node, so that a recursion comes back to its class."""

    def __init__(self, schema: dict[str, Any], base: type[Model]) -> None:
        self._base = base
        self._schema = schema
        self._made: dict[int, type[Model]] = {}

    def of(self, node: Node, name: str) -> type[Model]:
        """Give the class for objects of a node."""
        if id(node) in self._made:
            return self._made[id(node)]
        declared = node.declared if isinstance(node, MapNode) else node
        fields = declared.fields if isinstance(declared, ObjectNode) else ()
        names = _attribute_names([entry.name for entry in fields], frozenset(dir(self._base)))
        definitions = {
            names[entry.name]: (
                Annotated[Any, BeforeValidator(partial(self._lift, entry.node, entry.name))],
                Field(None, alias=entry.name),
            )
            for entry in fields
        }
        model: type[Model] = create_model(
            name,
            __base__=self._base,
            **definitions,  # type: ignore[call-overload]
        )
        if isinstance(declared, ObjectNode):
            model.match_threshold = declared.match_threshold
        model._compiled = Plan(node, name)  # noqa: SLF001 - the class is made here
        model._source_schema = self._schema  # noqa: SLF001
        self._made[id(node)] = model
        return model

    def _lift(self, node: Node, name: str, value: Any) -> Any:
        """Turn the objects in a value into instances of their models."""
        if isinstance(node, ChoiceNode):
            node = node.chosen(value)
        if isinstance(value, list) and isinstance(node, ListNode):
            return [self._lift(node.items, name, part) for part in value]
        if isinstance(value, dict) and isinstance(node, ObjectNode | MapNode):
            declared = node.declared if isinstance(node, MapNode) else node
            if declared.fields:
                title = declared.model_name or name.title().replace("_", "")
                return self.of(node, title).model_validate(value)
        return value


def _attribute_names(names: list[str], taken: frozenset[str]) -> dict[str, str]:
    """Give each property the name of its attribute: its own, unless Python or pydantic mind."""
    given: dict[str, str] = {}
    for name in names:
        attribute = name
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            attribute = "field_" + "".join(c if c.isalnum() else "_" for c in name)
        while attribute in taken or attribute in given.values():
            attribute += "_"
        given[name] = attribute
    return given
