"""Sizes as people write them: `200MB`."""

import re
from typing import Final

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.reading import MAX_SIZE_OPTION

_SIZE: Final = re.compile(
    r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([kMGT]?)(i?)B?\s*", re.IGNORECASE | re.ASCII
)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def bytes_of_size(text: str, option: str = MAX_SIZE_OPTION) -> int:
    """Give the number of bytes that a size means.

    Args:
        text: what the user wrote.
        option: where, for messages.

    Raises:
        UsageError: it is no size, or of less than one byte.

    >>> bytes_of_size("200MB"), bytes_of_size("1.5 GiB"), bytes_of_size("4096")
    (200000000, 1610612736, 4096)
    """
    match = _SIZE.fullmatch(text)
    size = 0
    if match is not None:
        number, unit, binary = match.groups()
        size = int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])
    if size < 1:
        found, expected = f"the size is {text!r}", "a number of bytes, such as 4096, 500kB or 1.5GB"
        raise UsageError([Problem(option, found, expected)])
    return size
