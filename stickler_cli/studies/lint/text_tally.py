"""Count the texts of a field for which its comparator may give an unexpected result.

For example, an edit distance may match two long texts although a number differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.comparators.texts import ReadText
from stickler_cli.comparators.words import WORDS_PER_REPLACED
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.text_rules import (
    decides_by_numbers,
    is_edit_distance,
    tolerates_words,
)
from stickler_cli.core.json_values import JsonValue
from stickler_cli.schema.inference.observation import SHORT

MIN_LETTERS_PER_WORD: Final = 2  # with the following blank; shorter texts cannot have enough words


@dataclass(slots=True)
class TextTally:
    """Counts of a field's texts for which its comparator may give an unexpected result.

    For example, an edit distance may match two long texts although a number differs.
    """

    node: LeafNode
    texts: int = 0
    long_texts: int = 0
    """Number of texts with more than `SHORT` characters, which is longer than a name or a title."""
    with_numbers: int = 0
    """Number of texts that contain both digits and letters."""
    with_letters: int = 0
    """Number of texts that contain a letter."""
    wordy_texts: int = 0
    """Number of texts with at least `WORDS_PER_REPLACED` content words. Only counted if the
    comparator tolerates a replaced word in texts of this length."""

    def add(self, value: JsonValue, times: int) -> None:
        """Add a value that occurs `times` times. Only texts are counted."""
        if not isinstance(value, str):
            return
        self.texts += times
        if len(value) > SHORT:
            self.long_texts += times
        has_letters = any(map(str.isalpha, value))
        self.with_letters += times if has_letters else 0
        if has_letters and any(map(str.isdigit, value)):
            self.with_numbers += times
        if tolerates_words(self.node) and len(value) >= MIN_LETTERS_PER_WORD * WORDS_PER_REPLACED:
            words, _ = ReadText(value).folded
            self.wordy_texts += times if words.n_content_words >= WORDS_PER_REPLACED else 0

    def findings(self) -> Iterator[tuple[str, str]]:
        """Yield (lint rule, reason) for each lint rule that the field breaks.

        The reason is a clause, such as `LevenshteinComparator at a threshold of 0.7; this concerns
        3 of 5 texts (those with more than 40 letters)`.
        """
        name = self.node.comparator.name
        at_threshold = f"{name} at a threshold of {self.node.threshold:g}"
        if self.long_texts and is_edit_distance(self.node):
            finding = f"{at_threshold}; this concerns {self.long_texts} of {self.texts} texts"
            yield "letters-decide", f"{finding} (those with more than {SHORT} letters)"
        if self.with_numbers and decides_by_numbers(self.node):
            finding = f"{name}; this concerns {self.with_numbers} of {self.texts} texts"
            yield "numbers-decide", f"{finding} (those with numbers)"
        if self.wordy_texts:
            finding = f"{at_threshold}; this concerns {self.wordy_texts} of {self.texts} texts"
            yield "words-tolerated", f"{finding} (those with {WORDS_PER_REPLACED} or more words)"
        if self.with_letters and tolerates_words(self.node):
            finding = f"{at_threshold}; this concerns {self.with_letters} of {self.texts} texts"
            yield "letters-tolerated", f"{finding} (those with letters)"
