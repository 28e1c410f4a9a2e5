"""Guard against slower code by counting instructions, which do not depend on other load.

Valgrind counts the instructions of this project and of the floor on the same documents. Their ratio
is kept in instructions.json and holds on other machines.
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
"""Allowed ratio to the baseline: other versions of libraries change the figure by a few percent, a
noticeable change of the code by more."""

COUNTS: Final = {"invoices-10": 40, "deep": 4, "wide": 20, "dates": 12}
"""Number of documents of each set, large enough that subtracting start-up leaves little noise."""

_SETTINGS: Final = ("PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1")
_COUNTED: Final = re.compile(rb"Collected : (\d+)")


def count(command: Sequence[str]) -> int:
    """Count the instructions of a program.

    Raises:
        ProcessError: it failed.
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
    """Compare the ratios to the floor with the baseline, or make them the baseline.

    Raises:
        ProcessError: a program failed, or there is no valgrind.
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
    """Count instructions of this project and of the floor: several documents minus one."""
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
