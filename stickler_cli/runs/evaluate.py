"""The one door to a run: what is put together of settings, and evaluated.

The command line and the Python API both come in here, so that the same settings give the same run.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stickler_cli.clients.policy import DEFAULT_POLICY, Policy
from stickler_cli.compare.outline import comparators, known_paths, outline
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.option import part_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents import DocumentPair, Pairs, open_pairs
from stickler_cli.runs.chunk import Job, OutputsRequested
from stickler_cli.runs.files import check_outputs, whole_file
from stickler_cli.runs.grouping import parse_groupings
from stickler_cli.runs.limits import check_memory_limit
from stickler_cli.runs.lines import LineFiles
from stickler_cli.runs.pipeline import chunk_results, gather
from stickler_cli.runs.run import Finished, run
from stickler_cli.runs.run_directory import (
    KEPT_NON_MATCHES,
    OPTION,
    RunDirectory,
    refuse_standard_input,
    run_directory,
    settings_of,
)
from stickler_cli.runs.saved import RUN_FILE
from stickler_cli.runs.validation import Validation, validation_of
from stickler_cli.runs.workers import Workers
from stickler_cli.schema.loading import LoadedSchema, load_schema
from stickler_cli.score.conditions import Conditions, FieldInfo
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.gates import Gate, check_paths, judge, parse_gates, refuse_bounds
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings import (
    ComparisonOptions,
    DecidingOptions,
    EvalSettings,
    ManySettings,
    ModelOptions,
    RunOptions,
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
class Requested:
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


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a run came to."""

    run: Run
    signal: int | None
    """The signal that ended the run early, if one did."""
    directory: RunDirectory | None
    """What keeps the run, if anything does."""


def assemble(sources: Sources, settings: EvalSettings, requested: Requested) -> Assembly:
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
    pairs = open_pairs(
        sources.gt,
        sources.pred,
        id_field=settings.id_field,
        limit=settings.max_document_size,
        lenient=settings.lenient_json,
    )
    job = replace(
        job,
        requested=_outputs_requested(settings, requested, gates, single=pairs.single),
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


def evaluate_in_memory(  # noqa: PLR0913 - a keyword for what settings cannot hold
    plan: Plan,
    pairs: Iterable[DocumentPair],
    settings: ManySettings,
    *,
    client: "Client | None" = None,
    total: int | None = None,
    validation: Callable[[], Validation | None] = lambda: None,
) -> Evaluation:
    """Evaluate documents that are in memory already.

    Args:
        plan: what they are compared by.
        pairs: read one by one.
        settings: of the run.
        client: who asks models; None is one that asks as a run does by default.
        total: how many pairs there are; None where nobody knows.
        validation: returns what documents are held against, once the comparators are known to be
            there.

    Raises:
        UnavailableError: something is needed that is not installed.
        UsageError: the plan cannot be sent to other processes.
        WorkerDiedError: another process could not start.
    """
    job = replace(job_of(plan, settings, client or client_of(plan)), validation=validation())
    workers = Workers(
        None if settings.workers == "auto" else settings.workers,
        settings.chunk_size,
        source=f"workers={settings.workers}",
    )
    results = chunk_results(job, iter(pairs), workers, total=total)
    evaluation = gather(results, job.requested).evaluation
    evaluation.conditions = Conditions(part_of(settings, DecidingOptions), field_infos(plan))
    return evaluation


def field_infos(plan: Plan) -> tuple[FieldInfo, ...]:
    """Return what results say of the fields of a schema."""
    return tuple(
        FieldInfo(row.path, row.kind, row.comparator, row.threshold, row.weight)
        for row in outline(plan)
    )


@contextmanager
def evaluated(
    assembly: Assembly, *, progress: bool, tell: Callable[[str], None]
) -> Iterator[Evaluated]:
    """Evaluate all documents; a run directory is this run's until the block ends.

    Args:
        assembly: the run.
        progress: whether to show on standard error how far it is.
        tell: told, as a line, what was found in the run directory.

    Raises:
        UsageError: the run directory cannot be used for this run, or a file cannot be made.
        WorkerDiedError: a worker could not start.
        OSError: lines cannot be written.
    """
    settings = assembly.settings
    with _kept_in(assembly, tell) as directory:
        files = directory or LineFiles(settings.documents, settings.non_matches)
        finished = run(assembly.job, assembly.pairs, assembly.workers, files, progress=progress)
        yield Evaluated(
            _record(assembly, finished),
            finished.signal,
            directory,
        )


def keep_run(directory: RunDirectory, run: Run, text: Iterable[bytes]) -> None:
    """Write the run file; that of a run that ended early is not where others look for one.

    Raises:
        OSError: it cannot be written; names the file.
    """
    place = directory.place(RUN_FILE)
    with whole_file(place, OPTION, partial=lambda: run.partial) as stream:
        stream.writelines(text)
    if not run.partial:
        directory.finish()


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
    settings: EvalSettings, requested: Requested, gates: tuple[Gate, ...], *, single: bool
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
        accounts=kept or requested.accounts,
        detail=requested.detail,
        recall_with_fd=settings.recall_with_fd,
        intervals=None if single else intervals,
        intervals_of_fields=kept or field_bounds or requested.intervals_of_fields,
        fingerprints=kept,
    )


@contextmanager
def _kept_in(assembly: Assembly, tell: Callable[[str], None]) -> Iterator[RunDirectory | None]:
    """Have the run directory while the block runs, if there is to be one."""
    settings, sources = assembly.settings, assembly.sources
    if settings.run_dir is None:
        yield None
        return
    made_of = {
        "schema": assembly.schema.digest,
        "GT": sources.gt,
        "PRED": sources.pred,
        "id_field": settings.id_field,
        "lenient_json": settings.lenient_json,
        "max_document_size": settings.max_document_size,
    }
    begun_with = settings_of(assembly.job, made_of)
    with run_directory(
        settings.run_dir, begun_with, restart=settings.restart, tell=tell
    ) as directory:
        yield directory


def _record(assembly: Assembly, finished: Finished) -> Run:
    """Return the record of a run."""
    evaluation, settings, schema = finished.total.evaluation, assembly.settings, assembly.schema
    return Run(
        evaluation=evaluation,
        schema=SchemaSignature(schema.path, schema.digest, schema.plan.model_name),
        options=part_of(settings, RunOptions),
        fields=field_infos(schema.plan),
        gates=[
            judge(gate, evaluation, recall_with_fd=settings.recall_with_fd)
            for gate in assembly.gates
        ],
        notes=_notes(assembly.pairs, finished),
        partial=finished.signal is not None,
        document=finished.total.document,
        detail=finished.total.detail,
        first_non_matches=tuple(finished.total.first_non_matches),
    )


def _notes(pairs: Pairs, finished: Finished) -> list[str]:
    """Say what was noticed of the sources, and of the run, as a whole."""
    notes = [str(problem) for problem in pairs.problems]
    if finished.signal is not None:
        of_all = "" if pairs.total is None else f" of {pairs.total}"
        done = finished.total.evaluation.documents["total"]
        notes.append(f"interrupted: these are the results of {done}{of_all} documents only")
    notes += (
        f"{folder}: {count} files are not .json and were left out"
        for folder, count in pairs.skipped.items()
        if count
    )
    return notes
