"""Whether a document is what its schema says, keyword by keyword: the verdict of `--validate`.

A module of its own because it is the home of jsonschema-rs. The jsonschema package, which checks
schemas, takes some two hundred times as long for a document, can hang on a pattern, and calls
19.99 no multiple of 0.01.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError, UnavailableError, Violation
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.references import SchemaFiles

VALIDATE_OPTION: Final = "--validate"
"""How a message names the option that asks for verdicts."""

BACKTRACK_LIMIT: Final = 10_000
"""Steps back that a pattern may take; it then counts as not matched. Some milliseconds."""

MESSAGE_LENGTH: Final = 160
"""Characters of a message that are kept: it may hold the value, which may be a whole document."""

DEEPEST: Final = 20
"""Steps of a field path that are told apart; more only come of a schema that contains itself."""

_CLASSES: Final = {
    "Draft 4": "Draft4Validator",
    "Draft 6": "Draft6Validator",
    "Draft 7": "Draft7Validator",
    "2019-09": "Draft201909Validator",
    "2020-12": "Draft202012Validator",
}
"""The validator of each dialect."""

_NAMED, _ANY, _ITEM, _HERE = "named", "*", "[]", ""

_STEPS: Final = {
    "properties": (2, _NAMED),
    "patternProperties": (2, _ANY),
    "additionalProperties": (1, _ANY),
    "unevaluatedProperties": (1, _ANY),
    "items": (1, _ITEM),
    "prefixItems": (2, _ITEM),
    "additionalItems": (1, _ITEM),
    "unevaluatedItems": (1, _ITEM),
    "contains": (1, _ITEM),
    "allOf": (2, _HERE),
    "anyOf": (2, _HERE),
    "oneOf": (2, _HERE),
    "dependentSchemas": (2, _HERE),
    "dependencies": (2, _HERE),
}
"""Of each keyword with schemas: how many steps of a path through a schema it takes, and where in
the document its schemas are about. All others, such as `$ref` and `then`, take one and stay."""


class DocumentValidator:
    """Tells what of a document its schema forbids. It can be sent to other processes."""

    def __init__(
        self,
        schema: Schema,
        source: str = "",
        file: str | None = None,
        others: dict[str, JsonValue] | None = None,
    ) -> None:
        """Take a schema that compiles.

        Args:
            schema: as it was parsed.
            source: its name for messages.
            file: where relative references start; without it they are refused.
            others: the documents that it refers to, by URI, where they have been read before.

        Raises:
            UnavailableError: jsonschema-rs is not installed.
            SchemaError: it does not take the schema.
        """
        self._schema, self._source, self._file = schema, source, file
        self._others = others or {}
        self._validator = self._built()

    def __reduce__(self) -> tuple[Any, ...]:
        return DocumentValidator, (self._schema, self._source, self._file, self._others)

    def violations(self, document: JsonObject) -> Iterator[Violation]:
        """Find everything in a document that the schema forbids; nothing if it is valid."""
        for error in self._validator.iter_errors(document):
            missing = (error.kind.property,) if error.kind.name == "required" else ()
            yield Violation(
                _keyword(error.kind.name, error.evaluation_path),
                _pattern(error.evaluation_path, missing),
                json_pointer(tuple(error.instance_path)),
                _cut(error.message),
            )

    def _built(self) -> Any:
        try:
            # An extra, and for those who ask for verdicts only.
            import jsonschema_rs
        except ModuleNotFoundError:
            found = "verdicts need jsonschema-rs, which is not installed"
            hint = "pip install 'stickler-cli[validate]'"
            raise UnavailableError([Problem(VALIDATE_OPTION, found, "", hint)]) from None
        files = SchemaFiles(self._schema, self._source, Path(self._file) if self._file else None)

        def retrieve(uri: str) -> JsonValue:
            if uri not in self._others:
                self._others[uri] = files.contents_of(uri)
            return self._others[uri]

        # The dialect is known; a `$schema` of the user's own would be looked for.
        schema = {key: value for key, value in self._schema.items() if key != "$schema"}
        validator = getattr(jsonschema_rs, _CLASSES[files.dialect.name])
        options = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
        base = {"base_uri": files.uri} if self._file else {}
        try:
            return validator(
                schema, retriever=retrieve, validate_formats=True, pattern_options=options, **base
            )
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            pointer = json_pointer(tuple(getattr(error, "instance_path", ())))
            found = f"the schema cannot be used for verdicts ({reason})"
            hint = f"leave {VALIDATE_OPTION} out"
            raise SchemaError([Problem(self._source, found, "", hint, pointer)]) from None


def _keyword(name: str, evaluation_path: Sequence[str | int]) -> str:
    """Give the keyword: `additionalProperties` where the schema `false` stands below it."""
    last = str(evaluation_path[-1]) if evaluation_path else name
    return last if name == "falseSchema" and last in _STEPS else name


def _pattern(evaluation_path: Sequence[str | int], missing: tuple[str, ...]) -> str:
    """Give the path of the field that a schema speaks of, with `[]` for items and `*` for keys.

    Args:
        evaluation_path: the way through the schema, the keyword included.
        missing: the key that is not there, where that is what is wrong.
    """
    names: list[str] = []
    position = 0
    while position < len(evaluation_path) - 1:
        width, where = _STEPS.get(str(evaluation_path[position]), (1, _HERE))
        names += [field_path((str(evaluation_path[position + 1]),))] if where == _NAMED else [where]
        position += width
    names = [name for name in (*names, *(field_path((name,)) for name in missing)) if name]
    if len(names) > DEEPEST:
        names = [*names[:DEEPEST], "..."]
    dotted = (name if name.startswith("[") else f".{name}" for name in names)
    return "".join(dotted).removeprefix(".")


def _cut(message: str) -> str:
    return message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 3] + "..."
