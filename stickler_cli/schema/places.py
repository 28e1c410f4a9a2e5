"""Visit each place of the documents that a schema describes.

A *place* is where a value can be: the document itself, a field, an element of a list, or a value of
a map. Two modules use these visits. The compiler makes a node for each place, and inference lists
the fields.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.comparator_registry import Comparators
from stickler_cli.comparators.exact import StructuredModelComparator
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
"""Maximum number of places that a schema may describe. Real schemas describe hundreds. Source:
docs/schema.md."""

FEWER_PLACES: Final = "describe fewer fields, or use fewer combinations of anyOf, oneOf and allOf"
"""Advice for a schema that describes more than `MOST_PLACES` places."""

MOST_VISITS: Final = 10
"""Limits how often subschemas are visited: at most this number times `MOST_PLACES`. Only schemas
with unions inside unions can reach the limit."""


JSON_MEDIA_TYPE: Final = "application/json"

DEEPEST: Final = 12
"""Maximum number of objects inside each other that are processed recursively. Deeper objects are
processed later, so a long chain of references does not need a deep call stack. Pickling a plan does
not need a deep call stack either."""


class TooManyPlacesError(Exception):
    """A schema describes more fields and items than any real schema does (see `MOST_PLACES`)."""

    def __str__(self) -> str:
        return f"the schema describes more than {MOST_PLACES} fields and items"


@dataclass(frozen=True, slots=True)
class _Annotated:
    """A place with its annotations; base class of all places except unions."""

    in_force: InForce
    """The subschemas that apply to the place, including those that `allOf` and references lead
    to."""
    merged: Merged
    """The merged annotations of the place. If the place is an element of an array, they include the
    annotations that this array passes on to its elements. Objects inherit no annotations."""


@dataclass(frozen=True, slots=True)
class LeafPlace(_Annotated):
    """The place of a string, number, integer or boolean."""

    kind: str

    @property
    def name(self) -> str:
        """The kind of values in words, such as `a string`; used in messages."""
        return f"{'an' if self.kind == 'integer' else 'a'} {self.kind}"

    @property
    def members(self) -> Sequence[JsonValue]:
        """The values that an enum or const lists; empty if the schema lists none."""
        return listed_values(self.in_force) or ()

    @property
    def format(self) -> JsonValue:
        """The `format` of a string; None if none is stated."""
        return first(self.in_force, "format")

    @property
    def default(self) -> LeafDefault:
        """How values are compared if annotations do not state a comparison."""
        return leaf_default(self.kind, self.format, members=self.members)


@dataclass(frozen=True, slots=True)
class JsonTextPlace(_Annotated):
    """The place of a string whose text is JSON."""

    content: InForce
    """The schemas of the JSON value that is written as text; empty if it may have any type."""


@dataclass(frozen=True, slots=True)
class WholePlace(_Annotated):
    """The place of an array or object that is compared as one value, by one comparator."""

    name: ClassVar = "a value that one comparator compares as a whole"
    default: ClassVar = TEXT


@dataclass(frozen=True, slots=True)
class OpenPlace(_Annotated):
    """The place of a value that may have any type."""

    own_annotations: Merged
    """The annotations of the place itself, without those inherited from an array."""


@dataclass(frozen=True, slots=True)
class ArrayPlace(_Annotated):
    """The place of a list.

    If it has `positions`, it is a tuple: each position has its own schema.
    """

    positions: tuple[InForce, ...]
    elements: InForce
    """The schemas of the list's elements. For a tuple, these are the elements after its
    `positions`. Empty if these elements may have any type."""
    below: Merged
    """The annotations that the array passes on to its elements."""
    by_model: bool
    """Whether an annotation demands that the objects in the list are compared field by field."""


@dataclass(frozen=True, slots=True)
class ObjectPlace(_Annotated):
    """The place of an object. It is a map if keys that the schema does not declare are compared."""

    properties: Mapping[str, InForce]
    patterns: Mapping[str, InForce]
    other_keys: InForce | None
    """The schemas for values whose keys the schema does not declare. Empty if such values may have
    any type, or None if they are not compared."""
    by_model: bool
    """Whether an annotation demands that the object is compared field by field."""


@dataclass(frozen=True, slots=True)
class UnionPlace:
    """The place of a value for which the schema has several alternatives besides null."""

    branches: tuple[Branch, ...]


SinglePlace: TypeAlias = (
    LeafPlace | JsonTextPlace | WholePlace | OpenPlace | ArrayPlace | ObjectPlace
)
Place: TypeAlias = SinglePlace | UnionPlace

PlaceIdentity: TypeAlias = tuple[tuple[object, ...], str]
"""Identifies a place: the subschemas that apply to it, and the annotations that it inherits from an
array."""


def key_of(in_force: InForce, inherited: Merged) -> PlaceIdentity:
    """Return the key of the place with these subschemas and inherited annotations."""
    return tuple((id(source.schema), source.scope) for source in in_force), inherited.signature


class PlaceFinder:
    """Finds out what kind of place some subschemas describe.

    The annotations of each subschema are read only once.
    """

    def __init__(
        self, files: SchemaFiles, comparators: Comparators, report: DeadReferenceReporter
    ) -> None:
        """Take a schema and the comparators that it may name.

        `report` is called for each reference that leads nowhere.
        """
        self.files = files
        self._comparators = comparators
        self._report = report
        self._read: dict[int, AnnotationValues] = {}
        self._places = 0
        self._visits = 0

    def key(self, in_force: InForce, inherited: Merged) -> PlaceIdentity:
        """Return the identity of a place. Each of its subschemas counts as one visit.

        Raises:
            TooManyPlacesError: the schema describes too many combinations.
        """
        self._visits += len(in_force)
        if self._visits > MOST_VISITS * MOST_PLACES:
            raise TooManyPlacesError
        return key_of(in_force, inherited)

    def flat(self, in_force: InForce) -> InForce:
        """Return all subschemas that apply to a place, also those behind `allOf` and references."""
        return flatten(self.files, in_force, self._report)

    def merge(self, in_force: Iterable[Source], inherited: Merged = NOTHING_INHERITED) -> Merged:
        """Merge the annotations of subschemas with inherited annotations, and return the result.

        `in_force` must already include the subschemas behind `allOf` and references.
        """
        by_schema = []
        for source in in_force:
            key = id(source.schema)
            if key not in self._read:
                self._read[key] = read_annotations(source.schema)
            by_schema.append((source.schema, self._read[key]))
        return merge_annotations(tuple(by_schema), inherited)

    def find_place(self, in_force: InForce, inherited: Merged) -> Place:
        """Return the place that subschemas describe, and count it.

        `in_force` must already include the subschemas behind `allOf` and references. Call this once
        for each place.

        Raises:
            TooManyPlacesError: the schema describes too many places.
        """
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

        Its fields inherit no annotations from an array around it.
        """
        comparator = self._comparator(own_annotations)
        by_model = isinstance(comparator, StructuredModelComparator)
        if comparator is not None and "object" in comparator.takes and not by_model:
            return WholePlace(in_force, own_annotations)
        sources_by_name = properties(self.files, in_force)
        if len({id(sources[0].schema) for sources in sources_by_name.values()}) > MOST_PLACES:
            raise TooManyPlacesError  # before the properties are visited
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
        """Return the schemas for values whose keys the schema does not declare.

        Empty if such values may have any type, or None if they are not compared.
        """
        for keyword in CLOSED_BY:
            sources = find_schemas_under(self.files, in_force, keyword)
            if sources:
                return sources
        schemas = [source.schema for source in in_force]
        is_closed = any(schema.get(keyword) is False for schema in schemas for keyword in CLOSED_BY)
        declares_keys = any(keyword in schema for schema in schemas for keyword in DECLARING)
        if is_closed or declares_keys:
            return None
        return ()  # an object without any declared key is a map

    def _array(self, in_force: InForce, merged: Merged, own_annotations: Merged) -> Place:
        """Return the place of a list, a tuple, or an array that is compared as one value."""
        comparator = self._comparator(merged)
        if comparator is not None and "array" in comparator.takes:
            return WholePlace(in_force, merged)
        positions = positions_of(self.files, in_force)
        elements = elements_of(self.files, in_force)
        # A tuple does not pass its threshold on.
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
        """Return the comparator that annotations name.

        None if they name no comparator, or one that cannot be made.
        """
        if merged.comparator is None:
            return None
        try:
            return self._comparators.construct(merged.comparator, merged.config)
        except KeywordError:
            return None


def is_json_text(in_force: InForce) -> bool:
    """Return whether texts at a place contain JSON, according to the keyword `contentMediaType`."""
    media_type = first(in_force, "contentMediaType")
    if not isinstance(media_type, str):
        return False
    name = media_type.partition(";")[0].strip().lower()
    return name == JSON_MEDIA_TYPE or name.endswith("+json")


def _has_stated_comparison(merged: Merged) -> bool:
    return merged.chooses or merged.threshold is not None or merged.aliases is not None


class PlaceVisit(Protocol):
    """The circumstances of a visit of a place that can change its result.

    The result depends only on these circumstances and on the subschemas of the place.
    """

    @property
    def inherited(self) -> Merged:
        """The annotations that an outer array passes on to the place."""

    @property
    def key(self) -> Hashable:
        """Decides which visits of a place share one result: those with equal keys.

        Keys of two visits must differ if the visits may have different results.
        """


Came = TypeVar("Came", bound=PlaceVisit)
Made = TypeVar("Made")
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Visited(Generic[Came, Made]):
    """A visited place with the result of the visit."""

    visit: Came
    """The first visit of the place."""
    outcome: Made | None = None
    """The result for the place; None while it is being computed."""


class PlaceFold(ABC, Generic[Came, Made]):
    """Base class that computes a result for each place of a schema.

    Visits of one place share a result if their keys are equal.
    """

    def __init__(self, places: PlaceFinder) -> None:
        """Take the object that finds the places of a schema."""
        self._places = places
        self._visited_places: dict[Hashable, Visited[Came, Made]] = {}
        self._waiting: deque[Callable[[], object]] = deque()
        self._depth = 0

    @abstractmethod
    def _build(self, visited: Visited[Came, Made], place: Place) -> Made:
        """Visit the places inside a place, and return the result for the place."""

    @abstractmethod
    def _revisit(self, visited: Visited[Came, Made], in_force: InForce, visit: Came) -> Made:
        """Return the result for a place that was visited before.

        If the first visit has not ended yet, `visited.outcome` is None.
        """

    def _visit_place(self, in_force: InForce, visit: Came) -> Made:
        """Return the result for the place that subschemas describe."""
        return self._visit_flat(self._places.flat(in_force), visit)

    def _visit_flat(self, in_force: InForce, visit: Came) -> Made:
        """Return the result for the place that subschemas describe.

        `in_force` must already include the subschemas behind `allOf` and references.
        """
        key = self._places.key(in_force, visit.inherited), visit.key
        if key in self._visited_places:
            return self._revisit(self._visited_places[key], in_force, visit)
        visited = self._visited_places[key] = Visited(visit)
        visited.outcome = self._build(visited, self._places.find_place(in_force, visit.inherited))
        return visited.outcome

    def _enter_object(self, make: Callable[[], T], later: Callable[[], T]) -> T:
        """Call `make`, which computes the result for an object, and return that result.

        If too many nested objects are already being processed, postpone the call and return the
        result of `later` instead.
        """
        if self._depth == DEEPEST:
            return later()
        self._depth += 1
        inner = make()
        self._depth -= 1
        return inner

    def _finish(self) -> None:
        """Compute all results that `_enter_object` postponed."""
        while self._waiting:
            self._waiting.popleft()()
