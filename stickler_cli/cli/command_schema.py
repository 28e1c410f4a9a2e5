"""Load the schema that the settings of a command name. If they name none, infer it."""

import re
import shlex
import sys
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.core.json_values import OBJECTS_OR_ARRAYS, JsonDocument, json_line, kind_of
from stickler_cli.core.option import paths_named
from stickler_cli.core.problems import Problem, SchemaError, UsageError, imported
from stickler_cli.core.remote import is_url
from stickler_cli.documents.document_pair import PairShape
from stickler_cli.documents.document_tables import column_names, is_arrow_table
from stickler_cli.documents.lines import holds_array, is_stream, looking_into
from stickler_cli.documents.pairs import DocumentSet, open_documents
from stickler_cli.documents.reading import decoded
from stickler_cli.documents.roots import parse_root, root_text
from stickler_cli.documents.sources import SourceKind, kind_of_source, near_name
from stickler_cli.documents.table_columns import usual_columns
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.runs.job import group_of, parse_groupings, unwrapper_of
from stickler_cli.runs.whole_files import check_outputs
from stickler_cli.schema.inference.observation import FIRST, Observed
from stickler_cli.schema.kinds import open_default
from stickler_cli.schema.loading import (
    LoadedSchema,
    doubt_of_document,
    is_schema_file,
    load_observed,
    load_schema,
    load_schemas,
    loaded,
    schema_digest,
)
from stickler_cli.settings.deciding import (
    BoxFormat,
    FindingOptions,
    IgnoreOptions,
    Infer,
    PairsSource,
    PluginOptions,
    PredictionSource,
    SchemaOptions,
    SeveralSchemas,
    TruthSource,
    WrapperOptions,
)
from stickler_cli.settings.of_commands import CheckSettings, EvalSettings
from stickler_cli.settings.running import ConsoleOptions
from .console import show_problems, warn

_MODEL: Final = re.compile(r"[^\W\d][\w./]*:[^\W\d][\w.]*")


def schema_of(name: str, settings: SchemaOptions) -> LoadedSchema:
    """Load the schema of a command. If `name` is empty, infer the schema from ground truths.

    Print to standard error what was inferred, and which annotations have no effect.
    """
    if isinstance(settings, SeveralSchemas) and settings.schema_by is not None:
        if not name:
            finding = "SCHEMA is missing"
            raise UsageError([Problem("--schema-by", finding, "a directory of schemas")])
        options: Any = {"allow_plugins": settings.allow_plugins, "when": settings.infer}
        options["boxes"] = settings.boxes
        schema = load_schemas(name, look=partial(_observe_first_documents, settings), **options)
    elif not name and isinstance(settings, TruthSource) and isinstance(settings, FindingOptions):
        schema = _infer_from_ground_truth(settings.gt, settings, settings.infer, settings.boxes)
    else:
        schema = _load_named(name, settings)
    files = [("a file that the schema refers to", file) for file in schema.plan.files]
    check_outputs(paths_named(settings, "output"), files)
    if not (isinstance(settings, ConsoleOptions) and settings.quiet):
        # `check` reports refusals as errors.
        refusals = () if isinstance(settings, CheckSettings) else schema.refusals
        show_problems((*refusals, *schema.warnings), "warning")
        if schema.remark:
            warn(schema.remark)
        if schema.note and not _is_among_notes(schema, settings):
            warn(schema.note)
    return schema


def _is_among_notes(schema: LoadedSchema, settings: SchemaOptions) -> bool:
    """Return whether the report of a command will show the note about the schema.

    The report shows the note if the report is a table and the schema was inferred. Otherwise, the
    caller must print the note to standard error.
    """
    has_table = isinstance(settings, EvalSettings) and settings.format == "table"
    return has_table and schema.inferred is not None


def _load_named(name: str, settings: SchemaOptions) -> LoadedSchema:
    """Load the schema from a file, or from a pydantic model given as `module:Model`."""
    options: Any = {
        "when": settings.infer,
        "look": lambda: _observe_first_documents(settings).get(""),
    }
    options["boxes"] = settings.boxes
    if not is_model(name):
        if not (is_url(name) or Path(name).exists()):
            finding = "there is no such file or directory"
            raise SchemaError(
                [
                    Problem(
                        source=name,
                        found=finding,
                        expected="a JSON Schema file",
                        hint=near_name(name),
                    )
                ]
            )
        return load_schema(name, allow_plugins=settings.allow_plugins, **options)
    from stickler_cli.api.ruled import inference_for  # imported late: it loads pydantic

    compared_by: dict[str, BaseComparator] = {}
    contents = model_schema(name, settings, compared_by)
    digest = schema_digest(json_line(model_schema(name, settings)))
    options |= {"allow_plugins": True, "comparators": compared_by}
    options["when"] = inference_for(_model_class(name, settings), settings.infer)
    return loaded(contents, name, None, digest, **options)


def _observe_first_documents(
    settings: SchemaOptions, schemas: Container[str] = ("",)
) -> dict[str, Observed]:
    """Return statistics of the values in the first ground truths, separately for each schema.

    If all documents have the same schema, its key is the empty text. If each group of documents has
    its own schema, the keys are the names of groups followed by `/`, such as `invoices/`. Documents
    whose key is not in `schemas` are ignored.
    """
    values_by_schema: dict[str, Observed] = {}
    if not (isinstance(settings, TruthSource) and isinstance(settings, FindingOptions)):
        return values_by_schema
    grouping = None
    if isinstance(settings, SeveralSchemas) and settings.schema_by is not None:
        (grouping,) = parse_groupings((), settings.by_file, settings.schema_by)
    # The run will report the problem.
    with suppress(UsageError, OSError), looking_into(settings.gt):
        documents = _values_of(open_documents(settings.gt, settings), settings)
        for name, value in islice(documents, FIRST):
            step = f"{group_of(name, value, grouping)}/" if grouping else ""
            if isinstance(value, dict | list) and step in schemas:
                values_by_schema.setdefault(step, Observed()).add(value)
    return values_by_schema


def _infer_from_ground_truth(
    gt: str, settings: FindingOptions, when: Infer, boxes: BoxFormat
) -> LoadedSchema:
    if is_stream(gt):
        finding = (
            "without a SCHEMA, the ground truth must be read twice, but standard input "
            "can be read only once"
        )
        raise UsageError(
            [
                Problem(
                    source="GT",
                    found=finding,
                    expected="a file or directory",
                    hint="or give a SCHEMA",
                )
            ]
        )
    kind = "model" if is_model(gt) else "schema"
    if is_model(gt) or (kind_of_source(gt) is SourceKind.FILE and is_schema_file(gt)):
        missing = "PRED" if isinstance(settings, PredictionSource) else "GT"
        hint = "" if is_model(gt) else f"to use {gt} as ground truth, give a SCHEMA before it"
        finding = f"{missing} is missing: {gt} is a {kind}, so it was taken as SCHEMA, not as GT"
        raise UsageError([Problem("", finding, hint=hint)])
    command = _init_command(gt, settings)
    schema = load_observed(
        observe(gt, settings), decoded(gt), when=when, keeps=command, boxes=boxes
    )
    if kind_of_source(gt) is SourceKind.FILE and holds_array(gt):
        remark = (
            f"{decoded(gt)} is one array, so it counts as one document. To evaluate its "
            "elements, give a schema of type object"
        )
        return replace(schema, remark=f"{schema.remark}; {remark}")
    if kind_of_source(gt) is SourceKind.FILE and (doubt := doubt_of_document(gt)):
        return replace(schema, remark=f"{schema.remark}; {doubt}")
    return schema


def observe(
    source: str, settings: FindingOptions, tell: Callable[[str], None] | None = None
) -> Observed:
    """Read the documents of a source, and return statistics of the values of each field.

    `tell` prints a line of text. It is called if some documents cannot be read.

    Raises:
        UsageError: the source is unusable, or no document can be read.
    """
    documents, root = open_documents(source, settings), Observed()
    first_problem, n_unread = list[Problem](), 0
    for _, value in _values_of(documents, settings):
        if isinstance(value, Problem):
            n_unread += 1
            first_problem = first_problem or [value]
        else:
            root.add(value)
    if not root.total:
        finding = "none of the documents can be read" if first_problem else "there are no documents"
        summary = Problem(source, finding, "documents from which a schema can be inferred")
        raise UsageError([*documents.problems, *first_problem, summary])
    if first_problem and tell is not None:
        left_out = "1 document cannot be read and is left out"
        if n_unread > 1:
            left_out = f"{n_unread} documents cannot be read and are left out; the first"
        tell(f"warning: {left_out}: {first_problem[0]}")
    if not root.fields and root.elements is None:
        raise UsageError(
            [Problem(source, "the documents have no keys", "documents with at least one key")]
        )
    return root


def _values_of(
    documents: DocumentSet, settings: FindingOptions
) -> Iterator[tuple[str, JsonDocument | Problem]]:
    """Yield (id, content) of each ground truth, without wrappers.

    The content is a problem if the ground truth cannot be read, or if it is neither an object nor
    an array after its wrapper is removed.
    """
    shape = PairShape(gt_root=parse_root(settings.gt_root), kinds=OBJECTS_OR_ARRAYS)
    unwrapper: Unwrapper | None = Unwrapper(open_default())
    if isinstance(settings, WrapperOptions):
        unwrapper = unwrapper_of(open_default(), settings)
    for name, reference in documents.refs():
        value = shape.read_side(reference, "gt").value
        if isinstance(value, Problem):
            yield name, value
            continue
        unwrapped = value if unwrapper is None else unwrapper(value, is_truth=True).value
        if isinstance(unwrapped, dict | list):
            yield name, unwrapped
        else:
            finding = f"the value inside its wrapper is of type {kind_of(unwrapped)}"
            yield name, Problem(name, finding, "an object or an array")


def _init_command(gt: str, settings: FindingOptions) -> str:
    """Return the command line that infers a schema from a ground truth and writes it to a file."""
    steps = parse_root(settings.gt_root)
    if isinstance(settings, PairsSource) and settings.pairs and not is_arrow_table(gt):
        # Without --pairs, JSON Lines are not taken for pairs.
        steps = (*_gt_column(gt, settings), *steps)
    root = ["--gt-root", root_text(steps)] if steps else []
    ignored = settings.ignore if isinstance(settings, IgnoreOptions) else ()
    changes = [word for path in ignored for word in ("--ignore", path)]
    if isinstance(settings, WrapperOptions) and settings.wrapped != WrapperOptions.wrapped:
        changes += ["--wrapped", settings.wrapped]
    return shlex.join(["stickler", "init", decoded(gt), *root, *changes, "-o", "schema.json"])


def _gt_column(file: str, settings: FindingOptions) -> tuple[str, ...]:
    """Return the path of the ground-truth column in a table of pairs; empty if it is unknown."""
    if settings.gt_column is not None:
        return parse_root(settings.gt_column)
    names = column_names(file, settings.max_document_size)
    return tuple(usual_columns(names, "gt")[:1])


def is_model(name: str) -> bool:
    """Return whether a name has the form `module:Model` and is not an existing file."""
    return _MODEL.fullmatch(name) is not None and not Path(name).exists()


def model_schema(
    name: str, settings: PluginOptions, comparators: "dict[str, BaseComparator] | None" = None
) -> dict[str, Any]:
    """Return the annotated JSON Schema of a pydantic model, given as `module:Model`.

    Comparator objects are added to `comparators`, under the keys that stand for them in the schema.

    Raises:
        UsageError: plug-ins are not allowed, or the model does not exist.
    """
    model = _model_class(name, settings)
    # Imported late: it loads pydantic.
    from stickler_cli.api.ruled import model_schema as schema_of_class

    return schema_of_class(model, comparators)


def _model_class(name: str, settings: PluginOptions) -> Any:
    """Import a pydantic model, given as `module:Model`.

    Raises:
        UsageError: plug-ins are not allowed, or the model does not exist.
    """
    if not settings.allow_plugins:
        hint = "add --allow-plugins to import the model"
        raise UsageError(
            [
                Problem(
                    source=name,
                    found="a pydantic model is Python code, and code is run only if you allow it",
                    expected="a schema file",
                    hint=hint,
                )
            ]
        )
    if str(Path.cwd()) not in sys.path:
        # So that a model beside a script is found, as when the script runs.
        sys.path.insert(0, str(Path.cwd()))
    try:
        file, colon, of_module = name.partition(":")  # for example a file instead of a module
        model = imported(f"{file.removesuffix('.py').replace('/', '.')}{colon}{of_module}")
    except Exception as error:
        finding = f"the model cannot be imported ({type(error).__name__}: {error})"
        raise UsageError([Problem(name, finding, "module:Model")]) from error
    if not hasattr(model, "model_json_schema"):
        raise UsageError(
            [Problem(name, "this Python object is not a pydantic model", "a subclass of BaseModel")]
        )
    return model
