"""How other processes are started: the way that is cheap where it is safe.

A module of its own, which loads nothing of the engine, so that workers can begin to load it before
this process has done so itself.
"""

import sys
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, SpawnContext
from typing import Final

PRELOADED: Final = (
    "stickler_cli.runs.workers",
    "stickler_cli.comparators.date",
    "stickler_cli.comparators.levenshtein",
    "stickler_cli.comparators.numeric",
    "scipy.optimize",
)
"""What workers need, loaded once for all of them."""


def context_of_workers() -> ForkServerContext | SpawnContext:
    """Give the way to start processes.

    Threads may be running in this process, so that a fork of it would not be safe. A fork of a
    server that has loaded the engine, and has no threads of ours, is.
    """
    if sys.platform != "linux":
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def warm_up() -> None:
    """Begin to load what workers need, beside this process; starting them later is quick then."""
    if isinstance(context_of_workers(), ForkServerContext):
        from multiprocessing.forkserver import ensure_running  # Windows has no such module

        ensure_running()
