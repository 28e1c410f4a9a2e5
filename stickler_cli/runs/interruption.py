"""Ctrl-C and SIGTERM: asked once, a run ends early and in order; asked twice, at once."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, ParamSpec, TypeVar

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

P = ParamSpec("P")
T = TypeVar("T")


class Interrupted(KeyboardInterrupt):
    """Waiting was given up because the run is to end."""


class Interruption:
    """Whether a run is to end early, and by which signal it was asked to."""

    def __init__(self) -> None:
        self.signal: int | None = None
        """The signal that asked; None as long as none has."""
        self._waiting = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first signal of the block as a wish; a second one does what it did before."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Python delivers signals to the main thread only
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}

        def ask(number: int, frame: FrameType | None) -> None:
            restore()
            self.signal = number
            if self._waiting:
                raise Interrupted

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        for number in SIGNALS:
            signal.signal(number, ask)
        try:
            yield
        finally:
            restore()

    def wait(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call something that may take long and may be given up at any point.

        Raises:
            Interrupted: the run is to end.
        """
        self._waiting = True  # first: a signal between these lines must not be overlooked
        try:
            if self.signal is not None:
                raise Interrupted
            return call(*args, **kwargs)
        finally:
            self._waiting = False


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a signal end the process at once, where there is nothing to tell and no file is open.

    Python hears no signal in the middle of a call of a library, and one may take long.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = {number: signal.getsignal(number) for number in SIGNALS}
    heard = {number: handler for number, handler in heard.items() if handler != signal.SIG_IGN}
    for number in heard:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def until_interrupted(items: Iterable[T], interruption: Interruption) -> Iterator[T]:
    """Yield items as long as nobody asks to end; waiting for the next one is given up then."""
    rest = iter(items)
    while True:
        try:
            yield interruption.wait(next, rest)
        except (StopIteration, Interrupted):
            return
