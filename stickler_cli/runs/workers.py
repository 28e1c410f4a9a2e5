"""How many processes share a run, and whether they can be forked.

Apart from `worker` and `pool`, so that a run in one process does not load multiprocessing.
"""

import os
import sys
import threading
from pathlib import Path
from typing import Final

from stickler_cli.core.values import dataclass

CPU_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
"""What a container may use: microseconds of processor time, and in how many. Source:
https://docs.kernel.org/admin-guide/cgroup-v2.html, cpu.max."""

STATUS: Final = Path("/proc/self/status")
"""What the system knows of this process, its threads among it. Source: man 5 proc_pid_status."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that do the work of a run; its results do not depend on them."""

    jobs: int | None = 1
    """Processes that compare, at least 1, which is this one; None takes as many as fit the machine
    and the work."""
    chunk_size: int | None = None
    """Documents that are compared at once; None goes by their size and the time that they take."""
    source: str = "--jobs"
    """The option that says so, for messages."""
    memory_limit: int | None = None
    """Bytes that documents may take in a process, beyond what the program itself takes."""


def can_fork() -> bool:
    """Return whether this process can be forked: one that has a single thread is safely copied.

    Threads of libraries are no threads of Python, so the system is asked too.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return b"\nThreads:\t1\n" in STATUS.read_bytes()


def usable_cores() -> int:
    """Count the processors that this process may use, at least 1."""
    count = affinity()
    return max(1, min(count, _quota(CPU_QUOTA) or count))


def affinity() -> int:
    """Count the processors that the system lets this process run on, at least 1."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota(file: Path) -> int | None:
    """Return the whole processors that a container may use; None where nothing limits it."""
    try:
        quota, period = file.read_text(encoding="ascii").split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):  # no such file; no limit, which is `max`
        return None
