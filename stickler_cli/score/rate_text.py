"""A rate or score as people read it, in reports and in notebooks alike."""

import math
from collections.abc import Collection
from typing import Final

DIGITS: Final = 4
"""Decimals of a rate: enough to tell one error in ten thousand, few enough for a column."""

NOTHING: Final = "-"
"""Stands for a rate that has nothing to divide by, and for a score that nobody gave."""


def rate(value: float | None, limits: Collection[float] = ()) -> str:
    """Return a rate or score with four decimals, never rounded onto 0, 1 or a limit it is not.

    So 9,999.6 of 10,000 is no 1.0000, and what fails a gate does not look as if it passed.

    >>> rate(2 / 3), rate(0.99996), rate(0.00001), rate(0.89996, {0.9}), rate(None)
    ('0.6667', '0.9999', '0.0001', '0.8999', '-')
    """
    if value is None:
        return NOTHING
    shown = round(value, DIGITS)
    if shown != value and shown in (0.0, 1.0, *limits):
        shown += math.copysign(10**-DIGITS, value - shown)
    return f"{shown:.{DIGITS}f}"
