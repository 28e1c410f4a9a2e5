"""From an annotated JSON Schema to a plan, or to one SchemaError with every problem in it."""

from collections.abc import Mapping
from pathlib import Path

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.compare.plan import Plan
from stickler_cli.core.json_values import JsonObject, JsonValue, brief
from stickler_cli.core.problems import Problem, SchemaError
from .dialects import SUPPORTED, TOO_OLD, named_dialect
from .located import PlaceKey
from .metaschema import without_invalid_places
from .nodes import DOCUMENT_EXPECTED, NO_DOCUMENT, Compiler
from .places import TooManyPlacesError
from .references import SchemaFiles
from .schema_problems import Problems, check
from .schema_warnings import without_doubled_values


def compile_schema(  # noqa: PLR0913 - what a schema is, and how it is read
    schema: JsonValue,
    source: str = "",
    file: Path | None = None,
    *,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
    inferred: Mapping[PlaceKey, JsonObject] | None = None,
) -> Plan:
    """Compile a parsed schema.

    Args:
        schema: the schema as JSON.
        source: its name for messages; the file as the user named it.
        file: where relative references start; without it they are refused.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: instances that the schema refers to by these names.
        inferred: the annotations that `infer` found.

    Raises:
        SchemaError: with everything that is wrong, each with its JSON Pointer.
    """
    if not isinstance(schema, dict):
        found = f"{NO_DOCUMENT}: it is {brief(schema)}"
        raise SchemaError([Problem(source, found, DOCUMENT_EXPECTED, pointer="")])
    named = named_dialect(schema)
    if named in TOO_OLD:
        found = f"the schema is written in Draft {named}"
        raise SchemaError([Problem(source, found, SUPPORTED, pointer="/$schema")])
    schema = without_doubled_values(schema)
    files = SchemaFiles(schema, source, file, inferred)
    names = Comparators(allow_plugins, comparators or {})
    problems = Problems(files)
    plan = None
    try:
        plan = _compiled(files, problems, names)
        if plan is None:
            # What is wrong beyond the places that are no valid JSON Schema, by leaving these out.
            rest = SchemaFiles(without_invalid_places(schema, files.dialect), source, file)
            more = Problems(rest)
            _compiled(rest, more, names)
            problems.note(*more)
    except RecursionError:
        problems.add(schema, (), "the schema is nested too deeply", "fewer levels")
    except TooManyPlacesError as error:
        problems.add(schema, (), str(error), "fewer combinations of anyOf, oneOf and allOf")
    if problems or plan is None:
        raise SchemaError(problems)
    return plan


def _compiled(files: SchemaFiles, problems: Problems, comparators: Comparators) -> Plan | None:
    """Note what is wrong, and return the plan; a schema that is not valid has no meaning."""
    files.accept = lambda found: check(files, found, problems, comparators=comparators)
    valid = files.accept(files.root.schema)
    return Compiler(files, problems, comparators).plan() if valid else None
