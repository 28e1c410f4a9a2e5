"""Documents that would make a run endless: they fail with a message, and signals still work."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import write
from .test_faults import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and forks")

COMMAND = (sys.executable, "-m", "stickler_cli", "eval", "schema.json", "gt", "pred", "--no-config")
LONG = {"a": "ab" * 2_000_000}, {"a": "cd" * 2_000_000}
"""A pair of texts whose comparison takes minutes in one call of a library, if --work-limit allows
it."""

TEXT = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.fixture
def stalling(tmp_path):
    """Three documents; comparing the second one takes minutes."""
    write(tmp_path / "schema.json", TEXT)
    for name, (gt, pred) in {"1": ({"a": "x"}, {"a": "x"}), "2": LONG, "3": ({}, {})}.items():
        write(tmp_path / "gt" / f"{name}.json", gt)
        write(tmp_path / "pred" / f"{name}.json", pred)
    return tmp_path


def children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def comparing(process: subprocess.Popen) -> int:
    """Wait until a worker of a run is in the middle of a comparison, and return its process id."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for child in children(process.pid):
            used = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            if int(used[11]) > os.sysconf("SC_CLK_TCK") // 2:  # half a second of work
                return child
        time.sleep(0.05)
    raise AssertionError("no worker is comparing")


def run(folder, *more):
    return subprocess.run(
        (*COMMAND, "-f", "json", *more), cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_document_of_too_much_work_fails_by_name_and_nothing_waits(stalling):
    result = run(stalling)

    assert result.returncode == 3
    (problem,) = json.loads(result.stdout)["problems"]
    assert problem["document"] == "2"
    assert (
        "takes more work than --work-limit 20 allows; most of the work is in field a"
        in problem["problem"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_document_that_takes_too_long_is_ended_from_outside(stalling, jobs):
    result = run(stalling, "--jobs", jobs, "--document-timeout", "2", "--work-limit", "1e6")

    assert result.returncode == 3
    run_file = json.loads(result.stdout)
    assert run_file["documents"]["evaluated"] == 2
    (problem,) = run_file["problems"]
    assert "takes longer than --document-timeout 2 allows" in problem["problem"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "auto"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_answered_in_the_middle_of_a_call_of_a_library(stalling, number, jobs):
    options = ("-f", "json", "--work-limit", "1e6", "--jobs", jobs)
    with subprocess.Popen(
        (*COMMAND, *options),
        cwd=stalling,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        worker = comparing(process)
        process.send_signal(number)
        out, err = process.communicate()  # which takes minutes if it waits

    assert process.returncode == 128 + number
    assert json.loads(out)["partial"] is True
    assert "Traceback" not in err
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.slow
def test_a_worker_in_the_middle_of_a_call_ends_with_the_run(stalling):
    with subprocess.Popen(
        (*COMMAND, "--work-limit", "1e6"), cwd=stalling, stdout=subprocess.DEVNULL
    ) as process:
        worker = comparing(process)
        process.kill()
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{worker}").exists() and _is_running(worker):
        assert time.monotonic() < deadline, "the worker goes on"
        time.sleep(0.05)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
