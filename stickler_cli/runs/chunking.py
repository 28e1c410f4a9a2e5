"""How documents are cut into chunks: large ones save work, but runs end, or share, between them."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from stickler_cli.documents.pairs import DocumentPair
from .chunk import Item

CHUNK_SECONDS: Final = 1.0
"""The work that a chunk holds at most, by the time that the last one took. With less, many fields,
which take tens of milliseconds for any documents, would make chunks smaller and smaller."""

LEAST_SECONDS: Final = 0.1  # of work, which is not cut any further: else much is the chunk itself
CHUNK_BYTES: Final = 4_000_000  # of text; parsed and compared it takes some thirty times as much
LARGEST_CHUNK: Final = 256  # documents; more at once gain little
FIRST_CHUNK: Final = 32  # documents, for all processes together, whose work nobody knows yet
FIRST_BYTES: Final = 250_000  # their text: documents with long lists take much longer than others
GROWTH: Final = 8  # how many times as large as the last chunk the next one may be

ASKED_TOGETHER: Final = 64
"""Documents whose questions to models are asked together: enough to fill batches and connections,
few enough to be worth showing progress after."""

OWN_BYTES: Final = 500  # what a document costs beside its text, in bytes of text


class Chunks:
    """The documents of a run, to be taken in chunks."""

    def __init__(
        self, items: Iterator[Item], *, size: int | None = None, timed: bool = True, jobs: int = 1
    ) -> None:
        """Prepare to cut items into chunks of a size; None goes by their bytes and time.

        `timed` is whether time tells what work there is; it does not where models are waited for.
        `jobs` are the processes that wait for their first chunk.
        """
        self._items = items
        self._fixed = size or (None if timed else ASKED_TOGETHER)
        # So few for several that all are at work at once, and what they take is known soon.
        first = FIRST_CHUNK if jobs == 1 else max(1, FIRST_CHUNK // (GROWTH * jobs))
        self._size = self._fixed or first
        self._bytes = float(FIRST_BYTES)
        self._least = 1
        self.returned: list[Item] = []
        """Those that were taken and are to be taken again, all together."""

    def take(self, most: int = LARGEST_CHUNK) -> list[Item]:
        """Return the next documents; more than `most` only where so few are little work."""
        if self.returned:
            returned, self.returned = self.returned, []
            return returned
        if self._fixed is not None:
            return list(islice(self._items, self._fixed))
        taken: list[Item] = []
        size = 0
        for item in self._items:
            taken.append(item)
            size += _bytes_of(item)
            if len(taken) >= min(self._size, max(self._least, most)) or size >= self._bytes:
                break
        return taken

    def took(self, items: list[Item], seconds: float) -> None:
        """Learn from the time that a chunk took."""
        if self._fixed is not None:
            return
        fitting = CHUNK_SECONDS / max(seconds, 1e-9) * sum(map(_bytes_of, items))
        self._bytes = min(CHUNK_BYTES, fitting)
        self._least = max(1, int(LEAST_SECONDS * len(items) / max(seconds, 1e-9)))
        self._size = min(LARGEST_CHUNK, GROWTH * len(items))


def _bytes_of(item: Item) -> int:
    if isinstance(item, DocumentPair):
        return OWN_BYTES
    return OWN_BYTES + sum(getattr(side, "size", 0) for side in (item.gt, item.pred))
