"""Annotated schemas of pydantic classes. Fields without a comparator get an inferred one."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import OTHER_NAMES
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.schema.annotations import annotated
from stickler_cli.schema.loading import LoadedSchema, loaded
from .fields import ComparableModel, annotated_schema

_MATCH_THRESHOLD: Final = annotated("match_threshold")
_MODEL_NAME: Final = annotated("model_name")


def inferred_contents(model: type[BaseModel], match_threshold: float) -> dict[str, Any]:
    """Return the annotated schema of a pydantic class. Missing comparators are inferred.

    The name of the class becomes the model name.
    """
    schema = annotated_schema(model, infers=True)
    contents = dict(infer_class(model, schema, match_threshold).contents)
    contents.pop(OTHER_NAMES, None)  # instances are made with the names of the fields
    if contents.get("type") != "array":  # no class is made from an array schema
        contents[_MODEL_NAME] = model.__name__
    return contents


def infer_class(
    model: type[BaseModel],
    schema: dict[str, Any],
    match_threshold: float,
    comparators: Mapping[str, BaseComparator] | None = None,
) -> LoadedSchema:
    """Compile the schema of a class. A comparator is inferred for each field that has none.

    Args:
        model: the class.
        schema: the annotated schema of the class.
        match_threshold: in [0, 1]; the score at which documents match. For a plain class, it is
            also the score at which list items match. A `StructuredModel` has its own score for
            list items, which is kept.
        comparators: maps the keys that stand for comparator objects in the schema to these
            objects.
    """
    is_plain = not issubclass(model, ComparableModel)
    definitions = schema.get("$defs", {}).values() if is_plain else ()
    for place in (schema, *(place for place in definitions if "properties" in place)):
        if place.get("type") != "array":
            place[_MATCH_THRESHOLD] = match_threshold
    return loaded(
        schema,
        model.__name__,
        when="always" if is_plain and model.model_fields else "never",
        allow_plugins=True,
        comparators=comparators,
    )


def check_weight_hints(weight_hints: bool) -> None:
    """Raise UsageError if `weight_hints` is set. Weights are never inferred from names."""
    if weight_hints:
        hint = (
            'to set a weight, give fields={"total": {"weight": 2.0}}, or x-aws-stickler-weight in '
            "a schema"
        )
        finding = "weight_hints is True, but weights are not inferred from field names"
        raise UsageError([Problem(source="", found=finding, expected="False", hint=hint)])
