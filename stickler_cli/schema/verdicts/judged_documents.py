"""The documents that a schema reaches through references, as the engine judges by them.

The engine judges by a definition anew for each way that leads to it. Where there are many ways, it
asks back here instead (`Apart`), so that a verdict takes at most schema times document.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial, reduce
from hashlib import blake2b, sha256
from operator import getitem
from threading import RLock
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from stickler_cli.schema.dialects import (
    CLOSED_BY,
    LISTED,
    NAMED,
    ONE,
    Dialect,
    Schema,
    Source,
    subschemas,
    walk,
)
from stickler_cli.schema.references import LeadsNowhereError, SchemaFiles
from .judging import Error, Formats, Registry, Validator, build, is_valid, registry_of

T = TypeVar("T")

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
        self.keywords: dict[str, type[_Keyword]] = {APART: type("_", (_Keyword,), {"apart": self})}
        """For the engine."""

    def settled(self, ask: Callable[[], T]) -> T:
        """Return the engine's answer to a question, once all that it put off is judged."""
        questions: list[Callable[[], Any]] = [ask]
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            while True:
                try:
                    found = questions[-1]()
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
                    answer: T = found
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

    apart: Apart

    def __init__(self, _schema: object, value: object, _path: object) -> None:
        self._reference = str(value)

    def validate(self, instance: JsonValue) -> None:
        """Raise a ValueError if a value is not valid."""
        if not self.apart.accepts(self._reference, instance):
            raise ValueError(self._reference)


class JudgedDocuments:
    """All documents of a schema, shared by all parts that values are judged by."""

    def __init__(
        self,
        by_uri: Mapping[str, tuple[JsonValue, Dialect]],
        renamed: Mapping[int, str],
        apart: Mapping[int, str],
    ) -> None:
        """Take documents, which may grow until the first question, with their dialects.

        They go by the URI that they give themselves; `renamed` has what a `$ref` in them is
        instead, by identity of its schema, and `apart` to what one leads that is judged apart.
        """
        self._by_uri = by_uri
        self._renamed = renamed
        self._apart = apart
        self._parts: dict[tuple[type[JudgedPart], str], JudgedPart] = {}
        self._apart_by_kind: dict[type[JudgedPart], Apart] = {}
        self.looks_back = False
        """Whether a schema's meaning may depend on its references; nothing is apart then."""

    def __reduce__(self) -> tuple[Any, ...]:
        by_uri = {uri: (each, self._by_uri[uri][1]) for uri, each in self.contents.items()}
        return JudgedDocuments, (by_uri, {}, {})

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, JudgedDocuments) and self._digest == other._digest
        return self is other or same

    __hash__ = None  # type: ignore[assignment] # it grows while a plan is compiled

    @property
    def are_bounded(self) -> bool:
        """Whether verdicts take time in proportion to the values, as far as is known here."""
        return not (self.looks_back and self._apart)

    @cached_property
    def contents(self) -> dict[str, JsonValue]:
        """The documents as the engine takes them; a `$schema` of the user's own is replaced."""
        apart = {} if self.looks_back else self._apart

        def taken(value: JsonValue, dialect: Dialect) -> JsonValue:
            if isinstance(value, list):
                return [taken(part, dialect) for part in value]
            if not isinstance(value, dict):
                return value
            copied = {name: taken(part, dialect) for name, part in value.items()}
            own, target = self._renamed.get(id(value)), apart.get(id(value))
            if target is not None:
                # What is void beside a `$ref` must be so beside this, too.
                kept = ("$defs", "definitions") if dialect.alone else copied.keys() - {"$ref"}
                return {**{name: copied[name] for name in kept if name in copied}, APART: target}
            return copied if own is None else {**copied, "$ref": own}

        return {
            uri: {**document, "$schema": dialect.uri} if isinstance(document, dict) else document
            for uri, (contents, dialect) in self._by_uri.items()
            for document in [taken(contents, dialect) if self._renamed or apart else contents]
        }

    def part(self, kind: "type[JudgedPart]", reference: str) -> "JudgedPart":
        """Return a part of the documents to judge by, the same object each time."""
        if (kind, reference) not in self._parts:
            _, dialect = self._by_uri[reference.partition("#")[0]]
            self._parts[kind, reference] = kind(reference, dialect, self)
        return self._parts[kind, reference]

    def apart(self, kind: "type[JudgedPart]") -> Apart:
        """Return the judge for all parts of a kind that are apart from their references."""

        def accepts(reference: str, value: JsonValue) -> bool:
            return is_valid(self.part(kind, reference).validator, value)

        return self._apart_by_kind.setdefault(kind, Apart(accepts))

    @cached_property
    def _digest(self) -> str:
        """A plan holds many acceptors, and documents may be large."""
        return sha256(repr(self.contents).encode()).hexdigest()

    @cached_property
    def registry(self) -> Registry:
        """The documents for the engine, which may refuse them with an EngineError."""
        return registry_of(self.contents)


_Found: TypeAlias = tuple[Error, Path, Path]


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
    def _apart(self) -> Apart:
        return self.documents.apart(type(self))

    @cached_property
    def validator(self) -> Validator:
        """The validator of the schema, built when first asked for; see `build`."""
        registry = self.documents.registry
        # As the whole document it is known to be the outermost, which `$recursiveRef` looks for.
        base = self.reference.removesuffix("#")
        whole = self.documents.contents.get(base)
        schema: Schema = whole if isinstance(whole, dict) else {"$ref": self.reference}
        return build(
            schema,
            self.dialect,
            registry=registry,
            base=base,
            formats=self.formats,
            keywords=self._apart.keywords,
        )

    def is_valid(self, value: JsonValue) -> bool:
        """Return whether a value is valid, as the function of that name does."""
        return self._apart.settled(lambda: is_valid(self.validator, value))

    def errors(self, document: JsonDocument) -> Iterator[_Found]:
        """Yield the errors of a document, each with its path in the schema and in the document.

        Raises:
            ValueError: it holds what the engine cannot name.
        """

        def found(part: JudgedPart, value: JsonValue, *above: Path) -> list[_Found]:
            errors = self._apart.settled(lambda: list(part.validator.iter_errors(value)))
            return [
                (each, (*above[0], *each.evaluation_path), (*above[1], *each.instance_path))
                for each in reversed(errors)
            ]

        waiting, told = found(self, document, (), ()), set()
        while waiting:
            error, steps, place = waiting.pop()
            if error.kind.name == APART:  # its message is the reference
                if (error.message, place) in told:
                    continue
                told.add((error.message, place))
                value: Any = reduce(getitem, place, document)  # type: ignore[arg-type]
                waiting += found(
                    self.documents.part(type(self), error.message), value, steps, place
                )
            else:
                yield error, steps, place


MOST_CHECKS: Final = 10_000
"""How often one value may be held against schemas that speak of it together. The engine asks a
definition anew each time that it is referred to. Source: docs/schema.md. Where definitions refer to
more than so many schemas, at any depth, they are judged apart from what refers to them."""

_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Keywords whose schemas are about the value itself, not about its parts."""

_INSIDE: Final = frozenset({*ONE, *LISTED, *NAMED}) - {"$defs", "definitions"}
"""Those, and keywords whose schemas are about its parts."""

_LEFT_OVER: Final = frozenset({CLOSED_BY[1], "unevaluatedItems"})
"""Keywords that depend on other schemas of the value."""

_LOOKING_BACK: Final = _LEFT_OVER | {"$dynamicRef", "$recursiveRef"}
"""Those, and references whose target depends on the schemas around them."""

_BRANCHING: Final = _IN_PLACE | _LEFT_OVER | {"contains", "patternProperties"}
"""Keywords by which a value may be held against several schemas; without them, a recursive schema
is judged in time."""


class Reach:
    """Follows every reference, so that all documents are there when the engine is built."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._followed: set[int] = set()
        self._checks: dict[int, int] = {}
        self._in_depth: dict[int, int] = {}
        self._branches = False
        self._renamed: dict[int, str] = {}
        self._apart: dict[int, str] = {}
        self.documents = JudgedDocuments(files.documents, self._renamed, self._apart)
        """All documents, once references have been followed."""

    def problems(self, source: Source) -> Iterator[tuple[Source, str, LeadsNowhereError]]:
        """Find where a schema cannot be judged by: the place, the keyword there, and why."""
        waiting, referring = [source], []
        while waiting:
            outer = waiting.pop()
            if id(outer.schema) in self._followed:
                continue
            for _, schema in walk(outer.schema):
                self._followed.add(id(schema))
                part = self._files.inside(outer, schema)
                self._branches |= not schema.keys().isdisjoint(_BRANCHING)
                self.documents.looks_back |= not schema.keys().isdisjoint(_LOOKING_BACK)
                for keyword in self._files.references_of(schema):
                    try:
                        target = self._files.follow(part, keyword)
                        own = self._files.own_uri(part, keyword)
                    except LeadsNowhereError as error:
                        yield part, keyword, error
                    else:
                        waiting.append(target)
                        referring.append((schema, target))
                        self._renamed |= {} if own is None else {id(schema): own}
                yield from self._problems_of(part)
        for schema, target in referring:
            if self._all_checks(target) > MOST_CHECKS:
                self._apart[id(schema)] = self._files.uri_of(target.schema)

    def _problems_of(self, part: Source) -> Iterator[tuple[Source, str, LeadsNowhereError]]:
        """Find the problems of a schema but for those of its references."""
        if APART in part.schema:
            yield part, APART, LeadsNowhereError(f"{APART} is not for schemas", "a $ref")
        inner = self._of(part, _IN_PLACE)
        if self._own_checks(part) > MOST_CHECKS >= max(map(self._own_checks, inner)):
            found = f"a value would be held against more than {MOST_CHECKS} schemas here"
            yield part, "", LeadsNowhereError(found, "fewer alternatives in alternatives")

    def _own_checks(self, source: Source) -> int:
        """Return how many schemas a value is held against; one that leads back counts once."""
        return _counted(source, partial(self._of, keywords=_IN_PLACE), self._checks, 1)

    def _all_checks(self, source: Source) -> int:
        """Return how many schemas a value and all inside it are held against, way by way."""
        leads_back = MOST_CHECKS + 1 if self._branches else 1
        inside = partial(self._of, keywords=_INSIDE)
        return _counted(source, inside, self._in_depth, leads_back)

    def _of(self, source: Source, keywords: frozenset[str]) -> list[Source]:
        """Return the schemas that some keywords of a schema hold, and those that it refers to."""
        inner = [
            self._files.inside(source, schema)
            for steps, schema in subschemas(source.schema)
            if steps[0] in keywords
        ]
        for keyword in self._files.references_of(source.schema):
            with suppress(LeadsNowhereError):  # it has been told of
                inner.append(self._files.follow(source, keyword))
        return inner


def _counted(
    source: Source, inner: Callable[[Source], list[Source]], known: dict[int, int], leads_back: int
) -> int:
    """Count a schema and all inside, each as often as it is reached, up to `MOST_CHECKS` and one.

    One that leads back to a schema around it counts as `leads_back` says.
    """
    waiting = [(source, False)]
    while waiting:
        part, entered = waiting.pop()
        key = id(part.schema)
        if entered:
            found = sum(known[id(each.schema)] for each in inner(part))
            known[key] = min(1 + found, MOST_CHECKS + 1)
        elif key not in known:
            known[key] = leads_back
            waiting.append((part, True))
            waiting += ((each, False) for each in inner(part))
    return known[id(source.schema)]
