"""The program's door: `stickler` and `python -m stickler_cli`."""

import os
import sys

from stickler_cli.cli import main


def program() -> int:
    """Run one command as a process of its own, and return its exit code.

    What is decided here is about the whole process, so a library must not decide it. OpenBLAS
    starts a thread for each processor when numpy is loaded. Nothing here multiplies matrices, and
    a process that has one thread can be forked.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return main()


if __name__ == "__main__":
    sys.exit(program())
