"""A leaf: one value, judged by one comparator."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from stickler_cli.clients.model import ModelError
from stickler_cli.comparators.base import (
    EQUAL_WITHIN,
    LETTERS_OF_WORD,
    STEPS_OF_PAIR,
    STEPS_OF_WORDS,
    BaseComparator,
)
from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import ComparisonError, UnavailableError, UsageError
from stickler_cli.core.values import dataclass
from .account import Account
from .columns import ABSENT, ARRAY, LEAF, NOTHING, OBJECT, Columns, Indexes, Mask
from .outcomes import Floats, classified, clipped, met
from .plan import Node, Options, Purpose
from .prepared import Prepared
from .work import CALL, PAIR, Place

LONG: Final = 1000
"""Letters from which it is worth to look whether texts are nearly alike, which takes less."""
ALIKE: Final = (0.99, 0.9)
"""The similarities that are tried one after the other."""

FEW: Final = 8
"""So many pairs are compared as they are: to find those with nothing in common takes longer."""

_CONTAINERS: Final = {"array": ARRAY, "object": OBJECT}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafNode(Node):
    """A value that its comparator sees whole."""

    comparator: BaseComparator

    @property
    def item_clip(self) -> bool:
        """Whether a pair of list elements below its threshold adds nothing to the list."""
        return self.clip

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs of two columns costs little beside a call for each."""
        return (self.comparator.pairing or self.comparator).columnar

    @property
    def is_dear(self) -> bool:
        """Whether pairs are compared as edit distances are, letter by letter."""
        comparator = self.comparator.pairing or self.comparator
        return not comparator.columnar and not comparator.asks_models

    def least_steps(self, columns: Columns, gt: Indexes, pred: Indexes) -> int:
        """Return the steps that all pairs of two lists of codes take at least, if it is dear."""
        lengths = columns.prepared(self.comparator.pairing or self.comparator).lengths
        times = [np.bincount(codes[codes >= 0], minlength=len(lengths)) for codes in (gt, pred)]
        letters = [int((of * lengths).sum()) for of in times]
        equal = times[0] * times[1]
        pairs = int(times[0].sum()) * int(times[1].sum()) - int(equal.sum())
        cells = letters[0] * letters[1] - int((equal * lengths**2).sum())
        return STEPS_OF_PAIR * pairs + STEPS_OF_WORDS * cells // LETTERS_OF_WORD

    def declares(self, columns: Columns) -> tuple[Mask, Mask]:
        """Return which slots hold values that the comparator takes."""
        taken = [ABSENT, LEAF, *(_CONTAINERS[shape] for shape in self.comparator.takes)]
        gt_kinds, pred_kinds = columns.kinds
        return np.isin(gt_kinds, taken), np.isin(pred_kinds, taken)

    def compare(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of values of one place; scalars need no look at their kinds."""
        if columns.scalar:
            columns.place.charge(CALL + PAIR * len(gt))
            return self.account(columns, gt, pred, options)
        return super(LeafNode, self).compare(columns, gt, pred, options)  # noqa: UP008 - has slots

    def _mismatches(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> Account:
        """Account for pairs that the comparator does not take: each is one unit."""
        unjudged = options.to(Purpose.PAIRING)
        return super(LeafNode, self)._mismatches(columns, gt, pred, unjudged)  # noqa: UP008

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of values that the comparator takes."""
        codes, comparator = columns.codes, self.comparator
        if options.pairing and comparator.pairing is not None:
            comparator = comparator.pairing
        gt_codes, pred_codes = codes.gt[gt], codes.pred[pred]
        unlike = gt_codes != pred_codes
        similarity = 1.0 - unlike
        prepared = columns.prepared(comparator)
        if prepared.alike is not None:
            unlike |= ~prepared.alike[gt_codes]
        absent = np.minimum(gt_codes, pred_codes) < 0
        if some_absent := np.count_nonzero(absent):
            gt, pred = np.where(gt_codes < 0, NOTHING, gt), np.where(pred_codes < 0, NOTHING, pred)
            unlike &= ~absent
        said: Sequence[str] | None = None
        (at,) = unlike.nonzero()
        if len(at):
            pairs = gt_codes[at], pred_codes[at]
            if options.purpose is Purpose.ROUGH and not comparator.columnar:
                similarity[at] = 1.0
            elif comparator.asks_models:
                # Not counted: judges are asked of so many pairs at most.
                similarity[at], said = self._asked(prepared, *pairs, options)
            else:
                similarity[at] = self._counted(comparator, prepared, *pairs, columns.place)
        outcome = met(similarity, self.threshold)
        if some_absent:
            outcome = classified(similarity, self.threshold, gt, pred)
        score = clipped(similarity, outcome, clip=self.clip)
        account = Account(self, columns, gt, pred, outcome, similarity, score)
        if said is not None:
            account.reasons = dict(zip(at.tolist(), said, strict=True))
        return account

    def _counted(
        self,
        comparator: BaseComparator,
        prepared: Prepared,
        gt: Indexes,
        pred: Indexes,
        place: Place,
    ) -> Floats:
        """Return similarities, and count the work; long texts that are alike take less."""
        lengths = prepared.lengths[gt], prepared.lengths[pred]
        long = np.flatnonzero(np.minimum(*lengths) > LONG)
        if not len(long):
            place.charge(comparator.steps(*lengths))
            return self._similarities(comparator, prepared, gt, pred)
        similarity = np.full(len(gt), -1.0)
        for least in ALIKE:
            place.charge(int(2 * (1 - least) * comparator.steps(*(of[long] for of in lengths))))
            some = prepared.of(gt[long]), prepared.of(pred[long])
            found = comparator.similarities_above(*some, least)
            if found is None:
                break
            similarity[long] = np.where(found < least, -1.0, found)
            long = long[found < least]
        (rest,) = (similarity < 0).nonzero()
        if len(rest):
            place.charge(comparator.steps(*(of[rest] for of in lengths)))
            similarity[rest] = self._similarities(comparator, prepared, gt[rest], pred[rest])
        return similarity

    def _similarities(
        self, comparator: BaseComparator, prepared: Prepared, gt: Indexes, pred: Indexes
    ) -> Floats:
        if len(gt) > FEW and comparator.columnar and (keys := prepared.keys) is not None:
            (same,) = (keys[gt] == keys[pred]).nonzero()  # all others have nothing in common
            if len(same) < len(gt):
                found = np.zeros(len(gt))
                if len(same):
                    found[same] = self._similarities(comparator, prepared, gt[same], pred[same])
                return found

        def compare(gt: Indexes, pred: Indexes) -> Floats:
            return comparator.similarities(prepared.of(gt), prepared.of(pred))

        try:
            similarity = compare(gt, pred)
        except Exception as error:
            raise self._failure(prepared, *_first_to_fail(compare, gt, pred), error) from error
        return self._in_range(similarity, prepared, gt, pred)

    def _asked(
        self, prepared: Prepared, gt: Indexes, pred: Indexes, options: Options
    ) -> tuple[Floats, Sequence[str] | None]:
        """Ask a model about pairs of values, by their codes: all of them at once."""
        try:
            answers = self.comparator.ask(options.client, prepared.of(gt), prepared.of(pred))
        except (UnavailableError, UsageError):  # nothing about these values: the run cannot go on
            raise
        except Exception as error:
            at = error.at if isinstance(error, ModelError) else 0
            raise self._failure(prepared, int(gt[at]), int(pred[at]), error) from error
        return self._in_range(answers.similarities, prepared, gt, pred), answers.reasons

    def _in_range(
        self, similarity: Floats, prepared: Prepared, gt: Indexes, pred: Indexes
    ) -> Floats:
        if similarity.size and similarity.min() >= 0.0 and similarity.max() <= 1.0:
            return similarity
        # A NaN would read as "no pair" and vanish: NaN > floor is False.
        wrong = ~((similarity >= -EQUAL_WITHIN) & (similarity <= 1 + EQUAL_WITHIN))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            found = f"its similarity is {float(similarity[at])!r}"
            raise self._failure(prepared, int(gt[at]), int(pred[at]), found)
        return np.clip(similarity, 0.0, 1.0)

    def _failure(
        self, prepared: Prepared, gt: int, pred: int, cause: Exception | str
    ) -> ComparisonError:
        values = prepared.values
        if isinstance(cause, Exception):
            cause = f"{type(cause).__name__}: {cause}"
        pair = f"{brief(values[gt])} and {brief(values[pred])}"
        return ComparisonError(f"{self.comparator.name} failed on {pair}: {cause}")


def _first_to_fail(
    compare: Callable[[Indexes, Indexes], Any], gt: Indexes, pred: Indexes
) -> tuple[int, int]:
    """Find a pair that a call fails on, by halves; the first where none fails alone."""
    first, last = 0, len(gt)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            compare(gt[first:middle], pred[first:middle])
        except Exception:  # noqa: BLE001 - whatever it is, it is here
            last = middle
        else:
            first = middle
    return int(gt[first]), int(pred[first])
