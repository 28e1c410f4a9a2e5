"""A bound on the memory of a process, so that too large a document is an error and no disaster."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stickler_cli.core.problems import Problem, UsageError

OPTION: Final = "--memory-limit"

SIZES_OF_PROCESS: Final = Path("/proc/self/statm")
"""In pages, the address space first. Source: man 5 proc_pid_statm."""


def check_memory_limit() -> None:
    """Make sure that memory can be limited here.

    Raises:
        UsageError: it cannot; macOS takes a limit and does not keep it, Windows has none.
    """
    if sys.platform != "linux":
        raise UsageError([Problem(OPTION, f"this is {sys.platform}", "Linux", "leave it out")])


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """Have what goes beyond a limit raise MemoryError inside the block.

    Args:
        limit: bytes of address space beyond those that the process has now; None for no limit.
    """
    if limit is None or sys.platform != "linux":
        yield
        return
    import resource  # Windows has no such module

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(SIZES_OF_PROCESS.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    wanted = now + limit
    bounds = [wanted, *(bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
