"""What a misspelt name was meant to be; every room that takes names from users asks here."""

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import Final

NEAR: Final = 0.6
"""Likeness from which a spelling is worth proposing. Source: the default cutoff of difflib."""

NEAR_PATH: Final = 0.3
"""The same for a field path, of which the user may know no more than a part."""


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Find the choice that a word most likely means; None where no choice is near.

    Case does not matter, and a word is also held against the beginnings of the choices.

    >>> choices = ["LevenshteinComparator", "FuzzyComparator"]
    >>> nearest("Fuzy", choices), nearest("levenshtein", choices), nearest("Nope", choices)
    ('FuzzyComparator', 'LevenshteinComparator', None)
    """
    wanted = word[:100].lower()  # far longer than any name; the search is quadratic in it

    def likeness(choice: str) -> tuple[float, float]:
        whole, beginning = (
            SequenceMatcher(None, wanted, form).ratio()
            for form in (choice.lower(), choice.lower()[: len(wanted)])
        )
        return max(whole, beginning), whole

    best = max(choices, key=likeness, default=None) if wanted else None
    return best if best is not None and likeness(best)[0] >= NEAR else None


def did_you_mean(word: str, choices: Iterable[str], *, shown: Callable[[str], str] = str) -> str:
    """Word the hint that names the nearest choice; empty where no choice is near."""
    choice = nearest(word, choices)
    return f"did you mean {shown(choice)}?" if choice else ""


def near_paths(path: str, paths: Iterable[str]) -> list[str]:
    """List up to three field paths that a path may stand for, the nearest first."""
    return get_close_matches(path, list(paths), n=3, cutoff=NEAR_PATH)
