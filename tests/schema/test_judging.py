"""The validator of documents: its patterns, formats and limits; there is only one."""

import math
import pickle

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.json_values import kind_of
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.annotations import BY_FORMAT
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.dialects import DEFAULT, DIALECTS
from stickler_cli.schema.judging import (
    MOST_LEVELS,
    EngineError,
    PicklablePattern,
    build,
    is_valid,
    is_valid_schema,
)
from stickler_cli.schema.verdicts import ANY_TYPE, DocumentValidator, TypeAcceptor

THRESHOLD = "x-aws-stickler-threshold"
STRING, NUMBER = {"type": "string"}, {"type": "number"}


def first_is_taken(arm, value, **rest):
    """Return whether the first arm of a union accepts a value, and whether the value is valid."""
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{**arm, THRESHOLD: 0.9}, {"title": "any"}]}},
        **rest,
    }
    node = compile_schema(schema).root.fields[0].node
    only = {**schema, "properties": {"a": arm}}
    return node.choose(value) is node.arms[0].node, not list(
        DocumentValidator(only).violations({"a": value})
    )


KEYWORDS = (
    "type",
    "title",
    "format",
    "properties",
    "items",
    "additionalProperties",
    "required",
    "x-a",
)
TYPE = st.sampled_from(["string", "object", "text"])
SCHEMAS = st.recursive(
    st.dictionaries(st.sampled_from(KEYWORDS), TYPE | st.booleans() | st.integers()),
    lambda inner: st.dictionaries(st.sampled_from(KEYWORDS), inner | TYPE | st.lists(inner)),
)


@given(SCHEMAS, st.sampled_from([*DIALECTS.values()]))
def test_schemas_that_the_engine_is_not_asked_about_are_valid(schema, dialect):
    named = {**schema, "$schema": dialect.uri}
    assert is_valid_schema(named, dialect) == jsonschema_rs.meta.is_valid(named)


@pytest.mark.parametrize("value", [19.99, 20.00, 20, 74.77, 0.07, 1e300, 10**30])
def test_money_takes_the_arm_of_money_whatever_floats_make_of_it(value):
    assert first_is_taken({"type": "number", "multipleOf": 0.01}, value) == (True, True)
    assert first_is_taken({"type": "number", "multipleOf": 0.01}, 19.991) == (False, False)


@pytest.mark.parametrize(
    ("arm", "value", "is_taken"),
    [
        ({"type": "integer", "maximum": 2**70}, 2**70, True),
        ({"type": "integer", "maximum": 2**70}, 2**70 + 1, False),
        ({"type": "integer", "minimum": 0}, 10**400, True),
        ({"type": "integer", "minimum": 0}, 1.0, True),
        ({"type": "integer", "minimum": 0}, 1.5, False),
        ({"const": 2**53}, 2**53 + 1, False),
        ({"const": 1}, True, False),
        ({"uniqueItems": True, "type": "array"}, [{"a": 1}, {"a": 1.0}], False),
        ({"type": "string", "pattern": "^.$"}, "\ud800", True),
        ({"type": "string", "maxLength": 1}, "\U0001f600", True),
        ({"type": "object", "propertyNames": {"maxLength": 1}}, {"\ud800": "\ud800"}, True),
        ({"type": "object", "required": ["k"]}, {"k": None}, True),
        ({"type": "array", "items": {"pattern": "^.$"}}, ["\ud800", 1], True),
        ({"type": "array", "items": {"pattern": "^a$"}}, ["\ud800", 1], False),
        ({"enum": ["\ufffd"]}, "\ud800", True),
    ],
)
def test_an_arm_takes_what_is_valid(arm, value, is_taken):
    assert first_is_taken(arm, value) == (is_taken, is_taken)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_json_has_no_word_for_has_a_verdict(value):
    assert first_is_taken({"type": "number", "minimum": 0}, value) == (False, False)


def nested(levels):
    value = "x"
    for _ in range(levels):
        value = [value]
    return value


TREE = {"$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}, "minItems": 1}}}


def test_a_value_as_deep_as_documents_are_read_is_judged():
    lists = {"not": {"$ref": "#/$defs/tree"}}

    assert first_is_taken(lists, nested(MOST_LEVELS - 1), **TREE) == (True, True)


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 100_000])
def test_a_deeper_value_is_valid_under_no_schema(levels):
    value = nested(levels)
    accepts = build({"not": {"type": "string"}}, DEFAULT)

    assert not is_valid(accepts, value)
    (violation,) = DocumentValidator({}).violations({"a": value})
    assert violation.message == f"the document is nested more than {MOST_LEVELS} levels deep"
    while isinstance(value, list):  # Python itself would take it apart on the stack
        value = value.pop()


def test_what_the_engine_cannot_name_is_a_violation_without_a_place():
    validator = DocumentValidator({"properties": {"a": {"uniqueItems": True}, "b": STRING}})

    for document in ({"a": [nested(400), nested(400)]}, {"b": nested(400)}):
        (violation,) = validator.violations(document)
        details = (violation.keyword, violation.field, violation.pointer, violation.message)
        assert details == ("", "", "", "Recursion limit reached")
    (violation,) = validator.violations({"b": ["\ud800"]})
    assert "surrogates" in violation.message
    assert list(validator.violations({"b": "\ud800"})) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=3,
)


@given(VALUES.filter(lambda value: value not in (math.inf, -math.inf)))
def test_types_are_told_without_the_engine_as_it_tells_them(value):
    for name in sorted(ANY_TYPE):
        assert TypeAcceptor(frozenset({name}))(value) == is_valid(
            build({"type": name}, DEFAULT), value
        ), kind_of(value)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^a", "ab", True),
        (r"b", "abc", True),
        (r"^a$", "a\n", False),
        (r"[$]", "$", True),
        (r"\$", "$", True),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\W$", "é", True),
        (r"^\s$", "\u00a0", True),
        (r"^[\s]$", "\ufeff", True),
        (r"^\S$", "\u00a0", False),
        (r"^(?<year>\d\d)-\d\d$", "24-24", True),
        (r"^(x)(y)\1$", "xyx", True),
        (r"(?<=a)b", "ab", True),
        (r"(?<!a)b", "ab", False),
        (r"^\p{L}+$", "Łódź", True),
        (r"^\p{Letter}$", "ж", True),
        (r"^\p{gc=Nd}$", "٣", True),
        (r"^\p{Script=Greek}$", "λ", True),
        (r"^\P{L}$", "a", False),
        (r"^[\p{Lu}_]+$", "Ä_", True),
        (r"^\u{1F600}$", "😀", True),
        (r"^\u00e9$", "é", True),
        (r"^\cJ$", "\n", True),
        (r"^\-\_$", "-_", True),
        (r"^[[a]$", "[", True),
        (r"^[a\]]$", "]", True),
        (r"^[\d-]$", "-", True),
        (r"^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).{8,}$", "Passw0rd", True),
        (r"^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).{8,}$", "password", False),
    ],
)
def test_a_pattern_means_what_ecma_262_says_for_keys_arms_and_documents(pattern, text, found):
    assert PicklablePattern(pattern).search(text) is found
    assert first_is_taken({"type": "string", "pattern": pattern}, text) == (found, found)


UNREADABLE = ["(", r"\p{Lx}", r"\k<a>", "\\", "[]", "a{99999999999999999999}", "\ud800"]


@pytest.mark.parametrize("pattern", UNREADABLE)
def test_a_pattern_that_the_engine_cannot_read_is_refused_where_it_decides(pattern):
    with pytest.raises(EngineError):
        PicklablePattern(pattern)
    with pytest.raises(SchemaError, match="values cannot be checked") as refusal:
        first_is_taken({"type": "string", "pattern": pattern}, "x")
    assert refusal.value.problems[0].pointer == "/properties/a/anyOf/0"


@pytest.mark.parametrize("pattern", UNREADABLE)
def test_it_is_no_matter_where_it_only_restricts(pattern):
    assert compile_schema({"type": "object", "properties": {"a": {**STRING, "pattern": pattern}}})


def test_a_pattern_can_be_sent_to_another_process():
    pattern = PicklablePattern("^a(?!b)")
    again = pickle.loads(pickle.dumps(pattern))  # noqa: S301 - our own

    assert again == pattern
    assert [again.search(key) for key in ("ac", "ab")] == [True, False]


CONFORMING = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:00Z",
    "email": "a.b@example.org",
    "hostname": "example-1.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "12:30:00Z",
    "uri": "urn:isbn:0451450523",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
NOT_CONFORMING = {
    "date": ["n/a", "2023-02-29", "20240229"],
    "date-time": ["2024-02-29", "2024-02-29T25:00:00Z", "noon"],
    "email": ["example.org", "@example.org", "a b@example.org", "Ann <ann@example.org>"],
    "hostname": ["-a.org", "a..org", "a" * 64],
    "ipv4": ["192.0.2.256", "192.0.2"],
    "ipv6": ["192.0.2.1", "fe80::1%eth0"],
    "time": ["noon", "25:00"],
    "uri": ["example.org", "https://exa mple.org", "https://["],
    "uuid": ["123e4567", "n/a"],
}


@pytest.mark.parametrize("dialect", sorted({dialect.uri for dialect in DIALECTS.values()}))
@pytest.mark.parametrize("name", sorted(BY_FORMAT))
def test_every_format_with_a_default_of_its_own_is_asserted_in_every_dialect(name, dialect):
    arm, root_keywords = {"type": "string", "format": name}, {"$schema": dialect}

    assert first_is_taken(arm, CONFORMING[name], **root_keywords) == (True, True)
    for value in NOT_CONFORMING[name]:
        assert first_is_taken(arm, value, **root_keywords) == (False, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("date-time", "2024-02-29 12:30:00+01:00"),
        ("date-time", "2024-02-29T12:30:00"),
        ("date-time", "2024-02-29t12:30z"),
        ("time", "00:00"),
        ("time", "12:30:00.5"),
    ],
)
def test_to_choose_an_arm_a_time_needs_no_zone(name, value):
    assert first_is_taken({"type": "string", "format": name}, value) == (True, False)


@pytest.mark.parametrize("schema", [{"type": "strin"}, {"required": [1]}, {"a": nested(100_000)}])
def test_a_schema_that_may_be_wrong_is_not_called_valid(schema):
    assert not is_valid_schema(schema, DEFAULT)
    value = schema.get("a")
    while isinstance(value, list):
        value = value.pop()


def test_a_schema_that_is_no_unicode_is_left_to_the_other_judge():
    fields = {name: {"type": "string"} for name in ("a", "\ud800")}
    schema = {"type": "object", "properties": fields, "required": list(fields)}

    assert not is_valid_schema(schema, DEFAULT)
    assert [field.name for field in compile_schema(schema).root.fields] == list(fields)


def test_a_deep_schema_is_left_to_the_other_judge():
    assert is_valid_schema({"default": nested(1000)}, DEFAULT)
    assert not is_valid_schema({"default": nested(1100)}, DEFAULT)


def test_a_schema_with_a_meta_schema_of_its_own_is_held_against_that_of_its_dialect():
    schema = {"$schema": "https://example.com/ours", "type": "object"}

    assert is_valid_schema(schema, DEFAULT)


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_definitions_that_refer_to_each_other_twice_are_refused_before_they_judge(keyword):
    definitions = {"d0": {"type": "object", "properties": {"x": NUMBER}, "required": ["x"]}}
    for level in range(1, 39):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {keyword: [below, {**below, "minProperties": level}]}
    fields = {"a": {"anyOf": [{"$ref": "#/$defs/d38", "title": "deep"}, NUMBER]}}
    schema = {"type": "object", "properties": fields, "$defs": definitions}

    for judged in (compile_schema, DocumentValidator):
        with pytest.raises(SchemaError, match="checked against more than 10000 schemas"):
            judged(schema)
