"""The least work that the job takes in Python: `python -m benchmarks.floor SCHEMA GT PRED`.

This script does only what the timed sets need: it makes the comparators' calls (rapidfuzz, numpy,
dateutil, scipy), prepares each value once, solves one assignment per pair of lists, adds up counts,
gives each error a class, and computes intervals of the totals. It prints JSON, has no options or
messages, does not check its input, and keeps no rows of documents. It relies on what the sets
promise: no value has the wrong kind, ground-truth items lack no field, and no value is absent on
both sides.
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
"""Indexes of paired elements in the ground truth and in the prediction."""

EQUAL_WITHIN = 1e-9
TP, FD, FA, FN = range(4)
_REMOVED = str.maketrans("", "", string.punctuation + string.whitespace)


@dataclass(slots=True)
class Field:
    """A field of the schema, with the counts so far."""

    name: str
    path: str
    weight: float
    threshold: float
    prepare: Callable[[Any], Any]
    """Prepares a leaf, or an element of a list of leaves; the next two compare them."""
    similarity: Callable[[Any, Any], float]
    matrix: Callable[[Sequence[Any], Sequence[Any]], Matrix]
    fields: list["Field"] = field(default_factory=list)
    """Fields of an object, or of the objects in a list."""
    is_list: bool = False
    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])


def normalize_text(value: str) -> str:
    """Normalise a text."""
    return " ".join(value.lower().split())


def normalize_code(value: str) -> str:
    """Normalise an identifier."""
    return value.lower().translate(_REMOVED)


@cache
def read_date(value: str) -> tuple[int, int]:
    """Read a date in both orders of month and day."""
    if value[:4].isdigit():
        ordinal = date.fromisoformat(value).toordinal()
        return ordinal, ordinal
    from dateutil.parser import parse

    month_first = parse(value).toordinal()
    # Only 03/04/2020 has two readings.
    return month_first, parse(value, dayfirst=True).toordinal() if "/" in value else month_first


def compare_all_texts(gts: Sequence[str], preds: Sequence[str]) -> Matrix:
    """Compare each text with each other one."""
    scorer = Levenshtein.normalized_similarity
    return process.cdist(gts, preds, scorer=scorer, dtype=np.float64, workers=1)


def compare_all_codes(gts: Sequence[str], preds: Sequence[str | None]) -> Matrix:
    """Compare each identifier with each other one."""
    numbers: dict[str | None, int] = {}
    rows, columns = (
        np.array([numbers.setdefault(value, len(numbers)) for value in side])
        for side in (gts, preds)
    )
    same: Matrix = np.equal.outer(rows, columns).astype(np.float64)
    return same


def compare_all_numbers(gts: Sequence[float], preds: Sequence[float | None]) -> Matrix:
    """Compare each number with each other one; a missing number is NaN and equals no number."""
    same: Matrix = np.equal.outer(np.array(gts, float), np.array(preds, float)).astype(np.float64)
    return same


def compare_all_days(
    gts: Sequence[tuple[int, int]], preds: Sequence[tuple[int, int] | None]
) -> Matrix:
    """Compare each date with each other one, in both orders of month and day."""
    rows = np.array(gts)
    columns = np.array([(-1, -1) if pred is None else pred for pred in preds])
    same: Matrix = (rows[:, None, :] == columns).any(axis=2).astype(np.float64)
    return same


def compare_equal(gt: Any, pred: Any) -> float:
    """Compare two prepared values."""
    return float(gt == pred)


def compare_days(gt: tuple[int, int], pred: tuple[int, int]) -> float:
    """Compare two dates in both orders of month and day."""
    return float(gt[0] == pred[0] or gt[1] == pred[1])


COMPARATORS: dict[str, tuple[Any, Any, Any]] = {
    "LevenshteinComparator": (normalize_text, Levenshtein.normalized_similarity, compare_all_texts),
    "ExactComparator": (normalize_code, compare_equal, compare_all_codes),
    "NumericComparator": (float, compare_equal, compare_all_numbers),
    "DateComparator": (read_date, compare_days, compare_all_days),
}


def build_fields(schema: dict[str, Any], path: str = "") -> list[Field]:
    """Turn the properties of a schema into fields."""
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
    """Compare two objects field by field, count the outcomes, and return the score."""
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
    """Compare two lists, count the outcomes, and return the score."""
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
    """Count elements that one side lacks; each is an error, but only some are counted."""
    list_field.counts[outcome] += n_counted
    if elements:
        errors.count_unpaired(elements, missed=outcome == FN)


def assign_pairs(matrix: Matrix) -> Pairs:
    """Choose the pairs of two lists."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(matrix, maximize=True)


def compare_all_values(leaf: Field, gts: list[Any], preds: list[Any]) -> Matrix:
    """Compare each value of a field with each other one; a missing prediction matches nothing."""
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
    """Comparisons of each ground-truth item with each predicted item."""

    matrix: Matrix
    leaves: list[tuple[Field, Matrix, Mask]]
    """For each field, its similarities and a mask of the predictions that have it."""
    lists: list["Inner"]


@dataclass(slots=True)
class Inner:
    """The lists of one field in all items of both sides, concatenated."""

    field: Field
    table: Table
    gts: Sequence[Any]
    preds: Sequence[Any]
    gt_edges: Indexes
    pred_edges: Indexes
    pairs: dict[tuple[int, int], Pairs]
    """Paired elements of the two lists, by the pair of items that have them."""


def build_table(fields: list[Field], gts: list[Any], preds: list[Any]) -> Table:
    """Compare each item with each other one, a field at a time."""
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
    """Compare the lists of each pair of items, with one assignment per pair."""
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
    """Count the pairs of a list, and the fields of pairs that match.

    Errors are recorded for all pairs, even if a pair is not counted or does not match.
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
    """Count the true values of a mask."""
    return int(np.count_nonzero(mask))


def count_leaves(leaf: Field, is_hit: Mask, is_present: Mask) -> None:
    """Count the outcomes of a field in the items of a list."""
    n_right, n_present = count_true(is_hit), count_true(is_present)
    leaf.counts[TP] += n_right
    leaf.counts[FD] += n_present - n_right
    leaf.counts[FN] += len(is_present) - n_present


def count_inner(inner: Inner, pairs: Pairs, counted: Mask, flat: Flat, errors: Errors) -> None:
    """Count the lists in the items of a list."""
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
    """Mark the elements of the lists that the owners have."""
    chosen = np.zeros(len(edges) - 1, bool)
    chosen[owners] = True
    return np.repeat(chosen, np.diff(edges))


def collect_counts(fields: list[Field]) -> dict[str, list[int]]:
    """List the counts by path."""
    counts = {}
    for child in fields:
        counts[child.path] = child.counts
        counts |= collect_counts(child.fields)
    return counts


def main(schema: Path, gts: Path, preds: Path) -> None:
    """Compare two directories."""
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
