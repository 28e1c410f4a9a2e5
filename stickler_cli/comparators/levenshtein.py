"""Edit distance of two texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from .base import BaseComparator, Similarities, text_of
from .keywords import checked_flag


class LevenshteinComparator(BaseComparator):
    """Compare texts by the characters to insert, delete or replace between them."""

    same_value = True

    def __init__(self, normalize: bool = True, threshold: float = 0.7) -> None:
        """Choose whether to strip, lower-case and make every run of whitespace one space."""
        super().__init__(threshold)
        self.normalize = checked_flag("normalize", normalize)

    def prepare(self, value: Any) -> str:
        """Turn a value into text; a TypeError for an object, whose spelling is worth nothing."""
        if isinstance(value, dict):
            raise TypeError("LevenshteinComparator compares texts, not objects")
        text = text_of(value)
        return " ".join(text.lower().split()) if self.normalize else text

    def similarity(self, gt: str, pred: str) -> float:
        """Compare two texts: 1 - distance / length of the longer; 1.0 for two empty ones."""
        return Levenshtein.normalized_similarity(gt, pred)

    def unequal_lack(self, prepared: Sequence[str]) -> float:
        """Return the distance from 1.0 of a text that differs in one letter of the longest."""
        return 1 / max(1, *map(len, prepared)) if prepared else 1.0

    def similarities_above(
        self, gts: Sequence[str], preds: Sequence[str], least: float
    ) -> Similarities:
        """Compare two columns of texts that are alike, in a band of that width."""
        scorer = Levenshtein.normalized_similarity
        return process.cpdist(
            gts, preds, scorer=scorer, score_cutoff=least, dtype=np.float64, workers=1
        )

    def similarities(self, gts: Sequence[str], preds: Sequence[str]) -> Similarities:
        """Compare two columns of texts in one call."""
        return process.cpdist(
            gts, preds, scorer=Levenshtein.normalized_similarity, dtype=np.float64, workers=1
        )
