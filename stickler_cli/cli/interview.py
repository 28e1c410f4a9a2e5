"""`stickler init --interactive`: each choice, for someone who knows the documents to change."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from stickler_cli.comparators.registry import UnknownComparatorError, comparator_class
from stickler_cli.core.figures import setting
from stickler_cli.core.locations import Path, field_path
from stickler_cli.schema.inference import Inferred
from stickler_cli.schema.inference.observation import Observed, facts_of
from .console import warn

LEFT_OUT: Final = "-"
LEGEND: Final = (
    "Enter keeps a choice; a comparator or a threshold (FuzzyComparator 0.8) changes it, - leaves "
    "the field without, and the end of input (Ctrl-D) keeps all others."
)
SHOWN: Final = 4
"""Values of a field that are shown."""


def interview(choices: Mapping[Path, Inferred], seen: Observed | None) -> dict[Path, Inferred]:
    """Ask about each choice on standard error, and return those that are to be written."""
    warn(LEGEND)
    kept: dict[Path, Inferred] = {}
    ended = False
    for number, (place, choice) in enumerate(choices.items(), 1):
        answer = None if ended else _asked(f"{number}/{len(choices)}", choice, seen)
        ended = answer is None
        if answer != LEFT_OUT:
            kept[place] = answer if isinstance(answer, Inferred) else choice
    return kept


def _asked(number: str, choice: Inferred, seen: Observed | None) -> Inferred | str | None:
    """Ask until an answer can be understood; None at the end of input."""
    values = seen and seen.at(choice.path)
    warn("")
    threshold = "" if choice.threshold is None else f" {setting(choice.threshold)}"
    warn(f"{number} {field_path(choice.path)}: {choice.compared_by}{threshold}")
    warn(f"    {choice.reason}")
    if values:
        shown = ", ".join(sorted(values.values or ())[:SHOWN])
        warn(f"    {facts_of(values)}" + (f": {shown}" if shown else ""))
    while line := sys.stdin.readline():
        words = line.split()
        if words == [LEFT_OUT]:
            return LEFT_OUT
        try:
            return _changed(choice, words)
        except ValueError as error:
            warn(f"    {error}")
    return None


def _changed(choice: Inferred, words: list[str]) -> Inferred:
    """Return a choice with what an answer says; ValueError with what is wrong."""
    for word in words:
        try:
            threshold = float(word)
        except ValueError:
            try:
                comparator_class(word)
            except UnknownComparatorError as error:
                raise ValueError(
                    f"{word} is no comparator; {error.hint or error.expected}"
                ) from None
            choice = replace(choice, comparator=word, config={}, threshold=None, reason=BY_HAND)
        else:
            if not 0 <= threshold <= 1:
                raise ValueError(f"{word} is no threshold in [0, 1]")
            choice = replace(choice, threshold=threshold, reason=BY_HAND)
    return choice


BY_HAND: Final = "chosen by hand"
