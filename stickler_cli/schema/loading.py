"""Read a schema file and compile it."""

import hashlib
from pathlib import Path

import orjson

from stickler_cli.compare.plan import Plan
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.core.values import dataclass
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.dialects import Schema


@dataclass(frozen=True, slots=True)
class LoadedSchema:
    """A compiled schema and which file it was."""

    path: str
    """As the user named it."""
    digest: str
    """`sha256:` and the hexadecimal digest of the file's bytes."""
    plan: Plan
    contents: Schema
    """The schema itself."""


def load_schema(path: str, *, allow_plugins: bool = False) -> LoadedSchema:
    """Read and compile a schema file.

    Raises:
        SchemaError: it cannot be read, is not JSON, or has problems; with all of them.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        hint = "the order is SCHEMA GT PRED" if Path(path).is_dir() else "check the path"
        found = f"the schema cannot be read ({error.strerror})"
        raise SchemaError([Problem(path, found, "a JSON Schema file", hint)]) from None
    try:
        schema = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        problem = Problem(
            path,
            f"the schema is not JSON ({error.msg})",
            "a JSON Schema",
            line=error.lineno,
            column=error.colno,
        )
        raise SchemaError([problem]) from None
    plan = compile_schema(schema, path, Path(path), allow_plugins=allow_plugins)
    return LoadedSchema(path, f"sha256:{hashlib.sha256(content).hexdigest()}", plan, schema)
