"""Write the pages of the reference that say what the code says: `python docs/reference.py`.

A test holds what is written against the code, so that no option is without its row.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from stickler_cli.core.option import Option, options_of
from stickler_cli.settings import COMMANDS

PAGES = Path(__file__).parent
WIDTH = "80"


def commands() -> Iterator[str]:
    """Return the lines of the page of commands: the help of each."""
    yield "# Commands"
    yield ""
    yield "What `--help` prints. [Configuration](configuration.md) has what a file can set."
    for name in ("", *COMMANDS):
        yield ""
        yield f"## stickler {name}".rstrip()
        yield ""
        yield "```text"
        yield _help(name)
        yield "```"


def _help(command: str) -> str:
    result = subprocess.run(  # noqa: S603 - this project's own command
        [sys.executable, "-m", "stickler_cli", *command.split(), "--help"],
        env={**os.environ, "COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.rstrip().replace("python -m stickler_cli", "stickler")


def configuration() -> Iterator[str]:
    """Return the lines of the page of the configuration file: a row for each option."""
    yield "# Configuration"
    yield ""
    yield "All commands read `stickler.toml`, or the table `[tool.stickler]` of a `pyproject.toml`,"
    yield "from the nearest folder upwards; `--config FILE` names another, `--no-config` none."
    yield "The command line wins. Paths are relative to the file."
    yield ""
    yield "| key | commands | values | default | what it does |"
    yield "|---|---|---|---|---|"
    for option, names in _in_files().values():
        said = option
        default = said.shown or ("" if option.default in (None, ()) else str(option.default))
        default = f"`{default.lower() if isinstance(option.default, bool) else default}`"
        cells = [
            f"`{option.name}`",
            ", ".join(names),
            option.values.expected,
            "" if default == "``" else default,
            said.help,
        ]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _in_files() -> dict[str, tuple[Option, list[str]]]:
    found: dict[str, tuple[Option, list[str]]] = {}
    for command, settings in COMMANDS.items():
        for name, option in options_of(settings).items():
            where = option.in_file
            if where == "all" or (where == "eval" and command == "eval"):
                found.setdefault(name, (option, []))[1].append(command)
    return found


GENERATED = {"commands.md": commands, "configuration.md": configuration}


def main() -> None:
    """Write the pages."""
    for name, lines in GENERATED.items():
        (PAGES / name).write_text("\n".join(lines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
