"""The one walk over a schema, place by place of the documents that it describes.

The compiler folds it to nodes, inference to fields.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.exact import StructuredModelComparator
from stickler_cli.comparators.registry import Comparators
from stickler_cli.core.json_values import JsonValue
from .annotations import (
    BY_TYPE,
    NOTHING_INHERITED,
    TEXT,
    AnnotationValues,
    LeafDefault,
    Merged,
    leaf_default,
    merge_annotations,
    read_annotations,
)
from .combinators import (
    DECLARING,
    Branch,
    DeadReferenceReporter,
    InForce,
    branches_of,
    elements_of,
    find_schemas_under,
    first,
    flatten,
    kinds_of,
    listed_values,
    positions_of,
    properties,
)
from .dialects import CLOSED_BY, Source
from .references import SchemaFiles

MOST_PLACES: Final = 50_000
"""How many places a schema may describe; real ones have hundreds. Source: docs/schema.md."""

MOST_VISITS: Final = 10
"""Subschemas for each of those places; more are combinations of combinations."""


JSON_MEDIA_TYPE: Final = "application/json"

DEEPEST: Final = 12
"""Levels of objects that a fold makes inside one another; deeper ones wait for their turn, so
that a long chain of references needs no deep stack, neither here nor where a plan is pickled."""


class TooManyPlacesError(Exception):
    """A schema whose combinations are more than anyone can mean."""

    def __str__(self) -> str:
        return f"the schema describes more than {MOST_PLACES} places"


@dataclass(frozen=True, slots=True)
class _Annotated:
    """One place that is no union."""

    in_force: InForce
    """Flattened."""
    merged: Merged
    """Its annotations; those of leaves and arrays below those of an array around them."""


@dataclass(frozen=True, slots=True)
class LeafPlace(_Annotated):
    """A string, number, integer or boolean."""

    kind: str

    @property
    def name(self) -> str:
        """Its kind, for messages."""
        return f"{'an' if self.kind == 'integer' else 'a'} {self.kind}"

    @property
    def members(self) -> Sequence[JsonValue]:
        """The values that the schema lists; none where any may stand there."""
        return listed_values(self.in_force) or ()

    @property
    def format(self) -> JsonValue:
        """The `format` of a string; None without one."""
        return first(self.in_force, "format")

    @property
    def default(self) -> LeafDefault:
        """How it is compared where no annotation says so."""
        return leaf_default(self.kind, self.format, members=self.members)


@dataclass(frozen=True, slots=True)
class JsonTextPlace(_Annotated):
    """A string that holds JSON."""

    content: InForce
    """Schemas of the value in it; empty for a value of any kind."""


@dataclass(frozen=True, slots=True)
class WholePlace(_Annotated):
    """An array or object that its comparator takes as one value."""

    name: ClassVar = "a value that its comparator takes whole"
    default: ClassVar = TEXT


@dataclass(frozen=True, slots=True)
class OpenPlace(_Annotated):
    """A place whose values may be of any kind."""

    own_annotations: Merged
    """Its annotations alone."""


@dataclass(frozen=True, slots=True)
class ArrayPlace(_Annotated):
    """A list, or a tuple where it has positions."""

    positions: tuple[InForce, ...]
    elements: InForce
    """Schemas of elements, after the positions of a tuple; empty for elements of any kind."""
    below: Merged
    """Annotations for its elements."""
    by_model: bool
    """Whether a comparator asks for objects to be compared field by field."""


@dataclass(frozen=True, slots=True)
class ObjectPlace(_Annotated):
    """An object, or a map where keys may be fields that nothing names."""

    properties: Mapping[str, InForce]
    patterns: Mapping[str, InForce]
    other_keys: InForce | None
    """Schemas of undeclared keys: empty for values of any kind, None without such keys."""
    by_model: bool
    """Whether a comparator asks for just that, to be compared field by field."""


@dataclass(frozen=True, slots=True)
class UnionPlace:
    """A place where one of several alternatives stands, none of them null."""

    branches: tuple[Branch, ...]


SinglePlace: TypeAlias = (
    LeafPlace | JsonTextPlace | WholePlace | OpenPlace | ArrayPlace | ObjectPlace
)
Place: TypeAlias = SinglePlace | UnionPlace

PlaceIdentity: TypeAlias = tuple[tuple[object, ...], str]
"""Identity of a place: the subschemas in force, and the annotations that they inherit."""


def key_of(in_force: InForce, inherited: Merged) -> PlaceIdentity:
    """Return the key that is equal for two places that are one."""
    return tuple((id(source.schema), source.scope) for source in in_force), inherited.signature


class PlaceFinder:
    """Finds the kind of each place. Each schema's annotations are read once."""

    def __init__(
        self, files: SchemaFiles, comparators: Comparators, report: DeadReferenceReporter
    ) -> None:
        """Take a schema, the comparators that it may name, and who hears of dead references."""
        self.files = files
        self._comparators = comparators
        self._report = report
        self._read: dict[int, AnnotationValues] = {}
        self._places = 0
        self._visits = 0

    def key(self, in_force: InForce, inherited: Merged) -> PlaceIdentity:
        """Return `key_of` a place; raise TooManyPlacesError if it is asked too often."""
        self._visits += len(in_force)
        if self._visits > MOST_VISITS * MOST_PLACES:
            raise TooManyPlacesError
        return key_of(in_force, inherited)

    def flat(self, in_force: InForce) -> InForce:
        """Return all subschemas in force, through `allOf` and references."""
        return flatten(self.files, in_force, self._report)

    def merge(self, in_force: Iterable[Source], inherited: Merged = NOTHING_INHERITED) -> Merged:
        """Return the annotations of flattened subschemas, merged with inherited ones."""
        by_schema = []
        for source in in_force:
            key = id(source.schema)
            if key not in self._read:
                self._read[key] = read_annotations(source.schema)
            by_schema.append((source.schema, self._read[key]))
        return merge_annotations(tuple(by_schema), inherited)

    def find_place(self, in_force: InForce, inherited: Merged) -> Place:
        """Return the place where flattened subschemas are in force; each is asked for once."""
        self._places += 1
        if self._places > MOST_PLACES:
            raise TooManyPlacesError
        branches = branches_of(self.files, in_force, self._report)
        if branches:
            return UnionPlace(branches)
        kinds = kinds_of(self.files, in_force)
        if len(kinds) > 1:
            winner, derive = in_force[0], self.files.derive
            typed = [(derive(winner, f"type {kind}", {"type": kind}), kind) for kind in kinds]
            return UnionPlace(
                tuple(Branch((typed_source, *in_force), None, kind) for typed_source, kind in typed)
            )
        own_annotations = self.merge(in_force)
        merged = (
            own_annotations if inherited is NOTHING_INHERITED else self.merge(in_force, inherited)
        )
        match kinds[0]:
            case "object":
                return self._object(in_force, own_annotations)
            case "array":
                return self._array(in_force, merged, own_annotations)
            case kind if kind in BY_TYPE:
                return self._scalar(in_force, merged, kind)
            case _:
                return OpenPlace(in_force, merged, own_annotations)

    def _scalar(self, in_force: InForce, merged: Merged, kind: str) -> Place:
        if kind == "string" and is_json_text(in_force) and not _has_stated_comparison(merged):
            content = find_schemas_under(self.files, in_force, "contentSchema")
            return JsonTextPlace(in_force, merged, content)
        return LeafPlace(in_force, merged, kind)

    def _object(self, in_force: InForce, own_annotations: Merged) -> Place:
        """Return the place of an object.

        Annotations that an array passes on to leaves do not apply to the fields of the object.
        """
        comparator = self._comparator(own_annotations)
        by_model = isinstance(comparator, StructuredModelComparator)
        if comparator is not None and "object" in comparator.takes and not by_model:
            return WholePlace(in_force, own_annotations)
        sources_by_name = properties(self.files, in_force)
        if len({id(sources[0].schema) for sources in sources_by_name.values()}) > MOST_PLACES:
            raise TooManyPlacesError  # before each of them is looked at
        patterns = properties(self.files, in_force, "patternProperties")
        other_keys = self._find_other_keys(in_force)
        return ObjectPlace(
            in_force=in_force,
            merged=own_annotations,
            properties=sources_by_name,
            patterns=patterns,
            other_keys=other_keys,
            by_model=by_model,
        )

    def _find_other_keys(self, in_force: InForce) -> InForce | None:
        for keyword in CLOSED_BY:
            sources = find_schemas_under(self.files, in_force, keyword)
            if sources:
                return sources
        schemas = [schema.schema for schema in in_force]
        is_closed = any(schema.get(keyword) is False for schema in schemas for keyword in CLOSED_BY)
        declares = any(keyword in schema for schema in schemas for keyword in DECLARING)
        return None if is_closed or declares else ()

    def _array(self, in_force: InForce, merged: Merged, own_annotations: Merged) -> Place:
        comparator = self._comparator(merged)
        if comparator is not None and "array" in comparator.takes:
            return WholePlace(in_force, merged)
        positions = positions_of(self.files, in_force)
        elements = elements_of(self.files, in_force)
        # A tuple keeps its threshold to itself.
        below = merged.below(None if positions else own_annotations.threshold)
        by_model = isinstance(comparator, StructuredModelComparator)
        return ArrayPlace(
            in_force=in_force,
            merged=merged,
            positions=positions,
            elements=elements,
            below=below,
            by_model=by_model,
        )

    def _comparator(self, merged: Merged) -> BaseComparator | None:
        """Return the comparator that annotations name; None without one that can be made."""
        if merged.comparator is None:
            return None
        try:
            return self._comparators.construct(merged.comparator, merged.config)
        except KeywordError:
            return None


def is_json_text(in_force: InForce) -> bool:
    """Return whether texts at a place are JSON, by their `contentMediaType`."""
    media_type = first(in_force, "contentMediaType")
    if not isinstance(media_type, str):
        return False
    name = media_type.partition(";")[0].strip().lower()
    return name == JSON_MEDIA_TYPE or name.endswith("+json")


def _has_stated_comparison(merged: Merged) -> bool:
    return merged.chooses or merged.threshold is not None or merged.aliases is not None


class PlaceVisit(Protocol):
    """How a fold came to a place."""

    @property
    def inherited(self) -> Merged:
        """The annotations that an array around the place says."""

    @property
    def key(self) -> Hashable:
        """Distinguishes ways to one place that may lead to different results."""


Came = TypeVar("Came", bound=PlaceVisit)
Made = TypeVar("Made")
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Visited(Generic[Came, Made]):
    """A place that a fold has met."""

    visit: Came
    """The first one there."""
    outcome: Made | None = None
    """None while it is being made."""


class PlaceFold(ABC, Generic[Came, Made]):
    """Makes something of each place of a schema, once for all ways there that are alike."""

    def __init__(self, places: PlaceFinder) -> None:
        """Take the walk over a schema."""
        self._places = places
        self._visited_places: dict[Hashable, Visited[Came, Made]] = {}
        self._waiting: deque[Callable[[], object]] = deque()
        self._depth = 0

    @abstractmethod
    def _build(self, visited: Visited[Came, Made], place: Place) -> Made:
        """Return the result for a place; those inside it are made first."""

    @abstractmethod
    def _revisit(self, visited: Visited[Came, Made], in_force: InForce, visit: Came) -> Made:
        """Return the result for a place that was met before, or is being made further up."""

    def _visit_place(self, in_force: InForce, visit: Came) -> Made:
        """Return the result for the place at which subschemas are in force."""
        return self._visit_flat(self._places.flat(in_force), visit)

    def _visit_flat(self, in_force: InForce, visit: Came) -> Made:
        """Return the result for flattened subschemas."""
        key = self._places.key(in_force, visit.inherited), visit.key
        if key in self._visited_places:
            return self._revisit(self._visited_places[key], in_force, visit)
        visited = self._visited_places[key] = Visited(visit)
        visited.outcome = self._build(visited, self._places.find_place(in_force, visit.inherited))
        return visited.outcome

    def _enter_object(self, make: Callable[[], T], later: Callable[[], T]) -> T:
        """Make the inside of an object; deep inside others call `later`, which puts it off."""
        if self._depth == DEEPEST:
            return later()
        self._depth += 1
        inner = make()
        self._depth -= 1
        return inner

    def _finish(self) -> None:
        """Make all that was put off."""
        while self._waiting:
            self._waiting.popleft()()
