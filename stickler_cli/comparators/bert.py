"""BERTScore of two texts: similarity of their words in context."""

from collections.abc import Sequence
from typing import Any

from stickler_cli.clients.local_models import BertScore, Texts
from .base import text_of
from .keywords import KeywordError, checked_flag, checked_text
from .model_comparator import ModelComparator


class BERTComparator(ModelComparator):
    """Compare two texts by BERTScore F1, the similarity of their words in context."""

    same_value = True
    _digits = 6  # the last that does not depend on what else is in a batch

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
        """
        super().__init__(threshold)
        self.model_type = None if model_type is None else checked_text("model_type", model_type)
        self.num_layers = num_layers
        if num_layers is not None and (type(num_layers) is not int or num_layers < 1):
            raise KeywordError.of("num_layers", num_layers, "a whole number of at least 1")
        self.rescale_with_baseline = checked_flag("rescale_with_baseline", rescale_with_baseline)
        self.lang = checked_text("lang", lang)

    @property
    def _model(self) -> BertScore:
        return BertScore(self.model_type, self.num_layers, self.rescale_with_baseline, self.lang)

    def prepare(self, value: Any) -> str:
        """Return a value as text."""
        return text_of(value)

    def _questions(self, gt: str, pred: str) -> Sequence[Texts]:
        """Return the pair, unless one is blank, which crashes the library, or they are equal."""
        gt, pred = gt.strip(), pred.strip()
        if not gt or not pred or gt == pred:
            return ()
        return ((gt, pred) if gt <= pred else (pred, gt),)

    def _judged(self, gt: str, pred: str, answers: Sequence[float]) -> tuple[float, str]:
        """Return the score of two texts; a blank one is like another blank one only."""
        return answers[0] if answers else float(gt.strip() == pred.strip()), ""


BertComparator = BERTComparator
"""The name that older schemas give it."""
