"""What a worker of Dask does: it reads, compares and adds up the documents of a task."""

import os
import pickle
import platform
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, chdir
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import IO, Final, NamedTuple

from distributed import get_worker

from stickler_cli import __version__
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document import LineReference, Reference
from stickler_cli.documents.document_pair import PairRef
from stickler_cli.documents.pairs import LineRange, Part, in_ranges
from stickler_cli.runs.chunk import empty_result
from stickler_cli.runs.job import Job
from stickler_cli.runs.limits import rarely_collected
from stickler_cli.runs.read_documents import Item
from .chunking import Chunks
from .inline import Inline

DECIDING: Final = (
    "distributed",
    "jsonschema-rs",
    "numpy",
    "orjson",
    "python-dateutil",
    "rapidfuzz",
    "scipy",
)
"""Packages that decide what is found, or how it is sent: the same everywhere, or figures would
depend on who compares what."""

NOT_INSTALLED: Final = "not installed"


class Done(NamedTuple):
    """What a worker made of a task."""

    seconds: float
    result: bytes


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run needs of every worker."""

    versions: Mapping[str, str]
    directory: str
    """In which the paths of the run are what they are."""
    sources: tuple[str, ...]


def versions() -> dict[str, str]:
    """Return the versions of all that decides what is found here."""
    python = ".".join(platform.python_version_tuple()[:2])
    packages = {package: _version(package) for package in DECIDING}
    return {"Python": python, "stickler-cli": __version__, **packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED


def read_job(packed: bytes) -> Job:
    """Return the job, which the workers have of each other from then on."""
    job: Job = pickle.loads(packed)  # noqa: S301 - of the run
    return job


def evaluate_task(job: Job, needs: Needs, packed: bytes) -> Done:
    """Evaluate the documents of a task, chunk by chunk, and add up what they come to.

    Raises:
        UsageError: the worker is not what the run needs.
    """
    start = monotonic()
    worker = get_worker()
    _check(needs, str(worker.address), worker.state.nthreads)
    with chdir(needs.directory), rarely_collected():
        chunks = Chunks(unpacked_items(packed), timed=not job.plan.asks_models)
        results = [*Inline(job).results(chunks)]
    whole = empty_result(job)
    for result in results:
        whole.add(result, job)
        whole.ids += result.ids
        whole.fingerprints += result.fingerprints
    whole.document_lines = b"".join(result.document_lines for result in results)
    whole.non_match_lines = b"".join(result.non_match_lines for result in results)
    whole.value_lines = b"".join(result.value_lines for result in results)
    return Done(monotonic() - start, pickle.dumps(whole))


def packed_items(items: Iterable[Item]) -> bytes:
    """Return a task as it is sent: where documents are; Dask keeps a thousand tasks."""
    parts = [_unread(part) for part in in_ranges(items)]
    return zlib.compress(pickle.dumps(parts), 1)


def _unread(part: Part) -> Part:
    """Return a pair without the lines that a worker can read again."""
    if not isinstance(part, PairRef):
        return part

    def unread(side: Reference | None) -> Reference | None:
        if isinstance(side, LineReference) and side.offset is not None:
            return side._replace(data=None)
        return side

    return part._replace(gt=unread(part.gt), pred=unread(part.pred))


def unpacked_items(packed: bytes) -> Iterator[Item]:
    """Yield what a task holds, with lines; each file is opened once for all that are alone."""
    parts: list[Part] = pickle.loads(zlib.decompress(packed))  # noqa: S301 - of the run
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}

        def read(side: Reference | None) -> Reference | None:
            if not isinstance(side, LineReference) or side.offset is None:
                return side
            try:
                if side.file not in files:
                    files[side.file] = stack.enter_context(Path(side.file).open("rb"))
                files[side.file].seek(side.offset)
                return side._replace(data=files[side.file].read(side.size))
            except OSError:
                return side  # who reads it next says why

        for part in parts:
            if isinstance(part, LineRange):
                yield from part.refs()
            elif isinstance(part, PairRef):
                yield part._replace(gt=read(part.gt), pred=read(part.pred))
            else:
                yield part


def _check(needs: Needs, worker: str, threads: int) -> None:
    """Refuse to work where results would be others, or where there are no documents."""
    if threads != 1:
        found = f"the worker {worker} has {threads} threads"
        hint = "dask worker --nworkers auto --nthreads 1"
        raise UsageError([Problem("--engine dask", found, "processes of one thread", hint)])
    here = versions()
    for name, wanted in needs.versions.items():
        if here.get(name) != wanted:
            found = f"on the worker {worker} {name} is {here.get(name)}"
            hint = f"pip install '{name}=={wanted}' there" if name != "Python" else ""
            raise UsageError([Problem("--engine dask", found, f"{wanted}, as here", hint)])
    for source in needs.sources:
        place = os.path.join(needs.directory, source)  # noqa: PTH118 - it may be no text
        if not os.access(place, os.R_OK):
            found = f"the worker {worker} cannot read it"
            hint = "workers read documents themselves: give a place that all of them have"
            raise UsageError([Problem(source, found, "a shared directory", hint)])
