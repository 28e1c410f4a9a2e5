"""Commands in unusual environments: closed or full streams, odd variables, odd file names."""

import json
import os
import shlex
import subprocess
import sys

import pytest

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
        timeout=120,
        check=False,
    )


def check_words(result):
    printed = result.stdout + result.stderr
    for sign in (b"Traceback", b"internal error", b"Exception ignored"):
        assert sign not in printed, printed


@pytest.mark.parametrize(
    ("command", "redirection"),
    [
        *(pytest.param(COMMANDS["eval"], stream, id=f"eval {stream}") for stream in STREAMS),
        *(
            pytest.param(command, stream, id=f"{name} {stream}")
            for name, command in COMMANDS.items()
            for stream in (">/dev/full", ">&- 2>&- <&-")
            if name != "eval"
        ),
    ],
)
def test_closed_and_full_streams_end_with_the_documented_code(folder, command, redirection):
    result = run_in(folder, command, redirection)
    check_words(result)
    assert result.returncode in STREAMS[redirection], result


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_leaves_changes_nothing(folder, command):
    complete = run_in(folder, command)
    result = run_in(folder, command, "| head -n 1")

    check_words(result)
    assert result.stdout == complete.stdout.splitlines(keepends=True)[0]
    assert result.stderr == complete.stderr


ALL_COMMANDS = """
import sys
from stickler_cli.cli import main
for command in sys.argv[1:]:
    code = main([*command.split(), "--no-config"])
    assert code in {0, 1}, f"{command}: {code}"
"""


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_commands_work_in_strange_environments(folder, environment):
    result = subprocess.run(
        [sys.executable, "-c", ALL_COMMANDS, *COMMANDS.values()],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=300,
        check=False,
    )
    check_words(result)
    assert result.returncode == 0, result
    started = run_in(folder, COMMANDS["eval"], **environment)
    check_words(started)
    assert started.returncode == 0, started
