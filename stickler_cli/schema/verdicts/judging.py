"""The one engine that judges documents, jsonschema-rs: its options, its limits, its input.

Arms of unions, patterns of keys and `--validate` all ask it, so that they agree. The jsonschema
package takes some two hundred times as long, can hang on a pattern, and calls 19.99 no multiple of
0.01; it only words what is wrong with schemas.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

import jsonschema_rs

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.values import dataclass
from stickler_cli.schema.dialects import DEFAULT, Dialect, Schema

Validator = jsonschema_rs.Validator
Registry = jsonschema_rs.Registry
Error = jsonschema_rs.ValidationError
Formats = Mapping[str, Callable[[str], bool]]
"""Meaning of a format, by its name."""

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
    """A schema that the engine refuses: it cannot read a pattern, for one."""

    def __init__(self, found: str, pointer: str) -> None:
        super().__init__(found)
        self.pointer = pointer
        """To the part that is refused, inside its document."""


def build(  # noqa: PLR0913 - what the engine takes
    schema: Schema,
    dialect: Dialect,
    *,
    registry: Registry | None = None,
    base: str | None = None,
    formats: Formats | None = None,
    keywords: dict[str, Any] | None = None,
) -> Validator:
    """Return the validator of a schema; it asserts formats and never asks the network.

    References start from `base` and lead into the `registry`; `formats` is what some mean here, and
    `keywords` are more than the dialect has.

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
            keywords=keywords,
            pattern_options=_PATTERNS,
            email_options=_EMAIL,
            offline=True,
        )
    except ValueError as error:
        raise _engine_error(error) from None


def registry_of(documents: Mapping[str, JsonValue]) -> Registry:
    """Return documents by their URIs for the engine, which may refuse them with an EngineError."""
    try:
        # It looks all references up, those too that nothing follows: whatever they lead to.
        return Registry([*documents.items()], retriever=lambda _: True)
    except ValueError as error:
        raise _engine_error(error) from None


def _engine_error(error: ValueError) -> EngineError:
    place = json_pointer(tuple(getattr(error, "instance_path", ())))
    return EngineError(brief_message(str(error).partition("\n")[0]), place)


def brief_message(message: str) -> str:
    """Return a message of the engine, cut: it may hold a whole document."""
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
