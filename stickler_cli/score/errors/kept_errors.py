"""The errors of a run that a page lists: all, or a part that leaves no cause out.

That part is the errors of the documents with the lowest scores, and of every cause a sample. It is
the same however a run is split: both are what is least in an order that nothing else decides.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final, TypeAlias
from zlib import crc32

from stickler_cli.core.values import dataclass
from .causes import MOST_KINDS, keys_in
from .error_rows import Error, packed, unpacked

SAMPLE: Final = 5  # errors that are kept of each cause, wherever they are

SAMPLE_OF_MANY: Final = 20
"""Errors of each field and class, whose causes may be too many to be told apart."""

SAMPLE_BYTES: Final = 16_000_000  # what samples may take on a page, before compression

Rank: TypeAlias = tuple[float, str]  # score and id of a document
Sampled: TypeAlias = tuple[int, str, int, bytes]  # rank in the sample, document, position, line


@dataclass(slots=True)
class KeptErrors:
    """Errors as lines; parts are merged in the order of the documents."""

    most: int = 100_000
    """Lines of whole documents: more than anybody reads, and a page searches them at once."""
    most_bytes: int = 32_000_000
    """What they may take, before compression to about a fifth."""
    total: int = 0
    """How many errors there are, kept or not."""
    documents: list[tuple[float, str, list[bytes]]] = field(default_factory=list)
    """Score, id and errors of documents, in their order."""
    bound: Rank | None = None
    """The first document that is not kept, or not all of it; nothing after it is."""
    samples: dict[tuple[str, str], list[Sampled]] = field(default_factory=dict)
    """By field and class, and the key of a cause; by an empty one those of any cause."""
    last: dict[str, str] = field(default_factory=dict)
    """By field and class of too many causes, the last one that has samples; none after it has."""
    _lines: int = 0
    _bytes: int = 0

    @property
    def complete(self) -> bool:
        """Whether these are all errors."""
        return self.bound is None

    def add(self, rank: Rank, errors: Sequence[Error]) -> None:
        """Add the errors of the document that comes next."""
        self.total += len(errors)
        written: dict[int, bytes] = {}

        def line_at(position: int) -> bytes:
            if position not in written:  # which takes longer than to see that it is not kept
                written[position] = packed(errors[position].shown)
            return written[position]

        for position, error in enumerate(errors):
            if error.cause:
                self._sample(error.cause, rank[1], position, line_at)
        if self.bound is None or rank < self.bound:
            listed = errors[: self.most + 1]  # one more says that there are more
            self._keep([(*rank, [line_at(at) for at in range(len(listed))])])

    def merge(self, other: "KeptErrors") -> None:
        """Add the errors of the documents that follow these."""
        self.total += other.total
        for key, sample in other.samples.items():
            most = SAMPLE if key[1] else SAMPLE_OF_MANY
            self.samples[key] = sorted([*self.samples.get(key, ()), *sample])[:most]
        self.last |= other.last
        self.settle()
        if other.bound is not None and (self.bound is None or other.bound < self.bound):
            self.bound = other.bound
            self._trim()
        self._keep(other.documents)

    def settle(self) -> None:
        """Leave out causes where there are too many: the same ones in whatever order they came."""
        by_group: dict[str, list[str]] = {}
        for group, key in self.samples:
            by_group.setdefault(group, []).append(key)
        for group, keys in by_group.items():
            if len(keys) > MOST_KINDS + 1 or group in self.last:
                self.last[group] = sorted(keys)[: MOST_KINDS + 1][-1]
                for key in keys:
                    if key > self.last[group]:
                        del self.samples[group, key]

    def _sample(
        self, cause: str, document: str, position: int, line_at: Callable[[int], bytes]
    ) -> None:
        name, own = keys_in(cause)
        place = crc32(f"{position} {document}".encode("utf-8", "surrogatepass")), document, position
        for key, most in ((own, SAMPLE), ("", SAMPLE_OF_MANY)):
            if key > self.last.get(name, "~"):
                continue
            sample = self.samples.setdefault((name, key), [])
            if len(sample) < most or place < sample[-1][:3]:
                sample.append((*place, line_at(position)))
                sample.sort()
                del sample[most:]

    def _keep(self, documents: Iterable[tuple[float, str, list[bytes]]]) -> None:
        for entry in documents:
            if self.bound is None or entry[:2] <= self.bound:
                self.documents.append(entry)
                self._lines += len(entry[2])
                self._bytes += sum(map(len, entry[2]))
        if self._lines > self.most or self._bytes > self.most_bytes:
            self._trim()

    def _trim(self) -> None:
        """Leave out the documents that have no room, which are the best ones, to the line."""
        self._lines = self._bytes = 0
        kept: dict[str, list[bytes]] = {}
        for score, name, errors in sorted(self.documents):
            if self.bound is not None and (score, name) > self.bound:
                break
            kept[name] = []
            for line in errors:
                if self._lines == self.most or self._bytes + len(line) > self.most_bytes:
                    self.bound = score, name
                    break
                kept[name].append(line)
                self._lines, self._bytes = self._lines + 1, self._bytes + len(line)
        self.documents = [
            (score, name, kept[name]) for score, name, _ in self.documents if kept.get(name)
        ]

    def rows(self) -> Iterator[Error]:
        """Yield shown errors: documents in their order, then samples of others."""
        return map(unpacked, self.lines())

    def lines(self) -> Iterator[bytes]:
        """Yield the same as lines."""
        whole = {name: len(errors) for _, name, errors in self.documents}
        for _, _, errors in self.documents:
            yield from errors
        if self.complete:
            return
        ranked = sorted(
            (at, key, entry)
            for key, sample in self.samples.items()
            for at, entry in enumerate(sample)
        )
        size = 0
        told: set[tuple[str, int]] = set()
        for *_, (_, document, position, line) in ranked:
            if position >= whole.get(document, 0) and (document, position) not in told:
                told.add((document, position))
                size += len(line)
                if size > SAMPLE_BYTES:
                    return
                yield line
