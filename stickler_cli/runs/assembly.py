"""What a run is put together of: its settings, made into a job once everything was checked."""

from dataclasses import replace
from typing import TYPE_CHECKING

from stickler_cli.clients.policy import DEFAULT_POLICY, Policy
from stickler_cli.compare.outline import comparators, known_paths
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents import Pairs, open_pairs
from stickler_cli.runs.chunk import Job, OutputsRequested
from stickler_cli.runs.files import check_outputs
from stickler_cli.runs.grouping import parse_groupings
from stickler_cli.runs.limits import check_memory_limit
from stickler_cli.runs.run_directory import (
    KEPT_NON_MATCHES,
    OPTION,
    refuse_standard_input,
)
from stickler_cli.runs.validation import validation_of
from stickler_cli.runs.workers import Workers
from stickler_cli.schema.loading import LoadedSchema, load_schema
from stickler_cli.score.gates import Gate, check_paths, parse_gates, refuse_bounds
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.settings import (
    ComparisonOptions,
    DecidingOptions,
    EvalSettings,
    ModelOptions,
    WorkOptions,
)

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client


@dataclass(frozen=True, slots=True)
class Sources:
    """What is evaluated by what, as the user named it."""

    schema: str
    gt: str
    pred: str

    @property
    def named(self) -> list[tuple[str, str]]:
        """Each with what messages call it."""
        return [("the schema", self.schema), ("GT", self.gt), ("PRED", self.pred)]


@dataclass(frozen=True, slots=True)
class Needs:
    """What reports need of a run beside its figures."""

    accounts: bool = False
    """A record of each document."""
    detail: bool = False
    """Single values."""
    intervals_of_fields: bool = False
    """Confidence intervals of fields, not only of whole documents."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """A run that may begin: whatever can be refused beforehand has been checked."""

    sources: Sources
    settings: EvalSettings
    schema: LoadedSchema
    pairs: Pairs
    job: Job
    workers: Workers
    gates: tuple[Gate, ...]


def assemble(sources: Sources, settings: EvalSettings, needs: Needs) -> Assembly:
    """Put a run together; no document is compared.

    Raises:
        UsageError: settings contradict each other, or name what cannot be used.
        SchemaError: the schema cannot be used.
        UnavailableError: something is needed that is not installed.
    """
    gates = tuple(parse_gates(settings.fail_under, settings.gate))
    workers = workers_of(settings)
    by = parse_groupings(settings.by, settings.by_file)
    policy = policy_of(settings, dry_run=settings.dry_run)
    _check_run_dir(sources, settings)
    _check_files(sources, settings)
    schema = load_schema(sources.schema, allow_plugins=settings.allow_plugins)
    job = replace(job_of(schema.plan, settings, client_of(schema.plan, policy)), by=by)
    check_paths(gates, known_paths(schema.plan))
    if settings.ci == "none":
        refuse_bounds(gates)
    pairs = open_pairs(sources.gt, sources.pred, settings)
    job = replace(
        job,
        requested=_outputs_requested(settings, needs, gates, single=pairs.single),
        validation=validation_of(settings.validate, schema.contents, schema.path, schema.path),
    )
    return Assembly(sources, settings, schema, pairs, job, workers, gates)


def job_of(plan: Plan, settings: DecidingOptions, client: "Client | None") -> Job:
    """Return what decides about a pair, whatever is kept of it.

    Raises:
        UnavailableError: a comparator needs something that is not installed.
    """
    return Job(plan, comparing(plan, settings, client), settings.missing)


def comparing(plan: Plan, settings: ComparisonOptions, client: "Client | None") -> Options:
    """Return the options of the engine, for comparators that are known to work here.

    Raises:
        UnavailableError: a comparator needs something that is not installed.
    """
    for comparator in comparators(plan):
        if client is None or client.policy.may_ask or not comparator.asks_models:
            comparator.require()
    return Options(settings.pairing_floor, settings.extra_fields, client)


def client_of(plan: Plan, policy: Policy = DEFAULT_POLICY) -> "Client | None":
    """Return what asks the models of a plan; None where there are none."""
    if not plan.asks_models:
        return None
    from stickler_cli.clients.client import Client  # other runs do not load it

    return Client(policy)


def workers_of(settings: WorkOptions) -> Workers:
    """Return who does the work.

    Raises:
        UsageError: memory cannot be limited here.
    """
    if settings.memory_limit is not None:
        check_memory_limit()
    number = None if settings.jobs == "auto" else settings.jobs
    source = f"--jobs {settings.jobs}"
    return Workers(number, source=source, memory_limit=settings.memory_limit)


def policy_of(settings: ModelOptions, *, dry_run: bool = False) -> Policy:
    """Return what a run may ask of models.

    Raises:
        UsageError: the settings contradict each other.
    """
    if settings.no_cache and settings.offline:
        found = "--no-cache is given too, which leaves nothing to answer from"
        raise UsageError([Problem("--offline", found, "one of the two")])
    return Policy(not settings.no_cache, settings.offline, dry_run, settings.max_pairs)


def _check_run_dir(sources: Sources, settings: EvalSettings) -> None:
    """Refuse what does not go with a run directory."""
    if settings.run_dir is None:
        if settings.restart:
            raise UsageError([Problem("--restart", "there is no --run-dir", "one to begin again")])
        return
    refuse_standard_input({"GT": sources.gt, "PRED": sources.pred})
    for option, file in (
        ("--documents", settings.documents),
        ("--non-matches", settings.non_matches),
    ):
        if file is not None:
            hint = "the run directory has those lines too"
            raise UsageError([Problem(option, f"there is {OPTION}", "one of the two", hint)])


def _check_files(sources: Sources, settings: EvalSettings) -> None:
    """Refuse to write where something else is."""
    outputs = [
        (OPTION, settings.run_dir),
        *(("--output", path) for path in settings.output),
        ("--documents", settings.documents),
        ("--non-matches", settings.non_matches),
    ]
    check_outputs([(option, path) for option, path in outputs if path], sources.named)


def _outputs_requested(
    settings: EvalSettings, needs: Needs, gates: tuple[Gate, ...], *, single: bool
) -> OutputsRequested:
    """Return what is kept of each pair; a run directory keeps all that there is to keep."""
    kept = settings.run_dir is not None
    intervals = None if settings.ci == "none" else IntervalSettings(settings.ci, settings.seed)
    field_bounds = any(gate.bound and gate.path for gate in gates)
    return OutputsRequested(
        document_lines=kept or settings.documents is not None,
        non_match_lines=kept or settings.non_matches is not None,
        first_non_matches=max(settings.show_non_matches, KEPT_NON_MATCHES if kept else 0),
        document=single,
        accounts=kept or needs.accounts,
        detail=needs.detail,
        recall_with_fd=settings.recall_with_fd,
        intervals=None if single else intervals,
        intervals_of_fields=kept or field_bounds or needs.intervals_of_fields,
        fingerprints=kept,
    )
