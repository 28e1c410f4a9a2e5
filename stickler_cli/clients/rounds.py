"""Work that may ask models, done so that all it asks is asked together.

Such work runs inside `answered`. There a question that has no answer yet is noted, and `Pending` is
raised; when the work is through, all that was noted is resolved together, each distinct question
once, and the work is done again with the answers at hand. Work that asks nothing is done once and
pays nothing. Questions on which pairs depend are resolved first, so that a judge is never asked
about a pair that is not one.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stickler_cli.clients.model import A, Model, ModelError, Q

T = TypeVar("T")


class Pending(Exception):  # noqa: N818 - no error: the answer is to come
    """A question has no answer yet; it is noted, and the work will be done again."""


@dataclass(slots=True)
class _Round:
    """The questions and answers of one piece of work."""

    known: dict[Model[Any, Any], dict[Any, Any]] = field(default_factory=dict)
    wanted: dict[Model[Any, Any], dict[Any, None]] = field(default_factory=dict)

    def fill(self) -> bool:
        """Resolve what is wanted, as far as it is certain; say whether the work can go on."""
        from stickler_cli.clients.desk import desk  # runs that ask nothing do not load it

        first = [backend for backend in self.wanted if not backend.is_judge]
        complete = True
        for backend in first or list(self.wanted):
            questions = list(self.wanted.pop(backend))
            answers = desk().answers(backend, questions)
            self.known.setdefault(backend, {}).update(answers)
            complete = complete and len(answers) == len(questions)
        if complete:
            self.wanted.clear()
            return True
        for backend, rest in self.wanted.items():  # of a dry run: as far as can be told
            desk().answers(backend, list(rest))
        return False


_round: ContextVar[_Round | None] = ContextVar("round", default=None)


def answered(work: Callable[[], T]) -> T:
    """Do work that may ask models; what it asks is asked together, before it is done for good.

    Inside other such work, it is part of that. In a dry run the result means nothing.

    Raises:
        UsageError: as `Desk.resolve` does.
    """
    if _round.get() is not None:
        return work()
    current = _Round()
    token = _round.set(current)
    try:
        while True:
            result = work()
            if not current.wanted or not current.fill():
                return result
    finally:
        _round.reset(token)


class RoundClient:
    """Answers as the round under way does."""

    def answers(self, model: Model[Q, A], questions: Iterable[Q]) -> dict[Q, A | ModelError]:
        """Return the answer to each question.

        Raises:
            Pending: inside `answered`, there is a question without an answer as yet.
        """
        distinct = list(dict.fromkeys(questions))
        current = _round.get()
        if current is None:
            from stickler_cli.clients.desk import desk  # as above

            known = desk().answers(model, distinct)
        else:
            known = current.known.get(model, {})
        missing = [question for question in distinct if question not in known]
        if missing:
            if current is not None:
                current.wanted.setdefault(model, {}).update(dict.fromkeys(missing))
            raise Pending
        return known


ROUND: Any = RoundClient()
