"""The program `stickler`: all of its commands, and the one place where errors are reported."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Final, NoReturn

import typer
from typer.main import get_command

from stickler_cli import __version__
from stickler_cli.core.problems import (
    ComparisonError,
    NotComparableError,
    Problem,
    SticklerError,
    UsageError,
    WorkerDiedError,
    WorkLimitError,
)
from stickler_cli.core.real_paths import can_be_path
from stickler_cli.core.remote import remember_secrets
from stickler_cli.runs.process import Interrupted, room_for_depth
from .command import add_command, list_command, new_app
from .commands import OWN, commands, groups
from .console import (
    MEANINGS,
    ExitCode,
    prepare_streams,
    show_problems,
    terminal_columns,
    warn,
    write_result,
)

DEBUG_OPTION: Final = "--debug"
# Maximum number of problems of one error that are printed: a file may be wrong in each line.
MOST_SHOWN: Final = 10
COMPLETING: Final = "_STICKLER_COMPLETE"
"""Environment variable that a shell sets when it asks the program to complete a command line."""

# Errors that are not caused by the command line.
_CODES: Final[dict[type[SticklerError], ExitCode]] = {
    NotComparableError: ExitCode.INCOMPLETE,
    ComparisonError: ExitCode.INCOMPLETE,
    WorkLimitError: ExitCode.INCOMPLETE,
    WorkerDiedError: ExitCode.INTERNAL,
}


def _version(is_requested: bool) -> None:
    if is_requested:
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
    """Run the command named in the arguments; return its exit code.

    It never raises an exception.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    prepare_streams()
    remember_secrets(arguments, only=True)
    _handle_signals()
    try:
        _check_characters(arguments)
        with room_for_depth():
            _build_command(arguments)(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a traceback would end with code 1, "a gate failed"
        try:
            return _report_error(error, debug=DEBUG_OPTION in arguments)
        except Exception:  # noqa: BLE001 - standard error is full, or there is no memory for words
            with suppress(OSError):
                os.write(2, b"error: too little memory, or no room for messages\n")
            return ExitCode.INTERNAL
    return ExitCode.OK


def _check_characters(arguments: Sequence[str]) -> None:
    """Raise UsageError if an argument has characters that no path can have."""
    if not all(map(can_be_path, arguments)):
        finding = "a command-line argument contains a NUL character or a lone surrogate"
        raise UsageError([Problem("", finding, "an argument that can be used as a path")])


def _build_command(arguments: Sequence[str]) -> Callable[[Sequence[str]], object]:
    """Return a function that runs the program for a list of arguments.

    To save time, the function knows only the command that `arguments` name. If they name none, as
    for help, it knows all commands.
    """
    command_name = next((argument for argument in arguments if not argument.startswith("-")), "")
    if command_name in OWN and COMPLETING not in os.environ:
        return _build_own_command(command_name, terminal_columns())
    return get_command(_build_app(command_name, terminal_columns()))


@cache  # a program that calls `main` for many runs reads the options of a command once
def _build_own_command(command_name: str, columns: int) -> Callable[[Sequence[str]], object]:
    return get_command(_build_app(command_name, columns))


def _build_app(command_name: str, columns: int) -> typer.Typer:
    """Return a typer app with one command.

    If no command has this name, the app has all commands.
    """
    available = OWN if command_name in OWN else commands()
    command_groups = {} if command_name in available else groups()
    app = new_app(
        columns, MEANINGS, command_groups, name="stickler", pretty_exceptions_enable=False
    )
    app.callback()(_stickler)
    if command_name in available:
        available = {command_name: available[command_name]}
    # Reading the options of all commands takes time, and the list of commands shows none.
    add = add_command if command_name in available or COMPLETING in os.environ else list_command
    for name, command in available.items():
        add(app, name, command)
    return app


def _report_error(error: Exception, *, debug: bool) -> ExitCode:
    """Report an error on standard error, and return its exit code."""
    code = ExitCode.INTERNAL
    match error:
        case SticklerError():
            show_problems(error.problems[:MOST_SHOWN])
            if len(error.problems) > MOST_SHOWN:
                warn(f"and {len(error.problems) - MOST_SHOWN} more")
            code = _CODES.get(type(error), ExitCode.USAGE)
        case FileNotFoundError(filename=None):  # os.getcwd names no file in its error
            warn("error: the working directory has been deleted; change to a directory that exists")
            code = ExitCode.USAGE
        case OSError():
            where = f" to {error.filename}" if error.filename else ""
            warn(f"error: the results could not be written{where}: {error.strerror or error}")
        case MemoryError():
            warn(f"error: {str(error) or 'there is too little memory'}")
        case _:
            where = f"{DEBUG_OPTION} shows the traceback"
            warn(f"error: internal error ({type(error).__name__}: {error}); {where}")
    if debug:
        for line in traceback.format_exc().splitlines():
            warn(line)
    return code


def _handle_signals() -> None:
    """Make SIGTERM and Ctrl-C raise an exception, so that open files are cleaned up.

    Ctrl-C raises a subclass of KeyboardInterrupt. If a plain KeyboardInterrupt passed through
    generated code, such as methods of dataclasses, CPython later ends the process with the
    signal and not with the exit code.
    """

    def interrupt(*signaled: object) -> NoReturn:
        raise Interrupted

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *signaled: sys.exit(ExitCode.TERMINATED))
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # unless it is ignored
            signal.signal(signal.SIGINT, interrupt)
