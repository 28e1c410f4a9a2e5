"""The command as a process: exit codes, signals, pipes, and imported modules."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from stickler_cli import __version__
from stickler_cli.__main__ import run_program
from stickler_cli.cli.commands import settings_of_commands
from stickler_cli.cli.console import MEANINGS, ExitCode
from stickler_cli.runs.process import LEAST_ADDRESS_SPACE
from .conftest import write
from .forks import Fork
from .test_faults import PATIENCE

pytestmark = pytest.mark.slow

COMMAND = (sys.executable, "-m", "stickler_cli")
EVAL = (*COMMAND, "eval", "schema.json", "gt", "pred")


def run(*command: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in the environment of a user, which does not limit the threads of OpenBLAS."""
    environment = {**os.environ}
    environment.pop("OPENBLAS_NUM_THREADS", None)
    options = {"env": environment, **more}
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


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


@pytest.mark.anywhere
def test_a_document_that_cannot_be_evaluated_wins_over_a_gate(stickler, data):
    write(data / "gt" / "two.json", "")
    assert stickler(*EVAL[3:], "--fail-under", "1").code == ExitCode.INCOMPLETE


@pytest.mark.anywhere
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_results_that_cannot_be_written_are_an_internal_error(data):
    with (
        Path("/dev/full").open("w") as full,
        Fork(*EVAL[3:], folder=data, streams={1: full.fileno()}) as process,
    ):
        _, err = process.communicate(PATIENCE)
    assert process.returncode == ExitCode.INTERNAL
    assert "the results could not be written: No space left" in err
    assert "Traceback" not in err


WIDE = {"type": "object", "properties": {f"field_{i}": {"type": "number"} for i in range(250)}}


@pytest.fixture
def wide(data):
    """A data set whose results are larger than any buffer: about 250 kB of JSON."""
    write(data / "schema.json", WIDE)
    return data


def reader_of_a_part(read: int) -> bytes:
    """Read everything from a pipe, with a pause after the first chunk.

    During the pause, the writer meets a full pipe.
    """
    chunks = [os.read(read, 65_536)]
    time.sleep(0.2)  # the writer meets a full pipe in the meantime
    while chunk := os.read(read, 65_536):
        chunks.append(chunk)
    return b"".join(chunks)


@pytest.mark.anywhere
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("blocking", [True, False])
def test_a_pipe_that_takes_a_part_at_a_time_gets_all(wide, unbuffered, blocking):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    read, write_end = os.pipe()
    os.set_blocking(write_end, blocking)
    command = (*EVAL, "-f", "json", "--infer", "never")
    with subprocess.Popen(command, cwd=wide, stdout=write_end, env=environment) as process:
        os.close(write_end)
        while not select.select([read], [], [], 1)[0]:
            assert process.poll() is None
        process.send_signal(signal.SIGSTOP)  # as a shell does: what it is writing is cut off
        process.send_signal(signal.SIGCONT)
        text = reader_of_a_part(read)
    os.close(read)
    assert process.returncode == ExitCode.OK
    assert len(text) > 200_000
    assert len(json.loads(text)["confusion_matrix"]["fields"]) == len(WIDE["properties"])


@pytest.mark.anywhere
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_takes_a_part_only_is_an_error(wide, unbuffered):
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    with (wide / "out").open("wb") as out:
        result = subprocess.run(
            (*EVAL, "-f", "json", "--infer", "never"),
            cwd=wide,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=limit,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert result.returncode == ExitCode.INTERNAL
    assert result.stderr.endswith("error: the results could not be written: File too large\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("stream", [1, 2], ids=["stdout", "stderr"])
@pytest.mark.parametrize("arguments", [("--help",), ("evla",), ("eval", "no", "no", "no")])
def test_any_stream_that_is_full_is_an_internal_error(arguments, stream):
    with (
        Path("/dev/full").open("w") as full,
        Fork(*arguments, streams={stream: full.fileno()}) as process,
    ):
        process.wait(PATIENCE)
    own_stream = 1 if arguments == ("--help",) else 2
    expected = ExitCode.OK if own_stream == 1 else ExitCode.USAGE
    assert process.returncode == (ExitCode.INTERNAL if own_stream == stream else expected)


@pytest.mark.anywhere
def test_help_that_nobody_reads_is_no_error():
    read, write_end = os.pipe()
    os.close(read)
    result = subprocess.run((*COMMAND, "eval", "--help"), stdout=write_end, check=False)
    os.close(write_end)
    assert result.returncode == ExitCode.OK


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no limit")
@pytest.mark.parametrize("kilobytes", [25_000, 60_000, 90_000, 150_000, 250_000])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_short_address_space_is_told(data, kilobytes, jobs):
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes * 1024, kilobytes * 1024))

    result = run(*EVAL, "-j", jobs, cwd=data, preexec_fn=limit)
    assert result.returncode == ExitCode.INTERNAL
    assert f"the process may use at most {kilobytes:,} kB of address" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no limit")
def test_the_least_address_space_that_is_asked_for_is_enough(data):
    resource = pytest.importorskip("resource")
    least = LEAST_ADDRESS_SPACE * 1024
    result = run(
        *EVAL, cwd=data, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (least, least))
    )
    assert result.returncode == ExitCode.OK, result.stderr


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("limit", "code", "told"),
    [("0", ExitCode.OK, ""), ("1", ExitCode.GATE_FAILED, "gate failed: f1 0.824 < 1\n")],
)
def test_a_reader_that_stops_reading_does_not_change_the_verdict(data, limit, code, told):
    read, write_end = os.pipe()
    os.close(read)
    result = subprocess.run(
        (*EVAL, "-j", "2", "--fail-under", limit),
        cwd=data,
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write_end)
    # Of the leaves, 7 are right, one is wrong and two are too many: 14 / (14 + 1 + 2) = 0.824.
    assert (result.returncode, result.stderr) == (code, told)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_a_signal_ends_the_run_with_its_own_code_and_no_half_written_file(data, number, code):
    write(data / "gt.jsonl", json.dumps({"id": "A"}) + "\n")
    command = (*COMMAND, "eval", "schema.json", "gt.jsonl", "-", "--documents", "docs.jsonl")
    with subprocess.Popen(
        command, cwd=data, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write(" " * 1_000_000)  # more than a pipe holds: the run has begun to read
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in err
    assert {path.name for path in data.iterdir() if "docs" in path.name} <= {"docs.jsonl.partial"}


@pytest.mark.anywhere
def test_an_interrupt_while_the_program_is_loaded_is_no_traceback(monkeypatch, capsys):
    class Interrupts:
        def __getattr__(self, _: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "stickler_cli.cli", Interrupts())
    assert run_program() == ExitCode.INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_the_version_is_printed():
    assert run(*COMMAND, "--version").stdout == f"stickler {__version__}\n"


@pytest.mark.anywhere
def test_help_lists_the_exit_codes():
    text = " ".join(run(*COMMAND, "--help").stdout.split())
    for code, meaning in MEANINGS.items():
        assert f" {code.value} {meaning}" in text


@pytest.mark.anywhere
def test_a_misspelt_command_gets_the_nearest_one():
    result = run(*COMMAND, "evla")
    assert result.returncode == ExitCode.USAGE
    assert "eval" in result.stderr


def test_what_is_registered_for_the_end_is_done():
    look = """
import atexit, sys, types
from stickler_cli.__main__ import stickler

def main():
    atexit.register(print, "done")
    return 3

sys.modules["stickler_cli.cli"] = types.SimpleNamespace(main=main, COLLECTED_AFTER=700)
stickler()
"""
    result = run(sys.executable, "-c", look)
    assert (result.returncode, result.stdout, result.stderr) == (3, "done\n", "")


def loaded_by(*arguments, **said):
    """Run a command, and return the names of the modules that it loads."""
    result = run(sys.executable, "-X", "importtime", "-m", "stickler_cli", *arguments, **said)
    assert result.returncode == ExitCode.OK, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("argument", ["--help", "-h"])
def test_help_loads_nothing_heavy(argument):
    heavy = {"numpy", "scipy", "jsonschema", "pydantic", "rapidfuzz", "dateutil", "rich"}
    loaded = loaded_by(argument)
    assert "typer" in loaded
    assert loaded.isdisjoint(heavy), loaded & heavy


@pytest.mark.parametrize("argument", ["--version", "-V"])
def test_the_version_is_told_by_the_package_alone(argument):
    loaded = loaded_by(argument)
    assert "typing" not in loaded
    assert {name for name in loaded if name.startswith("stickler_cli")} == {"stickler_cli"}


MOST_MODULES = 163
"""Maximum number of this project's modules that a small evaluation may load. The evaluation infers
comparisons, gives hints, and looks for JSON in texts."""


def test_a_small_run_loads_only_what_it_needs(data):
    spared = {"scipy", "pydantic", "jsonschema", "rich", "dateutil", "jinja2", "tomllib"}
    spared |= {"asyncio", "concurrent", "multiprocessing", "sqlite3", "ssl", "logging", "email"}
    spared |= {"jsonschema_rs", "html", "pkgutil"}
    write(data / "flat.json", {"type": "object", "properties": {"id": {"type": "string"}}})
    modules = loaded_by("eval", "flat.json", "gt", "pred", "--no-config", cwd=data)
    loaded = {name.partition(".")[0] for name in modules}
    assert "numpy" in loaded
    assert loaded.isdisjoint(spared), loaded & spared
    of_others = ("numpy.ma.", "stickler_cli.studies", "stickler_cli.reports.html")
    files = ("directory", "keeping", "saved", "page_sources", "chunk_parts", "boxes")
    of_others += tuple(f"stickler_cli.runs.{name}" for name in files)
    assert [name for name in modules if name.startswith(of_others)] == []
    assert len([name for name in modules if name.startswith("stickler_cli")]) <= MOST_MODULES


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_program_has_one_thread_so_that_it_can_be_forked(data):
    look = """
import sys
from stickler_cli.__main__ import run_program
code = run_program()
assert "numpy" in sys.modules
print(*[line for line in open("/proc/self/status") if line.startswith("Threads")], file=sys.stderr)
sys.exit(code)
"""
    result = run(sys.executable, "-c", look, *EVAL[3:], cwd=data)
    assert result.returncode == ExitCode.OK, result.stderr
    assert result.stderr.split() == ["Threads:", "1"]


COMMANDS = """
import sys
from stickler_cli.cli import main
for command in sys.argv[1:]:
    code = main([*command.split(), "--no-config"])
    assert code == 0, f"{command}: {code}"
"""
OUTPUTS = ("run.json", "run.html", "run.md", "run.csv", "run.xml")
COMMANDS_OF_ANY_ORDER = (
    f"eval gt pred --run-dir kept --by total -o {' -o '.join(OUTPUTS)}",
    "eval gt pred -f json --show-documents 9 --show-non-matches 99",
    "eval gt pred --ignore e --run-dir other",
    "errors gt pred",
    "compare gt pred --document 1",
    "diff kept other --allow-different",
    "report kept -f table",
    "init gt -o schema.json",
    "check schema.json",
    "show schema.json",
    "lint gt",
    "tune gt pred",
    "audit gt pred second",
)


def write_many_fields(folder: Path) -> None:
    """Write documents with many fields of each kind, among them wrong, missed and invented ones."""
    for number in range(6):
        gt = {
            name: {"name": f"Alfa {name} {number}", "day": f"2024-05-0{number + 1}", "n": number}
            for name in "abcdefgh"
        }
        lines = [{**gt["a"], "n": place} for place in range(3)]
        pred = {
            name: {**gt["a"], "n": place, "day": "x"} for place, name in enumerate("cdefghijklmn")
        }
        write(folder / "gt" / f"{number}.json", {**gt, "lines": lines, "total": number})
        write(folder / "pred" / f"{number}.json", {**pred, "lines": lines[::2], "total": "9"})
        write(folder / "second" / f"{number}.json", {**gt, "b": None, "lines": [], "total": 1})


def test_the_order_of_hashes_changes_nothing(tmp_path):
    printed = []
    for seed in ("1", "2"):
        write_many_fields(tmp_path / seed)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = (sys.executable, "-c", COMMANDS, *COMMANDS_OF_ANY_ORDER)
        result = run(*command, cwd=tmp_path / seed, env=environment)
        assert result.returncode == 0, result.stderr
        printed.append((result.stdout, result.stderr))
    assert printed[0] == printed[1]
    for file in (*OUTPUTS, "schema.json", "kept/documents.jsonl", "kept/non-matches.jsonl"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes(), file


HELP_OF_COMMANDS = """
import json, sys
from stickler_cli.cli import main
for command in sys.argv[1:]:
    main([command, "--help"])
    print(json.dumps([command, *sys.modules]), file=sys.stderr)
"""


def test_the_help_of_no_command_loads_an_engine_or_needs_a_wide_terminal():
    engine = {"numpy", "pydantic", "scipy", "jsonschema", "rapidfuzz", "dateutil", "rich"}
    commands = [*settings_of_commands()]
    command_line = (sys.executable, "-c", HELP_OF_COMMANDS, *commands)
    result = run(*command_line, env={**os.environ, "COLUMNS": "80"})
    asked = []
    for command, *loaded in map(json.loads, result.stderr.splitlines()):
        asked.append(command)
        assert {*engine, "stickler_cli.compare"}.isdisjoint(loaded), command
    assert asked == commands
    assert result.stdout.count("Usage:") == len(commands)
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_an_evaluation_loads_no_pydantic(data):
    write(data / "stickler.toml", "missing = 'skip'\n")
    options = ("--pairing-floor", "0.3", "--gate", "f1>=0", "-f", "csv")
    result = run(
        sys.executable, "-X", "importtime", "-m", "stickler_cli", *EVAL[3:], *options, cwd=data
    )
    assert result.returncode == 0
    assert "pydantic" not in result.stderr
