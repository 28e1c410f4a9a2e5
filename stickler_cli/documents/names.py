"""Names of documents: the part that pairs, and what could be done where none do."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Problem, UsageError
from .document import Reference

PAIR_BY: Final = "--pair-by"

Naming: TypeAlias = re.Pattern[str] | None  # finds in a name what pairs; None takes all of it

MOST_NAMES: Final = 1000  # of each side that are looked at; a pattern shows in fewer

PATTERNS: Final = (
    r"([^/]+)$",  # other directories
    r"_(.+)$",  # gt_1, pred_1
    r"-(.+)$",
    r"^(.+)_",
    r"^(.+)-",
    r"^(.+)\.",  # 1.gt, 1.pred
    r"(\d+)\D*$",
    r"^\D*(\d+)",
)
"""What may be common to names that differ otherwise; the first that pairs most is proposed."""


def naming_of(said: str | None) -> Naming:
    """Return the pattern for the part of a name that pairs; None where nobody gave one.

    Raises:
        UsageError: it is no regular expression.
    """
    if said is None:
        return None
    try:
        return re.compile(said)
    except re.error as error:
        expected = "a regular expression"
        raise UsageError([Problem(PAIR_BY, f"{brief(said)} is none ({error})", expected)]) from None


def name_by(naming: re.Pattern[str], name: str) -> str:
    """Return the part of a name that pairs: the first group, or the match; else all of the name."""
    match = naming.search(name)
    if match is None:
        return name
    return (match[1] if naming.groups else match[0]) or name


def renamed(
    documents: Callable[[], Iterable[tuple[str, Reference]]], naming: re.Pattern[str], source: str
) -> Iterator[tuple[str, Reference]]:
    """Yield documents under the part of their names that a pattern finds.

    Raises:
        UsageError: it finds the same in two of them.
    """
    names: dict[str, str] = {}
    for name, reference in documents():
        found = name_by(naming, name)
        if found in names:
            twice = f"it finds {found!r} in {names[found]!r} and in {name!r} of {source}"
            raise UsageError([Problem(PAIR_BY, twice, "another name for each document")])
        names[found] = name
        yield found, reference


def pattern_for(gts: Sequence[str], preds: Sequence[str]) -> tuple[str, int] | None:
    """Return a pattern for `--pair-by`, and how many of some names it pairs.

    None where each pairs fewer than half of the shorter side, or finds the same in two names.
    """
    gts, preds = gts[:MOST_NAMES], preds[:MOST_NAMES]
    best: tuple[str, int] | None = None
    for pattern in PATTERNS:
        mine, its = _keys(pattern, gts), _keys(pattern, preds)
        paired = len(mine & its)
        unique = len(mine) == len(gts) and len(its) == len(preds)
        if unique and 2 * paired >= min(len(gts), len(preds)) and paired > (best[1] if best else 0):
            best = pattern, paired
    return best


def _keys(pattern: str, names: Iterable[str]) -> set[str]:
    naming = re.compile(pattern)
    return {name_by(naming, name) for name in names}


def nearest_names(gts: Sequence[str], preds: Sequence[str]) -> tuple[str, str] | None:
    """Return the two names that are most alike, of ground truth and prediction; None without any.

    Of equally alike ones the first count.
    """
    from rapidfuzz import process  # most runs pair

    if not gts or not preds:
        return None
    best = 0.0, gts[0], preds[0]
    for gt in gts[:MOST_NAMES]:
        pred, likeness, _ = process.extractOne(gt, preds[:MOST_NAMES])
        if likeness > best[0]:
            best = likeness, gt, pred
    return best[1:]
