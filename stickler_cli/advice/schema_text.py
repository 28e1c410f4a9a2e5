"""Thresholds set in the text of a schema, where all else stays as it is."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Plan
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.documents.positions import positions
from stickler_cli.schema.annotated_text import with_keys
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.settings.inputs import SchemaOptions
from .tuning import TunedField


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
    return with_keys(text.decode(), {next(own, stands[0]): {key: threshold}}).encode()


def _compiled(text: bytes, loaded: LoadedSchema, settings: SchemaOptions) -> Plan:
    schema, file = orjson.loads(text), Path(loaded.path)
    return compile_schema(schema, loaded.path, file, allow_plugins=settings.allow_plugins)


def _thresholds(plan: Plan) -> dict[str, float | None]:
    return {field_path(row.path): row.threshold for row in field_listing(plan)}
