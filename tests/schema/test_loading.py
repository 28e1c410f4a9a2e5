import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli.comparators import BaseComparator
from stickler_cli.core import remote
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema import loading
from stickler_cli.schema.inference.observed_schemas import observed_schema
from stickler_cli.schema.loading import (
    doubt_of_document,
    is_misspelt_schema,
    is_schema_file,
    load_observed,
    load_schema,
    load_schemas,
    loaded,
    schema_digest,
)
from tests.schema.observing import seen_in

SCHEMA = {"type": "object", "properties": {"a": {"$ref": "b.json"}}}


def problem_of(path):
    with pytest.raises(SchemaError) as refusal:
        load_schema(str(path))
    (problem,) = refusal.value.problems
    assert problem.source == str(path)
    return problem


def test_a_file_gives_its_plan_and_what_it_was(tmp_path):
    file = tmp_path / "s.json"
    (tmp_path / "b.json").write_text('{"type": "number"}')
    content = b"\xef\xbb\xbf" + json.dumps(SCHEMA).encode()
    file.write_bytes(content)

    loaded = load_schema(str(file))

    assert loaded.path == str(file)
    assert loaded.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
    (field,) = loaded.plan.root.fields
    assert field.node.comparator.name == "NumericComparator"


def test_a_file_that_is_not_there_is_named(tmp_path):
    problem = problem_of(tmp_path / "s.json")

    assert problem.found == "the schema cannot be read (No such file or directory)"
    assert problem.hint == "check the path"


def test_a_folder_is_no_schema(tmp_path):
    assert problem_of(tmp_path).hint.startswith("the order of arguments is SCHEMA GT PRED;")


@pytest.mark.parametrize(
    ("contents", "hint"),
    [
        # "items" of a document is no schema, as the keyword of that name has one.
        (
            {"number": 1, "date": "", "items": [1]},
            "is this file a document? The order of arguments is SCHEMA GT PRED",
        ),
        (
            {"format": "stickler-run/1"},
            ("this file contains output of stickler (stickler-run/1), not a schema"),
        ),
    ],
)
def test_what_is_a_document_or_a_file_of_ours_is_told(contents, hint):
    with pytest.raises(SchemaError) as error:
        loaded(contents, "s.json", when="auto")

    (problem,) = error.value.problems
    assert problem.hint == hint


def test_what_is_not_json_is_named_with_its_line(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{\n  "type": object\n}')

    problem = problem_of(file)
    assert problem.found.startswith("the schema is not valid JSON (")
    assert (problem.line, problem.column) == (2, 11)


def test_a_schema_with_problems_is_refused_under_its_name(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{"type": "strin"}')

    assert problem_of(file).pointer == "/type"


X = "x-aws-stickler-"
STRING = {"type": "string"}
ORDINARY_NAMES = ("due", "phone", "terms", "item", "codes", "references", "all", "any", "done")
SKU = {"type": "object", "properties": {"sku": STRING, "n": {"type": "integer"}}}
EXACT = {**STRING, X + "comparator": "ExactComparator", X + "threshold": 1.0}
CODE = {**EXACT, X + "comparator-config": {"only_separators": True}}
SAID = {"type": "object", "properties": {"sku": EXACT}}


class Mine(BaseComparator):
    def compare(self, gt, pred):
        return 1.0


def write(file, contents):
    file.parent.mkdir(exist_ok=True)
    file.write_text(contents if isinstance(contents, str) else json.dumps(contents))
    return str(file)


@pytest.mark.parametrize(
    ("extra_keywords", "path", "name"),
    [
        ({"title": " Invoices ", X + "model-name": "Invoice"}, "some/s.json", "Invoices"),
        ({"title": " ", X + "model-name": "Invoice"}, "some/s.json", "Invoice"),
        ({}, "some/s.json", "s"),
        ({}, "", "DynamicModel"),
    ],
)
def test_documents_are_called_by_their_title_model_or_file(extra_keywords, path, name):
    loaded_schema = loaded({**SKU, **extra_keywords}, path)

    assert (loaded_schema.name, loaded_schema.digest) == (name, "")


def test_what_was_inferred_is_known_and_told():
    loaded_schema = loaded(SKU, "s.json", when="always")

    assert loaded_schema.contents["properties"]["sku"] == CODE
    assert [node.threshold_source for _, node in loaded_schema.plan.root.list_fields()] == [
        "inferred"
    ] * 2
    assert [field.source for field in loaded_schema.fields] == ["inferred"] * 2
    assert loaded_schema.inferred is not None
    assert loaded_schema.inferred == loaded(SKU, "t.json", when="always").inferred
    assert (
        loaded_schema.remark
        == "s.json names no comparators, so stickler inferred how to compare 2 fields"
    )
    annotated = loaded({**SKU, "properties": {**SKU["properties"], "sku": EXACT}}, when="always")
    assert annotated.remark.endswith(
        " does not annotate every field, so stickler inferred how to compare 1 field"
    )
    assert annotated.inferred != loaded_schema.inferred


def test_a_file_of_which_much_was_inferred_can_be_shown(tmp_path):
    path = write(tmp_path / "a b" / "s.json", SKU)

    assert loaded(SKU, path, when="always").remark.endswith(
        f" 2 fields (to see why, run `stickler init '{path}'`; "
        "to use the defaults instead, give --infer never)"
    )


@pytest.mark.parametrize(("schema", "when"), [(SKU, "never"), (SAID, "always"), (SAID, "auto")])
def test_where_nothing_is_inferred_nothing_is_told(schema, when):
    loaded_schema = loaded(schema, "s.json", when=when)

    assert (loaded_schema.contents, loaded_schema.inferred, loaded_schema.remark) == (
        schema,
        None,
        "",
    )
    assert [field.path for field in loaded_schema.fields] == [
        (name,) for name in schema["properties"]
    ]


def test_names_of_comparators_are_for_inference_too():
    schema = {"type": "object", "properties": {"a": {**STRING, X + "comparator": "mine"}}}
    comparators = {"mine": Mine()}

    loaded_schema = loaded(schema, when="always", comparators=comparators)

    assert (
        loaded_schema.fields[0].comparator
        == loaded_schema.plan.root.fields[0].node.comparator.name
        == "Mine"
    )
    with pytest.raises(SchemaError, match="mine"):
        loaded(schema, when="always")


def test_a_plugin_needs_leave_and_has_it_for_inference_too(tmp_path):
    name = "stickler_cli.comparators.bbox:BBoxIoUComparator"
    box = {"type": "array", "items": {"type": "number"}, X + "comparator": name}
    file = write(tmp_path / "s.json", {"type": "object", "properties": {"a": box}})

    for load in (loaded, lambda schema, **rest: load_schema(file, **rest)):
        with pytest.raises(SchemaError, match="--allow-plugins"):
            load({"type": "object", "properties": {"a": box}})
        loaded_schema = load({"type": "object", "properties": {"a": box}}, allow_plugins=True)
        assert [field.kind for field in loaded_schema.fields] == ["array or object"]


def test_other_files_are_inferred_from_beside_the_schema(tmp_path):
    write(tmp_path / "b.json", STRING)
    file = write(tmp_path / "s.json", {"type": "object", "properties": {"sku": {"$ref": "b.json"}}})

    (entry,) = load_schema(file, when="always").fields

    assert (entry.comparator, entry.kind) == ("ExactComparator", "string")
    assert load_schema(file).inferred is None


def test_a_schema_that_is_too_deep_is_refused_under_its_name():
    deep = STRING
    for _ in range(3000):
        deep = {"type": "array", "items": deep}

    with pytest.raises(SchemaError) as refusal:
        loaded({"type": "object", "properties": {"a": deep}}, "s.json")
    assert refusal.value.problems[0].source == "s.json"


def test_what_describes_no_field_is_no_use_but_to_those_who_take_the_defaults():
    loaded_schema = loaded({"type": "object"}, "s.json", when="never")

    assert [refusal.source for refusal in loaded_schema.refusals] == ["s.json"]
    assert loaded(SKU, "s.json").refusals == ()
    for when in ("auto", "always"):
        with pytest.raises(SchemaError, match="describes no field"):
            loaded({"type": "object"}, "s.json", when=when)


def test_what_is_wrong_with_a_document_is_told_after_what_it_may_be():
    with pytest.raises(SchemaError) as refusal:
        loaded({"type": "invoice", "a": 1, "b": SKU}, "s.json")
    hints = [problem.hint for problem in refusal.value.problems]
    assert hints[0].startswith("this file contains a schema at /b")
    assert len(hints) == 2


def test_doubled_values_are_left_out_and_warned_of():
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "y", "x"]}}}
    loaded_schema = loaded(schema, "s.json")

    assert loaded_schema.contents["properties"]["a"]["enum"] == ["x", "y"]
    assert [(warning.source, warning.found) for warning in loaded_schema.warnings] == [
        ("s.json", 'enum lists "x" twice')
    ]


KEYED = {"rows": [{"sku": sku, **dict.fromkeys("abcdef", 1)} for sku in ("A-1", "A-2")]}
"""A document whose inferred schema has an annotation: a weight for the key of `rows`."""


@pytest.mark.parametrize("when", ["auto", "always"])
def test_a_schema_is_inferred_from_documents(when):
    seen = seen_in(*[KEYED] * 3, {"n": "12.50"})

    loaded_schema = load_observed(seen, "gt", when=when, keeps="stickler init gt")

    assert loaded_schema.path == "inferred from gt"
    assert loaded_schema.inferred is not None
    digest = schema_digest(json_line(observed_schema(seen)))
    assert loaded_schema.digest == load_observed(seen, "other").digest == digest
    assert {field.comparator for field in loaded_schema.fields if field.path == ("n",)} == {
        "NumericComparator"
    }
    assert loaded_schema.remark == (
        "no schema given: inferred one from 4 documents in gt; save it with `stickler init gt`"
    )
    assert load_observed(seen_in({"n": 1}), "gt").remark.endswith(
        "inferred one from 1 document in gt"
    )


def test_a_schema_from_documents_without_inference_leaves_all_to_the_kinds():
    loaded_schema = load_observed(seen_in(*[KEYED] * 3), "gt", when="never")

    assert loaded_schema.inferred is None
    assert {field.source for field in loaded_schema.fields} == {"default"}


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (SKU, True),
        ({"type": "array", "items": STRING}, True),
        ({"$ref": "parts.json"}, True),
        ({"$ref": "nowhere.json"}, False),
        ({"anyOf": [{"properties": {"a": STRING}}, {"type": "null"}]}, True),
        ({"propertes": {"a": STRING}}, False),
        ({"schema": SKU}, False),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "due": 1}, True),
        ({"$schema": "./package.schema.json", "due": 1}, False),
        ({"properties": {"a": STRING}, "x-owner": "me"}, True),
        ({"properties": {"a": STRING}, "owner": "me"}, False),
        ({**SKU, "owner": "me"}, True),
        ({**SKU, "type": ["object", "null"]}, True),
        ({**SKU, "type": "invoice"}, False),
        ({**SKU, "type": ["object", "invoice"]}, False),
        ({**SKU, "type": []}, False),
        ({**SKU, "type": None}, False),
        ({"type": "object", "properties": {"a": STRING, "b": 3}}, False),
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, True),
        ({"type": "array", "items": {"type": "string"}}, True),
        ({"type": "array", "items": {"type": "ring"}}, False),
        ({"type": "array", "items": {"properties": {"a": {"type": "strin"}}}}, True),
        ({"$ref": "abc", "total": 5}, False),
        ({"$ref": "abc"}, False),
        ({"anyOf": [{"type": "ring"}]}, False),
        ({"type": "object"}, False),
        ({"type": "number", "title": "total"}, False),
        ({"title": "invoice", "items": [{"name": "nut"}]}, False),
        *(({key: "1", "invoice": "2"}, False) for key in ORDINARY_NAMES),
        ({"properties": {"length": 3}}, False),
        ({"properties": {"length": {"value": 3}}}, False),
        ({"a": 1}, False),
        ({}, False),
        ([SKU], False),
        ("not JSON", False),
        ("\ufeff" + json.dumps(SKU), True),
        ('\ufeff{"a": 1}', False),
    ],
)
def test_schemas_and_documents_are_told_apart(tmp_path, contents, expected):
    write(tmp_path / "parts.json", SKU)

    assert is_schema_file(write(tmp_path / "s.json", contents)) is expected


ALIKE = ("phone", "terms", "item", "codes", "references", "all", "any", "done")
"""Names of fields that resemble a keyword of JSON Schema."""
VALUES = ("1", 2, None, [], ["a"], [{"name": "a"}], {}, {"name": "a"}, {"type": "book"})


@pytest.mark.parametrize(
    ("contents", "has_doubt"),
    [
        ({"propertes": {"a": STRING}}, True),
        ({"schema": SKU}, True),
        ({"$ref": "nowhere.json"}, True),
        ({"type": "object", "propertis": {}}, True),
        ({"propertis": {"a": "string"}}, False),
        ({"allof": [STRING]}, True),
        ({"type": ["object", "null"], "title": "Order"}, True),
        ({"type": "string", "description": "name"}, True),
        ({"type": "refund", "description": "name"}, False),
        *(({name: value, "total": 1}, False) for name in ALIKE for value in VALUES),
        ({"invoice": "1", "due": "2024-01-01"}, False),
        ({"properties": {"length": 3}}, False),
        ([SKU], False),
    ],
)
def test_a_document_like_a_schema_is_told_how_to_be_one(tmp_path, contents, has_doubt):
    doubt = doubt_of_document(write(tmp_path / "s.json", contents))

    assert doubt.endswith(
        'was read as a document; if it is a schema, add a "$schema" key to it'
    ) == (has_doubt)
    assert bool(doubt) == has_doubt


def test_what_describes_too_much_is_a_schema_and_what_is_not_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.places.MOST_PLACES", 1)

    assert is_schema_file(write(tmp_path / "s.json", {"type": "array", "items": SKU}))
    assert not is_schema_file(str(tmp_path / "none.json"))


SIGNED_IN = "https://me:secret@example.org"


def elsewhere(monkeypatch, content, *names):
    """Give all remote files the same content, and remote directories these names."""
    monkeypatch.setattr(remote, "open_url", lambda _: io.BytesIO(json.dumps(content).encode()))
    monkeypatch.setattr(
        loading, "list_url", lambda url: [(name, f"{url}/{name}", 9) for name in names]
    )


class TestDirectories:
    """Directories with one schema for each kind of document."""

    def test_each_file_that_describes_documents_is_a_schema(self, tmp_path):
        folder = tmp_path / "kinds"
        write(folder / "b.json", {**SKU, "propertes": {}})
        write(folder / "a.json", SKU)
        write(folder / "c.json", SAID)
        write(folder / "parts.json", {"$defs": {"a": STRING}, "title": "Parts", "$comment": "-"})
        write(folder / ".hidden.json", "not JSON")
        write(folder / "notes.txt", "not JSON")

        schemas = load_schemas(str(folder), when="always")

        assert list(schemas.of_step) == ["a/", "b/", "c/"]
        assert schemas.schemas == tuple(schemas.of_step.values())
        assert (schemas.path, schemas.name, schemas.contents) == (str(folder), "kinds", {})
        assert schemas.plan.model_name == "kinds"
        assert [warning.source for warning in schemas.warnings] == [str(folder / "b.json")]
        assert schemas.remark == (
            schemas.of_step["a/"].remark + "; this also applies to 1 other schema"
        )
        assert loaded(SKU).schemas[0].path == ""

    def test_it_is_known_by_its_schemas_and_what_was_inferred_for_them(self, tmp_path):
        folder = tmp_path / "kinds"
        write(folder / "a.json", SAID)
        write(folder / "parts.json", {"$defs": {"a": STRING}})
        schemas = load_schemas(str(folder), when="always")
        assert (schemas.inferred, schemas.remark) == (None, "")

        write(folder / "b.json", SKU)
        schemas_of_both = load_schemas(str(folder), when="always")
        plain = load_schemas(str(folder))
        assert list(plain.of_step) == ["a/", "b/"]
        assert schemas_of_both.inferred is not None
        assert schemas_of_both.remark == schemas_of_both.of_step["b/"].remark
        assert plain.inferred is None
        assert plain.digest == schemas_of_both.digest != schemas.digest

        write(folder / "b.json", SAID)
        assert load_schemas(str(folder)).digest not in {plain.digest, schemas.digest}
        (folder / "b.json").rename(folder / "c.json")
        assert load_schemas(str(folder)).digest != plain.digest

        write(folder / "c.json", {"type": "object", "properties": {"sku": STRING, "n": EXACT}})
        assert load_schemas(str(folder), when="always").inferred not in {
            None,
            schemas_of_both.inferred,
        }

    def test_values_of_the_documents_of_each_are_asked_for(self, tmp_path):
        folder = tmp_path / "kinds"
        mood = {"type": "object", "properties": {"mood": STRING}}
        for name in ("a", "b"):
            write(folder / f"{name}.json", mood)
        write(folder / "c.json", SAID)
        paths = []

        def look(schemas):
            paths.append([*schemas])
            seen = seen_in({"mood": "16:05"})
            return {"a/": seen}

        schemas_by_step = load_schemas(str(folder), when="auto", look=look).of_step
        comparators = {
            step: schema.fields[0].comparator for step, schema in schemas_by_step.items()
        }
        assert paths == [["a/", "b/", "c/"]]
        assert comparators["a/"] == "TimeComparator"
        assert comparators["b/"] == "LevenshteinComparator"
        load_schemas(str(folder), when="never", look=look)
        assert len(paths) == 1

    def test_all_that_is_wrong_in_any_file_is_told(self, tmp_path):
        folder = tmp_path / "kinds"
        write(folder / "a.json", {**SKU, "type": "objekt"})
        write(folder / "b.json", "[not JSON")
        write(folder / "c.json", SKU)
        write(folder / "d.json", {"$defs": {"a": {X + "threshold": 9}}})
        write(folder / "e.json", {"$defs": {"a": {X + "threshold": 9}}, "x": 1})
        (folder / "f.json").mkdir()
        write(folder / "g.json", "\ufeff" + json.dumps({"$defs": {"a": {X + "threshold": 9}}}))

        with pytest.raises(SchemaError) as refusal:
            load_schemas(str(folder))
        names = [Path(problem.source).name for problem in refusal.value.problems]
        assert names == ["a.json", "b.json", "e.json", "f.json"]

    def test_plugins_need_leave(self, tmp_path):
        name = "stickler_cli.comparators.exact:ExactComparator"
        plugin = {"type": "object", "properties": {"a": {**STRING, X + "comparator": name}}}
        write(tmp_path / "kinds" / "a.json", plugin)

        with pytest.raises(SchemaError, match="--allow-plugins"):
            load_schemas(str(tmp_path / "kinds"))
        assert load_schemas(str(tmp_path / "kinds"), allow_plugins=True).of_step

    def test_a_place_without_schemas_is_refused(self, tmp_path):
        (tmp_path / "none").mkdir()
        with pytest.raises(SchemaError) as refusal:
            load_schemas(str(tmp_path / "none"))
        (problem,) = refusal.value.problems
        assert (problem.source, problem.hint) == (str(tmp_path / "none"), "")

        with pytest.raises(
            SchemaError, match="to use this file as the schema, leave out --schema-by"
        ):
            load_schemas(write(tmp_path / "s.json", SKU))

    def test_elsewhere_too_only_files_at_the_top_are_schemas(self, monkeypatch):
        elsewhere(monkeypatch, SKU, "b.json", ".hidden.json", "notes.txt", "inner/c.json", "a.json")

        schemas = load_schemas(f"{SIGNED_IN}/kinds")

        assert list(schemas.of_step) == ["a/", "b/"]
        assert [schema.path for schema in schemas.schemas] == [
            "https://example.org/kinds/a.json",
            "https://example.org/kinds/b.json",
        ]

    @pytest.mark.parametrize(
        ("error", "why"),
        [
            (PermissionError(13, "Permission denied"), "Permission denied"),
            (OSError("ClientError: no answer"), "ClientError: no answer"),
        ],
    )
    def test_a_place_elsewhere_that_cannot_be_listed_is_refused(self, error, why, monkeypatch):
        def fail(_):
            raise error

        monkeypatch.setattr(loading, "list_url", fail)

        with pytest.raises(SchemaError) as refusal:
            load_schemas(f"{SIGNED_IN}/kinds")
        assert [str(problem) for problem in refusal.value.problems] == [
            (
                f"https://example.org/kinds: the directory cannot be listed ({why}), expected a "
                "directory whose files can be listed"
            )
        ]


def loaded_by(file):
    """Return the modules that a new interpreter has after it has compiled a schema."""
    program = (
        "import sys; from stickler_cli.schema.loading import load_schema; "
        f"load_schema({str(file)!r}); print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return set(run.stdout.split())


def test_a_plain_schema_is_compiled_without_what_takes_long_to_load(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{"type": "object", "properties": {"a": {"type": ["string", "number"]}}}')

    slow = {"jsonschema", "jsonschema_specifications", "pydantic", "referencing", "ssl"}
    assert loaded_by(file) & slow == set()


def test_no_message_tells_the_password_of_a_url(monkeypatch):
    elsewhere(monkeypatch, {"type": "object", "properties": 5})
    for load in (load_schema, load_schemas):
        with pytest.raises(SchemaError) as refusal:
            load(f"{SIGNED_IN}/s")
        assert {problem.source for problem in refusal.value.problems} == {"https://example.org/s"}


def test_a_schema_at_a_url_leads_to_no_file_that_is_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "https:" / "example.org"
    folder.mkdir(parents=True)
    (folder / "b.json").write_text('{"type": "number"}')
    elsewhere(monkeypatch, SCHEMA)

    with pytest.raises(SchemaError):
        load_schema("https://example.org/s.json")


def test_text_fields_without_annotations_in_an_annotated_schema_are_named(tmp_path):
    path = tmp_path / "schema.json"
    properties = {
        "total": {"type": "number", "x-aws-stickler-threshold": 0.9},
        "name": {"type": "string"},
        "city": {"type": "string"},
        "unseen": {"type": "string", "x-aws-stickler-ignore": True},
    }
    path.write_text(json.dumps({"type": "object", "properties": properties}))

    note = load_schema(str(path), when="auto").note

    assert "2 text fields without annotations (name, city)" in note
    assert "are compared by edit distance at a threshold of 0.5" in note
    assert "--infer always" in note
    assert load_schema(str(path)).note == ""


@pytest.mark.parametrize(
    ("contents", "is_misspelt"),
    [
        ({"propertes": {"a": STRING}}, True),
        ({"schema": SKU}, True),
        ({"type": "invoice", "total": 3}, False),
        ([{"propertes": {}}], False),
        *(({name: value, "total": 1}, False) for name in ALIKE for value in VALUES),
    ],
)
def test_a_misspelt_schema_is_told_from_a_document(tmp_path, contents, is_misspelt):
    assert is_misspelt_schema(write(tmp_path / "s.json", contents)) is is_misspelt
