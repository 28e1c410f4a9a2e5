"""Differences between two values that match all the same."""

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
"""How a value differs from its ground truth, although its comparator lets it match."""

DIFFERENCES: Final[tuple[DifferenceKind, ...]] = get_args(DifferenceKind)
"""All kinds of differences in the order of reports: differences of words come first."""

OTHER_WORDS: Final[frozenset[DifferenceKind]] = frozenset(("another word", "other letters"))
"""Kinds of differences in which another word takes the place of a word."""
REMEDIES: Final[dict[DifferenceKind, str]] = {
    "another word": '"same_letters": true in the comparator-config',
    "other letters": '"same_letters": true in the comparator-config',
    "a word more or less": "a threshold of 1",
    "words joined or split": "CaseInsensitiveComparator",
    "a sign more or less": "CaseInsensitiveComparator",
    "another order": "CaseInsensitiveComparator",
    "another number": "a comparator-config without a tolerance",
    "no currency or unit": "CaseInsensitiveComparator",
    "thousands or decimals": '"decimal": "auto" in the comparator-config',
    "day or month first": '"dayfirst": true or false in the comparator-config',
    "other capitals": "CodeComparator",
    "other separators": "CaseInsensitiveComparator",
    "small overlap": "a threshold of 0.75",
}
"""What makes values with each kind of difference wrong: a change of the field's annotations."""


class MatchDifference(NamedTuple):
    """The difference between two values that match, with what differs."""

    difference: DifferenceKind
    gt: str
    """The text of the ground truth that differs: a word, or the value; empty for an added word."""
    pred: str
    """The text of the prediction in place of `gt`; empty for a missing word."""
