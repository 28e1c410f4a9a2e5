import json
from copy import deepcopy

import pytest

from stickler_cli.comparators import BaseComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.compare.field_listing import field_listing
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import Inferred, infer
from stickler_cli.schema.inference.field_walker import REPEATED
from stickler_cli.schema.places import DEEPEST

X = "x-aws-stickler-"
PLAIN = {X + "comparator": "ExactComparator", X + "threshold": 1.0}
CONFIG = X + "comparator-config"
READING = {"unit": "same", "decimal": "auto"}

READ = "unit='same', decimal='auto'"
SAME = "same_digits=True, same_words=True"
CENT = "NumericComparator(absolute_tolerance=0.01, unit='same', decimal='money')"
SORTED = f"FuzzyComparator(method='token_sort_ratio', {SAME})"
CODE = "ExactComparator(only_separators=True)"
ANY_TEXT = f"LevenshteinComparator({SAME})"
READING_ALL = f"NumericComparator({READ})"
STRICT = {"same_digits": True, "same_words": True}
EXACT = {**PLAIN, CONFIG: {"only_separators": True}}
MEMBERS = {**PLAIN, X + "comparator": "EnumComparator"}
FORM = {**PLAIN, X + "comparator": "CaseInsensitiveComparator"}
DATE = {X + "comparator": "DateComparator", X + "threshold": 1.0}
TEXT = {X + "comparator": "LevenshteinComparator", CONFIG: STRICT, X + "threshold": 0.9}
NUMBER = {X + "comparator": "NumericComparator", CONFIG: READING, X + "threshold": 0.5}
BOX = {X + "comparator": "BBoxIoUComparator", X + "threshold": 0.5}
MONEY = {
    X + "comparator": "NumericComparator",
    X + "comparator-config": {"absolute_tolerance": 0.01, "unit": "same", "decimal": "money"},
    X + "threshold": 1.0,
}
NAME = {
    X + "comparator": "FuzzyComparator",
    X + "comparator-config": {"method": "token_sort_ratio", **STRICT},
    X + "threshold": 0.85,
}
STRING = {"type": "string"}
FLOAT = {"type": "number"}
FLOATS = {"type": "array", "items": FLOAT}
NULL = {"type": "null"}
FOUR = {"minItems": 4, "maxItems": 4}


def with_fields(_rest=None, **fields):
    return {"type": "object", "properties": fields, **(_rest or {})}


def inferred(schema):
    """Return the inferred schema, after checking that it compiles."""
    annotated, fields, *_ = infer(schema)
    compile_schema(annotated)
    return annotated, fields


def field(name, schema, extra_keywords=None):
    """Return the inferred schema of one field, and the entries of the field and its children."""
    annotated, entries = inferred(with_fields(extra_keywords, **{name: schema}))
    return annotated["properties"][name], entries


def one(name, schema, extra_keywords=None):
    (entry,) = field(name, schema, extra_keywords)[1]
    return entry


@pytest.mark.parametrize(
    ("name", "schema", "annotations"),
    [
        ("x", STRING, TEXT),
        ("x", FLOAT, NUMBER),
        ("x", {"type": "integer"}, NUMBER),
        ("total", {"type": "boolean"}, PLAIN),
        ("total", {"enum": ["none", "all"]}, MEMBERS),
        ("name", {"const": "a"}, MEMBERS),
        ("name", {**STRING, "format": "date-time"}, {**DATE, CONFIG: {"compare_time": True}}),
        ("notes", {**STRING, "format": "time"}, DATE | {X + "comparator": "TimeComparator"}),
        ("notes", {**STRING, "format": "email"}, FORM),
        ("notes", {**STRING, "format": "uuid"}, PLAIN),
        ("billing_period", {**STRING, "format": "duration"}, TEXT),
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
        MONEY[CONFIG],
        1.0,
        3,
        'the name "total" suggests an amount of money: rounding to a cent is not an error',
        "number",
        "inferred",
        ("weight",),
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (STRING, "the usual comparison of texts, because the field name suggests no other"),
        (FLOAT, "the usual comparison of numbers, because the field name suggests no other"),
        ({"type": "boolean"}, "true or false"),
        ({"enum": ["a"]}, "one of the values that the schema lists"),
        ({**STRING, "format": "uri"}, "format uri"),
        ({}, "values of any type, each compared by its type"),
        ({"type": "array"}, "values of any type, each compared by its type"),
        (
            {"type": "array", "items": STRING},
            "the usual comparison of texts, because the field name suggests no other; in any order",
        ),
        ({"type": "object"}, "compared field by field"),
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
    assert entry.reason == "as annotated"


def test_a_shared_leaf_is_annotated_beside_each_reference_to_it():
    extra_keywords = {"$defs": {"Text": STRING}}
    ref = {"$ref": "#/$defs/Text"}

    schema, _ = inferred(with_fields(extra_keywords, sku=ref, due=ref))

    assert schema["properties"] == {"sku": {**ref, **EXACT}, "due": {**ref, **DATE}}
    assert schema["$defs"] == extra_keywords["$defs"]


@pytest.mark.parametrize(
    "dialect",
    ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"],
)
def test_older_dialects_are_read_in_their_own_way(dialect):
    pair = {"type": "array", "items": [STRING, FLOAT], "additionalItems": {"type": "boolean"}}
    extra_keywords = {"$schema": dialect, "definitions": {"Text": STRING}}

    schema, entries = inferred(
        with_fields(extra_keywords, total=pair, id={"$ref": "#/definitions/Text"}, tags=FLOATS)
    )

    total, identifier, tags = schema["properties"].values()
    assert total["items"] == [{**STRING, **MONEY}, {**FLOAT, **MONEY}]
    assert total["additionalItems"] == {"type": "boolean", **PLAIN}
    assert identifier == {"$ref": "#/definitions/Text", **EXACT}
    assert tags == {**FLOATS, **NUMBER}
    # The first two positions of the tuple are compared alike.
    assert [entry.kind for entry in entries] == [
        *("string or number", "boolean"),
        *("string", "list of number"),
    ]


def test_types_that_do_not_agree_are_inferred_each_by_itself():
    schema, entries = field("vendor", {"type": ["string", "number"]})

    assert [arm["type"] for arm in schema["anyOf"]] == ["string", "number"]
    assert [arm[X + "comparator"] for arm in schema["anyOf"]] == [
        "FuzzyComparator",
        "NumericComparator",
    ]
    assert [(entry.comparator, entry.threshold) for entry in entries] == [
        ("FuzzyComparator", 0.85),
        ("NumericComparator", 0.5),
    ]


@pytest.mark.parametrize(
    ("types", "annotations"),
    [
        (("string", "number", "integer"), DATE),
        (("string", "boolean"), {}),
        (("number", "integer"), MONEY),
    ],
)
def test_only_numbers_are_read_as_the_text_beside_them(types, annotations):
    union = {"anyOf": [{"type": type_name} for type_name in types]}
    name = "due" if "string" in types else "total"

    schema, entries = field(name, union)

    assert {key: value for key, value in schema.items() if key != "anyOf"} == annotations
    assert len(entries) == (1 if annotations else 2)


def test_a_union_whose_arms_agree_is_annotated_once():
    schema = {"anyOf": [STRING, {"type": "integer"}, NULL]}

    annotated, entries = field("customer_id", schema)

    assert annotated == {**schema, **EXACT}
    assert len(entries) == 1


def test_a_union_whose_arms_differ_is_annotated_arm_by_arm():
    vendor = {"anyOf": [STRING, FLOAT, {"type": "object", "properties": {"city": STRING}}]}

    schema, entries = field("vendor", vendor)

    text, number, nested = schema["anyOf"]
    assert text == {**STRING, **NAME}
    assert number == {**FLOAT, **NUMBER}
    assert nested["properties"]["city"][X + "threshold"] == 0.9
    assert [field_path(entry.path) for entry in entries] == ["vendor"] * 3 + ["vendor.city"]
    assert not any(entry.reason.endswith((TEXTS, NUMBERS)) for entry in entries)


def test_parts_that_are_shared_are_annotated_in_each_object_that_has_them():
    extra_keywords = {"$defs": {"Text": STRING, "Texts": {"type": "array", "items": STRING}}}
    shared = with_fields(sku={"$ref": "#/$defs/Text"}, skus={"$ref": "#/$defs/Texts"})

    schema, _ = inferred(with_fields(extra_keywords, a=shared, b=deepcopy(shared)))

    for name in "ab":
        properties = schema["properties"][name]["properties"]
        assert properties == {key: {**shared["properties"][key], **EXACT} for key in properties}
    assert schema["$defs"] == extra_keywords["$defs"]


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

    assert [entry.weight for entry in entries] == weights
    assert ["weight" in entry.stated for entry in entries] == [weight != 1 for weight in weights]


def test_the_positions_of_a_tuple_are_annotated_each():
    schema, entries = field(
        "period",
        {"type": "array", "prefixItems": [STRING, FLOAT], "items": STRING, X + "weight": 2},
    )

    assert schema["prefixItems"] == [{**STRING, **DATE}, {**FLOAT, **NUMBER}]
    assert schema["items"] == {**STRING, **DATE}
    assert {entry.weight for entry in entries} == {2}


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

    assert {entry.comparator for entry in entries} & {"BBoxIoUComparator"} == set()


def test_fields_of_nested_objects_and_items_are_annotated_where_they_stand():
    item = with_fields(sku=STRING, price=FLOAT)

    schema, entries = field("lines", {"type": "array", "items": item})

    assert schema["items"]["properties"] == {
        "sku": {**STRING, **EXACT},
        "price": {**FLOAT, **MONEY},
    }
    assert [(field_path(entry.path), entry.threshold, entry.reason) for entry in entries[:1]] == [
        ("lines", 0.7, "by its fields; items in any order")
    ]
    assert [field_path(entry.path) for entry in entries[1:]] == ["lines.sku", "lines.price"]


def test_the_values_of_a_map_go_by_its_name():
    prices = {
        "type": "object",
        "patternProperties": {"^n": STRING},
        "additionalProperties": FLOAT,
    }

    schema, entries = field("prices", prices)

    assert schema["patternProperties"] == {"^n": {**STRING, **MONEY}}
    assert schema["additionalProperties"] == {**FLOAT, **MONEY}
    assert [field_path(entry.path) for entry in entries] == ["prices", "prices.*"]


def test_all_of_is_read_as_one_and_annotated_at_the_schema_that_wins():
    extra_keywords = {"$defs": {"Base": with_fields(due=STRING, sku=STRING)}}
    combined = {"allOf": [{"$ref": "#/$defs/Base"}], "properties": {"due": {"format": "date"}}}

    schema, entries = field("part", combined, extra_keywords)

    assert schema["properties"]["due"] == {"format": "date", **DATE}
    assert {field_path(entry.path): entry.reason for entry in entries}["part.due"] == "format date"


class SameKeys(BaseComparator):
    takes = frozenset({"object", "array"})

    def compare(self, gt, pred):
        return float(set(gt) == set(pred))


@pytest.mark.parametrize("schema", [with_fields(sku=STRING), FLOATS])
def test_what_a_comparator_takes_whole_is_one_entry_and_left_alone(schema):
    schema = with_fields(x={**schema, X + "comparator": "mine"})

    annotated, (entry,), *_ = infer(schema, comparators={"mine": SameKeys()})

    compile_schema(annotated, comparators={"mine": SameKeys()})
    assert annotated == schema
    assert (entry.comparator, entry.threshold) == ("SameKeys", 0.5)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({X + "comparator": "Nope"}, "Nope"),
        ({X + "comparator": "FuzzyComparator", X + "comparator-config": {"a": 1}}, "FuzzyComp"),
    ],
)
def test_a_comparator_that_cannot_be_made_stays_for_the_compiler_to_tell(key, message):
    schema, (entry,), *_ = infer(with_fields(skus={"type": "array", "items": STRING, **key}))

    assert entry.comparator == key[X + "comparator"]
    with pytest.raises(SchemaError, match=message):
        compile_schema(schema)


def test_a_recursive_schema_is_annotated_in_place_and_listed_once():
    tree = with_fields(name=STRING, children={"type": "array", "items": {"$ref": "#/$defs/Tree"}})

    schema, entries = inferred({"$defs": {"Tree": tree}, "$ref": "#/$defs/Tree"})

    assert schema["$defs"]["Tree"]["properties"]["name"] == {**STRING, **NAME}
    assert [(field_path(entry.path), entry.reason) for entry in entries[2:]] == [
        ("children.name", entries[0].reason),
        ("children.children", "as children"),
    ]


def test_a_part_that_occurs_twice_is_listed_twice_if_it_is_small():
    extra_keywords = {"$defs": {"Address": with_fields(city=STRING, zip=STRING)}}
    ref = {"$ref": "#/$defs/Address"}

    schema, entries = inferred(with_fields(extra_keywords, ship_to=ref, bill_to=ref))

    assert [field_path(entry.path) for entry in entries] == [
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
    inner = with_fields(**{f"x{number}": STRING for number in range(fields)})
    extra_keywords = {
        "$defs": {"Part": with_fields(inner={"$ref": "#/$defs/Inner"}), "Inner": inner}
    }
    ref = {"$ref": "#/$defs/Part"}

    entries = inferred(with_fields(extra_keywords, a=ref, b=ref))[1]

    assert sum(entry.path[:2] == ("b", "inner") for entry in entries) == again


def test_a_large_part_that_occurs_again_is_one_entry():
    large = with_fields(**{f"x{number}": STRING for number in range(REPEATED)})
    extra_keywords = {"$defs": {"Holder": with_fields(large=large)}}
    ref = {"$ref": "#/$defs/Holder"}

    entries = inferred(with_fields(extra_keywords, a=ref, b=ref))[1]

    assert len(entries) == 1 + 1 + REPEATED + 2
    assert entries[-1].path == ("b", "large")
    assert entries[-1].reason == "as a.large"


def test_what_is_deep_inside_others_comes_last():
    depth = DEEPEST + 3
    deep = STRING
    for _ in range(depth):
        deep = with_fields(a=deep, b=with_fields(c=with_fields(d=with_fields(e=STRING))))

    paths = [entry.path for entry in inferred(deep)[1]]

    levels = [len(path) for path in paths if path[-1] == "a"]
    assert levels == [*range(1, depth + 1)]
    late = [len(path) > DEEPEST for path in paths]
    assert late == sorted(late)
    assert len(paths) == 5 * depth


def test_what_other_files_describe_is_inferred_and_the_files_stay_as_they_are(tmp_path):
    other = {"$defs": {"Part": with_fields(sku=STRING, box=FLOATS)}}
    (tmp_path / "parts.json").write_text(json.dumps(other), encoding="utf-8")
    schema = with_fields(part={"$ref": "parts.json#/$defs/Part"})

    inferred_schema = infer(schema, "s.json", tmp_path / "s.json")

    assert inferred_schema.schema == schema
    assert [(field_path(row.path), row.comparator) for row in inferred_schema.fields] == [
        ("part", ""),
        ("part.sku", "ExactComparator"),
        ("part.box", "BBoxIoUComparator"),
    ]
    plan = compile_schema(
        schema, "s.json", tmp_path / "s.json", inferred=inferred_schema.annotations
    )
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
    inferred_schema = infer(schema)

    plan = compile_schema(inferred_schema.schema, inferred=inferred_schema.annotations)

    sources = [node.threshold_source for _, node in plan.root.list_fields()]
    assert sources == ["inferred", "inferred", "annotation"]
    assert [entry.source for entry in inferred_schema.fields] == sources


@pytest.mark.parametrize(
    ("properties", "left"),
    [
        ({"a": {**STRING, X + "threshold": 1}, "sku": STRING}, True),
        ({"a": {**STRING, X + "comparator": "ExactComparator"}, "sku": STRING}, True),
        ({"a": {**STRING, X + "comparator-config": {"threshold": 1}}, "sku": STRING}, True),
        (
            {"sku": STRING, "a": {"type": "array", "items": {X + "clip-under-threshold": True}}},
            True,
        ),
        ({"a": {"$ref": "#/$defs/said"}, "sku": STRING}, True),
        ({"sku": STRING, "a": STRING}, False),
        ({"a": {**STRING, X + "weight": 2}, "sku": STRING}, False),
        ({"sku": STRING, "a": {"type": "array", "items": {X + "aggregate": False}}}, False),
        ({"a": {**STRING, X + "aliases": {"x": ["y"]}}, "sku": STRING}, False),
        ({"a": {**STRING, X + "absent-values": ["-"]}, "sku": STRING}, False),
        ({"a": {**STRING, X + "ignore": True}, "sku": STRING}, False),
        ({"a": {"type": "array", "items": STRING, X + "ordered": True}, "sku": STRING}, False),
        ({"a": {**with_fields(b=STRING), X + "match-threshold": 0.5}, "sku": STRING}, False),
        ({"a": {**with_fields(b=STRING), X + "model-name": "A"}, "sku": STRING}, False),
    ],
)
def test_a_schema_is_left_as_it_is_only_if_it_says_how_values_are_compared(properties, left):
    stated_schema = {**STRING, X + "threshold": 0.5}
    schema = {**with_fields(**properties), "$defs": {"said": stated_schema}}

    annotated, fields, choices, *_ = infer(schema, when="auto")

    assert (annotated == schema) is left
    assert (choices == {}) is left
    assert ("inferred" in {row.source for row in fields}) is not left
    sku = next(row for row in fields if row.path == ("sku",))
    assert sku.comparator == ("LevenshteinComparator" if left else "ExactComparator")
    never = infer(schema, when="never")
    assert (never.schema, never.choices) == (schema, {})
    assert {row.source for row in never.fields} <= {"default", "annotation"}
    assert (never.fields == fields) is left


def test_a_schema_with_annotations_is_read_with_all_that_it_takes(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps(FLOAT), encoding="utf-8")
    schema = with_fields(a={**STRING, X + "comparator": "mine"}, b={"$ref": "b.json"})
    comparators = {"mine": NumericComparator(absolute_tolerance=0.5)}

    inferred_schema = infer(
        schema, "s.json", tmp_path / "s.json", when="auto", comparators=comparators
    )

    assert [row.compared_by for row in inferred_schema.fields] == [
        "NumericComparator(absolute_tolerance=0.5)",
        "NumericComparator",
    ]


def test_choices_are_known_by_the_place_they_are_written_to():
    inferred_schema = infer(
        with_fields(a=with_fields(sku=STRING), skus={"type": "array", "items": STRING})
    )

    assert {place: choice.path for (_, place), choice in inferred_schema.choices.items()} == {
        ("properties", "a", "properties", "sku"): ("a", "sku"),
        ("properties", "skus"): ("skus",),
    }


def test_annotations_of_a_place_of_any_kind_are_told():
    entry = one("x", {X + "comparator": "ExactComparator"})

    assert (entry.comparator, entry.reason) == ("ExactComparator", "as annotated")
    entry = one("x", {X + "threshold": 0.3})
    assert (entry.comparator, entry.config, entry.threshold) == ("", {}, 0.3)
    assert (entry.source, entry.stated) == ("annotation", ("threshold",))


@pytest.mark.parametrize("schema", [STRING, {**STRING, "format": "duration"}])
def test_what_is_left_to_its_kind_is_told_so(schema):
    (entry,) = infer(with_fields(due=schema), when="never").fields

    assert (entry.comparator, entry.reason, entry.source) == (
        "LevenshteinComparator",
        "the usual comparison of texts, because the field name suggests no other",
        "default",
    )


def test_alternatives_for_the_whole_document_list_a_common_field_once():
    arms = [with_fields(sku=STRING, a=STRING), with_fields(sku=STRING, b=STRING)]

    entries = inferred({"anyOf": arms})[1]

    assert [field_path(entry.path) for entry in entries] == ["sku", "a", "b"]


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
TEXTS, NUMBERS = "for texts that are not numbers", "also for texts that are numbers"


@pytest.mark.parametrize(
    ("path", "compared_by", "figures", "kind", "source", "reason", "ends"),
    [
        ("total", CENT, (1.0, 3), "number", "inferred",
         ("weight",), "to a cent is not an error"),
        ("vendor", "LevenshteinComparator", (0.6, 1), "string", "annotation", ("threshold",),
         "as annotated"),
        ("code", "ExactComparator", (0.5, 1), "string", "annotation", ("comparator",),
         "as annotated"),
        ("owner", "", (0.4, 2), "object", "annotation", ("threshold", "weight"), "by its fields"),
        ("owner.name", SORTED, (0.85, 1), "string", "inferred",
         (), "as in `Smith, John`"),
        ("rows", "", (0.8, 4), "list of object", "annotation", ("threshold", "weight"),
         "by its fields; items in any order"),
        ("rows.sku", CODE, (1.0, 1), "string", "inferred", (), "makes a different identifier"),
        ("rows.parts", ANY_TEXT, (0.9, 1), "list of string", "inferred", (),
         "because the field name suggests no other; in any order"),
        ("grid", "", (0.9, 1), "list of array", "annotation", ("threshold",),
         "these lists are paired by their elements"),
        ("grid", ANY_TEXT, (0.9, 1), "list of string", "inferred", (),
         "because the field name suggests no other; in any order"),
        ("pair", ANY_TEXT, (0.9, 1), "string", "inferred", (), "the field name suggests no other"),
        ("pair", READING_ALL, (0.5, 1), "integer", "inferred", (),
         "the field name suggests no other"),
        ("either", ANY_TEXT, (0.9, 1), "string", "inferred", (), TEXTS),
        ("either", READING_ALL, (0.5, 1), "number", "inferred", (), NUMBERS),
        ("size", READING_ALL, (0.5, 1), "number", "inferred", (), NUMBERS),
        ("size", ANY_TEXT, (0.9, 1), "string", "inferred", (), TEXTS),
        ("rates", "", (0.7, 1), "object", "default", (), "by its fields"),
        ("rates.*", READING_ALL, (1.0, 1), "number", "inferred", (), "may be written differently"),
        ("any", "", (None, 1), "any", "default", (), "each compared by its type"),
        ("said", "FuzzyComparator(method='ratio')", (None, 1), "any", "annotation", ("comparator",),
         "as annotated"),
        ("free", "", (0.7, 1), "object", "default", (), (
            "compared field by field"
        )),
        ("list", "", (None, 1), "array", "default", (), "each compared by its type"),
    ],
)  # fmt: skip
def test_every_field_is_told_with_who_said_what(
    path, compared_by, figures, kind, source, reason, ends
):
    (field_found,) = (
        field_found
        for field_found in infer(ALL_KINDS).fields
        if (field_path(field_found.path), field_found.compared_by) == (path, compared_by)
    )
    assert ((field_found.threshold, field_found.weight), field_found.kind) == (figures, kind)
    assert (field_found.source, field_found.stated, field_found.reason.endswith(ends)) == (
        source,
        reason,
        True,
    )


def test_where_annotations_stand_is_told_the_nearest_last():
    stands = {row.path: row.stands for row in infer(ALL_KINDS).fields}
    assert stands["owner",] == ("/properties/owner",)
    assert stands["rows",] == ("/properties/rows/items",)
    parts_pointer = "/properties/rows/items/properties/parts"
    assert stands["rows", "parts"] == (parts_pointer, f"{parts_pointer}/items")
    assert stands["either",] == ()
    assert len(infer(ALL_KINDS).fields) == 22


def test_a_boolean_schema_has_no_fields():
    assert infer(True) == (True, (), {}, False, False, ())
