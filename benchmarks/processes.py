"""Run programs as whole processes, one after the other, and measure them."""

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_NOT_PASSED_ON: Final = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Variables that would turn off bytecode; without it, a run would mostly measure compilation."""


class ProcessError(Exception):
    """A measured program that failed or took too long."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended with exit code 0."""

    seconds: float
    """Wall-clock time from start to exit."""
    output: bytes
    processor: float = 0.0
    """Seconds of processor time of the process and its children; less disturbed by other load."""


def run(command: Sequence[str], *, timeout: float = 600.0) -> Finished:
    """Run a program to its end.

    Args:
        command: the program and its arguments.
        timeout: seconds after which it is killed.

    Raises:
        ProcessError: it exited with anything but 0, or was killed.
    """
    start, before = time.perf_counter(), _processor_seconds()
    try:
        process = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=build_environment(),
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProcessError(f"{_name(command)} took more than {timeout:.0f} s") from None
    seconds = time.perf_counter() - start
    if process.returncode:
        message = process.stderr.decode("utf-8", "replace").strip() or "nothing"
        raise ProcessError(f"{_name(command)} exited with {process.returncode}; it said: {message}")
    return Finished(seconds, process.stdout, _processor_seconds() - before)


def run_in_turns(
    commands: Mapping[str, Sequence[str]], repeat: int, *, warm_up: bool = True
) -> dict[str, list[Finished]]:
    """Run each program once to warm up, then all of them in alternating rounds.

    Other load on the machine then slows all programs equally. Every second round is reversed, so
    that no program always follows the same one.
    """
    for command in commands.values() if warm_up else ():
        run(command)
    finished: dict[str, list[Finished]] = {name: [] for name in commands}
    for round_index in range(repeat):
        for name in list(commands)[:: -1 if round_index % 2 else 1]:
            finished[name].append(run(commands[name]))
    return finished


def median_seconds(finished: Sequence[Finished]) -> float:
    """Return the median time of some processes."""
    return statistics.median(process.seconds for process in finished)


def median_processor_seconds(finished: Sequence[Finished]) -> float:
    """Return the median processor time of some processes."""
    return statistics.median(process.processor for process in finished)


def _processor_seconds() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build_environment(**variables: str) -> dict[str, str]:
    """Make the environment of a measured process, in which this checkout is imported first."""
    checkout = str(Path(__file__).parents[1])
    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    paths = [checkout, *filter(None, [inherited.get("PYTHONPATH")])]
    return inherited | {"PYTHONPATH": os.pathsep.join(paths)} | variables


def _name(command: Sequence[str]) -> str:
    return " ".join(Path(word).name for word in command[:3])
