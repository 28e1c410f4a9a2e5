import json

import pytest

from stickler_cli.compare.object import ObjectNode
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema, document_node

NUMBER = {"type": "number"}


def problems(schema, file=None):
    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema, "s.json", file)
    return {problem.pointer: problem for problem in refusal.value.problems}


def comparators(schema, file=None):
    """Return the comparator of each field of a schema."""
    return {
        field.name: field.node.comparator.name
        for field in compile_schema(schema, "s.json", file).root.fields
    }


def referring(reference, **rest):
    return {"type": "object", "properties": {"a": {"$ref": reference}}, **rest}


@pytest.fixture
def folder(tmp_path):
    """A folder for schema files; its function `write` adds a file and returns the path."""

    def write(name, contents):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(contents if isinstance(contents, str) else json.dumps(contents))
        return file

    return write


@pytest.mark.parametrize(
    ("reference", "root_keywords"),
    [
        ("#/$defs/n", {"$defs": {"n": NUMBER}}),
        ("#/definitions/n", {"definitions": {"n": NUMBER}}),
        ("#/components/schemas/n", {"components": {"schemas": {"n": NUMBER}}}),
        ("#/parts/1", {"parts": [True, NUMBER]}),
        ("#/$defs/a~1b~0c", {"$defs": {"a/b~c": NUMBER}}),
        ("#/$defs/a%20b", {"$defs": {"a b": NUMBER}}),
        ("#/$defs/%25", {"$defs": {"%": NUMBER}}),
        ("#/$defs/", {"$defs": {"": NUMBER}}),
        ("#n", {"$defs": {"x": {"$anchor": "n", **NUMBER}}}),
        ("#n", {"$defs": {"x": {"$dynamicAnchor": "n", **NUMBER}}}),
        ("n.json", {"$defs": {"x": {"$id": "n.json", **NUMBER}}}),
        ("urn:n", {"$defs": {"x": {"$id": "urn:n", **NUMBER}}}),
        (
            "n.json#x",
            {"$defs": {"x": {"$id": "n.json", "$defs": {"y": {"$anchor": "x", **NUMBER}}}}},
        ),
        ("n.json#/$defs/y", {"$defs": {"x": {"$id": "n.json", "$defs": {"y": NUMBER}}}}),
        (
            "n.json",  # refers to #/$defs/x, which is in both, and means its own
            {
                "$defs": {
                    "x": {"type": "string"},
                    "y": {"$id": "n.json", "$ref": "#/$defs/x", "$defs": {"x": NUMBER}},
                }
            },
        ),
        ("https://a.org/s.json#/$defs/n", {"$id": "https://a.org/s.json", "$defs": {"n": NUMBER}}),
        (
            "/n.json",
            {"$id": "https://a.org/s/t.json", "$defs": {"x": {"$id": "/n.json", **NUMBER}}},
        ),
    ],
)
def test_a_reference_leads_to_a_schema(reference, root_keywords):
    assert comparators(referring(reference, **root_keywords)) == {"a": "NumericComparator"}


def test_a_chain_of_references_leads_to_its_end():
    definitions = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": NUMBER}

    assert comparators(referring("#/$defs/a", **{"$defs": definitions})) == {
        "a": "NumericComparator"
    }


def test_a_reference_to_true_is_a_field_of_any_kind():
    (field,) = compile_schema(referring("#/$defs/any", **{"$defs": {"any": True}})).root.fields

    assert field.node.leaves["number"].comparator.name == "NumericComparator"


def test_what_stands_at_an_unknown_place_refers_from_the_id_around_it():
    inner = {
        "$id": "x/t.json",
        "parts": {"y": {"$ref": "n.json"}},
        "$defs": {"n": {"$id": "n.json", **NUMBER}},
    }
    schema = referring(
        "#/$defs/x/parts/y", **{"$id": "https://a.org/s.json", "$defs": {"x": inner}}
    )

    assert comparators(schema) == {"a": "NumericComparator"}


def test_a_property_may_be_called_ref():
    schema = {
        "type": "object",
        "properties": {"$ref": NUMBER, "$id": NUMBER, "$defs": NUMBER, "$schema": NUMBER},
        "default": {"$ref": "https://example.org/nowhere"},
        "examples": [{"$ref": 5}],
        "enum": [{"$ref": "#/nowhere", "$id": 5}],
    }

    assert set(comparators(schema)) == {"$ref", "$id", "$defs", "$schema"}


def test_a_dynamic_reference_leads_to_the_outermost_anchor():
    schema = {
        "$id": "https://a.org/strings",
        "$ref": "list",
        "$defs": {
            "item": {"$dynamicAnchor": "item", **NUMBER},
            "list": {
                "$id": "list",
                "type": "object",
                "properties": {"a": {"$dynamicRef": "#item"}},
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
            },
        },
    }

    assert comparators(schema) == {"a": "NumericComparator"}
    del schema["$defs"]["item"]
    assert comparators(schema) == {"a": "LevenshteinComparator"}


def test_a_dynamic_reference_in_a_union_leads_there_too():
    schema = {
        "$id": "https://a.org/numbers",
        "type": "object",
        "properties": {"all": {"$ref": "texts"}},
        "$defs": {
            "item": {"$dynamicAnchor": "item", **NUMBER},
            "texts": {
                "$id": "texts",
                "properties": {"a": {"$dynamicRef": "#item"}},
                "anyOf": [{"type": "object", "required": ["a"]}, {"type": "string"}],
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
            },
        },
    }

    (field,) = compile_schema(schema).root.fields
    (single,) = field.node.arms[0].node.fields
    assert single.node.comparator.name == "NumericComparator"


@pytest.mark.parametrize("through", [{"$ref": "list"}, {"anyOf": [{"$ref": "list"}, NUMBER]}])
def test_a_schema_without_dynamic_anchors_keeps_those_around_it(through):
    schema = {
        "$id": "https://a.org/strings",
        "type": "object",
        "properties": {"all": {"$ref": "between"}},
        "$defs": {
            "item": {"$dynamicAnchor": "item", **NUMBER},
            "between": {"$id": "between", "description": "of lists", **through},
            "list": {
                "$id": "list",
                "type": "object",
                "properties": {"a": {"$dynamicRef": "#item"}},
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
            },
        },
    }

    node = document_node(compile_schema(schema).root.fields[0].node, ObjectNode)
    assert node.fields[0].node.comparator.name == "NumericComparator"


def test_one_generic_schema_serves_two_extensions():
    def extension(name, kind):
        return {
            "$id": name,
            "$ref": "generic",
            "$defs": {"item": {"$dynamicAnchor": "item", "type": kind}},
        }

    schema = {
        "$id": "https://a.org/",
        "type": "object",
        "properties": {"a": extension("one", "number"), "b": extension("two", "boolean")},
        "$defs": {
            "generic": {
                "$id": "generic",
                "type": "object",
                "properties": {"x": {"$dynamicRef": "#item"}},
                "$defs": {"item": {"$dynamicAnchor": "item"}},
            }
        },
    }

    first, second = compile_schema(schema).root.fields
    assert first.node.fields[0].node.comparator.name == "NumericComparator"
    assert second.node.fields[0].node.comparator.name == "ExactComparator"


def test_a_recursive_reference_leads_to_the_outermost_resource():
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "https://a.org/outer",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"extra": NUMBER},
        "$ref": "inner",
        "$defs": {
            "inner": {
                "$id": "inner",
                "$recursiveAnchor": True,
                "type": "object",
                "properties": {"child": {"$recursiveRef": "#"}},
            }
        },
    }

    child = compile_schema(schema).root.fields[0].node.choose(None)
    assert [field.name for field in child.fields] == ["child", "extra"]


def test_references_of_other_dialects_are_unknown_keywords():
    schema = {"type": "object", "properties": {"a": {"$recursiveRef": "#/nowhere", **NUMBER}}}

    assert comparators(schema) == {"a": "NumericComparator"}


@pytest.mark.parametrize("draft", ["draft-07", "draft/2019-09", "draft/2020-12"])
def test_the_meta_schemas_are_at_hand(draft):
    schema = referring(f"http://json-schema.org/{draft}/schema")

    (field,) = compile_schema(schema).root.fields
    assert field.name == "a"


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("#/$defs/b", "#/$defs/b points to nothing"),
        ("#/$defs/a/7", "#/$defs/a/7 points to nothing"),
        ("#/required/3", "#/required/3 points to nothing"),
        ("#/required/1", "#/required/1 points to nothing"),
        ("#/required/x", "#/required/x points to nothing"),
        ("#/required/0", "#/required/0 points to a value of type string"),
        ("#/required", "#/required points to a value of type array"),
        ("#b", "#b points to nothing"),
        ("http://[", "http://[ is not a URI"),
        ("b.json", "b.json is relative, but the schema was not read from a file"),
        (
            "https://a.org/b.json",
            "https://a.org/b.json is on the network, but stickler never downloads schemas",
        ),
        ("urn:b", "urn:b is on the network, but stickler never downloads schemas"),
        ("file:///no/such/file.json", "the file /no/such/file.json does not exist"),
        (
            "http://json-schema.org/draft-03/schema",
            "http://json-schema.org/draft-03/schema is written in Draft 3",
        ),
        (
            "http://json-schema.org/nothing",
            (
                "http://json-schema.org/nothing is on the network, but stickler never "
                "downloads schemas"
            ),
        ),
    ],
)
def test_a_reference_that_cannot_be_followed_is_named_with_its_cause(reference, found):
    schema = referring(reference, required=["a"], **{"$defs": {"a": NUMBER}})

    assert problems(schema)["/properties/a/$ref"].found.endswith(found)


POINTER = "a JSON Pointer to an existing part of the schema"


@pytest.mark.parametrize(
    ("reference", "expected", "hint"),
    [
        ("#/$defs/mony", POINTER, "did you mean money?"),
        ("#/required/bb", POINTER, ""),  # a list has no names
        # Anchors have no near name.
        ("#mony", 'a schema with "$anchor": "mony", or a JSON Pointer such as #/$defs/a', ""),
    ],
)
def test_what_a_reference_could_lead_to_is_said_and_a_near_name_proposed(reference, expected, hint):
    schema = referring(reference, required=["b"], **{"$defs": {"money": NUMBER}})

    problem = problems(schema)["/properties/a/$ref"]
    assert (problem.expected, problem.hint) == (expected, hint)


def test_a_reference_of_another_dialect_than_the_rest_must_be_a_string_too():
    inner = {
        "$id": "https://a.org/inner",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$dynamicRef": 5,
    }
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": inner},
    }

    problem = problems(schema)["/properties/a/$dynamicRef"]
    assert (problem.found, problem.expected) == ("$dynamicRef is integer", "a string")


def test_a_reference_beside_data_that_is_no_string_is_told_by_the_dialect():
    assert problems(referring(5))["/properties/a/$ref"].expected == "a string"


def test_a_reference_that_is_not_used_may_lead_anywhere():
    compile_schema({"type": "object", "$defs": {"a": {"$ref": "https://a.org/b.json"}}})


def test_what_stands_at_an_unknown_place_is_checked_when_it_is_used():
    definitions = {"a": {"type": "sting"}, "b": {"x-aws-stickler-weight": 0}}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/parts/a"}, "b": {"$ref": "#/parts/b"}},
        "parts": definitions,
    }

    problems_found = problems(schema)
    assert problems_found["/parts/a/type"].hint == "did you mean string?"
    assert problems_found["/parts/b/x-aws-stickler-weight"].found == "weight is 0"
    assert problems_found["/properties/a/$ref"].found == "#/parts/a points to an invalid schema"


@pytest.mark.parametrize(
    ("reference", "files"),
    [
        ("common/money.json#/$defs/amount", {"common/money.json": {"$defs": {"amount": NUMBER}}}),
        (
            "common/money.json",
            {
                "common/money.json": {"$ref": "units/amount.json"},
                "common/units/amount.json": {"$ref": "../../number.json"},
                "number.json": NUMBER,
            },
        ),
        # The $id of a file does not change where its references start.
        (
            "b.json",
            {
                "b.json": {"$id": "https://other.org/x/b.json", "$ref": "c.json"},
                "c.json": NUMBER,
            },
        ),
    ],
)
def test_a_file_is_found_from_the_one_that_refers_to_it(folder, reference, files):
    for name, contents in files.items():
        folder(name, contents)
    schema = referring(reference)

    assert comparators(schema, folder("s.json", schema)) == {"a": "NumericComparator"}


@pytest.mark.parametrize(
    ("identifier", "reference"),
    [
        ("https://a.org/schemas/s.json", "common/n.json"),
        ("https://a.org/schemas/s.json", "https://a.org/schemas/common/n.json"),
        ("https://a.org/schemas/deep/s.json", "../common/n.json"),
        ("https://a.org/s", "/common/n.json"),
        ("/schemas/s.json", "common/n.json"),
        ("urn:s", "common/n.json"),
        ("s.json", "common/n.json"),
    ],
)
def test_a_reference_relative_to_an_id_means_the_file_in_the_same_relation(
    folder, identifier, reference
):
    folder("common/n.json", NUMBER)
    schema = referring(reference, **{"$id": identifier})
    name = "deep/s.json" if "/deep/" in identifier else "s.json"

    assert comparators(schema, folder(name, schema)) == {"a": "NumericComparator"}


def test_a_file_may_be_of_another_dialect(folder):
    tuple_ = {"items": [NUMBER, {"type": "boolean"}]}
    folder("old.json", {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_})
    schema = referring("old.json")

    (field,) = compile_schema(schema, "s.json", folder("s.json", schema)).root.fields
    names = [position.comparator.name for position in field.node.positions]
    assert names == ["NumericComparator", "ExactComparator"]


def test_a_file_may_hold_a_list_or_a_boolean(folder):
    folder("list.json", [NUMBER])
    folder("true.json", "true")
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "list.json#/0"}, "b": {"$ref": "true.json"}},
    }

    a, b = compile_schema(schema, "s.json", folder("s.json", schema)).root.fields
    assert a.node.comparator.name == "NumericComparator"
    assert b.node.leaves["boolean"].comparator.name == "ExactComparator"


def test_files_that_refer_to_each_other_are_a_recursion(folder):
    node = {"type": "object", "properties": {"next": {"$ref": "b.json"}, "x": NUMBER}}
    folder("b.json", {"type": "object", "properties": {"back": {"$ref": "s.json"}}})
    root = compile_schema(node, "s.json", folder("s.json", node)).root

    again = root.fields[0].node.fields[0].node.choose(None)
    assert [field.name for field in again.fields] == ["next", "x"]


@pytest.mark.parametrize(
    ("reference", "contents", "found"),
    [
        ("missing.json", None, "does not exist"),
        (".", None, "does not exist"),
        ("a" * 300 + ".json", None, "does not exist"),
        ("bad.json", "{", "is not JSON"),
        ("empty.json", "", "is not JSON"),
        ("text.json", '"text"', "text.json points to a value of type string"),
        ("old.json", '{"$schema": "http://json-schema.org/draft-03/schema#"}', "in Draft 3"),
        ("wrong.json", '{"type": "sting"}', "wrong.json points to an invalid schema"),
        (
            "b.json#/$defs/n",
            '{"$defs": {"n": {"type": "number"}}, "type": "sting"}',
            "b.json#/$defs/n points to an invalid schema",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(folder, reference, contents, found):
    if contents is not None:
        folder(reference.partition("#")[0], contents)
    schema = referring(reference)

    problem = problems(schema, folder("s.json", schema))["/properties/a/$ref"]
    assert found in problem.found
    assert reference in problem.found


@pytest.mark.parametrize("name", ["b.yaml", "b.yml", "b.json"])
def test_a_file_of_yaml_gets_a_hint(folder, name):
    folder(name, "type: number")
    schema = referring(name)

    problem = problems(schema, folder("s.json", schema))["/properties/a/$ref"]
    assert problem.hint.startswith("to convert the file to JSON with PyYAML, run `python -c ") is (
        name != "b.json"
    )


def test_a_file_that_may_not_be_read_is_named(folder, monkeypatch):
    file = folder("b.json", NUMBER)
    schema = referring("b.json")
    main = folder("s.json", schema)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(file), "read_bytes", refuse)
    problem = problems(schema, main)["/properties/a/$ref"]
    assert problem.found.endswith("b.json cannot be read (Permission denied)")


def test_problems_of_a_file_are_told_with_its_name(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    folder("b.json", {"$defs": {"x": {"type": "string", "x-aws-stickler-weight": -1}}})
    schema = referring("b.json#/$defs/x")

    problems_found = problems(schema, folder("s.json", schema))
    assert str(problems_found["/$defs/x/x-aws-stickler-weight"]).startswith(
        "b.json#/$defs/x/x-aws-stickler-weight: weight is -1"
    )


def test_a_file_is_read_where_something_else_is_wrong_too(folder):
    folder("b.json", NUMBER)
    wrong = {"type": "string", "x-aws-stickler-comparator": "ExactComparator", "minLength": "3"}
    schema = referring("b.json")
    schema["properties"]["b"] = wrong

    assert list(problems(schema, folder("s.json", schema))) == ["/properties/b/minLength"]


def test_a_reference_into_the_network_says_which_copy_would_do(folder):
    schema = referring("b.json", **{"$id": "https://a.org/s.json"})
    main = folder("s.json", schema)

    problem = problems(schema, main)["/properties/a/$ref"]
    assert (
        problem.found
        == "https://a.org/b.json is on the network, but stickler never downloads schemas"
    )
    assert problem.hint == f"save a copy as {main.parent / 'b.json'}"


def test_a_reference_to_another_host_has_no_copy_beside_the_schema(folder):
    schema = referring("https://b.org/b.json", **{"$id": "https://a.org/s.json"})
    main = folder("s.json", schema)

    problem = problems(schema, main)["/properties/a/$ref"]
    assert problem.hint == (
        "save a copy of the referenced schema beside this schema, and refer to the copy "
        "by its relative path"
    )


def test_what_names_no_dialect_is_of_that_around_it(folder):
    tuple_ = {"type": "array", "items": [NUMBER]}
    folder("own.json", {"$schema": "https://a.org/own", **tuple_})
    folder("new.json", {"$schema": "https://json-schema.org/draft/2020-12/schema", **tuple_})
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "a": {"$schema": "https://a.org/own", **tuple_},
            "b": {"$ref": "own.json"},
        },
    }
    main = folder("s.json", schema)

    for field in compile_schema(schema, "s.json", main).root.fields:
        assert [position.comparator.name for position in field.node.positions] == [
            "NumericComparator"
        ]
    schema["properties"]["c"] = {"$ref": "new.json"}
    assert list(problems(schema, main)) == ["/items", "/properties/c/$ref"]


def test_an_id_must_be_a_uri():
    schema = {"type": "object", "properties": {"a": {"$id": "http://["}}}

    (problem,) = problems(schema).values()
    assert problem.pointer == "/properties/a/$id"
    assert (problem.found, problem.expected) == ('$id is "http://["', "a URI")


@pytest.mark.parametrize(
    ("draft", "keyword"),
    [
        ("http://json-schema.org/draft-07/schema#", "$id"),
        ("http://json-schema.org/draft-04/schema#", "id"),
    ],
)
@pytest.mark.parametrize("reference", ["#/definitions/Name", "name.json"])
def test_a_reference_that_fails_for_a_nested_id_says_so(draft, keyword, reference):
    definition = {keyword: "https://example.org/part/", "properties": {"name": {"$ref": reference}}}
    schema = {
        "$schema": draft,
        "type": "object",
        "properties": {"part": {"type": "object", **definition}},
        "definitions": {"Name": {"type": "string"}},
    }

    with pytest.raises(SchemaError) as caught:
        compile_schema(schema, "s.json")

    (problem,) = caught.value.problems
    assert problem.pointer == "/properties/part/properties/name/$ref"
    assert problem.hint.startswith(
        "the reference is relative to https://example.org/part/ because of "
        f"/properties/part/{keyword}; remove that {keyword}"
    )


def test_a_reference_that_fails_elsewhere_says_nothing_of_ids():
    schema = {
        "$id": "https://example.org/whole.json",
        "type": "object",
        "properties": {"name": {"$ref": "#/$defs/Name"}},
    }

    with pytest.raises(SchemaError) as caught:
        compile_schema(schema, "s.json")

    assert caught.value.problems[0].hint == ""
