from collections import Counter

import numpy as np
import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import field_names
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score import folds
from stickler_cli.score.comparison_view import counts_view, sums_view
from stickler_cli.score.errors.causes import ErrorCounts
from stickler_cli.score.field_counts import FieldCounts
from stickler_cli.score.folds import PathCounts
from stickler_cli.score.sums import (
    MOMENT_NAMES,
    SCORE_SCALE,
    Counts,
    FieldTallies,
    RateRule,
    Rates,
    Tally,
    moment_matrix,
    scale_score,
    sum_counts,
    sum_scores,
)
from .batches import TEXT, X, a_list, an_object, batch, cells_of, not_compared


def counted(documents):
    return sum_counts(documents.counts)


def tallied(schema, gt, pred, **options):
    return counted(batch(compile_schema(schema), {"": (gt, pred)}, Options(**options)))


def by_mode(node):
    node = node[()] if isinstance(node, FieldTallies) else node
    return tuple(node.counts(mode) for mode in ("overall", "aggregate", "leaves"))


def thrice(**counts):
    return (Counts(**counts),) * 3


# The match-threshold is 0.7: two fields of three right are too few, three of four are enough.
LINE = an_object(sku=TEXT, name=TEXT, note=TEXT)
ORDER = an_object(lines=a_list(LINE))


def line(sku, name, note=None):
    return {"sku": sku, "name": name, "note": note}


def test_an_element_where_another_kind_is_found_is_one_unit_and_both_sides_are_leaves():
    items = a_list(an_object(a=TEXT, b=TEXT))

    root = tallied(
        an_object(l=items), {"l": [{"a": "x", "b": "y"}]}, {"l": ["x"]}, pairing_floor=-1
    )

    assert by_mode(root["l",]) == (Counts(fd=1), Counts(fd=1), Counts(fn=2, fa=1))


def test_undeclared_keys_of_the_ground_truth_are_noted():
    schema = an_object(o=an_object(a=TEXT), p=an_object(a=TEXT))
    gt = {"x": 1, "y": None, "o": {"a": "v", "z": 1}, "p": {"z": 2}}

    counts = PathCounts()
    counts.add(batch(compile_schema(schema), {"": (gt, {"x": 1, "o": {"a": "v"}})}), None)

    assert counts.undeclared_keys == {("x",): 1, ("o", "z"): 1, ("p", "z"): 1}


def test_undeclared_keys_of_the_prediction_are_noted_by_the_object_that_they_are_in():
    schema = an_object(rows=a_list(an_object(a=TEXT)))
    gt = [{"a": "u"}, {"a": "v"}, {"a": "w"}]
    pred = [{"a": "u", "x": 1}, {"a": "v"}, {"a": "w", "x": 2, "y": 3}]

    compared = batch(compile_schema(schema), {"": ({"rows": gt}, {"rows": pred, "z": 4})})
    counts = PathCounts()
    counts.add(compared, None)

    assert counts.extra_keys == {("z",): 1, ("rows", "x"): 2, ("rows", "y"): 1}
    assert by_mode(counted(compared)["rows",])[1:] == (Counts(tp=3, fa=3),) * 2


def test_of_very_many_undeclared_keys_the_same_are_named_in_any_order(monkeypatch):
    monkeypatch.setattr(folds, "MAX_KEYS", 5)
    monkeypatch.setattr(folds, "MAX_KEY_CHARACTERS", 20)
    plan = compile_schema(an_object(a=TEXT))
    # Ten keys in 1 to 10 documents each, and one that is too long for a name, in 11.
    numbers = [number for number in range(10) for _ in range(number + 1)]
    documents = [({"a": "x", f"g{number}": 1}, {f"p{number}": 1}) for number in numbers]
    documents += [({"k" * 21: 1}, {"k" * 22: 1})] * 11
    counted = {}
    for name, sizes in {"one by one": 1, "in fours": 4, "together": len(documents)}.items():
        for direction in (1, -1):
            ordered = documents[::direction]
            total = PathCounts()
            for start in range(0, len(ordered), sizes):
                shard = PathCounts()
                chunk = enumerate(ordered[start : start + sizes])
                shard.add(batch(plan, {str(index): pair for index, pair in chunk}), None)
                total.merge(shard)
            counted[name, direction] = total

    first, *other_counts = counted.values()
    assert all(other == first for other in other_counts)
    assert len(first.undeclared_keys) == len(first.extra_keys) == 5
    for keys, name in (
        (first.undeclared_keys, "undeclared_keys"),
        (first.extra_keys, "extra_keys"),
    ):
        assert all(count == int(key[1:]) + 1 for (key,), count in keys.items())
        assert keys.total() + first.unnamed[name] == len(documents)
    record = first.view(None)
    assert record["extra_keys_unnamed"] == first.unnamed["extra_keys"]
    again = PathCounts()
    lists = ("undeclared_keys", "extra_keys")
    again.restore(
        {**record}
        | {
            name: [entry | {"field": field_names(entry["field"])} for entry in record[name]]
            for name in lists
        }
    )
    assert again == first


def test_fields_have_scores_but_not_below_a_list_or_an_absent_side():
    schema = an_object(
        o=an_object(a=TEXT), lines=a_list(LINE), gone=an_object(b={**TEXT, X + "weight": 3})
    )
    document = {"o": {"a": "abcd"}, "lines": [line("1", "bolt")], "gone": {"b": "x"}}

    root = tallied(schema, document, {**document, "o": {"a": "abcx"}, "gone": None})

    assert root["o", "a"].mean_similarity == 0.75
    assert root["lines",].mean_score == 1.0
    assert root["lines", "sku"].n_scored == 0
    assert root["lines", "sku"].mean_similarity is None
    assert root["lines", "sku"].mean_score is None
    assert root["gone",].mean_score == 0.0
    assert root["gone", "b"].weight is None


def test_what_an_alternative_is_worth_is_known_where_both_sides_have_the_object_around_it():
    arms = [{**TEXT, X + "weight": 1}, {"type": "number", X + "weight": 2}]
    schema = an_object(o=an_object(a={"anyOf": arms}))
    text, number = {"o": {"a": "x"}}, {"o": {"a": 1}}
    pairs = {"1": (text, text), "2": (number, {}), "3": (number, number)}

    root = counted(batch(compile_schema(schema), pairs))

    assert root["o", "a"].weight == 2
    assert root["o", "a"].n_scored == 2


def test_documents_add_up():
    inner = {**an_object(b=TEXT), X + "weight": 0.5}
    schema = an_object(a={**TEXT, X + "weight": 2}, o=inner)
    first = tallied(schema, {"a": "abcd", "x": 1}, {"a": "abcx"})
    second = tallied(schema, {"a": "ab", "x": 1, "o": {"b": "c"}}, {"a": "zz", "o": {"b": "c"}})

    first.merge(second)

    assert by_mode(first[()]) == (
        Counts(tp=2, fd=1, tn=1),
        Counts(tp=2, fd=1, tn=1),
        Counts(tp=2, fd=1, tn=1),
    )
    assert first["a",].n_scored == 2
    assert first["a",].mean_similarity == 0.375
    assert (first["a",].weight, first["o",].weight) == (2, 0.5)
    assert by_mode(first["o", "b"]) == thrice(tp=1)


def test_keys_that_some_documents_have_count_in_the_objects_of_these():
    keys = {"type": "object", "additionalProperties": a_list(TEXT)}
    schema = an_object(a=TEXT, o=an_object(b=TEXT, m=keys, n=keys))
    values = [{}, {"b": "x", "m": {"k": ["u"]}}, {"m": {"l": ["v", "w"]}, "n": {"k": ["v"]}}]
    pairs = {
        f"{index},{other}": ({"a": "x", "o": gt}, {"a": "x", "o": pred})
        for index, gt in enumerate(values)
        for other, pred in enumerate(values)
    }

    together, separate = counted(batch(compile_schema(schema), pairs)), FieldTallies()
    for gt, pred in pairs.values():
        separate.merge(tallied(schema, gt, pred))

    modes_by_path = [
        {path: by_mode(node) for path, node in tallies.items()} for tallies in (together, separate)
    ]
    assert modes_by_path[0] == modes_by_path[1]


def test_the_weight_of_a_field_is_its_greatest():
    light, heavy, unscored = Tally(weight=0.25), Tally(weight=0.5), Tally()
    heavy.merge(light)
    light.merge(unscored)
    unscored.merge(heavy)

    assert (heavy.weight, light.weight, unscored.weight) == (0.5, 0.25, 0.5)


def test_merging_counts_that_are_new_copies_them():
    source, target = tallied(an_object(a=TEXT), {"a": "x"}, {"a": "x"}), FieldTallies()
    target.merge(source)
    target.merge(source)

    assert by_mode(source["a",]) == thrice(tp=1)
    assert by_mode(target["a",]) == thrice(tp=2)


def test_scores_add_as_whole_numbers():
    assert scale_score(1.0) == SCORE_SCALE
    assert scale_score(0.0) == 0
    assert sum(map(scale_score, (0.1, 0.2, 0.3))) == sum(map(scale_score, (0.3, 0.2, 0.1)))
    assert scale_score(0.1) / SCORE_SCALE == 0.1


def test_spans_of_scores_add_exactly_beyond_64_bits():
    random, least = np.random.default_rng(0).random(500), np.full(3, 1 / SCORE_SCALE)
    scores = np.concatenate([random, np.ones(40), least])
    starts = [0, 1, 7, 300, 500]

    spans = zip(starts, [*starts[1:], len(scores)], strict=True)
    expected = [sum(map(scale_score, scores[first:end].tolist())) for first, end in spans]
    assert sum_scores(scores, np.array(starts)) == expected


def test_fields_stand_parents_first():
    root = tallied(an_object(o=an_object(a=TEXT), b=TEXT), {"o": {"a": "x"}}, {"o": {"a": "x"}})

    assert list(root) == [(), ("o",), ("o", "a"), ("b",)]


def test_a_view_has_scores_only_where_there_are_some():
    root = tallied(ORDER, {"lines": [line("1", "bolt")]}, {"lines": [line("1", "bolt")]})
    view = sums_view(root, recall_with_fd=False)

    assert set(view) == {"overall", "aggregate", "leaves", "fields"}
    lines = view["fields"]["lines"]
    assert lines["raw_similarity_score"] == lines["similarity_score"] == 1.0
    assert (lines["threshold_applied_score"], lines["weight"]) == (1.0, 1.0)
    assert set(lines["fields"]["sku"]) == {"overall", "aggregate", "leaves"}


def test_a_view_may_count_false_discoveries_in_recall_all_the_way_down():
    root = tallied(an_object(a=TEXT), {"a": "x"}, {"a": "y"})
    root.merge(tallied(an_object(a=TEXT), {"a": "x"}, {"a": "x"}))

    for with_fd, recall in ((False, 1.0), (True, 0.5)):
        view = sums_view(root, recall_with_fd=with_fd)
        assert view["overall"]["derived"]["cm_recall"] == recall
        assert view["fields"]["a"]["leaves"]["derived"]["cm_recall"] == recall


def test_of_a_document_that_was_not_compared_nothing_is_counted():
    missing = not_compared("x")

    assert missing.counts is None
    assert missing.tree(0) is None


def test_an_object_where_another_kind_is_found_counts_in_leaves_alone_in_an_item_not_found():
    item = an_object(a=TEXT, b=TEXT, o=an_object(c=TEXT, d=TEXT))
    schema = an_object(rows=a_list(item))
    gt, pred = {"a": "1", "b": "2", "o": {"c": "x"}}, {"a": "1", "b": "3", "o": ["y", "z"]}

    root = tallied(schema, {"rows": [gt]}, {"rows": [pred]})

    # One of three fields is right. A value of another kind than the declared one is one leaf;
    # d, which is absent, counts nothing.
    mismatch = root["rows", "o"]
    assert by_mode(root["rows",])[:2] == (Counts(fd=1), Counts(fd=1))
    assert by_mode(mismatch) == (Counts(), Counts(), Counts(fn=1, fa=1))


def test_a_key_that_opts_in_leaves_the_others_out_of_the_objects_that_have_it():
    schema = {**an_object(a=TEXT), "additionalProperties": {**TEXT, X + "aggregate": True}}
    pairs = {"1": ({"a": "x", "k": "y"}, {"a": "z", "k": "y"}), "2": ({"a": "x"}, {"a": "x"})}

    root = counted(batch(compile_schema(schema), pairs))

    # `aggregate` has k of the first and a of the second; the others have all fields.
    assert by_mode(root[()]) == (Counts(tp=2, fd=1), Counts(tp=2), Counts(tp=2, fd=1))
    assert by_mode(root["a",]) == thrice(tp=1, fd=1)


def test_a_field_that_counts_in_one_arm_only_is_one_field():
    arms = [
        an_object(a=TEXT, b=TEXT),
        an_object(a={**TEXT, X + "aggregate": False}, b={"type": "number"}),
    ]
    schema = an_object(rows=a_list({"anyOf": arms}))
    rows = {"rows": [{"a": "u", "b": "v"}, {"a": "w", "b": 1}]}

    compared = batch(compile_schema(schema), {"1": (rows, rows)})

    paths = [path for path, _ in compared.counts.fields()]
    assert sorted(paths) == [(), ("rows",), ("rows", "a"), ("rows", "b")]
    assert len(compared.counts.documents) == 4
    root = counted(compared)
    assert by_mode(root["rows", "a"]) == thrice(tp=2)
    assert root[()].counts("aggregate") == (3, 0, 0, 0, 0)  # all but a of the second
    assert root[()].counts("leaves") == (4, 0, 0, 0, 0)


def test_squares_of_scores_add_as_whole_numbers_too():
    root = tallied(an_object(a=TEXT), {"a": "ab"}, {"a": "ax"})

    assert root["a",].score_sum == SCORE_SCALE // 2
    assert root["a",].score_square_sum == SCORE_SCALE // 4


def test_extra_keys_of_an_item_below_its_threshold_count_in_leaves_alone():
    schema = an_object(lines=a_list(an_object(a=TEXT, b=TEXT, c=TEXT)))
    gt, pred = {"a": "x", "b": "u", "c": "v"}, {"a": "x", "b": "1", "c": "2", "new": 3}

    root = tallied(schema, {"lines": [gt]}, {"lines": [pred]})

    assert by_mode(root["lines",]) == (Counts(fd=1), Counts(fd=1), Counts(tp=1, fd=2, fa=1))


def test_the_counts_of_one_of_several_documents_are_those_that_it_has_alone():
    schema = an_object(
        a=TEXT, lines=a_list(LINE), m={"type": "object", "additionalProperties": TEXT}
    )
    pairs = {
        "1": ({"a": "x", "m": {"k": "x"}}, {"a": "y", "m": {"k": "x"}}),
        "2": ({"lines": [line("a", "b")]}, {"a": "y", "lines": [line("a", "c")]}),
        "3": ({"a": "x", "m": {"l": "x"}}, {"a": "x", "m": {"k": "x"}}),
    }
    plan = compile_schema(schema)
    together = batch(plan, pairs)

    for index, (name, pair) in enumerate(pairs.items()):
        single = batch(plan, {name: pair})
        expected = sums_view(counted(single), recall_with_fd=True)
        assert counts_view(together, index, recall_with_fd=True) == expected
        assert counts_view(single, recall_with_fd=True) == expected


def test_counts_can_be_shown_without_rates():
    root = counts_view(
        batch(compile_schema(an_object(a=TEXT)), {"": ({"a": "x"}, {"a": "x"})}), derived=False
    )

    assert root["overall"] == {"tp": 1, "fd": 0, "fa": 0, "fn": 0, "fp": 0, "tn": 0}
    assert root["fields"]["a"]["leaves"] == root["overall"]


def test_of_a_document_that_was_not_compared_there_are_no_counts_to_show():
    assert counts_view(not_compared("a")) == sums_view(
        FieldTallies({(): Tally()}), recall_with_fd=False
    )


@pytest.mark.parametrize(
    ("pred", "has_any_error"),
    [({"a": "x"}, False), ({"a": "y"}, True), ({"a": "x", "u": "new"}, True), ({}, True)],
)
def test_whether_anything_is_wrong_is_known_without_the_errors(pred, has_any_error):
    compared = batch(compile_schema(an_object(a=TEXT)), {"": ({"a": "x"}, pred)})

    assert compared.has_any_error is has_any_error
    assert bool(compared.classified_errors(0)) is has_any_error


@pytest.mark.parametrize(("path", "documents"), [(("a",), slice(0, 4)), (("b",), slice(4, 9))])
def test_moments_are_squares_and_products_of_each_document_added_up(path, documents):
    counts = np.random.default_rng(3).integers(0, 3, (3, 9, 5))
    columns = np.zeros(9, int), cells_of(counts), np.zeros((4, 9)), [], [], {}

    field_sum = sum_counts(FieldCounts([("a",), ("b",)], np.array([0, 4]), *columns))[path]

    for of_mode, moments in zip(counts[:, documents].astype(float), field_sum.moments, strict=True):
        assert moment_matrix(moments).tolist() == (of_mode.T @ of_mode).tolist()


def test_of_no_documents_all_are_0_and_each_moment_has_a_name():
    assert len(set(MOMENT_NAMES)) == len(MOMENT_NAMES) == 15
    assert MOMENT_NAMES[:2] == ("tp_tp", "tp_fd")
    assert Tally().moments == [[0] * 15] * 3


def a_map(inner):
    return {"type": "object", "additionalProperties": inner}


MAPS = an_object(m=a_map(an_object(a=TEXT, n=a_map(TEXT))), other=TEXT)
KNOWN = {("m",), ("m", "*"), ("m", "*", "a"), ("m", "*", "n"), ("m", "*", "n", "*"), ("other",)}


def of_keys(*documents):
    tallies = FieldTallies()
    for document in documents:
        tallies.merge(tallied(MAPS, document, document))
    return tallies


def test_keys_of_a_map_beyond_those_of_most_documents_go_together(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.sums.MAX_MAP_KEYS", 2)
    sums = of_keys(
        {"m": {"x": {"a": "1", "n": {"p": "1"}}, "y": {"a": "1"}}},
        {"m": {"x": {"a": "1"}, "z": {"a": "1", "n": {"q": "1"}}}},
        {"m": {"y": {"a": "1"}, "w": {"a": "1", "n": {"r": "1", "s": "1", "q": "2"}}}},
    )

    places = sums.find_rare_keys(KNOWN)
    moved = sums.with_renamed_fields(places)

    assert {path[1] for path in moved if len(path) == 2} == {"x", "y", "*"}
    assert moved["m", "*", "a"].counts("leaves") == Counts(2, 0, 0, 0, 0)
    below = {path[3] for path in moved if path[:3] == ("m", "*", "n") and len(path) == 4}
    assert below == {"q", "r", "*"}
    assert moved[()] == sums[()]
    assert moved["m",] == sums["m",]
    assert moved.find_rare_keys(KNOWN) == {}


def test_keys_that_are_few_stay_where_they_are():
    assert (
        of_keys({"m": {f"k{index}": {"a": "1"} for index in range(200)}}).find_rare_keys(KNOWN)
        == {}
    )


def test_errors_of_keys_go_where_their_counts_do():
    counts = ErrorCounts(
        {("m", "x"): Counter(a=1), ("m", "y"): Counter(a=2)}, {("m", "x"): Counter(b=1)}
    )
    counts.rename_fields({("m", "x"): ("m", "*"), ("m", "y"): ("m", "*")})

    assert counts.fields == {("m", "*"): {"a": 3}}
    assert counts.units == {("m", "*"): {"b": 1}}


SOME = Counts(tp=6, fd=2, fa=1, fn=4, tn=3)


def test_counts_add_class_by_class():
    assert SOME + Counts(tp=1, fd=2, fa=3, fn=4, tn=5) == Counts(tp=7, fd=4, fa=4, fn=8, tn=8)


def test_counts_are_listed_in_the_order_of_the_outcomes():
    by_outcome = [0] * len(Outcome)
    by_outcome[Outcome.FA] = 7

    assert Counts(*by_outcome) == Counts(fa=7)
    assert Counts(*[1, 2, 3, 4, 5]) == Counts(tp=1, fd=2, fa=3, fn=4, tn=5)


def test_the_total_holds_every_class():
    assert SOME.total == 16


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1", "accuracy"),
    [
        (Counts(tn=5), 0, 0, 0, 1),
        (Counts(fn=5), 0, 0, 0, 0),
        (Counts(fa=5), 0, 0, 0, 0),
        (Counts(fd=5), 0, 0, 0, 0),
        (Counts(tp=5), 1, 1, 1, 1),
        (Counts(tp=1, fa=1), 0.5, 1, 2 / 3, 0.5),
        (Counts(tp=1, fn=1), 1, 0.5, 2 / 3, 0.5),
        (Counts(tp=1, fd=1), 0.5, 1, 2 / 3, 0.5),
        (SOME, 6 / 9, 6 / 10, 12 / 19, 9 / 16),
    ],
)
def test_rates_are_as_defined_and_0_without_a_denominator(counts, precision, recall, f1, accuracy):
    assert counts.derived() == pytest.approx(
        {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy}
    )
    view = counts.view()
    assert view.keys() == {"tp", "fd", "fa", "fn", "fp", "tn", "derived"}
    assert view["derived"].keys() == {"cm_precision", "cm_recall", "cm_f1", "cm_accuracy"}


def test_a_rule_decides_what_recall_is_in_every_rate():
    plain, with_fd = RateRule(), RateRule(recall_with_fd=True)

    # Precision is 6 of 9, recall 6 of 10, or 6 of 12 where false discoveries count as missed.
    assert plain.f1(SOME) == pytest.approx(12 / 19)
    assert with_fd.f1(SOME) == pytest.approx(4 / 7)
    assert plain.rates(SOME) == pytest.approx(Rates(6 / 9, 6 / 10, 12 / 19))
    assert with_fd.rates(SOME) == pytest.approx(Rates(6 / 9, 6 / 12, 4 / 7))


def test_a_rule_tells_nothing_where_there_is_nothing_to_divide_by():
    assert RateRule().rates(Counts(tn=3)) == (None, None, None)
    assert RateRule().rates(Counts(fa=1)) == (0.0, None, 0.0)
    assert RateRule().f1(Counts(tn=3)) == 0.0
