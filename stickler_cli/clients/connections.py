"""The connections of a client to servers, and its loaded local models. Each is opened only once.

Asynchronous libraries share an event loop, which runs in its own thread. They can therefore be used
from any thread, and in notebooks.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final, TypeVar

from stickler_cli.core.threads import NotInTimeError, run_within

T = TypeVar("T")

LATE: Final = "no answer within {:g} seconds"


class Connections:
    """Opens each connection when it is first needed, and keeps it until all of them are closed."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        """Seconds that a request may take."""
        self._lock = threading.RLock()
        self._open: dict[Hashable, tuple[Any, Callable[[Any], object]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def opened(
        self, key: Hashable, make: Callable[[], T], close: Callable[[T], object] = lambda _: None
    ) -> T:
        """Return the connection kept under `key`. If there is none yet, open it by calling `make`.

        `close` will be called to close the connection. Always pass the same `make` for the same
        key.
        """
        with self._lock:
            if key not in self._open:
                self._open[key] = make(), close
            connection: T = self._open[key][0]
            return connection

    def run(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Run asynchronous work on the shared event loop, and return its result.

        The time limit is needed because the timeouts of libraries start again with each byte. They
        do not notice a server that sends one byte now and then.

        Raises:
            TimeoutError: the work takes longer than `seconds`, or longer than a request may take if
                `seconds` is None.
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
        """Run work that cannot be interrupted in a thread, and return its result.

        If the work takes too long, its thread continues to run, and its result is ignored.

        Raises:
            TimeoutError: the work takes longer than a request may take.
        """
        try:
            return run_within(self.timeout, work)
        except NotInTimeError:
            raise TimeoutError(LATE.format(self.timeout)) from None

    def close_asynchronous(self, connection: Any) -> None:
        """Close an asynchronous connection on the event loop.

        Raise TimeoutError if this takes more than 5 seconds.
        """
        self.run(connection.close(), seconds=5.0)

    def close(self) -> None:
        """Close all connections; those needed later are opened again."""
        with self._lock:
            while self._open:
                _, (connection, close) = self._open.popitem()
                close(connection)
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
