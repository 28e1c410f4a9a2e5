"""Equality of texts in any script, after Unicode compatibility normalisation."""

import re
import unicodedata
from typing import Final

from .exact import ExactComparator
from .keywords import checked_flag

_IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What is not to be seen: soft hyphens, joiners, marks of direction. Source: Unicode 15,
DerivedCoreProperties, Default_Ignorable_Code_Point."""


class NormalizedComparator(ExactComparator):
    """Compare texts for equality in any script, without case, font forms and punctuation."""

    def __init__(
        self,
        threshold: float = 1.0,
        case_sensitive: bool = False,
        ignore_whitespace: bool = True,
        ignore_punctuation: bool = True,
    ) -> None:
        """Choose what counts; a sign between two digits always does, so that 1.5 is not 15."""
        super().__init__(threshold, case_sensitive)
        self.ignore_whitespace = checked_flag("ignore_whitespace", ignore_whitespace)
        self.ignore_punctuation = checked_flag("ignore_punctuation", ignore_punctuation)

    def _normalised(self, text: str) -> str:
        text = unicodedata.normalize("NFKC", text)
        if not self.case_sensitive:
            text = unicodedata.normalize("NFKC", text.casefold())
        if not text.isascii():
            text = _IGNORABLE.sub("", text)
        if self.ignore_whitespace:
            text = "".join(text.split())
        return _without_punctuation(text) if self.ignore_punctuation else text


def _without_punctuation(text: str) -> str:
    """Leave out punctuation, but for signs between two digits."""
    if text.isalnum():
        return text
    kept: list[str] = []
    waiting = ""  # punctuation behind a digit
    for letter in text:
        if unicodedata.category(letter).startswith("P"):
            waiting += letter if waiting or (kept and kept[-1].isdecimal()) else ""
            continue
        if waiting and letter.isdecimal():
            kept += waiting
        waiting = ""
        kept.append(letter)
    return "".join(kept)
