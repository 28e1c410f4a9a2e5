"""What a comparable class is made of, and what it is written down as: schemas, configurations."""

import warnings
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.plan import Plan
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema
from .comparable import ComparableModel
from .configuration import ConfigurationReader
from .export import configuration_of
from .fields import CURRENT, STAND_IN, annotated_schema, check_exported
from .from_schema import SchemaClasses, embedded_schema, source_schema
from .passed_over import tell_passed_over


class DescribedModel(ComparableModel):
    """A model class that is compiled, written down as JSON and read back."""

    @classmethod
    def __pydantic_init_subclass__(cls, **keywords: Any) -> None:
        """Refuse a threshold that is none, and new fields on a class made of a schema."""
        super().__pydantic_init_subclass__(**keywords)
        threshold: object = cls.match_threshold
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise ValueError(f"match_threshold is {threshold!r}, expected a number in [0, 1]")
        if cls._source_schema is None:
            tell_passed_over(cls)
            return
        # The one that was itself made of it, and does not just inherit it.
        made: type[ComparableModel] = next(b for b in cls.__mro__ if "_source_schema" in vars(b))
        if (cls.model_fields.keys(), threshold) != (made.model_fields.keys(), made.match_threshold):
            raise TypeError(
                f"{made.__name__} is made of a JSON Schema, which alone says what its fields are; "
                "a subclass can add methods only"
            )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Add the annotations of the model, where they are asked for."""
        schema, how = handler(core_schema), CURRENT.get()
        if how is not None:
            own = handler.resolve_ref_schema(schema)
            if cls._source_schema is not None:
                own.clear()
                own[STAND_IN] = key = f"{len(how.whole)}"
                how.whole[key] = embedded_schema(cls)
            else:
                if cls._named:
                    own[f"{PREFIX}model-name"] = cls.__name__
                own[f"{PREFIX}match-threshold"] = cls.match_threshold
        return schema

    @classmethod
    def comparison_plan(cls) -> Plan:
        """Return the plan of this class, compiled when it is first asked for.

        Raises:
            SchemaError: a field cannot be compared as it says.
        """
        if cls._source_schema is None and "_compiled" not in cls.__dict__:
            tell_passed_over(cls)
            known: dict[str, BaseComparator] = {}
            schema = annotated_schema(cls, known)
            cls._compiled = compile_schema(
                schema, cls.__name__, allow_plugins=True, comparators=known
            )
        return cls._compiled

    @classmethod
    def to_json_schema(cls) -> dict[str, Any]:
        """Return the annotated JSON Schema of this class; `from_json_schema` reads it back.

        `model_json_schema` stays pydantic's own, without annotations. A comparator that is not
        built in is named `module:Class`; reading that back takes `allow_plugins=True`.

        Raises:
            SchemaError: a comparator was given something that JSON does not have, or the class is
                for a part of a schema.
        """
        if cls._source_schema is not None:
            return source_schema(cls)
        schema = annotated_schema(cls)
        check_exported(schema, cls.__name__)
        return schema

    @classmethod
    def to_stickler_config(cls) -> dict[str, Any]:
        """Return the configuration of this class; `model_from_json` reads it back.

        Raises:
            SchemaError: with every field that no configuration can state.
        """

        def plan_of(config: dict[str, Any]) -> Plan:
            return DescribedModel.model_from_json(config, allow_plugins=True).comparison_plan()

        return configuration_of(cls, cls.comparison_plan(), plan_of)

    @classmethod
    def model_from_json(
        cls, config: Mapping[str, Any], *, allow_plugins: bool = False
    ) -> type[Self]:
        """Make a subclass of this class from a configuration; docs/python.md lists its keys.

        Keywords of another comparator than the one that is named are passed over with a warning.

        Args:
            config: the configuration as JSON.
            allow_plugins: whether a comparator may be named as `package.module:Class`.

        Raises:
            SchemaError: with everything that is wrong, each with its place.
        """
        reader = ConfigurationReader(cls, allow_plugins=allow_plugins)
        model = reader.model(config)
        if reader.problems:
            raise SchemaError(reader.problems)
        for problem in reader.passed_over:
            warnings.warn(str(problem), stacklevel=2)
        model.comparison_plan()  # what only compiling finds is told here, too
        return model

    @classmethod
    def from_json_schema(
        cls,
        schema: dict[str, Any],
        base_uri: str | Path | None = None,
        *,
        allow_plugins: bool = False,
        enforce_required: bool = False,
    ) -> type[Self]:
        """Make a subclass of this class from an annotated JSON Schema; instances take any value.

        A key that an instance is made without has the `default` that the schema states, else None.

        Args:
            schema: the schema as JSON.
            base_uri: the file of the schema, or its directory: where relative references start.
            allow_plugins: whether a comparator may be named as `package.module:Class`.
            enforce_required: whether pydantic refuses to make instances without a key that the
                schema requires; else such a key is missed, and scored.

        Raises:
            SchemaError: with everything that is wrong, each with its JSON Pointer.
            TypeError: this class has fields of its own.
        """
        if cls.model_fields:
            raise TypeError(
                f"{cls.__name__} has fields of its own; a schema says what the fields are"
            )
        file = None if base_uri is None else Path(str(base_uri).removeprefix("file://"))
        if file is not None and file.is_dir():
            file /= "schema.json"
        plan = compile_schema(schema, file=file, allow_plugins=allow_plugins)
        if plan.kind == "array":
            found, hint = "its documents are arrays, which no class has", "evaluate_many takes it"
            raise SchemaError([Problem("", found, "a schema of JSON objects", hint, "")])
        classes = SchemaClasses(deepcopy(schema), cls, file, required=enforce_required)
        return classes.whole(plan.root, plan.model_name)
