"""Load schemas for commands: read files, infer missing annotations, and compile the schemas."""

import hashlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.compare.plan import Plan
from stickler_cli.core.figures import INFERRED_FROM, join_some, number_of
from stickler_cli.core.json_values import JsonValue, json_line
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.core.remote import is_url, list_url, read_file_or_url, shown_url
from stickler_cli.schema.inference.observation import Look, Observed
from stickler_cli.schema.inference.observed_schemas import observed_schema
from stickler_cli.settings.deciding import BoxFormat, DocumentOptions, Infer
from .annotations import IGNORED, TEXT, annotated
from .compiler import compile_schema
from .dialects import Schema
from .inference import Inference, Inferred, infer
from .inference.field_walker import IN_ANY_ORDER, LIST_OF
from .inference.name_rules import SEQUENCES, ends_in
from .references import of_yaml, parsed_json
from .schema_problems import (
    contains_schema,
    is_certain_schema,
    is_document,
    is_meant_as_schema,
    nothing_described,
    resembles_schema,
    warnings_of,
    without_doubled_values,
)

MODEL_NAME: Final = "x-aws-stickler-model-name"
NAMED_TEXTS: Final = 3
"""Maximum number of fields that a note names. If there are more, the note also gives the
number of fields that it does not name."""
PARTS: Final = frozenset(
    ("$schema", "$id", "$comment", "$defs", "definitions", "title", "description")
)
"""Top-level keys of a file that only defines what other schemas use. A file with no other keys
describes no documents."""


@dataclass(frozen=True, slots=True)
class LoadedSchema:
    """A compiled schema with its source text, its inferred annotations, and notes about it."""

    path: str
    """The file, as the user named it."""
    digest: str
    """`sha256:` and the hexadecimal digest of the file's bytes."""
    plan: Plan
    contents: Schema
    """The schema, including inferred annotations. There is one exception: if inference also
    describes fields that the user's schema leaves open, this is the user's schema without inferred
    annotations. Documents are then validated by what the user declared, not by what was
    observed."""
    inferred: str | None = None
    """The digest of the inferred annotations; None if nothing was inferred."""
    fields: tuple[Inferred, ...] = ()
    """How each field is compared, and where this was stated. Fields are in schema order, and an
    object comes before its fields."""
    warnings: tuple[Problem, ...] = ()
    """Problems, such as misspelt keys, because of which parts of the schema have no effect."""
    refusals: tuple[Problem, ...] = ()
    """If the schema describes no field, one problem with the reason; empty otherwise. A schema that
    describes no field can be loaded only if nothing is to be inferred (`--infer never`)."""
    remark: str = ""
    """A sentence on how many annotations were inferred; empty if nothing was inferred."""
    note: str = ""
    """Sentences about fields whose comparison may be too lenient; empty if there are no such
    fields. There are two kinds of such fields: texts without annotations, in a schema that
    annotates other fields, and lists whose order is ignored although their names suggest an
    order."""
    of_step: Mapping[str, "LoadedSchema"] = field(default_factory=dict)
    """If a directory was loaded, maps each kind of document to its schema. The kind is the name of
    the schema file without its suffix, and with `/` at the end: `invoices/` for `invoices.json`.
    Empty if a single file was loaded."""

    @property
    def schemas(self) -> "tuple[LoadedSchema, ...]":
        """The schemas of a directory; for a file, the schema itself."""
        return (*self.of_step.values(),) or (self,)

    @property
    def name(self) -> str:
        """A name for the documents: the schema's title, model name or file name."""
        for key in ("title", MODEL_NAME):
            name = self.contents.get(key)
            if isinstance(name, str) and name.strip():
                return name.strip()
        return Path(self.path).stem or self.plan.model_name


def load_schema(
    path: str,
    *,
    allow_plugins: bool = False,
    when: Infer = "never",
    look: Look | None = None,
    boxes: BoxFormat = "corners",
) -> LoadedSchema:
    """Read and compile a schema file. The function `loaded` explains the arguments."""
    shown_path = shown_url(path) if is_url(path) else path
    try:
        content = read_file_or_url(path, DocumentOptions.max_document_size)
    except OSError as error:
        hint = "check the path"
        if Path(path).is_dir():
            hint = "the order of arguments is SCHEMA GT PRED; "
            hint += "only eval --schema-by accepts a directory of schemas"
        finding = f"the schema cannot be read ({error.strerror or error})"
        raise SchemaError(
            [Problem(source=shown_path, found=finding, expected="a JSON Schema file", hint=hint)]
        ) from None
    try:
        schema = parsed_json(content)
    except orjson.JSONDecodeError as error:
        model = (
            f"for a pydantic model, give {path}:Model together with --allow-plugins"
            if path.endswith(".py")
            else ""
        )
        hint = model or of_yaml(path)
        raise SchemaError(
            [
                Problem(
                    source=shown_path,
                    found=f"the schema is not valid JSON ({error.msg})",
                    expected="a JSON Schema",
                    hint=hint,
                    line=error.lineno,
                    column=error.colno,
                )
            ]
        ) from None
    digest = schema_digest(content)
    # A schema at a URL has no file that relative references could start from.
    file = None if is_url(path) else Path(path)
    options: Any = {"allow_plugins": allow_plugins, "when": when, "look": look, "boxes": boxes}
    return loaded(schema, shown_path, file, digest, **options)


def load_schemas(
    path: str,
    *,
    allow_plugins: bool = False,
    when: Infer = "never",
    look: Callable[[Mapping[str, LoadedSchema]], Mapping[str, Observed]] | None = None,
    boxes: BoxFormat = "corners",
) -> LoadedSchema:
    """Read and compile the schemas of a directory, one for each kind of document.

    Files that describe no field, such as shared definitions, are skipped. If annotations must be
    inferred, `look` is called with all schemas and returns the values that were observed in the
    documents. In its argument and its result, the keys are the kinds of documents.

    Raises:
        SchemaError: a schema is invalid; the error has the problems of all schemas.
    """
    schemas_by_step: dict[str, LoadedSchema] = {}
    problems: list[Problem] = []
    shown_path = shown_url(path) if is_url(path) else path
    options: Any = {"allow_plugins": allow_plugins, "when": when, "boxes": boxes}
    files = {f"{name.removesuffix('.json')}/": file for name, file in _schema_files(path)}
    for step, file in files.items():
        try:
            schema = load_schema(file, **options)
        except SchemaError as error:
            problems += () if _describes_nothing(file) else error.problems
        else:
            schemas_by_step |= {} if schema.refusals else {step: schema}
    if not schemas_by_step and not problems:
        is_file = Path(path).is_file()
        problems.append(
            Problem(
                source=shown_path,
                found="this is a file" if is_file else "this directory contains no schema",
                expected="a directory of .json files, because --schema-by is given",
                hint="to use this file as the schema, leave out --schema-by" if is_file else "",
            )
        )
    if problems:
        raise SchemaError(problems)
    if look is not None and any(schema.remark for schema in schemas_by_step.values()):
        for step, seen in look(schemas_by_step).items():
            schemas_by_step[step] = load_schema(files[step], look=lambda seen=seen: seen, **options)  # type: ignore[misc]
    inferred = [schema for schema in schemas_by_step.values() if schema.remark]
    n_others = len(inferred) - 1
    others_text = number_of(n_others, "other schema")
    further_text = f"; this also applies to {others_text}" if n_others else ""
    digests = [(step, schema.digest, schema.inferred) for step, schema in schemas_by_step.items()]
    return LoadedSchema(
        shown_path,
        schema_digest(repr([step_and_digest[:2] for step_and_digest in digests]).encode()),
        plan_of_schemas(
            {step: schema.plan for step, schema in schemas_by_step.items()}, Path(path).name
        ),
        contents={},
        inferred=schema_digest(repr(digests).encode()) if inferred else None,
        warnings=tuple(
            warning for schema in schemas_by_step.values() for warning in schema.warnings
        ),
        remark=f"{inferred[0].remark}{further_text}" if inferred else "",
        note=" ".join(schema.note for schema in schemas_by_step.values() if schema.note),
        of_step=schemas_by_step,
    )


def _schema_files(path: str) -> list[tuple[str, str]]:
    """Return (name, path) of each .json file of a directory, sorted by name."""
    if is_url(path):
        try:
            named_files = [(name, url) for name, url, _ in list_url(path)]
        except OSError as error:
            finding = f"the directory cannot be listed ({error.strerror or error})"
            expected = "a directory whose files can be listed"
            raise SchemaError([Problem(shown_url(path), finding, expected)]) from None
    else:
        named_files = [(file.name, str(file)) for file in Path(path).glob("*.json")]
    return sorted(
        (name, file_path)
        for name, file_path in named_files
        if name.endswith(".json") and "/" not in name and not name.startswith(".")
    )


def _describes_nothing(file: str) -> bool:
    """Return whether a file only defines what other schemas use, and describes no documents."""
    with suppress(OSError, orjson.JSONDecodeError):
        schema = parsed_json(read_file_or_url(file, DocumentOptions.max_document_size))
        return isinstance(schema, dict) and not ({*schema} - PARTS)
    return False


def load_observed(
    seen: Observed,
    source: str,
    *,
    when: Infer = "always",
    keeps: str = "",
    boxes: BoxFormat = "corners",
) -> LoadedSchema:
    """Infer a schema from observed documents, and compile it.

    `keeps` is the command that would save the schema to a file. It is shown to the user.

    Raises:
        SchemaError: the documents have no field.
    """
    schema = observed_schema(seen)
    digest = schema_digest(json_line(schema))
    when_inferred: Infer = "never" if when == "never" else "always"
    observed_values = seen if when_inferred == "always" else None
    settings: Any = {"when": when_inferred, "seen": observed_values, "boxes": boxes}
    loaded_schema = loaded(schema, f"{INFERRED_FROM}{source}", None, digest, **settings)
    remark = f"no schema given: inferred one from {number_of(seen.total, 'document')} in {source}"
    if keeps:
        remark += f"; save it with `{keeps}`"
    return replace(loaded_schema, remark=remark)


def is_schema_file(path: str) -> bool:
    """Return whether a file is certainly a JSON Schema; False if it may be a document."""
    contents = _contents_of(path)
    is_schema = is_certain_schema(contents)
    if is_schema is not None or not isinstance(contents, dict):
        return bool(is_schema)
    try:
        if not infer(contents, path, Path(path), when="never").fields:
            return False
    except SchemaError:
        return True  # no document describes that much
    if contains_schema(contents):
        return True  # although it may be invalid
    try:
        compile_schema(contents, path, Path(path))
    except SchemaError:
        return False
    return True


def is_misspelt_schema(path: str) -> bool:
    """Return whether a file that is not a valid schema was probably meant as one.

    This is assumed if the file has a misspelt keyword, or contains a schema.
    """
    contents = _contents_of(path)
    return isinstance(contents, dict) and is_meant_as_schema(contents)


def doubt_of_document(path: str) -> str:
    """Return advice if a document looks like a schema, or an empty text if it does not."""
    if not resembles_schema(_contents_of(path)):
        return ""
    return f'{path} was read as a document; if it is a schema, add a "$schema" key to it'


def _contents_of(path: str) -> JsonValue:
    """Return the JSON value of a file; None if the file cannot be read."""
    try:
        return parsed_json(Path(path).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None


def loaded(  # noqa: PLR0913 - a file and its options
    schema: JsonValue,
    path: str = "",
    file: Path | None = None,
    digest: str = "",
    *,
    allow_plugins: bool = False,
    when: Infer = "never",
    seen: Observed | None = None,
    look: Look | None = None,
    comparators: Mapping[str, BaseComparator] | None = None,
    boxes: BoxFormat = "corners",
) -> LoadedSchema:
    """Infer missing annotations of a parsed schema, and compile it.

    `seen` has statistics of the values in the documents of this schema. A caller that has not read
    the documents gives the function `look` instead, which reads them and returns the statistics.
    `look` is called only if annotations must be inferred.

    Raises:
        SchemaError: `compile_schema` finds the schema invalid, or the schema describes no field
            and `when` is not "never".
    """
    options: Any = {"allow_plugins": allow_plugins, "comparators": comparators, "boxes": boxes}
    inference = infer(schema, path, file, when=when, seen=seen, **options)
    describes_nothing = isinstance(schema, dict) and not inference.fields
    refusals = (nothing_described(inference.schema, path),) if describes_nothing else ()
    try:
        plan = compile_schema(
            inference.schema, path, file, inferred=inference.annotations, **options
        )
        # Read documents only after the schema has compiled: an invalid schema fails at once.
        if inference.is_inferred and look is not None and (seen := look()):
            del inference, plan  # before the same is made again
            inference = infer(schema, path, file, when=when, seen=seen, **options)
            plan = compile_schema(
                inference.schema, path, file, inferred=inference.annotations, **options
            )
    except SchemaError as error:
        if isinstance(schema, dict) and is_document(schema):
            raise SchemaError([nothing_described(schema, path)]) from None
        # The invalid schema may be another JSON value that contains a schema.
        raise SchemaError(
            (*(refusal for refusal in refusals if refusal.hint), *error.problems)
        ) from None
    inferred = inference.annotations
    plan = replace(plan, reads_texts=inference.is_inferred)
    if refusals and when != "never":
        raise SchemaError(refusals)
    annotations_text = repr(
        [(path_in_schema, keys) for (_, path_in_schema), keys in inferred.items()]
    ).encode()
    # Validate documents by what the user's schema declares, not by what was observed.
    describes_more = inference.describes_more and isinstance(schema, dict)
    contents: Any = schema if describes_more else inference.schema
    return LoadedSchema(
        path,
        digest,
        plan,
        contents=without_doubled_values(contents),
        inferred=schema_digest(annotations_text) if inferred else None,
        fields=inference.fields,
        warnings=tuple(warnings_of(inference.schema, path)),
        refusals=refusals,
        remark=_remark(path, inference) if inferred else "",
        note=_note_on_fields(path, inference, when),
    )


def schema_digest(content: bytes) -> str:
    """Return the digest that identifies a schema by its content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _note_on_fields(path: str, inference: Inference, when: Infer) -> str:
    if inference.is_inferred:
        return _note_on_order(path, inference.fields)
    if when == "auto":
        return _note_on_texts(path, inference.fields)
    return ""


def _note_on_texts(path: str, fields: Sequence[Inferred]) -> str:
    """Return a note about text fields that have no annotations although other fields have some.

    Empty if there is no such text field.
    """
    ignored = [field.path for field in fields if IGNORED in field.rules]
    texts = dict.fromkeys(
        field_path(field.path) or "elements"
        for field in fields
        if (field.comparator, field.threshold) == (TEXT.comparator, TEXT.threshold)
        and field.source == "default"
        and not any(field.path[: len(parent)] == parent for parent in ignored)
    )
    if not texts:
        return ""
    count = number_of(len(texts), "text field")
    return (
        f"{path}: {count} without annotations ({join_some([*texts], NAMED_TEXTS)}) "
        f"{'is' if len(texts) == 1 else 'are'} compared by edit distance at a threshold of "
        f"{TEXT.threshold}, so wrong values may count as right. For stricter comparisons, use "
        "--infer always"
    )


def _note_on_order(path: str, fields: Sequence[Inferred]) -> str:
    """Return a note about lists whose order is ignored although their names suggest an order.

    An example is `steps`. The note is empty if there is no such list.
    """
    names = dict.fromkeys(
        field_path(field.path)
        for field in fields
        if field.path
        and field.kind.startswith(LIST_OF)
        and field.reason.endswith(IN_ANY_ORDER)
        and ends_in(str(field.path[-1]), SEQUENCES)
    )
    if not names:
        return ""
    return (
        f"{path}: the order of list items is ignored in {join_some([*names], NAMED_TEXTS)}. "
        f'If the order matters, set "{annotated("ordered")}": true'
    )


def _remark(path: str, inference: Inference) -> str:
    # Schemas from Python have no file.
    advice = (
        f"to see why, run `stickler init {shlex.quote(path)}`; to use the defaults instead, "
        "give --infer never"
    )
    shown_advice = f" ({advice})" if is_url(path) or Path(path).is_file() else ""
    count = sum(field.source == "inferred" for field in inference.fields)
    annotated = any(field.source == "annotation" for field in inference.fields)
    lack = "does not annotate every field" if annotated else "names no comparators"
    fields = number_of(count, "field")
    return f"{path} {lack}, so stickler inferred how to compare {fields}{shown_advice}"
