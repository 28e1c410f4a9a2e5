"""Entry point of the program: the commands `stickler` and `python -m stickler_cli`."""

import gc
import os
import sys

from stickler_cli import __version__


def stickler() -> None:
    """Run one command, and exit with its exit code."""
    sys.exit(run_program())


def run_program() -> int:
    """Run one command as the main program of a process; return its exit code.

    The settings made here affect the whole process, so a library must not make them.

    OpenBLAS gets one thread. By default, it starts a thread for each processor, and it hangs if one
    of the threads gets no address space. One thread is enough for the small matrices of this
    program, and a process with one thread can be forked.

    The garbage collector skips the objects of imported modules, because they are never garbage.
    Searching them would take a fifth of the time of a small run.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):  # needs no module that a command needs
        try:
            os.write(1, f"stickler {__version__}{os.linesep}".encode())
        except OSError:
            pass  # reported below, like any error of a command
        else:
            return 0
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.disable()
    try:
        from stickler_cli.cli import COLLECTED_AFTER, main  # import it after the settings above
    except KeyboardInterrupt:
        return 130  # Ctrl-C acts as usual
    except Exception as error:  # noqa: BLE001 - Python would end with 1, "a gate failed"
        kind = type(error).__name__
        print(f"error: the program cannot be loaded ({kind}: {error})", file=sys.stderr)  # noqa: T201
        return 4
    gc.set_threshold(COLLECTED_AFTER)
    gc.freeze()  # collections ignore all objects so far
    gc.enable()
    code = main()
    gc.freeze()
    return code


if __name__ == "__main__":
    stickler()
