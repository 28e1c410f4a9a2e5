"""The job of a run: all that decides its results, the groups of its documents, and its workers."""

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
MARK: Final = "@"  # begins a key that is not a field of the ground truth
DIRECTORY: Final = f"{MARK}directory"
ID: Final = f"{MARK}id"  # each document by itself, which is of use to schemas alone

EXPECTED: Final = f"a field of the ground truth, {DIRECTORY}, or {MARK}COLUMN of the {BY_FILE} FILE"


@dataclass(frozen=True, slots=True)
class Grouping:
    """A key to group documents by: a field, `@directory` or a column of a metadata file."""

    key: str
    path: Path = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """By a column: the group of each document that has one, by its id."""


def parse_groupings(
    keys: Sequence[str], file: str | None, schema_by: str | None = None
) -> tuple[Grouping, ...]:
    """Read the keys to group documents by, and the metadata file, if any.

    The last one chooses the schema of a document, if `schema_by` is given.
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
        Problem(f"{option} {key}", f"there is no {BY_FILE} that could have this column", EXPECTED)
        for option, key in columns
        if file is None
    ]
    if file is not None and not columns:
        finding = f"no {BY} and no {SCHEMA_BY} names a column of it"
        problems.append(Problem(f"{BY_FILE} {file}", finding, f"such as {BY} {MARK}language"))
    problems += (
        Problem(f"{BY} {key}", "it is given twice")
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
        raise UsageError([Problem(option, "it is empty", EXPECTED)])
    return path


def group_of_id(document: str, grouping: Grouping) -> str | None:
    """Return the group of a document by its id."""
    if grouping.key == DIRECTORY:
        return str(PurePosixPath(document).parent)
    if grouping.key == ID:
        return document
    return grouping.names.get(document)


def group_of(document: str, gt: JsonDocument | Problem | None, grouping: Grouping) -> str | None:
    """Return the group of a document by its id and ground truth; None where nothing says which."""
    if grouping.key.startswith(MARK):
        return group_of_id(document, grouping)
    with suppress(LookupError):
        return None if isinstance(gt, Problem) else cell_text(value_at(gt, grouping.path))
    return None


@dataclass(frozen=True, slots=True)
class OutputsRequested:
    """The parts of results that are made beside the evaluation."""

    document_lines: bool = False
    non_match_lines: bool = False
    value_lines: bool = False
    first_non_matches: int = 0
    """How many errors, the first of the run, are to be shown."""
    accounts: bool = False
    intervals: IntervalSettings | None = None
    document: bool = False
    """Whether results explain the comparison of a run of one pair."""
    detail: bool = False
    """Whether results have the details of values and documents that an HTML page shows."""
    boxes: BoxFormat | None = None
    """Meaning of the four numbers of a box, for pages that show boxes; None keeps no boxes."""
    fingerprints: bool = False
    """Whether results have a fingerprint of each document."""
    rows: KeptRows = "auto"
    """Whether the figures of each document are kept for statistics, beyond lines in files."""
    recall_with_fd: bool = False
    """Whether the recall in document lines counts false discoveries as missed."""


def unwrapper_of(root: PlaceWithFields, settings: WrapperOptions) -> Unwrapper | None:
    """Return an unwrapper of the values of documents; None where documents stay as they are.

    Raises:
        UsageError: an option names no form or no field.
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
        raise UsageError([Problem("--wrapped", f"it is {settings.wrapped!r}", expected)])
    form = None if settings.wrapped == "auto" else Form(value, confidence)
    return Unwrapper(root, form, edits)


class Validation(NamedTuple):
    """A schema and the sides to validate against it; invalid documents are still compared."""

    validator: DocumentValidator
    sides: tuple[Side, ...]

    def verdicts(self, pair: DocumentPair) -> dict[Side, SchemaVerdict]:
        """Return the verdict about each side that is there."""
        documents = ((side, getattr(pair, side)) for side in self.sides)
        return {
            side: None
            if isinstance(document, Problem)
            else tuple(self.validator.violations(document, pair.gold if side == "gt" else None))
            for side, document in documents
            if document is not None
        }


def sides_of(chosen: Validate) -> tuple[Side, ...]:
    """Return the sides that are held against the schema."""
    return tuple(side for side in SIDES if chosen in (side, "both"))


def validation_of(chosen: Validate, schema: Schema, file: str | None = None) -> Validation | None:
    """Return the validation of the chosen sides by a parsed schema; None if no side is chosen."""
    sides = sides_of(chosen)
    return Validation(DocumentValidator(schema, file or "", file), sides) if sides else None


class HasPlan(Protocol):
    """Something with a plan: a `Job`, or a loaded schema."""

    @property
    def plan(self) -> Plan:
        """How its documents are compared."""


Planned = TypeVar("Planned", bound=HasPlan)


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides the result of a pair."""

    plan: Plan
    options: Options
    missing: Missing = "fn"
    """How a ground truth without a prediction counts: false negatives, not at all, a failure."""
    requested: OutputsRequested = OutputsRequested()
    validation: Validation | None = None
    by: tuple[Grouping, ...] = ()
    unwrapper: Unwrapper | None = None
    """Takes values out of wrapper objects; None leaves documents as they are."""
    metrics: Mapping[str, Measure] = field(default_factory=dict)
    """Empty accumulators of further metrics, by name."""
    marks: Marks = field(default_factory=dict)
    """People's verdicts on errors, by document."""
    step: str = ""
    """The key under which documents stand, where they are of one of several schemas."""
    schemas: "SchemaChoice[Job] | None" = None
    """The job of each schema, if there are several."""

    @property
    def has_parts(self) -> bool:
        """Whether results have more than figures: lines, details of a page, or verdicts."""
        requested = self.requested
        has_lines = requested.document_lines or requested.non_match_lines or requested.value_lines
        return has_lines or requested.detail or bool(self.marks)

    def for_document(self, document: str, gt: JsonDocument | Problem | None) -> "Job | Problem":
        """Return the job of a document by its schema, or why it has none."""
        return self.schemas.for_document(document, gt) if self.schemas else self


@dataclass(frozen=True, slots=True)
class SchemaChoice(Generic[Planned]):
    """Chooses one of several schemas for each document."""

    by: Grouping
    of_step: Mapping[str, Planned]
    """Entry of each schema, by the key under which its documents stand."""

    def for_document(self, document: str, gt: JsonDocument | Problem | None) -> Planned | Problem:
        """Return the entry of the schema that a document has, or why it has none."""
        name = group_of(document, gt, self.by)
        planned = self.of_step.get(f"{name}/")
        if planned is not None:
            return planned
        names = [step.removesuffix("/") for step in self.of_step]
        if name is None:
            finding = f"{self.by.key} does not say of which schema it is"
            return Problem(document, finding, f"a name such as {names[0]}")
        hint = did_you_mean(name, names)
        return Problem(document, f"there is no schema {name}.json", hint=hint)

    def kinds_of(
        self, document: str, gt: JsonDocument | Problem | None
    ) -> tuple[DocumentKind, ...]:
        """Return the JSON types that a prediction may have."""
        planned = self.for_document(document, gt)
        return OBJECTS_OR_ARRAYS if isinstance(planned, Problem) else (planned.plan.kind,)


class Cluster(NamedTuple):
    """A cluster of Dask that does the work of a run."""

    scheduler: str | None
    """Its address; None for one that the run starts on this machine."""
    jobs: int | Literal["auto"]
    """The workers of one that is started."""
    sources: tuple[str, ...]
    """The files and directories of documents, which every worker must have."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that do the work of a run; its results do not depend on them."""

    jobs: int | Literal["auto"] = 1
    """At least 1, which is this one; `auto` takes as many as fit the machine and the work."""
    chunk_size: int | None = None
    """Documents that are compared at once; None goes by their size and the time that they take."""
    source: str = "--jobs"
    document_timeout: float | None = None
    """Seconds that a document may take in another process; None for any."""
    watched: bool = False
    """Whether all work is for other processes, as this one could not end it."""
    memory_limit: int | None = None
    """Bytes that documents may take in a process, in addition to the program itself."""
    cluster: Cluster | None = None
    """A cluster that does the work in their place."""
