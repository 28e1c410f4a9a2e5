"""Test whether a wrong field has values of another field more often than chance would explain.

Values are not stored. Each is counted under a hash of its text, so the counts have a fixed size and
can be added up in any order. Values with the same hash are counted together. A value can therefore
look more frequent than it is, but never rarer.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.units import VALUE, UnitTable
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import ANY_KEY, field_path
from .error_classes import NEIGHBOURS, searchable_form
from .located_units import field_pattern

N_BUCKETS: Final = 256  # 1 kB per field; two rare values share a bucket in 0.4% of cases
MAX_FIELDS: Final = 1_000  # fields with counts, the first ones by path: 2 MB
MIN_HITS: Final = 3
"""Minimum number of hits before a cause mentions another field. A hit is a wrong value that equals
the true value of the other field."""
MAX_P: Final = 0.01
"""A cause mentions another field only if the p value of the hits is below this limit (see
`MIN_HITS`). Otherwise, the hits may be chance. The p value is corrected for the number of fields
that were tried."""
_TEXT: Final = re.compile(r"[0-9]{1,3}(?::[0-9]{1,15})?(?: [0-9]{1,3}(?::[0-9]{1,15})?)*")
_NEGLIGIBLE: Final = 1e-12  # part of the sum of a tail that may be omitted

Names: TypeAlias = tuple[str, ...]
Buckets: TypeAlias = NDArray[np.int64]  # numbers of values by hash, (N_BUCKETS,)


@dataclass(slots=True)
class ValueCounts:
    """How often values occur in each field: in ground truths, and among wrong predictions.

    Fields are identified by their path, in which `*` stands for the keys of maps.
    """

    gt: dict[Names, Buckets] = field(default_factory=dict)
    """Counts of ground-truth values, for each field. Only documents that have errors are
    counted."""
    wrong: dict[Names, Buckets] = field(default_factory=dict)
    """Counts of wrong predicted values, for each field."""

    def add_truths(self, table: UnitTable, selected: Mask) -> None:
        """Count the ground-truth values of the selected documents of a table."""
        for batch in table.batches:
            if batch.kind != VALUE or not batch.size:
                continue
            is_counted = selected[batch.document] & (batch.gt_slot >= 0)
            if not is_counted.any():
                continue
            codes = batch.columns.codes
            for _, positions in batch.positions_by_field():
                counted = positions[is_counted[positions]]
                if not len(counted):
                    continue
                buckets = self._buckets(self.gt, field_pattern(table, batch, int(counted[0])))
                value_codes = codes.gt[batch.gt_slot[counted]]
                distinct, counts = np.unique(value_codes[value_codes >= 0], return_counts=True)
                for code, count in zip(distinct.tolist(), counts.tolist(), strict=True):
                    bucket = bucket_of(codes.values[code])
                    if bucket is not None:
                        buckets[bucket] += count

    def add_wrong(self, pattern: Names, value: JsonValue) -> None:
        """Count a wrong predicted value of a field."""
        bucket = bucket_of(value)
        if bucket is not None:
            self._buckets(self.wrong, pattern)[bucket] += 1

    def merge(self, other: "ValueCounts") -> None:
        """Add the values of other documents. The order of merging makes no difference."""
        for counts, further in ((self.gt, other.gt), (self.wrong, other.wrong)):
            for pattern, buckets in further.items():
                self._buckets(counts, pattern)[:] += buckets

    def settle(self) -> None:
        """Keep only the first `MAX_FIELDS` fields, sorted by path.

        Which fields are kept does not depend on the order of merging.
        """
        for counts in (self.gt, self.wrong):
            for pattern in sorted(counts)[MAX_FIELDS:]:
                del counts[pattern]

    def p_of_hits(self, names: Names, other: Names, n_hits: int) -> float:
        """Return the probability that chance alone gives `n_hits` hits or more.

        `names` is the path of a field with wrong values, and `other` is the path of another field.
        A hit is a wrong value of the first field that equals the true value of the second field.

        As a model of chance, imagine that the true values of `other` are shuffled among the
        documents. To estimate the probability of a hit, all pairs of a wrong value and an equal
        true value are counted, except the `n_hits` observed pairs. The result is corrected for the
        number of fields that were tried.

        The result is 0 if no wrong values of `names` were counted; objects and lists are never
        counted. The result is 1 if no true values of `other` were counted.
        """
        wrong = self.wrong.get(self._pattern(self.wrong, names))
        if wrong is None:
            return 0.0
        truths = self.gt.get(self._pattern(self.gt, other))
        if truths is None:
            return 1.0
        n_tries, n_truths = int(wrong.sum()), int(truths.sum())
        # The same field of another item is compared in several neighbouring items.
        n_positions = 2 * NEIGHBOURS if names == other else 1
        # Pairs of an equal wrong value and true value, without the hits themselves.
        n_equal = max(float(wrong @ truths) - n_hits, 0.0)
        share = 1.0
        if n_tries:
            share = min(1.0, n_positions * n_equal / (max(n_truths - 1, 1) * n_tries))
        n_fields_tried = max(len(self.gt), 1)
        return min(1.0, upper_tail(n_hits, n_tries, share) * n_fields_tried)

    def _buckets(self, counts: dict[Names, Buckets], pattern: Names) -> Buckets:
        if pattern not in counts:
            counts[pattern] = np.zeros(N_BUCKETS, np.int64)
        return counts[pattern]

    @staticmethod
    def _pattern(counts: Mapping[Names, Buckets], names: Names) -> Names:
        """Return the key of `counts` for a field: its path, in which `*` replaces the keys of maps.

        The path is read from its start. If no path in `counts` continues with the next name, this
        name is regarded as the key of a map.
        """
        if names in counts:
            return names
        pattern: Names = ()
        for name in names:
            step = (*pattern, name)
            is_known = any(counted[: len(step)] == step for counted in counts)
            pattern = step if is_known else (*pattern, ANY_KEY)
        return pattern

    def view(self) -> dict[str, dict[str, str]]:
        """Return the counts as they are written to a run file.

        The dict has the keys `ground_truth` and `wrong`. The value of each is a dict from the path
        of a field to its counts as text (see `_text_of`).
        """
        return {
            side: {
                field_path(pattern): _text_of(buckets)
                for pattern, buckets in sorted(counts.items())
                if buckets.any()
            }
            for side, counts in (("ground_truth", self.gt), ("wrong", self.wrong))
        }

    def restore(self, record: Mapping[str, Any]) -> None:
        """Restore the counts from the record of a run file."""
        for side, counts in (("ground_truth", self.gt), ("wrong", self.wrong)):
            for pattern, text in record.get(side, {}).items():
                buckets = self._buckets(counts, pattern)
                for word in text.split():
                    bucket, _, count = word.partition(":")
                    buckets[int(bucket)] += int(count or 1)


def _text_of(buckets: Buckets) -> str:
    """Write counts as text.

    For instance, `17 203:4` means that hash 17 occurs once and hash 203 four times.
    """
    pairs = ((int(bucket), int(buckets[bucket])) for bucket in np.flatnonzero(buckets))
    return " ".join(f"{bucket}:{count}" if count > 1 else f"{bucket}" for bucket, count in pairs)


def is_text_of_counts(value: object) -> bool:
    """Return whether a JSON value looks like the output of `_text_of`."""
    if not isinstance(value, str) or not _TEXT.fullmatch(value):
        return False
    return all(int(word.partition(":")[0]) < N_BUCKETS for word in value.split(" "))


def bucket_of(value: JsonValue) -> int | None:
    """Return the hash under which a value is counted, or None for a value that is too common."""
    text = searchable_form(value)
    if not isinstance(text, str):
        return None
    return crc32(text.encode("utf-8", "surrogatepass")) % N_BUCKETS


def upper_tail(n_hits: int, n_tries: int, share: float) -> float:
    """Return the probability of at least `n_hits` hits in `n_tries` tries, in [0, 1].

    `share` is the probability of a hit in one try.

    >>> round(upper_tail(3, 3, 0.5), 9), upper_tail(0, 9, 0.1), upper_tail(2, 9, 1.0)
    (0.125, 1.0, 1.0)
    """
    if n_hits <= 0 or share >= 1:
        return 1.0
    if share <= 0 or n_hits > n_tries:
        return 0.0
    return min(1.0, math.fsum(_binomial_terms(n_hits, n_tries, share)))


def _binomial_terms(n_hits: int, n_tries: int, share: float) -> Iterator[float]:
    """Yield the probability of exactly `n_hits` hits, then of `n_hits` + 1 hits, and so on.

    `share` is the probability of a hit in one try. The last value is for `n_tries` hits. If the
    probabilities become negligible before, no further ones are yielded.
    """
    term = math.exp(
        math.lgamma(n_tries + 1)
        - math.lgamma(n_hits + 1)
        - math.lgamma(n_tries - n_hits + 1)
        + n_hits * math.log(share)
        + (n_tries - n_hits) * math.log1p(-share)
    )
    odds, expected = share / (1 - share), n_tries * share
    for hits in range(n_hits, n_tries + 1):
        yield term
        if hits > expected and term < _NEGLIGIBLE:
            return
        term *= odds * (n_tries - hits) / (hits + 1)
