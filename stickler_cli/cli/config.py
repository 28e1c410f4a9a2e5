"""The configuration file: options of all commands, found upwards from where one is called.

`stickler.toml`, else `[tool.stickler]` in a `pyproject.toml`. The command line wins.
"""

import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from stickler_cli.core.json_values import brief
from stickler_cli.core.option import NotTakenError, options_of
from stickler_cli.core.problems import Problem, UsageError, did_you_mean, nearest_choices
from stickler_cli.core.remote import is_url, read_named, shown_url
from stickler_cli.documents.reading import MAX_DOCUMENT_BYTES, STANDARD_INPUT
from .commands import OWN_FILE, settings_of_commands
from .console import warn

SHARED_FILE: Final = "pyproject.toml"


def read_config(named: str | None, command: str) -> tuple[dict[str, Any], str]:
    """Read all options of a configuration file; return those for one command, and its name.

    Raises:
        UsageError: the file cannot be read, or holds something that is no option of any command.
    """
    if named and is_url(named):
        finding = f"{shown_url(named)} is a URL; options are read from files here"
        raise UsageError([Problem("--config", finding, "a file")])
    file = Path(named) if named else _nearest(Path.cwd())
    if file is not None and not named and not _is_ours(file):
        whose = "may be written by others" if _others_write(file) else "belongs to another user"
        warn(f"warning: {file} {whose} and was not read; --config reads it")
        file = None
    if file is None:
        return {}, ""
    of_commands = settings_of_commands()
    own = options_of(of_commands[command])
    known = {  # what a file may set; of two that have an option, this command goes first
        name: option
        for settings in (*reversed(of_commands.values()), of_commands[command])
        for name, option in options_of(settings).items()
        if option.in_file != "none"
    }
    problems = []
    values: dict[str, Any] = {}
    for key, value in _table(file).items():
        name = key.replace("-", "_")
        if name not in known:
            near = nearest_choices(name, known, 3, at_least=0.5)
            expected = f"an option, such as {', '.join(near)}" if near else "an option of a command"
            hint = did_you_mean(name, known)
            problems.append(Problem(str(file), f"there is no option {key}", expected, hint))
            continue
        try:
            known[name].read(value)
        except NotTakenError as error:
            problems.append(known[name].problem(str(file), f"{key} is {brief(value)}", error))
        if name in own and own[name].in_file in {"all", command}:
            relative = own[name].is_path and value != STANDARD_INPUT
            values[name] = _resolved(value, file.parent) if relative else value
    if problems:
        raise UsageError(problems)
    return values, str(file)


def _resolved(value: object, folder: Path) -> object:
    if isinstance(value, list):
        return [_resolved(part, folder) for part in value]
    text = str(value)
    return text if is_url(text) else str(folder / text)


def _nearest(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / OWN_FILE).is_file():
            return folder / OWN_FILE
        shared = folder / SHARED_FILE
        if shared.is_file() and _has_table(shared):
            return shared
    return None


def _has_table(shared: Path) -> bool:
    if _is_ours(shared):
        return "stickler" in _toml(shared).get("tool", {})
    try:
        return b"tool.stickler" in shared.read_bytes()  # another's may be no TOML, and end no run
    except OSError:
        return False


def _is_ours(file: Path) -> bool:
    """Return whether a file belongs to who runs this, also by sudo; as git asks of a repository.

    In a directory that all may write to, such as /tmp, anybody could say what options are; and in a
    file that all may write to, or a group that is not the user's own.
    """
    if sys.platform == "win32":
        return True
    if _others_write(file):
        return False
    stated = file.stat()
    owners = {stated.st_uid, file.lstat().st_uid}  # of a link, both ends
    if stated.st_nlink > 1:  # who has the directory may have made a link to a file of the user
        owners.add(file.parent.stat().st_uid)
    user = os.geteuid()
    users = {str(user), os.environ.get("SUDO_UID") if user == 0 else None}
    return all(str(owner) in users for owner in owners)


def _others_write(file: Path) -> bool:
    said = file.stat()
    by_group = said.st_gid != os.getegid() and said.st_mode & stat.S_IWGRP
    return bool(said.st_mode & stat.S_IWOTH or by_group)


def _table(file: Path) -> dict[str, Any]:
    table = _toml(file)
    if file.name == SHARED_FILE:
        table = table.get("tool", {}).get("stickler")
    elif "tool" in table:
        hint = f"leave out the header [tool.stickler]: it is for {SHARED_FILE}"
        raise UsageError([Problem(str(file), "there is a table [tool]", "options alone", hint)])
    if not isinstance(table, dict):
        raise UsageError([Problem(str(file), "there is no [tool.stickler] table", "one")])
    return table


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_named(str(file), MAX_DOCUMENT_BYTES).decode())
    except OSError as error:
        raise UsageError([Problem(str(file), f"it cannot be read ({error.strerror})")]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError([Problem(str(file), f"it is not TOML ({error})")]) from None
