"""The page about the code: the names on it exist, and its statements about sizes are true."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import stickler_cli

ROOT = Path(stickler_cli.__file__).parent
PAGE = (ROOT.parent / "docs/architecture.md").read_text(encoding="utf-8")
MODULES = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
NAMES = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def classes() -> dict[str, set[str]]:
    """Return the methods and attributes of each class of the package, by name of the class."""
    methods_by_class: dict[str, set[str]] = {}
    for module in MODULES:
        for node in tree_of(module).body:
            if isinstance(node, ast.ClassDef):
                names = {
                    statement.name
                    for statement in node.body
                    if isinstance(statement, ast.FunctionDef)
                }
                names |= {
                    statement.target.id
                    for statement in node.body
                    if isinstance(statement, ast.AnnAssign)
                    and isinstance(statement.target, ast.Name)
                }
                methods_by_class.setdefault(node.name, set()).update(names)
    return methods_by_class


def names_in(stem: str) -> set[str]:
    """Return the functions and classes of all modules whose file has this name."""
    return {
        node.name
        for module in MODULES
        if Path(module).stem == stem
        for node in tree_of(module).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def is_there(name: str) -> bool:
    """Return whether the package has a module, directory, class, or member of this name."""
    if name.endswith((".py", ".js")):
        if "/" in name:
            return (ROOT / name).exists() or (ROOT.parent / name).exists()
        return any(True for _ in ROOT.rglob(name))
    if name.endswith("/"):
        return (ROOT / name).is_dir() or (ROOT.parent / name).is_dir()
    *owner, last_name = name.split(".")
    if owner and owner[-1][0].isupper():
        return last_name in classes()[owner[-1]]
    if owner:
        return last_name in names_in(owner[-1]) or f"{owner[-1]}/{last_name}.py" in MODULES
    return last_name in classes()


NAMES_OF_OURS = [
    name
    for name in NAMES
    if re.fullmatch(r"[\w/]+\.(py|js)|\w+/|[A-Z]\w*[a-z]\w*(\.\w+)?|(\w+\.)+\w+", name)
    and name not in {"http.server", "concurrent.futures", "pyproject.toml", "options.purpose"}
]


@pytest.mark.slow
def test_what_the_page_names_is_there():
    assert [name for name in NAMES_OF_OURS if not is_there(name)] == []


@pytest.mark.slow
def test_names_that_are_gone_are_seen():
    assert len(NAMES_OF_OURS) > 45
    gone = ["score/gone.py", "nowhere.py", "Gone", "Evaluation.gone", "pipeline.gone", "nothing/"]
    assert [name for name in gone if is_there(name)] == []


def test_the_table_has_all_rooms():
    rooms = {module.split("/")[0] for module in MODULES if "/" in module}
    assert set(re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE)) == rooms


DEPARTING = {
    "core/caching.py": "one decorator, which comparators and score share",
    "core/real_paths.py": "paths as the system takes them, which all rooms that open files share",
    "studies/registry.py": "what help loads of studies",
}
"""Modules of fewer than 40 or more than 700 lines, with the reason. Adapters of frameworks are not
listed; they are short."""


@pytest.mark.slow
def test_modules_have_40_to_700_lines_or_a_reason():
    lengths = {
        module: len(path.read_text(encoding="utf-8").splitlines())
        for module, path in MODULES.items()
        if path.name != "__init__.py" and not module.startswith("integrations/")
    }
    assert {module for module, length in lengths.items() if not 40 <= length <= 700} == {*DEPARTING}


@pytest.mark.slow
def test_functions_have_at_most_60_lines_besides_their_docstring():
    long = {
        (module, node.name)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.end_lineno - node.lineno - (ast.get_docstring(node) or "").count("\n") > 60
    }
    assert long == set()
