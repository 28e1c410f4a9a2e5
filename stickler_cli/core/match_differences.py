"""Differences between two values that match nevertheless."""

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

DifferenceKind: TypeAlias = Literal[
    "another word",
    "other letters",
    "a word more or less",
    "words joined or split",
    "a sign more or less",
    "another order",
    "another number",
    "no currency or unit",
    "thousands or decimals",
    "day or month first",
    "other capitals",
    "other separators",
    "small overlap",
]
"""How a matching value differs from its ground truth."""

DIFFERENCES: Final[tuple[DifferenceKind, ...]] = get_args(DifferenceKind)
"""All kinds of differences, in the order of reports. Differences of words come first."""

OTHER_WORDS: Final[frozenset[DifferenceKind]] = frozenset(("another word", "other letters"))
"""Kinds of differences where one word stands in place of another, or where the letters of a word
differ."""
REMEDIES: Final[dict[DifferenceKind, str]] = {
    "another word": 'set "same_letters": true in the comparator-config',
    "other letters": 'set "same_letters": true in the comparator-config',
    "a word more or less": "use a threshold of 1",
    "words joined or split": "use CaseInsensitiveComparator",
    "a sign more or less": "use CaseInsensitiveComparator",
    "another order": "use CaseInsensitiveComparator",
    "another number": "use a comparator-config without a tolerance",
    "no currency or unit": "use CaseInsensitiveComparator",
    "thousands or decimals": 'set "decimal": "auto" in the comparator-config',
    "day or month first": (
        'set "dayfirst" in the comparator-config: true if your dates begin with the day, otherwise '
        "false"
    ),
    "other capitals": "use CodeComparator",
    "other separators": "use CaseInsensitiveComparator",
    "small overlap": "use a threshold of 0.75",
}
"""For each kind of difference, advice on how to change the annotations of a field. After this
change, values that differ in this way no longer match. Only dates with `dayfirst` may still match:
they do if they are equal in the order of day and month that it states."""


class MatchDifference(NamedTuple):
    """How two matching values differ, with the texts that differ."""

    difference: DifferenceKind
    gt: str
    """The text of the ground truth that differs. It is a word or the whole value. It is empty if
    the prediction has an additional word."""
    pred: str
    """The text that the prediction has instead of `gt`. It is empty if the prediction lacks a
    word."""
