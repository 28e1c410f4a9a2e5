"""Counts and scores of each field in each single document, stored in packed blocks.

All figures of single documents are read from here. A row belongs to one field of one document. It
has a cell of counts (see `field_counts.py`) and a score. The root counts as a field, and its score
is the score of the document.

A block holds at most 256 documents and never changes. In one field, many rows are equal. Therefore
each field has a list of its distinct (cell, score) pairs, and each row is stored as a *code* of one
byte: a position in this list.
"""

import json
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
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
from .field_counts import (
    CELL_SIZE,
    CONFIDENCES,
    ConfidentValues,
    join_confident_values,
    read_confident_values,
)
from .sums import LEAF_COUNTS, SCORE_SCALE, Counts, cell_record, read_cell, scale_score

if TYPE_CHECKING:
    from .batch import Batch

MAX_BLOCK_DOCUMENTS: Final = 256  # document positions and codes fit in one byte
MIN_BLOCK_DOCUMENTS: Final = 64  # smaller blocks are joined before they are stored
MAX_MEMORY_BYTES: Final = 2 << 20  # later blocks go to a temporary file
SCORE_KEY: Final = "score"
_NO_GROUPS: Final[Mapping[str, str]] = {}  # shared by all documents without groups
_VALUE_BYTES: Final = 25  # estimated memory of a value with a confidence
_DOCUMENT_BYTES: Final = 80  # estimated memory of a document, without its id's characters

_KEYS: Final = np.array(
    [pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(1, CELL_SIZE + 1)], np.uint64
)
"""Multipliers for hashing a row of numbers to one number. They are odd, so multiplication loses no
bit."""

AnyArray: TypeAlias = NDArray[Any]


class FieldRows(NamedTuple):
    """Unpacked rows: one for each field of each document, sorted by field, then by document."""

    field: AnyArray
    """The field number of each row, as in `Blocks.field_numbers`."""
    document: AnyArray
    """The document of each row, as a position in the block."""
    cells: AnyArray
    """The counts of each row, (n_rows, CELL_SIZE)."""
    scores: Floats
    """The score of each row; NaN if the row has no score."""


class DocumentRow(NamedTuple):
    """The id, status, score and counts of values of one document."""

    id: str
    status: Status
    score: float | None
    """The overall score; None if the document was not compared."""
    values: Counts
    """How many values of the document have each outcome."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockDocuments:
    """The documents of a block, whether compared or not.

    Each sequence has one entry for each document.
    """

    ids: tuple[str, ...]
    statuses: tuple[Status, ...]
    groups: tuple[Mapping[str, str], ...]
    """The groups of each document. Documents may be grouped by several keys. Each dict maps such a
    key to the name of the document's group."""
    confident_values: ConfidentValues | None = None
    """The predicted values that have a confidence; None if no value has one."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBlock:
    """Packed rows of up to 256 documents, sorted by field and then by document."""

    documents: BlockDocuments
    fields: AnyArray
    """The number of each field that has a row; shape (n_fields,)."""
    n_rows: AnyArray
    """The number of rows of each field, usually the number of documents; shape (n_fields,)."""
    partial_documents: AnyArray
    """For each row of a field that some documents lack: the position of the row's document. Rows of
    other fields are not included, because such a field has one row for each document, in the order
    of the documents."""
    codes: AnyArray
    """The code of each row, (n_rows,): a position in the list of (cell, score) pairs of the row's
    field."""
    n_codes: AnyArray
    """The number of distinct (cell, score) pairs of each field; shape (n_fields,)."""
    cell_and_score: AnyArray
    """The (cell, score) pairs of all fields; shape (n_pairs, 2). The pairs of the first field come
    first. A pair holds an index into `cells` and an index into `scores`."""
    cells: AnyArray
    """The distinct cells, (n_cells, CELL_SIZE), in the smallest integer type that can hold them."""
    scores: Floats
    """The distinct scores, (n_scores,); NaN stands for no score."""

    @property
    def nbytes(self) -> int:
        """Estimated memory of the block, in bytes."""
        arrays = (
            self.fields,
            self.n_rows,
            self.partial_documents,
            self.codes,
            self.n_codes,
            self.cell_and_score,
            self.cells,
            self.scores,
        )
        ids, confident_values = self.documents.ids, self.documents.confident_values
        return (
            sum(array.nbytes for array in arrays)
            + sum(map(len, ids))
            + _DOCUMENT_BYTES * len(ids)
            + _VALUE_BYTES * len(confident_values or ())
        )

    def code_of_rows(self) -> AnyArray:
        """Return the index of each row's pair in `cell_and_score`; shape (n_rows,)."""
        positions: AnyArray = self.codes + np.repeat(_span_starts(self.n_codes), self.n_rows)
        return positions

    def field_of_rows(self, new_numbers: AnyArray) -> AnyArray:
        """Return the field number of each row after renumbering; shape (n_rows,).

        `new_numbers[i]` is the new number of field `i`.
        """
        return np.repeat(new_numbers[self.fields], self.n_rows)

    def document_of_rows(self) -> AnyArray:
        """Return the document of each row, as a position in the block."""
        has_all_documents = self.n_rows == len(self.documents)
        is_full_row = np.repeat(has_all_documents, self.n_rows)
        positions = np.empty(len(is_full_row), np.intp)
        n_full_fields = np.count_nonzero(has_all_documents)
        positions[is_full_row] = np.tile(np.arange(len(self.documents)), n_full_fields)
        positions[~is_full_row] = self.partial_documents
        return positions

    def rows(self, fields: Sequence[int] | None = None) -> FieldRows:
        """Unpack the rows of all fields, or only of the fields with the given numbers."""
        row_fields, documents = np.repeat(self.fields, self.n_rows), self.document_of_rows()
        codes = self.code_of_rows()
        if fields is not None:
            selected = np.isin(row_fields, fields)
            row_fields, documents = row_fields[selected], documents[selected]
            codes = codes[selected]
        cells, scores = self.cell_and_score[codes].T
        return FieldRows(
            field=row_fields,
            document=documents,
            cells=self.cells[cells],
            scores=self.scores[scores],
        )

    def records(self, paths: Sequence[FieldNames]) -> list[dict[str, Any]]:
        """Return each document as a record for a run file.

        `paths` has the path of each field at the position of its field number.
        """
        cell_records = [cell_record(cell) for cell in self.cells.tolist()]
        score_records: list[dict[str, float]] = [
            {} if np.isnan(score) else {SCORE_KEY: scale_score(score) / SCORE_SCALE}
            for score in self.scores.tolist()
        ]
        # Rows of the same code share one record, because many documents have equal counts.
        pairs = self.cell_and_score.tolist()
        entries = [{**score_records[score], **cell_records[cell]} for cell, score in pairs]
        documents, positions = self.document_of_rows().tolist(), self.code_of_rows().tolist()
        fields_of_documents: list[dict[str, Any]] = [{} for _ in self.documents.ids]
        document_scores: dict[int, float] = {}
        starts = _span_starts(self.n_rows).tolist()
        spans = zip(self.fields.tolist(), starts, self.n_rows.tolist(), strict=True)
        for field_number, start, n_rows in sorted(spans, key=lambda span: paths[span[0]]):
            name = field_path(paths[field_number])
            for row in range(start, start + n_rows):
                document, position = documents[row], positions[row]
                if name:
                    entry = entries[position]
                else:  # the root has the score of the document, which keeps all its digits
                    cell, score = pairs[position]
                    document_scores[document] = float(self.scores[score])
                    entry = cell_records[cell]
                if entry:
                    fields_of_documents[document][name] = entry
        return [*self._document_records(fields_of_documents, document_scores)]

    def _document_records(
        self, fields_of_documents: Sequence[dict[str, Any]], scores: Mapping[int, float]
    ) -> Iterator[dict[str, Any]]:
        """Yield each document as a record for a run file.

        `fields_of_documents` has the records of the fields of each document. `scores` maps the
        position of a document to its score. Documents that were not compared have no score.
        """
        documents = self.documents
        confidences: list[dict[str, Any] | None] = [None] * len(documents)
        if documents.confident_values:
            confidences = documents.confident_values.records(len(documents))
        for position, (id_, status, groups) in enumerate(
            zip(documents.ids, documents.statuses, documents.groups, strict=True)
        ):
            record: dict[str, Any] = {
                "id": id_,
                "status": status.value,
                SCORE_KEY: scores.get(position),
            }
            if groups:
                record["by"] = dict(groups)
            record["fields"] = fields_of_documents[position]
            if confidences[position]:
                record[CONFIDENCES] = confidences[position]
            yield record


@dataclass(eq=False)
class Blocks:
    """The counts and scores of the single documents of a run.

    The order in which documents are added does not change any figure.
    """

    field_numbers: dict[FieldNames, int] = field(default_factory=lambda: {(): 0})
    """Maps the path of a field, without list indexes, to its field number. The root has the number
    0."""
    n_documents: int = 0

    stored: list[DocumentBlock | int] = field(default_factory=list)
    """All stored blocks, in the order in which they were stored. A block that is in the file is
    represented by its offset there."""
    small_blocks: list[DocumentBlock] = field(default_factory=list)
    """Blocks that are too small to be stored. They are kept until they can be joined to larger
    ones."""
    nbytes: int = 0
    """Size of all stored blocks in bytes, in memory and in the file together."""
    file: IO[bytes] | None = None
    """A file with pickled blocks. Blocks are written to it once memory is full
    (`MAX_MEMORY_BYTES`). None if all blocks are in memory."""

    def add(self, batch: "Batch") -> None:
        """Add all documents of a batch."""
        for block in self._blocks(batch):
            self.add_block(block)

    def _blocks(self, batch: "Batch") -> Iterator[DocumentBlock]:
        """Split the documents of a batch into blocks of at most `MAX_BLOCK_DOCUMENTS` documents."""
        rows = _rows_of_batch(batch, self.field_numbers)
        confident_values = batch.confident_values
        for start in range(0, len(batch.results), MAX_BLOCK_DOCUMENTS):
            end = start + MAX_BLOCK_DOCUMENTS
            results = batch.results[start:end]
            documents = BlockDocuments(
                ids=tuple(result.id for result in results),
                statuses=tuple(result.status for result in results),
                groups=tuple(result.groups or _NO_GROUPS for result in results),
                confident_values=confident_values and confident_values.select_documents(start, end),
            )
            if len(results) == len(batch.results):
                yield build_block(documents, rows)
            else:
                selected = (start <= rows.document) & (rows.document < end)
                block_rows = FieldRows(*(column[selected] for column in rows))
                yield build_block(documents, block_rows, start)

    def add_block(self, block: DocumentBlock) -> None:
        """Store a block in memory, or in the file if memory is full.

        Small blocks wait until they can be joined.
        """
        self.n_documents += len(block.documents)
        if len(block.documents) < MIN_BLOCK_DOCUMENTS:
            self.small_blocks.append(block)
            n_small = sum(len(small.documents) for small in self.small_blocks)
            if n_small <= MAX_BLOCK_DOCUMENTS - MIN_BLOCK_DOCUMENTS:
                return
            block, self.small_blocks = _join_blocks(self.small_blocks), []
        self.nbytes += block.nbytes
        if self.nbytes <= MAX_MEMORY_BYTES:
            self.stored.append(block)
            return
        if self.file is None:
            self.file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with these blocks
            finalize(self, self.file.close)
        self.stored.append(self.file.seek(0, 2))
        pickle.dump(block, self.file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[DocumentBlock]:
        yield from self._stored_blocks()
        yield from self.small_blocks

    def _stored_blocks(self) -> Iterator[DocumentBlock]:
        """Yield the stored blocks from memory and file, in the order in which they were added."""
        for block_or_offset in self.stored:
            if isinstance(block_or_offset, DocumentBlock):
                yield block_or_offset
            else:
                file = cast("IO[bytes]", self.file)
                file.seek(block_or_offset)
                yield pickle.load(file)  # noqa: S301 - no other process can write to the file

    def __len__(self) -> int:
        return self.n_documents

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "stored": [*self._stored_blocks()], "file": None}

    def merge(self, other: "Blocks") -> None:
        """Add the documents of other blocks.

        The other blocks may number the fields differently, so their numbers are translated.
        """
        new_numbers = np.array(
            [_number_of(path, self.field_numbers) for path in other.field_numbers], np.uint32
        )
        for block in other:
            self.add_block(replace(block, fields=new_numbers[block.fields]))

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents, in no particular order."""
        for block in self:
            yield from block.documents.ids

    def documents(self) -> Iterator[DocumentRow]:
        """Yield each document, in no particular order."""
        for block in self:
            root_rows = block.rows([0])
            positions = root_rows.document.tolist()
            leaf_counts = root_rows.cells[:, LEAF_COUNTS].tolist()
            counts_by_position = dict(zip(positions, leaf_counts, strict=True))
            score_by_position = dict(zip(positions, root_rows.scores.tolist(), strict=True))
            ids_and_statuses = zip(block.documents.ids, block.documents.statuses, strict=True)
            for position, (id_, status) in enumerate(ids_and_statuses):
                yield DocumentRow(
                    id=id_,
                    status=status,
                    score=score_by_position.get(position),
                    values=Counts(*counts_by_position.get(position, ())),
                )

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each document as a record for a run file, in no particular order."""
        paths = [*self.field_numbers]
        for block in self:
            yield from block.records(paths)

    def lines(self) -> SortedLines:
        """Return each document as a pair of its id and a line of JSON, sorted by id.

        The lines do not end with a line break.
        """
        return SortedLines((record["id"], json_line(record)[:-1]) for record in self.records())

    def view(self) -> list[dict[str, Any]]:
        """Return each document as a record for a run file, sorted by id."""
        return [decode_record(line) for _, line in self.lines()]

    def read_records(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add documents from the records of a run file."""
        remaining = iter(records)
        while block_records := [*islice(remaining, MAX_BLOCK_DOCUMENTS)]:
            self.add_block(_read_block(block_records, self.field_numbers))


def _number_of(path: FieldNames, field_numbers: dict[FieldNames, int]) -> int:
    """Return the number of the field with a path. A new field gets the next free number."""
    return field_numbers.setdefault(path, len(field_numbers))


def _rows_of_batch(batch: "Batch", field_numbers: dict[FieldNames, int]) -> FieldRows:
    """Return the rows of the compared documents of a batch. New fields get new numbers."""
    counts = batch.counts
    if counts is None:
        no_rows = np.zeros(0, np.intp)
        return FieldRows(
            field=no_rows,
            document=no_rows,
            cells=np.zeros((0, CELL_SIZE), np.int64),
            scores=np.zeros(0),
        )
    fields = [_number_of(path, field_numbers) for path in counts.paths]
    n_rows = np.diff([*counts.starts.tolist(), len(counts.documents)])
    return FieldRows(
        field=np.repeat(np.array(fields, np.uint32), n_rows),
        document=batch.compared_documents[counts.documents],
        cells=counts.cells,
        scores=counts.row_scores,
    )


def build_block(documents: BlockDocuments, rows: FieldRows, start: int = 0) -> DocumentBlock:
    """Pack rows into a block of documents.

    `rows.document` numbers the documents; the first document of the block has the number `start`.
    """
    cells, cell_of_rows = encode_rows(rows.cells)
    # Scores are compared by their bits, so that all NaN are one score.
    score_bits, score_of_rows = np.unique(rows.scores.view(np.int64), return_inverse=True)
    scores = score_bits.view(np.float64)
    n_scores = max(len(scores), 1)
    pair_of_rows = cell_of_rows * n_scores + score_of_rows

    has_rows = len(rows.field) > 0
    starts = np.flatnonzero(np.diff(rows.field, prepend=-1)) if has_rows else cell_of_rows
    n_rows = np.diff([*starts.tolist(), len(rows.field)])
    position_of_rows = np.repeat(np.arange(len(starts)), n_rows)  # of each row's field

    # Number the distinct (field, pair) combinations, then count anew from 0 in each field.
    n_pairs = max(len(cells) * len(scores), 1)
    distinct, inverse = np.unique(position_of_rows * n_pairs + pair_of_rows, return_inverse=True)
    field_of_codes, pair_of_codes = np.divmod(distinct, n_pairs)
    n_codes = np.bincount(field_of_codes, minlength=len(starts))
    codes = inverse - np.repeat(_span_starts(n_codes), n_rows)

    is_partial = np.repeat(n_rows != len(documents), n_rows)
    return DocumentBlock(
        documents=documents,
        fields=rows.field[starts].astype(np.uint32),
        n_rows=n_rows.astype(np.uint16),
        partial_documents=(rows.document[is_partial] - start).astype(np.uint8),
        codes=codes.astype(np.uint8),
        n_codes=n_codes.astype(np.uint16),
        cell_and_score=_shrink(np.stack(np.divmod(pair_of_codes, n_scores), axis=1)),
        cells=_shrink(cells),
        scores=scores,
    )


def _join_blocks(blocks: Sequence[DocumentBlock]) -> DocumentBlock:
    """Join blocks into one; together they have at most `MAX_BLOCK_DOCUMENTS` documents."""
    n_documents = [len(block.documents) for block in blocks]
    starts = (np.cumsum(n_documents) - n_documents).tolist()
    rows_of_blocks = []
    for block, start in zip(blocks, starts, strict=True):
        rows = block.rows()
        rows_of_blocks.append(rows._replace(document=rows.document + start))
    joined_rows = FieldRows(*map(np.concatenate, zip(*rows_of_blocks, strict=True)))
    by_field = np.argsort(joined_rows.field, kind="stable")

    documents_of_blocks = [block.documents for block in blocks]
    confident_values = [documents.confident_values for documents in documents_of_blocks]
    documents = BlockDocuments(
        ids=tuple(chain.from_iterable(documents.ids for documents in documents_of_blocks)),
        statuses=tuple(
            chain.from_iterable(documents.statuses for documents in documents_of_blocks)
        ),
        groups=tuple(chain.from_iterable(documents.groups for documents in documents_of_blocks)),
        confident_values=join_confident_values(zip(confident_values, starts, strict=True)),
    )
    return build_block(documents, FieldRows(*(column[by_field] for column in joined_rows)))


def _read_block(
    records: Sequence[Mapping[str, Any]], field_numbers: dict[FieldNames, int]
) -> DocumentBlock:
    """Make a block from the records that a run file has of documents.

    New fields get new numbers.
    """
    cells_by_text: dict[str, list[int]] = {}  # few distinct cells are common
    rows: list[tuple[int, int, list[int], float]] = []
    for document, record in enumerate(records):
        fields: Mapping[str, Mapping[str, Any]] = record["fields"]
        if record[SCORE_KEY] is not None:
            fields = {"": {}, **fields}
        for text, entry in fields.items():
            cell = cells_by_text.setdefault(repr(entry), [])
            if not cell:
                cell += read_cell(entry)
            score = entry.get(SCORE_KEY, np.nan) if text else record[SCORE_KEY]
            rows.append((_number_of(field_names(text), field_numbers), document, cell, score))
    rows.sort(key=lambda row: row[:2])
    columns = [*zip(*rows, strict=True)] or [(), (), (), ()]
    documents = BlockDocuments(
        ids=tuple(record["id"] for record in records),
        statuses=tuple(Status(record["status"]) for record in records),
        groups=tuple(record.get("by", {}) for record in records),
        confident_values=read_confident_values(record.get(CONFIDENCES) for record in records),
    )
    field_rows = FieldRows(
        field=np.array(columns[0], np.uint32),
        document=np.array(columns[1], np.intp),
        cells=np.array(columns[2], np.int64).reshape(-1, CELL_SIZE),
        scores=np.array(columns[3], np.float64),
    )
    return build_block(documents, field_rows)


def decode_record(line: bytes) -> dict[str, Any]:
    """Decode a document's record from a line of JSON."""
    try:
        record: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:  # orjson rejects half a surrogate pair in an id or name
        record = json.loads(line)
    return record


def encode_rows(rows: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct rows of an integer array, and for each row its position among them.

    Rows are compared by a hash, which is many times faster than sorting them.
    """
    hashes = rows.astype(np.uint64) @ _KEYS[: rows.shape[1]]  # the sum wraps around at 2**64
    _, firsts, codes = np.unique(hashes, return_index=True, return_inverse=True)
    distinct = rows[firsts]
    if (distinct[codes] != rows).any():  # two different rows have the same hash
        distinct, codes = np.unique(rows, axis=0, return_inverse=True)
    return distinct, codes.reshape(-1)


def _shrink(values: AnyArray) -> AnyArray:
    """Convert whole numbers of at least 0 to the smallest integer type that can hold them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _span_starts(lengths: AnyArray) -> AnyArray:
    """Return where each span begins, given the lengths of spans that follow each other."""
    starts: AnyArray = np.cumsum(lengths, dtype=np.intp) - lengths
    return starts
