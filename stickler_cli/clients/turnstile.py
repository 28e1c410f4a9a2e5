"""Where all calls to one model on one server pass: one after the other, or none for a while.

A circuit breaker with what libraries of them lack: `pybreaker` holds a lock for as long as a call
takes, so that calls wait for each other; it and `purgatory` know neither `Retry-After` nor a run
that ends; and neither spaces calls, which `pyrate-limiter` does in bursts.
"""

import threading
from time import monotonic
from typing import Final

from stickler_cli.clients.models.model import UnaskedError
from stickler_cli.core.values import dataclass

MOST_FAILURES: Final = 10  # calls in a row
COOL_DOWN: Final = 30.0  # seconds without calls after that, where the server does not say


@dataclass(frozen=True, slots=True)
class Passage:
    """A call that was let through."""

    at: float
    alone: bool
    """Whether others wait for what comes of it."""


class Turnstile:
    """Lets calls through, one alone at first: it tells whether the key and the model are taken."""

    def __init__(self, name: str, per_minute: float | None = None) -> None:
        """Open it for a model; None is no limit on how many calls pass in a minute."""
        self._name = name
        self._spacing = 60 / per_minute if per_minute else 0.0
        self._changed = threading.Condition()
        self._opens = 0.0
        self._proven = False  # a call came back, and was not refused
        self._alone = False  # a call for which others wait is under way
        self._failures = 0  # since a call was answered
        self._last = ""
        self._closed_until = 0.0
        self._told_to_wait = 0.0
        self.answered = False

    def enter(self, wait: float, stopped: threading.Event) -> Passage | UnaskedError:
        """Wait that long, and until the turnstile is open; or say why there must be no call."""
        with self._changed:
            earliest = monotonic() + wait
            while True:
                now = monotonic()
                if stopped.is_set():
                    return UnaskedError("the run was stopped")
                broken = self._failures >= MOST_FAILURES
                if broken and now < self._closed_until:
                    found = f"not asked, since {self._failures} calls to {self._name} in a row"
                    return UnaskedError(f"{found} failed; the last one: {self._last}")
                alone = broken or not self._proven
                left = max(earliest, self._opens) - now
                if left <= 0 and not (alone and self._alone):
                    self._alone = alone or self._alone
                    self._opens = now + self._spacing
                    return Passage(now, alone)
                self._changed.wait(left if left > 0 else None)

    def succeeded(self, passage: Passage) -> None:
        """Take note of a call that was answered."""
        with self._changed:
            self._failures = 0
            self.answered = True
            self._back(passage)

    def failed(self, passage: Passage, why: str, asked: float | None, *, waits: bool) -> None:
        """Take note of a call that failed; `asked` are the seconds that the server asks to wait.

        With `waits` all wait that long. Where calls under way at once are all told to wait, that
        is one failure: the others could not know.
        """
        with self._changed:
            now = monotonic()
            if asked is None or passage.at >= self._told_to_wait:
                self._failures += 1
            self._last = why
            if asked is not None:
                self._told_to_wait = now
                if waits:
                    self._opens = max(self._opens, now + asked)
            if self._failures >= MOST_FAILURES:
                self._closed_until = now + (COOL_DOWN if asked is None else asked)
            self._back(passage)

    def worked(self, passage: Passage) -> None:
        """Take note of a call whose questions the server does not take, which is their fault."""
        with self._changed:
            self._back(passage)

    def refused(self, passage: Passage) -> None:
        """Take note of a call whose key or model is refused: the next one goes alone again."""
        with self._changed:
            self._alone = False
            self._changed.notify_all()

    def wake(self) -> None:
        """Have those who wait look whether their run was stopped."""
        with self._changed:
            self._changed.notify_all()

    def _back(self, passage: Passage) -> None:
        self._proven = True
        if passage.alone:
            self._alone = False
        self._changed.notify_all()
