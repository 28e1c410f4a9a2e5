"""The ledger of a run: sums over its documents, and optionally the counts of each document.

Figures of single documents are computed from the counts of documents. All other figures are
computed from the sums. They are the same whether single documents are kept or not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from stickler_cli.compare.columns import Mask
from .blocks import Blocks
from .sums import FieldTallies, Tally, sum_counts

if TYPE_CHECKING:
    from .batch import Batch

MAX_HASHES: Final = 256
"""Maximum number of hashes that are kept. Suppose that two runs share a part s of their documents.
Then they have no hash in common with probability (1 - s)**256. This is 8% for s = 0.01, and 0 for
two equal runs."""


@dataclass(slots=True, eq=False)
class Ledger:
    """Sums and counts of the compared documents of a run or a group.

    Ledgers can be added up in any order.
    """

    sums: FieldTallies = field(default_factory=lambda: FieldTallies({(): Tally()}))
    hashes: list[str] = field(default_factory=list)
    """The smallest hashes of document ids, sorted. They are a sample that shows whether two runs
    have documents in common.

    Source:
        Bar-Yossef et al. (2002), doi:10.1007/3-540-45726-7_1, for the smallest hashes as a sample.
    """
    blocks: Blocks | None = None
    """Counts of each single document, or None if single documents are not kept."""

    def add(self, batch: "Batch", selected: Mask | None = None) -> None:
        """Add the sums of a batch of documents, and the hashes of their ids.

        If `selected` is given, only the sums of the selected documents are added, and no hashes.
        `selected` is a mask over the compared documents of the batch.
        """
        if selected is None:
            if batch.counts is not None:
                self.sums.merge(sum_counts(batch.counts))
            self.add_ids(result.id for result in batch.results)
            if self.blocks is not None:
                self.blocks.add(batch)
        elif batch.counts is not None and selected.any():
            self.sums.merge(sum_counts(batch.counts.select_documents(selected)))

    def add_ids(self, ids: Iterable[str]) -> None:
        """Add documents, given by their ids. Only hashes of the ids are kept."""
        encoded_ids = (id_.encode("utf-8", "surrogatepass") for id_ in ids)
        self._add_hashes(blake2b(text, digest_size=8).hexdigest() for text in encoded_ids)

    def _add_hashes(self, hashes: Iterable[str]) -> None:
        is_full = len(self.hashes) == MAX_HASHES
        limit = self.hashes[-1] if is_full else "g"  # greater than every hexadecimal digit
        if smaller := [digest for digest in hashes if digest < limit]:
            self.hashes = sorted({*self.hashes, *smaller})[:MAX_HASHES]

    def merge(self, other: "Ledger") -> None:
        """Add the documents of another ledger. The order of merging makes no difference."""
        self.sums.merge(other.sums)
        self._add_hashes(other.hashes)
        if self.blocks is not None and other.blocks is not None:
            self.blocks.merge(other.blocks)
