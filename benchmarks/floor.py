"""The least work that an evaluation takes in Python: a lower bound for times of this project.

Run it with `python -m benchmarks.floor SCHEMA GT PRED`; it prints the results as JSON. The script
does only what the timed sets of documents need: it makes the comparators' calls (rapidfuzz, numpy,
dateutil, scipy), prepares each value once, solves one assignment problem for each pair of lists,
adds up counts, gives each error a class, and computes intervals of the totals. It has no options or
messages, does not check its input, and keeps no results of single documents. It relies on
properties of the sets: no value has the wrong kind, ground-truth items lack no field, and no value
is absent on both sides.
"""

import os
import string
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: products here are too small

import numpy as np
import orjson
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from benchmarks.floor_errors import Errors, Place
from benchmarks.floor_intervals import intervals

Matrix = NDArray[np.float64]
Indexes = NDArray[np.intp]
Mask = NDArray[np.bool_]
Pairs = tuple[Indexes, Indexes]
"""Pairs of list elements, as (indexes in the ground truth, indexes in the prediction), two arrays
of one length."""

EQUAL_WITHIN = 1e-9
TP, FD, FA, FN = range(4)
_REMOVED = str.maketrans("", "", string.punctuation + string.whitespace)


@dataclass(slots=True)
class Field:
    """A field of the schema, with its counts over the documents that were compared so far."""

    name: str
    path: str
    weight: float
    threshold: float
    prepare: Callable[[Any], Any]
    """Prepares a single value for comparison. `similarity` and `matrix` take prepared values."""
    similarity: Callable[[Any, Any], float]
    matrix: Callable[[Sequence[Any], Sequence[Any]], Matrix]
    fields: list["Field"] = field(default_factory=list)
    """The fields inside this field, if it is an object or a list of objects."""
    is_list: bool = False
    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])


def normalize_text(value: str) -> str:
    """Return a text in lower case, with single blanks between words."""
    return " ".join(value.lower().split())


def normalize_code(value: str) -> str:
    """Return an identifier in lower case, without punctuation and white space."""
    return value.lower().translate(_REMOVED)


@cache
def read_date(value: str) -> tuple[int, int]:
    """Return the day number of a date as (read with the month first, read with the day first)."""
    if value[:4].isdigit():
        ordinal = date.fromisoformat(value).toordinal()
        return ordinal, ordinal
    from dateutil.parser import parse

    month_first = parse(value).toordinal()
    # Only 03/04/2020 has two readings.
    return month_first, parse(value, dayfirst=True).toordinal() if "/" in value else month_first


def compare_all_texts(gts: Sequence[str], preds: Sequence[str]) -> Matrix:
    """Return the similarity of each ground-truth text and each predicted text, (n_gts, n_preds)."""
    scorer = Levenshtein.normalized_similarity
    return process.cdist(gts, preds, scorer=scorer, dtype=np.float64, workers=1)


def compare_all_codes(gts: Sequence[str], preds: Sequence[str | None]) -> Matrix:
    """Return 1 for each pair of equal identifiers, else 0, (n_gts, n_preds)."""
    numbers: dict[str | None, int] = {}
    rows, columns = (
        np.array([numbers.setdefault(value, len(numbers)) for value in side])
        for side in (gts, preds)
    )
    same: Matrix = np.equal.outer(rows, columns).astype(np.float64)
    return same


def compare_all_numbers(gts: Sequence[float], preds: Sequence[float | None]) -> Matrix:
    """Return 1 for each pair of equal numbers, else 0, (n_gts, n_preds).

    A missing number becomes NaN, which equals no number.
    """
    same: Matrix = np.equal.outer(np.array(gts, float), np.array(preds, float)).astype(np.float64)
    return same


def compare_all_days(
    gts: Sequence[tuple[int, int]], preds: Sequence[tuple[int, int] | None]
) -> Matrix:
    """Return 1 for each pair of equal dates, else 0, (n_gts, n_preds).

    Two dates are equal if they are the same day in one of the two orders of month and day.
    """
    rows = np.array(gts)
    columns = np.array([(-1, -1) if pred is None else pred for pred in preds])
    same: Matrix = (rows[:, None, :] == columns).any(axis=2).astype(np.float64)
    return same


def compare_equal(gt: Any, pred: Any) -> float:
    """Return 1.0 if two prepared values are equal, else 0.0."""
    return float(gt == pred)


def compare_days(gt: tuple[int, int], pred: tuple[int, int]) -> float:
    """Return 1.0 if two dates are equal in one of the two orders of month and day, else 0.0."""
    return float(gt[0] == pred[0] or gt[1] == pred[1])


COMPARATORS: dict[str, tuple[Any, Any, Any]] = {
    "LevenshteinComparator": (normalize_text, Levenshtein.normalized_similarity, compare_all_texts),
    "ExactComparator": (normalize_code, compare_equal, compare_all_codes),
    "NumericComparator": (float, compare_equal, compare_all_numbers),
    "DateComparator": (read_date, compare_days, compare_all_days),
}


def build_fields(schema: dict[str, Any], path: str = "") -> list[Field]:
    """Return the fields that the properties of a schema describe.

    `path` is the path of the schema's object, with a dot at the end.
    """
    fields = []
    for name, node in schema["properties"].items():
        is_list = node["type"] == "array"
        item_schema = node["items"] if is_list else node
        comparator = node.get("x-aws-stickler-comparator", "ExactComparator")
        prepare, similarity, matrix = COMPARATORS[comparator]
        has_fields = "properties" in item_schema
        field_of_node = Field(
            name=name,
            path=path + name,
            weight=node.get("x-aws-stickler-weight", 1.0),
            threshold=node.get("x-aws-stickler-threshold", 0.7) - EQUAL_WITHIN,
            prepare=prepare,
            similarity=similarity,
            matrix=matrix,
            fields=build_fields(item_schema, f"{path}{name}.") if has_fields else [],
            is_list=is_list,
        )
        fields.append(field_of_node)
    return fields


def score_objects(
    fields: list[Field], gt: dict[str, Any], pred: dict[str, Any], errors: Errors, place: Place = ()
) -> float:
    """Compare two objects field by field, count the outcomes, and return the score of the objects.

    `place` is the path of the objects in the document.
    """
    total = weights = 0.0
    for child in fields:
        gt_value, pred_value = gt.get(child.name), pred.get(child.name)
        weights += child.weight
        if child.is_list:
            child_place = (*place, child.name)
            total += child.weight * score_lists(
                child, gt_value or [], pred_value or [], errors, child_place
            )
        elif gt_value is None:
            child.counts[FA] += 1
            errors.count_invented(pred_value, (*place, child.name))
        elif pred_value is None:
            child.counts[FN] += 1
            errors.classes["missed_value"] += 1
        else:
            if child.fields:
                child_place = (*place, child.name)
                score = score_objects(child.fields, gt_value, pred_value, errors, child_place)
            elif gt_value == pred_value:
                score = 1.0
            else:
                score = child.similarity(child.prepare(gt_value), child.prepare(pred_value))
            if score >= child.threshold:
                child.counts[TP] += 1
            else:
                child.counts[FD] += 1
                if not child.fields:
                    errors.count_wrong(gt_value, pred_value, (*place, child.name))
            total += child.weight * score
    return total / weights


def score_lists(
    list_field: Field, gts: list[Any], preds: list[Any], errors: Errors, place: Place
) -> float:
    """Pair the elements of two lists, count the outcomes, and return the score of the lists.

    `place` is the path of the lists in the document.
    """
    table = build_table(list_field.fields, gts, preds) if list_field.fields else None
    matrix = compare_all_values(list_field, gts, preds) if table is None else table.matrix
    rows, columns = pairs = assign_pairs(matrix)
    for values, paired, outcome in ((gts, rows, FN), (preds, columns, FA)):
        if len(values) > len(paired):
            paired_indexes = set(paired.tolist())
            unpaired = [value for index, value in enumerate(values) if index not in paired_indexes]
            count_unpaired(list_field, unpaired, len(unpaired), outcome, errors)
    flat = Flat(
        field=list_field,
        matrix=matrix,
        table=table,
        gts=gts,
        preds=preds,
        place=lambda row: (*place, row),
    )
    count_pairs(flat, pairs, np.ones(len(rows), bool), errors)
    return float(matrix[rows, columns].sum()) / max(len(gts), len(preds))


def count_unpaired(
    list_field: Field, elements: list[Any], n_counted: int, outcome: int, errors: Errors
) -> None:
    """Count list elements that one side lacks.

    `n_counted` of them count in the outcomes of the field; all of them are recorded as errors.
    """
    list_field.counts[outcome] += n_counted
    if elements:
        errors.count_unpaired(elements, missed=outcome == FN)


def assign_pairs(matrix: Matrix) -> Pairs:
    """Return the pairs with the greatest total similarity, given the similarity of all pairs.

    If several choices of pairs have the same total, the one with the most equal positions wins.
    """
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(matrix + preferences(*matrix.shape), maximize=True)


@cache
def preferences(n_gts: int, n_preds: int) -> Matrix:
    """Return the small bonus of each pair for near positions, (n_gts, n_preds).

    Source: docs/semantics.md, section Lists.
    """
    distances = np.abs(np.subtract.outer(np.arange(n_gts), np.arange(n_preds)))
    return 1e-9 * (1 - distances / max(n_gts, n_preds, 1))


def compare_all_values(leaf: Field, gts: list[Any], preds: list[Any]) -> Matrix:
    """Return the similarity of each true and each predicted value, (n_gts, n_preds).

    A missing predicted value (None) is similar to no value.
    """
    prepare = leaf.prepare
    return leaf.matrix(
        [prepare(value) for value in gts],
        [None if value is None else prepare(value) for value in preds],
    )


@dataclass(slots=True)
class Flat:
    """The elements of one list, or of many concatenated lists."""

    field: Field
    matrix: Matrix
    table: "Table | None"
    gts: Sequence[Any]
    preds: Sequence[Any]
    place: Callable[[int], Place]
    """Returns the path of a ground-truth element in its document."""


@dataclass(slots=True)
class Table:
    """Similarities of each ground-truth item and each predicted item, in total and by field."""

    matrix: Matrix
    leaves: list[tuple[Field, Matrix, Mask]]
    """For each field of single values: the field, its similarities, (n_gts, n_preds), and a mask of
    the predicted items that have the field, (n_preds,)."""
    lists: list["Inner"]


@dataclass(slots=True)
class Inner:
    """A field that is a list inside list items; the lists of all items are joined on each side."""

    field: Field
    table: Table
    gts: Sequence[Any]
    preds: Sequence[Any]
    gt_edges: Indexes
    pred_edges: Indexes
    pairs: dict[tuple[int, int], Pairs]
    """For each pair of items, as (ground-truth index, predicted index): the paired elements of
    their two lists, as indexes in `gts` and `preds`."""


def build_table(fields: list[Field], gts: list[Any], preds: list[Any]) -> Table:
    """Compare each ground-truth item with each predicted item, one field after the other."""
    total = np.zeros((len(gts), len(preds)))
    table = Table(total, [], [])
    for child in fields:
        gt_values = [gt[child.name] for gt in gts]
        pred_values = [pred.get(child.name) for pred in preds]
        if child.is_list:
            scores, inner = score_inner_lists(child, gt_values, pred_values)
            table.lists.append(inner)
        else:
            scores = compare_all_values(child, gt_values, pred_values)
            present = np.array([value is not None for value in pred_values], bool)
            table.leaves.append((child, scores, present))
        total += child.weight * scores
    total /= sum(child.weight for child in fields)
    return table


def score_inner_lists(list_field: Field, gts: list[Any], preds: list[Any]) -> tuple[Matrix, Inner]:
    """Compare the lists of each pair of items, and pair their elements.

    Return the scores of the lists, (n_gts, n_preds), and the joined lists with their pairs.
    """
    gt_edges, pred_edges = (np.cumsum([0, *map(len, side)]) for side in (gts, preds))
    flat_gts, flat_preds = (
        [element for elements in side for element in elements] for side in (gts, preds)
    )
    table = build_table(list_field.fields, flat_gts, flat_preds)
    inner = Inner(
        field=list_field,
        table=table,
        gts=flat_gts,
        preds=flat_preds,
        gt_edges=gt_edges,
        pred_edges=pred_edges,
        pairs={},
    )
    scores = np.empty((len(gts), len(preds)))
    cells = inner.table.matrix
    for gt_index, (top, bottom) in enumerate(pairwise(gt_edges)):
        for pred_index, (left, right) in enumerate(pairwise(pred_edges)):
            block = cells[top:bottom, left:right]
            rows, columns = assign_pairs(block)
            scores[gt_index, pred_index] = block[rows, columns].sum() / max(block.shape)
            inner.pairs[gt_index, pred_index] = rows + top, columns + left
    return scores, inner


def count_pairs(flat: Flat, pairs: Pairs, counted: Mask, errors: Errors) -> None:
    """Count the paired elements of a list, and the fields of elements that match.

    `counted` is a mask of the pairs that count in outcomes. Errors are recorded for all pairs, even
    if a pair is not counted or does not match.
    """
    rows, columns = pairs
    list_field, table = flat.field, flat.table
    is_match = flat.matrix[rows, columns] >= list_field.threshold
    is_right = is_match & counted
    hits = count_true(is_right)
    list_field.counts[TP] += hits
    list_field.counts[FD] += count_true(counted) - hits
    if table is None:
        is_wrong = ~is_match
        for row, column in zip(rows[is_wrong].tolist(), columns[is_wrong].tolist(), strict=True):
            errors.count_wrong(flat.gts[row], flat.preds[column], flat.place(row))
        return
    for leaf, scores, present in table.leaves:
        is_hit, is_present = scores[rows, columns] >= leaf.threshold, present[columns]
        count_leaves(leaf, is_hit[is_right], is_present[is_right])
        errors.classes["missed_value"] += count_true(~is_present)
        is_wrong = is_present & ~is_hit
        for row, column in zip(rows[is_wrong].tolist(), columns[is_wrong].tolist(), strict=True):
            gt, pred = flat.gts[row][leaf.name], flat.preds[column][leaf.name]
            errors.count_wrong(gt, pred, (*flat.place(row), leaf.name))
    for inner in table.lists:
        if len(rows):
            count_inner(inner, pairs, is_right, flat, errors)


def count_true(mask: Mask) -> int:
    """Return the number of true values of a mask."""
    return int(np.count_nonzero(mask))


def count_leaves(leaf: Field, is_hit: Mask, is_present: Mask) -> None:
    """Add the outcomes of a field in list items to its counts.

    Each entry of the masks is a pair of items: whether the field's values match, and whether the
    predicted item has the field.
    """
    n_right, n_present = count_true(is_hit), count_true(is_present)
    leaf.counts[TP] += n_right
    leaf.counts[FD] += n_present - n_right
    leaf.counts[FN] += len(is_present) - n_present


def count_inner(inner: Inner, pairs: Pairs, counted: Mask, flat: Flat, errors: Errors) -> None:
    """Count the elements of the lists inside paired items.

    `pairs` has the pairs of items, and `counted` a mask of the pairs that count in outcomes.
    """
    chosen = [inner.pairs[pair] for pair in zip(*(side.tolist() for side in pairs), strict=True)]
    rows, columns = (np.concatenate(side) for side in zip(*chosen, strict=True))
    counted_elements = np.repeat(counted, [len(pair[0]) for pair in chosen])
    sides = (inner.gts, inner.gt_edges, rows, FN), (inner.preds, inner.pred_edges, columns, FA)
    for owners, (values, edges, paired, outcome) in zip(pairs, sides, strict=True):
        is_unpaired, is_counted = (
            mark_elements(owners, edges),
            mark_elements(owners[counted], edges),
        )
        is_unpaired[paired] = False
        elements = [values[index] for index in np.flatnonzero(is_unpaired).tolist()]
        count_unpaired(inner.field, elements, count_true(is_unpaired & is_counted), outcome, errors)

    def place(row: int) -> Place:
        owner = int(np.searchsorted(inner.gt_edges, row, "right")) - 1
        return *flat.place(owner), inner.field.name, row - int(inner.gt_edges[owner])

    table = inner.table
    inner_flat = Flat(
        field=inner.field,
        matrix=table.matrix,
        table=table,
        gts=inner.gts,
        preds=inner.preds,
        place=place,
    )
    count_pairs(inner_flat, (rows, columns), counted_elements, errors)


def mark_elements(owners: Indexes, edges: Indexes) -> Mask:
    """Return a mask of the elements that belong to some of the joined lists.

    `owners` has the numbers of these lists. List i has the elements from `edges[i]` to `edges[i +
    1]`.
    """
    chosen = np.zeros(len(edges) - 1, bool)
    chosen[owners] = True
    return np.repeat(chosen, np.diff(edges))


def collect_counts(fields: list[Field]) -> dict[str, list[int]]:
    """Return a dict from the path of each field, and of each field inside it, to its counts."""
    counts = {}
    for child in fields:
        counts[child.path] = child.counts
        counts |= collect_counts(child.fields)
    return counts


def main(schema: Path, gts: Path, preds: Path) -> None:
    """Compare the documents of two directories, and print the results as JSON."""
    fields = build_fields(orjson.loads(schema.read_bytes()))
    names = sorted(path.name for path in gts.iterdir())
    classes: Counter[str] = Counter()
    scores, counts, before = [], [], np.zeros(5, int)
    for name in names:
        gt = orjson.loads((gts / name).read_bytes())
        pred = orjson.loads((preds / name).read_bytes())
        scores.append(score_objects(fields, gt, pred, Errors(gt, classes)))
        so_far = np.array([child.counts for child in fields]).sum(axis=0)
        counts.append(so_far - before)
        before = so_far
    summary = {
        "documents": len(names),
        "score": sum(scores) / len(names),
        "counts": {"": before.tolist(), **collect_counts(fields)},
        "errors": {name: count for name, count in sorted(classes.items()) if count},
        "intervals": intervals(np.array(counts), scores),
    }
    sys.stdout.buffer.write(orjson.dumps(summary))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
