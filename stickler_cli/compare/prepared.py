"""The distinct values of a column as one comparator wants them, and its similarities of pairs."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from stickler_cli.comparators.base import (
    EQUAL_WITHIN,
    BaseComparator,
    Keys,
    Similarities,
    charging,
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
from .work import NOTICED, PREPARED, Place

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client

LONG: Final = 1000
"""Letters from which it is worth to look whether texts are nearly alike, which takes less."""
ALIKE: Final = (0.99, 0.9)
"""The similarities that are tried one after the other."""

FEW: Final = 8
"""So many pairs are compared as they are: to find those with nothing in common takes longer."""

ORDINARY_LENGTH: Final = 17
"""Letters of a number."""

NUMBERS: Final = frozenset((int, float, bool))

TEXTS: Final = frozenset((str, type(None)))
_WITHOUT_FLAGS: Final = frozenset((str, int, float, type(None)))


class PairError(ComparisonError):
    """A comparator that failed on two values of a column."""

    codes = (-1, -1)
    """Those of the two."""


class Prepared:
    """The distinct values of a column as one comparator wants them, each made when needed."""

    def __init__(
        self, comparator: BaseComparator, values: list[Any], types: frozenset[type], place: Place
    ) -> None:
        """Take the values of both sides by their codes, their types, and where they stand."""
        self.values = values
        self._comparator, self._place, self._types = comparator, place, types
        self._ready: dict[int, Any] = {}
        if types <= TEXTS:
            letters = [*map(len, values)]
        else:
            letters = [ORDINARY_LENGTH if type(it) in NUMBERS else _length(it) for it in values]
        self.lengths: Keys = np.array(letters, np.intp)
        """For each code how long the value is, in letters."""
        self._some_long = max(letters, default=0) > LONG
        long_letters = sum(n for n in letters if n > LONG) if self._some_long else 0
        self._reads = PREPARED * (sum(letters) - long_letters) // 100
        self._reads += comparator.steps_of_letter * long_letters

    def of(self, codes: Keys) -> list[Any]:
        """Return the prepared values of codes."""
        asked, ready = codes.tolist(), self._ready
        if len(ready) < len(self.values) and (new := sorted({*asked}.difference(ready))):
            # The letters of all values, each of which is read once.
            self._place.charge(PREPARED * len(new) + (0 if ready else self._reads))
            found = map(self._comparator.prepare, map(self.values.__getitem__, new))
            ready.update(zip(new, found, strict=True))
        return [*map(ready.__getitem__, asked)]

    @cached_property
    def keys(self) -> Keys | None:
        """For each code a key, and one for `NOTHING`; unequal ones have similarity 0."""
        keys = self._comparator.keys(self.of(np.arange(len(self.values))))
        return None if keys is None else self._with_same(keys)

    def _with_same(self, keys: Keys) -> Keys:
        """Return keys, one of all that are linked by the same JSON value; -1 for `NOTHING`."""
        if self.same is not None and np.count_nonzero(keys[self.same] != keys):
            keys = linked_codes(zip(keys.tolist(), (-1 - self.same).tolist(), strict=True))
        return np.append(keys, -1)

    @cached_property
    def same(self) -> Keys | None:
        """For each code the first of the same JSON value; None where no two codes are of one."""
        if not self._comparator.same_value or not (
            {int, float} <= self._types or self._types & {list, dict}
        ):
            return None
        plain = self._types <= _WITHOUT_FLAGS  # which are their own keys
        keys = self.values if plain else [*map(json_key, self.values)]
        firsts = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        return np.fromiter(map(firsts.__getitem__, keys), np.intp, len(keys))

    @cached_property
    def equal(self) -> tuple[Keys, float] | None:
        """Keys of values that match fully, and the least that unequal ones lack of that."""
        found = self._comparator.equal_keys(self.of(np.arange(len(self.values))))
        return found and (self._with_same(found[0]), found[1])

    def similarities(self, gt: Keys, pred: Keys, places: Keys, size: int) -> Similarities:
        """Compare pairs of codes, and count the work; long texts that are alike take less.

        `places` are those of the pairs in the column, which has `size` of each field, one field
        after the other.

        Raises:
            PairError: the comparator failed on a pair, or gave no number in [0, 1].
        """
        keys: Keys | None = vars(self).get("keys")  # only where pairs were sought by them
        if len(gt) > FEW and keys is not None and not self._comparator.columnar:
            is_alike = keys[gt] == keys[pred]  # all others have nothing in common
            if not is_alike.all():
                similarity = np.zeros(len(gt))
                similarity[is_alike] = self.similarities(
                    gt[is_alike], pred[is_alike], places[is_alike], size
                )
                return similarity
        lengths = self.lengths[gt], self.lengths[pred]
        if not self._some_long or not len(long := np.flatnonzero(np.minimum(*lengths) > LONG)):
            self._charge(lengths, places, size)
            return self._similarities_of(gt, pred)
        similarity = np.full(len(gt), -1.0)
        for least in ALIKE:
            self._charge([of[long] for of in lengths], places[long], size, 2 * (1 - least))
            some = self.of(gt[long]), self.of(pred[long])
            with charging(self._place.charge):
                found = self._comparator.similarities_above(*some, least)
            if found is None:
                break
            similarity[long] = np.where(found < least, -1.0, found)
            long = long[found < least]
        (rest,) = (similarity < 0).nonzero()
        if len(rest):
            self._charge([of[rest] for of in lengths], places[rest], size)
            similarity[rest] = self._similarities_of(gt[rest], pred[rest])
        return similarity

    def _charge(self, lengths: Sequence[Keys], places: Keys, size: int, share: float = 1.0) -> None:
        """Count the work of pairs of values of these lengths: if it is much, field by field."""
        place, steps = self._place, self._comparator.steps
        together = steps(*lengths)
        if together <= NOTICED or not place.names:
            place.charge(int(share * together))
            return
        for at, name in enumerate(place.names):
            gt, pred = (of[places // size == at] for of in lengths)
            place.below(name).charge(int(share * steps(gt, pred)))

    def _similarities_of(self, gt: Keys, pred: Keys) -> Similarities:
        similarity = self._by_comparator(gt, pred)
        if self.same is not None:  # what cannot be read matches the same value
            similarity[(self.same[gt] == self.same[pred]) & (similarity == 0)] = 1.0
        return similarity

    def _by_comparator(self, gt: Keys, pred: Keys) -> Similarities:
        comparator = self._comparator
        if len(gt) > FEW and comparator.columnar and (keys := self.keys) is not None:
            (same,) = (keys[gt] == keys[pred]).nonzero()  # all others have nothing in common
            if len(same) < len(gt):
                found = np.zeros(len(gt))
                if len(same):
                    found[same] = self._by_comparator(gt[same], pred[same])
                return found

        try:
            similarity = self._compared(gt, pred)
        except WorkLimitError:  # counted where values are prepared: no fault of the comparator
            raise
        except Exception as error:
            raise self._failure(*_first_to_fail(self._compared, gt, pred), error) from error
        return self._in_range(similarity, gt, pred)

    def _compared(self, gt: Keys, pred: Keys) -> Similarities:
        sides = self.of(gt), self.of(pred)
        with charging(self._place.charge):
            return self._comparator.similarities(*sides)

    def asked(
        self, client: "Client | None", gt: Keys, pred: Keys
    ) -> tuple[Similarities, Sequence[str] | None]:
        """Ask a model about pairs of codes, all of them at once; return its answers.

        Raises:
            PairError: it has no answer, or one that is no number in [0, 1].
        """
        try:
            answers = self._comparator.ask(client, self.of(gt), self.of(pred))
        except (UnavailableError, UsageError, WorkLimitError):  # no fault of these values
            raise
        except Exception as error:
            at = error.at if isinstance(error, ModelError) else 0
            raise self._failure(int(gt[at]), int(pred[at]), error) from error
        return self._in_range(answers.similarities, gt, pred), answers.reasons

    def _in_range(self, similarity: Similarities, gt: Keys, pred: Keys) -> Similarities:
        most = np.maximum.reduce(similarity, initial=0.0)
        if most <= 1.0 and np.minimum.reduce(similarity, initial=0.0) >= 0.0:
            return similarity
        # A NaN would read as "no pair" and vanish: NaN > floor is False.
        wrong = ~((similarity >= -EQUAL_WITHIN) & (similarity <= 1 + EQUAL_WITHIN))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            found = f"its similarity is {float(similarity[at])!r}"
            raise self._failure(int(gt[at]), int(pred[at]), found)
        return np.clip(similarity, 0.0, 1.0)

    def _failure(self, gt: int, pred: int, cause: Exception | str) -> PairError:
        if isinstance(cause, Exception):
            cause = f"{type(cause).__name__}: {cause}"
        pair = f"{brief(self.values[gt])} and {brief(self.values[pred])}"
        error = PairError(f"{self._comparator.name} failed on {pair}: {cause}")
        error.codes = gt, pred
        return error


def _length(value: object) -> int:
    """Return about how many letters a value has in a document."""
    if isinstance(value, dict | list):
        return len(json_line(value))
    return len(value) if isinstance(value, str) else ORDINARY_LENGTH


def _first_to_fail(
    compare: Callable[[Keys, Keys], Any],
    gt: Keys,
    pred: Keys,
) -> tuple[int, int]:
    """Find a pair that a call fails on, by halves; the first where none fails alone."""
    first, last = 0, len(gt)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            compare(gt[first:middle], pred[first:middle])
        except WorkLimitError:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it is here
            last = middle
        else:
            first = middle
    return int(gt[first]), int(pred[first])
