"""The program's door: `stickler` and `python -m stickler_cli`."""

import atexit
import gc
import os
import sys
from types import ModuleType

from stickler_cli import __version__

DOCSTRINGS = "numpy._core._add_newdocs"
"""The module that gives functions in C their docstrings."""


def stickler() -> None:
    """Run one command, and end the process with its exit code.

    All that is registered for the end is done; but Python does not take apart what ends with the
    process: of a small run that is a twentieth.
    """
    codes: list[int] = []
    if not atexit._ncallbacks():  # noqa: SLF001 - the first to be registered is the last to be called
        atexit.register(_leave, codes)
    codes.append(program())
    sys.exit(*codes)


def _leave(codes: list[int]) -> None:
    for code in codes:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(code)


def program() -> int:
    """Run one command as a process of its own, and return its exit code.

    A library must not decide about the whole process. OpenBLAS starts a thread for each processor,
    and waits for ever for one that found no address space; matrices here are small, and a process
    of one thread can be forked. Modules are no garbage: to look for cycles among them, at the start
    and the end, takes a fifth of a small run. Nobody reads docstrings of numpy in a command, which
    take another twentieth.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):  # needs nothing that a command does
        try:
            os.write(1, f"stickler {__version__}{os.linesep}".encode())
        except OSError:
            pass  # told below, as any command tells it
        else:
            return 0
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.modules.setdefault(DOCSTRINGS, ModuleType(DOCSTRINGS))
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
