"""The one door to a run: what was put together of settings is evaluated.

The command line and the Python API both come in here, so that the same settings give the same run.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from stickler_cli.compare.outline import outline
from stickler_cli.compare.plan import Plan
from stickler_cli.core.option import part_of
from stickler_cli.core.values import dataclass
from stickler_cli.documents import DocumentPair, Pairs
from stickler_cli.runs.assembly import Assembly, client_of, job_of
from stickler_cli.runs.files import whole_file
from stickler_cli.runs.lines import LineFiles
from stickler_cli.runs.pipeline import chunk_results, gather
from stickler_cli.runs.run import Finished, run
from stickler_cli.runs.run_directory import (
    OPTION,
    RunDirectory,
    run_directory,
    settings_of,
)
from stickler_cli.runs.saved import RUN_FILE
from stickler_cli.runs.validation import Validation
from stickler_cli.runs.workers import Workers
from stickler_cli.score.conditions import Conditions, FieldInfo
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.gates import judge
from stickler_cli.score.record import Run, SchemaSignature
from stickler_cli.settings import (
    DecidingOptions,
    ManySettings,
    RunOptions,
)

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a run came to."""

    run: Run
    signal: int | None
    """The signal that ended the run early, if one did."""
    directory: RunDirectory | None
    """What keeps the run, if anything does."""


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


def field_infos(plan: Plan) -> tuple[FieldInfo, ...]:
    """Return what results say of the fields of a schema."""
    return tuple(
        FieldInfo(row.path, row.kind, row.comparator, row.threshold, row.weight)
        for row in outline(plan)
    )


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
