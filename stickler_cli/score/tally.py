"""From a Comparison to counts per field: the one fold that knows what counts where.

At every node `overall` counts its direct units, `aggregate` the leaves as far as gates are open,
and `leaves` all leaves. Source: docs/semantics.md, "overall, aggregate and leaves".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from stickler_cli.compare.result import (
    FA,
    FD,
    FN,
    TN,
    TP,
    Comparison,
    ListComparison,
    MismatchComparison,
    ObjectComparison,
)
from stickler_cli.core.locations import Path
from stickler_cli.score.counts import Counts

SCORE_UNIT: Final = 1 << 60
"""Scores are summed as whole numbers of 2**-60, so that sums do not depend on their order."""


def _zeros() -> list[int]:
    return [0, 0, 0, 0, 0]


@dataclass(slots=True)
class Tally:
    """The counts of one field, and of the fields below it; they add over documents."""

    overall: list[int] = field(default_factory=_zeros)
    aggregate: list[int] = field(default_factory=_zeros)
    leaves: list[int] = field(default_factory=_zeros)
    fields: "dict[str, Tally]" = field(default_factory=dict)
    scored: int = 0
    """Documents in which the field has a score of its own: not below a list or an absent side."""
    raw_units: int = 0
    """The sum of its raw similarities, in `SCORE_UNIT`s."""
    score_units: int = 0
    """The sum of its scores after clipping, in `SCORE_UNIT`s."""
    weight: float | None = None
    """What the field is worth; the most where documents differ."""
    undeclared: dict[str, int] = field(default_factory=dict)
    """Undeclared keys of the ground truth that had a value, and how often."""
    extras: dict[str, int] = field(default_factory=dict)
    """Undeclared keys that only the prediction had, and how often: false alarms without a field."""

    def below(self, name: str) -> "Tally":
        """Give the tally of a field, an empty one if it is new."""
        if name not in self.fields:
            self.fields[name] = Tally()
        return self.fields[name]

    def merge(self, other: "Tally") -> None:
        """Add the counts of other documents; the order of merging makes no difference."""
        _add(self.overall, other.overall)
        _add(self.aggregate, other.aggregate)
        _add(self.leaves, other.leaves)
        self.scored += other.scored
        self.raw_units += other.raw_units
        self.score_units += other.score_units
        if other.weight is not None:
            self.weight = max(other.weight, self.weight or 0.0)
        if other.undeclared or other.extras:
            _add_up(self.undeclared, other.undeclared)
            _add_up(self.extras, other.extras)
        fields = self.fields
        for name, child in other.fields.items():
            (fields.get(name) or self.below(name)).merge(child)

    def counts(self, which: str) -> Counts:
        """Give the counts of one reading: `overall`, `aggregate` or `leaves`."""
        by_outcome: list[int] = getattr(self, which)
        return Counts.of(by_outcome)

    @property
    def mean_raw(self) -> float | None:
        """The mean raw similarity over the documents that scored it; None without any."""
        return self.raw_units / (self.scored * SCORE_UNIT) if self.scored else None

    @property
    def mean_score(self) -> float | None:
        """The mean score over the documents that scored it; None without any."""
        return self.score_units / (self.scored * SCORE_UNIT) if self.scored else None

    def walk(self, path: Path = ()) -> "Iterator[tuple[Path, Tally]]":
        """Go through this node and all below it, parents first."""
        yield path, self
        for name, child in self.fields.items():
            yield from child.walk((*path, name))


READINGS: Final = ("overall", "aggregate", "leaves")
"""The three ways of counting, by name."""


def units_of(score: float) -> int:
    """Turn a score in [0, 1] into a whole number of `SCORE_UNIT`s; exact above 2**-7."""
    return SCORE_UNIT if score == 1.0 else int(score * SCORE_UNIT)


Sums: TypeAlias = tuple[list[int], list[int], list[int]]
"""What was counted of something, by reading: `overall`, `aggregate` and `leaves`."""


def tally(comparison: ObjectComparison) -> Tally:
    """Count one document; the result is the node of its root."""
    root = Tally()
    add_document(root, comparison)
    return root


def add_document(root: Tally, comparison: ObjectComparison) -> Sums:
    """Count one document more; give what was counted of it at its root."""
    sums = _zeros(), _zeros(), _zeros()
    _add_fields(root, comparison, sums, live=True, scored=True)
    _add_sums(root, sums)
    return sums


def _add_unit(node: Tally, comparison: Comparison, *, live: bool, scored: bool = False) -> Sums:
    """Count one unit at its node, and what is in it below; give what was counted at its node.

    Args:
        node: of the unit's field.
        comparison: the unit.
        live: whether every gate so far is open; where one is shut, only `leaves` counts.
        scored: whether fields here have scores of their own.
    """
    sums = _zeros(), _zeros(), _zeros()
    _add_inside(node, comparison, sums, live=live, scored=scored)
    _add_sums(node, sums)
    return sums


def _add_inside(
    node: Tally, comparison: Comparison, sums: Sums, *, live: bool, scored: bool = False
) -> None:
    outcome = comparison.outcome
    if isinstance(comparison, ListComparison) and comparison.elements:
        _add_elements(node, comparison, sums, live=live, own=live)
        return
    overall, aggregate, leaves = sums
    if live:
        overall[outcome] += 1
    if isinstance(comparison, ObjectComparison) and outcome is not TN:
        if outcome in (TP, FD):
            # An object that both have is counted above by its fields, which `overall` is not.
            below = _zeros(), aggregate, leaves
            _add_fields(node, comparison, below, live=live, scored=scored)
            return
        aggregate[outcome] += live
        _add_fields(node, comparison, (_zeros(), aggregate, leaves), live=False)
        return
    aggregate[outcome] += live
    if isinstance(comparison, MismatchComparison):
        _add_inside(node, comparison.missed, sums, live=False)
        _add_inside(node, comparison.invented, sums, live=False)
        return
    leaves[outcome] += 1


def _add_fields(
    node: Tally, comparison: ObjectComparison, sums: Sums, *, live: bool, scored: bool = False
) -> None:
    """Count an object's fields below its node."""
    _add_leaves(node, comparison, 1, sums, live=live)
    one_sided = comparison.outcome in (FN, FA)
    for position, part in comparison.parts.items():
        terms = comparison.terms[position]
        child = node.below(terms.name)
        if not (one_sided and part.outcome is TN):
            overall, aggregate, leaves = _add_unit(child, part, live=live, scored=scored)
            _add(sums[0], overall)
            if terms.counted:
                _add(sums[1], aggregate)
                _add(sums[2], leaves)
    if scored:
        _add_scores(node, comparison)
    extras = len(comparison.extras)
    if extras:
        if live:
            sums[0][FA] += extras
            sums[1][FA] += extras
        sums[2][FA] += extras
        _add_up(node.extras, dict.fromkeys(comparison.extras, 1))
    if comparison.undeclared:
        _add_up(node.undeclared, dict.fromkeys(comparison.undeclared, 1))


def _add_leaves(
    node: Tally, comparison: ObjectComparison, times: int, sums: Sums, *, live: bool
) -> None:
    """Count those fields of an object that are leaves, as often as such an object occurs."""
    overall, aggregate, leaves = sums
    fields, parts = node.fields, comparison.parts
    one_sided = comparison.outcome in (FN, FA)
    for position, (terms, outcome) in enumerate(
        zip(comparison.terms, comparison.outcomes, strict=True)
    ):
        child = fields.get(terms.name) or node.below(terms.name)
        if position in parts or (one_sided and outcome == TN):
            continue
        child.leaves[outcome] += times
        if terms.counted:
            leaves[outcome] += times
        if live:
            child.overall[outcome] += times
            child.aggregate[outcome] += times
            overall[outcome] += times
            if terms.counted:
                aggregate[outcome] += times


def _add_scores(node: Tally, comparison: ObjectComparison) -> None:
    """Add the score of every field of an object that is below no list."""
    fields, parts = node.fields, comparison.parts
    for position, (terms, outcome, similarity) in enumerate(
        zip(comparison.terms, comparison.outcomes, comparison.similarities, strict=True)
    ):
        child = fields[terms.name]
        child.scored += 1
        child.weight = terms.weight
        if position in parts:
            score = parts[position].score
        elif similarity == 1.0:
            child.raw_units += SCORE_UNIT
            child.score_units += SCORE_UNIT
            continue
        else:
            score = 0.0 if terms.clip and outcome == FD else similarity
        child.raw_units += units_of(similarity)
        child.score_units += units_of(score)


def _add_elements(
    node: Tally, comparison: ListComparison, sums: Sums, *, live: bool, own: bool
) -> None:
    """Count a list's elements; `own` says that they are units of this node, not of an inner list.

    The fields of its items, and those of the lists in it, are the node's own fields. Most items
    are right in all fields, or wrong in one: those that are alike are counted together.
    """
    overall, aggregate, leaves = sums
    inside = _zeros(), aggregate, leaves
    alike: dict[tuple[int, bytes, bool, bool], list[ObjectComparison]] = {}
    for element in comparison.elements:
        inner, outcome = element.comparison, element.outcome
        if own:
            overall[outcome] += 1
        opened = live and element.passed
        if live and not opened:
            aggregate[outcome] += 1
        if isinstance(inner, ObjectComparison) and not (inner.parts or inner.extras):
            one_sided = inner.outcome in (FN, FA)
            key = id(inner.terms), inner.outcomes, opened, one_sided
            alike.setdefault(key, []).append(inner)
            if inner.undeclared:
                _add_up(node.undeclared, dict.fromkeys(inner.undeclared, 1))
        elif not opened:
            _add_inside(node, inner, inside, live=False)
        elif isinstance(inner, ObjectComparison):
            _add_fields(node, inner, inside, live=True)
        elif isinstance(inner, ListComparison):
            _add_elements(node, inner, inside, live=True, own=False)
        else:
            aggregate[outcome] += 1
            leaves[outcome] += 1
    for (_, _, opened, _), items in alike.items():
        _add_leaves(node, items[0], len(items), inside, live=opened)


def _add_up(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _add_sums(node: Tally, sums: Sums) -> None:
    _add(node.overall, sums[0])
    _add(node.aggregate, sums[1])
    _add(node.leaves, sums[2])


def _add(counts: list[int], more: list[int]) -> None:
    counts[0] += more[0]
    counts[1] += more[1]
    counts[2] += more[2]
    counts[3] += more[3]
    counts[4] += more[4]
