"""Connections to servers and models in memory that a client has opened, each once.

Asynchronous libraries have one event loop, in a thread of its own: it serves threads and notebooks.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

T = TypeVar("T")

LATE: Final = "no answer within {:g} seconds"


class Connections:
    """Connections by key, opened when they are first needed and closed together."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        """Seconds that a request may take."""
        self._lock = threading.RLock()
        self._open: dict[Hashable, tuple[Any, Callable[[Any], object]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def opened(
        self, key: Hashable, make: Callable[[], T], close: Callable[[T], object] = lambda _: None
    ) -> T:
        """Return the connection under a key; the key contains everything that it is made from."""
        with self._lock:
            if key not in self._open:
                self._open[key] = make(), close
            connection: T = self._open[key][0]
            return connection

    def run(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Return the result of asynchronous work, done on the loop of all such work.

        It is waited for as long as a request may take: a server that sends a byte now and then
        would never be late.

        Raises:
            TimeoutError: it takes longer.
        """
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=[self._loop], daemon=True).start()
            loop = self._loop
        future = asyncio.run_coroutine_threadsafe(work, loop)
        seconds = self.timeout if seconds is None else seconds
        try:
            return future.result(seconds)
        except TimeoutError as error:
            raise TimeoutError(str(error) or LATE.format(seconds)) from None
        finally:
            future.cancel()

    def run_blocking(self, work: Callable[[], T]) -> T:
        """Return the result of work that cannot be interrupted; if it is late, its thread is left.

        Raises:
            TimeoutError: it takes longer than a request may.
        """
        future = in_thread(work)
        if not wait([future], self.timeout).done:
            raise TimeoutError(LATE.format(self.timeout))
        return future.result()

    def close_asynchronous(self, connection: Any) -> None:
        """Close an asynchronous connection on its loop; TimeoutError if that takes long."""
        self.run(connection.close(), seconds=5.0)

    def close(self) -> None:
        """Close everything; a connection that is needed again is opened again."""
        with self._lock:
            while self._open:
                _, (connection, close) = self._open.popitem()
                close(connection)
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Return the result of work to come, in a thread that does not delay the end of the program.

    Those of a `ThreadPoolExecutor` would keep the program from ending while a server thinks.
    """
    future = Future[T]()

    def serve() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            future.set_exception(error)

    threading.Thread(target=serve, daemon=True).start()
    return future


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
