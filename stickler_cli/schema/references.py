"""Follow `$ref` in all its forms: inside the schema, by `$id` and anchor, and to other files.

The network is never asked. Files are found beside the schema's own file: by a relative reference,
or by an absolute one under the same `$id`.
"""

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

import orjson
from jsonschema_specifications import (  # type: ignore[import-untyped]
    REGISTRY as SPECIFICATIONS,
)
from referencing import Registry, Resource, Specification
from referencing.exceptions import NoSuchAnchor, PointerToNowhere, Unresolvable
from referencing.jsonschema import (
    DRAFT4,
    DRAFT6,
    DRAFT7,
    DRAFT201909,
    DRAFT202012,
    lookup_recursive_ref,
)

from stickler_cli.json_values import JsonValue, kind_of
from stickler_cli.locations import Path, json_pointer

Schema = dict[str, JsonValue]

DEFAULT_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DIALECTS: Final[dict[str, Specification[Any]]] = {
    "http://json-schema.org/draft-04/schema": DRAFT4,
    "http://json-schema.org/draft-06/schema": DRAFT6,
    "http://json-schema.org/draft-07/schema": DRAFT7,
    "https://json-schema.org/draft/2019-09/schema": DRAFT201909,
    DEFAULT_DIALECT: DRAFT202012,
}
"""By `$schema`, without a trailing `#`; any other value reads as the default."""

IN_MEMORY: Final = "urn:stickler:schema"
"""The base of a schema that has no file."""

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One schema object, and how the references in it are to be read."""

    schema: Schema
    resolver: Any
    """A resolver of the `referencing` library."""


@dataclass(frozen=True, slots=True)
class _Place:
    source: str
    uri: str
    path: Path


class LeadsNowhereError(Exception):
    """A reference that cannot be followed; says what was found, expected, and what to do."""

    def __init__(self, found: str, expected: str, hint: str = "") -> None:
        super().__init__(found, expected, hint)
        self.found = found
        self.expected = expected
        self.hint = hint


class SchemaFiles:
    """A schema, the files that it refers to as they are asked for, and where everything stands."""

    def __init__(self, schema: Schema, source: str = "", file: FilePath | None = None) -> None:
        """Take a parsed schema, its name for messages, and its file if it has one."""
        self.dialect = dialect_of(schema)
        self.specification = DIALECTS[self.dialect]
        self.registry: Registry[Any] = Registry(retrieve=self._retrieve).combine(SPECIFICATIONS)  # type: ignore[call-arg]
        self._file = file.resolve() if file else None
        self._id = str(schema.get("$id", schema.get("id", "")))
        self._places: dict[int, _Place] = {}
        self._wholes: dict[bool, Schema] = {True: {}, False: {}}
        self._derived: dict[tuple[int, str], Schema] = {}
        self.uri = self._file.as_uri() if self._file else IN_MEMORY
        self._remember(schema, source, self.uri)
        resource = self.specification.create_resource(schema)
        self.registry = self.registry.with_resource(self.uri, resource)
        self.root = Source(schema, self.registry.resolver(self.uri).in_subresource(resource))

    def place_of(self, schema: Schema) -> tuple[str, Path]:
        """Give the file and path at which a schema stands."""
        place = self._places[id(schema)]
        return place.source, place.path

    def uri_of(self, schema: Schema) -> str:
        """Give an absolute reference to a schema, by pointer."""
        place = self._places[id(schema)]
        return f"{place.uri}#{quote(json_pointer(place.path))}"

    def inside(self, source: Source, schema: JsonValue) -> Source:
        """Give a schema inside another one; an `$id` of its own changes what references mean.

        `true` and `false` say nothing about kinds: both read as the empty schema.
        """
        if not isinstance(schema, dict):
            return self._whole(source, boolean=bool(schema))
        if "$id" not in schema and "id" not in schema:
            return Source(schema, source.resolver)
        resource = self.specification.create_resource(schema)
        return Source(schema, source.resolver.in_subresource(resource))

    def _whole(self, source: Source, *, boolean: bool) -> Source:
        schema = self._wholes[boolean]
        self._places.setdefault(id(schema), self._places[id(source.schema)])
        return Source(schema, source.resolver)

    def without(self, source: Source, keyword: str) -> Source:
        """Give a schema less one keyword; the same object each time it is asked for."""
        key = (id(source.schema), keyword)
        if key not in self._derived:
            rest = {name: value for name, value in source.schema.items() if name != keyword}
            self._derived[key] = rest
            self._places[id(rest)] = self._places[id(source.schema)]
        return Source(self._derived[key], source.resolver)

    def typed(self, source: Source, kind: str) -> Source:
        """Give a schema that names one JSON type; it stands where `source` does."""
        key = (id(source.schema), f"type {kind}")
        if key not in self._derived:
            self._derived[key] = {"type": kind}
            self._places[id(self._derived[key])] = self._places[id(source.schema)]
        return Source(self._derived[key], source.resolver)

    def follow(self, source: Source, keyword: str) -> Source:
        """Give what a reference leads to.

        Raises:
            LeadsNowhereError: it leads nowhere, or only over the network.
        """
        reference = source.schema[keyword]
        if not isinstance(reference, str):
            raise LeadsNowhereError(f"{keyword} is {kind_of(reference)}", "a string")
        try:
            if keyword == "$recursiveRef":
                resolved = lookup_recursive_ref(source.resolver)
            else:
                resolved = source.resolver.lookup(reference)
        except (PointerToNowhere, NoSuchAnchor):
            raise LeadsNowhereError(
                f"{reference} leads nowhere", "a place that is in the schema"
            ) from None
        except Unresolvable as error:
            raise _cause_of(error, reference) from None
        if isinstance(resolved.contents, bool):
            return self._whole(source, boolean=resolved.contents)
        if not isinstance(resolved.contents, dict):
            found = f"{reference} leads to {kind_of(resolved.contents)}"
            raise LeadsNowhereError(found, "a reference to a schema")
        return Source(resolved.contents, resolved.resolver)

    def _retrieve(self, uri: str) -> Resource[Any]:
        file = self._file_of(uri)
        try:
            contents = orjson.loads(file.read_bytes())
        except OSError as error:
            raise LeadsNowhereError(
                f"{_name_of(file)} cannot be read ({error.strerror})", "a file beside the schema's"
            ) from None
        except orjson.JSONDecodeError as error:
            raise LeadsNowhereError(f"{_name_of(file)} is not JSON ({error})", "a schema") from None
        self._remember(contents, _name_of(file), uri)
        return Resource.from_contents(contents, default_specification=self.specification)

    def _file_of(self, uri: str) -> FilePath:
        parts = urlsplit(uri)
        if parts.scheme == "file":
            return FilePath(url2pathname(parts.path))
        if not parts.scheme:
            raise LeadsNowhereError(
                f"{uri} is relative, and the schema has no file", "a reference inside the schema"
            )
        folder = self._id.rpartition("/")[0] + "/"
        if self._file and uri.startswith(folder) and urlsplit(folder).scheme:
            beside = self._file.parent / uri.removeprefix(folder)
            if beside.is_file():
                return beside
        raise LeadsNowhereError(
            f"{uri} is on the network, which is never asked",
            "a reference inside the schema or to a file",
            "keep a copy beside the schema and refer to it by its relative path",
        )

    def _remember(self, contents: JsonValue, source: str, uri: str) -> None:
        waiting: list[tuple[Path, JsonValue]] = [((), contents)]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, dict):
                self._places[id(value)] = _Place(source, uri, path)
                waiting += (((*path, name), part) for name, part in value.items())
            elif isinstance(value, list):
                waiting += (((*path, index), part) for index, part in enumerate(value))


def dialect_of(schema: Schema) -> str:
    """Give the dialect a schema is written in, by its `$schema`; spelt as in `DIALECTS`."""
    named = schema.get("$schema")
    if not isinstance(named, str):
        return DEFAULT_DIALECT
    bare = named.rstrip("#").partition("://")[2]
    return next((uri for uri in DIALECTS if uri.partition("://")[2] == bare), DEFAULT_DIALECT)


def _name_of(file: FilePath) -> str:
    """Name a file as seen from here, where that is shorter."""
    try:
        return str(file.relative_to(FilePath.cwd()))
    except ValueError:
        return str(file)


def _cause_of(error: BaseException, reference: str) -> LeadsNowhereError:
    """Find our own reason under the library's wrapping."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LeadsNowhereError):
            return LeadsNowhereError(
                f"{reference}: {cause.found}" if reference not in cause.found else cause.found,
                cause.expected,
                cause.hint,
            )
        cause = cause.__cause__
    return LeadsNowhereError(f"{reference} cannot be resolved", "a reference inside the schema")
