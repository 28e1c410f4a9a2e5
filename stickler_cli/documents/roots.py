"""Find documents inside other JSON, at a key, dotted path or JSON Pointer that an option gives."""

from typing import TypeAlias

from stickler_cli.core.json_values import JsonValue, brief, kind_of
from stickler_cli.core.locations import json_pointer, parse_field_path, pointer_steps
from stickler_cli.core.problems import Problem, did_you_mean
from .document import Reference
from .reading import parse_json

Steps: TypeAlias = tuple[str, ...]  # keys, and list indexes as digits


def parse_root(text: str | None) -> Steps:
    """Parse a key, a dotted path or a JSON Pointer (RFC 6901) into steps.

    >>> parse_root("result"), parse_root("choices[0].message"), parse_root("/a/0")
    (('result',), ('choices', '0', 'message'), ('a', '0'))
    """
    if not text:
        return ()
    if text.startswith("/"):
        return pointer_steps(text)
    try:
        steps = parse_field_path(text)
    except ValueError:
        return (text,)
    return tuple(map(str, steps)) or (text,)


def root_text(steps: Steps) -> str:
    """Return a path as a user writes it in an option: `result` or `/choices/0/message`."""
    is_key = len(steps) == 1 and parse_root(steps[0]) == steps
    return steps[0] if is_key else json_pointer(steps)


def find_at(value: JsonValue, steps: Steps, option: str, place: Reference) -> JsonValue | Problem:
    """Return the value at a path inside a value; a problem if there is no such value.

    `steps` are the keys and list indexes of the path. If a value on the path is a text that
    contains JSON, the path continues inside this JSON. The path `a.b` also leads to a single key
    with the name `a.b`. `option` and `place` are named in messages.
    """
    dotted_key = ".".join(steps)
    for step in steps:
        value = read_inner_json(value)
        if isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, dict) and dotted_key in value:
            return value[dotted_key]
        else:
            return _missing_step(value, step, option, place)
    return value


def read_inner_json(value: JsonValue) -> JsonValue:
    """Return the object or list that a text contains as JSON; return any other value unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    inner = parse_json(value.encode("utf-8", "surrogatepass"), "")
    return value if isinstance(inner, Problem) else inner


def _missing_step(value: JsonValue, step: str, option: str, place: Reference) -> Problem:
    finding = f"the key {brief(step)} is missing"
    if not isinstance(value, dict | list):
        finding += f" in a value of type {kind_of(value)}"
    hint = did_you_mean(step, value) if isinstance(value, dict) else ""
    return Problem(
        source=place.source,
        found=finding,
        expected=f"a document at the path given by {option}",
        hint=hint,
        line=place.line,
    )
