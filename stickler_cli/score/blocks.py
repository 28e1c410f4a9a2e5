"""What was counted of each field in each document of a run, and its score, in packed blocks.

A row is a field in a document. A block is at most 256 documents, and never changes: in it a row is
one byte, which of the field's distinct cells it has. A cell is counts by mode and outcome, how
many values were not evaluated, how many items are right as a whole and of how many, and a score.
The root is a field, whose score is that of the document. Whatever is said of single documents is
read off here; a run that keeps no rows has the sums alone.
"""

import json
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast
from weakref import finalize

import numpy as np
import orjson
from numpy.typing import NDArray

from stickler_cli.compare.columns import Floats
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_names, field_path
from stickler_cli.core.sorted_lines import SortedLines
from .document_result import Status
from .field_counts import CELL, CONFIDENCES, Leaves, joined, leaves_read
from .sums import LEAVES, SCORE_UNIT, Counts, cell_of, cell_view, units_of

if TYPE_CHECKING:
    from .batch import Batch

MOST: Final = 256  # documents of a block: positions and codes are bytes
FEW: Final = 64  # blocks of fewer documents wait to be joined
MOST_BYTES: Final = 2 << 20  # of blocks in memory before further ones are put away
SCORE: Final = "score"
_NO_GROUPS: Final[Mapping[str, str]] = {}  # one for all documents without
_OF_LEAF: Final = 25  # bytes that a value with a confidence takes
_OF_DOCUMENT: Final = 80  # bytes that an id takes beside its characters, and status and groups

_KEYS: Final = np.array(
    [pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(1, CELL + 1)], np.uint64
)
"""What makes one number of a row of them; odd, so that none of them is lost."""

AnyArray: TypeAlias = NDArray[Any]


class FieldRows(NamedTuple):
    """Fields in documents, each an entry of all arrays, by field, then by document."""

    field: AnyArray
    """The position of its path among those of the ledger."""
    document: AnyArray
    """The position of its document in the block."""
    cells: AnyArray
    """(rows, CELL)."""
    scores: Floats
    """NaN where there is none."""


class DocumentRow(NamedTuple):
    """The row of a document: its id, status and score."""

    id: str
    status: Status
    score: float | None
    """None of one that was not compared."""
    values: Counts
    """Its values by outcome."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockDocuments:
    """The documents of a block, compared or not."""

    ids: tuple[str, ...]
    statuses: tuple[Status, ...]
    groups: tuple[Mapping[str, str], ...]
    """The groups that each is in, by key."""
    leaves: Leaves | None = None
    """The leaves of their predictions that have a confidence; None without any."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBlock:
    """Some documents; rows are by field, then by document."""

    documents: BlockDocuments
    fields: AnyArray
    """Positions among the paths of the ledger, (fields,)."""
    lengths: AnyArray
    """How many rows each field has, (fields,); mostly one for each document."""
    places: AnyArray
    """Of fields that not every document has, the position of the document of each row."""
    codes: AnyArray
    """Which of the cells of its field each row has, (rows,)."""
    kinds: AnyArray
    """How many cells each field has, (fields,)."""
    pairs: AnyArray
    """Of each of these cells, positions among `cells` and `scores`, (kinds, 2)."""
    cells: AnyArray
    """The distinct ones, (n, CELL), in as few bytes as hold them."""
    scores: Floats
    """The distinct ones, (n,); NaN for none."""

    @property
    def nbytes(self) -> int:
        """How much memory it takes, about."""
        arrays = (self.fields, self.lengths, self.places, self.codes, self.kinds, self.pairs)
        whole = sum(array.nbytes for array in (*arrays, self.cells, self.scores))
        names, leaves = self.documents.ids, self.documents.leaves
        whole += sum(map(len, names)) + _OF_DOCUMENT * len(names)
        return whole + _OF_LEAF * len(leaves or ())

    def kind_of_rows(self) -> AnyArray:
        """Return which of all cells of its fields each row has."""
        found: AnyArray = self.codes + np.repeat(_starts(self.kinds), self.lengths)
        return found

    def field_of_rows(self, places: AnyArray) -> AnyArray:
        """Return the place of the field of each row, by the places of the paths of the ledger."""
        return np.repeat(places[self.fields], self.lengths)

    def document_of_rows(self) -> AnyArray:
        """Return the position of the document of each row."""
        every = self.lengths == len(self.documents)
        whole = np.repeat(every, self.lengths)
        found = np.empty(len(whole), np.intp)
        found[whole] = np.tile(np.arange(len(self.documents)), np.count_nonzero(every))
        found[~whole] = self.places
        return found

    def rows(self, fields: Sequence[int] | None = None) -> FieldRows:
        """Return the rows of all fields, or of some."""
        of_field, document = np.repeat(self.fields, self.lengths), self.document_of_rows()
        kinds = self.kind_of_rows()
        if fields is not None:
            some = np.isin(of_field, fields)
            of_field, document, kinds = of_field[some], document[some], kinds[some]
        cells, scores = self.pairs[kinds].T
        return FieldRows(of_field, document, self.cells[cells], self.scores[scores])

    def records(self, paths: Sequence[FieldNames]) -> list[dict[str, Any]]:
        """Return what files have of each document; `paths` are those of the ledger."""
        told = [cell_view(cell) for cell in self.cells.tolist()]
        scores: list[dict[str, float]] = [
            {} if np.isnan(score) else {SCORE: units_of(score) / SCORE_UNIT}
            for score in self.scores.tolist()
        ]
        entries = [{**scores[score], **told[cell]} for cell, score in self.pairs.tolist()]
        documents, kinds = self.document_of_rows().tolist(), self.kind_of_rows().tolist()
        fields: list[dict[str, Any]] = [{} for _ in self.documents.ids]
        of_root: dict[int, float] = {}
        spans = zip(
            self.fields.tolist(), _starts(self.lengths).tolist(), self.lengths.tolist(), strict=True
        )
        for at, start, many in sorted(spans, key=lambda span: paths[span[0]]):
            name = field_path(paths[at])
            for row in range(start, start + many):
                if name:
                    entry = entries[kinds[row]]
                else:  # the score of the document, with all its digits
                    cell, score = self.pairs[kinds[row]].tolist()
                    of_root[documents[row]], entry = float(self.scores[score]), told[cell]
                if entry:
                    fields[documents[row]][name] = entry
        return [*self._accounts(fields, of_root)]

    def _accounts(
        self, fields: Sequence[dict[str, Any]], scores: Mapping[int, float]
    ) -> Iterator[dict[str, Any]]:
        of = self.documents
        known = of.leaves.records(len(of)) if of.leaves else [None] * len(of)
        for at, (name, status, groups) in enumerate(
            zip(of.ids, of.statuses, of.groups, strict=True)
        ):
            account: dict[str, Any] = {"id": name, "status": status.value, SCORE: scores.get(at)}
            if groups:
                account["by"] = dict(groups)
            account["fields"] = fields[at]
            if known[at]:
                account[CONFIDENCES] = known[at]
            yield account


@dataclass(eq=False)
class Blocks:
    """Documents of a run; adding them in any order gives the same figures."""

    at: dict[FieldNames, int] = field(default_factory=lambda: {(): 0})
    """The positions of the paths of fields, without list indexes."""
    number: int = 0
    """How many documents there are."""
    kept: list[DocumentBlock | int] = field(default_factory=list)
    """Blocks, or where in the file they begin."""
    few: list[DocumentBlock] = field(default_factory=list)
    """Small ones, which wait to be joined."""
    nbytes: int = 0
    file: IO[bytes] | None = None

    def add(self, batch: "Batch") -> None:
        """Add the documents of a batch."""
        for block in self._blocks(batch):
            self.put(block)

    def _blocks(self, batch: "Batch") -> Iterator[DocumentBlock]:
        rows, of_rows = _rows_of(batch, self.at), np.arange(len(batch.results))
        leaves = batch.leaves
        for start in range(0, len(of_rows), MOST):
            results = batch.results[start : start + MOST]
            of = BlockDocuments(
                tuple(result.id for result in results),
                tuple(result.status for result in results),
                tuple(result.groups or _NO_GROUPS for result in results),
                leaves and leaves.between(start, start + MOST),
            )
            if start or len(of_rows) > MOST:
                some = (start <= rows.document) & (rows.document < start + MOST)
                yield block_of(of, FieldRows(*(it[some] for it in rows)), start)
            else:
                yield block_of(of, rows)

    def put(self, block: DocumentBlock) -> None:
        """Add a block; beyond `MOST_BYTES` it waits in a file."""
        self.number += len(block.documents)
        if len(block.documents) < FEW:
            self.few.append(block)
            if sum(len(each.documents) for each in self.few) <= MOST - FEW:
                return
            block, self.few = _joined(self.few), []
        self.nbytes += block.nbytes
        if self.nbytes <= MOST_BYTES:
            self.kept.append(block)
            return
        if self.file is None:
            self.file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with this ledger
            finalize(self, self.file.close)
        self.kept.append(self.file.seek(0, 2))
        pickle.dump(block, self.file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[DocumentBlock]:
        yield from self._kept()
        yield from self.few

    def _kept(self) -> Iterator[DocumentBlock]:
        for each in self.kept:
            if isinstance(each, DocumentBlock):
                yield each
            else:
                file = cast("IO[bytes]", self.file)
                file.seek(each)
                yield pickle.load(file)  # noqa: S301 - nobody else has the file

    def __len__(self) -> int:
        return self.number

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "kept": [*self._kept()], "file": None}

    def merge(self, other: "Blocks") -> None:
        """Add the documents of another one: the fields of its blocks get new positions."""
        to = np.array([self.at.setdefault(path, len(self.at)) for path in other.at], np.uint32)
        for block in other:
            self.put(replace(block, fields=to[block.fields]))

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents."""
        for block in self:
            yield from block.documents.ids

    def documents(self) -> Iterator[DocumentRow]:
        """Yield the row of each document, in any order."""
        for block in self:
            of, root = block.documents, block.rows([0])
            values = dict(zip(root.document.tolist(), root.cells[:, LEAVES].tolist(), strict=True))
            scores = dict(zip(root.document.tolist(), root.scores.tolist(), strict=True))
            for at, (name, status) in enumerate(zip(of.ids, of.statuses, strict=True)):
                counts = Counts(*values[at]) if at in values else Counts()
                yield DocumentRow(name, status, scores.get(at), counts)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield what files have of each document."""
        paths = [*self.at]
        for block in self:
            yield from block.records(paths)

    def lines(self) -> SortedLines:
        """Return those as lines of JSON without line breaks, in the order of ids."""
        return SortedLines((record["id"], json_line(record)[:-1]) for record in self.records())

    def view(self) -> list[dict[str, Any]]:
        """Return what files have of each document, in the order of ids."""
        return [decoded(line) for _, line in self.lines()]

    def read(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add documents as files have them."""
        left = iter(records)
        while some := [*islice(left, MOST)]:
            self.put(_block_read(some, self.at))


def _rows_of(batch: "Batch", at: dict[FieldNames, int]) -> FieldRows:
    """Return the rows of the documents of a batch that were compared."""
    counts = batch.counts
    if counts is None:
        none = np.zeros(0, np.intp)
        return FieldRows(none, none, np.zeros((0, CELL), np.int64), np.zeros(0))
    fields = [at.setdefault(path, len(at)) for path in counts.paths]
    lengths = np.diff([*counts.starts.tolist(), len(counts.documents)])
    return FieldRows(
        np.repeat(np.array(fields, np.uint32), lengths),
        batch.compared[counts.documents],
        counts.cells,
        counts.known_scores,
    )


def block_of(documents: BlockDocuments, rows: FieldRows, start: int = 0) -> DocumentBlock:
    """Return a block of documents and their rows, whose documents count from `start`."""
    cells, of_cell = coded(rows.cells)
    bits, of_score = np.unique(rows.scores.view(np.int64), return_inverse=True)
    scores = bits.view(np.float64)
    pairs = of_cell * max(len(scores), 1) + of_score
    changes = np.flatnonzero(np.diff(rows.field, prepend=-1)) if len(rows.field) else of_cell
    lengths = np.diff([*changes.tolist(), len(rows.field)])
    each = np.repeat(np.arange(len(changes)), lengths)
    size = max(len(cells) * len(scores), 1)
    distinct, inverse = np.unique(each * size + pairs, return_inverse=True)
    of_field, pair = np.divmod(distinct, size)
    kinds = np.bincount(of_field, minlength=len(changes))
    part = np.repeat(lengths != len(documents), lengths)
    return DocumentBlock(
        documents,
        rows.field[changes].astype(np.uint32),
        lengths.astype(np.uint16),
        (rows.document[part] - start).astype(np.uint8),
        (inverse - np.repeat(_starts(kinds), lengths)).astype(np.uint8),
        kinds.astype(np.uint16),
        _small(np.stack(np.divmod(pair, max(len(scores), 1)), axis=1)),
        _small(cells),
        scores,
    )


def _joined(blocks: Sequence[DocumentBlock]) -> DocumentBlock:
    """Return one block of all documents of some, at most `MOST`."""
    sizes = [len(block.documents) for block in blocks]
    firsts = np.cumsum(sizes) - sizes
    parts = [block.rows() for block in blocks]
    placed = (it._replace(document=it.document + at) for it, at in zip(parts, firsts, strict=True))
    rows = FieldRows(*map(np.concatenate, zip(*placed, strict=True)))
    order = np.argsort(rows.field, kind="stable")
    of = [block.documents for block in blocks]
    documents = BlockDocuments(
        tuple(name for each in of for name in each.ids),
        tuple(status for each in of for status in each.statuses),
        tuple(groups for each in of for groups in each.groups),
        joined([(each.leaves, int(at)) for each, at in zip(of, firsts, strict=True)]),
    )
    return block_of(documents, FieldRows(*(it[order] for it in rows)))


def _block_read(records: Sequence[Mapping[str, Any]], at: dict[FieldNames, int]) -> DocumentBlock:
    known: dict[str, list[int]] = {}
    rows: list[tuple[int, int, list[int], float]] = []
    for document, record in enumerate(records):
        fields: Mapping[str, Mapping[str, Any]] = record["fields"]
        if record[SCORE] is not None:
            fields = {"": {}, **fields}
        for text, entry in fields.items():
            cell = known.setdefault(repr(entry), [])
            if not cell:
                cell += cell_of(entry)
            score = entry.get(SCORE, np.nan) if text else record[SCORE]
            path = field_names(text)
            rows.append((at.setdefault(path, len(at)), document, cell, score))
    rows.sort(key=lambda row: row[:2])
    columns = [*zip(*rows, strict=True)] or [(), (), (), ()]
    documents = BlockDocuments(
        tuple(record["id"] for record in records),
        tuple(Status(record["status"]) for record in records),
        tuple(record.get("by", {}) for record in records),
        leaves_read(record.get(CONFIDENCES) for record in records),
    )
    cells = np.array(columns[2], np.int64).reshape(-1, CELL)
    found = FieldRows(
        np.array(columns[0], np.uint32),
        np.array(columns[1], np.intp),
        cells,
        np.array(columns[3], np.float64),
    )
    return block_of(documents, found)


def decoded(line: bytes) -> dict[str, Any]:
    """Return what files have of a document as JSON values."""
    try:
        record: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:  # an id or a name with half a surrogate pair in it
        record = json.loads(line)
    return record


def coded(rows: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct rows of whole numbers, and which of them each is."""
    keys = rows.astype(np.uint64) @ _KEYS[: rows.shape[1]]  # modulo 2**64
    _, firsts, codes = np.unique(keys, return_index=True, return_inverse=True)
    found = rows[firsts]
    if (found[codes] != rows).any():  # different rows of one key
        found, codes = np.unique(rows, axis=0, return_inverse=True)
    return found, codes.reshape(-1)


def _small(values: AnyArray) -> AnyArray:
    """Return whole numbers, at least 0, in as few bytes as hold them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _starts(lengths: AnyArray) -> AnyArray:
    """Return where spans begin that follow each other."""
    found: AnyArray = np.cumsum(lengths, dtype=np.intp) - lengths
    return found
