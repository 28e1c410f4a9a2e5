"""Evaluate a run. The command line and the Python API both use these functions.

Results are in the order of the documents. They are the same, byte for byte, for any number of
processes and any size of chunks. The memory that is needed does not grow with the number of
documents.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.option import select_settings
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import Pairs
from stickler_cli.documents.reading import STANDARD_INPUT, source_of
from stickler_cli.runs.executors.executor import TASK, Chunks, Inline
from stickler_cli.score.errors.marks import evaluate_marks
from stickler_cli.score.evaluation import Conditions, Evaluation
from stickler_cli.score.gate_verdicts import judge_gate
from stickler_cli.score.record import Provenance, Run, SchemaSignature, join_rare_keys
from stickler_cli.score.sums import RateRule
from stickler_cli.settings.deciding import DecidingOptions, RunOptions
from stickler_cli.settings.of_commands import ManySettings
from .assembly import Assembly, client_of, comparing, models_of
from .chunk import ChunkResult, WorkItem, empty_result
from .hints import hints
from .job import Job, OutputsRequested, Workers
from .process import (
    Interruption,
    can_fork,
    rarely_collected,
    until_interrupted,
    usable_cores,
)
from .repeated_truths import note_repeated_truths

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.records.row_files import TakesLines


MAX_PAIRS: Final = "--max-pairs"
NO_LINES: "Final[Mapping[str, TakesLines]]" = MappingProxyType({})
# Receives the number of further documents that are finished.
Advance: TypeAlias = Callable[[int], None]
MEASURED_SECONDS: Final = 0.25  # seconds of work after which the remaining work is estimated

ENOUGH_PROCESSES: Final = 64
"""Maximum number of processes on a machine with up to 16 cores. Starting more would cost time
without making the run faster. Larger machines have four processes for each core."""

WORTH_FORKING: Final = 1.0
"""Use forked processes only if the remaining work takes at least this many seconds. For less work,
starting them costs more time than they save."""

WORTH_STARTING: Final = 3.0
"""Start new processes only if the remaining work takes at least this many seconds. Starting them
takes half a second or more."""


def evaluate_in_memory(  # noqa: PLR0913 - a keyword for what settings cannot hold
    plan: Plan,
    pairs: Iterable[DocumentPair],
    settings: ManySettings,
    *,
    client: "Client | None" = None,
    total: int | None = None,
    job_of: Callable[[Options], Job],
    lines: "Mapping[str, TakesLines]" = NO_LINES,
) -> Evaluation:
    """Evaluate pairs of documents that are already in memory, taken from an iterable one by one.

    Without a client, models are asked with the default policy. `total` is the number of documents;
    None if unknown. `job_of` makes the job after all comparators have been checked. Lines of JSON
    are written to the streams in `lines` (see `gather`).
    """
    options = comparing(plan, settings, client or client_of(plan))
    job = job_of(options)
    workers = Workers(settings.workers, settings.chunk_size, f"workers={settings.workers}")
    results = chunk_results(job, iter(pairs), workers, total=total)
    evaluation = gather(results, job, lines).evaluation
    evaluation.conditions = Conditions(
        select_settings(settings, DecidingOptions), field_listing(plan), settings.counting
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
    """Evaluate all pairs of a run. After Ctrl-C or SIGTERM, return what is finished by then.

    Documents whose results are already in the run directory are not evaluated again. An interrupted
    run writes its files as `NAME.partial`. `started` is the start time; if a run continues an
    earlier one, the earlier start time is used. `tell` prints a line about the run directory, a
    note or a hint. `written` returns the text of the run file for the run directory.

    Returns:
        The run, and the signal that interrupted it (None if there is none).
    """
    interruption, job, pairs = Interruption(), assembly.job, assembly.pairs

    def evaluate_rest(items: Iterator[WorkItem], done: int = 0) -> Generator[ChunkResult]:
        if not done:  # an earlier run of this directory has counted them
            _check_pairs(assembly, interruption)
        left = None if pairs.total is None else pairs.total - done
        workers = assembly.workers
        yield from chunk_results(job, items, workers, total=left, interruption=interruption)

    with ExitStack() as files:
        keeper = None
        if assembly.keeps_files:
            from .keeping import open_kept_files  # imported late: most runs write reports only

            keeper = files.enter_context(open_kept_files(assembly, started, interruption, tell))
        with ExitStack() as listening:
            listening.enter_context(interruption.listening())
            advance = None
            if progress:
                expected = pairs.total if pairs.expected is None else pairs.expected
                advance = listening.enter_context(progress_bar(expected, job.options.client))
            refs = pairs.refs()
            results = keeper.results(refs, evaluate_rest) if keeper else evaluate_rest(refs)
            total = gather(results, job, keeper.lines if keeper else NO_LINES, advance)
        begun = keeper.started if keeper else started
        partial = interruption.signal is not None
        repeats = [] if partial else _note_repeats(assembly)
        run = _record(assembly, total, begun, repeats, partial=partial)
        if keeper:
            keeper.finish(run, written)
    if not (run.partial or assembly.settings.quiet):
        for remark in _remarks_on(assembly, run, repeats):
            tell(remark)
    return run, interruption.signal


def _note_repeats(assembly: Assembly) -> list[str]:
    """Return a note on repeated ground truths in a list, which is empty if there is no note.

    To find repetitions, the ground truths are read. This is done only if the note was requested,
    and the report or the terminal will show it.
    """
    requested = assembly.job.requested
    is_shown = requested.notes or not assembly.settings.quiet
    return [*note_repeated_truths(assembly)] if requested.repeats and is_shown else []


def _remarks_on(assembly: Assembly, run: Run, repeats: Sequence[str]) -> Iterator[str]:
    """Yield notes and hints about a finished run, as lines for the user.

    `repeats` are notes on repeated ground truths. If the report is a table that contains these
    notes, they are not yielded again.
    """
    if assembly.settings.ignore or assembly.settings.rename:
        from .unused_keys import note_unused_keys  # imported late: few runs edit keys

        for note in note_unused_keys(assembly):
            yield f"note: {note}"
    is_in_table = assembly.job.requested.notes and assembly.settings.format == "table"
    for note in () if is_in_table else repeats:
        yield f"note: {note}"
    for hint in hints(assembly, run):
        yield f"hint: {hint}"


def _check_pairs(assembly: Assembly, interruption: Interruption) -> None:
    """Check that the number of questions to judges is within the limit of the user.

    A judge is a model that compares a true and a predicted value. Each such pair of values is a
    question. To count the pairs, all documents are compared once without asking any model, so
    nothing has been paid yet. The count is approximate, because embeddings may decide how list
    items are paired.

    Standard input cannot be read twice. If documents come from there, the limit is checked during
    the run.

    Raises:
        UsageError: there are too many pairs of values.
    """
    job, settings = assembly.job, assembly.settings
    client = job.options.client
    if (
        client is None
        or not client.policy.may_ask
        or STANDARD_INPUT in (settings.gt, settings.pred)
    ):
        return
    if not any(model.is_judge for model in models_of(assembly.schema.plan)):
        return
    read = 0
    with client.rehearsing() as counting:
        options = replace(job.options, client=counting)
        bare = replace(job, options=options, requested=OutputsRequested(), validation=None, by=())
        pairs = assembly.pairs.refs()
        for chunk in chunk_results(bare, pairs, Workers(1), interruption=interruption):
            read += len(chunk.ids)
            hint = "--dry-run counts the pairs in all documents"
            refuse_runaway(counting, f"of the first {read} documents", hint)


def refuse_runaway(counting: "Client", counted: str, hint: str = "") -> None:
    """Raise UsageError if judges would be asked about more pairs of values than the policy allows.

    `counting` is a client that only counts the pairs and asks no model. `counted` names the
    documents in the message, such as "of the first 10 documents".
    """
    judges = [need for need in counting.needs if need.model.is_judge]
    count, limit = sum(need.questions for need in judges), counting.policy.max_pairs
    if count > limit:
        cached = sum(need.cached for need in judges)
        finding = (
            f"judges would be asked about {count} pairs {counted} ({cached} more have "
            "saved answers); no model was asked"
        )
        hint = "; ".join(filter(None, [hint, "raise --max-pairs to allow more pairs"]))
        raise UsageError(
            [Problem(source=MAX_PAIRS, found=finding, expected=f"at most {limit}", hint=hint)]
        )


def _record(
    assembly: Assembly, total: ChunkResult, started: str, repeats: Sequence[str], *, partial: bool
) -> Run:
    evaluation, settings, schema = total.evaluation, assembly.settings, assembly.schema
    rule = RateRule(settings.recall_with_fd, settings.counting)
    gt, pred = source_of(settings.gt), source_of(settings.pred)
    gates = [judge_gate(gate, evaluation, rule) for gate in assembly.gates]
    fields = field_listing(schema.plan)
    notes_of_keys = join_rare_keys(evaluation, fields)
    return Run(
        evaluation=evaluation,
        schema=SchemaSignature(
            path=schema.path,
            digest=schema.digest,
            model_name=schema.name,
            inferred=schema.inferred,
            by=settings.schema_by,
        ),
        options=select_settings(settings, RunOptions),
        fields=fields,
        gates=gates,
        notes=[
            *_notes(assembly.pairs, evaluation, partial=partial),
            *notes_of_keys,
            *assembly.notes,
            *assembly.warnings,
            *repeats,
        ],
        partial=partial,
        planned=assembly.pairs.total if partial else None,
        provenance=[Provenance(started=started, gt=gt, pred=pred, labels=settings.label)],
        document=total.document,
        detail=total.detail,
        first_non_matches=tuple(total.first_non_matches),
        policy=assembly.policy(evaluation) if assembly.policy else None,
        marked=evaluate_marks(
            assembly.job.marks,
            total.marked,
            evaluation.tally,
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
        notes.append(f"interrupted: these results cover only {done}{of_all} documents")
    notes += (
        f"in the directory {folder}, {_left_out(count, *words)}"
        for counts, words in (
            (pairs.skipped, ("file is not .json", "files are not .json")),
            (pairs.hidden, ("name begins with a dot", "names begin with a dot")),
        )
        for folder, count in counts.items()
        if count
    )
    return notes


def _left_out(count: int, singular: str, plural: str) -> str:
    return f"1 {singular} and was skipped" if count == 1 else f"{count} {plural} and were skipped"


def chunk_results(
    job: Job,
    items: Iterable[WorkItem],
    workers: Workers,
    *,
    total: int | None = None,
    interruption: Interruption | None = None,
) -> Generator[ChunkResult]:
    """Evaluate documents, and yield results chunk by chunk in the order of the documents.

    Documents are taken from `items` only when there is room for more work. `total` is their number;
    None if unknown. A chunk that would block this process for too long is given to another process.

    Raises:
        UsageError: the plan cannot be sent to another process, or the cluster does not exist.
        WorkerDiedError: a worker cannot be started, or the cluster is gone.
    """
    requested_end = interruption or Interruption()
    items = until_interrupted(items, requested_end)
    if workers.cluster is not None:
        # Imported late: an extra that takes time to load.
        from .executors.dask_cluster import DaskExecutor

        tasks = Chunks(items, jobs=usable_cores(), largest=TASK)
        yield from DaskExecutor(
            job=job, cluster=workers.cluster, left=total, interruption=requested_end
        ).results(tasks)
        return
    asks_models, is_auto = job.plan.asks_models, workers.jobs == "auto"
    # Waiting for a model needs no further cores, and each process would load a local model.
    jobs = workers.jobs if workers.jobs != "auto" else 1 if asks_models else usable_cores()
    n_waiting = 1 if is_auto else jobs
    uses_this_process = (is_auto or jobs == 1) and not workers.watched
    chunks = Chunks(items, size=workers.chunk_size, timed=not asks_models, jobs=n_waiting)
    start, done = monotonic(), 0
    if uses_this_process:
        for chunk in Inline(job, workers.memory_limit, interruption).results(chunks):
            yield chunk
            done += len(chunk.ids)
            elapsed = monotonic() - start
            # If the remaining work is unknown, assume as much as has been done.
            seconds_left = elapsed if total is None else elapsed / done * (total - done)
            may_be_worth_it = jobs > 1 and elapsed > MEASURED_SECONDS
            if may_be_worth_it and seconds_left > (WORTH_FORKING if can_fork() else WORTH_STARTING):
                break
        else:
            if not chunks.returned:
                return
    # Imported late: a run in one process does not need multiprocessing.
    from .executors.pool import Pool

    n_left = None if total is None else total - done
    n_processes = min(jobs, max(ENOUGH_PROCESSES, 4 * usable_cores()))
    if n_left is not None:
        n_processes = max(1, min(n_processes, n_left))
    yield from Pool(
        job=job, workers=workers, number=n_processes, left=n_left, interruption=requested_end
    ).results(chunks)


def gather(
    results: Generator[ChunkResult],
    job: Job,
    lines: "Mapping[str, TakesLines]" = NO_LINES,
    advance: Advance | None = None,
) -> ChunkResult:
    """Add up the results of all chunks of a run.

    Lines of JSON are written to files as they arrive.

    `lines` has a stream for each kind of lines: `document_lines`, `non_match_lines` or
    `value_lines`.
    """
    total = empty_result(job)
    # Closing the results ends the workers, even if a line cannot be written.
    with closing(results), rarely_collected():
        for chunk in results:
            for name, stream in lines.items():
                stream.write(getattr(chunk, name))
            total.add(chunk, job)
            if advance is not None:
                advance(len(chunk.ids))
    return total


@contextmanager
def progress_bar(total: int | None, client: "Client | None") -> Iterator[Callable[[int], None]]:
    """Show a progress bar, with the usage of models, while the block of the `with` runs.

    The `with` gives a function. Call it with the number of documents finished since its last call.
    `total` is the number of all documents; None if unknown.
    """
    from rich import console as consoles  # imported late: few runs show a bar, and rich is large
    from rich import progress as bars

    columns = [bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeRemainingColumn()]
    if client is not None:
        columns.append(bars.TextColumn("{task.fields[client].usage}", markup=False))
    # Usage of models changes between two documents, so it is refreshed in a thread. Other runs have
    # no such thread, as a process with two threads cannot be forked.
    asks, console = client is not None, consoles.Console(stderr=True)
    with bars.Progress(*columns, console=console, transient=True, auto_refresh=asks) as progress:
        task = progress.add_task("documents", total=total, client=client)

        def advance(documents: int) -> None:
            progress.advance(task, documents)
            if not asks:
                progress.refresh()

        yield advance
