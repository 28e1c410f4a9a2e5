"""Files packed by gzip or Zstandard: the first bytes say which, whatever the name."""

import gzip
import sys
import zlib
from typing import IO, Any, Final

from stickler_cli.core.problems import require

GZIP_MAGIC: Final = b"\x1f\x8b"  # Source: RFC 1952, section 2.3.1
ZSTANDARD_MAGIC: Final = b"\x28\xb5\x2f\xfd"  # Source: RFC 8878, section 3.1.1

HEAD: Final = max(len(GZIP_MAGIC), len(ZSTANDARD_MAGIC))
"""The bytes that tell how a file is packed."""

# What Python has from 3.14 on; unlike others it notices a file that is cut off.
_ZSTANDARD: Final = "backports.zstd"


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins so is packed."""
    return head.startswith((GZIP_MAGIC, ZSTANDARD_MAGIC))


def unpacked(stream: IO[bytes], head: bytes) -> Any:
    """Open the unpacked contents of a stream that begins so, as a file to be closed.

    Raises:
        UnavailableError: it is Zstandard, and what reads that is not installed.
    """
    if head.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=stream)
    require(_ZSTANDARD, "Zstandard", "zstd")
    from backports.zstd import ZstdFile  # an extra

    return ZstdFile(stream)


def unpacking_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of reading a damaged file; to be asked where something was raised.

    Of gzip `BadGzipFile` is an OSError; a file that is cut off is not.
    """
    known = sys.modules.get(_ZSTANDARD)  # as long as nothing is unpacked with it, none is its
    return OSError, EOFError, zlib.error, *([known.ZstdError] if known else [])
