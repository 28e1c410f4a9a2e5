"""Which documents a run is of, in a fixed size: enough to see that two runs have some in common."""

from collections.abc import Iterable
from dataclasses import field
from hashlib import blake2b
from typing import Final

from stickler_cli.core.values import dataclass

KEPT: Final = 256
"""Hashes that are kept: runs of which a share s is in both have none of them in common with a
chance of (1 - s)**256, which is 8% for 1 in 100 and nothing for the same run twice."""


@dataclass(slots=True)
class KnownIds:
    """The least hashes of the ids of some documents; they merge in any order to the same.

    Source:
        Bar-Yossef et al. (2002), doi:10.1007/3-540-45726-7_1, for the least values as a sample.
    """

    hashes: list[str] = field(default_factory=list)
    """In order, at most `KEPT`."""

    def add(self, ids: Iterable[str]) -> None:
        """Add documents."""
        found = (
            blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
            for name in ids
        )
        self._add(found)

    def merge(self, other: "KnownIds") -> None:
        """Add the documents of others."""
        self._add(other.hashes)

    def _add(self, hashes: Iterable[str]) -> None:
        least = self.hashes[-1] if len(self.hashes) == KEPT else "g"
        some = [it for it in hashes if it < least]
        if some:
            self.hashes = sorted({*self.hashes, *some})[:KEPT]
