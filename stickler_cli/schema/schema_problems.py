"""Find all problems of a schema at once: breaches of its dialect, and invalid annotations.

A valid schema can also deserve a warning, for instance if it has misspelt keywords, lists a value
twice, or describes no field.
"""

import json
import re
from collections import ChainMap
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import accumulate
from operator import getitem
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from stickler_cli.comparators.base import KeywordError
from stickler_cli.comparators.comparator_registry import Comparators, UnknownComparatorError
from stickler_cli.core.figures import describe_keys
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, did_you_mean, nearest
from .annotations import (
    ON_LIST,
    ON_OBJECT,
    PREFIX,
    STANDS,
    Merged,
    annotated,
    annotation_problems,
    read_annotations,
)
from .dialects import KEYWORDS, LISTED, NAMED, TYPES, Dialect, Schema, named_dialect, walk
from .judging import is_valid_schema
from .references import SchemaFiles, is_uri, official_schema

CONFIG: Final = f"{PREFIX}comparator-config"


class Problems:
    """The problems found so far, in order. Each location in a schema has at most one."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._by_place: dict[tuple[str, str], Problem] = {}

    def add(self, schema: Schema, steps: Path, found: str, expected: str, hint: str = "") -> None:
        """Add a problem at the path `steps` inside a schema.

        If this location has a problem already, that problem is kept instead.
        """
        location = self._files.locate(schema)
        pointer = json_pointer((*location.path, *steps))
        self.note(
            Problem(
                source=location.source, found=found, expected=expected, hint=hint, pointer=pointer
            )
        )

    def add_keyword(self, schema: Schema, error: KeywordError) -> None:
        """Add the error that a comparator raised about its configuration."""
        steps = (CONFIG,) if error.keyword is None else (CONFIG, error.keyword)
        self.add(schema, steps, error.found, error.expected, error.hint)

    def note(self, *problems: Problem) -> None:
        """Add problems. If a location already has a problem, further problems of it are ignored."""
        for problem in problems:
            self._by_place.setdefault((problem.source, problem.pointer or ""), problem)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._by_place.values())

    def __len__(self) -> int:
        return len(self._by_place)


def check(
    files: SchemaFiles, schema: Schema, problems: Problems, *, comparators: Comparators
) -> bool:
    """Add the problems of a schema, but not of schemas that it refers to.

    Return whether the schema is valid JSON Schema.
    """
    before = len(problems)
    for path_of_problem, *wording in invalid_places(schema, files.locate(schema).dialect):
        problems.add(schema, path_of_problem, *wording)
    valid = len(problems) == before
    location = files.locate(schema)
    for path, subschema in walk(schema):
        keyword = files.locate(subschema).dialect.id_keyword
        identifier = subschema.get(keyword)
        if isinstance(identifier, str) and not is_uri(identifier):
            problems.add(schema, (*path, keyword), f"{keyword} is {brief(identifier)}", "a URI")
            valid = False
        problems.note(*annotation_problems(subschema, location.source, (*location.path, *path)))
        annotations = read_annotations(subschema)
        try:
            if "comparator" in annotations and "comparator_config" in annotations:
                comparators.construct(annotations["comparator"], annotations["comparator_config"])
            elif "comparator" in annotations:
                comparators.check(annotations["comparator"])
        except UnknownComparatorError as error:
            problems.add(
                subschema, (f"{PREFIX}comparator",), error.found, error.expected, error.hint
            )
        except KeywordError as error:
            problems.add_keyword(subschema, error)
    return valid


SOMEWHERE: Final = tuple(STANDS)
"""Names of annotations that are allowed only on some kinds of fields, for instance on lists."""

OBJECTS: Final = "an array of objects"
POSITIONS: Final = "a list whose elements are paired by position"
_HINTS: Final = {
    OBJECTS: (
        "objects are compared field by field, so put the annotation on the properties of the "
        "objects"
    ),
    "an array": 'put the annotation inside "items"',
    "an object": (
        "an object is compared field by field, so put the annotation on the properties of "
        "the object"
    ),
}


class AnnotationUsage:
    """Records where annotations have an effect, and reports those that have none.

    One schema may describe several fields of different kinds. An annotation is reported only if it
    has no effect on any of these fields.
    """

    def __init__(self, files: SchemaFiles, problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self._used: set[tuple[str, Path, str]] = set()
        self._unused: dict[tuple[str, Path, str], tuple[Schema, str, str, str]] = {}

    def note(self, merged: Merged, kind: str, *used: str) -> None:
        """Record which annotations have an effect on a field, and which have none.

        `used` has the names of the annotations that have an effect on the field. `kind` describes
        the field, such as `a string`.
        """
        for name in SOMEWHERE:
            holders = (schema for schema, annotations in merged.by_schema if name in annotations)
            if (holder := next(holders, None)) is None:
                continue
            location = self._files.locate(holder)
            key = location.source, location.path, annotated(name)
            if name in used:
                self._used.add(key)
                continue
            kind_here = "an array" if kind == OBJECTS and name in ON_OBJECT else kind
            hint = "" if name in (*ON_LIST, "key") else _HINTS.get(kind_here, "")
            finding = f"{name.replace('_', '-')} is on {kind_here}"
            expected = f"the annotation on {STANDS[name]}"
            if kind_here == POSITIONS and name in (*ON_LIST, "key"):
                finding = (
                    "the annotation has no effect, because the elements of this list are paired by "
                    "position"
                )
                expected = ""
                condition = "if the elements are objects, " if name == "key" else ""
                hint = (
                    f'leave it out, or {condition}set {annotated("pairing")} to "best" or '
                    '"ordered" ("ordered" keeps the order, but may leave elements unpaired)'
                )
            self._unused[key] = (holder, finding, expected, hint)

    def report(self) -> None:
        """Add a problem for each annotation that has no effect anywhere."""
        for key, (schema, *wording) in self._unused.items():
            if key not in self._used:
                self._problems.add(schema, (key[2],), *wording)


if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_MEANT: Final = {
    "any": 'leave out "type" to allow values of any type',
    "date": 'write "type": "string", "format": "date"',
    "date-time": 'write "type": "string", "format": "date-time"',
    "datetime": 'write "type": "string", "format": "date-time"',
    "enum": 'leave out "type", because "enum" already lists the values',
    **dict.fromkeys(("char", "text"), "did you mean string?"),
    **dict.fromkeys(("decimal", "double", "float"), "did you mean number?"),
    **dict.fromkeys(("dict", "map"), "did you mean object?"),
    **dict.fromkeys(("list", "tuple"), "did you mean array?"),
    "bool": "did you mean boolean?",
    "int": "did you mean integer?",
    "none": "did you mean null?",
}
"""Type names of other languages, which are wrong in JSON Schema. Each is mapped to a hint, such as
"did you mean null?"."""

_A: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

_ALTERNATIVES: Final = {
    "items": "a schema, or a list of schemas",
    "type": f"one of {', '.join(TYPES)}, or a list of these types",
}
"""Keywords whose values may have several forms. Each keyword is mapped to a description of these
forms."""

_PATTERNS: Final = {
    "$anchor": "a name of letters, digits, -, _ and . that begins with a letter or _",
    "$dynamicAnchor": "a name of letters, digits, -, _ and . that begins with a letter or _",
    "$id": "a URI without a fragment (#...)",
}


def invalid_places(schema: Schema, dialect: Dialect) -> Iterator[tuple[Path, str, str, str]]:
    """Find the parts of a schema that break the rules of its dialect.

    Yield (path, what was found, what was expected, hint) for each of them, once, in the order of
    the schema.
    """
    if is_valid_schema(schema, dialect):
        return
    import jsonschema  # takes 0.1 s: import it only for errors

    by_path: dict[Path, ValidationError] = {}
    cls = jsonschema.validators.validator_for({"$schema": dialect.uri})
    for error in cls(_in_one_piece(dialect.uri, cls.META_SCHEMA)).iter_errors(schema):
        # Report the innermost cause of an error that has several.
        deepest = jsonschema.exceptions.best_match([error]) or error
        by_path.setdefault(tuple(deepest.absolute_path), deepest)
    unnamed = named_dialect(schema) is None
    for path in sorted(by_path, key=lambda path: _position(schema, path)):
        error = by_path[path]
        hint = _hint(path, error, unnamed=unnamed)
        yield path, _word_finding(path, error.instance), _expected(path, error), hint


def without_invalid_places(schema: Schema, dialect: Dialect) -> Schema:
    """Copy a schema, and delete those keywords that break the rules of its dialect."""
    remaining = deepcopy(schema)
    for path, *_ in invalid_places(schema, dialect):
        with suppress(KeyError):  # already deleted
            values = _along(path, remaining)
            objects = [depth for depth in range(len(path)) if isinstance(values[depth], dict)]
            for innermost in objects[-1:]:
                del values[innermost][path[innermost]]
    return remaining


def _along(path: Path, value: Any) -> list[Any]:
    return list(accumulate(path, getitem, initial=value))


def _position(schema: Schema, path: Path) -> list[int]:
    """Return a sort key that orders paths as they occur in a schema.

    The key has one number for each step of `path`: the position of this step among the keys or
    items of its object or list.
    """
    return [
        step if isinstance(step, int) else list(value).index(step)
        for value, step in zip(_along(path, schema), path, strict=False)
    ]


def _in_one_piece(uri: str, meta: Any) -> Any:
    """Join the vocabularies of a meta-schema into one schema.

    Validation against one schema is several times as fast, and reports each problem once instead of
    once for each vocabulary.
    """
    vocabularies = [
        official_schema(urljoin(uri, vocabulary["$ref"])) for vocabulary in meta.get("allOf", ())
    ]
    if not vocabularies:
        return meta
    joined = {"type": meta["type"]}
    for keyword in ("properties", "$defs"):
        joined[keyword] = dict(
            ChainMap(*(vocabulary.get(keyword, {}) for vocabulary in (meta, *vocabularies[::-1])))
        )
    text = re.sub(r'"\$(dynamicRef|recursiveRef)": "#(meta)?"', '"$ref": "#"', json.dumps(joined))
    return json.loads(re.sub(r'"\$ref": "[^"#]*#', '"$ref": "#', text))


def _word_finding(path: Path, value: object) -> str:
    match path:
        case ():
            return f"the schema is {brief(value)}"
        case (*_, "properties", str(name)):
            return f"property {name} is {brief(value)}"
        case (*_, str(keyword), int()):
            return f"an element of {keyword} is {brief(value)}"
        case _:
            return f"{path[-1]} is {brief(value)}"


def _expected(path: Path, error: "ValidationError") -> str:
    word = _RULES.get(str(error.validator))
    if word is not None:
        return word(error.validator_value)
    if error.validator == "pattern":
        return _PATTERNS.get(str(path[-1]), f"a string that matches {error.validator_value}")
    if len(path) > 1 and path[-2] == "dependencies":
        return "a schema, or a list of property names"
    return _ALTERNATIVES.get(
        str(path[-1]) if path else "", ("a value that JSON Schema allows for this keyword")
    )


_RULES: Final[dict[str, Callable[[Any], str]]] = {
    "dependencies": lambda limit: ", ".join(
        f'"{needed}" beside "{keyword}"' for keyword, (needed,) in limit.items()
    ),
    "enum": lambda limit: f"one of {', '.join(map(str, limit))}",
    "exclusiveMinimum": lambda limit: f"a number above {limit}",
    "minItems": lambda limit: "at least one element",
    "minimum": lambda limit: f"a number of at least {limit}",
    "type": lambda limit: (
        "a schema (an object, true or false)"
        if "object" in limit and "boolean" in limit
        else " or ".join(_A[name] for name in ([limit] if isinstance(limit, str) else limit))
    ),
    "uniqueItems": lambda limit: "each element only once",
}
"""Maps a keyword of meta-schemas to a function that returns a description of the expected value.
The function takes the value that the keyword has in the meta-schema. For instance, the function
for `minimum` takes 0 and returns "a number of at least 0"."""


def _hint(path: Path, error: "ValidationError", *, unnamed: bool) -> str:
    """Guess what the user meant, and return it as a hint; empty if there is no guess.

    `unnamed` means that the schema does not name its dialect.
    """
    value: Any = error.instance
    rule: Any = error.validator_value
    hint = ""
    match path, value:
        case (((*_, "type") | (*_, "type", int())), str()):
            hint = _MEANT.get(value.lower()) or did_you_mean(value, TYPES)
        case (*_, "required"), bool():
            hint = 'in the parent object, write "required" as a list of property names'
        case (*_, "items"), list() if unnamed:
            hint = (
                'for a tuple, write "prefixItems"; or name the dialect of the schema: '
                '"$schema": "http://json-schema.org/draft-07/schema#"'
            )
        case (*_, "items"), list():
            hint = 'write "prefixItems" for a tuple'
        case (*_, ("exclusiveMinimum" | "exclusiveMaximum")), bool():
            hint = (
                'this is the syntax of Draft 4; to use Draft 4, add "$schema": '
                '"http://json-schema.org/draft-04/schema#"'
            )
        case _, "true" | "false" if "boolean" in rule:
            hint = f"write {value} without quotes"
        case _, str() if value in TYPES and "object" in rule:
            hint = f'write {{"type": "{value}"}}'
        case _, str() if error.validator == "type" and value.replace(".", "", 1).isdigit():
            hint = f"write {value} without quotes"
    return hint


_OTHERS: Final = frozenset(
    {
        *("discriminator", "example", "externalDocs", "name", "nullable", "order", "propertyOrder"),
        *("propertyOrdering", "strict", "xml"),
    }
)
"""Keys that OpenAPI and model APIs use in schemas. Some of these keys resemble keywords of JSON
Schema, but are not misspelt keywords."""

_LEVELS: Final = 6
"""Number of levels, counted from the outside, that are searched for a schema inside a value."""


def warnings_of(schema: Schema, source: str) -> Iterator[Problem]:
    """Yield a warning for each key or enum value of a valid schema that has no effect."""
    for path, subschema in walk(schema):
        for key in subschema:
            meant = _meant(key)
            if meant is not None:
                finding = f"{key} is not a keyword of JSON Schema, so it has no effect"
                hint = f"did you mean {meant}?"
                yield Problem(
                    source=source,
                    found=finding,
                    expected="",
                    hint=hint,
                    pointer=json_pointer((*path, key)),
                )
        for index, value in _doubled(subschema):
            finding = f"enum lists {brief(value)} twice"
            yield Problem(
                source=source,
                found=finding,
                expected="",
                hint="",
                pointer=json_pointer((*path, "enum", index)),
            )


def _meant(key: str) -> str | None:
    """If a key seems to be a misspelt keyword, return the right keyword; otherwise, return None."""
    if key in KEYWORDS or key in _OTHERS or key.startswith("x-"):
        return None
    meant = nearest(key, KEYWORDS - {"id"})
    # A slip hardly changes the length; do not suggest every similar word.
    alike = meant is not None and abs(len(meant) - len(key)) <= 2
    return meant if alike else None


def _doubled(schema: Schema) -> Iterator[tuple[int, JsonValue]]:
    """Yield (index, value) for each enum value that occurs earlier in the same enum."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return
    seen = set()
    for index, value in enumerate(values):
        if repr(value) in seen:
            yield index, value
        seen.add(repr(value))


def without_doubled_values(schema: Schema) -> Schema:
    """Copy a schema, and remove repeated values from its enums.

    Older dialects do not allow repeated values.
    """
    if not any([*_doubled(subschema)] for _, subschema in walk(schema)):
        return schema
    copy = deepcopy(schema)
    for _, subschema in walk(copy):
        for index, _ in reversed([*_doubled(subschema)]):
            del subschema["enum"][index]  # type: ignore[union-attr, arg-type]
    return copy


def nothing_described(schema: Schema, source: str) -> Problem:
    """Return the problem that a schema describes no field, with a guess at the mistake as hint.

    The hint is empty if the mistake cannot be guessed.
    """
    expected = 'an object schema whose "properties" name the fields'
    if not schema:
        return Problem(
            source=source,
            found="the schema is empty, so it describes no fields",
            expected=expected,
            hint="",
            pointer="",
        )
    return Problem(
        source=source,
        found=f"the schema describes no fields ({describe_keys(schema)})",
        expected=expected,
        hint=_what_was_meant(schema, source),
        pointer="",
    )


def _what_was_meant(schema: Schema, source: str) -> str:
    """Return advice for a schema that describes no field; empty if there is no advice."""
    own_format = str(schema.get("format", ""))
    if own_format.startswith("stickler-"):
        return f"this file contains output of stickler ({own_format}), not a schema"
    for key in schema:
        if _meant(key) in NAMED | LISTED:
            return f"did you mean {_meant(key)} instead of {key}?"
    inner_paths = list(_schemas_inside(schema, ()))
    if inner_paths:
        pointer = json_pointer(inner_paths[0])
        and_more = f" (and {len(inner_paths) - 1} more)" if len(inner_paths) > 1 else ""
        reference = f"{source.rpartition('/')[2]}#{pointer}"
        return (
            f"this file contains a schema at {pointer}{and_more}. Save that schema in its own "
            f'file, or write another file in the same directory with {{"$ref": "{reference}"}}'
        )
    hint = "is this file a document? The order of arguments is SCHEMA GT PRED"
    return hint if is_document(schema) else ""


def is_document(schema: Schema) -> bool:
    """Return whether an invalid schema seems to be a document: most of its keys are no keywords."""
    unknown_keys = [
        key for key in schema if key not in KEYWORDS and not key.startswith(("$", "x-"))
    ]
    return len(unknown_keys) * 2 > len(schema) and not is_meant_as_schema(schema)


MAX_KEYS_OF_SCHEMA: Final = 40  # beside each other; documents may have very many


def is_meant_as_schema(schema: Schema) -> bool:
    """Return whether an object without valid schema keywords was probably meant as a schema.

    Ordinary field names, such as `phone` and `item`, resemble keywords. A key therefore counts as a
    misspelt keyword only in two cases: its value contains a schema, or its value is empty and the
    object also has a `type`.
    """
    has_type = _names_type(schema)
    keys = schema if len(schema) <= MAX_KEYS_OF_SCHEMA else ()
    return contains_schema(schema) or any(
        _holds_schema(schema[key], if_empty=has_type) and _meant(key) in NAMED | LISTED
        for key in keys
    )


def _names_type(value: JsonValue) -> bool:
    types = value.get("type") if isinstance(value, dict) else None
    return isinstance(types, str | list) and bool(types) and _name_types(types)


def _holds_schema(value: JsonValue, *, if_empty: bool) -> bool:
    """Return whether a value is the schema of a field, or has one as a direct child.

    For an empty object or list, return `if_empty`.
    """
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return any(
        isinstance(child, dict)
        and not _KINDS.isdisjoint(child)
        and ("type" not in child or _names_type(child))
        for child in [value, *children]
    ) or (if_empty and not value)


def contains_schema(value: JsonValue) -> bool:
    """Return whether a value contains the schema of an object, at most `_LEVELS` levels deep."""
    return any(True for _ in _schemas_inside(value, ()))


def names_fields(value: JsonValue) -> bool:
    """Return whether a value is the schema of an object.

    The value must have a key `properties` that contains at least one schema. The key alone does not
    suffice, since a field of a document may also be called `properties`.
    """
    named = value.get("properties") if isinstance(value, dict) else None
    schemas = named.values() if isinstance(named, dict) else ()
    return any(isinstance(schema, dict) and not _KINDS.isdisjoint(schema) for schema in schemas)


def is_certain_schema(contents: JsonValue) -> bool | None:
    """Return True if JSON is surely a schema, False if surely a document, and None if unclear.

    In unclear cases, callers can follow the references in the JSON to decide. JSON is surely a
    schema if it has `$schema`, or if it has `type` and `properties` with the values that they have
    in schemas. Any other keyword could also be the name of a document's field.
    """
    if not isinstance(contents, dict):
        return False
    dialect = contents.get("$schema")
    if isinstance(dialect, str) and "json-schema.org" in dialect:
        return True
    is_typed = _names_type(contents)
    if "type" in contents and not is_typed:
        return False
    only_keywords = all(key in KEYWORDS or key.startswith(("$", "x-")) for key in contents)
    if "properties" in contents:
        return (is_typed or only_keywords) and _declares_fields(contents["properties"])
    points_elsewhere = not _REFERRING.isdisjoint(contents)
    return None if only_keywords and (is_typed or points_elsewhere) else False


def _name_types(types: str | list[JsonValue]) -> bool:
    names = [types] if isinstance(types, str) else types
    return all(name in TYPES for name in names)


def _declares_fields(properties: JsonValue) -> bool:
    schemas = properties.values() if isinstance(properties, dict) else ()
    return names_fields({"properties": properties}) and all(
        isinstance(schema, dict | bool) for schema in schemas
    )


def resembles_schema(contents: JsonValue) -> bool:
    """Return whether a document looks like a schema, or contains a part that does."""
    if not isinstance(contents, dict):
        return False
    return (
        any(names_fields({"properties": value}) for value in contents.values())
        or is_meant_as_schema(contents)
        or is_certain_schema(contents) is None
        or not _REFERRING.isdisjoint(contents)
        or contents.get("type") in ("object", "array")
    )


_REFERRING: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_KINDS: Final = frozenset({"$ref", "allOf", "anyOf", "enum", "oneOf", "properties", "type"})


def _schemas_inside(value: JsonValue, path: Path) -> Iterator[Path]:
    """Find the schemas of objects inside a value, and yield the path of each schema.

    The search goes through objects, but not through lists, down to `_LEVELS` levels. It does not
    search inside the schemas that it finds.
    """
    if path and names_fields(value):
        yield path
    elif isinstance(value, dict) and len(path) < _LEVELS:
        for key, child in value.items():
            yield from _schemas_inside(child, (*path, key))
