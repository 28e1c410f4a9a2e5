"""Checks of keywords that constructors of comparators share, and their error."""

from collections.abc import Sequence
from typing import TypeGuard

from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import did_you_mean


class KeywordError(ValueError):
    """A constructor keyword with a value that a comparator cannot use."""

    def __init__(self, keyword: str | None, found: str, expected: str = "", hint: str = "") -> None:
        super().__init__(keyword, found, expected, hint)
        self.keyword = keyword
        """The keyword at fault; None where the configuration as a whole is."""
        self.found = found
        self.expected = expected
        self.hint = hint

    @classmethod
    def of(cls, keyword: str, value: object, expected: str, hint: str = "") -> "KeywordError":
        """Return the error of a keyword's value."""
        return cls(keyword, f"{keyword} is {brief(value)}", expected, hint)

    def __str__(self) -> str:
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{self.found}{expected}" + (f"; {self.hint}" if self.hint else "")


class UnknownKeywordError(KeywordError):
    """A keyword that the constructor does not have."""


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a JSON number; to Python, booleans are numbers too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_flag(keyword: str, value: object) -> bool:
    """Return a boolean; a `KeywordError` for anything else."""
    if isinstance(value, bool):
        return value
    raise KeywordError.of(keyword, value, "true or false")


def checked_fraction(keyword: str, value: object) -> float:
    """Return a number in [0, 1]; a `KeywordError` for anything else."""
    hint = ""
    if is_number(value):
        if 0 <= value <= 1:
            return value
        hint = f"did you mean {value / 100:g}?" if 1 < value <= 100 else ""
    raise KeywordError.of(keyword, value, "a number in [0, 1]", hint)


def checked_choice(keyword: str, value: object, choices: Sequence[str]) -> str:
    """Return one of the choices; a `KeywordError` for anything else."""
    if isinstance(value, str) and value in choices:
        return value
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    expected = f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]
    raise KeywordError.of(keyword, value, expected, hint)


def checked_text(keyword: str, value: object) -> str:
    """Return a string that is not empty; a `KeywordError` for anything else."""
    if isinstance(value, str) and value:
        return value
    raise KeywordError.of(keyword, value, "a string that is not empty")
