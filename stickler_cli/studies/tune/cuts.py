"""Similarities of pairs, and where to cut them in two: chosen on one half, judged on the other.

With verdicts a cut is judged by F1; without, by how much of the variance it explains (Otsu 1979,
doi:10.1109/TSMC.1979.4310076). docs/tuning.md says what was simulated.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from stickler_cli.comparators.base import EQUAL_WITHIN
from stickler_cli.compare.columns import Columns, Floats
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Mode, Node, Options
from stickler_cli.compare.units import OBJECT, VALUE, UnitTable
from stickler_cli.compare.work import Work
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.score.errors.located_units import field_pattern
from stickler_cli.score.intervals import Interval, IntervalSettings, added_weights, ends, resample
from stickler_cli.studies.answering import (
    AT_ONCE,
    VerdictLine,
    judging_node,
)

Mask = NDArray[np.bool_]

FEWEST_PAIRS: Final = 40
"""Pairs of a field from which on a threshold can be proposed."""

FEWEST_UNITS: Final = 20
"""Documents that they are in, half of which judge."""

FEWEST_OF_A_KIND: Final = 5
"""Pairs on either side of a cut, in each half, at least."""

GAP: Final = 0.05
"""Around a cut on both sides there have to be fewer pairs than as near to the middle of those below
it; else the cut is not between two humps but inside one."""

GAP_LEVEL: Final = 0.025
"""How likely it may be to find so few around the cut by chance, were there no gap."""

MOST_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class Sample:
    """Pairs of values of one field."""

    similarity: Floats
    """(n,), each in [0, 1]."""
    unit: NDArray[np.intp]
    """(n,): the document of each, which is in one half and resampled as a whole."""
    names: Sequence[str]
    """Of the units."""
    same: Mask | None = None
    """(n,): verdicts; None without them."""

    def some(self, chosen: Mask) -> "Sample":
        """Return some of the pairs."""
        same = None if self.same is None else self.same[chosen]
        return Sample(self.similarity[chosen], self.unit[chosen], self.names, same)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A threshold proposed, or the reason why none is."""

    threshold: float | None
    """None where there is nothing to propose."""
    reason: str
    """Why it is proposed, or why not."""
    now: float | None = None
    """Criterion at the threshold of now, on the half that judges; None if nobody judged."""
    then: float | None = None
    """Criterion at the other threshold, proposed or not."""
    gain: Interval | None = None
    """Of the difference."""
    moved: int = 0
    """Pairs of both halves that the proposal classes otherwise."""


def propose(sample: Sample, threshold: float, settings: IntervalSettings) -> Proposal:
    """Propose a threshold, if one half of the units suggests it and the other half confirms it."""
    lacking = _lacking(sample)
    if lacking:
        return Proposal(None, lacking)
    first = _first_half(sample.names, settings.seed)[sample.unit]
    chooses, judges = sample.some(first), sample.some(~first)
    cut = _best_cut(chooses)
    if cut is None or _too_few(chooses, cut) or _too_few(judges, cut):
        return Proposal(None, f"fewer than {FEWEST_OF_A_KIND} pairs of a kind in a half")
    if sample.same is None and not _is_gap(judges, cut):
        return Proposal(None, "there is no gap between like and unlike pairs")
    moved = int(np.count_nonzero(passes(sample, cut) != passes(sample, threshold)))
    if not moved:
        return Proposal(None, "the threshold is where the pairs part, or as good")
    now, then, gain = _judged(judges, threshold, cut, settings)
    confirmed = gain.lower > 0
    reason = "the other half confirms it" if confirmed else "the other half confirms no gain"
    return Proposal(cut if confirmed else None, reason, now, then, gain, moved)


def _lacking(sample: Sample) -> str:
    """Return why a sample tells nothing; empty if it may."""
    if len(sample.similarity) < FEWEST_PAIRS:
        return f"fewer than {FEWEST_PAIRS} pairs"
    if len(np.unique(sample.unit)) < FEWEST_UNITS:
        return f"fewer than {FEWEST_UNITS} documents"
    if np.isin(sample.similarity, (0.0, 1.0)).all():
        return "only 0 and 1 occur, between which any threshold does the same"
    return ""


def passes(sample: Sample, threshold: float) -> Mask:
    """Return which pairs meet a threshold."""
    return sample.similarity >= threshold - EQUAL_WITHIN


def _first_half(names: Sequence[str], seed: int) -> Mask:
    """Return which units are in the first half: by a hash of the name, so always the same."""
    key = str(seed).encode()
    encoded = (name.encode("utf-8", "surrogatepass") for name in names)
    return np.array(
        [blake2b(name, digest_size=1, key=key).digest()[0] % 2 == 0 for name in encoded]
    )


def _best_cut(sample: Sample) -> float | None:
    """Return the best cut of a sample, in the middle of the gap around it; None without any."""
    order = np.argsort(sample.similarity, kind="stable")
    similarity = sample.similarity[order]
    (gaps,) = (np.diff(similarity) > EQUAL_WITHIN).nonzero()
    least = FEWEST_OF_A_KIND
    gaps = gaps[(gaps + 1 >= least) & (len(similarity) - gaps - 1 >= least)]
    if not len(gaps):
        return None
    if sample.same is None:
        value = _explained(similarity, gaps)
    else:
        above = np.cumsum(sample.same[order][::-1])[::-1]  # same ones from each pair on
        right, passing = above[gaps + 1], len(similarity) - gaps - 1
        value = 2 * right / (passing + above[0])
    best = gaps[value >= value.max() - EQUAL_WITHIN]
    at = best[np.argmax(similarity[best + 1] - similarity[best])]  # the widest of equal ones
    return _round_between(float(similarity[at]), float(similarity[at + 1]))


def _explained(similarity: Floats, below: NDArray[np.intp]) -> Floats:
    """Return the share of the variance of sorted numbers that lies between the two sides of cuts.

    `below` has the position of the last number below each cut.
    """
    total = np.cumsum(similarity)
    count, size = below + 1, len(similarity)
    share = count / size
    apart = (total[-1] - total[below]) / (size - count) - total[below] / count
    variance = similarity.var()
    found: Floats = share * (1 - share) * apart**2 / variance if variance > 0 else share * 0
    return found


def _round_between(low: float, high: float) -> float:
    """Return the number of fewest decimals near the middle of two, above the one, up to the other.

    >>> _round_between(0.61, 0.742), _round_between(0.8123, 0.8134)
    (0.68, 0.813)
    """
    middle = (low + high) / 2
    for decimals in range(2, MOST_DECIMALS):
        rounded = round(middle, decimals)
        if low + EQUAL_WITHIN < rounded <= high:
            return rounded
    return high


def _too_few(sample: Sample, cut: float) -> bool:
    kinds = passes(sample, cut) if sample.same is None else sample.same
    fewest = min(np.count_nonzero(kinds), np.count_nonzero(~kinds))
    return bool(fewest < FEWEST_OF_A_KIND)


def _is_gap(sample: Sample, cut: float) -> bool:
    """Return whether clearly fewer pairs are at a cut than around the middle of those below."""
    similarity = sample.similarity
    middle = float(np.median(similarity[similarity < cut]))
    if cut - middle < 2 * GAP:
        return False
    here, there = (np.count_nonzero(np.abs(similarity - at) < GAP) for at in (cut, middle))
    return bool(bdtr(here, here + there, 0.5) <= GAP_LEVEL)  # so few heads of a fair coin


def _judged(
    sample: Sample, threshold: float, cut: float, settings: IntervalSettings
) -> tuple[float, float, Interval]:
    """Return the criterion at both thresholds, and the interval of the gain.

    Units are resampled as documents are for the intervals of a run, and one pair is added as
    there: for the lower end one that the cut moves to the wrong side, for the upper end to the
    right one. So one pair that was moved is no evidence.
    """
    both = np.concatenate([_sums(sample, at) for at in (threshold, cut)])
    sums = resample(sample.names, lambda drawn: both @ drawn, settings)
    added = added_weights(settings)
    like, unlike = _moved_pairs(min(threshold, cut), max(threshold, cut), sample)
    ends_of = []
    for pair in (like, unlike) if cut > threshold else (unlike, like):
        more = [np.outer(_sums(pair, at).sum(axis=1), added) for at in (threshold, cut)]
        halves = zip(np.split(sums, 2), more, strict=True)
        now, then = (_criterion(of + one) for of, one in halves)
        ends_of.append(then - now)
    before, after = float(now[0]), float(then[0])
    (gain,) = ends(ends_of[0][np.newaxis], ends_of[1][np.newaxis], settings.level)
    return before, after, gain or Interval(0.0, 0.0)


def _moved_pairs(low: float, high: float, sample: Sample) -> tuple[Sample, Sample]:
    """Return two pairs between two thresholds: one as like as can be, and the same; one unlike."""

    def one(similarity: float, *, same: bool) -> Sample:
        said = None if sample.same is None else np.array([same])
        return Sample(np.array([similarity]), np.array([0]), ("",), said)

    return one(high - 2 * EQUAL_WITHIN, same=True), one(low, same=False)


def _sums(sample: Sample, cut: float) -> Floats:
    """Return the sums of each unit that the criterion is made of: (sums, units).

    With verdicts these are right passes, passes and same pairs; without, how many pairs, their
    similarities and the squares of these, and of those that pass how many and their similarities.
    """
    passing, similarity = passes(sample, cut), sample.similarity
    ones = np.ones(len(similarity))
    if sample.same is None:
        columns = [ones, similarity, similarity**2, passing * ones, passing * similarity]
    else:
        columns = [ones * (passing & sample.same), ones * passing, ones * sample.same]
    size = len(sample.names)
    return np.array([np.bincount(sample.unit, column, size) for column in columns])


def _criterion(sums: Floats) -> Floats:
    """Return F1, or the share of the variance between both sides, for each column of sums."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(sums) == 3:
            right, passing, same = sums
            found = 2 * right / (passing + same)
        else:
            size, total, squares, passing, above = sums
            mean = total / size
            between = passing / size * (above / passing - mean) ** 2
            rest = size - passing
            between += rest / size * ((total - above) / rest - mean) ** 2
            found = between / (squares / size - mean**2)
    return np.where(np.isfinite(found), found, 0.0)


MOST_PAIRS: Final = 200_000
"""Pairs of a field that are looked at, the first ones: some MB."""


@dataclass(slots=True)
class FieldEvidence:
    """The pairs of one field that one node judges."""

    path: tuple[str, ...]
    node: Node
    threshold: float
    """The threshold of now."""
    similarity: "array[float]" = field(default_factory=lambda: array("d"))
    unit: "array[int]" = field(default_factory=lambda: array("q"))
    same: list[bool] = field(default_factory=list)
    """Verdicts; empty without them."""

    @property
    def comparator(self) -> str:
        """The name of the comparator; empty of items that are objects."""
        return self.node.comparator.name if isinstance(self.node, LeafNode) else ""

    def add(self, similarity: Iterable[float], units: Iterable[int]) -> None:
        """Add pairs, as far as there is room."""
        room = max(0, MOST_PAIRS - len(self.similarity))
        self.similarity.extend(islice(similarity, room))
        self.unit.extend(islice(units, room))

    def sample(self, names: Sequence[str]) -> Sample:
        """Return the pairs as arrays."""
        same = np.array(self.same, np.bool_) if self.same else None
        units = np.array(self.unit, np.intp)
        return Sample(np.array(self.similarity, float), units, names, same)


@dataclass(slots=True)
class Evidence:
    """The pairs of all fields."""

    names: list[str] = field(default_factory=list)
    """Of the documents, or of what else is drawn as a whole."""
    fields: dict[tuple[tuple[str, ...], int], FieldEvidence] = field(default_factory=dict)
    """By path, and the identity of what judges."""

    def of(self, path: tuple[str, ...], node: Node) -> FieldEvidence:
        """Return the evidence of a field, empty at first."""
        known = self.fields.get((path, id(node)))
        if known is None:
            known = FieldEvidence(path, node, node.item_threshold)
            self.fields[path, id(node)] = known
        return known


def of_documents(compared: Iterable[tuple[list[DocumentPair], UnitTable]]) -> Evidence:
    """Return the pairs of values that are judged in documents that were compared.

    These are leaves and list items of both sides, but nothing inside items that are unlike.
    """
    evidence = Evidence()
    for chunk, table in compared:
        first = len(evidence.names)
        evidence.names += (it.id for it in chunk)
        for batch in table.batches:
            is_item_or_value = batch.kind == VALUE or (batch.kind == OBJECT and batch.is_item)
            if batch.is_document or not is_item_or_value:
                continue
            has_both_sides = batch.has_both_sides
            if batch.is_judged is not None:
                has_both_sides = has_both_sides & batch.is_judged
            for _, positions in batch.positions_by_field():
                selected = positions[has_both_sides[positions]]
                first_position = int(positions[0])
                pairs = evidence.of(
                    field_pattern(table, batch, first_position), batch.node_of(first_position)
                )
                documents = batch.document[selected] + first
                pairs.add(batch.similarity[selected].tolist(), documents.tolist())
    return evidence


def of_verdicts(lines: Iterable[VerdictLine], options: Options) -> Evidence:
    """Compare the values of verdicts, and return the pairs with their verdicts.

    Raises:
        ComparisonError: a comparator failed.
    """
    evidence = Evidence()
    units: dict[str, int] = {}
    waiting: dict[int, tuple[FieldEvidence, list[VerdictLine]]] = {}
    for line in lines:
        node = judging_node(line)
        known = evidence.of(line.names, node)
        waiting.setdefault(id(known), (known, []))[1].append(line)
    for known, said in waiting.values():
        for some, similarity in _similarities(known.node, said, options, AT_ONCE):
            known.add(
                similarity.tolist(), [units.setdefault(line.unit, len(units)) for line in some]
            )
            known.same += [line.same for line in some]
    evidence.names = [*units]
    return evidence


def _similarities(
    node: Node, lines: Sequence[VerdictLine], options: Options, at_once: int
) -> Iterator[tuple[Sequence[VerdictLine], NDArray[np.float64]]]:
    """Yield some lines at a time with the similarities of their values.

    Raises:
        WorkLimitError: a line takes too much work.
    """
    for start in range(0, len(lines), at_once):
        some = lines[start : start + at_once]
        at, place = np.arange(len(some)), Work(options.work_limit).field_work(some[0].names)
        try:
            columns = Columns([line.gt for line in some], [line.pred for line in some], place)
            yield some, node.similarity(columns, at, at, options, Mode.FINAL).similarity
        except WorkLimitError:
            if at_once == 1:
                raise
            yield from _similarities(node, some, options, 1)
