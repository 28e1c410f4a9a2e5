"""Lists inside list items are paired only once, and the kept pairs are rarely copied."""

import numpy as np
import pytest

from stickler_cli.compare.columns import NOTHING
from stickler_cli.compare.engine import compare
from stickler_cli.compare.paired_lists import PairedLists, _KeyRun
from stickler_cli.compare.pairing import ListPairs
from stickler_cli.compare.plan import Options
from stickler_cli.core.problems import RoomLimitError
from stickler_cli.schema.compiler import compile_schema


def make_pairs(owners, first_item):
    items = first_item + np.arange(len(owners))
    return ListPairs(
        owner=np.array(owners, np.intp), gt=items, pred=items + 1, similarity=items / 10.0
    )


def test_rows_of_later_additions_have_their_own_pairs():
    kept = PairedLists(np.array([3, 8]), make_pairs([0, 0, 1], first_item=0))
    kept.add(np.array([5]), make_pairs([], first_item=3))
    kept.add(np.array([1, 9]), make_pairs([0, 1, 1], first_item=3))

    rows = kept.rows_of(np.array([9, 3, 5, 4]))

    assert rows.tolist() == [4, 0, 2, NOTHING]
    assert kept.count_pairs(rows[:3]).tolist() == [2, 2, 0]
    # Items 4 and 5 belong to key 9, items 0 and 1 to key 3; the similarity of item n is n / 10.
    assert kept.sums(rows[:3]).tolist() == pytest.approx([0.9, 0.1, 0.0])
    pairs = kept.pairs_of(rows[:3])
    assert pairs.owner.tolist() == [0, 0, 1, 1]
    assert pairs.gt.tolist() == [4, 5, 0, 1]
    assert pairs.pred.tolist() == [5, 6, 1, 2]
    assert pairs.similarity.tolist() == pytest.approx([0.4, 0.5, 0.0, 0.1])


def test_a_key_is_sorted_about_log2_n_times_however_small_the_additions_are(monkeypatch):
    n_sorted = [0]
    merge = _KeyRun.merge

    def count_keys(run, other):
        n_sorted[0] += len(run.keys) + len(other.keys)
        return merge(run, other)

    monkeypatch.setattr(_KeyRun, "merge", count_keys)
    n_keys = 1024
    kept = PairedLists(np.array([0]), make_pairs([0], first_item=0))
    for key in range(1, n_keys):
        kept.add(np.array([key]), make_pairs([0], first_item=key))

    # A run is merged only into one that is longer by half at least: 2 log2(n) merges for a key.
    assert n_sorted[0] <= 2 * 10 * n_keys
    assert kept.rows_of(np.arange(n_keys)).tolist() == [*range(n_keys)]


def test_memory_has_at_most_a_quarter_of_spare_room():
    kept = PairedLists(np.array([0]), make_pairs([0], first_item=0))
    for key in range(1, 1000):
        kept.add(np.array([key]), make_pairs([0], first_item=key))

    used_bytes = 1000 * 7 * 8  # key, row, sum, end, and three numbers for the only pair
    assert used_bytes <= kept.n_bytes <= 1.25 * used_bytes


def nested_schema(depth):
    schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return {"type": "object", "properties": {"a": schema}}


def test_small_nested_lists_that_multiply_are_refused_with_the_field_and_advice(monkeypatch):
    monkeypatch.setattr("stickler_cli.compare.work.MAX_RESERVED_BYTES", 1 << 20)
    value = [[number] for number in range(6)]
    for _ in range(3):
        value = [value] * 6
    document = {"a": value}

    with pytest.raises(RoomLimitError) as error:
        compare(compile_schema(nested_schema(5)), [document], [document], Options())

    (problem,) = error.value.problems
    assert (
        problem.found == "results for lists inside lists in field a take more than 1 MB of memory"
    )
    assert '"x-aws-stickler-pairing": "position"' in problem.hint
