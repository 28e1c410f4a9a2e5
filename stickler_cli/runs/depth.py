"""Room on Python's stack for documents as deep as the reader takes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

RECURSION_LIMIT: Final = 20_000
"""Python frames; a document of 1024 levels, which is as deep as they are read, needs some 8 a
level. Python's own limit would do for about a hundred levels."""


@contextmanager
def room_for_depth() -> Iterator[None]:
    """Let calls inside the block nest deeper than Python lets them by default."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)
