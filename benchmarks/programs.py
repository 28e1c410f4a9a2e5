"""Commands of the measured programs, and a reader of their output."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import orjson

from benchmarks.agreement import Result
from benchmarks.sets import Written

_HERE: Final = Path(__file__).parent

_VERSION: Final = "import importlib.metadata as m; print(m.version('stickler-eval'))"


def evaluation(written: Written, *extra_options: str, jobs: str = "1") -> list[str]:
    """Return the command of this project as users type it, with the given number of processes."""
    options = ["--no-config", "--jobs", jobs, *extra_options]
    return [sys.executable, "-m", "stickler_cli", "eval", *_paths(written), *options]


def ours(written: Written, *extra_options: str, jobs: str = "1") -> list[str]:
    """Return the command that is compared with other programs; it prints the table.

    Its pairing floor is the one of stickler-eval, which pairs all items.
    """
    return evaluation(written, "--pairing-floor", "-1", *extra_options, jobs=jobs)


def ours_as_json(written: Written, jobs: str = "1") -> list[str]:
    """Return the command that prints all counts and a row for each document."""
    return ours(written, "--format", "json", jobs=jobs)


def floor(written: Written) -> list[str]:
    """Return the command of the floor."""
    return [sys.executable, "-m", "benchmarks.floor", *_paths(written)]


def reference(python: str, written: Written) -> list[str]:
    """Return the command of stickler-eval."""
    return [python, str(_HERE / "reference.py"), *_paths(written)]


def reference_version(python: str) -> str | None:
    """Return the version of stickler-eval in a Python, or None if it is not installed."""
    try:
        process = subprocess.run(
            [python, "-c", _VERSION], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return process.stdout.strip() if process.returncode == 0 else None


def read_result(output: bytes) -> Result:
    """Read the output of any of the programs."""
    value = orjson.loads(output)
    return Result.from_run(value) if "format" in value else Result.from_json(value)


def _paths(written: Written) -> Sequence[str]:
    return [str(written.schema), str(written.gt), str(written.pred)]
