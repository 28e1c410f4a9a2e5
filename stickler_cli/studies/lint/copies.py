"""Documents that are copies of others, or nearly, without comparing all with all.

What a document says is the set of its values, each with its field. Values that many documents have
say nothing of copies; those that two to `MOST_SHARING` have put these together as candidates.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import is_absent, json_line
from stickler_cli.runs.tuned import canonical
from .document_rules import Value
from .findings import Document, Findings, Spot

MOST_DOCUMENTS: Final = 50_000
MOST_VALUES: Final = 5_000_000
"""Of documents together, that are held against one another: 60 MB; later ones are not."""

MOST_SHARING: Final = 20
"""Documents that share a value, for it to make candidates: more are a habit of the data."""

FEWEST_SHARED: Final = 5
"""Values that no more than two to `MOST_SHARING` documents have, which copies have in common."""

FEWEST_VALUES: Final = 10
"""Of a document that can be nearly a copy; below, one value makes all the difference."""

NEAR: Final = 0.9
"""Weighted overlap from which two documents are near-duplicates; rare values weigh more."""

FEWEST_OF_A_COPY: Final = 3
"""Numbers and texts that a document has at least which can be an exact copy: labels repeat."""


class Copies:
    """Documents by their values, as far as there is room."""

    def __init__(self) -> None:
        self._spots: list[Spot] = []
        self._said: list[NDArray[np.uint64]] = []
        """Of each document, hashes of its distinct values, sorted."""
        self._values = 0
        self._first: dict[bytes, int] = {}
        self._left_out = 0

    def add(self, document: Document, values: Sequence[Value], findings: Findings) -> None:
        """Add a document; one that says the same as an earlier one is told at once."""
        if len(self._spots) >= MOST_DOCUMENTS or self._values >= MOST_VALUES:
            self._left_out += 1
            return
        spot, position = document.spot(), len(self._spots)
        telling = [
            value
            for value in values
            if not is_absent(value.value) and not isinstance(value.value, bool)
        ]
        digest = blake2b(canonical(document.value), digest_size=16).digest()
        before = self._first.setdefault(digest, position)
        if before < position:
            if len(telling) >= FEWEST_OF_A_COPY:
                found = f"it says the same as {self._spots[before].name}"
                findings.add("duplicate-document", "", spot, found)
            return
        hashes = {_hash(value) for value in telling}
        self._said.append(np.sort(np.array([*hashes], np.uint64)))
        self._values += len(hashes)
        self._spots.append(spot)

    def conclude(self, findings: Findings) -> tuple[str, ...]:
        """Find documents that are nearly copies of earlier ones; return notes."""
        sizes = [*map(len, self._said)]
        values = np.concatenate([*self._said, np.empty(0, np.uint64)])
        owners = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(values, kind="stable")
        values, owners = values[order], owners[order]
        told: set[int] = set()
        for one, other in _candidates(values, owners, len(sizes)):
            if other not in told and self._are_near(one, other, values):
                told.add(other)
                found = f"it says nearly the same as {self._spots[one].name}"
                findings.add("near-duplicate", "", self._spots[other], found)
        if not self._left_out:
            return ()
        known = len(self._spots)
        return (f"copies were looked for among the first {known} different documents only",)

    def _are_near(self, one: int, other: int, values: NDArray[np.uint64]) -> bool:
        """Return whether two documents are near-duplicates, by their rare values."""
        mine, its = self._said[one], self._said[other]
        if min(len(mine), len(its)) < FEWEST_VALUES:
            return False

        def weights(said: NDArray[np.uint64], both: NDArray[np.bool_]) -> NDArray[np.float64]:
            having = np.searchsorted(values, said, "right") - np.searchsorted(values, said, "left")
            elsewhere = having - 1 - both
            return np.log(np.maximum(1.0, (len(self._said) - 1) / (elsewhere + 1)))

        in_both = np.isin(mine, its), np.isin(its, mine)
        own, others = weights(mine, in_both[0]), weights(its, in_both[1])
        shared = own[in_both[0]].sum()
        return bool(2 * shared >= NEAR * (own.sum() + others.sum()) > 0)


def _candidates(
    values: NDArray[np.uint64], owners: NDArray[np.intp], documents: int
) -> list[tuple[int, int]]:
    """Return pairs of documents that share enough rare values, the earlier one first."""
    having = np.searchsorted(values, values, "right") - np.searchsorted(values, values, "left")
    rare = (having > 1) & (having <= MOST_SHARING)
    values, owners = values[rare], owners[rare]
    pairs = []
    for apart in range(1, MOST_SHARING):
        same = values[apart:] == values[:-apart]
        pairs.append(owners[:-apart][same] * documents + owners[apart:][same])
    codes, times = np.unique(np.concatenate(pairs), return_counts=True)
    return [divmod(code, documents) for code in codes[times >= FEWEST_SHARED].tolist()]


def _hash(value: Value) -> int:
    text = value.value
    said = " ".join(text.casefold().split()) if isinstance(text, str) else text
    return int.from_bytes(blake2b(json_line([value.field, said]), digest_size=8).digest(), "big")
