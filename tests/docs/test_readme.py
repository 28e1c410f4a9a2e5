"""README and docs are true: commands print the output that the pages show."""

import doctest
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.schema.compiler import compile_schema

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (PROJECT / "docs" / "tutorial.md").read_text(encoding="utf-8")
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
(FIRST_SCHEMA,) = re.findall(r"```json\n(.*?)```", TUTORIAL, flags=re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Return each command that a page shows, with the output that the page shows."""
    shown_commands = []
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for block in blocks:
        for command_text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = command_text.partition("\n")
            shown_commands.append((command, output.strip("\n")))
    return shown_commands


@pytest.fixture(scope="module")
def run_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two run files of the receipts, base.json and new.json."""
    folder = tmp_path_factory.mktemp("runs")
    receipts = PROJECT / "fixtures" / "receipt"
    for name, pred in (("base", "pred"), ("new", "pred-next")):
        sources = [PROJECT / "schemas" / "receipt.json", receipts / "gt", receipts / pred]
        assert main(["eval", *map(str, sources), "-q", "-o", str(folder / f"{name}.json")]) == 0
    return folder


@pytest.fixture
def a_place(tmp_path: Path, run_files: Path) -> Path:
    """A directory with all files that the pages mention."""
    for name in ("schemas", "fixtures"):
        (tmp_path / name).symlink_to(PROJECT / name)
    receipts = PROJECT / "fixtures" / "receipt"
    links = {"schema.json": PROJECT / "schemas" / "receipt.json", "gt": receipts / "gt"}
    links |= dict.fromkeys(
        ("pred", "pred-old", "pred-a", *map("pred-a{}".format, "123")), receipts / "pred"
    )
    links |= dict.fromkeys(
        ("pred-new", "pred-b", *map("pred-b{}".format, "123")), receipts / "pred-next"
    )
    links |= dict.fromkeys(("base.json", *map("a{}.json".format, "123")), run_files / "base.json")
    links |= dict.fromkeys(("new.json", *map("b{}.json".format, "123")), run_files / "new.json")
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "first.json").write_text(FIRST_SCHEMA, "utf-8")
    return tmp_path


def test_no_console_block_but_the_set_up_is_without_a_prompt():
    blocks = [
        block
        for page in PAGES
        for block in re.findall(r"```console\n(.*)", page.read_text(encoding="utf-8"))
    ]
    without = [first for first in blocks if not first.startswith("$ ")]
    assert without == [
        "python3 -m venv .venv && .venv/bin/pip install -q . &&",
        'python3 -m venv .venv && .venv/bin/pip install -q -e ".[dev]" &&',
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem
)
def test_the_commands_of_a_page_print_what_it_shows(page, a_place, monkeypatch):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.chdir(a_place)
    monkeypatch.setenv("PATH", path)
    for number, (command, output) in enumerate(commands(page)):
        if ".parquet" in command:
            pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no Parquet")
        is_first_of_all = page.name == "README.md" and number == 0
        code, found = run_in_shell(command) if is_first_of_all else run_fast(command)
        if output:
            assert found.strip("\n") == output, command
        else:
            assert code in (0, 1), found


def run_in_shell(command, printed=None):
    """Run a command in a shell; return its exit code and everything that it prints."""
    result = subprocess.run(
        ["bash", "-c", command],
        input=printed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout


def run_fast(command):
    """Run a command as a shell does, but in this process if it is of this project.

    Only what other commands do with its output (after `|`) is then left to a shell.
    """
    own_command, _, others = command.partition(" | ")
    is_plain = not set("|&;<>$") & set(re.sub("'[^']*'", "", own_command))
    if not is_plain or not own_command.startswith("stickler ") or set("&;") & set(others):
        return run_in_shell(command)
    with io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) as terminal:
        pipe = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with redirect_stdout(pipe if others else terminal), redirect_stderr(terminal):
            code = main(shlex.split(own_command)[1:])
        found, piped = terminal.buffer.getvalue().decode(), pipe.buffer.getvalue().decode()
    if others:
        code, filtered = run_in_shell(others, piped)
        found += filtered
    return code, found


def test_the_schema_shown_is_one_that_compiles():
    (text,) = re.findall(r"```json\n(.*?)```", README, flags=re.DOTALL)
    compile_schema(json.loads(text))


def test_the_set_up_commands_are_those_that_the_gate_runs():
    gate = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
    assert '-e ".[dev]"' in README
    assert '-e ".[dev]"' in gate
    assert "-m pytest" in README
    assert "-m pytest" in gate


def test_the_python_example_gives_what_it_shows():
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(example, {}, "README", "README.md", 0)
    assert doctest.DocTestRunner(verbose=False).run(parsed).failed == 0


def test_every_page_linked_to_is_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (PROJECT / target).exists(), target


_spec = importlib.util.spec_from_file_location(
    "absolute_links", PROJECT / ".ci" / "absolute_links.py"
)
absolute_links = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(absolute_links)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a\nb](docs/a.md#c)", "[a\nb](https://x.org/y/blob/v1/docs/a.md#c)"),
        ("![a](docs/a.png)", "![a](https://x.org/y/raw/v1/docs/a.png)"),
        ('<img src="docs/a.svg">', '<img src="https://x.org/y/raw/v1/docs/a.svg">'),
        ("[a](https://z.org/a.md)", "[a](https://z.org/a.md)"),
        ("[a](#b)", "[a](#b)"),
    ],
)
def test_a_release_makes_relative_links_absolute(text, expected):
    assert absolute_links.make_links_absolute(text, "https://x.org/y/", "v1") == expected


def test_a_release_leaves_no_relative_link_in_readme():
    text = absolute_links.make_links_absolute(README, "https://x.org/y", "v1")

    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
