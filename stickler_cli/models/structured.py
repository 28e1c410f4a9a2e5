"""`StructuredModel`: a pydantic model whose instances can be compared.

A class is compiled once: its JSON Schema, with annotations, goes through the compiler that schema
files go through. Instances are compared as the JSON values that they stand for.
"""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

import orjson
from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import ObjectComparison
from stickler_cli.json_values import JsonObject
from stickler_cli.models.base import ComparableModel
from stickler_cli.models.configuration import configuration_of, model_from_configuration
from stickler_cli.models.fields import Annotating, annotating, current_annotating
from stickler_cli.models.from_schema import model_from_schema
from stickler_cli.models.views import evaluator_view, model_view
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema


class ComparedSchema(GenerateJsonSchema):
    """JSON Schema of the values that are compared: those of `model_dump(mode="json")`."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Take a Decimal for a number, however it is written."""
        return {"type": "number"}


class StructuredModel(ComparableModel):
    """A pydantic model that knows how its instances are compared.

    `match_threshold`, a class attribute in [0, 1], says when two items of a list are the same one.
    Keys that the class does not declare are kept, and count as false alarms of a prediction.
    """

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Add the annotations of the model, where they are asked for."""
        schema = handler(core_schema)
        if current_annotating() is not None:
            own = handler.resolve_ref_schema(schema)
            own[f"{PREFIX}model-name"] = cls.__name__
            own[f"{PREFIX}match-threshold"] = cls.match_threshold
        return schema

    @classmethod
    def comparison_plan(cls) -> Plan:
        """Give the plan of this class, compiled when it is first asked for.

        Raises:
            SchemaError: a field cannot be compared as it says.
        """
        if "_compiled" not in cls.__dict__:
            how = Annotating(instances={})
            schema = cls._annotated_schema(how)
            cls._compiled = compile_schema(schema, cls.__name__, comparators=how.instances)
        return cls._compiled

    @classmethod
    def to_json_schema(cls) -> dict[str, Any]:
        """Give the annotated JSON Schema of this class; `from_json_schema` reads it back.

        `model_json_schema` stays pydantic's own, without annotations.
        """
        if cls._source_schema is not None:
            return deepcopy(cls._source_schema)
        return cls._annotated_schema(Annotating())

    @classmethod
    def to_stickler_config(cls) -> dict[str, Any]:
        """Give the configuration of this class; `model_from_json` reads it back.

        Raises:
            SchemaError: a field has a type that no configuration can state.
        """
        return configuration_of(cls)

    @classmethod
    def model_from_json(cls, config: Mapping[str, Any]) -> "type[StructuredModel]":
        """Make a model class of a configuration; docs/python.md lists its keys.

        Raises:
            SchemaError: with everything that is wrong, each with its place.
        """
        return model_from_configuration(config, StructuredModel)

    @classmethod
    def from_json_schema(
        cls, schema: dict[str, Any], base_uri: str | Path | None = None
    ) -> "type[StructuredModel]":
        """Make a model class of an annotated JSON Schema; instances take any value.

        Raises:
            SchemaError: with everything that is wrong, each with its JSON Pointer.
        """
        return model_from_schema(schema, StructuredModel, base_uri)

    @classmethod
    def _annotated_schema(cls, how: Annotating) -> dict[str, Any]:
        with annotating(how):
            return cls.model_json_schema(by_alias=False, schema_generator=ComparedSchema)

    @classmethod
    def from_json(cls, data: str | bytes | Mapping[str, Any]) -> Self:
        """Make an instance of a JSON text or of its parsed value."""
        parsed = orjson.loads(data) if isinstance(data, str | bytes) else data
        return cls.model_validate(parsed)

    def compare(self, other: BaseModel) -> float:
        """Give the similarity of this ground truth and a prediction, in [0, 1]."""
        return self.comparison(other).similarity

    def comparison(self, other: BaseModel, options: Options | None = None) -> ObjectComparison:
        """Give the full account of this ground truth and a prediction, typed."""
        return compare(type(self).comparison_plan(), values_of(self), values_of(other), options)

    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        document_field_comparisons: bool = False,
        evaluator_format: bool = False,
        recall_with_fd: bool = False,
        add_derived_metrics: bool = True,
    ) -> dict[str, Any]:
        """Compare this ground truth with a prediction.

        Args:
            other: the prediction.
            include_confusion_matrix: add `confusion_matrix`: counts per field.
            document_non_matches: add `non_matches`: every error, with both values.
            document_field_comparisons: add `field_comparisons`: every unit, matches too.
            evaluator_format: return what `StructuredModelEvaluator.evaluate` does.
            recall_with_fd: count false discoveries as missed in recall.
            add_derived_metrics: give rates beside the counts of the confusion matrix.

        Returns:
            `field_scores`, `overall_score`, `all_fields_matched`, and what was asked for.
        """
        comparison = self.comparison(other)
        if evaluator_format:
            return evaluator_view(comparison, recall_with_fd=recall_with_fd)
        return model_view(
            comparison,
            confusion_matrix=include_confusion_matrix,
            non_matches=document_non_matches,
            field_comparisons=document_field_comparisons,
            recall_with_fd=recall_with_fd,
            derived=add_derived_metrics,
        )


def values_of(instance: BaseModel) -> JsonObject:
    """Give the JSON values that an instance stands for, by the names that its plan has.

    Raises:
        TypeError: it is no pydantic instance.
    """
    given: object = instance
    if not isinstance(given, BaseModel):
        raise TypeError(f"the prediction is {type(given).__name__}, expected a model instance")
    of_schema = isinstance(given, StructuredModel) and given._source_schema is not None  # noqa: SLF001
    return given.model_dump(mode="json", by_alias=of_schema, warnings=False, fallback=str)
