"""`stickler eval`: sources, formats, written files and messages."""

import csv
import io
import json
import shlex
from datetime import UTC, datetime
from typing import get_args

import pytest

from stickler_cli.cli.console import ExitCode
from stickler_cli.records.row_files import TYPED
from stickler_cli.reports.formats import FORMATS
from stickler_cli.settings.deciding import RunFormat
from .conftest import GOOD, SCHEMA, write

EVAL = ("eval", "schema.json", "gt", "pred")


def test_two_directories_are_paired_by_name(stickler):
    record = stickler(*EVAL, "--format", "json").json
    assert record["documents"]["evaluated"] == 2
    overall = record["confusion_matrix"]["overall"]
    # one: id, total and a line right; two: total wrong, a line too many.
    assert (overall["tp"], overall["fd"], overall["fa"], overall["fn"]) == (5, 1, 1, 0)


def test_two_files_are_one_document_with_its_non_matches(stickler):
    record = stickler("eval", "schema.json", "gt/two.json", "pred/two.json", "-f", "json").json
    assert record["documents"]["evaluated"] == 1
    assert record["all_fields_matched"] is False
    assert record["field_scores"] == {"id": 1.0, "total": 0.0, "lines": 0.5}
    assert [entry["path"] for entry in record["errors"]] == [
        *("total", "lines[1]", "lines[1].sku", "lines[1].qty")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("format_name", get_args(RunFormat))
def test_every_format_goes_to_standard_output_alone(stickler, format_name):
    result = stickler(*EVAL, "--format", format_name)
    assert result.code == 0
    assert result.out
    assert result.err == ""


def test_the_formats_of_the_option_are_those_that_are_text():
    assert list(get_args(RunFormat)) == [name for name in FORMATS if name not in TYPED]


def test_junit_fields_adds_a_case_for_each_field(stickler):
    plain, with_fields = (
        stickler(*EVAL, "-f", "junit", *options).out for options in ((), ("--junit-fields",))
    )
    assert 'classname="stickler.fields"' not in plain
    assert with_fields.count('classname="stickler.fields"') == 5


def test_output_files_are_in_the_format_of_their_suffix(stickler, data):
    result = stickler(*EVAL, "-o", "run.json", "-o", "run.csv", "-o", "run.md", "-o", "run.txt")
    assert result.code == 0
    assert json.loads((data / "run.json").read_text())["format"] == "stickler-run/1"
    assert (data / "run.csv").read_text().startswith("field,")
    assert (data / "run.md").read_text().startswith("<!-- stickler -->")
    assert "total" in (data / "run.txt").read_text()


def test_documents_are_written_one_a_line(stickler, data):
    stickler(*EVAL, "--documents", "documents.jsonl")
    lines = [json.loads(line) for line in (data / "documents.jsonl").read_text().splitlines()]
    assert [(line["document"], line["status"]) for line in lines] == [
        ("one", "evaluated"),
        ("two", "evaluated"),
    ]
    assert lines[0]["all_fields_matched"] is True
    assert lines[1]["overall"]["fa"] == 1


def test_non_matches_are_written_one_a_line(stickler, data):
    stickler(*EVAL, "--non-matches", "errors.jsonl")
    lines = [json.loads(line) for line in (data / "errors.jsonl").read_text().splitlines()]
    assert [(line["document"], line["path"]) for line in lines] == [
        ("two", "total"),
        ("two", "lines[1]"),
        ("two", "lines[1].sku"),
        ("two", "lines[1].qty"),
    ]


def test_the_first_non_matches_are_shown_below_the_table(stickler):
    assert "lines[1]" not in stickler(*EVAL, "--show-non-matches", "1").out
    assert "lines[1]" in stickler(*EVAL, "--show-non-matches", "2").out


def test_quiet_prints_nothing_that_is_not_an_error(stickler):
    result = stickler(*EVAL, "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_verbose_tells_what_is_done_on_standard_error(stickler):
    result = stickler(*EVAL, "--verbose", "-o", "run.json")
    assert "2 documents against Order" in result.err
    assert "wrote run.json" in result.err


def test_a_forced_progress_bar_goes_to_standard_error(stickler):
    result = stickler(*EVAL, "--progress", "-f", "json")
    assert result.json["documents"]["evaluated"] == 2


@pytest.mark.parametrize(
    ("policy", "evaluated", "code"), [("fn", 2, 0), ("skip", 1, 0), ("error", 1, 3)]
)
def test_a_missing_prediction_is_what_the_user_says(stickler, data, policy, evaluated, code):
    (data / "pred" / "two.json").unlink()
    result = stickler(*EVAL, "--missing", policy, "-f", "json")
    assert result.code == code
    assert result.json["documents"]["evaluated"] == evaluated
    assert [entry["document"] for entry in result.json["problems"]] == ["two"]


def test_an_invalid_prediction_counts_as_missed_and_is_named(stickler, data):
    write(data / "pred" / "two.json", "[1, 2]")
    result = stickler(*EVAL, "-f", "json")
    assert result.code == 0
    assert result.json["documents"]["invalid"] == 1
    assert "pred/two.json" in result.json["problems"][0]["problem"]
    assert result.json["confusion_matrix"]["overall"]["fn"] == 3


def test_a_ground_truth_that_cannot_be_read_fails_that_document_only(stickler, data):
    write(data / "gt" / "two.json", "{")
    result = stickler(*EVAL, "-f", "json")
    assert result.code == 3
    assert result.json["documents"]["evaluated"] == 1
    assert "gt/two.json:1" in result.json["problems"][0]["problem"]
    assert "1 of 2 documents could not be evaluated" in result.err


def test_strict_makes_an_unmatched_prediction_an_error(stickler, data):
    write(data / "pred" / "three.json", GOOD)
    assert stickler(*EVAL).code == 0
    assert stickler(*EVAL, "--strict").code == 3


@pytest.mark.parametrize(
    ("sides", "counts"),
    [
        (("none", "pred"), "0 ground truths, 2 predictions"),
        (("gt", "none"), "2 ground truths, 0 predictions"),
    ],
)
@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_run_that_evaluated_nothing_is_incomplete(stickler, data, sides, counts, quiet):
    (data / "none").mkdir()
    result = stickler("eval", "schema.json", *sides, *quiet)
    assert result.code == 3
    assert f"no ground truth was paired with a prediction: {counts}" in result.err


def test_a_failed_gate_is_told_with_as_many_digits_as_it_takes(stickler):
    # 7 right, 1 wrong, 2 invented: F1 is 14 / (14 + 3).
    result = stickler(*EVAL, "--fail-under", "0.9")
    assert result.code == 1
    assert "gate failed: f1 0.824 < 0.9" in result.err


def test_gates_are_part_of_the_result(stickler):
    result = stickler(*EVAL, "--gate", "leaves:lines.sku.precision>=0.9", "-f", "json")
    (gate,) = result.json["gates"]
    # Two right skus and an invented one.
    assert gate == {
        "gate": "leaves:lines.sku.precision>=0.9",
        "value": 2 / 3,
        "limit": 0.9,
        "passed": False,
        "reason": "leaves:lines.sku.precision 0.667 < 0.9",
        "field": "lines.sku",
    }


def test_undeclared_ground_truth_keys_and_absent_fields_are_reported(stickler, data):
    for name in ("one", "two"):
        write(data / "gt" / f"{name}.json", {"id": "A", "note": "x"})
        write(data / "pred" / f"{name}.json", {"id": "A"})
    record = stickler(*EVAL, "-f", "json").json
    assert record["undeclared_keys"] == [{"field": "note", "count": 2}]
    assert record["never_present"] == ["lines", "total"]


def test_debug_shows_where_an_error_comes_from(stickler):
    assert "Traceback" not in stickler("eval", "nope.json", "gt", "pred").err
    assert "Traceback" in stickler("eval", "nope.json", "gt", "pred", "--debug").err


def test_comparators_are_listed_with_their_defaults(stickler):
    result = stickler("comparators")
    assert result.code == 0
    assert "LevenshteinComparator" in result.out
    assert '- method ("ratio")' in result.out


def test_two_outputs_to_one_file_are_refused(stickler, data):
    result = stickler(*EVAL, "--documents", "same.jsonl", "--non-matches", "./same.jsonl")
    assert result.code == 2
    assert "another output option names the same file" in result.err
    assert not (data / "same.jsonl").exists()


def test_a_key_that_no_document_has_is_an_error_also_when_quiet(stickler):
    for quiet in ((), ("-q",)):
        result = stickler(*EVAL, "--by", "totl", "-f", "json", *quiet)
        assert result.code == 2
        assert (
            "--by totl: no document has this field or key, expected the name of "
            "a field in the ground truth"
        ) in result.err
        assert "did you mean total?" in result.err
        assert result.json["documents"]["total"] == 2


def test_names_that_begin_with_a_dot_are_counted(stickler, data):
    write(data / "gt" / ".DS_Store", "")
    write(data / "gt" / ".cache" / "three.json", GOOD)
    write(data / "gt" / "readme.md", "")
    notes = stickler(*EVAL, "-f", "json").json["notes"]
    assert "in the directory gt, 2 names begin with a dot and were skipped" in notes
    assert "in the directory gt, 1 file is not .json and was skipped" in notes


@pytest.mark.parametrize(
    ("n_bad", "rest"),
    [(5, []), (7, ["  and 2 more documents; the JSON results list all of them"])],
)
def test_an_error_names_the_first_documents_and_counts_the_others(stickler, data, n_bad, rest):
    for number in range(n_bad):
        write(data / "gt" / f"bad{number}.json", "")
    result = stickler(*EVAL, "--quiet")
    assert result.code == 3
    lines = result.err.splitlines()
    assert lines[0] == f"error: {n_bad} of {n_bad + 2} documents could not be evaluated"
    for number in range(5):
        assert lines[1 + number].startswith(f"  bad{number}: gt/bad{number}.json")
    assert lines[6:] == rest


# --- processes


@pytest.mark.parametrize("jobs", ["2", "3", "auto"])
def test_any_number_of_processes_gives_the_same_bytes(stickler, data, jobs):
    for number in range(20):
        write(data / "gt" / f"{number}.json", {**GOOD, "total": number})
        write(data / "pred" / f"{number}.json", GOOD)
    write(data / "pred" / "13.json", "{")

    def run(jobs: str) -> tuple[object, ...]:
        lines = ("--documents", "docs.jsonl", "--non-matches", "errors.jsonl")
        result = stickler(*EVAL, "--jobs", jobs, "--show-non-matches", "7", *lines)
        files = [(data / name).read_bytes() for name in ("docs.jsonl", "errors.jsonl")]
        return result.code, result.out, files

    assert run(jobs) == run("1")


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5", ""])
def test_a_number_of_processes_that_is_none_is_refused(stickler, jobs):
    result = stickler(*EVAL, "--jobs", jobs)
    assert result.code == ExitCode.USAGE
    expected = (
        f"error: --jobs: the value is {jobs!r}, expected a whole number of at least 1, or auto\n"
    )
    assert result.err == expected


# --- rows by suffix


def test_files_of_rows_go_by_their_suffix(stickler, data):
    files = ("--documents", "docs.csv", "--non-matches", "errors.tsv", "-o", "fields.jsonl")
    assert stickler(*EVAL, "-q", *files).code == 0
    documents = list(csv.DictReader((data / "docs.csv").read_text().splitlines()))
    assert [*dict.fromkeys(row["document"] for row in documents)] == ["one", "two"]
    rows = {(row["document"], row["field"], row["mode"]): row for row in documents}
    assert rows["two", "total", "leaves"]["score"] == "0.0"
    assert rows["two", "", "overall"]["fd"] == "1"
    errors = list(csv.DictReader((data / "errors.tsv").read_text().splitlines(), delimiter="\t"))
    assert (errors[0]["document"], errors[0]["path"]) == ("two", "total")
    fields = [json.loads(line) for line in (data / "fields.jsonl").read_text().splitlines()]
    assert [row["field"] for row in fields][:3] == ["", "id", "total"]


def test_a_table_has_every_key_that_a_line_of_a_document_has(stickler, data):
    lines = ("--documents", "docs.jsonl", "--validate", "both")
    assert stickler(*EVAL, "-q", *lines).code == 0
    assert stickler(*EVAL, "-q", "--documents", "docs.csv", "--validate", "both").code == 0
    (line, *_) = (data / "docs.jsonl").read_text().splitlines()
    (headers, *_) = csv.reader((data / "docs.csv").read_text().splitlines())
    of_fields = {"fields", "field_scores", "overall_score", "overall", "aggregate", "leaves"}
    # A line says these where there are groups and confidences.
    expected = {*json.loads(line), "by", "confidences"} - of_fields
    assert expected < {*headers}


UNKNOWN_SUFFIX = "the file name is file.xlsx, expected one that ends in"
TABLES = ".csv, .tsv, .jsonl, .ndjson, .parquet, .arrow"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--documents", "file.xlsx", f"--documents: {UNKNOWN_SUFFIX} {TABLES}\n"),
        ("--non-matches", "file.xlsx", f"--non-matches: {UNKNOWN_SUFFIX} {TABLES}\n"),
        ("-o", "file.xlsx", f"--output: {UNKNOWN_SUFFIX} .metrics.txt, .otel.jsonl, .txt, .json, "),
        (
            "-o",
            "nowhere/run.json",
            (
                "--output nowhere/run.json: the file cannot be created "
                "(No such file or directory); create the directory '{}/nowhere' first\n"
            ),
        ),
        ("--pairing-floor", "1", "[-1, 1)"),
        ("--max-document-size", "large", "--max-document-size: the value is 'large'"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(stickler, data, option, value, message):
    result = stickler(*EVAL, option, value)
    assert result.code == 2
    assert message.format(data) in result.err


def test_quiet_leaves_out_the_table_and_nothing_that_was_asked_for(stickler):
    assert stickler(*EVAL, "-q").out == ""
    assert stickler(*EVAL, "-q", "-f", "json").json["documents"]["total"] == 2
    assert stickler(*EVAL, "-q", "-f", "csv").out.startswith("field,")


def test_a_rate_that_has_nothing_to_divide_by_is_empty_in_rows(stickler, data):
    write(data / "pred" / "one.json", {})
    write(data / "pred" / "two.json", {})
    for wide, name in (("tidy", "precision"), ("wide", "overall_precision")):
        text = stickler(*EVAL, "-q", "-f", "csv", "--csv", wide).out
        (first, *_) = csv.DictReader(io.StringIO(text))
        assert first[name] == ""


# --- some of the documents, and what is known of a run


def test_a_limit_and_a_sample_are_told(stickler):
    first = stickler(*EVAL, "--limit", "1", "-f", "json").json
    assert [document["id"] for document in first["per_document"]] == ["one"]
    assert "--limit: evaluated only the first 1 of 2 documents" in first["notes"]
    drawn = stickler(*EVAL, "--sample", "1", "--seed", "3")
    assert (
        "note: --sample: evaluated only a random sample of 1 of 2 documents (seed 3)" in drawn.out
    )
    assert stickler(*EVAL, "--sample", "0").code == 2


def test_the_record_has_labels_sources_and_time(stickler, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    result = stickler(*EVAL, "--label", "gpt-5", "--label", "prompt=v3", "-o", "run.json")
    assert "labels: gpt-5, prompt=v3" in result.out.splitlines()
    record = stickler("report", "run.json", "-f", "json").json
    assert record["provenance"] == [
        {
            "started": "1970-01-01T00:00:00Z",
            "gt": "gt",
            "pred": "pred",
            "labels": ["gpt-5", "prompt=v3"],
        }
    ]
    assert "labels: `gpt-5`, `prompt=v3`" in stickler("report", "run.json", "-f", "markdown").out


def test_the_time_is_that_of_the_clock_where_nobody_sets_it(stickler, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = datetime.now(UTC).replace(microsecond=0)
    (provenance,) = stickler(*EVAL, "-f", "json").json["provenance"]
    assert before <= datetime.fromisoformat(provenance["started"]) <= datetime.now(UTC)


def test_a_time_that_is_none_is_refused(stickler, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "noon")
    assert (
        "SOURCE_DATE_EPOCH: the value is 'noon', expected seconds since 1970" in stickler(*EVAL).err
    )


@pytest.mark.parametrize(
    ("schema_keys", "heading"),
    [
        ({"title": "Sales order"}, "Sales order (schema.json)"),
        ({"title": "  "}, "Order (schema.json)"),
        ({"x-aws-stickler-model-name": None}, "schema (schema.json)"),
    ],
)
def test_the_heading_is_the_title_of_the_schema(stickler, data, schema_keys, heading):
    schema = {key: value for key, value in (SCHEMA | schema_keys).items() if value is not None}
    write(data / "schema.json", schema)
    assert stickler(*EVAL, "-v").out.splitlines()[0] == f"{heading}: 2 documents, 1 wholly right"


def test_the_last_line_is_a_command_that_goes_on(stickler, data):
    options = ("--missing", "skip", "--recall-with-fd", "--extra-fields", "ignore", "--limit", "2")
    *_, last = stickler(*EVAL, *options).out.splitlines()
    words = shlex.split(last)
    assert words[:6] == ["next:", "stickler", "errors", "schema.json", "gt", "pred"]
    assert sorted(words[6:]) == sorted((*options, "--cause", "1"))
    result = stickler(*shlex.split(last)[2:])
    assert (result.code, result.err) == (0, "")
    assert "two" in result.out

    *_, last = stickler(*EVAL, "--run-dir", "a night").out.splitlines()
    assert last == "next: stickler errors 'a night' --cause 1"
    assert stickler(*shlex.split(last)[2:]).code == 0
    assert stickler("report", "a night").out.splitlines()[-1] == last
    assert "next:" not in stickler(*EVAL, "--sample", "2").out
    assert "next:" not in stickler("eval", "schema.json", "gt", "gt").out


def test_columns_are_those_that_are_asked_for(stickler):
    out = stickler(*EVAL, "--columns", "f1,Wrong, mean score").out
    header = next(line for line in out.splitlines() if line.startswith("field "))
    assert header.split() == ["field", "F1", "wrong", "mean", "score"]

    out = stickler(*EVAL, "--columns", "f1,matrix,tp").out
    header = next(line for line in out.splitlines() if line.startswith("field "))
    letters = ["TP", "FD", "FA", "FN", "TN", "FP"]
    assert header.split() == ["field", "F1", *letters, "precision", "recall", "accuracy"]

    result = stickler(*EVAL, "--columns", "f1,wring")
    assert result.code == 2
    assert "--columns: unknown column 'wring'" in result.err
    assert "did you mean wrong?" in result.err


@pytest.mark.slow
def test_of_a_map_without_end_most_keys_are_counted_together(stickler, data):
    schema = {
        "type": "object",
        "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}},
    }
    write(data / "map.json", schema)
    for side in ("left", "right"):
        lines = (
            json.dumps(
                {"m": {"all": "x"} | {f"{outer_key}-{inner_key}": side for inner_key in range(10)}}
            )
            for outer_key in range(30)
        )
        write(data / f"{side}.jsonl", "\n".join(lines))
    run = ("eval", "map.json", "left.jsonl", "right.jsonl", "--no-config", "-f", "json")

    record = stickler(*run, "-j", "1", "--gate", "m.29-9.tp>=0", "-o", "run.json").json
    several = stickler(*run, "-j", "2").json

    fields = record["confusion_matrix"]["fields"]["m"]["fields"]
    assert len(fields) == 201
    assert fields["all"]["leaves"]["tp"] == 30
    assert sum(field["leaves"]["fd"] for field in fields.values()) == 300
    assert record["notes"] == ["m.* are 101 keys beyond the 200 most frequent keys"]
    assert record["error_classes"]["fields"].keys() == {
        f"m.{key}" for key in fields if key != "all"
    }
    assert several["confusion_matrix"] == record["confusion_matrix"]
    assert "m.* are 101 keys" in stickler("report", "run.json").out


def test_a_note_names_what_ignore_leaves_out(stickler):
    result = stickler(
        "eval", "schema.json", "gt", "pred", "--ignore", "total", "--ignore", "**.sku"
    )
    assert "not compared on either side, because of --ignore: total, **.sku" in result.out
