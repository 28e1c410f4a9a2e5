"""Find relations to a number by words and signs beside it: `at least 5`, `<5`, `ca. 5`."""

import re
from typing import Final

_IN_TEXTS: Final = (
    ("~", "~, ≈, about, approx, approximately, roughly, circa, zirka, etwa, ungefähr, environ"),
    ("~", "aproximadamente, ongeveer, sekitar"),
    ("<", "less than, fewer than, weniger als, moins de, menos de, meno di, minder dan"),
    ("<", "kurang dari"),
    (">", "more than, greater than, mehr als, plus de, más de, mais de, più di, meer dan"),
    (">", "lebih dari"),
    ("<=", "≤, =<, at most, no more than, not more than, höchstens, au plus"),
    (">=", "≥, =>, at least, no less than, not less than, mindestens, au moins, al menos, almeno"),
    (">=", "minstens"),
)
"""Pairs of (sign, phrases separated by commas). In any text, a phrase directly before a number is
replaced by its sign: `at least 5` becomes `>=5`."""
_IN_QUANTITIES: Final = (
    *_IN_TEXTS,
    ("<", "under, below, unter"),
    (">", "over, above, über"),
    ("<=", "up to, max, maximum, bis zu"),
    (">=", "min, minimum"),
)
"""The pairs of `_IN_TEXTS` and further pairs. They apply to a text that is only a number, maybe
with a unit. In a longer text, a word such as `under` may mean something else."""
_CIRCA: Final = "circa"
_ABBREVIATION_IN_TEXT: Final = r"ca\."
_ABBREVIATION_IN_QUANTITY: Final = r"ca\.|(?-i:ca)(?=\s)"
"""Pattern of abbreviations of `circa`. Without a full stop, `ca` must be in lower case: in an
address, `CA 90210` is California."""
_BEHIND_NUMBER: Final = re.compile(
    r"(?<=[\w%.])(?:(?P<minimum>\s?\+|\s(?:minimum|(?:or|and) (?:more|above|over|older)))"
    r"|\s(?:max(?:imum|\.)?|or (?:less|fewer|below|under|younger)))\s*$",
    re.IGNORECASE,
)


def _signs_by_words(groups: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Map the words or signs of each relation to the one sign that stands for it.

    >>> _signs_by_words((("~", "about, circa"), (">=", "at least")))
    {'about': '~', 'circa': '~', 'at least': '>='}
    """
    return {words.strip(): sign for sign, line in groups for words in line.split(",")}


def _pattern_of(signs_by_words: dict[str, str], circa: str) -> re.Pattern[str]:
    """Return a pattern of words or signs that state a relation to the number after them.

    The pattern matches `at least` in `at least 5`. There may be a currency sign directly before the
    number. `circa` is a pattern of the abbreviations of the word `circa`.
    """
    # The longest first: `no more than` before `more than`.
    longest_first = sorted(signs_by_words, key=len, reverse=True)
    words = "|".join(re.escape(words).replace(r"\ ", r"\s") for words in longest_first)
    return re.compile(
        rf"(?<![^\W\d_])(?:({words})(?![^\W\d_])\.?|{circa})\s{{0,3}}"
        r"(?=[$€£¥]?\s?[-+]?\.?\d)",
        re.IGNORECASE,
    )


_SIGNS_IN_TEXTS: Final = _signs_by_words(_IN_TEXTS)
_SIGNS_IN_QUANTITIES: Final = _signs_by_words(_IN_QUANTITIES)
_BEFORE_NUMBER: Final = _pattern_of(_SIGNS_IN_TEXTS, _ABBREVIATION_IN_TEXT)
_BEFORE_QUANTITY: Final = _pattern_of(_SIGNS_IN_QUANTITIES, _ABBREVIATION_IN_QUANTITY)

_FIRST_WORDS: Final = frozenset(
    words.split()[0] for words in ("ca", _CIRCA, *_SIGNS_IN_QUANTITIES, "maximum", "or", "and")
)
"""The first word of each phrase that states a relation. Some of these phrases stand before a
number, such as `at least`, and some behind it, such as `or older`."""
_LETTERS_ONLY: Final = "".join(
    chr(code).lower() if chr(code).isalpha() else " " for code in range(128)
)
"""Table for `str.translate` that lower-cases ASCII letters and replaces other ASCII characters by
spaces."""


def _may_state_relation(text: str) -> bool:
    """Return False if a text certainly states no relation.

    This check takes less time than a search with the patterns.
    """
    if not text.isascii() or "~" in text or "=" in text or "+" in text:
        return True
    return not _FIRST_WORDS.isdisjoint(text.translate(_LETTERS_ONLY).split())


_NUMBER_AND_WORD_REVERSED: Final = re.compile(
    r"\d\.?[-+]?\s?[$€£¥]?\s{0,3}\.?([^\W\d_]{2,20})(?![^\W\d_])"
)
"""Pattern of a word and the first digit of the number that follows, for a text spelled backwards.
There, the digit comes before the word. The search is fast, because it tries only digits as the
beginning of a match."""
_LAST_WORDS_REVERSED: Final = frozenset(
    words.split()[-1][::-1] for words in (*_SIGNS_IN_TEXTS, "ca")
)
"""The last word of each phrase that states a relation before a number. The words are spelled
backwards, such as `tsael` for `at least`."""
_OTHER_SIGNS: Final = ("~", "≈", "≤", "≥", "=<", "=>")


def mark_relations(text: str) -> str:
    """Replace words such as `at least` before a number by a sign such as `>=`.

    >>> mark_relations("about 30 days, at least $5")
    '~30 days, >=$5'
    """
    words = _NUMBER_AND_WORD_REVERSED.findall(text[::-1].lower())
    if _LAST_WORDS_REVERSED.isdisjoint(words) and not any(sign in text for sign in _OTHER_SIGNS):
        return text
    return _BEFORE_NUMBER.sub(lambda match: _SIGNS_IN_TEXTS[_words_of(match)], text)


def mark_relation_of_quantity(text: str) -> str:
    """Replace words that state a relation to a number by a sign before the number.

    Apart from these words, the text must consist of one number, maybe with a unit. The words may
    come before or after the number.

    >>> mark_relation_of_quantity("max. 5 kg"), mark_relation_of_quantity("18 or older")
    ('<=5 kg', '>=18')
    """
    if not _may_state_relation(text):
        return text
    behind = _BEHIND_NUMBER.search(text)
    if behind is not None:
        sign = ">=" if behind["minimum"] else "<="
        text = f"{sign}{text[: behind.start()]}"
    return _BEFORE_QUANTITY.sub(lambda match: _SIGNS_IN_QUANTITIES[_words_of(match)], text)


def _words_of(relation: re.Match[str]) -> str:
    """Return the matched words in lower case with single spaces.

    If an abbreviation of `circa` is matched, return `circa`.
    """
    return " ".join((relation[1] or _CIRCA).lower().split())
