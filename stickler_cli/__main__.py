"""The program's door: `stickler` and `python -m stickler_cli`."""

import gc
import os
import sys

from stickler_cli.runs.limits import COLLECTED_AFTER


def program() -> int:
    """Run one command as a process of its own, and return its exit code.

    A library must not decide about the whole process. OpenBLAS starts a thread for each processor,
    but nothing here multiplies matrices, and a process of one thread can be forked. Modules are no
    garbage: to look for cycles among them, at the start and the end, takes a fifth of a small run.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(COLLECTED_AFTER)
    from stickler_cli.cli import main  # after what is decided above

    code = main()
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(program())
