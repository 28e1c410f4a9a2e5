import json
import re
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY

from stickler_cli.comparators.base import keyword_parameters
from stickler_cli.comparators.comparator_registry import BUILT_IN, comparator_class
from stickler_cli.compare.engine import compare
from stickler_cli.compare.tree import tree_of
from stickler_cli.schema.annotations import KEYS, RULES
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.sums import sum_counts

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
FIXTURES = ROOT / "fixtures"
SETS = ("bank-statement", "invoice", "receipt", "resume")
OFFICIAL = "https://json-schema.org/draft/2020-12/schema"
PREFIX = "x-aws-stickler-"

Json = Any


def read_schema(file: Path) -> Json:
    return json.loads(file.read_text(encoding="utf-8"))


def documents(name: str, side: str) -> dict[str, Json]:
    return {
        file.stem: read_schema(file) for file in sorted((FIXTURES / name / side).glob("*.json"))
    }


def lines(side: str) -> list[Json]:
    text = (FIXTURES / "invoice" / f"{side}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def properties_of(schema: Json, pointer: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(schema, list):
        for index, part_schema in enumerate(schema):
            yield from properties_of(part_schema, f"{pointer}/{index}")
    elif isinstance(schema, dict):
        for name, part_schema in schema.get("properties", {}).items():
            yield f"{pointer}/{name}", part_schema
        for keyword, part_schema in schema.items():
            yield from properties_of(part_schema, f"{pointer}/{keyword}")


def rows_of_counts(readme: str) -> dict[str, list[int]]:
    rows = re.findall(
        r"^\| \**([\w-]+)\** \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", readme, re.MULTILINE
    )
    return {name: [int(count) for count in counts] for name, *counts in rows}


META = read_schema(SCHEMAS / "stickler-annotations.json")
# Only the specification's own meta-schemas: whatever else is asked for is an error, not a download.
META_VALIDATOR = Draft202012Validator(META, registry=REGISTRY)
SHIPPED = {name: read_schema(SCHEMAS / f"{name}.json") for name in SETS}


def config_of(comparator: str) -> Json:
    for condition in META["$defs"]["config_fits_comparator"]["allOf"]:
        named = condition["if"]["properties"][PREFIX + "comparator"]
        if comparator in named.get("enum", [named.get("const")]):
            target = condition["then"]["properties"][PREFIX + "comparator-config"]["$ref"]
            return META["$defs"][target.removeprefix("#/$defs/")]
    raise LookupError(comparator)


def default_of(value: Json) -> Json:
    target = value.get("$ref", "").removeprefix("#/$defs/")
    return {**META["$defs"].get(target, {}), **value}["default"]


def places_of_errors(schema: Json) -> set[str]:
    return {
        "/" + "/".join(str(step) for step in error.absolute_path)
        for error in META_VALIDATOR.iter_errors(schema)
    }


@pytest.mark.parametrize("name", SETS)
def test_a_shipped_schema_is_a_valid_schema(name: str) -> None:
    Draft202012Validator.check_schema(SHIPPED[name])


@pytest.mark.parametrize("name", SETS)
def test_a_shipped_schema_names_itself_and_its_dialect(name: str) -> None:
    schema = SHIPPED[name]
    assert schema["$schema"] == OFFICIAL
    assert schema["$id"] == f"urn:stickler-cli:schema:{name}"
    assert schema["title"]


@pytest.mark.parametrize("name", SETS)
def test_every_property_of_a_shipped_schema_is_described(name: str) -> None:
    undescribed = [
        pointer
        for pointer, sub_schema in properties_of(SHIPPED[name])
        if not sub_schema.get("description")
    ]
    assert undescribed == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_meta_schema_accepts_a_shipped_schema(name: str) -> None:
    assert places_of_errors(SHIPPED[name]) == set()


@pytest.mark.slow
def test_the_meta_schema_is_a_valid_schema_and_accepts_itself() -> None:
    Draft202012Validator.check_schema(META)
    assert places_of_errors(META) == set()


def test_the_shipped_schemas_use_every_annotation() -> None:
    text = "".join(json.dumps(schema) for schema in SHIPPED.values())
    used = set(re.findall(rf'"({PREFIX}[a-z-]+)":', text))
    gold = "exhaustive ordered pairing key distinct aliases absent-values ignore any-of pairs-items"
    assert used == set(META["properties"]) - {PREFIX + name for name in gold.split()}


def test_the_meta_schema_describes_what_it_allows() -> None:
    assert META["propertyNames"]["then"]["enum"] == list(META["properties"])
    for pointer, definition in properties_of({**META, "dependentSchemas": {}, "$defs": {}}):
        assert definition["description"], pointer
        assert "type" in definition, pointer
    for name, definition in META["$defs"].items():
        if name.endswith("_config"):
            assert definition["additionalProperties"] is False, name
            for keyword, value in definition["properties"].items():
                assert "description" in value or "$ref" in value, f"{name}/{keyword}"


def test_the_meta_schema_knows_the_annotations_of_the_program() -> None:
    assert META["properties"].keys() == set(KEYS)


@pytest.mark.parametrize(("name", "rule"), RULES.items())
def test_the_meta_schema_allows_of_an_annotation_what_the_program_does(name, rule) -> None:
    described = META["properties"][PREFIX + name.replace("_", "-")]
    limits = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    assert {
        key: described[key] for key in ("type", "enum", *limits) if key in described
    } == rule.keywords


def test_the_meta_schema_knows_the_built_in_comparators() -> None:
    named = META["properties"][PREFIX + "comparator"]["anyOf"][0]["enum"]
    assert set(named) == BUILT_IN.keys()


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_meta_schema_knows_the_keywords_of_a_comparator(name: str) -> None:
    accepted = {keyword.name: keyword for keyword in keyword_parameters(comparator_class(name))}
    accepted.pop("embedding_function", None)  # a function cannot stand in JSON
    described = config_of(name)["properties"]
    assert described.keys() == accepted.keys()
    for keyword, value in described.items():
        required = keyword in config_of(name).get("required", [])
        default = accepted[keyword].default
        assert required == (default is Parameter.empty)
        assert required or default_of(value) == default


def test_the_readme_lists_every_annotation() -> None:
    readme = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    section = readme.split("## Annotations")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([a-z-]+)`", section, re.MULTILINE)
    assert sorted(PREFIX + keyword for keyword in listed) == sorted(META["properties"])


@pytest.mark.parametrize(
    ("keyword", "wrong"),
    [
        ("threshold", 1.5),
        ("threshold", -0.1),
        ("threshold", "0.8"),
        ("threshold", True),
        ("weight", 0),
        ("weight", -1),
        ("weight", "2"),
        ("clip-under-threshold", "yes"),
        ("clip-under-threshold", 1),
        ("aggregate", "false"),
        ("comparator", "LevenshtienComparator"),
        ("comparator", "Exact"),
        ("comparator", 3),
        ("comparator-config", "ratio"),
        ("pairing-floor", 1),
        ("pairing-floor", -1.5),
        ("match-threshold", 7),
        ("model-name", 5),
        ("exhaustive", "no"),
        ("ordered", 1),
        ("pairing", "sideways"),
        ("distinct", None),
        ("ignore", "true"),
        ("any-of", [1]),
    ],
)
def test_the_meta_schema_refuses_a_wrong_value_where_it_stands(keyword: str, wrong: Json) -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array", PREFIX + keyword: wrong}}}
    assert places_of_errors(schema) == {f"/properties/tags/{PREFIX}{keyword}"}


@pytest.mark.parametrize(
    ("keyword", "right"),
    [
        ("threshold", 0),
        ("threshold", 1),
        ("weight", 0.01),
        ("clip-under-threshold", True),
        ("aggregate", False),
        ("comparator", "NumericExactC"),
        ("comparator", "my_package.judges:PlateComparator"),
        ("comparator-config", {}),
        ("pairing-floor", -1),
        ("pairing-floor", 0.99),
        ("match-threshold", 1.0),
        ("model-name", "Tag"),
    ],
)
def test_the_meta_schema_accepts_the_ends_of_every_range(keyword: str, right: Json) -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array", PREFIX + keyword: right}}}
    assert places_of_errors(schema) == set()


@pytest.mark.parametrize(
    "key",
    [
        "x-aws-stickler-treshold",
        "x-aws-stickler-clip",
        "x-aws-stickler-clip_under_threshold",
        "x-stickler-threshold",
    ],
)
def test_the_meta_schema_refuses_an_unknown_annotation(key: str) -> None:
    schema = {"type": "object", "properties": {"total": {"type": "number", key: 0.5}}}
    assert places_of_errors(schema) == {"/properties/total"}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"items": {}}, "/items"),
        ({"prefixItems": [{}]}, "/prefixItems/0"),
        ({"additionalProperties": {}}, "/additionalProperties"),
        ({"patternProperties": {"^a": {}}}, "/patternProperties/^a"),
        ({"anyOf": [{}]}, "/anyOf/0"),
        ({"allOf": [{}]}, "/allOf/0"),
        ({"$defs": {"unused": {}}}, "/$defs/unused"),
        ({"properties": {"a": {"properties": {"b": {}}}}}, "/properties/a/properties/b"),
    ],
)
def test_the_meta_schema_looks_into_every_subschema(schema: Json, place: str) -> None:
    sub_schema = schema
    for step in place.split("/")[1:]:
        sub_schema = sub_schema[int(step)] if isinstance(sub_schema, list) else sub_schema[step]
    sub_schema[PREFIX + "weight"] = 0
    assert places_of_errors(schema) == {f"{place}/{PREFIX}weight"}


@pytest.mark.parametrize(
    ("comparator", "config"),
    [
        ("ExactComparator", {"case": True}),
        ("LevenshteinComparator", {"normalise": True}),
        ("NumericComparator", {"tolerence": 0.1}),
        ("NumericExactC", {"absolute_tolerance": -1}),
        ("NumericComparator", {"tolerance": 0.1, "absolute_tolerance": 0.2}),
        ("FuzzyComparator", {"method": "token_sort"}),
        ("DateComparator", {"range_mode": "loose"}),
        ("DateComparator", {"precision_mode": "loose"}),
        ("DateComparator", {"tolerance": -1}),
        ("DateComparator", {"tolerance": True}),
        ("BBoxIoUComparator", {"iou": 0.5}),
        ("StructuredModelComparator", {"strict": True}),
        ("SemanticComparator", {"model": "titan"}),
        ("BERTComparator", {"model": "bert"}),
        ("BertComparator", {"threshold": 2}),
        ("LLMComparator", {"eval_guidelines": "be kind"}),
    ],
)
def test_the_meta_schema_refuses_keywords_the_comparator_does_not_take(
    comparator: str, config: Json
) -> None:
    annotations = {PREFIX + "comparator": comparator, PREFIX + "comparator-config": config}
    places = places_of_errors({"properties": {"x": annotations}})
    assert places
    assert all(place.startswith(f"/properties/x/{PREFIX}comparator-config") for place in places)


@pytest.mark.parametrize(
    ("comparator", "config"),
    [
        ("ExactComparator", {"strip": False, "case_sensitive": True, "threshold": 1}),
        ("LevenshteinComparator", {"normalize": False}),
        ("NumericComparator", {"relative_tolerance": 0.1, "absolute_tolerance": 1}),
        ("NumericExactC", {"tolerance": 0.01}),
        ("FuzzyComparator", {"method": "partial_ratio", "normalize": False}),
        ("DateComparator", {"tolerance": 1.5, "dayfirst": None, "allow_partial_year": True}),
        ("DateComparator", {"range_mode": "contains", "precision_mode": "overlap"}),
        ("BBoxIoUComparator", {"threshold": 0.9}),
        ("StructuredModelComparator", {"strict_types": True}),
        ("SemanticComparator", {"model_id": "m", "sim_function": "cosine_similarity"}),
        ("BERTComparator", {"threshold": 0.8}),
        ("LLMComparator", {"model": "m", "eval_guidelines": "be kind"}),
    ],
)
def test_the_meta_schema_accepts_keywords_the_comparator_takes(
    comparator: str, config: Json
) -> None:
    annotations = {PREFIX + "comparator": comparator, PREFIX + "comparator-config": config}
    assert places_of_errors({"properties": {"x": annotations}}) == set()


def test_the_meta_schema_misses_the_model_of_an_llm_comparator_without_config() -> None:
    schema = {"properties": {"x": {PREFIX + "comparator": "LLMComparator"}}}
    assert places_of_errors(schema) == {"/properties/x"}


def test_the_meta_schema_still_refuses_what_json_schema_refuses() -> None:
    assert places_of_errors({"properties": {"a": {"type": "text"}}}) == {"/properties/a/type"}


@pytest.mark.parametrize("name", SETS)
def test_ground_truth_is_valid_against_its_schema(name: str) -> None:
    validator = Draft202012Validator(
        SHIPPED[name], format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    gt = documents(name, "gt")
    assert 6 <= len(gt) <= 8
    errors = {
        f"{document}{error.json_path[1:]}: {error.message}"
        for document, value in gt.items()
        for error in validator.iter_errors(value)
    }
    assert errors == set()


@pytest.mark.parametrize("name", SETS)
def test_only_the_invoices_hold_documents_of_one_side(name: str) -> None:
    gt, pred = documents(name, "gt").keys(), documents(name, "pred").keys()
    assert gt - pred == ({"kaveri-in"} if name == "invoice" else set())
    assert pred - gt == ({"paloma-mx"} if name == "invoice" else set())


@pytest.mark.parametrize("name", SETS)
def test_every_set_holds_a_document_predicted_without_error(name: str) -> None:
    gt, pred = documents(name, "gt"), documents(name, "pred")
    assert sum(pred.get(document) == value for document, value in gt.items()) == 1


@pytest.mark.parametrize("side", ["gt", "pred"])
def test_json_lines_hold_the_documents_of_the_directory(side: str) -> None:
    assert lines(side) == list(documents("invoice", side).values())


def test_invoice_numbers_pair_the_documents_as_file_names_do() -> None:
    gt, pred = documents("invoice", "gt"), documents("invoice", "pred")
    numbers = [document["invoice_number"] for document in [*gt.values(), *pred.values()]]
    for name in gt.keys() & pred.keys():
        assert gt[name]["invoice_number"] == pred[name]["invoice_number"]
    assert len(set(numbers)) == len(gt.keys() | pred.keys())


@pytest.mark.parametrize("name", SETS)
def test_the_table_of_counts_names_every_document_and_adds_up(name: str) -> None:
    readme = (FIXTURES / name / "README.md").read_text(encoding="utf-8")
    rows = rows_of_counts(readme)
    total = rows.pop("all")
    assert rows.keys() == documents(name, "gt").keys()
    assert [sum(column) for column in zip(*rows.values(), strict=True)] == total


@pytest.mark.parametrize("name", SETS)
def test_the_readme_explains_every_document(name: str) -> None:
    readme = (FIXTURES / name / "README.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^## ([\w-]+):", readme, re.MULTILINE))
    assert headings == documents(name, "gt").keys() | documents(name, "pred").keys()


@pytest.mark.parametrize("name", SETS)
def test_the_program_counts_what_the_readme_derives(name: str) -> None:
    plan = compile_schema(SHIPPED[name])
    derived = rows_of_counts((FIXTURES / name / "README.md").read_text(encoding="utf-8"))
    derived.pop("all")
    predictions = documents(name, "pred")
    counted = {}
    for document, gt in documents(name, "gt").items():
        account = compare(plan, [gt], [predictions.get(document, {})])
        counted[document] = [
            *sum_counts(batch_of_unit(tree_of(account, 0)).counts)[()].counts("overall")
        ]
    assert counted == derived
