"""The one engine that judges documents, jsonschema-rs: its options, its limits, what it is given.

Arms of unions, patterns of keys and `--validate` all ask it, so that they agree. The jsonschema
package takes some two hundred times as long, can hang on a pattern, and calls 19.99 no multiple of
0.01; it only words what is wrong with schemas.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Final

import jsonschema_rs

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.values import dataclass
from .dialects import DEFAULT, Dialect, Schema

Validator = jsonschema_rs.Validator
Formats = Mapping[str, Callable[[str], bool]]
"""What a format means, by its name."""

BACKTRACK_LIMIT: Final = 10_000
"""Steps back that a pattern may take; it then counts as not matched. Some milliseconds."""

MOST_LEVELS: Final = 1024
"""Levels of a value that is judged, as many as documents are read with: the engine goes down them
on the stack of the process, which has an end."""

MESSAGE_LENGTH: Final = 160
"""Characters of a message that are kept."""

_PATTERNS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
_EMAIL: Final = jsonschema_rs.EmailOptions(allow_display_text=False)
_UUID: Final = jsonschema_rs.Draft202012Validator({"format": "uuid"}, validate_formats=True)
_FORMATS: Final[Formats] = {"uuid": _UUID.is_valid}
"""Formats that the engine leaves out where a dialect did not have them yet."""


class EngineError(Exception):
    """What the engine does not take: a pattern that it cannot read, say."""

    def __init__(self, found: str, pointer: str) -> None:
        super().__init__(found)
        self.pointer = pointer
        """To what it does not take, inside its document."""


def build(
    schema: Schema,
    dialect: Dialect,
    *,
    registry: jsonschema_rs.Registry | None = None,
    base: str | None = None,
    formats: Formats | None = None,
) -> Validator:
    """Return the validator of a schema; it asserts formats and never asks the network.

    References start from `base` and lead into the `registry`; `formats` is what some mean here.

    Raises:
        EngineError: the engine does not take the schema.
    """
    known = _FORMATS if dialect.alone else {}  # in the others they are faster without
    try:
        return jsonschema_rs.validator_for(
            {**schema, "$schema": dialect.uri},
            registry=registry,
            base_uri=base,
            validate_formats=True,
            formats={**known, **(formats or {})},
            pattern_options=_PATTERNS,
            email_options=_EMAIL,
            offline=True,
        )
    except ValueError as error:
        raise _refusal(error) from None


def _refusal(error: ValueError) -> EngineError:
    place = json_pointer(tuple(getattr(error, "instance_path", ())))
    return EngineError(brief_message(str(error).partition("\n")[0]), place)


def brief_message(message: str) -> str:
    """Return what the engine says, cut: it may hold a whole document."""
    return message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 3] + "..."


def is_valid(validator: Validator, value: JsonValue) -> bool:
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
            for part in level
            if isinstance(part, dict | list)
            for inner in (part.values() if isinstance(part, dict) else part)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def is_valid_schema(schema: Schema, dialect: Dialect) -> bool:
    """Return whether a schema is valid in its dialect; False too where the engine cannot tell."""
    with suppress(ValueError):
        named = {**schema, "$schema": dialect.uri}
        return not too_deep(schema) and bool(jsonschema_rs.meta.is_valid(named))
    return False


@dataclass(frozen=True)
class KeyPattern:
    r"""A pattern for keys; equal by its text, and picklable.

    Raises:
        EngineError: the engine cannot read it.

    >>> KeyPattern(r"^\p{Lu}(?<rest>\d+)$").search("Ä12")
    True
    """

    text: str

    def __post_init__(self) -> None:
        self._validator  # noqa: B018 - read now, to be refused now

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyPattern, (self.text,)

    @cached_property
    def _validator(self) -> Validator:
        return build({"pattern": self.text}, DEFAULT)

    def search(self, key: str) -> bool:
        """Return whether the pattern is in a key."""
        return is_valid(self._validator, key)


class Documents:
    """All documents of a schema; what judges by any part of them shares them."""

    def __init__(
        self, by_uri: Mapping[str, tuple[JsonValue, Dialect]], renamed: Mapping[int, str]
    ) -> None:
        """Take documents, which may grow until the first question, with their dialects.

        They go by the URI that they give themselves; `renamed` has what a `$ref` in them is
        instead, by identity of its schema.
        """
        self._by_uri = by_uri
        self._renamed = renamed

    def __reduce__(self) -> tuple[Any, ...]:
        dialects = {uri: dialect for uri, (_, dialect) in self._by_uri.items()}
        return Documents, ({uri: (each, dialects[uri]) for uri, each in self.contents.items()}, {})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Documents) and self._digest == other._digest)

    __hash__ = None  # type: ignore[assignment] # it grows while a plan is compiled

    @cached_property
    def contents(self) -> dict[str, JsonValue]:
        """The documents as the engine takes them; a `$schema` of the user's own is replaced."""

        def taken(value: JsonValue) -> JsonValue:
            if isinstance(value, list):
                return [taken(part) for part in value]
            if not isinstance(value, dict):
                return value
            copied = {name: taken(part) for name, part in value.items()}
            own = self._renamed.get(id(value))
            return copied if own is None else {**copied, "$ref": own}

        return {
            uri: {**document, "$schema": dialect.uri} if isinstance(document, dict) else document
            for uri, (contents, dialect) in self._by_uri.items()
            for document in [taken(contents) if self._renamed else contents]
        }

    @cached_property
    def _digest(self) -> str:
        """A plan holds many acceptors, and documents may be large."""
        return sha256(repr(self.contents).encode(errors="replace")).hexdigest()

    @cached_property
    def registry(self) -> jsonschema_rs.Registry:
        """The documents for the engine, which may refuse them with an EngineError."""
        try:
            # It looks all references up, those too that nothing follows: whatever they lead to.
            return jsonschema_rs.Registry([*self.contents.items()], retriever=lambda _: True)
        except ValueError as error:
            raise _refusal(error) from None


@dataclass(frozen=True)
class Part:
    """A schema inside documents, for values to be held against; picklable."""

    formats: ClassVar[Formats] = {}
    reference: str
    """An absolute reference to the schema."""
    dialect: Dialect
    documents: Documents

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reference, self.dialect, self.documents)

    @cached_property
    def validator(self) -> Validator:
        """The validator of the schema, built when first asked for; see `build`."""
        registry = self.documents.registry
        # As the whole document it is known to be the outermost, which `$recursiveRef` looks for.
        base = self.reference.removesuffix("#")
        whole = self.documents.contents.get(base)
        schema: Schema = whole if isinstance(whole, dict) else {"$ref": self.reference}
        return build(schema, self.dialect, registry=registry, base=base, formats=self.formats)
