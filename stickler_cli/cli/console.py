"""Where text goes: results to standard output, everything else to standard error.

A reader that stops reading (`| head`) is no error, and never changes the exit code.
"""

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from stickler_cli.core.problems import Problem


def prepare_streams() -> None:
    """Make sure that any text can be printed, whatever the terminal's encoding.

    A stream that is closed from the start gets a place where all is lost: else the next file that
    is opened would take its number, and what others print would end up in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            if name != "stdin":
                setattr(sys, name, open(nowhere, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def write_result(text: str) -> None:
    """Write results to standard output.

    Raises:
        OSError: they cannot be written for another reason than a reader that is gone.
    """
    _write(sys.stdout, text)


def warn(text: str) -> None:
    """Write one line to standard error, made safe: names and values may be in it."""
    from stickler_cli.reports.figures import visible  # --help loads no reports

    _write(sys.stderr, f"{visible(text)}\n")


def show_problems(problems: Iterable[Problem]) -> None:
    """Write problems to standard error, one a line."""
    for problem in problems:
        warn(f"error: {problem}")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # Python would flush again on its way out and end with code 120.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def wants_color(*, no_color: bool) -> bool:
    """Return whether standard output is to be coloured. Source: no-color.org, force-color.org."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
