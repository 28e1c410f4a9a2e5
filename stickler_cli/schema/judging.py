"""Validate values with the library jsonschema-rs: its options, limits and input.

Three tasks must agree on what is valid: choosing alternatives of unions, matching patterns of keys,
and `--validate`. All of them use jsonschema-rs.

The package jsonschema is used only to write messages about invalid schemas. It is about two hundred
times as slow, can hang on a pattern, and does not accept 19.99 as a multiple of 0.01.

If several chains of references lead to a definition, jsonschema-rs validates a value against the
definition once for each chain. If there are very many chains, the class `Apart` of this module
takes over. It remembers each verdict, so the time is at most proportional to the size of the schema
times the size of the document.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from hashlib import blake2b, sha256
from operator import getitem
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from stickler_cli.core.json_values import JsonDocument, JsonValue, brief, cut_end
from stickler_cli.core.locations import Path, json_pointer
from .dialects import DEFAULT, TYPES, Dialect, Schema

if TYPE_CHECKING:
    from jsonschema_rs import Registry, ValidationError, Validator

T = TypeVar("T")
Formats = Mapping[str, Callable[[str], bool]]
"""Maps the name of a format, such as `date`, to a function that tests whether a text has it."""

BACKTRACK_LIMIT: Final = 10_000
"""Maximum number of backtracking steps in matching a pattern; this many take some milliseconds. A
pattern that needs more steps counts as not matching."""

MOST_LEVELS: Final = 1024
"""Maximum number of nested levels in a value that is validated. The limit for reading documents is
the same. It is needed because jsonschema-rs calls itself for each level, and the stack of a process
is limited."""

MESSAGE_LENGTH: Final = 160  # in characters

_TEXTS: Final = ("title", "description", "$comment", "format")
"""Keywords that are valid with any text as their value."""


@cache
def _engine() -> Any:
    import jsonschema_rs  # slow to import, and not needed for plain schemas

    return jsonschema_rs


@cache
def _usual(ref_stands_alone: bool) -> dict[str, Any]:
    """Return the options with which every validator is built.

    `ref_stands_alone` is an attribute of the schema's dialect. It is true for older dialects. For
    older dialects, a test of the format `uuid` is added, because jsonschema-rs has none for them.
    """
    uuid = _engine().Draft202012Validator({"format": "uuid"}, validate_formats=True)
    return {
        "pattern_options": _engine().FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        "email_options": _engine().EmailOptions(allow_display_text=False),
        # Older dialects do not have `uuid`. In newer ones the engine's own test is faster.
        "formats": {"uuid": uuid.is_valid} if ref_stands_alone else {},
    }


class EngineError(Exception):
    """jsonschema-rs rejects a schema, for instance because of a pattern with a syntax error.

    The text of the error is a clause, such as `stickler cannot use the pattern "("`.
    """

    def __init__(self, found: str, expected: str, pointer: str) -> None:
        super().__init__(found)
        self.expected = expected
        """What was expected in place of the rejected part, such as a pattern; empty if unknown."""
        self.pointer = pointer
        """JSON Pointer to the rejected part, from the root of the document that contains the
        schema."""


def build(  # noqa: PLR0913 - the engine's options
    schema: Schema,
    dialect: Dialect,
    *,
    registry: "Registry | None" = None,
    base: str | None = None,
    formats: Formats | None = None,
    keywords: dict[str, Any] | None = None,
) -> "Validator":
    """Return the validator of a schema. It checks formats, and never uses the network.

    References are resolved against `base`, and their targets are taken from `registry`. `formats`
    replaces the tests of some formats. `keywords` adds keywords to the dialect.

    Raises:
        EngineError: jsonschema-rs rejects the schema.
    """
    usual = _usual(dialect.ref_stands_alone)
    try:
        validator: Validator = _engine().validator_for(
            {**schema, "$schema": dialect.uri},
            registry=registry,
            base_uri=base,
            validate_formats=True,
            keywords=keywords,
            offline=True,
            **{**usual, "formats": {**usual["formats"], **(formats or {})}},
        )
    except ValueError as error:
        raise _engine_error(error) from None
    return validator


def _engine_error(error: ValueError) -> EngineError:
    pointer = json_pointer(tuple(getattr(error, "instance_path", ())))
    if getattr(getattr(error, "kind", None), "format", "") == "regex":
        pattern = brief(getattr(error, "instance", ""))
        finding = f"stickler cannot use the pattern {pattern}"
        return EngineError(finding, "a pattern of the kinds that docs/schema.md describes", pointer)
    reason = brief_message(str(error).partition("\n")[0])
    return EngineError(f"jsonschema-rs rejects the schema ({reason})", "", pointer)


def brief_message(message: str) -> str:
    """Shorten a message of jsonschema-rs, which may quote a whole document."""
    return cut_end(message, MESSAGE_LENGTH)


def is_valid(validator: "Validator", value: JsonValue) -> bool:
    """Return whether a validator accepts a value. A value with too many levels is not valid."""
    if too_deep(value):
        return False
    with suppress(ValueError):  # a lone surrogate, or too many levels for `uniqueItems`
        return validator.is_valid(value)
    with suppress(ValueError):
        # The engine reads no lone surrogates: replace each by U+FFFD.
        text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        return validator.is_valid(json.loads(text.decode("utf-16", "replace")))
    return False


def _children_of(container: dict[Any, Any] | list[Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def too_deep(value: object) -> bool:
    """Return whether a value has more than `MOST_LEVELS` levels."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for container in level
            if isinstance(container, dict | list)
            for inner in _children_of(container)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def is_valid_schema(schema: Schema, dialect: Dialect) -> bool:
    """Return whether a schema is valid in its dialect. Return False if jsonschema-rs fails."""
    if too_deep(schema):
        return False
    with suppress(ValueError):
        named = {**schema, "$schema": dialect.uri}
        return _is_plain(schema) or bool(_engine().meta.is_valid(named))
    return False


def _is_plain(schema: Schema) -> bool:
    """Return whether a schema uses only keywords and values that are valid in all dialects."""
    waiting: list[Any] = [{key: child for key, child in schema.items() if key != "$schema"}]
    while waiting:
        schema_part = waiting.pop()
        entries = schema_part.items() if isinstance(schema_part, dict) else [("", schema_part)]
        for key, value in entries:
            if key in ("properties", "items") and isinstance(value, dict):
                waiting += value.values() if key == "properties" else [value]
            elif not (
                key.startswith("x-")
                or (key == "type" and value in TYPES)
                or (key in _TEXTS and isinstance(value, str))
                or (key == "additionalProperties" and isinstance(value, bool))
            ):
                return False
    return True


@dataclass(frozen=True)
class PicklablePattern:
    r"""A regular expression that searches keys, and that can be pickled.

    Raises:
        EngineError: jsonschema-rs cannot read the pattern.

    >>> PicklablePattern(r"^\p{Lu}(?<rest>\d+)$").search("Ä12")
    True
    """

    text: str

    def __post_init__(self) -> None:
        self._validator  # noqa: B018 - raises the error for an invalid pattern

    def __reduce__(self) -> tuple[Any, ...]:
        return PicklablePattern, (self.text,)

    @cached_property
    def _validator(self) -> "Validator":
        return build({"pattern": self.text}, DEFAULT)

    def search(self, key: str) -> bool:
        """Return whether a key contains a match of the pattern."""
        return is_valid(self._validator, key)


APART: Final = "x-stickler-judged-apart"
"""The keyword that replaces a `$ref` to a definition that is validated separately."""

DEEPEST: Final = 50
"""Maximum number of nested questions (see `Apart`). Questions nest because answering one may lead
to another. A question that is nested more deeply is postponed and asked later by itself, so deep
documents need no deep stack."""

MOST_KNOWN: Final = 100_000
"""Maximum number of remembered verdicts. If there are more, all verdicts are dropped before the
next value is validated."""


class Apart:
    """Validates values against separately validated definitions, and remembers the answers.

    A definition is validated separately if so many references lead to it that jsonschema-rs would
    validate the same value very often. Whenever jsonschema-rs reaches a reference to such a
    definition, it calls an object of this class with the reference and the value. This call is a
    *question*: is the value valid under the definition? The object remembers the answer.
    """

    def __init__(self, accepts: Callable[[str, JsonValue], bool]) -> None:
        """Store the function `accepts`, which validates a value if no answer is remembered.

        The arguments of `accepts` are a reference to a definition, and a value. It returns whether
        the value is valid under the definition. While it runs, jsonschema-rs may ask further
        questions.
        """
        self._accepts = accepts
        self._known: dict[tuple[str, bytes], bool] = {}
        self._depth = 0
        self._put_off: tuple[str, JsonValue] | None = None
        self._failure: BaseException | None = None
        self._lock = RLock()
        self.keywords: dict[str, type[_Keyword]] = {APART: type("_", (_Keyword,), {"judge": self})}
        """An additional keyword to register with jsonschema-rs. Validating this keyword calls the
        method `accepts` of this object."""

    def settle(self, ask: Callable[[], T]) -> T:
        """Return the result of `ask`, a function that calls jsonschema-rs.

        While `ask` runs, jsonschema-rs asks questions, and these can be nested. If a question is
        nested too deeply, `ask` stops. The question is then answered on its own and its answer is
        remembered. Then `ask` is called again.
        """
        questions: list[Callable[[], Any]] = [ask]
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            while True:
                try:
                    verdict = questions[-1]()
                finally:
                    put_off, self._put_off = self._put_off, None
                    failure, self._failure = self._failure, None
                if failure is not None:
                    raise failure
                if put_off is not None:
                    questions.append(partial(self.accepts, *put_off))
                    continue
                questions.pop()
                if not questions:
                    answer: T = verdict
                    return answer

    def accepts(self, reference: str, value: JsonValue) -> bool:
        """Return whether a value is valid under the schema at a reference.

        A validation that is nested too deeply is postponed. After a validation is postponed or
        fails, all results are False and have no meaning, until `settle` tries again or raises the
        error.
        """
        if self._gives_up():
            return False
        key = reference, blake2b(repr(value).encode(), digest_size=16).digest()
        if key in self._known:
            return self._known[key]
        if self._depth == DEEPEST:
            self._put_off = reference, value
            return False
        self._known[key] = True  # if the definition is reached again with this value
        self._depth += 1
        try:
            self._known[key] = self._accepts(reference, value)
        except BaseException as error:  # noqa: BLE001 - the engine would treat it as a verdict
            self._failure = error
        finally:
            self._depth -= 1
        if self._gives_up():
            del self._known[key]
            return False
        return self._known[key]

    def _gives_up(self) -> bool:
        """Return whether a question was postponed or failed.

        All results then have no meaning, until `settle` tries again or raises the error.
        """
        return self._put_off is not None or self._failure is not None


class _Keyword:
    """The implementation of the keyword `APART`; it calls back `Apart.accepts`."""

    judge: Apart

    def __init__(self, _schema: object, value: object, _path: object) -> None:
        self._reference = str(value)

    def validate(self, instance: JsonValue) -> None:
        """Raise a ValueError if a value is not valid."""
        if not self.judge.accepts(self._reference, instance):
            raise ValueError(self._reference)


class JudgedDocuments:
    """The JSON documents that make up a schema. All validators of the schema share them."""

    def __init__(
        self,
        by_uri: Mapping[str, tuple[JsonValue, Dialect]],
        renamed: Mapping[int, str],
        separate: Mapping[int, str],
    ) -> None:
        """Take the documents and their dialects.

        A key of `by_uri` is the URI that the document gives itself. Documents may be added until
        the first value is validated.

        The keys of `renamed` and `separate` are the `id()` of a schema object that has a `$ref`.
        The values of `renamed` are the new values for this `$ref`. The values of `separate` are the
        URIs of the definitions to which the `$ref` leads. `separate` contains only references to
        definitions that are validated separately.
        """
        self._by_uri = by_uri
        self._renamed = renamed
        self._separate = separate
        self._parts: dict[tuple[type[JudgedPart], str], JudgedPart] = {}
        self._apart_by_kind: dict[type[JudgedPart], Apart] = {}
        self.looks_back = False
        """Whether the meaning of a definition may depend on the schema that refers to it. If so, no
        definition is validated separately."""

    def __reduce__(self) -> tuple[Any, ...]:
        by_uri = {uri: (document, self._by_uri[uri][1]) for uri, document in self.contents.items()}
        return JudgedDocuments, (by_uri, {}, {})

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, JudgedDocuments) and self._digest == other._digest
        return self is other or same

    __hash__ = None  # type: ignore[assignment] # it grows while a plan is compiled

    @property
    def are_bounded(self) -> bool:
        """Whether validation time grows at most in proportion to the size of the value."""
        return not (self.looks_back and self._separate)

    @cached_property
    def contents(self) -> dict[str, JsonValue]:
        """Maps the URI of each document to the document, changed so that jsonschema-rs can use it.

        The `$schema` of each document is set to the URI of the document's dialect. If a schema
        object is a key in `renamed`, its `$ref` is changed to the new value. If a schema object is
        a key in `separate`, its `$ref` is replaced with the keyword `APART`, unless `looks_back` is
        set.
        """
        separate = {} if self.looks_back else self._separate

        def copy_schema(value: JsonValue, dialect: Dialect) -> JsonValue:
            if isinstance(value, list):
                return [copy_schema(child, dialect) for child in value]
            if not isinstance(value, dict):
                return value
            copied = {name: copy_schema(child, dialect) for name, child in value.items()}
            new_reference, target = self._renamed.get(id(value)), separate.get(id(value))
            if target is not None:
                # Keywords that are ignored beside a `$ref` must be ignored here, too.
                kept = (
                    ("$defs", "definitions")
                    if dialect.ref_stands_alone
                    else copied.keys() - {"$ref"}
                )
                return {**{name: copied[name] for name in kept if name in copied}, APART: target}
            return copied if new_reference is None else {**copied, "$ref": new_reference}

        contents: dict[str, JsonValue] = {}
        for uri, (document, dialect) in self._by_uri.items():
            is_changed = self._renamed or separate
            content = copy_schema(document, dialect) if is_changed else document
            if isinstance(content, dict):
                content = {**content, "$schema": dialect.uri}
            contents[uri] = content
        return contents

    def find_part(self, kind: "type[JudgedPart]", reference: str) -> "JudgedPart":
        """Return the object that validates values against the schema at a reference.

        `kind` is the class of the object. The same reference always gives the same object.
        """
        if (kind, reference) not in self._parts:
            _, dialect = self._by_uri[reference.partition("#")[0]]
            self._parts[kind, reference] = kind(reference, dialect, self)
        return self._parts[kind, reference]

    def find_judge(self, kind: "type[JudgedPart]") -> Apart:
        """Return the `Apart` object that answers questions about separately validated definitions.

        The `Apart` object validates values against each definition with an object of the class
        `kind`. Calls with the same `kind` return the same `Apart` object.
        """

        def accepts(reference: str, value: JsonValue) -> bool:
            return is_valid(self.find_part(kind, reference).validator, value)

        return self._apart_by_kind.setdefault(kind, Apart(accepts))

    @cached_property
    def _digest(self) -> str:
        """A digest of all documents.

        Comparing digests shows quickly whether two copies are equal.
        """
        return sha256(repr(self.contents).encode()).hexdigest()

    @cached_property
    def registry(self) -> "Registry":
        """The documents as a registry, from which jsonschema-rs resolves references.

        Raises:
            EngineError: jsonschema-rs rejects the documents.
        """
        try:
            # The registry resolves all references, even unused ones, so each must lead somewhere.
            registry: Registry = _engine().Registry(
                [*self.contents.items()], retriever=lambda _: True
            )
        except ValueError as error:
            raise _engine_error(error) from None
        return registry


_FoundError: TypeAlias = "tuple[ValidationError, Path, Path]"


@dataclass(frozen=True)
class JudgedPart:
    """Validates values against one schema.

    The schema is at `reference`, inside one of `documents`. Objects of this class can be pickled.
    """

    formats: ClassVar[Formats] = {}
    reference: str
    """An absolute reference to the schema."""
    dialect: Dialect
    documents: JudgedDocuments

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reference, self.dialect, self.documents)

    @cached_property
    def _judge(self) -> Apart:
        return self.documents.find_judge(type(self))

    @cached_property
    def validator(self) -> "Validator":
        """The validator of the schema, built when it is first used.

        Raises:
            EngineError: jsonschema-rs rejects the schema.
        """
        registry = self.documents.registry
        # `$recursiveRef` needs the outermost document itself, not a reference to it.
        base = self.reference.removesuffix("#")
        document = self.documents.contents.get(base)
        schema: Schema = document if isinstance(document, dict) else {"$ref": self.reference}
        return build(
            schema,
            self.dialect,
            registry=registry,
            base=base,
            formats=self.formats,
            keywords=self._judge.keywords,
        )

    def is_valid(self, value: JsonValue) -> bool:
        """Return whether the schema accepts a value. A value with too many levels is not valid."""
        return self._judge.settle(lambda: is_valid(self.validator, value))

    def errors(self, document: JsonDocument) -> Iterator[_FoundError]:
        """Yield (error, path in the schema, path in the document) for each error.

        Raises:
            ValueError: the document has a value that jsonschema-rs cannot name in a message.
        """

        def list_errors(
            judged_part: JudgedPart, value: JsonValue, *parent_paths: Path
        ) -> list[_FoundError]:
            errors = self._judge.settle(lambda: list(judged_part.validator.iter_errors(value)))
            return [
                (
                    error,
                    (*parent_paths[0], *error.evaluation_path),
                    (*parent_paths[1], *error.instance_path),
                )
                for error in reversed(errors)
            ]

        waiting, seen_errors = list_errors(self, document, (), ()), set()
        while waiting:
            error, schema_path, document_path = waiting.pop()
            if error.kind.name == APART:  # the error's message is the reference
                if (error.message, document_path) in seen_errors:
                    continue
                seen_errors.add((error.message, document_path))
                value: Any = reduce(getitem, document_path, document)  # type: ignore[arg-type]
                part = self.documents.find_part(type(self), error.message)
                waiting += list_errors(part, value, schema_path, document_path)
            else:
                yield error, schema_path, document_path
