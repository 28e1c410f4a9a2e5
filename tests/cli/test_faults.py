"""Real faults: killed workers, too little memory, full disks, signals, closed pipes.

The comparator does what the predicted text says, such as `die`. No test measures time. Each waits
as long as needed, up to a limit that only a hanging program reaches.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stickler_cli.cli.console import ExitCode
from .conftest import write
from .forks import Fork

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

PATIENCE = 120.0
"""Number of seconds after which a program is assumed to hang."""

COMPARATOR = """
import os, signal, time
from pathlib import Path
from stickler_cli.comparators.base import BaseComparator

class Obedient(BaseComparator):
    def compare(self, gt, pred):
        match pred:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "leave":
                os._exit(3)
            case "hog":
                return float(len(bytearray(8_000_000_000)) < 0)
            case "wait":
                Path("waiting").write_text(str(os.getpid()))
                while not Path("go").exists():
                    time.sleep(0.01)
            case "raise":
                raise ZeroDivisionError("no")
            case "nan":
                return float("nan")
            case "beyond":
                return 1.5
            case "nothing":
                return None
        return 1.0
"""
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "x-aws-stickler-comparator": "obedient:Obedient"}},
}
EVAL = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "--allow-plugins", "-f", "json")


@pytest.fixture
def orders(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes 40 documents.

    `build(die=3)` makes the comparator die at document 3.
    """

    def build(**places: int) -> Path:
        write(tmp_path / "obedient.py", COMPARATOR)
        write(tmp_path / "schema.json", SCHEMA)
        predictions = {place: order for order, place in places.items()}
        lines = [json.dumps({"a": predictions.get(number, "x")}) for number in range(40)]
        write(tmp_path / "pred.jsonl", "\n".join(lines))
        write(tmp_path / "gt.jsonl", '{"a": "x"}\n' * 40)
        return tmp_path

    return build


def running(folder: Path, *arguments: str, **more: Any) -> Fork:
    """Start `stickler eval`; at the end of the block of a `with`, kill what still runs of it."""
    return Fork(*EVAL, *arguments, folder=folder, **more)


def run(folder: Path, *arguments: str, **more: Any) -> tuple[int, str, str]:
    """Run `stickler eval` to its end; return exit code, standard output and standard error."""
    with running(folder, *arguments, **more) as process:
        out, err = process.communicate(PATIENCE)
        until(lambda: not alive(process.pid))
    assert "Traceback" not in err
    return process.returncode, out, err


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this hangs"
        time.sleep(0.01)


def alive(group: int) -> list[int]:
    """Return the ids of the processes of a group that are still running."""
    process_ids = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue  # it has ended since it was listed
        if int(its_group) == group and state != "Z":
            process_ids.append(int(folder.name))
    return process_ids


def problems(out: str) -> dict[str, str]:
    return {entry["document"]: entry["problem"] for entry in json.loads(out)["problems"]}


def line_files(folder: Path) -> set[str]:
    """Return the names of the files for `--documents` that exist, also incomplete ones."""
    return {path.name for path in folder.iterdir() if "docs" in path.name}


# --- workers


def test_a_worker_that_is_killed_costs_nothing(orders):
    folder = orders(wait=20)
    with running(folder, "-j", "2", "--documents", "docs.jsonl") as process:
        until((folder / "waiting").exists)
        until((folder / "waiting").read_text)
        os.kill(int((folder / "waiting").read_text()), signal.SIGKILL)
        write(folder / "go", "")
        out, _ = process.communicate(timeout=PATIENCE)
        until(lambda: not alive(process.pid))
    assert process.returncode == ExitCode.OK
    assert run(folder, "-j", "1", "--documents", "again-docs.jsonl")[1] == out
    assert (folder / "docs.jsonl").read_bytes() == (folder / "again-docs.jsonl").read_bytes()


def test_a_document_that_kills_every_worker_is_found_and_all_others_count(orders):
    folder = orders(die=7, leave=23)
    code, out, err = run(folder, "-j", "2", "--documents", "docs.jsonl")
    assert code == ExitCode.INCOMPLETE
    assert "2 of 40 documents could not be evaluated" in err
    assert "\n  line 24: the worker process" in err
    assert problems(out) == {
        "line 8": "line 8: the worker process that compared this document died (signal 9; out of "
        "memory?)",
        "line 24": "line 24: the worker process that compared this document died (exit code 3)",
    }
    assert json.loads(out)["documents"]["evaluated"] == 38
    lines = [json.loads(line) for line in (folder / "docs.jsonl").read_text().splitlines()]
    assert [line["document"] for line in lines] == [f"line {number + 1}" for number in range(40)]
    assert [line["document"] for line in lines if line["status"] == "failed"] == [
        "line 8",
        "line 24",
    ]


def test_a_comparator_that_kills_every_worker_ends_the_run(orders):
    folder = orders()
    write(folder / "pred.jsonl", '{"a": "leave"}\n' * 40)
    code, out, err = run(folder, "-j", "2")
    assert (code, out) == (ExitCode.INTERNAL, "")
    assert "--jobs 2: 32 worker processes died in a row (exit code 3)" in err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_document_that_takes_too_much_memory_is_failed(orders, jobs):
    code, out, _ = run(orders(hog=7), "-j", jobs, "--memory-limit", "500MB")
    assert code == ExitCode.INCOMPLETE
    assert json.loads(out)["documents"]["evaluated"] == 39
    (problem,) = problems(out).values()
    assert "MemoryError" in problem


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_comparator_that_fails_is_that_document_s_error(orders, jobs):
    folder = orders(**{"raise": 3, "nan": 13, "beyond": 23, "nothing": 33})
    code, out, _ = run(folder, "-j", jobs)
    assert code == ExitCode.INCOMPLETE
    assert json.loads(out)["documents"]["evaluated"] == 36
    problems_by_id = problems(out)
    no_number = problems_by_id.pop("line 34")
    failure = "in field a, comparator Obedient failed when it compared"
    assert no_number.startswith(f'{failure} "x" with "nothing": TypeError: ')
    assert problems_by_id == {
        "line 4": f'{failure} "x" with "raise": ZeroDivisionError: no',
        "line 14": f'{failure} "x" with "nan": the similarity is nan, expected a number in [0, 1]',
        "line 24": (
            f'{failure} "x" with "beyond": the similarity is 1.5, expected a number in [0, 1]'
        ),
    }


# --- signals


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_a_signal_ends_the_run_with_what_is_finished_and_says_so(orders, jobs, number, code):
    folder = orders(wait=35)  # in the second chunk of one process
    outputs = ("docs.csv", "docs.json", "docs.html", "docs.xml", "docs.md")
    for name in ("docs.jsonl", *outputs):
        write(folder / name, "complete results of an earlier run")
    files = ("--documents", "docs.jsonl", *(word for name in outputs for word in ("-o", name)))
    with running(folder, "-j", jobs, *files) as process:
        until((folder / "waiting").exists)
        os.killpg(process.pid, number)  # as a terminal does it
        out, err = process.communicate(timeout=PATIENCE)
        until(lambda: not alive(process.pid))
    assert process.returncode == code, err
    assert "Traceback" not in err
    record = json.loads(out)
    done = record["documents"]["total"]
    # With two processes, the first chunk may still be at work when the second one waits.
    assert (0 if jobs == "2" else 1) <= done < 40
    assert record["partial"] is True
    start = f"interrupted: these results cover only {done}"
    assert any(note.startswith(start) for note in record["notes"])
    partial_outputs = [f"{name}.partial" for name in outputs]
    message = f"interrupted: the results so far are in {', '.join(partial_outputs)}"
    assert message in " ".join(err.split())
    for name in ("docs.jsonl", *outputs):
        assert (folder / name).read_text() == "complete results of an earlier run"
        assert (folder / f"{name}.partial").read_text() != "complete results of an earlier run"
    assert json.loads((folder / "docs.json.partial").read_text())["partial"] is True
    with Fork("report", "docs.json.partial", folder=folder) as report:
        assert "partial: " in report.communicate(PATIENCE)[0]
    lines = (folder / "docs.jsonl.partial").read_text().splitlines()
    assert [json.loads(line)["document"] for line in lines] == [
        f"line {number + 1}" for number in range(done)
    ]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_nothing_outlives_a_run_that_is_killed_or_loses_its_terminal(orders, number):
    folder = orders(wait=20)
    with running(folder, "-j", "2", "-o", "run.json") as process:
        until((folder / "waiting").exists)
        process.send_signal(number)
        until(lambda: not alive(process.pid))
    assert process.returncode == -number
    assert not (folder / "run.json").exists()


# --- files and streams


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_disk_that_is_full_leaves_no_file(orders, jobs):
    folder = orders()
    code, _, err = run(folder, "-j", jobs, "--documents", "docs.jsonl", most_bytes=4096)
    assert code == ExitCode.INTERNAL
    assert err == "error: the results could not be written to docs.jsonl: File too large\n"
    assert line_files(folder) == set()


@pytest.mark.parametrize(
    ("closed", "code"),
    [("2>&-", ExitCode.OK), (">&-", ExitCode.INTERNAL), ("<&- >&- 2>&-", ExitCode.INTERNAL)],
)
def test_of_streams_that_are_closed_from_the_start_that_of_results_is_an_error(
    orders, closed, code
):
    folder = orders()
    command = (sys.executable, "-m", "stickler_cli", *EVAL, "-j", "2", "--documents", "docs.jsonl")
    with subprocess.Popen(  # noqa: S602 - only a shell closes streams before Python starts
        f"{shlex.join(command)} {closed}",
        shell=True,
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _, err = process.communicate(timeout=PATIENCE)
        until(lambda: not alive(process.pid))
    assert process.returncode == code
    assert "Traceback" not in err
    lines = (folder / "docs.jsonl").read_text().splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["evaluated"] * 40


def test_a_file_that_took_the_number_of_a_closed_stream_gets_no_results(orders):
    folder = orders()
    program = (
        "import sys; taken = open('taken.txt', 'w'); assert taken.fileno() == 1\n"
        "from stickler_cli.cli import main\n"
        "sys.exit(main([*sys.argv[1:], '--no-config']))\n"
    )
    result = subprocess.run(
        (sys.executable, "-c", program, *EVAL),
        cwd=folder,
        preexec_fn=lambda: os.close(1),
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == ExitCode.INTERNAL
    assert "Traceback" not in result.stderr
    assert (folder / "taken.txt").read_text() == ""
