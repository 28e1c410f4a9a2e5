"""Infer annotations for all parts of a schema that have none, and list the fields of the schema.

The schema is copied, and its unions are rewritten. If the schema allows any type for a field, the
values that were observed there describe the field.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.comparator_registry import Comparators
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.schema.annotations import (
    states_comparison,
)
from stickler_cli.schema.dialects import PlaceKey, Schema, Source, walk
from stickler_cli.schema.places import (
    FEWER_PLACES,
    PlaceFinder,
    TooManyPlacesError,
)
from stickler_cli.schema.references import SchemaFiles
from stickler_cli.settings.deciding import BoxFormat, Infer
from .choices import (
    Inferred,
)
from .field_walker import FieldVisit, FieldWalker
from .observation import Observed
from .observed_schemas import schema_of_place
from .unions import RewrittenUnion, write_alternatives, write_lists


class Inference(NamedTuple):
    """A schema with inferred annotations, and its fields."""

    schema: Any
    """A copy of the schema with inferred annotations. Each leaf gets a comparator, its
    configuration and a threshold. A leaf that already has one of these three annotations is left as
    it is."""
    fields: tuple[Inferred, ...]
    """All fields in schema order, parents first. There are two exceptions: a part of the schema
    that is used several times may be listed once, and fields of a deeply nested part may come last.
    """
    choices: Mapping[PlaceKey, Inferred]
    """Maps the location of a schema to the comparison that was inferred there. The annotations of
    this comparison are written into the schema at this location."""
    is_inferred: bool = False
    """Whether comparisons are inferred for fields without annotations. If not, fields are only
    listed."""
    describes_more: bool = False
    """Whether the copy describes more than the original schema. This happens in two cases: observed
    values describe a field of any type, or a union of a value and a list became a list."""
    rewritten: tuple[RewrittenUnion, ...] = ()
    """The unions that were rewritten in the copy."""

    @property
    def annotations(self) -> dict[PlaceKey, JsonObject]:
        """Maps the location of a schema to the annotations that were inferred for it."""
        return {key: choice.annotations() for key, choice in self.choices.items()}


def infer(  # noqa: PLR0913 - a schema and its options
    schema: JsonValue,
    source: str = "",
    file: FilePath | None = None,
    *,
    when: Infer = "always",
    seen: Observed | None = None,
    allow_plugins: bool = False,
    comparators: Mapping[str, BaseComparator] | None = None,
    boxes: BoxFormat = "corners",
) -> Inference:
    """Infer annotations for the fields of a schema that does not say how to compare them.

    Args:
        schema: as `compile_schema` takes it, or any other JSON value; it is not changed.
        source: the schema's name in messages.
        file: the file that relative references start from.
        when: `always` infers all comparisons that annotations do not state. `auto` does so only if
            no annotation of a field states a comparison. `never` infers nothing. The fields are
            listed in any case.
        seen: values of documents of the schema, which are better evidence than names.
        allow_plugins: whether a comparator may be named as `package.module:Class`.
        comparators: a dict from the names that the schema uses to instances of comparators.
        boxes: how boxes are written if neither the schema nor the values show it.

    Raises:
        SchemaError: the schema is too deep or describes too much. All other problems are left to
            `compile_schema`.
    """
    if not isinstance(schema, dict):
        return Inference(schema, (), {})
    names = Comparators(allow_plugins, comparators or {}, boxes)
    if seen is not None:
        seen.settle()

    request = _Request(schema, source, file, names, seen, writes_alternatives=when != "never")
    try:
        marked = when == "auto" and any(
            states_comparison(subschema) for _, subschema in walk(schema)
        )
        may_write = when != "never" and not marked
        walked = request.walk(may_write=may_write)
        if when == "auto" and walked.walker.annotated is may_write:
            # The only annotations are in other files, or in parts that are not used.
            may_write = not may_write
            walked = request.walk(may_write=may_write)
    except RecursionError:
        problem = Problem(
            source=source,
            found="the schema is nested too deeply",
            expected="fewer levels",
            pointer="",
        )
        raise SchemaError([problem]) from None
    except TooManyPlacesError as error:
        raise SchemaError(
            [
                Problem(
                    source=source,
                    found=str(error),
                    hint=FEWER_PLACES,
                    pointer="",
                )
            ]
        ) from None
    choices = walked.walker.write_choices()
    return Inference(
        schema=walked.schema,
        fields=walked.fields,
        choices=choices,
        is_inferred=may_write,
        describes_more=walked.describes_more,
        rewritten=walked.rewritten,
    )


class _WalkedSchema(NamedTuple):
    """A copy of a schema, and the object that walked over it.

    The unions in the copy are rewritten.
    """

    schema: JsonObject
    walker: FieldWalker
    fields: tuple[Inferred, ...]
    rewritten: tuple[RewrittenUnion, ...]
    describes_more: bool
    """Whether the copy describes more than the original schema, as in `Inference`."""


class _Request(NamedTuple):
    """The input of an inference: the schema, the options, and values observed in its documents."""

    schema: JsonObject
    source: str
    file: FilePath | None
    comparators: Comparators
    seen: Observed | None
    writes_alternatives: bool

    def walk(self, *, may_write: bool) -> _WalkedSchema:
        """Walk over a copy of the schema.

        Observed values may show that the texts of a field contain JSON. If the schema allows any
        type for a field, they may show its real type. Schemas for these values are then added to
        the copy, and the walk is repeated.
        """
        copy: JsonObject = _copied(self.schema)
        lists: list[RewrittenUnion] = []
        if may_write:
            lists = write_lists(copy, lambda: self._places(copy))
        arms, alternatives = write_alternatives(copy) if self.writes_alternatives else ([], [])
        walker = self._walker(copy, arms, may_write=may_write)
        fields = walker.list_fields()
        is_filled = (
            may_write and self.seen is not None and _fill(copy, walker.open_places, self.seen)
        )
        if walker.write_contents() or is_filled:
            walker = self._walker(copy, arms, may_write=may_write)
            fields = walker.list_fields()
        return _WalkedSchema(
            schema=copy,
            walker=walker,
            fields=fields,
            rewritten=(*lists, *alternatives) if may_write else (),
            describes_more=is_filled or bool(lists),
        )

    def _places(self, schema: JsonObject) -> tuple[PlaceFinder, Source]:
        files = SchemaFiles(schema, self.source, self.file)
        return PlaceFinder(files, self.comparators, lambda *_: None), files.root

    def _walker(
        self, schema: JsonObject, arms: Sequence[Schema], *, may_write: bool
    ) -> FieldWalker:
        files = SchemaFiles(schema, self.source, self.file)
        walker = FieldWalker(files, self.comparators, self.seen, may_write=may_write)
        walker.written_arms = {*map(id, arms)}
        return walker


def _fill(schema: Schema, places: Sequence[FieldVisit], seen: Observed) -> bool:
    """Describe fields of any type by their observed values.

    Return whether any could be described.

    Without a description, texts in these fields would be compared by edit distance.
    """
    own_ids = {id(subschema) for _, subschema in walk(schema)}
    is_filled = False
    for visit in places:
        place = seen.find_place_of(visit.path, visit.depth) if id(visit.holder) in own_ids else None
        described = {} if place is None else schema_of_place(place, visit.name)
        if described.keys() - visit.holder.keys():
            visit.holder.update({**described, **visit.holder})
            is_filled = True
    return is_filled


def _copied(value: JsonValue) -> Any:
    """Return a deep copy of a schema.

    An object that is used at two positions is copied twice.
    """
    if isinstance(value, list):
        return [_copied(child) for child in value]
    if not isinstance(value, dict):
        return value
    return {key: _copied(child) for key, child in value.items()}
