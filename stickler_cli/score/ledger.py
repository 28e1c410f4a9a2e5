"""The ledger of a run: sums over its documents, and what was counted in each where that is kept.

All figures but those of single documents are made of the sums, so that they are the same whatever
is kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from stickler_cli.compare.columns import Mask
from .blocks import Blocks
from .sums import Sums, Tally, sums_of

if TYPE_CHECKING:
    from .batch import Batch

MOST_HASHES: Final = 256
"""Hashes that are kept: runs of which a share s is in both have none of them in common with a
chance of (1 - s)**256, which is 8% for 1 in 100 and nothing for the same run twice."""


@dataclass(slots=True, eq=False)
class Ledger:
    """The documents of a run, or of a group, that were compared; they add in any order."""

    sums: Sums = field(default_factory=lambda: Sums({(): Tally()}))
    hashes: list[str] = field(default_factory=list)
    """The least hashes of ids, in order: enough to see that two runs have documents in common.

    Source:
        Bar-Yossef et al. (2002), doi:10.1007/3-540-45726-7_1, for the least values as a sample.
    """
    blocks: Blocks | None = None
    """Every document by itself; None where nobody asked for that, or some are not in it."""

    def add(self, batch: "Batch", some: Mask | None = None) -> None:
        """Add the documents of a batch, or what was counted of some that were compared."""
        if batch.counts is not None and (some is None or some.any()):
            self.sums.merge(sums_of(batch.counts if some is None else batch.counts.among(some)))
        if some is None:
            self.know(result.id for result in batch.results)
            if self.blocks is not None:
                self.blocks.add(batch)

    def know(self, ids: Iterable[str]) -> None:
        """Keep the hashes of documents."""
        names = (name.encode("utf-8", "surrogatepass") for name in ids)
        self._keep(blake2b(name, digest_size=8).hexdigest() for name in names)

    def _keep(self, hashes: Iterable[str]) -> None:
        least = self.hashes[-1] if len(self.hashes) == MOST_HASHES else "g"
        if some := [it for it in hashes if it < least]:
            self.hashes = sorted({*self.hashes, *some})[:MOST_HASHES]

    def merge(self, other: "Ledger") -> None:
        """Add the documents of another one; the order of merging makes no difference."""
        self.sums.merge(other.sums)
        self._keep(other.hashes)
        if self.blocks is not None and other.blocks is not None:
            self.blocks.merge(other.blocks)
