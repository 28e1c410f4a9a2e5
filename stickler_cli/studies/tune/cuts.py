"""Choose a threshold on one half of the documents, and confirm it on the other half.

If people have judged pairs, the best threshold is the one with the greatest F1. Otherwise it is the
one that explains the greatest share of the variance of similarities (Otsu 1979,
doi:10.1109/TSMC.1979.4310076). docs/tuning.md describes simulations.
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
from stickler_cli.compare.columns import Columns, Floats, Mask
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Mode, Node, Options
from stickler_cli.compare.units import OBJECT, VALUE, UnitTable
from stickler_cli.compare.work import Work
from stickler_cli.core.problems import WorkLimitError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.score.errors.located_units import field_pattern
from stickler_cli.score.intervals import (
    Interval,
    IntervalSettings,
    added_weights,
    resample,
    resampled_intervals,
)
from stickler_cli.studies.answering import (
    AT_ONCE,
    VerdictLine,
    judging_node,
)

MIN_PAIRS: Final = 40
"""A threshold is proposed only if its field has at least this many pairs."""

MIN_UNITS: Final = 20
"""A threshold is proposed only if pairs of its field come from at least this many documents. One
half of the documents suggests a threshold, and the other half confirms it."""

MIN_PAIRS_OF_A_KIND: Final = 5
"""Each half of the documents must have at least this many similar pairs, and at least this many
dissimilar pairs. Otherwise, no threshold is proposed. A pair is similar if people call it the
same. Without verdicts of people, a pair is similar if its similarity reaches the threshold. In the
half that suggests the threshold, this many pairs must reach it, and this many must be below it."""

GAP: Final = 0.05
"""A pair is near a threshold if its similarity is within this distance. A proposed threshold must
be in a gap between two groups of pairs: fewer pairs are near the threshold than near the median
similarity of the lower group."""

GAP_LEVEL: Final = 0.025
"""Significance level of the test for a gap around a proposed threshold."""

MAX_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class FieldSample:
    """The pairs of values of one field, as arrays."""

    similarity: Floats
    """Similarity of each pair, in [0, 1]; shape (n,)."""
    unit: NDArray[np.intp]
    """Index of the unit of each pair; shape (n,). Usually, a unit is one document. All pairs of a
    unit are in the same half, and are resampled together."""
    names: Sequence[str]
    """Names of the units. `unit` has indexes into this list."""
    same: Mask | None = None
    """Whether people call the two values of each pair the same, as an array of shape (n,). None if
    there are no verdicts."""

    def select(self, selected: Mask) -> "FieldSample":
        """Return a sample of the selected pairs."""
        return FieldSample(
            similarity=self.similarity[selected],
            unit=self.unit[selected],
            names=self.names,
            same=None if self.same is None else self.same[selected],
        )


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed threshold, or the reason why none is proposed."""

    threshold: float | None
    """The proposed threshold; None if none is proposed."""
    reason: str
    """Reason why a threshold is proposed, or why none is."""
    now: float | None = None
    """Quality of the present threshold. None if not computed. The documents are split into two
    halves: one half is used to choose a threshold, and the other one to measure qualities."""
    then: float | None = None
    """Quality of the best other threshold, chosen and measured as described for `now`. None if not
    computed."""
    gain: Interval | None = None
    """Confidence interval of `then` minus `now`. None if not computed."""
    moved: int = 0
    """Number of pairs that match at the present threshold but not at the best other threshold, or
    the other way round. Pairs of both halves of the documents are counted."""


def propose(sample: FieldSample, threshold: float, settings: IntervalSettings) -> Proposal:
    """Propose a threshold for a field, or say why none is proposed.

    One half of the documents must suggest the threshold, and the other half must confirm it.
    `threshold` is the present one.
    """
    problem = _find_problem(sample)
    if problem:
        return Proposal(None, problem)
    is_first = _select_first_half(sample.names, settings.seed)[sample.unit]
    choosing, confirming = sample.select(is_first), sample.select(~is_first)
    cut = _find_best_cut(choosing)
    if cut is None or _has_too_few(choosing, cut) or _has_too_few(confirming, cut):
        return Proposal(
            None,
            (
                f"one half of the documents has fewer than {MIN_PAIRS_OF_A_KIND} similar pairs, or "
                f"fewer than {MIN_PAIRS_OF_A_KIND} dissimilar pairs"
            ),
        )
    if sample.same is None and not _is_gap(confirming, cut):
        return Proposal(
            None, ("there is no gap between the similarities of similar and dissimilar pairs")
        )
    moved = int(np.count_nonzero(passes(sample, cut) != passes(sample, threshold)))
    if not moved:
        return Proposal(None, "the threshold already separates the pairs as well as any other")
    now, then, gain = _measure_gain(confirming, threshold, cut, settings)
    is_confirmed = gain.lower > 0
    return Proposal(
        threshold=cut if is_confirmed else None,
        reason="better on one half of the documents; the other half confirms this"
        if is_confirmed
        else "better on one half of the documents, but not reliably on the other half",
        now=now,
        then=then,
        gain=gain,
        moved=moved,
    )


def _find_problem(sample: FieldSample) -> str:
    """Return the reason why the pairs cannot suggest any threshold, or "" if they can."""
    if len(sample.similarity) < MIN_PAIRS:
        return f"fewer than {MIN_PAIRS} pairs"
    if len(np.unique(sample.unit)) < MIN_UNITS:
        return f"fewer than {MIN_UNITS} documents"
    if np.isin(sample.similarity, (0.0, 1.0)).all():
        return "all similarities are 0 or 1, so every threshold has the same effect"
    return ""


def passes(sample: FieldSample, threshold: float) -> Mask:
    """Return a mask of the pairs whose similarity reaches a threshold."""
    return sample.similarity >= threshold - EQUAL_WITHIN


def _select_first_half(names: Sequence[str], seed: int) -> Mask:
    """Return a mask of the units in the first half. A hash of the name decides about each unit.

    Usually, a unit is one document.
    """
    key = str(seed).encode()
    encoded = (name.encode("utf-8", "surrogatepass") for name in names)
    return np.array(
        [blake2b(name, digest_size=1, key=key).digest()[0] % 2 == 0 for name in encoded]
    )


def _find_best_cut(sample: FieldSample) -> float | None:
    """Return the threshold that splits the pairs best. It lies midway between two similarities.

    Return None if no threshold leaves enough pairs on both sides.
    """
    order = np.argsort(sample.similarity, kind="stable")
    similarity = sample.similarity[order]
    (gaps,) = (np.diff(similarity) > EQUAL_WITHIN).nonzero()
    n_below, n_passing = gaps + 1, len(similarity) - gaps - 1
    gaps = gaps[(n_below >= MIN_PAIRS_OF_A_KIND) & (n_passing >= MIN_PAIRS_OF_A_KIND)]
    if not len(gaps):
        return None
    if sample.same is None:
        criterion = _explained_variance(similarity, gaps)
    else:
        # F1 of each possible cut, by the number of same pairs above it.
        n_same = np.cumsum(sample.same[order][::-1])[::-1]
        n_right, n_passing = n_same[gaps + 1], len(similarity) - gaps - 1
        criterion = 2 * n_right / (n_passing + n_same[0])
    best_gaps = gaps[criterion >= criterion.max() - EQUAL_WITHIN]
    widths = similarity[best_gaps + 1] - similarity[best_gaps]
    below_cut = best_gaps[np.argmax(widths)]
    return _round_between(float(similarity[below_cut]), float(similarity[below_cut + 1]))


def _explained_variance(similarity: Floats, last_below: NDArray[np.intp]) -> Floats:
    """Return how well each split into two groups explains the variance of the similarities.

    The result is the explained share of the variance, in [0, 1]. `similarity` is sorted. Each entry
    of `last_below` is one split: the position of the last pair in the lower group.
    """
    totals = np.cumsum(similarity)
    n_below, size = last_below + 1, len(similarity)
    mean_below = totals[last_below] / n_below
    mean_above = (totals[-1] - totals[last_below]) / (size - n_below)
    share_below = n_below / size
    variance = similarity.var()
    if variance <= 0:
        return np.zeros(len(n_below))
    explained: Floats = share_below * (1 - share_below) * (mean_above - mean_below) ** 2 / variance
    return explained


def _round_between(low: float, high: float) -> float:
    """Return a short number near the middle between `low` (exclusive) and `high` (inclusive).

    >>> _round_between(0.61, 0.742), _round_between(0.8123, 0.8134)
    (0.68, 0.813)
    """
    middle = (low + high) / 2
    for decimals in range(2, MAX_DECIMALS):
        rounded = round(middle, decimals)
        if low + EQUAL_WITHIN < rounded <= high:
            return rounded
    return high


def _has_too_few(sample: FieldSample, cut: float) -> bool:
    """Return whether there are too few similar pairs, or too few dissimilar pairs.

    If there are verdicts, a pair is similar if people call it the same. Without verdicts, a pair is
    similar if its similarity is at least `cut`.
    """
    is_similar = passes(sample, cut) if sample.same is None else sample.same
    n_of_kind = min(np.count_nonzero(is_similar), np.count_nonzero(~is_similar))
    return bool(n_of_kind < MIN_PAIRS_OF_A_KIND)


def _is_gap(sample: FieldSample, cut: float) -> bool:
    """Return whether there are so few pairs near `cut` that it lies in a gap between two groups.

    There must be significantly fewer pairs near the cut than near the median of the pairs below it.
    """
    similarity = sample.similarity
    median = float(np.median(similarity[similarity < cut]))
    if cut - median < 2 * GAP:
        return False
    n_at_cut = np.count_nonzero(np.abs(similarity - cut) < GAP)
    n_at_median = np.count_nonzero(np.abs(similarity - median) < GAP)
    # The probability of at most this number of heads in tosses of a fair coin.
    return bool(bdtr(n_at_cut, n_at_cut + n_at_median, 0.5) <= GAP_LEVEL)


def _measure_gain(
    sample: FieldSample, threshold: float, cut: float, settings: IntervalSettings
) -> tuple[float, float, Interval]:
    """Return (quality of the present threshold, quality of `cut`, interval of the gain).

    `cut` is the proposed threshold. The gain is the quality of `cut` minus the quality of the
    present threshold. To compute the interval, the documents are resampled, and one artificial pair
    is added. The similarity of this pair is between the two thresholds, so that only one threshold
    classifies the pair rightly. For the lower bound of the interval, only the present threshold
    classifies it rightly. For the upper bound, only `cut` does. If only one pair of the documents
    is classified better by `cut`, the lower bound is therefore never above 0.
    """
    thresholds = (threshold, cut)
    sum_scores = np.concatenate([_sum_units(sample, value) for value in thresholds])
    resampled = resample(sample.names, lambda weights: sum_scores @ weights, settings)
    sums_now, sums_then = np.split(resampled, 2)
    weights_of_pair = added_weights(settings)
    similar, dissimilar = _moved_pairs(min(thresholds), max(thresholds), sample)
    gains = []
    for pair in (similar, dissimilar) if cut > threshold else (dissimilar, similar):
        added_now, added_then = (
            np.outer(_sum_units(pair, value).sum(axis=1), weights_of_pair) for value in thresholds
        )
        now, then = _criterion(sums_now + added_now), _criterion(sums_then + added_then)
        gains.append(then - now)
    lower, upper = gains
    (gain,) = resampled_intervals(lower[np.newaxis], upper[np.newaxis], settings.level)
    # The first column has the sums of the sample itself.
    return float(now[0]), float(then[0]), gain or Interval(0.0, 0.0)


def _moved_pairs(low: float, high: float, sample: FieldSample) -> tuple[FieldSample, FieldSample]:
    """Return two artificial pairs that reach the threshold `low`, but not the threshold `high`.

    Each pair is returned as a sample with one pair. The similarity of the first pair is just below
    `high`, and the similarity of the second pair is `low`. If `sample` has verdicts, the first pair
    has the verdict that its values are the same, and the second that they are not.
    """

    def make_pair(similarity: float, *, same: bool) -> FieldSample:
        verdicts = None if sample.same is None else np.array([same])
        return FieldSample(
            similarity=np.array([similarity]), unit=np.array([0]), names=("",), same=verdicts
        )

    return make_pair(high - 2 * EQUAL_WITHIN, same=True), make_pair(low, same=False)


def _sum_units(sample: FieldSample, cut: float) -> Floats:
    """Return the sums from which the quality of a cut is computed.

    The result has a row for each kind of sum, and a column for each unit; usually a unit is one
    document. A pair passes if its similarity is at least `cut`.

    If people gave verdicts, there are three rows, which count: passing pairs that people call the
    same, all passing pairs, and all pairs that people call the same.

    Without verdicts, there are five rows: the number of pairs, the sum of their similarities, the
    sum of their squared similarities, the number of passing pairs, and the sum of the similarities
    of passing pairs.
    """
    passing, similarity = passes(sample, cut), sample.similarity
    counted = np.ones(len(similarity))
    if sample.same is None:
        columns = [counted, similarity, similarity**2, passing * counted, passing * similarity]
    else:
        columns = [counted * (passing & sample.same), counted * passing, counted * sample.same]
    size = len(sample.names)
    return np.array([np.bincount(sample.unit, column, size) for column in columns])


def _criterion(sums: Floats) -> Floats:
    """Return the quality of thresholds, computed from sums as `_sum_units` returns them.

    `sums` has a row for each kind of sum. Each column gives one quality. With three rows
    (verdicts), the quality is F1. With five rows (no verdicts), it is the share of explained
    variance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(sums) == 3:
            right, passing, same = sums
            criterion = 2 * right / (passing + same)
        else:
            size, total, squares, n_passing, total_passing = sums
            n_below, total_below = size - n_passing, total - total_passing
            mean = total / size
            between = n_passing / size * (total_passing / n_passing - mean) ** 2
            between += n_below / size * (total_below / n_below - mean) ** 2
            criterion = between / (squares / size - mean**2)
    return np.where(np.isfinite(criterion), criterion, 0.0)


MAX_PAIRS: Final = 200_000
"""Maximum number of pairs that are kept for a field. Later pairs are dropped. The pairs take some
MB."""


@dataclass(slots=True)
class FieldEvidence:
    """The pairs of values from which the threshold of a field is tuned.

    One node compares them all.
    """

    path: tuple[str, ...]
    node: Node
    threshold: float
    """The present threshold of the field."""
    similarity: "array[float]" = field(default_factory=lambda: array("d"))
    unit: "array[int]" = field(default_factory=lambda: array("q"))
    same: list[bool] = field(default_factory=list)
    """Whether people call each pair the same. Empty if there are no verdicts."""

    @property
    def comparator(self) -> str:
        """The name of the comparator. Empty for list items that are objects."""
        return self.node.comparator.name if isinstance(self.node, LeafNode) else ""

    def add(self, similarity: Iterable[float], units: Iterable[int]) -> None:
        """Add pairs: the similarity and the unit of each.

        Pairs after the first `MAX_PAIRS` are dropped.
        """
        n_free = max(0, MAX_PAIRS - len(self.similarity))
        self.similarity.extend(islice(similarity, n_free))
        self.unit.extend(islice(units, n_free))

    def sample(self, names: Sequence[str]) -> FieldSample:
        """Return the pairs as arrays."""
        same = np.array(self.same, np.bool_) if self.same else None
        units = np.array(self.unit, np.intp)
        return FieldSample(
            similarity=np.array(self.similarity, float), unit=units, names=names, same=same
        )


@dataclass(slots=True)
class Evidence:
    """The pairs of all fields, as evidence for thresholds."""

    names: list[str] = field(default_factory=list)
    """Names of the units that are resampled: documents, or single pairs that have no document."""
    fields: dict[tuple[tuple[str, ...], int], FieldEvidence] = field(default_factory=dict)
    """The pairs of each field. Keys are (path of the field, `id` of the node that compares the
    pairs)."""

    def find_field(self, path: tuple[str, ...], node: Node) -> FieldEvidence:
        """Return the evidence of a field; it is created if necessary."""
        evidence = self.fields.get((path, id(node)))
        if evidence is None:
            evidence = FieldEvidence(path, node, node.item_threshold)
            self.fields[path, id(node)] = evidence
        return evidence


def collect_from_documents(compared: Iterable[tuple[list[DocumentPair], UnitTable]]) -> Evidence:
    """Collect the similarities of all values and list items that both sides have.

    Values inside list items that do not match are left out.
    """
    evidence = Evidence()
    for chunk, table in compared:
        first = len(evidence.names)
        evidence.names += (pair.id for pair in chunk)
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
                pairs = evidence.find_field(
                    field_pattern(table, batch, first_position), batch.node_of(first_position)
                )
                documents = batch.document[selected] + first
                pairs.add(batch.similarity[selected].tolist(), documents.tolist())
    return evidence


def collect_from_verdicts(lines: Iterable[VerdictLine], options: Options) -> Evidence:
    """Collect pairs of values that people judged, with their similarities and verdicts.

    Raises:
        ComparisonError: a comparator failed.
    """
    evidence = Evidence()
    units: dict[str, int] = {}
    lines_by_field: dict[int, tuple[FieldEvidence, list[VerdictLine]]] = {}
    for line in lines:
        node = judging_node(line)
        pairs = evidence.find_field(line.names, node)
        lines_by_field.setdefault(id(pairs), (pairs, []))[1].append(line)
    for pairs, lines_of_field in lines_by_field.values():
        for block, similarity in _compare_lines(pairs.node, lines_of_field, options, AT_ONCE):
            numbers = [units.setdefault(line.unit, len(units)) for line in block]
            pairs.add(similarity.tolist(), numbers)
            pairs.same += [line.same for line in block]
    evidence.names = [*units]
    return evidence


def _compare_lines(
    node: Node, lines: Sequence[VerdictLine], options: Options, at_once: int
) -> Iterator[tuple[Sequence[VerdictLine], NDArray[np.float64]]]:
    """Compare the values of verdict lines in blocks. Yield (lines of a block, their similarities).

    Raises:
        WorkLimitError: a single line exceeds the work limit.
    """
    for start in range(0, len(lines), at_once):
        block = lines[start : start + at_once]
        slots, work = np.arange(len(block)), Work(options.work_limit).field_work(block[0].names)
        try:
            columns = Columns([line.gt for line in block], [line.pred for line in block], work)
            yield block, node.similarity(columns, slots, slots, options, Mode.FINAL).similarity
        except WorkLimitError:
            if at_once == 1:
                raise
            yield from _compare_lines(node, block, options, 1)
