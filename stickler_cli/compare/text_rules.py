"""Find fields whose texts are compared by letters, by the numbers in them, or by their words."""

from collections.abc import Callable, Mapping
from typing import Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.exact import ExactComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.comparators.texts import FuzzyComparator, LevenshteinComparator
from stickler_cli.core.locations import Path
from .field_listing import leaves_by_field
from .leaf import LeafNode
from .plan import Plan


def is_edit_distance(node: LeafNode) -> bool:
    """Return whether texts match if most letters are equal, even if a word or number differs."""
    comparator = node.comparator
    is_of_letters = isinstance(comparator, LevenshteinComparator | FuzzyComparator)
    return is_of_letters and node.threshold < 1 and not counts_words(node)


def decides_by_numbers(node: LeafNode) -> bool:
    """Return whether a text is wrong if a number in it, or the unit beside a number, differs."""
    comparator: BaseComparator = node.comparator
    if isinstance(comparator, NumericComparator):
        return comparator.unit == "same"
    is_exact = isinstance(comparator, ExactComparator)
    return getattr(comparator, "same_digits", False) and not is_exact


def tolerates_words(node: LeafNode) -> bool:
    """Return whether a text may match although one word is misspelt by a letter or replaced."""
    return counts_words(node) and not getattr(node.comparator, "same_letters", False)


def counts_words(node: LeafNode) -> bool:
    """Return whether texts are compared word by word, and may match without being equal."""
    return getattr(node.comparator, "same_words", False) and node.threshold < 1


def ignores_case(node: LeafNode) -> bool:
    """Return whether texts match if they differ only in upper and lower case."""
    comparator = node.comparator
    return isinstance(comparator, ExactComparator) and not comparator.case_sensitive


NOTES: Final[Mapping[str, Callable[[LeafNode], bool]]] = {
    (
        "a long text may count as right although a word or number differs, because texts are "
        "compared by edit distance"
    ): is_edit_distance,
    (
        "a text counts as wrong if it differs in a number or in the unit of a number"
    ): decides_by_numbers,
    (
        "a long text (at least 50 words, not counting words such as 'the') counts as right "
        "although one or two words differ"
    ): tolerates_words,
    (
        "a text counts as right although a word differs by one letter (to prevent this, set "
        "same_letters in the comparator-config)"
    ): tolerates_words,
    (
        "a text counts as right although a word is missing or added (to prevent this, use "
        "ExactComparator)"
    ): counts_words,
    (
        "upper and lower case count as equal (to prevent this, set case_sensitive in the "
        "comparator-config)"
    ): ignores_case,
}
"""Maps notes on surprising comparisons of texts to functions. A function tells whether its note
applies to a leaf."""


def texts_by_note(plan: Plan) -> dict[str, list[Path]]:
    """Return, for each note, the paths of the fields to which it applies.

    Notes that apply to no field are omitted.
    """
    paths_by_note: dict[str, list[Path]] = {note: [] for note in NOTES}
    for path, leaves in leaves_by_field(plan):
        for note, holds in NOTES.items():
            if any(map(holds, leaves)):
                paths_by_note[note].append(path)
    return {note: paths for note, paths in paths_by_note.items() if paths}
