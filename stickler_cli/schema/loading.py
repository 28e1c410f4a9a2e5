"""A schema as commands have it: read, inferred where it says nothing, compiled."""

import hashlib
from pathlib import Path
from typing import Final

import orjson

from stickler_cli.compare.plan import Plan
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.core.values import dataclass
from stickler_cli.settings import Infer
from .compiler import compile_schema
from .dialects import Schema
from .inference import Inferred, infer
from .remarks import nothing_described, warnings_of, without_doubled_values

MODEL_NAME: Final = "x-aws-stickler-model-name"


@dataclass(frozen=True, slots=True)
class LoadedSchema:
    """A compiled schema and which file it was."""

    path: str
    """As the user named it."""
    digest: str
    """`sha256:` and the hexadecimal digest of the file's bytes."""
    plan: Plan
    contents: Schema
    """With the annotations that were inferred."""
    inferred: str | None = None
    """The digest of these annotations; None where none were."""
    fields: tuple[Inferred, ...] = ()
    """How each field is compared, and who said so; in schema order, parents first."""
    warnings: tuple[Problem, ...] = ()
    """What the schema says in vain."""
    refusals: tuple[Problem, ...] = ()
    """Why it is of no use, though without inference it can be: it describes no field."""

    @property
    def name(self) -> str:
        """What people call its documents: its title, else its model name, else its file's name."""
        if isinstance(self.contents, dict):
            for key in ("title", MODEL_NAME):
                name = self.contents.get(key)
                if isinstance(name, str) and name.strip():
                    return name.strip()
        return Path(self.path).stem or self.plan.model_name

    @property
    def remark(self) -> str:
        """What to tell of what was inferred; empty where nothing was."""
        if self.inferred is None:
            return ""
        count = sum(field.source == "inferred" for field in self.fields)
        annotated = any(field.source == "annotation" for field in self.fields)
        lacks = "does not annotate all" if annotated else "has no annotations"
        return (
            f"{self.path} {lacks}: how to compare was inferred for {count} "
            f"field{'s' * (count != 1)} (--infer never takes the defaults)"
        )


def load_schema(path: str, *, allow_plugins: bool = False, when: Infer = "never") -> LoadedSchema:
    """Read and compile a schema file; raise SchemaError as `compile_schema` does."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        hint = "the order is SCHEMA GT PRED" if Path(path).is_dir() else "check the path"
        found = f"the schema cannot be read ({error.strerror})"
        raise SchemaError([Problem(path, found, "a JSON Schema file", hint)]) from None
    try:
        schema = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        found, at = f"the schema is not JSON ({error.msg})", (error.lineno, error.colno)
        raise SchemaError([Problem(path, found, "a JSON Schema", "", None, *at)]) from None
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return loaded(schema, path, Path(path), digest, allow_plugins=allow_plugins, when=when)


def loaded(  # noqa: PLR0913 - what a file is, and how it is read
    schema: JsonValue,
    path: str = "",
    file: Path | None = None,
    digest: str = "",
    *,
    allow_plugins: bool = False,
    when: Infer = "never",
) -> LoadedSchema:
    """Infer and compile a parsed schema; raise SchemaError as `compile_schema` does."""
    found = infer(schema, path, file, when=when, allow_plugins=allow_plugins)
    inferred = found.annotations
    nothing = isinstance(schema, dict) and not found.fields
    refusals = (nothing_described(found.schema, path),) if nothing else ()
    try:
        plan = compile_schema(
            found.schema, path, file, allow_plugins=allow_plugins, inferred=inferred
        )
    except SchemaError as error:
        # What is invalid may be no schema at all, but have one inside.
        raise SchemaError((*(each for each in refusals if each.hint), *error.problems)) from None
    if refusals and when != "never":
        raise SchemaError(refusals)
    inferred_as = repr([(place, said) for (_, place), said in inferred.items()]).encode()
    known_as = f"sha256:{hashlib.sha256(inferred_as).hexdigest()}" if inferred else None
    warnings = tuple(warnings_of(found.schema, path))
    contents = without_doubled_values(found.schema)
    return LoadedSchema(path, digest, plan, contents, known_as, found.fields, warnings, refusals)
