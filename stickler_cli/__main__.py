"""The program's door: `stickler` and `python -m stickler_cli`."""

import gc
import os
import sys

from stickler_cli.runs.limits import COLLECTED_AFTER


def program() -> int:
    """Run one command as a process of its own, and return its exit code.

    What is decided here is about the whole process, so a library must not decide it. OpenBLAS
    starts a thread for each processor when numpy is loaded. Nothing here multiplies matrices, and
    a process that has one thread can be forked. Modules are no garbage: to look for cycles among
    them while they are loaded, and again when the process ends, takes a fifth of a small run.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(COLLECTED_AFTER)
    from stickler_cli.cli import main  # after what is decided above

    code = main()
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(program())
