"""Single values and documents for a page: bounded, and the same for any number of jobs.

A module of its own because no figure of a run depends on it: it is kept only where a report that
people browse was asked for, as lines of JSON, which take a tenth of what values would.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.compare.result import TN, TP, Outcome
from stickler_cli.compare.tree import UnitTree
from stickler_cli.compare.units import LIST, VALUE, UnitBatch, UnitTable
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import Path, field_path
from .batch import Batch
from .errors.error_rows import KeptErrors, display_value
from .item_places import ItemPlaceCounts, count_item_places

MAX_VALUES: Final = 30
"""Values of one field, on both sides together: the columns that a screen has room for."""

MAX_ROWS: Final = 2_000
"""Of one document: an invoice of 250 items with seven fields each."""

MAX_VALUE_CHARACTERS: Final = 40
"""Characters of a value as JSON; what is longer is no name of a kind."""

ABSENT: Final = ""
"""Stands for no value; every value has a text as JSON."""


@dataclass(slots=True)
class ValuePairs:
    """How often each value was found for each, all values of a field; they add in any order."""

    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """By ground truth and prediction as JSON, how many pairs are right and how many wrong."""
    too_many: bool = False
    """Whether there are more values than are kept; then none are."""

    @property
    def values(self) -> list[str]:
        """All values, the most frequent first."""
        times: dict[str, int] = {}
        for gt, row in self.counts.items():
            for pred, pairs in row.items():
                for value in {gt, pred} - {ABSENT}:
                    times[value] = times.get(value, 0) + sum(pairs)
        return sorted(times, key=lambda value: (-times[value], value))

    @property
    def confused(self) -> int:
        """How many values were found for another one."""
        return sum(
            wrong
            for gt, row in self.counts.items()
            for pred, (_, wrong) in row.items()
            if ABSENT not in {gt, pred}
        )

    def add(self, gt: str, pred: str, right: int, wrong: int) -> None:
        """Add pairs of two values."""
        if self.too_many:
            return
        pairs = self.counts.setdefault(gt, {}).setdefault(pred, [0, 0])
        pairs[0] += right
        pairs[1] += wrong

    def merge(self, other: "ValuePairs") -> None:
        """Add the pairs of other documents."""
        for gt, row in other.counts.items():
            for pred, pairs in row.items():
                self.add(gt, pred, *pairs)
        self.too_many = self.too_many or other.too_many
        self.bound()

    def bound(self) -> None:
        """Keep nothing of a field that has too many values."""
        self.too_many = self.too_many or len(self.values) > MAX_VALUES
        if self.too_many:
            self.counts = {}


def value_pairs(table: UnitTable) -> Iterator[tuple[Path, ValuePairs]]:
    """Yield what values of each field were found for which; a field may come up more than once."""
    for batch in table.batches:
        if batch.kind != VALUE:
            continue
        is_present = batch.outcome != TN
        for number, positions in batch.positions_by_field():
            selected = positions[is_present[positions]]
            if len(selected):
                yield table.fields.paths[number], _value_pairs(batch, selected)


def _value_pairs(batch: UnitBatch, selected: Indexes) -> ValuePairs:
    pairs, codes = ValuePairs(), batch.columns.codes
    columns = (
        codes.gt[batch.gt_slot[selected]],
        codes.pred[batch.pred_slot[selected]],
        batch.outcome[selected] == TP,
    )
    distinct, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    if len(set(distinct[:2].ravel().tolist())) > MAX_VALUES + 1:
        pairs.too_many = True
        return pairs
    for (gt, pred, right), count in zip(distinct.T.tolist(), counts.tolist(), strict=True):
        gt_name, pred_name = (
            ABSENT if code < 0 else _name(codes.values[code]) for code in (gt, pred)
        )
        if gt_name is None or pred_name is None:
            pairs.too_many = True
            break
        pairs.add(gt_name, pred_name, count if right else 0, 0 if right else count)
    pairs.bound()
    return pairs


def _name(value: object) -> str | None:
    """Return a value as JSON; None of what is long or has parts."""
    text = None if isinstance(value, dict | list) else display_value(value)
    return text if isinstance(text, str) and len(text) <= MAX_VALUE_CHARACTERS else None


BINS: Final = 20  # of 0.05 each, so that usual thresholds lie between two; one more is for 1 itself

_ROUNDING: Final = 1e-9  # so that 0.7, a little less than 14 of 20, is in the bin of that name


class PlacedBox(NamedTuple):
    """Where one side has a value."""

    path: str
    """Of the value, with list indexes, as its error has it."""
    outcome: str
    """What the value counts as."""
    side: str
    """`gt` or `pred`."""
    page: str | None
    """As the documents say it; None where they do not."""
    left: float
    top: float
    right: float
    bottom: float
    in_pixels: bool
    """Whether it is in the unit of the page, and not in fractions of it."""


@dataclass(frozen=True, slots=True)
class DetailLimits:
    """How much is kept of whole documents; a page names the rest by number."""

    comparisons: int = 100
    """Documents that are kept whole: those with the lowest scores."""
    comparison_bytes: int = 16_000_000
    """What those may take, before compression to about a tenth."""


@dataclass(slots=True)
class Histogram:
    """How similar the pairs of a field are; it adds in any order."""

    matched: list[int] = field(default_factory=lambda: [0] * (BINS + 1))
    """Pairs at or above their threshold, by similarity."""
    unlike: list[int] = field(default_factory=lambda: [0] * (BINS + 1))
    """Pairs below it."""

    def add(self, similarity: Floats, matched: Mask) -> None:
        """Add pairs, with the similarity of each in [0, 1]."""
        bins = np.minimum((similarity * BINS + _ROUNDING).astype(np.intp), BINS - 1)
        bins[similarity >= 1] = BINS
        sides = (np.bincount(bins[it], minlength=BINS + 1).tolist() for it in (matched, ~matched))
        self.merge(Histogram(*sides))

    def merge(self, other: "Histogram") -> None:
        """Add the pairs of another."""
        for mine, its in ((self.matched, other.matched), (self.unlike, other.unlike)):
            mine[:] = map(sum, zip(mine, its, strict=True))


class Picture(NamedTuple):
    """One page of a document."""

    sheet: int
    """Which page, from 1 on."""
    address: str
    """A `data:` URI."""
    width: float
    """Of the page, in the unit of boxes: pixels of an image, points of a PDF."""
    height: float


@dataclass(frozen=True, slots=True)
class PageSources:
    """Where a page finds what documents were read from."""

    template: str = ""
    """An address with `{id}`, and maybe `{page}`; empty where `links` has them all."""
    links: Mapping[str, str] | None = None
    """The address of each document that has one, maybe with `{page}`, by id."""
    pictures: Mapping[str, Sequence[Picture]] | None = None
    """The pages of some documents, by id."""


Ranked: TypeAlias = tuple[float, str, bytes]  # score, id and encoded comparison of a document


@dataclass(slots=True)
class Detail:
    """What is kept of a run's documents.

    Parts are merged in the order of the documents, in which the errors are. Nothing else depends
    on it.
    """

    limits: DetailLimits = field(default_factory=DetailLimits)
    histograms: dict[Path, Histogram] = field(default_factory=dict)
    """By the path of the field, without list indexes."""
    value_pairs: dict[Path, ValuePairs] = field(default_factory=dict)
    """Likewise."""
    item_places: ItemPlaceCounts = field(default_factory=ItemPlaceCounts)
    """The values of list items by the place of the item."""
    errors: KeptErrors = field(default_factory=KeptErrors)
    comparisons: list[Ranked] = field(default_factory=list)
    """The documents with errors that have the lowest scores, the lowest first."""
    boxes: dict[str, list[PlacedBox]] = field(default_factory=dict)
    """Where the values of those documents stand, by id; only if that was asked for."""
    bound: Ranked | None = None
    """The first one left out: nothing from there on is kept."""
    knows_errors: bool = True
    """Whether single errors were kept; a run file has none."""
    knows_values: bool = True
    """Whether histograms and comparisons were kept; only the run itself keeps them."""

    def update(self, batch: Batch) -> None:
        """Add documents."""
        for path, similarity, matched in similarities(batch.table):
            self.histograms.setdefault(path, Histogram()).add(similarity, matched)
        for path, pairs in value_pairs(batch.table):
            self.value_pairs.setdefault(path, ValuePairs()).merge(pairs)
        self.item_places.merge(count_item_places(batch.table))
        for document, result in enumerate(batch.results):
            errors = batch.errors(document)
            if not errors or result.score is None:
                continue
            rank = result.score, result.id
            self.errors.add(rank, errors)
            may_stay = self.bound is None or rank <= self.bound[:2]
            if may_stay and (tree := batch.tree(document)):
                self._keep([(*rank, tree_line(tree))])
        self.errors.settle()

    def place(self, boxes: Iterable[tuple[str, list[PlacedBox]]]) -> None:
        """Keep where the values of documents stand that were added and are kept whole."""
        kept = {name for _, name, _ in self.comparisons}
        self.boxes |= {name: found for name, found in boxes if found and name in kept}

    def merge(self, other: "Detail") -> None:
        """Add the documents that follow these."""
        for path, histogram in other.histograms.items():
            self.histograms.setdefault(path, Histogram()).merge(histogram)
        for path, pairs in other.value_pairs.items():
            self.value_pairs.setdefault(path, ValuePairs()).merge(pairs)
        self.item_places.merge(other.item_places)
        self.errors.merge(other.errors)
        if other.bound is not None:
            self.bound = min(self.bound, other.bound) if self.bound else other.bound
        self._keep(other.comparisons)
        self.boxes |= other.boxes
        if self.boxes:
            kept = {name for _, name, _ in self.comparisons}
            self.boxes = {name: found for name, found in self.boxes.items() if name in kept}

    def _keep(self, more: Iterable[Ranked]) -> None:
        """Add documents, and leave out those that have no room, which are the best ones."""
        ranked = sorted([*self.comparisons, *more])
        size = 0
        self.comparisons = []
        for entry in ranked:
            size += len(entry[2])
            out_of_bounds = self.bound is not None and entry >= self.bound
            full = len(self.comparisons) >= self.limits.comparisons
            if out_of_bounds or full or size > self.limits.comparison_bytes:
                self.bound = min(self.bound, entry) if self.bound else entry
                return
            self.comparisons.append(entry)


def similarities(table: UnitTable) -> Iterator[tuple[Path, Floats, Mask]]:
    """Yield the pairs that have a similarity: field, similarities, and which are matches.

    Pairs of list items belong to the field of the list; nothing inside an item below its
    threshold is there, as nothing in it is judged. A field may come up more than once.
    """
    for batch in table.batches:
        if batch.is_document or batch.is_unlabelled or (batch.kind == LIST and not batch.is_item):
            continue
        has_both_sides = batch.has_both_sides
        if batch.is_judged is not None:
            has_both_sides = has_both_sides & batch.is_judged
        for number, positions in batch.positions_by_field():
            selected = positions[has_both_sides[positions]]
            if len(selected):
                is_match = batch.outcome[selected] == TP
                yield table.fields.paths[number], batch.similarity[selected], is_match


def tree_line(document: UnitTree) -> bytes:
    """Write a whole document as one JSON array of rows, at most `MAX_ROWS`.

    A row is depth, name, kind, outcome, similarity, threshold, weight, ground truth, prediction.
    The kind is `object`, `list` or `value`; what has rows of its own below shows no values. Where
    rows are left out, the last one is how many.
    """
    rows: list[list[Any]] = []
    _add_parts(rows, document, 0)
    n_hidden = len(rows) - MAX_ROWS
    return json_line([*rows[:MAX_ROWS], n_hidden] if n_hidden > 0 else rows)[:-1]


def _add_parts(rows: list[list[Any]], unit: UnitTree, depth: int) -> None:
    """Add the fields or items of a unit, and everything inside them."""
    for child in unit.fields:
        _add(rows, child, depth, _field_name(child.name))
    pred: Any = unit.pred if unit.extra_keys else None
    for name in unit.extra_keys:
        shown = display_value(pred[name]) if len(rows) < MAX_ROWS else None
        rows.append(
            [depth, _field_name(name), "value", Outcome.FA.name, 0.0, 1.0, None, None, shown]
        )
    for item in unit.items:
        _add(rows, item, depth, _item_name(item.gt_index, item.pred_index))


def _add(rows: list[list[Any]], unit: UnitTree, depth: int, name: str) -> None:
    """Add the row of a unit and those of its parts; without parts, the row has its values."""
    row: list[Any] = [depth, name, "value", unit.outcome.name, unit.similarity]
    row += [unit.threshold, unit.weight]
    rows.append(row)
    position = len(rows)
    _add_parts(rows, unit, depth + 1)
    if len(rows) > position:
        row[2] = unit.shape
        row += [None, None]
    elif position <= MAX_ROWS:
        row += [display_value(unit.gt), display_value(unit.pred)]


@lru_cache(10_000)  # far more names than a schema has, and bounded for maps
def _field_name(name: str) -> str:
    return field_path((name,))


def _item_name(gt: int | None, pred: int | None) -> str:
    """Return the place of a list element, or both places where they differ.

    >>> _item_name(2, 2), _item_name(2, 5), _item_name(None, 5)
    ('[2]', '[2] ~ [5]', '[5]')
    """
    places = dict.fromkeys(f"[{place}]" for place in (gt, pred) if place is not None)
    return " ~ ".join(places)
