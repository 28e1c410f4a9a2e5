"""Decompress files of documents. Refuse small files that unpack to very many values.

The time and the memory that documents take grow with the number of their values. JSON compresses to
a tenth or twentieth of its size, so the size of a compressed file says how many values are
plausible.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, NamedTuple, TypeAlias

from stickler_cli.core.problems import import_extra

GZIP_MAGIC: Final = b"\x1f\x8b"  # Source: RFC 1952, section 2.3.1
ZSTANDARD_MAGIC: Final = b"\x28\xb5\x2f\xfd"  # Source: RFC 8878, section 3.1.1

HEAD: Final = max(len(GZIP_MAGIC), len(ZSTANDARD_MAGIC))
"""Number of bytes at the beginning of a file that show how it is compressed."""

# From Python 3.14 on in the standard library; unlike others, it notices a truncated file.
_ZSTANDARD: Final = "backports.zstd"

_GZIP_MEMBER: Final = GZIP_MAGIC + b"\x08"  # the only method. Source: RFC 1952, section 2.3.1
MAX_SMALL_MEMBERS: Final = 10_000
"""Maximum number of separately compressed parts (members of gzip, frames of Zstandard) in a small
file. So many parts take about a second. A large file may have more parts: see
`MIN_MEMBER_BYTES`."""
MIN_MEMBER_BYTES: Final = 64
"""Minimum mean size of a separately compressed part, in compressed bytes. It is required only in a
file with more than `MAX_SMALL_MEMBERS` parts. Decompressing a part takes some 80 microseconds, even
if the part is empty."""

VALUES_OF_LINE: Final = 10
"""Reading and comparing an empty document takes as long as reading and comparing this many values.
Therefore, this number is added to the number of values of each line. In a file that is an array of
documents, it is added for each `{`."""


class ValueLimit(NamedTuple):
    """Maximum number of values in a compressed file, which depends on the size of the file."""

    minimum: int
    """Number of values that are always allowed, however small the file is."""
    per_packed_byte: int
    """Maximum number of values for each compressed byte. It applies only to files that have more
    than `minimum` values. Usual JSON has 0.4 values for each compressed byte. Records with nearly
    all fields null have 5."""

    def check(self, values: int, packed_bytes: int) -> None:
        """Raise `OverfullFileError` if a compressed file of this size has too many values."""
        limit = max(self.minimum, self.per_packed_byte * packed_bytes)
        if values > limit:
            raise OverfullFileError("values", limit, packed_bytes)


ONE_DOCUMENT: Final = ValueLimit(1_000_000, per_packed_byte=2)
"""Limit for a single document. A million values take some 10 seconds and 500 MB."""
MANY_DOCUMENTS: Final = ValueLimit(3_000_000, per_packed_byte=10)
"""Limit for a file of many documents, which are never in memory at the same time."""

MAX_STREAM_BYTES: Final = 200_000_000
"""A file of many documents is read up to this decompressed size, however small the file is."""
MAX_STREAM_RATIO: Final = 200
"""Maximum ratio of decompressed to compressed size, for a file that contains many documents and is
larger than `MAX_STREAM_BYTES`. The limit is high, because similar documents are compressed well."""


class OverfullFileError(OSError):
    """A compressed file has far more content than is plausible for its size."""

    hint: Final = "if you trust the file, unpack it and pass the unpacked file"

    def __init__(self, unit: str, limit: int, packed_bytes: int) -> None:
        super().__init__(f"{packed_bytes:,} compressed bytes unpack to more than {limit:,} {unit}")


def count_values(data: bytes) -> int:
    """Return an upper bound of the number of values in a JSON text.

    Each value is the root, comes first in an object or list, or follows a comma. Therefore commas
    and opening brackets are counted. Those inside strings are counted as well, so the bound can be
    too high.
    """
    return 1 + data.count(b",") + data.count(b"[") + data.count(b"{")


def is_packed(head: bytes) -> bool:
    """Return whether a file is compressed; `head` are the first bytes of the file."""
    return head.startswith((GZIP_MAGIC, ZSTANDARD_MAGIC))


class _PackedStream:
    """A compressed stream that counts its bytes and refuses files with very many small members."""

    def __init__(self, stream: IO[bytes], head: bytes) -> None:
        self._stream = stream
        self._magic = _GZIP_MEMBER if head.startswith(GZIP_MAGIC) else ZSTANDARD_MAGIC
        self.n_bytes = self._n_members = 0
        self._last_bytes = b""

    def read(self, size: int = -1) -> bytes:
        """Read compressed bytes.

        Raises:
            OverfullFileError: the file consists of too many compressed parts.
        """
        data = self._stream.read(size)
        self.n_bytes += len(data)
        # A magic number may begin in one block and end in the next one.
        searched = self._last_bytes + data
        self._n_members += searched.count(self._magic)
        self._last_bytes = searched[1 - len(self._magic) :]
        limit = max(MAX_SMALL_MEMBERS, self.n_bytes // MIN_MEMBER_BYTES)
        if self._n_members > limit:
            raise OverfullFileError("separately compressed parts", limit, self.n_bytes)
        return data


class UnpackedStream:
    """The decompressed content of a file of many documents.

    Too many values or bytes are refused.
    """

    def __init__(self, content: Any, packed: _PackedStream) -> None:
        self._content, self._packed = content, packed
        self._n_bytes = self._n_values = 0

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        head: bytes = self._content.peek(size)
        return head

    def readline(self, size: int) -> bytes:
        """Read a line, or its first `size` bytes.

        Raises:
            OverfullFileError: the line has too many values, or too many values or bytes have been
                read so far.
        """
        line: bytes = self._content.readline(size)
        n_values = count_values(line)
        ONE_DOCUMENT.check(n_values, self._packed.n_bytes)
        self._charge(n_values + VALUES_OF_LINE, len(line))
        return line

    def read(self, size: int) -> bytes:
        """Read the next bytes of a file that is an array of documents.

        Raises:
            OverfullFileError: too many bytes, or too many values, have been read so far.
        """
        data: bytes = self._content.read(size)
        self._charge(count_values(data) + VALUES_OF_LINE * data.count(b"{"), len(data))
        return data

    def _charge(self, n_values: int, n_bytes: int) -> None:
        self._n_values += n_values
        self._n_bytes += n_bytes
        packed_bytes = self._packed.n_bytes
        MANY_DOCUMENTS.check(self._n_values, packed_bytes)
        limit = max(MAX_STREAM_BYTES, MAX_STREAM_RATIO * packed_bytes)
        if self._n_bytes > limit:
            raise OverfullFileError("bytes", limit, packed_bytes)


LineStream: TypeAlias = IO[bytes] | UnpackedStream


@contextmanager
def open_unpacked(stream: IO[bytes], head: bytes) -> Iterator[UnpackedStream]:
    """Open a compressed stream of many documents; `head` are its first bytes.

    Raises:
        UnavailableError: the stream is Zstandard, and the package for it is missing.
    """
    packed = _PackedStream(stream, head)
    with _decompressed(packed, head) as content:
        yield UnpackedStream(content, packed)


def unpack(data: bytes, limit: int, values: ValueLimit = ONE_DOCUMENT) -> bytes:
    """Decompress a file.

    At most `limit + 1` bytes are returned. If there are more than `limit` bytes, the file is too
    large.

    Raises:
        OverfullFileError: the content has too many values.
        UnavailableError: the file is Zstandard, and the package for it is missing.
    """
    with _decompressed(_PackedStream(io.BytesIO(data), data), data) as content:
        unpacked = bytes(content.read(limit + 1))
    # Each value has at least a byte, with a comma or bracket before it.
    if len(unpacked) > 2 * values.minimum and len(unpacked) <= limit:
        values.check(count_values(unpacked), len(data))
    return unpacked


def _decompressed(packed: _PackedStream, head: bytes) -> Any:
    """Return a file with decompressed content."""
    if head.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[call-overload] # only read
    return import_extra(_ZSTANDARD, "Zstandard", "zstd").ZstdFile(packed)


def unpacking_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading a damaged compressed file can raise.

    Call it only after a failure, because only packages that are already imported are considered.
    `BadGzipFile` is an OSError, but a truncated gzip file raises EOFError.
    """
    zstandard = sys.modules.get(_ZSTANDARD)  # if it is not imported, no exception is from it
    return OSError, EOFError, zlib.error, *([zstandard.ZstdError] if zstandard else [])
