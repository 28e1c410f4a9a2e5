"""Verdicts on values: of the arms of a union, which a plan asks for, and of `--validate`."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time
from functools import partial
from pathlib import Path
from typing import Final

from stickler_cli.compare.one_of import Acceptor
from stickler_cli.core.json_values import Gold, JsonDocument, JsonValue, kind_of
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError, Violation
from .annotations import own_keys
from .dialects import CLOSED_BY, ITEMS, LISTED, NAMED, ONE, TYPES, Schema, Source, subschemas, walk
from .judging import (
    APART,
    MOST_LEVELS,
    EngineError,
    Formats,
    JudgedDocuments,
    JudgedPart,
    brief_message,
    too_deep,
)
from .references import LeadsNowhereError, SchemaFiles

TYPE_ONLY: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "title", "type"}
)
"""Keywords that leave the question of acceptance to the type alone."""

ANY_TYPE: Final = frozenset(TYPES)


@dataclass(frozen=True, slots=True)
class TypeAcceptor(Acceptor):
    """Accepts values of some JSON types, as the engine does; no validator is built for these."""

    types: frozenset[str]

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is of one of the types; 1.0 is an integer."""
        kind = kind_of(value)
        if kind == "integer" or (isinstance(value, float) and value.is_integer()):
            return bool(self.types & {"integer", "number"})
        return kind in self.types


@dataclass(frozen=True, slots=True)
class NumberAcceptor(Acceptor):
    """Accepts as another acceptor does, except texts of numbers, as Decimals are written."""

    inner: Acceptor
    numbers: bool
    """Whether it accepts a text that is nothing but a number."""

    @property
    def is_bounded(self) -> bool:
        """Whether it takes time in proportion to the value."""
        return self.inner.is_bounded

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is accepted."""
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            return self.numbers
        return self.inner(value)


_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _reads(parse: Callable[[str], object], shape: str, text: str) -> bool:
    with suppress(ValueError):
        return bool(re.fullmatch(shape, text, re.ASCII)) and parse(text.upper()) is not None
    return False


GENEROUS: Final[Formats] = {
    "date-time": partial(_reads, datetime.fromisoformat, r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*"),
    "time": partial(_reads, time.fromisoformat, r"\d\d:\d\d.*"),
}
"""Formats that are read more generously here than RFC 3339 has them: documents leave the time zone
out, or write a blank for the T, and are still better compared as dates than as texts."""


class SchemaAcceptor(JudgedPart, Acceptor):
    """Accepts values that are valid under a schema; one too deep to tell is not."""

    formats = GENEROUS

    @property
    def is_bounded(self) -> bool:
        """Whether it takes time in proportion to the value."""
        return self.documents.are_bounded

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is valid."""
        return self.is_valid(value)


def acceptor_of(files: SchemaFiles, arm: Source, documents: JudgedDocuments) -> Acceptor:
    """Return the test for one arm: by type where its schema has no other rule."""
    schema = arm.schema
    if schema is files.booleans[True]:
        return TypeAcceptor(ANY_TYPE)
    named = schema.get("type")
    if named is not None and all(key in TYPE_ONLY or key in own_keys(schema) for key in schema):
        names = named if isinstance(named, list) else [named]
        return TypeAcceptor(frozenset(str(name) for name in names))
    return SchemaAcceptor(files.uri_of(schema), files.locate(schema).dialect, documents)


DEEPEST: Final = 20
"""Steps of a field path that are told apart; only recursive schemas have more."""

_ABOUT: Final = {
    "properties": "",
    **dict.fromkeys(("patternProperties", *CLOSED_BY), "*"),
    **dict.fromkeys(("prefixItems", *ITEMS), "[]"),
}
"""Keywords whose schemas are about parts of a value, and how a path names those; `properties`
name it themselves."""


class DocumentValidator:
    """Finds the violations of a schema by documents. It can be sent to other processes."""

    def __init__(self, schema: Schema, source: str = "", file: str | None = None) -> None:
        """Take a schema as `compile_schema` does; raise SchemaError if it cannot be judged by."""
        files = SchemaFiles(schema, source, Path(file) if file else None)
        reach = Reach(files)
        for origin, keyword, error in reach.problems(files.root):
            place = files.locate(origin.schema)
            pointer = json_pointer((*place.path, *([keyword] if keyword else [])))
            raise _refusal(place.source, error.found, pointer)
        self._part = JudgedPart(files.uri_of(schema), files.dialect, reach.documents)
        try:
            self._part.validator  # noqa: B018 - built here, to be refused here
        except EngineError as error:
            raise _refusal(source, str(error), error.pointer) from None

    @property
    def is_bounded(self) -> bool:
        """Whether a verdict takes time in proportion to the document."""
        return self._part.documents.are_bounded

    def violations(self, document: JsonDocument, gold: Gold | None = None) -> Iterator[Violation]:
        """Find everything in a document that the schema forbids; nothing if it is valid.

        Of places that a ground truth does not label it says nothing.
        """
        if too_deep(document):
            yield Violation(
                keyword="",
                field="",
                pointer="",
                message=f"the document has more than {MOST_LEVELS} levels",
            )
            return
        try:
            errors = list(self._part.errors(document))
        except ValueError as reason:  # a value that it names has too many levels, or a surrogate
            if not self._part.is_valid(document):
                yield Violation(
                    keyword="", field="", pointer="", message=brief_message(str(reason))
                )
            return
        for error, steps, place in errors:
            if gold is not None and not gold.is_labelled(place):
                continue
            keyword = error.kind.name
            missing = [getattr(error.kind, "property", "")] if keyword == "required" else []
            if keyword == "falseSchema" and steps and steps[-1] in _ABOUT:
                keyword = str(steps[-1])  # such as `additionalProperties`, under which it stands
            pattern, pointer = _pattern(steps, missing), json_pointer(place)
            yield Violation(
                keyword=keyword,
                field=pattern,
                pointer=pointer,
                message=brief_message(error.message),
            )


def _refusal(source: str, reason: str, pointer: str) -> SchemaError:
    finding = f"the schema cannot be used for verdicts ({reason})"
    return SchemaError(
        [
            Problem(
                source=source,
                found=finding,
                expected="",
                hint="leave --validate out",
                pointer=pointer,
            )
        ]
    )


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


MOST_CHECKS: Final = 10_000
"""How often one value may be held against schemas that speak of it together. The engine asks a
definition anew each time that it is referred to. Source: docs/schema.md. Where definitions refer to
more than so many schemas, at any depth, they are judged apart from what refers to them."""

_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Keywords whose schemas are about the value itself, not about its parts."""

_INSIDE: Final = frozenset({*ONE, *LISTED, *NAMED}) - {"$defs", "definitions"}
"""Those, and keywords whose schemas are about its parts."""

_LEFT_OVER: Final = frozenset({CLOSED_BY[1], "unevaluatedItems"})
"""Keywords that depend on other schemas of the value."""

_LOOKING_BACK: Final = _LEFT_OVER | {"$dynamicRef", "$recursiveRef"}
"""Those, and references whose target depends on the schemas around them."""

_BRANCHING: Final = _IN_PLACE | _LEFT_OVER | {"contains", "patternProperties"}
"""Keywords by which a value may be held against several schemas; without them, a recursive schema
is judged in time."""


class Reach:
    """Follows every reference, so that all documents are there when the engine is built."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._followed: set[int] = set()
        self._checks: dict[int, int] = {}
        self._in_depth: dict[int, int] = {}
        self._branches = False
        self._renamed: dict[int, str] = {}
        self._separate: dict[int, str] = {}
        self.documents = JudgedDocuments(files.documents, self._renamed, self._separate)
        """All documents, once references have been followed."""

    def problems(self, source: Source) -> Iterator[tuple[Source, str, LeadsNowhereError]]:
        """Find where a schema cannot be judged by: the place, the keyword there, and why."""
        waiting, referring = [source], []
        while waiting:
            outer = waiting.pop()
            if id(outer.schema) in self._followed:
                continue
            for _, schema in walk(outer.schema):
                self._followed.add(id(schema))
                inner_source = self._files.enter(outer, schema)
                self._branches |= not schema.keys().isdisjoint(_BRANCHING)
                self.documents.looks_back |= not schema.keys().isdisjoint(_LOOKING_BACK)
                for keyword in self._files.references_of(schema):
                    try:
                        target = self._files.follow(inner_source, keyword)
                        own_uri = self._files.own_uri(inner_source, keyword)
                    except LeadsNowhereError as error:
                        yield inner_source, keyword, error
                    else:
                        waiting.append(target)
                        referring.append((schema, target))
                        self._renamed |= {} if own_uri is None else {id(schema): own_uri}
                yield from self._problems_of(inner_source)
        for schema, target in referring:
            if self._all_checks(target) > MOST_CHECKS:
                self._separate[id(schema)] = self._files.uri_of(target.schema)

    def _problems_of(self, source: Source) -> Iterator[tuple[Source, str, LeadsNowhereError]]:
        """Find the problems of a schema itself, without those of its references."""
        if APART in source.schema:
            yield source, APART, LeadsNowhereError(f"{APART} is not for schemas", "a $ref")
        inner = self._list_inner_schemas(source, _IN_PLACE)
        if self._own_checks(source) > MOST_CHECKS >= max(map(self._own_checks, inner)):
            finding = f"a value would be held against more than {MOST_CHECKS} schemas here"
            yield source, "", LeadsNowhereError(finding, "fewer alternatives in alternatives")

    def _own_checks(self, source: Source) -> int:
        """Return how many schemas a value is held against; one that leads back counts once."""
        return _counted(
            source, partial(self._list_inner_schemas, keywords=_IN_PLACE), self._checks, 1
        )

    def _all_checks(self, source: Source) -> int:
        """Return how many schemas a value and all inside it are held against, way by way."""
        leads_back = MOST_CHECKS + 1 if self._branches else 1
        list_inner = partial(self._list_inner_schemas, keywords=_INSIDE)
        return _counted(source, list_inner, self._in_depth, leads_back)

    def _list_inner_schemas(self, source: Source, keywords: frozenset[str]) -> list[Source]:
        """Return the schemas that some keywords of a schema hold, and those that it refers to."""
        inner = [
            self._files.enter(source, schema)
            for steps, schema in subschemas(source.schema)
            if steps[0] in keywords
        ]
        for keyword in self._files.references_of(source.schema):
            with suppress(LeadsNowhereError):  # it has been told of
                inner.append(self._files.follow(source, keyword))
        return inner


def _counted(
    source: Source,
    inner: Callable[[Source], list[Source]],
    n_checks_by_id: dict[int, int],
    leads_back: int,
) -> int:
    """Count a schema and all inside, each as often as it is reached, up to `MOST_CHECKS` and one.

    One that leads back to a schema around it counts as `leads_back` says.
    """
    waiting = [(source, False)]
    while waiting:
        current, entered = waiting.pop()
        key = id(current.schema)
        if entered:
            n_checks = sum(
                n_checks_by_id[id(inner_source.schema)] for inner_source in inner(current)
            )
            n_checks_by_id[key] = min(1 + n_checks, MOST_CHECKS + 1)
        elif key not in n_checks_by_id:
            n_checks_by_id[key] = leads_back
            waiting.append((current, True))
            waiting += ((inner_source, False) for inner_source in inner(current))
    return n_checks_by_id[id(source.schema)]
