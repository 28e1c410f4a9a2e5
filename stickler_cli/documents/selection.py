"""Some of the documents of a run: the first ones, or a sample that goes by nothing but ids."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from heapq import nsmallest
from itertools import islice

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.settings.inputs import SelectionOptions
from .document_pair import PairRef
from .pairs import Pairs


def selected(pairs: Pairs, settings: SelectionOptions, seed: int) -> Pairs:
    """Return the pairs that are to be evaluated, in their order, with a remark if some are not.

    Raises:
        UsageError: both the first documents and a sample are asked for.
    """
    limit, sample = settings.limit, settings.sample
    if limit is not None and sample is not None:
        raise UsageError([Problem("--sample", "--limit is given too", "one of the two")])
    number = sample if limit is None else limit
    if number is None or (pairs.total is not None and pairs.total <= number):
        return pairs
    of_all = "" if pairs.total is None else f" of {pairs.total}"
    if limit is not None:
        refs: Callable[[], Iterator[PairRef]] = partial(_first, pairs, number)
        remark = Problem("--limit", f"the first {number}{of_all} documents only")
    else:
        refs = partial(_drawn, pairs, number, seed)
        remark = Problem("--sample", f"{number}{of_all} documents only, drawn with seed {seed}")
    total = None if pairs.total is None else number
    return replace(pairs, refs=refs, total=total, problems=(*pairs.problems, remark))


def _first(pairs: Pairs, number: int) -> Iterator[PairRef]:
    return islice(pairs.refs(), number)


def _drawn(pairs: Pairs, number: int, seed: int) -> Iterator[PairRef]:
    """Return the pairs whose ids have the least digests.

    Predictions without ground truth come after all others, so that runs of the same ground truth
    have the same sample.
    """

    def rank(entry: tuple[int, PairRef]) -> tuple[bool, bytes]:
        _, ref = entry
        text = f"{seed} {ref.id}".encode("utf-8", "backslashreplace")
        return ref.gt is None, blake2b(text, digest_size=16).digest()

    return (ref for _, ref in sorted(nsmallest(number, enumerate(pairs.refs()), key=rank)))
