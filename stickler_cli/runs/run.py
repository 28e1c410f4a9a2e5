"""A whole run: documents in, results and the files that are written as it goes out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from stickler_cli.documents import Pairs
from stickler_cli.runs.chunk import ChunkResult, Job
from stickler_cli.runs.files import whole_file
from stickler_cli.runs.interruption import Interruption
from stickler_cli.runs.jobs import Crew
from stickler_cli.runs.pipeline import chunk_results, gather
from stickler_cli.runs.progress import progress_bar


@dataclass(frozen=True, slots=True)
class LineFiles:
    """Where the lines go that a job wants."""

    documents: str | None = None
    non_matches: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run came to."""

    total: ChunkResult
    signal: int | None
    """The signal that ended it before all documents were evaluated, if one did."""


def run(job: Job, pairs: Pairs, crew: Crew, files: LineFiles, *, progress: bool) -> Finished:
    """Evaluate all pairs; on Ctrl-C or SIGTERM, those that are finished by then.

    Args:
        job: everything that decides a result.
        pairs: what is compared.
        crew: who does the work.
        files: where lines go; those of a run that ended early go to `NAME.partial` instead.
        progress: whether to show on standard error how far the run is.

    Raises:
        UsageError: a file cannot be made, or the plan cannot be sent to another process.
        WorkerDiedError: a worker could not start.
        OSError: lines cannot be written.
    """
    interruption = Interruption()
    with (
        _lines(files.documents, "--documents", interruption) as document_lines,
        _lines(files.non_matches, "--non-matches", interruption) as non_match_lines,
        interruption.listening(),
        progress_bar(pairs.total, show=progress) as advance,
    ):
        results = chunk_results(
            job, pairs.refs(), crew, total=pairs.total, interruption=interruption
        )
        total = gather(
            results,
            job.wants,
            document_lines=document_lines,
            non_match_lines=non_match_lines,
            advance=advance,
        )
    return Finished(total, interruption.signal)


@contextmanager
def _lines(path: str | None, option: str, interruption: Interruption) -> Iterator[BinaryIO | None]:
    if path is None:
        yield None
        return
    with whole_file(path, option, partial=lambda: interruption.signal is not None) as stream:
        yield stream
