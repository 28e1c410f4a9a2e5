"""The base of comparators that ask models: all questions of a call go out together."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from stickler_cli.clients.client import Client
from stickler_cli.clients.model import Model, ModelError
from .base import Answers, BaseComparator, Similarities


class ModelComparator(BaseComparator):
    """A comparator that asks a model: a subclass knows which one, and how to read answers."""

    asks_models: ClassVar[bool] = True

    client: Client | None = None
    """Who is asked where no run says so; None is one of its own, under the usual policy."""

    @property
    def asked_model(self) -> Model[Any, Any]:
        """The model that is asked."""
        return self._model

    @property
    @abstractmethod
    def _model(self) -> Model[Any, Any]:
        """The model that is asked."""

    _digits: int | None = None
    """How many decimal places of a similarity mean something; None where all do."""

    @abstractmethod
    def _questions(self, gt: Any, pred: Any) -> Sequence[Any]:
        """Return the questions about two prepared values; none where their similarity is clear."""

    def _read(self, answer: Any) -> Any:
        """Return an answer in the form that `_judged` takes; once for each distinct question."""
        return answer

    @abstractmethod
    def _judged(self, gt: Any, pred: Any, answers: Sequence[Any]) -> tuple[float, str]:
        """Return the similarity of two prepared values, which is clipped to [0, 1], and why."""

    def require(self) -> None:
        """Raise an `UnavailableError` where a library, a setting or a file is missing."""
        self._model.require()

    def require_by(self, client: Client) -> None:
        """Raise an `UnavailableError` where the client cannot ask, or not as its policy says."""
        client.require(self._model)

    def ask(self, client: Client | None, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        """Compare prepared values; distinct questions that nobody answered yet are asked together.

        In a dry run, values about which something would be asked have the similarity 0.

        Raises:
            ModelError: a question has no answer, and why; its `at` is the position of the pair.
            UsageError: the cache cannot be used.
        """
        if self._overrides("compare", "_judged") or self._overrides("similarity", "_judged"):
            # A subclass has a way of its own, which may ask the model too.
            own, self.client = self.client, client or self.client
            try:
                return Answers(self.similarities(gts, preds))
            finally:
                self.client = own
        return self._together(client or self._own_client(), gts, preds)

    def _together(self, client: Client, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        pairs = list(zip(gts, preds, strict=True))
        asked = [self._questions(gt, pred) for gt, pred in pairs]
        results = client.answers(self._model, chain.from_iterable(asked))
        known = {
            question: self._read(result)
            for question, result in results.items()
            if not isinstance(result, ModelError)
        }
        found: list[tuple[float, str]] = []
        for (gt, pred), questions in zip(pairs, asked, strict=True):
            answers = [known[question] for question in questions if question in known]
            if len(answers) < len(questions):
                for question in questions:
                    if isinstance(failure := results.get(question), ModelError):
                        raise ModelError(str(failure), len(found))
                found.append((0.0, ""))  # a dry run would ask
                continue
            try:
                found.append(self._judged(gt, pred, answers))
            except ModelError as error:
                raise ModelError(str(error), len(found)) from None
        similarities = np.array([similarity for similarity, _ in found], dtype=np.float64)
        if self._digits is not None:
            similarities = np.round(similarities, self._digits)
        reasons = [reason for _, reason in found]
        return Answers(np.clip(similarities, 0.0, 1.0), reasons if any(reasons) else None)

    def _own_client(self) -> Client:
        if self.client is None:
            self.client = Client(remembers_failures=False)  # who calls again, wants it tried again
        return self.client

    def similarity(self, gt: Any, pred: Any) -> float:
        """Compare two prepared values, by the comparator's own client."""
        return float(self._together(self._own_client(), [gt], [pred]).similarities[0])

    def similarities(self, gts: Sequence[Any], preds: Sequence[Any]) -> Similarities:
        """Compare two columns of prepared values, by the comparator's own client."""
        return self._together(self._own_client(), gts, preds).similarities
