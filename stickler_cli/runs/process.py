"""The process of a run: its processors, memory, stack and signals.

The first Ctrl-C or SIGTERM ends a run early and keeps the results so far. The second one ends the
process at once.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, ParamSpec, TypeVar

from stickler_cli.core.problems import Problem, UsageError

if sys.platform != "win32":  # Windows lacks this module
    import resource

CPU_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
"""The file with the limit of processor time. It has two numbers: the microseconds that may be used
in each period, and the length of a period.

Source: the kernel's admin-guide/cgroup-v2."""

STATUS: Final = Path("/proc/self/status")  # source: man 5 proc_pid_status
SIZES_OF_PROCESS: Final = Path("/proc/self/statm")  # in pages. Source: man 5 proc_pid_statm
# Python frames; a document of 1024 levels needs some 8 for each level.
RECURSION_LIMIT: Final = 20_000
LEAST_ADDRESS_SPACE: Final = 400_000  # kB; all libraries that a run may load take some 310,000
# New objects between two searches for cycles; documents have no cycles.
COLLECTED_AFTER: Final = 100_000


SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
P = ParamSpec("P")
T = TypeVar("T")


def can_fork() -> bool:
    """Return whether it is safe to fork this process: only on Linux, and with a single thread."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    # Count threads of libraries too, which Python does not know.
    return b"\nThreads:\t1\n" in STATUS.read_bytes()


def usable_cores() -> int:
    """Return the number of processors that this process may use, at least 1."""
    count = affinity()
    try:
        quota, period = CPU_QUOTA.read_text(encoding="ascii").split()
        return max(1, min(count, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file, or no limit (`max`)
        return count


def affinity() -> int:
    """Return the number of processors that the scheduler gives this process, at least 1."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def room_for_depth() -> Iterator[None]:
    """Allow deeper recursion inside the block than Python does by default."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Make garbage collection rare inside the block. Only new objects are collected."""
    usual = gc.get_threshold()
    if usual[0] == 0:  # collection is turned off
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
    """Check that this system can limit the memory of a process. Only Linux can.

    Raises:
        UsageError: the system is not Linux.
    """
    if sys.platform != "linux":
        finding = f"memory can only be limited on Linux, but this system is {sys.platform}"
        raise UsageError([Problem("--memory-limit", finding, hint="leave the option out")])


def check_address_space() -> None:
    """Check that a limit of memory (`ulimit -v`) leaves enough room for libraries.

    Raises:
        MemoryError: the limit is lower than what libraries may need.
    """
    if sys.platform == "win32":
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    if limit < LEAST_ADDRESS_SPACE * 1024:
        found = (
            f"there is too little memory: the process may use at most {limit // 1024:,} kB of "
            "address space"
        )
        raise MemoryError(f"{found}, expected {LEAST_ADDRESS_SPACE:,} or more (ulimit -v)")
    _have_libraries_settle()


def _have_libraries_settle() -> None:
    """Make libraries allocate their memory now, before memory is limited.

    If OpenBLAS could not allocate memory later, it would end the process instead of raising an
    error.
    """
    # Imported late: few processes have a limit.
    from stickler_cli.compare.assignment import assign_product

    assign_product(256)


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """Raise MemoryError if the block takes more than `limit` bytes of memory.

    None means no limit.
    """
    if limit is None or sys.platform != "linux":
        yield
        return
    _have_libraries_settle()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(SIZES_OF_PROCESS.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    bounds = [now + limit, *(bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class Interrupted(KeyboardInterrupt):
    """Raised when a signal asks the run to end while it waits for something."""


class Interruption:
    """Receives the signal that asks a run to end early."""

    def __init__(self) -> None:
        self.signal: int | None = None
        """The signal that was received; None if there is none."""
        self._waiting = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Remember the first Ctrl-C or SIGTERM inside the block. A second one ends the process."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Python delivers signals to the main thread only
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}

        def ask(number: int, frame: FrameType | None) -> None:
            restore()
            self.signal = number
            if self._waiting:
                raise Interrupted

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        for number in SIGNALS:
            signal.signal(number, ask)
        try:
            yield
        finally:
            restore()

    def wait(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of a call that may take long. A signal aborts the call at any point.

        Raises:
            Interrupted: a signal has asked the run to end.
        """
        self._waiting = True  # set it first, so that no signal is missed between these lines
        try:
            if self.signal is not None:
                raise Interrupted
            return call(*args, **kwargs)
        finally:
            self._waiting = False


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let signals end the process at once inside the block.

    Use it where nothing has to be saved.

    Outside the block, if a signal comes while a library works on a long call, Python handles the
    signal only after the call.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = {number: signal.getsignal(number) for number in SIGNALS}
    heard = {number: handler for number, handler in heard.items() if handler != signal.SIG_IGN}
    for number in heard:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def until_interrupted(items: Iterable[T], interruption: Interruption) -> Iterator[T]:
    """Yield items until a signal asks the run to end.

    The signal also ends the wait for the next item.
    """
    iterator = iter(items)
    while True:
        try:
            yield interruption.wait(next, iterator)
        except (StopIteration, Interrupted):
            return
