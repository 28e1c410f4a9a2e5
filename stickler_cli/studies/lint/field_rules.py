"""Rules that look at all values of a field together.

They find outliers, rare formats and inconsistent spellings. Each rule needs many values that agree
before it reports the few that differ.
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
from stickler_cli.core.figures import number_of
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

MAX_SPELLINGS: Final = 500
"""Maximum number of distinct texts that are kept for a field. A field with more has free text,
whose spelling is not checked."""

MAX_SPELLING_LENGTH: Final = 60
"""Texts longer than this number of characters are not checked for spelling, as they are prose."""

MAX_NUMBER: Final = 1e300
"""Numbers beyond this limit (or its negative) are ignored, as they may be infinite."""

MAX_SHAPES: Final = 50
"""Maximum number of distinct shapes of texts, such as `A-9/9`, that are kept for a field."""
SAMPLE_SIZE: Final = 10_000
"""For each field, the spread of its numbers is estimated from a random sample of this size. If the
field has fewer numbers, the sample has all of them."""

MAX_EXTREMES: Final = 20
"""For each field, this many of the smallest and of the greatest numbers are kept. Only these can be
outliers."""

_DIGITS: Final = re.compile(r"\d+")
_CAPITALS: Final = re.compile(r"[A-Z]+")
_LETTERS: Final = re.compile(r"[^\W\dA_]+")

SpotOf: TypeAlias = Callable[[int], Spot]
"""A function from the position of a value, in an array of values, to the location of the value."""

MAX_PLACES_OF_TEXT: Final = 3
"""Number of locations that are kept for each text or shape of texts. Others are only counted."""


@dataclass(slots=True)
class DistinctTexts:
    """Distinct texts, or shapes of texts, with their counts and first locations.

    If there are more than `max_texts`, all of them are dropped.
    """

    max_texts: int
    counts: Counter[str] = field(default_factory=Counter)
    spots: dict[str, list[tuple[Spot, str]]] = field(default_factory=dict)
    is_full: bool = False

    def add(self, text: str, value: str, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Count a text, and keep the locations of the first values that have it.

        `value` is a value of the field, and `pairs` are the positions at which it occurs. `text` is
        the value itself, its shape such as `A-9/9`, or, for a date, `day first` or `month first`.
        """
        if self.is_full:
            return
        if text not in self.counts and len(self.counts) == self.max_texts:
            self.is_full = True
            self.counts.clear()
            self.spots.clear()
            return
        self.counts[text] += len(pairs)
        kept = self.spots.setdefault(text, [])
        kept += [(spot_of(pair), value) for pair in pairs[: MAX_PLACES_OF_TEXT - len(kept)]]


class Extreme(NamedTuple):
    """One of the smallest or greatest numbers of a field, with its location.

    The most extreme number is last in sorted order.
    """

    key: float
    """Sort key. For one of the greatest numbers, the key is the number. For one of the smallest
    numbers, the key is the number times -1."""
    order: int
    """Sort key for equal numbers: the number that was added later comes first."""
    spot: Spot
    text: str
    """The value as messages show it."""
    number: float


@dataclass(slots=True)
class NumberSample:
    """A random sample of numbers, and the most extreme numbers together with their locations."""

    count: int = 0
    sample: list[float] = field(default_factory=list)
    least: list[Extreme] = field(default_factory=list)
    greatest: list[Extreme] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 - a sample, no secret

    def add(self, number: float, value: JsonValue, pair: int, spot_of: SpotOf) -> None:
        """Add a number.

        `value` is the value from which it was read, and `pair` the position of the value.
        """
        self.count += 1
        if len(self.sample) < SAMPLE_SIZE:
            self.sample.append(number)
        elif (index := self._random.randrange(self.count)) < SAMPLE_SIZE:  # reservoir sampling
            self.sample[index] = number
        for heap, key in ((self.least, -number), (self.greatest, number)):
            is_full = len(heap) == MAX_EXTREMES
            if not is_full or heap[0].key < key:
                extreme = Extreme(
                    key=key,
                    order=-self.count,
                    spot=spot_of(pair),
                    text=brief(value),
                    number=number,
                )
                (heappushpop if is_full else heappush)(heap, extreme)


@dataclass(slots=True)
class Profile:
    """A summary of the values of one field. All of them are compared by the same comparator."""

    path: str
    node: LeafNode
    count: int = 0
    unmatched: int = 0
    """Number of values that do not match even themselves, according to the comparator."""
    texts: DistinctTexts = field(default_factory=lambda: DistinctTexts(MAX_SPELLINGS))
    shapes: DistinctTexts = field(default_factory=lambda: DistinctTexts(MAX_SHAPES))
    numbers: NumberSample = field(default_factory=NumberSample)
    """The numbers of the field. A date is kept as the ordinal number of its day."""
    orders: DistinctTexts = field(default_factory=lambda: DistinctTexts(2))
    """Which orders of day and month the dates of the field show, such as "day first"."""
    tally: TextTally = field(init=False)
    """Counts of texts for which the comparator may give an unexpected result: a match of different
    texts, or a mismatch of similar texts."""

    def __post_init__(self) -> None:
        self.tally = TextTally(self.node)

    def add(self, value: JsonValue, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Add a value to the summary. `pairs` are the positions at which it occurs."""
        self.count += len(pairs)
        self.tally.add(value, len(pairs))
        if isinstance(self.node.comparator, DateComparator) and isinstance(value, str):
            self._add_orders(value, pairs, spot_of)
        number = _position_on_line(self.node.comparator, value)
        if number is not None:
            for pair in pairs:
                self.numbers.add(number, value, pair, spot_of)
        elif isinstance(value, str) and len(value) <= MAX_SPELLING_LENGTH:
            self.texts.add(value, value, pairs, spot_of)
            self.shapes.add(shape_of(value), value, pairs, spot_of)

    def _add_orders(self, text: str, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Count the order of day and month in a date if the text shows this order.

        For example, 31/12/2024 shows that the day comes first, but 01/02/2024 shows no order.
        """
        evidence = evidence_of(text) if len(text) <= LONGEST_READ else ()
        for order in {DAY_FIRST, MONTH_FIRST}.intersection(evidence):
            self.orders.add(order, text, pairs, spot_of)


def _position_on_line(comparator: BaseComparator, value: JsonValue) -> float | None:
    """Return a number as it is, and a date as the ordinal number of its day.

    Return None for other values and for huge numbers.
    """
    number: float | Decimal | None = value if is_number(value) else None
    if isinstance(comparator, DateComparator):
        stated = comparator.prepare(value).month_first
        number = None
        if isinstance(stated, StatedDate) and stated.is_whole:
            number = stated.first_day.toordinal()
    elif isinstance(comparator, NumericComparator) and isinstance(value, str):
        number = amount(value)  # a text such as VDM/003 contains a number, but is not one
    return float(number) if number is not None and -MAX_NUMBER < number < MAX_NUMBER else None


def shape_of(text: str) -> str:
    """Return the shape of a text.

    In the shape, 9 stands for each run of digits, A for a run of capitals, and a for a run of other
    letters.

    >>> shape_of("INV-2024/017"), shape_of("Main St. 5")
    ('A-9/9', 'Aa Aa. 9')
    """
    return _LETTERS.sub("a", _CAPITALS.sub("A", _DIGITS.sub("9", text)))


MIN_VALUES: Final = 30
"""A value is called unusual only if its field has at least this many values."""

FAR: Final = 8.0
"""Minimum distance of an outlier from the median, in robust standard deviations.

Many correct amounts of money exceed the usual 3.5 (Iglewicz and Hoaglin 1993, How to Detect and
Handle Outliers)."""

GAP: Final = 2.0
"""Minimum gap between an outlier and the next value towards the median, in robust standard
deviations. A value without such a gap belongs to the tail of the distribution."""

MAX_ODD_SHARE: Final = 0.02
"""Maximum share of a field's values that are called unusual. If more values are different, they are
a second kind of value and not mistakes."""

# Standard deviation of a normal distribution divided by its median absolute deviation.
_SIGMA: Final = 1.4826

MAX_ENUM_TEXTS: Final = 50
"""A field with more distinct texts than this is not regarded as an enum."""

MIN_REPEATS: Final = 5
"""A field is regarded as an enum only if its distinct texts occur at least this many times on
average. If it has 10 distinct texts, for example, it must have at least 50 values."""

MIN_TYPO_RATIO: Final = 10
"""A spelling is called a typo only if another spelling, which differs in one letter, is this many
times more frequent."""

MIN_TYPO_LENGTH: Final = 6
"""In shorter words, a different letter is not called a typo, because short words are often
similar."""


FORGIVING_THRESHOLD: Final = 0.5
"""The default threshold of texts. If a text field has this threshold or a lower one, two texts can
match although half of the letters are different."""
MIN_CODE_SHARE: Final = 0.9
"""A field is said to have codes if at least this share of its texts look like codes, such as
INV-017."""


def _find_outliers(profile: Profile, findings: Findings) -> None:
    """Add a finding for each number or date of a field that is far from the median.

    Positive numbers are compared by their logarithms.
    """
    numbers, path = profile.numbers, profile.path
    if numbers.count < MIN_VALUES:
        return
    are_dates = isinstance(profile.node.comparator, DateComparator)
    sample = np.array(numbers.sample)
    positive = sample[sample > 0]
    are_magnitudes = not are_dates and len(positive) >= (1 - MAX_ODD_SHARE) * len(sample)
    positions = np.log10(positive) if are_magnitudes else sample
    median = float(np.median(positions))
    spread = _SIGMA * float(np.median(np.abs(positions - median)))
    if spread == 0:
        return
    outliers: list[Extreme] = []
    for sign, extremes in ((-1, numbers.least), (1, numbers.greatest)):
        distances = []
        for extreme in sorted(extremes):
            if extreme.number > 0 or not are_magnitudes:
                position = math.log10(extreme.number) if are_magnitudes else extreme.number
                distances.append((sign * (position - median) / spread, extreme))
        outliers += _list_beyond_gap(distances)
    if len(outliers) > max(1, MAX_ODD_SHARE * numbers.count):
        return
    low, high = np.quantile(sample, [0.05, 0.95]).tolist()
    usual = f"{low:g} to {high:g}"
    if are_dates:
        usual = " to ".join(str(date.fromordinal(int(day))) for day in (low, high))
    for outlier in outliers:
        expected = f"something like {usual}"
        findings.add("outlier", path, outlier.spot, outlier.text, expected)


def _list_beyond_gap(distances: Sequence[tuple[float, Extreme]]) -> Iterator[Extreme]:
    """Yield the numbers that lie beyond the first wide gap, on one side of the median.

    `distances` has pairs (distance from the median, number), in ascending order. There can be
    further numbers between the median and the first number, so the space between these two is not
    regarded as a gap.
    """
    previous = math.inf
    is_beyond = False
    for distance, extreme in distances:
        is_beyond = is_beyond or (distance > FAR and distance - previous > GAP)
        if is_beyond:
            yield extreme
        previous = distance


def _find_odd_forms(profile: Profile, findings: Findings) -> None:
    """Add findings for texts whose shape differs from the usual shape of their field.

    The usual shape is the shape of nearly all texts of the field. If it contains no digits, the
    texts are not codes, and no finding is added.
    """
    counts = profile.shapes.counts
    total = counts.total()
    if total < MIN_VALUES or isinstance(profile.node.comparator, DateComparator):
        return
    ((usual, times),) = counts.most_common(1)
    if "9" not in usual or times < (1 - MAX_ODD_SHARE) * total:
        return
    _, example = profile.shapes.spots[usual][0]
    for shape in counts:
        if shape != usual:
            expected, times = f"a form like {brief(example)}", counts[shape]
            for spot, value in profile.shapes.spots[shape]:
                findings.add("odd-format", profile.path, spot, brief(value), expected, times)
                times = 0  # the first location counts all texts of this shape


def _find_mixed_date_orders(profile: Profile, findings: Findings) -> None:
    """Find dates in which day and month are not in the order that most dates of the field have."""
    if len(profile.orders.counts) < 2:
        return
    (usual, _), (rare, times) = profile.orders.counts.most_common()
    _, example = profile.orders.spots[usual][0]
    for spot, text in profile.orders.spots[rare]:
        expected = f"the {usual}, as in {brief(example)}"
        findings.add("mixed-date-order", profile.path, spot, brief(text), expected, times)
        times = 0  # the first location counts all dates of this order


def _find_spellings(profile: Profile, findings: Findings) -> None:
    """Find texts that are nearly equal to a more frequent text of the same field.

    A finding is added if they differ only in case, punctuation or one letter.
    """
    counts = profile.texts.counts
    total = counts.total()
    if total < MIN_VALUES or len(counts) > MAX_ENUM_TEXTS or total < MIN_REPEATS * len(counts):
        return
    # Texts by their normalized form, the most frequent spelling first.
    texts_by_word: defaultdict[str, list[str]] = defaultdict(list)
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        texts_by_word[_normalize_word(text)].append(text)
    usual_of_text = {
        text: usual for usual, *variants in texts_by_word.values() for text in variants
    }
    frequent = {
        word: texts[0]
        for word, texts in texts_by_word.items()
        if counts[texts[0]] >= MIN_TYPO_RATIO
    }
    for word, (text, *_) in texts_by_word.items():
        similar = (usual for other, usual in frequent.items() if _is_typo(word, other))
        min_count = MIN_TYPO_RATIO * counts[text]
        meant = next((usual for usual in similar if counts[usual] >= min_count), None)
        if meant is not None:
            usual_of_text[text] = meant
    for text, usual in usual_of_text.items():
        n_usual, times = counts[usual], counts[text]
        expected = f"{brief(usual)}, as in {number_of(n_usual, 'other place')}"
        for spot, value in profile.texts.spots[text]:
            findings.add("inconsistent-spelling", profile.path, spot, brief(value), expected, times)
            times = 0  # the first location counts all texts of this spelling


def _is_typo(word: str, other: str) -> bool:
    """Return whether two words are long enough to be checked, and differ in exactly one letter.

    A letter may be replaced, missing or added. The longer word must have at least
    `MIN_TYPO_LENGTH` letters, and both words must consist of letters only.
    """
    longer = max(len(word), len(other))
    if longer < MIN_TYPO_LENGTH or not (word + other).isalpha():
        return False
    return Levenshtein.distance(word, other, score_cutoff=1) == 1


def _normalize_word(text: str) -> str:
    """Return a text without case, blanks and punctuation.

    If nothing would be left, the text is returned unchanged.
    """
    return "".join(filter(str.isalnum, text.casefold())) or text


MAX_FIELDS: Final = 5_000
"""Maximum number of fields whose values are checked together."""

MIN_UNMATCHED: Final = 5
"""Minimum number of values in a field before lint reports that no value matches itself. It is also
the minimum number of codes before lint reports that codes match although a digit is wrong."""


def is_forgiving(profile: Profile) -> bool:
    """Return whether codes, numbers or years of a field match although a digit is wrong.

    This depends on the comparator and the threshold of the field. Return False for a field with few
    codes.
    """
    is_text = getattr(profile.node.comparator, "same_digits", None) is False
    counts = profile.shapes.counts
    code_shapes = (
        shape
        for shape in counts
        if "9" in shape and (" " not in shape or CODE_FORM.fullmatch(shape))
    )
    n_codes = sum(counts[shape] for shape in code_shapes)
    has_codes = n_codes >= max(MIN_UNMATCHED, MIN_CODE_SHARE * counts.total())
    return is_text and profile.node.threshold <= FORGIVING_THRESHOLD and has_codes


class FieldValues:
    """Collects the values of each field and finds unusual ones. Memory is bounded."""

    def __init__(self, loaded: LoadedSchema, findings: Findings) -> None:
        self._plan = loaded.plan
        self._findings = findings
        self._profiles: dict[tuple[str, int], Profile] = {}

    def add_documents(self, documents: Sequence[Document]) -> None:
        """Add all values of some documents."""
        if not documents:
            return
        gts = [document.value for document in documents]
        # Comparing with empty documents visits every value, and calls no comparator.
        table = compare(
            self._plan, gts, [{}] * len(gts), Options(extra_fields="ignore", work_limit=None)
        )
        for batch in table.batches:
            if batch.kind == OBJECT:
                self._find_undeclared(table, batch, documents)
            for _, positions in batch.positions_by_field():
                if isinstance(batch.node_of(int(positions[0])), LeafNode):
                    self._profile_values(table, batch, positions, documents)

    def conclude(self) -> list[str]:
        """Add a finding for each value that is unusual in its field.

        Return notes on what was not checked.
        """
        for profile in self._profiles.values():
            for find in (_find_outliers, _find_odd_forms, _find_mixed_date_orders, _find_spellings):
                find(profile, self._findings)
            if profile.count == profile.unmatched >= MIN_UNMATCHED:
                name, threshold = profile.node.comparator.name, profile.node.threshold
                finding = (
                    f"none of the {profile.count} values reaches the threshold of {threshold:g} "
                    f"when {name} compares it with itself"
                )
                self._findings.add_of_schema("unreachable-threshold", profile.path, finding)
            for rule, finding in profile.tally.findings():
                self._findings.add_of_schema(rule, profile.path, finding)
            if is_forgiving(profile):
                node = profile.node
                name, threshold = node.comparator.name, node.threshold
                finding = (
                    f"values that contain digits are compared by {name} at a threshold of "
                    f"{threshold:g}"
                )
                self._findings.add_of_schema("forgiving-text", profile.path, finding)
        if len(self._profiles) < MAX_FIELDS:
            return []
        return [f"only the first {MAX_FIELDS} fields were searched for unusual values"]

    def _find_undeclared(
        self, table: UnitTable, batch: UnitBatch, documents: Sequence[Document]
    ) -> None:
        """Add a finding for each key that has a value although the schema does not declare it."""
        rows = [row for row in batch.rows.tolist() if row in table.undeclared_keys]
        spot_of = _make_locator(table, batch, documents)
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
        """Add the values that one field has in some documents to the profile of the field.

        Equal values are added in one step, with all their positions.
        """
        first = int(positions[0])
        path, node = field_path(field_pattern(table, batch, first)), batch.node_of(first)
        if (path, id(node)) not in self._profiles and len(self._profiles) >= MAX_FIELDS:
            return
        profile = self._profiles.setdefault((path, id(node)), Profile(path, node))
        spot_of = _make_locator(table, batch, documents)
        codes = batch.columns.codes
        positions_by_code: defaultdict[int, list[int]] = defaultdict(list)
        code_of_unit = codes.gt[batch.gt_slot[positions]].tolist()
        for position, code in zip(positions.tolist(), code_of_unit, strict=True):
            if code != NOTHING:
                positions_by_code[code].append(position)
        for code, code_positions in positions_by_code.items():
            profile.add(codes.values[code], code_positions, spot_of)
        distinct_values = {code: codes.values[code] for code in positions_by_code}
        for code, similarity in _find_unmatched(node, distinct_values):
            value = codes.values[code]
            name = node.comparator.name
            # These comparators match equal values even if they cannot read them.
            is_only_unreadable = node.comparator.same_value
            if is_only_unreadable:
                rule, reason, expected = "unreadable-value", f"{name} cannot read this value", ""
            else:
                rule = "never-matches"
                reason = f"{name} gives {similarity:g} when comparing the value with itself"
                expected = f"at least {node.threshold:g}"
            finding = f"{brief(value)}: {reason}"
            for position in positions_by_code[code]:
                profile.unmatched += not is_only_unreadable
                self._findings.add(rule, path, spot_of(position), finding, expected)


def _find_unmatched(node: LeafNode, values: Mapping[int, JsonValue]) -> Iterator[tuple[int, float]]:
    """Yield (key, similarity to itself) for each entry of `values` that does not match itself.

    If the comparator asks a model, nothing is yielded.
    """
    comparator = node.comparator
    compared = [
        key
        for key, value in values.items()
        if not isinstance(value, dict | list) or kind_of(value) in comparator.takes
    ]
    if not compared or comparator.asks_models:
        return
    try:
        prepared = [comparator.prepare(values[key]) for key in compared]
        similarities = comparator.similarities(prepared, prepared).tolist()
    except Exception as error:
        cause = (
            f"comparator {comparator.name} failed when it compared values of the ground truth "
            f"with themselves: {error}"
        )
        raise ComparisonError(cause) from error
    for key, similarity in zip(compared, similarities, strict=True):
        if not meets(similarity, node.threshold):
            yield key, similarity


def _make_locator(table: UnitTable, batch: UnitBatch, documents: Sequence[Document]) -> SpotOf:
    """Return a function that finds the location of a value, given its position in a batch.

    To find a location is slow, so the function is called only for locations that are kept.
    """

    def spot_of(position: int) -> Spot:
        (place,) = locate(table, batch, np.array([position]))
        document = documents[int(batch.document[position])]
        return document.spot(place.gt_path or ())

    return spot_of
