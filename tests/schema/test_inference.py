import json
from copy import deepcopy

import pytest

from stickler_cli.comparators import BaseComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import Inferred
from stickler_cli.schema.inference.annotating import REPEATED, infer
from stickler_cli.schema.places import DEEPEST

X = "x-aws-stickler-"
EXACT = {X + "comparator": "ExactComparator", X + "threshold": 1.0}
MEMBERS = {**EXACT, X + "comparator": "EnumComparator"}
FORM = {**EXACT, X + "comparator": "CaseInsensitiveComparator"}
DATE = {X + "comparator": "DateComparator", X + "threshold": 1.0}
TEXT = {X + "comparator": "LevenshteinComparator", X + "threshold": 0.7}
NUMBER = {X + "comparator": "NumericComparator", X + "threshold": 0.5}
BOX = {X + "comparator": "BBoxIoUComparator", X + "threshold": 0.5}
MONEY = {
    X + "comparator": "NumericComparator",
    X + "comparator-config": {"absolute_tolerance": 0.01},
    X + "threshold": 1.0,
}
NAME = {
    X + "comparator": "FuzzyComparator",
    X + "comparator-config": {"method": "token_sort_ratio"},
    X + "threshold": 0.8,
}
STRING = {"type": "string"}
FLOAT = {"type": "number"}
FLOATS = {"type": "array", "items": FLOAT}
NULL = {"type": "null"}
FOUR = {"minItems": 4, "maxItems": 4}


def with_fields(_rest=None, **fields):
    return {"type": "object", "properties": fields, **(_rest or {})}


def inferred(schema):
    """Infer, and make sure that the outcome compiles."""
    annotated, fields, _ = infer(schema)
    compile_schema(annotated)
    return annotated, fields


def field(name, schema, rest=None):
    """Return what becomes of one field, and the entries about it and what is in it."""
    annotated, entries = inferred(with_fields(rest, **{name: schema}))
    return annotated["properties"][name], entries


def one(name, schema, rest=None):
    (entry,) = field(name, schema, rest)[1]
    return entry


@pytest.mark.parametrize(
    ("name", "schema", "annotations"),
    [
        ("x", STRING, TEXT),
        ("x", FLOAT, NUMBER),
        ("x", {"type": "integer"}, NUMBER),
        ("total", {"type": "boolean"}, EXACT),
        ("total", {"enum": ["none", "all"]}, MEMBERS),
        ("name", {"const": "a"}, MEMBERS),
        ("name", {**STRING, "format": "date-time"}, DATE),
        (
            "notes",
            {**STRING, "format": "email"},
            FORM,
        ),
        ("notes", {**STRING, "format": "uuid"}, EXACT),
        ("billing_period", {**STRING, "format": "duration"}, {**TEXT, X + "threshold": 0.5}),
        ("total", {**FLOAT, "format": "float"}, MONEY),
        ("issued_on", STRING, DATE),
        ("total", STRING, MONEY),
        ("total", {"type": "integer"}, MONEY),
        ("orderId", {"type": "integer"}, EXACT),
        ("vendor", STRING, NAME),
    ],
)
def test_a_leaf_is_annotated_by_its_kind_then_by_its_name(name, schema, annotations):
    assert field(name, schema)[0] == {**schema, **annotations}


def test_an_entry_says_what_was_chosen_and_why():
    assert one("total_eur", {**FLOAT, X + "weight": 3}) == Inferred(
        ("total_eur",),
        "NumericComparator",
        {"absolute_tolerance": 0.01},
        1.0,
        3,
        'named "total", an amount of money: rounding to a cent is no error',
        "number",
        "inferred",
        ("weight",),
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (STRING, "a text, of which the name says no more"),
        (FLOAT, "a number, of which the name says no more"),
        ({"type": "boolean"}, "true or false"),
        ({"enum": ["a"]}, "one of the values that the schema lists"),
        ({**STRING, "format": "uri"}, "format uri"),
        ({}, "any values, each by its own kind"),
        ({"type": "array"}, "any values, each by its own kind"),
        (
            {"type": "array", "items": STRING},
            "a text, of which the name says no more; in any order",
        ),
        ({"type": "object"}, "by its fields, each by its own kind"),
    ],
)
def test_the_reason_of_a_kind_is_told(schema, reason):
    assert one("x", schema).reason == reason


@pytest.mark.parametrize(
    "key",
    [
        {X + "comparator": "FuzzyComparator"},
        {X + "comparator-config": {"normalize": False}},
        {X + "threshold": 0.2},
        {X + "clip-under-threshold": True},
    ],
)
def test_a_field_that_says_how_it_is_compared_is_left_alone(key):
    schema = {**STRING, **key}

    annotated, (entry,) = field("invoice_number", schema)

    assert annotated == schema
    assert entry.comparator == key.get(X + "comparator", "LevenshteinComparator")
    assert entry.threshold == key.get(X + "threshold", 0.5)
    assert entry.config == key.get(X + "comparator-config", {})
    assert entry.reason == "as its annotations say"


@pytest.mark.parametrize("key", [{X + "weight": 2}, {X + "aggregate": False}])
def test_beside_annotations_that_say_something_else_inference_goes_on(key):
    assert field("sku", {**STRING, **key})[0] == {**STRING, **key, **EXACT}


def test_annotations_at_the_target_of_a_reference_count():
    rest = {"$defs": {"Fuzzy": {**STRING, X + "comparator": "FuzzyComparator"}}}

    schema, (entry,) = field("sku", {"$ref": "#/$defs/Fuzzy"}, rest)

    assert schema == {"$ref": "#/$defs/Fuzzy"}
    assert entry.comparator == "FuzzyComparator"


def test_annotations_that_are_wrong_stay_for_the_compiler_to_tell():
    schema, _, _ = infer(with_fields(sku={**STRING, X + "threshold": 15}))

    assert schema["properties"]["sku"][X + "threshold"] == 15
    with pytest.raises(SchemaError, match="threshold is 15"):
        compile_schema(schema)


def test_the_schema_that_was_given_is_not_changed():
    schema = with_fields(
        {"required": ["sku"], "default": [{"a": 1}]}, sku=STRING, tags={"type": "array"}
    )
    before = deepcopy(schema)

    assert infer(schema).schema != before
    assert schema == before


def test_one_python_object_at_two_places_is_two_fields():
    schema, _ = inferred(with_fields(sku=STRING, due=STRING))

    assert schema["properties"] == {"sku": {**STRING, **EXACT}, "due": {**STRING, **DATE}}


def test_a_shared_leaf_is_annotated_beside_each_reference_to_it():
    rest = {"$defs": {"Text": STRING}}
    ref = {"$ref": "#/$defs/Text"}

    schema, _ = inferred(with_fields(rest, sku=ref, due=ref))

    assert schema["properties"] == {"sku": {**ref, **EXACT}, "due": {**ref, **DATE}}
    assert schema["$defs"] == rest["$defs"]


@pytest.mark.parametrize(
    "dialect",
    ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"],
)
def test_older_dialects_are_read_in_their_own_way(dialect):
    pair = {"type": "array", "items": [STRING, FLOAT], "additionalItems": {"type": "boolean"}}
    rest = {"$schema": dialect, "definitions": {"Text": STRING}}

    schema, entries = inferred(
        with_fields(rest, total=pair, id={"$ref": "#/definitions/Text"}, tags=FLOATS)
    )

    total, identifier, tags = schema["properties"].values()
    assert total["items"] == [{**STRING, **MONEY}, {**FLOAT, **MONEY}]
    assert total["additionalItems"] == {"type": "boolean", **EXACT}
    assert identifier == {"$ref": "#/definitions/Text", **EXACT}
    assert tags == {**FLOATS, **NUMBER}
    # The first two positions of the tuple are compared alike.
    assert [each.kind for each in entries] == [
        *("string or number", "boolean"),
        *("string", "list of number"),
    ]


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_an_optional_field_is_annotated_outside_of_its_union(word):
    schema = {word: [STRING, NULL]}

    assert field("due", schema)[0] == {**schema, **DATE}


def test_a_list_of_types_is_one_choice_where_all_agree():
    both = {"type": ["string", "integer", "null"]}

    assert field("id", both)[0] == {**both, **EXACT}


def test_a_list_of_types_that_do_not_agree_is_left_to_the_kinds():
    both = {"type": ["string", "number"]}

    schema, entries = field("vendor", both)

    assert schema == both
    assert [(each.comparator, each.threshold) for each in entries] == [
        ("LevenshteinComparator", 0.5),
        ("NumericComparator", 0.5),
    ]


def test_what_a_text_is_said_to_be_holds_for_numbers_beside_it():
    both = {"type": ["string", "number"]}

    assert field("due", both)[0] == {**both, **DATE}


@pytest.mark.parametrize(
    ("types", "annotations"),
    [
        (("string", "number", "integer"), DATE),
        (("string", "boolean"), {}),
        (("number", "integer"), MONEY),
    ],
)
def test_only_numbers_are_read_as_the_text_beside_them(types, annotations):
    union = {"anyOf": [{"type": each} for each in types]}
    name = "due" if "string" in types else "total"

    schema, entries = field(name, union)

    assert {key: value for key, value in schema.items() if key != "anyOf"} == annotations
    assert len(entries) == (1 if annotations else 2)


def test_a_union_whose_arms_agree_is_annotated_once():
    schema = {"anyOf": [STRING, {"type": "integer"}, NULL]}

    annotated, entries = field("customer_id", schema)

    assert annotated == {**schema, **EXACT}
    assert len(entries) == 1


def test_a_shared_union_is_annotated_beside_each_reference_to_it():
    rest = {"$defs": {"Key": {"anyOf": [STRING, {"type": "integer"}]}}}
    ref = {"$ref": "#/$defs/Key"}

    schema, _ = inferred(with_fields(rest, order_id=ref, total=ref))

    assert schema["properties"] == {"order_id": {**ref, **EXACT}, "total": {**ref, **MONEY}}


def test_a_union_whose_arms_differ_is_annotated_arm_by_arm():
    vendor = {"anyOf": [STRING, FLOAT, {"type": "object", "properties": {"city": STRING}}]}

    schema, entries = field("vendor", vendor)

    text, number, nested = schema["anyOf"]
    assert text == {**STRING, **NAME}
    assert number == {**FLOAT, **NUMBER}
    assert nested["properties"]["city"][X + "threshold"] == 0.8
    assert [field_path(each.path) for each in entries] == ["vendor"] * 3 + ["vendor.city"]
    assert not any(each.reason.endswith((TEXTS, NUMBERS)) for each in entries)


def test_arms_of_elements_that_differ_are_annotated_arm_by_arm():
    schema = {"type": "array", "items": {"anyOf": [STRING, FLOAT]}}

    annotated, _ = field("vendors", schema)

    assert annotated == {"type": "array", "items": {"anyOf": [STRING | NAME, FLOAT | NUMBER]}}


def test_a_list_of_numbers_is_no_text_that_is_a_number():
    entries = field("x", {"anyOf": [STRING, FLOATS]})[1]

    assert [each.comparator for each in entries] == ["LevenshteinComparator", "NumericComparator"]
    assert not any(each.reason.endswith((TEXTS, NUMBERS)) for each in entries)


def test_arms_that_agree_are_told_as_the_first_of_them():
    arms = [
        {**STRING, "enum": ["no"], X + "weight": 2},
        {"type": "boolean", "const": True, X + "weight": 3},
    ]

    (entry,) = field("x", {"anyOf": arms})[1]

    assert (entry.weight, entry.kind) == (2, "string or boolean")
    assert entry.reason == "one of the values that the schema lists"


def test_a_union_that_says_how_it_is_compared_is_left_alone():
    schema = {"anyOf": [STRING, FLOAT], X + "threshold": 0.3}

    annotated, entries = field("order_id", schema)

    assert annotated == schema
    assert {each.threshold for each in entries} == {0.3}


def test_an_array_of_leaves_is_annotated_on_the_array():
    schema = {"type": "array", "items": STRING}

    assert field("order_ids", schema)[0] == {**schema, **EXACT}


@pytest.mark.parametrize("where", ["array", "items"])
def test_an_array_that_says_how_it_is_compared_is_left_alone(where):
    key = {X + "comparator": "FuzzyComparator"}
    schema = {"type": "array", "items": STRING, X + "weight": 2}
    schema = {**schema, **key} if where == "array" else {**schema, "items": {**STRING, **key}}

    annotated, (entry,) = field("order_ids", schema)

    assert annotated == schema
    assert (entry.comparator, entry.weight) == ("FuzzyComparator", 2)


def test_an_array_of_optional_leaves_is_annotated_on_the_array():
    schema = {"type": "array", "items": {"anyOf": [STRING, NULL]}}

    assert field("order_ids", schema)[0] == {**schema, **EXACT}


def test_a_shared_array_is_annotated_beside_each_reference_to_it():
    rest = {"$defs": {"Texts": {"type": "array", "items": STRING}}}
    ref = {"$ref": "#/$defs/Texts"}

    schema, _ = inferred(with_fields(rest, skus=ref, dates=ref))

    assert schema["properties"] == {"skus": {**ref, **EXACT}, "dates": {**ref, **DATE}}


def test_parts_that_are_shared_are_annotated_in_each_object_that_has_them():
    rest = {"$defs": {"Text": STRING, "Texts": {"type": "array", "items": STRING}}}
    part = with_fields(sku={"$ref": "#/$defs/Text"}, skus={"$ref": "#/$defs/Texts"})

    schema, _ = inferred(with_fields(rest, a=part, b=deepcopy(part)))

    for name in "ab":
        inside = schema["properties"][name]["properties"]
        assert inside == {key: {**part["properties"][key], **EXACT} for key in inside}
    assert schema["$defs"] == rest["$defs"]


def test_documents_that_are_lists_of_leaves_are_annotated_on_the_list():
    schema = {"type": "array", "items": STRING}

    assert inferred(schema)[0] == {**schema, **TEXT}


@pytest.mark.parametrize(
    ("schema", "weights"),
    [
        (
            {
                "type": "array",
                X + "weight": 2,
                "items": {"type": "array", X + "weight": 3, "items": {**STRING, X + "weight": 4}},
            },
            [2],
        ),
        ({"type": "array", "items": {**STRING, X + "weight": 4}}, [4]),
        ({"type": "array", "items": {**with_fields(a=STRING), X + "weight": 4}}, [1, 1]),
        (
            {
                "type": "array",
                X + "weight": 2,
                "items": {**with_fields(a=STRING), X + "weight": 4},
            },
            [2, 1],
        ),
        (
            {
                "type": "array",
                "prefixItems": [{**STRING, X + "weight": 3}, {**FLOAT, X + "weight": 4}],
            },
            [1, 1],
        ),
    ],
)
def test_a_list_has_the_outermost_weight_and_positions_have_none(schema, weights):
    entries = field("x", schema)[1]

    assert [each.weight for each in entries] == weights
    assert ["weight" in each.said for each in entries] == [weight != 1 for weight in weights]


def test_a_list_of_lists_is_annotated_on_the_inner_list():
    inner = {"type": "array", "items": STRING}

    schema, _ = field("order_ids", {"type": "array", "items": inner})

    assert schema == {"type": "array", "items": {**inner, **EXACT}}


def test_what_an_outer_list_says_of_its_lists_is_told_beside_their_leaves():
    inner = {"type": "array", "items": STRING}
    outer = {"type": "array", "items": inner, X + "threshold": 0.4}

    schema, entries = field("order_ids", outer)

    assert schema == {**outer, "items": {**inner, **EXACT}}
    assert [(each.comparator, each.threshold) for each in entries] == [
        ("", 0.4),
        ("ExactComparator", 1.0),
    ]


def test_the_positions_of_a_tuple_are_annotated_each():
    schema, entries = field(
        "period",
        {"type": "array", "prefixItems": [STRING, FLOAT], "items": STRING, X + "weight": 2},
    )

    assert schema["prefixItems"] == [{**STRING, **DATE}, {**FLOAT, **NUMBER}]
    assert schema["items"] == {**STRING, **DATE}
    assert {each.weight for each in entries} == {2}


def test_elements_that_may_be_anything_are_left_to_their_kinds():
    schema = {"type": "array", "items": True}

    annotated, (entry,) = field("order_ids", schema)

    assert annotated == schema
    assert (entry.comparator, entry.kind) == ("", "list of any")


@pytest.mark.parametrize(
    ("name", "schema", "expected"),
    [
        ("bbox", FLOATS, {**FLOATS, **BOX}),
        ("bbox", {**FLOATS, **FOUR}, {**FLOATS, **FOUR, **BOX}),
        ("bounding_box", {"type": "array", "items": {"type": "integer"}}, BOX),
        ("boundingBox", {"type": "array", "prefixItems": [FLOAT] * 4}, BOX),
        ("bbox", {"type": "array", "items": FLOATS}, BOX),
        (
            "bbox",
            {"type": "array", "prefixItems": [{"type": "array", "prefixItems": [FLOAT] * 2}] * 2},
            BOX,
        ),
        ("bbox", {"anyOf": [FLOATS, NULL]}, BOX),
        ("bbox", {"items": {"const": 1}}, BOX),
        ("bbox", {"prefixItems": [FLOAT] * 4}, BOX),
    ],
)
def test_an_array_called_a_box_that_may_be_one_is_one_value(name, schema, expected):
    annotated, (entry,) = field(name, schema)

    assert annotated == {**schema, **expected}
    assert (entry.comparator, entry.threshold) == ("BBoxIoUComparator", 0.5)
    assert entry.kind == "array"


@pytest.mark.parametrize(
    "inner", [FLOATS, {**FLOATS, **FOUR}, {"type": "array", "prefixItems": [FLOAT] * 4}]
)
def test_a_list_of_boxes_has_boxes_for_elements(inner):
    schema, (entry,) = field("bboxes", {"type": "array", "items": inner})

    assert schema == {"type": "array", "items": {**inner, **BOX}}
    assert entry.reason.endswith("; in any order")


@pytest.mark.parametrize(
    "schema",
    [
        {**FLOATS, "maxItems": 3},
        {**FLOATS, "minItems": 5},
        {"type": "array", "prefixItems": [FLOAT] * 3},
        {"type": "array", "prefixItems": [{"type": "array", "prefixItems": [FLOAT] * 2}] * 3},
        {"type": "array", "items": STRING},
        {"type": "array"},
        {**FLOATS, X + "threshold": 0.9},
    ],
)
def test_an_array_called_a_box_that_can_be_none_is_a_list(schema):
    entries = field("bbox", schema)[1]

    assert {each.comparator for each in entries} & {"BBoxIoUComparator"} == set()


def test_a_box_that_is_annotated_already_is_one_value():
    schema = {**FLOATS, X + "comparator": "BBoxIoUComparator"}

    annotated, (entry,) = field("region", schema)

    assert annotated == schema
    assert (entry.comparator, entry.threshold) == ("BBoxIoUComparator", 0.5)


def test_fields_of_nested_objects_and_items_are_annotated_where_they_stand():
    item = with_fields(sku=STRING, price=FLOAT)

    schema, entries = field("lines", {"type": "array", "items": item})

    assert schema["items"]["properties"] == {
        "sku": {**STRING, **EXACT},
        "price": {**FLOAT, **MONEY},
    }
    assert [(field_path(each.path), each.threshold, each.reason) for each in entries[:1]] == [
        ("lines", 0.7, "by its fields; items in any order")
    ]
    assert [field_path(each.path) for each in entries[1:]] == ["lines.sku", "lines.price"]


def test_the_threshold_of_an_object_is_its_own_and_that_of_an_item_its_match_threshold():
    thresholds = {X + "threshold": 0.4, X + "match-threshold": 0.6}
    nested = {**with_fields(sku=STRING), **thresholds}

    assert field("a", nested)[1][0].threshold == 0.4
    assert field("a", {"type": "array", "items": nested})[1][0].threshold == 0.6


def test_the_values_of_a_map_go_by_its_name():
    prices = {
        "type": "object",
        "patternProperties": {"^n": STRING},
        "additionalProperties": FLOAT,
    }

    schema, entries = field("prices", prices)

    assert schema["patternProperties"] == {"^n": {**STRING, **MONEY}}
    assert schema["additionalProperties"] == {**FLOAT, **MONEY}
    assert [field_path(each.path) for each in entries] == ["prices", "prices.*"]


def test_all_of_is_read_as_one_and_annotated_at_the_schema_that_wins():
    rest = {"$defs": {"Base": with_fields(due=STRING, sku=STRING)}}
    own = {"allOf": [{"$ref": "#/$defs/Base"}], "properties": {"due": {"format": "date"}}}

    schema, entries = field("part", own, rest)

    assert schema["properties"]["due"] == {"format": "date", **DATE}
    assert {field_path(each.path): each.reason for each in entries}["part.due"] == "format date"


class SameKeys(BaseComparator):
    takes = frozenset({"object", "array"})

    def compare(self, gt, pred):
        return float(set(gt) == set(pred))


@pytest.mark.parametrize("schema", [with_fields(sku=STRING), FLOATS])
def test_what_a_comparator_takes_whole_is_one_entry_and_left_alone(schema):
    schema = with_fields(x={**schema, X + "comparator": "mine"})

    annotated, (entry,), _ = infer(schema, comparators={"mine": SameKeys()})

    compile_schema(annotated, comparators={"mine": SameKeys()})
    assert annotated == schema
    assert (entry.comparator, entry.threshold) == ("SameKeys", 0.5)


def test_the_fields_of_an_object_that_compares_itself_are_annotated():
    annotated, entries = field(
        "a", {**with_fields(sku=STRING), X + "comparator": "StructuredModelComparator"}
    )

    assert annotated["properties"]["sku"] == {**STRING, **EXACT}
    assert [field_path(each.path) for each in entries] == ["a", "a.sku"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({X + "comparator": "Nope"}, "Nope"),
        ({X + "comparator": "FuzzyComparator", X + "comparator-config": {"a": 1}}, "FuzzyComp"),
    ],
)
def test_a_comparator_that_cannot_be_made_stays_for_the_compiler_to_tell(key, message):
    schema, (entry,), _ = infer(with_fields(skus={"type": "array", "items": STRING, **key}))

    assert entry.comparator == key[X + "comparator"]
    with pytest.raises(SchemaError, match=message):
        compile_schema(schema)


def test_a_recursive_schema_is_annotated_in_place_and_listed_once():
    tree = with_fields(name=STRING, children={"type": "array", "items": {"$ref": "#/$defs/Tree"}})

    schema, entries = inferred({"$defs": {"Tree": tree}, "$ref": "#/$defs/Tree"})

    assert schema["$defs"]["Tree"]["properties"]["name"] == {**STRING, **NAME}
    assert [(field_path(each.path), each.reason) for each in entries[2:]] == [
        ("children.name", entries[0].reason),
        ("children.children", "as children"),
    ]


def test_a_schema_that_contains_itself_as_a_whole_is_listed_once():
    entries = inferred(with_fields(part={"$ref": "#"}))[1]

    assert [(field_path(each.path), each.reason) for each in entries] == [
        ("part", "by its fields"),
        ("part.part", "as part"),
    ]


def test_a_list_that_contains_itself_ends():
    rest = {"$defs": {"Nested": {"type": "array", "items": {"$ref": "#/$defs/Nested"}}}}

    entries = field("x", {"$ref": "#/$defs/Nested"}, rest)[1]

    assert [(each.comparator, each.reason) for each in entries] == [("", "as x")]


def test_documents_that_are_lists_of_such_are_one_entry():
    (entry,) = inferred({"type": "array", "items": {"$ref": "#"}})[1]

    assert (entry.path, entry.reason) == ((), "as the whole document")


def test_a_part_that_occurs_twice_is_listed_twice_if_it_is_small():
    rest = {"$defs": {"Address": with_fields(city=STRING, zip=STRING)}}
    ref = {"$ref": "#/$defs/Address"}

    schema, entries = inferred(with_fields(rest, ship_to=ref, bill_to=ref))

    assert [field_path(each.path) for each in entries] == [
        "ship_to",
        "ship_to.city",
        "ship_to.zip",
        "bill_to",
        "bill_to.city",
        "bill_to.zip",
    ]
    assert schema["$defs"]["Address"]["properties"]["zip"] == {**STRING, **EXACT}


@pytest.mark.parametrize(("fields", "again"), [(REPEATED - 1, REPEATED), (REPEATED, 1)])
def test_a_part_is_listed_again_up_to_so_many_entries(fields, again):
    part = with_fields(**{f"x{number}": STRING for number in range(fields)})
    rest = {"$defs": {"Part": with_fields(inner={"$ref": "#/$defs/Inner"}), "Inner": part}}
    ref = {"$ref": "#/$defs/Part"}

    entries = inferred(with_fields(rest, a=ref, b=ref))[1]

    assert sum(each.path[:2] == ("b", "inner") for each in entries) == again


def test_a_large_part_that_occurs_again_is_one_entry():
    many = with_fields(**{f"x{number}": STRING for number in range(REPEATED)})
    rest = {"$defs": {"Holder": with_fields(large=many)}}
    ref = {"$ref": "#/$defs/Holder"}

    entries = inferred(with_fields(rest, a=ref, b=ref))[1]

    assert len(entries) == 1 + 1 + REPEATED + 2
    assert entries[-1].path == ("b", "large")
    assert entries[-1].reason == "as a.large"


def test_a_long_chain_of_references_needs_no_deep_stack():
    last = 400
    chain = {
        f"d{number}": with_fields(sku=STRING, next={"$ref": f"#/$defs/d{number + 1}"})
        for number in range(last)
    }

    schema, entries = inferred({"$defs": {**chain, f"d{last}": STRING}, "$ref": "#/$defs/d0"})

    assert len(entries) == 2 * last
    assert schema["$defs"][f"d{last - 1}"]["properties"]["sku"] == {**STRING, **EXACT}


def test_what_is_deep_inside_others_comes_last():
    depth = DEEPEST + 3
    deep = STRING
    for _ in range(depth):
        deep = with_fields(a=deep, b=with_fields(c=with_fields(d=with_fields(e=STRING))))

    paths = [each.path for each in inferred(deep)[1]]

    levels = [len(path) for path in paths if path[-1] == "a"]
    assert levels == [*range(1, depth + 1)]
    late = [len(path) > DEEPEST for path in paths]
    assert late == sorted(late)
    assert len(paths) == 5 * depth


def test_a_schema_that_is_nested_too_deeply_is_refused():
    deep = STRING
    for _ in range(3000):
        deep = {"type": "array", "items": deep}

    with pytest.raises(SchemaError, match="too deeply") as refusal:
        infer(with_fields(x=deep), "s.json")
    assert refusal.value.problems[0].place == "s.json#"


def test_a_schema_that_describes_too_many_places_is_refused(monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.places.MOST_PLACES", 3)

    infer(with_fields(a=STRING, b=STRING))
    with pytest.raises(SchemaError, match="more than 3 places") as refusal:
        infer(with_fields(a=STRING, b=STRING, c=STRING), "s.json")
    assert refusal.value.problems[0].place == "s.json#"


def test_a_reference_that_leads_nowhere_stays_for_the_compiler_to_tell():
    schema, entries, _ = infer(with_fields(sku={"$ref": "#/$defs/nope"}))

    assert [each.comparator for each in entries] == [""]
    with pytest.raises(SchemaError, match="leads nowhere"):
        compile_schema(schema)


def test_what_other_files_describe_is_inferred_and_the_files_stay_as_they_are(tmp_path):
    other = {"$defs": {"Part": with_fields(sku=STRING, box=FLOATS)}}
    (tmp_path / "parts.json").write_text(json.dumps(other), encoding="utf-8")
    schema = with_fields(part={"$ref": "parts.json#/$defs/Part"})

    found = infer(schema, "s.json", tmp_path / "s.json")

    assert found.schema == schema
    assert [(field_path(each.path), each.comparator) for each in found.fields] == [
        ("part", ""),
        ("part.sku", "ExactComparator"),
        ("part.box", "BBoxIoUComparator"),
    ]
    plan = compile_schema(schema, "s.json", tmp_path / "s.json", inferred=found.annotations)
    assert [row.comparator for row in field_listing(plan)] == [
        "",
        "ExactComparator",
        "BBoxIoUComparator",
    ]
    assert json.loads((tmp_path / "parts.json").read_text(encoding="utf-8")) == other


def test_a_threshold_is_known_for_an_inferred_one():
    schema = with_fields(
        sku=STRING,
        skus={"anyOf": [{"type": "array", "items": STRING}, NULL]},
        x={**STRING, X + "threshold": 1},
    )
    found = infer(schema)

    plan = compile_schema(found.schema, inferred=found.annotations)

    sources = [node.threshold_source for _, node in plan.root.named()]
    assert sources == ["inferred", "inferred", "annotation"]
    assert [entry.source for entry in found.fields] == sources


def test_properties_that_are_true_or_false_are_left_alone():
    schema = with_fields(sku=True)

    annotated, (entry,), _ = infer(schema)

    assert annotated == schema
    assert entry.reason == "any values, each by its own kind"


@pytest.mark.parametrize(
    ("properties", "left"),
    [
        ({"a": {**STRING, X + "weight": 2}, "sku": STRING}, True),
        ({"sku": STRING, "a": {"type": "array", "items": {X + "aggregate": False}}}, True),
        ({"a": {"$ref": "#/$defs/said"}, "sku": STRING}, True),
        ({"a": {"x-stickler-threshold": 1}, "sku": STRING}, True),
        ({"sku": STRING, "a": STRING}, False),
    ],
)
def test_a_schema_that_has_an_annotation_can_be_left_as_it_is(properties, left):
    said = {**STRING, X + "threshold": 0.5}
    schema = {**with_fields(**properties), "$defs": {"said": said}}

    annotated, fields, choices = infer(schema, when="auto")

    assert (annotated == schema) is left
    assert (choices == {}) is left
    assert ("inferred" in {each.source for each in fields}) is not left
    sku = next(each for each in fields if each.path == ("sku",))
    assert sku.comparator == ("LevenshteinComparator" if left else "ExactComparator")
    never = infer(schema, when="never")
    assert (never.schema, never.choices) == (schema, {})
    assert {each.source for each in never.fields} <= {"default", "annotation"}
    assert (never.fields == fields) is left


def test_a_schema_with_annotations_is_read_with_all_that_it_takes(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps(FLOAT), encoding="utf-8")
    schema = with_fields(a={**STRING, X + "comparator": "mine"}, b={"$ref": "b.json"})
    mine = {"mine": NumericComparator(absolute_tolerance=0.5)}

    found = infer(schema, "s.json", tmp_path / "s.json", when="auto", comparators=mine)

    assert [each.compared_by for each in found.fields] == [
        "NumericComparator(absolute_tolerance=0.5)",
        "NumericComparator",
    ]


def test_a_boolean_schema_has_no_fields():
    assert infer(True) == (True, (), {})


def test_plugins_need_leave():
    name = "stickler_cli.comparators.bbox:BBoxIoUComparator"
    schema = with_fields(a={**FLOATS, X + "comparator": name})

    assert infer(schema).fields[0].kind == "list of number"
    assert infer(schema, allow_plugins=True).fields[0].kind == "array or object"


def test_choices_are_known_by_the_place_they_are_written_to():
    found = infer(with_fields(a=with_fields(sku=STRING), skus={"type": "array", "items": STRING}))

    assert {place: each.path for (_, place), each in found.choices.items()} == {
        ("properties", "a", "properties", "sku"): ("a", "sku"),
        ("properties", "skus"): ("skus",),
    }


def test_annotations_of_a_place_of_any_kind_are_told():
    entry = one("x", {X + "comparator": "ExactComparator"})

    assert (entry.comparator, entry.reason) == ("ExactComparator", "as its annotations say")
    entry = one("x", {X + "threshold": 0.3})
    assert (entry.comparator, entry.config, entry.threshold) == ("", {}, 0.3)
    assert (entry.source, entry.said) == ("annotation", ("threshold",))


@pytest.mark.parametrize("schema", [STRING, {**STRING, "format": "duration"}])
def test_what_is_left_to_its_kind_is_told_so(schema):
    (entry,) = infer(with_fields(due=schema), when="never").fields

    assert (entry.comparator, entry.reason, entry.source) == (
        "LevenshteinComparator",
        "a text, of which the name says no more",
        "default",
    )


def test_the_narrower_of_two_types_is_told():
    for types in (("number", "integer"), ("integer", "number")):
        assert one("x", {"allOf": [{"type": each} for each in types]}).kind == "integer"
        assert one("x", {"type": [*types]}).kind == "number"


def test_what_says_no_threshold_annotates_none():
    choice = Inferred(comparator="ExactComparator", config={"a": 1})

    assert choice.annotations() == {
        X + "comparator": "ExactComparator",
        X + "comparator-config": {"a": 1},
    }


def test_alternatives_for_the_whole_document_list_a_common_field_once():
    arms = [with_fields(sku=STRING, a=STRING), with_fields(sku=STRING, b=STRING)]

    entries = inferred({"anyOf": arms})[1]

    assert [field_path(each.path) for each in entries] == ["sku", "a", "b"]


# --- what is told of every field

ALL_KINDS = with_fields(
    total={**FLOAT, X + "weight": 3},
    vendor={**STRING, X + "threshold": 0.6},
    code={**STRING, X + "comparator": "ExactComparator"},
    owner={**with_fields(name=STRING), X + "threshold": 0.4, X + "weight": 2},
    rows={
        "type": "array",
        X + "weight": 4,
        "items": {
            **with_fields(sku=STRING, parts={"type": "array", "items": STRING}),
            X + "threshold": 0.5,
            X + "match-threshold": 0.8,
        },
    },
    grid={
        "type": "array",
        X + "threshold": 0.9,
        "items": {"type": "array", "items": {"type": "string"}},
    },
    pair={"type": "array", "prefixItems": [STRING, {"type": "integer"}]},
    either={"type": ["string", "number"]},
    size={"anyOf": [FLOAT, {**STRING, "pattern": "x"}]},
    rates={"type": "object", "additionalProperties": FLOAT},
    any={},
    said={X + "comparator": "FuzzyComparator", X + "comparator-config": {"method": "ratio"}},
    free={"type": "object"},
    list={"type": "array"},
)
TEXTS, NUMBERS = "of texts that are no numbers", "also of texts that are numbers"


@pytest.mark.parametrize(
    ("path", "compared_by", "figures", "kind", "source", "said", "ends"),
    [
        ("total", "NumericComparator(absolute_tolerance=0.01)", (1.0, 3), "number", "inferred",
         ("weight",), "to a cent is no error"),
        ("vendor", "LevenshteinComparator", (0.6, 1), "string", "annotation", ("threshold",),
         "as its annotations say"),
        ("code", "ExactComparator", (0.5, 1), "string", "annotation", ("comparator",),
         "as its annotations say"),
        ("owner", "", (0.4, 2), "object", "annotation", ("threshold", "weight"), "by its fields"),
        ("owner.name", "FuzzyComparator(method='token_sort_ratio')", (0.8, 1), "string", "inferred",
         (), "as in `Smith, John`"),
        ("rows", "", (0.8, 4), "list of object", "annotation", ("threshold", "weight"),
         "by its fields; items in any order"),
        ("rows.sku", "ExactComparator", (1.0, 1), "string", "inferred", (), "makes it another"),
        ("rows.parts", "LevenshteinComparator", (0.7, 1), "list of string", "inferred", (),
         "says no more; in any order"),
        ("grid", "", (0.9, 1), "list of array", "annotation", ("threshold",),
         "lists are paired by their elements"),
        ("grid", "LevenshteinComparator", (0.7, 1), "list of string", "inferred", (),
         "says no more; in any order"),
        ("pair", "LevenshteinComparator", (0.7, 1), "string", "inferred", (), "says no more"),
        ("pair", "NumericComparator", (0.5, 1), "integer", "inferred", (), "says no more"),
        ("either", "LevenshteinComparator", (0.5, 1), "string", "default", (), TEXTS),
        ("either", "NumericComparator", (0.5, 1), "number", "default", (), NUMBERS),
        ("size", "NumericComparator", (0.5, 1), "number", "inferred", (), NUMBERS),
        ("size", "LevenshteinComparator", (0.7, 1), "string", "inferred", (), TEXTS),
        ("rates", "", (0.7, 1), "object", "default", (), "by its fields"),
        ("rates.*", "NumericComparator", (1.0, 1), "number", "inferred", (), "it is written"),
        ("any", "", (None, 1), "any", "default", (), "each by its own kind"),
        ("said", "FuzzyComparator(method='ratio')", (None, 1), "any", "annotation", ("comparator",),
         "as its annotations say"),
        ("free", "", (0.7, 1), "object", "default", (), "by its fields, each by its own kind"),
        ("list", "", (None, 1), "array", "default", (), "each by its own kind"),
    ],
)  # fmt: skip
def test_every_field_is_told_with_who_said_what(
    path, compared_by, figures, kind, source, said, ends
):
    (found,) = (
        each
        for each in infer(ALL_KINDS).fields
        if (field_path(each.path), each.compared_by) == (path, compared_by)
    )
    assert ((found.threshold, found.weight), found.kind) == (figures, kind)
    assert (found.source, found.said, found.reason.endswith(ends)) == (source, said, True)


def test_where_annotations_stand_is_told_the_nearest_last():
    stands = {each.path: each.stands for each in infer(ALL_KINDS).fields}
    assert stands["owner",] == ("/properties/owner",)
    assert stands["rows",] == ("/properties/rows/items",)
    parts = "/properties/rows/items/properties/parts"
    assert stands["rows", "parts"] == (parts, f"{parts}/items")
    assert stands["either",] == ()
    assert len(infer(ALL_KINDS).fields) == 22
