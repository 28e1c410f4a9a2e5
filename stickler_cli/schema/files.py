"""Schema files beside a schema: the file that a reference means, and its contents."""

import codecs
import posixpath
from contextlib import suppress
from functools import cache
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import orjson

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass


class LeadsNowhereError(Exception):
    """A reference that cannot be followed."""

    def __init__(self, found: str, expected: str, hint: str = "") -> None:
        super().__init__(found, expected, hint)
        self.found = found
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Origin:
    """A document that references start from."""

    file: FilePath | None
    """Where it is on disk; None for a schema in memory."""
    identifier: str
    """The absolute URI that it gives itself, else that of its file."""


def find_file(uri: str, origin: Origin) -> FilePath:
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
        from urllib.request import url2pathname  # pulls in ssl; most schemas are one file

        candidates.append(FilePath(url2pathname(parts.path)))
    beside = _relative(uri, origin.identifier)
    if origin.file is not None and beside:
        candidates.append(FilePath(posixpath.normpath(origin.file.parent / beside)))
    for candidate in candidates:
        with suppress(OSError):  # too long a name, a folder not to be looked into
            if candidate.is_file():
                return candidate
    if parts.scheme in {"file", ""}:
        raise LeadsNowhereError(f"there is no file {name_of(candidates[0])}", "an existing file")
    copy = "keep a copy beside the schema and refer to it by its relative path"
    if candidates:
        copy = f"keep a copy as {name_of(candidates[0])}"
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
    name = name_of(file)
    try:
        return parsed_json(file.read_bytes())
    except OSError as error:
        found = f"{name} cannot be read ({error.strerror})"
        raise LeadsNowhereError(found, "a file that can be read") from None
    except orjson.JSONDecodeError as error:
        hint = "convert it to JSON" if file.suffix in {".yaml", ".yml"} else ""
        raise LeadsNowhereError(f"{name} is not JSON ({error})", "a JSON file", hint) from None


def name_of(file: FilePath) -> str:
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
