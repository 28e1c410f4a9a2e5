"""A whole run: documents in, results and the files that are written as it goes out."""

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import BinaryIO

from stickler_cli.core.values import dataclass
from stickler_cli.documents import Pairs
from stickler_cli.runs.chunk import ChunkResult, Item, Job
from stickler_cli.runs.files import whole_file
from stickler_cli.runs.interruption import Interruption
from stickler_cli.runs.lines import LineFiles
from stickler_cli.runs.pipeline import Advance, chunk_results, gather
from stickler_cli.runs.resume import continued
from stickler_cli.runs.run_directory import RunDirectory
from stickler_cli.runs.workers import Workers


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run came to."""

    total: ChunkResult
    signal: int | None
    """The signal that ended it before all documents were evaluated, if one did."""


def run(
    job: Job,
    pairs: Pairs,
    workers: Workers,
    files: LineFiles | RunDirectory,
    *,
    progress: bool,
) -> Finished:
    """Evaluate all pairs; on Ctrl-C or SIGTERM, those that are finished by then.

    Args:
        job: everything that decides a result.
        pairs: what is compared.
        workers: who does the work.
        files: where lines go; those of a run that ended early go to `NAME.partial` instead. What
            a directory keeps of an earlier run is not evaluated again.
        progress: whether to show on standard error how far the run is.

    Raises:
        UsageError: a file cannot be made, the plan cannot be sent to another process, or the
            documents are not those of the directory.
        WorkerDiedError: a worker could not start.
        OSError: lines cannot be written.
    """
    interruption = Interruption()
    directory = files if isinstance(files, RunDirectory) else None
    if isinstance(files, RunDirectory):
        files = files.line_files
    with (
        _lines(files.documents, files.options[0], interruption) as document_lines,
        _lines(files.non_matches, files.options[1], interruption) as non_match_lines,
        interruption.listening(),
        _shown(job, pairs, progress=progress) as advance,
    ):

        def evaluate(items: Iterator[Item], done: int = 0) -> Generator[ChunkResult]:
            left = None if pairs.total is None else pairs.total - done
            return chunk_results(job, items, workers, total=left, interruption=interruption)

        if directory is None:
            results = evaluate(pairs.refs())
        else:
            results = continued(directory, pairs.refs(), evaluate, interruption)
        total = gather(
            results,
            job.requested,
            document_lines=document_lines,
            non_match_lines=non_match_lines,
            advance=advance,
        )
    return Finished(total, interruption.signal)


def _shown(job: Job, pairs: Pairs, *, progress: bool) -> AbstractContextManager[Advance]:
    """Return what shows how far a run is."""
    if not progress:
        return nullcontext(lambda _: None)
    from stickler_cli.runs.progress import progress_bar  # loads rich and the client of models

    return progress_bar(pairs.total, job.options.client)


@contextmanager
def _lines(path: str | None, option: str, interruption: Interruption) -> Iterator[BinaryIO | None]:
    if path is None:
        yield None
        return
    with whole_file(path, option, partial=lambda: interruption.signal is not None) as stream:
        yield stream
