"""The one door to a run: the same settings give the same run, by command line or from Python."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.option import part_of
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import Pairs
from stickler_cli.documents.reading import STANDARD_INPUT, source_of
from stickler_cli.records.line_columns import (
    columns_of_documents,
    columns_of_errors,
    columns_of_values,
)
from stickler_cli.records.parquet_runs import RUN_KEY, run_text
from stickler_cli.records.row_files import (
    LineColumn,
    LinesFile,
    TakesLines,
    format_of_lines,
    lines_as_rows,
)
from stickler_cli.runs.directory.run_directory import (
    DOCUMENTS,
    NON_MATCHES,
    OPTION,
    RUN_FILE,
    RunDirectory,
    run_directory,
)
from stickler_cli.runs.directory.whole_files import whole_file
from stickler_cli.runs.executors.pipeline import NO_LINES, Advance, chunk_results, gather
from stickler_cli.score.conditions import Conditions
from stickler_cli.score.counts import RateRule
from stickler_cli.score.errors.marks import outcome_of_marks
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.gate_verdicts import judge
from stickler_cli.score.policy import outcome_of
from stickler_cli.score.record import Provenance, Run, SchemaSignature
from stickler_cli.settings.deciding import DecidingOptions, RunOptions
from stickler_cli.settings.of_documents import ManySettings
from .asking import client_of, comparing, models_of
from .assembly import Assembly
from .chunk import ChunkResult
from .hints import hints
from .interruption import Interruption
from .job import Job, Workers
from .read_documents import Item
from .rehearsal import check_pairs
from .resume import continued, deciding
from .tuned import tunings

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client


def evaluate_in_memory(  # noqa: PLR0913 - a keyword for what settings cannot hold
    plan: Plan,
    pairs: Iterable[DocumentPair],
    settings: ManySettings,
    *,
    client: "Client | None" = None,
    total: int | None = None,
    job_of: Callable[[Options], Job],
    lines: Mapping[str, TakesLines] = NO_LINES,
) -> Evaluation:
    """Evaluate documents that are in memory already; they are read one by one.

    Without a client models are asked as a run does by default; `total` is None where nobody knows
    it; `job_of` is asked once all comparators are known to be there; `lines` are as in `gather`.
    """
    options = comparing(plan, settings, client or client_of(plan))
    job = job_of(options)
    workers = Workers(settings.workers, settings.chunk_size, f"workers={settings.workers}")
    results = chunk_results(job, iter(pairs), workers, total=total)
    evaluation = gather(results, job, lines).evaluation
    evaluation.conditions = Conditions(
        part_of(settings, DecidingOptions), field_listing(plan), settings.counting
    )
    return evaluation


def evaluate(
    assembly: Assembly,
    *,
    started: str,
    progress: bool,
    tell: Callable[[str], None],
    written: Callable[[Run], Iterable[bytes]],
) -> tuple[Run, int | None]:
    """Evaluate all pairs; on Ctrl-C or SIGTERM, those that are finished by then.

    What a run directory keeps of an earlier run is not evaluated again. The files of a run that
    ended early are called `NAME.partial` instead. `started` is the time of this run, which one in a
    run directory has from its beginning on. `tell` is told, as a line, what was found in the
    run directory and what would help; `written` returns the text of the run file that goes there.

    Returns:
        The run, and the signal that ended it early, if one did.
    """
    interruption, settings = Interruption(), assembly.settings
    kept: AbstractContextManager[RunDirectory | None] = nullcontext()
    if settings.run_dir is not None:
        begun_with = deciding(assembly)
        kept = run_directory(
            settings.run_dir, begun_with, started, restart=settings.restart, tell=tell
        )
    with kept as directory, ExitStack() as files:
        lines = _lines_files(assembly, directory, files, interruption)
        total = _total(assembly, directory, lines, interruption, progress=progress)
        begun = started if directory is None else directory.started
        run = _record(assembly, total, begun, partial=interruption.signal is not None)
        if "document_lines" in lines:
            lines["document_lines"].note(RUN_KEY, lambda: run_text(run))
        if directory is not None:
            place = directory.place(RUN_FILE)
            with whole_file(place, OPTION, partial=lambda: run.partial) as stream:
                stream.writelines(written(run))
            if not run.partial:
                directory.finish()
    if not run.partial:
        for hint in hints(assembly, run):
            tell(f"hint: {hint}")
    return run, interruption.signal


def _check_pairs(assembly: Assembly, interruption: Interruption) -> None:
    """Raise UsageError before anything is paid, where judges would be asked about too many pairs.

    Standard input cannot be read twice: there the limit is kept as the run goes.
    """
    client = assembly.job.options.client
    if client is None or not client.policy.may_ask:
        return
    sources = assembly.settings.gt, assembly.settings.pred
    if STANDARD_INPUT not in sources and any(it.is_judge for it in models_of(assembly.schema.plan)):
        check_pairs(assembly.job, client, assembly.pairs, interruption)


def _total(
    assembly: Assembly,
    directory: RunDirectory | None,
    lines: Mapping[str, TakesLines],
    interruption: Interruption,
    *,
    progress: bool,
) -> ChunkResult:
    """Evaluate the pairs that are not finished, write lines as they come, and add up."""
    job, pairs = assembly.job, assembly.pairs

    def evaluate_rest(items: Iterator[Item], done: int = 0) -> Generator[ChunkResult]:
        if not done:  # else they were counted then
            _check_pairs(assembly, interruption)
        left = None if pairs.total is None else pairs.total - done
        workers = assembly.workers
        yield from chunk_results(job, items, workers, total=left, interruption=interruption)

    if directory is None:
        results = evaluate_rest(pairs.refs())
    else:
        results = continued(directory, pairs.refs(), evaluate_rest, interruption)
    with ExitStack() as stack:
        stack.enter_context(interruption.listening())
        advance = stack.enter_context(_progress_bar(pairs.total, job)) if progress else None
        return gather(results, job, lines, advance)


def _lines_files(
    assembly: Assembly,
    directory: RunDirectory | None,
    files: ExitStack,
    interruption: Interruption,
) -> dict[str, LinesFile]:
    """Open the files of lines that were asked for, by what they take."""
    settings, plan = assembly.settings, assembly.job.plan
    options, places = ["--documents", "--non-matches"], [settings.documents, settings.non_matches]
    if directory is not None:
        options = [OPTION, OPTION]
        places = [directory.place(name) for name in (DOCUMENTS, NON_MATCHES)]

    def columns_of_scores() -> Sequence[LineColumn]:
        # Of several schemas there is no field that all documents have.
        several = assembly.job.schemas is not None
        return columns_of_documents([()] if several else [it.path for it in field_listing(plan)])

    def ended_early() -> bool:
        return interruption.signal is not None

    names = ("document_lines", "non_match_lines", "value_lines")
    columns = (columns_of_scores, columns_of_errors, columns_of_values)
    asked = zip(names, [*options, "--values"], [*places, settings.values], columns, strict=True)
    return {
        name: files.enter_context(_lines_file(option, path, of_file, ended_early))
        for name, option, path, of_file in asked
        if path
    }


@contextmanager
def _lines_file(
    option: str,
    path: str,
    columns: Callable[[], Sequence[LineColumn]],
    partial: Callable[[], bool],
) -> Iterator[LinesFile]:
    """Open a file for lines of JSON, which stand in it as its suffix says."""
    form = format_of_lines(option, path)
    with (
        whole_file(path, option, partial=partial) as stream,
        lines_as_rows(stream, form, columns) as rows,
    ):
        yield rows


@contextmanager
def _progress_bar(total: int | None, job: Job) -> Iterator[Advance]:
    """Show a bar on standard error while the block runs, and what asking models took so far."""
    from rich import progress as bars  # few runs show it, and rich takes its time
    from rich.console import Console

    client = job.options.client
    columns = [bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeRemainingColumn()]
    if client is not None:
        columns.append(bars.TextColumn("{task.fields[client].usage}", markup=False))
    # What asking takes is shown also between two documents. That takes a thread, and a process
    # with two cannot be forked.
    asks, console = client is not None, Console(stderr=True)
    with bars.Progress(*columns, console=console, transient=True, auto_refresh=asks) as progress:
        task = progress.add_task("documents", total=total, client=client)

        def advance(documents: int) -> None:
            progress.advance(task, documents)
            if not asks:
                progress.refresh()

        yield advance


def _record(assembly: Assembly, total: ChunkResult, started: str, *, partial: bool) -> Run:
    evaluation, settings, schema = total.evaluation, assembly.settings, assembly.schema
    rule = RateRule(settings.recall_with_fd, settings.counting)
    gt, pred = source_of(settings.gt), source_of(settings.pred)
    return Run(
        evaluation=evaluation,
        schema=SchemaSignature(
            schema.path, schema.digest, schema.name, schema.inferred, settings.schema_by
        ),
        options=part_of(settings, RunOptions),
        fields=field_listing(schema.plan),
        gates=[judge(it, evaluation, rule) for it in assembly.gates],
        notes=[
            *_notes(assembly.pairs, evaluation, partial=partial),
            *(each.told for one in schema.each for each in tunings(one.contents)),
            *assembly.warnings,
        ],
        partial=partial,
        planned=assembly.pairs.total if partial else None,
        provenance=[Provenance(started, gt, pred, settings.label)],
        document=total.document,
        detail=total.detail,
        first_non_matches=tuple(total.first_non_matches),
        policy=outcome_of(assembly.policy, evaluation) if assembly.policy else None,
        marked=outcome_of_marks(
            assembly.job.marks,
            total.marked,
            evaluation.tally,
            (evaluation.score_units, evaluation.evaluated),
            rule,
        )
        if total.marked
        else None,
    )


def _notes(pairs: Pairs, evaluation: Evaluation, *, partial: bool) -> list[str]:
    notes = [str(problem) for problem in pairs.problems]
    if partial:
        of_all = "" if pairs.total is None else f" of {pairs.total}"
        done = evaluation.documents["total"]
        notes.append(f"interrupted: these are the results of {done}{of_all} documents only")
    notes += (
        f"{folder}: {_left_out(count, *words)}"
        for counts, words in (
            (pairs.skipped, ("file is not .json", "files are not .json")),
            (pairs.hidden, ("name begins with a dot", "names begin with a dot")),
        )
        for folder, count in counts.items()
        if count
    )
    return notes


def _left_out(count: int, one: str, several: str) -> str:
    return f"1 {one} and was left out" if count == 1 else f"{count} {several} and were left out"
