"""Executors that hand parts of a run to others; results come in the order of the documents.

They keep a few results that came early, and try a part again in halves where whoever had it died.
"""

import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, Generic, TypeVar

from stickler_cli.compare.field_listing import comparators
from stickler_cli.core.problems import Problem, UsageError, WorkerDiedError
from stickler_cli.runs.chunk import ChunkResult, Item
from stickler_cli.runs.job import Job
from stickler_cli.runs.process import Interruption
from .chunking import Chunks

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
"""Of what cannot be written or read: a local class, too deep a value."""


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
    found = dict.fromkeys(f"{name} cannot be sent to another process ({r})" for name, r in reasons)
    raise UsageError(Problem(source, each, expected, "use one process") for each in found)


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
        """Take a job; `left` are the documents to come, None where nobody knows."""
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
    def _part(self, items: Sequence[Item]) -> H:
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
        taken = chunks.take(None if self.left is None else self.left // (2 * workers) + 1)
        if not taken:
            self.all_read = True
            return None
        if self.left is not None:
            self.left -= len(taken)
        self.order.append(self._part(taken))
        return self.order[-1]

    def _replace(self, part: H, *parts: Sequence[Item]) -> list[H]:
        """Have documents of a part tried again as smaller ones."""
        place, smaller = self.order.index(part), [*map(self._part, parts)]
        del self.order[place]
        for each in reversed(smaller):
            self.order.insert(place, each)
        return smaller

    def _halve(self, part: H, items: Sequence[Item]) -> list[H]:
        """Have documents of a part tried again in halves."""
        middle = len(items) // 2
        return self._replace(part, items[:middle], items[middle:])

    def _note_death(self, found: str) -> None:
        """Count a death; raise WorkerDiedError after too many without a result between them."""
        self.in_vain += 1
        if self.in_vain > MOST_IN_VAIN:
            hint = "does a comparator end its process, or was there too little memory?"
            raise WorkerDiedError([Problem(self.source, found, "", hint)])
