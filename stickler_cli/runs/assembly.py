"""What a run is put together of: its settings, made into a job once everything was checked."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Final

from stickler_cli.compare.field_listing import is_bounded, known_paths
from stickler_cli.compare.plan import Plan
from stickler_cli.core.json_values import DocumentKind
from stickler_cli.core.option import part_of
from stickler_cli.core.problems import Problem, UsageError, require
from stickler_cli.core.remote import is_url
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_tables import is_arrow_table
from stickler_cli.documents.pairs import Pairs, open_pairs, selected, with_confidences
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.metrics.run_metrics import measures_of
from stickler_cli.records.row_files import format_of_lines
from stickler_cli.runs.directory.run_directory import KEPT_NON_MATCHES, OPTION
from stickler_cli.runs.directory.whole_files import check_outputs
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.evaluation import MOST_ROWS
from stickler_cli.score.gates import (
    Gate,
    check_metrics,
    check_paths,
    parse_gates,
    refuse_bounds,
    refuse_resampled,
)
from stickler_cli.score.intervals import intervals_of
from stickler_cli.score.policy import AcceptancePolicy
from stickler_cli.settings.allowed import TIMEOUT, Rows
from stickler_cli.settings.deciding import DecidingOptions
from stickler_cli.settings.inputs import SourceOptions
from stickler_cli.settings.of_documents import EvalSettings, ManySettings
from .asking import client_of, comparing, policy_of
from .grouping import Grouping, parse_groupings
from .job import Cluster, Job, OutputsRequested, SchemaChoice, Workers, validation_of
from .limits import check_memory_limit
from .tuned import overlap, tunings
from .unwrapping import unwrapper_of
from .verdict_files import marks_of

_READ_BESIDE: Final = ("confidence", "policy", "verdicts")
"""Options that name a file or directory that is read beside the documents."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """A run that may begin: whatever can be refused beforehand has been checked."""

    schema: LoadedSchema
    settings: EvalSettings
    pairs: Pairs
    job: Job
    workers: Workers
    gates: tuple[Gate, ...]
    warnings: Sequence[str] = ()
    """That gates judge documents which thresholds were tuned on."""
    policy: AcceptancePolicy | None = None
    """What is asked what it would let pass."""


def assemble(
    settings: EvalSettings,
    reported: OutputsRequested,
    load: Callable[[], LoadedSchema],
    tell: Callable[[str], None] | None = None,
) -> Assembly:
    """Put a run together, of settings and what reports need; no document is compared.

    `tell` is told, as a line, what takes long.

    Raises:
        UsageError: settings contradict each other, or name what cannot be used.
        SchemaError: the schema cannot be used.
        UnavailableError: something is needed that is not installed.
    """
    gates = tuple(parse_gates(settings.fail_under, settings.gate))
    if settings.memory_limit is not None:
        check_memory_limit()
    groupings = [*parse_groupings(settings.by, settings.by_file, settings.schema_by)]
    policy = policy_of(settings, dry_run=settings.dry_run)
    _check_outputs(settings, inputs_of(settings))
    loaded = load()
    options = comparing(loaded.plan, settings, client_of(loaded.plan, policy))
    check_paths(gates, known_paths(loaded.plan))
    measures = measures_of(settings.metric, allow_plugins=settings.allow_plugins)
    check_metrics(gates, measures)
    if settings.ci == "none":
        refuse_bounds(gates)
    pairs = open_pairs(settings.gt, settings.pred, settings, kinds_of(loaded), tell)
    if settings.confidence is not None:
        pairs = with_confidences(pairs, settings.confidence, settings)
    pairs = selected(pairs, settings, settings.seed)
    requested = _outputs_requested(settings, reported, pairs)
    if requested.rows == "none":
        refuse_resampled(gates)
    chosen_by = groupings.pop() if settings.schema_by is not None else None
    marks = marks_of(settings.verdicts, settings.max_document_size) if settings.verdicts else {}
    job = Job(
        loaded.plan,
        options,
        settings.missing,
        requested,
        by=tuple(groupings),
        metrics=measures,
        marks=marks,
    )
    job = job_of(loaded, settings, job, chosen_by)
    workers = _workers(settings, job)
    tuned = [each for one in loaded.each for each in tunings(one.contents)] if gates else []
    warnings = overlap(tuned, settings.gt, settings)
    accepting = _policy(settings, loaded) if settings.policy else None
    workers = replace(workers, cluster=_cluster(settings, workers, loaded.plan))
    return Assembly(loaded, settings, pairs, job, workers, gates, warnings, accepting)


def kinds_of(loaded: LoadedSchema) -> tuple[DocumentKind, ...]:
    """Return what documents are."""
    return tuple(dict.fromkeys(one.plan.kind for one in loaded.each))


def job_of(
    loaded: LoadedSchema, settings: EvalSettings | ManySettings, job: Job, by: Grouping | None
) -> Job:
    """Return a job with what its schema says, or each of several that documents choose from."""

    def of_one(schema: LoadedSchema, step: str = "") -> Job:
        validation = validation_of(settings.validate, schema.contents, schema.path)
        unwrapper = unwrapper_of(schema.plan.root, settings)
        return replace(job, plan=schema.plan, validation=validation, unwrapper=unwrapper, step=step)

    if by is None:
        return of_one(loaded)
    jobs = {step: of_one(one, step) for step, one in loaded.of_step.items()}
    unwrapper = unwrapper_of(loaded.plan.root, settings)
    return replace(job, unwrapper=unwrapper, schemas=SchemaChoice(by, jobs))


def _workers(settings: EvalSettings, job: Job) -> Workers:
    """Return who does the work: other processes alone, where a document may stall this one."""
    plan = job.plan
    timeout = None if plan.asks_models else settings.document_timeout
    validations = (
        one.validation for one in (job.schemas.of_step.values() if job.schemas else (job,))
    )
    may_stall = not is_bounded(plan) or not all(
        validation is None or validation.validator.is_bounded for validation in validations
    )
    return Workers(
        settings.jobs,
        source=f"--jobs {settings.jobs}",
        document_timeout=timeout,
        watched=timeout is not None and bool(may_stall or timeout < TIMEOUT),
        memory_limit=settings.memory_limit,
    )


def _cluster(settings: EvalSettings, workers: Workers, plan: Plan) -> Cluster | None:
    """Return the cluster that does the work, if one does.

    Raises:
        UnavailableError: Dask is not installed.
        UsageError: the run needs what only processes of this machine can do.
    """
    if settings.engine == "local":
        if settings.scheduler is not None:
            found, hint = "it is for --engine dask only", "add --engine dask"
            raise UsageError([Problem("--scheduler", found, hint=hint)])
        return None
    require("distributed", "--engine dask", "dask")
    asks = "fields are compared by models, which one process asks for the whole run"
    stalls = "a document may have to be ended, which no worker of Dask can be"
    limits = "each worker of Dask has a limit of its own: dask worker --memory-limit"
    given = settings.scheduler is not None and settings.jobs != "auto"
    problems = [
        Problem(option, found, hint=hint)
        for is_so, option, found, hint in (
            (plan.asks_models, "--engine dask", asks, "leave it out"),
            (workers.watched, "--engine dask", stalls, "leave it and --document-timeout out"),
            (settings.memory_limit, "--memory-limit", limits, "leave it out"),
            (given, "--jobs", "the cluster has the workers that it has", "leave it out"),
        )
        if is_so
    ]
    if problems:
        raise UsageError(problems)
    given_sources = settings.gt, settings.pred, settings.confidence
    sources = tuple(name for name in given_sources if name and _is_of_a_machine(name))
    return Cluster(settings.scheduler, settings.jobs, sources)


def _is_of_a_machine(source: str) -> bool:
    """Return whether others read it where it stands: rows and standard input are sent to them."""
    return source != STANDARD_INPUT and not is_url(source) and not is_arrow_table(source)


def _policy(settings: EvalSettings, schema: LoadedSchema) -> AcceptancePolicy:
    """Read a policy that is to be held against documents, which must be of the same schema."""
    # The reading of earlier runs' files, which few runs are held against.
    from .saved import load_policy

    name = str(settings.policy)
    policy = load_policy(name)
    if (policy.schema, policy.inferred) != (schema.digest, schema.inferred):
        found = "the policy was made under another schema"
        raise UsageError([Problem(f"--policy {name}", found, f"one of {schema.path}")])
    differing = [
        f"{option} was {policy.options.get(option)!r}"
        for option, value in asdict(part_of(settings, DecidingOptions)).items()
        if policy.options.get(option) != value
    ]
    if differing:
        found = f"the policy was made with other options: {', '.join(differing)}"
        raise UsageError([Problem(f"--policy {name}", found, "the same options")])
    if policy.by is not None and policy.by not in settings.by:
        found, hint = f"the policy is broken down by {policy.by}", f"add --by {policy.by}"
        raise UsageError([Problem(f"--policy {name}", found, hint=hint)])
    return policy


def inputs_of(settings: SourceOptions) -> list[tuple[str, str]]:
    """Return the name and the path of each input, ground truth and predictions last."""
    schema = [("the schema", settings.schema)] if settings.schema else []
    named = ((f"--{name}", getattr(settings, name, None)) for name in _READ_BESIDE)
    beside = [(name, path) for name, path in named if path is not None]
    return [*schema, *beside, ("GT", settings.gt), ("PRED", settings.pred)]


def _check_outputs(settings: EvalSettings, inputs: Sequence[tuple[str, str]]) -> None:
    """Refuse outputs that do not go together, or that would overwrite something."""
    lines = ("--documents", settings.documents), ("--non-matches", settings.non_matches)
    kept = settings.run_dir is not None
    if settings.restart and not kept:
        raise UsageError([Problem("--restart", "there is no --run-dir", "one to begin again")])
    for name, source in inputs[-2:]:
        if kept and source == STANDARD_INPUT:
            found = f"{name} is standard input, which cannot be read again"
            raise UsageError([Problem(OPTION, found, "files", "write it to a .jsonl file first")])
    for option, file in lines:
        if kept and file is not None:
            hint = "the run directory has those lines too"
            raise UsageError([Problem(option, f"there is {OPTION}", "one of the two", hint)])
    rows = (*lines, ("--values", settings.values))
    files = (OPTION, settings.run_dir), *(("--output", path) for path in settings.output), *rows
    check_outputs([(option, path) for option, path in files if path], inputs)
    for option, file in rows:
        if file is not None:
            format_of_lines(option, file)


def _outputs_requested(
    settings: EvalSettings, reported: OutputsRequested, pairs: Pairs
) -> OutputsRequested:
    """Return what is kept of each pair; a run directory keeps all that there is to keep."""
    kept = settings.run_dir is not None
    return replace(
        reported,
        document_lines=kept or settings.documents is not None,
        non_match_lines=kept or settings.non_matches is not None,
        value_lines=settings.values is not None,
        first_non_matches=max(
            settings.show_non_matches, KEPT_NON_MATCHES if kept else 0, reported.first_non_matches
        ),
        document=pairs.single,
        accounts=kept or reported.accounts,
        recall_with_fd=settings.recall_with_fd,
        intervals=None if pairs.single else intervals_of(settings),
        fingerprints=kept,
        rows=_rows_kept(settings, pairs.total),
    )


def _rows_kept(settings: EvalSettings, documents: int | None) -> Rows:
    """Return which rows are kept: of too many documents none, from the first one on.

    Raises:
        UsageError: there are to be none, where something else is made of them.
    """
    for option, given in (("--policy", settings.policy), ("--repeat", settings.repeat)):
        if given and settings.rows == "none":
            found = "it goes through the documents, and --rows none keeps nothing of them"
            raise UsageError([Problem(option, found, "--rows inline, or no such option")])
        if given:
            return "inline"
    too_many = documents is not None and documents > MOST_ROWS
    return "none" if settings.rows == "auto" and too_many else settings.rows
