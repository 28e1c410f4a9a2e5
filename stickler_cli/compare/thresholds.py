"""When a similarity passes, and what a score is worth when it does not."""

from typing import Final

from stickler_cli.comparators.base import EQUAL_WITHIN

DEFAULT_MATCH_THRESHOLD: Final = 0.7
"""The similarity at which two objects are the same one. Source: docs/semantics.md, Schema."""


def meets(similarity: float, threshold: float) -> bool:
    """Say whether a similarity is at or above a threshold, within `EQUAL_WITHIN`.

    >>> meets(0.7999999999999999, 0.8), meets(0.79, 0.8)
    (True, False)
    """
    return similarity >= threshold - EQUAL_WITHIN
