"""The command lines of the measured programs, and a reader of their output."""

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
    """Return the command line of this project as users type it, with `jobs` processes."""
    options = ["--no-config", "--jobs", jobs, *extra_options]
    return [sys.executable, "-m", "stickler_cli", "eval", *_paths(written), *options]


def ours(written: Written, *extra_options: str, jobs: str = "1") -> list[str]:
    """Return the command line of this project that is compared with other programs.

    It prints the table. Its pairing floor is the one of stickler-eval, which pairs all items.
    """
    return evaluation(written, "--pairing-floor", "-1", *extra_options, jobs=jobs)


def ours_as_json(written: Written, jobs: str = "1") -> list[str]:
    """Return the command line of this project that prints all counts, and rows for documents."""
    return ours(written, "--format", "json", jobs=jobs)


def floor(written: Written) -> list[str]:
    """Return the command line of the floor (floor.py)."""
    return [sys.executable, "-m", "benchmarks.floor", *_paths(written)]


def reference(python: str, written: Written) -> list[str]:
    """Return the command line that runs stickler-eval with the Python `python`."""
    return [python, str(_HERE / "reference.py"), *_paths(written)]


def reference_version(python: str) -> str | None:
    """Return the version of stickler-eval that is installed for a Python; None if it is not."""
    try:
        process = subprocess.run(
            [python, "-c", _VERSION], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return process.stdout.strip() if process.returncode == 0 else None


def read_result(output: bytes) -> Result:
    """Return the result in the JSON output of any of the programs."""
    value = orjson.loads(output)
    return Result.from_run(value) if "format" in value else Result.from_json(value)


def _paths(written: Written) -> Sequence[str]:
    return [str(written.schema), str(written.gt), str(written.pred)]
