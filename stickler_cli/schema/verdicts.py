"""Decide whether alternatives of unions accept values, and find where documents break schemas."""

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
"""`type`, and keywords that never make a value invalid, such as `title`."""

ANY_TYPE: Final = frozenset(TYPES)


@dataclass(frozen=True, slots=True)
class TypeAcceptor(Acceptor):
    """Accepts values that have one of some JSON types.

    It does not use jsonschema-rs, but always gives the same answer.
    """

    types: frozenset[str]

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value has one of the types. The number 1.0 counts as an integer."""
        kind = kind_of(value)
        if kind == "integer" or (isinstance(value, float) and value.is_integer()):
            return bool(self.types & {"integer", "number"})
        return kind in self.types


@dataclass(frozen=True, slots=True)
class NumberAcceptor(Acceptor):
    """Decides by itself whether to accept a text that is only a number, such as "12.5".

    Another acceptor decides about all other values.
    """

    inner: Acceptor
    numbers: bool
    """Whether to accept a text that is only a number, such as "12.5"."""

    @property
    def is_bounded(self) -> bool:
        """Whether the time of the test grows at most in proportion to the size of the value."""
        return self.inner.is_bounded

    def __call__(self, value: JsonValue) -> bool:
        """Return whether a value is accepted."""
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
"""Tests for formats that are more generous than RFC 3339: the time zone may be missing, and a blank
may replace the T. Documents often have such values, and these should still be compared as dates,
not as texts."""


class SchemaAcceptor(JudgedPart, Acceptor):
    """Accepts values that are valid under a schema. A value with too many levels is not valid."""

    formats = GENEROUS

    @property
    def is_bounded(self) -> bool:
        """Whether the time of the test grows at most in proportion to the size of the value."""
        return self.documents.are_bounded

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is valid."""
        return self.is_valid(value)


def acceptor_of(files: SchemaFiles, arm: Source, documents: JudgedDocuments) -> Acceptor:
    """Return an object that decides whether an alternative of a union accepts a value.

    If the alternative states only types, the object checks only the type of the value.
    """
    schema = arm.schema
    if schema is files.booleans[True]:
        return TypeAcceptor(ANY_TYPE)
    named = schema.get("type")
    if named is not None and all(key in TYPE_ONLY or key in own_keys(schema) for key in schema):
        names = named if isinstance(named, list) else [named]
        return TypeAcceptor(frozenset(str(name) for name in names))
    return SchemaAcceptor(files.uri_of(schema), files.locate(schema).dialect, documents)


DEEPEST: Final = 20
"""Longest field path in a violation, in steps. Longer paths, such as those of recursive schemas,
are cut."""

_ABOUT: Final = {
    "properties": "",
    **dict.fromkeys(("patternProperties", *CLOSED_BY), "*"),
    **dict.fromkeys(("prefixItems", *ITEMS), "[]"),
}
"""Maps keywords to the step that each adds to a field path: `[]` for elements of lists, `*` for
keys that the schema does not declare. `properties` has an empty text here, because the name of the
property is used as the step."""


class DocumentValidator:
    """Finds where documents violate a schema; it can be pickled."""

    def __init__(self, schema: Schema, source: str = "", file: str | None = None) -> None:
        """Take a schema, its name for messages, and its file if it has one.

        Raises:
            SchemaError: values cannot be validated against the schema.
        """
        files = SchemaFiles(schema, source, Path(file) if file else None)
        reach = Reach(files)
        for origin, keyword, error in reach.problems(files.root):
            location = files.locate(origin.schema)
            path = (*location.path, keyword) if keyword else location.path
            raise _refusal(location.source, error.found, json_pointer(path))
        self._part = JudgedPart(files.uri_of(schema), files.dialect, reach.documents)
        try:
            self._part.validator  # noqa: B018 - raises the error for an invalid schema
        except EngineError as error:
            raise _refusal(source, str(error), error.pointer) from None

    @property
    def is_bounded(self) -> bool:
        """Whether validation time grows at most in proportion to the size of the document."""
        return self._part.documents.are_bounded

    def violations(self, document: JsonDocument, gold: Gold | None = None) -> Iterator[Violation]:
        """Yield every violation of the schema in a document.

        Fields that the ground truth `gold` does not label are skipped.
        """
        if too_deep(document):
            yield Violation(
                keyword="",
                field="",
                pointer="",
                message=f"the document is nested more than {MOST_LEVELS} levels deep",
            )
            return
        try:
            errors = list(self._part.errors(document))
        except ValueError as reason:  # a message would quote too many levels, or a surrogate
            if not self._part.is_valid(document):
                yield Violation(
                    keyword="", field="", pointer="", message=brief_message(str(reason))
                )
            return
        for error, schema_path, document_path in errors:
            if gold is not None and not gold.is_labelled(document_path):
                continue
            keyword = error.kind.name
            missing = [getattr(error.kind, "property", "")] if keyword == "required" else []
            if keyword == "falseSchema" and schema_path and schema_path[-1] in _ABOUT:
                keyword = str(schema_path[-1])  # `false` is the value of this keyword
            yield Violation(
                keyword=keyword,
                field=_pattern(schema_path, missing),
                pointer=json_pointer(document_path),
                message=brief_message(error.message),
            )


def _refusal(source: str, reason: str, pointer: str) -> SchemaError:
    finding = f"documents cannot be validated against this schema, because {reason}"
    return SchemaError(
        [
            Problem(
                source=source,
                found=finding,
                expected="",
                hint="leave out --validate",
                pointer=pointer,
            )
        ]
    )


def _pattern(evaluation_path: Sequence[str | int], missing: Sequence[str]) -> str:
    """Turn a path of keywords in a schema into the path of the field that the keywords describe.

    `[]` stands for any item and `*` for any key. The names in `missing` are appended.
    """
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
"""Maximum number of schemas against which a value and everything inside it may be validated
together. A schema that is reached by several chains of references counts once for each chain. A
definition that exceeds the limit is validated separately, by the class `Apart`. Source:
docs/schema.md."""

_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Keywords that contain schemas for the value itself, not for its children."""

_INSIDE: Final = frozenset({*ONE, *LISTED, *NAMED}) - {"$defs", "definitions"}
"""Keywords that contain schemas for the value itself or for its children."""

_LEFT_OVER: Final = frozenset({CLOSED_BY[1], "unevaluatedItems"})
"""Keywords that apply to keys and elements that no other schema describes. Their effect therefore
depends on the other schemas of the same value."""

_LOOKING_BACK: Final = _LEFT_OVER | {"$dynamicRef", "$recursiveRef"}
"""Keywords whose meaning depends on schemas elsewhere: on other schemas of the same value, or on
the schema from which a reference was followed."""

_BRANCHING: Final = _IN_PLACE | _LEFT_OVER | {"contains", "patternProperties"}
"""Keywords that may cause one value to be validated against several schemas. Without these
keywords, validation against a recursive schema takes linear time."""


class Reach:
    """Follows all references that start in a schema, and reads the schema documents they lead to.

    All schema documents are thus read before any value is validated.
    """

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._followed: set[int] = set()
        self._checks: dict[int, int] = {}
        self._in_depth: dict[int, int] = {}
        self._branches = False
        self._renamed: dict[int, str] = {}
        self._separate: dict[int, str] = {}
        self.documents = JudgedDocuments(files.documents, self._renamed, self._separate)
        """All documents that make up the schema. They are complete once the iterator `problems` has
        ended."""

    def problems(self, source: Source) -> Iterator[tuple[Source, str, LeadsNowhereError]]:
        """Follow all references, and find parts of schemas that cannot be used.

        Yield (schema, keyword, reason) for each such part.
        """
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
        """Yield problems inside a schema, without following its references."""
        if APART in source.schema:
            yield (
                source,
                APART,
                LeadsNowhereError((f"the keyword {APART} is not allowed in a schema"), "a $ref"),
            )
        inner = self._list_inner_schemas(source, _IN_PLACE)
        if self._own_checks(source) > MOST_CHECKS >= max(map(self._own_checks, inner)):
            finding = f"a single value would be checked against more than {MOST_CHECKS} schemas"
            yield source, "", LeadsNowhereError(finding, "fewer nested alternatives")

    def _own_checks(self, source: Source) -> int:
        """Return the number of schemas against which one value is validated.

        Schemas for the children of the value do not count. A schema that refers to itself counts
        once.
        """
        return _counted(
            source, partial(self._list_inner_schemas, keywords=_IN_PLACE), self._checks, 1
        )

    def _all_checks(self, source: Source) -> int:
        """Return the number of schemas against which a value and all its children are validated.

        A schema that is reached in several ways counts once for each way.
        """
        leads_back = MOST_CHECKS + 1 if self._branches else 1
        list_inner = partial(self._list_inner_schemas, keywords=_INSIDE)
        return _counted(source, list_inner, self._in_depth, leads_back)

    def _list_inner_schemas(self, source: Source, keywords: frozenset[str]) -> list[Source]:
        """Return the schemas under some keywords of a schema, and the targets of its references."""
        inner = [
            self._files.enter(source, schema)
            for steps, schema in subschemas(source.schema)
            if steps[0] in keywords
        ]
        for keyword in self._files.references_of(source.schema):
            with suppress(LeadsNowhereError):  # `problems` reports it
                inner.append(self._files.follow(source, keyword))
        return inner


def _counted(
    source: Source,
    inner: Callable[[Source], list[Source]],
    n_checks_by_id: dict[int, int],
    leads_back: int,
) -> int:
    """Count the schemas that can be reached from a schema, once for each way to reach them.

    The count stops at `MOST_CHECKS` + 1. `inner` returns the schemas that are reached directly. A
    schema that leads back to itself adds `leads_back` to the count. `n_checks_by_id` keeps counts
    for later calls.
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
