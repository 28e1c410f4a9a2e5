"""Find, read and pair documents.

A bad document is a `Problem` in the stream of pairs, never an exception; only a source that
cannot be used at all raises, before the first pair.
"""

from stickler_cli.documents.pairs import (
    DocumentPair,
    PairRef,
    Pairs,
    fingerprint_of,
    open_pairs,
    read_pair,
)
from stickler_cli.documents.reading import (
    MAX_DOCUMENT_BYTES,
    parse_document,
    parse_json,
    read_bytes,
)
from stickler_cli.documents.references import Fingerprint

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "DocumentPair",
    "Fingerprint",
    "PairRef",
    "Pairs",
    "fingerprint_of",
    "open_pairs",
    "parse_document",
    "parse_json",
    "read_bytes",
    "read_pair",
]
