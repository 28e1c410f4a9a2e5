"""A guard against getting slower that no other load on the machine can disturb.

Instructions, as valgrind counts them, of this project and of the floor on the same documents: the
ratio of the two is kept in instructions.json and holds on other machines.
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
"""How far above the baseline a ratio may be: other versions of the libraries move it by some
hundredths, a change that is felt moves it by more."""

COUNTS: Final = {"invoices-10": 40, "deep": 4, "wide": 20, "dates": 12}
"""Documents a set, so many that start-up, which is taken off, does not blur them."""

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
        found = _COUNTED.search(log.read())
    if found is None:
        raise ProcessError("valgrind told no number of instructions")
    return int(found[1])


def measure(names: Sequence[str], seed: int, *, update: bool) -> Report:
    """Compare the ratios to the floor with those of the baseline, or make them the baseline.

    Raises:
        ProcessError: a program failed, or there is no valgrind.
    """
    if shutil.which("valgrind") is None:
        raise ProcessError("instructions are counted by valgrind; install it (apt, dnf, ...)")
    baseline = json.loads(BASELINE.read_text("utf-8")) if BASELINE.exists() else {}
    rows, failures, found = [], [], {}
    for name in names:
        ours, floor = _net(name, seed)
        found[name] = round(ours / floor, 3)
        known = baseline.get(name)
        if update:  # at once: a set takes minutes
            BASELINE.write_text(json.dumps(baseline | found, indent=1) + "\n", "utf-8")
        rows.append([name, f"{ours:,}", f"{floor:,}", f"{found[name]:.3f}", str(known or "-")])
        if known is not None and found[name] > known * GROWTH and not update:
            failures.append(
                f"{name}: {found[name]:.3f} times the floor's instructions, {known} before;"
                " find out why, or accept it with --update"
            )
    return Report(
        "Instructions",
        ("set", "ours", "floor", "ratio", "baseline"),
        rows,
        found,
        notes=(f"Net of start-up. A ratio may be {GROWTH} times its baseline.",),
        failures=failures,
    )


def _net(name: str, seed: int) -> tuple[int, int]:
    """Count for this project and for the floor: many documents less one."""
    with tempfile.TemporaryDirectory() as directory:
        one, many = (
            write(SETS[name], Path(directory, str(documents)), documents, seed)
            for documents in (1, COUNTS[name])
        )
        return _less(programs.ours, many, one), _less(programs.floor, many, one)


def _less(program: Callable[[Written], list[str]], many: Written, one: Written) -> int:
    # A run that is not counted writes the bytecode, which would count in the first one only.
    run(program(one))
    return count(program(many)) - count(program(one))
