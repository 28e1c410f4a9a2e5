"""Detect slower code by counting instructions, which do not depend on other load.

Valgrind counts the instructions of this project and of the floor (floor.py) on the same documents.
The ratio of the two counts is kept in instructions.json. It is about the same on other machines.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from benchmarks import programs
from benchmarks.processes import ProcessError, run
from benchmarks.report import Report
from benchmarks.sets import SETS, Written, write

BASELINE: Final = Path(__file__).parent / "instructions.json"

GROWTH: Final = 1.1
"""How much larger than in instructions.json the ratio may be. Other versions of libraries change it
by a few percent, and a noticeable change of the code changes it more."""

COUNTS: Final = {"invoices-10": 40, "deep": 4, "wide": 20, "dates": 12}
"""Number of documents of each set. It is so large that little noise is left after the instructions
of the start-up are subtracted."""

_SETTINGS: Final = ("PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1")
_COUNTED: Final = re.compile(rb"Collected : (\d+)")


def count(command: Sequence[str]) -> int:
    """Run a program, and return the number of its instructions.

    Raises:
        ProcessError: the program failed.
    """
    with tempfile.NamedTemporaryFile() as log:
        valgrind = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            f"--log-file={log.name}",
        ]
        run(["env", *_SETTINGS, *valgrind, *command], timeout=1800)
        match = _COUNTED.search(log.read())
    if match is None:
        raise ProcessError("valgrind told no number of instructions")
    return int(match[1])


def measure(names: Sequence[str], seed: int, *, update: bool) -> Report:
    """Compare the ratios of instructions with those in instructions.json.

    If `update` is True, write the measured ratios to instructions.json instead.

    Raises:
        ProcessError: a program failed, or Valgrind is not installed.
    """
    if shutil.which("valgrind") is None:
        raise ProcessError("instructions are counted by valgrind; install it (apt, dnf, ...)")
    baseline = json.loads(BASELINE.read_text("utf-8")) if BASELINE.exists() else {}
    rows, failures, ratios = [], [], {}
    for name in names:
        ours, floor = _measure_net(name, seed)
        ratios[name] = round(ours / floor, 3)
        expected = baseline.get(name)
        if update:  # at once: a set takes minutes
            BASELINE.write_text(json.dumps(baseline | ratios, indent=1) + "\n", "utf-8")
        rows.append([name, f"{ours:,}", f"{floor:,}", f"{ratios[name]:.3f}", str(expected or "-")])
        if expected is not None and ratios[name] > expected * GROWTH and not update:
            failures.append(
                f"{name}: {ratios[name]:.3f} times the floor's instructions, {expected} before;"
                " find out why, or accept it with --update"
            )
    return Report(
        title="Instructions",
        columns=("set", "ours", "floor", "ratio", "baseline"),
        rows=rows,
        record=ratios,
        notes=(f"Net of start-up. A ratio may be {GROWTH} times its baseline.",),
        failures=failures,
    )


def _measure_net(name: str, seed: int) -> tuple[int, int]:
    """Return the instructions of (this project, the floor) for the documents of a set.

    The instructions for a single document, mostly start-up, are subtracted.
    """
    with tempfile.TemporaryDirectory() as directory:
        single, several = (
            write(SETS[name], Path(directory, str(documents)), documents, seed)
            for documents in (1, COUNTS[name])
        )
        return _subtract_start_up(programs.ours, several, single), _subtract_start_up(
            programs.floor, several, single
        )


def _subtract_start_up(
    program: Callable[[Written], list[str]], several: Written, single: Written
) -> int:
    # The first run is not counted: it writes bytecode, which later runs only read.
    run(program(single))
    return count(program(several)) - count(program(single))
