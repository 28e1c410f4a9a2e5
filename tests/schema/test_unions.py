"""`allOf`, `$ref`, `anyOf`, `oneOf` and lists of types: precedence, and the chosen arm."""

import pickle

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import OneOfNode
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema

COMPARATOR = "x-aws-stickler-comparator"
CONFIG = "x-aws-stickler-comparator-config"
THRESHOLD = "x-aws-stickler-threshold"
WEIGHT = "x-aws-stickler-weight"

STRING, NUMBER, NULL = {"type": "string"}, {"type": "number"}, {"type": "null"}
DATE = {"type": "string", "format": "date"}


def node_of(schema, **rest):
    (field,) = compile_schema({"type": "object", "properties": {"a": schema}, **rest}).root.fields
    return field.node


def names(node):
    return [field.name for field in node.fields]


class TestWhatWins:
    def test_later_branches_win_over_earlier_ones(self):
        assert node_of({**STRING, "allOf": [{THRESHOLD: 0.1}, {THRESHOLD: 0.9}]}).threshold == 0.9

    def test_branches_win_over_the_target_of_a_reference(self):
        node = node_of(
            {"$ref": "#/$defs/x", "allOf": [{THRESHOLD: 0.9}]},
            **{"$defs": {"x": {**STRING, THRESHOLD: 0.1}}},
        )

        assert node.threshold == 0.9

    def test_branches_speak_together_about_elements(self):
        node = node_of({"items": STRING, "allOf": [{"items": {THRESHOLD: 0.9}}, {"items": {}}]})

        assert (node.items.comparator.name, node.items.threshold) == ("LevenshteinComparator", 0.9)

    def test_a_branch_that_is_there_twice_counts_once(self):
        definitions = {"d0": {"properties": {"b": STRING}}}
        for level in range(1, 40):
            below = {"$ref": f"#/$defs/d{level - 1}"}
            definitions[f"d{level}"] = {"allOf": [below, dict(below)]}

        assert names(node_of({"$ref": "#/$defs/d39"}, **{"$defs": definitions})) == ["b"]

    @pytest.mark.parametrize(
        ("types", "comparator"),
        [
            ([["integer", "string"], "number"], "NumericComparator"),
            (["number", ["integer", "string"]], "NumericComparator"),
            (["number", "integer"], "NumericComparator"),
            ([["string", "boolean"], ["boolean", "null"]], "ExactComparator"),
            (["string", "boolean"], "ExactComparator"),
        ],
    )
    def test_branches_allow_what_all_of_them_allow(self, types, comparator):
        node = node_of({"allOf": [{"type": type_name} for type_name in types]})

        assert isinstance(node, LeafNode)
        assert node.comparator.name == comparator


class TestCircles:
    @pytest.mark.parametrize(
        "definition",
        [
            {"$ref": "#/$defs/x"},
            {"allOf": [{"$ref": "#/$defs/x"}]},
            {"anyOf": [{"$ref": "#/$defs/x"}, STRING]},
            {"$ref": "#/$defs/y"},
            {"anyOf": [{"allOf": [{"$ref": "#/$defs/x"}]}, STRING]},
        ],
    )
    def test_a_reference_that_leads_back_without_a_field_is_refused(self, definition):
        definitions = {"x": definition, "y": {"oneOf": [NUMBER, {"$ref": "#/$defs/x"}]}}
        schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}}

        with pytest.raises(SchemaError, match="refers back to itself") as refusal:
            compile_schema({**schema, "$defs": definitions})

        for problem in refusal.value.problems:
            assert problem.pointer.endswith(("/$ref", "/anyOf/0"))
            place = "#/$defs/" if problem.pointer.endswith("/$ref") else "the alternative"
            assert problem.found.startswith(place)
            assert problem.expected == "a reference that leads to a schema"


class TestArms:
    @pytest.mark.parametrize(
        "schema",
        [
            {"anyOf": [STRING, NULL]},
            {"oneOf": [{"const": None}, STRING]},
            {"oneOf": [{"enum": [None]}, STRING, False]},
            {"anyOf": [{"$ref": "#/$defs/nothing"}, STRING]},
            {"type": ["null", "string"]},
        ],
    )
    def test_null_only_makes_a_field_nullable(self, schema):
        assert node_of(schema, **{"$defs": {"nothing": NULL}}) == node_of(STRING)

    @pytest.mark.parametrize(
        "arms",
        [
            [{"required": ["b"]}, {"required": ["c"]}],
            [{"minLength": 1}, {"pattern": "^a"}, {"x-vendor": 1}],
            [{"not": {"type": "string"}}, {}],
            [True, {"title": "anything"}],
            [{"$ref": "#/$defs/restricted"}],
            [],
        ],
    )
    def test_arms_that_only_restrict_are_no_union(self, arms):
        root_keywords = {"$defs": {"restricted": {"maxLength": 5}}}
        schema = {**STRING, "anyOf": arms} if arms else STRING

        assert isinstance(node_of(schema, **root_keywords), LeafNode)

    def test_arms_that_compare_alike_are_no_union(self):
        assert isinstance(
            node_of({"oneOf": [STRING, {"type": "string", "minLength": 3}]}), LeafNode
        )

    def test_an_arm_speaks_for_itself_and_what_is_outside(self):
        arms = [{"properties": {"c": NUMBER}}, {"properties": {"b": NUMBER}}]
        node = node_of({"properties": {"b": STRING}, "anyOf": arms})

        first, second = (arm.node for arm in node.arms)
        assert names(first) == ["c", "b"]
        assert names(second) == ["b"]

    def test_a_list_of_types_is_a_union(self):
        node = node_of({"type": ["string", "boolean", "object", "array"]})

        assert [type(arm.node) for arm in node.arms] == [LeafNode, LeafNode, ObjectNode, ListNode]
        assert node.choose(True).comparator.name == "ExactComparator"
        assert node.choose({"x": 1}).families

    def test_an_integer_is_a_number_and_so_is_1_0_an_integer(self):
        node = node_of({"anyOf": [{"type": "integer", THRESHOLD: 0.9}, STRING]})
        wide = node_of({"anyOf": [STRING, NUMBER]})

        assert node.choose(1.0).threshold == 0.9
        assert node.choose(1.5).threshold == 0.9  # no arm accepts it: the first
        assert wide.choose(1).comparator.name == "NumericComparator"

    def test_a_fraction_is_no_integer(self):
        node = node_of({"anyOf": [STRING, {"type": "integer"}, {**NUMBER, THRESHOLD: 0.9}]})

        assert node.choose(1.0).threshold == node.choose(2).threshold == 0.5
        assert node.choose(1.5).threshold == 0.9

    def test_arms_of_true_accept_whatever_is_left(self):
        node = node_of({"anyOf": [NUMBER, True]})

        assert isinstance(node.choose(1), LeafNode)
        assert node.choose([1]) is node.arms[1].node

    def test_values_listed_without_a_type_are_told_apart_by_kind(self):
        node = node_of({"enum": ["auto", {"width": 1}]})

        assert node.choose("auto").comparator.name == "EnumComparator"
        assert node.choose({"width": 2}).families

    def test_patterns_of_ecma_262_tell_strings_apart(self):
        arms = [
            {"type": "string", "pattern": r"^\p{Lu}(?<rest>\d+)$", THRESHOLD: 0.9},
            {"type": "object", "patternProperties": {r"^\p{Lu}$": NUMBER},
             "additionalProperties": False},
            {"type": "object", "properties": {"b": STRING}, "additionalProperties": STRING},
            STRING,
        ]  # fmt: skip
        node = node_of({"anyOf": arms})

        assert node.choose("Ä12").threshold == 0.9
        assert node.choose("ä12").threshold == 0.5
        assert node.choose({"Ä": 1}).families[0].key_pattern
        assert node.choose({"Ä": "x"}).families[0].key_pattern is None
        assert node.choose({"b": "x", "c": "y"}).families[0].key_pattern is None

    def test_references_in_an_arm_are_followed_when_it_judges(self):
        schema = {
            "$id": "https://a.org/s.json",
            "type": "object",
            "properties": {"a": {"anyOf": [{"not": {"$ref": "t.json"}, THRESHOLD: 0.9}, STRING]}},
            "$defs": {"t": {"$id": "t.json", "enum": ["x"]}},
        }
        (field,) = compile_schema(schema).root.fields

        assert field.node.choose("y").choose("y").threshold == 0.9
        assert field.node.choose("x").threshold == 0.5

    def test_a_reference_in_an_arm_that_leads_nowhere_is_refused(self):
        arm = {"not": {"$ref": "https://a.org/t.json"}, THRESHOLD: 0.9}

        with pytest.raises(SchemaError, match=r"/anyOf/0/not/\$ref: .* network") as refusal:
            node_of({"anyOf": [arm, STRING]})
        assert len(refusal.value.problems) == 1

    def test_an_arm_that_leads_nowhere_is_refused(self):
        with pytest.raises(SchemaError, match=r"/anyOf/1/\$ref: .* points to nothing"):
            node_of({"anyOf": [STRING, {"$ref": "#/$defs/none"}]})

    def test_a_name_that_is_half_a_character_is_refused_where_an_arm_judges(self):
        schema = {"anyOf": [{**STRING, "minLength": 2, THRESHOLD: 0.9}, STRING]}

        with pytest.raises(SchemaError) as refusal:
            compile_schema({"type": "object", "properties": {"\ud800": schema}})
        (problem,) = refusal.value.problems
        assert problem.expected == ""
        assert problem.found.startswith(
            "values cannot be checked against this alternative of the schema, because "
            "jsonschema-rs rejects the schema ("
        )

    def test_a_pattern_that_cannot_be_used_is_refused_where_an_arm_judges(self):
        schema = {"anyOf": [{**STRING, "pattern": "(", THRESHOLD: 0.9}, STRING]}

        with pytest.raises(SchemaError) as refusal:
            compile_schema({"type": "object", "properties": {"code": schema}})
        assert str(refusal.value) == (
            "#/properties/code/anyOf/0: values cannot be checked against this alternative of the "
            'schema, because stickler cannot use the pattern "(", expected a pattern of the kinds '
            "that docs/schema.md describes"
        )

    def test_a_value_too_deep_to_judge_is_not_accepted(self):
        tree = {"type": "array", "items": {"$ref": "#/$defs/tree"}, "minItems": 1}
        node = node_of({"anyOf": [{"$ref": "#/$defs/tree"}, STRING]}, **{"$defs": {"tree": tree}})
        value = []
        for _ in range(2000):
            value = [value]

        assert node.arms[0].accepts([[[]]]) is False
        assert node.arms[0].accepts(value) is False

    def test_unions_in_one_place_combine(self):
        node = node_of(
            {
                "allOf": [
                    {"anyOf": [{"properties": {"b": STRING}}, {"properties": {"c": STRING}}]},
                    {"anyOf": [{"properties": {"d": STRING}}, {"properties": {"e": STRING}}]},
                ]
            }
        )

        inner = [arm.node for arm in node.arms]
        assert all(isinstance(union, OneOfNode) for union in inner)
        fields = [{*names(arm.node)} for union in inner for arm in union.arms]
        assert fields == [{"d", "b"}, {"d", "c"}, {"e", "b"}, {"e", "c"}]

    def test_past_a_limit_the_last_unions_are_merged(self):
        def union(number):
            arms = [{"properties": {f"x{number}{arm}": STRING}} for arm in "abc"]
            return {"anyOf": arms}

        node = node_of({"allOf": [union(number) for number in range(6)]})

        # 3 * 3 * 3 * 3 = 81 combinations are kept, of the unions that win: the last four.
        first = node
        for _ in range(4):
            first = first.arms[0].node
        merged = {f"x{number}{arm}" for number in (0, 1) for arm in "abc"}
        assert {*names(first)} == merged | {"x2a", "x3a", "x4a", "x5a"}

    @pytest.mark.parametrize(
        ("sizes", "kept"), [([129], 1), ([12, 12], 1), ([8, 16], 2), ([2] * 7, 7), ([2] * 8, 7)]
    )
    def test_so_many_combinations_are_kept(self, sizes, kept):
        unions = [
            {"anyOf": [{"properties": {f"x{index}_{arm}": STRING}} for arm in range(size)]}
            for index, size in enumerate(sizes)
        ]

        node, levels = node_of({"allOf": unions}), 0
        while isinstance(node, OneOfNode):
            node, levels = node.arms[-1].node, levels + 1
        assert levels == kept
        assert len(node.fields) == kept + sum(sizes[: len(sizes) - kept])

    def test_what_is_said_beside_a_union_is_for_its_field_alone(self):
        either = {"anyOf": [DATE, NUMBER]}
        fields = {f"x{index}": {**either, THRESHOLD: index / 10} for index in range(3)}
        plan = compile_schema({"type": "object", "properties": fields})

        thresholds = [{arm.node.threshold for arm in field.node.arms} for field in plan.root.fields]
        assert thresholds == [{0.0}, {0.1}, {0.2}]

    def test_anyof_and_oneof_side_by_side_combine(self):
        node = node_of({"anyOf": [DATE, NUMBER], "oneOf": [{THRESHOLD: 0.3}, {THRESHOLD: 0.4}]})

        nodes = [inner.node for arm in node.arms for inner in arm.node.arms]
        assert [(leaf.comparator.name, leaf.threshold) for leaf in nodes] == [
            *(("DateComparator", 0.3), ("DateComparator", 0.4)),
            *(("NumericComparator", 0.3), ("NumericComparator", 0.4)),
        ]

    def test_a_root_may_be_a_union_of_objects_and_other_things(self):
        plan = compile_schema(
            {
                "oneOf": [
                    {"type": "array"},
                    {"oneOf": [STRING, {"properties": {"b": STRING}}]},
                    {"type": "object", "properties": {"c": STRING}, "required": ["c"]},
                ]
            }
        )

        assert [names(arm.node) for arm in plan.root.arms] == [["b"], ["c"]]

    def test_what_a_plan_says_is_about_documents(self):
        model = {COMPARATOR: "LLMComparator", CONFIG: {"model": "m"}}
        of_object = {"type": "object", "properties": {"b": STRING}}

        def outcomes_of_arms(schema):
            plan = compile_schema(schema)
            return plan.kind, plan.asks_models, plan.model_name

        assert outcomes_of_arms(of_object) == ("object", False, "DynamicModel")
        assert outcomes_of_arms({"type": "array", "items": STRING}) == (
            "array",
            False,
            "DynamicModel",
        )
        assert outcomes_of_arms({"anyOf": [{**STRING, **model}, of_object]})[:2] == (
            "object",
            False,
        )
        asking = {**of_object, "properties": {"b": {**STRING, **model}}}
        assert outcomes_of_arms({"type": "array", "items": asking})[:2] == ("array", True)

    def test_a_root_with_one_arm_that_is_an_object_is_that_object(self):
        plan = compile_schema({"anyOf": [{"type": "array"}, {"properties": {"b": STRING}}]})

        assert names(plan.root) == ["b"]

    @pytest.mark.parametrize("word", ["anyOf", "oneOf"])
    def test_a_root_without_an_arm_that_is_a_document_is_refused(self, word):
        with pytest.raises(SchemaError, match="the schema does not describe a document"):
            compile_schema({word: [STRING, NUMBER]})

    def test_an_empty_root_is_a_free_form_object(self):
        assert compile_schema({}).root.families


class TestAcceptors:
    SCHEMA = {"anyOf": [{"type": "string", "minLength": 3, THRESHOLD: 0.9}, STRING]}  # noqa: RUF012

    def test_an_acceptor_survives_pickling(self):
        arm = node_of(self.SCHEMA).arms[0]
        arm.accepts("abc")
        again = pickle.loads(pickle.dumps(arm))  # noqa: S301 - our own

        assert again == arm
        assert [again.accepts(value) for value in ("abc", "ab", 5)] == [True, False, False]

    def test_acceptors_of_other_documents_are_others(self):
        other = {"anyOf": [{"type": "string", "minLength": 4, THRESHOLD: 0.9}, STRING]}

        assert node_of(self.SCHEMA) == node_of(self.SCHEMA)
        assert node_of(self.SCHEMA) != node_of(other)


@pytest.mark.parametrize("first", ["number", "string"])
@pytest.mark.parametrize("form", ["anyOf", "oneOf", "type"])
def test_texts_that_are_numbers_are_compared_as_numbers_beside_them(first, form):
    kinds = [first, "string" if first == "number" else "number"]
    field = {"type": kinds} if form == "type" else {form: [{"type": kind} for kind in kinds]}
    plan = compile_schema({"type": "object", "properties": {"x": field}})

    def similarity(gt, pred):
        return compare(plan, [{"x": gt}], [{"x": pred}]).document_scores.tolist()[0]

    assert similarity("12.50", "12.5") == similarity("12.5", 12.5) == similarity(1e3, "1000") == 1
    assert similarity("12.50", "12.51") == similarity(12.5, "12.51") == 0
    assert similarity("steel", "steal") == 0.8
    assert similarity("steel", 1) == 0


def test_an_arm_that_says_otherwise_keeps_its_texts():
    exact = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
    field = {"anyOf": [{"type": "number"}, exact]}
    plan = compile_schema({"type": "object", "properties": {"x": field}})

    assert compare(plan, [{"x": "12.50"}], [{"x": "12.5"}]).document_scores.tolist() == [0]
