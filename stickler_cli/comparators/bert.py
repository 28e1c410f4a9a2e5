"""BERTScore of two texts: similarity of their words in context."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from stickler_cli.clients.bert import BertModel, BertScore, Texts, bert_score
from stickler_cli.clients.desk import desk
from stickler_cli.clients.rounds import answers
from stickler_cli.comparators.base import (
    BaseComparator,
    KeywordError,
    Matrix,
    checked_flag,
    checked_text,
    text_of,
)
from stickler_cli.core.json_values import brief


class BERTComparator(BaseComparator):
    """Compare two texts by BERTScore F1, the similarity of their words in context."""

    asks_models: ClassVar[bool] = True

    def __init__(
        self,
        threshold: float = 0.7,
        model_type: str | None = None,
        num_layers: int | None = None,
        rescale_with_baseline: bool = False,
        lang: str = "en",
    ) -> None:
        """Choose the model; the keywords are those of the library bert-score.

        Args:
            threshold: in [0, 1], for `binary_compare`.
            model_type: the name or path of a model; without one, the library's for the language.
            num_layers: the layer to compare, from 1; of models the library does not know.
            rescale_with_baseline: whether to spread the scores, which are near 1 otherwise.
            lang: the language of the texts, as `en`.

        Raises:
            KeywordError: a keyword of the wrong type.
        """
        super().__init__(threshold)
        self.model_type = None if model_type is None else checked_text("model_type", model_type)
        self.num_layers = num_layers
        if num_layers is not None and (type(num_layers) is not int or num_layers < 1):
            raise KeywordError(
                "num_layers", f"num_layers is {brief(num_layers)}", "a whole number of at least 1"
            )
        self.rescale_with_baseline = checked_flag("rescale_with_baseline", rescale_with_baseline)
        self.lang = checked_text("lang", lang)

    @property
    def _backend(self) -> BertScore:
        chosen = BertModel(self.model_type, self.num_layers, self.rescale_with_baseline, self.lang)
        return bert_score(chosen)

    def require(self) -> None:
        """Raise where the model cannot be used here.

        Raises:
            UnavailableError: the library, a file or a keyword is missing.
        """
        if desk().policy.may_ask:
            self._backend.require()

    def prepare(self, value: Any) -> str:
        """Turn a value into text."""
        return text_of(value)

    def similarity(self, gt: str, pred: str) -> float:
        """Compare two texts; a blank one is like another blank one only.

        Raises:
            ModelError: there is no score of them, with the cause.
        """
        return float(self.matrix([gt], [pred])[0, 0])

    def matrix(self, gts: Sequence[str], preds: Sequence[str]) -> Matrix:
        """Compare all with all; each distinct pair is scored once.

        Raises:
            ModelError: there is no score of one of the pairs, with the cause.
        """
        pairs = [_pair(gt, pred) for gt in gts for pred in preds]
        asked = [pair for pair in dict.fromkeys(pairs) if _is_open(pair)]
        known = dict(zip(asked, answers(self._backend, asked), strict=True))
        scores = [known[pair] if pair in known else float(pair[0] == pair[1]) for pair in pairs]
        matrix: Matrix = np.array(scores, dtype=np.float64).reshape(len(gts), len(preds))
        # The sixth digit is the last that does not depend on what else is in a batch.
        return np.clip(np.round(matrix, 6), 0.0, 1.0)


BertComparator = BERTComparator
"""The name that older schemas give it."""


def _pair(gt: str, pred: str) -> Texts:
    gt, pred = gt.strip(), pred.strip()
    return (gt, pred) if gt <= pred else (pred, gt)


def _is_open(pair: Texts) -> bool:
    """Say whether a pair is worth a model: blank texts crash the library, equal ones score 1."""
    return bool(pair[0] and pair[1]) and pair[0] != pair[1]
