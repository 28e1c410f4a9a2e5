"""`stickler compare`: its output and exit codes."""

import io
import json
import signal
import sys

import pytest

from stickler_cli.cli import compare
from stickler_cli.cli.console import ExitCode
from .conftest import write

ONE = ("compare", "schema.json", "gt/one.json", "pred/one.json")
TWO = ("compare", "schema.json", "gt/two.json", "pred/two.json")


def rows_of(out):
    """Return the rows of the printed table, as a dict from the first cell to all cells."""
    _, _, table = out.partition("\n\n")
    lines = table.splitlines()
    return {line.split("  ")[0]: line.split() for line in lines}


def test_a_pair_is_explained_in_a_row_for_each_place(stickler):
    result = stickler(*TWO)

    # 1 * 1 + 2 * 0 + 1 * 0.5 of a weight of 4.
    assert result.code == ExitCode.OK
    assert result.out.splitlines()[:3] == [
        "document two (schema Order in schema.json)",
        "overall score 0.3750: sum 1.5 / weight 4 = 0.3750",
        "",
    ]
    rows = rows_of(result.out)
    assert list(rows) == ["field", "(document)", "id", "total", "lines", "lines[0]", "lines[1]"]
    assert rows["id"] == ["id", "TP", "1.0000", "0.5", "default", "1", "1.0000", '"A-1"', '"A-1"']
    assert rows["total"][:7] == ["total", "FD", "0.0000", "0.5", "default", "2", "0.0000"]
    assert "[-10.5-]{+11+}" in rows["total"]
    assert rows["lines[1]"][:3] == ["lines[1]", "FA", "0.0000"]
    assert "sum 1 / items 2 = 0.5000" in result.out


def test_only_errors_counts_what_is_right(stickler):
    result = stickler(*TWO, "--only-errors")

    assert list(rows_of(result.out)) == ["field", "(document)", "total", "lines", "lines[1]"]
    assert "1 right" in result.out


def test_everything_is_shown_on_request(stickler):
    assert "lines[0].sku" in rows_of(stickler(*ONE, "--all").out)
    assert "lines[0].sku" not in rows_of(stickler(*ONE).out)


def test_one_place_is_shown_on_request(stickler):
    assert list(rows_of(stickler(*TWO, "--field", "lines[0].qty").out)) == ["field", "lines[0].qty"]
    assert list(rows_of(stickler(*TWO, "--field", "lines.qty").out)) == [
        "field",
        "lines[0].qty",
        "lines[1].qty",
    ]


def test_json_has_every_figure_that_leads_to_the_score(stickler):
    record = stickler(*TWO, "-f", "json").json
    (root,) = record["places"]

    assert record["format"] == "stickler-comparison/1"
    assert record["overall_score"] == 0.375
    assert root["sum"] == {"total": 1.5, "divisor": 4.0}
    assert [segment.get("adds") for segment in root["parts"]] == [1.0, 0.0, 0.5]
    total = root["parts"][1]
    assert total == {
        "path": "total",
        "kind": "leaf",
        "outcome": "FD",
        "class": "other",
        "difference": [
            {"text": "10.5", "in": "gt"},
            {"text": "11", "in": "pred"},
        ],
        "comparator": "NumericComparator",
        "similarity": 0.0,
        "score": 0.0,
        "threshold": 0.5,
        "threshold_source": "default",
        "weight": 2,
        "adds": 0.0,
        "ground_truth_value": 10.5,
        "prediction_value": 11,
    }
    lines = root["parts"][2]
    assert (lines["pairing_floor"], lines["pairing_floor_source"]) == (0.2, "run")
    assert [segment["pairing"] for segment in lines["parts"]] == [
        {"ground_truth_index": 0, "prediction_index": 0, "runner_up": None},
        {"ground_truth_index": None, "prediction_index": 1, "runner_up": None},
    ]


def test_files_are_written_by_their_suffix(stickler, data):
    result = stickler(*TWO, "-o", "out.json", "-o", "out.md", "-o", "out.txt")

    assert result.code == ExitCode.OK
    assert json.loads((data / "out.json").read_text())["document"] == "two"
    assert (data / "out.md").read_text().startswith("### `two` (`Order`)\n")
    assert (data / "out.txt").read_text() == result.out


def test_a_document_of_many_is_chosen_by_its_id(stickler):
    result = stickler("compare", "schema.json", "gt", "pred", "--document", "two")

    assert result.code == ExitCode.OK
    assert result.out.startswith("document two (schema Order")


def test_standard_input_is_read_once(stickler, data, monkeypatch):
    lines = (json.dumps({"id": name, "total": 1}) for name in ("A", "B"))
    (data / "pred.jsonl").write_text('{"id": "A"}\n{"id": "B", "total": 1}\n')
    text = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()))
    monkeypatch.setattr(sys, "stdin", text)
    sources = ("-", "pred.jsonl", "--id-field", "id")

    result = stickler("compare", "schema.json", *sources, "--document", "C")

    assert result.code == ExitCode.USAGE
    assert "there is no document 'C'" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("gt", "pred"),
            (
                "gt: no document is selected, expected the option --document ID, or two JSON "
                "files; for example, --document one"
            ),
        ),
        (
            ("gt", "pred", "--document", "tvo"),
            (
                "--document: there is no document 'tvo', expected the id of a document, as "
                "stickler eval shows it; did you mean"
            ),
        ),
        (
            ("gt/one.json", "pred/one.json", "--field", "totl"),
            '--field: the document has no field "totl", expected a field of the ground truth',
        ),
        (
            ("gt/one.json", "pred/one.json", "--field", "a..b"),
            "--field: 'a..b' is not a field path",
        ),
        (
            ("gt/one.json", "pred/one.json", "--all", "--only-errors"),
            "--all: --only-errors is also given, expected either --all or --only-errors",
        ),
        (
            ("gt/one.json", "pred/one.json", "--pairing-floor", "2"),
            "--pairing-floor: the value is '2', expected",
        ),
        (("gt/one.json", "pred/one.json", "-o", "x.csv"), "--output: the file name is x.csv"),
        (("gt/one.json", "pred/one.json", "-o", "gt/one.json"), "would overwrite "),
    ],
)
def test_wrong_usage_is_told_and_ends_with_2(stickler, arguments, message):
    result = stickler("compare", "schema.json", *arguments)

    assert result.code == ExitCode.USAGE
    assert message in result.err
    assert result.out == ""


def test_directories_without_documents_give_no_example(stickler, data):
    (data / "none").mkdir()

    result = stickler("compare", "schema.json", "none", "none")

    assert result.code == ExitCode.USAGE
    assert "such as" not in result.err


def test_what_cannot_be_compared_is_told_and_ends_with_3(stickler, data):
    (data / "bad.json").write_text("1")
    (data / "gt" / "alone.json").write_text("{}")
    (data / "pred" / "other.json").write_text("{}")

    for arguments, message in (
        (("gt/one.json", "bad.json"), "bad.json"),
        (("bad.json", "pred/one.json"), "bad.json"),
        (("gt", "pred", "--document", "alone"), "there is no prediction for this document"),
        (
            ("gt", "pred", "--document", "other"),
            "there is no ground truth for this document",
        ),
    ):
        result = stickler("compare", "schema.json", *arguments)
        assert result.code == ExitCode.INCOMPLETE
        assert message in result.err
        assert result.out == ""


def test_a_comparator_that_fails_ends_with_3(stickler, data, monkeypatch):
    monkeypatch.syspath_prepend(data)
    (data / "fails.py").write_text(
        "from stickler_cli import BaseComparator\n"
        "class Fails(BaseComparator):\n"
        "    def compare(self, gt, pred):\n"
        "        raise ValueError('no idea')\n"
    )
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string", "x-aws-stickler-comparator": "fails:Fails"}},
    }
    (data / "fails.json").write_text(json.dumps(schema))
    pairs = ("gt/one.json", "pred/one.json", "--allow-plugins")

    result = stickler("compare", "fails.json", *pairs)

    assert result.code == ExitCode.INCOMPLETE
    assert "no idea" in result.err


def test_a_pair_of_too_much_work_ends_with_3(stickler):
    result = stickler(*ONE, "--work-limit", "1e-6")

    assert result.code == ExitCode.INCOMPLETE
    assert result.out == ""
    assert (
        result.err
        == "error: comparing this document takes more work than --work-limit 1e-06 allows\n"
    )


@pytest.mark.parametrize("ignored", [False, True])
def test_signals_end_a_comparison_in_the_middle_of_a_call_of_a_library(
    stickler, monkeypatch, ignored
):
    compare_documents, heard = compare.compare_documents, []

    def spy(*arguments):
        heard.extend(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))
        return compare_documents(*arguments)

    monkeypatch.setattr(compare, "compare_documents", spy)
    before = signal.getsignal(signal.SIGINT)
    # It is ignored in what a shell has started in the background.
    signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        assert stickler(*ONE).code == ExitCode.OK

        assert heard == [signal.SIG_IGN if ignored else signal.SIG_DFL, signal.SIG_DFL]
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["table", "json", "markdown"])
def test_a_deep_document_is_explained(stickler, data, format_name):
    item = {"type": "object", "properties": {"in": {"$ref": "#/$defs/item"}}}
    (data / "deep.json").write_text(json.dumps({**item, "$defs": {"item": item}}))
    (data / "document.json").write_text('{"in": ' * 300 + '{"new": 1}' + "}" * 300)
    pair = ("document.json", "document.json", "--all", "-f", format_name)

    result = stickler("compare", "deep.json", *pair)

    assert result.code == ExitCode.OK
    assert ".".join(["in"] * 300) in result.out


def test_the_options_of_the_engine_reach_it(stickler, data):
    (data / "pred" / "one.json").write_text('{"id": "A-1", "total": 10.5, "new": 1}')

    assert "new " in stickler(*ONE).out
    assert "new " not in stickler(*ONE, "--extra-fields", "ignore").out
    floor = stickler(*TWO, "--pairing-floor", "-1", "-f", "json").json
    assert floor["options"]["pairing_floor"] == -1


def test_help_shows_examples(stickler):
    result = stickler("compare", "--help")

    assert result.code == ExitCode.OK
    assert "stickler compare schema.json gt/a.json pred/a.json" in result.out


def test_the_first_document_of_a_cause_is_shown(stickler, data):
    sources = ("compare", "schema.json", "gt", "pred")
    for name, total in (("zero", 1.5), ("zeta", 2.5)):
        write(data / "gt" / f"{name}.json", {"id": "A-1", "total": total})
        write(data / "pred" / f"{name}.json", {"id": "A-1", "total": total + 0.25})

    first, second = (stickler(*sources, "--cause", number) for number in "12")
    assert (first.out, first.err) == (stickler(*sources, "--document", "two").out, "")
    assert (second.out.split()[1], second.err) == (
        "zero",
        "showing document zero, the first of 2 documents with cause 2\n",
    )
    run = stickler(*sources, "--cause", "1", "--document", "two")
    assert (run.code, "--document is also given" in run.err) == (2, True)


def test_other_values_that_are_right_are_named(stickler, data):
    write(data / "gold.json", json.dumps({"id": {"_value": "1", "_alternatives": ["other"]}}))
    write(data / "seen.json", json.dumps({"id": "other"}))
    command = "compare", "schema.json", "gold.json", "seen.json"

    assert 'also right: "1"' in stickler(*command, "--all").out
    (place, *_) = stickler(*command, "-f", "json").json["places"][0]["parts"]
    assert (place["ground_truth_value"], place["alternatives"]) == ("other", ["1"])


def test_a_document_of_a_run_directory_is_compared_as_it_was(stickler, data):
    options = ("--pairing-floor", "0.5", "--extra-fields", "ignore")
    assert (
        stickler("eval", "schema.json", "gt", "pred", *options, "-q", "--run-dir", "kept").code == 0
    )
    first = stickler("compare", "schema.json", "gt", "pred", *options, "--document", "two")
    again = stickler("compare", "kept", "--document", "two")
    assert (again.code, again.out) == (0, first.out)
    assert stickler("compare", "kept", "--cause", "1", "--only-errors", "-f", "json").json


def test_a_run_file_says_how_its_documents_are_compared(stickler, data):
    stickler("eval", "schema.json", "gt", "pred", "-q", "-o", "run.json")
    result = stickler("compare", "run.json", "--document", "two")
    assert (result.code, "stickler compare schema.json gt pred" in result.err) == (2, True)


def test_a_swapped_value_says_whose_it_is(stickler, data):
    numbers = {
        "type": "object",
        "properties": {name: {"type": "number"} for name in ("net", "gross")},
    }
    write(data / "numbers.json", numbers)
    write(data / "one.json", {"net": 812.5, "gross": 970.75})
    write(data / "other.json", {"net": 970.75, "gross": 970.75})
    command = ("compare", "numbers.json", "one.json", "other.json")
    assert "swapped: the value of gross" in stickler(*command).out
    net, *_ = stickler(*command, "-f", "json").json["places"][0]["parts"]
    assert net["swapped_with"] == "gross"
