"""Prepare the distinct values of a column for one comparator, and compare pairs of them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from stickler_cli.comparators.base import (
    EQUAL_WITHIN,
    BaseComparator,
    Keys,
    Similarities,
    StepCounting,
    linked_codes,
)
from stickler_cli.core.json_values import brief, json_key, json_line
from stickler_cli.core.problems import (
    ComparisonError,
    ModelError,
    UnavailableError,
    UsageError,
    WorkLimitError,
)
from .work import MIN_STEPS_BY_FIELD, PREPARED_STEPS, FieldWork

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

LONG_TEXT: Final = 1000
"""A text with more letters than this is long. Before two long texts are compared in full, a test
checks whether they are very similar. This test takes less time than the full comparison."""
TRIED_SIMILARITIES: Final = (0.99, 0.9)
"""Minimum similarities that are tried on two long texts, in this order. If the texts reach one of
them, no full comparison is needed."""

MIN_FILTERED_PAIRS: Final = 9
"""If at least this many pairs of values are compared at once, the keys that the comparator makes of
the values are compared first. If the two keys of a pair differ, its similarity is 0, and its values
are not compared."""

NUMBER_LENGTH: Final = 17
"""Length of a number, in letters, to estimate the work of a comparison."""

NUMBERS: Final = frozenset((int, float, bool))

TEXTS: Final = frozenset((str, type(None)))
_NO_PAIRS: Final = np.empty(0, np.intp)
_TYPES_WITHOUT_BOOL: Final = frozenset((str, int, float, type(None)))


class PairError(ComparisonError):
    """The error of a comparator that failed on two values of a column."""

    codes = (-1, -1)
    """The codes of the two values: their indexes among the distinct values of the column."""


class PreparedValues:
    """The distinct values of a column, each prepared for one comparator when it is first needed."""

    def __init__(
        self,
        comparator: BaseComparator,
        values: list[Any],
        types: frozenset[type],
        work: FieldWork,
    ) -> None:
        """Store the distinct values of both sides, and their types. A value's code is its index."""
        self.values = values
        self._comparator, self._work, self._types = comparator, work, types
        self._prepared: dict[int, Any] = {}
        """A dict from the code of a value to the prepared value."""
        if types <= TEXTS:
            lengths = [*map(len, values)]
        else:
            lengths = [
                NUMBER_LENGTH if type(value) in NUMBERS else _count_letters(value)
                for value in values
            ]
        self.lengths: Keys = np.array(lengths, np.intp)
        """The length of each value in letters, indexed by the value's code."""
        self._has_long_texts = max(lengths, default=0) > LONG_TEXT
        long_letters = sum(n for n in lengths if n > LONG_TEXT) if self._has_long_texts else 0
        self._steps_to_read = PREPARED_STEPS * (sum(lengths) - long_letters) // 100
        self._steps_to_read += comparator.steps_of_letter * long_letters

    def prepare(self, codes: Keys) -> list[Any]:
        """Return the prepared value for each code. Each value is prepared only once."""
        needed, prepared = codes.tolist(), self._prepared
        if len(prepared) < len(self.values) and (new := sorted({*needed}.difference(prepared))):
            # Charge the letters of all values at the first call: each value is read once.
            steps_to_read = 0 if prepared else self._steps_to_read
            self._work.charge(PREPARED_STEPS * len(new) + steps_to_read)
            new_values = map(self._comparator.prepare, map(self.values.__getitem__, new))
            prepared.update(zip(new, new_values, strict=True))
        return [*map(prepared.__getitem__, needed)]

    @cached_property
    def keys(self) -> Keys | None:
        """The key of each value, indexed by the value's code.

        Two values with different keys have similarity 0. The array has one more entry at its end:
        -1, for absent values (`NOTHING`). If the comparator has no keys, this is None.
        """
        keys = self._comparator.keys(self.prepare(np.arange(len(self.values))))
        return None if keys is None else self._link_same_values(keys)

    def _link_same_values(self, keys: Keys) -> Keys:
        """Append -1 to the keys, and give values that are the same in JSON the same key.

        Such values are, for example, 1 and 1.0.
        """
        same_code = self.first_same_code
        if same_code is not None and np.count_nonzero(keys[same_code] != keys):
            # Join keys that a JSON value links; as a link, the value has a negative number.
            links = zip(keys.tolist(), (-1 - same_code).tolist(), strict=True)
            keys = linked_codes(links)
        return np.append(keys, -1)

    @cached_property
    def first_same_code(self) -> Keys | None:
        """For each code, the first code whose value is the same in JSON.

        1 and 1.0, for example, are the same in JSON. None if no two codes have the same JSON
        value.
        """
        if not self._comparator.same_value or not (
            {int, float} <= self._types or self._types & {list, dict}
        ):
            return None
        # If there are no booleans, the values themselves are the keys.
        are_keys = self._types <= _TYPES_WITHOUT_BOOL
        keys = self.values if are_keys else [*map(json_key, self.values)]
        first_code = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        return np.fromiter(map(first_code.__getitem__, keys), np.intp, len(keys))

    @cached_property
    def equal_keys(self) -> tuple[Keys, float] | None:
        """Keys that are equal for all values that match fully; None if the comparator has none.

        The result is (keys, minimum loss). `keys` is an array with the key of each value, indexed
        by the value's code, and -1 at its end for absent values. If two values have different keys,
        their similarity is at most 1 minus the minimum loss.
        """
        prepared = self.prepare(np.arange(len(self.values)))
        keys_and_loss = self._comparator.equal_keys(prepared)
        return keys_and_loss and (self._link_same_values(keys_and_loss[0]), keys_and_loss[1])

    def similarities(
        self, gt: Keys, pred: Keys, positions: Keys, pairs_per_field: int
    ) -> Similarities:
        """Return the similarity of each pair of values, and count the work towards the work limit.

        `gt` and `pred` have the codes of the values. If two long texts are very similar, comparing
        them takes less work, so less is counted. One call may compare several fields: the index of
        the field of pair `i` is `positions[i] // pairs_per_field`.

        Raises:
            PairError: the comparator failed on a pair, or returned no number in [0, 1].
        """
        # Use keys if list items were joined by them, but do not make them only for this.
        keys: Keys | None = vars(self).get("keys")
        if len(gt) >= MIN_FILTERED_PAIRS and keys is not None and not self._comparator.columnar:
            may_be_similar = keys[gt] == keys[pred]
            if not may_be_similar.all():
                similarity = np.zeros(len(gt))
                similarity[may_be_similar] = self.similarities(
                    gt[may_be_similar],
                    pred[may_be_similar],
                    positions[may_be_similar],
                    pairs_per_field,
                )
                return similarity

        gt_lengths, pred_lengths = self.lengths[gt], self.lengths[pred]
        long_pairs = _NO_PAIRS
        if self._has_long_texts:
            long_pairs = np.flatnonzero(np.minimum(gt_lengths, pred_lengths) > LONG_TEXT)
        if not len(long_pairs):
            self._charge(gt_lengths, pred_lengths, positions, pairs_per_field)
            return self._compare(gt, pred)

        similarity = np.full(len(gt), -1.0)  # -1.0: not compared yet
        for minimum in TRIED_SIMILARITIES:
            self._charge(
                gt_lengths[long_pairs],
                pred_lengths[long_pairs],
                positions[long_pairs],
                pairs_per_field,
                share=2 * (1 - minimum),
            )
            gt_values, pred_values = self.prepare(gt[long_pairs]), self.prepare(pred[long_pairs])
            with StepCounting(self._work.charge):
                high_similarities = self._comparator.similarities_above(
                    gt_values, pred_values, minimum
                )
            if high_similarities is None:
                break
            is_below = high_similarities < minimum
            similarity[long_pairs] = np.where(is_below, -1.0, high_similarities)
            long_pairs = long_pairs[is_below]
        (remaining,) = (similarity < 0).nonzero()
        if len(remaining):
            self._charge(
                gt_lengths[remaining],
                pred_lengths[remaining],
                positions[remaining],
                pairs_per_field,
            )
            similarity[remaining] = self._compare(gt[remaining], pred[remaining])
        return similarity

    def _charge(
        self,
        gt_lengths: Keys,
        pred_lengths: Keys,
        positions: Keys,
        pairs_per_field: int,
        *,
        share: float = 1.0,
    ) -> None:
        """Count the steps of comparisons towards the work limit.

        The number of steps is computed from the lengths of the values, and multiplied by `share`.
        If there are many steps, they are counted for each field separately. If the work limit is
        exceeded, the error can then name the field that took most steps.
        """
        work, count_steps = self._work, self._comparator.steps
        steps = count_steps(gt_lengths, pred_lengths)
        if steps <= MIN_STEPS_BY_FIELD or not work.names:
            work.charge(int(share * steps))
            return
        for field_index, name in enumerate(work.names):
            is_field = positions // pairs_per_field == field_index
            steps = count_steps(gt_lengths[is_field], pred_lengths[is_field])
            work.of_field(name).charge(int(share * steps))

    def _compare(self, gt: Keys, pred: Keys) -> Similarities:
        """Return the similarity of each pair of values; `gt` and `pred` are their codes.

        Two values that are equal in JSON match even if the comparator cannot read them.
        """
        similarity = self._compare_readable(gt, pred)
        if self.first_same_code is not None:
            similarity[
                (self.first_same_code[gt] == self.first_same_code[pred]) & (similarity == 0)
            ] = 1.0
        return similarity

    def _compare_readable(self, gt: Keys, pred: Keys) -> Similarities:
        """Return the comparator's similarity of each pair of values, after checking its range.

        `gt` and `pred` are the codes of the values.

        Raises:
            PairError: the comparator failed on a pair, or returned no number in [0, 1].
        """
        comparator = self._comparator
        is_filtered = len(gt) >= MIN_FILTERED_PAIRS and comparator.columnar
        if is_filtered and (keys := self.keys) is not None:
            (similar,) = (keys[gt] == keys[pred]).nonzero()  # all other pairs have similarity 0
            if len(similar) < len(gt):
                similarity = np.zeros(len(gt))
                if len(similar):
                    similarity[similar] = self._compare_readable(gt[similar], pred[similar])
                return similarity

        try:
            similarity = self._call_comparator(gt, pred)
        except WorkLimitError:  # raised by `charge`, not by the comparator
            raise
        except Exception as error:
            gt_code, pred_code = _find_failing_pair(self._call_comparator, gt, pred)
            raise self._failure(gt_code, pred_code, error) from error
        return self._check_range(similarity, gt, pred)

    def _call_comparator(self, gt: Keys, pred: Keys) -> Similarities:
        gt_values, pred_values = self.prepare(gt), self.prepare(pred)
        with StepCounting(self._work.charge):
            return self._comparator.similarities(gt_values, pred_values)

    def ask_model(
        self, client: "Client | None", gt: Keys, pred: Keys
    ) -> tuple[Similarities, Sequence[str] | None]:
        """Ask a model about all pairs of values at once; `gt` and `pred` are their codes.

        Return (similarities, reasons). A reason is the text in which the model explains a
        similarity. `reasons` is None if the model gives no reasons.

        Raises:
            PairError: the model gave no answer, or no number in [0, 1].
        """
        try:
            answers = self._comparator.ask(client, self.prepare(gt), self.prepare(pred))
        except (UnavailableError, UsageError, WorkLimitError):  # not caused by these values
            raise
        except Exception as error:
            failing = error.at if isinstance(error, ModelError) else 0
            raise self._failure(int(gt[failing]), int(pred[failing]), error) from error
        return self._check_range(answers.similarities, gt, pred), answers.reasons

    def _check_range(self, similarity: Similarities, gt: Keys, pred: Keys) -> Similarities:
        """Check that similarities are in [0, 1]; return them after removing rounding errors.

        `gt` and `pred` are the codes of the pairs.

        Raises:
            PairError: a similarity is no number in [0, 1].
        """
        maximum = np.maximum.reduce(similarity, initial=0.0)
        if maximum <= 1.0 and np.minimum.reduce(similarity, initial=0.0) >= 0.0:
            return similarity
        # NaN > floor is False: without this check, a NaN would silently prevent a pair.
        is_wrong = ~((similarity >= -EQUAL_WITHIN) & (similarity <= 1 + EQUAL_WITHIN))
        if is_wrong.any():
            first = int(np.flatnonzero(is_wrong)[0])
            message = f"the similarity is {float(similarity[first])!r}, expected a number in [0, 1]"
            raise self._failure(int(gt[first]), int(pred[first]), message)
        return np.clip(similarity, 0.0, 1.0)

    def _failure(self, gt: int, pred: int, cause: Exception | str) -> PairError:
        """Return the error of a comparator that failed on two values.

        `gt` and `pred` are the codes of the values. `cause` is what went wrong.
        """
        if isinstance(cause, Exception):
            cause = f"{type(cause).__name__}: {cause}"
        task = f"it compared {brief(self.values[gt])} with {brief(self.values[pred])}"
        error = PairError(f"comparator {self._comparator.name} failed when {task}: {cause}")
        error.codes = gt, pred
        return error


def _count_letters(value: object) -> int:
    """Return the approximate number of letters that a value has in a document."""
    if isinstance(value, dict | list):
        return len(json_line(value))
    return len(value) if isinstance(value, str) else NUMBER_LENGTH


def _find_failing_pair(
    compare: Callable[[Keys, Keys], Any],
    gt: Keys,
    pred: Keys,
) -> tuple[int, int]:
    """Return the two codes of a pair for which `compare` fails.

    To find this pair, the pairs are halved again and again. If `compare` fails for all pairs
    together, but not for any single pair, an arbitrary pair is returned.
    """
    first, last = 0, len(gt)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            compare(gt[first:middle], pred[first:middle])
        except WorkLimitError:
            raise
        except Exception:  # noqa: BLE001 - any failure shows that the pair is in this half
            last = middle
        else:
            first = middle
    return int(gt[first]), int(pred[first])
