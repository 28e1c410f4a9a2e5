"""The verdict of `--validate`: violations of a schema by a document, keyword by keyword."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from stickler_cli.core.json_values import JsonDocument
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError, Violation
from stickler_cli.schema.dialects import CLOSED_BY, ITEMS, NAMED, Schema
from stickler_cli.schema.references import SchemaFiles
from .judged_documents import Part, Reach
from .judging import MOST_LEVELS, EngineError, brief_message, too_deep

DEEPEST: Final = 20
"""Steps of a field path that are told apart; more only come of a schema that contains itself."""

_ABOUT: Final = {
    "properties": "",
    **dict.fromkeys(("patternProperties", *CLOSED_BY), "*"),
    **dict.fromkeys(("prefixItems", *ITEMS), "[]"),
}
"""Keywords whose schemas are about what is in a value, and how a path names that; `properties`
name it themselves."""


class DocumentValidator:
    """Finds the violations of a schema by documents. It can be sent to other processes."""

    def __init__(self, schema: Schema, source: str = "", file: str | None = None) -> None:
        """Take a schema as `compile_schema` does; raise SchemaError if it cannot be judged by."""
        files = SchemaFiles(schema, source, Path(file) if file else None)
        reach = Reach(files)
        for part, keyword, error in reach.problems(files.root):
            place = files.at(part.schema)
            pointer = json_pointer((*place.path, *([keyword] if keyword else [])))
            raise _refusal(place.source, error.found, pointer)
        self._part = Part(files.uri_of(schema), files.dialect, reach.documents)
        try:
            self._part.validator  # noqa: B018 - built here, to be refused here
        except EngineError as error:
            raise _refusal(source, str(error), error.pointer) from None

    @property
    def is_bounded(self) -> bool:
        """Whether a verdict takes time in proportion to the document."""
        return self._part.documents.are_bounded

    def violations(self, document: JsonDocument) -> Iterator[Violation]:
        """Find everything in a document that the schema forbids; nothing if it is valid."""
        if too_deep(document):
            yield Violation("", "", "", f"the document has more than {MOST_LEVELS} levels")
            return
        try:
            found = list(self._part.errors(document))
        except ValueError as reason:  # a value that it names has too many levels, or a surrogate
            if not self._part.is_valid(document):
                yield Violation("", "", "", brief_message(str(reason)))
            return
        for error, steps, place in found:
            keyword = error.kind.name
            missing = [getattr(error.kind, "property", "")] if keyword == "required" else []
            if keyword == "falseSchema" and steps and steps[-1] in _ABOUT:
                keyword = str(steps[-1])  # such as `additionalProperties`, under which it stands
            pattern, pointer = _pattern(steps, missing), json_pointer(place)
            yield Violation(keyword, pattern, pointer, brief_message(error.message))


def _refusal(source: str, reason: str, pointer: str) -> SchemaError:
    found = f"the schema cannot be used for verdicts ({reason})"
    return SchemaError([Problem(source, found, "", "leave --validate out", pointer)])


def _pattern(evaluation_path: Sequence[str | int], missing: Sequence[str]) -> str:
    """Return the path of the field that a schema speaks of: `[]` for items, `*` for keys."""
    names: list[str] = []
    position = 0
    while position < len(evaluation_path) - 1:
        keyword = str(evaluation_path[position])
        if keyword == "properties":
            names.append(field_path((str(evaluation_path[position + 1]),)))
        else:
            names.append(_ABOUT.get(keyword, ""))
        position += 2 if keyword in NAMED else 1
    names = [name for name in (*names, *(field_path((name,)) for name in missing)) if name]
    if len(names) > DEEPEST:
        names = [*names[:DEEPEST], "..."]
    dotted = (name if name.startswith("[") else f".{name}" for name in names)
    return "".join(dotted).removeprefix(".")
