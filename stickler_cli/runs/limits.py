"""What of the process a document may use: room on the stack, memory; and how rarely it is swept."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stickler_cli.core.problems import Problem, UsageError

if sys.platform != "win32":  # which has no such module
    import resource

OPTION: Final = "--memory-limit"

SIZES_OF_PROCESS: Final = Path("/proc/self/statm")
"""In pages, the address space first. Source: man 5 proc_pid_statm."""

RECURSION_LIMIT: Final = 20_000
"""Python frames; a document of 1024 levels, which is as deep as they are read, needs some 8 a
level. Python's own limit would do for about a hundred levels."""

COLLECTED_AFTER: Final = 100_000
"""Objects that are made before the garbage collector looks for cycles among them. Documents have
none, and Python's own 700 would have it look through each chunk several times."""


@contextmanager
def room_for_depth() -> Iterator[None]:
    """Let calls inside the block nest deeper than Python lets them by default."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Have the garbage collector look rarely inside the block, and not at what is there already."""
    usual = gc.get_threshold()
    if usual[0] == 0:  # somebody has turned it off
        yield
        return
    gc.freeze()
    gc.set_threshold(max(usual[0], COLLECTED_AFTER), *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


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
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(SIZES_OF_PROCESS.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    wanted = now + limit
    bounds = [wanted, *(bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
