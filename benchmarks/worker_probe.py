"""A comparator that logs how old its process is at the first call; used in a timed run."""

import os
import time
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Final

from stickler_cli import BaseComparator

LOG: Final = "BENCHMARKS_PROBE_LOG"
"""Name of the environment variable that has the path of the log."""

_STARTED: Final = 21
"""Position of the start time of a process in /proc/self/stat, counted from 0. The start time is in
ticks since the system booted. Source: proc_pid_stat(5), which counts from 1."""


class Probe(BaseComparator):
    """Compares values for equality.

    The first comparison in each worker logs the seconds since the worker started.
    """

    def compare(self, gt: Any, pred: Any) -> float:
        """Return 1.0 if two values are equal, else 0.0."""
        _log_once(os.getpid())
        return float(gt == pred)


@cache
def _log_once(_process: int) -> None:
    if parent_process() is None:
        return
    stat = Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()
    started = int(stat[_STARTED - 2]) / os.sysconf("SC_CLK_TCK")
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
        print(age, file=log)
