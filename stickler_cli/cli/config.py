"""The configuration file, which has options of all commands.

It is `stickler.toml`, or the table `[tool.stickler]` of a `pyproject.toml`. It is searched for in
the working directory and then in its parents. Options on the command line take precedence.
"""

import os
import stat
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from stickler_cli.core.json_values import brief
from stickler_cli.core.option import NotTakenError, options_of
from stickler_cli.core.problems import Problem, UsageError, did_you_mean, nearest_choices
from stickler_cli.core.real_paths import can_be_path
from stickler_cli.core.remote import is_url, read_file_or_url, remember_secrets, shown_url
from stickler_cli.documents.reading import MAX_DOCUMENT_BYTES, STANDARD_INPUT
from .commands import OWN_FILE, settings_of_commands
from .console import warn

SHARED_FILE: Final = "pyproject.toml"


def read_config(named: str | None, command: str) -> tuple[dict[str, Any], str]:
    """Read a configuration file; return (options for the running command, name of the file).

    `named` is the file that the user names; None searches for the nearest one.

    Raises:
        UsageError: the file cannot be read, or has a key that is not an option of any command.
    """
    if named and is_url(named):
        finding = f"{shown_url(named)} is a URL, but options are only read from local files"
        raise UsageError([Problem("--config", finding, "a file")])
    file = Path(named) if named else _find_config_file(Path.cwd())
    if file is not None and not named and not _is_ours(file):
        whose = (
            "can be changed by other users" if _others_write(file) else "belongs to another user"
        )
        warn(
            f"warning: the configuration file {file} {whose}, so it was not read; use "
            "--config to read it"
        )
        file = None
    if file is None:
        return {}, ""
    settings_by_command = settings_of_commands()
    command_options = options_of(settings_by_command[command])
    allowed = {  # options for all commands; those of this command override them
        name: option
        for settings in (*reversed(settings_by_command.values()), settings_by_command[command])
        for name, option in options_of(settings).items()
        if option.in_file != "none"
    }
    problems = []
    values: dict[str, Any] = {}
    for key, value in _read_options(file).items():
        name = key.replace("-", "_")
        remember_secrets(map(str, value if isinstance(value, list) else [value]))
        if name not in allowed:
            problems.append(_describe_unknown_key(str(file), key, value, allowed))
            continue
        try:
            allowed[name].convert(value)
        except NotTakenError as error:
            problems.append(
                allowed[name].problem(str(file), f"the option {key} is {brief(value)}", error)
            )
        paths = value if isinstance(value, list) else [value]
        if allowed[name].is_path and not all(can_be_path(str(path)) for path in paths):
            finding = f"the value of the option {key} contains a NUL character"
            problems.append(Problem(str(file), finding, "a path"))
        if name in command_options and command_options[name].in_file in {"all", command}:
            is_relative = command_options[name].is_path and value != STANDARD_INPUT
            values[name] = _resolve_paths(value, file.parent) if is_relative else value
    if problems:
        raise UsageError(problems)
    return values, str(file)


def _describe_unknown_key(
    source: str, key: str, value: object, allowed: Collection[str]
) -> Problem:
    """Return the problem of a key that is not an option.

    If the value of the key is a table, the problem advises the user to remove the table's header.
    """
    if isinstance(value, dict):
        hint = f"remove the header [{key}]: options apply to every command that has them"
        return Problem(source, f"there is a table [{key}]", "only options", hint)
    name = key.replace("-", "_")
    near_names = nearest_choices(name, allowed, 3, at_least=0.5)
    expected = (
        (f"an option, such as {', '.join(near_names)}") if near_names else "an option of a command"
    )
    return Problem(source, f"unknown option {brief(key)}", expected, did_you_mean(name, allowed))


def _resolve_paths(value: object, folder: Path) -> object:
    if isinstance(value, list):
        return [_resolve_paths(entry, folder) for entry in value]
    text = str(value)
    return text if is_url(text) else str(folder / text)


def _find_config_file(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / OWN_FILE).is_file():
            return folder / OWN_FILE
        shared = folder / SHARED_FILE
        if shared.is_file() and _has_table(shared):
            return shared
    return None


def _has_table(shared: Path) -> bool:
    if _is_ours(shared):
        return "stickler" in _read_toml(shared).get("tool", {})
    try:
        return (
            b"tool.stickler" in shared.read_bytes()
        )  # a file of another user may be anything, and must not end the run
    except OSError:
        return False


def _is_ours(file: Path) -> bool:
    """Return whether a configuration file belongs to the user, so that it can be trusted.

    Another user could set options in a directory like /tmp, or in a file that others can write to.
    With sudo, files of the user who called sudo are trusted, too. git makes the same check.
    """
    if sys.platform == "win32":
        return True
    if _others_write(file):
        return False
    stated = file.stat()
    owners = {stated.st_uid, file.lstat().st_uid}  # for a link, check link and target
    if stated.st_nlink > 1:  # the owner of the directory may have made a link to a file of the user
        owners.add(file.parent.stat().st_uid)
    user = os.geteuid()
    users = {str(user), os.environ.get("SUDO_UID") if user == 0 else None}
    return all(str(owner) in users for owner in owners)


def _others_write(file: Path) -> bool:
    status = file.stat()
    by_group = status.st_gid != os.getegid() and status.st_mode & stat.S_IWGRP
    return bool(status.st_mode & stat.S_IWOTH or by_group)


def _read_options(file: Path) -> dict[str, Any]:
    table = _read_toml(file)
    if file.name == SHARED_FILE:
        table = table.get("tool", {}).get("stickler")
    elif "tool" in table:
        hint = (
            "remove the header of the table; a header such as [tool.stickler] belongs only in "
            f"{SHARED_FILE}"
        )
        raise UsageError(
            [
                Problem(
                    source=str(file),
                    found="there is a table [tool]",
                    expected="only options",
                    hint=hint,
                )
            ]
        )
    if not isinstance(table, dict):
        raise UsageError([Problem(str(file), "the file has no table [tool.stickler]")])
    return table


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_file_or_url(str(file), MAX_DOCUMENT_BYTES).decode())
    except OSError as error:
        raise UsageError(
            [Problem(str(file), f"the file cannot be read ({error.strerror})")]
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError([Problem(str(file), f"the file is not valid TOML ({error})")]) from None
