"""All that a schema reaches through references, as far as the engine that judges documents goes."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from .dialects import subschemas, walk
from .files import LeadsNowhereError
from .judging import Documents
from .located import Source
from .references import SchemaFiles

MOST_CHECKS: Final = 10_000
"""How often one value may be held against schemas that speak of it together. The engine asks a
definition anew each time that it is referred to. Source: docs/schema.md."""

_IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Keywords whose schemas are about the value itself, not about what is in it."""


class Reach:
    """Follows every reference, so that all documents are there when the engine is built."""

    def __init__(self, files: SchemaFiles) -> None:
        self._files = files
        self._followed: set[int] = set()
        self._checks: dict[int, int] = {}
        self._renamed: dict[int, str] = {}
        self.documents = Documents(files.documents, self._renamed)
        """All documents, once what is judged by has been followed."""

    def problems(self, source: Source) -> Iterator[tuple[Source, str, LeadsNowhereError]]:
        """Find where a schema cannot be judged by: the place, the keyword there, and why."""
        waiting = [source]
        while waiting:
            outer = waiting.pop()
            if id(outer.schema) in self._followed:
                continue
            for _, schema in walk(outer.schema):
                self._followed.add(id(schema))
                part = self._files.inside(outer, schema)
                for keyword in self._files.references_of(schema):
                    try:
                        waiting.append(self._files.follow(part, keyword))
                        own = self._files.own_uri(part, keyword)
                    except LeadsNowhereError as error:
                        yield part, keyword, error
                    else:
                        self._renamed |= {} if own is None else {id(schema): own}
                if self._count(part) > MOST_CHECKS >= max(map(self._count, self._inner(part))):
                    found = f"a value would be held against more than {MOST_CHECKS} schemas here"
                    yield part, "", LeadsNowhereError(found, "fewer alternatives in alternatives")

    def _count(self, source: Source) -> int:
        """Return how many schemas a value is held against; one that leads back counts once."""
        waiting = [(source, False)]
        while waiting:
            part, entered = waiting.pop()
            key = id(part.schema)
            if entered:
                inner = sum(self._checks[id(each.schema)] for each in self._inner(part))
                self._checks[key] = min(1 + inner, MOST_CHECKS + 1)
            elif key not in self._checks:
                self._checks[key] = 1
                waiting.append((part, True))
                waiting += ((inner, False) for inner in self._inner(part))
        return self._checks[id(source.schema)]

    def _inner(self, source: Source) -> list[Source]:
        """Return the schemas that speak about the same value."""
        inner = [
            self._files.inside(source, schema)
            for steps, schema in subschemas(source.schema)
            if steps[0] in _IN_PLACE
        ]
        for keyword in self._files.references_of(source.schema):
            with suppress(LeadsNowhereError):  # it has been told of
                inner.append(self._files.follow(source, keyword))
        return inner
