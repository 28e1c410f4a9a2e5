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
"""Environment variables that would turn off the storing of bytecode. Measured programs do not get
them; otherwise, mostly compilation would be measured."""


class ProcessError(Exception):
    """A measured program that failed or took too long."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended with exit code 0."""

    seconds: float
    """Wall-clock time from start to exit."""
    output: bytes
    processor: float = 0.0
    """Seconds of processor time of the process and its children. Other load on the machine changes
    them less than `seconds`."""


def run(command: Sequence[str], *, timeout: float = 600.0) -> Finished:
    """Run a program, and wait until it ends.

    Args:
        command: the program and its arguments.
        timeout: number of seconds after which the program is killed.

    Raises:
        ProcessError: the exit code was not 0, or the program was killed.
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
    """Run each program `repeat` times, in turns; return a dict from name to the finished processes.

    All programs run once in each round, so that other load on the machine slows all of them
    equally. The order is reversed in every second round, so that no program always follows the same
    one. With `warm_up`, each program first runs once without being measured.
    """
    for command in commands.values() if warm_up else ():
        run(command)
    finished: dict[str, list[Finished]] = {name: [] for name in commands}
    for round_index in range(repeat):
        for name in list(commands)[:: -1 if round_index % 2 else 1]:
            finished[name].append(run(commands[name]))
    return finished


def median_seconds(finished: Sequence[Finished]) -> float:
    """Return the median of the wall-clock times of processes, in seconds."""
    return statistics.median(process.seconds for process in finished)


def median_processor_seconds(finished: Sequence[Finished]) -> float:
    """Return the median of the processor times of processes, in seconds."""
    return statistics.median(process.processor for process in finished)


def _processor_seconds() -> float:
    """Return the seconds of processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build_environment(**variables: str) -> dict[str, str]:
    """Return the environment variables of a measured process.

    The process imports modules from this checkout first. `variables` are added to those of this
    process.
    """
    checkout = str(Path(__file__).parents[1])
    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    paths = [checkout, *filter(None, [inherited.get("PYTHONPATH")])]
    return inherited | {"PYTHONPATH": os.pathsep.join(paths)} | variables


def _name(command: Sequence[str]) -> str:
    return " ".join(Path(word).name for word in command[:3])
