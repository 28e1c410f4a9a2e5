"""The engine that validates documents, jsonschema-rs: its options, limits and input.

Arms of unions, patterns of keys and `--validate` all ask it, so that they agree. The jsonschema
package takes some two hundred times as long, can hang on a pattern, and calls 19.99 no multiple of
0.01; it only words what is wrong with schemas.

The engine judges by a definition anew for each way that leads to it. Where there are many ways, it
asks back here instead (`Apart`), so that a verdict takes at most schema times document.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from hashlib import blake2b, sha256
from operator import getitem
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import Path, json_pointer
from .dialects import DEFAULT, TYPES, Dialect, Schema

if TYPE_CHECKING:
    from jsonschema_rs import Registry, ValidationError, Validator

T = TypeVar("T")
Formats = Mapping[str, Callable[[str], bool]]
"""Meaning of a format, by its name."""

BACKTRACK_LIMIT: Final = 10_000
"""Steps back that a pattern may take; it then counts as not matched. Some milliseconds."""

MOST_LEVELS: Final = 1024
"""Levels of a value that is judged, as many as documents are read with: the engine goes down them
on the stack of the process, which has an end."""

MESSAGE_LENGTH: Final = 160  # characters that are kept

_TEXTS: Final = ("title", "description", "$comment", "format")
"""Keywords whose value is any text."""


@cache
def _engine() -> Any:
    import jsonschema_rs  # half as long as Python itself takes to start; plain schemas need none

    return jsonschema_rs


@cache
def _usual(ref_stands_alone: bool) -> dict[str, Any]:
    """Return the options of the validators of dialects that stand alone, or of the others."""
    uuid = _engine().Draft202012Validator({"format": "uuid"}, validate_formats=True)
    return {
        "pattern_options": _engine().FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        "email_options": _engine().EmailOptions(allow_display_text=False),
        # The engine leaves it out where a dialect did not have it yet, and is faster without.
        "formats": {"uuid": uuid.is_valid} if ref_stands_alone else {},
    }


class EngineError(Exception):
    """A schema that the engine refuses: it cannot read a pattern, for one."""

    def __init__(self, found: str, pointer: str) -> None:
        super().__init__(found)
        self.pointer = pointer
        """To the part that is refused, inside its document."""


def build(  # noqa: PLR0913 - what the engine takes
    schema: Schema,
    dialect: Dialect,
    *,
    registry: "Registry | None" = None,
    base: str | None = None,
    formats: Formats | None = None,
    keywords: dict[str, Any] | None = None,
) -> "Validator":
    """Return the validator of a schema; it asserts formats and never asks the network.

    References start from `base` and lead into the `registry`; `formats` is what some mean here, and
    `keywords` are more than the dialect has.

    Raises:
        EngineError: the engine does not take the schema.
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
    place = json_pointer(tuple(getattr(error, "instance_path", ())))
    return EngineError(brief_message(str(error).partition("\n")[0]), place)


def brief_message(message: str) -> str:
    """Return a message of the engine, cut: it may hold a whole document."""
    return message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 3] + "..."


def is_valid(validator: "Validator", value: JsonValue) -> bool:
    """Return whether a value is valid; one that is too deep to tell is not."""
    if too_deep(value):
        return False
    with suppress(ValueError):  # a lone surrogate, or more levels than can be told to be unique
        return validator.is_valid(value)
    with suppress(ValueError):
        # U+FFFD for each surrogate that stands alone, which no engine reads.
        text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        return validator.is_valid(json.loads(text.decode("utf-16", "replace")))
    return False


def too_deep(value: object) -> bool:
    """Return whether a value has more than `MOST_LEVELS` levels."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for container in level
            if isinstance(container, dict | list)
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def is_valid_schema(schema: Schema, dialect: Dialect) -> bool:
    """Return whether a schema is valid in its dialect; False too where the engine cannot tell."""
    if too_deep(schema):
        return False
    with suppress(ValueError):
        named = {**schema, "$schema": dialect.uri}
        return _is_plain(schema) or bool(_engine().meta.is_valid(named))
    return False


def _is_plain(schema: Schema) -> bool:
    """Return whether a schema has only keywords that are valid in all dialects."""
    waiting: list[Any] = [{key: child for key, child in schema.items() if key != "$schema"}]
    while waiting:
        schema_part = waiting.pop()
        for key, value in (
            schema_part.items() if isinstance(schema_part, dict) else [("", schema_part)]
        ):
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
    r"""A pattern for keys; equal by its text, and picklable.

    Raises:
        EngineError: the engine cannot read it.

    >>> PicklablePattern(r"^\p{Lu}(?<rest>\d+)$").search("Ä12")
    True
    """

    text: str

    def __post_init__(self) -> None:
        self._validator  # noqa: B018 - read now, to be refused now

    def __reduce__(self) -> tuple[Any, ...]:
        return PicklablePattern, (self.text,)

    @cached_property
    def _validator(self) -> "Validator":
        return build({"pattern": self.text}, DEFAULT)

    def search(self, key: str) -> bool:
        """Return whether the pattern is in a key."""
        return is_valid(self._validator, key)


APART: Final = "x-stickler-judged-apart"
"""The keyword that stands for a `$ref` to such a part."""

DEEPEST: Final = 50
"""Questions inside one another; a deeper one is put off until those around it are given up, so that
deep documents need no deep stack."""

MOST_KNOWN: Final = 100_000
"""Verdicts that are remembered from one question to the next."""


class Apart:
    """Judges values by parts of schemas, and remembers the verdicts."""

    def __init__(self, accepts: Callable[[str, JsonValue], bool]) -> None:
        """Take a function that judges a value by the schema at a reference, asking back here."""
        self._accepts = accepts
        self._known: dict[tuple[str, bytes], bool] = {}
        self._depth = 0
        self._put_off: tuple[str, JsonValue] | None = None
        self._failure: BaseException | None = None
        self._lock = RLock()
        self.keywords: dict[str, type[_Keyword]] = {APART: type("_", (_Keyword,), {"judge": self})}
        """For the engine."""

    def settle(self, ask: Callable[[], T]) -> T:
        """Return the engine's answer to a question, once all that it put off is judged."""
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
        """Return whether a value is valid where a reference leads; any answer if it is put off."""
        if self._gives_up():
            return False
        key = reference, blake2b(repr(value).encode(), digest_size=16).digest()
        if key in self._known:
            return self._known[key]
        if self._depth == DEEPEST:
            self._put_off = reference, value
            return False
        self._known[key] = True  # a part that leads back to itself asks no more of the same value
        self._depth += 1
        try:
            self._known[key] = self._accepts(reference, value)
        except BaseException as error:  # noqa: BLE001 - the engine would take it for a verdict
            self._failure = error
        finally:
            self._depth -= 1
        if self._gives_up():
            del self._known[key]
            return False
        return self._known[key]

    def _gives_up(self) -> bool:
        """Return whether the question under way is to be asked again, or has failed."""
        return self._put_off is not None or self._failure is not None


class _Keyword:
    """A keyword of the engine, which asks back here."""

    judge: Apart

    def __init__(self, _schema: object, value: object, _path: object) -> None:
        self._reference = str(value)

    def validate(self, instance: JsonValue) -> None:
        """Raise a ValueError if a value is not valid."""
        if not self.judge.accepts(self._reference, instance):
            raise ValueError(self._reference)


class JudgedDocuments:
    """All documents of a schema, shared by all parts that values are judged by."""

    def __init__(
        self,
        by_uri: Mapping[str, tuple[JsonValue, Dialect]],
        renamed: Mapping[int, str],
        separate: Mapping[int, str],
    ) -> None:
        """Take documents with their dialects; they may grow until the first value is judged.

        They go by the URI that they give themselves; `renamed` has what a `$ref` in them is
        instead, by identity of its schema, and `separate` to what one leads that is judged apart.
        """
        self._by_uri = by_uri
        self._renamed = renamed
        self._separate = separate
        self._parts: dict[tuple[type[JudgedPart], str], JudgedPart] = {}
        self._apart_by_kind: dict[type[JudgedPart], Apart] = {}
        self.looks_back = False
        """Whether a schema's meaning may depend on its references; nothing is apart then."""

    def __reduce__(self) -> tuple[Any, ...]:
        by_uri = {uri: (document, self._by_uri[uri][1]) for uri, document in self.contents.items()}
        return JudgedDocuments, (by_uri, {}, {})

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, JudgedDocuments) and self._digest == other._digest
        return self is other or same

    __hash__ = None  # type: ignore[assignment] # it grows while a plan is compiled

    @property
    def are_bounded(self) -> bool:
        """Whether verdicts take time in proportion to the values, as far as is known here."""
        return not (self.looks_back and self._separate)

    @cached_property
    def contents(self) -> dict[str, JsonValue]:
        """The documents as the engine takes them; a `$schema` of the user's own is replaced."""
        separate = {} if self.looks_back else self._separate

        def copy_schema(value: JsonValue, dialect: Dialect) -> JsonValue:
            if isinstance(value, list):
                return [copy_schema(child, dialect) for child in value]
            if not isinstance(value, dict):
                return value
            copied = {name: copy_schema(child, dialect) for name, child in value.items()}
            new_reference, target = self._renamed.get(id(value)), separate.get(id(value))
            if target is not None:
                # What is void beside a `$ref` must be so beside this, too.
                kept = (
                    ("$defs", "definitions")
                    if dialect.ref_stands_alone
                    else copied.keys() - {"$ref"}
                )
                return {**{name: copied[name] for name in kept if name in copied}, APART: target}
            return copied if new_reference is None else {**copied, "$ref": new_reference}

        return {
            uri: {**document, "$schema": dialect.uri} if isinstance(document, dict) else document
            for uri, (contents, dialect) in self._by_uri.items()
            for document in [
                copy_schema(contents, dialect) if self._renamed or separate else contents
            ]
        }

    def find_part(self, kind: "type[JudgedPart]", reference: str) -> "JudgedPart":
        """Return a part of the documents to judge by, the same object each time."""
        if (kind, reference) not in self._parts:
            _, dialect = self._by_uri[reference.partition("#")[0]]
            self._parts[kind, reference] = kind(reference, dialect, self)
        return self._parts[kind, reference]

    def find_judge(self, kind: "type[JudgedPart]") -> Apart:
        """Return the judge for all parts of a kind that are apart from their references."""

        def accepts(reference: str, value: JsonValue) -> bool:
            return is_valid(self.find_part(kind, reference).validator, value)

        return self._apart_by_kind.setdefault(kind, Apart(accepts))

    @cached_property
    def _digest(self) -> str:
        """A plan holds many acceptors, and documents may be large."""
        return sha256(repr(self.contents).encode()).hexdigest()

    @cached_property
    def registry(self) -> "Registry":
        """The documents for the engine, which may refuse them with an EngineError."""
        try:
            # It looks all references up, those too that nothing follows: whatever they lead to.
            registry: Registry = _engine().Registry(
                [*self.contents.items()], retriever=lambda _: True
            )
        except ValueError as error:
            raise _engine_error(error) from None
        return registry


_FoundError: TypeAlias = "tuple[ValidationError, Path, Path]"


@dataclass(frozen=True)
class JudgedPart:
    """A schema inside documents, for values to be held against; picklable."""

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
        """The validator of the schema, built when first asked for; see `build`."""
        registry = self.documents.registry
        # As the whole document it is known to be the outermost, which `$recursiveRef` looks for.
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
        """Return whether a value is valid, as the function of that name does."""
        return self._judge.settle(lambda: is_valid(self.validator, value))

    def errors(self, document: JsonDocument) -> Iterator[_FoundError]:
        """Yield the errors of a document, each with its paths in schema and document.

        Raises:
            ValueError: it holds what the engine cannot name.
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
            error, steps, place = waiting.pop()
            if error.kind.name == APART:  # its message is the reference
                if (error.message, place) in seen_errors:
                    continue
                seen_errors.add((error.message, place))
                value: Any = reduce(getitem, place, document)  # type: ignore[arg-type]
                waiting += list_errors(
                    self.documents.find_part(type(self), error.message), value, steps, place
                )
            else:
                yield error, steps, place
