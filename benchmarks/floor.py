"""The least that the job takes in Python: `python -m benchmarks.floor SCHEMA GT PRED`.

A script that knows the timed sets and nothing else: the comparators' calls (rapidfuzz, numpy,
dateutil, scipy), each value prepared once, one assignment per pair of lists, sums, a class for
each error, and intervals of the whole. It prints JSON, has no options and no messages, does not
check what it reads, and keeps no account of a document. It counts on what the sets promise: no
value is of the wrong kind, ground-truth items lack no field, and nothing is absent on both sides.
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

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: no product here is worth threads

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
"""Elements of the ground truth, and of the prediction."""

EQUAL_WITHIN = 1e-9
TP, FD, FA, FN = range(4)
_REMOVED = str.maketrans("", "", string.punctuation + string.whitespace)


@dataclass(slots=True)
class Field:
    """A field of the schema, and what was counted at it so far."""

    name: str
    path: str
    weight: float
    threshold: float
    prepare: Callable[[Any], Any]
    """Of a leaf, or of the elements of a list of leaves, as are the next two."""
    similarity: Callable[[Any, Any], float]
    matrix: Callable[[Sequence[Any], Sequence[Any]], Matrix]
    fields: list["Field"] = field(default_factory=list)
    """Of an object, or of the objects in a list."""
    is_list: bool = False
    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])


def text(value: str) -> str:
    """Normalise a text."""
    return " ".join(value.lower().split())


def exact(value: str) -> str:
    """Normalise an identifier."""
    return value.lower().translate(_REMOVED)


@cache
def day(value: str) -> tuple[int, int]:
    """Read a date in both orders of month and day."""
    if value[:4].isdigit():
        ordinal = date.fromisoformat(value).toordinal()
        return ordinal, ordinal
    from dateutil.parser import parse

    month_first = parse(value).toordinal()
    # Only 03/04/2020 has two readings.
    return month_first, parse(value, dayfirst=True).toordinal() if "/" in value else month_first


def texts_matrix(gts: Sequence[str], preds: Sequence[str]) -> Matrix:
    """Compare all texts with all."""
    scorer = Levenshtein.normalized_similarity
    return process.cdist(gts, preds, scorer=scorer, dtype=np.float64, workers=1)


def exact_matrix(gts: Sequence[str], preds: Sequence[str | None]) -> Matrix:
    """Compare all identifiers with all."""
    numbers: dict[str | None, int] = {}
    rows, columns = (
        np.array([numbers.setdefault(value, len(numbers)) for value in side])
        for side in (gts, preds)
    )
    same: Matrix = np.equal.outer(rows, columns).astype(np.float64)
    return same


def numbers_matrix(gts: Sequence[float], preds: Sequence[float | None]) -> Matrix:
    """Compare all numbers with all; one that is missing is NaN, and equals none."""
    same: Matrix = np.equal.outer(np.array(gts, float), np.array(preds, float)).astype(np.float64)
    return same


def days_matrix(gts: Sequence[tuple[int, int]], preds: Sequence[tuple[int, int] | None]) -> Matrix:
    """Compare all dates with all in both orders."""
    rows = np.array(gts)
    columns = np.array([(-1, -1) if pred is None else pred for pred in preds])
    same: Matrix = (rows[:, None, :] == columns).any(axis=2).astype(np.float64)
    return same


def equal(gt: Any, pred: Any) -> float:
    """Compare two prepared values."""
    return float(gt == pred)


def same_day(gt: tuple[int, int], pred: tuple[int, int]) -> float:
    """Compare two dates in both orders."""
    return float(gt[0] == pred[0] or gt[1] == pred[1])


COMPARATORS: dict[str, tuple[Any, Any, Any]] = {
    "LevenshteinComparator": (text, Levenshtein.normalized_similarity, texts_matrix),
    "ExactComparator": (exact, equal, exact_matrix),
    "NumericComparator": (float, equal, numbers_matrix),
    "DateComparator": (day, same_day, days_matrix),
}


def fields_of(schema: dict[str, Any], path: str = "") -> list[Field]:
    """Turn the properties of a schema into fields."""
    found = []
    for name, node in schema["properties"].items():
        is_list = node["type"] == "array"
        inner = node["items"] if is_list else node
        comparator = node.get("x-aws-stickler-comparator", "ExactComparator")
        made = Field(
            name,
            path + name,
            node.get("x-aws-stickler-weight", 1.0),
            node.get("x-aws-stickler-threshold", 0.7) - EQUAL_WITHIN,
            *COMPARATORS[comparator],
            fields_of(inner, f"{path}{name}.") if "properties" in inner else [],
            is_list,
        )
        found.append(made)
    return found


def object_score(
    fields: list[Field], gt: dict[str, Any], pred: dict[str, Any], errors: Errors, place: Place = ()
) -> float:
    """Compare two objects field by field, and count."""
    total = weights = 0.0
    for one in fields:
        gt_value, pred_value = gt.get(one.name), pred.get(one.name)
        weights += one.weight
        if one.is_list:
            here = (*place, one.name)
            total += one.weight * list_score(one, gt_value or [], pred_value or [], errors, here)
        elif gt_value is None:
            one.counts[FA] += 1
            errors.invented(pred_value, (*place, one.name))
        elif pred_value is None:
            one.counts[FN] += 1
            errors.classes["missed_value"] += 1
        else:
            if one.fields:
                here = (*place, one.name)
                score = object_score(one.fields, gt_value, pred_value, errors, here)
            elif gt_value == pred_value:
                score = 1.0
            else:
                score = one.similarity(one.prepare(gt_value), one.prepare(pred_value))
            if score >= one.threshold:
                one.counts[TP] += 1
            else:
                one.counts[FD] += 1
                if not one.fields:
                    errors.wrong(gt_value, pred_value, (*place, one.name))
            total += one.weight * score
    return total / weights


def list_score(one: Field, gts: list[Any], preds: list[Any], errors: Errors, place: Place) -> float:
    """Compare two lists, and count."""
    table = table_of(one.fields, gts, preds) if one.fields else None
    matrix = leaf_matrix(one, gts, preds) if table is None else table.matrix
    rows, columns = pairs = assigned(matrix)
    for values, paired, outcome in ((gts, rows, FN), (preds, columns, FA)):
        if len(values) > len(paired):
            taken = set(paired.tolist())
            alone = [value for index, value in enumerate(values) if index not in taken]
            count_alone(one, alone, len(alone), outcome, errors)
    flat = Flat(one, matrix, table, gts, preds, lambda row: (*place, row))
    count_pairs(flat, pairs, np.ones(len(rows), bool), errors)
    return float(matrix[rows, columns].sum()) / max(len(gts), len(preds))


def count_alone(one: Field, alone: list[Any], counted: int, outcome: int, errors: Errors) -> None:
    """Count the elements that one side lacks; all have errors, and some are not counted."""
    one.counts[outcome] += counted
    if alone:
        errors.alone(alone, missed=outcome == FN)


def assigned(matrix: Matrix) -> Pairs:
    """Choose the pairs of two lists."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(matrix, maximize=True)


def leaf_matrix(one: Field, gts: list[Any], preds: list[Any]) -> Matrix:
    """Compare all values of a field with all; a missing prediction is like none."""
    prepare = one.prepare
    return one.matrix(
        [prepare(value) for value in gts],
        [None if value is None else prepare(value) for value in preds],
    )


@dataclass(slots=True)
class Flat:
    """The elements of one list, or of many end to end."""

    field: Field
    matrix: Matrix
    table: "Table | None"
    gts: Sequence[Any]
    preds: Sequence[Any]
    place: Callable[[int], Place]
    """Where an element of the ground truth stands in its document."""


@dataclass(slots=True)
class Table:
    """All items of one side against all of the other."""

    matrix: Matrix
    leaves: list[tuple[Field, Matrix, Mask]]
    """A field's similarities, and which predictions have it."""
    lists: list["Inner"]


@dataclass(slots=True)
class Inner:
    """The lists that all items of both sides have in one field, end to end."""

    field: Field
    table: Table
    gts: Sequence[Any]
    preds: Sequence[Any]
    gt_edges: Indexes
    pred_edges: Indexes
    pairs: dict[tuple[int, int], Pairs]
    """Which of the elements belong together if two items do."""


def table_of(fields: list[Field], gts: list[Any], preds: list[Any]) -> Table:
    """Compare all items with all, a field at a time."""
    total = np.zeros((len(gts), len(preds)))
    table = Table(total, [], [])
    for one in fields:
        gt_values = [gt[one.name] for gt in gts]
        pred_values = [pred.get(one.name) for pred in preds]
        if one.is_list:
            scores, inner = inner_scores(one, gt_values, pred_values)
            table.lists.append(inner)
        else:
            scores = leaf_matrix(one, gt_values, pred_values)
            present = np.array([value is not None for value in pred_values], bool)
            table.leaves.append((one, scores, present))
        total += one.weight * scores
    total /= sum(one.weight for one in fields)
    return table


def inner_scores(one: Field, gts: list[Any], preds: list[Any]) -> tuple[Matrix, Inner]:
    """Compare the lists of all items with those of all others: one assignment each."""
    gt_edges, pred_edges = (np.cumsum([0, *map(len, side)]) for side in (gts, preds))
    flat_gts, flat_preds = ([part for value in side for part in value] for side in (gts, preds))
    table = table_of(one.fields, flat_gts, flat_preds)
    inner = Inner(one, table, flat_gts, flat_preds, gt_edges, pred_edges, {})
    scores = np.empty((len(gts), len(preds)))
    cells = inner.table.matrix
    for i, (top, bottom) in enumerate(pairwise(gt_edges)):
        for j, (left, right) in enumerate(pairwise(pred_edges)):
            block = cells[top:bottom, left:right]
            rows, columns = assigned(block)
            scores[i, j] = block[rows, columns].sum() / max(block.shape)
            inner.pairs[i, j] = rows + top, columns + left
    return scores, inner


def count_pairs(flat: Flat, pairs: Pairs, counted: Mask, errors: Errors) -> None:
    """Count pairs of a list, and what is below those that match.

    Errors are told of all: of pairs that are not counted, and below those that do not match.
    """
    rows, columns = pairs
    one, table = flat.field, flat.table
    matches = flat.matrix[rows, columns] >= one.threshold
    right = matches & counted
    hits = number(right)
    one.counts[TP] += hits
    one.counts[FD] += number(counted) - hits
    if table is None:
        wrong = ~matches
        for row, column in zip(rows[wrong].tolist(), columns[wrong].tolist(), strict=True):
            errors.wrong(flat.gts[row], flat.preds[column], flat.place(row))
        return
    for leaf, scores, present in table.leaves:
        hit, found = scores[rows, columns] >= leaf.threshold, present[columns]
        count_leaves(leaf, hit[right], found[right])
        errors.classes["missed_value"] += number(~found)
        wrong = found & ~hit
        for row, column in zip(rows[wrong].tolist(), columns[wrong].tolist(), strict=True):
            gt, pred = flat.gts[row][leaf.name], flat.preds[column][leaf.name]
            errors.wrong(gt, pred, (*flat.place(row), leaf.name))
    for inner in table.lists:
        if len(rows):
            count_inner(inner, pairs, right, flat, errors)


def number(mask: Mask) -> int:
    """Count what is marked."""
    return int(np.count_nonzero(mask))


def count_leaves(leaf: Field, hit: Mask, found: Mask) -> None:
    """Count a field of the items of a list."""
    right, present = number(hit), number(found)
    leaf.counts[TP] += right
    leaf.counts[FD] += present - right
    leaf.counts[FN] += len(found) - present


def count_inner(inner: Inner, pairs: Pairs, counted: Mask, flat: Flat, errors: Errors) -> None:
    """Count the lists in the items of a list."""
    chosen = [inner.pairs[pair] for pair in zip(*(side.tolist() for side in pairs), strict=True)]
    rows, columns = (np.concatenate(side) for side in zip(*chosen, strict=True))
    inside_counted = np.repeat(counted, [len(pair[0]) for pair in chosen])
    sides = (inner.gts, inner.gt_edges, rows, FN), (inner.preds, inner.pred_edges, columns, FA)
    for owners, (values, edges, paired, outcome) in zip(pairs, sides, strict=True):
        alone, below = among(owners, edges), among(owners[counted], edges)
        alone[paired] = False
        lacking = [values[index] for index in np.flatnonzero(alone).tolist()]
        count_alone(inner.field, lacking, number(alone & below), outcome, errors)

    def place(row: int) -> Place:
        owner = int(np.searchsorted(inner.gt_edges, row, "right")) - 1
        return *flat.place(owner), inner.field.name, row - int(inner.gt_edges[owner])

    table = inner.table
    inside = Flat(inner.field, table.matrix, table, inner.gts, inner.preds, place)
    count_pairs(inside, (rows, columns), inside_counted, errors)


def among(owners: Indexes, edges: Indexes) -> Mask:
    """Mark the elements of the lists that some items have."""
    chosen = np.zeros(len(edges) - 1, bool)
    chosen[owners] = True
    return np.repeat(chosen, np.diff(edges))


def counts_of(fields: list[Field]) -> dict[str, list[int]]:
    """List the counts by path."""
    counts = {}
    for one in fields:
        counts[one.path] = one.counts
        counts |= counts_of(one.fields)
    return counts


def main(schema: Path, gts: Path, preds: Path) -> None:
    """Compare two directories."""
    fields = fields_of(orjson.loads(schema.read_bytes()))
    names = sorted(path.name for path in gts.iterdir())
    classes: Counter[str] = Counter()
    scores, counts, before = [], [], np.zeros(5, int)
    for name in names:
        gt = orjson.loads((gts / name).read_bytes())
        pred = orjson.loads((preds / name).read_bytes())
        scores.append(object_score(fields, gt, pred, Errors(gt, classes)))
        so_far = np.array([one.counts for one in fields]).sum(axis=0)
        counts.append(so_far - before)
        before = so_far
    result = {
        "documents": len(names),
        "score": sum(scores) / len(names),
        "counts": {"": before.tolist(), **counts_of(fields)},
        "errors": {name: number for name, number in sorted(classes.items()) if number},
        "intervals": intervals(np.array(counts), scores),
    }
    sys.stdout.buffer.write(orjson.dumps(result))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
