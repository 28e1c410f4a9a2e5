"""Models on disk: whether they are there, and what tells one state of them from another."""

import hashlib
from functools import cache
from pathlib import Path

from stickler_cli.core.problems import Problem, UnavailableError


def require_model_path(comparator: str, name: str) -> None:
    """Make sure that a model named by a path is there; a hub's name is looked up when it is used.

    Raises:
        UnavailableError: there is no such directory.
    """
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        found = f"{comparator} finds no model at {name}"
        raise UnavailableError([Problem("", found, "the directory of a model")])


@cache
def fingerprint(name: str) -> str | None:
    """Tell the state of a model's directory by names, sizes and times; None of a hub's name."""
    directory = Path(name).expanduser()
    if not directory.is_dir():
        return None
    states = []
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        state = file.stat()
        states.append(f"{file.relative_to(directory)} {state.st_size} {state.st_mtime_ns}")
    return hashlib.blake2b("\n".join(states).encode(), digest_size=20).hexdigest()


def local_name(name: str) -> str:
    """Give a path or a hub's name as the libraries take it.

    >>> local_name("sentence-transformers/all-MiniLM-L6-v2")
    'sentence-transformers/all-MiniLM-L6-v2'
    """
    return str(Path(name).expanduser()) if name.startswith("~") else name


def quiet_transformers() -> None:
    """Keep progress bars and reports of loading a model off standard error."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
