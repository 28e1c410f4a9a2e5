"""Documents with several schemas, in the Python API."""

import json

import pytest

from stickler_cli import evaluate_many
from stickler_cli.core.problems import UsageError

TEXT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}


@pytest.fixture
def schemas(tmp_path):
    record_schema = {"type": "object", "properties": {"kind": TEXT, "a": TEXT}}
    array_schema = {"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}
    for name, schema in (("one", record_schema), ("two", array_schema)):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    return tmp_path


def test_a_field_says_which_schema_a_document_has(schemas):
    pairs = [
        ({"kind": "one", "a": "x"}, {"kind": "one", "a": "y"}),
        ({"kind": "three"}, {}),
        ({"kind": "two"}, {}),
    ]

    evaluation = evaluate_many(schemas, pairs, schema_by="kind", workers=1)

    assert evaluation.documents["failed"] == 2
    assert evaluation.sums["one/",].counts("overall") == (1, 1, 0, 0, 0)
    assert [field.kind for field in evaluation.fields if field.field == ("one/",)] == ["schema"]


def test_an_id_or_a_column_may_say_it(schemas, tmp_path):
    pairs = [("two/x", [{"a": "x"}], [{"a": "x"}]), ("one/y", {"a": "x"}, None)]
    (tmp_path / "meta.csv").write_text("id,what\ntwo/x,two\none/y,one\n")

    by_id = evaluate_many(str(schemas), pairs, schema_by="@directory")
    by_column = evaluate_many(
        str(schemas), pairs, schema_by="@what", by_file=str(tmp_path / "meta.csv"), workers=2
    )

    assert by_id == by_column
    assert by_id.sums["two/",].counts("overall") == (1, 0, 0, 0, 0)
    assert by_id.sums["one/",].counts("overall") == (0, 0, 0, 1, 1)


def test_a_choice_takes_a_directory(schemas):
    with pytest.raises(UsageError, match="expected the path of the directory"):
        evaluate_many({"type": "object"}, [], schema_by="kind")
