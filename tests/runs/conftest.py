"""Fixtures: workers that run in this process, which is fast and counts for coverage."""

import pickle
from contextlib import contextmanager

import pytest

from stickler_cli.runs.executors import pool


class Here:
    """A worker in this process: it evaluates a chunk when its answer is read."""

    def __init__(self, job, packed, memory_limit, other_workers):
        self.connection = self
        self.ready = False
        self.job = pickle.loads(packed)  # noqa: S301 - made here
        self.packed = None

    def send_bytes(self, packed):
        self.packed = packed

    def recv_bytes(self):
        if self.packed is None:
            return pool.READY
        packed, self.packed = self.packed, None
        return pool.packed_result(self.job, packed, None)

    def stop(self):
        return None

    def end(self):
        return "exit code 0"


def ready_here(connections, timeout):
    """Return the connections that have something to read.

    First all new workers are ready; after that, always the last one that has work.
    """
    if starting := [connection for connection in connections if not connection.ready]:
        return starting
    speaking = [connection for connection in connections if connection.packed is not None]
    assert speaking or timeout is not None, "nobody has work, and all wait for ever"
    return speaking[-1:]


@contextmanager
def processes_stand_still():
    """Make the pool use workers in this process, which is fast and counts for coverage."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "Worker", Here)
        patch.setattr(pool, "wait", ready_here)
        yield


@pytest.fixture
def in_process():
    with processes_stand_still():
        yield
