"""The program's door: `stickler` and `python -m stickler_cli`."""

import gc
import os
import sys

from stickler_cli import __version__


def stickler() -> None:
    """Run one command, and end the process with its exit code."""
    sys.exit(run_program())


def run_program() -> int:
    """Run one command as a process of its own, and return its exit code.

    A library must not decide about the whole process. OpenBLAS starts a thread for each processor,
    and waits for ever for one that found no address space; matrices here are small, and a process
    of one thread can be forked. Modules are no garbage: to look for cycles among them, at the start
    and the end, takes a fifth of a small run.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):  # needs nothing that a command does
        try:
            os.write(1, f"stickler {__version__}{os.linesep}".encode())
        except OSError:
            pass  # told below, as any command tells it
        else:
            return 0
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.disable()
    try:
        from stickler_cli.cli import COLLECTED_AFTER, main  # after what is decided above
    except KeyboardInterrupt:
        return 130  # Ctrl-C, as ever
    except Exception as error:  # noqa: BLE001 - Python would end with 1, "a gate failed"
        kind = type(error).__name__
        print(f"error: the program cannot be loaded ({kind}: {error})", file=sys.stderr)  # noqa: T201
        return 4
    gc.set_threshold(COLLECTED_AFTER)
    gc.freeze()  # counts from here
    gc.enable()
    code = main()
    gc.freeze()
    return code


if __name__ == "__main__":
    stickler()
