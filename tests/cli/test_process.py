"""The command as a process: exit codes, signals, pipes, and what is imported."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli import __version__
from stickler_cli.cli.console import MEANINGS, ExitCode
from stickler_cli.settings import COMMANDS
from .conftest import write

COMMAND = (sys.executable, "-m", "stickler_cli")
EVAL = (*COMMAND, "eval", "schema.json", "gt", "pred")


def run(*command: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), ExitCode.OK),
        (("--fail-under", "1"), ExitCode.GATE_FAILED),
        (("--no-such-option",), ExitCode.USAGE),
        (("--gate", "nonsense"), ExitCode.USAGE),
    ],
)
def test_the_exit_code_says_what_happened(data, arguments, code):
    result = run(*EVAL, *arguments, cwd=data)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr


def test_a_document_that_cannot_be_evaluated_wins_over_a_gate(data):
    write(data / "gt" / "two.json", "")
    assert run(*EVAL, "--fail-under", "1", cwd=data).returncode == ExitCode.INCOMPLETE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_results_that_cannot_be_written_are_an_internal_error(data):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            EVAL, cwd=data, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == ExitCode.INTERNAL
    assert "the results could not be written (No space left" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("limit", "code"), [("0", ExitCode.OK), ("1", ExitCode.GATE_FAILED)])
def test_a_reader_that_stops_reading_does_not_change_the_verdict(data, limit, code):
    read, write_end = os.pipe()
    os.close(read)
    result = subprocess.run(
        (*EVAL, "--fail-under", limit),
        cwd=data,
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write_end)
    assert result.returncode == code
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_a_signal_ends_the_run_with_its_own_code_and_no_half_written_file(data, number, code):
    write(data / "gt.jsonl", json.dumps({"id": "A"}) + "\n")
    command = (*COMMAND, "eval", "schema.json", "gt.jsonl", "-", "--documents", "docs.jsonl", "-v")
    with subprocess.Popen(
        command, cwd=data, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()  # the run has begun and waits for standard input
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in err
    assert {path.name for path in data.iterdir() if "docs" in path.name} <= {"docs.jsonl.partial"}


def test_the_version_is_printed():
    assert run(*COMMAND, "--version").stdout == f"stickler {__version__}\n"


def test_help_lists_the_exit_codes():
    text = " ".join(run(*COMMAND, "--help").stdout.split())
    for code, meaning in MEANINGS.items():
        assert f" {code.value} {meaning}" in text


def test_a_misspelt_command_gets_the_nearest_one():
    result = run(*COMMAND, "evla")
    assert result.returncode == ExitCode.USAGE
    assert "eval" in result.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("-h",)])
def test_help_loads_nothing_heavy(arguments):
    heavy = {"numpy", "scipy", "jsonschema", "pydantic", "rapidfuzz", "dateutil", "rich"}
    result = run(sys.executable, "-X", "importtime", "-m", "stickler_cli", *arguments)
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in result.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "typer" in loaded
    assert loaded.isdisjoint(heavy), loaded & heavy


def test_a_small_run_loads_only_what_it_needs(data):
    spared = {"scipy", "pydantic", "jsonschema", "rich", "dateutil", "jinja2", "tomllib"}
    spared |= {"asyncio", "concurrent", "multiprocessing", "sqlite3", "ssl", "logging"}
    write(data / "flat.json", {"type": "object", "properties": {"id": {"type": "string"}}})
    command = (sys.executable, "-X", "importtime", "-m", "stickler_cli", "eval", "flat.json")
    # Coverage, where it is measured, starts in each process and loads modules of its own.
    alone = {name: text for name, text in os.environ.items() if not name.startswith("COV")}
    result = run(*command, "gt", "pred", "--no-config", cwd=data, env=alone)
    assert result.returncode == 0
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in result.stderr.splitlines()
    }
    assert "numpy" in loaded
    assert loaded.isdisjoint(spared), loaded & spared


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_program_has_one_thread_so_that_it_can_be_forked(data):
    look = """
import sys
from stickler_cli.__main__ import program
code = program()
assert "numpy" in sys.modules
print(*[line for line in open("/proc/self/status") if line.startswith("Threads")], file=sys.stderr)
sys.exit(code)
"""
    result = run(sys.executable, "-c", look, *EVAL[3:], cwd=data)
    assert result.returncode == ExitCode.OK, result.stderr
    assert result.stderr.split() == ["Threads:", "1"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_loads_no_engine_and_fits_a_narrow_terminal(command):
    engine = {
        "numpy",
        "pydantic",
        "scipy",
        "jsonschema",
        "rapidfuzz",
        "dateutil",
        "rich",
        "stickler_cli.compare",
    }
    result = run(
        sys.executable, "-X", "importtime", "-m", "stickler_cli", command, "--help",
        env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}
    assert loaded.isdisjoint(engine), loaded & engine
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_an_evaluation_loads_no_pydantic(data):
    write(data / "stickler.toml", "missing = 'skip'\n")
    options = ("--pairing-floor", "0.3", "--gate", "f1>=0", "-f", "csv")
    result = run(
        sys.executable, "-X", "importtime", "-m", "stickler_cli", *EVAL[3:], *options, cwd=data
    )
    assert result.returncode == 0
    assert "pydantic" not in result.stderr
