"""Codes for values: the same number for those that may be alike."""

from collections.abc import Collection, Hashable, Iterable
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = NDArray[np.intp]
"""(n,): codes from 0, as many as there are distinct ones."""


def codes_of(values: Collection[Hashable]) -> Keys:
    """Return a code for each value, the same for equal ones: 0 for the first, 1 for the next."""
    codes = dict.fromkeys(values, 0)
    codes.update(zip(codes, count()))
    return np.fromiter(map(codes.__getitem__, values), np.intp, len(values))


def linked_codes(values: Iterable[Iterable[Hashable]]) -> Keys:
    """Return a code for each value, the same for those that are linked by a common part.

    >>> linked_codes(["ab", "bc", "d", "c", ""]).tolist()
    [0, 0, 1, 0, 2]
    """
    links: dict[Hashable, Hashable] = {}

    def root(key: Hashable) -> Hashable:
        while (link := links.setdefault(key, key)) != key:
            links[key] = links[link]
            key = link
        return key

    roots: list[Hashable] = []
    for value in values:
        one, *others = [*value] or [object()]
        roots.append(one)
        for other in others:
            links[root(other)] = root(one)
    return codes_of([*map(root, roots)] if links else roots)
