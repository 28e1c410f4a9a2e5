"""From an account to counts, field by field and document by document: what counts where.

At every node `overall` counts its direct units, `aggregate` the leaves as far as gates are open,
and `leaves` all leaves. Source: docs/semantics.md, "overall, aggregate and leaves".
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import (
    Account,
    EntryAccount,
    FieldAccount,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    SplitAccount,
    children,
    local_positions,
)
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.outcomes import both_sides
from stickler_cli.compare.result import FA, FN, TN, TP
from stickler_cli.core.values import dataclass
from stickler_cli.score.field_counts import (
    AGGREGATE,
    LEAVES,
    OUTCOMES,
    OVERALL,
    FieldCounts,
    Sums,
)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Some pairs of an account, and how they count."""

    at: Indexes
    """Their positions in the account, (n,)."""
    rows: Indexes
    """The row that each counts in, (n,)."""
    live: Mask
    """Whether every gate so far is open; where one is shut, only `leaves` counts, (n,)."""

    def some(self, which: "Mask | Indexes") -> "_Pairs":
        """Return some of the pairs."""
        return _Pairs(self.at[which], self.rows[which], self.live[which])

    def inside(self, at: Indexes) -> "_Pairs":
        """Return the same pairs by their positions in another account."""
        return _Pairs(at, self.rows, self.live)

    def gated(self, gates: Mask) -> "_Pairs":
        """Return the same pairs behind one gate more."""
        return _Pairs(self.at, self.rows, self.live & gates)


class _Own:
    """Which objects give their fields scores: those that both sides have, and above no list."""

    def __init__(self, one_sided: Mask, *, scored: bool) -> None:
        """Say which objects only one side has, and whether others give scores."""
        self.one_sided = one_sided if one_sided.any() else None
        """None where both sides have all."""
        self.which: Mask = ~one_sided if scored else np.zeros_like(one_sided)
        self.of_all = scored and self.one_sided is None
        self.of_some = scored and (self.of_all or bool(self.which.any()))


def count_documents(account: Account, at: Indexes) -> FieldCounts:
    """Count documents, which are pairs of an account; the result is that of their root."""
    root = FieldCounts.of_nothing(len(at))
    pairs = _Pairs(at, np.arange(len(at)), np.ones(len(at), np.bool_))
    root.sums += _in_fields(root, account, pairs, scored=True)
    return root


def _sums(rows: Indexes, outcome: NDArray[np.int8], size: int) -> NDArray[np.int64]:
    counted = np.bincount(rows * OUTCOMES + outcome, minlength=size * OUTCOMES)
    return counted.reshape(size, OUTCOMES)


def _count(sums: Sums, pairs: _Pairs, outcome: NDArray[np.int8]) -> None:
    """Count leaves: always as `leaves`, where gates are open in all three ways."""
    size, live = sums.shape[1], pairs.live
    every = _sums(pairs.rows, outcome, size)
    if live.all():
        sums += every
    else:
        sums[LEAVES] += every
        sums[:LEAVES] += _sums(pairs.rows[live], outcome[live], size)


def _in_unit(node: FieldCounts, account: Account, pairs: _Pairs, *, scored: bool) -> Sums:
    """Count units at their node, and what is in them below; return what was counted at the node.

    Args:
        node: of the units' field.
        account: of the units, and maybe of others.
        pairs: the units.
        scored: whether fields here have scores of their own.
    """
    sums = np.zeros_like(node.sums)
    if isinstance(account, SplitAccount):
        for part, some in _parts(account, pairs):
            sums += _in_unit(node, part, some, scored=scored)
        return sums
    outcome = account.outcome[pairs.at]
    if isinstance(account, MismatchAccount):
        live = pairs.live
        sums[:LEAVES] += _sums(pairs.rows[live], outcome[live], sums.shape[1])
        shut = pairs.gated(np.zeros_like(live))
        for side in (account.missed, account.invented):
            if side is not None:
                sums[LEAVES] += _in_unit(node, side, shut, scored=False)[LEAVES]
    elif isinstance(account, ObjectAccount | ListAccount):
        absent = outcome == TN
        present = pairs
        if absent.any():
            _count(sums, pairs.some(absent), outcome[absent])
            present = pairs.some(~absent)
        if isinstance(account, ObjectAccount):
            sums += _in_objects(node, account, present, scored=scored)
        else:
            sums += _in_elements(node, account, present, own=True)
    else:
        _count(sums, pairs, outcome)
    return sums


def _in_objects(node: FieldCounts, account: ObjectAccount, pairs: _Pairs, *, scored: bool) -> Sums:
    """Count objects as units, and their fields; one that a side lacks is atomic but to `leaves`."""
    sums = np.zeros_like(node.sums)
    outcome, live = account.outcome[pairs.at], pairs.live
    both = both_sides(outcome)
    sums[OVERALL] += _sums(pairs.rows[live], outcome[live], sums.shape[1])
    atomic = live & ~both
    if atomic.any():
        sums[AGGREGATE] += _sums(pairs.rows[atomic], outcome[atomic], sums.shape[1])
    inside = _in_fields(node, account, pairs.gated(both), scored=scored)
    sums[AGGREGATE:] += inside[AGGREGATE:]
    return sums


def _parts(account: SplitAccount, pairs: _Pairs) -> Iterator[tuple[Account, _Pairs]]:
    """Return the parts that pairs are in, with the pairs by their positions there."""
    for part, which, inner in account.parts_at(pairs.at):
        yield part.account, pairs.some(which).inside(inner)


def _in_fields(node: FieldCounts, account: Account, pairs: _Pairs, *, scored: bool) -> Sums:
    """Count the fields of objects below their node; return what they come to."""
    sums = np.zeros_like(node.sums)
    if isinstance(account, SplitAccount):
        for part, some in _parts(account, pairs):
            sums += _in_fields(node, part, some, scored=scored)
    if not isinstance(account, ObjectAccount) or not len(pairs.at):
        return sums
    outcome = account.outcome[pairs.at]
    one_sided = (outcome == FN) | (outcome == FA)
    own = _Own(one_sided, scored=scored)
    for one in account.fields:
        _in_field(node, account, one, pairs, own, sums)
    for entry in account.entries:
        sums += _in_entries(node, account, entry, pairs, own.which)
    _count_keys(node, sums, account, pairs)
    return sums


def _in_field(  # noqa: PLR0913, PLR0917 - a part of `_in_fields`
    node: FieldCounts,
    account: ObjectAccount,
    one: FieldAccount,
    pairs: _Pairs,
    own: _Own,
    sums: Sums,
) -> None:
    """Count one field of objects, and add it to what the fields come to."""
    inner = pairs.inside(one.positions(pairs.at))
    child = node.below(one.name)
    child.seen[pairs.rows] = True
    if own.of_all:
        child.note_scores(pairs.rows, one.account, inner.at)
    elif own.of_some:
        child.note_scores(pairs.rows[own.which], one.account, inner.at[own.which])
    # What neither side has is nothing to count in an object that only one has.
    kept = None
    if own.one_sided is not None:
        kept = ~(own.one_sided & (one.account.outcome[inner.at] == TN))
    found = _by_side(child, one.account, inner, kept, own)
    child.sums += found
    sums[OVERALL] += found[OVERALL]
    if isinstance(one.counted, np.ndarray):
        apart = FieldCounts.of_nothing(sums.shape[1])
        counted = one.counted[inner.at]
        chosen = inner.some(counted if kept is None else kept & counted)
        found = _in_unit(apart, one.account, chosen, scored=False)
    if one.counted is not False:
        sums[AGGREGATE:] += found[AGGREGATE:]


def _by_side(
    node: FieldCounts, account: Account, pairs: _Pairs, kept: Mask | None, own: _Own
) -> Sums:
    """Count fields, those with scores of their own apart from others.

    Args:
        node: of the fields.
        account: of the fields, and maybe of others.
        pairs: the fields.
        kept: which of them count; None for all.
        own: which of them have scores.
    """
    if own.of_all or not own.of_some:
        pairs = pairs if kept is None else pairs.some(kept)
        return _in_unit(node, account, pairs, scored=own.of_all)
    kept = np.ones_like(own.which) if kept is None else kept
    mine = _in_unit(node, account, pairs.some(kept & own.which), scored=True)
    return mine + _in_unit(node, account, pairs.some(kept & ~own.which), scored=False)


def _count_keys(node: FieldCounts, sums: Sums, account: ObjectAccount, pairs: _Pairs) -> None:
    """Count keys that the schema does not declare."""
    if not account.extras and not account.undeclared:
        return
    position = local_positions(pairs.at, len(account))
    for where, names in account.extras.items():
        found = int(position[where])
        if found >= 0:
            row = int(pairs.rows[found])
            ways = slice(None) if pairs.live[found] else slice(LEAVES, None)
            sums[ways, row, FA] += len(names)
            node.extras += ((row, name) for name in names)
    for where, names in account.undeclared.items():
        found = int(position[where])
        if found >= 0:
            node.undeclared += ((int(pairs.rows[found]), name) for name in names)


def _in_entries(
    node: FieldCounts, account: ObjectAccount, entry: EntryAccount, pairs: _Pairs, own: Mask
) -> Sums:
    """Count fields that only the documents name: in rows by name and document, then by name."""
    sums = np.zeros_like(node.sums)
    size = sums.shape[1]
    inner, of = children(entry.owner, pairs.at, len(account))
    key = entry.key[inner]
    bins, rows = np.unique(key * size + pairs.rows[of], return_inverse=True)
    entries, mine = _Pairs(inner, rows, pairs.live[of]), own[of]
    apart = FieldCounts.of_nothing(len(bins))
    if mine.any():
        apart.note_scores(rows[mine], entry.account, inner[mine])
    apart.sums += _by_side(apart, entry.account, entries, None, _Own(~mine, scored=True))
    counted = apart.sums
    if entry.counted is not True:
        chosen = np.broadcast_to(entry.counted, len(entry.owner))[inner]
        nothing = FieldCounts.of_nothing(len(bins))
        counted = _in_unit(nothing, entry.account, entries.some(chosen), scored=False)
    documents = bins % size
    np.add.at(sums[OVERALL], documents, apart.sums[OVERALL])
    for way in (AGGREGATE, LEAVES):
        np.add.at(sums[way], documents, counted[way])
    edges = np.flatnonzero(np.diff(bins // size, prepend=-1))
    spans = list(pairwise([*edges.tolist(), len(bins)]))
    # As documents have them: the number of a name is that of its chunk.
    met = np.minimum.reduceat(_first(rows, len(bins)), edges) if len(edges) else edges
    for span in np.argsort(met).tolist():
        first, last = spans[span]
        name = entry.names[int(bins[first]) // size]
        _put(node, name, _rows(apart, first, last, documents))
    return sums


def _first(values: Indexes, size: int) -> Indexes:
    """Return where each of `size` values is first; all are there."""
    first = np.full(size, len(values))
    np.minimum.at(first, values, np.arange(len(values)))
    return first


def _rows(counts: FieldCounts, first: int, last: int, documents: Indexes) -> FieldCounts:
    """Return some rows of counts, and which documents they are of."""
    if counts.documents is None:
        which: Any = slice(first, last)
        of = documents[which]
    else:
        which = np.flatnonzero((counts.documents >= first) & (counts.documents < last))
        of = documents[counts.documents[which]]
    fields = {name: _rows(child, first, last, documents) for name, child in counts.fields.items()}
    return FieldCounts(
        counts.sums[:, which],
        counts.seen[which],
        of,
        None if counts.scored is None else counts.scored[which],
        None if counts.raw is None else counts.raw[which],
        None if counts.score is None else counts.score[which],
        None if counts.weight is None else counts.weight[which],
        {name: child for name, child in fields.items() if child.seen.any()},
        [(int(documents[at]), name) for at, name in counts.undeclared if first <= at < last],
        [(int(documents[at]), name) for at, name in counts.extras if first <= at < last],
    )


def _put(node: FieldCounts, name: str, more: FieldCounts) -> None:
    """Add the rows of a field that only some documents have."""
    if name in node.fields:
        node.below(name).add(more)
    else:
        node.fields[name] = more


def _in_elements(node: FieldCounts, account: ListAccount, pairs: _Pairs, *, own: bool) -> Sums:
    """Count the elements of lists; `own` says that they are units of this node.

    Else they are in a list of the node. The fields of items, and those of the lists in them, are
    the node's own fields.
    """
    sums = np.zeros_like(node.sums)
    units = account.units
    if units is None or not len(pairs.at):
        return sums
    at, of = children(units.owner, pairs.at, len(account))
    elements = _Pairs(at, pairs.rows[of], pairs.live[of])
    outcome, live, size = units.outcome[at], elements.live, sums.shape[1]
    if own:
        sums[OVERALL] += _sums(elements.rows[live], outcome[live], size)
    shut = live & (outcome != TP)
    sums[AGGREGATE] += _sums(elements.rows[shut], outcome[shut], size)
    inside = _inside_element(node, units.account, elements.gated(outcome == TP))
    sums[AGGREGATE:] += inside[AGGREGATE:]
    return sums


def _inside_element(node: FieldCounts, account: Account, pairs: _Pairs) -> Sums:
    """Count what is in elements; those behind a shut gate count as `leaves` only."""
    if isinstance(account, SplitAccount):
        sums = np.zeros_like(node.sums)
        for part, some in _parts(account, pairs):
            sums += _inside_element(node, part, some)
        return sums
    if isinstance(account, ObjectAccount):
        return _in_fields(node, account, pairs, scored=False)
    if isinstance(account, ListAccount):
        return _in_elements(node, account, pairs, own=False)
    return _in_unit(node, account, pairs, scored=False)
