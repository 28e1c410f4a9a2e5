"""Schemas without annotations: comparisons are inferred, and a note says so."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from stickler_cli.api.many import evaluate_many
from .conftest import write

TEXT = {"type": "string"}
PLAIN = {
    "type": "object",
    "properties": dict.fromkeys(("iban", "due_date", "invoice_number", "country", "note"), TEXT),
}
GT = {
    "iban": "DE89370400440532013000",
    "due_date": "2024-03-01",
    "invoice_number": "INV-2024-0017",
    "country": "Austria",
    "note": "as agreed",
}
WRONG = {
    "iban": "DE89370400440532013001",
    "due_date": "2024-03-07",
    "invoice_number": "INV-2024-0071",
    "country": "Australia",
    "note": "as agreed",
}


@pytest.fixture
def plain(data):
    write(data / "plain.json", PLAIN)
    write(data / "gt.json", GT)
    write(data / "pred.json", WRONG)


def overall(result):
    return result.json["confusion_matrix"]["overall"]


def test_a_wrong_value_does_not_pass_for_looking_alike(stickler, plain):
    result = stickler("eval", "plain.json", "gt.json", "pred.json", "-f", "json")

    assert (overall(result)["tp"], overall(result)["fd"]) == (1, 4)
    assert result.err == (
        "plain.json names no comparators, so stickler inferred how to compare 5 fields "
        "(to see why, run `stickler init plain.json`; to use the defaults instead, give "
        "--infer never)\n"
    )
    assert result.json["schema"]["inferred"].startswith("sha256:")


def test_without_inference_the_defaults_count(stickler, plain):
    result = stickler(
        "eval", "plain.json", "gt.json", "pred.json", "-f", "json", "--infer", "never"
    )

    assert overall(result)["tp"] == 5
    assert (result.err, result.json["schema"]["inferred"]) == ("", None)


def test_one_comparison_that_is_stated_leaves_the_schema_as_it_is(stickler, plain, data):
    part_schema = {"type": "object", "properties": {"x": {**TEXT, "x-aws-stickler-threshold": 0.5}}}
    schema_with_part = {**PLAIN, "$defs": {"Part": part_schema}}
    write(data / "unused.json", schema_with_part)
    write(
        data / "used.json",
        {
            **schema_with_part,
            "properties": {**schema_with_part["properties"], "part": {"$ref": "#/$defs/Part"}},
        },
    )

    def wrong(schema, *options):
        return overall(stickler("eval", schema, "gt.json", "pred.json", "-f", "json", *options))[
            "fd"
        ]

    assert (wrong("unused.json"), wrong("used.json")) == (4, 0)
    assert wrong("used.json", "--infer", "always") == 4


def test_always_leaves_what_is_annotated(stickler, plain, data):
    loose = {**TEXT, "x-aws-stickler-threshold": 0.5}
    write(data / "one.json", {**PLAIN, "properties": {**PLAIN["properties"], "iban": loose}})

    result = stickler("eval", "one.json", "gt.json", "pred.json", "-f", "json", "--infer", "always")

    assert overall(result)["fd"] == 3
    assert "so stickler inferred how to compare 4 fields" in result.err


NOTE = (
    "some.json: 5 text fields without annotations (due_date, invoice_number, country and 2 more) "
    "are compared by edit distance at a threshold of 0.5, "
    "so wrong values may count as right. For "
    "stricter comparisons, use --infer always"
)


def test_texts_of_an_annotated_schema_that_say_nothing_have_one_note(stickler, plain, data):
    annotated = {
        **PLAIN["properties"],
        "iban": {**TEXT, "x-aws-stickler-threshold": 1},
        "day": {**TEXT, "format": "date"},
        "stamp": {**TEXT, "x-aws-stickler-ignore": True},
        "old": {"type": "object", "properties": {"x": TEXT}, "x-aws-stickler-ignore": True},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": TEXT}}},
        "paid": {"type": "number"},
    }
    write(data / "some.json", {**PLAIN, "properties": annotated})

    run = stickler("eval", "some.json", "gt.json", "pred.json", "-f", "json")
    linted = stickler("lint", "some.json", "gt.json", "-f", "json", "--fail-on", "never")

    assert run.err == f"{NOTE}\n"
    assert NOTE in run.json["notes"]
    assert NOTE in linted.json["notes"]
    assert stickler("check", "some.json").err == f"{NOTE}\n"
    for infer in ("always", "never"):
        other = stickler("eval", "some.json", "gt.json", "pred.json", "--infer", infer)
        assert "edit distance" not in other.err


def test_compare_and_check_infer_too(stickler, plain):
    compared = stickler("compare", "plain.json", "gt.json", "pred.json")
    checked = stickler("check", "plain.json")

    assert "inferred" in compared.out
    assert "stickler inferred how to compare 5 fields" in compared.err
    assert "stickler inferred how to compare 5 fields" in checked.err
    assert stickler("check", "plain.json", "--infer", "never").err == ""


def test_runs_that_were_judged_otherwise_do_not_go_together(stickler, plain):
    for name, infer in (("a.json", "auto"), ("b.json", "never")):
        stickler("eval", "plain.json", "gt", "pred", "--infer", infer, "-o", name)

    assert stickler("diff", "a.json", "a.json").code == 0
    differing = stickler("diff", "a.json", "b.json")
    assert differing.code == 3
    assert "inferred annotations" in differing.err
    assert "inferred annotations" in stickler("merge", "a.json", "b.json").err


def test_many_documents_from_python_are_compared_alike():
    with pytest.warns(UserWarning, match="stickler inferred how to compare 5 fields") as warned:
        evaluation = evaluate_many(PLAIN, [(GT, WRONG)])

    assert warned[0].filename == __file__
    assert evaluation.to_dict()["confusion_matrix"]["overall"]["fd"] == 4
    strict = evaluate_many(PLAIN, [(GT, WRONG)], infer="never")
    assert strict.to_dict()["confusion_matrix"]["overall"]["fd"] == 0


MOOD = {"type": "object", "properties": {"mood": {"type": "string"}}}


def test_values_of_the_ground_truth_say_how_plain_fields_are_compared(stickler, tmp_path):
    for name, document in (("s", MOOD), ("gt", {"mood": "16:05"}), ("pred", {"mood": "4:05 pm"})):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    files = [str(tmp_path / f"{name}.json") for name in ("s", "gt", "pred")]

    record = json.loads(stickler("eval", *files, "-f", "json").out)
    assert record["fields"][0]["comparator"] == "TimeComparator"
    assert record["confusion_matrix"]["leaves"]["tp"] == 1
    assert stickler("eval", files[0], str(tmp_path / "none.json"), files[2]).code == 2
    assert "Levenshtein" in stickler("show", files[0]).out


def test_what_init_wrote_tells_its_reasons_when_it_is_shown(stickler, tmp_path):
    (tmp_path / "gt.json").write_text(json.dumps({"lots": ["A1", "B2"]}))
    stickler("init", str(tmp_path / "gt.json"), "-o", str(tmp_path / "s.json"))

    output = stickler("show", str(tmp_path / "s.json")).out
    assert (
        'annotation: the name "lot" suggests an identifier: one wrong character makes a different '
        "identifier" in output
    )


class Sold(BaseModel):
    lot: str
    mood: str


@pytest.mark.filterwarnings("ignore:.*inferred how to compare")
@pytest.mark.parametrize("schema", [Sold, MOOD])
def test_values_in_memory_say_it_too(schema):
    pairs = iter([(Sold(lot="A1", mood="16:05"), {"lot": "a1", "mood": "4:05 pm"})] * 3)

    record = evaluate_many(schema, pairs, extra_fields="ignore").to_dict()

    assert record["confusion_matrix"]["leaves"]["fd"] == 0
    assert record["documents"]["evaluated"] == 3


ROWS = [{"kind": "a", "code": f"ZX{number:03}9"} for number in range(3)]
KINDS = {"type": "object", "properties": dict.fromkeys(("kind", "code"), TEXT)}


@pytest.fixture
def lines(tmp_path):
    """A schema, also in a directory, and a ground truth whose predicted codes contain a blank."""
    (tmp_path / "kinds").mkdir()
    for name in ("s.json", "kinds/a.json", "kinds/b.json"):
        (tmp_path / name).write_text(json.dumps(KINDS))
    rows = [json.dumps(row) + "\n" for row in (*ROWS, {"kind": "none"})]
    (tmp_path / "gt.jsonl").write_text("".join(rows))
    (tmp_path / "pred.jsonl").write_text("".join(rows).replace("ZX", "ZX "))
    return tmp_path


def right(result):
    assert result.code in {0, 3}, result.err
    return result.json["confusion_matrix"]["leaves"]["tp"]


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_values_of_a_stream_are_looked_at_before_it_is_read(stickler, lines, monkeypatch, packed):
    text = packed((lines / "gt.jsonl").read_bytes())
    for _ in range(2):  # what is left of one is not read for another
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        arguments = ("eval", str(lines / "s.json"), "-", str(lines / "pred.jsonl"), "-f", "json")
        assert right(stickler(*arguments)) == 7


def test_a_stream_is_looked_into_in_bounded_memory(stickler, lines, monkeypatch):
    monkeypatch.setattr("stickler_cli.documents.lines.LITTLE", 40)
    text = (lines / "gt.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    arguments = ("eval", str(lines / "s.json"), "-", str(lines / "pred.jsonl"), "-f", "json")
    assert right(stickler(*arguments)) == 7
    assert stickler("eval", str(lines / "s.json"), "/dev/none", str(lines / "pred.jsonl")).code == 2


def test_the_one_document_of_a_stream_is_looked_at(stickler, lines, monkeypatch):
    (lines / "one.json").write_text(json.dumps({"code": "ZX 0019"}))
    text = json.dumps({"code": "ZX0019"}, indent=1).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    output = stickler("compare", str(lines / "s.json"), "-", str(lines / "one.json")).out
    assert "TP" in output


@pytest.mark.filterwarnings("ignore:.*inferred how to compare")
def test_values_are_looked_at_by_the_schema_of_their_document(stickler, lines):
    sources = [str(lines / name) for name in ("kinds", "gt.jsonl", "pred.jsonl")]
    result = stickler("eval", *sources, "--schema-by", "kind", "-f", "json")

    assert right(result) == 6
    assert "ExactComparator" in {field["comparator"] for field in result.json["fields"]}
    pairs = [(row, {**row, "code": row["code"].replace("ZX", "ZX ")}) for row in ROWS]
    record = evaluate_many(sources[0], [*pairs, (None, ROWS[0])], schema_by="kind").to_dict()
    assert record["confusion_matrix"]["leaves"]["tp"] == 6
