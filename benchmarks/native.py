"""Build the native floor: the same evaluation as a compiled program, a limit for its speed."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from benchmarks.processes import ProcessError
from benchmarks.sets import Written

SOURCE: Final = Path(__file__).parent / "native_floor.rs"


def build(directory: Path) -> Path | None:
    """Compile the native floor, and return its path; None if there is no Rust compiler.

    Raises:
        ProcessError: it does not compile.
    """
    compiler = shutil.which("rustc")
    if compiler is None:
        return None
    program = directory / "native_floor"
    options = ["-C", "opt-level=3", "--edition", "2021", "-o", str(program)]
    built = subprocess.run(
        [compiler, *options, str(SOURCE)], capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise ProcessError(f"{SOURCE.name} does not compile; rustc said: {built.stderr.strip()}")
    return program


def command(program: Path, written: Written) -> list[str]:
    """Return the command line that runs the native floor on a set of documents."""
    return [str(program), str(written.schema), str(written.gt), str(written.pred)]
