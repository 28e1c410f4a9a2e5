"""No pattern in a schema can make a comparison endless.

Python's `re` would take longer than anybody waits for each of these patterns, so a failing test
hangs.
"""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.schema.compiler import compile_schema

PATTERNS = [
    "^(a+)+$",
    "^(a|a)*$",
    r"^(\w+\s?)*$",
    "a*a*a*a*a*a*a*a*a*a*b",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$",
    r"^(?=(a+)+$)b",
    r"^(a|a)*\1$",
    "(?<!b)(a|aa)+$",
]
TEXT = "a" * 1000 + "!"


def result(schema, value):
    plan = compile_schema({"type": "object", "properties": {"x": schema}})
    return compare(plan, [{"x": value}], [{"x": value}]).document_scores.item()


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("clause", [{"pattern": ...}, {"not": {"not": {"pattern": ...}}}])
def test_an_arm_that_does_not_fit_is_not_taken(pattern, clause):
    arm = {
        "type": "string",
        "x-aws-stickler-comparator": "DateComparator",
        **with_pattern(clause, pattern),
    }
    other = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}

    # As a date the text is nothing, and scores 0.
    assert result({"anyOf": [arm, other]}, TEXT) == 1.0


@pytest.mark.parametrize("pattern", PATTERNS)
def test_keys_are_searched_for_patterns(pattern):
    schema = {"type": "object", "patternProperties": {pattern: {"type": "string"}}}

    assert result(schema, {TEXT: "x", "b": "y"}) == 1.0


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dialect", ["2019-09", "2020-12"])
@pytest.mark.parametrize(
    "keywords",
    [
        {"propertyNames": {"pattern": ...}},
        {"patternProperties": {...: True}, "additionalProperties": False},
        {"patternProperties": {...: True}, "unevaluatedProperties": False},
        {"allOf": [{"patternProperties": {...: True}}], "unevaluatedProperties": False},
    ],
)
def test_an_arm_of_objects_is_decided_upon(pattern, dialect, keywords):
    arm = {"type": "object", "required": ["k"], **with_pattern(keywords, pattern)}
    schema = {
        "$schema": f"https://json-schema.org/draft/{dialect}/schema",
        "type": "object",
        "properties": {"x": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/arm"}]}},
        "$defs": {"arm": {"type": "object", "not": {"not": arm}}},
    }
    gt = {"x": {"k": "x", TEXT: "y"}}

    assert compare(compile_schema(schema), [gt], [gt]).document_scores.item() == 1.0


def with_pattern(clause, pattern):
    if isinstance(clause, dict):
        return {
            pattern if name is ... else name: with_pattern(inner, pattern)
            for name, inner in clause.items()
        }
    if isinstance(clause, list):
        return [with_pattern(inner, pattern) for inner in clause]
    return pattern if clause is ... else clause


def test_unevaluated_keys_are_still_refused_where_patterns_have_a_bound():
    arm = {
        "type": "object",
        "patternProperties": {"^n_": {"type": "string"}},
        "unevaluatedProperties": False,
    }
    other = {"type": "object", "properties": {"z": {"type": "string"}}}
    node = compile_schema({"type": "object", "properties": {"x": {"anyOf": [arm, other]}}})
    union = node.root.fields[0].node

    assert union.choose({"n_1": "x"}) is union.arms[0].node
    assert union.choose({"z": "x"}) is union.arms[1].node
