"""Details for an HTML page: limited, in document order, the same for any number of jobs."""

import json
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest

from stickler_cli.core.locations import Path
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch, batch_of_unit
from stickler_cli.score.detail import (
    BINS,
    Detail,
    DetailLimits,
    Histogram,
    PlacedBox,
    similarities,
    tree_line,
)
from stickler_cli.score.errors import error_rows
from stickler_cli.score.errors.causes import Causes
from stickler_cli.score.errors.error_rows import KeptErrors, display_value
from stickler_cli.score.evaluation import Evaluation
from .batches import batch, compare

TEXT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": TEXT,
        "b": TEXT,
        "inner": {"type": "object", "properties": {"c": TEXT}},
        "items": {"type": "array", "items": {"type": "object", "properties": {"d": TEXT}}},
        "table": {"type": "array", "items": {"type": "array", "items": TEXT}},
    },
}
PLAN = compile_schema(SCHEMA)


def result_of(name: str, gt: dict, pred: dict) -> Batch:
    return batch(PLAN, {name: (gt, pred)})


def pairs_of(gt: dict, pred: dict) -> list[tuple[Path, float, bool]]:
    """Return the pairs of a document as (field, similarity, whether it is a match)."""
    return sorted(
        (path, *pair)
        for path, *figures in similarities(batch_of_unit(compare(PLAN, gt, pred)).table)
        for pair in zip(*(values.tolist() for values in figures), strict=True)
    )


def documents(*wrong: int) -> list[Batch]:
    """Return documents with two fields; `wrong` has the number of wrong fields of each document."""
    right = {"a": "x", "b": "x"}
    preds = [right, {"a": "x", "b": "?"}, {"a": "?", "b": "?"}]
    return [result_of(f"d{index}", right, preds[errors]) for index, errors in enumerate(wrong)]


def empty(max_errors: int = 100_000, most_bytes: int = 32_000_000, **limits: int) -> Detail:
    return Detail(DetailLimits(**limits), errors=KeptErrors(max_errors, most_bytes))


def detail_of(results: Iterable[Batch], **limits: int) -> Detail:
    detail = empty(**limits)
    for result in results:
        detail.update(result)
    return detail


def kept_ids(detail: Detail) -> list[str]:
    return [name for _, name, _ in detail.comparisons]


def test_the_pairs_of_a_field_are_in_the_bins_of_their_similarities():
    similarity = np.array([*(step / BINS for step in range(BINS + 1)), 0.9999])
    matched = similarity >= 0.5
    histogram = Histogram()
    histogram.add(similarity, matched)

    bins = [*range(BINS + 1), BINS - 1]
    for side, chosen in ((histogram.matched, matched), (histogram.unlike, ~matched)):
        assert side == np.bincount(np.array(bins)[chosen], minlength=BINS + 1).tolist()


def test_nothing_is_judged_inside_an_item_below_its_threshold():
    gt = {"inner": {"c": "x"}, "items": [{"d": "x"}, {"d": "y"}], "table": [["x"]]}
    pred = {"inner": {"c": "x"}, "items": [{"d": "x"}, {"d": "?"}], "table": [["x"]]}

    assert pairs_of(gt, pred) == [
        (("inner",), 1.0, True),
        (("inner", "c"), 1.0, True),
        (("items",), 1.0, True),
        (("items", "d"), 1.0, True),
        (("table",), 1.0, True),
        (("table",), 1.0, True),
    ]


def places(errors: KeptErrors) -> list[list[str]]:
    return [[error.document, error.path] for error in errors.rows()]


def test_of_too_many_errors_those_of_the_worst_documents_are_kept_to_the_line(monkeypatch):
    monkeypatch.setattr(error_rows, "MAX_SAMPLE_BYTES", 0)
    errors = detail_of(documents(1, 2, 1, 0, 2), max_errors=3).errors

    assert places(errors) == [["d1", "a"], ["d1", "b"], ["d4", "a"]]
    assert (errors.is_complete, errors.total) == (False, 6)
    small = len(next(errors.lines()))
    errors = detail_of(documents(1, 2, 1, 0, 2), most_bytes=2 * small).errors
    assert places(errors) == [["d1", "a"], ["d1", "b"]]


def test_of_every_cause_there_is_a_sample_wherever_its_errors_are(monkeypatch):
    monkeypatch.setattr(error_rows, "SAMPLE_SIZE", 2)
    monkeypatch.setattr(error_rows, "GROUP_SAMPLE_SIZE", 3)
    worst = [
        result_of(f"w{index}", {"a": "x", "b": "x"}, {"a": "?", "b": "?"}) for index in range(9)
    ]
    better = [
        result_of(f"b{index:02}", {"a": "x", "b": "x"}, {"a": "x", "b": "!"}) for index in range(40)
    ]
    missed = [result_of("m", {"a": "x", "b": "x"}, {"a": "x"})]
    errors = detail_of([*better, *worst, *missed], max_errors=18).errors
    evaluation = Evaluation()
    for shown in (*better, *worst, *missed):
        evaluation.add(shown)

    listed = [*errors.rows()]
    assert {(error.path, error.outcome, error.gt, error.pred) for error in listed} == {
        ("a", "FD", '"x"', '"?"'),
        ("b", "FD", '"x"', '"?"'),
        ("b", "FD", '"x"', '"!"'),
        ("b", "FN", '"x"', None),
    }
    assert 18 + 2 + 1 <= len(listed) <= 18 + 2 + 1 + 3
    assert len({error[:2] for error in listed}) == len(listed)
    keys = {key for _, key in errors.samples if key}
    assert keys == {cause.key for cause in evaluation.fold(Causes)}


def test_where_values_stand_is_kept_of_documents_that_are_kept_whole():
    detail = detail_of(documents(1, 2, 0, 1), comparisons=2)
    place = None, 0.0, 0.0, 1.0, 1.0, False
    a_box, other = PlacedBox("a", "FD", "gt", *place), PlacedBox("b", "FD", "pred", *place)
    detail.add_boxes([("d0", [a_box]), ("d3", [a_box]), ("d1", [])])
    assert detail.boxes == {"d0": [a_box]}
    detail.add_boxes([("d1", [other])])
    assert detail.boxes == {"d0": [a_box], "d1": [other]}

    worse = detail_of([result_of("e", {"a": "x", "b": "x"}, {})], comparisons=2)
    worse.add_boxes([("e", [other])])
    detail.merge(worse)
    assert (kept_ids(detail), detail.boxes) == (["d1", "e"], {"d1": [other], "e": [other]})


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1, 1, 1, 1), (3, 5), (8,), (0, 2, 6)])
@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_errors": 3, "comparisons": 2},
        {"comparison_bytes": 300, "most_bytes": 200},
        {"comparisons": 0, "max_errors": 0},
    ],
)
def test_the_parts_of_a_run_come_to_the_whole(sizes, limits):
    results = documents(1, 2, 0, 2, 1, 1, 0, 2)
    results[3] = result_of("large", {"a": "x" * 90, "b": "y"}, {"a": "?", "b": "?"})
    cuts = [sum(sizes[:index]) for index in range(len(sizes) + 1)]

    total = empty(**limits)
    for start, end in pairwise(cuts):
        total.merge(detail_of(results[start:end], **limits))

    assert total == detail_of(results, **limits)


def test_a_long_value_is_its_beginning_and_its_length(monkeypatch):
    monkeypatch.setattr(error_rows, "MAX_DISPLAYED_CHARACTERS", 4)

    assert display_value("abcdef") == ['"abc', 8]
    assert display_value("ab") == '"ab"'
    assert display_value("\ud83d") == ['"\\ud', 8]  # half of a character that two make


def test_a_comparison_is_rows_from_the_outside_in():
    gt = {"a": "x", "items": [{"d": "x"}, {"d": "y"}], "inner": {"c": "x"}}
    pred = {"a": "?", "items": [{"d": "new"}, {"d": "x"}], "extra key": 1}

    rows = json.loads(tree_line(compare(PLAN, gt, pred)))

    assert [row[:4] for row in rows] == [
        [0, "a", "value", "FD"],
        [0, "b", "value", "TN"],
        [0, "inner", "object", "FN"],
        [1, "c", "value", "FN"],
        [0, "items", "list", "FD"],
        [1, "[0] ~ [1]", "object", "TP"],
        [2, "d", "value", "TP"],
        [1, "[1]", "object", "FN"],
        [2, "d", "value", "FN"],
        [1, "[0]", "object", "FA"],
        [2, "d", "value", "FA"],
        [0, "table", "value", "TN"],
        [0, '["extra key"]', "value", "FA"],
    ]
    assert rows[0][4:] == [0.0, 0.5, 1.0, '"x"', '"?"']
    assert rows[2][-2:] == [None, None]
    assert rows[-1][4:] == [0.0, 1.0, None, None, "1"]


def test_documents_are_kept_up_to_what_they_may_take():
    rows = [(index / 4, f"{index}", b"12345") for index in range(3)]

    def kept_comparisons(max_bytes):
        detail = Detail(DetailLimits(comparison_bytes=max_bytes))
        detail.merge(Detail(comparisons=rows))
        return kept_ids(detail)

    assert [kept_comparisons(max_bytes) for max_bytes in (4, 5, 9, 10, 15)] == [
        [],
        ["0"],
        ["0"],
        ["0", "1"],
        ["0", "1", "2"],
    ]


def test_after_a_document_that_had_no_room_none_that_is_better_is_kept():
    detail = Detail(DetailLimits(comparison_bytes=10))

    for rows in (
        [(0.0, "a", b"12345"), (0.5, "b", b"1234567")],
        [(0.75, "d", b"1")],
        [(0.6, "c", b"1")],
    ):
        detail.merge(Detail(comparisons=rows))

    assert kept_ids(detail) == ["a"]


def test_fields_that_the_page_has_no_row_for_are_not_kept():
    value = {"a": "x", "b": "y", "inner": {"c": "z"}}
    listed, all_fields = Detail(listed_fields=frozenset({("b",), ("inner", "*")})), Detail()
    for detail in (listed, all_fields):
        detail.update(result_of("1", value, {**value, "b": "?"}))

    assert {*all_fields.value_pairs} == {("a",), ("b",), ("inner", "c")}
    assert {*all_fields.histograms} == {("a",), ("b",), ("inner",), ("inner", "c")}
    assert {*listed.histograms} == {*listed.value_pairs} == {("b",), ("inner", "c")}
    for path in listed.histograms:
        assert listed.histograms[path] == all_fields.histograms[path]
        assert listed.value_pairs[path] == all_fields.value_pairs[path]
    assert listed.errors.total == all_fields.errors.total == 1
