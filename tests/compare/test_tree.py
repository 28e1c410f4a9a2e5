"""The explanation of a comparison agrees with the comparison."""

import json
from pathlib import Path

import numpy as np
import pytest

from stickler_cli.comparators.base import Answers, BaseComparator
from stickler_cli.comparators.exact import ExactComparator
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import Outcome
from stickler_cli.compare.tree import Candidate, Pairing, Sum, explain, tree_of
from stickler_cli.schema.compiler import compile_schema

CASES = Path(__file__).parents[1] / "cases" / "documents.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]

TEXT = {"type": "string"}
EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}


def an_object(**properties):
    return {"type": "object", "properties": properties}


def a_list(items, **keys):
    return {"type": "array", "items": items, **keys}


def explained(schema, gt, pred, **options):
    plan = compile_schema(schema)
    chosen = Options(**options)
    root = tree_of(compare(plan, [gt], [pred], chosen), 0, chosen)
    explain(root)
    return root


def place_at(place, *path):
    """Return the unit at a path below `place`.

    A text in the path is the name of a field, a number the position of a child.
    """
    for step in path:
        place = (
            place.parts[step]
            if isinstance(step, int)
            else next(child for child in place.parts if child.gt_path[-1] == step)
        )
    return place


def sums(place):
    """Yield each unit whose sum is wrong.

    A sum must be that of the children, and must give the unit's score before clipping.
    """
    if place.sum is not None:
        added = sum(child.adds for child in place.parts if child.adds is not None)
        of_parts = added == pytest.approx(place.sum.total, abs=1e-12)
        reached = place.sum.value == pytest.approx(place.score, abs=1e-12)
        is_clipped = place.score == 0.0 and place.outcome is Outcome.FD
        if not of_parts or not (reached or is_clipped):
            yield place
    for child in place.parts:
        yield from sums(child)


def weights(place):
    """Yield each object whose divisor is not the total weight of its present fields."""
    if place.kind == "object" and place.sum is not None:
        present = [
            child.weight
            for child in place.parts
            if child.weight and child.outcome is not Outcome.TN
        ]
        if place.sum.divisor != pytest.approx(sum(present)):
            yield place
    for child in place.parts:
        yield from weights(child)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in ROWS])
def test_the_sums_of_every_document_lead_to_its_score(row):
    options = row.get("options", {})
    chosen = {key: options[key] for key in ("pairing_floor", "extra_fields") if key in options}
    root = explained(row["schema"], row["gt"], row["pred"], **chosen)

    assert root.score == pytest.approx(row["expect"]["overall_score"], abs=1e-9)
    assert root.sum.value == pytest.approx(root.score, abs=1e-12)
    assert list(sums(root)) == []
    assert list(weights(root)) == []


def test_a_value_is_told_with_all_that_its_comparison_says():
    stated = {**TEXT, "x-aws-stickler-threshold": 0.5, "x-aws-stickler-weight": 2}
    root = explained(an_object(a=stated, b=EXACT), {"a": "abcd", "b": "x"}, {"a": "abcx", "b": "y"})
    place = place_at(root, "a")
    assert (place.gt_path, place.pred_path, place.kind) == (("a",), ("a",), "leaf")
    assert (place.gt, place.pred, place.outcome) == ("abcd", "abcx", Outcome.TP)
    assert (place.similarity, place.score, place.threshold) == (0.75, 0.75, 0.5)
    assert (place.comparator, place.threshold_source) == ("LevenshteinComparator", "annotation")
    assert (place.weight, place.adds) == (2, 1.5)
    assert (place_at(root, "b").comparator, place_at(root, "b").outcome) == (
        "ExactComparator",
        Outcome.FD,
    )
    assert (root.kind, root.comparator, root.own_gt, root.own_pred) == ("object", "", None, None)


class Judge(BaseComparator):
    asks_models = True
    pairing = ExactComparator()

    def similarity(self, gt, pred):
        return 0.5

    def ask(self, client, gts, preds):
        return Answers(np.full(len(gts), 0.5), [f"{len(gts)} asked"] * len(gts))


def test_what_a_judge_says_is_told_of_a_value():
    leaf = LeafNode(threshold=0.5, comparator=Judge())
    plan = Plan(ObjectNode(threshold=0.7, fields=(Field("a", leaf), Field("b", leaf))), "Judged")
    options = Options(client=object())
    tree = tree_of(compare(plan, [{"a": "x"}], [{"a": "y"}], options), 0, options)
    assert [(child.reason, child.similarity) for child in tree.parts] == [
        ("1 asked", 0.5),
        ("", 1.0),
    ]


def test_values_of_different_kinds_are_told_whole():
    root = explained(an_object(o=an_object(a=TEXT), t=a_list(TEXT)), {"o": {"a": "x"}}, {"o": "x"})
    child = place_at(root, "o")
    assert (child.gt, child.pred, child.outcome) == ({"a": "x"}, "x", Outcome.FD)
    assert (place_at(root, "t").kind, place_at(root, "t").gt) == ("list", None)


def test_an_item_is_told_as_its_list_judges_it():
    rows = a_list(an_object(a=EXACT, b=EXACT, c=EXACT))
    gt = {"rows": [{"a": "1", "b": "2", "c": "3"}, {"a": "7", "b": "8", "c": "9"}]}
    pred = {"rows": [{"a": "1", "b": "2", "c": "4"}]}
    rows_place = place_at(explained(an_object(rows=rows), gt, pred), "rows")
    first, second = rows_place.parts
    assert (first.outcome, first.similarity, first.threshold) == (
        Outcome.FD,
        pytest.approx(2 / 3),
        0.7,
    )
    assert (first.own_gt, first.own_pred, first.gt_path) == (None, None, ("rows", 0))
    assert (second.outcome, second.gt, second.pred) == (Outcome.FN, gt["rows"][1], None)
    assert (second.gt_path, second.pred_path, second.adds) == (("rows", 1), ("rows", 1), 0.0)
    assert (rows_place.own_gt, rows_place.own_pred, rows_place.sum.divisor) == (None, None, 2)


def test_an_item_that_matches_may_be_an_object_that_would_not():
    annotations = {"x-aws-stickler-match-threshold": 0.6, "x-aws-stickler-threshold": 0.9}
    item = {**an_object(a=EXACT, b=EXACT, c=EXACT), **annotations}
    schema = an_object(
        rows=a_list(item), one=item, pair={"type": "array", "prefixItems": [item, item, item]}
    )

    def document(c):
        values = {"a": "1", "b": "2", "c": c}
        return {"rows": [values], "one": values, "pair": [values]}

    gt, pred = document("3"), document("4")
    gt["pair"], pred["pair"] = [*gt["pair"], None, gt["one"]], [*pred["pair"], pred["one"]]
    root = explained(schema, gt, pred)

    def judgement_of(*path):
        place = place_at(root, *path)
        return place.outcome, place.threshold, place.threshold_source

    assert judgement_of("rows", 0) == (Outcome.TP, 0.6, "match-threshold")
    assert judgement_of("one") == (Outcome.FD, 0.9, "annotation")
    assert judgement_of("pair", 0) == (Outcome.FD, 0.9, "annotation")
    # Two values on either side, and three positions.
    assert place_at(root, "pair").sum == Sum(pytest.approx(2 / 3), 3)


ITEM = an_object(a=TEXT)
THRESHOLD_09 = {"x-aws-stickler-threshold": 0.9}
MATCH_THRESHOLD_06 = {"x-aws-stickler-match-threshold": 0.6}
MAP = {"type": "object", "additionalProperties": TEXT}
A_TUPLE = {"type": "array", "prefixItems": [TEXT]}
AN_ITEM = {"a": "x"}


@pytest.mark.parametrize(
    ("field", "value", "path", "expected"),
    [
        (TEXT, "x", (), (0.5, "default")),
        ({**TEXT, **THRESHOLD_09}, "x", (), (0.9, "annotation")),
        ({**ITEM, **MATCH_THRESHOLD_06}, AN_ITEM, (), (0.6, "match-threshold")),
        ({**ITEM, **THRESHOLD_09, **MATCH_THRESHOLD_06}, AN_ITEM, (), (0.9, "annotation")),
        (ITEM, AN_ITEM, (), (0.7, "default")),
        (a_list({**ITEM, **MATCH_THRESHOLD_06}), [AN_ITEM], (0,), (0.6, "match-threshold")),
        (a_list(ITEM), [AN_ITEM], (0,), (0.7, "default")),
        (a_list(TEXT, **THRESHOLD_09), ["x"], (0,), (0.9, "annotation")),
        (A_TUPLE | {"prefixItems": [{**TEXT, **THRESHOLD_09}]}, ["x"], (0,), (0.9, "annotation")),
        (a_list(a_list({**TEXT, **THRESHOLD_09})), [["x"]], (0,), (0.9, "annotation")),
        (
            MAP | {"additionalProperties": {**ITEM, **THRESHOLD_09}},
            {"k": AN_ITEM},
            ("k",),
            (0.9, "annotation"),
        ),
        (a_list({**MAP, **MATCH_THRESHOLD_06}), [AN_ITEM], (0,), (0.6, "match-threshold")),
        (a_list(a_list(a_list(TEXT), **THRESHOLD_09)), [[["x"]]], (0,), (0.9, "annotation")),
        (a_list(a_list(a_list(TEXT))), [[["x"]]], (0,), (0.5, "default")),
        (a_list({**A_TUPLE, **THRESHOLD_09}), [["x"]], (0,), (0.9, "annotation")),
        (a_list(A_TUPLE), [["x"]], (0,), (0.5, "default")),
        # Without a schema.
        (MATCH_THRESHOLD_06, [AN_ITEM], (0,), (0.6, "match-threshold")),
        ({}, {"b": [["y"]]}, (), (0.7, "default")),
        ({}, {"b": [["y"]]}, ("b", 0), (0.5, "default")),
    ],
)
def test_the_source_of_a_threshold_is_told(field, value, path, expected):
    place = place_at(explained(an_object(x=field), {"x": value}, {"x": value}), "x", *path)

    assert (place.threshold, place.threshold_source) == expected


def test_the_first_present_element_of_a_list_says_who_said_its_threshold():
    item = {**an_object(a=TEXT), "x-aws-stickler-match-threshold": 0.6}
    arms = [{**TEXT, "x-aws-stickler-threshold": 0.9}, {"type": "number"}, item]
    schema = an_object(grid=a_list(a_list({"anyOf": arms})))
    rows = [[None, "x", 1], [None, "", 1, "x"], [{}, {"a": "x"}, 1], [[], 1, {"a": "x"}], ["x"]]
    root = explained(schema, {"grid": rows}, {"grid": rows})

    places = [place_at(root, "grid", index) for index in range(len(rows))]
    assert [(place.threshold, place.threshold_source) for place in places] == [
        (0.9, "annotation"),
        (0.5, "default"),
        (0.6, "match-threshold"),
        (0.5, "default"),
        (0.9, "annotation"),
    ]


def test_the_first_element_of_lists_in_lists_is_looked_for_at_every_level():
    arms = [{**TEXT, "x-aws-stickler-threshold": 0.9}, {"type": "number"}]
    schema = an_object(cube=a_list(a_list(a_list({"anyOf": arms}))))
    cube = [[["x", 1]], [[None, 1, "x"]], [[], [None, "x"]]]
    root = explained(schema, {"cube": cube}, {"cube": cube})

    places = [place_at(root, "cube", index) for index in range(len(cube))]
    assert [(place.threshold, place.threshold_source) for place in places] == [
        (0.9, "annotation"),
        (0.5, "default"),
        (0.9, "annotation"),
    ]


ROWS_SCHEMA = an_object(rows=a_list(an_object(sku=EXACT, qty={"type": "integer"}, unit=EXACT)))


def row(sku, qty, unit="pc"):
    return {"sku": sku, "qty": qty, "unit": unit}


def test_a_pair_tells_the_runner_up_and_whom_that_went_with():
    root = explained(
        ROWS_SCHEMA, {"rows": [row("a", 1), row("b", 1)]}, {"rows": [row("b", 1), row("a", 1)]}
    )

    # Of the other row, unit and quantity are right: 2/3.
    first, second = place_at(root, "rows").parts
    assert first.pairing == Pairing(0, 1, Candidate(0, pytest.approx(2 / 3), 1))
    assert second.pairing == Pairing(1, 0, Candidate(1, pytest.approx(2 / 3), 0))
    assert (first.pairing.paired, Pairing(1, None, None).paired) == (True, False)
    assert (first.gt_path, first.pred_path) == (("rows", 0), ("rows", 1))
    assert place_at(first, "sku").pred_path == ("rows", 1, "sku")


def test_an_element_without_a_pair_tells_the_best_that_there_was():
    gt = {"rows": [row("a", 1), row("b", 2, "kg")]}
    root = explained(ROWS_SCHEMA, gt, {"rows": [row("a", 1), row("z", 9, "m"), None]})

    rows = place_at(root, "rows")
    assert [child.pairing for child in rows.parts] == [
        Pairing(0, 0, None),
        Pairing(1, None, None),
        Pairing(None, 1, None),
    ]
    assert (rows.floor, rows.floor_source, rows.sum) == (0.2, "run", Sum(1.0, 2))

    tags = an_object(tags=a_list(TEXT, **{"x-aws-stickler-pairing-floor": 0.5}))
    root = explained(tags, {"tags": ["abcd", "abce"]}, {"tags": ["xbyd", "abcd"]})
    # abcd goes with abcd; abce and xbyd share the b alone, abce and abcd three of four.
    tags_place = place_at(root, "tags")
    assert (tags_place.floor, tags_place.floor_source) == (0.5, "annotation")
    assert [child.pairing for child in tags_place.parts] == [
        Pairing(0, 1, Candidate(0, 0.5, None)),
        Pairing(1, None, Candidate(1, 0.75, 0)),
        Pairing(None, 0, Candidate(0, 0.5, 1)),
    ]


def test_an_element_that_an_open_list_leaves_out_is_the_best_of_none():
    tags = an_object(tags=a_list(TEXT, **{"x-aws-stickler-exhaustive": False}))
    root = explained(tags, {"tags": ["abcd", "wxyz"]}, {"tags": ["abcd", "abce"]})

    pairings = [child.pairing for child in place_at(root, "tags").parts]
    assert pairings == [Pairing(0, 0, Candidate(1, 0.75, None)), Pairing(1, None, None)]


def test_what_one_side_lacks_has_no_sum_and_its_whole_value():
    schema = an_object(o=an_object(a=TEXT), t=a_list(TEXT), s=a_list(TEXT))
    root = explained(schema, {"o": {"a": "x"}, "t": ["y"]}, {})

    assert (place_at(root, "o").gt, place_at(root, "o").sum, place_at(root, "o").adds) == (
        {"a": "x"},
        None,
        0,
    )
    assert (
        place_at(root, "t").gt,
        place_at(root, "t", 0).adds,
        place_at(root, "t", 0).pairing,
    ) == (
        ["y"],
        None,
        None,
    )
    assert place_at(root, "s").parts == ()


def test_extra_keys_take_no_part_and_undeclared_ones_are_named():
    root = explained(an_object(a=TEXT), {"a": "x", "old": 1}, {"a": "x", "new": 2})

    extra = place_at(root, "new")
    assert (extra.own_gt, extra.own_pred) == (None, 2)
    assert extra.is_extra_key
    assert (extra.outcome, extra.pred, extra.adds) == (Outcome.FA, 2, None)
    assert (extra.kind, extra.gt_path, extra.pred_path) == ("leaf", ("new",), ("new",))
    assert (extra.similarity, extra.score, extra.threshold) == (0.0, 0.0, 0.0)
    assert (extra.threshold_source, extra.gt) == ("default", None)
    assert (root.sum, root.undeclared_keys) == (Sum(1.0, 1.0), ("old",))


def test_positions_of_a_tuple_have_no_runner_up():
    schema = an_object(t={"type": "array", "prefixItems": [TEXT, TEXT], "items": TEXT})
    root = explained(schema, {"t": ["ab", "x", "y"]}, {"t": ["ax", "x"]})

    tuple_place = place_at(root, "t")
    assert (tuple_place.kind, tuple_place.floor) == ("tuple", None)
    assert tuple_place.sum == Sum(1.5, 3)
    assert [child.pairing for child in tuple_place.parts] == [None, None, None]
    last = tuple_place.parts[2]
    assert (last.outcome, last.adds, last.pred_path) == (Outcome.FN, 0.0, ("t", 2))
    longer = place_at(explained(schema, {"t": ["ab"]}, {"t": ["ab", "x", "y"]}), "t")
    assert (longer.sum, longer.parts[2].gt_path) == (Sum(1.0, 3), ("t", 2))
    assert place_at(explained(schema, {"t": ["ab"]}, {}), "t").sum is None
    assert place_at(explained(schema, {"t": ["ab"]}, {"t": [None, "b"]}), "t").sum == Sum(0.0, 2)


def test_a_place_is_right_if_nothing_in_it_is_wrong():
    schema = an_object(rows=a_list(an_object(a=TEXT, b=TEXT, c=TEXT, d=TEXT)))
    gt = {"rows": [{"a": "1", "b": "2", "c": "3", "d": "4"}]}
    pred = {"rows": [{"a": "1", "b": "2", "c": "3", "d": "9"}]}

    assert not place_at(explained(schema, gt, pred), "rows", 0).is_right
    assert place_at(explained(schema, gt, gt), "rows").is_right
