"""Follow `$ref` in all its forms: inside the schema, by `$id` and anchor, and to other files.

The network is never asked. The package `referencing` is not used: it returns the contents of a
target, but neither its file, pointer nor dialect, which messages and inferred annotations need.
docs/architecture.md, "References", says more.
"""

import codecs
import os
import posixpath
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, reduce
from operator import getitem
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple
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


class ReferenceOrigin(NamedTuple):
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
        split_uri = urlsplit(uri)
    except ValueError:
        raise LeadsNowhereError(f"{uri} is no URI", "a reference to a schema") from None
    if not split_uri.scheme and origin.file is None:
        finding = f"{uri} is relative, and the schema has no file"
        raise LeadsNowhereError(finding, "a reference inside the schema")
    candidates = []
    if split_uri.scheme == "file":
        path = unquote(split_uri.path)
        candidates.append(FilePath(path.removeprefix("/") if os.name == "nt" else path))
    relative_path = _relative(uri, origin.identifier)
    if origin.file is not None and relative_path:
        candidates.append(FilePath(posixpath.normpath(origin.file.parent / relative_path)))
    for candidate in candidates:
        with suppress(OSError):  # too long a name, a folder not to be looked into
            if candidate.is_file():
                return candidate
    if split_uri.scheme in {"file", ""}:
        raise LeadsNowhereError(f"there is no file {shown_file(candidates[0])}", "an existing file")
    hint = "keep a copy beside the schema and refer to it by its relative path"
    if candidates:
        hint = f"keep a copy as {shown_file(candidates[0])}"
    finding = f"{uri} is on the network, which is never asked"
    raise LeadsNowhereError(finding, "a reference inside the schema or to a file", hint)


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
        finding = f"{name} cannot be read ({error.strerror})"
        raise LeadsNowhereError(finding, "a file that can be read") from None
    except orjson.JSONDecodeError as error:
        raise LeadsNowhereError(
            f"{name} is not JSON ({error})", "a JSON file", of_yaml(name)
        ) from None


def of_yaml(name: str) -> str:
    """Return the hint that makes JSON of a file of YAML; empty for any other file."""
    file = FilePath(name)
    if file.suffix.lower() not in {".yaml", ".yml"}:
        return ""
    program = (
        "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)"
    )
    source, target = shlex.quote(name), shlex.quote(str(file.with_suffix(".json")))
    return f"with PyYAML, `python -c '{program}' < {source} > {target}` makes JSON of it"


def shown_file(file: FilePath) -> str:
    """Name a file as seen from here, where that is shorter."""
    directory = FilePath.cwd()
    return str(file.relative_to(directory) if file.is_relative_to(directory) else file)


@cache
def official_schema(uri: str) -> Any:
    """Return a schema of the JSON Schema project by its URI; None for any other URI."""
    if "json-schema.org/" not in uri:
        return None
    # Reads every meta-schema from disk; few schemas refer to one.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    place = uri.partition("://")[2]
    same_uris = (known_uri for known_uri in REGISTRY if known_uri.partition("://")[2] == place)
    return next(map(REGISTRY.contents, same_uris), None)


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


def accept_all(schema: Schema) -> bool:
    """Accept every schema that a reference leads to."""
    return True


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
        self.accept: Callable[[Schema], bool] = accept_all
        """Asked once for each schema that a reference leads to outside of all schemas so far."""
        self._targets: dict[tuple[str, str], tuple[str, str, Schema | bool]] = {}
        self._origins: dict[str, ReferenceOrigin] = {}
        self._invalid: set[int] = set()
        self._derived: dict[tuple[int, str], Schema] = {}
        self.booleans: dict[bool, Schema] = {True: {}, False: {"not": {}}}
        """The objects that stand for the schemas `true` and `false`."""
        file = file.resolve() if file else None
        uri = file.as_uri() if file else IN_MEMORY
        place = SchemaPlace(source=source, uri=uri, path=(), base=uri, dialect=self.dialect)
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
        identifier = self.locate(contents).base
        self._origins[place.uri] = ReferenceOrigin(file, identifier)
        self.documents[identifier] = contents, place.dialect

    @property
    def files_referred_to(self) -> tuple[str, ...]:
        """The files that references led to so far."""
        _, *origins = self._origins.values()
        return tuple(str(origin.file) for origin in origins if origin.file is not None)

    def locate(self, schema: JsonValue) -> SchemaPlace:
        """Return the place of a schema, or of a document that is not a schema."""
        return self._places[id(schema)]

    def _add(self, schema: Schema, document_place: SchemaPlace) -> None:
        """Take in a schema and every schema in it; known ones stay as they are."""
        waiting = [(schema, document_place)]
        while waiting:
            subschema, outer = waiting.pop()
            if id(subschema) not in self._places:
                place = self._enter(subschema, outer)
                for steps, inner in subschemas(subschema):
                    waiting.append((inner, place._replace(path=(*place.path, *steps))))

    def _enter(self, schema: Schema, outer: SchemaPlace) -> SchemaPlace:
        place = outer
        if "$schema" in schema:
            place = place._replace(dialect=dialect_of(schema, place.dialect))
        identifier = own_id(schema, place.dialect)
        if identifier is not None:
            place = place._replace(base=absolute(place.base, identifier))
            self._resources.setdefault(place.base, schema)
        for name in own_names(schema, place.dialect):
            self._names.setdefault((place.base, name), schema)
        movable = schema.get("$dynamicAnchor")
        if isinstance(movable, str) and "$dynamicAnchor" in place.dialect.anchors:
            self._dynamic.setdefault(place.base, []).append(movable)
        if schema.get("$recursiveAnchor") is True and "$recursiveRef" in place.dialect.references:
            self._dynamic.setdefault(place.base, []).append(RECURSIVE)
            self._names.setdefault((place.base, RECURSIVE), schema)
        self._places[id(schema)] = place
        return place

    def key_of(self, schema: Schema) -> PlaceKey:
        """Return the document and path of a schema, equal each time that files are read."""
        place = self.locate(schema)
        return place.uri, place.path

    def is_inferred(self, schema: Schema) -> bool:
        """Return whether the annotations of a schema were inferred."""
        return self.key_of(schema) in self._inferred

    def uri_of(self, schema: Schema) -> str:
        """Return an absolute reference to a schema, by pointer."""
        place = self.locate(schema)
        pointer = quote(json_pointer(place.path), errors="surrogatepass")
        return f"{self._origins[place.uri].identifier}#{pointer}"

    def own_uri(self, source: Source, keyword: str) -> str | None:
        """Return a reference by its document's own `$id`; None where it is so already."""
        place = self.locate(source.schema)
        uri = absolute(place.base, str(source.schema[keyword])).partition("#")[0]
        origin = self._origins.get(uri)
        if origin is None or origin.identifier == uri:
            return None
        return self.uri_of(self.follow(source, keyword).schema)

    def references_of(self, schema: Schema) -> list[str]:
        """Return the keywords of a schema that are references in its dialect."""
        return [name for name in self.locate(schema).dialect.references if name in schema]

    def enter(self, source: Source, schema: JsonValue) -> Source:
        """Return a schema inside another one; `true` and `false` are schemas without a type."""
        if not isinstance(schema, dict):
            return Source(self.booleans[bool(schema)], source.scope)
        return self._source(schema, source.scope)

    def without(self, source: Source, keyword: str) -> Source:
        """Return a schema less one keyword; the same object each time it is asked for."""
        other_keywords = {name: value for name, value in source.schema.items() if name != keyword}
        return self.derive(source, f"without {keyword}", other_keywords)

    def derive(self, source: Source, derivation: str, schema: Schema) -> Source:
        """Return a schema that stands where `source` does; the first that was derived so."""
        key = (id(source.schema), derivation)
        if key not in self._derived:
            self._derived[key] = schema
            self._places[id(schema)] = self.locate(source.schema)
        return Source(self._derived[key], source.scope)

    def follow(self, source: Source, keyword: str) -> Source:
        """Return the schema that a reference leads to, or raise LeadsNowhereError."""
        reference = source.schema[keyword]
        if not isinstance(reference, str):
            raise LeadsNowhereError(f"{keyword} is {kind_of(reference)}", "a string")
        place = self.locate(source.schema)
        key = place.base, reference
        if key not in self._targets:
            try:
                self._targets[key] = self._find(place, reference)
            except LeadsNowhereError as error:
                raise self._with_base(error, place) from None
        uri, name, target = self._targets[key]
        if keyword != "$ref" and name in self._dynamic.get(uri, ()):
            target = self._names[dict(source.scope).get(name, uri), name]
        return self.enter(source, target)

    def _with_base(self, error: LeadsNowhereError, place: SchemaPlace) -> LeadsNowhereError:
        """Add to an error where its reference starts, if an inner schema has changed that."""
        path = self.locate(self._resources[place.base]).path
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
        target = self._at_pointer(resource, fragment, reference)
        if not isinstance(target, dict | bool):
            raise LeadsNowhereError(f"{reference} leads to {kind_of(target)}", "a schema")
        self._refuse_invalid(target, reference)
        return uri, RECURSIVE, target

    def _refuse_invalid(self, schema: JsonValue, reference: str) -> None:
        if id(schema) in self._invalid:
            finding = f"{reference} leads to a schema that is not valid"
            raise LeadsNowhereError(finding, "a valid one", "what is wrong there is listed too")

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
                finding = error.found if reference in error.found else f"{reference}: {error.found}"
                raise LeadsNowhereError(finding, error.expected, error.hint) from None
        named = named_dialect(contents)
        if named in TOO_OLD:
            raise LeadsNowhereError(f"{reference} is written in Draft {named}", SUPPORTED)
        name, dialect = shown_file(file) if file else uri, dialect_of(contents, self.dialect)
        self._take(
            contents, SchemaPlace(source=name, uri=uri, path=(), base=uri, dialect=dialect), file
        )
        if file:
            for (document, path), annotations in self._inferred.items():
                if document == uri:
                    subschema: Any = reduce(getitem, path, contents)  # type: ignore[arg-type]
                    subschema.update(annotations)
            self._judge(contents)
        return contents

    def _at_pointer(self, value: JsonValue, pointer: str, reference: str) -> JsonValue:
        """Walk a JSON Pointer (RFC 6901); a schema found where none was expected becomes one."""
        place = self.locate(value)
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
            place = place._replace(path=(*place.path, step))
        if isinstance(value, dict) and id(value) not in self._places:
            self._add(value, place)
            self._judge(value)
        return value

    def _judge(self, schema: JsonValue) -> None:
        if isinstance(schema, dict) and not self.accept(schema):
            self._invalid.add(id(schema))

    def _source(self, schema: Schema, scope: Scope) -> Source:
        base = self.locate(schema).base
        if base not in self._dynamic:
            return Source(schema, scope)
        names = {name for name, _ in scope}
        added = tuple((name, base) for name in self._dynamic[base] if name not in names)
        return Source(schema, (*scope, *added))
