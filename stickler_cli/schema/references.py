"""Follow `$ref` in all its forms: inside the schema, by `$id` and anchor, and to other files.

The network is never used. The compiler recognises a schema by the identity of its Python object. If
two references lead to one file, both must therefore give the same objects. The library
`referencing` is not used, since it returns new objects each time and takes 0.05 s to load.
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
from stickler_cli.core.real_paths import real_path
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
    """A document in which references start."""

    file: FilePath | None
    """The file of the document; None for a schema in memory."""
    identifier: str
    """The absolute URI that the document gives itself, or else the URI of its file."""


def find_file(uri: str, origin: ReferenceOrigin) -> FilePath:
    """Find the file that belongs to an absolute URI in a document.

    A `file:` URI names the file. For all other URIs, the files are assumed to be arranged in the
    same way as the URIs. For instance, the document in the file `a/order.json` has the `$id`
    `https://x.org/order`, and the URI is `https://x.org/parts/price`. The relative path from the
    `$id` to the URI is `parts/price`. This path is then followed from the document's file: the
    result is the file `a/parts/price`.

    Raises:
        LeadsNowhereError: there is no such file.
    """
    try:
        split_uri = urlsplit(uri)
    except ValueError:
        raise LeadsNowhereError(f"{uri} is not a URI", "a reference to a schema") from None
    if not split_uri.scheme and origin.file is None:
        finding = f"the reference {uri} is relative, but the schema was not read from a file"
        raise LeadsNowhereError(finding, "a reference to a part of the same schema")
    candidates = []
    if split_uri.scheme == "file":
        path = unquote(split_uri.path)
        candidates.append(FilePath(path.removeprefix("/") if os.name == "nt" else path))
    relative_path = _relative(uri, origin.identifier)
    if origin.file is not None and relative_path:
        candidates.append(FilePath(posixpath.normpath(origin.file.parent / relative_path)))
    for candidate in candidates:
        with suppress(OSError):  # the name is too long, or access is denied
            if candidate.is_file():
                return candidate
    if split_uri.scheme in {"file", ""}:
        raise LeadsNowhereError(
            f"the file {shown_file(candidates[0])} does not exist", "an existing file"
        )
    hint = (
        "save a copy of the referenced schema beside this schema, and refer to the copy by "
        "its relative path"
    )
    if candidates:
        hint = f"save a copy as {shown_file(candidates[0])}"
    finding = f"{uri} is on the network, but stickler never downloads schemas"
    raise LeadsNowhereError(
        finding, ("a reference to a part of the same schema, or to a local file"), hint
    )


def _relative(uri: str, identifier: str) -> str:
    """Return the relative path from `identifier` to `uri`.

    If `uri` is a relative reference, return its own path. Return an empty text if the two URIs have
    different schemes or hosts, or if the path of `uri` does not begin with `/`.
    """
    to, start = urlsplit(uri), urlsplit(identifier)
    if not to.scheme:
        return unquote(to.path)
    if (to.scheme, to.netloc) != (start.scheme, start.netloc) or not to.path.startswith("/"):
        return ""
    return posixpath.relpath(unquote(to.path), posixpath.dirname(unquote(start.path)) or "/")


def parsed_json(content: bytes) -> JsonValue:
    """Parse a JSON text; a byte order mark at its beginning is allowed.

    Raises:
        orjson.JSONDecodeError: the text is not JSON.
    """
    parsed: JsonValue = orjson.loads(content.removeprefix(codecs.BOM_UTF8))
    return parsed


def read_file(file: FilePath) -> JsonValue:
    """Read and parse a JSON file.

    Raises:
        LeadsNowhereError: the file cannot be read, or is not JSON.
    """
    name = shown_file(file)
    try:
        return parsed_json(file.read_bytes())
    except OSError as error:
        finding = f"{name} cannot be read ({error.strerror})"
        raise LeadsNowhereError(finding, "a readable file") from None
    except orjson.JSONDecodeError as error:
        raise LeadsNowhereError(
            f"{name} is not JSON ({error})", "a JSON file", of_yaml(name)
        ) from None


def of_yaml(name: str) -> str:
    """Return a hint with the command that converts a YAML file to JSON.

    Empty if the file is not a YAML file.
    """
    file = FilePath(name)
    if file.suffix.lower() not in {".yaml", ".yml"}:
        return ""
    program = (
        "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)"
    )
    source, target = shlex.quote(name), shlex.quote(str(file.with_suffix(".json")))
    return (
        f"to convert the file to JSON with PyYAML, run `python -c '{program}' < {source} > "
        f"{target}`"
    )


def shown_file(file: FilePath) -> str:
    """Return a file's path as shown in messages.

    It is relative if it is in the working directory.
    """
    directory = FilePath.cwd()
    return str(file.relative_to(directory) if file.is_relative_to(directory) else file)


@cache
def official_schema(uri: str) -> Any:
    """Return the meta-schema or vocabulary that the JSON Schema project publishes at a URI.

    Return None for a URI where it publishes none.
    """
    if "json-schema.org/" not in uri:
        return None
    # Reads every meta-schema from disk; few schemas refer to one.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    place = uri.partition("://")[2]
    same_uris = (known_uri for known_uri in REGISTRY if known_uri.partition("://")[2] == place)
    return next(map(REGISTRY.contents, same_uris), None)


def absolute(base: str, reference: str) -> str:
    """Resolve a reference against a base URI that has no fragment.

    If the base has no path, such as `urn:a`, only a reference that begins with `#` is appended to
    it. Any other reference is then returned unchanged.

    >>> absolute("https://a.org/x/y.json", "../z.json"), absolute("urn:a", "#b")
    ('https://a.org/z.json', 'urn:a#b')
    """
    if reference.startswith("#"):
        return base + reference
    return urljoin(base, reference) if is_uri(reference) and is_uri(base) else reference


def is_uri(text: str) -> bool:
    """Return whether a text can be parsed as a URI or a relative reference.

    >>> is_uri("a/b#c"), is_uri("http://[")
    (True, False)
    """
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True


IN_MEMORY: Final = "urn:stickler:schema"
"""The base URI of a schema without a file."""


RECURSIVE = ""
"""The plain name under which a schema is recorded if it has `"$recursiveAnchor": true` (dialect
2019-09). A `$recursiveRef` looks for this name."""


def accept_all(schema: Schema) -> bool:
    """Accept every schema; the default for `SchemaFiles.accept`."""
    return True


class SchemaFiles:
    """A schema, all files that it refers to, and the location of every schema in these files.

    Files are read when they are needed. A schema is identified by its Python object. All references
    to a schema give the same object.
    """

    def __init__(
        self,
        schema: Schema,
        source: str = "",
        file: FilePath | None = None,
        inferred: "Mapping[PlaceKey, JsonObject] | None" = None,
    ) -> None:
        """Take a parsed schema, its name for messages, and its file if it has one.

        `inferred` maps the location of each schema to the annotations that were inferred for it.
        `schema` must already contain the inferred annotations of all schemas in its document. In
        other files, the inferred annotations are added when the file is read.
        """
        self._inferred = inferred or {}
        self.dialect = dialect_of(schema)
        self._places: dict[int, SchemaPlace] = {}
        self._resources: dict[str, JsonValue] = {}
        """Maps an absolute URI to a document, or to a schema with an `$id`."""
        self._names: dict[tuple[str, str], Schema] = {}
        """Maps (URI of a resource, plain name) to the schema that has this name in the resource. A
        schema gets a plain name from the keyword `$anchor`, for instance."""
        self._dynamic: dict[str, list[str]] = {}
        """Maps the URI of a resource to some of its plain names: those that dynamic references in
        other resources may use."""
        self.documents: dict[str, tuple[JsonValue, Dialect]] = {}
        """All documents read so far, with their dialects. A key is the URI that the document gives
        itself, or else the URI of its file."""
        self.accept: Callable[[Schema], bool] = accept_all
        """Decides whether an object is a valid schema. It is called once for each object that
        counts as a schema only because a reference leads to it."""
        self._targets: dict[tuple[str, str], tuple[str, str, Schema | bool]] = {}
        self._origins: dict[str, ReferenceOrigin] = {}
        self._invalid: set[int] = set()
        self._derived: dict[tuple[int, str], Schema] = {}
        self.booleans: dict[bool, Schema] = {True: {}, False: {"not": {}}}
        """The objects that replace the schemas `true` and `false`."""
        file = real_path(file) if file else None
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
        """The files to which references have led so far."""
        _, *origins = self._origins.values()
        return tuple(str(origin.file) for origin in origins if origin.file is not None)

    def locate(self, schema: JsonValue) -> SchemaPlace:
        """Return the location of a schema or document. A document need not be a schema."""
        return self._places[id(schema)]

    def _add(self, schema: Schema, document_place: SchemaPlace) -> None:
        """Record the locations of a schema and of all schemas inside it.

        A schema that is recorded already is skipped, with all schemas inside it.
        """
        waiting = [(schema, document_place)]
        while waiting:
            subschema, outer = waiting.pop()
            if id(subschema) not in self._places:
                place = self._enter(subschema, outer)
                for steps, inner in subschemas(subschema):
                    waiting.append((inner, place._replace(path=(*place.path, *steps))))

    def _enter(self, schema: Schema, outer: SchemaPlace) -> SchemaPlace:
        """Record the location, the `$id` and the plain names of a schema; return the location.

        `outer` is the location that follows from the schemas around this schema. If the schema
        itself has an `$id` or `$schema`, the recorded location has another base URI or another
        dialect than `outer`.
        """
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
        """Return the URI of the document that contains a schema, and the path of the schema in it.

        Both stay the same if the file is read again.
        """
        place = self.locate(schema)
        return place.uri, place.path

    def is_inferred(self, schema: Schema) -> bool:
        """Return whether the annotations of a schema were inferred."""
        return self.key_of(schema) in self._inferred

    def uri_of(self, schema: Schema) -> str:
        """Return an absolute URI of a schema, with a JSON Pointer as its fragment."""
        place = self.locate(schema)
        pointer = quote(json_pointer(place.path), errors="surrogatepass")
        return f"{self._origins[place.uri].identifier}#{pointer}"

    def own_uri(self, source: Source, keyword: str) -> str | None:
        """Return the reference at `keyword` in another form, which begins with an `$id`.

        The `$id` is that of the document to which the reference leads. Return None if this document
        has no `$id`, or if the reference itself already begins with the `$id`.
        """
        place = self.locate(source.schema)
        uri = absolute(place.base, str(source.schema[keyword])).partition("#")[0]
        origin = self._origins.get(uri)
        if origin is None or origin.identifier == uri:
            return None
        return self.uri_of(self.follow(source, keyword).schema)

    def references_of(self, schema: Schema) -> list[str]:
        """Return the keywords of a schema that are references in its dialect, such as `$ref`."""
        return [name for name in self.locate(schema).dialect.references if name in schema]

    def enter(self, source: Source, schema: JsonValue) -> Source:
        """Return a schema that is inside another schema, together with its scope, as a `Source`.

        `source` is the outer schema with its scope. The schemas `true` and `false` are replaced by
        objects.
        """
        if not isinstance(schema, dict):
            return Source(self.booleans[bool(schema)], source.scope)
        return self._source(schema, source.scope)

    def without(self, source: Source, keyword: str) -> Source:
        """Return a copy of a schema without one keyword.

        The same arguments always give the same copy.
        """
        other_keywords = {name: value for name, value in source.schema.items() if name != keyword}
        return self.derive(source, f"without {keyword}", other_keywords)

    def derive(self, source: Source, derivation: str, schema: Schema) -> Source:
        """Register `schema`, which was derived from `source`, at the location of `source`.

        `derivation` is a name for the way in which it was derived. If a schema that was derived
        from `source` is already registered under this name, return the registered schema instead.
        """
        key = (id(source.schema), derivation)
        if key not in self._derived:
            self._derived[key] = schema
            self._places[id(schema)] = self.locate(source.schema)
        return Source(self._derived[key], source.scope)

    def follow(self, source: Source, keyword: str) -> Source:
        """Return the schema to which the reference under a keyword leads.

        Raises:
            LeadsNowhereError: the reference cannot be followed.
        """
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
        """Return an error whose hint also names the `$id` to which the reference is relative.

        The user may have overlooked an `$id` inside the document. If there is no such `$id` at
        `place`, return the error unchanged.
        """
        path = self.locate(self._resources[place.base]).path
        if not path:
            return error
        keyword = place.dialect.id_keyword
        base = (
            f"the reference is relative to {place.base} because of "
            f"{json_pointer((*path, keyword))}; remove that {keyword}"
        )
        return LeadsNowhereError(
            error.found, error.expected, "; ".join(filter(None, (base, error.hint)))
        )

    def _find(self, place: SchemaPlace, reference: str) -> tuple[str, str, Schema | bool]:
        """Find the target of a reference; return (resource URI, plain name, schema)."""
        uri, _, fragment = absolute(place.base, reference).partition("#")
        fragment = unquote(fragment)
        resource = self._resource(uri, reference, place)
        self._refuse_invalid(resource, reference)
        if fragment and not fragment.startswith("/"):
            if (uri, fragment) not in self._names:
                expected = (
                    f'a schema with "$anchor": "{fragment}", or a JSON Pointer such as #/$defs/a'
                )
                raise LeadsNowhereError(f"{reference} points to nothing", expected)
            return uri, fragment, self._names[uri, fragment]
        target = self._at_pointer(resource, fragment, reference)
        if not isinstance(target, dict | bool):
            raise LeadsNowhereError(
                f"{reference} points to a value of type {kind_of(target)}", "a schema"
            )
        self._refuse_invalid(target, reference)
        return uri, RECURSIVE, target

    def _refuse_invalid(self, schema: JsonValue, reference: str) -> None:
        if id(schema) in self._invalid:
            finding = f"{reference} points to an invalid schema"
            raise LeadsNowhereError(
                finding, "a valid schema", ("the errors in that schema are listed too")
            )

    def _resource(self, uri: str, reference: str, place: SchemaPlace) -> JsonValue:
        """Return the document or schema at an absolute URI; read its file if necessary.

        Raises:
            LeadsNowhereError: there is no such file, or it cannot be used.
        """
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
        """Return the value at a JSON Pointer (RFC 6901).

        If the value is an object that was not recorded as a schema before, it is recorded now.
        """
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
                expected = "a JSON Pointer to an existing part of the schema"
                raise LeadsNowhereError(f"{reference} points to nothing", expected, hint)
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


def list_files_behind(file: FilePath) -> tuple[str, ...]:
    """Return the files that references in a schema file lead to, directly or indirectly.

    References that cannot be followed are skipped.
    """
    try:
        contents = read_file(file)
    except LeadsNowhereError:
        return ()
    if not isinstance(contents, dict):
        return ()
    files = SchemaFiles(contents, shown_file(file), file)
    visited: set[int] = set()
    waiting = [files.root]
    while waiting:
        source = waiting.pop()
        if id(source.schema) in visited:
            continue
        visited.add(id(source.schema))
        waiting += [files.enter(source, inner) for _, inner in subschemas(source.schema)]
        for keyword in files.references_of(source.schema):
            with suppress(LeadsNowhereError):
                waiting.append(files.follow(source, keyword))
    return files.files_referred_to
