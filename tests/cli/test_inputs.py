"""Documents that are odd, large, or not quite JSON."""

import gzip
import json
import sys

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.records.run_reading import read_evaluation
from .conftest import GOOD, write

EVAL = ("eval", "schema.json", "gt", "pred")
TWICE = '{"id": "A-1", "total": 1, "total": 10.5, "lines": [{"sku": "mouse", "qty": 1}]}'


def test_a_key_that_is_there_twice_is_warned_of_and_changes_nothing_else(stickler, data):
    write(data / "pred" / "two.json", TWICE)

    result = stickler(*EVAL, "-f", "json", "--strict", "--documents", "documents.jsonl")

    assert result.code == 0
    assert result.json["overall_score"] == 1
    assert result.json["documents"] == {
        "total": 2,
        "evaluated": 2,
        "missing": 0,
        "invalid": 0,
        "failed": 0,
        "unmatched": 0,
        "duplicate_keys": 1,
        "byte_order_mark": 0,
        "lenient": {"documents": 0, "fence": 0, "prose": 0, "string": 0, "list": 0, "relaxed": 0},
    }
    warning = (
        'pred/two.json:1:27: the key "total" is repeated, expected each key only once; '
        "the last value counts"
    )
    assert result.json["problems"] == [
        {"document": "two", "status": "evaluated", "problem": warning}
    ]
    first, two = map(json.loads, (data / "documents.jsonl").read_text().splitlines())
    assert (first["remarks"], first["problems"]) == ([], [])
    assert (two["remarks"], two["problems"]) == (["duplicate_keys"], [warning])


def test_the_table_counts_documents_with_duplicate_keys_and_byte_order_marks(stickler, data):
    write(data / "pred" / "two.json", TWICE)
    for side in ("gt", "pred"):
        (data / side / "one.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode())

    result = stickler(*EVAL)

    assert result.code == 0
    lines = result.out.splitlines()
    assert (
        "note: 1 document has the same key twice in an object (only the last one counts)"
    ) in lines
    assert (
        "note: 1 document has a byte order mark at the start, which is not JSON; stickler "
        "skipped the mark"
    ) in lines


def test_duplicate_keys_in_ground_truth_that_cannot_be_compared_do_not_hide_that(stickler, data):
    write(data / "gt" / "two.json", TWICE)
    write(data / "pred" / "two.json", "no JSON")

    problems = stickler(*EVAL, "-f", "json").json["problems"]

    assert [entry["status"] for entry in problems] == ["invalid", "invalid"]
    assert any("not valid JSON" in entry["problem"] for entry in problems)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_document_beyond_the_given_size_is_told_with_the_option_that_allows_it(
    stickler, data, pack
):
    large = json.dumps({**GOOD, "id": "A" * 2000}).encode()
    (data / "pred" / "two.json").unlink()
    (data / "pred" / "two.json.gz").write_bytes(pack(large))

    refused = stickler(*EVAL, "--max-document-size", "2kB", "-f", "json")
    allowed = stickler(*EVAL, "--max-document-size", "3 kB", "-f", "json")

    assert refused.json["documents"]["invalid"] == 1
    (problem,) = refused.json["problems"]
    assert problem["problem"].endswith(
        "expected at most 2,000 bytes; if this really is one document, raise --max-document-size"
    )
    assert allowed.json["documents"]["invalid"] == 0


FENCED = f"Sure, here it is:\n\n```json\n{json.dumps(GOOD, indent=2)}\n```\n"


def test_a_prediction_inside_other_text_is_invalid_and_the_option_is_named(stickler, data):
    write(data / "pred" / "two.json", FENCED)

    record = stickler(*EVAL, "-f", "json").json

    assert record["documents"]["invalid"] == 1
    assert record["options"]["lenient_json"] is False
    (problem,) = record["problems"]
    assert problem["problem"].endswith("; --lenient-json can read JSON in a Markdown code fence")


def test_lenient_json_takes_predictions_out_of_other_text_and_counts_them(stickler, data):
    write(data / "pred" / "two.json", FENCED)
    write(data / "pred" / "one.json", json.dumps(f"```\n[{json.dumps(GOOD)}]\n```"))

    result = stickler(*EVAL, "--lenient-json", "-f", "json", "--documents", "documents.jsonl")

    assert result.json["overall_score"] == 1
    assert result.json["problems"] == []
    assert result.json["options"]["lenient_json"] is True
    assert result.json["documents"]["lenient"] == {
        "documents": 2,
        "fence": 2,
        "prose": 0,
        "string": 1,
        "list": 1,
        "relaxed": 0,
    }
    first, two = map(json.loads, (data / "documents.jsonl").read_text().splitlines())
    assert first["remarks"] == ["lenient", "lenient_string", "lenient_fence", "lenient_list"]
    assert two["remarks"] == ["lenient", "lenient_fence"]
    assert (
        "note: 2 predictions read leniently: 2 in a code fence, 1 in a JSON string, "
        "1 in a list with one element" in stickler(*EVAL, "--lenient-json").out
    )


def test_a_gate_may_ask_how_many_predictions_were_inside_other_text(stickler, data):
    write(data / "pred" / "two.json", FENCED)
    gates = ("--gate", "documents.lenient<=0", "--gate", "documents.duplicate_keys<=0")

    result = stickler(*EVAL, "--lenient-json", "-f", "json", *gates)

    assert [gate["passed"] for gate in result.json["gates"]] == [False, True]


def test_lenient_json_reads_lines_of_text_also_for_their_ids(stickler, data):
    write(data / "gt.jsonl", json.dumps(GOOD) + "\n")
    write(data / "pred.jsonl", f"Sure! {json.dumps(GOOD)}\n")
    lines = ("eval", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json", "--lenient-json")

    by_line, by_id = stickler(*lines).json, stickler(*lines, "--id-field", "id").json

    for record in (by_line, by_id):
        assert record["overall_score"] == 1
        assert record["documents"]["lenient"]["prose"] == 1


def test_lenient_json_is_refused_in_a_merge_with_strict_runs(stickler, data):
    records = [stickler(*EVAL, "-f", "json", *option).json for option in ((), ("--lenient-json",))]
    strict, lenient = map(read_evaluation, records)

    with pytest.raises(
        UsageError,
        match=("the option lenient_json is False in one evaluation and True in the other"),
    ):
        strict.merge(lenient)


def test_remarks_are_read_back_and_added(stickler, data):
    write(data / "pred" / "one.json", FENCED)
    write(data / "pred" / "two.json", "\ufeff" + TWICE)
    record = stickler(*EVAL, "--lenient-json", "-f", "json").json
    evaluation = read_evaluation(record)

    assert evaluation.to_dict()["documents"] == record["documents"]
    evaluation.merge(read_evaluation(record))
    assert evaluation.warnings == {
        "duplicate_keys": 2,
        "byte_order_mark": 2,
        "lenient": 2,
        "lenient_fence": 2,
    }


LARGE = 2**70


@pytest.mark.slow
@pytest.mark.parametrize(
    "field",
    [
        {"type": "integer", "x-aws-stickler-comparator": "ExactComparator"},
        {"type": "integer", "x-aws-stickler-comparator": "NumericComparator"},
        {"type": ["integer", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"oneOf": [{"maximum": 2**70, "type": "integer"}, {"minimum": 2**70 + 1}]},
        {},
    ],
)
@pytest.mark.parametrize("form", ["json", "json.gz", "jsonl", "jsonl.gz"])
def test_integers_of_more_than_64_bits_are_compared_exactly(stickler, data, field, form):
    schema = {"type": "object", "properties": {"same": field, "other": field}}
    write(data / "schema.json", schema)
    for side, other in (("gt", LARGE), ("pred", LARGE + 1)):
        text = json.dumps({"same": LARGE, "other": other}).encode() + b"\n"
        pack = gzip.compress if form.endswith("gz") else bytes
        (data / f"{side}.{form}").write_bytes(pack(text))

    record = stickler("eval", "schema.json", f"gt.{form}", f"pred.{form}", "-f", "json").json

    fields = record["confusion_matrix"]["fields"]
    assert fields["same"]["overall"]["tp"] == 1
    assert fields["other"]["overall"]["fd"] == 1


def test_an_array_without_a_schema_is_one_document_and_says_so(stickler, data):
    write(data / "many.json", [{"id": "A-1"}, {"id": "B-2"}])
    result = stickler("eval", "many.json", "many.json", "-f", "json")
    assert result.json["documents"]["total"] == 1
    assert "many.json is one array, so it counts as one document" in result.err
    assert "To evaluate its elements, give a schema of type object" in result.err
    assert (
        stickler("eval", "schema.json", "many.json", "many.json", "-f", "json").json["documents"][
            "total"
        ]
        == 2
    )


def test_a_prediction_without_an_id_is_of_no_ground_truth_and_left_out(stickler, data):
    write(data / "gt.jsonl", '{"id": "A-1", "total": 1}\n')
    write(data / "pred.jsonl", '{"total": 2}\n{"id": "A-1"}\n{"id": "A-1"}\n')

    heading, *_ = stickler(
        "eval", "schema.json", "gt.jsonl", "pred.jsonl", "--id-field", "id"
    ).out.splitlines()
    assert heading == (
        "Order: 1 document, 0 wholly right; 1 document has an unreadable prediction, so all "
        "its values are missed; not counted: 1 unreadable prediction without ground truth"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="devices are no files there")
def test_a_device_beside_one_document_is_no_source(stickler, data):
    result = stickler("eval", "schema.json", "gt/two.json", "/dev/zero")

    assert result.code == 2
    assert "/dev/zero: cannot be read: this path is a device" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("by_id", [(), ("--id-field", "id")])
def test_predictions_that_break_off_are_a_failure_and_not_only_missing(stickler, data, by_id):
    lines = "".join(f'{{"id": "{number}", "total": {number}}}\n' for number in range(3000)).encode()
    (data / "gt.jsonl").write_bytes(lines)
    (data / "pred.jsonl.gz").write_bytes(gzip.compress(lines)[:-2000])

    result = stickler("eval", "schema.json", "gt.jsonl", "pred.jsonl.gz", *by_id)

    assert result.code == 3
    assert "cannot be read: Compressed file ended" in result.err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows restricts links")
@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "schema.json", "circle", "pred"),
        ("eval", "circle", "gt", "pred"),
        ("eval", "schema.json", "gt", "pred", "-o", "circle"),
        ("eval", "schema.json", "gt", "pred", "-o", "circle.json"),
        ("eval", "schema.json", "gt", "pred", "-o", "circle/run.json"),
        ("eval", "schema.json", "gt", "pred", "--documents", "circle.jsonl"),
        ("eval", "schema.json", "gt", "pred", "--run-dir", "circle"),
        ("eval", "schema.json", "gt", "pred", "--policy", "circle.json"),
        ("eval", "schema.json", "gt", "pred", "--by-file", "circle.csv", "--by", "@kind"),
        ("compare", "schema.json", "circle", "pred/two.json"),
        ("report", "circle"),
        ("errors", "circle"),
        ("merge", "circle", "circle.json"),
        ("diff", "circle", "circle.json"),
        ("init", "circle"),
        ("check", "circle"),
        ("lint", "schema.json", "circle"),
    ],
)
def test_links_that_lead_in_a_circle_are_told(stickler, data, arguments):
    for name in ("circle", "circle.json", "circle.jsonl", "circle.csv"):
        (data / name).symlink_to(name)

    result = stickler(*arguments, "--no-config")

    assert result.code == 2, result.err
    assert "circle" in result.err
    assert "create the directory" not in result.err  # this would fail


@pytest.mark.parametrize(
    "arguments",
    [("eval", "schema.json", "g\0t", "pred"), ("report", "ru\0n"), ("eval", "-o", "\ud800.json")],
)
def test_an_argument_that_cannot_be_a_path_is_told(stickler, data, arguments):
    result = stickler(*arguments)

    assert (result.code, "NUL" in result.err) == (2, True)
