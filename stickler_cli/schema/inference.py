"""How to compare what a schema leaves open; docs/inference.md has the rules.

An annotation lands where it has its effect: beside a reference rather than at its target, on an
array of leaves rather than on its items. A field that says how it is compared is left as it is.
"""

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.settings.allowed import Infer
from .annotating import Walker
from .choices import Inferred
from .located import PlaceKey
from .observation import Observed
from .places import TooManyPlacesError
from .references import SchemaFiles

__all__ = ["Inference", "Inferred", "infer"]


class Inference(NamedTuple):
    """What was inferred for a schema, and what it comes to."""

    schema: Any
    """A copy with a comparator, its config and a threshold for every leaf whose own annotations
    say nothing of these."""
    fields: tuple[Inferred, ...]
    """Every field in schema order, parents first. A part that is listed already, or is deep inside
    others, may be one entry, or come last."""
    choices: Mapping[PlaceKey, Inferred]
    """What was inferred, by the place of the schema that it was written to."""

    @property
    def annotations(self) -> dict[PlaceKey, JsonObject]:
        """What was inferred, as annotations."""
        return {key: choice.annotations() for key, choice in self.choices.items()}


def infer(  # noqa: PLR0913 - a keyword for each that `compile_schema` has, and one
    schema: JsonValue,
    source: str = "",
    file: FilePath | None = None,
    *,
    when: Infer = "always",
    seen: Observed | None = None,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
) -> Inference:
    """Annotate what a schema leaves open.

    Args:
        schema: as `compile_schema` takes it, and the rest too; it is not changed.
        source: its name for messages.
        file: where relative references start.
        when: `auto` leaves a schema as it is if a place that it describes has an annotation, and
            `never` any; then the fields say what it comes to.
        seen: documents of the schema, whose values say more than names.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: instances that the schema refers to by these names.

    Raises:
        SchemaError: the schema is too deep or describes too much. Anything else that is wrong
            with it is left for `compile_schema` to tell.
    """
    if not isinstance(schema, dict):
        return Inference(schema, (), {})
    names = Comparators(allow_plugins, comparators or {})
    try:
        annotated: JsonObject = _copied(schema)
        walker = Walker(
            SchemaFiles(annotated, source, file), names, seen, may_write=when != "never"
        )
        fields = walker.fields()
        if when == "auto" and walker.annotated:
            walker = Walker(SchemaFiles(annotated, source, file), names, seen, may_write=False)
            fields = walker.fields()
    except RecursionError:
        problem = Problem(source, "the schema is nested too deeply", "fewer levels", pointer="")
        raise SchemaError([problem]) from None
    except TooManyPlacesError as error:
        raise SchemaError([Problem(source, str(error), "fewer of them", pointer="")]) from None
    return Inference(annotated, fields, walker.written())


def _copied(value: JsonValue) -> Any:
    """Copy a schema; what was one object at two places becomes two."""
    if isinstance(value, list):
        return [_copied(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _copied(part) for key, part in value.items()}
