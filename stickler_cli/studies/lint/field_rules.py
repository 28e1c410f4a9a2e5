"""Rules on the values of a field together: outliers, odd forms and spellings.

Each rule wants many values that agree before it says anything of the few that do not.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

import numpy as np
from rapidfuzz.distance import Levenshtein

from stickler_cli.comparators.base import meets
from stickler_cli.comparators.date import DateComparator
from stickler_cli.compare.columns import NOTHING
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Options
from stickler_cli.core.json_values import JsonValue, brief, kind_of
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import ComparisonError
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.visit import Visit
from stickler_cli.score.walk import visits
from .findings import Document, Findings, Spot
from .profiles import Extreme, Profile, SpotOf

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
    """Find values of a field that stand out."""
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
    """Yield the ends beyond the first gap, by distance."""
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
    """Return a text without case, blanks and signs; as it is if nothing is left."""
    return "".join(filter(str.isalnum, text.casefold())) or text


MOST_FIELDS: Final = 5_000
"""Fields whose values are looked at together."""

SOME: Final = 5
"""Values of a field that none of them matches itself, from which on its threshold is at fault."""


class FieldValues:
    """The values of each field; memory has a bound."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._plan = loaded.plan
        self._findings = findings
        self._profiles: dict[tuple[str, int], Profile] = {}

    def look_at(self, documents: Sequence[Document]) -> None:
        """Look at all values of some documents."""
        if not documents:
            return
        gts = [document.value for document in documents]
        # Against nothing every value is visited, and no comparator is asked anything.
        account = compare(self._plan, gts, [{}] * len(gts), Options(extra_fields="ignore"))
        for visit in visits(account, np.arange(len(gts))):
            if visit.order is None:
                self._undeclared(visit, documents)
            elif isinstance(visit.account.node, LeafNode):
                self._leaves(visit, visit.account.node, documents)

    def conclude(self) -> list[str]:
        """Find values that stand out in each field; return notes."""
        for profile in self._profiles.values():
            judge(profile, self._findings)
            if profile.count == profile.unmatched >= SOME:
                name, threshold = profile.node.comparator.name, profile.node.threshold
                found = f"none of {profile.count} values reaches {threshold:g} by {name}"
                self._findings.of_schema("unreachable-threshold", profile.path, found)
        if len(self._profiles) < MOST_FIELDS:
            return []
        return [f"only the values of the first {MOST_FIELDS} fields were looked at together"]

    def _undeclared(self, visit: Visit, documents: Sequence[Document]) -> None:
        """Tell of the keys of objects that have a value and that the schema does not declare."""
        account, spot_of = visit.account, _spots(visit, documents)
        for pair, position in enumerate(visit.at.tolist() if account.undeclared else ()):
            value: Any = account.columns.gt[int(account.gt[position])]
            for name in account.undeclared.get(position, ()):
                spot = spot_of(pair)
                spot = replace(spot, pointer=spot.pointer + json_pointer((name,)))
                path = field_path((*visit.pattern, name))
                self._findings.add("undeclared-key", path, spot, brief(value[name]))

    def _leaves(self, visit: Visit, node: LeafNode, documents: Sequence[Document]) -> None:
        """Look at the values of one field, each distinct one once."""
        path = field_path(visit.pattern)
        if (path, id(node)) not in self._profiles and len(self._profiles) >= MOST_FIELDS:
            return
        profile = self._profiles.setdefault((path, id(node)), Profile(path, node))
        account, spot_of = visit.account, _spots(visit, documents)
        pairs_of: defaultdict[int, list[int]] = defaultdict(list)
        for pair, code in enumerate(account.columns.codes.gt[account.gt[visit.at]].tolist()):
            if code != NOTHING:
                pairs_of[code].append(pair)
        values = account.columns.codes.values
        for code, pairs in pairs_of.items():
            profile.add(values[code], pairs, spot_of)
        for code, similarity in _unlike_themselves(node, {code: values[code] for code in pairs_of}):
            value = values[code]
            judged = f"{node.comparator.name} gives {similarity:g} to it and itself"
            found, expected = f"{brief(value)}: {judged}", f"at least {node.threshold:g}"
            rescued = node.comparator.same_value
            rule = "unreadable-value" if rescued else "never-matches"
            for pair in pairs_of[code]:
                profile.unmatched += not rescued
                self._findings.add(rule, path, spot_of(pair), found, expected)


def _unlike_themselves(
    node: LeafNode, values: Mapping[int, JsonValue]
) -> Iterator[tuple[int, float]]:
    """Yield the keys of values to which a comparator is no match; models are not asked."""
    comparator = node.comparator
    asked = [
        key
        for key, value in values.items()
        if not isinstance(value, dict | list) or kind_of(value) in comparator.takes
    ]
    if not asked or comparator.asks_models:
        return
    try:
        ready = [comparator.prepare(values[key]) for key in asked]
        similarities = comparator.similarities(ready, ready).tolist()
    except Exception as error:
        cause = f"{comparator.name} failed on values of the ground truth: {error}"
        raise ComparisonError(cause) from error
    for key, similarity in zip(asked, similarities, strict=True):
        if not meets(similarity, node.threshold):
            yield key, similarity


def _spots(visit: Visit, documents: Sequence[Document]) -> SpotOf:
    """Return a function that locates a pair, which takes long."""

    def spot_of(pair: int) -> Spot:
        place = visit.place(pair)
        return documents[place.document].spot(place.gt_path or ())

    return spot_of
