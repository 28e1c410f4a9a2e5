"""The configuration file: options for `stickler eval`, found upwards from where it is called.

`stickler.toml`, else `[tool.stickler]` in a `pyproject.toml`. The command line wins.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Final

from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.spelling import did_you_mean

OWN_FILE: Final = "stickler.toml"
SHARED_FILE: Final = "pyproject.toml"
PATHS: Final = frozenset({"by_file", "output", "non_matches", "documents", "run_dir"})
"""Options that name files; in a file they are relative to that file."""


def read_config(named: str | None, kinds: Mapping[str, type | UnionType]) -> dict[str, Any]:
    """Read the options of a configuration file, by parameter name.

    Args:
        named: the file as the user names it; None searches upwards from the current directory.
        kinds: the type of each option that may stand in a file: bool, int, float, str, list, or a
            union of those.

    Raises:
        UsageError: the file cannot be read, or holds something that is no such option.
    """
    found = Path(named) if named else _search(Path.cwd())
    if found is None:
        return {}
    table = _table(found)
    if found.name != SHARED_FILE and "tool" in table:
        hint = f"leave out the header [tool.stickler]: it is for {SHARED_FILE}"
        raise UsageError([Problem(str(found), "there is a table [tool]", "options alone", hint)])
    problems = []
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in kinds:
            expected = f"one of {', '.join(sorted(kinds))}"
            hint = did_you_mean(name, kinds)
            problems.append(Problem(str(found), f"there is no option {key}", expected, hint))
        elif not _fits(value, kinds[name]):
            expected = _NAMES[kinds[name]]
            problems.append(Problem(str(found), f"{key} is {brief(value)}", expected))
        else:
            options[name] = _resolved(name, value, found.parent)
    if problems:
        raise UsageError(problems)
    return options


_NAMES: Final[dict[type | UnionType, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list of strings",
    int | str: "a whole number or a string",
    float | str: "a number or a string",
}


def _fits(value: object, kind: type | UnionType) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is float:
        return isinstance(value, int | float)
    if kind is list:
        return isinstance(value, list) and all(isinstance(part, str) for part in value)
    return isinstance(value, kind)


def _resolved(name: str, value: object, folder: Path) -> object:
    if name not in PATHS:
        return value
    if isinstance(value, list):
        return [str(folder / part) for part in value]
    return str(folder / str(value))


def _search(start: Path) -> Path | None:
    """Find the nearest configuration file; the own file goes before the shared one."""
    for folder in (start, *start.parents):
        if (folder / OWN_FILE).is_file():
            return folder / OWN_FILE
        shared = folder / SHARED_FILE
        if shared.is_file() and "stickler" in _toml(shared).get("tool", {}):
            return shared
    return None


def _table(file: Path) -> dict[str, Any]:
    """Give the table of options in a file."""
    content = _toml(file)
    table = content.get("tool", {}).get("stickler") if file.name == SHARED_FILE else content
    if not isinstance(table, dict):
        raise UsageError([Problem(str(file), "there is no [tool.stickler] table", "one")])
    return table


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError([Problem(str(file), f"it cannot be read ({error.strerror})")]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError([Problem(str(file), f"it is not TOML ({error})")]) from None
