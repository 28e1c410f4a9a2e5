"""All that a schema reaches through references, as far as the engine that judges documents goes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from .apart import APART
from .dialects import CLOSED_BY, LISTED, NAMED, ONE, subschemas, walk
from .files import LeadsNowhereError
from .judged_documents import Documents
from .located import Source
from .references import SchemaFiles

MOST_CHECKS: Final = 10_000
"""How often one value may be held against schemas that speak of it together. The engine asks a
definition anew each time that it is referred to. Source: docs/schema.md. Where definitions refer to
more than so many schemas, at any depth, they are judged apart from what refers to them."""

_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Keywords whose schemas are about the value itself, not about what is in it."""

_INSIDE: Final = frozenset({*ONE, *LISTED, *NAMED}) - {"$defs", "definitions"}
"""Those, and keywords whose schemas are about what is in it."""

_LEFT_OVER: Final = frozenset({CLOSED_BY[1], "unevaluatedItems"})
"""Keywords that ask what other schemas said of the value."""

_LOOKING_BACK: Final = _LEFT_OVER | {"$dynamicRef", "$recursiveRef"}
"""Those, and what leads where those that lead to it say."""

_BRANCHING: Final = _IN_PLACE | _LEFT_OVER | {"contains", "patternProperties"}
"""Keywords by which a value may be held against several schemas; without them, what contains itself
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
        self.documents = Documents(files.documents, self._renamed, self._apart)
        """All documents, once what is judged by has been followed."""

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
        """Find what is wrong with a schema but for where it leads."""
        if APART in part.schema:
            yield part, APART, LeadsNowhereError(f"{APART} is not for schemas", "a $ref")
        inner = self._inner(part)
        if self._own_checks(part) > MOST_CHECKS >= max(map(self._own_checks, inner)):
            found = f"a value would be held against more than {MOST_CHECKS} schemas here"
            yield part, "", LeadsNowhereError(found, "fewer alternatives in alternatives")

    def _own_checks(self, source: Source) -> int:
        """Return how many schemas a value is held against; one that leads back counts once."""
        return _counted(source, self._inner, self._checks, 1)

    def _all_checks(self, source: Source) -> int:
        """Return how many schemas a value and all inside it are held against, way by way."""
        leads_back = MOST_CHECKS + 1 if self._branches else 1
        return _counted(source, self._all_inner, self._in_depth, leads_back)

    def _inner(self, source: Source) -> list[Source]:
        """Return the schemas that speak about the same value."""
        return self._of(source, _IN_PLACE)

    def _all_inner(self, source: Source) -> list[Source]:
        """Return the schemas that speak about the same value or about what is in it."""
        return self._of(source, _INSIDE)

    def _of(self, source: Source, keywords: frozenset[str]) -> list[Source]:
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
    source: Source,
    inner: Callable[[Source], list[Source]],
    known: dict[int, int],
    leads_back: int,
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
