"""The programs that are measured: how each is called, and how its output is read."""

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


def evaluation(written: Written, *more: str, jobs: str = "1") -> list[str]:
    """Give the command of this project as users type it, in so many processes."""
    options = ["--no-config", "--jobs", jobs, *more]
    return [sys.executable, "-m", "stickler_cli", "eval", *_paths(written), *options]


def ours(written: Written, *more: str, jobs: str = "1") -> list[str]:
    """Give the command that is held against others; it prints the table.

    The pairing floor is that of stickler-eval, which pairs all.
    """
    return evaluation(written, "--pairing-floor", "-1", *more, jobs=jobs)


def ours_as_json(written: Written, jobs: str = "1") -> list[str]:
    """Give the command that prints all counts, and an account of each document."""
    return ours(written, "--format", "json", jobs=jobs)


def floor(written: Written) -> list[str]:
    """Give the command of the least that the job takes."""
    return [sys.executable, "-m", "benchmarks.floor", *_paths(written)]


def reference(python: str, written: Written) -> list[str]:
    """Give the command of stickler-eval."""
    return [python, str(_HERE / "reference.py"), *_paths(written)]


def reference_version(python: str) -> str | None:
    """Give the version of stickler-eval that a Python has; None where it has none."""
    try:
        shown = subprocess.run(
            [python, "-c", _VERSION], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return shown.stdout.strip() if shown.returncode == 0 else None


def result_of(output: bytes) -> Result:
    """Read what any of the programs printed."""
    value = orjson.loads(output)
    return Result.from_run(value) if "format" in value else Result.from_json(value)


def _paths(written: Written) -> Sequence[str]:
    return [str(written.schema), str(written.gt), str(written.pred)]
