"""Schemas whose parts can be reached in many ways: each value is checked by each part once."""

import pickle
from itertools import product

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.judging import APART, DEEPEST, Apart, JudgedPart
from stickler_cli.schema.verdicts import DocumentValidator, SchemaAcceptor

THRESHOLD = "x-aws-stickler-threshold"
TIME = {"type": "string", "format": "time"}
NODE = {"$ref": "#/$defs/n"}


def arm(inside, threshold=0.5):
    """Return an arm of a union: an object with a value `v`, and with `inside` as its field `c`.

    Arms with different thresholds are compared differently.
    """
    return {
        "type": "object",
        "properties": {"c": inside, "v": {**TIME, THRESHOLD: threshold}},
    }


def recursive(definition):
    return {"type": "object", "properties": {"a": NODE}, "$defs": {"n": definition}}


def chain(length, arms=2):
    """Return a schema of `length` definitions, each of which refers to the next in `arms` ways."""
    last = {f"n{length}": arm({})}
    for index in range(length):
        reference = {"$ref": f"#/$defs/n{index + 1}"}
        last[f"n{index}"] = {
            "anyOf": [arm(reference, 0.1 * number) for number in range(1, arms + 1)]
        }
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": last}


SCHEMAS = {
    "anyOf": recursive({"anyOf": [arm(NODE, 0.1), arm(NODE, 0.2)]}),
    "oneOf": recursive({"oneOf": [arm(NODE, 0.1), arm(NODE, 0.2)]}),
    "several": recursive({"anyOf": [arm(NODE, index / 10) for index in range(1, 6)]}),
    "inside unions": recursive({"anyOf": [arm({"oneOf": [NODE, {"type": "null"}]}), arm(NODE)]}),
    "draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **recursive({"anyOf": [arm(NODE, 0.1), arm(NODE, 0.2)]}),
    },
    "all of several": recursive({"allOf": [arm(NODE), arm(NODE)]}),
    "definitions": chain(60),
    "definitions of many arms": chain(60, 6),
}


def document(depth, last, other="10:00"):
    value = {"v": last}
    for _ in range(depth):
        value = {"v": other, "c": value}
    return {"a": value}


@pytest.fixture
def format_calls(monkeypatch):
    """A list that gets each value whose format is checked."""
    calls = []

    def is_time(text):
        calls.append(text)
        return text == "10:00"

    monkeypatch.setattr(SchemaAcceptor, "formats", {"time": is_time})
    monkeypatch.setattr(JudgedPart, "formats", {"time": is_time})
    return calls


@pytest.mark.parametrize("name", SCHEMAS)
def test_arms_of_values_are_found_in_steps_that_grow_with_the_document(name, format_calls):
    plan = compile_schema(SCHEMAS[name])

    for depth, last in product((5, 50), ("10:00", "never")):
        format_calls.clear()
        compare(plan, [document(depth, last)], [document(depth, "10:00")])

        assert len(format_calls) <= 20 * (depth + 1)


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_wrong_is_found_in_steps_that_grow_with_the_document(name, format_calls):
    validator = DocumentValidator(SCHEMAS[name])

    for depth, last in product((5, 50), ("10:00", "never")):
        format_calls.clear()
        violations = list(validator.violations(document(depth, last)))

        assert bool(violations) is (last == "never" or name == "oneOf")
        assert 0 < len(format_calls) <= 20 * (depth + 1)


def test_deep_documents_are_judged_through_many_definitions():
    depth, time = 2 * DEEPEST + 1, "10:00:00Z"
    sent = pickle.dumps(DocumentValidator(chain(depth, 3)))
    validator = pickle.loads(sent)  # noqa: S301 - our own

    assert list(validator.violations(document(depth, time, time))) == []
    (violation,) = validator.violations(document(depth, "10:00", time))
    assert (violation.keyword, violation.pointer) == ("anyOf", "/a")


def test_what_is_wrong_outside_of_alternatives_is_told_where_it_is():
    tree = {
        "type": "object",
        "properties": {
            "v": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "c": {"type": "array", "items": NODE},
        },
        "required": ["v"],
        "additionalProperties": False,
    }
    wrong = {"v": 1, "c": [{"v": 2, "d": 1}, {"c": []}, {"v": "x"}]}

    violations = list(DocumentValidator(recursive(tree)).violations({"a": wrong}))

    assert [
        (violation.keyword, violation.field, violation.pointer) for violation in violations
    ] == [
        ("additionalProperties", "a.c[]", "/a/c/0"),
        ("required", "a.c[].v", "/a/c/1"),
        ("anyOf", "a.c[].v", "/a/c/2/v"),
    ]


def test_a_schema_cannot_judge_apart_by_itself():
    with pytest.raises(SchemaError, match=f"{APART} is not allowed in a schema"):
        DocumentValidator({"not": {APART: "#"}})


def test_what_one_part_finds_in_many_ways_is_told_once_beside_all_else():
    definition = {
        "type": "object",
        "properties": {"v": {"type": "string"}, "w": {"type": "number"}},
        "anyOf": [{"minProperties": 1}, NODE],
    }
    schema = {
        "type": "object",
        "properties": {
            "a": {"allOf": [NODE, {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n", "title": "x"}]},
            "b": {"type": "null"},
        },
        "$defs": {"n": definition},
    }

    violations = DocumentValidator(schema).violations({"a": {"v": 1, "w": ""}, "b": 1})

    assert [violation.pointer for violation in violations] == ["/a/v", "/a/w", "/b"]


def test_a_part_that_leads_back_to_itself_asks_no_more_of_a_value():
    values = []

    def accepts(reference, value):
        values.append(reference)
        return separate.accepts("#b" if reference == "#a" else "#a", value)

    separate = Apart(accepts)
    assert separate.accepts("#a", "half a character: \ud800") is True
    assert values == ["#a", "#b"]
    assert separate.accepts("#b", "half a character: \ud800") is True
    assert len(values) == 2


def test_verdicts_are_forgotten_between_questions_once_they_are_too_many(monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.judging.MOST_KNOWN", 2)
    judged_values = []

    def accepts(reference, value):
        judged_values.append(value)
        return True

    separate = Apart(accepts)

    def ask(*values):
        return separate.settle(lambda: [separate.accepts("#a", value) for value in values])

    assert ask(1, 2) == ask(2, 1) == [True, True]
    assert judged_values == [1, 2]
    assert ask(3, 1, 2) == [True] * 3  # never in the middle of a question
    assert judged_values == [1, 2, 3]
    ask(1)
    assert judged_values == [1, 2, 3, 1]


def test_what_fails_in_the_middle_of_a_verdict_is_raised():
    def fails(reference, value):
        raise KeyboardInterrupt

    separate = Apart(fails)
    (keyword,) = separate.keywords.values()

    def ask():
        try:
            keyword({}, "#", []).validate(1)
        except ValueError:  # as the engine does
            return False
        return True

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            separate.settle(ask)
    assert list(separate.keywords) == [APART]
