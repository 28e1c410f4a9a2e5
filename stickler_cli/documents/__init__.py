"""Find, read and pair documents.

A bad document is a `Problem` in the stream of pairs, never an exception; only a source that
cannot be used at all raises, before the first pair.
"""

from stickler_cli.documents.pairs import (
    DocumentPair,
    Fingerprint,
    PairRef,
    Pairs,
    fingerprint_of,
    open_pairs,
    read_pair,
)

__all__ = [
    "DocumentPair",
    "Fingerprint",
    "PairRef",
    "Pairs",
    "fingerprint_of",
    "open_pairs",
    "read_pair",
]
