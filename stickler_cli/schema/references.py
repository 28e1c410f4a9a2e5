"""Follow `$ref` in all its forms: inside the schema, by `$id` and anchor, and to other files.

The network is never asked. Not by `referencing`, which takes 0.05 s to load and gives new objects
each time a file is asked for: by its identity a schema is compiled once and a recursion ends.
"""

import codecs
import os
import posixpath
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import getitem
from pathlib import Path as FilePath
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

import orjson

from stickler_cli.core.json_values import JsonObject, JsonValue, kind_of
from stickler_cli.core.locations import json_pointer, pointer_steps
from stickler_cli.core.problems import did_you_mean
from .dialects import (
    SUPPORTED,
    TOO_OLD,
    Dialect,
    PlaceKey,
    Schema,
    SchemaPlace,
    Scope,
    Source,
    dialect_of,
    named_dialect,
    own_id,
    own_names,
    subschemas,
)


class LeadsNowhereError(Exception):
    """A reference that cannot be followed."""

    def __init__(self, found: str, expected: str, hint: str = "") -> None:
        super().__init__(found, expected, hint)
        self.found = found
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True, slots=True)
class ReferenceOrigin:
    """A document that references start from."""

    file: FilePath | None
    """Where it is on disk; None for a schema in memory."""
    identifier: str
    """The absolute URI that it gives itself, else that of its file."""


def find_file(uri: str, origin: ReferenceOrigin) -> FilePath:
    """Return the file that an absolute URI means as seen from a document, or raise an error.

    Other than by a `file:` URI that is the one which stands to the document's own file as the URI
    stands to the document's `$id`.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise LeadsNowhereError(f"{uri} is no URI", "a reference to a schema") from None
    if not parts.scheme and origin.file is None:
        found = f"{uri} is relative, and the schema has no file"
        raise LeadsNowhereError(found, "a reference inside the schema")
    candidates = []
    if parts.scheme == "file":
        path = unquote(parts.path)
        candidates.append(FilePath(path.removeprefix("/") if os.name == "nt" else path))
    beside = _relative(uri, origin.identifier)
    if origin.file is not None and beside:
        candidates.append(FilePath(posixpath.normpath(origin.file.parent / beside)))
    for candidate in candidates:
        with suppress(OSError):  # too long a name, a folder not to be looked into
            if candidate.is_file():
                return candidate
    if parts.scheme in {"file", ""}:
        raise LeadsNowhereError(f"there is no file {shown_file(candidates[0])}", "an existing file")
    copy = "keep a copy beside the schema and refer to it by its relative path"
    if candidates:
        copy = f"keep a copy as {shown_file(candidates[0])}"
    found = f"{uri} is on the network, which is never asked"
    raise LeadsNowhereError(found, "a reference inside the schema or to a file", copy)


def _relative(uri: str, identifier: str) -> str:
    """Return the path from one URI to the other; empty where they are of different places."""
    to, start = urlsplit(uri), urlsplit(identifier)
    if not to.scheme:
        return unquote(to.path)
    if (to.scheme, to.netloc) != (start.scheme, start.netloc) or not to.path.startswith("/"):
        return ""
    return posixpath.relpath(unquote(to.path), posixpath.dirname(unquote(start.path)) or "/")


def parsed_json(content: bytes) -> JsonValue:
    """Return the value of a JSON text, which may begin with a byte order mark.

    Raises:
        orjson.JSONDecodeError: it is not JSON.
    """
    parsed: JsonValue = orjson.loads(content.removeprefix(codecs.BOM_UTF8))
    return parsed


def read_file(file: FilePath) -> JsonValue:
    """Read a file of JSON, or raise LeadsNowhereError."""
    name = shown_file(file)
    try:
        return parsed_json(file.read_bytes())
    except OSError as error:
        found = f"{name} cannot be read ({error.strerror})"
        raise LeadsNowhereError(found, "a file that can be read") from None
    except orjson.JSONDecodeError as error:
        raise LeadsNowhereError(
            f"{name} is not JSON ({error})", "a JSON file", of_yaml(name)
        ) from None


def of_yaml(name: str) -> str:
    """Return the hint that makes JSON of a file of YAML; empty for any other file."""
    file = FilePath(name)
    if file.suffix.lower() not in {".yaml", ".yml"}:
        return ""
    read = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)"
    source, made = shlex.quote(name), shlex.quote(str(file.with_suffix(".json")))
    return f"with PyYAML, `python -c '{read}' < {source} > {made}` makes JSON of it"


def shown_file(file: FilePath) -> str:
    """Name a file as seen from here, where that is shorter."""
    here = FilePath.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


@cache
def official_schema(uri: str) -> Any:
    """Return a schema of the JSON Schema project by its URI; None where the URI is of none."""
    if "json-schema.org/" not in uri:
        return None
    # Reads every meta-schema from disk; few schemas refer to one.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    place = uri.partition("://")[2]
    known = (each for each in REGISTRY if each.partition("://")[2] == place)
    return next(map(REGISTRY.contents, known), None)


def absolute(base: str, reference: str) -> str:
    """Join a reference to its base, which has no fragment; one without a path leaves it as it is.

    >>> absolute("https://a.org/x/y.json", "../z.json"), absolute("urn:a", "#b")
    ('https://a.org/z.json', 'urn:a#b')
    """
    if reference.startswith("#"):
        return base + reference
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


IN_MEMORY: Final = "urn:stickler:schema"
"""The base of a schema that has no file."""


RECURSIVE = ""
"""Name of the target of `$recursiveRef` in 2019-09."""


class SchemaFiles:
    """A schema, the files that it refers to as they are asked for, and where everything stands.

    A schema is known by identity: the same object is the same place, however one came to it.
    """

    def __init__(
        self,
        schema: Schema,
        source: str = "",
        file: FilePath | None = None,
        inferred: "Mapping[PlaceKey, JsonObject] | None" = None,
    ) -> None:
        """Take a parsed schema, its name for messages, and its file if it has one.

        What was inferred is in the schema already; it is put into files as they are read.
        """
        self._inferred = inferred or {}
        self.dialect = dialect_of(schema)
        self._places: dict[int, SchemaPlace] = {}
        self._resources: dict[str, JsonValue] = {}
        """By absolute URI: documents, and schemas with an `$id`."""
        self._names: dict[tuple[str, str], Schema] = {}
        """By URI of the resource and plain name."""
        self._dynamic: dict[str, list[str]] = {}
        """The names in a resource that a `$dynamicRef` may lead to from afar."""
        self.documents: dict[str, tuple[JsonValue, Dialect]] = {}
        """All read so far, by the URI that a document gives itself, else that of its file."""
        self.accept: Callable[[Schema], bool] = lambda schema: True
        """Asked once for each schema that a reference leads to outside of all schemas so far."""
        self._found: dict[tuple[str, str], tuple[str, str, Schema | bool]] = {}
        self._origins: dict[str, ReferenceOrigin] = {}
        self._invalid: set[int] = set()
        self._derived: dict[tuple[int, str], Schema] = {}
        self.booleans: dict[bool, Schema] = {True: {}, False: {"not": {}}}
        """The objects that stand for the schemas `true` and `false`."""
        file = file.resolve() if file else None
        uri = file.as_uri() if file else IN_MEMORY
        place = SchemaPlace(source, uri, (), uri, self.dialect)
        self._take(schema, place, file)
        for boolean in self.booleans.values():
            self._add(boolean, place)
        self.root = self._source(schema, ())

    def _take(self, contents: JsonValue, place: SchemaPlace, file: FilePath | None) -> None:
        self._resources[place.uri] = contents
        if isinstance(contents, dict):
            self._add(contents, place)
        else:
            self._places[id(contents)] = place
        identifier = self.at(contents).base
        self._origins[place.uri] = ReferenceOrigin(file, identifier)
        self.documents[identifier] = contents, place.dialect

    @property
    def files_referred_to(self) -> tuple[str, ...]:
        """The files that were read so far, but for that of the schema itself."""
        _, *origins = self._origins.values()
        return tuple(str(origin.file) for origin in origins if origin.file is not None)

    def at(self, schema: JsonValue) -> SchemaPlace:
        """Return where a schema, or a document that is none, stands."""
        return self._places[id(schema)]

    def _add(self, schema: Schema, place: SchemaPlace) -> None:
        """Take in a schema and every schema in it; known ones stay as they are."""
        waiting = [(schema, place)]
        while waiting:
            part, outer = waiting.pop()
            if id(part) not in self._places:
                here = self._enter(part, outer)
                for steps, inner in subschemas(part):
                    waiting.append((inner, replace(here, path=(*here.path, *steps))))

    def _enter(self, schema: Schema, outer: SchemaPlace) -> SchemaPlace:
        here = outer
        if "$schema" in schema:
            here = replace(here, dialect=dialect_of(schema, here.dialect))
        identifier = own_id(schema, here.dialect)
        if identifier is not None:
            here = replace(here, base=absolute(here.base, identifier))
            self._resources.setdefault(here.base, schema)
        for name in own_names(schema, here.dialect):
            self._names.setdefault((here.base, name), schema)
        movable = schema.get("$dynamicAnchor")
        if isinstance(movable, str) and "$dynamicAnchor" in here.dialect.anchors:
            self._dynamic.setdefault(here.base, []).append(movable)
        if schema.get("$recursiveAnchor") is True and "$recursiveRef" in here.dialect.references:
            self._dynamic.setdefault(here.base, []).append(RECURSIVE)
            self._names.setdefault((here.base, RECURSIVE), schema)
        self._places[id(schema)] = here
        return here

    def key_of(self, schema: Schema) -> PlaceKey:
        """Return the document and path of a schema, the same whoever reads the files."""
        place = self.at(schema)
        return place.uri, place.path

    def is_inferred(self, schema: Schema) -> bool:
        """Return whether the annotations of a schema were inferred."""
        return self.key_of(schema) in self._inferred

    def uri_of(self, schema: Schema) -> str:
        """Return an absolute reference to a schema, by pointer."""
        place = self.at(schema)
        pointer = quote(json_pointer(place.path), errors="surrogatepass")
        return f"{self._origins[place.uri].identifier}#{pointer}"

    def own_uri(self, source: Source, keyword: str) -> str | None:
        """Return a reference by its document's own `$id`; None where it is so already."""
        place = self.at(source.schema)
        uri = absolute(place.base, str(source.schema[keyword])).partition("#")[0]
        origin = self._origins.get(uri)
        if origin is None or origin.identifier == uri:
            return None
        return self.uri_of(self.follow(source, keyword).schema)

    def references_of(self, schema: Schema) -> list[str]:
        """Return the keywords of a schema that are references in its dialect."""
        return [name for name in self.at(schema).dialect.references if name in schema]

    def inside(self, source: Source, schema: JsonValue) -> Source:
        """Return a schema inside another one; `true` and `false` are schemas without a type."""
        if not isinstance(schema, dict):
            return Source(self.booleans[bool(schema)], source.scope)
        return self._source(schema, source.scope)

    def without(self, source: Source, keyword: str) -> Source:
        """Return a schema less one keyword; the same object each time it is asked for."""
        rest = {name: value for name, value in source.schema.items() if name != keyword}
        return self.derive(source, f"without {keyword}", rest)

    def derive(self, source: Source, how: str, schema: Schema) -> Source:
        """Return a schema that stands where `source` does; the first that was derived so."""
        key = (id(source.schema), how)
        if key not in self._derived:
            self._derived[key] = schema
            self._places[id(schema)] = self.at(source.schema)
        return Source(self._derived[key], source.scope)

    def follow(self, source: Source, keyword: str) -> Source:
        """Return the schema that a reference leads to, or raise LeadsNowhereError."""
        reference = source.schema[keyword]
        if not isinstance(reference, str):
            raise LeadsNowhereError(f"{keyword} is {kind_of(reference)}", "a string")
        place = self.at(source.schema)
        key = place.base, reference
        if key not in self._found:
            try:
                self._found[key] = self._find(place, reference)
            except LeadsNowhereError as error:
                raise self._with_base(error, place) from None
        uri, name, found = self._found[key]
        if keyword != "$ref" and name in self._dynamic.get(uri, ()):
            found = self._names[dict(source.scope).get(name, uri), name]
        return self.inside(source, found)

    def _with_base(self, error: LeadsNowhereError, place: SchemaPlace) -> LeadsNowhereError:
        """Add to an error where its reference starts, if an inner schema has changed that."""
        path = self.at(self._resources[place.base]).path
        if not path:
            return error
        keyword = place.dialect.id_keyword
        base = (
            f"it starts from {place.base}, since {json_pointer((*path, keyword))} says so: leave "
            f"that {keyword} out"
        )
        return LeadsNowhereError(
            error.found, error.expected, "; ".join(filter(None, (base, error.hint)))
        )

    def _find(self, place: SchemaPlace, reference: str) -> tuple[str, str, Schema | bool]:
        """Return the resource and the plain name by which a schema was found, and it."""
        uri, _, fragment = absolute(place.base, reference).partition("#")
        fragment = unquote(fragment)
        resource = self._resource(uri, reference, place)
        self._refuse_invalid(resource, reference)
        if fragment and not fragment.startswith("/"):
            if (uri, fragment) not in self._names:
                expected = f'a schema with "$anchor": "{fragment}", or a pointer as in #/$defs/a'
                raise LeadsNowhereError(f"{reference} leads nowhere", expected)
            return uri, fragment, self._names[uri, fragment]
        found = self._at_pointer(resource, fragment, reference)
        if not isinstance(found, dict | bool):
            raise LeadsNowhereError(f"{reference} leads to {kind_of(found)}", "a schema")
        self._refuse_invalid(found, reference)
        return uri, RECURSIVE, found

    def _refuse_invalid(self, schema: JsonValue, reference: str) -> None:
        if id(schema) in self._invalid:
            found = f"{reference} leads to a schema that is not valid"
            raise LeadsNowhereError(found, "a valid one", "what is wrong there is listed too")

    def _resource(self, uri: str, reference: str, place: SchemaPlace) -> JsonValue:
        if uri in self._resources:
            return self._resources[uri]
        contents: JsonValue = official_schema(uri)
        file = None
        if contents is None:
            try:
                file = find_file(uri, self._origins[place.uri])
                contents = read_file(file)
            except LeadsNowhereError as error:
                found = error.found if reference in error.found else f"{reference}: {error.found}"
                raise LeadsNowhereError(found, error.expected, error.hint) from None
        named = named_dialect(contents)
        if named in TOO_OLD:
            raise LeadsNowhereError(f"{reference} is written in Draft {named}", SUPPORTED)
        name, dialect = shown_file(file) if file else uri, dialect_of(contents, self.dialect)
        self._take(contents, SchemaPlace(name, uri, (), uri, dialect), file)
        if file:
            for (document, path), annotations in self._inferred.items():
                if document == uri:
                    part: Any = reduce(getitem, path, contents)  # type: ignore[arg-type]
                    part.update(annotations)
            self._judge(contents)
        return contents

    def _at_pointer(self, value: JsonValue, pointer: str, reference: str) -> JsonValue:
        """Walk a JSON Pointer (RFC 6901); a schema found where none was expected becomes one."""
        place = self.at(value)
        for name in pointer_steps(pointer):
            if isinstance(value, dict):
                place = self._places.get(id(value), place)
            step: str | int = name
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
                step = int(name)
                value = value[step]
            else:
                hint = did_you_mean(name, value) if isinstance(value, dict) else ""
                expected = "a place that is in the schema"
                raise LeadsNowhereError(f"{reference} leads nowhere", expected, hint)
            place = replace(place, path=(*place.path, step))
        if isinstance(value, dict) and id(value) not in self._places:
            self._add(value, place)
            self._judge(value)
        return value

    def _judge(self, schema: JsonValue) -> None:
        if isinstance(schema, dict) and not self.accept(schema):
            self._invalid.add(id(schema))

    def _source(self, schema: Schema, scope: Scope) -> Source:
        base = self.at(schema).base
        if base not in self._dynamic:
            return Source(schema, scope)
        known = {name for name, _ in scope}
        added = tuple((name, base) for name in self._dynamic[base] if name not in known)
        return Source(schema, (*scope, *added))
