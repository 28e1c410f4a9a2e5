"""Ground truths with several right answers, and with values that nobody labelled."""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.compare.plan import Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.core.json_values import Gold
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view

IGNORED = {"x-aws-stickler-ignore": True}
EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}


def object_schema(**properties):
    return {"type": "object", "properties": properties}


def arr(items, **more):
    return {"type": "array", "items": items, **more}


def result(schema, gt, pred, *, partial=False, **options):
    """Compare two documents after unwrapping the ground truth; return results as JSON values."""
    plan = compile_schema(schema)
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    how = Options(partial_gt=partial, **options)
    account = compare(plan, [bare.value], [pred], how, gold=[bare.gold])
    return comparison_view(batch_of_unit(tree_of(account, 0)))


def leaves(schema, gt, pred, **how):
    counted_leaves = result(schema, gt, pred, **how)["confusion_matrix"]["leaves"]
    return {
        name: counted_leaves[name]
        for name in ("tp", "fd", "fa", "fn", "tn")
        if counted_leaves[name]
    }


def either(value, *others, **more):
    return {"_value": value, "_alternatives": [*others], **more}


def pair(*positions):
    return {"type": "array", "prefixItems": [*positions]}


def table(values):
    return {"type": "object", "additionalProperties": values}


UNKNOWN = {"_labelled": False}


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        (either("x", "y"), "z", {"fd": 1}),
        (either(None, "y"), None, {"tn": 1}),
        (either("x", UNKNOWN), "q", {"fd": 1}),
        (either(UNKNOWN, UNKNOWN), "q", {}),
        (either("x", "y", _labelled=False), "q", {}),
        ({"_value": "x", "_labelled": True}, "x", {"tp": 1}),
    ],
)
def test_a_value_is_compared_with_each_that_is_right(gt, pred, expected):
    assert leaves(object_schema(a=EXACT), {"a": gt}, {"a": pred}) == expected


def test_elements_that_need_not_be_there_are_in_no_list_of_lists_either():
    schema = object_schema(t=arr(arr(EXACT)))
    gt = {"t": [["a1", either("b2", None)], ["c3"]]}

    assert result(schema, gt, {"t": [["c3"], ["a1"]]})["overall_score"] == 1.0
    assert leaves(schema, gt, {"t": [["c3"], ["b2", "a1"]]}) == {"tp": 3}


def test_a_list_of_nothing_that_must_be_there_is_absent():
    schema = object_schema(t=arr(EXACT))
    gt = {"t": [either("b2", None)]}

    assert leaves(schema, gt, {}) == {"tn": 1}
    assert leaves(schema, gt, {"t": ["b2"]}) == {"tp": 1}
    assert leaves(schema, gt, {"t": ["q"]}) == {"fa": 1}


def test_lists_inside_items_that_are_paired_may_be_open():
    schema = object_schema(i=arr(object_schema(id=EXACT, t=arr(EXACT))))
    gt = {"i": [{"id": "a", "t": {"_value": ["x"], "_exhaustive": False}}, {"id": "b", "t": ["x"]}]}
    pred = {"i": [{"id": "b", "t": ["x"]}, {"id": "a", "t": ["y", "x", "z"]}]}

    assert result(schema, gt, pred)["overall_score"] == 1.0
    assert leaves(schema, gt, pred) == {"tp": 4}


def test_an_alternative_of_an_open_list_is_open_too():
    schema = object_schema(t=arr(EXACT))
    gt = {"t": either(["x"], ["y"], _exhaustive=False)}

    assert leaves(schema, gt, {"t": ["y", "q"]}) == {"tp": 1}


@pytest.mark.parametrize("pred", [None, {}, {"b": "q"}, {"b": ["q", {"r": 1}]}])
def test_what_is_predicted_where_nobody_labelled_changes_nothing(pred):
    schema = object_schema(o=object_schema(a=EXACT, b={}), z=EXACT)
    for value in ({"a": "x", "b": UNKNOWN}, {"a": None, "b": UNKNOWN}):
        first = result(schema, {"o": value, "z": "z"}, {"z": "z"})
        assert (
            result(schema, {"o": value, "z": "z"}, {"o": pred, "z": "z"})["confusion_matrix"]
            == first["confusion_matrix"]
        )


def test_a_position_of_a_tuple_that_is_not_labelled_is_no_position():
    schema = object_schema(
        t={"type": "array", "prefixItems": [EXACT, object_schema(a=EXACT, b=EXACT)]}, z=EXACT
    )
    gt = {"t": [UNKNOWN, {"a": "x", "b": UNKNOWN}]}

    assert leaves(schema, gt, {"t": ["q", {"a": "x", "b": "r"}]}) == {"tp": 1, "tn": 1}
    assert leaves(schema, gt, {"t": ["q", {"b": "r"}]}) == {"fn": 1, "tn": 1}
    assert leaves(schema, {"t": [UNKNOWN] * 2, "z": None}, {"t": ["q"]}) == {"tn": 1}


def test_a_document_that_nobody_labelled_has_nothing_to_count():
    view = result(object_schema(a=EXACT), UNKNOWN, {"a": "x", "b": "y"})

    assert (view["overall_score"], view["field_scores"]) == (1.0, {})
    assert leaves(object_schema(a=EXACT), UNKNOWN, {"a": "x", "b": "y"}) == {}


def test_the_keys_of_arms_of_unions_may_be_left_out():
    first = object_schema(kind={"const": "a"}, x=EXACT) | {"required": ["kind"]}
    other = object_schema(kind={"const": "b"}, y=EXACT) | {"required": ["kind"]}
    schema = object_schema(u={"anyOf": [first, other]})

    counted = leaves(schema, {"u": {"kind": "b"}}, {"u": {"kind": "b", "y": "q"}}, partial=True)
    assert counted == {"tp": 1}


def test_a_place_that_contains_itself_may_be_partial():
    schema = {
        "type": "object",
        "properties": {"name": EXACT, "parts": arr({"$ref": "#"})},
    }
    gt = {"name": "a", "parts": [{"name": either("b", "c")}]}
    pred = {"name": "a", "parts": [{"name": "c", "parts": [{"name": "q"}]}]}

    assert leaves(schema, gt, pred, partial=True) == {"tp": 2}


def test_a_long_list_with_alternatives_is_paired_like_any():
    schema = object_schema(t=arr(object_schema(id=EXACT, n=EXACT)))
    items = [{"id": f"i{n}", "n": f"n{n}"} for n in range(40)]
    truths = [{**item, "n": either("other", item["n"])} for item in items[:3]] + items[3:]

    assert leaves(schema, {"t": truths}, {"t": items[::-1]}) == {"tp": 80}
    words = object_schema(t=arr(EXACT))
    gt = {"t": [either("other", "w0"), *(f"w{n}" for n in range(1, 40))]}
    assert leaves(words, gt, {"t": [f"w{n}" for n in range(39, -1, -1)]}) == {"tp": 40}


def test_open_lists_say_how_much_they_leave_out():
    plan = compile_schema(
        object_schema(t=arr(EXACT), s=arr(EXACT), m={"additionalProperties": EXACT})
    )
    gt = {
        "t": ["a", UNKNOWN],
        "s": {"_value": [], "_exhaustive": False},
        "m": {"k": UNKNOWN, "l": "x"},
    }
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    pred = {"t": ["q", "a", "r"], "s": ["p"], "m": {"k": "y", "l": "x"}}
    account = compare(plan, [bare.value], [pred], gold=[bare.gold])

    counts = batch_of_unit(tree_of(account, 0)).counts
    assert sorted(counts.left_out) == [((0, ("s",)), 1), ((0, ("t",)), 2)]
    assert sorted(counts.unlabelled) == [(0, ("m", "k")), (0, ("t",))]


def test_an_alternative_of_which_nothing_is_labelled_is_none():
    schema = object_schema(o=object_schema(a=EXACT), z=EXACT)
    gt = {"o": either({"a": UNKNOWN}, {"a": UNKNOWN}), "z": "z"}

    assert leaves(schema, gt, {"o": {"a": "q"}, "z": "z"}) == {"tp": 1}


def test_an_absent_value_with_an_alternative_that_is_there_is_no_absent_one():
    schema = object_schema(o=object_schema(a=EXACT), z=EXACT)
    gt = {"o": either({"a": either(None, "x")}, {"a": "y"}), "z": "z"}

    assert leaves(schema, gt, {"o": {"a": "x"}, "z": "z"}) == {"tp": 2}
    assert leaves(schema, gt, {"z": "z"}) == {"tp": 1, "tn": 1}


def test_objects_where_a_schema_has_values_are_looked_into_for_what_is_labelled():
    gt = {"a": {"b": UNKNOWN, "c": "x"}}

    assert leaves(object_schema(a=EXACT), gt, {"a": {"c": "x"}}) == {"tp": 1}


def test_a_declared_key_of_a_map_may_have_alternatives_and_be_left_out():
    schema = {**object_schema(a=EXACT, b=EXACT), "additionalProperties": EXACT}

    gt, pred = {"a": either("x", "y"), "k": "z"}, {"a": "y", "b": "q", "k": "z"}
    assert leaves(schema, gt, pred, partial=True) == {"tp": 2}


def test_documents_of_several_schemas_have_gold_below_the_names_of_theirs():
    schema = compile_schema(object_schema(a=EXACT))
    plan = plan_of_schemas({"one/": schema}, "Documents")
    bare = [Unwrapper(schema.root)({"a": gt}, is_truth=True) for gt in (either("x", "y"), "x")]
    gts = [{"one/": document.value} for document in bare]
    gold = [Gold.of_parent("one/", document.gold) for document in bare]
    account = compare(plan, gts, [{"one/": {"a": "y"}}] * 2, gold=gold)

    views = [comparison_view(batch_of_unit(tree_of(account, index))) for index in range(2)]
    assert [view["confusion_matrix"]["leaves"]["tp"] for view in views] == [1, 0]


def test_a_document_of_which_nothing_is_left_to_compare_is_right():
    schema = object_schema(a=EXACT, b={"type": "number"})

    assert result(schema, {"a": UNKNOWN, "b": None}, {"a": "k"})["overall_score"] == 1.0
    assert result(schema, {"b": None}, {"a": "k"}, partial=True)["overall_score"] == 1.0


@pytest.mark.parametrize(
    ("field", "gt", "pred"),
    [
        (object_schema(n=EXACT), {"n": either(None, "x")}, {}),
        (object_schema(n=EXACT), {"n": either(None, "x")}, {"n": None}),
        ({"type": "object"}, {"n": either(None, "x")}, {"n": None}),
        (arr(EXACT), [either(None, "x")], []),
        (object_schema(n=EXACT), {"n": either("x", None)}, {}),
        (object_schema(n=EXACT), either({"n": "y"}, {"n": either("x", None)}), {}),
        (object_schema(n=EXACT, u=EXACT), {"n": either("x", None), "u": UNKNOWN}, {"u": "q"}),
        (object_schema(n=EXACT, i=IGNORED), {"n": either("x", None), "i": 1}, {"i": 2}),
        ({"type": "object"}, {"n": [either("x", None)]}, {}),
        (arr(object_schema(n=EXACT)), [{"n": either("x", None)}], []),
        (pair(EXACT, object_schema(n=EXACT)), ["x", {"n": either("x", None)}], ["x"]),
        (
            pair(EXACT, object_schema(n=EXACT)),
            ["x", either({"n": "x"}, {"n": either("y", None)})],
            ["x"],
        ),
        (
            table(object_schema(n=EXACT)),
            {"k": {"n": "x"}, "l": {"n": either("x", None)}},
            {"k": {"n": "x"}},
        ),
    ],
)
def test_what_need_not_be_there_is_not_missed(field, gt, pred):
    view = result(object_schema(f=field), {"f": gt}, {"f": pred})

    assert view["overall_score"] == 1.0
    assert view["confusion_matrix"]["overall"]["fn"] == 0


OPEN = {"_value": [], "_exhaustive": False}
HIDING = {"x-aws-stickler-absent-values": ["N/A"]}


@pytest.mark.parametrize(
    ("field", "gt", "pred", "expected"),
    [
        (
            object_schema(k=EXACT, b=EXACT),
            {"k": UNKNOWN, "b": None},
            {"k": "x", "b": "y"},
            {"fa": 1},
        ),
        (object_schema(k=EXACT), {"k": UNKNOWN, "b": None}, {"k": "x", "b": "y"}, {"fa": 1}),
        ({}, {"k": UNKNOWN, "b": None}, {"k": "x", "b": "y"}, {"fa": 1}),
        ({}, {"k": UNKNOWN, "b": None}, "y", {"fa": 1}),
        ({}, {"d": {"k": UNKNOWN, "b": None}}, {"d": {"k": "x"}, "c": "y"}, {"fa": 1}),
        (table({}), {"k": OPEN, "l": {"m": UNKNOWN, "n": None}, "o": "y"}, {"o": "y"}, {"tp": 1}),
        (
            object_schema(q=object_schema(k=EXACT, b=EXACT)),
            {"q": {"k": UNKNOWN, "b": None}},
            {"q": {"k": "x"}},
            {"tn": 1},
        ),
        (
            arr(object_schema(b=EXACT, k=EXACT)),
            [{"b": "z", "k": UNKNOWN}, {"k": "w"}],
            [{"k": "w"}],
            {"tp": 1, "fn": 1, "tn": 1},
        ),
        (
            arr(object_schema(b=EXACT, k=EXACT)),
            [{"b": "z", "k": UNKNOWN}],
            [{"k": "w"}],
            {"fn": 1, "fa": 1},
        ),
        (arr(object_schema(b=EXACT)), [{"b": either(None, "z")}], [{"b": "z"}], {"tp": 1}),
        (pair(object_schema(b=EXACT)), [{"b": either(None, "z")}], [{"b": "z"}], {"tp": 1}),
        (object_schema(b=EXACT), {"u": [{"v": either(None, "z")}]}, {"u": [{"v": "q"}]}, {"tn": 1}),
        (table(arr(EXACT)), {"k": OPEN, "l": ["y"]}, {"k": ["x"], "l": ["y"]}, {"tp": 1, "tn": 1}),
        ({}, {"k": OPEN, "l": ["y"]}, {"k": ["x"], "l": ["y"]}, {"tp": 1, "tn": 1}),
        (
            pair(EXACT, arr(EXACT, **{"x-aws-stickler-exhaustive": False})),
            ["a", []],
            ["a", ["x"]],
            {"tp": 1},
        ),
    ],
)
def test_places_of_which_something_is_said_are_found_beside_nothing(field, gt, pred, expected):
    for field_schema in (EXACT, EXACT | HIDING):  # which says nothing of the others
        assert leaves(
            object_schema(f=field, g=field_schema), {"f": gt, "g": "g"}, {"f": pred, "g": "g"}
        ) == (expected | {"tp": expected.get("tp", 0) + 1})


@pytest.mark.parametrize("field", [arr(EXACT | HIDING), pair(EXACT | HIDING)])
@pytest.mark.parametrize("gt", [either("N/A", "x"), either("x", "N/A")])
def test_a_list_has_what_an_alternative_of_nothing_has(field, gt):
    for schema in (object_schema(f=field), object_schema(o=object_schema(f=field))):
        document = {"f": [gt]} if "f" in schema["properties"] else {"o": {"f": [gt]}}
        predicted = {"f": ["x"]} if "f" in schema["properties"] else {"o": {"f": ["x"]}}

        assert leaves(schema, document, predicted) == {"tp": 1}
        assert leaves(schema, document, {}).get("fn", 0) == 0


def test_an_element_that_stood_before_is_dropped_also_where_it_may_be_missing():
    schema = object_schema(l=arr(EXACT, **{"x-aws-stickler-distinct": True}))

    assert leaves(schema, {"l": ["a1", either("a1", None)]}, {"l": ["a1"]}) == {"tp": 1}


def test_a_wrapper_that_says_nothing_more_hides_no_invented_key():
    assert leaves(object_schema(a=EXACT), {"u": either(None)}, {"u": "x"}) == {"fa": 1, "tn": 1}
    assert leaves(object_schema(a=EXACT), {"u": either(None, "y")}, {"u": "x"}) == {"tn": 1}


def test_nothing_is_labelled_in_an_object_of_which_only_ignored_values_are():
    schema = object_schema(o=object_schema(a=EXACT, i=IGNORED))

    assert leaves(schema, {"o": {"a": UNKNOWN, "i": 1}}, {}) == {}
    assert leaves(schema, {"o": {"a": UNKNOWN, "i": UNKNOWN}}, {"o": {"a": "x"}}) == {}


def test_an_object_is_nothing_if_lists_in_it_have_only_what_nobody_looks_at():
    schema = object_schema(o=object_schema(l=arr(object_schema(i=IGNORED))))

    assert leaves(schema, {}, {"o": {"l": [{"i": 1}, None]}}) == {"tn": 1}


def test_an_item_that_is_there_by_an_alternative_only_is_not_in_the_length():
    schema = object_schema(i=arr(object_schema(n=EXACT)))
    gt = {"i": [{"n": "a"}, {"n": either(None, "x")}]}

    assert leaves(schema, gt, {"i": [{"n": "a"}]}) == {"tp": 1}
    assert leaves(schema, gt, {"i": [{"n": "a"}, {"n": "X"}]}) == {"tp": 2}
    assert result(schema, gt, {"i": [{"n": "a"}]})["overall_score"] == 1.0


def test_a_key_that_is_not_labelled_is_passed_over_beside_values_that_are_nothing():
    values = {"type": "integer", "x-aws-stickler-absent-values": ["N/A"]}
    schema = object_schema(m={"type": "object", "additionalProperties": values})

    view = result(schema, {"m": {"k": 1, "l": UNKNOWN}}, {"m": {"k": 1, "l": 2}})

    assert view["overall_score"] == 1.0
    assert leaves(schema, {"m": {"k": 1, "l": UNKNOWN}}, {"m": {"k": 1, "l": 2}}) == {"tp": 1}


def test_an_invented_list_inside_a_list_is_one_even_where_lists_are_open():
    inner_list = arr(EXACT, **{"x-aws-stickler-exhaustive": False, "x-aws-stickler-distinct": True})
    schema = object_schema(l=arr(inner_list))

    matrix = result(schema, {"l": [["a"]]}, {"l": [["a"], ["q", "q"]]})["confusion_matrix"]

    assert (matrix["overall"]["tp"], matrix["overall"]["fa"], matrix["overall"]["tn"]) == (1, 1, 0)


def test_a_place_names_the_values_that_were_not_taken():
    plan = compile_schema(object_schema(a=EXACT, b=EXACT, t=arr(EXACT)))
    gt = {"a": either("x", "y", "z"), "b": "p", "t": [either("q", None)]}
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    account = compare(plan, [bare.value], [{"a": "y", "b": "p"}], gold=[bare.gold])
    fields = {field.name: field for field in tree_of(account, 0).fields}

    assert (fields["a"].gt, fields["a"].other_alternatives) == ("y", ("x", "z"))
    assert (fields["b"].other_alternatives, fields["t"].other_alternatives) == ((), ())


@pytest.mark.parametrize(
    "schema", [EXACT, {"anyOf": [EXACT, object_schema(b=EXACT)]}, object_schema(b=EXACT)]
)
def test_a_place_that_was_taken_as_absent_names_the_values_too(schema):
    plan = compile_schema(object_schema(a=schema))
    bare = Unwrapper(plan.root)({"a": either("x", None)}, is_truth=True)
    account = compare(plan, [bare.value], [{}], gold=[bare.gold])

    assert tree_of(account, 0).fields[0].other_alternatives == ("x",)


def test_items_go_by_keys_of_which_one_field_has_alternatives():
    schema = object_schema(
        i=arr(object_schema(a=EXACT, b=EXACT, n=EXACT), **{"x-aws-stickler-key": ["a", "b"]})
    )
    gt = [{"a": "1", "b": either("x", "y"), "n": "p"}, {"a": "2", "b": "z", "n": "q"}]

    assert leaves(schema, {"i": gt}, {"i": [{"a": "2", "b": "z"}, {"a": "1", "b": "y"}]}) == {
        "tp": 4,
        "fn": 2,
    }


@pytest.mark.parametrize("gt", [either(None, "x"), either("x", None), either(None, "x", None)])
@pytest.mark.parametrize("field_schema", [EXACT, EXACT | HIDING])
def test_an_optional_key_of_a_map_has_a_true_negative_where_nothing_is_predicted(gt, field_schema):
    schema = object_schema(m=table(EXACT), g=field_schema)

    assert leaves(schema, {"m": {"k": gt, "l": "y"}, "g": "g"}, {"m": {"l": "y"}, "g": "g"}) == {
        "tp": 2,
        "tn": 1,
    }


OPTIONAL = either("a1", None)
OPEN_ITEMS = arr(EXACT, **{"x-aws-stickler-exhaustive": False})


@pytest.mark.parametrize(
    ("items", "optional", "other", "wanted"),
    [
        (OPEN_ITEMS, [OPTIONAL], ["z9"], ["b2"]),
        (object_schema(t=OPEN_ITEMS), {"t": [OPTIONAL]}, {"t": ["z9"]}, {"t": ["b2"]}),
        (table(OPEN_ITEMS), {"t": [OPTIONAL]}, {"t": ["z9"]}, {"t": ["b2"]}),
        (object_schema(a=EXACT, b=EXACT), {"a": OPTIONAL}, {"u": "z9"}, {"b": "b2"}),
        ({"anyOf": [OPEN_ITEMS, {"type": "number"}]}, [OPTIONAL], ["z9"], ["b2"]),
    ],
)
@pytest.mark.parametrize("floor", [-1, 0.2])
def test_items_with_nothing_left_to_compare_are_not_a_pair(items, optional, other, wanted, floor):
    schema = object_schema(i=arr(items, **{"x-aws-stickler-pairing-floor": floor}))
    counts = [
        result(schema, {"i": [optional, wanted]}, {"i": pred})["confusion_matrix"]["overall"]
        for pred in ([wanted], [other, wanted])
    ]

    assert [(count["tp"], count["fn"]) for count in counts] == [(1, 0), (1, 0)]
    assert [count["fa"] for count in counts] == [0, 1]


def test_positions_with_nothing_left_to_compare_are_not_a_pair_either():
    schema = object_schema(i=arr(OPEN_ITEMS, **{"x-aws-stickler-pairing": "position"}))
    view = result(schema, {"i": [["b2"], [OPTIONAL]]}, {"i": [["b2"], ["z9"]]})

    assert (
        view["confusion_matrix"]["overall"] | {"tp": 1, "fa": 1, "fn": 0, "tn": 0}
        == (view["confusion_matrix"]["overall"])
    )
    assert view["overall_score"] == 0.5


def test_an_ignored_value_inside_does_not_keep_an_object_from_being_optional():
    schema = object_schema(o=object_schema(a=EXACT, p=object_schema(i=IGNORED)), z=EXACT)
    gt = {"o": {"a": either("x", None), "p": {"i": 1}}, "z": "z"}

    assert leaves(schema, gt, {"z": "z"}) == {"tp": 1, "tn": 1}


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        (either(["a", "b"], None), ["a"], {"tp": 1, "fn": 1}),
        (either(["a", "b"], []), ["z"], {"fn": 2}),
        (either(None, ["a", "b"]), ["z"], {"fn": 2}),
        (either(None, ["a", "b"]), None, {"tn": 1}),
        (either(None, []), ["z"], {"tn": 1}),
        (either(["a", "b"], [either("c", None)]), ["z"], {"fn": 2}),
        (either(["a", "b"], [either("c", None)]), ["c"], {"tp": 1}),
        (either(["a", "b"], either(None, ["c"])), ["z"], {"fn": 2}),
    ],
)
def test_an_absent_alternative_of_an_open_list_counts_only_where_nothing_is_predicted(
    gt, pred, expected
):
    union = {"anyOf": [OPEN_ITEMS, {"type": "number"}]}
    for schema, truth in (
        (OPEN_ITEMS, gt),
        (union, gt),
        (arr(EXACT), gt | {"_exhaustive": False}),
    ):
        assert leaves(object_schema(t=schema), {"t": truth}, {"t": pred}) == expected


def test_what_a_wrapper_says_of_its_list_changes_no_gold_of_the_caller():
    plan = compile_schema(object_schema(t=arr(EXACT)))
    gt = {"t": either(["a"], either(None, ["b"]), _exhaustive=False)}
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    for _ in range(2):
        account = compare(plan, [bare.value], [{"t": ["b", "z"]}], gold=[bare.gold])
        assert tree_of(account).similarity == 1.0
    (_, other) = bare.gold.children["t"].alternatives[0].gold, bare.gold.children["t"]
    assert [alternative.gold for alternative in other.alternatives[0].gold.alternatives] == [None]


def test_a_key_of_a_map_that_is_not_labelled_is_no_part_of_its_comparison():
    plan = compile_schema({"type": "object", "additionalProperties": EXACT})
    bare = Unwrapper(plan.root)({"k": "x", "l": UNKNOWN}, is_truth=True)
    account = compare(plan, [bare.value], [{"k": "x", "l": "y"}], gold=[bare.gold])

    assert [field.name for field in tree_of(account, 0).fields] == ["k"]
