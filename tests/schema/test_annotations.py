import math
from dataclasses import fields

import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.annotations import (
    KEYS,
    PREFIX,
    RULES,
    Annotations,
    annotation_problems,
    read_annotations,
)
from stickler_cli.schema.compiler import compile_schema


def problem(key, value):
    (found,) = annotation_problems({f"{PREFIX}{key}": value}, "s.json", ("properties", "a"))
    assert found.pointer == f"/properties/a/{PREFIX}{key}"
    return found


def test_a_schema_without_annotations_says_nothing():
    assert read_annotations({"type": "string"}) == Annotations()


def test_every_annotation_has_a_rule():
    assert list(RULES) == [field.name for field in fields(Annotations)]


def test_annotations_are_read_by_their_names():
    read = read_annotations({f"{PREFIX}threshold": 1, f"{PREFIX}comparator-config": {"a": 1}})

    assert read.threshold == 1.0
    assert read.comparator_config == {"a": 1}


def test_a_wrong_annotation_reads_as_if_it_were_not_there():
    read = read_annotations({f"{PREFIX}threshold": 2, f"{PREFIX}weight": 3, f"{PREFIX}nope": 1})

    assert (read.threshold, read.weight) == (None, 3.0)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("key", ["threshold", "weight", "pairing-floor", "match-threshold"])
def test_a_number_must_be_finite(key, value):
    assert problem(key, value).expected.startswith("a number")


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("threshold", 80, "did you mean 0.8?"),
        ("match-threshold", 7, "did you mean 0.07?"),
        ("threshold", "0.5", "write 0.5 without quotes"),
        ("threshold", "half", ""),
        ("threshold", -1, ""),
        ("aggregate", "false", "write false without quotes"),
        ("aggregate", "no", ""),
        ("clip-under-threshold", 1, ""),
        ("weight", 0, "x-aws-stickler-aggregate: false leaves a field out of the counts"),
        ("weight", "2", "write 2 without quotes"),
        ("weight", -2, ""),
        ("model-name", None, "leave the key out for the default"),
        ("model-name", "", None),
        ("comparator", 3, ""),
    ],
)
def test_a_wrong_value_comes_with_what_was_meant(key, value, hint):
    if hint is None:
        assert not list(annotation_problems({f"{PREFIX}{key}": value}, "", ()))
    else:
        assert problem(key, value).hint == hint


def test_a_misspelt_key_gets_the_nearest_one():
    assert problem("treshold", 1).hint == "did you mean x-aws-stickler-threshold?"


def test_a_key_like_no_other_gets_the_list_of_keys():
    assert problem("zzz", 1).hint == f"valid keys: {', '.join(KEYS)}"


def test_a_bare_prefix_is_no_annotation():
    assert problem("", 1).found == f"{PREFIX} is no annotation"


def test_a_key_of_other_tools_is_none_of_ours():
    assert not list(annotation_problems({"x-other": 1, "description": PREFIX}, "", ()))


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

    (found,) = refusal.value.problems
    assert found.pointer == "/" + "/".join(map(str, steps)) + f"/{PREFIX}threshold"


def test_an_unknown_comparator_is_found_where_it_is_not_used():
    schema = {"type": "object", "not": {f"{PREFIX}comparator": "Fuzy"}}

    with pytest.raises(SchemaError, match="did you mean FuzzyComparator"):
        compile_schema(schema)


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

    (found,) = refusal.value.problems
    assert found.pointer == f"/properties/text/{PREFIX}comparator-config/relative_tolerance"


def test_a_config_for_values_of_any_kind_must_suit_some_of_them():
    schema = {"type": "object", "properties": {"a": {f"{PREFIX}comparator-config": {"nope": 1}}}}

    with pytest.raises(SchemaError, match="no keyword nope"):
        compile_schema(schema)


def test_a_comparator_that_lacks_its_config_is_found_where_it_is_named():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema["properties"]["a"][f"{PREFIX}comparator"] = "LLMComparator"

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema)

    (found,) = refusal.value.problems
    assert found.pointer == f"/properties/a/{PREFIX}comparator-config"


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
