import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core.problems import SchemaError
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.judging import MESSAGE_LENGTH, brief_message
from stickler_cli.schema.verdicts import DEEPEST, DocumentValidator

TEXT = {"type": "string"}


def violations(schema: dict, document: dict) -> list[tuple[str, str, str]]:
    violations_found = DocumentValidator(schema).violations(document)
    return sorted((entry.keyword, entry.field, entry.pointer) for entry in violations_found)


def properties(**fields: object) -> dict:
    return {"type": "object", "properties": fields}


def test_a_valid_document_violates_nothing():
    assert violations(properties(a=TEXT), {"a": "x"}) == []


def test_a_ground_truth_violates_nothing_where_it_is_not_labelled():
    unknown = {"_labelled": False}
    gt = {"a": unknown, "o": {"_value": {"b": unknown, "c": 1}}, "l": [{"b": 2}]}
    bare = Unwrapper(None)(gt, is_truth=True)
    inner = properties(b=TEXT, c=TEXT)
    schema = properties(a=TEXT, o=inner, l={"type": "array", "items": inner})

    violations_found = DocumentValidator(schema).violations(bare.value, bare.gold)

    assert {violation.pointer for violation in violations_found} == {"/l/0/b", "/o/c"}


@pytest.mark.parametrize(
    ("schema", "document", "expected"),
    [
        (properties(a=TEXT), {"a": 1}, ("type", "a", "/a")),
        ({"required": ["a"]}, {}, ("required", "a", "")),
        (
            properties(a={"items": {"required": ["b"]}}),
            {"a": [{"b": 1}, {}]},
            ("required", "a[].b", "/a/1"),
        ),
        (
            properties(a={"items": {"items": TEXT}}),
            {"a": [["x"], [1]]},
            ("type", "a[][]", "/a/1/0"),
        ),
        (properties(a={"prefixItems": [TEXT]}), {"a": [1]}, ("type", "a[]", "/a/0")),
        (properties(m={"additionalProperties": TEXT}), {"m": {"k": 1}}, ("type", "m.*", "/m/k")),
        (
            properties(m={"patternProperties": {"^k": {"items": TEXT}}}),
            {"m": {"k": [1]}},
            ("type", "m.*[]", "/m/k/0"),
        ),
        ({"additionalProperties": False}, {"a": 1}, ("additionalProperties", "", "")),
        (properties(**{"a.b": TEXT}), {"a.b": 1}, ("type", '["a.b"]', "/a.b")),
        (
            properties(properties=properties(items=TEXT)),
            {"properties": {"items": 1}},
            ("type", "properties.items", "/properties/items"),
        ),
        ({"allOf": [properties(a=TEXT)]}, {"a": 1}, ("type", "a", "/a")),
        (
            {"$defs": {"a": TEXT}, **properties(b={"$ref": "#/$defs/a"})},
            {"b": 1},
            ("type", "b", "/b"),
        ),
        (properties(a=False), {"a": 1}, ("falseSchema", "a", "/a")),
        (properties(a={"anyOf": [TEXT, {"type": "null"}]}), {"a": 1}, ("anyOf", "a", "/a")),
        (properties(a={"if": {}, "then": {"items": TEXT}}), {"a": [1]}, ("type", "a[]", "/a/0")),
        ({"dependentSchemas": {"a": properties(b=TEXT)}}, {"a": 1, "b": 1}, ("type", "b", "/b")),
    ],
)
def test_a_violation_is_told_with_its_field_and_place(schema, document, expected):
    assert violations(schema, document) == [expected]


@pytest.mark.parametrize(
    ("uri", "tuples"),
    [
        ("http://json-schema.org/draft-04/schema#", "items"),
        ("https://json-schema.org/draft-07/schema", "items"),
        ("https://json-schema.org/draft/2019-09/schema", "items"),
        ("https://json-schema.org/draft/2020-12/schema", "prefixItems"),
    ],
)
def test_the_dialect_of_the_schema_counts(uri: str, tuples: str):
    schema = {"$schema": uri, **properties(a={tuples: [{"type": "string"}]})}

    assert violations(schema, {"a": [1]}) == [("type", "a[]", "/a/0")]


def test_a_meta_schema_of_the_users_own_is_not_looked_for():
    schema = {"$schema": "https://example.com/ours", **properties(a=TEXT)}

    assert violations(schema, {"a": 1}) == [("type", "a", "/a")]


def test_formats_money_and_large_integers_are_judged_exactly():
    schema = properties(
        day={"format": "date"}, price={"multipleOf": 0.01}, n={"type": "integer", "maximum": 2**70}
    )

    assert violations(schema, {"day": "2024-02-29", "price": 19.99, "n": 2**70}) == []
    assert violations(schema, {"day": "2024-02-30", "price": 19.991, "n": 2**70 + 1}) == [
        ("format", "day", "/day"),
        ("maximum", "n", "/n"),
        ("multipleOf", "price", "/price"),
    ]


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^(?=(a+)+$)b", "(a|a)*\\1(?=b)$", "(?<!b)(a|aa)+$"]
)
def test_a_pattern_cannot_hang(pattern: str):
    assert violations(properties(a={"pattern": pattern}), {"a": "a" * 1000 + "!"})


def test_a_document_as_deep_as_they_are_read_is_judged():
    schema = {"properties": {"k": {"$ref": "#"}}, "additionalProperties": False}
    document: dict = {"z": 1}
    for _ in range(1023):
        document = {"k": document}

    (violation,) = DocumentValidator(schema).violations({"k": document})
    details = (violation.keyword, violation.field, violation.pointer, violation.message)
    assert details == ("", "", "", "the document is nested more than 1024 levels deep")
    (violation,) = DocumentValidator(schema).violations(document)

    assert violation.keyword == "additionalProperties"
    assert violation.pointer == "/k" * 1023
    # What a recursion points to a value of type is not told apart for ever.
    assert violation.field == ".".join(["k"] * DEEPEST + ["..."])


def test_so_many_steps_of_a_path_are_told_apart():
    value: dict = {"z": 1}
    for _ in range(DEEPEST):
        value = {"k": value}
    schema = {"properties": {"k": {"$ref": "#"}}, "additionalProperties": False}

    (violation,) = DocumentValidator(schema).violations(value)
    assert violation.field == ".".join(["k"] * DEEPEST)


def test_a_message_is_cut():
    assert brief_message("x" * MESSAGE_LENGTH) == "x" * MESSAGE_LENGTH
    (violation,) = DocumentValidator(properties(a=TEXT)).violations({"a": ["x" * 1000]})

    assert len(violation.message) == MESSAGE_LENGTH
    assert violation.message.endswith("...")


def write(path: Path, schema: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(schema))


def test_references_to_files_are_followed(tmp_path: Path):
    main = properties(a={"$ref": "parts/a.json"})
    write(tmp_path / "main.json", main)
    write(tmp_path / "parts" / "a.json", properties(b={"$ref": "b.json"}))
    write(tmp_path / "parts" / "b.json", TEXT)
    validator = DocumentValidator(main, "main.json", str(tmp_path / "main.json"))

    assert [entry.field for entry in validator.violations({"a": {"b": 1}})] == ["a.b"]

    # Another process may be where there are no such files.
    for file in (tmp_path / "parts").iterdir():
        file.unlink()
    again = pickle.loads(pickle.dumps(validator))  # noqa: S301 - written above
    assert [entry.field for entry in again.violations({"a": {"b": 1}})] == ["a.b"]


def test_a_file_stands_to_the_schema_as_its_uri_to_that_of_the_schema(tmp_path: Path):
    main = {"$id": "https://example.com/main.json", **properties(a={"$ref": "a.json#/$defs/x"})}
    write(tmp_path / "main.json", main)
    write(tmp_path / "a.json", {"$id": "https://example.org/x/a", "$defs": {"x": {"$ref": "b"}}})
    write(tmp_path / "b", TEXT)

    validator = DocumentValidator(main, "main.json", str(tmp_path / "main.json"))

    assert [entry.field for entry in validator.violations({"a": 1})] == ["a"]


def test_a_file_may_be_true_or_false(tmp_path: Path):
    for name, contents in (("all.json", True), ("none.json", False)):
        write(tmp_path / name, contents)
    schema = properties(a={"$ref": "all.json"}, b={"$ref": "none.json"})

    validator = DocumentValidator(schema, "s.json", str(tmp_path / "s.json"))
    assert [violation.pointer for violation in validator.violations({"a": 1, "b": 2})] == ["/b"]


def test_files_are_followed_whatever_else_refers_to_what_is_known(tmp_path: Path):
    write(tmp_path / "b.json", {"$ref": "c.json"})
    write(tmp_path / "c.json", TEXT)
    reference = {"$ref": "#/$defs/x"}
    schema = {**properties(a={"$ref": "b.json"}, d=reference, e=reference), "$defs": {"x": TEXT}}

    validator = DocumentValidator(schema, "s.json", str(tmp_path / "s.json"))
    assert [violation.pointer for violation in validator.violations({"a": 1})] == ["/a"]


def test_a_file_is_judged_in_its_own_dialect(tmp_path: Path):
    write(
        tmp_path / "old.json",
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [TEXT]},
    )
    schema = properties(a={"$ref": "old.json"})

    validator = DocumentValidator(schema, "s.json", str(tmp_path / "s.json"))
    assert [violation.pointer for violation in validator.violations({"a": [1, 2]})] == ["/a/0"]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("https://example.com/a.json", "on the network, but stickler never downloads schemas"),
        ("file:///nowhere/a.json", "does not exist"),
        ("a.json", "a.json"),
    ],
)
def test_what_a_reference_does_not_lead_to_is_a_schema_error(reference: str, reason: str):
    with pytest.raises(SchemaError) as error:
        DocumentValidator(properties(a={"not": {"$ref": reference}}), "s.json")

    (problem,) = error.value.problems
    assert problem.source == "s.json"
    assert problem.pointer == "/properties/a/not/$ref"
    assert reason in problem.found
    assert problem.hint == "leave out --validate"


def test_too_many_alternatives_are_a_schema_error_at_the_outermost_of_them():
    alternatives: dict = {"anyOf": [TEXT] * 200}
    schema = properties(
        a={"anyOf": [{"allOf": [alternatives, {"title": str(n)}]} for n in range(60)]}
    )

    with pytest.raises(SchemaError) as error:
        DocumentValidator(schema)
    assert [problem.pointer for problem in error.value.problems] == ["/properties/a"]


@pytest.mark.parametrize(
    ("schema", "bounded"),
    [
        (properties(a=TEXT), True),
        ({"properties": {"a": TEXT}, "unevaluatedProperties": False}, True),
        ({"anyOf": [properties(a={"$ref": "#"}), TEXT]}, True),
        (
            {"anyOf": [properties(a={"$ref": "#"}), TEXT], "unevaluatedProperties": False},
            False,
        ),
    ],
)
def test_it_is_known_whether_verdicts_take_time_in_proportion(schema: dict, bounded: bool):
    assert DocumentValidator(schema).is_bounded is bounded


def test_a_pattern_that_is_not_taken_is_a_schema_error_with_its_place():
    with pytest.raises(SchemaError) as error:
        DocumentValidator(properties(a={"pattern": "((("}), "s.json")

    (problem,) = error.value.problems
    assert problem.pointer == "/properties/a/pattern"
    assert (
        problem.found
        == "documents cannot be validated against this schema, because stickler cannot use the "
        'pattern "((("'
    )


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "m", "u"]), VALUES))
def test_every_json_value_gets_a_verdict(document: dict):
    schema = {
        **properties(
            a={"items": {"type": "number", "multipleOf": 0.01}},
            m={"additionalProperties": {"maxLength": 2, "pattern": "^a|b$"}},
            u={"oneOf": [{"type": "integer"}, {"type": "string", "format": "date"}]},
        ),
        "required": ["a"],
    }

    for violation in DocumentValidator(schema).violations(document):
        assert violation.keyword
