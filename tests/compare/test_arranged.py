"""Pairs by keys and pairs in order, compared with the best of all possible pairings."""

import random
from itertools import permutations

import numpy as np
import pytest

from stickler_cli.comparators import DateComparator, NumericComparator
from stickler_cli.compare import arranged, assignment
from stickler_cli.compare.arranged import list_object_nodes, pair_arranged
from stickler_cli.compare.assignment import align
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Mode, Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.core.problems import RoomLimitError, WorkLimitError
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view
from .nodes import an_object, exact, number, text

KEYED = an_object(k=exact(), n=exact(), p=number())
PLAIN = {"type": "object", "properties": {"k": {"type": "string"}, "p": {"type": "number"}}}


def pairs_of(item, gts, preds, key=(), *, ordered=False, floor=0.2):
    """Return the pairs of each list as (index in the ground truth, index in the prediction)."""
    lists = Columns(gts, preds)
    list_indexes = np.arange(len(gts))
    assigned = pair_arranged(
        item, lists, list_indexes, list_indexes, floor, Options(), key, ordered=ordered
    )
    gt, pred, _ = lists.elements
    pairs = [[] for _ in gts]
    for owner, gt_row, pred_row in zip(assigned.owner, assigned.gt, assigned.pred, strict=True):
        pairs[owner].append((int(gt_row - gt.starts[owner]), int(pred_row - pred.starts[owner])))
    return pairs


def gain_of(item, gts, preds, key, floor, i, j):
    outcomes = [
        "absent" if None in (gts[i].get(name), preds[j].get(name)) else
        gts[i][name] == preds[j][name] for name in key
    ]  # fmt: skip
    if False in outcomes:
        return 0.0
    first = np.zeros(1, np.intp)
    similarity = item.similarity(
        Columns([gts[i]], [preds[j]]), first, first, Options(), Mode.PAIRING
    ).similarity[0]
    nearness = 1e-9 * (1 - abs(i - j) / max(len(gts), len(preds)))
    if key and "absent" not in outcomes:
        return 3 + similarity + nearness
    return similarity + nearness if similarity > floor + 1e-9 else 0.0


def best_total(gains, *, ordered):
    """Return the greatest total gain of all pairings, and the pairs that reach it.

    If several pairings reach it, the pairs are those that come first in order.
    """
    n, m = len(gains), len(gains[0])
    best, first = 0.0, []
    for chosen in permutations([*range(m), *[None] * n], n):
        paired = [partner for partner in chosen if partner is not None]
        if ordered and paired != sorted(paired):
            continue
        pairs = [(i, j) for i, j in enumerate(chosen) if j is not None and gains[i][j] > 0]
        total = sum(gains[i][j] for i, j in pairs)
        if total > best + 1e-13 or (abs(total - best) <= 1e-13 and pairs < first):
            best, first = max(total, best), pairs
    return best, first


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("key", [(), ("k",), ("k", "n")])
def test_no_pairing_that_is_allowed_has_a_greater_total(key, ordered):
    chance = random.Random(f"{key} {ordered}")  # noqa: S311

    def items():
        keys, names = [None, "a", "b", "c"], [None, "x", "y"]
        sizes = range(chance.randrange(1, 5))
        return [
            {"k": chance.choice(keys), "n": chance.choice(names), "p": chance.randrange(2)}
            for _ in sizes
        ]

    gts, preds = ([items() for _ in range(60)] for _ in range(2))
    pairs_of_lists = pairs_of(KEYED, gts, preds, key, ordered=ordered)

    for gt, pred, pairs in zip(gts, preds, pairs_of_lists, strict=True):
        rows = [
            [gain_of(KEYED, gt, pred, key, 0.2, i, j) for j in range(len(pred))]
            for i in range(len(gt))
        ]
        best, first = best_total(rows, ordered=ordered)
        assert sum(rows[i][j] for i, j in pairs) == pytest.approx(best, abs=1e-12)
        assert all(rows[i][j] > 0 for i, j in pairs)
        if ordered:
            assert pairs == first


@pytest.mark.parametrize(
    ("gains", "columns"),
    [
        ([[0.0, 0.9, 0.9], [0.8, 0.0, 0.7]], [1, 2]),
        ([[0.5, 0.5]], [0]),
        ([[0.5], [0.5]], [0, -1]),
        ([[0.0, 0.5], [0.5, 0.0]], [1, -1]),
        ([[0.1, 0.2], [0.3, 0.1]], [-1, 0]),
        ([[0.1, 0.2], [0.2, 0.1]], [0, 1]),
        ([[0.0]], [-1]),
        ([[0.9, 0.0], [0.9, 0.9], [0.0, 0.9]], [0, 1, -1]),
        # The sum of three thirds is as much as one.
        ([[0, 0, 0, 1], [1 / 3, 0, 0, 0], [0, 1 / 3, 0, 0], [0, 0, 1 / 3, 0]], [3, -1, -1, -1]),
    ],
)
def test_of_equal_alignments_it_is_the_one_whose_pairs_come_first(gains, columns):
    assert align(np.array(gains)[::-1], len(gains), len(gains[0])) == columns


def test_elements_of_one_key_are_a_pair_also_where_others_lack_it():
    gts = [[{"k": "a"}, {"n": "x", "p": 1}, {"k": "b", "n": "x"}]]
    preds = [[{"k": "b", "p": 9}, {"k": "a", "n": "z"}, {"k": "c", "n": "x", "p": 1}]]

    assert pairs_of(KEYED, gts, preds, ("k",)) == [[(0, 1), (1, 2), (2, 0)]]


@pytest.mark.parametrize(
    ("node", "first", "other", "is_same"),
    [
        (LeafNode(threshold=1.0, comparator=NumericComparator(tolerance=1)), 1, 2, True),
        (LeafNode(threshold=1.0, comparator=NumericComparator(tolerance=1)), 1, 3, False),
        (text(0.7), "Muller", "Müller", True),
        (text(0.0), "Muller", "x", True),
        (text(is_unspecified_text=True), "SKU-1001", "SKU-1002", False),
        (text(is_unspecified_text=True), "SKU-1001", " sku - 1001", True),
        (exact(), "10", 10, True),
        (exact(), "a1", {"b": 1}, False),
        (LeafNode(threshold=1.0, comparator=DateComparator()), "1/2/2024", "2 Jan 2024", True),
        (an_object(a=exact(), b=exact()), {"a": "x"}, {"a": "x", "b": "y"}, False),
    ],
)
def test_a_key_is_the_same_where_its_field_matches(node, first, other, is_same):
    item = an_object(k=node, n=exact())
    pairs = pairs_of(item, [[{"k": first}]], [[{"k": other}]], ("k",), floor=0.99)

    assert bool(pairs[0]) is is_same


def test_keys_that_are_alike_in_a_circle_are_compared_one_by_one():
    item = an_object(k=LeafNode(threshold=1.0, comparator=DateComparator()), n=exact())
    gts = [[{"k": "2024-02-01", "n": "x"}, {"k": "2024-01-02", "n": "y"}]]
    preds = [[{"k": "01/02/2024", "n": "y"}, {"k": "2024-02-01", "n": "z"}]]

    assert pairs_of(item, gts, preds, ("k",)) == [[(0, 1), (1, 0)]]


def test_too_many_like_values_of_a_key_are_not_joined(monkeypatch):
    gts, preds = [[{"k": "a 1"}, {"k": "B"}]], [[{"k": "b"}, {"k": "A1"}]]
    expected = [[(0, 1), (1, 0)]]

    assert pairs_of(KEYED, gts, preds, ("k",)) == expected
    monkeypatch.setattr(arranged, "MAX_KEY_PAIRS", 0)
    assert pairs_of(KEYED, gts, preds, ("k",)) == expected


def test_large_lists_are_compared_by_rows(monkeypatch):
    gts = [[{"k": None, "n": str(index), "p": index} for index in range(7)], [{"n": "1"}]]
    preds = [gts[0][::-1][:5], [{"n": "2"}, {"n": "1"}]]
    expected = pairs_of(KEYED, gts, preds, ("k",))

    monkeypatch.setattr(arranged, "MAX_COMPARED_PAIRS", 6)
    assert pairs_of(KEYED, gts, preds, ("k",)) == expected
    assert expected == [[(2, 4), (3, 3), (4, 2), (5, 1), (6, 0)], [(0, 1)]]


def test_the_arms_of_a_union_are_the_objects_that_an_element_may_be():
    arms = [PLAIN, {"type": "string"}, {**PLAIN, "properties": {"z": {}}}]
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": arms}}}}
    (field,) = compile_schema(schema).root.fields

    assert [
        [field.name for field in arm.fields] for arm in list_object_nodes(field.node.items)
    ] == [
        ["k", "p"],
        ["z"],
    ]


def a_schema(**said):
    rules = {f"x-aws-stickler-{name}": value for name, value in said.items()}
    return {"type": "object", "properties": {"a": {"type": "array", "items": PLAIN, **rules}}}


@pytest.mark.parametrize(
    ("price", "n_further_right"), [(2000, 0), ({"_value": 2000, "_alternatives": [0]}, 1)]
)
def test_thousands_of_keyed_items_are_joined(price, n_further_right):
    plan = compile_schema(a_schema(key="k"))
    gt = [{"k": f"K{index}", "p": index} for index in range(4000)]
    gt[2000]["p"] = price
    bare = Unwrapper(plan.root)({"a": gt}, is_truth=True)
    pred = [{"k": f"k{index}", "p": index % 1000} for index in reversed(range(5, 4000))]

    account = compare(plan, [bare.value], [{"a": pred}], Options(work_limit=1), gold=[bare.gold])

    batch = batch_of_unit(tree_of(account, 0))
    field = comparison_view(batch)["confusion_matrix"]["fields"]["a"]
    assert field["leaves"]["tp"] == 3995 + 995 + n_further_right
    assert field["overall"]["fn"] == 5


@pytest.mark.parametrize("annotations", [{"ordered": True}, {"key": "p"}])
def test_what_has_no_keys_to_join_is_charged(annotations):
    schema = a_schema(**annotations)
    schema["properties"]["a"]["items"] = {
        "type": "object",
        "properties": {
            "p": {"type": "number", "x-aws-stickler-comparator-config": {"tolerance": 1}}
        },
    }
    document = {"a": [{"p": index} for index in range(3000)]}

    with pytest.raises(WorkLimitError):
        compare(compile_schema(schema), [document], [document], Options(work_limit=1))


def test_more_cells_than_there_is_room_for_are_refused():
    schema = a_schema(key="p")
    tolerant = {"type": "number", "x-aws-stickler-comparator-config": {"tolerance": 1}}
    schema["properties"]["a"]["items"] = {"type": "object", "properties": {"p": tolerant}}
    document = {"a": [{"p": index} for index in range(9000)]}

    with pytest.raises(RoomLimitError, match=r"pairing the items of a list in field a takes more"):
        compare(compile_schema(schema), [document], [document])


def test_an_alignment_keeps_two_bits_of_a_cell(monkeypatch):
    monkeypatch.setattr("stickler_cli.compare.work.MAX_RESERVED_BYTES", 300 * 300 // 4)
    document = {"a": [f"{index:03}" for index in range(300)]}
    schema = a_schema(ordered=True)
    schema["properties"]["a"]["items"] = {"type": "string"}

    compare(compile_schema(schema), [document], [document])
    document["a"].append("300")
    with pytest.raises(RoomLimitError):
        compare(compile_schema(schema), [document], [document])


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        ([{"_value": {"k": "a", "p": 1}, "_alternatives": [{"k": "b", "p": 2}]}], "b2", {"tp": 2}),
        ([{"k": {"_value": "a", "_alternatives": ["b"]}, "p": 2}], "b2", {"tp": 2}),
        ([{"k": {"_value": "a", "_alternatives": [None]}, "p": 2}], "b2", {"fa": 2, "fn": 1}),
        ([{"k": {"_labelled": False}, "p": 2}], "b2", {"tp": 1}),
        ([{"k": "b", "p": {"_value": 1, "_alternatives": [2]}}], "b2", {"tp": 2}),
        (
            [{"_value": {"k": "a", "p": 1}, "_alternatives": [{"k": "b", "p": 2}]}, {"k": "c"}],
            "b2",
            {"tp": 2, "fn": 1},
        ),
        (
            [{"_value": {"k": "a", "p": 1}, "_alternatives": [None]}, {"k": "b", "p": 2}],
            "b2",
            {"tp": 2},
        ),
    ],
)
def test_a_key_may_have_alternatives(gt, pred, expected):
    plan = compile_schema(a_schema(key="k"))
    bare = Unwrapper(plan.root)({"a": gt}, is_truth=True)
    predicted = {"a": [{"k": pred[0], "p": int(pred[1])}]}
    empty_case = {"a": [{"k": "a", "p": 1}]}  # as documents that say nothing, in the same chunk

    account = compare(
        plan, [empty_case, bare.value], [empty_case, predicted], gold=[None, bare.gold]
    )

    counts = comparison_view(batch_of_unit(tree_of(account, 1)))["confusion_matrix"]["leaves"]
    assert {name: counts[name] for name in ("tp", "fd", "fa", "fn") if counts[name]} == expected


def test_a_product_is_made_and_assigned_so_that_libraries_take_what_they_need(monkeypatch):
    assigned = []
    monkeypatch.setattr(assignment, "assign_all", lambda gains: assigned.append(gains.tolist()))
    assignment.assign_product(2)
    assert assigned == [[[2.0, 2.0], [2.0, 2.0]]]
