"""The job of a run: everything that decides the results of the run.

This module also defines the groups of documents and the settings of worker processes.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.json_values import OBJECTS_OR_ARRAYS, DocumentKind, JsonDocument
from stickler_cli.core.locations import Path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.document_tables import cell_text, read_columns
from stickler_cli.documents.key_edits import NO_EDITS, parse_key_edits
from stickler_cli.documents.lines import value_at
from stickler_cli.documents.wrapper_forms import NO_FORM, Form
from stickler_cli.documents.wrappers import PlaceWithFields, Unwrapper
from stickler_cli.metrics import Measure
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.verdicts import DocumentValidator
from stickler_cli.score.document_result import SIDES, SchemaVerdict, Side
from stickler_cli.score.errors.marks import Marks
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.settings.deciding import (
    BoxFormat,
    IgnoreOptions,
    KeptRows,
    KeyOptions,
    Missing,
    Validate,
    WrapperOptions,
)

BY: Final = "--by"
BY_FILE: Final = "--by-file"
SCHEMA_BY: Final = "--schema-by"
MARK: Final = "@"  # prefix of a key that is not a field of the ground truth
DIRECTORY: Final = f"{MARK}directory"
ID: Final = f"{MARK}id"  # a group for each document; useful only to choose schemas

EXPECTED: Final = (
    f"the name of a field in the ground truth, {DIRECTORY}, or {MARK}COLUMN for a column of "
    f"the {BY_FILE}"
)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A key to group documents by: a field, `@directory`, or a column of a metadata file."""

    key: str
    path: Path = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """Maps the id of each document to its group, as read from a column of a metadata file. Empty if
    documents are grouped by anything else."""


def parse_groupings(
    keys: Sequence[str], file: str | None, schema_by: str | None = None
) -> tuple[Grouping, ...]:
    """Return a grouping of documents for each key. The metadata file is read if there is one.

    If `schema_by` is given, the last grouping chooses the schema of a document.
    """
    requested_keys = [(BY, key) for key in keys]
    requested_keys += [] if schema_by is None else [(SCHEMA_BY, schema_by)]
    own_keys = DIRECTORY, ID
    columns = [
        (option, key)
        for option, key in requested_keys
        if key.startswith(MARK) and key not in own_keys
    ]
    problems = [
        Problem(
            f"{option} {key}",
            f"{key} is a column of the {BY_FILE}, but {BY_FILE} is not given",
            EXPECTED,
        )
        for option, key in columns
        if file is None
    ]
    if file is not None and not columns:
        finding = f"neither {BY} nor {SCHEMA_BY} uses a column of this file"
        problems.append(
            Problem(f"{BY_FILE} {file}", finding, f"an option such as {BY} {MARK}language")
        )
    problems += (
        Problem(BY, f"the key {key!r} is given twice")
        for key in dict.fromkeys(keys)
        if keys.count(key) > 1
    )
    if problems:
        raise UsageError(problems)
    names = [*dict.fromkeys(key.removeprefix(MARK) for _, key in columns)]
    by_column = read_columns(file, names) if file is not None else {}
    return tuple(
        Grouping(key, names=by_column.get(key.removeprefix(MARK), {}))
        if key.startswith(MARK)
        else Grouping(key, _field_named(option, key))
        for option, key in requested_keys
    )


def _field_named(option: str, key: str) -> Path:
    try:
        path = parse_field_path(key)
    except ValueError as error:
        raise UsageError([Problem(f"{option} {key}", str(error), EXPECTED)]) from None
    if not path:
        raise UsageError([Problem(option, "the value is empty", EXPECTED)])
    return path


def group_of_id(document: str, grouping: Grouping) -> str | None:
    """Return the group of a document if its id alone decides it, otherwise None."""
    if grouping.key == DIRECTORY:
        return str(PurePosixPath(document).parent)
    if grouping.key == ID:
        return document
    return grouping.names.get(document)


def group_of(document: str, gt: JsonDocument | Problem | None, grouping: Grouping) -> str | None:
    """Return the group of a document by its id or its ground truth; None if it has no group."""
    if grouping.key.startswith(MARK):
        return group_of_id(document, grouping)
    with suppress(LookupError):
        return None if isinstance(gt, Problem) else cell_text(value_at(gt, grouping.path))
    return None


@dataclass(frozen=True, slots=True)
class OutputsRequested:
    """Which results are wanted in addition to the figures of the evaluation."""

    document_lines: bool = False
    non_match_lines: bool = False
    value_lines: bool = False
    first_non_matches: int = 0
    """How many errors to keep. The first errors of the run are kept."""
    accounts: bool = False
    intervals: IntervalSettings | None = None
    document: bool = False
    """Whether to keep a record that explains the comparison, for a run of one pair."""
    detail: bool = False
    """Whether to keep details of values and documents for an HTML page."""
    repeats: bool = False
    """Whether a note says how many ground truths are repeated. Repeated documents make confidence
    intervals too narrow."""
    notes: bool = False
    """Whether a report or a run directory shows the notes of the run."""
    boxes: BoxFormat | None = None
    """What the four numbers of a box mean, for pages that show boxes; None to keep no boxes."""
    fingerprints: bool = False
    """Whether to keep a fingerprint of each document."""
    rows: KeptRows = "auto"
    """Whether to keep the figures of each document, for statistics and reports."""
    recall_with_fd: bool = False
    """Whether wrong values lower the recall as missed values do. This concerns the output lines of
    single documents."""


def unwrapper_of(root: PlaceWithFields, settings: WrapperOptions) -> Unwrapper | None:
    """Return an object that takes values out of wrappers; None if values are compared as they are.

    Raises:
        UsageError: an option names an invalid form or field.
    """
    edits = NO_EDITS
    if isinstance(settings, KeyOptions):
        edits = parse_key_edits(settings.ignore, settings.rename)
    elif isinstance(settings, IgnoreOptions):
        edits = parse_key_edits(settings.ignore, ())
    if settings.wrapped == "none":
        return Unwrapper(root, NO_FORM, edits) if edits else None
    value, _, confidence = settings.wrapped.partition(":")
    if not value:
        expected = "auto, none, or VALUE_KEY[:CONFIDENCE_KEY]"
        raise UsageError([Problem("--wrapped", f"the value is {settings.wrapped!r}", expected)])
    form = None if settings.wrapped == "auto" else Form(value, confidence)
    return Unwrapper(root, form, edits)


class Validation(NamedTuple):
    """A schema, and which sides of documents are validated against it."""

    validator: DocumentValidator
    sides: tuple[Side, ...]

    def verdicts(self, pair: DocumentPair) -> dict[Side, SchemaVerdict]:
        """Validate the documents of a pair. Return the verdict for each side that is validated."""
        documents = ((side, getattr(pair, side)) for side in self.sides)
        return {
            side: None
            if isinstance(document, Problem)
            else tuple(self.validator.violations(document, pair.gold if side == "gt" else None))
            for side, document in documents
            if document is not None
        }


def sides_of(chosen: Validate) -> tuple[Side, ...]:
    """Return the sides to be validated."""
    return tuple(side for side in SIDES if chosen in (side, "both"))


def validation_of(chosen: Validate, schema: Schema, file: str | None = None) -> Validation | None:
    """Return the validation of the chosen sides against a schema, or None if no side is chosen."""
    sides = sides_of(chosen)
    return Validation(DocumentValidator(schema, file or "", file), sides) if sides else None


class HasPlan(Protocol):
    """Anything that has a plan: a `Job` or a loaded schema."""

    @property
    def plan(self) -> Plan:
        """Plan by which documents are compared."""


Planned = TypeVar("Planned", bound=HasPlan)


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides the result of a pair of documents."""

    plan: Plan
    options: Options
    missing: Missing = "fn"
    """How a ground truth without a prediction counts. `fn`: its values are false negatives; `skip`:
    it is not counted; `error`: the document failed."""
    requested: OutputsRequested = OutputsRequested()
    validation: Validation | None = None
    listed_fields: frozenset[Path] | None = None
    """Fields of the schema that have rows on an HTML page; None for all."""
    by: tuple[Grouping, ...] = ()
    unwrapper: Unwrapper | None = None
    """Takes values out of wrapper objects; None if documents have no wrappers."""
    metrics: Mapping[str, Measure] = field(default_factory=dict)
    """Metrics that the user defined. Maps the name of a metric to an accumulator that has not seen
    any document yet."""
    marks: Marks = field(default_factory=dict)
    """Maps the id of a document to people's verdicts on its errors."""
    step: str = ""
    """Key of the job's schema, such as `invoice/`, if the run has several schemas. Each document is
    then put into an object under this key. Empty if there is one schema."""
    schemas: "SchemaChoice[Job] | None" = None
    """Chooses the job of a document if there are several schemas; None if there is one schema."""

    @property
    def has_parts(self) -> bool:
        """Whether results contain more than figures: lines, details for a page, or verdicts."""
        requested = self.requested
        has_lines = requested.document_lines or requested.non_match_lines or requested.value_lines
        return has_lines or requested.detail or bool(self.marks)

    def for_document(self, document: str, gt: JsonDocument | Problem | None) -> "Job | Problem":
        """Return the job for the schema of a document.

        If no schema can be chosen, the problem is returned.
        """
        return self.schemas.for_document(document, gt) if self.schemas else self


@dataclass(frozen=True, slots=True)
class SchemaChoice(Generic[Planned]):
    """Chooses one of several schemas for each document."""

    by: Grouping
    of_step: Mapping[str, Planned]
    """Maps the key of each schema, such as `invoice/`, to the job of the schema or to the loaded
    schema. The documents of the schema are put into an object under this key."""

    def for_document(self, document: str, gt: JsonDocument | Problem | None) -> Planned | Problem:
        """Return the entry of `of_step` for the schema of a document.

        Return a problem if the document has no value that selects a schema, or if `of_step` has no
        entry for the selected schema.
        """
        name = group_of(document, gt, self.by)
        planned = self.of_step.get(f"{name}/")
        if planned is not None:
            return planned
        names = [step.removesuffix("/") for step in self.of_step]
        if name is None:
            finding = f"the document has no value for {self.by.key}, which selects its schema"
            return Problem(document, finding, f"the name of a schema, such as {names[0]}")
        hint = did_you_mean(name, names)
        finding = (
            f"the schema of this document is '{name}', but the directory of schemas has no file "
            f"'{name}.json'"
        )
        return Problem(document, finding, hint=hint)

    def kinds_of(
        self, document: str, gt: JsonDocument | Problem | None
    ) -> tuple[DocumentKind, ...]:
        """Return the JSON types that the prediction of a document may have."""
        planned = self.for_document(document, gt)
        return OBJECTS_OR_ARRAYS if isinstance(planned, Problem) else (planned.plan.kind,)


class Cluster(NamedTuple):
    """A Dask cluster that does the work of a run."""

    scheduler: str | None
    """Address of the scheduler; None to start a cluster on this machine."""
    jobs: int | Literal["auto"]
    """Number of workers if the cluster is started on this machine; `auto` means one for each
    core."""
    sources: tuple[str, ...]
    """Files and directories of documents, which every worker must be able to read."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Settings of the processes that do the work of a run. Results do not depend on them."""

    jobs: int | Literal["auto"] = 1
    """Number of processes, at least 1. With 1, only this process works. `auto` chooses the number
    from the cores of the machine and the amount of work."""
    chunk_size: int | None = None
    """Number of documents in a chunk. The documents of a chunk are compared together. With None,
    the number is adapted to the size of the documents and to the time that earlier chunks took. If
    models are asked, None means a fixed number."""
    source: str = "--jobs"
    document_timeout: float | None = None
    """Seconds that a document may take in another process; None for no limit."""
    watched: bool = False
    """Whether this process only watches workers and stops slow ones, instead of comparing documents
    itself."""
    memory_limit: int | None = None
    """Bytes of memory that the documents in a process may take, not counting the program itself."""
    cluster: Cluster | None = None
    """A Dask cluster that does the work instead of local processes."""
