"""What stands out among the values of a field: outliers, odd forms, spellings.

Each rule wants many values that agree before it says anything of the few that do not.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

import numpy as np
from rapidfuzz.distance import Levenshtein

from stickler_cli.comparators.date import DateComparator
from stickler_cli.core.json_values import brief
from .findings import Findings
from .profiles import Extreme, Profile

FEWEST: Final = 30
"""Values of a field from which on any can stand out."""

FAR: Final = 8.0
"""Robust standard deviations from the median from which on a value is far. Customary is 3.5
(Iglewicz and Hoaglin 1993, How to Detect and Handle Outliers), which amounts of money exceed all
the time."""

GAP: Final = 2.0
"""The same between a far value and the next one that is less far: else a tail ends there."""

MOST_ODD: Final = 0.02
"""The share of values that may stand out; more are another kind of value, and no mistakes."""

_SIGMA: Final = 1.4826  # of a normal distribution, in median absolute deviations

MOST_SPELLED: Final = 50
"""Distinct texts of a field whose texts are repeated so often that they are an enum in fact."""

OFTEN: Final = 5
"""How often each of them occurs, on average."""

TYPO: Final = 10
"""How many times as often the right spelling has to occur as one that differs in one letter."""

SHORTEST_TYPO: Final = 6
"""Letters of a word in which another letter is a mistake and not another word."""


def judge(profile: Profile, findings: Findings) -> None:
    """Find what stands out among the values of a field."""
    _outliers(profile, findings)
    _odd_forms(profile, findings)
    _spellings(profile, findings)


def _outliers(profile: Profile, findings: Findings) -> None:
    """Find numbers and dates far from the others; numbers above 0 by their magnitude."""
    numbers, path = profile.numbers, profile.path
    if numbers.count < FEWEST:
        return
    dates = isinstance(profile.node.comparator, DateComparator)
    sample = np.array(numbers.sample)
    positive = sample[sample > 0]
    scaled = not dates and len(positive) >= (1 - MOST_ODD) * len(sample)
    places = np.log10(positive) if scaled else sample
    middle = float(np.median(places))
    spread = _SIGMA * float(np.median(np.abs(places - middle)))
    if spread == 0:
        return
    far: list[Extreme] = []
    for sign, ends in ((-1, numbers.least), (1, numbers.greatest)):
        all_known = numbers.count == len(ends)
        away = [
            (sign * ((math.log10(end.number) if scaled else end.number) - middle) / spread, end)
            for end in sorted(ends)
            if end.number > 0 or not scaled
        ]
        far += _beyond_a_gap(away, all_known=all_known)
    if len(far) > max(1, MOST_ODD * numbers.count):
        return
    low, high = np.quantile(sample, [0.05, 0.95]).tolist()
    usual = f"{low:g} to {high:g}"
    if dates:
        usual = " to ".join(str(date.fromordinal(int(day))) for day in (low, high))
    for end in far:
        findings.add("outlier", path, end.spot, end.shown, f"something like {usual}")


def _beyond_a_gap(away: Sequence[tuple[float, Extreme]], *, all_known: bool) -> Iterator[Extreme]:
    """Yield what is far, by its distance, once there was a gap before it."""
    before = 0.0 if all_known else math.inf
    beyond = False
    for distance, end in away:
        beyond = beyond or (distance > FAR and distance - before > GAP)
        if beyond:
            yield end
        before = distance


def _odd_forms(profile: Profile, findings: Findings) -> None:
    """Find texts of another form than nearly all, if that form has digits and so is a format."""
    counts = profile.shapes.counts
    total = counts.total()
    if total < FEWEST or isinstance(profile.node.comparator, DateComparator):
        return
    ((usual, times),) = counts.most_common(1)
    if "9" not in usual or times < (1 - MOST_ODD) * total:
        return
    _, example = profile.shapes.spots[usual][0]
    for shape in counts:
        if shape != usual:
            expected, times = f"a form like {brief(example)}", counts[shape]
            for spot, value in profile.shapes.spots[shape]:
                findings.add("odd-format", profile.path, spot, brief(value), expected, times)
                times = 0  # they are counted with the first


def _spellings(profile: Profile, findings: Findings) -> None:
    """Find texts that differ from a more frequent one in case, signs or one letter only."""
    counts = profile.texts.counts
    total = counts.total()
    if total < FEWEST or len(counts) > MOST_SPELLED or total < OFTEN * len(counts):
        return
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        by_word[_word(text)].append(text)
    meant = {text: usual for usual, *others in by_word.values() for text in others}
    frequent = {word: texts[0] for word, texts in by_word.items() if counts[texts[0]] >= TYPO}
    for word, (text, *_) in by_word.items():
        near = (frequent[other] for other in frequent if _is_typo(word, other))
        usual = next((other for other in near if counts[other] >= TYPO * counts[text]), None)
        if usual is not None:
            meant[text] = usual
    for text, usual in meant.items():
        expected, times = f"{brief(usual)} as elsewhere ({counts[usual]})", counts[text]
        for spot, value in profile.texts.spots[text]:
            findings.add("inconsistent-spelling", profile.path, spot, brief(value), expected, times)
            times = 0


def _is_typo(word: str, other: str) -> bool:
    """Return whether two words differ in one letter; another digit is another thing."""
    longer = max(len(word), len(other))
    if longer < SHORTEST_TYPO or not (word + other).isalpha():
        return False
    return Levenshtein.distance(word, other, score_cutoff=1) == 1


def _word(text: str) -> str:
    """Return what is left of a text without case, blanks and signs; the text if that is nothing."""
    return "".join(filter(str.isalnum, text.casefold())) or text
