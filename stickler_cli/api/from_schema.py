"""Model classes made from an annotated JSON Schema.

The classes do not validate, so values of a wrong type can be scored. An object becomes an instance
of a nested model, and its keys become attributes. A key that is not set has the `default` of the
schema, as in any pydantic model.
"""

import json
import keyword
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar
from uuid import NAMESPACE_OID, uuid5

from pydantic import BeforeValidator, Field, create_model

from stickler_cli.compare.field_listing import plan_of
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import ChoiceNode
from stickler_cli.compare.plan import Node
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.combinators import InForce, branches_of, elements_of, flatten, properties
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.references import SchemaFiles
from .fields import ComparableModel

Model = TypeVar("Model", bound=ComparableModel)


def source_schema(model: type[ComparableModel]) -> dict[str, Any]:
    """Return the schema from which a class was made.

    Raises:
        SchemaError: the class was made from only a part of a schema.
    """
    if model._part_of is not None:  # noqa: SLF001 - made here
        finding = f"this class covers only a part of the schema of {model._part_of}"  # noqa: SLF001
        hint = f"use the schema of {model._part_of}"  # noqa: SLF001
        raise SchemaError(
            [
                Problem(
                    source=model.__name__,
                    found=finding,
                    expected="a class made from a whole schema",
                    hint=hint,
                )
            ]
        )
    return deepcopy(model._source_schema or {})  # noqa: SLF001


def embedded_schema(model: type[ComparableModel]) -> dict[str, Any]:
    """Return the schema of a class in a form that can be put into another schema.

    Raises:
        SchemaError: an attribute of the class has another name than its property in the schema. The
            JSON of instances would then not fit the schema.
    """
    renamed = [name for name, field_info in model.model_fields.items() if field_info.alias != name]
    if renamed:
        finding = (
            "this class cannot be used in another class, because these attributes have different "
            f"names in its schema: {', '.join(renamed)}"
        )
        hint = f"instead, copy the schema of {model.__name__} into the schema of the other class"
        raise SchemaError(
            [
                Problem(
                    source=model.__name__,
                    found=finding,
                    expected="",
                    hint=hint,
                )
            ]
        )
    schema = source_schema(model)
    file = model._source_file  # noqa: SLF001
    # Give it an identifier, so that references inside it start from there.
    text = json.dumps(schema, sort_keys=True, default=str)
    name = file.absolute().as_uri() if file else f"urn:uuid:{uuid5(NAMESPACE_OID, text)}"
    return {"$id": name, **schema}


class SchemaClasses(Generic[Model]):
    """The model classes made from one schema.

    Each object of the schema has one class, even an object that contains itself.
    """

    def __init__(
        self, schema: dict[str, Any], base: type[Model], file: Path | None, *, required: bool
    ) -> None:
        """Store a valid schema, and the class from which all generated classes are derived.

        If `required` is true, an instance must have all keys that the schema requires.
        """
        self._base = base
        self._schema = schema
        self._file = file
        self._files = SchemaFiles(schema, "", file)
        self._required = required
        self._whole: str | None = None
        self._made: dict[int, type[Model]] = {}

    def make_document_class(self, node: Node, name: str) -> type[Model]:
        """Return the class for the documents of the schema."""
        return self._make_class(node, name, (self._files.root,))

    def _make_class(self, node: Node, name: str, place: InForce) -> type[Model]:
        """Return the model class called `name` for the objects of a node.

        `place` has the subschemas that describe the objects.
        """
        if id(node) in self._made:
            return self._made[id(node)]
        fields = node.fields if isinstance(node, ObjectNode) else ()
        place = self._only(place)
        places = properties(self._files, place)
        lists: list[Any] = [subplace.schema.get("required") or () for subplace in place]
        needed = {key for keys in lists for key in keys}
        reserved_names = frozenset(dir(self._base))
        definitions: dict[str, Any] = {}
        for field in fields:
            attribute = field.name
            if not attribute.isidentifier() or keyword.iskeyword(attribute) or attribute[0] == "_":
                attribute = "field_" + "".join(c if c.isalnum() else "_" for c in attribute)
            while attribute in reserved_names or attribute in definitions:
                attribute += "_"
            field_places = places.get(field.name, ())
            lift = BeforeValidator(partial(self._lift, field.node, field.name, field_places))
            default = self._default(field_places, needed=self._required and field.name in needed)
            field_info = Field(default, alias=field.name, validate_default=True)
            definitions[attribute] = Annotated[Any, lift], field_info
        model: type[Model] = create_model(name, __base__=self._base, **definitions)
        if isinstance(node, ObjectNode):
            model.match_threshold = node.match_threshold
        model._compiled = plan_of(node, name)  # noqa: SLF001 - the class is made here
        model._source_schema = self._schema  # noqa: SLF001
        model._source_file = self._file  # noqa: SLF001
        model._part_of = self._whole  # noqa: SLF001
        self._whole = self._whole or name
        self._made[id(node)] = model
        return model

    def _only(self, place: InForce) -> InForce:
        """Return the subschemas in `place` and all subschemas that they include.

        A subschema includes others with `allOf` or a reference. If there is a union, such as
        `anyOf`, and it has only one alternative, this alternative is included, too. If the union
        has several alternatives, the result is an empty tuple.
        """
        flat = flatten(self._files, place, _pass_over)
        branches = branches_of(self._files, flat, _pass_over)
        return flat if not branches else branches[0].in_force if len(branches) == 1 else ()

    def _default(self, place: InForce, *, needed: bool) -> Any:
        """Return the default of a key; `...` if a value is required."""
        for source in (*place, *self._only(place)):
            if "default" in source.schema:
                return deepcopy(source.schema["default"])
        return ... if needed else None

    def _lift(self, node: Node, name: str, place: InForce, value: Any) -> Any:
        """Return a value in which each object has become an instance of its model class."""
        if isinstance(node, ChoiceNode):
            node = node.node_for(value)
        if isinstance(value, list) and isinstance(node, ListNode):
            elements = elements_of(self._files, self._only(place))
            return [self._lift(node.items, name, elements, element) for element in value]
        if isinstance(value, dict) and isinstance(node, ObjectNode) and node.fields:
            title = node.model_name or name.title().replace("_", "")
            return self._make_class(node, title, place).model_validate(value)
        return value


def _pass_over(schema: Schema, keyword: str, error: Exception) -> None:
    """Ignore a reference that cannot be resolved; the compiler has already reported it."""
