"""`docs/schema.md` and the code say the same."""

import json
import re
from pathlib import Path

import pytest

from stickler_cli.compare.plan import PAIRING_FLOOR
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD
from stickler_cli.schema.annotations import (
    BY_FORMAT,
    BY_TYPE,
    DEFAULT_WEIGHT,
    PREFIX,
    RULES,
    leaf_default,
)
from stickler_cli.schema.combinators import MOST_COMBINATIONS
from stickler_cli.schema.compiler import DEFAULT_MODEL_NAME, compile_schema
from stickler_cli.schema.dialects import DIALECTS, dialect_of
from stickler_cli.schema.places import MOST_PLACES

PAGE = (Path(__file__).parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([\w ]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def rows(section):
    """Return the rows of a section's table, without code marks."""
    lines = re.findall(r"^\| (.*) \|$", SECTIONS[section], re.MULTILINE)
    return [[cell.replace("`", "").strip() for cell in line.split("|")] for line in lines[1:]]


def test_every_annotation_is_in_the_table_with_what_it_may_hold():
    documented = {row[0]: row[1] for row in rows("Annotations")}

    assert documented == {
        f"{PREFIX}{name.replace('_', '-')}": rule.expected for name, rule in RULES.items()
    }


def test_every_annotation_is_explained():
    for name in RULES:
        assert f"**{name.replace('_', '-')}**" in SECTIONS["Annotations"]


def test_the_defaults_of_annotations_are_those_of_the_code():
    defaults = {row[0].removeprefix(PREFIX): row[2] for row in rows("Annotations")}

    assert float(defaults["weight"]) == DEFAULT_WEIGHT
    assert defaults["model-name"].endswith(f"in Python, {DEFAULT_MODEL_NAME}")
    assert float(defaults["match-threshold"]) == DEFAULT_MATCH_THRESHOLD
    assert defaults["pairing-floor"] == f"that of the run, {PAIRING_FLOOR}"


def test_the_defaults_by_kind_are_those_of_the_code():
    expected = [
        [kind, default.comparator, str(default.threshold)] for kind, default in BY_TYPE.items()
    ]
    expected += [
        [f"string with format {name}", default.comparator, str(default.threshold)]
        for name, default in BY_FORMAT.items()
    ]
    members = leaf_default("string", members=["a"])
    expected.append(["enum or const", members.comparator, str(members.threshold)])

    listed = []
    for kind, *cells in rows("Defaults"):
        before, form, names = kind.partition("string with format ")
        listed += [[f"{before}{form}{name}", *cells] for name in names.split(", ")]

    assert sorted(listed) == sorted(expected)


def test_a_value_of_no_json_type_is_compared_as_text():
    assert leaf_default("decimal") == BY_TYPE["string"]


def test_the_dialects_are_those_of_the_code():
    documented = [row[:2] for row in rows("Dialects")]

    assert {name for name, _ in documented} == {dialect.name for dialect in DIALECTS.values()}
    for name, uri in documented:
        assert dialect_of({"$schema": uri}).name == name
        assert dialect_of({"$schema": uri}).uri == uri.rstrip("#")


def test_the_limits_are_those_of_the_code():
    assert f"more than {MOST_COMBINATIONS} combinations" in PAGE
    assert f"more than {MOST_PLACES} places" in PAGE
    assert f"The default threshold of a tuple is {DEFAULT_TUPLE_THRESHOLD}." in PAGE


@pytest.mark.parametrize("text", re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
def test_an_example_is_a_schema(text):
    schema = json.loads(text)
    definitions = {"$defs": {"money": {"type": "number"}}}

    compile_schema({"type": "object", "properties": {"a": schema}, **definitions})
    if schema.get("type") == "object":
        assert compile_schema(schema).model_name == "Invoice"


def test_the_message_that_is_shown_is_the_one_that_is_given():
    schema = {"type": "object", "properties": {"total": {f"{PREFIX}threshold": 80}}}

    with pytest.raises(Exception, match="threshold is 80") as refusal:
        compile_schema(schema, "invoice.json")
    assert f"\n{refusal.value}\n" in PAGE
