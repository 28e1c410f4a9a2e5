from dataclasses import replace

import pytest

from stickler_cli.compare.field_listing import (
    MAX_ROWS,
    comparators,
    field_listing,
    is_bounded,
    known_paths,
    list_nodes,
    node_at,
)
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.compare.result import FieldInfo
from stickler_cli.schema.compiler import compile_schema

X = "x-aws-stickler-"
TEXT = {"type": "string"}


def an_object(**properties):
    return {"type": "object", "properties": properties}


def rows(schema):
    return field_listing(compile_schema(schema))


def row(schema):
    """Return the row of the field listing for a schema with a single field, `x`."""
    defs = {"tree": {"type": "array", "items": TREE}}
    (field_row,) = rows({**an_object(x=schema), "$defs": defs})
    return field_row.kind, field_row.comparator, field_row.threshold, field_row.weight


def test_a_leaf_is_told_with_all_that_it_is_compared_by():
    assert rows(an_object(x={"type": "number", X + "threshold": 0.9, X + "weight": 2})) == (
        FieldInfo(("x",), "leaf", "NumericComparator", 0.9, 2),
    )


TREE = {"$ref": "#/$defs/tree"}
STRICT_ITEM = {**an_object(), X + "threshold": 0.4, X + "match-threshold": 0.9}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (TEXT, ("leaf", "LevenshteinComparator", 0.5, 1)),
        ({"type": "array", "items": TEXT}, ("list", "LevenshteinComparator", 0.5, 1)),
        (
            {"type": "array", "prefixItems": [TEXT, {"type": "boolean"}], "items": TEXT},
            ("tuple", "LevenshteinComparator | ExactComparator", None, 1),
        ),
        ({}, ("any", "", None, 1)),
        ({"type": "array"}, ("list", "", None, 1)),
        (an_object(), ("object", "", 0.7, 1)),
        ({**an_object(), X + "match-threshold": 0.9}, ("object", "", 0.9, 1)),
        (STRICT_ITEM, ("object", "", 0.4, 1)),
        (
            {"anyOf": [TEXT, {"type": "number"}]},
            ("one of", "LevenshteinComparator | NumericComparator", 0.5, 1),
        ),
        (
            {"anyOf": [{**TEXT, X + "weight": 3}, {"type": "number", X + "weight": 2}]},
            ("one of", "LevenshteinComparator | NumericComparator", 0.5, 3),
        ),
        (
            {
                "type": "array",
                "items": {"anyOf": [STRICT_ITEM, {"minProperties": 1, **STRICT_ITEM}]},
            },
            ("list", "", 0.9, 1),
        ),
        (
            {"anyOf": [TEXT, {"type": "boolean"}]},
            ("one of", "LevenshteinComparator | ExactComparator", None, 1),
        ),
        (
            {"type": "array", "items": {"anyOf": [TEXT, {"type": "number"}]}},
            ("list", "LevenshteinComparator | NumericComparator", 0.5, 1),
        ),
        (
            {"type": "array", "items": {"anyOf": [TEXT, {"type": "boolean"}]}},
            ("list", "LevenshteinComparator | ExactComparator", None, 1),
        ),
        (
            {"anyOf": [{**TEXT, X + "threshold": 0.7}, TREE, {"allOf": [TREE]}]},
            ("one of", "LevenshteinComparator", 0.7, 1),
        ),
    ],
)
def test_each_kind_of_field_says_what_decides_a_match(schema, expected):
    assert row(schema) == expected


def a_tree():
    return an_object(v=TEXT, kids={"type": "array", "items": {"$ref": "#"}})


NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(
            an_object(lines={"type": "array", "items": {**STRICT_ITEM, **an_object(a=TEXT)}}),
            [(("lines",), "list", "", 0.9), (("lines", "a"), "leaf", "LevenshteinComparator", 0.5)],
            id="a list of objects matches at the threshold of its items",
        ),
        pytest.param(
            an_object(m={**an_object(a=TEXT), "additionalProperties": NUMBER}),
            [
                (("m",), "object", "", 0.7),
                (("m", "a"), "leaf", "LevenshteinComparator", 0.5),
                (("m", "*"), "leaf", "NumericComparator", 0.5),
            ],
            id="keys that only documents name are a star",
        ),
        pytest.param(
            {**an_object(), "patternProperties": {"^n_": TEXT}, "additionalProperties": NUMBER},
            [(("*",), "leaf", "LevenshteinComparator", 0.5)],
            id="a pattern goes before the rest",
        ),
        pytest.param(
            a_tree(),
            [
                (("v",), "leaf", "LevenshteinComparator", 0.5),
                (("kids",), "list", "", 0.7),
                (("kids", "v"), "leaf", "LevenshteinComparator", 0.5),
                (("kids", "kids"), "recursive", "", 0.7),
            ],
            id="a place that leads back to itself is listed once",
        ),
        pytest.param(
            {"type": "array", "items": an_object(v=NUMBER), X + "weight": 2},
            [((), "list", "", 0.7), (("v",), "leaf", "NumericComparator", 0.5)],
            id="documents that are arrays are a list without a name",
        ),
    ],
)
def test_a_listing_has_a_row_for_each_place_with_its_path(schema, expected):
    assert [(row.field, row.kind, row.comparator, row.threshold) for row in rows(schema)] == (
        expected
    )


def test_the_comparators_of_a_plan_are_all_that_it_may_call():
    plan = compile_schema(
        an_object(
            a=TEXT,
            b=an_object(c={"type": "array", "items": {"type": "number"}}),
            d={"type": "string", "format": "date"},
        )
    )

    assert {comparator.name for comparator in comparators(plan)} == {
        "LevenshteinComparator",
        "NumericComparator",
        "DateComparator",
    }


def test_a_large_place_that_stands_in_a_plan_once_is_told_wherever_it_is_used():
    large = an_object(**{f"f{index}": dict(TEXT) for index in range(60)})
    schema = {**an_object(a={"$ref": "#/$defs/x"}, b={"$ref": "#/$defs/x"}), "$defs": {"x": large}}
    paths = {row.field for row in rows(schema)}
    assert {("a", "f59"), ("b", "f59")} <= paths
    assert len(comparators(compile_schema(schema))) == 60


def test_a_listing_that_would_be_endless_is_cut_and_any_path_is_then_known():
    levels = {
        f"d{index}": an_object(
            a={"$ref": f"#/$defs/d{index + 1}"}, b={"$ref": f"#/$defs/d{index + 1}"}
        )
        for index in range(14)
    }
    schema = {**an_object(x={"$ref": "#/$defs/d0"}), "$defs": {**levels, "d14": an_object(v=TEXT)}}
    plan = compile_schema(schema)
    assert len(field_listing(plan)) == MAX_ROWS
    assert known_paths(plan)[-1] == ("*",)


@pytest.mark.parametrize(
    ("path", "comparator"),
    [
        (("n",), "NumericComparator"),
        (("rows", "v"), "LevenshteinComparator"),
        (("rows", "any"), "NumericComparator"),
        (("either", "x"), "NumericComparator"),  # the first arm that has it
        (("either", "y"), "ExactComparator"),
        (("kids", "kids", "kids", "n"), "NumericComparator"),
        (("gone",), None),
        (("n", "v"), None),
        (("rows", "v", "v"), None),
    ],
)
def test_a_node_is_found_by_the_names_of_its_fields(path, comparator):
    number = {"type": "number"}
    schema = an_object(
        n=number,
        rows={
            "type": "array",
            "items": {**an_object(v=TEXT), "additionalProperties": number},
        },
        either={"anyOf": [an_object(x=number), an_object(x=TEXT, y={"type": "boolean"})]},
        kids={"type": "array", "items": {"$ref": "#"}},
    )

    node = node_at(compile_schema(schema), path)

    assert (node and node.comparator.name) == comparator


def test_a_place_that_stands_in_a_plan_twice_hides_no_other():
    twice = {"$ref": "#/$defs/x"}
    schema = {
        **an_object(n={"type": "number"}, a=twice, b=twice),
        "$defs": {"x": an_object(v=TEXT)},
    }
    plan = compile_schema(schema)

    assert {comparator.name for comparator in comparators(plan)} == {
        "LevenshteinComparator",
        "NumericComparator",
    }
    lists = {"type": "array", "items": {"$ref": "#/$defs/l"}}
    (field_row,) = rows({**an_object(x=lists), "$defs": {"l": lists}})
    assert (field_row.kind, field_row.comparator) == ("list", "")


def test_of_several_schemas_each_is_told_with_its_fields_and_nothing_else():
    tree, flat = compile_schema(a_tree()), compile_schema(an_object(v=TEXT))
    plan = plan_of_schemas({"one/": tree, "two/": flat}, "Documents")

    assert plan.model_name == "Documents"
    assert not plan.asks_models
    assert plan_of_schemas({"one/": tree, "two/": replace(flat, asks_models=True)}, "").asks_models
    rows = field_listing(plan)
    schema_row = FieldInfo(("one/",), "schema", "", None, 1.0)
    assert (rows[0], rows[-2]) == (schema_row, replace(schema_row, field=("two/",)))
    assert [(row.field, row.kind) for row in rows[1:-2]] == [
        (("one/", *row.field), row.kind) for row in field_listing(tree)
    ]
    assert rows[-1].field == ("two/", "v")
    assert ("two/", "v") in known_paths(plan)


def test_arms_that_are_told_by_their_types_are_chosen_in_bounded_time():
    assert is_bounded(compile_schema(an_object(x={"anyOf": [TEXT, {"type": "number"}]})))


def test_of_many_fields_the_first_are_listed_and_any_other_may_be_there(monkeypatch):
    monkeypatch.setattr("stickler_cli.compare.field_listing.MAX_ROWS", 2)
    three = an_object(a=TEXT, b=TEXT, c=TEXT)
    assert [row.field for row in rows(three)] == [("a",), ("b",)]
    assert [row.field for row in rows({"type": "array", "items": three})] == [(), ("a",)]
    assert known_paths(compile_schema(three)) == (("a",), ("b",), ("*",))
    assert known_paths(compile_schema(an_object(a=TEXT))) == (("a",),)


def test_nodes_are_listed_with_their_paths_each_once():
    item, name = an_object(sku=TEXT), {**TEXT, X + "weight": 2}
    schema = {
        **an_object(lines={"type": "array", "items": item}, tree={"$ref": "#/$defs/tree"}),
        "$defs": {"tree": an_object(name=name, child={"$ref": "#/$defs/tree"})},
    }
    nodes = [(path, type(node).__name__) for path, node in list_nodes(compile_schema(schema).root)]

    # A list and its items have one path; a tree is listed once, and not inside itself.
    assert nodes == [
        ((), "ObjectNode"),
        (("lines",), "ListNode"),
        (("lines",), "ObjectNode"),
        (("lines", "sku"), "LeafNode"),
        (("tree",), "ObjectNode"),
        (("tree", "name"), "LeafNode"),
    ]
