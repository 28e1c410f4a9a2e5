"""What is wrong with a schema, all of it at once: as JSON Schema, and as annotations."""

from collections.abc import Iterator
from typing import Any

from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import validator_for

from stickler_cli.comparators.base import KeywordError
from stickler_cli.comparators.registry import UnknownComparatorError, comparator_class, construct
from stickler_cli.errors import Problem
from stickler_cli.json_values import JsonValue, brief
from stickler_cli.locations import Path, json_pointer
from stickler_cli.schema.annotations import PREFIX, annotation_problems, read_annotations
from stickler_cli.schema.references import DEFAULT_DIALECT, Schema, SchemaFiles
from stickler_cli.schema.vocabulary import walk

COMPARATOR = f"{PREFIX}comparator"
CONFIG = f"{PREFIX}comparator-config"


class Problems:
    """The problems found so far, one a place, in the order in which they were found."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Problem] = {}

    def add(
        self, schema: Schema, steps: Path, found: str, expected: str = "", hint: str = ""
    ) -> None:
        """Note a problem `steps` below a schema; the first at a place is the one that is kept."""
        source, path = self._files.place_of(schema)
        self.note(Problem(source, found, expected, hint, json_pointer((*path, *steps))))

    def add_keyword(self, schema: Schema, error: KeywordError) -> None:
        """Note what a comparator says of its config."""
        steps = (CONFIG,) if error.keyword is None else (CONFIG, error.keyword)
        self.add(schema, steps, error.found, error.expected, error.hint)

    def note(self, problem: Problem) -> None:
        """Note a problem whose place is known."""
        self._found.setdefault((problem.source, problem.pointer or ""), problem)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)


def dialect_problems(files: SchemaFiles, schema: Schema) -> Iterator[Problem]:
    """List where a schema is not valid JSON Schema in its own dialect."""
    source, _ = files.place_of(schema)
    validator = validator_for({"$schema": files.dialect})
    for error in validator(validator.META_SCHEMA).iter_errors(schema):
        deepest = best_match([error]) or error
        pointer = json_pointer(tuple(deepest.absolute_path))
        yield Problem(source, *_worded(deepest, schema), pointer=pointer)


def _worded(error: ValidationError, schema: Schema) -> tuple[str, str, str]:
    """Say what was found, what is expected, and what to do."""
    keyword: Any = error.absolute_path[-1] if error.absolute_path else "the schema"
    found = f"{keyword} is {brief(error.instance)}"
    hint = ""
    if keyword == "items" and isinstance(error.instance, list) and "$schema" not in schema:
        hint = (
            'write "prefixItems" for a tuple, or name the dialect it is written in: '
            '"$schema": "http://json-schema.org/draft-07/schema#"'
        )
    limit: Any = error.validator_value
    match error.validator:
        case "enum":
            return found, f"one of {', '.join(map(str, limit))}", hint
        case "type":
            names = [limit] if isinstance(limit, str) else limit
            return found, " or ".join(names), hint
        case "minItems" | "uniqueItems" | "pattern" | "format" | "minimum" | "exclusiveMinimum":
            return found, f"{error.validator} {brief(limit)}", hint
        case _:
            return found, f"JSON Schema ({DEFAULT_DIALECT.rpartition('draft/')[2]})", hint


def check_annotations(
    files: SchemaFiles, schema: Schema, problems: Problems, *, allow_plugins: bool
) -> None:
    """Note every annotation in a schema that is wrong by itself, used or not."""
    source, _ = files.place_of(schema)
    for path, part in walk(schema):
        for problem in annotation_problems(part, source, path):
            problems.note(problem)
        own = read_annotations(part)
        if own.comparator is not None:
            check_comparator(
                part, own.comparator, own.comparator_config, problems, allow_plugins=allow_plugins
            )


def check_comparator(
    schema: Schema,
    name: str,
    config: "dict[str, JsonValue] | None",
    problems: Problems,
    *,
    allow_plugins: bool,
) -> None:
    """Note a comparator that does not exist or does not take its config."""
    try:
        comparator_class(name, allow_plugins=allow_plugins)
        if config is not None:
            construct(name, config, allow_plugins=allow_plugins)
    except UnknownComparatorError as error:
        problems.add(schema, (COMPARATOR,), error.found, error.expected, error.hint)
    except KeywordError as error:
        problems.add_keyword(schema, error)
