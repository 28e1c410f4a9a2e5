"""Paths of files: which texts can be one, and paths with all links followed."""

import os
from pathlib import Path


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a file with all links followed.

    Links that lead in a circle stay as they are: opening the file tells. `Path.resolve` would
    raise a RuntimeError.
    """
    return Path(os.path.realpath(path))


def can_be_path(text: str) -> bool:
    r"""Return whether the system takes a text as a path: without NUL and lone surrogates.

    >>> can_be_path("gt/a"), can_be_path("a\0"), can_be_path("\ud800")
    (True, False, False)
    """
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
