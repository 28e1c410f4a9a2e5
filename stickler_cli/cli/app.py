"""The command `stickler`: its commands, and the one place where errors end."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Final, NoReturn

import typer

from stickler_cli import __version__
from stickler_cli.core.problems import (
    ComparisonError,
    NotComparableError,
    SticklerError,
    WorkerDiedError,
    WorkLimitError,
)
from stickler_cli.runs.process import Interrupted, room_for_depth
from .command import add_command, list_command, new_app
from .commands import OWN, commands, groups
from .console import MEANINGS, ExitCode, prepare_streams, show_problems, warn, write_result

DEBUG_OPTION: Final = "--debug"
MOST_SHOWN: Final = 10  # problems of one error: a file may be wrong in each line
COMPLETING: Final = "_STICKLER_COMPLETE"
"""Set in the environment by a shell that completes a command line, whose words are there too."""

# Of errors that are not for the user's command line to mend.
_CODES: Final[dict[type[SticklerError], ExitCode]] = {
    NotComparableError: ExitCode.INCOMPLETE,
    ComparisonError: ExitCode.INCOMPLETE,
    WorkLimitError: ExitCode.INCOMPLETE,
    WorkerDiedError: ExitCode.INTERNAL,
}


def _version(asked: bool) -> None:
    if asked:
        write_result(f"stickler {__version__}\n")
        raise typer.Exit


def _stickler(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Evaluate extracted JSON documents against ground truth, field by field."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; nothing is raised past this line."""
    arguments = list(sys.argv[1:] if args is None else args)
    prepare_streams()
    _answer_signals()
    try:
        with room_for_depth():
            _app(arguments)(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a traceback would end with code 1, "a gate failed"
        try:
            return _tell(error, debug=DEBUG_OPTION in arguments)
        except Exception:  # noqa: BLE001 - standard error is full, or there is no memory for words
            with suppress(OSError):
                os.write(2, b"error: too little memory, or no room for messages\n")
            return ExitCode.INTERNAL
    return ExitCode.OK


def _app(arguments: Sequence[str]) -> typer.Typer:
    """Return the app with the command that is named; with all of them, where none is."""
    named = next((each for each in arguments if not each.startswith("-")), "")
    known = OWN if named in OWN else commands()
    listed = {} if named in known else groups()
    app = new_app(MEANINGS, listed, name="stickler", pretty_exceptions_enable=False)
    app.callback()(_stickler)
    if named in known:
        known = {named: known[named]}
    # To read the options of all takes its time, and help lists none of them.
    add = add_command if named in known or COMPLETING in os.environ else list_command
    for name, command in known.items():
        add(app, name, command)
    return app


def _tell(error: Exception, *, debug: bool) -> ExitCode:
    """Report an error on standard error, and return its exit code."""
    code = ExitCode.INTERNAL
    match error:
        case SticklerError():
            show_problems(error.problems[:MOST_SHOWN])
            if len(error.problems) > MOST_SHOWN:
                warn(f"and {len(error.problems) - MOST_SHOWN} more")
            code = _CODES.get(type(error), ExitCode.USAGE)
        case FileNotFoundError(filename=None):  # of no file, so of os.getcwd
            warn("error: the working directory has been deleted; change to one that is there")
            code = ExitCode.USAGE
        case OSError():
            where = f" to {error.filename}" if error.filename else ""
            warn(f"error: the results could not be written{where} ({error.strerror or error})")
        case MemoryError():
            warn(f"error: {str(error) or 'there is too little memory'}")
        case _:
            where = f"{DEBUG_OPTION} shows where"
            warn(f"error: internal error ({type(error).__name__}: {error}); {where}")
    if debug:
        for line in traceback.format_exc().splitlines():
            warn(line)
    return code


def _answer_signals() -> None:
    """Let a polite kill run the clean-up of open files, as an interrupt does.

    An interrupt is given a class of its own, for CPython remembers a bare KeyboardInterrupt that
    went through code made from text, as that of dataclasses is, and whatever became of it ends
    the process by that signal instead of an exit code.
    """

    def interrupt(*signaled: object) -> NoReturn:
        raise Interrupted

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *signaled: sys.exit(ExitCode.TERMINATED))
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
            signal.signal(signal.SIGINT, interrupt)
