"""`--schema-by`: one run of documents with several schemas."""

import json

import pytest

from stickler_cli.cli.console import ExitCode
from .conftest import write

X = "x-aws-stickler-"
EXACT = {"type": "string", X + "comparator": "ExactComparator", X + "threshold": 1}
INVOICE = {
    "type": "object",
    "properties": {
        "kind": EXACT,
        "total": {"type": "number", X + "comparator": "NumericComparator"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": EXACT}}},
    },
}
LETTER = {"type": "object", "properties": {"kind": EXACT, "from": {"$ref": "parts.json#/$defs/a"}}}
LIST = {"type": "array", "items": {"type": "object", "properties": {"kind": EXACT, "sku": EXACT}}}
GT = {
    "invoice/a": {"kind": "invoice", "total": 5, "lines": [{"sku": "x"}, {"sku": "y"}]},
    "invoice/b": {"kind": "invoice", "total": 7, "lines": []},
    "letter/c": {"kind": "letter", "from": "Ann"},
    "list/d": [{"kind": "list", "sku": "x"}, {"kind": "list", "sku": "y"}],
}
PRED = {
    "invoice/a": {"kind": "invoice", "total": 6, "lines": [{"sku": "y"}], "more": 1},
    "invoice/b": {"kind": "invoice", "total": 7},
    "letter/c": {"kind": "letter", "from": "Bob"},
    "list/d": [{"kind": "list", "sku": "y"}],
}
BY = ("--schema-by", "@directory")
EVAL = ("eval", "schemas", "gt", "pred", *BY)


@pytest.fixture(autouse=True)
def kinds(data):
    for name, schema in (("invoice", INVOICE), ("letter", LETTER), ("list", LIST)):
        write(data / "schemas" / f"{name}.json", schema)
    write(data / "schemas" / "parts.json", {"$defs": {"a": EXACT}})
    for side, documents in (("gt", GT), ("pred", PRED)):
        for old in (data / side).glob("*.json"):
            old.unlink()
        for name, document in documents.items():
            write(data / side / f"{name}.json", document)


def counts(node, mode="overall"):
    return [node[mode][name] for name in ("tp", "fd", "fa", "fn", "tn")]


def test_the_fields_of_each_schema_stand_under_its_name(stickler):
    record = stickler(*EVAL, "-f", "json").json

    assert [field["field"] for field in record["fields"]] == [
        *("invoice/", "invoice/kind", "invoice/total", "invoice/lines", "invoice/lines.sku"),
        *("letter/", "letter/kind", "letter/from", "list/", "list/kind", "list/sku"),
    ]
    assert record["fields"][0]["kind"] == "schema"
    assert record["schema"]["by"] == "@directory"
    matrix = record["confusion_matrix"]
    # a: kind and y right, total wrong, x missed, `more` invented; b: all right, no lines at all.
    assert counts(matrix["fields"]["invoice/"]) == [4, 1, 1, 1, 1]
    assert counts(matrix["fields"]["letter/"]) == [1, 1, 0, 0, 0]
    assert counts(matrix["fields"]["list/"]) == [1, 0, 0, 1, 0]
    assert counts(matrix) == [6, 2, 1, 2, 1]
    assert counts(matrix, "leaves") == [7, 2, 1, 3, 1]
    # Of a, its three fields score 1, 0 and 1/2; of c and d, half is right.
    assert matrix["fields"]["invoice/"]["threshold_applied_score"] == 0.75
    assert record["overall_score"] == pytest.approx((0.5 + 1 + 0.5 + 0.5) / 4)


def test_a_run_is_what_its_kinds_come_to_one_by_one(stickler):
    record = stickler(*EVAL, "-f", "json").json
    matrix = record["confusion_matrix"]

    for name in ("invoice", "letter", "list"):
        sources = (f"schemas/{name}.json", f"gt/{name}", f"pred/{name}")
        single = stickler("eval", *sources, "-f", "json").json
        field = matrix["fields"][f"{name}/"]
        for mode in ("overall", "aggregate", "leaves"):
            assert counts(field, mode) == counts(single["confusion_matrix"], mode)
        assert field["threshold_applied_score"] == pytest.approx(single["overall_score"])
        assert {*field["fields"]} == {*single["confusion_matrix"]["fields"]}


def test_the_results_do_not_depend_on_processes_or_a_stop(stickler, data):
    usual = stickler(*EVAL, "-f", "json").json
    record = stickler(*EVAL, "--jobs", "2", "-f", "json").json
    stickler(*EVAL, "--run-dir", "run")
    again = stickler(*EVAL, "--run-dir", "run")

    assert record["confusion_matrix"] == usual["confusion_matrix"]
    assert again.code == ExitCode.OK
    kept = json.loads((data / "run" / "run.json").read_text())
    assert kept["confusion_matrix"]["overall"] == usual["confusion_matrix"]["overall"]
    other = stickler("eval", "schemas", "gt", "pred", "--schema-by", "kind", "--run-dir", "run")
    assert other.code == ExitCode.USAGE
    assert "--schema-by is now kind, but was @directory" in other.err


def test_a_field_of_the_ground_truth_may_say_it(stickler, data):
    (data / "schemas" / "list.json").unlink()

    result = stickler("eval", "schemas", "gt", "pred", "--schema-by", "kind", "-f", "json")

    assert result.code == ExitCode.INCOMPLETE
    assert result.json["documents"]["evaluated"] == 3
    problems = [
        (problem["document"], problem["status"], problem["problem"])
        for problem in result.json["problems"]
    ]
    assert [problem[:2] for problem in problems] == [("list/d", "failed")]
    assert "the document is of type array, expected a JSON object" in problems[0][2]


def test_a_column_may_say_it_and_a_document_without_a_schema_fails_by_name(stickler, data):
    rows = "id,what\ninvoice/a,invoice\ninvoice/b,invoise\nletter/c,letter\n"
    (data / "meta.csv").write_text(rows)

    by = ("--schema-by", "@what", "--by-file", "meta.csv")
    result = stickler("eval", "schemas", "gt", "pred", *by, "-f", "json")

    assert result.code == ExitCode.INCOMPLETE
    assert {problem["document"]: problem["problem"] for problem in result.json["problems"]} == {
        "invoice/b": (
            "invoice/b: the schema of this document is 'invoise', but the directory of schemas has "
            "no file 'invoise.json'; did you mean invoice?"
        ),
        "list/d": (
            "list/d: the document has no value for @what, which selects its schema, expected "
            "the name of a schema, such as invoice"
        ),
    }
    explained = stickler("compare", "schemas", "gt", "pred", *by, "--document", "invoice/b")
    assert (explained.code, "has no file 'invoise" in explained.err) == (ExitCode.INCOMPLETE, True)


def test_a_document_of_another_kind_than_its_schema_says_fails_by_name(stickler, data):
    write(data / "gt" / "list" / "d.json", {"kind": "list"})
    write(data / "pred" / "letter" / "c.json", [])

    result = stickler(*EVAL, "-f", "json").json

    assert {
        problem["document"]: (problem["status"], problem["problem"])
        for problem in result["problems"]
    } == {
        "letter/c": (
            "invalid",
            (
                "pred/letter/c.json: the document is of type array, expected a JSON object; "
                "to evaluate several documents, put them into a JSON Lines file "
                "(.jsonl), one document on each line"
            ),
        ),
        "list/d": (
            "failed",
            "gt/list/d.json: the document is of type object, expected a JSON array",
        ),
    }


def test_gates_may_begin_with_the_name_of_a_schema(stickler):
    gates = ("letter/f1>=0.5", "invoice/total.recall>=0.5", "**.sku.f1>=0.1", "invoice/score>0.7")
    gate_options = [word for gate in gates for word in ("--gate", gate)]

    assert stickler(*EVAL, *gate_options).code == ExitCode.OK
    assert stickler(*EVAL, "--gate", "letter/from.f1>=0.5").code == 1
    wrong = stickler(*EVAL, "--gate", "letter/form.f1>=0.5")
    assert wrong.code == ExitCode.USAGE
    assert "did you mean letter/from.f1>=0.5?" in wrong.err


def test_errors_and_explanations_of_one_document(stickler):
    lines = stickler("errors", "schemas", "gt", "pred", *BY, "-f", "jsonl").out.splitlines()
    places = [(record["document"], record["path"]) for record in map(json.loads, lines)]
    assert places == [
        *(("invoice/a", f"invoice/{path}") for path in ("total", "lines[0]", "lines[0].sku")),
        ("invoice/a", "invoice/more"),
        *(("letter/c", "letter/from"), ("list/d", "list/[0]")),
        *(("list/d", f"list/[0].{name}") for name in ("kind", "sku")),
    ]
    output = stickler(
        "errors", "schemas", "gt", "pred", *BY, "--field", "invoice/lines*", "--sort", "document"
    ).out
    assert "invoice/lines[0].sku" in output
    assert "letter" not in output
    compared = (
        "compare",
        "schemas",
        "gt",
        "pred",
        *BY,
        "--document",
        "invoice/a",
        "-f",
        "json",
    )
    for field in ("total", "invoice/total"):
        assert stickler(*compared, "--field", field).json["places"][0]["path"] == "total"


@pytest.mark.slow
def test_reports_and_other_commands_take_such_a_run(stickler, data):
    stickler(*EVAL, "--run-dir", "run", "--validate", "both")

    for name in ("out.html", "out.md", "out.csv", "out.junit.xml", "out.json"):
        assert stickler("report", "run", "-o", name).code == ExitCode.OK
    table = (data / "out.csv").read_text().splitlines()
    assert [row.partition(",")[0] for row in table[1:3]] == ["", "invoice/"]
    again = stickler("report", "run", "--by", "@directory", "-f", "json")
    assert again.code == ExitCode.OK, again.err
    changed = stickler("diff", "schemas", "gt", "pred", "gt", *BY, "-f", "json").json
    assert [field["field"] for field in changed["fields"]][:2] == ["invoice/", "invoice/kind"]
    stickler("eval", "schemas", "gt", "pred", "--schema-by", "kind", "-o", "other.json")
    otherwise = stickler("diff", "run", "other.json")
    assert "schema by (@directory in BASE, kind in NEW)" in otherwise.err
    write(data / "gt2" / "letter" / "e.json", GT["letter/c"])
    stickler("eval", "schemas", "gt2", "gt2", *BY, "--validate", "both", "-o", "more.json")
    merged = stickler("merge", "run", "more.json", "-f", "json").json
    assert merged["documents"]["evaluated"] == 5
    assert counts(merged["confusion_matrix"]["fields"]["letter/"]) == [3, 1, 0, 0, 0]
    lines = (data / "run" / "documents.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["field_scores"] == {"kind": 1.0, "total": 0.0, "lines": 0.5}


def test_values_of_each_schema_have_confidences(stickler, data):
    write(data / "pred" / "letter" / "c.json", {"kind": {"value": "letter", "confidence": 0.5}})
    write(data / "known" / "list" / "d.json", [{"sku": 0.25}])

    record = stickler(*EVAL, "--confidence", "known", "-f", "json").json

    assert record["confidence"]["units"] == 2
    assert [*record["confidence"]["fields"]] == ["letter/kind", "list/sku"]


def test_what_makes_no_sense_is_refused(stickler, data):
    without = stickler("eval", "schemas", "gt", "pred")
    assert (without.code, "only eval --schema-by accepts a directory" in without.err) == (2, True)
    file = stickler("eval", "schemas/invoice.json", "gt", "pred", *BY)
    assert "to use this file as the schema, leave out --schema-by" in file.err
    left_out = stickler("eval", "gt", "pred", *BY)
    assert "--schema-by: SCHEMA is missing, expected a directory of schemas" in left_out.err
    column = stickler("eval", "schemas", "gt", "pred", "--schema-by", "@what")
    assert (
        "--schema-by @what: @what is a column of the --by-file, but --by-file is not given"
    ) in column.err
    write(data / "schemas" / "letter.json", {"type": "object", "properties": {"a": {X + "x": 1}}})
    write(data / "schemas" / "list.json", {"type": "string"})
    wrong = stickler(*EVAL)
    assert wrong.code == ExitCode.USAGE
    assert "schemas/letter.json#/properties/a" in wrong.err
    assert "schemas/list.json#: the schema does not describe a document" in wrong.err


def test_a_page_links_figures_of_a_schema_to_no_list_of_its_own_errors(stickler, data):
    stickler(*EVAL, "-q", "-o", "out.html")
    page = (data / "out.html").read_text(encoding="utf-8")

    assert "#errors&amp;field=invoice/total&amp;outcome=fd" in page
    # Those of a schema are of all its fields.
    assert "#errors&amp;field=invoice/&amp;outcome=" not in page


def test_each_document_may_have_a_schema_of_its_own(stickler, data):
    for side in ("gt", "pred"):
        write(data / "own" / side / "first.json", {"kind": "a"})
        write(data / "own" / side / "second.json", {"total": 5})
    write(data / "own" / "schemas" / "first.json", {"properties": {"kind": EXACT}})
    write(data / "own" / "schemas" / "second.json", {"properties": {"total": {"type": "number"}}})
    sources = ("own/schemas", "own/gt", "own/pred", "--schema-by", "@id")
    result = stickler("eval", *sources, "-f", "json")

    assert result.code == 0
    paths = [field["field"] for field in result.json["fields"]]
    assert paths == ["first/", "first/kind", "second/", "second/total"]
    assert stickler("compare", *sources, "--document", "second").out.startswith("document second (")
