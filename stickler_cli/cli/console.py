"""Standard output for results, standard error for messages, and exit codes.

A closed pipe (`| head`) is not an error, and does not change the exit code.
"""

import io
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from enum import IntEnum
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, TextIO

from stickler_cli.core.figures import visible
from stickler_cli.core.problems import Problem
from stickler_cli.core.remote import hide_secrets, is_url, shown_url
from stickler_cli.core.sections import INDENT
from stickler_cli.runs.whole_files import WholeWriter

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ExitCode(IntEnum):
    """Exit codes.

    Code 1 is only for failed gates and for errors that lint finds. Python itself would end with 1
    after a crash. Therefore internal errors have a code of their own.
    """

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    INTERNAL = 4
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS: Final = {  # meanings for help and documentation
    ExitCode.OK: "success",
    ExitCode.GATE_FAILED: "a gate failed or lint found errors, and there was no other problem",
    ExitCode.USAGE: "a usage, schema, configuration or path error",
    ExitCode.INCOMPLETE: (
        "some or all documents could not be evaluated, no documents were paired, or runs "
        "cannot be combined, even if a gate also failed"
    ),
    ExitCode.INTERNAL: "an internal error, or results could not be written",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C)",
    ExitCode.TERMINATED: "terminated (SIGTERM)",
}


_COMMAND: Final = re.compile("`[^`]*`")
_HELD: Final = "\0"  # stands for a blank at which lines do not break


def prepare_streams() -> None:
    """Prepare standard output and standard error, so that any text can be printed.

    A stream that is closed from the start is replaced by the null device. Otherwise the next file
    that is opened would get the file descriptor of the stream, and printed text would go into this
    file. If standard output was closed, writing results raises an OSError, because the results
    would be lost. If standard error was closed, messages are discarded.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None or (name == "stdin" and _is_open(number)):
            continue
        # The null device takes the lowest free number, which is that of the stream unless a file
        # has it by now. Results would be lost, so writing must fail.
        nowhere = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_RDWR)
        if name != "stdin":
            lost = open(nowhere, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, _make_lossless(lost))
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__"):
            stream = _make_lossless(stream)
            setattr(sys, name, stream)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _is_open(descriptor: int) -> bool:
    """Return whether a file descriptor belongs to an open file."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _make_lossless(stream: TextIO) -> TextIO:
    """Return a replacement for a stream that writes each text completely or raises an error."""
    # The same stream, as it does not buffer.
    raw_stream = getattr(stream.buffer, "raw", stream.buffer)
    if type(raw_stream) is not io.FileIO:  # a Windows console
        return stream
    stream.flush()
    buffer = io.BufferedWriter(_Printed(raw_stream.fileno(), closefd=False))
    return io.TextIOWrapper(buffer, stream.encoding, line_buffering=bool(stream.line_buffering))


class _Printed(WholeWriter):
    """A stream for standard output or standard error.

    Writing to a closed pipe raises no error. Any other failure to write raises an error only once.
    """

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # Otherwise Python writes again at exit, and ends with another exit code.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                return memoryview(data).nbytes
            raise


def goes_to_log() -> bool:
    """Return whether standard output is something other than a regular file.

    It can be a terminal, a pipe or a device, or it may be closed.
    """
    try:
        return not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def write_result(text: str) -> None:
    """Write results to standard output.

    Raises:
        OSError: the results cannot be written. A closed pipe raises no error.
    """
    _write(sys.stdout, text)


def terminal_columns() -> int:
    """Return the width of the terminal in columns, even if standard output is a pipe.

    Return 80 if there is no terminal.
    """
    if not os.environ.get("COLUMNS", "").isdecimal():
        for stream in filter(None, (sys.__stdout__, sys.__stderr__, sys.__stdin__)):
            with suppress(OSError, ValueError):  # no terminal, or a closed stream
                if columns := os.get_terminal_size(stream.fileno()).columns:
                    return columns
    return shutil.get_terminal_size().columns


def warn(text: str) -> None:
    """Print one line on standard error. Control characters in it are made visible.

    On a terminal, long lines are wrapped between words, but never inside a command that users copy.
    """
    line = visible(hide_secrets(text))
    if sys.stderr.isatty():
        line = _COMMAND.sub(lambda command: command[0].replace(" ", _HELD), line)
        width, indent = terminal_columns(), INDENT * (2 if line[0] == " " else 1)
        options: Any = {"subsequent_indent": indent, "break_on_hyphens": False}
        line = fill(line, width, **options, break_long_words=False).replace(_HELD, " ")
    _write(sys.stderr, f"{line}\n")


def show_problems(problems: Iterable[Problem], severity: str = "error") -> None:
    """Print problems to standard error, one per line."""
    for problem in problems:
        warn(f"{severity}: {problem}")


def shell_command(words: Iterable[str]) -> str:
    """Return a command line, quoted for a shell. Passwords and tokens in URLs are removed."""
    return shlex.join(shown_url(word) if is_url(word) else hide_secrets(word) for word in words)


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()
