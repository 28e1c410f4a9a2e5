"""A comparator that logs the age of its process at the first call: a plugin of a timed run."""

import os
import time
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Final

from stickler_cli import BaseComparator

LOG: Final = "BENCHMARKS_PROBE_LOG"
"""Environment variable with the path of the log."""

_STARTED: Final = 21
"""Position of the start time of a process, in ticks since boot, in /proc/self/stat. Source:
proc_pid_stat(5), which counts from 1."""


class Probe(BaseComparator):
    """Compare by equality, and log how long after its start a worker compares first."""

    def compare(self, gt: Any, pred: Any) -> float:
        """Compare two values."""
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
