"""Connections to servers, opened when they are first needed and closed together.

Asynchronous clients live on one event loop of their own, in a thread of its own: so they serve
threads, notebooks and one run after the other alike.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Hashable
from functools import cache
from typing import Any, Final, TypeVar

T = TypeVar("T")

_lock: Final = threading.RLock()
_open: Final[dict[Hashable, tuple[Any, Callable[[], object]]]] = {}


def client(key: Hashable, make: Callable[[], T], close: Callable[[T], object]) -> T:
    """Give the client of a key; it is made where there is none.

    Args:
        key: everything that it is made from, the environment's say included.
        make: makes it.
        close: closes it.
    """
    with _lock:
        if key not in _open:
            made = make()
            _open[key] = made, lambda: close(made)
        found: T = _open[key][0]
        return found


def close_clients() -> None:
    """Close all clients."""
    with _lock:
        while _open:
            _, (_, close) = _open.popitem()
            close()


def in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work on the loop that asynchronous clients live on."""
    with _lock:
        loop = _started_loop()
    return asyncio.run_coroutine_threadsafe(work, loop).result()


@cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop
