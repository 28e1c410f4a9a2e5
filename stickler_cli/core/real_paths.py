"""Check whether a text can be a path, and resolve all links in a path."""

import os
from pathlib import Path


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a file, with all links resolved.

    Links that form a circle stay in the path, so that opening the file reports them. `Path.resolve`
    would raise a RuntimeError.
    """
    return Path(os.path.realpath(path))


def can_be_path(text: str) -> bool:
    r"""Return whether the system accepts a text as a path: it has no NUL and no lone surrogate.

    >>> can_be_path("gt/a"), can_be_path("a\0"), can_be_path("\ud800")
    (True, False, False)
    """
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
