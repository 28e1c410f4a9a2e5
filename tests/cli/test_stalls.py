"""Documents that would make a run endless: they fail with a message, and signals still work."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from .conftest import write
from .forks import Fork
from .test_faults import PATIENCE, alive, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and forks")

COMMAND = ("eval", "schema.json", "gt", "pred", "--no-config", "-f", "json")
LONG = {"a": "ab" * 1_000_000}, {"a": "cd" * 1_000_000}
"""A pair of texts whose comparison takes minutes in one call of a library, if --work-limit allows
it."""
SOON = 30.0
"""Seconds in which a run ends that does not wait for this comparison: much less than it takes."""

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


def comparing(process: Fork) -> int:
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
    """Run a command to its end; return its exit code and what it prints."""
    with Fork(*COMMAND, *more, folder=folder) as process:
        out, _ = process.communicate(PATIENCE)
    return process.returncode, json.loads(out)


@pytest.mark.slow
def test_a_document_of_too_much_work_fails_by_name_and_nothing_waits(stalling):
    code, record = run(stalling)

    assert code == 3
    (problem,) = record["problems"]
    assert problem["document"] == "2"
    assert (
        "takes more work than --work-limit 20 allows; most of the work is in field a"
        in problem["problem"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_document_that_takes_too_long_is_ended_from_outside(stalling, jobs):
    code, record = run(stalling, "--jobs", jobs, "--document-timeout", "2", "--work-limit", "1e6")

    assert code == 3
    assert record["documents"]["evaluated"] == 2
    (problem,) = record["problems"]
    assert "takes longer than --document-timeout 2 allows" in problem["problem"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "auto"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_answered_in_the_middle_of_a_call_of_a_library(stalling, number, jobs):
    with Fork(*COMMAND, "--work-limit", "1e6", "--jobs", jobs, folder=stalling) as process:
        worker = comparing(process)
        process.send_signal(number)
        out, err = process.communicate(SOON)

    assert process.returncode == 128 + number
    assert json.loads(out)["partial"] is True
    assert "Traceback" not in err
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.slow
def test_a_worker_in_the_middle_of_a_call_ends_with_the_run(stalling):
    with Fork(*COMMAND, "--work-limit", "1e6", folder=stalling) as process:
        assert comparing(process)
        process.kill()
        until(lambda: not alive(process.pid), SOON)
