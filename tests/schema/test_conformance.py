"""The JSON Schema Test Suite: schemas compile, or are refused for a documented reason.

Arms of unions accept what the suite calls valid. Functions that exclude a schema or document return
the reason.
"""

import json
from pathlib import Path

import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.dialects import DRAFT_7, DRAFT_2019_09, DRAFT_2020_12
from stickler_cli.schema.references import SchemaFiles
from stickler_cli.schema.verdicts import MOST_CHECKS, Reach, acceptor_of

pytestmark = pytest.mark.conformance

DATA = Path(__file__).parent / "data" / "tests"
REMOTES = DATA.parent / "remotes"
PAGE = (Path(__file__).parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
DIALECTS = {"draft7": DRAFT_7, "draft2019-09": DRAFT_2019_09, "draft2020-12": DRAFT_2020_12}


def groups(name):
    """Yield (name, schema, tests) for each group of a file of the suite."""
    dialect = DIALECTS[name.partition("/")[0]]
    for group in json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")):
        schema = group["schema"]
        if isinstance(schema, dict) and "$schema" not in schema:
            schema = {"$schema": dialect.uri, **schema}
        yield f"{name}: {group['description']}", schema, group["tests"]


FILES = [
    file.relative_to(DATA).with_suffix("").as_posix()
    for folder in DIALECTS
    for file in sorted((DATA / folder).rglob("*.json"))
]

NOT_ABOUT_DOCUMENTS = "the schema is not about documents"
REASONS = {
    NOT_ABOUT_DOCUMENTS: "the schema does not describe a document",
    "a reference to the network": "is on the network, but stickler never downloads schemas",
    "a reference that points to nothing": "points to nothing",
}
"""Maps each reason for refusing a schema, as docs/schema.md names it, to words of the message."""


def reason_of(problem):
    return next(reason for reason, words in REASONS.items() if words in problem.found)


def refused(schema):
    """Return the reasons for which a schema is refused; none if it compiles."""
    try:
        compile_schema(schema, "schema.json")
    except SchemaError as error:
        return {reason_of(problem) for problem in error.problems}
    return set()


def about_no_document(schema):
    """Return why a schema cannot describe documents, as far as its type says; None if it can."""
    if isinstance(schema, bool):
        return "it is a boolean"
    named = schema.get("type")
    types = [named] if isinstance(named, str) else named
    if types and not {"object", "array"} & {*types}:
        return f"it is of type {named}"
    return None


def test_the_reasons_are_those_of_the_page():
    for reason, words in REASONS.items():
        assert f"| {reason} |" in PAGE
        assert words in PAGE


@pytest.mark.parametrize("file", FILES)
def test_a_schema_compiles_or_is_refused_for_a_documented_reason(file):
    for name, schema, _ in groups(file):
        reasons = refused(schema)

        if about_no_document(schema):
            assert NOT_ABOUT_DOCUMENTS in reasons, name
        if "a reference that points to nothing" in reasons:
            assert "$ref" in json.dumps(schema), name


def contained(schema):
    """Return a schema in which a field has the given schema, as a resource of its own."""
    return {
        "$schema": schema["$schema"],
        "type": "object",
        "properties": {"field": {"$id": "https://contained.example/schema", **schema}},
    }


def cannot_be_contained(schema):
    if isinstance(schema, bool):
        return "true and false have no $id"
    if "$ref" in schema and schema["$schema"] == DRAFT_7.uri:
        return "a $ref makes an $id beside it void in Draft 7"
    return None


@pytest.mark.parametrize("file", FILES)
def test_any_schema_can_be_that_of_a_field(file):
    for name, schema, _ in groups(file):
        if not cannot_be_contained(schema):
            assert refused(contained(schema)) <= {"a reference to the network"}, name


SERVED = "http://localhost:1234/"
"""The address at which the suite expects its directory `remotes/`."""


def on_disk(schema):
    """Return a schema, and the file under `remotes/` from which its references start."""
    identifier = schema.get("$id", "")
    if not identifier and not cannot_be_contained(schema):
        schema = {"$id": f"{SERVED}schema.json", **schema}
    path = identifier.removeprefix(SERVED) if identifier.startswith(SERVED) else ""
    return schema, REMOTES / (path or "schema.json")


def not_decided(name):
    """Return why an arm need not accept a document that the suite calls valid; None if it must."""
    if "/optional/format/" in name or "/format" in name:
        return "only some formats are asserted, and with less rigour"
    if "/optional/content" in name:
        return "contents of strings are not looked into"
    if "/optional/dependencies-compatibility" in name:
        return "a keyword of earlier dialects"
    if "custom metaschema" in name:
        return "vocabularies are not switched off by meta-schemas that are elsewhere"
    if name.startswith("draft2019-09/unevaluatedProperties") and "non-bool" in name:
        return "the jsonschema library does not count what additionalProperties evaluated"
    return None


@pytest.mark.parametrize("is_separate", [False, True])
@pytest.mark.parametrize("file", FILES)
def test_an_arm_accepts_what_is_valid(file, is_separate, monkeypatch):
    """This also holds if all targets of `$ref` are judged separately."""
    if is_separate:
        monkeypatch.setattr(Reach, "_all_checks", lambda *_: MOST_CHECKS + 1)
    for name, schema, tests in groups(file):
        if is_separate and ("$ref" not in str(schema) or "boolean schema" in name):
            continue
        if not isinstance(schema, bool) and not not_decided(name):
            accepts_what_is_valid(name, schema, tests)


def accepts_what_is_valid(name, schema, tests):
    schema, file = on_disk(schema)
    files = SchemaFiles(schema, "schema.json", file)
    reach = Reach(files)
    problems = list(reach.problems(files.root))
    if problems:
        assert cannot_be_contained(schema), name
        assert {reason_of(problem) for _, _, problem in problems} == {
            "a reference to the network"
        }, name
        return
    accepts = acceptor_of(files, files.root, reach.documents)

    valid = [case["valid"] for case in tests]
    assert [accepts(case["data"]) for case in tests] == valid, name
