"""The kind of each field, which its schema decides."""

from dataclasses import replace

import pytest

from stickler_cli.comparators.exact import ExactComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.comparators.texts import FuzzyComparator, LevenshteinComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.one_of import Arm, OneOfNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.kinds import open_default
from stickler_cli.schema.verdicts import NumberAcceptor, TypeAcceptor

COMPARATOR = "x-aws-stickler-comparator"
CONFIG = "x-aws-stickler-comparator-config"
THRESHOLD = "x-aws-stickler-threshold"
WEIGHT = "x-aws-stickler-weight"
CLIP = "x-aws-stickler-clip-under-threshold"
AGGREGATE = "x-aws-stickler-aggregate"
FLOOR = "x-aws-stickler-pairing-floor"
MATCH = "x-aws-stickler-match-threshold"

STRING = {"type": "string"}
BOX = {"type": "array", "items": {"type": "number"}, COMPARATOR: "BBoxIoUComparator"}


def field_of(schema, draft=None):
    document_schema = {"type": "object", "properties": {"a": schema}}
    if draft:
        document_schema["$schema"] = f"https://json-schema.org/{draft}/schema"
    (field,) = compile_schema(document_schema).root.fields
    return field


def node_of(schema, draft=None):
    return field_of(schema, draft).node


class WholeObject(ExactComparator):
    """A comparator that compares whole objects."""

    takes = frozenset({"object"})


@pytest.mark.parametrize(
    ("schema", "comparator", "threshold"),
    [
        ({"type": "string"}, "LevenshteinComparator", 0.5),
        ({"type": "string", "format": "color"}, "LevenshteinComparator", 0.5),
        ({"type": "number", "format": "date"}, "NumericComparator", 0.5),
        ({"type": "integer"}, "NumericComparator", 0.5),
        ({"type": "boolean"}, "ExactComparator", 1.0),
        ({"type": ["string", "null"]}, "LevenshteinComparator", 0.5),
        ({"type": ["integer", "number"]}, "NumericComparator", 0.5),
        ({"format": "date"}, "DateComparator", 1.0),
        ({"type": "string", "enum": ["a", None]}, "EnumComparator", 1.0),
        ({"enum": ["a", "b", None]}, "EnumComparator", 1.0),
        ({"enum": [1, 2.5]}, "EnumComparator", 1.0),
        ({"enum": ["a", 1, True]}, "EnumComparator", 1.0),
        ({"const": 1}, "EnumComparator", 1.0),
        ({"type": "number", "const": 0}, "EnumComparator", 1.0),
        ({"type": "string", COMPARATOR: "NumericComparator"}, "NumericComparator", 0.5),
        ({"type": "string", "format": "ipv4"}, "CaseInsensitiveComparator", 1.0),
        ({"type": "string", "format": "uuid"}, "ExactComparator", 1.0),
        ({"enum": ["a"], COMPARATOR: "ExactComparator"}, "ExactComparator", 1.0),
        ({"type": "boolean", COMPARATOR: "FuzzyComparator"}, "FuzzyComparator", 1.0),
        ({"type": "boolean", THRESHOLD: 0.2}, "ExactComparator", 0.2),
        ({"type": "array", COMPARATOR: "BBoxIoUComparator"}, "BBoxIoUComparator", 0.5),
        (BOX, "BBoxIoUComparator", 0.5),
    ],
)
def test_a_leaf_has_the_comparator_and_threshold_of_its_kind(schema, comparator, threshold):
    node = node_of(schema)

    assert isinstance(node, LeafNode)
    assert node.comparator.name == comparator
    assert node.threshold == threshold


def test_an_enumeration_has_its_own_members_where_no_annotation_says_others():
    config = {CONFIG: {"threshold": 0.9}}
    named = {COMPARATOR: "EnumComparator"}
    schemas = [{}, config, named, named | config, named | {CONFIG: {"members": ["c"]}}]
    members = [node_of({"enum": ["a", "b"]} | schema).comparator.members for schema in schemas]

    assert members == [["a", "b"]] * 4 + [["c"]]
    assert node_of({"type": "string"} | named).comparator.members is None
    listed = node_of({"type": "array", "items": {"enum": ["a", "b"]}} | named)
    assert listed.items.comparator.members == ["a", "b"]


TEXT = LeafNode(comparator=LevenshteinComparator(), threshold=0.5)
NUMBER = LeafNode(comparator=NumericComparator(), threshold=0.5)
TRUTH = LeafNode(comparator=ExactComparator(), threshold=1.0)
SOUND = LeafNode(comparator=FuzzyComparator(), threshold=0.9, weight=2.0, clip=True)
SAID = {COMPARATOR: "FuzzyComparator", THRESHOLD: 0.9, WEIGHT: 2, CLIP: True, AGGREGATE: False}
B_TEXT, B_NUMBER = (Field("b", TEXT),), (Field("b", NUMBER),)
OBJECT = {"type": "object", "properties": {"b": STRING}}


def open_node(weight=1.0, **rest):
    leaves = dict.fromkeys(("string", "number", "integer", "boolean"))
    for kind, node in zip(leaves, (TEXT, NUMBER, NUMBER, TRUTH), strict=True):
        leaves[kind] = replace(node, weight=weight)
    thresholds = {"threshold": 0.5, "object_threshold": 0.7, "match_threshold": 0.7}
    return OpenNode(leaves=leaves, weight=weight, **thresholds, **rest)


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        (STRING, Field("a", TEXT)),
        ({**STRING, **SAID}, Field("a", SOUND, aggregate=False)),
        ({"type": ["null", "boolean"], WEIGHT: 3}, Field("a", replace(TRUTH, weight=3.0))),
        ({}, Field("a", open_node())),
        (
            {WEIGHT: 2, AGGREGATE: True},
            Field(
                "a",
                open_node(2.0, item_node=open_node(), value_node=open_node()),
                aggregate=True,
            ),
        ),
        (
            {"type": "array", "items": {"type": "boolean", WEIGHT: 2, AGGREGATE: True}},
            Field("a", ListNode(threshold=1.0, threshold_stated=False, weight=2.0,
                                items=replace(TRUTH, weight=2.0)), aggregate=True),
        ),
        (
            {"type": "array", "items": OBJECT, THRESHOLD: 0.4, FLOOR: 0.2},
            Field("a", ListNode(threshold=0.4, pairing_floor=0.2,
                                items=ObjectNode(fields=B_TEXT, threshold=0.7))),
        ),
        (
            {"type": "array", "prefixItems": [STRING], "items": {"type": "number"},
             WEIGHT: 2, AGGREGATE: False},
            Field(
                "a",
                TupleNode(
                    positions=(TEXT,), other_positions=NUMBER, threshold=0.5, weight=2.0
                ),
                aggregate=False,
            ),
        ),
        (OBJECT, Field("a", ObjectNode(fields=B_TEXT, threshold=0.7))),
        (
            {**OBJECT, "x-aws-stickler-model-name": "M", MATCH: 0.3, THRESHOLD: 0.4, WEIGHT: 2,
             CLIP: True, AGGREGATE: True},
            Field("a", ObjectNode(fields=B_TEXT, model_name="M", match_threshold=0.3, weight=2.0,
                                  threshold=0.4, clip=True), aggregate=True),
        ),
        (
            {**OBJECT, "additionalProperties": {"type": "number", AGGREGATE: False}},
            Field("a", ObjectNode(fields=B_TEXT, families=(Field("", NUMBER, aggregate=False),),
                               threshold=0.7)),
        ),
        (
            {"type": ["string", "number"], WEIGHT: 2},
            Field("a", OneOfNode(threshold=0.5, weight=2.0, arms=(
                Arm(NumberAcceptor(TypeAcceptor(frozenset({"string"})), numbers=False),
                    replace(TEXT, weight=2.0)),
                Arm(NumberAcceptor(TypeAcceptor(frozenset({"number"})), numbers=True),
                    replace(NUMBER, weight=2.0)),
            ))),
        ),
        (
            {"anyOf": [{"type": ["boolean", "null"], "title": "t"},
                       {"type": "integer", AGGREGATE: False}]},
            Field("a", OneOfNode(threshold=1.0, arms=(
                Arm(TypeAcceptor(frozenset({"boolean", "null"})), TRUTH),
                Arm(TypeAcceptor(frozenset({"integer"})), NUMBER, aggregate=False),
            ))),
        ),
    ],
)  # fmt: skip
def test_a_node_holds_all_that_its_schema_says(schema, field):
    assert field_of(schema) == field


@pytest.mark.parametrize(
    ("schema", "sources"),
    [
        (STRING, ["default"]),
        ({**STRING, THRESHOLD: 0.5}, ["annotation"]),
        ({**STRING, CONFIG: {"threshold": 0.5}}, ["annotation"]),
        ({"type": "array", "items": STRING}, ["default", "default"]),
        ({"type": "array", "items": {**STRING, THRESHOLD: 0.1}}, ["annotation", "annotation"]),
        ({"type": "array", "items": STRING, THRESHOLD: 0.1}, ["annotation", "annotation"]),
        ({"type": "array", "items": OBJECT}, ["default", "default", "default"]),
        ({"type": "array", "items": {**OBJECT, MATCH: 0.7}},
         ["match-threshold", "match-threshold", "match-threshold"]),
        ({"type": "array", "items": OBJECT, THRESHOLD: 0.7}, ["annotation", "default", "default"]),
        ({"prefixItems": [STRING], "items": STRING}, ["default", "default", "default"]),
        ({"prefixItems": [STRING], "items": STRING, THRESHOLD: 0.5},
         ["annotation", "default", "default"]),
        (OBJECT, ["default", "default"]),
        ({**OBJECT, MATCH: 0.7}, ["match-threshold", "match-threshold"]),
        ({**OBJECT, THRESHOLD: 0.7}, ["annotation", "default"]),
        ({**OBJECT, THRESHOLD: 0.7, MATCH: 0.7}, ["annotation", "match-threshold"]),
    ],
)  # fmt: skip
def test_it_is_known_who_said_a_threshold(schema, sources):
    node, sources_found = node_of(schema), []
    for inner in (node, *node.inner_nodes()):
        sources_found.append(inner.threshold_source)
        sources_found += [inner.match_source] if hasattr(inner, "match_source") else []
    assert sources_found == sources


@pytest.mark.parametrize(
    "schema", [STRING, OBJECT, {"items": STRING}, {"prefixItems": [STRING]}, {"type": "object"}]
)
def test_values_of_another_kind_are_compared_as_where_nothing_is_said(schema):
    assert node_of(schema).other is open_default()


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"properties": {"b": STRING}}, ObjectNode),
        ({"patternProperties": {"^x": STRING}}, "map"),
        ({"additionalProperties": {}}, "map"),
        ({"items": STRING}, ListNode),
        ({"items": True}, ListNode),
        ({"prefixItems": [STRING]}, TupleNode),
        ({"const": {"b": 1}}, "map"),
        ({"const": [1]}, ListNode),
        ({"enum": ["a", {"b": 1}]}, OneOfNode),
        ({"enum": [None]}, OpenNode),
        ({"format": "color"}, OpenNode),
        ({"type": "null"}, OpenNode),
        ({"additionalProperties": False}, OpenNode),
        ({"required": ["b"]}, OpenNode),
        ({}, OpenNode),
        (True, OpenNode),
        (False, OpenNode),
    ],
)
def test_a_schema_without_a_type_is_of_the_type_whose_keywords_it_has(schema, kind):
    node = node_of(schema)

    assert kind == ("map" if isinstance(node, ObjectNode) and node.families else type(node))


def test_a_place_of_any_kind_has_its_annotations_for_each():
    node = node_of({COMPARATOR: "ExactComparator", THRESHOLD: 0.9, WEIGHT: 2, CLIP: True})

    leaf = node.choose("text")
    assert (leaf.comparator.name, leaf.threshold, leaf.weight) == ("ExactComparator", 0.9, 2.0)
    assert leaf.clip


def test_a_config_alone_goes_to_the_kinds_that_take_it():
    node = node_of({CONFIG: {"relative_tolerance": 0.5}})

    assert node.choose(1).comparator.config == {"relative_tolerance": 0.5}
    assert node.choose("text").comparator.config == {}


class TestArrays:
    def test_weight_and_aggregate_on_the_array_win(self):
        items = {**STRING, WEIGHT: 3, AGGREGATE: False}
        field = field_of({"type": "array", WEIGHT: 2, AGGREGATE: True, "items": items})

        assert (field.node.weight, field.aggregate) == (2.0, True)

    def test_objects_in_a_list_do_not_speak_for_it(self):
        items = {"type": "object", "properties": {"b": STRING}, WEIGHT: 3, AGGREGATE: False}
        field = field_of({"type": "array", "items": {**items, MATCH: 0.9}})

        assert (field.node.weight, field.aggregate) == (1.0, None)
        assert field.node.items.item_threshold == 0.9

    def test_in_lists_of_lists_all_but_the_threshold_reach_the_leaves(self):
        node = node_of(
            {
                "type": "array",
                COMPARATOR: "FuzzyComparator",
                THRESHOLD: 0.9,
                CLIP: True,
                "items": {"type": "array", "items": STRING},
            }
        )

        inner = node.items
        assert (node.threshold, inner.threshold, inner.items.threshold) == (0.9, 0.9, 0.5)
        assert inner.items.comparator == FuzzyComparator()
        assert inner.items.clip

    def test_each_list_has_a_pairing_floor_of_its_own(self):
        node = node_of(
            {"type": "array", FLOOR: 0.4, "items": {"type": "array", FLOOR: -1, "items": STRING}}
        )

        assert (node.pairing_floor, node.items.pairing_floor) == (0.4, -1.0)

    def test_a_list_without_items_has_elements_of_any_kind(self):
        node = node_of({"type": "array", COMPARATOR: "ExactComparator", THRESHOLD: 0.9})

        leaf = node.items.choose("text")
        assert (leaf.comparator, leaf.threshold) == (ExactComparator(), 0.9)


class TestTuples:
    def test_a_list_of_items_makes_one_up_to_2019_09(self):
        schema = {"type": "array", "items": [STRING], "additionalItems": {"type": "boolean"}}
        node = node_of(schema, "draft/2019-09")

        assert [position.comparator.name for position in node.positions] == [
            "LevenshteinComparator"
        ]
        assert node.other_positions.comparator.name == "ExactComparator"

    def test_prefix_items_mean_nothing_up_to_2019_09(self):
        assert isinstance(node_of({"prefixItems": [STRING]}, "draft-07"), OpenNode)

    def test_positions_keep_their_own_thresholds_and_take_the_comparator(self):
        node = node_of(
            {
                "type": "array",
                COMPARATOR: "ExactComparator",
                THRESHOLD: 0.9,
                "prefixItems": [{**STRING, THRESHOLD: 0.2}, STRING],
            }
        )

        assert [position.threshold for position in node.positions] == [0.2, 0.5]
        assert node.positions[0].comparator == ExactComparator()
        assert node.threshold == 0.9

    def test_branches_add_up_position_by_position(self):
        node = node_of(
            {
                "type": "array",
                "prefixItems": [{}],
                "allOf": [{"prefixItems": [{"type": "number"}, {"type": "boolean"}]}],
            }
        )

        names = [position.comparator.name for position in node.positions]
        assert names == ["NumericComparator", "ExactComparator"]


class TestObjects:
    def test_fields_stand_in_the_order_of_a_reader(self):
        schema = {
            "$ref": "#/$defs/base",
            "properties": {"c": STRING, "b": STRING},
            "$defs": {"base": {"properties": {"a": STRING, "b": STRING}}},
        }

        assert [field.name for field in compile_schema(schema).root.fields] == ["a", "b", "c"]

    def test_a_model_has_the_name_that_it_says(self):
        schema = {"type": "object", "x-aws-stickler-model-name": "Invoice"}

        assert compile_schema(schema).model_name == "Invoice"
        assert compile_schema({"type": "object"}).model_name == "DynamicModel"

    def test_an_object_in_a_field_has_the_name_that_it_says_or_none(self):
        item = {"type": "object", "properties": {"b": STRING}}

        assert node_of({**item, "x-aws-stickler-model-name": "Item"}).model_name == "Item"
        assert node_of(item).model_name == ""

    @pytest.mark.parametrize(
        "family",
        [
            {},
            {"additionalProperties": True},
            {"unevaluatedProperties": True},
            {"required": ["b"]},
            {"if": {"properties": {"b": STRING}}, "then": {"required": ["b"]}},
        ],
    )
    def test_an_object_that_declares_nothing_is_free_form(self, family):
        node = node_of({"type": "object", **family})

        (family,) = node.families
        assert isinstance(family.node, OpenNode)

    @pytest.mark.parametrize(
        "root_keywords",
        [{"properties": {}}, {"additionalProperties": False}, {"unevaluatedProperties": False}],
    )
    def test_an_object_that_declares_that_there_is_nothing_has_no_field(self, root_keywords):
        node = node_of({"type": "object", **root_keywords})

        assert node.families == node.fields == ()

    @pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
    @pytest.mark.parametrize("schema", [{}, {"type": "number"}])
    def test_a_schema_for_other_keys_makes_a_map(self, keyword, schema):
        node = node_of({"type": "object", "properties": {"b": STRING}, keyword: schema})

        assert [field.name for field in node.fields] == ["b"]
        assert len(node.families) == 1

    @pytest.mark.parametrize("other", [True, False])
    def test_true_and_false_for_other_keys_make_none(self, other):
        node = node_of({"properties": {"b": STRING}, "additionalProperties": other})

        assert node.families == ()

    def test_patterns_make_a_map_whose_other_keys_are_undeclared(self):
        node = node_of({"patternProperties": {"^x": {"type": "number", AGGREGATE: False}}})

        (pattern,) = node.families
        assert pattern.key_pattern.search("x1")
        assert pattern.node.comparator.name == "NumericComparator"
        assert pattern.aggregate is False

    def test_a_pattern_for_keys_that_cannot_be_read_is_refused_where_it_stands(self):
        schema = {"allOf": [{"type": "object"}, {"patternProperties": {"(": {}}}]}

        with pytest.raises(SchemaError) as refusal:
            compile_schema(schema)

        (problem,) = refusal.value.problems
        assert problem.pointer == "/allOf/1/patternProperties/("
        assert str(problem) == (
            '#/allOf/1/patternProperties/(: stickler cannot use the pattern "(", expected a '
            "pattern of the kinds that docs/schema.md describes"
        )

    def test_the_comparator_of_models_compares_field_by_field(self):
        schema = {"type": "object", "properties": {"b": STRING}}

        assert node_of({**schema, COMPARATOR: "StructuredModelComparator"}) == node_of(schema)

    def test_a_comparator_that_takes_an_object_makes_it_a_leaf(self, monkeypatch):
        monkeypatch.setattr(
            "stickler_cli.comparators.exact.WholeObject", WholeObject, raising=False
        )
        name = "stickler_cli.comparators.exact:WholeObject"
        point = {"type": "object", "properties": {"b": STRING}, COMPARATOR: name}
        schema = {"type": "object", "properties": {"a": point}}

        (field,) = compile_schema(schema, allow_plugins=True).root.fields
        assert field.node.comparator == WholeObject()


class TestPlacesOfAnyKind:
    """Annotations of a field of any kind apply to all values, objects and lists in it."""

    def test_a_threshold_is_that_of_leaves_elements_and_objects(self):
        node = node_of({THRESHOLD: 0.9})

        assert node.choose("x").threshold == node.choose(1).threshold == 0.9
        assert node.choose(["x"]).items.choose("x").threshold == 0.9
        assert node.choose({"b": 1}).threshold == 0.9

    def test_a_threshold_does_not_reach_what_is_in_objects_or_lists_of_lists(self):
        node = node_of({THRESHOLD: 0.9})

        inner = node.choose([["x"]]).items.choose(["x"])
        assert inner.items.choose("x").threshold == 0.5
        assert node.choose({"b": "x"}).families[0].node.choose("x").threshold == 0.5
        assert inner.items.choose("x").comparator == LevenshteinComparator()
        assert node.choose([{"b": "x"}]).items.choose({"b": "x"}).item_threshold == 0.7

    @pytest.mark.parametrize("depth", range(5))
    @pytest.mark.parametrize("annotations", [{}, {WEIGHT: 2}])
    def test_a_comparator_reaches_lists_of_lists_but_no_object_in_them(self, depth, annotations):
        node = node_of({COMPARATOR: "FuzzyComparator", **annotations})

        for _ in range(depth):
            node = node.choose([]).items
        assert node.choose("x").comparator == FuzzyComparator()
        assert (
            node.choose({"b": "x"}).families[0].node.choose("x").comparator
            == LevenshteinComparator()
        )

    def test_a_match_threshold_is_that_of_items_and_else_of_the_object(self):
        node = node_of({MATCH: 0.6})

        assert node.choose({"b": "x"}).threshold == 0.6
        assert node.choose([{"b": "x"}]).items.choose({"b": "x"}).item_threshold == 0.6
        assert node.choose("x").threshold == 0.5

    def test_a_pairing_floor_is_that_of_its_lists_and_clipping_that_of_its_values(self):
        node = node_of({FLOOR: 0.6, CLIP: True})

        assert node.choose(["x"]).pairing_floor == 0.6
        assert node.choose([["x"]]).items.choose(["x"]).pairing_floor is None
        assert (node.choose("x").clip, node.choose({"b": 1}).clip) == (True, True)

    def test_its_say_on_the_aggregate_is_that_of_the_field(self):
        assert field_of({AGGREGATE: False}).aggregate is False
        assert field_of({AGGREGATE: True, THRESHOLD: 0.9}).aggregate is True
        assert field_of({}).aggregate is None

    def test_its_weight_is_that_of_whatever_stands_there_and_of_nothing_inside(self):
        node = node_of({WEIGHT: 3})

        values = "x", 1, True, ["x"], {"b": "x"}
        assert [node.choose(value).weight for value in values] == [3] * 5
        assert node.choose({"b": "x"}).families[0].node.choose("x").weight == 1

    def test_who_said_a_threshold_is_known_of_every_kind(self):
        silent, stated, model = node_of({}), node_of({THRESHOLD: 0.9}), node_of({MATCH: 0.6})

        def sources(node):
            item = node.choose([{"b": "x"}]).items.choose({"b": "x"})
            values = "x", ["x"], {"b": "x"}
            return [*(node.choose(value).threshold_source for value in values), item.match_source]

        assert sources(silent) == ["default"] * 4
        assert sources(stated) == ["annotation", "annotation", "annotation", "default"]
        assert sources(model) == ["default", "default", "match-threshold", "match-threshold"]

    def test_elements_know_their_threshold_as_objects_too(self):
        item = node_of({MATCH: 0.6}).choose([{"b": "x"}]).items.choose({"b": "x"})

        assert (item.threshold, item.threshold_source) == (0.6, "match-threshold")

    def test_all_that_is_annotated_speaks_together(self):
        node = node_of({THRESHOLD: 0.9, FLOOR: 0.3, MATCH: 0.6})

        assert node.choose("x").threshold == 0.9
        assert node.choose(["x"]).pairing_floor == 0.3
        assert node.choose([{"b": "x"}]).items.choose({"b": "x"}).item_threshold == 0.6

    def test_a_comparator_that_takes_an_array_sees_it_whole(self):
        leaf = node_of({COMPARATOR: "BBoxIoUComparator"}).choose([0, 0, 1, 1])

        assert isinstance(leaf, LeafNode)
        assert leaf.comparator.name == "BBoxIoUComparator"


@pytest.mark.parametrize("schema", [{}, STRING, {**STRING, COMPARATOR: "FuzzyComparator"}])
def test_a_config_that_nothing_takes_is_refused_where_it_stands(schema):
    with pytest.raises(SchemaError, match="bogus") as caught:
        node_of({**schema, CONFIG: {"bogus": 1}})

    assert "/properties/a/x-aws-stickler-comparator-config" in str(caught.value)


@pytest.mark.parametrize(
    "annotations",
    [
        {"prefixItems": [STRING], FLOOR: 0.3},
        {"prefixItems": [STRING], FLOOR: 0.3, THRESHOLD: 0.9, WEIGHT: 2},
        {"items": {"type": "object", "properties": {"b": STRING}}, FLOOR: 0.3},
        {"items": STRING, FLOOR: 0.3, THRESHOLD: 0.9},
    ],
)
def test_a_pairing_floor_has_its_use_on_every_array(annotations):
    assert isinstance(node_of({"type": "array", **annotations}), TupleNode | ListNode)
