"""Say how to compare what a schema leaves open; docs/inference.md has the rules."""

from collections.abc import Mapping
from pathlib import Path as FilePath

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.choices import Inferred
from stickler_cli.schema.walking import Walker

__all__ = ["Inferred", "infer"]


def infer(
    schema: JsonObject,
    source: str = "",
    file: FilePath | None = None,
    *,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
) -> tuple[JsonObject, tuple[Inferred, ...]]:
    """Annotate what a schema leaves open.

    Args:
        schema: as `compile_schema` takes it; it is not changed.
        source: its name for messages.
        file: where relative references start. What other files describe is listed, and left as
            it is.
        allow_plugins: as `compile_schema` takes it.
        comparators: as `compile_schema` takes them.

    Returns:
        A copy of the schema with a comparator, its config and a threshold for every leaf whose
        own annotations say nothing of these; and every field in schema order, parents first. A
        part that is listed already, or is deep inside others, may be one entry, or come last.

    Raises:
        SchemaError: the schema is too deep or describes too much. Anything else that is wrong
            with it is left for `compile_schema` to tell.
    """
    names = Comparators(allow_plugins, comparators or {})
    try:
        annotated = _copied(schema)
        walker = Walker(annotated, source, file, names)
        fields = walker.fields()
    except RecursionError:
        problem = Problem(source, "the schema is nested too deeply", "fewer levels", pointer="")
        raise SchemaError([problem]) from None
    walker.write()
    return annotated, fields


def _copied(schema: JsonObject) -> JsonObject:
    """Copy a schema; what was one Python object at two places becomes two."""

    def copied(value: JsonValue) -> JsonValue:
        match value:
            case dict():
                return _copied(value)
            case list():
                return [copied(part) for part in value]
            case _:
                return value

    return {key: copied(part) for key, part in schema.items()}
