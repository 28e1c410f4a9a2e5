"""The process of a run: its processors, memory and stack, and the signals that end it.

Ctrl-C or SIGTERM once end a run early and in order, twice at once.
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

if sys.platform != "win32":  # which has no such module
    import resource

CPU_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
"""Microseconds of processor time, and in how many. Source: the kernel's admin-guide/cgroup-v2."""

STATUS: Final = Path("/proc/self/status")  # source: man 5 proc_pid_status
SIZES_OF_PROCESS: Final = Path("/proc/self/statm")  # in pages. Source: man 5 proc_pid_statm
RECURSION_LIMIT: Final = 20_000  # Python frames; a document of 1024 levels needs some 8 a level
LEAST_ADDRESS_SPACE: Final = 400_000  # kB; all libraries that a run may load take some 310,000
COLLECTED_AFTER: Final = 100_000  # objects made before cycles are looked for; documents have none


SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
P = ParamSpec("P")
T = TypeVar("T")


def can_fork() -> bool:
    """Return whether this process has one thread only, and so is safely copied."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    # Threads of libraries are no threads of Python.
    return b"\nThreads:\t1\n" in STATUS.read_bytes()


def usable_cores() -> int:
    """Return how many processors this process may use, at least 1."""
    count = affinity()
    try:
        quota, period = CPU_QUOTA.read_text(encoding="ascii").split()
        return max(1, min(count, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file; no limit, which is `max`
        return count


def affinity() -> int:
    """Return how many processors the system lets this process run on, at least 1."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    """Have the garbage collector look rarely inside the block, and at new objects only."""
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
    """Refuse to limit memory where it cannot be: macOS does not keep a limit, Windows has none."""
    if sys.platform != "linux":
        finding = f"this is {sys.platform}"
        raise UsageError(
            [Problem(source="--memory-limit", found=finding, expected="Linux", hint="leave it out")]
        )


def check_address_space() -> None:
    """Refuse to work where `ulimit -v` leaves libraries no room; let them take it where it does.

    Raises:
        MemoryError: there is less than they may need.
    """
    if sys.platform == "win32":
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    if limit < LEAST_ADDRESS_SPACE * 1024:
        found = f"too little memory: the address space is limited to {limit // 1024:,} kB"
        raise MemoryError(f"{found}, expected {LEAST_ADDRESS_SPACE:,} or more (ulimit -v)")
    _have_libraries_settle()


def _have_libraries_settle() -> None:
    """Make libraries allocate the memory that they need.

    Later, where there is none left, OpenBLAS would not raise an error but end the process, with
    code 1, and a library that is not loaded yet could do anything.
    """
    from stickler_cli.compare.assignment import assign_product  # few processes have a limit

    assign_product(256)


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """Raise MemoryError where the block takes so many more bytes of address space."""
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
    """Waiting was given up because the run is to end."""


class Interruption:
    """Whether a run is to end early, and by which signal it was asked to."""

    def __init__(self) -> None:
        self.signal: int | None = None
        """The signal that asked; None as long as none has."""
        self._waiting = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first signal of the block as a wish; a second one acts as before."""
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
        """Call something that may take long and may be given up at any point.

        Raises:
            Interrupted: the run is to end.
        """
        self._waiting = True  # first: a signal between these lines must not be overlooked
        try:
            if self.signal is not None:
                raise Interrupted
            return call(*args, **kwargs)
        finally:
            self._waiting = False


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a signal end the process at once, where there is nothing to tell and no file is open.

    Python hears no signal in the middle of a call of a library, and one may take long.
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
    """Yield items until the run is asked to end; then stop waiting for the next one."""
    iterator = iter(items)
    while True:
        try:
            yield interruption.wait(next, iterator)
        except (StopIteration, Interrupted):
            return
