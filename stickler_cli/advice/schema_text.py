"""Keys of a schema set in its text, where all else stays as it is, blanks and order too."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from stickler_cli.compare.outline import outline
from stickler_cli.compare.plan import Plan
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.documents.positions import Position, positions
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.settings import SchemaOptions
from .tuning import TunedField


def with_key(text: bytes, pointer: str, key: str, value: JsonValue) -> bytes:
    r"""Return the text of a schema with a key of one of its objects set.

    A key that is there keeps its place; a new one comes last, laid out as the one before it.

    >>> with_key(b'{"a": {"b": 1}}', "/a", "b", 2), with_key(b'{\n "a": 1\n}', "", "c", 2)
    (b'{"a": {"b": 2}}', b'{\n "a": 1,\n "c": 2\n}')
    """
    places = {place.pointer: place for place in positions(text)}
    written = json.dumps(value, ensure_ascii=False).encode()
    known = places.get(pointer + json_pointer((key,)))
    if known is not None:
        return text[: known.start] + written + text[known.end :]
    around = places[pointer]
    depth = pointer.count("/") + 1
    inside = [
        place
        for place in places.values()
        if place.pointer.startswith(f"{pointer}/") and place.pointer.count("/") == depth
    ]
    name = json.dumps(key, ensure_ascii=False).encode()
    if not inside:
        return text[: around.start] + b"{" + name + b": " + written + b"}" + text[around.end :]
    last = max(inside, key=lambda place: place.start)
    return text[: last.end] + b"," + _layout(text, around, last, name) + written + text[last.end :]


def _layout(text: bytes, around: Position, last: Position, name: bytes) -> bytes:
    """Return the blanks before a new key, the key and what stands between it and its value."""
    before = text[around.start + 1 : last.member]
    blanks = before[len(before.rstrip(b" \t\r\n")) :]
    between = text[last.member : last.start]
    colon = between[between.rfind(b":") - len(between) :]
    if not blanks and colon != b":":  # a bracket has no blank after it where a comma has one
        blanks = b" "
    return blanks + name + colon


def with_thresholds(
    loaded: LoadedSchema, text: bytes, proposed: Iterable[TunedField], settings: SchemaOptions
) -> tuple[bytes, list[TunedField], list[str]]:
    """Return the text of a schema with proposed thresholds, those that are in it, and why not all.

    What changes any other field is left out: a part of the schema may stand for several fields.
    """
    written: list[TunedField] = []
    refused: list[str] = []
    stands = {field_path(field.path): field.stands for field in reversed(loaded.fields)}
    known = _thresholds(loaded.plan)
    for field in proposed:
        key = f"{PREFIX}{'match-threshold' if field.of_items else 'threshold'}"
        candidate = _candidate(text, stands.get(field.path, ()), key, field.proposal.threshold)
        wanted = {**known, field.path: field.proposal.threshold}
        if candidate is None or _thresholds(_compiled(candidate, loaded, settings)) != wanted:
            hint = "it has no place of its own in this file; set it by hand"
            refused.append(f"the threshold of {field.path} was not written: {hint}")
        else:
            text, known = candidate, wanted
            written.append(field)
    return text, written, refused


def _candidate(
    text: bytes, stands: Sequence[str], key: str, threshold: float | None
) -> bytes | None:
    """Return the text with a threshold where it is said already, else where it counts first."""
    if not stands:
        return None
    said = {place.pointer for place in positions(text)}
    own = (pointer for pointer in stands if pointer + json_pointer((key,)) in said)
    return with_key(text, next(own, stands[0]), key, threshold)


def _compiled(text: bytes, loaded: LoadedSchema, settings: SchemaOptions) -> Plan:
    schema, file = orjson.loads(text), Path(loaded.path)
    return compile_schema(schema, loaded.path, file, allow_plugins=settings.allow_plugins)


def _thresholds(plan: Plan) -> dict[str, float | None]:
    return {field_path(row.path): row.threshold for row in outline(plan)}
