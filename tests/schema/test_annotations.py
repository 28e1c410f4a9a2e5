import math
from dataclasses import fields

import pytest

from stickler_cli.core.json_values import ReadingRule, brief
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.annotations import (
    KEYS,
    NOTHING_INHERITED,
    PREFIX,
    RULES,
    Merged,
    annotation_problems,
    merge_annotations,
    read_annotations,
)
from stickler_cli.schema.compiler import compile_schema


def problem(key, value):
    (annotation_problem,) = annotation_problems(
        {f"{PREFIX}{key}": value}, "s.json", ("properties", "a")
    )
    assert annotation_problem.pointer == f"/properties/a/{PREFIX}{key}"
    return annotation_problem


def test_a_schema_without_annotations_says_nothing():
    assert read_annotations({"type": "string"}) == {}


def test_every_annotation_has_a_rule():
    assert list(RULES) == [field.name for field in fields(Merged)][: len(RULES)]


def test_annotations_are_read_by_their_names():
    read = read_annotations({f"{PREFIX}threshold": 1, f"{PREFIX}comparator-config": {"a": 1}})

    assert repr(read) == "{'threshold': 1.0, 'comparator_config': {'a': 1}}"


def test_a_wrong_annotation_reads_as_if_it_were_not_there():
    read = read_annotations({f"{PREFIX}threshold": 2, f"{PREFIX}weight": 3, f"{PREFIX}nope": 1})

    assert read == {"weight": 3.0}


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("key", ["threshold", "weight", "pairing-floor", "match-threshold"])
def test_a_number_must_be_finite(key, value):
    assert problem(key, value).expected.startswith("a number")


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("threshold", 80, "did you mean 0.8?"),
        ("threshold", 20, "did you mean 0.2?"),
        ("match-threshold", 7, ""),
        ("threshold", 1.5, ""),
        ("threshold", 2, ""),
        ("threshold", "0.5", "write 0.5 without quotes"),
        ("threshold", "half", ""),
        ("threshold", -1, ""),
        ("aggregate", "false", "write false without quotes"),
        ("aggregate", "true", "write true without quotes"),
        ("aggregate", "no", ""),
        ("clip-under-threshold", 1, ""),
        (
            "weight",
            0,
            "to leave a field out of scores and counts, set x-aws-stickler-ignore to true",
        ),
        ("weight", "2", "write 2 without quotes"),
        ("weight", -2, ""),
        ("model-name", None, "leave out the key to get the default"),
        ("model-name", "", None),
        ("comparator", 3, ""),
    ],
)
def test_a_wrong_value_comes_with_what_was_meant(key, value, hint):
    if hint is None:
        assert not list(annotation_problems({f"{PREFIX}{key}": value}, "", ()))
    else:
        assert problem(key, value).hint == hint


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("x-aws-stickler-treshold", "threshold"),
        ("x-aws-stickler-clip_threshold", "clip-under-threshold"),
        ("x_aws_stickler_threshold", "threshold"),
        ("x-aws_stickler-threshold", "threshold"),
        ("X-AWS-Stickler-Threshold", "threshold"),
    ],
)
def test_a_misspelt_key_gets_the_nearest_one(key, meant):
    (problem,) = annotation_problems({key: 0.5}, "s.json", ())

    assert problem.found == f"{key} is not an annotation"
    assert problem.hint == f"did you mean x-aws-stickler-{meant}?"


def test_a_key_like_no_other_gets_the_list_of_keys():
    assert problem("zzz", 1).hint == f"the annotations are {', '.join(KEYS)}"
    assert "docs/schema.md" in problem("zzz", 1).expected
    assert problem("", 1).found == f"{PREFIX} is not an annotation"


@pytest.mark.parametrize("keyword", ["default", "const", "examples", "enum"])
def test_what_looks_like_an_annotation_in_data_is_data(keyword):
    data = {f"{PREFIX}threshold": 9}
    value = [data] if keyword in {"examples", "enum"} else data

    compile_schema({"type": "object", "properties": {"a": {keyword: value}}})


@pytest.mark.parametrize(
    "steps",
    [
        ("properties", "a"),
        ("$defs", "a"),
        ("not",),
        ("if",),
        ("contains",),
        ("allOf", 0),
        ("oneOf", 0),
        ("prefixItems", 0),
        ("dependentSchemas", "a"),
        ("patternProperties", "a"),
        ("unevaluatedItems",),
    ],
)
def test_an_annotation_is_checked_wherever_there_is_a_schema(steps):
    inner = {f"{PREFIX}threshold": 9}
    for step in reversed(steps):
        inner = [inner] if isinstance(step, int) else {step: inner}

    with pytest.raises(SchemaError) as refusal:
        compile_schema({"type": "object", **inner})

    (only_problem,) = refusal.value.problems
    assert only_problem.pointer == "/" + "/".join(map(str, steps)) + f"/{PREFIX}threshold"


def test_a_plugin_is_refused_unless_it_is_allowed():
    name = "stickler_cli.comparators.exact:ExactComparator"
    schema = {"type": "object", "properties": {"a": {f"{PREFIX}comparator": name}}}

    with pytest.raises(SchemaError, match="--allow-plugins"):
        compile_schema(schema)
    (field,) = compile_schema(schema, allow_plugins=True).root.fields
    assert field.node.leaves["string"].comparator.name == "ExactComparator"


def test_a_config_is_checked_against_the_comparator_that_gets_it():
    config = {"relative_tolerance": 0.1}
    schema = {
        "type": "object",
        "properties": {
            "number": {"type": "number", f"{PREFIX}comparator-config": config},
            "text": {"type": "string", f"{PREFIX}comparator-config": config},
        },
    }

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema)

    (only_problem,) = refusal.value.problems
    assert only_problem.pointer == f"/properties/text/{PREFIX}comparator-config/relative_tolerance"


def test_a_config_for_values_of_any_kind_must_suit_some_of_them():
    schema = {"type": "object", "properties": {"a": {f"{PREFIX}comparator-config": {"nope": 1}}}}

    with pytest.raises(SchemaError, match="no keyword nope"):
        compile_schema(schema)


def test_a_comparator_that_lacks_its_config_is_found_where_it_is_named():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema["properties"]["a"][f"{PREFIX}comparator"] = "LLMComparator"

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema)

    (only_problem,) = refusal.value.problems
    assert only_problem.pointer == f"/properties/a/{PREFIX}comparator-config"


def test_the_threshold_in_a_config_is_that_of_the_field_unless_the_field_states_one():
    config = {"x-aws-stickler-comparator-config": {"threshold": 0.9}}
    text = {"type": "string"}
    fields = {
        "own": {**text, **config},
        "stated": {**text, **config, "x-aws-stickler-threshold": 0.4},
        "list": {"type": "array", "items": text, **config},
        "items": {"type": "array", "items": {**text, **config}},
    }

    plan = compile_schema({"type": "object", "properties": fields})

    thresholds = {field.name: field.node.threshold for field in plan.root.fields}
    assert thresholds == {"own": 0.9, "stated": 0.4, "list": 0.9, "items": 0.9}
    assert plan.root.fields[0].node.threshold_source == "annotation"


def merged(*schemas, inherited=NOTHING_INHERITED):
    schemas = [{PREFIX + key: value for key, value in schema.items()} for schema in schemas]
    return merge_annotations(
        tuple((schema, read_annotations(schema)) for schema in schemas), inherited
    )


NAMED, CONFIGURED = {"comparator": "FuzzyComparator"}, {"comparator-config": {"normalize": False}}
OTHER = {"comparator": "ExactComparator", "comparator-config": {"threshold": 0.4}}


@pytest.mark.parametrize(
    ("schemas", "inherited", "name", "config", "named_by", "configured_by"),
    [
        ([], {}, None, {}, None, None),
        ([{}, NAMED], {}, "FuzzyComparator", {}, 1, None),
        ([NAMED, OTHER], {}, "FuzzyComparator", {}, 0, None),
        ([CONFIGURED, OTHER], {}, "ExactComparator", {"normalize": False}, 1, 0),
        ([{**NAMED, **CONFIGURED}, OTHER], {}, "FuzzyComparator", {"normalize": False}, 0, 0),
        ([CONFIGURED], NAMED, "FuzzyComparator", {}, "above", None),
        ([OTHER], CONFIGURED, "ExactComparator", {"normalize": False}, 0, "above"),
        ([OTHER], {**NAMED, **CONFIGURED}, "FuzzyComparator", {"normalize": False}, "above",
         "above"),
    ],
)  # fmt: skip
def test_a_comparator_and_its_config_are_those_of_the_first_that_says_them(
    schemas, inherited, name, config, named_by, configured_by
):
    above = merged(inherited)
    merged_annotations = merged(*schemas, inherited=above)

    holders = {
        **{position: schema for position, (schema, _) in enumerate(merged_annotations.by_schema)},
        None: None,
    }
    if above.by_schema:
        holders["above"] = above.by_schema[0][0]
    assert (merged_annotations.comparator, merged_annotations.config) == (name, config)
    assert merged_annotations.named_by is holders[named_by]
    assert merged_annotations.configured_by is holders[configured_by]
    assert len(merged_annotations.by_schema) == len(schemas)


@pytest.mark.parametrize(
    ("schemas", "inherited", "threshold"),
    [
        ([{"threshold": 0.3}, {"threshold": 0.6}], {}, 0.3),
        ([{}, {"threshold": 0.6}], {}, 0.6),
        ([{"threshold": 0.3}], {"threshold": 0.9}, 0.9),
        ([OTHER], {}, 0.4),
        ([OTHER, {"threshold": 0.6}], {}, 0.6),
        ([{"comparator-config": {"threshold": 1}}], {}, 1.0),
        ([{"comparator-config": {"threshold": 2}}], {}, None),
        ([{"comparator-config": {"threshold": "0.5"}}], {}, None),
        ([], {}, None),
    ],
)
def test_a_threshold_is_the_first_that_is_said_and_else_that_of_the_config(
    schemas, inherited, threshold
):
    assert repr(merged(*schemas, inherited=merged(inherited)).threshold) == repr(threshold)


def test_what_an_array_says_reaches_its_elements_but_for_what_is_its_own():
    all_annotations = {
        **NAMED,
        **CONFIGURED,
        "threshold": 0.1,
        "weight": 2,
        "clip-under-threshold": True,
        "aggregate": False,
        "pairing-floor": 0.2,
        "model-name": "M",
        "match-threshold": 0.3,
    }
    merged_annotations = merged(all_annotations)
    below = merged_annotations.below(0.4)

    assert below == Merged(
        comparator="FuzzyComparator",
        comparator_config={"normalize": False},
        clip_under_threshold=True,
        threshold=0.4,
    )
    assert below.named_by is below.configured_by is merged_annotations.by_schema[0][0]
    assert below.by_schema == ()


def test_equal_annotations_that_are_inherited_have_one_key_and_others_another():
    variants = [
        {},
        NAMED,
        CONFIGURED,
        {"comparator-config": {"a": 1, "b": [2]}},
        {"threshold": 0.5},
        {"clip-under-threshold": True},
    ]

    assert len({merged(annotations).signature for annotations in variants}) == len(variants)
    assert (
        merged(variants[3]).signature == merged({"comparator-config": {"b": [2], "a": 1}}).signature
    )


@pytest.mark.parametrize(
    ("annotations", "item", "whole"),
    [
        ({}, (0.7, "default"), (0.7, "default")),
        ({"threshold": 0.7}, (0.7, "default"), (0.7, "annotation")),
        ({"match-threshold": 0.7}, (0.7, "match-threshold"), (0.7, "match-threshold")),
        ({"threshold": 0.2, "match-threshold": 0.1}, (0.1, "match-threshold"), (0.2, "annotation")),
    ],
)
def test_an_object_has_a_threshold_as_an_item_and_one_as_a_field(annotations, item, whole):
    merged_annotations = merged(annotations)

    assert (merged_annotations.item_threshold, merged_annotations.item_source) == item
    assert (merged_annotations.object_threshold, merged_annotations.object_source) == whole


ALIASES = "an object whose keys are names and whose values are lists of strings"
KEY = "the name of a field of the items, or a list of such names"
ABSENT = "a list of strings, numbers and booleans"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("exhaustive", "false", "true or false"),
        ("ordered", 1, "true or false"),
        ("pairing", "sideways", "best, ordered or position"),
        ("pairing", True, "best, ordered or position"),
        ("distinct", None, "true or false"),
        ("ignore", "yes", "true or false"),
        ("any-of", ["a"], "true or false"),
        ("key", [], KEY),
        ("key", "", KEY),
        ("key", ["a", "a"], KEY),
        ("key", ["a", 1], KEY),
        ("key", 3, KEY),
        ("aliases", ["US"], ALIASES),
        ("aliases", {"USA": "US"}, ALIASES),
        ("aliases", {"USA": [1]}, ALIASES),
        ("aliases", {"": ["US"]}, ALIASES),
        ("absent-values", "N/A", ABSENT),
        ("absent-values", [[1]], ABSENT),
    ],
)
def test_what_a_ground_truth_knows_is_said_in_its_form(key, value, expected):
    problem_found = problem(key, value)

    assert problem_found.found == f"{key} is {brief(value)}"
    assert problem_found.expected == expected


def test_a_text_is_an_alias_of_one_name():
    problem_found = problem("aliases", {"USA": ["US"], "Uruguay": ["us"]})

    assert problem_found.found == "us is an alias of USA and of Uruguay"
    assert problem_found.expected == "each alias for only one name"


def test_an_array_tells_its_elements_what_their_values_stand_for():
    merged_annotations = merged({"aliases": {"USA": ["US"]}, "absent-values": ["-"]})

    assert merged_annotations.below(None).reading == ReadingRule({"USA": ["US"]}, ["-"])
    assert merged_annotations.signature != merged({"aliases": {"USA": ["U.S."]}}).signature
    assert merged({"absent-values": []}).reading is None


@pytest.mark.parametrize(("key", "keys"), [("a", ("a",)), (["a", "b"], ("a", "b"))])
def test_a_key_is_a_field_or_several(key, keys):
    assert merged({"key": key}).keys == keys
