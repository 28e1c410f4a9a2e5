"""Where every schema stands, and by which identifiers it can be found.

A schema is known by identity: the same object is the same place, however one came to it.
"""

from dataclasses import field, replace
from urllib.parse import urljoin, urlsplit

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from stickler_cli.schema.dialects import Dialect, Schema, dialect_of, own_id, own_names, subschemas


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands, and how references in it are read."""

    source: str
    """The file, for messages."""
    uri: str
    """Of the document."""
    path: Path
    base: str
    """What relative references start from."""
    dialect: Dialect


RECURSIVE = ""
"""The name under which 2019-09 finds what `$recursiveRef` leads to."""


@dataclass(slots=True)
class Index:
    """The schemas of all documents read so far."""

    places: dict[int, Place] = field(default_factory=dict)
    """By identity of the schema."""
    resources: dict[str, JsonValue] = field(default_factory=dict)
    """By absolute URI: documents, and schemas with an `$id`."""
    names: dict[tuple[str, str], Schema] = field(default_factory=dict)
    """By URI of the resource and plain name."""
    dynamic: dict[str, list[str]] = field(default_factory=dict)
    """The names in a resource that a `$dynamicRef` may lead to from afar."""

    def at(self, schema: JsonValue) -> Place:
        """Return where a schema, or a document that is none, stands."""
        return self.places[id(schema)]

    def add(self, schema: Schema, place: Place) -> None:
        """Take in a schema and every schema in it; what is known already stays as it is."""
        waiting = [(schema, place)]
        while waiting:
            part, outer = waiting.pop()
            if id(part) not in self.places:
                here = self._enter(part, outer)
                for steps, inner in subschemas(part):
                    waiting.append((inner, replace(here, path=(*here.path, *steps))))

    def _enter(self, schema: Schema, outer: Place) -> Place:
        """Note one schema, and return the place with the base that holds inside it."""
        here = outer
        if "$schema" in schema:
            here = replace(here, dialect=dialect_of(schema, here.dialect))
        identifier = own_id(schema, here.dialect)
        if identifier is not None:
            here = replace(here, base=absolute(here.base, identifier))
            self.resources.setdefault(here.base, schema)
        for name in own_names(schema, here.dialect):
            self.names.setdefault((here.base, name), schema)
        movable = schema.get("$dynamicAnchor")
        if isinstance(movable, str) and "$dynamicAnchor" in here.dialect.anchors:
            self.dynamic.setdefault(here.base, []).append(movable)
        if schema.get("$recursiveAnchor") is True and "$recursiveRef" in here.dialect.references:
            self.dynamic.setdefault(here.base, []).append(RECURSIVE)
            self.names.setdefault((here.base, RECURSIVE), schema)
        self.places[id(schema)] = here
        return here


def absolute(base: str, reference: str) -> str:
    """Join a reference to its base; a base that holds no path, as a URN, leaves it as it is.

    >>> absolute("https://a.org/x/y.json", "../z.json"), absolute("urn:a", "#b")
    ('https://a.org/z.json', 'urn:a#b')
    """
    if reference.startswith("#"):
        return base.partition("#")[0] + reference
    return urljoin(base, reference) if is_uri(reference) and is_uri(base) else reference


def is_uri(text: str) -> bool:
    """Return whether a text can be taken apart as a URI or a relative reference.

    >>> is_uri("a/b#c"), is_uri("http://[")
    (True, False)
    """
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True
