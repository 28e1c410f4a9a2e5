"""The one door to a run: the same settings give the same run, by command line or from Python."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from stickler_cli.compare.field_listing import field_listing
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.option import part_of
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import Pairs
from stickler_cli.documents.reading import STANDARD_INPUT, source_of
from stickler_cli.runs.executors.pipeline import NO_LINES, chunk_results, gather
from stickler_cli.score.counts import RateRule
from stickler_cli.score.errors.marks import outcome_of_marks
from stickler_cli.score.evaluation import Conditions, Evaluation
from stickler_cli.score.gate_verdicts import judge
from stickler_cli.score.record import Provenance, Run, SchemaSignature, join_rare_keys
from stickler_cli.settings.deciding import DecidingOptions, RunOptions
from stickler_cli.settings.of_commands import ManySettings
from .assembly import Assembly, client_of, comparing, models_of
from .chunk import ChunkResult, Item
from .hints import hints
from .job import Job, OutputsRequested, Workers
from .process import Interruption

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.records.row_files import TakesLines


MAX_PAIRS: Final = "--max-pairs"


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
    interruption, job, pairs = Interruption(), assembly.job, assembly.pairs

    def evaluate_rest(items: Iterator[Item], done: int = 0) -> Generator[ChunkResult]:
        if not done:  # else they were counted then
            _check_pairs(assembly, interruption)
        left = None if pairs.total is None else pairs.total - done
        workers = assembly.workers
        yield from chunk_results(job, items, workers, total=left, interruption=interruption)

    with ExitStack() as files:
        keeper = None
        if assembly.keeps_files:
            from .keeping import kept  # most runs write reports alone

            keeper = files.enter_context(kept(assembly, started, interruption, tell))
        with ExitStack() as listening:
            listening.enter_context(interruption.listening())
            advance = None
            if progress:
                from .progress import progress_bar  # few runs show it, and rich takes its time

                expected = pairs.total if pairs.expected is None else pairs.expected
                advance = listening.enter_context(progress_bar(expected, job.options.client))
            refs = pairs.refs()
            results = keeper.results(refs, evaluate_rest) if keeper else evaluate_rest(refs)
            total = gather(results, job, keeper.lines if keeper else NO_LINES, advance)
        begun = keeper.started if keeper else started
        run = _record(assembly, total, begun, partial=interruption.signal is not None)
        if keeper:
            keeper.finish(run, written)
    if not run.partial:
        for hint in hints(assembly, run):
            tell(f"hint: {hint}")
    return run, interruption.signal


def _check_pairs(assembly: Assembly, interruption: Interruption) -> None:
    """Raise UsageError before anything is paid, where judges would be asked about too many pairs.

    All documents are compared without asking anybody, to count the pairs; which list items pair may
    depend on embeddings that nobody knows yet. Standard input cannot be read twice: there the limit
    is kept as the run goes.
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
            hint = "--dry-run tells how many there are in all"
            refuse_runaway(counting, f"of the first {read} documents", hint)


def refuse_runaway(counting: "Client", counted: str, hint: str = "") -> None:
    """Raise UsageError if more pairs were counted than the policy of a client allows."""
    judges = [need for need in counting.needs if need.model.is_judge]
    count, limit = sum(need.questions for need in judges), counting.policy.max_pairs
    if count > limit:
        cached = sum(need.cached for need in judges)
        found = (
            f"judges would be asked about {count} pairs {counted}, beside {cached} in the cache; "
            "nothing was asked"
        )
        hint = "; ".join(filter(None, [hint, "allow more if they are worth it"]))
        raise UsageError([Problem(MAX_PAIRS, found, f"at most {limit}", hint)])


def _record(assembly: Assembly, total: ChunkResult, started: str, *, partial: bool) -> Run:
    evaluation, settings, schema = total.evaluation, assembly.settings, assembly.schema
    rule = RateRule(settings.recall_with_fd, settings.counting)
    gt, pred = source_of(settings.gt), source_of(settings.pred)
    gates = [judge(it, evaluation, rule) for it in assembly.gates]
    fields = field_listing(schema.plan)
    notes_of_keys = join_rare_keys(evaluation, fields)
    return Run(
        evaluation=evaluation,
        schema=SchemaSignature(
            schema.path, schema.digest, schema.name, schema.inferred, settings.schema_by
        ),
        options=part_of(settings, RunOptions),
        fields=fields,
        gates=gates,
        notes=[
            *_notes(assembly.pairs, evaluation, partial=partial),
            *notes_of_keys,
            *assembly.notes,
            *assembly.warnings,
        ],
        partial=partial,
        planned=assembly.pairs.total if partial else None,
        provenance=[Provenance(started, gt, pred, settings.label)],
        document=total.document,
        detail=total.detail,
        first_non_matches=tuple(total.first_non_matches),
        policy=assembly.policy(evaluation) if assembly.policy else None,
        marked=outcome_of_marks(
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
