"""`stickler eval`: parse the options, build the parts, run, report, exit."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import typer

from stickler_cli.cli import options
from stickler_cli.cli.asking import policy_of, show_dry_run, tell_usage
from stickler_cli.cli.console import wants_color, warn
from stickler_cli.cli.exit_codes import ExitCode, exit_code_help
from stickler_cli.cli.outputs import output_formats, show_results, terminal_style, write_outputs
from stickler_cli.cli.run_dir import check_run_dir, kept_in, wants_to_keep, write_run
from stickler_cli.cli.statistics import groupings, interval_settings
from stickler_cli.core.problems import Problem, UsageError

if TYPE_CHECKING:
    from stickler_cli.clients.policy import Policy
    from stickler_cli.documents import Pairs
    from stickler_cli.reports.layout import TableStyle
    from stickler_cli.runs.chunk import Job
    from stickler_cli.runs.grouping import Grouping
    from stickler_cli.runs.run import Finished
    from stickler_cli.runs.run_directory import RunDirectory
    from stickler_cli.runs.workers import Workers
    from stickler_cli.schema.loading import LoadedSchema
    from stickler_cli.score.gates import Gate
    from stickler_cli.score.intervals import IntervalSettings
    from stickler_cli.score.record import Run

EPILOG: Final = f"""\b
Examples:
  stickler eval schema.json gt/ pred/
  stickler eval schema.json gt.jsonl pred.jsonl --id-field id -o run.json
  stickler eval schema.json gt/ pred/ --fail-under 0.9 --gate 'total.f1>=0.99'
  stickler eval schema.json gt.json pred.json --show-non-matches 20

{exit_code_help()}"""

DEFAULT_DOCUMENT_SIZE: Final = "100MB"
"""Likewise; a test holds it to the reader's."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks for, checked as far as that needs no file."""

    schema: str
    gt: str
    pred: str
    id_field: str | None
    format: str
    outputs: Sequence[str]
    junit_fields: bool
    non_matches: str | None
    show_non_matches: int
    documents: str | None
    run_dir: str | None
    restart: bool
    gates: "Sequence[Gate]"
    crew: "Workers"
    pairing_floor: float
    recall_with_fd: bool
    extra_fields: options.ExtraFields
    missing: options.Missing
    validate: options.Validate
    lenient_json: bool
    intervals: "IntervalSettings | None"
    by: "tuple[Grouping, ...]"
    max_document_bytes: int
    strict: bool
    allow_plugins: bool
    asking: "Policy"
    quiet: bool
    verbose: bool
    progress: bool
    color: bool


def evaluate(
    schema: options.Schema,
    gt: options.GroundTruth,
    pred: options.Predictions,
    no_config: options.NoConfig = False,
    config: options.Config = None,
    id_field: options.IdField = None,
    format: options.Format = "table",
    output: options.Output = None,
    junit_fields: options.JunitFields = False,
    non_matches: options.NonMatchesFile = None,
    show_non_matches: options.ShowNonMatches = 0,
    documents: options.DocumentsFile = None,
    run_dir: options.RunDir = None,
    restart: options.Restart = False,
    fail_under: options.FailUnder = None,
    gate: options.GateOption = None,
    jobs: options.Jobs = "auto",
    memory_limit: options.MemoryLimit = None,
    pairing_floor: options.PairingFloor = options.DEFAULT_PAIRING_FLOOR,
    recall_with_fd: options.RecallWithFd = False,
    extra_fields: options.ExtraFieldsOption = "fa",
    missing: options.MissingOption = "fn",
    validate: options.ValidateOption = "none",
    lenient_json: options.LenientJson = False,
    max_document_size: options.MaxDocumentSize = DEFAULT_DOCUMENT_SIZE,
    ci: options.ConfidenceLevel = options.DEFAULT_LEVEL,
    seed: options.Seed = 0,
    by: options.By = None,
    by_file: options.ByFile = None,
    strict: options.Strict = False,
    allow_plugins: options.AllowPlugins = False,
    no_cache: options.NoCache = False,
    offline: options.Offline = False,
    max_pairs: options.MaxPairs = options.DEFAULT_MAX_PAIRS,
    dry_run: options.DryRun = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    progress: options.Progress = None,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Compare every prediction with its ground truth, field by field, and report how good it is.

    GT and PRED are two files, two directories (paired by relative path without suffix) or two
    JSON Lines files; each may be gzipped.
    """
    if no_config and config is not None:
        raise UsageError([Problem("--config", "--no-config is given too", "one of the two")])
    options.check_pairing_floor(pairing_floor)
    from stickler_cli.score.gates import parse_gates  # --help loads no metrics

    request = Request(
        schema=schema,
        gt=gt,
        pred=pred,
        id_field=id_field,
        format=format,
        outputs=tuple(output or ()),
        junit_fields=junit_fields,
        non_matches=non_matches,
        show_non_matches=show_non_matches,
        documents=documents,
        run_dir=run_dir,
        restart=restart,
        gates=parse_gates(fail_under, gate or ()),
        crew=_crew(jobs, memory_limit),
        pairing_floor=pairing_floor,
        recall_with_fd=recall_with_fd,
        extra_fields=extra_fields,
        missing=missing,
        validate=validate,
        lenient_json=lenient_json,
        intervals=interval_settings(ci, seed),
        by=groupings(by or (), by_file),
        max_document_bytes=_document_bytes(max_document_size),
        strict=strict,
        allow_plugins=allow_plugins,
        asking=policy_of(no_cache=no_cache, offline=offline, max_pairs=max_pairs, dry_run=dry_run),
        quiet=quiet,
        verbose=verbose,
        progress=not quiet and (sys.stderr.isatty() if progress is None else progress),
        color=wants_color(no_color=no_color),
    )
    raise typer.Exit(_execute(request))


def _document_bytes(size: str) -> int:
    from stickler_cli.documents.sizes import bytes_of_size  # --help loads no reader

    return bytes_of_size(size)


def _crew(jobs: str, memory_limit: str | None) -> "Workers":
    from stickler_cli.documents.sizes import bytes_of_size  # --help loads no reader, and no runs
    from stickler_cli.runs import limits
    from stickler_cli.runs.workers import Workers

    if jobs != "auto" and not (jobs.isdecimal() and int(jobs)):
        found, expected = f"it is {jobs!r}", "a whole number of at least 1, or auto"
        raise UsageError([Problem("--jobs", found, expected)])
    limit = None
    if memory_limit is not None:
        limits.check_memory_limit()
        limit = bytes_of_size(memory_limit, limits.OPTION)
    number = None if jobs == "auto" else int(jobs)
    return Workers(number, source=f"--jobs {jobs}", memory_limit=limit)


def _execute(request: Request) -> ExitCode:
    """Run the evaluation that was asked for and report it."""
    from stickler_cli.cli.verdict import verdict
    from stickler_cli.documents import open_pairs  # --help loads no engine
    from stickler_cli.reports.registry import require
    from stickler_cli.runs.files import check_outputs
    from stickler_cli.schema.loading import load_schema

    formats = output_formats(request.outputs)
    require((request.format, *formats.values()))
    check_run_dir(
        request.run_dir,
        restart=request.restart,
        line_files={"--documents": request.documents, "--non-matches": request.non_matches},
        gt=request.gt,
        pred=request.pred,
    )
    check_outputs(
        [
            *(("--run-dir", path) for path in [request.run_dir] if path),
            *(("--output", path) for path in request.outputs),
            *(("--documents", path) for path in [request.documents] if path),
            *(("--non-matches", path) for path in [request.non_matches] if path),
        ],
        [("the schema", request.schema), ("GT", request.gt), ("PRED", request.pred)],
    )
    loaded = load_schema(request.schema, allow_plugins=request.allow_plugins)
    _check(request, loaded)
    pairs = open_pairs(
        request.gt,
        request.pred,
        id_field=request.id_field,
        limit=request.max_document_bytes,
        lenient=request.lenient_json,
    )
    if request.verbose:
        total = "?" if pairs.total is None else pairs.total
        warn(f"evaluating {total} documents with {loaded.plan.model_name} of {loaded.path}")
    if request.asking.dry_run:
        show_dry_run(_job(request, loaded), pairs)
        return ExitCode.OK
    job = _whole_job(request, loaded, pairs, formats.values())
    sources = _sources(request, loaded)
    with kept_in(
        request.run_dir, job, sources, restart=request.restart, quiet=request.quiet
    ) as directory:
        run, finished = _run(request, loaded, pairs, job, directory)
        if directory is not None:
            write_run(directory, run)
        style = _style(request)
        write_outputs(formats, run, style, verbose=request.verbose)
        show_results(run, request.format, style, quiet=request.quiet)
        if loaded.plan.asks_models and not request.quiet:
            tell_usage()
    if finished.signal is not None:
        return ExitCode(128 + finished.signal)
    return verdict(run.evaluation, run.gates, strict=request.strict)


def _check(request: Request, loaded: "LoadedSchema") -> None:
    """Refuse before the run what would fail after it."""
    from stickler_cli.compare.outline import comparators, known_paths
    from stickler_cli.score.gates import check_paths, refuse_bounds

    if loaded.plan.asks_models:
        from stickler_cli.clients.desk import open_desk  # other runs do not load it

        open_desk(request.asking)
    for comparator in comparators(loaded.plan):
        comparator.require()
    check_paths(request.gates, known_paths(loaded.plan))
    if request.intervals is None:
        refuse_bounds(request.gates)


def _job(request: Request, loaded: "LoadedSchema") -> "Job":
    """Say what becomes of a pair, apart from what is wanted beside its evaluation."""
    from stickler_cli.compare.plan import Options
    from stickler_cli.runs.chunk import Job

    options = Options(request.pairing_floor, request.extra_fields)
    return Job(loaded.plan, options, request.missing, asking=request.asking)


def _whole_job(
    request: Request, loaded: "LoadedSchema", pairs: "Pairs", formats: "Collection[str]"
) -> "Job":
    """Say what is to become of a pair; a run directory keeps all that there is to keep."""
    from stickler_cli.reports.registry import WITH_ACCOUNTS, WITH_DETAIL, WITH_FIELD_INTERVALS
    from stickler_cli.runs.chunk import Wants
    from stickler_cli.runs.validation import validation_of

    shown = {request.format, *formats}
    field_bounds = any(gate.bound and gate.path for gate in request.gates)
    wants = Wants(
        document_lines=request.documents is not None,
        non_match_lines=request.non_matches is not None,
        first_non_matches=request.show_non_matches,
        document=pairs.single,
        accounts=bool(WITH_ACCOUNTS & shown),
        detail=bool(WITH_DETAIL & shown),
        recall_with_fd=request.recall_with_fd,
        intervals=None if pairs.single else request.intervals,
        intervals_of_fields=field_bounds or bool(WITH_FIELD_INTERVALS & shown),
    )
    if request.run_dir is not None:
        wants = wants_to_keep(wants)
    validation = validation_of(request.validate, loaded.contents, loaded.path, loaded.path)
    return replace(_job(request, loaded), wants=wants, validation=validation, by=request.by)


def _sources(request: Request, loaded: "LoadedSchema") -> dict[str, object]:
    """Say what documents are compared by what, as far as names and options tell."""
    return {
        "schema": loaded.digest,
        "GT": request.gt,
        "PRED": request.pred,
        "id_field": request.id_field,
        "lenient_json": request.lenient_json,
        "max_document_size": request.max_document_bytes,
    }


def _run(
    request: Request,
    loaded: "LoadedSchema",
    pairs: "Pairs",
    job: "Job",
    directory: "RunDirectory | None",
) -> "tuple[Run, Finished]":
    """Evaluate all pairs; write as it goes what is written line by line."""
    from stickler_cli.compare.outline import outline
    from stickler_cli.runs.lines import LineFiles
    from stickler_cli.runs.run import run
    from stickler_cli.score.gates import judge
    from stickler_cli.score.record import FieldInfo, Run, RunOptions, SchemaSignature

    files = directory or LineFiles(request.documents, request.non_matches)
    finished = run(job, pairs, request.crew, files, progress=request.progress)
    evaluation = finished.total.evaluation
    gates = [
        judge(gate, evaluation, recall_with_fd=request.recall_with_fd) for gate in request.gates
    ]
    record = Run(
        evaluation=evaluation,
        schema=SchemaSignature(loaded.path, loaded.digest, loaded.plan.model_name),
        options=RunOptions(
            request.pairing_floor,
            request.recall_with_fd,
            request.extra_fields,
            request.missing,
            request.strict,
            request.lenient_json,
        ),
        fields=[
            FieldInfo(row.path, row.kind, row.comparator, row.threshold, row.weight)
            for row in outline(loaded.plan)
        ],
        gates=gates,
        notes=_notes(pairs, finished),
        partial=finished.signal is not None,
        document=finished.total.document,
        detail=finished.total.detail,
        first_non_matches=tuple(finished.total.first_non_matches),
    )
    return record, finished


def _notes(pairs: "Pairs", finished: "Finished") -> list[str]:
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


def _style(request: Request) -> "TableStyle":
    return replace(
        terminal_style(color=request.color),
        show_non_matches=request.show_non_matches,
        junit_fields=request.junit_fields,
    )
