"""Cut documents into chunks, and evaluate the chunks in this process or by workers elsewhere.

Large chunks save work. However, a run can stop, or change the number of workers, only between
chunks. Results are in the order of the documents, so a result that arrives early has to wait. If a
worker dies, its documents are tried again in two halves.
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

# Work that is not cut any further: smaller chunks have mostly fixed costs.
LEAST_SECONDS: Final = 0.1
# Number of documents in the first chunks of all processes, as their work is unknown yet.
FIRST_CHUNK: Final = 32
# Bytes of text in the first chunk, as documents with long lists take much longer.
FIRST_BYTES: Final = 250_000
GROWTH: Final = 8  # how many times larger than the previous chunk the next one may be

ASKED_TOGETHER: Final = 64
"""Number of documents in a chunk if models are asked. It is large enough to use all connections to
models, and small enough to show progress."""

OWN_BYTES: Final = 500  # fixed cost of a document, in bytes of text


AT_ONCE: Final = 0.3
"""Maximum work, in estimated seconds, that this process does before it checks for signals again."""


class Largest(NamedTuple):
    """Maximum size of a chunk of documents.

    A chunk ends when one of the three limits is reached.
    """

    seconds: float
    """Seconds of work, estimated from the previous chunk. The limit must not be small: with many
    fields, every chunk takes some tens of milliseconds even for few documents, so a small limit
    would shrink the chunks again and again."""
    documents: int
    text: int
    """Bytes of text in all documents together."""


CHUNK: Final = Largest(1.0, 256, 4_000_000)
"""Maximum size of a chunk. Larger chunks gain little speed, and a chunk needs about thirty times as
much memory as its text."""

TASK: Final = Largest(4.0, 8192, 8_000_000)
"""Maximum size of a task: the documents that are sent to another machine together. A task is large
enough that sending it costs little, and small enough to be repeated if a worker dies."""


class ChunkSize(NamedTuple):
    """Size of a chunk of documents."""

    documents: int
    text: int
    """Bytes of text, plus a fixed cost for each document."""


class Chunks:
    """The documents of a run. They are taken in chunks whose size adapts to the work."""

    def __init__(
        self,
        items: Iterator[WorkItem],
        *,
        size: int | None = None,
        timed: bool = True,
        jobs: int = 1,
        largest: Largest | None = None,
    ) -> None:
        """Prepare to take documents in chunks.

        Args:
            items: the documents.
            size: documents in each chunk; None to adapt the size to bytes and time.
            timed: whether the time that a chunk takes is a measure of its work. Set this to False
                if most of the time is spent on waiting for models.
            jobs: number of processes. If there are several, the first chunks are small, so that
                every process gets work at once.
            largest: maximum size of a chunk, by default `CHUNK`.
        """
        self._items = items
        self._largest = largest or CHUNK
        self._fixed_size = size or (None if timed else ASKED_TOGETHER)
        first_size = FIRST_CHUNK
        if jobs != 1:
            # The first chunks are small: all processes are busy at once, and their speed is soon
            # known. The second chunk of a process can be `GROWTH` times larger.
            first_size = max(1, FIRST_CHUNK // (GROWTH * jobs))
        self._max_documents = self._fixed_size or first_size
        self._max_bytes = float(FIRST_BYTES)  # of the next chunk
        self._min_documents = 1  # so few that they take little time
        self.returned: list[WorkItem] = []
        """Documents that were taken but not evaluated. `take` returns them as the next chunk."""

    def take(self, max_documents: int | None = None) -> list[WorkItem]:
        """Return the documents of the next chunk. The list is empty if no documents are left.

        A chunk has at most `max_documents` documents. It has more documents if a chunk of this size
        would be finished too quickly, because sending a chunk takes time. `max_documents` is
        ignored if the size of chunks is fixed, and for documents in `returned`.
        """
        max_documents = self._largest.documents if max_documents is None else max_documents
        if self.returned:
            returned, self.returned = self.returned, []
            return returned
        if self._fixed_size is not None:
            return list(islice(self._items, self._fixed_size))
        items: list[WorkItem] = []
        n_bytes = 0
        max_items = min(self._max_documents, max(self._min_documents, max_documents))
        for item in self._items:
            items.append(item)
            n_bytes += _bytes_of(item)
            if len(items) >= max_items or n_bytes >= self._max_bytes:
                break
        return items

    def took(self, size: ChunkSize, seconds: float) -> None:
        """Learn the speed of the work: a chunk of this size took this many seconds.

        At this speed, each of the next chunks takes about `Largest.seconds`, unless another limit
        is reached first. A size that was fixed in the constructor does not change.
        """
        if self._fixed_size is not None:
            return
        documents, text = size
        fitting = self._largest.seconds / max(seconds, 1e-9) * text
        self._max_bytes = min(self._largest.text, fitting)
        self._min_documents = max(1, int(LEAST_SECONDS * documents / max(seconds, 1e-9)))
        self._max_documents = min(self._largest.documents, GROWTH * documents)


def size_of(items: Sequence[WorkItem]) -> ChunkSize:
    """Return the size of a chunk."""
    return ChunkSize(len(items), sum(map(_bytes_of, items)))


def _bytes_of(item: WorkItem) -> int:
    if isinstance(item, DocumentPair):
        return OWN_BYTES
    return OWN_BYTES + getattr(item.gt, "size", 0) + getattr(item.pred, "size", 0)


class Inline:
    """Evaluates chunks in this process.

    A chunk that would block this process for too long is put back. Another process must evaluate
    it.
    """

    def __init__(
        self, job: Job, limit: int | None = None, interruption: Interruption | None = None
    ) -> None:
        """Create an executor.

        `limit` is the memory in bytes that documents may take; None for no limit. If there is an
        `interruption`, a chunk that would block this process for too long is put back. If there is
        none, this process evaluates every chunk.
        """
        at_once = None if interruption is None else AT_ONCE
        self._job = replace(job, options=replace(job.options, work_at_once=at_once))
        self._limit = limit
        self._interruption = interruption or Interruption()

    def results(self, chunks: Chunks) -> Generator[ChunkResult]:
        """Yield the results of chunks.

        Stop at a chunk that would block this process for too long.
        """
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
        """Evaluate documents within the memory limit.

        If all documents together exceed the limit, they are evaluated one by one.
        """
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


# Parts for each worker that may be held back, while an earlier part takes longer.
PARTS_AHEAD: Final = 4
# Number of deaths in a row without a result; finding one fatal document takes 10.
MOST_IN_VAIN: Final = 32

PICKLING_ERRORS: Final = (
    pickle.PickleError,
    AttributeError,
    ImportError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors that pickle raises for objects that cannot be sent to another process, such as local
classes."""


def packed_job(job: Job, source: str) -> bytes:
    """Return the pickled job of a run, to be sent to workers.

    Error messages name `source`, the option that requested workers.

    Raises:
        UsageError: the job cannot be pickled; the message names the comparators that prevent it.
    """
    try:
        return pickle.dumps(job)
    except PICKLING_ERRORS as error:
        reasons = [
            (comparator.name, reason)
            for comparator in comparators(job.plan)
            if (reason := _pickling_error(comparator)) is not None
        ] or [("the schema", error)]
    expected = "comparator classes at the top level of a module that can be imported"
    findings = dict.fromkeys(
        f"{name} cannot be sent to another process ({r})" for name, r in reasons
    )
    raise UsageError(
        Problem(source=source, found=finding, expected=expected, hint="or use --jobs 1")
        for finding in findings
    )


def _pickling_error(value: object) -> Exception | None:
    try:
        pickle.dumps(value)
    except PICKLING_ERRORS as error:
        return error
    return None


class Handed(ABC):
    """A part of a run: documents that are handed to a worker together, and their result."""

    result: ChunkResult | None


H = TypeVar("H", bound=Handed)


class Elsewhere(ABC, Generic[H]):
    """An executor that hands parts of a run to workers. A part consists of some documents."""

    source: str
    """Option that requested the executor, for messages."""

    def __init__(self, job: Job, left: int | None, interruption: Interruption) -> None:
        """Create an executor. `left` is the number of documents to evaluate; None if unknown."""
        self.job = job
        self.left = left
        self.interruption = interruption
        self.order: deque[H] = deque()
        """Parts of the run whose results have not been yielded yet, in the order of the documents.
        """
        self.all_read = False
        self.in_vain = 0
        """Number of workers that have died since the last result arrived."""

    @abstractmethod
    def results(self, chunks: Chunks) -> Iterator[ChunkResult]:
        """Yield the results of all chunks in order.

        After an interruption, only finished ones are yielded.
        """

    @abstractmethod
    def _hand_out(self, chunks: Chunks) -> None:
        """Give some of the next documents to every idle worker."""

    @abstractmethod
    def _receive(self, chunks: Chunks) -> None:
        """Wait for a message from workers, and take all results that have arrived."""

    @abstractmethod
    def _make_part(self, items: Sequence[WorkItem]) -> H:
        """Return a new part of the run that consists of some documents."""

    def _in_order(self, chunks: Chunks) -> Iterator[ChunkResult]:
        while True:
            self._hand_out(chunks)
            if not self.order and self.all_read:
                return
            self._receive(chunks)
            while self.order and (result := self.order[0].result) is not None:
                self.order.popleft()
                yield result

    def _take_part(self, chunks: Chunks, workers: int) -> H | None:
        """Return the next part of the run, to be given to a worker.

        Return None if no documents are left. Also return None if the results of too many parts have
        not been yielded yet, for example because an early part takes long.
        """
        if len(self.order) >= workers * PARTS_AHEAD:
            return None
        # Make the last parts small, so that all workers have work until the end.
        items = chunks.take(None if self.left is None else self.left // (2 * workers) + 1)
        if not items:
            self.all_read = True
            return None
        if self.left is not None:
            self.left -= len(items)
        self.order.append(self._make_part(items))
        return self.order[-1]

    def _replace(self, replaced: H, *items_of_parts: Sequence[WorkItem]) -> list[H]:
        """Replace a part of the run by smaller parts that will be tried again.

        Return the smaller parts.

        Each of `items_of_parts` has the documents of a smaller part.
        """
        position, smaller = self.order.index(replaced), [*map(self._make_part, items_of_parts)]
        del self.order[position]
        for smaller_part in reversed(smaller):
            self.order.insert(position, smaller_part)
        return smaller

    def _halve(self, replaced: H, items: Sequence[WorkItem]) -> list[H]:
        """Replace a part of the run by its two halves, which will be tried again.

        Return the halves.
        """
        middle = len(items) // 2
        return self._replace(replaced, items[:middle], items[middle:])

    def _note_death(self, found: str) -> None:
        """Count the death of a worker.

        `found` is the text in the error that describes what happened.

        Raises:
            WorkerDiedError: too many workers have died since the last result.
        """
        self.in_vain += 1
        if self.in_vain > MOST_IN_VAIN:
            hint = "does a comparator end the process, or is there too little memory?"
            raise WorkerDiedError(
                [Problem(source=self.source, found=found, expected="", hint=hint)]
            )
