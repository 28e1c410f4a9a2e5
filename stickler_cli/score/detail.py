"""Single values and documents of a run that an HTML page shows, kept within fixed limits.

The result is the same for any number of processes. No figure of a run depends on this module.
Details are kept only if a page will be written. They are stored as lines of JSON, which need a
tenth of the memory of Python values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import add
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.compare.result import TN, TP, Outcome
from stickler_cli.compare.tree import UnitTree
from stickler_cli.compare.units import LIST, VALUE, UnitBatch, UnitTable
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.rules import KEPT
from .batch import Batch
from .errors.error_rows import KeptErrors, display_value
from .item_places import ItemPlaceCounts, count_item_places
from .sums import schema_pattern

MAX_FIELDS: Final = 2_000
"""The table of fields on a page has at most this many rows. A longer table would open slowly, and
the CSV report has all fields."""

MAX_VALUES: Final = 30
"""Maximum number of distinct values of a field, on both sides together. More would not fit on a
screen."""

MAX_ROWS: Final = 2_000
"""Maximum number of rows kept for one document. An invoice of 250 items with seven fields each
needs about that many."""

MAX_VALUE_CHARACTERS: Final = 40
"""Maximum length of a value as JSON, in characters. A longer text is not counted as a category."""

ABSENT: Final = ""
"""The text that stands for an absent value. It is empty; no present value has an empty JSON
text."""


@dataclass(slots=True)
class ValuePairs:
    """How often each ground-truth value of a field was compared with each predicted value."""

    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Maps a ground-truth value to a dict from predicted values to `[right pairs, wrong pairs]`.
    Both values are written as JSON."""
    too_many: bool = False
    """Whether the field has more than `MAX_VALUES` distinct values. If so, no pairs are kept."""

    @property
    def values(self) -> list[str]:
        """All present values of both sides as JSON, the most frequent first."""
        frequencies: dict[str, int] = {}
        for gt, by_prediction in self.counts.items():
            for pred, n_pairs in by_prediction.items():
                for value in {gt, pred} - {ABSENT}:
                    frequencies[value] = frequencies.get(value, 0) + sum(n_pairs)
        return sorted(frequencies, key=lambda value: (-frequencies[value], value))

    @property
    def confused(self) -> int:
        """Number of wrong pairs in which both values are present."""
        return sum(
            n_wrong
            for gt, by_prediction in self.counts.items()
            for pred, (_, n_wrong) in by_prediction.items()
            if ABSENT not in {gt, pred}
        )

    def add(self, gt: str, pred: str, n_right: int, n_wrong: int) -> None:
        """Add pairs that have the same ground-truth value and the same predicted value."""
        if self.too_many:
            return
        n_pairs = self.counts.setdefault(gt, {}).setdefault(pred, [0, 0])
        n_pairs[0] += n_right
        n_pairs[1] += n_wrong

    def merge(self, other: "ValuePairs") -> None:
        """Add the pairs of other documents."""
        for gt, by_prediction in other.counts.items():
            for pred, (n_right, n_wrong) in by_prediction.items():
                self.add(gt, pred, n_right, n_wrong)
        self.too_many = self.too_many or other.too_many
        self.drop_if_too_many()

    def drop_if_too_many(self) -> None:
        """Drop all pairs if the field has more than `MAX_VALUES` distinct values."""
        self.too_many = self.too_many or len(self.values) > MAX_VALUES
        if self.too_many:
            self.counts = {}


def value_pairs(
    table: UnitTable, listed_fields: frozenset[Path] | None = None
) -> Iterator[tuple[Path, ValuePairs]]:
    """Yield the path and the value pairs of each listed field.

    A field may be yielded several times. If `listed_fields` is None, all fields are listed.
    """
    for batch in table.batches:
        if batch.kind != VALUE:
            continue
        is_present = batch.outcome != TN
        for field_number, positions in batch.positions_by_field():
            path = table.fields.paths[field_number]
            selected = positions[is_present[positions]]
            if len(selected) and _is_listed(path, listed_fields):
                yield path, _count_pairs(batch, selected)


def _is_listed(path: Path, listed_fields: frozenset[Path] | None) -> bool:
    return listed_fields is None or schema_pattern(path, listed_fields) in listed_fields


def _count_pairs(batch: UnitBatch, selected: Indexes) -> ValuePairs:
    """Count the value pairs of the selected units of a batch. All of them belong to one field."""
    pairs, codes = ValuePairs(), batch.columns.codes
    columns = (
        codes.gt[batch.gt_slot[selected]],
        codes.pred[batch.pred_slot[selected]],
        batch.outcome[selected] == TP,
    )
    distinct, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    # Skip free texts early: converting all their values to JSON would take long.
    if len(set(distinct[:2].ravel().tolist())) > MAX_VALUES + 1:
        pairs.too_many = True
        return pairs
    for (gt, pred, is_right), count in zip(distinct.T.tolist(), counts.tolist(), strict=True):
        gt_name, pred_name = (
            ABSENT if code < 0 else _category_name(codes.values[code]) for code in (gt, pred)
        )
        if gt_name is None or pred_name is None:
            pairs.too_many = True
            break
        pairs.add(gt_name, pred_name, count if is_right else 0, 0 if is_right else count)
    pairs.drop_if_too_many()
    return pairs


def _category_name(value: object) -> str | None:
    """Return a value as JSON text, or None for an object, a list, or a text that is too long."""
    text = None if isinstance(value, dict | list) else display_value(value)
    return text if isinstance(text, str) and len(text) <= MAX_VALUE_CHARACTERS else None


BINS: Final = 20  # bins of 0.05 with usual thresholds as bounds; similarity 1 has a bin of its own

_ROUNDING: Final = 1e-9  # puts 0.7, which as a float is less than 14/20, into bin 14


class PlacedBox(NamedTuple):
    """The box around a value on a page of its document, as stated by ground truth or prediction."""

    path: str
    """Path of the value, with list indexes, as in its error."""
    outcome: str
    """Outcome of the value, such as `FD`."""
    side: str
    """The side that states the box: `gt` or `pred`."""
    page: str | None
    """The page, as written in the document; None if the document names no page."""
    left: float
    top: float
    right: float
    bottom: float
    in_pixels: bool
    """Whether the coordinates are in the unit of the page, such as pixels. Otherwise they are
    fractions of the page."""


class DetailLimits(NamedTuple):
    """How many documents are kept with all their values."""

    comparisons: int = 100
    """Maximum number of documents; the documents with the lowest scores are kept."""
    comparison_bytes: int = 16_000_000
    """Maximum total size in bytes of the documents that are kept, before they are compressed."""


@dataclass(slots=True)
class Histogram:
    """Counts of a field's pairs by similarity.

    The order in which histograms are added up does not matter.
    """

    matched: list[int] = field(default_factory=lambda: [0] * (BINS + 1))
    """For each bin, the number of its pairs that match, (BINS + 1,)."""
    unlike: list[int] = field(default_factory=lambda: [0] * (BINS + 1))
    """For each bin, the number of its pairs that do not match, (BINS + 1,)."""

    def add(self, similarity: Floats, is_match: Mask) -> None:
        """Add pairs. `similarity` is in [0, 1]; `is_match` marks the pairs that match."""
        bins = np.minimum((similarity * BINS + _ROUNDING).astype(np.intp), BINS - 1)
        bins[similarity >= 1] = BINS
        counts = Histogram(
            matched=np.bincount(bins[is_match], minlength=BINS + 1).tolist(),
            unlike=np.bincount(bins[~is_match], minlength=BINS + 1).tolist(),
        )
        self.merge(counts)

    def merge(self, other: "Histogram") -> None:
        """Add the pairs of another histogram."""
        self.matched = [*map(add, self.matched, other.matched)]
        self.unlike = [*map(add, self.unlike, other.unlike)]


class Picture(NamedTuple):
    """An image of one page of a document."""

    sheet: int
    """Number of the page, counted from 1."""
    address: str
    """The image as a `data:` URI."""
    width: float
    """Width of the page: in pixels for an image, in points for a PDF. Boxes have the same unit,
    unless they are given as fractions of the page."""
    height: float
    """Height of the page, in the unit of `width`."""


class PageSources(NamedTuple):
    """Tells an HTML page how to open the original documents: by addresses, or as page images."""

    template: str = ""
    """A pattern for addresses that contains `{id}` and possibly `{page}`. Empty if `links` has all
    addresses."""
    links: Mapping[str, str] | None = None
    """Maps the id of a document to its address, which may contain `{page}`. None if addresses
    follow `template`."""
    pictures: Mapping[str, Sequence[Picture]] | None = None
    """Maps the id of a document to the images of its pages; None if there are no images."""


Ranked: TypeAlias = tuple[float, str, bytes]  # score, id and encoded comparison of a document


@dataclass(slots=True)
class Detail:
    """The values and documents of a run that are kept for its HTML page.

    Merge details in the order of their documents. The listed errors depend on this order, and
    nothing else does.
    """

    limits: DetailLimits = field(default_factory=DetailLimits)
    listed_fields: frozenset[Path] | None = field(default=None, metadata={KEPT: False})
    """The fields of the schema that have a row on the page, or None for all fields. Histograms and
    value pairs are kept only for these fields."""
    histograms: dict[Path, Histogram] = field(default_factory=dict)
    """Maps the path of a field, without list indexes, to a histogram of the field's
    similarities."""
    value_pairs: dict[Path, ValuePairs] = field(default_factory=dict)
    """Maps the path of a field, without list indexes, to its value pairs."""
    item_places: ItemPlaceCounts = field(default_factory=ItemPlaceCounts)
    """Counts of right and lost values in list items, by the position of the item in its list."""
    errors: KeptErrors = field(default_factory=KeptErrors)
    comparisons: list[Ranked] = field(default_factory=list)
    """The kept documents. They have errors and the lowest scores, and are sorted by score."""
    boxes: dict[str, list[PlacedBox]] = field(default_factory=dict)
    """Maps the id of a kept document to the boxes around its values. Empty if boxes are not
    shown."""
    bound: Ranked | None = None
    """The dropped document with the lowest score, or None. Documents that come after it in order of
    score are not kept either."""
    knows_errors: bool = True
    """Whether single errors were kept. They were not if the run was read from a file."""
    knows_values: bool = True
    """Whether histograms and documents were kept. They were not if the run was read from a file."""

    def update(self, batch: Batch) -> None:
        """Add the documents of a batch."""
        for path, similarity, is_match in similarities(batch.table, self.listed_fields):
            self.histograms.setdefault(path, Histogram()).add(similarity, is_match)
        for path, pairs in value_pairs(batch.table, self.listed_fields):
            self.value_pairs.setdefault(path, ValuePairs()).merge(pairs)
        self.item_places.merge(count_item_places(batch.table))
        ranked: list[tuple[float, str, int]] = []
        for document, result in enumerate(batch.results):
            errors = batch.errors(document)
            if not errors or result.score is None:
                continue
            self.errors.add((result.score, result.id), errors)
            ranked.append((result.score, result.id, document))
        self.errors.settle()
        # Begin with the lowest scores: a tree is slow to make, and higher scores are not kept.
        for score, id_, document in sorted(ranked):
            may_be_kept = self.bound is None or (score, id_) <= self.bound[:2]
            if may_be_kept and (tree := batch.tree(document)):
                self._keep([(score, id_, tree_line(tree))])

    def add_boxes(self, boxes: Iterable[tuple[str, list[PlacedBox]]]) -> None:
        """Add boxes, but only for documents that are kept.

        `boxes` yields (id of a document, its boxes).
        """
        kept_ids = {id_ for _, id_, _ in self.comparisons}
        self.boxes |= {id_: placed for id_, placed in boxes if placed and id_ in kept_ids}

    def merge(self, other: "Detail") -> None:
        """Add the details of later documents."""
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
            kept_ids = {id_ for _, id_, _ in self.comparisons}
            self.boxes = {id_: placed for id_, placed in self.boxes.items() if id_ in kept_ids}

    def _keep(self, documents: Iterable[Ranked]) -> None:
        """Add documents. Then drop those with the highest scores until the limits are met."""
        ranked = sorted([*self.comparisons, *documents])
        n_bytes = 0
        self.comparisons = []
        for document in ranked:
            n_bytes += len(document[2])
            is_out_of_bounds = self.bound is not None and document >= self.bound
            is_full = len(self.comparisons) >= self.limits.comparisons
            if is_out_of_bounds or is_full or n_bytes > self.limits.comparison_bytes:
                self.bound = min(self.bound, document) if self.bound else document
                return
            self.comparisons.append(document)


def similarities(
    table: UnitTable, listed_fields: frozenset[Path] | None = None
) -> Iterator[tuple[Path, Floats, Mask]]:
    """Yield (path, similarities, which pairs match) for the judged pairs of each listed field.

    A pair of list items belongs to the field of the list. Pairs inside an item that is below its
    threshold are not judged, so they are left out. A field may be yielded several times.
    """
    for batch in table.batches:
        if batch.is_document or batch.is_unlabelled or (batch.kind == LIST and not batch.is_item):
            continue
        has_both_sides = batch.has_both_sides
        if batch.is_judged is not None:
            has_both_sides = has_both_sides & batch.is_judged
        for field_number, positions in batch.positions_by_field():
            path = table.fields.paths[field_number]
            selected = positions[has_both_sides[positions]]
            if len(selected) and _is_listed(path, listed_fields):
                is_match = batch.outcome[selected] == TP
                yield path, batch.similarity[selected], is_match


def tree_line(document: UnitTree) -> bytes:
    """Return a document as a JSON array of at most `MAX_ROWS` rows.

    A row has depth, name, kind, outcome, similarity, threshold, weight, ground truth and
    prediction. The kind is `object`, `list` or `value`. For a unit with children, ground truth and
    prediction are null. If rows are left out, the last entry is the number of them.
    """
    rows: list[list[Any]] = []
    _add_children(rows, document, 0)
    n_hidden = len(rows) - MAX_ROWS
    return json_line([*rows[:MAX_ROWS], n_hidden] if n_hidden > 0 else rows)[:-1]


def _add_children(rows: list[list[Any]], unit: UnitTree, depth: int) -> None:
    """Add rows for everything inside a unit: fields, undeclared keys and items."""
    for child in unit.fields:
        _add_unit(rows, child, depth, _field_name(child.name))
    pred: Any = unit.pred if unit.extra_keys else None
    for name in unit.extra_keys:
        value = display_value(pred[name]) if len(rows) < MAX_ROWS else None
        rows.append(
            [depth, _field_name(name), "value", Outcome.FA.name, 0.0, 1.0, None, None, value]
        )
    for item in unit.items:
        _add_unit(rows, item, depth, _item_name(item.gt_index, item.pred_index))


def _add_unit(rows: list[list[Any]], unit: UnitTree, depth: int, name: str) -> None:
    """Add a row for a unit and for everything inside it.

    The row shows the values only if the unit has no children.
    """
    row: list[Any] = [depth, name, "value", unit.outcome.name, unit.similarity]
    row += [unit.threshold, unit.weight]
    rows.append(row)
    n_rows = len(rows)
    _add_children(rows, unit, depth + 1)
    if len(rows) > n_rows:
        row[2] = unit.shape
        row += [None, None]
    elif n_rows <= MAX_ROWS:
        row += [display_value(unit.gt), display_value(unit.pred)]


@lru_cache(10_000)  # enough for the names of a schema; keys of maps are unlimited
def _field_name(name: str) -> str:
    return field_path((name,))


def _item_name(gt_index: int | None, pred_index: int | None) -> str:
    """Return the name of a list item: its index, or both indexes if they differ.

    >>> _item_name(2, 2), _item_name(2, 5), _item_name(None, 5)
    ('[2]', '[2] ~ [5]', '[5]')
    """
    names = [f"[{index}]" for index in (gt_index, pred_index) if index is not None]
    return " ~ ".join(dict.fromkeys(names))
