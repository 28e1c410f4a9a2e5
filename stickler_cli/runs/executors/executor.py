"""Documents cut into chunks, and executors: this process, and others that have parts of a run.

Large chunks save work, but runs end, or share, between them. Results come in the order of the
documents; a few that came early are kept, and a part is tried again in halves where whoever had it
died.
"""

import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from time import monotonic
from typing import Final, Generic, NamedTuple, TypeVar

from stickler_cli.compare.field_listing import comparators
from stickler_cli.compare.work import TooMuchAtOnceError
from stickler_cli.core.problems import Problem, UsageError, WorkerDiedError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import ChunkResult, WorkItem, evaluate_chunk, failed_chunk
from stickler_cli.runs.job import Job
from stickler_cli.runs.process import Interrupted, Interruption, memory_limited

LEAST_SECONDS: Final = 0.1  # of work, which is not cut any further: else much is the chunk itself
FIRST_CHUNK: Final = 32  # documents, for all processes together, whose work nobody knows yet
FIRST_BYTES: Final = 250_000  # their text: documents with long lists take much longer than others
GROWTH: Final = 8  # how many times as large as the last chunk the next one may be

ASKED_TOGETHER: Final = 64
"""Documents whose questions to models are asked together: enough to fill batches and connections,
few enough to be worth showing progress after."""

OWN_BYTES: Final = 500  # what a document costs beside its text, in bytes of text


AT_ONCE: Final = 0.3
"""The units of work that this process does without a look at signals: a fraction of a second."""


class Largest(NamedTuple):
    """Limits of a chunk."""

    seconds: float
    """The work, by the time that the last one took. With less, many fields, which take tens of
    milliseconds for any documents, would make chunks smaller and smaller."""
    documents: int
    text: int
    """Bytes."""


CHUNK: Final = Largest(1.0, 256, 4_000_000)
"""Limits of one comparison: larger chunks gain little, and take some thirty times as much memory as
their text."""

TASK: Final = Largest(4.0, 8192, 8_000_000)
"""Limits of a task for another machine, which cuts it into chunks: large enough that sending it and
adding up its results cost little, small enough to be done again."""


class ChunkSize(NamedTuple):
    """How large a chunk is."""

    documents: int
    text: int
    """Bytes of text, plus a fixed cost for each document."""


class Chunks:
    """The documents of a run, to be taken in chunks."""

    def __init__(
        self,
        items: Iterator[WorkItem],
        *,
        size: int | None = None,
        timed: bool = True,
        jobs: int = 1,
        largest: Largest | None = None,
    ) -> None:
        """Prepare to cut items into chunks of a size; None goes by their bytes and time.

        `timed` is whether time tells what work there is; it does not where models are waited for.
        `jobs` are the processes that wait for their first chunk, `largest` is `CHUNK` by default.
        """
        self._items = items
        self._largest = largest or CHUNK
        self._fixed = size or (None if timed else ASKED_TOGETHER)
        # So few for several that all are at work at once, and what they take is known soon.
        first = FIRST_CHUNK if jobs == 1 else max(1, FIRST_CHUNK // (GROWTH * jobs))
        self._size = self._fixed or first
        self._bytes = float(FIRST_BYTES)
        self._least = 1
        self.returned: list[WorkItem] = []
        """Items that were taken and must be taken again as one chunk."""

    def take(self, max_documents: int | None = None) -> list[WorkItem]:
        """Return the next documents; more than `max_documents` only if these are little work."""
        max_documents = self._largest.documents if max_documents is None else max_documents
        if self.returned:
            returned, self.returned = self.returned, []
            return returned
        if self._fixed is not None:
            return list(islice(self._items, self._fixed))
        items: list[WorkItem] = []
        n_bytes, max_items = 0, min(self._size, max(self._least, max_documents))
        for item in self._items:
            items.append(item)
            n_bytes += _bytes_of(item)
            if len(items) >= max_items or n_bytes >= self._bytes:
                break
        return items

    def took(self, size: ChunkSize, seconds: float) -> None:
        """Learn from the time that a chunk took."""
        if self._fixed is not None:
            return
        documents, text = size
        fitting = self._largest.seconds / max(seconds, 1e-9) * text
        self._bytes = min(self._largest.text, fitting)
        self._least = max(1, int(LEAST_SECONDS * documents / max(seconds, 1e-9)))
        self._size = min(self._largest.documents, GROWTH * documents)


def size_of(items: Sequence[WorkItem]) -> ChunkSize:
    """Return how large a chunk is."""
    return ChunkSize(len(items), sum(map(_bytes_of, items)))


def _bytes_of(item: WorkItem) -> int:
    if isinstance(item, DocumentPair):
        return OWN_BYTES
    return OWN_BYTES + getattr(item.gt, "size", 0) + getattr(item.pred, "size", 0)


class Inline:
    """This process. A chunk that is too much at once for it is returned, to be another's."""

    def __init__(
        self, job: Job, limit: int | None = None, interruption: Interruption | None = None
    ) -> None:
        """Take a job, a limit of bytes, and a wish to end, which work at once would not hear."""
        at_once = None if interruption is None else AT_ONCE
        self._job = replace(job, options=replace(job.options, work_at_once=at_once))
        self._limit = limit
        self._interruption = interruption or Interruption()

    def results(self, chunks: Chunks) -> Generator[ChunkResult]:
        """Yield the results of chunks, up to one that is too much at once."""
        while items := chunks.take():
            start = monotonic()
            try:
                results = self._interruption.wait(lambda: [*self._under_limit(items)])
            except Interrupted:
                return
            except TooMuchAtOnceError:
                chunks.returned = items
                return
            chunks.took(size_of(items), monotonic() - start)
            yield from results

    def _under_limit(self, items: Sequence[WorkItem]) -> Iterator[ChunkResult]:
        """Evaluate documents under a limit of memory: one by one if they take too much together."""
        try:
            with memory_limited(self._limit):
                chunk = evaluate_chunk(self._job, items)
        except MemoryError:
            if len(items) == 1:
                yield failed_chunk(self._job, items[0])
            else:
                for item in items:
                    yield from self._under_limit([item])
        else:
            yield chunk


PARTS_AHEAD: Final = 4  # for each worker that are held, because one before them takes longer
MOST_IN_VAIN: Final = 32  # deaths without a result between them: to find one document takes 10

PICKLING_ERRORS: Final = (
    pickle.PickleError,
    AttributeError,
    ImportError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of pickling values that cannot be sent: a local class, a value nested too deeply."""


def packed_job(job: Job, source: str) -> bytes:
    """Return a job as it is sent to workers, whom the option `source` asks for.

    Raises:
        UsageError: it cannot be sent; with each comparator that is the reason.
    """
    try:
        return pickle.dumps(job)
    except PICKLING_ERRORS as error:
        reasons = [
            (comparator.name, reason)
            for comparator in comparators(job.plan)
            if (reason := _pickling_error(comparator)) is not None
        ] or [("the schema", error)]
    expected = "comparators of classes at the top level of a module that can be imported"
    findings = dict.fromkeys(
        f"{name} cannot be sent to another process ({r})" for name, r in reasons
    )
    raise UsageError(
        Problem(source=source, found=finding, expected=expected, hint="use one process")
        for finding in findings
    )


def _pickling_error(value: object) -> Exception | None:
    try:
        pickle.dumps(value)
    except PICKLING_ERRORS as error:
        return error
    return None


class Handed(ABC):
    """Documents that are handed out together."""

    result: ChunkResult | None


H = TypeVar("H", bound=Handed)


class Elsewhere(ABC, Generic[H]):
    """An executor that hands out parts of a run."""

    source: str
    """The option that asked for it, for messages."""

    def __init__(self, job: Job, left: int | None, interruption: Interruption) -> None:
        """Take a job; `left` is the number of documents to come, None if it is unknown."""
        self.job = job
        self.left = left
        self.interruption = interruption
        self.order: deque[H] = deque()
        """The parts without a result that was yielded, in the order of the documents."""
        self.all_read = False
        self.in_vain = 0
        """Deaths since there was a result."""

    @abstractmethod
    def results(self, chunks: Chunks) -> Iterator[ChunkResult]:
        """Yield the results of all chunks, in order; of those that were done if interrupted."""

    @abstractmethod
    def _hand_out(self, chunks: Chunks) -> None:
        """Give parts to all who wait for one."""

    @abstractmethod
    def _receive(self, chunks: Chunks) -> None:
        """Wait for something to happen, and take the results that there are."""

    @abstractmethod
    def _make_part(self, items: Sequence[WorkItem]) -> H:
        """Make a part of documents."""

    def _in_order(self, chunks: Chunks) -> Iterator[ChunkResult]:
        while True:
            self._hand_out(chunks)
            if not self.order and self.all_read:
                return
            self._receive(chunks)
            while self.order and (result := self.order[0].result) is not None:
                self.order.popleft()
                yield result

    def _new(self, chunks: Chunks, workers: int) -> H | None:
        """Return a part of documents that were in none; None where all are, or enough are held."""
        if len(self.order) >= workers * PARTS_AHEAD:
            return None
        # The last parts are small, so that all workers have work until the end.
        items = chunks.take(None if self.left is None else self.left // (2 * workers) + 1)
        if not items:
            self.all_read = True
            return None
        if self.left is not None:
            self.left -= len(items)
        self.order.append(self._make_part(items))
        return self.order[-1]

    def _replace(self, replaced: H, *items_of_parts: Sequence[WorkItem]) -> list[H]:
        """Have documents of a part tried again as smaller ones."""
        position, smaller = self.order.index(replaced), [*map(self._make_part, items_of_parts)]
        del self.order[position]
        for smaller_part in reversed(smaller):
            self.order.insert(position, smaller_part)
        return smaller

    def _halve(self, replaced: H, items: Sequence[WorkItem]) -> list[H]:
        """Have documents of a part tried again in halves."""
        middle = len(items) // 2
        return self._replace(replaced, items[:middle], items[middle:])

    def _note_death(self, found: str) -> None:
        """Count a death; raise WorkerDiedError after too many without a result between them."""
        self.in_vain += 1
        if self.in_vain > MOST_IN_VAIN:
            hint = "does a comparator end its process, or was there too little memory?"
            raise WorkerDiedError(
                [Problem(source=self.source, found=found, expected="", hint=hint)]
            )
