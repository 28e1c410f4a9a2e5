"""What a run would ask, counted without asking."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stickler_cli.clients.model import Model


@dataclass(slots=True)
class Need:
    """What one model would be asked."""

    model: Model[Any, Any]
    tokens: int = 0
    """Estimated, of the questions; answers come on top."""
    cached: int = 0
    """Questions whose answer is in the cache."""
    _keys: set[Hashable] = field(default_factory=set)

    @property
    def questions(self) -> int:
        """Distinct texts or pairs to ask about."""
        return len(self._keys)

    @property
    def calls(self) -> int:
        """The least number of calls that this takes."""
        return -(-self.questions // self.model.batch_size)

    def add(self, questions: Mapping[Any, Hashable], *, cached: int) -> None:
        """Count questions, each with what its answer is known by, that were not counted before."""
        self.cached += cached
        for question, key in questions.items():
            if key not in self._keys:
                self._keys.add(key)
                self.tokens += self.model.tokens(question)


class Estimate:
    """What all models would be asked."""

    def __init__(self) -> None:
        self._needs: dict[Model[Any, Any], Need] = {}

    def of(self, model: Model[Any, Any]) -> Need:
        """Return what one model would be asked, as far as it was counted."""
        return self._needs.setdefault(model, Need(model))

    @property
    def needs(self) -> list[Need]:
        """What each model would be asked, in a fixed order."""
        return sorted(self._needs.values(), key=lambda need: (need.model.kind, need.model.title))
