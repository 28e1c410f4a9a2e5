"""Prepare a run: check all settings beforehand, and build its job and its workers."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stickler_cli.clients.model_policy import DEFAULT_POLICY, Policy, Retry
from stickler_cli.compare.field_listing import (
    comparators,
    field_listing,
    is_bounded,
    known_paths,
)
from stickler_cli.compare.plan import Options, Plan, make_client
from stickler_cli.core.figures import join_some
from stickler_cli.core.json_values import DocumentKind, brief
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean, require
from stickler_cli.core.remote import check_address, hide_secrets, is_url
from stickler_cli.documents.document_tables import is_arrow_table
from stickler_cli.documents.pairs import Pairs, open_pairs, selected, with_confidences
from stickler_cli.documents.reading import STANDARD_INPUT
from stickler_cli.metrics import measures_of
from stickler_cli.schema.annotations import IGNORED
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.detail import MAX_FIELDS
from stickler_cli.score.errors.marks import Marks
from stickler_cli.score.evaluation import MAX_ROWS, Evaluation
from stickler_cli.score.gates import (
    Gate,
    check_metrics,
    check_no_bounds,
    check_no_resampled_bounds,
    check_paths,
    parse_gates,
)
from stickler_cli.score.intervals import intervals_of
from stickler_cli.settings.deciding import (
    TIMEOUT,
    ComparisonOptions,
    KeptRows,
    LimitedOptions,
)
from stickler_cli.settings.of_commands import EvalSettings, ManySettings
from stickler_cli.settings.running import ModelOptions
from .job import (
    Cluster,
    Grouping,
    Job,
    OutputsRequested,
    SchemaChoice,
    Workers,
    parse_groupings,
    unwrapper_of,
    validation_of,
)
from .process import check_memory_limit
from .whole_files import RUN_DIR

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.clients.model import Model
    from stickler_cli.score.policy import PolicyOutcome


ENDPOINT: Final = "--endpoint"
KEY_FROM: Final = "--key-from"


KEPT_NON_MATCHES: Final = 100  # at least this many, so that reports can show some


def comparing(plan: Plan, settings: ComparisonOptions, client: "Client | None") -> Options:
    """Check that the packages and models of all comparators are available.

    Return the comparison options.

    `client` sends requests to models; None if the plan has no models.
    """
    for comparator in comparators(plan):
        if client is None or not comparator.asks_models:
            comparator.require()
        elif client.policy.may_ask:
            comparator.require_by(client)
    if client is not None:
        _check_placed(client.policy, {model.title for model in models_of(plan)})
    limit = settings.work_limit if isinstance(settings, LimitedOptions) else None
    floor, partial = settings.pairing_floor, settings.partial_gt
    return Options(
        pairing_floor=floor,
        extra_fields=settings.extra_fields,
        client=client,
        work_limit=limit,
        partial_gt=partial,
    )


def models_of(plan: Plan) -> "list[Model[Any, Any]]":
    """Return the models that the comparators of a plan ask."""
    models = (comparator.asked_model for comparator in comparators(plan))
    return [model for model in models if model is not None]


def client_of(plan: Plan, policy: Policy = DEFAULT_POLICY) -> "Client | None":
    """Return the client that sends requests to the models of a plan; None if it has no models."""
    if not plan.asks_models:
        return None
    return make_client(policy)


def policy_of(settings: ModelOptions, *, dry_run: bool = False) -> Policy:
    """Return limits, servers and keys for requests to models, as the options set them."""
    if settings.no_cache and settings.offline:
        finding = "--no-cache is also given, so neither models nor saved answers may be used"
        raise UsageError([Problem("--offline", finding, "either --offline or --no-cache")])
    endpoints = _by_model(ENDPOINT, settings.endpoint, r"https?://\S+", "MODEL=URL")
    for model, url in endpoints.items():
        check_address(url, f"{ENDPOINT} {model} =")
    return Policy(
        cache=not settings.no_cache,
        offline=settings.offline,
        dry_run=dry_run,
        max_pairs=settings.max_pairs,
        concurrency=settings.model_concurrency,
        retry=Retry(settings.model_attempts, timeout=settings.model_timeout),
        per_minute=settings.requests_per_minute,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        endpoints=endpoints,
        keys=_by_model(KEY_FROM, settings.key_from, r"[A-Za-z_]\w*", "MODEL=VARIABLE"),
    )


def _by_model(option: str, texts: Sequence[str], pattern: str, expected: str) -> dict[str, str]:
    """Parse option values such as `MODEL=VALUE`, and return a dict from model to value.

    Each value must match `pattern`. Error messages describe it with the words of `expected`.
    """
    values_by_model: dict[str, str] = {}
    for text in texts:
        model, _, value = text.partition("=")
        if not model or not re.fullmatch(pattern, value):
            finding = f"the value is {brief(hide_secrets(text))}"
            if option == KEY_FROM:
                finding = (
                    "the value does not name an environment variable (the value is not shown, "
                    "because it may be a key)"
                )
            raise UsageError([Problem(option, finding, expected)])
        if model in values_by_model:
            raise UsageError(
                [Problem(option, f"{model} is given twice", "each model named only once")]
            )
        values_by_model[model] = value
    return values_by_model


def _check_placed(policy: Policy, model_titles: Iterable[str]) -> None:
    """Check that every model with its own endpoint or key is used by some field.

    This finds misspelt names.

    Raises:
        UsageError: no field asks the model.
    """
    asked_models = sorted(model_titles)
    for option, values_by_model in ((ENDPOINT, policy.endpoints), (KEY_FROM, policy.keys)):
        for model in values_by_model:
            if model not in asked_models:
                finding, hint = (
                    f"no field in the schema asks the model {model}",
                    did_you_mean(model, asked_models),
                )
                raise UsageError(
                    [
                        Problem(
                            source=option,
                            found=finding,
                            expected=f"one of {join_some(asked_models)}",
                            hint=hint,
                        )
                    ]
                )


class Assembly(NamedTuple):
    """A checked run that is ready to begin."""

    schema: LoadedSchema
    settings: EvalSettings
    pairs: Pairs
    job: Job
    workers: Workers
    gates: tuple[Gate, ...]
    notes: Sequence[str] = ()
    """Notes on the documents that were used to tune thresholds of the schema."""
    warnings: Sequence[str] = ()
    """Warnings for a run with gates: thresholds of the schema were tuned on documents that the run
    evaluates."""
    policy: "Callable[[Evaluation], PolicyOutcome] | None" = None
    """Applies the acceptance policy of `--policy` to the evaluation; None if there is no policy."""

    @property
    def keeps_files(self) -> bool:
        """Whether the run writes files while documents are compared."""
        settings = self.settings
        named = settings.run_dir, settings.documents, settings.non_matches, settings.values
        return any(map(bool, named))


def assemble(
    settings: EvalSettings,
    reported: OutputsRequested,
    load: Callable[[], LoadedSchema],
    tell: Callable[[str], None] | None = None,
) -> Assembly:
    """Check settings and assemble a run. No document is compared yet.

    `reported` says which results the reports need. `load` returns the schema. `tell` prints a line
    before a step that takes long.

    Raises:
        UsageError: settings contradict each other, or name something that cannot be used.
        SchemaError: the schema cannot be used.
        UnavailableError: a required package or feature is missing.
    """
    gates = tuple(parse_gates(settings.fail_under, settings.gate))
    if settings.memory_limit is not None:
        check_memory_limit()
    groupings = [*parse_groupings(settings.by, settings.by_file, settings.schema_by)]
    may_ask = policy_of(settings, dry_run=settings.dry_run)
    _check_outputs(settings)
    loaded = load()
    options = comparing(loaded.plan, settings, client_of(loaded.plan, may_ask))
    check_paths(gates, known_paths(loaded.plan))
    measures = measures_of(settings.metric, allow_plugins=settings.allow_plugins)
    check_metrics(gates, measures)
    if settings.ci == "none":
        check_no_bounds(gates)
    pairs = open_pairs(settings.gt, settings.pred, settings, kinds_of(loaded), tell)
    if settings.confidence is not None:
        pairs = with_confidences(pairs, settings.confidence, settings)
    pairs = selected(pairs, settings, settings.seed)
    requested = _outputs_requested(settings, reported, pairs)
    if requested.rows == "none":
        check_no_resampled_bounds(gates)
    schema_grouping = groupings.pop() if settings.schema_by is not None else None
    marks: Marks = {}
    policy, notes, warnings = None, list[str](), list[str]()
    needs_saved_files = settings.verdicts is not None or settings.policy is not None
    if needs_saved_files or any("$comment" in schema.contents for schema in loaded.schemas):
        from stickler_cli.runs import saved  # few runs read files of earlier commands

        marks, policy = saved.judgements_of(settings, loaded)
        contents = (schema.contents for schema in loaded.schemas)
        notes, warnings = saved.notes_of(contents, settings, gated=bool(gates))
    job = Job(
        plan=loaded.plan,
        options=options,
        missing=settings.missing,
        requested=requested,
        by=tuple(groupings),
        metrics=measures,
        marks=marks,
    )
    job = job_of(loaded, settings, job, schema_grouping)
    workers = _workers(settings, job)
    return Assembly(
        schema=loaded,
        settings=settings,
        pairs=pairs,
        job=job,
        workers=workers,
        gates=gates,
        notes=[*notes, *_notes_on_fields(loaded, settings)],
        warnings=warnings,
        policy=policy,
    )


def _fields_of_page(plan: Plan) -> frozenset[Path] | None:
    """Return the fields that have a row on an HTML page; None if all fields have one."""
    fields = field_listing(plan)
    if len(fields) <= MAX_FIELDS:
        return None
    return frozenset(row.field for row in fields[:MAX_FIELDS])


def _notes_on_fields(loaded: LoadedSchema, settings: EvalSettings) -> Iterator[str]:
    """Yield notes on fields that are not compared, and on the way the schema was loaded.

    The schema ignores such fields, or `--ignore` removes them.
    """
    ignored = [field_path(field.path) for field in loaded.fields if IGNORED in field.rules]
    if ignored:
        yield f"fields that the schema ignores: {join_some(dict.fromkeys(ignored))}"
    if loaded.note:
        yield loaded.note
    if settings.ignore:
        yield f"not compared on either side, because of --ignore: {join_some(settings.ignore)}"


def kinds_of(loaded: LoadedSchema) -> tuple[DocumentKind, ...]:
    """Return the JSON types (object or array) that documents of the schemas have."""
    return tuple(dict.fromkeys(schema.plan.kind for schema in loaded.schemas))


def job_of(
    loaded: LoadedSchema, settings: EvalSettings | ManySettings, job: Job, by: Grouping | None
) -> Job:
    """Add to a job what depends on the schema, such as the plan, and return the job.

    If there are several schemas, `by` groups the documents, and each group has its own schema. The
    returned job then contains a separate job for each schema. `by` is None if there is only one
    schema.
    """

    def job_of_schema(schema: LoadedSchema, step: str = "") -> Job:
        validation = validation_of(settings.validate, schema.contents, schema.path)
        unwrapper = unwrapper_of(schema.plan.root, settings)
        return replace(job, plan=schema.plan, validation=validation, unwrapper=unwrapper, step=step)

    if job.requested.detail:
        job = replace(job, listed_fields=_fields_of_page(loaded.plan))
    if by is None:
        return job_of_schema(loaded)
    jobs = {step: job_of_schema(entry, step) for step, entry in loaded.of_step.items()}
    unwrapper = unwrapper_of(loaded.plan.root, settings)
    return replace(job, unwrapper=unwrapper, schemas=SchemaChoice(by, jobs))


def _workers(settings: EvalSettings, job: Job) -> Workers:
    """Return the worker processes of a run.

    They are `watched` if comparing one document could take very long. This process then compares no
    documents. Instead, it watches the worker processes and stops each one that is too slow.
    """
    plan = job.plan
    timeout = None if plan.asks_models else settings.document_timeout
    validations = (
        planned.validation for planned in (job.schemas.of_step.values() if job.schemas else (job,))
    )
    may_stall = not is_bounded(plan) or not all(
        validation is None or validation.validator.is_bounded for validation in validations
    )
    workers = Workers(
        settings.jobs,
        source=f"--jobs {settings.jobs}",
        document_timeout=timeout,
        watched=timeout is not None and bool(may_stall or timeout < TIMEOUT),
        memory_limit=settings.memory_limit,
    )
    return replace(workers, cluster=_cluster(settings, workers, plan))


def _cluster(settings: EvalSettings, workers: Workers, plan: Plan) -> Cluster | None:
    """Return the Dask cluster that does the work, or None if the work is done on this machine.

    Raises:
        UnavailableError: Dask is not installed.
        UsageError: the run needs a feature that only local processes have.
    """
    if settings.engine == "local":
        if settings.scheduler is not None:
            finding, hint = "this option works only with --engine dask", "add --engine dask"
            raise UsageError([Problem("--scheduler", finding, hint=hint)])
        return None
    require("distributed", "--engine dask", "dask")
    asks = "some fields are compared by models, and models can only be asked from a single process"
    stalls = (
        "a timeout must stop the process that compares a document, but stickler cannot stop "
        "Dask workers"
    )
    limits = "the memory of Dask workers is limited by dask worker --memory-limit"
    sets_jobs = settings.scheduler is not None and settings.jobs != "auto"
    problems = [
        Problem(option, finding, hint=hint)
        for is_so, option, finding, hint in (
            (plan.asks_models, "--engine dask", asks, "leave the option out"),
            (
                workers.watched,
                "--engine dask",
                stalls,
                "remove --engine dask or --document-timeout",
            ),
            (settings.memory_limit, "--memory-limit", limits, "leave the option out"),
            (
                sets_jobs,
                "--jobs",
                "with --scheduler, the running cluster decides how many workers there are",
                "leave the option out",
            ),
        )
        if is_so
    ]
    if problems:
        raise UsageError(problems)
    named_sources = filter(None, (settings.gt, settings.pred, settings.confidence))
    # Workers read files and directories themselves; they are sent rows and standard input.
    sources = tuple(
        source
        for source in named_sources
        if source != STANDARD_INPUT and not is_url(source) and not is_arrow_table(source)
    )
    return Cluster(settings.scheduler, settings.jobs, sources)


def _check_outputs(settings: EvalSettings) -> None:
    """Raise UsageError for outputs that contradict each other."""
    lines = ("--documents", settings.documents), ("--non-matches", settings.non_matches)
    has_run_directory = settings.run_dir is not None
    if settings.restart and not has_run_directory:
        raise UsageError(
            [
                Problem(
                    "--restart",
                    "--run-dir is missing",
                    "a run directory whose run can be started over",
                )
            ]
        )
    for name, source in (("GT", settings.gt), ("PRED", settings.pred)):
        if has_run_directory and source == STANDARD_INPUT:
            finding = f"{name} is standard input, which cannot be read again"
            raise UsageError(
                [
                    Problem(
                        source=RUN_DIR,
                        found=finding,
                        expected="files",
                        hint="write standard input to a .jsonl file first",
                    )
                ]
            )
    for option, file in lines:
        if has_run_directory and file is not None:
            hint = "the run directory already contains the same lines"
            raise UsageError(
                [
                    Problem(
                        source=option,
                        found=f"{RUN_DIR} is also given",
                        expected=f"either {option} or {RUN_DIR}",
                        hint=hint,
                    )
                ]
            )
    rows = (*lines, ("--values", settings.values))
    if row_outputs := [(option, path) for option, path in rows if path]:
        # Imported late: most runs write reports only.
        from stickler_cli.records.row_files import format_of_lines

        for option, path in row_outputs:
            format_of_lines(option, path)


def _outputs_requested(
    settings: EvalSettings, reported: OutputsRequested, pairs: Pairs
) -> OutputsRequested:
    """Return which results must be kept for the reports, the files and the run directory."""
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


def _rows_kept(settings: EvalSettings, documents: int | None) -> KeptRows:
    """Return how the figures of single documents are kept.

    Keeping them means one row for each document. The result is `inline` if another option needs the
    rows. It is `none` if the user chose `auto` and there are too many documents. Otherwise, it is
    what the user chose.

    Raises:
        UsageError: another option needs the rows, but the user chose `none`.
    """
    for option, value in (("--policy", settings.policy), ("--repeat", settings.repeat)):
        if value and settings.rows == "none":
            finding = "this option needs the rows of all documents, but --rows none saves no rows"
            raise UsageError([Problem(option, finding, "--rows inline")])
        if value:
            return "inline"
    too_many = documents is not None and documents > MAX_ROWS
    return "none" if settings.rows == "auto" and too_many else settings.rows
