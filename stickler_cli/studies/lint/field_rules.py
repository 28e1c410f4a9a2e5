"""Rules on the values of a field together: outliers, odd forms and spellings.

Each rule wants many values that agree before it says anything of the few that do not.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from heapq import heappush, heappushpop
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from rapidfuzz.distance import Levenshtein

from stickler_cli.comparators.base import BaseComparator, is_number, meets
from stickler_cli.comparators.date import DateComparator
from stickler_cli.comparators.date_parsing import StatedDate
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.compare.columns import NOTHING, Indexes
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Options
from stickler_cli.compare.units import OBJECT, UnitBatch, UnitTable
from stickler_cli.core.json_values import JsonValue, brief, kind_of
from stickler_cli.core.locations import field_path, json_pointer
from stickler_cli.core.problems import ComparisonError
from stickler_cli.schema.inference.observation import (
    CODE_FORM,
    DAY_FIRST,
    LONGEST_READ,
    MONTH_FIRST,
    evidence_of,
)
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.errors.confusions import amount
from stickler_cli.score.errors.located_units import field_pattern, locate
from .findings import Document, Findings, Spot
from .text_tally import TextTally

MOST_SPELLINGS: Final = 500
"""Distinct texts of a field that are kept; a field with more is no enum in all but name."""

LONGEST_SPELLING: Final = 60
"""Characters of such a text; longer ones are prose."""

ORDINARY: Final = 1e300
"""Numbers beyond it may be infinite."""

MOST_SHAPES: Final = 50
SAMPLE: Final = 10_000
"""Numbers of a field from which its spread is taken, drawn evenly."""

MOST_EXTREMES: Final = 20
"""The least and the greatest numbers of a field, of which outliers are."""

_DIGITS: Final = re.compile(r"\d+")
_CAPITALS: Final = re.compile(r"[A-Z]+")
_LETTERS: Final = re.compile(r"[^\W\dA_]+")

SpotOf: TypeAlias = Callable[[int], Spot]
"""A function that locates one of the places of a value."""

PLACES: Final = 3
"""Places that are kept of a text or shape."""


@dataclass(slots=True)
class DistinctTexts:
    """Distinct texts, or shapes of texts, with how often and where first; up to a bound."""

    most: int
    counts: Counter[str] = field(default_factory=Counter)
    spots: dict[str, list[tuple[Spot, str]]] = field(default_factory=dict)
    overflown: bool = False

    def add(self, text: str, value: str, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Add a text that stands for a value at some places."""
        if self.overflown:
            return
        if text not in self.counts and len(self.counts) == self.most:
            self.overflown = True
            self.counts.clear()
            self.spots.clear()
            return
        self.counts[text] += len(pairs)
        kept = self.spots.setdefault(text, [])
        kept += [(spot_of(pair), value) for pair in pairs[: PLACES - len(kept)]]


class Extreme(NamedTuple):
    """A number near an end; the tuples of an end order from the inside out."""

    key: float
    """The number, or its negative at the lower end."""
    order: int
    spot: Spot
    shown: str
    number: float


@dataclass(slots=True)
class NumberSample:
    """A sample of numbers, and those at either end with their places."""

    count: int = 0
    sample: list[float] = field(default_factory=list)
    least: list[Extreme] = field(default_factory=list)
    greatest: list[Extreme] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 - a sample, no secret

    def add(self, number: float, value: JsonValue, pair: int, spot_of: SpotOf) -> None:
        """Add the number that a value at some place means."""
        self.count += 1
        if len(self.sample) < SAMPLE:
            self.sample.append(number)
        elif (at := self._random.randrange(self.count)) < SAMPLE:
            self.sample[at] = number
        for heap, key in ((self.least, -number), (self.greatest, number)):
            full = len(heap) == MOST_EXTREMES
            if not full or heap[0].key < key:
                entry = Extreme(key, -self.count, spot_of(pair), brief(value), number)
                (heappushpop if full else heappush)(heap, entry)


@dataclass(slots=True)
class Profile:
    """The values of one field that one comparator judges."""

    path: str
    node: LeafNode
    count: int = 0
    unmatched: int = 0
    """Values that do not match themselves."""
    texts: DistinctTexts = field(default_factory=lambda: DistinctTexts(MOST_SPELLINGS))
    shapes: DistinctTexts = field(default_factory=lambda: DistinctTexts(MOST_SHAPES))
    numbers: NumberSample = field(default_factory=NumberSample)
    """Of a field of dates, their days."""
    orders: DistinctTexts = field(default_factory=lambda: DistinctTexts(2))
    """Of a field of dates, the orders of day and month that its texts show."""
    tally: TextTally = field(init=False)
    """How many texts are of each kind that the comparator treats specially."""

    def __post_init__(self) -> None:
        self.tally = TextTally(self.node)

    def add(self, value: JsonValue, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Add a value that stands at some places."""
        self.count += len(pairs)
        self.tally.add(value, len(pairs))
        if isinstance(self.node.comparator, DateComparator) and isinstance(value, str):
            self._add_orders(value, pairs, spot_of)
        number = _number(self.node.comparator, value)
        if number is not None:
            for pair in pairs:
                self.numbers.add(number, value, pair, spot_of)
        elif isinstance(value, str) and len(value) <= LONGEST_SPELLING:
            self.texts.add(value, value, pairs, spot_of)
            self.shapes.add(shape_of(value), value, pairs, spot_of)

    def _add_orders(self, text: str, pairs: Sequence[int], spot_of: SpotOf) -> None:
        shown = evidence_of(text) if len(text) <= LONGEST_READ else ()
        for order in {DAY_FIRST, MONTH_FIRST}.intersection(shown):
            self.orders.add(order, text, pairs, spot_of)


def _number(comparator: BaseComparator, value: JsonValue) -> float | None:
    """Return where a value stands on a line: a number, or the day of a date; None for others."""
    number: float | Decimal | None = value if is_number(value) else None
    if isinstance(comparator, DateComparator):
        stated = comparator.prepare(value).month_first
        number = None
        if isinstance(stated, StatedDate) and stated.is_whole:
            number = stated.first_day.toordinal()
    elif isinstance(comparator, NumericComparator) and isinstance(value, str):
        number = amount(value)  # a text that has a number in it, as VDM/003, is none
    return float(number) if number is not None and -ORDINARY < number < ORDINARY else None


def shape_of(text: str) -> str:
    """Return the form of a text: runs of digits, capitals and other letters as one sign each.

    >>> shape_of("INV-2024/017"), shape_of("Main St. 5")
    ('A-9/9', 'Aa Aa. 9')
    """
    return _LETTERS.sub("a", _CAPITALS.sub("A", _DIGITS.sub("9", text)))


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


FORGIVING: Final = 0.5
"""The threshold at which half of a text may be wrong; it is the default of texts."""
CODES: Final = 0.9
"""The share of texts with digits, and without spaces or in groups, at which a field is of codes."""


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


def _date_orders(profile: Profile, findings: Findings) -> None:
    """Find dates with the day first in a field with others that have the month first."""
    if len(profile.orders.counts) < 2:
        return
    (usual, _), (rare, times) = profile.orders.counts.most_common()
    _, example = profile.orders.spots[usual][0]
    for spot, text in profile.orders.spots[rare]:
        expected = f"the {usual}, as in {brief(example)}"
        findings.add("mixed-date-order", profile.path, spot, brief(text), expected, times)
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


def forgives(profile: Profile) -> bool:
    """Return whether values that are codes, numbers or years pass with a wrong digit."""
    is_text = getattr(profile.node.comparator, "same_digits", None) is False
    counts = profile.shapes.counts
    coded = (it for it in counts if "9" in it and (" " not in it or CODE_FORM.fullmatch(it)))
    codes = sum(counts[shape] for shape in coded)
    many = codes >= max(SOME, CODES * counts.total())
    return is_text and profile.node.threshold <= FORGIVING and many


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
        table = compare(
            self._plan, gts, [{}] * len(gts), Options(extra_fields="ignore", work_limit=None)
        )
        for batch in table.batches:
            if batch.kind == OBJECT:
                self._note_undeclared(table, batch, documents)
            for _, positions in batch.positions_by_field():
                if isinstance(batch.node_of(int(positions[0])), LeafNode):
                    self._profile_values(table, batch, positions, documents)

    def conclude(self) -> list[str]:
        """Find values that stand out in each field; return notes."""
        for profile in self._profiles.values():
            for rule in (_outliers, _odd_forms, _date_orders, _spellings):
                rule(profile, self._findings)
            if profile.count == profile.unmatched >= SOME:
                name, threshold = profile.node.comparator.name, profile.node.threshold
                found = f"none of {profile.count} values reaches {threshold:g} by {name}"
                self._findings.of_schema("unreachable-threshold", profile.path, found)
            for name, found in profile.tally.findings():
                self._findings.of_schema(name, profile.path, found)
            if forgives(profile):
                node = profile.node
                found = f"{node.comparator.name} at {node.threshold:g}, of values with digits"
                self._findings.of_schema("forgiving-text", profile.path, found)
        if len(self._profiles) < MOST_FIELDS:
            return []
        return [f"only the values of the first {MOST_FIELDS} fields were looked at together"]

    def _note_undeclared(
        self, table: UnitTable, batch: UnitBatch, documents: Sequence[Document]
    ) -> None:
        """Tell of the keys of objects that have a value and that the schema does not declare."""
        rows = [row for row in batch.rows.tolist() if row in table.undeclared_keys]
        spot_of = _spots(table, batch, documents)
        for row in rows:
            position = row - batch.start
            value: Any = batch.gt_values(np.array([position]))[0]
            for name in table.undeclared_keys[row]:
                spot = spot_of(position)
                spot = replace(spot, pointer=spot.pointer + json_pointer((name,)))
                path = field_path((*field_pattern(table, batch, position), name))
                self._findings.add("undeclared-key", path, spot, brief(value[name]))

    def _profile_values(
        self,
        table: UnitTable,
        batch: UnitBatch,
        positions: Indexes,
        documents: Sequence[Document],
    ) -> None:
        """Look at the values of one field, each distinct one once."""
        first = int(positions[0])
        path, node = field_path(field_pattern(table, batch, first)), batch.node_of(first)
        if (path, id(node)) not in self._profiles and len(self._profiles) >= MOST_FIELDS:
            return
        profile = self._profiles.setdefault((path, id(node)), Profile(path, node))
        spot_of = _spots(table, batch, documents)
        codes = batch.columns.codes
        positions_by_code: defaultdict[int, list[int]] = defaultdict(list)
        of_values = codes.gt[batch.gt_slot[positions]].tolist()
        for position, code in zip(positions.tolist(), of_values, strict=True):
            if code != NOTHING:
                positions_by_code[code].append(position)
        for code, of_code in positions_by_code.items():
            profile.add(codes.values[code], of_code, spot_of)
        distinct_values = {code: codes.values[code] for code in positions_by_code}
        for code, similarity in _unlike_themselves(node, distinct_values):
            value = codes.values[code]
            judged = f"{node.comparator.name} gives {similarity:g} to it and itself"
            found, expected = f"{brief(value)}: {judged}", f"at least {node.threshold:g}"
            rescued = node.comparator.same_value
            rule = "unreadable-value" if rescued else "never-matches"
            for position in positions_by_code[code]:
                profile.unmatched += not rescued
                self._findings.add(rule, path, spot_of(position), found, expected)


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


def _spots(table: UnitTable, batch: UnitBatch, documents: Sequence[Document]) -> SpotOf:
    """Return a function that locates a unit of a batch by its position, which takes long."""

    def spot_of(position: int) -> Spot:
        (place,) = locate(table, batch, np.array([position]))
        document = documents[int(batch.document[position])]
        return document.spot(place.gt_path or ())

    return spot_of
