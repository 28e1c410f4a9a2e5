"""The values of predictions that have a confidence, document by document: a small table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from stickler_cli.compare.account import Floats
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.core.locations import field_names, field_path
from stickler_cli.core.values import dataclass

CONFIDENCES: Final = "confidences"  # the key of them in what files have of a document


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Values with a confidence, each an entry of all arrays."""

    paths: Sequence[tuple[str, ...]]
    """Of fields."""
    document: Indexes
    """The position of its document."""
    field: Indexes
    """The position of the path of its field."""
    right: Mask
    confidence: Floats

    def __len__(self) -> int:
        return len(self.field)

    def among(self, some: Mask | Indexes) -> "Leaves":
        """Return some of the values."""
        document, field = self.document[some], self.field[some]
        return Leaves(self.paths, document, field, self.right[some], self.confidence[some])

    def between(self, start: int, end: int) -> "Leaves | None":
        """Return those of some documents, whose positions then count from the first of them."""
        some = self.among((start <= self.document) & (self.document < end))
        return some.placed(some.document - start) if len(some) else None

    def placed(self, document: Indexes) -> "Leaves":
        """Return them with other positions of their documents."""
        return Leaves(self.paths, document, self.field, self.right, self.confidence)

    def in_order(self) -> "Leaves":
        """Return them by document, right ones first, then by field."""
        ranks = {path: rank for rank, path in enumerate(sorted(self.paths))}
        rank = np.array([ranks[path] for path in self.paths], np.intp)[self.field]
        return self.among(np.lexsort((rank, ~self.right, self.document)))

    def records(self, documents: int) -> list[dict[str, Any] | None]:
        """Return those of each document: `{"right": {path: [c]}, "wrong": {path: [c]}}`.

        None of a document without any.
        """
        found: list[dict[str, Any] | None] = [None] * documents
        names = [field_path(path) for path in self.paths]
        known = self.in_order()
        columns = (known.document, known.field, known.right, known.confidence)
        for at, name, right, confidence in zip(*(it.tolist() for it in columns), strict=True):
            record = found[at] = found[at] or {}
            by_field = record.setdefault("right" if right else "wrong", {})
            by_field.setdefault(names[name], []).append(confidence)
        return found


def leaves_read(records: Iterable[Mapping[str, Any] | None]) -> Leaves | None:
    """Return those that stand in files, of documents one after the other."""
    paths: dict[tuple[str, ...], int] = {}
    rows: list[tuple[int, int, bool, float]] = []
    for at_document, record in enumerate(records):
        for right, side in ((True, "right"), (False, "wrong")):
            for text, confidences in (record or {}).get(side, {}).items():
                path = field_names(text)
                at = paths.setdefault(path, len(paths))
                rows += ((at_document, at, right, it) for it in confidences)
    if not rows:
        return None
    columns = zip(*rows, strict=True)
    kinds = (np.intp, np.intp, np.bool_, np.float64)
    known: list[Any] = [np.array(it, kind) for it, kind in zip(columns, kinds, strict=True)]
    return Leaves([*paths], *known)


def joined(parts: Iterable[tuple[Leaves | None, int]]) -> Leaves | None:
    """Return several as one, each with the number of documents that are before its own."""
    known = [(leaves, before) for leaves, before in parts if leaves is not None and len(leaves)]
    if not known:
        return None
    paths: dict[tuple[str, ...], int] = {}
    fields = []
    for leaves, _ in known:
        to = [paths.setdefault(path, len(paths)) for path in leaves.paths]
        fields.append(np.array(to, np.intp)[leaves.field])
    return Leaves(
        [*paths],
        np.concatenate([leaves.document + before for leaves, before in known]),
        np.concatenate(fields),
        np.concatenate([leaves.right for leaves, _ in known]),
        np.concatenate([leaves.confidence for leaves, _ in known]),
    )
