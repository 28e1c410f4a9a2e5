"""What comparators that ask models have in common: all questions of a call go out together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickler_cli.clients.client import Client
from stickler_cli.clients.desk import desk
from stickler_cli.clients.model import Model
from stickler_cli.clients.rounds import ROUND
from stickler_cli.comparators.base import BaseComparator, Matrix


@dataclass(frozen=True, slots=True)
class Answers:
    """What a model says of pairs of values."""

    similarities: NDArray[np.float64]
    """One a pair, in [0, 1]."""
    reasons: list[str] | None = None
    """Why, one a pair; None of models that give no reasons."""


class ModelComparator(BaseComparator):
    """A comparator that asks a model; subclasses know the model, and how answers are read."""

    asks_models: ClassVar[bool] = True

    client: Client | None = None
    """Who is asked where no run says so; None is one of its own, under the usual policy."""

    @property
    def _model(self) -> Model[Any, Any]:
        raise NotImplementedError

    def _answers(self, client: Client, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        raise NotImplementedError

    def require(self) -> None:
        """Raise where the model cannot be asked from here.

        Raises:
            UnavailableError: a library, a setting or a file is missing.
        """
        if desk().policy.may_ask:
            self._model.require()

    def ask(self, client: Client | None, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        """Compare prepared values of equal number, each with its counterpart.

        Distinct questions that nobody answered yet are asked together. In a dry run, what depends
        on them has the similarity 0.

        Args:
            client: of the run; None for the comparator's own.
            gts: what `prepare` returned of ground truths.
            preds: what `prepare` returned of predictions.

        Raises:
            ModelError: a question has no answer, and why.
            UsageError: the cache cannot be used, or judges would be asked about too many pairs.
        """
        if self._overrides("compare", "_answers") or self._overrides("similarity", "_answers"):
            return self._one_by_one(client, gts, preds)
        return self._answers(client or self._own_client(), gts, preds)

    def _one_by_one(
        self, client: Client | None, gts: Sequence[Any], preds: Sequence[Any]
    ) -> Answers:
        """Compare as a subclass does that has a way of its own, which may ask the model too."""
        own, self.client = self.client, client or self.client
        try:
            pairs = zip(gts, preds, strict=True)
            similarities = [self.similarity(gt, pred) for gt, pred in pairs]
        finally:
            self.client = own
        return Answers(np.array(similarities, dtype=np.float64))

    def _own_client(self) -> Client:
        if self.client is None:
            self.client = Client(remembers_failures=False)  # who calls again, wants it tried again
        return self.client

    def similarity(self, gt: Any, pred: Any) -> float:
        """Compare two prepared values.

        Raises:
            ModelError: there is no answer, with the cause.
        """
        return float(self._answers(self.client or ROUND, [gt], [pred]).similarities[0])

    def reason(self, gt: Any, pred: Any) -> str:
        """Give the model's reason for the similarity of two prepared values."""
        reasons = self._answers(ROUND, [gt], [pred]).reasons
        return reasons[0] if reasons else ""

    def matrix(self, gts: Sequence[Any], preds: Sequence[Any]) -> Matrix:
        """Compare all with all."""
        pairs = [(gt, pred) for gt in gts for pred in preds]
        answers = self._answers(ROUND, [gt for gt, _ in pairs], [pred for _, pred in pairs])
        return answers.similarities.reshape(len(gts), len(preds))
