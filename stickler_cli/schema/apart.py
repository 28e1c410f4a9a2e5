"""Parts of schemas that are judged apart from what refers to them, each value once by each.

The engine judges by a definition anew for each way that leads to it. Where there are many ways, it
asks back here instead, so that no verdict takes longer than the schema times the document.
"""

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from threading import RLock
from typing import Any, Final, TypeVar

from stickler_cli.core.json_values import JsonValue

T = TypeVar("T")

APART: Final = "x-stickler-judged-apart"
"""The keyword that stands for a `$ref` to such a part."""

DEEPEST: Final = 50
"""Questions inside one another; a deeper one is put off until those around it are given up, so that
deep documents need no deep stack."""

MOST_KNOWN: Final = 100_000
"""Verdicts that are remembered from one question to the next."""


class Apart:
    """Judges values by parts of schemas, and remembers the verdicts."""

    def __init__(self, accepts: Callable[[str, JsonValue], bool]) -> None:
        """Take what judges a value by the part that a reference leads to, asking back here."""
        self._accepts = accepts
        self._known: dict[tuple[str, bytes], bool] = {}
        self._depth = 0
        self._put_off: tuple[str, JsonValue] | None = None
        self._failure: BaseException | None = None
        self._lock = RLock()
        self.keywords: dict[str, type[_Keyword]] = {APART: type("_", (_Keyword,), {"apart": self})}
        """For the engine."""

    def settled(self, ask: Callable[[], T]) -> T:
        """Return what a question to the engine returns, once all that it put off is judged."""
        questions: list[Callable[[], Any]] = [ask]
        with self._lock:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            while True:
                try:
                    found = questions[-1]()
                finally:
                    put_off, self._put_off = self._put_off, None
                    failure, self._failure = self._failure, None
                if failure is not None:
                    raise failure
                if put_off is not None:
                    questions.append(partial(self.accepts, *put_off))
                    continue
                questions.pop()
                if not questions:
                    answer: T = found
                    return answer

    def accepts(self, reference: str, value: JsonValue) -> bool:
        """Return whether a value is valid where a reference leads; any answer if it is put off."""
        if self._gives_up():
            return False
        key = reference, blake2b(repr(value).encode(), digest_size=16).digest()
        if key in self._known:
            return self._known[key]
        if self._depth == DEEPEST:
            self._put_off = reference, value
            return False
        self._known[key] = True  # a part that leads back to itself asks no more of the same value
        self._depth += 1
        try:
            self._known[key] = self._accepts(reference, value)
        except BaseException as error:  # noqa: BLE001 - the engine would take it for a verdict
            self._failure = error
        finally:
            self._depth -= 1
        if self._gives_up():
            del self._known[key]
            return False
        return self._known[key]

    def _gives_up(self) -> bool:
        """Return whether the question under way is to be asked again, or has failed."""
        return self._put_off is not None or self._failure is not None


class _Keyword:
    """What the engine asks."""

    apart: Apart

    def __init__(self, _schema: object, value: object, _path: object) -> None:
        self._reference = str(value)

    def validate(self, instance: JsonValue) -> None:
        """Raise a ValueError if a value is not valid."""
        if not self.apart.accepts(self._reference, instance):
            raise ValueError(self._reference)
