"""Whether documents are still those that they were: a digest of what was read of each."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from stickler_cli.core.problems import Problem

DIGEST_BYTES: Final = 16
"""Enough that two documents never share a digest by accident; nobody is kept from making two."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What tells the documents of a pair from others."""

    gt: str
    """The digest of its bytes, unpacked, or of why there are none; empty where there is none."""
    pred: str
    """Likewise."""
    hint: str
    """What the result says of a document that stands alone; it depends on other documents."""


def digest_of(data: bytes | Problem) -> str:
    """Give the digest of a document, or of what keeps it from being read."""
    content = str(data).encode("utf-8", "backslashreplace") if isinstance(data, Problem) else data
    return blake2b(content, digest_size=DIGEST_BYTES).hexdigest()
