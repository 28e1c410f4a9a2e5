"""Commands in unusual environments: closed or full streams, odd variables, odd file names."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from .forks import Fork
from .test_faults import PATIENCE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has /dev/full"),  # noqa: PTH110
]

COMMANDS = {
    "eval": "eval gt pred",
    "errors": "errors gt pred",
    "compare": "compare gt pred --document 1",
    "report": "report night",
    "diff": "diff night run.json",
    "lint": "lint gt",
    "init": "init gt",
    "tune": "tune gt pred",
}
STREAMS = {
    ">&-": {4},
    ">/dev/full": {4},
    ">/dev/full 2>&1": {4},
    "2>&-": {0, 1},
    "2>/dev/full": {0, 1, 4},  # 4 if a message is lost
    ">&- 2>&- <&-": {4},
}
ENVIRONMENTS = {
    "no home": {"HOME": "/nonexistent", "XDG_CACHE_HOME": "", "STICKLER_CACHE_DIR": ""},
    "no temporary directory": {"TMPDIR": "/nonexistent"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii:strict"},
    "one column": {"COLUMNS": "1", "FORCE_COLOR": "1"},
    "unknown time zone": {"TZ": "Nonsense/Nowhere"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a finished run, and documents whose names and values are hard to print."""
    folder = tmp_path_factory.mktemp("odd")
    names = ["1", "a\nb", "-dash", "\u202eé", "::error::x", "*?[x]", os.fsdecode(b"\xff")]
    for side in ("gt", "pred"):
        (folder / side).mkdir()
        for name in names:
            value = {"a": f"日本 {side}", "n": 1}
            (folder / side / f"{name}.json").write_text(json.dumps(value))
    run = run_in(folder, "eval gt pred --run-dir night -o run.json -q")
    assert run.returncode == 0, run.stderr
    return folder


def run_in(folder, command, redirection="", **environment):
    words = shlex.join([sys.executable, "-m", "stickler_cli"])
    return subprocess.run(  # noqa: S602 - redirections need a shell
        f"{words} {command} --no-config {redirection}",
        shell=True,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        errors="surrogateescape",
        timeout=120,
        check=False,
    )


def check_words(printed):
    for sign in ("Traceback", "internal error", "Exception ignored"):
        assert sign not in printed, printed


@pytest.mark.parametrize("redirection", STREAMS)
def test_closed_and_full_streams_end_with_the_documented_code(folder, redirection):
    result = run_in(folder, COMMANDS["eval"], redirection)
    check_words(result.stdout + result.stderr)
    assert result.returncode in STREAMS[redirection], result


@pytest.mark.parametrize("file", ["/dev/full", None])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_ends_well_without_a_stream_for_its_results(folder, command, file):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        streams = {1: full.fileno()} if file else {0: None, 1: None, 2: None}
        with fork(folder, command, streams=streams) as process:
            _, err = process.communicate(PATIENCE)
    check_words(err)
    assert process.returncode == 4, err


def fork(folder, command, **more):
    return Fork(*command.split(), "--no-config", folder=folder, **more)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_leaves_changes_nothing(folder, command):
    with fork(folder, command) as complete:
        out, expected = complete.communicate(PATIENCE)
    read, write_end = os.pipe()
    with fork(folder, command, streams={1: write_end}) as process:
        os.close(write_end)
        with open(read, encoding="utf-8", errors="surrogateescape") as reader:  # noqa: PTH123 - it has no path
            first_line = reader.readline()
        _, err = process.communicate(PATIENCE)

    check_words(err)
    assert first_line == out.splitlines(keepends=True)[0]
    assert (process.returncode, err) == (complete.returncode, expected)


ALL_COMMANDS = """
import sys
from stickler_cli.__main__ import stickler
from stickler_cli.cli import main
*commands, last = [[*command.split(), "--no-config"] for command in sys.argv[1:]]
for command in commands:
    code = main(command)
    assert code in {0, 1}, f"{command}: {code}"
sys.argv[1:] = last
stickler()
"""


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_commands_work_in_strange_environments(folder, environment):
    result = subprocess.run(
        [sys.executable, "-c", ALL_COMMANDS, *COMMANDS.values(), COMMANDS["eval"]],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        errors="surrogateescape",
        timeout=300,
        check=False,
    )
    check_words(result.stdout + result.stderr)
    assert result.returncode == 0, result
