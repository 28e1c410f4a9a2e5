"""What a run would ask, counted without asking."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from stickler_cli.clients.backend import Backend


@dataclass(slots=True)
class Need:
    """What one model would be asked."""

    kind: str
    """`embedding`, `score` or `verdict`."""
    model: str
    batch_size: int
    tokens: int = 0
    """Estimated, of the questions; answers come on top."""
    cached: int = 0
    """Questions whose answer is in the cache; one that several chunks ask counts in each."""
    _keys: set[bytes] = field(default_factory=set)

    @property
    def questions(self) -> int:
        """Distinct texts or pairs to ask about."""
        return len(self._keys)

    @property
    def calls(self) -> int:
        """The least number of calls that this takes."""
        return -(-self.questions // self.batch_size)

    def add(self, backend: Backend[Any, Any], questions: Iterable[Any]) -> None:
        """Count questions that were not counted before."""
        identity = backend.identity or {}
        for question in questions:
            key = backend.key(identity, question)
            if key not in self._keys:
                self._keys.add(key)
                self.tokens += backend.tokens(question)


class Estimate:
    """What all models would be asked."""

    def __init__(self) -> None:
        self._needs: dict[Backend[Any, Any], Need] = {}

    def add(self, backend: Backend[Any, Any], questions: Iterable[Any], *, cached: int) -> None:
        """Count questions to one model."""
        need = self._needs.setdefault(
            backend, Need(backend.kind, backend.model, backend.batch_size)
        )
        need.add(backend, questions)
        need.cached += cached

    @property
    def needs(self) -> list[Need]:
        """What each model would be asked, in a fixed order."""
        return sorted(self._needs.values(), key=lambda need: (need.kind, need.model))
