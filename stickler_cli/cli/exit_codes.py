"""What the exit code says. Python's own code for a crash is 1, so nothing else may end with it."""

from enum import IntEnum
from textwrap import fill
from typing import Final


class ExitCode(IntEnum):
    """The exit codes of every command."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    INTERNAL = 4
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS: Final = {
    ExitCode.OK: "fine",
    ExitCode.GATE_FAILED: "a gate failed, and nothing else",
    ExitCode.USAGE: "a usage, schema, configuration or path error",
    ExitCode.INCOMPLETE: "some documents could not be evaluated, or none was, or runs do not go "
    "together (wins over 1)",
    ExitCode.INTERNAL: "an internal error, or results could not be written",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C)",
    ExitCode.TERMINATED: "terminated (SIGTERM)",
}
"""In words, for help and docs."""


def exit_code_help() -> str:
    """Return the table for `--help`."""
    rows = (
        fill(meaning, 76, initial_indent=f"{code.value:>4}  ", subsequent_indent=" " * 6)
        for code, meaning in MEANINGS.items()
    )
    # Click keeps the lines of a paragraph that begins with a backspace as they are.
    return "\b\nExit codes:\n" + "\n".join(rows)
