"""Run programs as whole processes, in turns, and measure them."""

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
"""Users' installations have their bytecode; without it, compiling is all that is measured."""


class ProcessError(Exception):
    """A measured program that failed or took too long."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended well."""

    seconds: float
    """From start to exit, by the clock on the wall."""
    output: bytes
    processor: float = 0.0
    """Seconds of processor time, of all its processes; other load disturbs them less."""


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
            env=environment(),
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProcessError(f"{_name(command)} took more than {timeout:.0f} s") from None
    seconds = time.perf_counter() - start
    if process.returncode:
        said = process.stderr.decode("utf-8", "replace").strip() or "nothing"
        raise ProcessError(f"{_name(command)} exited with {process.returncode}; it said: {said}")
    return Finished(seconds, process.stdout, _processor_seconds() - before)


def in_turns(
    commands: Mapping[str, Sequence[str]], repeat: int, *, warm_up: bool = True
) -> dict[str, list[Finished]]:
    """Run each program once to warm up, then all of them in turns.

    What else the machine does meanwhile then slows them all alike. Every other round goes
    backwards, so that none always follows the same one.
    """
    for command in commands.values() if warm_up else ():
        run(command)
    finished: dict[str, list[Finished]] = {name: [] for name in commands}
    for turn in range(repeat):
        for name in list(commands)[:: -1 if turn % 2 else 1]:
            finished[name].append(run(commands[name]))
    return finished


def median_seconds(finished: Sequence[Finished]) -> float:
    """Give the median of what some runs took."""
    return statistics.median(one.seconds for one in finished)


def median_processor_seconds(finished: Sequence[Finished]) -> float:
    """Give the median of the processor time of some runs."""
    return statistics.median(one.processor for one in finished)


def _processor_seconds() -> float:
    """Give what all processes took that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def environment(**more: str) -> dict[str, str]:
    """Give the environment of a measured process; this checkout comes before what is installed."""
    checkout = str(Path(__file__).parents[1])
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    paths = [checkout, *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(paths)} | more


def _name(command: Sequence[str]) -> str:
    return " ".join(Path(part).name for part in command[:3])
