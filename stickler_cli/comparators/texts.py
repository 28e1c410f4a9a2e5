"""Text comparators that use rapidfuzz: edit distance, and ratios of whole texts, parts or words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from stickler_cli.core.caching import lru_cache_of_short_texts
from stickler_cli.core.match_differences import MatchDifference
from stickler_cli.core.normal_forms import mark_exponents, normalize_text
from .base import (
    BaseComparator,
    Keys,
    KeywordError,
    Lengths,
    Similarities,
    charge,
    checked_choice,
    checked_flag,
    codes_of,
    text_of,
)
from .formulas import find_other_capitals
from .quantities import lower_but_units
from .relations import mark_relations
from .vocabulary import folded
from .words import (
    SAME,
    SPELT_OUT,
    Words,
    checkboxes_by_word,
    find_moved_words,
    find_sign_difference,
    find_word_difference,
    have_exchanged_words,
    have_replaced_signs,
    list_signs,
    signs_of,
    similarity_by_words,
)

_THOUSANDS: Final = re.compile(
    r"(?<![\d.,])\d{1,3}([.,'\u2019\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?!\d)"
)
_RUN: Final = re.compile(r"(?:(?<![^\s(^])([-\u2212\u2013]|[<>~]=?\s?)[$€£¥.]?)?(\d+)")
_FINAL_PLUS: Final = re.compile(r"(?<=[^\W_])\+(?![^\s,;.)])")
_MINUS: Final = str.maketrans("\u2212\u2013", "--")

MIN_SIMILARITY_FOR_WORDS: Final = 0.5
"""Two texts are compared word by word only if their similarity by letters is at least this."""
_ODD_SPACE: Final = re.compile(r"[\x85\xa0]")


@lru_cache_of_short_texts(maxsize=65536)
def digits_of(text: str) -> str:
    """Return all runs of digits in a text with their signs, joined by spaces.

    Thousands separators are removed, so that `1,200` is one run. Words that state a relation become
    a sign: `about 30` gives `~30`.

    >>> digits_of("INV-1001 of 1,200.50 (-5)"), digits_of("ten")
    ('1001 1200 50 -5', '')
    """
    if not text.isascii():
        text = _THOUSANDS.sub(lambda number: "".join(filter(str.isdecimal, number[0])), text)
        text = normalize_text("NFKC", mark_exponents(text)).translate(_MINUS)
        text = "".join(
            str(unicodedata.digit(match)) if match.isdecimal() else match for match in text
        )
    text = _THOUSANDS.sub(lambda number: "".join(filter(str.isdecimal, number[0])), text)
    text = mark_relations(text)
    return " ".join(f"{(match[1] or '').strip()}{match[2]}" for match in _RUN.finditer(text))


STEPS_OF_READ_LETTER: Final = 700
"""Nanoseconds to find the words, digits and signs of a long text, for each letter."""


class ReadText(str):
    """A prepared text that keeps its words, digits and signs, for use in many comparisons."""

    __slots__ = ("__dict__",)

    @classmethod
    def of(cls, text: str) -> "ReadText":
        """Return a text as `ReadText`, if it is not one already.

        This is needed because a subclass of a comparator may prepare plain strings.
        """
        return text if isinstance(text, cls) else cls(text)

    @cached_property
    def folded(self) -> tuple[Words, Words | None]:
        """The words of the text in two spellings: with `ü` as `u`, and with `ü` as `ue`.

        The second is None if it is the same as the first.
        """
        is_address = ("@" in self or "://" in self) and not any(map(str.isspace, self.strip()))
        plain, spelt = folded(self), folded(self.casefold().translate(SPELT_OUT))
        words = None if spelt == plain else Words(spelt, is_address=is_address)
        return Words(plain, is_address=is_address), words

    def match_spelling(self, other: Words) -> Words:
        """Return the words of this text, spelt as in another text.

        If the other text writes `ü` as `ue`, the returned words have `ue`. Otherwise, the returned
        words have `u`.
        """
        plain, spelt = self.folded
        if spelt is None or spelt.parts.isdisjoint(other.parts - plain.parts):
            return plain
        return spelt

    @cached_property
    def digits(self) -> str:
        """The runs of digits of the text with their signs, joined by spaces."""
        return digits_of(str(self))  # a plain string, as the cache keeps it

    @cached_property
    def signs(self) -> Counter[tuple[int, int]]:
        """How often each sign, such as `+`, occurs. The keys are explained at `list_signs`."""
        return signs_of(self)

    @cached_property
    def n_final_pluses(self) -> int:
        """Number of words that end in a plus, such as `S21+`."""
        return len(_FINAL_PLUS.findall(self)) if "+" in self else 0

    @cached_property
    def checkbox_by_word(self) -> dict[str, tuple[int, int]]:
        """Maps each word that stands behind a checkbox to the sign of the checkbox.

        Signs are (kind, meaning) as in `list_signs`.
        """
        return checkboxes_by_word(self)

    def has_exchanged_signs(self, other: "ReadText") -> bool:
        """Return whether two texts have the same words and signs, but put the signs elsewhere.

        An example is `(+) a, (-) b` and `(-) a, (+) b`.
        """
        if self.signs != other.signs or self.folded[0].sequence != other.folded[0].sequence:
            return False
        return list_signs(self) != list_signs(other)

    def has_other_checkboxes(self, other: "ReadText") -> bool:
        """Return whether a word has different checkboxes in the two texts.

        An example is `[x] married` and `[ ] married`.
        """
        return any(
            other.checkbox_by_word.get(word, checkbox) != checkbox
            for word, checkbox in self.checkbox_by_word.items()
        )

    @cached_property
    def arranged(self) -> str:
        """The words of the text in alphabetical order, as `token_sort_ratio` compares them.

        Empty if the text has a character at which Python splits words, but rapidfuzz might not.
        """
        # rapidfuzz takes these for spaces only in texts with letters beyond Latin-1.
        return "" if _ODD_SPACE.search(self) else " ".join(sorted(self.split()))


class _TextRules:
    """What both text comparators share: settings that tell which differences change the meaning."""

    normalize: bool
    same_digits: bool
    same_words: bool
    same_order: bool
    same_letters: bool

    if TYPE_CHECKING:

        def prepare(self, value: Any) -> str: ...

    @property
    def reports_differences_if_named(self) -> bool:
        """Whether differences are reported even if the schema states the comparator by name.

        True if `same_words` is set.
        """
        return self.same_words

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Return how the words of two matching texts differ.

        Return None if `same_words` is not set, or if no difference needs a second look.
        """
        if not self.same_words:
            return None
        gt_text, pred_text = (ReadText.of(self.prepare(value)) for value in (gt, pred))
        words = gt_text.match_spelling(pred_text.folded[0])
        pred_words = pred_text.match_spelling(words)
        difference = find_word_difference(words, pred_words)
        if difference is None and self.normalize:
            difference = find_other_capitals(gt, pred)
        if difference is None:
            difference = find_sign_difference(gt_text.signs, pred_text.signs)
        if difference is None and self.same_order:
            difference = find_moved_words(words, pred_words)
        elif difference is None and _are_reordered(words, pred_words):
            difference = MatchDifference("another order", text_of(gt), text_of(pred))
        return difference


class LevenshteinComparator(_TextRules, BaseComparator):
    """Compare texts by edit distance: characters to insert, delete or replace."""

    same_value = True

    def __init__(  # noqa: PLR0913, PLR0917 - each keyword is one that a schema may set
        self,
        normalize: bool = True,
        threshold: float = 0.7,
        same_digits: bool = False,
        same_words: bool = False,
        same_order: bool = False,
        same_letters: bool = False,
    ) -> None:
        """Choose which small differences make two similar texts different.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            normalize: whether to strip, lower-case and reduce each run of white space to one space.
            same_digits: whether texts score 0.0 if their digits, or signs before digits, differ.
            same_words: whether texts score 0.0 if only one of them has a negation, if their words
                are opposites, or if a word is replaced by another. One replaced word is allowed in
                a text of 50 words, and two replaced words are allowed in a text of 100 words.
            same_order: whether texts score 0.0 if two words have changed places, as in `A pays B`
                and `B pays A`.
            same_letters: whether texts score 0.0 if a word has a wrong letter, or if any word is
                replaced, even in a long text; needs `same_words`.
        """
        super().__init__(threshold)
        self.normalize = checked_flag("normalize", normalize)
        self.same_digits = checked_flag("same_digits", same_digits)
        self.same_words = checked_flag("same_words", same_words)
        self.same_order = checked_flag("same_order", same_order)
        self.same_letters = _checked_letters(same_letters, same_words=self.same_words)
        if self.same_digits or self.same_words or self.same_order:
            self.steps_of_letter = STEPS_OF_READ_LETTER

    def prepare(self, value: Any) -> str:
        """Return a value as text, normalised if `normalize` is set.

        Raises:
            TypeError: the value is an object, which has no sensible text.
        """
        if isinstance(value, dict):
            raise TypeError("LevenshteinComparator compares texts, not objects")
        text = text_of(value)
        is_read = self.same_digits or self.same_words or self.same_order
        if self.normalize:
            text = " ".join((lower_but_units(text) if is_read else text.lower()).split())
        return ReadText(text) if is_read else text

    def similarity(self, gt: str, pred: str) -> float:
        """Return 1 - distance / length of the longer text; 1.0 for two empty texts."""
        if self.same_digits or self.same_words or self.same_order:
            return float(LevenshteinComparator.similarities(self, [gt], [pred])[0])
        return Levenshtein.normalized_similarity(gt, pred)

    find_difference = _TextRules.find_difference  # beside `similarity`, which would drop it

    def keys(self, prepared: Sequence[str]) -> "Keys | None":
        """Return a code for each text if `same_digits` is set, else None.

        Texts with the same digits have equal codes.
        """
        return (
            codes_of([ReadText.of(text).digits for text in prepared]) if self.same_digits else None
        )

    def equal_keys(self, prepared: Sequence[str]) -> tuple[Keys, float]:
        """Return (codes, drop): equal texts have equal codes.

        The similarity of two different texts is at most 1.0 - drop.
        """
        lack = 1 / max(1, *map(len, prepared)) if prepared else 1.0
        return codes_of(prepared), min(lack, 1 - SAME) if self.same_words else lack

    def similarities_above(
        self, gts: Sequence[str], preds: Sequence[str], least: float
    ) -> Similarities | None:
        """Return similarities as `similarities` does, but 0 for those below `least`.

        Return None if it would save no time to compute only the similarities above `least`.
        """
        if self.same_words or self.same_order:  # words may raise similarities below `least`
            return None
        return self._compared(gts, preds, least)

    def _compared(
        self, gts: Sequence[str], preds: Sequence[str], least: float = 0.0
    ) -> Similarities:
        scorer = Levenshtein.normalized_similarity
        similarities = process.cpdist(
            gts, preds, scorer=scorer, score_cutoff=least, dtype=np.float64, workers=1
        )
        return _keep_slips(self, similarities, gts, preds)

    def similarities(self, gts: Sequence[str], preds: Sequence[str]) -> Similarities:
        """Return the similarity of each pair of texts, computed in one call."""
        return LevenshteinComparator._compared(self, gts, preds)  # not overridden


STEPS_OF_WORDS_OF_PAIR: Final = 10_000
"""Estimated time to compare the words of two similar texts, in nanoseconds. `STEPS_OF_LETTER` is
added for each of their letters."""
STEPS_OF_LETTER: Final = 250
"""Estimated time for each letter of two similar texts whose words are compared, in nanoseconds."""
_METHODS: Final = ("ratio", "partial_ratio", "token_sort_ratio", "token_set_ratio")


MANY: Final = 4
"""If the texts of at least one side are compared with more than this many texts on average, the
words of each text are sorted only once. Otherwise, they are sorted again for each comparison."""


def _distinct(texts: Sequence[str]) -> int:
    return len({*map(id, texts)})


class FuzzyComparator(_TextRules, BaseComparator):
    """Compare texts by similarity: whole, in part, or word by word in any order."""

    same_value = True

    def __init__(  # noqa: PLR0913, PLR0917 - each keyword is one that a schema may set
        self,
        method: str = "ratio",
        normalize: bool = True,
        threshold: float = 0.7,
        same_digits: bool = False,
        same_words: bool = False,
        same_order: bool = False,
        same_letters: bool = False,
    ) -> None:
        """Choose the ratio, and which small differences make two similar texts different.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            method: `ratio`, `partial_ratio`, `token_sort_ratio` or `token_set_ratio`.
            normalize: whether to strip and lower-case.
            same_digits: whether texts score 0.0 if their digits, or signs before digits, differ.
            same_words: whether texts score 0.0 if only one of them has a negation, if their words
                are opposites, or if a word is replaced by another. One replaced word is allowed in
                a text of 50 words, and two replaced words are allowed in a text of 100 words.
            same_order: whether texts score 0.0 if two words have changed places, as in `A pays B`
                and `B pays A`.
            same_letters: whether texts score 0.0 if a word has a wrong letter, or if any word is
                replaced, even in a long text; needs `same_words`.
        """
        super().__init__(threshold)
        self.method = checked_choice("method", method, _METHODS)
        self.normalize = checked_flag("normalize", normalize)
        self.same_digits = checked_flag("same_digits", same_digits)
        self.same_words = checked_flag("same_words", same_words)
        self.same_order = checked_flag("same_order", same_order)
        self.same_letters = _checked_letters(same_letters, same_words=self.same_words)
        if self.same_digits or self.same_words or self.same_order:
            self.steps_of_letter = STEPS_OF_READ_LETTER

    def prepare(self, value: Any) -> str:
        """Return a value as text, normalised if `normalize` is set."""
        text = text_of(value)
        is_read = self.same_digits or self.same_words or self.same_order
        if self.normalize:
            text = lower_but_units(text.strip()) if is_read else text.strip().lower()
        return ReadText(text) if is_read or self.method == "token_sort_ratio" else text

    def similarity(self, gt: str, pred: str) -> float:
        """Return the similarity of two texts; 1.0 for two texts without a word."""
        return float(FuzzyComparator.similarities(self, [gt], [pred])[0])  # not overridden

    find_difference = _TextRules.find_difference  # beside `similarity`, which would drop it

    def keys(self, prepared: Sequence[str]) -> "Keys | None":
        """Return a code for each text if `same_digits` is set, else None.

        Texts with the same digits have equal codes.
        """
        return (
            codes_of([ReadText.of(text).digits for text in prepared]) if self.same_digits else None
        )

    def equal_keys(self, prepared: Sequence[str]) -> tuple[Keys, float] | None:
        """Return (codes, drop): equal texts have equal codes.

        The similarity of two texts with different codes is at most 1.0 - drop. With
        `token_sort_ratio`, texts with the same words in another order have equal codes, too. Return
        None for methods other than `ratio` and `token_sort_ratio`.
        """
        if self.method not in {"ratio", "token_sort_ratio"}:
            return None
        lack = 1 / max(2, 2 * max(map(len, prepared), default=0))
        lack = min(lack, 1 - SAME) if self.same_words else lack
        if self.method == "ratio":
            return codes_of(prepared), lack
        return codes_of([" ".join(sorted(text.split())) for text in prepared]), lack

    def steps(self, gt: Lengths, pred: Lengths) -> int:
        """Return the approximate time to compare pairs, in nanoseconds.

        `partial_ratio` compares the texts once for each letter of the shorter text.
        """
        if self.method != "partial_ratio":
            return 4 * super().steps(gt, pred)
        shorter = np.minimum(gt, pred)
        return 2 * super().steps(gt, pred * shorter)

    def similarities(self, gts: Sequence[str], preds: Sequence[str]) -> Similarities:
        """Return the similarity of each pair of texts, computed in one call."""
        scorer, sides = getattr(fuzz, self.method), (gts, preds)
        # Sort the words of texts once if texts are compared with many others.
        if self.method == "token_sort_ratio" and min(map(_distinct, sides)) * MANY < len(gts):
            gt_texts, pred_texts = ([ReadText.of(text).arranged for text in side] for side in sides)
            if all(gt_texts) and all(pred_texts):
                scorer, sides = fuzz.ratio, (gt_texts, pred_texts)
        percent = process.cpdist(*sides, scorer=scorer, dtype=np.float64, workers=1)
        similarities: Similarities = percent / 100
        # Two empty texts must be similar, but some methods return 0; token methods ignore spaces.
        words = str.strip if self.method.startswith("token") else str
        for index in np.flatnonzero(percent == 0).tolist():
            similarities[index] = not (words(gts[index]) or words(preds[index]))
        return _keep_slips(self, similarities, gts, preds)


def _checked_letters(value: object, *, same_words: bool) -> bool:
    """Return the flag `same_letters`; raise KeywordError if it is set without `same_words`."""
    if checked_flag("same_letters", value) and not same_words:
        raise KeywordError("same_letters", "same_letters is true, but same_words is not", "both")
    return value is True


def _are_reordered(gt: Words, pred: Words) -> bool:
    """Return whether two names have the same words in another order.

    Return False if a text has commas or digits. A comma may explain the other order (`Doe, Jane`).
    A text with digits may be an address, in which the order does not matter.
    """
    if any(letter == "," or letter.isdecimal() for letter in gt.text + pred.text):
        return False
    return gt.sequence != pred.sequence and gt.counts == pred.counts


def _keep_slips(
    rules: _TextRules,
    similarities: Similarities,
    gts: Sequence[str],
    preds: Sequence[str],
) -> Similarities:
    """Set the similarity of a pair to 0 if the two texts differ in a way that changes the meaning.

    The array is changed in place and returned. The work of comparing words is counted here (see
    `charge`), because it depends on the similarities and cannot be estimated earlier.
    """
    if not (rules.same_digits or rules.same_words or rules.same_order):
        return similarities
    for index in np.flatnonzero((similarities > 0) & (similarities < 1)).tolist():
        gt, pred = ReadText.of(gts[index]), ReadText.of(preds[index])
        if rules.same_digits and gt.digits != pred.digits:
            similarities[index] = 0.0
        elif (similarity := similarities.item(index)) >= MIN_SIMILARITY_FOR_WORDS:
            similarities[index] = _compare_words(rules, similarity, gt, pred)
    for index in np.flatnonzero(similarities == 1).tolist():
        similarities[index] = not _differs_in_order(
            rules, ReadText.of(gts[index]), ReadText.of(preds[index])
        )
    return similarities


def _differs_in_order(rules: _TextRules, gt: ReadText, pred: ReadText) -> bool:
    """Return whether two texts have the same words in an order that changes the meaning.

    Examples are `3 of 12` and `12 of 3`, or `A pays B` and `B pays A`.
    """
    if gt == pred:
        return False
    if rules.same_digits and gt.digits != pred.digits:
        return True
    if rules.same_words and (gt.has_other_checkboxes(pred) or gt.has_exchanged_signs(pred)):
        return True
    return rules.same_order and have_exchanged_words(gt.folded[0], pred.folded[0])


def _compare_words(
    rules: _TextRules,
    similarity: float,
    gt: ReadText,
    pred: ReadText,
) -> float:
    """Return the similarity of two similar texts, judged word by word.

    It is 0 if a word or sign differs in a way that changes the meaning.
    """
    charge(STEPS_OF_WORDS_OF_PAIR + STEPS_OF_LETTER * (len(gt) + len(pred)))
    if rules.same_words:
        words = gt.match_spelling(pred.folded[0])
        similarity = similarity_by_words(
            similarity, words, pred.match_spelling(words), same_letters=rules.same_letters
        )
        has_other_signs = have_replaced_signs(gt.signs, pred.signs)
        if similarity and (has_other_signs or gt.n_final_pluses != pred.n_final_pluses):
            return 0.0
        if gt.signs and (gt.has_other_checkboxes(pred) or gt.has_exchanged_signs(pred)):
            return 0.0
    is_exchanged = rules.same_order and similarity > 0
    if is_exchanged and have_exchanged_words(gt.folded[0], pred.folded[0]):
        return 0.0
    return similarity
