"""`evaluate_many`: evaluate many documents in memory, as `stickler eval` does with files."""

import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import (
    OBJECTS_OR_ARRAYS,
    DocumentKind,
    JsonDocument,
    describe_python_type,
    kind_of,
)
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.option import options_of, read_settings
from stickler_cli.core.problems import Problem, SchemaError, UsageError
from stickler_cli.documents.document_pair import DocumentPair, KindsOf
from stickler_cli.documents.reading import expected_of
from stickler_cli.documents.wrappers import Unwrapped
from stickler_cli.metrics import Measure, measures_of
from stickler_cli.runs.assembly import job_of as job_of_schema
from stickler_cli.runs.evaluate import evaluate_in_memory
from stickler_cli.runs.job import (
    Job,
    SchemaChoice,
    Validation,
    group_of,
    parse_groupings,
    unwrapper_of,
    validation_of,
)
from stickler_cli.schema.inference.observation import FIRST, Look, Observed
from stickler_cli.schema.judging import MOST_LEVELS
from stickler_cli.schema.kinds import open_default
from stickler_cli.schema.loading import LoadedSchema, load_schema, load_schemas, loaded
from stickler_cli.score.record import join_rare_keys
from stickler_cli.settings.deciding import (
    BoxFormat,
    Counting,
    ExtraFields,
    Infer,
    Missing,
    Validate,
)
from stickler_cli.settings.of_commands import ManySettings
from .evaluation_views import Evaluation

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.metrics import Metric


def evaluate_many(  # noqa: PLR0913 - a keyword for each option
    schema: "str | os.PathLike[str] | dict[str, Any] | Plan | type | None",
    pairs: Iterable[object],
    *,
    workers: int | Literal["auto"] = ManySettings.workers,
    chunk_size: int | None = ManySettings.chunk_size,
    pairing_floor: float = ManySettings.pairing_floor,
    extra_fields: ExtraFields = ManySettings.extra_fields,
    partial_gt: bool = ManySettings.partial_gt,
    work_limit: float = ManySettings.work_limit,
    recall_with_fd: bool = ManySettings.recall_with_fd,
    missing: Missing = ManySettings.missing,
    counting: Counting = ManySettings.counting,
    wrapped: str = ManySettings.wrapped,
    ignore: tuple[str, ...] = ManySettings.ignore,
    rename: tuple[str, ...] = ManySettings.rename,
    allow_plugins: bool = ManySettings.allow_plugins,
    infer: Infer = ManySettings.infer,
    boxes: BoxFormat = ManySettings.boxes,
    validate: Validate = ManySettings.validate,
    metrics: "Iterable[str | type[Metric]]" = (),
    schema_by: str | None = ManySettings.schema_by,
    by_file: str | None = ManySettings.by_file,
    client: "Client | None" = None,
) -> Evaluation:
    """Compare many pairs of documents, as `stickler eval` does.

    Pairs are read one by one, so there may be more than fit into memory. A document with a problem
    does not end the run: the result has the problem and the id of the document. Only an exception
    that `pairs` itself raises ends the run.

    Args:
        schema: a schema file, a parsed or compiled schema, a pydantic class, or with `schema_by` a
            directory of schema files. If it is None, the class of the ground truths is used. If the
            ground truths are dicts, the class of the predictions is used instead, provided that it
            declares all keys of the ground truths. Otherwise the schema is inferred from the first
            1,000 ground truths, with a warning.
        pairs: pairs `(gt, pred)` or `(id, gt, pred)`. A side is a dict of JSON values, a model
            instance, a list if the schema is for arrays, or None if it is missing. A pair without
            an id gets its position in `pairs` as id, starting at 0.
        workers: number of processes. 1 uses only the calling process; `auto` chooses a number that
            suits the machine and the work. A script that uses more than one process must make this
            call inside `if __name__ == "__main__":`.
        chunk_size: number of pairs that are sent to a process together. None chooses it from the
            time that pairs take.
        pairing_floor: in [-1, 1); at or below this similarity, two list elements are not paired.
        extra_fields: how a key of a prediction counts if the schema does not declare it: `fa`, as
            a false alarm; `ignore`, not at all.
        partial_gt: whether a key that is missing in the ground truth means that the field was not
            labelled. The prediction of the field is then ignored. The value null still means that
            the field is absent.
        work_limit: maximum work for a pair, in units of about a second. A pair that needs more
            becomes a failed document. Work is counted and not timed, so the limit is the same on
            every machine.
        recall_with_fd: whether recall counts false discoveries as missed.
        missing: how a ground truth without a prediction counts: `fn`, as false negatives; `skip`,
            not at all; `error`, as a failed document.
        counting: counting mode of reports. `leaves` counts all values. `overall` counts a value, an
            object and an item as one each. `aggregate` counts values, with two exceptions: an item
            that does not match counts as one, and so does an item or object that only one side has.
        wrapped: which objects are taken as wrappers of a value and removed: `auto` (the usual
            objects with metadata), `none`, or `VALUE_KEY[:CONFIDENCE_KEY]`; see docs/confidence.md.
        ignore: fields that are left out on both sides, such as `id` or `**.score`.
        rename: new names for keys of predictions, such as `vendor=seller`.
        allow_plugins: whether the schema may name comparators of installed modules.
        boxes: notation of bounding boxes if neither schema nor values show it: `corners` or `xywh`.
        infer: when comparators are inferred from the types and names of fields, with a warning.
            `auto` infers them for a parsed schema or file without any annotation; `always` for all
            fields without annotations; `never` not at all.
        validate: which documents are also validated against the schema: `none`, `pred`, `gt` or
            `both`.
        metrics: further metrics of documents: names in the form of `--metric`, or classes.
            `evaluation.metric_figures` has their figures; see docs/metrics.md.
        schema_by: key that chooses the schema of a document: a field of the ground truth,
            `@directory` for the directory in the id, or `@COLUMN` for a column of `by_file`; see
            docs/evaluating.md.
        by_file: file with metadata of documents: CSV with a header, or JSON Lines. One column has
            the ids of the documents.
        client: client that sends the requests to models and counts their usage. None creates the
            client that `stickler eval` would use.

    Raises:
        SchemaError: the schema cannot be used.
        UsageError: an option is out of range, or the schema cannot be sent to other processes.
        UnavailableError: a comparator needs something that is not installed.
        WorkerDiedError: a process could not be started, or processes died repeatedly.
    """
    arguments = locals()
    known_options = options_of(ManySettings)
    options = {name: value for name, value in arguments.items() if name in known_options}
    settings = read_settings(ManySettings, options)
    _check_kind("pairs", pairs, Iterable, "an iterable of pairs of documents")
    if client is not None:
        from stickler_cli.clients.client import Client  # imported late: few runs ask models

        _check_kind("client", client, Client, "a Client, or None")
    measures = measures_of(metrics, allow_plugins=settings.allow_plugins)
    if settings.schema_by is not None:
        plan, documents, job_of = _of_schemas(schema, pairs, settings, measures)
    else:
        head: list[object] = []
        remaining_pairs = iter(pairs)

        def look() -> Observed:
            head.extend(islice(remaining_pairs, FIRST - len(head)))
            return _values_in(_truths_in(head, settings))

        if schema is None:
            look()
            schema = _schema_of(head, settings)
        plan, contents, file = compiled(schema, settings, look)
        documents = _document_pairs(chain(head, remaining_pairs), (plan.kind,))
        validation = validation_by(contents, file, settings)
        job_of = _job_of_plan(plan, settings, measures, validation)
    total = len(pairs) if isinstance(pairs, Sized) else None
    evaluation = evaluate_in_memory(
        plan, documents, settings, client=client, total=total, job_of=job_of
    )
    for note in join_rare_keys(evaluation, field_listing(plan)):
        warnings.warn(note, stacklevel=2)
    return Evaluation.of(evaluation)


def _job_of_plan(
    plan: Plan,
    settings: ManySettings,
    measures: Mapping[str, Measure],
    validation: Validation | None,
) -> Callable[[Options], Job]:
    """Return a function that makes the job for one schema. The function takes the options."""
    return partial(
        Job,
        plan,
        missing=settings.missing,
        validation=validation,
        unwrapper=unwrapper_of(plan.root, settings),
        metrics=measures,
    )


def _of_schemas(
    schema: object,
    pairs: Iterable[object],
    settings: ManySettings,
    measures: Mapping[str, Measure],
) -> tuple[Plan, Iterator[DocumentPair], Callable[[Options], Job]]:
    """Return (plan, documents, function that makes the job) for a run with several schemas.

    `settings.schema_by` decides which schema a document has.
    """
    if not isinstance(schema, str | os.PathLike):
        expected = "the path of the directory that holds the schemas for schema_by"
        raise UsageError(
            [Problem("argument 'schema'", f"the value is {described(schema)}", expected)]
        )
    (by,) = parse_groupings((), settings.by_file, settings.schema_by)
    head: list[object] = []  # pairs that inference reads; below they come first again
    remaining_pairs = iter(pairs)

    def look(schemas: Mapping[str, LoadedSchema]) -> dict[str, Observed]:
        head.extend(islice(remaining_pairs, FIRST))
        observed_by_step: dict[str, Observed] = {}
        for name, truth in _truths_in(head, settings):
            step = f"{group_of(name, truth, by)}/"
            if step in schemas:
                observed_by_step.setdefault(step, Observed()).add(truth)
        return observed_by_step

    loading_options: Any = {
        "allow_plugins": settings.allow_plugins,
        "when": settings.infer,
        "boxes": settings.boxes,
    }
    loaded_schemas = _warn_if_inferred(
        load_schemas(os.fspath(schema), look=look, **loading_options)
    )
    choice = SchemaChoice(by, loaded_schemas.of_step)

    def job_of(options: Options) -> Job:
        job = Job(loaded_schemas.plan, options, settings.missing, metrics=measures)
        return job_of_schema(loaded_schemas, settings, job, by)

    return (
        loaded_schemas.plan,
        _document_pairs(chain(head, remaining_pairs), OBJECTS_OR_ARRAYS, choice.kinds_of),
        job_of,
    )


def _schema_of(pairs: Sequence[object], settings: ManySettings) -> Plan | type:
    """Return the class of the documents, or a plan that is inferred from them.

    `pairs` are the first pairs of a run without a schema.

    Raises:
        UsageError: there is no ground truth.
    """
    # Imported late: it loads pydantic, and most runs have a schema.
    from .schemaless import schema_of

    truths = [truth for _, truth in _truths_in(pairs, settings)]
    return schema_of(_sides_of(pairs), truths)


def _sides_of(pairs: Iterable[object]) -> Iterator[tuple[object, object]]:
    """Yield (ground truth, prediction) of each pair that has a ground truth.

    Both are yielded unchanged: they are not converted to JSON values.
    """
    for pair in pairs:
        match pair:
            case DocumentPair() | (_, _) | (_, _, _):
                gt, pred = (pair.gt, pair.pred) if isinstance(pair, DocumentPair) else pair[-2:]
                if gt is not None:
                    yield gt, pred


def _truths_in(
    pairs: Iterable[object], settings: ManySettings
) -> Iterator[tuple[str, JsonDocument]]:
    """Yield (id, JSON values) of each ground truth. Wrappers and ignored keys are removed."""
    unwrap = unwrapper_of(open_default(), settings)
    for pair in _document_pairs(pairs, OBJECTS_OR_ARRAYS):
        if isinstance(pair.gt, dict | list):
            values: Any = unwrap(pair.gt, is_truth=True).value if unwrap else pair.gt
            if isinstance(values, dict | list):
                yield pair.id, values


def _values_in(truths: Iterable[tuple[str, JsonDocument]]) -> Observed:
    seen = Observed()
    for _, truth in truths:
        seen.add(truth)
    return seen


def compiled(
    schema: object,
    settings: ManySettings,
    look: Look | None = None,
) -> tuple[Plan, Callable[[], Any] | None, str | None]:
    """Compile a schema that is given in any form.

    Args:
        schema: a plan, a schema file, a parsed schema, or a pydantic class.
        settings: options of the comparison.
        look: returns statistics of the first documents; called if comparators are inferred.

    Returns:
        (plan, function that returns the schema as JSON, file of the schema). The function is None
        if the schema has no JSON form, and the file is None if the schema does not come from a
        file.

    Raises:
        SchemaError: the schema cannot be used.
        UsageError: `schema` is not a schema.
    """
    loading_options: Any = {
        "allow_plugins": settings.allow_plugins,
        "when": settings.infer,
        "look": look,
    }
    loading_options["boxes"] = settings.boxes
    match schema:
        case Plan():
            return schema, None, None
        case str() | os.PathLike():
            loaded_schema = _warn_if_inferred(load_schema(os.fspath(schema), **loading_options))
            return loaded_schema.plan, lambda: loaded_schema.contents, loaded_schema.path
        case dict():
            if problem := first_misfit(schema, "the schema", "schema"):
                raise SchemaError([problem])
            loaded_schema = _warn_if_inferred(loaded(schema, "the schema", **loading_options))
            return loaded_schema.plan, lambda: schema, None
        case type():
            compiled = method_of(schema, "comparison_plan")
            plan = compiled() if compiled else None
            if isinstance(plan, Plan):
                return plan, method_of(schema, "to_json_schema"), None
            if method_of(schema, "model_json_schema"):
                # Imported late: it loads pydantic, which the class has loaded.
                from .ruled import inference_for, model_schema

                comparators: dict[str, Any] = {}
                contents = model_schema(schema, comparators)
                loading_options |= {"allow_plugins": True, "comparators": comparators}
                loading_options["when"] = inference_for(schema, settings.infer)
                loaded_schema = _warn_if_inferred(
                    loaded(contents, schema.__name__, **loading_options)
                )
                return loaded_schema.plan, lambda: loaded_schema.contents, None
    description = repr(schema) if isinstance(schema, type) else described(schema)
    expected = "a schema file, a parsed schema, or a pydantic class"
    raise UsageError([Problem("argument 'schema'", f"the value is {description}", expected)])


def validation_by(
    contents: Callable[[], Any] | None, file: str | None, settings: ManySettings
) -> Validation | None:
    """Return how documents are validated against the schema; None if they are not validated.

    `contents` returns the schema. `file` is the file of the schema, if there is one.

    Raises:
        UsageError: documents must be validated, but the schema has no JSON form.
    """
    if settings.validate == "none":
        return None
    if contents is None:
        finding = (
            f"validate is {settings.validate!r}, but documents cannot be validated against a "
            "schema that is already compiled"
        )
        expected = "the schema file or the parsed schema"
        raise UsageError([Problem("", finding, expected)])
    return validation_of(settings.validate, contents(), file)


def _check_kind(name: str, value: object, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise UsageError(
            [Problem(f"argument {name!r}", f"the value is {described(value)}", expected)]
        )


def _warn_if_inferred(schema: LoadedSchema) -> LoadedSchema:
    """Warn the caller of `evaluate_many` if comparators were inferred.

    Return the schema unchanged.
    """
    if schema.remark:
        warnings.warn(schema.remark, stacklevel=4)
    return schema


def _document_pairs(
    pairs: Iterable[object], kinds: tuple[DocumentKind, ...], kinds_of: KindsOf | None = None
) -> Iterator[DocumentPair]:
    """Convert pairs to JSON documents, one by one. A pair may have any form that users may give."""
    for position, pair in enumerate(pairs):
        match pair:
            case DocumentPair():
                yield pair
            case (gt, pred) | (None, gt, pred):
                yield document_pair(str(position), gt, pred, kinds, kinds_of)
            case (name, gt, pred):
                yield document_pair(str(name), gt, pred, kinds, kinds_of)
            case _:
                finding = f"the pair is {described(pair)}"
                problem = Problem(
                    f"pair {position}", finding, "a pair (gt, pred) or a triple (id, gt, pred)"
                )
                yield DocumentPair(str(position), problem, None)


def document_pair(
    name: str,
    gt: object,
    pred: object,
    kinds: tuple[DocumentKind, ...],
    kinds_of: KindsOf | None = None,
) -> DocumentPair:
    """Convert both sides of a pair to JSON documents, and return the pair.

    `gt` and `pred` may be dicts, lists, model instances, or None if the side is missing. If a side
    cannot be converted, the pair contains a `Problem` in its place.
    """
    source = f"document {name}"
    truth = _read_side(gt, source, "ground truth", kinds)
    if kinds_of is not None and isinstance(truth, dict | list):
        kinds = kinds_of(name, truth)
        truth = _read_side(truth, source, "ground truth", kinds)
    pair = DocumentPair(name, truth, _read_side(pred, source, "prediction", kinds))
    # The ground truth as an instance of a model would have it.
    bare = getattr(gt, "_unwrapped", None)
    return replace(pair, gold=bare.gold) if isinstance(bare, Unwrapped) else pair


def _read_side(
    side: object, source: str, side_title: str, kinds: tuple[DocumentKind, ...]
) -> JsonDocument | Problem | None:
    """Return one side as a JSON document; None if it is missing, a problem if it is invalid."""
    if side is None or isinstance(side, Problem):
        return side
    try:
        value = side if isinstance(side, dict) else _dumped(side)
    except Exception as error:  # noqa: BLE001 - it becomes the document's problem
        finding = (
            f"the {side_title} cannot be turned into JSON values ({type(error).__name__}: {error})"
        )
        return Problem(source, finding)
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
    if kind not in kinds:
        hint = "to read text as JSON, use json.loads" if isinstance(side, str | bytes) else ""
        return Problem(
            source=source,
            found=f"the {side_title} is {described(side)}",
            expected=expected_of(kinds),
            hint=hint,
        )
    document: Any = value
    return first_misfit(document, source, side_title) or document


def _dumped(side: object) -> object:
    """Return the JSON values of a model instance; return other values unchanged.

    The dumping method is looked up on the class, because the instance may have a field with the
    same name.
    """
    if values := method_of(type(side), "comparison_values"):
        return values(side)
    if dump := method_of(type(side), "model_dump"):
        return dump(side, mode="json", by_alias=False, warnings=False, fallback=str)
    return side


def method_of(owner: object, name: str) -> Callable[..., Any] | None:
    """Return the method called `name`, or None if the object does not have it."""
    method = getattr(owner, name, None)
    return method if callable(method) else None


def described(value: object) -> str:
    """Return a phrase for the JSON type of a value, for messages. A class is named itself."""
    return describe_python_type(value) if isinstance(value, type) else f"of type {kind_of(value)}"


def first_misfit(document: JsonDocument, name: str, title: str) -> Problem | None:
    """Find the first value in a document that is not JSON. Return a problem for it, or None."""
    todo: list[tuple[Path, Any]] = [((), document)]
    while todo:
        path, value = todo.pop()
        if len(path) > MOST_LEVELS:
            return Problem(name, f"the {title} is nested more than {MOST_LEVELS} levels deep")
        is_object = isinstance(value, dict)
        for step, child in value.items() if is_object else enumerate(value):
            if is_object and type(step) is not str:
                finding = f"a key of the {title} is of type {type(step).__name__}"
                return Problem(
                    source=name,
                    found=finding,
                    expected="a string",
                    hint="",
                    pointer=json_pointer(path),
                )
            if isinstance(child, dict | list):
                todo.append(((*path, step), child))
                continue
            misfit = ""
            # Check exact types: comparators would see the text of subclasses, such as `Color.RED`.
            if type(child) not in (str, int, float, bool, NoneType):
                misfit = describe_python_type(child)
            elif isinstance(child, float) and not math.isfinite(child):
                misfit = str(child)
            if misfit:
                finding = f"a value of the {title} is {misfit}"
                hint = 'use model_dump(mode="json"), which returns JSON values'
                return Problem(
                    source=name,
                    found=finding,
                    expected="a JSON value",
                    hint=hint,
                    pointer=json_pointer((*path, step)),
                )
    return None
