"""Read the sizes of the batches in an Arrow IPC file, without decompressing the batches.

Sources: the Arrow columnar format, "IPC File Format" and "Compression"; Message.fbs, File.fbs and
the binary format of FlatBuffers.
"""

import struct
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAGIC: Final = b"ARROW1"
CONTINUATION: Final = b"\xff\xff\xff\xff"  # precedes the length of metadata since version 0.15
DICTIONARY_BATCH: Final = 2  # number in the union `MessageHeader` of a record batch

_BLOCK: Final = np.dtype(
    [("offset", "<i8"), ("metadata_bytes", "<i4"), ("padding", "<i4"), ("body_bytes", "<i8")]
)
_NODE: Final = np.dtype([("length", "<i8"), ("null_count", "<i8")])
_BUFFER: Final = np.dtype([("offset", "<i8"), ("length", "<i8")])


class BatchSize(NamedTuple):
    """Size of one record batch of an Arrow file, or of all dictionaries of the file together."""

    packed_bytes: int
    unpacked_bytes: int
    values: int
    """Number of values in all columns and nested columns, including nulls."""


class _FlatTable(NamedTuple):
    """A FlatBuffers table. Its methods identify a field by its number in the FlatBuffers schema."""

    data: bytes
    position: int

    def has(self, field: int) -> bool:
        return self._find(field) is not None

    def byte(self, field: int) -> int:
        position = self._find(field)
        return 0 if position is None else self.data[position]

    def table(self, field: int) -> "_FlatTable":
        position = self._find(field)
        if position is None:
            raise ValueError("part of the file's metadata is missing")
        return _FlatTable(self.data, position + _unpack("<I", self.data, position))

    def vector(self, field: int, dtype: np.dtype[np.void]) -> NDArray[np.void]:
        position = self._find(field)
        if position is None:
            return np.zeros(0, dtype)
        start = position + _unpack("<I", self.data, position)
        length = _unpack("<I", self.data, start)
        return np.frombuffer(self.data, dtype, length, start + 4)

    def _find(self, field: int) -> int | None:
        """Return the position of a field; None if the table does not have it."""
        table = self.position - _unpack("<i", self.data, self.position)
        entry = 4 + 2 * field
        if entry >= _unpack("<H", self.data, table):
            return None
        offset = _unpack("<H", self.data, table + entry)
        return self.position + offset if offset else None


def _unpack(form: str, data: bytes, position: int) -> int:
    if position < 0:
        raise ValueError("a position in the file's metadata is negative")
    return int(struct.unpack_from(form, data, position)[0])


def _root_of(data: bytes) -> _FlatTable:
    return _FlatTable(data, _unpack("<I", data, 0))


def read_batch_sizes(stream: IO[bytes], n_bytes: int) -> Iterator[BatchSize]:
    """Yield the sizes of the dictionaries and of the batches of an Arrow file.

    The first size is the sum over all dictionaries. Then follows the size of each batch. `n_bytes`
    is the size of the file.

    Raises:
        OSError: the metadata cannot be read.
    """
    try:
        footer = _read_footer(stream, n_bytes)
        sizes = [_size_of(stream, block, n_bytes) for block in footer.vector(2, _BLOCK)]
        yield BatchSize(*map(sum, zip(*sizes, strict=True))) if sizes else BatchSize(0, 0, 0)
        for block in footer.vector(3, _BLOCK):
            yield _size_of(stream, block, n_bytes)
    except (ValueError, IndexError, struct.error) as error:
        raise OSError(f"the metadata of the Arrow file cannot be read: {error}") from None


def _read_footer(stream: IO[bytes], n_bytes: int) -> _FlatTable:
    end_bytes = 4 + len(MAGIC)
    end = _read_block(stream, n_bytes - end_bytes, end_bytes, n_bytes)
    footer_bytes = _unpack("<i", end, 0)
    start = n_bytes - end_bytes - footer_bytes
    return _root_of(_read_block(stream, start, footer_bytes, n_bytes))


def _read_block(stream: IO[bytes], start: int, size: int, n_bytes: int) -> bytes:
    if start < 0 or size < 0 or start + size > n_bytes:
        raise ValueError("a data block lies beyond the end of the file")
    stream.seek(start)
    return stream.read(size)


def _size_of(stream: IO[bytes], block: np.void, n_bytes: int) -> BatchSize:
    """Return the size of one batch without decompressing it.

    This is possible because a compressed buffer begins with its decompressed length.
    """
    start, metadata_bytes = int(block["offset"]), int(block["metadata_bytes"])
    metadata = _read_block(stream, start, metadata_bytes, n_bytes)
    prefix_bytes = 8 if metadata.startswith(CONTINUATION) else 4
    message = _root_of(metadata[prefix_bytes:])
    batch = message.table(2)
    if message.byte(1) == DICTIONARY_BATCH:
        batch = batch.table(1)
    buffers = batch.vector(2, _BUFFER)
    packed_bytes = unpacked_bytes = int(buffers["length"].sum())
    if batch.has(3):
        # A compressed buffer begins with its decompressed length; -1 means that it is not
        # compressed.
        body = start + metadata_bytes
        unpacked_bytes = 0
        for offset, length in buffers.tolist():
            prefix = _read_block(stream, body + offset, 8, n_bytes) if length >= 8 else b""
            stated = _unpack("<q", prefix, 0) if prefix else -1
            unpacked_bytes += length if stated < 0 else stated
    n_values = int(batch.vector(1, _NODE)["length"].sum())
    return BatchSize(packed_bytes=packed_bytes, unpacked_bytes=unpacked_bytes, values=n_values)
