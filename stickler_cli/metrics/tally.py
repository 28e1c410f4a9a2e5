"""From a Comparison to counts per field: the one fold that knows what counts where.

At every node `overall` counts its direct units, `aggregate` the leaves as far as gates are open,
and `leaves` all leaves. Source: docs/semantics.md, "overall, aggregate and leaves".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from stickler_cli.compare.result import (
    Comparison,
    LeafComparison,
    ListComparison,
    MismatchComparison,
    ObjectComparison,
    Outcome,
)
from stickler_cli.locations import Path
from stickler_cli.metrics.counts import Counts

SCORE_UNIT: Final = 1 << 60
"""Scores are summed as whole numbers of 2**-60, so that sums do not depend on their order."""

Sinks: TypeAlias = tuple[list[int], ...]
"""Lists of counts, in the order of `Outcome`, that one unit is added to."""


def _zeros() -> list[int]:
    return [0] * len(Outcome)


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
        for outcome in Outcome:
            self.overall[outcome] += other.overall[outcome]
            self.aggregate[outcome] += other.aggregate[outcome]
            self.leaves[outcome] += other.leaves[outcome]
        self.scored += other.scored
        self.raw_units += other.raw_units
        self.score_units += other.score_units
        if other.weight is not None:
            self.weight = max(other.weight, self.weight or 0.0)
        _add_up(self.undeclared, other.undeclared)
        _add_up(self.extras, other.extras)
        for name, child in other.fields.items():
            self.below(name).merge(child)

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
    return int(score * SCORE_UNIT)


def tally(comparison: ObjectComparison) -> Tally:
    """Count one document; the result is the node of its root."""
    root = Tally()
    _add_fields(root, comparison, _Flow((root.aggregate,), (root.leaves,), scored=True))
    for child in root.fields.values():
        for outcome in Outcome:
            root.overall[outcome] += child.overall[outcome]
    root.overall[Outcome.FA] += len(comparison.extras)
    return root


@dataclass(frozen=True, slots=True)
class _Flow:
    """Where the counts of a unit go besides its own node's `overall`."""

    aggregates: Sinks
    leaves: Sinks
    live: bool = True
    """Whether every gate so far is open; where one is shut, only `leaves` counts."""
    scored: bool = False
    """Whether fields here have scores of their own."""

    def into(self, child: Tally, *, counted: bool) -> "_Flow":
        """Give the flow of a field: into the field, and above it if it is counted there."""
        return _Flow(
            (*(self.aggregates if counted else ()), child.aggregate),
            (*(self.leaves if counted else ()), child.leaves),
            self.live,
            self.scored,
        )

    def shut(self) -> "_Flow":
        """Give the flow behind a gate that is shut."""
        return _Flow((), self.leaves, live=False)

    def unscored(self) -> "_Flow":
        """Give the flow below a list."""
        return _Flow(self.aggregates, self.leaves, self.live)

    def add_atom(self, outcome: Outcome) -> None:
        """Count a unit that is one whatever is in it."""
        _add(outcome, self.aggregates if self.live else ())

    def add_leaf(self, outcome: Outcome) -> None:
        """Count a leaf."""
        self.add_atom(outcome)
        _add(outcome, self.leaves)


def _add_fields(node: Tally, comparison: ObjectComparison, flow: _Flow) -> None:
    """Count an object's fields below its node."""
    one_sided = comparison.outcome in (Outcome.FN, Outcome.FA)
    for entry in comparison.fields:
        child = node.below(entry.name)
        if one_sided and entry.comparison.outcome is Outcome.TN:
            continue
        if flow.scored:
            _add_score(child, entry.comparison, entry.weight)
        _add_unit(child, entry.comparison, flow.into(child, counted=entry.counted))
    for _ in comparison.extras:
        flow.add_leaf(Outcome.FA)
    _add_up(node.extras, dict.fromkeys(comparison.extras, 1))
    _add_up(node.undeclared, dict.fromkeys(comparison.undeclared, 1))


def _add_unit(node: Tally, comparison: Comparison, flow: _Flow) -> None:
    """Count one unit at its node, and what is in it below."""
    outcome = comparison.outcome
    if isinstance(comparison, ListComparison) and comparison.elements:
        _add_elements(node, comparison, flow.unscored(), own=flow.live)
        return
    if flow.live:
        node.overall[outcome] += 1
    match comparison:
        case ObjectComparison() if outcome in (Outcome.TP, Outcome.FD):
            _add_fields(node, comparison, flow)
        case ObjectComparison() if outcome in (Outcome.FN, Outcome.FA):
            flow.add_atom(outcome)
            _add_fields(node, comparison, flow.shut())
        case MismatchComparison():
            flow.add_atom(outcome)
            _add_unit(node, comparison.missed, flow.shut())
            _add_unit(node, comparison.invented, flow.shut())
        case _:
            flow.add_leaf(outcome)


def _add_elements(node: Tally, comparison: ListComparison, flow: _Flow, *, own: bool) -> None:
    """Count a list's elements; `own` says that they are units of this node, not of an inner list.

    The fields of its items, and those of the lists in it, are the node's own fields.
    """
    for element in comparison.elements:
        inner = element.comparison
        if own:
            node.overall[element.outcome] += 1
        if not flow.live or not element.passed:
            flow.add_atom(element.outcome)
            _add_unit(node, inner, flow.shut())
            continue
        match inner:
            case ObjectComparison():
                _add_fields(node, inner, flow)
            case ListComparison():
                _add_elements(node, inner, flow, own=False)
            case _:
                flow.add_leaf(element.outcome)


def _add_up(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _add(outcome: Outcome, sinks: Sinks) -> None:
    for counts in sinks:
        counts[outcome] += 1


def _add_score(node: Tally, comparison: LeafComparison, weight: float) -> None:
    node.scored += 1
    node.raw_units += units_of(comparison.similarity)
    node.score_units += units_of(comparison.score)
    node.weight = weight
