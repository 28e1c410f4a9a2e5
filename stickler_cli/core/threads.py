"""Work in threads that do not delay the end of the program."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

T = TypeVar("T")


class NotInTimeError(Exception):
    """Work did not end in time."""


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Start work in a thread, and return a future with its result.

    The program can end before the work is done. With a `ThreadPoolExecutor`, it would wait until
    all threads are done, for example until a slow server answers.
    """
    future = Future[T]()

    def serve() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            future.set_exception(error)

    threading.Thread(target=serve, daemon=True).start()
    return future


def run_within(seconds: float, work: Callable[[], T]) -> T:
    """Run work in a thread, and return its result; for work that cannot be interrupted.

    If the work takes too long, its thread is left to itself.

    Raises:
        NotInTimeError: the work takes longer than `seconds`.
    """
    future = in_thread(work)
    if not wait([future], seconds).done:
        raise NotInTimeError
    return future.result()
